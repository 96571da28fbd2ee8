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
use std::collections::BTreeMap;

/// What is known, by unit.
pub(super) type Clock = Vec<u32>;

/// Bytes that are told apart. An access of a part of a cell is one of the cell.
const CELL: u32 = 4;

/// Barriers of a block.
const BARRIERS: u32 = 16;

/// Bytes that a phase may count, either way.
const MOST_BYTES: i64 = (1 << 20) - 1;

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
    /// What it knew itself at such a fence.
    pub(super) at_fence: Clock,
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
    code: u32,
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
    /// Who came to the open phase, with what it knew; copies tell nothing.
    pub(super) came: Vec<(u32, Clock)>,
    /// What arrivals of the open phase, and of the one before, release.
    pub(super) open: [Clock; 2],
    pub(super) complete: [Clock; 2],
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
    pub(super) open: [Clock; 2],
    /// The first instruction of the generation.
    code: u32,
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
    Exited,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) threads: u32,
    /// All that are ever initialised, by offset, and their units.
    units: BTreeMap<u32, u32>,
    pub(super) known: Vec<Known>,
    pub(super) status: Vec<Status>,
    /// Events that each thread has begun, so that a thread that waits is at the last one of them.
    pub(super) position: Vec<usize>,
    pub(super) at: Vec<Option<Event>>,
    pub(super) objects: BTreeMap<u32, Object>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) cells: BTreeMap<u32, Cell>,
}

type Result<T> = std::result::Result<T, Refusal>;

fn raise(to: &mut Clock, from: &Clock) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = (*to).max(*from));
}

