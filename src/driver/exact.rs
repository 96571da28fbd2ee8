//! The exact engine ([`crate::sync`]): when it is asked, and its answer as a report.
//!
//! Input: a kernel and the options. Output: a report. Establishes: `verified` only where the user gave the launch and each
//! scalar that matters; what the tool chose stands among the conditions. Relies on: `sync` for the proof. Reference: DESIGN
//! section 3 (`verified-when`).

use super::emulate::check_cluster;
use super::input::Input;
use super::options::{Engine, Format, Options};
use super::pipeline::{self, Program};
use super::stated;
use crate::diagnostic::{Diagnostic, Severity};
use crate::effort::Effort;
use crate::exec::launch::check_sizes;
use crate::finding::{Defect, Exact, Finding, KernelReport, Reason, Verdict};
use crate::geometry::Geometry;
use crate::limits;
use crate::order::Scope;
use crate::ptx::ast::{Item, Module};
use crate::sync::{self, Answer, Goal, Proved, Question};

/// Threads a block where nobody says, and blocks.
const CHOSEN: Geometry<u32> = Geometry { block: [128, 1, 1], grid: [2, 1, 1] };

/// What scalars are that nobody gives, where it is looked for defects beside the value for which there is a proof: few rounds, an odd number,
/// and one that no tile divides.
const OTHERS: [i128; 5] = [1, 2, 3, 5, 70];

/// Instructions of all threads for one of them.
const OTHER_STEPS: u64 = 2_000_000;

/// Instructions of all threads, for a second of the time for a kernel.
const STEPS_A_SECOND: u64 = 5_000_000;

/// Seconds for a proof that the symbolic one may give as well.
const PROOF_SECONDS: u64 = 10;

/// Seconds for such a proof of what goes on beside a thread, before the symbolic one is tried.
const FIRST_SECONDS: u64 = 1;

/// The symbolic proof has one of so many parts of the effort before this engine is asked.
const PART: u64 = 20;

/// Bytes of dynamic shared memory where nobody says: as the findings of other kernels, and where that is too little, all that a
/// block can have (compute capability 9.0 and 10.0).
const DYNAMIC_SHARED: u32 = 48 << 10;
const MOST_DYNAMIC_SHARED: u32 = 227 << 10;

/// The code of what a proof without clusters says of kernels with their scope.
const CLUSTER_SCOPE: &str = "cluster-scope";

type Answered = Result<KernelReport, Vec<Diagnostic>>;

/// The answer of the exact engine alone.
///
/// # Errors
/// What is no PTX, or what the emulator lacks.
pub(super) fn verify(input: &Input, program: &Program, entry: &str, options: &Options) -> Answered {
    let Program::Ptx(module) = program else {
        let message = format!("`{}` is no PTX; the exact engine executes PTX", input.source.name());
        return Err(vec![Diagnostic::unplaced("not-emulated", message)]);
    };
    by((Goal::Answer, u64::MAX), input, (program, module), entry, options)
}

/// `most`: how many seconds it takes at most.
fn by(
    (goal, most): (Goal, u64),
    input: &Input,
    (program, module): (&Program, &Module),
    entry: &str,
    options: &Options,
) -> Answered {
    limits::within(|| decide((goal, most), input, (program, module), entry, options)).unwrap_or_else(|exceeded| {
        Ok(KernelReport::new(input.source.name(), entry, options.geometry).stopped(exceeded))
    })
}

