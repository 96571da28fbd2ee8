//! From an execution in the emulator to findings.
//!
//! Input: a launch and its run. Output: the report, and the steps that lead to a finding. Establishes: every finding is
//! confirmed, because this execution has it; findings are in ranking order. Relies on: the steps of a finding are asked
//! for with the launch that shows it. Reference: none.

use crate::diagnostic::{Diagnostic, Severity};
use crate::exec::Run;
use crate::exec::decode::{Access, Code, NamedSlot, Program, SharedVariable, Windows};
use crate::exec::launch::{Launch, SharedBuffer, array_address};
use crate::exec::outcome::{Fault, FaultKind, Instead, ObjectState, Place, Stop};
use crate::exec::races::{Location, Race};
use crate::exec::record::{Registers, Standing, Track};
use crate::exec::trace::{self, Event, Recorded};
use crate::finding::{
    AccessKind, AccessReport, Defect, Execution, Finding, KernelReport, ParameterValue, Reason, Step, StepKind, Verdict,
};
use crate::geometry::{Geometry, index_of};
use crate::ptx::ast::{AnnotationKind, Function, Item, Module, ScalarType};
use crate::ptx::mangled::human;
use crate::span::Origin;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The report on a run.
pub(crate) fn report(file: &str, module: &Module, entry: &Function, launch: &Launch, run: &Run) -> KernelReport {
    let reporter = Reporter::new(module, entry, launch, run);
    let mut report = KernelReport::new(file, &*entry.name, reporter.sizes);
    report.findings = if run.outcome.is_excluded() { Vec::new() } else { reporter.findings() };
    report.findings.sort_by_key(Finding::rank);
    for stop in &run.outcome.stopped {
        report.reasons.extend(reporter.reason(stop));
    }
    report.diagnostics = reporter.warnings();
    let refused = run.outcome.stopped.iter().any(|stop| matches!(stop, Stop::Refused { .. }));
    report.verdict = match Verdict::of(&report.findings) {
        Some(verdict) => verdict,
        None if refused => Verdict::Unsupported,
        None if !run.outcome.is_complete() => Verdict::Unknown,
        None => Verdict::NoDefect,
    };
    report.execution = Some(Execution { threads: run.outcome.threads, instructions: run.outcome.instructions });
    report
}

/// Names of registers, with their values.
pub(crate) type Values = Vec<(String, String)>;

/// What threads do up to a defect, step by step.
pub(crate) struct Replayed {
    /// `%tid` and `%ctaid` of each thread, and what its registers held before the first step.
    pub(crate) threads: Vec<([u32; 3], [u32; 3], Values)>,
    pub(crate) steps: Vec<ReplayedStep>,
    /// The threads of the block of the first one, at the end.
    pub(crate) standing: Vec<(Standing, Arc<Origin>)>,
}

/// A step of such a thread.
pub(crate) struct ReplayedStep {
    /// Index of the thread.
    pub(crate) thread: usize,
    pub(crate) origin: Arc<Origin>,
    /// The registers that it changed, by name, with their values.
    pub(crate) registers: Values,
    pub(crate) note: Option<String>,
    pub(crate) at_fault: bool,
}

/// The steps of the threads of a finding, in a launch that shows it. One thread where the finding is about one.
pub(crate) fn replayed(module: &Module, entry: usize, launch: &Launch, finding: &Finding) -> Option<Replayed> {
    let number = |access: &AccessReport| launch.geometry.thread_number(access.block, access.thread);
    let mut threads: Vec<u32> = finding.accesses.iter().take(2).map(number).collect();
    if threads.is_empty() {
        // Of a failed assertion the execution alone knows the thread.
        let run = crate::exec::run(module, entry, launch).ok()?;
        threads.push(run.outcome.faults.first()?.place.0);
    }
    threads.dedup();
    let lines = match (&finding.accesses[..], finding.defect) {
        ([first, second], Defect::Race) => Some(([first.origin.line, second.origin.line], finding.same_value)),
        _ => None,
    };
    let recorded = trace::record(module, entry, launch, &threads, lines)?;
    let reporter = Reporter::new(module, &module.functions[entry], launch, &recorded.run);
    Some(reporter.replayed(&recorded, &threads))
}

