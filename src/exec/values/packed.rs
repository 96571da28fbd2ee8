//! Floating-point instructions by their full opcode, packed formats included.
//!
//! Input: the opcode and its sources. Output: a function, chosen once, from bits to bits.
//! Reference: PTX ISA, floating-point, half, mixed precision and packed integer instructions.

use super::approximate::approximate;
use super::float::{Arithmetic, Extremum, Format, Mode, Rounding, arithmetic, test_property, to_odd};
use super::integer::{clamp, number};
use super::mask;
use crate::ptx::ast::ScalarType;

/// A function from sources to a result.
pub(crate) type Function = Box<dyn Fn(&[u64; 5]) -> u64 + Send + Sync>;

/// The format of each lane of a type, and their number.
pub(crate) fn lanes(ty: ScalarType) -> Option<(Format, u32)> {
    match ty.packed() {
        Some("f16x2") => Some((Format::F16, 2)),
        Some("bf16x2") => Some((Format::BF16, 2)),
        Some("f32x2") => Some((Format::F32, 2)),
        _ => Format::of(ty).map(|format| (format, 1)),
    }
}

/// Applies a function to each lane.
fn by_lane(count: u32, bits: u32, sources: &[u64; 5], lane: impl Fn([u64; 3]) -> u64) -> u64 {
    if count == 1 {
        return lane([sources[0], sources[1], sources[2]]);
    }
    (0..count).fold(0, |result, index| {
        let part = |source: usize| sources[source] >> (index * bits) & mask(bits);
        result | (lane([part(0), part(1), part(2)]) & mask(bits)) << (index * bits)
    })
}

/// The meaning of a floating-point opcode; `None` without a model.
pub(crate) fn float_function(name: &str, ty: ScalarType, sources: usize) -> Option<Function> {
    let words: Vec<&str> = name.split('.').collect();
    let (opcode, has) = (words[0], |word: &str| words.contains(&word));
    if matches!(ty.packed(), Some("u16x2" | "s16x2")) || has("s32") && opcode != "slct" {
        return packed_integer(opcode, name, ty);
    }
    if opcode == "testp" {
        let format = if has("f64") { Format::F64 } else { Format::F32 };
        let property = words[1].to_string();
        test_property(&property, format, 0)?;
        return Some(Box::new(move |s| u64::from(test_property(&property, format, s[0]).unwrap_or(false))));
    }
    if opcode == "slct" {
        let flush = has("ftz");
        let bits = ty.bits();
        return Some(Box::new(move |s| {
            let c = if flush { Format::F32.flush(s[2]) } else { s[2] };
            let chosen = if Format::F32.value(c) >= 0.0 { s[0] } else { s[1] };
            chosen & mask(bits)
        }));
    }
    if has("oob") {
        return None;
    }
    let mode = Mode::of(name);
    if let Some(function) = mixed_precision(opcode, &words, mode) {
        return Some(function);
    }
    let (format, count) = lanes(ty)?;
    let bits = format.bits();
    if has("approx") || has("full") {
        let opcode = opcode.to_string();
        approximate(&opcode, format, mode.flush, [0; 2])?;
        return Some(Box::new(move |s| {
            by_lane(count, bits, s, |[a, b, _]| approximate(&opcode, format, mode.flush, [a, b]).unwrap_or(0))
        }));
    }
    let operation = match opcode {
        "add" => Arithmetic::Add,
        "sub" => Arithmetic::Sub,
        "mul" => Arithmetic::Mul,
        "fma" | "mad" => Arithmetic::Fma,
        "div" => Arithmetic::Div,
        "sqrt" => Arithmetic::Sqrt,
        "rcp" => {
            let one = format.round_any(1.0);
            return Some(Box::new(move |s| arithmetic(Arithmetic::Div, format, mode, [one, s[0], 0])));
        }
        _ => return sign_or_extremum(opcode, &words, format, count, sources),
    };
    if let (Format::F32, 1, Some(function)) = (format, count, native(operation, mode)) {
        return Some(function);
    }
    Some(Box::new(move |s| by_lane(count, bits, s, |sources| arithmetic(operation, format, mode, sources))))
}

impl Format {
    /// A value that the format holds exactly.
    fn round_any(self, value: f64) -> u64 {
        if self == Format::F64 { value.to_bits() } else { self.round(value, Rounding::NearestEven) }
    }
}

