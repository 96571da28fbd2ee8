//! Which bytes a bulk operation moves: from where to where.
//!
//! Input: the operands of an operation. Output: [`Piece`]s. Establishes: each piece is within one array and aligned as the
//! instruction asks. Relies on: [`super::access`] for addresses. Reference: PTX ISA, `cp.async.bulk`,
//! `cp.async.bulk.tensor`, `st.async`.

use super::access::{self, Target};
use super::decode::{Access, BulkOperation, Moves, Program, SHARED_BITS};
use super::outcome::{BarrierMisuse, Fault, FaultKind};
use super::tensor::{self, BOX_UNIT, TensorMap};
use super::thread::Thread;
use super::values::atomic::atomic;
use super::values::mask;
use super::world::World;
use crate::ptx::ast::ScalarType;
use crate::ptx::words::type_name;

/// Sizes and addresses of plain copies are multiples of so many bytes.
const UNIT: u32 = 16;

/// A tensor map is two times so many bytes, and starts at a multiple of them.
const MAP_ALIGNMENT: u32 = 64;

/// Bytes that lie one behind the other at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: Source,
    pub(super) to: Target,
    pub(super) bytes: u32,
}

/// What a piece writes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// What is there when it reads.
    Memory(Target),
    /// At most eight bytes, lowest first.
    Value(u64),
}

impl Source {
    /// Where it reads.
    pub(super) fn target(self) -> Option<Target> {
        match self {
            Source::Memory(target) => Some(target),
            Source::Value(_) => None,
        }
    }
}

/// All pieces.
pub(super) struct Moved {
    pub(super) pieces: Vec<Piece>,
    /// Bytes that a barrier object counts.
    pub(super) bytes: u32,
    /// The type of the elements, where a tensor map says so.
    pub(super) ty: Option<ScalarType>,
}

/// Why there are none.
pub(super) enum Wrong {
    Fault(Fault),
    Misuse(BarrierMisuse),
    /// It is not emulated.
    Refused(String),
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Wrong::Fault(fault)
    }
}

/// What an operation moves.
///
/// # Errors
/// An address or an operand is none that the instruction allows.
pub(super) fn of(program: &Program, world: &World, thread: &Thread, operation: &BulkOperation) -> Result<Moved, Wrong> {
    match &operation.moves {
        Moves::Bytes { from, to, size } => {
            let bytes = thread.value(*size) as u32;
            if !bytes.is_multiple_of(UNIT) {
                return Err(Wrong::Misuse(BarrierMisuse::Size));
            }
            let from = Source::Memory(whole(program, world, thread, *from, bytes)?);
            let to = whole(program, world, thread, *to, bytes)?;
            Ok(Moved { pieces: vec![Piece { from, to, bytes }], bytes, ty: None })
        }
        Moves::Tensor { map, coordinates, shared, loads } => {
            let map = tensor_map(program, world, thread, *map)?;
            if map.rank() != coordinates.len() {
                return Err(Wrong::Misuse(BarrierMisuse::Rank));
            }
            if let Some((reduction, _)) = operation.reduction
                && atomic(reduction, map.ty, 0, 0, 0).is_none()
            {
                return Err(Wrong::Refused(format!("a reduction of `{}` that it does not have", type_name(map.ty))));
            }
            let at: Vec<i64> = coordinates.iter().map(|slot| i64::from(thread.value(*slot) as i32)).collect();
            boxed(program, world, thread, &map, (&at, *shared, *loads))
        }
        Moves::Values { to, values, width } => {
            let start = access::find(program, world, thread, &program.accesses[*to as usize])?;
            let piece = |(index, slot)| Piece {
                from: Source::Value(thread.value(slot)),
                to: start.element(index, *width),
                bytes: *width,
            };
            let pieces = (0..).zip(values.iter().copied()).map(piece).collect();
            Ok(Moved { pieces, bytes: width * values.len() as u32, ty: None })
        }
    }
}

/// The tensor map at an address: in the parameters, or in global memory.
fn tensor_map(program: &Program, world: &World, thread: &Thread, access: u32) -> Result<TensorMap, Wrong> {
    let bytes: Vec<u8> = match map_place(program, world, thread, access)? {
        Target::Param(offset) => world.parameters[offset..offset + 2 * MAP_ALIGNMENT as usize].to_vec(),
        Target::Global(array, offset) => {
            (0..2 * u64::from(MAP_ALIGNMENT)).map(|at| world.global.read(array, offset + at, 1) as u8).collect()
        }
        Target::Shared(_) | Target::Local(_) => return Err(no_map()),
    };
    let map = TensorMap::decoded(&bytes).ok_or_else(no_map)?;
    map.check().map_err(Wrong::Refused)?;
    Ok(map)
}

/// Where a tensor map is.
pub(super) fn map_place(program: &Program, world: &World, thread: &Thread, access: u32) -> Result<Target, Fault> {
    let first = Access { bytes: MAP_ALIGNMENT, ..program.accesses[access as usize].clone() };
    let second = Access { offset: first.offset + i64::from(first.bytes), ..first.clone() };
    access::find(program, world, thread, &second)?;
    access::find(program, world, thread, &first)
}

