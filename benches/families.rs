//! What the families of candidate invariants are worth on the shipped correct kernels. Prints markdown;
//! docs/families.md holds and explains such tables.
//!
//! `cargo bench --bench families`: what was proposed, kept and dropped, and what the proofs cost; with
//! `-- --used` also what the proofs used (slow), with `-- --each` also for each kernel and family.
//! `cargo bench --bench families -- --ablation`: which kernels are lost when one family is left out, for
//! kernels with loops that are verified in [`QUICK`]; `--family NAME` (repeatable) tries only these.
//!
//! For all: `--only PATTERN` (repeatable) takes the kernels with that in their names, `--timeout SECS`
//! limits the proof of a kernel. Each kernel is proved for the launch of its header, without the search for
//! defects and launch conditions.

#[path = "../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use gpuvcc::driver::{input, pipeline};
use gpuvcc::effort::{Budget, Effort};
use gpuvcc::infer::candidates;
use gpuvcc::infer::houdini::Fate;
use gpuvcc::limits;
use gpuvcc::prove::PairOutcome;
use gpuvcc::prove::used::{self, Used};
use gpuvcc::twothread::Pair;
use std::time::{Duration, Instant};
use support::cases::{Case, cases};
use support::run::on_large_stack;

/// Kernels that take longer are left out of the ablation.
const QUICK: Duration = Duration::from_secs(3);

/// Time without a family, after which a kernel counts as lost.
const LOST: Duration = Duration::from_secs(10);

/// Time for the cores of a pair of threads.
const CORES: Effort = Effort::seconds(20);

/// What the command line asks for.
#[derive(Default)]
struct Request {
    ablation: bool,
    used: bool,
    each: bool,
    only: Vec<String>,
    families: Vec<String>,
    timeout: Option<Duration>,
}

/// What became of the candidates of a family.
#[derive(Clone, Copy, Default)]
struct Count {
    proposed: usize,
    kept: usize,
    used: usize,
    on_entry: usize,
    after_round: usize,
    undecided: usize,
}

/// One kernel.
#[derive(Default)]
struct Measured {
    name: String,
    proved: bool,
    loops: usize,
    iterations: usize,
    calls: u64,
    same_block: Duration,
    different_blocks: Duration,
    /// One for each name of [`candidates::names`].
    counts: Vec<Count>,
    /// Pairs of threads for which the solver gave no core.
    without_core: usize,
}

impl Measured {
    fn time(&self) -> Duration {
        self.same_block + self.different_blocks
    }

    fn total(&self) -> Count {
        self.counts.iter().fold(Count::default(), Count::plus)
    }
}

impl Count {
    fn plus(self, other: &Count) -> Count {
        Count {
            proposed: self.proposed + other.proposed,
            kept: self.kept + other.kept,
            used: self.used + other.used,
            on_entry: self.on_entry + other.on_entry,
            after_round: self.after_round + other.after_round,
            undecided: self.undecided + other.undecided,
        }
    }

    fn row(&self) -> String {
        let Count { proposed, kept, used, on_entry, after_round, undecided } = self;
        format!("{proposed} | {kept} | {used} | {on_entry} | {after_round} | {undecided}")
    }
}

fn main() {
    if let Err(message) = request(std::env::args().skip(1)).and_then(|request| run(&request)) {
        eprintln!("{message}");
        std::process::exit(2);
    }
}

fn request(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--ablation" => request.ablation = true,
            "--used" => request.used = true,
            "--each" => request.each = true,
            "--only" => request.only.push(value()?),
            "--family" => request.families.push(value()?),
            "--timeout" => {
                let seconds = value()?.parse().map_err(|_| "--timeout takes seconds".to_string())?;
                request.timeout = Some(Duration::from_secs(seconds));
            }
            // Cargo's own.
            "--bench" => {}
            _ => return Err(format!("`{argument}` is none of --ablation --used --each --only --family --timeout")),
        }
    }
    if let Some(unknown) = request.families.iter().find(|wanted| candidates::names().all(|name| name != **wanted)) {
        return Err(format!("no family is named `{unknown}`"));
    }
    Ok(request)
}

