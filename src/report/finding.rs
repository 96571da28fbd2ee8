//! One finding for the terminal: its lines, and what is said below them.
//!
//! Input: a [`Finding`] of a report. Output: text. Establishes: nothing. Reference: none.

use super::help;
use super::snippet::{Label, Level, Message, Style, render};
use super::source::{SourceFiles, SourceText};
use super::text::{count, launch_text};
use crate::finding::{
    AccessKind, AccessReport, Defect, Finding, KernelReport, ParameterValue, Step, StepKind, TraceStep,
};
use crate::ptx::mangled::human;
use crate::span::{Origin, SourcePosition};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// What is said of a line of a header.
pub(crate) const INLINED: &str = "inlined from here";

/// A place that owns its source file, so that labels can borrow it.
pub(super) struct Place {
    /// `None` is the input itself.
    pub(super) file: Option<Arc<SourceText>>,
    range: Range<usize>,
}

impl Place {
    pub(super) fn of(origin: &Origin, input: &SourceText, files: &mut SourceFiles) -> Place {
        match origin.position.as_ref().and_then(|position| Place::at(position.own(), files)) {
            Some(place) => place,
            None => Place { file: None, range: input.range(origin.span) },
        }
    }

    /// A place in a source, if it is at hand.
    fn at(position: &SourcePosition, files: &mut SourceFiles) -> Option<Place> {
        files.place(position).map(|(file, range)| Place { file: Some(file), range })
    }

    pub(super) fn label<'a>(&'a self, input: &'a SourceText, text: String, primary: bool) -> Label<'a> {
        let source = self.file.as_deref().unwrap_or(input);
        Label { source, range: self.range.clone(), text, primary }
    }
}

pub(super) fn finding_snippet(
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
    let array = finding.array.as_ref().map(|array| format!(" on `{}`", human(array))).unwrap_or_default();
    let kind = if finding.kind.is_empty() { String::new() } else { format!("{} ", finding.kind) };
    let what = match finding.defect {
        Defect::Race if finding.same_value => format!("same-value race{array}: both threads write one value"),
        Defect::Race => format!("{kind}race{array}"),
        Defect::Divergence if finding.kind == "warp" => "not all lanes that the mask names come to this".to_string(),
        Defect::Divergence => "barrier divergence: not all threads of a block arrive".to_string(),
        Defect::Deadlock => format!("{kind}deadlock"),
        Defect::BarrierError => match finding.kind.as_str() {
            "number" => "a barrier with a number that does not exist".to_string(),
            "count" => "a barrier with a thread count that it may not have".to_string(),
            "member" => "the mask of this operation leaves out the thread that executes it".to_string(),
            "arrives-twice" => "a thread comes twice to a barrier before it completes".to_string(),
            "reuse" => "two uses of a barrier may mix".to_string(),
            "mixed" => "a barrier is used for two kinds of operations at once".to_string(),
            "warp-group" => "not all threads of a warp group execute this together".to_string(),
            _ => "an mbarrier object is used against its rules".to_string(),
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
pub(super) fn facts(
    report: &KernelReport,
    finding: &Finding,
    before: Option<&Finding>,
    input: &SourceText,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(array) = &finding.array {
        let space = finding.space.map(|space| format!(" ({space})")).unwrap_or_default();
        let offset = finding.offset.map(|offset| format!(", byte offset {offset}")).unwrap_or_default();
        notes.push(format!("array: {}{space}{offset}", human(array)));
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
    if !finding.waits.is_empty() {
        notes.push(waits(finding));
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
pub(super) fn equations(values: &[(String, String)]) -> String {
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

/// Who waits for whom, one a line.
fn waits(finding: &Finding) -> String {
    let lines = finding.waits.iter().map(|wait| format!("\n  {}", wait.text));
    format!("{}{}", waits_title(finding), lines.collect::<String>())
}

/// What the links are.
fn waits_title(finding: &Finding) -> &'static str {
    if finding.is_cycle { "these wait for each other:" } else { "who waits for whom:" }
}

/// The steps of the two threads, one a line; `>` marks those at fault.
fn interleaving(steps: &[Step]) -> String {
    let mut text = "in this order (`>` marks the defect):".to_string();
    for step in steps {
        let mark = if step.at_fault { '>' } else { ' ' };
        let _ = write!(text, "\n{mark} {}: {}", step_text(step), step.origin.told());
    }
    text
}

fn step_text(step: &Step) -> String {
    let [tx, ty, tz] = step.thread;
    let [bx, by, bz] = step.block;
    let bytes = || {
        let array = step.array.as_ref().map(|array| format!(" of {}", human(array))).unwrap_or_default();
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
pub(super) fn whereabouts(origin: &Origin, source_shown: bool, input: &SourceText) -> Vec<String> {
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
