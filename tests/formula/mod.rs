//! Random formulas that know their own values, and an evaluator for terms.
//!
//! A [`Recipe`] is a list of symbols and steps. [`build`] follows it twice at once: through the
//! builders of [`Terms`], and with plain arithmetic on `u128` and `i128` at every point (assignment
//! of the symbols). The two must agree; nothing here uses the code it judges.

#![allow(dead_code)] // each test program uses a part

mod arithmetic;
mod evaluate;
mod recipe;

pub use arithmetic::{binary, mask, signed};
#[allow(unused_imports)] // not every test program that shares this needs all
pub use evaluate::{Value, evaluate, hashed};
pub use recipe::{Recipe, Shape, recipes};

use arithmetic::{compare, hash};
use gpuvcc::vcgen::term::{BvCompare, Sort, Term, Terms};
use recipe::{Op, Step};

/// A term with its value at every point.
#[derive(Clone, Debug)]
pub struct Known<V> {
    /// The term as the builders made it.
    pub term: Term,
    /// Its value at each point.
    pub values: Vec<V>,
}

/// What a recipe makes.
pub struct Built {
    /// The arena.
    pub terms: Terms,
    /// The symbols, with their values at each point.
    pub symbols: Vec<Known<u128>>,
    /// Bit-vector terms, the last ones largest.
    pub bits: Vec<Known<u128>>,
    /// Boolean terms.
    pub bools: Vec<Known<bool>>,
    /// Integer terms.
    pub ints: Vec<Known<i128>>,
    /// True when the points are all values that the symbols can have.
    pub complete: bool,
    widest: u32,
}

/// Integers beyond this are not computed with, so that `i128` arithmetic stays exact.
const INT_LIMIT: i128 = 1 << 100;

/// Follows a recipe.
pub fn build(recipe: &Recipe) -> Built {
    let mut terms = Terms::default();
    let (points, complete) = recipe.points();
    let mut symbols = Vec::new();
    for (i, symbol) in recipe.symbols.iter().enumerate() {
        let term = terms.symbol(&format!("x{i}"), Sort::Bv(symbol.width), symbol.range);
        symbols.push(Known { term, values: points.iter().map(|p| p[i]).collect() });
    }
    let yes = Known { term: terms.boolean(true), values: vec![true; points.len()] };
    let zero = Known { term: terms.int(0), values: vec![0; points.len()] };
    let bits = symbols.clone();
    let widest = recipe.widest;
    let mut built = Built { terms, symbols, bits, bools: vec![yes], ints: vec![zero], complete, widest };
    for step in &recipe.steps {
        built.step(step);
    }
    built
}

impl Built {
    /// How many points there are.
    pub fn points(&self) -> usize {
        self.bools[0].values.len()
    }

    /// The width of a bit-vector term.
    pub fn width(&self, term: Term) -> u32 {
        self.terms.width(term)
    }

    fn bit(&self, select: u8) -> Known<u128> {
        self.bits[self.bits.len() - 1 - usize::from(select) % self.bits.len()].clone()
    }

    fn boolean(&self, select: u8) -> Known<bool> {
        self.bools[self.bools.len() - 1 - usize::from(select) % self.bools.len()].clone()
    }

    fn int(&self, select: u8) -> Known<i128> {
        self.ints[self.ints.len() - 1 - usize::from(select) % self.ints.len()].clone()
    }

    fn constant(&mut self, value: u128, width: u32) -> Known<u128> {
        let value = value & mask(width);
        Known { term: self.terms.bv(value, width), values: vec![value; self.points()] }
    }

    /// A selected bit-vector, zero-extended or cut to a width.
    fn fitted(&mut self, select: u8, width: u32) -> Known<u128> {
        let known = self.bit(select);
        let own = self.width(known.term);
        if own >= width {
            let term = self.terms.extract(width - 1, 0, known.term);
            return Known { term, values: known.values.iter().map(|v| v & mask(width)).collect() };
        }
        Known { term: self.terms.zero_extend(known.term, width), values: known.values }
    }

    fn push_bits(&mut self, term: Term, values: Vec<u128>) {
        self.bits.push(Known { term, values });
    }

    fn push_bool(&mut self, term: Term, values: Vec<bool>) {
        self.bools.push(Known { term, values });
    }

    fn push_int(&mut self, term: Term, values: Option<Vec<i128>>) {
        if let Some(values) = values.filter(|v| v.iter().all(|i| i.abs() < INT_LIMIT)) {
            self.ints.push(Known { term, values });
        }
    }

