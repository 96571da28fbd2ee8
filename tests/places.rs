//! What follows from guards, bounds of products and equal places never excludes a model.
//!
//! Random formulas as two accesses to rows and columns make them, or to places told by quotients and rests, of few bits, so that much wraps, are made to hold at a
//! random point: literals that do not hold there are negated. Then all that the integer encoding asserts holds there, too,
//! and the opposite is not proved. Without the negations many are proved, so the facts are met. GPUVCC_CASES asks for more.

use crate::encodings::{representative, show, true_meaning};
use crate::formula::{Value, evaluate, hashed};
use crate::predicate::random::Source;
use gpuvcc::effort::Effort;
use gpuvcc::solver::{self, Answer, Encoding};
use gpuvcc::vcgen::term::{BvBinary, BvCompare, Sort, Term, Terms};
use std::collections::HashMap;

const CASES: u64 = 300;
const EFFORT: Effort = Effort::milliseconds(10);

/// A formula in the making, and the point.
struct Places {
    terms: Terms,
    source: Source,
    values: HashMap<Term, Value>,
    symbols: Vec<(String, Term, u128)>,
    width: u32,
}

/// The ids of a thread.
type Ids = [Term; 3];

impl Places {
    fn new(seed: u64) -> Places {
        let mut source = Source::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..5).for_each(|_| _ = source.below(2));
        let width = [6, 8, 8, 32][source.below(4)];
        Places { terms: Terms::default(), source, values: HashMap::new(), symbols: Vec::new(), width }
    }

    fn symbol(&mut self, name: &str, width: u32, value: u128) -> Term {
        let value = value & ((1 << width) - 1);
        let range =
            (self.source.below(3) == 0 && value < 100).then(|| (value / 2, value + self.source.below(4) as u128));
        let range = range.filter(|(_, high)| *high < 1 << width);
        let term = self.terms.symbol(name, Sort::Bv(width), range);
        self.values.insert(term, Value::Bits(value));
        self.symbols.push((name.to_string(), term, value));
        term
    }

    /// Mostly small, sometimes anything.
    fn number(&mut self, below: usize) -> u128 {
        match self.source.below(8) {
            0 => self.source.below(1 << 20) as u128,
            _ => self.source.below(below.max(1)) as u128,
        }
    }

    fn value(&mut self, term: Term) -> Value {
        evaluate(&self.terms, term, &mut self.values, &hashed).expect("these numbers are small")
    }

    fn times(&mut self, a: Term, b: Term) -> Term {
        self.terms.bv_binary(BvBinary::Mul, a, b)
    }

    /// `(z * h + y) * w + x`, or with fewer axes, and a constant.
    fn place(&mut self, [x, y, z]: Ids, [w, h, _]: Ids, axes: usize, constant: u128) -> Term {
        let mut rows = y;
        if axes == 3 {
            let planes = self.times(z, h);
            rows = self.terms.bv_add(planes, y);
        }
        let before = self.times(rows, w);
        let place = self.terms.bv_add(before, x);
        let constant = self.terms.bv(constant, self.width);
        self.terms.bv_add(place, constant)
    }

    /// `0 <= offset - 4 * place < bytes`
    fn window(&mut self, offset: Term, place: Term, bytes: u128, is_signed: bool) -> Term {
        let wide = 2 * self.width;
        let place = match is_signed {
            true => self.terms.sign_extend(place, wide),
            false => self.terms.zero_extend(place, wide),
        };
        let four = self.terms.bv(4, wide);
        let start = self.times(four, place);
        let distance = self.terms.bv_sub(offset, start);
        let bytes = self.terms.bv(bytes, wide);
        self.terms.bv_compare(BvCompare::Ult, distance, bytes)
    }

    fn literals(&mut self) -> Vec<Term> {
        let axes = 2 + self.source.below(2);
        let sizes: Vec<u128> = (0..3).map(|_| 1 + self.number(6)).collect();
        let size = [0, 1, 2].map(|i| self.symbol(["w", "h", "d"][i], self.width, sizes[i]));
        let first: Vec<u128> = (0..3).map(|i| self.number(sizes[i] as usize)).collect();
        let is_same = self.source.below(2) == 0;
        let second: Vec<u128> =
            (0..3).map(|i| if is_same { first[i] } else { self.number(sizes[i] as usize) }).collect();
        let ids = [&first, &second].map(Vec::clone);
        let threads: [Ids; 2] = [0, 1]
            .map(|t| [0, 1, 2].map(|i| self.symbol(&format!("{}{t}", ["x", "y", "z"][i]), self.width, ids[t][i])));
        let (is_signed, op) = [(false, BvCompare::Ult), (true, BvCompare::Slt)][self.source.below(2)];
        let mut literals = Vec::new();
        for thread in threads {
            for axis in 0..axes {
                let scale = self.terms.bv([1, 1, 2][self.source.below(3)], self.width);
                let sum = self.times(scale, thread[axis]);
                literals.push(self.terms.bv_compare(op, sum, size[axis]));
            }
        }
        let one = self.terms.bv(1, self.width);
        let positive: Vec<Term> = size.iter().map(|size| self.terms.bv_compare(BvCompare::Sle, one, *size)).collect();
        literals.extend(positive);
        let whole = size.map(|size| self.terms.to_int(size));
        let (mut product, mut number) = (whole[0], sizes[0] as i128);
        for axis in 1..axes {
            (product, number) = (self.terms.int_mul(product, whole[axis]), number * sizes[axis] as i128);
            let most = self.terms.int(number.max((1 << (self.width - 1)) - 1) + self.source.below(3) as i128 - 1);
            literals.push(self.terms.int_le(product, most));
        }
        let shift = [0, 0, 1][self.source.below(3)];
        let places = [self.place(threads[0], size, axes, 0), self.place(threads[1], size, axes, shift)];
        let start = self.value(places[0]).bits();
        let start = if is_signed && start >> (self.width - 1) == 1 { start + (u128::MAX << self.width) } else { start };
        let offset = start.wrapping_mul(4).wrapping_add(self.source.below(4) as u128);
        let offset = self.symbol("o", 2 * self.width, offset);
        let windows: Vec<Term> = places.iter().map(|place| self.window(offset, *place, 4, is_signed)).collect();
        let differs: Vec<Term> = (0..axes).map(|axis| self.terms.eq(threads[0][axis], threads[1][axis])).collect();
        let same = self.terms.and(differs);
        literals.extend(windows);
        literals.push(self.terms.not(same));
        // Alternatives, of which one holds.
        if self.source.below(3) == 0 {
            let at = self.source.below(literals.len());
            let other = literals[self.source.below(literals.len())];
            let guard = literals[0];
            let both = self.terms.and2(other, guard);
            literals[at] = self.terms.or2(literals[at], both);
        }
        literals
    }

    /// Two numbers below a product of sizes, taken apart into digits, which are put together in another order.
    fn digits(&mut self) -> Vec<Term> {
        let axes = 2 + self.source.below(2);
        let sizes: Vec<u128> = (0..axes).map(|_| 1 + self.number(5)).collect();
        let size: Vec<Term> = (0..axes).map(|i| self.symbol(["w", "h", "d"][i], self.width, sizes[i])).collect();
        let most = sizes.iter().product::<u128>();
        let first = self.number(most as usize);
        let second = if self.source.below(2) == 0 { first } else { self.number(most as usize) };
        let number = self.source.below(3) as u128;
        let block = self.symbol("b", self.width, number);
        let is_signed = self.source.below(2) == 0;
        let (op, quotient, rest) = match is_signed {
            true => (BvCompare::Slt, BvBinary::Sdiv, BvBinary::Srem),
            false => (BvCompare::Ult, BvBinary::Udiv, BvBinary::Urem),
        };
        let [one, zero, four] = [1, 0, 4].map(|value| self.terms.bv(value, self.width));
        let mut literals = vec![self.terms.bv_compare(op, block, four)];
        literals.extend(size.iter().map(|size| self.terms.bv_compare(BvCompare::Sle, one, *size)).collect::<Vec<_>>());
        let volume = size.iter().copied().reduce(|a, b| self.times(a, b)).expect("two at least");
        let whole: Vec<Term> = size.iter().map(|size| self.terms.to_int(*size)).collect();
        let product = whole.iter().copied().reduce(|a, b| self.terms.int_mul(a, b)).expect("two at least");
        let bound = self.terms.int((most as i128).max((1 << (self.width - 1)) - 1) + self.source.below(3) as i128 - 1);
        literals.push(self.terms.int_le(product, bound));
        let (shape, turn, is_wrong) = (self.source.below(4), self.source.below(axes), self.source.below(6) == 0);
        let mut places = Vec::new();
        let mut numbers = Vec::new();
        for (thread, number) in [(0, first), (1, second)] {
            let id = self.symbol(&format!("i{thread}"), self.width, number);
            // As `blockIdx.x * 4 + threadIdx.x`.
            let start = self.times(four, block);
            let index = if shape == 0 { self.terms.bv_add(start, id) } else { id };
            literals.push(self.terms.bv_compare(BvCompare::Sle, zero, index));
            literals.push(self.terms.bv_compare(op, index, volume));
            let rows = self.terms.bv_binary(quotient, index, size[0]);
            let column = if self.source.below(2) == 0 {
                self.terms.bv_binary(rest, index, size[0])
            } else {
                let before = self.times(rows, size[0]);
                self.terms.bv_sub(index, before)
            };
            let mut digits = vec![column, rows];
            if axes == 3 {
                let plane = self.times(size[0], size[1]);
                digits[1] = self.terms.bv_binary(rest, rows, size[1]);
                digits.push(match self.source.below(2) {
                    0 => self.terms.bv_binary(quotient, rows, size[1]),
                    _ => self.terms.bv_binary(quotient, index, plane),
                });
            }
            // Mostly in an order that is one to one: `(column * h + row) * d + plane`.
            let mut order: Vec<usize> = (0..axes).collect();
            order.rotate_left(turn);
            let place = order.iter().skip(1).fold(digits[order[0]], |place, &axis| {
                let row = self.times(place, size[if is_wrong { 0 } else { axis }]);
                self.terms.bv_add(row, digits[axis])
            });
            places.push(place);
            numbers.push(index);
        }
        let start = self.value(places[0]).bits();
        let start = if is_signed && start >> (self.width - 1) == 1 { start + (u128::MAX << self.width) } else { start };
        let offset = start.wrapping_mul(4).wrapping_add(self.source.below(4) as u128);
        let offset = self.symbol("o", 2 * self.width, offset);
        literals.extend(places.iter().map(|place| self.window(offset, *place, 4, is_signed)).collect::<Vec<_>>());
        let same = self.terms.eq(numbers[0], numbers[1]);
        literals.push(self.terms.not(same));
        literals
    }

    fn opposite(&mut self, literals: &[Term]) -> Term {
        let all = self.terms.and(literals.to_vec());
        self.terms.not(all)
    }

    /// A point at which an assertion does not hold.
    fn lost(&mut self, goal: Term) -> Option<String> {
        let encoded = solver::encode(&mut self.terms, Encoding::Integers, goal, &[])?;
        let mut values = HashMap::new();
        for (name, term, value) in &self.symbols {
            let translated = self.terms.symbol(&format!("{name}@int"), Sort::Int, None);
            let width = self.terms.width(*term);
            let value = representative(&self.terms, &encoded.assertions, translated, *value, width);
            values.extend([(translated, Value::Int(value)), (*term, self.values[term])]);
        }
        let terms = &self.terms;
        let meaning = |name: &str, args: &[Value], result: Sort| true_meaning(terms, name, args, result);
        let mut is_lost =
            |assertion: Term| evaluate(terms, assertion, &mut values, &meaning) == Some(Value::Bool(false));
        let lost = encoded.assertions.iter().copied().find(|&assertion| is_lost(assertion));
        lost.map(|lost| show(terms, lost))
    }
}

