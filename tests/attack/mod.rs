//! The attack: soundness is tried, not assumed.
//!
//! `shipped_kernels` checks the oracle itself: the emulator finds no defect in correct kernels and
//! finds most of those in broken ones. `mutants` changes shipped kernels at random, `random_kernels`
//! and `expressions` make new ones; whenever the emulator shows a race or a divergence, `gpuvcc` must
//! not answer `verified`, nor `verified-when` under conditions that the launch meets. After either
//! answer more launches are emulated, of other sizes where those are free. What `gpuvcc` calls
//! confirmed is emulated in the launch that it names: the very pair of instructions has to race there.
//!
//! Environment: GPUVCC_ATTACK_SECONDS (20, for each of the three), GPUVCC_ATTACK_SEED (1),
//! GPUVCC_ATTACK_FIRST and GPUVCC_ATTACK_LAST (numbers of the attempts of that seed, to see one
//! again), GPUVCC_ATTACK_ONLY (part of a shipped kernel's name), GPUVCC_ATTACK_JOBS (threads),
//! GPUVCC_ATTACK_INNOCENT (16: one in so many kernels without a visible defect is verified),
//! GPUVCC_ATTACK_FREE (0; 1 leaves the sizes of all launches free),
//! GPUVCC_ATTACK_REPORT (a file to which each suspicious kernel is appended).

#![allow(clippy::redundant_closure_for_method_calls)]

mod campaign;
mod conditions;
pub mod emulator;
pub mod expressions;
pub mod generate;
pub mod launches;
mod mutate;
mod oddities;
mod oracle;

use crate::support::cases::{Case, cases};
use crate::support::run::on_large_stack;
use emulator::random;
use gpuvcc::driver::input;
use gpuvcc::geometry::Geometry;
use gpuvcc::ptx::{self, ast::Module};
use libtest_mimic::{Failed, Trial};

pub fn trials() -> Vec<Trial> {
    let trials = vec![
        Trial::test("shipped_kernels", shipped_kernels),
        Trial::test("mutants", campaign::mutants),
        Trial::test("random_kernels", campaign::random_kernels),
        Trial::test("expressions", campaign::expressions),
    ];
    trials
}

/// The PTX cases with their text, but for those of `--allow-same-value`: to the oracle two writes race whatever they write.
fn kernels() -> Result<Vec<(Case, input::Input)>, String> {
    let only = std::env::var("GPUVCC_ATTACK_ONLY").unwrap_or_default();
    let cases = cases("tests/kernels")?.into_iter().filter(|case| case.name.contains(&only));
    let cases = cases.filter(|case| !case.options.rules.allow_same_value);
    // The emulator runs PTX.
    let cases = cases.filter(|case| case.input.extension().is_some_and(|extension| extension == "ptx"));
    cases
        .map(|case| {
            let input = input::read(&case.input.to_string_lossy()).map_err(|diagnostic| diagnostic.message)?;
            Ok((case, input))
        })
        .collect()
}

/// The module of an input; `None` when it does not parse.
fn module(input: &input::Input) -> Option<Module> {
    on_large_stack(|| ptx::parse(input.source.text())).ok()?.ok()
}

/// The oracle against the headers.
fn shipped_kernels() -> Result<(), Failed> {
    let (mut broken, mut found) = (0, 0);
    let (mut missed, mut wrong): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (case, input) in kernels()? {
        let module = module(&input).ok_or_else(|| format!("{} does not parse", case.name))?;
        let search = oracle::search(&module, &case, 16, 1);
        let Some(defect) = search.defect else {
            if matches!(case.verdict.as_str(), "race" | "divergence") {
                broken += 1;
                missed.push(format!("{} ({} complete, {} stopped)", case.name, search.complete, search.stopped));
            }
            continue;
        };
        if matches!(case.verdict.as_str(), "race" | "divergence") {
            broken += 1;
            found += 1;
        } else if case.verdict == "verified" {
            let Geometry { block, grid } = case.options.geometry;
            let outcome = &defect.outcome;
            let (races, barriers) = (&outcome.races, &outcome.divergences);
            wrong.push(format!("{}: {block:?} {grid:?} races {races:?}, divergences {barriers:?}", case.name));
        }
    }
    eprintln!("the emulator shows {found} of {broken} defects; not: {}", missed.join(", "));
    if !wrong.is_empty() {
        return Err(format!("defects in correct kernels:\n{}", wrong.join("\n")).into());
    }
    if found * 10 < broken * 8 {
        return Err(format!("the emulator is too weak an oracle: {found} of {broken}").into());
    }
    Ok(())
}
