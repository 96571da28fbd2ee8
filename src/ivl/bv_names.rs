//! Recognises the functions that every IVL program has without declaring them.
//!
//! Input: a function name. Output: what it means, as a [`Builtin`].
//! Establishes: name and meaning are one to one, so a name alone tells printer, checker,
//! evaluator and solver the same thing. Relies on: nothing. Reference: the naming convention of
//! [`super::bv`]; SMT-LIB theory FixedSizeBitVectors.

use super::ast::{Name, Type};
use super::bv::{BV_OPS, BvOp};

/// The widest bit-vector; literals are kept in 128 bits.
pub(crate) const MAX_WIDTH: u32 = 128;

/// A function the language knows by its name. Widths are in bits, 1 to [`MAX_WIDTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Builtin {
    /// `BVn_OP`: an operator on width n.
    Op(BvOp, u32),
    /// `BVn_ZEXTm`: n to m bits, zeros above.
    ZeroExtend {
        /// Width of the operand.
        from: u32,
        /// Width of the result, more than `from`.
        to: u32,
    },
    /// `BVn_SEXTm`: n to m bits, copies of the sign bit above.
    SignExtend {
        /// Width of the operand.
        from: u32,
        /// Width of the result, more than `from`.
        to: u32,
    },
    /// `BVn_TO_INT`: the unsigned value.
    ToInt(u32),
    /// `BVn_TO_SINT`: the two's complement value.
    ToSignedInt(u32),
    /// `INT_TO_BVn`: the residue modulo 2^n.
    FromInt(u32),
}

/// The meaning of a function name, if the language knows it.
pub fn parse_builtin(name: &str) -> Option<Builtin> {
    if let Some(width) = name.strip_prefix("INT_TO_BV") {
        return Some(Builtin::FromInt(parse_width(width)?));
    }
    let (width, rest) = name.strip_prefix("BV")?.split_once('_')?;
    let width = parse_width(width)?;
    let extension = |to: &str| parse_width(to).filter(|&to| to > width);
    if let Some(to) = rest.strip_prefix("ZEXT") {
        return Some(Builtin::ZeroExtend { from: width, to: extension(to)? });
    }
    if let Some(to) = rest.strip_prefix("SEXT") {
        return Some(Builtin::SignExtend { from: width, to: extension(to)? });
    }
    match rest {
        "TO_INT" => Some(Builtin::ToInt(width)),
        "TO_SINT" => Some(Builtin::ToSignedInt(width)),
        _ => BV_OPS.into_iter().find(|op| op.names().0 == rest).map(|op| Builtin::Op(op, width)),
    }
}

/// A width as the names spell it: no sign, no leading zero, in range.
fn parse_width(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    let width = text.parse().ok().filter(|_| plain)?;
    (1..=MAX_WIDTH).contains(&width).then_some(width)
}

impl Builtin {
    /// The function name; the inverse of [`parse_builtin`].
    pub(crate) fn name(self) -> Name {
        match self {
            Builtin::Op(op, width) => op.function(width),
            Builtin::ZeroExtend { from, to } => Name::from(format!("BV{from}_ZEXT{to}")),
            Builtin::SignExtend { from, to } => Name::from(format!("BV{from}_SEXT{to}")),
            Builtin::ToInt(width) => Name::from(format!("BV{width}_TO_INT")),
            Builtin::ToSignedInt(width) => Name::from(format!("BV{width}_TO_SINT")),
            Builtin::FromInt(width) => Name::from(format!("INT_TO_BV{width}")),
        }
    }

    /// Parameter types and result type.
    pub(crate) fn signature(self) -> (Vec<Type>, Type) {
        match self {
            Builtin::Op(op, width) => {
                let result = if op.is_comparison() { Type::Bool } else { Type::Bv(width) };
                (vec![Type::Bv(width); op.arity()], result)
            }
            Builtin::ZeroExtend { from, to } | Builtin::SignExtend { from, to } => (vec![Type::Bv(from)], Type::Bv(to)),
            Builtin::ToInt(width) | Builtin::ToSignedInt(width) => (vec![Type::Bv(width)], Type::Int),
            Builtin::FromInt(width) => (vec![Type::Int], Type::Bv(width)),
        }
    }

