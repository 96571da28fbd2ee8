//! The emulator decides: a proposed defect is confirmed when one of its executions shows it.
//!
//! Input: a finding with a concrete launch and parameters. Output: the command that shows it, or why none
//! does. Establishes: the execution named by the command has a race between these two PTX lines, which
//! no release and acquire, barrier or fence orders; or threads that wait for ever at that barrier.
//! Relies on: the emulator runs legal executions only (the blocks that do not run are those that the
//! hardware has not started yet). Reference: DESIGN section 3 (what `confirmed` means).

use super::{execution, stated, usual};
use crate::aliases::Aliases;
use crate::exec::arguments::{Argument, Value};
use crate::exec::command::{Command, quoted};
use crate::exec::launch::{Contents, Schedule, check_sizes};
use crate::exec::outcome::{FaultKind, Instead, Outcome, Stop};
use crate::exec::{self, Run};
use crate::finding::{Defect, Finding};
use crate::geometry::{Geometry, linear};
use crate::ivl::ast::StmtKind;
use crate::kernel::{Kernel, KernelParameter};
use crate::ptx::ast::{Function, Module, ScalarType, StateSpace, Variable};
use crate::rules::Rules;
use crate::span::Origin;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What has to be known to emulate a kernel.
#[derive(Clone, Copy)]
pub struct Emulator<'a> {
    pub module: &'a Module,
    /// Index of the kernel among its functions.
    pub number: usize,
    /// The input file, as given.
    pub file: &'a str,
    /// The file of annotations that the command names.
    pub annotations: Option<&'a str>,
    /// Bytes of dynamic shared memory of every launch, if known.
    pub dynamic_shared: Option<u32>,
    /// What counts as a defect, and whether global arrays may overlap.
    pub rules: Rules,
    /// Parameters that point into one array.
    pub aliases: &'a Aliases,
}

/// Instructions of all threads in one run.
const RUN_STEPS: u64 = 2_000_000;

/// Instructions of one thread.
const THREAD_STEPS: u64 = 100_000;

/// Instructions for one finding.
const FINDING_STEPS: u64 = 2_000_000;

/// Instructions for all findings of a kernel.
const ALL_STEPS: u64 = 6_000_000;

/// A launch of so many threads is run as a whole, should its two blocks alone show nothing.
const WHOLE_LAUNCH: u128 = 8192;

/// Dynamic shared memory of kernels that have some, in bytes.
const DYNAMIC_SHARED: u32 = 48 << 10;

/// The buffers in shared memory that parameters point to, together, in bytes: with the arrays of a kernel this is what a
/// block of all GPUs from sm_80 on may have.
const BUFFERS: u32 = 64 << 10;

/// Contents of arrays, schedule and seed of the executions that are tried.
const TRIES: [(Contents, Schedule, u64); 7] = [
    (Contents::Zero, Schedule::RoundRobin, 1),
    (Contents::Zero, Schedule::Lockstep, 1),
    (Contents::Zero, Schedule::Adversarial, 1),
    (Contents::Small { bound: 64, seed: 1 }, Schedule::Random, 2),
    (Contents::Zero, Schedule::LockstepTaken, 1),
    (Contents::Any { seed: 1 }, Schedule::Adversarial, 3),
    (Contents::Small { bound: 2, seed: 1 }, Schedule::Adversarial, 4),
];

