//! Linear terms.
//!
//! Input: integer terms. Output: constants and multiples of what is not understood. Establishes: equal sums are equal values; where `i128`
//! overflows, there is none. Reference: none.

use crate::solver::interval::Interval;
use crate::solver::multiples::greatest_common_divisor;
use crate::vcgen::term::{Node, Term, Terms};
use std::rc::Rc;

/// A sum of multiples of terms, in their order. Its factors have no common divisor, and the first is positive.
pub(super) type Sum = Rc<[(Term, i128)]>;

/// `constant + scale * sum`
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) constant: i128,
    pub(super) scale: i128,
    pub(super) sum: Sum,
}

impl Linear {
    /// A term of integers; `None` where its factors are too large.
    pub(super) fn of(terms: &Terms, term: Term) -> Option<Linear> {
        match terms.node(term) {
            Node::IntConst(value) => Some(Linear { constant: *value, scale: 1, sum: Rc::from([]) }),
            Node::IntSum { constant, members } => {
                let mut members = members.to_vec();
                members.sort_unstable();
                Linear::new(*constant, members)
            }
            _ => Some(Linear::of_term(term)),
        }
    }

    pub(super) fn of_term(term: Term) -> Linear {
        Linear { constant: 0, scale: 1, sum: Rc::from([(term, 1)]) }
    }

    pub(super) fn of_sum(sum: &Sum) -> Linear {
        Linear { constant: 0, scale: 1, sum: sum.clone() }
    }

    /// Of members in the order of their terms; `None` where an absolute value is no number.
    pub(super) fn new(constant: i128, mut members: Vec<(Term, i128)>) -> Option<Linear> {
        members.retain(|&(_, factor)| factor != 0);
        let divisor = members.iter().try_fold(0, |divisor, &(_, factor)| {
            (factor != i128::MIN).then(|| greatest_common_divisor(divisor, factor))
        })?;
        let scale = match members.first() {
            Some(&(_, first)) if first < 0 => -divisor,
            Some(_) => divisor,
            None => 1,
        };
        members.iter_mut().for_each(|(_, factor)| *factor /= scale);
        Some(Linear { constant, scale, sum: members.into() })
    }

    /// `self + times * other`; `None` on overflow.
    pub(super) fn combine(&self, other: &Linear, times: i128) -> Option<Linear> {
        let scale = other.scale.checked_mul(times)?;
        let mut members: Vec<(Term, i128)> = Vec::with_capacity(self.sum.len() + other.sum.len());
        let mut rest = other.sum.iter().peekable();
        for &(term, factor) in self.sum.iter() {
            while let Some(&(before, factor)) = rest.next_if(|(other, _)| *other < term) {
                members.push((before, factor.checked_mul(scale)?));
            }
            let mut factor = factor.checked_mul(self.scale)?;
            if let Some((_, other)) = rest.next_if(|(other, _)| *other == term) {
                factor = factor.checked_add(other.checked_mul(scale)?)?;
            }
            members.push((term, factor));
        }
        for &(term, factor) in rest {
            members.push((term, factor.checked_mul(scale)?));
        }
        Linear::new(self.constant.checked_add(other.constant.checked_mul(times)?)?, members)
    }

    /// What its sum may be where it lies in an interval: only integers count. `None` where it has no unknowns.
    pub(super) fn rounded(&self, interval: Interval) -> Option<Interval> {
        if self.sum.is_empty() {
            return None;
        }
        let rest = |end: Option<i128>| end?.checked_sub(self.constant);
        let (low, high) = (rest(interval.low), rest(interval.high));
        let (low, high) = if self.scale > 0 { (low, high) } else { (negated(high), negated(low)) };
        let size = self.scale.checked_abs()?;
        let up = |low: i128| low.div_euclid(size) + i128::from(low.rem_euclid(size) != 0);
        Some(Interval { low: low.map(up), high: high.map(|high| high.div_euclid(size)) })
    }

    pub(super) fn minus(mut self, number: i128) -> Option<Linear> {
        self.constant = self.constant.checked_sub(number)?;
        Some(self)
    }

    pub(super) fn members(&self) -> impl DoubleEndedIterator<Item = (Term, i128)> {
        self.sum.iter().map(|&(term, factor)| (term, factor * self.scale))
    }

    pub(super) fn latest(&self) -> Option<(Term, i128)> {
        self.members().next_back()
    }

    /// The same but for a multiple of the modulus, with factors as close to zero as possible.
    pub(super) fn modulo(&self, modulus: i128) -> Option<Linear> {
        let least = |factor: i128| {
            let rest = factor.rem_euclid(modulus);
            if rest > modulus / 2 { rest - modulus } else { rest }
        };
        let members = self.members().map(|(term, factor)| (term, least(factor)));
        Linear::new(self.constant.rem_euclid(modulus), members.collect())
    }
}

fn negated(end: Option<i128>) -> Option<i128> {
    end?.checked_neg()
}
