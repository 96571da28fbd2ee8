//! Which bytes a bulk operation moves: from where to where.
//!
//! Input: the operands of an operation. Output: [`Piece`]s. Establishes: each piece is within one array and aligned as the
//! instruction asks. Relies on: [`super::access`] for addresses. Reference: PTX ISA, `cp.async.bulk`, `st.async`.

use super::access::{self, Target};
use super::decode::{Access, BulkOperation, Moves, Program};
use super::outcome::{BarrierMisuse, Fault, FaultKind};
use super::thread::Thread;
use super::world::World;

/// Sizes and addresses of plain copies are multiples of so many bytes.
const UNIT: u32 = 16;

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
}

/// Why there are none.
pub(super) enum Wrong {
    Fault(Fault),
    Misuse(BarrierMisuse),
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
            Ok(Moved { pieces: vec![Piece { from, to, bytes }], bytes })
        }
        Moves::Values { to, values, width } => {
            let start = access::find(program, world, thread, &program.accesses[*to as usize])?;
            let piece = |(index, slot)| Piece {
                from: Source::Value(thread.value(slot)),
                to: start.element(index, *width),
                bytes: *width,
            };
            let pieces = (0..).zip(values.iter().copied()).map(piece).collect();
            Ok(Moved { pieces, bytes: width * values.len() as u32 })
        }
    }
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
