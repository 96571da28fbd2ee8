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

use super::facts::Facts;
use super::interval::Interval;
use super::quotients::Divisions;
use super::truths::Truths;
use crate::vcgen::term::{BvBinary, BvCompare, Node, Sort, Term, Terms, signed};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Wrapping is spelled out case by case up to this many windows of size 2^n; beyond, by `mod`.
pub(super) const WINDOW_LIMIT: i128 = 3;

/// An integer term with bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(crate) term: Term,
    pub(crate) interval: Interval,
}

/// The translation of one formula; memoised over the DAG.
pub(crate) struct Integers<'t> {
    pub(super) terms: &'t mut Terms,
    pub(super) representatives: HashMap<Term, Value>,
    pub(super) formulas: HashMap<Term, Term>,
    pub(super) canonical: HashMap<(Term, bool), Value>,
    signed_symbols: HashSet<Term>,
    /// Facts about fresh symbols and functions, true in every execution.
    pub(crate) side: Vec<Term>,
    /// Bounds of products of two unknowns.
    pub(crate) products: HashMap<Term, Interval>,
    /// What every model of the formula satisfies.
    pub(super) facts: Facts,
    /// Quotients by unknowns.
    pub(super) divisions: Divisions,
    /// Names of differences of sizes, with what they are.
    pub(super) differences: BTreeMap<Term, Term>,
    /// What its conjuncts are.
    pub(super) truths: Truths,
    /// Whether there may be facts.
    pub(super) learns: bool,
}

/// 2^width as an integer; widths here are at most 64.
pub(super) fn modulus(width: u32) -> i128 {
    1i128 << width
}

impl<'t> Integers<'t> {
    /// Prepares the translation of formulas below `roots`; looks at how symbols are compared to
    /// choose a signed or unsigned range for each. `None` if a width exceeds 64 bits, or there are maps or quantifiers.
    pub(crate) fn new(terms: &'t mut Terms, roots: &[Term]) -> Option<Self> {
        let mut signed_symbols = HashSet::default();
        let mut seen = HashSet::default();
        let mut multiplies = false;
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if terms.width(t) > 64 || !terms.is_basic_node(t) {
                return None;
            }
            multiplies |= terms.is_product(t);
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
        let mut integers = Integers {
            terms,
            representatives: HashMap::default(),
            formulas: HashMap::default(),
            canonical: HashMap::default(),
            signed_symbols,
            side: Vec::new(),
            products: HashMap::default(),
            facts: Facts::default(),
            divisions: Divisions::default(),
            differences: BTreeMap::new(),
            truths: Truths::default(),
            learns: multiplies,
        };
        // Sums of ids times numbers have bounds without facts.
        roots.first().filter(|_| multiplies).into_iter().for_each(|&formula| integers.learn(formula));
        Some(integers)
    }

    /// The integer formula of a Boolean term.
    pub(crate) fn formula(&mut self, t: Term) -> Term {
        self.prepare(t);
        self.formula_of(t)
    }

    /// Translates everything below a term, operands first, so that no recursion goes deeper than one
    /// node: predicated code makes chains of thousands of choices.
    fn prepare(&mut self, t: Term) {
        for below in
            self.terms.postorder(t, &|t| self.formulas.contains_key(&t) || self.representatives.contains_key(&t))
        {
            match self.terms.sort(below) {
                Sort::Bool => {
                    self.formula_of(below);
                }
                Sort::Bv(_) => {
                    self.representative(below);
                }
                Sort::Int => {
                    self.integer(below);
                }
                Sort::Other(_) => panic!("solver: a sort that the integer encoding refused"),
            }
        }
    }

