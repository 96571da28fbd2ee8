//! Operands of several registers, of parts of registers, and of addresses with coordinates.
//!
//! Input, output, relies on: as `operands`, of which this is the part for the slots in braces.
//! Establishes: the number of registers in braces is the one of the form.
//! Reference: PTX ISA, "Vectors as Operands"; the video, texture and matrix instructions.

use super::ast::*;
use super::fragment::{fragment, times};
use super::operands::{Operands, Resolver, slot_type};
use super::pattern::{Count, OperandSlot, Width};
use super::syntax::{Expression, ExpressionKind};
use super::table::Selected;
use super::values::kind_error;
use super::words::special_register;
use crate::diagnostic::Diagnostic;
use crate::span::Span;

type Result<T> = std::result::Result<T, Diagnostic>;

/// The elements of a vector.
const SELECTORS: [&str; 4] = [".x", ".y", ".z", ".w"];

impl<'a> Resolver<'_, '_, 'a> {
    /// Registers in braces, behind which `|p` may stand.
    pub(crate) fn registers(
        &mut self,
        selected: &Selected,
        (count, ty): (Count, Option<Width>),
        (written, predicate): (bool, bool),
        expression: &Expression<'a>,
        out: &mut Operands,
    ) -> Result<()> {
        let (list, second) = match expression.pair() {
            Some((list, second)) if predicate => (list, Some(second)),
            _ => (expression, None),
        };
        let (wanted, ty, relaxed) = match (count, ty.map(|ty| slot_type(selected, ty))) {
            (Count::Fragment(matrix), _) => {
                let (count, ty) = fragment(selected, matrix);
                (Some(count), ty, false)
            }
            (_, None) => panic!("ptx: the instruction table has registers without a type"),
            (Count::Any, Some((ty, relaxed))) => (None, ty, relaxed),
            (Count::Exactly(count), Some((ty, relaxed))) => (Some(count), ty, relaxed),
            (Count::Vector, Some((ty, relaxed))) => (Some(selected.elements()), ty, relaxed),
            (Count::Times, Some((ty, relaxed))) => (Some(times(selected)), ty, relaxed),
        };
        let bare = !matches!(list.kind, ExpressionKind::Vector(_)) && self.some_elements(list).len() == 1;
        if bare && !matches!(count, Count::Any | Count::Vector) {
            return Err(kind_error(list.span, "registers in braces"));
        }
        let elements = match wanted {
            Some(wanted) => self.elements(list, wanted)?,
            None => self.some_elements(list),
        };
        for element in &elements {
            match written {
                true => out.destinations.push(self.destination(element, ty, relaxed)?),
                false => out.sources.push(self.source(element, ty, relaxed)?),
            }
        }
        if let Some(second) = second {
            out.destinations.push(self.destination(second, ScalarType::Pred, false)?);
        }
        Ok(())
    }

