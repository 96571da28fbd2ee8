//! Every shipped kernel gets the verdict and the places that its header and its marks say.
//!
//! The worst failure comes first in its message: `FALSE VERIFIED`. Gaps in known_gaps.txt are
//! refusals that are known, of correct and of broken kernels; a gap that closes fails too, so that
//! the list stays true.

use crate::support::cases::{Case, cases};
use crate::support::places::places;
use crate::support::replay;
use crate::support::run::{summary, verify_case};
use gpuvcc::driver::input;
use gpuvcc::finding::{Defect, Finding, KernelReport, Verdict};
use gpuvcc::ptx;
use libtest_mimic::{Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// For kernels of which more effort than usual would say no more.
const GAP: Duration = Duration::from_secs(3);

const GAPS: &str = include_str!("kernels/known_gaps.txt");

pub fn trials() -> Vec<Trial> {
    let cases = cases("tests/kernels").unwrap_or_else(|error| panic!("tests/kernels: {error}"));
    let gaps = gaps();
    let mut trials = vec![gap_list_trial(&cases, &gaps)];
    trials.extend(cases.into_iter().map(|case| {
        let gap = gaps.get(case.name.as_str()).map(|gap| gap.verdict == "unknown");
        Trial::test(case.name.clone(), move || check(&case, gap))
    }));
    trials
}

/// A line of known_gaps.txt.
struct Gap {
    verdict: &'static str,
    reason: &'static str,
}

fn gaps() -> BTreeMap<&'static str, Gap> {
    let lines = GAPS.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let mut words = line.splitn(3, char::is_whitespace);
            let mut next = || words.next().unwrap_or_default().trim();
            (next(), Gap { verdict: next(), reason: next() })
        })
        .collect()
}

/// The list itself: each gap belongs to a case, is a refusal and has a reason.
fn gap_list_trial(cases: &[Case], gaps: &BTreeMap<&'static str, Gap>) -> Trial {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let refusal = |verdict: &str| matches!(verdict, "unknown" | "unsupported") || verdict.starts_with("possible-");
    let wrong: Vec<&str> = gaps
        .iter()
        .filter(|(name, gap)| !names.contains(**name) || !refusal(gap.verdict) || gap.reason.is_empty())
        .map(|(name, _)| *name)
        .collect();
    let message = format!("known_gaps.txt: no such kernel, no refusal, or no reason: {}", wrong.join(", "));
    Trial::test("known_gaps.txt", move || if wrong.is_empty() { Ok(()) } else { Err(message.into()) })
}

/// `gap`: the kernel is listed; true when the effort decides.
fn check(case: &Case, gap: Option<bool>) -> Result<(), Failed> {
    let mut case = case.clone();
    if gap == Some(true) {
        case.options.timeout = GAP;
    }
    let case = &case;
    let report = verify_case(case)?;
    for finding in report.findings.iter().filter(|finding| finding.confirmed) {
        replays(case, finding)?;
    }
    let judged = judge(case, &report);
    let Some(limited) = gap else { return judged.map_err(Failed::from) };
    let answer = report.verdict.name();
    match judged {
        Ok(()) if limited => Ok(()),
        Ok(()) => Err(format!("a gap is closed: `{answer}` is right; take it off known_gaps.txt").into()),
        Err(_) if is_refusal(report.verdict) => Ok(()),
        Err(message) => Err(message.into()),
    }
}

/// Whether the command of a confirmed finding shows it, and the steps told are those of the defect.
fn replays(case: &Case, finding: &Finding) -> Result<(), String> {
    let Some(command) = &finding.replay else {
        let is_ptx = case.input.extension().is_some_and(|extension| extension == "ptx");
        return if is_ptx { Err(format!("a confirmed {} without a command", finding.code())) } else { Ok(()) };
    };
    let input = input::read(&case.input.display().to_string()).map_err(|diagnostic| diagnostic.message)?;
    let module = ptx::parse(input.source.text()).map_err(|errors| format!("{errors:?}"))?;
    replay::shows(command, &module, finding)?;
    let told = finding.interleaving.iter().filter(|step| step.at_fault);
    let told: BTreeSet<u32> = told.map(|step| step.origin.line).collect();
    match finding.defect {
        Defect::Race if told != replay::lines(finding) => {
            Err(format!("`{command}`: the steps told are at lines {told:?}"))
        }
        _ => Ok(()),
    }
}

fn is_refusal(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Unknown | Verdict::Unsupported | Verdict::Possible(_))
}

fn is_proof(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Verified | Verdict::VerifiedWhen)
}

/// Compares verdict and places with the expectation.
fn judge(case: &Case, report: &KernelReport) -> Result<(), String> {
    let answer = report.verdict.name();
    let fails = |what: &str| {
        Err(format!("{what}\nexpected {}, got {answer} in {} ms\n{}", case.verdict, report.time_ms, summary(report)))
    };
    if is_proof(report.verdict) && case.verdict != "verified" {
        return fails("FALSE VERIFIED");
    }
    match case.verdict.as_str() {
        "verified" if report.verdict.confirmed() => fails("a confirmed defect in a correct kernel"),
        "verified" if report.verdict != Verdict::Verified => fails("a correct kernel is refused"),
        "verified" if !report.findings.is_empty() => fails("verified, with findings"),
        "verified" => Ok(()),
        expected @ ("race" | "possible-race" | "divergence" | "possible-divergence") => {
            // A proof that fails shows the defect as well as an execution does; an expected
            // `possible-` is exact, because no execution can be shown.
            if answer != expected && answer.strip_prefix("possible-") != Some(expected) {
                return fails("another verdict");
            }
            let defect = if expected.ends_with("race") { Defect::Race } else { Defect::Divergence };
            places(case, report, defect).or_else(|what| fails(&what))
        }
        expected @ ("assertion" | "possible-assertion") if expected == answer && !case.assertion_lines.is_empty() => {
            places(case, report, Defect::Assertion).or_else(|what| fails(&what))
        }
        expected if expected == answer => Ok(()),
        _ => fails("another verdict"),
    }
}
