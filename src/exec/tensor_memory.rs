//! Tensor memory: `tcgen05`.
//!
//! Input: operations of threads on it. Output: what they access, arrivals of `commit`, and misuse. Establishes: columns are accessed
//! between their allocation and their end only; a warp accesses its own quarter of the lanes; `alloc` writes the address as a store of the
//! first thread of the warp; nothing is left allocated when a block ends. Values are not computed: what is loaded is unknown.
//! How: loads and stores are accesses of agents of their threads, products and copies of another one, numbered by their starts
//! ([`races::tensor`](super::races::tensor) says what orders them); 16 lanes of a column are told apart. Commits of a thread arrive in order.
//! [`tensor_products`] has the extents of products and copies.
//! Reference: PTX ISA, "TensorCore 5th Generation Family Instructions".

use super::access::{self, Target};
use super::agents::is_at_once;
use super::block::BlockState;
use super::decode::{ObjectOperation, Program, Slot, TensorOperation, TensorPlace};
use super::memory;
use super::moves::Wrong;
use super::objects::{self, Told, misused};
use super::outcome::{BarrierMisuse, Fault, FaultKind, Place, Stop};
use super::races::clock::{Agent, Clock, ThreadClock};
use super::races::shadow::Cell;
use super::races::tensor::Pipelined;
use super::races::{Current, Space};
use super::tensor_products;
use super::thread::Thread;
use super::world::World;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// Columns of the tensor memory of a block.
pub(crate) const COLUMNS: u32 = 512;

/// Cells of a column.
const CELLS: u32 = 2;

/// The tensor memory of a block.
#[derive(Debug, Default)]
pub(crate) struct TensorMemory {
    /// What is allocated, by the first column.
    live: BTreeMap<u32, Allocation>,
    /// How often columns were allocated.
    allocated: u16,
    relinquished: bool,
    /// What the detector knows of it.
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug)]
struct Allocation {
    columns: u32,
    /// Number in the block.
    number: u16,
    place: Place,
}

/// How many operations on tensor memory a thread started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TensorStarts {
    loads: u32,
    stores: u32,
    /// Products, copies and commits.
    others: u32,
}

/// A commit whose arrivals have not come.
#[derive(Debug)]
pub(super) struct Committed {
    /// Offsets of the objects in shared memory.
    objects: Vec<u32>,
    /// What the arrivals tell.
    known: Rc<Clock>,
    place: Place,
}

/// What an operation accesses: of the block with this rank columns and groups of 16 lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) rank: u32,
    pub(super) columns: Range<u32>,
    pub(super) groups: u8,
}

/// All groups of lanes.
pub(super) const ALL: u8 = 0xff;

impl TensorMemory {
    /// The number of the allocation in which these columns are, and whether that is all of tensor memory.
    pub(crate) fn allocation(&self, columns: &Range<u32>) -> Option<(u16, bool)> {
        let (start, found) = self.live.range(..=columns.start).next_back()?;
        (columns.end <= start + found.columns).then_some((found.number, found.columns == COLUMNS))
    }

    /// A block starts.
    pub(crate) fn clear(&mut self) {
        self.cells.fill(Cell::default());
        (self.allocated, self.relinquished) = (0, false);
        self.live.clear();
    }

    fn allocate(&mut self, columns: u32, place: Place) -> Option<u32> {
        let mut start = 0;
        for (first, other) in &self.live {
            if start + columns <= *first {
                break;
            }
            start = first + other.columns;
        }
        if start + columns > COLUMNS {
            return None;
        }
        self.allocated += 1;
        self.live.insert(start, Allocation { columns, number: self.allocated, place });
        Some(start)
    }
}

/// The tensor memory of so many blocks before they start.
pub(super) fn fresh(program: &Program, ranks: u32) -> Vec<TensorMemory> {
    let count = if program.tensor_operations.is_empty() { 0 } else { ranks };
    let cells = || vec![Cell::default(); (COLUMNS * CELLS) as usize];
    (0..count).map(|_| TensorMemory { cells: cells(), ..TensorMemory::default() }).collect()
}

