//! Family `affine`: a register grows by the same step in each round.
//!
//! Shapes, for an active thread and the round counter k: `sint(x) == sint(x_entry) + k*step` and
//! the unsigned form (no wrap-around), and `x == x_entry + step*k` modulo 2^n. `affine-late`, where a
//! round may leave x alone: the same with k-1 in place of k behind the first round. `affine-left`, for
//! a thread that left: the same with its own counter, or with one round more.
//! Example: `v_active$1 == 1bv16 ==> BV32_TO_SINT(i$1) == BV32_TO_SINT(i.entry.loop1$1) + 64 * k.loop1`,
//! the index of a grid-stride loop; also a strength-reduced pointer, a counter counted down, a plane that
//! a march along z moves in all rounds but the first.
//! Inductive because k and x are updated together; the forms without wrap need a bound on x.
//! The modular and unsigned forms are cheap over bit-vectors and dear over integers, where they are
//! left out: what needs them is tried over bit-vectors next.
//! Reference: proof-notes, lesson 3.

use super::{View, bounds};
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv;
use crate::ivl::visit::free_vars;
use crate::solver::Encoding;
use crate::vcgen::term::{Sort, Term, signed};
use foldhash::HashMap;

/// Different steps on different branches beyond this number give no candidate.
const STEP_LIMIT: usize = 3;

pub(super) fn propose(view: &mut View) {
    for (name, ty) in view.variables.clone() {
        let Type::Bv(width) = ty else { continue };
        if name == view.ghosts.v_active || width > 64 {
            continue;
        }
        for thread in Thread::BOTH {
            let variable = name.of(thread);
            let steps = steps(view, &variable);
            if steps.len() > STEP_LIMIT {
                continue;
            }
            for step in steps {
                affine(view, &variable, &ty, width, thread, step);
            }
            bounds::propose(view, &variable, &ty, thread);
        }
    }
}

/// The differences between the value at the end of a round and at its head.
pub(super) fn steps(view: &mut View, variable: &Name) -> Vec<Term> {
    let Some(&head) = view.cut.at_head.get(variable) else { return Vec::new() };
    if view.terms.sort(head) == Sort::Int {
        return Vec::new();
    }
    let updates = view.updates_of_active(variable);
    let mut steps: Vec<Term> = updates.into_iter().map(|value| view.terms.bv_sub(value, head)).collect();
    steps.sort();
    steps.dedup();
    steps
}

/// Whether the register grows in every round, by a step that the loop does not change.
pub(super) fn grows_evenly(view: &mut View, variable: &Name, thread: Thread) -> bool {
    let &[step] = steps(view, variable).as_slice() else { return false };
    let grows = !rests_sometimes(view, variable, thread);
    grows && view.reify(step).is_some_and(|step| !mentions_assigned(view, &step))
}

fn affine(view: &mut View, variable: &Name, ty: &Type, width: u32, thread: Thread, step: Term) {
    let Some(step_expr) = view.reify(step) else { return };
    let mentions_loop = mentions_assigned(view, &step_expr);
    let register = variable.shared();
    let walks = view.walks.iter().any(|walk| walk.moves(view.index, &register));
    if mentions_loop || walks {
        return;
    }
    let active = view.active(thread);
    let counter = view.ghosts.counter();
    let here = bv::var(variable.clone(), ty.clone());
    let entry = view.on_entry(variable, ty);
    let int_step = |is_signed: bool| match view.terms.bv_value(step) {
        Some(value) => bv::int(signed(value, width)),
        None if is_signed => bv::to_sint(step_expr.clone()),
        None => bv::to_int(step_expr.clone()),
    };
    let (signed_step, unsigned_step) = (int_step(true), int_step(false));
    let with_wrapping = view.encoding == Encoding::BitVectors;
    let forms = |k: &ExprRef| {
        let grown = |start: ExprRef, step: &ExprRef| {
            bv::op(BinaryOp::Add, start, bv::op(BinaryOp::Mul, step.clone(), k.clone()))
        };
        let mut forms = vec![bv::eq(bv::to_sint(here.clone()), grown(bv::to_sint(entry.clone()), &signed_step))];
        if with_wrapping {
            forms.push(bv::eq(bv::to_int(here.clone()), grown(bv::to_int(entry.clone()), &unsigned_step)));
            let moved = bv::mul(step_expr.clone(), bv::from_int(k.clone(), width));
            forms.push(bv::eq(here.clone(), bv::add(entry.clone(), moved)));
        }
        forms
    };
    for form in forms(&counter) {
        view.propose("affine", bv::implies(active.clone(), form));
    }
    if view.terms.bv_value(step).is_some() && rests_sometimes(view, variable, thread) {
        let grown = bv::op(BinaryOp::Sub, counter.clone(), bv::int(1));
        let late = bv::ite(bv::eq(counter, bv::int(0)), bv::int(0), grown);
        for form in forms(&late) {
            view.propose("affine-late", bv::implies(active.clone(), form));
        }
    }
    let (ids, head) = view.ghosts.head_literal();
    let entered = bv::eq(bv::var(view.ghosts.active_at_entry(thread), ids), head);
    let own = view.ghosts.own_counter(thread);
    for rounds in [own.clone(), bv::op(BinaryOp::Add, own, bv::int(1))] {
        for form in forms(&rounds) {
            let unchanged = bv::eq(here.clone(), entry.clone());
            view.propose("affine-left", bv::or(active.clone(), bv::ite(entered.clone(), form, unchanged)));
        }
    }
}

/// Whether an active thread may leave the register as it is.
fn rests_sometimes(view: &mut View, variable: &Name, thread: Thread) -> bool {
    let v_active = view.ghosts.v_active.of(thread);
    let (Some(&head), Some(&active)) = (view.cut.at_head.get(variable), view.cut.at_head.get(&v_active)) else {
        return false;
    };
    let Sort::Bv(width) = view.terms.sort(active) else { return false };
    let here = view.terms.bv(u128::from(view.ghosts.head_id), width);
    view.cut.at_end.iter().filter_map(|end| end.get(variable)).any(|&end| {
        let moved = view.terms.substitute(end, &mut HashMap::from_iter([(active, here)]));
        view.terms.leaves(moved).contains(&head)
    })
}

fn mentions_assigned(view: &View, e: &ExprRef) -> bool {
    free_vars(e).iter().any(|n| view.cut.assigned.contains(n))
}
