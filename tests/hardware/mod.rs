//! Executions against those of a GPU: what memory holds after a launch, as `launches.py` recorded it on hardware.
//!
//! Environment: GPUVCC_HARDWARE_EXPORT=FOLDER writes launches of correct kernels, for `launches.py`, instead of comparing.
//! The README of this folder says how.

#![allow(clippy::redundant_closure_for_method_calls)]

mod export;
mod recorded;

use crate::attack::{emulator, expressions, generate, launches};
use emulator::random;
use gpuvcc::ptx;
use libtest_mimic::{Failed, Trial};
use recorded::Recorded;
use std::collections::BTreeMap;
use std::path::Path;

/// What a GPU gave, a launch a line.
const RECORDED: &str = "tests/hardware/launches.txt";

pub fn trials() -> Vec<Trial> {
    if let Some(folder) = std::env::var_os("GPUVCC_HARDWARE_EXPORT") {
        return vec![Trial::test("export", move || {
            export::write(Path::new(&folder));
            Ok(())
        })];
    }
    let text = std::fs::read_to_string(RECORDED).expect("the recorded launches");
    let mut by_file: BTreeMap<String, Vec<Recorded>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let recorded = Recorded::read(line).unwrap_or_else(|| panic!("{RECORDED}: {line}"));
        by_file.entry(recorded.file.clone()).or_default().push(recorded);
    }
    let trials = by_file.into_iter().map(|(file, all)| Trial::test(file.clone(), move || compare(&file, &all)));
    trials.collect()
}

/// Each launch of a file ends as on the GPU.
fn compare(file: &str, all: &[Recorded]) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let module = ptx::parse(&text).map_err(|errors| errors[0].message.clone())?;
    for recorded in all {
        let ran = recorded.run(&module, gpuvcc::exec::launch::Schedule::RoundRobin, 1)?;
        if !ran.is_clean() {
            return Err(format!("{}: the execution has a defect, or does not end", recorded.line()).into());
        }
        let found = ran.hashes(recorded);
        if found != recorded.after {
            return Err(format!("{}: memory is {found:x?}", recorded.line()).into());
        }
    }
    Ok(())
}
