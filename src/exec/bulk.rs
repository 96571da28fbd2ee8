//! Bulk copies: `cp.async.bulk` and `cp.reduce.async.bulk`.
//!
//! Input: their starts, `cp.async.bulk.commit_group`, `cp.async.bulk.wait_group`. Output: bytes in shared or global memory, and
//! bytes that barrier objects count. Establishes: a copy reads and writes at some time between its start and its end, through the
//! asynchronous proxy; who knows of its end knows what it did, and not what its thread did before it.
//! How: to the detector, copies with groups are accesses of two agents of the thread, one that reads and one that writes,
//! numbered by their starts; a copy with an object is a party of its own.
//! Reference: PTX ISA, `cp.async.bulk`, `cp.reduce.async.bulk`, "Async proxy", "Bulk async-group".

use super::access::{self, Target};
use super::agents::{self, excluded, is_at_once};
use super::block::BlockState;
use super::decode::{Access, BulkOperation, Program};
use super::memory;
use super::objects::{self, Told, misused};
use super::outcome::{BarrierMisuse, Fault, FaultKind, Place, Stop};
use super::races::Current;
use super::races::clock::{Agent, ThreadClock};
use super::thread::Thread;
use super::values::atomic::{AtomicOperation, atomic};
use super::world::World;
use crate::ptx::ast::ScalarType;
use std::collections::VecDeque;

/// Sizes and addresses are multiples of so many bytes.
const UNIT: u32 = 16;

/// The bulk copies of a thread.
#[derive(Debug, Default)]
pub(crate) struct BulkCopies {
    /// How many with groups were started.
    started: u32,
    /// Copies of the group that is committed next.
    open: Vec<Underway>,
    /// Groups that nobody waited for, oldest first, with how many copies had been started.
    groups: VecDeque<(u32, Vec<Underway>)>,
    /// Copies that barrier objects tell of.
    with_object: Vec<Underway>,
}

/// A copy that is not complete.
#[derive(Debug)]
struct Underway {
    from: Target,
    to: Target,
    /// Bytes.
    bytes: u32,
    /// What it has read.
    read: Option<Vec<u8>>,
    reduction: Option<(AtomicOperation, ScalarType)>,
    /// Offset of the object in shared memory, and the number of the copy.
    object: Option<(u32, u32)>,
    /// Who started it.
    place: Place,
}

/// A copy starts; false if the thread does not go on by itself.
pub(crate) fn start(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let operation = &program.bulk_operations[index as usize];
    let place = (thread.number, thread.last());
    let bytes = thread.value(operation.size) as u32;
    if !bytes.is_multiple_of(UNIT) {
        return misused(world, place, BarrierMisuse::Size);
    }
    let ends = [operation.from, operation.to].map(|access| whole(program, world, thread, access, bytes));
    let [from, to] = match ends {
        [Ok(from), Ok(to)] => [from, to],
        [Err(fault), _] | [_, Err(fault)] => return thread.fault(world, fault),
    };
    let mut object = None;
    if let Some(access) = operation.object {
        match access::find(program, world, thread, &program.accesses[access as usize]) {
            Ok(Target::Shared(offset)) => object = Some(offset),
            Ok(_) => return misused(world, place, BarrierMisuse::Uninitialised),
            Err(fault) => return thread.fault(world, fault),
        }
    }
    if let Some(misuse) = [from, to].into_iter().find_map(|end| block.admits(program, end, bytes).err()) {
        return misused(world, place, misuse);
    }
    let destinations = destinations(program, block, thread, operation, (to, object));
    let mut underway = Vec::new();
    for (to, object) in destinations {
        let object = match object.map(|offset| (offset, block.objects.number(offset))) {
            None => None,
            Some((_, None)) => return misused(world, place, BarrierMisuse::Uninitialised),
            Some((offset, Some(number))) => Some((offset, world.detector.start_copy(thread.number, number))),
        };
        let reduction = operation.reduction;
        underway.push(Underway { from, to, bytes, read: None, reduction, object, place });
    }
    for copy in &underway {
        show(program, world, block, thread, copy);
    }
    if let Some(code) = excluded(world, from, bytes) {
        return thread.stop(world, Stop::Excluded { code });
    }
    let at_once = is_at_once(world, thread);
    let copies = &mut block.agents.entry(thread.place).or_default().bulk;
    copies.started += u32::from(operation.object.is_none());
    match at_once {
        true => underway.into_iter().for_each(|copy| complete(world, block, copy)),
        false if operation.object.is_some() => copies.with_object.extend(underway),
        false => copies.open.extend(underway),
    }
    !world.halted && !world.switch_at_access
}

