//! Text, with what its parts come from.
//!
//! Input: what printers write, with the place in the input of each statement or formula. Output: the text, and for each
//! line the places. Establishes: places lie inside the text. Relies on: nothing. Reference: none.

use crate::span::Span;
use std::fmt;
use std::ops::Range;

/// A text that grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    pub(crate) text: String,
    /// Bytes of the text, and where in the input that comes from.
    places: Vec<(Range<usize>, Span)>,
}

impl Placed {
    pub(crate) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// What was written since then, in bytes of the text, comes from there.
    pub(crate) fn comes_from(&mut self, since: usize, origin: Span) {
        if origin != Span::NONE && since < self.text.len() {
            self.places.push((since..self.text.len(), origin));
        }
    }

    /// Appends a text.
    pub(crate) fn append(&mut self, other: Placed) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        let shifted = |(part, origin): (Range<usize>, Span)| (part.start + start..part.end + start, origin);
        self.places.extend(other.places.into_iter().map(shifted));
    }

    /// For each line of the text where it comes from, each place once and in the order of the input.
    pub(crate) fn lines(&self) -> Vec<Vec<Span>> {
        let starts: Vec<usize> =
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of = |at: usize| starts.partition_point(|start| *start <= at).saturating_sub(1);
        let mut lines = vec![Vec::new(); self.text.lines().count()];
        for (part, origin) in &self.places {
            // A part ends behind the end of its line.
            for line in lines.iter_mut().take(line_of(part.end - 1) + 1).skip(line_of(part.start)) {
                line.push(*origin);
            }
        }
        for line in &mut lines {
            line.sort_unstable();
            line.dedup();
        }
        lines
    }
}

impl fmt::Write for Placed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_where_they_come_from() {
        let [first, second] = [Span::new(3, 5), Span::new(7, 9)];
        let mut placed = Placed::default();
        placed.push_str("head\n");
        let start = placed.text.len();
        placed.push_str("  a\n  b\n");
        placed.comes_from(start, first);
        let mut all = Placed::default();
        let start = all.text.len();
        all.push_str("one\n");
        all.comes_from(start, second);
        all.comes_from(start, first);
        all.comes_from(start, Span::NONE);
        all.append(placed);
        assert_eq!(all.lines(), [vec![first, second], vec![], vec![first], vec![first]]);
        assert_eq!(Placed::default().lines(), Vec::<Vec<Span>>::new());
    }
}