/// An operation; false if the thread does not go on by itself.
pub(crate) fn operate(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let place = (thread.number, thread.last());
    // What a warp does as one, its first thread does.
    let is_first = (thread.place % block.size).is_multiple_of(32);
    let done = match &program.tensor_operations[index as usize] {
        TensorOperation::Allocate { access, columns } if is_first => {
            allocate(program, world, block, thread, (*access, *columns))
        }
        TensorOperation::Free { place, columns } if is_first => free(program, world, block, thread, (*place, *columns)),
        TensorOperation::Relinquish if is_first => {
            block.tensors[(thread.place / block.size) as usize].relinquished = true;
            Ok(())
        }
        TensorOperation::Allocate { .. } | TensorOperation::Free { .. } | TensorOperation::Relinquish => Ok(()),
        TensorOperation::Fence { before } => {
            world.note(thread, None, 0);
            if world.races {
                let (shape, started) = (world.detector.shape, thread.tensor.others);
                match before {
                    true => shape.publish_tensor(thread.number, &mut thread.clock, started),
                    false => shape.await_tensor(thread.number, &mut thread.clock),
                }
            }
            Ok(())
        }
        TensorOperation::Wait { loads } => {
            let starts = thread.tensor;
            let (agent, started) = match loads {
                true => (Agent::TensorLoads, starts.loads),
                false => (Agent::TensorStores, starts.stores),
            };
            thread.clock.agents[agent as usize] = started;
            Ok(())
        }
        TensorOperation::Move { writes, place, lanes, columns, second } => {
            move_part(program, world, block, thread, (*writes, *place), (*lanes, *columns, *second))
        }
        operation => start(program, world, block, thread, operation),
    };
    match done {
        Ok(()) => !world.halted && !world.switch_at_access,
        Err(Wrong::Fault(fault)) => thread.fault(world, fault),
        Err(Wrong::Misuse(misuse)) => misused(world, place, misuse),
        Err(Wrong::Refused(reason)) => thread.stop(world, Stop::Refused { code: place.1, reason }),
    }
}

/// Lane and column of an address.
pub(crate) fn at(thread: &Thread, place: TensorPlace) -> (u32, u32) {
    let address = thread.value(place.base).wrapping_add_signed(place.offset) as u32;
    (address >> 16, address & 0xffff)
}

fn allocate(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    (access, columns): (u32, Slot),
) -> Result<(), Wrong> {
    let columns = thread.value(columns) as u32;
    let rank = thread.place / block.size;
    let Some(to) = access::resolve(program, world, thread, &program.accesses[access as usize]) else { return Ok(()) };
    let Target::Shared(offset) = to else {
        return Err(Wrong::Refused("an address of tensor memory elsewhere than in shared memory".to_string()));
    };
    block.admits(program, to, 4).map_err(Wrong::Misuse)?;
    let memory = &mut block.tensors[rank as usize];
    if !columns.is_power_of_two() || !(32..=COLUMNS).contains(&columns) || memory.relinquished {
        return Err(Wrong::Misuse(BarrierMisuse::TensorColumns));
    }
    let Some(start) = memory.allocate(columns, (thread.number, thread.last())) else {
        return Err(Wrong::Refused("a warp that waits until tensor memory is free".to_string()));
    };
    if world.races {
        let current =
            Current { thread: thread.number, code: thread.last(), clock: &thread.clock, same_value: false, map: None };
        world.detector.address_access(&mut block.cells, offset, current);
    }
    memory::write(&mut block.shared, offset as usize, 4, u64::from(start));
    block.mark_written(offset, 4);
    block.locations.remove(&u64::from(offset));
    let part = Part { rank, columns: start..start + columns, groups: ALL };
    show(program, world, block, thread, &part, None);
    Ok(())
}

fn free(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    (place, columns): (TensorPlace, Slot),
) -> Result<(), Wrong> {
    let rank = thread.place / block.size;
    let (lane, start) = at(thread, place);
    let columns = thread.value(columns) as u32;
    let memory = &mut block.tensors[rank as usize];
    let is_live = memory.live.get(&start).is_some_and(|found| found.columns == columns);
    if lane != 0 || !is_live {
        return Err(Wrong::Misuse(BarrierMisuse::TensorColumns));
    }
    let part = Part { rank, columns: start..start + columns, groups: ALL };
    show(program, world, block, thread, &part, None);
    block.tensors[rank as usize].live.remove(&start);
    Ok(())
}

