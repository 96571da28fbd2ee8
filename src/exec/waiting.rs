//! Threads that wait for ever: who waits for whom.
//!
//! Input: a block, or the blocks of a cluster, of which no thread can go on, and what was done at their barriers. Output: a
//! [`Chain`]: a cycle of waiting threads if there is one, else the way to who has exited, or to a barrier to which nobody
//! comes. Establishes: each link names a barrier that is not complete and a thread that has not come to it; whether that one
//! *would* come is read from its code ahead (some path from where it waits leads to an arrival), so it is no proof that it
//! would. Relies on: [`History`] knows all arrivals. Reference: none.

use super::block::BlockState;
use super::decode::{Code, ObjectKind, Program, Slot};
use super::history::{History, Object};
use super::objects;
use super::outcome::{ObjectState, Place};
use super::products;
use super::thread::{Status, Thread};
use super::values::mask;
use super::world::World;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Who waits for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    /// Each one lacks the next one.
    pub(crate) links: Vec<Link>,
    pub(crate) end: End,
}

impl Chain {
    /// Whether a link waits for this generation.
    pub(crate) fn awaits(&self, object: Object, generation: u64) -> bool {
        self.links.iter().any(|link| match (link.awaited, object) {
            (Awaited::Barrier { id, generation: awaited, .. }, Object::Barrier { rank, id: other }) => {
                (link.rank, id, awaited) == (rank, other, generation)
            }
            (Awaited::Object(state), Object::Shared { offset }) => {
                (state.offset, u64::from(state.phase)) == (offset, generation)
            }
            (Awaited::Cluster { generation: awaited }, Object::Cluster) => awaited == generation,
            _ => false,
        })
    }
}

/// How a chain ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The last one lacks the first one.
    Cycle,
    /// The last one lacks a thread that has exited, and that came there before by this instruction, to this generation.
    Exited { thread: u32, code: u32, generation: u64 },
    /// Nobody that is left comes there; so many threads of the block have exited.
    Nobody { exited: u32 },
}

/// Threads of a warp that wait at one instruction for one barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// One of them, and the instruction.
    pub(crate) place: Place,
    /// How many they are.
    pub(crate) threads: u32,
    /// Of which block of the cluster.
    pub(crate) rank: u32,
    pub(crate) awaited: Awaited,
    /// The instruction by which the next one would come, and whether it is known that it names this barrier.
    pub(crate) ahead: Option<(u32, bool)>,
}

/// For what threads wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// A generation of a barrier of the block to which so many threads have come, of so many.
    Barrier { id: u32, generation: u64, came: u32, count: u32 },
    /// A phase of an mbarrier object.
    Object(ObjectState),
    /// The other lanes of an operation with this mask, of which some have not come.
    Warp { lacking: u32 },
    /// A generation of the barrier of the cluster.
    Cluster { generation: u64 },
    /// The start of products of matrices by all threads of the warp group.
    WarpGroup,
}

/// Threads that wait alike.
struct Group {
    first: usize,
    threads: u32,
    awaited: Awaited,
    object: Option<Object>,
}

/// An arrival that a group may make: it, the instruction, whether it is known that it is this barrier.
type Candidate = (usize, Option<(u32, bool)>);

/// A block that is stuck.
struct Stuck<'a> {
    program: &'a Program,
    history: &'a History,
    state: &'a BlockState,
    threads: &'a [Thread],
    groups: Vec<Group>,
    /// By instruction: the arrivals that some path leads to from there.
    ahead: BTreeMap<u32, BTreeSet<u32>>,
}

