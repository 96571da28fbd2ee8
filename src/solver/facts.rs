//! Bounds that the conjuncts of a formula state.
//!
//! Input: conjuncts of a formula that is asked for a model, over integers. Output: bounds of sums and products, so that machine
//! arithmetic on them is seen not to wrap. Establishes: the bounds hold in every model of the formula.
//! Example: of `y < h`, `x < w` and `h * w <= 2^31 - 1` follows `y * w + x <= (h - 1) * w + w - 1 <= 2^31 - 2`: what is known not
//! to be positive may be taken from a sum as often as what is not negative says, here `w` times `y - h + 1` and once `x - w + 1`.
//! Reference: DESIGN section 5; Handelman, Representing polynomials by positive linear functions on compact convex polyhedra.

use super::interval::Interval;
use super::multiples::greatest_common_divisor;
use super::polynomial::{Monomial, Polynomial, common, without};
use crate::effort::{self, Effort};
use crate::limits;
use crate::vcgen::term::{Node, Sort, Term, Terms};
use foldhash::HashMap;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Later facts about sums are not kept.
const MOST_FACTS: usize = 200;

/// Sums that are looked at for one bound, and for all bounds of a round.
const WORK: usize = 100;
const WORK_IN_ALL: usize = 4000;

/// Sums that are told as so many parts.
const MOST_TO_A_PART: i128 = 4;

/// What it costs to look at one.
const STEP: Effort = Effort::nanoseconds(2000);

/// What facts are taken from.
#[derive(Clone, Copy, PartialEq)]
enum Follow {
    /// The part with the greatest bound: that has to go anyway, and order does not matter.
    Largest,
    /// Any part.
    All,
}

/// A fact that is taken from a polynomial, and what is left then.
struct Step {
    bound: i128,
    fact: usize,
    rest: Polynomial,
}

/// What is known.
#[derive(Default)]
pub(super) struct Facts {
    /// Of unknowns.
    ranges: HashMap<Term, Interval>,
    /// Greatest values of products of unknowns.
    most: BTreeMap<Monomial, i128>,
    /// None of these is positive.
    not_positive: Vec<Polynomial>,
    /// Unknowns that are polynomials of others; none of those is one of these.
    definitions: BTreeMap<Term, Polynomial>,
    /// Conditions of choices, with whether they hold. What the formula said of a choice it may not say of the value that was chosen.
    pub(super) chosen: BTreeSet<(Term, bool)>,
    /// How often something was learned.
    pub(super) learned: usize,
    /// How many sums were looked at in this round.
    looked_at: Cell<usize>,
    /// Intervals of products of unknowns, as far as they were asked for behind what was learned last of these.
    intervals: RefCell<HashMap<Monomial, Interval>>,
}

impl Facts {
    /// All that may be looked at for a formula may be looked at anew.
    pub(super) fn begin_round(&self) {
        self.looked_at.set(0);
    }

    /// Learns that a formula, or its negation, holds.
    pub(super) fn learn(&mut self, terms: &Terms, formula: Term, holds: bool) {
        for (conjunct, holds) in conjuncts(terms, formula, holds) {
            let (a, b, is_equal) = match (terms.node(conjunct), holds) {
                (Node::IntLe(a, b), _) => (*a, *b, false),
                (Node::Eq(a, b), true) if terms.sort(*a) == Sort::Int => (*a, *b, true),
                _ => continue,
            };
            let sides = Polynomial::of(terms, a).zip(Polynomial::of(terms, b));
            let Some(difference) = sides.and_then(|(a, b)| a.plus(&b, -1)) else { continue };
            // `a - b <= 0`, or `b - a + 1 <= 0`
            let negated = Polynomial::constant(1).plus(&difference, -1);
            let opposite = Polynomial::default().plus(&difference, -1);
            let facts = match (holds, is_equal) {
                (true, true) => [Some(difference), opposite],
                (true, false) => [Some(difference), None],
                (false, _) => [negated, None],
            };
            for fact in facts.into_iter().flatten() {
                self.learn_choices(terms, &fact);
                self.is_not_positive(fact);
            }
        }
    }

