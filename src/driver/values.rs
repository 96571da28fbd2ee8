//! Values of options on the command line.
//!
//! Input: the text of a value. Output: the value, or what is wrong with it. Establishes: sizes are at least 1; numbers
//! fit 64 bits, with or without sign.

use crate::exec::tensor_argument::TensorArgument;
use crate::infer::candidates;

/// `--param NAME=VALUE`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSetting {
    /// Name, or position from 0.
    pub name: String,
    /// Value, from -2^63 to 2^64-1.
    pub value: i128,
}

/// Three sizes of `--block` or `--grid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes(pub(crate) [Option<u32>; 3]);

/// `X,Y,Z` or `XxYxZ`; `*` is any size.
pub(super) fn parse_sizes(text: &str) -> Result<Sizes, String> {
    if text == "*" {
        return Ok(Sizes([None; 3]));
    }
    let mut sizes = [Some(1); 3];
    let parts: Vec<&str> = text.split([',', 'x']).collect();
    if parts.len() > 3 {
        return Err("at most three sizes: X,Y,Z".to_string());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = match part {
            "*" => None,
            number => match number.parse::<u32>() {
                Ok(number) if number > 0 => Some(number),
                _ => return Err(format!("`{number}` is neither a size from 1 to {} nor *", u32::MAX)),
            },
        };
    }
    Ok(Sizes(sizes))
}

/// `NAME=VALUE`.
pub(super) fn parse_parameter(text: &str) -> Result<ParameterSetting, String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("expected NAME=VALUE".to_string());
    };
    if name.is_empty() {
        return Err("the name before `=` is empty".to_string());
    }
    match parse_number(value) {
        Some(number) => Ok(ParameterSetting { name: name.to_string(), value: number }),
        None => Err(format!("`{value}` is no number from -2^63 to 2^64-1, decimal or hexadecimal (0x...)")),
    }
}

/// `NAME=TYPE:SIZES:box=SIZES`: a parameter and its tensor map.
pub(super) fn parse_tensor(text: &str) -> Result<(String, TensorArgument), String> {
    let (name, tensor) = text.split_once('=').ok_or("expected NAME=TYPE:SIZES:box=SIZES")?;
    let tensor = tensor.strip_prefix("tensor:").unwrap_or(tensor);
    TensorArgument::parse(tensor).map(|tensor| (name.to_string(), tensor))
}

/// The name of a family of candidate invariants.
pub(super) fn parse_family(text: &str) -> Result<&'static str, String> {
    match candidates::names().find(|name| *name == text) {
        Some(name) => Ok(name),
        None => Err(format!("there are {}", candidates::names().collect::<Vec<_>>().join(", "))),
    }
}

/// A number from -2^63 to 2^64-1.
pub(super) fn parse_number(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    // The number parser would accept a second sign.
    if !digits.starts_with(|digit: char| digit.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    let value = if negative { -magnitude } else { magnitude };
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_left_out_are_one_and_a_lone_star_frees_all() {
        assert_eq!(parse_sizes("*"), Ok(Sizes([None, None, None])));
        assert_eq!(parse_sizes("256"), Ok(Sizes([Some(256), Some(1), Some(1)])));
        assert_eq!(parse_sizes("16,*"), Ok(Sizes([Some(16), None, Some(1)])));
        assert_eq!(parse_sizes("16x8"), parse_sizes("16,8"));
        assert_eq!(parse_sizes("*,4,2"), Ok(Sizes([None, Some(4), Some(2)])));
        for wrong in ["", "0", "-1", "1,", ",", "1,2,3,4", "x", "1x", "1x2x3x4", "1;2", "4294967296", "**"] {
            assert!(parse_sizes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parameter_values_are_decimal_hexadecimal_or_negative() {
        let value = |text| parse_parameter(text).map(|setting| setting.value);
        assert_eq!(value("n=17"), Ok(17));
        assert_eq!(value("n=-0x10"), Ok(-16));
        assert_eq!(value("0=0xffffffffffffffff"), Ok(i128::from(u64::MAX)));
        for wrong in ["n", "=1", "n=", "n=--1", "n=0x", "n=1.5", "n=18446744073709551616", "n=0x-1"] {
            assert!(parse_parameter(wrong).is_err(), "{wrong}");
        }
    }
}
