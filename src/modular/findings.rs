//! What failed in a procedure, as a report has it.
//!
//! Input: [`Outcome`]s of the bodies of a procedure. Output: findings and the verdict. Establishes: a finding is called
//! confirmed only where the values are those of an execution from the start of the procedure.

use super::search::{Failure, Step};
use super::verify::Outcome;
use crate::finding::{Defect, Finding, KernelReport, Reason, TraceStep, Verdict};
use crate::ivl::ast::{Attribute, AttributeArg};
use crate::ivl::claim::Claim;
use crate::report::source::SourceText;
use crate::solver::exact::Shown;
use crate::span::{Origin, Span};
use crate::vcgen::passive::{Check, CheckKind};
use std::sync::Arc;

/// Characters of a statement that a report repeats.
const LONGEST_TEXT: usize = 200;

/// Fills the report of a procedure.
pub(crate) fn report(mut report: KernelReport, outcomes: &[Outcome], source: &SourceText) -> KernelReport {
    for outcome in outcomes {
        report.checked.assertions += outcome.assertions as u64;
        report.checked.loops += outcome.loops as u64;
        report.findings.extend(outcome.failures.iter().map(|failure| finding(failure, source)));
        report.assumptions.extend(outcome.cut.iter().map(|name| {
            format!("calls of `{name}` that are nested deeper than its {{:inline}} says are not looked at")
        }));
        report.reasons.extend(outcome.unknown.iter().map(|why| Reason {
            code: "unknown-solver-limit",
            message: format!("not every assertion has an answer: {why}"),
            origin: None,
        }));
    }
    report.findings.sort_by_key(|finding| (finding.rank(), finding.primary().map(|origin| origin.span)));
    report.verdict = match Verdict::of(&report.findings) {
        Some(verdict) => verdict,
        None if report.reasons.is_empty() => Verdict::Verified,
        None => Verdict::Unknown,
    };
    report
}

fn finding(failure: &Failure, source: &SourceText) -> Finding {
    let check = &failure.check;
    let mut finding = Finding::new(Defect::Assertion, failure.certain);
    finding.kind = kind(check).to_string();
    finding.barrier = Some(origin(place(failure), source));
    if let Some(clause) = check.related.filter(|clause| *clause != Span::NONE) {
        let what = format!("this {}", kind(check));
        finding.related.push((what, origin(clause, source)));
    }
    finding.message = message(&check.attributes);
    for (name, now, before) in failure.values.iter().filter(|(_, now, _)| is_telling(now)) {
        let before = before.as_ref().map(|before| format!(", {before} at the beginning of the round"));
        finding.values.push((name.to_string(), format!("{now}{}", before.unwrap_or_default())));
    }
    let written = failure.path.iter().filter(|step| step.span != Span::NONE);
    finding.trace = written.map(|step| trace_step(step, source)).collect();
    finding
}

/// Maps and values of declared types have no text that says anything.
fn is_telling(value: &Shown) -> bool {
    !matches!(value, Shown::Text(_))
}

fn kind(check: &Check) -> &'static str {
    match check.kind {
        CheckKind::Entry(_) => "invariant-entry",
        CheckKind::Maintenance(_) => "invariant-maintenance",
        CheckKind::Assertion if check.claim == Claim::Precondition => "precondition",
        CheckKind::Assertion if check.claim == Claim::Postcondition => "postcondition",
        CheckKind::Assertion => "assertion",
    }
}

/// Where a failure is seen: for a postcondition, where the last block on the way returns.
fn place(failure: &Failure) -> Span {
    let check = &failure.check;
    if check.span != Span::NONE {
        return check.span;
    }
    let ends = failure.path.iter().rev().map(|step| step.end);
    ends.into_iter().find(|end| *end != Span::NONE).or(check.related).unwrap_or(Span::NONE)
}

/// The text of attributes such as `{:msg "..."}`.
fn message(attributes: &[Attribute]) -> String {
    let text = |a: &Attribute| match (a.name.as_str(), a.args.as_slice()) {
        ("msg" | "message" | "error", [AttributeArg::Text(text)]) => Some(text.clone()),
        _ => None,
    };
    attributes.iter().find_map(text).unwrap_or_default()
}

fn trace_step(step: &Step, source: &SourceText) -> TraceStep {
    let assigned = step
        .assigned
        .iter()
        .filter(|(_, value)| is_telling(value))
        .map(|(name, value)| (name.to_string(), value.to_string()));
    TraceStep { label: step.label.to_string(), origin: origin(step.span, source), assigned: assigned.collect() }
}

/// The statement as it stands in the text.
fn origin(span: Span, source: &SourceText) -> Arc<Origin> {
    let range = source.range(span);
    let (line, _) = source.line_column(range.start);
    let words: Vec<&str> = source.text()[range].split_whitespace().collect();
    let text: String = words.join(" ").chars().take(LONGEST_TEXT).collect();
    Arc::new(Origin { span, line: line as u32, position: None, text: text.into() })
}
