//! The conditions of the refinements, each with its near miss.

use super::random::program;
use gpuvcc::flow::LoopForest;
use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv;
use gpuvcc::predicate::kernel::Kernel;
use gpuvcc::predicate::single_definition::unpredicated;
use gpuvcc::span::Span;

fn x(number: u32) -> ExprRef {
    bv::var(format!("x{number}").as_str(), Type::Bv(32))
}

/// `x1 := e`
fn define(e: ExprRef) -> Stmt {
    let kind = StmtKind::Assign(vec![("x1".into(), e)]);
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
}

/// `x2 := x1` (and x2 has a second definition in `Start`, so it never counts)
fn read() -> Stmt {
    let kind = StmtKind::Assign(vec![("x2".into(), x(1))]);
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
}

/// Blocks `label: stmts goto targets`; no target means return.
fn is_unpredicated(blocks: &[(&str, &[Stmt], &[&str])]) -> bool {
    let block = |(label, stmts, targets): &(&str, &[Stmt], &[&str])| Block {
        label: Name::from(*label),
        stmts: stmts.to_vec(),
        transfer: match targets {
            [] => Transfer::Return,
            _ => Transfer::Goto(targets.iter().map(|&target| target.into()).collect()),
        },
        span: Span::NONE,
        end: Span::NONE,
    };
    let program = program(blocks.iter().map(block).collect());
    let kernel = Kernel::read(&program).map_err(|errors| errors[0].message.clone()).unwrap();
    let dominators = kernel.graph.dominators();
    let forest = LoopForest::of(&kernel.graph, &dominators).unwrap();
    unpredicated(&kernel, &dominators, &forest).contains(&Name::from("x1"))
}

#[test]
fn one_dominating_definition_in_the_loop() {
    let (d, u) = (define(x(0)), read());
    // Used in the same iteration, also in an inner loop.
    assert!(is_unpredicated(&[
        ("S", &[], &["H"]),
        ("H", &[d], &["I"]),
        ("I", &[u], &["I", "E"]),
        ("E", &[], &["H", "X"]),
        ("X", &[], &[]),
    ]));
}

#[test]
fn a_use_behind_the_loop_needs_predication() {
    // A thread that left early must keep the value of its own last iteration.
    assert!(!is_unpredicated(&[("S", &[], &["H"]), ("H", &[define(x(0))], &["H", "X"]), ("X", &[read()], &[])]));
}

#[test]
fn a_use_in_the_outer_loop_needs_predication() {
    assert!(!is_unpredicated(&[
        ("S", &[], &["O"]),
        ("O", &[], &["H"]),
        ("H", &[define(x(0))], &["H", "E"]),
        ("E", &[read()], &["O", "X"]),
        ("X", &[], &[]),
    ]));
}

#[test]
fn a_use_across_the_back_edge_needs_predication() {
    // Read at the top of the next iteration, before the definition.
    assert!(!is_unpredicated(&[("S", &[], &["H"]), ("H", &[read(), define(x(0))], &["H", "X"]), ("X", &[], &[])]));
    // The definition reads the variable itself.
    assert!(!is_unpredicated(&[("S", &[], &["H"]), ("H", &[define(x(1))], &["H", "X"]), ("X", &[], &[])]));
}

#[test]
fn a_definition_on_one_branch_needs_predication() {
    assert!(!is_unpredicated(&[("S", &[], &["D", "J"]), ("D", &[define(x(0))], &["J"]), ("J", &[read()], &[]),]));
}

#[test]
fn two_definitions_need_predication() {
    assert!(!is_unpredicated(&[("S", &[define(x(0)), define(x(3)), read()], &[])]));
}

#[test]
fn an_exit_condition_counts_where_the_branch_is() {
    // `assume` at the target behind the loop, but the branch takes it over into the loop.
    let assume = |e: ExprRef| {
        let kind = StmtKind::assume(e);
        Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
    };
    let condition = bv::eq(x(1), bv::literal(0, 32));
    assert!(is_unpredicated(&[
        ("S", &[], &["H"]),
        ("H", &[define(x(0))], &["L", "X"]),
        ("L", &[assume(condition.clone())], &["H"]),
        ("X", &[assume(bv::not(condition))], &[]),
    ]));
}
