//! The value of an IVL expression where some variables have none: an interpreter apart from those of
//! the verifier. Reference: SMT-LIB, theories FixedSizeBitVectors and Ints.

use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::bv::BvOp;
use gpuvcc::ivl::bv_names::{Builtin, parse_builtin};
use std::collections::BTreeMap;

/// A value, if known: Booleans are 0 and 1, integers in two's complement.
pub type Value = Option<u128>;

/// Values by name.
pub type Store = BTreeMap<Name, Value>;

/// Evaluates expressions of a program.
pub struct Evaluator<'p> {
    functions: BTreeMap<&'p Name, &'p Function>,
}

impl<'p> Evaluator<'p> {
    pub fn new(program: &'p Program) -> Evaluator<'p> {
        Evaluator { functions: program.functions.iter().map(|function| (&function.name, function)).collect() }
    }

    /// Whether it holds, if known.
    pub fn truth(&self, e: &Expr, store: &Store) -> Option<bool> {
        self.value(e, store).map(|value| value == 1)
    }

    /// The value, if the known variables decide it.
    pub fn value(&self, e: &Expr, store: &Store) -> Value {
        let go = |e: &Expr| self.value(e, store);
        match &e.kind {
            ExprKind::Bool(value) => Some(u128::from(*value)),
            ExprKind::Int(value) => Some(*value as u128),
            ExprKind::Bv(value) => Some(*value),
            ExprKind::Var(name) => store.get(name).copied().flatten(),
            ExprKind::Unary(UnaryOp::Not, a) => go(a).map(|a| 1 - a),
            ExprKind::Unary(UnaryOp::Neg, a) => go(a).map(u128::wrapping_neg),
            ExprKind::Binary(op, a, b) => binary(*op, go(a), go(b)),
            ExprKind::Ite(c, a, b) => match go(c) {
                Some(1) => go(a),
                Some(_) => go(b),
                None => go(a).filter(|a| go(b) == Some(*a)),
            },
            ExprKind::Extract { value, high, low } => go(value).map(|value| cut(value >> low, high - low)),
            ExprKind::Concat(high, low) => {
                let Type::Bv(width) = low.ty else { panic!("a part is no bit-vector") };
                Some(go(high)? << width | go(low)?)
            }
            ExprKind::Call(name, args) => match parse_builtin(name.as_str()) {
                Some(builtin) => self.builtin(builtin, args, store),
                None => self.call(name, args, store),
            },
            ExprKind::Select(..) | ExprKind::Store(..) | ExprKind::Old(_) | ExprKind::Quantifier { .. } => None,
        }
    }

    /// A function without a body may be any, but for that of the function at an address: the emulator's functions stand 256
    /// bytes apart, behind the first 256 bytes.
    fn call(&self, name: &Name, args: &[ExprRef], store: &Store) -> Value {
        let function = self.functions.get(name)?;
        if name.as_str() == "callee" {
            let address = self.value(args.first()?, store)?;
            return (address / 256).checked_sub(1).filter(|_| address.is_multiple_of(256));
        }
        let body = function.body.as_ref()?;
        let mut inner = store.clone();
        inner.extend(function.params.iter().zip(args).map(|((name, _), arg)| (name.clone(), self.value(arg, store))));
        self.value(body, &inner)
    }

    fn builtin(&self, builtin: Builtin, args: &[ExprRef], store: &Store) -> Value {
        let a = self.value(&args[0], store);
        match builtin {
            Builtin::Op(op, width) => {
                let b = if args.len() == 2 { self.value(&args[1], store) } else { a };
                // What is multiplied or masked by zero is zero.
                if matches!(op, BvOp::Mul | BvOp::And) && (a == Some(0) || b == Some(0)) {
                    return Some(0);
                }
                Some(operator(op, width, a?, b?))
            }
            Builtin::ZeroExtend { .. } | Builtin::ToInt(_) => a,
            Builtin::SignExtend { from, to } => Some(cut(signed(a?, from) as u128, to)),
            Builtin::ToSignedInt(from) => Some(signed(a?, from) as u128),
            Builtin::FromInt(width) => Some(cut(a?, width)),
        }
    }
}

fn binary(op: BinaryOp, a: Value, b: Value) -> Value {
    match op {
        BinaryOp::And if a == Some(0) || b == Some(0) => return Some(0),
        BinaryOp::Or if a == Some(1) || b == Some(1) => return Some(1),
        BinaryOp::Implies if a == Some(0) || b == Some(1) => return Some(1),
        _ => {}
    }
    let (a, b) = (a?, b?);
    let (x, y) = (a as i128, b as i128);
    let truth = |holds: bool| Some(u128::from(holds));
    match op {
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Implies => Some((1 - a) | b),
        BinaryOp::Iff | BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::Lt => truth(x < y),
        BinaryOp::Le => truth(x <= y),
        BinaryOp::Gt => truth(x > y),
        BinaryOp::Ge => truth(x >= y),
        BinaryOp::Add => x.checked_add(y).map(|sum| sum as u128),
        BinaryOp::Sub => x.checked_sub(y).map(|difference| difference as u128),
        BinaryOp::Mul => x.checked_mul(y).map(|product| product as u128),
        BinaryOp::Div => x.checked_div_euclid(y).map(|quotient| quotient as u128),
        BinaryOp::Mod => x.checked_rem_euclid(y).map(|rest| rest as u128),
    }
}

/// The low bits.
pub fn cut(value: u128, width: u32) -> u128 {
    if width >= 128 { value } else { value & ((1 << width) - 1) }
}

fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    ((value << unused) as i128) >> unused
}

fn operator(op: BvOp, width: u32, a: u128, b: u128) -> u128 {
    let (x, y) = (signed(a, width), signed(b, width));
    let ones = cut(u128::MAX, width);
    let far = b >= u128::from(width);
    let truth = u128::from;
    let value = match op {
        BvOp::Add => a.wrapping_add(b),
        BvOp::Sub => a.wrapping_sub(b),
        BvOp::Mul => a.wrapping_mul(b),
        BvOp::Neg => a.wrapping_neg(),
        BvOp::Not => !a,
        BvOp::Udiv => a.checked_div(b).unwrap_or(ones),
        BvOp::Urem => a.checked_rem(b).unwrap_or(a),
        BvOp::Sdiv if y == 0 => {
            if x < 0 {
                1
            } else {
                ones
            }
        }
        BvOp::Sdiv => x.wrapping_div(y) as u128,
        BvOp::Srem if y == 0 => a,
        BvOp::Srem => x.wrapping_rem(y) as u128,
        BvOp::And => a & b,
        BvOp::Or => a | b,
        BvOp::Xor => a ^ b,
        BvOp::Shl => {
            if far {
                0
            } else {
                a << b
            }
        }
        BvOp::Lshr => {
            if far {
                0
            } else {
                a >> b
            }
        }
        BvOp::Ashr => (x >> if far { 127 } else { b }) as u128,
        BvOp::Ult => truth(a < b),
        BvOp::Ule => truth(a <= b),
        BvOp::Ugt => truth(a > b),
        BvOp::Uge => truth(a >= b),
        BvOp::Slt => truth(x < y),
        BvOp::Sle => truth(x <= y),
        BvOp::Sgt => truth(x > y),
        BvOp::Sge => truth(x >= y),
    };
    cut(value, width)
}
