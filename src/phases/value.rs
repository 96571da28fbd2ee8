//! Values of registers while the number of rounds is open.
//!
//! Input: values, an instruction's function. Output: its value. Establishes: what a [`Number`] says of a register holds for all
//! rounds of the [`Region`]; what has no form here is [`Value::Any`]. Relies on: [`crate::exec::decode::Note`] names the function.
//! Reference: PTX ISA, integer arithmetic, comparison and selection.

use crate::exec::values::mask;
use crate::ptx::ast::{Comparison, IntOp, ScalarType};
use crate::sync::taint::Part;

/// Rounds of a loop: `done` of them are over, `left` are to come, and together they are at most this many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) most: i128,
}

/// `start + done * (rounds that are over) + left * (rounds to come)`, and a rest between 0 and `rest`, of which nothing else is known: it
/// stands for all these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) start: i128,
    pub(super) done: i128,
    pub(super) left: i128,
    pub(super) rest: i128,
}

/// A linear function modulo 2 to the power of so many bits; constants have 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) linear: Linear,
    pub(super) bits: u32,
}

/// The value of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(Number),
    /// An address in the array to which the parameter or variable with this number points.
    Array(u32),
    /// An address in a shared variable: its number, whether it is generic, and the offset.
    Place {
        variable: u32,
        generic: bool,
        offset: Number,
    },
    /// Bits of the address of a shared variable, plus a number: what that is where the decoder placed the variable.
    Bits {
        variable: u16,
        part: Part,
        value: u64,
    },
    /// An address in the parameters of the kernel: the offset.
    Parameter(u64),
    /// A number that all threads of the block compute alike ([`super::terms`]).
    Term(u32),
    /// A number of which nothing is known, but that it comes from numbers: it is no address.
    Unknown,
    /// Nothing is known.
    Any,
}

impl Linear {
    pub(super) fn constant(start: i128) -> Linear {
        Linear { start, done: 0, left: 0, rest: 0 }
    }

    fn plus(self, other: Linear) -> Option<Linear> {
        Some(Linear {
            start: self.start.checked_add(other.start)?,
            done: self.done.checked_add(other.done)?,
            left: self.left.checked_add(other.left)?,
            rest: self.rest.checked_add(other.rest)?,
        })
    }

    pub(super) fn times(self, factor: i128) -> Option<Linear> {
        let rest = self.rest.checked_mul(factor)?;
        Some(Linear {
            start: self.start.checked_mul(factor)?.checked_add(rest.min(0))?,
            done: self.done.checked_mul(factor)?,
            left: self.left.checked_mul(factor)?,
            rest: rest.abs(),
        })
    }

    fn is_constant(self) -> bool {
        self.done == 0 && self.left == 0 && self.rest == 0
    }

    /// The least and the greatest value; it has them at corners.
    fn range(self, region: Region) -> Option<(i128, i128)> {
        let corner = |part: i128| part.checked_mul(region.most)?.checked_add(self.start);
        let corners = [self.start, corner(self.done)?, corner(self.left)?];
        Some((corners.into_iter().min()?, corners.into_iter().max()?.checked_add(self.rest)?))
    }

    /// Rounded down, where rounds change it by whole multiples, or do not change it.
    fn divided(self, by: i128, region: Region) -> Option<Linear> {
        if self.done % by == 0 && self.left % by == 0 {
            let start = self.start.div_euclid(by);
            let rest = self.start.checked_add(self.rest)?.div_euclid(by) - start;
            return Some(Linear { start, done: self.done / by, left: self.left / by, rest });
        }
        let (least, greatest) = self.range(region)?;
        let quotient = least.div_euclid(by);
        (quotient == greatest.div_euclid(by)).then_some(Linear::constant(quotient))
    }
}

impl Number {
    pub(super) fn constant(value: u64) -> Number {
        Number { linear: Linear::constant(i128::from(value)), bits: 64 }
    }

