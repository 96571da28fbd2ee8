//! IVL expressions to terms.
//!
//! Input: a typed IVL expression and the current value of each variable. Output: a term.
//! Establishes: bit-vector builtins have their SMT-LIB meaning; other functions are uninterpreted
//! unless they have a body. Relies on: `ivl::check` has accepted the program.

use super::term::{BvBinary, BvCompare, Sort, Term, Terms};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{BinaryOp, Expr, ExprKind, Function, Name, Type, UnaryOp};
use crate::ivl::bv::BvOp;
use crate::ivl::bv_names::{Builtin, parse_builtin};
use crate::span::Span;
use std::collections::BTreeMap;

/// The current values of variables.
pub type Environment = BTreeMap<Name, Term>;

/// Translates expressions of one program.
pub struct Translator<'a> {
    /// Declared functions by name.
    pub functions: BTreeMap<&'a Name, &'a Function>,
}

/// The sort of a type; maps have no sort here yet.
pub fn sort_of(ty: &Type, span: Span) -> Result<Sort, Diagnostic> {
    match ty {
        Type::Bool => Ok(Sort::Bool),
        Type::Int => Ok(Sort::Int),
        Type::Bv(width) if (1..=128).contains(width) => Ok(Sort::Bv(*width)),
        _ => Err(unsupported("this type", span)),
    }
}

fn unsupported(what: &str, span: Span) -> Diagnostic {
    Diagnostic::unsupported("unsupported-ivl", format!("{what} is not supported in verification conditions"), span)
}

impl Translator<'_> {
    /// The term of an expression under an environment.
    pub fn expr(&self, terms: &mut Terms, env: &Environment, e: &Expr) -> Result<Term, Diagnostic> {
        Ok(match &e.kind {
            ExprKind::Bool(value) => terms.boolean(*value),
            ExprKind::Int(value) => terms.int(*value),
            ExprKind::Bv(value) => {
                sort_of(&e.ty, e.span)?;
                terms.bv(*value, crate::ivl::bv::width(e))
            }
            ExprKind::Var(name) => match env.get(name) {
                Some(&term) => term,
                None => return Err(unsupported(&format!("the undeclared variable `{name}`"), e.span)),
            },
            ExprKind::Unary(op, a) => {
                let a = self.expr(terms, env, a)?;
                match op {
                    UnaryOp::Not => terms.not(a),
                    UnaryOp::Neg => terms.int_sum(0, vec![(a, -1)]),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.expr(terms, env, a)?, self.expr(terms, env, b)?);
                binary(terms, *op, a, b)
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.expr(terms, env, c)?;
                let (a, b) = (self.expr(terms, env, a)?, self.expr(terms, env, b)?);
                terms.ite(c, a, b)
            }
            ExprKind::Call(name, args) => {
                let args = args.iter().map(|a| self.expr(terms, env, a)).collect::<Result<Vec<_>, _>>()?;
                self.call(terms, name, args, e)?
            }
            ExprKind::Extract { value, high, low } => {
                let value = self.expr(terms, env, value)?;
                terms.extract(high - 1, *low, value)
            }
            ExprKind::Concat(a, b) => {
                let (a, b) = (self.expr(terms, env, a)?, self.expr(terms, env, b)?);
                terms.concat(a, b)
            }
            ExprKind::Select(..) | ExprKind::Store(..) => return Err(unsupported("a map", e.span)),
            ExprKind::Old(_) => return Err(unsupported("`old`", e.span)),
            ExprKind::Quantifier { .. } => return Err(unsupported("a quantifier", e.span)),
        })
    }

    fn call(&self, terms: &mut Terms, name: &Name, args: Vec<Term>, e: &Expr) -> Result<Term, Diagnostic> {
        if let Some(builtin) = parse_builtin(name.as_str()) {
            return Ok(apply_builtin(terms, builtin, &args));
        }
        if let Some(function) = self.functions.get(name)
            && let Some(body) = &function.body
        {
            let env: Environment = function.params.iter().map(|p| p.0.clone()).zip(args).collect();
            return self.expr(terms, &env, body);
        }
        let result = sort_of(&e.ty, e.span)?;
        Ok(terms.apply(name.as_str(), args, result))
    }
}

fn binary(terms: &mut Terms, op: BinaryOp, a: Term, b: Term) -> Term {
    match op {
        BinaryOp::And => terms.and2(a, b),
        BinaryOp::Or => terms.or2(a, b),
        BinaryOp::Implies => terms.implies(a, b),
        BinaryOp::Iff | BinaryOp::Eq => terms.eq(a, b),
        BinaryOp::Ne => {
            let equal = terms.eq(a, b);
            terms.not(equal)
        }
        BinaryOp::Lt => terms.int_lt(a, b),
        BinaryOp::Le => terms.int_le(a, b),
        BinaryOp::Gt => terms.int_lt(b, a),
        BinaryOp::Ge => terms.int_le(b, a),
        BinaryOp::Add => terms.int_add(a, b),
        BinaryOp::Sub => terms.int_sub(a, b),
        BinaryOp::Mul => terms.int_mul(a, b),
        BinaryOp::Div => terms.int_div(a, b),
        BinaryOp::Mod => terms.int_mod(a, b),
    }
}

fn apply_builtin(terms: &mut Terms, builtin: Builtin, args: &[Term]) -> Term {
    match builtin {
        Builtin::Op(op, _) => apply_operator(terms, op, args),
        Builtin::ZeroExtend { to, .. } => terms.zero_extend(args[0], to),
        Builtin::SignExtend { to, .. } => terms.sign_extend(args[0], to),
        Builtin::ToInt(_) => terms.to_int(args[0]),
        Builtin::ToSignedInt(_) => terms.to_signed_int(args[0]),
        Builtin::FromInt(width) => terms.from_int(args[0], width),
    }
}

fn apply_operator(terms: &mut Terms, op: BvOp, args: &[Term]) -> Term {
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    let operator = match op {
        BvOp::Neg => return terms.bv_neg(a),
        BvOp::Not => return terms.bv_not(a),
        BvOp::Add => return terms.bv_add(a, b),
        BvOp::Sub => return terms.bv_sub(a, b),
        BvOp::Ult => return terms.bv_compare(BvCompare::Ult, a, b),
        BvOp::Ule => return terms.bv_compare(BvCompare::Ule, a, b),
        BvOp::Ugt => return terms.bv_compare(BvCompare::Ult, b, a),
        BvOp::Uge => return terms.bv_compare(BvCompare::Ule, b, a),
        BvOp::Slt => return terms.bv_compare(BvCompare::Slt, a, b),
        BvOp::Sle => return terms.bv_compare(BvCompare::Sle, a, b),
        BvOp::Sgt => return terms.bv_compare(BvCompare::Slt, b, a),
        BvOp::Sge => return terms.bv_compare(BvCompare::Sle, b, a),
        BvOp::Mul => BvBinary::Mul,
        BvOp::Udiv => BvBinary::Udiv,
        BvOp::Urem => BvBinary::Urem,
        BvOp::Sdiv => BvBinary::Sdiv,
        BvOp::Srem => BvBinary::Srem,
        BvOp::And => BvBinary::And,
        BvOp::Or => BvBinary::Or,
        BvOp::Xor => BvBinary::Xor,
        BvOp::Shl => BvBinary::Shl,
        BvOp::Lshr => BvBinary::Lshr,
        BvOp::Ashr => BvBinary::Ashr,
    };
    terms.bv_binary(operator, a, b)
}
