//! Terms evaluated under an assignment, exactly.
//!
//! Input: values of symbols. Output: the value of any term over them, as SMT-LIB defines its
//! operators. A symbol without a value gets zero; an uninterpreted function gets, for arguments
//! that it has not met, a value that only depends on them.

use crate::effort::{self, Effort};
use crate::solver::Value;
use crate::vcgen::term::{BvBinary, BvCompare, Node, Sort, Term, Terms, mask, signed};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What the value of a term costs.
const TERM: Effort = Effort::nanoseconds(60);

/// Values of symbols and of uninterpreted applications.
#[derive(Clone, Default)]
pub struct Assignment {
    symbols: HashMap<Term, Value>,
    functions: HashMap<(u32, Vec<Value>), Value>,
}

impl Assignment {
    /// Gives a symbol a value.
    pub fn set(&mut self, symbol: Term, value: Value) {
        self.symbols.insert(symbol, value);
    }

    /// The value of a symbol.
    pub fn get(&self, symbol: Term) -> Option<Value> {
        self.symbols.get(&symbol).copied()
    }
}

/// Evaluates under an assignment that may change in between.
pub struct Evaluator<'t> {
    terms: &'t Terms,
    /// The assignment; change it through [`Evaluator::set`] only.
    pub assignment: Assignment,
    /// Value of each term, with the epoch it was computed in.
    memo: Vec<(u32, Value)>,
    epoch: u32,
}

impl<'t> Evaluator<'t> {
    /// Starts with an assignment.
    pub fn new(terms: &'t Terms, assignment: Assignment) -> Self {
        Evaluator { terms, assignment, memo: vec![(0, Value::Bool(false)); terms.len()], epoch: 1 }
    }

    /// Gives symbols new values, all at once.
    pub fn set(&mut self, values: &[(Term, Value)]) {
        for &(symbol, value) in values {
            self.assignment.set(symbol, value);
        }
        self.epoch += 1;
    }

    /// Takes another assignment.
    pub fn reset(&mut self, assignment: Assignment) {
        self.assignment = assignment;
        self.epoch += 1;
    }

    /// Records what an uninterpreted application was in a model.
    pub fn learn(&mut self, application: Term, value: Value) {
        if let Node::Apply(id, args) = self.terms.node(application) {
            let args = args.iter().map(|&a| self.value(a)).collect();
            self.assignment.functions.entry((*id, args)).or_insert(value);
            self.epoch += 1;
        }
    }

    /// Whether a Boolean term holds.
    pub fn holds(&mut self, t: Term) -> bool {
        self.value(t) == Value::Bool(true)
    }

    /// The value of a term.
    pub fn value(&mut self, t: Term) -> Value {
        // Operands first, without recursion: formulas may be deep.
        let mut stack = vec![(t, false)];
        while let Some((t, ready)) = stack.pop() {
            if self.memo[t.0 as usize].0 == self.epoch {
                continue;
            }
            if ready {
                effort::spend(TERM);
                self.memo[t.0 as usize] = (self.epoch, self.compute(t));
                continue;
            }
            stack.push((t, true));
            stack.extend(self.terms.operands(t).into_iter().map(|o| (o, false)));
        }
        self.memo[t.0 as usize].1
    }

    fn known(&self, t: Term) -> Value {
        self.memo[t.0 as usize].1
    }

    fn boolean(&self, t: Term) -> bool {
        self.known(t) == Value::Bool(true)
    }

    fn bits(&self, t: Term) -> u128 {
        match self.known(t) {
            Value::Bits(bits) => bits,
            Value::Int(value) => value as u128 & mask(self.terms.width(t)),
            Value::Bool(value) => u128::from(value),
        }
    }

    fn int(&self, t: Term) -> i128 {
        match self.known(t) {
            Value::Int(value) => value,
            Value::Bits(bits) => bits as i128,
            Value::Bool(value) => i128::from(value),
        }
    }

    fn compute(&self, t: Term) -> Value {
        match self.terms.node(t) {
            Node::Bool(value) => Value::Bool(*value),
            Node::Not(a) => Value::Bool(!self.boolean(*a)),
            Node::And(list) => Value::Bool(list.iter().all(|&a| self.boolean(a))),
            Node::Or(list) => Value::Bool(list.iter().any(|&a| self.boolean(a))),
            Node::Eq(a, b) => Value::Bool(match self.terms.sort(*a) {
                Sort::Bool => self.boolean(*a) == self.boolean(*b),
                Sort::Int => self.int(*a) == self.int(*b),
                Sort::Bv(_) => self.bits(*a) == self.bits(*b),
                Sort::Other(_) => panic!("infer: a value of a sort that kernels do not have"),
            }),
            Node::Ite(c, a, b) => self.known(if self.boolean(*c) { *a } else { *b }),
            Node::Symbol(_) => self.assignment.get(t).unwrap_or_else(|| zero(self.terms.sort(t))),
            Node::Apply(id, args) => self.apply(*id, args, self.terms.sort(t)),
            Node::IntConst(_) | Node::IntSum { .. } | Node::IntMul(..) | Node::IntDiv(..) | Node::IntMod(..) => {
                Value::Int(self.integer(t))
            }
            Node::IntLe(a, b) => Value::Bool(self.int(*a) <= self.int(*b)),
            Node::ToInt(a) => Value::Int(self.bits(*a) as i128),
            Node::ToSignedInt(a) => Value::Int(signed(self.bits(*a), self.terms.width(*a))),
            Node::BvCompare(op, a, b) => Value::Bool(self.compare(*op, *a, *b)),
            _ => Value::Bits(self.bit_vector(t) & mask(self.terms.width(t))),
        }
    }

