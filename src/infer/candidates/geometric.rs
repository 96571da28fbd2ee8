//! Family `geometric`: registers that double, halve, or run through constants.
//!
//! Shapes, for an active thread: `x == x_entry << k*j`, `x == x_entry >> k*j`; and for an update that
//! only depends on x and starts from a constant, the table `k == 0 && x == v0 || k == 1 && x == v1 || ...`.
//! `geometric-left`, for a thread that left: the table of the rounds in which it may have left.
//! `power-of-two`: `x & (x-1) == 0` and `x != 0`.
//! Example: `v_active$1 == 3bv16 ==> r9$1 == BV32_LSHR(r9.entry.L$1, INT_TO_BV32(k.L))`, the stride of a
//! tree reduction.
//! Inductive because the update is a function of x; half of a power of two is one, while the exit test
//! keeps it from 0.
//! Reference: gpuverify-notes section 4 (`pow2`, `pow2NotZero`).

use super::View;
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv::{self, BvOp};
use crate::vcgen::term::{Node, Term};
use foldhash::HashMap;

/// Rounds that a table may have.
const TABLE_LIMIT: usize = 40;

pub(super) fn propose(view: &mut View) {
    for (name, ty) in view.variables.clone() {
        if name == view.ghosts.v_active || !matches!(ty, Type::Bv(1..=64)) {
            continue;
        }
        for thread in Thread::BOTH {
            let variable = name.of(thread);
            let updates = view.updates(&variable);
            let [update] = updates.as_slice() else { continue };
            let Some(&head) = view.cut.at_head.get(&variable) else { continue };
            let step = view.terms.bv_sub(*update, head);
            if view.terms.bv_value(step).is_some() {
                continue;
            }
            if shifts(view, &variable, &ty, thread, *update, head) {
                powers_of_two(view, &variable, &ty, thread);
            }
            table(view, &variable, &ty, thread, *update, head);
        }
    }
}

/// Proposes a shift by the counter; true when the update is some kind of doubling or halving.
fn shifts(view: &mut View, variable: &Name, ty: &Type, thread: Thread, update: Term, head: Term) -> bool {
    let Some((ops, amount)) = shift_of(view, update, head) else { return false };
    let width = view.terms.width(head);
    let counter = view.ghosts.counter();
    let distance = if amount == 1 { counter } else { bv::op(BinaryOp::Mul, bv::int(i128::from(amount)), counter) };
    let entry = view.on_entry(variable, ty);
    for op in ops {
        let value = bv::binary(op, entry.clone(), bv::from_int(distance.clone(), width));
        let form = bv::eq(bv::var(variable.clone(), ty.clone()), value);
        let active = view.active(thread);
        view.propose("geometric", bv::implies(active, form));
    }
    true
}

fn shift_of(view: &View, update: Term, head: Term) -> Option<(Vec<BvOp>, u32)> {
    match view.terms.node(update) {
        Node::BvSum { constant: 0, members, .. } => match members.as_ref() {
            [(only, factor)] if *only == head && factor.is_power_of_two() => {
                Some((vec![BvOp::Shl], factor.trailing_zeros()))
            }
            _ => None,
        },
        // Also `x / 2` as compilers write it: (x + sign(x)) >> 1.
        Node::ZeroExtend(_, inner) | Node::SignExtend(_, inner) => match view.terms.node(*inner) {
            Node::Extract { low, of, .. } if *low > 0 && depends_on(view, *of, head) => {
                Some((vec![BvOp::Lshr, BvOp::Ashr], *low))
            }
            _ => None,
        },
        _ => None,
    }
}

fn depends_on(view: &View, term: Term, symbol: Term) -> bool {
    let mut symbols = Default::default();
    view.terms.collect_symbols(term, &mut Default::default(), &mut symbols);
    symbols.len() == 1 && symbols.contains(&symbol)
}

fn powers_of_two(view: &mut View, variable: &Name, ty: &Type, thread: Thread) {
    let here = bv::var(variable.clone(), ty.clone());
    let width = bv::width(&here);
    let (zero, one) = (bv::literal(0, width), bv::literal(1, width));
    let single_bit = bv::eq(bv::binary(BvOp::And, here.clone(), bv::sub(here.clone(), one)), zero.clone());
    let active = view.active(thread);
    view.propose("power-of-two", bv::implies(active.clone(), single_bit));
    view.propose("power-of-two", bv::implies(active, bv::ne(here, zero)));
}

/// The values from a constant start, round by round.
fn table(view: &mut View, variable: &Name, ty: &Type, thread: Thread, update: Term, head: Term) {
    let Some(&entry) = view.cut.entry.get(variable) else { return };
    if view.terms.bv_value(entry).is_none() || !depends_on(view, update, head) {
        return;
    }
    let stay = view.stay(thread);
    let here = bv::var(variable.clone(), ty.clone());
    let width = bv::width(&here);
    let row = |counter: ExprRef, round: usize, bits: u128| {
        bv::and(bv::eq(counter, bv::int(round as i128)), bv::eq(here.clone(), bv::literal(bits, width)))
    };
    let (mut rows, mut rows_left) = (Vec::new(), Vec::new());
    let mut value = entry;
    for round in 0..TABLE_LIMIT {
        let mut map = HashMap::from_iter([(head, value)]);
        let stays = stay.map(|s| view.terms.substitute(s, &mut map.clone()));
        let stays = stays.and_then(|s| view.terms.truth(s));
        let next = view.terms.substitute(update, &mut map);
        let (Some(bits), Some(next_bits)) = (view.terms.bv_value(value), view.terms.bv_value(next)) else { return };
        rows.push(row(view.ghosts.counter(), round, bits));
        if stays != Some(true) {
            rows_left.push(row(view.ghosts.own_counter(thread), round, next_bits));
        }
        if next == value || stays == Some(false) {
            break;
        }
        if round + 1 == TABLE_LIMIT {
            return;
        }
        value = next;
    }
    let active = view.active(thread);
    if let Some(rows) = rows.into_iter().reduce(bv::or) {
        view.propose("geometric", bv::implies(active.clone(), rows));
    }
    if let Some(rows) = rows_left.into_iter().reduce(bv::or) {
        let (ids, head) = view.ghosts.head_literal();
        let entered = bv::eq(bv::var(view.ghosts.active_at_entry(thread), ids), head);
        view.propose("geometric-left", bv::or(active, bv::implies(entered, rows)));
    }
}
