//! Barrier invariants as statements of the IVL.
//!
//! Input: a barrier invariant and the barrier behind it. Output, in front of the barrier: a load for each array that the
//! fact reads, `{:barrier_invariant}`, and the assertion of the fact; on the barrier: `{:uniform}` for each register of
//! the fact; behind it, for each listed thread e: `{:ghost}` loads, and `assume {:instance}` that the fact holds with e
//! in the place of `%tid.x`, if e is a thread of the block. Establishes: what is assumed behind the barrier is what
//! thread e asserted in front of it, if no other thread wrote what e read there since the last barrier, and if the
//! registers of the fact are the same for all threads of the block. Relies on: `twothread`, which checks both, and that
//! all threads of the block come to the barrier.
//! Reference: Chong, Donaldson, Kelly, Ketema, Qadeer, "Barrier Invariants" (OOPSLA 2013), section 4;
//! book/src/annotating.md.

use super::annotation::{is_signed, width};
use super::lowering::{Lowering, flag, text};
use super::regions::ParameterPlace;
use crate::cfg::graph::Statement;
use crate::diagnostic::Diagnostic;
use crate::geometry::Axis;
use crate::ivl::ast::{Access, Attribute, AttributeArg, ExprRef, Name, StmtKind, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{Claim, Premise};
use crate::ptx::annotation::{ArrayRef, Value, ValueType};
use crate::ptx::ast::{Annotation, BarrierKind, Instruction, Op, RegisterId, SpecialRegister};
use std::collections::BTreeMap;

/// A barrier invariant whose barrier comes next.
pub(crate) struct Stated<'a> {
    annotation: &'a Annotation,
    /// The values of its registers in front of the barrier.
    registers: BTreeMap<RegisterId, ExprRef>,
}

/// What an expression of an annotation is read over.
#[derive(Default)]
pub(super) struct Reading {
    /// What `%tid.x` is, if not that of the thread.
    pub(crate) thread: Option<ExprRef>,
    /// Registers that were read before.
    pub(crate) registers: BTreeMap<RegisterId, ExprRef>,
    /// The attribute of loads.
    mark: Option<Attribute>,
}

impl<'a> Lowering<'a> {
    /// Asserts the fact; `rest` follows in the block.
    pub(super) fn barrier_invariant(&mut self, annotation: &'a Annotation, rest: &[Statement]) {
        self.origin = Some(annotation.origin.clone());
        (self.guard, self.guard_value) = (None, None);
        let next = rest.iter().find(|statement| !matches!(statement, Statement::Annotation(_)));
        let Some(Statement::Instruction(barrier @ Instruction { op: Op::Barrier { kind, .. }, .. })) = next else {
            let message = "a barrier invariant stands directly in front of a barrier of the whole block";
            self.diagnostics.push(Diagnostic::error("annotation", message, annotation.origin.span).note(
                "no label and no instruction lies between them, and the barrier has no guard (`@%p bar.sync 0;`)",
            ));
            return;
        };
        if self.speaks_of_pointers(annotation) {
            return;
        }
        self.warn_of_undefined(annotation);
        let written = match kind {
            BarrierKind::Reduce { dst, .. } => super::pointers::destinations(std::slice::from_ref(dst)),
            _ => Vec::new(),
        };
        debug_assert!(barrier.guard.is_none(), "kernel: a barrier has no guard");
        let mut registers = BTreeMap::new();
        for register in annotation.registers() {
            let value = self.value(register);
            let value = if written.contains(&register) { self.kept(value) } else { value };
            registers.insert(register, value);
        }
        let mark = Some(text("barrier_invariant", &annotation.text));
        let reading = Reading { thread: None, registers: registers.clone(), mark };
        let mistakes = self.diagnostics.len();
        let fact = self.annotated_value(&annotation.expression, &reading);
        if self.diagnostics.len() > mistakes {
            return;
        }
        self.emit(StmtKind::Assert(Claim::BarrierInvariant(annotation.text.clone()), fact));
        self.barrier_invariants.push(Stated { annotation, registers });
    }

    /// For the barrier at hand: `{:uniform "fact" "%r" value}` for the registers of the facts in front of it.
    pub(super) fn uniform_registers(&self) -> Vec<Attribute> {
        let mut attributes = Vec::new();
        for Stated { annotation, registers } in &self.barrier_invariants {
            for register in annotation.expression.registers() {
                let name = self.cfg.registers[register.0 as usize].name.to_string();
                let args = vec![
                    AttributeArg::Text(annotation.text.to_string()),
                    AttributeArg::Text(name),
                    AttributeArg::Expr(registers[&register].clone()),
                ];
                attributes.push(Attribute { name: Name::from("uniform"), args });
            }
        }
        attributes
    }

