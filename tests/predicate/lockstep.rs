//! Two threads in lock-step through the predicated kernel do exactly what each does alone in the
//! original: the equivalence theorem on random kernels, with all three refinements on.

use crate::evaluate::{Store, evaluate};
use crate::random::{Source, kernel};
use gpuvcc::ivl::ast::*;
use gpuvcc::predicate::{self, Predicated};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What a thread did: stores, and offsets of loads.
type Trace = Vec<(u128, Option<u128>)>;

struct Thread {
    store: Store,
    trace: Trace,
}

impl Thread {
    fn new(number: u128, program: &Program) -> Thread {
        let locals = &program.procedures[0].body.as_ref().unwrap().locals;
        let mut store: Store =
            (0..).zip(locals).map(|(index, local)| (local.name.clone(), initial(number, index, local))).collect();
        store.insert("tid.x".into(), number);
        Thread { store, trace: Vec::new() }
    }

    /// One statement; false when an assumption fails.
    fn step(&mut self, stmt: &Stmt) -> bool {
        let active =
            |access: &Access, store: &Store| access.guard.as_ref().is_none_or(|guard| evaluate(guard, store) == 1);
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let values: Vec<u128> = pairs.iter().map(|(_, value)| evaluate(value, &self.store)).collect();
                self.store.extend(pairs.iter().map(|(name, _)| name.clone()).zip(values));
            }
            StmtKind::Assume(e) => return evaluate(e, &self.store) == 1,
            StmtKind::Load { dst, access } => {
                let offset = evaluate(&access.offset, &self.store);
                let value = if active(access, &self.store) {
                    self.trace.push((offset, None));
                    // Shared state is arbitrary: another value each time, so that loops end.
                    ((offset + 31 * self.trace.len() as u128) * 40503 >> 3) % 64
                } else {
                    99
                };
                self.store.insert(dst.clone(), value);
            }
            StmtKind::Store { value, access } => {
                if active(access, &self.store) {
                    let entry = (evaluate(&access.offset, &self.store), Some(evaluate(value, &self.store)));
                    self.trace.push(entry);
                }
            }
            other => panic!("not generated: {other:?}"),
        }
        true
    }
}

fn initial(thread: u128, index: u128, local: &Variable) -> u128 {
    if local.ty == Type::Bool { thread % 2 } else { (thread * 5 + index * 3) % 8 }
}

fn blocks(program: &Program) -> BTreeMap<&Name, &Block> {
    program.procedures[0].body.as_ref().unwrap().blocks.iter().map(|block| (&block.label, block)).collect()
}

const FUEL: usize = 300;

/// The trace of a thread alone in the original kernel; `None` when it does not end in time.
fn alone(program: &Program, number: u128) -> Option<Trace> {
    let blocks = blocks(program);
    let mut thread = Thread::new(number, program);
    let mut at = &program.procedures[0].body.as_ref().unwrap().blocks[0];
    for _ in 0..FUEL {
        for stmt in &at.stmts {
            assert!(thread.step(stmt));
        }
        let Transfer::Goto(targets) = &at.transfer else { return Some(thread.trace) };
        let possible = |target: &&Name| match blocks[target].stmts.first().map(|stmt| &stmt.kind) {
            Some(StmtKind::Assume(e)) => evaluate(e, &thread.store) == 1,
            _ => true,
        };
        at = blocks[targets.iter().find(possible).expect("siblings are complementary")];
    }
    None
}

/// The traces of several threads in lock-step; checks what the stage promises on the way.
fn together(predicated: &Predicated, numbers: &[u128]) -> Vec<Trace> {
    let program = &predicated.program;
    let by_label = blocks(program);
    let ids: BTreeMap<&Name, (u128, &Name)> =
        (0..).zip(&predicated.order).map(|(id, block)| (&block.label, (id, &block.activity))).collect();
    let mut threads: Vec<Thread> = numbers.iter().map(|&number| Thread::new(number, program)).collect();
    let mut at = &program.procedures[0].body.as_ref().unwrap().blocks[0];
    loop {
        for this in predicated.loops.iter().filter(|this| this.head == at.label) {
            for (fact, thread) in this.activity_facts.iter().flat_map(|fact| threads.iter().map(move |t| (fact, t))) {
                assert_eq!(evaluate(fact, &thread.store), 1, "fact {fact:?} at {}", at.label);
            }
        }
        let is_exit = predicated.loops.iter().any(|this| this.exit == at.label || this.back == at.label);
        let mut check = ids.get(&at.label).copied();
        for (index, stmt) in at.stmts.iter().enumerate() {
            let assigned_at = |thread: &Thread| check.map(|(id, _)| (id, thread.store[&predicated.active]));
            let before: Vec<_> = threads.iter().map(assigned_at).collect();
            for thread in &mut threads {
                // `back` needs one thread at the head; only `exit` needs all away from it.
                assert!(is_exit || thread.step(stmt));
            }
            if let Some((_, activity)) = check.filter(|_| assigns(stmt, check.unwrap().1)) {
                for (thread, before) in threads.iter().zip(before) {
                    let (id, active) = before.unwrap();
                    let active = if index == 1 && id == 0 { 0 } else { active };
                    assert_eq!(thread.store[activity], u128::from(active == id), "activity of {}", at.label);
                }
                check = None;
            }
        }
        let Transfer::Goto(targets) = &at.transfer else { break };
        at = match &targets[..] {
            [next] => by_label[next],
            [back, exit] => {
                let this = predicated.loops.iter().find(|this| this.back == *back && this.exit == *exit).unwrap();
                let at_head = |thread: &Thread| thread.store[&predicated.active] == u128::from(this.head_id);
                by_label[if threads.iter().any(at_head) { back } else { exit }]
            }
            other => panic!("not a jump of predicated code: {other:?}"),
        };
    }
    for thread in &threads {
        assert_eq!(thread.store[&predicated.active], u128::from(predicated.end_id));
    }
    threads.into_iter().map(|thread| thread.trace).collect()
}

fn assigns(stmt: &Stmt, name: &Name) -> bool {
    matches!(&stmt.kind, StmtKind::Assign(pairs) if pairs[0].0 == *name)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn lock_step_equals_each_thread_alone(seed: u64) {
        let program = kernel(&mut Source::new(seed), &mut |_| None);
        let numbers = [seed as u128 % 4, 1 + seed as u128 / 4 % 4, 2];
        let expected: Option<Vec<Trace>> = numbers.iter().map(|&number| alone(&program, number)).collect();
        let Some(expected) = expected else { return Ok(()) };
        let predicated = predicate::run(&program).expect("a kernel");
        prop_assert_eq!(together(&predicated, &numbers), expected, "{:#?}", program);
    }
}
