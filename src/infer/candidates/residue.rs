//! Family `residue`: a register keeps its remainder modulo a stride that is not a constant.
//!
//! Shape: `sint(x) mod s == sint(x_entry) mod s`, where every step of x is a multiple of s, which the loop does not
//! change. Example: the index of a grid-stride loop, modulo the number of threads: whatever the rounds, unrolled loops
//! and loops in a row, it is the index at which the thread began.
//! Inductive because `(a + c*s) mod s == a mod s`, as long as x does not wrap around; threads that have left keep it too.
//! Reference: gpuverify-notes section 4 (offsets modulo the stride); [`super::congruence`] has constant strides.

use super::{View, affine, relation};
use crate::infer::rename;
use crate::ivl::ast::{BinaryOp, ExprRef, Name};
use crate::ivl::bv;
use crate::vcgen::term::{Node, Term};
use std::collections::BTreeSet;

pub(super) fn propose(view: &mut View) {
    for thread in [1, 2] {
        let moving = relation::moving(view, thread);
        // Of registers that move together one is enough.
        let leads = |i: usize| !moving.iter().enumerate().any(|(j, other)| other.leads(&moving[i]) && i != j);
        for (_, lead) in moving.iter().enumerate().filter(|(i, _)| leads(*i)) {
            let (variable, ty) = (lead.variable.clone(), lead.ty.clone());
            let Some(stride) = stride(view, &variable) else { continue };
            let entry = view.on_entry(&variable, &ty);
            let rest = |e: ExprRef| bv::op(BinaryOp::Mod, bv::to_sint(e), bv::to_sint(stride.clone()));
            let kept = bv::eq(rest(bv::var(variable, ty.clone())), rest(entry));
            view.propose("residue", kept);
        }
    }
}

/// What all steps of a register are multiples of, without their constant factors.
fn stride(view: &mut View, variable: &Name) -> Option<ExprRef> {
    let steps = affine::steps(view, variable);
    let strides: BTreeSet<Term> = steps.into_iter().map(|step| without_factor(view, step)).collect();
    let mut strides = strides.into_iter();
    let (Some(stride), None) = (strides.next(), strides.next()) else { return None };
    if view.terms.bv_value(stride).is_some() {
        return None;
    }
    let stride = view.reify(stride)?;
    let mut free = BTreeSet::new();
    rename::free_variables(&stride, &mut free);
    free.iter().all(|name| !view.cut.assigned.contains(name)).then_some(stride)
}

/// `s` of `c * s`.
fn without_factor(view: &View, step: Term) -> Term {
    match view.terms.node(step) {
        Node::BvSum { constant: 0, members, .. } if members.len() == 1 => members[0].0,
        _ => step,
    }
}
