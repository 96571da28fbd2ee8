//! Operands: from expressions to resolved and checked values.
//!
//! Input: the expressions of an instruction and the operand slots of its table row.
//! Output: [`Operands`], sorted into destinations, sources, address and labels.
//! Establishes: every register has the type its slot asks for (section "Operand Size Exceeding
//! Instruction-Type Size": `ld`, `st` and `cvt` take wider registers); float constants have the
//! width of the type.
//! Relies on: `scope` for names.
//! Reference: PTX ISA, chapter "Instruction Operands", section "Type Checking Rules".

use super::ast::*;
use super::context::ModuleContext;
use super::pattern::{Limit, OperandPattern, OperandSlot, Presence, TypeRef, Width};
use super::scope::{Scopes, Table};
use super::syntax::{Expression, ExpressionKind, Name};
use super::table::Selected;
use super::values::{Folded, kind_error, undefined};
use super::words::{convert_float, special_bits, type_name};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::sync::Arc;

/// The operands of one instruction. The same lists serve one instruction after the other: what is taken from them is as
/// long as it has to be.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    /// Registers (or sinks) that are written, in order.
    pub(crate) destinations: Vec<Operand>,
    /// Values that are read, in order.
    pub(crate) sources: Vec<Operand>,
    /// The memory operands, in order.
    pub(crate) addresses: Vec<Address>,
    /// The target of a branch.
    pub(crate) label: Option<LabelId>,
    /// The targets of an indexed branch.
    pub(crate) table: Option<Arc<[LabelId]>>,
}

impl Operands {
    /// Takes all values that are read.
    pub(crate) fn take_sources(&mut self) -> Vec<Operand> {
        self.sources.drain(..).collect()
    }

    /// Takes all registers that are written.
    pub(crate) fn take_destinations(&mut self) -> Vec<Operand> {
        self.destinations.drain(..).collect()
    }

    /// As for an instruction without operands.
    fn clear(&mut self) {
        self.destinations.clear();
        self.sources.clear();
        self.addresses.clear();
        (self.label, self.table) = (None, None);
    }
}

