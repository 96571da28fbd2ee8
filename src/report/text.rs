//! The terminal report.
//!
//! Input: [`KernelReport`]s and diagnostics. Output: text, the verdict line first, then what is
//! wrong and where, then what the verdict rests on.

use super::finding::{Place, facts, finding_snippet, headline, whereabouts};
use super::fit::fit;
use super::help;
use super::invariants;
use super::outside;
use super::redundant;
use super::snippet::{Label, Level, Message, Paint, Style, paint, printable, screen};
use super::source::{SourceFiles, SourceText};
use crate::diagnostic::{Diagnostic, Severity};
use crate::finding::{Exact, Finding, KernelReport, Reason, Subject, Verdict};
use crate::geometry::Geometry;
use crate::ptx::mangled;
use crate::span::Span;
use crate::stats::Cost;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Findings of one kernel that are shown with their lines; JSON has them all.
const MOST_FINDINGS: usize = 5;

/// Input errors and warnings of one file, on one screen.
pub fn diagnostics(diagnostics: &[Diagnostic], source: &SourceText, style: Style) -> String {
    let messages: Vec<Message> = diagnostics.iter().map(|diagnostic| message_of(diagnostic, source)).collect();
    screen(&messages, style)
}

/// Why a stage of a kernel could not be printed: an earlier one refused the kernel, or a limit was met.
pub(crate) fn refusal(report: &KernelReport, source: &SourceText, style: Style) -> String {
    let reasons = report.reasons.iter().map(|reason| Message {
        level: Level::Warning,
        code: reason.code,
        title: reason.message.clone(),
        labels: Vec::new(),
        notes: vec![format!("in {} of {}", mangled::shown(&report.entry), source.name())],
        replay: None,
    });
    screen(&reasons.collect::<Vec<_>>(), style) + &diagnostics(&report.diagnostics, source, style)
}

fn message_of<'a>(diagnostic: &Diagnostic, source: &'a SourceText) -> Message<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::Error,
        Severity::Unsupported | Severity::Warning => Level::Warning,
    };
    let placed = diagnostic.labels.iter().filter(|(span, _)| *span != Span::NONE);
    let labels = placed.enumerate().map(|(index, (span, text))| Label {
        source,
        range: source.range(*span),
        text: text.clone(),
        primary: index == 0,
    });
    let labels: Vec<Label> = labels.collect();
    let mut notes = diagnostic.notes.clone();
    if labels.is_empty() && !diagnostic.message.contains(source.name()) {
        notes.push(format!("in {}", source.name()));
    }
    Message { level, code: diagnostic.code, title: diagnostic.message.clone(), labels, notes, replay: None }
}

/// The report on one kernel. `quiet` leaves the verdict line, and the conditions without which it says too much.
pub fn kernel(report: &KernelReport, source: &SourceText, style: Style, quiet: bool) -> String {
    let mut output = verdict_line(report, style);
    if quiet {
        list(&mut output, "holds when", &report.conditions, style);
        return output;
    }
    let mut files = SourceFiles::beside(&report.file);
    let (known, new): (Vec<&Finding>, Vec<&Finding>) = report.findings.iter().partition(|found| found.known.is_some());
    for (index, finding) in new.iter().take(MOST_FINDINGS).enumerate() {
        let before = index.checked_sub(1).map(|before| new[before]);
        let notes = facts(report, finding, before, source);
        output.push_str(&finding_snippet(finding, notes, source, &mut files, style));
    }
    output.extend(known.iter().take(MOST_FINDINGS).map(|finding| known_line(finding)));
    let hidden = new.len().saturating_sub(MOST_FINDINGS) + known.len().saturating_sub(MOST_FINDINGS);
    if hidden > 0 {
        let _ = writeln!(output, "... and {hidden} more findings (--format json lists them all)\n");
    }
    output.push_str(&reasons(&report.reasons, source, &mut files, style));
    output.push_str(&diagnostics(&report.diagnostics, source, style));
    // What is unsupported was not checked: counts and assumptions would say too much.
    if report.verdict != Verdict::Unsupported {
        output.push_str(&details(report, style));
    }
    for line in redundant::lines(report).into_iter().chain(invariants::lines(report)) {
        let _ = writeln!(output, "{}", fit(&printable(&line), style.width, 0));
    }
    if let Some(next) = help::next(report) {
        let _ = writeln!(output, "{}", fit(&format!("  next: {}", printable(&next)), style.width, 0));
    }
    output.push_str(&costs(report));
    output
}

