//! Family `activity`: where the threads are.
//!
//! Shapes: `v_active$1 == v_active$2`; a thread active at the head was active on entry; a thread
//! that entered is at the head or at one of the loop's exits; one that did not enter did not move,
//! nor did any before the first round; the loop's counter is that of the thread that stays longest.
//! Example: `v_active$1 == v_active$2`, after a loop with a uniform trip count: both threads are
//! active at the next barrier.
//! Inductive because a thread moves only inside the loop, and only while it is active there.
//! Reference: gpuverify-notes section 4 (`loopPredicateEquality`).

use super::View;
use crate::ivl::ast::{BinaryOp, Thread};
use crate::ivl::bv;

/// More exits than this give no candidate.
const EXIT_LIMIT: usize = 6;

pub(super) fn propose(view: &mut View) {
    let v_active = view.ghosts.v_active.clone();
    let (ty, head) = view.ghosts.head_literal();
    let places = Thread::BOTH.map(|t| bv::var(v_active.of(t), ty.clone()));
    view.propose("activity", bv::eq(places[0].clone(), places[1].clone()));
    view.propose("activity", bv::eq(view.ghosts.own_counter(Thread::First), view.ghosts.own_counter(Thread::Second)));
    last_round(view);
    for thread in Thread::BOTH {
        let here = places[thread.index()].clone();
        let entry = bv::var(view.ghosts.active_at_entry(thread), ty.clone());
        let entered = bv::eq(entry.clone(), head.clone());
        let active = view.active(thread);
        view.propose("activity", bv::implies(active.clone(), entered.clone()));
        let counted = bv::eq(view.ghosts.own_counter(thread), view.ghosts.counter());
        view.propose("activity", bv::implies(active.clone(), counted));
        view.propose("activity", bv::op(BinaryOp::Le, bv::int(0), view.ghosts.own_counter(thread)));
        let unmoved = bv::eq(here.clone(), entry);
        view.propose("activity", bv::or(entered.clone(), unmoved.clone()));
        view.propose("activity", bv::implies(bv::eq(view.ghosts.counter(), bv::int(0)), unmoved));
        let targets = view.ghosts.exit_ids.clone();
        if targets.len() <= EXIT_LIMIT {
            let width = bv::width(&here);
            let mut somewhere = active;
            for id in targets {
                somewhere = bv::or(somewhere, bv::eq(here.clone(), bv::literal(u128::from(id), width)));
            }
            view.propose("activity", bv::implies(entered, somewhere));
        }
    }
}

/// When both threads have left, one of them left in the round before.
fn last_round(view: &mut View) {
    let k = view.ghosts.counter();
    let next = |e| bv::op(BinaryOp::Add, e, bv::int(1));
    let cases = [
        bv::eq(k.clone(), bv::int(0)),
        view.active(Thread::First),
        view.active(Thread::Second),
        bv::eq(k.clone(), next(view.ghosts.own_counter(Thread::First))),
        bv::eq(k.clone(), next(view.ghosts.own_counter(Thread::Second))),
    ];
    if let Some(some_case) = cases.into_iter().reduce(bv::or) {
        view.propose("activity", some_case);
    }
    for thread in Thread::BOTH {
        view.propose("activity", bv::op(BinaryOp::Le, view.ghosts.own_counter(thread), k.clone()));
    }
}
