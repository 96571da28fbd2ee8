//! Decides whether a failed proof is a confirmed defect: evaluates the two threads of a model again.
//!
//! Input: the kernel program (before predication), and a [`Scenario`] taken from a model. Output:
//! [`Replay`]. Establishes: for a confirmed race, that in some execution of the kernel with these
//! constants two threads do the two accesses and nothing orders them: both are reached, at these
//! offsets, whatever memory holds; in one block, after the same barriers. Relies on: the standing
//! assumptions (loops terminate; pointers refer to disjoint arrays); that the threads of the block that
//! are not given come to the barriers, too ([`self::search`] gives all of them). Reference: PTX memory
//! model, "data race".

mod barriers;
mod bits;
pub mod compiled;
mod conflict;
mod evaluate;
pub mod search;
mod skip;
mod thread;

use self::barriers::{Parting, find_partings};
use self::compiled::Compiled;
use self::conflict::{Conflict, Rules, Traced, find_races};
use self::evaluate::Value;
pub use self::thread::End;
use self::thread::{Event, Histories, Run, Trace};
use crate::finding::AccessKind;
use crate::geometry::{BLOCK_THREADS, Geometry, LARGEST};
use crate::ivl::ast::{ArraySpace, Name, Program, StmtKind};
use crate::ivl::claim::Claim;
use crate::order::Scope;
use crate::span::{Origin, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The indices of a thread in the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadIds {
    /// `%tid`
    pub tid: [u32; 3],
    /// `%ctaid`
    pub ctaid: [u32; 3],
}

/// Two threads and the values of what is the same for all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Constants of the program by name: parameters, launch sizes (`ntid.x`, `nctaid.x`, ...). Sizes
    /// that are fixed, hence no constants, have to be given, too: they tell whether the threads exist,
    /// who shares a warp, and what a barrier with a count waits for. A size that is left out is taken
    /// to admit the two threads. Booleans are 0 or 1, integers in two's complement. Other constants that
    /// are left out are not known.
    pub constants: BTreeMap<Name, u128>,
    /// The threads.
    pub threads: [ThreadIds; 2],
}

/// Bounds on the work, and the options that change what a defect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Statements evaluated a thread.
    pub thread_statements: u64,
    /// Statements evaluated in a whole search.
    pub search_statements: u64,
    /// Races reported: distinct pairs of instructions.
    pub races: usize,
    /// Threads a block of a real launch has at most.
    pub block_threads: u64,
    /// `--allow-same-value`
    pub allow_same_value: bool,
    /// `--exited-threads=ok`
    pub exited_ok: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            thread_statements: 200_000,
            search_statements: 4_000_000,
            races: 32,
            block_threads: u64::from(BLOCK_THREADS),
            allow_same_value: false,
            exited_ok: false,
        }
    }
}

/// An access that a thread surely does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessEvent {
    /// The thread.
    pub thread: ThreadIds,
    /// Read, write or atomic.
    pub kind: AccessKind,
    /// Byte offset from the start of the array; below zero only for global arrays of unknown size.
    pub offset: i64,
    /// Width in bytes.
    pub bytes: u32,
    /// Scope of a strong access.
    pub strong: Option<Scope>,
    /// Barriers of the block that the thread passed before.
    pub phase: u32,
    /// The PTX instruction.
    pub origin: Option<Arc<Origin>>,
    /// The statement in an IVL input.
    pub span: Span,
}

/// Two accesses that race in some execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedRace {
    /// The array.
    pub array: Name,
    /// Its space.
    pub space: ArraySpace,
    /// The access of the first thread.
    pub first: AccessEvent,
    /// The access of the second thread.
    pub second: AccessEvent,
    /// Offset of the first byte that both touch.
    pub offset: i64,
}

/// A barrier in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierEvent {
    /// The PTX instruction.
    pub origin: Option<Arc<Origin>>,
    /// The statement in an IVL input.
    pub span: Span,
    /// `bar.*` and `.aligned`
    pub aligned: bool,
}

/// Two threads of a block that part at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedDivergence {
    /// The barrier.
    pub barrier: BarrierEvent,
    /// The thread that arrives there.
    pub arrives: ThreadIds,
    /// The thread that does not.
    pub absent: ThreadIds,
    /// The barrier at which that one is instead; `None` if it has exited.
    pub instead: Option<BarrierEvent>,
    /// Barriers that both passed before.
    pub phase: u32,
    /// False when neither barrier is `.aligned`: threads may then legally meet at different ones, so the
    /// divergence is only possible.
    pub certain: bool,
}

/// An assertion that a thread surely fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedAssertion {
    /// The thread.
    pub thread: ThreadIds,
    /// What the assertion claims.
    pub claim: Claim,
    /// The PTX instruction.
    pub origin: Option<Arc<Origin>>,
    /// The statement in an IVL input.
    pub span: Span,
}

