//! A block: its shared memory and its barriers.
//!
//! Establishes: a barrier counts warps. A thread that comes, to `.arrive` too, waits for those of its warp that have not exited
//! ("causes executing thread to wait for all non-exited threads from its warp and marks warps' arrival"); then the warp has come
//! as a whole, and counts as 32. A barrier completes when as many threads came as it counts; the threads of a warp come to an
//! aligned one by one instruction, and one of the whole block completes at one instruction, or the block has diverged. Threads
//! that have exited are waited for only where the barrier names its count: `exit` releases those "for all threads in the CTA".
//! Reference: PTX ISA, `bar`, `barrier` and `exit`.

use super::access::Target;
use super::agents::Agents;
use super::cluster::ClusterBarrier;
use super::decode::{Program, ReductionKind};
use super::history::{Object, Part};
use super::launch::Contents;
use super::objects::{Objects, misused};
use super::outcome::{BarrierMisuse, Divergence, Instead, Stop};
use super::races::clock::{Clock, ThreadClock};
use super::races::shadow::Cell;
use super::races::sync::Locations;
use super::tensor_memory::{self, TensorMemory};
use super::thread::{Status, Thread};
use super::values::{hash, mask};
use super::world::World;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Everything of the blocks of a cluster but their threads: of one block where the launch has no clusters.
#[derive(Debug)]
pub struct BlockState {
    /// Linear number of the first block.
    pub(crate) number: u32,
    /// Threads of a block.
    pub(crate) size: u32,
    /// Blocks.
    pub(crate) ranks: u32,
    /// Shared memory, block by block.
    pub shared: Vec<u8>,
    /// One bit a byte of shared memory that was written.
    written: Vec<u64>,
    /// What the detector knows of shared memory.
    pub(crate) cells: Vec<Cell>,
    /// Synchronisation through shared memory.
    pub(crate) locations: Locations,
    /// Asynchronous copies under way.
    pub(crate) agents: Agents,
    /// Barrier objects in shared memory.
    pub(crate) objects: Objects,
    /// Tensor memory, block by block; none if the program does not use it.
    pub(crate) tensors: Vec<TensorMemory>,
    /// Block by block.
    barriers: Vec<BarrierState>,
    /// How often each was complete.
    completed: Vec<u64>,
    /// Threads that have not exited, by warp, block by block.
    live: Vec<u32>,
    /// The barrier of the cluster.
    pub(crate) cluster: ClusterBarrier,
}

#[derive(Debug, Default)]
struct BarrierState {
    /// Threads of warps that have come as a whole.
    arrivals: Vec<Arrival>,
    /// How many warps have.
    warps: u32,
    /// By warp: threads that wait for the others of it.
    gathering: Vec<Vec<Arrival>>,
    /// What those that do not wait did before.
    published: Option<Rc<Clock>>,
    /// What the last one of them knew of others.
    told: Option<Rc<Clock>>,
    /// The lanes that came, by warp.
    came: Vec<u32>,
    count: Option<u32>,
}

impl BarrierState {
    fn new(warps: usize) -> Self {
        BarrierState { came: vec![0; warps], gathering: vec![Vec::new(); warps], ..BarrierState::default() }
    }

    /// How many threads wait for others of their warps.
    fn gathered(&self) -> usize {
        self.gathering.iter().map(Vec::len).sum()
    }

    /// Whether the threads of each warp came by one instruction.
    fn is_by_warps(&self) -> bool {
        let mut codes: BTreeMap<u32, u32> = BTreeMap::new();
        let code_of_warp = |arrival: &Arrival| *codes.entry(arrival.thread / 32).or_insert(arrival.code);
        self.arrivals.iter().map(code_of_warp).zip(&self.arrivals).all(|(code, arrival)| code == arrival.code)
    }
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// Number in the block.
    thread: u32,
    /// Entry of the program's barriers.
    index: u32,
    /// Instruction.
    code: u32,
    /// How many it waits for.
    count: Option<u32>,
}

impl BlockState {
    /// A block before any launch.
    pub fn new(program: &Program, size: u32) -> Self {
        let bytes = (program.shared_size * program.ranks) as usize;
        BlockState {
            number: 0,
            size,
            ranks: program.ranks,
            cluster: ClusterBarrier::default(),
            shared: vec![0; bytes],
            written: vec![0; bytes.div_ceil(64)],
            cells: vec![Cell::default(); bytes.div_ceil(4)],
            locations: Locations::default(),
            agents: Agents::default(),
            objects: Objects::default(),
            tensors: tensor_memory::fresh(program, program.ranks),
            barriers: (0..16 * program.ranks).map(|_| BarrierState::default()).collect(),
            completed: Vec::new(),
            live: Vec::new(),
        }
    }

