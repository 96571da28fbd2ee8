//! Family `exit-test`: the condition that kept a thread in the loop, at the head of the next round.
//!
//! Shape: with the updated values renamed to head values, each conjunct of the back-edge condition,
//! once for `k > 0` and once for every round (an entry guard often says the same). `exit-test-left`, for
//! a thread that left: the negated condition. Registers that no round hands on to the next say nothing at the head, so
//! what they are computed from stands for them: `r + 3 != 15`, the test of the last of four copies of a body, is
//! `r - 1 != 15` of the next head.
//! Example: `i < n` at the head of a rotated loop; `i - step < n` where the test stands at the top:
//! `v_active$1 == 1bv16 && 0 < k.loop1 ==> !BV32_ULE(128bv32, BV32_ADD(4294967232bv32, i$1))`.
//! Inductive because the thread came through that very test.
//! Reference: proof-notes, lesson 3.

use super::{View, affine};
use crate::ivl::ast::{BinaryOp, ExprKind, ExprRef, Thread, UnaryOp};
use crate::ivl::bv::{self, BvOp};
use crate::vcgen::term::{Node, Sort, Term};
use foldhash::HashMap;

pub(super) fn propose(view: &mut View) {
    for thread in Thread::BOTH {
        let Some(stay) = view.stay(thread) else { continue };
        let map = to_next_head(view, thread);
        for test in tests(view, stay, &map) {
            let Some(expr) = view.reify(test) else { continue };
            let active = view.active(thread);
            let later = bv::op(BinaryOp::Lt, bv::int(0), view.ghosts.counter());
            for bound in strict_bounds(&expr) {
                view.propose("exit-test", bv::implies(active.clone(), bound));
            }
            view.propose("exit-test", bv::implies(active.clone(), expr.clone()));
            view.propose("exit-test", bv::implies(bv::and(active, later), expr));
        }
        left(view, thread, stay, &map);
    }
}

/// What an active thread that stays knows at the next head.
pub(super) fn at_next_head(view: &mut View, thread: Thread) -> Vec<Term> {
    let Some(stay) = view.stay(thread) else { return Vec::new() };
    let map = to_next_head(view, thread);
    tests(view, stay, &map)
}

/// The conjuncts of a condition at the end of a round, in terms of the next head.
fn tests(view: &mut View, stay: Term, map: &NextHead) -> Vec<Term> {
    let conditions = view.terms.conjuncts(stay);
    let at_head = |condition: Term| {
        // Updated values first (they may be any expression), then the head values of affine ones.
        let marked = view.terms.substitute(condition, &mut map.carried.clone());
        let renamed = view.terms.substitute(marked, &mut map.shifted.clone());
        view.terms.substitute(renamed, &mut map.unmarked.clone())
    };
    conditions.into_iter().map(at_head).collect()
}

/// Compilers turn `i < n` into `i != n`; on which side i stays is for Houdini to find out.
fn strict_bounds(condition: &ExprRef) -> Vec<ExprRef> {
    let ExprKind::Unary(UnaryOp::Not, inner) = &condition.kind else { return Vec::new() };
    let ExprKind::Binary(BinaryOp::Eq, a, b) = &inner.kind else { return Vec::new() };
    if bv::width(a) == 0 {
        return Vec::new();
    }
    [BvOp::Slt, BvOp::Sgt, BvOp::Ult, BvOp::Ugt].map(|op| bv::binary(op, a.clone(), b.clone())).into()
}

/// For a thread that left: the condition that would have kept it is false of the updated values.
fn left(view: &mut View, thread: Thread, stay: Term, map: &NextHead) {
    let mut updated = map.updated.clone();
    let marked = view.terms.substitute(stay, &mut updated);
    let mut unmarked = map.unmarked.clone();
    let renamed = view.terms.substitute(marked, &mut unmarked);
    let Some(expr) = view.reify(renamed) else { return };
    let (ids, head) = view.ghosts.head_literal();
    let entered = bv::eq(bv::var(view.ghosts.active_at_entry(thread), ids), head);
    let gone = bv::and(entered, bv::not(view.active(thread)));
    view.propose("exit-test-left", bv::implies(gone, bv::not(expr)));
}

type Substitution = HashMap<Term, Term>;

/// How values of a round are named at the next head.
#[derive(Default)]
struct NextHead {
    /// Updated value to marker.
    updated: Substitution,
    /// The same, for registers that the next round reads.
    carried: Substitution,
    /// Head value to the previous head value in terms of the new one (for constant steps; others get a value without a
    /// name).
    shifted: Substitution,
    /// Marker to new head value.
    unmarked: Substitution,
}

fn to_next_head(view: &mut View, thread: Thread) -> NextHead {
    let mut map = NextHead::default();
    for name in view.cut.assigned.clone() {
        if name.thread() != Some(thread) {
            continue;
        }
        let Some(&head) = view.cut.at_head.get(&name) else { continue };
        // The value of a predicate register is the very condition; its parts say more.
        if view.terms.sort(head) == Sort::Bool {
            continue;
        }
        let changed = view.cut.at_end.iter().any(|end| end.get(&name) != Some(&head));
        if !changed || !matches!(view.terms.node(head), Node::Symbol(_)) {
            continue;
        }
        let values = view.updates_of_active(&name);
        let sort = view.terms.sort(head);
        let marker = view.terms.fresh("next", sort);
        let is_carried = view.variables.contains_key(&name.shared());
        map.unmarked.insert(marker, head);
        for &value in &values {
            if !matches!(view.terms.node(value), Node::Symbol(_) | Node::BvConst { .. } | Node::Bool(_)) {
                map.updated.insert(value, marker);
                if is_carried {
                    map.carried.insert(value, marker);
                }
            }
        }
        let step = match (values.as_slice(), sort) {
            ([_], Sort::Bv(_)) => affine::steps(view, &name).first().copied(),
            _ => None,
        };
        let previous = match step.filter(|&s| view.terms.bv_value(s).is_some()) {
            Some(step) => view.terms.bv_sub(marker, step),
            None => view.terms.fresh("previous", sort),
        };
        map.shifted.insert(head, previous);
    }
    map
}
