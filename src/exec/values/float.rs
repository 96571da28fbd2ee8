//! Floating-point arithmetic with every rounding mode.
//!
//! Input: bits of the operands. Output: bits of the result.
//! Establishes: exactly the result that the ISA defines, with one canonical NaN for formats of 32 bits and less.
//! How: 16- and 32-bit formats are computed in `f64`, rounded to odd (the last bit is set when the
//! result is inexact), so that the second rounding, to the format, is that of the exact value. `f64`
//! itself is computed natively, or by `rustc_apfloat` when the rounding is directed.
//! Reference: PTX ISA, floating-point and half precision instructions; Boldo and Melquiond,
//! "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd".

use crate::ptx::ast::{Comparison, ScalarType};
use rustc_apfloat::ieee::Double;
use rustc_apfloat::{Float as _, Round};

/// Rounding modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `.rn`: nearest, ties to even.
    NearestEven,
    /// `.rna`: nearest, ties away from zero.
    NearestAway,
    /// `.rz`
    Zero,
    /// `.rm`
    Down,
    /// `.rp`
    Up,
}

/// A binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent.
    pub(crate) exponent: u32,
    /// Stored bits of the significand.
    pub(crate) mantissa: u32,
    /// Bits below the significand that are always zero (tf32 in a register of 32).
    pub(crate) unused: u32,
}

impl Format {
    /// IEEE half.
    pub(crate) const F16: Format = Format { exponent: 5, mantissa: 10, unused: 0 };
    /// bfloat16
    pub(crate) const BF16: Format = Format { exponent: 8, mantissa: 7, unused: 0 };
    /// IEEE single.
    pub(crate) const F32: Format = Format { exponent: 8, mantissa: 23, unused: 0 };
    /// IEEE double.
    pub(crate) const F64: Format = Format { exponent: 11, mantissa: 52, unused: 0 };
    /// A single with a significand of 10 bits.
    pub(crate) const TF32: Format = Format { exponent: 8, mantissa: 10, unused: 13 };

    /// The format of a scalar type; `None` for integers and packed types.
    pub(crate) fn of(ty: ScalarType) -> Option<Format> {
        Some(match ty {
            ScalarType::F(16) => Format::F16,
            ScalarType::F(32) => Format::F32,
            ScalarType::F(64) => Format::F64,
            _ => match ty.packed() {
                Some("bf16") => Format::BF16,
                Some("tf32") => Format::TF32,
                _ => return None,
            },
        })
    }

    /// Width in bits.
    pub(crate) fn bits(self) -> u32 {
        1 + self.exponent + self.mantissa + self.unused
    }

    /// The sign bit.
    pub(crate) fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// The bits of positive infinity.
    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << (self.mantissa + self.unused)
    }

    /// The NaN that instructions give.
    pub(crate) fn nan(self) -> u64 {
        if self == Format::F64 { 0x7ff8_0000_0000_0000 } else { self.sign() - 1 }
    }

    /// Whether these bits are a NaN.
    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    /// Whether these bits are subnormal or zero.
    fn is_tiny(self, bits: u64) -> bool {
        bits & self.infinity() == 0
    }

    /// Subnormal numbers become zeros of the same sign.
    pub(crate) fn flush(self, bits: u64) -> u64 {
        if self.is_tiny(bits) { bits & self.sign() } else { bits }
    }

    /// The exact value.
    pub(crate) fn value(self, bits: u64) -> f64 {
        match (self.exponent, self.mantissa) {
            (11, _) => f64::from_bits(bits),
            (8, _) => f64::from(f32::from_bits((bits << (32 - self.bits())) as u32)),
            _ => {
                let magnitude = bits & (self.sign() - 1);
                let fraction = magnitude & ((1 << self.mantissa) - 1);
                let exponent = (magnitude >> self.mantissa).cast_signed() as i32;
                let bias = (1 << (self.exponent - 1)) - 1;
                let value = match exponent {
                    _ if magnitude > self.infinity() => f64::NAN,
                    _ if magnitude == self.infinity() => f64::INFINITY,
                    0 => fraction as f64 * power_of_two(1 - bias - self.mantissa.cast_signed()),
                    _ => {
                        let significand = (fraction | 1 << self.mantissa) as f64;
                        significand * power_of_two(exponent - bias - self.mantissa.cast_signed())
                    }
                };
                if bits & self.sign() == 0 { value } else { -value }
            }
        }
    }

    /// Rounds a value that is exact, or was rounded to odd, to this format (not `f64`).
    pub(crate) fn round(self, value: f64, rounding: Rounding) -> u64 {
        if value.is_nan() {
            return self.nan();
        }
        let negative = value.is_sign_negative();
        let sign = if negative { self.sign() } else { 0 };
        let bits = value.abs().to_bits();
        if bits == 0 {
            return sign;
        }
        let infinity = ((1 << self.exponent) - 1) << self.mantissa;
        if value.is_infinite() {
            return sign | infinity << self.unused;
        }
        let exponent = (bits >> 52).cast_signed() as i32 - 1023;
        let significand = bits & ((1 << 52) - 1) | if bits >> 52 == 0 { 0 } else { 1 << 52 };
        let smallest = 2 - (1 << (self.exponent - 1));
        let shift = (52 - self.mantissa.cast_signed() + (smallest - exponent).max(0)).min(63) as u32;
        let kept = significand >> shift;
        let rest = significand & ((1 << shift) - 1);
        let half = 1u64 << (shift - 1);
        let away = match rounding {
            Rounding::NearestEven => rest > half || rest == half && kept & 1 == 1,
            Rounding::NearestAway => rest >= half,
            Rounding::Zero => false,
            Rounding::Down => negative && rest > 0,
            Rounding::Up => !negative && rest > 0,
        };
        // A carry out of the significand moves into the exponent, as it should.
        let base = ((exponent - smallest).max(0) as u64) << self.mantissa;
        let magnitude = base + kept + u64::from(away);
        if magnitude < infinity {
            return sign | magnitude << self.unused;
        }
        let to_infinity = match rounding {
            Rounding::NearestEven | Rounding::NearestAway => true,
            Rounding::Zero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        sign | (if to_infinity { infinity } else { infinity - 1 }) << self.unused
    }
}

