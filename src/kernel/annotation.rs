//! Annotations as statements of the IVL.
//!
//! Input: an annotation over the registers of the graph. Output: an `assume` or `assert` whose attributes say what it
//! is, and a line of the assumptions where the user's word is taken. Establishes: the formula has the meaning that
//! [`crate::ptx::annotation`] fixes; a read of an undefined register is arbitrary, as everywhere, and gives a warning.
//! Reference: book/src/annotating.md.

use super::barrier_invariant::Reading;
use super::lowering::Lowering;
use crate::diagnostic::{Diagnostic, Severity};
use crate::geometry::Axis;
use crate::ivl::ast::{ExprKind, ExprRef, StmtKind};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{Claim, Premise};
use crate::ptx::annotation::{Operator, Value, ValueKind, ValueType};
use crate::ptx::ast::{Annotation, AnnotationKind, SpecialRegister};

impl Lowering<'_> {
    /// Translates an annotation.
    pub(crate) fn annotation(&mut self, annotation: &Annotation) {
        self.origin = Some(annotation.origin.clone());
        (self.guard, self.guard_value) = (None, None);
        if self.speaks_of_pointers(annotation) {
            return;
        }
        if let ValueKind::Entries(fact, array, element) = annotation.expression.kind {
            self.array_fact(annotation, (fact, array, element));
            return self.take_for_granted(annotation);
        }
        self.warn_of_undefined(annotation);
        let formula = self.annotated_value(&annotation.expression, &Reading::default());
        if matches!(annotation.kind, AnnotationKind::Requires | AnnotationKind::Assume) {
            self.take_for_granted(annotation);
        }
        match annotation.kind {
            AnnotationKind::Requires => self.emit(StmtKind::Assume(Premise::Required, formula)),
            AnnotationKind::Assume => self.emit(StmtKind::Assume(Premise::Assumed, formula)),
            AnnotationKind::Invariant => {
                self.emit(StmtKind::Assert(Claim::Invariant(annotation.text.clone()), formula));
            }
            _ => self.emit(StmtKind::Assert(Claim::Stated(annotation.text.clone()), formula)),
        }
    }

    /// Lists an annotation among the assumptions.
    fn take_for_granted(&mut self, annotation: &Annotation) {
        let stated = stated(annotation);
        if !self.stated.contains(&stated) {
            self.stated.push(stated);
        }
    }

    /// A register without a value is hardly what the user speaks about.
    pub(super) fn warn_of_undefined(&mut self, annotation: &Annotation) {
        for register in annotation.expression.registers() {
            if !self.definite_state.may_be_undefined(register, None) {
                continue;
            }
            let name = &self.cfg.registers[register.0 as usize].name;
            let message = format!("`{name}` need not be assigned here, so this speaks about an arbitrary value");
            let warning = Diagnostic::error("undefined-register", message, annotation.origin.span);
            let warning = Diagnostic { severity: Severity::Warning, ..warning }
                .note("annotations are about the place where they stand: move it behind the assignment");
            // Of a function that is inlined twice it is told once.
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Refuses an annotation about the value of a parameter that points to an array.
    pub(super) fn speaks_of_pointers(&mut self, annotation: &Annotation) -> bool {
        let parameters = annotation.parameters().into_iter().map(|(parameter, _)| parameter);
        let found = parameters.into_iter().find(|parameter| self.parameters.is_pointer(self.entry, *parameter));
        if let Some(found) = found {
            let name = &self.entry.params[found as usize].name;
            let message = format!("`{name}` holds a pointer, whose value annotations cannot speak about");
            self.diagnostics.push(Diagnostic::error("annotation", message, annotation.origin.span));
        }
        found.is_some()
    }

    /// The value of an expression where the statement at hand stands.
    pub(super) fn annotated_value(&mut self, value: &Value, reading: &Reading) -> ExprRef {
        match &value.kind {
            ValueKind::Entries(..) => bv::boolean(true),
            ValueKind::Constant(bits) => match value.ty {
                ValueType::Bool => bv::boolean(*bits != 0),
                ValueType::Bits { width, .. } => bv::literal(u128::from(*bits), width),
            },
            ValueKind::Register(register) => match reading.registers.get(register) {
                Some(kept) => kept.clone(),
                None => self.value(*register),
            },
            ValueKind::Parameter(parameter) => self.parameters.value(*parameter, 0, width(value.ty) / 8),
            ValueKind::Load(array, offset) => self.annotated_load(*array, offset, value.ty, reading),
            ValueKind::Special(special) => {
                let thread = reading.thread.clone().filter(|_| *special == SpecialRegister::Tid(Axis::X));
                match thread.or_else(|| self.launch.special(*special)) {
                    Some(value) => value,
                    None => panic!("kernel: {special:?} in an annotation has no value"),
                }
            }
            ValueKind::Extend(inner) => {
                let narrow = self.annotated_value(inner, reading);
                let to = width(value.ty);
                if is_signed(inner.ty) { bv::sext(narrow, to) } else { bv::zext(narrow, to) }
            }
            ValueKind::Not(inner) => match &inner.kind {
                ValueKind::Binary(Operator::Equal, left, right) if left.ty != ValueType::Bool => {
                    bv::ne(self.annotated_value(left, reading), self.annotated_value(right, reading))
                }
                _ => bv::not(self.annotated_value(inner, reading)),
            },
            ValueKind::Binary(operator, left, right) => {
                let a = self.annotated_value(left, reading);
                let b = match operator {
                    Operator::And | Operator::Implies => self.annotated_under(a.clone(), right, reading),
                    Operator::Or => self.annotated_under(bv::not(a.clone()), right, reading),
                    _ => self.annotated_value(right, reading),
                };
                operation(*operator, left.ty, a, b)
            }
        }
    }
}

/// An assumption of the report: where the author's word is taken.
fn stated(annotation: &Annotation) -> String {
    let Annotation { kind, text, origin, .. } = annotation;
    let place = match &origin.position {
        Some(position) => format!("{}:{}", position.file, position.line),
        None => format!("PTX line {}", origin.line),
    };
    format!("`{} {text}` of {place} holds", kind.name())
}

pub(super) fn width(ty: ValueType) -> u32 {
    match ty {
        ValueType::Bool => 1,
        ValueType::Bits { width, .. } => width,
    }
}

pub(super) fn is_signed(ty: ValueType) -> bool {
    matches!(ty, ValueType::Bits { signed: true, .. })
}

/// An operator on two operands of a type.
fn operation(operator: Operator, ty: ValueType, a: ExprRef, b: ExprRef) -> ExprRef {
    let pick = |of_unsigned: BvOp, of_signed: BvOp| if is_signed(ty) { of_signed } else { of_unsigned };
    let number = |value: u128| bv::literal(value, width(ty));
    let simple = |op: BvOp| bv::binary(op, a.clone(), b.clone());
    // Not every encoding agrees on what a division by zero gives.
    let constant = if let ExprKind::Bv(value) = b.kind { Some(value) } else { None };
    let unless_zero = |op: BvOp, otherwise: ExprRef| {
        if constant.is_some_and(|value| value != 0) {
            return simple(op);
        }
        bv::ite(bv::eq(b.clone(), number(0)), otherwise, simple(op))
    };
    let unless_beyond = |op: BvOp, otherwise: ExprRef| {
        if constant.is_some_and(|value| value < u128::from(width(ty))) {
            return simple(op);
        }
        let inside = bv::binary(BvOp::Ult, b.clone(), number(u128::from(width(ty))));
        bv::ite(inside, simple(op), otherwise)
    };
    match operator {
        Operator::Add => simple(BvOp::Add),
        Operator::Subtract => simple(BvOp::Sub),
        Operator::Multiply => simple(BvOp::Mul),
        Operator::Divide => unless_zero(pick(BvOp::Udiv, BvOp::Sdiv), number(u128::from(u64::MAX))),
        Operator::Remainder => unless_zero(pick(BvOp::Urem, BvOp::Srem), a.clone()),
        Operator::BitAnd => simple(BvOp::And),
        Operator::BitOr => simple(BvOp::Or),
        Operator::BitXor => simple(BvOp::Xor),
        Operator::ShiftLeft => unless_beyond(BvOp::Shl, number(0)),
        Operator::ShiftRight if is_signed(ty) => {
            let sign = bv::binary(BvOp::Ashr, a.clone(), number(u128::from(width(ty) - 1)));
            unless_beyond(BvOp::Ashr, sign)
        }
        Operator::ShiftRight => unless_beyond(BvOp::Lshr, number(0)),
        Operator::Implies => bv::implies(a, b),
        Operator::Or => bv::or(a, b),
        Operator::And => bv::and(a, b),
        Operator::Equal if ty == ValueType::Bool => super::arithmetic::iff(a, b),
        Operator::Equal => bv::eq(a, b),
        Operator::Less => simple(pick(BvOp::Ult, BvOp::Slt)),
        Operator::LessEqual => simple(pick(BvOp::Ule, BvOp::Sle)),
    }
}
