//! Loops that have no part in a question.
//!
//! Input: a summarised program in which few accesses are remembered. Output: the same without the loops that neither access what is
//! asked about nor change what comes behind them and is asked about. Establishes: an assertion that holds in the
//! one program holds in the other: of a loop that is left out nothing is known but where its threads go on. Relies on:
//! a block of its own for each outermost loop, which assigns all that it changes. Reference: Weiser, Program Slicing.

use super::is_about_threads;
use crate::infer::ghosts::{LoopGhosts, assign};
use crate::ivl::ast::{Block, Name, Program, Stmt, StmtKind, Thread};
use crate::ivl::bv;
use crate::ivl::visit::{assigned, for_each_stmt_expr, free_vars};
use std::collections::BTreeSet;

/// Leaves such loops out of a procedure; only what is about `array` is asked, or all assertions but those about accesses.
pub(super) fn leave_out(program: &mut Program, procedure: &Name, loops: &[LoopGhosts], array: Option<&Name>) {
    let bodies = program.procedures.iter_mut().filter(|one| one.name == *procedure).flat_map(|one| &mut one.body);
    for body in bodies {
        let mut needed = BTreeSet::new();
        for block in body.blocks.iter_mut().rev() {
            let ghosts = loops.iter().find(|ghosts| ghosts.parent.is_none() && ghosts.head == block.label);
            if let Some(ghosts) = ghosts.filter(|ghosts| is_idle(block, ghosts, &needed, array)) {
                block.stmts = moves_on(ghosts);
            }
            block.stmts.iter().rev().for_each(|stmt| need(stmt, array, &mut needed));
        }
    }
}

/// Whether a statement is part of a question.
fn is_asked(stmt: &Stmt, array: Option<&Name>) -> bool {
    match &stmt.kind {
        StmtKind::Check(event) => Some(&event.array) == array,
        StmtKind::Log { .. } => true,
        StmtKind::Assert(claim, _) => array.is_none() || !is_about_threads(claim),
        _ => false,
    }
}

/// Adds what a statement depends on, if it is part of a question or gives what is needed behind it.
fn need(stmt: &Stmt, array: Option<&Name>, needed: &mut BTreeSet<Name>) {
    if let StmtKind::Assign(pairs) = &stmt.kind {
        let pairs: Vec<_> = pairs.iter().filter(|(target, _)| needed.contains(target)).collect();
        needed.retain(|name| !pairs.iter().any(|(target, _)| target == name));
        needed.extend(pairs.into_iter().flat_map(|(_, value)| free_vars(value)));
    } else if is_asked(stmt, array) || matches!(stmt.kind, StmtKind::Assume(..) | StmtKind::Order { .. }) {
        for_each_stmt_expr(stmt, &mut |expr| needed.extend(free_vars(expr)));
    }
}

/// Whether threads leave a loop to one place, and nothing else in it matters.
fn is_idle(block: &Block, ghosts: &LoopGhosts, needed: &BTreeSet<Name>, array: Option<&Name>) -> bool {
    let changes = |stmt: &Stmt| {
        let mut changed = assigned(stmt).into_iter().filter(|name| name.shared() != ghosts.v_active);
        changed.any(|name| needed.contains(name))
    };
    ghosts.exit_ids.len() == 1 && !block.stmts.iter().any(|stmt| is_asked(stmt, array) || changes(stmt))
}

/// Threads that come to a loop go on behind it.
fn moves_on(ghosts: &LoopGhosts) -> Vec<Stmt> {
    let (ty, head) = ghosts.head_literal();
    let exits = ghosts.exit_ids.iter().map(|&id| bv::literal(u128::from(id), ghosts.id_width));
    let moves = exits.flat_map(|exit| {
        Thread::BOTH.map(|thread| {
            let active = ghosts.v_active.of(thread);
            let here = bv::var(active.clone(), ty.clone());
            assign(&active, bv::ite(bv::eq(here.clone(), head.clone()), exit.clone(), here))
        })
    });
    moves.collect()
}

