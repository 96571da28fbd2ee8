//! Random programs: the litmus engine judges emulator, prover and exact engine. README.md tells the rules.

mod generate;
mod judge;
mod litmus_text;
mod patterns;
mod program;
mod ptx_text;

use crate::attack::emulator::random;
use generate::generate;
use judge::{Asked, Judge, Judged};
use libtest_mimic::{Failed, Trial};
use litmus_text::Loops;
use program::Program;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Disagreements that are made small and told.
const TOLD: usize = 5;

/// So many programs are both racy and race-free.
const ENOUGH: u64 = 50;

pub fn trials() -> Vec<Trial> {
    let emulator = Asked { emulator: true, prover: false, exact: false };
    let prover = Asked { emulator: false, prover: true, exact: true };
    let trials = vec![
        Trial::test("emulator", move || compare("CONSISTENCY_RUN", 80, emulator)),
        Trial::test("prover", move || compare("CONSISTENCY_PROVED", 6, prover)),
        Trial::test("show", show),
    ];
    trials
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Prints a program that is asked for.
fn show() -> Result<(), Failed> {
    let Ok(number) = std::env::var("CONSISTENCY_SHOW") else { return Ok(()) };
    let program = generate(setting("CONSISTENCY_SEED", 1), number.parse()?);
    println!("{}", told(&program));
    Ok(())
}

/// Both texts.
fn told(program: &Program) -> String {
    let litmus = litmus_text::print(program, Loops::All, None);
    format!("{}\n{litmus}\n{}", program.kind, ptx_text::print(program).text)
}

/// How often each thing happened.
#[derive(Default)]
struct Tally {
    /// By what was said: kind of program, racy or not, who says what.
    counts: BTreeMap<(String, String), u64>,
    disagreements: BTreeMap<u64, (Program, Judged)>,
    racy: u64,
    free: u64,
    shown: u64,
}

impl Tally {
    fn add(&mut self, number: u64, program: Program, judged: Judged) {
        if let Some(reason) = &judged.unanswered {
            let reason = reason.lines().next().unwrap_or_default().chars().take(300).collect();
            *self.counts.entry(("no answer".to_string(), reason)).or_default() += 1;
            return;
        }
        self.racy += u64::from(judged.racy);
        self.free += u64::from(!judged.racy);
        self.shown += u64::from(judged.racy && judged.shown);
        let known = if judged.racy { "racy" } else { "race-free" };
        for verdict in &judged.verdicts {
            *self.counts.entry((format!("{known:10} {}", program.kind), verdict.clone())).or_default() += 1;
        }
        if judged.racy && !judged.shown && judged.verdicts.is_empty() {
            *self.counts.entry(("racy, not shown in a run".to_string(), program.kind.to_string())).or_default() += 1;
        }
        if !judged.disagreements.is_empty() {
            if let Ok(path) = std::env::var("CONSISTENCY_REPORT") {
                let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
                let _ = file
                    .and_then(|mut file| writeln!(file, "== {number} {}: {:?}", program.kind, judged.disagreements));
            }
            self.disagreements.insert(number, (program, judged));
        }
    }
}

fn compare(name: &str, usual: u64, asked: Asked) -> Result<(), Failed> {
    let (seed, first, count) = (setting("CONSISTENCY_SEED", 1), setting("CONSISTENCY_FIRST", 0), setting(name, usual));
    let kind = std::env::var("CONSISTENCY_KIND").unwrap_or_default();
    let only_racy = std::env::var("CONSISTENCY_ONLY").is_ok_and(|only| only == "racy");
    let judge = Judge::new(asked);
    let next = AtomicU64::new(first);
    let tally = Mutex::new(Tally::default());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= first + count {
                return;
            }
            let program = generate(seed, number);
            if !program.kind.contains(&kind) {
                continue;
            }
            let Some(judged) = judge.judge(&program, only_racy) else { continue };
            let mut tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            tally.add(number, program, judged);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..setting("CONSISTENCY_JOBS", 1) {
            scope.spawn(work);
        }
    });
    let tally = tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    eprintln!("{} racy, of which runs show {}; {} race-free", tally.racy, tally.shown, tally.free);
    for ((what, who), count) in &tally.counts {
        eprintln!("{count:7} {what:45} {who}");
    }
    if tally.disagreements.is_empty() {
        // Of few programs each kind of answer may be missing.
        let says_little = kind.is_empty()
            && !only_racy
            && count >= usual
            && usual >= ENOUGH
            && (tally.racy * 10 < count || tally.free * 10 < count);
        return if says_little { Err("too few are racy, or race-free".into()) } else { Ok(()) };
    }
    let told = tally.disagreements.iter().take(TOLD).map(|(number, (program, judged))| {
        let small = judge.shrink(program);
        let again = judge.judge(&small, false).map_or(Vec::new(), |judged| judged.disagreements);
        format!("number {number} of seed {seed}: {:?}\nsmall: {again:?}\n{}", judged.disagreements, told(&small))
    });
    let told: Vec<String> = told.collect();
    let numbers: Vec<&u64> = tally.disagreements.keys().collect();
    Err(format!("{} disagreements, {numbers:?}:\n{}", numbers.len(), told.join("\n\n")).into())
}
