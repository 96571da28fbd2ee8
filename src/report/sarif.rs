//! The SARIF 2.1.0 report, for code-scanning views.
//!
//! Input: [`KernelReport`]s and input errors. Output: one SARIF log with one run.
//! Establishes: every `ruleId` that occurs stands among the rules; every result has a region with an end, and a fingerprint;
//! `verified` kernels give no result; the properties of the run have each kernel's verdict with all that it rests on.
//! Relies on: `locus`, `fingerprint`, `explain`. Reference: OASIS "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".

use super::explain;
use super::finding::{INLINED, access_text, headline, parameter_text};
use super::fingerprint::{Identities, Identity, of_input_error};
use super::json::InputError;
use super::locus::Locus;
use super::outside;
use super::run::RunFacts;
use super::source::{SourceFiles, SourceText};
use super::text::launch_text;
use crate::diagnostic::{Diagnostic, Severity};
use crate::finding::{Finding, KernelReport, Subject};
use crate::ptx::mangled;
use crate::span::Origin;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The log as indented JSON text with a line end. `source` gives the input text of a report.
pub fn print<'a>(
    reports: &'a [KernelReport],
    errors: &[InputError],
    source: impl Fn(&KernelReport) -> &'a SourceText,
) -> String {
    print_run(reports, errors, &RunFacts::default(), source)
}

/// The same, with what is to be said of the run as a whole.
pub(crate) fn print_run<'a>(
    reports: &'a [KernelReport],
    errors: &[InputError],
    run: &RunFacts,
    source: impl Fn(&KernelReport) -> &'a SourceText,
) -> String {
    let mut results: Vec<Value> = errors.iter().map(input_error).collect();
    let mut kernel_of: Vec<Option<usize>> = vec![None; results.len()];
    for (index, report) in reports.iter().enumerate() {
        results.extend(kernel(report, source(report)));
        kernel_of.resize(results.len(), Some(index));
    }
    let rule_ids: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    let rules: Vec<Value> = rule_ids.iter().map(|id| rule(id)).collect();
    let mut properties = json!({ "kernels": reports.iter().map(verdict).collect::<Vec<Value>>() });
    if run.exit.is_some() {
        properties["kernelOfResult"] = json!(kernel_of);
    }
    if let Some(shard) = &run.shard {
        properties["shard"] = json!(shard);
    }
    log(env!("CARGO_PKG_VERSION"), rules, results, errors.is_empty(), run.exit, properties)
}

/// The text of a log with one run, whose rules are sorted; results find theirs there.
pub(super) fn log(
    version: &str,
    rules: Vec<Value>,
    mut results: Vec<Value>,
    is_successful: bool,
    exit: Option<u8>,
    properties: Value,
) -> String {
    for result in &mut results {
        result["ruleIndex"] = json!(rules.iter().position(|rule| rule["id"] == result["ruleId"]));
    }
    let mut invocation = json!({ "executionSuccessful": is_successful });
    if let Some(exit) = exit {
        invocation["exitCode"] = json!(exit);
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "gpuvcc",
                "version": version,
                "semanticVersion": version,
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
            "properties": properties,
        }],
    });
    format!("{log:#}\n")
}

/// What a verdict rests on has no place in the text, so it is no result.
fn verdict(report: &KernelReport) -> Value {
    let mut object = json!({
        "file": report.file,
        "entry": report.entry,
        "verdict": report.verdict.name(),
        "assumptions": report.assumptions,
        "conditions": report.conditions,
    });
    if let Some(demangled) = mangled::demangled(&report.entry) {
        object["demangled"] = json!(demangled);
    }
    // Entries of one kernel differ in their launch.
    if let Some(launched) = &report.launched {
        object["launch"] = json!(report.launch);
        object["launchedFrom"] = json!(launched.from);
    }
    object
}

