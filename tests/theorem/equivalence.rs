//! Theorem 5.2 on random kernels, and what it says of each kind of defect.
//!
//! Up to the first interval between barriers that has a race, no thread sees what another does in the
//! same interval, so all orders of the threads agree: which defect ends a run, and in which
//! interval, does not depend on the schedule. A lock-step run stops at a barrier as soon as one thread is missing;
//! what that one would still have done in the interval is not seen.

use super::kernels::{Shape, kernel};
use super::lockstep::lock_step;
use super::random::Source;
use super::run::*;
use super::{Smallest, cases, interleaving};
use gpuvcc::ivl::ast::Program;
use gpuvcc::predicate;
use std::collections::{BTreeMap, BTreeSet};

/// Orders of the threads that are tried on each kernel.
const SCHEDULES: u64 = 3;

/// Both kinds of runs of a kernel; the end of the interleaved one, or why they disagree.
fn compare(program: &Program, case: u64, shape: Shape) -> Result<&'static str, String> {
    let threads = 2 + case % 3;
    let numbers: Vec<u64> = (0..threads).collect();
    let predicated = predicate::run(program).map_err(|errors| format!("refused: {errors:?}"))?;
    let mut shown = "";
    for schedule in 0..SCHEDULES {
        let memory = Memory::new(case);
        let mixed = interleaving::interleave(program, &numbers, case, schedule, memory.clone());
        // Each sweep of lock-step has an active thread in each loop that it goes round.
        let all = predicated.program.procedures[0].body.as_ref().map_or(0, |body| body.blocks.len());
        let fuel = if mixed.end == End::OutOfFuel { 1000 } else { (mixed.blocks + 2) * all };
        let locked = lock_step(program, &predicated, &numbers, case, memory, fuel);
        agree(&mixed, &locked, shape).map_err(|reason| {
            let ends = [&mixed, &locked].map(|run| (run.end, run.interval, &run.races, &run.failed));
            format!("{reason}\n(threads {numbers:?}, order {schedule}; interleaved, lock-step: {ends:?})")
        })?;
        shown = match (mixed.end, mixed.failed.is_empty()) {
            (End::Terminated, true) => "correct",
            (End::Terminated, false) => "assertion",
            (End::Race, _) => "race",
            (End::Diverged, _) => "divergence",
            (End::Infeasible, _) => "infeasible",
            (End::OutOfFuel, _) => "endless",
        };
    }
    Ok(shown)
}

/// Invariants of the user stand at the heads of their loops in lock-step, so in an earlier interval, maybe.
fn agree(mixed: &Run, locked: &Run, shape: Shape) -> Result<(), String> {
    let check = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_string()) };
    check(mixed.end != End::Infeasible && locked.end != End::Infeasible, "a well-formed kernel is infeasible")?;
    if mixed.end == End::OutOfFuel {
        // A lock-step run that ends ends earlier only with a defect.
        let short = locked.blocks <= interleaving::FUEL;
        return check(!(locked.is_correct() && short), "only the interleaved run goes on");
    }
    let whole = |run: &Run| run.failed.iter().filter(|failed| failed.0 < run.interval).copied().collect::<Vec<_>>();
    if mixed.interval == locked.interval && !shape.invariants {
        check(whole(mixed) == whole(locked), "different assertions fail before the last interval")?;
    }
    // What a race makes a thread read may well keep it in a loop for ever.
    if (mixed.end, locked.end, mixed.interval) == (End::Race, End::OutOfFuel, locked.interval) {
        return Ok(());
    }
    check(locked.end != End::OutOfFuel, "only the lock-step run goes on")?;
    // The theorem itself.
    check(mixed.is_correct() == locked.is_correct(), "only one of the runs is correct")?;
    match (mixed.end, locked.end) {
        (End::Terminated, End::Terminated) => {
            check(mixed.interval == locked.interval, "different numbers of barriers")?;
            check(mixed.memory == locked.memory, "different memory at the end")?;
            let same = |(a, b): (&Execution, &Execution)| a.trace == b.trace;
            check(mixed.threads.iter().zip(&locked.threads).all(same), "a thread did something else")?;
            let without_interval = |run: &Run| run.failed.iter().map(|failed| (failed.1, failed.2)).collect();
            let [one, other]: [BTreeSet<_>; 2] = [without_interval(mixed), without_interval(locked)];
            check(one == other, "different assertions fail")?;
            check(shape.invariants || mixed.failed == locked.failed, "assertions fail in different intervals")
        }
        (End::Race, End::Race) => check(mixed.interval == locked.interval, "races in different intervals"),
        (End::Race, End::Diverged) => check(mixed.interval == locked.interval, "defects in different intervals"),
        (End::Diverged, End::Diverged) => {
            check(mixed.interval == locked.interval, "divergence in different intervals")?;
            check(shape.invariants || locked.failed.is_subset(&mixed.failed), "an assertion fails in lock-step only")
        }
        (a, b) => Err(format!("the runs end as {a:?} and {b:?}")),
    }
}

/// Compares runs of many kernels, of which enough have to show each of these.
#[track_caller]
fn on_kernels(number: u64, shape: Shape, wanted: &[&str]) {
    let mut smallest = Smallest::default();
    let mut shown: BTreeMap<&str, u64> = BTreeMap::new();
    for case in 0..number {
        let program = kernel(&mut Source::new(mix(&[case])), shape);
        match compare(&program, case, shape) {
            Ok(end) => *shown.entry(end).or_default() += 1,
            Err(reason) => smallest.add(case, &program, &reason),
        }
    }
    smallest.fail_if_any();
    eprintln!("{number} kernels: {shown:?}");
    for end in wanted {
        assert!(shown.get(end).copied().unwrap_or(0) * 50 > number, "too few kernels show `{end}`: {shown:?}");
    }
}

#[test]
fn kernels_without_arbitrary_values() {
    let shape =
        Shape { arbitrary: false, assertions: false, invariants: false, counted: false, barrier_invariants: false };
    on_kernels(cases(6000), shape, &["correct", "race", "divergence"]);
}

#[test]
fn kernels_with_havoc_choices_and_assertions() {
    let shape =
        Shape { arbitrary: true, assertions: true, invariants: false, counted: false, barrier_invariants: false };
    on_kernels(cases(6000), shape, &["correct", "race", "divergence", "assertion"]);
}

#[test]
fn invariants_at_heads_fail_exactly_where_they_failed_in_the_loop() {
    let shape =
        Shape { arbitrary: true, assertions: true, invariants: true, counted: false, barrier_invariants: false };
    on_kernels(cases(6000), shape, &["correct", "race", "divergence", "assertion"]);
}