/// Where a copy writes, and the objects that it tells: one in each block that it is for, at the same places.
fn destinations(
    program: &Program,
    block: &BlockState,
    thread: &Thread,
    operation: &BulkOperation,
    (to, object): (Target, Option<u32>),
) -> Vec<(Target, Option<u32>)> {
    let (Some(mask), Target::Shared(offset)) = (operation.multicast, to) else { return vec![(to, object)] };
    let mask = thread.value(mask);
    let in_rank = |offset: u32, rank: u32| offset % program.shared_size + rank * program.shared_size;
    let ranks = (0..block.ranks).filter(|rank| mask >> rank & 1 == 1);
    let place = |rank: u32| (Target::Shared(in_rank(offset, rank)), object.map(|object| in_rank(object, rank)));
    ranks.map(place).collect()
}

/// Where a copy reads or writes: all of it is in one array, or it is a fault.
fn whole(program: &Program, world: &World, thread: &Thread, access: u32, bytes: u32) -> Result<Target, Fault> {
    let first = Access { bytes: UNIT, elements: 1, ..program.accesses[access as usize].clone() };
    let last = Access { offset: first.offset + i64::from(bytes.saturating_sub(UNIT)), ..first.clone() };
    let start = access::find(program, world, thread, &first)?;
    let end = access::find(program, world, thread, &last)?;
    let is_one = match (start, end) {
        (Target::Global(array, offset), Target::Global(other, last)) => {
            array == other && last - offset == u64::from(bytes.saturating_sub(UNIT))
        }
        (Target::Shared(offset), Target::Shared(last)) => last.wrapping_sub(offset) == bytes.saturating_sub(UNIT),
        _ => false,
    };
    let address = thread.value(first.base).wrapping_add_signed(first.offset);
    let place = (thread.number, thread.last());
    let fault = Fault { place, kind: FaultKind::Bounds, address, dynamic: None, bytes, values: Vec::new() };
    is_one.then_some(start).ok_or(fault)
}

/// The detector sees both accesses.
fn show(program: &Program, world: &mut World, block: &mut BlockState, thread: &Thread, copy: &Underway) {
    let (ends, bytes, copy) = ([copy.from, copy.to], copy.bytes, copy.object.map(|(_, copy)| copy));
    for (end, location) in ends.iter().zip(ends.map(Target::location)) {
        if let (Target::Shared(_) | Target::Global(..), Some(location)) = (end, location) {
            world.note(thread, Some(location), bytes);
        }
    }
    if !world.races || bytes == 0 {
        return;
    }
    let number = block.agents.get(&(thread.place)).map_or(0, |agent| agent.bulk.started) + 1;
    let clock = &ThreadClock { epoch: number, ..thread.clock.clone() };
    let shape = world.detector.shape;
    let agents = [Agent::BulkReads, Agent::BulkWrites].map(|agent| shape.agent_of(thread.number, agent));
    // The reading half is the instruction before this one.
    for (end, (agent, code)) in ends.into_iter().zip(agents.into_iter().zip(thread.last() - 1..)) {
        let current = Current { thread: copy.unwrap_or(agent), code, clock, same_value: false };
        agents::watch(program, world, block, thread, (end, bytes), current);
    }
}

/// `cp.async.bulk.commit_group`
pub(crate) fn commit(block: &mut BlockState, thread: &Thread) {
    let copies = &mut block.agents.entry(thread.place).or_default().bulk;
    let open = std::mem::take(&mut copies.open);
    copies.groups.push_back((copies.started, open));
}