/// Resolves operands against the names visible at a statement.
pub(crate) struct Resolver<'r, 'n, 'a> {
    /// Names of the body.
    pub(crate) scopes: &'r mut Scopes<'n, 'a>,
    /// Names of the module.
    pub(crate) module: &'r ModuleContext<'a>,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<'a> Resolver<'_, '_, 'a> {
    /// Resolves and checks all operands of an instruction.
    pub(crate) fn resolve(
        &mut self,
        selected: &Selected,
        name: Name<'a>,
        list: &[Expression<'a>],
        out: &mut Operands,
    ) -> Result<()> {
        out.clear();
        for (slot, expression) in assign(selected, name, list)?.zip(list) {
            self.operand(selected, slot, expression, out)?;
        }
        Ok(())
    }

    /// Resolves and checks one operand.
    pub(crate) fn operand(
        &mut self,
        selected: &Selected,
        slot: &OperandSlot,
        expression: &Expression<'a>,
        out: &mut Operands,
    ) -> Result<()> {
        match slot {
            OperandSlot::Destination(first, second) => {
                let (first_type, relaxed) = slot_type(selected, *first);
                match (expression.pair(), second) {
                    (Some((left, right)), Some(second)) => {
                        out.destinations.push(self.destination(left, first_type, relaxed)?);
                        let (second_type, relaxed) = slot_type(selected, *second);
                        out.destinations.push(self.destination(right, second_type, relaxed)?);
                    }
                    _ => out.destinations.push(self.destination(expression, first_type, relaxed)?),
                }
            }
            OperandSlot::DestinationPair(first, second) => {
                let Some((left, right)) = expression.pair() else {
                    return Err(kind_error(expression.span, "two destinations, as in `d|p`"));
                };
                for (expression, width) in [(left, first), (right, second)] {
                    let (ty, relaxed) = slot_type(selected, *width);
                    out.destinations.push(self.destination(expression, ty, relaxed)?);
                }
            }
            OperandSlot::Sink => match self.value(expression)? {
                Operand::Sink => {}
                _ => return Err(kind_error(expression.span, "`_`, as this form has no result")),
            },
            OperandSlot::Source(width) => {
                let (ty, relaxed) = slot_type(selected, *width);
                out.sources.push(self.source(expression, ty, relaxed)?);
            }
            OperandSlot::VectorDestination => {
                let ty = selected.types[0];
                for element in self.elements(expression, selected.elements())? {
                    out.destinations.push(self.destination(&element, ty, true)?);
                }
            }
            OperandSlot::VectorSource => {
                let ty = selected.types[0];
                for element in self.elements(expression, selected.elements())? {
                    out.sources.push(self.source(&element, ty, true)?);
                }
            }
            OperandSlot::Registers { count, ty, written, predicate } => {
                self.registers(selected, (*count, *ty), (*written, *predicate), expression, out)?;
            }
            OperandSlot::Part { written, negated } => self.part(*written, *negated, expression, out)?,
            OperandSlot::Coordinates => self.coordinates(expression, out)?,
            OperandSlot::Components(widths) => self.components(selected, widths, expression, out)?,
            OperandSlot::OneOf(slots) => self.one_of(selected, slots, expression, out)?,
            OperandSlot::Address => out.addresses.push(self.address(expression)?),
            OperandSlot::Immediate { maximum } => out.sources.push(self.immediate(*maximum, expression)?),
            OperandSlot::Limited(limit) => {
                let value = match limit {
                    Limit::Registers => self.immediate(u64::MAX, expression)?,
                    _ => self.source(expression, ScalarType::B(32), false)?,
                };
                if matches!(value, Operand::Integer(value) if !limit.allows(value)) {
                    return Err(kind_error(expression.span, &format!("a `.b32` value {}", limit.describe())));
                }
                out.sources.push(value);
            }
            OperandSlot::AddressValue => {
                let bits = selected.types.first().map(|ty| ty.bits());
                out.sources.push(self.address_value_of(bits, expression)?);
            }
            OperandSlot::MoveDestination => out.destinations.push(self.move_destination(selected, expression)?),
            OperandSlot::MoveSource => out.sources.push(self.move_source(selected, expression)?),
            OperandSlot::Label => out.label = Some(self.label(expression)?),
            OperandSlot::Table => out.table = Some(self.table(expression)?),
            OperandSlot::Call => {}
        }
        Ok(())
    }

    /// An integer constant; `maximum` is `u64::MAX` if any will do.
    fn immediate(&mut self, maximum: u64, expression: &Expression<'a>) -> Result<Operand> {
        let value = match &expression.kind {
            ExpressionKind::Address(..) => None,
            _ => Some(self.value(expression)?),
        };
        match value {
            Some(Operand::Integer(value)) if value <= maximum => Ok(Operand::Integer(value)),
            _ if maximum == u64::MAX => Err(kind_error(expression.span, "an integer constant")),
            _ => Err(kind_error(expression.span, &format!("an integer constant from 0 to {maximum}"))),
        }
    }

    /// A register of that type, or `_`.
    pub(crate) fn destination(
        &mut self,
        expression: &Expression<'a>,
        ty: ScalarType,
        relaxed: bool,
    ) -> Result<Operand> {
        match self.value(expression)? {
            Operand::Sink => Ok(Operand::Sink),
            Operand::Register(register) => {
                self.check_register(register, ty, relaxed, expression.span)?;
                Ok(Operand::Register(register))
            }
            _ => Err(kind_error(expression.span, "a register")),
        }
    }

    /// A value of that type.
    pub(crate) fn source(&mut self, expression: &Expression<'a>, ty: ScalarType, relaxed: bool) -> Result<Operand> {
        let span = expression.span;
        let value = self.value(expression)?;
        if let (Operand::NotPredicate(register), ScalarType::Pred) = (&value, ty) {
            self.check_register(*register, ty, false, span)?;
            return Ok(value);
        }
        match value {
            Operand::Register(register) => self.check_register(register, ty, relaxed, span)?,
            Operand::Integer(_) if !matches!(ty, ScalarType::F(32 | 64)) => {}
            Operand::Integer(_) => return Err(kind_error(span, "a floating-point constant or register")),
            Operand::Single(bits) => return float_constant(u64::from(bits), 32, ty, span),
            Operand::Double(bits) => return float_constant(bits, 64, ty, span),
            // The warp size is a constant and as such takes any integer type.
            Operand::Special(SpecialRegister::WarpSize) if ty.bits() != 32 => return Ok(Operand::Integer(32)),
            Operand::Special(register) => check_special(register, ty, relaxed, span)?,
            Operand::Variable(..) | Operand::Function(_) => {
                if !matches!(ty, ScalarType::B(32 | 64) | ScalarType::U(32 | 64) | ScalarType::S(32 | 64)) {
                    let message = format!("an address is 32 or 64 bits wide, but this operand is `.{}`", type_name(ty));
                    return Err(Diagnostic::error("type-mismatch", message, span));
                }
            }
            Operand::Sink => return Err(kind_error(span, "a value")),
            Operand::NotPredicate(_) => return Err(kind_error(span, "a value that is not negated")),
            Operand::Vector(_) => return Err(kind_error(span, "a single value")),
        }
        Ok(value)
    }

    /// A predicate register, for guards.
    pub(crate) fn guard(&mut self, name: Name<'a>) -> Result<RegisterId> {
        match self.name(name.text, name.span)? {
            Operand::Register(register) => {
                self.check_register(register, ScalarType::Pred, false, name.span)?;
                Ok(register)
            }
            _ => Err(kind_error(name.span, "a predicate register")),
        }
    }

    /// An address as a value; `wanted` is its width in bits, if the form names one.
    pub(crate) fn address_value_of(&mut self, wanted: Option<u32>, expression: &Expression<'a>) -> Result<Operand> {
        let value = self.value(expression)?;
        let bits = match value {
            Operand::Register(register) => self.register_type(register).bits(),
            Operand::Variable(..) | Operand::Integer(_) => return Ok(value),
            _ => return Err(kind_error(expression.span, "a register or variable")),
        };
        if wanted.map_or(bits == 32 || bits == 64, |wanted| wanted == bits) {
            return Ok(value);
        }
        let message = match wanted {
            Some(wanted) => format!("this register is {bits} bits wide, but the address has {wanted}"),
            None => format!("this register is {bits} bits wide, but an address has 32 or 64"),
        };
        Err(Diagnostic::error("type-mismatch", message, expression.span))
    }

    fn move_destination(&mut self, selected: &Selected, expression: &Expression<'a>) -> Result<Operand> {
        let ty = selected.types[0];
        match &expression.kind {
            ExpressionKind::Vector(elements) => {
                let part = part_type(ty, elements.len(), expression.span)?;
                let list: Result<Vec<_>> =
                    elements.iter().map(|element| self.destination(element, part, false)).collect();
                Ok(Operand::vector(list?))
            }
            _ => match self.value(expression)? {
                Operand::Vector(parts) => self.vector_parts(ty, *parts, expression.span),
                _ => self.destination(expression, untyped(ty), false),
            },
        }
    }

    /// A vector register as the parts of one value.
    fn vector_parts(&self, ty: ScalarType, parts: Vec<Operand>, span: Span) -> Result<Operand> {
        let part = part_type(ty, parts.len(), span)?;
        for register in &parts {
            if let Operand::Register(register) = register {
                self.check_register(*register, part, false, span)?;
            }
        }
        Ok(Operand::vector(parts))
    }

    fn move_source(&mut self, selected: &Selected, expression: &Expression<'a>) -> Result<Operand> {
        let ty = selected.types[0];
        match &expression.kind {
            ExpressionKind::Vector(elements) => {
                let part = part_type(ty, elements.len(), expression.span)?;
                let list: Result<Vec<_>> = elements.iter().map(|element| self.source(element, part, false)).collect();
                Ok(Operand::vector(list?))
            }
            _ => match self.value(expression)? {
                // The first PTX versions read the low half of a special register; so it is a conversion.
                value @ Operand::Special(register) if special_bits(register) > ty.bits() => Ok(value),
                Operand::Register(_) => self.source(expression, untyped(ty), false),
                Operand::Vector(parts) => self.vector_parts(ty, *parts, expression.span),
                _ => self.source(expression, ty, false),
            },
        }
    }

    fn label(&self, expression: &Expression<'a>) -> Result<LabelId> {
        let ExpressionKind::Name(name) = expression.kind else { return Err(kind_error(expression.span, "a label")) };
        self.scopes.label(name).ok_or_else(|| undefined("label", name, expression.span))
    }

    fn table(&self, expression: &Expression<'a>) -> Result<Arc<[LabelId]>> {
        let ExpressionKind::Name(name) = expression.kind else {
            return Err(kind_error(expression.span, "the name of a `.branchtargets` list"));
        };
        match self.scopes.table(name) {
            Some(Table::Labels(targets)) => Ok(targets.clone()),
            Some(Table::Functions(_)) => Err(kind_error(expression.span, "the name of a `.branchtargets` list")),
            None => Err(undefined("`.branchtargets` list", name, expression.span)),
        }
    }

    /// `[base + offset]`
    fn address(&mut self, expression: &Expression<'a>) -> Result<Address> {
        let ExpressionKind::Address(list, suffix) = &expression.kind else {
            return Err(kind_error(expression.span, "an address in brackets"));
        };
        if let Some(suffix) = suffix.as_deref().filter(|suffix| suffix.text != ".unified") {
            let message = format!("unknown modifier `{}` of an address", suffix.text);
            return Err(Diagnostic::error("unknown-modifier", message, suffix.span).label("expected `.unified`"));
        }
        let [inner] = list.as_slice() else {
            return Err(kind_error(expression.span, "an address with one component"));
        };
        let (base, offset) = match self.fold(inner)? {
            Folded::Constant(value) => (AddressBase::Absolute, value as i64),
            Folded::Based(Operand::Variable(variable, _), offset) => (AddressBase::Variable(variable), offset),
            Folded::Based(Operand::Register(register), offset) => {
                let ty = self.register_type(register);
                if !matches!(ty, ScalarType::B(32 | 64) | ScalarType::U(32 | 64) | ScalarType::S(32 | 64)) {
                    let message = format!("a `.{}` register cannot hold an address", type_name(ty));
                    return Err(Diagnostic::error("type-mismatch", message, inner.span));
                }
                (AddressBase::Register(register), offset)
            }
            Folded::Based(..) => return Err(kind_error(inner.span, "a register, a variable or a constant")),
        };
        Ok(Address { base, offset })
    }

    fn register_type(&self, register: RegisterId) -> ScalarType {
        self.scopes.body.registers[register.0 as usize].ty
    }

    fn check_register(&self, register: RegisterId, ty: ScalarType, relaxed: bool, span: Span) -> Result<()> {
        let declared = self.register_type(register);
        if compatible(declared, ty, relaxed) {
            return Ok(());
        }
        let message =
            format!("this register is declared `.{}`, but the operand is `.{}`", type_name(declared), type_name(ty));
        Err(Diagnostic::error("type-mismatch", message, span))
    }
}

/// Gives each operand its slot; missing optional operands are skipped from the left.
fn assign<'s>(
    selected: &'s Selected,
    name: Name<'_>,
    list: &'s [Expression<'_>],
) -> Result<impl Iterator<Item = &'s OperandSlot>> {
    let is_possible = move |pattern: &&OperandPattern| match &pattern.presence {
        Presence::With(modifiers) => modifiers.iter().any(|modifier| selected.has(modifier)),
        Presence::WithDescriptor => !matches!(list.get(1), Some(Expression { kind: ExpressionKind::Vector(_), .. })),
        Presence::Always | Presence::Optional => true,
    };
    let possible = || selected.row.operands.iter().filter(is_possible);
    let most = possible().count();
    let mandatory = possible().filter(|pattern| pattern.presence != Presence::Optional).count();
    if list.len() < mandatory || list.len() > most {
        let wanted = count(mandatory, most);
        let message = format!("`{}` takes {wanted}, found {}", name.text, list.len());
        let span = list.last().map_or(name.span, |last| name.span.to(last.span));
        return Err(Diagnostic::error("operand-count", message, span));
    }
    let mut spare = list.len() - mandatory;
    let written = move |pattern: &&OperandPattern| match pattern.presence {
        Presence::Optional if spare == 0 => false,
        Presence::Optional => {
            spare -= 1;
            true
        }
        _ => true,
    };
    Ok(possible().filter(written).map(|pattern| &pattern.slot))
}

