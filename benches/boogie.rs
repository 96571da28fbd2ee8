//! gpuvcc and Boogie on the same file, as whole processes: `cargo bench --bench boogie`, or `... -- maps` for the files
//! with that in their names. Prints markdown; `skipped: no boogie` where there is none.
//!
//! - **small**: the procedures of tests/procedures, and the two-thread programs that `--emit ivl` prints for some shipped
//!   kernels, with their invariants;
//! - **large**: the programs of [`large_program`], 2,000 blocks and 10,000 assertions each.
//!
//! Runs take turns (ours, theirs, ours, ...), so that a busy machine slows both alike; the ratio is that of the medians.
//! Lines at which errors are found are compared, and a difference stands in the last column. gpuvcc has the number of
//! jobs that it takes by itself; Boogie proves one procedure after the other, as it does by itself.

mod large_program;
#[path = "../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use gpuvcc::driver::options::Stage;
use gpuvcc::driver::{input, pipeline};
use large_program::{Shape, large_program};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use support::boogie;
use support::cases::{Case, cases};
use support::run::on_large_stack;

/// Kernels whose two-thread programs are proved.
const KERNELS: [&str; 12] = [
    "saxpy",
    "transpose",
    "stencil_1d",
    "early_return",
    "reduce_sequential",
    "dot_product",
    "matmul_tiled",
    "copy_then_use",
    "halo_1d",
    "index_64bit",
    "jacobi_shared",
    "saxpy_broken",
];
/// Runs of each program on a small file.
const SMALL_RUNS: usize = 5;
/// Runs of each program on a large one.
const LARGE_RUNS: usize = 3;
/// How many times as fast we mean to be.
const TARGETS: [(&str, f64); 2] = [("small", 10.0), ("large", 3.0)];
/// For whole files and single procedures.
const SECONDS: &str = "60";

/// A file that both get.
struct Subject {
    name: String,
    path: PathBuf,
    options: Vec<String>,
}

/// The lines with errors, and whether something is left undecided.
#[derive(PartialEq)]
struct Answer {
    lines: BTreeSet<usize>,
    undecided: bool,
}

fn main() {
    // Cargo adds flags such as --bench.
    let filters: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if !boogie::is_installed() {
        return println!("skipped: no boogie");
    }
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("a temporary folder: {error}"));
    let wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let small = procedures().into_iter().chain(kernels(folder.path(), &wanted));
    let groups = [(SMALL_RUNS, small.collect::<Vec<_>>()), (LARGE_RUNS, large(folder.path()))];
    println!("| file | gpuvcc, s | Boogie, s | ratio | |\n|---|---:|---:|---:|---|");
    let mut summaries = Vec::new();
    for ((group, target), (runs, subjects)) in TARGETS.into_iter().zip(groups) {
        let subjects = subjects.iter().filter(|subject| wanted(&subject.name));
        let mut ratios: Vec<f64> = subjects.filter_map(|subject| compare(subject, runs)).collect();
        ratios.sort_by(f64::total_cmp);
        if let (Some(least), Some(middle)) = (ratios.first(), ratios.get(ratios.len() / 2)) {
            let count = ratios.len();
            let met = ratios.iter().filter(|ratio| **ratio >= target).count();
            summaries.push(format!(
                "{group}: {count} files, median ratio {middle:.1}, least {least:.1}; {met} at least {target:.0}"
            ));
        }
    }
    println!("\n{}", summaries.join("\n"));
}

/// Prints a line; gives how many times as fast we are.
fn compare(subject: &Subject, runs: usize) -> Option<f64> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut answers = None;
    for _ in 0..runs {
        let (time, our) = timed(|| gpuvcc(&subject.path));
        ours.push(time);
        let (time, their) = timed(|| run_boogie(subject));
        theirs.push(time);
        answers = Some((our, their));
    }
    let note = match answers? {
        (Err(why), _) | (_, Err(why)) => why,
        (Ok(our), Ok(their)) if our.undecided || their.undecided => match (our.undecided, their.undecided) {
            (true, true) => "undecided".to_string(),
            (true, false) => "gpuvcc: undecided".to_string(),
            _ => "Boogie: undecided".to_string(),
        },
        (Ok(our), Ok(their)) if our == their => match our.lines.len() {
            0 => String::new(),
            count => format!("{count} errors"),
        },
        (Ok(our), Ok(their)) => format!("DIFFERENT: lines {:?} and {:?}", our.lines, their.lines),
    };
    let [ours, theirs] = [ours, theirs].map(|times| median(times).as_secs_f64());
    let ratio = theirs / ours;
    println!("| {} | {ours:.3} | {theirs:.3} | {ratio:.1} | {note} |", subject.name);
    Some(ratio)
}