    /// Becomes the blocks with these numbers before their first instruction.
    pub fn start(&mut self, numbers: &[u32], contents: &Contents) {
        self.number = numbers[0];
        let bytes = self.shared.len() / numbers.len();
        for (rank, number) in numbers.iter().enumerate() {
            let contents = match contents {
                Contents::Any { seed } => Contents::Any { seed: hash(*seed, u64::from(*number)) },
                Contents::Small { bound, seed } => {
                    Contents::Small { bound: *bound, seed: hash(*seed, u64::from(*number)) }
                }
                other => other.clone(),
            };
            contents.fill(0, &mut self.shared[rank * bytes..(rank + 1) * bytes]);
        }
        self.cluster = ClusterBarrier::default();
        self.written.fill(0);
        self.cells.fill(Cell::default());
        self.locations.clear();
        self.agents.clear();
        self.objects.clear();
        self.tensors.iter_mut().for_each(TensorMemory::clear);
        let warps = self.size.div_ceil(32);
        let lanes = (0..warps).map(|warp| (self.size - warp * 32).min(32));
        self.live = lanes.cycle().take((warps * self.ranks) as usize).collect();
        for barrier in &mut self.barriers {
            *barrier = BarrierState::new(warps as usize);
        }
        self.completed.clear();
        self.completed.resize(self.barriers.len(), 0);
    }

    /// Whether all these bytes of shared memory were written.
    pub(crate) fn is_written(&self, offset: u32, bytes: u32) -> bool {
        (offset..offset + bytes).all(|at| self.written[at as usize / 64] >> (at % 64) & 1 == 1)
    }

    /// Remembers that these bytes of shared memory were written.
    pub(crate) fn mark_written(&mut self, offset: u32, bytes: u32) {
        for at in offset..offset + bytes {
            self.written[at as usize / 64] |= 1 << (at % 64);
        }
    }

    /// A thread comes to a barrier; false if it does not go on by itself.
    pub(crate) fn arrive(&mut self, program: &Program, world: &mut World, thread: &mut Thread, index: u32) -> bool {
        let barrier = &program.barriers[index as usize];
        let id = thread.value(barrier.id) & mask(32);
        let count = barrier.count.map(|slot| thread.value(slot) as u32);
        let (rank, linear) = (thread.place / self.size, thread.place % self.size);
        let misuse = |world: &mut World, thread: &Thread, kind| misused(world, (thread.number, thread.last()), kind);
        if id > 15 {
            return misuse(world, thread, BarrierMisuse::Number);
        }
        let id = (16 * rank) as usize + id as usize;
        let state = &mut self.barriers[id];
        if count.is_some_and(|count| count == 0 || !count.is_multiple_of(32)) {
            return misuse(world, thread, BarrierMisuse::Count);
        }
        let (warp, lane) = (linear as usize / 32, 1 << (linear % 32));
        if state.came[warp] & lane != 0 {
            return misuse(world, thread, BarrierMisuse::ArrivesTwice);
        }
        if let Some(first) = state.gathering[warp].first()
            && let Some(kind) = mismatch(program, self.size, first, (index, count))
        {
            return misuse(world, thread, kind);
        }
        state.came[warp] |= lane;
        state.gathering[warp].push(Arrival { thread: thread.place, index, code: thread.last(), count });
        let part = if barrier.arrive { Part::Arrives } else { Part::Meets };
        let generation = (Object::Barrier { rank, id: id as u32 % 16 }, self.completed[id]);
        world.at_barrier(self.number, (thread.number, thread.last()), generation, part);
        thread.status = Status::Barrier { index, id: (id % 16) as u8 };
        false
    }

    /// How often a barrier was complete.
    pub(crate) fn completed(&self, id: usize) -> u64 {
        self.completed[id]
    }

    /// How many threads came to a barrier that is not complete.
    pub(crate) fn pending(&self, id: usize) -> usize {
        self.barriers[id].arrivals.len() + self.barriers[id].gathered()
    }

    /// A thread ends.
    pub(crate) fn leave(&mut self, thread: &Thread) {
        let (rank, linear) = ((thread.place / self.size) as usize, thread.place % self.size);
        self.live[rank * self.size.div_ceil(32) as usize + linear as usize / 32] -= 1;
        let live = self.live_threads();
        self.cluster.leave(thread.came, live);
    }

    /// Threads of the cluster that have not exited.
    pub(super) fn live_threads(&self) -> u32 {
        self.live.iter().sum()
    }

    /// The warps of a block, with their threads that have not exited.
    fn live_of(&self, rank: u32) -> &[u32] {
        let warps = self.size.div_ceil(32) as usize;
        &self.live[rank as usize * warps..(rank as usize + 1) * warps]
    }