fn count(least: usize, most: usize) -> String {
    let plural = if most == 1 { "" } else { "s" };
    match most {
        0 => "no operands".to_string(),
        _ if least == most => format!("{least} operand{plural}"),
        _ => format!("{least} to {most} operands"),
    }
}

/// The type of a slot, and whether wider registers are allowed.
pub(crate) fn slot_type(selected: &Selected, width: Width) -> (ScalarType, bool) {
    let ty = match width.of {
        TypeRef::Fixed(ty) => ty,
        TypeRef::Modifier(index) => selected.types[index],
        TypeRef::Double => match selected.types[0] {
            ScalarType::S(bits) => ScalarType::S(2 * bits),
            other => ScalarType::U(2 * other.bits()),
        },
    };
    (ty, width.relaxed)
}

/// Whether a register of type `declared` may stand where `wanted` is asked for.
fn compatible(declared: ScalarType, wanted: ScalarType, relaxed: bool) -> bool {
    use ScalarType::{F, Pred, S, U};
    if (declared == Pred) != (wanted == Pred) {
        return false;
    }
    let same_width = declared.bits() == wanted.bits();
    match (declared, wanted) {
        (F(32 | 64), U(_) | S(_)) | (U(_) | S(_), F(32 | 64)) => false,
        // Only bits and integers are taken from wider registers; of packed types, pairs of halves.
        (F(_), F(_)) => same_width,
        (_, wanted) if wanted.packed().is_some_and(|name| name != "f16x2") => same_width,
        _ => same_width || (relaxed && declared.bits() >= wanted.bits()),
    }
}

