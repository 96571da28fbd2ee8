//! The value of an IVL expression: an interpreter for tests, apart from the solver's encoding.

use gpuvcc::ivl::ast::*;
use std::collections::BTreeMap;

/// Values of variables; Booleans are 0 and 1.
pub type Store = BTreeMap<Name, u128>;

/// Evaluates an expression.
pub fn evaluate(e: &Expr, store: &Store) -> u128 {
    let go = |e: &Expr| evaluate(e, store);
    let mask = |value: u128| if let Type::Bv(width) = e.ty { value & ((1 << width) - 1) } else { value };
    match &e.kind {
        ExprKind::Bool(value) => u128::from(*value),
        ExprKind::Bv(value) => *value,
        ExprKind::Var(name) => *store.get(name).unwrap_or_else(|| panic!("`{name}` has no value")),
        ExprKind::Unary(UnaryOp::Not, a) => 1 - go(a),
        ExprKind::Binary(BinaryOp::And, a, b) => go(a) & go(b),
        ExprKind::Binary(BinaryOp::Or, a, b) => go(a) | go(b),
        ExprKind::Binary(BinaryOp::Implies, a, b) => (1 - go(a)) | go(b),
        ExprKind::Binary(BinaryOp::Eq, a, b) => u128::from(go(a) == go(b)),
        ExprKind::Binary(BinaryOp::Ne, a, b) => u128::from(go(a) != go(b)),
        ExprKind::Ite(c, a, b) => go(if go(c) == 1 { a } else { b }),
        ExprKind::Extract { value, high, low } => (go(value) >> low) & ((1 << (high - low)) - 1),
        ExprKind::Call(name, args) => call(name, &args.iter().map(|arg| go(arg)).collect::<Vec<_>>(), mask),
        other => panic!("no meaning for {other:?}"),
    }
}

fn call(name: &Name, args: &[u128], mask: impl Fn(u128) -> u128) -> u128 {
    let (_, operator) = name.as_str().split_once('_').unwrap_or_default();
    match (operator, args) {
        ("ADD", [a, b]) => mask(a + b),
        ("SUB", [a, b]) => mask(a.wrapping_sub(*b)),
        ("MUL", [a, b]) => mask(a.wrapping_mul(*b)),
        ("AND", [a, b]) => a & b,
        ("SHL", [a, b]) => {
            if *b < 64 {
                mask(a << b)
            } else {
                0
            }
        }
        ("LSHR", [a, b]) => {
            if *b < 64 {
                a >> b
            } else {
                0
            }
        }
        ("ULT", [a, b]) => u128::from(a < b),
        ("UGT", [a, b]) => u128::from(a > b),
        ("UGE", [a, b]) => u128::from(a >= b),
        ("ZEXT64", [a]) => *a,
        other => panic!("no meaning for {name} {other:?}"),
    }
}
