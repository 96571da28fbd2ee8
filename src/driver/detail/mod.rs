//! What an HTML report shows of a kernel beside its verdict.
//!
//! Input: a kernel, the options of its run, the report. Output: a [`Detail`]: the sources with their instructions, the graph,
//! the text of each stage with the instructions that its lines come from, the candidates, the execution that has the
//! defect. Establishes: nothing about the kernel: the report is made before, and stays as it is. A stage that cannot be
//! built, or for which no time is left, says why. Relies on: an [`Origin`](crate::span::Origin) travels unchanged from the
//! parser to each stage. Reference: book/src/html-report.md.

mod graph;
mod instructions;
mod replay;
mod stages;

use super::options::{Format, Options};
use super::task::Task;
use crate::finding::{KernelReport, Verdict};
use crate::jobs::Jobs;
use crate::launch::condition::Condition;
use crate::report::html;
use crate::report::html::detail::Detail;
use instructions::Instructions;
use stages::Stages;

/// The detail of a kernel as the page holds it; `None` where the report is none in HTML.
pub(super) fn packed(
    task: &Task<'_>,
    options: &Options,
    report: &KernelReport,
    conditions: &[Condition],
    jobs: &Jobs,
) -> Option<String> {
    (options.format == Format::Html).then(|| html::pack(&of(task, options, report, conditions, jobs)))
}

/// The same of a kernel whose run a limit has ended: nobody waits for what else there is to show.
pub(super) fn stopped(options: &Options) -> Option<String> {
    let detail = || Detail { stages: stages::none("a limit ended the run (--timeout, --memory)"), ..Detail::default() };
    (options.format == Format::Html).then(|| html::pack(&detail()))
}

/// The detail of a kernel. `conditions` are those under which it was proved.
fn of(task: &Task<'_>, options: &Options, report: &KernelReport, conditions: &[Condition], jobs: &Jobs) -> Detail {
    let options = with_launch_of_verdict(options, report);
    let found = Instructions::of(task, &options);
    let Stages { texts, order, pairs } = stages::of(task, &options, conditions, &found, jobs);
    let (graph, labels) = graph::of(task, &options, &order, &found).unzip();
    let invariants = stages::invariants(pairs, graph.as_ref().zip(labels.as_deref()), &found);
    let shown = replay::of(task, report, &found);
    let (replay, barriers) = shown.unwrap_or_default();
    let barrier_graph = report.barriers.as_ref().map(|graph| graph::of_barriers(graph, &found));
    let Instructions { sources, list, .. } = found;
    Detail { sources, instructions: list, graph, barrier_graph, stages: texts, invariants, replay, barriers }
}

/// The options with the launch that the report is about: where a defect was found in a launch that the tool chose, that one.
fn with_launch_of_verdict(options: &Options, report: &KernelReport) -> Options {
    let mut options = options.clone();
    let shown = report.findings.first().and_then(|finding| finding.launch);
    if let (Verdict::Defect(_), Some(launch)) = (report.verdict, shown) {
        options.geometry = launch;
    }
    options
}
