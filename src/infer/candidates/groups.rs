//! Family `groups`: which groups of asynchronous copies a thread has not waited for.
//!
//! Shapes, for a loop that commits or waits: `committed - waited == d` for small d; `committed - entry == c * k`; what is remembered of a copy belongs to a
//! group that was not waited for (`committed - logged <= committed - waited`), and that was committed (`committed != logged`).
//! For a loop that commits c groups a round: it was copied few rounds ago (`k - round <= d`), and its group tells in which one
//! (`committed - logged == c * (k - round) - j` for a j below c): integers, so that no proof about places has to count modulo 2^64.
//! Example: `groups.committed$1 - groups.waited$1 == 1`, at the head of a loop that copies one stage ahead.
//! Inductive because each round commits as many groups as it waits for, and because barriers forget complete copies.
//! Reference: phases-notes 1.1 (agents, per-thread groups) and 2.6.

use super::View;
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv::{self, BvOp};
use crate::twothread::underway::Groups;

/// Groups that a loop may leave open; pipelines have a few stages.
const MOST: u128 = 8;

pub(super) fn propose(view: &mut View) {
    for groups in view.log.groups.clone() {
        of_kind(view, groups);
    }
    // What a thread has open, it often has not between rounds.
    let flags: Vec<Name> = view.variables.iter().filter(|(_, ty)| **ty == Type::Bool).map(|(name, _)| name.clone()).collect();
    for flag in flags.into_iter().filter(|_| !view.log.groups.is_empty()) {
        for thread in Thread::BOTH {
            let (active, unset) = (view.active(thread), bv::not(bv::var(flag.of(thread), Type::Bool)));
            view.propose("groups", bv::implies(active, unset.clone()));
            view.propose("groups", unset);
            let (ids, head) = view.ghosts.head_literal();
            let entered = bv::eq(bv::var(view.ghosts.active_at_entry(thread), ids), head);
            let entry = view.on_entry(&flag.of(thread), &Type::Bool);
            view.propose("groups", bv::or(entered, bv::eq(bv::var(flag.of(thread), Type::Bool), entry)));
        }
    }
}

/// Copies that end in one way.
fn of_kind(view: &mut View, Groups { logged, committed, waited, is_copy }: Groups) {
    let [own_committed, own_waited] = [committed, waited].map(|name| name.of(Thread::First));
    if ![&own_committed, &own_waited].into_iter().any(|name| view.cut.assigned.contains(name)) {
        return;
    }
    let number = |name| bv::var(name, Type::Bv(64));
    let logged = number(logged);
    let [committed, waited] = [&own_committed, &own_waited].map(|name| number(name.clone()));
    let active = view.active(Thread::First);
    let (open, age) = (bv::sub(committed.clone(), waited), bv::sub(committed, logged));
    // What fences end is never open.
    let most = if own_committed == own_waited { 0 } else { MOST };
    for count in 0..most {
        let same = bv::eq(open.clone(), bv::literal(count, 64));
        view.propose("groups", same.clone());
        view.propose("groups", bv::implies(active.clone(), same));
    }
    let start = view.on_entry(&own_committed, &Type::Bv(64));
    for step in 1..=4 {
        let distance = bv::from_int(bv::op(BinaryOp::Mul, bv::int(step), view.ghosts.counter()), 64);
        let form = bv::eq(bv::sub(number(own_committed.clone()), start.clone()), distance);
        view.propose("groups", bv::implies(active.clone(), form));
    }
    let pending = view.log.flags().map(|flag| bv::var(flag.clone(), Type::Bool)).fold(bv::boolean(false), bv::or);
    rounds(view, &own_committed, &bv::and(is_copy.clone(), pending), &age);
    for flag in view.log.flags() {
        let pending = bv::and(bv::var(flag.clone(), Type::Bool), is_copy.clone());
        let is_open = bv::not(bv::binary(BvOp::Ult, open.clone(), age.clone()));
        view.propose("groups", bv::implies(pending.clone(), is_open));
        view.propose("groups", bv::implies(pending, bv::ne(age.clone(), bv::literal(0, 64))));
    }
}

/// How many rounds ago what is remembered of a copy was copied; before the loop counts as round -1.
fn rounds(view: &mut View, committed: &Name, pending: &ExprRef, age: &ExprRef) {
    let Some(step) = step(view, committed) else { return };
    let round = bv::var(view.ghosts.round.clone(), Type::Int);
    let since = bv::op(BinaryOp::Sub, view.ghosts.counter(), round.clone());
    for most in 1..=MOST {
        let few = bv::op(BinaryOp::Le, since.clone(), bv::int(most as i128));
        view.propose("groups", bv::implies(pending.clone(), few));
    }
    let inside = bv::and(pending.clone(), bv::ne(round, bv::int(-1)));
    let groups = bv::op(BinaryOp::Mul, bv::int(step), since);
    let is_of_round = |later: i128| {
        let number = bv::op(BinaryOp::Sub, groups.clone(), bv::int(later));
        bv::eq(age.clone(), bv::from_int(number, 64))
    };
    let one_of = (0..step).map(is_of_round).fold(bv::boolean(false), bv::or);
    view.propose("groups", bv::implies(inside, one_of));
}

/// How many groups a round commits, if each commits as many.
fn step(view: &mut View, committed: &Name) -> Option<i128> {
    let head = *view.cut.at_head.get(committed)?;
    let [update] = view.updates(committed)[..] else { return None };
    let step = view.terms.bv_sub(update, head);
    let step = view.terms.bv_value(step)? as i128;
    (1..=MOST as i128).contains(&step).then_some(step)
}
