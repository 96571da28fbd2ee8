//! Work on several kernels at once, with results in order.
//!
//! Establishes: neither the number of workers nor their speed changes what is handed on or in which
//! order; a panic in one task is an `Err` with its message and place, and does not stop the others. A worker that
//! has no kernel left leaves its job to those that have one. A task past a limit has an answer soon after: it ends
//! itself ([`crate::limits`]), or its worker is given up and another one takes the rest.

use crate::jobs::{self, Job, Jobs, STACK};
use crate::limits::{self, Exceeded, Limit, Token};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// How often limits are looked at.
const TICK: Duration = Duration::from_millis(10);

/// How long a task has to end itself, beside a part of its time.
const GRACE: Duration = Duration::from_millis(400);

/// How long memory that was given back has to show, before another task ends for it.
const SETTLING: Duration = Duration::from_millis(300);

/// The limits of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// For each task.
    pub(crate) time: Option<Duration>,
    /// For the process, in bytes.
    pub(crate) memory: Option<u64>,
}

/// Why a task has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The message of a panic.
    Panic(String),
    /// A limit ended it.
    Limit(Exceeded),
}

/// Takes the results.
pub(crate) trait Sink<T> {
    /// The result of a task, in the order of their numbers.
    fn done(&mut self, number: usize, result: Result<T, Failure>);

    /// Looked at now and then: how many tasks have a result, and which one runs for the longest time, if any runs.
    fn progress(&mut self, _done: usize, _longest: Option<(usize, Duration)>) {}

    /// Ends the process, since some worker does not come to an end or the user wants it; `interrupted` tells which.
    fn leave(&mut self, interrupted: bool) -> !;
}

/// Set when the user wants the end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C ends a run with the results so far; a second one ends it without them.
pub(crate) fn listen_for_interrupts() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED_EXIT);
        }
    };
    // Without it the process ends as the system has it.
    if let Err(error) = ctrlc::set_handler(handler) {
        log::debug!("no handler for interrupts: {error}");
    }
}

/// The exit code of an interrupted process, as shells have it.
pub(crate) const INTERRUPTED_EXIT: i32 = 130;

/// A task that runs.
struct Running {
    token: Token,
    /// When it was ended for the memory.
    ended: Option<Instant>,
}

/// Runs `work(0..count)` without limits; `Err` is the message of a panic. Ctrl-C ends the process.
pub(crate) fn all<T: Send>(
    jobs: &Jobs,
    count: usize,
    work: impl Fn(usize) -> T + Sync,
    done: impl FnMut(usize, Result<T, String>),
) {
    struct Plain<F>(F);
    impl<T, F: FnMut(usize, Result<T, String>)> Sink<T> for Plain<F> {
        fn done(&mut self, number: usize, result: Result<T, Failure>) {
            (self.0)(
                number,
                result.map_err(|failure| match failure {
                    Failure::Panic(message) => message,
                    Failure::Limit(exceeded) => panic!("driver: a limit that nobody set: {exceeded:?}"),
                }),
            );
        }

        fn leave(&mut self, _: bool) -> ! {
            std::process::exit(INTERRUPTED_EXIT)
        }
    }
    in_order(jobs, count, Limits::default(), work, &mut Plain(done));
}

/// What workers and the thread that watches them share.
struct Shared<'a, W> {
    work: &'a W,
    count: usize,
    next: AtomicUsize,
    running: Mutex<BTreeMap<usize, Running>>,
    limits: Limits,
}

/// A number and the result of its task.
type Numbered<T> = (usize, Result<T, Failure>);

/// Runs `work(0..count)` on as many threads as there are jobs, and hands each result, in order of its number, to
/// the sink as soon as all earlier ones are there.
pub(crate) fn in_order<T: Send>(
    jobs: &Jobs,
    count: usize,
    limits: Limits,
    work: impl Fn(usize) -> T + Sync,
    sink: &mut dyn Sink<T>,
) {
    let taken: Vec<Job> = std::iter::from_fn(|| jobs.take()).take(count).collect();
    let running = Mutex::new(BTreeMap::new());
    let shared = Shared { work: &work, count, next: AtomicUsize::new(0), running, limits };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for job in taken {
            spawn(scope, &shared, Some(job), sender.clone());
        }
        let watch = Watch { scope, shared: &shared, sender, given_up: BTreeSet::new(), last_end: None };
        watch.hand_on(&receiver, sink);
    });
}

/// The thread that hands on the results, and looks at limits in between.
struct Watch<'scope, 'env, T, W> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'scope Shared<'scope, W>,
    sender: Sender<Numbered<T>>,
    /// Tasks that were answered without their workers.
    given_up: BTreeSet<usize>,
    /// When a task was last ended for the memory.
    last_end: Option<Instant>,
}

