//! Arguments of an emulated launch, and their text on the command line.
//!
//! Input: texts such as `17`, `1.5`, `zeros:1024xf32`, `random:256:7`, `zeros:*`, `shared:64` or `n=3`. Output: [`Argument`]s; the
//! text of an argument, which reads as the same argument. What they stand for is in [`super::binding`].

use super::decode::SHARED_BITS;
use super::launch::Contents;
use super::memory::UNBOUNDED;
use super::tensor_argument::TensorArgument;
use crate::ptx::ast::ScalarType;
use crate::ptx::words::{scalar_type, type_name};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of an array argument at most.
pub(super) const LARGEST: u64 = 1 << 34;

/// Bytes of a buffer in shared memory at most.
const LARGEST_BUFFER: u64 = 1 << SHARED_BITS;

#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The parameter by name or position; the next one in order when `None`.
    pub(crate) name: Option<String>,
    pub(crate) value: Value,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i128),
    /// A number with a point, for `.f32` and `.f64` parameters.
    Decimal(f64),
    /// Bytes of a structure, from hexadecimal digits.
    Bytes(Vec<u8>),
    /// A new array.
    Array {
        /// Elements.
        count: u64,
        /// Type of the elements.
        ty: ScalarType,
        /// What they are.
        fill: Fill,
    },
    /// A new buffer in the shared memory of each block, which holds anything.
    Shared {
        /// Elements.
        count: u64,
        /// Type of the elements.
        ty: ScalarType,
    },
    /// A new array without bounds, in both directions.
    Endless(Contents),
    /// A new array with the contents of a file.
    File(String),
    /// A structure: bytes and pointers to new arrays, one behind the other.
    Parts(Vec<Value>),
    /// A tensor map, and the tensor.
    Tensor(Box<TensorArgument>),
    /// So many bytes behind the start of the array of an earlier parameter, which is named or given by its position.
    Same {
        /// That parameter.
        other: String,
        /// In bytes.
        distance: i64,
    },
}

impl Argument {
    /// The argument of a parameter.
    pub(crate) fn of(parameter: &str, value: Value) -> Argument {
        Argument { name: Some(parameter.to_string()), value }
    }
}

impl Value {
    /// Whether it has an array without bounds.
    pub(crate) fn is_endless(&self) -> bool {
        match self {
            Value::Endless(_) => true,
            Value::Parts(parts) => parts.iter().any(Value::is_endless),
            _ => false,
        }
    }

    /// An endless array of zeros, but for these bytes at these distances from its pointer.
    pub(crate) fn cells(bytes: impl IntoIterator<Item = (i64, u8)>) -> Value {
        // Offsets count from the pointer, in the middle of the array.
        let cells = bytes.into_iter().map(|(distance, byte)| (UNBOUNDED.wrapping_add_signed(distance), byte));
        Value::Endless(Contents::Cells(cells.filter(|(offset, _)| *offset < 2 * UNBOUNDED).collect()))
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}={}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(value) => write!(f, "{value}"),
            Value::Decimal(value) => write!(f, "{value:?}"),
            Value::Bytes(bytes) => write!(f, "bytes:{}", digits(bytes)),
            Value::Array { count, ty, fill } => {
                let size = format!("{count}x{}", type_name(*ty));
                match fill {
                    Fill::Zeros => write!(f, "zeros:{size}"),
                    Fill::Ramp => write!(f, "ramp:{size}"),
                    Fill::Random(seed) => write!(f, "random:{size}:{seed}"),
                }
            }
            Value::Shared { count, ty } => write!(f, "shared:{count}x{}", type_name(*ty)),
            Value::Endless(contents) => match contents {
                Contents::Zero => write!(f, "zeros:*"),
                Contents::Any { seed } => write!(f, "random:*:{seed}"),
                Contents::Small { bound, seed } => write!(f, "below:*:{bound}:{seed}"),
                Contents::Each(bytes) => write!(f, "each:*:{}", digits(bytes)),
                Contents::Cells(cells) if cells.is_empty() => write!(f, "zeros:*"),
                Contents::Cells(cells) => write!(f, "cells:*:{}", runs(cells)),
                Contents::Bytes(_) => panic!("exec: bytes have an end"),
            },
            Value::File(path) => write!(f, "file:{path}"),
            Value::Parts(parts) => {
                let parts: Vec<String> = parts.iter().map(Value::to_string).collect();
                write!(f, "parts:{}", parts.join("+"))
            }
            Value::Tensor(tensor) => write!(f, "{tensor}"),
            Value::Same { other, distance: 0 } => write!(f, "same:{other}"),
            Value::Same { other, distance } => write!(f, "same:{other}{distance:+}"),
        }
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `07@0,0100@64`: runs of bytes with their distances from the pointer.
fn runs(cells: &BTreeMap<u64, u8>) -> String {
    let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
    for (&offset, &byte) in cells {
        match runs.last_mut() {
            Some((start, bytes)) if *start + bytes.len() as u64 == offset => bytes.push(byte),
            _ => runs.push((offset, vec![byte])),
        }
    }
    let text = |(start, bytes): &(u64, Vec<u8>)| format!("{}@{}", digits(bytes), *start as i64 - UNBOUNDED as i64);
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

/// What the elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Zeros.
    Zeros,
    /// 0, 1, 2, ...
    Ramp,
    /// Random bits, or floats from 0 to 1, by seed.
    Random(u64),
}

