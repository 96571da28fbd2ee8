//! How statements use parameters: as bounds of indices, as factors of rows, as masks.
//!
//! Input: a kernel program. Output: [`Uses`], from which [`super::plausible`] reads what is likely of parameters. Establishes:
//! nothing. Relies on: [`Forms`] knows the sums of ids that variables are. Reference: none.

use super::columns::{Sums, pitch_of};
use super::digits::Digits;
use super::extents::Extents;
use super::linear::{Form, Forms, Term};
use crate::geometry::Axis;
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, StmtKind};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use crate::ivl::visit;
use crate::kernel::{Kernel, KernelParameter};
use std::collections::{BTreeMap, BTreeSet};

/// How statements use parameters, by name: with the ids of the sums that they are compared with, or multiply.
pub(super) struct Uses<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) forms: Forms,
    pub(super) bounds: BTreeMap<String, BTreeSet<Term>>,
    /// The sums that they bound, each for itself.
    pub(super) bounded: BTreeMap<String, BTreeSet<Form>>,
    pub(super) factors: BTreeMap<String, BTreeSet<Term>>,
    /// Bounds of sums that are not known, which perhaps have rows in them.
    pub(super) unclear: BTreeSet<String>,
    /// Sums of ids that parameters bound.
    pub(super) indices: BTreeSet<(String, Form)>,
    /// Parameters that bound an index with which threads go on, step by step.
    pub(super) stepped: BTreeSet<String>,
    /// Ids with which parameters are compared for equality.
    pub(super) equal: BTreeMap<String, BTreeSet<Term>>,
    /// Ids that are compared with what depends on a parameter: `x < 1024 - step`.
    pub(super) limited: BTreeSet<Term>,
    /// Products of two parameters.
    pub(super) pairs: BTreeSet<(String, String)>,
    /// Products of parameters of 32 bits that bound an index.
    pub(super) volumes: BTreeSet<Vec<Name>>,
    /// Parameters by which, or by products with which, operations divide.
    pub(super) divisors: BTreeSet<Name>,
    /// Parameters of 32 bits that are masks when they are one less.
    pub(super) masks: BTreeSet<String>,
    /// Parameters that operations use otherwise than as bound of an index or as factor of a sum of ids: steps of loops may
    /// be made of them.
    pub(super) mixed: BTreeSet<String>,
    /// Ids that run down in the rows that parameters multiply: columns with them are no rows.
    pub(super) down: BTreeMap<String, BTreeSet<Term>>,
    /// Variables that are at most as large as a parameter: a part of it, or what others leave of it.
    pub(super) parts: BTreeMap<Name, String>,
    /// Parameters of 32 bits that are taken from others.
    pub(super) taken: BTreeSet<String>,
    /// Ids that stand beside products of unknowns in what a variable is.
    pub(super) hidden: BTreeMap<Name, BTreeSet<Term>>,
    pub(super) extents: Extents,
    pub(super) sums: Sums,
    pub(super) digits: Digits,
    /// Constants that stand for integer parameters of 32 bits.
    pub(super) narrow: BTreeSet<Name>,
    /// The same of any width.
    pub(super) integers: BTreeSet<Name>,
    /// Axes along which threads or blocks do the work of several.
    pub(super) looped: BTreeSet<Axis>,
}

