//! Normalising builders for integer terms and the conversions from and to bit-vectors.

use super::term::{Node, Sort, Term, Terms, mask, signed};
use std::collections::BTreeMap;

/// Products of sums are multiplied out up to this many members.
const DISTRIBUTE_LIMIT: usize = 40;

impl Terms {
    /// An integer constant.
    pub fn int(&mut self, value: i128) -> Term {
        self.intern(Node::IntConst(value), Sort::Int)
    }

    /// The value of an integer constant.
    pub fn int_value(&self, term: Term) -> Option<i128> {
        match self.node(term) {
            Node::IntConst(value) => Some(*value),
            _ => None,
        }
    }

    /// `constant + sum`, flattened unless a coefficient would leave `i128`.
    pub fn int_sum(&mut self, constant: i128, list: Vec<(Term, i128)>) -> Term {
        let Some((total, members)) = self.flatten(constant, &list) else {
            return self.intern(Node::IntSum { constant, members: list.into() }, Sort::Int);
        };
        match members.as_slice() {
            [] => self.int(total),
            [(only, 1)] if total == 0 => *only,
            _ => self.intern(Node::IntSum { constant: total, members: members.into() }, Sort::Int),
        }
    }

    /// The constant and the members of a sum, each term once; `None` on overflow.
    fn flatten(&self, constant: i128, list: &[(Term, i128)]) -> Option<(i128, Vec<(Term, i128)>)> {
        let mut total = constant;
        let mut members: BTreeMap<Term, i128> = BTreeMap::new();
        let mut add = |term: Term, factor: i128| {
            let entry = members.entry(term).or_insert(0);
            *entry = entry.checked_add(factor)?;
            Some(())
        };
        for &(term, factor) in list {
            match self.node(term) {
                Node::IntConst(value) => total = total.checked_add(value.checked_mul(factor)?)?,
                Node::IntSum { constant, members: inner } => {
                    total = total.checked_add(constant.checked_mul(factor)?)?;
                    for &(t, f) in inner {
                        add(t, f.checked_mul(factor)?)?;
                    }
                }
                _ => add(term, factor)?,
            }
        }
        Some((total, members.into_iter().filter(|(_, f)| *f != 0).collect()))
    }

    /// `a + b`
    pub fn int_add(&mut self, a: Term, b: Term) -> Term {
        self.int_sum(0, vec![(a, 1), (b, 1)])
    }

    /// `a - b`
    pub fn int_sub(&mut self, a: Term, b: Term) -> Term {
        self.int_sum(0, vec![(a, 1), (b, -1)])
    }

    /// `a * b`
    pub fn int_mul(&mut self, a: Term, b: Term) -> Term {
        if let Some(factor) = self.int_value(a) {
            return self.int_sum(0, vec![(b, factor)]);
        }
        if let Some(factor) = self.int_value(b) {
            return self.int_sum(0, vec![(a, factor)]);
        }
        // Choices share parts: each product is made once.
        let key = if a < b { (a, b) } else { (b, a) };
        if let Some(&known) = self.products.get(&key) {
            return known;
        }
        let product = self.int_mul_unknowns(a, b);
        self.products.insert(key, product);
        product
    }

    fn int_mul_unknowns(&mut self, a: Term, b: Term) -> Term {
        // Ghosts choose between counters; each product by itself is a term that the formula has elsewhere, too.
        for (chosen, other) in [(a, b), (b, a)] {
            if let Node::Ite(condition, then, otherwise) = *self.node(chosen) {
                let (then, otherwise) = (self.int_mul(then, other), self.int_mul(otherwise, other));
                return self.ite(condition, then, otherwise);
            }
        }
        let size = |t: Term| if let Node::IntSum { members, .. } = self.node(t) { members.len() + 1 } else { 1 };
        if size(a) * size(b) <= DISTRIBUTE_LIMIT {
            if let Node::IntSum { constant, members } = self.node(a).clone() {
                return self.distribute(constant, &members, b);
            }
            if let Node::IntSum { constant, members } = self.node(b).clone() {
                return self.distribute(constant, &members, a);
            }
        }
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.intern(Node::IntMul(a, b), Sort::Int)
    }

    fn distribute(&mut self, constant: i128, members: &[(Term, i128)], other: Term) -> Term {
        let mut list = vec![(other, constant)];
        for &(term, factor) in members {
            let product = self.int_mul(term, other);
            list.push((product, factor));
        }
        self.int_sum(0, list)
    }

    /// `a <= b`
    pub fn int_le(&mut self, a: Term, b: Term) -> Term {
        let difference = self.int_sub(b, a);
        if let Some(value) = self.int_value(difference) {
            return self.boolean(value >= 0);
        }
        self.intern(Node::IntLe(a, b), Sort::Bool)
    }

    /// `a < b`
    pub fn int_lt(&mut self, a: Term, b: Term) -> Term {
        let one = self.int(1);
        let bound = self.int_add(a, one);
        self.int_le(bound, b)
    }

