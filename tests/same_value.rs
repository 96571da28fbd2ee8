//! `--allow-same-value` on kernels that are verified without it: they stay verified, and as soon.
//!
//! Every `STEP`-th correct kernel of `tests/kernels` is verified at the launch of its header, with the option.
//! `GPUVCC_SAME_VALUE=n` looks at every n-th (1: all).

use crate::support::cases::{Case, cases};
use crate::support::run::{summary, verify_case};
use gpuvcc::finding::Verdict;
use libtest_mimic::{Failed, Trial};

const STEP: usize = 7;

const GAPS: &str = include_str!("kernels/known_gaps.txt");

pub fn trials() -> Vec<Trial> {
    let cases = cases("tests/kernels").unwrap_or_else(|error| panic!("tests/kernels: {error}"));
    let step = std::env::var("GPUVCC_SAME_VALUE").ok().and_then(|text| text.parse().ok()).unwrap_or(STEP);
    let is_gap = |case: &Case| GAPS.lines().any(|line| line.split_whitespace().next() == Some(&case.name));
    let correct = cases.into_iter().filter(|case| case.verdict == "verified" && !is_gap(case));
    let trials = correct.step_by(step.max(1)).map(|case| Trial::test(case.name.clone(), move || stays_verified(case)));
    trials.collect()
}

fn stays_verified(mut case: Case) -> Result<(), Failed> {
    case.options.rules.allow_same_value = true;
    let report = verify_case(&case)?;
    match report.verdict {
        Verdict::Verified => Ok(()),
        verdict => Err(format!("{} with --allow-same-value\n{}", verdict.name(), summary(&report)).into()),
    }
}