fn timed<T>(task: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = task();
    (start.elapsed(), result)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn gpuvcc(path: &Path) -> Result<Answer, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuvcc"));
    command.arg(path).args(["--format", "json", "--timeout", SECONDS]);
    let output = command.output().map_err(|error| error.to_string())?;
    let json: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("gpuvcc: {error}"))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    if let Some(error) = list(&json["errors"]).first() {
        return Err(format!("gpuvcc refuses it: {}", error["message"]));
    }
    let procedures = list(&json["kernels"]);
    let findings = procedures.iter().flat_map(|procedure| list(&procedure["findings"]));
    let lines = findings.filter_map(|finding| Some(finding["line"].as_u64()? as usize)).collect();
    let undecided = procedures.iter().any(|one| one["verdict"] == "unknown" || !list(&one["reasons"]).is_empty());
    Ok(Answer { lines, undecided })
}

fn run_boogie(subject: &Subject) -> Result<Answer, String> {
    let mut command = Command::new("boogie");
    command.args(&subject.options).arg(&subject.path);
    let output = command.output().map_err(|error| error.to_string())?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(summary) = boogie::summary(&output) else { return Err("Boogie refuses it".to_string()) };
    let lines = output.lines().filter_map(boogie::error_line).filter(|&line| line > 0).collect();
    Ok(Answer { lines, undecided: boogie::UNDECIDED.iter().any(|word| summary.contains(word)) })
}

/// Boogie as it is, where the file does not ask for more.
fn plain_options(text: &str) -> Vec<String> {
    let infers = text.contains(":existential").then(|| "/contractInfer".to_string());
    let mut options = vec!["/nologo".to_string(), format!("/timeLimit:{SECONDS}"), "/errorLimit:50".to_string()];
    options.extend(infers);
    options
}

/// tests/procedures, in the order of their names.
fn procedures() -> Vec<Subject> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/procedures");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "bpl"));
    paths.sort();
    let subject = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).ok()?;
        Some(Subject { name, path, options: plain_options(&text) })
    };
    paths.into_iter().filter_map(subject).collect()
}

/// The two-thread programs of [`KERNELS`].
fn kernels(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Vec<Subject> {
    let cases = cases("tests/kernels").unwrap_or_else(|error| panic!("{error}"));
    let named = |name: &&str| cases.iter().find(|case| case.name == **name);
    let subject = |case: &Case| {
        let text = two_thread_program(case).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let path = written(folder, &format!("{}.ivl.bpl", case.name), &text);
        let options = boogie::OPTIONS.map(str::to_string).to_vec();
        Subject { name: format!("{} (two threads)", case.name), path, options }
    };
    let cases = KERNELS.iter().filter(|name| wanted(&format!("{name} (two threads)"))).filter_map(named);
    cases.map(subject).collect()
}

fn two_thread_program(case: &Case) -> Result<String, String> {
    on_large_stack(|| {
        let input = input::read(&case.input.to_string_lossy()).map_err(|error| error.message)?;
        let program = pipeline::parse(&input).map_err(|errors| format!("{errors:?}"))?;
        let entry = case.entry.clone().unwrap_or_else(|| program.kernels().remove(0));
        let text = pipeline::emit(&input, &program, &entry, Stage::Ivl, &case.options);
        text.map_err(|errors| format!("{errors:?}"))
    })?
}

fn large(folder: &Path) -> Vec<Subject> {
    let subject = |shape: Shape| {
        let text = large_program(shape);
        let path = written(folder, &format!("{shape:?}.bpl"), &text);
        Subject { name: format!("large {shape:?}").to_lowercase(), path, options: plain_options(&text) }
    };
    Shape::ALL.into_iter().map(subject).collect()
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}
