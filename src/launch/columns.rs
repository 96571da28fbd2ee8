//! How far the columns go that stand beside rows in a sum: `row * pitch + column`, in elements or in bytes.
//!
//! Input: assignments, in the order of the text. Output: for each pitch, what it has to be for rows to stay apart where no
//! parameter bounds the columns. Establishes: nothing; what is plausible is guessed from them. Relies on: [`Forms`] knows
//! the variables that were assigned before. Reference: none.

use super::linear::{Form, Forms, Term};
use super::product::Product;
use super::uses::ids;
use super::votes::greatest_common_divisor;
use crate::finding::ParameterValue;
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, Type};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use crate::kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Columns from one thread to the next, at most.
const LARGEST_STEP: i64 = 16;

/// A sum of rows and columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum {
    /// Constants that multiply ids, or unknown numbers, with the factor of their product.
    pub(super) pitches: BTreeMap<Name, i64>,
    pub(super) columns: Form,
}

impl Sum {
    fn times(&self, factor: i64) -> Option<Sum> {
        Sum::default().plus(self, factor)
    }

    /// `self + factor * other`
    fn plus(mut self, other: &Sum, factor: i64) -> Option<Sum> {
        for (pitch, apart) in &other.pitches {
            let sum = self.pitches.entry(pitch.clone()).or_default();
            *sum = sum.checked_add(apart.checked_mul(factor)?)?;
        }
        Some(Sum { columns: self.columns.plus(&other.columns, factor)?, ..self })
    }
}

/// The sums that variables are.
#[derive(Default)]
pub(super) struct Sums {
    of: BTreeMap<Name, Sum>,
}

impl Sums {
    pub(super) fn assign(&mut self, (forms, parameters): (&Forms, &BTreeSet<Name>), variable: &Name, value: &ExprRef) {
        if matches!(value.ty, Type::Bv(32 | 64))
            && !self.of.contains_key(variable)
            && !forms.is_reassigned(variable)
            && let Some(sum) = self.sum(forms, parameters, value)
        {
            self.of.insert(variable.clone(), sum);
        }
    }

    /// The ids in the columns of an expression.
    pub(super) fn ids(&self, forms: &Forms, parameters: &BTreeSet<Name>, e: &ExprRef) -> BTreeSet<Term> {
        self.sum(forms, parameters, e).map(|sum| ids(&sum.columns)).unwrap_or_default()
    }

    /// All of them, each once.
    pub(super) fn all(&self) -> BTreeSet<&Sum> {
        self.of.values().collect()
    }

    fn sum(&self, forms: &Forms, parameters: &BTreeSet<Name>, e: &ExprRef) -> Option<Sum> {
        let plain = || Some(Sum { pitches: BTreeMap::new(), columns: forms.of(e)? });
        let number = |e: &ExprRef| forms.of(e)?.value();
        let (op, [a, b]) = match &e.kind {
            ExprKind::Var(name) => return self.of.get(name).cloned().or_else(plain),
            ExprKind::Call(function, args) => match (parse_builtin(function.as_str()), &args[..]) {
                (Some(Builtin::Op(op, _)), [a, b]) => (op, [a, b]),
                (Some(Builtin::SignExtend { .. } | Builtin::ZeroExtend { .. }), [value]) => {
                    return self.sum(forms, parameters, value);
                }
                _ => return plain(),
            },
            _ => return plain(),
        };
        match op {
            BvOp::And | BvOp::Urem => {
                rest(forms, op, a, b).map(|columns| Sum { pitches: BTreeMap::new(), columns }).or_else(plain)
            }
            BvOp::Sub => match (self.sum(forms, parameters, a), self.sum(forms, parameters, b)) {
                (Some(sum), Some(taken)) if taken.pitches.is_empty() => sum.plus(&taken, -1),
                _ => plain(),
            },
            BvOp::Add | BvOp::Or => self.sum(forms, parameters, a)?.plus(&self.sum(forms, parameters, b)?, 1),
            BvOp::Shl => {
                let factor = 1i64.checked_shl(u32::try_from(number(b)?).ok()?)?;
                self.sum(forms, parameters, a)?.times(factor)
            }
            BvOp::Mul if number(a).or(number(b)).is_some() => {
                let (factor, other) = number(a).map_or_else(|| Some((number(b)?, a)), |factor| Some((factor, b)))?;
                self.sum(forms, parameters, other)?.times(factor)
            }
            BvOp::Mul if forms.of(e).is_none() => {
                let is_pitch = |e: &ExprRef| forms.of(e)?.variable().filter(|name| parameters.contains(*name)).cloned();
                match (is_pitch(a), is_pitch(b)) {
                    // The same number for all threads.
                    (Some(_), Some(_)) => Some(Sum::default()),
                    (pitch, other) => {
                        Some(Sum { pitches: BTreeMap::from([(pitch.or(other)?, 1)]), columns: Form::default() })
                    }
                }
            }
            _ => plain(),
        }
    }
}

