//! A try without invariants.
//!
//! Input: a search for invariants whose first query, about all candidates at once, had no answer. Output: [`Proof`] without what holds whatever loops
//! did before. Establishes: what is proved here holds, under no invariant. The program is as before where something is left, for
//! the order of its terms steers the solver. Relies on: nothing else. Reference: Barnett and Leino, "Weakest-Precondition of Unstructured Programs" (loops cut
//! at their heads).
//!
//! Where arrays are only read, or all their accesses are atomic and equally wide, or a thread keeps to elements of which it computes the places
//! anew, loops over the data need no invariants.

use super::Inference;
use super::attempt::{Patience, Proof, executed};
use crate::effort::{Budget, Effort};
use crate::infer::houdini::Search;
use crate::infer::{simulate, start};
use crate::ivl::claim::Probe;
use crate::query::{From, Query, Reply};
use crate::vcgen::passive::Check;
use std::collections::BTreeSet;

/// What it may cost, and each model of an execution that leaves a loop.
const ALL: Effort = Effort::milliseconds(150);
const MODEL: Effort = Effort::milliseconds(100);
/// What invariants may cost that say whether few loops are endless, where executions do not.
const ENDLESS: Effort = Effort::milliseconds(700);
const MOST_LOOPS: usize = 2;

/// Tries what is open; where all is proved, invariants are asked for only to see whether loops end.
pub(super) fn attempt(proof: &mut Proof, inference: &mut Inference, search: &Search, budget: Budget) {
    let whole = inference.passive.clone();
    inference.adopt(search.nothing());
    // Where one needs an invariant, others do.
    let limit = std::mem::replace(&mut proof.limit, 1);
    for encoding in inference.encodings.clone() {
        if proof.refuted.is_empty() {
            proof.attempt(inference, encoding, Patience::BARE, budget.part(ALL));
        }
    }
    proof.limit = limit;
    if !proof.is_complete() {
        proof.reopen();
    } else if ends(inference, budget) {
        return;
    } else if inference.passive.loops.len() <= MOST_LOOPS {
        let all = vec![true; inference.annotated.candidates.len()];
        let mut search = search.among(&all, ENDLESS);
        search.end(&mut inference.passive);
        return inference.adopt(search.outcome());
    } else {
        *proof = Proof { limit, in_parts: proof.in_parts, ..Proof::of(inference, None) };
    }
    inference.passive = whole;
    inference.adopt(search.outcome());
}

/// Whether executions come out of each loop, to the end, and behind what the user assumes. Without invariants the solver cannot say of a
/// loop that it is endless.
fn ends(inference: &mut Inference, budget: Budget) -> bool {
    let is_asked =
        |check: &Check| matches!(check.claim.probe(), Some((Probe::Exit | Probe::Satisfied | Probe::End, _)));
    let checks = inference.passive.checks.iter().enumerate();
    let mut left: BTreeSet<usize> = checks.filter(|(_, check)| is_asked(check)).map(|(number, _)| number).collect();
    let mut met = start::find(&inference.passive).map(|state| executed(inference, &left, &state)).unwrap_or_default();
    loop {
        left.retain(|probe| !met.contains(probe));
        if left.is_empty() {
            return true;
        }
        let query = inference.query(From::Start, &left);
        let mut query = Query { most: MODEL, reads: &simulate::model_terms, ..query };
        let Reply::Refuted(model) = query.ask(budget) else { return false };
        met = executed(inference, &left, &model);
        if met.is_empty() {
            return false;
        }
    }
}