    pub(super) fn eq_int(&mut self, a: Term, b: Term) -> Term {
        let difference = self.int_sub(a, b);
        if let Some(value) = self.int_value(difference) {
            return self.boolean(value == 0);
        }
        if let Node::IntSum { constant, members } = self.node(difference) {
            // No multiple of the common divisor is the constant.
            let divisor = members.iter().fold(0, |g, m| greatest_common_divisor(g, m.1.unsigned_abs()));
            if divisor > 0 && constant.unsigned_abs() % divisor != 0 {
                return self.boolean(false);
            }
        }
        self.intern(Node::Eq(a, b), Sort::Bool)
    }

    /// Euclidean quotient; by zero it is an arbitrary function value.
    pub fn int_div(&mut self, a: Term, b: Term) -> Term {
        let Some(divisor) = self.int_value(b).filter(|d| *d > 0) else {
            return self.intern(Node::IntDiv(a, b), Sort::Int);
        };
        match self.node(a).clone() {
            _ if divisor == 1 => a,
            Node::IntConst(value) => self.int(value.div_euclid(divisor)),
            Node::IntSum { constant, members } => {
                // (d*x + r) div d = x + r div d
                let (multiples, rest) = self.split(constant, &members, divisor);
                if multiples.is_empty() && rest == a {
                    return self.intern(Node::IntDiv(a, b), Sort::Int);
                }
                let quotient = self.int_div(rest, b);
                let mut list = multiples;
                list.push((quotient, 1));
                self.int_sum(constant.div_euclid(divisor), list)
            }
            Node::IntDiv(inner, by) => {
                // x div c div d = x div (c*d)
                match self.int_value(by).filter(|c| *c > 0).and_then(|c| c.checked_mul(divisor)) {
                    Some(product) => {
                        let product = self.int(product);
                        self.int_div(inner, product)
                    }
                    None => self.intern(Node::IntDiv(a, b), Sort::Int),
                }
            }
            _ => self.intern(Node::IntDiv(a, b), Sort::Int),
        }
    }

    /// Euclidean remainder; by zero it is an arbitrary function value.
    pub fn int_mod(&mut self, a: Term, b: Term) -> Term {
        let Some(divisor) = self.int_value(b).filter(|d| *d > 0) else {
            return self.intern(Node::IntMod(a, b), Sort::Int);
        };
        match self.node(a).clone() {
            _ if divisor == 1 => self.int(0),
            Node::IntConst(value) => self.int(value.rem_euclid(divisor)),
            Node::IntSum { constant, members } => {
                let (_, rest) = self.split(constant, &members, divisor);
                if rest == a { self.intern(Node::IntMod(a, b), Sort::Int) } else { self.int_mod(rest, b) }
            }
            // x mod (c*d) mod d = x mod d
            Node::IntMod(inner, by) if self.int_value(by).is_some_and(|c| c > 0 && c % divisor == 0) => {
                self.int_mod(inner, b)
            }
            _ => self.intern(Node::IntMod(a, b), Sort::Int),
        }
    }

    /// A sum as `divisor * multiples + rest`, the constant of the rest in `0 .. divisor`.
    /// The part of the constant that goes to the multiples is left to the caller.
    fn split(&mut self, constant: i128, members: &[(Term, i128)], divisor: i128) -> (Vec<(Term, i128)>, Term) {
        let (multiples, rest): (Vec<_>, Vec<_>) = members.iter().copied().partition(|(_, f)| f % divisor == 0);
        let multiples = multiples.into_iter().map(|(t, f)| (t, f / divisor)).collect();
        (multiples, self.int_sum(constant.rem_euclid(divisor), rest))
    }

    /// Unsigned value of a bit-vector.
    pub fn to_int(&mut self, a: Term) -> Term {
        match *self.node(a) {
            Node::BvConst { value, width } if width <= 127 => self.int(value as i128),
            Node::ZeroExtend(_, inner) => self.to_int(inner),
            _ => self.intern(Node::ToInt(a), Sort::Int),
        }
    }

    /// Signed value of a bit-vector.
    pub fn to_signed_int(&mut self, a: Term) -> Term {
        match *self.node(a) {
            Node::BvConst { value, width } => self.int(signed(value, width)),
            Node::SignExtend(_, inner) => self.to_signed_int(inner),
            Node::ZeroExtend(_, inner) => self.to_int(inner),
            _ => self.intern(Node::ToSignedInt(a), Sort::Int),
        }
    }

    /// The bit-vector congruent to an integer.
    pub fn from_int(&mut self, a: Term, width: u32) -> Term {
        match self.node(a).clone() {
            Node::IntConst(value) => self.bv(value as u128 & mask(width), width),
            Node::ToInt(inner) | Node::ToSignedInt(inner) if self.width(inner) >= width => {
                self.extract(width - 1, 0, inner)
            }
            Node::ToInt(inner) => self.zero_extend(inner, width),
            Node::ToSignedInt(inner) => self.sign_extend(inner, width),
            Node::IntSum { constant, members } => {
                let list = members.iter().map(|&(t, f)| (self.from_int(t, width), f as u128 & mask(width))).collect();
                self.bv_sum(width, constant as u128 & mask(width), list)
            }
            _ => self.intern(Node::FromInt(width, a), Sort::Bv(width)),
        }
    }
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
