//! Kernels whose parameters are free: a defect counts where a host passes such values, and any other lies outside.
//!
//! `tests/plausible` has cases as `tests/kernels` has. Of one that is `verified-when`, the header lists each condition as
//! `//@ condition: TEXT` with the names of the PTX, and `// OUTSIDE` ends the lines of the defect that other values
//! show, if an execution shows one. Of a broken twin the confirmed race lies at the lines that end with `// RACE`, with positive parameters.

use crate::support::cases::{Case, cases};
use crate::support::run::{summary, verify_case};
use gpuvcc::finding::{Finding, KernelReport, Verdict};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;

pub fn trials() -> Vec<Trial> {
    let cases = cases("tests/plausible").unwrap_or_else(|error| panic!("tests/plausible: {error}"));
    let trials = cases.into_iter().map(|case| Trial::test(case.name.clone(), move || check(&case)));
    trials.collect()
}

fn check(case: &Case) -> Result<(), Failed> {
    let report = verify_case(case)?;
    let fails = |what: String| Err(format!("{what}\n{}", summary(&report)).into());
    if report.verdict.name() != case.verdict {
        return fails(format!("expected {}, got {}", case.verdict, report.verdict.name()));
    }
    if report.conditions != case.conditions {
        return fails(format!("the conditions are {:#?}", report.conditions));
    }
    match report.verdict {
        Verdict::VerifiedWhen if !report.findings.is_empty() => fails("verified, with findings".into()),
        Verdict::VerifiedWhen if report.outside.is_empty() && case.outside_lines.is_empty() => Ok(()),
        Verdict::VerifiedWhen if !lie_at(&report.outside, &case.outside_lines) => fails("outside: other lines".into()),
        Verdict::Defect(_) if !lie_at(&report.findings, &case.race_lines) => fails("a race at other lines".into()),
        Verdict::Defect(_) if !are_positive(&report, case) => fails("a value that nobody passes".into()),
        _ => Ok(()),
    }
}

/// Whether there are findings, all confirmed, all of them replayed by a command, at these lines.
fn lie_at(findings: &[Finding], lines: &BTreeSet<u32>) -> bool {
    let line = |access: &gpuvcc::finding::AccessReport| access.origin.position.as_ref().map(|position| position.line);
    let is_there = |finding: &Finding| finding.accesses.iter().all(|a| line(a).is_some_and(|l| lines.contains(&l)));
    let is_shown = |finding: &Finding| finding.confirmed && finding.replay.is_some();
    !findings.is_empty() && findings.iter().all(|finding| is_there(finding) && is_shown(finding))
}

fn are_positive(report: &KernelReport, case: &Case) -> bool {
    let is_row = |name: &str| case.rows.iter().any(|position| name.ends_with(&format!("_param_{position}")));
    let params = report.findings.iter().flat_map(|finding| &finding.params);
    let least = |name: &str| if is_row(name) { 0 } else { 1 };
    params.into_iter().all(|(name, value)| (least(name)..1 << 31).contains(&value.unsigned()))
}
