//! `cvt` in the forms that have a model: between integers and formats of 16, 32 and 64 bits, to pairs
//! of them, and the formats of 8 bits in pairs.
//!
//! Reference: PTX ISA, `cvt`.

use super::float::{Format, Mode, Rounding};
use super::integer::{clamp, number};
use super::mask;
use super::packed::{Function, lanes};
use crate::ptx::ast::ScalarType;

/// The meaning of a conversion; `None` without a model. Results of integer conversions are extended
/// to 64 bits by the sign of the destination type: the register cuts them.
pub(crate) fn convert_function(
    name: &str,
    to: ScalarType,
    from: ScalarType,
    saturate: bool,
    sources: usize,
) -> Option<Function> {
    let words: Vec<&str> = name.split('.').collect();
    if words.contains(&"rs") || words.iter().any(|word| word.starts_with("scaled")) {
        return None;
    }
    let mode = Mode::of(name);
    let finite = words.contains(&"satfinite");
    let (to_lanes, from_lanes) = (lanes(to), lanes(from));
    match (to_lanes, from_lanes) {
        (None, None) if !to.is_float() && !from.is_float() => Some(Box::new(move |s| {
            let value = number(s[0], from);
            number((if saturate { clamp(value, to) } else { value }) as u64, to) as u64
        })),
        (None, Some((format, 1))) if !to.is_float() => {
            let integral = integral(&words).unwrap_or(Rounding::Zero);
            Some(Box::new(move |s| float_to_integer(format, mode.flush, integral, to, s[0])))
        }
        (Some((format, 1)), None) if !from.is_float() => Some(Box::new(move |s| {
            let bits = integer_to_float(format, mode.rounding, number(s[0], from));
            Mode { saturate, ..mode }.finish(format, bits)
        })),
        (Some((format, 1)), Some((source, 1))) => {
            let integral = integral(&words);
            let mode = Mode { saturate, ..mode };
            Some(Box::new(move |s| float_to_float(source, format, mode, integral, finite, s[0])))
        }
        (Some((format, 2)), Some((source, 1))) if sources == 2 => {
            let mode = Mode { saturate, ..mode };
            Some(Box::new(move |s| {
                let [high, low] = [s[0], s[1]].map(|bits| float_to_float(source, format, mode, None, finite, bits));
                high << format.bits() | low
            }))
        }
        _ => small_pair(to, from, mode, sources),
    }
}

/// `.rni`, `.rzi`, `.rmi`, `.rpi`
fn integral(words: &[&str]) -> Option<Rounding> {
    words.iter().find_map(|word| match *word {
        "rni" => Some(Rounding::NearestEven),
        "rzi" => Some(Rounding::Zero),
        "rmi" => Some(Rounding::Down),
        "rpi" => Some(Rounding::Up),
        _ => None,
    })
}

fn round_integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven | Rounding::NearestAway => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// Out of range gives the nearest value; NaN gives 0, or the integer with only its top bit set if one
/// of the sides has 64 bits.
fn float_to_integer(format: Format, flush: bool, rounding: Rounding, to: ScalarType, bits: u64) -> u64 {
    let bits = if flush { format.flush(bits) } else { bits };
    let value = round_integral(format.value(bits), rounding);
    if value.is_nan() {
        return if format == Format::F64 || to.bits() == 64 { number(1 << (to.bits() - 1), to) as u64 } else { 0 };
    }
    // The cast saturates at 128 bits, far beyond every type.
    clamp(value as i128, to) as u64
}

fn integer_to_float(format: Format, rounding: Rounding, value: i128) -> u64 {
    let nearest = value as f64;
    let error = value - nearest as i128;
    if format == Format::F64 {
        let rounded = match rounding {
            Rounding::Down if error < 0 => nearest.next_down(),
            Rounding::Up if error > 0 => nearest.next_up(),
            Rounding::Zero if error != 0 && (error < 0) == (value > 0) => {
                if value > 0 {
                    nearest.next_down()
                } else {
                    nearest.next_up()
                }
            }
            _ => nearest,
        };
        return rounded.to_bits();
    }
    // To odd, as in `float`.
    let odd = match error {
        0 => nearest,
        _ if nearest.to_bits() & 1 == 1 => nearest,
        1.. => nearest.next_up(),
        _ => nearest.next_down(),
    };
    format.round(odd, rounding)
}

