//! What the verifier finds for itself where every launch of a kernel is free. Prints a markdown table.
//!
//! `cargo bench --bench launches`: the kernels of tests/kernels/launches.txt; `-- --all` takes all shipped kernels,
//! `--only PATTERN` (repeatable) those with that in their names, `--timeout SECS` limits each.

#[path = "../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use gpuvcc::finding::KernelReport;
use gpuvcc::geometry::Geometry;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use support::cases::{Case, cases};
use support::run::verify_case;

const LISTED: &str = include_str!("../tests/kernels/launches.txt");

/// What the command line asks for.
struct Request {
    all: bool,
    only: Vec<String>,
    timeout: Duration,
}

fn main() {
    let request = request().unwrap_or_else(|message| panic!("{message}"));
    let listed: BTreeSet<&str> = LISTED.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let mut cases = cases("tests/kernels").unwrap_or_else(|message| panic!("{message}"));
    cases.retain(|case| {
        let is_wanted = request.only.is_empty() || request.only.iter().any(|part| case.name.contains(part));
        is_wanted && (request.all || listed.contains(case.name.as_str()))
    });
    println!("| kernel | verdict | conditions | seconds |\n|---|---|---|--:|");
    let mut times: Vec<Duration> = cases.into_iter().map(|case| row(case, request.timeout)).collect();
    times.sort();
    let below = |limit: f64| times.iter().filter(|time| time.as_secs_f64() <= limit).count();
    println!(
        "\n{} kernels: {} within 0.2 s, {} within 1 s, {} within 5 s",
        times.len(),
        below(0.2),
        below(1.0),
        below(5.0)
    );
}

fn request() -> Result<Request, String> {
    let mut request = Request { all: false, only: Vec::new(), timeout: Duration::from_secs(20) };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--all" => request.all = true,
            "--only" => request.only.push(value()?),
            "--timeout" => {
                let seconds = value()?;
                request.timeout = Duration::from_secs(seconds.parse().map_err(|_| format!("no number: {seconds}"))?);
            }
            // What cargo passes on.
            "--bench" => {}
            _ => return Err(format!("unknown argument {argument}")),
        }
    }
    Ok(request)
}

/// Prints a kernel's row, and answers how long it took.
fn row(mut case: Case, timeout: Duration) -> Duration {
    (case.options.geometry, case.options.timeout) = (Geometry::FREE, timeout);
    let start = Instant::now();
    let report = verify_case(&case);
    let time = start.elapsed();
    let (verdict, conditions) = match &report {
        Ok(report) => (report.verdict.name(), told(report)),
        Err(_) => ("wrong input", String::new()),
    };
    println!("| {} | {verdict} | {conditions} | {:.2} |", case.name, time.as_secs_f64());
    time
}

/// The conditions, less those that axes which the kernel does not use have size 1.
fn told(report: &KernelReport) -> String {
    let sizes = report.conditions.iter().filter(|condition| !condition.ends_with(" == 1"));
    sizes.cloned().collect::<Vec<_>>().join(", ")
}