/// A tensor map at an address: where it is, after how many bytes its swizzle repeats (0 if it has none), and which of its bytes
/// matter.
pub(crate) fn map_facts(
    program: &Program,
    world: &World,
    thread: &Thread,
    access: u32,
) -> Option<(Target, u64, Vec<usize>)> {
    let map = tensor_map(program, world, thread, access).ok()?;
    let place = map_place(program, world, thread, access).ok()?;
    Some((place, 8 * map.swizzle, tensor::read_bytes(map.rank())))
}

/// The array of a tensor, and all of its bytes.
pub(crate) fn tensor_bytes(program: &Program, world: &World, thread: &Thread, map: u32) -> Option<(usize, (u64, u64))> {
    let map = tensor_map(program, world, thread, map).ok()?;
    let (array, start) = world.global.find(map.address, 1)?;
    Some((array, (start, start + map.extent())))
}

/// The bytes of the box at these coordinates, in the array of its tensor. The map is that of an operation.
pub(crate) fn box_bytes(
    program: &Program,
    world: &World,
    thread: &Thread,
    (map, at): (u32, &[i64]),
) -> Option<Vec<(u64, u64)>> {
    // Where its pieces are in shared memory does not matter.
    let map = TensorMap { swizzle: 0, ..tensor_map(program, world, thread, map).ok()? };
    let (_, start) = world.global.find(map.address, 1)?;
    let parts = map.parts(at, 0).into_iter();
    let range = |address: u64, bytes: u64| (start + (address - map.address), start + (address - map.address) + bytes);
    Some(parts.filter_map(|part| Some(range(part.address?, part.bytes))).collect())
}

/// Bytes that are no map: of an argument that was chosen without knowing what it is for, so the kernel is not to blame.
fn no_map() -> Wrong {
    Wrong::Refused("there is no tensor map at this address; `--arg NAME=tensor:...` gives one".to_string())
}

/// The pieces of a box. What lies outside of the tensor is not written there.
fn boxed(
    program: &Program,
    world: &World,
    thread: &Thread,
    map: &TensorMap,
    (at, shared, loads): (&[i64], u32, bool),
) -> Result<Moved, Wrong> {
    let access = &program.accesses[shared as usize];
    let address = thread.value(access.base).wrapping_add_signed(access.offset);
    let place = (thread.number, thread.last());
    let fault = |kind, bytes| Fault { place, kind, address, dynamic: None, bytes, values: Vec::new() };
    let bytes = u32::try_from(map.box_bytes()).map_err(|_| fault(FaultKind::Bounds, u32::MAX))?;
    let start = whole(program, world, thread, shared, bytes)?;
    if !address.is_multiple_of(BOX_UNIT) {
        return Err(fault(FaultKind::Alignment, BOX_UNIT as u32).into());
    }
    let mut pieces = Vec::new();
    for part in map.parts(at, address & mask(SHARED_BITS)) {
        let (memory, bytes) = (start.element(part.offset as u32, 1), part.bytes as u32);
        let global = match part.address {
            None => None,
            Some(address) => {
                let found = world.global.find(address, part.bytes);
                let fault = Fault { address, ..fault(FaultKind::Bounds, bytes) };
                Some(found.map(|(array, offset)| Target::Global(array, offset)).ok_or(fault)?)
            }
        };
        match global {
            Some(from) if loads => pieces.push(Piece { from: Source::Memory(from), to: memory, bytes }),
            Some(to) => pieces.push(Piece { from: Source::Memory(memory), to, bytes }),
            None if loads => {
                let fill = |first: u32| Piece {
                    from: Source::Value(map.filler()),
                    to: memory.element(first, 1),
                    bytes: (bytes - first).min(8),
                };
                pieces.extend((0..bytes).step_by(8).map(fill));
            }
            None => {}
        }
    }
    Ok(Moved { pieces, bytes, ty: Some(map.ty) })
}

/// Where a plain copy reads or writes: all of it is in one array, or it is a fault.
fn whole(program: &Program, world: &World, thread: &Thread, access: u32, bytes: u32) -> Result<Target, Fault> {
    let first = Access { bytes: UNIT, elements: 1, ..program.accesses[access as usize].clone() };
    let last = Access { offset: first.offset + i64::from(bytes.saturating_sub(UNIT)), ..first.clone() };
    let start = access::find(program, world, thread, &first)?;
    let end = access::find(program, world, thread, &last)?;
    let is_one = match (start, end) {
        (Target::Global(array, offset), Target::Global(other, last)) => {
            array == other && last - offset == u64::from(bytes.saturating_sub(UNIT))
        }
        (Target::Shared(offset), Target::Shared(last)) => last.wrapping_sub(offset) == bytes.saturating_sub(UNIT),
        _ => false,
    };
    let address = thread.value(first.base).wrapping_add_signed(first.offset);
    let place = (thread.number, thread.last());
    let fault = Fault { place, kind: FaultKind::Bounds, address, dynamic: None, bytes, values: Vec::new() };
    is_one.then_some(start).ok_or(fault)
}