/// The cycle, or chain, of a block in which somebody waits.
pub(crate) fn chain(
    program: &Program,
    world: &World,
    history: &History,
    state: &BlockState,
    threads: &[Thread],
) -> Option<Chain> {
    let mut stuck = Stuck { program, history, state, threads, groups: Vec::new(), ahead: BTreeMap::new() };
    stuck.group(world);
    if stuck.groups.is_empty() {
        return None;
    }
    let candidates: Vec<Vec<Candidate>> = (0..stuck.groups.len()).map(|group| stuck.candidates(group)).collect();
    // What is known comes before what may be.
    for known_only in [true, false] {
        let next = |group: usize| -> Vec<Candidate> {
            let wanted = |(_, ahead): &&Candidate| !known_only || ahead.is_none_or(|(_, is_known)| is_known);
            candidates[group].iter().filter(wanted).copied().collect()
        };
        let cycles = (0..stuck.groups.len()).filter_map(|start| cycle(start, stuck.groups.len(), &next));
        // That a thread itself may come where it waits says least.
        if let Some(cycle) = cycles.min_by_key(|cycle| (cycle.len() == 1, cycle.len())) {
            let links = cycle.into_iter().map(|(group, ahead)| stuck.link(group, ahead)).collect();
            return Some(Chain { links, end: End::Cycle });
        }
    }
    let mut links = Vec::new();
    let mut group = 0;
    while let Some((next, ahead)) = candidates[group].first().copied() {
        links.push(stuck.link(group, ahead));
        group = next;
    }
    links.push(stuck.link(group, None));
    Some(Chain { links, end: stuck.end(group) })
}

/// The shortest way from a group back to it: groups, each with how the next one would come.
fn cycle(start: usize, count: usize, next: &dyn Fn(usize) -> Vec<Candidate>) -> Option<Vec<Candidate>> {
    let mut before: Vec<Option<Candidate>> = vec![None; count];
    let mut queue = VecDeque::from([start]);
    while let Some(group) = queue.pop_front() {
        for (to, ahead) in next(group) {
            if to == start {
                let mut way = vec![(group, ahead)];
                while way[0].0 != start {
                    let Some(step) = before[way[0].0] else { break };
                    way.insert(0, step);
                }
                return Some(way);
            }
            if before[to].is_none() {
                before[to] = Some((group, ahead));
                queue.push_back(to);
            }
        }
    }
    None
}