/// `2^exponent` for exponents of normal numbers.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// What modifies an arithmetic instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mode {
    /// Rounding.
    pub(crate) rounding: Rounding,
    /// `.ftz`
    pub(crate) flush: bool,
    /// `.sat`: the result is clamped to [0, 1], and NaN becomes 0.
    pub(crate) saturate: bool,
    /// `.relu`: negative results become 0.
    pub(crate) relu: bool,
}

impl Mode {
    /// The modifiers in an opcode.
    pub(crate) fn of(name: &str) -> Mode {
        let has = |word: &str| name.split('.').any(|part| part == word);
        let rounding = match () {
            () if has("rna") => Rounding::NearestAway,
            () if has("rz") => Rounding::Zero,
            () if has("rm") => Rounding::Down,
            () if has("rp") => Rounding::Up,
            () => Rounding::NearestEven,
        };
        Mode { rounding, flush: has("ftz"), saturate: has("sat"), relu: has("relu") }
    }

    /// What happens to a result after rounding.
    pub(crate) fn finish(self, format: Format, bits: u64) -> u64 {
        let bits = if self.flush { format.flush(bits) } else { bits };
        let negative = bits & format.sign() != 0;
        if self.saturate {
            let one = ((1 << (format.exponent - 1)) - 1) << (format.mantissa + format.unused);
            return if format.is_nan(bits) || negative { 0 } else { bits.min(one) };
        }
        if self.relu && negative && !format.is_nan(bits) { 0 } else { bits }
    }
}

/// The arithmetic operations that every format has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the instructions
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Sqrt,
}

/// An operation on operands of one format. The unused sources are ignored.
pub(crate) fn arithmetic(operation: Arithmetic, format: Format, mode: Mode, sources: [u64; 3]) -> u64 {
    let sources = if mode.flush { sources.map(|source| format.flush(source)) } else { sources };
    let bits = if format == Format::F64 {
        double(operation, mode.rounding, sources.map(f64::from_bits))
    } else {
        let value = to_odd(operation, mode.rounding, sources.map(|source| format.value(source)));
        format.round(value, mode.rounding)
    };
    mode.finish(format, bits)
}

/// The operation on values of narrower formats, in `f64` and rounded to odd.
pub(crate) fn to_odd(operation: Arithmetic, rounding: Rounding, [a, b, c]: [f64; 3]) -> f64 {
    match operation {
        Arithmetic::Add => sum_to_odd(a, b, rounding),
        Arithmetic::Sub => sum_to_odd(a, -b, rounding),
        Arithmetic::Mul => a * b,
        // The product of two singles is exact.
        Arithmetic::Fma => sum_to_odd(a * b, c, rounding),
        Arithmetic::Div => {
            let quotient = a / b;
            let rest = (-quotient).mul_add(b, a);
            odd(quotient, if b.is_sign_negative() { -rest } else { rest })
        }
        Arithmetic::Sqrt => {
            let root = a.sqrt();
            odd(root, (-root).mul_add(root, a))
        }
    }
}

