//! The passive program: acyclic blocks of assumptions and checks over terms, each symbol assigned
//! once. [`super::passify`] makes it, [`super::wp`] turns it into a formula.

use super::term::{Term, Terms};
use super::translate::Environment;
use crate::ivl::ast::{Attribute, Name};
use crate::ivl::claim::Claim;
use crate::span::{Origin, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A passive program.
#[derive(Clone)]
pub struct Passive {
    /// The terms of everything below.
    pub terms: Terms,
    /// Blocks in topological order; the first is the start.
    pub(crate) blocks: Vec<PassiveBlock>,
    /// Every check, in order of generation.
    pub checks: Vec<Check>,
    /// The cut loops, in topological order of their heads.
    pub(crate) loops: Vec<CutLoop>,
    /// The program's constants and the procedure's parameters with their terms.
    pub(crate) constants: Vec<(Name, Term)>,
    /// Those of them that are the kernel's parameters.
    pub(crate) parameters: Vec<Term>,
}

/// An acyclic block.
#[derive(Clone)]
pub(crate) struct PassiveBlock {
    /// Label in the IVL program.
    pub(crate) label: Name,
    /// Where it stands in an IVL input.
    pub(crate) span: Span,
    /// Where its transfer stands in an IVL input.
    pub(crate) end: Span,
    /// Items in order.
    pub(crate) items: Vec<PassiveItem>,
    /// Variables that the block gives values, with the last ones; only kept for programs of [`Language::Full`].
    ///
    /// [`Language::Full`]: super::translate::Language::Full
    pub(crate) assigned: Vec<(Name, Term)>,
    /// Whether it calls a procedure, of which only the contract is known.
    pub(crate) calls: bool,
    /// Indices of successors; none: control ends here.
    pub(crate) successors: Vec<usize>,
    /// The loop whose head this is; checks of its invariants on entry lead the items.
    pub(crate) head_of: Option<usize>,
    /// The loop whose round ends here, and which of [`CutLoop::at_end`] holds the values.
    pub(crate) back_to: Option<(usize, usize)>,
}

/// One item.
#[derive(Clone)]
pub(crate) enum PassiveItem {
    /// An assumption; `candidate` tells which candidate invariant it is, if one.
    Assume {
        /// The formula.
        term: Term,
        /// Index of the candidate invariant that this assumes.
        candidate: Option<usize>,
        /// At a join: the symbol that the formula equates with a value of this block, and the value.
        defines: Option<(Term, Term)>,
        /// The PTX instruction that it came from.
        origin: Option<Arc<Origin>>,
    },
    /// A check: an index into [`Passive::checks`].
    Check(usize),
}

impl PassiveItem {
    /// An assumption that is no candidate and came from no instruction.
    pub(super) fn assumption(term: Term) -> PassiveItem {
        PassiveItem::Assume { term, candidate: None, defines: None, origin: None }
    }

    /// The instruction that it came from.
    pub(crate) fn origin<'a>(&'a self, checks: &'a [Check]) -> Option<&'a Origin> {
        match self {
            PassiveItem::Assume { origin, .. } => origin.as_deref(),
            PassiveItem::Check(number) => checks[*number].origin.as_deref(),
        }
    }
}

/// Why something is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CheckKind {
    /// An assertion (or precondition of a callee) of the program.
    Assertion,
    /// A loop invariant on entry; index into [`Passive::loops`].
    Entry(usize),
    /// A loop invariant after a round.
    Maintenance(usize),
}

/// A formula to prove.
#[derive(Clone, Debug)]
pub struct Check {
    /// The formula, to hold under everything assumed before.
    pub(crate) term: Term,
    /// Why.
    pub(crate) kind: CheckKind,
    /// What it claims.
    pub(crate) claim: Claim,
    /// The access of thread 2 that it is about, by number.
    pub(crate) site: Option<u32>,
    /// The candidate invariant it belongs to.
    pub candidate: Option<usize>,
    /// Attributes of the assert and, for inlined ones, of the call.
    pub(crate) attributes: Vec<Attribute>,
    /// The PTX instruction.
    pub(crate) origin: Option<Arc<Origin>>,
    /// Place in an IVL input.
    pub(crate) span: Span,
    /// The clause of a contract that is checked at this place.
    pub(crate) related: Option<Span>,
    /// Constants in front of the formula (`c ==> ...`) that [`crate::modular::existential`] chooses.
    pub(crate) guards: Vec<Name>,
    /// What the variables of an assertion of the user hold, for the report.
    pub(crate) values: Vec<Shown>,
}

/// A variable of an assertion.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// Its name, with `$1` or `$2`.
    pub(crate) name: Name,
    /// Its value where the assertion is checked.
    pub(crate) now: Term,
    /// Its value at the beginning of the round that should maintain an invariant.
    pub(crate) before: Option<Term>,
}

#[derive(Clone)]
pub(crate) struct CutLoop {
    /// Label of the head.
    pub(crate) head: Name,
    /// Values at entry, before the havoc.
    pub(crate) entry: Environment,
    /// Values at the head, after the havoc: symbols for the assigned variables.
    pub(crate) at_head: Environment,
    /// Values at the end of a round, for each back edge.
    pub(crate) at_end: Vec<Environment>,
    /// Variables that the loop assigns.
    pub(crate) assigned: BTreeSet<Name>,
}

impl Passive {
    /// The block that is the head of a loop.
    pub(crate) fn head(&self, number: usize) -> usize {
        let head = self.blocks.iter().position(|b| b.head_of == Some(number));
        head.unwrap_or_else(|| panic!("vcgen: loop {number} has no head"))
    }

    /// One more than the number of the last candidate.
    pub(crate) fn candidates(&self) -> usize {
        let assumed = self.blocks.iter().flat_map(|block| &block.items).filter_map(|item| match item {
            PassiveItem::Assume { candidate, .. } => *candidate,
            PassiveItem::Check(_) => None,
        });
        let checked = self.checks.iter().filter_map(|check| check.candidate);
        assumed.chain(checked).max().map_or(0, |last| last + 1)
    }

    /// How many checks of invariants on entry lead the head of a loop.
    pub(crate) fn entry_checks(&self, head: usize) -> usize {
        let is_entry = |item: &PassiveItem| matches!(item, PassiveItem::Check(i) if matches!(self.checks[*i].kind, CheckKind::Entry(_)));
        self.blocks[head].items.iter().take_while(|item| is_entry(item)).count()
    }

    /// The axioms, and the preconditions of the procedure: what is assumed first.
    pub(crate) fn preconditions(&self) -> Vec<Term> {
        let leading = self.blocks.iter().take(1).flat_map(|b| &b.items);
        let assumed = leading.map_while(|item| match item {
            PassiveItem::Assume { term, candidate: None, defines: None, .. } => Some(*term),
            _ => None,
        });
        assumed.collect()
    }
}
