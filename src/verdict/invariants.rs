//! What inference found out about the registers at each loop.
//!
//! Input: what a pair kept. Output: [`LoopInvariants`], one a loop. Establishes: all of them are inductive in the two-thread
//! program of this launch, under what it assumes. Relies on: Houdini. Reference: docs/families.md.

use crate::finding::LoopInvariants;
use crate::ivl;
use crate::ivl::ast::{ExprRef, Thread};
use crate::ivl::visit;
use crate::prove::PairOutcome;
use crate::twothread::TwoThread;

/// Families about what the encoding adds: who is active, in which round an access was logged, what stays as it was.
const ENCODING: [&str; 3] = ["activity", "frame", "round"];

/// Adds those of a pair that earlier pairs do not have.
pub(super) fn add(all: &mut Vec<LoopInvariants>, two: &TwoThread, outcome: &PairOutcome) {
    if all.is_empty() {
        let empty = |origin| LoopInvariants { origin, invariants: Vec::new() };
        all.extend(two.loops.iter().map(|one| empty(one.origin.clone())));
    }
    let is_about_log = |invariant: &ExprRef| two.log.flags().any(|flag| visit::mentions(invariant, flag));
    for candidate in outcome.inference.kept() {
        let expr = &candidate.expr;
        if ENCODING.contains(&candidate.family) || is_mirrored(expr) || is_about_log(expr) {
            continue;
        }
        let invariant = (candidate.family.to_string(), ivl::print_expr(&candidate.expr));
        let invariants = &mut all[candidate.in_loop].invariants;
        if !invariants.contains(&invariant) {
            invariants.push(invariant);
        }
    }
}

/// Whether it is about the second thread alone: the same is proposed for the first.
fn is_mirrored(invariant: &ExprRef) -> bool {
    let names = visit::free_vars(invariant);
    let is_of = |thread| names.iter().any(|name| name.thread() == Some(thread));
    is_of(Thread::Second) && !is_of(Thread::First)
}
