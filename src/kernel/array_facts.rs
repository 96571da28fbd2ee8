//! Facts about what arrays hold that the kernel only reads: `requires distinct([index].s32)`, `requires sorted(...)`.
//!
//! Input: the facts that the author states, the blocks of the kernel. Output: on each plain load of one element of such an
//! array an attribute, `{:entries "distinct"}`. Establishes: an array with a fact is global, starts where its pointer
//! does, and no instruction of the kernel may write it; a load with the attribute is one of the kernel itself, weak, of
//! one thread and as wide as an element. Relies on: accesses through pointers of unknown origin stand in the program as
//! accesses of every array.
//! Reference: README, "Annotations".

use super::lowering::{Lowering, text};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Block, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ptx::annotation::{ArrayFact, ArrayRef, ValueType};
use crate::ptx::ast::{Annotation, VariableRef};
use crate::span::Span;

/// The attribute of a load of an array with a fact.
pub(crate) const ENTRIES: &str = "entries";

/// A fact that the author states.
pub(crate) struct StatedFact {
    array: Name,
    fact: ArrayFact,
    element: ValueType,
    span: Span,
}

impl Lowering<'_> {
    /// Takes a fact, or refuses it where the array is none that it can be about.
    pub(super) fn array_fact(
        &mut self,
        annotation: &Annotation,
        (fact, array, element): (ArrayFact, ArrayRef, ValueType),
    ) {
        if self.options.rules.may_alias {
            return self.refuse_fact(annotation, "with --may-alias others may write what this fact is about");
        }
        if let ArrayRef::Pointee(parameter) = array
            && self.options.aliases.first(parameter).is_some()
        {
            return self.refuse_fact(annotation, "in this launch others point into the array that this fact is about");
        }
        if let ArrayRef::Variable(variable) = array
            && !self.is_global(variable)
        {
            return self.refuse_fact(
                annotation,
                "this fact is about arrays in global memory, which hold something before the launch",
            );
        }
        if !self.cfg.is_before_branches(annotation) {
            let message = "this fact is about the whole launch: move it in front of the first branch";
            return self.refuse_fact(annotation, message);
        }
        let Some((array, start)) = self.annotated_array(array) else { return };
        if start.is_some() {
            let message = "this fact is about an array whose address the kernel stores, so others may write it";
            return self.refuse_fact(annotation, message);
        }
        self.array_facts.push(StatedFact { array, fact, element, span: annotation.origin.span });
    }

    fn refuse_fact(&mut self, annotation: &Annotation, message: &str) {
        self.diagnostics.push(Diagnostic::error("annotation", message, annotation.origin.span));
    }

    fn is_global(&self, variable: VariableRef) -> bool {
        let variables = &self.pointers.regions;
        variables.get(variables.of_variable(variable)).space == super::regions::Space::Global
    }

    /// Marks the loads of arrays with facts.
    pub(super) fn mark_array_facts(&mut self, blocks: &mut [Block]) {
        for StatedFact { array, fact, element, span } in &self.array_facts {
            let writes = |stmt: &&Stmt| match &stmt.kind {
                StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => access.array == *array,
                _ => false,
            };
            if let Some(writer) = blocks.iter().flat_map(|block| &block.stmts).find(writes) {
                let line = writer.origin.as_ref().map(|origin| format!(", at PTX line {}", origin.line));
                let message = format!("the kernel may write this array{}", line.unwrap_or_default());
                let note = "`distinct` and `sorted` are about arrays that a kernel only reads";
                self.diagnostics.push(Diagnostic::error("annotation", message, *span).note(note));
                continue;
            }
            let ValueType::Bits { width, signed } = *element else { continue };
            let order = match (fact, signed) {
                (ArrayFact::Distinct, _) => "distinct",
                (ArrayFact::Sorted, true) => "sorted signed",
                (ArrayFact::Sorted, false) => "sorted unsigned",
            };
            for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
                // What an annotation reads, perhaps no thread has loaded.
                if let StmtKind::Load { access, .. } = &stmt.kind
                    && !stmt.attributes.has("ghost")
                    && !stmt.attributes.has("barrier_invariant")
                    && access.array == *array
                    && (access.bytes * 8, access.strong, &access.collective) == (width, None, &None)
                {
                    stmt.attributes.push(text(ENTRIES, order));
                }
            }
        }
    }
}
