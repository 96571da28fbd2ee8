//! A small launch that shows the same defect.
//!
//! Input: a finding and the command that shows it. Output: both with sizes of the launch and scalar arguments that
//! are smaller powers of two, or zero, where the defect is still there. Establishes: the command shows a defect of
//! the same kind at the same PTX lines (of different values, if it was one of these), and the threads and values of the finding are those of that execution;
//! what the user fixed stays. Relies on: the emulator stops where an assumption of the user does not hold.
//! Reference: none.

use super::Plausible;
use super::emulate::{Emulator, Shown};
use super::execution::{TEXTURES, say};
use super::{usual, waiting};
use crate::exec::arguments::Value;
use crate::exec::command::Command;
use crate::finding::{Defect, Finding, ParameterValue};
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::Name;
use crate::kernel::Kernel;
use std::collections::BTreeSet;

/// Instructions of all threads in one run.
const RUN_STEPS: u64 = 200_000;

/// Instructions for one finding.
const ALL_STEPS: u64 = 1_000_000;

/// Runs for one finding.
const RUNS: usize = 60;

/// Instructions of a launch whose steps are told.
const TOLD_STEPS: u64 = 2_000_000;

/// Something that can be made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// Threads a block along an axis.
    Block(Axis),
    /// Blocks along an axis.
    Grid(Axis),
    /// The argument with this number.
    Argument(usize),
}

/// Makes launches smaller.
pub(crate) struct Minimiser<'a> {
    emulator: Emulator<'a>,
    kernel: &'a Kernel,
    /// What may be changed.
    free: Vec<Quantity>,
    /// What is plausible stays so.
    plausible: Plausible<'a>,
    /// Runs and instructions left for a finding.
    left: (usize, u64),
}

impl<'a> Minimiser<'a> {
    /// For a kernel of which the launch is fixed as far as `launch` says.
    pub(crate) fn new(emulator: Emulator<'a>, kernel: &'a Kernel, launch: Geometry, plausible: Plausible<'a>) -> Self {
        let fixed = usual::fixed(&kernel.program);
        let is_fixed = |name: &str| {
            let mut places = kernel.params.iter().filter(|parameter| parameter.name == name);
            places.any(|parameter| parameter.constant.as_ref().is_none_or(|constant| fixed.contains_key(constant)))
        };
        let blocks = Axis::ALL.into_iter().filter(|axis| launch.block[axis.index()].is_none()).map(Quantity::Block);
        let grids = Axis::ALL.into_iter().filter(|axis| launch.grid[axis.index()].is_none()).map(Quantity::Grid);
        let parameters = emulator.entry().params.iter().enumerate().filter(|(_, p)| !is_fixed(&p.name));
        let free = blocks.chain(grids).chain(parameters.map(|(number, _)| Quantity::Argument(number))).collect();
        Minimiser { emulator, kernel, free, plausible, left: (0, 0) }
    }

    /// The finding as a small launch shows it, with its command and the steps of its threads.
    pub(crate) fn finish(&mut self, mut finding: Finding, mut command: Command) -> Finding {
        self.left = (RUNS, ALL_STEPS);
        let flat = self.flat(&command);
        let mut keep = self.is_plausible(&command);
        if let Some(Some(found)) = self.attempt(&finding, &flat, keep) {
            command = found;
        }
        // A size may become smaller only once an argument has, and the other way round.
        for _ in 0..2 {
            for quantity in self.free.clone() {
                let now = value(&command, quantity).unwrap_or(0);
                let smaller = candidates(quantity).take_while(|value| *value < now);
                let found =
                    smaller.map_while(|value| self.attempt(&finding, &with_value(&command, quantity, value), keep));
                if let Some(found) = found.flatten().next() {
                    keep = keep || self.is_plausible(&found);
                    command = found;
                }
            }
        }
        if let Ok(shown) = self.emulator.show(&command, TOLD_STEPS)
            && let Some(same) = shown.findings.iter().find(|other| is_same(other, &finding))
        {
            let same = self.explained(&shown, same);
            (finding.waits, finding.is_cycle) = (same.waits.clone(), same.is_cycle);
            finding.interleaving.clone_from(&same.interleaving);
            refresh(&mut finding, &same);
        }
        self.name_as_in_source(&mut finding.array);
        finding.replay = Some(self.emulator.text(&command));
        finding
    }

    /// The command, if it shows the finding and is plausible where that is to be kept; the outer `None` when enough was
    /// tried.
    fn attempt(&mut self, finding: &Finding, changed: &Command, keep: bool) -> Option<Option<Command>> {
        if keep && !self.is_plausible(changed) {
            return Some(None);
        }
        let (runs, steps) = self.left;
        let (runs, limit) = (runs.checked_sub(1)?, steps.min(RUN_STEPS));
        if limit == 0 {
            return None;
        }
        let shown = self.emulator.show(changed, limit).ok();
        self.left = (runs, steps - shown.as_ref().map_or(0, |shown| shown.instructions).min(steps));
        let shown = shown.filter(|shown| shown.is_defined);
        Some(
            shown.filter(|shown| shown.findings.iter().any(|other| is_same(other, finding))).map(|shown| shown.command),
        )
    }

