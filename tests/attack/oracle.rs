//! Whether a kernel has a defect that a concrete execution shows.

use crate::emulator::random::hash;
use crate::emulator::{self, Launch, Outcome};
use crate::launches;
use crate::support::cases::Case;
use gpuvcc::ptx::ast::{Function, Module};
use gpuvcc::verdict::finding;

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
    let sizes = finding::Launch { block: case.options.block, grid: case.options.grid };
    let fixed = fixed_parameters(entry, case);
    let mut steps = 0;
    for number in 0..tries {
        let launch = launches::launch(entry, &sizes, &fixed, hash(seed, number));
        let outcome = emulator::run(module, entry, &launch);
        steps += outcome.steps;
        if !outcome.races.is_empty() || !outcome.divergences.is_empty() {
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
