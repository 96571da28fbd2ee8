//! Damaged kernels never make a stage panic: shipped PTX and IVL with bytes or words changed go through
//! the stages, each with a fresh random place, for a limited time: PTX up to `twothread`, IVL up to
//! `predicate`.
//!
//! Environment: GPUVCC_FUZZ_SECONDS (10, for each language), GPUVCC_FUZZ_SEED (1). What fails is
//! printed; the same seed finds it again, earlier or later on a faster or slower machine.

#[allow(dead_code)]
mod support;

use gpuvcc::driver::cli::{Options, Stage};
use gpuvcc::driver::input::{Input, Language};
use gpuvcc::driver::pipeline::{self, Program};
use gpuvcc::kernel::{self, LowerOptions};
use gpuvcc::predicate;
use gpuvcc::report::source::SourceText;
use gpuvcc::twothread::{self, Pair, prelude};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::run::on_large_stack;

/// Kernels longer than this are cut, in bytes: small ones are damaged more often.
const LONGEST: usize = 20_000;

/// What takes the place of words.
const WORDS: [&str; 24] = [
    "",
    "{",
    "}",
    ";",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "%r1",
    "%rd1",
    "%p1",
    "-1",
    "0x7fffffff",
    "0f3f800000",
    ".v4",
    ".b8",
    "bar.sync 0;",
    "ret;",
    "goto",
    "assume",
    "bv32",
    "18446744073709551616",
];

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn damaged_ptx() {
    fuzz("tests/kernels", "ptx", Language::Ptx);
}

#[test]
fn damaged_ivl() {
    fuzz("tests", "ivl", Language::Ivl);
}

fn fuzz(folder: &str, extension: &str, language: Language) {
    let mut files = Vec::new();
    collect(Path::new(folder), extension, &mut files);
    let texts: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).expect("a readable file")).collect();
    assert!(!texts.is_empty(), "no .{extension} below {folder}");
    let mut random = Random(setting("GPUVCC_FUZZ_SEED", 1));
    let end = Instant::now() + Duration::from_secs(setting("GPUVCC_FUZZ_SECONDS", 10));
    let (mut tried, mut parsed, mut lowered) = (0u64, 0u64, 0u64);
    while Instant::now() < end {
        let number = random.below(texts.len());
        let text = damaged(&texts[number], &texts[random.below(texts.len())], &mut random);
        tried += 1;
        match on_large_stack(|| through_the_stages(&text, language)) {
            Ok(Way::Refused) => {}
            Ok(Way::Parsed) => parsed += 1,
            Ok(Way::Lowered) => lowered += 1,
            Err(message) => panic!("{}, damaged: {message}\n{text}", files[number].display()),
        }
    }
    println!("{tried} texts: {parsed} parse, {lowered} more become two-thread programs");
    assert!(lowered > 0, "no damaged text came through: the damage is too great to test later stages");
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder of inputs");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, extension, files);
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
}

/// A copy with one to three changes: bytes, a word, or a piece of another kernel.
fn damaged(text: &str, other: &str, random: &mut Random) -> String {
    let mut text = text[..text.floor_char_boundary(LONGEST)].to_string();
    for _ in 0..=random.below(3) {
        let (start, end) = if random.below(3) == 0 { bytes(&text, random) } else { word(&text, random) };
        let filler = match random.below(4) {
            0 => {
                let (start, end) = line(other, random);
                other[start..end].to_string()
            }
            1 => {
                let (start, end) = word(&text, random);
                text[start..end].to_string()
            }
            2 => char::from(b' ' + random.below(95) as u8).to_string(),
            _ => WORDS[random.below(WORDS.len())].to_string(),
        };
        text.replace_range(start..end, &filler);
    }
    text
}

fn bytes(text: &str, random: &mut Random) -> (usize, usize) {
    let start = text.floor_char_boundary(random.below(text.len()));
    (start, text.floor_char_boundary((start + random.below(12)).min(text.len())))
}

/// A run of letters and digits; other characters are words of their own.
fn word(text: &str, random: &mut Random) -> (usize, usize) {
    let start = text.floor_char_boundary(random.below(text.len()));
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '%';
    let before = text[..start].trim_end_matches(is_part).len();
    let rest = &text[before..];
    let length = rest.len() - rest.trim_start_matches(is_part).len();
    let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
    (before, before + length)
}

fn line(text: &str, random: &mut Random) -> (usize, usize) {
    let start = text.floor_char_boundary(random.below(text.len()));
    let start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    (start, text[start..].find('\n').map_or(text.len(), |at| start + at))
}

/// How far a text came.
enum Way {
    Refused,
    Parsed,
    Lowered,
}

fn through_the_stages(text: &str, language: Language) -> Way {
    let input = Input::new(SourceText::new("damaged", text.to_string()), language);
    pipeline::tokens(&input);
    let Ok(program) = pipeline::parse(&input) else { return Way::Refused };
    pipeline::ast(&program);
    let mut way = Way::Parsed;
    for entry in program.kernels() {
        // The text of the stage is not looked at; the stages up to it run.
        let _ = pipeline::emit(&input, &program, &entry, Stage::Cfg, &Options::default());
        if pipeline::emit(&input, &program, &entry, Stage::Predicated, &Options::default()).is_ok() {
            two_threads(&program, &entry);
            way = Way::Lowered;
        }
    }
    way
}

/// PTX kernels on to the two-thread program.
fn two_threads(program: &Program, entry: &str) {
    let Program::Ptx(module) = program else { return };
    let entry = module.functions.iter().find(|function| function.is_entry && *function.name == *entry);
    let Some(entry) = entry else { return };
    let Ok(cfg) = gpuvcc::cfg::build(module, entry) else { return };
    let Ok(kernel) = kernel::lower(module, entry, &cfg, &LowerOptions::default()) else { return };
    let Ok(predicated) = predicate::run(&kernel.program) else { return };
    let options = twothread::Options { block: kernel.block, grid: kernel.grid, ..Default::default() };
    for text in [prelude::WATCHED_BYTE, prelude::LOGGING_SETS] {
        let prelude = prelude::load(text).expect("the shipped preludes load");
        for pair in [Pair::SameBlock, Pair::DifferentBlocks] {
            if options.pair_exists(pair) {
                let _ = twothread::run(&predicated, &prelude, pair, &options);
            }
        }
    }
}
