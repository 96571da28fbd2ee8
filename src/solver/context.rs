//! Which context of Z3 a query is asked in.
//!
//! Input: tasks. Output: what they give. Establishes: a context is made when a query needs it and no sooner; which queries
//! share one, and in which order, is told by the task alone, never by the number of jobs, by other tasks or by the clock.
//! So answers repeat: those of a shared context because all that was asked before repeats, too; a query that needs more
//! than little is asked again in a fresh context, where Z3 counts its `rlimit` alike whatever was asked before.
//! A context takes 17 MB and about as long as a small query. The library makes one for each thread that uses it, so each
//! context has a thread of its own, and there is none that nobody asked for.
//! Reference: DESIGN section 5.

use super::meter;
use crate::interrupt;
use crate::jobs;
use crate::pages;
use crate::stats;
use std::cell::Cell;
use z3::Context;

thread_local! {
    /// Whether queries of this thread share its context, and whether there was one already.
    static SHARED: Cell<Shared> = const { Cell::new(Shared::Not) };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shared {
    Not,
    Unused,
    Used,
}

/// Runs a task whose queries share a context, as far as they take little. Their answers depend on those before, so a task
/// has to ask them in an order that repeats.
pub(crate) fn in_own_context<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    jobs::in_own_thread(|| {
        SHARED.set(Shared::Unused);
        task()
    })
}

/// Whether queries of this thread share a context.
pub(super) fn is_shared() -> bool {
    SHARED.get() != Shared::Not
}

/// Runs queries in the context that this thread shares.
pub(super) fn in_shared<T>(queries: impl FnOnce() -> T) -> T {
    if SHARED.replace(Shared::Used) == Shared::Unused {
        begins();
    }
    interruptible(queries)
}

/// Runs queries in a fresh context.
pub(super) fn in_fresh<T: Send>(queries: impl FnOnce() -> T + Send) -> T {
    begins();
    jobs::in_own_thread(|| interruptible(queries))
}

/// In the context that queries of this thread share, or in a fresh one.
pub(super) fn in_some<T: Send>(queries: impl FnOnce() -> T + Send) -> T {
    if is_shared() { in_shared(queries) } else { in_fresh(queries) }
}

/// A context is about to be made.
fn begins() {
    meter::of_new_context();
    stats::count_context();
    pages::huge();
}

/// Runs queries in the context of this thread, where somebody may interrupt them.
fn interruptible<T>(queries: impl FnOnce() -> T) -> T {
    let Some(interrupt) = interrupt::of_thread() else { return queries() };
    let context = Context::thread_local();
    let handle = context.handle();
    interrupt::watch(&interrupt, || handle.interrupt(), queries)
}
