//! Bit-vector formulas as integer formulas, exactly or weaker.
//!
//! Input: a formula over bit-vectors. Output: an integer formula and side constraints such that
//! validity of `side ==> formula'` implies validity of `formula`.
//! Establishes: every bit-vector term of width n is represented by some integer congruent to it
//! modulo 2^n; the value is made canonical only where it is observed (comparison, widening,
//! division, right shift). Intervals tell where that costs nothing; elsewhere wrapping is explicit,
//! never assumed away. Bit operations without an arithmetic meaning become uninterpreted functions.
//! Relies on: ranges of symbols are implied by the assumptions of the formula.
//! Reference: proof-notes, lessons 4 and 5; DESIGN section 5.

use super::interval::Interval;
use crate::vcgen::term::{BvBinary, BvCompare, Node, Sort, Term, Terms, mask, signed};
use std::collections::{HashMap, HashSet};

/// Wrapping is spelled out case by case up to this many windows of size 2^n; beyond, by `mod`.
const WINDOW_LIMIT: i128 = 3;
/// Shifts by a variable amount become a table of at most this many cases.
const SHIFT_CASES: i128 = 64;

/// An integer term with bounds.
#[derive(Clone, Copy, Debug)]
struct Value {
    term: Term,
    interval: Interval,
}

/// The translation of one formula; memoised over the DAG.
pub struct Integers<'t> {
    terms: &'t mut Terms,
    representatives: HashMap<Term, Value>,
    formulas: HashMap<Term, Term>,
    canonical: HashMap<(Term, bool), Value>,
    signed_symbols: HashSet<Term>,
    /// Facts about fresh symbols and functions, true in every execution.
    pub side: Vec<Term>,
}

/// 2^width as an integer; widths here are at most 64.
fn modulus(width: u32) -> i128 {
    1i128 << width
}