impl<'a> Emulator<'a> {
    /// The kernel.
    pub(crate) fn entry(&self) -> &'a Function {
        &self.module.functions[self.number]
    }

    /// A command for a shell.
    pub(crate) fn text(&self, command: &Command) -> String {
        let text = command.text(self.file, &self.entry().name);
        match self.annotations {
            Some(file) => format!("{text} --annotations {}", quoted(file)),
            None => text,
        }
    }

    /// Runs a command as far as the limit goes.
    pub(crate) fn run(&self, command: &Command, total_steps: u64) -> Result<Run, String> {
        check_sizes(command.geometry)?;
        let launch = command.launch(self.module, self.entry(), total_steps).map_err(|diagnostic| diagnostic.message)?;
        exec::run(self.module, self.number, &launch).map_err(|diagnostic| diagnostic.message)
    }

    /// What a command shows, run as far as the limit goes.
    pub(crate) fn show(&self, command: &Command, total_steps: u64) -> Result<Shown, String> {
        let run = self.run(command, total_steps)?;
        let launch = command.launch(self.module, self.entry(), total_steps).map_err(|diagnostic| diagnostic.message)?;
        Ok(Shown {
            findings: execution::report(self.file, self.module, self.entry(), &launch, &run).findings,
            instructions: run.outcome.instructions,
            is_defined: is_defined(&run.outcome),
            command: limited(command.clone(), &run.outcome),
        })
    }

    /// An argument for each parameter: arrays with these contents, scalars with these values. With
    /// `overlap` pointers that may alias are the same, or as far apart as the launch says. Arrays by which threads synchronise hold zeros, as locks and
    /// counters do before a launch: with other contents a correct kernel would race.
    pub fn arguments(
        &self,
        kernel: &Kernel,
        value: &dyn Fn(&KernelParameter) -> u64,
        contents: &Contents,
        overlap: bool,
    ) -> Result<Vec<Argument>, String> {
        let params = &kernel.params;
        let synchronising = synchronising_arrays(kernel);
        let words = self.entry().params.iter().filter(|parameter| is_word_of_shared(parameter));
        let buffer = self.buffer(params.iter().filter(|field| field.is_shared).count() + words.count());
        let contents_of = |name: &str| {
            if params.iter().any(|field| field.is_shared && field.name == *name) {
                return buffer.clone();
            }
            let is_shared = overlap || !self.aliases.is_empty();
            let zeros = synchronising.contains(name) || is_shared && !synchronising.is_empty();
            let contents = if zeros { Contents::Zero } else { contents.clone() };
            Value::Endless(stated::contents(self.entry(), name, contents))
        };
        let mut first_arrays: BTreeMap<(bool, u32), &str> = BTreeMap::new();
        let argument = |(position, parameter): (u32, &'a Variable)| {
            let fields: Vec<&KernelParameter> = params.iter().filter(|field| is_of(field, parameter)).collect();
            let size = usize::try_from(parameter.size.unwrap_or(0)).unwrap_or(0);
            let is_word = is_word_of_shared(parameter);
            if is_word || size == 8 && fields.iter().any(|field| field.is_pointer) {
                let distance = self.aliases.distance(position);
                let new = || if is_word { buffer.clone() } else { contents_of(&parameter.name) };
                let Some(first) = self.first_alias(position).filter(|_| overlap || distance.is_some()) else {
                    return Ok(new());
                };
                let distance = distance.unwrap_or(0);
                // Global and shared memory are two.
                let first = (is_word || fields.iter().any(|field| field.is_shared), first);
                let same =
                    first_arrays.get(&first).map(|other: &&str| Value::Same { other: other.to_string(), distance });
                first_arrays.entry(first).or_insert(&parameter.name);
                return Ok(same.unwrap_or_else(new));
            }
            let mut bytes = vec![0; size];
            for field in &fields {
                let (offset, width) = (field.offset.max(0) as usize, field.bits as usize / 8);
                let part = value(field).to_le_bytes();
                let room = bytes.iter_mut().skip(offset).take(width);
                room.zip(part).for_each(|(byte, new)| *byte = new);
            }
            let pointers = fields.iter().filter(|field| field.is_pointer);
            let arrays: BTreeMap<usize, Value> =
                pointers.map(|field| (field.offset.max(0) as usize, contents_of(&field.name))).collect();
            if arrays.is_empty() { Ok(scalar(parameter, bytes)) } else { structure(&bytes, arrays) }
        };
        let values = (0..).zip(&self.entry().params).map(argument).collect::<Result<Vec<Value>, String>>()?;
        let named = self.entry().params.iter().zip(values);
        Ok(named.map(|(parameter, value)| Argument::of(&parameter.name, value)).collect())
    }

    /// A buffer in shared memory for a kernel whose parameters point to so many.
    fn buffer(&self, number: usize) -> Value {
        let most = match self.dynamic_shared {
            Some(bytes) if !self.has_dynamic_array() => bytes,
            _ => BUFFERS,
        };
        let bytes = (most / number.max(1) as u32).min(DYNAMIC_SHARED);
        Value::Shared { count: u64::from(bytes / 16 * 4), ty: ScalarType::U(32) }
    }

    /// Whether an array of the module is dynamic shared memory.
    fn has_dynamic_array(&self) -> bool {
        let bodies = self.module.functions.iter().filter_map(|function| function.body.as_ref());
        let mut variables = self.module.variables.iter().chain(bodies.flat_map(|body| &body.variables));
        variables.any(|variable| variable.space == StateSpace::Shared && variable.size.is_none())
    }

    /// The first of the parameters that perhaps point into the array of this one, which is given by its position.
    fn first_alias(&self, position: u32) -> Option<u32> {
        if self.rules.may_alias { Some(0) } else { self.aliases.first(position) }
    }

    /// Whether arrays overlap that may overlap in an execution that shows a defect: both are tried.
    pub(crate) fn overlaps(&self) -> &'static [bool] {
        if self.rules.may_alias || self.aliases.has_unknown_distances() { &[false, true] } else { &[false] }
    }

    /// Whether threads synchronise by an array, which then holds zeros before a launch.
    pub(crate) fn synchronises(&self, kernel: &Kernel, array: &str) -> bool {
        synchronising_arrays(kernel).contains(array)
    }

    /// Bytes of dynamic shared memory that a finding wants.
    pub fn dynamic_shared(&self, finding: &Finding) -> u32 {
        if !self.has_dynamic_array() {
            return 0;
        }
        if let Some(bytes) = self.dynamic_shared {
            return bytes;
        }
        let offset = finding.offset.filter(|_| finding.space == Some("shared")).unwrap_or(0);
        // The largest access has 16 bytes.
        let needed = u32::try_from(offset + 16).unwrap_or(0).next_multiple_of(1024);
        needed.clamp(DYNAMIC_SHARED, 1 << 20)
    }
}

