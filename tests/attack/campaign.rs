//! Mutants and random kernels against the verifier, for a limited time.

use super::conditions;
use super::emulator::random::{Random, hash};
use super::expressions;
use super::generate::{Generated, generate};
use super::mutate::{Mutant, mutate};
use super::oracle::{self, Defect, Replayed, Search};
use super::{kernels, module};
use crate::support::cases::Case;
use crate::support::run::{summary, verify};
use gpuvcc::driver::input::{Input, Language};
use gpuvcc::driver::options::{Arithmetic, Options, PreludeChoice};
use gpuvcc::finding::{KernelReport, Verdict};
use gpuvcc::geometry::Geometry;
use gpuvcc::ptx::ast::Module;
use gpuvcc::report::source::SourceText;
use gpuvcc::rules::Rules;
use libtest_mimic::Failed;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Launches tried on a mutant.
const LAUNCHES: u64 = 10;

/// Time for one proof.
const TIMEOUT: Duration = Duration::from_secs(10);

/// One mutant in this many is verified although nothing was found wrong with it: for crashes, and for
/// defects that the verifier claims to have confirmed. GPUVCC_ATTACK_INNOCENT says another number.
const INNOCENT: u64 = 16;

/// Other sizes in which executions look for what an answer for free sizes overlooks.
const SIZES: u32 = 4;

/// Threads of a block, on x.
const BLOCKS: &[u32] = &[1, 2, 3, 16, 32, 64, 96, 128, 256];

/// Blocks, on x.
const GRIDS: &[u32] = &[1, 2, 3, 8];

/// A launch that shows more racing pairs of lines than this is verified one time in four.
const PLAIN: usize = 4;

#[derive(Default)]
struct Tally {
    /// How often each thing happened.
    counts: BTreeMap<String, u64>,
    /// Texts about false verdicts and crashes.
    failures: Vec<String>,
    /// Texts about what a person should look at.
    notes: Vec<String>,
}