    fn step(&mut self, step: &Step) {
        let x = self.bit(step.a);
        let width = self.width(x.term);
        match step.op {
            Op::Constant => {
                let constant = self.constant(step.constant, step.width);
                self.bits.push(constant);
            }
            Op::Neg => {
                let term = self.terms.bv_neg(x.term);
                self.push_bits(term, x.values.iter().map(|v| v.wrapping_neg() & mask(width)).collect());
            }
            Op::Complement => {
                let term = self.terms.bv_not(x.term);
                self.push_bits(term, x.values.iter().map(|v| !v & mask(width)).collect());
            }
            Op::Add | Op::Sub | Op::Binary(_) => {
                let y = self.fitted(step.b, width);
                self.binary(step.op, &x, &y, width);
            }
            Op::AddConstant => {
                let y = self.constant(step.constant, width);
                self.binary(Op::Add, &x, &y, width);
            }
            Op::BinaryConstant(op) => {
                let y = self.constant(step.constant, width);
                self.binary(Op::Binary(op), &x, &y, width);
            }
            Op::ConstantBinary(op) => {
                let y = self.constant(step.constant, width);
                self.binary(Op::Binary(op), &y, &x, width);
            }
            Op::BinarySmall(op) => {
                // A shift amount, divisor or factor with few values.
                let small = self.fitted(step.b, 3.min(width));
                let y = Known { term: self.terms.zero_extend(small.term, width), values: small.values };
                self.binary(Op::Binary(op), &x, &y, width);
            }
            Op::ZeroExtend | Op::SignExtend | Op::Extract | Op::Concat => self.resize(step, &x, width),
            Op::IteBits => {
                let (c, y) = (self.boolean(step.c), self.fitted(step.b, width));
                let term = self.terms.ite(c.term, x.term, y.term);
                self.push_bits(term, choose(&c.values, &x.values, &y.values));
            }
            Op::ApplyBits => {
                let y = self.bit(step.b);
                let name = format!("f{width}x{}", self.width(y.term));
                let term = self.terms.apply(&name, vec![x.term, y.term], Sort::Bv(width));
                let call = |(a, b): (&u128, &u128)| hash(&name, &[*a, *b]) & mask(width);
                self.push_bits(term, x.values.iter().zip(&y.values).map(call).collect());
            }
            Op::ApplyBool => {
                let name = format!("p{width}");
                let term = self.terms.apply(&name, vec![x.term], Sort::Bool);
                self.push_bool(term, x.values.iter().map(|a| hash(&name, &[*a]) & 1 == 1).collect());
            }
            Op::Compare(op) => {
                let y = self.fitted(step.b, width);
                self.compare(op, &x, &y, width);
            }
            Op::CompareConstant(op) => {
                let y = self.constant(step.constant, width);
                self.compare(op, &x, &y, width);
            }
            Op::ConstantCompare(op) => {
                let y = self.constant(step.constant, width);
                self.compare(op, &y, &x, width);
            }
            Op::EqualBits | Op::EqualConstant => {
                let y = match step.op {
                    Op::EqualBits => self.fitted(step.b, width),
                    _ => self.constant(step.constant, width),
                };
                let term = self.terms.eq(x.term, y.term);
                self.push_bool(term, x.values.iter().zip(&y.values).map(|(a, b)| a == b).collect());
            }
            Op::Not | Op::And | Op::Or | Op::Implies | Op::EqualBool | Op::IteBool => self.logic(step),
            _ => self.integer(step, &x, width),
        }
    }

    fn binary(&mut self, op: Op, x: &Known<u128>, y: &Known<u128>, width: u32) {
        let (term, f): (Term, Box<dyn Fn(u128, u128) -> u128>) = match op {
            Op::Add => (self.terms.bv_add(x.term, y.term), Box::new(move |a, b| a.wrapping_add(b) & mask(width))),
            Op::Sub => (self.terms.bv_sub(x.term, y.term), Box::new(move |a, b| a.wrapping_sub(b) & mask(width))),
            Op::Binary(op) => (self.terms.bv_binary(op, x.term, y.term), Box::new(move |a, b| binary(op, a, b, width))),
            _ => unreachable!("not a binary operator"),
        };
        self.push_bits(term, x.values.iter().zip(&y.values).map(|(a, b)| f(*a, *b)).collect());
    }

