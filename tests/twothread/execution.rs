//! Two-thread programs, executed: for random kernels and two threads, some assertion fails for some
//! value of the prelude's constants exactly when the threads, each alone, do what races or diverges.

use super::alone::{self, Event, Trace, initial, loaded};
use super::evaluate::Store;
use super::program::{Arbitrary, Run, Watched, unfold};
use super::random::{Source, kernel};
use gpuvcc::ivl::ast::*;
use gpuvcc::predicate;
use gpuvcc::twothread::prelude::{LOGGING_SETS, Prelude, WATCHED_BYTE, load};
use gpuvcc::twothread::{self, Options, Pair, TwoThread};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Loads are all that is arbitrary in these kernels; the thread alone knows what it loaded.
#[derive(Default)]
pub struct Loads {
    /// Accesses so far and last index, for each thread.
    accesses: [(u128, Option<u128>); 2],
}

impl Arbitrary for Loads {
    fn access(&mut self, thread: usize, active: bool, offset: u128) {
        let state = &mut self.accesses[thread];
        *state = (state.0 + u128::from(active), active.then_some(offset / 4));
    }

    fn value(&mut self, thread: usize, _: &Name, _: &Name, _: &Store) -> u128 {
        let (count, index) = self.accesses[thread];
        index.map_or(99, |index| loaded(index, count))
    }
}

/// What a thread has at the start.
pub fn store_of(program: &Program, number: u128) -> Store {
    let locals = &program.procedures[0].body.as_ref().unwrap().locals;
    let value = |(index, local): (u128, &Variable)| (local.name.clone(), initial(number, index, &local.ty));
    let thread = (Name::from("tid.x"), number);
    (0..).zip(locals).map(value).chain([thread]).collect()
}

/// One run; the result names the kinds of assertions that fail.
fn run(two: &TwoThread, program: &Program, numbers: [u128; 2], site: u128, offset: u128) -> BTreeSet<String> {
    let stores = numbers.map(|number| store_of(program, number));
    let run = Run::new(two, stores, Watched { site, offset }, Loads::default());
    run.go(20_000).expect("the threads alone terminate, so they do together")
}

/// Accesses (interval, index, is store) of a thread, and its barriers.
fn accesses(trace: &Trace, barriers_count: bool) -> (Vec<(usize, u128, bool)>, Vec<u32>) {
    let (mut accesses, mut barriers) = (Vec::new(), Vec::new());
    for event in trace {
        let interval = if barriers_count { barriers.len() } else { 0 };
        match *event {
            Event::Load(index) => accesses.push((interval, index, false)),
            Event::Store(index, _) => accesses.push((interval, index, true)),
            Event::Barrier(name) => barriers.push(name),
        }
    }
    (accesses, barriers)
}

/// All kinds of assertions that fail for some constants, in either order of the threads.
fn failures(two: &TwoThread, program: &Program, numbers: [u128; 2], traces: &[Trace; 2]) -> BTreeSet<String> {
    let mut failed = BTreeSet::new();
    for (numbers, trace) in [(numbers, &traces[0]), ([numbers[1], numbers[0]], &traces[1])] {
        let indices: BTreeSet<u128> = accesses(trace, true).0.iter().map(|access| access.1).collect();
        for index in indices.into_iter().chain([u128::from(u32::MAX)]) {
            for site in 0..two.sites.len() as u128 {
                failed.extend(run(two, program, numbers, site, 4 * index));
            }
        }
    }
    failed
}

fn check(seed: u64, prelude: &Prelude) -> Result<(), TestCaseError> {
    let program = kernel(&mut Source::new(seed), true);
    let numbers = [seed as u128 % 4, (seed as u128 % 4 + 1 + seed as u128 / 4 % 3) % 4];
    let (Some(first), Some(second)) = (alone::alone(&program, numbers[0]), alone::alone(&program, numbers[1])) else {
        return Ok(());
    };
    let traces = [first, second];
    let predicated = predicate::run(&program).expect("a kernel");
    for pair in [Pair::SameBlock, Pair::DifferentBlocks] {
        let mut two = twothread::run(&predicated, prelude, pair, &Options::default()).expect("translates");
        unfold(&mut two.program);
        let same_block = pair == Pair::SameBlock;
        let [(first, first_barriers), (second, second_barriers)] =
            [&traces[0], &traces[1]].map(|trace| accesses(trace, same_block));
        let races = first.iter().any(|a| second.iter().any(|b| a.0 == b.0 && a.1 == b.1 && (a.2 || b.2)));
        // A kernel without stores has no LOG calls, from which this test learns what is loaded.
        if two.checked_arrays.is_empty() {
            prop_assert!(!races);
            continue;
        }
        let failed = failures(&two, &program, numbers, &traces);
        let diverges = failed.contains("barrier_divergence");
        prop_assert!(same_block || !diverges);
        if same_block && diverges {
            continue;
        }
        prop_assert!(!same_block || first_barriers == second_barriers, "missed divergence in {:#?}", program);
        prop_assert_eq!(failed.contains("race"), races, "{:?} {:?} in {:#?}", pair, traces, program);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn watched_byte_finds_exactly_the_races(seed: u64) {
        check(seed, &load(WATCHED_BYTE).expect("ships"))?;
    }

    #[test]
    fn logging_sets_find_exactly_the_races(seed: u64) {
        check(seed, &load(LOGGING_SETS).expect("ships"))?;
    }
}
