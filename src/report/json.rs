//! The JSON report: one object for a run.
//!
//! Input: [`KernelReport`]s and input errors. Output: the object of DESIGN section 6 (book/src/json.md).
//! Establishes: names of fields never change, new ones may come; a free size is `null`.

use super::causes::{Cause, causes};
use super::finding::INLINED;
use super::fingerprint::{Identities, Identity};
use super::help;
use super::invariants::LoopObject;
use super::locus::Locus;
use super::run::{RunFacts, Shard};
use super::source::{SourceFiles, SourceText};
use crate::diagnostic::{Diagnostic, Severity};
use crate::finding::redundant::CLAIM;
use crate::finding::{
    AccessReport, Candidates, Checked, Exact, Fate, Finding, KernelReport, Launched, MixedBarrier, Mixing, Reason,
    Redundant, Step, TraceStep, Wait,
};
use crate::geometry::Geometry;
use crate::ptx::mangled;
use crate::span::Origin;
use crate::stats::Cost;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The version of docs/report.schema.json.
pub(super) const SCHEMA: u32 = 1;

/// The whole object.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    tool: &'static str,
    version: &'static str,
    /// The version of docs/report.schema.json: new fields do not change it.
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<&'a Shard>,
    kernels: Vec<Kernel<'a>>,
    unsupported: Vec<Cause<'a>>,
    errors: &'a [InputError],
}

/// Something wrong with an input: no kernel could be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputError {
    /// The input file.
    pub(crate) file: String,
    /// The kernel, when the error is about one.
    pub(crate) entry: Option<String>,
    /// Stable code.
    pub(crate) code: &'static str,
    /// One sentence.
    pub(crate) message: String,
    /// Line in the input, from 1.
    pub(crate) line: Option<usize>,
    /// Column, from 1.
    pub(crate) column: Option<usize>,
    /// Line and column behind the place, for SARIF.
    #[serde(skip)]
    pub(crate) end: Option<(usize, usize)>,
    /// Further lines: what is allowed, what to do, what a compiler says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

impl InputError {
    /// A diagnostic with its first place as line and column.
    pub fn new(diagnostic: &Diagnostic, source: &SourceText, entry: Option<&str>) -> Self {
        let place = source.place_of(diagnostic);
        let locus = Locus::of_diagnostic(diagnostic, source);
        InputError {
            file: source.name().to_string(),
            entry: entry.map(str::to_string),
            code: diagnostic.code,
            message: diagnostic.message.clone(),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            end: locus.map(|locus| locus.end),
            notes: diagnostic.notes.clone(),
        }
    }
}

#[derive(Serialize)]
struct Kernel<'a> {
    file: &'a str,
    entry: &'a str,
    /// The name as the source has it, where `entry` is mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    demangled: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    verdict: &'static str,
    confirmed: bool,
    launch: Geometry,
    #[serde(skip_serializing_if = "Option::is_none")]
    launched: Option<LaunchedObject<'a>>,
    assumptions: &'a [String],
    conditions: &'a [String],
    checked: Counts,
    findings: Vec<FindingObject<'a>>,
    /// Of the same shape: defects that need values which no host is likely to pass.
    outside: Vec<FindingObject<'a>>,
    reasons: Vec<ReasonObject<'a>>,
    /// With --redundant.
    #[serde(skip_serializing_if = "Option::is_none")]
    redundant: Option<Vec<RedundantObject<'a>>>,
    /// Where the project says that it knows of a verdict without findings.
    known: Option<&'a str>,
    /// What to do next.
    next: Option<String>,
    candidates: CandidateCounts,
    /// With --invariants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    invariants: Vec<LoopObject<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    inferred: &'a BTreeMap<String, bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution: Option<ExecutionCounts>,
    /// Of a proof by one execution: what was executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Exact>,
    time_ms: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stats: Vec<StageObject>,
}

/// Where a launch is known from.
#[derive(Serialize)]
struct LaunchedObject<'a> {
    from: &'a str,
    params: BTreeMap<&'a str, i128>,
}

/// What a stage cost; effort is about nanoseconds.
#[derive(Serialize)]
struct StageObject {
    stage: &'static str,
    time_us: u128,
    effort: u128,
    queries: u64,
    contexts: u64,
    candidates: u64,
}

#[derive(Serialize)]
struct Counts {
    accesses: u64,
    pairs_same_block: u64,
    pairs_different_blocks: u64,
    barriers: u64,
    loops: u64,
    assertions: u64,
    rules: u64,
}