    pub(super) fn new(linear: Linear, bits: u32) -> Number {
        let size = 1i128 << bits;
        let factor = |part: i128| {
            let part = part.rem_euclid(size);
            if part > size / 2 { part - size } else { part }
        };
        let linear = Linear {
            start: linear.start.rem_euclid(size),
            done: factor(linear.done),
            left: factor(linear.left),
            ..linear
        };
        Number { linear, bits: if linear.is_constant() { 64 } else { bits } }
    }

    pub(super) fn value(self) -> Option<u64> {
        self.linear.is_constant().then_some(self.linear.start as u64)
    }

    /// Its low bits.
    fn low(self, bits: u32, region: Region) -> Option<Number> {
        match self.bits >= bits {
            true => Some(Number::new(self.linear, bits)),
            false => Some(Number::new(self.unsigned(region)?, bits)),
        }
    }

    /// The number itself, where it does not wrap around anywhere in the region.
    pub(super) fn unsigned(self, region: Region) -> Option<Linear> {
        self.from(0, region)
    }

    /// Where it lies between this number and the one that is 2 to the power of its bits larger.
    fn from(self, first: i128, region: Region) -> Option<Linear> {
        let size = 1i128 << self.bits;
        let (least, _) = self.linear.range(region)?;
        let turns = (least - first).div_euclid(size);
        let linear = Linear { start: self.linear.start - turns * size, ..self.linear };
        let (_, greatest) = linear.range(region)?;
        (greatest < first + size).then_some(linear)
    }

    /// Its low bits as a number of a type.
    fn exact(self, ty: ScalarType, region: Region) -> Option<Linear> {
        let bits = ty.bits();
        let low = self.low(bits, region)?;
        if let Some(value) = low.value() {
            return Some(Linear::constant(crate::exec::values::integer::number(value, ty)));
        }
        low.from(if ty.is_signed() { -(1i128 << (bits - 1)) } else { 0 }, region)
    }

    /// Whether two are one number in the whole region.
    pub(super) fn is_same(self, other: Number, region: Region) -> bool {
        self == other || self.unsigned(region).is_some_and(|own| Some(own) == other.unsigned(region))
    }
}

impl Value {
    pub(super) fn constant(value: u64) -> Value {
        Value::Number(Number::constant(value))
    }

