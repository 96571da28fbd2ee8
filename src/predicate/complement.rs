//! Recognises two conditions of which exactly one holds.
//!
//! Input: two Boolean expressions. Output: whether each is the other's negation, decided by their
//! form. Establishes: `true` only for complementary expressions. Relies on: nothing.

use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, UnaryOp};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::visit::without_spans;

/// Whether one expression is the negation of the other, seen by their form: `c` and `!c`, `a == b` and
/// `a != b`, `a < b` and `a >= b`, and the same for bit-vector comparisons.
pub(crate) fn are_complementary(a: &ExprRef, b: &ExprRef) -> bool {
    negates(&without_spans(a), &without_spans(b))
}

fn negates(a: &ExprRef, b: &ExprRef) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Unary(UnaryOp::Not, inner), _) if inner == b => true,
        (_, ExprKind::Unary(UnaryOp::Not, inner)) if a == inner => true,
        (ExprKind::Binary(p, a1, a2), ExprKind::Binary(q, b1, b2)) => {
            negated_operator(*p) == Some(*q) && (a1, a2) == (b1, b2)
        }
        (ExprKind::Call(f, xs), ExprKind::Call(g, ys)) => match (&xs[..], &ys[..]) {
            ([a1, a2], [b1, b2]) => (a1, a2) == (b1, b2) && negated_comparison(f, bv::width(a1)).as_ref() == Some(g),
            _ => false,
        },
        _ => false,
    }
}

fn negated_operator(op: BinaryOp) -> Option<BinaryOp> {
    use BinaryOp::*;
    match op {
        Eq | Iff => Some(Ne),
        Ne => Some(Eq),
        Lt => Some(Ge),
        Ge => Some(Lt),
        Gt => Some(Le),
        Le => Some(Gt),
        _ => None,
    }
}

/// The opposite of a bit-vector comparison of the given operand width.
fn negated_comparison(function: &Name, width: u32) -> Option<Name> {
    use BvOp::*;
    let opposite = [(Ult, Uge), (Ule, Ugt), (Slt, Sge), (Sle, Sgt)];
    opposite.into_iter().find_map(|(p, q)| {
        if *function == p.function(width) {
            Some(q.function(width))
        } else if *function == q.function(width) {
            Some(p.function(width))
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ivl::ast::Type;

    #[test]
    fn recognises_negations_only() {
        let (x, y) = (bv::var("x", Type::Bv(32)), bv::var("y", Type::Bv(32)));
        let ult = bv::binary(BvOp::Ult, x.clone(), y.clone());
        let uge = bv::binary(BvOp::Uge, x.clone(), y.clone());
        let swapped = bv::binary(BvOp::Uge, y.clone(), x.clone());
        let signed = bv::binary(BvOp::Sge, x.clone(), y.clone());
        assert!(are_complementary(&ult, &uge) && are_complementary(&uge, &ult));
        assert!(are_complementary(&ult, &bv::not(ult.clone())));
        assert!(are_complementary(&bv::eq(x.clone(), y.clone()), &bv::ne(x.clone(), y.clone())));
        for other in [&ult, &swapped, &signed] {
            assert!(!are_complementary(&ult, other), "{other:?}");
        }
        // Two float comparisons are never complementary: NaN makes both false.
        let float = |name: &str| bv::call(name, vec![x.clone(), y.clone()], Type::Bool);
        assert!(!are_complementary(&float("setp.lt.f32"), &float("setp.ge.f32")));
    }
}
