//! What goes on beside the threads of a block: asynchronous copies, in groups, and the arrivals behind them.
//!
//! Input: `cp.async`, `cp.async.commit_group`, `cp.async.wait_group`, `cp.async.wait_all`, `cp.async.mbarrier.arrive` of each
//! thread. Output: bytes in shared memory, at a time between the start of a copy and the wait for its group, and arrivals at
//! barrier objects. Establishes: all that a copy does is ordered behind what its thread did before it; a wait orders the copies
//! of complete groups before what the thread does next, and nothing else; an arrival comes when all earlier copies of its thread
//! are complete, and tells of nothing but them.
//! How: to the detector a copy is an access of the thread's *agent* ([`Shape::agent_of`]), at the time that is its number among
//! the copies of the thread. What is not ordered before its end races with it whenever the bytes move, so the detector is asked
//! when a copy starts. [`bulk`] has the copies through the asynchronous proxy.
//! Reference: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", `cp.async`, `cp.async.mbarrier.arrive`.

use super::access::{self, Target};
use super::block::BlockState;
use super::bulk::{self, BulkCopies};
use super::decode::{Access, AsyncCopy, Program};
use super::launch::Completion;
use super::memory;
use super::objects::{self, Told, misused};
use super::outcome::{Place, Stop};
use super::races::Current;
use super::races::clock::{Agent as Kind, ThreadClock};
use super::tensor_memory::{self, Committed};
use super::thread::Thread;
use super::values::hash;
use super::world::World;
use std::collections::{BTreeMap, VecDeque};

/// The copies under way in a block, by thread.
pub(crate) type Agents = BTreeMap<u32, Agent>;

/// The copies of a thread.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    /// How many were started.
    started: u32,
    /// Copies of the group that is committed next.
    open: Vec<Underway>,
    /// Groups that nobody waited for, oldest first.
    groups: VecDeque<Group>,
    /// Arrivals that have not come, oldest first.
    arrivals: Vec<Arrival>,
    /// Copies through the asynchronous proxy.
    pub(super) bulk: BulkCopies,
    /// `tcgen05.commit` whose arrivals have not come, oldest first.
    pub(super) commits: VecDeque<Committed>,
}

/// A group of copies.
#[derive(Debug, Default)]
struct Group {
    /// How many copies had been started when it was committed.
    last: u32,
    /// Those that are under way.
    copies: Vec<Underway>,
}

/// An arrival behind copies.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// Offset of the object in shared memory.
    object: u32,
    /// How many copies had been started.
    behind: u32,
    /// Who asked for it.
    place: Place,
}

/// A copy whose bytes have not arrived.
#[derive(Clone, Copy, Debug)]
struct Underway {
    /// Number among the copies of its thread, from 1 on.
    number: u32,
    /// Array and offset; `None` if nothing is read.
    from: Option<(usize, u64)>,
    /// Bytes that are read.
    taken: u32,
    /// Offset in shared memory.
    to: u32,
    /// Bytes that are written.
    bytes: u32,
}

impl Agent {
    /// All copies that match; they are no longer under way.
    fn take(&mut self, wanted: &mut impl FnMut(&Underway) -> bool) -> Vec<Underway> {
        let mut taken = Vec::new();
        for copies in self.groups.iter_mut().map(|group| &mut group.copies).chain([&mut self.open]) {
            copies.retain(|copy| {
                let is_wanted = wanted(copy);
                taken.extend(is_wanted.then_some(*copy));
                !is_wanted
            });
        }
        taken
    }

    /// Takes the arrivals for which no copy is outstanding and that are wanted.
    fn take_arrivals(&mut self, wanted: &mut impl FnMut() -> bool) -> Vec<Arrival> {
        let copies = self.groups.iter().flat_map(|group| &group.copies).chain(&self.open);
        let first = copies.map(|copy| copy.number).min().unwrap_or(u32::MAX);
        let mut taken = Vec::new();
        self.arrivals.retain(|arrival| {
            let comes = arrival.behind < first && wanted();
            taken.extend(comes.then_some(*arrival));
            !comes
        });
        taken
    }
}

/// The bytes of the source that a copy takes.
fn taken(thread: &Thread, copy: &AsyncCopy) -> u32 {
    match copy.taken {
        None => copy.bytes,
        Some((slot, 1)) if thread.value(slot) & 1 == 1 => 0,
        Some((_, 1)) => copy.bytes,
        Some((slot, _)) => (thread.value(slot) as u32).min(copy.bytes),
    }
}