/// What code-scanning views show of a code: the text of `gpuvcc explain`, and how much a result weighs.
fn rule(id: &str) -> Value {
    let Some(code) = explain::find(id) else { return json!({ "id": id }) };
    let (level, severity, precision) = weight(id);
    json!({
        "id": id,
        "name": friendly_name(id),
        "shortDescription": { "text": sentence(code.title) },
        "fullDescription": { "text": code.text },
        "help": { "text": explain::code_page(code), "markdown": explain::markdown(code) },
        "defaultConfiguration": { "level": level },
        // No `security-severity`: a race of a kernel is a wrong result, and no way in by itself.
        "properties": {
            "tags": ["correctness", "concurrency", "gpu"],
            "precision": precision,
            "problem.severity": severity,
        },
    })
}

/// Level, severity and precision of what has a code: an execution shows a defect, a proof failed, or there is no answer.
fn weight(id: &str) -> (&'static str, &'static str, &'static str) {
    let is_defect = ["race", "divergence", "deadlock", "barrier-error", "assertion"].contains(&id);
    let has_no_answer =
        ["unknown", "unknown-endless-loop", "not-static", "verified-when"].contains(&id) || id.ends_with("-limit");
    let is_open = has_no_answer || explain::has_no_model(id);
    match id.strip_prefix("possible-") {
        None if is_defect => ("error", "error", "very-high"),
        Some(_) => ("warning", "warning", "medium"),
        None if is_open => ("warning", "recommendation", "high"),
        None => ("error", "error", "very-high"),
    }
}

/// `GpuvccPossibleRace`: a name in Pascal case, which may not be the identifier itself.
fn friendly_name(id: &str) -> String {
    let word =
        |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect::<String>();
    std::iter::once("gpuvcc").chain(id.split('-')).map(word).collect()
}

/// With a full stop, as views want their texts.
fn sentence(text: &str) -> String {
    if text.ends_with('.') { text.to_string() } else { format!("{text}.") }
}

fn kernel(report: &KernelReport, input: &SourceText) -> Vec<Value> {
    let mut files = SourceFiles::beside(&report.file);
    let identities = Identities::of(report, input, &mut files);
    let mut results = Vec::new();
    for (found, identity) in report.findings.iter().zip(&identities.findings) {
        results.push(finding(found, identity, report, input, &mut files));
    }
    results.extend(report.outside.iter().map(|found| outside_note(found, report, input, &mut files)));
    for (reason, identity) in report.reasons.iter().zip(&identities.reasons) {
        let text = format!("{}: {}", subject(report), reason.message);
        let place = place(reason.origin.as_ref(), report, input, &mut files);
        results.push(with_suppression(result(identity, "warning", &text, &place, &[]), report.known.as_deref()));
    }
    for (given, identity) in report.diagnostics.iter().zip(&identities.diagnostics) {
        let result = diagnostic(given, identity, report, input);
        let known = report.known.as_deref().filter(|_| given.severity == Severity::Unsupported);
        results.push(with_suppression(result, known));
    }
    // A verdict that is not `verified` must be seen even when no place belongs to it.
    let is_told = !report.findings.is_empty() || !report.reasons.is_empty() || !report.diagnostics.is_empty();
    if let Some(identity) = identities.verdict.filter(|_| !is_told) {
        let conditions = report.conditions.join("; ");
        let text = format!("{}: {} {conditions}", subject(report), report.verdict.name());
        let place = Locus::of_entry(&report.entry, input);
        results.push(with_suppression(
            result(&identity, "warning", text.trim_end(), &place, &[]),
            report.known.as_deref(),
        ));
    }
    results
}

fn finding(
    finding: &Finding,
    identity: &Identity,
    report: &KernelReport,
    input: &SourceText,
    files: &mut SourceFiles,
) -> Value {
    let mut text = format!("{}: {}", subject(report), headline(finding));
    if let Some(offset) = finding.offset {
        text.push_str(&format!(" at byte offset {offset}"));
    }
    for access in &finding.accesses {
        text.push_str(&format!("; {}", access_text(access)));
    }
    if let Some(launch) = &finding.launch {
        text.push_str(&format!("; launch: {}", launch_text(launch)));
    }
    for (name, value) in &finding.params {
        text.push_str(&format!("; {}", parameter_text(name, *value)));
    }
    let mut related = Vec::new();
    for access in &finding.accesses {
        related.push(related_location(&access.origin, &access_text(access), input));
    }
    for (what, origin) in &finding.related {
        related.push(related_location(origin, what, input));
    }
    for wait in &finding.waits {
        related.push(related_location(&wait.origin, &wait.text, input));
    }
    for header in finding.inlined() {
        let mut place = location(&Locus::of_position(header, files));
        place["message"] = json!({ "text": INLINED });
        related.push(place);
    }
    let level = if finding.confirmed { "error" } else { "warning" };
    let place = place(finding.primary(), report, input, files);
    with_suppression(result(identity, level, &text, &place, &related), finding.known.as_deref())
}

