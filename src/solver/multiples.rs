//! Multiples of a common factor, and linear relations between the terms of a formula.
//!
//! Input: the assertions of a query. Output: the sums of products in it as multiples of a factor,
//! `x*(2*y + z + 3)` for `2*x*y + x*z + 3*x`; and its equations, bounds and choices as differences
//! of terms. Establishes: [`consequences`] of differences that are about zero in a model, by
//! elimination of the latest terms first: what follows for the earliest ones, in which threads differ.
//! Reference: DESIGN section 5 (division-lemma instances).

use super::products::Product;
use crate::vcgen::term::{Node, Sort, Term, Terms};
use foldhash::HashSet;
use std::collections::{BTreeMap, BTreeSet};

/// `constant + sum of factor * term`, without factors of zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Linear {
    /// What is no unknown.
    pub(crate) constant: i128,
    /// Terms with their factors.
    pub(crate) members: BTreeMap<Term, i128>,
}

impl Linear {
    pub(super) fn of(terms: &Terms, term: Term) -> Linear {
        match terms.node(term) {
            Node::IntConst(value) => Linear { constant: *value, members: BTreeMap::new() },
            Node::IntSum { constant, members } => {
                Linear { constant: *constant, members: members.iter().copied().collect() }
            }
            _ => Linear { constant: 0, members: BTreeMap::from([(term, 1)]) },
        }
    }

    /// `a * self + b * other`; `None` on overflow.
    pub(super) fn combine(&self, a: i128, other: &Linear, b: i128) -> Option<Linear> {
        let mut members = BTreeMap::new();
        for (list, scale) in [(&self.members, a), (&other.members, b)] {
            for (&term, factor) in list {
                let entry = members.entry(term).or_insert(0i128);
                *entry = entry.checked_add(factor.checked_mul(scale)?)?;
            }
        }
        members.retain(|_, factor| *factor != 0);
        let constant = self.constant.checked_mul(a)?.checked_add(other.constant.checked_mul(b)?)?;
        Some(Linear { constant, members })
    }

    /// The value, where that of each term is known; `None` on overflow.
    pub(crate) fn value(&self, of: &dyn Fn(Term) -> Option<i128>) -> Option<i128> {
        let add = |sum: i128, (&term, factor): (&Term, &i128)| sum.checked_add(of(term)?.checked_mul(*factor)?);
        self.members.iter().try_fold(self.constant, add)
    }
}

/// A term that is a factor so many times, whatever the unknowns are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Multiple {
    /// How many times.
    pub(crate) times: Linear,
    /// `factor * times`, by the products of the query.
    pub(crate) value: Linear,
}

impl Multiple {
    /// The part of a sum that is a multiple of a factor, over what its scales have in common.
    fn part(terms: &Terms, factor: Term, sum: &Linear) -> Multiple {
        let (mut times, mut value) = (Linear::default(), Linear::default());
        for (&term, &scale) in &sum.members {
            match terms.node(term) {
                _ if term == factor => times.constant = scale,
                Node::IntMul(a, b) if *a == factor => *times.members.entry(*b).or_insert(0) += scale,
                Node::IntMul(a, b) if *b == factor => *times.members.entry(*a).or_insert(0) += scale,
                _ => continue,
            }
            value.members.insert(term, scale);
        }
        Multiple { times, value }.reduced()
    }

    fn reduced(mut self) -> Multiple {
        let divisor = self.value.members.values().fold(0, |divisor, &scale| greatest_common_divisor(divisor, scale));
        let sign = if self.value.members.values().next().is_some_and(|&scale| scale < 0) { -1 } else { 1 };
        if divisor != 0 {
            self.times.constant /= divisor * sign;
            let scales = self.times.members.values_mut().chain(self.value.members.values_mut());
            scales.for_each(|scale| *scale /= divisor * sign);
        }
        self
    }

    /// How far two multiples of one factor are apart; `None` on overflow.
    pub(crate) fn minus(&self, other: &Multiple) -> Option<Multiple> {
        let times = self.times.combine(1, &other.times, -1)?;
        Some(Multiple { times, value: self.value.combine(1, &other.value, -1)? }.reduced())
    }
}

