//! Barrier invariants in the two-thread program: what reads them, and when they have a meaning.
//!
//! Input: statements of the predicated kernel with the marks that `kernel::barrier_invariant` gives them. Output: those
//! marks; refusals. Establishes: the fact that a thread assumes of thread e behind a barrier is the one that e asserted
//! in front of it. Relies on: [`super::contents`], whose header has the argument; [`super::barriers`], which asserts
//! that the threads of a block come to the barrier together, with the same values in the registers of the fact.
//! Reference: Chong et al., "Barrier Invariants" (the access check; instantiation behind the barrier).
//!
//! What a barrier invariant reads in front of the barrier is an access like any: logged and checked, so that no other
//! thread has written the place since the last barrier, and memory still holds behind the barrier what the thread saw.
//! Behind it nothing is logged, since nothing is read: the assumption speaks of memory at the moment of the barrier.

use super::Options;
use super::contents::selection::{Selection, refusal};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{ArraySpace, AttributeArg, ExprRef, Implementation, Name, Program, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Claim;
use crate::predicate::rewrite::place;
use crate::ptx::mangled::human;
use std::collections::BTreeSet;

/// The mark of what is asserted, and read for that, in front of a barrier.
const STATED: &str = "barrier_invariant";

/// Whether a load is made by an annotation, and by no instruction.
pub fn is_of_annotation(stmt: &Stmt) -> bool {
    stmt.attributes.has(STATED) || stmt.attributes.has("ghost")
}

/// The fact that a statement belongs to.
pub(crate) fn text_of(stmt: &Stmt) -> Option<&str> {
    stmt.attributes.named(STATED)?.text()
}

/// What has to be equal for the threads that pass a barrier, with what that claims.
pub(super) fn uniform(stmt: &Stmt) -> impl Iterator<Item = (&ExprRef, Claim)> {
    let marked = stmt.attributes.iter().filter(|attribute| attribute.name.as_str() == "uniform");
    marked.filter_map(|attribute| match &attribute.args[..] {
        [AttributeArg::Text(invariant), AttributeArg::Text(register), AttributeArg::Expr(value)] => {
            let (invariant, register) = (invariant.as_str().into(), register.as_str().into());
            Some((value, Claim::Uniform { invariant, register }))
        }
        _ => None,
    })
}

/// Refuses barrier invariants where what is asserted in front of the barrier says nothing about memory behind it.
///
/// # Errors
/// `barrier-invariant` (unsupported), with the reason.
pub(super) fn refuse_without_meaning(
    program: &Program,
    body: &Implementation,
    selection: &Selection,
    options: &Options,
) -> Result<(), Vec<Diagnostic>> {
    let refuse = |stmt: &Stmt, message: String| Diagnostic::unsupported("barrier-invariant", message, place(stmt));
    let stmts = || body.blocks.iter().flat_map(|block| &block.stmts);
    let Some(first) = stmts().find(|stmt| stmt.attributes.has(STATED)) else { return Ok(()) };
    if options.rules.exited_threads_ok {
        let message = "with --exited-threads=ok a thread that has left the kernel states no barrier invariant";
        return Err(vec![refuse(first, message.to_string())]);
    }
    if options.rules.allow_same_value {
        let message = "with --allow-same-value others may write what a barrier invariant reads";
        return Err(vec![refuse(first, message.to_string())]);
    }
    let mut told = BTreeSet::new();
    let mut errors = Vec::new();
    for stmt in stmts().filter(|stmt| is_of_annotation(stmt)) {
        let StmtKind::Load { access, .. } = &stmt.kind else { continue };
        let is_global =
            |name: &Name| program.arrays.iter().any(|array| array.name == *name && array.space == ArraySpace::Global);
        let Some(reason) = refusal(body, selection, &access.array, is_global(&access.array)) else { continue };
        if told.insert(access.array.clone()) {
            let message = format!("what `{}` holds is not kept track of: {reason}", human(access.array.as_str()));
            errors.push(refuse(stmt, message));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
