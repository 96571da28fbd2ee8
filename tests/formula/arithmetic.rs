//! The meaning of the operators, on plain integers (SMT-LIB for division by zero).

use gpuvcc::vcgen::term::{BvBinary, BvCompare};

/// 2^width - 1.
pub fn mask(width: u32) -> u128 {
    if width == 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The two's complement value.
pub fn signed(value: u128, width: u32) -> i128 {
    let negative = value >> (width - 1) & 1 == 1;
    if negative { (value | !mask(width)) as i128 } else { value as i128 }
}

/// A binary operator on values below 2^width.
pub fn binary(op: BvBinary, x: u128, y: u128, width: u32) -> u128 {
    let m = mask(width);
    let (sx, sy) = (signed(x, width), signed(y, width));
    let inside = y < u128::from(width);
    m & match op {
        BvBinary::Mul => x.wrapping_mul(y),
        BvBinary::Udiv if y == 0 => m,
        BvBinary::Udiv => x / y,
        BvBinary::Urem if y == 0 => x,
        BvBinary::Urem => x % y,
        BvBinary::Sdiv if y == 0 && sx < 0 => 1,
        BvBinary::Sdiv if y == 0 => m,
        BvBinary::Sdiv => sx.wrapping_div(sy) as u128,
        BvBinary::Srem if y == 0 => x,
        BvBinary::Srem => sx.wrapping_rem(sy) as u128,
        BvBinary::And => x & y,
        BvBinary::Or => x | y,
        BvBinary::Xor => x ^ y,
        BvBinary::Shl if inside => x << y,
        BvBinary::Lshr if inside => x >> y,
        BvBinary::Ashr if inside => (sx >> y) as u128,
        BvBinary::Ashr if sx < 0 => m,
        BvBinary::Shl | BvBinary::Lshr | BvBinary::Ashr => 0,
    }
}

/// A comparison of values below 2^width.
pub fn compare(op: BvCompare, x: u128, y: u128, width: u32) -> bool {
    match op {
        BvCompare::Ult => x < y,
        BvCompare::Ule => x <= y,
        BvCompare::Slt => signed(x, width) < signed(y, width),
        BvCompare::Sle => signed(x, width) <= signed(y, width),
    }
}

/// A fixed pseudo-random function of a name and arguments (FNV-1a over their bytes).
pub fn hash(name: &str, args: &[u128]) -> u128 {
    let bytes = name.bytes().chain(args.iter().flat_map(|a| a.to_le_bytes()));
    bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |h: u128, byte| {
        (h ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}
