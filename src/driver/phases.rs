//! Pipelines for every trip count ([`crate::phases`]): a further try, for kernels that have no answer otherwise.
//!
//! Input: the answer so far. Output: the same, or a proof: of shared memory and barriers by `phases`, and of global memory by the symbolic
//! proof of the kernel without both. Establishes: nothing but a proof comes of it; why there is none is added to the answer.
//! Relies on: both parts.

use super::exact;
use super::options::{Engine, Options};
use super::pipeline::{self, Program};
use super::same_value::Plan;
use crate::diagnostic::{Diagnostic, Severity};
use crate::effort::Effort;
use crate::finding::{Checked, KernelReport, Reason, Verdict};
use crate::limits;
use crate::phases::{self, Answer as Phases, Proved, Question};
use crate::ptx::ast::{Item, Module};
use crate::rules::Rules;
use crate::sync;
use crate::verdict::decide::{LOOPS_END, Search};
use std::collections::BTreeMap;

/// What the part of global memory may cost.
const MOST: Effort = Effort::seconds(8);

/// Bytes of dynamic shared memory where nobody says: as much as a block can have.
const DYNAMIC_SHARED: u32 = 227 << 10;

/// What copies read is not written through another pointer.
const DISJOINT: &str = "pointer parameters and global arrays refer to disjoint arrays";

type Answer = Result<KernelReport, Vec<Diagnostic>>;

/// The answer, or a proof.
pub(super) fn or_phases(
    answer: Answer,
    program: &Program,
    entry: &str,
    options: &Options,
    verify: &mut dyn FnMut(Plan) -> Answer,
) -> Answer {
    let Program::Ptx(module) = program else { return answer };
    let is_refused = |diagnostics: &Vec<Diagnostic>| {
        diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Unsupported)
    };
    if options.engine != Engine::Auto && options.engine != Engine::Symbolic
        || !answer.as_ref().err().is_some_and(is_refused)
        || !sync::is_for(module)
        // For one launch the exact engine is enough.
        || exact::is_given(program, entry, options) && options.engine == Engine::Auto
    {
        return answer;
    }
    match prove(program, module, entry, options) {
        Ok(proved) => {
            let rules = Rules { global_only: true, ..options.rules };
            match verify(Plan { rules, effort: Effort::of(options.timeout).min(MOST), search: Search::Proof }) {
                Ok(report) if matches!(report.verdict, Verdict::Verified | Verdict::VerifiedWhen) => {
                    let Checked { accesses, barriers, .. } = proved.checked;
                    let checked = Checked { accesses, barriers, ..report.checked };
                    let report = KernelReport { checked, ..report };
                    Ok(under(report, &proved, options))
                }
                _ => because(answer, "races of global memory are not excluded"),
            }
        }
        Err(Open::Asked(reasons)) => match reasons.first() {
            Some(reason) => because(answer, &placed(reason)),
            None => answer,
        },
        Err(_) => answer,
    }
}

/// The report, with what the part in `phases` takes for granted, and its condition if there is one.
fn under(mut report: KernelReport, proved: &Proved, options: &Options) -> KernelReport {
    if !report.assumptions.iter().any(|assumption| assumption == DISJOINT) {
        report.assumptions.insert(0, DISJOINT.to_string());
    }
    // That of all threads is shown.
    report.assumptions.retain(|sentence| !sentence.starts_with(LOOPS_END));
    report.assumptions.extend(proved.assumptions.iter().cloned());
    report.assumptions.extend(exact::given_tensors(options));
    if let Some(condition) = &proved.condition {
        report.conditions.push(condition.clone());
        report.verdict = Verdict::VerifiedWhen;
    }
    report
}

/// The answer, with a note.
fn because(answer: Answer, message: &str) -> Answer {
    let mut diagnostics = match answer {
        Err(diagnostics) => diagnostics,
        answer => return answer,
    };
    if let Some(first) = diagnostics.first_mut() {
        first.notes.push(format!("no proof for every trip count: {message}"));
    }
    Err(diagnostics)
}

/// `--emit phases`
///
/// # Errors
/// Why there is no such text.
pub(super) fn text(
    program: &Program,
    module: &Module,
    entry: &str,
    options: &Options,
) -> Result<String, Vec<Diagnostic>> {
    match prove(program, module, entry, options) {
        Ok(proved) => Ok(proved.text),
        Err(Open::Asked(reasons)) => {
            Ok(reasons.iter().map(|reason| format!("not shown: {}\n", placed(reason))).collect())
        }
        Err(Open::NotAsked(why)) => Err(vec![Diagnostic::unplaced("argument", format!("--emit phases: {why}"))]),
        Err(Open::Refused(diagnostics)) => Err(diagnostics),
    }
}

fn placed(reason: &Reason) -> String {
    let line = reason.origin.as_ref().map_or(String::new(), |origin| format!("PTX line {}: ", origin.line));
    format!("{line}{}", reason.message)
}

/// Why there is no proof.
enum Open {
    NotAsked(&'static str),
    /// By the decoder.
    Refused(Vec<Diagnostic>),
    Asked(Vec<Reason>),
}

/// The proof of barriers and shared memory.
fn prove(program: &Program, module: &Module, entry: &str, options: &Options) -> Result<Proved, Open> {
    let _stage = limits::stage("phases");
    let kernel = pipeline::entry_of(module, entry).map_err(Open::Refused)?;
    let number = module.functions.iter().position(|function| std::ptr::eq(function, kernel));
    let number = number.ok_or(Open::NotAsked("no function of this module"))?;
    let [Some(x), Some(y), Some(z)] = pipeline::launch_of(program, entry, options).block else {
        return Err(Open::NotAsked("the sizes of blocks have to be given (--block)"));
    };
    let rules = options.rules;
    if rules.may_alias || rules.check_bounds || rules.warp_lockstep || rules.exited_threads_ok {
        return Err(Open::NotAsked("an option asks for what this proof has not"));
    }
    let has_clusters = options.cluster.or(kernel.required_cluster).is_some_and(|size| size != [1; 3]);
    if has_clusters || !options.known_aliases.is_empty() || has_annotations(module) {
        return Err(Open::NotAsked("it knows no clusters, no arrays that overlap and no annotations"));
    }
    let settings = options.known_params.iter().chain(&options.params);
    let found = settings.filter_map(|setting| Some((kernel.parameter_or_position(&setting.name)?, setting.value)));
    let given: BTreeMap<usize, i128> = found.collect();
    let found = options.tensors.iter();
    let found = found.filter_map(|(key, tensor)| Some((kernel.parameter_or_position(key)?, tensor.clone())));
    let tensors = found.collect();
    let dynamic_shared = options.dynamic_shared.unwrap_or(DYNAMIC_SHARED);
    let question = Question { module, number, block: [x, y, z], given: &given, tensors: &tensors, dynamic_shared };
    match phases::decide(&question).map_err(|diagnostic| Open::Refused(vec![diagnostic]))? {
        Phases::Proved(proved) => Ok(*proved),
        Phases::Open(reasons) => Err(Open::Asked(reasons)),
    }
}

/// What users state is of the other proofs.
fn has_annotations(module: &Module) -> bool {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    bodies.flat_map(|body| &body.items).any(|item| matches!(item, Item::Annotation(_)))
}
