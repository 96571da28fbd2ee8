//! Family `pending`: what the access log may hold at the head.
//!
//! Shapes, for each log flag of a loop with a barrier: nothing is pending; what is pending was
//! logged in the last round; after the first round nothing from before the loop is pending. For
//! every loop: the round of the logged access lies before the current one.
//! Example: a tiled loop that ends in a barrier. Inductive because barriers clear the flags.

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
        view.found.push(("pending", bv::not(set.clone())));
        view.found.push(("pending", bv::implies(set.clone(), last_round.clone())));
        view.found.push(("pending", bv::implies(set, bv::or(first_round.clone(), logged_inside.clone()))));
    }
}
