//! Family `frame`: a thread that stayed away from the loop keeps its registers.
//!
//! Shape: `v_entry == head || x == x_entry`, for registers that do not grow by the same step in
//! each round (of those the family `affine` says it). Of registers that no round takes over from the one before, this is
//! the only candidate: a thread that stayed away may read them.
//! Example: `v_entry.loop1$1 == 1bv16 || x$1 == x.entry.loop1$1`, for a flag that each round computes and
//! that is read behind the loop, where the loop may run no round at all.
//! Inductive because every assignment in the loop is guarded by the activity of its block.
//! Reference: the lock-step paper's predication: a thread that is not active does not assign.

use super::{View, affine};
use crate::ivl::ast::Thread;
use crate::ivl::bv;

pub(super) fn propose(view: &mut View) {
    let (ids, head) = view.ghosts.head_literal();
    let dead = view.dead.clone();
    for (name, ty) in view.variables.clone().into_iter().chain(dead.clone()) {
        if name == view.ghosts.v_active {
            continue;
        }
        for thread in Thread::BOTH {
            let variable = name.of(thread);
            if !dead.contains_key(&name) && affine::grows_evenly(view, &variable, thread) {
                continue;
            }
            let entered = bv::eq(bv::var(view.ghosts.active_at_entry(thread), ids.clone()), head.clone());
            let entry = view.on_entry(&variable, &ty);
            let unchanged = bv::eq(bv::var(variable, ty.clone()), entry);
            view.propose("frame", bv::or(entered, unchanged));
        }
    }
}
