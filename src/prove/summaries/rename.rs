//! The names of a summarised program.
//!
//! Input: expressions and statements. Output: the same about other variables of the same types. Establishes: nothing else changes.
//! Reference: none.

use crate::ivl::ast::{ExprKind, ExprRef, Name, Stmt, StmtKind, Thread};
use crate::ivl::bv;
use crate::ivl::visit::{free_vars, map_expr, map_stmt};
use std::collections::BTreeMap;

/// An expression about thread 1 as it is about a thread.
pub(super) fn of(expr: &ExprRef, thread: Thread) -> ExprRef {
    let names = free_vars(expr).into_iter().filter(|name| name.thread().is_some());
    rename(expr, &names.map(|name| (name.clone(), name.of(thread))).collect())
}

/// The variable from which a register gets an arbitrary value.
pub(super) fn any(name: &Name) -> Name {
    name.with(".any")
}

/// What a register had in front of the loop.
pub(super) fn before(name: &Name) -> Name {
    name.with(".before")
}

/// A variable of the written program that the input does not have: `infer` adds ghosts to that one, too.
pub(super) fn new_name(name: &Name) -> Name {
    name.with(".round")
}

/// The same expression about other variables of the same types.
fn rename(expr: &ExprRef, names: &BTreeMap<Name, Name>) -> ExprRef {
    map_expr(expr, &mut |e| match &e.kind {
        ExprKind::Var(name) => names.get(name).map(|new| bv::var(new.clone(), e.ty.clone())),
        _ => None,
    })
}

/// The same statement about other variables of the same types.
pub(super) fn rename_stmt(stmt: &Stmt, names: &BTreeMap<Name, Name>) -> Stmt {
    let mut stmt = map_stmt(stmt, &mut |expr| rename(expr, names));
    let targets: Vec<&mut Name> = match &mut stmt.kind {
        StmtKind::Assign(pairs) => pairs.iter_mut().map(|(name, _)| name).collect(),
        StmtKind::Havoc(names) => names.iter_mut().collect(),
        _ => Vec::new(),
    };
    for name in targets {
        if let Some(new) = names.get(name) {
            name.clone_from(new);
        }
    }
    stmt
}