impl<'t> Integers<'t> {
    /// Prepares the translation of formulas below `roots`; looks at how symbols are compared to
    /// choose a signed or unsigned range for each. `None` if a width exceeds 64 bits.
    pub fn new(terms: &'t mut Terms, roots: &[Term]) -> Option<Self> {
        let mut signed_symbols = HashSet::new();
        let mut seen = HashSet::new();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if terms.width(t) > 64 {
                return None;
            }
            match terms.node(t) {
                Node::BvCompare(BvCompare::Slt | BvCompare::Sle, a, b)
                | Node::BvBinary(BvBinary::Sdiv | BvBinary::Srem, a, b) => {
                    mark_signed(terms, *a, &mut signed_symbols);
                    mark_signed(terms, *b, &mut signed_symbols);
                }
                Node::SignExtend(_, a) | Node::ToSignedInt(a) | Node::BvBinary(BvBinary::Ashr, a, _) => {
                    mark_signed(terms, *a, &mut signed_symbols);
                }
                _ => {}
            }
            stack.extend(terms.operands(t));
        }
        Some(Integers {
            terms,
            representatives: HashMap::new(),
            formulas: HashMap::new(),
            canonical: HashMap::new(),
            signed_symbols,
            side: Vec::new(),
        })
    }

    /// The integer formula of a Boolean term.
    pub fn formula(&mut self, t: Term) -> Term {
        if let Some(&known) = self.formulas.get(&t) {
            return known;
        }
        let node = self.terms.node(t).clone();
        let result = match node {
            Node::Not(a) => {
                let a = self.formula(a);
                self.terms.not(a)
            }
            Node::And(list) => {
                let list = list.iter().map(|&a| self.formula(a)).collect();
                self.terms.chain(true, list)
            }
            Node::Or(list) => {
                let list = list.iter().map(|&a| self.formula(a)).collect();
                self.terms.chain(false, list)
            }
            Node::Ite(c, a, b) => {
                let (c, a, b) = (self.formula(c), self.formula(a), self.formula(b));
                self.terms.ite(c, a, b)
            }
            Node::Eq(a, b) => match self.terms.sort(a) {
                Sort::Bool => {
                    let (a, b) = (self.formula(a), self.formula(b));
                    self.terms.eq(a, b)
                }
                Sort::Bv(width) => self.equality(a, b, width),
                Sort::Int => {
                    let (a, b) = (self.integer(a), self.integer(b));
                    self.terms.eq(a.term, b.term)
                }
            },
            Node::BvCompare(op, a, b) => self.comparison(op, a, b),
            Node::IntLe(a, b) => {
                let (a, b) = (self.integer(a), self.integer(b));
                self.terms.int_le(a.term, b.term)
            }
            Node::Apply(id, args) => {
                let args = args.iter().map(|&a| self.argument(a)).collect();
                let name = format!("{}#", self.terms.functions[id as usize].name);
                self.terms.apply(&name, args, Sort::Bool)
            }
            _ => t,
        };
        self.formulas.insert(t, result);
        result
    }

    /// A term whose value in a model is the value of `t`: a bit-vector by its unsigned value.
    pub fn observe(&mut self, t: Term) -> Option<Term> {
        Some(self.argument(t))
    }

    /// An argument of an uninterpreted function: canonical, so that equal values give equal results.
    fn argument(&mut self, t: Term) -> Term {
        match self.terms.sort(t) {
            Sort::Bool => self.formula(t),
            Sort::Int => self.integer(t).term,
            Sort::Bv(_) => self.unsigned(t).term,
        }
    }

    /// Equality modulo 2^width: the difference is a multiple of the modulus that its interval allows.
    fn equality(&mut self, a: Term, b: Term, width: u32) -> Term {
        let (x, y) = (self.representative(a), self.representative(b));
        let difference = self.terms.int_sub(x.term, y.term);
        let interval = self.interval_of(difference, x.interval.plus(y.interval.times_constant(-1)));
        let size = modulus(width);
        match interval.low.zip(interval.high).map(|(l, h)| (-(-l).div_euclid(size), h.div_euclid(size))) {
            Some((first, last)) if last - first < WINDOW_LIMIT => {
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

    fn comparison(&mut self, op: BvCompare, a: Term, b: Term) -> Term {
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
        if last - first >= WINDOW_LIMIT {
            return None;
        }
        let bound = i128::try_from(bound).ok()?;
        let mut cases = Vec::new();
        for q in first..=last {
            let (low, high) = (q * size, q * size + bound - 1);
            if !value.interval.meets(low, high) {
                continue;
            }
            let mut both = Vec::new();
            if value.interval.low.is_none_or(|l| l < low) {
                let low = self.terms.int(low);
                both.push(self.terms.int_le(low, value.term));
            }
            if value.interval.high.is_none_or(|h| h > high) {
                let high = self.terms.int(high);
                both.push(self.terms.int_le(value.term, high));
            }
            cases.push(self.terms.and(both));
        }
        Some(self.terms.or(cases))
    }

    /// The unsigned value.
    fn unsigned(&mut self, t: Term) -> Value {
        self.canonical(t, false)
    }

    /// The signed value.
    fn signed(&mut self, t: Term) -> Value {
        self.canonical(t, true)
    }

    fn canonical(&mut self, t: Term, is_signed: bool) -> Value {
        if let Some(&known) = self.canonical.get(&(t, is_signed)) {
            return known;
        }
        let width = self.terms.width(t);
        let low = if is_signed { -modulus(width) / 2 } else { 0 };
        let value = self.representative(t);
        let result = self.wrap(value, low, modulus(width));
        self.canonical.insert((t, is_signed), result);
        result
    }

    /// The member of `low .. low + size` congruent to a value modulo `size`.
    fn wrap(&mut self, value: Value, low: i128, size: i128) -> Value {
        let high = low + size - 1;
        if value.interval.within(low, high) {
            return value;
        }
        let shifted = value.interval.plus(Interval::point(-low));
        let interval = Interval::new(low, high);
        if let Some((first, last)) = shifted.windows(size)
            && last - first < WINDOW_LIMIT
        {
            let mut term = self.terms.int_sum(-last * size, vec![(value.term, 1)]);
            for q in (first..last).rev() {
                let end = self.terms.int(low + (q + 1) * size - 1);
                let inside = self.terms.int_le(value.term, end);
                let wrapped = self.terms.int_sum(-q * size, vec![(value.term, 1)]);
                term = self.terms.ite(inside, wrapped, term);
            }
            let interval = if first == last { value.interval.plus(Interval::point(-first * size)) } else { interval };
            return Value { term, interval };
        }
        let moved = self.terms.int_sum(-low, vec![(value.term, 1)]);
        let size = self.terms.int(size);
        let rest = self.terms.int_mod(moved, size);
        Value { term: self.terms.int_sum(low, vec![(rest, 1)]), interval }
    }

    /// A constant difference has a sharper interval than its parts suggest.
    fn interval_of(&self, term: Term, fallback: Interval) -> Interval {
        self.terms.int_value(term).map_or(fallback, Interval::point)
    }

    /// Some integer congruent to a bit-vector term.
    fn representative(&mut self, t: Term) -> Value {
        if let Some(&known) = self.representatives.get(&t) {
            return known;
        }
        let value = self.represent(t);
        self.representatives.insert(t, value);
        value
    }

    fn represent(&mut self, t: Term) -> Value {
        let width = self.terms.width(t);
        match self.terms.node(t).clone() {
            Node::BvConst { value, .. } => self.constant(small(value, width)),
            Node::Symbol(_) => self.symbol(t, width),
            Node::BvSum { constant, members, .. } => {
                let constant = small(constant, width);
                let mut interval = Interval::point(constant);
                let mut list = Vec::new();
                for &(member, factor) in members.iter() {
                    let value = self.representative(member);
                    let factor = small(factor, width);
                    interval = interval.plus(value.interval.times_constant(factor));
                    list.push((value.term, factor));
                }
                let term = self.terms.int_sum(constant, list);
                self.reduce(term, interval, width)
            }
            Node::Ite(c, a, b) => {
                let c = self.formula(c);
                let (x, y) = (self.representative(a), self.representative(b));
                Value { term: self.terms.ite(c, x.term, y.term), interval: x.interval.union(y.interval) }
            }
            Node::Extract { low, of, .. } => {
                let value = self.representative(of);
                if low == 0 {
                    return value;
                }
                self.divide_by_constant(value, modulus(low))
            }
            Node::ZeroExtend(_, a) => self.unsigned(a),
            Node::SignExtend(_, a) => self.signed(a),
            Node::Concat(a, b) => {
                let factor = modulus(self.terms.width(b));
                let (high, low) = (self.representative(a), self.unsigned(b));
                let term = self.terms.int_sum(0, vec![(high.term, factor), (low.term, 1)]);
                Value { term, interval: high.interval.times_constant(factor).plus(low.interval) }
            }
            Node::BvBinary(op, a, b) => self.binary(op, a, b, width),
            Node::Apply(id, args) => {
                let args = args.iter().map(|&a| self.argument(a)).collect();
                let name = format!("{}#", self.terms.functions[id as usize].name);
                let term = self.terms.apply(&name, args, Sort::Int);
                self.bounded(term, 0, modulus(width) - 1)
            }
            Node::FromInt(_, a) => self.integer(a),
            other => panic!("solver: {other:?} is not a bit-vector"),
        }
    }

    /// Keeps representatives small: a sum whose bounds left every window is reduced once.
    fn reduce(&mut self, term: Term, interval: Interval, width: u32) -> Value {
        let value = Value { term, interval: self.interval_of(term, interval) };
        match value.interval.windows(modulus(width)) {
            // A sum that lies in one window beyond the first is moved there for free.
            Some((first, last)) if first == last && first != 0 && first != -1 => {
                let offset = -first * modulus(width);
                Value {
                    term: self.terms.int_sum(offset, vec![(term, 1)]),
                    interval: value.interval.plus(Interval::point(offset)),
                }
            }
            _ => value,
        }
    }

    fn constant(&mut self, value: i128) -> Value {
        Value { term: self.terms.int(value), interval: Interval::point(value) }
    }

    fn symbol(&mut self, t: Term, width: u32) -> Value {
        let (name, range) = match self.terms.symbol_of(t) {
            Some(symbol) => (format!("{}#", symbol.name), symbol.range),
            None => panic!("solver: not a symbol"),
        };
        let term = self.terms.symbol(&name, Sort::Int, None);
        let half = modulus(width) / 2;
        match range {
            Some((low, high)) if high < modulus(width) as u128 => self.bounded(term, low as i128, high as i128),
            // Offsets are 64 bits wide and lie around zero.
            _ if width == 64 || self.signed_symbols.contains(&t) => self.bounded(term, -half, half - 1),
            _ => self.bounded(term, 0, modulus(width) - 1),
        }
    }

    /// A term known to lie in an interval; the fact goes to the side constraints.
    fn bounded(&mut self, term: Term, low: i128, high: i128) -> Value {
        let (l, h) = (self.terms.int(low), self.terms.int(high));
        let lower = self.terms.int_le(l, term);
        let upper = self.terms.int_le(term, h);
        self.side.push(lower);
        self.side.push(upper);
        Value { term, interval: Interval::new(low, high) }
    }

    fn divide_by_constant(&mut self, value: Value, divisor: i128) -> Value {
        let d = self.terms.int(divisor);
        let interval = value.interval.divided_by(divisor);
        let term = match interval {
            Interval { low: Some(l), high: Some(h) } if l == h => self.terms.int(l),
            _ => self.terms.int_div(value.term, d),
        };
        Value { term, interval }
    }

    fn binary(&mut self, op: BvBinary, a: Term, b: Term, width: u32) -> Value {
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
        let quotient = self.opaque(&format!("udiv{width}#"), a, b, 0, top);
        let remainder = self.opaque(&format!("urem{width}#"), a, b, 0, top);
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
            return self.opaque(&format!("{name}{width}#"), a, b, -half, half);
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
        let value = self.opaque(&format!("and{width}#"), a.min(b), a.max(b), 0, bits as i128);
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
        if high - low > SHIFT_CASES {
            return self.opaque(&format!("{op:?}{width}#"), a, b, 0, modulus(width) - 1);
        }
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

    /// An integer term with the conversions below it translated.
    fn integer(&mut self, t: Term) -> Value {
        if let Some(&known) = self.representatives.get(&t) {
            return known;
        }
        let value = match self.terms.node(t).clone() {
            Node::IntConst(value) => self.constant(value),
            Node::ToInt(a) => self.unsigned(a),
            Node::ToSignedInt(a) => self.signed(a),
            Node::IntSum { constant, members } => {
                let mut interval = Interval::point(constant);
                let mut list = Vec::new();
                for &(member, factor) in members.iter() {
                    let value = self.integer(member);
                    interval = interval.plus(value.interval.times_constant(factor));
                    list.push((value.term, factor));
                }
                let term = self.terms.int_sum(constant, list);
                Value { term, interval: self.interval_of(term, interval) }
            }
            Node::IntMul(a, b) => {
                let (x, y) = (self.integer(a), self.integer(b));
                Value { term: self.terms.int_mul(x.term, y.term), interval: x.interval.times(y.interval) }
            }
            Node::IntDiv(a, b) => {
                let (x, y) = (self.integer(a), self.integer(b));
                Value { term: self.terms.int_div(x.term, y.term), interval: Interval::ALL }
            }
            Node::IntMod(a, b) => {
                let (x, y) = (self.integer(a), self.integer(b));
                let interval = self.terms.int_value(y.term).filter(|&d| d > 0);
                let interval = interval.map_or(Interval::ALL, |d| Interval::new(0, d - 1));
                Value { term: self.terms.int_mod(x.term, y.term), interval }
            }
            Node::Ite(c, a, b) => {
                let c = self.formula(c);
                let (x, y) = (self.integer(a), self.integer(b));
                Value { term: self.terms.ite(c, x.term, y.term), interval: x.interval.union(y.interval) }
            }
            Node::Apply(id, args) => {
                let args = args.iter().map(|&a| self.argument(a)).collect();
                let name = format!("{}#", self.terms.functions[id as usize].name);
                Value { term: self.terms.apply(&name, args, Sort::Int), interval: Interval::ALL }
            }
            _ => Value { term: t, interval: self.symbol_interval(t) },
        };
        self.representatives.insert(t, value);
        value
    }

    /// Ghost counters start at zero and only grow; their symbols carry that range.
    fn symbol_interval(&self, t: Term) -> Interval {
        match self.terms.symbol_of(t).and_then(|s| s.range) {
            Some((low, high)) => Interval { low: i128::try_from(low).ok(), high: i128::try_from(high).ok() },
            None => Interval::ALL,
        }
    }
}

/// The representative of a constant nearest to zero.
fn small(value: u128, width: u32) -> i128 {
    let negative = signed(value, width);
    if negative < 0 && negative > -modulus(width) / 4 { negative } else { value as i128 }
}

/// Marks the symbols that a signed observation reaches through sums, choices and truncations.
fn mark_signed(terms: &Terms, term: Term, marked: &mut HashSet<Term>) {
    let mut stack = vec![(term, 0)];
    while let Some((t, depth)) = stack.pop() {
        if depth > 6 {
            continue;
        }
        match terms.node(t) {
            Node::Symbol(_) => {
                marked.insert(t);
            }
            Node::BvSum { members, .. } => stack.extend(members.iter().map(|m| (m.0, depth + 1))),
            Node::Ite(_, a, b) => stack.extend([(*a, depth + 1), (*b, depth + 1)]),
            Node::BvBinary(BvBinary::Mul, a, b) => stack.extend([(*a, depth + 1), (*b, depth + 1)]),
            _ => {}
        }
    }
}
