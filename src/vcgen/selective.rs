//! `{:selective_checking}`: only what a marked assumption leads to is checked.
//!
//! Input: attributes. Output: what [`super::passify`] asks: whether a body is selective, whether an assumption is marked.
//! Reference: Boogie 2.4: `assume {:start_checking_here} e;` is the inverse of `assume false;`; paths are those of the
//! program whose loops are cut, so that a mark in a loop does not lead to its head.

use crate::ivl::ast::{Attribute, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;

const SELECTIVE: &str = "selective_checking";

/// Whether a body with these attributes is selective.
pub fn is_asked_for(attributes: &[Attribute]) -> bool {
    attributes.has(SELECTIVE) && !attributes.is_set_to(SELECTIVE, false)
}

/// Whether what stands behind a statement is checked.
pub fn is_mark(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Assume(_)) && stmt.attributes.has("start_checking_here")
}
