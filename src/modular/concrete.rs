//! A model over integers, looked at exactly.
//!
//! Input: values of symbols, and of uninterpreted functions where they are applied. Output: values of terms under them,
//! with machine arithmetic. Establishes: where nothing is unclear, the values are those of one assignment that symbols and
//! functions may have. Relies on: nothing; the model may be wrong. Reference: none.

use crate::solver::Value;
use crate::solver::exact::{Shown, Values};
use crate::vcgen::term::{Node, Sort, Term, Terms, mask};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Values of symbols, and of terms seen so far.
pub struct Concrete<'t> {
    terms: &'t mut Terms,
    known: HashMap<Term, Term>,
    /// The value of each application of a function to values.
    applied: HashMap<Term, Term>,
    /// Whether a term was asked for that has no value, or a symbol has one that it must not have.
    pub is_unclear: bool,
}

impl<'t> Concrete<'t> {
    /// `values` of the [`Self::leaves`] of a formula; `None` is one without.
    pub fn new(terms: &'t mut Terms, values: impl IntoIterator<Item = (Term, Option<Value>)>) -> Self {
        let mut concrete = Concrete { terms, known: HashMap::new(), applied: HashMap::new(), is_unclear: false };
        for (leaf, value) in values {
            match value {
                Some(value) => concrete.bind(leaf, value),
                None => concrete.is_unclear = true,
            }
        }
        concrete
    }

    /// The symbols and applied functions of a formula, each behind those in its arguments.
    pub fn leaves(terms: &Terms, formula: Term) -> Vec<Term> {
        let is_leaf = |t: &Term| matches!(terms.node(*t), Node::Symbol(_) | Node::Apply(..));
        terms.postorder(formula, &|_| false).into_iter().filter(is_leaf).collect()
    }

    /// Equal arguments give equal values.
    fn apply(&mut self, application: Term, value: Term) {
        let operands = self.terms.operands(application);
        let values: Vec<Term> = operands.iter().map(|&t| self.terms.substitute(t, &mut self.known)).collect();
        let of_values = self.terms.rebuild(application, &values);
        let known = *self.applied.entry(of_values).or_insert(value);
        self.is_unclear |= known != value;
    }

    fn bind(&mut self, symbol: Term, value: Value) {
        let range = self.terms.symbol_of(symbol).and_then(|symbol| symbol.range);
        let number = match value {
            Value::Bits(bits) => Some(bits),
            Value::Int(value) => u128::try_from(value).ok(),
            Value::Bool(_) => None,
        };
        let is_outside = |(low, high)| number.is_none_or(|number| number < low || number > high);
        self.is_unclear |= range.is_some_and(is_outside);
        let constant = match (value, self.terms.sort(symbol)) {
            (Value::Bool(value), Sort::Bool) => self.terms.boolean(value),
            // Over integers a bit-vector is its unsigned value.
            (Value::Bits(_) | Value::Int(_), Sort::Bv(width)) => match number {
                Some(number) if number <= mask(width) => self.terms.bv(number, width),
                _ => return self.is_unclear = true,
            },
            (Value::Int(value), Sort::Int) => self.terms.int(value),
            _ => return self.is_unclear = true,
        };
        if matches!(self.terms.node(symbol), Node::Apply(..)) {
            self.apply(symbol, constant);
        }
        self.known.insert(symbol, constant);
    }

    /// What the model does not mention may be anything.
    fn bind_others(&mut self, t: Term) {
        let mut symbols = BTreeSet::new();
        self.terms.collect_symbols(t, &mut HashSet::new(), &mut symbols);
        for symbol in symbols {
            if self.known.contains_key(&symbol) {
                continue;
            }
            let least = self.terms.symbol_of(symbol).and_then(|symbol| symbol.range).map_or(0, |(low, _)| low);
            match self.terms.sort(symbol) {
                Sort::Bool => self.bind(symbol, Value::Bool(false)),
                Sort::Bv(_) => self.bind(symbol, Value::Bits(least)),
                Sort::Int => self.bind(symbol, Value::Int(least as i128)),
                Sort::Other(_) => self.is_unclear = true,
            }
        }
    }
}

impl Values for Concrete<'_> {
    fn value(&mut self, t: Term) -> Option<Shown> {
        if !self.known.contains_key(&t) {
            self.bind_others(t);
        }
        let value = self.terms.substitute(t, &mut self.known);
        let bits = |value| Shown::Bits { value, width: self.terms.width(t) };
        let shown = self.terms.truth(value).map(Shown::Bool);
        let shown = shown.or_else(|| self.terms.bv_value(value).map(bits));
        let shown = shown.or_else(|| self.terms.int_value(value).map(Shown::Int));
        self.is_unclear |= shown.is_none();
        shown
    }
}
