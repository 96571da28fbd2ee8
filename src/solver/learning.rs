//! What the conjuncts of a formula tell of its other parts.
//!
//! Input: a formula that is asked for a model. Output: [`Facts`] that its translation knows, branches that its choices take,
//! and what follows of places that are equal. Establishes: all of it holds in every model of the formula, so that no model is
//! lost. Relies on: [`super::facts`], [`super::radix`], [`super::quotients`]. Reference: DESIGN section 5.

use super::facts;
use super::integers::{Integers, modulus};
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::radix;
use super::truths::Truths;
use crate::vcgen::term::{Node, Sort, Term};

/// Terms of a comparison that facts are taken from, and how often they are looked for.
const LARGEST_FACT: usize = 80;
const LEARNING: usize = 6;

impl Integers<'_> {
    /// Takes the facts from the conjuncts of the formula that is to have a model. What is known of the sizes tells of sums in
    /// later rounds that they do not wrap, and so what their comparisons say.
    pub(super) fn learn(&mut self, formula: Term) {
        let is_small = |(term, _): &(Term, bool)| {
            let is_comparison = matches!(self.terms.node(*term), Node::IntLe(..) | Node::BvCompare(..) | Node::Eq(..));
            is_comparison && self.terms.size(&[*term], LARGEST_FACT) <= LARGEST_FACT
        };
        let conjuncts = facts::conjuncts(self.terms, formula, true);
        let comparisons: Vec<_> = conjuncts.iter().copied().filter(is_small).collect();
        // What contradicts itself has no model, whatever is learned.
        self.truths = Truths::new(self.terms, &conjuncts).unwrap_or_default();
        for _ in 0..LEARNING {
            let before = self.facts.learned;
            self.facts.begin_round();
            for &(comparison, holds) in &comparisons {
                let formula = self.formula(comparison);
                self.name_number_of_values(formula, holds);
                self.facts.learn(self.terms, formula, holds);
            }
            // What was translated on the way did not know all facts.
            self.representatives.clear();
            self.canonical.clear();
            self.formulas.clear();
            self.products.clear();
            self.side.clear();
            self.divisions.forget_what_was_told();
            if self.facts.learned == before {
                break;
            }
        }
        self.facts.begin_round();
        for &(condition, holds) in &self.facts.chosen {
            self.side.push(if holds { condition } else { self.terms.not(condition) });
        }
    }

    /// What a choice is where the conjuncts of the formula tell.
    pub(super) fn chosen(&mut self, condition: Term, yes: Term, no: Term) -> Option<Term> {
        let known = self.truths.of(self.terms, condition).or_else(|| {
            let formula = self.formula_of(condition);
            self.terms.truth(formula)
        });
        known.map(|holds| if holds { yes } else { no })
    }

    /// What follows from the formula that is to have a model, about places that are equal.
    pub(crate) fn consequences(&mut self) -> Vec<Term> {
        self.facts.begin_round();
        let zeros = radix::zeros(self.terms, &self.facts);
        if !zeros.is_empty() {
            self.tell_divisions();
            let named = self.differences.iter().map(|(name, sum)| self.terms.eq(*name, *sum));
            self.side.extend(named);
        }
        zeros
    }

    /// Gives a name to the number of values that a comparison leaves, `w - radius + 1` in `x <= w - radius`.
    fn name_number_of_values(&mut self, formula: Term, holds: bool) -> Option<()> {
        let Node::IntLe(a, b) = *self.terms.node(formula) else { return None };
        let number = if holds { self.terms.int_sum(1, vec![(b, 1)]) } else { a };
        self.name_difference(number)
    }

    /// Gives a factor such as `w - radius + 1` a name, where it is made of sizes: multiplied out, rows of that length are hard to
    /// see. What is left of a size is at most as much.
    pub(super) fn name_difference(&mut self, factor: Term) -> Option<()> {
        let Node::IntSum { members, .. } = self.terms.node(factor).clone() else { return None };
        let is_size = |member: &Term| {
            let name = self.terms.symbol_of(*member).map(|symbol| &symbol.name);
            name.is_some_and(|name| !name.contains('$') && !name.starts_with("ctaid"))
        };
        let is_difference = members.iter().any(|(_, factor)| *factor < 0);
        if !self.learns || !is_difference || !members.iter().all(|(member, _)| is_size(member)) {
            return None;
        }
        let name = self.terms.apply("int@difference", vec![factor], Sort::Int);
        self.differences.insert(name, factor);
        let (sum, named) = (Polynomial::of(self.terms, factor)?, Polynomial::unknown(name));
        for &(size, _) in members.iter().filter(|(_, factor)| *factor == 1) {
            let taken = sum.plus(&Polynomial::unknown(size), -1)?;
            if self.facts.at_most(&taken, 0).is_some_and(|most| most <= 0) {
                let is_less = self.terms.int_le(name, size);
                self.facts.learn(self.terms, is_less, true);
            }
        }
        self.facts.define(&sum, &named)
    }

    /// What the facts say, where a sum or product may wrap.
    pub(super) fn sharpened(&self, term: Term, interval: Interval, width: u32) -> Interval {
        let half = modulus(width) / 2;
        if interval.within(-half, half - 1) {
            return interval;
        }
        let polynomial = Polynomial::of(self.terms, term);
        polynomial.map_or(interval, |p| interval.and(self.facts.interval(&p, Interval::new(-half, half - 1))))
    }
}
