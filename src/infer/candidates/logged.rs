//! Family `logged`: where an access may have been that is pending.
//!
//! Shapes, for the flags of an array and its watched byte `w`. The low bits of all its places are those from which the
//! loops started, since loops move by multiples of a power of two: `pending ==> (w - start)[b:0] < bytes`. A place is in
//! the row of the thread, where it starts at a product: `pending ==> f*x*y <= w` and `pending ==> w < f*x*y + f*y`.
//! Example: `_WRITE_HAS_OCCURRED_y ==> w < 4*(cols * ctaid$1) + 4*cols`, at the loops of a block over the elements of its row.
//! Inductive because each access that is remembered satisfies it by itself, whatever was remembered before.
//! Reference: gpuverify-notes section 4 (`accessOffsetsSatisfyPredicates`, `accessBreak`).

use super::View;
use crate::infer::origins::{ALL, Origins};
use crate::infer::sightings;
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::visit::free_vars;
use crate::twothread::log::{ArrayLog, Log};
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{BvBinary, Node, Term, Terms, signed};
use std::collections::BTreeMap;

/// Where accesses of an array start from.
pub(crate) struct Start {
    log: ArrayLog,
    /// The first byte, up to a constant.
    base: Term,
    /// The low bits that no loop changes.
    kept: u32,
    /// First bytes beyond the base, and bytes.
    beyond: Vec<(u128, u128)>,
}

/// The starts of all logged accesses that loops move.
pub(super) fn starts(passive: &mut Passive, origins: &Origins, log: &Log) -> Vec<Start> {
    let mut found: BTreeMap<(Name, Term), Start> = BTreeMap::new();
    for (log, offset, bytes) in sightings::logged(passive, log) {
        let terms = &mut passive.terms;
        let Some(start) = origins.of(terms, offset) else { continue };
        let kept = origins.kept(terms, offset);
        let constant = match terms.node(start) {
            Node::BvSum { constant, .. } => *constant,
            _ => 0,
        };
        let beyond = terms.bv(constant, terms.width(start));
        let base = terms.bv_sub(start, beyond);
        let new = || Start { log: log.clone(), base, kept, beyond: Vec::new() };
        let start = found.entry((log.watched.clone(), base)).or_insert_with(new);
        start.kept = start.kept.min(kept);
        if !start.beyond.contains(&(constant, bytes)) {
            start.beyond.push((constant, bytes));
        }
    }
    found.into_values().filter(|start| start.kept < ALL).collect()
}

pub(super) fn propose(view: &mut View) {
    for start in view.starts {
        let assigned = start.log.flags.iter().filter(|flag| view.cut.assigned.contains(*flag));
        let Some(pending) = assigned.map(|flag| bv::var(flag.clone(), Type::Bool)).reduce(bv::or) else { continue };
        let watched = bv::var(start.log.watched.clone(), Type::Bv(64));
        low_bits(view, start, &pending, &watched);
        for (row, factor) in rows(view.terms, start.base) {
            in_row(view, (row, factor), &pending, &watched);
        }
    }
}

/// The expression of a value of thread 1.
fn of_first(view: &mut View, value: Term) -> Option<ExprRef> {
    let expr = view.reify(value)?;
    free_vars(&expr).iter().all(|name| name.thread() != Some(Thread::Second)).then_some(expr)
}

/// The low bits of the watched byte are those of the start.
fn low_bits(view: &mut View, start: &Start, pending: &ExprRef, watched: &ExprRef) {
    let Some(base) = of_first(view, start.base).filter(|base| bv::width(base) == 64) else { return };
    let low = |value: u128| value & ((1 << start.kept) - 1);
    let (Some(first), Some(last)) = (
        start.beyond.iter().map(|(at, _)| low(*at)).min(),
        start.beyond.iter().map(|(at, bytes)| low(*at) + bytes).max(),
    ) else {
        return;
    };
    if last - first < 1 << start.kept {
        let from = bv::add(base, bv::literal(first, 64));
        let distance = bv::extract(bv::sub(watched.clone(), from), start.kept, 0);
        let near = bv::binary(BvOp::Ult, distance, bv::literal(last - first, start.kept));
        view.propose("logged", bv::implies(pending.clone(), near));
    }
}

/// The products that a place begins with, with the bytes of one unit.
fn rows(terms: &Terms, base: Term) -> Vec<(Term, i128)> {
    let members = |of: Term| match terms.node(of) {
        Node::BvSum { width, members, .. } => members.iter().map(|(m, times)| (*m, signed(*times, *width))).collect(),
        _ => vec![(of, 1)],
    };
    let is_product = |term: Term| matches!(terms.node(term), Node::BvBinary(BvBinary::Mul, ..));
    let mut rows = Vec::new();
    for (member, bytes) in members(base) {
        let inner = match terms.node(member) {
            Node::SignExtend(_, inner) | Node::ZeroExtend(_, inner) => members(*inner),
            _ => vec![(member, 1)],
        };
        rows.extend(inner.into_iter().filter(|(m, _)| is_product(*m)).map(|(m, times)| (m, times * bytes)));
    }
    rows
}

/// The watched byte is in the row that begins with a product, where one of its factors is the length.
fn in_row(view: &mut View, (row, factor): (Term, i128), pending: &ExprRef, watched: &ExprRef) {
    let Node::BvBinary(BvBinary::Mul, a, b) = *view.terms.node(row) else { return };
    let Some(row) = of_first(view, row).map(bv::to_sint) else { return };
    let times = |e: ExprRef| bv::op(BinaryOp::Mul, bv::int(factor), e);
    let watched = bv::to_sint(watched.clone());
    let begun = bv::op(BinaryOp::Le, times(row.clone()), watched.clone());
    view.propose("logged", bv::implies(pending.clone(), begun));
    for length in [a, b] {
        let length = match *view.terms.node(length) {
            Node::SignExtend(_, inner) | Node::ZeroExtend(_, inner) => inner,
            _ => length,
        };
        if !view.may_be_bound(length) {
            continue;
        }
        let Some(length) = of_first(view, length).map(bv::to_sint) else { continue };
        let end = bv::op(BinaryOp::Add, times(row.clone()), times(length));
        let inside = bv::op(BinaryOp::Lt, watched.clone(), end);
        view.propose("logged", bv::implies(pending.clone(), inside));
    }
}
