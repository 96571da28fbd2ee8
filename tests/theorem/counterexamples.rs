//! Why the theorem asks for well-formed kernels that terminate: the counterexamples of section 5. What
//! the verifier does, which takes shared state for arbitrary, finds the races of both.

use super::evaluate::Store;
use super::interleaving::interleave;
use super::lockstep::lock_step;
use super::program::{self, Arbitrary, Watched, unfold};
use super::random::{program, stmt};
use super::run::*;
use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv;
use gpuvcc::predicate;
use gpuvcc::span::Span;
use gpuvcc::twothread::prelude::{WATCHED_BYTE, load};
use gpuvcc::twothread::{self, Options, Pair};
use std::collections::BTreeSet;

const THREADS: [u64; 2] = [0, 1];

fn tid_is(number: u128) -> ExprRef {
    bv::eq(bv::var("tid.x", Type::Bv(32)), bv::literal(number, 32))
}

fn x0_is(value: u128) -> ExprRef {
    bv::eq(bv::var("x0", Type::Bv(32)), bv::literal(value, 32))
}

/// The shared variable of the examples.
fn v() -> Access {
    let offset = bv::literal(0, 64);
    Access { array: Name::from("A"), guard: None, offset, scale: 4, bytes: 4, strong: None, collective: None }
}

fn set_v(value: u128) -> Stmt {
    stmt(StmtKind::Store { value: bv::literal(value, 32), access: v() })
}

fn read_v() -> Stmt {
    stmt(StmtKind::Load { dst: "x0".into(), access: v() })
}

fn assume(e: ExprRef) -> Stmt {
    stmt(StmtKind::assume(e))
}

fn block(label: &str, stmts: Vec<Stmt>, targets: &[&str]) -> Block {
    let transfer = match targets {
        [] => Transfer::Return,
        _ => Transfer::Goto(targets.iter().map(|&target| target.into()).collect()),
    };
    Block { label: label.into(), stmts, transfer, span: Span::NONE, end: Span::NONE }
}

/// Ends of the runs under many orders of the threads.
fn ends(program: &Program) -> BTreeSet<String> {
    let run = |schedule| interleave(program, &THREADS, 1, schedule, Memory::default());
    (0..200).map(|schedule| format!("{:?}", run(schedule).end)).collect()
}

/// Every load yields the same.
struct Always(u128);

impl Arbitrary for Always {
    fn value(&mut self, _: usize, _: &Name, _: &Name, _: &Store) -> u128 {
        self.0
    }
}

/// What the two-thread program fails when every load yields this value.
fn failures(program: &Program, loaded: u128) -> BTreeSet<String> {
    let predicated = predicate::run(program).expect("a kernel");
    let prelude = load(WATCHED_BYTE).expect("ships");
    let mut two = twothread::run(&predicated, &prelude, Pair::SameBlock, &Options::default()).expect("translates");
    unfold(&mut two.program);
    let mut failed = BTreeSet::new();
    for threads in [[0, 1], [1, 0]] {
        for site in 0..two.sites.len() as u128 {
            let stores = threads.map(|number| Execution::new(number, 1, &body(&predicated.program).locals).store);
            let run = program::Run::new(&two, stores, Watched { site, offset: 0 }, Always(loaded)).go(100);
            failed.extend(run.expect("it ends"));
        }
    }
    failed
}

/// The kernel of section 5. Thread 1 assumes v = 5 right after it wrote 4: whether it goes on depends
/// on the order of the threads, and in lock-step it never does.
#[test]
fn an_assumption_about_shared_state() {
    let program = program(vec![
        block("Start", vec![], &["B1", "B2"]),
        block("B1", vec![assume(tid_is(1)), set_v(4), read_v(), assume(x0_is(5))], &[]),
        block("B2", vec![assume(bv::not(tid_is(1))), set_v(5)], &[]),
    ]);
    assert_eq!(ends(&program), ["Infeasible", "Race"].map(String::from).into());
    let predicated = predicate::run(&program).expect("a kernel");
    for seed in 0..20 {
        let run = lock_step(&program, &predicated, &THREADS, seed, Memory::default(), 100);
        assert_eq!(run.end, End::Infeasible);
    }
    assert_eq!(failures(&program, 5), ["race".to_string()].into());
}

/// Thread 0 waits for thread 1. Some orders let it end; in lock-step it waits for ever, if its loop
/// is sorted first.
#[test]
fn a_loop_that_waits_for_another_thread() {
    let program = program(vec![
        block("Start", vec![], &["Wait.first", "Go"]),
        block("Wait.first", vec![assume(tid_is(0))], &["Wait"]),
        block("Wait", vec![read_v()], &["Again", "End"]),
        block("Again", vec![assume(bv::not(x0_is(1)))], &["Wait"]),
        block("End", vec![assume(x0_is(1))], &[]),
        block("Go", vec![assume(bv::not(tid_is(0))), set_v(1)], &[]),
    ]);
    assert_eq!(ends(&program), ["Race".to_string()].into());
    let predicated = predicate::run(&program).expect("a kernel");
    let place = |label: &str| predicated.order.iter().position(|block| block.label.as_str() == label);
    assert!(place("Wait") < place("Go"), "the example needs the loop first");
    let run = lock_step(&program, &predicated, &THREADS, 1, Memory::default(), 1000);
    assert_eq!((run.end, run.races.len()), (End::OutOfFuel, 0));
    assert_eq!(failures(&program, 1), ["race".to_string()].into());
}
