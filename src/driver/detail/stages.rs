//! The texts of the stages, with the instructions that their lines come from.
//!
//! Input: a kernel, the launch of its verdict. Output: what `--emit` prints, and the candidates of the inference.
//! Establishes: each stage is there, with its text or with why there is none. Relies on: nothing. Reference: none.

use super::super::emit::{self, Outcomes};
use super::super::notes;
use super::super::options::{Options, Stage};
use super::super::pipeline::{self, Lowered};
use super::super::task::Task;
use super::super::{preludes, procedures};
use super::instructions::Instructions;
use crate::diagnostic::Diagnostic;
use crate::effort::Effort;
use crate::ivl;
use crate::ivl::ast::{Name, Program};
use crate::jobs::Jobs;
use crate::launch::condition::Condition;
use crate::limits;
use crate::placed::Placed;
use crate::predicate::{self, Predicated};
use crate::prove::used::Used;
use crate::report::html::detail::{Graph, Invariant, StageText};
use crate::span::Span;
use crate::twothread::Pair;

/// The stages, each with its title and what it does.
const STAGES: [(Stage, &str, &str, &str); 7] = [
    (
        Stage::Kernel,
        "kernel",
        "Kernel",
        "One thread in the verification language: every address is an array and an offset.",
    ),
    (
        Stage::Order,
        "order",
        "Order",
        "The order in which the two threads come to the blocks: both pass each block together, whether they execute it or not.",
    ),
    (
        Stage::Predicated,
        "predicated",
        "Predicated",
        "One thread without branches but those back to heads of loops: each statement says when the thread executes it.",
    ),
    (
        Stage::Twothread,
        "twothread",
        "Two threads",
        "Two arbitrary threads in one sequential program: accesses of the first are logged, those of the second checked.",
    ),
    (
        Stage::Ivl,
        "ivl",
        "Invariants",
        "The same with the invariants that were inferred; {:used} marks those that the proof needs.",
    ),
    (
        Stage::Passive,
        "passive",
        "Passive",
        "No loops, and no variable that changes: what is assumed and what is to be proved, block by block.",
    ),
    (Stage::Vc, "vc", "VC", "The formula of which Z3 is asked whether it always holds."),
];

/// What the stages gave.
#[derive(Default)]
pub(super) struct Stages {
    pub(super) texts: Vec<StageText>,
    /// Labels of the blocks in their sort order.
    pub(super) order: Vec<Name>,
    pub(super) pairs: Vec<CandidateText>,
}

/// A candidate invariant.
pub(super) struct CandidateText {
    label: Name,
    pair: Pair,
    family: &'static str,
    text: String,
    fate: String,
    used: Option<bool>,
}

/// All stages of a kernel for which none was built.
pub(super) fn none(why: &str) -> Vec<StageText> {
    let failed = || Some(why.to_string());
    STAGES
        .iter()
        .map(|(_, name, title, about)| StageText { name, title, about, failed: failed(), ..StageText::default() })
        .collect()
}

/// What a stage gave, or why it gave nothing.
type Text = Result<Placed, String>;

/// All stages of a kernel.
pub(super) fn of(
    task: &Task<'_>,
    options: &Options,
    conditions: &[Condition],
    found: &Instructions,
    jobs: &Jobs,
) -> Stages {
    let mut stages = Stages::default();
    let mut texts: Vec<(Stage, Text)> = match task.program.of_procedure(&task.entry) {
        Some(_) => of_procedure(task, options),
        None => {
            let lowered = limited(|| pipeline::lower(task.input, task.program, &task.entry, options, conditions));
            match lowered {
                Ok(lowered) => of_kernel(&lowered, options, jobs, &mut stages),
                Err(why) => STAGES.iter().map(|(stage, ..)| (*stage, Err(why.clone()))).collect(),
            }
        }
    };
    for (stage, name, title, about) in STAGES {
        let position = texts.iter().position(|(other, _)| *other == stage);
        let text = position.map_or_else(|| Err("it was not built".to_string()), |position| texts.remove(position).1);
        let text = match text {
            Ok(placed) => {
                let lines = placed.lines().iter().map(|places| found.numbers(places)).collect();
                StageText { name, title, about, text: Some(placed.text), lines, failed: None }
            }
            Err(why) => StageText { name, title, about, failed: Some(why), ..StageText::default() },
        };
        stages.texts.push(text);
    }
    stages
}

/// Runs a part of the work: where a limit ends it, that is why there is no more.
fn limited<T>(task: impl FnOnce() -> Result<T, Vec<Diagnostic>>) -> Result<T, String> {
    match limits::within(task) {
        Ok(result) => result.map_err(|diagnostics| messages(&diagnostics)),
        Err(_) => Err("no time or memory was left for it (--timeout, --memory)".to_string()),
    }
}

fn messages(diagnostics: &[Diagnostic]) -> String {
    let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    messages.join("; ")
}

