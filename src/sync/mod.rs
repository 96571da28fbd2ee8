//! Beside the line, `sync`: the exact engine. One execution decides for all, where barriers alone decide what happens.
//!
//! Input: a PTX kernel, a launch, scalars. Output: [`Answer`]. Establishes: [`Answer::Proved`] only if no execution of this
//! launch, with any contents of arrays, in any schedule, has a race, a divergence, a misuse of a barrier or threads that
//! wait for ever. Relies on: `exec` executes what PTX says, and its detector forgets nothing ([`crate::exec::outcome`]
//! says when it does). Reference: Sharma, Bauer, Aiken, "Verification of Producer-Consumer Synchronization in GPU Programs"
//! (section 4: well-synchronised programs, Fig. 4).
//!
//! # Why one execution is enough
//!
//! *What each thread does is fixed* ([`follow`], [`taint`]). Control, addresses (but [`anywhere`]), numbers and counts of barriers, members of
//! warp operations and sizes of copies are functions of the launch, of scalars, of the ids of a thread and of what memory
//! holds there that the kernel itself wrote with such values. Everything else is *open*: contents of arrays before the
//! launch, memory and registers that were not written, results of atomics, all that strong accesses read or leave behind,
//! clocks, `%warpid`, floating-point results (the ISA leaves some of them to hardware), and where arrays and variables are
//! placed: an address may be anything plus a fixed number, and what is made of its bits must be alike for all places
//! ([`placement`]). A value that is not
//! open is read by a weak load from bytes that a weak store wrote last. If the run has no race, that store happens before
//! the load, and so does, or follows, each other store to these bytes; so every execution with this order reads it.
//!
//! *The order is fixed* ([`objects`], [`phases`]). Threads meet others in five ways: at `bar`/`barrier` of the block, at the barrier
//! of the cluster, at operations of a warp with a mask, at barrier objects, and by memory. The last is no order here ([`World::barriers_only`](crate::exec::world::World)): it may be
//! another one in another schedule, and what is read by it is open. A warp operation with a mask waits for all its members that
//! have not exited, so that the n-th meeting of a lane is the same in every schedule. A barrier of the block counts warps: an
//! instruction "causes executing thread to wait for all non-exited threads from its warp" (also `.arrive`), and of each warp
//! all threads have to come together to the same one (else refused: [`What::WarpParts`](follow::What)). So the n-th arrival of
//! a warp is the same in every schedule, and each generation of a barrier needs a fixed number of arrivals, which this run saw.
//! Claim: in every schedule each arrival falls into the generation of this run. Take the first one in time, of warp w at
//! barrier b, for which that fails; it fell into generation k here. Condition: before it a thread of w *knows* that generation
//! k - 1 of b is complete: a chain of program order and barriers leads there from an arrival of each of its warps. All on this
//! chain happens before in time, and falls into the same generations, so k - 1 is complete: w is not too early. It is not too
//! late, because k completes only with all arrivals that it has here, one of which is that of w. (Fig. 4, line 18, where a
//! thread has to know the `sync`s of k - 1; here it has to know all its arrivals, of each warp one, which also covers generations where
//! nobody waits.) With the same generations, the same arrivals meet, happens-before is the same, and so are the
//! accesses; the detector compared them all, also those of different blocks, which nothing orders. Nobody waits for ever: the
//! first event of this run, in its order, that another execution lacks has all that it needs there.
//!
//! *Barrier objects.* A phase ends when its arrivals and its bytes have come. The same claim for them: each arrival, each copy's bytes and
//! each announcement (`expect_tx`, an arrival without `.noinc` behind copies) falls into the phase of this run. Take the first one in
//! time for which that fails, and say that it is in phase k here. Its thread knows that phase k - 1 is over, so it is not too early. It is
//! not too late: phase k needs its expected arrivals, and all of them that it can get fall into it here, so a missing arrival keeps it open;
//! an announcement is followed by an arrival of its thread to the same phase, so all of them are in when the last arrival comes;
//! then bytes are missing until the last copy's have come. To know may be knowledge in causality order or in time
//! ([`Clock::told`](crate::exec::races::clock::Clock)): through relaxed operations, and from a copy to who waits for its bytes. Only the
//! first kind orders accesses. A wait by parity asks for the least number of phases that has the parity and is not less than what its thread
//! knows; by a state, for the phase after it. It must see just this number: the next phase cannot end before, because something that it needs
//! comes behind the wait in time ([`Phases::settle`](phases::Phases)). So what the thread learns is the same, and the wait ends. What it does on
//! the answer `false` is to ask again ([`spin`]), or decides nothing but whether it waits ([`peek`]).
//!
//! *The barrier of the cluster* has all threads of the cluster in each generation; a thread that comes twice without waiting between is told by
//! the emulator. Shared memory of a block that others access is not given back before: a thread of that block knows of each access when it
//! exits, and of the end of each copy.
//!
//! *`elect.sync`* elects one lane of a mask, "the same for the same mask": each of them is tried.
//!
//! *`trap`* ends everything. What an execution does that comes to one, which data decide, one that goes past it does, too.
//!
//! *What exits is no arrival.* A barrier of the whole block that is completed without a thread that has exited is refused
//! (with `--exited-threads=ok`; without, it is a divergence): no edge leads from that thread to others.
//!
//! *Asynchronous copies* are accesses of their threads' agents from their start to the wait for their group; both are fixed, so the
//! detector's answer does not depend on when bytes arrive. What they bring is open.
//!
//! Bulk copies in groups likewise. Copies that tell an object are done for who knows of the end of its phase. In this run all of them end when
//! they start, which is one of their executions.
//!
//! Where nobody says how large clusters are, what a block knows of its own is open.
//!
//! What is not fixed is refused by name ([`follow::Refusal`]), never guessed. Scalars that the tool chose and on which something
//! depended are conditions of the answer.
//!
//! *Blocks of equal behaviour* are executed once ([`alike`]).

