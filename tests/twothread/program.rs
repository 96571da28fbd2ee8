//! Executes a two-thread program with given values of the prelude's constants.

use super::evaluate::{Store, evaluate};
use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::claim::{Claim, Premise};
use gpuvcc::ivl::event::as_call;
use gpuvcc::ivl::visit;
use gpuvcc::twothread::TwoThread;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// Loads whose value was told by what came before.
pub static FORESEEN: AtomicU64 = AtomicU64::new(0);

/// Values for what a program leaves open. Threads are 0 and 1.
pub trait Arbitrary {
    /// A thread comes to a checked access.
    fn access(&mut self, _thread: usize, _active: bool, _offset: u128) {}

    /// Control comes to a block.
    fn block(&mut self, _label: &Name, _store: &Store) {}

    /// Variables are about to be havocked.
    fn havocs(&mut self, _names: &[Name]) {}

    /// The value of a havocked variable, not of one thread, in this block.
    fn value(&mut self, thread: usize, name: &Name, block: &Name, store: &Store) -> u128;

    /// Whether the value given last is what the thread really loaded.
    fn is_real(&self, _thread: usize, _block: &Name, _store: &Store) -> bool {
        false
    }
}

/// The name that both threads have a copy of, and the thread, 0 or 1.
fn copy(name: &Name) -> (Name, usize) {
    (name.shared(), name.thread().expect("a copy for one thread").index())
}

/// A word for what fails; what each thread asserts is "thread".
fn what(claim: &Claim) -> String {
    match claim {
        Claim::Formula | Claim::BarrierInvariant(_) => "thread".to_string(),
        _ => claim.attributes()[0].name.to_string(),
    }
}

fn is_epoch(name: &Name) -> bool {
    name.as_str().starts_with("epoch.")
}

fn is_contents(function: &Name) -> bool {
    function.as_str().starts_with(gpuvcc::twothread::contents::PREFIX)
}

fn reads_contents(e: &ExprRef) -> bool {
    let is_call = matches!(&e.kind, ExprKind::Call(name, _) if is_contents(name));
    is_call || gpuvcc::ivl::visit::children(e).into_iter().any(reads_contents)
}

/// Puts the bodies of the prelude's functions in place of their calls.
pub fn unfold(program: &mut Program) {
    let functions = program.functions.clone();
    let bodies = program.procedures.iter_mut().filter_map(|procedure| procedure.body.as_mut());
    for stmt in bodies.flat_map(|body| &mut body.blocks).flat_map(|block| &mut block.stmts) {
        *stmt = visit::map_stmt(stmt, &mut |e| unfolded(e, &functions));
    }
}