/// `tid & 15`, `tid % 16`, or eight times that, `(tid << 3) & 120`; of `tid & -16` the rest is taken. What compilers add to
/// round towards zero is 0 for ids.
fn rest(forms: &Forms, op: BvOp, a: &ExprRef, b: &ExprRef) -> Option<Form> {
    let (number, form) = (forms.of(b)?.value()?, forms.of(a)?);
    let axis = Axis::ALL.into_iter().find(|axis| form.factor(&Term::Thread(*axis)) > 0)?;
    let own = form.factor(&Term::Thread(axis));
    let mut others = form.terms.iter().filter(|(term, _)| **term != Term::Thread(axis));
    let is_rounded = |(term, factor): (&Term, &i64)| matches!(term, Term::Unknown(_)) && own == 1 && *factor == 1;
    let is_alone = others.next().is_none_or(is_rounded) && others.next().is_none() && form.constant == 0;
    let (below, is_rest) = match op {
        BvOp::And if number < 0 => (-number, false),
        BvOp::And => (number + own, true),
        _ => (number, true),
    };
    let below = u32::try_from(below / own).ok().filter(|_| is_alone && below % own == 0)?;
    let rest = Form::default().plus(&Form::term(Term::Rest(axis, below)), own);
    match is_rest {
        _ if below < 2 || !below.is_power_of_two() => None,
        true => rest,
        false => Form::default().plus(&Form::term(Term::Thread(axis)), own)?.plus(&rest?, -1),
    }
}

/// A number of columns: products, and a number that is added.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Columns {
    products: Vec<Product>,
    number: i64,
}

impl Columns {
    /// As many as a product of parameters.
    pub(super) fn product(parameters: [&String; 2]) -> Columns {
        let parameters = parameters.map(String::clone).to_vec();
        Columns { products: vec![Product { number: 1, grid: Vec::new(), block: Vec::new(), parameters }], number: 0 }
    }

    /// A number of times a parameter.
    pub(super) fn multiple(number: u32, parameter: &str) -> Columns {
        let parameters = vec![parameter.to_owned()];
        Columns { products: vec![Product { number, grid: Vec::new(), block: Vec::new(), parameters }], number: 0 }
    }

    /// Whether sizes of the launch are among them.
    pub(super) fn are_of_launch(&self) -> bool {
        self.products.is_empty() || self.products.iter().any(|p| !p.grid.is_empty() || !p.block.is_empty())
    }

    /// One more than the last column of a sum of ids in a launch, with the columns up to the next thread's. `named` are offsets
    /// that may be added.
    pub(super) fn of(form: &Form, launch: Geometry, named: impl Fn(&Name) -> Option<String>) -> Option<Columns> {
        let of_ids = form.terms.iter().filter(|(term, _)| !matches!(term, Term::Unknown(_)));
        let step = of_ids.map(|(_, factor)| factor.abs()).min().unwrap_or(1);
        let mut columns = Columns { products: Vec::new(), number: (form.constant.max(0) / step + 1) * step };
        for axis in Axis::ALL {
            let [own, start, apart] =
                [Term::Thread(axis), Term::BlockStart(axis), Term::Block(axis)].map(|term| form.factor(&term));
            if own < start || start < 0 || apart < 0 {
                return None;
            }
            let (block, grid) = (launch.block[axis.index()], launch.grid[axis.index()]);
            // The last id is one less than their number.
            columns.number -= own + apart;
            columns.add(start, (vec![axis], grid), (vec![axis], block))?;
            columns.add(own - start, (Vec::new(), None), (vec![axis], block))?;
            columns.add(apart, (vec![axis], grid), (Vec::new(), None))?;
        }
        for (term, factor) in &form.terms {
            if let Term::Rest(_, below) = term {
                columns.number += factor.checked_mul(i64::from(below - 1)).filter(|last| *last >= 0)?;
            }
            let Term::Unknown(name) = term else { continue };
            let number = u32::try_from(*factor).ok()?;
            let parameters = vec![named(name)?];
            columns.products.push(Product { number, grid: Vec::new(), block: Vec::new(), parameters });
        }
        Some(columns)
    }

