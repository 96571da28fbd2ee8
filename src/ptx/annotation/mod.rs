//! Annotations: facts about a kernel that its author states, as a typed expression.
//!
//! Output of [`parse()`]: a [`Value`] in which every operand is as wide as its operator and every implicit step
//! (extension, "is not 0") is written out. The verifier and the emulator give it one meaning: arithmetic wraps
//! in two's complement; `x / 0` has all bits set and `x % 0` is x; a shift by the width or more leaves no bit
//! of the value (of a signed one to the right, its sign).
//! Reference: README, "Annotations".

mod parse;
pub mod sidecar;

pub use parse::{Mistake, Names, parse, statement};

use super::ast::{RegisterId, ScalarType, SpecialRegister};
use crate::span::Origin;
use std::sync::Arc;

use super::ast::Function;

/// The scalar parameter of a kernel that a name means.
///
/// # Errors
/// Why there is none.
pub fn scalar_parameter(entry: Option<&Function>, name: &str) -> Result<(u32, ScalarType), String> {
    let Some(entry) = entry else { return Err("parameters have names in kernels only".to_string()) };
    let Some(index) = entry.params.iter().position(|parameter| *parameter.name == *name) else {
        let known: Vec<String> = entry.params.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
        return Err(format!("`{}` has no parameter `{name}`; it has {}", entry.name, known.join(", ")));
    };
    let parameter = &entry.params[index];
    if parameter.size != Some(u64::from(parameter.ty.bytes())) {
        return Err(format!("`{name}` is no scalar"));
    }
    Ok((index as u32, parameter.ty))
}

/// What an annotation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnotationKind {
    /// Holds in every launch.
    Requires,
    /// Holds whenever a thread comes here.
    Assume,
    /// To be proved here.
    Assert,
    /// To be proved in every round of the loop around.
    Invariant,
    /// Of what a barrier separates. It has no meaning yet.
    BarrierInvariant,
}

impl AnnotationKind {
    /// All kinds.
    pub const ALL: [AnnotationKind; 5] = [
        AnnotationKind::Requires,
        AnnotationKind::Assume,
        AnnotationKind::Assert,
        AnnotationKind::Invariant,
        AnnotationKind::BarrierInvariant,
    ];

    /// The word in the text.
    pub fn name(self) -> &'static str {
        match self {
            AnnotationKind::Requires => "requires",
            AnnotationKind::Assume => "assume",
            AnnotationKind::Assert => "assert",
            AnnotationKind::Invariant => "invariant",
            AnnotationKind::BarrierInvariant => "barrier_invariant",
        }
    }

    /// The kind of that name.
    pub fn of(name: &str) -> Option<AnnotationKind> {
        AnnotationKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        AnnotationKind::ALL.map(AnnotationKind::name).join(", ")
    }
}

/// An annotation of a function body (DESIGN section 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// What it asks for.
    pub kind: AnnotationKind,
    /// The fact: a value of type [`ValueType::Bool`].
    pub expression: Value,
    /// The fact as written.
    pub text: Arc<str>,
    /// Where it stands; `.loc` gives the position, or the file that the annotation was read from.
    pub origin: Arc<Origin>,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// True or false.
    Bool,
    /// A number.
    Bits {
        /// Width in bits, 1 to 64.
        width: u32,
        /// Whether comparison, division and shift to the right look at the sign.
        signed: bool,
    },
}

impl ValueType {
    /// What a PTX type is here. `.b` counts as signed: it is what C's `int` becomes. `None` for floats and what
    /// is wider than 64 bits.
    pub fn of(ty: ScalarType) -> Option<ValueType> {
        match ty {
            ScalarType::Pred => Some(ValueType::Bool),
            ScalarType::B(width @ 1..=64) | ScalarType::S(width @ 1..=64) => {
                Some(ValueType::Bits { width, signed: true })
            }
            ScalarType::U(width @ 1..=64) => Some(ValueType::Bits { width, signed: false }),
            _ => None,
        }
    }
}