impl<'scope, T: Send + 'scope, W: Fn(usize) -> T + Sync> Watch<'scope, '_, T, W> {
    fn hand_on(mut self, receiver: &Receiver<Numbered<T>>, sink: &mut dyn Sink<T>) {
        let mut waiting: BTreeMap<usize, Result<T, Failure>> = BTreeMap::new();
        let mut expected = 0;
        while expected < self.shared.count {
            match receiver.recv_timeout(TICK) {
                Ok((number, _)) if self.given_up.contains(&number) => {}
                Ok((number, result)) => _ = waiting.insert(number, result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => panic!("driver: no worker is left"),
            }
            if INTERRUPTED.load(Ordering::Relaxed) {
                sink.leave(true);
            }
            for (number, exceeded) in self.overdue() {
                waiting.insert(number, Err(Failure::Limit(exceeded)));
            }
            while let Some(result) = waiting.remove(&expected) {
                sink.done(expected, result);
                expected += 1;
            }
            sink.progress(expected + waiting.len(), self.longest());
        }
        if !self.given_up.is_empty() {
            sink.leave(false);
        }
    }

    /// The task that runs for the longest time, and for how long.
    fn longest(&self) -> Option<(usize, Duration)> {
        let running = self.shared.running();
        let (number, task) = running.iter().min_by_key(|(_, task)| task.token.start())?;
        Some((*number, task.token.start().elapsed()))
    }

    /// Ends tasks that are past a limit, and gives up those that do not end.
    fn overdue(&mut self) -> Vec<(usize, Exceeded)> {
        self.relieve_memory();
        let mut running = self.shared.running();
        let time = self.shared.limits.time.unwrap_or_default();
        let is_lost = |task: &Running| {
            task.token.is_past(time / 4 + GRACE) || task.ended.is_some_and(|ended| ended.elapsed() > time / 4 + GRACE)
        };
        let lost: Vec<usize> = running.iter().filter(|(_, task)| is_lost(task)).map(|(number, _)| *number).collect();
        let mut answers = Vec::new();
        for number in lost {
            let exceeded = running.remove(&number).and_then(|task| task.token.exceeded());
            answers.extend(exceeded.map(|exceeded| (number, exceeded)));
            self.given_up.insert(number);
            spawn(self.scope, self.shared, None, self.sender.clone());
        }
        answers
    }

    /// Ends the task that runs for the longest time, where the process has too much memory.
    fn relieve_memory(&mut self) {
        let Some(most) = self.shared.limits.memory else { return };
        let settled = self.last_end.is_none_or(|end| end.elapsed() > SETTLING);
        if !settled || limits::resident_bytes().is_none_or(|bytes| bytes < most) {
            return;
        }
        let mut running = self.shared.running();
        let open = running.values_mut().filter(|task| task.ended.is_none());
        if let Some(task) = open.min_by_key(|task| task.token.start()) {
            task.token.end(Limit::Memory);
            task.ended = Some(Instant::now());
            self.last_end = task.ended;
        }
    }
}

impl<W> Shared<'_, W> {
    fn running(&self) -> MutexGuard<'_, BTreeMap<usize, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker, which takes tasks as long as there are any.
fn spawn<'scope, T: Send + 'scope, W: Fn(usize) -> T + Sync>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope Shared<'scope, W>,
    job: Option<Job<'scope>>,
    sender: Sender<Numbered<T>>,
) {
    let worker = move || {
        let _job = job;
        loop {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            if number >= shared.count || sender.send((number, one(shared, number))).is_err() {
                return;
            }
        }
    };
    let spawned = Builder::new().stack_size(STACK).spawn_scoped(scope, worker);
    spawned.unwrap_or_else(|error| panic!("driver: no worker thread: {error}"));
}

fn one<T, W: Fn(usize) -> T>(shared: &Shared<'_, W>, number: usize) -> Result<T, Failure> {
    let token = Token::new(shared.limits.time);
    shared.running().insert(number, Running { token: token.clone(), ended: None });
    let task = || limits::during(Some(token), || limits::within(|| (shared.work)(number)));
    let result = jobs::guarded(task);
    shared.running().remove(&number);
    match result {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(exceeded)) => Err(Failure::Limit(exceeded)),
        Err(message) => Err(Failure::Panic(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<(usize, Option<usize>)>);

    impl Sink<usize> for Seen {
        fn done(&mut self, number: usize, result: Result<usize, Failure>) {
            self.0.push((number, result.ok()));
        }

        fn leave(&mut self, _: bool) -> ! {
            panic!("every worker ends")
        }
    }

    #[test]
    fn results_come_in_order_and_panics_stay_apart() {
        for jobs in [1, 4] {
            let mut seen = Seen::default();
            let work = |index: usize| {
                std::thread::sleep(Duration::from_millis((10 - index as u64) % 4));
                if index == 3 { panic!("three") } else { index * index }
            };
            in_order(&Jobs::new(jobs), 10, Limits::default(), work, &mut seen);
            let expected: Vec<_> = (0..10).map(|index| (index, (index != 3).then_some(index * index))).collect();
            assert_eq!(seen.0, expected);
        }
    }

    #[test]
    fn a_task_past_its_time_ends_and_the_others_are_answered() {
        let mut seen = Seen::default();
        let limits = Limits { time: Some(Duration::from_millis(50)), memory: None };
        let work = |index: usize| match index {
            1 => loop {
                limits::check();
            },
            _ => index,
        };
        in_order(&Jobs::new(1), 3, limits, work, &mut seen);
        assert_eq!(seen.0, [(0, Some(0)), (1, None), (2, Some(2))]);
    }
}
