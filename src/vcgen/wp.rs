//! Weakest preconditions over the passive program.
//!
//! Input: a passive program and what to check and assume. Output: one formula, valid if and only if
//! every selected check holds wherever control reaches it.
//! Establishes: the formula is a DAG linear in the size of the program: each block's precondition
//! is built once and shared by its predecessors.
//! Reference: Barnett and Leino, weakest precondition of unstructured programs:
//! wp(assume e; S) = e ==> wp(S); wp(assert e; S) = e && wp(S); wp(goto B, C) = wp(B) && wp(C).

use super::passive::{Check, Passive, PassiveItem};
use super::term::{Sort, Term, Terms};
use crate::ivl::ast::{Attribute, ExprKind};
use crate::ivl::attributes::{Attributes, SUBSUMPTION};

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
    match preconditions(passive, keep, role, 0, 0).first() {
        Some(&start) => start,
        None => passive.terms.boolean(true),
    }
}

/// The same for executions that start at the head of a loop, in any state that its invariants and
/// the preconditions of the procedure allow. Stronger than [`formula`] in what it asks for: nothing
/// is known of the way to the loop.
pub(crate) fn formula_of_round(
    passive: &mut Passive,
    keep: &dyn Fn(usize) -> bool,
    role: &dyn Fn(usize) -> Role,
    number: usize,
) -> Term {
    let head = passive.head(number);
    let round = preconditions(passive, keep, role, head, passive.entry_checks(head))[head];
    let mut cases: Vec<Term> = passive.preconditions().into_iter().map(|t| passive.terms.not(t)).collect();
    cases.push(round);
    passive.terms.chain(false, cases)
}

/// Weakest preconditions of the blocks from `root` on; of `root` without its first `skipped` items.
fn preconditions(
    passive: &mut Passive,
    keep: &dyn Fn(usize) -> bool,
    role: &dyn Fn(usize) -> Role,
    root: usize,
    skipped: usize,
) -> Vec<Term> {
    let mut preconditions: Vec<Term> = vec![Term(0); passive.blocks.len()];
    let terms = &mut passive.terms;
    for (index, block) in passive.blocks.iter().enumerate().skip(root).rev() {
        let successors = block.successors.iter().map(|&s| preconditions[s]).collect();
        let mut condition = terms.chain(true, successors);
        let items = if index == root { &block.items[skipped..] } else { &block.items };
        for item in items.iter().rev() {
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
    preconditions
}

/// Symbols that tell, in a model, which way an execution went and where it failed.
pub(crate) struct Labels {
    /// For each check a symbol: it is this one that fails.
    pub(crate) fails: Vec<Term>,
    /// For each block, one symbol for each successor but the last: control goes there.
    pub(crate) goes_to: Vec<Vec<Term>>,
}

/// The weakest precondition of the start block, where each model of the negation names one path and one check on it.
/// It is valid if and only if [`formula`] is: the symbols of [`Labels`] are free.
/// Reference: Leino, Millstein, Saxe, generating error traces from verification-condition counterexamples.
pub(crate) fn labelled(passive: &mut Passive, role: &dyn Fn(usize) -> Role) -> (Term, Labels) {
    let terms = &mut passive.terms;
    let fails: Vec<Term> = (0..passive.checks.len()).map(|i| terms.fresh(&format!("fails@{i}"), Sort::Bool)).collect();
    let mut goes_to = vec![Vec::new(); passive.blocks.len()];
    let mut preconditions: Vec<Term> = vec![Term(0); passive.blocks.len()];
    for (index, block) in passive.blocks.iter().enumerate().rev() {
        let mut condition = match block.successors.last() {
            Some(&last) => preconditions[last],
            None => terms.boolean(true),
        };
        for &successor in block.successors.iter().rev().skip(1) {
            let goes = terms.fresh(&format!("goes@{index}"), Sort::Bool);
            goes_to[index].push(goes);
            condition = choice(terms, goes, preconditions[successor], condition);
        }
        goes_to[index].reverse();
        for item in block.items.iter().rev() {
            condition = match item {
                PassiveItem::Assume { term, .. } => {
                    let negated = terms.not(*term);
                    terms.chain(false, vec![negated, condition])
                }
                PassiveItem::Check(number) => {
                    let term = passive.checks[*number].term;
                    let negated = terms.not(term);
                    let later = match is_assumed(&passive.checks[*number]) {
                        true => terms.chain(false, vec![negated, condition]),
                        false => condition,
                    };
                    match role(*number) {
                        Role::Prove => choice(terms, fails[*number], term, later),
                        Role::Rely => later,
                        Role::Ignore => condition,
                    }
                }
            };
        }
        preconditions[index] = condition;
    }
    let start = preconditions.first().copied().unwrap_or_else(|| terms.boolean(true));
    (start, Labels { fails, goes_to })
}

/// Whether what stands behind an assertion may rely on it.
pub(crate) fn is_assumed(check: &Check) -> bool {
    !is_never_assumed(&check.attributes)
}

/// Whether nothing may rely on an assertion with these attributes: `{:subsumption 0}`.
pub(crate) fn is_never_assumed(attributes: &[Attribute]) -> bool {
    attributes.first_of(SUBSUMPTION).is_some_and(|e| e.kind == ExprKind::Int(0))
}

/// `(c ==> a) && (!c ==> b)`
fn choice(terms: &mut Terms, c: Term, a: Term, b: Term) -> Term {
    let not_c = terms.not(c);
    let (chosen, other) = (terms.chain(false, vec![not_c, a]), terms.chain(false, vec![c, b]));
    terms.chain(true, vec![chosen, other])
}
