//! Family `congruence`: a register keeps its remainder.
//!
//! Shape: `x[b:0] == x_entry[b:0]`, where 2^b divides every step of x.
//! Example: `i$1[6:0] == i.entry.loop1$1[6:0]`, the index of a grid-stride loop with 64 threads, however
//! often it wraps around.
//! Inductive because 2^b divides 2^n too; it needs no bound on x, and it holds of threads that have left.
//! Reference: gpuverify-notes section 4 (`loopCounterIsStrided`).

use super::{View, affine};
use crate::ivl::ast::{ExprRef, Name, Thread, Type};
use crate::ivl::bv;
use crate::vcgen::term::{Node, Term, Terms};

pub(super) fn propose(view: &mut View) {
    for (name, ty) in view.variables.clone() {
        let Type::Bv(width) = ty else { continue };
        if name == view.ghosts.v_active {
            continue;
        }
        for thread in Thread::BOTH {
            let variable = name.of(thread);
            let steps = affine::steps(view, &variable);
            let kept = steps.iter().map(|&step| zero_bits(view.terms, step)).min().unwrap_or(0);
            if kept == 0 || kept >= width {
                continue;
            }
            let entry = view.on_entry(&variable, &ty);
            let here = bv::var(variable.clone(), ty.clone());
            let low = |e, bits| bv::extract(e, bits, 0);
            view.propose("congruence", bv::eq(low(here.clone(), kept), low(entry, kept)));
            since_first_loop(view, &variable, here);
        }
    }
}

/// The same for the remainder that the register had before the first loop that moves it.
fn since_first_loop(view: &mut View, variable: &Name, here: ExprRef) {
    let Some(origins) = view.origins else { return };
    let (Some(&head), Some(&entry)) = (view.cut.at_head.get(variable), view.cut.entry.get(variable)) else { return };
    let (kept, origin) = (origins.kept(view.terms, head), origins.of(view.terms, head));
    if 0 < kept
        && kept < bv::width(&here)
        && let Some(origin) = origin.filter(|origin| *origin != entry)
        && let Some(origin) = view.reify(origin)
    {
        view.propose("congruence", bv::eq(bv::extract(here, kept, 0), bv::extract(origin, kept, 0)));
    }
}

/// How many low bits of a term are zero for certain.
pub(crate) fn zero_bits(terms: &Terms, term: Term) -> u32 {
    let width = terms.width(term);
    match terms.node(term) {
        Node::BvConst { value, .. } => value.trailing_zeros().min(width),
        Node::BvSum { constant, members, .. } => {
            let of_members = members.iter().map(|&(t, factor)| zero_bits(terms, t) + factor.trailing_zeros());
            of_members.chain([constant.trailing_zeros()]).min().unwrap_or(0).min(width)
        }
        Node::ZeroExtend(_, inner) | Node::SignExtend(_, inner) => zero_bits(terms, *inner),
        _ => 0,
    }
}