/// The reading half of a copy that starts; false if the thread does not go on by itself.
pub(crate) fn read(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let copy = &program.async_copies[index as usize];
    let bytes = taken(thread, copy);
    if bytes == 0 {
        return true;
    }
    let access = Access { bytes, ..program.accesses[copy.from as usize].clone() };
    let Some(target) = access::resolve(program, world, thread, &access) else { return false };
    show(program, world, block, thread, (target, bytes));
    match excluded(world, target, bytes) {
        Some(code) => thread.stop(world, Stop::Excluded { code }),
        None => true,
    }
}

/// The annotation that the bytes of a source contradict.
pub(super) fn excluded(world: &mut World, source: Target, bytes: u32) -> Option<u32> {
    let Target::Global(array, offset) = source else { return None };
    (0..bytes).step_by(8).find_map(|at| {
        let width = (bytes - at).min(8);
        let value = world.global.read(array, offset + u64::from(at), width);
        world.excluded_by((array, offset + u64::from(at)), width, value)
    })
}

/// The writing half; false if the thread does not go on by itself.
pub(crate) fn write(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let copy = &program.async_copies[index as usize];
    let taken = taken(thread, copy);
    let from = Access { bytes: taken, ..program.accesses[copy.from as usize].clone() };
    let from = match taken {
        0 => None,
        _ => match access::find(program, world, thread, &from) {
            Ok(Target::Global(array, offset)) => Some((array, offset)),
            _ => {
                let reason = "a copy from elsewhere than global memory".to_string();
                return thread.stop(world, Stop::Refused { code: thread.last(), reason });
            }
        },
    };
    let Some(target) = access::resolve(program, world, thread, &program.accesses[copy.to as usize]) else {
        return false;
    };
    let Target::Shared(to) = target else {
        let reason = "a copy to elsewhere than shared memory".to_string();
        return thread.stop(world, Stop::Refused { code: thread.last(), reason });
    };
    if let Err(misuse) = block.admits(program, target, copy.bytes) {
        return misused(world, (thread.number, thread.last()), misuse);
    }
    // Copies to one place are done in the order in which they started.
    let overlaps = |other: &Underway| other.to < to + copy.bytes && to < other.to + other.bytes;
    finish(world, block, overlaps);
    show(program, world, block, thread, (target, copy.bytes));
    let at_once = is_at_once(world, thread);
    let agent = block.agents.entry(thread.place).or_default();
    agent.started += 1;
    let underway = Underway { number: agent.started, from, taken, to, bytes: copy.bytes };
    match at_once {
        true => arrive(world, block, underway),
        false => agent.open.push(underway),
    }
    !world.switch_at_access
}

/// Whether what starts now ends now.
pub(super) fn is_at_once(world: &World, thread: &Thread) -> bool {
    match world.completion {
        Completion::Eager => true,
        Completion::Lazy => false,
        Completion::Random => draw(world, thread),
    }
}

/// `cp.async.commit_group`
pub(crate) fn commit(block: &mut BlockState, thread: &Thread) {
    let agent = block.agents.entry(thread.place).or_default();
    let copies = std::mem::take(&mut agent.open);
    agent.groups.push_back(Group { last: agent.started, copies });
}

/// `cp.async.mbarrier.arrive`: the object at this offset gets an arrival once all copies of the thread are complete.
pub(super) fn arrive_behind(world: &mut World, block: &mut BlockState, thread: &Thread, object: u32) {
    let at_once = is_at_once(world, thread);
    let agent = block.agents.entry(thread.place).or_default();
    let place = (thread.number, thread.last());
    agent.arrivals.push(Arrival { object, behind: agent.started, place });
    if at_once {
        come(world, block, || true);
    }
}

/// Arrivals come for which no copy is outstanding.
fn come(world: &mut World, block: &mut BlockState, mut wanted: impl FnMut() -> bool) {
    let coming: Vec<Arrival> = block.agents.values_mut().flat_map(|agent| agent.take_arrivals(&mut wanted)).collect();
    for Arrival { object, behind, place } in coming {
        let agent = world.detector.shape.agent_of(place.0, Kind::Copies);
        objects::tell(world, block, object, Told::Arrival { agent, time: behind }, place);
    }
}

