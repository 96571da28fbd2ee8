//! Parts of addresses that matrix descriptors have.
//!
//! Input: an operation, and what its operands may hold. Output: what it makes of an address of shared memory, if that is a
//! [`Field`] of it. Establishes: where the array starts a multiple of 1024 bytes further behind, within the first 2^18 bytes, the field is
//! greater by as much, and nothing else changes; so the array needs no symbolic start. Relies on: the address that comes out is in the array, as
//! that of each access. Reference: PTX ISA, "Matrix Descriptor Format" (14 bits of an address of 18, in units of 16 bytes).

use super::pointers::{Pointers, State};
use super::points::{Field, Points};
use crate::ptx::ast::{IntOp, Operand, ScalarType, StateSpace};

/// The part of a shared address that a matrix descriptor has, and what is made of it that changes like that part where the array
/// starts a multiple of 1024 bytes further behind, so that nothing depends on where it does.
pub(super) fn field(
    analysis: &Pointers<'_>,
    (op, ty): (IntOp, ScalarType),
    sources: &[Operand],
    values: &[Points],
) -> Option<Points> {
    /// Bits of an address in a descriptor.
    const ADDRESS: u64 = 0x3_fff0;
    /// What is below a multiple of 1024 in units of 16 bytes.
    const LOW: u64 = 0x3f;
    let constant = |number: usize| match sources.get(number) {
        Some(Operand::Integer(value)) => Some(*value),
        _ => None,
    };
    let of_address = |value: &Points, in_units: bool| {
        let is_address = !value.regions.is_empty() && analysis.is_pure(value, StateSpace::Shared) && !value.generic;
        let fields = value.regions.iter().map(|region| Field { region: *region, in_units }).collect();
        is_address.then(|| Points { fields, ..Points::default() })
    };
    let in_units = |value: &Points, is: bool| value.is_field() && value.fields.iter().all(|field| field.in_units == is);
    let whole = |value: &Points| Points { fields: value.fields.clone(), ..Points::default() };
    let to_units = |value: &Points| {
        let fields = value.fields.iter().map(|field| Field { in_units: true, ..*field }).collect();
        Points { fields, ..Points::default() }
    };
    match (op, values) {
        (IntOp::Bfe, [a, ..]) if !ty.is_signed() && constant(1) == Some(4) && constant(2) >= Some(14) => {
            of_address(a, true)
        }
        (IntOp::Shr, [a, _]) if !ty.is_signed() && constant(1) == Some(4) => {
            if in_units(a, false) {
                Some(to_units(a))
            } else {
                of_address(a, true)
            }
        }
        (IntOp::And, [a, b]) => {
            let (value, mask) = if let Some(mask) = constant(1) { (a, mask) } else { (b, constant(0)?) };
            let keeps = |bits: u64| mask & bits == bits;
            match value {
                value if in_units(value, true) && keeps(ADDRESS >> 4) => Some(whole(value)),
                value if in_units(value, false) && keeps(ADDRESS) => Some(whole(value)),
                // A mask of more bits aligns an address, which stays one.
                value if keeps(ADDRESS) && mask <= ADDRESS | 0xf && !value.is_field() => of_address(value, false),
                _ => None,
            }
        }
        (IntOp::Or, [a, b]) => {
            let (value, bits) = if let Some(bits) = constant(1) { (a, bits) } else { (b, constant(0)?) };
            (in_units(value, true) && bits & (ADDRESS >> 4) <= LOW).then(|| whole(value))
        }
        (IntOp::Add | IntOp::Sub, [a, b]) if a.is_field() && b.is_plain_number() => Some(whole(a)),
        (IntOp::Add, [a, b]) if b.is_field() && a.is_plain_number() => Some(whole(b)),
        (IntOp::MadLo | IntOp::MadWide, [a, b, c]) if c.is_field() && a.is_plain_number() && b.is_plain_number() => {
            Some(whole(c))
        }
        _ => None,
    }
}

/// A descriptor that is put together from words, of which the first has the address, or taken apart.
pub(super) fn moved_field(analysis: &Pointers<'_>, state: &State, dst: &Operand, src: &Operand) -> Option<Points> {
    match (dst, src) {
        (Operand::Register(_), Operand::Vector(parts)) => {
            let (first, others) = parts.split_first()?;
            let first = analysis.operand(state, first);
            let is_number = |part: &Operand| analysis.operand(state, part).is_plain_number();
            (first.is_field() && others.iter().all(is_number)).then_some(first)
        }
        _ => None,
    }
}