/// A thread's part of a load or a store of its warp.
fn move_part(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    (writes, place): (bool, TensorPlace),
    (lanes, columns, second): (u32, u32, Option<u32>),
) -> Result<(), Wrong> {
    let (rank, warp) = (thread.place / block.size, thread.place % block.size / 32 % 4);
    let parts = match moved(at(thread, place), warp, (lanes, columns, second)) {
        Some(parts) => parts.map(|(columns, groups)| Part { rank, columns, groups }),
        None => return Err(Wrong::Misuse(BarrierMisuse::TensorLanes)),
    };
    let (agent, started) = match writes {
        true => (Agent::TensorStores, &mut thread.tensor.stores),
        false => (Agent::TensorLoads, &mut thread.tensor.loads),
    };
    *started += 1;
    let number = *started;
    for part in parts.iter().filter(|part| part.groups != 0) {
        check(block, thread, part)?;
        show(program, world, block, thread, part, Some((agent, number)));
    }
    Ok(())
}

/// Columns and groups of lanes that a load or store has, if its warp may access them.
pub(crate) fn moved(
    (lane, column): (u32, u32),
    warp: u32,
    (lanes, columns, second): (u32, u32, Option<u32>),
) -> Option<[(Range<u32>, u8); 2]> {
    let first = 32 * warp;
    let (whole, half) = (lane == first, lane == first + 16);
    let group = |number: u32| 1u8 << (2 * warp + number);
    let own = column..column + columns;
    match (lanes, second) {
        (16, Some(behind)) if whole => {
            let other = column.wrapping_add(behind);
            Some([(own, group(0)), (other..other.wrapping_add(columns), group(1))])
        }
        (16, None) if whole || half => Some([(own, group(u32::from(half))), (0..0, 0)]),
        (32, None) if whole => Some([(own, group(0) | group(1)), (0..0, 0)]),
        _ => None,
    }
}

/// These columns are allocated.
pub(super) fn check(block: &BlockState, thread: &Thread, part: &Part) -> Result<(), Wrong> {
    if block.tensors[part.rank as usize].allocation(&part.columns).is_some() {
        return Ok(());
    }
    let (place, address) = ((thread.number, thread.last()), u64::from(part.columns.start));
    let bytes = 4 * part.columns.end.saturating_sub(part.columns.start);
    Err(Fault { place, kind: FaultKind::Bounds, address, dynamic: None, bytes, values: Vec::new() }.into())
}

/// The detector sees an access: of an agent with a number, or of the thread itself.
fn show(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &Thread,
    part: &Part,
    agent: Option<(Agent, u32)>,
) {
    show_at(program, world, block, (thread, thread.last()), part, agent);
}

pub(super) fn show_at(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    (thread, code): (&Thread, u32),
    Part { rank, columns, groups }: &Part,
    agent: Option<(Agent, u32)>,
) {
    if !world.races {
        return;
    }
    let cells = &mut block.tensors[*rank as usize].cells;
    let map = Some(Space::Tensor);
    match agent {
        Some((agent, number)) => {
            let clock = &ThreadClock { epoch: number, ..thread.clock.clone() };
            let number = world.detector.shape.agent_of(thread.number, agent);
            let current = Current { thread: number, code, clock, same_value: false, map };
            world.detector.tensor_access(cells, (columns.clone(), *groups), current);
        }
        None => {
            let current = Current { thread: thread.number, code, clock: &thread.clock, same_value: false, map };
            world.detector.tensor_access(cells, (columns.clone(), *groups), current);
        }
    }
    world.look_out(program, thread);
}

/// A product or a copy starts.
fn start(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    operation: &TensorOperation,
) -> Result<(), Wrong> {
    let rank = thread.place / block.size;
    let extents = tensor_products::extents(program, block.ranks, (rank, thread), operation)?;
    thread.tensor.others = world.detector.pipelines.start(thread.number, extents.pipelined);
    for part in extents.reads.iter().chain(&extents.writes) {
        check(block, thread, part)?;
    }
    let (code, number) = (thread.last(), thread.tensor.others);
    let agent = Some((Agent::Tensor, number));
    for offset in extents.shared {
        let (target, bytes) = (Target::Shared(offset), tensor_products::UNIT);
        block.admits(program, target, bytes).map_err(Wrong::Misuse)?;
        tensor_products::show(program, world, block, (thread, number), target);
    }
    for part in &extents.reads {
        show_at(program, world, block, (thread, code.wrapping_sub(1)), part, agent);
    }
    for part in &extents.writes {
        show_at(program, world, block, (thread, code), part, agent);
    }
    Ok(())
}

