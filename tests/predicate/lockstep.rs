//! Two threads in lock-step through the predicated kernel do exactly what each does alone in the
//! original: the equivalence theorem on random kernels, with all three refinements on.

use super::alone::{Thread, Trace, alone, blocks};
use super::evaluate::evaluate;
use super::random::{Source, kernel};
use gpuvcc::ivl::ast::*;
use gpuvcc::predicate::{self, Predicated};
use proptest::prelude::*;
use std::collections::BTreeMap;

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
        let program = kernel(&mut Source::new(seed), true);
        let numbers = [seed as u128 % 4, 1 + seed as u128 / 4 % 4, 2];
        let expected: Option<Vec<Trace>> = numbers.iter().map(|&number| alone(&program, number)).collect();
        let Some(expected) = expected else { return Ok(()) };
        let predicated = predicate::run(&program).expect("a kernel");
        prop_assert_eq!(together(&predicated, &numbers), expected, "{:#?}", program);
    }
}
