//! The barriers of a block, by warps and generations.
//!
//! Input: which thread comes to which barrier, and which barriers the emulator completed. Output: what is wrong with it.
//! Establishes: of each warp all threads that have not exited come to one barrier after the other together; a generation of
//! a barrier is completed by whole warps, as many as its count says; and who arrives for a generation knows, by barriers
//! alone, that the one before is complete ([`Unsafe`] if not). Relies on: the clocks of threads know of nothing but barriers.
//! Reference: Sharma, Bauer, Aiken, "Verification of Producer-Consumer Synchronization in GPU Programs", Fig. 4, line 18.

use super::follow::What;
use crate::exec::races::clock::{Shape, ThreadClock};
use crate::exec::races::order::Later;
use crate::finding::MixedBarrier;

/// Barriers that a block has.
const BARRIERS: usize = 16;

/// A thread at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Number in the launch.
    pub(crate) thread: u32,
    /// Place among the threads of the cluster.
    pub(crate) linear: u32,
    /// Instruction.
    pub(crate) code: u32,
    /// Time of the thread before it.
    pub(crate) epoch: u32,
    /// Number of the barrier, counted over the blocks of the cluster.
    pub(crate) id: usize,
    /// How many it waits for.
    pub(crate) count: Option<u32>,
    /// It waits until the generation is complete.
    pub(crate) waits: bool,
    /// All threads of the warp have to be at one instruction.
    pub(crate) aligned: bool,
    /// All threads of its warp that have not exited have come, too.
    pub(crate) is_met: bool,
}

impl Arrival {
    fn is_like(&self, other: &Arrival) -> bool {
        let same = (self.id, self.count, self.waits) == (other.id, other.count, other.waits);
        same && (self.code == other.code || !self.aligned && !other.aligned)
    }
}

/// Two generations of a barrier that may mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsafe {
    pub(crate) barrier: MixedBarrier,
    /// Who arrives for the later one: number in the launch, instruction.
    pub(crate) later: (u32, u32),
    /// An arrival for the earlier one of which that thread does not know.
    pub(crate) earlier: (u32, u32),
    /// Number of the later generation, from 0.
    pub(crate) generation: u64,
}

/// What a warp does at its next barrier.
#[derive(Clone, Debug, Default)]
struct Round {
    /// The first thread that came.
    first: Option<Arrival>,
    /// Lanes that came.
    came: u32,
    /// A lane among them knows that the generation before is complete; what is missing if none does.
    missing: Option<Unsafe>,
    knows: bool,
}

#[derive(Clone, Debug, Default)]
struct Object {
    /// Generations that are complete.
    complete: u64,
    /// One arrival a warp of the one before.
    before: Vec<Arrival>,
    /// All arrivals of this one.
    current: Vec<Arrival>,
}

/// The barriers of the blocks of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    /// Threads of a block.
    size: u32,
    rounds: Vec<Round>,
    /// Lanes that have not exited, by warp.
    live: Vec<u32>,
    /// Threads that arrived without waiting, and whose warp is not there yet.
    held: Vec<bool>,
    objects: Vec<Object>,
    /// By thread and barrier: how many generations were complete when it last waited there.
    waited: Vec<[u64; BARRIERS]>,
    /// Generations that were completed, of all barriers of all blocks.
    pub(crate) generations: u64,
    /// Whether some barrier is for a part of the block, and `.aligned`.
    pub(crate) has_aligned_part: bool,
}

/// A problem that ends the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Refused(What, u32),
    Reused(Unsafe),
}

impl Objects {
    /// The blocks of a cluster start, of so many threads each.
    pub(crate) fn start(&mut self, size: u32, ranks: u32) {
        self.size = size;
        // Blocks of a cluster have whole warps.
        let size = size * ranks;
        let warps = size.div_ceil(32);
        self.rounds = vec![Round::default(); warps as usize];
        let lanes = |warp: u32| ((1u64 << (size - warp * 32).min(32)) - 1) as u32;
        self.live = (0..warps).map(lanes).collect();
        self.held = vec![false; size as usize];
        self.objects = vec![Object::default(); BARRIERS * ranks as usize];
        self.waited = vec![[0; BARRIERS]; size as usize];
    }

    /// Whether a thread that could go on stands at an arrival for which its warp is not complete. (PTX, `barrier`: it "causes
    /// executing thread to wait for all non-exited threads from its warp".)
    pub(crate) fn is_held(&self, linear: usize) -> bool {
        self.held[linear]
    }

