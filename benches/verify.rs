//! How long each shipped kernel takes, stage by stage: `cargo bench`, or `cargo bench -- saxpy` for
//! the kernels with that in their names. Prints markdown.
//!
//! `cargo bench --bench verify -- --jobs 2` compares one job with two instead, for kernels one after the other: medians
//! of runs that take turns, so that a busy machine slows both alike.
//!
//! A stage is timed on its own, once, before the whole run; what is left of the whole is inference and
//! proof. The tables are those of the README's benchmark section. Verdicts are not judged here; tests/kernels.rs does that.

#[path = "../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use gpuvcc::cfg;
use gpuvcc::driver::input;
use gpuvcc::driver::options::Options;
use gpuvcc::driver::pipeline::{self, Program};
use gpuvcc::kernel::{self, LowerOptions};
use gpuvcc::predicate;
use gpuvcc::prove::question;
use gpuvcc::twothread::{self, prelude};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};
use support::cases::{Case, cases};
use support::run::{on_large_stack, verify, verify_case};

/// The columns before the total.
const STAGES: [&str; 6] = ["parse", "cfg", "kernel", "predicate", "two threads", "invariants and proof"];

/// Rows of the table of slow kernels.
const SLOWEST: usize = 10;

/// Runs for each number of jobs.
const RUNS: usize = 3;

/// Kernels that take less are not listed where jobs are compared: starting threads is all that is seen.
const LISTED: Duration = Duration::from_millis(200);

/// Time in which the median kernel is to be done.
const TARGET: Duration = Duration::from_millis(50);

/// One kernel's times.
struct Row {
    name: String,
    verdict: String,
    stages: Vec<Duration>,
    total: Duration,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let jobs = arguments.iter().position(|argument| argument == "--jobs").and_then(|at| {
        let end = arguments.len().min(at + 2);
        arguments.drain(at..end).nth(1)?.parse::<NonZeroUsize>().ok()
    });
    // Cargo adds flags such as --bench.
    let filters: Vec<String> = arguments.into_iter().filter(|argument| !argument.starts_with('-')).collect();
    let cases = match cases("tests/kernels") {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    let wanted = |case: &&Case| filters.is_empty() || filters.iter().any(|filter| case.name.contains(filter.as_str()));
    if let Some(jobs) = jobs {
        return compare(cases.iter().filter(wanted), jobs);
    }
    let mut rows = Vec::new();
    for case in cases.iter().filter(wanted) {
        match measure(case) {
            Ok(row) => rows.push(row),
            Err(message) => eprintln!("{}: {message}", case.name),
        }
    }
    if rows.is_empty() {
        eprintln!("no kernel has such a name");
        std::process::exit(2);
    }
    print(rows);
}

/// Times a kernel once.
fn measure(case: &Case) -> Result<Row, String> {
    let input = input::read(&case.input.to_string_lossy()).map_err(|diagnostic| diagnostic.message)?;
    let lowering = on_large_stack(|| lowering(&input, case))?;
    let start = Instant::now();
    let report = verify(&input, case.entry.as_deref(), &case.options)?;
    let total = start.elapsed();
    let mut stages = lowering.unwrap_or_default();
    stages.resize(STAGES.len() - 1, Duration::ZERO);
    stages.push(total.saturating_sub(stages.iter().sum()));
    Ok(Row { name: case.name.clone(), verdict: report.verdict.name().to_string(), stages, total })
}

/// What jobs gain: a table of the slower kernels, and the sums of all.
fn compare<'a>(cases: impl Iterator<Item = &'a Case>, jobs: NonZeroUsize) {
    let time = |case: &Case, jobs: NonZeroUsize| {
        let options = Options { jobs, ..case.options.clone() };
        let start = Instant::now();
        let report = verify_case(&Case { options, ..case.clone() })?;
        Ok::<_, String>((report.verdict.name(), start.elapsed()))
    };
    let mut sums = BTreeMap::<&str, [Duration; 2]>::new();
    println!("| kernel | verdict | 1 job, s | {jobs} jobs, s | ratio |\n|---|---|---:|---:|---:|");
    for case in cases {
        let runs: Result<Vec<_>, String> =
            (0..RUNS).map(|_| Ok((time(case, NonZeroUsize::MIN)?, time(case, jobs)?))).collect();
        let Ok(runs) = runs.inspect_err(|message| eprintln!("{}: {message}", case.name)) else { continue };
        let verdict = runs[0].0.0;
        let (one, more): (Vec<_>, Vec<_>) = runs.into_iter().map(|(one, more)| (one.1, more.1)).unzip();
        let medians = [median(one), median(more)];
        let sum = sums.entry(verdict).or_default();
        *sum = [sum[0] + medians[0], sum[1] + medians[1]];
        if medians[0] >= LISTED {
            comparison(&case.name, verdict, medians);
        }
    }
    sums.into_iter().for_each(|(verdict, sum)| comparison("all", verdict, sum));
}