    fn is_plausible(&self, command: &Command) -> bool {
        let declared = self.emulator.entry().params.iter().zip(&command.arguments);
        let scalars = declared.filter_map(|(parameter, argument)| match argument.value {
            Value::Integer(value) => {
                Some((parameter.name.to_string(), ParameterValue { value: value as u64, bits: parameter.ty.bits() }))
            }
            _ => None,
        });
        (self.plausible)(command.geometry, &scalars.collect())
    }

    /// Blocks and grids along one axis, where all three are free: they are easier to read.
    fn flat(&self, command: &Command) -> Command {
        let mut geometry = command.geometry;
        let is_free =
            |quantity: fn(Axis) -> Quantity| Axis::ALL.into_iter().all(|axis| self.free.contains(&quantity(axis)));
        let flat = |sizes: [u32; 3]| [sizes.iter().product::<u32>().next_power_of_two(), 1, 1];
        if is_free(Quantity::Block) && geometry.block[1..] != [1, 1] {
            geometry.block = flat(geometry.block);
        }
        if is_free(Quantity::Grid) && geometry.grid[1..] != [1, 1] && command.only_blocks.is_none() {
            geometry.grid = flat(geometry.grid);
        }
        Command { geometry, ..command.clone() }
    }

    fn name_as_in_source(&self, array: &mut Option<String>) {
        if let Some(name) = array
            && let Some(shown) = self.kernel.array_names.get(&Name::from(name.as_str()))
        {
            name.clone_from(shown);
        }
    }

    /// The finding with how it came about.
    fn explained(&self, shown: &Shown, finding: &Finding) -> Finding {
        let Emulator { module, number, .. } = self.emulator;
        let mut finding = finding.clone();
        if let Ok(launch) = shown.command.launch(module, self.emulator.entry(), TOLD_STEPS) {
            waiting::explain(module, number, &launch, &mut finding);
        }
        finding.interleaving.iter_mut().for_each(|step| self.name_as_in_source(&mut step.array));
        finding
    }
}

/// Values to try, smallest first.
fn candidates(quantity: Quantity) -> impl Iterator<Item = u64> {
    let zero = matches!(quantity, Quantity::Argument(_)).then_some(0);
    zero.into_iter().chain((0..32).map(|power| 1 << power))
}

/// The value; `None` for arguments that are no positive numbers.
fn value(command: &Command, quantity: Quantity) -> Option<u64> {
    match quantity {
        Quantity::Block(axis) => Some(u64::from(command.geometry.block[axis.index()])),
        Quantity::Grid(axis) => Some(u64::from(command.geometry.grid[axis.index()])),
        Quantity::Argument(number) => match command.arguments.get(number)?.value {
            Value::Integer(value) => u64::try_from(value).ok(),
            _ => None,
        },
    }
}

fn with_value(command: &Command, quantity: Quantity, value: u64) -> Command {
    let mut command = command.clone();
    match quantity {
        Quantity::Block(axis) => command.geometry.block[axis.index()] = value as u32,
        Quantity::Grid(axis) => {
            command.geometry.grid[axis.index()] = value as u32;
            // The numbers of the blocks were those in the larger grid.
            command.only_blocks = None;
        }
        Quantity::Argument(number) => {
            if let Some(argument) = command.arguments.get_mut(number) {
                argument.value = Value::Integer(i128::from(value));
            }
        }
    }
    command
}

/// Whether two findings are the same defect at the same PTX lines. Which of the barriers where threads of a block wait is
/// named is a matter of order: of two, one is blamed.
fn is_same(shown: &Finding, finding: &Finding) -> bool {
    let lines = |finding: &Finding| finding.accesses.iter().map(|access| access.origin.line).collect::<BTreeSet<u32>>();
    let same_place = match finding.defect {
        Defect::Divergence => finding.barrier.as_ref().is_some_and(|barrier| lines(shown).contains(&barrier.line)),
        Defect::Assertion => shown.barrier == finding.barrier && lines(shown) == lines(finding),
        // Different values stay different.
        Defect::Race => lines(shown) == lines(finding) && (finding.same_value || !shown.same_value),
        _ => lines(shown) == lines(finding),
    };
    shown.defect == finding.defect && same_place
}

/// Takes over what the execution says: who, where, and in which launch.
fn refresh(finding: &mut Finding, shown: &Finding) {
    finding.accesses.clone_from(&shown.accesses);
    if finding.defect == Defect::Divergence {
        finding.barrier.clone_from(&shown.barrier);
    }
    if let Some(barrier) = &finding.barrier {
        finding.accesses.iter_mut().for_each(|access| access.origin = barrier.clone());
    }
    finding.kind.clone_from(&shown.kind);
    if finding.defect != Defect::Race {
        finding.message.clone_from(&shown.message);
    } else if shown.message.contains(TEXTURES) && !finding.message.contains(TEXTURES) {
        say(finding, TEXTURES);
    }
    finding.same_value = shown.same_value;
    finding.offset = shown.offset;
    finding.launch = shown.launch;
    for (name, value) in &mut finding.params {
        if let Some(shown) = shown.params.get(name) {
            *value = *shown;
        }
    }
}
