//! Family `round`: when the pending access was logged.
//!
//! Shapes, for every loop: `-1 <= round`, `round < k`, `0 <= k`.
//! Example: `round.loop1 < k.loop1`: the witness of what is pending is an earlier round.
//! Inductive because the body sets the round to the present k, and the back edge counts k up.
//!
//! Family `pending`: what the access log may hold at the head of a loop with a barrier.
//!
//! Shapes, for each log flag: nothing is pending; what is pending was logged in the last round; after
//! the first round nothing from before the loop is pending.
//! Example: `!_WRITE_HAS_OCCURRED_A`, at the head of a tiled loop that ends in a barrier.
//! Inductive because barriers clear the flags.
//! Reference: DESIGN section 4 (the witness); gpuverify-notes section 4 (`noread`, `nowrite`).

use super::View;
use crate::ivl::ast::{BinaryOp, Type};
use crate::ivl::bv;

pub(super) fn propose(view: &mut View) {
    let round = bv::var(view.ghosts.round.clone(), Type::Int);
    let counter = view.ghosts.counter();
    let minus_one = bv::int(-1);
    view.propose("round", bv::op(BinaryOp::Le, minus_one.clone(), round.clone()));
    view.propose("round", bv::op(BinaryOp::Lt, round.clone(), counter.clone()));
    view.propose("round", bv::op(BinaryOp::Le, bv::int(0), counter.clone()));
    if !view.has_barrier {
        return;
    }
    let last_round = bv::eq(round.clone(), bv::op(BinaryOp::Sub, counter.clone(), bv::int(1)));
    let first_round = bv::eq(counter, bv::int(0));
    let logged_inside = bv::ne(round, minus_one);
    for flag in view.flags {
        let set = bv::var(flag.clone(), Type::Bool);
        view.propose("pending", bv::not(set.clone()));
        view.propose("pending", bv::implies(set.clone(), last_round.clone()));
        view.propose("pending", bv::implies(set, bv::or(first_round.clone(), logged_inside.clone())));
    }
}