fn unfolded(e: &ExprRef, functions: &[Function]) -> ExprRef {
    visit::map_expr(e, &mut |e| {
        let ExprKind::Call(name, args) = &e.kind else { return None };
        let function = functions.iter().find(|function| function.name == *name)?;
        let names = function.params.iter().map(|(name, _)| name.clone());
        let args = args.iter().map(|arg| unfolded(arg, functions));
        Some(visit::substitute(function.body.as_ref()?, &names.zip(args).collect()))
    })
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
    /// What `contents.A.4` is, by epoch and offset: the first value that a thread really loaded.
    contents: BTreeMap<(Name, u128, u128), u128>,
    epochs: u128,
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
        // Epochs of two blocks are two.
        for local in two.implementation().locals.iter().filter(|local| is_epoch(&local.name)) {
            store.insert(local.name.clone(), u128::from(local.name.thread() == Some(Thread::Second)));
        }
        for global in &two.program.globals {
            store.insert(global.name.clone(), 1);
        }
        for (copy, thread) in Thread::BOTH.into_iter().zip(threads) {
            store.extend(thread.into_iter().map(|(name, value)| (name.of(copy), value)));
        }
        store.insert("_TRACKED_SITE".into(), watched.site);
        store.insert("_WATCHED_OFFSET_A".into(), watched.offset);
        Run { two, watched, store, arbitrary, failed: BTreeSet::new(), contents: BTreeMap::new(), epochs: 2 }
    }

    /// Executes the program; the result names the kinds of assertions that fail, or those so far
    /// where the program does not end within `fuel` blocks.
    pub fn go(mut self, fuel: usize) -> Result<BTreeSet<String>, BTreeSet<String>> {
        let body = self.two.implementation();
        let blocks: BTreeMap<&Name, &Block> = body.blocks.iter().map(|block| (&block.label, block)).collect();
        let mut at = &body.blocks[0];
        for _ in 0..fuel {
            self.arbitrary.block(&at.label, &self.store);
            for stmt in &at.stmts {
                if !self.statement(stmt, &at.label) {
                    // Another thread failed to assert what is assumed of it.
                    let is_instance = matches!(stmt.kind, StmtKind::Assume(Premise::Instance(_), _));
                    assert!(is_instance, "an assumption fails in {}", at.label);
                    return Err(self.failed);
                }
            }
            let Transfer::Goto(targets) = &at.transfer else { return Ok(self.failed) };
            let open = |target: &&Name| match blocks[target].stmts.first().map(|stmt| &stmt.kind) {
                Some(StmtKind::Assume(_, e)) if targets.len() > 1 => evaluate(e, &self.store) == 1,
                _ => true,
            };
            at = blocks[targets.iter().find(open).unwrap_or(targets.last().expect("a target"))];
        }
        Err(self.failed)
    }

    fn statement(&mut self, stmt: &Stmt, block: &Name) -> bool {
        match &stmt.kind {
            StmtKind::Assign(pairs) if pairs.iter().any(|(_, value)| reads_contents(value)) => {
                pairs.iter().for_each(|(name, value)| self.load(name, value, block));
            }
            StmtKind::Assign(pairs) => {
                let values: Vec<u128> = pairs.iter().map(|(_, value)| evaluate(value, &self.store)).collect();
                self.store.extend(pairs.iter().map(|(name, _)| name.clone()).zip(values));
            }
            StmtKind::Havoc(names) => {
                self.arbitrary.havocs(names);
                names.iter().for_each(|name| self.havoc(name, block));
            }
            StmtKind::Assume(_, e) => return evaluate(e, &self.store) == 1,
            StmtKind::Assert(claim, e) => {
                if evaluate(e, &self.store) == 0 {
                    self.failed.insert(what(claim));
                }
            }
            StmtKind::Call { procedure, args, results } => self.call(procedure, args, results, block),
            StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => {
                let (call, _) = as_call(&stmt.kind, &[]);
                self.statement(&Stmt { kind: call.into_owned(), ..stmt.clone() }, block);
            }
            other => panic!("no plain Boogie: {other:?}"),
        }
        true
    }

    fn havoc(&mut self, name: &Name, block: &Name) {
        if is_epoch(name) {
            self.epochs += 1;
            self.store.insert(name.clone(), self.epochs);
            return;
        }
        if name.as_str().starts_with("mixed.") {
            return;
        }
        let (stem, thread) = copy(name);
        let value = self.arbitrary.value(thread, &stem, block, &self.store);
        self.store.insert(name.clone(), value);
    }

    /// A load of an array with contents: the value has to be what the thread really loaded, where that is known.
    /// What is not modelled may be just this.
    fn load(&mut self, dst: &Name, value: &ExprRef, block: &Name) {
        let (stem, thread) = copy(dst);
        let loaded = self.arbitrary.value(thread, &stem, block, &self.store);
        let known = self.arbitrary.is_real(thread, block, &self.store);
        let before = self.contents.len();
        let mixed = Name::from(format!("mixed.bv{}", gpuvcc::ivl::bv::width(value))).of(Thread::BOTH[thread]);
        self.store.insert(mixed, loaded);
        let value = self.with_contents(value, known.then_some(loaded));
        if known && evaluate(&value, &self.store) != loaded {
            self.failed.insert("contents".to_string());
        }
        if known && self.contents.len() == before {
            FORESEEN.fetch_add(1, Ordering::Relaxed);
        }
        self.store.insert(dst.clone(), loaded);
    }

    /// The expression with the contents that it reads; those not met before are `loaded`.
    fn with_contents(&mut self, e: &ExprRef, loaded: Option<u128>) -> ExprRef {
        if let ExprKind::Ite(condition, then, otherwise) = &e.kind {
            // Only what is looked at has been loaded.
            let taken = evaluate(condition, &self.store) == 1;
            return self.with_contents(if taken { then } else { otherwise }, loaded);
        }
        match &e.kind {
            ExprKind::Call(name, args) if is_contents(name) => {
                let [epoch, offset] = [0, 1].map(|arg: usize| evaluate(&args[arg], &self.store));
                let key = (name.clone(), epoch, offset);
                let value = match loaded {
                    Some(loaded) => *self.contents.entry(key).or_insert(loaded),
                    None => 0,
                };
                gpuvcc::ivl::bv::literal(value, gpuvcc::ivl::bv::width(e))
            }
            _ => e.clone(),
        }
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