/// What the project knows of is no alert.
fn with_suppression(mut result: Value, known: Option<&str>) -> Value {
    if let Some(known) = known {
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": known }]);
    }
    result
}

/// A defect that needs values which no host is likely to pass.
fn outside_note(finding: &Finding, report: &KernelReport, input: &SourceText, files: &mut SourceFiles) -> Value {
    let text = format!("{}: outside: {}", subject(report), outside::line(finding));
    let identity = Identities::of_outside(finding, report, input, files);
    let place = place(finding.primary(), report, input, files);
    result(&identity, "note", &text, &place, &[])
}

/// `kernel` or `procedure`, and its name as the source has it.
fn subject(report: &KernelReport) -> String {
    let what = match report.subject {
        Subject::Kernel => "kernel",
        Subject::Procedure => "procedure",
    };
    format!("{what} {}", mangled::shown(&report.entry))
}

/// Where an instruction is; where the kernel begins without one.
fn place(origin: Option<&Arc<Origin>>, report: &KernelReport, input: &SourceText, files: &mut SourceFiles) -> Locus {
    match origin {
        Some(origin) => Locus::of_origin(origin, input, files),
        None => Locus::of_entry(&report.entry, input),
    }
}

fn diagnostic(diagnostic: &Diagnostic, identity: &Identity, report: &KernelReport, input: &SourceText) -> Value {
    let place = Locus::of_diagnostic(diagnostic, input).unwrap_or_else(|| Locus::of_entry(&report.entry, input));
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Unsupported | Severity::Warning => "warning",
    };
    result(identity, level, &format!("{}: {}", subject(report), diagnostic.message), &place, &[])
}

fn input_error(error: &InputError) -> Value {
    let point = Locus::point(&error.file, error.line.unwrap_or(1), error.column.unwrap_or(1));
    let place = Locus { end: error.end.unwrap_or(point.end), ..point };
    result(&of_input_error(error), "error", &error.message, &place, &[])
}

fn result(identity: &Identity, level: &str, text: &str, place: &Locus, related: &[Value]) -> Value {
    let fingerprint = identity.fingerprint();
    let mut result = json!({
        "ruleId": identity.code,
        "level": level,
        "message": { "text": sentence(text) },
        "locations": [location(place)],
        // The second is the name that GitHub's code scanning looks for.
        "partialFingerprints": { "gpuvcc/v1": fingerprint, "primaryLocationLineHash": format!("{fingerprint}:1") },
    });
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

/// The instruction itself, whose source line stands in the result.
fn related_location(origin: &Origin, text: &str, input: &SourceText) -> Value {
    let own = Origin { position: None, ..origin.clone() };
    let mut place = location(&Locus::of_origin(&own, input, &mut SourceFiles::beside(input.name())));
    place["message"] = json!({ "text": format!("{text}: {}", origin.text) });
    place
}

fn location(place: &Locus) -> Value {
    let Locus { file, start, end, text } = place;
    let mut region = json!({ "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1 });
    // A snippet is the text of the region.
    if let Some(line) = text.as_ref().filter(|_| start.0 == end.0) {
        let snippet: String = line.chars().skip(start.1 - 1).take(end.1 - start.1).collect();
        region["snippet"] = json!({ "text": snippet });
    }
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": region } })
}

/// A path as a URI reference: absolute paths get a scheme, and characters that a URI may not hold are
/// percent-encoded.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut encoded = if path.starts_with('/') { "file://".to_string() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte))
            }
            b'\\' => encoded.push('/'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/k.cu"), "a%20b/k.cu");
        assert_eq!(uri("/src/é.cu"), "file:///src/%C3%A9.cu");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}