/// The answer that stands where the symbolic proof has none: for barriers of a part of the block, barrier objects and copies
/// whatever it is, for all else if it is a proof for the launch and the scalars that the user gave. `was_asked`: there is none.
pub(super) fn or_exact(
    (answer, was_asked): (Answered, bool),
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
) -> Answered {
    let Program::Ptx(module) = program else { return answer };
    let answer = answer.map(|report| without_clusters(report, module, entry, options));
    let is_narrow = matches!(&answer, Ok(report) if report.reasons.iter().any(|reason| reason.code == CLUSTER_SCOPE));
    if options.engine != Engine::Auto || !is_open(&answer) {
        return answer;
    }
    let launch = pipeline::launch_of(program, entry, options);
    let is_possible = matches!(answer, Ok(KernelReport { verdict: Verdict::Possible(_), .. }));
    if !is_narrow && (!sync::is_for(module) || is_possible) {
        let proof = if was_asked { None } else { proof(input, program, entry, options, PROOF_SECONDS) };
        return proof.map_or(answer, Ok);
    }
    // A defect in blocks of a size that nobody names may be one of that size.
    let is_fixed = launch.block.iter().all(Option::is_some)
        || pipeline::entry_of(module, entry).is_ok_and(|kernel| kernel.maximum_block.is_some());
    let exact = verify(input, program, entry, options).map(|report| match report.findings.is_empty() || is_fixed {
        true => report,
        false => unsized_launch(report),
    });
    match (answer, exact) {
        (_, Ok(report)) if !matches!(report.verdict, Verdict::Unknown | Verdict::Unsupported) => Ok(report),
        (Ok(mut report), Ok(exact)) => {
            report.reasons.extend(exact.reasons);
            Ok(report)
        }
        (Err(mut diagnostics), Ok(exact)) => {
            if let (Some(first), Some(reason)) = (diagnostics.first_mut(), exact.reasons.first()) {
                first.notes.push(note(reason));
            }
            Err(diagnostics)
        }
        (answer, Err(_)) => answer,
    }
}

/// The answer of the symbolic proof; where the launch and all scalars are given, it has a part of the effort first, then this
/// engine is asked for a proof, and only then it has the rest: what takes it long often takes this engine moments. Where
/// something goes on beside threads, this engine has a moment before. With the
/// answer, whether this engine was asked.
pub(super) fn or_between(
    symbolic: &mut dyn FnMut(Effort) -> Answered,
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
) -> (Answered, bool) {
    let effort = Effort::of(options.timeout);
    if options.engine != Engine::Auto || !is_given(program, entry, options) {
        return (symbolic(effort), false);
    }
    let goes_on_beside = matches!(program, Program::Ptx(module) if sync::has_groups(module));
    if goes_on_beside && let Some(report) = proof(input, program, entry, options, FIRST_SECONDS) {
        return (Ok(report), true);
    }
    let first = symbolic(effort / PART);
    // With more effort, a proof may need no condition. What has no model has none later.
    let is_open = matches!(&first, Ok(report) if is_open(&first) || report.verdict == Verdict::VerifiedWhen);
    if !is_open {
        return (first, false);
    }
    let proof = proof(input, program, entry, options, PROOF_SECONDS);
    (proof.map_or_else(|| symbolic(effort - effort / PART), Ok), true)
}

/// Whether the user gives the launch and each scalar.
pub(super) fn is_given(program: &Program, entry: &str, options: &Options) -> bool {
    let Program::Ptx(module) = program else { return false };
    let Ok(kernel) = pipeline::entry_of(module, entry) else { return false };
    let pointer = u64::from(module.address_size / 8);
    let settings = || options.params.iter().chain(&options.known_params);
    let is_given =
        |position: usize| settings().any(|setting| kernel.parameter_or_position(&setting.name) == Some(position));
    let mut params = kernel.params.iter().enumerate();
    pipeline::launch_of(program, entry, options).sizes().all(|size| size.is_some())
        && params.all(|(position, parameter)| parameter.size == Some(pointer) || is_given(position))
}

/// A race that was found as if there were no clusters is none to rely on where there are, and something has their scope.
fn without_clusters(mut report: KernelReport, module: &Module, entry: &str, options: &Options) -> KernelReport {
    let required = || pipeline::entry_of(module, entry).ok().and_then(|kernel| kernel.required_cluster);
    let has_clusters = options.cluster.or_else(required).is_some_and(|size| size != [1; 3]);
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let items = bodies.flat_map(|body| &body.items);
    let in_cluster = |item: &Item| matches!(item, Item::Instruction(one) if one.op.scope() == Some(Scope::Cluster));
    if report.verdict != Verdict::Defect(Defect::Race) || !has_clusters || !items.into_iter().any(in_cluster) {
        return report;
    }
    report.verdict = Verdict::Possible(Defect::Race);
    for finding in &mut report.findings {
        (finding.confirmed, finding.replay) = (false, None);
    }
    let message = "the two-thread proof takes each block for a cluster of its own".to_string();
    report.reasons.push(Reason { code: CLUSTER_SCOPE, message, origin: None });
    report
}

