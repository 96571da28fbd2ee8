//! Facts about what arrays hold: `requires distinct([index].s32)`, `sorted(...)` of arrays that the kernel only reads;
//! `initially([count].s32 == 0)`, `initialised(table)` of the start of the kernel.
//!
//! Input: the facts that the author states, the blocks of the kernel. Output: on each plain load of one element of such an
//! array an attribute, `{:entries "distinct"}`, or `{:initially ...}`, which atomics with tickets have, too. Establishes: an
//! array with a fact is global, starts where its pointer does, and no instruction of the kernel may write it, unless the fact is
//! about the start only; a load with the attribute is one of the kernel itself, weak, of one thread and as wide as an
//! element (of an initialised variable: as wide as it likes). Relies on: accesses through pointers of unknown origin stand in
//! the program as accesses of every array; `twothread` uses what holds at the start for nothing that comes later.
//! Reference: book/src/annotating.md.

use super::lowering::{Lowering, text};
use super::regions::{Space, declaration};
use super::tickets::TICKET;
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Attribute, AttributeArg, Block, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv;
use crate::ptx::annotation::{ArrayFact, ArrayRef, ValueType};
use crate::ptx::ast::{Annotation, InitialConstant, Linkage, Module, Variable, VariableRef};
use crate::span::Span;

/// The attribute of a load of an array with a fact.
pub(crate) const ENTRIES: &str = "entries";

/// The attribute of an access to an array of which is stated what it holds at the start: `{:initially "all", value}`,
/// `{:initially "one", value, byte offset}`, `{:initially "these", value, value, ...}` as wide as the access, from offset
/// 0 on, `{:initially "between", least, greatest}` without sign, below that many bytes.
pub(crate) const INITIALLY: &str = "initially";

/// Of larger tables only the least and the greatest element are told.
const MOST_ELEMENTS: usize = 64;

/// Bytes of a variable whose initialiser is looked at.
const MOST_BYTES: usize = 1 << 20;

/// A fact that the author states.
pub(crate) struct StatedFact {
    array: Name,
    fact: ArrayFact,
    element: ValueType,
    variable: Option<VariableRef>,
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
        let variable = if let ArrayRef::Variable(variable) = array { Some(variable) } else { None };
        let has_contents = |space: Space| match space {
            Space::Const => fact == ArrayFact::Initialised,
            space => space == Space::Global,
        };
        if variable.is_some_and(|variable| !has_contents(self.space_of(variable))) {
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
        self.array_facts.push(StatedFact { array, fact, element, variable, span: annotation.origin.span });
    }

    fn refuse_fact(&mut self, annotation: &Annotation, message: &str) {
        self.diagnostics.push(Diagnostic::error("annotation", message, annotation.origin.span));
    }

    fn space_of(&self, variable: VariableRef) -> Space {
        let variables = &self.pointers.regions;
        variables.get(variables.of_variable(variable)).space
    }

    /// Marks the accesses of arrays with facts. Atomics with tickets are marked before.
    pub(super) fn mark_array_facts(&mut self, module: &Module, blocks: &mut [Block]) {
        for stated in &self.array_facts {
            let StatedFact { array, fact, span, .. } = stated;
            let writes = |stmt: &&Stmt| match &stmt.kind {
                StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => access.array == *array,
                _ => false,
            };
            if !fact.is_about_start()
                && let Some(writer) = blocks.iter().flat_map(|block| &block.stmts).find(writes)
            {
                let line = writer.origin.as_ref().map(|origin| format!(", at PTX line {}", origin.line));
                let message = format!("the kernel may write this array{}", line.unwrap_or_default());
                let note = "`distinct` and `sorted` are about arrays that a kernel only reads";
                self.diagnostics.push(Diagnostic::error("annotation", message, *span).note(note));
                continue;
            }
            let declared = stated.variable.and_then(|variable| declaration(module, self.cfg, variable));
            let initial = declared.filter(|_| *fact == ArrayFact::Initialised).map(initial_bytes).transpose();
            let initial = match initial {
                Ok(bytes) => bytes.unwrap_or_default(),
                Err(message) => {
                    self.diagnostics.push(Diagnostic::error("annotation", message, *span));
                    continue;
                }
            };
            for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
                let mark = stated.mark(stmt, &initial);
                stmt.attributes.extend(mark);
            }
        }
    }
}

