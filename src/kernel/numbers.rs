//! Expressions with numbers.
//!
//! Input: an expression, numbers of its variables. Output: its number. Establishes: it is what the expression has in the semantics of
//! SMT-LIB; of truths 1 or 0. Relies on: the expression has passed the type checker. Reference: SMT-LIB, FixedSizeBitVectors.

use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, Type, UnaryOp};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use std::collections::BTreeMap;

/// The number that an expression has; `None` if it mentions anything without one, or is of another kind.
pub(super) fn number(e: &ExprRef, values: &BTreeMap<&Name, u128>) -> Option<u128> {
    let of = |e: &ExprRef| number(e, values);
    let result = match &e.kind {
        ExprKind::Bv(value) => *value,
        ExprKind::Bool(value) => u128::from(*value),
        ExprKind::Var(name) => *values.get(name)?,
        ExprKind::Unary(UnaryOp::Not, inner) => 1 - of(inner)?,
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            u128::from(match op {
                BinaryOp::Eq | BinaryOp::Iff => a == b,
                BinaryOp::Ne => a != b,
                BinaryOp::And => a & b == 1,
                BinaryOp::Or => a | b == 1,
                BinaryOp::Implies => a <= b,
                _ => return None,
            })
        }
        ExprKind::Ite(condition, a, b) => {
            if of(condition)? == 1 {
                of(a)?
            } else {
                of(b)?
            }
        }
        ExprKind::Extract { value, low, .. } => of(value)? >> low,
        ExprKind::Concat(high, low) => of(high)? << bv::width(low) | of(low)?,
        ExprKind::Call(name, args) => {
            let args = args.iter().map(of).collect::<Option<Vec<u128>>>()?;
            applied(parse_builtin(name.as_str())?, &args)?
        }
        _ => return None,
    };
    Some(match e.ty {
        Type::Bv(width) if width < 128 => result & ((1 << width) - 1),
        _ => result,
    })
}

/// What a function gives, in more bits than its type has.
fn applied(function: Builtin, args: &[u128]) -> Option<u128> {
    let signed = |value: u128, width: u32| (value << (128 - width)) as i128 >> (128 - width);
    Some(match (function, args) {
        (Builtin::ZeroExtend { .. }, [a]) => *a,
        (Builtin::SignExtend { from, .. }, [a]) => signed(*a, from) as u128,
        (Builtin::Op(BvOp::Neg, _), [a]) => a.wrapping_neg(),
        (Builtin::Op(BvOp::Not, _), [a]) => !a,
        (Builtin::Op(op, width), [a, b]) => {
            let (signed_a, signed_b) = (signed(*a, width), signed(*b, width));
            let amount = u32::try_from(*b).ok().filter(|amount| *amount < width);
            match op {
                BvOp::Add => a.wrapping_add(*b),
                BvOp::Sub => a.wrapping_sub(*b),
                BvOp::Mul => a.wrapping_mul(*b),
                BvOp::And => a & b,
                BvOp::Or => a | b,
                BvOp::Xor => a ^ b,
                BvOp::Shl => amount.map_or(0, |amount| a << amount),
                BvOp::Lshr => amount.map_or(0, |amount| a >> amount),
                BvOp::Ashr => (signed_a >> amount.unwrap_or(width - 1)) as u128,
                BvOp::Ult => u128::from(a < b),
                BvOp::Ule => u128::from(a <= b),
                BvOp::Ugt => u128::from(a > b),
                BvOp::Uge => u128::from(a >= b),
                BvOp::Slt => u128::from(signed_a < signed_b),
                BvOp::Sle => u128::from(signed_a <= signed_b),
                BvOp::Sgt => u128::from(signed_a > signed_b),
                BvOp::Sge => u128::from(signed_a >= signed_b),
                BvOp::Neg | BvOp::Not | BvOp::Udiv | BvOp::Urem | BvOp::Sdiv | BvOp::Srem => return None,
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a call of a function with two numbers of 8 bits.
    fn of_bytes(op: BvOp, a: u128, b: u128) -> Option<u128> {
        number(&bv::binary(op, bv::literal(a, 8), bv::literal(b, 8)), &BTreeMap::new())
    }

    #[test]
    fn numbers_have_the_bits_of_their_type() {
        assert_eq!(of_bytes(BvOp::Add, 255, 2), Some(1));
        assert_eq!(of_bytes(BvOp::Sub, 0, 1), Some(255));
        assert_eq!(of_bytes(BvOp::Shl, 3, 9), Some(0));
        assert_eq!(of_bytes(BvOp::Ashr, 0x80, 9), Some(255));
        assert_eq!(of_bytes(BvOp::Slt, 0x80, 0), Some(1));
        assert_eq!(of_bytes(BvOp::Ult, 0x80, 0), Some(0));
        let extended = bv::sext(bv::var(Name::from("x"), Type::Bv(8)), 16);
        assert_eq!(number(&extended, &BTreeMap::from([(&Name::from("x"), 0x80)])), Some(0xff80));
        assert_eq!(number(&extended, &BTreeMap::new()), None);
    }
}