/// `cp.async.wait_group`: all but that many of the newest groups are complete.
pub(crate) fn wait(world: &mut World, block: &mut BlockState, thread: &mut Thread, pending: u64) {
    let agent = block.agents.entry(thread.place).or_default();
    let most = usize::try_from(pending).unwrap_or(usize::MAX);
    let complete = agent.groups.len().saturating_sub(most);
    let done: Vec<Group> = agent.groups.drain(..complete).collect();
    if let Some(group) = done.last() {
        thread.clock.agents[Kind::Copies as usize] = group.last;
    }
    for copy in done.into_iter().flat_map(|group| group.copies) {
        arrive(world, block, copy);
    }
    if world.completion == Completion::Eager {
        come(world, block, || true);
    }
}

/// A thread's turn begins: copies may arrive.
pub(crate) fn turn(world: &mut World, block: &mut BlockState, thread: &Thread) {
    if world.completion == Completion::Random && !block.agents.is_empty() {
        let mut drawn = 0;
        let seed = hash(world.seed, thread.steps << 32 | u64::from(thread.number));
        let mut draw = || {
            drawn += 1;
            hash(seed, drawn) & 3 == 0
        };
        finish(world, block, |_| draw());
        come(world, block, &mut draw);
        tensor_memory::finish(world, block, &mut draw);
        bulk::finish(world, block, draw);
    }
}

/// No thread of the block can go on: the first thing comes that one may wait for. False if there is none.
pub(super) fn force(world: &mut World, block: &mut BlockState) -> bool {
    let is_awaited = |agent: &Agent| agent.arrivals.first().map(|arrival| arrival.behind);
    if let Some((agent, behind)) = block.agents.values_mut().find_map(|a| is_awaited(a).map(|behind| (a, behind))) {
        for copy in agent.take(&mut |copy| copy.number <= behind) {
            arrive(world, block, copy);
        }
        come(world, block, || true);
        return true;
    }
    tensor_memory::finish_first(world, block) || bulk::finish_first(world, block)
}

/// The copies that match arrive.
fn finish(world: &mut World, block: &mut BlockState, mut wanted: impl FnMut(&Underway) -> bool) {
    let done: Vec<Underway> = block.agents.values_mut().flat_map(|agent| agent.take(&mut wanted)).collect();
    for copy in done {
        arrive(world, block, copy);
    }
}

/// The bytes arrive.
fn arrive(world: &World, block: &mut BlockState, copy: Underway) {
    block.mark_written(copy.to, copy.bytes);
    for at in 0..copy.bytes {
        let byte = match copy.from {
            Some((array, offset)) if at < copy.taken => world.global.read(array, offset + u64::from(at), 1),
            _ => 0,
        };
        memory::write(&mut block.shared, (copy.to + at) as usize, 1, byte);
        block.locations.remove(&u64::from(copy.to + at));
    }
}

fn draw(world: &World, thread: &Thread) -> bool {
    hash(hash(world.seed, u64::from(thread.number)), thread.steps << 20 | u64::from(thread.next)) & 1 == 0
}

/// The detector sees what the agent of the thread does.
fn show(program: &Program, world: &mut World, block: &mut BlockState, thread: &Thread, (target, bytes): (Target, u32)) {
    if !world.races {
        return;
    }
    let number = block.agents.get(&(thread.place)).map_or(0, |agent| agent.started) + 1;
    let agent = world.detector.shape.agent_of(thread.number, Kind::Copies);
    let clock = &ThreadClock { epoch: number, ..thread.clock.clone() };
    let current = Current { thread: agent, code: thread.last(), clock, same_value: false, map: None };
    watch(program, world, block, thread, (target, bytes), current);
}

/// The detector sees an access.
pub(super) fn watch(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &Thread,
    (target, bytes): (Target, u32),
    current: Current<'_>,
) {
    if world.barriers_only {
        world.beside.push((target, bytes));
    }
    if world.barriers_only && world.detector.sites[current.code as usize].writes {
        world.copied.push((target, bytes));
    }
    match target {
        Target::Global(array, offset) => world.detector.global_access(array, offset, bytes, current),
        Target::Shared(offset) => world.detector.shared_access(&mut block.cells, offset, bytes, current),
        Target::Local(_) | Target::Param(_) => {}
    }
    world.look_out(program, thread);
}
