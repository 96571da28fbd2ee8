//! The launch: which blocks are resident, and which thread runs next.
//!
//! Blocks become resident one after another, and their memory is used again for later ones, so that
//! a launch of millions of threads needs the memory of few. In turn (round robin and lock-step), a
//! further block is let in only when no resident one can finish by itself, so that a block may
//! wait for a later one as long as the later one fits beside it; the random schedules interleave
//! several blocks from the start.

use super::agents;
use super::block::BlockState;
use super::bulk;
use super::decode::Program;
use super::history::History;
use super::launch::{Launch, Schedule};
use super::lockstep::Warps;
use super::memory::GlobalMemory;
use super::objects;
use super::outcome::{Deadlock, Divergence, Instead, ObjectState, Outcome, Stop};
use super::products;
use super::tensor_memory;
use super::thread::{Status, Thread};
use super::trace::Watch;
use super::values::hash;
use super::waiting;
use super::warp;
use super::world::World;
use crate::effort::{self, Effort};
use crate::geometry::index_of;
use crate::limits;
use std::collections::BTreeMap;

/// Instructions of a thread before the next one's turn.
const TURN: u64 = 1000;

/// What an instruction costs.
const INSTRUCTION: Effort = Effort::nanoseconds(30);

/// Threads that are resident at most, unless one block has more.
const RESIDENT_THREADS: usize = 16 * 1024;

/// Bytes of registers and local memory that are resident at most, unless one block needs more.
const RESIDENT_BYTES: usize = 256 << 20;

/// Blocks that random schedules interleave.
const INTERLEAVED_BLOCKS: usize = 8;

/// What a run showed, global memory, and what was asked for beside it.
type Watched = (Outcome, GlobalMemory, Option<Box<Watch>>, Option<Box<History>>);

/// A resident block.
struct Block {
    state: BlockState,
    threads: Vec<Thread>,
    warps: Warps,
}

/// A launch while it runs.
pub(crate) struct Machine<'l> {
    program: &'l Program,
    launch: &'l Launch,
    world: World,
    resident: Vec<Block>,
    /// Blocks that have ended, for the next ones.
    spare: Vec<Block>,
    /// Numbers of the clusters to come: blocks, where there are none.
    coming: Box<dyn Iterator<Item = u32> + 'l>,
    /// How many may be resident.
    most: usize,
    turns: u64,
}

impl<'l> Machine<'l> {
    /// The launch before its first instruction.
    pub(crate) fn new(program: &'l Program, launch: &'l Launch, world: World) -> Self {
        let blocks: u32 = launch.cluster.iter().product();
        let threads = launch.geometry.block_threads() as usize * blocks as usize;
        let bytes = program.template.len() * 8 + program.local_size as usize + 200;
        let most = (RESIDENT_THREADS / threads).min(RESIDENT_BYTES / (bytes * threads)).max(1);
        let coming: Box<dyn Iterator<Item = u32>> = match &launch.blocks {
            Some(blocks) => Box::new(blocks.iter().copied()),
            None => Box::new(0..launch.geometry.blocks() as u32 / blocks),
        };
        Machine { program, launch, world, resident: Vec::new(), spare: Vec::new(), coming, most, turns: 0 }
    }

    /// Runs to the end.
    pub(crate) fn run(self) -> (Outcome, GlobalMemory) {
        let (outcome, memory, ..) = self.run_watched();
        (outcome, memory)
    }

    /// Runs to the end, or to the moment that the watch waits for.
    pub(crate) fn run_watched(mut self) -> Watched {
        match self.launch.schedule {
            Schedule::Random | Schedule::Adversarial => self.run_randomly(),
            _ => self.run_in_turn(),
        }
        let World { mut outcome, detector, global, mut watch, history, .. } = self.world;
        if let Some(watch) = &mut watch {
            self.resident.iter().chain(&self.spare).for_each(|block| watch.ended(&block.threads));
        }
        outcome.races = detector.races.into_values().collect();
        outcome.forgot = detector.forgot;
        (outcome, global, watch, history)
    }

    /// Lets the next block in; false if there is none.
    fn admit(&mut self) -> bool {
        let Some(number) = self.coming.next() else { return false };
        let block_sizes = self.launch.geometry.block;
        let size = self.launch.geometry.block_threads() as u32;
        let blocks = blocks_of(self.launch, number);
        let all = size * blocks.len() as u32;
        let mut block = self.spare.pop().unwrap_or_else(|| Block {
            state: BlockState::new(self.program, size),
            threads: (0..all).map(|_| Thread::new(self.program)).collect(),
            warps: Warps::default(),
        });
        let numbers: Vec<u32> = blocks.iter().map(|(number, _)| *number).collect();
        block.state.start(&numbers, &self.launch.contents);
        block.warps.start(all);
        for (place, thread) in (0..).zip(&mut block.threads) {
            let (number, id) = blocks[(place / size) as usize];
            let linear = place % size;
            let thread_id = index_of(linear, block_sizes);
            thread.start(self.program, (linear, place), number * size + linear, thread_id, id);
        }
        self.world.outcome.threads += u64::from(all);
        self.resident.push(block);
        true
    }

