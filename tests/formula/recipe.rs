//! What a random formula is made from, and the strategies that make it.

use super::arithmetic::{hash, mask};
use gpuvcc::vcgen::term::{BvBinary, BvCompare};
use proptest::prelude::*;
use std::fmt;

/// One step; selectors count back from the newest value of a sort.
#[derive(Clone)]
pub struct Step {
    pub op: Op,
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub constant: u128,
    pub width: u32,
}

/// On one line, so that a failing recipe can be read.
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { op, a, b, c, constant, width } = self;
        f.write_str(&format!("{op:?} a={a} b={b} c={c} constant={constant:#x} width={width}"))
    }
}

/// What a step builds.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Constant,
    Neg,
    Complement,
    Add,
    Sub,
    AddConstant,
    Binary(BvBinary),
    BinaryConstant(BvBinary),
    ConstantBinary(BvBinary),
    BinarySmall(BvBinary),
    ZeroExtend,
    SignExtend,
    Extract,
    Concat,
    IteBits,
    ApplyBits,
    ApplyBool,
    Compare(BvCompare),
    CompareConstant(BvCompare),
    ConstantCompare(BvCompare),
    EqualBits,
    EqualConstant,
    Not,
    And,
    Or,
    Implies,
    EqualBool,
    IteBool,
    ToInt,
    ToSignedInt,
    FromInt,
    IntConstant,
    IntAdd,
    IntSub,
    IntScale,
    IntMul,
    IntDiv,
    IntMod,
    IteInt,
    IntLe,
    IntLt,
    IntEqual,
}

/// A symbol of a recipe.
#[derive(Clone)]
pub struct SymbolSpec {
    /// Width in bits.
    pub width: u32,
    /// Declared range.
    pub range: Option<(u128, u128)>,
}

impl fmt::Debug for SymbolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("bv{} in {:?}", self.width, self.range))
    }
}

/// A random formula.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub symbols: Vec<SymbolSpec>,
    pub steps: Vec<Step>,
    pub seed: u64,
    pub widest: u32,
    pub complete: u128,
}

/// What recipes may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Widths of symbols and constants, in bits.
    pub widths: &'static [u32],
    /// No term is wider.
    pub widest: u32,
    /// Most steps.
    pub steps: usize,
    /// Integers and conversions.
    pub integers: bool,
    /// Uninterpreted functions.
    pub functions: bool,
    /// A symbol space of at most so many points is tried completely; else a sample.
    pub complete: u128,
}

const SAMPLES: usize = 48;

impl Recipe {
    /// Values of the symbols, and whether these are all.
    pub fn points(&self) -> (Vec<Vec<u128>>, bool) {
        let ranges: Vec<(u128, u128)> = self.symbols.iter().map(|s| s.range.unwrap_or((0, mask(s.width)))).collect();
        let space = ranges.iter().try_fold(1u128, |n, (l, h)| n.checked_mul((h - l).checked_add(1)?));
        if let Some(space) = space.filter(|s| *s <= self.complete) {
            let point = |mut index: u128| {
                let mut digit = |(low, high): &(u128, u128)| {
                    let size = high - low + 1;
                    let value = low + index % size;
                    index /= size;
                    value
                };
                ranges.iter().map(&mut digit).collect()
            };
            return ((0..space).map(point).collect(), true);
        }
        let sample = |k: usize| {
            let pick = |(i, (low, high)): (usize, &(u128, u128))| {
                let random = hash("point", &[u128::from(self.seed), k as u128, i as u128]);
                let size = (high - low).saturating_add(1);
                // Ends and corners first, then anything.
                match random % 7 {
                    0 => *low,
                    1 => *high,
                    2 => low + (size / 2).min(high - low),
                    3 => low + (1u128 << (random >> 8 & 63)).min(high - low),
                    4 => high - (random >> 8 & 3).min(high - low),
                    5 => low + (random >> 8 & 63).min(high - low),
                    _ => low + (random >> 8) % size,
                }
            };
            ranges.iter().enumerate().map(pick).collect()
        };
        ((0..SAMPLES).map(sample).collect(), false)
    }
}

