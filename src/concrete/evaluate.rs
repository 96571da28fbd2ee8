//! Terms evaluated under an assignment, exactly.
//!
//! Input: [`Code`], values of symbols. Output: the value of any slot, and whether it is a guess. Establishes: a symbol
//! without a value is zero; an uninterpreted function gets, for arguments that it has not met, a value that only depends
//! on them. A value that comes from such a guess is one itself, as is a division by zero of integers, and what 128 bits do
//! not hold; all others are exact. Only what a result depends on is evaluated, and only once until a symbol changes whose
//! rank is as low. Reference: none.

use super::code::{Code, Instruction, List, Slot};
use super::operators;
use crate::effort::{self, Effort};
use crate::vcgen::term::{Sort, Term, Value, mask, signed};
use foldhash::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What the value of a term costs.
const TERM: Effort = Effort::nanoseconds(20);

/// When the value of a slot was computed that never changes by itself.
const ALWAYS: u32 = u32::MAX;

/// The values of all symbols.
#[derive(Clone)]
pub(crate) struct Assignment {
    values: Vec<(u128, bool)>,
    /// When the symbols were like that.
    clock: u32,
}

/// Evaluates under an assignment that may change in between.
pub struct Evaluator<'c> {
    code: &'c Code,
    values: Vec<u128>,
    /// For each slot, whether its value is a guess.
    guesses: Vec<bool>,
    /// Whether what is being computed comes from one.
    from_guess: bool,
    /// For each slot, when its value was computed.
    computed: Vec<u32>,
    /// For each rank, when a symbol of it or of a lower one changed last.
    changed: Vec<u32>,
    /// How often symbols changed.
    clock: u32,
    /// What uninterpreted functions are for some arguments.
    functions: HashMap<u32, HashMap<Vec<Value>, u128>>,
    /// Slots that wait for an operand, with the members of a list that they have.
    waiting: Vec<(Slot, u32)>,
}

/// What a slot needs first, and how many members of its list it has seen.
struct Missing {
    operand: Slot,
    seen: u32,
}

impl<'c> Evaluator<'c> {
    /// All symbols are zero.
    pub fn new(code: &'c Code) -> Self {
        let is_given = |instruction: &Instruction| matches!(instruction, Instruction::Given);
        let mut guesses = vec![false; code.instructions.len()];
        code.symbols.iter().for_each(|symbol| guesses[symbol.0 as usize] = true);
        Evaluator {
            code,
            values: code.initial.clone(),
            guesses,
            from_guess: false,
            computed: code.instructions.iter().map(|i| if is_given(i) { ALWAYS } else { 0 }).collect(),
            changed: vec![1; code.most as usize + 1],
            clock: 1,
            functions: HashMap::default(),
            waiting: Vec::new(),
        }
    }

    /// Gives symbols new values, all at once. Those without code are of no matter.
    pub fn set(&mut self, values: impl IntoIterator<Item = (Term, Value)>) {
        let mut lowest = None;
        for (symbol, value) in values {
            if let Some(slot) = self.code.find(symbol) {
                self.store(slot, (self.code.stored(slot, value), false), &mut lowest);
            }
        }
        self.invalidate(lowest);
    }

    /// Gives symbols the values of other slots, all at once.
    pub(crate) fn assign(&mut self, pairs: &[(Slot, Slot)]) {
        let values: Vec<_> = pairs.iter().map(|&(_, value)| (self.stored(value), self.is_guess(value))).collect();
        let mut lowest = None;
        for (&(symbol, _), value) in pairs.iter().zip(values) {
            self.store(symbol, value, &mut lowest);
        }
        self.invalidate(lowest);
    }

    fn store(&mut self, symbol: Slot, (value, is_guess): (u128, bool), lowest: &mut Option<u32>) {
        let index = symbol.0 as usize;
        if (self.values[index], self.guesses[index]) != (value, is_guess) {
            (self.values[index], self.guesses[index]) = (value, is_guess);
            let rank = self.code.ranks[index];
            *lowest = Some(lowest.map_or(rank, |lowest| lowest.min(rank)));
        }
    }

    /// Symbols of that rank changed.
    fn invalidate(&mut self, rank: Option<u32>) {
        let Some(rank) = rank else { return };
        self.clock += 1;
        self.changed[rank as usize..].fill(self.clock);
    }

    /// The values of all symbols.
    pub(crate) fn assignment(&self) -> Assignment {
        let value = |symbol: &Slot| (self.values[symbol.0 as usize], self.guesses[symbol.0 as usize]);
        let values = self.code.symbols.iter().map(value).collect();
        Assignment { values, clock: self.clock }
    }

