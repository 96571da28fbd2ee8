//! What orders accesses to tensor memory.
//!
//! Input: what threads started, and what they know. Output: whether an earlier access is before a later one. Establishes: two products
//! of one thread with the same result, size and kind, and a copy and a product behind it, are pipelined; loads and stores are complete
//! for their own warp behind its `wait`, all for others who are told so. What comes behind a barrier is ordered only by
//! `fence::after_thread_sync`; with `--assume tensor-order` a kernel without any fence of tensor memory, as those that Triton makes, needs
//! none.
//! Reference: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations".

use super::clock::{Agent, Clock, floor};
use super::order::Later;
use super::shadow::{Cell, Entry};
use super::{Current, Detector, Location, Reach};
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
    /// Fences of tensor memory are needed.
    pub(crate) is_strict: bool,
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

/// The words of shared memory where `tcgen05.alloc` wrote addresses.
///
/// What writes and reads them goes through the generic proxy; compilers (Triton) give these bytes to bulk copies behind a barrier,
/// without a proxy fence. "The Tensor Memory allocation related instructions that access shared memory maintain same-address ordering
/// with respect to non-tcgen05 instructions"; that a load of the address is complete at a barrier, for other proxies too, holds with `--assume tensor-order`.
#[derive(Debug, Default)]
pub(crate) struct AddressWords {
    /// By cluster and word: whether it still holds the address.
    words: BTreeMap<(u32, u64), bool>,
    /// Instructions that access these words: whether it was only while they held an address.
    codes: BTreeMap<u32, bool>,
    /// It is assumed.
    pub(crate) are_allowed: bool,
}

impl AddressWords {
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// `alloc` writes an address.
    fn allocate(&mut self, cluster: u32, word: u64, code: u32) {
        self.words.insert((cluster, word), true);
        self.codes.entry(code).or_insert(true);
    }

    /// Something else accesses a word; `by_thread`: through the generic proxy.
    fn see(&mut self, cluster: u32, word: u64, (code, writes, by_thread): (u32, bool, bool)) {
        let Some(holds) = self.words.get_mut(&(cluster, word)) else { return };
        *holds &= !writes;
        let is_load = *holds && by_thread;
        *self.codes.entry(code).or_insert(is_load) &= is_load;
    }

    /// Whether an instruction wrote the address in a word, or loaded it.
    fn is_of(&self, cluster: u32, word: u64, code: u32) -> bool {
        self.codes.get(&code) == Some(&true) && self.words.contains_key(&(cluster, word))
    }
}

impl Detector {
    /// `tcgen05.alloc` writes an address to this word of shared memory.
    pub(crate) fn address_access(&mut self, cells: &mut [Cell], offset: u32, current: Current<'_>) {
        self.shared_access(cells, offset, 4, current);
        if self.addresses.are_allowed {
            let cluster = self.shape.group(Reach::Cluster, current.thread);
            self.addresses.allocate(cluster, u64::from(offset / 4), current.code);
        }
    }

    /// Words of shared memory are accessed, some of which may hold addresses of tensor memory.
    pub(super) fn see_addresses(&mut self, words: impl Iterator<Item = u64>, current: Current<'_>) {
        let cluster = self.shape.group(Reach::Cluster, self.issuer(current.thread));
        let what = (current.code, self.sites[current.code as usize].writes, current.thread < self.shape.threads);
        words.for_each(|word| self.addresses.see(cluster, word, what));
    }

    /// Whether an entry is of an address of tensor memory.
    pub(super) fn is_address(&self, current: Current<'_>, entry: &Entry, location: Location) -> bool {
        let Location::Shared(offset) = location else { return false };
        let cluster = self.shape.group(Reach::Cluster, self.issuer(current.thread));
        self.addresses.is_of(cluster, u64::from(offset / 4), entry.code())
    }

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
        !self.pipelines.is_strict && clock.others.as_deref().is_some_and(is_told)
    }
}
