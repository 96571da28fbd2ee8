//! The SARIF 2.1.0 report, for code-scanning views.
//!
//! Input: [`KernelReport`]s and input errors. Output: one SARIF log with one run.
//! Establishes: every `ruleId` that occurs stands among the rules; `verified` kernels give no result; the properties of
//! the run have each kernel's verdict with all that it rests on.
//! Reference: OASIS "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".

use super::explain;
use super::finding::{INLINED, access_text, headline, parameter_text};
use super::json::InputError;
use super::outside;
use super::source::SourceText;
use super::text::launch_text;
use crate::diagnostic::{Diagnostic, Severity};
use crate::finding::{Finding, KernelReport, Reason, Subject, Verdict};
use crate::ptx::mangled;
use crate::span::{Origin, SourcePosition};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The log as indented JSON text with a line end. `source` gives the input text of a report.
pub fn print<'a>(
    reports: &'a [KernelReport],
    errors: &[InputError],
    source: impl Fn(&KernelReport) -> &'a SourceText,
) -> String {
    let mut results: Vec<Value> = errors.iter().map(input_error).collect();
    for report in reports {
        results.extend(kernel(report, source(report)));
    }
    let verdicts: Vec<Value> = reports.iter().map(verdict).collect();
    let rule_ids: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    let rules: Vec<Value> = rule_ids.into_iter().map(rule).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "gpuvcc", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "invocations": [{ "executionSuccessful": errors.is_empty() }],
            "results": results,
            "properties": { "kernels": verdicts },
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

fn rule(id: &str) -> Value {
    match explain::find(id) {
        Some(code) => json!({
            "id": id,
            "shortDescription": { "text": code.title },
            "fullDescription": { "text": code.text },
        }),
        None => json!({ "id": id }),
    }
}

fn kernel(report: &KernelReport, source: &SourceText) -> Vec<Value> {
    let mut results: Vec<Value> = report.findings.iter().map(|found| finding(found, report)).collect();
    results.extend(report.outside.iter().map(|found| outside_note(found, report)));
    results.extend(report.reasons.iter().map(|given| reason(given, report)));
    results.extend(report.diagnostics.iter().map(|given| diagnostic(given, report, source)));
    // A verdict that is not `verified` must be seen even when no place belongs to it.
    let is_told = !report.findings.is_empty() || !report.reasons.is_empty() || !report.diagnostics.is_empty();
    if !is_told && !matches!(report.verdict, Verdict::Verified | Verdict::NoDefect) {
        let conditions = report.conditions.join("; ");
        let text = format!("{}: {} {conditions}", subject(report), report.verdict.name());
        let place = location(&report.file, None, None);
        results.push(result(report.verdict.name(), "warning", text.trim_end(), Some(place), &[]));
    }
    results
}

fn finding(finding: &Finding, report: &KernelReport) -> Value {
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
        related.push(related_location(&report.file, &access.origin, &access_text(access)));
    }
    for (what, origin) in &finding.related {
        related.push(related_location(&report.file, origin, what));
    }
    for header in finding.inlined() {
        let mut place = source_location(header);
        place["message"] = json!({ "text": INLINED });
        related.push(place);
    }
    let level = if finding.confirmed { "error" } else { "warning" };
    let place = finding.primary().map(|origin| origin_location(&report.file, origin));
    let place = place.unwrap_or_else(|| location(&report.file, None, None));
    let mut result = result(finding.code(), level, &text, Some(place), &related);
    if let Some(known) = &finding.known {
        result["suppressions"] = json!([{ "kind": "external", "justification": known }]);
    }
    result
}

/// A defect that needs values which no host is likely to pass.
fn outside_note(finding: &Finding, report: &KernelReport) -> Value {
    let text = format!("{}: outside: {}", subject(report), outside::line(finding));
    let place = finding.primary().map(|origin| origin_location(&report.file, origin));
    result(finding.code(), "note", &text, place, &[])
}

/// `kernel` or `procedure`, and its name as the source has it.
fn subject(report: &KernelReport) -> String {
    let what = match report.subject {
        Subject::Kernel => "kernel",
        Subject::Procedure => "procedure",
    };
    format!("{what} {}", mangled::shown(&report.entry))
}

fn reason(reason: &Reason, report: &KernelReport) -> Value {
    let text = format!("{}: {}", subject(report), reason.message);
    let place = match &reason.origin {
        Some(origin) => origin_location(&report.file, origin),
        None => location(&report.file, None, None),
    };
    result(reason.code, "warning", &text, Some(place), &[])
}

fn diagnostic(diagnostic: &Diagnostic, report: &KernelReport, source: &SourceText) -> Value {
    let place = source.place_of(diagnostic);
    let place = location(&report.file, place.map(|(line, _)| line), place.map(|(_, column)| column));
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Unsupported | Severity::Warning => "warning",
    };
    result(diagnostic.code, level, &format!("{}: {}", subject(report), diagnostic.message), Some(place), &[])
}

fn input_error(error: &InputError) -> Value {
    result(error.code, "error", &error.message, Some(location(&error.file, error.line, error.column)), &[])
}

fn result(rule: &str, level: &str, text: &str, place: Option<Value>, related: &[Value]) -> Value {
    let mut result = json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": text },
        "locations": place.into_iter().collect::<Vec<_>>(),
    });
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

/// The source line where `.loc` tells one, otherwise the line of the input.
fn origin_location(input: &str, origin: &Origin) -> Value {
    match &origin.position {
        Some(position) => source_location(position.own()),
        None => location(input, Some(origin.line as usize), None),
    }
}

fn source_location(position: &SourcePosition) -> Value {
    let column = (position.column > 0).then_some(position.column as usize);
    location(&position.file, Some(position.line as usize), column)
}

fn related_location(input: &str, origin: &Origin, text: &str) -> Value {
    let mut place = location(input, Some(origin.line as usize), None);
    place["message"] = json!({ "text": format!("{text}: {}", origin.text) });
    place
}

fn location(file: &str, line: Option<usize>, column: Option<usize>) -> Value {
    let mut place = json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) } } });
    // `.loc` may say line 0 for code without a source; SARIF lines start at 1.
    if let Some(line) = line.filter(|&line| line > 0) {
        place["physicalLocation"]["region"] = json!({ "startLine": line });
        if let Some(column) = column {
            place["physicalLocation"]["region"]["startColumn"] = json!(column);
        }
    }
    place
}

/// A path as a URI reference: absolute paths get a scheme, and characters that a URI may not hold are
/// percent-encoded.
fn uri(path: &str) -> String {
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