    /// Of `1 <= (x <= 7 ? x : x - 16)`, a number of four bits with its sign, follows `x <= 7` where `x` is at most 15: with
    /// the other value the fact cannot hold.
    fn learn_choices(&mut self, terms: &Terms, fact: &Polynomial) {
        let alone = fact.parts().filter(|(monomial, _)| monomial.len() == 1).map(|(monomial, _)| monomial[0]);
        for unknown in alone.collect::<Vec<Term>>() {
            let Node::Ite(condition, yes, no) = *terms.node(unknown) else { continue };
            for (value, holds) in [(yes, true), (no, false)] {
                let with = Polynomial::of(terms, value).and_then(|value| fact.with(unknown, &value));
                let opposite = with.and_then(|with| Polynomial::default().plus(&with, -1));
                if opposite.and_then(|opposite| self.by_ranges(&opposite)).is_some_and(|most| most < 0) {
                    self.chosen.insert((condition, !holds));
                    self.learn(terms, condition, !holds);
                }
            }
        }
    }

    fn is_not_positive(&mut self, fact: Polynomial) {
        let constant = fact.constant_part();
        let sum = fact.without_constant();
        let mut parts = sum.parts();
        match (parts.next(), parts.next()) {
            (Some((product, factor)), None) if product.len() > 1 => {
                let most = (-constant).div_euclid(factor);
                if factor > 0 && self.most.get(product).is_none_or(|known| most < *known) {
                    self.most.insert(product.clone(), most);
                    self.intervals.get_mut().clear();
                    self.learned += 1;
                }
            }
            (Some((_, factor)), None) => {
                self.narrow_each(&fact);
                // Where `w` is at least 1, `y * w - y` is seen to be at least 0.
                if factor < 0 && constant > 0 {
                    self.keep(fact);
                }
            }
            (Some(_), Some(_)) => {
                self.narrow_each(&fact);
                self.divide(&fact);
                self.keep(fact);
            }
            _ => {}
        }
    }

    /// Learns that two polynomials are the same: one of the unknowns of the first is told by the others from now on.
    pub(super) fn define(&mut self, sum: &Polynomial, value: &Polynomial) -> Option<()> {
        let (sum, value) = (self.normal(sum)?, self.normal(value)?);
        let is_free = |unknown: Term, rest: &Polynomial| !rest.has(unknown) && !value.has(unknown);
        let (unknown, value) = sum.parts().find_map(|(monomial, factor)| {
            let ([unknown], 1) = (&monomial[..], factor) else { return None };
            let rest = sum.plus(&Polynomial::unknown(*unknown), -1)?;
            Some((*unknown, value.plus(&rest, -1)?)).filter(|_| is_free(*unknown, &rest))
        })?;
        let told = |(own, known): (&Term, &Polynomial)| Some((*own, known.with(unknown, &value)?));
        self.definitions = self.definitions.iter().map(told).collect::<Option<_>>()?;
        self.definitions.insert(unknown, value);
        self.learned += 1;
        let facts: Vec<_> = self.not_positive.iter().filter(|fact| fact.has(unknown)).cloned().collect();
        for fact in facts {
            let normal = self.normal(&fact);
            normal.into_iter().for_each(|fact| self.is_not_positive(fact));
        }
        Some(())
    }

    /// The same polynomial, of unknowns that are not told by others.
    pub(super) fn normal(&self, polynomial: &Polynomial) -> Option<Polynomial> {
        let told = self.definitions.iter().filter(|(unknown, _)| polynomial.has(**unknown));
        told.into_iter().try_fold(polynomial.clone(), |polynomial, (unknown, value)| polynomial.with(*unknown, value))
    }

    /// Unknowns with the polynomials of others that they are.
    pub(super) fn definitions(&self) -> &BTreeMap<Term, Polynomial> {
        &self.definitions
    }

    /// Of `n*h*w + y*w + 1 <= k*h*w` follows `n*h + y + 1 <= k*h`, and `n + 1 <= k`.
    fn divide(&mut self, fact: &Polynomial) {
        if fact.constant_part() < 1 {
            return;
        }
        let sum = fact.without_constant();
        let taken = sum.parts().filter(|(_, factor)| *factor < 0);
        let Some(divisor) = taken.map(|(monomial, _)| monomial.clone()).reduce(|a, b| common(&a, &b)) else { return };
        let added: Vec<_> =
            sum.parts().filter(|(_, factor)| *factor > 0).map(|(monomial, _)| monomial.clone()).collect();
        for monomial in &added {
            let divisor = common(monomial, &divisor);
            let is_multiple = |monomial: &Monomial| without(monomial, &divisor).is_some();
            let is_dropped = |monomial: &&Monomial| !is_multiple(monomial);
            if divisor.is_empty()
                || !self.is_not_negative(&divisor)
                || !added.iter().filter(is_dropped).all(|monomial| self.is_not_negative(monomial))
            {
                continue;
            }
            let quotient = sum.quotient(&divisor).plus(&Polynomial::constant(1), 1);
            quotient.into_iter().for_each(|fact| self.is_not_positive(fact));
        }
    }

