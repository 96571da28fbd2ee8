//! Random protocols of barriers and copies: the emulator against all interleavings. README.md tells the rules.
//!
//! `random` generates protocols, asks the oracle what can happen in any schedule, and runs each in some: a run shows nothing that
//! cannot happen. `exact` asks the exact engine about an eighth as many. `known/...` are protocols whose defects are known, so
//! that the oracle itself is tried; `regressions/...` those on which the emulator was wrong.
//!
//! Environment: PROTOCOLS (800) how many, PROTOCOLS_SEED (1), PROTOCOLS_FIRST (0) the number of the first, PROTOCOLS_JOBS
//! (the processor's) threads.

mod clusters;
mod exact;
mod generate;
mod judge;
mod known;
mod mutate;
mod oracle;
mod pipelines;
mod print;
mod protocol;
mod regressions;
mod state;
mod table;

use crate::attack::emulator::random;
use generate::{Features, Generated, generate};
use judge::{Judge, Judged};
use libtest_mimic::{Failed, Trial};
use oracle::{Answer, Defect, explore};
use protocol::Protocol;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the emulator has so far.
const FEATURES: Features = Features { objects: true, bulk: true, clusters: true };

/// Of the protocols of a kind that have a defect, and of those that can have a kind of defect, so many in a hundred have to show it
/// in some run, unless only [`MISSED`] do not: that a block of a cluster exits before another one needs it few schedules show.
const SHOWN: u64 = 85;

/// Protocols whose defect no run shows, where a kind has few.
const MISSED: u64 = 2;

/// Disagreements that are made small and told.
const TOLD: usize = 5;

pub fn trials() -> Vec<Trial> {
    let mut trials = known::trials();
    trials.extend(regressions::trials());
    trials.push(Trial::test("pipelines", correct_pipelines));
    let seed = setting("PROTOCOLS_SEED", 1);
    trials.push(Trial::test("exact", move || exact::protocols(seed, setting("PROTOCOLS", 800) / 8)));
    trials.push(Trial::test("random", random_protocols));
    trials
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// How often each thing happened.
#[derive(Default)]
struct Tally {
    /// By kind of protocol: clean ones, defective ones, those of them that a run shows.
    kinds: BTreeMap<&'static str, [u64; 3]>,
    /// By kind of defect: protocols that can have it, those of them in which a run shows it.
    defects: BTreeMap<&'static str, [u64; 2]>,
    /// Protocols that the oracle says nothing of.
    unanswered: BTreeMap<&'static str, u64>,
    /// By number: a protocol, and the disagreement about it.
    disagreements: BTreeMap<u64, (Protocol, String)>,
}

impl Tally {
    fn add(&mut self, number: u64, Generated { kind, protocol }: Generated, judged: Judged) {
        let counts = self.kinds.entry(kind).or_default();
        match judged {
            Judged::Unanswered(why) => *self.unanswered.entry(why).or_default() += 1,
            Judged::Clean => counts[0] += 1,
            Judged::Defective { can, shown } => {
                counts[1] += 1;
                counts[2] += u64::from(!shown.is_empty());
                for name in ["race", "barrier-error", "deadlock"] {
                    let has = |defects: &BTreeSet<Defect>| defects.iter().any(|d| d.name() == name);
                    let of_kind = self.defects.entry(name).or_default();
                    of_kind[0] += u64::from(has(&can));
                    of_kind[1] += u64::from(has(&shown));
                }
            }
            Judged::Disagreement(message) => {
                self.disagreements.insert(number, (protocol, message));
            }
        }
    }

    fn sum(&self, column: usize) -> u64 {
        self.kinds.values().map(|counts| counts[column]).sum()
    }

    fn print(&self) {
        let (clean, defective, shown) = (self.sum(0), self.sum(1), self.sum(2));
        eprintln!("{clean} clean protocols, {defective} with a defect, of which a run shows one in {shown}");
        for (kind, [clean, defective, shown]) in &self.kinds {
            eprintln!("{kind:30} {clean:7} clean {defective:7} with a defect {shown:7} shown");
        }
        for (name, [can, shown]) in &self.defects {
            eprintln!("{name:30} {can:7} can {shown:7} shown");
        }
        for (why, count) in &self.unanswered {
            eprintln!("{count:7} {why}");
        }
    }
}

/// Pipelines that nobody changed have no defect, and what is printed is PTX.
fn correct_pipelines() -> Result<(), Failed> {
    for number in 0..200 {
        let features = Features { objects: true, bulk: true, clusters: true };
        let mut random = random::Random::new(number);
        let (kind, protocol) = pipelines::pipeline(&mut random, features);
        let answer = explore(&protocol, judge::STATES);
        if answer != Answer::Defects(BTreeSet::new()) {
            return Err(format!("{kind}: {answer:?} of {protocol:?}").into());
        }
        for protocol in [protocol, generate(number, number, features).protocol] {
            let text = print::print(&protocol).text;
            gpuvcc::ptx::parse(&text).map_err(|errors| format!("{errors:?} in\n{text}"))?;
        }
    }
    Ok(())
}

fn random_protocols() -> Result<(), Failed> {
    let (seed, first, count) = (setting("PROTOCOLS_SEED", 1), setting("PROTOCOLS_FIRST", 0), setting("PROTOCOLS", 800));
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let judge = Judge::new()?;
    let next = AtomicU64::new(first);
    let tally = Mutex::new(Tally::default());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= first + count {
                return;
            }
            let generated = generate(seed, number, FEATURES);
            let judged = judge.judge(&generated.protocol);
            let mut tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            tally.add(number, generated, judged);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..setting("PROTOCOLS_JOBS", processors as u64) {
            scope.spawn(work);
        }
    });
    let tally = tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    tally.print();
    if !tally.disagreements.is_empty() {
        let told = tally.disagreements.iter().take(TOLD).map(|(number, (protocol, message))| {
            let small = judge.shrink(protocol);
            let path = save(*number, &small).map_or_else(|error| error.to_string(), |path| path.display().to_string());
            format!(
                "number {number} of seed {seed}: {message}\n  {protocol:?}\n  small: {:?}\n  {small:?}\n  {path}",
                judge.judge(&small)
            )
        });
        let told: Vec<String> = told.collect();
        let message = format!("{} disagreements:\n{}", tally.disagreements.len(), told.join("\n\n"));
        return Err(message.into());
    }
    let of_kinds = tally.kinds.iter().map(|(kind, [_, can, shown])| (*kind, *can, *shown));
    let of_defects = tally.defects.iter().map(|(name, [can, shown])| (*name, *can, *shown));
    let is_few = |(_, can, shown): &(&str, u64, u64)| shown * 100 < can * SHOWN && can - shown > MISSED;
    let few: Vec<_> = of_kinds.chain(of_defects).filter(is_few).collect();
    if !few.is_empty() || tally.sum(0) == 0 {
        return Err(format!("too few are shown: {few:?}; {} protocols are clean", tally.sum(0)).into());
    }
    Ok(())
}

/// Writes a protocol down, as a program to run.
fn save(number: u64, protocol: &Protocol) -> std::io::Result<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("protocols");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{number}.ptx"));
    let printed = print::print(protocol);
    std::fs::write(&path, printed.text)?;
    Ok(path)
}