#[derive(Serialize)]
struct ExecutionCounts {
    threads: u64,
    instructions: u64,
}

#[derive(Serialize)]
struct CandidateCounts {
    tried: u64,
    kept: u64,
}

#[derive(Serialize)]
struct FindingObject<'a> {
    code: &'static str,
    kind: &'a str,
    /// Where it is: the source where `.loc` tells it, otherwise the input.
    file: &'a str,
    line: Option<u32>,
    confirmed: bool,
    array: Option<&'a str>,
    space: Option<&'a str>,
    offset: Option<i128>,
    accesses: Vec<AccessObject<'a>>,
    barrier: Option<Place<'a>>,
    params: BTreeMap<&'a str, i64>,
    launch: Option<Geometry>,
    message: &'a str,
    replay: Option<&'a str>,
    interleaving: Vec<StepObject<'a>>,
    /// Of a deadlock: who waits for whom, the last one for the first if it is a cycle.
    waits: Vec<WaitObject<'a>>,
    cycle: bool,
    /// Generations of a barrier that may mix.
    mixing: Option<MixingObject>,
    related: Vec<RelatedObject<'a>>,
    trace: Vec<TraceObject<'a>>,
    values: BTreeMap<&'a str, &'a str>,
    /// `block`, `grid` and the parameters whose values the tool chose.
    chosen: Vec<&'a str>,
    similar: u32,
    /// A race in which both threads write one value.
    same_value: bool,
    help: Option<String>,
    /// Tells it from others, whatever lines come and go around it.
    fingerprint: Option<String>,
    /// Where the project says that it knows of it.
    known: Option<&'a str>,
}

/// Threads that wait for ever.
#[derive(Serialize)]
struct WaitObject<'a> {
    thread: [u32; 3],
    block: [u32; 3],
    object: &'a str,
    generation: Option<u64>,
    text: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

#[derive(Serialize)]
struct MixingObject {
    barrier: Option<u32>,
    /// Of an mbarrier object: bytes in shared memory.
    object: Option<u32>,
    earlier: u64,
    later: u64,
}

/// Another place that a finding is about.
#[derive(Serialize)]
struct RelatedObject<'a> {
    what: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

/// A block on the way to a defect.
#[derive(Serialize)]
struct TraceObject<'a> {
    label: &'a str,
    input_line: u32,
    assigned: BTreeMap<&'a str, &'a str>,
}

/// What a thread did in the execution that the command replays.
#[derive(Serialize)]
struct StepObject<'a> {
    op: &'static str,
    bytes: u32,
    thread: [u32; 3],
    block: [u32; 3],
    array: Option<&'a str>,
    offset: Option<i128>,
    /// False for the steps before the defect.
    at_fault: bool,
    #[serde(flatten)]
    place: Place<'a>,
}

#[derive(Serialize)]
struct AccessObject<'a> {
    op: &'static str,
    bytes: u32,
    thread: [u32; 3],
    block: [u32; 3],
    #[serde(flatten)]
    place: Place<'a>,
}

/// A barrier or fence, and whether the kernel can do without it.
#[derive(Serialize)]
struct RedundantObject<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    answer: &'static str,
    reason: Option<&'a str>,
    /// What `can-go` says.
    claim: Option<&'static str>,
    together: bool,
    executions: u32,
    not_replayed: Option<&'a str>,
}

/// `file` and `line` are the `.loc` position, null without one; `ptx_line` is always there.
#[derive(Serialize)]
pub(super) struct Place<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    ptx_line: u32,
    ptx: &'a str,
}

#[derive(Serialize)]
struct ReasonObject<'a> {
    code: &'a str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    ptx_line: Option<u64>,
}

/// The report as indented JSON text with a line end. `source` gives the input text of a report.
pub fn print<'a>(
    reports: &'a [KernelReport],
    errors: &'a [InputError],
    source: impl Fn(&KernelReport) -> &'a SourceText,
) -> String {
    print_run(reports, errors, &RunFacts::default(), source)
}

/// The same, with what is to be said of the run as a whole.
pub(crate) fn print_run<'a>(
    reports: &'a [KernelReport],
    errors: &'a [InputError],
    run: &RunFacts,
    source: impl Fn(&KernelReport) -> &'a SourceText,
) -> String {
    let kernels = reports.iter().map(|report| kernel(report, source(report))).collect();
    let unsupported = causes(reports);
    let report = Report {
        tool: "gpuvcc",
        version: env!("CARGO_PKG_VERSION"),
        schema: SCHEMA,
        exit: run.exit,
        shard: run.shard.as_ref(),
        kernels,
        unsupported,
        errors,
    };
    match serde_json::to_string_pretty(&report) {
        Ok(text) => text + "\n",
        // Only maps with keys other than strings, or a failing writer, could fail here.
        Err(error) => panic!("report: serde_json refused the report: {error}"),
    }
}