    /// The text of the `:bvbuiltin` attribute; `None` for `BVn_TO_SINT`, which is a defined
    /// function because SMT-LIB has no name for it that every solver knows.
    pub(crate) fn smt_name(self) -> Option<String> {
        match self {
            Builtin::Op(op, _) => Some(op.names().1.to_string()),
            Builtin::ZeroExtend { from, to } => Some(format!("zero_extend {}", to - from)),
            Builtin::SignExtend { from, to } => Some(format!("sign_extend {}", to - from)),
            Builtin::ToInt(_) => Some("bv2int".to_string()),
            Builtin::ToSignedInt(_) => None,
            Builtin::FromInt(width) => Some(format!("(_ int2bv {width})")),
        }
    }

    /// The function that a `:bvbuiltin` text means for a given signature.
    pub(crate) fn from_smt_name(text: &str, params: &[Type], result: &Type) -> Option<Builtin> {
        let words: Vec<&str> = text.trim_matches(|c| c == '(' || c == ')').split_whitespace().collect();
        let words = words.strip_prefix(&["_"]).unwrap_or(&words);
        let width = params.iter().find_map(bv_width).or(bv_width(result))?;
        let to = bv_width(result).unwrap_or(width);
        let candidate = match words {
            ["zero_extend", _] => Builtin::ZeroExtend { from: width, to },
            ["sign_extend", _] => Builtin::SignExtend { from: width, to },
            ["bv2int" | "bv2nat" | "ubv_to_int"] => Builtin::ToInt(width),
            ["int2bv" | "int_to_bv", _] => Builtin::FromInt(width),
            [name] => Builtin::Op(BV_OPS.into_iter().find(|op| op.names().1 == *name)?, width),
            _ => return None,
        };
        // The number in `zero_extend 32` or `int2bv 32` has to agree with the signature.
        let number = match candidate {
            Builtin::ZeroExtend { from, to } | Builtin::SignExtend { from, to } => Some(to.checked_sub(from)?),
            Builtin::FromInt(width) => Some(width),
            _ => None,
        };
        let agrees = number.is_none_or(|n| words.get(1).is_some_and(|w| *w == n.to_string()));
        let known = parse_builtin(candidate.name().as_str()) == Some(candidate);
        (agrees && known && candidate.signature() == (params.to_vec(), result.clone())).then_some(candidate)
    }
}

fn bv_width(ty: &Type) -> Option<u32> {
    match ty {
        Type::Bv(width) => Some(*width),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_meanings_are_one_to_one() {
        let mut all = vec![
            Builtin::ZeroExtend { from: 8, to: 32 },
            Builtin::SignExtend { from: 1, to: 128 },
            Builtin::ToInt(32),
            Builtin::ToSignedInt(64),
            Builtin::FromInt(16),
        ];
        all.extend(BV_OPS.map(|op| Builtin::Op(op, 32)));
        for builtin in all {
            assert_eq!(parse_builtin(builtin.name().as_str()), Some(builtin));
            if let Some(text) = builtin.smt_name() {
                let (params, result) = builtin.signature();
                assert_eq!(Builtin::from_smt_name(&text, &params, &result), Some(builtin));
            }
        }
    }

    #[test]
    fn look_alikes_are_not_builtins() {
        for name in ["BV32_ADDX", "BV0_ADD", "BV032_ADD", "BV129_ADD", "BV+8_ADD", "BV64_ZEXT32", "BV_ADD", "BV8_"] {
            assert_eq!(parse_builtin(name), None, "{name}");
        }
        let bv32 = [Type::Bv(32), Type::Bv(32)];
        assert_eq!(Builtin::from_smt_name("bvadd", &bv32, &Type::Bool), None);
        assert_eq!(Builtin::from_smt_name("zero_extend 8", &bv32[..1], &Type::Bv(64)), None);
        assert_eq!(Builtin::from_smt_name("bvnand", &bv32, &Type::Bv(32)), None);
    }
}
