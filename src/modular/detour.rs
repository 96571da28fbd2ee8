//! On which of several ways a postcondition is said to fail.
//!
//! Input: a check that fails, with the way that a model shows. Output: questions about other ways to it, one after the
//! other. Establishes: among the ways that were asked for is one that leaves each block by the last successor that it can,
//! the second branch rather than the first; if one of them returns at the closing brace of the body, that is the place of
//! the failure, else where the first one returns. Relies on: [`Labels`] name the way. Reference: none; so does Boogie,
//! whose solver tries the last way first.

use crate::ivl::claim::Claim;
use crate::span::Span;
use crate::vcgen::passive::{Check, Passive};
use crate::vcgen::term::Term;
use crate::vcgen::wp::Labels;

/// Questions about one failure.
const MOST_QUESTIONS: usize = 24;

/// A failure whose way may change.
pub(crate) struct Detour {
    /// The check.
    pub(crate) number: usize,
    path: Vec<usize>,
    /// The place on the path that is looked at next.
    at: usize,
    questions: usize,
}

/// Whether the way to a check decides where it is said to fail: only of postconditions, where several blocks return.
pub(crate) fn is_placed_by_way(check: &Check) -> bool {
    check.span == Span::NONE && check.claim == Claim::Postcondition
}

impl Detour {
    /// Nothing is asked if the way does not matter.
    pub(crate) fn new(passive: &Passive, number: usize, path: Vec<usize>, matters: bool) -> Self {
        let is_last = closes(passive, &path);
        let questions = if matters && !is_last { MOST_QUESTIONS } else { 0 };
        Detour { number, path, at: 0, questions }
    }

    /// Another way was found; whether the failure is to be told with it.
    pub(crate) fn took(&mut self, passive: &Passive, path: Vec<usize>) -> bool {
        let is_last = closes(passive, &path);
        self.path = path;
        if is_last {
            self.questions = 0;
        }
        is_last
    }

    /// Literals, with their values, of ways that go on as this one to its next block with another successor, and leave
    /// that by its last.
    pub(crate) fn question(&mut self, passive: &Passive, labels: &Labels) -> Option<Vec<(Term, bool)>> {
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

/// Whether a way returns at a brace behind which no block of the body returns: its own, or that of its last branch.
pub(crate) fn closes(passive: &Passive, path: &[usize]) -> bool {
    let end = path.iter().rev().map(|&block| passive.blocks[block].end).find(|&end| end != Span::NONE);
    let is_brace = |end: &Span| end.end - end.start == 1;
    end.filter(is_brace) == passive.blocks.iter().map(|block| block.end).max_by_key(|end| end.start)
}

/// What leads from a block to one of its successors.
fn choice(passive: &Passive, labels: &Labels, block: usize, successor: usize) -> Vec<(Term, bool)> {
    let place = passive.blocks[block].successors.iter().position(|&other| other == successor);
    let goes = labels.goes_to[block].iter().enumerate();
    goes.take_while(|(other, _)| place.is_none_or(|place| *other <= place))
        .map(|(other, &goes)| (goes, Some(other) == place))
        .collect()
}