    /// Of `x + 1 <= w` and `0 <= x` follows `1 <= w`.
    fn narrow_each(&mut self, fact: &Polynomial) {
        let opposite = Polynomial::default().plus(fact, -1);
        for (monomial, factor) in fact.parts() {
            let [unknown] = monomial[..] else { continue };
            // `factor * unknown` is at most this.
            let own = Polynomial::unknown(unknown);
            let rest = opposite.as_ref().and_then(|opposite| opposite.plus(&own, factor));
            let Some(most) = rest.filter(|rest| !rest.has(unknown)).and_then(|rest| self.by_ranges(&rest)) else {
                continue;
            };
            let most = most.div_euclid(factor.abs());
            self.narrow(
                unknown,
                match factor > 0 {
                    true => Interval { low: None, high: Some(most) },
                    false => Interval { low: Some(-most), high: None },
                },
            );
        }
    }

    fn keep(&mut self, fact: Polynomial) {
        if self.not_positive.len() < MOST_FACTS && !self.not_positive.contains(&fact) {
            let normal = self.normal(&fact).filter(|normal| *normal != fact);
            self.not_positive.push(fact);
            self.learned += 1;
            normal.into_iter().for_each(|fact| self.is_not_positive(fact));
        }
    }

    /// Learns that an unknown lies in an interval.
    pub(super) fn narrow(&mut self, unknown: Term, interval: Interval) {
        let known = self.range(unknown);
        let narrowed = known.and(interval);
        // What contradicts itself has no model; its bounds are of no use.
        if narrowed != known && !narrowed.is_empty() {
            self.ranges.insert(unknown, narrowed);
            self.intervals.get_mut().clear();
            self.learned += 1;
        }
    }

    /// Sums of which none is positive.
    pub(super) fn not_positive(&self) -> &[Polynomial] {
        &self.not_positive
    }

    pub(super) fn range(&self, unknown: Term) -> Interval {
        self.ranges.get(&unknown).copied().unwrap_or(Interval::ALL)
    }

    /// An interval of a polynomial: bounds that are no further away than those of `enough` are not made better.
    pub(super) fn interval(&self, polynomial: &Polynomial, enough: Interval) -> Interval {
        let opposite = Polynomial::default().plus(polynomial, -1);
        let low = opposite.and_then(|opposite| self.at_most(&opposite, enough.low.map_or(i128::MIN, |low| -low)));
        Interval { low: low.map(|low| -low), high: self.at_most(polynomial, enough.high.unwrap_or(i128::MIN)) }
    }

    /// A bound of a polynomial, the best one that is found, or the first one that is `enough`.
    pub(super) fn at_most(&self, polynomial: &Polynomial, enough: i128) -> Option<i128> {
        // Digits have bounds that the number they make has not.
        let normal = self.normal(polynomial).filter(|normal| normal != polynomial);
        let most = normal.and_then(|normal| self.search_from(&normal, enough));
        match most {
            Some(most) if most <= enough => Some(most),
            _ => {
                let best = most.into_iter().chain(self.search_from(polynomial, enough)).min();
                best.filter(|best| *best <= enough).or_else(|| self.at_most_in_parts(polynomial, enough)).or(best)
            }
        }
    }

    /// Of `2*x + 2 <= w` and `w <= 2*q + 1` follows `2*x - 2*q <= -1`, so that `x - q` is at most -1.
    fn at_most_in_parts(&self, polynomial: &Polynomial, enough: i128) -> Option<i128> {
        let parts = self.parts_of(polynomial).checked_pow(polynomial.degree().try_into().ok()?)?;
        let scaled = Polynomial::default().plus(polynomial, parts).filter(|_| parts > 1 && enough != i128::MIN)?;
        let most = self.search_from(&scaled, enough.checked_mul(parts)?.checked_add(parts - 1)?)?;
        Some(most.div_euclid(parts)).filter(|most| *most <= enough)
    }

