//! Strong writes that strong reads observed: whoever comes behind such a read comes behind the write, at that location.
//!
//! Input: the strong accesses to each word, in the order of the execution. Output: whether the read of somebody whom the
//! later party knows observed a write. Establishes: a *chain* has a write and the read-modify-writes that each observed the one before, morally
//! strong with it; so a read that is morally strong with the last one comes behind all of them in observation order. An access that is told
//! apart from no other of its thread there (instruction and time) is said to be observed only if all of them were. Relies on:
//! writes that are no strong ones of the generic proxy end chains ([`Observed::end`]). Reference: PTX ISA, "Observation Order",
//! "Causality Order" (an operation that is observed by one that comes before another, both at one location).
//!
//! Without this, a thread that saw the last ticket could not reset the counter by a plain store, as many do.

use super::clock::Shape;
use super::{Location, Reach, words};
use foldhash::HashMap;

/// Writes that are remembered of a word; then nothing more is known of it.
const OF_A_WORD: usize = 2048;

/// The same of all words together.
const IN_ALL: usize = 1 << 20;

/// A word: its memory, and its number there.
type Word = (Memory, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Memory {
    Global(usize),
    /// That of a block.
    Shared(u32),
}

/// An access: its thread, time and instruction.
pub(crate) type Id = (u32, u32, u32);

/// A strong access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strong {
    pub(crate) id: Id,
    pub(crate) reach: Reach,
    pub(crate) bytes: u32,
    pub(crate) reads: bool,
    /// `Some(false)`: a compare-and-swap that failed.
    pub(crate) writes: Option<bool>,
}

/// A write and the read-modify-writes behind it.
#[derive(Debug)]
struct Chain {
    writes: Vec<Id>,
    /// Scope and width of the last one.
    last: (Reach, u32),
    /// Thread and time of a read, and how many of the writes it observed.
    seen: Vec<(u32, u32, usize)>,
}

/// What is known of a word.
#[derive(Debug, Default)]
struct Known {
    /// The last chain is the one that goes on, unless it has ended.
    chains: Vec<Chain>,
    has_ended: bool,
    /// Compare-and-swaps that failed: nobody observes them.
    failed: Vec<Id>,
    writes: usize,
    is_full: bool,
}

/// What is known of all words.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    words: HashMap<Word, Known>,
    writes: usize,
}

/// The words of an access by a thread. Nothing is told of the shared memory of clusters.
fn words_of(shape: &Shape, thread: u32, location: Location, bytes: u32) -> impl Iterator<Item = Word> + use<> {
    let place = match location {
        Location::Global(array, offset) => Some((Memory::Global(array), offset)),
        Location::Shared(offset) if shape.cluster == [1; 3] => {
            Some((Memory::Shared(shape.block_of(thread)), u64::from(offset)))
        }
        Location::Shared(_) | Location::Tensor { .. } => None,
    };
    place.into_iter().flat_map(move |(memory, offset)| words(offset, bytes).map(move |(word, _)| (memory, word)))
}

impl Observed {
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Somebody writes a word in another way.
    pub(crate) fn end(&mut self, shape: &Shape, thread: u32, location: Location, bytes: u32) {
        for word in words_of(shape, thread, location, bytes) {
            if let Some(known) = self.words.get_mut(&word) {
                known.has_ended = true;
            }
        }
    }

    /// A strong access. Parts of words are not told apart, so narrow accesses end chains.
    pub(crate) fn access(&mut self, shape: &Shape, location: Location, strong: Strong) {
        let thread = strong.id.0;
        if strong.bytes < 4 {
            if strong.writes == Some(true) {
                self.end(shape, thread, location, strong.bytes);
            }
            return;
        }
        for word in words_of(shape, thread, location, strong.bytes) {
            if strong.writes.is_none() && !self.words.contains_key(&word) {
                continue;
            }
            let known = self.words.entry(word).or_default();
            if known.is_full || self.writes >= IN_ALL {
                known.forget();
                continue;
            }
            let before = known.writes;
            known.access(shape, strong);
            self.writes += known.writes.saturating_sub(before);
        }
    }

    /// Whether a write was observed by a read for which `is_known` holds.
    pub(crate) fn is_observed(
        &self,
        shape: &Shape,
        location: Location,
        write: Id,
        is_known: impl Fn(u32, u32) -> bool,
    ) -> bool {
        let mut words = words_of(shape, write.0, location, 1);
        let known = words.next().and_then(|word| self.words.get(&word));
        let Some(known) = known.filter(|known| !known.failed.contains(&write)) else { return false };
        let mut is_any = false;
        for chain in &known.chains {
            let Some(at) = chain.writes.iter().rposition(|other| *other == write) else { continue };
            is_any = true;
            let mut seen = chain.seen.iter();
            if !seen.any(|(thread, time, count)| at < *count && is_known(*thread, *time)) {
                return false;
            }
        }
        is_any
    }
}

impl Known {
    fn forget(&mut self) {
        *self = Known { is_full: true, ..Known::default() };
    }

    fn access(&mut self, shape: &Shape, strong: Strong) {
        let (thread, time, _) = strong.id;
        let goes_on = !self.has_ended && strong.reads;
        let last = self.chains.last_mut().filter(|_| goes_on);
        let last = last.filter(|chain| chain.is_strong_with(shape, strong));
        match (last, strong.writes) {
            (Some(chain), writes) => {
                chain.see(thread, time);
                if writes == Some(true) {
                    chain.writes.push(strong.id);
                    chain.last = (strong.reach, strong.bytes);
                }
            }
            (None, Some(true)) => {
                let last = (strong.reach, strong.bytes);
                self.chains.push(Chain { writes: vec![strong.id], last, seen: Vec::new() });
                self.has_ended = false;
            }
            (None, _) => {}
        }
        if strong.writes == Some(false) && self.failed.last() != Some(&strong.id) {
            self.failed.push(strong.id);
            self.writes += 1;
        }
        self.writes += usize::from(strong.writes == Some(true));
        if self.writes > OF_A_WORD {
            self.forget();
        }
    }
}

impl Chain {
    /// Whether an access is morally strong with the last write.
    fn is_strong_with(&self, shape: &Shape, strong: Strong) -> bool {
        let (reach, bytes) = self.last;
        let writer = self.writes.last().map_or(0, |(thread, ..)| *thread);
        bytes == strong.bytes
            && (writer == strong.id.0 || shape.is_within(reach.min(strong.reach), writer, strong.id.0))
    }

    fn see(&mut self, thread: u32, time: u32) {
        let count = self.writes.len();
        match self.seen.iter_mut().rev().find(|(other, at, _)| *other == thread && *at == time) {
            Some(seen) => seen.2 = count,
            None => self.seen.push((thread, time, count)),
        }
    }
}
