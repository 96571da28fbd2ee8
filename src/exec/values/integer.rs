//! Integer instructions.
//!
//! Input: bits of the operands. Output: bits of the result, cut to its width.
//! Establishes: exactly the result that the ISA defines; `None` where it leaves it unspecified.
//! Reference: PTX ISA, integer arithmetic, extended precision, logic and shift instructions.

use super::{mask, signed};
use crate::ptx::ast::{Comparison, IntOp, ScalarType};

/// The value of an operand of this type as a number.
pub(crate) fn number(value: u64, ty: ScalarType) -> i128 {
    let bits = ty.bits();
    if ty.is_signed() { i128::from(signed(value, bits)) } else { i128::from(value & mask(bits)) }
}

/// The nearest value of the type.
pub(crate) fn clamp(value: i128, ty: ScalarType) -> i128 {
    let bits = ty.bits();
    match ty.is_signed() {
        true => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => value.clamp(0, (1i128 << bits) - 1),
    }
}

/// An instruction with an exact result. `sources` may hold more values than the instruction takes.
pub(crate) fn integer(op: IntOp, ty: ScalarType, saturate: bool, sources: &[u64]) -> Option<u64> {
    let bits = ty.bits();
    let raw = |index: usize| sources[index] & mask(bits);
    let num = |index: usize| number(sources[index], ty);
    let word = |index: usize| sources[index] as u32;
    let cut = |value: i128| Some((if saturate { clamp(value, ty) } else { value }) as u64 & mask(bits));
    match op {
        IntOp::Add => cut(num(0) + num(1)),
        IntOp::Sub => cut(num(0) - num(1)),
        IntOp::MulLo => cut(num(0).wrapping_mul(num(1))),
        IntOp::MulHi => cut(high(num(0), num(1), ty)),
        IntOp::MulWide => Some((num(0) * num(1)) as u64 & mask(bits * 2)),
        IntOp::MadLo => cut(num(0).wrapping_mul(num(1)).wrapping_add(num(2))),
        IntOp::MadHi => cut(high(num(0), num(1), ty) + num(2)),
        IntOp::MadWide => Some((num(0) * num(1)).wrapping_add(i128::from(sources[2])) as u64 & mask(bits * 2)),
        IntOp::Div if raw(1) != 0 => Some((num(0) / num(1)) as u64 & mask(bits)),
        IntOp::Rem if raw(1) != 0 => Some((num(0) % num(1)) as u64 & mask(bits)),
        IntOp::Div | IntOp::Rem => None,
        IntOp::Min => cut(num(0).min(num(1))),
        IntOp::Max => cut(num(0).max(num(1))),
        IntOp::Abs => cut(num(0).abs()),
        IntOp::Neg => cut(-num(0)),
        IntOp::And => Some(raw(0) & raw(1)),
        IntOp::Or => Some(raw(0) | raw(1)),
        IntOp::Xor => Some(raw(0) ^ raw(1)),
        IntOp::Not => Some(!raw(0) & mask(bits)),
        IntOp::Cnot => Some(u64::from(raw(0) == 0)),
        IntOp::Shl => Some(if word(1) >= bits { 0 } else { raw(0) << word(1) & mask(bits) }),
        IntOp::Shr => Some((num(0) >> word(1).min(bits)) as u64 & mask(bits)),
        IntOp::FunnelLeft(wrap) => Some(funnel(word(1), word(0), amount(word(2), wrap), true)),
        IntOp::FunnelRight(wrap) => Some(funnel(word(1), word(0), amount(word(2), wrap), false)),
        IntOp::Bfe => Some(bit_field_extract(raw(0), word(1) & 255, word(2) & 255, ty)),
        IntOp::Bfi => Some(bit_field_insert(raw(0), raw(1), word(2) & 255, word(3) & 255, bits)),
        IntOp::Brev => Some(raw(0).reverse_bits() >> (64 - bits)),
        IntOp::Popc => Some(u64::from(raw(0).count_ones())),
        IntOp::Clz => Some(u64::from(raw(0).leading_zeros()) - u64::from(64 - bits)),
        IntOp::Bfind(shift_amount) => {
            let value = if num(0) < 0 { !raw(0) & mask(bits) } else { raw(0) };
            let top = value.checked_ilog2();
            Some(top.map_or(mask(32), |top| u64::from(if shift_amount { bits - 1 - top } else { top })))
        }
        IntOp::Prmt => Some(permute(word(0), word(1), word(2))),
        IntOp::Lop3(table) => Some(look_up(table, raw(0), raw(1), raw(2)) & mask(bits)),
        IntOp::Sad => cut(num(2) + (num(0) - num(1)).abs()),
        IntOp::Mul24Lo => Some((product24(sources, ty) as u64) & mask(32)),
        IntOp::Mad24Lo => Some((product24(sources, ty) + num(2)) as u64 & mask(32)),
        IntOp::Slct => Some(if word(2).cast_signed() >= 0 { raw(0) } else { raw(1) }),
    }
}

