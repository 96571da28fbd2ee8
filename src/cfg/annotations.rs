//! Annotations while calls are inlined.
//!
//! Input: annotation comments, and calls of the `__gpuvcc_` markers. Output: annotation statements with the registers
//! that their expressions name. Establishes: each name means one register of the copy at hand. Relies on: the
//! parser made the names of nested scopes unique. Reference: DESIGN section 3 (annotations).

use super::graph::Statement;
use super::inline::{Frame, Inliner, LineKind};
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Annotation, Body, Function, Operand, Register, RegisterId};
use crate::span::Origin;
use std::sync::Arc;

/// The kind of annotation that calls of a function stand for.
pub(super) fn marker_kind(function: &Function) -> Option<&str> {
    let kind = function.name.strip_prefix("__gpuvcc_")?;
    matches!(kind, "requires" | "assume" | "assert" | "invariant").then_some(kind)
}

impl Inliner<'_> {
    /// The call of a marker becomes an annotation.
    pub(super) fn call_marker(&mut self, function: &Function, kind: &str, arguments: &[Operand], origin: &Arc<Origin>) {
        let [argument] = arguments else {
            let message = format!("`{}` takes one argument", function.name);
            self.errors.push(Diagnostic::error("call-arity", message, origin.span));
            return;
        };
        let (expression, names) = match argument {
            Operand::Integer(value) => ((*value as i64).to_string(), Vec::new()),
            Operand::Register(register) => self.marker_argument(*register),
            Operand::Variable(place, 0) => {
                let Some(formal) = function.params.first() else { return };
                self.flat.registers.push(Register { name: Arc::from("%argument"), ty: formal.ty });
                let register = RegisterId(self.flat.registers.len() as u32 - 1);
                self.pass(formal, *place, None, Some(&Operand::Register(register)), origin);
                self.marker_argument(register)
            }
            _ => {
                let message = format!("`{}` takes a register or a constant", function.name);
                self.errors.push(Diagnostic::error("call-arity", message, origin.span));
                return;
            }
        };
        let annotation = Annotation { kind: kind.to_string(), expression, origin: origin.clone() };
        self.push(LineKind::Statement(Statement::Annotation(annotation, names)), origin);
    }

    fn marker_argument(&self, register: RegisterId) -> (String, Vec<(Arc<str>, RegisterId)>) {
        let name = self.flat.registers[register.0 as usize].name.clone();
        (name.to_string(), vec![(name, register)])
    }

    /// The registers that the names in an annotation mean. The parser has made the names of nested
    /// scopes unique, so a name that several scopes declare cannot be told apart here.
    pub(super) fn annotation_registers(
        &mut self,
        annotation: &Annotation,
        body: &Body,
        frame: &Frame,
    ) -> Vec<(Arc<str>, RegisterId)> {
        let mut found = Vec::new();
        for name in names_in(&annotation.expression) {
            let matches = |declared: &str| {
                declared.strip_prefix(name).is_some_and(|rest| {
                    rest.is_empty()
                        || rest
                            .strip_prefix('$')
                            .is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()))
                })
            };
            let candidates: Vec<_> = (0u32..).zip(&body.registers).filter(|(_, r)| matches(&r.name)).collect();
            match candidates.as_slice() {
                [] => {}
                [(index, _)] => found.push((Arc::from(name), frame.register(RegisterId(*index)))),
                _ => self.errors.push(
                    Diagnostic::error(
                        "annotation",
                        format!("`{name}` is declared in several scopes of this body"),
                        annotation.origin.span,
                    )
                    .note("copy the value into a register with a name of its own"),
                ),
            }
        }
        found
    }
}

/// Identifiers of an annotation expression, special registers (`%tid.x`) left out.
fn names_in(expression: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = expression;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '$')) {
        rest = &rest[start..];
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '$' | '.');
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        rest = &rest[end..];
        if !name.starts_with(|c: char| c.is_ascii_digit()) && !name.contains('.') && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