#[cfg(test)]
mod tests {
    use super::super::rename::registers::{name, var};
    use super::*;
    use crate::infer::ghosts::statement;
    use crate::ivl::ast::Transfer;
    use crate::ivl::claim::Claim;
    use crate::ivl::event::{Event, EventKind};
    use crate::ivl::print_expr;
    use crate::predicate::LoopInfo;
    use crate::span::Span;

    /// A loop at block 3 with these ways out.
    fn loop_to(exit_ids: Vec<u32>) -> LoopGhosts {
        let [head, entry, back, exit] = ["head", "head.entry", "head.back", "head.exit"].map(Name::from);
        let info = LoopInfo {
            head,
            entry,
            back,
            exit,
            blocks: Vec::new(),
            head_id: 3,
            last_id: 4,
            parent: None,
            exit_ids,
            is_stepped: false,
            dead: BTreeSet::new(),
            leaves_out_dead: false,
            active_at_entry: Name::from("v_entry"),
            activity_facts: Vec::new(),
            origin: None,
        };
        LoopGhosts::new(&info, &Name::from("v_active"), &[])
    }

    fn check(array: &str) -> Stmt {
        let (active, offset) = (bv::boolean(true), bv::zext(var("x$2"), 64));
        let thread = Thread::Second;
        let event =
            Event { site: 1, thread, array: Name::from(array), kind: EventKind::Read, active, offset, bytes: 4 };
        statement(StmtKind::Check(Box::new(event)))
    }

    fn is_left_out(stmt: Stmt, ghosts: &LoopGhosts, array: Option<&str>) -> bool {
        let transfer = Transfer::Return;
        let block =
            Block { label: ghosts.head.clone(), stmts: vec![stmt], transfer, span: Span::NONE, end: Span::NONE };
        let array = array.map(Name::from);
        // What comes behind the loop.
        let mut needed = BTreeSet::new();
        let behind = statement(StmtKind::Assert(Claim::Formula, bv::eq(var("y$1"), var("n"))));
        need(&assign(&name("y$1"), var("x$1")), array.as_ref(), &mut needed);
        assert!(needed.is_empty(), "nobody asks for it yet");
        need(&behind, array.as_ref(), &mut needed);
        need(&assign(&name("y$1"), var("x$1")), array.as_ref(), &mut needed);
        assert!(!needed.contains(&name("y$1")), "it is assigned");
        is_idle(&block, ghosts, &needed, array.as_ref())
    }

    #[test]
    fn loops_that_matter_to_nothing_asked_are_left_out() {
        let ghosts = loop_to(vec![5]);
        let sets = |to: &str| assign(&name(to), var("n"));
        assert!(is_left_out(sets("z$1"), &ghosts, Some("a")));
        assert!(!is_left_out(sets("x$1"), &ghosts, Some("a")), "its value is needed behind the loop");
        assert!(is_left_out(check("b"), &ghosts, Some("a")));
        assert!(!is_left_out(check("a"), &ghosts, Some("a")), "an access of the array in question");
        assert!(is_left_out(check("a"), &ghosts, None), "nothing is remembered");
        assert!(!is_left_out(statement(StmtKind::Assert(Claim::Bounds, bv::boolean(true))), &ghosts, None));
        assert!(!is_left_out(sets("z$1"), &loop_to(vec![5, 6]), Some("a")), "threads go on at two places");
    }

    #[test]
    fn threads_go_on_behind_a_loop() {
        let moves = moves_on(&loop_to(vec![5]));
        assert_eq!(moves.len(), 2, "one for each thread");
        let StmtKind::Assign(pairs) = &moves[1].kind else { panic!("no assignment") };
        let text = print_expr(&pairs[0].1);
        assert_eq!(text, "if v_active$2 == 3bv16 then 5bv16 else v_active$2");
    }
}
