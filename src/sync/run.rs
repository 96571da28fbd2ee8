//! One execution, and what of it holds in all.
//!
//! Input: a kernel, a launch, and where its parameters come from. Output: [`Shown`]. Establishes: with [`End::Complete`] every
//! thread came to its end, and nothing on the way was refused. Relies on: `exec` executes what PTX says. How: block after
//! block, each thread as far as it goes by itself; only barriers order.
//! Reference: [`super`].

use super::follow::{Flow, Own, Refusal, What};
use super::objects::{Arrival, Objects, Trouble, Unsafe};
use super::taint::{Byte, Cause, Taint};
use crate::diagnostic::Diagnostic;
use crate::effort::{self, Effort};
use crate::exec::block::BlockState;
use crate::exec::decode::{self, Code, Program, Slot, WarpKind};
use crate::exec::launch::Launch;
use crate::exec::machine::settle;
use crate::exec::outcome::Stop;
use crate::exec::thread::{Status, Thread};
use crate::exec::values::mask;
use crate::exec::world::World;
use crate::geometry::index_of;
use crate::limits;
use crate::ptx::ast::Module;

/// What an instruction costs.
const INSTRUCTION: Effort = Effort::nanoseconds(100);

/// Instructions between two looks at the limits.
const LOOK: u64 = 1 << 14;

/// Bytes of local memory of a block that are followed.
const LOCAL_BYTES: usize = 8 << 20;

/// How the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All threads exited.
    Complete,
    /// It does not speak for other executions.
    Refused(Refusal),
    /// Two generations of a barrier may mix.
    Reused(Unsafe),
    /// The emulator stopped: a defect, or a limit.
    Stopped,
}

/// What the run showed.
pub(crate) struct Shown {
    pub(crate) run: crate::exec::Run,
    pub(crate) end: End,
    /// Scalars on which control, an address or a barrier depends, one bit a parameter.
    pub(crate) matters: u64,
    /// Generations of barriers.
    pub(crate) generations: u64,
    pub(crate) has_aligned_part: bool,
}

/// A thread at an operation of its warp.
#[derive(Clone, Copy)]
struct Waiting {
    code: u32,
    /// `None`: it has no mask.
    members: Option<u32>,
    /// All that its operation reads.
    sources: Taint,
}

/// The resident block.
struct Block {
    state: BlockState,
    threads: Vec<Thread>,
    own: Vec<Own>,
    shared: Vec<Byte>,
    objects: Objects,
    waiting: Vec<Option<Waiting>>,
    /// By barrier: where the predicates of reductions come from.
    votes: [Taint; 16],
}

struct Run<'p> {
    program: &'p Program,
    launch: &'p Launch,
    world: World,
    flow: Flow<'p>,
    block: Block,
    has_reductions: bool,
    /// Instructions since the last look at the limits.
    since: u64,
}

/// Runs a launch. `parameters`: where each byte of each parameter comes from.
///
/// # Errors
/// What the emulator lacks.
pub(crate) fn run(
    module: &Module,
    entry: usize,
    launch: &Launch,
    parameters: &[Vec<Byte>],
) -> Result<Shown, Diagnostic> {
    let program = decode::decode(module, entry, launch)?;
    let laid_out = crate::exec::parameter_bytes(module, entry, launch);
    let mut bytes = Vec::new();
    for (parameter, own) in module.functions[entry].params.iter().zip(parameters) {
        bytes.resize(bytes.len().next_multiple_of(parameter.align.max(1) as usize), Byte::open(Cause::Unspecified));
        bytes.extend(own);
    }
    let mut world = World::new(&program, launch, laid_out, module.address_size);
    world.barriers_only = true;
    let size = launch.geometry.block_threads() as u32;
    let block = Block {
        state: BlockState::new(&program, size),
        threads: (0..size).map(|_| Thread::new(&program)).collect(),
        own: vec![Own::default(); size as usize],
        shared: Vec::new(),
        objects: Objects::default(),
        waiting: vec![None; size as usize],
        votes: [Taint::FIXED; 16],
    };
    let flow = Flow::new(&program, module.address_size, parameters, bytes);
    let has_reductions = program.barriers.iter().any(|barrier| barrier.reduction.is_some());
    let mut run = Run { program: &program, launch, world, flow, block, has_reductions, since: 0 };
    let result = run.blocks();
    let Run { world, flow, block, .. } = run;
    let World { mut outcome, detector, global, halted, .. } = world;
    let matters = flow.matters;
    outcome.races = detector.races.into_values().collect();
    outcome.forgot = detector.forgot;
    let end = match result {
        Err(Early::Refused(refusal)) => End::Refused(refusal),
        Err(Early::Reused(reused)) => End::Reused(reused),
        Ok(()) if halted => End::Stopped,
        Ok(()) => End::Complete,
    };
    let (generations, has_aligned_part) = (block.objects.generations, block.objects.has_aligned_part);
    let run = crate::exec::finished(program, outcome, global);
    Ok(Shown { run, end, matters, generations, has_aligned_part })
}

