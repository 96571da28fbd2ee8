//! Whether values that are not computed decide anything.
//!
//! Input: a program. Output: [`Deciding`]. Establishes: where it says that they do not, whichever values products of matrices have, each thread
//! executes the same instructions on the same places; what differs is what is stored. So what an execution shows does not
//! depend on them. Relies on: nothing. Flow-insensitive: a register, or a space of memory, is one thing.
//! Reference: Denning and Denning, "Certification of Programs for Secure Information Flow".

use super::ObjectKind::{Arrive, ArriveBehindCopies, Commit, Complete, Expect, Initialise, Invalidate, Wait};
use super::{Code, Moves, Program, Slot, Space};
use std::collections::BTreeSet;

/// What values decide that are not computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deciding {
    /// Which instructions are executed, or which places are accessed.
    pub(crate) control: bool,
    /// What is stored.
    pub(crate) stored: bool,
}

/// What may be such a value.
#[derive(Default)]
struct Opaque {
    slots: BTreeSet<Slot>,
    is_in_memory: bool,
}

/// What they decide in this program.
pub(super) fn deciding(program: &Program) -> Deciding {
    let mut opaque = Opaque::default();
    loop {
        let before = (opaque.slots.len(), opaque.is_in_memory);
        for code in &program.code {
            if opaque.step(program, *code).is_none() {
                return Deciding { control: true, stored: true };
            }
        }
        if before == (opaque.slots.len(), opaque.is_in_memory) {
            return Deciding { control: false, stored: opaque.is_in_memory };
        }
    }
}

impl Opaque {
    fn has(&self, slot: Slot) -> bool {
        self.slots.contains(&slot)
    }

    /// What an instruction makes of them; `None` if they decide what it does.
    fn step(&mut self, program: &Program, code: Code) -> Option<()> {
        let (sources, results): (Vec<Slot>, Vec<Slot>) = match code {
            Code::Opaque { d, .. } => {
                self.slots.insert(d);
                return Some(());
            }
            Code::One { d, a, .. } | Code::Move { d, a } => (vec![a], vec![d]),
            Code::Two { d, a, b, .. } | Code::Partial { d, a, b, .. } => (vec![a, b], vec![d]),
            Code::Three { d, a, b, c, .. } => (vec![a, b, c], vec![d]),
            Code::Many { d, s, .. } => (s.to_vec(), vec![d]),
            Code::Select { d, a, b, p } => (vec![a, b, p], vec![d]),
            Code::Pack(index) => {
                let pack = &program.packs[index as usize];
                let results = pack.destinations.iter().filter_map(|(slot, _)| *slot).collect();
                (pack.sources.iter().map(|(slot, _)| *slot).collect(), results)
            }
            Code::Compare(index) => {
                let parts = &program.comparisons[index as usize];
                let sources = [parts.a, parts.b].into_iter().chain(parts.combine.map(|(_, slot)| slot)).collect();
                (sources, parts.d.map(|(slot, _)| slot).into_iter().chain(parts.complement).collect())
            }
            Code::Load(index) | Code::Store(index) => {
                let access = &program.accesses[index as usize];
                let mut data = access.data.iter().flatten().map(|(slot, _)| *slot);
                if self.has(access.base) {
                    return None;
                }
                if matches!(code, Code::Store(_)) {
                    self.is_in_memory |= data.any(|slot| self.has(slot));
                } else if self.is_in_memory && access.space != Space::Param {
                    self.slots.extend(data);
                }
                return Some(());
            }
            Code::Warp(index) if program.warp_operations[index as usize].kind.is_shuffle() => {
                let operation = &program.warp_operations[index as usize];
                let [value, rest @ ..] = operation.s;
                if rest.into_iter().chain(operation.mask).any(|slot| self.has(slot)) {
                    return None;
                }
                (vec![value], operation.d[0].iter().map(|(slot, _)| *slot).collect())
            }
            _ => return (!self.is_used(program, code)).then_some(()),
        };
        if sources.into_iter().any(|slot| self.has(slot)) {
            self.slots.extend(results);
        }
        Some(())
    }

    /// Whether an instruction that does more than compute uses one of them.
    fn is_used(&self, program: &Program, code: Code) -> bool {
        let base = |access: u32| program.accesses[access as usize].base;
        let used: Vec<Slot> = match code {
            Code::Skip { p, .. } | Code::JumpIf { p, .. } => vec![p],
            Code::JumpTable { a, .. } => vec![a],
            Code::AsyncRead(index) | Code::AsyncWrite(index) => {
                let copy = &program.async_copies[index as usize];
                [base(copy.from), base(copy.to)].into_iter().chain(copy.taken.map(|(slot, _)| slot)).collect()
            }
            Code::Product(index) => {
                let product = program.products[index as usize];
                product.a.into_iter().chain([product.b]).map(|(slot, ..)| slot).collect()
            }
            Code::Barrier(index) => {
                let barrier = &program.barriers[index as usize];
                if barrier.reduction.is_some() {
                    return true;
                }
                barrier.count.into_iter().chain([barrier.id]).collect()
            }
            Code::Jump(_)
            | Code::Return
            | Code::Exit
            | Code::Trap
            | Code::Nothing
            | Code::Fence { .. }
            | Code::ProxyFence { .. }
            | Code::ObjectFence
            | Code::Arbitrary { .. }
            | Code::Clock { .. }
            | Code::AsyncCommit
            | Code::AsyncWait { .. }
            | Code::BulkCommit
            | Code::BulkWait { .. }
            | Code::ProductCommit
            | Code::ProductWait { .. }
            | Code::ClusterArrive { .. }
            | Code::ClusterWait => Vec::new(),
            Code::BulkRead(index) | Code::BulkWrite(index) => return self.is_in_bulk(program, index),
            Code::Object(index) => return self.is_in_object(program, index),
            Code::Warp(index) => {
                let operation = &program.warp_operations[index as usize];
                operation.s.into_iter().chain(operation.mask).collect()
            }
            _ => return !self.slots.is_empty(),
        };
        used.into_iter().any(|slot| self.has(slot))
    }

    fn is_in_bulk(&self, program: &Program, index: u32) -> bool {
        let operation = &program.bulk_operations[index as usize];
        let ends = operation.ends().into_iter().chain(operation.object);
        let mut used: Vec<Slot> = ends.map(|access| program.accesses[access as usize].base).collect();
        used.extend(operation.multicast);
        match &operation.moves {
            Moves::Bytes { size, .. } => used.push(*size),
            Moves::Tensor { coordinates, .. } => used.extend(coordinates),
            Moves::Values { values, .. } => used.extend(values),
        }
        used.into_iter().any(|slot| self.has(slot))
    }

    fn is_in_object(&self, program: &Program, index: u32) -> bool {
        let operation = &program.objects[index as usize];
        let mut used = vec![program.accesses[operation.access as usize].base];
        match operation.kind {
            Initialise { count } => used.push(count),
            Expect { bytes } | Complete { bytes } => used.push(bytes),
            Arrive { count, bytes, .. } => used.extend(count.into_iter().chain(bytes)),
            Wait { phase, .. } => used.push(phase),
            Commit { multicast } => used.extend(multicast),
            Invalidate | ArriveBehindCopies { .. } => {}
        }
        used.into_iter().any(|slot| self.has(slot))
    }
}