    /// Takes an assignment that it had before.
    pub(crate) fn reset(&mut self, assignment: &Assignment) {
        if assignment.clock == self.clock {
            return;
        }
        let mut lowest = None;
        for (&symbol, &value) in self.code.symbols.iter().zip(&assignment.values) {
            self.store(symbol, value, &mut lowest);
        }
        self.invalidate(lowest);
    }

    /// Records what an uninterpreted application is; false where it is something else by what was recorded before.
    pub(crate) fn learn(&mut self, application: Term, value: Value) -> bool {
        let code = self.code;
        let Some(application) = code.find(application) else { return true };
        let Instruction::Application { function, arguments } = code.instruction(application) else { return true };
        let arguments = &code.lists[arguments.range()];
        let arguments = arguments.iter().map(|&argument| code.shown(argument, self.stored(argument))).collect();
        let value = code.stored(application, value);
        let recorded = *self.functions.entry(function).or_default().entry(arguments).or_insert(value);
        self.invalidate(Some(0));
        recorded == value
    }

    /// Whether a Boolean slot is true.
    pub(crate) fn is_true(&mut self, slot: Slot) -> bool {
        self.stored(slot) == 1
    }

    /// Whether a Boolean term is true.
    pub(crate) fn holds(&mut self, t: Term) -> bool {
        self.is_true(self.code.slot(t))
    }

    /// Whether a Boolean slot is true, unless its value is a guess.
    pub(super) fn surely(&mut self, slot: Slot) -> Option<bool> {
        let is_true = self.is_true(slot);
        (!self.is_guess(slot)).then_some(is_true)
    }

    /// Whether the value of a slot that was evaluated is a guess.
    fn is_guess(&self, slot: Slot) -> bool {
        self.guesses[slot.0 as usize]
    }

    /// The value of a term, if it has code and is no guess.
    pub(crate) fn certain(&mut self, t: Term) -> Option<Value> {
        let slot = self.code.find(t)?;
        let stored = self.stored(slot);
        (!self.is_guess(slot)).then(|| self.code.shown(slot, stored))
    }

    /// The value of a term.
    pub fn value(&mut self, t: Term) -> Value {
        let slot = self.code.slot(t);
        let stored = self.stored(slot);
        self.code.shown(slot, stored)
    }

    fn is_known(&self, slot: Slot) -> bool {
        let index = slot.0 as usize;
        self.computed[index] >= self.changed[self.code.ranks[index] as usize]
    }

    /// The value of a slot, as it is stored. Without recursion: formulas may be deep.
    fn stored(&mut self, slot: Slot) -> u128 {
        if self.is_known(slot) {
            return self.values[slot.0 as usize];
        }
        let mut count = 0;
        self.waiting.push((slot, 0));
        while let Some(&(slot, seen)) = self.waiting.last() {
            self.from_guess = false;
            match self.compute(slot, seen) {
                Ok(value) => {
                    self.values[slot.0 as usize] = value;
                    self.guesses[slot.0 as usize] = self.from_guess;
                    self.computed[slot.0 as usize] = self.clock;
                    self.waiting.pop();
                    count += 1;
                }
                Err(Missing { operand, seen }) => {
                    let last = self.waiting.len() - 1;
                    self.waiting[last].1 = seen;
                    self.waiting.push((operand, 0));
                }
            }
        }
        effort::spend(TERM * count);
        self.values[slot.0 as usize]
    }

    /// The value of an operand.
    fn known(&mut self, slot: Slot) -> Result<u128, Missing> {
        if !self.is_known(slot) {
            return Err(Missing { operand: slot, seen: 0 });
        }
        self.from_guess |= self.guesses[slot.0 as usize];
        Ok(self.values[slot.0 as usize])
    }

    fn integer(&mut self, slot: Slot) -> Result<i128, Missing> {
        self.known(slot).map(|value| value as i128)
    }

    /// A result, or a guess where there is none.
    fn or_guess(&mut self, result: Option<i128>) -> u128 {
        self.from_guess |= result.is_none();
        result.unwrap_or(0) as u128
    }

