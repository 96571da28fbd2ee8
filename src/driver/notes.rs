//! What the parts of a printed program stand for: comments for people who read `--emit`.
//!
//! Input: the one-thread program and the loops that predication found, or the passive program. Output: a comment for
//! each label, or for each term that is assumed or checked.
//! Establishes: nothing; comments mean nothing. Relies on: later stages keep the labels. Reference: none.

use crate::ivl::ast::{Block, Name, Program, StmtKind, Transfer};
use crate::predicate::{LoopInfo, Predicated};
use crate::span::Origin;
use crate::vcgen::passive::{Passive, PassiveItem};
use crate::vcgen::term::{Node, Term};
use std::collections::BTreeMap;

/// Comments by label.
pub(crate) type Notes = BTreeMap<Name, String>;

/// For the program before predication.
pub(crate) fn of_kernel(kernel: &Program) -> Notes {
    let bodies = kernel.procedures.iter().filter_map(|procedure| procedure.body.as_ref());
    let notes = bodies.flat_map(|body| {
        body.blocks.iter().filter_map(|block| Some((block.label.clone(), of_block(block, &body.blocks)?)))
    });
    notes.collect()
}

/// For the program after predication, and the two-thread program.
pub(crate) fn of_predicated(kernel: &Program, predicated: &Predicated) -> Notes {
    let mut notes = of_kernel(kernel);
    for this in &predicated.loops {
        of_loop(this, &mut notes);
    }
    for (id, block) in predicated.order.iter().enumerate() {
        let note = notes.get(&block.label).map(|note| format!(", {note}")).unwrap_or_default();
        notes.insert(block.label.clone(), format!("{} == {id}{note}", predicated.active));
    }
    notes
}

/// The line of an instruction, and its text.
pub(super) fn of_origin(origin: &Origin) -> String {
    // A statement of the IVL may take several lines; a comment takes one.
    let text: Vec<&str> = origin.text.split_whitespace().collect();
    format!("line {}: {}", origin.line, text.join(" "))
}

/// For what a passive program assumes and checks: the lines that it came from. A formula has an assumption in front
/// of an implication, so its negation is noted, too.
pub(super) fn of_terms(passive: &Passive) -> BTreeMap<Term, String> {
    let note = |lines: BTreeMap<u32, &Origin>| match lines.values().next() {
        Some(only) if lines.len() == 1 => of_origin(only),
        _ => format!("lines {}", lines.keys().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    };
    origins_of_terms(passive).into_iter().map(|(term, lines)| (term, note(lines))).collect()
}

/// The instructions behind these notes, by their lines.
pub(super) fn origins_of_terms(passive: &Passive) -> BTreeMap<Term, BTreeMap<u32, &Origin>> {
    let mut lines: BTreeMap<Term, BTreeMap<u32, &Origin>> = BTreeMap::new();
    for item in passive.blocks.iter().flat_map(|block| &block.items) {
        let Some(origin) = item.origin(&passive.checks) else { continue };
        let (term, negated) = match item {
            PassiveItem::Assume { term, .. } => match passive.terms.node(*term) {
                Node::Not(negated) => (*term, Some(*negated)),
                _ => (*term, None),
            },
            PassiveItem::Check(number) => (passive.checks[*number].term, None),
        };
        for term in negated.into_iter().chain([term]) {
            lines.entry(term).or_default().insert(origin.line, origin);
        }
    }
    lines
}

/// The line where a block begins, or the edge that it stands for.
fn of_block(block: &Block, blocks: &[Block]) -> Option<String> {
    // The condition of a branch stands at the start of its target, but comes from the branch.
    let own = block.stmts.iter().filter(|stmt| !matches!(stmt.kind, StmtKind::Assume(..)));
    if let Some(origin) = own.filter_map(|stmt| stmt.origin.as_ref()).next() {
        return Some(format!("from line {} of the input", origin.line));
    }
    let [target] = targets(block) else { return None };
    let mut before = blocks.iter().filter(|other| targets(other).contains(&block.label));
    match (before.next(), before.next()) {
        (Some(only), None) => Some(format!("the edge from {} to {target}", only.label)),
        _ => Some(format!("on the way to {target}")),
    }
}

fn targets(block: &Block) -> &[Name] {
    match &block.transfer {
        Transfer::Goto(targets) => targets,
        Transfer::Return => &[],
    }
}

fn of_loop(this: &LoopInfo, notes: &mut Notes) {
    let head = &this.head;
    let place = notes.get(head).map(|note| format!(", {note}")).unwrap_or_default();
    notes.insert(head.clone(), format!("head of a loop{place}: the assertions that lead it are its invariants"));
    notes.insert(this.entry.clone(), format!("before the first round of the loop at {head}"));
    notes.insert(this.back.clone(), format!("back to {head}: a thread has another round"));
    notes.insert(this.exit.clone(), format!("behind the loop at {head}: no thread has another round"));
}