/// Why there is nothing known of a thread from some place on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Why.
    pub end: End,
    /// The last PTX instruction before, where there is one.
    pub origin: Option<Arc<Origin>>,
}

/// What two threads surely do wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The first of `races`.
    pub race: Option<ConfirmedRace>,
    /// Where the threads, if of one block, part.
    pub divergence: Option<ConfirmedDivergence>,
    /// All races: distinct pairs of instructions, in the order of the text.
    pub races: Vec<ConfirmedRace>,
    /// Assertions that fail, each once.
    pub assertions: Vec<ConfirmedAssertion>,
    /// Where the evaluation of each thread ended. Empty when the scenario is no execution: a
    /// precondition or an assumption does not hold, an index is outside of the launch, or a block has
    /// more threads than any GPU can launch.
    pub stopped: Vec<Stopped>,
}

/// Evaluates the two threads of a scenario.
pub fn replay(program: &Program, scenario: &Scenario, limits: &Limits) -> Replay {
    Compiled::new(program).map_or_else(Replay::default, |kernel| replay_compiled(&kernel, scenario, limits))
}

/// [`replay`] on a kernel that is compiled already.
pub(super) fn replay_compiled(kernel: &Compiled, scenario: &Scenario, limits: &Limits) -> Replay {
    let Some(evaluated) = evaluate(kernel, &scenario.constants, &scenario.threads, limits, &mut u64::MAX.clone())
    else {
        return Replay::default();
    };
    evaluated.replay(kernel, limits)
}

/// The traces of some threads of a launch.
pub(super) struct Evaluated {
    /// Threads, in the order asked for.
    pub threads: Vec<Traced>,
    /// Their sequences of barriers.
    pub histories: Histories,
    /// Threads of a block along x and y, where known.
    pub block: [Option<u32>; 2],
}

/// Evaluates threads; `budget` counts down statements, and no thread is begun without any left.
/// `None` if the scenario is no execution.
pub(super) fn evaluate(
    kernel: &Compiled,
    constants: &BTreeMap<Name, u128>,
    threads: &[ThreadIds],
    limits: &Limits,
    budget: &mut u64,
) -> Option<Evaluated> {
    let size = |name: &str| constants.get(&Name::from(name)).map(|&value| value as u32);
    let given = Geometry::FREE.map_registers(|name, _| size(name));
    if !is_launchable(given, threads, limits) {
        return None;
    }
    let block = given.block;
    let block_size = block.iter().try_fold(1, |product, size| Some(product * u64::from((*size)?)));
    let mut run = Run { kernel, block_size, histories: Histories::default(), step_limit: limits.thread_statements };
    let mut traced = Vec::with_capacity(threads.len());
    for &ids in threads {
        if *budget == 0 {
            break;
        }
        let values: Vec<Value> =
            kernel.constants.iter().map(|constant| constant_value(&constant.name, constants, &ids)).collect();
        let mut all = values.clone();
        all.resize(kernel.widths.len(), None);
        if !kernel.requires.iter().all(|condition| kernel.expressions.truth_value(*condition, &all) == Some(true)) {
            return None;
        }
        let trace = run.thread(&values);
        *budget = budget.saturating_sub(trace.steps);
        if trace.end == End::Infeasible {
            return None;
        }
        traced.push(Traced { ids, trace });
    }
    Some(Evaluated { threads: traced, histories: run.histories, block: [block[0], block[1]] })
}

/// Whether a GPU can launch this, and the threads are in it. A size that is not given is what the
/// threads need.
fn is_launchable(Geometry { block, grid }: Geometry, threads: &[ThreadIds], limits: &Limits) -> bool {
    let needed = |index: &dyn Fn(&ThreadIds) -> u32| threads.iter().map(|ids| u64::from(index(ids)) + 1).max();
    let admitted = |given: Option<u32>, needed: Option<u64>, largest: u64| {
        let (given, needed) = (given.map(u64::from), needed.unwrap_or(1));
        let size = given.unwrap_or(needed);
        (needed <= size && size <= largest).then_some(size)
    };
    let block_sizes =
        (0..3).map(|axis| admitted(block[axis], needed(&|ids| ids.tid[axis]), u64::from(LARGEST.block[axis])));
    let mut grid_sizes =
        (0..3).map(|axis| admitted(grid[axis], needed(&|ids| ids.ctaid[axis]), u64::from(LARGEST.grid[axis])));
    let block_threads = block_sizes.into_iter().try_fold(1, |product: u64, size| Some(product.saturating_mul(size?)));
    block_threads.is_some_and(|count| count <= limits.block_threads) && grid_sizes.all(|size| size.is_some())
}