/// A value as people read it: numbers of 32 bits and small ones are decimal, others are addresses or bits.
fn register_text(ty: ScalarType, value: u64) -> String {
    let bits = ty.bits();
    let value = ParameterValue { value, bits: bits.clamp(1, 64) };
    match ty {
        ScalarType::F(32) => format!("{:?}", f32::from_bits(value.unsigned() as u32)),
        ScalarType::F(64) => format!("{:?}", f64::from_bits(value.unsigned())),
        _ if bits == 1 => (value.unsigned() == 1).to_string(),
        _ if bits <= 32 || value.signed().unsigned_abs() < 1 << 31 => value.signed().to_string(),
        _ => format!("{:#x}", value.unsigned()),
    }
}

/// What an instruction does to others.
fn step_kind(code: Code) -> StepKind {
    match code {
        Code::Load(_) | Code::AsyncRead(_) | Code::Product(_) | Code::TensorRead(_) => StepKind::Read,
        Code::Store(_) | Code::AsyncWrite(_) | Code::BulkWrite(_) | Code::Map(_) | Code::Tensor(_) => StepKind::Write,
        Code::Atomic(_) | Code::Object(_) => StepKind::Atomic,
        Code::Barrier(_) | Code::ClusterArrive { .. } | Code::ClusterWait => StepKind::Barrier,
        Code::Fence { .. } | Code::ProxyFence { .. } => StepKind::Fence,
        _ => StepKind::Exit,
    }
}

fn parameters(module: &Module, entry: &Function, launch: &Launch) -> BTreeMap<String, ParameterValue> {
    let window = Windows::new(module.address_size).shared;
    let arrays = (0..launch.arrays.len()).map(|number| array_address(number, module.address_size));
    let buffers = (0..launch.shared_buffers.len()).map(SharedBuffer::address);
    let pointers: Vec<u64> = arrays.chain(buffers.flat_map(|address| [address, window + address])).collect();
    let scalars = entry.params.iter().zip(&launch.parameters).filter(|(_, bytes)| bytes.len() <= 8);
    let scalars = scalars.map(|(parameter, bytes)| {
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        (parameter.name.to_string(), ParameterValue { value, bits: 8 * bytes.len() as u32 })
    });
    scalars.filter(|(_, value)| !pointers.contains(&value.value)).collect()
}

/// What is said of executions that read textures.
pub(crate) const TEXTURES: &str = "textures hold zeros in this execution";

/// Adds a sentence to the message of a finding.
pub(crate) fn say(finding: &mut Finding, sentence: &str) {
    let separator = if finding.message.is_empty() { "" } else { "\n" };
    finding.message = format!("{}{separator}{sentence}", finding.message);
}

/// Tells what a run showed.
pub(super) struct Reporter<'r> {
    pub(super) launch: &'r Launch,
    pub(super) run: &'r Run,
    sizes: Geometry,
    params: BTreeMap<String, ParameterValue>,
    /// Whether the module reads textures, which hold zeros in the emulator.
    has_textures: bool,
}

impl<'r> Reporter<'r> {
    pub(super) fn new(module: &Module, entry: &Function, launch: &'r Launch, run: &'r Run) -> Self {
        let sizes = launch.geometry.into();
        let reads = |item: &Item| matches!(item, Item::Instruction(instruction) if instruction.op.is_texture_fetch());
        let mut bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        let has_textures = bodies.any(|body| body.items.iter().any(reads));
        Reporter { launch, run, sizes, params: parameters(module, entry, launch), has_textures }
    }

