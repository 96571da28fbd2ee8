//! Family `groups`: which groups of asynchronous copies a thread has not waited for.
//!
//! Shapes, for a loop that commits or waits: `committed - waited == d` for small d; `committed - entry == c * k`; what is remembered of a copy belongs to a
//! group that was not waited for (`committed - logged <= committed - waited`), and that was committed (`committed != logged`).
//! Example: `groups.committed$1 - groups.waited$1 == 1`, at the head of a loop that copies one stage ahead.
//! Inductive because each round commits as many groups as it waits for, and because barriers forget complete copies.
//! Reference: phases-notes 1.1 (agents, per-thread groups) and 2.6.

use super::View;
use crate::ivl::ast::{BinaryOp, Thread, Type};
use crate::ivl::bv::{self, BvOp};
use crate::twothread::underway::Groups;

/// Groups that a loop may leave open; pipelines have a few stages.
const MOST: u128 = 8;

pub(super) fn propose(view: &mut View) {
    let Some(Groups { logged, committed, waited, is_copy }) = view.log.groups.clone() else { return };
    let [own_committed, own_waited] = [committed, waited].map(|name| name.of(Thread::First));
    if ![&own_committed, &own_waited].into_iter().any(|name| view.cut.assigned.contains(name)) {
        return;
    }
    let number = |name| bv::var(name, Type::Bv(64));
    let logged = number(logged);
    let [committed, waited] = [&own_committed, &own_waited].map(|name| number(name.clone()));
    let active = view.active(Thread::First);
    let (open, age) = (bv::sub(committed.clone(), waited), bv::sub(committed, logged));
    for count in 0..MOST {
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
    for flag in view.log.flags() {
        let pending = bv::and(bv::var(flag.clone(), Type::Bool), is_copy.clone());
        let is_open = bv::not(bv::binary(BvOp::Ult, open.clone(), age.clone()));
        view.propose("groups", bv::implies(pending.clone(), is_open));
        view.propose("groups", bv::implies(pending, bv::ne(age.clone(), bv::literal(0, 64))));
    }
}