    fn compute(&mut self, slot: Slot, seen: u32) -> Result<u128, Missing> {
        Ok(match self.code.instruction(slot) {
            Instruction::Given => self.values[slot.0 as usize],
            Instruction::Not(a) => self.known(a)? ^ 1,
            Instruction::All(members) => u128::from(!self.is_among(members, seen, 0)?),
            Instruction::Any(members) => u128::from(self.is_among(members, seen, 1)?),
            Instruction::Equal(a, b) => u128::from(self.known(a)? == self.known(b)?),
            Instruction::Choice(condition, a, b) => {
                let chosen = if self.known(condition)? == 1 { a } else { b };
                self.known(chosen)?
            }
            Instruction::Application { function, arguments } => self.apply(slot, function, arguments)?,
            Instruction::Sum { constant, members, width } => {
                let mut sum = constant;
                for &(member, factor) in &self.code.products[members.range()] {
                    sum = sum.wrapping_add(self.known(member)?.wrapping_mul(factor));
                }
                sum & mask(width)
            }
            Instruction::Total { constant, members } => {
                let mut total = Some(constant);
                for &(member, factor) in &self.code.products[members.range()] {
                    let product = self.integer(member)?.checked_mul(factor as i128);
                    total = total.and_then(|total| total.checked_add(product?));
                }
                self.or_guess(total)
            }
            Instruction::BitVector { op, operands: [a, b], width } => {
                operators::bit_vector(op, self.known(a)?, self.known(b)?, width) & mask(width)
            }
            Instruction::Comparison { op, operands: [a, b], width } => {
                u128::from(operators::compare(op, self.known(a)?, self.known(b)?, width))
            }
            Instruction::Extract { of, low, width } => (self.known(of)? >> low) & mask(width),
            Instruction::Concat { high, low, low_width } => (self.known(high)? << low_width) | self.known(low)?,
            Instruction::Extend { of, from, to } => signed(self.known(of)?, from) as u128 & mask(to),
            Instruction::Product(a, b) => {
                let product = self.integer(a)?.checked_mul(self.integer(b)?);
                self.or_guess(product)
            }
            Instruction::Quotient(a, b) => {
                let quotient = self.integer(a)?.checked_div_euclid(self.integer(b)?);
                self.or_guess(quotient)
            }
            Instruction::Remainder(a, b) => {
                let remainder = self.integer(a)?.checked_rem_euclid(self.integer(b)?);
                self.or_guess(remainder)
            }
            Instruction::AtMost(a, b) => u128::from(self.integer(a)? <= self.integer(b)?),
        })
    }

    /// Whether a member has a value; the first `seen` ones have not.
    fn is_among(&mut self, members: List, seen: u32, value: u128) -> Result<bool, Missing> {
        let members = &self.code.lists[members.range()];
        for (&member, seen) in members.iter().zip(0..).skip(seen as usize) {
            let known = self.known(member).map_err(|missing| Missing { seen, ..missing })?;
            if known == value {
                self.from_guess = self.is_guess(member);
                return Ok(true);
            }
        }
        self.from_guess = members.iter().any(|&member| self.is_guess(member));
        Ok(false)
    }

