//! Family `objects`: what a thread knows of the phases of a barrier object.
//!
//! Shapes: `synced == known`, `arrived == known + d`, where `arrived` is of the thread that arrives and `known` of either; `owed == 0`; it has made the object; `x == parity` and
//! `x & 1 == parity` for a register of 32 bits; in a loop that waits: who is at its head knows what it knew on entry, who left it knows one phase more.
//! Example: `r7$1 == object.parity$1`, for the register that a kernel flips with each phase.
//! Inductive because each round arrives once and waits once.
//! Reference: phases-notes 2.2, 2.4, 5.

use super::View;
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv::{self, BvOp};

pub(super) fn propose(view: &mut View) {
    let has = |name: &str| view.cut.at_head.contains_key(&Name::from(name).of(Thread::First));
    if !has("object.known") {
        return;
    }
    for thread in Thread::BOTH {
        of_thread(view, thread);
    }
}

fn of_thread(view: &mut View, thread: Thread) {
    let variable = |name: &str, ty: Type| bv::var(Name::from(name).of(thread), ty);
    let number = |name: &str| variable(name, Type::Int);
    let (known, parity) = (number("object.known"), variable("object.parity", Type::Bv(32)));
    let (part, owed) = (variable("object.part", Type::Bool), variable("object.owed", Type::Bv(32)));
    let plus = |from: &ExprRef, more: i128| bv::op(BinaryOp::Add, from.clone(), bv::int(more));
    let active = view.active(thread);
    let mut forms = vec![bv::eq(number("object.synced"), known.clone()), bv::eq(owed, bv::literal(0, 32))];
    forms.extend([0, 1].map(|more| bv::implies(part.clone(), bv::eq(number("object.arrived"), plus(&known, more)))));
    let flipped = |parity: &ExprRef| bv::binary(BvOp::Xor, parity.clone(), bv::literal(1, 32));
    let words: Vec<Name> =
        view.variables.iter().filter(|(_, ty)| **ty == Type::Bv(32)).map(|(name, _)| name.clone()).collect();
    for name in words.into_iter().filter(|name| !name.as_str().starts_with("object.")) {
        let register = bv::var(name.of(thread), Type::Bv(32));
        let lowest = bv::binary(BvOp::And, register.clone(), bv::literal(1, 32));
        forms.extend([register, lowest].map(|value| bv::eq(value, parity.clone())));
    }
    let mate = if thread == Thread::First { Thread::Second } else { Thread::First };
    let [part_of_mate, arrived_of_mate] = [("object.part", Type::Bool), ("object.arrived", Type::Int)]
        .map(|(name, ty)| bv::var(Name::from(name).of(mate), ty));
    let is_due = |more| bv::implies(part_of_mate.clone(), bv::eq(arrived_of_mate.clone(), plus(&known, more)));
    forms.extend([0, 1].map(is_due));
    forms.extend(
        ["object.made", "object.made.synced"].map(|name| bv::implies(part.clone(), variable(name, Type::Bool))),
    );
    for form in forms {
        view.propose("objects", form.clone());
        view.propose("objects", bv::implies(active.clone(), form));
    }
    let (name, word) = (Name::from("object.known").of(thread), Name::from("object.parity").of(thread));
    if !view.cut.assigned.contains(&name) {
        return;
    }
    let (known_before, parity_before) = (view.on_entry(&name, &Type::Int), view.on_entry(&word, &Type::Bv(32)));
    let same = bv::and(bv::eq(known.clone(), known_before.clone()), bv::eq(parity.clone(), parity_before.clone()));
    view.propose("objects", bv::implies(active.clone(), same));
    let (ids, head) = view.ghosts.head_literal();
    let entered = bv::eq(bv::var(view.ghosts.active_at_entry(thread), ids), head);
    let left = bv::and(entered, bv::not(active));
    let one_more = bv::and(bv::eq(known, plus(&known_before, 1)), bv::eq(parity, flipped(&parity_before)));
    view.propose("objects", bv::implies(left, one_more));
}
