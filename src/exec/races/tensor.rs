//! What orders accesses to tensor memory.
//!
//! Input: what threads started, and what they know. Output: whether an earlier access is before a later one. Establishes: two products
//! of one thread with the same result, size and kind, and a copy and a product behind it, are pipelined; loads and stores are complete
//! for their own warp behind its `wait`, all for others who are told so. Where a kernel has fences of tensor memory, what comes behind a
//! barrier is ordered only by `fence::after_thread_sync`; where it has none, as those that Triton makes, "the standard memory consistency
//! model synchronization mechanisms" are taken to be enough.
//! Reference: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations".

use super::clock::{Agent, Clock, floor};
use super::order::Later;
use super::shadow::{Cell, Entry};
use super::{Current, Detector, Location};
use std::collections::BTreeMap;
use std::ops::Range;

/// What an instruction of a pipeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pipelined {
    /// A product: kind and size, where its result is, and whether it is of a pair of blocks.
    Product {
        kind: u8,
        size: (u32, u32),
        d: u32,
        pair: bool,
    },
    Copy {
        pair: bool,
    },
    Commit,
}

/// What threads started, in order.
#[derive(Debug, Default)]
pub(crate) struct Pipelines {
    /// Instructions that differ.
    known: Vec<Pipelined>,
    /// By thread: numbers of these.
    of: BTreeMap<u32, Vec<u32>>,
    /// The kernel has fences of tensor memory.
    pub(crate) has_fences: bool,
}

impl Pipelines {
    /// A thread starts an instruction; its number, from 1 on.
    pub(crate) fn start(&mut self, thread: u32, one: Pipelined) -> u32 {
        let index = self.known.iter().position(|other| *other == one).unwrap_or_else(|| {
            self.known.push(one);
            self.known.len() - 1
        });
        let all = self.of.entry(thread).or_default();
        all.push(index as u32);
        all.len() as u32
    }

    /// How many a thread started.
    pub(crate) fn count(&self, thread: u32) -> u32 {
        self.of.get(&thread).map_or(0, |all| all.len() as u32)
    }

    fn get(&self, thread: u32, number: u32) -> Option<Pipelined> {
        let index = *self.of.get(&thread)?.get(number.checked_sub(1)? as usize)?;
        self.known.get(index as usize).copied()
    }

    /// Whether one is executed before another that is started behind it.
    fn is_pipelined(&self, first: (u32, u32), second: (u32, u32)) -> bool {
        match (self.get(first.0, first.1), self.get(second.0, second.1)) {
            (Some(one @ Pipelined::Product { .. }), Some(other)) => one == other,
            (Some(Pipelined::Copy { pair }), Some(Pipelined::Product { pair: other, .. })) => pair == other,
            _ => false,
        }
    }
}

impl Detector {
    /// An access to tensor memory, of these columns in these groups of lanes.
    pub(crate) fn tensor_access(
        &mut self,
        cells: &mut [Cell],
        (columns, groups): (Range<u32>, u8),
        current: Current<'_>,
    ) {
        for column in columns {
            for half in 0..2 {
                let mask = u32::from(groups >> (4 * half) & 15);
                if mask != 0 {
                    let cell = &mut cells[(2 * column + half) as usize];
                    let lane = 64 * half;
                    self.check(cell, mask, current, |group| Location::Tensor {
                        column,
                        lane: lane + 16 * group as u32,
                    });
                }
            }
        }
    }

    /// A thread of an entry whose access is not before an access to tensor memory.
    pub(super) fn unordered_tensor(&self, current: Current<'_>, entry: &Entry) -> Option<u32> {
        entry.threads().find(|other| !self.is_tensor_after(current, *other, entry.clock))
    }

    fn is_tensor_after(&self, current: Current<'_>, other: u32, time: u32) -> bool {
        let (shape, clock) = (self.shape, current.clock);
        let (own, their) = (shape.issuer(current.thread), shape.issuer(other));
        let kind = |number: u32| shape.agent(number);
        let (Some(mine), Some(theirs)) = (kind(current.thread), kind(other)) else {
            // Columns are allocated and freed by the thread itself.
            let later = Later { shape, copies: &self.copies, thread: own, clock, proxy: None };
            let is_ready = || clock.ready.as_ref().is_some_and(|ready| time <= floor(ready, other));
            return later.is_after(other, time) || shape.agent(other).is_some() && is_ready();
        };
        let same_warp = shape.warp_of(own) == shape.warp_of(their);
        let is_started = theirs == Agent::Tensor as usize;
        let is_one = match is_started {
            true => current.thread == other,
            false => mine == theirs && same_warp,
        };
        if is_one && time == clock.epoch {
            return true;
        }
        let pipelined = || mine == theirs && self.pipelines.is_pipelined((their, time), (own, clock.epoch));
        if is_started && own == their && pipelined() {
            return true;
        }
        // A warp loads and stores as one.
        if !is_started && same_warp && time <= clock.agents[theirs] {
            return true;
        }
        if let Some(ready) = &clock.ready {
            let starts = shape.agent_of(their, Agent::TensorStarts);
            if time <= floor(ready, other) || is_started && time <= floor(ready, starts) && pipelined() {
                return true;
            }
        }
        let is_told = |known: &Clock| time <= floor(&known.threads, other);
        !self.pipelines.has_fences && clock.others.as_deref().is_some_and(is_told)
    }
}