impl Stuck<'_> {
    /// Finds the groups of waiting threads.
    fn group(&mut self, world: &World) {
        let mut known: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (index, thread) in self.threads.iter().enumerate() {
            let key = (thread.place / self.state.size * 32 + thread.place % self.state.size / 32, thread.last());
            if let Some(group) = known.get(&key) {
                self.groups[*group].threads += 1;
                continue;
            }
            let Some((awaited, object)) = self.awaited(world, thread) else { continue };
            known.insert(key, self.groups.len());
            self.groups.push(Group { first: index, threads: 1, awaited, object });
        }
    }

    /// For what a thread waits.
    fn awaited(&self, world: &World, thread: &Thread) -> Option<(Awaited, Option<Object>)> {
        let (program, state) = (self.program, self.state);
        match thread.status {
            Status::Running | Status::Exited => None,
            Status::Barrier { index, id } => {
                let rank = thread.place / state.size;
                let count = program.barriers[index as usize].count.map(|slot| thread.value(slot) as u32);
                let at = (16 * rank + u32::from(id)) as usize;
                let came = state.pending(at) as u32;
                let (generation, id) = (state.completed(at), u32::from(id));
                let awaited = Awaited::Barrier { id, generation, came, count: count.unwrap_or(state.size) };
                Some((awaited, Some(Object::Barrier { rank, id })))
            }
            Status::Object { .. } => {
                let found = objects::awaited(program, world, state, thread)?;
                Some((Awaited::Object(found), Some(Object::Shared { offset: found.offset })))
            }
            Status::Warp { index } => {
                let members = program.warp_operations[index as usize].mask.map_or(0, |slot| thread.value(slot) as u32);
                let (first, last) = self.warp_of(thread);
                let lanes = self.threads[first..last].iter().enumerate();
                let lacks = |other: &Thread| other.status != Status::Exited && other.status != thread.status;
                let lacking = lanes.filter(|(lane, other)| members >> lane & 1 == 1 && lacks(other));
                Some((Awaited::Warp { lacking: lacking.fold(0, |all, (lane, _)| all | 1 << lane) }, None))
            }
            Status::Cluster => {
                let generation = thread.came.map_or(0, u64::from);
                Some((Awaited::Cluster { generation }, Some(Object::Cluster)))
            }
            Status::Products { .. } => Some((Awaited::WarpGroup, None)),
        }
    }

    /// The indices of the threads of a thread's warp.
    fn warp_of(&self, thread: &Thread) -> (usize, usize) {
        let (block, linear) = (thread.place / self.state.size * self.state.size, thread.place % self.state.size);
        let first = linear / 32 * 32;
        ((block + first) as usize, (block + (first + 32).min(self.state.size)) as usize)
    }

    fn link(&self, group: usize, ahead: Option<(u32, bool)>) -> Link {
        let Group { first, threads, awaited, .. } = self.groups[group];
        let thread = &self.threads[first];
        let rank = thread.place / self.state.size;
        Link { place: (thread.number, thread.last()), threads, rank, awaited, ahead }
    }

    /// Who may come to that for which a group waits, those first of which more is known.
    fn candidates(&mut self, group: usize) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for other in 0..self.groups.len() {
            if let Some(ahead) = self.would_come(group, other) {
                found.push((other, ahead));
            }
        }
        // What a thread may do itself, were it not to wait, says least.
        found.sort_by_key(|(other, ahead)| (ahead.is_some_and(|(_, is_known)| !is_known), *other == group));
        found
    }

    /// Whether the other group may come to that for which a group waits, and by what.
    fn would_come(&mut self, group: usize, other: usize) -> Option<Option<(u32, bool)>> {
        let (waiting, coming) = (&self.groups[group], &self.groups[other]);
        let (thread, from) = (&self.threads[waiting.first], &self.threads[coming.first]);
        let same_block = thread.place / self.state.size == from.place / self.state.size;
        match (waiting.awaited, waiting.object) {
            (Awaited::Warp { lacking }, _) => {
                let (first, last) = self.warp_of(thread);
                let is_lacking = |lane: usize| {
                    let other = &self.threads[first + lane];
                    lacking >> lane & 1 == 1 && (other.last(), other.status) == (from.last(), from.status)
                };
                let is_one = group != other && (0..last - first).any(is_lacking) && self.warp_of(from) == (first, last);
                is_one.then_some(None)
            }
            (Awaited::WarpGroup, _) => {
                let of_group = products::warp_group(self.state, thread.place).contains(&(from.place as usize));
                (of_group && !matches!(from.status, Status::Products { .. })).then_some(None)
            }
            (Awaited::Cluster { .. }, _) => (group != other && from.status != Status::Cluster).then_some(None),
            (Awaited::Barrier { generation, .. }, Some(object)) => {
                let came = self.history.last_arrival(self.state.number, from.number, object);
                if !same_block || came.is_some_and(|(last, _)| last >= generation) {
                    return None;
                }
                self.arrival_ahead(from.next, object, Needs::Arrivals).map(Some)
            }
            (Awaited::Object(state), Some(object)) => {
                let needs = if state.pending > 0 { Needs::Arrivals } else { Needs::Bytes };
                self.arrival_ahead(from.next, object, needs).map(Some)
            }
            _ => None,
        }
    }

    /// An instruction ahead of another one that may come to a barrier, and whether it is known that it is this one.
    fn arrival_ahead(&mut self, from: u32, object: Object, needs: Needs) -> Option<(u32, bool)> {
        let program = self.program;
        let ahead = self.ahead.entry(from).or_insert_with(|| arrivals_from(program, from)).clone();
        let may = ahead.into_iter().filter(|code| needs.is_met_by(program, *code));
        let may: Vec<(u32, bool)> = may.filter_map(|code| Some((code, self.may_come(code, object)?))).collect();
        may.iter().find(|(_, known)| *known).or(may.first()).copied()
    }

    /// Whether an instruction may come to a barrier: true if it did before, or names it. One that came to objects of other
    /// variables is taken to do so again.
    fn may_come(&self, code: u32, object: Object) -> Option<bool> {
        let program = self.program;
        let reached = self.history.reached_by(self.state.number, code);
        if reached.contains(&object) {
            return Some(true);
        }
        match (program.code[code as usize], object) {
            (Code::Barrier(index), Object::Barrier { id, .. }) => {
                match constant(program, program.barriers[index as usize].id) {
                    Some(value) => (value & mask(32) == u64::from(id)).then_some(true),
                    None => Some(false),
                }
            }
            (Code::Object(_) | Code::BulkWrite(_), Object::Shared { offset }) => {
                let variable = |offset: u32| {
                    let at = offset % program.shared_size.max(1);
                    program.shared.iter().position(|one| at.wrapping_sub(one.offset) < one.size)
                };
                let is_same = |other: &Object| match other {
                    Object::Shared { offset: other } => variable(*other) == variable(offset),
                    _ => false,
                };
                (reached.is_empty() || reached.iter().any(is_same)).then_some(false)
            }
            _ => None,
        }
    }

    /// Nobody that waits comes to that for which a group waits.
    fn end(&self, group: usize) -> End {
        let Group { first, object, .. } = self.groups[group];
        let rank = self.threads[first].place / self.state.size;
        let exited: Vec<&Thread> = self.threads.iter().filter(|thread| thread.status == Status::Exited).collect();
        let came = exited.iter().find_map(|thread| {
            let last = self.history.last_arrival(self.state.number, thread.number, object?);
            last.map(|(generation, code)| End::Exited { thread: thread.number, code, generation })
        });
        let of_block = exited.iter().filter(|thread| thread.place / self.state.size == rank).count() as u32;
        came.unwrap_or(End::Nobody { exited: of_block })
    }
}

