//! Boogie on the two-thread program that `--emit ivl` prints, for shipped kernels at the launch of their headers.
//!
//! Boogie must accept the text, and its verdict must be ours: no error where we say `verified`, and an error at an
//! assertion of the same kind where we report a defect. Kept invariants are printed as assertions at loop heads, where
//! Boogie proves them like any user's; it has nothing to infer. `support::boogie` has its options.
//!
//! Boogie's Z3 may be years older than ours and it has only bit-vectors; what it does not decide in time is counted and
//! named apart, and may not be more than a share of all. `kernels/boogie_timeouts.txt` names what is known not to be
//! decided: Boogie must accept it, no more, and is asked for every fifth. Every sixteenth kernel is looked at, correct ones and broken
//! twins in turn; with `GPUVCC_AGREEMENT=n` every n-th kernel, and with `GPUVCC_AGREEMENT=all` all kernels, those that
//! are known not to be decided, too. `GPUVCC_AGREEMENT_KEEP` names a folder where the programs are kept. Where Boogie is
//! not installed the test is skipped.

use crate::support::boogie;
use crate::support::cases::{Case, cases};
use crate::support::run::on_large_stack;
use gpuvcc::diagnostic::Severity;
use gpuvcc::driver::options::{Options, Stage};
use gpuvcc::driver::{input, pipeline};
use libtest_mimic::{Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where a Boogie that does not keep its time limit is ended.
const PATIENCE: Duration = Duration::from_secs(12);
/// Of all kernels, in percent: this many may be undecided.
const UNDECIDED_PERCENT: usize = 40;

/// Behind Boogie's other options: Z3 gives values only to what matters.
const RELEVANCY: &str = "/z3opt:smt.relevancy=2";

const GAPS: &str = include_str!("kernels/known_gaps.txt");
const TIMEOUTS: &str = include_str!("kernels/boogie_timeouts.txt");

/// Every sixteenth kernel, unless more or fewer are asked for.
const ONE_OF: usize = 16;

/// One of so many programs that Boogie only reads: what it accepts, the others show as well.
const READ: usize = 5;

/// Time for invariants of a program that Boogie only reads.
const READING: Duration = Duration::from_secs(1);

/// Names of kernels, by what came of them.
struct Tally {
    agree: Vec<String>,
    undecided: Vec<String>,
    disagree: Vec<String>,
}

static TALLY: Mutex<Tally> = Mutex::new(Tally { agree: Vec::new(), undecided: Vec::new(), disagree: Vec::new() });

pub fn trials() -> Vec<Trial> {
    if !boogie::is_installed() {
        println!("agreement: skipped, no `boogie` on the path");
        return Vec::new();
    }
    let wanted = std::env::var("GPUVCC_AGREEMENT").unwrap_or_default();
    let step = wanted.parse().unwrap_or(if wanted == "all" { 1 } else { ONE_OF }).max(1);
    let cases = cases("tests/kernels").unwrap_or_else(|error| panic!("tests/kernels: {error}"));
    let timeouts: BTreeSet<&str> = TIMEOUTS.lines().filter(|line| !line.starts_with('#')).collect();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let unknown: Vec<&&str> = timeouts.difference(&names).collect();
    assert!(unknown.is_empty(), "boogie_timeouts.txt names what is no kernel: {unknown:?}");
    let timeouts = if wanted == "all" { BTreeSet::new() } else { timeouts };
    // A correct kernel and its broken twin stand one after the other; an odd stride over pairs takes both kinds.
    let sample = cases.into_iter().enumerate().filter(|(index, _)| step == 1 || index % step == index / step % 2);
    let is_hard = |case: &Case| timeouts.contains(case.name.as_str());
    let is_asked = |(index, case): &(usize, Case)| !is_hard(case) || index % READ == 0;
    let trials = sample.filter(is_asked).map(|(_, case)| {
        let is_hard = is_hard(&case);
        Trial::test(case.name.clone(), move || trial(&case, is_hard))
    });
    trials.collect()
}

/// What all of them say together, once they are over: whether Boogie decided enough of them.
pub fn conclude() -> bool {
    let tally = TALLY.lock().unwrap_or_else(PoisonError::into_inner);
    let (agree, undecided) = (tally.agree.len(), tally.undecided.len());
    if agree + undecided + tally.disagree.len() == 0 {
        return true;
    }
    println!(
        "agreement: {agree} agree, {undecided} timed out ({}), {} disagree",
        tally.undecided.join(", "),
        tally.disagree.len()
    );
    if undecided * 100 > (agree + undecided) * UNDECIDED_PERCENT && agree + undecided > 1 {
        println!("agreement: failed, more than {UNDECIDED_PERCENT} % are undecided");
        return false;
    }
    true
}

fn trial(case: &Case, is_hard: bool) -> Result<(), Failed> {
    let verdict = verdict(case);
    // Without a proof or a defect there is nothing to compare.
    let Some(expected) = Expected::of(verdict) else { return Ok(()) };
    // Where Boogie reads the text and no more, it need not have all invariants.
    let hurry = is_hard.then(|| with_timeout(case, READING));
    let answer = match text(hurry.as_ref().unwrap_or(case)) {
        // Some defects are seen in executions only: barriers that have no two-thread program.
        Ok(None) => return Ok(()),
        Ok(Some(text)) if is_hard => accept(case, &text),
        Ok(Some(text)) => judge(case, &text, &expected),
        Err(error) => Err(error),
    };
    let mut tally = TALLY.lock().unwrap_or_else(PoisonError::into_inner);
    match answer {
        Ok(true) => tally.agree.push(case.name.clone()),
        Ok(false) => tally.undecided.push(case.name.clone()),
        Err(_) => tally.disagree.push(case.name.clone()),
    }
    answer.map(|_| ()).map_err(Failed::from)
}

fn with_timeout(case: &Case, timeout: Duration) -> Case {
    Case { options: Options { timeout, ..case.options.clone() }, ..case.clone() }
}

/// What we say of the kernel, which `tests/kernels.rs` checks.
fn verdict(case: &Case) -> &str {
    let gap = GAPS.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let gap = gap.filter(|words| words.len() > 2).find(|words| words[0] == case.name).map(|words| words[1]);
    gap.unwrap_or(&case.verdict)
}

/// What Boogie has to say.
enum Expected {
    Verified,
    /// An error at an assertion with this attribute.
    Error(&'static str),
}

impl Expected {
    fn of(verdict: &str) -> Option<Expected> {
        match verdict.strip_prefix("possible-").unwrap_or(verdict) {
            "verified" => Some(Expected::Verified),
            "race" => Some(Expected::Error("{:race ")),
            "divergence" => Some(Expected::Error("{:barrier_divergence}")),
            // Those of the user have no attribute in common.
            "assertion" => Some(Expected::Error("assert ")),
            _ => None,
        }
    }
}

/// `--emit ivl`, which must be a fixed point of parsing and printing, but for comments. `None`: it is unsupported.
fn text(case: &Case) -> Result<Option<String>, String> {
    on_large_stack(|| {
        let input = input::read(&case.input.to_string_lossy()).map_err(|error| error.message)?;
        let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
        let entry = case.entry.clone().unwrap_or_else(|| program.kernels().remove(0));
        let text = match pipeline::emit(&input, &program, &entry, Stage::Ivl, &case.options) {
            Ok(text) => text,
            Err(errors) if errors.iter().all(|error| error.severity == Severity::Unsupported) => return Ok(None),
            Err(errors) => return Err(format!("{errors:?}")),
        };
        let again = gpuvcc::ivl::parse(&text).map_err(|errors| format!("it does not parse again: {errors:?}"))?;
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        match code.eq(gpuvcc::ivl::print(&again).lines()) {
            true => Ok(Some(text)),
            false => Err("parsed and printed again it is another text".to_string()),
        }
    })?
}

/// Boogie parses and types the text, and is asked for no more.
fn accept(case: &Case, text: &str) -> Result<bool, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = written(case, text, folder.path())?;
    match run(&path, &["/noVerify"])? {
        Some(output) if boogie::summary(&output).is_some() => Ok(false),
        output => Err(format!("Boogie refuses the program:\n{}", clip(&output.unwrap_or_default()))),
    }
}

fn written(case: &Case, text: &str, folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("program.bpl");
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    if let Ok(keep) = std::env::var("GPUVCC_AGREEMENT_KEEP") {
        let name = format!("{}.bpl", case.name.replace('/', "-"));
        std::fs::write(Path::new(&keep).join(name), text).map_err(|error| error.to_string())?;
    }
    Ok(path)
}

/// True: Boogie says the same. False: it does not say. `Err`: it says something else, or refuses the text.
fn judge(case: &Case, text: &str, expected: &Expected) -> Result<bool, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = written(case, text, folder.path())?;
    let answer = compare(&path, text, expected, &[])?;
    match answer {
        // Boogie reads from literals where it fails, and without relevancy Z3 also gives values to those that do not
        // matter: the verdict counts, its place may not.
        Told::OtherPlace(_) => match compare(&path, text, expected, &[RELEVANCY])? {
            Told::OtherPlace(errors) => Err(errors),
            told => Ok(told == Told::Same),
        },
        told => Ok(told == Told::Same),
    }
}

