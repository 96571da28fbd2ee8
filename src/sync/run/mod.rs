//! One execution, and what of it holds in all.
//!
//! Input: a kernel, a launch, and where its parameters come from. Output: [`Shown`]. Establishes: with [`End::Complete`] every
//! thread came to its end, and nothing on the way was refused. Relies on: `exec` executes what PTX says. How: block after
//! block, those of a cluster together, each thread as far as it goes by itself; only barriers order; copies end at once.
//! Reference: [`super`].

mod blocks;
mod objects;
mod peeks;
mod tensor;
mod warps;

use crate::diagnostic::Diagnostic;
use crate::effort::{self, Effort};
use crate::exec::block::BlockState;
use crate::exec::decode::{self, Code, Program, Slot, WarpKind};
use crate::exec::launch::Launch;
use crate::exec::machine::settle;
use crate::exec::outcome::Stop;
use crate::exec::races::order::BulkCopy;
use crate::exec::thread::{Status, Thread};
use crate::exec::values::mask;
use crate::exec::world::World;
use crate::limits;
use crate::ptx::ast::Module;
use crate::sync::alike::Alike;
use crate::sync::follow::{Flow, Refusal, What};
use crate::sync::objects::{Arrival, Objects, Trouble, Unsafe};
use crate::sync::own::Own;
use crate::sync::peek::Peek;
use crate::sync::phases::Phases;
use crate::sync::placement::Placements;
use crate::sync::spin::Spins;
use crate::sync::taint::{Byte, Cause, Taint};
use std::collections::BTreeMap;

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
    /// Blocks that were not executed may access what others do.
    Mixed,
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
    /// The mask by which a lane was elected.
    pub(crate) elects: Option<u32>,
    /// Something rests on the order in time of operations on barrier objects.
    pub(crate) in_time: bool,
    pub(crate) placements: Placements,
    /// Clusters that were not executed, because another one speaks for them.
    pub(crate) left_out: u32,
    /// Data decided where an access is.
    pub(crate) has_anywhere: bool,
    /// Shared memory of a block was accessed by another one that does not know that it has started.
    pub(crate) before_start: bool,
}

/// A thread at an operation of its warp.
#[derive(Clone, Copy)]
struct Waiting {
    code: u32,
    /// `None`: it has no mask.
    members: Option<u32>,
    /// What may be its result.
    value: Taint,
    /// All else that its operation reads.
    sources: Taint,
}

/// The resident block, or those of a cluster.
struct Block {
    state: BlockState,
    threads: Vec<Thread>,
    own: Vec<Own>,
    shared: Vec<Byte>,
    objects: Objects,
    waiting: Vec<Option<Waiting>>,
    /// By barrier: where the predicates of reductions come from.
    votes: Vec<Taint>,
    /// When and where a thread last accessed the shared memory of another block: by rank and number of the thread.
    remote: BTreeMap<(u32, u32), (u32, u32)>,
    /// Generations of the cluster's barrier.
    cluster: u32,
    /// By place: how many bulk copies with groups a thread started, and the last of them.
    grouped: Vec<(u32, u32)>,
    /// Commits of products on tensor memory.
    commits: tensor::Commits,
    /// Copies with objects that read the shared memory of the block with a rank, and their instructions.
    outgoing: Vec<(u32, BulkCopy, u32)>,
}

struct Run<'p> {
    program: &'p Program,
    launch: &'p Launch,
    world: World,
    flow: Flow<'p>,
    block: Block,
    has_reductions: bool,
    spins: Spins,
    phases: Phases,
    /// By place.
    peeks: Vec<Option<Peek>>,
    /// A phase was completed since waiting threads were looked at.
    phase_ended: bool,
    elects: Option<u32>,
    before_start: bool,
    /// Generations of barriers in clusters that were not executed.
    generations_left_out: u64,
    /// Instructions since the last look at the limits.
    since: u64,
}

/// What of a run the launch does not say.
#[derive(Clone, Copy)]
pub(crate) struct Free<'f> {
    /// Where each byte of each parameter comes from.
    pub(crate) parameters: &'f [Vec<Byte>],
    /// Which member of a mask is elected.
    pub(crate) elected: u32,
    /// Somebody says how many blocks a cluster has.
    pub(crate) knows_cluster: bool,
    /// Of blocks of equal behaviour one is executed.
    pub(crate) alike: bool,
}

