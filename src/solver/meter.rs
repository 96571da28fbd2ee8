//! What queries may cost, and what they did.
//!
//! Input: effort for a query. Output: Z3's parameters, and the effort that the query took, on the meter of the thread.
//! Establishes: a query ends after the same work in every run, but for those that Z3 does not count, and unless the
//! task's time is over; then the task ends, too.
//! Relies on: in a fresh context Z3 counts its `rlimit` alike in each run. Reference: DESIGN section 5.

use super::Encoding;
use crate::effort::{self, Effort};
use crate::{interrupt, limits};
use std::time::{Duration, Instant};
use z3::{Params, SatResult, Solver, StatisticsValue};

/// What a context costs: its tables are several megabytes.
const CONTEXT: Effort = Effort::milliseconds(4);

/// The clock ends a query that takes so many times as long as it should, and this longer.
const PATIENCE: u32 = 10;
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// Of Z3's reasons for having no answer, those that no clock and no memory has a part in.
const REPEATED: [&str; 5] =
    ["max. resource limit exceeded", "(resource limits reached)", "canceled", "incomplete", "quantifier"];

/// Z3's clock has whole milliseconds, and is not ours.
const TICK: Duration = Duration::from_millis(20);

/// How much of its resources Z3 uses in a millisecond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// A query that may take so much time gets at most so much.
    limit: u64,
    /// As measured over many queries.
    real: u64,
}

impl Rate {
    /// Over integers with products of unknowns. Such queries get a short try.
    pub(super) const PRODUCTS: Rate = Rate { limit: 1_200, real: 1_200 };

    /// Without products.
    pub(super) fn of(encoding: Encoding) -> Rate {
        match encoding {
            Encoding::Integers => Rate { limit: 5_000, real: 8_000 },
            Encoding::BitVectors | Encoding::Exact => Rate { limit: 10_000, real: 4_000 },
        }
    }
}

/// What a query may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// So much.
    pub(crate) effort: Effort,
    /// At this rate.
    pub(crate) rate: Rate,
}

impl Limit {
    /// No more than that.
    pub(super) fn at_most(self, effort: Effort) -> Limit {
        Limit { effort: self.effort.min(effort), ..self }
    }

    /// What a solver is told. Ctrl-C ends the process ([`crate::driver::schedule`]), not only a query.
    pub(super) fn parameters(self) -> Params {
        let mut params = Params::new();
        params.set_bool("ctrl_c", false);
        params.set_u32("rlimit", self.effort.resources(self.rate.limit));
        // 0 means without a limit.
        params.set_u32("timeout", u32::try_from(self.patience().as_millis()).unwrap_or(u32::MAX).max(1));
        params
    }

    /// Z3 does not count all that it does: cuts with huge numbers take minutes of no effort. Such a query ends when it has
    /// taken far longer than it should, or when the time of the task is over.
    fn patience(self) -> Duration {
        limits::time_left().map_or(self.net(), |left| left.min(self.net()))
    }

    fn net(self) -> Duration {
        LEAST_PATIENCE + self.effort.time().saturating_mul(PATIENCE)
    }

    /// Asks, and tells the task where the clock or the memory had a part in there being no answer.
    pub(super) fn watched(self, solver: &Solver, ask: impl FnOnce(&Solver) -> SatResult) -> SatResult {
        let (start, patience) = (Instant::now(), self.patience());
        let result = ask(solver);
        let is_repeated = || start.elapsed() + TICK < patience && is_of_effort(solver);
        // What nobody wants any more is thrown away, and is no part of any answer.
        if result == SatResult::Unknown && !interrupt::is_asked() && !is_repeated() {
            limits::cut();
        }
        result
    }

    /// Asks, and counts what it cost.
    pub(super) fn charged(self, solver: &Solver, ask: impl FnOnce(&Solver) -> SatResult) -> SatResult {
        let before = resources(solver);
        let result = self.watched(solver, ask);
        let used = u64::from(resources(solver).saturating_sub(before));
        let counted = Effort::nanoseconds(used * 1_000_000 / self.rate.real);
        let is_late = result == SatResult::Unknown && solver.get_reason_unknown().is_some_and(|why| why == "timeout");
        effort::spend(if is_late { Effort::of(self.net()) } else { counted });
        limits::check_now();
        result
    }
}

/// Whether there is no answer for a reason that is the same in each run, in Z3's words: its resources are used up, or its
/// method has none.
fn is_of_effort(solver: &Solver) -> bool {
    let why = solver.get_reason_unknown().unwrap_or_default();
    REPEATED.iter().any(|known| why.contains(known))
}

/// Counts a context.
pub(super) fn of_new_context() {
    effort::spend(CONTEXT);
}

/// Z3's resources that the context of a solver has used.
fn resources(solver: &Solver) -> u32 {
    match solver.get_statistics().value("rlimit count") {
        Some(StatisticsValue::UInt(count)) => count,
        _ => 0,
    }
}
