//! What a task cost, stage by stage (`--stats`).
//!
//! Input: which stage a thread is in ([`crate::limits::stage`]), what it counts. Output: [`Cost`]s by stage. Establishes:
//! each moment of a thread and each unit of its effort belongs to one stage, the innermost. A measurement, no input of
//! anything. With several jobs times are of all threads together, and work that nobody took is in them.
//! Reference: none.

use crate::effort::{self, Effort};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a stage cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Wall time of the threads that were in it.
    pub(crate) time: Duration,
    /// The same in units that repeat.
    pub(crate) effort: Effort,
    /// Formulas given to Z3, counted where they are asked.
    pub queries: u64,
    /// Contexts of Z3 made for them.
    pub(crate) contexts: u64,
    /// Invariant candidates proposed.
    pub(crate) candidates: u64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.time += other.time;
        self.effort = self.effort + other.effort;
        self.queries += other.queries;
        self.contexts += other.contexts;
        self.candidates += other.candidates;
    }
}

/// Stages in the order in which data flows.
const STAGES: [&str; 14] = [
    "ptx",
    "cfg",
    "kernel",
    "predicate",
    "twothread",
    "infer",
    "vcgen",
    "modular",
    "solver",
    "prove",
    "confirm",
    "exec",
    "sync",
    "driver",
];

/// The costs of a task; its threads add to them.
#[derive(Debug, Default)]
pub(crate) struct Costs(Mutex<BTreeMap<&'static str, Cost>>);

impl Costs {
    fn add(&self, stage: &'static str, cost: Cost) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(stage).or_default() += cost;
    }

    /// What each stage cost so far, in the order of the stages.
    pub(crate) fn stages(&self) -> Vec<(&'static str, Cost)> {
        let costs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stages: Vec<_> = costs.iter().map(|(stage, cost)| (*stage, *cost)).collect();
        stages.sort_by_key(|(stage, _)| STAGES.iter().position(|other| other == stage));
        stages
    }
}

/// Where a thread is, since when.
#[derive(Clone, Copy)]
struct Lap {
    stage: &'static str,
    since: Instant,
    done: Effort,
}

thread_local! {
    static LAP: Cell<Option<Lap>> = const { Cell::new(None) };
    /// What was counted in this lap.
    static COUNTED: Cell<Cost> = const {
        Cell::new(Cost { time: Duration::ZERO, effort: Effort::NONE, queries: 0, contexts: 0, candidates: 0 })
    };
}

/// From now on this thread is in that stage, or in none. Where it was goes to the costs of the task that it worked on.
pub(crate) fn enter(costs: Option<&Costs>, stage: Option<&'static str>) {
    let (since, done) = (Instant::now(), effort::done());
    let before = LAP.replace(stage.map(|stage| Lap { stage, since, done }));
    let counted = COUNTED.take();
    if let (Some(costs), Some(lap)) = (costs, before) {
        costs.add(lap.stage, Cost { time: since - lap.since, effort: done - lap.done, ..counted });
    }
}

/// Counts queries.
pub(crate) fn count_query() {
    COUNTED.set(Cost { queries: COUNTED.get().queries + 1, ..COUNTED.get() });
}

/// Counts a context.
pub(crate) fn count_context() {
    COUNTED.set(Cost { contexts: COUNTED.get().contexts + 1, ..COUNTED.get() });
}

/// Counts candidates.
pub(crate) fn count_candidates(count: u64) {
    COUNTED.set(Cost { candidates: COUNTED.get().candidates + count, ..COUNTED.get() });
}