fn float_to_float(from: Format, to: Format, mode: Mode, integral: Option<Rounding>, finite: bool, bits: u64) -> u64 {
    let bits = if mode.flush && from == Format::F32 { from.flush(bits) } else { bits };
    let value = from.value(bits);
    let value = integral.map_or(value, |rounding| round_integral(value, rounding));
    let result = match (to == Format::F64, value.is_nan()) {
        (_, true) => to.nan(),
        (true, false) => value.to_bits(),
        (false, false) => to.round(value, mode.rounding),
    };
    let result = if finite && result & (to.sign() - 1) == to.infinity() {
        result & to.sign() | (to.infinity() - (1 << to.unused))
    } else {
        result
    };
    let flush = mode.flush && to == Format::F32;
    Mode { flush, ..mode }.finish(to, result)
}

/// A format of 8 bits: exponent, mantissa, bias, and whether it has infinities.
#[derive(Clone, Copy)]
struct Small {
    mantissa: u32,
    bias: i32,
    largest: u64,
}

fn small(ty: ScalarType) -> Option<Small> {
    match ty.packed() {
        Some("e4m3x2") => Some(Small { mantissa: 3, bias: 7, largest: 0x7e }),
        Some("e5m2x2") => Some(Small { mantissa: 2, bias: 15, largest: 0x7b }),
        _ => None,
    }
}

impl Small {
    fn value(self, bits: u64) -> f64 {
        let magnitude = bits & 0x7f;
        let fraction = (magnitude & mask(self.mantissa)) as f64;
        let exponent = (magnitude >> self.mantissa) as i32;
        let scale = 2f64.powi(-self.mantissa.cast_signed());
        let value = match exponent {
            _ if magnitude == 0x7f || self.mantissa == 2 && magnitude > 0x7c => f64::NAN,
            _ if self.mantissa == 2 && magnitude == 0x7c => f64::INFINITY,
            0 => fraction * scale * 2f64.powi(1 - self.bias),
            _ => (1.0 + fraction * scale) * 2f64.powi(exponent - self.bias),
        };
        if bits & 0x80 == 0 { value } else { -value }
    }

    /// To nearest, and to the largest number beyond it (`.satfinite`).
    fn round(self, value: f64, relu: bool) -> u64 {
        if value.is_nan() {
            return 0x7f;
        }
        if relu && value.is_sign_negative() {
            return 0;
        }
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        let magnitude = value.abs();
        let exponent =
            if magnitude == 0.0 { 1 - self.bias } else { (magnitude.log2().floor() as i32).max(1 - self.bias) };
        let steps = (magnitude * 2f64.powi(self.mantissa.cast_signed() - exponent)).round_ties_even();
        if !steps.is_finite() || steps > 1e6 {
            return sign | self.largest;
        }
        let base = ((exponent + self.bias - 1) as u64) << self.mantissa;
        sign | (base + steps as u64).min(self.largest)
    }
}

/// Pairs of 8-bit floats from two singles or a pair, and pairs of halves from them.
fn small_pair(to: ScalarType, from: ScalarType, mode: Mode, sources: usize) -> Option<Function> {
    match (small(to), small(from), lanes(from), lanes(to)) {
        (Some(format), None, Some((Format::F32, 1)), _) if sources == 2 => Some(Box::new(move |s| {
            let [high, low] = [s[0], s[1]].map(|bits| format.round(Format::F32.value(bits), mode.relu));
            high << 8 | low
        })),
        (Some(format), None, Some((source, 2)), _) => Some(Box::new(move |s| {
            let bits = source.bits();
            let half = |index: u32| format.round(source.value(s[0] >> (index * bits) & mask(bits)), mode.relu);
            half(1) << 8 | half(0)
        })),
        (None, Some(format), _, Some((Format::F16, 2))) => Some(Box::new(move |s| {
            let half = |index: u32| {
                let bits = Format::F16.round(format.value(s[0] >> (8 * index) & 255), Rounding::NearestEven);
                mode.finish(Format::F16, bits)
            };
            half(1) << 16 | half(0)
        })),
        _ => None,
    }
}