/// `cp.async.bulk.wait_group`: all but that many of the newest groups are complete, or (`reads`) have read what they read.
pub(crate) fn wait(world: &mut World, block: &mut BlockState, thread: &mut Thread, pending: u64, reads: bool) {
    let linear = thread.place;
    let most = usize::try_from(pending).unwrap_or(usize::MAX);
    let BlockState { agents, shared, .. } = block;
    let copies = &mut agents.entry(linear).or_default().bulk;
    let done = copies.groups.len().saturating_sub(most);
    let Some((last, _)) = done.checked_sub(1).and_then(|last| copies.groups.get(last)) else { return };
    thread.clock.agents[Agent::BulkReads as usize] = *last;
    if reads {
        for copy in copies.groups.iter_mut().take(done).flat_map(|(_, copies)| copies) {
            copy.read = copy.read.take().or_else(|| Some(bytes_of(world, shared, copy.from, copy.bytes)));
        }
        return;
    }
    thread.clock.agents[Agent::BulkWrites as usize] = *last;
    let complete_now: Vec<Underway> = copies.groups.drain(..done).flat_map(|(_, copies)| copies).collect();
    for copy in complete_now {
        complete(world, block, copy);
    }
}

/// Those copies end that are wanted.
pub(super) fn finish(world: &mut World, block: &mut BlockState, mut wanted: impl FnMut() -> bool) {
    let mut done = Vec::new();
    for agent in block.agents.values_mut() {
        let BulkCopies { open, groups, with_object, .. } = &mut agent.bulk;
        for copies in groups.iter_mut().map(|(_, copies)| copies).chain([open, with_object]) {
            done.extend(copies.extract_if(.., |_| wanted()));
        }
    }
    for copy in done {
        complete(world, block, copy);
    }
}

/// The first copy ends that an object tells of; false if there is none.
pub(super) fn finish_first(world: &mut World, block: &mut BlockState) -> bool {
    let copies = block.agents.values_mut().map(|agent| &mut agent.bulk.with_object).find(|copies| !copies.is_empty());
    let Some(copies) = copies else { return false };
    let copy = copies.remove(0);
    complete(world, block, copy);
    true
}

/// A copy ends.
fn complete(world: &mut World, block: &mut BlockState, copy: Underway) {
    let Underway { from, to, bytes, read, reduction, object, place } = copy;
    let read = read.unwrap_or_else(|| bytes_of(world, &block.shared, from, bytes));
    let width = reduction.map_or(1, |(_, ty)| ty.bytes());
    for (at, value) in (0..bytes).step_by(width as usize).zip(read.chunks(width as usize)) {
        let mut new = memory::read(value, 0, width);
        if let Some((operation, ty)) = reduction {
            let old = bytes_of(world, &block.shared, to.element(at, 1), width);
            new = atomic(operation, ty, memory::read(&old, 0, width), new, 0).unwrap_or(new);
        }
        match to {
            Target::Global(array, offset) => world.global.write(array, offset + u64::from(at), width, new),
            Target::Shared(offset) => memory::write(&mut block.shared, (offset + at) as usize, width, new),
            Target::Local(_) | Target::Param(_) => {}
        }
    }
    if let Target::Shared(offset) = to {
        block.mark_written(offset, bytes);
    }
    if let Some((offset, copy)) = object {
        objects::tell(world, block, offset, Told::Bytes { copy, bytes }, place);
    }
}

/// What memory holds.
fn bytes_of(world: &World, shared: &[u8], from: Target, bytes: u32) -> Vec<u8> {
    match from {
        Target::Global(array, offset) => {
            (0..u64::from(bytes)).map(|at| world.global.read(array, offset + at, 1) as u8).collect()
        }
        Target::Shared(offset) => shared[offset as usize..(offset + bytes) as usize].to_vec(),
        Target::Local(_) | Target::Param(_) => vec![0; bytes as usize],
    }
}