/// The proof for one launch and scalars, if the user gave all of them, and it takes at most so many seconds.
fn proof(input: &Input, program: &Program, entry: &str, options: &Options, seconds: u64) -> Option<KernelReport> {
    let Program::Ptx(module) = program else { return None };
    let is_given = pipeline::launch_of(program, entry, options).sizes().all(|size| size.is_some());
    if options.engine != Engine::Auto || !is_given {
        return None;
    }
    let answer = by((Goal::Proof, seconds), input, (program, module), entry, options).ok();
    answer.filter(|report| report.verdict == Verdict::Verified)
}

/// No answer, where blocks of a size that the tool chose have a defect.
fn unsized_launch(mut report: KernelReport) -> KernelReport {
    report.findings.clear();
    report.verdict = Verdict::Unknown;
    let message = "nobody says how many threads a block has (`--block`)".to_string();
    report.reasons = vec![Reason { code: "not-static", message, origin: None }];
    report
}

/// Whether there is no certain answer, and not because the input is wrong.
fn is_open(answer: &Answered) -> bool {
    match answer {
        Ok(report) => matches!(report.verdict, Verdict::Unknown | Verdict::Possible(_)),
        Err(diagnostics) => diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Unsupported),
    }
}

fn note(reason: &Reason) -> String {
    let line = reason.origin.as_ref().map_or(String::new(), |origin| format!("PTX line {}: ", origin.line));
    format!("the exact engine does not decide it either ({}): {line}{}", reason.code, reason.message)
}

fn decide(
    (goal, most): (Goal, u64),
    input: &Input,
    (program, module): (&Program, &Module),
    entry: &str,
    options: &Options,
) -> Answered {
    let _stage = limits::stage("sync");
    let kernel = pipeline::entry_of(module, entry)?;
    let asked = pipeline::launch_of(program, entry, options);
    let chosen = Geometry { block: kernel.maximum_block.unwrap_or(CHOSEN.block), ..CHOSEN }.sizes();
    let mut sizes = asked.sizes().zip(chosen).map(|(asked, chosen)| asked.unwrap_or(chosen));
    let mut geometry = asked.map(|_| sizes.next().unwrap_or(1));
    if asked.block.iter().any(Option::is_some) {
        // Sizes beside a given one are small, so that a block has room.
        for (size, asked) in geometry.block.iter_mut().zip(asked.block) {
            *size = asked.unwrap_or(1);
        }
    }
    let cluster = options.cluster.or(kernel.required_cluster);
    for ((size, asked), cluster) in geometry.grid.iter_mut().zip(asked.grid).zip(cluster.into_iter().flatten()) {
        *size = asked.unwrap_or(size.saturating_mul(cluster));
    }
    let mut report = KernelReport::new(input.source.name(), entry, asked);
    if let Some(why) = refused(options) {
        report.reasons.push(Reason { code: "not-static", message: why.to_string(), origin: None });
        return Ok(report);
    }
    if let Some((name, _)) = options.tensors.iter().find(|(name, _)| kernel.parameter_or_position(name).is_none()) {
        let message = format!("--tensor: `{entry}` has no parameter `{name}`");
        return Err(vec![Diagnostic::unplaced("argument", message)]);
    }
    let checked = check_sizes(geometry).and_then(|()| check_cluster(geometry, cluster.unwrap_or([1; 3])));
    if let Err(message) = checked {
        return Err(vec![Diagnostic::unplaced("argument", message)]);
    }
    let Some(emulator) = pipeline::emulator(input, program, entry, options) else { return Ok(report) };
    let settings = options.known_params.iter().chain(&options.params);
    let given: Vec<(String, i128)> = settings.map(|setting| (setting.name.clone(), setting.value)).collect();
    let steps = options.timeout.as_secs().clamp(1, most).saturating_mul(STEPS_A_SECOND);
    let dynamic_shared = options.dynamic_shared.unwrap_or(if has_dynamic(module) { DYNAMIC_SHARED } else { 0 });
    let tensors = &options.tensors;
    let mut question = Question { emulator, geometry, cluster, given: &given, tensors, dynamic_shared, steps, goal };
    let mut answered = sync::decide(&question);
    if let (Ok((Answer::Outside(_), _)), None, true) = (&answered, options.dynamic_shared, has_dynamic(module)) {
        question.dynamic_shared = MOST_DYNAMIC_SHARED;
        answered = sync::decide(&question);
    }
    let (answer, checked) = match answered {
        Ok(answered) => answered,
        Err(diagnostic) if diagnostic.severity == Severity::Error => return Err(vec![diagnostic]),
        Err(diagnostic) => return Ok(report.unsupported(vec![diagnostic])),
    };
    report.checked = checked;
    if matches!(options.format, Format::Dot | Format::Html) {
        let findings = if let Answer::Found(findings) = &answer { &findings[..] } else { &[] };
        report.barriers = sync::barrier_graph(&question, findings);
    }
    match answer {
        Answer::Proved(proved) => {
            report.outside = beside(&question, &proved.conditions);
            prove(&mut report, *proved, (asked, geometry), options);
        }
        Answer::Found(findings) => {
            report.verdict = Verdict::of(&findings).unwrap_or(Verdict::Unknown);
            report.findings = findings;
        }
        Answer::Outside(reasons) | Answer::Open(reasons) => report.reasons = reasons,
    }
    report.given = pipeline::given(program, entry, options);
    Ok(report)
}

