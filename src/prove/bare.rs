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
use super::attempt::{Patience, Proof};
use crate::effort::{Budget, Effort};
use crate::infer::houdini::Search;

/// What it may cost.
const ALL: Effort = Effort::milliseconds(150);

/// Tries what is open; where all is proved, there are no invariants.
pub(super) fn attempt(proof: &mut Proof, inference: &mut Inference, search: &Search, budget: Budget) {
    let whole = inference.passive.clone();
    inference.adopt(search.nothing());
    let budget = budget.part(ALL);
    for encoding in inference.encodings.clone() {
        if !proof.is_complete() {
            proof.attempt(inference, encoding, Patience::BARE, budget);
        }
    }
    if !proof.is_complete() {
        proof.reopen();
        inference.passive = whole;
        inference.adopt(search.outcome());
    }
}
