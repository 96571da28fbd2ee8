//! Weakest preconditions over the passive program.
//!
//! Input: a passive program and what to check and assume. Output: one formula, valid if and only if
//! every selected check holds wherever control reaches it.
//! Establishes: the formula is a DAG linear in the size of the program: each block's precondition
//! is built once and shared by its predecessors.
//! Reference: Barnett and Leino, weakest precondition of unstructured programs:
//! wp(assume e; S) = e ==> wp(S); wp(assert e; S) = e && wp(S); wp(goto B, C) = wp(B) && wp(C).

use super::passive::{Passive, PassiveItem};
use super::term::Term;

/// What a check contributes to the formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It must be proved.
    Prove,
    /// It is proved elsewhere: what follows may rely on it.
    Rely,
    /// It is left out.
    Ignore,
}

/// The weakest precondition of the start block.
///
/// `keep` selects the candidate invariants that are assumed at loop heads; `role` the checks.
pub fn formula(passive: &mut Passive, keep: &dyn Fn(usize) -> bool, role: &dyn Fn(usize) -> Role) -> Term {
    let mut preconditions: Vec<Term> = vec![Term(0); passive.blocks.len()];
    let terms = &mut passive.terms;
    for (index, block) in passive.blocks.iter().enumerate().rev() {
        let successors = block.successors.iter().map(|&s| preconditions[s]).collect();
        let mut condition = terms.chain(true, successors);
        for item in block.items.iter().rev() {
            condition = match item {
                PassiveItem::Assume { candidate: Some(c), .. } if !keep(*c) => condition,
                PassiveItem::Assume { term, .. } => {
                    let negated = terms.not(*term);
                    terms.chain(false, vec![negated, condition])
                }
                PassiveItem::Check(number) => match role(*number) {
                    Role::Prove => terms.chain(true, vec![passive.checks[*number].term, condition]),
                    Role::Rely => {
                        let negated = terms.not(passive.checks[*number].term);
                        terms.chain(false, vec![negated, condition])
                    }
                    Role::Ignore => condition,
                },
            };
        }
        preconditions[index] = condition;
    }
    match preconditions.first() {
        Some(&start) => start,
        None => terms.boolean(true),
    }
}