    /// Whether it is a number, and so no address.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Value::Number(_) | Value::Term(_) | Value::Unknown)
    }

    /// What is one of two values.
    pub(super) fn or(self, other: Value) -> Value {
        match self == other {
            true => self,
            false if self.is_number() && other.is_number() => Value::Unknown,
            false => Value::Any,
        }
    }

    pub(super) fn number(self) -> Option<Number> {
        if let Value::Number(number) = self { Some(number) } else { None }
    }

    pub(super) fn value(self) -> Option<u64> {
        self.number()?.value()
    }

    fn of(linear: Option<Linear>, bits: u32) -> Value {
        linear.map_or(Value::Any, |linear| Value::Number(Number::new(linear, bits)))
    }

    /// The sum; `sign` is -1 for a difference.
    pub(super) fn sum(self, other: Value, sign: i128, bits: u32, region: Region) -> Value {
        match (self, other) {
            (Value::Number(a), Value::Number(b)) => {
                let sum = || a.low(bits, region)?.linear.plus(b.low(bits, region)?.linear.times(sign)?);
                Value::of(sum(), bits)
            }
            (Value::Place { variable, generic, offset }, Value::Number(b))
            | (Value::Number(b), Value::Place { variable, generic, offset })
                if sign == 1 || matches!(self, Value::Place { .. }) =>
            {
                // An address has all its bits: 32 of them are enough for one of a variable in shared memory.
                if bits < 64 && (bits < 32 || generic) {
                    return Value::Any;
                }
                let width = if generic { 64 } else { 32 };
                let sum = || offset.low(width, region)?.linear.plus(b.low(width, region)?.linear.times(sign)?);
                match sum() {
                    Some(sum) => Value::Place { variable, generic, offset: Number::new(sum, width) },
                    None => Value::Any,
                }
            }
            (Value::Array(number), other) if bits == 64 && other.is_number() => Value::Array(number),
            (other, Value::Array(number)) if bits == 64 && sign == 1 && other.is_number() => Value::Array(number),
            _ => Value::Any,
        }
    }

    pub(super) fn product_sum(self, b: Value, c: Value, ty: Option<ScalarType>, bits: u32, region: Region) -> Value {
        let product = match (self, b) {
            (Value::Number(a), Value::Number(b)) => product(a, b, ty, bits, region),
            _ => Value::Any,
        };
        product.sum(c, 1, bits, region)
    }

    /// A function of two integers.
    pub(super) fn integer(op: IntOp, ty: ScalarType, [a, b]: [Value; 2], region: Region) -> Value {
        let (Value::Number(x), Value::Number(y)) = (a, b) else { return Value::Any };
        let bits = ty.bits();
        let constant = |number: Number| number.value().map(|value| i128::from(value & mask(bits)));
        match op {
            IntOp::MulLo => product(x, y, None, bits, region),
            IntOp::MulWide => product(x, y, Some(ty), 2 * bits, region),
            IntOp::Shl => {
                let shifted = || match y.value()? & mask(32) {
                    by if by >= u64::from(bits) => Some(Linear::constant(0)),
                    by => x.low(bits, region)?.linear.times(1i128 << by),
                };
                Value::of(shifted(), bits)
            }
            IntOp::Shr => {
                let shifted = || {
                    let by = (y.value()? & mask(32)).min(u64::from(bits));
                    x.exact(ty, region)?.divided(1i128 << by, region)
                };
                Value::of(shifted(), bits)
            }
            IntOp::Div | IntOp::Rem => {
                let divide = || {
                    let by = y.exact(ty, region).filter(|by| by.is_constant() && by.start > 0)?.start;
                    let x = x.exact(ty, region).filter(|x| x.range(region).is_some_and(|(least, _)| least >= 0))?;
                    let quotient = x.divided(by, region)?;
                    if op == IntOp::Div { Some(quotient) } else { x.plus(quotient.times(-by)?) }
                };
                Value::of(divide(), bits)
            }
            IntOp::And => match (constant(x), constant(y)) {
                (_, Some(bits_kept)) => x.masked(bits_kept, bits, region),
                (Some(bits_kept), _) => y.masked(bits_kept, bits, region),
                _ => Value::Any,
            },
            IntOp::Or | IntOp::Xor => match (constant(x), constant(y)) {
                (_, Some(other)) => x.joined(op, other, bits, region),
                (Some(other), _) => y.joined(op, other, bits, region),
                _ => Value::Any,
            },
            IntOp::Min | IntOp::Max => {
                let is_less = Value::compared(Comparison::Le, ty, [a, b], region);
                let chosen = match (is_less, op) {
                    (Some(true), IntOp::Min) | (Some(false), IntOp::Max) => x.low(bits, region),
                    (Some(_), _) => y.low(bits, region),
                    (None, _) => None,
                };
                chosen.map_or(Value::Any, Value::Number)
            }
            _ => Value::Any,
        }
    }

    /// What a comparison of integers says in the whole region.
    pub(super) fn compared(comparison: Comparison, ty: ScalarType, [a, b]: [Value; 2], region: Region) -> Option<bool> {
        use Comparison::{Eq, Ge, Geu, Gt, Gtu, Le, Leu, Lt, Ltu, Ne};
        let ty = match comparison {
            _ if ty.is_float() || ty.bits() > 64 => return None,
            Ltu | Leu | Gtu | Geu => ScalarType::U(ty.bits()),
            _ => ty,
        };
        let (a, b) = (a.number()?, b.number()?);
        let difference = a.exact(ty, region)?.plus(b.exact(ty, region)?.times(-1)?)?;
        let (least, greatest) = difference.range(region)?;
        let decided = |is_always: bool, is_never: bool| if is_always { Some(true) } else { is_never.then_some(false) };
        match comparison {
            Eq => decided(least == 0 && greatest == 0, least > 0 || greatest < 0),
            Ne => decided(least > 0 || greatest < 0, least == 0 && greatest == 0),
            Lt | Ltu => decided(greatest < 0, least >= 0),
            Le | Leu => decided(greatest <= 0, least > 0),
            Gt | Gtu => decided(least > 0, greatest <= 0),
            Ge | Geu => decided(least >= 0, greatest < 0),
            _ => None,
        }
    }

    /// The low 32 bits, with zeros above.
    pub(super) fn low32(self, region: Region) -> Value {
        match self {
            Value::Number(number) => Value::of(number.low(32, region).map(|low| low.linear), 32),
            Value::Place { generic: false, .. } => self,
            _ => Value::Any,
        }
    }

    /// 32 bits, with their sign in front.
    pub(super) fn widened(self, region: Region) -> Value {
        let exact = self.number().and_then(|number| number.exact(ScalarType::S(32), region));
        Value::of(exact, 64)
    }
}