    /// A thread is about to come to a barrier whose number exists.
    pub(crate) fn arrive(&mut self, shape: &Shape, clock: &ThreadClock, arrival: Arrival) -> Result<(), Trouble> {
        let Arrival { linear, id, count, .. } = arrival;
        let size = self.size;
        let meets_others = || self.objects[id].current.iter().any(|other| other.code != arrival.code);
        self.has_aligned_part |=
            arrival.aligned && count.is_some_and(|count| count != size.next_multiple_of(32) || meets_others());
        let (warp, lane) = (linear as usize / 32, 1 << (linear % 32));
        let round = &mut self.rounds[warp];
        let first = round.first.get_or_insert(arrival);
        if !arrival.is_like(first) {
            return Err(Trouble::Refused(What::WarpParts, arrival.code));
        }
        round.came |= lane;
        let object = &mut self.objects[id];
        if !round.knows {
            let told = self.waited[linear as usize][id % BARRIERS] == object.complete;
            let later = Later { shape: *shape, copies: &[], thread: arrival.thread, clock, proxy: None };
            let unknown = |earlier: &&Arrival| !later.is_after(earlier.thread, earlier.epoch);
            let missing = if told { None } else { object.before.iter().find(unknown) };
            round.knows = missing.is_none();
            let generation = object.complete;
            let place = |arrival: &Arrival| (arrival.thread, arrival.code);
            round.missing = missing.map(|earlier| Unsafe {
                barrier: MixedBarrier::Number((id % BARRIERS) as u32),
                later: place(&arrival),
                earlier: place(earlier),
                generation,
            });
        }
        object.current.push(arrival);
        self.held[linear as usize] = !arrival.waits;
        self.meet(warp)
    }

    /// A thread ends.
    pub(crate) fn exit(&mut self, linear: u32) -> Result<(), Trouble> {
        let warp = linear as usize / 32;
        self.live[warp] &= !(1 << (linear % 32));
        self.meet(warp)
    }

    /// Where all threads of a warp have come, it arrives.
    fn meet(&mut self, warp: usize) -> Result<(), Trouble> {
        let round = &mut self.rounds[warp];
        if round.came == 0 || self.live[warp] & !round.came != 0 {
            return Ok(());
        }
        let round = std::mem::take(round);
        if let Some(first) = round.first {
            let of_warp = |arrival: &&mut Arrival| arrival.linear as usize / 32 == warp;
            self.objects[first.id].current.iter_mut().filter(of_warp).for_each(|arrival| arrival.is_met = true);
        }
        let last = (warp * 32 + 32).min(self.held.len());
        self.held[warp * 32..last].fill(false);
        match round.missing.filter(|_| !round.knows) {
            Some(missing) => Err(Trouble::Reused(missing)),
            None => Ok(()),
        }
    }

    /// The emulator has completed barriers: how often each, and how many threads have come to it since.
    pub(crate) fn settle(&mut self, barrier: impl Fn(usize) -> (u64, usize)) -> Result<(), Trouble> {
        let size = self.size;
        for (id, object) in self.objects.iter_mut().enumerate() {
            let (completed, since) = barrier(id);
            if completed == object.complete {
                continue;
            }
            let mut current = std::mem::take(&mut object.current);
            // Threads that came before it was complete, and whose warps are for the next time.
            let Some(first) = current.first() else { continue };
            if since > 0 || completed != object.complete + 1 {
                return Err(Trouble::Refused(What::PartOfWarp, first.code));
            }
            current.sort_by_key(|arrival| arrival.linear);
            let code = current[0].code;
            let threads = current.len() as u32;
            if current.iter().any(|arrival| !arrival.is_met) {
                return Err(Trouble::Refused(What::PartOfWarp, code));
            }
            let count = current[0].count;
            object.complete += 1;
            self.generations += 1;
            for arrival in current.iter().filter(|arrival| arrival.waits) {
                self.waited[arrival.linear as usize][id % BARRIERS] = object.complete;
            }
            current.dedup_by_key(|arrival| arrival.linear / 32);
            match count {
                None if threads != size => return Err(Trouble::Refused(What::PartOfBlock, code)),
                Some(count) if current.len() as u32 * 32 != count => {
                    return Err(Trouble::Refused(What::PartOfWarp, code));
                }
                _ => {}
            }
            object.before = current;
        }
        Ok(())
    }
}
