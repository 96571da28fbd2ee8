//! The operators of the IVL on values of which some are not known.
//!
//! Input: operands, known or not. Output: the result where the known operands decide it.
//! Establishes: division by zero and oversized shifts as SMT-LIB defines them; integers are exact,
//! and a result beyond 128 bits is not known. Relies on: operands are below 2^width. Reference:
//! SMT-LIB theories FixedSizeBitVectors and Ints.

use super::evaluate::Value;
use crate::ivl::ast::BinaryOp;
use crate::ivl::bv::BvOp;

/// The values of a width: 2^width - 1.
pub fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// A value of `from` bits with its sign repeated above, as 128 bits.
pub fn sign_extend(value: u128, from: u32) -> u128 {
    let unused = 128 - from;
    (((value << unused) as i128) >> unused) as u128
}

/// `Lt` and arithmetic on integers in two's complement.
pub fn integer(op: BinaryOp, a: Value, b: Value) -> Value {
    if op == BinaryOp::Mul && (a == Some(0) || b == Some(0)) {
        return Some(0);
    }
    let (a, b) = (a? as i128, b? as i128);
    let result = match op {
        BinaryOp::Lt => return Some(u128::from(a < b)),
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        // Division by zero is any value in SMT-LIB; these answer nothing then.
        BinaryOp::Div => a.checked_div_euclid(b),
        BinaryOp::Mod => a.checked_rem_euclid(b),
        _ => panic!("replay: {op:?} is not integer arithmetic"),
    };
    result.map(|value| value as u128)
}

/// A bit-vector operator; unary ones get their operand twice.
pub fn bit_vector(op: BvOp, width: u32, a: Value, b: Value) -> Value {
    match (a, b) {
        (Some(a), Some(b)) => Some(known(op, width, a, b)),
        _ => decided(op, width, a, b),
    }
}

/// Results that one operand decides.
fn decided(op: BvOp, width: u32, a: Value, b: Value) -> Value {
    let (zero, ones) = (Some(0), Some(mask(width)));
    match op {
        BvOp::And | BvOp::Mul if a == zero || b == zero => zero,
        BvOp::Or if a == ones || b == ones => ones,
        BvOp::Shl | BvOp::Lshr if a == zero || b.is_some_and(|b| b >= u128::from(width)) => zero,
        BvOp::Ashr if a == zero => zero,
        BvOp::Urem if b == Some(1) => zero,
        BvOp::Ult if b == zero || a == ones => zero,
        _ => None,
    }
}

fn known(op: BvOp, width: u32, a: u128, b: u128) -> u128 {
    let signed = |value| sign_extend(value, width) as i128;
    let amount = u32::try_from(b).unwrap_or(u32::MAX);
    let result = match op {
        BvOp::Neg => a.wrapping_neg(),
        BvOp::Not => !a,
        BvOp::Add => a.wrapping_add(b),
        BvOp::Sub => a.wrapping_sub(b),
        BvOp::Mul => a.wrapping_mul(b),
        BvOp::Udiv => a.checked_div(b).unwrap_or(u128::MAX),
        BvOp::Urem => a.checked_rem(b).unwrap_or(a),
        BvOp::Sdiv if b == 0 => {
            if signed(a) < 0 {
                1
            } else {
                u128::MAX
            }
        }
        BvOp::Sdiv => signed(a).wrapping_div(signed(b)) as u128,
        BvOp::Srem if b == 0 => a,
        BvOp::Srem => signed(a).wrapping_rem(signed(b)) as u128,
        BvOp::And => a & b,
        BvOp::Or => a | b,
        BvOp::Xor => a ^ b,
        BvOp::Shl if amount >= width => 0,
        BvOp::Shl => a << amount,
        BvOp::Lshr if amount >= width => 0,
        BvOp::Lshr => a >> amount,
        BvOp::Ashr => (signed(a) >> amount.min(width - 1)) as u128,
        BvOp::Ult => u128::from(a < b),
        BvOp::Ule => u128::from(a <= b),
        BvOp::Ugt => u128::from(a > b),
        BvOp::Uge => u128::from(a >= b),
        BvOp::Slt => u128::from(signed(a) < signed(b)),
        BvOp::Sle => u128::from(signed(a) <= signed(b)),
        BvOp::Sgt => u128::from(signed(a) > signed(b)),
        BvOp::Sge => u128::from(signed(a) >= signed(b)),
    };
    if op.is_comparison() { result } else { result & mask(width) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corner_cases_are_those_of_smt_lib() {
        let eval = |op, a: i128, b: i128| known(op, 8, a as u128 & 0xff, b as u128 & 0xff);
        assert_eq!(eval(BvOp::Udiv, 7, 0), 0xff);
        assert_eq!(eval(BvOp::Urem, 7, 0), 7);
        assert_eq!(eval(BvOp::Sdiv, -7, 0), 1);
        assert_eq!(eval(BvOp::Sdiv, 7, 0), 0xff);
        assert_eq!(eval(BvOp::Sdiv, -128, -1), 0x80);
        assert_eq!(eval(BvOp::Sdiv, -7, 2), 0xfd);
        assert_eq!(eval(BvOp::Srem, -7, 2), 0xff);
        assert_eq!(eval(BvOp::Shl, 1, 8), 0);
        assert_eq!(eval(BvOp::Ashr, -1, 200), 0xff);
        assert_eq!(eval(BvOp::Slt, -1, 0), 1);
        assert_eq!(eval(BvOp::Ult, -1, 0), 0);
    }

    #[test]
    fn integers_beyond_128_bits_are_unknown() {
        let max = Some(i128::MAX as u128);
        assert_eq!(integer(BinaryOp::Add, max, Some(1)), None);
        assert_eq!(integer(BinaryOp::Div, Some(1), Some(0)), None);
        assert_eq!(integer(BinaryOp::Mod, Some(-7i128 as u128), Some(4)), Some(1));
    }
}
