//! Conjunctions of linear facts that no integers satisfy, as far as that is seen without the solver.
//!
//! Input: assertions over integers. Output: whether they are seen to contradict each other; `false` says nothing.
//! Establishes: `true` only for assertions without a model. Every step draws a consequence: what is not understood (a
//! product of unknowns, an uninterpreted function) is an integer or a truth of which nothing is known, intervals are
//! rounded inwards only where all members are integers, and where `i128` overflows nothing is drawn. In debug builds Z3
//! is asked for each answer, too ([`super::prove`]).
//! Relies on: nothing. Reference: Schrijver, Theory of Linear and Integer Programming (Fourier-Motzkin elimination, Gomory
//! rounding); Davis, Logemann, Loveland (case distinction).
//!
//! Most accesses of kernels without loops are at `base + scale * id`, where ids are below sizes that are known. That two
//! threads meet in a byte `w` is `0 <= w - 4*tid1 - 1024*ctaid < 4` and the same for `tid2`. The difference of the two
//! rows is `-4 < 4*(tid2 - tid1) < 4`, all of it a multiple of 4, so `tid2 - tid1` is 0: but the threads differ. Over
//! several axes the largest scale is settled first: `256*(ctaid1 - ctaid2)` is as far from zero as `tid2 - tid1` at most,
//! which is below 256, and so on. What cases there are (which site, which axis differs) is tried one after the other.

mod congruences;
mod linear;

use self::linear::{Linear, Sum};
use super::interval::Interval;
use crate::limits;
use crate::vcgen::term::{Node, Sort, Term, Terms};
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Terms of assertions that are looked at; rows that are combined; how often bounds are drawn from each other.
const MOST_TERMS: usize = 800;
const MOST_ROWS: usize = 24;
const ROUNDS: usize = 6;
/// Rows and cases that are looked at in all: of 235 refutations in the shipped kernels, 230 take no more.
const WORK: usize = 200;

/// Whether the assertions are seen to have no model.
pub(super) fn refutes(terms: &Terms, assertions: &[Term]) -> bool {
    if terms.size(assertions, MOST_TERMS) > MOST_TERMS {
        return false;
    }
    let (mut search, mut known) = (Search { terms, differences: HashMap::default(), work: WORK }, Known::default());
    let told = assertions.iter().try_for_each(|&assertion| search.tell(&mut known, assertion, true));
    told.is_err() || search.refutes(known)
}

/// What is known cannot be.
struct Conflict;

/// A formula, and whether it holds.
type Literal = (Term, bool);

/// A conjunction of facts.
#[derive(Clone, Default)]
struct Known {
    /// What sums may be.
    rows: BTreeMap<Sum, Interval>,
    /// These are not zero.
    apart: Vec<Linear>,
    /// Formulas of which nothing is understood.
    truths: BTreeMap<Term, bool>,
    /// Of each of these, one holds.
    cases: Vec<Rc<[Literal]>>,
    /// Quotients and remainders whose meaning is among the rows.
    defined: BTreeSet<Term>,
    /// Whether something was added.
    has_changed: bool,
}

struct Search<'t> {
    terms: &'t Terms,
    /// Of comparisons, how far apart the two sides are; `None` on overflow.
    differences: HashMap<Term, Option<Linear>>,
    /// What is left.
    work: usize,
}

