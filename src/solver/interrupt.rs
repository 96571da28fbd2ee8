//! Ends the queries of a thread whose results nobody wants any more.
//!
//! Establishes: once asked, the query that runs ends soon, and no other begins: all answers are `Unknown`. So whoever
//! asks must throw away what the thread gives. Who is interrupted is kept beside the thread, not handed to every stage
//! that asks the solver: it changes no result that is used.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use z3::Context;

/// How often Z3 is told; it forgets what it is told between two searches.
const AGAIN: Duration = Duration::from_millis(5);

/// What is shared by a thread and by who may stop it. All clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<State>);

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
    pub fn ask(&self) {
        *self.asked() = true;
        self.0.changed.notify_all();
    }

    fn asked(&self) -> MutexGuard<'_, bool> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a task whose queries end when `interrupt` is asked for.
pub fn during<T>(interrupt: Option<Interrupt>, task: impl FnOnce() -> T) -> T {
    let before = OF_THREAD.replace(interrupt);
    let result = task();
    OF_THREAD.set(before);
    result
}

/// What interrupts this thread; a helper of it is to be interrupted with it.
pub fn of_thread() -> Option<Interrupt> {
    OF_THREAD.with_borrow(Clone::clone)
}

/// Whether nobody wants what this thread is about to find.
pub fn is_asked() -> bool {
    OF_THREAD.with_borrow(|interrupt| interrupt.as_ref().is_some_and(|interrupt| *interrupt.asked()))
}

/// Runs queries in the Z3 context of this thread. A second thread sleeps beside it, only where somebody may ask.
pub(super) fn watch<T>(queries: impl FnOnce() -> T) -> T {
    let Some(interrupt) = of_thread() else { return queries() };
    let context = Context::thread_local();
    let (handle, done) = (context.handle(), Mutex::new(false));
    let is_done = || *done.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        let watcher = || {
            let mut asked = interrupt.asked();
            while !is_done() {
                let changed = &interrupt.0.changed;
                if *asked {
                    handle.interrupt();
                    asked = changed.wait_timeout(asked, AGAIN).unwrap_or_else(PoisonError::into_inner).0;
                } else {
                    asked = changed.wait(asked).unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        let _done = Done { interrupt: &interrupt, done: &done };
        // Without it the thread ends later, but with the same results.
        let watching = std::thread::Builder::new().spawn_scoped(scope, watcher);
        if let Err(error) = watching {
            log::debug!("no thread to watch a query: {error}");
        }
        queries()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Effort;
    use crate::solver::{Answer, Encoding, prove};
    use crate::vcgen::term::{BvBinary, Sort, Terms};
    use std::time::Instant;

    /// The factors of a number with two large ones are not found soon.
    #[test]
    fn a_query_ends_when_it_is_asked_for() {
        let interrupt = Interrupt::default();
        let asked = interrupt.clone();
        let task = move || {
            let mut terms = Terms::default();
            let (a, b) = (terms.symbol("a", Sort::Bv(64), None), terms.symbol("b", Sort::Bv(64), None));
            let (a, b) = (terms.zero_extend(a, 128), terms.zero_extend(b, 128));
            let product = terms.bv_binary(BvBinary::Mul, a, b);
            let number = terms.bv(11_400_714_785_074_694_791 * 14_029_467_366_897_019_727, 128);
            let equal = terms.eq(product, number);
            let goal = terms.not(equal);
            during(Some(asked), || prove(&mut terms, Encoding::BitVectors, goal, &[], Effort::seconds(60)))
        };
        let start = Instant::now();
        let thread = std::thread::spawn(task);
        std::thread::sleep(Duration::from_millis(200));
        interrupt.ask();
        let answer = thread.join().unwrap_or_else(|_| panic!("the query panicked"));
        assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
