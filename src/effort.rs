//! Effort: how much work a task has done and may still do, in units that repeat.
//!
//! Input: steps of the stages ([`crate::limits::check`]) and what queries cost Z3 (`rlimit`). Output: [`Budget`]s that are
//! over after the same work on every machine, at every load and for any number of jobs. Establishes: what draws from a
//! budget ends at the same place in each run, unless the clock ends a task as a whole ([`crate::limits`]), which its report
//! says, or a query that Z3 does not count (`solver::meter`). Relies on: who works for another thread begins with its meter and hands back what it spent ([`apart`],
//! [`take`]); work that is thrown away is not counted.

use crate::interrupt;
use std::cell::Cell;
use std::ops::{Add, Div, Mul, Sub};
use std::time::Duration;

/// What a step of a stage costs: a term built, an instruction lowered.
const STEP: Effort = Effort(1_500);

/// Work. The unit is about a nanosecond of the machine on which the rates were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effort(u64);

impl Effort {
    /// None.
    pub(crate) const NONE: Effort = Effort(0);
    /// More than there is.
    pub(crate) const ALL: Effort = Effort(u64::MAX);

    /// About so many nanoseconds.
    pub(crate) const fn nanoseconds(count: u64) -> Effort {
        Effort(count)
    }

    /// About so many milliseconds.
    pub const fn milliseconds(count: u64) -> Effort {
        Effort(count * 1_000_000)
    }

    /// About so many seconds.
    pub const fn seconds(count: u64) -> Effort {
        Effort(count * 1_000_000_000)
    }

    /// What is done in that time.
    pub(crate) fn of(time: Duration) -> Effort {
        Effort(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// About how long it takes.
    pub(crate) const fn time(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Whether it is nothing.
    pub(crate) fn is_none(self) -> bool {
        self == Effort::NONE
    }

    /// Z3's resources for it, at so many a millisecond; at least one, since 0 means without a limit.
    pub(crate) fn resources(self, rate: u64) -> u32 {
        let resources = (self.0 / 1_000).saturating_mul(rate) / 1_000;
        u32::try_from(resources).unwrap_or(u32::MAX).max(1)
    }
}

impl Add for Effort {
    type Output = Effort;
    #[inline]
    fn add(self, other: Effort) -> Effort {
        Effort(self.0.saturating_add(other.0))
    }
}

/// Never below none.
impl Sub for Effort {
    type Output = Effort;
    fn sub(self, other: Effort) -> Effort {
        Effort(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Effort {
    type Output = Effort;
    fn mul(self, times: u64) -> Effort {
        Effort(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Effort {
    type Output = Effort;
    fn div(self, parts: u64) -> Effort {
        Effort(self.0 / parts)
    }
}

thread_local! {
    /// How far the meter is behind what the thread did; may be less than none.
    static OFFSET: Cell<i64> = const { Cell::new(0) };
    static SPENT: Cell<Effort> = const { Cell::new(Effort::NONE) };
}

/// Counts work of this thread.
#[inline]
pub(crate) fn spend(effort: Effort) {
    SPENT.with(|spent| spent.set(spent.get() + effort));
}

/// Counts a step.
#[inline]
pub(crate) fn step() {
    spend(STEP);
}

/// The meter of this thread: all that it spent so far.
pub(crate) fn spent() -> Effort {
    SPENT.get()
}

/// All that this thread did so far, whoever wanted it; what others did for it is not in it.
pub(crate) fn done() -> Effort {
    Effort(SPENT.get().0.wrapping_add_signed(OFFSET.get()))
}

/// Counts work that another thread, or this one [`apart`], did.
pub(crate) fn take(effort: Effort) {
    spend(effort);
    OFFSET.set(OFFSET.get().wrapping_sub_unsigned(effort.0));
}

/// Puts the meter elsewhere; where it was.
fn turn(meter: Effort) -> Effort {
    let before = SPENT.replace(meter);
    OFFSET.set(OFFSET.get().wrapping_add_unsigned(before.0).wrapping_sub_unsigned(meter.0));
    before
}

/// Runs a task whose meter stands at `start` when it begins, in whatever thread; with what it spent. The thread's own
/// meter stays where it was.
pub(crate) fn apart<T>(start: Effort, task: impl FnOnce() -> T) -> (T, Effort) {
    /// Also when the task unwinds.
    struct Before(Effort);
    impl Drop for Before {
        fn drop(&mut self) {
            turn(self.0);
        }
    }
    let _before = Before(turn(start));
    let result = task();
    (result, SPENT.get() - start)
}

/// What may be spent: it is over when the meter of the thread has come to its end.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    end: Effort,
}

impl Budget {
    /// So much from now on.
    pub fn new(effort: Effort) -> Budget {
        Budget { end: spent() + effort }
    }

    /// What is left of it; nothing where nobody wants the result any more.
    pub(crate) fn left(self) -> Effort {
        if interrupt::is_asked() { Effort::NONE } else { self.end - spent() }
    }

    /// Whether nothing is left. Then there is no use in asking thousands of queries.
    pub(crate) fn is_over(self) -> bool {
        self.left().is_none()
    }

    /// So much, or what is left.
    pub(crate) fn most(self, effort: Effort) -> Effort {
        effort.min(self.left())
    }

    /// The next part of it.
    pub(crate) fn part(self, effort: Effort) -> Budget {
        Budget::new(self.most(effort))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_over_when_its_effort_is_spent() {
        let budget = Budget::new(Effort::milliseconds(2));
        let part = budget.part(Effort::milliseconds(5));
        spend(Effort::milliseconds(1));
        assert_eq!(part.most(Effort::seconds(1)), Effort::milliseconds(1));
        assert!(!budget.is_over());
        spend(Effort::milliseconds(1));
        assert!(budget.is_over() && part.is_over());
    }

    #[test]
    fn work_apart_is_counted_by_who_wants_it() {
        let (start, before) = (spent(), done());
        let budget = Budget::new(Effort::seconds(1));
        let (left, effort) = apart(start, || {
            spend(Effort::milliseconds(400));
            budget.left()
        });
        assert_eq!(left, Effort::milliseconds(600));
        assert_eq!(spent(), start);
        take(effort);
        assert_eq!(done() - before, Effort::milliseconds(400));
        assert_eq!(budget.left(), left);
    }
}
