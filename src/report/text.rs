//! The terminal report.
//!
//! Input: [`KernelReport`]s and diagnostics. Output: text, the verdict line first, then what is
//! wrong and where, then what the verdict rests on.

use super::help;
use super::outside;
use super::snippet::{Label, Level, Message, Paint, Style, paint, printable, render, screen};
use super::source::{SourceFiles, SourceText};
use crate::diagnostic::{Diagnostic, Severity};
use crate::finding::{
    AccessKind, AccessReport, Defect, Finding, KernelReport, ParameterValue, Reason, Step, StepKind, Subject,
    TraceStep, Verdict,
};
use crate::geometry::Geometry;
use crate::ptx::mangled;
use crate::span::{Origin, SourcePosition, Span};
use crate::stats::Cost;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// Findings of one kernel that are shown with their lines; JSON has them all.
const MOST_FINDINGS: usize = 5;

/// What is said of a line of a header.
pub(crate) const INLINED: &str = "inlined from here";

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
        list(&mut output, "holds when", &report.conditions);
        return output;
    }
    let mut files = SourceFiles::beside(&report.file);
    for (index, finding) in report.findings.iter().take(MOST_FINDINGS).enumerate() {
        let before = index.checked_sub(1).map(|before| &report.findings[before]);
        let notes = facts(report, finding, before, source);
        output.push_str(&finding_snippet(finding, notes, source, &mut files, style));
    }
    if report.findings.len() > MOST_FINDINGS {
        let hidden = report.findings.len() - MOST_FINDINGS;
        let _ = writeln!(output, "... and {hidden} more findings (--format json lists them all)\n");
    }
    output.push_str(&reasons(&report.reasons, source, &mut files, style));
    output.push_str(&diagnostics(&report.diagnostics, source, style));
    // What is unsupported was not checked: counts and assumptions would say too much.
    if report.verdict != Verdict::Unsupported {
        output.push_str(&details(report));
    }
    if let Some(next) = help::next(report) {
        let _ = writeln!(output, "  next: {}", printable(&next));
    }
    output.push_str(&costs(&report.costs));
    output
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
        Verdict::Defect(_) if report.is_known() => " (known)",
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
    let shown = 1 + (1..3).rev().find(|&axis| sizes[axis] != Some(1)).unwrap_or(0);
    let texts = sizes[..shown].iter().map(|size| size.map_or("*".to_string(), |size| size.to_string()));
    texts.collect::<Vec<_>>().join(",")
}

fn details(report: &KernelReport) -> String {
    let mut output = String::new();
    if let Some(execution) = report.execution {
        let seconds = report.time_ms as f64 / 1000.0;
        let instructions = count(execution.instructions, "instruction", "instructions");
        let threads = count(execution.threads, "thread", "threads");
        let _ = writeln!(output, "  ran: {instructions} of {threads}; one execution proves nothing about others");
        let _ = writeln!(output, "  time: {seconds:.1} s");
        return output;
    }
    list(&mut output, "holds when", &report.conditions);
    output.push_str(&outside::lines(report));
    // Where a defect was found before anything was proved, there is nothing to count.
    if report.findings.is_empty() || !report.checked.is_nothing() || report.subject == Subject::Procedure {
        let _ = writeln!(output, "  checked: {}", checked_text(report));
    }
    if !report.inferred.is_empty() {
        let values = report.inferred.iter().map(|(name, value)| format!("{name} = {value}"));
        let _ = writeln!(output, "  inferred: {}", values.collect::<Vec<_>>().join(", "));
    }
    list(&mut output, "assumptions", &report.assumptions);
    let seconds = report.time_ms as f64 / 1000.0;
    let candidates = report.candidates;
    let invariants = match candidates.tried {
        0 => String::new(),
        tried => format!(", {} of {tried} invariant candidates kept", candidates.kept),
    };
    let _ = writeln!(output, "  time: {seconds:.1} s{invariants}");
    output
}

fn list(output: &mut String, title: &str, items: &[String]) {
    if !items.is_empty() {
        let _ = writeln!(output, "  {title}:");
    }
    for item in items {
        let _ = writeln!(output, "  - {}", printable(item));
    }
}