mod alike;
mod anywhere;
mod arguments;
mod asynchronous;
pub(crate) mod computations;
mod follow;
mod memory;
mod objects;
mod own;
mod peek;
mod phases;
pub(crate) mod placement;
mod run;
mod same_value;
mod spin;
pub(crate) mod taint;
pub(crate) mod tell;
mod tensor_memory;

use crate::confirm::barriers;
use crate::confirm::emulate::Emulator;
use crate::diagnostic::Diagnostic;
use crate::exec::arguments::Argument;
use crate::exec::command::Command;
use crate::exec::launch::{Completion, Launch, Schedule};
use crate::exec::outcome::FaultKind;
use crate::exec::tensor_argument::TensorArgument;
use crate::finding::{BarrierGraph, Checked, Finding, Reason, groups};
use crate::geometry::Geometry;
use crate::ptx::ast::{AsyncOp, BarrierKind, Item, Module, Op};
use arguments::Given;
use follow::{Refusal, What};
use placement::Placements;
use run::{End, Free, Shown};

/// What is asked.
pub(crate) struct Question<'a> {
    pub(crate) emulator: Emulator<'a>,
    /// The launch.
    pub(crate) geometry: Geometry<u32>,
    /// Blocks of a cluster on each axis, if somebody says.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Scalars that the user fixed, by name or position; later ones win.
    pub(crate) given: &'a [(String, i128)],
    /// Tensor maps, by name or position of their parameters.
    pub(crate) tensors: &'a [(String, TensorArgument)],
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic_shared: u32,
    /// Instructions of all threads at most.
    pub(crate) steps: u64,
    /// What is asked for.
    pub(crate) goal: Goal,
}

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// A proof, or a defect.
    Answer,
    /// A proof for scalars all of which the user gave.
    Proof,
}

impl Question<'_> {
    fn given(&self) -> Given<'_> {
        Given { scalars: self.given, tensors: self.tensors }
    }
}

/// What is said.
pub(crate) enum Answer {
    /// No execution has a defect.
    Proved(Box<Proved>),
    /// An execution has these, or two generations of a barrier may mix.
    Found(Vec<Finding>),
    /// Neither: an access is outside of its array in one execution.
    Outside(Vec<Reason>),
    /// Neither.
    Open(Vec<Reason>),
}

