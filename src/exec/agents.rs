//! What goes on beside the threads of a block: asynchronous copies, in groups.
//!
//! Input: `cp.async`, `cp.async.commit_group`, `cp.async.wait_group`, `cp.async.wait_all` of each thread. Output: bytes in shared
//! memory, at a time between the start of a copy and the wait for its group. Establishes: all that a copy does is ordered behind
//! what its thread did before it; a wait orders the copies of complete groups before what the thread does next, and nothing else.
//! How: to the detector a copy is an access of the thread's *agent* ([`Shape::agent_of`]), at the time that is the number of its
//! group. What is not ordered before the wait races with it whenever the bytes move, so the detector is asked when a copy starts.
//! Reference: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", `cp.async`.

use super::access::{self, Target};
use super::block::BlockState;
use super::decode::{Access, AsyncCopy, Program};
use super::launch::Completion;
use super::memory;
use super::outcome::Stop;
use super::races::Current;
use super::thread::Thread;
use super::values::hash;
use super::world::World;
use std::collections::{BTreeMap, VecDeque};

/// The copies under way in a block, by thread.
pub(crate) type Agents = BTreeMap<u32, Agent>;

/// The copies of a thread.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    /// Copies of the group that is committed next.
    open: Vec<Underway>,
    /// Copies of the groups that nobody waited for, oldest first.
    groups: VecDeque<Vec<Underway>>,
    /// Groups that were committed.
    committed: u32,
}

/// A copy whose bytes have not arrived.
#[derive(Clone, Copy, Debug)]
struct Underway {
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
        for copies in self.groups.iter_mut().chain([&mut self.open]) {
            copies.retain(|copy| {
                let is_wanted = wanted(copy);
                taken.extend(is_wanted.then_some(*copy));
                !is_wanted
            });
        }
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
    if let Target::Global(array, offset) = target {
        for at in (0..bytes).step_by(8) {
            let width = (bytes - at).min(8);
            let value = world.global.read(array, offset + u64::from(at), width);
            if let Some(code) = world.excluded_by((array, offset + u64::from(at)), width, value) {
                return thread.stop(world, Stop::Excluded { code });
            }
        }
    }
    true
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
    // Copies to one place are done in the order in which they started.
    let overlaps = |other: &Underway| other.to < to + copy.bytes && to < other.to + other.bytes;
    finish(world, block, overlaps);
    show(program, world, block, thread, (target, copy.bytes));
    let underway = Underway { from, taken, to, bytes: copy.bytes };
    let at_once = match world.completion {
        Completion::Eager => true,
        Completion::Lazy => false,
        Completion::Random => draw(world, thread),
    };
    let linear = thread.number % block.size;
    match at_once {
        true => arrive(world, block, underway),
        false => block.agents.entry(linear).or_default().open.push(underway),
    }
    !world.switch_at_access
}

/// `cp.async.commit_group`
pub(crate) fn commit(block: &mut BlockState, thread: &Thread) {
    let agent = block.agents.entry(thread.number % block.size).or_default();
    let group = std::mem::take(&mut agent.open);
    agent.groups.push_back(group);
    agent.committed += 1;
}

/// `cp.async.wait_group`: all but that many of the newest groups are complete.
pub(crate) fn wait(world: &mut World, block: &mut BlockState, thread: &mut Thread, pending: u64) {
    let agent = block.agents.entry(thread.number % block.size).or_default();
    let most = usize::try_from(pending).unwrap_or(usize::MAX);
    let complete = agent.groups.len().saturating_sub(most);
    let done: Vec<Underway> = agent.groups.drain(..complete).flatten().collect();
    thread.clock.agent = agent.committed - agent.groups.len() as u32;
    for copy in done {
        arrive(world, block, copy);
    }
}

/// A thread's turn begins: copies may arrive.
pub(crate) fn turn(world: &mut World, block: &mut BlockState, thread: &Thread) {
    if world.completion == Completion::Random && !block.agents.is_empty() {
        let mut drawn = 0;
        let seed = hash(world.seed, thread.steps << 32 | u64::from(thread.number));
        finish(world, block, |_| {
            drawn += 1;
            hash(seed, drawn) & 3 == 0
        });
    }
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
    let group = block.agents.get(&(thread.number % block.size)).map_or(0, |agent| agent.committed) + 1;
    let agent = world.detector.shape.agent_of(thread.number);
    let clock = &super::races::clock::ThreadClock { epoch: group, ..thread.clock.clone() };
    let current = Current { thread: agent, code: thread.last(), clock, same_value: false };
    match target {
        Target::Global(array, offset) => world.detector.global_access(array, offset, bytes, current),
        Target::Shared(offset) => world.detector.shared_access(&mut block.cells, offset, bytes, current),
        Target::Local(_) | Target::Param(_) => {}
    }
    world.look_out(program, thread);
}
