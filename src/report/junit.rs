//! The JUnit report, for the test views of CI: a suite a file, a test case a kernel.
//!
//! Input: [`KernelReport`]s and input errors. Output: XML. Establishes: it is well formed, whatever stands in names and
//! messages; a case passes only if its kernel is verified (or an emulation had no defect); it fails where the kernel alone would give the exit code 1,
//! and is skipped where it is neither proved nor a failure; what could not be looked at is an error.
//! Relies on: nothing. Reference: the schema of Jenkins' xUnit plugin (junit-10.xsd); XML 1.0, "Characters".

use super::json::InputError;
use super::snippet::Style;
use super::source::SourceText;
use super::text::{self, launch_text};
use crate::finding::{FailOn, KernelReport, Verdict};
use crate::ptx::mangled;
use std::fmt::Write;

/// A test case.
struct Case<'a> {
    file: &'a str,
    name: String,
    seconds: f64,
    result: Outcome,
    /// The report as the terminal shows it.
    text: String,
}

/// What came of it, with the code and one line.
enum Outcome {
    Passed,
    Failure(&'static str, String),
    Error(&'static str, String),
    Skipped(String),
}

/// The whole text. `source` gives the input text of a report.
pub fn print<'a>(
    reports: &'a [KernelReport],
    errors: &'a [InputError],
    fail_on: Option<&FailOn>,
    source: impl Fn(&KernelReport) -> &'a SourceText,
) -> String {
    let mut cases: Vec<Case> = reports.iter().map(|report| kernel(report, source(report), fail_on)).collect();
    cases.extend(errors.iter().map(input_error));
    let mut files: Vec<&str> = Vec::new();
    for case in &cases {
        if !files.contains(&case.file) {
            files.push(case.file);
        }
    }
    let mut output = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_string();
    let all: Vec<&Case> = cases.iter().collect();
    let _ = writeln!(output, "<testsuites name=\"gpuvcc\" {}>", counts(&all));
    for file in files {
        let of_file: Vec<&Case> = cases.iter().filter(|case| case.file == file).collect();
        let skipped = of_file.iter().filter(|case| matches!(case.result, Outcome::Skipped(_))).count();
        let counts = counts(&of_file);
        let _ = writeln!(output, "  <testsuite name=\"{}\" {counts} skipped=\"{skipped}\">", escaped(file));
        of_file.iter().for_each(|case| output.push_str(&test_case(case)));
        output.push_str("  </testsuite>\n");
    }
    output + "</testsuites>\n"
}

fn kernel<'a>(report: &'a KernelReport, source: &SourceText, fail_on: Option<&FailOn>) -> Case<'a> {
    // Entries of one kernel differ in their launch.
    let launch = report.launched.as_ref().map(|known| format!(" [{}; {}]", launch_text(&report.launch), known.from));
    let text = text::kernel(report, source, Style::default(), false);
    let verdict = report.verdict.name();
    let line = |rest: &str| format!("{verdict}{rest}");
    let result = match report.verdict {
        _ if report.exit_code(fail_on) == 1 => Outcome::Failure(verdict, line(&why(report))),
        Verdict::Verified | Verdict::NoDefect => Outcome::Passed,
        _ if report.is_known() => Outcome::Skipped(line(&format!(" (known){}", why(report)))),
        _ => Outcome::Skipped(line(&why(report))),
    };
    let name = mangled::shown(&report.entry) + launch.as_deref().unwrap_or_default();
    Case { file: &report.file, name, seconds: report.time_ms as f64 / 1000.0, result, text }
}

/// `: read-write race on `s``, the first that is not known.
fn why(report: &KernelReport) -> String {
    let finding = report.findings.iter().find(|finding| finding.known.is_none()).or(report.findings.first());
    let headline = finding.map(super::finding::headline);
    let reason = report.reasons.first().map(|reason| reason.message.clone());
    let diagnostic = report.diagnostics.first().map(|diagnostic| diagnostic.message.clone());
    let conditions = (!report.conditions.is_empty()).then(|| report.conditions.join("; "));
    headline.or(reason).or(diagnostic).or(conditions).map(|why| format!(": {why}")).unwrap_or_default()
}

fn input_error(error: &InputError) -> Case<'_> {
    let place = error.line.map(|line| format!(":{line}")).unwrap_or_default();
    let text = format!("{}{place}: {} [{}]\n", error.file, error.message, error.code);
    let name = error.entry.as_deref().map_or("(input)".to_string(), mangled::shown);
    let result = Outcome::Error(error.code, error.message.clone());
    Case { file: &error.file, name, seconds: 0.0, result, text }
}

fn counts(cases: &[&Case]) -> String {
    let count = |wanted: fn(&Outcome) -> bool| cases.iter().filter(|case| wanted(&case.result)).count();
    let failures = count(|result| matches!(result, Outcome::Failure(..)));
    let errors = count(|result| matches!(result, Outcome::Error(..)));
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\"", cases.len())
}

fn test_case(case: &Case) -> String {
    let (class, name) = (escaped(case.file), escaped(&case.name));
    let mut output = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{:.3}\">\n", case.seconds);
    let with_text = |tag: &str, code: &str, message: &str| {
        let (message, text) = (escaped(message), escaped(&case.text));
        format!("      <{tag} type=\"{code}\" message=\"{message}\">{text}</{tag}>\n")
    };
    match &case.result {
        Outcome::Passed => {}
        Outcome::Failure(code, message) => output.push_str(&with_text("failure", code, message)),
        Outcome::Error(code, message) => output.push_str(&with_text("error", code, message)),
        Outcome::Skipped(message) => {
            let _ = writeln!(output, "      <skipped message=\"{}\"/>", escaped(message));
        }
    }
    // What a proof rests on, and why there is none, belong to the case, too.
    if matches!(case.result, Outcome::Passed | Outcome::Skipped(_)) {
        let _ = writeln!(output, "      <system-out>{}</system-out>", escaped(&case.text));
    }
    output + "    </testcase>\n"
}

/// Text in which nothing is markup, and every character one that XML may hold.
fn escaped(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            '"' => output.push_str("&quot;"),
            '\n' | '\t' => output.push(character),
            '\u{fffe}' | '\u{ffff}' => output.push(char::REPLACEMENT_CHARACTER),
            _ if character.is_control() => output.push(char::REPLACEMENT_CHARACTER),
            _ => output.push(character),
        }
    }
    output
}
