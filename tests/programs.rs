//! Programs as people write them, at the launch and with the scalars of their hosts.
//!
//! `tests/programs` has correct programs and, for each, a twin with one bug of the kind that people make
//! (tests/programs/README.md). Correct ones are `verified` or refused as their gap says; of a twin the confirmed defect
//! lies at the marked lines. `cargo bench --bench alarms` asks in the other ways, too, and for the slow ones.

use crate::support::cases::{Case, cases};
use crate::support::conditions::Values;
use crate::support::places::places;
use crate::support::run::{summary, verify_case};
use gpuvcc::finding::{Defect, KernelReport, Verdict};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::time::Duration;

/// For programs of which more effort would say no more: their gap is named for the time that the benchmark gives.
const GAP: Duration = Duration::from_secs(1);

pub fn trials() -> Vec<Trial> {
    let cases = cases("tests/programs").unwrap_or_else(|error| panic!("tests/programs: {error}"));
    let mut trials = vec![pairs(&cases), Trial::test("conditions", conditions)];
    let quick = cases.into_iter().filter(|case| !case.is_slow);
    trials.extend(quick.map(|case| Trial::test(case.name.clone(), move || check(&case))));
    trials
}

/// Every program has a twin, both say a launch, and only twins have marks.
fn pairs(cases: &[Case]) -> Trial {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let is_right = |case: &Case| {
        let is_launched = case.options.block_is_given && case.options.grid_is_given;
        let is_marked = !case.race_lines.is_empty() || !case.divergence_lines.is_empty();
        let twin = match case.name.strip_suffix("_broken") {
            Some(name) => name.to_string(),
            None => format!("{}_broken", case.name),
        };
        is_launched && names.contains(twin.as_str()) && is_marked == (case.verdict != "verified")
    };
    let wrong: Vec<&str> = cases.iter().filter(|case| !is_right(case)).map(|case| case.name.as_str()).collect();
    let answer = if wrong.is_empty() { Ok(()) } else { Err(format!("no twin, launch or marks: {}", wrong.join(", "))) };
    Trial::test("pairs", move || answer.map_err(Failed::from))
}

fn check(case: &Case) -> Result<(), Failed> {
    let mut case = case.clone();
    let gap = case.gaps.iter().find(|gap| gap.way == "known").cloned();
    if gap.is_some() {
        case.options.timeout = GAP;
    }
    let report = verify_case(&case)?;
    let is_proof = matches!(report.verdict, Verdict::Verified | Verdict::VerifiedWhen);
    let fails = |what: String| {
        Err(format!("{what}\nexpected {}, got {}\n{}", case.verdict, report.verdict.name(), summary(&report)).into())
    };
    let judged = judge(&case, &report);
    match (&gap, judged) {
        (None, Ok(())) => Ok(()),
        (None, Err(what)) => fails(what),
        (Some(gap), Ok(())) => fails(format!("`gap: known {}` is closed", gap.verdict)),
        (Some(_), Err(what)) if is_proof || report.verdict.confirmed() => fails(what),
        (Some(_), Err(_)) => Ok(()),
    }
}

fn judge(case: &Case, report: &KernelReport) -> Result<(), String> {
    let is_proof = matches!(report.verdict, Verdict::Verified | Verdict::VerifiedWhen);
    match (case.verdict.as_str(), report.verdict) {
        ("verified", Verdict::Verified) => Ok(()),
        ("verified", verdict) if verdict.confirmed() => Err("a defect in a correct program".into()),
        ("verified", _) => Err("a correct program is refused".into()),
        (_, _) if is_proof => Err("FALSE VERIFIED".into()),
        (expected, verdict) if !verdict.confirmed() || verdict.name() != expected => Err("another verdict".into()),
        (_, Verdict::Defect(Defect::Divergence)) => places(case, report, Defect::Divergence),
        _ => places(case, report, Defect::Race),
    }
}

/// What the benchmark takes for a condition that holds in a launch.
fn conditions() -> Result<(), Failed> {
    let cases = cases("tests/programs")?;
    let case = cases.iter().find(|case| case.name == "heat_2d").ok_or("no heat_2d")?;
    let values = Values::of(case, "heat_2d");
    let met = [
        "blockDim.x == 32",
        "blockDim.z == 1",
        "blockDim.y % 8 == 0",
        "blockDim.y is a power of two",
        "gridDim.y * blockDim.y <= 1024",
        "threads in all <= 16777216",
        "1 <= width <= 2147483647",
        "heat_2d_param_2 * heat_2d_param_3 <= 2147483647",
        "width >= blockDim.x",
    ];
    let unmet = [
        "blockDim.x == 16",
        "blockDim.x % 64 == 0",
        "gridDim.y * blockDim.y <= 1023",
        "1 <= width <= 999",
        "width * height <= 999999",
        "nowhere <= 5",
        "width",
        "width looks fine",
    ];
    let wrong: Vec<&str> = met.into_iter().filter(|condition| !values.meet(condition)).collect();
    let wrongly: Vec<&str> = unmet.into_iter().filter(|condition| values.meet(condition)).collect();
    if wrong.is_empty() && wrongly.is_empty() {
        return Ok(());
    }
    Err(format!("not met: {wrong:?}; met: {wrongly:?}").into())
}