/// Runs a launch. What is known of places, earlier runs of the same program may have found.
///
/// # Errors
/// What the emulator lacks.
pub(crate) fn run(
    module: &Module,
    entry: usize,
    launch: &Launch,
    free: &Free<'_>,
    placements: Placements,
) -> Result<Shown, Diagnostic> {
    let parameters = free.parameters;
    let program = decode::decode(module, entry, launch)?;
    let laid_out = crate::exec::parameter_bytes(module, entry, launch);
    let mut bytes = Vec::new();
    for (parameter, own) in module.functions[entry].params.iter().zip(parameters) {
        bytes.resize(bytes.len().next_multiple_of(parameter.align.max(1) as usize), Byte::open(Cause::Unspecified));
        bytes.extend(own);
    }
    let mut world = World::new(&program, launch, laid_out, module.address_size);
    world.barriers_only = true;
    world.elected = free.elected;
    let size = launch.geometry.block_threads() as u32;
    let all = size * program.ranks;
    let block = Block {
        state: BlockState::new(&program, size),
        threads: (0..all).map(|_| Thread::new(&program)).collect(),
        own: vec![Own::default(); all as usize],
        shared: Vec::new(),
        objects: Objects::default(),
        waiting: vec![None; all as usize],
        votes: Vec::new(),
        remote: BTreeMap::new(),
        cluster: 0,
        grouped: Vec::new(),
        outgoing: Vec::new(),
        commits: tensor::Commits::new(),
    };
    let mut flow = Flow::new(&program, module.address_size, parameters, bytes, free.knows_cluster, placements);
    if free.alike && world.facts.is_empty() {
        flow.alike = Alike::new();
    }
    flow.allows_same_value = std::mem::take(&mut world.detector.allow_same_value);
    let has_reductions = program.barriers.iter().any(|barrier| barrier.reduction.is_some());
    let (spins, phases) = (Spins::default(), Phases::default());
    let mut run = Run {
        program: &program,
        launch,
        world,
        flow,
        block,
        has_reductions,
        spins,
        phases,
        peeks: Vec::new(),
        phase_ended: false,
        elects: None,
        before_start: false,
        generations_left_out: 0,
        since: 0,
    };
    let result = run.blocks();
    let is_apart = result.is_err() || run.flow.alike.is_apart();
    let (meeting, has_anywhere) = (run.flow.alike.meeting(), run.flow.has_anywhere);
    let Run { world, flow, block, phases, elects, before_start, generations_left_out, .. } = run;
    let World { mut outcome, detector, global, halted, .. } = world;
    let (matters, placements, left_out) = (flow.matters, flow.placements, flow.alike.left_out);
    outcome.races = detector.races.into_values().collect();
    outcome.forgot = detector.forgot;
    let end = match result {
        Err(Early::Refused(refusal)) => End::Refused(refusal),
        Err(Early::Reused(reused)) => End::Reused(reused),
        Ok(()) if halted => End::Stopped,
        Ok(()) if !is_apart => End::Mixed,
        Ok(()) => match meeting {
            Some(code) => End::Refused(Refusal { code, what: What::Anywhere, open: None }),
            None => End::Complete,
        },
    };
    let generations = block.objects.generations + phases.completed + generations_left_out;
    let (has_aligned_part, in_time) = (block.objects.has_aligned_part, phases.rest.is_in_time());
    let run = crate::exec::finished(program, outcome, global);
    Ok(Shown {
        run,
        end,
        matters,
        generations,
        has_aligned_part,
        elects,
        in_time,
        placements,
        left_out,
        has_anywhere,
        before_start,
    })
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
    /// A thread executes an instruction.
    fn step(&mut self, index: usize) -> Result<(), Early> {
        if self.peeks[index].is_some() && self.at_peek(index)? {
            return Ok(());
        }
        let Block { threads, own, .. } = &mut self.block;
        if let Some(next) = self.flow.beside_trap(&threads[index], &own[index]) {
            threads[index].next = next;
            threads[index].steps += 1;
            self.count(index, 1);
            return Ok(());
        }
        // A guard goes with its instruction.
        let thread = &self.block.threads[index];
        let (at, is_executed) = match self.program.code[thread.next as usize] {
            Code::Skip { p, when } => (thread.next + 1, (thread.value(p) & 1 == 1) != when),
            _ => (thread.next, true),
        };
        let code = self.program.code[at as usize];
        if let (true, Code::Object(operation)) = (is_executed, code)
            && self.is_peek(index, (at, operation))
        {
            return self.peek(index, (at, operation));
        }
        let Block { threads, own, shared, .. } = &mut self.block;
        self.flow.step(&self.world, shared, &threads[index], &mut own[index])?;
        self.show_anywhere(index, at)?;
        if is_executed {
            self.before(index, at)?;
        }
        if self.flow.allows_same_value {
            self.world.detector.allow_same_value = matches!(code, Code::Store(_)) && self.flow.same_value.is_tolerated;
        }
        let copies = self.world.detector.copies.len();
        let Block { state, threads, .. } = &mut self.block;
        let executed = threads[index].run(self.program, &mut self.world, state, 1);
        if self.world.issuer_knows.take().is_some() {
            // What the thread does next nobody was told.
            threads[index].clock.epoch += 1;
        }
        self.count(index, executed);
        let mut comes = self.block.threads[index].status != Status::Running;
        if is_executed && let Code::Tensor(number) = code {
            self.tensor_after(index, number);
        }
        if is_executed && !self.world.halted {
            comes |= matches!(code, Code::Barrier(_) | Code::ClusterArrive { .. }) | self.after(index, at, copies)?;
        }
        let status = self.block.threads[index].status;
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
            limits::check_now();
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
                if id >= 16 {
                    // The emulator says what is wrong.
                    return Ok(());
                }
                let id = id + 16 * (index / (threads.len() / self.program.ranks as usize));
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
                let all = |slots: &[Slot]| slots.iter().fold(Taint::FIXED, |all, slot| all.mixed(own.get(*slot), at));
                let [moved, further @ ..] = operation.s;
                let (value, sources) = match operation.kind {
                    WarpKind::Barrier => (Taint::FIXED, Taint::FIXED),
                    // Whichever of the lanes that come.
                    WarpKind::ActiveMask => (Taint::FIXED, Taint::open(Cause::Warp, at)),
                    // Which lane that is no text says: each one is tried.
                    WarpKind::Elect => (Taint::FIXED, Taint::FIXED),
                    kind if kind.is_shuffle() => (own.get(moved).low(self.flow.address_bits, at), all(&further)),
                    _ => (Taint::FIXED, all(&operation.s)),
                };
                let members = operation.mask.map(|slot| thread.value(slot) as u32);
                if let (WarpKind::Elect, Some(members)) = (operation.kind, members) {
                    let first = index / 32 * 32;
                    let lives = |lane: usize| threads.get(first + lane).is_some_and(|t| t.status != Status::Exited);
                    let all_live = (0..32).filter(|lane| members >> lane & 1 == 1).all(lives);
                    if !all_live || *self.elects.get_or_insert(members) != members {
                        return Err(Refusal { code: at, what: What::Elected, open: None }.into());
                    }
                }
                waiting[index] = Some(Waiting { code: at, members, value, sources });
            }
            Code::Load(access) | Code::Store(access) | Code::Atomic(access) if self.program.ranks > 1 => {
                self.access(index, (at, access));
            }
            Code::BulkWrite(operation) if self.program.bulk_operations[operation as usize].object.is_some() => {
                self.tell_copies(index);
            }
            Code::Object(operation) => self.object(index, (at, operation))?,
            Code::TensorRead(number) | Code::Tensor(number) => self.tensor_before(index, (at, number))?,
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
        let size = self.block.threads.len() / self.program.ranks as usize;
        let blocked: Vec<(usize, u32, usize)> = match self.has_reductions {
            true => self.block.threads.iter().enumerate().filter_map(|one| at_barrier(one, size)).collect(),
            false => Vec::new(),
        };
        let Block { state, threads, .. } = &mut self.block;
        settle(self.program, &mut self.world, state, threads, index, status);
        let is_open = std::mem::replace(&mut self.world.outcome.arbitrary, before);
        self.world.outcome.arbitrary |= is_open;
        if self.world.halted {
            return Ok(());
        }
        let Block { state, objects, threads, cluster, .. } = &mut self.block;
        objects.settle(|id| (state.completed(id), state.pending(id)))?;
        let (generation, came) = state.cluster.completed();
        if std::mem::replace(cluster, generation) != generation {
            self.phases.completed += 1;
            if came as usize != threads.len() {
                let code = threads[index].last();
                return Err(Refusal { code, what: What::PartOfCluster, open: None }.into());
            }
        }
        self.give_votes(&blocked);
        self.give_to_warp(index / 32, is_open);
        self.wake()
    }
}

/// A thread that waits at a barrier, its entry of the program's barriers, and the barrier's number in the cluster.
fn at_barrier((index, thread): (usize, &Thread), size: usize) -> Option<(usize, u32, usize)> {
    match thread.status {
        Status::Barrier { index: number, id } => Some((index, number, 16 * (index / size) + usize::from(id))),
        _ => None,
    }
}