    pub(super) fn formula_of(&mut self, t: Term) -> Term {
        if let Some(&known) = self.formulas.get(&t) {
            return known;
        }
        let node = self.terms.node(t).clone();
        let result = match node {
            Node::Not(a) => {
                let a = self.formula_of(a);
                self.terms.not(a)
            }
            Node::And(list) => {
                let list = list.iter().map(|&a| self.formula_of(a)).collect();
                self.terms.chain(true, list)
            }
            Node::Or(list) => {
                let list = list.iter().map(|&a| self.formula_of(a)).collect();
                self.terms.chain(false, list)
            }
            Node::Ite(c, a, b) => match self.chosen(c, a, b) {
                Some(chosen) => self.formula_of(chosen),
                None => {
                    let (c, a, b) = (self.formula_of(c), self.formula_of(a), self.formula_of(b));
                    self.terms.ite(c, a, b)
                }
            },
            Node::Eq(a, b) => match self.terms.sort(a) {
                Sort::Bool => {
                    let (a, b) = (self.formula_of(a), self.formula_of(b));
                    self.terms.eq(a, b)
                }
                Sort::Bv(width) => self.equality(a, b, width),
                Sort::Int => {
                    let (a, b) = (self.integer(a), self.integer(b));
                    self.terms.eq(a.term, b.term)
                }
                Sort::Other(_) => panic!("solver: a sort that the integer encoding refused"),
            },
            Node::BvCompare(op, a, b) => self.comparison(op, a, b),
            Node::IntLe(a, b) => {
                let (a, b) = (self.integer(a), self.integer(b));
                self.terms.int_le(a.term, b.term)
            }
            Node::Apply(id, args) => {
                let args = args.iter().map(|&a| self.argument(a)).collect();
                let name = translated(&self.terms.functions[id as usize].name);
                self.terms.apply(&name, args, Sort::Bool)
            }
            _ => t,
        };
        self.formulas.insert(t, result);
        result
    }

    /// A term whose value in a model is the value of `t`: a bit-vector by its unsigned value.
    pub(crate) fn observe(&mut self, t: Term) -> Option<Term> {
        self.prepare(t);
        Some(self.argument(t))
    }

    /// An argument of an uninterpreted function: canonical, so that equal values give equal results.
    fn argument(&mut self, t: Term) -> Term {
        match self.terms.sort(t) {
            Sort::Bool => self.formula_of(t),
            Sort::Int => self.integer(t).term,
            Sort::Bv(_) => self.unsigned(t).term,
            Sort::Other(_) => panic!("solver: a sort that the integer encoding refused"),
        }
    }

    /// The unsigned value.
    pub(super) fn unsigned(&mut self, t: Term) -> Value {
        self.canonical(t, false)
    }

    /// The signed value.
    pub(super) fn signed(&mut self, t: Term) -> Value {
        self.canonical(t, true)
    }

    fn canonical(&mut self, t: Term, is_signed: bool) -> Value {
        if let Some(&known) = self.canonical.get(&(t, is_signed)) {
            return known;
        }
        let width = self.terms.width(t);
        let low = if is_signed { -modulus(width) / 2 } else { 0 };
        let value = self.representative(t);
        let mut result = self.wrap(value, low, modulus(width));
        if !is_signed {
            let most = self.terms.possible_bits(t) as i128;
            result.interval.high = result.interval.high.map(|h| h.min(most));
        }
        self.canonical.insert((t, is_signed), result);
        result
    }

    /// The member of `low .. low + size` congruent to a value modulo `size`.
    pub(super) fn wrap(&mut self, value: Value, low: i128, size: i128) -> Value {
        let high = low + size - 1;
        if value.interval.within(low, high) {
            return value;
        }
        let shifted = value.interval.plus(Interval::point(-low));
        let interval = Interval::new(low, high);
        if let Some((first, last)) = shifted.windows(size)
            && last.saturating_sub(first) < WINDOW_LIMIT
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
        self.facts.narrow(rest, Interval::new(0, high - low));
        Value { term: self.terms.int_sum(low, vec![(rest, 1)]), interval }
    }

    /// A constant difference has a sharper interval than its parts suggest.
    pub(super) fn interval_of(&self, term: Term, fallback: Interval) -> Interval {
        self.terms.int_value(term).map_or(fallback, Interval::point)
    }

