//! Two-thread programs against lock-step runs of all threads, whose shared state is real.
//!
//! The two-thread program of two of the threads, started with their private state, where each load yields
//! what the thread loaded in the run, goes through the same two executions. So what they do wrong in the
//! run, to each other or alone, fails the assertion of that kind; and where the run comes to its end,
//! nothing else fails. With contents of arrays, their loads must have the values that memory really held. (That it finds the races of two threads for any other contents of shared state,
//! too, is tested in `tests/twothread/execution.rs`.)

use super::evaluate::Store;
use super::kernels::{Shape, kernel};
use super::lockstep::lock_step;
use super::program::{self, Arbitrary, Watched, unfold};
use super::random::Source;
use super::run::*;
use super::{Smallest, cases};
use gpuvcc::ivl::ast::*;
use gpuvcc::predicate::{self, Predicated};
use gpuvcc::twothread::prelude::{LOGGING_SETS, Prelude, WATCHED_BYTE, load};
use gpuvcc::twothread::{self, Options, Pair, TwoThread};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What the two threads could not compute in the run, then garbage.
pub struct Recorded<'p> {
    program: &'p Program,
    predicated: &'p Predicated,
    inputs: [VecDeque<u128>; 2],
    /// Whether the value given last was one of the inputs.
    is_real: bool,
}

impl<'p> Recorded<'p> {
    pub fn new(program: &'p Program, predicated: &'p Predicated, inputs: [Vec<u128>; 2]) -> Recorded<'p> {
        Recorded { program, predicated, inputs: inputs.map(VecDeque::from), is_real: false }
    }

    /// The id of a block where the thread may go, whether or not it is there.
    fn any_target(&self, block: &Name, thread: Execution) -> u128 {
        let original = blocks(self.program);
        let Transfer::Goto(targets) = &original[block].transfer else { panic!("{block} does not choose") };
        let target = open_targets(targets, &original, &thread)[0];
        let id = self.predicated.order.iter().position(|block| block.label == *target);
        id.expect("a target has an id") as u128
    }
}

impl Arbitrary for Recorded<'_> {
    fn value(&mut self, thread: usize, name: &Name, block: &Name, store: &Store) -> u128 {
        let copy = Thread::BOTH[thread];
        let ordered = self.predicated.order.iter().find(|ordered| ordered.label == *block);
        let activity = &ordered.expect("a block of the kernel").activity;
        let active = store[&activity.of(copy)] == 1;
        self.is_real = false;
        if active && let Some(value) = self.inputs[thread].pop_front() {
            self.is_real = true;
            return value;
        }
        if name.as_str().trim_end_matches('\'') != "v_next" {
            return 77;
        }
        let own = store.iter().filter(|(name, _)| name.thread() == Some(copy));
        let own = own.map(|(name, value)| (name.shared(), *value));
        let mut thread = Execution::new(0, 0, &[]);
        thread.store = own.collect();
        self.any_target(block, thread)
    }

    fn is_real(&self, _thread: usize, _block: &Name, _store: &Store) -> bool {
        self.is_real
    }
}

/// What a pair of threads did.
struct Two<'r> {
    program: &'r Program,
    predicated: &'r Predicated,
    two: &'r TwoThread,
    /// Private stores at the start, and what came of them.
    threads: [(Store, &'r Execution); 2],
}

impl Two<'_> {
    /// Bytes worth watching: where accesses that overlap may start, some that one thread accesses alone, and
    /// one that nobody does.
    fn watched(&self) -> Vec<u128> {
        let start = |event: &Event| match event {
            Event::Load(at, _) | Event::Store(at, _) => Some(*at),
            Event::Barrier(_) => None,
        };
        let starts: BTreeSet<u64> =
            self.threads.iter().flat_map(|(_, thread)| &thread.trace).filter_map(start).collect();
        let [first, second] =
            [0, 1].map(|thread| bytes(self.threads[thread].1)).map(|(reads, writes)| &reads | &writes);
        let (common, own): (Vec<u64>, Vec<u64>) =
            starts.into_iter().partition(|at| first.contains(at) && second.contains(at));
        common.into_iter().chain(own.into_iter().take(2)).chain([u64::from(u32::MAX)]).map(u128::from).collect()
    }

    /// All kinds of assertions that fail, in either order of the threads, whatever access is watched.
    /// With `complete`, the program has to end.
    fn failures(&self, complete: bool) -> BTreeSet<String> {
        let watched = self.watched();
        // Behind the end of the run there is only garbage.
        let fuel = if complete { 20_000 } else { 500 };
        let mut failed = BTreeSet::new();
        for order in [[0, 1], [1, 0]] {
            for site in self.two.sites.iter().filter(|site| site.checked) {
                for &offset in &watched {
                    let stores = order.map(|thread| self.threads[thread].0.clone());
                    let inputs = order.map(|thread| self.threads[thread].1.inputs.clone());
                    let recorded = Recorded::new(self.program, self.predicated, inputs);
                    let watched = Watched { site: u128::from(site.number), offset };
                    match program::Run::new(self.two, stores, watched, recorded).go(fuel) {
                        Ok(kinds) => failed.extend(kinds),
                        Err(kinds) if !complete => failed.extend(kinds),
                        Err(_) => panic!("the two-thread program goes on"),
                    }
                }
            }
        }
        failed
    }
}

