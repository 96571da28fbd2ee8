//! All interleavings of a protocol.
//!
//! Input: a [`Protocol`]. Output: every defect that some schedule can show. Establishes: the answer is complete, because each
//! reachable state is visited: how far the threads are, the barriers, which copies are under way, and what each thread and each
//! barrier knows. Two accesses race in an execution if none knows the other, so what is before a thread's next operation is a set
//! of accesses, and no order in time matters. Accesses, issues of copies and waits for groups commute with all that other threads
//! do, so a thread does them at once.
//! Relies on: nothing of `src/exec`; README.md has the rules.
//! Reference: PTX ISA, "Memory Consistency Model", `bar`, "mbarrier", `cp.async`, "Async Proxy".

use crate::protocol::{Fenced, NAMED, OBJECTS, Operation, Place, Protocol, Space, THREADS};
use crate::state::{Known, NO_TOKEN, Named, Object, State, Wrong};
use crate::table::{Accesses, Facts, Table};
use foldhash::{HashSet, HashSetExt as _};
use std::collections::BTreeSet;

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// Two operations race; the smaller place first.
    Race(Place, Place),
    /// An operation breaks the rules of a barrier.
    BarrierError(Place),
    /// Threads wait for ever.
    Deadlock,
}

impl Defect {
    /// The verdict's name.
    pub fn name(&self) -> &'static str {
        match self {
            Defect::Race(..) => "race",
            Defect::BarrierError(_) => "barrier-error",
            Defect::Deadlock => "deadlock",
        }
    }
}

/// What the oracle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These defects and no others.
    Defects(BTreeSet<Defect>),
    /// More states than asked for, or more accesses than a set has bits.
    Large,
    /// The ISA leaves open what happens: README.md.
    Open,
}

/// Explores a protocol, up to a number of states.
pub fn explore(protocol: &Protocol, limit: usize) -> Answer {
    assert!(protocol.threads.len() <= THREADS && protocol.objects.len() <= OBJECTS, "a protocol is too large");
    let Some(table) = Table::of(protocol) else { return Answer::Large };
    let mut oracle = Oracle { protocol, table, defects: BTreeSet::new(), is_open: false };
    let mut first = State::new(&protocol.objects);
    for thread in 0..protocol.threads.len() {
        oracle.advance(&mut first, thread);
    }
    let mut seen = HashSet::new();
    seen.insert(first.clone());
    let mut work = vec![first];
    while let Some(state) = work.pop() {
        for next in oracle.successors(&state) {
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
        if seen.len() > limit {
            return Answer::Large;
        }
        if oracle.is_open {
            return Answer::Open;
        }
    }
    Answer::Defects(oracle.defects)
}

struct Oracle<'p> {
    protocol: &'p Protocol,
    table: Table,
    defects: BTreeSet<Defect>,
    is_open: bool,
}

