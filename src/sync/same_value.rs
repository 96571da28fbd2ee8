//! Stores of one value, with `--allow-same-value`.
//!
//! Input: the accesses of a run to shared memory, in their order. Output: whether a store may race with others because they write
//! what it writes. Establishes: [`SameValue::store`] says so only if all accesses to its bytes since the last barrier of the whole
//! block were stores by this instruction, of this value, which is not open, and nothing that goes on beside a thread accessed them: what came before is ordered before all, so
//! nothing is lost of which the detector keeps the last. Who accesses such bytes otherwise before the next barrier of the
//! whole block is refused, since the detector may have forgotten some of the stores. Relies on: a thread's
//! [`ThreadClock::block`](crate::exec::races::clock::ThreadClock) names the last barrier of the whole block. Reference: none.

use super::follow::{Flow, Refusal, What};
use super::taint::{ByBlock, Placed, Taint};
use crate::exec::access::Target;
use crate::exec::thread::Thread;
use foldhash::{HashMap, HashSet};

/// What is known of the shared memory of a block.
#[derive(Debug, Default)]
pub(crate) struct SameValue {
    /// By offset, where something was accessed.
    bytes: HashMap<u32, Since>,
    /// Offsets that something accessed that goes on beside its thread, so that a barrier need not order it.
    spoiled: HashSet<u32>,
    /// The last barrier since which stores of one value were let pass.
    last: Option<u32>,
    /// The next instruction is such a store.
    pub(crate) is_tolerated: bool,
}

/// What a byte of a value is, wherever arrays are placed, and in other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Byte {
    value: u8,
    /// Of an address in this place.
    place: Option<Placed>,
    by_block: ByBlock,
}

/// Accesses to a byte since a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Since {
    barrier: u32,
    /// All of them stored this byte by this instruction.
    stored: Option<(u32, Byte)>,
    /// The thread that did so first, and whether others have, too.
    thread: u32,
    is_tolerated: bool,
}

impl Flow<'_> {
    fn tolerates(&self) -> bool {
        self.allows_same_value && self.program.ranks == 1
    }

    /// A block starts.
    pub(crate) fn forget_values(&mut self) {
        self.same_value = SameValue::default();
    }

    /// Something that is no plain store accesses these bytes.
    pub(super) fn touch(&mut self, thread: &Thread, (target, bytes): (Target, u32), at: u32) -> Result<(), Refusal> {
        let (Target::Shared(offset), true) = (target, self.tolerates()) else { return Ok(()) };
        (offset..offset + bytes).try_for_each(|offset| self.see(thread, offset, (at, None)).map(drop))
    }

    /// What goes on beside a thread accesses these bytes: nothing is tolerated there any more.
    pub(crate) fn spoil(&mut self, thread: &Thread, place: (Target, u32), at: u32) -> Result<(), Refusal> {
        self.touch(thread, place, at)?;
        if let (Target::Shared(offset), true) = (place.0, self.tolerates()) {
            self.same_value.spoiled.extend(offset..offset + place.1);
        }
        Ok(())
    }

    /// Something accesses bytes of which it is not said here which they are.
    pub(super) fn touch_all(&self, thread: &Thread, at: u32) -> Result<(), Refusal> {
        match self.same_value.last == Some(thread.clock.block) {
            true => Err(Refusal { code: at, what: What::SameValue, open: None }),
            false => Ok(()),
        }
    }

    /// A plain store of an element.
    pub(super) fn store_value(
        &mut self,
        thread: &Thread,
        (target, bytes): (Target, u32),
        (value, taint): (u64, Taint),
        at: u32,
    ) -> Result<bool, Refusal> {
        let (Target::Shared(offset), true) = (target, self.tolerates()) else { return Ok(false) };
        let Taint { place, by_block, .. } = taint;
        let is_fixed = !taint.is_open() && !by_block.is_lost() && bytes <= 8;
        let mut is_tolerated = true;
        for (offset, byte) in (offset..offset + bytes).zip(value.to_le_bytes().into_iter().cycle()) {
            let byte = is_fixed.then_some(Byte { value: byte, place, by_block });
            is_tolerated &= self.see(thread, offset, (at, byte))?;
        }
        Ok(is_tolerated)
    }

    /// A thread accesses a byte; whether this is one of the stores of one value.
    fn see(&mut self, thread: &Thread, offset: u32, (at, byte): (u32, Option<Byte>)) -> Result<bool, Refusal> {
        let (barrier, thread, stored) = (thread.clock.block, thread.number, byte.map(|byte| (at, byte)));
        let stored = stored.filter(|_| !self.same_value.spoiled.contains(&offset));
        let known = match self.same_value.bytes.get_mut(&offset).filter(|known| known.barrier == barrier) {
            Some(known) => known,
            None => {
                let first = Since { barrier, stored, thread, is_tolerated: false };
                self.same_value.bytes.insert(offset, first);
                // What it races with is none of these stores: a copy from before the barrier, for which nobody waited.
                return Ok(false);
            }
        };
        if known.stored.is_some() && known.stored == stored {
            if known.thread != thread {
                known.is_tolerated = true;
                self.same_value.last = Some(barrier);
            }
            return Ok(true);
        }
        if known.is_tolerated {
            return Err(Refusal { code: at, what: What::SameValue, open: None });
        }
        known.stored = None;
        Ok(false)
    }
}
