//! What a report explains an assertion with: its variables, the elements of maps, functions and earlier values in it.
//!
//! Input: an assertion, the values of variables where it is checked and, for an invariant after a round, at the beginning
//! of that round. Output: the terms to ask a model for; none for assertions that no user wrote, unless all are shown.

use super::passive::Shown;
use super::term::Terms;
use super::translate::{Environment, Language, Scope, Translator};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{ExprKind, ExprRef, Name, Type};
use crate::ivl::bv_names::parse_builtin;
use crate::ivl::claim::Claim;
use crate::ivl::print_expr;
use crate::ivl::visit::{self, Visitor};
use std::collections::BTreeSet;

/// Longer expressions explain nothing.
const LONGEST: usize = 40;

/// What is shown of one assertion.
pub(crate) struct Shower<'a> {
    /// The translator of the body.
    pub(crate) translator: &'a Translator<'a>,
    /// Where the terms are.
    pub(crate) terms: &'a mut Terms,
}

impl Shower<'_> {
    /// The variables with their values; in programs that are no kernels also the other parts.
    pub(crate) fn of(
        &mut self,
        claim: &Claim,
        e: &ExprRef,
        scope: &Scope,
        at_head: Option<&Environment>,
    ) -> Result<Vec<Shown>, Diagnostic> {
        let shows_all = self.translator.language == Language::Full;
        if !shows_all && !claim.is_of_user() {
            return Ok(Vec::new());
        }
        let mut parts = Parts::default();
        parts.expr(e);
        let variable = |name: Name| {
            let before = at_head.and_then(|head| head.get(&name).copied());
            Some(Shown { now: scope.value(&name)?, before, name })
        };
        let mut shown: Vec<Shown> = parts.variables.into_iter().filter_map(variable).collect();
        for part in parts.others.iter().filter(|_| shows_all) {
            let name = Name::from(print_expr(part));
            if name.to_string().len() > LONGEST || shown.iter().any(|shown| shown.name == name) {
                continue;
            }
            let now = self.translator.in_scope(self.terms, &mut scope.clone(), part)?;
            let before = at_head.map(|head| {
                let mut scope = Scope::new(head, scope.before).with(scope.bound.clone());
                self.translator.in_scope(self.terms, &mut scope, part)
            });
            shown.push(Shown { name, now, before: before.transpose()? });
        }
        Ok(shown)
    }
}

/// The parts of a formula that have values of their own, in the order of the text.
#[derive(Default)]
struct Parts {
    variables: BTreeSet<Name>,
    others: Vec<ExprRef>,
    /// Quantifiers around: what stands there has no one value.
    binders: usize,
}

impl Visitor for Parts {
    fn expr(&mut self, e: &ExprRef) {
        let is_plain = matches!(e.ty, Type::Bool | Type::Int | Type::Bv(_)) && self.binders == 0;
        match &e.kind {
            ExprKind::Var(name) => {
                self.variables.insert(name.clone());
            }
            ExprKind::Select(..) | ExprKind::Old(_) if is_plain => self.others.push(e.clone()),
            ExprKind::Call(name, _) if is_plain && parse_builtin(name.as_str()).is_none() => {
                self.others.push(e.clone())
            }
            _ => {}
        }
        let binds = usize::from(matches!(e.kind, ExprKind::Quantifier { .. }));
        self.binders += binds;
        visit::walk_expr(self, e);
        self.binders -= binds;
    }
}
