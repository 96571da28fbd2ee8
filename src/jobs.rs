//! How many threads may work at once, and the threads that help.
//!
//! Establishes: no more threads work than there are jobs; a panic in a helper comes to who waits for the helper's
//! results, with its place, and to nobody if nobody waits any more. Relies on: results are used in an order that does not
//! depend on who made them, so that reports are the same for all numbers of jobs (but for times).

use crate::effort;
use crate::{interrupt, limits};
use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Stack of a thread that works, in bytes; large, because expressions of big kernels nest deeply.
pub(crate) const STACK: usize = 256 << 20;

/// Jobs that are left: how many threads may begin to work beside those that do.
#[derive(Debug, Default)]
pub struct Jobs(AtomicUsize);

/// The right to work in a thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct Job<'a>(&'a Jobs);

impl Jobs {
    /// So many are left.
    pub fn new(count: usize) -> Jobs {
        Jobs(AtomicUsize::new(count))
    }

    /// A job, if one is left.
    pub(crate) fn take(&self) -> Option<Job<'_>> {
        let one_less = |left: usize| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).ok().map(|_| Job(self))
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A thread that works on a job. Its result is the message of a panic, if there was one.
pub(crate) type Helper<'scope> = ScopedJoinHandle<'scope, Result<(), String>>;

/// Runs a task in a thread of its own. `Err`: there is none to be had, which is no reason to give up.
///
/// # Errors
/// What the system says.
pub(crate) fn help<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    job: Job<'scope>,
    task: impl FnOnce() + Send + 'scope,
) -> io::Result<Helper<'scope>> {
    let limits = limits::of_thread();
    let work = move || {
        let _job = job;
        guarded(|| limits::during(limits, task))
    };
    Builder::new().stack_size(STACK).spawn_scoped(scope, work)
}

/// Waits for a helper.
///
/// # Panics
/// As the helper did.
pub(crate) fn wait_for(helper: Helper<'_>) {
    result_of(helper.join());
}

fn result_of<T>(joined: std::thread::Result<Result<T, String>>) -> T {
    let panic: Box<dyn Any + Send> = match joined {
        Ok(Ok(result)) => return result,
        // The message tells the place already.
        Ok(Err(message)) => Box::new(message),
        Err(panic) => panic,
    };
    // Whatever ended the thread, a limit that is over is over for this one, too.
    limits::check_now();
    std::panic::resume_unwind(panic)
}

/// Runs a task in a thread of its own, where what belongs to a thread begins anew, and waits for it. It is no help: only
/// one of the two works.
///
/// # Panics
/// As the task did.
pub(crate) fn in_own_thread<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    let (interrupt, limits, start) = (interrupt::of_thread(), limits::of_thread(), effort::spent());
    let task = || limits::during(limits, || interrupt::during(interrupt, task));
    let work = || guarded(|| effort::apart(start, task));
    let joined = limits::waiting(|| {
        std::thread::scope(|scope| {
            let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, work);
            thread.unwrap_or_else(|error| panic!("jobs: no thread: {error}")).join()
        })
    });
    let (result, effort) = result_of(joined);
    effort::take(effort);
    result
}

thread_local! {
    /// Where the last panic of this thread happened.
    static PANIC_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the default hook from printing: a panic is reported once, as an internal error.
pub(crate) fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        PANIC_PLACE.with_borrow_mut(|last| *last = place);
    }));
}

/// Runs a task; a panic becomes its message.
///
/// # Errors
/// The message of a panic, and its place.
pub(crate) fn guarded<T>(task: impl FnOnce() -> T) -> Result<T, String> {
    // The task's data is dropped or only read afterwards, so broken invariants cannot be seen.
    catch_unwind(AssertUnwindSafe(task)).map_err(|payload| {
        let message = payload_text(&*payload);
        match PANIC_PLACE.take() {
            Some(place) => format!("{message} (at {place})"),
            None => message,
        }
    })
}

fn payload_text(payload: &(dyn Any + Send)) -> String {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text.to_string(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_left_again_when_its_helper_is_done() {
        let jobs = Jobs::new(1);
        std::thread::scope(|scope| {
            let job = jobs.take().unwrap_or_else(|| panic!("one job is left"));
            assert!(jobs.take().is_none());
            let helper = help(scope, job, || ()).unwrap_or_else(|error| panic!("{error}"));
            wait_for(helper);
            assert!(jobs.take().is_some());
        });
    }

    #[test]
    fn who_waits_for_a_helper_panics_as_it_did() {
        let jobs = Jobs::new(1);
        let message = guarded(|| {
            std::thread::scope(|scope| {
                let job = jobs.take().unwrap_or_else(|| panic!("one job is left"));
                let helper = help(scope, job, || panic!("three")).unwrap_or_else(|error| panic!("{error}"));
                wait_for(helper);
            });
        });
        assert!(message.is_err_and(|message| message.contains("three")));
    }
}
