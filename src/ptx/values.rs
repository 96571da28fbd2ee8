//! Values: names, constants and constant expressions.
//!
//! Input: an expression of the syntax tree.
//! Output: a resolved [`Operand`], not checked against any type yet.
//! Establishes: constant expressions are folded to one 64-bit constant, or a base plus one.
//! Relies on: `scope` for names.
//! Reference: PTX ISA, sections "Constants", "Constant Expressions" and chapter "Special Registers".

use super::ast::{Operand, VariableRef};
use super::context::ModuleSymbol;
use super::operands::Resolver;
use super::scope::Symbol;
use super::syntax::{BinaryOperator, Expression, ExpressionKind};
use super::words::{float, integer, special_register};
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// A constant, or a base plus a constant.
pub(crate) enum Folded {
    /// 64 bits of two's complement.
    Constant(u64),
    /// A register, variable or function, and an offset in bytes.
    Based(Operand, i64),
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> Resolver<'_, '_, 'a> {
    /// Any value operand, without knowledge of its type.
    pub(crate) fn value(&mut self, expression: &Expression<'a>) -> Result<Operand> {
        match &expression.kind {
            ExpressionKind::Sink => Ok(Operand::Sink),
            ExpressionKind::Float(text) => float_literal(text, expression.span),
            ExpressionKind::Negative(inner) if matches!(inner.kind, ExpressionKind::Float(_)) => {
                let Some((bits, width)) = self.value(inner)?.as_float() else {
                    panic!("ptx: a float literal is no float")
                };
                Ok(Operand::float(bits ^ (1 << (width - 1)), width))
            }
            ExpressionKind::Not(inner) => match self.value(inner)? {
                Operand::Register(register) => Ok(Operand::NotPredicate(register)),
                _ => Err(kind_error(inner.span, "a predicate register")),
            },
            ExpressionKind::Vector(elements) => {
                let list: Result<Vec<_>> = elements.iter().map(|element| self.value(element)).collect();
                Ok(Operand::vector(list?))
            }
            ExpressionKind::Address(..) => Err(kind_error(expression.span, "a value, not an address in brackets")),
            _ => match self.fold(expression)? {
                Folded::Constant(value) => Ok(Operand::Integer(value)),
                Folded::Based(Operand::Variable(variable, _), offset) => Ok(Operand::Variable(variable, offset)),
                Folded::Based(base, 0) => Ok(base),
                Folded::Based(..) => Err(kind_error(expression.span, "a register without an offset")),
            },
        }
    }

