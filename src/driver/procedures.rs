//! Procedures of the IVL that are no kernels: one line a stage.

use super::emit;
use super::input::Input;
use super::options::{Options, Stage};
use crate::diagnostic::Diagnostic;
use crate::effort::{Budget, Effort};
use crate::finding::{Candidates, KernelReport, Subject};
use crate::geometry::Geometry;
use crate::ivl::modifies::Inferred;
use crate::ivl::{self, ast::Program};
use crate::modular::{self, Body, existential, findings, verify};
use crate::placed::Placed;
use crate::solver::{self, Encoding, in_own_context, smtlib};
use crate::span::Span;
use crate::vcgen::wp::{self, Role};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A program of the IVL.
pub struct Source {
    /// As it was written.
    pub(crate) program: Program,
    modifies: Inferred,
    chosen: OnceLock<Result<Chosen, Diagnostic>>,
    early: OnceLock<Early>,
}

/// By procedure what little effort found out, with the time; `None` where that was not enough.
type Early = BTreeMap<String, Option<(Vec<verify::Outcome>, Duration)>>;

/// Programs with more bodies have enough to do for several threads.
const FEW_BODIES: usize = 24;

/// A program whose `{:existential}` constants have values, and these.
pub(crate) struct Chosen {
    program: Program,
    choice: existential::Choice,
}

impl Source {
    /// Nothing is chosen yet.
    pub(crate) fn new(program: Program) -> Self {
        Source::inferred(program, Inferred::new())
    }

    /// A program that did not say all that its procedures modify.
    pub(crate) fn inferred(program: Program, modifies: Inferred) -> Self {
        Source { program, modifies, chosen: OnceLock::new(), early: OnceLock::new() }
    }

    /// What a report says of that.
    fn notes(&self, name: &str) -> Option<String> {
        let (_, added) = self.modifies.iter().find(|(procedure, _)| procedure.as_str() == name)?;
        let added: Vec<&str> = added.iter().map(crate::ivl::ast::Name::as_str).collect();
        Some(format!("inferred: `modifies {};`", added.join(", ")))
    }

    /// The program with its constants chosen, once for all procedures.
    fn chosen(&self, options: &Options) -> Result<&Chosen, Vec<Diagnostic>> {
        let choose = || {
            let program = self.program.clone();
            let choice = existential::choose(&program, Budget::new(Effort::of(options.timeout)))?;
            let program = if choice.is_empty() { program } else { existential::apply(&program, &choice) };
            Ok(Chosen { program, choice })
        };
        self.chosen.get_or_init(choose).as_ref().map_err(|diagnostic| vec![diagnostic.clone()])
    }

    /// Procedures of a small program one after the other, which takes less time than to part the work; until one takes
    /// more effort than little. What has an error has no entry.
    fn early(&self, options: &Options) -> &Early {
        let prove = || {
            let mut early = Early::new();
            let Ok(chosen) = self.chosen(options) else { return early };
            let names = names(&chosen.program);
            if names.len() > FEW_BODIES {
                return early;
            }
            for name in names {
                let start = Instant::now();
                let budget = Budget::new(Effort::of(options.timeout));
                let outcomes = bodies(&chosen.program, &name)
                    .iter()
                    .map(|body| verify::quick(&chosen.program, body, budget).ok()?)
                    .collect::<Option<Vec<_>>>();
                let was_enough = outcomes.is_some();
                early.insert(name, outcomes.map(|outcomes| (outcomes, start.elapsed())));
                if !was_enough {
                    break;
                }
            }
            early
        };
        self.early.get_or_init(|| in_own_context(prove))
    }
}

/// Names of the procedures with bodies to prove, in the order of the text.
pub(crate) fn names(program: &Program) -> Vec<String> {
    let proved = program.procedures.iter().filter(|procedure| !modular::bodies(program, procedure).is_empty());
    proved.map(|procedure| procedure.name.to_string()).collect()
}

fn bodies<'a>(program: &'a Program, name: &str) -> Vec<Body<'a>> {
    let procedure = program.procedures.iter().filter(|procedure| procedure.name.as_str() == name);
    procedure.flat_map(|procedure| modular::bodies(program, procedure)).collect()
}

/// Verifies a procedure.
///
/// # Errors
/// What has no verification condition.
pub(crate) fn verify(
    input: &Input,
    source: &Source,
    name: &str,
    options: &Options,
) -> Result<KernelReport, Vec<Diagnostic>> {
    let early = source.early(options);
    let chosen = source.chosen(options)?;
    let start = Instant::now();
    let (outcomes, time) = match early.get(name) {
        Some(Some(early)) => early.clone(),
        other => {
            let budget = Budget::new(Effort::of(options.timeout));
            let bodies = bodies(&chosen.program, name);
            let outcomes = bodies.iter().map(|body| verify::run(&chosen.program, body, budget, other.is_some()));
            let outcomes = outcomes.collect::<Result<Vec<verify::Outcome>, Diagnostic>>().map_err(|d| vec![d])?;
            (outcomes, start.elapsed())
        }
    };
    let mut report = KernelReport::new(input.source.name(), name, Geometry::FREE);
    report.subject = Subject::Procedure;
    report.inferred = chosen.choice.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    let kept = chosen.choice.values().filter(|value| **value).count() as u64;
    report.candidates = Candidates { tried: chosen.choice.len() as u64, kept };
    let mut report = findings::report(report, &outcomes, &input.source);
    report.time_ms = time.as_millis() as u64;
    report.assumptions.extend(source.notes(name));
    Ok(report)
}

/// The text of a stage. `Err` as for [`verify`], and for the stages that only kernels have.
pub(crate) fn emit(source: &Source, name: &str, stage: Stage, options: &Options) -> Result<Placed, Vec<Diagnostic>> {
    let chosen = in_own_context(|| source.chosen(options))?;
    let mut out = Placed::default();
    match stage {
        Stage::Ivl | Stage::IvlFull => return Ok(ivl::print_with_places(&chosen.program, &BTreeMap::new())),
        Stage::Candidates => {
            for (constant, value) in &chosen.choice {
                let fate = if *value { "kept" } else { "dropped" };
                let _ = writeln!(out, "{constant}  // {fate}");
            }
            return Ok(out);
        }
        Stage::Passive | Stage::Vc | Stage::Smt2 => {}
        _ => {
            let message = format!("`{name}` is a procedure: only kernels have this stage");
            return Err(vec![Diagnostic::error("no-such-stage", message, Span::NONE)]);
        }
    }
    for body in bodies(&chosen.program, name) {
        let mut passive = verify::passive(&chosen.program, &body, true).map_err(|d| vec![d])?;
        let comment = if stage == Stage::Smt2 { ";" } else { "//" };
        if stage == Stage::Smt2 && !out.text.is_empty() {
            out.push_str("(reset)\n");
        }
        let _ = writeln!(out, "{comment} {name}");
        let formula = wp::formula(&mut passive, &|_| true, &|_| Role::Prove);
        match stage {
            Stage::Passive => emit::passive(&passive, &mut out),
            Stage::Vc => emit::condition(&passive, formula, &mut out),
            _ => {
                let encoded = solver::encode(&mut passive.terms, Encoding::Exact, formula, &[]);
                let script =
                    |encoded| smtlib::script(&passive.terms, Encoding::Exact, encoded, "unsat: all assertions hold");
                out.push_str(&encoded.as_ref().map(script).unwrap_or_default());
            }
        }
    }
    Ok(out)
}
