//! Multiplication, division, bit operations and shifts over the integers.
//!
//! Input: an operator and its bit-vector operands. Output: some integer congruent to the result
//! modulo 2^n, with bounds (see [`super::integers`]).
//! Establishes: an operator without an arithmetic meaning becomes an uninterpreted function of the
//! canonical operands, with facts that its real meaning satisfies; division by zero is arbitrary.
//! Reference: SMT-LIB theory FixedSizeBitVectors; DESIGN section 5.

use super::integers::{Integers, Value, modulus};
use super::interval::Interval;
use crate::vcgen::term::{BvBinary, Node, Sort, Term, Terms, mask};

/// A conjunction of two variables with at most this many common bits is spelled out.
const BITWISE_LIMIT: u32 = 4;

impl Integers<'_> {
    pub(super) fn divide_by_constant(&mut self, value: Value, divisor: i128) -> Value {
        let d = self.terms.int(divisor);
        let interval = value.interval.divided_by(divisor);
        let term = match interval {
            Interval { low: Some(l), high: Some(h) } if l == h => self.terms.int(l),
            _ => self.terms.int_div(value.term, d),
        };
        self.learn_quotient(value.term, term, divisor);
        Value { term, interval }
    }

    /// Of `q == x / 3` follows `3*q <= x` and `x <= 3*q + 2`.
    fn learn_quotient(&mut self, x: Term, quotient: Term, divisor: i128) {
        if self.learns && matches!(self.terms.node(quotient), Node::IntDiv(..)) {
            let least = self.terms.int_sum(0, vec![(quotient, divisor)]);
            let most = self.terms.int_sum(divisor - 1, vec![(quotient, divisor)]);
            for (low, high) in [(least, x), (x, most)] {
                let fact = self.terms.int_le(low, high);
                self.facts.learn(self.terms, fact, true);
            }
        }
    }

    pub(super) fn binary(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
        match op {
            BvBinary::Mul => {
                let (x, y) = (self.representative(a), self.representative(b));
                self.product(x, y, width)
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
        if self.learns
            && y.interval.low.is_some_and(|least| least >= 1)
            && let Some((quotient, rest)) = self.divided(x, y, width)
        {
            return if op == BvBinary::Udiv { quotient } else { rest };
        }
        // One quotient and remainder for each pair of operands: x = y*q + r, 0 <= r < y.
        let top = modulus(width) - 1;
        let (greatest, least) = (x.interval.high.unwrap_or(top), y.interval.low.unwrap_or(0));
        // Division by zero gives all ones, and the dividend as remainder.
        let most = if least > 0 { greatest / least } else { top };
        let rest = y.interval.high.filter(|_| least > 0).map_or(greatest, |high| greatest.min(high - 1));
        let quotient = self.opaque(&format!("bv@udiv{width}"), a, b, 0, most);
        let remainder = self.opaque(&format!("bv@urem{width}"), a, b, 0, rest);
        let product = self.product(y, quotient, width).term;
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
        match self.terms.int_value(y.term) {
            Some(divisor) if divisor != 0 => self.truncated(op, x, divisor, half),
            None if x.interval.within(0, half) && y.interval.within(1, half) => {
                let unsigned = if op == BvBinary::Sdiv { BvBinary::Udiv } else { BvBinary::Urem };
                self.unsigned_division(unsigned, a, b, width)
            }
            _ => self.signed_by_variable(op, a, b, width),
        }
    }

    /// Division by a constant that rounds towards zero: the quotient of absolute values, with a sign.
    fn truncated(&mut self, op: BvBinary, x: Value, divisor: i128, half: i128) -> Value {
        let zero = self.terms.int(0);
        let negative_x = self.terms.int_sum(0, vec![(x.term, -1)]);
        let size = divisor.abs();
        let d = self.terms.int(size);
        let quotient = self.terms.int_div(x.term, d);
        let mirrored = self.terms.int_div(negative_x, d);
        let mirrored = self.terms.int_sum(0, vec![(mirrored, -1)]);
        let non_negative = self.terms.int_le(zero, x.term);
        let always_positive = x.interval.low.is_some_and(|l| l >= 0);
        if always_positive {
            self.learn_quotient(x.term, quotient, size);
        }
        let quotient = if always_positive { quotient } else { self.terms.ite(non_negative, quotient, mirrored) };
        if op == BvBinary::Sdiv {
            let bound = half / size;
            let interval = Interval::new(if always_positive { 0 } else { -bound }, bound);
            let sign = divisor.signum();
            return Value {
                term: self.terms.int_sum(0, vec![(quotient, sign)]),
                interval: interval.times_constant(sign),
            };
        }
        // The remainder has the sign of the dividend, whatever the divisor's.
        let term = self.terms.int_sum(0, vec![(x.term, 1), (quotient, -size)]);
        let low = if always_positive { 0 } else { 1 - size };
        Value { term, interval: Interval::new(low, size - 1) }
    }

    /// One quotient and remainder for each pair of operands: x = y*q + r with |r| < |y|, r of the sign
    /// of x. The least number divided by -1 has the quotient 2^(n-1), which is congruent to itself.
    fn signed_by_variable(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
        let (x, y) = (self.signed(a).term, self.signed(b).term);
        let half = modulus(width) / 2;
        let quotient = self.opaque(&format!("bv@sdiv{width}"), a, b, -half, half);
        let remainder = self.opaque(&format!("bv@srem{width}"), a, b, -half, half);
        let (q, r, zero) = (quotient.term, remainder.term, self.terms.int(0));
        let product = self.terms.int_mul(y, q);
        let sum = self.terms.int_add(product, r);
        let exact = self.terms.eq(x, sum);
        let by_zero = self.terms.eq(y, zero);
        let fact = self.terms.or2(by_zero, exact);
        self.side.push(fact);
        let negated = |terms: &mut Terms, t: Term| terms.int_sum(0, vec![(t, -1)]);
        let (minus_x, minus_y) = (negated(self.terms, x), negated(self.terms, y));
        let (minus_q, minus_r) = (negated(self.terms, q), negated(self.terms, r));
        // For each pair of signs: |x|, |y|, |q| and |r|.
        for (x, y, q, r) in
            [(x, y, q, r), (minus_x, y, minus_q, minus_r), (x, minus_y, minus_q, r), (minus_x, minus_y, q, minus_r)]
        {
            let signs = [self.terms.int_lt(x, zero), self.terms.int_le(y, zero)];
            let bounds = [
                self.terms.int_le(zero, r),
                self.terms.int_lt(r, y),
                self.terms.int_le(zero, q),
                self.terms.int_le(q, x),
            ];
            let bounds = self.terms.and(bounds.to_vec());
            let fact = self.terms.or(vec![signs[0], signs[1], bounds]);
            self.side.push(fact);
        }
        if op == BvBinary::Sdiv { quotient } else { remainder }
    }

    fn conjunction(&mut self, a: Term, b: Term, width: u32) -> Value {
        let (x, y) = (self.unsigned(a), self.unsigned(b));
        for (constant, other) in [(a, b), (b, a)] {
            if let Some(bits) = self.terms.bv_value(constant) {
                return self.masked(other, bits, width);
            }
        }
        let bits = self.terms.possible_bits(a) & self.terms.possible_bits(b);
        if bits.count_ones() <= BITWISE_LIMIT {
            return self.bitwise(a, b, bits);
        }
        let value = self.opaque(&format!("bv@and{width}"), a.min(b), a.max(b), 0, bits as i128);
        for bound in [x, y] {
            let fact = self.terms.int_le(value.term, bound.term);
            self.side.push(fact);
        }
        value
    }

    /// `a & b` bit by bit, for the few bits that both may have.
    fn bitwise(&mut self, a: Term, b: Term, bits: u128) -> Value {
        let (one, zero) = (self.terms.int(1), self.terms.int(0));
        let mut list = Vec::new();
        for bit in (0..128).filter(|k| bits >> k & 1 == 1) {
            let (x, y) = (self.masked_bit(a, bit), self.masked_bit(b, bit));
            let both = [self.terms.eq(x, one), self.terms.eq(y, one)];
            let both = self.terms.and(both.to_vec());
            list.push((self.terms.ite(both, one, zero), modulus(bit)));
        }
        Value { term: self.terms.int_sum(0, list), interval: Interval::new(0, bits as i128) }
    }

    /// One bit of a bit-vector, 0 or 1.
    fn masked_bit(&mut self, of: Term, bit: u32) -> Term {
        let value = self.representative(of);
        let shifted = self.divide_by_constant(value, modulus(bit));
        self.wrap(shifted, 0, 2).term
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

    /// `(x * m) >> s` where compilers mean `x / d`.
    pub(super) fn as_division(&mut self, product: Term, amount: i128, width: u32) -> Option<Value> {
        let Node::BvSum { constant: 0, members, .. } = self.terms.node(product) else { return None };
        let [(x, factor)] = **members else { return None };
        let x = self.unsigned(x);
        let (factor, high) = (i128::try_from(factor).ok()?, x.interval.high?);
        let does_not_wrap = high.checked_mul(factor)? < modulus(width);
        let divisor = divisor(factor, u32::try_from(amount).ok()?, high).filter(|_| does_not_wrap)?;
        Some(self.divide_by_constant(x, divisor))
    }

    /// A shift by a variable: a table over the possible amounts.
    fn shift(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
        let amount = self.unsigned(b);
        if let (BvBinary::Lshr, Interval { low: Some(low), high: Some(high) }) = (op, amount.interval)
            && low == high
            && let Some(quotient) = self.as_division(a, low, width)
        {
            return quotient;
        }
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

/// The d for which `(x * factor) >> amount` is `x / d`, for x from 0 to `high`.
///
/// With factor * d = 2^amount + e, the product is 2^amount * (x/d + x*e / (d * 2^amount)), and the second part is too
/// small to reach the next integer if x*e < 2^amount. Reference: Granlund and Montgomery, "Division by invariant
/// integers using multiplication".
fn divisor(factor: i128, amount: u32, high: i128) -> Option<i128> {
    let power = 1i128.checked_shl(amount).filter(|_| (1..100).contains(&amount) && factor > 1)?;
    let divisor = (power + factor - 1) / factor;
    let excess = factor.checked_mul(divisor)? - power;
    (divisor > 1 && excess.checked_mul(high)? < power).then_some(divisor)
}

#[cfg(test)]
mod tests {
    use super::divisor;

    #[test]
    fn products_and_shifts_of_compilers_are_divisions() {
        let most = i128::from(u32::MAX);
        assert_eq!(divisor(0xaaaa_aaab, 33, most), Some(3));
        assert_eq!(divisor(0xcccc_cccd, 34, most), Some(5));
        assert_eq!(divisor(0x2aab, 16, most), None);
        assert_eq!(divisor(0x2aab, 16, 255), Some(6));
        for x in 0..=255 {
            assert_eq!((x * 0x2aab) >> 16, x / 6);
        }
        assert_eq!(divisor(1, 8, most), None);
        assert_eq!(divisor(7, 1, most), None);
    }
}
