//! Directed random launches, for failed assertions that no model confirms.
//!
//! Input: the lines of refuted assertions, what is fixed of the launch. Output: findings that one
//! execution in the emulator has, with its command. Establishes: what [`super::emulate`] establishes; the
//! launch has the sizes and parameters that the user fixed. Relies on: the emulator stops where an assumption of the
//! user does not hold. Reference: none.

use super::Plausible;
use super::emulate::{Emulator, Shown};
use super::usual::{self, Stated};
use crate::exec::command::Command;
use crate::exec::launch::{Contents, Schedule};
use crate::exec::values::hash;
use crate::finding::{Defect, Finding, ParameterValue};
use crate::geometry::{Geometry, linear};
use crate::ivl::ast::Name;
use crate::kernel::{Kernel, KernelParameter};
use crate::span::Origin;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Launches.
    launches: u64,
    /// Instructions of all launches together.
    steps: u64,
    /// Instructions of all threads in one launch.
    run: u64,
    /// Of larger launches some blocks run.
    threads: u32,
    /// What is chosen: as many threads as there is room for, or few that get far.
    reach: Reach,
}

/// What launches of a search are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The first block, its neighbours, the last one and some between; values of any size.
    Wide,
    /// The first block and its neighbours, which get far; values that give loops few rounds.
    Deep,
}

impl Effort {
    /// For lines that a failed proof suspects.
    pub const PATIENT: Effort =
        Effort { launches: 24, steps: 5_000_000, run: 400_000, threads: 2048, reach: Reach::Wide };
    /// Before the invariants of loops are looked for: small launches.
    pub(crate) const BRIEF: Effort =
        Effort { launches: 6, steps: 100_000, run: 100_000, threads: 512, reach: Reach::Wide };
    /// The same: a large one.
    pub(crate) const LARGE: Effort =
        Effort { launches: 1, steps: 400_000, run: 400_000, threads: 2048, reach: Reach::Wide };
    /// The same: loops to their ends.
    pub(crate) const DEEP: Effort =
        Effort { launches: 6, steps: 1_000_000, run: 300_000, threads: 64, reach: Reach::Deep };
    /// Before a proof is tried.
    pub(crate) const QUICK: Effort =
        Effort { launches: 6, steps: 1_000_000, run: 400_000, threads: 2048, reach: Reach::Wide };
    /// For a kernel without one of its barriers.
    pub(super) const TRIALS: Effort =
        Effort { launches: 4, steps: 1_000_000, run: 200_000, threads: 512, reach: Reach::Wide };
}

/// Two launches with each. Threads that wait for others in turns have often seen more than they waited for: where there are
/// such, the second one comes first.
const SCHEDULES: [Schedule; 3] = [Schedule::RoundRobin, Schedule::Adversarial, Schedule::Lockstep];

/// Guesses of parameters for each launch, until they are plausible.
const GUESSES: u64 = 8;

/// Instructions of one thread.
const THREAD_STEPS: u64 = 20_000;

/// The PTX lines to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Suspects {
    /// An access of a race.
    pub races: BTreeSet<u32>,
    /// A barrier of a divergence.
    pub barriers: BTreeSet<u32>,
    /// A warp operation to which not all lanes come that it waits for: they wait elsewhere, at a barrier or not.
    pub warps: BTreeSet<u32>,
    /// A barrier, or a warp operation, that is misused.
    pub rules: BTreeSet<u32>,
    /// Assertions of the user; several may stand at one line.
    pub assertions: BTreeSet<Arc<Origin>>,
}

impl Suspects {
    /// Whether a finding is at one of the lines.
    pub(crate) fn contain(&self, finding: &Finding) -> bool {
        match finding.defect {
            // What comes behind is proved as if they had come.
            Defect::Race | Defect::Divergence | Defect::Deadlock if !self.warps.is_empty() => true,
            Defect::Race => finding.accesses.iter().any(|access| self.races.contains(&access.origin.line)),
            Defect::Divergence => finding.barrier.iter().any(|barrier| self.barriers.contains(&barrier.line)),
            Defect::Assertion => finding.barrier.iter().any(|place| self.assertions.contains(place)),
            Defect::BarrierError => finding.accesses.iter().any(|access| self.rules.contains(&access.origin.line)),
            Defect::Deadlock => false,
        }
    }
}

/// Random launches of a kernel.
pub struct Explorer<'a> {
    emulator: &'a Emulator<'a>,
    kernel: &'a Kernel,
    suspects: &'a Suspects,
    effort: Effort,
    plausible: Option<Plausible<'a>>,
}

/// A launch at random.
pub(super) enum Guess {
    Launch(Box<Command>),
    /// Its parameters are none to try.
    Unlikely,
    /// The emulator cannot be given such parameters.
    Refused,
}

/// What a search tries at most.
pub(super) struct Limits {
    pub(super) guesses: u64,
    pub(super) launches: u64,
    /// Instructions of all launches together.
    pub(super) steps: u64,
    /// Instructions of one launch.
    pub(super) run: u64,
}

