//! Rows and columns that one index is divided into, beside a pitch: `(i / width) * pitch + i % width`.
//!
//! Input: assignments, in the order of the text. Output: pitches with the parameter that their rows are long, and how many units
//! of the pitch a column takes. Establishes: nothing; what is plausible is guessed from them. Relies on: [`Forms`] knows the
//! variables that were assigned before. Reference: none.

use super::linear::{Form, Forms, Term};
use crate::ivl::ast::{ExprKind, ExprRef, Name};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use std::collections::{BTreeMap, BTreeSet};

/// A pitch of rows with the number of columns in each, and the units of the pitch that a column takes.
pub(super) type Row = (Name, Name, u32);

/// Parts of a sum.
#[derive(Clone, Default)]
struct Parts {
    /// Quotients times a pitch: the pitch and the divisor, with the factor of the product.
    rows: BTreeMap<(Name, Name), i64>,
    /// Rests by a divisor, with their factors.
    columns: BTreeMap<Name, i64>,
}

impl Parts {
    fn times(mut self, factor: i64) -> Parts {
        self.rows.values_mut().chain(self.columns.values_mut()).for_each(|own| *own = own.saturating_mul(factor));
        self
    }

    fn and(mut self, other: Parts) -> Parts {
        self.rows.extend(other.rows);
        self.columns.extend(other.columns);
        self
    }
}

/// What variables are, with regard to parameters that divide an index.
#[derive(Default)]
pub(super) struct Digits {
    /// The divisors of quotients.
    quotients: BTreeMap<Name, Name>,
    /// Those of quotients times their divisor: what an index is more than it is the rest.
    multiples: BTreeMap<Name, Name>,
    sums: BTreeMap<Name, Parts>,
    rows: BTreeSet<Row>,
}

impl Digits {
    /// Rows of which both parts stand in a sum.
    pub(super) fn rows(&self) -> &BTreeSet<Row> {
        &self.rows
    }

    /// `integers` are constants that stand for integer parameters.
    pub(super) fn assign(&mut self, (forms, integers): (&Forms, &BTreeSet<Name>), variable: &Name, value: &ExprRef) {
        let known = [&self.quotients, &self.multiples].into_iter().any(|known| known.contains_key(variable));
        if known || self.sums.contains_key(variable) || forms.is_reassigned(variable) {
            return;
        }
        let parameter = |e: &ExprRef| forms.of(e)?.variable().filter(|name| integers.contains(*name)).cloned();
        let value = defined(value);
        if let Some((BvOp::Udiv | BvOp::Sdiv, _, b)) = operation(value) {
            self.quotients.extend(parameter(b).map(|divisor| (variable.clone(), divisor)));
            return;
        }
        let sum = self.sum(forms, &parameter, value);
        for ((pitch, divisor), factor) in &sum.rows {
            let units = sum.columns.get(divisor).filter(|own| **own > 0 && **own % factor == 0);
            let units = units.and_then(|own| u32::try_from(own / factor).ok());
            self.rows.extend(units.map(|units| (pitch.clone(), divisor.clone(), units)));
        }
        if let Some((BvOp::Mul, a, b)) = operation(value)
            && let Some(divisor) = [(a, b), (b, a)].into_iter().find_map(|(quotient, by)| {
                let divisor = self.quotient(forms, quotient)?;
                (parameter(by).as_ref() == Some(divisor)).then_some(divisor)
            })
        {
            self.multiples.insert(variable.clone(), divisor.clone());
        } else {
            self.sums.insert(variable.clone(), sum);
        }
    }

    fn quotient(&self, forms: &Forms, e: &ExprRef) -> Option<&Name> {
        self.quotients.get(forms.of(e)?.variable()?)
    }

    fn sum(&self, forms: &Forms, parameter: &dyn Fn(&ExprRef) -> Option<Name>, e: &ExprRef) -> Parts {
        let sum = |e: &ExprRef| self.sum(forms, parameter, e);
        let number = |e: &ExprRef| forms.of(e).and_then(|form| form.value());
        match &e.kind {
            ExprKind::Var(name) if self.sums.contains_key(name) => return self.sums[name].clone(),
            ExprKind::Call(function, args) => match (parse_builtin(function.as_str()), &args[..]) {
                (Some(Builtin::SignExtend { .. } | Builtin::ZeroExtend { .. }), [value]) => return sum(value),
                (Some(Builtin::Op(BvOp::Add | BvOp::Or, _)), [a, b]) => return sum(a).and(sum(b)),
                (Some(Builtin::Op(BvOp::Shl, _)), [a, b]) => {
                    let factor = number(b).and_then(|by| 1i64.checked_shl(u32::try_from(by).ok()?));
                    return factor.map(|factor| sum(a).times(factor)).unwrap_or_default();
                }
                (Some(Builtin::Op(BvOp::Mul, _)), [a, b]) => return self.product(forms, parameter, a, b),
                (Some(Builtin::Op(BvOp::Urem | BvOp::Srem, _)), [_, b]) => {
                    let columns = parameter(b).into_iter().map(|divisor| (divisor, 1)).collect();
                    return Parts { rows: BTreeMap::new(), columns };
                }
                _ => {}
            },
            _ => {}
        }
        let columns = forms.of(e).map(|form| self.columns(&form)).unwrap_or_default();
        Parts { rows: BTreeMap::new(), columns }
    }

    fn product(&self, forms: &Forms, parameter: &dyn Fn(&ExprRef) -> Option<Name>, a: &ExprRef, b: &ExprRef) -> Parts {
        let number = |e: &ExprRef| forms.of(e).and_then(|form| form.value());
        for (a, b) in [(a, b), (b, a)] {
            if let Some(factor) = number(b) {
                return self.sum(forms, parameter, a).times(factor);
            }
            let extended = |e: &ExprRef| self.quotient(forms, e).cloned();
            if let Some((divisor, pitch)) = extended(a).zip(parameter(b)).filter(|(divisor, pitch)| divisor != pitch) {
                return Parts { rows: BTreeMap::from([((pitch, divisor), 1)]), columns: BTreeMap::new() };
            }
        }
        Parts::default()
    }

    /// What an index is more than multiples of divisors.
    fn columns(&self, form: &Form) -> BTreeMap<Name, i64> {
        let rest = |(term, factor): (&Term, &i64)| match term {
            Term::Unknown(name) if *factor < 0 => Some((self.multiples.get(name)?.clone(), -factor)),
            _ => None,
        };
        form.terms.iter().filter_map(rest).collect()
    }
}

/// A quotient as it is where PTX defines it.
fn defined(e: &ExprRef) -> &ExprRef {
    match &e.kind {
        ExprKind::Ite(_, _, value) => value,
        _ => e,
    }
}

fn operation(e: &ExprRef) -> Option<(BvOp, &ExprRef, &ExprRef)> {
    let ExprKind::Call(function, args) = &e.kind else { return None };
    match (parse_builtin(function.as_str())?, &args[..]) {
        (Builtin::Op(op, _), [a, b]) => Some((op, a, b)),
        _ => None,
    }
}
