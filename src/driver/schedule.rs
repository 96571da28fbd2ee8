//! Work on several kernels at once, with results in order.
//!
//! Establishes: neither the number of workers nor their speed changes what is handed on or in which
//! order; a panic in one task is an `Err` with its message and place, and does not stop the others. A worker that
//! has no kernel left leaves its job to those that have one.

use crate::jobs::{self, Job, Jobs};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Runs `work(0..count)` on as many threads as there are jobs, and hands each result, in order of its number, to
/// `done` as soon as all earlier ones are there. `Err` is the message of a panic.
pub fn in_order<T: Send>(
    jobs: &Jobs,
    count: usize,
    work: impl Fn(usize) -> T + Sync,
    mut done: impl FnMut(usize, Result<T, String>),
) {
    let taken: Vec<Job> = std::iter::from_fn(|| jobs.take()).take(count).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(taken.len().max(1)).stack_size(jobs::STACK).build();
    let pool = pool.unwrap_or_else(|error| panic!("driver: no worker threads: {error}"));
    let (sender, receiver) = mpsc::channel();
    let next = AtomicUsize::new(0);
    pool.in_place_scope(|scope| {
        for job in taken {
            let sender = sender.clone();
            let (work, next) = (&work, &next);
            scope.spawn(move |_| {
                let _job = job;
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send((index, jobs::guarded(|| work(index)))).is_err() {
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
            in_order(&Jobs::new(jobs), 10, work, |index, result| seen.push((index, result.ok())));
            let expected: Vec<_> = (0..10).map(|index| (index, (index != 3).then_some(index * index))).collect();
            assert_eq!(seen, expected);
        }
    }
}
