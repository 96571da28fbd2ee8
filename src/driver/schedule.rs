//! Work on several kernels at once, with results in order.
//!
//! Establishes: neither the number of workers nor their speed changes what is handed on or in which
//! order; a panic in one task is an `Err` with its message and place, and does not stop the others.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

/// Stack of a worker in bytes; large, because expressions of big kernels nest deeply.
const STACK: usize = 256 << 20;

thread_local! {
    /// Where the last panic of this thread happened.
    static PANIC_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work(0..count)` on `jobs` threads and hands each result, in order of its number, to `done`
/// as soon as all earlier ones are there. `Err` is the message of a panic.
pub fn in_order<T: Send>(
    jobs: usize,
    count: usize,
    work: impl Fn(usize) -> T + Sync,
    mut done: impl FnMut(usize, Result<T, String>),
) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.min(count).max(1)).stack_size(STACK).build();
    let pool = pool.unwrap_or_else(|error| panic!("driver: no worker threads: {error}"));
    let (sender, receiver) = mpsc::channel();
    let next = std::sync::atomic::AtomicUsize::new(0);
    pool.in_place_scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            let sender = sender.clone();
            let (work, next) = (&work, &next);
            scope.spawn(move |_| {
                loop {
                    let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if index >= count || sender.send((index, guarded(|| work(index)))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut expected = 0;
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&expected) {
                done(expected, result);
                expected += 1;
            }
        }
    });
}

/// Keeps the default hook from printing: a panic is reported once, as an internal error.
pub fn quiet_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        PANIC_PLACE.with_borrow_mut(|last| *last = place);
    }));
}

/// Runs a task; a panic becomes its message.
pub fn guarded<T>(task: impl FnOnce() -> T) -> Result<T, String> {
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
    fn results_come_in_order_and_panics_stay_apart() {
        for jobs in [1, 4] {
            let mut seen = Vec::new();
            let work = |index: usize| {
                std::thread::sleep(std::time::Duration::from_millis((10 - index as u64) % 4));
                if index == 3 { panic!("three") } else { index * index }
            };
            in_order(jobs, 10, work, |index, result| seen.push((index, result.ok())));
            let expected: Vec<_> = (0..10).map(|index| (index, (index != 3).then_some(index * index))).collect();
            assert_eq!(seen, expected);
        }
    }
}
