//! Two-thread programs, executed: for random kernels and two threads, some assertion fails for some
//! value of the prelude's constants exactly when the threads, each alone, do what races or diverges.

use crate::alone::{self, Event, Trace, initial, loaded};
use crate::evaluate::{Store, evaluate};
use crate::random::{Source, kernel};
use gpuvcc::ivl::ast::*;
use gpuvcc::predicate;
use gpuvcc::twothread::prelude::{LOGGING_SETS, Prelude, WATCHED_BYTE, load};
use gpuvcc::twothread::{self, Options, Pair, TwoThread};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What is fixed for one run.
struct Choice {
    numbers: [u128; 2],
    site: u128,
    offset: u128,
}

/// One run of a two-thread program.
struct Run<'a> {
    two: &'a TwoThread,
    choice: &'a Choice,
    store: Store,
    /// Accesses so far and last index, for each thread.
    accesses: [(u128, Option<u128>); 2],
    failed: BTreeSet<String>,
}

impl<'a> Run<'a> {
    fn new(two: &'a TwoThread, original: &Program, choice: &'a Choice) -> Run<'a> {
        let mut store = Store::new();
        let kernel_locals = &original.procedures[0].body.as_ref().unwrap().locals;
        for local in &two.implementation().locals {
            store.insert(local.name.clone(), 0);
        }
        for (index, local) in (0..).zip(kernel_locals) {
            for (thread, number) in [1, 2].into_iter().zip(choice.numbers) {
                store.insert(format!("{}${thread}", local.name).into(), initial(number, index, &local.ty));
            }
        }
        for constant in &two.program.constants {
            store.insert(constant.variable.name.clone(), 0);
        }
        for global in &two.program.globals {
            store.insert(global.name.clone(), 1);
        }
        store.insert("tid.x$1".into(), choice.numbers[0]);
        store.insert("tid.x$2".into(), choice.numbers[1]);
        store.insert("_TRACKED_SITE".into(), choice.site);
        store.insert("_WATCHED_OFFSET_A".into(), choice.offset);
        Run { two, choice, store, accesses: [(0, None); 2], failed: BTreeSet::new() }
    }

    /// Executes the program; the result names the kinds of assertions that fail.
    fn go(mut self) -> BTreeSet<String> {
        let body = self.two.implementation();
        let blocks: BTreeMap<&Name, &Block> = body.blocks.iter().map(|block| (&block.label, block)).collect();
        let mut at = &body.blocks[0];
        for _ in 0..20_000 {
            for stmt in &at.stmts {
                assert!(self.statement(stmt), "an assumption fails in {}", at.label);
            }
            let Transfer::Goto(targets) = &at.transfer else { return self.failed };
            let open = |target: &&Name| match blocks[target].stmts.first().map(|stmt| &stmt.kind) {
                Some(StmtKind::Assume(e)) if targets.len() > 1 => evaluate(e, &self.store) == 1,
                _ => true,
            };
            at = blocks[targets.iter().find(open).unwrap_or(targets.last().expect("a target"))];
        }
        panic!("the threads alone terminate, but not together");
    }

    fn statement(&mut self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let values: Vec<u128> = pairs.iter().map(|(_, value)| evaluate(value, &self.store)).collect();
                self.store.extend(pairs.iter().map(|(name, _)| name.clone()).zip(values));
            }
            StmtKind::Havoc(names) => names.iter().for_each(|name| self.havoc(name)),
            StmtKind::Assume(e) => return evaluate(e, &self.store) == 1,
            StmtKind::Assert(e) => {
                if evaluate(e, &self.store) == 0 {
                    self.failed.insert(stmt.attributes[0].name.to_string());
                }
            }
            StmtKind::Call { procedure, args, results } => self.call(procedure, args, results),
            other => panic!("no plain Boogie: {other:?}"),
        }
        true
    }

    /// Only loads are arbitrary in these kernels; the thread alone knows what it loaded.
    fn havoc(&mut self, name: &Name) {
        let thread = if name.as_str().ends_with("$1") { 0 } else { 1 };
        let (count, index) = self.accesses[thread];
        self.store.insert(name.clone(), index.map_or(99, |index| loaded(index, count)));
    }

    fn call(&mut self, name: &Name, args: &[ExprRef], results: &[Name]) {
        let procedure = self.two.program.procedures.iter().find(|procedure| procedure.name == *name).unwrap();
        let values: Vec<u128> = args.iter().map(|arg| evaluate(arg, &self.store)).collect();
        if !name.as_str().starts_with("BARRIER") {
            let (thread, offset) = if name.as_str().starts_with("LOG") { (0, values[2]) } else { (1, values[1]) };
            let state = &mut self.accesses[thread];
            let active = values[0] == 1;
            *state = (state.0 + values[0], active.then_some(offset / 4));
            // The logging sets choose by themselves; they are made to choose the wanted offset.
            self.store.insert("track".into(), u128::from(offset == self.choice.offset));
            self.store.insert("byte".into(), 0);
        }
        self.store.extend(procedure.params.iter().map(|param| param.name.clone()).zip(values));
        for stmt in procedure.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts) {
            if !matches!(stmt.kind, StmtKind::Havoc(_)) {
                assert!(self.statement(stmt));
            }
        }
        for (result, formal) in results.iter().zip(&procedure.results) {
            self.store.insert(result.clone(), self.store[&formal.name]);
        }
    }
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
                failed.extend(Run::new(two, program, &Choice { numbers, site, offset: 4 * index }).go());
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
        let two = twothread::run(&predicated, prelude, pair, &Options::default()).expect("translates");
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
