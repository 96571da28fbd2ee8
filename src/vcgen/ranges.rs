//! Unsigned ranges of constants, read off the preconditions.
//!
//! A precondition `BV32_ULT(tid.x, 256bv32)` gives `tid.x` the range 0 to 255. The preconditions
//! themselves are still assumed; the ranges let term builders and the integer encoding see them.

use crate::ivl::ast::{BinaryOp, Condition, Expr, ExprKind, Name};
use crate::ivl::bv::BvOp;
use crate::ivl::bv_names::{Builtin, parse_builtin};
use std::collections::BTreeMap;

/// Inclusive ranges of variables that occur in conditions of the form `x < literal` and the like.
pub(crate) fn of_preconditions(conditions: &[Condition]) -> BTreeMap<Name, (u128, u128)> {
    let mut ranges = BTreeMap::new();
    for condition in conditions {
        visit(&condition.expr, &mut ranges);
    }
    ranges.retain(|_, (low, high)| low <= high);
    ranges
}

fn visit(e: &Expr, ranges: &mut BTreeMap<Name, (u128, u128)>) {
    match &e.kind {
        ExprKind::Binary(BinaryOp::And, a, b) => {
            visit(a, ranges);
            visit(b, ranges);
        }
        ExprKind::Binary(BinaryOp::Eq, a, b) => {
            if let (Some(x), Some(value)) = (variable(a), literal(b)) {
                narrow(ranges, x, a, value, value);
            }
        }
        ExprKind::Call(name, args) if args.len() == 2 => {
            let Some(Builtin::Op(op, _)) = parse_builtin(name.as_str()) else { return };
            compare(op, &args[0], &args[1], ranges);
        }
        _ => {}
    }
}

fn compare(op: BvOp, a: &Expr, b: &Expr, ranges: &mut BTreeMap<Name, (u128, u128)>) {
    match (op, variable(a), literal(b), literal(a), variable(b)) {
        (BvOp::Ult, Some(x), Some(v), _, _) if v > 0 => narrow(ranges, x, a, 0, v - 1),
        (BvOp::Ule, Some(x), Some(v), _, _) => narrow(ranges, x, a, 0, v),
        (BvOp::Uge, Some(x), Some(v), _, _) => narrow(ranges, x, a, v, u128::MAX),
        (BvOp::Ugt, Some(x), Some(v), _, _) => narrow(ranges, x, a, v + 1, u128::MAX),
        (BvOp::Ult, _, _, Some(v), Some(x)) => narrow(ranges, x, b, v + 1, u128::MAX),
        (BvOp::Ule, _, _, Some(v), Some(x)) => narrow(ranges, x, b, v, u128::MAX),
        _ => {}
    }
}

fn narrow(ranges: &mut BTreeMap<Name, (u128, u128)>, name: &Name, e: &Expr, low: u128, high: u128) {
    let full = (0, super::term::mask(crate::ivl::bv::width(e)));
    let entry = ranges.entry(name.clone()).or_insert(full);
    *entry = (entry.0.max(low), entry.1.min(high));
}

fn variable(e: &Expr) -> Option<&Name> {
    match &e.kind {
        ExprKind::Var(name) => Some(name),
        _ => None,
    }
}

fn literal(e: &Expr) -> Option<u128> {
    match e.kind {
        ExprKind::Bv(value) => Some(value),
        _ => None,
    }
}
