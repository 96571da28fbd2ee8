//! Executes a two-thread program with given values of the prelude's constants.

use crate::evaluate::{Store, evaluate};
use gpuvcc::ivl::ast::*;
use gpuvcc::twothread::TwoThread;
use std::collections::{BTreeMap, BTreeSet};

/// Values for what a program leaves open. Threads are 0 and 1.
pub trait Arbitrary {
    /// A thread comes to a checked access.
    fn access(&mut self, _thread: usize, _active: bool, _offset: u128) {}

    /// The value of a havocked variable, named without its suffix, in this block.
    fn value(&mut self, thread: usize, name: &Name, block: &Name, store: &Store) -> u128;
}

/// The access that is remembered.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// `_TRACKED_SITE`
    pub site: u128,
    /// The watched byte of the array `A`.
    pub offset: u128,
}

/// One run of a two-thread program.
pub struct Run<'a, A> {
    two: &'a TwoThread,
    watched: Watched,
    store: Store,
    arbitrary: A,
    failed: BTreeSet<String>,
}

impl<'a, A: Arbitrary> Run<'a, A> {
    /// The run before its first statement, with the private variables and ids of both threads.
    pub fn new(two: &'a TwoThread, threads: [Store; 2], watched: Watched, arbitrary: A) -> Self {
        let mut store = Store::new();
        for local in &two.implementation().locals {
            store.insert(local.name.clone(), 0);
        }
        for constant in &two.program.constants {
            store.insert(constant.variable.name.clone(), 0);
        }
        for global in &two.program.globals {
            store.insert(global.name.clone(), 1);
        }
        for (suffix, thread) in [1, 2].into_iter().zip(threads) {
            store.extend(thread.into_iter().map(|(name, value)| (format!("{name}${suffix}").into(), value)));
        }
        store.insert("_TRACKED_SITE".into(), watched.site);
        store.insert("_WATCHED_OFFSET_A".into(), watched.offset);
        Run { two, watched, store, arbitrary, failed: BTreeSet::new() }
    }

    /// Executes the program; the result names the kinds of assertions that fail, or those so far
    /// where the program does not end within `fuel` blocks.
    pub fn go(mut self, fuel: usize) -> Result<BTreeSet<String>, BTreeSet<String>> {
        let body = self.two.implementation();
        let blocks: BTreeMap<&Name, &Block> = body.blocks.iter().map(|block| (&block.label, block)).collect();
        let mut at = &body.blocks[0];
        for _ in 0..fuel {
            for stmt in &at.stmts {
                assert!(self.statement(stmt, &at.label), "an assumption fails in {}", at.label);
            }
            let Transfer::Goto(targets) = &at.transfer else { return Ok(self.failed) };
            let open = |target: &&Name| match blocks[target].stmts.first().map(|stmt| &stmt.kind) {
                Some(StmtKind::Assume(e)) if targets.len() > 1 => evaluate(e, &self.store) == 1,
                _ => true,
            };
            at = blocks[targets.iter().find(open).unwrap_or(targets.last().expect("a target"))];
        }
        Err(self.failed)
    }

    fn statement(&mut self, stmt: &Stmt, block: &Name) -> bool {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let values: Vec<u128> = pairs.iter().map(|(_, value)| evaluate(value, &self.store)).collect();
                self.store.extend(pairs.iter().map(|(name, _)| name.clone()).zip(values));
            }
            StmtKind::Havoc(names) => names.iter().for_each(|name| self.havoc(name, block)),
            StmtKind::Assume(e) => return evaluate(e, &self.store) == 1,
            StmtKind::Assert(e) => {
                if evaluate(e, &self.store) == 0 {
                    self.failed.insert(stmt.attributes[0].name.to_string());
                }
            }
            StmtKind::Call { procedure, args, results } => self.call(procedure, args, results, block),
            other => panic!("no plain Boogie: {other:?}"),
        }
        true
    }

    fn havoc(&mut self, name: &Name, block: &Name) {
        let (stem, suffix) = name.as_str().rsplit_once('$').expect("a copy for one thread");
        let thread = if suffix == "1" { 0 } else { 1 };
        let value = self.arbitrary.value(thread, &stem.into(), block, &self.store);
        self.store.insert(name.clone(), value);
    }

    fn call(&mut self, name: &Name, args: &[ExprRef], results: &[Name], block: &Name) {
        let procedure = self.two.program.procedures.iter().find(|procedure| procedure.name == *name).unwrap();
        let values: Vec<u128> = args.iter().map(|arg| evaluate(arg, &self.store)).collect();
        if !name.as_str().starts_with("BARRIER") {
            let (thread, offset) = if name.as_str().starts_with("LOG") { (0, values[2]) } else { (1, values[1]) };
            self.arbitrary.access(thread, values[0] == 1, offset);
            // The logging sets choose by themselves; they are made to choose the wanted byte.
            let at = u128::from((self.watched.offset as u64).wrapping_sub(offset as u64));
            self.store.insert("track".into(), u128::from(at < 4));
            self.store.insert("byte".into(), at);
        }
        self.store.extend(procedure.params.iter().map(|param| param.name.clone()).zip(values));
        for stmt in procedure.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts) {
            if !matches!(stmt.kind, StmtKind::Havoc(_)) {
                assert!(self.statement(stmt, block));
            }
        }
        for (result, formal) in results.iter().zip(&procedure.results) {
            self.store.insert(result.clone(), self.store[&formal.name]);
        }
    }
}
