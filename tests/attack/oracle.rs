//! Whether a kernel has a defect that a concrete execution shows.

use super::emulator::random::hash;
use super::emulator::{self, Launch, Outcome};
use super::launches;
use crate::support::cases::Case;
use crate::support::replay;
use gpuvcc::finding::{self, Finding};
use gpuvcc::ptx::ast::{Function, Module};
use std::collections::BTreeSet;

/// Instructions that all runs of one kernel may execute together.
const BUDGET: u64 = 2_000_000;

/// A launch with what it showed.
#[derive(Clone, Debug)]
pub struct Defect {
    /// The launch.
    pub launch: Launch,
    /// What happened.
    pub outcome: Outcome,
}

/// What several launches of a kernel gave.
#[derive(Debug, Default)]
pub struct Search {
    /// The first launch with a defect.
    pub defect: Option<Defect>,
    /// Launches in which every block ran to its end.
    pub complete: u32,
    /// Launches in which some block stopped early.
    pub stopped: u32,
    /// Launches in which some value was arbitrary.
    pub arbitrary: u32,
}

/// The kernel that a case is about.
pub fn kernel<'m>(module: &'m Module, entry: Option<&str>) -> Option<&'m Function> {
    let mut kernels = module.functions.iter().filter(|function| function.is_entry && function.body.is_some());
    kernels.find(|function| entry.is_none_or(|entry| &*function.name == entry))
}

/// Runs launches until one has a defect.
pub fn search(module: &Module, case: &Case, tries: u64, seed: u64) -> Search {
    let mut search = Search::default();
    let Some(entry) = kernel(module, case.entry.as_deref()) else { return search };
    let sizes = case.options.geometry;
    let fixed = fixed_parameters(entry, case);
    let mut steps = 0;
    for number in 0..tries {
        let launch = launches::launch(entry, &sizes, &fixed, hash(seed, number));
        let outcome = emulator::run(module, entry, &launch);
        steps += outcome.steps;
        if outcome.is_defect(case.options.rules.check_bounds) {
            search.defect = Some(Defect { launch, outcome });
            return search;
        }
        search.arbitrary += u32::from(outcome.arbitrary);
        if outcome.stopped.is_empty() {
            search.complete += 1
        } else {
            search.stopped += 1
        }
        if steps > BUDGET {
            break;
        }
    }
    search
}

/// Positions and values of the parameters that the case fixes.
fn fixed_parameters(entry: &Function, case: &Case) -> Vec<(usize, u64)> {
    let position = |name: &str| {
        let named = || entry.params.iter().position(|parameter| &*parameter.name == name);
        name.parse().ok().or_else(named)
    };
    let settings = case.options.params.iter();
    settings.filter_map(|setting| Some((position(&setting.name)?, setting.value as u64))).collect()
}

/// What became of a defect that the verifier calls confirmed, in the launch that it names.
#[derive(Debug)]
pub enum Replayed {
    /// The emulator shows it, too.
    Shown,
    /// The emulator ran that launch to its end and did not meet it.
    NotShown,
    /// The launch is too large for the emulator, or ended early.
    Unclear(String),
}

/// Emulated instructions of a thread when a finding is looked at.
const FINDING_STEPS: u32 = 50_000;

/// Executions of a finding's launch, each with its own contents of memory and order of threads.
const FINDING_SCHEDULES: u64 = 8;

/// Runs the command that the finding prints. Findings without one name a launch: it is run as far as its
/// blocks go, in a few orders and with a few contents of memory, because one may order the two
/// accesses by chance.
pub fn replay(module: &Module, case: &Case, finding: &Finding, seed: u64) -> Replayed {
    if let Some(command) = &finding.replay {
        return match replay::shows(command, module, finding) {
            Ok(()) => Replayed::Shown,
            Err(_) => Replayed::NotShown,
        };
    }
    let unclear = |why: &str| Replayed::Unclear(why.to_string());
    let (Some(entry), Some(sizes)) = (kernel(module, case.entry.as_deref()), finding.launch) else {
        return unclear("no launch");
    };
    let position = |name: &str| entry.params.iter().position(|parameter| &*parameter.name == name);
    let values = finding.params.iter().map(|(name, value)| Some((position(name)?, value.unsigned())));
    let Some(values) = values.collect::<Option<Vec<_>>>() else { return unclear("fields of a structure") };
    let fixed = [fixed_parameters(entry, case), values].concat();
    let only: BTreeSet<[u32; 3]> = finding.accesses.iter().map(|access| access.block).collect();
    let only: Vec<[u32; 3]> = only.into_iter().collect();
    let mut stopped = BTreeSet::new();
    for number in 0..FINDING_SCHEDULES {
        let launch = launches::launch(entry, &sizes, &fixed, hash(seed, number));
        let launch = emulator::Launch { only: only.clone(), steps: FINDING_STEPS, ..launch };
        let outcome = emulator::run(module, entry, &launch);
        if is_shown(finding, &outcome) {
            return Replayed::Shown;
        }
        stopped.extend(outcome.stopped);
    }
    match stopped.first() {
        Some(reason) => unclear(reason),
        None => Replayed::NotShown,
    }
}

/// Whether an execution met the very pair of instructions, or the barrier.
fn is_shown(finding: &Finding, outcome: &Outcome) -> bool {
    let lines: Vec<u32> = finding.accesses.iter().map(|access| access.origin.line).collect();
    match (finding.defect, &lines[..]) {
        (finding::Defect::Race, [a, b]) => outcome.races.contains(&(*a.min(b), *a.max(b))),
        // Which of the barriers where the threads wait is named is a matter of taste.
        (finding::Defect::Divergence, _) => !outcome.divergences.is_empty(),
        (finding::Defect::BarrierError, _) => !outcome.misuses.is_empty(),
        _ => false,
    }
}