/// Bytes that a thread reads and writes.
fn bytes(thread: &Execution) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
    for event in &thread.trace {
        match *event {
            Event::Load(at, _) => reads.extend(at..at + 4),
            Event::Store(at, _) => writes.extend(at..at + 4),
            Event::Barrier(_) => {}
        }
    }
    (reads, writes)
}

fn compare(failed: &BTreeSet<String>, expected: &BTreeSet<&str>, complete: bool) -> Result<(), String> {
    let failed: BTreeSet<&String> = failed.iter().filter(|kind| *kind != "contents" || complete).collect();
    let missed = expected.iter().any(|kind| !failed.contains(&kind.to_string()));
    let more = complete && failed.iter().any(|kind| !expected.contains(kind.as_str()));
    if missed || more { Err(format!("expected {expected:?}, the two-thread program fails {failed:?}")) } else { Ok(()) }
}

/// Blocks that the lock-step run may visit.
const FUEL: usize = 5000;

/// Blocks that its threads may execute: the two-thread program is run for each access and byte.
const LARGEST: usize = 60;

/// Two threads of one block; the kinds of defects that the run has for them.
fn same_block(
    program: &Program,
    predicated: &Predicated,
    (prelude, options): (&Prelude, &Options),
    case: u64,
) -> Result<Vec<&'static str>, String> {
    let numbers = [0, 1, 2];
    let run = lock_step(program, predicated, &numbers, case, Memory::new(case), FUEL);
    if run.end == End::OutOfFuel || run.blocks > LARGEST {
        return Ok(vec!["large"]);
    }
    let mut two = twothread::run(predicated, prelude, Pair::SameBlock, options).expect("translates");
    unfold(&mut two.program);
    let pair = [(0, 1), (0, 2), (1, 2)][case as usize % 3];
    let locals = &body(&predicated.program).locals;
    let thread = |number: usize| (Execution::new(numbers[number], case, locals).store, &run.threads[number]);
    let complete = run.end == End::Terminated;
    let failed = Two { program, predicated, two: &two, threads: [thread(pair.0), thread(pair.1)] }.failures(complete);
    let mut expected = BTreeSet::new();
    if run.end == End::Race && run.races.contains(&pair) {
        expected.insert("race");
    }
    if run.end == End::Diverged && run.split.0.contains(&pair.0) != run.split.0.contains(&pair.1) {
        expected.insert("barrier_divergence");
    }
    if run.failed.iter().any(|(_, thread, _)| [pair.0, pair.1].contains(thread)) {
        expected.insert("thread");
    }
    compare(&failed, &expected, complete).map_err(|reason| format!("threads {pair:?} of {numbers:?}: {reason}"))?;
    Ok(if expected.is_empty() && complete { vec!["correct"] } else { expected.into_iter().collect() })
}