    /// In how many parts facts tell of unknowns of a polynomial.
    fn parts_of(&self, polynomial: &Polynomial) -> i128 {
        let facts = self.not_positive.iter().flat_map(Polynomial::parts);
        let is_told = |(monomial, factor): &(&Monomial, i128)| {
            factor.abs() <= MOST_TO_A_PART && monomial.iter().any(|unknown| polynomial.has(*unknown))
        };
        let factors = facts.filter(is_told).map(|(_, factor)| factor.abs());
        factors.fold(1, |parts, factor| parts / greatest_common_divisor(parts, factor) * factor)
    }

    fn search_from(&self, polynomial: &Polynomial, enough: i128) -> Option<i128> {
        let mut best = None;
        for (follow, most) in [(Follow::Largest, WORK), (Follow::All, WORK / 4)] {
            let mut work = most.min(WORK_IN_ALL.saturating_sub(self.looked_at.get()));
            best = best.into_iter().chain(self.search(polynomial, follow, &mut Vec::new(), enough, &mut work)).min();
            if best.is_some_and(|best| best <= enough) {
                break;
            }
        }
        best
    }

    /// `used` are the facts that were taken from the polynomial. What gives the best bound at once is tried first.
    fn search(
        &self,
        polynomial: &Polynomial,
        follow: Follow,
        used: &mut Vec<usize>,
        enough: i128,
        work: &mut usize,
    ) -> Option<i128> {
        let mut best = self.by_ranges(polynomial);
        let is_enough = |best: Option<i128>| best.is_some_and(|best| best <= enough);
        if is_enough(best) || *work == 0 {
            return best;
        }
        limits::check();
        effort::spend(STEP);
        self.looked_at.set(self.looked_at.get() + 1);
        let mut steps = self.steps(polynomial, used);
        if follow == Follow::Largest {
            self.retain_largest(polynomial, &mut steps);
        }
        for Step { fact: i, rest, .. } in steps {
            if *work == 0 || is_enough(best) {
                break;
            }
            *work -= 1;
            used.push(i);
            let bound = self.search(&rest, follow, used, enough, work);
            used.pop();
            best = best.into_iter().chain(bound).min();
        }
        best
    }

    /// What is left where one of the facts is taken from a polynomial; first what has the best bound.
    fn steps(&self, polynomial: &Polynomial, used: &[usize]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (i, fact) in self.not_positive.iter().enumerate().filter(|(i, _)| !used.contains(i)) {
            for (monomial, factor) in fact.parts().filter(|(monomial, _)| !monomial.is_empty()) {
                let times = polynomial.positive_quotient(monomial, factor, |m| self.is_not_negative(m));
                let taken = Some(times).filter(|times| *times != Polynomial::default());
                let taken = taken.and_then(|times| fact.times(&times));
                let Some(rest) = taken.and_then(|taken| polynomial.plus(&taken, -1)) else { continue };
                steps.push(Step { bound: self.by_ranges(&rest).unwrap_or(i128::MAX), fact: i, rest });
            }
        }
        steps.sort_by_key(|step| (step.bound, step.fact));
        // Where several parts of a fact are taken as often, that is one step.
        steps.dedup_by(|a, b| (a.fact, &a.rest) == (b.fact, &b.rest));
        steps
    }

    /// Keeps what takes from the part with the greatest bound of those that are taken from.
    fn retain_largest(&self, polynomial: &Polynomial, steps: &mut Vec<Step>) {
        let mut parts: Vec<_> = polynomial.parts().collect();
        parts.sort_by_cached_key(|(monomial, factor)| Reverse(self.of_part(monomial, *factor).unwrap_or(i128::MAX)));
        let takes = |step: &Step, (monomial, factor): (&Monomial, i128)| {
            step.rest.factor_of(monomial).unwrap_or_default().abs() < factor.abs()
        };
        if let Some(largest) = parts.into_iter().find(|part| steps.iter().any(|step| takes(step, *part))) {
            steps.retain(|step| takes(step, largest));
            // What says something of one digit only leaves less behind than what says it of several.
            steps.sort_by_key(|step| step.rest.parts().count());
        }
    }

    fn is_not_negative(&self, monomial: &Monomial) -> bool {
        monomial.iter().all(|unknown| self.range(*unknown).low.is_some_and(|low| low >= 0))
    }