/// What a command showed.
pub(crate) struct Shown {
    /// All that it showed.
    pub(crate) findings: Vec<Finding>,
    /// Instructions of all threads.
    pub(crate) instructions: u64,
    /// Whether the ISA says all that happened.
    pub(crate) is_defined: bool,
    /// The command, for people.
    pub(crate) command: Command,
}

/// Whether the ISA says all that happened: no access was outside of its array or misaligned, which is beyond the
/// standing assumptions, no value came from where it is left open, so that other hardware may have another one, and
/// none was made up. (A finding that evaluation proposed does not depend on the last.)
pub(super) fn is_defined(outcome: &Outcome) -> bool {
    let within = outcome.faults.iter().all(|fault| fault.kind == FaultKind::Assertion);
    within && !outcome.arbitrary && !outcome.opaque
}

/// A limit on the steps is named only where it was met.
fn limited(mut command: Command, outcome: &Outcome) -> Command {
    if !outcome.stopped.iter().any(|stop| matches!(stop, Stop::Steps { .. })) {
        command.steps = None;
    }
    command
}

/// Names of the arrays with atomic, volatile and other strong accesses.
fn synchronising_arrays(kernel: &Kernel) -> BTreeSet<&str> {
    let arrays = usual::statements(&kernel.program).filter_map(|stmt| match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } => access.strong.map(|_| &access.array),
        StmtKind::Atomic { access, .. } => Some(&access.array),
        _ => None,
    });
    arrays.filter_map(|name| kernel.array_names.get(name)).map(String::as_str).collect()
}

/// Whether a loaded place is part of a parameter.
fn is_of(field: &KernelParameter, parameter: &Variable) -> bool {
    match field.name.strip_prefix(&*parameter.name) {
        Some("") => true,
        Some(rest) => rest == format!(".{}", field.offset),
        None => false,
    }
}

/// Whether a parameter is a pointer to shared memory of 32 bits, which the proof takes for a number.
fn is_word_of_shared(parameter: &Variable) -> bool {
    parameter.size == Some(4) && matches!(parameter.pointer, Some(StateSpace::Shared | StateSpace::SharedCluster))
}

/// A number where it can be read, else bytes.
fn scalar(parameter: &Variable, bytes: Vec<u8>) -> Value {
    let is_number =
        bytes.len() <= 8 && !parameter.ty.is_float() && parameter.size == Some(u64::from(parameter.ty.bytes()));
    if is_number && !bytes.is_empty() {
        let value = bytes.iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        let unused = 64 - 8 * bytes.len();
        return Value::Integer(i128::from(((value << unused) as i64) >> unused));
    }
    Value::Bytes(bytes)
}