/// What a barrier lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Arrivals,
    Bytes,
}

impl Needs {
    /// Whether an instruction brings it.
    fn is_met_by(self, program: &Program, code: u32) -> bool {
        let brings_bytes = match program.code[code as usize] {
            Code::BulkWrite(_) => true,
            Code::Object(index) => matches!(program.objects[index as usize].kind, ObjectKind::Complete { .. }),
            _ => false,
        };
        brings_bytes == (self == Needs::Bytes)
    }
}

/// The value of a slot that no instruction writes and that is the same for all threads.
fn constant(program: &Program, slot: Slot) -> Option<u64> {
    let is_constant = usize::from(slot) >= program.notes.registers;
    let is_special = program.specials.iter().any(|special| special.slot == slot);
    (is_constant && !is_special).then(|| program.template[usize::from(slot)])
}

/// Whether an instruction comes to a barrier, or starts a copy that brings it bytes.
fn is_arrival(program: &Program, code: Code) -> bool {
    match code {
        Code::Barrier(_) => true,
        Code::Object(index) => matches!(
            program.objects[index as usize].kind,
            ObjectKind::Arrive { .. }
                | ObjectKind::Commit { .. }
                | ObjectKind::ArriveBehindCopies { .. }
                | ObjectKind::Complete { .. }
        ),
        Code::BulkWrite(index) => program.bulk_operations[index as usize].object.is_some(),
        _ => false,
    }
}

/// The arrivals that some path leads to. A return goes back to wherever its function may have been called.
fn arrivals_from(program: &Program, from: u32) -> BTreeSet<u32> {
    let behind_calls: Vec<u32> =
        (0..).zip(&program.code).filter(|(_, code)| matches!(code, Code::Call { .. })).map(|(at, _)| at + 1).collect();
    let mut seen = vec![false; program.code.len()];
    let mut left = vec![from];
    let mut found = BTreeSet::new();
    while let Some(at) = left.pop() {
        let Some(code) = program.code.get(at as usize).copied() else { continue };
        if std::mem::replace(&mut seen[at as usize], true) {
            continue;
        }
        if is_arrival(program, code) {
            found.insert(at);
        }
        match code {
            Code::Jump(to) => left.push(to),
            Code::JumpIf { to, .. } => left.extend([to, at + 1]),
            Code::JumpTable { table, .. } => left.extend(&program.tables[table as usize]),
            Code::Call { to, .. } => left.push(to),
            Code::Return => left.extend(&behind_calls),
            Code::Skip { .. } => left.extend([at + 1, at + 2]),
            Code::Exit | Code::Trap => {}
            _ => left.push(at + 1),
        }
    }
    found
}
