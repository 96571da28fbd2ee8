//! A thread alone in the kernel as written: the ground truth of the tests of stages 4 and 5.

use super::evaluate::{Store, evaluate};
use gpuvcc::ivl::ast::*;
use std::collections::BTreeMap;

/// What a thread did, in order.
pub type Trace = Vec<Event>;

/// One deed of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A load at an index.
    Load(u128),
    /// A store of a value at an index.
    Store(u128, u128),
    /// A barrier, named by the start of its span.
    Barrier(u32),
}

/// A thread with its private store.
pub struct Thread {
    pub store: Store,
    pub trace: Trace,
    accesses: u128,
}

/// What the `count`-th access of a thread yields if it is a load. Shared state is arbitrary: another
/// value each time, so that loops end.
pub fn loaded(index: u128, count: u128) -> u128 {
    (((index + 31 * count) * 40503) >> 3) % 64
}

/// Values of private variables at the start.
pub fn initial(thread: u128, index: u128, ty: &Type) -> u128 {
    if *ty == Type::Bool { thread % 2 } else { (thread * 5 + index * 3) % 8 }
}

impl Thread {
    pub fn new(number: u128, program: &Program) -> Thread {
        let locals = &program.procedures[0].body.as_ref().unwrap().locals;
        let value = |(index, local): (u128, &Variable)| (local.name.clone(), initial(number, index, &local.ty));
        let mut store: Store = (0..).zip(locals).map(value).collect();
        store.insert("tid.x".into(), number);
        Thread { store, trace: Vec::new(), accesses: 0 }
    }

    /// One statement; false when an assumption fails.
    pub fn step(&mut self, stmt: &Stmt) -> bool {
        let holds =
            |guard: &Option<ExprRef>, store: &Store| guard.as_ref().is_none_or(|guard| evaluate(guard, store) == 1);
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let values: Vec<u128> = pairs.iter().map(|(_, value)| evaluate(value, &self.store)).collect();
                self.store.extend(pairs.iter().map(|(name, _)| name.clone()).zip(values));
            }
            StmtKind::Assume(_, e) => return evaluate(e, &self.store) == 1,
            StmtKind::Load { dst, access } => {
                let index = evaluate(&access.offset, &self.store);
                let mut value = 99;
                if holds(&access.guard, &self.store) {
                    self.trace.push(Event::Load(index));
                    self.accesses += 1;
                    value = loaded(index, self.accesses);
                }
                self.store.insert(dst.clone(), value);
            }
            StmtKind::Store { value, access } => {
                if holds(&access.guard, &self.store) {
                    let index = evaluate(&access.offset, &self.store);
                    self.trace.push(Event::Store(index, evaluate(value, &self.store)));
                    self.accesses += 1;
                }
            }
            StmtKind::Barrier(barrier) => {
                if holds(&barrier.guard, &self.store) {
                    self.trace.push(Event::Barrier(stmt.span.start));
                }
            }
            other => panic!("not generated: {other:?}"),
        }
        true
    }
}

/// Blocks of the first procedure by label.
pub fn blocks(program: &Program) -> BTreeMap<&Name, &Block> {
    program.procedures[0].body.as_ref().unwrap().blocks.iter().map(|block| (&block.label, block)).collect()
}

const FUEL: usize = 300;

/// The trace of a thread alone in the original kernel; `None` when it does not end in time.
pub fn alone(program: &Program, number: u128) -> Option<Trace> {
    let blocks = blocks(program);
    let mut thread = Thread::new(number, program);
    let mut at = &program.procedures[0].body.as_ref().unwrap().blocks[0];
    for _ in 0..FUEL {
        for stmt in &at.stmts {
            assert!(thread.step(stmt));
        }
        let Transfer::Goto(targets) = &at.transfer else { return Some(thread.trace) };
        let possible = |target: &&Name| match blocks[target].stmts.first().map(|stmt| &stmt.kind) {
            Some(StmtKind::Assume(_, e)) => evaluate(e, &thread.store) == 1,
            _ => true,
        };
        at = blocks[targets.iter().find(possible).expect("siblings are complementary")];
    }
    None
}
