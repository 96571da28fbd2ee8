//! Bulk copies: `cp.async.bulk`, `cp.reduce.async.bulk`, and `st.async`, `red.async`.
//!
//! Input: their starts, `cp.async.bulk.commit_group`, `cp.async.bulk.wait_group`. Output: bytes in shared or global memory, and
//! bytes that barrier objects count. Establishes: a copy reads and writes at some time between its start and its end, through the
//! asynchronous proxy (`st.async` and `red.async`: through the generic one); who knows of its end knows what it did, and not what
//! its thread did before it. Shared memory of a block that has exited is not accessed.
//! How: to the detector, copies with groups are accesses of two agents of the thread, one that reads and one that writes,
//! numbered by their starts; a copy with an object is a party of its own. [`moves`] says which bytes go where.
//! Reference: PTX ISA, `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`, "Async proxy", "Bulk async-group".

use super::access::{self, Target};
use super::agents::{self, excluded, is_at_once};
use super::block::BlockState;
use super::decode::{BulkOperation, Moves, Program};
use super::memory;
use super::moves::{self, Moved, Piece, Source};
use super::objects::{self, Told, misused};
use super::outcome::{BarrierMisuse, Place, Stop};
use super::races::clock::{Agent, ThreadClock};
use super::races::{Current, Space};
use super::tensor;
use super::thread::Thread;
use super::values::atomic::{AtomicOperation, atomic, flushed_add};
use super::world::World;
use crate::ptx::ast::ScalarType;
use std::collections::VecDeque;

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
    pieces: Vec<Piece>,
    /// Bytes that its object counts.
    bytes: u32,
    /// What it has read, piece by piece.
    read: Option<Vec<u8>>,
    reduction: Option<(AtomicOperation, ScalarType)>,
    /// Offset of the object in shared memory, and the number of the copy.
    object: Option<(u32, u32)>,
    /// Who started it.
    place: Place,
}

