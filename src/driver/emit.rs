//! The views of the two-thread program and of the stages behind it: `twothread ivl candidates passive vc smt2`.
//!
//! `twothread` and `ivl` are one program with a procedure for each pair of threads of the launch, which Boogie takes as it stands,
//! in the order in which it is read: the prelude comes last, and only what is used of it (`ivl=full`: all). The other views hold the
//! pairs one after the other.

use super::notes;
use super::options::Stage;
use crate::diagnostic::Diagnostic;
use crate::effort::Budget;
use crate::infer;
use crate::infer::houdini::Fate;
use crate::ivl;
use crate::ivl::ast::{Name, Program, StmtKind};
use crate::ivl::merge::merge;
use crate::prove::Inference;
use crate::prove::question::{self, Question, prove_pairs};
use crate::prove::used::{self, Used};
use crate::solver::{self, smtlib};
use crate::vcgen::passive::{CheckKind, Passive, PassiveItem};
use crate::vcgen::print::Names;
use crate::vcgen::term::{Node, Term};
use crate::vcgen::wp::{self, Role};
use std::fmt::Write;

/// Prints a stage for all pairs; `minimal`: of the invariants only those that the proof uses.
///
/// # Errors
/// What a stage cannot model.
pub(crate) fn inferred(question: &Question, stage: Stage, minimal: bool) -> Result<String, Vec<Diagnostic>> {
    if matches!(stage, Stage::Ivl | Stage::IvlFull) {
        return program(question, stage, minimal);
    }
    let mut out = String::new();
    prove_pairs(question, &mut |two, mut outcome| {
        // Each text stays one of its language: SMT-LIB scripts after the first start anew.
        let comment = if stage == Stage::Smt2 { ";" } else { "//" };
        if stage == Stage::Smt2 && !out.is_empty() {
            out.push_str("(reset)\n");
        }
        let _ = writeln!(out, "{comment} {}", two.procedure);
        match stage {
            Stage::Candidates => candidates(&outcome.inference, &mut out),
            Stage::Passive => passive(&outcome.inference.passive, &mut out),
            _ => conditions(&mut outcome.inference, stage, &mut out),
        }
        Ok(true)
    })?;
    Ok(out)
}

/// Prints one program for all pairs, in which nothing is invented yet.
///
/// # Errors
/// What has no sound model.
pub(crate) fn two_thread(question: &Question) -> Result<String, Vec<Diagnostic>> {
    let mut programs = Vec::new();
    for pair in question::pairs(&question.options, question.kernel) {
        programs.push((Name::new(pair.suffix()), without_marks(question.program(pair)?.program)));
    }
    Ok(text(question, &ivl::in_reading_order(merge(programs))))
}

fn text(question: &Question, merged: &Program) -> String {
    ivl::check_stage(merged, "merge");
    ivl::print_with_notes(merged, &notes::of_predicated(&question.kernel.program, question.predicated))
}

/// One program for all pairs, with invariants.
fn program(question: &Question, stage: Stage, minimal: bool) -> Result<String, Vec<Diagnostic>> {
    let mut outcomes = Vec::new();
    prove_pairs(question, &mut |two, outcome| {
        outcomes.push((two.pair, two.procedure.clone(), outcome));
        Ok(true)
    })?;
    let mut out = String::new();
    let mut programs = Vec::new();
    // Which invariants are used is asked last: what time is left is for the proofs first.
    for (pair, procedure, outcome) in &outcomes {
        let used = used::run(outcome, Budget::new(question.effort)).map_err(|d| vec![d])?;
        if let Used::All(why) = used {
            let _ = writeln!(out, "// all kept invariants of {procedure}; which of them are used is not known: {why}");
        }
        let program = without_marks(with_invariants(&outcome.inference, &used, minimal));
        programs.push((Name::new(pair.suffix()), program));
    }
    let all = merge(programs);
    let shown = if stage == Stage::Ivl { ivl::in_reading_order(all) } else { all };
    out.push_str(&text(question, &shown));
    Ok(out)
}

/// Without attributes of assignments, which serve inference only: Boogie's grammar has none there.
fn without_marks(mut program: Program) -> Program {
    let bodies = program.procedures.iter_mut().filter_map(|procedure| procedure.body.as_mut());
    for stmt in bodies.flat_map(|body| &mut body.blocks).flat_map(|block| &mut block.stmts) {
        if matches!(stmt.kind, StmtKind::Assign(_) | StmtKind::Havoc(_)) {
            stmt.attributes.clear();
        }
    }
    program
}

/// The two-thread program with its invariants.
fn with_invariants(inference: &Inference, used: &Used, minimal: bool) -> Program {
    let kept = |candidate: usize| inference.keeps(candidate);
    let is_used = |candidate: usize| used.is_used(candidate);
    match used {
        Used::All(_) => infer::with_kept(&inference.annotated, &kept, &|_| false),
        Used::Only(_) if minimal => infer::with_kept(&inference.annotated, &is_used, &|_| false),
        Used::Only(_) => infer::with_kept(&inference.annotated, &kept, &is_used),
    }
}

