//! Normalising builders for integer terms and the conversions from and to bit-vectors.

use super::term::{Node, Sort, Term, Terms, mask, signed};
use std::collections::BTreeMap;

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

    /// `constant + sum`, flattened.
    pub fn int_sum(&mut self, constant: i128, list: Vec<(Term, i128)>) -> Term {
        let mut total = constant;
        let mut members: BTreeMap<Term, i128> = BTreeMap::new();
        for (term, factor) in list {
            match self.node(term) {
                Node::IntConst(value) => total += value * factor,
                Node::IntSum { constant, members: inner } => {
                    total += constant * factor;
                    for &(t, f) in inner {
                        *members.entry(t).or_insert(0) += f * factor;
                    }
                }
                _ => *members.entry(term).or_insert(0) += factor,
            }
        }
        members.retain(|_, f| *f != 0);
        let members: Vec<(Term, i128)> = members.into_iter().collect();
        match members.as_slice() {
            [] => self.int(total),
            [(only, 1)] if total == 0 => *only,
            _ => self.intern(Node::IntSum { constant: total, members: members.into() }, Sort::Int),
        }
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
        if let Node::IntSum { constant, members } = self.node(a).clone() {
            return self.distribute(constant, &members, b);
        }
        if let Node::IntSum { constant, members } = self.node(b).clone() {
            return self.distribute(constant, &members, a);
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
        self.intern(Node::Eq(a, b), Sort::Bool)
    }

    /// Euclidean quotient; by zero it is an arbitrary function value.
    pub fn int_div(&mut self, a: Term, b: Term) -> Term {
        match (self.int_value(a), self.int_value(b)) {
            (Some(x), Some(y)) if y != 0 => self.int(x.div_euclid(y)),
            (_, Some(1)) => a,
            _ => self.intern(Node::IntDiv(a, b), Sort::Int),
        }
    }

    /// Euclidean remainder; by zero it is an arbitrary function value.
    pub fn int_mod(&mut self, a: Term, b: Term) -> Term {
        match (self.int_value(a), self.int_value(b)) {
            (Some(x), Some(y)) if y != 0 => self.int(x.rem_euclid(y)),
            _ => self.intern(Node::IntMod(a, b), Sort::Int),
        }
    }

    /// Unsigned value of a bit-vector.
    pub fn to_int(&mut self, a: Term) -> Term {
        match *self.node(a) {
            Node::BvConst { value, width } if width < 127 => self.int(value as i128),
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
            Node::ToInt(inner) if self.width(inner) == width => inner,
            Node::ToSignedInt(inner) if self.width(inner) == width => inner,
            Node::IntSum { constant, members } => {
                let list = members.iter().map(|&(t, f)| (self.from_int(t, width), f as u128 & mask(width))).collect();
                self.bv_sum(width, constant as u128 & mask(width), list)
            }
            _ => self.intern(Node::FromInt(width, a), Sort::Bv(width)),
        }
    }
}