    /// The elements of a vector operand; a single value may stand in braces or not.
    pub(crate) fn elements(&mut self, expression: &Expression<'a>, count: u32) -> Result<Vec<Expression<'a>>> {
        let elements = match &expression.kind {
            ExpressionKind::Vector(elements) => elements.clone(),
            ExpressionKind::Name(name) if count > 1 => match special_register(name, SELECTORS[3]) {
                // `%tid` and the like are vectors of four.
                Some(_) => selected(name, SELECTORS.len(), expression.span),
                None => self.vector_register(name, expression.span),
            },
            _ => vec![expression.clone()],
        };
        if elements.len() == count as usize {
            return Ok(elements);
        }
        let plural = if elements.len() == 1 { "" } else { "s" };
        let message = format!("this vector has {} element{plural}, but the instruction has {count}", elements.len());
        Err(Diagnostic::error("operand-count", message, expression.span))
    }

    fn some_elements(&mut self, expression: &Expression<'a>) -> Vec<Expression<'a>> {
        match &expression.kind {
            ExpressionKind::Vector(elements) => elements.clone(),
            ExpressionKind::Name(name) => self.vector_register(name, expression.span),
            _ => vec![expression.clone()],
        }
    }

    /// `v` of a `.v4` register as `{v.x, v.y, v.z, v.w}`.
    fn vector_register(&mut self, name: &'a str, span: Span) -> Vec<Expression<'a>> {
        let count = match self.scopes.symbol(name) {
            Some(super::scope::Symbol::Vector(ids)) => ids.len(),
            _ => return vec![Expression { kind: ExpressionKind::Name(name), span }],
        };
        selected(name, count, span)
    }

    /// A 32-bit register, or parts of it; a part that is written counts as the whole register.
    pub(crate) fn part(
        &mut self,
        written: bool,
        negated: bool,
        expression: &Expression<'a>,
        out: &mut Operands,
    ) -> Result<()> {
        let whole = match &expression.kind {
            ExpressionKind::Negative(inner) if negated => return self.part(written, false, inner, out),
            ExpressionKind::Selected(selected) if is_part(selected.1) => {
                Expression { kind: ExpressionKind::Name(selected.0), span: expression.span }
            }
            _ => expression.clone(),
        };
        match written {
            true => out.destinations.push(self.destination(&whole, ScalarType::B(32), false)?),
            false => out.sources.push(self.source(&whole, ScalarType::B(32), false)?),
        }
        Ok(())
    }

    /// `[tensor, {x, y}]`, `[texture, sampler, {x}]`: the first component is the address.
    pub(crate) fn coordinates(&mut self, expression: &Expression<'a>, out: &mut Operands) -> Result<()> {
        let ExpressionKind::Address(list, None) = &expression.kind else {
            return Err(kind_error(expression.span, "an address with coordinates in brackets"));
        };
        let [first, rest @ ..] = list.as_slice() else {
            return Err(kind_error(expression.span, "an address with coordinates in brackets"));
        };
        if rest.is_empty() {
            return Err(kind_error(first.span, "coordinates behind the address"));
        }
        match self.address_value_of(None, first)? {
            Operand::Register(register) => {
                out.addresses.push(Address { base: AddressBase::Register(register), offset: 0 })
            }
            Operand::Variable(variable, offset) => {
                out.addresses.push(Address { base: AddressBase::Variable(variable), offset })
            }
            _ => out.addresses.push(Address { base: AddressBase::Absolute, offset: 0 }),
        }
        for component in rest {
            for element in self.some_elements(component) {
                match self.value(&element)? {
                    Operand::Sink => {}
                    value @ (Operand::Register(_)
                    | Operand::Integer(_)
                    | Operand::Single(_)
                    | Operand::Double(_)
                    | Operand::Variable(..)) => {
                        out.sources.push(value);
                    }
                    _ => return Err(kind_error(element.span, "a register or constant")),
                }
            }
        }
        Ok(())
    }

    /// Values of these types in brackets.
    pub(crate) fn components(
        &mut self,
        selected: &Selected,
        widths: &[Width],
        expression: &Expression<'a>,
        out: &mut Operands,
    ) -> Result<()> {
        let list = match &expression.kind {
            ExpressionKind::Address(list, None) if list.len() == widths.len() => list,
            _ => return Err(kind_error(expression.span, &format!("{} values in brackets", widths.len()))),
        };
        for (component, width) in list.iter().zip(widths) {
            let (ty, relaxed) = slot_type(selected, *width);
            out.sources.push(self.source(component, ty, relaxed)?);
        }
        Ok(())
    }

    /// The first alternative that takes the operand; if none does, the error of the one whose shape
    /// it has.
    pub(crate) fn one_of(
        &mut self,
        selected: &Selected,
        slots: &[OperandSlot],
        expression: &Expression<'a>,
        out: &mut Operands,
    ) -> Result<()> {
        let mut errors = Vec::new();
        for slot in slots {
            let mut operands = Operands::default();
            match self.operand(selected, slot, expression, &mut operands) {
                Ok(()) => {
                    out.destinations.append(&mut operands.destinations);
                    out.sources.append(&mut operands.sources);
                    out.addresses.append(&mut operands.addresses);
                    return Ok(());
                }
                Err(error) => errors.push(error),
            }
        }
        let wanted: Vec<String> = slots.iter().map(OperandSlot::describe).collect();
        let error = errors.into_iter().find(|error| error.code != "operand-kind");
        Err(error.unwrap_or_else(|| kind_error(expression.span, &wanted.join(" or "))))
    }
}

/// `v.x`, `v.y` and so on.
fn selected<'a>(name: &'a str, count: usize, span: Span) -> Vec<Expression<'a>> {
    let selectors = SELECTORS.into_iter().take(count);
    selectors.map(|selector| Expression { kind: ExpressionKind::Selected(Box::new((name, selector))), span }).collect()
}

/// `.b0`, `.h1`, `.b3210`, `.h10`
fn is_part(selector: &str) -> bool {
    let bytes = selector.strip_prefix(".b").filter(|digits| (1..=4).contains(&digits.len()));
    let halves = selector.strip_prefix(".h").filter(|digits| (1..=2).contains(&digits.len()));
    bytes.is_some_and(|digits| digits.bytes().all(|digit| (b'0'..=b'7').contains(&digit)))
        || halves.is_some_and(|digits| digits.bytes().all(|digit| (b'0'..=b'3').contains(&digit)))
}
