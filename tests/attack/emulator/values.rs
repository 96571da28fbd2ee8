//! Integer instructions on concrete values.
//!
//! Written from the PTX ISA, apart from the verifier's own tables, so that a mistake in either
//! shows. Values are zero-extended to 64 bits.

use gpuvcc::ptx::ast::{Comparison, IntOp, ScalarType};

/// The lowest `bits` bits set.
pub fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The lowest `bits` bits read as a two's complement number.
pub fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.min(64);
    ((value << unused) as i64) >> unused
}

/// The value of an operand of this type as a number.
fn number(value: u64, ty: ScalarType) -> i128 {
    let bits = ty.bits();
    if ty.is_signed() { i128::from(signed(value, bits)) } else { i128::from(value & mask(bits)) }
}

fn clamp(value: i128, ty: ScalarType) -> i128 {
    let bits = ty.bits();
    match ty.is_signed() {
        true => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => value.clamp(0, (1i128 << bits) - 1),
    }
}

/// Result of an integer instruction, cut to the width of its result; `None` where the ISA leaves it
/// unspecified.
pub fn int(op: IntOp, ty: ScalarType, saturate: bool, sources: &[u64]) -> Option<u64> {
    let bits = ty.bits();
    let raw = |index: usize| sources[index] & mask(bits);
    let num = |index: usize| number(sources[index], ty);
    let word = |index: usize| sources[index] as u32;
    let wide = ScalarType::S(bits * 2);
    let cut = |value: i128| {
        let value = if saturate { clamp(value, ty) } else { value };
        Some(value as u64 & mask(bits))
    };
    match op {
        IntOp::Add => cut(num(0) + num(1)),
        IntOp::Sub => cut(num(0) - num(1)),
        IntOp::MulLo => cut(num(0).wrapping_mul(num(1))),
        IntOp::MulHi => cut(high(num(0), num(1), ty)),
        IntOp::MulWide => Some((num(0) * num(1)) as u64 & mask(bits * 2)),
        IntOp::MadLo => cut(num(0).wrapping_mul(num(1)).wrapping_add(num(2))),
        IntOp::MadHi => cut(high(num(0), num(1), ty) + num(2)),
        IntOp::MadWide => Some((num(0) * num(1) + number(sources[2], wide)) as u64 & mask(bits * 2)),
        IntOp::Div if num(1) != 0 => Some((num(0) / num(1)) as u64 & mask(bits)),
        IntOp::Rem if num(1) != 0 => Some((num(0) % num(1)) as u64 & mask(bits)),
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
        IntOp::FunnelLeft(wrap) | IntOp::FunnelRight(wrap) => {
            let amount = if wrap { word(2) & 31 } else { word(2).min(32) };
            let both = u64::from(word(1)) << 32 | u64::from(word(0));
            let left = matches!(op, IntOp::FunnelLeft(_));
            Some(if left { (u128::from(both) << amount >> 32) as u64 } else { both >> amount } & mask(32))
        }
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
        IntOp::Lop3(table) => Some((0..bits).fold(0, |result, bit| {
            let at = |index: usize| (sources[index] >> bit & 1) as u8;
            result | u64::from(table >> (at(0) << 2 | at(1) << 1 | at(2)) & 1) << bit
        })),
        IntOp::Sad => cut(num(2) + (num(0) - num(1)).abs()),
        IntOp::Mul24Lo | IntOp::Mad24Lo => {
            let part = |index: usize| {
                let value = sources[index] & mask(24);
                if ty.is_signed() { i128::from(signed(value, 24)) } else { i128::from(value) }
            };
            let addend = if op == IntOp::Mad24Lo { num(2) } else { 0 };
            Some((part(0) * part(1) + addend) as u64 & mask(32))
        }
        IntOp::Slct => Some(if word(2) as i32 >= 0 { raw(0) } else { raw(1) }),
    }
}

/// The upper half of a product.
fn high(a: i128, b: i128, ty: ScalarType) -> i128 {
    let bits = ty.bits();
    if ty.is_signed() { (a * b) >> bits } else { ((a as u128 * b as u128) >> bits) as i128 }
}

fn bit_field_extract(value: u64, position: u32, length: u32, ty: ScalarType) -> u64 {
    let bits = ty.bits();
    let bit = |at: u32| value >> at & 1;
    let fill = if ty.is_signed() && length > 0 { bit((position + length - 1).min(bits - 1)) } else { 0 };
    (0..bits).fold(0, |result, at| {
        let inside = at < length && position + at < bits;
        result | (if inside { bit(position + at) } else { fill }) << at
    })
}

fn bit_field_insert(field: u64, base: u64, position: u32, length: u32, bits: u32) -> u64 {
    let inside = (0..bits).filter(|at| *at >= position && at - position < length);
    inside.fold(base, |result, at| result & !(1 << at) | (field >> (at - position) & 1) << at)
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

/// An integer comparison.
pub fn compare(comparison: Comparison, ty: ScalarType, a: u64, b: u64) -> bool {
    let order = number(a, ty).cmp(&number(b, ty));
    match comparison {
        Comparison::Eq | Comparison::Equ => order.is_eq(),
        Comparison::Ne | Comparison::Neu => order.is_ne(),
        Comparison::Lt | Comparison::Ltu => order.is_lt(),
        Comparison::Le | Comparison::Leu => order.is_le(),
        Comparison::Gt | Comparison::Gtu => order.is_gt(),
        Comparison::Ge | Comparison::Geu => order.is_ge(),
        Comparison::Num | Comparison::Nan => panic!("emulator: a float comparison of integers"),
    }
}

/// A conversion between integers, extended to 64 bits by the sign of the destination type.
pub fn convert(to: ScalarType, from: ScalarType, saturate: bool, value: u64) -> u64 {
    let value = number(value, from);
    let value = if saturate { clamp(value, to) } else { value };
    number(value as u64, to) as u64
}

/// The new value of an atomic operation; `None` for operations without a model here.
pub fn atomic(operation: &str, ty: ScalarType, old: u64, sources: &[u64]) -> Option<u64> {
    let bits = ty.bits();
    let first = || number(sources[0], ty);
    let new = match operation {
        "add" if ty.is_float() => return None,
        "add" => (number(old, ty) + first()) as u64,
        "min" if !ty.is_float() => number(old, ty).min(first()) as u64,
        "max" if !ty.is_float() => number(old, ty).max(first()) as u64,
        "and" => old & sources[0],
        "or" => old | sources[0],
        "xor" => old ^ sources[0],
        "exch" => sources[0],
        "cas" => {
            if old == sources[0] & mask(bits) {
                sources[1]
            } else {
                old
            }
        }
        "inc" => {
            if old >= sources[0] & mask(bits) {
                0
            } else {
                old + 1
            }
        }
        "dec" => {
            if old == 0 || old > sources[0] & mask(bits) {
                sources[0]
            } else {
                old - 1
            }
        }
        _ => return None,
    };
    Some(new & mask(bits))
}