    fn by_ranges(&self, polynomial: &Polynomial) -> Option<i128> {
        let mut parts = polynomial.parts();
        parts.try_fold(0i128, |sum, (monomial, factor)| sum.checked_add(self.of_part(monomial, factor)?))
    }

    fn of_part(&self, monomial: &Monomial, factor: i128) -> Option<i128> {
        self.of_product(monomial).times_constant(factor).high
    }

    fn of_product(&self, monomial: &Monomial) -> Interval {
        if let Some(known) = self.intervals.borrow().get(monomial) {
            return *known;
        }
        let interval = self.interval_of_product(monomial);
        self.intervals.borrow_mut().insert(monomial.clone(), interval);
        interval
    }

    fn interval_of_product(&self, monomial: &Monomial) -> Interval {
        let ranges = |monomial: &Monomial| {
            monomial.iter().fold(Interval::point(1), |product, unknown| product.times(self.range(*unknown)))
        };
        let mut interval = ranges(monomial);
        for (part, &most) in self.most.iter().filter(|(_, most)| **most >= 0) {
            let high = match (without(monomial, part), without(part, monomial)) {
                (Some(more), _) => {
                    let high = ranges(&more).high.filter(|_| self.is_not_negative(&more));
                    high.and_then(|high| high.checked_mul(most))
                }
                // The part is as many times as large, at least.
                (None, Some(more)) => {
                    let least = ranges(&more).low.filter(|least| *least >= 1 && self.is_not_negative(&more));
                    least.map(|least| most / least)
                }
                (None, None) => None,
            };
            interval = interval.and(Interval { low: None, high });
        }
        interval
    }
}

/// The parts of a conjunction, or of a negated disjunction, each with whether it or its negation is one.
pub(super) fn conjuncts(terms: &Terms, formula: Term, holds: bool) -> Vec<(Term, bool)> {
    let mut found = Vec::new();
    let mut stack = vec![(formula, holds)];
    while let Some((term, holds)) = stack.pop() {
        match (terms.node(term), holds) {
            (Node::Not(inner), _) => stack.push((*inner, !holds)),
            (Node::And(list), true) | (Node::Or(list), false) => {
                stack.extend(list.iter().rev().map(|&member| (member, holds)));
            }
            _ => found.push((term, holds)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(terms: &mut Terms, facts: &mut Facts, name: &str, low: i128, high: i128) -> Term {
        let symbol = terms.symbol(name, Sort::Int, None);
        facts.narrow(symbol, Interval::new(low, high));
        symbol
    }

    #[test]
    fn a_fact_tells_which_value_a_choice_has() {
        let mut terms = Terms::default();
        for (least, holds, expected) in [(1, true, (0, 7)), (0, false, (8, 15)), (-1, true, (0, 15))] {
            let mut facts = Facts::default();
            let x = symbol(&mut terms, &mut facts, "x", 0, 15);
            let seven = terms.int(7);
            let (is_small, negative) = (terms.int_le(x, seven), terms.int_sum(-16, vec![(x, 1)]));
            let signed = terms.ite(is_small, x, negative);
            let least = terms.int(least);
            let fact = terms.int_le(least, signed);
            facts.learn(&terms, fact, holds);
            assert_eq!(facts.range(x), Interval::new(expected.0, expected.1), "{least:?} {holds}");
        }
    }

    #[test]
    fn halves_are_compared_as_wholes() {
        let mut terms = Terms::default();
        let mut facts = Facts::default();
        let [x, w, q] = ["x", "w", "q"].map(|name| symbol(&mut terms, &mut facts, name, 0, 1000));
        // 2*x + 2 <= w, and w <= 2*q + 1
        let (twice, odd) = (terms.int_sum(2, vec![(x, 2)]), terms.int_sum(1, vec![(q, 2)]));
        for fact in [terms.int_le(twice, w), terms.int_le(w, odd)] {
            facts.learn(&terms, fact, true);
        }
        let distance = Polynomial::unknown(x).plus(&Polynomial::unknown(q), -1);
        let most = |enough: i128| distance.as_ref().and_then(|distance| facts.at_most(distance, enough));
        assert_eq!(most(-1), Some(-1));
        assert!(most(-2).is_none_or(|most| most >= -1), "x == 0 and q == 1 are possible");
    }
}