/// Why a run ends early.
enum Early {
    Refused(Refusal),
    Reused(Unsafe),
}

impl From<Refusal> for Early {
    fn from(refusal: Refusal) -> Self {
        Early::Refused(refusal)
    }
}

impl From<Trouble> for Early {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Refused(what, code) => Early::Refused(Refusal { code, what, open: None }),
            Trouble::Reused(reused) => Early::Reused(reused),
        }
    }
}

impl Run<'_> {
    fn blocks(&mut self) -> Result<(), Early> {
        let geometry = self.launch.geometry;
        let size = geometry.block_threads() as u32;
        if size as usize * self.program.local_size as usize > LOCAL_BYTES {
            return Err(Refusal { code: 0, what: What::TooLarge, open: None }.into());
        }
        for number in 0..geometry.blocks() as u32 {
            if self.world.halted {
                return Ok(());
            }
            let block = &mut self.block;
            block.state.start(&[number], &self.launch.contents);
            block.shared.clear();
            block.shared.resize(self.program.shared_size as usize, Byte::open(Cause::Memory));
            block.objects.start(size);
            block.waiting.fill(None);
            block.votes = [Taint::FIXED; 16];
            let id = index_of(number, geometry.grid);
            for (linear, (thread, own)) in (0..).zip(block.threads.iter_mut().zip(&mut block.own)) {
                let thread_id = index_of(linear, geometry.block);
                thread.start(self.program, (linear, linear), number * size + linear, thread_id, id);
                self.flow.start(own);
            }
            self.world.outcome.threads += u64::from(size);
            self.block()?;
        }
        Ok(())
    }

    /// Runs the block to its end.
    fn block(&mut self) -> Result<(), Early> {
        loop {
            let mut has_run = false;
            for index in 0..self.block.threads.len() {
                while self.block.threads[index].status == Status::Running && !self.block.objects.is_held(index) {
                    has_run = true;
                    self.step(index)?;
                    if self.world.halted {
                        return Ok(());
                    }
                }
            }
            if self.block.threads.iter().all(|thread| thread.status == Status::Exited) {
                return Ok(());
            }
            if !has_run {
                let stuck = self.block.threads.iter().find(|thread| thread.status != Status::Exited);
                let code = stuck.map_or(0, Thread::last);
                return Err(Refusal { code, what: What::Stuck, open: None }.into());
            }
        }
    }

    /// A thread executes an instruction.
    fn step(&mut self, index: usize) -> Result<(), Early> {
        let Block { threads, own, shared, .. } = &mut self.block;
        self.flow.step(&self.world, shared, &threads[index], &mut own[index])?;
        // A guard goes with its instruction.
        let thread = &threads[index];
        let (at, is_executed) = match self.program.code[thread.next as usize] {
            Code::Skip { p, when } => (thread.next + 1, (thread.value(p) & 1 == 1) != when),
            _ => (thread.next, true),
        };
        let code = self.program.code[at as usize];
        if is_executed {
            self.before(index, at)?;
        }
        let Block { state, threads, .. } = &mut self.block;
        let executed = threads[index].run(self.program, &mut self.world, state, 1);
        self.count(index, executed);
        let status = self.block.threads[index].status;
        let comes = status != Status::Running || is_executed && matches!(code, Code::Barrier(_));
        if comes && !self.world.halted {
            self.settle(index, status)?;
        }
        Ok(())
    }

    fn count(&mut self, index: usize, executed: u64) {
        self.world.outcome.instructions += executed;
        self.since += executed;
        let thread = &self.block.threads[index];
        let is_over = thread.steps >= self.launch.thread_steps;
        if is_over && thread.status == Status::Running {
            self.world.outcome.stopped.insert(Stop::Steps { code: thread.last() });
            self.world.halted = true;
        }
        if self.since >= LOOK {
            limits::check();
            effort::spend(INSTRUCTION * self.since);
            self.since = 0;
            if self.world.outcome.instructions >= self.launch.total_steps {
                self.world.outcome.stopped.insert(Stop::Steps { code: self.block.threads[index].last() });
                self.world.halted = true;
            }
        }
    }

    /// What has to be known before a thread comes to others.
    fn before(&mut self, index: usize, at: u32) -> Result<(), Early> {
        let Block { threads, own, objects, waiting, votes, .. } = &mut self.block;
        let (thread, own) = (&threads[index], &own[index]);
        match self.program.code[at as usize] {
            Code::Barrier(number) => {
                let barrier = &self.program.barriers[number as usize];
                let id = (thread.value(barrier.id) & mask(32)) as usize;
                if id >= votes.len() {
                    // The emulator says what is wrong.
                    return Ok(());
                }
                if let Some(reduction) = barrier.reduction {
                    votes[id] = votes[id].mixed(own.get(reduction.p), at);
                }
                let arrival = Arrival {
                    thread: thread.number,
                    linear: index as u32,
                    code: at,
                    epoch: thread.clock.epoch,
                    id,
                    count: barrier.count.map(|slot| thread.value(slot) as u32),
                    waits: !barrier.arrive,
                    aligned: barrier.aligned,
                    is_met: false,
                };
                objects.arrive(&self.world.detector.shape, &thread.clock, arrival)?;
            }
            Code::Warp(number) => {
                let operation = &self.program.warp_operations[number as usize];
                let sources = match operation.kind {
                    WarpKind::Barrier => Taint::FIXED,
                    // Whichever of the lanes that come; which lane is elected no text says.
                    WarpKind::ActiveMask | WarpKind::Elect => Taint::open(Cause::Warp, at),
                    _ => operation.s.iter().fold(Taint::FIXED, |all, slot| all.mixed(own.get(*slot), at)),
                };
                let members = operation.mask.map(|slot| thread.value(slot) as u32);
                waiting[index] = Some(Waiting { code: at, members, sources });
            }
            _ => {}
        }
        Ok(())
    }

    /// A thread came to a barrier or to others of its warp, or has ended.
    fn settle(&mut self, index: usize, status: Status) -> Result<(), Early> {
        if status == Status::Exited {
            self.block.objects.exit(index as u32)?;
        }
        let before = std::mem::replace(&mut self.world.outcome.arbitrary, false);
        let blocked: Vec<(usize, u32, u8)> = match self.has_reductions {
            true => self.block.threads.iter().enumerate().filter_map(at_barrier).collect(),
            false => Vec::new(),
        };
        let Block { state, threads, .. } = &mut self.block;
        settle(self.program, &mut self.world, state, threads, index, status);
        let is_open = std::mem::replace(&mut self.world.outcome.arbitrary, before);
        self.world.outcome.arbitrary |= is_open;
        if self.world.halted {
            return Ok(());
        }
        let Block { state, objects, threads, .. } = &mut self.block;
        let size = threads.len() as u32;
        objects.settle(|id| (state.completed(id), state.pending(id)), size)?;
        self.give_votes(&blocked);
        self.give_to_warp(index / 32, is_open);
        Ok(())
    }

    /// The results of reductions at barriers that are complete.
    fn give_votes(&mut self, blocked: &[(usize, u32, u8)]) {
        let mut done = [false; 16];
        for (index, number, id) in blocked {
            let (thread, id) = (&self.block.threads[*index], usize::from(*id));
            let barrier = &self.program.barriers[*number as usize];
            let Some(reduction) = barrier.reduction.filter(|_| thread.status == Status::Running) else { continue };
            done[id] = true;
            if let Some(d) = reduction.d {
                self.block.own[*index].give(d, self.block.votes[id]);
            }
        }
        for (vote, _) in self.block.votes.iter_mut().zip(done).filter(|(_, done)| *done) {
            *vote = Taint::FIXED;
        }
    }

    /// The results of an operation of a warp that is complete.
    fn give_to_warp(&mut self, warp: usize, is_open: bool) {
        let Block { threads, own, waiting, .. } = &mut self.block;
        let lanes = warp * 32..(warp * 32 + 32).min(threads.len());
        let is_done = |lane: &usize| !matches!(threads[*lane].status, Status::Warp { .. });
        let done: Vec<(usize, Waiting)> =
            lanes.filter(is_done).filter_map(|lane| waiting[lane].take().map(|one| (lane, one))).collect();
        for (lane, one) in &done {
            let Code::Warp(number) = self.program.code[one.code as usize] else { continue };
            let alike = done.iter().filter(|(_, other)| other.members == one.members);
            let at_once = alike.clone().all(|(_, other)| other.code == one.code);
            let value = match one.members {
                Some(_) if at_once && !is_open => {
                    alike.fold(Taint::FIXED, |all, (_, other)| all.mixed(other.sources, one.code))
                }
                _ => Taint::open(Cause::Warp, one.code),
            };
            let slots = self.program.warp_operations[number as usize].d;
            let slots = slots.iter().filter_map(|one| one.map(|(slot, _)| slot));
            slots.for_each(|slot: Slot| own[*lane].give(slot, value));
        }
    }
}

/// A thread that waits at a barrier, its entry of the program's barriers, and the barrier's number.
fn at_barrier((index, thread): (usize, &Thread)) -> Option<(usize, u32, u8)> {
    match thread.status {
        Status::Barrier { index: number, id } => Some((index, number, id)),
        _ => None,
    }
}