/// A typed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Its type.
    pub ty: ValueType,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// The lowest bits of a number; 0 and 1 for false and true.
    Constant(u64),
    /// A register of the body; predicates are of type `Bool`.
    Register(RegisterId),
    /// A scalar parameter of the entry, by its index.
    Parameter(u32),
    /// A register of the launch.
    Special(SpecialRegister),
    /// The operand at this greater width, extended as its own sign says.
    Extend(Box<Value>),
    /// `!`, of a `Bool`.
    Not(Box<Value>),
    /// An operator on two operands.
    Binary(Operator, Box<Value>, Box<Value>),
}

/// Operators on two operands of one type. The result is `Bool` from [`Operator::Implies`] on, else of that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    /// The operands are `Bool` from here to `And`.
    Implies,
    Or,
    And,
    /// Numbers or `Bool`.
    Equal,
    Less,
    LessEqual,
}

impl Value {
    /// True or false.
    pub fn boolean(value: bool) -> Value {
        Value { kind: ValueKind::Constant(u64::from(value)), ty: ValueType::Bool }
    }

    /// "The register is not 0"; `None` for floats and what is wider than 64 bits.
    pub fn is_not_zero(register: RegisterId, ty: ScalarType) -> Option<Value> {
        Some(Value { kind: ValueKind::Register(register), ty: ValueType::of(ty)? }.condition())
    }

    /// As a condition: a number means that it is not 0.
    fn condition(self) -> Value {
        if self.ty == ValueType::Bool {
            return self;
        }
        let zero = Value { kind: ValueKind::Constant(0), ty: self.ty };
        Value::binary(Operator::Equal, self, zero).negated()
    }

    fn negated(self) -> Value {
        Value { kind: ValueKind::Not(Box::new(self)), ty: ValueType::Bool }
    }

    fn binary(operator: Operator, left: Value, right: Value) -> Value {
        let ty = if operator >= Operator::Implies { ValueType::Bool } else { left.ty };
        Value { kind: ValueKind::Binary(operator, Box::new(left), Box::new(right)), ty }
    }

    /// The same with other operands in the place of those that have none themselves.
    pub fn mapped(&self, leaf: &mut dyn FnMut(&ValueKind) -> ValueKind) -> Value {
        let mut boxed = |value: &Value| Box::new(value.mapped(leaf));
        let kind = match &self.kind {
            ValueKind::Extend(a) => ValueKind::Extend(boxed(a)),
            ValueKind::Not(a) => ValueKind::Not(boxed(a)),
            ValueKind::Binary(operator, a, b) => ValueKind::Binary(*operator, boxed(a), boxed(b)),
            own => leaf(own),
        };
        Value { kind, ty: self.ty }
    }

    /// The same with other registers.
    pub fn renamed(&self, register: &dyn Fn(RegisterId) -> RegisterId) -> Value {
        self.mapped(&mut |leaf| match leaf {
            ValueKind::Register(old) => ValueKind::Register(register(*old)),
            other => other.clone(),
        })
    }

    /// Calls `see` with every operand that has none itself.
    pub fn leaves<'v>(&'v self, see: &mut dyn FnMut(&'v ValueKind)) {
        match &self.kind {
            ValueKind::Extend(a) | ValueKind::Not(a) => a.leaves(see),
            ValueKind::Binary(_, a, b) => {
                a.leaves(see);
                b.leaves(see);
            }
            leaf => see(leaf),
        }
    }

    /// The registers that occur.
    pub fn registers(&self) -> Vec<RegisterId> {
        let mut found = Vec::new();
        self.leaves(&mut |leaf| match leaf {
            ValueKind::Register(register) if !found.contains(register) => found.push(*register),
            _ => {}
        });
        found
    }

    /// The parameters that occur, with their widths in bytes.
    pub fn parameters(&self) -> Vec<(u32, u32)> {
        match (&self.kind, self.ty) {
            (ValueKind::Parameter(index), ValueType::Bits { width, .. }) => vec![(*index, width / 8)],
            (ValueKind::Extend(a) | ValueKind::Not(a), _) => a.parameters(),
            (ValueKind::Binary(_, a, b), _) => [a.parameters(), b.parameters()].concat(),
            _ => Vec::new(),
        }
    }

