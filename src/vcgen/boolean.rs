//! Normalising builders for Boolean terms, equality and if-then-else.
//!
//! Reference: proof-notes, lesson 7 (structure first): `(a && c) || (a && !c)` becomes `a`, so a
//! block that post-dominates its dominator gets the dominator's activity.

use super::term::{Node, Sort, Term, Terms};
use std::collections::BTreeSet;

/// Longest disjunction in which pairs are merged; beyond it the quadratic search is not worth it.
const MERGE_LIMIT: usize = 24;

impl Terms {
    /// `true` or `false`
    pub fn boolean(&mut self, value: bool) -> Term {
        self.intern(Node::Bool(value), Sort::Bool)
    }

    /// The truth value of a constant.
    pub fn truth(&self, term: Term) -> Option<bool> {
        match self.node(term) {
            Node::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// `!a`
    pub fn not(&mut self, a: Term) -> Term {
        match *self.node(a) {
            Node::Bool(value) => self.boolean(!value),
            Node::Not(inner) => inner,
            Node::IntLe(x, y) => {
                let one = self.int(1);
                let bound = self.int_add(y, one);
                self.int_le(bound, x)
            }
            _ => self.intern(Node::Not(a), Sort::Bool),
        }
    }

    /// Conjunction.
    pub fn and(&mut self, list: Vec<Term>) -> Term {
        self.junction(list, true)
    }

    /// Disjunction.
    pub fn or(&mut self, list: Vec<Term>) -> Term {
        self.junction(list, false)
    }

    /// `a && b`
    pub fn and2(&mut self, a: Term, b: Term) -> Term {
        self.and(vec![a, b])
    }

    /// `a || b`
    pub fn or2(&mut self, a: Term, b: Term) -> Term {
        self.or(vec![a, b])
    }

    /// `a ==> b`
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.or2(not_a, b)
    }

    fn junction(&mut self, list: Vec<Term>, conjunction: bool) -> Term {
        let mut members: Vec<Term> = Vec::new();
        for term in list {
            match self.node(term) {
                Node::Bool(value) if *value == conjunction => {}
                Node::Bool(_) => return term,
                Node::And(inner) if conjunction => members.extend(inner.iter().copied()),
                Node::Or(inner) if !conjunction => members.extend(inner.iter().copied()),
                _ => members.push(term),
            }
        }
        // Hundreds of members that are sorted but for the last are common, and this sort is quick on them.
        members.sort();
        members.dedup();
        for &term in &members {
            if let Node::Not(inner) = self.node(term)
                && members.binary_search(inner).is_ok()
            {
                return self.boolean(!conjunction);
            }
        }
        if !conjunction && members.len() <= MERGE_LIMIT && self.merge_complements(&mut members) {
            while self.merge_complements(&mut members) {}
            // What was merged may cancel against the others.
            return self.junction(members, false);
        }
        match members.len() {
            0 => self.boolean(conjunction),
            1 => members[0],
            _ => {
                let node = if conjunction { Node::And(members.into()) } else { Node::Or(members.into()) };
                self.intern(node, Sort::Bool)
            }
        }
    }

    /// The conjuncts of a term.
    pub(crate) fn conjuncts(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::And(list) => list.to_vec(),
            _ => vec![term],
        }
    }