/// The object of one kernel, as it stands among `kernels`.
pub(super) fn kernel_object(report: &KernelReport, source: &SourceText) -> Box<RawValue> {
    match serde_json::value::to_raw_value(&kernel(report, source)) {
        Ok(object) => object,
        Err(error) => panic!("report: serde_json refused a kernel: {error}"),
    }
}

fn kernel<'a>(report: &'a KernelReport, source: &SourceText) -> Kernel<'a> {
    let mut reasons: Vec<ReasonObject> = report.reasons.iter().map(reason).collect();
    let unsupported = report.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Unsupported);
    reasons.extend(unsupported.map(|diagnostic| diagnostic_reason(diagnostic, source)));
    let identities = Identities::of(report, source, &mut SourceFiles::beside(&report.file));
    let fingerprints = identities.findings.iter().map(Identity::fingerprint);
    Kernel {
        file: &report.file,
        entry: &report.entry,
        demangled: mangled::demangled(&report.entry),
        target: report.target.as_deref(),
        verdict: report.verdict.name(),
        confirmed: report.verdict.confirmed(),
        launch: report.launch,
        launched: report.launched.as_ref().map(launched),
        assumptions: &report.assumptions,
        conditions: &report.conditions,
        checked: counts(&report.checked),
        findings: report
            .findings
            .iter()
            .zip(fingerprints)
            .map(|(found, id)| finding(found, report, source, Some(id)))
            .collect(),
        outside: report.outside.iter().map(|found| finding(found, report, source, None)).collect(),
        reasons,
        redundant: report.redundant.as_ref().map(|all| all.iter().map(redundant).collect()),
        known: report.known.as_deref(),
        next: help::next(report),
        candidates: candidates(report.candidates),
        invariants: report.invariants.iter().map(LoopObject::of).collect(),
        inferred: &report.inferred,
        execution: report
            .execution
            .map(|execution| ExecutionCounts { threads: execution.threads, instructions: execution.instructions }),
        exact: report.exact,
        time_ms: report.time_ms,
        stats: report.costs.iter().map(|(stage, cost)| stage_object(stage, cost)).collect(),
    }
}

fn launched(launched: &Launched) -> LaunchedObject<'_> {
    let params = launched.params.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    LaunchedObject { from: &launched.from, params }
}

fn counts(checked: &Checked) -> Counts {
    let Checked { accesses, pairs_same_block, pairs_different_blocks, barriers, loops, assertions, rules } = *checked;
    Counts { accesses, pairs_same_block, pairs_different_blocks, barriers, loops, assertions, rules }
}

fn candidates(candidates: Candidates) -> CandidateCounts {
    CandidateCounts { tried: candidates.tried, kept: candidates.kept }
}

fn finding<'a>(
    finding: &'a Finding,
    report: &'a KernelReport,
    source: &SourceText,
    fingerprint: Option<String>,
) -> FindingObject<'a> {
    let primary = finding.primary();
    let position = primary.and_then(|origin| origin.position.as_ref()).map(|position| position.own());
    FindingObject {
        code: finding.code(),
        kind: &finding.kind,
        file: position.map_or(&report.file, |position| &position.file),
        line: position.map(|position| position.line).or(primary.map(|origin| origin.line)),
        confirmed: finding.confirmed,
        array: finding.array.as_deref(),
        space: finding.space,
        offset: finding.offset,
        accesses: finding.accesses.iter().map(access).collect(),
        barrier: finding.barrier.as_deref().map(place),
        params: finding.params.iter().map(|(name, value)| (name.as_str(), value.signed())).collect(),
        launch: finding.launch,
        message: &finding.message,
        replay: finding.replay.as_deref(),
        interleaving: finding.interleaving.iter().map(step).collect(),
        waits: finding.waits.iter().map(wait).collect(),
        cycle: finding.is_cycle,
        mixing: finding.mixing.as_ref().map(mixing),
        related: related_places(finding, report),
        trace: finding.trace.iter().map(trace).collect(),
        values: texts(&finding.values),
        chosen: report.chosen(finding),
        similar: finding.similar,
        same_value: finding.same_value,
        help: help::of(finding, source),
        fingerprint,
        known: finding.known.as_deref(),
    }
}