/// Suspects that one execution has.
pub struct Explored {
    pub findings: Vec<Finding>,
    /// What shows them; `None` for kernels that the emulator does not run.
    pub(crate) command: Option<Command>,
}

impl<'a> Explorer<'a> {
    /// An explorer that watches some lines.
    pub fn new(emulator: &'a Emulator<'a>, kernel: &'a Kernel, suspects: &'a Suspects, effort: Effort) -> Self {
        Explorer { emulator, kernel, suspects, effort, plausible: None }
    }

    /// Only launches that a host is likely to start.
    pub(crate) fn among(self, plausible: Plausible<'a>) -> Self {
        Explorer { plausible: Some(plausible), ..self }
    }

    /// Runs launches of these sizes, where fixed, until one shows a suspect. Races in which both threads write one value are
    /// answered only if no launch shows another.
    pub fn run(&self, fixed: Geometry) -> Option<Explored> {
        let stated = Stated::of(&self.kernel.program);
        let sizes: Vec<Geometry<u32>> = usual::launches(&self.kernel.program, fixed).into_iter().take(3).collect();
        let (mut steps, mut launches) = (0, 0);
        let mut same_value = None;
        for number in 0..self.effort.launches * GUESSES {
            let launch = sizes[number as usize % sizes.len()];
            let mut command = match self.guess(launch, number, &stated) {
                Guess::Launch(command) => *command,
                Guess::Unlikely => continue,
                Guess::Refused => break,
            };
            let Some(mut shown) = self.shown(&command) else { break };
            launches += 1;
            steps += shown.instructions;
            log::debug!("launch {number}: {} findings, {} instructions", shown.findings.len(), shown.instructions);
            if shown.findings.first().is_some_and(|finding| finding.same_value)
                && let Some((other, with_values)) = self.with_other_contents(launch, number, &stated)
            {
                (command, shown) = (other, with_values);
            }
            if let Some(finding) = shown.findings.first() {
                let reduced = self.reduced(command, finding);
                let only_same_value = finding.same_value;
                let explored = reduced.unwrap_or(Explored { findings: shown.findings, command: Some(shown.command) });
                if !only_same_value {
                    return Some(explored);
                }
                same_value.get_or_insert(explored);
            }
            if steps > self.effort.steps || launches == self.effort.launches {
                break;
            }
        }
        same_value
    }

    /// The launch with this number, among those of one size.
    pub(super) fn guess(&self, launch: Geometry<u32>, number: u64, stated: &Stated) -> Guess {
        self.guess_with(launch, number, stated, &contents(number))
    }

    fn guess_with(&self, launch: Geometry<u32>, number: u64, stated: &Stated, contents: &Contents) -> Guess {
        let chosen = |parameter: &KernelParameter| self.scalar(parameter, &launch, number);
        let sizes = launch.registers().map(|(register, size)| (Name::from(register), u128::from(size)));
        let scalars = self.kernel.params.iter().filter_map(|parameter| {
            let constant = parameter.constant.clone()?;
            Some((constant, u128::from(chosen(parameter))))
        });
        let values = stated.meet(sizes.chain(scalars).collect());
        let value = |parameter: &KernelParameter| {
            let stated = parameter.constant.as_ref().and_then(|constant| values.get(constant));
            stated.map_or_else(|| chosen(parameter), |value| *value as u64)
        };
        if !self.is_plausible(launch, &value) {
            return Guess::Unlikely;
        }
        self.command(launch, number, &value, contents)
            .map_or(Guess::Refused, |command| Guess::Launch(Box::new(command)))
    }

    /// How many numbers of launches are tried at most, and how many instructions a launch and all of them have.
    pub(super) fn limits(&self) -> Limits {
        let Effort { launches, steps, run, .. } = self.effort;
        Limits { guesses: launches * GUESSES, launches, steps, run }
    }

    fn is_plausible(&self, launch: Geometry<u32>, value: &dyn Fn(&KernelParameter) -> u64) -> bool {
        let Some(plausible) = self.plausible else { return true };
        let scalars = self.kernel.params.iter().filter(|parameter| !parameter.is_pointer);
        let values = scalars.map(|parameter| {
            let value = ParameterValue { value: value(parameter), bits: parameter.bits };
            (parameter.name.clone(), value)
        });
        plausible(launch, &values.collect())
    }

    fn command(
        &self,
        launch: Geometry<u32>,
        number: u64,
        value: &dyn Fn(&KernelParameter) -> u64,
        contents: &Contents,
    ) -> Option<Command> {
        let overlaps = self.emulator.overlaps();
        let overlap = overlaps[number as usize % overlaps.len()];
        Some(Command {
            geometry: launch,
            cluster: [1; 3],
            only_blocks: self.some_blocks(&launch, hash(7, number)),
            arguments: self.emulator.arguments(self.kernel, value, contents, overlap).ok()?,
            dynamic_shared: self.emulator.dynamic_shared(&Finding::new(Defect::Race, false)),
            schedule: SCHEDULES[(number / 2 + u64::from(self.kernel.waits)) as usize % SCHEDULES.len()],
            seed: number + 1,
            steps: Some(THREAD_STEPS),
            rules: self.emulator.rules,
        })
    }

