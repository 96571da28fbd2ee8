//! The variables of an assertion that a report explains with values.
//!
//! Input: an assertion, the values of variables where it is checked and, for an invariant after a round, at the beginning
//! of that round. Output: the terms to ask a model for; none for assertions that no user wrote, unless all are shown.

use super::passive::Shown;
use super::translate::Environment;
use crate::ivl::ast::{Attribute, Expr, ExprKind, ExprRef, Name};
use crate::ivl::visit::{self, Visitor};
use std::collections::BTreeSet;

/// The variables with their values.
pub fn of(
    attributes: &[Attribute],
    shows_all: bool,
    e: &Expr,
    now: &Environment,
    at_head: Option<&Environment>,
) -> Vec<Shown> {
    let of_user = ["user_assert", "invariant", "barrier_invariant"];
    if !shows_all && !attributes.iter().any(|attribute| of_user.contains(&attribute.name.as_str())) {
        return Vec::new();
    }
    let mut variables = Variables(BTreeSet::new());
    variables.expr(&e.clone().into());
    let shown = |name: Name| {
        let before = at_head.and_then(|head| head.get(&name).copied());
        Some(Shown { now: *now.get(&name)?, before, name })
    };
    variables.0.into_iter().filter_map(shown).collect()
}

struct Variables(BTreeSet<Name>);

impl Visitor for Variables {
    fn expr(&mut self, e: &ExprRef) {
        if let ExprKind::Var(name) = &e.kind {
            self.0.insert(name.clone());
        }
        visit::walk_expr(self, e);
    }
}
