//! Types of operators in annotations: both operands get one type, and numbers take that of what they meet.
//!
//! Input: operands as parsed. Output: a [`Value`], or why there is none. Establishes: the operands of an operator are as
//! wide as each other. Reference: book/src/annotating.md.

use super::{Operator, Value, ValueKind, ValueType};

/// A parsed operand: a value, or a number that takes the type of what it meets.
pub(super) enum Operand {
    Value(Value),
    Number(i128),
}

impl Operand {
    /// As a condition.
    pub(super) fn condition(self) -> Value {
        match self {
            Operand::Value(value) => value.condition(),
            Operand::Number(number) => Value::boolean(number != 0),
        }
    }
}

/// What an operator of the text does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Two conditions to one.
    Logical(Operator),
    /// Equality, negated or not, of numbers or conditions.
    Equality { negated: bool },
    /// An order; `swapped` for `>` and `>=`.
    Order(Operator, bool),
    /// Two numbers to one.
    Arithmetic(Operator),
}

/// Bits of the result of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// Those of the wider operand.
    Wider,
    /// The same, but 64 for products: those of numbers with 32 bits do not wrap.
    WideProducts,
}

/// An operator, as it stands in the text, on two operands.
///
/// # Errors
/// Operands that it does not take.
pub(super) fn combine(
    (text, meaning): (&str, Meaning),
    of: Width,
    left: Operand,
    right: Operand,
) -> Result<Operand, String> {
    let is_condition = |operand: &Operand| matches!(operand, Operand::Value(value) if value.ty == ValueType::Bool);
    let conditions = is_condition(&left) || is_condition(&right);
    let value = match meaning {
        Meaning::Logical(operator) => Value::binary(operator, left.condition(), right.condition()),
        Meaning::Equality { negated } => {
            let equal = if conditions {
                Value::binary(Operator::Equal, left.condition(), right.condition())
            } else {
                numeric(Operator::Equal, Width::Wider, left, right)?
            };
            if negated { equal.negated() } else { equal }
        }
        Meaning::Order(..) if conditions => return Err(format!("`{text}` compares numbers, not predicates")),
        Meaning::Order(operator, true) => numeric(operator, Width::Wider, right, left)?,
        Meaning::Order(operator, false) => numeric(operator, Width::Wider, left, right)?,
        Meaning::Arithmetic(Operator::BitAnd | Operator::BitOr | Operator::BitXor) if conditions => {
            return Err(format!("`{text}` takes numbers; `==` binds tighter, so parentheses may be missing"));
        }
        Meaning::Arithmetic(_) if conditions => return Err(format!("`{text}` takes numbers, not predicates")),
        Meaning::Arithmetic(operator) => match (&left, &right) {
            (Operand::Number(a), Operand::Number(b)) => return constant(operator, *a, *b).map(Operand::Number),
            _ => numeric(operator, of, left, right)?,
        },
    };
    Ok(Operand::Value(value))
}

/// Arithmetic of constants is exact, in 64 bits and a sign.
fn constant(operator: Operator, a: i128, b: i128) -> Result<i128, String> {
    let amount = u32::try_from(b).ok().filter(|amount| *amount < 64);
    let result = match operator {
        Operator::Add => Some(a + b),
        Operator::Subtract => Some(a - b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide | Operator::Remainder if b == 0 => return Err("a constant divided by zero".to_string()),
        Operator::Divide => Some(a / b),
        Operator::Remainder => Some(a % b),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::ShiftLeft => amount.map(|amount| a << amount),
        _ => amount.map(|amount| a >> amount),
    };
    let fits = |n: &i128| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(n);
    result.filter(fits).ok_or_else(|| "this number is too large".to_string())
}

/// An operator on numbers, at the width of the wider one; unsigned if one is.
fn numeric(operator: Operator, of: Width, left: Operand, right: Operand) -> Result<Value, String> {
    let is_shift = matches!(operator, Operator::ShiftLeft | Operator::ShiftRight);
    let type_of = |operand: &Operand| match operand {
        Operand::Value(Value { ty: ValueType::Bits { width, signed }, .. }) => Some((*width, *signed)),
        _ => None,
    };
    let (width, signed) = match (type_of(&left), type_of(&right)) {
        // The sign of an amount says nothing about the value.
        (Some((a, sign)), Some((b, _))) if is_shift => (a.max(b), sign),
        (Some((a, s)), Some((b, t))) => (a.max(b), s && t),
        (Some(ty), None) | (None, Some(ty)) => ty,
        (None, None) => (64, true),
    };
    let width = if operator == Operator::Multiply && of == Width::WideProducts { 64 } else { width };
    let exact = matches!(operator, Operator::Less | Operator::LessEqual);
    let ty = ValueType::Bits { width, signed };
    let typed = |operand: Operand| match operand {
        Operand::Value(value) if value.ty == ty => Ok(value),
        Operand::Value(Value { ty: ValueType::Bits { width: own, .. }, kind }) if own == width => {
            Ok(Value { kind, ty })
        }
        Operand::Value(value) => Ok(Value { kind: ValueKind::Extend(Box::new(value)), ty }),
        Operand::Number(number) => {
            literal(number, width, signed && exact).map(|bits| Value { kind: ValueKind::Constant(bits), ty })
        }
    };
    Ok(Value::binary(operator, typed(left)?, typed(right)?))
}

/// The bits of a number; one that does not fit would silently mean another.
pub(super) fn literal(number: i128, width: u32, signed: bool) -> Result<u64, String> {
    let bits = width - u32::from(signed);
    if number >= -(1i128 << (width - 1)) && number < 1i128 << bits {
        Ok(number as u64 & (u64::MAX >> (64 - width)))
    } else {
        let kind = if signed { "signed number" } else { "number" };
        Err(format!("{number} does not fit a {kind} of {width} bits"))
    }
}