    /// Whether all threads of the block with this rank have exited.
    pub(super) fn has_ended(&self, rank: u32) -> bool {
        self.live_of(rank).iter().all(|live| *live == 0)
    }

    /// Whether all threads of the block have exited whose shared memory a place is in.
    pub(crate) fn has_exited(&self, program: &Program, offset: u32) -> bool {
        self.ranks > 1 && self.has_ended(offset / program.shared_size)
    }

    /// Whether a thread may access these bytes.
    pub(crate) fn admits(&self, program: &Program, target: Target, bytes: u32) -> Result<(), BarrierMisuse> {
        match target {
            Target::Shared(offset) if self.objects.overlap(offset, bytes) => Err(BarrierMisuse::Access),
            Target::Shared(offset) if self.has_exited(program, offset) => Err(BarrierMisuse::Exited),
            _ => Ok(()),
        }
    }

    /// `fence.mbarrier_init`: that the thread has initialised objects is before what the others do with them.
    pub(crate) fn publish_objects(&mut self, thread: &Thread) {
        let places: Vec<u32> = self.objects.of(thread.number).collect();
        for offset in places {
            self.cells[offset as usize / 4..offset as usize / 4 + 2].fill(Cell::default());
        }
    }

    fn is_complete(&self, id: usize, exited_ok: bool) -> bool {
        let state = &self.barriers[id];
        let threads = state.arrivals.len() as u32;
        match state.count {
            _ if threads == 0 => false,
            None if exited_ok => threads >= self.live_of((id / 16) as u32).iter().sum(),
            None => threads >= self.size,
            Some(count) => 32 * state.warps >= count,
        }
    }

    /// The warps come to a barrier of which all threads have that have not exited. Who does not wait for others goes on.
    fn gather(&mut self, id: usize, program: &Program, world: &mut World, threads: &mut [Thread]) {
        let (rank, size) = ((id / 16) as u32, self.size);
        for warp in 0..size.div_ceil(32) as usize {
            let is_whole = self.barriers[id].gathering[warp].len() as u32 == self.live_of(rank)[warp];
            if !is_whole || self.barriers[id].gathering[warp].is_empty() {
                continue;
            }
            let state = &mut self.barriers[id];
            let group = std::mem::take(&mut state.gathering[warp]);
            let place = |arrival: &Arrival| (threads[arrival.thread as usize].number, arrival.code);
            let first = group[0];
            let is_part = |arrival: &Arrival| {
                let barrier = &program.barriers[arrival.index as usize];
                barrier.aligned && !barrier.is_of_all()
            };
            if let Some(other) = group.iter().find(|arrival| arrival.code != first.code)
                && let Some(aligned) = [&first, other].into_iter().find(|arrival| is_part(arrival))
            {
                let absent = if aligned.code == first.code { other } else { &first };
                let (arrived, absent, instead) = (place(aligned), place(absent), Instead::Elsewhere);
                return diverged(world, Divergence { arrived, absent, instead });
            }
            if let Some(before) = state.arrivals.first()
                && let Some(kind) = mismatch(program, size, before, (first.index, first.count))
            {
                misused(world, place(&first), kind);
                return;
            }
            (state.count, state.warps) = (first.count, state.warps + 1);
            for arrival in group.iter().filter(|arrival| program.barriers[arrival.index as usize].arrive) {
                let thread = &mut threads[arrival.thread as usize];
                thread.status = Status::Running;
                if world.races {
                    let all = Rc::make_mut(state.published.get_or_insert_default());
                    world.detector.shape.tell(thread.number, &thread.clock, all, &mut state.told);
                    thread.clock.epoch += 1;
                }
            }
            state.arrivals.extend(group);
        }
    }

    /// Lets the threads of all complete barriers go on; whether there were any.
    pub(crate) fn release(&mut self, program: &Program, world: &mut World, threads: &mut [Thread]) -> bool {
        let mut any = false;
        for id in 0..self.barriers.len() {
            self.gather(id, program, world, threads);
            if world.halted {
                return true;
            }
            if self.is_complete(id, world.exited_threads_ok) {
                any = true;
                self.release_one(id, program, world, threads);
            }
        }
        any
    }