/// Singles rounded to nearest are the machine's own.
fn native(operation: Arithmetic, mode: Mode) -> Option<Function> {
    if mode.rounding != Rounding::NearestEven || mode.flush || mode.saturate || mode.relu {
        return None;
    }
    fn bits(value: f32) -> u64 {
        if value.is_nan() { Format::F32.nan() } else { u64::from(value.to_bits()) }
    }
    fn single(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    Some(match operation {
        Arithmetic::Add => Box::new(|s| bits(single(s[0]) + single(s[1]))),
        Arithmetic::Sub => Box::new(|s| bits(single(s[0]) - single(s[1]))),
        Arithmetic::Mul => Box::new(|s| bits(single(s[0]) * single(s[1]))),
        Arithmetic::Fma => Box::new(|s| bits(single(s[0]).mul_add(single(s[1]), single(s[2])))),
        Arithmetic::Div => Box::new(|s| bits(single(s[0]) / single(s[1]))),
        Arithmetic::Sqrt => Box::new(|s| bits(single(s[0]).sqrt())),
    })
}

/// `add.f32.f16` and the like: a single accumulates narrower operands.
fn mixed_precision(opcode: &str, words: &[&str], mode: Mode) -> Option<Function> {
    let at = words.iter().position(|word| *word == "f32")?;
    let narrow = match *words.get(at + 1)? {
        "f16" => Format::F16,
        "bf16" => Format::BF16,
        _ => return None,
    };
    let operation = match opcode {
        "add" => Arithmetic::Add,
        "sub" => Arithmetic::Sub,
        "fma" => Arithmetic::Fma,
        _ => return None,
    };
    Some(Box::new(move |s| {
        let second = if operation == Arithmetic::Fma { narrow } else { Format::F32 };
        let values = [narrow.value(s[0]), second.value(s[1]), Format::F32.value(s[2])];
        mode.finish(Format::F32, Format::F32.round(to_odd(operation, mode.rounding, values), mode.rounding))
    }))
}

fn sign_or_extremum(opcode: &str, words: &[&str], format: Format, count: u32, sources: usize) -> Option<Function> {
    let has = |word: &str| words.contains(&word);
    let (flush, bits, sign) = (has("ftz"), format.bits(), format.sign());
    let prepare = move |bits: u64| if flush { format.flush(bits) } else { bits };
    Some(match opcode {
        // Of a NaN the ISA says nothing more than that it stays one; this is what hardware gives.
        "abs" | "neg" => {
            let is_absolute = opcode == "abs";
            Box::new(move |s| {
                by_lane(count, bits, s, |[a, ..]| match prepare(a) {
                    a if format.is_nan(a) && format == Format::F64 => a | 1 << (format.mantissa - 1),
                    a if format.is_nan(a) => format.nan(),
                    a if is_absolute => a & !sign,
                    a => a ^ sign,
                })
            })
        }
        "copysign" => Box::new(move |s| s[0] & sign | s[1] & !sign & mask(bits)),
        "min" | "max" => {
            let extremum = Extremum { maximum: opcode == "max", keep_nan: has("NaN"), xor_sign: has("xorsign") };
            Box::new(move |s| {
                by_lane(count, bits, s, |[a, b, c]| {
                    let first = extremum.of(format, flush, a, b);
                    if sources == 3 { extremum.of(format, flush, first, c) } else { first }
                })
            })
        }
        _ => return None,
    })
}

/// `add`, `sub`, `min` and `max` on pairs of 16-bit integers, and `min.relu.s32`.
fn packed_integer(opcode: &str, name: &str, ty: ScalarType) -> Option<Function> {
    let signed = name.contains(".s");
    let (saturate, relu) = (name.contains(".sat"), name.contains(".relu"));
    let (count, bits) = if ty.is_float() { (2, 16) } else { (1, 32) };
    let lane_type = if signed { ScalarType::S(bits) } else { ScalarType::U(bits) };
    let operation: fn(i128, i128) -> i128 = match opcode {
        "add" => |a, b| a + b,
        "sub" => |a, b| a - b,
        "min" => |a, b| a.min(b),
        "max" => |a, b| a.max(b),
        _ => return None,
    };
    Some(Box::new(move |s| {
        by_lane(count, bits, s, |[a, b, _]| {
            let value = operation(number(a, lane_type), number(b, lane_type));
            let value = if saturate { clamp(value, lane_type) } else { value };
            (if relu { value.max(0) } else { value }) as u64 & mask(bits)
        })
    }))
}
