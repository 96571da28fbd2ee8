//! Builders for expressions: bit-vector operators as Boogie functions, with light folding.
//!
//! A bit-vector operator `op` on width N is the function `BVN_OP` with `{:bvbuiltin "bvop"}`.
//! [`BvOp`] is the one table of these operators: name in the IVL, name in SMT-LIB.

pub(crate) use super::bv_names::{Builtin, parse_builtin};

use super::ast::{BinaryOp, Expr, ExprKind, ExprRef, Name, Type, UnaryOp};
use crate::limits;
use crate::span::Span;
use std::sync::Arc;

/// Bit-vector operators that the IVL knows as `:bvbuiltin` functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum BvOp {
    Neg,
    Not,
    Add,
    Sub,
    Mul,
    Udiv,
    Urem,
    Sdiv,
    Srem,
    And,
    Or,
    Xor,
    Shl,
    Lshr,
    Ashr,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

/// All operators, in the order of declarations.
pub(crate) const BV_OPS: [BvOp; 23] = [
    BvOp::Neg,
    BvOp::Not,
    BvOp::Add,
    BvOp::Sub,
    BvOp::Mul,
    BvOp::Udiv,
    BvOp::Urem,
    BvOp::Sdiv,
    BvOp::Srem,
    BvOp::And,
    BvOp::Or,
    BvOp::Xor,
    BvOp::Shl,
    BvOp::Lshr,
    BvOp::Ashr,
    BvOp::Ult,
    BvOp::Ule,
    BvOp::Ugt,
    BvOp::Uge,
    BvOp::Slt,
    BvOp::Sle,
    BvOp::Sgt,
    BvOp::Sge,
];

impl BvOp {
    /// The suffix in the IVL name and the SMT-LIB name.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            BvOp::Neg => ("NEG", "bvneg"),
            BvOp::Not => ("NOT", "bvnot"),
            BvOp::Add => ("ADD", "bvadd"),
            BvOp::Sub => ("SUB", "bvsub"),
            BvOp::Mul => ("MUL", "bvmul"),
            BvOp::Udiv => ("UDIV", "bvudiv"),
            BvOp::Urem => ("UREM", "bvurem"),
            BvOp::Sdiv => ("SDIV", "bvsdiv"),
            BvOp::Srem => ("SREM", "bvsrem"),
            BvOp::And => ("AND", "bvand"),
            BvOp::Or => ("OR", "bvor"),
            BvOp::Xor => ("XOR", "bvxor"),
            BvOp::Shl => ("SHL", "bvshl"),
            BvOp::Lshr => ("LSHR", "bvlshr"),
            BvOp::Ashr => ("ASHR", "bvashr"),
            BvOp::Ult => ("ULT", "bvult"),
            BvOp::Ule => ("ULE", "bvule"),
            BvOp::Ugt => ("UGT", "bvugt"),
            BvOp::Uge => ("UGE", "bvuge"),
            BvOp::Slt => ("SLT", "bvslt"),
            BvOp::Sle => ("SLE", "bvsle"),
            BvOp::Sgt => ("SGT", "bvsgt"),
            BvOp::Sge => ("SGE", "bvsge"),
        }
    }

    /// True for comparisons, whose result is `bool`.
    pub(crate) fn is_comparison(self) -> bool {
        self >= BvOp::Ult
    }

    /// Number of operands.
    pub(crate) fn arity(self) -> usize {
        if matches!(self, BvOp::Neg | BvOp::Not) { 1 } else { 2 }
    }

    /// The IVL function name for a width in bits, e.g. `BV32_ADD`.
    pub fn function(self, width: u32) -> Name {
        Name::from(format!("BV{width}_{}", self.names().0))
    }
}

/// Makes a node without a span.
pub(crate) fn node(kind: ExprKind, ty: Type) -> ExprRef {
    limits::check();
    Arc::new(Expr { kind, ty, span: Span::NONE })
}

/// `true` or `false`
pub fn boolean(value: bool) -> ExprRef {
    node(ExprKind::Bool(value), Type::Bool)
}

/// An integer literal.
pub fn int(value: i128) -> ExprRef {
    node(ExprKind::Int(value), Type::Int)
}

/// A bit-vector literal; the value is taken modulo 2^width.
pub fn literal(value: u128, width: u32) -> ExprRef {
    let mask = if width >= 128 { u128::MAX } else { (1u128 << width) - 1 };
    node(ExprKind::Bv(value & mask), Type::Bv(width))
}

/// A variable.
pub fn var(name: impl Into<Name>, ty: Type) -> ExprRef {
    node(ExprKind::Var(name.into()), ty)
}

/// Width in bits of a bit-vector expression; 0 for other types.
pub fn width(e: &Expr) -> u32 {
    match e.ty {
        Type::Bv(w) => w,
        _ => 0,
    }
}

/// A unary bit-vector operator.
pub(crate) fn unary(op: BvOp, a: ExprRef) -> ExprRef {
    let w = width(&a);
    node(ExprKind::Call(op.function(w), vec![a]), Type::Bv(w))
}

/// A binary bit-vector operator or comparison; adding or shifting by a literal zero folds.
pub fn binary(op: BvOp, a: ExprRef, b: ExprRef) -> ExprRef {
    let w = width(&a);
    let zero = |e: &ExprRef| matches!(e.kind, ExprKind::Bv(0));
    match op {
        BvOp::Add | BvOp::Sub | BvOp::Shl | BvOp::Lshr | BvOp::Ashr | BvOp::Or | BvOp::Xor if zero(&b) => {
            return a;
        }
        BvOp::Add if zero(&a) => return b,
        _ => {}
    }
    let ty = if op.is_comparison() { Type::Bool } else { Type::Bv(w) };
    node(ExprKind::Call(op.function(w), vec![a, b]), ty)
}

