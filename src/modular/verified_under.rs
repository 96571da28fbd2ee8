//! `assert {:verified_under u} e;`: what is known to hold where `u` does.
//!
//! Input: a body. Output: the same, where such an assertion is `assert u || e; assume e;`, or only the first with
//! `{:subsumption 0}`. Establishes: no assertion has the attribute. Relies on: attributes are typed; those of calls are
//! seen to in [`crate::vcgen::contracts`]. Reference: Boogie 2.4; Christakis, Müller, Wüstholz, collaborative
//! verification and testing with explicit assumptions.

use crate::ivl::ast::{Attribute, BinaryOp, Expr, ExprKind, ExprRef, Implementation, Stmt, StmtKind, Type};
use crate::ivl::attributes::{Attributes, VERIFIED_UNDER};
use crate::vcgen::wp;
use std::borrow::Cow;
use std::sync::Arc;

/// Puts both statements in the place of each.
pub(crate) fn run(body: Cow<'_, Implementation>) -> Cow<'_, Implementation> {
    if !body.blocks.iter().flat_map(|block| &block.stmts).any(|stmt| condition(&stmt.attributes).is_some()) {
        return body;
    }
    let mut body = body.into_owned();
    for block in &mut body.blocks {
        block.stmts = std::mem::take(&mut block.stmts).into_iter().flat_map(both).collect();
    }
    Cow::Owned(body)
}

fn both(stmt: Stmt) -> Vec<Stmt> {
    let (StmtKind::Assert(claim, e), Some(under)) = (&stmt.kind, condition(&stmt.attributes)) else {
        return vec![stmt];
    };
    let either = Expr { kind: ExprKind::Binary(BinaryOp::Or, under.clone(), e.clone()), ty: Type::Bool, span: e.span };
    let attributes =
        stmt.attributes.iter().filter(|attribute| attribute.name.as_str() != VERIFIED_UNDER).cloned().collect();
    let is_known = !wp::is_never_assumed(&stmt.attributes);
    let checked = Stmt { kind: StmtKind::Assert(claim.clone(), Arc::new(either)), attributes, ..stmt.clone() };
    let known = Stmt { kind: StmtKind::assume(e.clone()), attributes: Vec::new(), ..stmt.clone() };
    if is_known { vec![checked, known] } else { vec![checked] }
}

fn condition(attributes: &[Attribute]) -> Option<&ExprRef> {
    attributes.first_of(VERIFIED_UNDER)
}