fn sum_to_odd(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = a + b;
    if sum == 0.0 && rounding == Rounding::Down && (a != 0.0 || a.is_sign_negative() != b.is_sign_negative()) {
        return -0.0;
    }
    let part = sum - a;
    odd(sum, (a - (sum - part)) + (b - part))
}

/// The neighbour of `value` with an odd significand on the side of the error, if there is one.
fn odd(value: f64, error: f64) -> f64 {
    let exact = error == 0.0 || error.is_nan() || !value.is_finite() || value == 0.0;
    if exact || value.to_bits() & 1 == 1 {
        return value;
    }
    let outwards = (error > 0.0) == (value > 0.0);
    f64::from_bits(if outwards { value.to_bits() + 1 } else { value.to_bits() - 1 })
}

fn double(operation: Arithmetic, rounding: Rounding, [a, b, c]: [f64; 3]) -> u64 {
    let result = match (rounding, operation) {
        (Rounding::NearestEven | Rounding::NearestAway, _) => match operation {
            Arithmetic::Add => a + b,
            Arithmetic::Sub => a - b,
            Arithmetic::Mul => a * b,
            Arithmetic::Fma => a.mul_add(b, c),
            Arithmetic::Div => a / b,
            Arithmetic::Sqrt => a.sqrt(),
        },
        (_, Arithmetic::Sqrt) => directed_root(a, rounding),
        _ => {
            let [x, y, z] = [a, b, c].map(|value| Double::from_bits(u128::from(value.to_bits())));
            let round = match rounding {
                Rounding::Zero => Round::TowardZero,
                Rounding::Down => Round::TowardNegative,
                _ => Round::TowardPositive,
            };
            let result = match operation {
                Arithmetic::Add => x.add_r(y, round),
                Arithmetic::Sub => x.sub_r(y, round),
                Arithmetic::Mul => x.mul_r(y, round),
                Arithmetic::Fma => x.mul_add_r(y, z, round),
                Arithmetic::Div | Arithmetic::Sqrt => x.div_r(y, round),
            };
            f64::from_bits(result.value.to_bits() as u64)
        }
    };
    if result.is_nan() { Format::F64.nan() } else { result.to_bits() }
}

fn directed_root(a: f64, rounding: Rounding) -> f64 {
    if a.is_nan() || a <= 0.0 || a.is_infinite() {
        return a.sqrt();
    }
    // Scaled by an even power of two, so that the residual does not underflow.
    let (scaled, scale) = if a < power_of_two(-900) { (a * power_of_two(200), power_of_two(-100)) } else { (a, 1.0) };
    let root = scaled.sqrt();
    let residual = (-root).mul_add(root, scaled);
    let root = match rounding {
        Rounding::Up if residual > 0.0 => root.next_up(),
        Rounding::Zero | Rounding::Down if residual < 0.0 => root.next_down(),
        _ => root,
    };
    root * scale
}

/// `min` and `max`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extremum {
    /// True for `max`.
    pub(crate) maximum: bool,
    /// `.NaN`: a NaN among the operands is the result.
    pub(crate) keep_nan: bool,
    /// `.xorsign.abs`: of the magnitudes, with the product's sign.
    pub(crate) xor_sign: bool,
}

impl Extremum {
    /// The result for two operands.
    pub(crate) fn of(self, format: Format, flush: bool, a: u64, b: u64) -> u64 {
        let (a, b) = if flush { (format.flush(a), format.flush(b)) } else { (a, b) };
        match (format.is_nan(a), format.is_nan(b)) {
            (true, true) => return format.nan(),
            (true, _) | (_, true) if self.keep_nan => return format.nan(),
            _ => {}
        }
        // The sign of a NaN counts, too.
        let sign = if self.xor_sign { (a ^ b) & format.sign() } else { 0 };
        let (a, b) = if self.xor_sign { (a & !format.sign(), b & !format.sign()) } else { (a, b) };
        match (format.is_nan(a), format.is_nan(b)) {
            (true, _) => return sign | b,
            (_, true) => return sign | a,
            _ => {}
        }
        // -0 is smaller than +0; the order of the bits agrees with that of the numbers.
        let key = |bits: u64| match bits & format.sign() {
            0 => bits.cast_signed(),
            _ => -((bits & !format.sign()).cast_signed()) - 1,
        };
        let first = (key(a) > key(b)) == self.maximum;
        sign | if first { a } else { b }
    }
}