    fn run_in_turn(&mut self) {
        while !self.world.halted {
            if self.resident.is_empty() && !self.admit() {
                return;
            }
            let mut ended = false;
            let mut index = 0;
            while index < self.resident.len() && !self.world.halted {
                self.turn_of_block(index);
                if self.end_block(index) {
                    ended = true;
                } else {
                    index += 1;
                }
            }
            if !ended && self.resident.len() < self.most {
                self.admit();
            }
        }
    }

    /// Runs the threads of a block until none can go on, or each one that can has had its turn.
    fn turn_of_block(&mut self, index: usize) {
        let Block { state, threads, warps } = &mut self.resident[index];
        let (program, world, launch) = (self.program, &mut self.world, self.launch);
        let lockstep = launch.schedule.is_lockstep();
        loop {
            let mut used_up = false;
            let groups = if lockstep { threads.len().div_ceil(32) } else { threads.len() };
            for group in 0..groups {
                used_up |= if lockstep {
                    warps.turn(program, world, (&mut *state, &mut threads[..]), group, TURN, launch)
                } else {
                    turn_of_thread(program, world, state, threads, group, TURN)
                };
                let ran = if lockstep { group * 32..threads.len().min(group * 32 + 32) } else { group..group + 1 };
                check_budget(launch, world, &threads[ran]);
                if world.halted {
                    return;
                }
            }
            if used_up || threads.iter().all(|thread| thread.status != Status::Running) {
                return;
            }
        }
    }

    /// Ends a block of which no thread can go on, whatever comes from beside the threads; false if one can.
    fn end_block(&mut self, index: usize) -> bool {
        let Block { threads, .. } = &self.resident[index];
        if threads.iter().any(|thread| thread.status == Status::Running) || self.world.halted {
            return false;
        }
        if threads.iter().any(|thread| thread.status != Status::Exited) {
            // What comes may be against a rule; then nobody waits for ever.
            if self.revive(index) || self.world.halted {
                return false;
            }
            let Block { state, threads, .. } = &self.resident[index];
            stuck(self.program, &mut self.world, state, threads);
            if let Some(mut history) = self.world.history.take() {
                let chain = waiting::chain(self.program, &self.world, &history, state, threads);
                history.is_stuck(state.number, chain);
                self.world.history = Some(history);
            }
            if let Some(watch) = &mut self.world.watch {
                watch.ended(threads);
            }
        }
        let block = self.resident.remove(index);
        if let Some(history) = &mut self.world.history {
            history.end_blocks(block.state.number);
        }
        self.spare.push(block);
        true
    }

    /// No thread of a block can go on: whether one can once copies have come, or waits have said that nothing came.
    fn revive(&mut self, index: usize) -> bool {
        let Block { state, threads, .. } = &mut self.resident[index];
        let (program, world) = (self.program, &mut self.world);
        let runs = |threads: &[Thread]| threads.iter().any(|thread| thread.status == Status::Running);
        while !world.halted && !runs(threads) && agents::force(world, state) {
            objects::wake(program, world, state, threads);
        }
        runs(threads) || !world.halted && objects::give_up(program, state, threads)
    }

    fn run_randomly(&mut self) {
        while !self.world.halted {
            while self.resident.len() < self.most.min(INTERLEAVED_BLOCKS) && self.admit() {}
            if self.resident.is_empty() {
                return;
            }
            self.turns += 1;
            let random = |salt: u64| hash(hash(self.launch.seed, self.turns), salt);
            let index = (random(1) % self.resident.len() as u64) as usize;
            let Block { state, threads, .. } = &mut self.resident[index];
            let count = threads.len();
            let start = (random(2) % count as u64) as usize;
            let running = |at: &usize| threads[*at].status == Status::Running;
            let Some(at) = (start..count).chain(0..start).find(running) else {
                self.end_block(index);
                continue;
            };
            let turn = 1 + random(3) % 32;
            turn_of_thread(self.program, &mut self.world, state, threads, at, turn);
            check_budget(self.launch, &mut self.world, &threads[at..=at]);
        }
    }
}

/// The blocks of a cluster, by rank: linear number and index.
pub(crate) fn blocks_of(launch: &Launch, cluster: u32) -> Vec<(u32, [u32; 3])> {
    let (sizes, grid) = (launch.cluster, launch.geometry.grid);
    let first = index_of(cluster, [0, 1, 2].map(|axis| grid[axis] / sizes[axis]));
    let block = |rank: u32| {
        let inner = index_of(rank, sizes);
        let [x, y, z] = [0, 1, 2].map(|axis| first[axis] * sizes[axis] + inner[axis]);
        (x + grid[0] * (y + grid[1] * z), [x, y, z])
    };
    (0..sizes.iter().product()).map(block).collect()
}

