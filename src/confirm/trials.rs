//! Random executions of a kernel of which a proof says that it has no defect.
//!
//! Input: a kernel, what its launches have to meet. Output: how many executions ran, the first defect that one of them
//! shows, or why none ran. Establishes: a defect is one of an execution that the ISA defines, in a launch that meets what is
//! asked. Relies on: the emulator stops where an assumption of the user does not hold. Reference: none.

use super::Plausible;
use super::emulate::{Emulator, is_defined};
use super::explore::{Effort, Explorer, Guess, Limits, Suspects};
use super::usual::{self, Stated};
use crate::exec::command::Command;
use crate::exec::launch::Schedule;
use crate::exec::outcome::{FaultKind, Outcome, Stop};
use crate::finding::Finding;
use crate::geometry::Geometry;
use crate::kernel::Kernel;

/// Each launch runs with these schedules.
const SCHEDULES: [Schedule; 4] = [Schedule::Adversarial, Schedule::Random, Schedule::Lockstep, Schedule::LockstepTaken];

/// What executions showed.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// Those that the ISA defines.
    pub(crate) executions: u32,
    /// A defect, with the launch that has it.
    pub(crate) defect: Option<Finding>,
    /// Why an execution did not run, or did not count.
    pub(crate) refused: Option<String>,
}

/// Runs launches that meet what is asked, until one shows a defect.
pub(crate) fn run(emulator: &Emulator, kernel: &Kernel, are_met: Plausible) -> Trials {
    let suspects = Suspects::default();
    let explorer = Explorer::new(emulator, kernel, &suspects, Effort::TRIALS).among(are_met);
    let stated = Stated::of(&kernel.program);
    let sizes: Vec<Geometry<u32>> = usual::launches(&kernel.program, kernel.geometry);
    let mut trials = Trials::default();
    let limits = explorer.limits();
    let (mut launches, mut steps) = (0, 0);
    for number in 0..limits.guesses {
        if launches == limits.launches || steps > limits.steps {
            break;
        }
        let command = match explorer.guess(sizes[number as usize % sizes.len()], number, &stated) {
            Guess::Launch(command) => command,
            Guess::Unlikely => continue,
            Guess::Refused => {
                trials.refuse("the emulator cannot be given its parameters");
                break;
            }
        };
        launches += 1;
        for (schedule, variant) in SCHEDULES.into_iter().zip(1..) {
            let command = Command { schedule, seed: command.seed * 16 + variant, ..(*command).clone() };
            match trials.add(emulator, &command, &limits) {
                Some(instructions) => steps += instructions,
                None => return trials,
            }
        }
    }
    trials
}

impl Trials {
    fn refuse(&mut self, reason: impl Into<String>) {
        self.refused.get_or_insert_with(|| reason.into());
    }

    /// Runs one; the number of its instructions, or `None` where no other one says more.
    fn add(&mut self, emulator: &Emulator, command: &Command, limits: &Limits) -> Option<u64> {
        let run = match emulator.run(command, limits.run) {
            Ok(run) => run,
            Err(reason) => {
                self.refuse(reason);
                return None;
            }
        };
        let outcome = &run.outcome;
        for stop in &outcome.stopped {
            if let Stop::Refused { code, reason } = stop {
                let line = run.program.origins[*code as usize].line;
                self.refuse(format!("PTX line {line} is not emulated: {reason}"));
                return None;
            }
        }
        if outcome.is_excluded() {
            return Some(outcome.instructions);
        }
        if !is_defined(outcome) {
            self.refuse("random executions leave arrays, or use values that the ISA leaves open");
            return Some(outcome.instructions);
        }
        self.executions += 1;
        if has_defect(outcome)
            && let Ok(shown) = emulator.show(command, limits.run)
            && let Some(finding) = shown.findings.into_iter().next()
        {
            self.defect = Some(finding);
            return None;
        }
        Some(outcome.instructions)
    }
}

fn has_defect(outcome: &Outcome) -> bool {
    let Outcome { races, divergences, deadlocks, barrier_errors, faults, .. } = outcome;
    let fails = faults.iter().any(|fault| fault.kind == FaultKind::Assertion);
    fails || !races.is_empty() || !divergences.is_empty() || !deadlocks.is_empty() || !barrier_errors.is_empty()
}
