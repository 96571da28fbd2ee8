//! Arrays as the author states that they are when the kernel starts.
//!
//! Input: what an array of a proposed execution holds, the annotations of the kernel. Output: contents that meet
//! `initially(...)`. Establishes: an execution is not excluded for the array of a parameter of which one fact is stated. Relies
//! on: the emulator excludes what meets no fact. Reference: book/src/annotating.md.

use crate::exec::launch::Contents;
use crate::exec::memory::UNBOUNDED;
use crate::ptx::annotation::{ArrayFact, ArrayRef, ValueKind};
use crate::ptx::ast::{Function, Item};
use std::collections::BTreeMap;

/// What the array of a parameter holds, where something is stated of it.
pub(super) fn contents(entry: &Function, parameter: &str, otherwise: Contents) -> Contents {
    let items = entry.body.iter().flat_map(|body| &body.items);
    let facts = items.filter_map(|item| match item {
        Item::Annotation(annotation) => match annotation.expression.kind {
            ValueKind::Entries(ArrayFact::Initially { bits, at }, ArrayRef::Pointee(number), element) => {
                let is_this = entry.params.get(number as usize).is_some_and(|one| *one.name == *parameter);
                is_this.then(|| (at, bits.to_le_bytes()[..element.bytes() as usize].to_vec()))
            }
            _ => None,
        },
        _ => None,
    });
    facts.fold(otherwise, |contents, (at, bytes)| match at {
        None if bytes.iter().all(|byte| *byte == 0) => Contents::Zero,
        None => Contents::Each(bytes),
        Some(at) => {
            let mut cells = if let Contents::Cells(cells) = contents { cells } else { BTreeMap::new() };
            cells.extend((UNBOUNDED + at..).zip(bytes));
            Contents::Cells(cells)
        }
    })
}
