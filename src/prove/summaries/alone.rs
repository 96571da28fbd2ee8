//! One thread alone.
//!
//! Input: a two-thread program with ghosts, of which every loop is about one thread at a time. Output: the program of thread 1,
//! with the invariants as candidates. Establishes: what thread 1 does in an execution of both, it does in one of this program,
//! so that invariants of this one are true of it, and of thread 2. Relies on: the layout of `predicate`. Reference: the lock-step
//! paper, section 4 (threads between barriers are independent).
//!
//! What a thread gets from the other one, or from what both share, is arbitrary. A loop ends when the thread leaves it: that the other
//! one may go on changes nothing of it, but would hide from what comes behind the loop which round was the last.

use super::locality::Locality;
use super::summary::Summary;
use crate::infer::candidates::Candidate;
use crate::infer::ghosts::{block_mut, statement};
use crate::ivl::ast::{BinaryOp, Block, ExprKind, ExprRef, Name, Procedure, Program, Stmt, StmtKind, Thread, Transfer};
use crate::ivl::bv;
use crate::ivl::claim::{Claim, Inferred, Premise};
use crate::ivl::visit::assigned;

/// The program of thread 1, without candidates.
pub(super) fn program(summary: &Summary, ghosted: &Program, procedure: &Name) -> Program {
    let mut program = ghosted.clone();
    for procedure in program.procedures.iter_mut().filter(|one| one.name == *procedure) {
        for block in procedure.body.iter_mut().flat_map(|body| &mut body.blocks) {
            block.stmts = block.stmts.iter().flat_map(|stmt| of_first(stmt, &summary.locality)).collect();
        }
        place_guards(summary, procedure);
    }
    program
}

/// Places the candidates where control comes to the heads of their loops.
pub(super) fn place_candidates(summary: &Summary, program: &mut Program, procedure: &Name) {
    let blocks = program.procedures.iter_mut().filter(|one| one.name == *procedure).flat_map(|one| &mut one.body);
    for block in blocks.flat_map(|body| &mut body.blocks) {
        let of_block = |one: &Candidate| summary.loops[one.in_loop].head == block.label;
        let candidates = summary.candidates().into_iter().enumerate().filter(|(_, one)| of_block(one));
        let placed: Vec<Stmt> = candidates
            .map(|(index, Candidate { family, expr, .. })| {
                statement(StmtKind::Assert(Claim::Inferred(Inferred::Candidate(family, index)), expr))
            })
            .collect();
        block.stmts.splice(0..0, placed);
    }
}

/// What a statement does to thread 1.
fn of_first(stmt: &Stmt, locality: &Locality) -> Vec<Stmt> {
    let is_own = |expr: &ExprRef| locality.is_about(expr, Thread::First);
    let is_first = |name: &&Name| name.thread() == Some(Thread::First);
    let (mut kept, mut unknown) = (Vec::new(), Vec::new());
    match &stmt.kind {
        StmtKind::Assign(pairs) => {
            let pairs = pairs.iter().filter(|(target, _)| is_first(&target)).cloned();
            let (known, others): (Vec<_>, Vec<_>) = pairs.partition(|(_, value)| is_own(value));
            unknown.extend(others.into_iter().map(|(target, _)| target));
            kept.extend((!known.is_empty()).then_some(StmtKind::Assign(known)));
        }
        StmtKind::Assume(premise, formula) => {
            let own = conjuncts(formula).into_iter().filter(|part| is_own(part));
            kept.extend(own.map(|part| StmtKind::Assume(premise.clone(), part)));
        }
        StmtKind::Assert(claim @ Claim::Probe(..), formula) if is_own(formula) => {
            kept.push(StmtKind::Assert(claim.clone(), formula.clone()));
        }
        _ => unknown.extend(assigned(stmt).into_iter().filter(is_first).cloned()),
    }
    kept.extend((!unknown.is_empty()).then_some(StmtKind::Havoc(unknown)));
    kept.into_iter().map(|kind| Stmt { kind, ..stmt.clone() }).collect()
}

/// The formulas that all hold where one does.
fn conjuncts(formula: &ExprRef) -> Vec<ExprRef> {
    match &formula.kind {
        ExprKind::Binary(BinaryOp::And, a, b) => [conjuncts(a), conjuncts(b)].concat(),
        _ => vec![formula.clone()],
    }
}

/// A loop goes on as long as the thread is in it, and is left out where it does not enter it.
fn place_guards(summary: &Summary, procedure: &mut Procedure) {
    for (number, ghosts) in summary.loops.iter().enumerate() {
        let (ty, head) = ghosts.head_literal();
        let stays = summary.is_in_loop(number);
        let entered = bv::eq(bv::var(ghosts.active_at_entry(Thread::First), ty), head);
        let is_there = bv::op(BinaryOp::And, entered, stays.clone());
        for (label, guard) in [(&ghosts.head, is_there), (&ghosts.back, stays.clone()), (&ghosts.exit, bv::not(stays))]
        {
            if let Some(block) = block_mut(procedure, label) {
                block.stmts.insert(0, statement(StmtKind::Assume(Premise::Program, guard)));
            }
        }
        if let Some(Block { transfer: Transfer::Goto(targets), .. }) = block_mut(procedure, &ghosts.entry) {
            targets.push(ghosts.exit.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rename::registers::{name, var};
    use super::*;
    use crate::infer::ghosts::assign;
    use crate::ivl::print_expr;

    fn locality() -> Locality {
        Locality::over(["x$1", "x$2", "y$1", "shared"].map(name))
    }

    fn kinds(stmt: StmtKind) -> Vec<StmtKind> {
        of_first(&statement(stmt), &locality()).into_iter().map(|stmt| stmt.kind).collect()
    }

    #[test]
    fn what_a_thread_gets_from_others_is_arbitrary() {
        let own = assign(&name("x$1"), var("y$1")).kind;
        assert_eq!(kinds(own.clone()), [own]);
        assert!(kinds(assign(&name("x$2"), var("x$2")).kind).is_empty(), "of the other thread");
        assert!(kinds(assign(&name("shared"), var("x$1")).kind).is_empty(), "of no thread");
        for from in ["x$2", "shared"] {
            assert_eq!(kinds(assign(&name("x$1"), var(from)).kind), [StmtKind::Havoc(vec![name("x$1")])]);
        }
        let pairs = [("x$1", "y$1"), ("x$2", "y$1"), ("y$1", "x$2")].map(|(to, from)| (name(to), var(from)));
        let known = StmtKind::Assign(vec![pairs[0].clone()]);
        assert_eq!(kinds(StmtKind::Assign(pairs.into())), [known, StmtKind::Havoc(vec![name("y$1")])]);
        assert_eq!(kinds(StmtKind::Havoc(vec![name("x$1"), name("x$2")])), [StmtKind::Havoc(vec![name("x$1")])]);
    }

    #[test]
    fn of_assumptions_those_about_the_thread_stay() {
        let same = |a, b| bv::eq(var(a), var(b));
        let both = bv::op(BinaryOp::And, same("x$1", "y$1"), same("x$1", "x$2"));
        let assumed: Vec<String> = kinds(StmtKind::Assume(Premise::Assumed, both))
            .iter()
            .map(|kind| match kind {
                StmtKind::Assume(Premise::Assumed, formula) => print_expr(formula),
                kind => panic!("{kind:?}"),
            })
            .collect();
        assert_eq!(assumed, ["x$1 == y$1"]);
        let asserted = StmtKind::Assert(Claim::Formula, same("x$1", "y$1"));
        assert!(kinds(asserted).is_empty(), "what is to be proved is not relied on");
    }
}