    /// Adds a number times sizes, of which some are known.
    fn add(&mut self, number: i64, grid: (Vec<Axis>, Option<u32>), block: (Vec<Axis>, Option<u32>)) -> Option<()> {
        let (mut number, mut product) = (u64::try_from(number).ok()?, (Vec::new(), Vec::new()));
        for ((axes, size), left) in [(grid, &mut product.0), (block, &mut product.1)] {
            match size {
                Some(size) if !axes.is_empty() => number = number.checked_mul(size.into())?,
                _ => *left = axes,
            }
        }
        let (grid, block) = product;
        if number == 0 {
            return Some(());
        }
        if grid.is_empty() && block.is_empty() {
            self.number = self.number.checked_add(i64::try_from(number).ok()?)?;
            return Some(());
        }
        let number = u32::try_from(number).ok()?;
        self.products.push(Product { number, grid, block, parameters: Vec::new() });
        Some(())
    }

    /// The offsets that are added.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &String> {
        self.products.iter().flat_map(|product| &product.parameters)
    }

    /// As an integer of the kernel's constants.
    pub(super) fn expression(&self, kernel: &Kernel) -> Option<ExprRef> {
        let plus = |sum: ExprRef, product: &Product| Some(bv::op(BinaryOp::Add, sum, product.expression(kernel)?));
        self.products.iter().try_fold(bv::int(self.number.into()), plus)
    }

    /// Their number in a launch.
    pub(super) fn value(&self, launch: Geometry<u32>, params: &BTreeMap<String, ParameterValue>) -> Option<i128> {
        let plus = |sum: i128, product: &Product| sum.checked_add(i128::try_from(product.value(launch, params)?).ok()?);
        self.products.iter().try_fold(i128::from(self.number), plus)
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let products: Vec<String> = self.products.iter().map(ToString::to_string).collect();
        match (products.is_empty(), self.number) {
            (true, number) => write!(f, "{number}"),
            (false, 0) => f.write_str(&products.join(" + ")),
            (false, number) if number < 0 => write!(f, "{} - {}", products.join(" + "), number.unsigned_abs()),
            (false, number) => write!(f, "{} + {number}", products.join(" + ")),
        }
    }
}

/// The pitch of a sum with the columns beside it, in units of it, if it has one pitch and columns with ids. A parameter
/// that is added several times is a pitch, too.
pub(super) fn pitch_of(sum: &Sum, parameters: &BTreeSet<Name>) -> Option<(Name, Form)> {
    let factors = || sum.columns.terms.values().chain(sum.pitches.values());
    let unit = factors().fold(0, |unit, factor| greatest_common_divisor(unit, *factor)).max(1);
    let mut pitches = sum.pitches.clone();
    let mut columns = Form { terms: BTreeMap::new(), constant: sum.columns.constant / unit };
    for (term, factor) in &sum.columns.terms {
        match term {
            Term::Unknown(name) if parameters.contains(name) && sum.pitches.contains_key(name) => {}
            Term::Unknown(name) if parameters.contains(name) && *factor > unit => {
                pitches.insert(name.clone(), unit);
            }
            _ => {
                columns.terms.insert(term.clone(), factor / unit);
            }
        }
    }
    let (pitch, apart) = pitches.pop_first().filter(|_| pitches.is_empty())?;
    // Threads that are further apart are rows of a constant length.
    let are_columns = columns.terms.iter().all(|(term, own)| !matches!(term, Term::Thread(_)) || *own <= LARGEST_STEP);
    (apart == unit && are_columns && !ids(&columns).is_empty()).then_some((pitch, columns))
}
