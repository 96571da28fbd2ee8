//! Instructions that others see: accesses of memory, barriers, barrier objects, copies.
//!
//! Input: an instruction, registers. Output: an [`Event`](super::event::Event). Establishes: it is the same in every execution, or refused. A wait that says
//! `false` leads back to itself. Relies on: [`super::value`]. Reference: PTX ISA, `mbarrier`, `bar`, `cp.async.bulk`.

use super::event::{Action, Refusal, Tile, Why};
use super::thread::Follower;
use super::value::Value;
use crate::exec::decode::{Access, Code, Moves, ObjectKind, Slot, Space, WarpKind};
use crate::exec::values::mask;
use crate::ptx::descriptor::{self, UNIT};
use crate::sync::taint::Part;

/// Up to this alignment a variable has the one that is declared.
const LEAST: u32 = 16;

/// Instructions from a wait back to it.
const SPIN: usize = 64;

impl Follower<'_> {
    /// Bytes of shared memory: offset in that of the block. The address has to be a multiple of `align`.
    fn place(&self, at: u32, access: &Access, bytes: u32, align: u32) -> Result<u32, Refusal> {
        let refuse = |why| Refusal { code: at, why };
        let Value::Place { variable, generic, offset } = self.get(access.base) else {
            return Err(refuse(Why::Address));
        };
        let is_shared = match access.space {
            Space::Shared => !generic,
            Space::Generic => generic,
            _ => false,
        };
        let offset = offset.value().filter(|_| is_shared).ok_or(refuse(Why::Address))?;
        let width = if generic { 64 } else { 32 };
        let offset = offset.wrapping_add_signed(access.offset) & mask(width);
        let shared = &self.kernel.program.shared[variable as usize];
        let end = offset.checked_add(u64::from(bytes)).ok_or(refuse(Why::Address))?;
        if end > u64::from(shared.size) {
            return Err(refuse(Why::Address));
        }
        // Elsewhere the variable may stand at another multiple of its alignment.
        let is_aligned = match align {
            0..=LEAST => shared.align.is_multiple_of(align),
            _ => self.kernel.placements.borrow_mut().is_aligned(self.kernel.program, variable as u16, align.into()),
        };
        if !offset.is_multiple_of(u64::from(align)) || !is_aligned {
            return Err(refuse(Why::Aligned));
        }
        Ok(shared.offset + offset as u32)
    }

    pub(super) fn access(&mut self, at: u32, index: u32, writes: bool) -> Result<(), Refusal> {
        let access = &self.kernel.program.accesses[index as usize];
        let bytes = access.bytes * access.elements;
        let is_shared = match (access.space, self.get(access.base)) {
            (Space::Shared, _) | (Space::Generic, Value::Place { .. }) => true,
            (Space::Generic, Value::Array(_)) | (Space::Global | Space::Local | Space::Param, _) => false,
            (Space::Generic, _) => return Err(Refusal { code: at, why: Why::Address }),
        };
        if is_shared {
            let place = self.place(at, access, bytes, bytes)?;
            self.emit(at, Action::Access { at: place, bytes, writes });
        } else if writes && access.space != Space::Local {
            self.writes(access);
        }
        if !writes {
            self.forget(access);
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, access: &Access) {
        access.data.iter().flatten().for_each(|(slot, _)| self.set(*slot, Value::Any));
    }

    /// Global memory is written.
    pub(super) fn writes(&mut self, access: &Access) {
        match self.get(access.base) {
            Value::Array(array) => {
                self.arrays.written.insert(array);
            }
            _ => self.arrays.any_written = true,
        }
    }

    fn fixed(&self, at: u32, slot: Slot) -> Result<u32, Refusal> {
        let value = self.get(slot).value().ok_or(Refusal { code: at, why: Why::Barrier })?;
        Ok((value & mask(32)) as u32)
    }

    pub(super) fn barrier(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let barrier = &self.kernel.program.barriers[index as usize];
        if barrier.reduction.is_some() {
            return Err(Refusal { code: at, why: Why::Instruction });
        }
        let id = self.fixed(at, barrier.id)?;
        let count = barrier.count.map(|slot| self.fixed(at, slot)).transpose()?;
        let (arrives, aligned) = (barrier.arrive, barrier.aligned);
        self.emit(at, Action::Barrier { id, count, arrives, aligned });
        Ok(())
    }

    pub(super) fn warp(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let operation = &self.kernel.program.warp_operations[index as usize];
        if let WarpKind::Registers { .. } = operation.kind {
            self.emit(at, Action::Warp { members: u32::MAX, orders: false });
            self.emit(at, Action::Together);
            return Ok(());
        }
        let (Some(members), false) = (operation.mask, operation.kind == WarpKind::Meeting) else {
            return Err(Refusal { code: at, why: Why::Instruction });
        };
        let members = self.fixed(at, members)?;
        operation.d.iter().flatten().for_each(|(slot, _)| self.set(*slot, Value::Any));
        if operation.kind == WarpKind::Elect {
            // Where all are asked, it is the same lane each time; which one is not said.
            if members != u32::MAX {
                return Err(Refusal { code: at, why: Why::Instruction });
            }
            self.elects = true;
            if let Some((slot, _)) = operation.d[1] {
                self.set(slot, Value::constant(u64::from(self.is_elected)));
            }
        }
        self.emit(at, Action::Warp { members, orders: operation.kind == WarpKind::Barrier });
        Ok(())
    }

    pub(super) fn object(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let operation = &self.kernel.program.objects[index as usize];
        let place = self.place(at, &self.kernel.program.accesses[operation.access as usize], 8, 8)?;
        let refuse = |why| Err(Refusal { code: at, why });
        let action = match operation.kind {
            ObjectKind::Initialise { count } => Action::Initialise { at: place, count: self.fixed(at, count)? },
            ObjectKind::Arrive { count, bytes, drops: false, incomplete: false } if operation.ordered => {
                let count = count.map_or(Ok(1), |slot| self.fixed(at, slot))?;
                let bytes = bytes.map_or(Ok(0), |slot| self.fixed(at, slot))?;
                Action::Arrive { at: place, count, bytes }
            }
            ObjectKind::Wait { phase, parity: true, .. } if operation.ordered => {
                let parity = self.fixed(at, phase)?;
                if parity > 1 {
                    return refuse(Why::Barrier);
                }
                let Some((d, _)) = operation.d else { return refuse(Why::Spin) };
                let wait = Action::Wait { at: place, parity };
                if let Err(refusal) = self.spin(at, d) {
                    if self.spins {
                        return Err(refusal);
                    }
                    self.emit(at, wait);
                    return self.peek(wait, d).ok_or(refusal);
                }
                self.set(d, Value::constant(1));
                wait
            }
            _ => return refuse(Why::Instruction),
        };
        if let (Some((slot, _)), false) = (operation.d, matches!(action, Action::Wait { .. })) {
            self.set(slot, Value::Any);
        }
        self.emit(at, action);
        Ok(())
    }

    /// The way on which a wait says `false` leads back to it, and leaves no trace.
    fn spin(&mut self, at: u32, d: Slot) -> Result<(), Refusal> {
        let before = self.state.clone();
        if std::mem::replace(&mut self.spins, true) {
            return Err(Refusal { code: at, why: Why::Spin });
        }
        let events = self.events.len();
        self.set(d, Value::constant(0));
        let mut is_back = false;
        for _ in 0..SPIN {
            let next = self.state.next as usize;
            // A guard goes with its instruction.
            let is_it = self.state.next == at
                || self.state.next + 1 == at && matches!(self.kernel.program.code[next], Code::Skip { .. });
            if is_it {
                is_back = true;
                break;
            }
            let is_other = matches!(self.kernel.program.code[next], Code::Object(_) | Code::Barrier(_) | Code::Warp(_));
            if is_other || self.step().is_err() || self.has_ended || self.events.len() != events {
                break;
            }
        }
        self.has_ended = false;
        let after = std::mem::replace(&mut self.state, before);
        self.events.truncate(events);
        self.spins = false;
        let pairs = self.state.registers.iter().zip(&after.registers).enumerate();
        let is_same = pairs.into_iter().all(|(slot, (before, after))| before == after || slot == usize::from(d));
        let is_guarded = is_back && after.next != at && {
            let Code::Skip { p, when } = self.kernel.program.code[after.next as usize] else {
                return Err(Refusal { code: at, why: Why::Spin });
            };
            after.registers[usize::from(p)].value().is_none_or(|value| (value & 1 == 1) == when)
        };
        match is_back && is_same && !is_guarded {
            true => Ok(()),
            false => Err(Refusal { code: at, why: Why::Spin }),
        }
    }

    /// `cp.async.bulk`, `cp.async.bulk.tensor` into shared memory.
    pub(super) fn copy(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let program = self.kernel.program;
        let operation = &program.bulk_operations[index as usize];
        let refuse = |why| Err(Refusal { code: at, why });
        let (Some(object), None, None) = (operation.object, &operation.reduction, operation.multicast) else {
            return refuse(Why::Instruction);
        };
        let (array, to, bytes, align) = match &operation.moves {
            Moves::Bytes { from, to, size } => {
                let bytes = self.fixed(at, *size)?;
                let from = &program.accesses[*from as usize];
                let Value::Array(array) = self.get(from.base) else { return refuse(Why::Source) };
                if !matches!(from.space, Space::Global | Space::Generic) || !bytes.is_multiple_of(16) {
                    return refuse(Why::Instruction);
                }
                (array, *to, bytes, 16)
            }
            Moves::Tensor { map, coordinates, shared, loads: true } => {
                let (array, bytes) =
                    self.whole_box(*map, coordinates.len()).ok_or(Refusal { code: at, why: Why::TensorMap })?;
                (array, *shared, bytes, 128)
            }
            _ => return refuse(Why::Instruction),
        };
        self.arrays.copied.entry(array).or_insert(at);
        let to = self.place(at, &program.accesses[to as usize], bytes, align)?;
        let object = self.place(at, &program.accesses[object as usize], 8, 8)?;
        self.emit(at, Action::Copy { to, bytes, object });
        Ok(())
    }

    /// A tensor map at an address: its parameter, and the bytes of a box, all of which a copy writes, wherever it is.
    fn whole_box(&self, map: u32, rank: usize) -> Option<(u32, u32)> {
        let access = &self.kernel.program.accesses[map as usize];
        let Value::Parameter(offset) = self.get(access.base) else { return None };
        let map = self.kernel.maps.get(&offset.checked_add_signed(access.offset)?)?;
        Some((map.array as u32, map.bytes.filter(|_| map.rank == rank)?))
    }

    /// `wgmma.mma_async`
    pub(super) fn product(&mut self, at: u32, index: u32) -> Result<(), Refusal> {
        let product = &self.kernel.program.products[index as usize];
        let a = product.a.map(|one| self.tile(at, one)).transpose()?;
        let b = self.tile(at, product.b)?;
        self.emit(at, Action::Product { a, b });
        Ok(())
    }

    /// A matrix of which all bytes are in one variable, which is aligned as its swizzle needs.
    fn tile(&self, at: u32, (slot, rows, is_transposed): (Slot, u32, bool)) -> Result<Tile, Refusal> {
        let program = self.kernel.program;
        let refuse = |why| Err(Refusal { code: at, why });
        let Value::Bits { variable, part: Part::Whole(4) | Part::Field(4), value } = self.get(slot) else {
            return refuse(Why::Address);
        };
        let Some((_, period)) = descriptor::place(value) else { return refuse(Why::Instruction) };
        if !self.kernel.placements.borrow_mut().is_aligned(program, variable, period) {
            return refuse(Why::Aligned);
        }
        let tile = Tile { descriptor: value, rows, is_transposed };
        let variable = &program.shared[usize::from(variable)];
        let (start, end) = (variable.offset, u64::from(variable.offset) + u64::from(variable.size));
        let is_inside = |piece: u32| piece >= start && u64::from(piece) + UNIT <= end;
        let mut known = self.kernel.tiles.borrow_mut();
        if !known.contains(&tile) && !tile.pieces().into_iter().all(is_inside) {
            return refuse(Why::Address);
        }
        known.insert(tile);
        Ok(tile)
    }
}
