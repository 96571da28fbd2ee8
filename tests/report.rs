//! Reports made by hand, and what the terminal, JSON and SARIF show of them.

use crate::support::formats;
use crate::support::schema;
use gpuvcc::diagnostic::Diagnostic;
use gpuvcc::finding::{
    AccessKind, AccessReport, Candidates, Checked, Defect, Finding, KernelReport, ParameterValue, Reason, Step,
    StepKind, Verdict,
};
use gpuvcc::geometry::Geometry;
use gpuvcc::report::causes::causes;
use gpuvcc::report::snippet::Style;
use gpuvcc::report::source::SourceText;
use gpuvcc::report::{json, junit, sarif, text};
use gpuvcc::span::{Origin, SourcePosition, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const FILE: &str = "tests/cli/report/scan.ptx";
const PLAIN: Style = Style { color: false, width: None };

fn assert_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn input() -> SourceText {
    let text = std::fs::read_to_string(FILE).expect("the input stands beside this test");
    SourceText::new(FILE, text)
}

/// The origin of the PTX line that holds `text`.
fn origin(text: &str, position: Option<SourcePosition>) -> Arc<Origin> {
    let input = input();
    let start = input.text().find(text).expect("the input has this instruction");
    let line = input.line_column(start).0 as u32;
    Arc::new(Origin {
        span: Span::new(start, start + text.len()),
        line,
        position: position.map(Arc::new),
        text: text.into(),
    })
}

fn position(file: &str, line: u32, column: u32, inlined_at: Option<SourcePosition>) -> Option<SourcePosition> {
    Some(SourcePosition { file: file.into(), line, column, inlined_at: inlined_at.map(Arc::new) })
}

fn access(op: AccessKind, thread: u32, origin: Arc<Origin>) -> AccessReport {
    AccessReport { op, bytes: 4, thread: [thread, 0, 0], block: [0, 0, 0], origin }
}

fn race(file: &str, confirmed: bool) -> Finding {
    let write = origin("st.shared.f32 [%r4], %f1", position(file, 8, 5, None));
    let read = origin("ld.shared.f32 %f2, [%r4+-4]", position(file, 3, 12, position(file, 10, 9, None)));
    Finding {
        defect: Defect::Race,
        confirmed,
        kind: "read-write".to_string(),
        array: Some("tile".to_string()),
        space: Some("shared"),
        offset: Some(12),
        accesses: vec![access(AccessKind::Write, 3, write), access(AccessKind::Read, 4, read)],
        barrier: None,
        params: BTreeMap::from([("n".to_string(), ParameterValue { value: 0xffff_fffe, bits: 32 })]),
        launch: Some(Geometry { block: [Some(256), Some(1), Some(1)], grid: [Some(1); 3] }),
        message: String::new(),
        replay: confirmed.then(|| format!("gpuvcc run {FILE} --entry scan --block 256 --grid 1 --arg n=-2")),
        interleaving: if confirmed { interleaving(file) } else { Vec::new() },
        waits: Vec::new(),
        is_cycle: false,
        mixing: None,
        related: Vec::new(),
        trace: Vec::new(),
        values: Vec::new(),
        similar: 0,
        same_value: false,
        mended: None,
        known: None,
    }
}

fn interleaving(file: &str) -> Vec<Step> {
    let step = |kind, thread, line, at_fault| Step {
        kind,
        bytes: if kind == StepKind::Barrier { 0 } else { 4 },
        thread: [thread, 0, 0],
        block: [0, 0, 0],
        array: (kind != StepKind::Barrier).then(|| "tile".to_string()),
        offset: (kind != StepKind::Barrier).then_some(12),
        at_fault,
        origin: origin(
            if thread == 3 { "st.shared.f32 [%r4], %f1" } else { "ld.shared.f32 %f2, [%r4+-4]" },
            position(file, line, 5, None),
        ),
    };
    vec![step(StepKind::Barrier, 4, 7, false), step(StepKind::Write, 3, 8, true), step(StepKind::Read, 4, 3, true)]
}

fn divergence() -> Finding {
    let barrier = origin("@%p1 bra $done", None);
    let mut parts =
        vec![access(AccessKind::Arrive, 0, barrier.clone()), access(AccessKind::Absent, 1, barrier.clone())];
    parts.iter_mut().for_each(|part| part.bytes = 0);
    Finding {
        defect: Defect::Divergence,
        kind: "barrier".to_string(),
        array: None,
        space: None,
        offset: None,
        barrier: Some(barrier),
        accesses: parts,
        params: BTreeMap::new(),
        message: "thread (1,0,0) has exited".to_string(),
        ..race("scan.cu", true)
    }
}

fn report(verdict: Verdict, findings: Vec<Finding>) -> KernelReport {
    let launch = Geometry { block: [Some(256), Some(1), Some(1)], grid: [None; 3] };
    KernelReport {
        verdict,
        assumptions: vec!["pointers in parameters refer to disjoint arrays".to_string()],
        checked: Checked { accesses: 4, pairs_same_block: 6, pairs_different_blocks: 2, ..Checked::default() },
        findings,
        candidates: Candidates { tried: 12, kept: 7 },
        time_ms: 1234,
        ..KernelReport::new(FILE, "scan", launch)
    }
}

#[test]
fn verified() {
    let mut verified = report(Verdict::Verified, Vec::new());
    let mut shown = text::kernel(&verified, &input(), PLAIN, false);
    shown.push_str(&text::kernel(&verified, &input(), PLAIN, true));
    verified.verdict = Verdict::VerifiedWhen;
    verified.conditions = vec!["gridDim.y == 1".to_string()];
    shown.push_str(&text::kernel(&verified, &input(), PLAIN, false));
    let nothing = KernelReport { checked: Checked::default(), verdict: Verdict::Verified, ..verified.clone() };
    shown.push_str(&text::kernel(&nothing, &input(), PLAIN, true));
    shown.push_str(&text::summary(&[Verdict::Unknown, Verdict::Verified, Verdict::Verified], &BTreeSet::new()));
    assert_snapshot("verified", &shown);
}

#[test]
fn race_with_the_source_at_hand() {
    let report = report(Verdict::Defect(Defect::Race), vec![race("scan.cu", true)]);
    assert_snapshot("race_with_source", &text::kernel(&report, &input(), PLAIN, false));
}

#[test]
fn possible_race_without_the_source() {
    let report = report(Verdict::Possible(Defect::Race), vec![race("gone.cu", false)]);
    assert_snapshot("race_without_source", &text::kernel(&report, &input(), PLAIN, false));
}

#[test]
fn invariant_with_the_values_of_its_registers() {
    let values = "states: %r3 != 7\nfails for thread (2,0,0) of block (0,0,0)\n\
                  %r3 = 7 (0x7) (at the beginning of the round: -6 (0xfffffffa))";
    let finding = Finding {
        kind: "invariant-maintenance".to_string(),
        barrier: Some(origin("ld.shared.f32 %f2, [%r4+-4]", position("scan.cu", 10, 9, None))),
        message: values.to_string(),
        launch: Some(Geometry { block: [Some(4), Some(1), Some(1)], grid: [Some(1); 3] }),
        ..Finding::new(Defect::Assertion, false)
    };
    let report = report(Verdict::Possible(Defect::Assertion), vec![finding]);
    assert_snapshot("invariant", &text::kernel(&report, &input(), PLAIN, false));
}

#[test]
fn divergence_and_more_findings_than_fit() {
    let findings = vec![divergence(), race("scan.cu", false), divergence(), divergence(), divergence(), divergence()];
    let report = report(Verdict::Defect(Defect::Divergence), findings);
    let shown = text::kernel(&report, &input(), PLAIN, false);
    assert!(shown.contains("... and 1 more findings"), "{shown}");
    let first = shown.lines().take(14).collect::<Vec<_>>().join("\n");
    assert_snapshot("divergence", &first);
}

#[test]
fn unsupported_and_unknown() {
    let place = input().text().find("ld.shared").expect("the input has it");
    let diagnostic = Diagnostic::unsupported("unsupported", "`ldmatrix` has no model", Span::new(place, place + 9))
        .label("reads shared memory of other threads")
        .note("leave the kernel out with --entry");
    let unsupported = report(Verdict::Unknown, Vec::new()).unsupported(vec![diagnostic]);
    let mut shown = text::kernel(&unsupported, &input(), PLAIN, false);
    let mut unknown = report(Verdict::Unknown, Vec::new());
    unknown.reasons = vec![Reason {
        code: "unknown",
        message: "the solver ran out of time on this assertion".to_string(),
        origin: Some(origin("st.shared.f32 [%r4], %f1", position("scan.cu", 8, 5, None))),
    }];
    shown.push_str(&text::kernel(&unknown, &input(), PLAIN, false));
    assert_snapshot("unsupported_and_unknown", &shown);
}

#[test]
fn json_and_sarif() {
    let reports = [report(Verdict::Defect(Defect::Race), vec![race("scan.cu", true)])];
    let input = input();
    let error = Diagnostic::error("no-kernel", "`empty.ptx` has no kernel", Span::NONE);
    let errors = [json::InputError::new(&error, &SourceText::new("empty file.ptx", ""), None)];
    let json = json::print(&reports, &errors, |_| &input);
    assert_eq!(schema::wrong_in_json(&json), [""; 0]);
    assert_snapshot("json", &json);
    let sarif = sarif::print(&reports, &errors, |_| &input);
    assert_eq!(formats::wrong_in_sarif(&sarif), [""; 0]);
    assert_snapshot("sarif", &sarif);
    let junit = junit::print(&reports, &errors, None, |_| &input);
    assert_eq!(formats::wrong_in_junit(&junit), [""; 0]);
    assert_snapshot("junit", &junit);
}

#[test]
fn causes_are_counted() {
    let no_model = |text: &str| Diagnostic::unsupported("unsupported-instruction", text, Span::NONE);
    let call = |name: &str| {
        let message = format!("call of `{name}`, which this file does not define");
        Diagnostic::unsupported("undefined-function", message, Span::NONE)
    };
    let loads = |name: &str| no_model(&format!("`{name}` has no sound model yet: its accesses are collective"));
    let refused = |diagnostics| report(Verdict::Unknown, Vec::new()).unsupported(diagnostics);
    let reports = [
        refused(vec![loads("wmma.load.a.sync"), loads("wmma.load.b.sync"), call("vprintf")]),
        refused(vec![loads("ldmatrix.sync.aligned.m8n8.x4.shared.b16")]),
        refused(vec![call("malloc"), call("free")]),
        report(Verdict::Verified, Vec::new()),
    ];
    let counted = causes(&reports);
    let counts: Vec<_> = counted.iter().map(|each| (each.code, each.kernels, each.alone, each.places)).collect();
    assert_eq!(counts, [("undefined-function", 2, 1, 3), ("unsupported-instruction", 2, 1, 3)]);
    assert_eq!(counted[0].names.iter().copied().collect::<Vec<_>>(), ["free", "malloc", "vprintf"]);
    assert_eq!(counted[1].names.iter().copied().collect::<Vec<_>>(), ["ldmatrix", "wmma"]);
    assert_eq!(counted[1].cause, "its accesses are collective");
}

#[test]
fn colours_change_nothing_but_escapes() {
    let report = report(Verdict::Defect(Defect::Race), vec![race("scan.cu", true)]);
    let coloured = text::kernel(&report, &input(), Style { color: true, width: None }, false);
    assert!(coloured.contains("\u{1b}["));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    assert_eq!(plain, text::kernel(&report, &input(), PLAIN, false));
}

#[test]
fn many_errors_stay_on_one_screen() {
    let input = SourceText::new("bad.ptx", "x ".repeat(100_000) + "\u{1b}[31m\n" + &"y\n".repeat(5000));
    let spans = (0..500).map(|index| Span::new(index * 401, index * 401 + 300_000));
    let diagnostics: Vec<Diagnostic> =
        spans.map(|span| Diagnostic::error("ptx-syntax", "z".repeat(10_000), span).label("here")).collect();
    let shown = text::diagnostics(&diagnostics, &input, PLAIN);
    assert!(shown.lines().count() <= 45, "{} lines", shown.lines().count());
    assert!(shown.lines().all(|line| line.chars().count() < 500));
    assert!(!shown.contains('\u{1b}'));
    assert!(shown.contains("... and 480 more"));
}

#[test]
fn long_lines_are_cut_around_the_label() {
    let input = SourceText::new("long.ptx", format!("{}HERE{}", "a".repeat(1000), "b".repeat(1000)));
    let diagnostic = Diagnostic::error("ptx-syntax", "not expected", Span::new(1000, 1004)).label("this");
    assert_snapshot("long_line", &text::diagnostics(&[diagnostic], &input, PLAIN));
}

/// Whatever a name or a message holds, XML and JSON hold it, too.
#[test]
fn strange_characters_are_escaped() {
    let mut strange = report(Verdict::Unknown, Vec::new());
    strange.entry = "k<\"&'>]]>\u{1}\u{ffff}é".to_string();
    strange.reasons = vec![Reason { code: "unknown", message: "\u{1b}[31m<b>\r\n&amp;".to_string(), origin: None }];
    let (reports, input) = ([strange], input());
    let junit = junit::print(&reports, &[], None, |_| &input);
    assert_eq!(formats::wrong_in_junit(&junit), [""; 0], "{junit}");
    assert!(junit.contains("&lt;b&gt;") && junit.contains("<skipped"), "{junit}");
    assert_eq!(formats::wrong_in_sarif(&sarif::print(&reports, &[], |_| &input)), [""; 0]);
    assert_eq!(schema::wrong_in_json(&json::print(&reports, &[], |_| &input)), [""; 0]);
}

/// The checks see what is wrong.
#[test]
fn wrong_formats_are_found() {
    let (reports, input) = ([report(Verdict::Defect(Defect::Race), vec![race("scan.cu", true)])], input());
    let json = json::print(&reports, &[], |_| &input);
    for (from, to) in [("\"similar\"", "\"alike\""), ("\"race\"", "\"rase\""), ("\"schema\": 1", "\"schema\": 2")] {
        assert!(!schema::wrong_in_json(&json.replace(from, to)).is_empty(), "{from}");
    }
    let sarif = sarif::print(&reports, &[], |_| &input);
    for (from, to) in [
        ("\"ruleIndex\": 0", "\"ruleIndex\": 1"),
        ("\"endColumn\"", "\"endCol\""),
        ("GpuvccRace", "race"),
        ("\"level\": \"error\"", "\"level\": \"fatal\""),
        ("gpuvcc/v1", "primaryLocationLineHash"),
    ] {
        assert!(!formats::wrong_in_sarif(&sarif.replace(from, to)).is_empty(), "{from}");
    }
    let junit = junit::print(&reports, &[], None, |_| &input);
    for (from, to) in [("failures=\"1\"", "failures=\"0\""), ("</testcase>", ""), ("&lt;", "<")] {
        let changed = junit.replace(from, to);
        assert!(changed == junit || !formats::wrong_in_junit(&changed).is_empty(), "{from}");
    }
}

/// On a terminal, notes break where the line ends and sources are cut to it; elsewhere nothing changes.
#[test]
fn lines_fit_a_narrow_terminal() {
    let mut report = report(Verdict::Defect(Defect::Race), vec![race("scan.cu", true)]);
    report.assumptions =
        vec!["an assumption of many words, which no terminal of sixty columns holds in one line".to_string()];
    let shown = text::kernel(&report, &input(), Style { color: false, width: Some(60) }, false);
    let is_wide = |line: &&str| line.chars().count() > 60 && !line.contains("replay:") && !line.contains(" bytes");
    assert_eq!(shown.lines().find(is_wide), None, "{shown}");
    assert!(shown.contains("\n    "), "{shown}");
}