    /// Something that a watched thread did; `at_fault` if it is a part of the defect.
    pub(super) fn step(&self, event: &Event, at_fault: bool) -> Step {
        let part = self.access(AccessKind::Arrive, (event.thread, event.code), event.bytes);
        let place = event.location.map(|location| self.place(location));
        let (array, _, offset) = place.unwrap_or_default();
        Step {
            kind: step_kind(self.run.program.code[event.code as usize]),
            bytes: event.bytes,
            thread: part.thread,
            block: part.block,
            array,
            offset,
            at_fault,
            origin: part.origin,
        }
    }

    fn replayed(&self, recorded: &Recorded, threads: &[u32]) -> Replayed {
        let named = |registers: &Registers| {
            let text = |(number, value): (&usize, &u64)| {
                let register = &recorded.registers[*number];
                (register.named.name.to_string(), register_text(register.ty, *value))
            };
            registers.iter().map(text).collect::<Values>()
        };
        let mut steps: Vec<(u64, ReplayedStep)> = Vec::new();
        for (thread, track) in recorded.tracks.iter().enumerate() {
            for (index, step) in track.steps.iter().enumerate() {
                // Of a vector the part at fault comes last.
                let event = recorded.events.get(step.events.clone()).and_then(|events| events.last());
                let note = match step.skipped {
                    true => Some("not executed: its guard is false".to_string()),
                    false => event.map(|event| self.note(event)),
                };
                let origin = self.run.program.origins[step.code as usize].clone();
                let at_fault = index + 1 == track.steps.len();
                steps.push((
                    step.time,
                    ReplayedStep { thread, origin, registers: named(&step.changed), note, at_fault },
                ));
            }
        }
        steps.sort_by_key(|(time, _)| *time);
        let who = |(number, track): (&u32, &Track)| {
            let part = self.access(AccessKind::Arrive, (*number, 0), 0);
            (part.thread, part.block, named(&track.before))
        };
        let origin = |standing: &Standing| self.run.program.origins[standing.code as usize].clone();
        Replayed {
            threads: threads.iter().zip(&recorded.tracks).map(who).collect(),
            steps: steps.into_iter().map(|(_, step)| step).collect(),
            standing: recorded.standing.iter().map(|standing| (*standing, origin(standing))).collect(),
        }
    }

    /// What others see of a step.
    fn note(&self, event: &Event) -> String {
        let verb = match step_kind(self.run.program.code[event.code as usize]) {
            StepKind::Read => "reads",
            StepKind::Write => "writes",
            StepKind::Atomic => "updates",
            StepKind::Barrier => return "comes to a barrier".to_string(),
            StepKind::Fence => return "executes a fence".to_string(),
            StepKind::Exit => return "ends".to_string(),
        };
        let (array, _, offset) = event.location.map(|location| self.place(location)).unwrap_or_default();
        let array = array.map_or("memory".to_string(), |array| human(&array));
        match (offset, event.bytes) {
            (Some(offset), 1) => format!("{verb} {array}, byte {offset}"),
            (Some(offset), bytes) => format!("{verb} {array}, bytes {offset} to {}", offset + i128::from(bytes) - 1),
            (None, bytes) => format!("{verb} {bytes} bytes of {array}"),
        }
    }

