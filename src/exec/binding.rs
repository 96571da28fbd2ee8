//! What the parameters of an emulated launch hold.
//!
//! Input: an entry and [`Argument`]s. Output: bytes of each parameter, and the arrays and buffers that they point to.
//! Establishes: every parameter has exactly one argument that fits it; a pointer to shared memory has the form that the kernel
//! takes it for. Relies on: nothing. Reference: PTX ISA, "Kernel Function Parameter Attribute: .ptr".

use super::arguments::{Argument, Fill, LARGEST, Value};
use super::decode::Windows;
use super::launch::{Array, Contents, SharedBuffer, array_address};
use super::memory::UNBOUNDED;
use super::tensor::TensorMap;
use super::tensor_argument::{NewData, TensorArgument, TensorData};
use super::values::float::{Format, Rounding};
use super::values::hash;
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Function, Instruction, Item, Module, Op, ScalarType, StateSpace, Variable};
use crate::ptx::words::type_name;

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
            return Err(error(message).note("give each one an `--arg`: a number, an array such as zeros:1024xf32, or shared:64xf32 for a pointer to shared memory"));
        };
        if let Value::Parts(parts) = value {
            let bytes = structure(module, parameter, parts, &mut bound).map_err(&error)?;
            pointers.push(None);
            bound.parameters.push(bytes);
            continue;
        }
        if let Value::Tensor(tensor) = value {
            let TensorArgument { map, data } = &**tensor;
            let pointer = match data {
                TensorData::New(fill) => new_tensor(module, parameter, map, *fill, &mut bound).map_err(&error)?,
                TensorData::Of { other, distance } => {
                    earlier(entry, &pointers, other).map_err(&error)?.behind(*distance)
                }
            };
            let bytes = tensor_map(module, parameter, map, pointer, &mut bound).map_err(&error)?;
            bound.parameters.push(bytes);
            pointers.push(Some(pointer));
            continue;
        }
        let pointer = match value {
            Value::Same { other, distance } => {
                Some(earlier(entry, &pointers, other).map_err(&error)?.behind(*distance))
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

/// The array of an earlier parameter.
fn earlier(entry: &Function, pointers: &[Option<Pointer>], other: &str) -> Result<Pointer, String> {
    let found = entry.parameter_or_position(other).and_then(|at| pointers.get(at).copied().flatten());
    found.ok_or_else(|| format!("no earlier parameter `{other}` is an array"))
}

/// A new array for a tensor.
fn new_tensor(
    module: &Module,
    parameter: &Variable,
    map: &TensorMap,
    data: NewData,
    bound: &mut Bound,
) -> Result<Pointer, String> {
    let fill = match data {
        NewData::Zeros => Fill::Zeros,
        NewData::Ramp => Fill::Ramp,
        NewData::Random => Fill::Random(1),
    };
    let count = map.extent() / u64::from(map.ty.bytes());
    if map.extent() > LARGEST {
        return Err(format!("tensor: an array has at most {LARGEST} bytes, and this tensor {}", map.extent()));
    }
    let (size, contents) = contents(&Value::Array { count, ty: map.ty, fill })?;
    bound.arrays.push(Array { name: parameter.name.to_string(), size, contents });
    Ok(Pointer::Global(array_address(bound.arrays.len() - 1, module.address_size)))
}

/// The parameter of a tensor map for a tensor at a place: the map itself, or a pointer to one in global memory.
fn tensor_map(
    module: &Module,
    parameter: &Variable,
    map: &TensorMap,
    pointer: Pointer,
    bound: &mut Bound,
) -> Result<Vec<u8>, String> {
    let Pointer::Global(address) = pointer else {
        return Err("tensor: of: a tensor is in global memory".to_string());
    };
    if !address.is_multiple_of(16) {
        return Err("tensor: of: a tensor starts at a multiple of 16 bytes".to_string());
    }
    let mut map = map.clone();
    map.address = address;
    let (bytes, width) = (map.encoded(), module.address_size as usize / 8);
    let (whole, pointer) = (bytes.len() as u64, width as u64);
    match parameter.size {
        Some(size) if size == whole => Ok(bytes),
        Some(size) if size == pointer => {
            let name = format!("{} (the map)", parameter.name);
            bound.arrays.push(Array { name, size: whole, contents: Contents::Bytes(bytes) });
            let address = array_address(bound.arrays.len() - 1, module.address_size);
            Ok(address.to_le_bytes()[..width].to_vec())
        }
        _ => Err(format!("a tensor map has {whole} bytes, and parameter `{}` has not", parameter.name)),
    }
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
