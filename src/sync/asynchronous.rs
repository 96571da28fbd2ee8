//! Copies that go on beside their threads, and barrier objects, as far as where values come from goes.
//!
//! Input: an operation that is executed next; where copies have written. Output: the [`Taint`] of what it leaves.
//! Establishes: where a copy reads and writes, how much, which object is meant, counts, bytes and phases are not open; what a
//! copy brings is. Relies on: the state that an object returns names its phase and its pending arrivals: nothing but a
//! wait may look at it, for the phase is fixed and what is pending is not. A wait answers `true` in the end ([`super::spin`]).
//! Reference: `exec::agents`, `exec::bulk`, `exec::objects`, which it mirrors.

use super::alike::accesses::How;
use super::follow::{Flow, Refusal, What};
use super::own::{ALWAYS, Own};
use super::taint::{ByBlock, Byte, Cause, Taint};
use crate::exec::access::Target;
use crate::exec::decode::{BulkOperation, MapOperation, Moves, ObjectKind, Place, Slot, Space};
use crate::exec::moves;
use crate::exec::tensor;
use crate::exec::thread::Thread;
use crate::exec::world::World;

impl Flow<'_> {
    pub(super) fn copy_size(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let copy = &self.program.async_copies[index as usize];
        if let Some((slot, _)) = copy.taken {
            self.need(own.get(slot), What::Size, at)?;
        }
        for index in [copy.from, copy.to] {
            let taint = own.get(self.program.accesses[index as usize].base);
            self.need(Taint { place: None, by_block: ByBlock::SAME, ..taint }, What::Address, at)?;
            let is_shared = self.program.accesses[index as usize].space == Space::Shared;
            let is_wanted = match taint.pointee() {
                Some(Place::Shared(_)) => is_shared,
                place => place == Some(Place::Global) && !is_shared,
            };
            if !is_wanted {
                return Err(Refusal { code: at, what: What::NoVariable, open: None });
            }
        }
        // All that may be read; where nothing is, that may be nowhere.
        match (self.locate(world, thread, own, (at, copy.from))?, copy.taken) {
            (Some(target), _) => self.moved(own, (target, copy.from), copy.bytes, How::Read),
            (None, Some(_)) => self.alike.keep_same(own.get(self.program.accesses[copy.from as usize].base).by_block),
            (None, None) => {}
        }
        Ok(())
    }

    /// Memory is accessed: in other blocks of equal behaviour as far away as the address of the access says.
    fn moved(&mut self, own: &Own, (target, access): (Target, u32), bytes: u32, how: How) {
        let by_block = own.get(self.program.accesses[access as usize].base).by_block;
        match target {
            Target::Global(array, offset) if !by_block.is_lost() => {
                self.alike.accesses.moved(array, (offset, bytes), how, by_block);
            }
            _ => self.alike.keep_same(by_block),
        }
    }

    /// What it brings is open from its start on: who reads it before it is complete races with it.
    pub(super) fn copy(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let copy = &self.program.async_copies[index as usize];
        let Some(target) = self.place(world, thread, own, (at, copy.to))? else { return Ok(()) };
        self.write(shared, own, target, copy.bytes, Taint::open(Cause::Memory, at));
        Ok(())
    }

    /// A bulk copy starts.
    pub(super) fn bulk(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let operation = &self.program.bulk_operations[index as usize];
        self.ends(world, thread, own, (at, operation))?;
        if let Some(slot) = operation.multicast {
            let known = if self.knows_cluster { Taint::FIXED } else { Taint::open(Cause::Size, at) };
            self.need(known.mixed(own.get(slot), at), What::Size, at)?;
        }
        match &operation.moves {
            Moves::Bytes { size, .. } => self.need(own.get(*size), What::Size, at),
            Moves::Values { .. } => Ok(()),
            Moves::Tensor { map: places, coordinates, shared, .. } => {
                for slot in coordinates {
                    self.need(Taint { by_block: ByBlock::SAME, ..own.get(*slot) }, What::Address, at)?;
                }
                self.place(world, thread, own, (at, *places))?;
                self.alike.keep_same(own.get(self.program.accesses[*places as usize].base).by_block);
                self.boxes(world, thread, own, operation);
                let facts = moves::map_facts(self.program, world, thread, *places);
                let map = facts.as_ref().and_then(|(target, _, read)| self.map_taint(*target, read, at));
                self.need(map.unwrap_or(Taint::open(Cause::Memory, at)), What::TensorMap, at)?;
                // How its rows are swizzled depends on where the box is.
                let period = facts.map_or(0, |(_, period, _)| period);
                self.need_alignment(own.get(self.program.accesses[*shared as usize].base).pointee(), period, at)
            }
        }
    }

    /// Where a bulk copy reads and writes, and its object. In other blocks of equal behaviour what is in global memory may be elsewhere.
    fn ends(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &Own,
        (at, operation): (u32, &BulkOperation),
    ) -> Result<(), Refusal> {
        for access in operation.ends().into_iter().chain(operation.object) {
            let target = self.locate(world, thread, own, (at, access))?;
            let one = &self.program.accesses[access as usize];
            if let Some(target) = target {
                self.touch(thread, (target, one.bytes * one.elements), at)?;
            }
            let bytes = match operation.moves {
                Moves::Bytes { size, .. } => thread.value(size) as u32,
                _ => one.bytes * one.elements,
            };
            let how = match operation.moves {
                Moves::Bytes { to, .. } | Moves::Values { to, .. } if to == access => How::Write,
                _ => How::Read,
            };
            let target = target.unwrap_or(Target::Param(0));
            self.moved(own, (target, access), bytes, how);
        }
        Ok(())
    }

    /// What a tensor copy does to global memory. Loads may read all of the tensor.
    fn boxes(&mut self, world: &World, thread: &Thread, own: &Own, operation: &BulkOperation) {
        let Moves::Tensor { map, coordinates, loads, .. } = &operation.moves else { return };
        let Some((array, whole)) = moves::tensor_bytes(self.program, world, thread, *map) else { return };
        if *loads {
            return self.alike.accesses.boxed(array, How::Read, vec![whole], vec![vec![whole]; self.alike.width()]);
        }
        let at = |differs: &dyn Fn(ByBlock) -> u64| -> Vec<i64> {
            let coordinate = |slot: &Slot| thread.value(*slot).wrapping_add(differs(own.get(*slot).by_block));
            coordinates.iter().map(|slot| i64::from(coordinate(slot) as i32)).collect()
        };
        if let Some(lost) = coordinates.iter().map(|slot| own.get(*slot).by_block).find(|one| one.is_lost()) {
            return self.alike.keep_same(lost);
        }
        let of = |at: &[i64]| moves::box_bytes(self.program, world, thread, (*map, at)).unwrap_or_default();
        let here = of(&at(&|_| 0));
        let mut there = vec![Vec::new(); self.alike.width()];
        for candidate in self.alike.differences.alive() {
            there[candidate] = of(&at(&|by_block| self.alike.differences.at(by_block, candidate)));
        }
        self.alike.accesses.boxed(array, How::Write, here, there);
    }

    /// Where the bytes of a map come from that are read; its tensor is in global memory, wherever that is.
    fn map_taint(&self, map: Target, read: &[usize], at: u32) -> Option<Taint> {
        let bytes: Vec<Byte> = match map {
            Target::Param(offset) => self.laid_out.get(offset..offset + tensor::BYTES)?.to_vec(),
            Target::Global(array, offset) => {
                let open = Byte::open(Cause::Memory);
                let all = offset..offset + tensor::BYTES as u64;
                all.map(|at| self.global.get(&(array, at)).copied().unwrap_or(open)).collect()
            }
            Target::Shared(_) | Target::Local(_) => return None,
        };
        let address = tensor::ADDRESS..tensor::ADDRESS + 8;
        let tensor = Byte::value(&bytes[address.clone()], at);
        let tensor = if tensor.pointee() == Some(Place::Global) { Taint { place: None, ..tensor } } else { tensor };
        let others = read.iter().filter(|byte| !address.contains(byte));
        Some(others.fold(tensor, |all, byte| all.mixed(bytes[*byte].taint, at)))
    }

    /// A kernel makes a tensor map.
    pub(super) fn map(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let operation = self.program.map_operations[index as usize];
        for access in operation.ends() {
            // Of maps in other places nothing is known.
            self.alike.keep_same(own.get(self.program.accesses[access as usize].base).by_block);
            if let Some(target) = self.locate(world, thread, own, (at, access))? {
                self.moved(own, (target, access), tensor::BYTES as u32, How::Write);
            }
        }
        match operation {
            MapOperation::Replace { map, at: field, width, value } => {
                let Some(map) = self.place(world, thread, own, (at, map))? else { return Ok(()) };
                let value = own.get(value);
                self.touch(thread, (map, tensor::BYTES as u32), at)?;
                self.write(shared, own, map.element(field, 1), width, value);
            }
            MapOperation::Publish { to, from } => {
                let from = self.place(world, thread, own, (at, from))?;
                let Some((to, from)) = self.place(world, thread, own, (at, to))?.zip(from) else { return Ok(()) };
                self.touch(thread, (from, tensor::BYTES as u32), at)?;
                for byte in 0..tensor::BYTES as u32 {
                    self.copy_byte(shared, own, (to.element(byte, 1), from.element(byte, 1)));
                }
            }
            MapOperation::Acquire { map } => {
                self.place(world, thread, own, (at, map))?;
            }
        }
        Ok(())
    }

    /// Copies have written: what they brought is open.
    pub(super) fn copied(&mut self, shared: &mut [Byte], places: &mut Vec<(Target, u32)>) {
        let open = Byte::open(Cause::Memory);
        for (target, bytes) in places.drain(..) {
            match target {
                Target::Shared(offset) => shared[offset as usize..(offset + bytes) as usize].fill(open),
                Target::Global(array, offset) if self.global.len() < bytes as usize => {
                    let range = offset..offset + u64::from(bytes);
                    self.global.retain(|(other, at), _| *other != array || !range.contains(at));
                }
                Target::Global(array, offset) => {
                    for at in offset..offset + u64::from(bytes) {
                        self.global.remove(&(array, at));
                    }
                }
                Target::Local(_) | Target::Param(_) => {}
            }
        }
    }

    /// An operation on a barrier object.
    pub(super) fn object(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &mut Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let operation = &self.program.objects[index as usize];
        self.place(world, thread, own, (at, operation.access))?;
        let mut fixed = |slot: Slot, what: What| self.need(own.get(slot), what, at);
        let mut result = Taint::address(Place::State);
        match operation.kind {
            ObjectKind::Initialise { count } => fixed(count, What::Barrier)?,
            ObjectKind::Invalidate | ObjectKind::ArriveBehindCopies { .. } | ObjectKind::Commit { multicast: None } => {
            }
            ObjectKind::Commit { multicast: Some(mask) } => {
                let known = if self.knows_cluster { Taint::FIXED } else { Taint::open(Cause::Size, at) };
                self.need(known.mixed(own.get(mask), at), What::Size, at)?;
            }
            ObjectKind::Expect { bytes } | ObjectKind::Complete { bytes } => fixed(bytes, What::Size)?,
            ObjectKind::Arrive { count, bytes, .. } => {
                count.map_or(Ok(()), |count| fixed(count, What::Barrier))?;
                bytes.map_or(Ok(()), |bytes| fixed(bytes, What::Size))?;
            }
            ObjectKind::Wait { phase, parity, .. } => {
                let asked = own.get(phase);
                match (parity, asked.pointee()) {
                    (false, Some(Place::State)) => self.need(Taint { place: None, ..asked }, What::Barrier, at)?,
                    _ => fixed(phase, What::Barrier)?,
                }
                result = Taint::FIXED;
            }
        }
        if let Some((slot, _)) = operation.d {
            own.set(slot, result, ALWAYS);
        }
        Ok(())
    }
}