/// The upper half of a product.
fn high(a: i128, b: i128, ty: ScalarType) -> i128 {
    let bits = ty.bits();
    if ty.is_signed() { (a * b) >> bits } else { ((a as u128 * b as u128) >> bits) as i128 }
}

fn amount(amount: u32, wrap: bool) -> u32 {
    if wrap { amount & 31 } else { amount.min(32) }
}

fn funnel(high: u32, low: u32, amount: u32, left: bool) -> u64 {
    let both = u64::from(high) << 32 | u64::from(low);
    let shifted = if left { (u128::from(both) << amount >> 32) as u64 } else { both >> amount };
    shifted & mask(32)
}

fn bit_field_extract(value: u64, position: u32, length: u32, ty: ScalarType) -> u64 {
    let bits = ty.bits();
    let field = if position >= 64 { 0 } else { value >> position } & mask(length);
    let sign_at = (position + length).saturating_sub(1).min(bits - 1);
    let negative = ty.is_signed() && length > 0 && value >> sign_at & 1 == 1;
    let present = length.min(bits.saturating_sub(position));
    (if negative { field | !mask(present) } else { field }) & mask(bits)
}

fn bit_field_insert(field: u64, base: u64, position: u32, length: u32, bits: u32) -> u64 {
    if position >= bits {
        return base;
    }
    let hole = mask(length) << position & mask(bits);
    base & !hole | field << position & hole
}

fn permute(a: u32, b: u32, selector: u32) -> u64 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |result, index| {
        let choice = selector >> (4 * index) & 15;
        let byte = bytes >> (8 * (choice & 7)) & 255;
        let byte = if choice & 8 != 0 { if byte & 128 != 0 { 255 } else { 0 } } else { byte };
        result | byte << (8 * index)
    })
}

/// `prmt` with a mode.
pub(crate) fn permute_mode(mode: &str, a: u32, b: u32, selector: u32) -> Option<u64> {
    let s = selector & 3;
    // Byte numbers of the result, lowest first.
    let choice: [u32; 4] = match mode {
        "f4e" => [s, s + 1, s + 2, s + 3],
        "b4e" => [s, (s + 7) % 8, (s + 6) % 8, (s + 5) % 8],
        "rc8" => [s; 4],
        "ecl" => [s, s.max(1), s.max(2), 3],
        "ecr" => [0, s.min(1), s.min(2), s],
        "rc16" => [2 * (s & 1), 2 * (s & 1) + 1, 2 * (s & 1), 2 * (s & 1) + 1],
        _ => return None,
    };
    let selector = choice.iter().rev().fold(0, |packed, byte| packed << 4 | byte);
    Some(permute(a, b, selector))
}

fn look_up(table: u8, a: u64, b: u64, c: u64) -> u64 {
    (0..8u32).filter(|row| table >> row & 1 == 1).fold(0, |result, row| {
        let pick = |value: u64, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
        result | pick(a, 2) & pick(b, 1) & pick(c, 0)
    })
}

/// The product of the low 24 bits.
fn product24(sources: &[u64], ty: ScalarType) -> i128 {
    let part = |index: usize| match ty.is_signed() {
        true => i128::from(signed(sources[index], 24)),
        false => i128::from(sources[index] & mask(24)),
    };
    part(0) * part(1)
}

