//! Numbers that all threads of a block compute alike.
//!
//! Input: functions, and what they are applied to. Output: the name of the result. Establishes: registers of threads of one block that hold the same
//! [`Value::Term`](super::value::Value::Term) hold one number. Relies on: parameters, the number of the block and the size of the grid do not change, and are the
//! same for its threads. Reference: Ershov, "On Programming of Arithmetic Operations" (hash-consing).

use crate::geometry::Axis;
use std::collections::{BTreeMap, BTreeSet};

/// How a number is computed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    /// Bytes of a parameter, in a register of which `sample` says how they are extended.
    Parameter { index: usize, offset: u32, bytes: u32, sample: u64 },
    /// The number of the block, on an axis.
    Block(Axis),
    /// The size of the grid.
    Grid(Axis),
    /// A function of numbers.
    Function(Function, Vec<Operand>),
}

/// Which one; where the same one has two names, its terms differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Function {
    /// By its place.
    At(usize),
    /// One of [`crate::exec::decode::Program::functions`], and the bits of its result.
    Many(u16, u8),
    Select,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operand {
    Number(u64),
    Term(u32),
}

/// All terms of a kernel, and what is supposed of them.
#[derive(Debug, Default)]
pub(super) struct Terms {
    numbers: BTreeMap<Term, u32>,
    terms: Vec<Term>,
    /// Terms that loops ask for, in the order in which they were found.
    asked: Vec<u32>,
    /// Conditions that are supposed to hold, or not to.
    supposed: BTreeMap<u32, bool>,
}

impl Terms {
    /// The number of a term.
    pub(super) fn number(&mut self, term: Term) -> u32 {
        let next = self.terms.len() as u32;
        *self.numbers.entry(term).or_insert_with_key(|term| {
            self.terms.push(term.clone());
            next
        })
    }

    /// A comparison in a loop asks for a term.
    pub(super) fn ask(&mut self, term: u32) {
        if !self.asked.contains(&term) {
            self.asked.push(term);
        }
    }

    /// Words of parameters on which it depends how often loops go: index, offset, and the term. Only those with zeros above, where a sample of
    /// a word shows that.
    pub(super) fn words(&self, word: u64) -> Vec<(usize, u32, u32)> {
        let mut words = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<u32> = self.asked.iter().rev().copied().collect();
        while let Some(number) = open.pop() {
            if !seen.insert(number) {
                continue;
            }
            match &self.terms[number as usize] {
                Term::Parameter { index, offset, bytes: 4, sample } if *sample == word => {
                    words.push((*index, *offset, number));
                }
                Term::Function(_, operands) => open.extend(operands.iter().rev().filter_map(|operand| match operand {
                    Operand::Term(number) => Some(*number),
                    Operand::Number(_) => None,
                })),
                _ => {}
            }
        }
        words
    }

    /// What is supposed of a condition.
    pub(super) fn supposed(&self, condition: u32) -> Option<bool> {
        self.supposed.get(&condition).copied()
    }

    pub(super) fn suppose(&mut self, condition: u32, holds: bool) {
        self.supposed.insert(condition, holds);
    }

    pub(super) fn no_longer_suppose(&mut self, condition: u32) {
        self.supposed.remove(&condition);
    }

    /// How many conditions there are.
    pub(super) fn suppositions(&self) -> usize {
        self.supposed.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_below_what_is_asked_for() {
        let mut terms = Terms::default();
        let word = |offset: u32, sample: u64| Term::Parameter { index: 0, offset, bytes: 4, sample };
        let (a, b, wide) = (terms.number(word(0, 1)), terms.number(word(4, 1)), terms.number(word(4, 2)));
        assert_ne!(b, wide);
        let sum = Term::Function(Function::Many(3, 32), vec![Operand::Number(63), Operand::Term(b)]);
        let sum = terms.number(sum.clone());
        let pair = terms.number(Term::Function(Function::Select, vec![Operand::Term(sum), Operand::Term(a)]));
        assert_eq!(terms.words(1), []);
        terms.ask(pair);
        assert_eq!(terms.words(1), [(0, 4, b), (0, 0, a)]);
        terms.ask(wide);
        assert_eq!(terms.words(1).len(), 2);
        let again = terms.number(Term::Function(Function::Select, vec![Operand::Term(sum), Operand::Term(a)]));
        assert_eq!(pair, again);
    }
}