/// What Boogie says beside what we say.
#[derive(PartialEq)]
enum Told {
    Same,
    Nothing,
    /// We have a defect that it does not have, and these are its errors.
    OtherPlace(String),
}

fn compare(path: &Path, text: &str, expected: &Expected, more_options: &[&str]) -> Result<Told, String> {
    let Some(output) = run(path, more_options)? else { return Ok(Told::Nothing) };
    let Some(summary) = boogie::summary(&output) else {
        return Err(format!("Boogie refuses the program:\n{}", clip(&output)));
    };
    let errors = errors(&output, text);
    let undecided = boogie::UNDECIDED.iter().any(|word| summary.contains(word));
    match expected {
        // Our own proof, in a slow test, did not come to its end; its program has too few invariants.
        Expected::Verified if text.contains("not every assertion is proved") => Ok(Told::Nothing),
        Expected::Verified if !errors.is_empty() => Err(format!("verified, but Boogie finds:\n{}", list(&errors))),
        Expected::Verified if undecided => Ok(Told::Nothing),
        Expected::Verified => Ok(Told::Same),
        Expected::Error(kind) if errors.values().any(|line| refutes(line, kind)) => Ok(Told::Same),
        Expected::Error(_) if undecided => Ok(Told::Nothing),
        Expected::Error(kind) => {
            let told = format!("a defect, but Boogie has no error at {kind}:\n{summary}\n{}", list(&errors));
            Ok(Told::OtherPlace(told))
        }
    }
}