/// `a + b`
pub fn add(a: ExprRef, b: ExprRef) -> ExprRef {
    binary(BvOp::Add, a, b)
}

/// `a - b`
pub(crate) fn sub(a: ExprRef, b: ExprRef) -> ExprRef {
    binary(BvOp::Sub, a, b)
}

/// `a * b`
pub fn mul(a: ExprRef, b: ExprRef) -> ExprRef {
    binary(BvOp::Mul, a, b)
}

/// Zero extension or truncation to `to` bits: `BV32_ZEXT64(e)` or `e[to:0]`.
pub fn zext(e: ExprRef, to: u32) -> ExprRef {
    resize(e, to, "ZEXT")
}

/// Sign extension or truncation to `to` bits: `BV32_SEXT64(e)` or `e[to:0]`.
pub fn sext(e: ExprRef, to: u32) -> ExprRef {
    resize(e, to, "SEXT")
}

fn resize(e: ExprRef, to: u32, kind: &str) -> ExprRef {
    let from = width(&e);
    match from.cmp(&to) {
        std::cmp::Ordering::Equal => e,
        std::cmp::Ordering::Greater => extract(e, to, 0),
        std::cmp::Ordering::Less => {
            if let (ExprKind::Bv(v), "ZEXT") = (&e.kind, kind) {
                return literal(*v, to);
            }
            node(ExprKind::Call(Name::from(format!("BV{from}_{kind}{to}")), vec![e]), Type::Bv(to))
        }
    }
}

/// Bits `low` to `high - 1`.
pub(crate) fn extract(value: ExprRef, high: u32, low: u32) -> ExprRef {
    if low == 0 && high == width(&value) {
        return value;
    }
    if let ExprKind::Bv(v) = value.kind {
        return literal(v >> low, high - low);
    }
    node(ExprKind::Extract { value, high, low }, Type::Bv(high - low))
}

/// `high ++ low`
pub fn concat(high: ExprRef, low: ExprRef) -> ExprRef {
    let w = width(&high) + width(&low);
    node(ExprKind::Concat(high, low), Type::Bv(w))
}

/// The integer value of a bit-vector, unsigned: `BV32_TO_INT(e)`.
pub fn to_int(e: ExprRef) -> ExprRef {
    let w = width(&e);
    node(ExprKind::Call(Name::from(format!("BV{w}_TO_INT")), vec![e]), Type::Int)
}

/// The integer value of a bit-vector, signed: `BV32_TO_SINT(e)`.
pub fn to_sint(e: ExprRef) -> ExprRef {
    let w = width(&e);
    node(ExprKind::Call(Name::from(format!("BV{w}_TO_SINT")), vec![e]), Type::Int)
}

/// The bit-vector of the given width congruent to an integer: `INT_TO_BV32(e)`.
pub fn from_int(e: ExprRef, width: u32) -> ExprRef {
    node(ExprKind::Call(Name::from(format!("INT_TO_BV{width}")), vec![e]), Type::Bv(width))
}

/// `!e`, folded.
pub fn not(e: ExprRef) -> ExprRef {
    match &e.kind {
        ExprKind::Bool(b) => boolean(!b),
        ExprKind::Unary(UnaryOp::Not, inner) => inner.clone(),
        _ => node(ExprKind::Unary(UnaryOp::Not, e), Type::Bool),
    }
}

/// A binary operator of the core language, with the Boolean ones folded.
pub fn op(op: BinaryOp, a: ExprRef, b: ExprRef) -> ExprRef {
    use BinaryOp::*;
    let truth = |e: &ExprRef| match e.kind {
        ExprKind::Bool(b) => Some(b),
        _ => None,
    };
    match (op, truth(&a), truth(&b)) {
        (And, Some(true), _) | (Or, Some(false), _) | (Implies, Some(true), _) => return b,
        (And, _, Some(true)) | (Or, _, Some(false)) => return a,
        (And, Some(false), _) | (And, _, Some(false)) => return boolean(false),
        (Or, Some(true), _) | (Or, _, Some(true)) | (Implies, Some(false), _) | (Implies, _, Some(true)) => {
            return boolean(true);
        }
        _ => {}
    }
    let ty = match op {
        Add | Sub | Mul | Div | Mod => Type::Int,
        _ => Type::Bool,
    };
    node(ExprKind::Binary(op, a, b), ty)
}

/// `a && b`
pub(crate) fn and(a: ExprRef, b: ExprRef) -> ExprRef {
    op(BinaryOp::And, a, b)
}

/// `a || b`
pub fn or(a: ExprRef, b: ExprRef) -> ExprRef {
    op(BinaryOp::Or, a, b)
}

/// `a ==> b`
pub fn implies(a: ExprRef, b: ExprRef) -> ExprRef {
    op(BinaryOp::Implies, a, b)
}

/// `a == b`
pub fn eq(a: ExprRef, b: ExprRef) -> ExprRef {
    op(BinaryOp::Eq, a, b)
}

/// `a != b`
pub fn ne(a: ExprRef, b: ExprRef) -> ExprRef {
    op(BinaryOp::Ne, a, b)
}

/// `if c then a else b`
pub(crate) fn ite(c: ExprRef, a: ExprRef, b: ExprRef) -> ExprRef {
    if let ExprKind::Bool(v) = c.kind {
        return if v { a } else { b };
    }
    if a == b {
        return a;
    }
    let ty = a.ty.clone();
    node(ExprKind::Ite(c, a, b), ty)
}

/// An application of a declared function.
pub fn call(function: impl Into<Name>, args: Vec<ExprRef>, result: Type) -> ExprRef {
    node(ExprKind::Call(function.into(), args), result)
}
