//! A state in which a program may start, found without the solver.
//!
//! Input: a passive program. Output: values of its constants that its preconditions allow, or nothing. Establishes: an
//! execution with these values is one of the program. Relies on: nothing; the preconditions are evaluated. Most say that
//! ids are below sizes and that two threads differ, so a few guesses are enough. Reference: none.

use crate::concrete::code::Code;
use crate::concrete::evaluate::Evaluator;
use crate::query::Model;
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{Sort, Term, Value, mask};
use foldhash::HashSet;
use std::collections::BTreeSet;

/// What sizes and parameters are: so much more than their least value.
const SIZES: [u128; 5] = [3, 255, 1, 0, 31];

/// Looks for a state: ids are zero, but for one of them, by which two threads differ.
pub(crate) fn find(passive: &Passive) -> Option<Model> {
    let preconditions = passive.preconditions();
    let mut symbols: BTreeSet<Term> = passive.constants.iter().map(|(_, term)| *term).collect();
    let mut seen = HashSet::default();
    preconditions.iter().for_each(|&t| passive.terms.collect_symbols(t, &mut seen, &mut symbols));
    let code = Code::new(&passive.terms, preconditions.iter().copied(), &|_| 0);
    let mut evaluator = Evaluator::new(&code);
    for size in SIZES {
        let values: Option<Vec<(Term, Value)>> =
            symbols.iter().map(|&symbol| Some((symbol, usual(passive, symbol, size)?))).collect();
        let values = values?;
        for moved in std::iter::once(None).chain((0..values.len()).map(Some)) {
            let mut values = values.clone();
            if let Some((symbol, value)) = moved.and_then(|moved| values.get_mut(moved)) {
                let Some(other) = next(passive, *symbol, *value) else { continue };
                *value = other;
            }
            evaluator.set(values.iter().copied());
            if preconditions.iter().all(|&condition| evaluator.holds(condition)) {
                let (terms, values) = values.into_iter().map(|(symbol, value)| (symbol, Some(value))).unzip();
                return Some(Model { failing: BTreeSet::new(), terms, values });
            }
        }
    }
    None
}

/// Ids begin at zero; sizes at one.
fn usual(passive: &Passive, symbol: Term, size: u128) -> Option<Value> {
    let range = passive.terms.symbol_of(symbol).and_then(|symbol| symbol.range);
    let value = match range {
        Some((0, _)) => 0,
        Some((least, most)) => most.min(least + size),
        None => size,
    };
    match passive.terms.sort(symbol) {
        Sort::Bool => Some(Value::Bool(false)),
        Sort::Bv(width) => Some(Value::Bits(value & mask(width))),
        Sort::Int => i128::try_from(value).ok().map(Value::Int),
        Sort::Other(_) => None,
    }
}

/// Another value for a constant, if it may have one.
fn next(passive: &Passive, symbol: Term, value: Value) -> Option<Value> {
    let most = passive.terms.symbol_of(symbol).and_then(|symbol| symbol.range).map(|(_, most)| most);
    match value {
        Value::Bits(bits) => most.is_none_or(|most| bits < most).then(|| Value::Bits(bits + 1)),
        Value::Bool(value) => Some(Value::Bool(!value)),
        Value::Int(_) => None,
    }
}
