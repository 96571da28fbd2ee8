//! A proof in which any one round of a loop stands for all.
//!
//! Input: a two-thread program, what is being inferred for it. Output: whether all its assertions are proved. Establishes: they
//! are proved only where those of the summarised program were. Relies on: both threads are treated alike, so that a pair of accesses
//! may be met in either order; the layout of `predicate`. Reference: DESIGN section 5; Kroening et al., "Loop
//! Summarization using Abstract Transformers"; the lock-step paper, section 4 (threads between barriers are independent).
//!
//! Between two barriers it does not matter which round of the one thread meets which of the other. So of a loop without barriers
//! one round is written, with the thread anywhere in it: what the loop assigns is arbitrary, under the invariants about this thread
//! alone, and each thread chooses a round of its own. Behind it stands the last round, in the same way but without accesses, out of
//! which the thread goes on. A race of any two rounds is one of this program. No invariant about what is
//! remembered of accesses is needed, which are most of them and the hard ones: where an access was, is the place itself.
//!
//! An execution of a thread is one of its summarised program: it chooses the round in which the access in question is. What it does between two
//! rounds is its own affair: every statement in the loop is about one thread (which is checked), so no value of a thread depends
//! on the round of the other one. Invariants hold whenever control comes to the head; those used mention one thread, and the counter of the lock-step
//! loop, which is the one of every thread that is still in it.

mod alone;
mod closed_forms;
mod idle_loops;
mod locality;
mod rename;
mod summary;
mod writer;

use self::summary::Summary;
pub(super) use self::summary::multiplies;
use super::probes::{Probed, probe};
use super::{Inference, Plan, assertions, idle_logs, may_rely_on, written_out};
use crate::diagnostic::Diagnostic;
use crate::effort::{Budget, Effort};
use crate::infer::ghosts::LoopGhosts;
use crate::infer::houdini::{self, Outcome, Start};
use crate::infer::{self, Annotated};
use crate::ivl;
use crate::ivl::ast::{Name, Program, Stmt, StmtKind};
use crate::ivl::claim::{BarrierRule, Claim};
use crate::query::Reply;
use crate::solver::{Encoding, in_own_context};
use crate::twothread::TwoThread;
use crate::vcgen::passive::{Check, Passive};
use std::collections::BTreeMap;

/// Loops of a program that is still looked at.
const MOST_LOOPS: usize = 4;
/// What the search for invariants may cost, and then the proof.
const SEARCH: Effort = Effort::seconds(3);
const PROOF: Effort = Effort::seconds(15);
/// A pair of accesses.
const PAIR: Effort = Effort::milliseconds(1200);
/// Many of them.
const PAIRS: Effort = Effort::milliseconds(100);
/// Families about what is remembered of accesses, or that need counters beyond those of rounds.
const OMITTED: &[&str] = &["steps", "frame", "groups", "logged", "objects", "round", "pending", "warp"];

/// A program with any one round of each loop in place of all.
pub struct Summarised {
    /// It has no loops.
    pub program: TwoThread,
    /// The program of which it was made, with the rounds of loops counted.
    pub counted: Program,
    /// Thread 1 alone, with the invariants that are relied on.
    inference: Inference,
}