/// Two threads of two blocks, of which the second runs after the first.
fn two_blocks(
    program: &Program,
    predicated: &Predicated,
    (prelude, options): (&Prelude, &Options),
    case: u64,
) -> Result<Vec<&'static str>, String> {
    let numbers = [0, 1];
    let first = lock_step(program, predicated, &numbers, case, Memory::new(case), FUEL);
    let second = lock_step(program, predicated, &numbers, case + 1, first.memory.clone(), FUEL);
    let large = first.blocks.max(second.blocks) > LARGEST;
    if first.end != End::Terminated || second.end != End::Terminated || large {
        return Ok(Vec::new());
    }
    let mut two = twothread::run(predicated, prelude, Pair::DifferentBlocks, options).expect("translates");
    unfold(&mut two.program);
    let locals = &body(&predicated.program).locals;
    let (a, b) = (case as usize % 2, case as usize / 2 % 2);
    let threads = [
        (Execution::new(numbers[a], case, locals).store, &first.threads[a]),
        (Execution::new(numbers[b], case + 1, locals).store, &second.threads[b]),
    ];
    let [(reads, writes), (other_reads, other_writes)] = [bytes(threads[0].1), bytes(threads[1].1)];
    let mut failed = Two { program, predicated, two: &two, threads }.failures(true);
    let mut expected = BTreeSet::new();
    let all = |run: &Run| {
        let each = run.threads.iter().map(bytes);
        each.fold((BTreeSet::new(), BTreeSet::new()), |(reads, writes), more| (&reads | &more.0, &writes | &more.1))
    };
    let (one, other) = (all(&first), all(&second));
    if !one.1.is_disjoint(&(&other.0 | &other.1)) || !one.0.is_disjoint(&other.1) {
        // Some threads of the two blocks race, and who loads what they store may be one of these two.
        failed.remove("contents");
    }
    if !writes.is_disjoint(&other_writes) || !writes.is_disjoint(&other_reads) || !reads.is_disjoint(&other_writes) {
        expected.insert("race");
    }
    let fails = |run: &Run, number: usize| run.failed.iter().any(|(_, thread, _)| *thread == number);
    if fails(&first, a) || fails(&second, b) {
        expected.insert("thread");
    }
    compare(&failed, &expected, true).map_err(|reason| format!("threads {a} and {b} of two blocks: {reason}"))?;
    Ok(if expected.is_empty() { vec!["correct between blocks"] } else { expected.into_iter().collect() })
}

#[track_caller]
fn on_kernels(number: u64, prelude: &str, contents: bool, barrier_invariants: bool) {
    let options = Options { contents, ..Options::default() };
    let prelude = load(prelude).expect("ships");
    let mut smallest = Smallest::default();
    let mut shown: BTreeMap<&str, u64> = BTreeMap::new();
    for case in 0..number {
        let program = kernel(
            &mut Source::new(mix(&[case, 9])),
            Shape { arbitrary: !contents, assertions: true, invariants: false, counted: contents, barrier_invariants },
        );
        let predicated = predicate::run(&program).expect("a kernel");
        for result in [
            same_block(&program, &predicated, (&prelude, &options), case),
            two_blocks(&program, &predicated, (&prelude, &options), case),
        ] {
            match result {
                Ok(kinds) => kinds.into_iter().for_each(|kind| *shown.entry(kind).or_default() += 1),
                Err(reason) => smallest.add(case, &program, &reason),
            }
        }
    }
    smallest.fail_if_any();
    eprintln!("{number} kernels: {shown:?}");
    for kind in ["race", "barrier_divergence", "thread", "correct"] {
        assert!(shown.get(kind).copied().unwrap_or(0) * 25 > number, "too few kernels show `{kind}`: {shown:?}");
    }
}

#[test]
fn watched_byte_fails_as_the_run_does() {
    on_kernels(cases(100), WATCHED_BYTE, false, false);
}

#[test]
fn logging_sets_fail_as_the_run_does() {
    on_kernels(cases(100), LOGGING_SETS, false, false);
}

#[test]
fn contents_are_what_memory_held() {
    on_kernels(cases(300), WATCHED_BYTE, true, false);
    let foreseen = program::FORESEEN.load(std::sync::atomic::Ordering::Relaxed);
    assert!(foreseen > cases(300), "only {foreseen} loads had a value that was told");
}

#[test]
fn barrier_invariants_hold_behind_the_barrier() {
    on_kernels(cases(300), WATCHED_BYTE, true, true);
}