    fn release_one(&mut self, id: usize, program: &Program, world: &mut World, threads: &mut [Thread]) {
        self.completed[id] += 1;
        let mut state = std::mem::replace(&mut self.barriers[id], BarrierState::new(self.size.div_ceil(32) as usize));
        // Threads that wait for others of their warp come to the next generation, although they came before it.
        let next = &mut self.barriers[id];
        next.gathering = std::mem::take(&mut state.gathering);
        for left in next.gathering.iter().flatten() {
            let linear = left.thread % self.size;
            next.came[linear as usize / 32] |= 1 << (linear % 32);
            let generation = (Object::Barrier { rank: id as u32 / 16, id: id as u32 % 16 }, self.completed[id]);
            let part = if program.barriers[left.index as usize].arrive { Part::Arrives } else { Part::Meets };
            world.at_barrier(self.number, (threads[left.thread as usize].number, left.code), generation, part);
        }
        let first = state.arrivals[0];
        let strict = |arrival: &Arrival| program.barriers[arrival.index as usize].is_of_all();
        let arrives = |arrival: &Arrival| program.barriers[arrival.index as usize].arrive;
        if let Some(other) = state.arrivals.iter().find(|arrival| arrival.code != first.code && !arrives(arrival))
            && !arrives(&first)
            && (strict(&first) || strict(other))
        {
            let place = |arrival: &Arrival| (threads[arrival.thread as usize].number, arrival.code);
            let (arrived, absent) = if strict(&first) { (&first, other) } else { (other, &first) };
            let instead = if state.is_by_warps() { Instead::WholeWarp } else { Instead::Elsewhere };
            return diverged(world, Divergence { arrived: place(arrived), absent: place(absent), instead });
        }
        state.arrivals.sort_by_key(|arrival| arrival.thread);
        let reduction = |arrival: &Arrival| program.barriers[arrival.index as usize].reduction;
        let votes = state.arrivals.iter().filter(|arrival| {
            reduction(arrival).is_some_and(|reduction| threads[arrival.thread as usize].value(reduction.p) & 1 == 1)
        });
        let votes = votes.count();
        for arrival in &state.arrivals {
            let thread = &mut threads[arrival.thread as usize];
            if program.barriers[arrival.index as usize].arrive {
                continue;
            }
            thread.status = Status::Running;
            if let Some(reduction) = reduction(arrival)
                && let Some(d) = reduction.d
            {
                let value = match reduction.kind {
                    ReductionKind::Popc => votes as u64,
                    ReductionKind::And => u64::from(votes == state.arrivals.len()),
                    ReductionKind::Or => u64::from(votes > 0),
                };
                thread.set(d, value);
            }
        }
        if world.races {
            let first = id as u32 / 16 * self.size;
            order(&state, program, world, threads, first..first + self.size);
        }
    }
}

/// Why a thread that comes does not go with one that came before: their counts, or that only one of them reduces.
fn mismatch(
    program: &Program,
    size: u32,
    before: &Arrival,
    (index, count): (u32, Option<u32>),
) -> Option<BarrierMisuse> {
    let all = size.next_multiple_of(32);
    let kind = |index: u32| program.barriers[index as usize].reduction.map(|reduction| reduction.kind);
    match () {
        () if before.count.unwrap_or(all) != count.unwrap_or(all) => Some(BarrierMisuse::CountsDiffer),
        () if kind(before.index) != kind(index) => Some(BarrierMisuse::Mixed),
        () => None,
    }
}

/// Threads came to an aligned barrier by several instructions: the launch ends.
fn diverged(world: &mut World, divergence: Divergence) {
    world.outcome.divergences.push(divergence);
    world.outcome.stopped.insert(Stop::Defect);
    world.halted = true;
}

/// What came before the barrier happened before what comes after it.
fn order(state: &BarrierState, program: &Program, world: &World, threads: &mut [Thread], block: Range<u32>) {
    let shape = world.detector.shape;
    let waits: Vec<u32> = {
        let waiting = state.arrivals.iter().filter(|arrival| !program.barriers[arrival.index as usize].arrive);
        waiting.map(|arrival| arrival.thread).collect()
    };
    if waits.len() == block.len() {
        let threads = &mut threads[block.start as usize..block.end as usize];
        let first = threads[0].number;
        let mut clocks: Vec<&mut ThreadClock> = threads.iter_mut().map(|thread| &mut thread.clock).collect();
        shape.join_block(first, &mut clocks);
    } else {
        join(world, threads, &waits);
    }
    if let Some(published) = &state.published {
        let mut done = None;
        for thread in waits {
            let thread = &mut threads[thread as usize];
            shape.learn_alike(thread.number, &mut thread.clock, published, &mut done);
        }
    }
}

/// These threads of a block, in ascending order, synchronise.
pub(crate) fn join(world: &World, threads: &mut [Thread], members: &[u32]) {
    let mut wanted = members.iter().peekable();
    let mut parts: Vec<(u32, &mut ThreadClock, bool)> = Vec::with_capacity(members.len());
    for (linear, thread) in (0..).zip(threads.iter_mut()) {
        if wanted.next_if(|member| **member == linear).is_some() {
            parts.push((thread.number, &mut thread.clock, true));
        }
    }
    world.detector.shape.join_some(&mut parts);
}
