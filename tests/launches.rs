//! Shipped kernels where every launch is free: what the verifier finds for itself.
//!
//! `tests/kernels/launches.txt` has a kernel a line: its name, the verdict, and for `verified-when` the sizes, with ` | `
//! between ways to say the same of which the effort decides. A correct kernel is proved for the sizes that it is written
//! for, and its broken twin is not proved for others.

use crate::support::cases::{Case, cases};
use crate::support::run::{summary, verify_case};
use gpuvcc::finding::{Finding, KernelReport, Verdict};
use gpuvcc::geometry::Geometry;
use gpuvcc::span::Origin;
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::sync::Arc;

const EXPECTED: &str = include_str!("kernels/launches.txt");

pub fn trials() -> Vec<Trial> {
    let cases = cases("tests/kernels").unwrap_or_else(|error| panic!("tests/kernels: {error}"));
    let lines = EXPECTED.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let trials = lines.map(|line| {
        let mut words = line.splitn(3, char::is_whitespace).map(str::trim);
        let (name, verdict, sizes) = (words.next(), words.next(), words.next());
        let case = cases.iter().find(|case| Some(case.name.as_str()) == name).cloned();
        let (verdict, sizes) = (verdict.unwrap_or_default(), sizes.unwrap_or_default());
        Trial::test(name.unwrap_or_default(), move || check(case, verdict, sizes))
    });
    trials.collect()
}

fn check(case: Option<Case>, verdict: &str, sizes: &str) -> Result<(), Failed> {
    let mut case = case.ok_or("no such kernel")?;
    case.options.geometry = Geometry::FREE;
    case.options.params.clear();
    let report = verify_case(&case)?;
    let told = told(&report);
    let fails = |what: &str| Err(format!("{what}: {} {told}\n{}", report.verdict.name(), summary(&report)).into());
    let is_proof = matches!(report.verdict, Verdict::Verified | Verdict::VerifiedWhen);
    if is_proof && case.verdict != "verified" && verdict != report.verdict.name() {
        return fails("FALSE VERIFIED");
    }
    if report.verdict.name() != verdict || !sizes.split(" | ").any(|sizes| told == sizes) {
        return fails(&format!("expected {verdict} {sizes}"));
    }
    let at_marks = |finding: &Finding| {
        let origins = finding.accesses.iter().map(|access| &access.origin);
        let line = |origin: &Arc<Origin>| origin.position.as_ref().map_or(origin.line, |position| position.line);
        let lines: BTreeSet<u32> = origins.map(line).collect();
        finding.confirmed && !lines.is_empty() && lines.is_subset(&case.race_lines)
    };
    if verdict == "race" && !report.findings.iter().any(at_marks) {
        return fails("a race at other lines");
    }
    Ok(())
}

/// The conditions on sizes, less those that axes which the kernel does not use have size 1. Bounds on what is very large
/// are left out: how many of them a proof can do without depends on the time that it gets.
fn told(report: &KernelReport) -> String {
    let is_size = |condition: &&String| condition.starts_with("blockDim") || condition.starts_with("gridDim");
    let sizes = report.conditions.iter().filter(is_size).filter(|condition| !condition.ends_with(" == 1"));
    sizes.cloned().collect::<Vec<_>>().join(", ")
}
