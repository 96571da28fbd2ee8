//! Values of parameters that a host is likely to pass.
//!
//! Input: the lowered kernel. Output: conditions on its integer parameters. Establishes: nothing; they steer the search for
//! defects, and are offered as conditions of a proof. No proof takes them for granted silently. Relies on: nothing.
//! Reference: none; the table is in docs/stages/launch.md, the same for every kernel:
//!
//! - what bounds an index or a loop, or is a factor of an index, is positive; with 64 bits, it is at most 2^56;
//! - a product of two sizes has 31 bits, or is at most 2^56 with a size of 64 bits, if one is a factor of an index;
//! - a factor of the rows (a pitch) is at least what bounds the columns, or the threads of a row of a block where nothing
//!   bounds them.
//!
//! What is only added to an index (an offset), or compared for equality (a switch), may be any number.

use super::conditions::Condition;
use super::linear::{Form, Forms, Term};
use crate::finding::ParameterValue;
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{ExprKind, ExprRef, Name, StmtKind};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use crate::ivl::visit;
use crate::kernel::{Kernel, KernelParameter};
use crate::vcgen::ranges;
use std::collections::{BTreeMap, BTreeSet};

/// What values of parameters a host is likely to pass.
pub(crate) fn conditions(kernel: &Kernel) -> Vec<Condition> {
    let uses = Uses::of(kernel);
    let is_size = |name: &String| uses.bounds.contains_key(name) || uses.factors.contains_key(name);
    let sizes: Vec<String> = free(kernel).map(|parameter| parameter.name.clone()).filter(is_size).collect();
    let is_wide = |name: &String| kernel.params.iter().any(|parameter| parameter.name == *name && parameter.bits == 64);
    let size = |name: String| if is_wide(&name) { Condition::Size(name) } else { Condition::Positive(name) };
    let mut conditions: Vec<Condition> = sizes.iter().cloned().map(size).collect();
    for (factor, rows) in uses.factors.iter().filter(|(factor, _)| sizes.contains(factor)) {
        for (bound, columns) in uses.bounds.iter().filter(|(bound, _)| sizes.contains(bound)) {
            // A loop's counter is on no axis. What bounds nothing is a pitch along it, too.
            let is_pitch = rows.is_empty() != columns.is_empty() && !uses.bounds.contains_key(factor);
            let are_on_axes = !rows.is_empty() && !columns.is_empty();
            let are_apart = (are_on_axes || is_pitch) && rows.is_disjoint(columns) && !uses.unclear.contains(bound);
            if !are_apart {
                let product = if is_wide(factor) || is_wide(bound) { Condition::Volume } else { Condition::Area };
                conditions.push(product(factor.clone(), bound.clone()));
            } else if !uses.factors.contains_key(bound) {
                conditions.push(Condition::AtLeast(factor.clone(), bound.clone()));
            }
        }
        let is_pitch = !uses.bounds.contains_key(factor) && !rows.contains(&Term::Thread(Axis::X)) && !is_wide(factor);
        let is_bounded = conditions.iter().any(|c| matches!(c, Condition::AtLeast(pitch, _) if pitch == factor));
        if is_pitch && !is_bounded && kernel.geometry.block[Axis::X.index()] != Some(1) {
            conditions.push(Condition::CoversBlock(factor.clone()));
        }
    }
    conditions
}

/// Whether a launch meets the conditions, as far as their parameters are known.
pub(crate) fn are_met(
    conditions: &[Condition],
    launch: Geometry<u32>,
    params: &BTreeMap<String, ParameterValue>,
) -> bool {
    let is_known = |condition: &&Condition| condition.parameters().into_iter().all(|name| params.contains_key(name));
    conditions.iter().filter(is_known).all(|condition| condition.holds_in(launch, params))
}