    /// The value, where `leaf` knows the bits of registers, parameters and launch registers.
    pub fn evaluate(&self, leaf: &dyn Fn(&ValueKind) -> u64) -> u64 {
        let bits = match &self.kind {
            ValueKind::Constant(bits) => *bits,
            ValueKind::Extend(a) => a.extended(a.evaluate(leaf)) as u64,
            ValueKind::Not(a) => u64::from(a.evaluate(leaf) == 0),
            ValueKind::Binary(operator, a, b) => {
                let (x, y) = (a.evaluate(leaf), b.evaluate(leaf));
                operator.apply(a.ty, a.extended(x), a.extended(y))
            }
            kind => leaf(kind),
        };
        bits & mask(self.ty)
    }

    /// Bits of this type as the number that they mean.
    fn extended(&self, bits: u64) -> i128 {
        match self.ty {
            ValueType::Bits { width, signed: true } => i128::from((bits << (64 - width)) as i64 >> (64 - width)),
            _ => i128::from(bits),
        }
    }
}

fn mask(ty: ValueType) -> u64 {
    match ty {
        ValueType::Bool => 1,
        ValueType::Bits { width, .. } => u64::MAX >> (64 - width),
    }
}

impl Operator {
    /// The result for two numbers of a type; higher bits than its width are left to be cut off.
    fn apply(self, ty: ValueType, x: i128, y: i128) -> u64 {
        let width = match ty {
            ValueType::Bool => 1,
            ValueType::Bits { width, .. } => width,
        };
        // An amount is an unsigned number.
        let amount = (y as u64) & mask(ty);
        let beyond = amount >= u64::from(width);
        let number = match self {
            Operator::Add => x + y,
            Operator::Subtract => x - y,
            Operator::Multiply => x.wrapping_mul(y),
            Operator::Divide => x.checked_div(y).unwrap_or(-1),
            Operator::Remainder => x.checked_rem(y).unwrap_or(x),
            Operator::BitAnd => x & y,
            Operator::BitOr => x | y,
            Operator::BitXor => x ^ y,
            Operator::ShiftLeft if beyond => 0,
            Operator::ShiftLeft => x << amount,
            Operator::ShiftRight => x >> amount.min(64),
            Operator::Implies => i128::from(x == 0 || y != 0),
            Operator::Or => i128::from(x != 0 || y != 0),
            Operator::And => i128::from(x != 0 && y != 0),
            Operator::Equal => i128::from(x == y),
            Operator::Less => i128::from(x < y),
            Operator::LessEqual => i128::from(x <= y),
        };
        number as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `%a`, `%b`: signed of 32 bits; `%h`: of 16; `%u`: unsigned of 32; `%d`: of 64; `%p`: a predicate.
    struct Few;

    impl Names<'_> for Few {
        fn register(&mut self, name: &str) -> Option<(RegisterId, ScalarType)> {
            let all = [
                ("%a", ScalarType::B(32)),
                ("%b", ScalarType::S(32)),
                ("%h", ScalarType::B(16)),
                ("%u", ScalarType::U(32)),
                ("%d", ScalarType::B(64)),
                ("%p", ScalarType::Pred),
                ("%f", ScalarType::F(32)),
            ];
            let index = all.iter().position(|one| one.0 == name)?;
            Some((RegisterId(index as u32), all[index].1))
        }

        fn parameter(&mut self, name: &str) -> Result<(u32, ScalarType), String> {
            if name == "n" { Ok((0, ScalarType::U(32))) } else { Err(format!("no parameter `{name}`")) }
        }
    }

