//! One body: what is proved, and what fails on which way.
//!
//! Input: a program and a body. Output: [`Outcome`]. Establishes: `failures` and `unknown` are empty only where the whole
//! body was proved. Relies on: [`crate::vcgen::passify::of_body`]. Reference: Boogie 2; Leino, Millstein, Saxe
//! (error traces).

use super::{Body, inline, intervals};
use crate::diagnostic::Diagnostic;
use crate::infer::houdini::Deadline;
use crate::ivl::ast::{Implementation, Name, Program};
use crate::solver::exact::{self, End, Shown, Values};
use crate::solver::{self, Answer, Budget, Encoding};
use crate::span::Span;
use crate::vcgen::passify;
use crate::vcgen::passive::{Check, CheckKind, Passive, PassiveItem};
use crate::vcgen::term::Term;
use crate::vcgen::wp::{self, Labels, Role};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Effort for a proof over integers before the exact one, in milliseconds, for bodies with bit-vectors.
const INTEGERS_FIRST: u32 = 3_000;
/// Failures of one body that are looked for.
pub const MOST_FAILURES: usize = 50;

/// Checks of a body that is small.
const SMALL: usize = 50;

/// A block on the way to a failure.
#[derive(Clone, Debug)]
pub struct Step {
    /// Label of the block.
    pub label: Name,
    /// Where the block stands.
    pub span: Span,
    /// Where its transfer stands.
    pub end: Span,
    /// What it assigned.
    pub assigned: Vec<(Name, Shown)>,
}

/// An assertion that fails.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The assertion.
    pub check: Check,
    /// Whether the values are those of an execution: exact, with nothing on the way that only a contract or an
    /// invariant tells.
    pub certain: bool,
    /// The blocks from the start.
    pub path: Vec<Step>,
    /// Its variables: now, and at the beginning of the round for an invariant.
    pub values: Vec<(Name, Shown, Option<Shown>)>,
}

/// What came of a body.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// How many assertions it has.
    pub assertions: usize,
    /// How many loops.
    pub loops: usize,
    /// Those that fail, in the order of the body.
    pub failures: Vec<Failure>,
    /// Why not all is known.
    pub unknown: Option<String>,
    /// Procedures whose recursion is looked at so deep only as their `{:inline N}` says.
    pub cut: BTreeSet<Name>,
}

/// The passive program of a body, with `{:inline}` procedures in it, and bounds of integers at loop heads.
///
/// # Errors
/// What has no meaning here (kernel statements), irreducible control flow.
pub fn passive(program: &Program, body: &Body, with_bounds: bool) -> Result<Passive, Diagnostic> {
    passify::of_body(program, body.target, &prepared(program, body, with_bounds))
}

fn prepared<'a>(program: &'a Program, body: &Body<'a>, with_bounds: bool) -> Cow<'a, Implementation> {
    let implementation = inline::run(program, body.implementation);
    if with_bounds { intervals::run(program, body.target, implementation) } else { implementation }
}

/// Proves a body or finds what fails.
///
/// # Errors
/// As [`passive`].
pub fn run(program: &Program, body: &Body, deadline: Deadline) -> Result<Outcome, Diagnostic> {
    let outcome = attempt(program, body, deadline, true)?;
    // Bounds that are true are proved; should one not be, the body is what its author wrote.
    let of_bounds = |failure: &Failure| failure.check.attributes.iter().any(|a| a.name.as_str() == intervals::INFERRED);
    match outcome.failures.iter().any(of_bounds) {
        true => attempt(program, body, deadline, false),
        false => Ok(outcome),
    }
}

fn attempt(program: &Program, body: &Body, deadline: Deadline, with_bounds: bool) -> Result<Outcome, Diagnostic> {
    let implementation = prepared(program, body, with_bounds);
    let cut = inline::cuts(&implementation);
    let mut passive = passify::of_body(program, body.target, &implementation)?;
    let is_own = |check: &&Check| !check.attributes.iter().any(|a| a.name.as_str() == intervals::INFERRED);
    let assertions = passive.checks.iter().filter(is_own).count();
    let outcome = Outcome { assertions, loops: passive.loops.len(), cut, ..Outcome::default() };
    let all = wp::formula(&mut passive, &|_| true, &|_| Role::Prove);
    if is_proved_over_integers(&mut passive, all, deadline) {
        return Ok(outcome);
    }
    let (failures, unknown) = search(&mut passive, all, deadline);
    Ok(Outcome { failures, unknown, ..outcome })
}

