//! Unsigned ranges of constants, read off the preconditions.
//!
//! A precondition `BV32_ULT(tid.x, 256bv32)` gives `tid.x` the range 0 to 255, and `BV32_ULT(BV32_SUB(n, 1bv32), 100bv32)`,
//! to which compilers turn `1 <= n && n <= 100`, gives `n` the range 1 to 100. The preconditions themselves are still
//! assumed; the ranges let term builders and the integer encoding see them.

use super::term::mask;
use crate::ivl::ast::{BinaryOp, Condition, Expr, ExprKind, Name};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::bv_names::{Builtin, parse_builtin};
use std::collections::BTreeMap;

/// Inclusive ranges of variables that occur in conditions of the form `x < literal` and the like.
pub(crate) fn of_preconditions(conditions: &[Condition]) -> BTreeMap<Name, (u128, u128)> {
    let mut ranges = BTreeMap::new();
    // A signed bound from above tells more where one from below is known.
    for condition in conditions.iter().chain(conditions) {
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

/// What the comparison of a variable, less a constant, with a constant tells.
fn compare(op: BvOp, a: &Expr, b: &Expr, ranges: &mut BTreeMap<Name, (u128, u128)>) {
    if bv::width(a) > 64 {
        return;
    }
    let top = mask(bv::width(a));
    let sign = top / 2;
    let (of, bound, is_left) = match (literal(a), literal(b)) {
        (None, Some(bound)) => (a, bound, true),
        (Some(bound), None) => (b, bound, false),
        _ => return,
    };
    let (of, less) = difference(of);
    let Some(x) = variable(of) else { return };
    let is_natural = bound <= sign && less == 0 && ranges.get(x).is_some_and(|known| known.1 <= sign);
    let (low, high) = match (op, is_left) {
        (BvOp::Ult, true) | (BvOp::Ugt, false) if bound > 0 => (0, bound - 1),
        (BvOp::Ule, true) | (BvOp::Uge, false) => (0, bound),
        (BvOp::Ugt, true) | (BvOp::Ult, false) => (bound + 1, top),
        (BvOp::Uge, true) | (BvOp::Ule, false) => (bound, top),
        (BvOp::Sgt, true) | (BvOp::Slt, false) if bound <= sign => (bound + 1, sign),
        (BvOp::Sge, true) | (BvOp::Sle, false) if bound <= sign => (bound, sign),
        (BvOp::Slt, true) | (BvOp::Sgt, false) if bound > 0 && is_natural => (0, bound - 1),
        (BvOp::Sle, true) | (BvOp::Sge, false) if is_natural => (0, bound),
        _ => return,
    };
    if high <= top - less {
        narrow(ranges, x, of, low + less, high + less);
    }
}

/// An expression less a constant.
fn difference(e: &Expr) -> (&Expr, u128) {
    let ExprKind::Call(name, args) = &e.kind else { return (e, 0) };
    let (Some(Builtin::Op(op, _)), [a, b]) = (parse_builtin(name.as_str()), &args[..]) else { return (e, 0) };
    match (op, literal(a), literal(b)) {
        (BvOp::Sub, None, Some(value)) => (a, value),
        (BvOp::Add, None, Some(value)) => (a, negative(value, e)),
        (BvOp::Add, Some(value), None) => (b, negative(value, e)),
        _ => (e, 0),
    }
}

/// A constant of the opposite sign.
fn negative(value: u128, like: &Expr) -> u128 {
    value.wrapping_neg() & mask(bv::width(like))
}

fn narrow(ranges: &mut BTreeMap<Name, (u128, u128)>, name: &Name, e: &Expr, low: u128, high: u128) {
    let full = (0, mask(bv::width(e)));
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

#[cfg(test)]
mod tests {
    use super::of_preconditions;

    /// The range that conditions give to `n`.
    fn range(conditions: &str) -> Option<(u128, u128)> {
        let declared = ["add", "sub"]
            .map(|op| format!("function {{:bvbuiltin \"bv{op}\"}} {}(bv8, bv8) returns (bv8);", name(op)));
        let compared =
            OPS.map(|(op, _)| format!("function {{:bvbuiltin \"bv{op}\"}} {}(bv8, bv8) returns (bool);", name(op)));
        let functions = [&declared[..], &compared[..]].concat().join(" ");
        let text = format!("{functions} const n: bv8; procedure p() requires {conditions}; {{ entry: return; }}");
        let program = crate::ivl::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        of_preconditions(&program.procedures[0].requires).into_values().next()
    }

    fn name(op: &str) -> String {
        format!("BV8_{}", op.to_uppercase())
    }

    type Holds = fn(u8, u8) -> bool;
    const OPS: [(&str, Holds); 8] = [
        ("ult", |a, b| a < b),
        ("ule", |a, b| a <= b),
        ("ugt", |a, b| a > b),
        ("uge", |a, b| a >= b),
        ("slt", |a, b| (a as i8) < b as i8),
        ("sle", |a, b| a as i8 <= b as i8),
        ("sgt", |a, b| a as i8 > b as i8),
        ("sge", |a, b| a as i8 >= b as i8),
    ];

    #[test]
    fn no_value_that_satisfies_a_comparison_is_left_out() {
        let mut found = 0;
        for (op, holds) in OPS {
            for (bound, more) in
                [0, 1, 100, 127, 128, 255].into_iter().flat_map(|b| [0, 1, 120, 128, 255].map(|m| (b, m)))
            {
                let moved = format!("BV8_ADD(n, {more}bv8)");
                for is_left in [true, false] {
                    let (a, b) = if is_left {
                        (moved.clone(), format!("{bound}bv8"))
                    } else {
                        (format!("{bound}bv8"), moved.clone())
                    };
                    let condition = format!("{}({a}, {b})", name(op));
                    let Some((low, high)) = range(&condition) else { continue };
                    found += 1;
                    for n in 0..=255u8 {
                        let moved = n.wrapping_add(more);
                        let is_met = if is_left { holds(moved, bound) } else { holds(bound, moved) };
                        assert!(
                            !is_met || (low..=high).contains(&n.into()),
                            "{condition}: {n} is not in {low}..={high}"
                        );
                    }
                }
            }
        }
        assert!(found > 100, "{found}");
    }

    #[test]
    fn both_bounds_are_seen() {
        assert_eq!(range("BV8_ULT(BV8_ADD(n, 255bv8), 100bv8)"), Some((1, 100)));
        assert_eq!(range("BV8_ULE(BV8_SUB(n, 32bv8), 31bv8)"), Some((32, 63)));
        assert_eq!(range("BV8_SLE(n, 100bv8) && BV8_SGT(n, 0bv8)"), Some((1, 100)));
        assert_eq!(range("BV8_SGE(100bv8, n) && BV8_SLE(1bv8, n)"), Some((1, 100)));
        assert_eq!(range("BV8_SLE(n, 100bv8)"), None);
    }
}
