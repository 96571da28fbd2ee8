//! The oracle's executions: `gpuvcc::exec` on launches that know no array sizes.
//!
//! Input: a typed module and a concrete launch. Output: the pairs of PTX lines that raced in one legal
//! execution, and the barriers at which threads diverged. The emulator shares the parser with the
//! verifier and nothing else: no lowering, no instruction table, no solver.
//!
//! Arrays have no bounds and stand far apart, because the verifier assumes that accesses stay inside.
//! Of a large grid only some blocks run.

pub mod random;

use gpuvcc::exec;
use gpuvcc::exec::decode::{Code, Program, Space};
use gpuvcc::exec::launch::{self, Array, Schedule, array_address};
use gpuvcc::exec::memory::UNBOUNDED;
use gpuvcc::exec::outcome::{Fault, FaultKind, Stop};
use gpuvcc::geometry::Geometry;
use gpuvcc::ptx::ast::{Function, Module, StateSpace};
use gpuvcc::rules::Rules;
use random::{Random, hash};
use std::collections::BTreeSet;

/// Instructions of a whole run.
const ENOUGH: u64 = 300_000;

/// The same where the blocks are named.
const ENOUGH_FOR_NAMED: u64 = 10_000_000;

/// Dynamic shared memory of kernels that have some, in bytes.
const DYNAMIC_SHARED: u32 = 32 << 10;

/// What memory holds before the kernel writes it.
#[derive(Clone, Copy, Debug)]
pub enum Contents {
    /// Zeros.
    Zero,
    /// Words below a bound.
    Small(u32),
    /// Any bits.
    Any,
}

impl Contents {
    fn seeded(self, seed: u64) -> launch::Contents {
        match self {
            Contents::Zero => launch::Contents::Zero,
            Contents::Small(bound) => launch::Contents::Small { bound, seed },
            Contents::Any => launch::Contents::Any { seed },
        }
    }
}

/// A concrete launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Threads a block.
    pub block: [u32; 3],
    /// Blocks.
    pub grid: [u32; 3],
    /// The blocks that run; some of all when empty.
    pub only: Vec<[u32; 3]>,
    /// Bytes of each parameter; see [`pointer`].
    pub parameters: Vec<Vec<u8>>,
    /// Arrays that parameters point to.
    pub arrays: usize,
    /// What memory holds.
    pub contents: Contents,
    /// Seed of everything arbitrary, and of the order of threads.
    pub seed: u64,
    /// Instructions a thread may execute.
    pub steps: u32,
}

/// The address that stands for the array with this number.
pub fn pointer(number: usize) -> u64 {
    array_address(number, 64)
}

/// What one execution showed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Lines of racing pairs.
    pub races: BTreeSet<(u32, u32)>,
    /// Lines of aligned barriers that some threads of a block waited at while others were elsewhere.
    pub divergences: BTreeSet<u32>,
    /// Lines of barriers and warp operations used against their rules, or at which threads wait for ever.
    pub misuses: BTreeSet<u32>,
    /// Lines of accesses outside of arrays of known size.
    pub faults: BTreeSet<u32>,
    /// Why the run ended early.
    pub stopped: BTreeSet<String>,
    /// Whether a value came from where the ISA leaves it open.
    pub arbitrary: bool,
    /// Instructions executed.
    pub steps: u64,
}

impl Outcome {
    /// Whether a proof excludes it; `bounded`: one that accesses stay inside arrays, too.
    pub fn is_defect(&self, bounded: bool) -> bool {
        let faults = bounded && !self.faults.is_empty();
        !self.races.is_empty() || !self.divergences.is_empty() || !self.misuses.is_empty() || faults
    }
}

