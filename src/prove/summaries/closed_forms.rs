//! Registers as functions of the number of rounds.
//!
//! Input: the invariants of a loop about thread 1. Output: [`ClosedForms`]. Establishes: where the invariants hold, a register has the
//! value that its closed form gives, modulo 2^width, and the number of rounds has so many bits. Relies on: the shape of the candidates of
//! `infer::candidates::affine`. Reference: scalar evolution (chains of recurrences).

use super::rename::{any, of};
use super::summary::Invariant;
use super::writer::Rounds;
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, Thread, Type};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};

/// Registers of thread 1 as functions of the number of rounds.
pub(super) struct ClosedForms {
    /// Bits of that number.
    pub(super) width: u32,
    counter: Name,
    evenly: Vec<Evenly>,
    /// One that moves by a number and has this value in the last round only.
    tested: Option<(usize, u128)>,
}

impl ClosedForms {
    /// `None` where it is not known how many rounds there may be; `last`: a register with its value in the last round only.
    pub(super) fn of_loop(invariants: Vec<&Invariant>, counter: Name, last: Option<&(Name, u128)>) -> Option<Self> {
        let evenly: Vec<Evenly> = invariants.iter().filter_map(|one| Evenly::of(&one.expr, &counter)).collect();
        let is_positive = |register: &Name| invariants.iter().any(|one| says_positive(&one.expr, register));
        // A register that gets further with each round and does not wrap has no more values than that.
        let rounds = evenly.iter().filter_map(|one| {
            let values = 1u128 << (bv::width(&one.step) - u32::from(is_positive(&one.register)));
            Some((values - 1) / one.number()?.unsigned_abs())
        });
        let width = (u128::BITS - rounds.min()?.leading_zeros()).max(1);
        let tested = last.and_then(|(name, value)| {
            Some((evenly.iter().position(|one| one.number().is_some() && one.register == *name)?, *value))
        });
        Some(ClosedForms { width, counter, evenly, tested })
    }

    /// The value of a variable of a thread, if it has a closed form.
    pub(super) fn of(&self, name: &Name, thread: Thread, which: Rounds) -> Option<ExprRef> {
        let value = match which {
            Rounds::Last => self.by_tested(name).or_else(|| self.by_rounds(name)),
            Rounds::AnyAndLast => self.by_rounds(name),
        };
        value.map(|value| of(&value, thread))
    }

    /// In the last round what is tested has a value that is known, and with it what moves beside it.
    fn by_tested(&self, name: &Name) -> Option<ExprRef> {
        let first = name.of(Thread::First);
        let (tested, last) = self.tested?;
        let (tested, one) = (&self.evenly[tested], self.evenly.iter().find(|one| one.register == first)?);
        let (step, unit) = (one.number()?, tested.number()?);
        let width = bv::width(&one.step);
        let last = bv::literal(last, width);
        if one.register == tested.register {
            return Some(last);
        }
        let factor =
            step.checked_div(unit).filter(|factor| factor * unit == step && width == bv::width(&tested.step))?;
        let factor = bv::literal(factor.rem_euclid(1 << width).unsigned_abs(), width);
        Some(bv::add(one.start.clone(), bv::mul(factor, bv::sub(last, tested.start.clone()))))
    }

    fn by_rounds(&self, name: &Name) -> Option<ExprRef> {
        let rounds = bv::var(any(&self.counter), Type::Bv(self.width));
        let first = name.of(Thread::First);
        let value = if first == self.counter {
            bv::to_int(rounds)
        } else {
            let one = self.evenly.iter().find(|one| one.register == first)?;
            let width = bv::width(&one.step);
            let rounds = if width < self.width { bv::extract(rounds, width, 0) } else { bv::zext(rounds, width) };
            bv::add(one.start.clone(), bv::mul(one.step.clone(), rounds))
        };
        Some(value)
    }
}

/// `register == start + step * rounds`
struct Evenly {
    register: Name,
    start: ExprRef,
    step: ExprRef,
}

impl Evenly {
    /// The step, with its sign, if it is a number.
    fn number(&self) -> Option<i128> {
        let ExprKind::Bv(step) = self.step.kind else { return None };
        let (step, modulus) = (i128::try_from(step).ok()?, 1i128 << bv::width(&self.step));
        Some(if step >= modulus / 2 { step - modulus } else { step }).filter(|step| *step != 0)
    }

    /// As the family `affine` has it: `sint(register) == sint(start) + sint(step) * rounds`, or with a number as step.
    fn of(invariant: &ExprRef, counter: &Name) -> Option<Self> {
        let both = |of: BinaryOp, expr: &ExprRef| match &expr.kind {
            ExprKind::Binary(op, a, b) if *op == of => Some((a.clone(), b.clone())),
            _ => None,
        };
        let (here, sum) = both(BinaryOp::Eq, invariant)?;
        let (start, product) = both(BinaryOp::Add, &sum)?;
        let (step, rounds) = both(BinaryOp::Mul, &product)?;
        let (here, start) = (signed(&here)?, signed(&start)?);
        let width = match here.ty {
            Type::Bv(width) => width,
            _ => return None,
        };
        let step = match &step.kind {
            ExprKind::Int(step) if *step != 0 => bv::literal(u128::try_from(step.rem_euclid(1 << width)).ok()?, width),
            _ => signed(&step).filter(|step| step.ty == here.ty)?,
        };
        match (&here.kind, &rounds.kind) {
            (ExprKind::Var(register), ExprKind::Var(rounds)) if rounds == counter => {
                Some(Evenly { register: register.clone(), start, step })
            }
            _ => None,
        }
    }
}

/// Whether a formula says that a register is not below 0.
fn says_positive(formula: &ExprRef, register: &Name) -> bool {
    let ExprKind::Call(name, arguments) = &formula.kind else { return false };
    let is_bound = matches!(parse_builtin(name.as_str()), Some(Builtin::Op(BvOp::Sle | BvOp::Slt, _)));
    match &arguments[..] {
        [zero, here] => {
            let is_here = matches!(&here.kind, ExprKind::Var(name) if name == register);
            is_bound && matches!(zero.kind, ExprKind::Bv(0)) && is_here
        }
        _ => false,
    }
}

/// The bits of a number with sign.
fn signed(expr: &ExprRef) -> Option<ExprRef> {
    match &expr.kind {
        ExprKind::Call(name, arguments) => match &arguments[..] {
            [bits] if name.as_str() == format!("BV{}_TO_SINT", bv::width(bits)) => Some(bits.clone()),
            _ => None,
        },
        _ => None,
    }
}