    /// What a term may be: the ends of its choices.
    pub(crate) fn leaves(&self, term: Term) -> BTreeSet<Term> {
        let (mut leaves, mut seen, mut stack) = (BTreeSet::new(), BTreeSet::new(), vec![term]);
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            match self.node(t) {
                Node::Ite(_, a, b) => stack.extend([*a, *b]),
                _ => {
                    leaves.insert(t);
                }
            }
        }
        leaves
    }

    fn complement(&self, a: Term, b: Term) -> bool {
        matches!(self.node(a), Node::Not(x) if *x == b) || matches!(self.node(b), Node::Not(x) if *x == a)
    }

    /// One step of absorption (`x || (x && y)` is `x`) or merging (`(x && y) || (x && !y)` is `x`).
    fn merge_complements(&mut self, members: &mut Vec<Term>) -> bool {
        for i in 0..members.len() {
            for j in i + 1..members.len() {
                let (a, b) = (self.conjuncts(members[i]), self.conjuncts(members[j]));
                let (in_a, in_b) = (sorted(&a), sorted(&b));
                let only_a: Vec<Term> = a.iter().filter(|t| in_b.binary_search(t).is_err()).copied().collect();
                let only_b: Vec<Term> = b.iter().filter(|t| in_a.binary_search(t).is_err()).copied().collect();
                if only_a.is_empty() {
                    members.remove(j);
                    return true;
                }
                if only_b.is_empty() {
                    members.remove(i);
                    return true;
                }
                if only_a.len() == 1 && only_b.len() == 1 && self.complement(only_a[0], only_b[0]) {
                    let common = a.iter().filter(|t| in_b.binary_search(t).is_ok()).copied().collect();
                    let merged = self.and(common);
                    members.remove(j);
                    members.remove(i);
                    match self.node(merged) {
                        Node::Or(inner) => members.extend(inner.iter().copied()),
                        _ => members.push(merged),
                    }
                    return true;
                }
            }
        }
        false
    }

    /// `a == b` on any sort.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.boolean(true);
        }
        let key = if a < b { (a, b) } else { (b, a) };
        if let Some(&known) = self.equalities.get(&key) {
            return known;
        }
        let result = self.eq_uncached(key.0, key.1);
        self.equalities.insert(key, result);
        result
    }

    fn eq_uncached(&mut self, a: Term, b: Term) -> Term {
        match self.sort(a) {
            Sort::Bool => match (self.truth(a), self.truth(b)) {
                (Some(true), _) => b,
                (_, Some(true)) => a,
                (Some(false), _) => self.not(b),
                (_, Some(false)) => self.not(a),
                _ if self.complement(a, b) => self.boolean(false),
                _ => self.intern(Node::Eq(a, b), Sort::Bool),
            },
            Sort::Bv(_) => self.eq_bv(a, b),
            Sort::Int => self.eq_int(a, b),
            Sort::Other(_) => self.intern(Node::Eq(a, b), Sort::Bool),
        }
    }

    /// `c ? a : b` on any sort.
    pub fn ite(&mut self, c: Term, a: Term, b: Term) -> Term {
        if let Some(value) = self.truth(c) {
            return if value { a } else { b };
        }
        if let Node::Not(inner) = *self.node(c) {
            return self.ite(inner, b, a);
        }
        let a = match *self.node(a) {
            Node::Ite(c2, x, _) if c2 == c => x,
            _ => a,
        };
        let b = match *self.node(b) {
            Node::Ite(c2, _, y) if c2 == c => y,
            _ => b,
        };
        if a == b {
            return a;
        }
        if self.sort(a) == Sort::Bool {
            match (self.truth(a), self.truth(b)) {
                (Some(true), _) => return self.or2(c, b),
                (Some(false), _) => {
                    let not_c = self.not(c);
                    return self.and2(not_c, b);
                }
                (_, Some(true)) => {
                    let not_c = self.not(c);
                    return self.or2(not_c, a);
                }
                (_, Some(false)) => return self.and2(c, a),
                _ => {}
            }
        }
        let sort = self.sort(a);
        self.intern(Node::Ite(c, a, b), sort)
    }
}

/// A copy to look things up in.
fn sorted(list: &[Term]) -> Vec<Term> {
    let mut list = list.to_vec();
    list.sort();
    list
}

/// Long formulas: built as they come, without the search for simplifications.
impl Terms {
    /// A conjunction or disjunction whose only simplification is of constants.
    pub fn chain(&mut self, conjunction: bool, list: Vec<Term>) -> Term {
        let mut members = Vec::with_capacity(list.len());
        for term in list {
            match self.truth(term) {
                Some(value) if value == conjunction => {}
                Some(_) => return term,
                None => members.push(term),
            }
        }
        match members.as_slice() {
            [] => self.boolean(conjunction),
            [only] => *only,
            _ => {
                let node = if conjunction { Node::And(members.into()) } else { Node::Or(members.into()) };
                self.intern(node, Sort::Bool)
            }
        }
    }
}