fn product(a: Number, b: Number, ty: Option<ScalarType>, bits: u32, region: Region) -> Value {
    let part = |number: Number| match ty {
        Some(ty) => number.exact(ty, region),
        None => Some(number.low(bits, region)?.linear),
    };
    let product = || match (part(a)?, part(b)?) {
        (a, b) if b.is_constant() => a.times(b.start),
        (a, b) if a.is_constant() => b.times(a.start),
        _ => None,
    };
    Value::of(product(), bits)
}

impl Number {
    /// Bits below this one are the same in all rounds.
    fn fixed_bits(self) -> u32 {
        if self.linear.rest > 0 {
            return 0;
        }
        let zeros = |part: i128| if part == 0 { self.bits } else { part.trailing_zeros() };
        zeros(self.linear.done).min(zeros(self.linear.left)).min(self.bits)
    }

    fn masked(self, kept: i128, bits: u32, region: Region) -> Value {
        // Above its own bits it has zeros.
        let bits = bits.min(self.bits);
        let kept = kept & ((1i128 << bits) - 1);
        let masked = || {
            let low = self.low(bits, region)?;
            if let Some(value) = low.value() {
                return Some(Linear::constant(i128::from(value) & kept));
            }
            // Bits above some: what is left if the others are taken away.
            let others = ((1i128 << bits) - 1) & !kept;
            if low.linear.rest > 0 && others.count_ones() == others.trailing_ones() {
                let by = others + 1;
                return low.unsigned(region)?.divided(by, region)?.times(by);
            }
            let below = (1i128 << low.fixed_bits()) - 1;
            let above = ((1i128 << bits) - 1) & !below;
            let start = low.linear.start & below & kept;
            match kept & above {
                0 => Some(Linear::constant(start)),
                all if all == above => low.linear.plus(Linear::constant(start - (low.linear.start & below))),
                _ => None,
            }
        };
        Value::of(masked(), bits)
    }

