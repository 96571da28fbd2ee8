//! Arguments for the parameters of a kernel, and where each of their bytes comes from.
//!
//! Input: a kernel, and the scalars that the user fixed. Output: [`Bound`]. Establishes: a byte that the user did not fix is
//! a part of an address, or has the bit of its parameter among the values that the tool chose. Relies on: pointers have as
//! many bytes as addresses; a number that is taken for one is refused where its value matters.
//! Reference: none.

use super::taint::{Byte, Taint};
use crate::exec::arguments::{Argument, Value};
use crate::exec::decode::Place;
use crate::exec::launch::Contents;
use crate::exec::tensor_argument::{TensorArgument, TensorData};
use crate::ptx::ast::{AddressBase, Function, Item, Op, ScalarType, StateSpace, Variable, VariableRef};
use std::collections::BTreeMap;

/// Arguments of a launch.
pub(crate) struct Bound {
    pub(crate) arguments: Vec<Argument>,
    /// Of each byte of each parameter.
    pub(crate) bytes: Vec<Vec<Byte>>,
    /// Names and values that the tool chose, by the bit in [`Taint::chosen`]; the last bit may stand for several.
    pub(crate) chosen: Vec<(String, String)>,
    /// Arrays in global memory.
    pub(crate) arrays: usize,
}

/// Bits of [`Taint::chosen`].
const BITS: usize = 64;

/// What the user fixed, by name or position of a parameter.
pub(crate) struct Given<'a> {
    /// Scalars; a field of a structure as `name.offset`. Later ones win.
    pub(crate) scalars: &'a [(String, i128)],
    /// Tensor maps.
    pub(crate) tensors: &'a [(String, TensorArgument)],
}

/// Binds all parameters.
///
/// # Errors
/// A parameter that this does not know how to choose: its name.
pub(crate) fn bind(entry: &Function, address_bits: u32, given: &Given<'_>, number: i128) -> Result<Bound, String> {
    let mut bound = Bound { arguments: Vec::new(), bytes: Vec::new(), chosen: Vec::new(), arrays: 0 };
    let pointer_bytes = u64::from(address_bits / 8);
    for (position, parameter) in entry.params.iter().enumerate() {
        let whole = given.scalars.iter().rev().find(|(key, _)| entry.parameter_or_position(key) == Some(position));
        let size = parameter.size.ok_or_else(|| parameter.name.to_string())?;
        let is_number = size == u64::from(parameter.ty.bytes());
        let in_shared = matches!(parameter.pointer, Some(StateSpace::Shared | StateSpace::SharedCluster));
        let tensor = given.tensors.iter().rev().find(|(key, _)| entry.parameter_or_position(key) == Some(position));
        if let Some((_, tensor)) = tensor {
            bound.arrays += usize::from(matches!(tensor.data, TensorData::New(_)));
            bound.arguments.push(Argument::of(&parameter.name, Value::Tensor(Box::new(tensor.clone()))));
            // A pointer to a map, or the map itself.
            bound.bytes.push(match size == pointer_bytes {
                true => Byte::all(Taint::address(Place::Global), size as u32).collect(),
                false => fixed(size),
            });
            continue;
        }
        let (value, bytes) = match whole {
            _ if in_shared => return Err(parameter.name.to_string()),
            Some((_, value)) if is_number => (Value::Integer(*value), fixed(size)),
            None if is_number && size == pointer_bytes && !parameter.ty.is_float() => bound.array(size),
            None if is_number => bound.number(parameter, size, number),
            _ => bound.structure(entry, (position, parameter), (size, pointer_bytes), given.scalars),
        };
        bound.arguments.push(Argument::of(&parameter.name, value));
        bound.bytes.push(bytes);
    }
    Ok(bound)
}

fn fixed(size: u64) -> Vec<Byte> {
    Byte::all(Taint::FIXED, size as u32).collect()
}

