//! Annotations: facts about a kernel that its author states, as a typed expression.
//!
//! Output of [`statement()`]: a [`Value`] in which every operand is as wide as its operator and every implicit step
//! (extension, "is not 0") is written out. The verifier and the emulator give it one meaning: arithmetic wraps
//! in two's complement; `x / 0` has all bits set and `x % 0` is x; a shift by the width or more leaves no bit
//! of the value (of a signed one to the right, its sign).
//! Reference: book/src/annotating.md.

pub(crate) mod arrays;
mod parse;
pub(crate) mod sidecar;
mod typing;

pub(crate) use parse::{Names, Statement, statement};

use super::ast::{Function, RegisterId, ScalarType, SpecialRegister, VariableRef};
use crate::geometry::Axis;
use crate::span::Origin;
use std::sync::Arc;

/// The scalar parameter of a kernel that a name means.
///
/// # Errors
/// Why there is none.
pub(crate) fn scalar_parameter(entry: Option<&Function>, name: &str) -> Result<(u32, ScalarType), String> {
    let Some(entry) = entry else { return Err("parameters have names in kernels only".to_string()) };
    let Some(index) = entry.parameter(name) else {
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
pub(crate) enum AnnotationKind {
    /// Holds in every launch.
    Requires,
    /// Holds whenever a thread comes here.
    Assume,
    /// To be proved here.
    Assert,
    /// To be proved in every round of the loop around.
    Invariant,
    /// To be proved by each thread in front of the barrier that follows, of what memory holds there; behind it, each
    /// thread uses it of the threads that it lists.
    BarrierInvariant,
}

impl AnnotationKind {
    /// All kinds.
    pub(crate) const ALL: [AnnotationKind; 5] = [
        AnnotationKind::Requires,
        AnnotationKind::Assume,
        AnnotationKind::Assert,
        AnnotationKind::Invariant,
        AnnotationKind::BarrierInvariant,
    ];

    /// The word in the text.
    pub(crate) fn name(self) -> &'static str {
        match self {
            AnnotationKind::Requires => "requires",
            AnnotationKind::Assume => "assume",
            AnnotationKind::Assert => "assert",
            AnnotationKind::Invariant => "invariant",
            AnnotationKind::BarrierInvariant => "barrier_invariant",
        }
    }

    /// The kind of that name.
    pub(crate) fn of(name: &str) -> Option<AnnotationKind> {
        AnnotationKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// All names, for messages.
    pub(crate) fn names() -> String {
        AnnotationKind::ALL.map(AnnotationKind::name).join(", ")
    }
}

/// An annotation of a function body (DESIGN section 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// What it asks for.
    pub(crate) kind: AnnotationKind,
    /// The fact: a value of type [`ValueType::Bool`].
    pub(crate) expression: Value,
    /// Numbers (`%tid.x`) of the threads of which a barrier invariant is used; empty for other kinds.
    pub(crate) threads: Vec<Value>,
    /// The fact as written, with what follows it.
    pub(crate) text: Arc<str>,
    /// Where it stands; `.loc` gives the position, or the file that the annotation was read from.
    pub origin: Arc<Origin>,
}

impl Annotation {
    /// All its expressions.
    fn values(&self) -> impl Iterator<Item = &Value> {
        std::iter::once(&self.expression).chain(&self.threads)
    }

    /// The registers that occur.
    pub(crate) fn registers(&self) -> Vec<RegisterId> {
        let mut found: Vec<RegisterId> = self.values().flat_map(Value::registers).collect();
        found.sort();
        found.dedup();
        found
    }

    /// The scalar parameters that occur, with their widths in bytes.
    pub(crate) fn parameters(&self) -> Vec<(u32, u32)> {
        self.values().flat_map(Value::parameters).collect()
    }

    /// The arrays that are loaded from.
    pub(crate) fn arrays(&self) -> Vec<ArrayRef> {
        self.values().flat_map(Value::arrays).collect()
    }

    /// The same in another body, with its registers and variables.
    #[must_use]
    pub(crate) fn renamed(
        &self,
        register: &dyn Fn(RegisterId) -> RegisterId,
        variable: &dyn Fn(VariableRef) -> VariableRef,
    ) -> Annotation {
        let renamed = |value: &Value| value.renamed(register, variable);
        let threads = self.threads.iter().map(renamed).collect();
        Annotation { expression: renamed(&self.expression), threads, ..self.clone() }
    }
}

/// What is stated of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ArrayFact {
    /// No two are equal; the kernel only reads the array.
    Distinct,
    /// None is less than one before it; the kernel only reads the array.
    Sorted,
    /// When the kernel starts, all have this value, or the one at a byte offset.
    Initially {
        /// The value.
        bits: u64,
        /// The byte offset.
        at: Option<u64>,
    },
    /// When the kernel starts, the variable holds what its initialiser says.
    Initialised,
}