impl Underway {
    /// Whether it still accesses the shared memory of a block, from `first` on, or the object there.
    fn needs(&self, (first, size): (u32, u32)) -> bool {
        let is_in = |offset: u32| (first..first + size).contains(&offset);
        let needs = |piece: &Piece| {
            let reads = matches!(piece.from, Source::Memory(Target::Shared(offset)) if is_in(offset));
            reads && self.read.is_none() || matches!(piece.to, Target::Shared(offset) if is_in(offset))
        };
        self.pieces.iter().filter(|piece| piece.bytes > 0).any(needs)
            || self.object.is_some_and(|(offset, _)| is_in(offset))
    }
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
    let Moved { pieces, bytes, ty } = match moves::of(program, world, thread, operation) {
        Ok(moved) => moved,
        Err(moves::Wrong::Fault(fault)) => return thread.fault(world, fault),
        Err(moves::Wrong::Misuse(misuse)) => return misused(world, place, misuse),
        Err(moves::Wrong::Refused(reason)) => return thread.stop(world, Stop::Refused { code: place.1, reason }),
    };
    let mut object = None;
    if let Some(access) = operation.object {
        match access::find(program, world, thread, &program.accesses[access as usize]) {
            Ok(Target::Shared(offset)) => object = Some(offset),
            Ok(_) => return misused(world, place, BarrierMisuse::Uninitialised),
            Err(fault) => return thread.fault(world, fault),
        }
    }
    let is_generic = matches!(operation.moves, Moves::Values { .. });
    if is_generic && !is_remote(program, block, thread, (&pieces, object)) {
        return misused(world, place, BarrierMisuse::NotRemote);
    }
    let mask = operation.multicast.map(|slot| thread.value(slot));
    let copies = destinations(program, block, mask, (pieces, object));
    let ends = copies
        .iter()
        .flat_map(|(pieces, _)| pieces)
        .flat_map(|piece| [Some(piece.to), piece.from.target()].into_iter().flatten().zip([piece.bytes; 2]));
    if let Some(misuse) = ends.into_iter().find_map(|(end, bytes)| block.admits(program, end, bytes).err()) {
        return misused(world, place, misuse);
    }
    let mut underway = Vec::new();
    for (pieces, object) in copies {
        let object = match object.map(|offset| (offset, block.objects.number(offset))) {
            None => None,
            Some((_, None)) => return misused(world, place, BarrierMisuse::Uninitialised),
            Some((offset, Some(number))) => {
                Some((offset, world.detector.start_copy(thread.number, number, is_generic)))
            }
        };
        let reduction = operation.reduction.map(|(reduction, known)| (reduction, ty.unwrap_or(known)));
        underway.push(Underway { pieces, bytes, read: None, reduction, object, place });
    }
    for copy in &underway {
        show(program, world, block, thread, copy);
        show_map(program, world, block, thread, (operation, copy));
    }
    let sources =
        underway.iter().flat_map(|copy| &copy.pieces).filter_map(|piece| piece.from.target().zip(Some(piece.bytes)));
    let sources: Vec<(Target, u32)> = sources.collect();
    if let Some(code) = sources.into_iter().find_map(|(from, bytes)| excluded(world, from, bytes)) {
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

/// Whether all of it, and the object, is in the shared memory of one other block.
fn is_remote(
    program: &Program,
    block: &BlockState,
    thread: &Thread,
    (pieces, object): (&[Piece], Option<u32>),
) -> bool {
    let rank = |offset: u32| offset / program.shared_size;
    let own = thread.place / block.size;
    let Some(other) = object.map(rank).filter(|other| *other != own) else { return false };
    pieces.iter().all(|piece| matches!(piece.to, Target::Shared(offset) if rank(offset) == other))
}

/// The pieces of each copy and the object that it tells: one in each block that it is for, at the same places.
fn destinations(
    program: &Program,
    block: &BlockState,
    mask: Option<u64>,
    (pieces, object): (Vec<Piece>, Option<u32>),
) -> Vec<(Vec<Piece>, Option<u32>)> {
    let Some(mask) = mask else { return vec![(pieces, object)] };
    let in_rank = |offset: u32, rank: u32| offset % program.shared_size + rank * program.shared_size;
    let moved = |piece: &Piece, rank: u32| match piece.to {
        Target::Shared(offset) => Piece { to: Target::Shared(in_rank(offset, rank)), ..*piece },
        _ => *piece,
    };
    let ranks = (0..block.ranks).filter(|rank| mask >> rank & 1 == 1);
    let place = |rank: u32| {
        let pieces = pieces.iter().map(|piece| moved(piece, rank)).collect();
        (pieces, object.map(|object| in_rank(object, rank)))
    };
    ranks.map(place).collect()
}

/// The detector sees all accesses.
fn show(program: &Program, world: &mut World, block: &mut BlockState, thread: &Thread, copy: &Underway) {
    for piece in &copy.pieces {
        // The reading half is the instruction before this one.
        let ends = [(piece.from.target(), thread.last().wrapping_sub(1)), (Some(piece.to), thread.last())];
        for (end, code) in ends {
            if let Some(location) = end.and_then(Target::location) {
                world.note_at((thread.number, code), Some(location), piece.bytes);
            }
        }
    }
    if !world.races {
        return;
    }
    let number = block.agents.get(&(thread.place)).map_or(0, |agent| agent.bulk.started) + 1;
    let clock = &ThreadClock { epoch: number, ..thread.clock.clone() };
    let shape = world.detector.shape;
    let party = |agent| match copy.object {
        Some((_, copy)) => copy,
        None => shape.agent_of(thread.number, agent),
    };
    let (reader, writer) = (party(Agent::BulkReads), party(Agent::BulkWrites));
    for piece in copy.pieces.iter().filter(|piece| piece.bytes > 0) {
        if let Some(from) = piece.from.target() {
            let current = Current { thread: reader, code: thread.last() - 1, clock, same_value: false, map: None };
            agents::watch(program, world, block, thread, (from, piece.bytes), current);
        }
        let current = Current { thread: writer, code: thread.last(), clock, same_value: false, map: None };
        agents::watch(program, world, block, thread, (piece.to, piece.bytes), current);
    }
}

/// The detector sees that a copy reads its tensor map.
fn show_map(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &Thread,
    (operation, copy): (&BulkOperation, &Underway),
) {
    let Moves::Tensor { map, .. } = operation.moves else { return };
    let Ok(to @ Target::Global(array, offset)) = moves::map_place(program, world, thread, map) else { return };
    if !world.races {
        return;
    }
    let number = block.agents.get(&(thread.place)).map_or(0, |agent| agent.bulk.started) + 1;
    let clock = &ThreadClock { epoch: number, ..thread.clock.clone() };
    let reader =
        copy.object.map_or_else(|| world.detector.shape.agent_of(thread.number, Agent::BulkReads), |(_, copy)| copy);
    let map = Some(Space::Map { array: array as u32, offset });
    let current = Current { thread: reader, code: thread.last() - 1, clock, same_value: false, map };
    agents::watch(program, world, block, thread, (to, tensor::BYTES as u32), current);
}

/// All threads of a block have exited: no copy still needs its shared memory, from `first` on.
pub(super) fn abandon(world: &mut World, block: &BlockState, shared: (u32, u32)) {
    let copies = block.agents.values().flat_map(|agent| {
        let BulkCopies { open, groups, with_object, .. } = &agent.bulk;
        groups.iter().flat_map(|(_, copies)| copies).chain(open).chain(with_object)
    });
    if let Some(place) = copies.into_iter().find(|copy| copy.needs(shared)).map(|copy| copy.place) {
        misused(world, place, BarrierMisuse::Abandoned);
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
            copy.read = copy.read.take().or_else(|| Some(contents(world, shared, &copy.pieces)));
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
    let Underway { pieces, bytes, read, reduction, object, place } = copy;
    let read = read.unwrap_or_else(|| contents(world, &block.shared, &pieces));
    let width = reduction.map_or(1, |(_, ty)| ty.bytes());
    let mut read = read.chunks(width as usize);
    for piece in pieces {
        for (at, value) in (0..piece.bytes).step_by(width as usize).zip(&mut read) {
            let to = piece.to.element(at, 1);
            let mut new = memory::read(value, 0, width);
            if let Some(reduction) = reduction {
                let old = memory::read(&bytes_of(world, &block.shared, to, width), 0, width);
                new = reduced(reduction, to, old, new);
            }
            match to {
                Target::Global(array, offset) => world.global.write(array, offset, width, new),
                Target::Shared(offset) => memory::write(&mut block.shared, offset as usize, width, new),
                Target::Local(_) | Target::Param(_) => {}
            }
        }
        if let Target::Shared(offset) = piece.to {
            block.mark_written(offset, piece.bytes);
        }
    }
    if let Some((offset, copy)) = object {
        objects::tell(world, block, offset, Told::Bytes { copy, bytes }, place);
    }
}

/// What a reduction leaves. Those that add `f32` take subnormal numbers for zero.
fn reduced((operation, ty): (AtomicOperation, ScalarType), to: Target, old: u64, value: u64) -> u64 {
    match to {
        Target::Global(..) if operation == AtomicOperation::Add && ty == ScalarType::F(32) => flushed_add(old, value),
        _ => atomic(operation, ty, old, value, 0).unwrap_or(value),
    }
}

/// What pieces read, one behind the other.
fn contents(world: &World, shared: &[u8], pieces: &[Piece]) -> Vec<u8> {
    let read = |piece: &Piece| match piece.from {
        Source::Memory(from) => bytes_of(world, shared, from, piece.bytes),
        Source::Value(value) => value.to_le_bytes()[..piece.bytes as usize].to_vec(),
    };
    pieces.iter().flat_map(read).collect()
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
