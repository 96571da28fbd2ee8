//! Products of unknowns by refinement: opaque at first, with facts where a model multiplies wrongly.
//!
//! Input: assertions with products of unknowns. Output: an [`Answer`]. Establishes: `Proved` only where
//! the assertions have no model under facts true of all integers; `Refuted` only where products have
//! their values in the model. The facts: a multiple of `x` that is not zero is at least `x` away from
//! it. That is the uniqueness of quotient and rest by which rows, and the rounds of threads that stride
//! over a grid, do not overlap. Z3's own reasoning about products finds models soon or hardly at all,
//! and proofs unsteadily; linear arithmetic with few facts is fast and steady.
//! Reference: Cimatti et al., incremental linearization; DESIGN section 5 (division-lemma instances).

use super::meter::Limit;
use super::multiples::{self, Linear, Multiple};
use super::z3_backend::{Emitter, View, load, number, read_model};
use super::{Answer, Encoded};
use crate::effort::Budget;
use crate::vcgen::term::{Term, Terms};
use foldhash::HashMap;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use z3::ast::{Bool, Int};
use z3::{Model, SatResult, Solver};

/// Models that are looked at.
const ROUNDS: usize = 40;

/// Facts for one model.
const FACTS: usize = 4;

/// Terms that are so far apart in a model are about equal: accesses of up to 16 bytes overlap.
const NEAR: i128 = 16;

/// Checks satisfiability of the assertions; unsatisfiable is `Proved`.
pub(crate) fn check(terms: &Terms, encoded: &Encoded, limit: Limit) -> Answer {
    let (solver, emitter) = load(terms, encoded, limit, View::Opaque, false);
    let differences = multiples::differences(terms, &encoded.assertions);
    let mut refinement = Refinement { encoded, differences, limit, solver, emitter, known: BTreeSet::new() };
    let mut answer = None;
    let mut rounds = 0;
    // Each question has the effort for itself; all of them have that of six.
    let all = Budget::new(limit.effort * 6);
    while answer.is_none() && rounds < ROUNDS && !all.is_over() {
        answer = match limit.charged(&refinement.solver, Solver::check) {
            SatResult::Unsat => Some(Answer::Proved),
            SatResult::Unknown => Some(Answer::Unknown(refinement.solver.get_reason_unknown().unwrap_or_default())),
            SatResult::Sat => refinement.solver.get_model().and_then(|model| refinement.step(&model)),
        };
        rounds += 1;
    }
    log::debug!("{} facts about products, for {rounds} models", refinement.known.len());
    answer.unwrap_or_else(|| Answer::Unknown("products of unknowns".into()))
}

/// So that nothing is told twice.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fact {
    /// A multiple of a factor, by how many times.
    Multiple(Term, Linear),
    /// A product where one factor is at a value.
    At(Term, i128),
}

struct Refinement<'t> {
    encoded: &'t Encoded,
    differences: BTreeSet<Linear>,
    limit: Limit,
    solver: Solver,
    emitter: Emitter<'t>,
    known: BTreeSet<Fact>,
}

/// Values of terms in a model, each asked for once.
struct Values<'m, 't> {
    model: &'m Model,
    emitter: RefCell<&'m mut Emitter<'t>>,
    known: RefCell<HashMap<Term, Option<i128>>>,
}

impl Values<'_, '_> {
    fn of(&self, term: Term) -> Option<i128> {
        *self.known.borrow_mut().entry(term).or_insert_with(|| {
            let value = self.emitter.borrow_mut().int(term);
            self.model.eval(&value, true)?.as_i128()
        })
    }
}

/// A product and its factors.
type Multiplied = (Term, [Term; 2]);

impl<'t> Refinement<'t> {
    /// An answer, or facts that the model contradicts, told to the solver.
    fn step(&mut self, model: &Model) -> Option<Answer> {
        let terms = self.emitter.terms;
        let emitter = RefCell::new(&mut self.emitter);
        let values = Values { model, emitter, known: RefCell::default() };
        let value = |term: Term| values.of(term);
        let is_wrong =
            |(term, [a, b]): &Multiplied| value(*term) != value(*a).zip(value(*b)).and_then(|(a, b)| a.checked_mul(b));
        let products = self.encoded.products.iter().map(|product| (product.term, product.factors));
        let wrong: Vec<Multiplied> = products.filter(is_wrong).collect();
        if wrong.is_empty() {
            return Some(self.refuted(model));
        }
        let violated = violated(terms, self.encoded, &self.differences, &value);
        for (factor, multiple) in &violated {
            self.tell_multiple(*factor, multiple);
        }
        if violated.is_empty() { self.settle(model, &wrong) } else { None }
    }