/// Runs a thread for its turn, and lets go on whom that sets free; whether it could go on itself.
fn turn_of_thread(
    program: &Program,
    world: &mut World,
    state: &mut BlockState,
    threads: &mut [Thread],
    index: usize,
    most: u64,
) -> bool {
    let thread = &mut threads[index];
    if thread.status != Status::Running {
        return false;
    }
    agents::turn(world, state, thread);
    let executed = thread.run(program, world, state, most);
    effort::spend(INSTRUCTION * executed);
    world.outcome.instructions += executed;
    let status = thread.status;
    settle(program, world, state, threads, index, status);
    status == Status::Running
}

/// A thread waits or has ended: whom does that set free?
pub fn settle(
    program: &Program,
    world: &mut World,
    state: &mut BlockState,
    threads: &mut [Thread],
    index: usize,
    status: Status,
) {
    if status == Status::Exited {
        state.leave(&threads[index]);
        end_block(program, world, state, threads, index as u32 / state.size);
    }
    objects::wake(program, world, state, threads);
    state.wake_cluster(world, threads);
    if !program.products.is_empty() {
        products::wake(world, state, threads);
    }
    if matches!(status, Status::Barrier { .. } | Status::Exited) {
        state.release(program, world, threads);
    }
    if status != Status::Running && !program.warp_operations.is_empty() {
        while !world.halted && warp::release(program, world, threads, index as u32 / 32) {}
    }
}

/// Once all threads of a block have exited: nothing goes on in its shared memory, what was to be written elsewhere is, and its
/// warp groups did the same.
fn end_block(program: &Program, world: &mut World, state: &mut BlockState, threads: &[Thread], rank: u32) {
    if state.has_ended(rank) && !world.halted {
        bulk::abandon(world, state, (rank * program.shared_size, program.shared_size));
        tensor_memory::end_block(world, state, (rank, program.shared_size));
        let first = (rank * state.size) as usize;
        products::check_groups(world, &threads[first..first + state.size as usize]);
        if state.live_threads() == 0 && !world.halted {
            // What is left has read all it needs.
            bulk::finish(world, state, || true);
        }
        warp::check_groups(world, &threads[first..first + state.size as usize]);
    }
}

/// Ends the launch if one of these threads, or all together, executed as many instructions as allowed.
fn check_budget(launch: &Launch, world: &mut World, threads: &[Thread]) {
    limits::check();
    let over = |thread: &&Thread| thread.status == Status::Running && thread.steps >= launch.thread_steps;
    let used_up = threads.iter().find(over);
    let code = used_up.or(threads.first()).map_or(0, Thread::last);
    if used_up.is_some() || world.outcome.instructions >= launch.total_steps {
        world.outcome.stopped.insert(Stop::Steps { code });
        world.halted = true;
    }
}

/// All threads of a block wait or have exited: a divergence at an aligned barrier, or a deadlock.
fn stuck(program: &Program, world: &mut World, block: &BlockState, threads: &[Thread]) {
    world.outcome.stopped.insert(Stop::Defect);
    let strict = |thread: &&Thread| match thread.status {
        Status::Barrier { index, .. } => {
            let barrier = &program.barriers[index as usize];
            barrier.is_for_all(barrier.count.map(|slot| thread.value(slot) as u32), block.size)
        }
        _ => false,
    };
    let objects: Vec<ObjectState> =
        threads.iter().filter_map(|thread| objects::awaited(program, world, block, thread)).collect();
    if let Some(arrived) = threads.iter().find(strict).filter(|_| objects.is_empty()) {
        let elsewhere = |thread: &&Thread| thread.status != arrived.status;
        let exited = |thread: &&Thread| thread.status == Status::Exited;
        let absent = threads.iter().find(|t| exited(t)).or_else(|| threads.iter().find(elsewhere));
        if let Some(absent) = absent {
            world.outcome.divergences.push(Divergence {
                arrived: (arrived.number, arrived.last()),
                absent: (absent.number, absent.last()),
                instead: if exited(&absent) { Instead::Exited } else { Instead::Elsewhere },
            });
            return;
        }
    }
    let waiting = threads.iter().filter(|thread| thread.status != Status::Exited);
    let mut places: BTreeMap<u32, u32> = BTreeMap::new();
    let mut count = 0;
    for thread in waiting {
        places.entry(thread.last()).or_insert(thread.number);
        count += 1;
    }
    let waiting = places.into_iter().map(|(code, thread)| (thread, code)).collect();
    world.outcome.deadlocks.push(Deadlock { waiting, objects, count });
}