impl Oracle<'_> {
    /// The states after one more step; a deadlock if no thread ever has one and not all are through.
    fn successors(&mut self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        if (0..self.protocol.threads.len()).all(|thread| state.at(thread) == self.protocol.threads[thread].len()) {
            self.end(state);
        }
        for agent in bits(state.underway) {
            let mut state = state.clone();
            match self.finish(&mut state, agent) {
                Ok(()) => next.push(state),
                Err(wrong) => self.note(wrong, self.table.agents[agent]),
            }
        }
        let mut is_stuck = true;
        for thread in 0..self.protocol.threads.len() {
            let place = (thread, state.at(thread));
            let Some(operation) = self.protocol.threads[thread].get(place.1) else { continue };
            if state.is_waiting(thread) {
                continue;
            }
            let mut state = state.clone();
            match self.step(&mut state, place, operation) {
                Ok(true) => {
                    is_stuck = false;
                    next.push(state);
                }
                Ok(false) => {}
                Err(wrong) => {
                    is_stuck = false;
                    self.note(wrong, place);
                }
            }
        }
        if is_stuck && self.is_deadlock(state) {
            self.defects.insert(Defect::Deadlock);
        }
        next
    }

    /// All threads are through: no bulk copy still reads or writes shared memory.
    fn end(&mut self, state: &State) {
        let loads = bits(state.underway).map(|agent| self.table.agents[agent]);
        let is_load = |place: &Place| matches!(self.protocol.threads[place.0][place.1], Operation::BulkLoad { .. });
        let mut wrong: Vec<Place> = loads.filter(is_load).collect();
        for (thread, operations) in self.protocol.threads.iter().enumerate() {
            let stores = operations.iter().enumerate().filter(|(_, one)| matches!(one, Operation::BulkStore { .. }));
            let reads = |number: usize| self.table.facts[thread][number].accesses & self.table.shared;
            let is_open = |number: &usize| reads(*number) & !state.known[thread].all != 0;
            wrong.extend(stores.map(|(number, _)| number).filter(is_open).map(|number| (thread, number)));
        }
        self.defects.extend(wrong.into_iter().map(Defect::BarrierError));
    }

    /// Whether some threads are not through, none can go on, and no agent changes that; one that breaks a rule does not.
    fn is_deadlock(&mut self, state: &State) -> bool {
        let mut is_anyone_left = false;
        for thread in 0..self.protocol.threads.len() {
            let place = (thread, state.at(thread));
            let Some(operation) = self.protocol.threads[thread].get(place.1) else { continue };
            is_anyone_left = true;
            if !state.is_waiting(thread) && self.step(&mut state.clone(), place, operation) != Ok(false) {
                return false;
            }
        }
        is_anyone_left
            && bits(state.underway).all(|agent| {
                let mut next = state.clone();
                self.finish(&mut next, agent).is_err() || self.is_deadlock(&next)
            })
    }

    fn note(&mut self, wrong: Wrong, place: Place) {
        match wrong {
            Wrong::Error => {
                self.defects.insert(Defect::BarrierError(place));
            }
            Wrong::Open => self.is_open = true,
        }
    }

    /// Whether an object is initialised before all threads begin; no other is ever.
    fn is_live(&self, object: usize) -> bool {
        self.protocol.objects.get(object).copied().flatten().is_some()
    }

    /// A thread does all that commutes with what others do.
    fn advance(&mut self, state: &mut State, thread: usize) {
        while let Some(operation) = self.protocol.threads[thread].get(state.at(thread)) {
            let facts = self.table.facts[thread][state.at(thread)];
            match *operation {
                Operation::Access { .. } => {
                    self.perform(state, thread, facts);
                    state.known[thread].all |= facts.accesses;
                }
                Operation::Copy { .. } | Operation::BulkStore { .. } => self.perform(state, thread, facts),
                Operation::CopyArrive { object, noinc: true } if self.is_live(object) && facts.accesses == 0 => {
                    state.start(facts.agent);
                }
                Operation::BulkLoad { object, .. } if self.is_live(object) => {
                    self.perform(state, thread, facts);
                    state.start(facts.agent);
                }
                Operation::Commit | Operation::BulkCommit => {}
                Operation::WaitGroup { .. } | Operation::BulkWait { .. } => state.known[thread].all |= facts.complete,
                Operation::Fence(fenced) => {
                    let covered = match fenced {
                        Fenced::All => Accesses::MAX,
                        Fenced::Only(Space::Shared) => self.table.shared,
                        Fenced::Only(Space::Global) => !self.table.shared,
                    };
                    let known = &mut state.known[thread];
                    known.fenced |= known.all & covered;
                }
                _ => return,
            }
            state.pass(thread);
        }
    }

    /// The accesses of a thread's next operation, or of the copy that it starts.
    fn perform(&mut self, state: &State, thread: usize, facts: Facts) {
        let table = &self.table;
        let done = (0..table.done.len()).fold(0, |done, thread| done | table.done[thread][state.at(thread)]);
        let Known { all, fenced } = state.known[thread];
        for access in bits(facts.accesses) {
            // What the generic proxy did is before what the asynchronous proxy does only through a proxy fence.
            let is_bulk = table.bulk >> access & 1 == 1;
            let ordered = if is_bulk { all & (fenced | table.bulk) } else { all };
            for other in bits(done & table.conflicts[access] & !ordered) {
                let (a, b) = (table.places[access], table.places[other]);
                self.defects.insert(Defect::Race(a.min(b), a.max(b)));
            }
        }
    }

    /// A thread's next operation, where others matter; false if it has to wait.
    fn step(&mut self, state: &mut State, place: Place, operation: &Operation) -> Result<bool, Wrong> {
        let thread = place.0;
        let facts = self.table.facts[thread][place.1];
        if facts.accesses != 0 {
            self.come_to_object(state, place, facts);
        }
        match *operation {
            Operation::Sync { id, warps } => return self.meet(state, thread, (id, warps), true).map(|()| true),
            Operation::Arrive { id, warps } => return self.meet(state, thread, (id, warps), false).map(|()| true),
            Operation::Init { object, .. } | Operation::Touch { object, .. } => {
                // What races with the first initialisation, or with accesses to bytes that are no object yet, is not asked.
                return Err(if state.objects[object].live().is_ok() { Wrong::Error } else { Wrong::Open });
            }
            Operation::ArriveOn { object, release, expected } => {
                let known = if release { state.known[thread] } else { Known::default() };
                let object_state = state.objects[object].live()?;
                object_state.expect(expected.unwrap_or(0))?;
                state.tokens[thread][object] = object_state.completed;
                object_state.arrive(known)?;
            }
            Operation::Drop { object } => {
                let known = state.known[thread];
                state.objects[object].live()?.drop_out(known)?;
            }
            Operation::Expect { object, bytes } => {
                let object = state.objects[object].live()?;
                object.expect(bytes)?;
                object.complete();
            }
            Operation::WaitParity { object, parity, acquire, .. } => {
                let object = state.objects[object].live()?;
                if u32::from(object.completed) % 2 == parity {
                    return Ok(false);
                }
                let known = object.observe();
                state.known[thread].join(if acquire { known } else { Known::default() });
            }
            Operation::WaitToken { object, acquire } => {
                let token = state.tokens[thread][object];
                let object = state.objects[object].live()?;
                if token == NO_TOKEN {
                    return Err(Wrong::Open);
                }
                match object.completed.checked_sub(token) {
                    Some(0) | None => return Ok(false),
                    Some(1) => {}
                    // Only the current phase and the one before it may be asked for.
                    Some(_) => return Err(Wrong::Error),
                }
                let known = object.observe();
                state.known[thread].join(if acquire { known } else { Known::default() });
            }
            Operation::CopyArrive { object, noinc } => {
                state.objects[object].live()?.pending += u32::from(!noinc);
                state.start(facts.agent);
            }
            Operation::BulkLoad { .. } => return Err(Wrong::Error),
            // The others are done by `advance`.
            _ => return Ok(false),
        }
        state.pass(thread);
        self.advance(state, thread);
        Ok(true)
    }

    /// An operation on an object that some thread initialises again, or touches: as an access to its bytes.
    fn come_to_object(&mut self, state: &mut State, (thread, number): Place, facts: Facts) {
        self.perform(state, thread, facts);
        state.known[thread].all |= facts.accesses;
        // A wait that is not over was there in vain.
        for other in (0..self.protocol.threads.len()).filter(|other| *other != thread) {
            let waits = matches!(
                self.protocol.threads[other].get(state.at(other)),
                Some(Operation::WaitParity { .. } | Operation::WaitToken { .. })
            );
            let meets = |waiting: &Facts| {
                bits(facts.accesses).any(|access| self.table.conflicts[access] & waiting.accesses != 0)
            };
            if waits && self.table.facts[other].get(state.at(other)).is_some_and(meets) {
                let (a, b) = ((thread, number), (other, state.at(other)));
                self.defects.insert(Defect::Race(a.min(b), a.max(b)));
            }
        }
    }

    /// A warp comes to a named barrier.
    fn meet(&mut self, state: &mut State, thread: usize, (id, warps): (usize, u32), waits: bool) -> Result<(), Wrong> {
        let known = state.known[thread];
        let barrier = &mut state.named[(id - 1).min(NAMED - 1)];
        let is_new = barrier.came == 0;
        if barrier.came >> thread & 1 == 1 || !is_new && barrier.warps != warps as u8 {
            return Err(Wrong::Error);
        }
        barrier.warps = warps as u8;
        barrier.came |= 1 << thread;
        barrier.waits |= u8::from(waits) << thread;
        barrier.known.join(known);
        let all_came = barrier.came.count_ones() == warps;
        let passed = if all_came { std::mem::take(barrier) } else { Named::default() };
        if !waits {
            state.pass(thread);
            self.advance(state, thread);
        }
        for waiting in bits(u64::from(passed.waits)) {
            state.known[waiting].join(passed.known);
            state.pass(waiting);
            self.advance(state, waiting);
        }
        Ok(())
    }

    /// A copy is complete, or the copies behind which an arrival stands are.
    fn finish(&mut self, state: &mut State, agent: usize) -> Result<(), Wrong> {
        state.underway &= !(1 << agent);
        let (thread, number) = self.table.agents[agent];
        let known = Known { all: self.table.facts[thread][number].complete, fenced: 0 };
        let operation = &self.protocol.threads[thread][number];
        let object: &mut Object = state.objects[operation.object().unwrap_or(0)].live()?;
        match *operation {
            Operation::BulkLoad { bytes, .. } => object.finish_bytes(bytes, known),
            _ => object.arrive(known),
        }
    }
}

/// The numbers of the bits that are set.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}
