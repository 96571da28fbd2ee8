//! Operators of SMT-LIB that are defined by others: those of bit-vectors here, of integers in `int_definitions`.
//!
//! Input: a function declared `{:bvbuiltin "bvnand"}` or the like. Output: the function with a body instead.
//! Establishes: the operators that later stages know, [`super::bv::BvOp`], suffice. Relies on: nothing; what does not
//! fit the signature gets no body. Reference: SMT-LIB, theory FixedSizeBitVectors and logic QF_BV.

use super::ast::*;
use super::bv::{self, BvOp};
use super::bv_names::MAX_WIDTH;
use super::int_definitions;
use crate::ivl::attributes::Attributes;

/// The text of `{:bvbuiltin "..."}`, or else of `{:builtin "..."}`. As for Boogie, one that is not of this form means
/// nothing, and a body that is `{:inline}` counts instead.
pub(super) fn builtin_text(function: &Function) -> Option<&str> {
    let text_of = |name: &str| {
        let mut named = function.attributes.iter().filter(|attribute| attribute.name.as_str() == name);
        named.find_map(|attribute| match attribute.args.as_slice() {
            [AttributeArg::Text(text)] => Some(text.as_str()),
            _ => None,
        })
    };
    if function.body.is_some() && function.attributes.is_on("inline") {
        return None;
    }
    text_of("bvbuiltin").or_else(|| text_of("builtin"))
}

fn is_builtin(attribute: &Attribute) -> bool {
    matches!(attribute.name.as_str(), "bvbuiltin" | "builtin")
}

/// The words of such a text: `(_ rotate_left 3)` is `rotate_left`, `3`.
pub(super) fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c == '(' || c == ')' || c.is_whitespace()).filter(|word| !word.is_empty());
    words.skip_while(|word| *word == "_").collect()
}

/// Gives the function a body if its operator is defined by others; false if it is not.
pub(super) fn define(function: &mut Function) -> bool {
    let Some(text) = builtin_text(function) else { return false };
    let mut params = function.params.clone();
    for (index, (name, _)) in params.iter_mut().enumerate().filter(|(_, (name, _))| name.as_str().is_empty()) {
        *name = Name::from(format!("x{}", index + 1));
    }
    let operands: Vec<ExprRef> = params.iter().map(|(name, ty)| bv::var(name.clone(), ty.clone())).collect();
    let bits = match operands.as_slice() {
        [a] => unary(&words(text), a),
        [a, b] => binary(&words(text), a, b),
        _ => None,
    };
    let body = bits.or_else(|| int_definitions::body(text, &operands));
    let Some(body) = body.filter(|body| body.ty == function.result && function.body.is_none()) else { return false };
    function.params = params;
    function.body = Some(body);
    function.attributes.retain(|attribute| !is_builtin(attribute));
    if !function.attributes.is_on("inline") {
        // What it stands for is no function of the program, so no axiom is about it.
        function.attributes.insert(0, Attribute { name: Name::from("inline"), args: Vec::new() });
    }
    true
}

fn unary(words: &[&str], a: &ExprRef) -> Option<ExprRef> {
    let Type::Bv(width) = a.ty else { return None };
    let number = |text: &&str| text.parse::<u32>().ok();
    match words {
        ["zero_extend" | "sign_extend", "0"] => Some(a.clone()),
        ["rotate_left", count] => Some(rotate_left(a, width, number(count)? % width)),
        ["rotate_right", count] => Some(rotate_left(a, width, width - number(count)? % width)),
        ["repeat", count] => {
            let count = number(count).filter(|count| (1..=MAX_WIDTH / width).contains(count))?;
            Some((1..count).fold(a.clone(), |all, _| bv::concat(all, a.clone())))
        }
        ["extract", high, low] => {
            let (high, low) = (number(high)?, number(low)?);
            (low <= high && high < width).then(|| bv::extract(a.clone(), high + 1, low))
        }
        _ => None,
    }
}

fn rotate_left(a: &ExprRef, width: u32, count: u32) -> ExprRef {
    match count % width {
        0 => a.clone(),
        count => bv::concat(bv::extract(a.clone(), width - count, 0), bv::extract(a.clone(), width, width - count)),
    }
}

fn binary(words: &[&str], a: &ExprRef, b: &ExprRef) -> Option<ExprRef> {
    let (Type::Bv(left), Type::Bv(right)) = (&a.ty, &b.ty) else { return None };
    if let ["concat"] = words {
        return (left + right <= MAX_WIDTH).then(|| bv::concat(a.clone(), b.clone()));
    }
    if left != right {
        return None;
    }
    let not = |op| bv::unary(BvOp::Not, bv::binary(op, a.clone(), b.clone()));
    Some(match words {
        ["bvnand"] => not(BvOp::And),
        ["bvnor"] => not(BvOp::Or),
        ["bvxnor"] => not(BvOp::Xor),
        ["bvcomp"] => bv::ite(bv::eq(a.clone(), b.clone()), bv::literal(1, 1), bv::literal(0, 1)),
        ["bvsmod"] => signed_modulo(a, b, *left),
        _ => return None,
    })
}

/// The remainder with the sign of the divisor: that with the sign of the dividend, plus the divisor where it is not
/// zero and the signs differ.
fn signed_modulo(a: &ExprRef, b: &ExprRef, width: u32) -> ExprRef {
    let zero = || bv::literal(0, width);
    let remainder = bv::binary(BvOp::Srem, a.clone(), b.clone());
    let signs = bv::binary(BvOp::Xor, remainder.clone(), b.clone());
    let differ = bv::and(bv::ne(remainder.clone(), zero()), bv::binary(BvOp::Slt, signs, zero()));
    bv::ite(differ, bv::add(remainder.clone(), b.clone()), remainder)
}