    fn apply(&mut self, slot: Slot, function: u32, arguments: List) -> Result<u128, Missing> {
        let code = self.code;
        let mut shown = |&argument: &Slot| Ok(code.shown(argument, self.known(argument)?));
        let arguments =
            code.lists[arguments.range()].iter().map(&mut shown).collect::<Result<Vec<Value>, Missing>>()?;
        if let Some(&value) = self.functions.get(&function).and_then(|values| values.get(&arguments)) {
            return Ok(value);
        }
        self.from_guess = true;
        let mut hasher = DefaultHasher::new();
        (function, arguments).hash(&mut hasher);
        let hash = hasher.finish();
        Ok(match self.code.sorts[slot.0 as usize] {
            Sort::Bool => u128::from(hash & 1),
            Sort::Int => u128::from(hash as u32),
            Sort::Bv(width) => u128::from(hash) & mask(width),
            Sort::Other(_) => panic!("concrete: a value of a sort that programs of kernels do not have"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vcgen::term::{BvBinary, BvCompare, Terms};

    const OPERATORS: [BvBinary; 11] = [
        BvBinary::Mul,
        BvBinary::Udiv,
        BvBinary::Urem,
        BvBinary::Sdiv,
        BvBinary::Srem,
        BvBinary::And,
        BvBinary::Or,
        BvBinary::Xor,
        BvBinary::Shl,
        BvBinary::Lshr,
        BvBinary::Ashr,
    ];

    const COMPARISONS: [BvCompare; 4] = [BvCompare::Ult, BvCompare::Ule, BvCompare::Slt, BvCompare::Sle];

    /// Terms over the symbols, with all operators.
    fn examples(terms: &mut Terms, [x, y]: [Term; 2], [i, j]: [Term; 2]) -> Vec<Term> {
        let mut examples: Vec<Term> = OPERATORS.iter().map(|&op| terms.bv_binary(op, x, y)).collect();
        let width = terms.width(x);
        examples.push(terms.bv_sum(width, 3, vec![(x, 5), (y, mask(width))]));
        examples.extend([terms.concat(x, y), terms.zero_extend(x, width + 3), terms.sign_extend(y, width + 3)]);
        examples.extend([terms.extract(width - 1, 1, x), terms.to_int(x), terms.to_signed_int(y)]);
        examples.extend([terms.from_int(i, width), terms.int_mul(i, j), terms.int_div(i, j), terms.int_mod(i, j)]);
        examples.push(terms.int_sum(-7, vec![(i, 2), (j, -3)]));
        let mut tests: Vec<Term> = COMPARISONS.iter().map(|&op| terms.bv_compare(op, x, y)).collect();
        tests.extend([terms.eq(x, y), terms.eq(i, j), terms.int_le(i, j)]);
        let negated = terms.not(tests[0]);
        examples.push(terms.ite(tests[3], x, y));
        examples.extend([terms.and(vec![tests[1], tests[6], negated]), terms.or(vec![tests[2], tests[5], negated])]);
        examples.extend(tests);
        examples
    }

    /// What the builders of terms make of constants, and what follows when one symbol changes after the other.
    #[test]
    fn values_are_those_that_the_builders_give() {
        for width in [2, 7, 32, 64] {
            let mut terms = Terms::default();
            let [x, y] = ["x", "y"].map(|name| terms.symbol(name, Sort::Bv(width), None));
            let [i, j] = ["i", "j"].map(|name| terms.symbol(name, Sort::Int, None));
            let examples = examples(&mut terms, [x, y], [i, j]);
            let symbols = [x, y, i, j];
            let rank = |symbol: Term| symbols.iter().position(|s| *s == symbol).map_or(0, |rank| rank as u32);
            let code = Code::new(&terms, examples.iter().copied(), &rank);
            let mut evaluator = Evaluator::new(&code);
            let mut values = [Value::Bits(0), Value::Bits(0), Value::Int(0), Value::Int(0)];
            evaluator.set(symbols.into_iter().zip(values));
            let mut random: u64 = 1;
            for round in 0..400usize {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = random >> [33, 60, 0][round % 3];
                let changed = round / 3 % 4;
                values[changed] = match values[changed] {
                    Value::Int(_) => Value::Int(i128::from(number as i64 % 9)),
                    _ => Value::Bits(u128::from(number) & mask(width)),
                };
                evaluator.set([(symbols[changed], values[changed])]);
                let mut constants: HashMap<Term, Term> = HashMap::default();
                for (&symbol, value) in symbols.iter().zip(values) {
                    let constant = match value {
                        Value::Bits(bits) => terms.bv(bits, width),
                        Value::Int(value) => terms.int(value),
                        Value::Bool(value) => terms.boolean(value),
                    };
                    constants.insert(symbol, constant);
                }
                for &example in &examples {
                    let folded = terms.substitute(example, &mut constants);
                    let expected = terms.truth(folded).map(Value::Bool);
                    let expected = expected.or_else(|| terms.bv_value(folded).map(Value::Bits));
                    let expected = expected.or_else(|| terms.int_value(folded).map(Value::Int));
                    // The builders leave a division by zero as it is.
                    let Some(expected) = expected else { continue };
                    let certain = evaluator.certain(example);
                    assert_eq!(certain, Some(expected), "{:?} of {values:?}", terms.node(example));
                }
            }
        }
    }

    #[test]
    fn equal_arguments_give_equal_values() {
        let mut terms = Terms::default();
        let [x, y] = ["x", "y"].map(|name| terms.symbol(name, Sort::Bv(8), None));
        let [of_x, of_y] = [x, y].map(|t| terms.apply("f", vec![t], Sort::Bv(8)));
        let code = Code::new(&terms, [of_x, of_y], &|_| 0);
        let mut evaluator = Evaluator::new(&code);
        evaluator.set([(x, Value::Bits(3)), (y, Value::Bits(4))]);
        evaluator.learn(of_x, Value::Bits(7));
        assert_eq!([of_x, of_y].map(|t| evaluator.certain(t)), [Some(Value::Bits(7)), None]);
        evaluator.set([(y, Value::Bits(3))]);
        assert_eq!([of_x, of_y].map(|t| evaluator.value(t)), [Value::Bits(7); 2]);
    }
}
