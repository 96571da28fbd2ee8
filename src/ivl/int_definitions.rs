//! Operators of SMT-LIB on integers and Booleans, by those of the language.
//!
//! Input: the text of `{:builtin "div"}` or the like, and the operands. Output: the body of such a function; none where
//! the operator or the types are others. Establishes: the body is what Z3 makes of the operator, with Boogie's `div` and
//! `mod`, which are those of SMT-LIB: the remainder is never negative, and division by zero gives some value.
//! Relies on: nothing. Reference: SMT-LIB, theories Core and Ints; of Z3, `rem` has the sign of the divisor.

use super::ast::*;
use super::bv;

/// What the operator gives.
pub(super) fn body(operator: &str, operands: &[ExprRef]) -> Option<ExprRef> {
    let is = |ty: &Type| operands.iter().all(|operand| operand.ty == *ty);
    match (operator, operands) {
        ("ite", [c, a, b]) if c.ty == Type::Bool && a.ty == b.ty => Some(bv::ite(c.clone(), a.clone(), b.clone())),
        ("=", [a, b]) if a.ty == b.ty => Some(bv::eq(a.clone(), b.clone())),
        ("distinct", [a, b]) if a.ty == b.ty => Some(bv::ne(a.clone(), b.clone())),
        (_, [a]) if is(&Type::Int) => one_integer(operator, a),
        (_, [a, b]) if is(&Type::Int) => two_integers(operator, a, b),
        ("not", [a]) if is(&Type::Bool) => Some(bv::not(a.clone())),
        (_, [a, b]) if is(&Type::Bool) => formulas(operator, a, b),
        _ => None,
    }
}

fn one_integer(operator: &str, a: &ExprRef) -> Option<ExprRef> {
    let negated = || bv::op(BinaryOp::Sub, bv::int(0), a.clone());
    match operator {
        "-" => Some(negated()),
        "abs" => Some(bv::ite(bv::op(BinaryOp::Le, bv::int(0), a.clone()), a.clone(), negated())),
        _ => None,
    }
}

fn two_integers(operator: &str, a: &ExprRef, b: &ExprRef) -> Option<ExprRef> {
    let of = |op| bv::op(op, a.clone(), b.clone());
    Some(match operator {
        "+" => of(BinaryOp::Add),
        "-" => of(BinaryOp::Sub),
        "*" => of(BinaryOp::Mul),
        "div" => of(BinaryOp::Div),
        "mod" => of(BinaryOp::Mod),
        "rem" => {
            let opposite = bv::op(BinaryOp::Sub, bv::int(0), of(BinaryOp::Mod));
            bv::ite(bv::op(BinaryOp::Le, bv::int(0), b.clone()), of(BinaryOp::Mod), opposite)
        }
        "<" => of(BinaryOp::Lt),
        "<=" => of(BinaryOp::Le),
        ">" => of(BinaryOp::Gt),
        ">=" => of(BinaryOp::Ge),
        _ => return None,
    })
}

fn formulas(operator: &str, a: &ExprRef, b: &ExprRef) -> Option<ExprRef> {
    let of = |op| bv::op(op, a.clone(), b.clone());
    Some(match operator {
        "and" => of(BinaryOp::And),
        "or" => of(BinaryOp::Or),
        "=>" => of(BinaryOp::Implies),
        "xor" => of(BinaryOp::Ne),
        _ => return None,
    })
}
