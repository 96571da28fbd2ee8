//! A cheap try under invariants of few families.
//!
//! Input: a search for invariants whose first query, about all candidates at once, had no answer. Output: [`Proof`]: what is
//! proved under those few that are inductive. Establishes: what is proved here holds, for Houdini decides among few
//! candidates as among all; what fails here is open. The program is as before where something is left, for the order of
//! its terms steers the solver. Relies on: nothing else. Reference: proof-notes, lesson 9; docs/stages/prove.md.

use super::Inference;
use super::attempt::{Proof, QUICK};
use crate::effort::{Budget, Effort};
use crate::infer::houdini::Search;
use crate::solver::Encoding;

/// Families that count no rounds and know no bounds: most of the effort of a hard loop goes into those that do, and
/// threads that keep apart by the low bits of their places need none of them.
const FEW: &[&str] = &["activity", "equality", "congruence", "frame", "rotation", "round", "pending", "warp"];
/// Without this family there is little hope.
const NEEDED: &str = "congruence";
/// What the search may cost, and then the proof. Whatever succeeds needs less.
const SEARCH: Effort = Effort::milliseconds(700);
const PROOF: Effort = Effort::milliseconds(1000);

/// Tries what is open; where all is proved, the invariants are those few.
pub(super) fn attempt(proof: &mut Proof, inference: &mut Inference, search: &Search, budget: Budget) {
    let candidates = &inference.annotated.candidates;
    if !candidates.iter().any(|c| c.family == NEEDED) {
        return;
    }
    let few: Vec<bool> = candidates.iter().map(|c| FEW.contains(&c.family)).collect();
    let (whole, encodings) = (inference.passive.clone(), inference.encodings.clone());
    let mut search = search.among(&few, SEARCH);
    search.begin_again(&mut inference.passive);
    inference.adopt(search.outcome());
    // The proof itself is about low bits, which are easy over bit-vectors; over integers they are remainders.
    if encodings.contains(&Encoding::BitVectors) {
        inference.encodings = vec![Encoding::BitVectors];
    }
    let budget = budget.part(PROOF);
    proof.attempt_regions(inference, budget);
    for encoding in inference.encodings.clone() {
        proof.attempt(inference, encoding, QUICK, budget);
    }
    if !proof.is_complete() {
        proof.reopen();
        inference.passive = whole;
    }
}
