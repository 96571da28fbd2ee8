//! All interleavings of a protocol.
//!
//! Input: a [`Protocol`]. Output: every defect that some schedule can show. Establishes: the answer is complete, because each
//! reachable state is visited: how far the threads are, the barriers, which copies are under way, and what each thread and each
//! barrier knows. Two accesses race in an execution if none knows the other, so what is before a thread's next operation is a set
//! of accesses, and no order in time matters. Accesses, issues of copies and waits for groups commute with all that other threads
//! do, so a thread does them at once.
//! Relies on: nothing of `src/exec`; README.md has the rules.
//! Reference: PTX ISA, "Memory Consistency Model", `bar`, "mbarrier", `cp.async`, "Async Proxy".

use super::protocol::{Fenced, NAMED, OBJECTS, Operation, Place, Protocol, THREADS};
use super::state::{Known, NO_TOKEN, Named, State, Wrong};
use super::table::{Accesses, Facts, Table};
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
        let is_through = |thread: usize| state.at(thread) == self.protocol.threads[thread].len();
        if self.protocol.blocks == 1 && (0..self.protocol.threads.len()).all(is_through) {
            self.end(state, 0);
        }
        for agent in bits(state.underway) {
            let mut state = state.clone();
            match self.finish(&mut state, agent) {
                Ok(()) => next.push(state),
                Err(wrong) => self.note(wrong, self.table.agents[agent].place),
            }
        }
        let mut is_stuck = true;
        for thread in 0..self.protocol.threads.len() {
            let place = (thread, state.at(thread));
            let Some(operation) = self.protocol.threads[thread].get(place.1) else {
                if self.is_to_exit(state, thread) {
                    is_stuck = false;
                    next.extend(self.exit(state.clone(), thread));
                }
                continue;
            };
            if state.is_waiting(thread) {
                continue;
            }
            // A try may say `false` for no reason.
            let answers: &[bool] = if matches!(operation, Operation::Peek { .. }) { &[false, true] } else { &[false] };
            for says in answers {
                let mut state = state.clone();
                match self.step(&mut state, place, operation, *says) {
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
        }
        if is_stuck && self.is_deadlock(state) {
            self.defects.insert(Defect::Deadlock);
        }
        next
    }

    /// The threads of a block, or of all of them, one bit each.
    fn threads_of(&self, block: Option<usize>) -> u8 {
        let is_in = |thread: &usize| block.is_none_or(|block| self.protocol.block_of(*thread) == block);
        (0..self.protocol.threads.len()).filter(is_in).fold(0, |all, thread| all | 1 << thread)
    }

    /// Whether the end of a thread is a step of its own: in a cluster, where others may need its block.
    fn is_to_exit(&self, state: &State, thread: usize) -> bool {
        self.protocol.blocks > 1 && !state.have_exited(1 << thread)
    }

    /// A thread ends; the state after it, if no rule is broken.
    fn exit(&mut self, mut state: State, thread: usize) -> Option<State> {
        state.exit(thread, self.threads_of(None));
        let block = self.protocol.block_of(thread);
        let is_wrong = state.have_exited(self.threads_of(Some(block))) && self.end(&state, block);
        (!is_wrong).then_some(state)
    }

    /// All threads of a block are through: no bulk copy still reads or writes its shared memory. Whether one does for certain:
    /// a store for which nobody waited may have read all.
    fn end(&mut self, state: &State, block: usize) -> bool {
        let is_in = |object: usize| self.protocol.block_of_object(object) == block;
        let loads = bits(state.underway).map(|agent| self.table.agents[agent]).filter(|agent| {
            let operation = &self.protocol.threads[agent.place.0][agent.place.1];
            let reads = matches!(operation, Operation::Send { .. }) && self.protocol.block_of(agent.place.0) == block;
            operation.brings_bytes() && (is_in(agent.object) || reads)
        });
        let mut wrong: Vec<Place> = loads.map(|agent| agent.place).collect();
        let any = !wrong.is_empty();
        for (thread, operations) in self.protocol.threads.iter().enumerate() {
            let stores = operations.iter().enumerate().filter(|(_, one)| matches!(one, Operation::BulkStore { .. }));
            let reads = |number: usize| self.table.facts[thread][number].accesses & self.table.shared[block];
            let is_open = |number: &usize| reads(*number) & !state.known[thread].all != 0;
            wrong.extend(stores.map(|(number, _)| number).filter(is_open).map(|number| (thread, number)));
        }
        self.defects.extend(wrong.into_iter().map(Defect::BarrierError));
        any
    }

    /// Whether some threads are not through, none can go on, and no agent changes that; one that breaks a rule does not.
    fn is_deadlock(&mut self, state: &State) -> bool {
        let mut is_anyone_left = false;
        for thread in 0..self.protocol.threads.len() {
            let place = (thread, state.at(thread));
            let Some(operation) = self.protocol.threads[thread].get(place.1) else {
                if self.is_to_exit(state, thread) {
                    return false;
                }
                continue;
            };
            is_anyone_left = true;
            if !state.is_waiting(thread) && self.step(&mut state.clone(), place, operation, false) != Ok(false) {
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

    /// Whether all objects of an operation are initialised before all threads begin, and are never ended.
    fn are_live(&self, operation: &Operation) -> bool {
        let ends = |object: usize| {
            let mut all = self.protocol.threads.iter().flatten();
            all.any(|other| matches!(other, Operation::Inval { object: ended } if *ended == object))
        };
        let is_live = |object: usize| self.protocol.objects.get(object).copied().flatten().is_some() && !ends(object);
        self.protocol.objects_of(operation).into_iter().all(is_live)
    }

    /// A thread does all that commutes with what others do. What needs another block does not: that may end.
    fn advance(&mut self, state: &mut State, thread: usize) {
        while let Some(operation) = self.protocol.threads[thread].get(state.at(thread)) {
            let facts = self.table.facts[thread][state.at(thread)];
            let is_alone = self.protocol.needs(thread, operation).is_empty();
            match *operation {
                Operation::AccessIf { .. } if state.seen >> thread & 1 == 0 => state.skipped |= facts.accesses,
                Operation::Access { .. } | Operation::AccessIf { .. } if is_alone => {
                    self.perform(state, thread, facts);
                    state.known[thread].all |= facts.accesses;
                }
                Operation::Copy { .. } | Operation::BulkStore { .. } => self.perform(state, thread, facts),
                Operation::CopyArrive { noinc: true, .. } if self.are_live(operation) && facts.accesses == 0 => {
                    state.start(facts.agents);
                }
                Operation::BulkLoad { .. } if is_alone && self.are_live(operation) => {
                    self.perform(state, thread, facts);
                    state.start(facts.agents);
                }
                Operation::WaitUnless { .. } if state.seen >> thread & 1 == 1 => {}
                Operation::Commit | Operation::BulkCommit => {}
                Operation::WaitGroup { .. } | Operation::BulkWait { .. } => state.known[thread].all |= facts.complete,
                Operation::Fence(fenced) => {
                    let [first, second] = self.table.shared;
                    let covered = match fenced {
                        Fenced::All => Accesses::MAX,
                        Fenced::Shared => self.table.shared[self.protocol.block_of(thread)],
                        Fenced::Global => !(first | second),
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
        let done = done & !state.skipped;
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

    /// A thread's next operation, where others matter; false if it has to wait. `says`: what a try says.
    fn step(&mut self, state: &mut State, place: Place, operation: &Operation, says: bool) -> Result<bool, Wrong> {
        let thread = place.0;
        let facts = self.table.facts[thread][place.1];
        let needed = self.protocol.needs(thread, operation);
        if needed.into_iter().any(|block| state.have_exited(self.threads_of(Some(block)))) {
            return Err(Wrong::Error);
        }
        if facts.accesses != 0 && !operation.is_bulk() {
            self.come_to_object(state, place, facts);
        }
        match *operation {
            // They were done just now.
            Operation::Access { .. } | Operation::AccessIf { .. } => {}
            Operation::ClusterArrive { release } => {
                state.arrive_at_cluster(thread, release, self.threads_of(None))?;
            }
            Operation::ClusterWait => {
                if !state.wait_for_cluster(thread)? {
                    return Ok(false);
                }
            }
            Operation::Sync { id, warps } => return self.meet(state, thread, (id, warps), true).map(|()| true),
            Operation::Arrive { id, warps } => return self.meet(state, thread, (id, warps), false).map(|()| true),
            Operation::BulkLoad { .. } | Operation::Send { .. } | Operation::Multicast { .. } => {
                for object in self.protocol.objects_of(operation) {
                    state.objects[object].live()?;
                }
                self.perform(state, thread, facts);
                state.start(facts.agents);
            }
            // Those that name no object are done by `advance`.
            _ => {
                if operation.object().is_none() || !self.on_object(state, place, operation, says)? {
                    return Ok(false);
                }
            }
        }
        state.pass(thread);
        self.advance(state, thread);
        Ok(true)
    }

    /// What an operation does to its object; false if it has to wait.
    fn on_object(
        &self,
        state: &mut State,
        (thread, number): Place,
        operation: &Operation,
        says: bool,
    ) -> Result<bool, Wrong> {
        match *operation {
            Operation::Init { object, count } => {
                state.objects[object].begin(count)?;
                state.tokens.iter_mut().for_each(|tokens| tokens[object] = NO_TOKEN);
            }
            Operation::Inval { object } => {
                state.objects[object].end()?;
                let to_it = |agent: &usize| self.table.agents[*agent].object == object;
                state.late |= bits(state.underway).filter(to_it).fold(0, |all, agent| all | 1 << agent);
            }
            Operation::Touch { object, .. } => {
                state.objects[object].ended()?;
            }
            Operation::Peek { object, parity, acquire } => {
                let object = state.objects[object].live()?;
                state.seen &= !(1 << thread);
                if says {
                    if u32::from(object.completed) % 2 == parity {
                        return Ok(false);
                    }
                    let known = object.observe();
                    state.known[thread].join(if acquire { known } else { Known::default() });
                    state.seen |= 1 << thread;
                }
            }
            Operation::ArriveOn { object, release, expected } => {
                let known = if release { state.known[thread] } else { Known::default() };
                let object_state = state.objects[object].live()?;
                object_state.expect(expected.unwrap_or(0))?;
                let completed = object_state.completed;
                object_state.arrive(known)?;
                // An arrival at an object of another block gives none.
                if self.protocol.block_of(thread) == self.protocol.block_of_object(object) {
                    state.tokens[thread][object] = completed;
                }
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
            Operation::WaitParity { object, parity, acquire, .. }
            | Operation::WaitUnless { object, parity, acquire } => {
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
                state.start(self.table.facts[thread][number].agents);
            }
            _ => {}
        }
        Ok(true)
    }

    /// An operation on an object that some thread initialises again, or touches: as an access to its bytes.
    fn come_to_object(&mut self, state: &mut State, (thread, number): Place, facts: Facts) {
        self.perform(state, thread, facts);
        state.known[thread].all |= facts.accesses;
        // A wait that is not over was there in vain.
        for other in (0..self.protocol.threads.len()).filter(|other| *other != thread) {
            let waits = self.protocol.threads[other].get(state.at(other)).is_some_and(Operation::waits);
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
        let barrier = &mut state.named[NAMED * self.protocol.block_of(thread) + (id - 1).min(NAMED - 1)];
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
        let agent_facts = self.table.agents[agent];
        let known = Known { all: agent_facts.complete, fenced: 0 };
        let object = state.objects[agent_facts.object].live()?;
        if state.late >> agent & 1 == 1 {
            // Its own object is gone, and there is another one.
            return Err(Wrong::Open);
        }
        match agent_facts.bytes {
            Some(bytes) => object.finish_bytes(bytes, known),
            None => object.arrive(known),
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
