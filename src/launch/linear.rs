//! Registers of a kernel as sums of thread ids, block ids and constants.
//!
//! Input: a kernel program. Output: [`Form`]s of what its statements use. Establishes: nothing that a proof could use:
//! wrap-around is not looked at, and a variable that is assigned again keeps the form of its first assignment.
//! Relies on: the order of the text, in which a register is mostly set before it is used. Reference: none; what reads
//! forms guesses launch sizes.

use crate::geometry::Axis;
use crate::ivl::ast::{ExprKind, ExprRef, Name};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use std::collections::{BTreeMap, BTreeSet};

/// Terms of a sum; longer sums count as unknown.
const MOST_TERMS: usize = 8;

/// Larger numbers count as unknown, so that no sum or product of two numbers of a form overflows.
const LARGEST: u64 = 1 << 30;

/// What stands in a sum.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Term {
    /// `tid` of an axis.
    Thread(Axis),
    /// `ctaid` of an axis.
    Block(Axis),
    /// `ctaid * ntid` of an axis, where the block is of any size.
    BlockStart(Axis),
    /// The rest of `tid` of an axis by a power of two: a column of a block whose threads are on one axis.
    Rest(Axis, u32),
    /// A variable with a value that is no such sum.
    Unknown(Name),
}

/// A sum of terms with constant factors.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    /// The factor of each term, none of them 0.
    pub(crate) terms: BTreeMap<Term, i64>,
    /// What is added.
    pub(crate) constant: i64,
}

impl Form {
    fn constant(constant: i64) -> Option<Form> {
        Form::default().plus(&Form { terms: BTreeMap::new(), constant }, 1)
    }

    pub(super) fn term(term: Term) -> Form {
        Form { terms: BTreeMap::from([(term, 1)]), constant: 0 }
    }

    /// The factor of a term.
    pub(crate) fn factor(&self, term: &Term) -> i64 {
        self.terms.get(term).copied().unwrap_or(0)
    }

    /// Its value, if it is a constant.
    pub(crate) fn value(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The variable that it is, if it is one.
    pub(crate) fn variable(&self) -> Option<&Name> {
        let mut terms = self.terms.iter();
        match (terms.next(), terms.next(), self.constant) {
            (Some((Term::Unknown(name), 1)), None, 0) => Some(name),
            _ => None,
        }
    }

    /// `self + factor * other`
    pub(super) fn plus(mut self, other: &Form, factor: i64) -> Option<Form> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (term, value) in &other.terms {
            let sum = self.factor(term).checked_add(value.checked_mul(factor)?)?;
            match sum {
                0 => self.terms.remove(term),
                _ => self.terms.insert(term.clone(), sum),
            };
        }
        let is_small = self.terms.values().chain([&self.constant]).all(|number| number.unsigned_abs() <= LARGEST);
        (is_small && self.terms.len() <= MOST_TERMS).then_some(self)
    }

    /// The difference to a form with the same terms.
    pub(crate) fn distance(&self, other: &Form) -> Option<i64> {
        (self.terms == other.terms).then_some(self.constant - other.constant)
    }
}

/// The forms of variables, first assignment first.
#[derive(Default)]
pub(crate) struct Forms {
    forms: BTreeMap<Name, Form>,
    /// Variables with several assignments.
    reassigned: BTreeSet<Name>,
    /// Of these, the ones that are a constant first.
    first: BTreeMap<Name, i64>,
    /// Variables that are the rest of a sum of thread ids by a constant, first.
    rests: BTreeSet<Name>,
}

impl Forms {
    /// Before the first assignment, with the variables that have several.
    pub(crate) fn new(reassigned: BTreeSet<Name>) -> Forms {
        Forms { reassigned, ..Forms::default() }
    }

    /// Whether the variable was assigned before.
    pub(crate) fn is_assigned(&self, variable: &Name) -> bool {
        self.forms.contains_key(variable)
    }

    /// Whether the variable has several assignments.
    pub(crate) fn is_reassigned(&self, variable: &Name) -> bool {
        self.reassigned.contains(variable)
    }

    /// Whether it is a variable that a loop changes, from a constant on.
    pub(crate) fn is_counter(&self, variable: &Name) -> bool {
        self.first.contains_key(variable)
    }

    /// Whether a variable starts with an index of threads, or with a part of one: `tid & 31`.
    pub(crate) fn is_of_threads(&self, variable: &Name) -> bool {
        self.rests.contains(variable) || self.forms.get(variable).is_some_and(has_thread)
    }