    /// Evaluates as far as constants go.
    pub(crate) fn fold(&mut self, expression: &Expression<'a>) -> Result<Folded> {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Integer(text) => Ok(Folded::Constant(integer_literal(text, span)?)),
            ExpressionKind::Name(name) => Ok(Folded::Based(self.name(name, span)?, 0)),
            ExpressionKind::Selected(selected) => Ok(match self.selected(selected.0, selected.1, span)? {
                Operand::Integer(value) => Folded::Constant(value),
                other => Folded::Based(other, 0),
            }),
            ExpressionKind::Negative(inner) => Ok(Folded::Constant(self.constant(inner)?.wrapping_neg())),
            ExpressionKind::Complement(inner) => Ok(Folded::Constant(!self.constant(inner)?)),
            ExpressionKind::Parenthesised(list) if list.len() == 1 => self.fold(&list[0]),
            ExpressionKind::Chain(chain) => self.fold_chain(&chain.0, &chain.1, span),
            _ => Err(kind_error(span, "a constant, or a base plus a constant")),
        }
    }

    /// Operators of higher precedence first, equal ones from the left.
    fn fold_chain(
        &mut self,
        first: &Expression<'a>,
        rest: &[(BinaryOperator, Expression<'a>)],
        span: Span,
    ) -> Result<Folded> {
        let error = || kind_error(span, "a constant, or a base plus a constant");
        let mut value = self.fold(first)?;
        let mut waiting: Vec<(Folded, BinaryOperator)> = Vec::new();
        for (operator, operand) in rest {
            while let Some((left, earlier)) = waiting.pop_if(|(_, o)| o.precedence() >= operator.precedence()) {
                value = combine(earlier, left, value).ok_or_else(error)?;
            }
            waiting.push((value, *operator));
            value = self.fold(operand)?;
        }
        while let Some((left, operator)) = waiting.pop() {
            value = combine(operator, left, value).ok_or_else(error)?;
        }
        Ok(value)
    }

    fn constant(&mut self, expression: &Expression<'a>) -> Result<u64> {
        match self.fold(expression)? {
            Folded::Constant(value) => Ok(value),
            Folded::Based(..) => Err(kind_error(expression.span, "a constant")),
        }
    }

    /// A register, variable, function or special register.
    pub(crate) fn name(&mut self, name: &'a str, span: Span) -> Result<Operand> {
        match self.scopes.symbol(name) {
            Some(Symbol::Register(register)) => return Ok(Operand::Register(register)),
            Some(Symbol::Variable(variable)) => return Ok(Operand::Variable(variable, 0)),
            Some(Symbol::Vector(ids)) => {
                return Ok(Operand::vector(ids.into_iter().map(Operand::Register).collect()));
            }
            None => {}
        }
        match self.module.names.get(name) {
            Some(ModuleSymbol::Variable(index)) => Ok(Operand::Variable(VariableRef::Module(*index), 0)),
            Some(ModuleSymbol::Function(index)) => Ok(Operand::Function(*index)),
            None => special_register(name, "").ok_or_else(|| undefined("name", name, span)),
        }
    }

    /// `%tid.x`, or an element of a vector register.
    fn selected(&mut self, name: &'a str, selector: &'a str, span: Span) -> Result<Operand> {
        if let Some(special) = special_register(name, selector) {
            return Ok(special);
        }
        let Some(symbol) = self.scopes.symbol(name) else {
            return Err(undefined("name", name, span));
        };
        let position = match selector {
            ".x" | ".r" => 0,
            ".y" | ".g" => 1,
            ".z" | ".b" => 2,
            ".w" | ".a" => 3,
            _ => usize::MAX,
        };
        match symbol {
            Symbol::Vector(ids) if position < ids.len() => Ok(Operand::Register(ids[position])),
            _ => Err(kind_error(span, "a name without this selector")),
        }
    }
}

/// Constants with constants, and a base plus or minus a constant.
fn combine(operator: BinaryOperator, a: Folded, b: Folded) -> Option<Folded> {
    use BinaryOperator::{Add, Subtract};
    Some(match (operator, a, b) {
        (_, Folded::Constant(a), Folded::Constant(b)) => Folded::Constant(combine_constants(operator, a, b)?),
        (Add, Folded::Based(base, offset), Folded::Constant(c))
        | (Add, Folded::Constant(c), Folded::Based(base, offset)) => Folded::Based(base, offset.wrapping_add(c as i64)),
        (Subtract, Folded::Based(base, offset), Folded::Constant(c)) => {
            Folded::Based(base, offset.wrapping_sub(c as i64))
        }
        _ => return None,
    })
}

/// Arithmetic of 64 bits. Whether a constant is signed is not tracked, so division and right
/// shifts of values for which it matters are left out.
fn combine_constants(operator: BinaryOperator, a: u64, b: u64) -> Option<u64> {
    let signless = (a | b) >> 63 == 0;
    match operator {
        BinaryOperator::Add => Some(a.wrapping_add(b)),
        BinaryOperator::Subtract => Some(a.wrapping_sub(b)),
        BinaryOperator::Multiply => Some(a.wrapping_mul(b)),
        BinaryOperator::Divide => a.checked_div(b).filter(|_| signless),
        BinaryOperator::ShiftLeft => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
        BinaryOperator::ShiftRight => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).filter(|_| signless),
        BinaryOperator::And => Some(a & b),
        BinaryOperator::Xor => Some(a ^ b),
        BinaryOperator::Or => Some(a | b),
    }
}

fn float_literal(text: &str, span: Span) -> Result<Operand> {
    match float(text) {
        Some((bits, width)) => Ok(Operand::float(bits, width)),
        None => Err(Diagnostic::error("ptx-syntax", format!("`{text}` is no number"), span)),
    }
}

/// An integer literal's value, or an error.
pub(crate) fn integer_literal(text: &str, span: Span) -> Result<u64> {
    let error = || Diagnostic::error("ptx-syntax", format!("`{text}` is no 64-bit integer"), span);
    integer(text).ok_or_else(error)
}

/// The error for an operand of the wrong kind.
pub(crate) fn kind_error(span: Span, wanted: &str) -> Diagnostic {
    Diagnostic::error("operand-kind", format!("expected {wanted}"), span)
}

/// The error for a name that nothing declares.
pub(crate) fn undefined(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("undefined-name", format!("undefined {what} `{name}`"), span)
}
