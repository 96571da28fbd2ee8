//! Arrays in spaces whose addresses have 32 bits.
//!
//! Input: the accesses of a kernel. Output: the arrays of which every offset is a number of 32 bits, mostly the low half of
//! one of 64, as compilers compute addresses of shared memory; for each of their accesses an offset that is right modulo
//! 2^32. Establishes: two such offsets meet modulo 2^32 if and only if the accesses meet. Why: a prelude that compares modulo
//! 2^32 takes one remainder for each comparison; a remainder in each offset would hide from the solver what the sums
//! below it say. Reference: PTX, "Addresses as Operands" (an address wider than its space is truncated).

use super::accesses::byte_offset;
use crate::ivl::ast::{Access, ArraySpace, ExprKind, ExprRef, Implementation, Name, Program, StmtKind, Type};
use std::collections::BTreeSet;

/// The arrays whose accesses all have offsets of 32 bits.
pub(crate) fn arrays(program: &Program, body: &Implementation) -> BTreeSet<Name> {
    let shared = program.arrays.iter().filter(|array| array.space == ArraySpace::Shared);
    let mut narrow: BTreeSet<Name> = shared.map(|array| array.name.clone()).collect();
    for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
        if let StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } =
            &stmt.kind
            && byte_offset(access).is_none_or(|offset| half(&offset).is_none())
        {
            narrow.remove(&access.array);
        }
    }
    narrow
}

/// The offset of an access of such an array, right modulo 2^32: 64 bits.
pub(crate) fn offset(access: &Access) -> Option<ExprRef> {
    let offset = byte_offset(access)?;
    let half = half(&offset)?;
    match &half.kind {
        ExprKind::Extract { value, low: 0, .. } if value.ty == Type::Bv(64) => Some(value.clone()),
        _ => Some(offset),
    }
}

/// The 32 bits of which an offset is the extension.
fn half(offset: &ExprRef) -> Option<&ExprRef> {
    match &offset.kind {
        ExprKind::Call(extension, arguments) if extension.as_str() == "BV32_ZEXT64" => arguments.first(),
        ExprKind::Bv(value) if *value < 1 << 32 => Some(offset),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ivl::bv;

    fn access(offset: ExprRef) -> Access {
        Access { array: Name::from("s"), guard: None, offset, scale: 1, bytes: 4, strong: None, collective: None }
    }

    #[test]
    fn the_low_half_of_a_number_is_the_number_modulo_32_bits() {
        let number = bv::var("rd", Type::Bv(64));
        let low = bv::zext(bv::extract(number.clone(), 32, 0), 64);
        assert_eq!(offset(&access(low)), Some(number.clone()));
        let own = bv::zext(bv::var("r", Type::Bv(32)), 64);
        assert_eq!(offset(&access(own.clone())), Some(own));
        assert_eq!(offset(&access(number)), None);
    }
}
