//! Polynomials over registers and constants, modulo 2^32.
//!
//! Input: an expression. Output: the polynomial that its low 32 bits are. Establishes: two expressions with one polynomial have the same low
//! 32 bits, whatever their variables have. Reference: none (normal forms in commutative rings).

use crate::ivl::ast::{ExprKind, ExprRef, Name, Type};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use std::collections::BTreeMap;

/// Factors by the variables that they multiply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Polynomial(BTreeMap<Vec<Name>, u32>);

impl Polynomial {
    pub(super) fn number(number: u32) -> Polynomial {
        Polynomial(BTreeMap::from([(Vec::new(), number)])).normal()
    }

    pub(super) fn variable(name: &Name) -> Polynomial {
        Polynomial(BTreeMap::from([(vec![name.clone()], 1)]))
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
                (Builtin::Op(BvOp::Mul, _), [a, b]) => Some(Polynomial::of(a)?.times(&Polynomial::of(b)?)),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn plus(mut self, other: &Polynomial, times: i32) -> Polynomial {
        for (names, factor) in &other.0 {
            let sum = self.0.entry(names.clone()).or_default();
            *sum = sum.wrapping_add(factor.wrapping_mul(times as u32));
        }
        self.normal()
    }

    pub(super) fn times(&self, other: &Polynomial) -> Polynomial {
        let mut product = BTreeMap::new();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut names = [a.clone(), b.clone()].concat();
                names.sort();
                let factor: &mut u32 = product.entry(names).or_default();
                *factor = factor.wrapping_add(x.wrapping_mul(*y));
            }
        }
        Polynomial(product).normal()
    }

    fn normal(mut self) -> Polynomial {
        self.0.retain(|_, factor| *factor != 0);
        self
    }

    /// The variables, if it is their sum, or the negative of that.
    pub(super) fn as_sum(&self) -> Option<Vec<&Name>> {
        let factor = *self.0.values().next()?;
        let is_one = (factor == 1 || factor == u32::MAX) && self.0.values().all(|one| *one == factor);
        let names = self.0.keys().map(|names| match &names[..] {
            [name] => Some(name),
            _ => None,
        });
        names.collect::<Option<Vec<&Name>>>().filter(|_| is_one)
    }
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
}
