//! Equality and order of bit-vectors over the integers.
//!
//! Input: bit-vector operands. Output: a formula about integers congruent to them (see [`super::integers`]). Establishes: it
//! holds exactly where the bit-vectors compare so. Reference: SMT-LIB theory FixedSizeBitVectors; proof-notes, lesson 4.

use super::integers::{Integers, WINDOW_LIMIT, modulus};
use crate::vcgen::term::{BvCompare, Term};

impl Integers<'_> {
    /// Equality modulo 2^width: the difference is a multiple of the modulus that its interval allows.
    pub(super) fn equality(&mut self, a: Term, b: Term, width: u32) -> Term {
        let (x, y) = (self.representative(a), self.representative(b));
        let difference = self.terms.int_sub(x.term, y.term);
        let interval = self.interval_of(difference, x.interval.plus(y.interval.times_constant(-1)));
        let size = modulus(width);
        match interval.multiples(size) {
            Some((first, last)) if last.saturating_sub(first) < WINDOW_LIMIT => {
                let cases = (first..=last)
                    .map(|q| {
                        let multiple = self.terms.int(q * size);
                        self.terms.eq(difference, multiple)
                    })
                    .collect();
                self.terms.or(cases)
            }
            _ => {
                let size = self.terms.int(size);
                let rest = self.terms.int_mod(difference, size);
                let zero = self.terms.int(0);
                self.terms.eq(rest, zero)
            }
        }
    }

    pub(super) fn comparison(&mut self, op: BvCompare, a: Term, b: Term) -> Term {
        match op {
            BvCompare::Ule => {
                if let Some(bound) = self.terms.bv_value(a)
                    && let Some(below) = self.below_constant(b, bound)
                {
                    return self.terms.not(below);
                }
                if let Some(bound) = self.terms.bv_value(b)
                    && let Some(below) = self.below_constant(a, bound + 1)
                {
                    return below;
                }
                let (x, y) = (self.unsigned(a), self.unsigned(b));
                self.terms.int_le(x.term, y.term)
            }
            BvCompare::Sle => {
                let (x, y) = (self.signed(a), self.signed(b));
                self.terms.int_le(x.term, y.term)
            }
            BvCompare::Ult | BvCompare::Slt => {
                let not_less = match op {
                    BvCompare::Ult => self.comparison(BvCompare::Ule, b, a),
                    _ => self.comparison(BvCompare::Sle, b, a),
                };
                self.terms.not(not_less)
            }
        }
    }

    /// `t <u bound`, window by window, without making `t` canonical.
    fn below_constant(&mut self, t: Term, bound: u128) -> Option<Term> {
        let size = modulus(self.terms.width(t));
        let value = self.representative(t);
        let (first, last) = value.interval.windows(size)?;
        if last.saturating_sub(first) >= WINDOW_LIMIT {
            return None;
        }
        let bound = i128::try_from(bound).ok()?;
        let mut cases = Vec::new();
        for q in first..=last {
            let (low, high) = (q * size, q * size + bound - 1);
            if !value.interval.meets(low, high) {
                continue;
            }
            // An interval that is taken from facts may be taken from this very comparison.
            let is_known = |bound: bool| bound && !self.learns;
            let mut both = Vec::new();
            if !is_known(value.interval.low.is_some_and(|l| l >= low)) {
                let low = self.terms.int(low);
                both.push(self.terms.int_le(low, value.term));
            }
            if !is_known(value.interval.high.is_some_and(|h| h <= high)) {
                let high = self.terms.int(high);
                both.push(self.terms.int_le(value.term, high));
            }
            cases.push(self.terms.and(both));
        }
        Some(self.terms.or(cases))
    }
}