/// A proof that is sound for all programs, and the fastest where machine arithmetic does not wrap.
fn is_proved_over_integers(passive: &mut Passive, all: Term, deadline: Deadline) -> bool {
    let terms = &passive.terms;
    let below = terms.postorder(all, &|_| false);
    let has_bits = below.iter().any(|&t| terms.width(t) > 0);
    if !has_bits || !below.iter().all(|&t| terms.is_basic_node(t)) {
        return false;
    }
    let budget = deadline.budget(Encoding::Integers, INTEGERS_FIRST);
    matches!(solver::prove(&mut passive.terms, Encoding::Integers, all, &[], budget), Answer::Proved)
}

/// One failure after the other, each with its path. Large bodies are asked first whether there is any: without labels
/// the formula is simpler. For small ones a second solver takes longer than that saves.
fn search(passive: &mut Passive, all: Term, deadline: Deadline) -> (Vec<Failure>, Option<String>) {
    if passive.checks.len() > SMALL {
        // Half of the time: without a proof, it takes as long to tell what fails.
        let budget = deadline.budget(Encoding::Exact, u32::MAX / 10_000);
        let budget = Budget { milliseconds: budget.milliseconds / 2, ..budget };
        if exact::search(&mut passive.terms, all, &[], budget, &mut |_, _| None) == End::Proved {
            return (Vec::new(), None);
        }
    }
    let (goal, labels) = wp::labelled(passive);
    let negated: Vec<Term> = labels.fails.clone().into_iter().map(|t| passive.terms.not(t)).collect();
    let mut failures: Vec<(usize, Failure)> = Vec::new();
    let mut terms = std::mem::take(&mut passive.terms);
    let budget = deadline.budget(Encoding::Exact, u32::MAX / 10_000);
    let end = exact::search(&mut terms, goal, &[], budget, &mut |model, certain| {
        let (number, failure) = failure(passive, &labels, model, certain)?;
        failures.push((number, failure));
        (failures.len() < MOST_FAILURES).then(|| vec![negated[number]])
    });
    passive.terms = terms;
    failures.sort_by_key(|(number, _)| *number);
    let unknown = match end {
        End::Proved => None,
        End::Stopped if failures.len() >= MOST_FAILURES => None,
        End::Stopped => panic!("modular: a model without a failure"),
        End::Unknown(why) => Some(why),
    };
    (failures.into_iter().map(|(_, failure)| failure).collect(), unknown)
}

/// The check that fails in a model, by number, with the way there.
pub fn failing(passive: &Passive, labels: &Labels, model: &mut dyn Values) -> Option<(usize, Vec<usize>)> {
    let mut path = Vec::new();
    let mut block = 0;
    loop {
        path.push(block);
        for item in &passive.blocks.get(block)?.items {
            if let PassiveItem::Check(number) = item
                && model.holds(labels.fails[*number])
            {
                return Some((*number, path));
            }
        }
        let successors = &passive.blocks[block].successors;
        let chosen = labels.goes_to[block].iter().position(|&goes| model.holds(goes));
        block = *successors.get(chosen.unwrap_or(successors.len().checked_sub(1)?))?;
    }
}

fn failure(passive: &Passive, labels: &Labels, model: &mut dyn Values, certain: bool) -> Option<(usize, Failure)> {
    let (number, path) = failing(passive, labels, model)?;
    let check = passive.checks[number].clone();
    let last = path.len() - 1;
    let is_exact = |(place, &block): (usize, &usize)| {
        let block = &passive.blocks[block];
        let cuts = block.head_of.is_some() && !(place == last && matches!(check.kind, CheckKind::Entry(_)));
        !cuts && !block.calls
    };
    let certain = certain && path.iter().enumerate().all(is_exact);
    let values = check.values.iter().filter_map(|shown| {
        let before = shown.before.and_then(|before| model.value(before));
        Some((shown.name.clone(), model.value(shown.now)?, before))
    });
    let values = values.collect();
    let path = path.iter().map(|&block| {
        let block = &passive.blocks[block];
        let assigned = block.assigned.iter().filter_map(|(name, term)| Some((name.clone(), model.value(*term)?)));
        Step { label: block.label.clone(), span: block.span, end: block.end, assigned: assigned.collect() }
    });
    let path = path.collect();
    Some((number, Failure { check, certain, path, values }))
}
