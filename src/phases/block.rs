//! The threads of a block together, in one schedule.
//!
//! Input: what each thread does next. Output: what of the obligations fails. Establishes: as `sync` does for one execution ([`crate::sync`],
//! "Why one execution is enough"): who comes to a phase of a barrier knows that the one before is complete, no wait can be
//! overtaken, accesses of the same bytes are ordered by barriers, also through the proxies, and nobody waits for ever. What is
//! known is knowledge in causality order only. Relies on: nothing. Reference: PTX ISA, `barrier`, `mbarrier`, "Async Proxy", "Memory Consistency Model"; phases-notes
//! section 1.2.
//!
//! A *unit* is something that counts: a thread (its times), a barrier object (its phases), a barrier (its generations).
//! To know `n` of a thread is to know all that it did at times up to `n`; of a barrier, that `n` phases are complete. A bulk copy is
//! known to be over by who knows that the phase is complete that it tells.

use super::event::{Action, Event, Refusal, Why};
use super::products::{Products, WarpGroup};
use crate::limits;
use std::cell::Cell as Flag;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is known, by unit.
pub(super) type Clock = Vec<u32>;

/// What threads tell each other: the clocks of [`Known`] but for the last one.
pub(super) type Told = [Clock; 3];

/// Bytes that are told apart. An access of a part of a cell is one of the cell.
pub(super) const CELL: u32 = 4;

/// Barriers of a block.
pub(super) const BARRIERS: u32 = 16;

/// Bytes that a phase may count, either way.
pub(super) const MOST_BYTES: i64 = (1 << 20) - 1;

/// An access of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Who knows so much of this unit, knows that it is over.
    pub(super) unit: u32,
    pub(super) time: u32,
    pub(super) code: u32,
    /// By the asynchronous proxy.
    pub(super) is_async: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) write: Option<Stamp>,
    pub(super) reads: Vec<Stamp>,
}

/// What a thread knows.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// By causality order.
    pub(super) order: Clock,
    /// Of that, what threads had done before fences for the asynchronous proxy of their own.
    pub(super) fenced: Clock,
    /// What is earlier in time, though not before in causality order. Empty where nothing is.
    pub(super) time: Clock,
    /// What it knew itself at such a fence.
    pub(super) at_fence: Clock,
}

impl Known {
    /// How much of a unit is earlier, be it in time.
    pub(super) fn in_time(&self, unit: u32) -> u32 {
        let unit = unit as usize;
        self.order[unit].max(self.time.get(unit).copied().unwrap_or(0))
    }
}

/// A wait that ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub(super) thread: u32,
    pub(super) time: u32,
    /// How many phases were complete.
    pub(super) phases: u32,
    /// What had come to the next one before.
    pub(super) behind: u32,
    pub(super) code: u32,
}

/// A barrier object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) unit: u32,
    pub(super) count: u32,
    pub(super) pending: u32,
    pub(super) bytes: i64,
    pub(super) phase: u32,
    /// Who initialised it, and when.
    pub(super) by: (u32, u32),
    /// Who came to the open phase, with what it knew by order and, beyond that, in time; copies tell nothing.
    pub(super) came: Vec<(u32, [Clock; 2])>,
    /// What arrivals of the open phase, and of the one before, release.
    pub(super) open: Told,
    pub(super) complete: Told,
    pub(super) waited: Vec<Waited>,
    /// The last phase to which a copy brought bytes.
    pub(super) brought: Option<(u32, u32)>,
}

/// A barrier of the block.
#[derive(Clone, Debug, Default)]
pub(super) struct Barrier {
    pub(super) generation: u32,
    pub(super) count: Option<u32>,
    pub(super) warps: Vec<u32>,
    pub(super) waiting: Vec<u32>,
    pub(super) open: Told,
    /// The first instruction of the generation.
    pub(super) code: u32,
}

/// Why a thread does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Runs,
    /// For the other lanes of its warp.
    Lanes,
    /// For a generation of a barrier.
    Barrier,
    /// For so many phases of an object.
    Object {
        at: u32,
        phases: u32,
    },
    /// Until its warp group has started so many products.
    Products {
        last: u32,
    },
    Exited,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) threads: u32,
    /// All that are ever initialised, by offset, and their units.
    pub(super) units: BTreeMap<u32, u32>,
    pub(super) known: Vec<Known>,
    pub(super) status: Vec<Status>,
    /// Events that each thread has begun, so that a thread that waits is at the last one of them.
    pub(super) position: Vec<usize>,
    pub(super) at: Vec<Option<Event>>,
    pub(super) objects: BTreeMap<u32, Object>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) cells: BTreeMap<u32, Cell>,
    /// Empty where nothing starts products.
    pub(super) groups: Vec<WarpGroup>,
    pub(super) products: Vec<Products>,
    /// Whether something rests on order in time; of all blocks that were made of this one.
    pub(super) in_time: Rc<Flag<bool>>,
}

