//! Which variables a kernel statement reads and which it defines.
//!
//! Input: a statement. Output: names. Establishes: a statement's attributes count as reads. Relies on:
//! nothing.

use crate::ivl::ast::{Access, AttributeArg, Expr, ExprKind, Name, Stmt, StmtKind};

/// The variables that the statement assigns, in order.
pub fn defined(stmt: &Stmt) -> Vec<&Name> {
    match &stmt.kind {
        StmtKind::Assign(pairs) => pairs.iter().map(|(name, _)| name).collect(),
        StmtKind::Havoc(names) => names.iter().collect(),
        StmtKind::Call { results, .. } => results.iter().collect(),
        StmtKind::Load { dst, .. } => vec![dst],
        StmtKind::Atomic { dst, .. } => dst.iter().collect(),
        StmtKind::Barrier(barrier) => barrier.result.iter().collect(),
        StmtKind::Assume(_) | StmtKind::Assert(_) | StmtKind::Store { .. } | StmtKind::Fence(_) => Vec::new(),
    }
}

/// Calls `see` for every variable that the statement reads, repetitions included.
pub fn used(stmt: &Stmt, see: &mut dyn FnMut(&Name)) {
    match &stmt.kind {
        StmtKind::Assign(pairs) => pairs.iter().for_each(|(_, value)| each_variable(value, see)),
        StmtKind::Assume(e) | StmtKind::Assert(e) => each_variable(e, see),
        StmtKind::Call { args, .. } => args.iter().for_each(|e| each_variable(e, see)),
        StmtKind::Load { access, .. } | StmtKind::Atomic { access, .. } => each_variable_of_access(access, see),
        StmtKind::Store { value, access } => {
            each_variable(value, see);
            each_variable_of_access(access, see);
        }
        StmtKind::Barrier(barrier) => {
            [&barrier.guard, &barrier.id, &barrier.count].into_iter().flatten().for_each(|e| each_variable(e, see));
        }
        StmtKind::Havoc(_) | StmtKind::Fence(_) => {}
    }
    for arg in stmt.attributes.iter().flat_map(|attribute| &attribute.args) {
        if let AttributeArg::Expr(e) = arg {
            each_variable(e, see);
        }
    }
}

fn each_variable_of_access(access: &Access, see: &mut dyn FnMut(&Name)) {
    access.guard.iter().for_each(|e| each_variable(e, see));
    each_variable(&access.offset, see);
}

/// Calls `see` for every variable of an expression; a bound variable counts too, which only makes the
/// answers more cautious.
pub fn each_variable(e: &Expr, see: &mut dyn FnMut(&Name)) {
    match &e.kind {
        ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Bv(_) => {}
        ExprKind::Var(name) => see(name),
        ExprKind::Unary(_, a) | ExprKind::Old(a) | ExprKind::Extract { value: a, .. } => each_variable(a, see),
        ExprKind::Binary(_, a, b) | ExprKind::Concat(a, b) => {
            each_variable(a, see);
            each_variable(b, see);
        }
        ExprKind::Ite(a, b, c) => [a, b, c].into_iter().for_each(|e| each_variable(e, see)),
        ExprKind::Call(_, args) => args.iter().for_each(|e| each_variable(e, see)),
        ExprKind::Select(map, index) => {
            each_variable(map, see);
            index.iter().for_each(|e| each_variable(e, see));
        }
        ExprKind::Store(map, index, value) => {
            each_variable(map, see);
            index.iter().for_each(|e| each_variable(e, see));
            each_variable(value, see);
        }
        ExprKind::Quantifier { triggers, body, .. } => {
            triggers.iter().flatten().for_each(|e| each_variable(e, see));
            each_variable(body, see);
        }
    }
}
