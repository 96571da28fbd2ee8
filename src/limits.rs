//! Limits of a task: how long it may take, and how much memory the process may have.
//!
//! A task has a [`Token`], and so has every thread that works on it. Code whose work grows with its input calls
//! [`check`]; past a limit the thread unwinds from there to the nearest [`within`], with the limit and the stage that was
//! running. Who waits for the task ([`crate::driver::schedule`]) looks at time and memory, and answers without it where
//! it does not come to its end, as long as Z3 does not listen.
//!
//! Establishes: a limit changes no answer but to `unknown`. Stages plan their effort beforehand ([`crate::effort`]);
//! this is the net below. Relies on: unwinding; data that a task leaves behind is dropped or only read.

use crate::effort;
use crate::stats::{self, Cost, Costs};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Calls of [`check`] until the next one looks at the clock.
const PATIENCE: u32 = 512;

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The time of a kernel.
    Time,
    /// The memory of the process.
    Memory,
}

/// A limit that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// Which.
    pub(crate) limit: Limit,
    /// What was running.
    pub(crate) stage: &'static str,
    /// How long the task had run.
    pub(crate) after: Duration,
}

/// The limits of one task, and what it cost so far. All clones are of the same task.
#[derive(Clone, Debug)]
pub struct Token {
    task: Arc<State>,
    /// What a thread that is given it is doing.
    stage: &'static str,
    /// The part of the task at hand, if that has a limit of its own.
    part: Option<Arc<Part>>,
}

#[derive(Debug)]
struct Part {
    /// How long the task may take until it is done.
    until: Duration,
    /// As for the task.
    stopped: OnceLock<(&'static str, Duration)>,
}

#[derive(Debug)]
struct State {
    start: Instant,
    /// How long the task may take; `None` is as long as it likes.
    time: Option<Duration>,
    /// 0, or the limit that was met.
    met: AtomicU8,
    /// Whether a part of the work ended by the clock or for want of memory, though the task went on.
    cut: AtomicBool,
    /// What the thread that changed it last is doing.
    stage: Mutex<&'static str>,
    /// What was running when the limit was first seen to be met.
    stopped: OnceLock<(&'static str, Duration)>,
    costs: Costs,
}

thread_local! {
    static OF_THREAD: RefCell<Option<Token>> = const { RefCell::new(None) };
    static UNTIL_LOOK: Cell<u32> = const { Cell::new(PATIENCE) };
}

impl Token {
    /// The limits of a task that begins now.
    pub fn new(time: Option<Duration>) -> Token {
        let (start, stage) = (Instant::now(), "driver");
        let (met, running) = (AtomicU8::new(0), Mutex::new(stage));
        let (stopped, costs, cut) = (OnceLock::new(), Costs::default(), AtomicBool::new(false));
        let task = State { start, time, met, cut, stage: running, stopped, costs };
        Token { task: Arc::new(task), stage, part: None }
    }