    fn is_rest(&self, value: &ExprRef) -> bool {
        let ExprKind::Call(function, args) = &value.kind else { return false };
        match (parse_builtin(function.as_str()), &args[..]) {
            (Some(Builtin::Op(BvOp::And | BvOp::Urem | BvOp::Srem, _)), [a, b]) => {
                let is_number = self.of(b).is_some_and(|form| form.value().is_some());
                is_number && self.of(a).as_ref().is_some_and(has_thread)
            }
            _ => false,
        }
    }

    /// The value of a form, or the first one of a variable that a loop changes.
    pub(crate) fn first_value(&self, form: &Form) -> Option<i64> {
        form.value().or_else(|| self.first.get(form.variable()?).copied())
    }

    /// Takes an assignment. Answers the form of the variable, and what a further assignment adds to it.
    pub(crate) fn assign(&mut self, variable: &Name, value: &ExprRef) -> (Form, Option<i64>) {
        let unknown = || Form::term(Term::Unknown(variable.clone()));
        let mut form = self.of(value).unwrap_or_else(unknown);
        if let Some(before) = self.forms.get(variable) {
            return (before.clone(), form.distance(before));
        }
        if let (true, Some(value)) = (self.is_reassigned(variable), form.value()) {
            self.first.insert(variable.clone(), value);
            form = unknown();
        }
        if self.is_rest(value) {
            self.rests.insert(variable.clone());
        }
        self.forms.insert(variable.clone(), form.clone());
        (form, None)
    }

    /// The form of an expression; `None` for one that is no sum.
    pub(crate) fn of(&self, e: &ExprRef) -> Option<Form> {
        match &e.kind {
            ExprKind::Var(name) => Some(self.variable(name)),
            ExprKind::Bv(value) => Form::constant(signed(*value, bv::width(e))?),
            ExprKind::Extract { value, low: 0, .. } => self.of(value),
            ExprKind::Call(function, args) => self.call(parse_builtin(function.as_str())?, args),
            _ => None,
        }
    }

    fn variable(&self, name: &Name) -> Form {
        let axis = |vector: &str| Axis::of(name.as_str(), vector);
        let id = axis("tid").map(Term::Thread).or_else(|| axis("ctaid").map(Term::Block));
        let known = || self.forms.get(name).cloned();
        match id {
            Some(term) => Form::term(term),
            None => known().unwrap_or_else(|| Form::term(Term::Unknown(name.clone()))),
        }
    }

    fn call(&self, builtin: Builtin, args: &[ExprRef]) -> Option<Form> {
        match (builtin, args) {
            (Builtin::ZeroExtend { .. } | Builtin::SignExtend { .. }, [value]) => self.of(value),
            // Compilers write sums of disjoint bits as a disjunction.
            (Builtin::Op(BvOp::Add | BvOp::Or, _), [a, b]) => self.of(a)?.plus(&self.of(b)?, 1),
            (Builtin::Op(BvOp::Sub, _), [a, b]) => self.of(a)?.plus(&self.of(b)?, -1),
            // All bits turned: `-1 - a`.
            (Builtin::Op(BvOp::Not, _), [a]) => Form::constant(-1)?.plus(&self.of(a)?, -1),
            (Builtin::Op(BvOp::Shl, _), [a, b]) => {
                let distance = u32::try_from(self.of(b)?.value()?).ok()?;
                Form::default().plus(&self.of(a)?, 1i64.checked_shl(distance)?)
            }
            (Builtin::Op(BvOp::Mul, _), [a, b]) => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                match (a.value(), b.value()) {
                    (_, Some(factor)) => Form::default().plus(&a, factor),
                    (Some(factor), _) => Form::default().plus(&b, factor),
                    _ => block_start(&a, &b).or_else(|| block_start(&b, &a)),
                }
            }
            _ => None,
        }
    }
}

fn has_thread(form: &Form) -> bool {
    form.terms.keys().any(|term| matches!(term, Term::Thread(_)))
}

/// `ctaid * ntid`, if that is what the two are.
fn block_start(block: &Form, size: &Form) -> Option<Form> {
    Axis::ALL.into_iter().find_map(|axis| {
        let ntid = Term::Unknown(Name::from(format!("ntid.{axis}")));
        let matches = *block == Form::term(Term::Block(axis)) && *size == Form::term(ntid);
        matches.then(|| Form::term(Term::BlockStart(axis)))
    })
}

/// The two's complement value.
fn signed(value: u128, width: u32) -> Option<i64> {
    let value = i128::try_from(value).ok()?;
    let wraps = (8..=64).contains(&width) && value >= 1 << (width - 1);
    i64::try_from(if wraps { value - (1 << width) } else { value }).ok()
}