/// Reads one argument of the command line.
pub(crate) fn parse(text: &str) -> Result<Argument, String> {
    let (name, value) = match text.split_once('=') {
        Some((kind, _)) if kind.contains(':') => (None, text),
        Some((name, value)) if !name.is_empty() => (Some(name.to_string()), value),
        Some(_) => return Err("the name before `=` is empty".to_string()),
        None => (None, text),
    };
    Ok(Argument { name, value: parse_value(value)? })
}

fn parse_value(text: &str) -> Result<Value, String> {
    let Some((kind, rest)) = text.split_once(':') else { return parse_number(text) };
    match kind {
        "zeros" | "random" | "below" if rest == "*" || rest.starts_with("*:") => endless(kind, &rest[1..]),
        "cells" => cells(rest),
        "each" => each(rest),
        "zeros" => array(rest, Fill::Zeros),
        "ramp" => array(rest, Fill::Ramp),
        "random" => {
            let (size, seed) = rest.split_once(':').unwrap_or((rest, "1"));
            let seed = seed.parse().map_err(|_| format!("`{seed}` is no seed"))?;
            array(size, Fill::Random(seed))
        }
        "shared" => shared(rest),
        "file" => Ok(Value::File(rest.to_string())),
        "parts" => rest.split('+').map(part).collect::<Result<_, _>>().map(Value::Parts),
        "same" => same(rest),
        "tensor" => TensorArgument::parse(rest).map(|tensor| Value::Tensor(Box::new(tensor))),
        "bytes" => hexadecimal(rest).map(Value::Bytes),
        _ => Err(format!(
            "unknown kind `{kind}`; there are zeros, ramp, random, below, each, cells, shared, file, bytes, parts, tensor and same"
        )),
    }
}

/// `in`, or `in+64`: no name has a sign in it.
fn same(text: &str) -> Result<Value, String> {
    let (other, distance) = text.find(['+', '-']).map_or((text, ""), |at| text.split_at(at));
    let bytes = if distance.is_empty() { Ok(0) } else { distance.parse() };
    let distance = bytes.map_err(|_| format!("`{distance}` is no number of bytes"))?;
    Ok(Value::Same { other: other.to_string(), distance })
}

/// A part of a structure.
fn part(text: &str) -> Result<Value, String> {
    match parse_value(text)? {
        value @ (Value::Bytes(_) | Value::Array { .. } | Value::Shared { .. } | Value::Endless(_) | Value::File(_)) => {
            Ok(value)
        }
        _ => Err(format!("`{text}` is no part of a structure; give bytes and arrays")),
    }
}

/// What follows `shared:`: `COUNT` or `COUNTxTYPE`.
fn shared(text: &str) -> Result<Value, String> {
    match array(text, Fill::Zeros)? {
        Value::Array { count, ty, .. } if u64::from(ty.bytes()) * count <= LARGEST_BUFFER => {
            Ok(Value::Shared { count, ty })
        }
        _ => Err(format!("a buffer in shared memory has at most {LARGEST_BUFFER} bytes")),
    }
}

/// What follows `each:`, as in `each:*:ff000000`: an endless array of elements with these bytes.
fn each(text: &str) -> Result<Value, String> {
    let bytes =
        text.strip_prefix("*:").ok_or("these elements have no count; write each:*:BYTES").map(hexadecimal)??;
    if !matches!(bytes.len(), 1 | 2 | 4 | 8) {
        return Err("an element has 1, 2, 4 or 8 bytes".to_string());
    }
    Ok(Value::Endless(Contents::Each(bytes)))
}

/// What follows `cells:`, as in `cells:*:07@0,0100@64`: an endless array of zeros, but for these bytes at these byte offsets.
fn cells(text: &str) -> Result<Value, String> {
    let runs = text.strip_prefix("*:").ok_or("cells have no count; write cells:*:BYTES@OFFSET")?;
    let mut cells: BTreeMap<i64, u8> = BTreeMap::new();
    for run in runs.split(',') {
        let (digits, start) =
            run.split_once('@').ok_or_else(|| format!("`{run}` is not BYTES@OFFSET, as in ff00@64"))?;
        let start: i64 = start.parse().map_err(|_| format!("`{start}` is no byte offset"))?;
        cells.extend((0..).map(|index| start.wrapping_add(index)).zip(hexadecimal(digits)?));
    }
    Ok(Value::cells(cells))
}

