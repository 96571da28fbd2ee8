//! A line a finding, as compilers print them: editors and CI read these.
//!
//! Input: a report, or diagnostics. Output: lines `FILE:LINE:COLUMN: error: MESSAGE [CODE]`. Establishes: one line for each
//! finding, reason and diagnostic, and for each verdict that none of these explains; a verified kernel gives none.
//! Relies on: nothing. Reference: GNU Coding Standards, "Formatting Error Messages".

use super::finding::headline;
use super::locus::Locus;
use super::outside;
use super::snippet::printable;
use super::source::{SourceFiles, SourceText};
use crate::diagnostic::{Diagnostic, Severity};
use crate::finding::{AccessReport, Finding, KernelReport, Verdict};
use crate::ptx::mangled;

/// The lines of a kernel.
pub(crate) fn kernel(report: &KernelReport, input: &SourceText) -> String {
    let mut files = SourceFiles::beside(&report.file);
    let entry = || Locus::of_entry(&report.entry, input);
    let name = mangled::shown(&report.entry);
    let mut output = String::new();
    for finding in &report.findings {
        let place = finding.primary().map(|origin| Locus::of_origin(origin, input, &mut files));
        let grade = if finding.known.is_some() { "note" } else { grade(finding.confirmed) };
        let message = message(finding, input, &mut files);
        output.push_str(&line(&place.unwrap_or_else(entry), grade, &format!("{name}: {message}"), finding.code()));
    }
    for finding in &report.outside {
        let place = finding.primary().map(|origin| Locus::of_origin(origin, input, &mut files));
        let message = format!("{name}: outside: {}", outside::line(finding));
        output.push_str(&line(&place.unwrap_or_else(entry), "note", &message, finding.code()));
    }
    let grade = if report.known.is_some() { "note" } else { "warning" };
    for reason in &report.reasons {
        let place = reason.origin.as_ref().map(|origin| Locus::of_origin(origin, input, &mut files));
        output.push_str(&line(
            &place.unwrap_or_else(entry),
            grade,
            &format!("{name}: {}", reason.message),
            reason.code,
        ));
    }
    output.push_str(&diagnostics(&report.diagnostics, input));
    let is_told = !report.findings.is_empty() || !report.reasons.is_empty() || !report.diagnostics.is_empty();
    if !is_told && !matches!(report.verdict, Verdict::Verified | Verdict::NoDefect) {
        let message = format!("{name}: holds when {}", report.conditions.join("; "));
        output.push_str(&line(&entry(), grade, &message, report.verdict.name()));
    }
    output
}

/// The lines of input errors and warnings.
pub(crate) fn diagnostics(diagnostics: &[Diagnostic], input: &SourceText) -> String {
    let lines = diagnostics.iter().map(|diagnostic| {
        let place = Locus::of_diagnostic(diagnostic, input).unwrap_or_else(|| Locus::point(input.name(), 1, 1));
        line(&place, grade(diagnostic.severity == Severity::Error), &diagnostic.message, diagnostic.code)
    });
    lines.collect()
}

fn grade(is_error: bool) -> &'static str {
    if is_error { "error" } else { "warning" }
}

/// What is wrong, and where the other thread is.
fn message(finding: &Finding, input: &SourceText, files: &mut SourceFiles) -> String {
    let mut text = headline(finding);
    let first = finding.primary().cloned();
    let is_other = |access: &&AccessReport| first.as_ref().is_some_and(|first| first.span != access.origin.span);
    if let Some(other) = finding.accesses.iter().find(is_other) {
        let place = Locus::of_origin(&other.origin, input, files);
        text.push_str(&format!(" (with {}:{})", place.file, place.start.0));
    }
    text
}

fn line(place: &Locus, grade: &str, message: &str, code: &str) -> String {
    let Locus { file, start: (line, column), .. } = place;
    // One line a message, whatever stands in it.
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}:{line}:{column}: {grade}: {} [{code}]\n", printable(file), printable(&message))
}