/// A comparison.
pub(crate) fn compare(comparison: Comparison, a: f64, b: f64) -> bool {
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

/// `testp`
pub(crate) fn test_property(property: &str, format: Format, bits: u64) -> Option<bool> {
    let value = format.value(bits);
    let subnormal = format.is_tiny(bits) && value != 0.0;
    Some(match property {
        "finite" => value.is_finite(),
        "infinite" => value.is_infinite(),
        "number" => !value.is_nan(),
        "notanumber" => value.is_nan(),
        "normal" => value.is_finite() && !subnormal,
        "subnormal" => subnormal,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::values::hash;
    use rustc_apfloat::ieee::{BFloat, Half, Single};

    const MODES: [(Rounding, Round); 4] = [
        (Rounding::NearestEven, Round::NearestTiesToEven),
        (Rounding::Zero, Round::TowardZero),
        (Rounding::Down, Round::TowardNegative),
        (Rounding::Up, Round::TowardPositive),
    ];

    /// Bits that meet zeros, subnormals, infinities and neighbours often.
    fn sample(format: Format, seed: u64) -> u64 {
        let bits = hash(seed, 1);
        let mantissa = (1 << format.mantissa) - 1;
        let fraction = match bits & 3 {
            0 => 0,
            1 => hash(seed, 2) & 7,
            2 => mantissa - (hash(seed, 2) & 3),
            _ => hash(seed, 2) & mantissa,
        };
        let top = (1 << format.exponent) - 1;
        let exponent = match bits >> 2 & 7 {
            0 => 0,
            1 => 1 + (bits >> 5 & 3),
            2 => top - (bits >> 5 & 1),
            _ => top / 2 - 15 + (bits >> 5) % 31,
        } & top;
        ((bits >> 40 & 1) * format.sign()) | (exponent << format.mantissa) | fraction
    }

    fn against_software<F: rustc_apfloat::Float>(format: Format) {
        use Arithmetic::{Add, Div, Fma, Mul, Sub};
        for round in 0..40_000u64 {
            let sources = [0, 1, 2].map(|index| sample(format, round * 3 + index));
            let [x, y, z] = sources.map(|bits| F::from_bits(u128::from(bits)));
            for (rounding, software) in MODES {
                let mode = Mode { rounding, flush: false, saturate: false, relu: false };
                for operation in [Add, Sub, Mul, Fma, Div] {
                    let expected = match operation {
                        Add => x.add_r(y, software),
                        Sub => x.sub_r(y, software),
                        Mul => x.mul_r(y, software),
                        Fma => x.mul_add_r(y, z, software),
                        _ => x.div_r(y, software),
                    };
                    let got = arithmetic(operation, format, mode, sources);
                    let expected = if expected.value.is_nan() { format.nan() } else { expected.value.to_bits() as u64 };
                    assert_eq!(got, expected, "{operation:?} {rounding:?} {sources:x?}: {got:x} {expected:x}");
                }
            }
        }
    }

    #[test]
    fn half_agrees_with_software() {
        against_software::<Half>(Format::F16);
    }

    #[test]
    fn bfloat_agrees_with_software() {
        against_software::<BFloat>(Format::BF16);
    }

    #[test]
    fn single_agrees_with_software() {
        against_software::<Single>(Format::F32);
    }

    #[test]
    fn nearest_single_agrees_with_the_machine() {
        let mode = Mode { rounding: Rounding::NearestEven, flush: false, saturate: false, relu: false };
        for round in 0..100_000u64 {
            let [a, b, c] = [0, 1, 2].map(|index| sample(Format::F32, round * 3 + index));
            let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            let root = arithmetic(Arithmetic::Sqrt, Format::F32, mode, [a, 0, 0]);
            let fused = arithmetic(Arithmetic::Fma, Format::F32, mode, [a, b, c]);
            for (got, expected) in [(root, x.sqrt()), (fused, x.mul_add(y, z))] {
                let expected = if expected.is_nan() { 0x7fff_ffff } else { u64::from(expected.to_bits()) };
                assert_eq!(got, expected, "{a:x} {b:x} {c:x}");
            }
        }
    }

    #[test]
    fn formats_round_trip() {
        for format in [Format::F16, Format::BF16] {
            for bits in 0..1u64 << 16 {
                let again = format.round(format.value(bits), Rounding::Zero);
                assert_eq!(again, if format.is_nan(bits) { format.nan() } else { bits });
            }
        }
    }
}