    fn apply(&self, id: u32, args: &[Term], sort: Sort) -> Value {
        let args: Vec<Value> = args.iter().map(|&a| self.known(a)).collect();
        if let Some(&value) = self.assignment.functions.get(&(id, args.clone())) {
            return value;
        }
        let mut hasher = DefaultHasher::new();
        (id, args).hash(&mut hasher);
        let hash = hasher.finish();
        match sort {
            Sort::Bool => Value::Bool(hash & 1 == 1),
            Sort::Int => Value::Int(i128::from(hash as u32)),
            Sort::Other(_) => panic!("infer: a value of a sort that kernels do not have"),
            Sort::Bv(width) => Value::Bits(u128::from(hash) & mask(width)),
        }
    }

    /// Ghost integers stay far below the limits of 128 bits; a value that does not is of no use, not wrong.
    fn integer(&self, t: Term) -> i128 {
        match self.terms.node(t) {
            Node::IntConst(value) => *value,
            Node::IntSum { constant, members } => members
                .iter()
                .fold(*constant, |sum, &(member, factor)| sum.wrapping_add(self.int(member).wrapping_mul(factor))),
            Node::IntMul(a, b) => self.int(*a).wrapping_mul(self.int(*b)),
            Node::IntDiv(a, b) => self.int(*a).checked_div_euclid(self.int(*b)).unwrap_or(0),
            Node::IntMod(a, b) => self.int(*a).checked_rem_euclid(self.int(*b)).unwrap_or(0),
            _ => panic!("infer: not an integer operator"),
        }
    }

    fn compare(&self, op: BvCompare, a: Term, b: Term) -> bool {
        let width = self.terms.width(a);
        let (x, y) = (self.bits(a), self.bits(b));
        match op {
            BvCompare::Ult => x < y,
            BvCompare::Ule => x <= y,
            BvCompare::Slt => signed(x, width) < signed(y, width),
            BvCompare::Sle => signed(x, width) <= signed(y, width),
        }
    }

    fn bit_vector(&self, t: Term) -> u128 {
        match self.terms.node(t) {
            Node::BvConst { value, .. } => *value,
            Node::BvSum { constant, members, .. } => members
                .iter()
                .fold(*constant, |sum, &(member, factor)| sum.wrapping_add(self.bits(member).wrapping_mul(factor))),
            Node::BvBinary(op, a, b) => binary(*op, self.bits(*a), self.bits(*b), self.terms.width(t)),
            Node::Extract { low, of, .. } => self.bits(*of) >> low,
            Node::Concat(a, b) => (self.bits(*a) << self.terms.width(*b)) | self.bits(*b),
            Node::ZeroExtend(_, a) => self.bits(*a),
            Node::SignExtend(_, a) => signed(self.bits(*a), self.terms.width(*a)) as u128,
            Node::FromInt(_, a) => self.int(*a) as u128,
            other => panic!("infer: {other:?} is no bit-vector operator"),
        }
    }
}

fn zero(sort: Sort) -> Value {
    match sort {
        Sort::Bool => Value::Bool(false),
        Sort::Int => Value::Int(0),
        Sort::Bv(_) => Value::Bits(0),
        Sort::Other(_) => panic!("infer: a value of a sort that kernels do not have"),
    }
}

/// Division by zero as SMT-LIB defines it: quotient -1 (unsigned: all ones), remainder the dividend.
fn binary(op: BvBinary, x: u128, y: u128, width: u32) -> u128 {
    let (sx, sy) = (signed(x, width), signed(y, width));
    let beyond = y >= u128::from(width);
    match op {
        BvBinary::Mul => x.wrapping_mul(y),
        BvBinary::Udiv => x.checked_div(y).unwrap_or(u128::MAX),
        BvBinary::Urem => x.checked_rem(y).unwrap_or(x),
        BvBinary::Sdiv if y == 0 => (if sx < 0 { 1i128 } else { -1 }) as u128,
        BvBinary::Sdiv => sx.wrapping_div(sy) as u128,
        BvBinary::Srem if y == 0 => x,
        BvBinary::Srem => sx.wrapping_rem(sy) as u128,
        BvBinary::And => x & y,
        BvBinary::Or => x | y,
        BvBinary::Xor => x ^ y,
        BvBinary::Shl => {
            if beyond {
                0
            } else {
                x << y
            }
        }
        BvBinary::Lshr => {
            if beyond {
                0
            } else {
                x >> y
            }
        }
        BvBinary::Ashr => (sx >> if beyond { 127 } else { y }) as u128,
    }
}
