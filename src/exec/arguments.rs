//! Arguments of an emulated launch, and their text on the command line.
//!
//! Input: texts such as `17`, `1.5`, `zeros:1024xf32`, `random:256:7`, `zeros:*` or `n=3`, or [`Argument`]s. Output: bytes of
//! each parameter and the arrays that they point to; the text of an argument, which reads as the same argument.
//! Establishes: every parameter has exactly one argument that fits it.

use super::decode::{SHARED_BITS, Windows};
use super::launch::{Array, Contents, SharedBuffer, array_address};
use super::memory::UNBOUNDED;
use super::values::float::{Format, Rounding};
use super::values::hash;
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Function, Instruction, Item, Module, Op, ScalarType, StateSpace, Variable};
use crate::ptx::words::{scalar_type, type_name};
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of an array argument at most.
const LARGEST: u64 = 1 << 34;

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
        "bytes" => hexadecimal(rest).map(Value::Bytes),
        _ => Err(format!(
            "unknown kind `{kind}`; there are zeros, ramp, random, below, each, cells, shared, file, bytes, parts and same"
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

/// Parameters and arrays of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Bytes of each parameter.
    pub(crate) parameters: Vec<Vec<u8>>,
    /// Global arrays.
    pub(crate) arrays: Vec<Array>,
    /// Buffers in shared memory.
    pub(crate) shared_buffers: Vec<SharedBuffer>,
}

impl Bound {
    /// A new buffer in shared memory: its address there.
    fn push_shared(&mut self, name: String, count: u64, ty: ScalarType) -> Pointer {
        let size = (u64::from(ty.bytes()) * count) as u32;
        self.shared_buffers.push(SharedBuffer { name, size });
        Pointer::Shared(SharedBuffer::address(self.shared_buffers.len() - 1))
    }
}

/// What a parameter points to.
#[derive(Clone, Copy)]
enum Pointer {
    /// An address in global memory.
    Global(u64),
    /// An address in the shared memory of the block.
    Shared(u64),
}

impl Pointer {
    /// So many bytes further.
    fn behind(self, distance: i64) -> Pointer {
        match self {
            Pointer::Global(address) => Pointer::Global(address.wrapping_add_signed(distance)),
            Pointer::Shared(address) => Pointer::Shared(address.wrapping_add_signed(distance)),
        }
    }

    /// What the parameter holds, and how many bytes it may have. An address of shared memory has no more than 32 bits.
    fn bits(self, module: &Module, parameter: &Variable) -> (u64, [u64; 2]) {
        let width = u64::from(module.address_size / 8);
        match self {
            Pointer::Global(address) => (address, [width; 2]),
            Pointer::Shared(address) if is_of_space(module, parameter) => (address, [4, width]),
            Pointer::Shared(address) => (Windows::new(module.address_size).shared + address, [width; 2]),
        }
    }
}

/// Whether a parameter that points to shared memory holds an address of that space, and no generic one: `.ptr .shared` says so
/// (PTX, "Kernel Function Parameter Attribute: .ptr"); of other parameters, that no instruction makes such addresses of
/// generic ones.
fn is_of_space(module: &Module, parameter: &Variable) -> bool {
    let is_shared = |space: StateSpace| matches!(space, StateSpace::Shared | StateSpace::SharedCluster);
    if let Some(space) = parameter.pointer {
        return is_shared(space);
    }
    let mut items = module.functions.iter().filter_map(|f| f.body.as_ref()).flat_map(|body| &body.items);
    !items.any(|item| match item {
        Item::Instruction(Instruction { op: Op::Cvta { from_generic: true, space, .. }, .. }) => is_shared(*space),
        _ => false,
    })
}

/// Gives each parameter of an entry its argument.
pub(crate) fn bind(module: &Module, entry: &Function, arguments: &[Argument]) -> Result<Bound, Diagnostic> {
    let error = |message: String| Diagnostic::error("argument", message, entry.span);
    let mut chosen: Vec<Option<&Value>> = vec![None; entry.params.len()];
    for argument in arguments {
        let position = match &argument.name {
            Some(name) => {
                entry.parameter_or_position(name).ok_or_else(|| error(format!("no parameter is named `{name}`")))?
            }
            None => match chosen.iter().position(Option::is_none) {
                Some(position) => position,
                None => return Err(error(format!("`{}` has only {} parameters", entry.name, entry.params.len()))),
            },
        };
        if chosen[position].replace(&argument.value).is_some() {
            return Err(error(format!("parameter `{}` has two arguments", entry.params[position].name)));
        }
    }
    let mut bound = Bound::default();
    let mut pointers: Vec<Option<Pointer>> = Vec::new();
    for (parameter, value) in entry.params.iter().zip(chosen) {
        let Some(value) = value else {
            let message = format!("parameter `{}` (.{}) has no argument", parameter.name, type_text(parameter));
            return Err(error(message).note("give each one an `--arg`: a number, or an array such as zeros:1024xf32"));
        };
        if let Value::Parts(parts) = value {
            let bytes = structure(module, parameter, parts, &mut bound).map_err(&error)?;
            pointers.push(None);
            bound.parameters.push(bytes);
            continue;
        }
        let pointer = match value {
            Value::Same { other, distance } => {
                let earlier = entry.parameter_or_position(other).and_then(|at| pointers.get(at).copied().flatten());
                let start = earlier.ok_or_else(|| error(format!("no earlier parameter `{other}` is an array")))?;
                Some(start.behind(*distance))
            }
            Value::Shared { count, ty } => Some(bound.push_shared(parameter.name.to_string(), *count, *ty)),
            Value::Array { .. } | Value::Endless(_) | Value::File(_) => {
                let (size, contents) = contents(value).map_err(&error)?;
                bound.arrays.push(Array { name: parameter.name.to_string(), size, contents });
                Some(Pointer::Global(array_address(bound.arrays.len() - 1, module.address_size)))
            }
            _ => None,
        };
        let bytes = match pointer.map(|pointer| pointer.bits(module, parameter)) {
            Some((bits, bytes)) if parameter.size.is_some_and(|size| bytes.contains(&size)) => {
                bits.to_le_bytes().into_iter().take(parameter.size.unwrap_or(0) as usize).collect()
            }
            Some(_) => return Err(error(format!("parameter `{}` cannot hold a pointer", parameter.name))),
            None => scalar(parameter, value).ok_or_else(|| {
                error(format!("this argument does not fit parameter `{}` (.{})", parameter.name, type_text(parameter)))
            })?,
        };
        pointers.push(pointer);
        bound.parameters.push(bytes);
    }
    Ok(bound)
}

/// The bytes of a structure, whose arrays are added to the launch.
fn structure(module: &Module, parameter: &Variable, parts: &[Value], bound: &mut Bound) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for part in parts {
        if let Value::Bytes(plain) = part {
            bytes.extend(plain);
            continue;
        }
        let name =
            if bytes.is_empty() { parameter.name.to_string() } else { format!("{}.{}", parameter.name, bytes.len()) };
        let pointer = if let Value::Shared { count, ty } = part {
            bound.push_shared(name, *count, *ty)
        } else {
            let (size, contents) = contents(part)?;
            bound.arrays.push(Array { name, size, contents });
            Pointer::Global(array_address(bound.arrays.len() - 1, module.address_size))
        };
        let (bits, _) = pointer.bits(module, parameter);
        bytes.extend(&bits.to_le_bytes()[..module.address_size as usize / 8]);
    }
    match parameter.size {
        Some(size) if size == bytes.len() as u64 => Ok(bytes),
        _ => Err(format!("the parts for `{}` have {} bytes together", parameter.name, bytes.len())),
    }
}

