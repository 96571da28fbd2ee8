//! What statements are about.
//!
//! Input: a two-thread program with ghosts. Output: whether statements and expressions are about one thread alone. Establishes:
//! what is local to a thread depends on nothing that the other one does. Relies on: names of registers carry their thread.
//! Reference: the lock-step paper, section 4.

use crate::ivl::ast::{ExprRef, Name, Procedure, Program, Stmt, StmtKind, Thread};
use crate::ivl::claim::{Claim, Premise};
use crate::ivl::visit::{assigned, for_each_stmt_expr, free_vars};
use std::collections::BTreeSet;

/// What statements are about.
pub(super) struct Locality {
    /// What any statement may change.
    mutable: BTreeSet<Name>,
}

impl Locality {
    pub(super) fn of(program: &Program, procedure: &Procedure) -> Self {
        let stmts = procedure.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        let mut mutable: BTreeSet<Name> = stmts.flat_map(assigned).cloned().collect();
        mutable.extend(program.globals.iter().map(|global| global.name.clone()));
        Locality { mutable }
    }

    /// Whether a value depends on nothing but registers of a thread and what never changes.
    pub(super) fn is_about(&self, expr: &ExprRef, thread: Thread) -> bool {
        free_vars(expr).iter().all(|name| match name.thread() {
            Some(of) => of == thread,
            None => !self.mutable.contains(name),
        })
    }

    /// Whether each register is assigned what its thread has.
    pub(super) fn is_local_assignment(&self, stmt: &Stmt) -> bool {
        let StmtKind::Assign(pairs) = &stmt.kind else { return false };
        pairs.iter().all(|(target, value)| target.thread().is_some_and(|thread| self.is_about(value, thread)))
    }

    /// Whether all expressions of a statement are about one thread.
    pub(super) fn is_local(&self, stmt: &Stmt) -> bool {
        Thread::BOTH.into_iter().any(|thread| {
            let mut is_local = true;
            for_each_stmt_expr(stmt, &mut |expr| is_local &= self.is_about(expr, thread));
            is_local
        })
    }

    /// Whether a statement has no part in what the other thread does.
    pub(super) fn allows(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Assign(_) => self.is_local_assignment(stmt),
            StmtKind::Havoc(names) => names.iter().all(|name| name.thread().is_some()),
            StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Assert(Claim::Bounds, _) => self.is_local(stmt),
            // What is about both threads is left out: there are more executions without it.
            StmtKind::Assume(Premise::Program, _) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
impl Locality {
    /// Where statements change these.
    pub(super) fn over(mutable: impl IntoIterator<Item = Name>) -> Self {
        Locality { mutable: mutable.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rename::registers::{name, var};
    use super::*;
    use crate::infer::ghosts::{assign, statement};
    use crate::ivl::ast::BinaryOp;
    use crate::ivl::bv;

    /// Assumes that one is the other.
    fn assume(premise: Premise, (a, b): (&str, &str)) -> Stmt {
        statement(StmtKind::Assume(premise, bv::op(BinaryOp::Eq, var(a), var(b))))
    }

    #[test]
    fn statements_about_one_thread_are_allowed() {
        let locality = Locality::over(["x$1", "x$2", "tracked"].map(name));
        let sets = |to: &str, from: &str| assign(&name(to), var(from));
        assert!(locality.allows(&sets("x$1", "y$1")));
        assert!(locality.allows(&sets("x$2", "n")), "a parameter");
        assert!(!locality.allows(&sets("x$1", "x$2")), "of the other thread");
        assert!(!locality.allows(&sets("x$1", "tracked")), "what accesses change");
        assert!(!locality.allows(&sets("tracked", "x$1")), "of no thread");
        let both = StmtKind::Assign(vec![(name("x$1"), var("y$1")), (name("x$2"), var("y$1"))]);
        assert!(!locality.allows(&statement(both)), "one of them is of the other thread");
        assert!(locality.allows(&statement(StmtKind::Havoc(vec![name("x$1"), name("x$2")]))));
        assert!(!locality.allows(&statement(StmtKind::Havoc(vec![name("tracked")]))));
    }

    #[test]
    fn what_speaks_of_both_threads_is_not_local() {
        let locality = Locality::over(["x$1", "x$2"].map(name));
        let program = |sides| assume(Premise::Program, sides);
        assert!(locality.is_local(&program(("x$1", "n"))) && locality.is_local(&program(("x$2", "x$2"))));
        assert!(!locality.is_local(&program(("x$1", "x$2"))));
        // It is left out, which is sound; what the user assumes, or the kernel asserts, is not.
        assert!(locality.allows(&program(("x$1", "x$2"))));
        assert!(!locality.allows(&assume(Premise::Assumed, ("x$1", "x$2"))));
        let asserted = |claim| statement(StmtKind::Assert(claim, bv::op(BinaryOp::Eq, var("x$1"), var("n"))));
        assert!(locality.allows(&asserted(Claim::Bounds)) && !locality.allows(&asserted(Claim::Formula)));
    }
}
