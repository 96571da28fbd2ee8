//! Instructions that do nothing but give registers values.
//!
//! Input: an instruction. Output: whether it is one, and its results. Establishes: nothing else happens at one of these.
//! Relies on: nothing. Reference: `exec::thread`, which executes them.

use crate::exec::decode::{Code, Program, Slot};

/// Whether an instruction does nothing but give registers values.
pub(super) fn is_computation(code: Code) -> bool {
    matches!(
        code,
        Code::One { .. }
            | Code::Two { .. }
            | Code::Three { .. }
            | Code::Many { .. }
            | Code::Partial { .. }
            | Code::Carry { .. }
            | Code::Move { .. }
            | Code::Select { .. }
            | Code::Arbitrary { .. }
            | Code::Opaque { .. }
            | Code::Clock { .. }
            | Code::Pack(_)
            | Code::Compare(_)
    )
}

/// The registers to which a computation gives values; `None` if it is none, or changes the flag of carries.
pub(crate) fn results(program: &Program, code: Code) -> Option<Vec<Slot>> {
    Some(match code {
        Code::One { d, .. }
        | Code::Two { d, .. }
        | Code::Three { d, .. }
        | Code::Many { d, .. }
        | Code::Partial { d, .. }
        | Code::Move { d, .. }
        | Code::Select { d, .. }
        | Code::Arbitrary { d, .. }
        | Code::Opaque { d, .. }
        | Code::Clock { d, .. } => vec![d],
        Code::Pack(index) => program.packs[index as usize].destinations.iter().filter_map(|(slot, _)| *slot).collect(),
        Code::Compare(index) => {
            let parts = &program.comparisons[index as usize];
            parts.d.map(|(slot, _)| slot).into_iter().chain(parts.complement).collect()
        }
        _ => return None,
    })
}
