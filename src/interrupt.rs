//! Ends the work of a thread whose results nobody wants any more.
//!
//! Establishes: once asked, the query that runs ends soon, and no other begins: no budget has anything left. So whoever
//! asks must throw away what the thread gives. Who is interrupted is kept beside the thread, not handed to every stage
//! that asks the solver: it changes no result that is used.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often what runs is told; Z3 forgets what it is told between two searches.
const AGAIN: Duration = Duration::from_millis(5);

/// What is shared by a thread and by who may stop it. All clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<State>);

#[derive(Debug, Default)]
struct State {
    asked: Mutex<bool>,
    /// Something was asked for, or a query is done.
    changed: Condvar,
}

thread_local! {
    static OF_THREAD: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

impl Interrupt {
    /// Asks.
    pub(crate) fn ask(&self) {
        *self.asked() = true;
        self.0.changed.notify_all();
    }

    fn asked(&self) -> MutexGuard<'_, bool> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a task whose queries end when `interrupt` is asked for.
pub(crate) fn during<T>(interrupt: Option<Interrupt>, task: impl FnOnce() -> T) -> T {
    let before = OF_THREAD.replace(interrupt);
    let result = task();
    OF_THREAD.set(before);
    result
}

/// What interrupts this thread; a helper of it is to be interrupted with it.
pub(crate) fn of_thread() -> Option<Interrupt> {
    OF_THREAD.with_borrow(Clone::clone)
}

/// Whether nobody wants what this thread is about to find.
pub(crate) fn is_asked() -> bool {
    OF_THREAD.with_borrow(|interrupt| interrupt.as_ref().is_some_and(|interrupt| *interrupt.asked()))
}

/// Runs a task; from when an interrupt of this thread is asked for to the end of the task, `tell` is called again and
/// again, in a second thread, which sleeps as long as nobody asks.
pub(crate) fn watch<T>(interrupt: &Interrupt, tell: impl Fn() + Sync, task: impl FnOnce() -> T) -> T {
    let done = Mutex::new(false);
    let is_done = || *done.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        let watcher = || {
            let mut asked = interrupt.asked();
            while !is_done() {
                let changed = &interrupt.0.changed;
                if *asked {
                    tell();
                    asked = changed.wait_timeout(asked, AGAIN).unwrap_or_else(PoisonError::into_inner).0;
                } else {
                    asked = changed.wait(asked).unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        let _done = Done { interrupt, done: &done };
        // Without it the thread ends later, but with the same results.
        let watching = std::thread::Builder::new().spawn_scoped(scope, watcher);
        if let Err(error) = watching {
            log::debug!("no thread to watch a query: {error}");
        }
        task()
    })
}

/// Wakes the watcher at the end, also at that of a panic.
struct Done<'a> {
    interrupt: &'a Interrupt,
    done: &'a Mutex<bool>,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        // Under the lock, so that the watcher does not look before and sleep after.
        let _asked = self.interrupt.asked();
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.interrupt.0.changed.notify_all();
    }
}
