//! Operators of bit-vectors on numbers.
//!
//! Input: numbers in the low bits. Output: the result, in 128 bits of which the caller takes those that the sort has.
//! Establishes: results are those of SMT-LIB, also of a division by zero: quotient -1 (unsigned: all ones), remainder the
//! dividend. Reference: SMT-LIB, FixedSizeBitVectors.

use crate::vcgen::term::{BvBinary, BvCompare, signed};

/// A binary operator of bit-vectors of that width.
pub(super) fn bit_vector(op: BvBinary, x: u128, y: u128, width: u32) -> u128 {
    let is_beyond = y >= u128::from(width);
    match op {
        BvBinary::Mul => x.wrapping_mul(y),
        BvBinary::Udiv => divide(x, y).map_or(u128::MAX, |(quotient, _)| quotient),
        BvBinary::Urem => divide(x, y).map_or(x, |(_, remainder)| remainder),
        BvBinary::Sdiv if y == 0 => (if signed(x, width) < 0 { 1i128 } else { -1 }) as u128,
        BvBinary::Sdiv => signed(x, width).wrapping_div(signed(y, width)) as u128,
        BvBinary::Srem if y == 0 => x,
        BvBinary::Srem => signed(x, width).wrapping_rem(signed(y, width)) as u128,
        BvBinary::And => x & y,
        BvBinary::Or => x | y,
        BvBinary::Xor => x ^ y,
        BvBinary::Shl | BvBinary::Lshr if is_beyond => 0,
        BvBinary::Shl => x << y,
        BvBinary::Lshr => x >> y,
        BvBinary::Ashr => (signed(x, width) >> if is_beyond { 127 } else { y }) as u128,
    }
}

/// Quotient and remainder. A division of 128 bits takes many times as long as one of 64.
fn divide(x: u128, y: u128) -> Option<(u128, u128)> {
    match (u64::try_from(x), u64::try_from(y)) {
        (_, Ok(0)) => None,
        (Ok(x), Ok(y)) => Some((u128::from(x / y), u128::from(x % y))),
        _ => Some((x / y, x % y)),
    }
}

/// A comparison of bit-vectors of that width.
pub(super) fn compare(op: BvCompare, x: u128, y: u128, width: u32) -> bool {
    match op {
        BvCompare::Ult => x < y,
        BvCompare::Ule => x <= y,
        BvCompare::Slt => signed(x, width) < signed(y, width),
        BvCompare::Sle => signed(x, width) <= signed(y, width),
    }
}