    /// `or`, `xor`
    fn joined(self, op: IntOp, other: i128, bits: u32, region: Region) -> Value {
        let joined = || {
            let low = self.low(bits, region)?;
            let below = if low.value().is_some() { (1i128 << bits) - 1 } else { (1i128 << low.fixed_bits()) - 1 };
            let own = low.linear.start & below;
            let new = if op == IntOp::Or { own | other } else { own ^ other };
            (other & !below == 0).then_some(())?;
            low.linear.plus(Linear::constant(new - own))
        };
        Value::of(joined(), bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itertools::Itertools;

    const REGION: Region = Region { most: 1000 };

    fn linear(start: i128, done: i128, left: i128, bits: u32) -> Number {
        with_rest([start, done, left, 0], bits)
    }

    fn with_rest([start, done, left, rest]: [i128; 4], bits: u32) -> Number {
        Number::new(Linear { start, done, left, rest }, bits)
    }

    /// The value of a number in a round, with a part of its rest: 0 for none of it, 2 for all.
    fn at(number: Number, [done, left]: [i128; 2], part: i128) -> u64 {
        let Linear { start, rest, .. } = number.linear;
        let value = start + number.linear.done * done + number.linear.left * left + rest * part / 2;
        value.rem_euclid(1i128 << number.bits) as u64
    }

    /// Whether a value is one of those of a number in a round.
    fn has(number: Number, round: [i128; 2], value: u64) -> bool {
        let by = i128::from(value) - i128::from(at(number, round, 0));
        by.rem_euclid(1i128 << number.bits) <= number.linear.rest
    }

    const ROUNDS: [[i128; 2]; 7] = [[0, 0], [1, 0], [0, 1], [7, 5], [1000, 0], [0, 1000], [500, 500]];

    #[test]
    fn functions_of_numbers_are_those_of_their_values() {
        use IntOp::{And, Div, Max, Min, MulLo, MulWide, Or, Rem, Shl, Shr, Xor};
        let numbers = [
            linear(5, 8, 0, 32),
            linear(0xffff_fff0, 16, 8, 32),
            linear(3, -1, 0, 32),
            linear(4096, 0, 64, 64),
            linear(0x8000_0000, 0, 4, 32),
            Number::constant(3),
            Number::constant(0xffff_ffff),
            Number::constant(8),
            Number::constant(48),
            linear(-24, 24, 12, 64),
            linear(7, 3, 0, 64),
            with_rest([1, 0, 128, 63], 32),
            with_rest([64, 64, 64, 63], 32),
            with_rest([-63, 64, 0, 63], 64),
            with_rest([5, 0, 0, 2], 32),
        ];
        let (mut known, mut open) = (0, 0);
        for op in [And, Or, Xor, Shl, Shr, Div, Rem, MulLo, MulWide, Min, Max] {
            for ty in [ScalarType::U(32), ScalarType::S(32), ScalarType::B(64), ScalarType::S(64)] {
                for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
                    if op == MulWide && ty.bits() == 64 {
                        continue;
                    }
                    let result = Value::integer(op, ty, [Value::Number(a), Value::Number(b)], REGION);
                    let Value::Number(result) = result else { continue };
                    known += 1;
                    open += usize::from(result.linear.rest > 0);
                    let parts = (0..9).map(|both| (both / 3, both % 3));
                    for (round, (of_a, of_b)) in ROUNDS.into_iter().cartesian_product(parts) {
                        let sources = [at(a, round, of_a), at(b, round, of_b), 0, 0, 0];
                        let exact = crate::exec::values::integer::integer(op, ty, false, &sources);
                        let is_right = exact.is_some_and(|exact| has(result, round, exact));
                        assert!(is_right, "{op:?} {ty:?} {a:?} {b:?} {round:?} {of_a} {of_b}: {result:?}");
                    }
                }
            }
        }
        assert!(known > 500 && open > 50, "{known} {open}");
    }

    #[test]
    fn comparisons_hold_in_all_rounds() {
        use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
        let numbers = [
            linear(5, 8, 0, 32),
            linear(6, 8, 8, 32),
            linear(-3, 1, 0, 32),
            linear(2, 8, 0, 32),
            Number::constant(3),
            linear(0x7fff_fff0, 0, 1, 32),
            linear(0x8000_0000, 0, 1, 32),
            Number::constant(0x8000_0000),
            with_rest([6, 0, 64, 63], 32),
            with_rest([-64, 64, 0, 63], 32),
            with_rest([2, 0, 0, 3], 32),
        ];
        let mut known = 0;
        for comparison in [Eq, Ne, Lt, Le, Gt, Ge] {
            for ty in [ScalarType::U(32), ScalarType::S(32), ScalarType::U(64)] {
                for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
                    let values = [Value::Number(a), Value::Number(b)];
                    let Some(said) = Value::compared(comparison, ty, values, REGION) else { continue };
                    known += 1;
                    let parts = (0..9).map(|both| (both / 3, both % 3));
                    for (round, (of_a, of_b)) in ROUNDS.into_iter().cartesian_product(parts) {
                        let (a, b) = (at(a, round, of_a), at(b, round, of_b));
                        let exact = crate::exec::values::integer::compare(comparison, ty, a, b);
                        assert_eq!(said, exact, "{comparison:?} {ty:?} {values:?} {round:?} {of_a} {of_b}");
                    }
                }
            }
        }
        assert!(known > 200, "{known}");
    }
}
