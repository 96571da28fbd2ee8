//! The names of bit-vector builtins, read back: `BV32_ADD` to an operator on 32 bits.

use super::bv::{BV_OPS, BvOp};

/// A function that every IVL program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// An operator on the given width in bits.
    Op(BvOp, u32),
    /// `BVfrom_ZEXTto`
    ZeroExtend {
        /// Width of the operand in bits.
        from: u32,
        /// Width of the result in bits.
        to: u32,
    },
    /// `BVfrom_SEXTto`
    SignExtend {
        /// Width of the operand in bits.
        from: u32,
        /// Width of the result in bits.
        to: u32,
    },
    /// `BVw_TO_INT`: the unsigned value.
    ToInt(u32),
    /// `BVw_TO_SINT`: the signed value.
    ToSignedInt(u32),
    /// `INT_TO_BVw`: the congruent bit-vector.
    FromInt(u32),
}

/// The builtin of that name, if it is one.
pub fn parse_builtin(name: &str) -> Option<Builtin> {
    let width = |text: &str| text.parse::<u32>().ok().filter(|w| (1..=128).contains(w));
    if let Some(digits) = name.strip_prefix("INT_TO_BV") {
        return width(digits).map(Builtin::FromInt);
    }
    let (digits, suffix) = name.strip_prefix("BV")?.split_once('_')?;
    let from = width(digits)?;
    match suffix {
        "TO_INT" => return Some(Builtin::ToInt(from)),
        "TO_SINT" => return Some(Builtin::ToSignedInt(from)),
        _ => {}
    }
    if let Some(to) = suffix.strip_prefix("ZEXT").and_then(width) {
        return (to > from).then_some(Builtin::ZeroExtend { from, to });
    }
    if let Some(to) = suffix.strip_prefix("SEXT").and_then(width) {
        return (to > from).then_some(Builtin::SignExtend { from, to });
    }
    BV_OPS.iter().find(|op| op.names().0 == suffix).map(|&op| Builtin::Op(op, from))
}
