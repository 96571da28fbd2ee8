//! Multiplication, division, bit operations and shifts over the integers.
//!
//! Input: an operator and its bit-vector operands. Output: some integer congruent to the result
//! modulo 2^n, with bounds (see [`super::integers`]).
//! Establishes: an operator without an arithmetic meaning becomes an uninterpreted function of the
//! canonical operands, with facts that its real meaning satisfies; division by zero is arbitrary.
//! Reference: SMT-LIB theory FixedSizeBitVectors; DESIGN section 5.

use super::integers::{Integers, Value, modulus};
use super::interval::Interval;
use crate::vcgen::term::{BvBinary, Sort, Term, mask};

impl Integers<'_> {
    pub(super) fn divide_by_constant(&mut self, value: Value, divisor: i128) -> Value {
        let d = self.terms.int(divisor);
        let interval = value.interval.divided_by(divisor);
        let term = match interval {
            Interval { low: Some(l), high: Some(h) } if l == h => self.terms.int(l),
            _ => self.terms.int_div(value.term, d),
        };
        Value { term, interval }
    }

    pub(super) fn binary(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
        match op {
            BvBinary::Mul => {
                let (x, y) = (self.representative(a), self.representative(b));
                let interval = x.interval.times(y.interval);
                Value { term: self.terms.int_mul(x.term, y.term), interval }
            }
            BvBinary::Udiv | BvBinary::Urem => self.unsigned_division(op, a, b, width),
            BvBinary::Sdiv | BvBinary::Srem => self.signed_division(op, a, b, width),
            BvBinary::And => self.conjunction(a, b, width),
            BvBinary::Or | BvBinary::Xor => {
                // a | b = a + b - (a & b);  a ^ b = a + b - 2 (a & b)
                let (x, y) = (self.unsigned(a), self.unsigned(b));
                let both = self.conjunction(a, b, width);
                let factor = if op == BvBinary::Or { -1 } else { -2 };
                let term = self.terms.int_sum(0, vec![(x.term, 1), (y.term, 1), (both.term, factor)]);
                let bits = self.terms.possible_bits(a) | self.terms.possible_bits(b);
                self.bounded(term, 0, bits as i128)
            }
            BvBinary::Shl | BvBinary::Lshr | BvBinary::Ashr => self.shift(op, a, b, width),
        }
    }

    /// An arbitrary value, the same for the same operands.
    fn opaque(&mut self, name: &str, a: Term, b: Term, low: i128, high: i128) -> Value {
        let (x, y) = (self.unsigned(a), self.unsigned(b));
        let term = self.terms.apply(name, vec![x.term, y.term], Sort::Int);
        self.bounded(term, low, high)
    }

    fn unsigned_division(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
        let (x, y) = (self.unsigned(a), self.unsigned(b));
        if let Some(divisor) = self.terms.int_value(y.term).filter(|&d| d > 0) {
            if op == BvBinary::Udiv {
                return self.divide_by_constant(x, divisor);
            }
            if x.interval.within(0, divisor - 1) {
                return x;
            }
            let d = self.terms.int(divisor);
            return Value { term: self.terms.int_mod(x.term, d), interval: Interval::new(0, divisor - 1) };
        }
        // One quotient and remainder for each pair of operands: x = y*q + r, 0 <= r < y.
        let top = modulus(width) - 1;
        let quotient = self.opaque(&format!("bv@udiv{width}"), a, b, 0, top);
        let remainder = self.opaque(&format!("bv@urem{width}"), a, b, 0, top);
        let product = self.terms.int_mul(y.term, quotient.term);
        let sum = self.terms.int_add(product, remainder.term);
        let exact = self.terms.eq(x.term, sum);
        let less = self.terms.int_lt(remainder.term, y.term);
        let smaller = self.terms.int_le(quotient.term, x.term);
        let zero = self.terms.int(0);
        let by_zero = self.terms.eq(y.term, zero);
        let defined = self.terms.and(vec![exact, less, smaller]);
        let fact = self.terms.or2(by_zero, defined);
        self.side.push(fact);
        if op == BvBinary::Udiv { quotient } else { remainder }
    }

    fn signed_division(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
        let (x, y) = (self.signed(a), self.signed(b));
        let half = modulus(width) / 2;
        let divisor = self.terms.int_value(y.term).filter(|&d| d > 0);
        let Some(divisor) = divisor else {
            if x.interval.within(0, half) && y.interval.within(1, half) {
                let unsigned = if op == BvBinary::Sdiv { BvBinary::Udiv } else { BvBinary::Urem };
                return self.unsigned_division(unsigned, a, b, width);
            }
            let name = if op == BvBinary::Sdiv { "sdiv" } else { "srem" };
            return self.opaque(&format!("bv@{name}{width}"), a, b, -half, half);
        };
        // Truncation: quotient of |x|, with the sign of x.
        let zero = self.terms.int(0);
        let negative_x = self.terms.int_sum(0, vec![(x.term, -1)]);
        let d = self.terms.int(divisor);
        let quotient = self.terms.int_div(x.term, d);
        let mirrored = self.terms.int_div(negative_x, d);
        let mirrored = self.terms.int_sum(0, vec![(mirrored, -1)]);
        let non_negative = self.terms.int_le(zero, x.term);
        let always_positive = x.interval.low.is_some_and(|l| l >= 0);
        let quotient = if always_positive { quotient } else { self.terms.ite(non_negative, quotient, mirrored) };
        if op == BvBinary::Sdiv {
            let bound = half / divisor;
            return Value { term: quotient, interval: Interval::new(if always_positive { 0 } else { -bound }, bound) };
        }
        let term = self.terms.int_sum(0, vec![(x.term, 1), (quotient, -divisor)]);
        let low = if always_positive { 0 } else { 1 - divisor };
        Value { term, interval: Interval::new(low, divisor - 1) }
    }

    fn conjunction(&mut self, a: Term, b: Term, width: u32) -> Value {
        let (x, y) = (self.unsigned(a), self.unsigned(b));
        for (constant, other) in [(a, b), (b, a)] {
            if let Some(bits) = self.terms.bv_value(constant) {
                return self.masked(other, bits, width);
            }
        }
        let bits = self.terms.possible_bits(a) & self.terms.possible_bits(b);
        let value = self.opaque(&format!("bv@and{width}"), a.min(b), a.max(b), 0, bits as i128);
        for bound in [x, y] {
            let fact = self.terms.int_le(value.term, bound.term);
            self.side.push(fact);
        }
        value
    }

    /// `other & bits`: the sum of the runs of ones, each a quotient modulo a power of two.
    fn masked(&mut self, other: Term, bits: u128, width: u32) -> Value {
        let value = self.representative(other);
        let mut list = Vec::new();
        let mut bit = 0;
        while bit < width {
            let length = (bits >> bit).trailing_ones();
            if length > 0 {
                let shifted = self.divide_by_constant(value, modulus(bit));
                let piece = self.wrap(shifted, 0, modulus(length));
                list.push((piece.term, modulus(bit)));
            }
            bit += length.max(1);
        }
        let term = self.terms.int_sum(0, list);
        Value { term, interval: Interval::new(0, (bits & mask(width)) as i128) }
    }

    /// A shift by a variable: a table over the possible amounts.
    fn shift(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
        let amount = self.unsigned(b);
        let operand = match op {
            BvBinary::Shl => self.representative(a),
            BvBinary::Lshr => self.unsigned(a),
            _ => self.signed(a),
        };
        let low = amount.interval.low.unwrap_or(0).max(0);
        let last = i128::from(width);
        let high = amount.interval.high.unwrap_or(last).min(last);
        let mut value = self.shifted(op, operand, high, width);
        for k in (low..high).rev() {
            let case = self.shifted(op, operand, k, width);
            let at = self.terms.int(k);
            let here = self.terms.eq(amount.term, at);
            value = Value {
                term: self.terms.ite(here, case.term, value.term),
                interval: case.interval.union(value.interval),
            };
        }
        value
    }

    fn shifted(&mut self, op: BvBinary, operand: Value, amount: i128, width: u32) -> Value {
        let beyond = amount >= i128::from(width);
        match op {
            BvBinary::Shl if beyond => self.constant(0),
            BvBinary::Shl => {
                let factor = 1i128 << amount;
                let term = self.terms.int_sum(0, vec![(operand.term, factor)]);
                Value { term, interval: operand.interval.times_constant(factor) }
            }
            BvBinary::Lshr if beyond => self.constant(0),
            _ => self.divide_by_constant(operand, 1i128 << amount.min(i128::from(width) - 1)),
        }
    }
}
