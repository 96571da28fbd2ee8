//! What executions confirm: kernels in the IVL (`cases/*.ivl`), where the model's constants alone have to decide, and
//! random launches of the shipped kernels (`kernels.rs`).
//!
//! The verdict of a case is exact: `race` is confirmed, `possible-race` is not. Confirmed findings lie on marked lines.

mod kernels;

use crate::support::cases::{Case, cases};
use crate::support::run::{summary, verify_case};
use gpuvcc::finding::{Defect, Finding};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;

pub fn trials() -> Vec<Trial> {
    let in_ivl = cases("tests/replay/cases").unwrap_or_else(|error| panic!("tests/replay/cases: {error}"));
    let mut trials: Vec<Trial> =
        in_ivl.into_iter().map(|case| Trial::test(case.name.clone(), move || check(&case))).collect();
    trials.extend(kernels::trials().unwrap_or_else(|error| panic!("tests/kernels: {error}")));
    trials
}

fn check(case: &Case) -> Result<(), Failed> {
    let report = verify_case(case)?;
    if report.verdict.name() != case.verdict {
        return Err(format!("expected {}\n{}", case.verdict, summary(&report)).into());
    }
    match report.findings.iter().find(|finding| finding.confirmed && !is_marked(case, finding)) {
        Some(finding) => Err(format!("a confirmed {} outside the marked lines", finding.code()).into()),
        None => Ok(()),
    }
}

fn is_marked(case: &Case, finding: &Finding) -> bool {
    let marks = match finding.defect {
        Defect::Race => &case.race_lines,
        Defect::Divergence => &case.divergence_lines,
        _ => &case.assertion_lines,
    };
    let places = finding.accesses.iter().map(|access| &access.origin).chain(&finding.barrier);
    let lines: BTreeSet<u32> = places.map(|origin| origin.line).collect();
    lines.is_subset(marks)
}