fn candidates(inference: &Inference, out: &mut String) {
    for (candidate, fate) in inference.annotated.candidates.iter().zip(&inference.fates) {
        let fate = match fate {
            Fate::Kept => "kept".to_string(),
            Fate::RefutedOnEntry(i) => format!("dropped in iteration {i}: false on entry"),
            Fate::RefutedAfterRound(i) => format!("dropped in iteration {i}: not maintained"),
            Fate::Undecided(i) => format!("dropped in iteration {i}: no answer"),
        };
        let head = &inference.annotated.loops[candidate.in_loop].head;
        let _ = writeln!(out, "{head} {} {}  // {fate}", candidate.family, ivl::print_expr(&candidate.expr));
    }
}

/// The statements of each block. Those that say `true` are counted only: what is decided while the formula is built.
pub(super) fn passive(passive: &Passive, out: &mut String) {
    let terms = &passive.terms;
    let term_of = |item: &PassiveItem| match item {
        PassiveItem::Assume { term, .. } => *term,
        PassiveItem::Check(i) => passive.checks[*i].term,
    };
    let is_true = |item: &&PassiveItem| matches!(terms.node(term_of(item)), Node::Bool(true));
    let roots: Vec<Term> = passive.blocks.iter().flat_map(|block| &block.items).map(term_of).collect();
    let mut names = Names::new(terms, &roots, std::iter::empty());
    for block in &passive.blocks {
        let _ = writeln!(out, "{}:", block.label);
        let decided = block.items.iter().filter(is_true).filter(|item| matches!(item, PassiveItem::Check(_))).count();
        if decided > 0 {
            let _ = writeln!(out, "  // assertions of this block that hold as they stand: {decided}");
        }
        let mut noted = String::new();
        for item in block.items.iter().filter(|item| !is_true(item)) {
            let word = if matches!(item, PassiveItem::Check(_)) { "assert" } else { "assume" };
            out.push_str(&names.definitions(term_of(item), &|_| None));
            let note = note(item, passive);
            if !note.is_empty() && note != noted {
                let _ = writeln!(out, "  // {note}");
            }
            noted = note;
            let _ = writeln!(out, "  {word} {};", names.text(term_of(item), 4));
        }
        let targets: Vec<&str> = block.successors.iter().map(|&s| passive.blocks[s].label.as_str()).collect();
        let _ = match targets.is_empty() {
            true => writeln!(out, "  return;"),
            false => writeln!(out, "  goto {};", targets.join(", ")),
        };
    }
}

/// Which instruction a statement of the passive program is about, and of an invariant when it is checked.
fn note(item: &PassiveItem, passive: &Passive) -> String {
    let when = match item {
        PassiveItem::Check(i) => match passive.checks[*i].kind {
            CheckKind::Assertion => None,
            CheckKind::Entry(_) => Some("on entry".to_string()),
            CheckKind::Maintenance(_) => Some("after a round".to_string()),
        },
        PassiveItem::Assume { .. } => None,
    };
    let place = item.origin(&passive.checks).map(notes::of_origin);
    when.into_iter().chain(place).collect::<Vec<String>>().join(", ")
}

/// A condition: what its parts are, with the lines that they are about, and that all of it is to hold.
pub(super) fn condition(passive: &Passive, formula: Term, out: &mut String) {
    let notes = notes::of_terms(passive);
    let mut names = Names::new(&passive.terms, &[formula], notes.keys().copied());
    out.push_str(&names.definitions(formula, &|term| notes.get(&term).cloned()));
    let _ = writeln!(out, "  assert {};", names.text(formula, 4));
}

/// One query: all assertions under the kept invariants.
fn conditions(inference: &mut Inference, stage: Stage, out: &mut String) {
    let encoding = inference.encodings[0];
    let keep: Vec<bool> = (0..inference.fates.len()).map(|candidate| inference.keeps(candidate)).collect();
    let passive = &mut inference.passive;
    let proper: Vec<bool> = passive.checks.iter().map(|c| c.candidate.is_none() && c.claim.probe().is_none()).collect();
    let role = |i: usize| if proper[i] { Role::Prove } else { Role::Ignore };
    let formula = wp::formula(passive, &|candidate| keep[candidate], &role);
    if stage == Stage::Vc {
        condition(passive, formula, out);
        return;
    }
    match solver::encode(&mut passive.terms, encoding, formula, &[]) {
        Some(encoded) => {
            out.push_str(&smtlib::script(&passive.terms, encoding, &encoded, "unsat: all assertions hold"))
        }
        None => out.push_str("; this condition has no form in the chosen encoding\n"),
    }
}
