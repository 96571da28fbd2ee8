//! Volatile accesses as weak ones.
//!
//! Input: a [`Module`]. Output: the same, where `.volatile` is not written. Why: by the memory model a volatile access is a
//! relaxed one at system scope and races with none of its kind; who uses `volatile` without meaning synchronisation
//! wants to see such races. Reference: PTX ISA, "Volatile Operations".

use super::ast::{Item, Module, Op};
use crate::order::Ordering;

/// Makes all volatile accesses of a module weak.
pub(crate) fn weaken_volatile(module: &mut Module) {
    let bodies = module.functions.iter_mut().filter_map(|function| function.body.as_mut());
    for item in bodies.flat_map(|body| &mut body.items) {
        let Item::Instruction(instruction) = item else { continue };
        if let Op::Load { ordering, .. } | Op::Store { ordering, .. } = &mut instruction.op
            && *ordering == Ordering::Volatile
        {
            *ordering = Ordering::Weak;
        }
    }
}