/// `mul24.hi` and `mad24.hi`: bits 47 to 16 of the product, and an addend.
pub(crate) fn multiply24_high(ty: ScalarType, saturate: bool, sources: &[u64]) -> u64 {
    let high = product24(sources, ty) >> 16;
    let cut = number(high as u64, ty);
    let sum = cut + sources.get(2).map_or(0, |addend| number(*addend, ty));
    (if saturate { clamp(sum, ty) } else { sum }) as u64 & mask(32)
}

/// A comparison.
pub(crate) fn compare(comparison: Comparison, ty: ScalarType, a: u64, b: u64) -> bool {
    let order = number(a, ty).cmp(&number(b, ty));
    match comparison {
        Comparison::Eq | Comparison::Equ => order.is_eq(),
        Comparison::Ne | Comparison::Neu => order.is_ne(),
        Comparison::Lt | Comparison::Ltu => order.is_lt(),
        Comparison::Le | Comparison::Leu => order.is_le(),
        Comparison::Gt | Comparison::Gtu => order.is_gt(),
        Comparison::Ge | Comparison::Geu => order.is_ge(),
        Comparison::Num => true,
        Comparison::Nan => false,
    }
}

/// Addition or subtraction through the carry flag: the result and the flag after it. In a
/// subtraction the flag is a borrow.
pub(crate) fn with_carry(subtract: bool, bits: u32, a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (a, b) = (i128::from(a & mask(bits)), i128::from(b & mask(bits)));
    let sum = if subtract { a - b - i128::from(carry) } else { a + b + i128::from(carry) };
    (sum as u64 & mask(bits), sum < 0 || sum >> bits != 0)
}

/// `dp4a`, and `dp2a` on the low or high half of `b`.
pub(crate) fn dot_product(four: bool, high: bool, a_signed: bool, b_signed: bool, sources: [u64; 3]) -> u64 {
    let [a, b, c] = sources;
    let extend = |value: u64, bits: u32, is_signed: bool| match is_signed {
        true => signed(value, bits),
        false => (value & mask(bits)).cast_signed(),
    };
    let width = if four { 8 } else { 16 };
    let count = 32 / width;
    let b = if high { b >> 16 } else { b };
    let products =
        (0..count).map(|lane| extend(a >> (lane * width), width, a_signed) * extend(b >> (8 * lane), 8, b_signed));
    (products.sum::<i64>() as u64).wrapping_add(c) & mask(32)
}

/// `szext`: the low bits, extended.
pub(crate) fn sign_or_zero_extend(is_signed: bool, wrap: bool, value: u64, position: u64) -> u64 {
    let position = if wrap { position & 31 } else { (position & mask(32)).min(32) } as u32;
    if position == 0 {
        return 0;
    }
    (if is_signed { signed(value, position) as u64 } else { value & mask(position) }) & mask(32)
}

/// `bmsk`: a mask of `length` ones from `position` on.
pub(crate) fn bit_mask(wrap: bool, position: u64, length: u64) -> u64 {
    let limit = |value: u64| (if wrap { value & 31 } else { (value & mask(32)).min(32) }) as u32;
    mask(limit(length)) << limit(position) & mask(32)
}