    /// Array, space and byte offset of a location.
    pub(super) fn place(&self, location: Location) -> (Option<String>, Option<&'static str>, Option<i128>) {
        match location {
            Location::Global(array, offset) => {
                let (name, origin) = self.run.arrays.get(array).map(|(name, origin)| (name.clone(), *origin)).unzip();
                (name, Some("global"), Some(i128::from(offset) - i128::from(origin.unwrap_or(0))))
            }
            Location::Tensor { column, lane } => {
                (Some(format!("tensor memory, lane {lane}, column {column}")), Some("tensor"), None)
            }
            Location::Shared(offset) => {
                // Of whichever block of the cluster.
                let offset = offset % self.run.program.shared_size.max(1);
                let inside = |one: &&SharedVariable| offset.wrapping_sub(one.offset) < one.size;
                let variable = self.run.program.shared.iter().find(inside);
                let (name, offset) = variable.map(|one| (one.name.clone(), i128::from(offset - one.offset))).unzip();
                (name, Some("shared"), offset)
            }
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let outcome = &self.run.outcome;
        let mut findings: Vec<Finding> = outcome.races.iter().map(|race| self.race(race)).collect();
        for divergence in &outcome.divergences {
            let absent = self.access(AccessKind::Absent, divergence.absent, 0);
            let mut finding = self.finding(Defect::Divergence, "barrier");
            let arrived = self.access(AccessKind::Arrive, divergence.arrived, 0);
            finding.barrier = Some(arrived.origin.clone());
            let line = absent.origin.line;
            finding.message = match divergence.instead {
                Instead::Elsewhere => format!("the other thread is at PTX line {line}"),
                Instead::WholeWarp => format!(
                    "the other thread is at PTX line {line}, with its whole warp: what is broken is the rule of `.aligned`, \
                     that all threads of the block execute the same barrier instruction (PTX ISA, `barrier`; `bar.sync` is \
                     `barrier.sync.aligned`)"
                ),
                Instead::Exited if self.launch.rules.exited_threads_ok => format!(
                    "the other thread has exited, at PTX line {line}: only barriers \"for all threads in the CTA\" do not wait \
                     for it (PTX ISA, `exit`), and this one names how many it waits for"
                ),
                Instead::Exited => format!("the other thread has exited, at PTX line {line}"),
            };
            finding.accesses = vec![arrived, absent];
            findings.push(finding);
        }
        for deadlock in &outcome.deadlocks {
            let mut finding = self.finding(Defect::Deadlock, "");
            finding.accesses = deadlock.waiting.iter().map(|at| self.access(AccessKind::Arrive, *at, 0)).collect();
            let lines: Vec<String> = finding.accesses.iter().map(|access| access.origin.line.to_string()).collect();
            let (count, lines) = (deadlock.count, lines.join(", "));
            finding.message = format!("{count} threads of the block wait for ever, at PTX lines {lines}");
            finding.message += &self.awaited(&deadlock.objects);
            findings.push(finding);
        }
        for error in &outcome.barrier_errors {
            let mut finding = self.finding(Defect::BarrierError, error.kind.rule());
            finding.accesses = vec![self.access(AccessKind::Arrive, error.place, 0)];
            finding.message = error.kind.message().to_string();
            findings.push(finding);
        }
        for fault in &outcome.faults {
            let (kind, message) = match fault.kind {
                FaultKind::Bounds => ("bounds", self.outside(fault)),
                FaultKind::Alignment => {
                    ("alignment", format!("address {:#x} is no multiple of {} bytes", fault.address, fault.bytes))
                }
                FaultKind::ReadOnly => ("read-only", "parameters cannot be written".to_string()),
                FaultKind::Assertion => (self.assertion_kind(fault.place.1), String::new()),
            };
            let mut finding = self.finding(Defect::Assertion, kind);
            let op = if fault.kind == FaultKind::Assertion { AccessKind::Arrive } else { self.kind(fault.place.1) };
            finding.accesses = vec![self.access(op, fault.place, fault.bytes)];
            if fault.kind == FaultKind::Assertion {
                finding.barrier = Some(finding.accesses[0].origin.clone());
                let [x, y, z] = finding.accesses[0].thread;
                let [a, b, c] = finding.accesses[0].block;
                finding.message = format!("fails for thread ({x},{y},{z}) of block ({a},{b},{c})");
                finding.message.extend(self.values(fault));
                finding.accesses.clear();
            } else {
                finding.message = message;
            }
            findings.push(finding);
        }
        for finding in findings.iter_mut().filter(|_| self.has_textures) {
            say(finding, TEXTURES);
        }
        findings
    }

    /// Why an address is in no array.
    fn outside(&self, fault: &Fault) -> String {
        let Some(byte) = fault.dynamic else { return format!("address {:#x} is in no array", fault.address) };
        let (has, needs) = (self.launch.dynamic_shared, byte + u64::from(fault.bytes));
        let name = self.run.program.shared.first().map_or("", |dynamic| dynamic.name.as_str());
        format!(
            "byte {byte} of `{name}` is in dynamic shared memory, of which this launch has {has} bytes: give it at least \
             {needs} with --dynamic-shared"
        )
    }

    fn assertion_kind(&self, code: u32) -> &'static str {
        match self.run.program.code[code as usize] {
            Code::Annotation(index) => match self.run.program.annotations[index as usize].kind {
                AnnotationKind::Invariant => "invariant",
                AnnotationKind::BarrierInvariant => "barrier-invariant",
                _ => "user-assertion",
            },
            _ => "user-assertion",
        }
    }

