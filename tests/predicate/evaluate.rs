//! The value of an IVL expression: an interpreter for tests, apart from the solver's encoding.

use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv;
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
        ExprKind::Int(value) => value.cast_unsigned(),
        ExprKind::Var(name) => *store.get(name).unwrap_or_else(|| panic!("`{name}` has no value")),
        ExprKind::Unary(UnaryOp::Not, a) => 1 - go(a),
        ExprKind::Binary(BinaryOp::And, a, b) => go(a) & go(b),
        ExprKind::Binary(BinaryOp::Or, a, b) => go(a) | go(b),
        ExprKind::Binary(BinaryOp::Implies, a, b) => (1 - go(a)) | go(b),
        ExprKind::Binary(BinaryOp::Eq, a, b) => u128::from(go(a) == go(b)),
        ExprKind::Binary(BinaryOp::Ne, a, b) => u128::from(go(a) != go(b)),
        ExprKind::Binary(op, a, b) if a.ty == Type::Int => integers(*op, go(a).cast_signed(), go(b).cast_signed()),
        ExprKind::Ite(c, a, b) => go(if go(c) == 1 { a } else { b }),
        ExprKind::Extract { value, high, low } => (go(value) >> low) & ((1 << (high - low)) - 1),
        ExprKind::Call(name, args) if name.as_str().ends_with("_TO_SINT") => {
            signed(go(&args[0]), bv::width(&args[0])).cast_unsigned()
        }
        ExprKind::Call(name, args) if comparison(name).is_some() => {
            let [a, b] = [&args[0], &args[1]].map(|arg| signed(go(arg), bv::width(arg)));
            u128::from(comparison(name).is_some_and(|compare| compare(&a, &b)))
        }
        ExprKind::Call(name, args) => call(name, &args.iter().map(|arg| go(arg)).collect::<Vec<_>>(), mask),
        other => panic!("no meaning for {other:?}"),
    }
}

/// Integers are kept as their bits.
fn integers(op: BinaryOp, a: i128, b: i128) -> u128 {
    match op {
        BinaryOp::Add => (a + b).cast_unsigned(),
        BinaryOp::Sub => (a - b).cast_unsigned(),
        BinaryOp::Mul => (a * b).cast_unsigned(),
        BinaryOp::Div => a.div_euclid(b).cast_unsigned(),
        BinaryOp::Mod => a.rem_euclid(b).cast_unsigned(),
        BinaryOp::Lt => u128::from(a < b),
        BinaryOp::Le => u128::from(a <= b),
        BinaryOp::Gt => u128::from(a > b),
        BinaryOp::Ge => u128::from(a >= b),
        other => panic!("no meaning for {other:?} of integers"),
    }
}

/// What an operation on values with sign compares.
fn comparison(name: &Name) -> Option<fn(&i128, &i128) -> bool> {
    match name.as_str().split_once('_')?.1 {
        "SLT" => Some(i128::lt),
        "SLE" => Some(i128::le),
        "SGT" => Some(i128::gt),
        "SGE" => Some(i128::ge),
        _ => None,
    }
}

fn signed(value: u128, width: u32) -> i128 {
    let above = u128::BITS - width;
    (value << above).cast_signed() >> above
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
        ("ULE", [a, b]) => u128::from(a <= b),
        (operator, [a]) if operator.starts_with("ZEXT") || operator == "TO_INT" => *a,
        (operator, [a]) if operator.starts_with("TO_BV") => mask(*a),
        other => panic!("no meaning for {name} {other:?}"),
    }
}