/// A proof.
#[derive(Debug, Default)]
pub(crate) struct Proved {
    /// Names and values of scalars that the tool chose, and that matter.
    pub(crate) conditions: Vec<(String, String)>,
    /// What the proof rests on, one sentence each.
    pub(crate) assumptions: Vec<String>,
    /// Generations of barriers that were completed.
    pub(crate) generations: u64,
    /// Instructions of all threads that were executed.
    pub(crate) instructions: u64,
    /// Blocks that were not executed, because they behave like one that was.
    pub(crate) blocks_alike: u64,
}

/// What is run where the proof fails: an execution with a defect may be among them.
const REPLAYS: [(Schedule, u64); 8] = [
    (Schedule::RoundRobin, 1),
    (Schedule::Lockstep, 1),
    (Schedule::LockstepTaken, 1),
    (Schedule::Random, 1),
    (Schedule::Random, 2),
    (Schedule::Adversarial, 1),
    (Schedule::Adversarial, 2),
    (Schedule::Adversarial, 3),
];

/// Instructions of one of these.
const REPLAY_STEPS: u64 = 5_000_000;

fn operations(module: &Module) -> impl Iterator<Item = &Op> {
    let items = module.functions.iter().filter_map(|function| function.body.as_ref()).flat_map(|body| &body.items);
    items.filter_map(|item| if let Item::Instruction(one) = item { Some(&one.op) } else { None })
}

/// Whether something goes on beside a thread of a kernel, of which there is a symbolic proof, too: copies with groups, or products.
pub(crate) fn has_groups(module: &Module) -> bool {
    let is_one = |operation: &AsyncOp| matches!(operation, AsyncOp::Copy(_) | AsyncOp::Product(_));
    operations(module).any(|op| matches!(op, Op::Async { operation, .. } if is_one(operation)))
}

/// Whether a kernel has barriers for a part of the block, arrivals that do not wait, barrier objects, bulk copies or clusters.
pub(crate) fn is_for(module: &Module) -> bool {
    operations(module).any(|op| match op {
        Op::Barrier { kind, count, .. } => count.is_some() || matches!(kind, BarrierKind::Arrive),
        Op::Async { operation, .. } => {
            matches!(operation, AsyncOp::Bulk(_) | AsyncOp::Arrive { .. } | AsyncOp::TensorMemory(_))
        }
        Op::Object { .. } | Op::ClusterBarrier { .. } => true,
        _ => false,
    })
}

/// Decides a kernel for one launch; and how much there was to check.
///
/// # Errors
/// What the emulator lacks.
pub(crate) fn decide(question: &Question<'_>) -> Result<(Answer, Checked), Diagnostic> {
    let emulator = &question.emulator;
    let (module, entry) = (emulator.module, emulator.entry());
    let number = i128::try_from(question.geometry.threads()).unwrap_or(1);
    let bound = match arguments::bind(entry, module.address_size, &question.given(), number) {
        Ok(bound) => bound,
        Err(name) => return Ok((Answer::Open(vec![tell::unbound(&name)]), Checked::default())),
    };
    if question.goal == Goal::Proof && !bound.chosen.is_empty() {
        return Ok((Answer::Open(Vec::new()), Checked::default()));
    }
    let command = command(question, bound.arguments.clone());
    let mut launch = command.launch(module, entry, question.steps)?;
    launch.thread_steps = question.steps;
    launch.completion = Completion::Eager;
    let free = Free { parameters: &bound.bytes, elected: 0, knows_cluster: question.cluster.is_some(), alike: true };
    let mut shown = run_each(emulator, &launch, free)?;
    if !is_proof(&shown) && shown.left_out > 0 {
        // What is wrong, the block says in which it is.
        shown = run_each(emulator, &launch, Free { alike: false, ..free })?;
    }
    let checked = tell::checked(&shown.run.program);
    if is_proof(&shown) {
        return Ok((Answer::Proved(Box::new(tell::proved(question, &bound, &shown))), checked));
    }
    let findings = if question.goal == Goal::Proof { Vec::new() } else { replayed(question, &command) };
    if !findings.is_empty() {
        return Ok((Answer::Found(findings), checked));
    }
    let answer = match &shown.end {
        End::Reused(reused) => Answer::Found(vec![tell::reuse(question, &shown, reused)]),
        End::Stopped if shown.run.outcome.faults.iter().any(|fault| fault.kind == FaultKind::Bounds) => {
            Answer::Outside(tell::reasons(question, &launch, &shown))
        }
        _ => Answer::Open(tell::reasons(question, &launch, &shown)),
    };
    Ok((answer, checked))
}