/// What became of a mutant.
enum Outcome {
    /// Nothing of interest, under this name in the tally.
    Fine(String),
    /// A false verdict or a crash, with the text for a person.
    Failure(&'static str, String),
    /// Worth a look.
    Note(&'static str, String),
}

/// A kernel to try.
struct Subject {
    /// Launch, fixed parameters and the kernel's name, where the text has several.
    case: Case,
    /// PTX.
    text: String,
    /// What it is, for people.
    what: String,
    /// By what it is found again.
    name: String,
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Mutants of the shipped kernels.
pub fn mutants() -> Result<(), Failed> {
    let kernels = kernels()?;
    run("mutant", |random| {
        let (case, input) = random.pick(&kernels)?;
        // Many a random place has nothing of the kind to change.
        let Mutant { text, line, before, after } = (0..40).find_map(|_| mutate(input.source.text(), random))?;
        let what = format!("{}, where line {line} `{before}` became `{after}`", case.name);
        Some((case.clone(), text, what))
    })
}

/// Random kernels with arrays, loops and barriers.
pub fn random_kernels() -> Result<(), Failed> {
    run("random", |random| Some(subject(generate(random))))
}

/// Kernels that store at a computed index.
pub fn expressions() -> Result<(), Failed> {
    run("expression", |random| Some(subject(expressions::generate(random))))
}

/// A made kernel as a case.
fn subject(Generated { text, block, grid }: Generated) -> (Case, String, String) {
    let (block, grid) = ([Some(block), Some(1), Some(1)], [Some(grid), Some(1), Some(1)]);
    let case = Case {
        name: "generated".to_string(),
        input: PathBuf::from("generated.ptx"),
        source: None,
        verdict: String::new(),
        entry: None,
        // The bounds of local arrays are proved, or assumed in words that nothing here reads.
        options: Options {
            geometry: Geometry { block, grid },
            rules: Rules { check_bounds: text.contains(".local"), ..Rules::default() },
            ..Options::default()
        },
        race_lines: BTreeSet::new(),
        divergence_lines: BTreeSet::new(),
        assertion_lines: BTreeSet::new(),
        rows: Vec::new(),
        outside_lines: BTreeSet::new(),
        conditions: Vec::new(),
        gaps: Vec::new(),
        is_slow: false,
        parameters: Vec::new(),
    };
    (case, text, "a generated kernel".to_string())
}

/// Tries kernels from a source until the time is up.
fn run(kind: &str, source: impl Fn(&mut Random) -> Option<(Case, String, String)> + Sync) -> Result<(), Failed> {
    let seed = setting("GPUVCC_ATTACK_SEED", 1);
    let end = Instant::now() + Duration::from_secs(setting("GPUVCC_ATTACK_SECONDS", 20));
    let next = AtomicU64::new(setting("GPUVCC_ATTACK_FIRST", 0));
    let last = setting("GPUVCC_ATTACK_LAST", u64::MAX);
    let tally = Mutex::new(Tally::default());
    let work = || {
        while Instant::now() < end {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number > last {
                return;
            }
            let mut random = Random::new(hash(seed, number));
            let outcome = match source(&mut random) {
                Some((case, text, what)) => {
                    let name = format!("{kind} seed {seed} number {number}");
                    attempt(&Subject { case, text, what, name }, &mut random)
                }
                None => Outcome::Fine("nothing to change".to_string()),
            };
            note(&tally, outcome);
        }
    };
    // The trials run side by side.
    let workers = setting("GPUVCC_ATTACK_JOBS", 1);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let tally = tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for (what, count) in &tally.counts {
        eprintln!("{count:8} {what}");
    }
    match tally.failures.is_empty() {
        true => Ok(()),
        false => Err(tally.failures.join("\n\n").into()),
    }
}

fn note(tally: &Mutex<Tally>, outcome: Outcome) {
    let mut tally = tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (name, text) = match outcome {
        Outcome::Fine(name) => (name, None),
        Outcome::Failure(name, text) => {
            tally.failures.push(text.clone());
            (name.to_string(), Some(text))
        }
        Outcome::Note(name, text) => {
            tally.notes.push(text.clone());
            (name.to_string(), Some(text))
        }
    };
    *tally.counts.entry(name).or_default() += 1;
    let report = std::env::var("GPUVCC_ATTACK_REPORT").ok();
    if let (Some(text), Some(report)) = (text, report) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(report);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{text}\n")) {
            eprintln!("the report cannot be written: {error}");
        }
    }
}

/// Tries one kernel.
fn attempt(subject: &Subject, random: &mut Random) -> Outcome {
    let case = &subject.case;
    let source = SourceText::new(case.input.to_string_lossy(), subject.text.clone());
    let input = Input::new(source, Language::Ptx);
    let Some(module) = module(&input) else { return Outcome::Fine("does not parse".to_string()) };
    let search = oracle::search(&module, case, LAUNCHES, random.next());
    // Defects that meet the eye take time and teach little.
    let plain = search.defect.as_ref().is_some_and(|defect| defect.outcome.races.len() > PLAIN);
    if plain && !random.next().is_multiple_of(4) {
        return Outcome::Fine("a plain defect, not verified".to_string());
    }
    let exact = search.arbitrary == 0 && subject.name.starts_with("expression");
    if search.defect.is_none() && !exact && !random.next().is_multiple_of(setting("GPUVCC_ATTACK_INNOCENT", INNOCENT)) {
        let complete = if search.complete > 0 { "" } else { ", and no launch ran to its end" };
        return Outcome::Fine(format!("no defect shown, not verified{complete}"));
    }
    let options = options(case, random);
    let result = verify(&input, case.entry.as_deref(), &options);
    let text = |title: &str| description(title, subject, search.defect.as_ref(), &options, &result);
    let report = match &result {
        Ok(report) => report,
        Err(message) if message.starts_with("internal error") => {
            return Outcome::Failure("CRASH", text("CRASH"));
        }
        Err(_) => return Outcome::Fine("a wrong input".to_string()),
    };
    let known = if search.defect.is_some() { "defect" } else { "no defect shown" };
    match report.verdict {
        Verdict::Verified | Verdict::VerifiedWhen => {
            match hidden(&module, subject, &search, report, &options, random) {
                Ok(None) => Outcome::Fine(format!("{known}: {}", report.verdict.name())),
                Ok(Some(defect)) => {
                    let title = "FALSE VERIFIED, IN A LAUNCH THAT MEETS THE CONDITIONS";
                    Outcome::Failure("FALSE VERIFIED", description(title, subject, Some(&defect), &options, &result))
                }
                Err(message) => Outcome::Failure("UNREADABLE CONDITION", text(&message)),
            }
        }
        Verdict::Defect(_) => {
            let confirmed = report.findings.iter().filter(|finding| finding.confirmed);
            let replayed = confirmed.map(|finding| oracle::replay(&module, case, finding, random.next()));
            // One that is not shown counts most.
            match replayed.min_by_key(rank) {
                Some(Replayed::NotShown) => Outcome::Failure("FALSE DEFECT", text("FALSE DEFECT")),
                Some(Replayed::Unclear(why)) => {
                    let title = format!("CONFIRMED, UNCLEAR ({why})");
                    Outcome::Note("confirmed, unclear in the emulator", text(&title))
                }
                Some(Replayed::Shown) => Outcome::Fine(format!("{known}: {}, emulated", report.verdict.name())),
                None => Outcome::Failure("DEFECT WITHOUT A FINDING", text("DEFECT WITHOUT A FINDING")),
            }
        }
        verdict => Outcome::Fine(format!("{known}: {}", verdict.name())),
    }
}

/// A defect in a launch that meets the conditions of an answer, as far as executions show one.
///
/// # Errors
/// A condition that cannot be read.
fn hidden(
    module: &Module,
    subject: &Subject,
    search: &Search,
    report: &KernelReport,
    options: &Options,
    random: &mut Random,
) -> Result<Option<Defect>, String> {
    let Some(entry) = oracle::kernel(module, subject.case.entry.as_deref()) else { return Ok(None) };
    let meets = |defect: &Defect| conditions::meets(&report.conditions, entry, &defect.launch);
    if let Some(defect) = &search.defect
        && meets(defect)?
    {
        return Ok(Some(defect.clone()));
    }
    for _ in 0..SIZES {
        let geometry = conditions::sizes(&report.conditions, &other_sizes(options.geometry, random));
        let case = Case { options: Options { geometry, ..subject.case.options.clone() }, ..subject.case.clone() };
        if let Some(defect) = oracle::search(module, &case, LAUNCHES, random.next()).defect
            && meets(&defect)?
        {
            return Ok(Some(defect));
        }
    }
    Ok(None)
}

/// Random sizes where they are free.
fn other_sizes(mut sizes: Geometry, random: &mut Random) -> Geometry {
    for (size, choices) in [(&mut sizes.block[0], BLOCKS), (&mut sizes.grid[0], GRIDS)] {
        *size = size.or(random.pick(choices).copied());
    }
    for axis in 1..3 {
        // Threads that differ on an axis which the kernel does not read race soon.
        let other = if random.next().is_multiple_of(4) { 2 } else { 1 };
        sizes.block[axis] = sizes.block[axis].or(Some(other));
        sizes.grid[axis] = sizes.grid[axis].or(Some(1));
    }
    sizes
}

/// What a replayed finding says of the verifier, the worst first.
fn rank(replayed: &Replayed) -> u8 {
    match replayed {
        Replayed::NotShown => 0,
        Replayed::Unclear(_) => 1,
        Replayed::Shown => 2,
    }
}

/// The options of the case, or a variant that must be as sound.
fn options(case: &Case, random: &mut Random) -> Options {
    let mut options = Options { timeout: TIMEOUT, ..case.options.clone() };
    if setting("GPUVCC_ATTACK_FREE", 0) == 1 {
        options.geometry = Geometry::FREE;
        return options;
    }
    match random.below(8) {
        0 => options.geometry.grid = [None; 3],
        1 => options.geometry = Geometry::FREE,
        2 => options.arith = Arithmetic::Bv,
        3 => options.prelude = PreludeChoice::LoggingSets,
        _ => {}
    }
    options
}

/// A suspicious kernel, with how to see it again.
fn description(
    title: &str,
    subject: &Subject,
    defect: Option<&Defect>,
    options: &Options,
    result: &Result<KernelReport, String>,
) -> String {
    let Subject { text, what, name, .. } = subject;
    let kernel = text;
    let mut text = format!("{title}: {name}, {what}");
    if let Some(Defect { launch, outcome }) = defect {
        let (races, divergences) = (&outcome.races, &outcome.divergences);
        let (misuses, faults) = (&outcome.misuses, &outcome.faults);
        let _ = write!(text, "\n  emulated: races at PTX lines {races:?}, divergences at {divergences:?}");
        let _ = write!(text, ", barriers misused at {misuses:?}, accesses outside at {faults:?}");
        let arbitrary = if outcome.arbitrary { ", with arbitrary values on the way" } else { "" };
        let parameters: Vec<String> = launch.parameters.iter().map(|bytes| number(bytes)).collect();
        let _ = write!(text, "{arbitrary}\n  parameters {}, memory {:?}", parameters.join(" "), launch.contents);
    }
    match result {
        Ok(report) => {
            let _ = write!(text, "\n  answer: {}\n{}", report.verdict.name(), summary(report).trim_end());
        }
        Err(message) => {
            let _ = write!(text, "\n  answer: {message}");
        }
    }
    match save(name, kernel) {
        Ok(path) => {
            let _ = write!(text, "\n  gpuvcc {} {}", path.display(), command_line(options));
        }
        Err(error) => {
            let _ = write!(text, "\n  the mutant cannot be saved: {error}");
        }
    }
    text
}

fn number(bytes: &[u8]) -> String {
    let value = bytes.iter().take(8).rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    if bytes.len() > 8 { format!("{bytes:?}") } else { format!("{value:#x}") }
}

fn save(name: &str, text: &str) -> std::io::Result<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("attack");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}.ptx", name.replace(' ', "_")));
    std::fs::write(&path, text)?;
    Ok(path)
}

fn command_line(options: &Options) -> String {
    let sizes = |sizes: [Option<u32>; 3]| {
        let text = |size: Option<u32>| size.map_or("*".to_string(), |size| size.to_string());
        sizes.map(text).join(",")
    };
    let mut text = format!("--block '{}' --grid '{}'", sizes(options.geometry.block), sizes(options.geometry.grid));
    for setting in &options.params {
        let _ = write!(text, " --param {}={}", setting.name, setting.value);
    }
    if options.rules.check_bounds {
        text += " --check-bounds";
    }
    if options.arith == Arithmetic::Bv {
        text += " --arith bv";
    }
    if options.prelude == PreludeChoice::LoggingSets {
        text += " --prelude logging-sets";
    }
    text
}