/// A structure with pointers to arrays, by their offsets.
fn structure(bytes: &[u8], arrays: BTreeMap<usize, Value>) -> Result<Value, String> {
    let mut parts = Vec::new();
    let mut at = 0;
    let plain = |bytes: &[u8]| (!bytes.is_empty()).then(|| Value::Bytes(bytes.to_vec()));
    for (offset, array) in arrays {
        parts.extend(plain(bytes.get(at..offset).ok_or("pointers of a structure overlap")?));
        parts.push(array);
        at = offset + 8;
    }
    parts.extend(plain(bytes.get(at..).ok_or("a pointer lies at the end of a structure")?));
    Ok(Value::Parts(parts))
}

/// Decides the findings of one kernel; runs that several of them want happen once.
pub(crate) struct Judge<'a> {
    emulator: Emulator<'a>,
    kernel: &'a Kernel,
    seen: BTreeMap<String, Seen>,
    /// Instructions executed so far.
    steps: u64,
}

/// What a run showed.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Lines of each race, and whether both threads write one value wherever they meet there.
    races: BTreeMap<BTreeSet<u32>, bool>,
    /// Lines where threads wait at barriers for others that do not come.
    barriers: BTreeSet<u32>,
    /// Lines of barriers and warp operations that are misused.
    misuses: BTreeSet<u32>,
    /// The assertions of the user that fail.
    assertions: BTreeSet<Arc<Origin>>,
    /// The first instruction that is not emulated.
    refused: Option<String>,
    /// Whether a limit on the instructions was met.
    unfinished: bool,
    /// Whether a value came from where the ISA leaves it open, or the user excludes the execution. (A fault ends a launch: what was seen before it
    /// happened within the arrays.)
    undefined: bool,
    /// The command, for people.
    command: Option<Command>,
}

impl<'a> Judge<'a> {
    /// A judge that has seen nothing.
    pub(crate) fn new(emulator: Emulator<'a>, kernel: &'a Kernel) -> Self {
        Judge { emulator, kernel, seen: BTreeMap::new(), steps: 0 }
    }

    /// The command that shows a finding, or why there is none. A race in which both threads write one value is the last
    /// choice, and marked as such in the finding.
    pub(crate) fn confirm(&mut self, finding: &mut Finding) -> Result<Command, String> {
        let mut same_value = None;
        match self.confirm_values(finding, &mut same_value) {
            Err(reason) => {
                let command = same_value.ok_or(reason)?;
                finding.same_value = true;
                Ok(command)
            }
            shown => shown,
        }
    }

    fn confirm_values(&mut self, finding: &Finding, same_value: &mut Option<Command>) -> Result<Command, String> {
        let geometry = finding.launch.and_then(Geometry::known).ok_or("its launch is not known")?;
        let end = self.steps + FINDING_STEPS;
        let mut failure = Failure::default();
        for only_blocks in parts(finding, geometry) {
            for &overlap in self.emulator.overlaps() {
                for (contents, schedule, seed) in TRIES {
                    if self.steps >= end.min(ALL_STEPS) {
                        return Err(failure.text());
                    }
                    let command = Command {
                        geometry,
                        cluster: [1; 3],
                        only_blocks: only_blocks.clone(),
                        arguments: self.arguments(finding, &contents, overlap)?,
                        dynamic_shared: self.emulator.dynamic_shared(finding),
                        schedule,
                        seed,
                        steps: Some(THREAD_STEPS),
                        rules: self.emulator.rules,
                    };
                    let seen = self.see(command)?;
                    if let Some(command) = seen.command.as_ref().filter(|_| seen.shows(finding)) {
                        if !seen.is_same_value(finding) {
                            return Ok(command.clone());
                        }
                        same_value.get_or_insert_with(|| command.clone());
                    }
                    failure.add(seen);
                }
            }
        }
        Err(failure.text())
    }

    fn arguments(&self, finding: &Finding, contents: &Contents, overlap: bool) -> Result<Vec<Argument>, String> {
        let value = |parameter: &KernelParameter| finding.params.get(&parameter.name).map_or(0, |v| v.unsigned());
        self.emulator.arguments(self.kernel, &value, contents, overlap)
    }

    fn see(&mut self, command: Command) -> Result<&Seen, String> {
        let key = self.emulator.text(&command);
        if !self.seen.contains_key(&key) {
            let run = self.emulator.run(&command, RUN_STEPS)?;
            self.steps += run.outcome.instructions;
            let command = limited(command, &run.outcome);
            self.seen.insert(key.clone(), Seen::of(&run, command));
        }
        Ok(&self.seen[&key])
    }
}

