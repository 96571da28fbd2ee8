//! The approximate instructions: `div.approx`, `div.full`, `rcp.approx`, `sqrt.approx`, `rsqrt.approx`, `sin`,
//! `cos`, `lg2`, `ex2` and `tanh`.
//!
//! The ISA bounds their errors only. Here each is the function's value in `f64`, rounded to nearest, which
//! lies within every bound; hardware may differ in the last bits. What the ISA fixes (signs, infinities,
//! NaN, `.ftz`, large divisors) is exact.

use super::float::{Format, Mode, Rounding};

/// An approximate instruction by the first word of its opcode; `None` if there is no such one.
pub(crate) fn approximate(opcode: &str, format: Format, flush: bool, sources: [u64; 2]) -> Option<u64> {
    let mode = Mode { rounding: Rounding::NearestEven, flush, saturate: false, relu: false };
    let sources = if flush { sources.map(|source| format.flush(source)) } else { sources };
    let [a, b] = sources.map(|source| format.value(source));
    let value = match opcode {
        // Beyond 2^126 the reciprocal of the divisor is flushed to zero.
        "div" if format == Format::F32 && b.abs() > 2f64.powi(126) && b.is_finite() => a * 0.0_f64.copysign(b),
        "div" => a / b,
        "rcp" => 1.0 / a,
        "sqrt" => a.sqrt(),
        "rsqrt" => 1.0 / a.sqrt(),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "lg2" => a.log2(),
        "ex2" => a.exp2(),
        "tanh" => a.tanh(),
        _ => return None,
    };
    if format == Format::F64 {
        // `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` give the upper half of the bits.
        let bits = if value.is_nan() { Format::F64.nan() } else { value.to_bits() };
        return Some(mode.finish(format, if flush { bits & !0xffff_ffff } else { bits }));
    }
    Some(mode.finish(format, format.round(value, mode.rounding)))
}