/// Behind lanes and threads that do not meet the program goes on as if they had, so a defect there may be out of reach.
fn refutes(assertion: &str, kind: &str) -> bool {
    [kind, "{:lanes_met}", "{:barrier_divergence_unaligned}"].iter().any(|known| assertion.contains(known))
}

/// What Boogie prints; `None` when it takes too long.
fn run(path: &Path, more_options: &[&str]) -> Result<Option<String>, String> {
    let printed = path.with_extension("output");
    let output = File::create(&printed).map_err(|error| error.to_string())?;
    let mut command = Command::new("boogie");
    command
        .args(boogie::OPTIONS)
        .args(more_options)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let start = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    std::fs::read_to_string(&printed).map(Some).map_err(|error| error.to_string())
}

/// Number and text of the lines at which Boogie reports errors.
fn errors<'a>(output: &str, text: &'a str) -> BTreeMap<usize, &'a str> {
    let lines: Vec<&str> = text.lines().collect();
    let places = output.lines().filter_map(boogie::error_line);
    places.map(|number| (number, lines.get(number.saturating_sub(1)).copied().unwrap_or("?"))).collect()
}

fn list(errors: &BTreeMap<usize, &str>) -> String {
    errors.iter().map(|(number, line)| format!("  {number}: {}\n", clip(line.trim()))).collect()
}

fn clip(text: &str) -> String {
    text.chars().take(2000).collect()
}
