//! Bounds that the conjuncts of a formula state.
//!
//! Input: a formula that is asked for a model. Output: bounds of products, so that machine arithmetic on them is seen
//! not to wrap. Establishes: the bounds hold in every model of the formula.
//! Example: of `ctaid < nctaid` and `nctaid * ntid <= 2^31 - 1` follows `ctaid * ntid <= 2^31 - 1 - ntid`.
//! Reference: DESIGN section 5.

use super::integers::Value;
use crate::vcgen::term::{Node, Term, Terms};
use foldhash::HashMap;

/// What is known, over integer terms.
#[derive(Default)]
pub(crate) struct Facts {
    /// Greatest values of terms.
    most: HashMap<Term, i128>,
    /// Symbols with the symbols that are greater.
    less: HashMap<Term, Vec<Term>>,
}

impl Facts {
    /// Learns that an integer term is at most 0.
    pub(crate) fn at_most_zero(&mut self, terms: &Terms, term: Term) {
        let Node::IntSum { constant, members } = terms.node(term) else { return };
        if let [(member, factor)] = &members[..]
            && *factor > 0
        {
            let most = (-constant).div_euclid(*factor);
            let known = self.most.entry(*member).or_insert(most);
            *known = most.min(*known);
        }
    }

    /// Learns that a term is less than another.
    pub(crate) fn less(&mut self, terms: &Terms, small: Term, large: Term) {
        if [small, large].iter().all(|t| matches!(terms.node(*t), Node::Symbol(_))) {
            self.less.entry(small).or_default().push(large);
        }
    }

    /// The greatest value of a product of two terms, as far as it is known.
    pub(crate) fn largest_product(&self, terms: &mut Terms, x: Value, y: Value) -> Option<i128> {
        let product = terms.int_mul(x.term, y.term);
        let mut bounds: Vec<i128> = self.most.get(&product).copied().into_iter().collect();
        for (small, other) in [(x, y), (y, x)] {
            let (Some(0..), Some(least @ 0..)) = (small.interval.low, other.interval.low) else { continue };
            for &large in self.less.get(&small.term).into_iter().flatten() {
                let larger = terms.int_mul(large, other.term);
                bounds.extend(self.most.get(&larger).map(|most| most - least));
            }
        }
        bounds.into_iter().min()
    }
}

/// The parts of a conjunction, each with whether it or its negation is one.
pub(crate) fn conjuncts(terms: &Terms, formula: Term) -> Vec<(Term, bool)> {
    let mut found = Vec::new();
    let mut stack = vec![(formula, true)];
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