/// Bytes from pairs of hexadecimal digits.
fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u32> = text.chars().map_while(|digit| digit.to_digit(16)).collect();
    if digits.len() != text.len() || !digits.len().is_multiple_of(2) {
        return Err("bytes are pairs of hexadecimal digits".to_string());
    }
    Ok(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

/// What follows the `*` of `zeros:*`, `random:*[:SEED]` and `below:*:BOUND[:SEED]`.
fn endless(kind: &str, rest: &str) -> Result<Value, String> {
    let mut numbers = rest.split(':').skip(1).map(|text| text.parse().map_err(|_| format!("`{text}` is no number")));
    let mut next = |default: Option<u64>| match numbers.next() {
        Some(number) => number,
        None => default.ok_or_else(|| "a bound is missing, as in below:*:16".to_string()),
    };
    let contents = match kind {
        "zeros" => Contents::Zero,
        "random" => Contents::Any { seed: next(Some(1))? },
        _ => {
            let bound = u32::try_from(next(None)?).map_err(|_| "a bound has 32 bits".to_string())?;
            Contents::Small { bound: bound.max(1), seed: next(Some(1))? }
        }
    };
    match numbers.next() {
        None => Ok(Value::Endless(contents)),
        Some(_) => Err(format!("`{kind}:*` has fewer numbers")),
    }
}

/// `COUNT` or `COUNTxTYPE`
fn array(text: &str, fill: Fill) -> Result<Value, String> {
    let (count, ty) = text.split_once('x').unwrap_or((text, "u32"));
    let ty = match scalar_type(ty) {
        Some(ty) if ty != ScalarType::Pred && ty.bits() <= 64 && ty.bits().is_multiple_of(8) => ty,
        _ => return Err(format!("`{ty}` is no element type such as u32 or f32")),
    };
    let count = count.parse().map_err(|_| format!("`{count}` is no number of elements"))?;
    match u64::from(ty.bytes()).checked_mul(count) {
        Some(bytes) if bytes <= LARGEST => Ok(Value::Array { count, ty, fill }),
        _ => Err(format!("an array has at most {LARGEST} bytes")),
    }
}

fn parse_number(text: &str) -> Result<Value, String> {
    let error = || format!("`{text}` is no number, and no kind of array such as zeros:16");
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(error());
    }
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => digits.parse::<i128>().ok(),
    };
    match magnitude {
        Some(value) if value <= i128::from(u64::MAX) => Ok(Value::Integer(if negative { -value } else { value })),
        Some(_) => Err(error()),
        None => text.parse().map(Value::Decimal).map_err(|_| error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let value = |text| parse(text).map(|argument| argument.value);
        assert_eq!(value("-5"), Ok(Value::Integer(-5)));
        assert_eq!(value("0x10"), Ok(Value::Integer(16)));
        assert_eq!(value("1.5"), Ok(Value::Decimal(1.5)));
        assert_eq!(value("1e-3"), Ok(Value::Decimal(1e-3)));
        assert_eq!(value("zeros:4"), Ok(Value::Array { count: 4, ty: ScalarType::U(32), fill: Fill::Zeros }));
        assert_eq!(
            value("random:4xf32:7"),
            Ok(Value::Array { count: 4, ty: ScalarType::F(32), fill: Fill::Random(7) })
        );
        let cells = BTreeMap::from([(UNBOUNDED - 1, 1), (UNBOUNDED, 0xff)]);
        assert_eq!(value("cells:*:01ff@-1"), Ok(Value::Endless(Contents::Cells(cells))));
        assert!(value("cells:4").is_err() && value("cells:*:1@0").is_err() && value("cells:*:01").is_err());
        assert_eq!(value("bytes:00ff"), Ok(Value::Bytes(vec![0, 255])));
        let parts = vec![Value::Endless(Contents::Zero), Value::Bytes(vec![1])];
        assert_eq!(value("parts:zeros:*+bytes:01"), Ok(Value::Parts(parts)));
        assert_eq!(value("zeros:*"), Ok(Value::Endless(Contents::Zero)));
        assert_eq!(value("random:*:7"), Ok(Value::Endless(Contents::Any { seed: 7 })));
        assert_eq!(value("below:*:16"), Ok(Value::Endless(Contents::Small { bound: 16, seed: 1 })));
        assert_eq!(parse("n=3").map(|argument| argument.name), Ok(Some("n".to_string())));
        for wrong in [
            "",
            "x",
            "zeros",
            "zeros:",
            "zeros:x",
            "ones:4",
            "zeros:4xpred",
            "bytes:0",
            "=3",
            "--5",
            "nan",
            "random:4:x",
            "each:4",
            "each:*:",
            "each:*:000000",
            "below:4",
            "below:*",
            "zeros:*:1",
            "random:*x",
            "shared:*",
            "shared:300000",
            "parts:3",
            "parts:same:0",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_of_arguments_read_as_the_same_arguments() {
        let texts = [
            "n=-5",
            "1.5",
            "bytes:00ff",
            "zeros:4xf32",
            "ramp:4xu8",
            "random:4xu32:7",
            "a=zeros:*",
            "random:*:3",
            "below:*:16:2",
            "cells:*:09@-4,0701@4",
            "each:*:ff000000",
            "shared:256xf32",
            "file:data.bin",
            "parts:bytes:00000000+zeros:*",
            "same:a",
        ];
        for text in texts {
            assert_eq!(parse(text).map(|argument| argument.to_string()), Ok(text.to_string()));
        }
    }
}