/// Runs a launch, once for each lane that may be elected, until something is shown.
fn run_each(emulator: &Emulator<'_>, launch: &Launch, mut free: Free<'_>) -> Result<Shown, Diagnostic> {
    let (module, number) = (emulator.module, emulator.number);
    let mut shown = run::run(module, number, launch, &free, Placements::default())?;
    while let Some(members) = shown.elects.filter(|members| free.elected + 1 < members.count_ones())
        && is_proof(&shown)
    {
        free.elected += 1;
        let (matters, elects) = (shown.matters, Some(members));
        shown = run::run(module, number, launch, &free, shown.placements)?;
        if shown.elects.is_some_and(|other| other != members) {
            shown.end = End::Refused(Refusal { code: 0, what: What::Elected, open: None });
        }
        (shown.matters, shown.elects) = (shown.matters | matters, elects);
    }
    Ok(shown)
}

/// Whether the run came to its end, and showed nothing.
fn is_proof(shown: &Shown) -> bool {
    let outcome = &shown.run.outcome;
    let nothing = outcome.races.is_empty()
        && outcome.divergences.is_empty()
        && outcome.deadlocks.is_empty()
        && outcome.barrier_errors.is_empty()
        && outcome.faults.is_empty();
    shown.end == End::Complete && nothing && !outcome.forgot && outcome.is_complete()
}

/// The barriers of the launch, in the execution that has the defect if there is one.
pub(crate) fn barrier_graph(question: &Question<'_>, findings: &[Finding]) -> Option<BarrierGraph> {
    let emulator = &question.emulator;
    let (module, number, entry) = (emulator.module, emulator.number, emulator.entry());
    let threads = i128::try_from(question.geometry.threads()).unwrap_or(1);
    let bound = arguments::bind(entry, module.address_size, &question.given(), threads).ok()?;
    let command = command(question, bound.arguments);
    let finding = findings.first();
    let shows = |command: &Command| {
        let shown = emulator.show(command, REPLAY_STEPS);
        shown.is_ok_and(|shown| shown.is_defined && !shown.findings.is_empty())
    };
    let with = REPLAYS.map(|(schedule, seed)| Command { schedule, seed, ..command.clone() });
    let defective = finding.filter(|finding| finding.confirmed).and_then(|_| with.into_iter().find(shows));
    let launch = defective.unwrap_or(command).launch(module, entry, question.steps).ok()?;
    barriers::graph(module, number, &launch, finding)
}

fn command(question: &Question<'_>, arguments: Vec<Argument>) -> Command {
    Command {
        geometry: question.geometry,
        cluster: question.cluster.unwrap_or([1; 3]),
        only_blocks: None,
        arguments,
        dynamic_shared: question.dynamic_shared,
        schedule: Schedule::RoundRobin,
        seed: 1,
        steps: None,
        rules: question.emulator.rules,
    }
}

/// The defects that executions of this launch show.
fn replayed(question: &Question<'_>, command: &Command) -> Vec<Finding> {
    let emulator = &question.emulator;
    for (schedule, seed) in REPLAYS {
        let command = Command { schedule, seed, ..command.clone() };
        let Ok(shown) = emulator.show(&command, REPLAY_STEPS) else { continue };
        if shown.findings.is_empty() || !shown.is_defined {
            continue;
        }
        let mut findings = shown.findings;
        let launch = command.launch(emulator.module, emulator.entry(), REPLAY_STEPS);
        for (index, finding) in findings.iter_mut().enumerate() {
            finding.replay = Some(emulator.text(&shown.command));
            if let (Ok(launch), 0) = (&launch, index) {
                crate::confirm::waiting::explain(emulator.module, emulator.number, launch, finding);
            }
        }
        groups::merge(&mut findings);
        return findings;
    }
    Vec::new()
}