/// A finding that is known needs no more than to be found again.
fn known_line(finding: &Finding) -> String {
    let known = finding.known.as_deref().unwrap_or_default();
    let text = format!("  known: {}, {} ({known})", headline(finding), outside::places(finding));
    printable(&text) + "\n"
}

fn verdict_line(report: &KernelReport, style: Style) -> String {
    let color = match report.verdict {
        Verdict::Verified | Verdict::NoDefect => Paint::Green,
        Verdict::Defect(_) => Paint::Red,
        _ => Paint::Yellow,
    };
    let verdict = paint(report.verdict.name(), color, style);
    let remark = match report.verdict {
        Verdict::Verified if report.checked.is_nothing() => {
            " (nothing to check: no access to memory that threads share, no barrier, no assertion)"
        }
        _ if report.is_known() => " (known)",
        Verdict::Verified if report.launch.is_one_thread() => " (one thread has nothing to race or diverge with)",
        _ => "",
    };
    let (file, entry) = (printable(&report.file), printable(&mangled::shown(&report.entry)));
    if report.subject == Subject::Procedure {
        return format!("{file}: {entry}: {verdict}\n");
    }
    format!("{file}: {entry}: {verdict}{remark}, {}{}\n", launch_text(&report.launch), scalars(report))
}

/// `, n = 1024`, of a launch that is known by its numbers.
fn scalars(report: &KernelReport) -> String {
    let params = report.launched.iter().flat_map(|launched| &launched.params);
    params.map(|(name, value)| format!(", {} = {value}", printable(name))).collect()
}

/// `block 256, grid *`; sizes of 1 at the end are left out, as on the command line.
pub(crate) fn launch_text(launch: &Geometry) -> String {
    format!("block {}, grid {}", sizes(&launch.block), sizes(&launch.grid))
}

fn sizes(sizes: &[Option<u32>; 3]) -> String {
    if *sizes == [None; 3] {
        return "*".to_string();
    }
    // `*` alone is any size on all axes.
    let fewest = if sizes[0].is_none() { 1 } else { 0 };
    let shown = 1 + (1..3).rev().find(|&axis| sizes[axis] != Some(1)).unwrap_or(fewest);
    let texts = sizes[..shown].iter().map(|size| size.map_or("*".to_string(), |size| size.to_string()));
    texts.collect::<Vec<_>>().join(",")
}

fn details(report: &KernelReport, style: Style) -> String {
    let mut output = String::new();
    if let Some(execution) = report.execution {
        let seconds = report.time_ms as f64 / 1000.0;
        let instructions = count(execution.instructions, "instruction", "instructions");
        let threads = count(execution.threads, "thread", "threads");
        let _ = writeln!(output, "  ran: {instructions} of {threads}; one execution proves nothing about others");
        let _ = writeln!(output, "  time: {seconds:.1} s");
        return output;
    }
    list(&mut output, "holds when", &report.conditions, style);
    output.push_str(&outside::lines(report));
    // Where a defect was found before anything was proved, there is nothing to count.
    if report.findings.is_empty() || !report.checked.is_nothing() || report.subject == Subject::Procedure {
        let _ = writeln!(output, "{}", fit(&format!("  checked: {}", checked_text(report)), style.width, 0));
    }
    if !report.inferred.is_empty() {
        let values = report.inferred.iter().map(|(name, value)| format!("{name} = {value}"));
        let _ = writeln!(output, "  inferred: {}", values.collect::<Vec<_>>().join(", "));
    }
    list(&mut output, "assumptions", &report.assumptions, style);
    let seconds = report.time_ms as f64 / 1000.0;
    let candidates = report.candidates;
    let invariants = match candidates.tried {
        0 => String::new(),
        tried => format!(", {} of {tried} invariant candidates kept", candidates.kept),
    };
    let _ = writeln!(output, "  time: {seconds:.1} s{invariants}");
    output
}

fn list(output: &mut String, title: &str, items: &[String], style: Style) {
    if !items.is_empty() {
        let _ = writeln!(output, "  {title}:");
    }
    for item in items {
        let _ = writeln!(output, "{}", fit(&format!("  - {}", printable(item)), style.width, 0));
    }
}

