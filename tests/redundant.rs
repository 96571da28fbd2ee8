//! `--redundant`: what is said of each barrier and fence.
//!
//! The kernels of `tests/redundant` have headers as those of `tests/kernels`. A barrier or fence has its answer behind it:
//! `// CAN GO` for one of those that can go together, `// CAN GO ALONE`, `// IS NEEDED: PART` and `// NOT CLAIMED: PART` with a
//! part of the reason. What can go was executed without a defect.

use crate::support::cases::{Case, cases};
use crate::support::run::{summary, verify_case};
use crate::support::schema::wrong_in_json;
use gpuvcc::driver::options::Options;
use gpuvcc::finding::{Fate, Redundant};
use libtest_mimic::{Failed, Trial};
use std::fmt::Write;
use std::process::Command;

pub fn trials() -> Vec<Trial> {
    let cases = cases("tests/redundant").unwrap_or_else(|error| panic!("tests/redundant: {error}"));
    assert!(cases.len() >= 21, "kernels are missing");
    let trials = cases.into_iter().map(|case| Trial::test(case.name.clone(), move || check(case)));
    trials.chain([Trial::test("json", json)]).collect()
}

/// The JSON is one of the schema and says the same; the exit code is the one without the option.
fn json() -> Result<(), Failed> {
    let run = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
        command.args(["tests/redundant/either.ptx", "--block", "64", "--grid", "2", "--format", "json"]).args(options);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).output()
    };
    let (plain, asked) = (run(&[])?, run(&["--redundant"])?);
    let text = String::from_utf8(asked.stdout)?;
    let wrong = wrong_in_json(&text);
    if !wrong.is_empty() {
        return Err(wrong.join("\n").into());
    }
    let report: serde_json::Value = serde_json::from_str(&text)?;
    let answers = report["kernels"][0]["redundant"].as_array().ok_or("no list")?;
    let found: Vec<_> = answers.iter().map(|one| (one["answer"].as_str(), one["together"].as_bool())).collect();
    if found != [(Some("can-go"), Some(true)), (Some("can-go"), Some(false))] {
        return Err(format!("{found:?}").into());
    }
    let is_absent = !String::from_utf8(plain.stdout)?.contains("redundant\":");
    if is_absent && plain.status == asked.status { Ok(()) } else { Err("not as without the option".into()) }
}

fn check(mut case: Case) -> Result<(), Failed> {
    case.options = Options { redundant: true, ..case.options };
    let report = verify_case(&case)?;
    if report.verdict.name() != case.verdict {
        return Err(format!("expected {}, got {}\n{}", case.verdict, report.verdict.name(), summary(&report)).into());
    }
    let text = std::fs::read_to_string(&case.input)?;
    let answers = report.redundant.ok_or("nothing is said")?;
    let mut wrong = String::new();
    let mut said = 0;
    for (line, number) in text.lines().zip(1..) {
        let expected = line.split_once("; // ").map(|(_, expected)| expected);
        let found = answers.iter().find(|answer| answer.origin.line == number);
        said += u32::from(found.is_some());
        let is_right = match (expected, found) {
            (None, None) => true,
            (Some(expected), Some(found)) => meets(expected, found),
            _ => false,
        };
        if !is_right {
            let _ = writeln!(wrong, "line {number}: expected {expected:?}, got {found:?}");
        }
    }
    if said as usize != answers.len() {
        let _ = writeln!(wrong, "{} answers at {said} lines", answers.len());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

fn meets(expected: &str, found: &Redundant) -> bool {
    let (said, reason) = expected.split_once(": ").unwrap_or((expected, ""));
    let fate = match said {
        "CAN GO" | "CAN GO ALONE" => Fate::CanGo,
        "IS NEEDED" => Fate::Needed,
        "NOT CLAIMED" => Fate::NotClaimed,
        _ => return false,
    };
    let is_replayed = fate != Fate::CanGo || found.executions > 0;
    let has_reason = found.reason.as_deref().unwrap_or_default().contains(reason);
    found.fate == fate && found.together == (said == "CAN GO") && has_reason && is_replayed
}