/// `fns`: the n-th set bit from a base upwards, or downwards for a negative n.
pub(crate) fn find_nth_set(bits: u64, base: u64, offset: u64) -> u64 {
    let offset = (offset as u32).cast_signed();
    let base = base & 31;
    let is_set = |position: &u64| bits >> position & 1 == 1;
    let found = match offset {
        0 => is_set(&base).then_some(base),
        1.. => (base..32).filter(is_set).nth(offset as usize - 1),
        _ => (0..=base).rev().filter(is_set).nth(offset.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(mask(32))
}

/// A unary, binary or ternary function on bits; the hot instructions have one each.
#[derive(Clone, Copy)]
pub(crate) enum Direct {
    /// One source.
    One(fn(u64) -> u64),
    /// Two sources.
    Two(fn(u64, u64) -> u64),
    /// Three sources.
    Three(fn(u64, u64, u64) -> u64),
}

/// A function of its own for the commonest instructions.
pub(crate) fn direct(op: IntOp, ty: ScalarType) -> Option<Direct> {
    use Direct::{One, Three, Two};
    const M: u64 = 0xffff_ffff;
    let is_signed = ty.is_signed();
    Some(match (op, ty.bits()) {
        (IntOp::Add, 32) => Two(|a, b| a.wrapping_add(b) & M),
        (IntOp::Add, 64) => Two(u64::wrapping_add),
        (IntOp::Sub, 32) => Two(|a, b| a.wrapping_sub(b) & M),
        (IntOp::Sub, 64) => Two(u64::wrapping_sub),
        (IntOp::MulLo, 32) => Two(|a, b| a.wrapping_mul(b) & M),
        (IntOp::MulLo, 64) => Two(u64::wrapping_mul),
        (IntOp::MulWide, 32) if is_signed => Two(|a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64),
        (IntOp::MulWide, 32) => Two(|a, b| (a & M) * (b & M)),
        (IntOp::MadLo, 32) => Three(|a, b, c| a.wrapping_mul(b).wrapping_add(c) & M),
        (IntOp::MadLo, 64) => Three(|a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        (IntOp::MadWide, 32) if is_signed => {
            Three(|a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c))
        }
        (IntOp::MadWide, 32) => Three(|a, b, c| ((a & M) * (b & M)).wrapping_add(c)),
        (IntOp::And, _) => Two(|a, b| a & b),
        (IntOp::Or, _) => Two(|a, b| a | b),
        (IntOp::Xor, _) => Two(|a, b| a ^ b),
        (IntOp::Not, 1) => One(|a| !a & 1),
        (IntOp::Not, 32) => One(|a| !a & M),
        (IntOp::Not, 64) => One(|a| !a),
        (IntOp::Shl, 32) => Two(|a, b| if b as u32 >= 32 { 0 } else { a << (b & 31) & M }),
        (IntOp::Shl, 64) => Two(|a, b| if b as u32 >= 64 { 0 } else { a << (b & 63) }),
        (IntOp::Shr, 32) if is_signed => Two(|a, b| ((a as i32) >> (b as u32).min(31)) as u32 as u64),
        (IntOp::Shr, 32) => Two(|a, b| if b as u32 >= 32 { 0 } else { (a & M) >> (b & 31) }),
        (IntOp::Shr, 64) if is_signed => Two(|a, b| (a.cast_signed() >> (b as u32).min(63)) as u64),
        (IntOp::Shr, 64) => Two(|a, b| if b as u32 >= 64 { 0 } else { a >> (b & 63) }),
        (IntOp::Min, 32) if is_signed => Two(|a, b| u64::from((a as i32).min(b as i32).cast_unsigned())),
        (IntOp::Min, 32) => Two(|a, b| (a & M).min(b & M)),
        (IntOp::Max, 32) if is_signed => Two(|a, b| u64::from((a as i32).max(b as i32).cast_unsigned())),
        (IntOp::Max, 32) => Two(|a, b| (a & M).max(b & M)),
        _ => return None,
    })
}

/// A comparison of its own for the commonest types.
pub(crate) fn direct_compare(comparison: Comparison, ty: ScalarType) -> Option<fn(u64, u64) -> u64> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    Some(match (comparison, ty.is_signed(), ty.bits()) {
        (Eq, _, 32) => |a, b| u64::from(a as u32 == b as u32),
        (Ne, _, 32) => |a, b| u64::from(a as u32 != b as u32),
        (Lt, true, 32) => |a, b| u64::from((a as i32) < (b as i32)),
        (Le, true, 32) => |a, b| u64::from(a as i32 <= b as i32),
        (Gt, true, 32) => |a, b| u64::from(a as i32 > b as i32),
        (Ge, true, 32) => |a, b| u64::from(a as i32 >= b as i32),
        (Lt, false, 32) => |a, b| u64::from((a as u32) < (b as u32)),
        (Le, false, 32) => |a, b| u64::from(a as u32 <= b as u32),
        (Gt, false, 32) => |a, b| u64::from(a as u32 > b as u32),
        (Ge, false, 32) => |a, b| u64::from(a as u32 >= b as u32),
        (Eq, _, 64) => |a, b| u64::from(a == b),
        (Ne, _, 64) => |a, b| u64::from(a != b),
        (Lt, true, 64) => |a, b| u64::from((a as i64) < (b as i64)),
        (Lt, false, 64) => |a, b| u64::from(a < b),
        (Ge, true, 64) => |a, b| u64::from(a as i64 >= b as i64),
        (Ge, false, 64) => |a, b| u64::from(a >= b),
        _ => return None,
    })
}
