//! The emulator against the oracle.
//!
//! Establishes: each defect that a run shows is one that some schedule can show.

use super::oracle::{Answer, Defect, explore};
use super::print::{Printed, print};
use super::protocol::{Place, Protocol};
use gpuvcc::driver::cli::{self, Command};
use gpuvcc::driver::emulate;
use gpuvcc::finding::{self, AccessKind, Finding, KernelReport, Verdict};
use gpuvcc::ptx;
use std::collections::BTreeSet;

/// States that the oracle visits at most.
pub const STATES: usize = 20_000;

/// How each protocol is run.
const RUNS: &[&str] = &[
    "--schedule=round-robin",
    "--schedule=lockstep",
    "--schedule=random --seed=1",
    "--schedule=random --seed=2 --completion=lazy",
    "--schedule=adversarial --seed=1",
    "--schedule=adversarial --seed=2 --completion=eager",
    "--schedule=adversarial --seed=3 --completion=lazy",
    "--schedule=random --seed=4",
];

/// What all runs need: the words of every command line, and instructions of a thread before a run is given up.
const COMMON: &str = "--arg zeros:16 --steps 20000";

/// What became of a protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The oracle does not answer.
    Unanswered(&'static str),
    /// No schedule shows a defect, and no run did.
    Clean,
    /// Some schedules have these defects; the runs showed these of them.
    Defective { can: BTreeSet<Defect>, shown: BTreeSet<Defect> },
    /// The emulator is wrong, or the oracle: the run, and what it says.
    Disagreement(String),
}

/// The options of all runs.
pub struct Judge {
    runs: Vec<Command>,
}

impl Judge {
    /// Reads the command lines.
    ///
    /// # Errors
    /// One that is none.
    pub fn new() -> Result<Judge, String> {
        let mut runs = Vec::new();
        for run in RUNS {
            let words = format!("gpuvcc run kernel.ptx {COMMON} {run}");
            match cli::parse(words.split_whitespace()) {
                Ok(command @ Command::Run(_)) => runs.push(command),
                Ok(_) => return Err(format!("`{words}` is no run")),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(Judge { runs })
    }

    /// Judges a protocol.
    pub fn judge(&self, protocol: &Protocol) -> Judged {
        let can = match explore(protocol, STATES) {
            Answer::Defects(defects) => defects,
            Answer::Large => return Judged::Unanswered("too large"),
            Answer::Open => return Judged::Unanswered("left open by the ISA"),
        };
        let printed = print(protocol);
        let possible: BTreeSet<Seen> = can.iter().map(|defect| Seen::of(defect, &printed)).collect();
        let mut seen = BTreeSet::new();
        for (command, words) in self.runs.iter().zip(RUNS) {
            let found = match run(&printed, command) {
                Ok(report) => seen_in(&report),
                Err(message) => Err(message),
            };
            let found = match found {
                Ok(found) => found,
                Err(message) => return Judged::Disagreement(format!("{words}: {message}")),
            };
            if let Some(wrong) = found.iter().find(|seen| !possible.contains(seen)) {
                return Judged::Disagreement(format!("{words}: {wrong:?}, which no schedule shows"));
            }
            seen.extend(found);
        }
        if can.is_empty() {
            return Judged::Clean;
        }
        let shown = can.iter().filter(|defect| seen.contains(&Seen::of(defect, &printed))).copied().collect();
        Judged::Defective { can, shown }
    }

    /// The smallest protocol with a disagreement that comes about by leaving operations out.
    pub fn shrink(&self, protocol: &Protocol) -> Protocol {
        let mut smallest = protocol.clone();
        loop {
            let places: Vec<Place> = (0..smallest.threads.len())
                .flat_map(|thread| (0..smallest.threads[thread].len()).map(move |number| (thread, number)))
                .collect();
            let without = |&(thread, number): &Place| {
                let mut smaller = smallest.clone();
                smaller.threads[thread].remove(number);
                smaller
            };
            let is_wrong = |smaller: &Protocol| matches!(self.judge(smaller), Judged::Disagreement(_));
            match places.iter().map(without).find(is_wrong) {
                Some(smaller) => smallest = smaller,
                None => return smallest,
            }
        }
    }
}

/// A defect as a run shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Race(u32, u32),
    BarrierError(u32),
    Deadlock,
}

impl Seen {
    fn of(defect: &Defect, printed: &Printed) -> Seen {
        let line = |place: Place| printed.lines[&place];
        match *defect {
            Defect::Race(a, b) => Seen::race(line(a), line(b)),
            Defect::BarrierError(place) => Seen::BarrierError(line(place)),
            Defect::Deadlock => Seen::Deadlock,
        }
    }

    fn race(a: u32, b: u32) -> Seen {
        Seen::Race(a.min(b), a.max(b))
    }
}

/// One run of a printed protocol.
fn run(printed: &Printed, command: &Command) -> Result<KernelReport, String> {
    let module = ptx::parse(&printed.text).map_err(|errors| format!("{errors:?}"))?;
    let Command::Run(options) = command else { return Err("the command is no run".to_string()) };
    let mut options = options.clone();
    options.block = Some([printed.block, 1, 1]);
    options.grid = [printed.blocks, 1, 1];
    let result = emulate::emulate("kernel.ptx", &module, "kernel", &options);
    result.map(|(report, _)| report).map_err(|diagnostic| diagnostic.message.clone())
}

/// The defects that a run shows; the message of one that came to no end.
fn seen_in(report: &KernelReport) -> Result<BTreeSet<Seen>, String> {
    if matches!(report.verdict, Verdict::Unknown | Verdict::Unsupported) {
        let reasons: Vec<&str> = report.reasons.iter().map(|reason| reason.message.as_str()).collect();
        return Err(format!("{}: {}", report.verdict.name(), reasons.join("; ")));
    }
    report.findings.iter().map(seen).collect()
}

fn seen(finding: &Finding) -> Result<Seen, String> {
    let accesses = finding.accesses.iter().filter(|access| access.op != AccessKind::Absent);
    let mut lines = accesses.map(|access| access.origin.line).chain(finding.barrier.iter().map(|origin| origin.line));
    let (first, second) = (lines.next(), lines.next());
    match (finding.defect, first, second) {
        (finding::Defect::Race, Some(a), Some(b)) => Ok(Seen::race(a, b)),
        (finding::Defect::BarrierError, Some(line), _) => Ok(Seen::BarrierError(line)),
        (finding::Defect::Deadlock, ..) => Ok(Seen::Deadlock),
        _ => Err(format!("{}: {}", finding.kind, finding.message)),
    }
}