fn run(request: &Request) -> Result<(), String> {
    let wanted = |case: &Case| {
        let named = request.only.is_empty() || request.only.iter().any(|only| case.name.contains(only.as_str()));
        case.verdict == "verified" && named
    };
    let cases: Vec<Case> = cases("tests/kernels")?.into_iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err("no correct kernel has such a name".to_string());
    }
    if request.ablation { ablation(request, &cases) } else { census(request, &cases) }
}

/// Proves a kernel without some families; with `with_used` it asks for the cores, outside of the time.
fn measure(
    case: &Case,
    omitted: &[&'static str],
    with_used: bool,
    timeout: Option<Duration>,
) -> Result<Measured, String> {
    let input = input::read(&case.input.to_string_lossy()).map_err(|diagnostic| diagnostic.message)?;
    let mut options = case.options.clone();
    options.omit_families = omitted.to_vec();
    options.timeout = timeout.unwrap_or(options.timeout);
    let token = limits::Token::new(None);
    on_large_stack(|| {
        limits::during(Some(token), || {
            let mut measured = Measured { name: case.name.clone(), proved: true, ..Measured::default() };
            measured.counts = candidates::names().map(|_| Count::default()).collect();
            let program = pipeline::parse(&input).map_err(|diagnostics| diagnostics[0].message.clone())?;
            let first = program.kernels().into_iter().next().ok_or("no kernel")?;
            let entry = case.entry.clone().unwrap_or(first);
            let (mut last, mut calls) = (Instant::now(), queries());
            let mut outcomes = Vec::new();
            let proof = pipeline::prove(&input, &program, &entry, &options, &mut |two, outcome| {
                match two.pair {
                    Pair::DifferentBlocks => measured.different_blocks += last.elapsed(),
                    Pair::SameBlock | Pair::OneThread => measured.same_block += last.elapsed(),
                }
                measured.calls += queries() - calls;
                measured.proved &= outcome.refuted.is_empty() && outcome.open.is_empty();
                measured.proved &= outcome.endless.is_empty() && !outcome.vacuous;
                outcomes.push(outcome);
                (last, calls) = (Instant::now(), queries());
                Ok(measured.proved)
            });
            proof.map_err(|diagnostics| diagnostics[0].message.clone())?;
            for outcome in &outcomes {
                let used = with_used.then(|| used::run(outcome, Budget::new(CORES))).transpose();
                count(&mut measured, outcome, used.map_err(|error| error.message)?.as_ref());
            }
            Ok(measured)
        })
    })?
}

/// Adds what came of a pair of threads.
fn count(measured: &mut Measured, outcome: &PairOutcome, used: Option<&Used>) {
    let inference = &outcome.inference;
    measured.loops = inference.annotated.loops.len();
    measured.iterations += inference.iterations;
    measured.without_core += usize::from(measured.proved && matches!(used, Some(Used::All(_))));
    for (number, candidate) in inference.annotated.candidates.iter().enumerate() {
        let Some(family) = candidates::names().position(|name| name == candidate.family) else { continue };
        let count = &mut measured.counts[family];
        count.proposed += 1;
        count.used += usize::from(used.is_some_and(|used| used.is_used(number)));
        *match inference.fates[number] {
            Fate::Kept => &mut count.kept,
            Fate::RefutedOnEntry(_) => &mut count.on_entry,
            Fate::RefutedAfterRound(_) => &mut count.after_round,
            Fate::Undecided(_) => &mut count.undecided,
        } += 1;
    }
}

/// What all families propose, and what the proofs cost.
fn census(request: &Request, cases: &[Case]) -> Result<(), String> {
    let mut rows = Vec::new();
    for case in cases {
        match measure(case, &[], request.used, request.timeout) {
            Ok(measured) => rows.push(measured),
            Err(message) => eprintln!("{}: {message}", case.name),
        }
    }
    let with_loops = rows.iter().filter(|row| row.loops > 0).count();
    let proved = rows.iter().filter(|row| row.proved).count();
    println!("{} kernels, {with_loops} of them with loops; {proved} proved.", rows.len());
    if request.used {
        let without: usize = rows.iter().map(|row| row.without_core).sum();
        println!("For {without} of their pairs of threads the solver gave no core.");
    }
    println!("\n| family | proposed | kept | used | false on entry | not maintained | undecided |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (family, name) in candidates::names().enumerate() {
        let sum = rows.iter().fold(Count::default(), |sum, row| sum.plus(&row.counts[family]));
        println!("| `{name}` | {} |", sum.row());
    }
    let all = rows.iter().fold(Count::default(), |sum, row| sum.plus(&row.total()));
    println!("| all | {} |", all.row());
    kernels(&rows);
    if request.each {
        each(&rows);
    }
    Ok(())
}

/// A row for each kernel, the slowest first.
fn kernels(rows: &[Measured]) {
    let mut order: Vec<&Measured> = rows.iter().collect();
    order.sort_by_key(|row| std::cmp::Reverse(row.time()));
    println!(
        "\n| kernel | proved | loops | proposed | kept | used | iterations | solver calls | same block | different blocks |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let line = |name: &str, proved: &str, loops: usize, rows: &[&Measured]| {
        let sum = rows.iter().fold(Count::default(), |sum, row| sum.plus(&row.total()));
        let iterations: usize = rows.iter().map(|row| row.iterations).sum();
        let calls: u64 = rows.iter().map(|row| row.calls).sum();
        let (same, different): (Duration, Duration) =
            (rows.iter().map(|row| row.same_block).sum(), rows.iter().map(|row| row.different_blocks).sum());
        let (proposed, kept, used) = (sum.proposed, sum.kept, sum.used);
        let (same, different) = (seconds(same), seconds(different));
        println!(
            "| {name} | {proved} | {loops} | {proposed} | {kept} | {used} | {iterations} | {calls} | {same} | {different} |"
        );
    };
    for row in &order {
        line(&format!("`{}`", row.name), if row.proved { "yes" } else { "no" }, row.loops, &[row]);
    }
    line("all", "", rows.iter().map(|row| row.loops).sum(), &order);
}

/// A row for each kernel and family that proposes something for it.
fn each(rows: &[Measured]) {
    println!("\n| kernel | family | proposed | kept | used | false on entry | not maintained | undecided |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    for row in rows {
        for (name, count) in candidates::names().zip(&row.counts).filter(|(_, count)| count.proposed > 0) {
            println!("| `{}` | `{name}` | {} |", row.name, count.row());
        }
    }
}

/// Leaves out one family after the other.
fn ablation(request: &Request, cases: &[Case]) -> Result<(), String> {
    let timeout = Some(request.timeout.unwrap_or(LOST));
    let mut kernels = Vec::new();
    for case in cases {
        let measured = measure(case, &[], false, Some(QUICK))?;
        if measured.proved && measured.loops > 0 && measured.time() < QUICK {
            kernels.push((case, measured));
        }
    }
    println!("{} kernels with loops, each proved in less than {} s.", kernels.len(), QUICK.as_secs());
    println!("\n| family left out | tried on | lost | solver calls | seconds | kernels lost |");
    println!("|---|---:|---:|---:|---:|---|");
    let is_wanted = |name: &&str| request.families.is_empty() || request.families.iter().any(|wanted| wanted == name);
    for (family, name) in candidates::names().enumerate().filter(|(_, name)| is_wanted(name)) {
        // Elsewhere the family makes no difference.
        let with_it: Vec<_> = kernels.iter().filter(|(_, with)| with.counts[family].proposed > 0).collect();
        let (mut lost, mut before, mut after) = (Vec::new(), (0, Duration::ZERO), (0, Duration::ZERO));
        for (case, with) in &with_it {
            let without = measure(case, &[name], false, timeout)?;
            if !without.proved {
                lost.push(format!("`{}`", case.name));
                continue;
            }
            before = (before.0 + with.calls, before.1 + with.time());
            after = (after.0 + without.calls, after.1 + without.time());
        }
        let calls = format!("{} → {}", before.0, after.0);
        let time = format!("{} → {}", seconds(before.1), seconds(after.1));
        println!("| `{name}` | {} | {} | {calls} | {time} | {} |", with_it.len(), lost.len(), lost.join(" "));
    }
    println!("\nSolver calls and seconds are those of the kernels that are not lost, with the family → without it.");
    Ok(())
}

fn seconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64())
}

/// Queries of this task so far.
fn queries() -> u64 {
    limits::costs().iter().map(|(_, cost)| cost.queries).sum()
}