/// The integers that the user left free: what was asked for is looked at as it is.
fn free(kernel: &Kernel) -> impl Iterator<Item = &KernelParameter> {
    let requires = kernel.program.procedures.iter().flat_map(|procedure| ranges::of_preconditions(&procedure.requires));
    let fixed: BTreeSet<Name> = requires.filter(|(_, (low, high))| low == high).map(|(constant, _)| constant).collect();
    let is_free = move |parameter: &&KernelParameter| {
        let constant = parameter.constant.as_ref();
        matches!(parameter.bits, 32 | 64)
            && !parameter.is_pointer
            && constant.is_some_and(|constant| !fixed.contains(constant))
    };
    kernel.params.iter().filter(is_free)
}

/// How statements use parameters, by name: with the ids of the sums that they are compared with, or multiply.
struct Uses<'k> {
    kernel: &'k Kernel,
    forms: Forms,
    bounds: BTreeMap<String, BTreeSet<Term>>,
    factors: BTreeMap<String, BTreeSet<Term>>,
    /// Bounds of sums that are not known, which perhaps have rows in them.
    unclear: BTreeSet<String>,
}

impl<'k> Uses<'k> {
    fn of(kernel: &'k Kernel) -> Uses<'k> {
        let bodies = || kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
        let statements = || bodies().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        let mut assigned = BTreeSet::new();
        let again = statements().flat_map(visit::assigned).filter(|variable| !assigned.insert(*variable));
        let forms = Forms::new(again.cloned().collect());
        let mut uses =
            Uses { kernel, forms, bounds: BTreeMap::new(), factors: BTreeMap::new(), unclear: BTreeSet::new() };
        for statement in statements() {
            visit::for_each_stmt_expr(statement, &mut |e| uses.expression(e));
            if let StmtKind::Assign(pairs) = &statement.kind {
                pairs.iter().for_each(|(variable, value)| {
                    uses.forms.assign(variable, value);
                });
            }
        }
        uses
    }

    fn expression(&mut self, e: &ExprRef) {
        let ExprKind::Call(function, args) = &e.kind else { return };
        args.iter().for_each(|arg| self.expression(arg));
        let (Some(Builtin::Op(op, _)), [a, b]) = (parse_builtin(function.as_str()), &args[..]) else { return };
        let is_product = op == BvOp::Mul;
        if !is_product && !op.is_comparison() {
            return;
        }
        for (parameter, other) in [(a, b), (b, a)] {
            let Some(name) = self.parameter(parameter) else { continue };
            let form = self.forms.of(other);
            let ids = form.as_ref().map(ids).unwrap_or_default();
            if !is_product && !form.is_some_and(|form| self.is_clear(&form)) {
                self.unclear.insert(name.clone());
            }
            let uses = if is_product { &mut self.factors } else { &mut self.bounds };
            uses.entry(name).or_default().extend(ids);
        }
    }

    /// Whether it is a sum of ids and of counters of loops alone.
    fn is_clear(&self, form: &Form) -> bool {
        form.terms.keys().all(|term| !matches!(term, Term::Unknown(name) if !self.forms.is_counter(name)))
    }

    /// The parameter that an expression is, perhaps with a constant added.
    fn parameter(&self, e: &ExprRef) -> Option<String> {
        let form = self.forms.of(e)?;
        let mut terms = form.terms.iter();
        let (Some((Term::Unknown(name), 1)), None) = (terms.next(), terms.next()) else { return None };
        let is_it = |constant: &Name| constant == name;
        let is_integer = |p: &&KernelParameter| matches!(p.bits, 32 | 64) && !p.is_pointer;
        let mut integers = self.kernel.params.iter().filter(is_integer);
        let found = integers.find(|p| p.constant.as_ref().is_some_and(is_it))?;
        Some(found.name.clone())
    }
}

/// The ids in a sum. A loop's counter has those that it starts with: a block a row is apart from a thread a column.
fn ids(form: &Form) -> BTreeSet<Term> {
    let id = |term: &Term| match term {
        Term::BlockStart(axis) => Some(Term::Block(*axis)),
        Term::Thread(_) | Term::Block(_) => Some(term.clone()),
        Term::Unknown(_) => None,
    };
    form.terms.keys().filter_map(id).collect()
}
