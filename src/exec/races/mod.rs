//! Dynamic race detection by happens-before.
//!
//! Input: every access to shared and global memory, and every synchronisation, in the order of the
//! execution. Output: [`Race`]s: conflicting accesses that nothing orders and that are not morally strong.
//! Establishes: no false race: what is reported is a data race of the PTX memory model in this very
//! execution. Each pair of instructions is reported once, with different values if it has written such.
//! How: [`clock`] has the vector clocks of threads, compressed along the thread hierarchy; [`shadow`]
//! what each location remembers; [`sync`] locations through which threads synchronise.
//! Reference: Eizenberg et al., "BARRACUDA" (sections 3.3 and 4.3); Flanagan and Freund, "FastTrack";
//! PTX ISA, chapter "Memory Consistency Model". Beyond the paper: strong accesses with their scopes instead
//! of an atomic bit, release and acquire patterns instead of inferred ones, and threads of a warp
//! are ordered only by what the ISA says, unless lock-step warps are asked for.

pub(crate) mod clock;
pub(crate) mod order;
pub(crate) mod shadow;
pub(crate) mod sync;
pub(crate) mod tensor;

use crate::order::Scope;
use clock::{Shape, ThreadClock};
use order::{BulkCopy, Later};
use shadow::{Cell, Entry, List, Pages};
use std::collections::BTreeMap;
use tensor::{AddressWords, Pipelines};

/// What is known of an instruction that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Reads.
    pub(crate) reads: bool,
    /// Writes.
    pub(crate) writes: bool,
    /// Scope of a strong access.
    pub(crate) scope: Option<Reach>,
    /// Bytes of a scalar access.
    pub(crate) bytes: u32,
}

/// Scopes as far as they differ here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// One block.
    Block,
    /// The blocks of one cluster.
    Cluster,
    /// All blocks.
    Device,
}

impl Reach {
    /// The reach of a scope. That of a cluster is a block where there are no clusters.
    pub(crate) fn of(scope: Scope, clusters: bool) -> Reach {
        match scope {
            Scope::Cta => Reach::Block,
            Scope::Cluster if !clusters => Reach::Block,
            Scope::Cluster => Reach::Cluster,
            Scope::Gpu | Scope::Sys => Reach::Device,
        }
    }
}

/// Memory as far as proxy fences tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Shared memory of all blocks of the cluster.
    Shared,
    /// Shared memory of the block with this rank.
    SharedOf(u32),
    /// Global memory.
    Global,
    /// The tensor map at an offset in a global array.
    Map { array: u32, offset: u64 },
    /// Tensor memory, which has no other accesses.
    Tensor,
}

/// Where two accesses met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    /// A global array and the byte offset from its first address.
    Global(usize, u64),
    /// A byte offset in the shared memory of a block.
    Shared(u32),
    /// A column of tensor memory, and 16 of its lanes.
    Tensor { column: u32, lane: u32 },
}

#[derive(Clone, Debug)]
pub struct Race {
    /// Number of the thread in the launch, instruction; the earlier access.
    pub first: (u32, u32),
    /// The later access.
    pub second: (u32, u32),
    /// Where.
    pub(crate) location: Location,
    /// Both write, and the later one what is there already: what `--allow-same-value` tolerates.
    pub(crate) same_value: bool,
}

/// The access that is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current<'c> {
    /// Number of the thread in the launch, or of its agent or copy.
    pub(crate) thread: u32,
    /// Instruction.
    pub(crate) code: u32,
    /// What the thread knows, or knew when the copy started.
    pub(crate) clock: &'c ThreadClock,
    /// What it writes is there already.
    pub(crate) same_value: bool,
    /// It reads the tensor map there, which has a proxy of its own.
    pub(crate) map: Option<Space>,
}

/// The detector of a launch.
pub(crate) struct Detector {
    /// By instruction.
    pub(crate) sites: Vec<Site>,
    /// Threads, warps and blocks.
    pub(crate) shape: Shape,
    /// By global array.
    global: Vec<Pages>,
    /// Bulk copies that barrier objects tell of.
    pub(crate) copies: Vec<BulkCopy>,
    /// By pair of instructions and whether they meet in shared memory.
    pub(crate) races: BTreeMap<(u32, u32, bool), Race>,
    /// Whether a location had more readers than it can remember: races may have been missed.
    pub(crate) forgot: bool,
    /// Writes of the same value do not race.
    pub(crate) allow_same_value: bool,
    /// Bytes of the shared memory of a block.
    shared_size: u32,
    /// What threads started on tensor memory.
    pub(crate) pipelines: Pipelines,
    /// Where their addresses are.
    pub(crate) addresses: AddressWords,
}