/// The objects that get an arrival of `tcgen05.commit`.
pub(crate) fn targets(program: &Program, ranks: u32, mask: Option<u64>, offset: u32) -> Vec<u32> {
    let Some(mask) = mask else { return vec![offset] };
    let within = offset % program.shared_size.max(1);
    (0..ranks).filter(|rank| mask >> rank & 1 == 1).map(|rank| rank * program.shared_size + within).collect()
}

/// `tcgen05.commit` at the object at this offset; false if the thread does not go on by itself.
pub(super) fn commit(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    (operation, multicast): (&ObjectOperation, Option<Slot>),
    offset: u32,
) -> bool {
    debug_assert!(operation.d.is_none(), "exec: a commit has no result");
    let place = (thread.number, thread.last());
    let mask = multicast.map(|slot| thread.value(slot) & 0xffff);
    let objects = targets(program, block.ranks, mask, offset);
    for object in &objects {
        if block.has_exited(program, *object) {
            return misused(world, place, BarrierMisuse::Exited);
        }
        if block.objects.number(*object).is_none() {
            return misused(world, place, BarrierMisuse::Uninitialised);
        }
        if *object != offset {
            objects::show(program, world, block, thread, *object);
        }
    }
    thread.tensor.others = world.detector.pipelines.start(thread.number, Pipelined::Commit);
    let known = match world.races {
        // It is also a fence before what comes behind the arrival.
        true => world.detector.shape.complete_tensor(thread.number, &thread.clock, thread.tensor.others),
        false => Clock::default(),
    };
    let one = Committed { objects, known: Rc::new(known), place };
    let at_once = is_at_once(world, thread);
    block.agents.entry(thread.place).or_default().commits.push_back(one);
    if at_once {
        arrive(world, block, thread.place, usize::MAX);
    }
    !world.halted && !world.switch_at_access
}

/// So many commits of a thread arrive; whether there were any.
fn arrive(world: &mut World, block: &mut BlockState, thread: u32, most: usize) -> bool {
    let Some(agent) = block.agents.get_mut(&thread) else { return false };
    let count = agent.commits.len().min(most);
    let coming: VecDeque<Committed> = agent.commits.drain(..count).collect();
    for Committed { objects, known, place } in coming {
        for offset in objects {
            objects::tell(world, block, offset, Told::Commit { known: known.clone() }, place);
        }
    }
    count > 0
}

/// Commits arrive as far as they are wanted.
pub(super) fn finish(world: &mut World, block: &mut BlockState, mut wanted: impl FnMut() -> bool) {
    let threads: Vec<u32> =
        block.agents.iter().filter(|(_, agent)| !agent.commits.is_empty()).map(|(at, _)| *at).collect();
    for thread in threads {
        while !world.halted && wanted() && arrive(world, block, thread, 1) {}
    }
}

/// The first commit arrives; false if there is none.
pub(super) fn finish_first(world: &mut World, block: &mut BlockState) -> bool {
    let first = block.agents.iter().find(|(_, agent)| !agent.commits.is_empty()).map(|(at, _)| *at);
    first.is_some_and(|thread| arrive(world, block, thread, 1))
}

/// All threads of a block have exited: it has no tensor memory left, and no commit arrives in its shared memory.
pub(super) fn end_block(world: &mut World, block: &BlockState, (rank, size): (u32, u32)) {
    if let Some(left) = block.tensors.get(rank as usize).and_then(|memory| memory.live.values().next()) {
        misused(world, left.place, BarrierMisuse::TensorLeft);
        return;
    }
    let is_in = |offset: &u32| (rank * size..(rank + 1) * size).contains(offset);
    let mut commits = block.agents.values().flat_map(|agent| &agent.commits);
    if let Some(one) = commits.find(|one| one.objects.iter().any(is_in)) {
        misused(world, one.place, BarrierMisuse::Abandoned);
    }
}
