//! What comparisons of words tell.
//!
//! Input: a formula over numbers of 32 bits, whether it holds. Output: what follows of one or two sides of its comparisons. Establishes: it does
//! follow. Relies on: the expression has passed the type checker. Reference: PTX ISA, `setp`; SMT-LIB, FixedSizeBitVectors.

use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, UnaryOp};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};

/// A number that something is at least.
#[derive(Clone, Copy)]
pub(super) struct Least<'e> {
    pub(super) number: &'e ExprRef,
    /// It is at least so much more.
    pub(super) more: u32,
    /// Whether it is just that.
    pub(super) is_exact: bool,
}

/// An order of two sides.
struct Below<'e> {
    low: &'e ExprRef,
    high: &'e ExprRef,
    is_strict: bool,
    is_signed: bool,
}

/// What one side is at least where a formula holds (or, not `holds`, does not), if no number has more than 31 bits.
pub(super) fn at_least<'e>(e: &'e ExprRef, holds: bool, is_it: &dyn Fn(&ExprRef) -> bool) -> Option<Least<'e>> {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => at_least(inner, !holds, is_it),
        ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
            let number = if is_it(a) { b } else { a };
            let is_equal = bv::width(a) == 32 && (*op == BinaryOp::Eq) == holds && (is_it(a) || is_it(b));
            is_equal.then_some(Least { number, more: 0, is_exact: true })
        }
        _ => {
            let Below { low, high, is_strict, .. } = below(e, holds)?;
            is_it(high).then_some(Least { number: low, more: u32::from(is_strict), is_exact: false })
        }
    }
}

/// Whether two variables differ in their highest bits where a formula holds (or, not `holds`, does not).
pub(super) fn is_flipped(e: &ExprRef, holds: bool, of: [&Name; 2]) -> bool {
    let high = |e: &ExprRef| is_literal(e, 1 << 31);
    let differs = |e: &ExprRef| matches!(operation(e), Some((BvOp::Xor, a, b)) if are(a, b, of));
    let masked =
        |e: &ExprRef| matches!(operation(e), Some((BvOp::And, a, b)) if differs(a) && high(b) || high(a) && differs(b));
    let bit = |a: &ExprRef, b: &ExprRef, is_set: bool| masked(a) && is_literal(b, if is_set { 1 << 31 } else { 0 });
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => is_flipped(inner, !holds, of),
        ExprKind::Binary(BinaryOp::And, a, b) if holds => is_flipped(a, true, of) || is_flipped(b, true, of),
        ExprKind::Binary(BinaryOp::Or, a, b) if !holds => is_flipped(a, false, of) || is_flipped(b, false, of),
        ExprKind::Binary(BinaryOp::Eq, a, b) => bit(a, b, holds) || bit(b, a, holds),
        ExprKind::Binary(BinaryOp::Ne, a, b) => bit(a, b, !holds) || bit(b, a, !holds),
        // It is negative: below 0, or at most -1.
        _ => below(e, holds).is_some_and(|Below { low, high, is_strict, is_signed }| {
            let bound = if is_strict { 0 } else { (1 << 32) - 1 };
            is_signed && differs(low) && is_literal(high, bound)
        }),
    }
}

/// Whether two variables differ where a formula holds (or, not `holds`, does not).
pub(super) fn are_different(e: &ExprRef, holds: bool, of: [&Name; 2]) -> bool {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => are_different(inner, !holds, of),
        ExprKind::Binary(BinaryOp::And, a, b) if holds => are_different(a, true, of) || are_different(b, true, of),
        ExprKind::Binary(BinaryOp::Or, a, b) if !holds => are_different(a, false, of) || are_different(b, false, of),
        ExprKind::Binary(BinaryOp::Ne, a, b) if holds => are(a, b, of),
        ExprKind::Binary(BinaryOp::Eq, a, b) if !holds => are(a, b, of),
        _ => false,
    }
}

/// Which side of a comparison is below the other one where it holds (or, not `holds`, does not).
fn below(e: &ExprRef, holds: bool) -> Option<Below<'_>> {
    let (op, a, b) = operation(e)?;
    let (is_less, is_strict, is_signed) = match op {
        BvOp::Ult => (true, true, false),
        BvOp::Ule => (true, false, false),
        BvOp::Ugt => (false, true, false),
        BvOp::Uge => (false, false, false),
        BvOp::Slt => (true, true, true),
        BvOp::Sle => (true, false, true),
        BvOp::Sgt => (false, true, true),
        BvOp::Sge => (false, false, true),
        _ => return None,
    };
    let (low, high) = if is_less == holds { (a, b) } else { (b, a) };
    Some(Below { low, high, is_strict: is_strict == holds, is_signed })
}

/// Whether two expressions are two variables.
fn are(a: &ExprRef, b: &ExprRef, [one, other]: [&Name; 2]) -> bool {
    let is = |e: &ExprRef, name: &Name| matches!(&e.kind, ExprKind::Var(variable) if variable == name);
    is(a, one) && is(b, other) || is(a, other) && is(b, one)
}

pub(super) fn is_literal(e: &ExprRef, number: u128) -> bool {
    matches!(e.kind, ExprKind::Bv(value) if value == number)
}

pub(super) fn operation(e: &ExprRef) -> Option<(BvOp, &ExprRef, &ExprRef)> {
    let ExprKind::Call(name, args) = &e.kind else { return None };
    match (parse_builtin(name.as_str()), &args[..]) {
        (Some(Builtin::Op(op, 32)), [a, b]) => Some((op, a, b)),
        _ => None,
    }
}
