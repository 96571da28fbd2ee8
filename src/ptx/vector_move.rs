//! `mov.v2` and `mov.v4`: a move of each element.
//!
//! Input: the operands of one instruction.
//! Output: moves that do the same one after the other.
//! Establishes: no move writes what a later one reads, for the instruction reads all elements before it writes any.
//! Relies on: `operands` for as many destinations as sources.
//! Reference: PTX ISA, section "Vectors as Operands". GCC writes such moves, the manual of `mov` does not list them.

use super::ast::{Op, Operand, ScalarType};
use super::operands::Operands;
use super::scope::Scopes;

/// The moves, through temporaries if elements change places.
pub(crate) fn moves(ty: ScalarType, operands: &mut Operands, scopes: &mut Scopes<'_, '_>) -> Vec<Op> {
    let (destinations, mut sources) = (operands.take_destinations(), operands.take_sources());
    let mut ops = Vec::with_capacity(destinations.len());
    if overlap(&destinations, &sources) {
        for source in &mut sources {
            let dst = Operand::Register(scopes.temporary(ty));
            let src = std::mem::replace(source, dst.clone());
            ops.push(Op::Mov { ty, dst, src });
        }
    }
    ops.extend(destinations.into_iter().zip(sources).map(|(dst, src)| Op::Mov { ty, dst, src }));
    ops
}

/// Whether an element is written before it is read.
fn overlap(destinations: &[Operand], sources: &[Operand]) -> bool {
    (1..sources.len()).any(|at| sources[at] != Operand::Sink && destinations[..at].contains(&sources[at]))
}