    /// What the registers of a failed annotation hold, a line each.
    fn values(&self, fault: &Fault) -> Vec<String> {
        let Code::Annotation(index) = self.run.program.code[fault.place.1 as usize] else { return Vec::new() };
        let registers = &self.run.program.annotations[index as usize].registers;
        let line = |(register, value): (&NamedSlot, &u64)| {
            let value = ParameterValue { value: *value, bits: register.bits.clamp(1, 64) };
            let name = &register.name;
            match register.bits {
                1 => format!("\n{name} = {}", value.unsigned() == 1),
                _ => format!("\n{name} = {} ({:#x})", value.signed(), value.unsigned()),
            }
        };
        registers.iter().zip(&fault.values).map(line).collect()
    }

    fn race(&self, race: &Race) -> Finding {
        let bytes = |code: u32| match self.run.program.code[code as usize] {
            Code::Product(_) => 16,
            // A column of a lane.
            Code::TensorRead(_) | Code::Tensor(_) => 4,
            _ => self.access_of(code).map_or(0, Access::scalar_bytes),
        };
        let part = |(thread, code): Place| self.access(self.kind(code), (thread, code), bytes(code));
        let (first, second) = (part(race.first), part(race.second));
        let mut finding = self.finding(Defect::Race, &format!("{}-{}", first.op.name(), second.op.name()));
        (finding.array, finding.space, finding.offset) = self.place(race.location);
        let linear = |place: Place| place.0 % self.launch.geometry.block_threads() as u32 / 32;
        if race.first.0 == race.second.0 {
            finding.message = "the copy goes on beside the thread that started it".to_string();
        } else if first.block == second.block && linear(race.first) == linear(race.second) {
            finding.message = "both threads are of one warp, which orders nothing by itself".to_string();
        }
        finding.accesses = vec![first, second];
        finding.same_value = race.same_value;
        finding
    }

    fn finding(&self, defect: Defect, kind: &str) -> Finding {
        Finding {
            kind: kind.to_string(),
            params: self.params.clone(),
            launch: Some(self.sizes),
            ..Finding::new(defect, true)
        }
    }

    /// For which phases of barrier objects threads wait, each once.
    fn awaited(&self, objects: &[ObjectState]) -> String {
        let mut awaited: BTreeMap<(u32, u64), (&ObjectState, u32)> = BTreeMap::new();
        for state in objects {
            awaited.entry((state.offset, state.wanted)).or_insert((state, 0)).1 += 1;
        }
        let told = awaited.values().map(|(state, count)| {
            let ObjectState { offset, is_parity, wanted, phase, pending, bytes } = state;
            let (name, _, at) = self.place(Location::Shared(*offset));
            let name = name.map_or(String::new(), |name| format!("`{name}`, byte "));
            let at = at.unwrap_or_else(|| i128::from(*offset));
            let what = if *is_parity { "a phase of parity" } else { "phase" };
            format!(
                "; {count} wait for {what} {wanted} of the mbarrier object at {name}{at}, which is in phase {phase} and expects \
                 {pending} more arrivals and {bytes} more bytes"
            )
        });
        told.collect()
    }