fn comparison(name: &str, verdict: &str, times: [Duration; 2]) {
    let [one, more] = times.map(|time| time.as_secs_f64());
    println!("| {name} | {verdict} | {one:.2} | {more:.2} | {:.2} |", more / one);
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Times of the stages before inference; `None` when one of them refuses the kernel.
fn lowering(input: &input::Input, case: &Case) -> Option<Vec<Duration>> {
    let options = LowerOptions {
        geometry: case.options.geometry,
        params: case.options.params.iter().map(|one| (one.name.clone(), one.value as u64)).collect(),
        rules: case.options.rules,
        max_threads: case.options.max_threads,
        ..LowerOptions::default()
    };
    let mut times = Vec::new();
    let mut last = Instant::now();
    let mut lap = || {
        times.push(last.elapsed());
        last = Instant::now();
    };
    let program = pipeline::parse(input).ok()?;
    lap();
    let Program::Ptx(module) = &program else { return None };
    let entry = module.functions.iter().find(|function| function.is_entry && function.body.is_some())?;
    let cfg = cfg::build(module, entry, Default::default()).ok()?;
    lap();
    let kernel = kernel::lower(module, entry, &cfg, &options).ok()?;
    lap();
    let predicated = predicate::run(&kernel.program).ok()?;
    lap();
    let two_thread_options =
        twothread::Options { geometry: kernel.geometry, rules: case.options.rules, contents: true };
    let prelude = prelude::load(prelude::WATCHED_BYTE).ok()?;
    for pair in question::pairs(&two_thread_options, &kernel) {
        twothread::run(&predicated, &prelude, pair, &two_thread_options).ok()?;
    }
    lap();
    Some(times)
}

fn print(mut rows: Vec<Row>) {
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *verdicts.entry(&row.verdict).or_default() += 1;
    }
    let verdicts: Vec<String> = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let within = rows.iter().filter(|row| row.total <= TARGET).count();
    let (count, target) = (rows.len(), TARGET.as_millis());
    println!("{count} kernels: {}; {within} of them within {target} ms.", verdicts.join(", "));
    println!();
    rows.sort_by_key(|row| std::cmp::Reverse(row.total));
    println!("| stage | median | slowest |");
    println!("|---|---:|---:|");
    for (index, stage) in STAGES.iter().enumerate() {
        line(stage, rows.iter().map(|row| row.stages[index]).collect());
    }
    line("whole run", rows.iter().map(|row| row.total).collect());
    println!();
    println!("| kernel | verdict | seconds |");
    println!("|---|---|---:|");
    for row in rows.iter().take(SLOWEST) {
        println!("| `{}` | {} | {:.2} |", row.name, row.verdict, row.total.as_secs_f64());
    }
}

/// A stage's line: median and maximum.
fn line(stage: &str, mut times: Vec<Duration>) {
    times.sort();
    if let (Some(median), Some(slowest)) = (times.get(times.len() / 2), times.last()) {
        println!("| {stage} | {} | {} |", milliseconds(*median), milliseconds(*slowest));
    }
}

fn milliseconds(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds < 10.0 { format!("{milliseconds:.2} ms") } else { format!("{milliseconds:.0} ms") }
}