pub(super) type Result<T> = std::result::Result<T, Refusal>;

pub(super) fn raise(to: &mut [u32], from: &[u32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = (*to).max(*from));
}

impl Block {
    /// `objects`: the offsets of all barrier objects.
    pub(super) fn new(threads: u32, objects: impl Iterator<Item = u32>, has_products: bool) -> Block {
        let units: BTreeMap<u32, u32> = objects.zip(threads + BARRIERS..).collect();
        let first = threads + BARRIERS + units.len() as u32;
        let groups = if has_products { WarpGroup::all(first, threads) } else { Vec::new() };
        let all = first as usize + groups.len();
        let time = vec![0; if has_products { all } else { 0 }];
        let known = |thread: u32| {
            let mut order = vec![0; all];
            order[thread as usize] = 1;
            Known { order, fenced: vec![0; all], time: time.clone(), at_fence: vec![0; all] }
        };
        let barrier = Barrier { open: [vec![0; all], vec![0; all], time.clone()], ..Barrier::default() };
        Block {
            threads,
            units,
            known: (0..threads).map(known).collect(),
            status: vec![Status::Runs; threads as usize],
            position: vec![0; threads as usize],
            at: vec![None; threads as usize],
            objects: BTreeMap::new(),
            barriers: vec![barrier; BARRIERS as usize],
            cells: BTreeMap::new(),
            groups,
            products: vec![Products::default(); if has_products { threads as usize } else { 0 }],
            in_time: Rc::default(),
        }
    }

    pub(super) fn units(&self) -> usize {
        self.threads as usize + BARRIERS as usize + self.units.len() + self.groups.len()
    }

    /// What tells nothing.
    pub(super) fn nothing(&self) -> Told {
        let all = self.units();
        [vec![0; all], vec![0; all], vec![0; if self.groups.is_empty() { 0 } else { all }]]
    }

    /// How much each unit has counted.
    pub(super) fn counts(&self) -> Clock {
        let mut counts = vec![0; self.units()];
        for (thread, known) in self.known.iter().enumerate() {
            counts[thread] = known.order[thread];
        }
        for (id, barrier) in self.barriers.iter().enumerate() {
            counts[self.threads as usize + id] = barrier.generation;
        }
        for object in self.objects.values() {
            counts[object.unit as usize] = object.phase;
        }
        for group in &self.groups {
            counts[group.unit as usize] =
                group.threads.clone().map(|one| self.products[one].started).max().unwrap_or(0);
        }
        counts
    }

