//! What is known of the registers and the local memory of one thread.
//!
//! Input: results of instructions. Output: the [`Taint`] of each register. Establishes: a register that is written under a guard
//! that is open is open. Relies on: [`super::follow`] asks. Reference: none.

use super::memory::fill;
use super::taint::{ByBlock, Byte, Cause, Taint};
use crate::exec::decode::{Copy, Frame, Slot};

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Own {
    pub(super) registers: Vec<Taint>,
    pub(super) local: Vec<Byte>,
    pub(super) carry: Taint,
    /// Results that differ by block, not yet known how, with how the registers differed before.
    pub(super) pending: Vec<(Slot, ByBlock)>,
}

/// Whether an instruction takes place.
#[derive(Clone, Copy)]
pub(super) struct When {
    /// It does in this execution.
    pub(super) taken: bool,
    /// Whether it does in others.
    pub(super) guard: Taint,
}

pub(super) const ALWAYS: When = When { taken: true, guard: Taint::FIXED };

impl Own {
    /// Where the value of a slot comes from.
    pub(crate) fn get(&self, slot: Slot) -> Taint {
        self.registers[usize::from(slot)]
    }

    /// A slot gets a value that others gave.
    pub(crate) fn give(&mut self, slot: Slot, value: Taint) {
        self.registers[usize::from(slot)] = value;
    }

    pub(super) fn set(&mut self, slot: Slot, value: Taint, when: When) {
        let old = self.get(slot);
        let value = under(value, old, when);
        if value.by_block == ByBlock::PENDING && !value.is_open() {
            self.pending.push((slot, old.by_block));
        }
        self.registers[usize::from(slot)] = value;
    }

    /// How a value differs by block is known now.
    pub(super) fn differs(&mut self, slot: Slot, by_block: ByBlock) {
        self.registers[usize::from(slot)].by_block = by_block;
    }

    /// A function begins.
    pub(super) fn forget(&mut self, frame: &Frame, at: u32) {
        self.registers[frame.registers.clone()].fill(Taint::open(Cause::Register, at));
        for variable in &frame.variables {
            self.local[variable.clone()].fill(Byte::open(Cause::Memory));
        }
    }

    /// A copy around a call.
    pub(super) fn copy(&mut self, copy: Copy, at: u32) {
        match copy {
            Copy::Bytes { from, to, bytes } => {
                self.local.copy_within(from as usize..(from + bytes) as usize, to as usize);
                // They may be parts of several values.
                let copied = &mut self.local[to as usize..(to + bytes) as usize];
                copied.iter_mut().for_each(|byte| byte.taint.by_block = byte.taint.by_block.cut());
            }
            Copy::Store { from, to, bytes } => {
                let taint = self.get(from);
                let by_block = if bytes < 8 { taint.by_block.cut() } else { taint.by_block };
                let value = Byte::all(Taint { by_block, ..taint }, bytes.min(8));
                let (start, end) = (to as usize, (to + bytes.min(8)) as usize);
                fill(&mut self.local[start..end], value);
            }
            Copy::Load { from, to, bytes } => {
                let value = Byte::value(&self.local[from as usize..(from + bytes.min(8)) as usize], at);
                self.give(to, value);
            }
        }
    }
}

/// The value that is assigned or not.
pub(super) fn under(new: Taint, old: Taint, when: When) -> Taint {
    let code = when.guard.open.map_or(u32::MAX, |open| open.code);
    match when.guard.is_open() {
        true => Taint { open: when.guard.open, ..new.mixed(old, code).mixed(when.guard, code) },
        false if when.taken => new,
        false => old,
    }
}