/// Runs some blocks of a launch.
pub fn run(module: &Module, entry: &Function, launch: &Launch) -> Outcome {
    let number = module.functions.iter().position(|function| std::ptr::eq(function, entry));
    let number = number.unwrap_or_else(|| panic!("attack: the kernel is not of this module"));
    let run = match exec::run(module, number, &emulated(module, launch)) {
        Ok(run) => run,
        Err(diagnostic) => {
            let stopped = BTreeSet::from([diagnostic.message]);
            return Outcome { stopped, ..Outcome::default() };
        }
    };
    let line = |code: u32| run.program.origins[code as usize].line;
    let ordered = |a: u32, b: u32| (a.min(b), a.max(b));
    let shown = &run.outcome;
    if shown.is_excluded() {
        // An annotation of the kernel says that there are no such executions.
        let stopped = shown.stopped.iter().map(|stop| reason(stop, &line)).collect();
        return Outcome { stopped, steps: shown.instructions, ..Outcome::default() };
    }
    let waiting = shown.deadlocks.iter().flat_map(|deadlock| deadlock.waiting.iter().copied());
    let misuses = shown.barrier_errors.iter().map(|error| error.place).chain(waiting);
    Outcome {
        races: shown.races.iter().map(|race| ordered(line(race.first.1), line(race.second.1))).collect(),
        divergences: shown.divergences.iter().map(|divergence| line(divergence.arrived.1)).collect(),
        misuses: misuses.map(|(_, code)| line(code)).collect(),
        faults: shown.faults.iter().filter(|fault| is_outside(&run.program, fault)).map(|f| line(f.place.1)).collect(),
        stopped: shown.stopped.iter().map(|stop| reason(stop, &line)).collect(),
        arbitrary: shown.arbitrary,
        steps: shown.instructions,
    }
}

/// Whether a fault is an access outside of local or shared arrays; of others nobody says how large they are.
fn is_outside(program: &Program, fault: &Fault) -> bool {
    let (Code::Load(access) | Code::Store(access) | Code::Atomic(access)) = program.code[fault.place.1 as usize] else {
        return false;
    };
    let is_known = matches!(program.accesses[access as usize].space, Space::Shared | Space::Local);
    fault.kind == FaultKind::Bounds && is_known
}

fn reason(stop: &Stop, line: &impl Fn(u32) -> u32) -> String {
    match stop {
        Stop::Steps { .. } => "ran out of steps".to_string(),
        Stop::Refused { code, reason } => format!("line {}: {reason}", line(*code)),
        Stop::Excluded { code } => format!("line {}: excluded", line(*code)),
        Stop::Trap { code } => format!("line {}: trap", line(*code)),
        Stop::Defect => "a defect".to_string(),
    }
}

fn emulated(module: &Module, launch: &Launch) -> launch::Launch {
    const SCHEDULES: [Schedule; 5] =
        [Schedule::RoundRobin, Schedule::Random, Schedule::Adversarial, Schedule::Lockstep, Schedule::LockstepTaken];
    let mut random = Random::new(launch.seed);
    let array = |number: usize| Array {
        name: number.to_string(),
        size: UNBOUNDED,
        contents: launch.contents.seeded(hash(launch.seed, 10 + number as u64)),
    };
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let mut variables = module.variables.iter().chain(bodies.flat_map(|body| &body.variables));
    let dynamic = variables.any(|variable| variable.space == StateSpace::Shared && variable.size.is_none());
    let schedule = SCHEDULES[random.below(SCHEDULES.len())];
    launch::Launch {
        cluster: [1; 3],
        geometry: Geometry { block: launch.block, grid: launch.grid },
        parameters: launch.parameters.clone(),
        arrays: (0..launch.arrays).map(array).collect(),
        dynamic_shared: if dynamic { DYNAMIC_SHARED } else { 0 },
        shared_buffers: Vec::new(),
        contents: launch.contents.seeded(hash(launch.seed, 3)),
        schedule,
        completion: schedule.completion(),
        seed: launch.seed,
        thread_steps: u64::from(launch.steps),
        total_steps: if launch.only.is_empty() { ENOUGH } else { ENOUGH_FOR_NAMED },
        blocks: Some(blocks(launch, &mut random)),
        races: true,
        rules: Rules::default(),
    }
}

/// The blocks that run: those wanted, or corners and neighbours, and some others when blocks are small.
fn blocks(launch: &Launch, random: &mut Random) -> Vec<u32> {
    let [x, y, z] = launch.grid;
    let number = |[i, j, k]: [u32; 3]| (k * y + j) * x + i;
    if !launch.only.is_empty() {
        return launch.only.iter().map(|block| number(*block)).collect();
    }
    let mut candidates =
        vec![[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [x - 1, 0, 0], [x - 1, y - 1, z - 1], [x / 2, 0, 0]];
    let more = (2048 / launch.block.iter().product::<u32>()) as usize;
    let mut below = |bound: u32| random.below(bound as usize) as u32;
    candidates.extend((0..more).map(|_| [below(x), below(y), below(z)]));
    let inside = candidates.into_iter().filter(|block| block[0] < x && block[1] < y && block[2] < z);
    let mut blocks: Vec<u32> = Vec::new();
    for block in inside {
        let number = number(block);
        if !blocks.contains(&number) {
            blocks.push(number);
        }
    }
    blocks
}
