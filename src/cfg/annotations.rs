//! Calls of the `__gpuvcc_` markers while calls are inlined.
//!
//! Input: a call of a marker. Output: an annotation statement: "the argument is not 0".
//! Reference: book/src/annotating.md.

use super::graph::Statement;
use super::inline::{Inliner, LineKind};
use crate::diagnostic::Diagnostic;
use crate::ptx::annotation::Value;
use crate::ptx::ast::{Annotation, AnnotationKind, Function, Operand, Register, RegisterId};
use crate::span::Origin;
use std::sync::Arc;

/// The kind of annotation that calls of a function stand for.
pub(super) fn marker_kind(function: &Function) -> Option<AnnotationKind> {
    let kind = AnnotationKind::of(function.name.strip_prefix("__gpuvcc_")?)?;
    (kind != AnnotationKind::BarrierInvariant).then_some(kind)
}

impl Inliner<'_> {
    /// The call of a marker becomes an annotation.
    pub(super) fn call_marker(
        &mut self,
        function: &Function,
        kind: AnnotationKind,
        arguments: &[Operand],
        origin: &Arc<Origin>,
    ) {
        let [argument] = arguments else {
            let message = format!("`{}` takes one argument", function.name);
            self.errors.push(Diagnostic::error("call-arity", message, origin.span));
            return;
        };
        let register = match argument {
            Operand::Integer(value) => {
                let expression = Value::boolean(*value as u32 != 0);
                return self.push_marker(kind, expression, (*value as i64).to_string().into(), origin);
            }
            Operand::Register(register) => *register,
            Operand::Variable(place, 0) => {
                let Some(formal) = function.params.first() else { return };
                self.flat.registers.push(Register { name: Arc::from("%argument"), ty: formal.ty });
                let register = RegisterId(self.flat.registers.len() as u32 - 1);
                self.pass(formal, *place, None, Some(&Operand::Register(register)), origin);
                register
            }
            _ => {
                let message = format!("`{}` takes a register or a constant", function.name);
                self.errors.push(Diagnostic::error("call-arity", message, origin.span));
                return;
            }
        };
        let Register { name, ty } = self.flat.registers[register.0 as usize].clone();
        match Value::is_not_zero(register, ty) {
            Some(expression) => self.push_marker(kind, expression, name, origin),
            None => {
                let message = format!("`{}` takes an integer", function.name);
                self.errors.push(Diagnostic::error("call-arity", message, origin.span));
            }
        }
    }

    fn push_marker(&mut self, kind: AnnotationKind, expression: Value, text: Arc<str>, origin: &Arc<Origin>) {
        let annotation = Annotation { kind, expression, threads: Vec::new(), text, origin: origin.clone() };
        self.push(LineKind::Statement(Statement::Annotation(annotation)), origin);
    }
}
