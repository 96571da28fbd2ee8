//! Family `round`: when the pending access was logged.
//!
//! Shapes, for every loop: `-1 <= round`, `round < k`, `0 <= k`.
//! Example: `round.loop1 < k.loop1`: the witness of what is pending is an earlier round.
//! Inductive because the body sets the round to the present k, and the back edge counts k up.
//! Reference: DESIGN section 4 (the witness).

use super::View;
use crate::ivl::ast::{BinaryOp, Type};
use crate::ivl::bv;

pub(super) fn propose(view: &mut View) {
    let round = bv::var(view.ghosts.round.clone(), Type::Int);
    let counter = view.ghosts.counter();
    view.propose("round", bv::op(BinaryOp::Le, bv::int(-1), round.clone()));
    view.propose("round", bv::op(BinaryOp::Lt, round, counter.clone()));
    view.propose("round", bv::op(BinaryOp::Le, bv::int(0), counter));
}
