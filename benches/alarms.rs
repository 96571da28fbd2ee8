//! How useful the alarms are for programs as people write them. Prints markdown; docs/alarms.md holds and explains it.
//!
//! `cargo bench --bench alarms`: every program of tests/programs in three ways: nothing is said, the launch is said,
//! and the scalars, too. `-- --way free` (repeatable) takes only that way, `--only PATTERN` (repeatable) programs with
//! that in their names, `--timeout SECS` limits each run.

#[path = "../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use gpuvcc::finding::{KernelReport, Verdict};
use gpuvcc::geometry::Geometry;
use std::time::{Duration, Instant};
use support::cases::{Case, cases};
use support::conditions::Values;
use support::places::within_marks;
use support::run::verify_case;

/// What is said: nothing, block and grid, and scalars, too.
const WAYS: [&str; 3] = ["free", "launch", "known"];

/// What the command line asks for.
struct Request {
    ways: Vec<String>,
    only: Vec<String>,
    timeout: Duration,
}

/// What an answer is worth to the author of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    /// A correct program is verified, or under conditions that its launch meets.
    Proved,
    /// A program is verified under conditions that its launch does not meet.
    Elsewhere,
    /// No answer.
    Open,
    /// A defect is shown at the lines of the bug.
    Found,
    /// A defect is shown that is not the program's bug.
    Useless,
    /// A program with a bug is verified for its own launch.
    Hidden,
}

impl Worth {
    /// Whether it is what an author wants: more information must not lose it.
    fn is_wanted(self) -> bool {
        matches!(self, Worth::Proved | Worth::Found)
    }

    fn sign(self) -> &'static str {
        match self {
            Worth::Proved => "",
            Worth::Found => "",
            Worth::Open => " ?",
            Worth::Elsewhere => " (not its launch)",
            Worth::Useless => " **useless**",
            Worth::Hidden => " **HIDES THE BUG**",
        }
    }
}

/// How many answers of a way are worth what.
#[derive(Default)]
struct Count {
    correct: usize,
    broken: usize,
    proved: usize,
    found: usize,
    useless: usize,
    hidden: usize,
    /// Answers that are less than wanted and not among the gaps of the header, or gaps that are closed.
    unexpected: Vec<String>,
}

fn main() {
    if let Err(message) = request(std::env::args().skip(1)).and_then(|request| run(&request)) {
        eprintln!("{message}");
        std::process::exit(2);
    }
}

fn request(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request { ways: Vec::new(), only: Vec::new(), timeout: Duration::from_secs(60) };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--way" => request.ways.push(value()?),
            "--only" => request.only.push(value()?),
            "--timeout" => {
                let seconds = value()?.parse().map_err(|_| "--timeout takes seconds".to_string())?;
                request.timeout = Duration::from_secs(seconds);
            }
            // Cargo's own.
            "--bench" => {}
            _ => return Err(format!("`{argument}` is none of --way --only --timeout")),
        }
    }
    if let Some(unknown) = request.ways.iter().find(|way| !WAYS.contains(&way.as_str())) {
        return Err(format!("`{unknown}` is none of free, launch, known"));
    }
    if request.ways.is_empty() {
        request.ways = WAYS.map(str::to_string).to_vec();
    }
    Ok(request)
}

fn run(request: &Request) -> Result<(), String> {
    let mut cases = cases("tests/programs")?;
    cases.retain(|case| request.only.is_empty() || request.only.iter().any(|part| case.name.contains(part)));
    println!("| program | {} |\n|---|{}", request.ways.join(" | "), "---|".repeat(request.ways.len()));
    let mut counts: Vec<Count> = request.ways.iter().map(|_| Count::default()).collect();
    let mut worse = Vec::new();
    for case in &cases {
        let answers =
            request.ways.iter().zip(&mut counts).map(|(way, count)| answer(case, way, request.timeout, count));
        let (cells, worths): (Vec<String>, Vec<Worth>) = answers.unzip();
        println!("| {} | {} |", case.name, cells.join(" | "));
        let lost = |pair: &[Worth]| pair[0].is_wanted() && !pair[1].is_wanted();
        worse.extend(worths.windows(2).any(lost).then(|| format!("{}: {}", case.name, cells.join(", "))));
    }
    println!(
        "\n| way | alarms | of them useful | bugs found | bugs hidden | correct proved |\n|---|--:|--:|--:|--:|--:|"
    );
    for (way, count) in request.ways.iter().zip(&counts) {
        println!("| {way} | {} |", count.row());
    }
    println!("\nworse with more information: {}", worse.len());
    worse.iter().for_each(|line| println!("\n{line}"));
    for (way, count) in request.ways.iter().zip(&counts) {
        for line in &count.unexpected {
            println!("\n{way}: {line}");
        }
    }
    Ok(())
}