    /// A model with some factors at their values, so that products are linear; else facts about the
    /// products at these values.
    fn settle(&mut self, model: &Model, wrong: &[Multiplied]) -> Option<Answer> {
        let mut fixed: BTreeSet<Term> = BTreeSet::new();
        for product in &self.encoded.products {
            if !product.factors.iter().any(|factor| fixed.contains(factor)) {
                let count = |factor: &Term| self.encoded.multiples.get(factor).map_or(0, BTreeSet::len);
                fixed.extend(product.factors.iter().max_by_key(|factor| count(factor)));
            }
        }
        self.solver.push();
        for product in &self.encoded.products {
            let [a, b] = product.factors;
            let (by, other) = if fixed.contains(&a) { (a, b) } else { (b, a) };
            let Some(value) = self.value(model, by) else { continue };
            let (by, other, term) = (self.emitter.int(by), self.emitter.int(other), self.emitter.int(product.term));
            self.solver.assert(by.eq(number(value)));
            self.solver.assert(term.eq(Int::mul(&[number(value), other])));
        }
        let answer = match self.limit.watched(&self.solver, Solver::check) {
            SatResult::Sat => self.solver.get_model().map(|model| self.refuted(&model)),
            _ => None,
        };
        self.solver.pop(1);
        if answer.is_some() {
            return answer;
        }
        let before = self.known.len();
        for &(product, [a, b]) in wrong {
            for (at, other) in [(a, b), (b, a)] {
                if let Some(value) = self.value(model, at) {
                    self.tell_at(product, at, other, value);
                }
            }
        }
        (self.known.len() == before).then(|| Answer::Unknown("products of unknowns".into()))
    }

    fn value(&mut self, model: &Model, term: Term) -> Option<i128> {
        model.eval(&self.emitter.int(term), true)?.as_i128()
    }

    /// Wanted terms may have products that the assertions do not have: those are multiplied out here.
    fn refuted(&self, model: &Model) -> Answer {
        read_model(model, &mut Emitter::new(self.emitter.terms, false), self.encoded)
    }

    /// Tells that a multiple is at least one factor away from zero, unless it is zero.
    fn tell_multiple(&mut self, factor: Term, multiple: &Multiple) {
        if !self.known.insert(Fact::Multiple(factor, multiple.times.clone())) {
            return;
        }
        let [times, value] = [&multiple.times, &multiple.value].map(|linear| {
            let members: Vec<(Term, i128)> = linear.members.iter().map(|(&term, &scale)| (term, scale)).collect();
            self.emitter.int_sum(linear.constant, &members)
        });
        let factor = self.emitter.int(factor);
        let (zero, opposite) = (number(0), factor.unary_minus());
        let (positive, negative) = (factor.ge(&zero), factor.le(&zero));
        let (more, less) = (times.gt(&zero), times.lt(&zero));
        self.solver.assert(Bool::or(&[more.not(), positive.not(), value.ge(&factor)]));
        self.solver.assert(Bool::or(&[more.not(), negative.not(), value.le(&factor)]));
        self.solver.assert(Bool::or(&[less.not(), positive.not(), value.le(&opposite)]));
        self.solver.assert(Bool::or(&[less.not(), negative.not(), value.ge(&opposite)]));
        self.solver.assert(Bool::or(&[times.eq(&zero).not(), value.eq(&zero)]));
    }

    /// Tells on which side of `value * other` a product is where a factor is on a side of `value`.
    fn tell_at(&mut self, product: Term, at: Term, other: Term, value: i128) {
        if !self.known.insert(Fact::At(product, value)) {
            return;
        }
        let (product, at, other) = (self.emitter.int(product), self.emitter.int(at), self.emitter.int(other));
        let (zero, value) = (number(0), number(value));
        let line = Int::mul(&[&value, &other]);
        let (positive, negative) = (other.ge(&zero), other.le(&zero));
        let (above, below) = (at.ge(&value), at.le(&value));
        let (more, less) = (product.ge(&line), product.le(&line));
        self.solver.assert(Bool::or(&[above.not(), positive.not(), more.clone()]));
        self.solver.assert(Bool::or(&[below.not(), negative.not(), more]));
        self.solver.assert(Bool::or(&[below.not(), positive.not(), less.clone()]));
        self.solver.assert(Bool::or(&[above.not(), negative.not(), less]));
    }
}

