//! `{:selective_checking}`: only what a marked assumption or assertion leads to is checked, and marked assertions are.
//!
//! Input: attributes. Output: what [`super::passify`] asks: whether a body is selective, whether a statement is marked. A call is by the
//! preconditions that it checks.
//! Reference: Boogie 2.4: `assume {:start_checking_here} e;` is the inverse of `assume false;`; paths are those of the
//! program whose loops are cut, so that a mark in a loop does not lead to its head.

use crate::ivl::ast::Attribute;
use crate::ivl::attributes::Attributes;

/// Whether a body with these attributes is selective.
pub(crate) fn is_asked_for(attributes: &[Attribute]) -> bool {
    attributes.is_on("selective_checking")
}

/// Whether a statement is checked, if it is an assertion, and all that stands behind it.
pub(crate) fn is_mark(attributes: &[Attribute]) -> bool {
    attributes.is_on("start_checking_here")
}