    fn access_of(&self, code: u32) -> Option<&Access> {
        let Program { code: codes, accesses, async_copies, bulk_operations, objects, map_operations, .. } =
            &self.run.program;
        let index = match codes[code as usize] {
            Code::Load(index) | Code::Store(index) | Code::Atomic(index) => index,
            Code::AsyncRead(index) => async_copies[index as usize].from,
            Code::AsyncWrite(index) => async_copies[index as usize].to,
            Code::BulkRead(index) => bulk_operations[index as usize].ends()[0],
            Code::BulkWrite(index) => bulk_operations[index as usize].ends()[1],
            Code::Object(index) => objects[index as usize].access,
            Code::MapRead(index) => map_operations[index as usize].ends()[0],
            Code::Map(index) => map_operations[index as usize].ends()[1],
            _ => return None,
        };
        Some(&accesses[index as usize])
    }

    fn kind(&self, code: u32) -> AccessKind {
        match self.run.program.code[code as usize] {
            Code::Load(_)
            | Code::AsyncRead(_)
            | Code::BulkRead(_)
            | Code::MapRead(_)
            | Code::Product(_)
            | Code::TensorRead(_) => AccessKind::Read,
            Code::Atomic(_) => AccessKind::Atomic,
            _ => AccessKind::Write,
        }
    }

    pub(super) fn access(&self, op: AccessKind, (thread, code): Place, bytes: u32) -> AccessReport {
        let Geometry { block, grid } = self.launch.geometry;
        let size = self.launch.geometry.block_threads() as u32;
        AccessReport {
            op,
            bytes,
            thread: index_of(thread % size, block),
            block: index_of(thread / size, grid),
            origin: self.run.program.origins[code as usize].clone(),
        }
    }

    fn reason(&self, stop: &Stop) -> Option<Reason> {
        let (code, message, at) = match stop {
            Stop::Defect => return None,
            Stop::Steps { code } => {
                ("step-limit", "a thread executed as many instructions as allowed".to_string(), code)
            }
            Stop::Refused { code, reason } => ("not-emulated", reason.clone(), code),
            Stop::Excluded { code } => {
                ("excluded", "a `requires` or `assume` does not hold in this execution".to_string(), code)
            }
            Stop::Trap { code } => ("trap", "a thread executed `trap`, which ends the launch".to_string(), code),
        };
        Some(Reason { code, message, origin: Some(self.run.program.origins[*at as usize].clone()) })
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let outcome = &self.run.outcome;
        let mut warnings = Vec::new();
        for (thread, code) in &outcome.uninitialised {
            let access = self.access(AccessKind::Read, (*thread, *code), 0);
            let [x, y, z] = access.thread;
            let [a, b, c] = access.block;
            let message =
                format!("thread ({x},{y},{z}) of block ({a},{b},{c}) reads shared memory that no thread has written");
            let labels = vec![(access.origin.span, String::new())];
            let severity = Severity::Warning;
            warnings.push(Diagnostic { severity, code: "uninitialised-shared", message, labels, notes: Vec::new() });
        }
        let told = [
            (
                outcome.forgot,
                "many-readers",
                "a location was accessed by more groups of threads than are remembered; races may be missing",
            ),
            (
                outcome.opaque,
                "made-up-values",
                "products of matrices are not computed: their values, and what comes of them, are made up",
            ),
        ];
        warnings.extend(told.into_iter().filter(|(holds, ..)| *holds).map(|(_, code, message)| Diagnostic {
            severity: Severity::Warning,
            code,
            message: message.to_string(),
            labels: Vec::new(),
            notes: Vec::new(),
        }));
        warnings
    }
}
