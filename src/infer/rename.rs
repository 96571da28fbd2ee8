//! Variables of several expressions or statements, collected; and replaced ([`substitute`]).

pub(crate) use crate::ivl::visit::substitute;

use crate::ivl::ast::{ExprRef, Name, Stmt};
use crate::ivl::visit;
use std::collections::BTreeSet;

/// Adds the variables of an expression.
pub(crate) fn free_variables(e: &ExprRef, out: &mut BTreeSet<Name>) {
    out.append(&mut visit::free_vars(e));
}

/// Adds the variables that a statement assigns itself (not through the procedures it calls).
pub(crate) fn assigned(stmt: &Stmt, out: &mut BTreeSet<Name>) {
    out.extend(visit::assigned(stmt).into_iter().cloned());
}