impl StatedFact {
    /// Whether it may say that an array holds something else than 0 at the start.
    pub(super) fn denies_zero(&self, array: &Name) -> bool {
        self.array == *array && !matches!(self.fact, ArrayFact::Initially { bits: 0, at: None })
    }

    /// The attribute of a statement that accesses the array; `initial` is what it is initialised with.
    fn mark(&self, stmt: &Stmt, initial: &[u8]) -> Option<Attribute> {
        let access = match &stmt.kind {
            // What an annotation reads, perhaps no thread has loaded.
            StmtKind::Load { access, .. }
                if access.strong.is_none()
                    && !stmt.attributes.has("ghost")
                    && !stmt.attributes.has("barrier_invariant") =>
            {
                access
            }
            StmtKind::Atomic { access, .. } if stmt.attributes.has(TICKET) => access,
            _ => return None,
        };
        if access.array != self.array || access.collective.is_some() || !matches!(access.bytes, 1 | 2 | 4 | 8) {
            return None;
        }
        let ValueType::Bits { width, signed } = self.element else { return None };
        let is_element = access.bytes * 8 == width;
        let number = |value: u64| AttributeArg::Expr(bv::int(i128::from(value)));
        let initially = |kind: &str, numbers: Vec<u64>| {
            let arguments = numbers.into_iter().map(number);
            let args = std::iter::once(AttributeArg::Text(kind.to_string())).chain(arguments).collect();
            Attribute { name: Name::from(INITIALLY), args }
        };
        match (self.fact, signed) {
            (ArrayFact::Initialised, _) => {
                let size = access.bytes as usize;
                let value = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
                let values: Vec<u64> = initial.chunks_exact(size).map(value).collect();
                if values.len() <= MOST_ELEMENTS {
                    return Some(initially("these", values));
                }
                let bound = values.len() as u64 * size as u64;
                Some(initially("between", vec![*values.iter().min()?, *values.iter().max()?, bound]))
            }
            _ if !is_element => None,
            (ArrayFact::Initially { bits, at: None }, _) => Some(initially("all", vec![bits])),
            (ArrayFact::Initially { bits, at: Some(at) }, _) => Some(initially("one", vec![bits, at])),
            (ArrayFact::Distinct, _) => Some(text(ENTRIES, "distinct")),
            (ArrayFact::Sorted, true) => Some(text(ENTRIES, "sorted signed")),
            (ArrayFact::Sorted, false) => Some(text(ENTRIES, "sorted unsigned")),
        }
    }
}

/// What a variable holds when the module is loaded.
fn initial_bytes(variable: &Variable) -> Result<Vec<u8>, &'static str> {
    let size = variable.size.and_then(|size| usize::try_from(size).ok());
    let is_here = matches!(variable.linkage, Linkage::Internal | Linkage::Visible);
    let Some(size) = size.filter(|size| is_here && *size <= MOST_BYTES) else {
        return Err("this variable may be defined elsewhere, or is too large to look at its initialiser");
    };
    let mut bytes = vec![0; size];
    for initial in &variable.initial_values {
        let InitialConstant::Bits(bits) = initial.value else {
            return Err("the initialiser of this variable holds addresses");
        };
        let start = usize::try_from(initial.offset).unwrap_or(usize::MAX);
        let target = bytes.iter_mut().skip(start).take(initial.bytes as usize);
        target.zip(bits.to_le_bytes()).for_each(|(byte, from)| *byte = from);
    }
    Ok(bytes)
}