/// Constants where arithmetic goes wrong: ends, powers of two, masks, shift amounts around widths.
fn constants() -> impl Strategy<Value = u128> {
    prop_oneof![
        4 => 0u128..5,
        3 => (0u32..128).prop_map(|k| 1 << k),
        2 => (0u32..8).prop_map(|k| 1 << k),
        2 => (0u32..8).prop_map(|k| (1 << k) - 1),
        2 => (0u32..128).prop_map(|k| (1 << k) - 1),
        2 => (0u128..4).prop_map(|k| u128::MAX - k),
        2 => prop::sample::select(vec![3u128, 5, 6, 7, 10, 12, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256]),
        1 => (0u32..64, 0u32..64).prop_map(|(a, b)| (1u128 << a) | (1 << b)),
        1 => any::<u128>(),
    ]
}

fn operators(shape: Shape) -> impl Strategy<Value = Op> {
    use BvBinary::{And, Ashr, Lshr, Mul, Or, Sdiv, Shl, Srem, Udiv, Urem, Xor};
    let all = vec![Mul, Udiv, Urem, Sdiv, Srem, And, Or, Xor, Shl, Lshr, Ashr];
    let any_binary = prop::sample::select(all);
    let comparison = prop::sample::select(vec![BvCompare::Ult, BvCompare::Ule, BvCompare::Slt, BvCompare::Sle]);
    let logic = vec![Op::Not, Op::And, Op::Or, Op::Implies, Op::EqualBool, Op::IteBool, Op::And, Op::Or];
    let sizes = vec![Op::ZeroExtend, Op::SignExtend, Op::Extract, Op::Extract, Op::Concat];
    let mut integers = vec![
        Op::ToInt,
        Op::ToInt,
        Op::ToSignedInt,
        Op::FromInt,
        Op::IntConstant,
        Op::IntAdd,
        Op::IntSub,
        Op::IntScale,
        Op::IntMul,
        Op::IntDiv,
        Op::IntMod,
        Op::IteInt,
        Op::IntLe,
        Op::IntLt,
        Op::IntEqual,
    ];
    let mut linear = vec![Op::Constant, Op::Neg, Op::Complement, Op::Add, Op::Add, Op::Sub, Op::Sub, Op::AddConstant];
    if shape.functions {
        linear.extend([Op::ApplyBits, Op::ApplyBool]);
    }
    if !shape.integers {
        integers = vec![Op::AddConstant];
    }
    prop_oneof![
        4 => prop::sample::select(linear),
        3 => any_binary.clone().prop_map(Op::Binary),
        5 => any_binary.clone().prop_map(Op::BinaryConstant),
        1 => any_binary.clone().prop_map(Op::ConstantBinary),
        2 => any_binary.prop_map(Op::BinarySmall),
        4 => prop::sample::select(sizes),
        2 => Just(Op::IteBits),
        2 => comparison.clone().prop_map(Op::Compare),
        2 => comparison.clone().prop_map(Op::CompareConstant),
        1 => comparison.prop_map(Op::ConstantCompare),
        2 => prop::sample::select(vec![Op::EqualBits, Op::EqualConstant]),
        3 => prop::sample::select(logic),
        4 => prop::sample::select(integers),
    ]
}

fn symbol(shape: Shape) -> impl Strategy<Value = SymbolSpec> {
    (prop::sample::select(shape.widths), 0u32..4, constants(), constants()).prop_map(|(width, kind, a, b)| {
        let (a, b) = (a & mask(width), b & mask(width));
        let range = match kind {
            0 => None,
            1 => Some((a.min(b), a.max(b))),
            2 => Some((0, (a % 32) & mask(width))),
            _ => Some((0, a)),
        };
        SymbolSpec { width, range }
    })
}

/// Random recipes.
pub fn recipes(shape: Shape) -> impl Strategy<Value = Recipe> {
    let width = prop::sample::select(shape.widths);
    let step = (operators(shape), 0u8..8, 0u8..8, 0u8..8, constants(), width)
        .prop_map(|(op, a, b, c, constant, width)| Step { op, a, b, c, constant, width });
    let symbols = prop::collection::vec(symbol(shape), 1..4);
    (symbols, prop::collection::vec(step, 1..shape.steps), any::<u64>()).prop_map(move |(symbols, steps, seed)| {
        Recipe { symbols, steps, seed, widest: shape.widest, complete: shape.complete }
    })
}