impl<'k> Uses<'k> {
    pub(super) fn of(kernel: &'k Kernel) -> Uses<'k> {
        let bodies = || kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
        let statements = || bodies().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        let mut assigned = BTreeSet::new();
        let again = statements().flat_map(visit::assigned).filter(|variable| !assigned.insert(*variable));
        let forms = Forms::new(again.cloned().collect());
        let constants = |widths: &[u32]| -> BTreeSet<Name> {
            let integers = kernel.params.iter().filter(|p| widths.contains(&p.bits) && !p.is_pointer);
            integers.filter_map(|parameter| parameter.constant.clone()).collect()
        };
        let (narrow, integers) = (constants(&[32]), constants(&[32, 64]));
        let mut uses = Uses {
            kernel,
            forms,
            extents: Extents::new(narrow.clone()),
            sums: Sums::default(),
            digits: Digits::default(),
            narrow,
            integers,
            bounds: BTreeMap::new(),
            bounded: BTreeMap::new(),
            factors: BTreeMap::new(),
            unclear: BTreeSet::new(),
            indices: BTreeSet::new(),
            stepped: BTreeSet::new(),
            equal: BTreeMap::new(),
            limited: BTreeSet::new(),
            pairs: BTreeSet::new(),
            volumes: BTreeSet::new(),
            divisors: BTreeSet::new(),
            masks: BTreeSet::new(),
            mixed: BTreeSet::new(),
            down: BTreeMap::new(),
            parts: BTreeMap::new(),
            taken: BTreeSet::new(),
            hidden: BTreeMap::new(),
            looped: BTreeSet::new(),
        };
        for statement in statements() {
            visit::for_each_stmt_expr(statement, &mut |e| uses.expression(e));
            if let StmtKind::Assign(pairs) = &statement.kind {
                pairs.iter().for_each(|(variable, value)| uses.assign(variable, value));
            }
        }
        // A parameter that is added several times multiplies no id.
        let pitches = uses.sums.all().into_iter().filter_map(|sum| Some(pitch_of(sum, &uses.integers)?.0));
        let pitches: Vec<String> = pitches.filter_map(|pitch| uses.named(&pitch)).collect();
        pitches.into_iter().for_each(|pitch| uses.factors.entry(pitch).or_default().extend(None));
        uses.pairs();
        uses
    }

    /// Of two parameters that are multiplied both are sizes, unless one stands for a row.
    fn pairs(&mut self) {
        let rows = self.rows_of_pitches();
        let both = self.pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let factors: Vec<String> = both.filter(|(a, _)| !rows.contains_key(*a)).map(|(a, _)| a.clone()).collect();
        factors.into_iter().for_each(|factor| self.factors.entry(factor).or_default().extend(None));
    }

    /// Parameters that a pitch multiplies, with that pitch, and of which nothing says that they are sizes: they are numbers
    /// of rows.
    pub(super) fn rows_of_pitches(&self) -> BTreeMap<String, String> {
        let is_size = |name: &String| self.bounds.contains_key(name) || self.factors.contains_key(name);
        let is_row = |row: &String, pitch: &String| !is_size(row) && self.factors.contains_key(pitch);
        let both = self.pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        both.filter(|(row, pitch)| is_row(row, pitch)).map(|(row, pitch)| (row.clone(), pitch.clone())).collect()
    }

    fn assign(&mut self, variable: &Name, value: &ExprRef) {
        self.extents.assign(&self.forms, variable, value);
        self.sums.assign((&self.forms, &self.integers), variable, value);
        self.digits.assign((&self.forms, &self.integers), variable, value);
        if let Some(size) = self.part(value).filter(|_| !self.forms.is_reassigned(variable)) {
            self.parts.entry(variable.clone()).or_insert(size);
        }
        if self.forms.of(value).is_none() {
            let ids = self.ids_in(value);
            self.hidden.entry(variable.clone()).or_insert(ids);
        }
        let (form, _) = self.forms.assign(variable, value);
        if self.forms.is_reassigned(variable) {
            self.looped.extend(ids(&form).into_iter().filter_map(|id| match id {
                Term::Block(axis) => Some(axis),
                _ => None,
            }));
        }
    }

    fn expression(&mut self, e: &ExprRef) {
        visit::children(e).into_iter().for_each(|operand| self.expression(operand));
        let (function, args) = match &e.kind {
            ExprKind::Call(function, args) => (function, args),
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                self.equality(a, b);
                self.equality(b, a);
                return;
            }
            ExprKind::Var(name) => {
                self.looped.extend(Axis::of(name.as_str(), "nctaid"));
                return;
            }
            _ => return,
        };
        let (Some(Builtin::Op(op, _)), [a, b]) = (parse_builtin(function.as_str()), &args[..]) else { return };
        if op == BvOp::And {
            // What a constant is a mask of is counted modulo a power of two, as where compilers copy loops.
            let is_known = |e: &ExprRef| self.forms.of(e).is_some_and(|form| form.value().is_some());
            let masks = [(a, b), (b, a)].into_iter().filter(|(_, index)| !is_known(index));
            let masks: Vec<String> = masks.filter_map(|(mask, _)| self.one_more(mask)).collect();
            self.masks.extend(masks);
        }
        if matches!(op, BvOp::Udiv | BvOp::Sdiv | BvOp::Urem | BvOp::Srem) {
            self.divisors.extend(self.extents.product_of_parameters(&self.forms, b).into_iter().flatten());
        }
        if op.is_comparison() {
            let bounds = [(a, b), (b, a)].into_iter().filter(|(index, _)| !self.ids_in(index).is_empty());
            let volumes = bounds.filter_map(|(_, bound)| self.extents.product_of_parameters(&self.forms, bound));
            let volumes: Vec<_> = volumes.filter(|volume| volume.len() > 1).collect();
            self.volumes.extend(volumes);
        }
        let is_product = op == BvOp::Mul;
        for (parameter, other) in [(a, b), (b, a)] {
            let Some(name) = self.parameter(parameter).filter(|_| !op.is_comparison()) else { continue };
            let is_of_ids = |form: &Form| !ids(form).is_empty() && self.is_of_ids(form);
            if !is_product || !self.forms.of(other).as_ref().is_some_and(is_of_ids) {
                self.mixed.insert(name);
            }
        }
        if !is_product && !op.is_comparison() {
            return;
        }
        if !is_product {
            let forms: Vec<Form> = [a, b].into_iter().filter_map(|side| self.forms.of(side)).collect();
            let depends = |form: &Form| {
                form.terms.keys().any(|term| matches!(term, Term::Unknown(name) if self.named(name).is_some()))
            };
            if forms.iter().any(depends) {
                let of_sums = [a, b].into_iter().flat_map(|side| self.sums.ids(&self.forms, &self.integers, side));
                self.limited.extend(forms.iter().flat_map(ids).chain(of_sums));
            }
        }
        for (parameter, other) in [(a, b), (b, a)] {
            let Some(name) = self.parameter(parameter) else { continue };
            let taken = self.forms.of(parameter).and_then(|form| self.difference(&form)).map(|(_, taken)| taken);
            self.taken.extend(taken.into_iter().flatten());
            if let Some(factor) = self.parameter(other).filter(|_| is_product) {
                self.pairs.insert((name, factor));
                continue;
            }
            let form = self.forms.of(other);
            let ids = self.ids_in(other);
            if !is_product && !form.as_ref().is_some_and(|form| self.is_clear(form)) {
                self.unclear.insert(name.clone());
            }
            if !is_product && let Some(index) = self.forms.of(other) {
                self.indices.extend(self.exact(parameter).map(|name| (name, index)));
            }
            if !is_product {
                self.bounded.entry(name.clone()).or_default().extend(form.clone());
                let is_index = |index| self.forms.is_reassigned(index) && self.forms.is_of_threads(index);
                let is_stepped = matches!(&other.kind, ExprKind::Var(index) if is_index(index));
                self.stepped.extend(is_stepped.then(|| name.clone()));
            }
            if is_product && let Some(form) = &form {
                self.down.entry(name.clone()).or_default().extend(running_down(form));
            }
            let uses = if is_product { &mut self.factors } else { &mut self.bounds };
            uses.entry(name).or_default().extend(ids);
        }
    }

