//! Where the threads of a block part at barriers, and which barriers the whole block comes to.
//!
//! Input: traces of some threads of a launch. Output: pairs of threads that part; the sequences of
//! barriers after which something can happen. Establishes: two threads that part passed the same
//! barriers before, then one arrives at a barrier and the other is at another one, or has exited; no
//! thread among those given stays away from a barrier of a reached sequence. Relies on:
//! [`super::thread`]. Reference: `bar.sync`, `barrier.sync` (`.aligned`), `exit`, `trap`.

use super::compiled::Compiled;
use super::conflict::Traced;
use super::thread::{End, Histories};
use std::collections::{BTreeMap, BTreeSet};

/// Two threads of a block that part at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Parting {
    /// The thread that arrives, and the barrier instruction.
    pub arrives: (usize, u32),
    /// The thread that does not, and the barrier where it is instead; `None` if it has exited.
    pub absent: (usize, Option<u32>),
    /// Barriers that both passed before.
    pub phase: u32,
}

/// `%ctaid` of a block, and a sequence of barriers that all its threads may have passed.
pub type ReachedHistories = BTreeSet<([u32; 3], u32)>;

/// Of the threads that passed a sequence of barriers: who goes on to which, who does not.
#[derive(Default)]
struct Junction {
    /// A thread for each barrier instruction that is next.
    next: BTreeMap<u32, usize>,
    /// A thread that has exited.
    exited: Option<usize>,
    /// Whether the launch failed in some thread.
    trapped: bool,
}

/// By block, length of the sequence, and the sequence.
type Junctions = BTreeMap<([u32; 3], u32, u32), Junction>;

fn junctions(threads: &[Traced], histories: &Histories) -> Junctions {
    let mut junctions = Junctions::new();
    for (number, thread) in threads.iter().enumerate() {
        let (mut history, mut length) = (thread.trace.history, histories.length(thread.trace.history));
        let last = junctions.entry((thread.ids.ctaid, length, history)).or_default();
        match thread.trace.end {
            End::Exited => _ = last.exited.get_or_insert(number),
            End::Trapped => last.trapped = true,
            _ => {}
        }
        while let Some((parent, barrier)) = histories.split(history) {
            length -= 1;
            let junction = junctions.entry((thread.ids.ctaid, length, parent)).or_default();
            junction.next.entry(barrier).or_insert(number);
            history = parent;
        }
    }
    junctions
}

/// Whether a barrier waits for threads that have exited: where it names its count, it always does.
fn waits_for_exited(kernel: &Compiled, barrier: u32, exited_ok: bool) -> bool {
    !exited_ok || kernel.barriers[barrier as usize].has_count
}

/// The first parting in each block.
pub fn find_partings(kernel: &Compiled, threads: &[Traced], histories: &Histories, exited_ok: bool) -> Vec<Parting> {
    let parting = |(&(_, phase, _), junction): (&([u32; 3], u32, u32), &Junction)| {
        let mut next = junction.next.iter().map(|(&barrier, &thread)| (thread, barrier));
        let arrives = next.next()?;
        let absent = match next.next() {
            Some((thread, barrier)) => (thread, Some(barrier)),
            None => (junction.exited.filter(|_| waits_for_exited(kernel, arrives.1, exited_ok))?, None),
        };
        Some(Parting { arrives, absent, phase })
    };
    junctions(threads, histories).iter().filter_map(parting).collect()
}

/// The sequences of barriers that no thread keeps its block from passing.
pub fn reached_histories(
    kernel: &Compiled,
    threads: &[Traced],
    histories: &Histories,
    exited_ok: bool,
) -> ReachedHistories {
    let aligned = |barrier: u32| kernel.barriers[barrier as usize].aligned;
    let mut reached: ReachedHistories = threads.iter().map(|thread| (thread.ids.ctaid, 0)).collect();
    // Shorter sequences come first.
    for (&(block, _, history), junction) in &junctions(threads, histories) {
        if !reached.contains(&(block, history)) || junction.trapped {
            continue;
        }
        let completes = |barrier: &&u32| junction.exited.is_none() || !waits_for_exited(kernel, **barrier, exited_ok);
        for &barrier in junction.next.keys().filter(completes) {
            // Threads at two barriers pass them together only if neither is `.aligned`.
            let meets = |other: &u32| *other == barrier || !aligned(barrier) && !aligned(*other);
            if junction.next.keys().all(meets) {
                reached.extend(histories.child(history, barrier).map(|longer| (block, longer)));
            }
        }
    }
    reached
}