/// The multiples of each factor of a product that occur in some terms.
pub(crate) fn collect(terms: &Terms, roots: &[Term], products: &[Product]) -> BTreeMap<Term, BTreeSet<Multiple>> {
    let mut multiples: BTreeMap<Term, BTreeSet<Multiple>> = BTreeMap::new();
    let mut add = |sum: &Linear| {
        for (factor, multiple) in of_sum(terms, sum) {
            multiples.entry(factor).or_default().insert(multiple);
        }
    };
    products.iter().for_each(|product| add(&Linear::of(terms, product.term)));
    for term in below(terms, roots) {
        if let Node::IntSum { .. } = terms.node(term) {
            add(&Linear::of(terms, term));
        }
    }
    multiples
}

/// The parts of a sum that are multiples of a factor of one of its products.
pub(crate) fn of_sum(terms: &Terms, sum: &Linear) -> Vec<(Term, Multiple)> {
    let mut factors = BTreeSet::new();
    for &term in sum.members.keys() {
        if let Node::IntMul(a, b) = terms.node(term) {
            factors.extend([*a, *b]);
        }
    }
    factors.into_iter().map(|factor| (factor, Multiple::part(terms, factor, sum))).collect()
}

/// The differences of terms that are compared, and of choices and what they choose from.
pub(crate) fn differences(terms: &Terms, roots: &[Term]) -> BTreeSet<Linear> {
    let mut found = BTreeSet::new();
    let mut add = |a: Term, b: Term| found.extend(Linear::of(terms, a).combine(1, &Linear::of(terms, b), -1));
    for term in below(terms, roots) {
        match terms.node(term) {
            Node::Eq(a, b) if terms.sort(*a) == Sort::Int => add(*b, *a),
            Node::IntLe(a, b) => add(*b, *a),
            Node::Ite(_, a, b) if terms.sort(term) == Sort::Int => {
                add(*a, term);
                add(*b, term);
            }
            _ => {}
        }
    }
    found
}

/// Equations between products and the earliest other terms that follow from some between all terms. Constants do not
/// matter.
pub(crate) fn consequences(terms: &Terms, equations: Vec<Linear>) -> Vec<Linear> {
    let latest = |equation: &Linear| {
        let other = |term: &&Term| !matches!(terms.node(**term), Node::IntMul(..));
        equation.members.keys().rev().find(other).copied()
    };
    let mut by_latest: BTreeMap<Term, Linear> = BTreeMap::new();
    let mut found = Vec::new();
    for mut equation in equations {
        while let Some(term) = latest(&equation) {
            let Some(pivot) = by_latest.get(&term) else {
                by_latest.insert(term, equation);
                break;
            };
            let (scale, other) = (equation.members[&term], pivot.members[&term]);
            let divisor = greatest_common_divisor(scale, other);
            match equation.combine(other / divisor, pivot, -scale / divisor) {
                Some(rest) => equation = rest,
                None => break,
            }
            found.push(equation.clone());
        }
    }
    found
}

/// All terms below some, each once.
fn below(terms: &Terms, roots: &[Term]) -> Vec<Term> {
    let mut seen: HashSet<Term> = HashSet::default();
    let mut found = Vec::new();
    for &root in roots {
        let new = terms.postorder(root, &|t| seen.contains(&t));
        seen.extend(&new);
        found.extend(new);
    }
    found
}

pub(super) fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `o = a + p` and `o = b + q`, with products p and q, follows `p - q = b - a`.
    #[test]
    fn late_terms_are_eliminated() {
        let mut terms = Terms::default();
        let [a, b, k, l, s, o] = ["a", "b", "k", "l", "s", "o"].map(|name| terms.symbol(name, Sort::Int, None));
        let (p, q) = (terms.int_mul(k, s), terms.int_mul(l, s));
        let row = |x: Term, product: Term| Linear { constant: 7, members: [(o, 1), (x, -1), (product, -4)].into() };
        let found = consequences(&terms, vec![row(a, p), row(b, q)]);
        let [relation] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(relation.members.get(&o), None);
        let (_, multiple) = of_sum(&terms, relation).into_iter().find(|(factor, _)| *factor == s).unwrap();
        assert_eq!(multiple.times, Linear { constant: 0, members: [(k, 1), (l, -1)].into() });
        assert_eq!(multiple.value, Linear { constant: 0, members: [(p, 1), (q, -1)].into() });
    }
}
