//! Normalising builders for bit-vector terms.
//!
//! Addition, subtraction, negation, complement, multiplication and left shift by constants become
//! one linear sum; masks, right shifts and remainders by powers of two become extracts. All are
//! exact modulo 2^width, so both solver encodings may rely on them.

use super::term::{BvBinary, BvCompare, Node, Sort, Term, Terms, mask, signed};
use std::collections::BTreeMap;

/// Products of sums are multiplied out up to this many members.
const DISTRIBUTE_LIMIT: usize = 12;

/// Masks with at most this many runs of ones become extracts.
const RUN_LIMIT: usize = 4;

/// Links of a chain of choices.
const LONG_CHOICE: usize = 64;

impl Terms {
    /// A bit-vector constant, taken modulo 2^width.
    pub fn bv(&mut self, value: u128, width: u32) -> Term {
        self.intern(Node::BvConst { width, value: value & mask(width) }, Sort::Bv(width))
    }

    /// The value of a bit-vector constant.
    pub(crate) fn bv_value(&self, term: Term) -> Option<u128> {
        match self.node(term) {
            Node::BvConst { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// `constant + sum of coefficient * term` modulo 2^width, flattened.
    pub(crate) fn bv_sum(&mut self, width: u32, constant: u128, list: Vec<(Term, u128)>) -> Term {
        let m = mask(width);
        let mut total = constant & m;
        let mut members: BTreeMap<Term, u128> = BTreeMap::new();
        let mut add = |t: Term, f: u128| {
            let entry = members.entry(t).or_insert(0);
            *entry = entry.wrapping_add(f) & m;
        };
        for (term, factor) in list {
            match self.node(term) {
                Node::BvConst { value, .. } => total = total.wrapping_add(value.wrapping_mul(factor)) & m,
                Node::BvSum { constant, members: inner, .. } => {
                    total = total.wrapping_add(constant.wrapping_mul(factor)) & m;
                    for &(t, f) in inner {
                        add(t, f.wrapping_mul(factor) & m);
                    }
                }
                _ => add(term, factor & m),
            }
        }
        members.retain(|_, f| *f != 0);
        let members: Vec<(Term, u128)> = members.into_iter().collect();
        match members.as_slice() {
            [] => self.bv(total, width),
            [(only, 1)] if total == 0 => *only,
            _ => self.intern(Node::BvSum { width, constant: total, members: members.into() }, Sort::Bv(width)),
        }
    }

    /// `a + b`
    pub fn bv_add(&mut self, a: Term, b: Term) -> Term {
        self.bv_sum(self.width(a), 0, vec![(a, 1), (b, 1)])
    }

    /// `a - b`
    pub fn bv_sub(&mut self, a: Term, b: Term) -> Term {
        let width = self.width(a);
        self.bv_sum(width, 0, vec![(a, 1), (b, mask(width))])
    }

    /// `-a`
    pub fn bv_neg(&mut self, a: Term) -> Term {
        let width = self.width(a);
        self.bv_sum(width, 0, vec![(a, mask(width))])
    }

    /// `~a`, which is `-a - 1`
    pub fn bv_not(&mut self, a: Term) -> Term {
        let width = self.width(a);
        self.bv_sum(width, mask(width), vec![(a, mask(width))])
    }

    /// A binary operator other than addition and subtraction.
    pub fn bv_binary(&mut self, op: BvBinary, a: Term, b: Term) -> Term {
        let width = self.width(a);
        if let (Some(x), Some(y)) = (self.bv_value(a), self.bv_value(b))
            && let Some(value) = fold(op, x, y, width)
        {
            return self.bv(value, width);
        }
        let simplified = match op {
            BvBinary::Mul => self.multiply(a, b),
            BvBinary::Shl => self.shift_left(a, b),
            BvBinary::Lshr => self.shift_right(a, b, false),
            BvBinary::Ashr => self.shift_right(a, b, true),
            BvBinary::And => self.mask_with(a, b),
            BvBinary::Or | BvBinary::Xor => self.or_xor(op, a, b),
            BvBinary::Udiv => self.power_of_two(b).map(|k| self.high_bits(a, k)),
            BvBinary::Urem => self.power_of_two(b).map(|k| self.low_bits(a, k)),
            BvBinary::Sdiv | BvBinary::Srem => None,
        };
        if let Some(term) = simplified {
            return term;
        }
        let commutative = matches!(op, BvBinary::Mul | BvBinary::And | BvBinary::Or | BvBinary::Xor);
        let (a, b) = if commutative && b < a { (b, a) } else { (a, b) };
        self.intern(Node::BvBinary(op, a, b), Sort::Bv(width))
    }

    fn multiply(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        if let Some(factor) = self.bv_value(b) {
            return Some(self.bv_sum(width, 0, vec![(a, factor)]));
        }
        if self.bv_value(a).is_some() {
            return self.multiply(b, a);
        }
        let (left, right) = (self.members(a), self.members(b));
        if left.len() * right.len() == 1 || left.len() * right.len() > DISTRIBUTE_LIMIT {
            return None;
        }
        let mut list = Vec::new();
        for &(x, f) in &left {
            for &(y, g) in &right {
                let product = match (x, y) {
                    (Some(x), Some(y)) => self.bv_binary(BvBinary::Mul, x, y),
                    (Some(x), None) | (None, Some(x)) => x,
                    (None, None) => self.bv(1, width),
                };
                list.push((product, f.wrapping_mul(g)));
            }
        }
        Some(self.bv_sum(width, 0, list))
    }

    /// The members of a sum; `None` stands for the constant one.
    fn members(&self, term: Term) -> Vec<(Option<Term>, u128)> {
        match self.node(term) {
            Node::BvSum { constant, members, .. } => {
                let mut list: Vec<_> = members.iter().map(|&(t, f)| (Some(t), f)).collect();
                if *constant != 0 {
                    list.push((None, *constant));
                }
                list
            }
            _ => vec![(Some(term), 1)],
        }
    }

    fn power_of_two(&self, term: Term) -> Option<u32> {
        self.bv_value(term).filter(|v| v.is_power_of_two()).map(u128::trailing_zeros)
    }

    fn shift_left(&mut self, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        let amount = self.bv_value(b)?;
        if amount >= u128::from(width) {
            return Some(self.bv(0, width));
        }
        Some(self.bv_sum(width, 0, vec![(a, 1u128 << amount)]))
    }

    fn shift_right(&mut self, a: Term, b: Term, arithmetic: bool) -> Option<Term> {
        let width = self.width(a);
        let amount = self.bv_value(b)?.min(u128::from(width)) as u32;
        if arithmetic {
            let low = amount.min(width - 1);
            let high = self.extract(width - 1, low, a);
            return Some(self.sign_extend(high, width));
        }
        Some(self.high_bits(a, amount))
    }

    /// `a >> k`
    fn high_bits(&mut self, a: Term, k: u32) -> Term {
        let width = self.width(a);
        if k >= width {
            return self.bv(0, width);
        }
        let high = self.extract(width - 1, k, a);
        self.zero_extend(high, width)
    }

    /// `a & (2^k - 1)`
    fn low_bits(&mut self, a: Term, k: u32) -> Term {
        let width = self.width(a);
        if k == 0 {
            return self.bv(0, width);
        }
        if k >= width {
            return a;
        }
        let low = self.extract(k - 1, 0, a);
        self.zero_extend(low, width)
    }

    fn mask_with(&mut self, a: Term, b: Term) -> Option<Term> {
        if a == b {
            return Some(a);
        }
        let (value, other) = match (self.bv_value(a), self.bv_value(b)) {
            (Some(v), _) => (v, b),
            (_, Some(v)) => (v, a),
            _ => return None,
        };
        let width = self.width(a);
        let runs = runs_of_ones(value, width);
        if runs.len() > RUN_LIMIT {
            return None;
        }
        let mut list = Vec::new();
        for (low, high) in runs {
            let piece = self.extract(high, low, other);
            let wide = self.zero_extend(piece, width);
            list.push((wide, 1u128 << low));
        }
        Some(self.bv_sum(width, 0, list))
    }

    /// `a | b` and `a ^ b` are sums when no bit can be set in both.
    fn or_xor(&mut self, op: BvBinary, a: Term, b: Term) -> Option<Term> {
        let width = self.width(a);
        if a == b {
            return Some(if op == BvBinary::Or { a } else { self.bv(0, width) });
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.bv_value(y) {
                Some(0) => return Some(x),
                Some(v) if v == mask(width) && op == BvBinary::Xor => return Some(self.bv_not(x)),
                Some(v) if v == mask(width) => return Some(y),
                _ => {}
            }
        }
        if self.possible_bits(a) & self.possible_bits(b) == 0 {
            return Some(self.bv_add(a, b));
        }
        None
    }

    /// A comparison.
    pub fn bv_compare(&mut self, op: BvCompare, a: Term, b: Term) -> Term {
        let strict = matches!(op, BvCompare::Ult | BvCompare::Slt);
        if a == b {
            return self.boolean(!strict);
        }
        let width = self.width(a);
        let is_signed = matches!(op, BvCompare::Slt | BvCompare::Sle);
        if let (Some(x), Some(y)) = (self.bv_value(a), self.bv_value(b)) {
            let less = if is_signed { signed(x, width) < signed(y, width) } else { x < y };
            return self.boolean(less || (!strict && x == y));
        }
        if !is_signed {
            match (self.bv_value(a), self.bv_value(b)) {
                (_, Some(0)) if strict => return self.boolean(false),
                (Some(0), _) if !strict => return self.boolean(true),
                (_, Some(v)) if !strict && self.possible_bits(a) <= v => return self.boolean(true),
                (Some(v), _) if !strict && self.possible_bits(b) < v => return self.boolean(false),
                _ => {}
            }
            // Compare the narrow values when both are zero extensions.
            if let (Node::ZeroExtend(_, x), Node::ZeroExtend(_, y)) = (self.node(a).clone(), self.node(b).clone())
                && self.width(x) == self.width(y)
            {
                return self.bv_compare(op, x, y);
            }
        }
        // One form for each comparison: a < b is the negation of b <= a.
        match op {
            BvCompare::Ult => {
                let le = self.bv_compare(BvCompare::Ule, b, a);
                self.not(le)
            }
            BvCompare::Slt => {
                let le = self.bv_compare(BvCompare::Sle, b, a);
                self.not(le)
            }
            _ => self.intern(Node::BvCompare(op, a, b), Sort::Bool),
        }
    }

    pub(super) fn eq_bv(&mut self, a: Term, b: Term) -> Term {
        let difference = self.bv_sub(a, b);
        if let Some(value) = self.bv_value(difference) {
            return self.boolean(value == 0);
        }
        let (constant, other) = match (self.bv_value(a), self.bv_value(b)) {
            (Some(v), _) => (v, b),
            (_, Some(v)) => (v, a),
            _ => return self.eq_extensions(a, b),
        };
        if constant & !self.possible_bits(other) != 0 {
            return self.boolean(false);
        }
        match *self.node(other) {
            Node::Ite(..) if self.is_long_choice(other) => self.eq_choice(other, constant),
            Node::Ite(c, x, y) => {
                let value = self.bv(constant, self.width(other));
                let (left, right) = (self.eq(x, value), self.eq(y, value));
                self.ite(c, left, right)
            }
            Node::ZeroExtend(_, inner) => {
                let value = self.bv(constant, self.width(inner));
                self.eq(inner, value)
            }
            _ => self.intern(Node::Eq(a, b), Sort::Bool),
        }
    }

    /// Whether a chain of choices has more links than are looked at one by one.
    fn is_long_choice(&self, chain: Term) -> bool {
        let next = |t: &Term| if let Node::Ite(_, _, y) = *self.node(*t) { Some(y) } else { None };
        std::iter::successors(Some(chain), next).nth(LONG_CHOICE).is_some()
    }

    /// `chain == constant`: what leads past the branches that are not equal stands in one conjunction. One for each rest
    /// of the chain would be quadratic, and cubic for as many constants as branches (`brx.idx`).
    fn eq_choice(&mut self, chain: Term, constant: u128) -> Term {
        let value = self.bv(constant, self.width(chain));
        let (mut rest, mut past) = (chain, Vec::new());
        while let Node::Ite(c, x, y) = *self.node(rest) {
            let left = self.eq(x, value);
            if self.truth(left) != Some(false) {
                let right = self.eq(y, value);
                past.push(self.ite(c, left, right));
                return self.and(past);
            }
            past.push(self.not(c));
            rest = y;
        }
        past.push(self.eq(rest, value));
        self.and(past)
    }

    fn eq_extensions(&mut self, a: Term, b: Term) -> Term {
        match (self.node(a), self.node(b)) {
            (Node::ZeroExtend(_, x), Node::ZeroExtend(_, y)) | (Node::SignExtend(_, x), Node::SignExtend(_, y))
                if self.width(*x) == self.width(*y) =>
            {
                let (x, y) = (*x, *y);
                self.eq(x, y)
            }
            _ => self.intern(Node::Eq(a, b), Sort::Bool),
        }
    }

    /// Bits `low ..= high`.
    pub fn extract(&mut self, high: u32, low: u32, of: Term) -> Term {
        if high - low + 1 == self.width(of) {
            return of;
        }
        // Remembered, because it descends into shared operands: a chain of n steps
        // `x ^= x >> k` would take 2^n calls.
        if let Some(&known) = self.extracts.get(&(high, low, of)) {
            return known;
        }
        let result = self.extract_uncached(high, low, of);
        self.extracts.insert((high, low, of), result);
        result
    }

    fn extract_uncached(&mut self, high: u32, low: u32, of: Term) -> Term {
        let size = high - low + 1;
        match self.node(of).clone() {
            Node::BvConst { value, .. } => return self.bv(value >> low, size),
            Node::Extract { low: inner_low, of: inner, .. } => {
                return self.extract(high + inner_low, low + inner_low, inner);
            }
            Node::ZeroExtend(_, inner) | Node::SignExtend(_, inner) if high < self.width(inner) => {
                return self.extract(high, low, inner);
            }
            Node::ZeroExtend(_, inner) if low >= self.width(inner) => return self.bv(0, size),
            Node::ZeroExtend(_, inner) => {
                let piece = self.extract(self.width(inner) - 1, low, inner);
                return self.zero_extend(piece, size);
            }
            Node::Concat(top, bottom) => {
                let split = self.width(bottom);
                if low >= split {
                    return self.extract(high - split, low - split, top);
                }
                if high < split {
                    return self.extract(high, low, bottom);
                }
            }
            Node::BvSum { constant, members, .. } if low == 0 => {
                let list = members.iter().map(|&(t, f)| (self.extract(high, 0, t), f & mask(size))).collect();
                return self.bv_sum(size, constant & mask(size), list);
            }
            Node::BvBinary(op @ (BvBinary::Mul | BvBinary::And | BvBinary::Or | BvBinary::Xor), a, b)
                if low == 0 || op != BvBinary::Mul =>
            {
                let (a, b) = (self.extract(high, low, a), self.extract(high, low, b));
                return self.bv_binary(op, a, b);
            }
            Node::FromInt(_, inner) if low == 0 => return self.from_int(inner, size),
            Node::Ite(c, a, b) if self.bv_value(a).is_some() || self.bv_value(b).is_some() => {
                let (a, b) = (self.extract(high, low, a), self.extract(high, low, b));
                return self.ite(c, a, b);
            }
            _ => {}
        }
        // (4*x)[.. : 2] is x[..] when no bit of the product is lost.
        if let Some(shifted) = self.unscale(of, low) {
            return self.extract(high - low, 0, shifted);
        }
        self.intern(Node::Extract { high, low, of }, Sort::Bv(size))
    }

    /// `of >> low` as an exact sum, when `of` is a sum of multiples of 2^low that does not wrap.
    fn unscale(&mut self, of: Term, low: u32) -> Option<Term> {
        let Node::BvSum { width, constant, members } = self.node(of).clone() else { return None };
        if low == 0 {
            return None;
        }
        let unit = 1u128 << low;
        if constant % unit != 0 || members.iter().any(|m| m.1 % unit != 0) {
            return None;
        }
        let mut bound = constant;
        for &(t, f) in &members {
            bound = bound.checked_add(self.possible_bits(t).checked_mul(f)?)?;
        }
        if bound > mask(width) {
            return None;
        }
        let list = members.iter().map(|&(t, f)| (t, f / unit)).collect();
        Some(self.bv_sum(width, constant / unit, list))
    }

    /// `high ++ low`
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (wide, narrow) = (self.width(high), self.width(low));
        let width = wide + narrow;
        if width > 128 {
            return self.intern(Node::Concat(high, low), Sort::Bv(width));
        }
        if let (Some(x), Some(y)) = (self.bv_value(high), self.bv_value(low)) {
            return self.bv((x << narrow) | y, width);
        }
        if self.bv_value(high) == Some(0) {
            return self.zero_extend(low, width);
        }
        if let (Node::Extract { low: l1, of: x, high: h1 }, Node::Extract { high: h2, low: l2, of: y }) =
            (self.node(high).clone(), self.node(low).clone())
            && x == y
            && l1 == h2 + 1
        {
            return self.extract(h1, l2, x);
        }
        self.intern(Node::Concat(high, low), Sort::Bv(width))
    }

    /// Zero extension to `width` bits.
    pub fn zero_extend(&mut self, a: Term, width: u32) -> Term {
        if self.width(a) == width {
            return a;
        }
        match *self.node(a) {
            Node::BvConst { value, .. } => self.bv(value, width),
            Node::ZeroExtend(_, inner) => self.zero_extend(inner, width),
            Node::Ite(c, x, y) if self.bv_value(x).is_some() && self.bv_value(y).is_some() => {
                let (x, y) = (self.zero_extend(x, width), self.zero_extend(y, width));
                self.ite(c, x, y)
            }
            _ => self.intern(Node::ZeroExtend(width, a), Sort::Bv(width)),
        }
    }

    /// Sign extension to `width` bits.
    pub fn sign_extend(&mut self, a: Term, width: u32) -> Term {
        let from = self.width(a);
        if from == width {
            return a;
        }
        match *self.node(a) {
            Node::BvConst { value, .. } => self.bv(signed(value, from) as u128, width),
            Node::SignExtend(_, inner) => self.sign_extend(inner, width),
            Node::ZeroExtend(_, inner) => self.zero_extend(inner, width),
            _ if self.possible_bits(a) >> (from - 1) == 0 => self.zero_extend(a, width),
            _ => self.intern(Node::SignExtend(width, a), Sort::Bv(width)),
        }
    }
}

/// The maximal runs of ones in a mask, as (lowest, highest) bit.
fn runs_of_ones(value: u128, width: u32) -> Vec<(u32, u32)> {
    let mut runs = Vec::new();
    let mut bit = 0;
    while bit < width {
        if value >> bit & 1 == 0 {
            bit += 1;
            continue;
        }
        let low = bit;
        while bit < width && value >> bit & 1 == 1 {
            bit += 1;
        }
        runs.push((low, bit - 1));
    }
    runs
}

/// Constant folding as SMT-LIB defines it; division by zero is left to the solver.
fn fold(op: BvBinary, x: u128, y: u128, width: u32) -> Option<u128> {
    let (sx, sy) = (signed(x, width), signed(y, width));
    let shift = |f: &dyn Fn(u32) -> u128, beyond: u128| if y >= u128::from(width) { beyond } else { f(y as u32) };
    Some(match op {
        BvBinary::Mul => x.wrapping_mul(y),
        BvBinary::Udiv if y != 0 => x / y,
        BvBinary::Urem if y != 0 => x % y,
        BvBinary::Sdiv if y != 0 => sx.wrapping_div(sy) as u128,
        BvBinary::Srem if y != 0 => sx.wrapping_rem(sy) as u128,
        BvBinary::And => x & y,
        BvBinary::Or => x | y,
        BvBinary::Xor => x ^ y,
        BvBinary::Shl => shift(&|k| x << k, 0),
        BvBinary::Lshr => shift(&|k| x >> k, 0),
        BvBinary::Ashr => shift(&|k| (sx >> k) as u128, if sx < 0 { u128::MAX } else { 0 }),
        _ => return None,
    })
}
