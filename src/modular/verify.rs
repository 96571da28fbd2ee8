//! One body: made ready, and what came of it.
//!
//! Input: a program and a body. Output: [`Outcome`]. Establishes: `failures` and `unknown` are empty only where the whole
//! body was proved. Relies on: [`crate::vcgen::passify::of_body`], [`super::search`]. Reference: Boogie 2.

use super::search::{self, Failure, Found};
use super::{Body, inline, intervals, verified_under};
use crate::diagnostic::Diagnostic;
use crate::effort::Budget;
use crate::ivl::ast::{Implementation, Name, Program};
use crate::ivl::claim::Claim;
use crate::limits;
use crate::vcgen::passify;
use crate::vcgen::passive::{Check, Passive};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What came of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// How many assertions it has.
    pub(crate) assertions: usize,
    /// How many loops.
    pub(crate) loops: usize,
    /// Those that fail, in the order of the body.
    pub(crate) failures: Vec<Failure>,
    /// Why not all is known.
    pub(crate) unknown: Option<String>,
    /// Procedures whose recursion is looked at so deep only as their `{:inline N}` says.
    pub(crate) cut: BTreeSet<Name>,
}

/// The passive program of a body, with `{:inline}` procedures in it, and bounds of integers at loop heads.
///
/// # Errors
/// What has no meaning here (kernel statements), irreducible control flow.
pub(crate) fn passive(program: &Program, body: &Body, with_bounds: bool) -> Result<Passive, Diagnostic> {
    passify::of_body(program, body.target, &prepared(program, body, with_bounds))
}

fn prepared<'a>(program: &'a Program, body: &Body<'a>, with_bounds: bool) -> Cow<'a, Implementation> {
    let implementation = verified_under::run(inline::run(program, body.implementation));
    if with_bounds { intervals::run(program, body.target, implementation) } else { implementation }
}

/// Proves a body or finds what fails; `was_quick` where [`quick`] had no answer.
///
/// # Errors
/// As [`passive`].
pub(crate) fn run(program: &Program, body: &Body, budget: Budget, was_quick: bool) -> Result<Outcome, Diagnostic> {
    let outcome = attempt(program, body, true, &|passive| Some(search::run(passive, budget, was_quick)))?;
    outcome.map_or_else(|| panic!("modular: a search without an end"), Ok)
}

/// The same where the body is small and little effort is enough, else `None`.
///
/// # Errors
/// As [`passive`].
pub(crate) fn quick(program: &Program, body: &Body, budget: Budget) -> Result<Option<Outcome>, Diagnostic> {
    attempt(program, body, true, &|passive| search::quick(passive, budget))
}

fn attempt(
    program: &Program,
    body: &Body,
    with_bounds: bool,
    search: &dyn Fn(&mut Passive) -> Option<Found>,
) -> Result<Option<Outcome>, Diagnostic> {
    let _stage = limits::stage("modular");
    let (mut passive, outcome) = ready(program, body, with_bounds)?;
    let Some(Found { failures, unknown }) = search(&mut passive) else { return Ok(None) };
    // Bounds that are true are proved; should one not be, the body is what its author wrote.
    if with_bounds && failures.iter().any(|failure| is_inferred(&failure.check)) {
        return attempt(program, body, false, search);
    }
    Ok(Some(Outcome { failures, unknown, ..outcome }))
}

fn is_inferred(check: &Check) -> bool {
    check.claim == Claim::IntegerBound
}

/// The passive program, and what is known before it is looked at.
fn ready(program: &Program, body: &Body, with_bounds: bool) -> Result<(Passive, Outcome), Diagnostic> {
    let implementation = prepared(program, body, with_bounds);
    let cut = inline::cuts(&implementation);
    let passive = passify::of_body(program, body.target, &implementation)?;
    let assertions = passive.checks.iter().filter(|check| !is_inferred(check)).count();
    let outcome = Outcome { assertions, loops: passive.loops.len(), cut, ..Outcome::default() };
    Ok((passive, outcome))
}