    /// The units of which the parity matters.
    pub(super) fn object_units(&self) -> impl Iterator<Item = u32> + '_ {
        self.units.values().copied()
    }

    /// Runs all threads as far as they go: thread `t` does the events `of(t)` beyond its position. `ends`: those exit that come to
    /// their end.
    pub(super) fn run<'e>(&mut self, of: impl Fn(u32) -> &'e [Event], ends: impl Fn(u32) -> bool) -> Result<()> {
        loop {
            limits::check_now();
            let mut has_run = false;
            for thread in 0..self.threads {
                let events = of(thread);
                while self.status[thread as usize] == Status::Runs {
                    let position = self.position[thread as usize];
                    let Some(event) = events.get(position) else {
                        if ends(thread) {
                            has_run = true;
                            self.status[thread as usize] = Status::Exited;
                            self.meet(thread / 32)?;
                        }
                        break;
                    };
                    has_run = true;
                    self.position[thread as usize] += 1;
                    self.at[thread as usize] = Some(*event);
                    self.act(thread, *event)?;
                }
            }
            if !has_run {
                return Ok(());
            }
        }
    }

    fn act(&mut self, thread: u32, Event { code, action }: Event) -> Result<()> {
        match action {
            Action::Access { at, bytes, writes } => self.access(thread, code, (at, bytes), writes),
            Action::Barrier { .. } => {
                self.status[thread as usize] = Status::Lanes;
                self.meet(thread / 32)
            }
            Action::Warp { members, .. } => {
                if members >> (thread % 32) & 1 == 0 {
                    return Err(Refusal { code, why: Why::Warp });
                }
                self.status[thread as usize] = Status::Lanes;
                self.meet(thread / 32)
            }
            Action::Initialise { at, count } => self.initialise(thread, code, (at, count)),
            Action::Arrive { at, count, bytes } => self.arrive(thread, code, at, (count, bytes)),
            Action::Wait { at, parity } => self.wait(thread, code, at, parity),
            Action::Copy { to, bytes, object } => self.copy(thread, code, (to, bytes), object),
            Action::ProxyFence => {
                let known = &mut self.known[thread as usize];
                let time = known.order[thread as usize];
                known.fenced[thread as usize] = time;
                known.at_fence.clone_from(&known.order);
                known.order[thread as usize] = time + 1;
                Ok(())
            }
            Action::Product { a, b } => self.product(thread, code, a, b),
            Action::ProductCommit => self.commit_products(thread, code),
            Action::ProductWait { pending } => self.wait_products(thread, code, pending),
            Action::Together => self.together(thread, code),
        }
    }

    pub(super) fn knows(&self, thread: u32, unit: u32, time: u32) -> bool {
        self.known[thread as usize].order[unit as usize] >= time
    }

    /// What a thread knows and releases; what it does from now on is not in it.
    pub(super) fn release(&mut self, thread: u32) -> Told {
        let known = &mut self.known[thread as usize];
        let released = [known.order.clone(), known.fenced.clone(), known.time.clone()];
        known.order[thread as usize] += 1;
        released
    }

    pub(super) fn acquire(&mut self, thread: u32, [order, fenced, time]: &Told) {
        let known = &mut self.known[thread as usize];
        raise(&mut known.order, order);
        raise(&mut known.fenced, fenced);
        raise(&mut known.time, time);
    }

    /// What accesses these bytes accesses no barrier object.
    pub(super) fn beside_objects(&self, code: u32, (at, bytes): (u32, u32)) -> Result<()> {
        match self.units.keys().any(|object| *object < at + bytes && at < object + 8) {
            true => Err(Refusal { code, why: Why::Object }),
            false => Ok(()),
        }
    }

    fn access(&mut self, thread: u32, code: u32, (at, bytes): (u32, u32), writes: bool) -> Result<()> {
        self.beside_objects(code, (at, bytes))?;
        let time = self.known[thread as usize].order[thread as usize];
        let stamp = Stamp { unit: thread, time, code, is_async: false };
        for number in at / CELL..(at + bytes).div_ceil(CELL) {
            let cell = self.cells.entry(number).or_default();
            let known = &self.known[thread as usize].order;
            cell.check(writes, |earlier| {
                let is_known = known[earlier.unit as usize] >= earlier.time;
                if is_known { None } else { Some(Why::Race { other: earlier.code }) }
            })
            .map_err(|why| Refusal { code, why })?;
            cell.note(stamp, writes);
        }
        Ok(())
    }

    /// A bulk copy writes shared memory.
    fn copy(&mut self, thread: u32, code: u32, (to, bytes): (u32, u32), at: u32) -> Result<()> {
        self.beside_objects(code, (to, bytes))?;
        let object = self.admitted(thread, code, at)?;
        object.bytes -= i64::from(bytes);
        let (unit, phase) = (object.unit, object.phase);
        if object.bytes < -MOST_BYTES {
            return Err(Refusal { code, why: Why::Bytes });
        }
        object.brought = Some((phase, code));
        let stamp = Stamp { unit, time: phase + 1, code, is_async: true };
        self.access_async(thread, (to, bytes), stamp, true)?;
        // It comes at any time from now on, and tells nothing of who started it.
        self.settle(at)
    }

    /// An access through the asynchronous proxy that a thread starts.
    pub(super) fn access_async(
        &mut self,
        thread: u32,
        (at, bytes): (u32, u32),
        stamp: Stamp,
        writes: bool,
    ) -> Result<()> {
        for number in at / CELL..(at + bytes).div_ceil(CELL) {
            let cell = self.cells.entry(number).or_default();
            let known = &self.known[thread as usize];
            cell.check(writes, |earlier| {
                let unit = earlier.unit as usize;
                let fenced = known.fenced[unit].max(known.at_fence[unit]);
                match () {
                    () if known.order[unit] < earlier.time => Some(Why::Race { other: earlier.code }),
                    () if !earlier.is_async && fenced < earlier.time => Some(Why::Proxy { other: earlier.code }),
                    () => None,
                }
            })
            .map_err(|why| Refusal { code: stamp.code, why })?;
            cell.note(stamp, writes);
        }
        Ok(())
    }

    /// Whether all threads have exited, and nothing is left.
    pub(super) fn finish(&self) -> Result<()> {
        if let Some(thread) = self.status.iter().position(|status| *status != Status::Exited) {
            let code = self.at[thread].map_or(0, |event| event.code);
            return Err(Refusal { code, why: Why::Stuck });
        }
        self.check_groups()?;
        for object in self.objects.values() {
            let Some((phase, code)) = object.brought else { continue };
            if !(0..self.threads).any(|thread| self.knows(thread, object.unit, phase + 1)) {
                return Err(Refusal { code, why: Why::Underway });
            }
        }
        Ok(())
    }
}

impl Cell {
    fn check(&self, writes: bool, problem: impl Fn(&Stamp) -> Option<Why>) -> std::result::Result<(), Why> {
        let reads = self.reads.iter().filter(|_| writes);
        self.write.iter().chain(reads).find_map(problem).map_or(Ok(()), Err)
    }

    /// What is before a write is before all that is behind it.
    fn note(&mut self, stamp: Stamp, writes: bool) {
        if writes {
            self.write = Some(stamp);
            self.reads.clear();
        } else {
            self.reads.retain(|read| read.unit != stamp.unit);
            self.reads.push(stamp);
        }
    }
}
