//! Memory, as far as where values come from goes.
//!
//! Input: an access that is executed next. Output: the [`Taint`] of what it reads and leaves.
//! Establishes: where an access is is not open; what is strong or atomic is. Relies on: [`super::follow`] asks of each
//! instruction. Reference: `exec::access`, which it mirrors.

use super::alike::accesses::How;
use super::follow::{Flow, Refusal, What};
use super::own::{ALWAYS, Own};
use super::taint::{ByBlock, Byte, Cause, Taint};
use crate::exec::access::{self, Target};
use crate::exec::decode::Place;
use crate::exec::thread::Thread;
use crate::exec::world::World;

impl Flow<'_> {
    /// Where an access that is no plain store is; `None` is nowhere: the run ends there.
    pub(super) fn place(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &Own,
        (at, index): (u32, u32),
    ) -> Result<Option<Target>, Refusal> {
        let target = self.find(world, thread, own, (at, index))?;
        let access = &self.program.accesses[index as usize];
        if let Some(target) = target {
            self.touch(thread, (target, access.bytes * access.elements), at)?;
        }
        Ok(target)
    }

    fn find(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &Own,
        (at, index): (u32, u32),
    ) -> Result<Option<Target>, Refusal> {
        let target = self.locate(world, thread, own, (at, index))?;
        let access = &self.program.accesses[index as usize];
        let by_block = own.get(access.base).by_block;
        match target {
            Some(Target::Global(array, offset)) if !access.constant => {
                let how = How::of(world.detector.sites[at as usize]);
                self.alike.accesses.moved(array, (offset, access.bytes * access.elements), how, by_block);
                if by_block.is_lost() {
                    self.alike.keep_same(by_block);
                }
            }
            _ => self.alike.keep_same(by_block),
        }
        Ok(target)
    }

    /// Where an access is. In other blocks of equal behaviour it may be elsewhere: who asks has to see to that.
    pub(super) fn locate(
        &mut self,
        world: &World,
        thread: &Thread,
        own: &Own,
        (at, index): (u32, u32),
    ) -> Result<Option<Target>, Refusal> {
        let access = &self.program.accesses[index as usize];
        let taint = own.get(access.base);
        self.need(Taint { place: None, by_block: ByBlock::SAME, ..taint }, What::Address, at)?;
        let Ok(target) = access::find(self.program, world, thread, access) else { return Ok(None) };
        let is_there = match (taint.pointee(), target) {
            (Some(Place::Shared(number)), Target::Shared(offset)) => self.is_in(number, offset),
            (Some(Place::Global), Target::Global(..))
            | (Some(Place::Local), Target::Local(_))
            | (Some(Place::Param), Target::Param(_)) => true,
            _ => false,
        };
        match is_there {
            true => Ok(Some(target)),
            false => Err(Refusal { code: at, what: What::NoVariable, open: None }),
        }
    }

    fn read(&self, shared: &[Byte], own: &Own, (target, at): (Target, u32), bytes: u32) -> Taint {
        let open = Byte::open(Cause::Memory);
        let bytes = bytes as usize;
        match target {
            Target::Global(array, offset) => {
                let all = offset..offset + bytes as u64;
                let found: Vec<Byte> =
                    all.map(|offset| self.global.get(&(array, offset)).copied().unwrap_or(open)).collect();
                // What other blocks wrote there nobody knows.
                Taint { by_block: ByBlock::UNKNOWN, ..Byte::value(&found, at) }
            }
            Target::Shared(offset) => Byte::value(&shared[offset as usize..offset as usize + bytes], at),
            Target::Local(offset) => Byte::value(&own.local[offset..offset + bytes], at),
            Target::Param(offset) => Byte::value(&self.laid_out[offset..offset + bytes], at),
        }
    }

    /// One byte of memory is copied to another.
    pub(super) fn copy_byte(&mut self, shared: &mut [Byte], own: &Own, (to, from): (Target, Target)) {
        let open = Byte::open(Cause::Memory);
        let byte = match from {
            Target::Global(array, offset) => {
                self.alike.keep_same(ByBlock::UNKNOWN);
                self.global.get(&(array, offset)).copied().unwrap_or(open)
            }
            Target::Shared(offset) => shared[offset as usize],
            Target::Local(offset) => own.local[offset],
            Target::Param(offset) => self.laid_out[offset],
        };
        match to {
            Target::Global(array, offset) if byte.taint.is_open() => _ = self.global.remove(&(array, offset)),
            Target::Global(array, offset) => _ = self.global.insert((array, offset), byte),
            Target::Shared(offset) => shared[offset as usize] = byte,
            // The run ends there.
            Target::Local(_) | Target::Param(_) => {}
        }
    }

    pub(super) fn write(&mut self, shared: &mut [Byte], own: &mut Own, target: Target, bytes: u32, value: Taint) {
        let all = Byte::all(value, bytes);
        let bytes = bytes as usize;
        match target {
            Target::Global(array, offset) => {
                for (byte, offset) in all.zip(offset..) {
                    match byte.taint.is_open() {
                        true => self.global.remove(&(array, offset)),
                        false => self.global.insert((array, offset), byte),
                    };
                }
            }
            Target::Shared(offset) => fill(&mut shared[offset as usize..offset as usize + bytes], all),
            Target::Local(offset) => fill(&mut own.local[offset..offset + bytes], all),
            // The run ends there.
            Target::Param(_) => {}
        }
    }

    pub(super) fn load(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let access = &self.program.accesses[index as usize];
        if self.is_anywhere(world, shared, thread, own, (at, index))? {
            for (slot, _) in access.data.iter().flatten() {
                own.set(*slot, Taint::open(Cause::Memory, at), ALWAYS);
            }
            return Ok(());
        }
        let Some(target) = self.place(world, thread, own, (at, index))? else { return Ok(()) };
        for (number, data) in (0..).zip(&access.data) {
            let Some((slot, bits)) = data else { continue };
            let value = match access.strength.scope {
                // What a strong access reads others may write at the same time, which is no race.
                Some(_) => Taint::open(Cause::Memory, at),
                None => self.read(shared, own, (target.element(number, access.bytes), at), access.bytes),
            };
            let whole = u32::from(*bits) >= 8 * access.bytes && !access.is_signed;
            own.set(*slot, if whole { value } else { value.mixed(Taint::FIXED, at) }, ALWAYS);
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        self.same_value.is_tolerated = false;
        if self.is_anywhere(world, shared, thread, own, (at, index))? {
            return Ok(());
        }
        let Some(target) = self.find(world, thread, own, (at, index))? else { return Ok(()) };
        let access = &self.program.accesses[index as usize];
        let mut is_tolerated = true;
        for (number, data) in (0..).zip(&access.data) {
            let value = match (access.strength.scope, data) {
                // Two strong writes are no race, so that either may be the last.
                (Some(_), _) => Taint::open(Cause::Memory, at),
                (None, Some((slot, _))) => own.get(*slot),
                (None, None) => Taint::FIXED,
            };
            let element = (target.element(number, access.bytes), access.bytes);
            let stored = data.map_or(0, |(slot, _)| thread.value(slot));
            if !value.is_open() {
                self.alike.differences.keep_whole(value.by_block, stored, access.bytes);
            }
            is_tolerated &= self.store_value(thread, element, (stored, value), at)?;
            self.write(shared, own, element.0, element.1, value);
        }
        self.same_value.is_tolerated = is_tolerated;
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, index): (u32, u32),
    ) -> Result<(), Refusal> {
        let access = &self.program.accesses[index as usize];
        let open = Taint::open(Cause::Atomic, at);
        if self.is_anywhere(world, shared, thread, own, (at, index))? {
            access.data.iter().flatten().for_each(|(slot, _)| own.set(*slot, open, ALWAYS));
            return Ok(());
        }
        let Some(target) = self.place(world, thread, own, (at, index))? else { return Ok(()) };
        for (number, data) in (0..).zip(&access.data) {
            self.write(shared, own, target.element(number, access.bytes), access.bytes, open);
            if let Some((slot, _)) = data {
                own.set(*slot, open, ALWAYS);
            }
        }
        Ok(())
    }
}

pub(super) fn fill(bytes: &mut [Byte], with: impl Iterator<Item = Byte>) {
    bytes.iter_mut().zip(with).for_each(|(byte, new)| *byte = new);
}