/// A thread's own indices come before the scenario's constants.
fn constant_value(name: &Name, constants: &BTreeMap<Name, u128>, ids: &ThreadIds) -> Value {
    let index = |names: [&str; 3], values: [u32; 3]| {
        names.iter().position(|own| name.as_str() == *own).map(|axis| u128::from(values[axis]))
    };
    index(["tid.x", "tid.y", "tid.z"], ids.tid)
        .or_else(|| index(["ctaid.x", "ctaid.y", "ctaid.z"], ids.ctaid))
        .or_else(|| constants.get(name).copied())
}

impl Evaluated {
    /// All defects that the traces show.
    pub fn replay(&self, kernel: &Compiled, limits: &Limits) -> Replay {
        let races: Vec<ConfirmedRace> =
            self.conflicts(kernel, limits).iter().map(|conflict| self.race(kernel, conflict)).collect();
        let parting = self.partings(kernel, limits).into_iter().next();
        Replay {
            race: races.first().cloned(),
            divergence: parting.map(|parting| self.divergence(kernel, &parting)),
            races,
            assertions: self.assertions(kernel),
            stopped: self.threads.iter().map(|thread| stopped(kernel, &thread.trace)).collect(),
        }
    }

    /// Races between any two of the threads.
    pub fn conflicts(&self, kernel: &Compiled, limits: &Limits) -> Vec<Conflict> {
        let Limits { allow_same_value, exited_ok, races: limit, .. } = *limits;
        let rules = Rules { block: self.block, allow_same_value, exited_ok, limit };
        find_races(kernel, &self.threads, &self.histories, &rules)
    }

    /// Threads of one block that part at a barrier.
    pub fn partings(&self, kernel: &Compiled, limits: &Limits) -> Vec<Parting> {
        find_partings(kernel, &self.threads, &self.histories, limits.exited_ok)
    }

    fn race(&self, kernel: &Compiled, conflict: &Conflict) -> ConfirmedRace {
        let array = &kernel.arrays[kernel.accesses[conflict.first.1.site as usize].array];
        ConfirmedRace {
            array: array.name.clone(),
            space: array.space,
            first: self.access(kernel, conflict.first),
            second: self.access(kernel, conflict.second),
            offset: conflict.byte,
        }
    }

    fn access(&self, kernel: &Compiled, (thread, event): (usize, Event)) -> AccessEvent {
        let site = &kernel.accesses[event.site as usize];
        AccessEvent {
            thread: self.threads[thread].ids,
            kind: site.kind,
            offset: event.offset,
            bytes: site.bytes,
            strong: site.strong,
            phase: self.histories.length(event.history),
            origin: site.origin.clone(),
            span: site.span,
        }
    }

    fn divergence(&self, kernel: &Compiled, parting: &Parting) -> ConfirmedDivergence {
        let event = |barrier: u32| {
            let site = &kernel.barriers[barrier as usize];
            BarrierEvent { origin: site.origin.clone(), span: site.span, aligned: site.aligned }
        };
        let (barrier, instead) = (event(parting.arrives.1), parting.absent.1.map(event));
        ConfirmedDivergence {
            certain: barrier.aligned || instead.as_ref().is_some_and(|other| other.aligned),
            barrier,
            arrives: self.threads[parting.arrives.0].ids,
            absent: self.threads[parting.absent.0].ids,
            instead,
            phase: parting.phase,
        }
    }

    fn assertions(&self, kernel: &Compiled) -> Vec<ConfirmedAssertion> {
        let mut first: BTreeMap<u32, ThreadIds> = BTreeMap::new();
        for thread in &self.threads {
            for &number in &thread.trace.failed_assertions {
                first.entry(number).or_insert(thread.ids);
            }
        }
        let confirmed = |(number, thread): (u32, ThreadIds)| {
            let stmt = kernel.assertions[number as usize];
            let StmtKind::Assert(claim, _) = &stmt.kind else { panic!("replay: an assertion is none") };
            ConfirmedAssertion { thread, claim: claim.clone(), origin: stmt.origin.clone(), span: stmt.span }
        };
        first.into_iter().map(confirmed).collect()
    }
}

fn stopped(kernel: &Compiled, trace: &Trace) -> Stopped {
    let origin = match trace.end {
        End::UnknownBranch(block) | End::UnknownAssumption(block) | End::Opaque(block) => {
            kernel.blocks[block].last.clone()
        }
        End::PartialBarrier(site) => kernel.barriers[site as usize].origin.clone(),
        End::OutOfBounds(site) => kernel.accesses[site as usize].origin.clone(),
        End::Exited | End::Trapped | End::Infeasible | End::StepLimit => None,
    };
    Stopped { end: trace.end, origin }
}