    fn value(text: &str) -> Result<bool, String> {
        let leaf = |kind: &ValueKind| match kind {
            ValueKind::Register(RegisterId(0)) => 0xffff_fffe, // %a = -2
            ValueKind::Register(RegisterId(1)) => 7,
            ValueKind::Register(RegisterId(2)) => 0xffff, // %h = -1
            ValueKind::Register(RegisterId(3)) => 0xffff_ffff,
            ValueKind::Register(RegisterId(4)) => 1 << 40,
            ValueKind::Register(RegisterId(5)) => 1,
            ValueKind::Parameter(0) => 3_000_000_000,
            _ => 5,
        };
        let parsed = parse(text, &mut Few).map_err(|mistake| mistake.message)?;
        assert_eq!(parsed.ty, ValueType::Bool);
        Ok(parsed.evaluate(&leaf) == 1)
    }

    #[test]
    fn operators_bind_as_in_c() {
        for text in [
            "%b + 2 * 3 == 13 && (%b + 2) * 3 == 27",
            "%b - 2 - 1 == 4 && %b << 1 + 1 == 28",
            "1 + 1 == 2 && 0x10 == 16 && -1 < 0 && 7u == 7",
            "false ==> true ==> false",
            "!(true ==> false) && !!%p && %p == true",
            "-%b == -7 && ~%b == -8 && %b % 4 == 3 && -%b % 4 == -3 && -%b / 2 == -3",
            "(%b & 6) == 6 && (%b ^ 1) == 6 && (%b | 8) == 15 && %b%4 == 3",
            "%tid.x == 5 && %nctaid.z >= 5 && [n] == 3000000000",
            "%b && !(%b - 7)",
        ] {
            assert_eq!(value(text), Ok(true), "{text}");
        }
    }

    #[test]
    fn arithmetic_wraps_at_the_width_of_the_widest_operand() {
        for text in [
            "%a + 3 == 1 && %u + 1 == 0",
            "%a * 1073741824 == -2147483648",
            "%a < 0 && %a + %u < 5 == false",
            // One unsigned operand makes it unsigned; each is extended as its own type says.
            "%a > %tid.x && %h + 0 == -1 && %h == %a + 1 && %u + %d == 0x100ffffffff",
            "%h + 1 == 0 && %d * %d == 0",
            "%d > %u && %d << 24 == 0 && %a >> 1 == -1 && %u >> 31 == 1 && %a >> 40 == -1 && %a << 32 == 0",
            "%a / 0 == -1 && %a % 0 == %a && %u / (%b - 7) == 0xffffffff",
            "%b << (0 - 1) == 0",
        ] {
            assert_eq!(value(text), Ok(true), "{text}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (text, message) in [
            ("%r9 == 1", "`%r9` is no register of this function"),
            ("%b = 1", "unexpected `=`"),
            ("%b <", "the expression ends early"),
            ("(%b", "`)` is missing"),
            ("%b < 3000000000", "3000000000 does not fit a signed number of 32 bits"),
            ("%b == 5000000000", "5000000000 does not fit a number of 32 bits"),
            ("%p < 1", "`<` compares numbers, not predicates"),
            ("1 < 2 < 3", "`<` compares numbers, not predicates"),
            ("%a & %b == 3", "`&` takes numbers; `==` binds tighter, so parentheses may be missing"),
            ("%p + 1", "`+` takes numbers, not predicates"),
            ("-%p", "`-` takes a number, not a predicate"),
            ("%f < 1", "`%f` holds a floating-point number, which annotations cannot speak about"),
            ("[m] == 1", "no parameter `m`"),
            ("18446744073709551615 + 1 == 0", "this number is too large"),
            ("%b 5", "unexpected `5`"),
            ("%b @ 5", "unexpected `@`"),
            ("1 / 0 == 1", "a constant divided by zero"),
        ] {
            assert_eq!(value(text), Err(message.to_string()), "{text}");
        }
        let deep = format!("{}1", "(".repeat(5000));
        assert_eq!(value(&deep), Err("the expression is too large".to_string()));
        let long = format!("1{}", " + %b".repeat(5000));
        assert_eq!(value(&long), Err("the expression is too large".to_string()));
    }
}