#[test]
fn models_are_kept() {
    let cases = std::env::var("GPUVCC_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let mut proved = [0, 0];
    for seed in 1..=cases {
        let mut places = Places::new(seed);
        let has_digits = seed / 10 % 2 == 1;
        let literals = if has_digits { places.digits() } else { places.literals() };
        if seed % 10 == 0 {
            let goal = places.opposite(&literals);
            let answer = solver::prove(&mut places.terms, Encoding::Integers, goal, &[], EFFORT);
            proved[usize::from(has_digits)] += usize::from(matches!(answer, Answer::Proved));
        }
        let held: Vec<Term> = literals
            .iter()
            .map(|&literal| if places.value(literal).truth() { literal } else { places.terms.not(literal) })
            .collect();
        let goal = places.opposite(&held);
        let lost = places.lost(goal);
        assert!(lost.is_none(), "seed {seed}: {}\n{:?}", lost.unwrap_or_default(), places.symbols);
        if seed % 10 == 5 {
            let answer = solver::prove(&mut places.terms, Encoding::Integers, goal, &[], EFFORT);
            assert!(!matches!(answer, Answer::Proved), "seed {seed}: proved, but {:?}", places.symbols);
        }
    }
    let is_enough = proved.iter().all(|proved| proved * 400 > cases as usize);
    assert!(is_enough, "{proved:?} of {cases} are proved: too few for facts to be tested");
}
