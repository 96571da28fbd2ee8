//! Family `cycle`: registers that run through the same few values again and again.
//!
//! Shapes, for an active thread: the table of the first rounds, `k == 0 && x == v0 || ...`, and behind them
//! `k >= a && (k - a) mod p == j && x == vj || ...`. The values are what the register had on entry and what follows from it.
//! Example: `k.L$1 mod 2 == 0 && stage$1 == 1bv32 || k.L$1 mod 2 == 1 && stage$1 == 0bv32`, the stage of a ring of two buffers
//! (`stage = stage + 1 > 1 ? 0 : stage + 1`), and the same for the address that a compiler keeps beside it.
//! Inductive because the values of a round follow from those of the round before.
//! Reference: phases-notes section 5 (`phase = q mod 2`).

use super::View;
use crate::ivl::ast::{BinaryOp, ExprRef, Name, Thread, Type};
use crate::ivl::bv;
use crate::vcgen::term::Term;
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds that are looked at.
const ROUNDS: usize = 24;

/// Rounds before the values repeat, and rounds after which they do.
const FIRST: usize = 4;
const PERIOD: usize = 8;

pub(super) fn propose(view: &mut View) {
    // Only who starts anew goes round.
    let starts_anew = |name: &Name| {
        let updates = view.updates(&name.of(Thread::First));
        updates.len() > 1 && updates.iter().any(|update| view.terms.bv_value(*update).is_some())
    };
    if view.cut.at_end.len() != 1 || !view.variables.keys().any(starts_anew) {
        return;
    }
    for thread in Thread::BOTH {
        for (name, values) in runs(view, thread) {
            if let Some((first, period)) = cycle(&values) {
                table(view, (&name, thread), &values[..first + period], first);
            }
        }
    }
}

/// The values of registers at the head, round by round, as far as they follow from those on entry.
fn runs(view: &mut View, thread: Thread) -> BTreeMap<Name, Vec<Term>> {
    let is_wanted = |(name, ty): &(&Name, &Type)| **name != view.ghosts.v_active && matches!(ty, Type::Bv(1..=64));
    let mut names: BTreeSet<Name> = view.variables.iter().filter(is_wanted).map(|(name, _)| name.of(thread)).collect();
    let changing: BTreeSet<Term> =
        view.cut.assigned.iter().filter_map(|name| view.cut.at_head.get(name).copied()).collect();
    let v_active = view.ghosts.v_active.of(thread);
    let Some(&active) = view.cut.at_head.get(&v_active) else { return BTreeMap::new() };
    let width = view.terms.width(active);
    let here = view.terms.bv(u128::from(view.ghosts.head_id), width);
    loop {
        let entry = |name: &Name| Some((name.clone(), vec![entered(view, *view.cut.entry.get(name)?)]));
        let mut runs: BTreeMap<Name, Vec<Term>> = names.iter().filter_map(entry).collect();
        for round in 0..ROUNDS {
            let mut map = HashMap::from_iter([(active, here)]);
            for (name, values) in &runs {
                map.extend(view.cut.at_head.get(name).map(|head| (*head, values[round])));
            }
            for (name, values) in &mut runs {
                let before = values[round];
                let end = view.cut.at_end[0].get(name).copied().unwrap_or(before);
                let end = view.terms.substitute(end, &mut map);
                values.push(changed(view, end, before));
            }
        }
        // A value that depends on another register of the loop is not known; nor is what depends on it.
        let is_open = |values: &Vec<Term>| {
            let mut symbols = BTreeSet::new();
            values.iter().for_each(|value| view.terms.collect_symbols(*value, &mut Default::default(), &mut symbols));
            !symbols.is_disjoint(&changing)
        };
        let open: Vec<Name> = runs.iter().filter(|(_, values)| is_open(values)).map(|(name, _)| name.clone()).collect();
        if open.is_empty() {
            return runs;
        }
        names = runs.into_keys().filter(|name| !open.contains(name)).collect();
    }
}

/// What a value on entry is for whoever enters: others may have another one, which nobody chose.
fn entered(view: &View, entry: Term) -> Term {
    let mut constants = view.terms.leaves(entry).into_iter().filter(|leaf| view.terms.bv_value(*leaf).is_some());
    match (constants.next(), constants.next()) {
        (Some(only), None) => only,
        _ => entry,
    }
}

/// What a value becomes where it changes, if that is one value: whoever stays active comes by.
fn changed(view: &View, end: Term, before: Term) -> Term {
    let leaves: BTreeSet<Term> = view.terms.leaves(end).into_iter().filter(|leaf| *leaf != before).collect();
    match leaves.len() {
        0 => before,
        1 => leaves.into_iter().next().unwrap_or(end),
        _ => end,
    }
}

/// How many values come once, and how many repeat.
fn cycle(values: &[Term]) -> Option<(usize, usize)> {
    let repeats =
        |first: usize, period: usize| (first..values.len() - period).all(|at| values[at] == values[at + period]);
    let all = (0..=FIRST).flat_map(|first| (2..=PERIOD).map(move |period| (first, period)));
    all.into_iter().find(|(first, period)| repeats(*first, *period) && !repeats(*first, 1))
}

fn table(view: &mut View, (name, thread): (&Name, Thread), values: &[Term], first: usize) {
    let Some(ty) = view.variables.get(&name.shared()).cloned() else { return };
    let (here, counter) = (bv::var(name.clone(), ty), view.ghosts.counter());
    let period = values.len() - first;
    let mut rows: Vec<ExprRef> = Vec::new();
    for (round, value) in values.iter().enumerate() {
        let Some(value) = view.reify(*value) else { return };
        let number = |number: usize| bv::int(number as i128);
        let is_now = match round.checked_sub(first) {
            None => bv::eq(counter.clone(), number(round)),
            Some(step) => {
                let since = bv::op(BinaryOp::Sub, counter.clone(), number(first));
                let rest = bv::op(BinaryOp::Mod, since, number(period));
                let begun = bv::op(BinaryOp::Le, number(first), counter.clone());
                bv::and(begun, bv::eq(rest, number(step)))
            }
        };
        rows.push(bv::and(is_now, bv::eq(here.clone(), value)));
    }
    let active = view.active(thread);
    if let Some(rows) = rows.into_iter().reduce(bv::or) {
        view.propose("cycle", bv::implies(active, rows));
    }
}
