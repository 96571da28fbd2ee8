//! What a query about checks asks, and what its model says.
//!
//! Input: a passive program, which candidates are kept, which checks are to be proved. Output: the part of each check in
//! the formula, and the checks that fail in a model. Establishes: a check fails only where the model comes to it, on some
//! path that its assumptions allow. Reference: proof-notes, lesson 9.

use crate::effort::Effort;
use crate::solver::{Answer, Encoding, Value, prove};
use crate::vcgen::passive::{Passive, PassiveItem};
use crate::vcgen::term::Term;
use crate::vcgen::wp::{self, Role};
use std::collections::{BTreeSet, HashMap};

/// What became of some checks.
pub enum Verdict {
    /// All hold.
    Proved,
    /// These fail in a model.
    Refuted(BTreeSet<usize>),
    /// No answer.
    Unknown,
}

/// Asks for checks behind the head of a loop, from that head alone: any state that the kept candidates
/// there allow. What is refuted may still hold on the way from the start.
pub fn ask_from_head(
    passive: &mut Passive,
    number: usize,
    goal: &BTreeSet<usize>,
    keep: &dyn Fn(usize) -> bool,
    relied: &dyn Fn(usize) -> bool,
    (encoding, effort): (Encoding, Effort),
) -> Verdict {
    let formula = wp::formula_of_round(passive, keep, &|i| role_of(i, goal, relied), number);
    let wanted = terms_of(passive, goal);
    match prove(&mut passive.terms, encoding, formula, &wanted, effort) {
        Answer::Proved => Verdict::Proved,
        Answer::Unknown(_) => Verdict::Unknown,
        Answer::Refuted(values) => {
            let values = goal.iter().zip(values);
            let failing = values.filter(|(_, value)| *value == Some(Value::Bool(false)));
            let failing: BTreeSet<usize> = failing.map(|(&check, _)| check).collect();
            if failing.is_empty() { Verdict::Unknown } else { Verdict::Refuted(failing) }
        }
    }
}

pub(super) fn terms_of(passive: &Passive, checks: &BTreeSet<usize>) -> Vec<Term> {
    checks.iter().map(|&i| passive.checks[i].term).collect()
}

/// What a check contributes to a formula that is to prove `checks`; `relied` are proved elsewhere.
pub fn role_of(i: usize, checks: &BTreeSet<usize>, relied: &dyn Fn(usize) -> bool) -> Role {
    if checks.contains(&i) {
        Role::Prove
    } else if relied(i) {
        Role::Rely
    } else {
        Role::Ignore
    }
}

/// The blocks from which control comes to a check that is to be proved.
fn relevant(passive: &Passive, role: &dyn Fn(usize) -> Role) -> Vec<bool> {
    let mut relevant = vec![false; passive.blocks.len()];
    for (b, block) in passive.blocks.iter().enumerate().rev() {
        let is_goal = |item: &PassiveItem| matches!(item, PassiveItem::Check(i) if role(*i) == Role::Prove);
        relevant[b] = block.successors.iter().any(|&s| relevant[s]) || block.items.iter().any(is_goal);
    }
    relevant
}

/// The terms whose values tell which checks fail in a model.
pub fn wanted(passive: &Passive, keep: &dyn Fn(usize) -> bool, role: &dyn Fn(usize) -> Role) -> Vec<Term> {
    let mut terms = BTreeSet::new();
    let relevant = relevant(passive, role);
    let blocks = passive.blocks.iter().zip(relevant).filter(|(_, relevant)| *relevant);
    for item in blocks.flat_map(|(b, _)| &b.items) {
        match item {
            PassiveItem::Assume { candidate: Some(c), .. } if !keep(*c) => {}
            PassiveItem::Assume { term, .. } => {
                terms.insert(*term);
            }
            PassiveItem::Check(i) if role(*i) != Role::Ignore => {
                terms.insert(passive.checks[*i].term);
            }
            PassiveItem::Check(_) => {}
        }
    }
    terms.into_iter().collect()
}

/// The checks to be proved that a model refutes, on every path that its assumptions allow.
pub fn failing_checks(
    passive: &Passive,
    model: &HashMap<Term, Option<Value>>,
    keep: &dyn Fn(usize) -> bool,
    role: &dyn Fn(usize) -> Role,
) -> BTreeSet<usize> {
    let truth = |t: Term| model.get(&t).copied().flatten();
    let relevant = relevant(passive, role);
    let mut failing = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![0];
    'blocks: while let Some(b) = stack.pop() {
        let Some(block) = passive.blocks.get(b).filter(|_| relevant[b] && seen.insert(b)) else { continue };
        for item in &block.items {
            let feasible = match item {
                PassiveItem::Assume { candidate: Some(c), .. } if !keep(*c) => true,
                PassiveItem::Assume { term, .. } => truth(*term) != Some(Value::Bool(false)),
                PassiveItem::Check(i) => {
                    let holds = truth(passive.checks[*i].term) != Some(Value::Bool(false));
                    match role(*i) {
                        Role::Prove if !holds => {
                            failing.insert(*i);
                            true
                        }
                        Role::Rely => holds,
                        _ => true,
                    }
                }
            };
            if !feasible {
                continue 'blocks;
            }
        }
        stack.extend(&block.successors);
    }
    failing
}