    /// The ids in a sum, beside products of unknowns.
    fn ids_in(&self, e: &ExprRef) -> BTreeSet<Term> {
        let operands = match &e.kind {
            ExprKind::Call(function, args) => match (parse_builtin(function.as_str()), &args[..]) {
                (Some(Builtin::Op(BvOp::Add | BvOp::Or, _)), [a, b]) => vec![a, b],
                (Some(Builtin::SignExtend { .. } | Builtin::ZeroExtend { .. }), [value]) => vec![value],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let hidden = |form: &Form| -> BTreeSet<Term> {
            let unknown =
                form.terms.keys().filter_map(|term| if let Term::Unknown(name) = term { Some(name) } else { None });
            unknown.filter_map(|name| self.hidden.get(name)).flatten().cloned().collect()
        };
        match self.forms.of(e) {
            Some(form) => ids(&form).union(&hidden(&form)).cloned().collect(),
            None if operands.is_empty() => self.ids_in_quotient(e).unwrap_or_default(),
            None => operands.into_iter().flat_map(|operand| self.ids_in(operand)).collect(),
        }
    }

    /// The ids in a part of an index, `y / 2`. What is divided within a block makes rows and columns of the same ids.
    fn ids_in_quotient(&self, e: &ExprRef) -> Option<BTreeSet<Term>> {
        let ExprKind::Call(function, args) = &e.kind else { return None };
        let is_number = |e: &ExprRef| self.forms.of(e).is_some_and(|form| form.value().is_some());
        match (parse_builtin(function.as_str())?, &args[..]) {
            (Builtin::Op(BvOp::Lshr | BvOp::Ashr | BvOp::Udiv | BvOp::Sdiv, _), [a, b]) if is_number(b) => {
                Some(self.ids_in(a)).filter(|ids| ids.iter().any(|id| matches!(id, Term::Block(_))))
            }
            _ => None,
        }
    }

    fn equality(&mut self, parameter: &ExprRef, index: &ExprRef) {
        let ids = self.forms.of(index).as_ref().map(ids).unwrap_or_default();
        if let Some(name) = self.exact(parameter).filter(|_| !ids.is_empty()) {
            self.equal.entry(name).or_default().extend(ids);
        }
    }

    /// The parameter that an expression is.
    fn exact(&self, e: &ExprRef) -> Option<String> {
        self.named(self.forms.of(e)?.variable()?)
    }

    /// Whether it is a sum of ids alone.
    fn is_of_ids(&self, form: &Form) -> bool {
        !form.terms.keys().any(|term| matches!(term, Term::Unknown(_)))
    }

    /// Whether it is a sum of ids, of counters of loops and of parameters alone.
    fn is_clear(&self, form: &Form) -> bool {
        let is_row = |term: &Term, factor: i64| match term {
            Term::Unknown(name) => !self.forms.is_counter(name) && (factor != 1 || self.named(name).is_none()),
            _ => false,
        };
        !form.terms.iter().any(|(term, factor)| is_row(term, *factor))
    }

    /// The parameter that an expression is, perhaps with a constant added, or of which it is a part.
    fn parameter(&self, e: &ExprRef) -> Option<String> {
        if let ExprKind::Var(name) = &e.kind
            && let Some(size) = self.parts.get(name)
        {
            return Some(size.clone());
        }
        let alone = self.forms.of(e).and_then(|form| {
            let mut terms = form.terms.iter();
            let (Some((Term::Unknown(name), 1)), None) = (terms.next(), terms.next()) else { return None };
            self.named(name).or_else(|| self.parts.get(name).cloned())
        });
        alone.or_else(|| self.part(e))
    }

    /// The parameter of which an expression is a part, `w / 2`, or what others leave, `w - radius + 1`. Compilers divide what
    /// may be negative as `(w + (w >> 31)) >> 1`.
    fn part(&self, e: &ExprRef) -> Option<String> {
        if let Some((size, _)) = self.forms.of(e).and_then(|form| self.difference(&form)) {
            return Some(size);
        }
        let ExprKind::Call(function, args) = &e.kind else { return None };
        match (parse_builtin(function.as_str())?, &args[..]) {
            (Builtin::Op(BvOp::Lshr | BvOp::Ashr | BvOp::Udiv | BvOp::Sdiv, _), [a, b]) => {
                self.forms.of(b)?.value().and_then(|_| self.parameter(a))
            }
            (Builtin::Op(BvOp::Add, _), [a, b]) => {
                self.parameter(a).filter(|size| self.parameter(b).as_ref() == Some(size))
            }
            (Builtin::SignExtend { .. } | Builtin::ZeroExtend { .. }, [value]) => self.parameter(value),
            _ => None,
        }
    }

    /// The parameter in a difference of parameters, and what is taken from it.
    fn difference(&self, form: &Form) -> Option<(String, Vec<String>)> {
        let (mut size, mut taken) = (None, Vec::new());
        for (term, factor) in &form.terms {
            let Term::Unknown(name) = term else { return None };
            match (self.named(name)?, factor) {
                (name, 1) if size.is_none() => size = Some(name),
                (name, factor) if *factor < 0 => taken.push(name),
                _ => return None,
            }
        }
        size.filter(|_| !taken.is_empty()).map(|size| (size, taken))
    }

    /// The parameter of 32 bits of which an expression is one less.
    fn one_more(&self, e: &ExprRef) -> Option<String> {
        let form = self.forms.of(e)?;
        let is_mask = |name: &&Name| self.narrow.contains(*name) && form.constant == -1;
        let mut terms = form.terms.iter();
        match (terms.next(), terms.next()) {
            (Some((Term::Unknown(name), 1)), None) => self.named(Some(name).filter(is_mask)?),
            _ => None,
        }
    }

    /// The integer parameter that a constant stands for.
    pub(super) fn named(&self, name: &Name) -> Option<String> {
        let is_it = |constant: &Name| constant == name;
        let is_integer = |p: &&KernelParameter| matches!(p.bits, 32 | 64) && !p.is_pointer;
        let mut integers = self.kernel.params.iter().filter(is_integer);
        let found = integers.find(|p| p.constant.as_ref().is_some_and(is_it))?;
        Some(found.name.clone())
    }
}

/// The ids in a sum. A loop's counter has those that it starts with: a block a row is apart from a thread a column.
pub(super) fn ids(form: &Form) -> BTreeSet<Term> {
    let id = |term: &Term| match term {
        Term::BlockStart(axis) => Some(Term::Block(*axis)),
        Term::Thread(_) | Term::Block(_) | Term::Rest(..) => Some(term.clone()),
        Term::Unknown(_) => None,
    };
    form.terms.keys().filter_map(id).collect()
}

/// The ids in a sum that make it smaller.
fn running_down(form: &Form) -> BTreeSet<Term> {
    let down = form.terms.iter().filter(|(_, factor)| **factor < 0);
    ids(&Form { terms: down.map(|(term, factor)| (term.clone(), *factor)).collect(), constant: 0 })
}