/// Asks in one way, counts the answer, and gives the cell of the table.
fn answer(case: &Case, way: &str, timeout: Duration, count: &mut Count) -> (String, Worth) {
    let mut asked = case.clone();
    asked.options.timeout = timeout;
    if way != "known" {
        asked.options.params.clear();
        asked.options.dynamic_shared = None;
    }
    if way == "free" {
        asked.options.geometry = Geometry::FREE;
        (asked.options.block_is_given, asked.options.grid_is_given) = (false, false);
    }
    let start = Instant::now();
    let report = verify_case(&asked);
    let seconds = start.elapsed().as_secs_f64();
    let (verdict, worth) = match &report {
        Ok(report) => (report.verdict.name(), worth(case, report)),
        Err(_) => ("wrong input", Worth::Open),
    };
    count.add(case, way, verdict, worth);
    (format!("{verdict}{} {seconds:.1} s", worth.sign()), worth)
}

fn worth(case: &Case, report: &KernelReport) -> Worth {
    let values = Values::of(case, &report.entry);
    let is_met = report.conditions.iter().all(|condition| values.meet(condition));
    let is_correct = case.verdict == "verified";
    match report.verdict {
        Verdict::Verified | Verdict::VerifiedWhen if !is_met => Worth::Elsewhere,
        Verdict::Verified | Verdict::VerifiedWhen if is_correct => Worth::Proved,
        Verdict::Verified | Verdict::VerifiedWhen => Worth::Hidden,
        Verdict::Defect(_) if report.findings.first().is_some_and(|finding| within_marks(case, finding)) => {
            Worth::Found
        }
        Verdict::Defect(_) => Worth::Useless,
        _ => Worth::Open,
    }
}

impl Count {
    fn add(&mut self, case: &Case, way: &str, verdict: &str, worth: Worth) {
        let is_correct = case.verdict == "verified";
        let total = if is_correct { &mut self.correct } else { &mut self.broken };
        *total += 1;
        match worth {
            Worth::Proved => self.proved += 1,
            Worth::Found => self.found += 1,
            Worth::Useless => self.useless += 1,
            Worth::Hidden => self.hidden += 1,
            Worth::Open | Worth::Elsewhere => {}
        }
        let is_wanted = worth == if is_correct { Worth::Proved } else { Worth::Found };
        let gap = case.gaps.iter().find(|gap| gap.way == way);
        match gap {
            Some(gap) if is_wanted => {
                self.unexpected.push(format!("{}: the gap `{}` is closed", case.name, gap.verdict));
            }
            Some(gap) if gap.verdict != verdict => {
                self.unexpected.push(format!("{}: {verdict}, not {}", case.name, gap.verdict));
            }
            // How far a proof comes in its time depends on the machine, so that headers do not list it.
            None if way != "known" && verdict == "unknown" => {}
            None if !is_wanted => self.unexpected.push(format!("{}: {verdict}, which is no gap yet", case.name)),
            _ => {}
        }
    }

    fn row(&self) -> String {
        let alarms = self.found + self.useless;
        format!(
            "{alarms} | {} | {} of {} | {} | {} of {}",
            share(self.found, alarms),
            self.found,
            self.broken,
            self.hidden,
            self.proved,
            self.correct
        )
    }
}

fn share(part: usize, of: usize) -> String {
    let percent = (part * 100).checked_div(of);
    percent.map_or("-".to_string(), |percent| format!("{part} ({percent} %)"))
}
