//! Family `relation`: registers that move together.
//!
//! Shape: `sint(x) - c*sint(y) == sint(x_entry) - c*sint(y_entry)`, where each step of x is c times that of y.
//! Example: the index of a loop and the pointer that the compiler made of it.
//! Inductive because both sides change alike, as long as neither register wraps around; threads that have left keep it.
//! Reference: affine relations among variables, as in Karr's analysis.

use super::{View, affine, copy};
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Type};
use crate::ivl::bv;
use crate::vcgen::term::{Node, Term, signed};

/// Registers of a loop that are compared with each other.
const MEMBER_LIMIT: usize = 6;

/// A register with the only step that it makes, as a constant factor and what is not constant.
pub(super) struct Moving {
    /// The thread's copy of the register.
    pub variable: Name,
    /// Its type.
    pub ty: Type,
    factor: i128,
    step: Option<Term>,
}

impl Moving {
    /// Whether another register moves with this one, and by larger steps.
    pub fn leads(&self, other: &Moving) -> bool {
        self.step.is_some() && self.step == other.step && self.factor.abs() < other.factor.abs()
    }
}

pub(super) fn propose(view: &mut View) {
    for thread in [1, 2] {
        let moving = moving(view, thread);
        for (i, x) in moving.iter().enumerate().take(MEMBER_LIMIT) {
            for y in moving[..i].iter().filter(|y| y.step == x.step) {
                let (x, y) = if x.factor.abs() < y.factor.abs() { (y, x) } else { (x, y) };
                if x.factor % y.factor == 0 && x.step.is_some() {
                    relate(view, x, y, x.factor / y.factor);
                }
            }
        }
    }
}

/// The registers that make the same step in all rounds in which they change.
pub(super) fn moving(view: &mut View, thread: u32) -> Vec<Moving> {
    let mut found = Vec::new();
    for (name, ty) in view.variables.clone() {
        let Type::Bv(width @ (32 | 64)) = ty else { continue };
        let variable = copy(&name, thread);
        if name == view.ghosts.v_active {
            continue;
        }
        let &[step] = affine::steps(view, &variable).as_slice() else { continue };
        let (factor, step) = parts(view, step, width);
        found.push(Moving { variable, ty, factor, step });
    }
    found
}

/// `c` and `s` of a step `c * s`; `s` without the extension to 64 bits that pointers need.
fn parts(view: &View, step: Term, width: u32) -> (i128, Option<Term>) {
    if let Some(value) = view.terms.bv_value(step) {
        return (signed(value, width), None);
    }
    let (factor, inner) = match view.terms.node(step) {
        Node::BvSum { constant: 0, members, .. } if members.len() == 1 => (signed(members[0].1, width), members[0].0),
        _ => (1, step),
    };
    match view.terms.node(inner) {
        Node::SignExtend(_, narrow) | Node::ZeroExtend(_, narrow) => match parts(view, *narrow, view.terms.width(*narrow)) {
            (inside, Some(narrow)) => (factor * inside, Some(narrow)),
            _ => (factor, Some(inner)),
        },
        _ => (factor, Some(inner)),
    }
}

fn relate(view: &mut View, x: &Moving, y: &Moving, factor: i128) {
    let entries = [x, y].map(|moving| view.on_entry(&moving.variable, &moving.ty));
    let [here, there] = [x, y].map(|moving| bv::var(moving.variable.clone(), moving.ty.clone()));
    let distance = |x: ExprRef, y: ExprRef| {
        bv::op(BinaryOp::Sub, bv::to_sint(x), bv::op(BinaryOp::Mul, bv::int(factor), bv::to_sint(y)))
    };
    let [x_entry, y_entry] = entries;
    view.propose("relation", bv::eq(distance(here, there), distance(x_entry, y_entry)));
}