fn type_text(parameter: &Variable) -> String {
    type_name(parameter.ty)
}

fn scalar(parameter: &Variable, value: &Value) -> Option<Vec<u8>> {
    let size = usize::try_from(parameter.size?).ok()?;
    let bits = match (value, Format::of(parameter.ty)) {
        (Value::Bytes(bytes), _) => return (bytes.len() == size).then(|| bytes.clone()),
        (Value::Integer(value), Some(format)) => float_bits(format, *value as f64),
        (Value::Decimal(value), Some(format)) => float_bits(format, *value),
        (Value::Integer(value), None) if size <= 8 => {
            let limit = 1i128 << (8 * size);
            if *value >= limit || *value < -(limit / 2) {
                return None;
            }
            *value as u64
        }
        _ => return None,
    };
    bits.to_le_bytes().get(..size).map(<[u8]>::to_vec)
}

fn float_bits(format: Format, value: f64) -> u64 {
    if format == Format::F64 { value.to_bits() } else { format.round(value, Rounding::NearestEven) }
}

/// Size in bytes and contents of a new array.
fn contents(value: &Value) -> Result<(u64, Contents), String> {
    match value {
        Value::Endless(contents) => Ok((UNBOUNDED, contents.clone())),
        Value::File(path) => {
            let bytes = std::fs::read(path).map_err(|error| format!("cannot read `{path}`: {error}"))?;
            Ok((bytes.len() as u64, Contents::Bytes(bytes)))
        }
        Value::Array { count, ty, fill } => {
            let width = ty.bytes() as usize;
            let size = count * width as u64;
            if *fill == Fill::Zeros {
                return Ok((size, Contents::Zero));
            }
            let mut bytes = Vec::with_capacity(size as usize);
            for index in 0..*count {
                let bits = match (fill, Format::of(*ty)) {
                    (Fill::Random(seed), Some(format)) => {
                        let fraction = (hash(*seed, index) >> 11) as f64 / (1u64 << 53) as f64;
                        float_bits(format, fraction)
                    }
                    (Fill::Random(seed), None) => hash(*seed, index),
                    (_, Some(format)) => float_bits(format, index as f64),
                    (_, None) => index,
                };
                bytes.extend(&bits.to_le_bytes()[..width]);
            }
            Ok((size, Contents::Bytes(bytes)))
        }
        _ => Err("this argument is no array".to_string()),
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