/// Writes a program whose loops can all be summarised, without candidates of the families that are omitted.
///
/// # Errors
/// What `vcgen` cannot translate.
pub fn summarise(
    two: &TwoThread,
    uniform_barriers: bool,
    omitted: &[&'static str],
    budget: Budget,
) -> Result<Option<Summarised>, Diagnostic> {
    if two.loops.is_empty() || two.loops.len() > MOST_LOOPS || !two.log.by_bytes {
        return Ok(None);
    }
    let omitted: Vec<&'static str> = OMITTED.iter().chain(omitted).copied().collect();
    let annotated = infer::annotate(two, uniform_barriers, Encoding::Integers, &omitted)?;
    let Some(mut summary) = Summary::of(two, &annotated) else { return Ok(None) };
    let mut alone = alone::program(&summary, &annotated.ghosted, &two.procedure);
    summary.learn_steps(&mut infer::passive_of(&alone, &two.procedure)?);
    alone::place_candidates(&summary, &mut alone, &two.procedure);
    let mut passive = infer::passive_of(&alone, &two.procedure)?;
    let kept = search(&summary, &mut passive, two, budget.part(SEARCH));
    let Some(program) = summary.write(&kept) else { return Ok(None) };
    let counted = annotated.ghosted.clone();
    let annotated = Annotated { candidates: summary.candidates(), program: alone, ..annotated };
    Ok(Some(Summarised { program, counted, inference: Inference::new(annotated, passive, kept) }))
}

/// Tries all assertions. Where they are proved: what the program was asked.
///
/// # Errors
/// What `vcgen` cannot translate.
pub(super) fn proves(two: &TwoThread, plan: Plan, budget: Budget) -> Result<Option<Probed>, Diagnostic> {
    if !plan.encodings.contains(&Encoding::Integers) {
        return Ok(None);
    }
    let summarised = summarise(two, plan.uniform_barriers, plan.omitted, budget)?;
    let Some(Summarised { program, mut inference, .. }) = summarised else { return Ok(None) };
    let loops = &inference.annotated.loops;
    let is_proved = holds_by_pairs(&idle_logs::without(&program), loops, budget.part(PROOF))?;
    log::debug!("summarised: {is_proved}");
    Ok(is_proved.then(|| probe(&mut inference, budget)))
}

/// Whether all assertions of a program without loops hold, for each access that may be remembered and each that is checked:
/// many pairs of places are hard, where one is easy.
fn holds_by_pairs(two: &TwoThread, loops: &[LoopGhosts], budget: Budget) -> Result<bool, Diagnostic> {
    let blocks = &two.implementation().blocks;
    let sites: BTreeMap<u32, &Name> = blocks.iter().flat_map(|block| &block.stmts).filter_map(logged).collect();
    let mut are_hard = false;
    // What is asserted of threads is asked where nothing is remembered.
    for site in [None].into_iter().chain(sites.into_iter().map(Some)) {
        let mut program = remembering(two, site.map(|(site, _)| site));
        idle_loops::leave_out(&mut program, &two.procedure, loops, site.map(|(_, array)| array));
        let mut passive = infer::passive_of(&program, &two.procedure)?;
        let is_open = |check: &usize| {
            let Check { term, claim, .. } = &passive.checks[*check];
            passive.terms.truth(*term) != Some(true) && (site.is_none() || !is_about_threads(claim))
        };
        let open: Vec<usize> = assertions(&passive).into_iter().filter(is_open).collect();
        if !in_own_context(|| all_hold(&mut passive, &open, &mut are_hard, budget)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether an assertion does not depend on what is remembered of accesses.
fn is_about_threads(claim: &Claim) -> bool {
    use BarrierRule::{Member, Number, Size};
    let is_rule = |rule: &BarrierRule| matches!(rule, Member | Number | Size);
    match claim {
        Claim::BarrierMet { .. } | Claim::LanesMet | Claim::Bounds => true,
        Claim::BarrierRule(rule) => is_rule(rule),
        _ => false,
    }
}

/// Whether checks hold: all at once, or each alone where they are hard, as places are that are products of unknowns.
fn all_hold(passive: &mut Passive, open: &[usize], are_hard: &mut bool, budget: Budget) -> bool {
    *are_hard |= open.iter().any(|check| passive.terms.multiplies(passive.checks[*check].term));
    let mut parts: Vec<&[usize]> = open.chunks(if *are_hard { 1 } else { open.len().max(1) }).rev().collect();
    while let Some(part) = parts.pop() {
        let (goal, most) = (part.iter().copied().collect(), if part.len() == 1 { PAIR } else { PAIRS });
        match written_out::ask(passive, &goal, Encoding::Integers, most, budget) {
            Reply::Proved => {}
            Reply::Unknown(_) if part.len() > 1 => {
                *are_hard = true;
                parts.extend(part.chunks(1).rev());
            }
            reply => {
                let check = &passive.checks[part[0]];
                let how = if matches!(reply, Reply::Refuted(_)) { "refuted" } else { "open" };
                log::trace!("{how}: {:?} of {:?}", check.claim, check.origin.as_ref().map(|origin| origin.line));
                return false;
            }
        }
    }
    true
}

/// The number of an access that may be remembered, and the array.
fn logged(stmt: &Stmt) -> Option<(u32, &Name)> {
    match &stmt.kind {
        StmtKind::Log { event, .. } => Some((event.site, &event.array)),
        _ => None,
    }
}

/// The program in which this access alone is remembered, or none.
fn remembering(two: &TwoThread, site: Option<u32>) -> Program {
    let mut program = two.program.clone();
    let procedures = program.procedures.iter_mut().filter(|procedure| procedure.name == two.procedure);
    for block in procedures.filter_map(|procedure| procedure.body.as_mut()).flat_map(|body| &mut body.blocks) {
        block.stmts.retain(|stmt| logged(stmt).is_none_or(|(one, _)| Some(one) == site));
    }
    program
}

/// The invariants about thread 1.
fn search(summary: &Summary, passive: &mut Passive, two: &TwoThread, budget: Budget) -> Outcome {
    let relied: Vec<bool> = passive.checks.iter().map(may_rely_on).collect();
    let candidates = summary.invariants.len();
    let start = Start {
        known: vec![false; candidates],
        twins: (0..candidates).collect(),
        relied: &|check| relied[check],
        remainders: None,
        encodings: &[Encoding::Integers],
        budget,
        log: &two.log,
    };
    let outcome = houdini::run(passive, &start);
    for (one, fate) in summary.invariants.iter().zip(&outcome.fates) {
        log::trace!("loop {}, {fate:?}: {} {}", one.in_loop, one.family, ivl::print_expr(&one.expr));
    }
    outcome
}
