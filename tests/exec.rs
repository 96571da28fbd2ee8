//! Instructions against recorded values: each table in `tests/exec` says what an instruction gives for some
//! operands. The README there explains the format and where the values come from.

use crate::support::table::{self, Group, kernel};
use gpuvcc::exec::memory;
use gpuvcc::{exec, ptx};
use libtest_mimic::{Failed, Trial};
use std::fmt::Write;

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for group in table::all() {
        trials.push(Trial::test(group.text.clone(), move || check(&group)));
    }
    trials
}

fn check(group: &Group) -> Result<(), Failed> {
    let module = ptx::parse(&kernel(group)).map_err(|errors| errors[0].message.clone())?;
    let (count, launch) = (group.cases.len(), table::launch(group));
    let run = exec::run(&module, 0, &launch).map_err(|diagnostic| diagnostic.message)?;
    if !run.outcome.is_complete() {
        return Err(format!("{:?} {:?}", run.outcome.stopped, run.outcome.faults).into());
    }
    let mut wrong = String::new();
    let mut number = 0;
    for (index, (operands, expected)) in group.cases.iter().enumerate() {
        let got = read(&run.memory, 8 * index as u64);
        if got != *expected {
            number += 1;
            if number <= 8 {
                let _ = writeln!(wrong, "{operands:x?}: {got:x}, not {expected:x}");
            }
        }
    }
    if number == 0 { Ok(()) } else { Err(format!("{number} of {count} differ\n{wrong}").into()) }
}

fn read(memory: &memory::GlobalMemory, offset: u64) -> u64 {
    memory.read(1, offset, 8)
}
