//! Polynomials over integer terms.
//!
//! Input: sums and products of terms. Output: their sum of products, multiplied out. Establishes: a polynomial has the value of its
//! term, whatever the unknowns are; what overflows or grows too large is none.
//! Reference: none (normal forms in commutative rings).

use super::multiples::greatest_common_divisor;
use crate::vcgen::term::{Node, Term, Terms};
use itertools::{EitherOrBoth, Itertools};
use smallvec::{SmallVec, smallvec};

/// Longer ones are not followed.
const MOST_PARTS: usize = 24;
/// Nor are those of a higher degree.
const MOST_FACTORS: usize = 6;

/// Unknowns that are multiplied, in order; none of them is the constant part. Thousands are made for one query, so they are
/// kept in place.
pub(super) type Monomial = SmallVec<[Term; MOST_FACTORS]>;

/// A sum of products; none of the factors is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Polynomial {
    /// In the order of their monomials, of which each is there once.
    parts: Vec<(Monomial, i128)>,
}

impl Polynomial {
    pub(super) fn constant(value: i128) -> Polynomial {
        Polynomial::of_parts([(Monomial::new(), value)])
    }

    pub(super) fn unknown(term: Term) -> Polynomial {
        Polynomial::of_parts([(smallvec![term], 1)])
    }

    /// Of parts in order.
    fn of_parts(parts: impl IntoIterator<Item = (Monomial, i128)>) -> Polynomial {
        Polynomial { parts: parts.into_iter().filter(|(_, factor)| *factor != 0).collect() }
    }

    /// Of parts with monomials that differ.
    fn sorted(parts: impl IntoIterator<Item = (Monomial, i128)>) -> Polynomial {
        let mut polynomial = Polynomial::of_parts(parts);
        polynomial.parts.sort_unstable();
        polynomial
    }

    /// What is neither sum nor product is an unknown.
    pub(super) fn of(terms: &Terms, term: Term) -> Option<Polynomial> {
        Polynomial::below(terms, term, MOST_FACTORS)
    }

    fn below(terms: &Terms, term: Term, depth: usize) -> Option<Polynomial> {
        let of = |term: Term| Polynomial::below(terms, term, depth.checked_sub(1)?);
        match terms.node(term) {
            Node::IntConst(value) => Some(Polynomial::constant(*value)),
            Node::IntSum { constant, members } => {
                let add = |sum: Polynomial, &(member, factor): &(Term, i128)| sum.plus(&of(member)?, factor);
                members.iter().try_fold(Polynomial::constant(*constant), add)
            }
            Node::IntMul(a, b) => of(*a)?.times(&of(*b)?),
            _ => Some(Polynomial::unknown(term)),
        }
    }

    /// `self + factor * other`
    pub(super) fn plus(&self, other: &Polynomial, factor: i128) -> Option<Polynomial> {
        let mut parts = Vec::with_capacity(self.parts.len() + other.parts.len());
        for both in self.parts.iter().merge_join_by(&other.parts, |(own, _), (theirs, _)| own.cmp(theirs)) {
            let (monomial, sum) = match both {
                EitherOrBoth::Left((monomial, part)) => (monomial, *part),
                EitherOrBoth::Right((monomial, part)) => (monomial, part.checked_mul(factor)?),
                EitherOrBoth::Both((monomial, own), (_, part)) => {
                    (monomial, own.checked_add(part.checked_mul(factor)?)?)
                }
            };
            if sum != 0 {
                parts.push((monomial.clone(), sum));
            }
        }
        (parts.len() <= MOST_PARTS).then_some(Polynomial { parts })
    }

