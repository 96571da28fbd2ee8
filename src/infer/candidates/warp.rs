//! Family `warp`: what two threads of one warp have in common, in programs where barriers of warps order accesses, or operations wait for
//! lanes.
//!
//! Shapes: both have waited for each other equally often; if they are of one warp, they are at the head together or none
//! is, and nothing is pending, in a loop with a barrier.
//! Example: `warps.in_step`; `tid.x$1 >> 5 == tid.x$2 >> 5 ==> v_active$1 == v_active$2`, in a loop that the first warp enters.
//! Inductive because branches around barriers of warps are the same for a warp.
//! Reference: PTX ISA, `bar.warp.sync`.

use super::View;
use crate::ivl::ast::{Thread, Type};
use crate::ivl::bv;

pub(super) fn propose(view: &mut View) {
    let Some(known) = view.same_warp else { return };
    let (in_step, same) = (known.in_step.clone(), known.same.clone());
    let orders = in_step.is_some();
    in_step.into_iter().for_each(|in_step| view.propose("warp", in_step));
    let v_active = view.ghosts.v_active.clone();
    let (ty, _) = view.ghosts.head_literal();
    let [first, second] = Thread::BOTH.map(|t| bv::var(v_active.of(t), ty.clone()));
    view.propose("warp", bv::implies(same.clone(), bv::eq(first, second)));
    if view.has_barrier && orders {
        let flags: Vec<_> = view.log.flags().cloned().collect();
        for flag in flags {
            let nothing = bv::not(bv::var(flag, Type::Bool));
            view.propose("warp", bv::implies(same.clone(), nothing));
        }
    }
}
