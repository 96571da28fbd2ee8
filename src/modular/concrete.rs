//! A model over integers, looked at exactly.
//!
//! Input: values of symbols, and of uninterpreted functions where they are applied. Output: values of terms under them,
//! with machine arithmetic. Establishes: where nothing is unclear, the values are those of one assignment that symbols and
//! functions may have. Relies on: nothing; the model may be wrong. Reference: none.

use crate::concrete::code::Code;
use crate::concrete::evaluate::Evaluator;
use crate::solver::exact::{Shown, Values};
use crate::vcgen::term::{Node, Sort, Term, Terms, Value, mask};

/// Terms under the values of a model.
pub(crate) struct Concrete<'t> {
    terms: &'t Terms,
    evaluator: Evaluator<'t>,
    /// Whether a term was asked for that has no value, or a symbol has one that it must not have.
    pub(crate) is_unclear: bool,
}

impl<'t> Concrete<'t> {
    /// `values` of the [`Self::leaves`] of a formula; `None` is one without. What the model does not mention may be
    /// anything.
    pub(super) fn new(
        terms: &'t Terms,
        code: &'t Code,
        values: impl IntoIterator<Item = (Term, Option<Value>)>,
    ) -> Self {
        let mut concrete = Concrete { terms, evaluator: Evaluator::new(code), is_unclear: false };
        concrete.evaluator.set(symbols(terms).filter_map(|symbol| Some((symbol, least(terms, symbol)?))));
        for (leaf, value) in values {
            match value {
                Some(value) => concrete.bind(leaf, value),
                None => concrete.is_unclear = true,
            }
        }
        concrete
    }

    /// The symbols and applied functions of a formula, each behind those in its arguments.
    pub(crate) fn leaves(terms: &Terms, formula: Term) -> Vec<Term> {
        let is_leaf = |t: &Term| matches!(terms.node(*t), Node::Symbol(_) | Node::Apply(..));
        terms.postorder(formula, &|_| false).into_iter().filter(is_leaf).collect()
    }

    fn bind(&mut self, leaf: Term, value: Value) {
        let range = self.terms.symbol_of(leaf).and_then(|symbol| symbol.range);
        let number = match value {
            Value::Bits(bits) => Some(bits),
            Value::Int(value) => u128::try_from(value).ok(),
            Value::Bool(_) => None,
        };
        let is_outside = |(low, high)| number.is_none_or(|number| number < low || number > high);
        self.is_unclear |= range.is_some_and(is_outside);
        let fits = match (value, self.terms.sort(leaf)) {
            (Value::Bool(_), Sort::Bool) | (Value::Int(_), Sort::Int) => true,
            // Over integers a bit-vector is its unsigned value.
            (Value::Bits(_) | Value::Int(_), Sort::Bv(width)) => number.is_some_and(|number| number <= mask(width)),
            _ => false,
        };
        self.is_unclear |= !fits;
        // Equal arguments give equal values.
        self.is_unclear |= !self.evaluator.learn(leaf, value);
        if matches!(self.terms.node(leaf), Node::Symbol(_)) {
            self.evaluator.set([(leaf, value)]);
        }
    }
}

fn symbols(terms: &Terms) -> impl Iterator<Item = Term> {
    (0..terms.len() as u32).map(Term).filter(|t| matches!(terms.node(*t), Node::Symbol(_)))
}

/// The least value of a symbol.
fn least(terms: &Terms, symbol: Term) -> Option<Value> {
    let least = terms.symbol_of(symbol).and_then(|symbol| symbol.range).map_or(0, |(low, _)| low);
    match terms.sort(symbol) {
        Sort::Bool => Some(Value::Bool(false)),
        Sort::Bv(_) => Some(Value::Bits(least)),
        Sort::Int => Some(Value::Int(least as i128)),
        Sort::Other(_) => None,
    }
}

impl Values for Concrete<'_> {
    fn value(&mut self, t: Term) -> Option<Shown> {
        let value = self.evaluator.certain(t);
        self.is_unclear |= value.is_none();
        Some(match value? {
            Value::Bool(value) => Shown::Bool(value),
            Value::Int(value) => Shown::Int(value),
            Value::Bits(value) => Shown::Bits { value, width: self.terms.width(t) },
        })
    }
}