    pub(super) fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut rows = other.parts.iter().map(|(monomial, factor)| self.times_product(monomial, *factor));
        let first = rows.next().unwrap_or_else(|| Some(Polynomial::default()))?;
        rows.try_fold(first, |product, row| product.plus(&row?, 1))
    }

    fn times_product(&self, monomial: &Monomial, factor: i128) -> Option<Polynomial> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for (own, part) in &self.parts {
            let mut product = own.clone();
            product.extend_from_slice(monomial);
            product.sort_unstable();
            parts.push((product, part.checked_mul(factor)?));
        }
        parts.sort_unstable();
        parts.iter().all(|(monomial, _)| monomial.len() <= MOST_FACTORS).then_some(Polynomial { parts })
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.parts.iter().map(|(monomial, factor)| (monomial, *factor))
    }

    pub(super) fn value(&self) -> Option<i128> {
        let constant = self.constant_part();
        self.parts.iter().all(|(monomial, _)| monomial.is_empty()).then_some(constant)
    }

    /// Whether an unknown is in one of its parts.
    pub(super) fn has(&self, unknown: Term) -> bool {
        self.parts.iter().any(|(monomial, _)| monomial.contains(&unknown))
    }

    pub(super) fn factor_of(&self, monomial: &Monomial) -> Option<i128> {
        self.parts.binary_search_by(|(own, _)| own.cmp(monomial)).ok().map(|at| self.parts[at].1)
    }

    /// Of the first of its parts; 0 if there are none.
    pub(super) fn first_factor(&self) -> i128 {
        self.parts.first().map_or(0, |(_, factor)| *factor)
    }

    /// The polynomial or its opposite: that of which the first factor is positive.
    pub(super) fn with_first_positive(self) -> Option<Polynomial> {
        if self.first_factor() < 0 { Polynomial::default().plus(&self, -1) } else { Some(self) }
    }

    pub(super) fn constant_part(&self) -> i128 {
        self.parts.first().filter(|(monomial, _)| monomial.is_empty()).map_or(0, |(_, factor)| *factor)
    }

    pub(super) fn without_constant(&self) -> Polynomial {
        Polynomial::of_parts(self.parts.iter().filter(|(m, _)| !m.is_empty()).map(|(m, f)| (m.clone(), *f)))
    }

    /// `self / factor`, where all parts are multiples.
    pub(super) fn divided(&self, by: i128) -> Polynomial {
        Polynomial::of_parts(self.parts.iter().map(|(monomial, factor)| (monomial.clone(), factor / by)))
    }

    /// The greatest common divisor of its factors but for the constant part; 0 if there are none.
    pub(super) fn common_divisor(&self) -> i128 {
        let factors = self.parts.iter().filter(|(monomial, _)| !monomial.is_empty());
        factors.fold(0, |divisor, (_, factor)| greatest_common_divisor(divisor, *factor))
    }

    /// `(quotient, rest)` of a division by an unknown: `self == unknown * quotient + rest`.
    pub(super) fn by_unknown(&self, unknown: Term) -> (Polynomial, Polynomial) {
        let (mut quotient, mut rest) = (Polynomial::default(), Polynomial::default());
        for (monomial, factor) in self.parts() {
            match without(monomial, &[unknown]) {
                Some(other) => quotient.parts.push((other, factor)),
                None => rest.parts.push((monomial.clone(), factor)),
            };
        }
        quotient.parts.sort_unstable();
        (quotient, rest)
    }

    /// The polynomial with another one in the place of an unknown, which that one does not have.
    pub(super) fn with(&self, unknown: Term, value: &Polynomial) -> Option<Polynomial> {
        let mut result = self.clone();
        while result.has(unknown) {
            let (quotient, rest) = result.by_unknown(unknown);
            result = quotient.times(value)?.plus(&rest, 1)?;
        }
        Some(result)
    }

    /// `self / other`, where both are products of unknowns with a factor and nothing is left.
    pub(super) fn quotient_of_products(&self, other: &Polynomial) -> Option<Polynomial> {
        let (mut own, mut theirs) = (self.parts(), other.parts());
        let (Some((monomial, factor)), None) = (own.next(), own.next()) else { return None };
        let (Some((part, divisor)), None) = (theirs.next(), theirs.next()) else { return None };
        let rest = without(monomial, part).filter(|_| factor % divisor == 0)?;
        Some(Polynomial::of_parts([(rest, factor / divisor)]))
    }

    /// The parts that a product of unknowns divides, divided by it.
    pub(super) fn quotient(&self, divisor: &Monomial) -> Polynomial {
        Polynomial::sorted(self.parts().filter_map(|(own, factor)| Some((without(own, divisor)?, factor))))
    }

    /// The degree in all unknowns together.
    pub(super) fn degree(&self) -> usize {
        self.parts.iter().map(|(monomial, _)| monomial.len()).max().unwrap_or_default()
    }

    /// The parts of which `factor * monomial` is a divisor with a positive quotient, divided by it: of these quotients the ones
    /// with such monomials.
    pub(super) fn positive_quotient(
        &self,
        monomial: &Monomial,
        factor: i128,
        is_kept: impl Fn(&Monomial) -> bool,
    ) -> Polynomial {
        let quotient = |(own, part): (&Monomial, i128)| {
            // Most factors are 1 or -1, and divisions of 128 bits take long.
            let times = match factor {
                1 => part,
                -1 => part.checked_neg()?,
                _ if part % factor == 0 => part / factor,
                _ => return None,
            };
            let rest = if times > 0 { without(own, monomial) } else { None };
            Some((rest.filter(&is_kept)?, times))
        };
        Polynomial::sorted(self.parts().filter_map(quotient))
    }

    pub(super) fn term(&self, terms: &mut Terms) -> Term {
        let mut members = Vec::new();
        for (monomial, factor) in self.parts().filter(|(monomial, _)| !monomial.is_empty()) {
            let product = monomial.iter().copied().reduce(|a, b| terms.int_mul(a, b));
            members.extend(product.map(|product| (product, factor)));
        }
        terms.int_sum(self.constant_part(), members)
    }
}

