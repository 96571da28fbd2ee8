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
use crate::vcgen::term::{Node, Term};

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
        self.truths = conjuncts.into_iter().collect();
        for _ in 0..LEARNING {
            let before = self.facts.learned;
            self.facts.begin_round();
            for &(comparison, holds) in &comparisons {
                let formula = self.formula(comparison);
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
        }
        zeros
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