impl Search<'_> {
    /// Counts a step; false when there were enough.
    fn step(&mut self) -> bool {
        limits::check();
        self.work = self.work.saturating_sub(1);
        self.work > 0
    }

    /// Draws consequences, then tries one case after the other: all have to end in a conflict.
    fn refutes(&mut self, mut known: Known) -> bool {
        if self.settle(&mut known).is_err() || self.settle_congruences(&mut known).is_err() {
            return true;
        }
        let shortest = (0..known.cases.len()).min_by_key(|&i| known.cases[i].len());
        let Some(shortest) = shortest.filter(|_| self.step()) else { return false };
        let cases = known.cases.swap_remove(shortest);
        cases.iter().all(|&(formula, holds)| {
            let mut known = known.clone();
            self.tell(&mut known, formula, holds).is_err() || self.refutes(known)
        })
    }

    /// Adds a formula or its negation.
    fn tell(&mut self, known: &mut Known, formula: Term, holds: bool) -> Result<(), Conflict> {
        match self.terms.node(formula) {
            Node::Bool(value) => {
                if *value == holds {
                    Ok(())
                } else {
                    Err(Conflict)
                }
            }
            Node::Not(a) => self.tell(known, *a, !holds),
            Node::And(list) if holds => list.iter().try_for_each(|&a| self.tell(known, a, true)),
            Node::Or(list) if !holds => list.iter().try_for_each(|&a| self.tell(known, a, false)),
            Node::And(list) | Node::Or(list) => {
                known.cases.push(list.iter().map(|&a| (a, holds)).collect());
                Ok(())
            }
            Node::Eq(a, b) if self.terms.sort(*a) == Sort::Int => match self.difference(formula, *a, *b) {
                Some(difference) if holds => self.bound(known, &difference, Interval::point(0)),
                Some(difference) => {
                    self.define(known, &difference)?;
                    known.apart.push(difference);
                    Ok(())
                }
                None => Ok(()),
            },
            Node::IntLe(a, b) => match self.difference(formula, *a, *b) {
                Some(difference) => self.bound(known, &difference, if holds { NOT_ABOVE } else { ABOVE }),
                None => Ok(()),
            },
            _ => match known.truths.insert(formula, holds) {
                Some(before) if before != holds => Err(Conflict),
                _ => Ok(()),
            },
        }
    }

    /// How far apart the two sides of a comparison are.
    fn difference(&mut self, comparison: Term, a: Term, b: Term) -> Option<Linear> {
        let terms = self.terms;
        let difference = || Linear::of(terms, a)?.combine(&Linear::of(terms, b)?, -1);
        self.differences.entry(comparison).or_insert_with(difference).clone()
    }

    /// What quotients and remainders by constants mean.
    fn define(&mut self, known: &mut Known, linear: &Linear) -> Result<(), Conflict> {
        for &(term, _) in linear.sum.iter() {
            let (Node::IntDiv(a, b) | Node::IntMod(a, b)) = self.terms.node(term) else { continue };
            let Some(divisor) = self.terms.int_value(*b).filter(|divisor| *divisor > 0) else { continue };
            if !known.defined.insert(term) {
                continue;
            }
            let (own, below) = (Linear::of_term(term), Interval::new(0, divisor - 1));
            match self.terms.node(term) {
                Node::IntMod(..) => self.bound(known, &own, below)?,
                _ => {
                    let rest = Linear::of(self.terms, *a).and_then(|dividend| dividend.combine(&own, -divisor));
                    if let Some(rest) = rest {
                        self.bound(known, &rest, below)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds that a linear term lies in an interval.
    fn bound(&mut self, known: &mut Known, linear: &Linear, interval: Interval) -> Result<(), Conflict> {
        self.define(known, linear)?;
        known.bound(linear, interval)
    }

    /// Draws consequences until there are no more.
    fn settle(&mut self, known: &mut Known) -> Result<(), Conflict> {
        for _ in 0..ROUNDS {
            known.has_changed = false;
            self.decide_cases(known)?;
            for (sum, interval) in combined(known) {
                if !self.step() {
                    return Ok(());
                }
                known.tighten(&sum, interval)?;
            }
            known.part()?;
            if !known.has_changed {
                break;
            }
        }
        Ok(())
    }

    /// The same, of what is known modulo constants.
    fn settle_congruences(&mut self, known: &mut Known) -> Result<(), Conflict> {
        for _ in 0..ROUNDS {
            known.has_changed = false;
            self.decide_cases(known)?;
            congruences::draw(self.terms, known)?;
            known.part()?;
            if !known.has_changed {
                break;
            }
        }
        Ok(())
    }

    /// Leaves out cases that cannot be; what is left alone holds.
    fn decide_cases(&mut self, known: &mut Known) -> Result<(), Conflict> {
        for cases in std::mem::take(&mut known.cases) {
            let mut possible = Vec::new();
            let mut holds_anyway = false;
            for &(formula, holds) in cases.iter() {
                match self.truth(known, formula) {
                    Some(truth) if truth == holds => holds_anyway = true,
                    Some(_) => {}
                    None => possible.push((formula, holds)),
                }
            }
            match possible.as_slice() {
                _ if holds_anyway => {}
                [] => return Err(Conflict),
                &[(formula, holds)] => {
                    known.has_changed = true;
                    self.tell(known, formula, holds)?;
                }
                _ if possible.len() == cases.len() => known.cases.push(cases),
                _ => known.cases.push(possible.into()),
            }
        }
        Ok(())
    }

    /// Whether a formula holds, if that is known.
    fn truth(&mut self, known: &Known, formula: Term) -> Option<bool> {
        let terms = self.terms;
        match terms.node(formula) {
            Node::Bool(value) => Some(*value),
            Node::Not(a) => self.truth(known, *a).map(|value| !value),
            Node::And(list) => self.truth_of_all(known, list, true),
            Node::Or(list) => self.truth_of_all(known, list, false),
            Node::Eq(a, b) if terms.sort(*a) == Sort::Int => {
                let difference = known.interval(&self.difference(formula, *a, *b)?);
                if difference == Interval::point(0) { Some(true) } else { (!difference.meets(0, 0)).then_some(false) }
            }
            Node::IntLe(a, b) => {
                let difference = known.interval(&self.difference(formula, *a, *b)?);
                let (is_above, is_not) =
                    (difference.low.is_some_and(|low| low > 0), difference.high.is_some_and(|high| high <= 0));
                if is_not { Some(true) } else { is_above.then_some(false) }
            }
            _ => known.truths.get(&formula).copied(),
        }
    }

    /// The same of a list in which one formula decides unless all are `unit`.
    fn truth_of_all(&mut self, known: &Known, list: &[Term], unit: bool) -> Option<bool> {
        let mut all = Some(unit);
        for &a in list {
            match self.truth(known, a) {
                Some(value) if value != unit => return Some(value),
                Some(_) => {}
                None => all = None,
            }
        }
        all
    }
}

/// The rows, and what remains of two of them where a term falls out.
fn combined(known: &Known) -> Vec<(Sum, Interval)> {
    let rows: Vec<(&Sum, &Interval)> = known.rows.iter().filter(|(sum, _)| sum.len() > 1).collect();
    let mut all: BTreeMap<Sum, Interval> = rows.iter().map(|&(sum, interval)| (sum.clone(), *interval)).collect();
    if rows.len() > MOST_ROWS {
        return all.into_iter().collect();
    }
    for (i, &(a, in_a)) in rows.iter().enumerate() {
        for &(b, in_b) in &rows[i + 1..] {
            for sign in cancelling(a, b) {
                if let Some(rest) = Linear::of_sum(a).combine(&Linear::of_sum(b), sign)
                    && rest.sum.len() + 2 <= a.len() + b.len()
                    && let Some(interval) = rest.rounded(in_a.plus(in_b.times_constant(sign)))
                {
                    all.entry(rest.sum).and_modify(|known| *known = both(*known, interval)).or_insert(interval);
                }
            }
        }
    }
    all.into_iter().collect()
}

/// The signs with which a second sum makes a term of the first fall out.
fn cancelling(a: &Sum, b: &Sum) -> impl Iterator<Item = i128> {
    let (mut same, mut opposite) = (false, false);
    for &(term, factor) in a.iter() {
        if let Some(other) = factor_of(b, term) {
            same |= other == factor;
            opposite |= Some(other) == factor.checked_neg();
        }
    }
    same.then_some(-1).into_iter().chain(opposite.then_some(1))
}

fn factor_of(sum: &Sum, term: Term) -> Option<i128> {
    sum.binary_search_by_key(&term, |&(term, _)| term).ok().map(|place| sum[place].1)
}

const NOT_ABOVE: Interval = Interval { low: None, high: Some(0) };
const ABOVE: Interval = Interval { low: Some(1), high: None };

/// What both intervals allow.
fn both(a: Interval, b: Interval) -> Interval {
    let low = a.low.into_iter().chain(b.low).max();
    let high = a.high.into_iter().chain(b.high).min();
    Interval { low, high }
}

impl Known {
    /// What a linear term may be.
    fn interval(&self, linear: &Linear) -> Interval {
        let sum = self.interval_of(&linear.sum);
        sum.times_constant(linear.scale).plus(Interval::point(linear.constant))
    }

    fn interval_of(&self, sum: &Sum) -> Interval {
        match **sum {
            [] => Interval::point(0),
            [_] => self.row(sum),
            _ => {
                let member = |&(term, factor): &(Term, i128)| self.row(&[(term, 1)]).times_constant(factor);
                both(self.row(sum), sum.iter().map(member).fold(Interval::point(0), Interval::plus))
            }
        }
    }

    fn row(&self, sum: &[(Term, i128)]) -> Interval {
        self.rows.get(sum).copied().unwrap_or(Interval::ALL)
    }

    /// Adds that a linear term lies in an interval; its sum then lies in the integers that the scale allows.
    fn bound(&mut self, linear: &Linear, interval: Interval) -> Result<(), Conflict> {
        let Some(new) = linear.rounded(interval) else {
            let is_possible = !linear.sum.is_empty() || interval.meets(linear.constant, linear.constant);
            return if is_possible { Ok(()) } else { Err(Conflict) };
        };
        let before = self.row(&linear.sum);
        let after = both(before, new);
        if matches!((after.low, after.high), (Some(low), Some(high)) if low > high) {
            return Err(Conflict);
        }
        if after != before {
            self.has_changed = true;
            self.rows.insert(linear.sum.clone(), after);
        }
        Ok(())
    }

    /// Bounds each part of a sum by what the others leave.
    fn tighten(&mut self, sum: &Sum, interval: Interval) -> Result<(), Conflict> {
        let parts = self.parts(sum);
        for (place, part) in parts.iter().enumerate() {
            let others = parts.iter().enumerate().filter(|(other, _)| *other != place);
            let others = others.map(|(_, other)| self.interval(other)).fold(Interval::point(0), Interval::plus);
            self.bound(part, interval.plus(others.times_constant(-1)))?;
        }
        Ok(())
    }

    /// A sum as differences of two terms with one scale, those first of which something is known, and single terms.
    fn parts(&self, sum: &Sum) -> Vec<Linear> {
        let mut left: Vec<(Term, i128)> = sum.to_vec();
        let mut parts = Vec::new();
        for only_known in [true, false] {
            for &(a, factor) in sum.iter() {
                let Some(place) = left.iter().position(|&(term, _)| term == a) else { continue };
                let opposite = |&(b, other): &(Term, i128)| {
                    let pair: Sum = Rc::from([(a, 1), (b, -1)]);
                    let is_pair = b > a && Some(other) == factor.checked_neg();
                    (is_pair && (!only_known || self.is_known(&pair))).then_some(pair)
                };
                let found = left.iter().enumerate().find_map(|(other, member)| Some((other, opposite(member)?)));
                if let Some((other, pair)) = found {
                    // `b` stands behind `a`.
                    left.remove(other);
                    left.remove(place);
                    parts.push(Linear { constant: 0, scale: factor, sum: pair });
                }
            }
        }
        parts.extend(left.into_iter().map(|(term, factor)| Linear { scale: factor, ..Linear::of_term(term) }));
        parts
    }

    fn is_known(&self, sum: &Sum) -> bool {
        self.rows.contains_key(sum) || self.apart.iter().any(|apart| apart.sum == *sum)
    }

    /// What is not zero is not at the end of an interval that ends there.
    fn part(&mut self) -> Result<(), Conflict> {
        for apart in std::mem::take(&mut self.apart) {
            let interval = self.interval(&apart);
            if interval.meets(0, 0) {
                if interval.low == Some(0) {
                    self.bound(&apart, ABOVE)?;
                }
                if interval.high == Some(0) {
                    self.bound(&apart, Interval { low: None, high: Some(-1) })?;
                }
                self.apart.push(apart);
            }
        }
        Ok(())
    }
}

/// What the tests of this folder have in common.
#[cfg(test)]
mod compared {
    use super::*;
    use crate::effort::Effort;
    use crate::solver::{Answer, Encoded, Encoding, z3_backend};

    /// That a term lies in an interval.
    pub(super) fn bounds(terms: &mut Terms, term: Term, low: i128, high: i128) -> [Term; 2] {
        let (low, high) = (terms.int(low), terms.int(high));
        [terms.int_le(low, term), terms.int_le(term, high)]
    }

    /// Whether assertions are refuted, and whether Z3 finds a model of them: never both.
    pub(super) fn with_z3(terms: &Terms, assertions: Vec<Term>) -> [bool; 2] {
        let is_refuted = refutes(terms, &assertions);
        let encoded = Encoded::linear(assertions);
        let answer = z3_backend::check(terms, &encoded, Encoding::Integers, Effort::milliseconds(500));
        let has_model = matches!(answer, Answer::Refuted(_));
        assert!(!is_refuted || !has_model, "a model of {:?}", encoded.assertions);
        [is_refuted, has_model]
    }
}

#[cfg(test)]
mod tests {
    use super::compared::{bounds, with_z3};
    use super::*;
    use crate::solver::in_own_context;
    use crate::solver::numbers::Numbers;

    /// Two threads at `scale * id + ...`, a byte that both meet, and some other facts.
    fn assertions(terms: &mut Terms, numbers: &mut Numbers) -> Vec<Term> {
        let byte = terms.symbol("w", Sort::Int, None);
        let mut all = bounds(terms, byte, -(1 << 63), (1 << 63) - 1).to_vec();
        let sizes = [numbers.from(&[2, 16, 32, 200]), numbers.from(&[1, 4, 64])];
        let scales = [numbers.from(&[1, 2, 4, 8, 12]), numbers.from(&[64, 128, 256, 800, 1024])];
        let width = numbers.from(&[1, 2, 4, 8, 16]);
        let mut ids = Vec::new();
        for thread in ["1", "2"] {
            let own = ["x", "y"].map(|axis| terms.symbol(&format!("{axis}${thread}"), Sort::Int, None));
            let mut place = vec![(byte, 1)];
            for (axis, &id) in own.iter().enumerate() {
                all.extend(bounds(terms, id, 0, sizes[axis] - 1));
                place.push((id, -scales[axis]));
            }
            let place = terms.int_sum(numbers.from(&[0, 0, 4]), place);
            all.extend(bounds(terms, place, 0, width - 1));
            ids.push(own);
        }
        let differ: Vec<Term> = (0..2)
            .map(|axis| {
                let same = terms.eq(ids[0][axis], ids[1][axis]);
                terms.not(same)
            })
            .collect();
        let [first, second] = [differ[0], differ[1]];
        all.push(match numbers.below(4) {
            0 => first,
            1 => terms.and(vec![first, second]),
            _ => terms.or(vec![first, second]),
        });
        let divisor = terms.int(numbers.from(&[2, 3, 32]));
        let (quotient, rest) = (terms.int_div(ids[0][0], divisor), terms.int_mod(ids[1][0], divisor));
        let bound = terms.int(numbers.from(&[0, 1, 5]));
        let (a, b) = (terms.int_le(quotient, bound), terms.int_le(bound, rest));
        let other = terms.eq(ids[0][1], quotient);
        all.push(match numbers.below(4) {
            0 => terms.or(vec![a, b]),
            1 => terms.and(vec![a, other]),
            2 => terms.or(vec![b, other]),
            _ => terms.boolean(true),
        });
        all
    }

    #[test]
    fn z3_agrees_on_random_facts() {
        let mut numbers = Numbers(20_261_123);
        let mut proved = 0;
        let mut satisfied = 0;
        in_own_context(|| {
            for _ in 0..1_500 {
                let mut terms = Terms::default();
                let assertions = assertions(&mut terms, &mut numbers);
                let [is_refuted, has_model] = with_z3(&terms, assertions);
                proved += usize::from(is_refuted);
                satisfied += usize::from(has_model);
            }
        });
        // Neither side is empty.
        assert!(proved > 150 && satisfied > 150, "{proved} proved, {satisfied} with a model");
    }
}