/// The factors that two monomials have in common.
pub(super) fn common(a: &Monomial, b: &Monomial) -> Monomial {
    let mut rest = b.clone();
    let mut found = Monomial::new();
    for factor in a {
        if let Some(at) = rest.iter().position(|other| other == factor) {
            found.push(rest.remove(at));
        }
    }
    found
}

/// A monomial without some of its factors, which are in order; `None` if it does not have them.
pub(super) fn without(monomial: &Monomial, factors: &[Term]) -> Option<Monomial> {
    let mut factors = factors.iter().peekable();
    has_factors(monomial, factors.clone())
        .then(|| monomial.iter().filter(|own| factors.next_if_eq(own).is_none()).copied().collect())
}

/// Whether a monomial has all of these factors, which are in order.
fn has_factors<'f>(monomial: &Monomial, mut factors: impl Iterator<Item = &'f Term>) -> bool {
    let mut own = monomial.iter();
    factors.all(|factor| own.any(|other| other == factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcgen::term::Sort;

    /// Of three unknowns, told by the digits of a number.
    fn polynomial(unknowns: &[Term; 3], mut number: u64) -> Polynomial {
        let mut sum = Polynomial::default();
        for _ in 0..4 {
            let mut product = Polynomial::constant((number % 7) as i128 - 3);
            for unknown in unknowns {
                number = number.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let factor =
                    if number.is_multiple_of(3) { Polynomial::unknown(*unknown) } else { Polynomial::constant(1) };
                product = product.times(&factor).unwrap_or_default();
            }
            sum = sum.plus(&product, 1).unwrap_or_default();
        }
        sum
    }

    fn value(polynomial: &Polynomial, unknowns: &[Term; 3], values: [i128; 3]) -> i128 {
        let of = |term: &Term| unknowns.iter().zip(values).find(|(unknown, _)| *unknown == term).map_or(0, |(_, v)| v);
        polynomial.parts().map(|(monomial, factor)| factor * monomial.iter().map(of).product::<i128>()).sum()
    }

    #[test]
    fn arithmetic_is_that_of_the_values() {
        let mut terms = Terms::default();
        let unknowns = ["x", "y", "z"].map(|name| terms.symbol(name, Sort::Int, None));
        for number in 1..400 {
            let (a, b) = (polynomial(&unknowns, number), polynomial(&unknowns, number.wrapping_mul(0xdead_beef_cafe)));
            let at = |p: &Polynomial| value(p, &unknowns, [5, -7, number as i128]);
            let (sum, product) = (a.plus(&b, -2).unwrap_or_default(), a.times(&b).unwrap_or_default());
            assert_eq!(at(&sum), at(&a) - 2 * at(&b));
            assert_eq!(at(&product), at(&a) * at(&b));
            for unknown in unknowns {
                let (quotient, rest) = product.by_unknown(unknown);
                assert_eq!(at(&quotient) * at(&Polynomial::unknown(unknown)) + at(&rest), at(&product));
                assert_eq!(product.quotient(&smallvec![unknown]), quotient);
                let b = b.by_unknown(unknown).1;
                assert_eq!(at(&a.with(unknown, &b).unwrap_or_default()), {
                    let moved = unknowns.map(|u| if u == unknown { at(&b) } else { at(&Polynomial::unknown(u)) });
                    value(&a, &unknowns, moved)
                });
            }
            for p in [&sum, &product] {
                assert!(
                    p.parts.is_sorted_by(|a, b| a.0 < b.0) && p.parts.iter().all(|(_, factor)| *factor != 0),
                    "{p:?}"
                );
                for (monomial, factor) in p.parts() {
                    assert_eq!(p.factor_of(monomial), Some(factor));
                }
            }
        }
    }
}
