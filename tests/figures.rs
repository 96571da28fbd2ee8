//! The figures of the papers, as kernel programs in the IVL, get the verdicts of their headers.

use crate::support::cases::{Case, cases};
use crate::support::run::{summary, verify_case};
use gpuvcc::finding::Verdict;
use libtest_mimic::{Failed, Trial};

pub fn trials() -> Vec<Trial> {
    let cases = cases("book/figures").unwrap_or_else(|error| panic!("book/figures: {error}"));
    cases.into_iter().map(|case| Trial::test(case.name.clone(), move || check(&case))).collect()
}

/// The expected verdict, or its `possible-` form: a figure has no numbers of its own to replay.
fn check(case: &Case) -> Result<(), Failed> {
    let report = verify_case(case)?;
    let answer = report.verdict.name();
    if answer == case.verdict || answer.strip_prefix("possible-") == Some(&case.verdict) {
        return Ok(());
    }
    let proved = matches!(report.verdict, Verdict::Verified | Verdict::VerifiedWhen);
    let what = if proved { "FALSE VERIFIED" } else { "another verdict" };
    Err(format!("{what}: expected {}, got {answer}\n{}", case.verdict, summary(&report)).into())
}