impl Detector {
    /// A detector for arrays of these sizes.
    pub(crate) fn new(
        sites: Vec<Site>,
        shape: Shape,
        (sizes, shared_size): (&[u64], u32),
        allow_same_value: bool,
    ) -> Self {
        let global = sizes.iter().map(|size| Pages::new(*size)).collect();
        let (copies, races) = (Vec::new(), BTreeMap::new());
        Detector {
            sites,
            shape,
            global,
            copies,
            races,
            forgot: false,
            allow_same_value,
            shared_size,
            pipelines: Pipelines::default(),
            addresses: AddressWords::default(),
        }
    }

    /// An access to global memory.
    pub(crate) fn global_access(&mut self, array: usize, offset: u64, bytes: u32, current: Current<'_>) {
        let mut pages = std::mem::take(&mut self.global[array]);
        for (word, mask) in words(offset, bytes) {
            let cell = pages.cell(word);
            self.check(cell, mask, current, |byte| Location::Global(array, word * 4 + byte));
        }
        self.global[array] = pages;
    }

    /// An access to shared memory.
    pub(crate) fn shared_access(&mut self, cells: &mut [Cell], offset: u32, bytes: u32, current: Current<'_>) {
        if !self.addresses.is_empty() {
            self.see_addresses(words(u64::from(offset), bytes).map(|(word, _)| word), current);
        }
        for (word, mask) in words(u64::from(offset), bytes) {
            let cell = &mut cells[word as usize];
            self.check(cell, mask, current, |byte| Location::Shared((word * 4 + byte) as u32));
        }
    }

    fn check(&mut self, cell: &mut Cell, mask: u32, current: Current<'_>, location: impl Fn(u64) -> Location) {
        let writes = self.sites[current.code as usize].writes;
        self.compare(&mut cell.writes, 0, mask, current, &location);
        // A read only replaces earlier reads.
        let from = if writes { 0 } else { cell.reads.newest() };
        self.compare(&mut cell.reads, from, mask, current, &location);
        let entry = Entry::new(current.thread, current.clock.epoch, current.code, mask);
        let list = if writes { &mut cell.writes } else { &mut cell.reads };
        self.forgot |= !list.insert(entry);
    }

    /// Compares an access with those of a list, and drops those of which it says all there is to say.
    fn compare(
        &mut self,
        list: &mut List,
        from: usize,
        mask: u32,
        current: Current<'_>,
        location: &impl Fn(u64) -> Location,
    ) {
        let site = self.sites[current.code as usize];
        let mut index = from;
        while let Some(entry) = list.get(index) {
            if entry.mask() & mask == 0 {
                index += 1;
                continue;
            }
            let other = self.sites[entry.code() as usize];
            let ordered = match current.map {
                Some(Space::Tensor) => self.unordered_tensor(current, &entry).is_none(),
                _ => self.later_than(current, &entry, location).is_after_all(&entry),
            };
            if !ordered && (site.writes || other.writes) {
                self.conflict(&entry, other, site, mask, current, location);
            }
            let covered = ordered
                && entry.mask() & !mask == 0
                && (site.writes || !other.writes)
                && (site.scope.is_none() || site.scope == other.scope && site.bytes == other.bytes)
                && (site.scope.is_none_or(|reach| reach == Reach::Device)
                    || self.shape.is_in_block_of(entry.span(), current.thread))
                && (current.map == Some(Space::Tensor) || self.tells_of(&entry, current.thread));
            if covered {
                list.remove(index);
            } else {
                index += 1;
            }
        }
    }