impl Block {
    /// `objects`: the offsets of all barrier objects.
    pub(super) fn new(threads: u32, objects: impl Iterator<Item = u32>) -> Block {
        let units: BTreeMap<u32, u32> = objects.zip(threads + BARRIERS..).collect();
        let all = (threads + BARRIERS) as usize + units.len();
        let known = |thread: u32| {
            let mut order = vec![0; all];
            order[thread as usize] = 1;
            Known { order, fenced: vec![0; all], at_fence: vec![0; all] }
        };
        let barrier = Barrier { open: [vec![0; all], vec![0; all]], ..Barrier::default() };
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
        }
    }

    pub(super) fn units(&self) -> usize {
        self.threads as usize + BARRIERS as usize + self.units.len()
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
        }
    }

    fn knows(&self, thread: u32, unit: u32, time: u32) -> bool {
        self.known[thread as usize].order[unit as usize] >= time
    }

    /// What a thread knows and releases; what it does from now on is not in it.
    fn release(&mut self, thread: u32) -> [Clock; 2] {
        let known = &mut self.known[thread as usize];
        let released = [known.order.clone(), known.fenced.clone()];
        known.order[thread as usize] += 1;
        released
    }

    fn acquire(&mut self, thread: u32, [order, fenced]: &[Clock; 2]) {
        let known = &mut self.known[thread as usize];
        raise(&mut known.order, order);
        raise(&mut known.fenced, fenced);
    }

    fn access(&mut self, thread: u32, code: u32, (at, bytes): (u32, u32), writes: bool) -> Result<()> {
        if self.units.keys().any(|object| *object < at + bytes && at < object + 8) {
            return Err(Refusal { code, why: Why::Object });
        }
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
        if self.units.keys().any(|object| *object < to + bytes && to < object + 8) {
            return Err(Refusal { code, why: Why::Object });
        }
        let object = self.admitted(thread, code, at)?;
        object.bytes -= i64::from(bytes);
        let (unit, phase) = (object.unit, object.phase);
        if object.bytes < -MOST_BYTES {
            return Err(Refusal { code, why: Why::Bytes });
        }
        object.brought = Some((phase, code));
        let stamp = Stamp { unit, time: phase + 1, code, is_async: true };
        for number in to / CELL..(to + bytes).div_ceil(CELL) {
            let cell = self.cells.entry(number).or_default();
            let known = &self.known[thread as usize];
            cell.check(true, |earlier| {
                let unit = earlier.unit as usize;
                let fenced = known.fenced[unit].max(known.at_fence[unit]);
                match () {
                    () if known.order[unit] < earlier.time => Some(Why::Race { other: earlier.code }),
                    () if !earlier.is_async && fenced < earlier.time => Some(Why::Proxy { other: earlier.code }),
                    () => None,
                }
            })
            .map_err(|why| Refusal { code, why })?;
            cell.note(stamp, true);
        }
        // It comes at any time from now on, and tells nothing of who started it.
        self.settle(at)
    }

    fn initialise(&mut self, thread: u32, code: u32, (at, count): (u32, u32)) -> Result<()> {
        let refuse = |why| Err(Refusal { code, why });
        if self.objects.contains_key(&at) {
            return refuse(Why::InitialisedTwice);
        }
        if count == 0 || i64::from(count) > MOST_BYTES {
            return refuse(Why::Count);
        }
        let is_near = |other: &&u32| **other != at && other.abs_diff(at) < 8;
        if self.units.keys().find(is_near).is_some()
            || self.cells.range(at / CELL..(at + 8).div_ceil(CELL)).next().is_some()
        {
            return refuse(Why::Object);
        }
        let time = self.known[thread as usize].order[thread as usize];
        let nothing = || [vec![0; self.units()], vec![0; self.units()]];
        let object = Object {
            unit: self.units[&at],
            count,
            pending: count,
            bytes: 0,
            phase: 0,
            by: (thread, time),
            came: Vec::new(),
            open: nothing(),
            complete: nothing(),
            waited: Vec::new(),
            brought: None,
        };
        self.objects.insert(at, object);
        Ok(())
    }

    /// An object of which a thread knows that it is initialised.
    fn object(&mut self, thread: u32, code: u32, at: u32) -> Result<&mut Object> {
        let refused = Refusal { code, why: Why::NotInitialised };
        let (by, time) = self.objects.get(&at).ok_or(refused.clone())?.by;
        if !self.knows(thread, by, time) {
            return Err(refused);
        }
        self.objects.get_mut(&at).ok_or(refused)
    }

    /// The same, where the thread may bring something to the open phase: it knows that the one before is complete.
    fn admitted(&mut self, thread: u32, code: u32, at: u32) -> Result<&mut Object> {
        let object = self.object(thread, code, at)?;
        let (unit, phase) = (object.unit, object.phase);
        match self.knows(thread, unit, phase) {
            true => self.object(thread, code, at),
            false => Err(Refusal { code, why: Why::Reused }),
        }
    }

    fn arrive(&mut self, thread: u32, code: u32, at: u32, (count, bytes): (u32, u32)) -> Result<()> {
        self.admitted(thread, code, at)?;
        let released = self.release(thread);
        let object = self.object(thread, code, at)?;
        if count == 0 || count > object.pending {
            return Err(Refusal { code, why: Why::TooMany });
        }
        object.pending -= count;
        object.bytes += i64::from(bytes);
        if object.bytes > MOST_BYTES {
            return Err(Refusal { code, why: Why::Bytes });
        }
        object.open.iter_mut().zip(&released).for_each(|(open, released)| raise(open, released));
        let [order, _] = released;
        object.came.push((thread, order));
        self.settle(at)
    }

    /// Where all has come, the phase is complete.
    fn settle(&mut self, at: u32) -> Result<()> {
        let units = self.units();
        let Some(object) = self.objects.get_mut(&at) else { return Ok(()) };
        if object.pending > 0 || object.bytes != 0 {
            return Ok(());
        }
        let phase = object.phase;
        for waited in object.waited.extract_if(.., |one| one.phases == phase) {
            let Waited { thread, time, behind, .. } = waited;
            let knows = |(other, clock): &(u32, Clock)| *other == thread || clock[thread as usize] >= time;
            if !object.came[behind as usize..].iter().any(knows) {
                return Err(Refusal { code: waited.code, why: Why::Overtaken });
            }
        }
        object.came.clear();
        object.complete = std::mem::replace(&mut object.open, [vec![0; units], vec![0; units]]);
        object.phase += 1;
        object.pending = object.count;
        for thread in 0..self.threads {
            if let Status::Object { at: other, phases } = self.status[thread as usize]
                && other == at
            {
                let code = self.at[thread as usize].map_or(0, |event| event.code);
                self.pass(thread, code, at, phases)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, thread: u32, code: u32, at: u32, parity: u32) -> Result<()> {
        let unit = self.object(thread, code, at)?.unit;
        let known = self.known[thread as usize].order[unit as usize];
        // The parity is that of the last phase that has to be complete. So many are at least.
        let phases = known + u32::from(known % 2 == parity);
        let phase = self.object(thread, code, at)?.phase;
        if phase < phases {
            self.status[thread as usize] = Status::Object { at, phases };
            return Ok(());
        }
        self.pass(thread, code, at, phases)
    }

    /// A thread goes on behind a wait.
    fn pass(&mut self, thread: u32, code: u32, at: u32, phases: u32) -> Result<()> {
        let object = self.object(thread, code, at)?;
        if object.phase != phases {
            return Err(Refusal { code, why: Why::Overtaken });
        }
        let (unit, complete) = (object.unit, object.complete.clone());
        if phases > 0 {
            self.acquire(thread, &complete);
            self.known[thread as usize].order[unit as usize] = phases;
        }
        self.status[thread as usize] = Status::Runs;
        let time = self.known[thread as usize].order[thread as usize];
        let object = self.object(thread, code, at)?;
        object.waited.retain(|waited| waited.thread != thread || waited.phases != phases);
        let behind = object.came.len() as u32;
        object.waited.push(Waited { thread, time, phases, behind, code });
        Ok(())
    }

    /// The lanes of a warp that have not exited.
    fn live(&self, warp: u32) -> Vec<u32> {
        let lanes = warp * 32..(warp * 32 + 32).min(self.threads);
        lanes.filter(|lane| self.status[*lane as usize] != Status::Exited).collect()
    }

    /// Where all lanes of a warp that have to have come to a barrier or an operation, it takes place.
    fn meet(&mut self, warp: u32) -> Result<()> {
        let live = self.live(warp);
        let is_there = |lane: &&u32| self.status[**lane as usize] == Status::Lanes;
        let there: Vec<(u32, Event)> =
            live.iter().filter(is_there).filter_map(|lane| Some((*lane, self.at[*lane as usize]?))).collect();
        let Some((_, first)) = there.first().copied() else { return Ok(()) };
        if let Action::Barrier { .. } = first.action {
            if there.iter().any(|(_, event)| *event != first) {
                return Err(Refusal { code: first.code, why: Why::Warp });
            }
            return if there.len() == live.len() { self.arrive_warp(warp, &live, first) } else { Ok(()) };
        }
        // Each mask for itself.
        for (lane, event) in &there {
            let Action::Warp { members, orders } = event.action else {
                return Err(Refusal { code: event.code, why: Why::Warp });
            };
            let meant: Vec<u32> = (0..32).filter(|bit| members >> bit & 1 == 1).map(|bit| warp * 32 + bit).collect();
            if meant.iter().any(|member| *member >= self.threads || self.status[*member as usize] == Status::Exited) {
                return Err(Refusal { code: event.code, why: Why::Exited });
            }
            if meant.first() != Some(lane) {
                continue;
            }
            let same = there.iter().filter(|(_, other)| other == event).count();
            if same == meant.len() {
                let mut all: Option<[Clock; 2]> = None;
                for member in meant.iter().filter(|_| orders) {
                    let released = self.release(*member);
                    match &mut all {
                        None => all = Some(released),
                        Some(all) => all.iter_mut().zip(&released).for_each(|(all, one)| raise(all, one)),
                    }
                }
                for member in &meant {
                    all.iter().for_each(|all| self.acquire(*member, all));
                    self.status[*member as usize] = Status::Runs;
                }
            }
        }
        Ok(())
    }

    /// A warp comes to a barrier.
    fn arrive_warp(&mut self, warp: u32, lanes: &[u32], event: Event) -> Result<()> {
        let Event { code, action: Action::Barrier { id, count, arrives, aligned } } = event else { return Ok(()) };
        let refuse = |why| Err(Refusal { code, why });
        let all = self.threads.next_multiple_of(32);
        if id >= BARRIERS || count.is_some_and(|count| count == 0 || count % 32 != 0 || count > all) {
            return refuse(Why::Count);
        }
        if count.is_none() && (arrives || self.status.contains(&Status::Exited)) {
            return refuse(Why::Exited);
        }
        let unit = self.threads + id;
        let generation = self.barriers[id as usize].generation;
        if !lanes.iter().any(|lane| self.knows(*lane, unit, generation)) {
            return refuse(Why::Reused);
        }
        let barrier = &self.barriers[id as usize];
        if !barrier.warps.is_empty() && barrier.count != count {
            return refuse(Why::Count);
        }
        // "All threads in the CTA must execute the same instruction."
        if !barrier.warps.is_empty() && aligned && count.is_none() && barrier.code != code {
            return refuse(Why::Warp);
        }
        if barrier.warps.contains(&warp) {
            return refuse(Why::TooMany);
        }
        for lane in lanes {
            let released = self.release(*lane);
            let barrier = &mut self.barriers[id as usize];
            barrier.open.iter_mut().zip(&released).for_each(|(open, released)| raise(open, released));
            self.status[*lane as usize] = if arrives { Status::Runs } else { Status::Barrier };
        }
        let barrier = &mut self.barriers[id as usize];
        (barrier.count, barrier.code) = (count, code);
        barrier.warps.push(warp);
        if !arrives {
            barrier.waiting.extend(lanes);
        }
        if (barrier.warps.len() as u32) * 32 < count.unwrap_or(all) {
            return Ok(());
        }
        let units = self.units();
        let barrier = &mut self.barriers[id as usize];
        barrier.generation += 1;
        barrier.warps.clear();
        let (waiting, generation) = (std::mem::take(&mut barrier.waiting), barrier.generation);
        let open = std::mem::replace(&mut barrier.open, [vec![0; units], vec![0; units]]);
        for lane in waiting {
            self.acquire(lane, &open);
            self.known[lane as usize].order[unit as usize] = generation;
            self.status[lane as usize] = Status::Runs;
        }
        Ok(())
    }

    /// Whether all threads have exited, and nothing is left.
    pub(super) fn finish(&self) -> Result<()> {
        if let Some(thread) = self.status.iter().position(|status| *status != Status::Exited) {
            let code = self.at[thread].map_or(0, |event| event.code);
            return Err(Refusal { code, why: Why::Stuck });
        }
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
