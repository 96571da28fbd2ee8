//! On which of several ways a postcondition is said to fail.
//!
//! Input: a check that fails, with the way that a model shows. Output: questions about other ways to it, one after the
//! other. Establishes: the last way that was found leaves each block by the last successor that it can, given how it left
//! those before: the second branch rather than the first, which is also what Boogie's solver mostly finds. The place of a
//! failed postcondition is where that way returns. Relies on: [`Labels`] name the way.

use crate::ivl::attributes::Attributes;
use crate::span::Span;
use crate::vcgen::contracts::POSTCONDITION;
use crate::vcgen::passive::{Check, Passive};
use crate::vcgen::term::Term;
use crate::vcgen::wp::Labels;

/// Questions about one failure.
const MOST_QUESTIONS: usize = 24;

/// A failure whose way may change.
pub struct Detour {
    /// The check.
    pub number: usize,
    path: Vec<usize>,
    /// The place on the path that is looked at next.
    at: usize,
    questions: usize,
}

/// Whether the way to a check decides where it is said to fail: only of postconditions, where several blocks return.
pub fn is_placed_by_way(check: &Check) -> bool {
    check.span == Span::NONE && check.attributes.has(POSTCONDITION)
}

impl Detour {
    /// Nothing is asked if the way does not matter.
    pub fn new(number: usize, path: Vec<usize>, matters: bool) -> Self {
        Detour { number, path, at: 0, questions: if matters { MOST_QUESTIONS } else { 0 } }
    }

    /// Another way was found.
    pub fn took(&mut self, path: Vec<usize>) {
        self.path = path;
    }

    /// Literals, with their values, of ways that go on as this one to its next block with another successor, and leave
    /// that by its last.
    pub fn question(&mut self, passive: &Passive, labels: &Labels) -> Option<Vec<(Term, bool)>> {
        while self.questions > 0 && self.at + 1 < self.path.len() {
            let block = self.path[self.at];
            self.at += 1;
            let last = passive.blocks[block].successors.last();
            if labels.goes_to[block].is_empty() || last == Some(&self.path[self.at]) {
                continue;
            }
            self.questions -= 1;
            let mut literals = vec![(labels.fails[self.number], true)];
            for step in self.path[..self.at].windows(2) {
                literals.extend(choice(passive, labels, step[0], step[1]));
            }
            literals.extend(labels.goes_to[block].iter().map(|&goes| (goes, false)));
            return Some(literals);
        }
        None
    }
}

/// What leads from a block to one of its successors.
fn choice(passive: &Passive, labels: &Labels, block: usize, successor: usize) -> Vec<(Term, bool)> {
    let place = passive.blocks[block].successors.iter().position(|&other| other == successor);
    let goes = labels.goes_to[block].iter().enumerate();
    goes.take_while(|(other, _)| place.is_none_or(|place| *other <= place))
        .map(|(other, &goes)| (goes, Some(other) == place))
        .collect()
}