    /// Some integer congruent to a bit-vector term.
    pub(super) fn representative(&mut self, t: Term) -> Value {
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
                for &(member, factor) in &members {
                    let value = self.representative(member);
                    let factor = small(factor, width);
                    interval = interval.plus(value.interval.times_constant(factor));
                    list.push((value.term, factor));
                }
                let term = self.terms.int_sum(constant, list);
                self.reduce(term, interval, width)
            }
            Node::Ite(c, a, b) => match self.chosen(c, a, b) {
                Some(chosen) => self.representative(chosen),
                None => {
                    let c = self.formula_of(c);
                    let (x, y) = (self.representative(a), self.representative(b));
                    Value { term: self.terms.ite(c, x.term, y.term), interval: x.interval.union(y.interval) }
                }
            },
            Node::Extract { low, of, .. } => {
                let value = self.representative(of);
                if low == 0 {
                    return value;
                }
                let quotient = self.as_division(of, i128::from(low), self.terms.width(of));
                quotient.unwrap_or_else(|| self.divide_by_constant(value, modulus(low)))
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
                let name = translated(&self.terms.functions[id as usize].name);
                let term = self.terms.apply(&name, args, Sort::Int);
                self.bounded(term, 0, modulus(width) - 1)
            }
            Node::FromInt(_, a) => self.integer(a),
            other => panic!("solver: {other:?} is not a bit-vector"),
        }
    }

    /// Keeps representatives small: a sum whose bounds left every window is reduced once.
    fn reduce(&mut self, term: Term, interval: Interval, width: u32) -> Value {
        let interval = self.sharpened(term, self.interval_of(term, interval), width);
        let value = Value { term, interval };
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

    pub(super) fn constant(&mut self, value: i128) -> Value {
        Value { term: self.terms.int(value), interval: Interval::point(value) }
    }

    fn symbol(&mut self, t: Term, width: u32) -> Value {
        let (name, range) = match self.terms.symbol_of(t) {
            Some(symbol) => (translated(&symbol.name), symbol.range),
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
    pub(super) fn bounded(&mut self, term: Term, low: i128, high: i128) -> Value {
        self.facts.narrow(term, Interval::new(low, high));
        let interval = self.facts.range(term);
        let (low, high) = (interval.low.unwrap_or(low), interval.high.unwrap_or(high));
        let (l, h) = (self.terms.int(low), self.terms.int(high));
        let lower = self.terms.int_le(l, term);
        let upper = self.terms.int_le(term, h);
        self.side.push(lower);
        self.side.push(upper);
        Value { term, interval }
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
                for &(member, factor) in &members {
                    let value = self.integer(member);
                    interval = interval.plus(value.interval.times_constant(factor));
                    list.push((value.term, factor));
                }
                let term = self.terms.int_sum(constant, list);
                Value { term, interval: self.interval_of(term, interval) }
            }
            Node::IntMul(a, b) => {
                let (x, y) = (self.integer(a), self.integer(b));
                self.product(x, y, 64)
            }
            Node::IntDiv(a, b) => {
                let (x, y) = (self.integer(a), self.integer(b));
                match self.terms.int_value(y.term).filter(|&d| d > 0) {
                    Some(divisor) => self.divide_by_constant(x, divisor),
                    None => Value { term: self.terms.int_div(x.term, y.term), interval: Interval::ALL },
                }
            }
            Node::IntMod(a, b) => {
                let (x, y) = (self.integer(a), self.integer(b));
                let interval = self.terms.int_value(y.term).filter(|&d| d > 0);
                let interval = interval.map_or(Interval::ALL, |d| Interval::new(0, d - 1));
                Value { term: self.terms.int_mod(x.term, y.term), interval }
            }
            Node::Ite(c, a, b) => {
                let c = self.formula_of(c);
                let (x, y) = (self.integer(a), self.integer(b));
                Value { term: self.terms.ite(c, x.term, y.term), interval: x.interval.union(y.interval) }
            }
            Node::Apply(id, args) => {
                let args = args.iter().map(|&a| self.argument(a)).collect();
                let name = translated(&self.terms.functions[id as usize].name);
                Value { term: self.terms.apply(&name, args, Sort::Int), interval: Interval::ALL }
            }
            _ => self.integer_symbol(t),
        };
        self.representatives.insert(t, value);
        value
    }

    pub(super) fn product(&mut self, x: Value, y: Value, width: u32) -> Value {
        for factor in [x, y] {
            self.name_difference(factor.term);
        }
        let term = self.terms.int_mul(x.term, y.term);
        let interval = self.sharpened(term, x.interval.times(y.interval), width);
        self.products.insert(term, interval);
        Value { term, interval }
    }

    /// An integer symbol stands for itself.
    fn integer_symbol(&mut self, t: Term) -> Value {
        let range = self.terms.symbol_of(t).and_then(|s| s.range);
        match range.map(|(low, high)| (i128::try_from(low), i128::try_from(high))) {
            Some((Ok(low), Ok(high))) => self.bounded(t, low, high),
            _ => Value { term: t, interval: Interval::ALL },
        }
    }
}

/// The integer symbol or function for one of the formula. `@` is in no identifier of the IVL.
fn translated(name: &str) -> String {
    format!("{name}@int")
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