    /// Ends the task, wherever it looks next.
    pub(crate) fn end(&self, limit: Limit) {
        let number = if limit == Limit::Time { 1 } else { 2 };
        // The first limit that is met is the reason.
        let _ = self.task.met.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The limit that was met, with what is running.
    pub(crate) fn exceeded(&self) -> Option<Exceeded> {
        if self.is_past(Duration::ZERO) {
            self.end(Limit::Time);
        }
        let over = self.part.as_ref().filter(|part| self.task.start.elapsed() >= part.until);
        let (limit, stopped) = match (self.task.met.load(Ordering::Relaxed), over) {
            (0, None) => return None,
            (0, Some(part)) => {
                self.task.cut.store(true, Ordering::Relaxed);
                (Limit::Time, &part.stopped)
            }
            (1, _) => (Limit::Time, &self.task.stopped),
            _ => (Limit::Memory, &self.task.stopped),
        };
        let running = || (*self.task.stage.lock().unwrap_or_else(PoisonError::into_inner), self.task.start.elapsed());
        let &(stage, after) = stopped.get_or_init(running);
        Some(Exceeded { limit, stage, after })
    }

    /// Whether its time ended so long ago.
    pub(crate) fn is_past(&self, further: Duration) -> bool {
        self.task.time.is_some_and(|time| self.task.start.elapsed() >= time + further)
    }

    /// How much longer it may take; `None` is as long as it likes.
    fn left(&self) -> Option<Duration> {
        let until = self.part.as_ref().map(|part| part.until);
        let time = self.task.time.into_iter().chain(until).min();
        time.map(|time| time.saturating_sub(self.task.start.elapsed()))
    }

    /// When the task began.
    pub(crate) fn start(&self) -> Instant {
        self.task.start
    }
}

/// Runs a task under limits.
pub fn during<T>(token: Option<Token>, task: impl FnOnce() -> T) -> T {
    /// Puts back what was there, also when the task unwinds.
    struct Before(Option<Token>);
    impl Drop for Before {
        fn drop(&mut self) {
            replace(self.0.take());
        }
    }
    let _before = Before(replace(token));
    task()
}

/// Runs a part of a task that has to be done so long after the beginning of the task. Where that limit is met, later parts
/// have what time the task has beyond it.
pub(crate) fn until<T>(time: Duration, part: impl FnOnce() -> T) -> T {
    let limits = Arc::new(Part { until: time, stopped: OnceLock::new() });
    during(of_thread().map(|token| Token { part: Some(limits), ..token }), part)
}

/// Runs what only waits: the time is that of whom it waits for.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    during(None, wait)
}

/// The limits of this thread; its helpers have the same.
pub(crate) fn of_thread() -> Option<Token> {
    OF_THREAD.with_borrow(Clone::clone)
}

/// The limits of this thread from now on; those that it had.
fn replace(token: Option<Token>) -> Option<Token> {
    let now = token.as_ref().map(|token| token.stage);
    let before = OF_THREAD.replace(token);
    stats::enter(before.as_ref().map(|token| &token.task.costs), now);
    before
}

/// What the stages of this thread's task cost so far.
pub fn costs() -> Vec<(&'static str, Cost)> {
    let token = of_thread();
    replace(token.clone());
    token.map_or_else(Vec::new, |token| token.task.costs.stages())
}

/// A step of work: counts it ([`crate::effort`]), and ends the task of this thread if a limit is met. Cheap: for inner
/// loops.
#[inline]
pub(crate) fn check() {
    effort::step();
    let looks = UNTIL_LOOK.with(|left| {
        let looks = left.get() == 0;
        left.set(if looks { PATIENCE } else { left.get() - 1 });
        looks
    });
    if looks {
        check_now();
    }
}

/// How much longer the task of this thread may take; `None` is as long as it likes.
pub(crate) fn time_left() -> Option<Duration> {
    of_thread().and_then(|token| token.left())
}

/// As [`check`], and at once.
pub(crate) fn check_now() {
    if let Some(exceeded) = of_thread().and_then(|token| token.exceeded()) {
        resume_unwind(Box::new(exceeded));
    }
}

/// Of threads without a task.
static CUT: AtomicBool = AtomicBool::new(false);

/// Something of this thread's task ended by the clock, or for want of memory: in another run it may end elsewhere.
pub(crate) fn cut() {
    match of_thread() {
        Some(token) => token.task.cut.store(true, Ordering::Relaxed),
        None => CUT.store(true, Ordering::Relaxed),
    }
}

/// Whether no clock and no memory had a part in what this thread's task found so far, so that each run finds the same.
pub(crate) fn is_repeatable() -> bool {
    let is_cut = |token: Token| token.task.met.load(Ordering::Relaxed) != 0 || token.task.cut.load(Ordering::Relaxed);
    !CUT.load(Ordering::Relaxed) && !of_thread().is_none_or(is_cut)
}

/// Names what this thread does, until the guard is dropped.
pub(crate) fn stage(name: &'static str) -> Stage {
    let before = of_thread();
    if let Some(token) = &before {
        token.is_in(name);
        replace(Some(Token { stage: name, ..token.clone() }));
    }
    let stage = Stage(before);
    check_now();
    stage
}

impl Token {
    /// For who asks why the task ended.
    fn is_in(&self, stage: &'static str) {
        *self.task.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
    }
}

/// See [`stage`].
#[must_use]
pub(crate) struct Stage(Option<Token>);

impl Drop for Stage {
    fn drop(&mut self) {
        let Some(before) = self.0.take() else { return };
        // Who asks why the task ended wants to know where.
        if !std::thread::panicking() {
            before.is_in(before.stage);
        }
        replace(Some(before));
    }
}

/// Runs a part of a task. `Err`: a limit ended it.
///
/// # Errors
/// Which limit, and where.
pub fn within<T>(task: impl FnOnce() -> T) -> Result<T, Exceeded> {
    // The part's data is dropped, or holds what was found so far.
    catch_unwind(AssertUnwindSafe(task)).map_err(|payload| match of_payload(&*payload) {
        Some(exceeded) => exceeded,
        None => resume_unwind(payload),
    })
}

/// What a thread unwound with, if that was a limit.
pub(crate) fn of_payload(payload: &(dyn Any + Send)) -> Option<Exceeded> {
    payload.downcast_ref().copied()
}

/// Memory of the process that is in use, in bytes, where the system tells.
pub(crate) fn resident_bytes() -> Option<u64> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem as u64)
}

/// Three quarters of the memory of the machine, or of what the process may have of it, in bytes.
pub(crate) fn usual_memory() -> u64 {
    /// Some ten files say so.
    static USUAL: OnceLock<u64> = OnceLock::new();
    *USUAL.get_or_init(|| {
        let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(memory);
        let of_group = system.cgroup_limits().map(|limits| limits.total_memory).filter(|bytes| *bytes > 0);
        of_group.unwrap_or(u64::MAX).min(system.total_memory()) / 4 * 3
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_ends_where_it_looks_next() {
        let token = Token::new(None);
        let ended = during(Some(token.clone()), || {
            within(|| {
                let _stage = stage("here");
                token.end(Limit::Memory);
                token.end(Limit::Time);
                loop {
                    check();
                }
            })
        });
        let ended: Result<(), Exceeded> = ended;
        assert!(ended.is_err_and(|exceeded| (exceeded.limit, exceeded.stage) == (Limit::Memory, "here")));
        assert!(of_thread().is_none());
    }

    #[test]
    fn without_limits_nothing_ends() {
        assert_eq!(within(|| (0..10_000).map(|_| check()).count()), Ok(10_000));
    }

    #[test]
    fn other_panics_go_on() {
        let task = || within(|| panic!("a bug"));
        assert!(catch_unwind(task).is_err_and(|payload| payload.downcast_ref::<&str>() == Some(&"a bug")));
    }

    #[test]
    fn a_part_that_the_clock_ends_is_not_repeatable() {
        let ended = during(Some(Token::new(None)), || {
            let before = is_repeatable();
            let part = within(|| until(Duration::ZERO, check_now));
            (before, part.is_err(), within(check_now).is_ok(), is_repeatable())
        });
        assert_eq!(ended, (true, true, true, false));
    }
}
