//! Family `pending`: what the access log may hold at the head of a loop with a barrier.
//!
//! Shapes, for each log flag: nothing is pending; what is pending was logged in the last round; after
//! the first round nothing from before the loop is pending.
//! Example: `!_WRITE_HAS_OCCURRED_A`, at the head of a tiled loop that ends in a barrier.
//! Inductive because barriers clear the flags.
//! Reference: gpuverify-notes section 4 (`noread`, `nowrite`).

use super::View;
use crate::ivl::ast::{BinaryOp, Type};
use crate::ivl::bv;

pub(super) fn propose(view: &mut View) {
    if !view.has_barrier {
        return;
    }
    let round = bv::var(view.ghosts.round.clone(), Type::Int);
    let counter = view.ghosts.counter();
    let last_round = bv::eq(round.clone(), bv::op(BinaryOp::Sub, counter.clone(), bv::int(1)));
    let first_round = bv::eq(counter, bv::int(0));
    let logged_inside = bv::ne(round, bv::int(-1));
    for flag in view.log.flags() {
        let set = bv::var(flag.clone(), Type::Bool);
        view.propose("pending", bv::not(set.clone()));
        view.propose("pending", bv::implies(set.clone(), last_round.clone()));
        view.propose("pending", bv::implies(set, bv::or(first_round.clone(), logged_inside.clone())));
    }
}