/// Which blocks run: first those concerned alone, then all if they are few.
fn parts(finding: &Finding, geometry: Geometry<u32>) -> Vec<Option<Vec<u32>>> {
    let concerned: BTreeSet<u32> = finding.accesses.iter().map(|access| linear(access.block, geometry.grid)).collect();
    if concerned.len() as u128 == geometry.blocks() {
        return vec![None];
    }
    let whole = geometry.threads() <= WHOLE_LAUNCH;
    let mut parts = vec![Some(concerned.into_iter().collect())];
    parts.extend(whole.then_some(None));
    parts
}

impl Seen {
    fn of(run: &Run, command: Command) -> Seen {
        let line = |(_, code): (u32, u32)| run.program.origins[code as usize].line;
        let Outcome { races, divergences, deadlocks, stopped, .. } = &run.outcome;
        // Which of the barriers where threads wait is named is a matter of taste.
        let parted =
            divergences.iter().flat_map(|d| [Some(d.arrived), Some(d.absent).filter(|_| d.instead != Instead::Exited)]);
        let waiting = deadlocks.iter().flat_map(|deadlock| deadlock.waiting.iter().copied());
        let failed = run.outcome.faults.iter().filter(|fault| fault.kind == FaultKind::Assertion);
        let refused = stopped.iter().find_map(|stop| match stop {
            Stop::Refused { code, reason } => Some(format!("PTX line {} is not emulated: {reason}", line((0, *code)))),
            _ => None,
        });
        let mut lines_of_races = BTreeMap::new();
        for race in races {
            let lines = BTreeSet::from([line(race.first), line(race.second)]);
            *lines_of_races.entry(lines).or_insert(true) &= race.same_value;
        }
        Seen {
            races: lines_of_races,
            assertions: failed.map(|fault| run.program.origins[fault.place.1 as usize].clone()).collect(),
            misuses: run.outcome.barrier_errors.iter().map(|error| line(error.place)).collect(),
            barriers: parted.flatten().chain(waiting).map(line).collect(),
            refused,
            unfinished: stopped.iter().any(|stop| matches!(stop, Stop::Steps { .. })),
            undefined: run.outcome.arbitrary || run.outcome.is_excluded(),
            command: Some(command),
        }
    }

    /// Whether the defect of a finding is there, at its lines.
    fn shows(&self, finding: &Finding) -> bool {
        match finding.defect {
            _ if self.undefined => false,
            Defect::Race => self.races.contains_key(&lines(finding)),
            Defect::Divergence => finding.barrier.as_ref().is_some_and(|barrier| self.barriers.contains(&barrier.line)),
            Defect::Assertion => finding.barrier.as_ref().is_some_and(|place| self.assertions.contains(place)),
            Defect::BarrierError => finding.accesses.iter().any(|access| self.misuses.contains(&access.origin.line)),
            Defect::Deadlock => false,
        }
    }

    /// Whether that defect is a race in which both threads write one value.
    fn is_same_value(&self, finding: &Finding) -> bool {
        finding.defect == Defect::Race && self.races.get(&lines(finding)) == Some(&true)
    }
}

fn lines(finding: &Finding) -> BTreeSet<u32> {
    finding.accesses.iter().map(|access| access.origin.line).collect()
}

/// Why no run showed a finding.
#[derive(Default)]
struct Failure {
    runs: u32,
    refused: Option<String>,
    unfinished: bool,
    undefined: bool,
}

impl Failure {
    fn add(&mut self, seen: &Seen) {
        self.runs += 1;
        self.refused = self.refused.take().or_else(|| seen.refused.clone());
        self.unfinished |= seen.unfinished;
        self.undefined |= seen.undefined;
    }

    fn text(self) -> String {
        let limit = || "threads executed as many instructions as the emulator allows".to_string();
        let none = match self.runs {
            0 => "the emulator had executed enough for other findings".to_string(),
            runs => format!("{runs} executions in the emulator do not show it"),
        };
        let undefined = || "executions in the emulator use values that the ISA leaves open".to_string();
        let failure = self.refused.or_else(|| self.unfinished.then(limit));
        failure.or_else(|| self.undefined.then(undefined)).unwrap_or(none)
    }
}