/// Multiples whose value is wrong in a model: first those of equations that it satisfies, as these are why it is a
/// model, then differences of two, the shortest first.
fn violated(
    terms: &Terms,
    encoded: &Encoded,
    differences: &BTreeSet<Linear>,
    value: &dyn Fn(Term) -> Option<i128>,
) -> Vec<(Term, Multiple)> {
    let near = differences.iter().filter(|d| d.value(value).is_some_and(|value| (0..NEAR).contains(&value)));
    let mut followed: BTreeMap<Term, BTreeSet<Multiple>> = BTreeMap::new();
    for equation in multiples::consequences(terms, near.cloned().collect()) {
        for (factor, multiple) in multiples::of_sum(terms, &equation) {
            followed.entry(factor).or_default().insert(multiple);
        }
    }
    let mut found = BTreeSet::new();
    let is_wrong = |factor: Term, multiple: &Multiple| {
        let values = (value(factor), multiple.times.value(value), multiple.value.value(value));
        matches!(values, (Some(size), Some(times), Some(value)) if !consistent(size, times, value))
    };
    for (rank, source) in [(0, &followed), (1, &encoded.multiples)] {
        for (&factor, multiples) in source {
            for (i, multiple) in multiples.iter().enumerate() {
                let differences = multiples.iter().skip(i + 1).filter_map(|other| multiple.minus(other));
                let own = (rank, multiple.clone());
                for (rank, multiple) in std::iter::once(own).chain(differences.map(|d| (rank + 1, d))) {
                    if is_wrong(factor, &multiple) {
                        found.insert((rank, multiple.times.members.len(), factor, multiple));
                    }
                }
            }
        }
    }
    found.into_iter().take(FACTS).map(|(_, _, factor, multiple)| (factor, multiple)).collect()
}

/// Whether a multiple of `size`, so many times, may have a value.
fn consistent(size: i128, times: i128, value: i128) -> bool {
    match times.signum() * size.signum() {
        0 => value == 0,
        1 => value >= size.abs(),
        _ => value <= -size.abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Effort;
    use crate::solver::Encoding;
    use crate::solver::meter::Rate;
    use crate::vcgen::term::Sort;
    use z3::{Config, with_z3_config};

    /// All facts about the right product of two numbers, and about sums of such products, hold.
    #[test]
    fn facts_are_true_of_integers() {
        for (k, s) in (-3..=3).flat_map(|k| (-3..=3).map(move |s| (k, s))) {
            let mut terms = Terms::default();
            let [times, factor] = ["k", "s"].map(|name| terms.symbol(name, Sort::Int, None));
            let product = terms.int_mul(times, factor);
            let values = [(times, k), (factor, s), (product, k * s)];
            let assertions = values.map(|(term, value)| {
                let value = terms.int(value);
                terms.eq(term, value)
            });
            let encoded = Encoded {
                assertions: assertions.to_vec(),
                consequences: 0,
                products: Vec::new(),
                multiplies: true,
                multiples: BTreeMap::new(),
                bounds: Vec::new(),
                lemmas: Vec::new(),
                wanted: Vec::new(),
            };
            let is_possible = with_z3_config(&Config::new(), || {
                let limit = Limit { effort: Effort::seconds(10), rate: Rate::of(Encoding::Integers) };
                let (solver, emitter) = load(&terms, &encoded, limit, View::Opaque, false);
                let differences = BTreeSet::new();
                let mut facts =
                    Refinement { encoded: &encoded, differences, limit, solver, emitter, known: BTreeSet::new() };
                for (scale, constant) in [(1, 0), (-1, 0), (2, 1), (2, -3), (-3, 2)] {
                    let value = Linear { constant: 0, members: [(product, scale), (factor, constant)].into() };
                    let times = Linear { constant, members: [(times, scale)].into() };
                    facts.tell_multiple(factor, &Multiple { times, value });
                }
                for value in -3..=3 {
                    facts.tell_at(product, times, factor, value);
                }
                facts.solver.check()
            });
            assert_eq!(is_possible, SatResult::Sat, "{k} * {s}");
        }
    }

    /// A multiple of a number is zero or at least that number away from zero.
    #[test]
    fn multiples_are_consistent() {
        for (size, times) in (-3..=3).flat_map(|size| (-3..=3).map(move |times| (size, times))) {
            assert!(consistent(size, times, size * times), "{times} * {size}");
        }
        assert!(!consistent(4, 1, 3) && !consistent(4, -1, 4) && !consistent(-4, 1, -3) && !consistent(4, 0, 1));
    }
}
