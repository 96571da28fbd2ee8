//! Family `groups`: which groups of asynchronous copies a thread has not waited for.
//!
//! Shapes, for a loop that commits or waits: `committed - waited == d` and `<= d` for small d; `committed - entry == c * k`, where a
//! round commits c groups; what is remembered of a copy belongs to a group that was not waited for (`waited <= logged`), and that was
//! committed (`logged < committed`); it was copied few rounds ago (`k - round <= d`; before the loop is round -1), and its group tells
//! in which one (`committed - logged == c * (k - round) - j` for a j below c). Of flags of a thread: it is not set; who
//! stays away keeps it.
//! Example: `groups.committed$1 - groups.waited$1 == 1`, at the head of a loop that copies one stage ahead.
//! Inductive because each round commits as many groups as it waits for, and because barriers forget complete copies.
//! Reference: phases-notes 1.1 (agents, per-thread groups) and 2.6.

use super::View;
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv;
use crate::twothread::underway::Groups;
use std::collections::BTreeSet;

/// Groups that a loop may leave open; pipelines have a few stages.
const MOST: i128 = 8;

/// Groups that a round may commit whose ways are many.
const FEW: i128 = 4;

pub(super) fn propose(view: &mut View) {
    for groups in view.log.groups.clone() {
        of_kind(view, groups);
    }
    // What a thread has open, it often has not between rounds.
    let flags: Vec<Name> =
        view.variables.iter().filter(|(_, ty)| **ty == Type::Bool).map(|(name, _)| name.clone()).collect();
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
fn of_kind(view: &mut View, Groups { logged, committed, waited, is_copy, logs }: Groups) {
    let [own_committed, own_waited] = [committed, waited].map(|name| name.of(Thread::First));
    if ![&own_committed, &own_waited].into_iter().any(|name| view.cut.assigned.contains(name)) {
        return;
    }
    let number = |name| bv::var(name, Type::Int);
    let logged = number(logged);
    let [committed, waited] = [&own_committed, &own_waited].map(|name| number(name.clone()));
    let minus = |from: &ExprRef, number: &ExprRef| bv::op(BinaryOp::Sub, from.clone(), number.clone());
    let at_most = |number: &ExprRef, most: i128| bv::op(BinaryOp::Le, number.clone(), bv::int(most));
    let active = view.active(Thread::First);
    let open = minus(&committed, &waited);
    // What fences end is never open.
    let is_of_fences = own_committed == own_waited;
    let left = left_open(view, [&own_committed, &own_waited]);
    let counts: Vec<i128> = if left.is_empty() { (0..MOST).collect() } else { left.into_iter().collect() };
    for &count in counts.iter().filter(|_| !is_of_fences) {
        let same = bv::eq(open.clone(), bv::int(count));
        view.propose("groups", same.clone());
        view.propose("groups", bv::implies(active.clone(), same));
        view.propose("groups", at_most(&open, count));
    }
    let steps = steps(view, &own_committed);
    let start = view.on_entry(&own_committed, &Type::Int);
    for &step in &steps {
        let distance = bv::op(BinaryOp::Mul, bv::int(step), view.ghosts.counter());
        view.propose("groups", bv::implies(active.clone(), bv::eq(minus(&committed, &start), distance)));
    }
    let flags = logs.iter().filter_map(|log| view.log.of(log)).flat_map(|log| log.flags.clone());
    let pending = flags.map(|flag| bv::var(flag, Type::Bool)).fold(bv::boolean(false), bv::or);
    let pending = bv::and(is_copy, pending);
    view.propose("groups", bv::implies(pending.clone(), bv::op(BinaryOp::Le, waited, logged.clone())));
    view.propose("groups", bv::implies(pending.clone(), bv::op(BinaryOp::Lt, logged.clone(), committed.clone())));
    let round = bv::var(view.ghosts.round.clone(), Type::Int);
    let since = minus(&view.ghosts.counter(), &round);
    let in_steps = |count: &i128| steps.iter().map(|step| (count + step - 1) / step).collect::<Vec<_>>();
    let rounds: BTreeSet<i128> =
        if is_of_fences { BTreeSet::from([1]) } else { counts.iter().flat_map(in_steps).collect() };
    for most in rounds.into_iter().filter(|most| *most > 0) {
        view.propose("groups", bv::implies(pending.clone(), at_most(&since, most)));
    }
    let (inside, age) = (bv::and(pending, bv::ne(round, bv::int(-1))), minus(&committed, &logged));
    for step in steps {
        let groups = bv::op(BinaryOp::Mul, bv::int(step), since.clone());
        let is_of_round = |later: i128| bv::eq(age.clone(), minus(&groups, &bv::int(later)));
        let one_of = (0..step).map(is_of_round).fold(bv::boolean(false), bv::or);
        view.propose("groups", bv::implies(inside.clone(), one_of));
    }
}

/// How many groups a round may commit: what all ways through it say, or, where they meet too often to be told apart, a few.
fn steps(view: &mut View, committed: &Name) -> Vec<i128> {
    let Some(&head) = view.cut.at_head.get(committed) else { return Vec::new() };
    let differences = view.updates(committed).into_iter().map(|update| {
        let step = view.terms.int_sub(update, head);
        view.terms.int_value(step)
    });
    match differences.collect::<Option<Vec<i128>>>() {
        Some(steps) => steps.into_iter().filter(|step| (1..=MOST).contains(step)).max().into_iter().collect(),
        None => (1..=FEW).collect(),
    }
}

/// How many groups a round may leave open, as far as its last wait says.
fn left_open(view: &mut View, [committed, waited]: [&Name; 2]) -> BTreeSet<i128> {
    let ends = view.cut.at_end.iter().filter_map(|end| Some((*end.get(committed)?, *end.get(waited)?)));
    let mut found = BTreeSet::new();
    for (committed, waited) in ends.collect::<Vec<_>>() {
        let (last, known) = (view.terms.leaves(committed), view.terms.leaves(waited));
        for (last, known) in last.into_iter().flat_map(|last| known.iter().map(move |known| (last, *known))) {
            let open = view.terms.int_sub(last, known);
            found.extend(view.terms.int_value(open).filter(|open| (0..MOST).contains(open)));
        }
    }
    found
}
