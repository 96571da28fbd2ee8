//! Facts of the user about the elements of arrays: an execution that contradicts one is excluded.
//!
//! Input: the facts of a program, memory before the launch, the loads of all threads. Output: whether that memory contradicts
//! a fact about the start; whether a load contradicts another one. Establishes: the elements that were loaded so far meet it;
//! of others nothing is said. Relies on: the kernel does not write arrays with facts that are not about the start.
//! Reference: book/src/annotating.md.

use super::decode::{Code, Program};
use super::memory::GlobalMemory;
use crate::ptx::annotation::{ArrayFact, ValueKind, ValueType};
use std::collections::BTreeMap;

/// A fact about an array, and which of its elements were loaded.
pub(crate) struct EntriesFact {
    /// Number of the array among the global ones, and where the elements start in it.
    array: usize,
    start: u64,
    fact: ArrayFact,
    bytes: u32,
    is_signed: bool,
    /// The annotation.
    pub(crate) code: u32,
    by_offset: BTreeMap<u64, i128>,
    by_value: BTreeMap<i128, u64>,
}

/// The facts of a program.
pub(crate) fn of(program: &Program, global: &GlobalMemory) -> Vec<EntriesFact> {
    let coded = (0u32..).zip(&program.code).filter_map(|(code, this)| match this {
        Code::Annotation(index) => Some((code, &program.annotations[*index as usize])),
        _ => None,
    });
    let facts = coded.filter_map(|(code, stated)| {
        let ValueKind::Entries(fact, array, ValueType::Bits { width, signed }) = stated.expression.kind else {
            return None;
        };
        let (_, address) = stated.arrays.iter().find(|(known, _)| *known == array)?;
        let (array, start) = global.find(*address, 1)?;
        let (by_offset, by_value) = (BTreeMap::new(), BTreeMap::new());
        Some(EntriesFact { array, start, fact, bytes: width / 8, is_signed: signed, code, by_offset, by_value })
    });
    facts.collect()
}

impl EntriesFact {
    /// A load of so many bytes, lowest first in `value`; whether it contradicts the fact.
    pub(crate) fn is_broken_by(&mut self, (array, offset): (usize, u64), bytes: u32, value: u64) -> bool {
        if array != self.array || offset < self.start || !(offset - self.start).is_multiple_of(u64::from(self.bytes)) {
            return false;
        }
        let unused = 64 - 8 * self.bytes;
        (0..bytes / self.bytes).any(|index| {
            let bits = value >> (8 * self.bytes * index) << unused;
            let element = if self.is_signed { i128::from(bits as i64 >> unused) } else { i128::from(bits >> unused) };
            self.add(offset + u64::from(index * self.bytes), element)
        })
    }

    /// Whether memory before the launch contradicts the fact.
    pub(crate) fn is_broken_at_start(&self, global: &GlobalMemory) -> bool {
        match self.fact {
            ArrayFact::Initially { bits, at: Some(at) } => {
                let inside = global.arrays[self.array].size.saturating_sub(self.start + at) >= u64::from(self.bytes);
                inside && global.read(self.array, self.start + at, self.bytes) != bits
            }
            ArrayFact::Initially { bits, at: None } => {
                !global.arrays[self.array].is_filled_with(self.start, &bits.to_le_bytes()[..self.bytes as usize])
            }
            // The emulator starts with initialised variables.
            ArrayFact::Initialised | ArrayFact::Distinct | ArrayFact::Sorted => false,
        }
    }

    fn add(&mut self, offset: u64, element: i128) -> bool {
        match self.fact {
            ArrayFact::Distinct => *self.by_value.entry(element).or_insert(offset) != offset,
            ArrayFact::Initially { .. } | ArrayFact::Initialised => false,
            ArrayFact::Sorted => {
                self.by_offset.insert(offset, element);
                let before = self.by_offset.range(..offset).next_back();
                let after = self.by_offset.range(offset + 1..).next();
                before.is_some_and(|(_, before)| *before > element) || after.is_some_and(|(_, after)| *after < element)
            }
        }
    }
}