    /// Behind the barrier: the facts of the listed threads.
    pub(super) fn use_barrier_invariants(&mut self) {
        for Stated { annotation, registers } in std::mem::take(&mut self.barrier_invariants) {
            self.origin = Some(annotation.origin.clone());
            (self.guard, self.guard_value) = (None, None);
            for thread in &annotation.threads {
                let reading = Reading { thread: None, registers: registers.clone(), mark: Some(flag("ghost")) };
                let number = self.annotated_value(thread, &reading);
                let (number, exists) = self.existing(number, thread.ty);
                let number = self.shared(number);
                let reading = Reading { thread: Some(number), ..reading };
                let fact = self.annotated_value(&annotation.expression, &reading);
                let premise = Premise::Instance(annotation.text.clone());
                self.emit(StmtKind::Assume(premise, bv::implies(exists, fact)));
            }
        }
    }

    /// The number of a thread in 32 bits, and whether the block has that thread.
    fn existing(&mut self, number: ExprRef, ty: ValueType) -> (ExprRef, ExprRef) {
        let Some(size) = self.launch.special(SpecialRegister::Ntid(Axis::X)) else {
            panic!("kernel: the size of the block has no value")
        };
        let number = match bv::width(&number) {
            64 => number,
            _ if is_signed(ty) => bv::sext(number, 32),
            _ => bv::zext(number, 32),
        };
        let size = bv::zext(size, bv::width(&number));
        (bv::extract(number.clone(), 32, 0), bv::binary(BvOp::Ult, number, size))
    }

    /// What follows a condition in `&&`, `||` or `==>`: its loads are made only where it matters.
    pub(super) fn annotated_under(&mut self, condition: ExprRef, value: &Value, reading: &Reading) -> ExprRef {
        if value.arrays().is_empty() {
            return self.annotated_value(value, reading);
        }
        let outer = self.guard_value.clone();
        self.guard_value = Some(outer.iter().cloned().fold(condition, |inner, outer| bv::and(outer, inner)));
        let result = self.annotated_value(value, reading);
        self.guard_value = outer;
        result
    }

    /// A load of an array.
    pub(super) fn annotated_load(
        &mut self,
        array: ArrayRef,
        offset: &Value,
        ty: ValueType,
        reading: &Reading,
    ) -> ExprRef {
        let index = self.annotated_value(offset, reading);
        let index = if is_signed(offset.ty) { bv::sext(index, 64) } else { bv::zext(index, 64) };
        let bits = width(ty);
        let Some((array, start)) = self.annotated_array(array) else { return bv::literal(0, bits) };
        let offset = match start {
            Some(start) => bv::add(start, index),
            None => index,
        };
        let dst = self.temporary(Type::Bv(bits));
        self.declarations.used_arrays.insert(array.clone());
        self.declarations.assumes_bounds = true;
        let guard = self.guard_value.clone();
        let access = Access { array, guard, offset, scale: 1, bytes: bits / 8, strong: None, collective: None };
        self.emit_with(StmtKind::Load { dst: dst.clone(), access }, reading.mark.iter().cloned().collect());
        bv::var(dst, Type::Bv(bits))
    }

    /// The array, and the offset in it at which the variable or pointee starts, if that is not 0.
    pub(super) fn annotated_array(&mut self, array: ArrayRef) -> Option<(Name, Option<ExprRef>)> {
        let (region, start) = match array {
            ArrayRef::Variable(variable) => {
                let start = self.declarations.variable_bases.get(&variable).cloned();
                (Some(self.pointers.regions.of_variable(variable)), start)
            }
            ArrayRef::Pointee(parameter) => {
                let place = ParameterPlace { parameter, offset: 0 };
                (self.pointers.regions.of_place(place), self.declarations.place_bases.get(&place).cloned())
            }
        };
        let found = region.and_then(|region| self.declarations.arrays[region.0 as usize].clone());
        if found.is_none() {
            let message =
                "this annotation reads an array through a parameter that the kernel does not use as a pointer";
            self.diagnostics.push(Diagnostic::error("annotation", message, self.span()));
        }
        Some((found?, start))
    }
}