/// The places that a finding names, and those of code that was inlined from other files.
fn related_places<'a>(finding: &'a Finding, report: &'a KernelReport) -> Vec<RelatedObject<'a>> {
    let named = finding.related.iter().map(|(what, origin)| related(what, origin, report));
    let origins = finding.barrier.iter().chain(finding.accesses.iter().map(|access| &access.origin));
    let inlined = finding.inlined().into_iter().filter_map(|header| {
        let origin = origins.clone().find(|origin| origin.position.as_deref() == Some(header))?;
        let column = (header.column > 0).then_some(header.column);
        let place = Place { file: Some(&header.file), line: Some(header.line), column, ..place(origin) };
        Some(RelatedObject { what: INLINED, place })
    });
    let waits = finding.waits.iter().map(|wait| related(&wait.text, &wait.origin, report));
    named.chain(waits).chain(inlined).collect()
}

/// As for the finding itself: without a source line the one of the input.
fn related<'a>(what: &'a str, origin: &'a Origin, report: &'a KernelReport) -> RelatedObject<'a> {
    let place = place(origin);
    let (file, line) = (place.file.or(Some(&report.file)), place.line.or(Some(origin.line)));
    RelatedObject { what, place: Place { file, line, ..place } }
}

fn trace(step: &TraceStep) -> TraceObject<'_> {
    TraceObject { label: &step.label, input_line: step.origin.line, assigned: texts(&step.assigned) }
}

fn texts(pairs: &[(String, String)]) -> BTreeMap<&str, &str> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn mixing(mixing: &Mixing) -> MixingObject {
    let [earlier, later] = mixing.generations;
    let (barrier, object) = match mixing.barrier {
        MixedBarrier::Number(number) => (Some(number), None),
        MixedBarrier::Object(offset) => (None, Some(offset)),
    };
    MixingObject { barrier, object, earlier, later }
}

fn wait(wait: &Wait) -> WaitObject<'_> {
    let Wait { thread, block, object, generation, text, origin } = wait;
    WaitObject { thread: *thread, block: *block, object, generation: *generation, text, place: place(origin) }
}

fn step(step: &Step) -> StepObject<'_> {
    StepObject {
        op: step.kind.name(),
        bytes: step.bytes,
        thread: step.thread,
        block: step.block,
        array: step.array.as_deref(),
        offset: step.offset,
        at_fault: step.at_fault,
        place: place(&step.origin),
    }
}

fn access(access: &AccessReport) -> AccessObject<'_> {
    AccessObject {
        op: access.op.name(),
        bytes: access.bytes,
        thread: access.thread,
        block: access.block,
        place: place(&access.origin),
    }
}

pub(super) fn place(origin: &Origin) -> Place<'_> {
    let position = origin.position.as_ref().map(|position| position.own());
    Place {
        file: position.map(|position| &*position.file),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column).filter(|&column| column > 0),
        ptx_line: origin.line,
        ptx: &origin.text,
    }
}

fn redundant(one: &Redundant) -> RedundantObject<'_> {
    RedundantObject {
        place: place(&one.origin),
        answer: one.fate.name(),
        reason: one.reason.as_deref(),
        claim: (one.fate == Fate::CanGo).then_some(CLAIM),
        together: one.together,
        executions: one.executions,
        not_replayed: one.unreplayed.as_deref(),
    }
}

fn reason(reason: &Reason) -> ReasonObject<'_> {
    let position = reason.origin.as_ref().and_then(|origin| origin.position.as_ref());
    let position = position.map(|position| position.own());
    ReasonObject {
        code: reason.code,
        message: &reason.message,
        file: position.map(|position| &*position.file),
        line: position.map(|position| position.line),
        ptx_line: reason.origin.as_ref().map(|origin| u64::from(origin.line)),
    }
}

fn diagnostic_reason<'a>(diagnostic: &'a Diagnostic, source: &SourceText) -> ReasonObject<'a> {
    let line = source.place_of(diagnostic).map(|(line, _)| line as u64);
    ReasonObject { code: diagnostic.code, message: &diagnostic.message, file: None, line: None, ptx_line: line }
}

fn stage_object(stage: &'static str, cost: &Cost) -> StageObject {
    let Cost { time, effort, queries, contexts, candidates } = *cost;
    let (time_us, effort) = (time.as_micros(), effort.time().as_nanos());
    StageObject { stage, time_us, effort, queries, contexts, candidates }
}
