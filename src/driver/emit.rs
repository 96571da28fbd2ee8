//! The views of the two-thread program and of the stages behind it: `twothread ivl candidates passive vc smt2`.
//!
//! `twothread` and `ivl` are one program with a procedure for each pair of threads of the launch, which Boogie takes as it stands,
//! in the order in which it is read: the prelude comes last, and only what is used of it (`ivl=full`: all). The other views hold the
//! pairs one after the other.

use super::notes;
use super::options::Stage;
use crate::diagnostic::Diagnostic;
use crate::effort::{Budget, Effort};
use crate::infer;
use crate::infer::houdini::Fate;
use crate::ivl;
use crate::ivl::ast::{Name, Program, StmtKind};
use crate::ivl::merge::merge;
use crate::placed::Placed;
use crate::prove::question::{self, Question, prove_pairs};
use crate::prove::used::{self, Used};
use crate::prove::{Inference, PairOutcome};
use crate::solver::{self, smtlib};
use crate::span::Span;
use crate::twothread::Pair;
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
        let mut outcomes = Outcomes::prove(question)?;
        outcomes.ask_for_used(question.effort)?;
        return Ok(outcomes.program(stage, minimal).text);
    }
    let mut out = Placed::default();
    prove_pairs(question, &mut |two, mut outcome| {
        one_pair(&two.procedure, &mut outcome.inference, stage, &mut out);
        Ok(true)
    })?;
    Ok(out.text)
}

/// Prints a stage for one pair, behind those before it.
fn one_pair(procedure: &Name, inference: &mut Inference, stage: Stage, out: &mut Placed) {
    // Each text stays one of its language: SMT-LIB scripts after the first start anew.
    let comment = if stage == Stage::Smt2 { ";" } else { "//" };
    if stage == Stage::Smt2 && !out.text.is_empty() {
        out.push_str("(reset)\n");
    }
    let _ = writeln!(out, "{comment} {procedure}");
    match stage {
        Stage::Candidates => candidates(inference, &mut out.text),
        Stage::Passive => passive(&inference.passive, out),
        _ => conditions(inference, stage, out),
    }
}

/// Prints one program for all pairs, in which nothing is invented yet.
///
/// # Errors
/// What has no sound model.
pub(crate) fn two_thread(question: &Question) -> Result<Placed, Vec<Diagnostic>> {
    let mut programs = Vec::new();
    for pair in question::pairs(&question.options, question.kernel) {
        programs.push((Name::new(pair.suffix()), without_marks(question.program(pair)?.program)));
    }
    Ok(text(question, &ivl::in_reading_order(merge(programs))))
}

fn text(question: &Question, merged: &Program) -> Placed {
    ivl::check_stage(merged, "merge");
    ivl::print_with_places(merged, &notes::of_predicated(&question.kernel.program, question.predicated))
}

/// What came of all pairs of a question, for several stages.
pub(super) struct Outcomes<'q> {
    question: &'q Question<'q>,
    pairs: Vec<PairProof>,
}

/// What came of one pair.
pub(super) struct PairProof {
    pub(super) pair: Pair,
    procedure: Name,
    pub(super) outcome: PairOutcome,
    /// Which invariants the proof needs, once that was asked.
    pub(super) used: Used,
}

impl<'q> Outcomes<'q> {
    /// Proves all pairs.
    ///
    /// # Errors
    /// What has no sound model.
    pub(super) fn prove(question: &'q Question<'q>) -> Result<Self, Vec<Diagnostic>> {
        let mut pairs = Vec::new();
        prove_pairs(question, &mut |two, outcome| {
            let (pair, procedure) = (two.pair, two.procedure.clone());
            pairs.push(PairProof { pair, procedure, outcome, used: Used::All("nobody asked") });
            Ok(true)
        })?;
        Ok(Outcomes { question, pairs })
    }

    /// Asks which invariants are used, which is done last: what time is left is for the proofs first.
    ///
    /// # Errors
    /// What has no verification condition.
    pub(super) fn ask_for_used(&mut self, effort: Effort) -> Result<(), Vec<Diagnostic>> {
        for pair in &mut self.pairs {
            pair.used = used::run(&pair.outcome, Budget::new(effort)).map_err(|diagnostic| vec![diagnostic])?;
        }
        Ok(())
    }

    /// One program for all pairs, with invariants.
    pub(super) fn program(&self, stage: Stage, minimal: bool) -> Placed {
        let mut out = Placed::default();
        let mut programs = Vec::new();
        for PairProof { pair, procedure, outcome, used } in &self.pairs {
            if let Used::All(why) = used {
                let _ =
                    writeln!(out, "// all kept invariants of {procedure}; which of them are used is not known: {why}");
            }
            let program = without_marks(with_invariants(&outcome.inference, used, minimal));
            programs.push((Name::new(pair.suffix()), program));
        }
        let all = merge(programs);
        let shown = if stage == Stage::Ivl { ivl::in_reading_order(all) } else { all };
        out.append(text(self.question, &shown));
        out
    }

    /// One of the other stages, for all pairs.
    pub(super) fn stage(&mut self, stage: Stage) -> Placed {
        let mut out = Placed::default();
        for PairProof { procedure, outcome, .. } in &mut self.pairs {
            one_pair(procedure, &mut outcome.inference, stage, &mut out);
        }
        out
    }

    /// What came of each pair.
    pub(super) fn pairs(&self) -> &[PairProof] {
        &self.pairs
    }
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
        let fate = fate_text(fate);
        let head = &inference.annotated.loops[candidate.in_loop].head;
        let _ = writeln!(out, "{head} {} {}  // {fate}", candidate.family, ivl::print_expr(&candidate.expr));
    }
}

/// What became of a candidate, in words.
pub(super) fn fate_text(fate: &Fate) -> String {
    match fate {
        Fate::Kept => "kept".to_string(),
        Fate::RefutedOnEntry(i) => format!("dropped in iteration {i}: false on entry"),
        Fate::RefutedAfterRound(i) => format!("dropped in iteration {i}: not maintained"),
        Fate::Undecided(i) => format!("dropped in iteration {i}: no answer"),
    }
}

/// The statements of each block. Those that say `true` are counted only: what is decided while the formula is built.
pub(super) fn passive(passive: &Passive, out: &mut Placed) {
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
            let start = out.text.len();
            out.push_str(&names.definitions(term_of(item), &|_| None));
            let note = note(item, passive);
            if !note.is_empty() && note != noted {
                let _ = writeln!(out, "  // {note}");
            }
            noted = note;
            let _ = writeln!(out, "  {word} {};", names.text(term_of(item), 4));
            out.comes_from(start, item.origin(&passive.checks).map_or(Span::NONE, |origin| origin.span));
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
pub(super) fn condition(passive: &Passive, formula: Term, out: &mut Placed) {
    let (notes, origins) = (notes::of_terms(passive), notes::origins_of_terms(passive));
    let mut names = Names::new(&passive.terms, &[formula], notes.keys().copied());
    names.each_definition(formula, &|term| notes.get(&term).cloned(), &mut |term, text| {
        let start = out.text.len();
        out.push_str(text);
        origins.get(&term).into_iter().flatten().for_each(|(_, origin)| out.comes_from(start, origin.span));
    });
    let _ = writeln!(out, "  assert {};", names.text(formula, 4));
}

/// One query: all assertions under the kept invariants.
fn conditions(inference: &mut Inference, stage: Stage, out: &mut Placed) {
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
