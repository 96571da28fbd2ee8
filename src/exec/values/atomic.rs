//! What `atom` and `red` write.
//!
//! Reference: PTX ISA, `atom` and `red`.

use super::float::{Arithmetic, Extremum, Format, Mode, Rounding, arithmetic};
use super::integer::number;
use super::mask;
use super::packed::lanes;
use crate::ptx::ast::ScalarType;

/// The operations, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the modifiers
pub enum AtomicOperation {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exch,
    Cas,
}

impl AtomicOperation {
    /// The operation of that name.
    pub(crate) fn of(name: &str) -> Option<AtomicOperation> {
        use AtomicOperation::{Add, And, Cas, Dec, Exch, Inc, Max, Min, Or, Xor};
        Some(match name {
            "add" => Add,
            "min" => Min,
            "max" => Max,
            "and" => And,
            "or" => Or,
            "xor" => Xor,
            "inc" => Inc,
            "dec" => Dec,
            "exch" => Exch,
            "cas" => Cas,
            _ => return None,
        })
    }
}

/// The new value, from the old one and the operands; `None` where the type has no such operation.
pub(crate) fn atomic(operation: AtomicOperation, ty: ScalarType, old: u64, a: u64, b: u64) -> Option<u64> {
    let bits = ty.bits();
    let (old, a, b) = (old & mask(bits), a & mask(bits), b & mask(bits));
    Some(match operation {
        AtomicOperation::Exch => a,
        AtomicOperation::Cas => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOperation::And => old & a,
        AtomicOperation::Or => old | a,
        AtomicOperation::Xor => old ^ a,
        AtomicOperation::Inc if old >= a => 0,
        AtomicOperation::Inc => old + 1,
        AtomicOperation::Dec if old == 0 || old > a => a,
        AtomicOperation::Dec => old - 1,
        _ if ty.is_float() => return float(operation, ty, old, a),
        AtomicOperation::Add => old.wrapping_add(a) & mask(bits),
        AtomicOperation::Min if number(a, ty) < number(old, ty) => a,
        AtomicOperation::Max if number(a, ty) > number(old, ty) => a,
        AtomicOperation::Min | AtomicOperation::Max => old,
    })
}

/// `add` of `f32` in global memory, on today's hardware: subnormal operands and results are zeros of their sign.
pub(crate) fn flushed_add(old: u64, a: u64) -> u64 {
    let mode = Mode { rounding: Rounding::NearestEven, flush: true, saturate: false, relu: false };
    arithmetic(Arithmetic::Add, Format::F32, mode, [old & mask(32), a & mask(32), 0])
}

/// Subnormals are kept.
fn float(operation: AtomicOperation, ty: ScalarType, old: u64, a: u64) -> Option<u64> {
    let (format, count) = lanes(ty)?;
    let lane = |index: u32, value: u64| value >> (index * format.bits()) & mask(format.bits());
    (0..count).try_fold(0, |result, index| {
        let (old, a) = (lane(index, old), lane(index, a));
        let extremum = |maximum| Extremum { maximum, keep_nan: false, xor_sign: false }.of(format, false, old, a);
        let new = match operation {
            AtomicOperation::Add => {
                let mode = Mode { rounding: Rounding::NearestEven, flush: false, saturate: false, relu: false };
                arithmetic(Arithmetic::Add, format, mode, [old, a, 0])
            }
            AtomicOperation::Min => extremum(false),
            AtomicOperation::Max => extremum(true),
            _ => return None,
        };
        Some(result | new << (index * format.bits()))
    })
}