impl ArrayFact {
    /// Whether it is about the start of the kernel alone, so that the kernel may write the array.
    pub(crate) fn is_about_start(self) -> bool {
        matches!(self, ArrayFact::Initially { .. } | ArrayFact::Initialised)
    }
}

/// An array that an annotation loads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ArrayRef {
    /// A variable in `.shared`, `.global` or `.const`.
    Variable(VariableRef),
    /// What a pointer parameter of the entry, by its index, points to.
    Pointee(u32),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
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
    /// Bytes of an element of this type.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            ValueType::Bool => 1,
            ValueType::Bits { width, .. } => u64::from(width / 8),
        }
    }

    /// What a PTX type is here. `.b` counts as signed: it is what C's `int` becomes. `None` for floats and what
    /// is wider than 64 bits.
    pub(crate) fn of(ty: ScalarType) -> Option<ValueType> {
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
pub(crate) struct Value {
    /// What it is.
    pub(crate) kind: ValueKind,
    /// Its type.
    pub(crate) ty: ValueType,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueKind {
    /// The lowest bits of a number; 0 and 1 for false and true.
    Constant(u64),
    /// A register of the body; predicates are of type `Bool`.
    Register(RegisterId),
    /// A scalar parameter of the entry, by its index.
    Parameter(u32),
    /// A register of the launch.
    Special(SpecialRegister),
    /// What an array holds from this byte offset on.
    Load(ArrayRef, Box<Value>),
    /// A fact about the elements of this type, from where the array starts; it is a whole `requires`. That a variable is
    /// initialised is one about its bytes.
    Entries(ArrayFact, ArrayRef, ValueType),
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
pub(crate) enum Operator {
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
    /// `%tid.x`
    pub(crate) fn thread() -> Value {
        let ty = ValueType::Bits { width: 32, signed: false };
        Value { kind: ValueKind::Special(SpecialRegister::Tid(Axis::X)), ty }
    }

    /// True or false.
    pub(crate) fn boolean(value: bool) -> Value {
        Value { kind: ValueKind::Constant(u64::from(value)), ty: ValueType::Bool }
    }

    /// "The register is not 0"; `None` for floats and what is wider than 64 bits.
    pub(crate) fn is_not_zero(register: RegisterId, ty: ScalarType) -> Option<Value> {
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
    pub(crate) fn mapped(&self, leaf: &mut dyn FnMut(&ValueKind) -> ValueKind) -> Value {
        let mut boxed = |value: &Value| Box::new(value.mapped(leaf));
        let kind = match &self.kind {
            ValueKind::Load(array, offset) => ValueKind::Load(*array, boxed(offset)),
            ValueKind::Extend(a) => ValueKind::Extend(boxed(a)),
            ValueKind::Not(a) => ValueKind::Not(boxed(a)),
            ValueKind::Binary(operator, a, b) => ValueKind::Binary(*operator, boxed(a), boxed(b)),
            own => leaf(own),
        };
        Value { kind, ty: self.ty }
    }

    /// The same with other registers and variables.
    fn renamed(
        &self,
        register: &dyn Fn(RegisterId) -> RegisterId,
        variable: &dyn Fn(VariableRef) -> VariableRef,
    ) -> Value {
        let renamed = self.mapped(&mut |leaf| match leaf {
            ValueKind::Register(old) => ValueKind::Register(register(*old)),
            other => other.clone(),
        });
        renamed.with_arrays(&|array| match array {
            ArrayRef::Variable(old) => ArrayRef::Variable(variable(old)),
            ArrayRef::Pointee(_) => array,
        })
    }

    fn with_arrays(self, array: &dyn Fn(ArrayRef) -> ArrayRef) -> Value {
        let boxed = |value: Box<Value>| Box::new(value.with_arrays(array));
        let kind = match self.kind {
            ValueKind::Load(old, offset) => ValueKind::Load(array(old), boxed(offset)),
            ValueKind::Entries(fact, old, element) => ValueKind::Entries(fact, array(old), element),
            ValueKind::Extend(a) => ValueKind::Extend(boxed(a)),
            ValueKind::Not(a) => ValueKind::Not(boxed(a)),
            ValueKind::Binary(operator, a, b) => ValueKind::Binary(operator, boxed(a), boxed(b)),
            own => own,
        };
        Value { kind, ty: self.ty }
    }

    pub(crate) fn operands(&self) -> impl Iterator<Item = &Value> {
        let (first, second) = match &self.kind {
            ValueKind::Load(_, a) | ValueKind::Extend(a) | ValueKind::Not(a) => (Some(a), None),
            ValueKind::Binary(_, a, b) => (Some(a), Some(b)),
            _ => (None, None),
        };
        first.into_iter().chain(second).map(|operand| &**operand)
    }

    /// The arrays that are loaded from.
    pub(crate) fn arrays(&self) -> Vec<ArrayRef> {
        let own = match self.kind {
            ValueKind::Load(array, _) | ValueKind::Entries(_, array, _) => Some(array),
            _ => None,
        };
        own.into_iter().chain(self.operands().flat_map(Value::arrays)).collect()
    }

    /// Calls `see` with every operand that has none itself.
    pub(crate) fn leaves<'v>(&'v self, see: &mut dyn FnMut(&'v ValueKind)) {
        let mut operands = self.operands().peekable();
        if operands.peek().is_none() {
            see(&self.kind);
        }
        operands.for_each(|operand| operand.leaves(see));
    }

    /// The registers that occur.
    pub(crate) fn registers(&self) -> Vec<RegisterId> {
        let mut found = Vec::new();
        self.leaves(&mut |leaf| match leaf {
            ValueKind::Register(register) if !found.contains(register) => found.push(*register),
            _ => {}
        });
        found
    }

    /// The scalar parameters that occur, with their widths in bytes.
    fn parameters(&self) -> Vec<(u32, u32)> {
        match (&self.kind, self.ty) {
            (ValueKind::Parameter(index), ValueType::Bits { width, .. }) => vec![(*index, width / 8)],
            _ => self.operands().flat_map(Value::parameters).collect(),
        }
    }

    /// The value, where `known` has the bits of the rest; `None` if the result needs some that it does not have.
    pub(crate) fn evaluate(&self, known: &dyn Known) -> Option<u64> {
        let bits = match &self.kind {
            ValueKind::Constant(bits) => *bits,
            ValueKind::Load(array, offset) => {
                let ValueType::Bits { width, .. } = self.ty else { return None };
                known.load(*array, offset.extended(offset.evaluate(known)?) as u64, width / 8)?
            }
            // An execution is excluded where it loads what contradicts the fact.
            ValueKind::Entries(..) => 1,
            ValueKind::Extend(a) => a.extended(a.evaluate(known)?) as u64,
            ValueKind::Not(a) => u64::from(a.evaluate(known)? == 0),
            ValueKind::Binary(operator, a, b) => {
                let x = a.evaluate(known)?;
                match (operator, x) {
                    (Operator::And, 0) => 0,
                    (Operator::Or, 1) | (Operator::Implies, 0) => 1,
                    _ => operator.apply(a.ty, a.extended(x), a.extended(b.evaluate(known)?)),
                }
            }
            kind => known.leaf(kind),
        };
        Some(bits & mask(self.ty))
    }

    /// Bits of this type as the number that they mean.
    fn extended(&self, bits: u64) -> i128 {
        match self.ty {
            ValueType::Bits { width, signed: true } => i128::from((bits << (64 - width)) as i64 >> (64 - width)),
            _ => i128::from(bits),
        }
    }
}

/// What an evaluation knows.
pub(crate) trait Known {
    /// The bits of a register, parameter or launch register.
    fn leaf(&self, leaf: &ValueKind) -> u64;

    /// The bytes of an array from an offset on, if there are that many.
    fn load(&self, array: ArrayRef, offset: u64, bytes: u32) -> Option<u64>;
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
mod tests;