    fn resize(&mut self, step: &Step, x: &Known<u128>, width: u32) {
        let wider = (width + u32::from(step.b) % 40).min(self.widest);
        match step.op {
            Op::ZeroExtend if wider > width => {
                let term = self.terms.zero_extend(x.term, wider);
                self.push_bits(term, x.values.clone());
            }
            Op::SignExtend if wider > width => {
                let term = self.terms.sign_extend(x.term, wider);
                self.push_bits(term, x.values.iter().map(|v| signed(*v, width) as u128 & mask(wider)).collect());
            }
            Op::Extract => {
                let low = u32::from(step.b) % width;
                let high = low + u32::from(step.c) % (width - low);
                let term = self.terms.extract(high, low, x.term);
                self.push_bits(term, x.values.iter().map(|v| v >> low & mask(high - low + 1)).collect());
            }
            Op::Concat => {
                let y = self.bit(step.b);
                let narrow = self.width(y.term);
                if width + narrow <= self.widest {
                    let term = self.terms.concat(x.term, y.term);
                    let join = |(a, b): (&u128, &u128)| a << narrow | b;
                    self.push_bits(term, x.values.iter().zip(&y.values).map(join).collect());
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, op: BvCompare, x: &Known<u128>, y: &Known<u128>, width: u32) {
        let term = self.terms.bv_compare(op, x.term, y.term);
        let values = x.values.iter().zip(&y.values).map(|(a, b)| compare(op, *a, *b, width)).collect();
        self.push_bool(term, values);
    }

    fn logic(&mut self, step: &Step) {
        let (p, q, r) = (self.boolean(step.a), self.boolean(step.b), self.boolean(step.c));
        let both = |f: fn(bool, bool) -> bool| p.values.iter().zip(&q.values).map(|(a, b)| f(*a, *b)).collect();
        let (term, values) = match step.op {
            Op::Not => (self.terms.not(p.term), both(|a, _| !a)),
            Op::And => (self.terms.and2(p.term, q.term), both(|a, b| a && b)),
            Op::Or => (self.terms.or2(p.term, q.term), both(|a, b| a || b)),
            Op::Implies => (self.terms.implies(p.term, q.term), both(|a, b| !a || b)),
            Op::EqualBool => (self.terms.eq(p.term, q.term), both(|a, b| a == b)),
            _ => (self.terms.ite(r.term, p.term, q.term), choose(&r.values, &p.values, &q.values)),
        };
        self.push_bool(term, values);
    }

    fn integer(&mut self, step: &Step, x: &Known<u128>, width: u32) {
        let (i, j) = (self.int(step.a), self.int(step.b));
        let factor = step.constant as i128 >> 96;
        let divisor = if factor == 0 { 7 } else { factor };
        let map = |f: &dyn Fn(i128) -> Option<i128>| i.values.iter().map(|a| f(*a)).collect::<Option<Vec<_>>>();
        let zip = |f: &dyn Fn(i128, i128) -> Option<i128>| {
            i.values.iter().zip(&j.values).map(|(a, b)| f(*a, *b)).collect::<Option<Vec<_>>>()
        };
        match step.op {
            Op::ToInt if width < 100 => {
                let term = self.terms.to_int(x.term);
                self.push_int(term, Some(x.values.iter().map(|v| *v as i128).collect()));
            }
            Op::ToSignedInt => {
                let term = self.terms.to_signed_int(x.term);
                self.push_int(term, Some(x.values.iter().map(|v| signed(*v, width)).collect()));
            }
            Op::FromInt => {
                let term = self.terms.from_int(i.term, step.width);
                self.push_bits(term, i.values.iter().map(|v| *v as u128 & mask(step.width)).collect());
            }
            Op::IntConstant => {
                let term = self.terms.int(factor);
                self.push_int(term, Some(vec![factor; i.values.len()]));
            }
            Op::IntAdd => {
                let term = self.terms.int_add(i.term, j.term);
                self.push_int(term, zip(&i128::checked_add));
            }
            Op::IntSub => {
                let term = self.terms.int_sub(i.term, j.term);
                self.push_int(term, zip(&i128::checked_sub));
            }
            Op::IntScale => {
                let term = self.terms.int_sum(divisor, vec![(i.term, factor)]);
                self.push_int(term, map(&|a| a.checked_mul(factor)?.checked_add(divisor)));
            }
            Op::IntMul => {
                let term = self.terms.int_mul(i.term, j.term);
                self.push_int(term, zip(&i128::checked_mul));
            }
            Op::IntDiv | Op::IntMod => {
                let d = self.terms.int(divisor);
                let (term, values) = match step.op {
                    Op::IntDiv => (self.terms.int_div(i.term, d), map(&|a| Some(a.div_euclid(divisor)))),
                    _ => (self.terms.int_mod(i.term, d), map(&|a| Some(a.rem_euclid(divisor)))),
                };
                self.push_int(term, values);
            }
            Op::IteInt => {
                let c = self.boolean(step.c);
                let term = self.terms.ite(c.term, i.term, j.term);
                self.push_int(term, Some(choose(&c.values, &i.values, &j.values)));
            }
            Op::IntLe | Op::IntLt | Op::IntEqual => {
                let (term, f): (Term, fn(i128, i128) -> bool) = match step.op {
                    Op::IntLe => (self.terms.int_le(i.term, j.term), |a, b| a <= b),
                    Op::IntLt => (self.terms.int_lt(i.term, j.term), |a, b| a < b),
                    _ => (self.terms.eq(i.term, j.term), |a, b| a == b),
                };
                self.push_bool(term, i.values.iter().zip(&j.values).map(|(a, b)| f(*a, *b)).collect());
            }
            _ => {}
        }
    }
}

fn choose<V: Copy>(condition: &[bool], yes: &[V], no: &[V]) -> Vec<V> {
    condition.iter().zip(yes.iter().zip(no)).map(|(c, (a, b))| if *c { *a } else { *b }).collect()
}