/// The stages that procedures have.
fn of_procedure(task: &Task<'_>, options: &Options) -> Vec<(Stage, Text)> {
    let Some(source) = task.program.of_procedure(&task.entry) else { return Vec::new() };
    let text = |stage: Stage| (stage, limited(|| procedures::emit(source, &task.entry, stage, options)));
    STAGES.iter().map(|(stage, ..)| text(*stage)).collect()
}

fn of_kernel(lowered: &Lowered, options: &Options, jobs: &Jobs, stages: &mut Stages) -> Vec<(Stage, Text)> {
    let kernel = &lowered.kernel.program;
    let predicated = &lowered.predicated;
    stages.order = predicated.order.iter().map(|block| block.label.clone()).collect();
    let notes = notes::of_predicated(&lowered.sliced.program, predicated);
    let mut texts = vec![
        (Stage::Kernel, Ok(ivl::print_with_places(kernel, &notes::of_kernel(kernel)))),
        (Stage::Order, Ok(order(predicated, kernel))),
        (Stage::Predicated, Ok(ivl::print_with_places(&predicated.program, &notes))),
    ];
    let prelude = match preludes::of(&options.prelude) {
        Ok(prelude) => prelude,
        Err(diagnostics) => {
            let why = messages(&diagnostics);
            let later = [Stage::Twothread, Stage::Ivl, Stage::Passive, Stage::Vc];
            texts.extend(later.map(|stage| (stage, Err(why.clone()))));
            return texts;
        }
    };
    let effort = Effort::of(options.timeout);
    let question = pipeline::question(lowered, &prelude, options, (effort, jobs));
    texts.push((Stage::Twothread, limited(|| emit::two_thread(&question))));
    let proved = limited(|| {
        let mut outcomes = Outcomes::prove(&question)?;
        // What a limit ends here is not known to be used; that costs no stage.
        let _ = limits::within(|| outcomes.ask_for_used(effort));
        stages.pairs = candidates(&outcomes);
        let texts = [
            (Stage::Ivl, Ok(outcomes.program(Stage::Ivl, false))),
            (Stage::Passive, Ok(outcomes.stage(Stage::Passive))),
            (Stage::Vc, Ok(outcomes.stage(Stage::Vc))),
        ];
        Ok(texts)
    });
    match proved {
        Ok(proved) => texts.extend(proved),
        Err(why) => {
            texts.extend([Stage::Ivl, Stage::Passive, Stage::Vc].map(|stage| (stage, Err(why.clone()))));
        }
    }
    texts
}

/// The sort order, where each line comes from the instructions of its block.
fn order(predicated: &Predicated, kernel: &Program) -> Placed {
    let text = predicate::order_text(predicated);
    let blocks = || kernel.procedures.iter().flat_map(|procedure| &procedure.body).flat_map(|body| &body.blocks);
    let mut placed = Placed::default();
    // The first line names the kernel, the last one is the end.
    let labels = std::iter::once(None).chain(predicated.order.iter().map(|block| Some(&block.label)));
    for (line, label) in text.lines().zip(labels.chain(std::iter::repeat(None))) {
        let start = placed.text.len();
        placed.push_str(line);
        placed.push_str("\n");
        let of_block = blocks().filter(|block| Some(&block.label) == label).flat_map(|block| &block.stmts);
        let origins: Vec<Span> = of_block.filter_map(|stmt| Some(stmt.origin.as_ref()?.span)).collect();
        origins.into_iter().for_each(|origin| placed.comes_from(start, origin));
    }
    placed
}

fn candidates(outcomes: &Outcomes) -> Vec<CandidateText> {
    let mut all = Vec::new();
    for proof in outcomes.pairs() {
        let inference = &proof.outcome.inference;
        for (number, (candidate, fate)) in inference.annotated.candidates.iter().zip(&inference.fates).enumerate() {
            let used = match &proof.used {
                Used::Only(used) if inference.keeps(number) => Some(used.contains(&number)),
                _ => None,
            };
            all.push(CandidateText {
                label: inference.annotated.loops[candidate.in_loop].head.clone(),
                pair: proof.pair,
                family: candidate.family,
                text: ivl::print_expr(&candidate.expr),
                fate: emit::fate_text(fate),
                used,
            });
        }
    }
    all
}

/// The candidates, with the loops in the graph.
pub(super) fn invariants(
    all: Vec<CandidateText>,
    graph: Option<(&Graph, &[Name])>,
    found: &Instructions,
) -> Vec<Invariant> {
    let (blocks, labels) = graph.map(|(graph, labels)| (graph.blocks.as_slice(), labels)).unwrap_or_default();
    let invariant = |CandidateText { label, pair, family, text, fate, used }: CandidateText| {
        let head = labels.iter().position(|other| *other == label);
        let first = head.and_then(|head| blocks[head].instructions.first());
        let line = first.map(|number| found.line(*number));
        // As the input has it.
        let label = head.map_or(label.to_string(), |head| blocks[head].label.clone());
        let pair = match pair {
            Pair::SameBlock => "same block",
            Pair::DifferentBlocks => "different blocks",
            Pair::OneThread => "one thread",
        };
        Invariant { label, head, line, pair, family, text, fate, used }
    };
    all.into_iter().map(invariant).collect()
}
