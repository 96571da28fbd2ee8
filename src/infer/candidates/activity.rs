//! Family `activity`: where the threads are.
//!
//! Shapes: `v_active$1 == v_active$2`; a thread active at the head was active on entry; a thread
//! that entered is at the head or at one of the loop's exits; none is at another block of the loop; one
//! that did not enter did not move, nor did any before the first round; the loop's counter is that of
//! the thread that stays longest.
//! Example: `v_active$1 == v_active$2`, after a loop with a uniform trip count: both threads are
//! active at the next barrier.
//! Inductive because a thread moves only inside the loop, and only while it is active there.
//! Reference: gpuverify-notes section 4 (`loopPredicateEquality`).

use super::View;
use crate::ivl::ast::{BinaryOp, ExprRef, Thread};
use crate::ivl::bv;

/// More exits than this give no candidate.
const EXIT_LIMIT: usize = 6;
/// More blocks than this behind the head give none.
const OTHERS_LIMIT: u32 = 24;

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
        elsewhere(view, &here);
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

/// At the head no thread is at another block of the loop, so that none comes back to the head that was not active there.
/// That blocks are told apart one by one is easier than an order of them. Where no loop goes on where another one ended,
/// rounds are proved from the start as well, and this is a burden.
fn elsewhere(view: &mut View, here: &ExprRef) {
    if view.origins.is_none() {
        return;
    }
    let others = view.ghosts.head_id + 1..=view.ghosts.last_id;
    if view.ghosts.last_id - view.ghosts.head_id > OTHERS_LIMIT {
        return;
    }
    let is_not = |other: u32| bv::not(bv::eq(here.clone(), bv::literal(u128::from(other), bv::width(here))));
    if let Some(elsewhere) = others.map(is_not).reduce(bv::and) {
        view.propose("activity", elsewhere);
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
