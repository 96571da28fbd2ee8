//! Damaged texts never make a stage panic: shipped PTX and IVL with bytes, words or tokens changed, each at
//! fresh random places, so many texts for each test.
//!
//! - Kernels go through the stages: PTX up to `twothread`, IVL up to `predicate`.
//! - Every shipped PTX text goes through `ptx` only, under the checks of tests/reader/check.rs; that is
//!   fast, and so tries far more texts. fuzz/ makes the same checks, guided by coverage.
//!
//! Environment: GPUVCC_FUZZ_TEXTS (4000, for each test), GPUVCC_FUZZ_SEED (1). What fails is
//! printed; the same seed finds it again.

use crate::reader::check::{Reading, check};
use crate::reader::damage::{Random, damaged};
use crate::support::run::on_large_stack;
use gpuvcc::driver::input::{Input, Language};
use gpuvcc::driver::options::{Options, Stage};
use gpuvcc::driver::pipeline::{self, Program};
use gpuvcc::kernel::{self, LowerOptions};
use gpuvcc::predicate;
use gpuvcc::report::source::SourceText;
use gpuvcc::twothread::{self, Pair, prelude};
use std::path::{Path, PathBuf};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn damaged_ptx() {
    fuzz("tests/kernels", "ptx", Language::Ptx);
}

#[test]
fn damaged_ivl() {
    fuzz("tests", "ivl", Language::Ivl(gpuvcc::ivl::Dialect::Ivl));
}

#[test]
fn reading_damaged_ptx() {
    let (files, texts) = corpus("tests", "ptx");
    let mut random = Random(setting("GPUVCC_FUZZ_SEED", 1));
    let (tried, mut parsed, mut typed) = (setting("GPUVCC_FUZZ_TEXTS", 4000), 0u64, 0u64);
    for _ in 0..tried {
        let number = random.below(texts.len());
        let text = damaged(&texts[number], &texts[random.below(texts.len())], &mut random);
        match on_large_stack(|| check(&text)).flatten() {
            Ok(Reading::Refused) => {}
            Ok(Reading::Parsed) => parsed += 1,
            Ok(Reading::Typed) => typed += 1,
            Err(message) => panic!("{}, damaged: {message}\n{text}", files[number].display()),
        }
    }
    println!("{tried} texts: {parsed} have right syntax only, {typed} are modules");
    assert!(typed > 0, "no damaged text is a module: the damage is too great to test round trips");
}

/// The files of that extension below a folder, and their texts. Those that are no text by intent are left out.
fn corpus(folder: &str, extension: &str) -> (Vec<PathBuf>, Vec<String>) {
    let mut files = Vec::new();
    collect(Path::new(folder), extension, &mut files);
    let readable = files.into_iter().filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)));
    let (files, texts): (Vec<PathBuf>, Vec<String>) = readable.unzip();
    assert!(!texts.is_empty(), "no .{extension} below {folder}");
    (files, texts)
}

fn fuzz(folder: &str, extension: &str, language: Language) {
    let (files, texts) = corpus(folder, extension);
    let mut random = Random(setting("GPUVCC_FUZZ_SEED", 1));
    let (tried, mut parsed, mut lowered) = (setting("GPUVCC_FUZZ_TEXTS", 4000), 0u64, 0u64);
    for _ in 0..tried {
        let number = random.below(texts.len());
        let text = damaged(&texts[number], &texts[random.below(texts.len())], &mut random);
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
    let Ok(cfg) = gpuvcc::cfg::build(module, entry, Default::default()) else { return };
    let Ok(kernel) = kernel::lower(module, entry, &cfg, &LowerOptions::default()) else { return };
    let Ok(predicated) = predicate::run(&kernel.program) else { return };
    let options = twothread::Options { geometry: kernel.geometry, ..Default::default() };
    for text in [prelude::WATCHED_BYTE, prelude::LOGGING_SETS] {
        let prelude = prelude::load(text).expect("the shipped preludes load");
        for pair in [Pair::SameBlock, Pair::DifferentBlocks] {
            if options.pair_exists(pair) {
                let _ = twothread::run(&predicated, &prelude, pair, &options);
            }
        }
    }
}
