//! Recognises two conditions of which exactly one holds.
//!
//! Input: two Boolean expressions. Output: whether each is the other's negation, decided by their
//! form. Establishes: `true` only for complementary expressions. Relies on: nothing.

use crate::ivl::ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp};
use crate::ivl::bv::{self, BvOp};

/// Whether one expression is the negation of the other, seen by their form: `c` and `!c`, `a == b` and
/// `a != b`, `a < b` and `a >= b`, and the same for bit-vector comparisons.
pub fn are_complementary(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Unary(UnaryOp::Not, inner), _) if same(inner, b) => true,
        (_, ExprKind::Unary(UnaryOp::Not, inner)) if same(a, inner) => true,
        (ExprKind::Binary(p, a1, a2), ExprKind::Binary(q, b1, b2)) => {
            negated_operator(*p) == Some(*q) && same(a1, b1) && same(a2, b2)
        }
        (ExprKind::Call(f, xs), ExprKind::Call(g, ys)) => match (&xs[..], &ys[..]) {
            ([a1, a2], [b1, b2]) => {
                same(a1, b1) && same(a2, b2) && negated_comparison(f, bv::width(a1)).as_ref() == Some(g)
            }
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

/// Equality up to spans.
fn same(a: &Expr, b: &Expr) -> bool {
    use ExprKind::*;
    let all = |xs: &[std::sync::Arc<Expr>], ys: &[std::sync::Arc<Expr>]| {
        xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| same(x, y))
    };
    if a.ty != b.ty {
        return false;
    }
    match (&a.kind, &b.kind) {
        (Bool(x), Bool(y)) => x == y,
        (Int(x), Int(y)) => x == y,
        (Bv(x), Bv(y)) => x == y,
        (Var(x), Var(y)) => x == y,
        (Unary(p, x), Unary(q, y)) => p == q && same(x, y),
        (Binary(p, x1, x2), Binary(q, y1, y2)) => p == q && same(x1, y1) && same(x2, y2),
        (Ite(x0, x1, x2), Ite(y0, y1, y2)) => same(x0, y0) && same(x1, y1) && same(x2, y2),
        (Call(f, xs), Call(g, ys)) => f == g && all(xs, ys),
        (Extract { value: x, high: h, low: l }, Extract { value: y, high: i, low: m }) => {
            h == i && l == m && same(x, y)
        }
        (Concat(x1, x2), Concat(y1, y2)) => same(x1, y1) && same(x2, y2),
        (Select(x, xs), Select(y, ys)) => same(x, y) && all(xs, ys),
        (Store(x, xs, v), Store(y, ys, w)) => same(x, y) && all(xs, ys) && same(v, w),
        // `old` and quantifiers do not occur in branch conditions; they count as different.
        _ => false,
    }
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