    /// The suspects that a run shows; `None` if the emulator cannot run it.
    fn shown(&self, command: &Command) -> Option<Shown> {
        let mut shown = self.emulator.show(command, self.effort.run).ok()?;
        shown.findings.retain(|finding| shown.is_defined && self.suspects.contain(finding));
        shown.findings.iter_mut().for_each(|finding| finish(finding, command));
        Some(shown)
    }

    /// The same launch with arrays that hold anything, if both threads of its race then write different values: small
    /// numbers and zeros are often the same by chance.
    fn with_other_contents(&self, launch: Geometry<u32>, number: u64, stated: &Stated) -> Option<(Command, Shown)> {
        let Guess::Launch(command) = self.guess_with(launch, number, stated, &Contents::Any { seed: number + 1 })
        else {
            return None;
        };
        let shown = self.shown(&command)?;
        let has_values = shown.findings.first().is_some_and(|finding| !finding.same_value);
        has_values.then_some((*command, shown))
    }

    /// The same with the blocks of the finding alone, if that shows it, too.
    fn reduced(&self, mut command: Command, finding: &Finding) -> Option<Explored> {
        let concerned = finding.accesses.iter().map(|access| linear(access.block, command.geometry.grid));
        let concerned: BTreeSet<u32> = concerned.collect();
        if concerned.len() as u128 == command.geometry.blocks() {
            return None;
        }
        command.only_blocks = Some(concerned.into_iter().collect());
        let Shown { findings, command, .. } = self.shown(&command)?;
        let still = findings.first().is_some_and(|first| finding.same_value || !first.same_value);
        still.then_some(Explored { findings, command: Some(command) })
    }

    /// A parameter's value: all the same usual one, or each its own.
    fn scalar(&self, parameter: &KernelParameter, launch: &Geometry<u32>, number: u64) -> u64 {
        let is_float = |ty: crate::ptx::ast::ScalarType| ty.is_float();
        let mut declared = self.emulator.entry().params.iter();
        let declared = declared.find(|declared| *declared.name == *parameter.name);
        if declared.is_some_and(|declared| is_float(declared.ty)) {
            let value = [1.0, f64::NAN, 0.0, 0.5, -1.0][number as usize % 5];
            return if parameter.bits == 32 { u64::from((value as f32).to_bits()) } else { f64::to_bits(value) };
        }
        let name = parameter.name.bytes().fold(number, |seed, byte| hash(seed, u64::from(byte)));
        let usual = match self.effort.reach {
            Reach::Wide if number % 3 == 2 => return hash(name, 1) % 64,
            Reach::Wide => usual::values(launch).to_vec(),
            Reach::Deep => usual::small_values(launch).to_vec(),
        };
        let index = if number < 4 { number } else { name };
        usual[index as usize % usual.len()] as u64
    }

    /// Of a launch with more threads than there is room for: those blocks that run.
    fn some_blocks(&self, launch: &Geometry<u32>, random: u64) -> Option<Vec<u32>> {
        let most = u64::from(self.effort.threads);
        let (threads, blocks) = (launch.block_threads() as u64, launch.blocks() as u64);
        if threads * blocks <= most {
            return None;
        }
        let room = most / threads;
        let ends = [0, 1, u64::from(launch.grid[0]), blocks - 1].map(|number| number.min(blocks - 1));
        let chosen: BTreeSet<u64> = match self.effort.reach {
            Reach::Wide => {
                let between = (ends.len() as u64..room).map(|number| hash(random, number) % blocks);
                ends.into_iter().chain(between).collect()
            }
            Reach::Deep => ends.into_iter().take((room as usize).clamp(1, 3)).collect(),
        };
        (chosen.len() as u64 != blocks).then(|| chosen.into_iter().map(|number| number as u32).collect())
    }
}

/// A finding of the emulator in the form of the verifier's.
pub(super) fn finish(finding: &mut Finding, command: &Command) {
    if command.arguments.iter().any(|argument| argument.value.is_endless()) {
        let parts = [finding.message.as_str(), "arrays hold what the command below says"];
        finding.message = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    }
    if let Some(barrier) = &finding.barrier {
        finding.accesses.iter_mut().for_each(|access| access.origin = barrier.clone());
    }
}

/// What arrays hold.
fn contents(number: u64) -> Contents {
    let seed = number + 1;
    match number % 4 {
        0 => Contents::Small { bound: 64, seed },
        1 => Contents::Zero,
        2 => Contents::Small { bound: 2, seed },
        _ => Contents::Any { seed },
    }
}
