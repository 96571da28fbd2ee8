//! Products of parameters and ids in a kernel's sums of 32 bits.
//!
//! Input: assignments, in the order of the text. Output: [`Extent`]s, which tell how far a sum goes. Establishes: nothing;
//! what is plausible is guessed from them. Relies on: [`Forms`] knows the variables that were assigned before.
//! Reference: none.

use super::linear::{Form, Forms, Term};
use super::uses::ids;
use crate::geometry::Axis;
use crate::ivl::ast::{ExprKind, ExprRef, Name, Type};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use std::collections::{BTreeMap, BTreeSet};

/// Products of one sum; what follows is not looked at.
const MOST_PRODUCTS: usize = 6;

/// Parameters of one product.
const MOST_PARAMETERS: usize = 4;

/// The largest number in a product.
const LARGEST: u64 = 1 << 24;

/// A number times parameters times what grows with ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub(super) number: u64,
    /// Constants that stand for parameters, each as often as it is a factor.
    pub(super) parameters: Vec<Name>,
    pub(super) ids: BTreeSet<Term>,
    /// How far blocks are apart along an axis, in units of the number, where that is a constant.
    pub(super) apart: BTreeMap<Axis, u64>,
}

impl Extent {
    fn of_number(number: u64) -> Extent {
        Extent { number, parameters: Vec::new(), ids: BTreeSet::new(), apart: BTreeMap::new() }
    }

    fn times(&self, other: &Extent) -> Option<Extent> {
        let mut parameters = [self.parameters.clone(), other.parameters.clone()].concat();
        parameters.sort();
        let number = self.number.checked_mul(other.number)?;
        let ids = self.ids.union(&other.ids).cloned().collect();
        let apart = self.apart.iter().chain(&other.apart).map(|(axis, apart)| (*axis, *apart)).collect();
        let is_small = number <= LARGEST && parameters.len() <= MOST_PARAMETERS;
        is_small.then_some(Extent { number, parameters, ids, apart })
    }
}

/// What sums of variables go to.
pub(super) struct Extents {
    parameters: BTreeSet<Name>,
    sums: BTreeMap<Name, Vec<Extent>>,
}

impl Extents {
    /// For a kernel in which these constants stand for integer parameters of 32 bits.
    pub(super) fn new(parameters: BTreeSet<Name>) -> Extents {
        Extents { parameters, sums: BTreeMap::new() }
    }

    pub(super) fn assign(&mut self, forms: &Forms, variable: &Name, value: &ExprRef) {
        let is_known = self.sums.contains_key(variable) || forms.is_reassigned(variable);
        if !is_known && value.ty == Type::Bv(32) {
            let extents = self.of(forms, value);
            self.sums.insert(variable.clone(), extents);
        }
    }

    /// The parameters whose product an expression is.
    pub(super) fn product_of_parameters(&self, forms: &Forms, e: &ExprRef) -> Option<Vec<Name>> {
        let mut extents = self.of(forms, e).into_iter();
        let (product, None) = (extents.next()?, extents.next()) else { return None };
        (product.number == 1 && product.ids.is_empty()).then_some(product.parameters)
    }

    /// All products with a parameter.
    pub(super) fn products(&self) -> BTreeSet<&Extent> {
        self.sums.values().flatten().filter(|extent| !extent.parameters.is_empty()).collect()
    }

    fn of(&self, forms: &Forms, e: &ExprRef) -> Vec<Extent> {
        let form = forms.of(e);
        if let Some(extent) = form.as_ref().and_then(|form| self.of_form(form)) {
            return vec![extent];
        }
        match &e.kind {
            ExprKind::Var(name) => self.sums.get(name).cloned().unwrap_or_default(),
            ExprKind::Call(function, args) => match (parse_builtin(function.as_str()), &args[..]) {
                (Some(Builtin::Op(op, _)), [a, b]) => self.of_operation(forms, op, a, b),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn of_operation(&self, forms: &Forms, op: BvOp, a: &ExprRef, b: &ExprRef) -> Vec<Extent> {
        let number =
            |e: &ExprRef| forms.of(e).and_then(|form| form.value()).and_then(|value| u64::try_from(value).ok());
        let factors = |e: &ExprRef| match number(e) {
            Some(number) => vec![Extent::of_number(number)],
            None => self.of(forms, e),
        };
        let products = |a: &[Extent], b: &[Extent]| -> BTreeSet<Extent> {
            a.iter().flat_map(|a| b.iter().filter_map(|b| a.times(b))).collect()
        };
        let all: BTreeSet<Extent> = match op {
            BvOp::Add | BvOp::Or => self.of(forms, a).into_iter().chain(self.of(forms, b)).collect(),
            // What is taken makes it no larger.
            BvOp::Sub => self.of(forms, a).into_iter().collect(),
            BvOp::Mul => products(&factors(a), &factors(b)),
            BvOp::Shl => {
                let power = number(b).and_then(|distance| 1u64.checked_shl(u32::try_from(distance).ok()?));
                products(&self.of(forms, a), &Vec::from_iter(power.map(Extent::of_number)))
            }
            BvOp::Lshr | BvOp::Ashr => {
                let part = number(b).and_then(|distance| 1u64.checked_shl(u32::try_from(distance).ok()?));
                self.parts(forms, a, part)
            }
            BvOp::Udiv | BvOp::Sdiv => self.parts(forms, a, number(b)),
            _ => BTreeSet::new(),
        };
        all.into_iter().take(MOST_PRODUCTS).collect()
    }

    /// Of a quotient by a number.
    fn parts(&self, forms: &Forms, dividend: &ExprRef, divisor: Option<u64>) -> BTreeSet<Extent> {
        let Some(divisor) = divisor.filter(|divisor| *divisor > 0) else { return BTreeSet::new() };
        let part = |extent: Extent| Extent { number: extent.number.div_ceil(divisor), ..extent };
        self.of(forms, dividend).into_iter().map(part).collect()
    }

    /// A sum of ids, or a parameter with a number as factor.
    fn of_form(&self, form: &Form) -> Option<Extent> {
        let number = form.terms.values().map(|factor| factor.unsigned_abs()).min()?;
        let unknown = form.terms.keys().find_map(|term| if let Term::Unknown(name) = term { Some(name) } else { None });
        match unknown {
            None => {
                let apart = |axis: &Axis| form.factor(&Term::Block(*axis)).unsigned_abs() / number;
                let apart = Axis::ALL.into_iter().map(|axis| (axis, apart(&axis))).filter(|(_, apart)| *apart > 1);
                Some(Extent { ids: ids(form), apart: apart.collect(), ..Extent::of_number(number) })
            }
            Some(name) => {
                let is_alone = form.terms.len() == 1 && self.parameters.contains(name);
                is_alone.then(|| Extent { parameters: vec![name.clone()], ..Extent::of_number(number) })
            }
        }
    }
}