/// Defects that other values show of the scalars that the engine chose: the condition is not to hide them.
fn beside(question: &Question<'_>, chosen: &[(String, String)]) -> Vec<Finding> {
    let is_integer = |(_, value): &&(String, String)| value.parse::<i128>().is_ok();
    let names: Vec<&String> = chosen.iter().filter(is_integer).map(|(name, _)| name).collect();
    let others = OTHERS.into_iter().filter(|_| !names.is_empty());
    let mut found = others.filter_map(|value| {
        let mut given = question.given.to_vec();
        given.extend(names.iter().map(|name| ((*name).clone(), value)));
        let other = Question { given: &given, steps: question.steps.min(OTHER_STEPS), ..*question };
        match limits::within(|| sync::decide(&other)) {
            Ok(Ok((Answer::Found(findings), _))) => Some(findings),
            _ => None,
        }
    });
    found.next().unwrap_or_default()
}

/// Why a kernel is not run at all.
fn refused(options: &Options) -> Option<&'static str> {
    if options.rules.may_alias || !options.known_aliases.is_empty() {
        return Some("the exact engine does not follow arrays that overlap");
    }
    options.rules.check_bounds.then_some("the exact engine does not prove bounds")
}

/// Whether an array of the module is dynamic shared memory.
fn has_dynamic(module: &Module) -> bool {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let mut variables = module.variables.iter().chain(bodies.flat_map(|body| &body.variables));
    variables.any(|variable| variable.size.is_none())
}

fn prove(report: &mut KernelReport, proved: Proved, (asked, geometry): (Geometry, Geometry<u32>), options: &Options) {
    let axes = ["x", "y", "z"];
    let free = |name: &str, asked: [Option<u32>; 3], sizes: [u32; 3]| {
        let free = axes.into_iter().zip(asked).zip(sizes).filter(|((_, asked), _)| asked.is_none());
        free.map(|((axis, _), size)| format!("{name}.{axis} == {size}")).collect::<Vec<String>>()
    };
    report.conditions = free("blockDim", asked.block, geometry.block);
    report.conditions.extend(free("gridDim", asked.grid, geometry.grid));
    report.conditions.extend(proved.conditions.iter().map(|(name, value)| format!("{name} == {value}")));
    report.verdict = if report.conditions.is_empty() { Verdict::Verified } else { Verdict::VerifiedWhen };
    report.assumptions = proved.assumptions;
    report.assumptions.extend(stated::by_rules(options.rules));
    let params = options.params.iter().map(|setting| format!("`{}` is {} (--param)", setting.name, setting.value));
    report.assumptions.extend(params);
    report.assumptions.extend(given_tensors(options));
    let Proved { instructions, generations, blocks_alike, .. } = proved;
    report.exact = Some(Exact { instructions, generations, blocks_alike });
}

/// The tensor maps that the user gave.
pub(super) fn given_tensors(options: &Options) -> impl Iterator<Item = String> + '_ {
    options.tensors.iter().map(|(name, tensor)| format!("`{name}` is {tensor} (--tensor)"))
}
