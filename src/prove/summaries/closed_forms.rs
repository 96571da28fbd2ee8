//! Registers as functions of the number of rounds.
//!
//! Input: the invariants of a loop about thread 1. Output: [`ClosedForms`]. Establishes: where the invariants hold, a register has the
//! value that its closed form gives, modulo 2^width, and the number of rounds has so many bits. Relies on: the shape of the candidates of
//! `infer::candidates::affine`. Reference: scalar evolution (chains of recurrences).

use super::rename::{of, rounds};
use super::summary::Invariant;
use super::writer::Rounds;
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Name, Thread, Type};
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use crate::ivl::visit::free_vars;
use std::collections::BTreeSet;

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
    /// `None` where it is not known how many rounds there may be; `changed`: what the loop assigns; `steps`: registers that
    /// move by a number, with what they had in front of the loop; `last`: a register with its value in the last round only.
    pub(super) fn of_loop(
        invariants: Vec<&Invariant>,
        counter: Name,
        changed: &BTreeSet<Name>,
        steps: Vec<Evenly>,
        last: Option<&(Name, u128)>,
    ) -> Option<Self> {
        let is_fixed = |expr: &ExprRef| free_vars(expr).is_disjoint(changed);
        let evenly = invariants.iter().filter_map(|one| Evenly::of(&one.expr, &counter));
        let mut evenly: Vec<Evenly> = evenly.filter(|one| is_fixed(&one.start) && is_fixed(&one.step)).collect();
        let is_positive = |register: &Name| invariants.iter().any(|one| says_positive(&one.expr, register));
        // A register that gets further with each round and does not wrap has no more values than that.
        let rounds = evenly.iter().filter_map(|one| {
            let values = 1u128 << (bv::width(&one.step) - u32::from(is_positive(&one.register)));
            Some((values - 1) / one.number()?.unsigned_abs())
        });
        let width = (u128::BITS - rounds.min()?.leading_zeros()).max(1);
        evenly.extend(steps);
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
        let rounds = bv::var(rounds(&self.counter), Type::Bv(self.width));
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
pub(super) struct Evenly {
    pub(super) register: Name,
    pub(super) start: ExprRef,
    pub(super) step: ExprRef,
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

#[cfg(test)]
mod tests {
    use super::super::rename::registers::{name, var};
    use super::*;
    use crate::ivl::visit::without_spans;

    /// `sint(register) == sint(start) + step * k$1`
    fn moves(register: &str, start: &str, step: ExprRef) -> ExprRef {
        let product = bv::op(BinaryOp::Mul, step, bv::var(name("k$1"), Type::Int));
        let sum = bv::op(BinaryOp::Add, bv::to_sint(var(start)), product);
        bv::eq(bv::to_sint(var(register)), sum)
    }

    fn closed_forms(invariants: Vec<ExprRef>, last: Option<(&str, u128)>) -> Option<ClosedForms> {
        with_steps(invariants, Vec::new(), last)
    }

    fn with_steps(invariants: Vec<ExprRef>, steps: Vec<Evenly>, last: Option<(&str, u128)>) -> Option<ClosedForms> {
        let invariants: Vec<Invariant> =
            invariants.into_iter().map(|expr| Invariant { family: "affine", in_loop: 0, expr }).collect();
        let changed = ["x$1", "x$2", "y$1", "y$2"].into_iter().map(name).collect();
        let last = last.map(|(register, value)| (name(register), value));
        ClosedForms::of_loop(invariants.iter().collect(), name("k$1"), &changed, steps, last.as_ref())
    }

    fn is(value: Option<ExprRef>, expected: Option<ExprRef>) {
        assert_eq!(value.map(|expr| without_spans(&expr)), expected.map(|expr| without_spans(&expr)));
    }

    #[test]
    fn what_moves_by_a_number_tells_nothing_of_how_many_rounds_there_are() {
        let by_four = || Evenly { register: name("y$1"), start: var("y.before$1"), step: bv::literal(4, 32) };
        assert!(with_steps(Vec::new(), vec![by_four()], None).is_none(), "it may wrap");
        let closed = with_steps(vec![moves("x$1", "x.entry$1", bv::int(-1))], vec![by_four()], None).unwrap();
        assert_eq!(closed.width, 32);
        let rounds = bv::var(name("k.rounds$1"), Type::Bv(32));
        let value = bv::add(var("y.before$1"), bv::mul(bv::literal(4, 32), bv::zext(rounds, 32)));
        is(closed.of(&name("y$1"), Thread::First, Rounds::AnyAndLast), Some(value));
    }

    #[test]
    fn registers_are_assigned_from_the_rounds() {
        let closed = closed_forms(vec![moves("x$1", "x.entry$1", bv::int(-4))], None).unwrap();
        // 2^32 - 1 values in steps of 4.
        assert_eq!(closed.width, 30);
        let rounds = bv::zext(bv::var(name("k.rounds$2"), Type::Bv(30)), 32);
        let value = bv::add(var("x.entry$2"), bv::mul(bv::literal(0xffff_fffc, 32), rounds));
        is(closed.of(&name("x$2"), Thread::Second, Rounds::AnyAndLast), Some(value));
        is(closed.of(&name("y$2"), Thread::Second, Rounds::AnyAndLast), None);
    }

    #[test]
    fn the_last_round_has_the_value_that_is_tested() {
        let moved = || vec![moves("x$1", "x.entry$1", bv::int(4)), moves("y$1", "y.entry$1", bv::int(-8))];
        let closed = closed_forms(moved(), Some(("x$1", 12))).unwrap();
        is(closed.of(&name("x$1"), Thread::First, Rounds::Last), Some(bv::literal(12, 32)));
        let distance = bv::sub(bv::literal(12, 32), var("x.entry$1"));
        let other = bv::add(var("y.entry$1"), bv::mul(bv::literal(0xffff_fffe, 32), distance));
        is(closed.of(&name("y$1"), Thread::First, Rounds::Last), Some(other));
        // Half a step is none.
        let closed = closed_forms(moved(), Some(("y$1", 12))).unwrap();
        let by_rounds = closed.of(&name("x$1"), Thread::First, Rounds::AnyAndLast);
        is(closed.of(&name("x$1"), Thread::First, Rounds::Last), by_rounds);
    }

    #[test]
    fn what_the_loop_changes_is_no_start() {
        assert!(closed_forms(vec![moves("x$1", "y$1", bv::int(4))], None).is_none());
        let unknown_step = moves("x$1", "x.entry$1", bv::to_sint(var("y$1")));
        assert!(closed_forms(vec![unknown_step], None).is_none());
    }

    /// Only a step that is a number says how many rounds there are; a register that is never negative has half the values.
    #[test]
    fn rounds_have_the_bits_that_a_counter_allows() {
        let by_unknown = || moves("y$1", "y.entry$1", bv::to_sint(var("w")));
        assert!(closed_forms(vec![by_unknown()], None).is_none());
        let counts = || moves("x$1", "x.entry$1", bv::int(1));
        assert_eq!(closed_forms(vec![by_unknown(), counts()], None).unwrap().width, 32);
        let positive = bv::binary(BvOp::Sle, bv::literal(0, 32), var("x$1"));
        assert_eq!(closed_forms(vec![counts(), positive], None).unwrap().width, 31);
        let other = bv::binary(BvOp::Sle, bv::literal(0, 32), var("y$1"));
        assert_eq!(closed_forms(vec![counts(), other], None).unwrap().width, 32);
    }
}
