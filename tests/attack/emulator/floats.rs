//! Floating-point instructions on concrete values.
//!
//! Common instructions of 32 and 64 bits are computed; any other is a hash of its name and operands,
//! which is as good a function as any: the verifier may use nothing about it.

use super::random::hash;
use gpuvcc::ptx::ast::{Comparison, ScalarType};

/// A float of a type as `f64`; `None` for formats other than 32 and 64 bits.
fn decode(ty: ScalarType, bits: u64) -> Option<f64> {
    match ty {
        ScalarType::F(32) => Some(f64::from(f32::from_bits(bits as u32))),
        ScalarType::F(64) => Some(f64::from_bits(bits)),
        _ => None,
    }
}

fn encode(ty: ScalarType, value: f64) -> u64 {
    if ty.bits() == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
}

/// An arithmetic instruction by its full opcode.
pub fn arithmetic(name: &str, ty: ScalarType, sources: &[u64]) -> u64 {
    computed(name, ty, sources).unwrap_or_else(|| arbitrary(name, sources) & super::values::mask(ty.bits()))
}

fn computed(name: &str, ty: ScalarType, sources: &[u64]) -> Option<u64> {
    let opcode = name.split('.').next()?;
    if ty == ScalarType::F(32) && matches!(opcode, "add" | "sub" | "mul" | "div" | "fma") {
        let value = |index: usize| f32::from_bits(sources[index] as u32);
        let result = match opcode {
            "add" => value(0) + value(1),
            "sub" => value(0) - value(1),
            "mul" => value(0) * value(1),
            "div" => value(0) / value(1),
            _ => value(0).mul_add(value(1), value(2)),
        };
        return Some(u64::from(result.to_bits()));
    }
    let value = |index: usize| decode(ty, sources[index]);
    let result = match opcode {
        "add" => value(0)? + value(1)?,
        "sub" => value(0)? - value(1)?,
        "mul" => value(0)? * value(1)?,
        "div" => value(0)? / value(1)?,
        "fma" => value(0)?.mul_add(value(1)?, value(2)?),
        "neg" => -value(0)?,
        "abs" => value(0)?.abs(),
        "min" => value(0)?.min(value(1)?),
        "max" => value(0)?.max(value(1)?),
        "sqrt" => value(0)?.sqrt(),
        _ => return None,
    };
    Some(encode(ty, result))
}

fn arbitrary(name: &str, sources: &[u64]) -> u64 {
    let seed = name.bytes().fold(0, |state, byte| hash(state, u64::from(byte)));
    sources.iter().fold(seed, |state, source| hash(state, *source))
}

/// A comparison.
pub fn compare(comparison: Comparison, ty: ScalarType, a: u64, b: u64) -> bool {
    let (Some(a), Some(b)) = (decode(ty, a), decode(ty, b)) else {
        return arbitrary("compare", &[comparison as u64, a, b]) & 1 == 1;
    };
    let unordered = a.is_nan() || b.is_nan();
    match comparison {
        Comparison::Eq => a == b,
        Comparison::Ne => !unordered && a != b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
        Comparison::Equ => unordered || a == b,
        Comparison::Neu => a != b,
        Comparison::Ltu => unordered || a < b,
        Comparison::Leu => unordered || a <= b,
        Comparison::Gtu => unordered || a > b,
        Comparison::Geu => unordered || a >= b,
        Comparison::Num => !unordered,
        Comparison::Nan => unordered,
    }
}

/// `cvt` from or to a float, by its full opcode.
pub fn convert(name: &str, to: ScalarType, from: ScalarType, sources: &[u64]) -> u64 {
    let known = |ty: ScalarType| matches!(ty, ScalarType::F(32 | 64)) || !ty.is_float();
    if sources.len() != 1 || !known(to) || !known(from) {
        return arbitrary(name, sources) & super::values::mask(to.bits());
    }
    let bits = from.bits();
    let value = match decode(from, sources[0]) {
        Some(value) => value,
        None if from.is_signed() => super::values::signed(sources[0], bits) as f64,
        None => (sources[0] & super::values::mask(bits)) as f64,
    };
    let rounding = |wanted: &str| name.split('.').any(|part| part == wanted);
    let value = match () {
        () if rounding("rzi") => value.trunc(),
        () if rounding("rni") => value.round_ties_even(),
        () if rounding("rmi") => value.floor(),
        () if rounding("rpi") => value.ceil(),
        () => value,
    };
    match to {
        ScalarType::F(_) => encode(to, value),
        // Casts of Rust saturate, as the instruction does; NaN gives 0.
        ScalarType::S(bits) => {
            let limit = super::values::mask(bits - 1) as i64;
            (value as i64).clamp(-limit - 1, limit) as u64
        }
        _ => (value as u64).min(super::values::mask(to.bits())),
    }
}