    /// Two accesses that conflict; they race unless they are morally strong.
    fn conflict(
        &mut self,
        entry: &Entry,
        other: Site,
        site: Site,
        mask: u32,
        current: Current<'_>,
        location: &impl Fn(u64) -> Location,
    ) {
        let same_value = current.same_value && site.writes && other.writes && !site.reads && !other.reads;
        if self.allow_same_value && same_value {
            return;
        }
        let complete = other.bytes == site.bytes && (site.bytes >= 4 || entry.mask() == mask);
        let complete = complete && self.is_bulk(entry.span().start) == self.is_bulk(current.thread);
        let strong = match (other.scope, site.scope) {
            (Some(a), Some(b)) if complete => Some(a.min(b)),
            _ => None,
        };
        if strong == Some(Reach::Device) {
            return;
        }
        let second = self.issuer(current.thread);
        let first = match current.map {
            Some(Space::Tensor) => self.unordered_tensor(current, entry),
            _ => {
                let later = self.later_than(current, entry, location);
                let is_apart =
                    |other: &u32| strong.is_none_or(|reach| !self.shape.is_within(reach, self.issuer(*other), second));
                later.unordered(entry.threads(), entry.clock).find(is_apart)
            }
        };
        let Some(first) = first else { return };
        let at = location(u64::from((entry.mask() & mask).trailing_zeros()));
        let shared = matches!(at, Location::Shared(_));
        let key = (entry.code().min(current.code), entry.code().max(current.code), shared);
        let first = (self.issuer(first), entry.code());
        let second = (second, current.code);
        let race = Race { first, second, location: at, same_value };
        let known = self.races.entry(key).or_insert_with(|| race.clone());
        // Different values are the graver defect of the pair.
        if known.same_value && !same_value {
            *known = race;
        }
    }
}

impl Detector {
    /// A bulk copy of a thread starts; its number.
    pub(crate) fn start_copy(&mut self, issuer: u32, object: u32, is_generic: bool) -> u32 {
        self.copies.push(BulkCopy { issuer, object, is_generic, phase: None });
        self.shape.copy(self.copies.len() as u32 - 1)
    }

    /// A bulk copy gave its bytes to its object in this phase.
    pub(crate) fn end_copy(&mut self, copy: u32, phase: u32) {
        if let Some(index) = self.shape.index_of_copy(copy) {
            self.copies[index as usize].phase = Some(phase);
        }
    }

    /// Whether who knows of the later of two ordered accesses knows of the earlier one. Who knows that an agent did something
    /// knows what it did before, but not what its thread did.
    fn tells_of(&self, earlier: &Entry, later: u32) -> bool {
        let object = |number: u32| self.shape.index_of_copy(number).map(|index| self.copies[index as usize].object);
        match object(later) {
            Some(told) => earlier.threads().all(|number| object(number) == Some(told)),
            None if self.shape.agent(later).is_some() => earlier.threads().all(|number| number == later),
            None => true,
        }
    }

    /// Whether it accesses memory through the asynchronous proxy.
    fn is_bulk(&self, number: u32) -> bool {
        let is_generic = |index: u32| self.copies[index as usize].is_generic;
        self.shape.is_bulk(number) && !self.shape.index_of_copy(number).is_some_and(is_generic)
    }

    /// The thread itself, or the one that started it.
    fn issuer(&self, number: u32) -> u32 {
        match self.shape.index_of_copy(number) {
            Some(index) => self.copies[index as usize].issuer,
            None => self.shape.issuer(number),
        }
    }

    /// The party of an access that is compared with an earlier one.
    fn later_than<'c>(&'c self, current: Current<'c>, entry: &Entry, location: &impl Fn(u64) -> Location) -> Later<'c> {
        let later = self.later(current, location);
        match later.proxy {
            Some(_) if !self.addresses.is_empty() && self.is_address(current, entry, location(0)) => {
                Later { proxy: None, ..later }
            }
            _ => later,
        }
    }

    /// The party of an access.
    fn later<'c>(&'c self, current: Current<'c>, location: &impl Fn(u64) -> Location) -> Later<'c> {
        let by_party = || match location(0) {
            Location::Global(..) => Space::Global,
            Location::Tensor { .. } => Space::Tensor,
            Location::Shared(offset) => Space::SharedOf(offset / self.shared_size.max(1)),
        };
        let proxy = current.map.or_else(|| self.is_bulk(current.thread).then(by_party));
        let (shape, copies, thread) = (self.shape, &self.copies[..], self.issuer(current.thread));
        Later { shape, copies, thread, clock: current.clock, proxy }
    }
}

/// The words of four bytes that an access covers, with a mask of the bytes.
fn words(offset: u64, bytes: u32) -> impl Iterator<Item = (u64, u32)> {
    let end = offset + u64::from(bytes);
    (offset / 4..end.div_ceil(4)).map(move |word| {
        let first = offset.saturating_sub(word * 4).min(4) as u32;
        let last = (end - word * 4).min(4) as u32;
        (word, (1 << last) - (1 << first))
    })
}