/// A line a stage, and their sum.
fn costs(report: &KernelReport) -> String {
    let stages = &report.costs;
    let mut output = String::new();
    if stages.is_empty() {
        return output;
    }
    let _ = writeln!(output, "  stage      time/ms effort/ms queries contexts candidates");
    let mut line = |stage: &str, cost: &Cost| {
        let [time, effort] = [cost.time, cost.effort.time()].map(|time| time.as_secs_f64() * 1000.0);
        let Cost { queries, contexts, candidates, .. } = cost;
        let _ = writeln!(output, "  {stage:9} {time:8.1} {effort:9.1} {queries:7} {contexts:8} {candidates:10}");
    };
    let mut sum = Cost::default();
    for (stage, cost) in stages {
        line(stage, cost);
        sum += *cost;
    }
    line("all", &sum);
    if let Some(exact) = report.exact {
        let instructions = count(exact.instructions, "instruction", "instructions");
        let _ = writeln!(output, "  sync: {instructions}, {}", rounds(exact));
    }
    output
}

/// What the exact engine saw beside instructions.
fn rounds(exact: Exact) -> String {
    let generations = count(exact.generations, "generation of barriers", "generations of barriers");
    match exact.blocks_alike {
        0 => generations,
        1 => format!("{generations}; 1 block behaves like an executed one"),
        number => format!("{generations}; {number} blocks behave like executed ones"),
    }
}

fn checked_text(report: &KernelReport) -> String {
    let checked = &report.checked;
    if report.subject == Subject::Procedure {
        let assertions = count(checked.assertions, "assertion", "assertions");
        return format!("{assertions}, {}", count(checked.loops, "loop", "loops"));
    }
    if let Some(exact) = report.exact {
        let instructions = count(exact.instructions, "executed instruction", "executed instructions");
        let [accesses, barriers] =
            [count(checked.accesses, "access", "accesses"), count(checked.barriers, "barrier", "barriers")];
        return format!("{accesses}, {barriers}: {instructions}, {}", rounds(exact));
    }
    let mut parts = Vec::new();
    if checked.accesses > 0 || report.findings.is_empty() {
        parts.push(count(checked.accesses, "access", "accesses"));
        parts.push(format!("{} within a block", count(checked.pairs_same_block, "pair", "pairs")));
        parts.push(format!("{} across blocks", count(checked.pairs_different_blocks, "pair", "pairs")));
    }
    parts.push(count(checked.barriers, "barrier", "barriers"));
    parts.push(count(checked.loops, "loop", "loops"));
    if checked.assertions > 0 {
        parts.push(count(checked.assertions, "assertion", "assertions"));
    }
    if checked.rules > 0 {
        parts.push(count(checked.rules, "rule of barriers or warps", "rules of barriers or warps"));
    }
    parts.join(", ")
}

pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn reasons(reasons: &[Reason], input: &SourceText, files: &mut SourceFiles, style: Style) -> String {
    let places: Vec<Option<Place>> =
        reasons.iter().map(|reason| reason.origin.as_ref().map(|origin| Place::of(origin, input, files))).collect();
    let messages: Vec<Message> = reasons
        .iter()
        .zip(&places)
        .map(|(reason, place)| Message {
            level: Level::Warning,
            code: reason.code,
            title: reason.message.clone(),
            labels: place.iter().map(|place| place.label(input, String::new(), true)).collect(),
            notes: match (&reason.origin, place) {
                (Some(origin), Some(place)) => whereabouts(origin, place.file.is_some(), input),
                _ => Vec::new(),
            },
            replay: None,
        })
        .collect();
    screen(&messages, style)
}

/// `12 kernels: 10 verified, 1 race, 1 unknown`, in ranking order; empty for a single kernel. Where there are procedures
/// only, these are counted.
pub fn summary(verdicts: &[Verdict], subjects: &BTreeSet<Subject>) -> String {
    if verdicts.len() < 2 {
        return String::new();
    }
    let mut sorted = verdicts.to_vec();
    sorted.sort_unstable();
    let groups = sorted.chunk_by(|left, right| left == right);
    let parts: Vec<String> = groups.map(|group| format!("{} {}", group.len(), group[0].name())).collect();
    let procedures_only = subjects.contains(&Subject::Procedure) && !subjects.contains(&Subject::Kernel);
    let what = if procedures_only { "procedures" } else { "kernels" };
    format!("{} {what}: {}\n", verdicts.len(), parts.join(", "))
}