/// `mov` moves bits: any register of the width will do.
fn untyped(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::Pred => ScalarType::Pred,
        other => ScalarType::B(other.bits()),
    }
}

/// The type of each of `count` equal parts.
fn part_type(ty: ScalarType, count: usize, span: Span) -> Result<ScalarType> {
    let bits = ty.bits();
    match (ty, u32::try_from(count)) {
        (ScalarType::B(_), Ok(count @ (2 | 4 | 8))) if bits / count >= 8 => Ok(ScalarType::B(bits / count)),
        _ => Err(kind_error(span, "2, 4 or 8 parts of an untyped value, of at least 8 bits each")),
    }
}

fn float_constant(bits: u64, width: u32, ty: ScalarType, span: Span) -> Result<Operand> {
    match ty {
        ScalarType::F(to @ (32 | 64)) | ScalarType::B(to @ (32 | 64)) => {
            Ok(Operand::float(convert_float(bits, width, to), to))
        }
        _ => {
            let message = format!("a floating-point constant cannot be `.{}`", type_name(ty));
            Err(Diagnostic::error("type-mismatch", message, span))
        }
    }
}

fn check_special(register: SpecialRegister, ty: ScalarType, relaxed: bool, span: Span) -> Result<()> {
    let bits = special_bits(register);
    if bits == ty.bits() || (relaxed && bits > ty.bits()) {
        return Ok(());
    }
    let message = format!("this special register is {bits} bits wide, but the operand is `.{}`", type_name(ty));
    Err(Diagnostic::error("type-mismatch", message, span))
}