impl Bound {
    /// A pointer to an array of its own.
    fn array(&mut self, size: u64) -> (Value, Vec<Byte>) {
        self.arrays += 1;
        let bytes = Byte::all(Taint::address(Place::Global), size as u32).collect();
        (Value::Endless(Contents::Zero), bytes)
    }

    /// The bit for one more value that the tool chooses.
    fn choose(&mut self, name: String, value: String) -> Taint {
        self.chosen.push((name, value));
        Taint { chosen: 1 << (self.chosen.len() - 1).min(BITS - 1), ..Taint::FIXED }
    }

    fn number(&mut self, parameter: &Variable, size: u64, number: i128) -> (Value, Vec<Byte>) {
        let (value, text) = match parameter.ty.is_float() {
            true if matches!(parameter.ty, ScalarType::F(32 | 64)) => (Value::Decimal(1.0), "1".to_string()),
            true => (Value::Bytes(vec![0; size as usize]), "0".to_string()),
            false => {
                let number = number.min((1 << (8 * size.min(8) - 1)) - 1);
                (Value::Integer(number), number.to_string())
            }
        };
        let taint = self.choose(parameter.name.to_string(), text);
        (value, Byte::all(taint, size as u32).collect())
    }

    /// A structure: words that nobody fixed are pointers.
    fn structure(
        &mut self,
        entry: &Function,
        (position, parameter): (usize, &Variable),
        (size, pointer_bytes): (u64, u64),
        given: &[(String, i128)],
    ) -> (Value, Vec<Byte>) {
        let prefix = format!("{}.", parameter.name);
        let fields = given.iter().filter_map(|(key, value)| Some((key.strip_prefix(&prefix)?.parse().ok()?, *value)));
        let fields: BTreeMap<u64, i128> = fields.filter(|(offset, _)| *offset < size).collect();
        let mut known: BTreeMap<u64, u8> = BTreeMap::new();
        for (offset, value) in fields {
            let width = width_at(entry, position, offset).unwrap_or(4).min(size - offset).min(8);
            let bytes = (value as u64).to_le_bytes();
            known.extend((offset..offset + width).zip(bytes));
        }
        let (mut parts, mut bytes) = (Vec::new(), Vec::new());
        let mut plain: Vec<u8> = Vec::new();
        let mut at = 0;
        while at < size {
            let is_pointer = at + pointer_bytes <= size && known.range(at..at + pointer_bytes).next().is_none();
            if is_pointer {
                if !plain.is_empty() {
                    parts.push(Value::Bytes(std::mem::take(&mut plain)));
                }
                let (value, of) = self.array(pointer_bytes);
                parts.push(value);
                bytes.extend(of);
                at += pointer_bytes;
                continue;
            }
            for at in at..(at + pointer_bytes).min(size) {
                let taint = match known.get(&at) {
                    Some(_) => Taint::FIXED,
                    None => self.choose(format!("byte {at} of {}", parameter.name), "0".to_string()),
                };
                plain.push(known.get(&at).copied().unwrap_or(0));
                bytes.extend(Byte::all(taint, 1));
            }
            at += pointer_bytes;
        }
        if parts.is_empty() {
            return (Value::Bytes(plain), bytes);
        }
        if !plain.is_empty() {
            parts.push(Value::Bytes(plain));
        }
        (Value::Parts(parts), bytes)
    }
}

/// How many bytes the kernel reads at an offset of a parameter.
fn width_at(entry: &Function, position: usize, offset: u64) -> Option<u64> {
    let items = entry.body.iter().flat_map(|body| &body.items);
    let widths = items.filter_map(|item| {
        let Item::Instruction(instruction) = item else { return None };
        let Op::Load { space: StateSpace::Param, ty, address, .. } = &instruction.op else { return None };
        let is_it = matches!(address.base, AddressBase::Variable(VariableRef::Param(index)) if index as usize == position)
            && u64::try_from(address.offset) == Ok(offset);
        is_it.then_some(u64::from(ty.bytes()))
    });
    widths.max()
}
