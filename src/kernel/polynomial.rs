//! Polynomials over registers and constants, modulo 2^32.
//!
//! Input: an expression. Output: the polynomial that its low 32 bits are. Establishes: two expressions with one polynomial have the same low
//! 32 bits, whatever their variables have. Reference: none (normal forms in commutative rings).

use crate::ivl::ast::{ExprKind, ExprRef, Name, Type};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use std::collections::BTreeMap;

/// A sum of products of variables, divided by a number that divides it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Polynomial {
    /// Factors by the variables that they multiply; none is 0, all are at most 2^31 times the divisor.
    factors: BTreeMap<Vec<Name>, i128>,
    /// The divisor, from 1.
    by: i128,
}

/// Greater divisors are not followed.
const LARGEST: i128 = 1 << 16;

impl Polynomial {
    pub(super) fn number(number: u32) -> Polynomial {
        Polynomial { factors: BTreeMap::from([(Vec::new(), number.into())]), by: 1 }.normal()
    }

    pub(super) fn variable(name: &Name) -> Polynomial {
        Polynomial { factors: BTreeMap::from([(vec![name.clone()], 1)]), by: 1 }
    }

    /// Of the low 32 bits of an expression.
    pub(super) fn of(e: &ExprRef) -> Option<Polynomial> {
        if !matches!(e.ty, Type::Bv(32..)) {
            return None;
        }
        match &e.kind {
            ExprKind::Bv(value) => Some(Polynomial::number(*value as u32)),
            ExprKind::Var(name) if bv::width(e) == 32 => Some(Polynomial::variable(name)),
            ExprKind::Extract { value, low: 0, .. } => Polynomial::of(value),
            ExprKind::Call(name, args) => match (parse_builtin(name.as_str())?, &args[..]) {
                (Builtin::ZeroExtend { .. } | Builtin::SignExtend { .. }, [inner]) => Polynomial::of(inner),
                (Builtin::Op(BvOp::Neg, _), [a]) => Some(Polynomial::number(0).plus(&Polynomial::of(a)?, -1)),
                (Builtin::Op(BvOp::Add, _), [a, b]) => Some(Polynomial::of(a)?.plus(&Polynomial::of(b)?, 1)),
                (Builtin::Op(BvOp::Sub, _), [a, b]) => Some(Polynomial::of(a)?.plus(&Polynomial::of(b)?, -1)),
                (Builtin::Op(BvOp::Shl, _), [a, b]) => match b.kind {
                    ExprKind::Bv(bits @ 0..32) => Some(Polynomial::of(a)?.times(&Polynomial::number(1 << bits))),
                    _ => None,
                },
                (Builtin::Op(BvOp::Mul, _), [a, b]) => Some(Polynomial::of(a)?.times(&Polynomial::of(b)?)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn plus(&self, other: &Polynomial, times: i32) -> Polynomial {
        let mut factors: BTreeMap<Vec<Name>, i128> = BTreeMap::new();
        for (part, scale) in [(self, other.by), (other, i128::from(times) * self.by)] {
            for (names, factor) in &part.factors {
                *factors.entry(names.clone()).or_default() += factor * scale;
            }
        }
        Polynomial { factors, by: self.by * other.by }.normal()
    }

    pub(super) fn times(&self, other: &Polynomial) -> Polynomial {
        let mut factors: BTreeMap<Vec<Name>, i128> = BTreeMap::new();
        for (a, x) in &self.factors {
            for (b, y) in &other.factors {
                let mut names = [a.clone(), b.clone()].concat();
                names.sort();
                *factors.entry(names).or_default() += x * y;
            }
        }
        Polynomial { factors, by: self.by * other.by }.normal()
    }

    /// Whether it has at most so many factors and variables, and no great divisor.
    pub(super) fn is_small(&self, most: usize) -> bool {
        self.by <= LARGEST && self.factors.keys().map(|names| names.len() + 1).sum::<usize>() <= most
    }

    /// With values for the variables; `None` if one has none.
    pub(super) fn substitute(&self, value: &dyn Fn(&Name) -> Option<Polynomial>) -> Option<Polynomial> {
        let mut sum = Polynomial::number(0);
        for (names, factor) in &self.factors {
            let values = names.iter().map(value).collect::<Option<Vec<Polynomial>>>()?;
            let factor = Polynomial { factors: BTreeMap::from([(Vec::new(), *factor)]), by: 1 };
            sum = sum.plus(&values.iter().fold(factor, |product, value| product.times(value)), 1);
        }
        sum.divided(self.by)
    }

    /// Divided by a number that divides it.
    pub(super) fn divided(&self, by: i128) -> Option<Polynomial> {
        let sign = by.signum();
        let factors = self.factors.iter().map(|(names, factor)| (names.clone(), factor * sign)).collect();
        let divided = Polynomial { factors, by: self.by.checked_mul(by.abs())? };
        (sign != 0).then(|| divided.normal()).filter(|divided| divided.by <= LARGEST)
    }

    /// With the least divisor, and factors that are different only if they are modulo 2^32 times that.
    fn normal(mut self) -> Polynomial {
        let common = self.factors.values().fold(self.by, |common, factor| greatest_common_divisor(common, *factor));
        self.by /= common;
        let modulus = self.by << 32;
        for factor in self.factors.values_mut() {
            let rest = (*factor / common).rem_euclid(modulus);
            *factor = if rest > modulus / 2 { rest - modulus } else { rest };
        }
        self.factors.retain(|_, factor| *factor != 0);
        self
    }

    /// The variables, if it is their sum, or the negative of that.
    pub(super) fn as_sum(&self) -> Option<Vec<&Name>> {
        let factor = *self.factors.values().next()?;
        let is_one = self.by == 1 && factor.abs() == 1 && self.factors.values().all(|one| *one == factor);
        let names = self.factors.keys().map(|names| match &names[..] {
            [name] => Some(name),
            _ => None,
        });
        names.collect::<Option<Vec<&Name>>>().filter(|_| is_one)
    }
}

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_of_sums_and_products() {
        let [x, y] = ["x", "y"].map(|name| bv::var(Name::from(name), Type::Bv(32)));
        let of = |e: &ExprRef| Polynomial::of(e).expect("a polynomial");
        let product = bv::mul(bv::add(x.clone(), bv::literal(1, 32)), y.clone());
        assert_eq!(of(&product), of(&bv::add(y.clone(), bv::mul(y.clone(), x.clone()))));
        assert_eq!(of(&bv::zext(x.clone(), 64)), of(&x));
        assert_eq!(of(&bv::sub(x.clone(), x.clone())), Polynomial::number(0));
        assert_eq!(Polynomial::of(&bv::zext(bv::var(Name::from("b"), Type::Bv(8)), 32)), None);
        assert_eq!(of(&bv::sub(bv::literal(0, 32), bv::add(x.clone(), y))).as_sum().map(|names| names.len()), Some(2));
        assert_eq!(of(&bv::add(x.clone(), x)).as_sum(), None);
    }

    #[test]
    fn halves_of_even_numbers() {
        let x = Polynomial::variable(&Name::from("x"));
        let half = x.divided(2).expect("a half");
        assert_eq!(half.plus(&half, 1), x);
        assert_eq!(half.times(&Polynomial::number(6)), x.times(&Polynomial::number(3)));
        let at = |value: u32| half.substitute(&|_| Some(Polynomial::number(value)));
        assert_eq!(at(10), Some(Polynomial::number(5)));
        assert_eq!(Polynomial::number(1).plus(&Polynomial::number(2), -1), Polynomial::number(u32::MAX));
        assert_eq!(x.divided(0), None);
    }
}
