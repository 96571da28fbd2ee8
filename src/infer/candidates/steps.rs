//! Family `steps`: where a walk has come, in strides since its start.
//!
//! Shapes, for a walk of `r` by a stride `s` ([`crate::infer::walks`]): `sint(r) == sint(start) + s * steps`;
//! `steps == steps_entry + c*k` for an active thread, and with the thread's own rounds for one that left; a register that
//! moves with r is a multiple of it, `sint(x) == 4 * sint(r) + d`; and what is pending was logged at
//! `4 * (sint(start) + s * (steps_logged + c)) + d`.
//! Example: the two loops that a compiler makes of a grid-stride loop, one round at a time and four.
//! Inductive because the ghosts move with the register; no product but `s * steps` is needed.
//! Reference: scalar evolution; gpuverify-notes section 4 (`accessOffsetsSatisfyPredicates`).

use super::View;
use crate::infer::walks::{Place, Walk};
use crate::ivl::ast::{BinaryOp, ExprRef, Thread, Type};
use crate::ivl::bv::{self, BvOp};

fn plus(a: ExprRef, b: ExprRef) -> ExprRef {
    bv::op(BinaryOp::Add, a, b)
}

fn plus_constant(a: ExprRef, constant: i128) -> ExprRef {
    if constant == 0 { a } else { plus(a, bv::int(constant)) }
}

fn times(factor: i128, e: ExprRef) -> ExprRef {
    if factor == 1 { e } else { bv::op(BinaryOp::Mul, bv::int(factor), e) }
}

pub(super) fn propose(view: &mut View) {
    for walk in view.walks {
        for thread in Thread::BOTH {
            moved(view, walk, thread);
            counted(view, walk, thread);
        }
        pending(view, walk);
    }
}

/// `start + s * steps`, over the integers.
fn position(walk: &Walk, thread: Thread, steps: ExprRef) -> ExprRef {
    let stride = bv::to_sint(walk.stride[thread.index()].clone());
    plus(bv::to_sint(walk.start(thread)), bv::op(BinaryOp::Mul, stride, steps))
}

fn moved(view: &mut View, walk: &Walk, thread: Thread) {
    if !walk.loops.contains_key(&view.index) {
        return;
    }
    let here = bv::to_sint(bv::var(walk.register.of(thread), walk.ty.clone()));
    let position = position(walk, thread, walk.steps(thread));
    view.propose("steps", bv::eq(here.clone(), position));
    let (active, index) = (view.active(thread), view.index);
    for follower in walk.followers.iter().filter(|follower| follower.in_loop == index) {
        let own = bv::to_sint(bv::var(follower.register.of(thread), follower.ty.clone()));
        let multiple = plus_constant(times(follower.factor, here.clone()), follower.displacement);
        view.propose("steps", bv::implies(active.clone(), bv::eq(own, multiple)));
    }
}

fn counted(view: &mut View, walk: &Walk, thread: Thread) {
    let Some(&steps) = walk.loops.get(&view.index) else { return };
    let (counter, own) = (view.ghosts.counter(), view.ghosts.own_counter(thread));
    let entry = view.on_entry(&walk.steps_name(thread), &Type::Int);
    let after = |rounds: ExprRef| bv::eq(walk.steps(thread), plus(entry.clone(), times(steps, rounds)));
    let active = view.active(thread);
    view.propose("steps", bv::implies(active.clone(), after(counter)));
    let (ids, head) = view.ghosts.head_literal();
    let entered = bv::eq(bv::var(view.ghosts.active_at_entry(thread), ids), head);
    for rounds in [own.clone(), plus(own, bv::int(1))] {
        let unchanged = bv::eq(walk.steps(thread), entry.clone());
        view.propose("steps", bv::or(active.clone(), bv::ite(entered.clone(), after(rounds), unchanged)));
    }
}

fn pending(view: &mut View, walk: &Walk) {
    for (array, sites) in &walk.arrays {
        let Some(log) = view.log.of(array) else { continue };
        let assigned = log.flags.iter().filter(|flag| view.cut.assigned.contains(*flag));
        let flags = assigned.map(|flag| bv::var(flag.clone(), Type::Bool));
        let Some(pending) = flags.reduce(bv::or) else { continue };
        let is_tracked = |site: &u32| view.log.is_tracked(*site);
        let watched = bv::var(log.watched.clone(), Type::Bv(64));
        let Some(any) = sites.iter().map(is_tracked).reduce(bv::or) else { continue };
        view.propose("steps", bv::implies(pending.clone(), any));
        for place in walk.places.iter().filter(|place| place.array == *array) {
            let Some(tracked) = place.sites.iter().map(is_tracked).reduce(bv::or) else { continue };
            view.propose("steps", bv::implies(bv::and(tracked, pending.clone()), range(walk, place, &watched)));
        }
        for log in walk.outside.iter().filter(|log| log.array == *array) {
            let distance = bv::sub(watched.clone(), log.offset.clone());
            let touches = bv::binary(BvOp::Ult, distance, bv::literal(u128::from(log.bytes), 64));
            view.propose("steps", bv::implies(bv::and(is_tracked(&log.site), pending.clone()), touches));
        }
    }
}

/// The watched byte is one of those that were logged.
fn range(walk: &Walk, place: &Place, watched: &ExprRef) -> ExprRef {
    let steps = plus_constant(walk.logged(), place.steps);
    let first = plus_constant(times(place.factor, position(walk, Thread::First, steps)), place.displacement);
    let watched = bv::to_sint(watched.clone());
    let behind = plus(first.clone(), bv::int(i128::from(place.bytes)));
    bv::and(bv::op(BinaryOp::Le, first, watched.clone()), bv::op(BinaryOp::Lt, watched, behind))
}