/// A line a stage, and their sum.
fn costs(stages: &[(&'static str, Cost)]) -> String {
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
    output
}

fn checked_text(report: &KernelReport) -> String {
    let checked = &report.checked;
    if report.subject == Subject::Procedure {
        let assertions = count(checked.assertions, "assertion", "assertions");
        return format!("{assertions}, {}", count(checked.loops, "loop", "loops"));
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

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A place that owns its source file, so that labels can borrow it.
struct Place {
    /// `None` is the input itself.
    file: Option<Arc<SourceText>>,
    range: Range<usize>,
}

impl Place {
    fn of(origin: &Origin, input: &SourceText, files: &mut SourceFiles) -> Place {
        match origin.position.as_ref().and_then(|position| Place::at(position.own(), files)) {
            Some(place) => place,
            None => Place { file: None, range: input.range(origin.span) },
        }
    }

    /// A place in a source, if it is at hand.
    fn at(position: &SourcePosition, files: &mut SourceFiles) -> Option<Place> {
        files.place(position).map(|(file, range)| Place { file: Some(file), range })
    }

    fn label<'a>(&'a self, input: &'a SourceText, text: String, primary: bool) -> Label<'a> {
        let source = self.file.as_deref().unwrap_or(input);
        Label { source, range: self.range.clone(), text, primary }
    }
}

fn finding_snippet(
    finding: &Finding,
    mut notes: Vec<String>,
    input: &SourceText,
    files: &mut SourceFiles,
    style: Style,
) -> String {
    let mut parts: Vec<(&Origin, String)> = Vec::new();
    // A thread's part at the barrier says already that it is the barrier.
    let is_told = |barrier: &Arc<Origin>| finding.accesses.iter().any(|access| access.origin.span == barrier.span);
    if let Some(barrier) = finding.barrier.as_ref().filter(|barrier| !is_told(barrier)) {
        parts.push((barrier, barrier_label(finding)));
    }
    parts.extend(finding.accesses.iter().map(|access| (&*access.origin, access_text(access))));
    parts.extend(finding.related.iter().map(|(what, origin)| (&**origin, what.clone())));
    let places: Vec<Place> = parts.iter().map(|(origin, _)| Place::of(origin, input, files)).collect();
    let inlined = finding.inlined();
    let headers: Vec<Place> = inlined.iter().filter_map(|position| Place::at(position, files)).collect();
    let labels = places.iter().zip(&parts).enumerate();
    let labels = labels.map(|(index, (place, (_, text)))| place.label(input, text.clone(), index == 0));
    let labels = labels.chain(headers.iter().map(|place| place.label(input, INLINED.to_string(), false))).collect();
    let mut lines_told: Vec<u32> = Vec::new();
    for ((origin, _), place) in parts.iter().zip(&places) {
        if !lines_told.contains(&origin.line) {
            lines_told.push(origin.line);
            notes.extend(whereabouts(origin, place.file.is_some(), input));
        }
    }
    render(
        &Message {
            level: level(finding.confirmed),
            code: finding.code(),
            title: headline(finding),
            labels,
            notes,
            replay: finding.replay.clone(),
        },
        style,
    )
}

fn level(confirmed: bool) -> Level {
    if confirmed { Level::Error } else { Level::Warning }
}

/// What is wrong, in one line.
pub(crate) fn headline(finding: &Finding) -> String {
    let array = finding.array.as_ref().map(|array| format!(" on `{array}`")).unwrap_or_default();
    let kind = if finding.kind.is_empty() { String::new() } else { format!("{} ", finding.kind) };
    let what = match finding.defect {
        Defect::Race if finding.same_value => format!("same-value race{array}: both threads write one value"),
        Defect::Race => format!("{kind}race{array}"),
        Defect::Divergence => "barrier divergence: not all threads of a block arrive".to_string(),
        Defect::Deadlock => format!("{kind}deadlock"),
        Defect::BarrierError => match finding.kind.as_str() {
            "number" => "a barrier with a number that does not exist".to_string(),
            "count" => "a barrier with a thread count that it may not have".to_string(),
            "member" => "the mask of this operation leaves out the thread that executes it".to_string(),
            "arrives-twice" => "a thread comes twice to a barrier before it completes".to_string(),
            _ => "a barrier is used for two kinds of operations at once".to_string(),
        },
        Defect::Assertion => match finding.kind.as_str() {
            "invariant-entry" => "the invariant does not hold on entry to its loop".to_string(),
            "invariant-maintenance" => "a round of the loop does not maintain its invariant".to_string(),
            "invariant" => "the invariant does not hold in some round".to_string(),
            "barrier-invariant" => "the barrier invariant does not hold".to_string(),
            "barrier-invariant-access" => format!("the barrier invariant reads what another thread may write{array}"),
            "barrier-invariant-uniform" => {
                "the barrier invariant speaks of a register that differs between threads".to_string()
            }
            "user-assertion" | "assertion" => "the assertion fails".to_string(),
            "precondition" => "the precondition of this call does not hold".to_string(),
            "postcondition" => "the postcondition does not hold where the procedure returns".to_string(),
            _ => format!("{kind}assertion fails{array}"),
        },
    };
    if finding.confirmed { what } else { format!("possible: {what}") }
}

fn barrier_label(finding: &Finding) -> String {
    match finding.defect {
        Defect::Assertion if finding.kind == "barrier-invariant-uniform" => "this barrier".to_string(),
        Defect::Assertion if finding.kind.starts_with("barrier-invariant") => "this barrier invariant".to_string(),
        Defect::Assertion if finding.kind.starts_with("invariant") => "this invariant".to_string(),
        Defect::Assertion if finding.kind == "precondition" => "this call".to_string(),
        Defect::Assertion if finding.kind == "postcondition" => "this return".to_string(),
        Defect::Assertion => "this assertion".to_string(),
        _ => "this barrier".to_string(),
    }
}

/// One thread's part in a finding, in words.
pub(crate) fn access_text(access: &AccessReport) -> String {
    let [tx, ty, tz] = access.thread;
    let [bx, by, bz] = access.block;
    let who = format!("thread ({tx},{ty},{tz}) of block ({bx},{by},{bz})");
    let bytes = count(u64::from(access.bytes), "byte", "bytes");
    match access.op {
        AccessKind::Read => format!("{who} reads {bytes}"),
        AccessKind::Write => format!("{who} writes {bytes}"),
        AccessKind::Atomic => format!("{who} updates {bytes} atomically"),
        AccessKind::Arrive if is_of_warp(access) => format!("{who} executes this"),
        AccessKind::Arrive => format!("{who} arrives at this barrier"),
        AccessKind::Absent => format!("{who} does not arrive at this barrier"),
    }
}

/// Whether the instruction is one of a warp, and no barrier of the block.
fn is_of_warp(access: &AccessReport) -> bool {
    ["shfl", "vote", "match", "redux", "elect", "bar.warp"].iter().any(|opcode| access.origin.text.starts_with(opcode))
}

/// What is known of a finding; `before` is the one above it, whose launch is not told again.
fn facts(report: &KernelReport, finding: &Finding, before: Option<&Finding>, input: &SourceText) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(array) = &finding.array {
        let space = finding.space.map(|space| format!(" ({space})")).unwrap_or_default();
        let offset = finding.offset.map(|offset| format!(", byte offset {offset}")).unwrap_or_default();
        notes.push(format!("array: {array}{space}{offset}"));
    }
    if let Some(known) = &finding.known {
        notes.push(format!("known: {known}"));
    }
    let told = before.is_some_and(|before| before.launch == finding.launch && before.params == finding.params);
    if !told {
        notes.extend(values_text(report, finding));
    }
    match finding.similar {
        0 => {}
        1 => notes.push("1 more like this, by other instructions of these lines".to_string()),
        similar => notes.push(format!("{similar} more like this, by other instructions of these lines")),
    }
    if let Some(help) = help::of(finding, input) {
        notes.push(format!("help: {help}"));
    }
    if !finding.message.is_empty() {
        notes.push(finding.message.clone());
    }
    if !finding.values.is_empty() {
        notes.push(format!("with {}", equations(&finding.values)));
    }
    if !finding.trace.is_empty() {
        notes.push(trace(&finding.trace));
    }
    if !finding.interleaving.is_empty() {
        notes.push(interleaving(&finding.interleaving));
    }
    if !finding.confirmed {
        notes.push("not confirmed: the proof failed here, but no concrete execution was shown".to_string());
    }
    notes
}

/// The launch and the scalars, with a mark on those that the tool chose.
fn values_text(report: &KernelReport, finding: &Finding) -> Vec<String> {
    let chosen = report.chosen(finding);
    let is_chosen = |name: &str| chosen.contains(&name);
    let mut notes = Vec::new();
    if let Some(launch) = &finding.launch {
        let mark = match (is_chosen("block"), is_chosen("grid")) {
            (true, true) => " (chosen)",
            (true, false) => " (block chosen)",
            (false, true) => " (grid chosen)",
            (false, false) => "",
        };
        notes.push(format!("launch: {}{mark}", launch_text(launch)));
    }
    if !finding.params.is_empty() {
        let mark = |name: &str| if is_chosen(name) { " (chosen)" } else { "" };
        let values = finding.params.iter().map(|(name, value)| parameter_text(name, *value) + mark(name));
        notes.push(format!("parameters: {}", values.collect::<Vec<_>>().join(", ")));
    }
    notes
}

/// `x = 1, y = 2`
fn equations(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The blocks on the way, one a line.
fn trace(steps: &[TraceStep]) -> String {
    let mut text = "on this way:".to_string();
    for step in steps {
        let values = if step.assigned.is_empty() { String::new() } else { format!(": {}", equations(&step.assigned)) };
        let _ = write!(text, "\n  line {}, {}{values}", step.origin.line, step.label);
    }
    text
}

/// The steps of the two threads, one a line; `>` marks those at fault.
fn interleaving(steps: &[Step]) -> String {
    let mut text = "in this order (`>` marks the defect):".to_string();
    for step in steps {
        let mark = if step.at_fault { '>' } else { ' ' };
        let place = match &step.origin.position {
            Some(position) => format!("line {}, PTX {}", position.own().line, step.origin.line),
            None => format!("PTX line {}", step.origin.line),
        };
        let _ = write!(text, "\n{mark} {}: {place}", step_text(step));
    }
    text
}

fn step_text(step: &Step) -> String {
    let [tx, ty, tz] = step.thread;
    let [bx, by, bz] = step.block;
    let bytes = || {
        let array = step.array.as_ref().map(|array| format!(" of {array}")).unwrap_or_default();
        let offset = step.offset.map(|offset| format!(" at byte {offset}")).unwrap_or_default();
        count(u64::from(step.bytes), "byte", "bytes") + &array + &offset
    };
    let what = match step.kind {
        StepKind::Read => format!("reads {}", bytes()),
        StepKind::Write => format!("writes {}", bytes()),
        StepKind::Atomic => format!("updates {}", bytes()),
        StepKind::Barrier => "comes to a barrier".to_string(),
        StepKind::Fence => "executes a fence".to_string(),
        StepKind::Exit => "ends".to_string(),
    };
    format!("({tx},{ty},{tz}) of block ({bx},{by},{bz}) {what}")
}

/// `n = -1 (0xffffffff)`
pub(crate) fn parameter_text(name: &str, value: ParameterValue) -> String {
    format!("{name} = {} ({:#x})", value.signed(), value.unsigned())
}

/// The other way to the same place: the PTX behind a source line, or the source line behind PTX.
fn whereabouts(origin: &Origin, source_shown: bool, input: &SourceText) -> Vec<String> {
    let mut notes = Vec::new();
    if source_shown {
        notes.push(format!("PTX: {}:{}: {}", input.name(), origin.line, origin.text));
    }
    if let Some(position) = &origin.position {
        let own = position.own();
        if !source_shown {
            notes.push(format!("PTX line {} is from {}:{} (not at hand)", origin.line, own.file, own.line));
        }
        if let Some(header) = position.inlined() {
            notes.push(format!("inlined from {}:{}", header.file, header.line));
        }
        let mut outer = own.inlined_at.as_ref();
        while let Some(call) = outer {
            notes.push(format!("inlined at {}:{}", call.file, call.line));
            outer = call.inlined_at.as_ref();
        }
    }
    notes
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
