//! Looks for an execution with a defect when the one that a model suggests does not show it.
//!
//! Input: the kernel program, what is fixed of the launch and the parameters, constants of models.
//! Output: [`Found`]: constants with which some threads surely race or diverge. Establishes: what
//! [`super::replay`] establishes, for the threads named. Relies on: nothing more; finding nothing says
//! nothing. Reference: none; launches and values are tried in a fixed order, cheap and likely ones
//! first, until the limit on statements.

use super::compiled::Compiled;
use super::replay::{Limits, Replay, ThreadIds, evaluate};
use crate::ivl::ast::{Name, Program, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// What may be tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchSpace {
    /// Threads a block along each axis, where fixed.
    pub block: [Option<u32>; 3],
    /// Blocks along each axis, where fixed.
    pub grid: [Option<u32>; 3],
    /// Constants of models, each with the launch sizes; tried first.
    pub models: Vec<BTreeMap<Name, u128>>,
}

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A race.
    Race,
    /// A divergence that is certain.
    Divergence,
    /// A failing assertion.
    Assertion,
}

/// An execution with a defect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The constants, launch sizes included.
    pub constants: BTreeMap<Name, u128>,
    /// All defects that the evaluated threads show; the events name their threads.
    pub replay: Replay,
}

/// How many threads of a block other than the first one are evaluated, from its start and its end.
const EDGE_THREADS: usize = 48;

/// Distance of the addresses tried for bases of arrays, which are aligned to it.
const BASE_DISTANCE: u128 = 1 << 20;

const BLOCK: [&str; 3] = ["ntid.x", "ntid.y", "ntid.z"];
const GRID: [&str; 3] = ["nctaid.x", "nctaid.y", "nctaid.z"];

/// Tries launches and values until the goal is met or the limit is reached.
pub fn search(program: &Program, space: &SearchSpace, goal: Goal, limits: &Limits) -> Option<Found> {
    let kernel = Compiled::new(program)?;
    let mut search =
        Search { kernel: &kernel, space, goal, limits, budget: limits.search_statements, tried: BTreeSet::new() };
    search.models().or_else(|| search.uniform_values()).or_else(|| search.mixed_values())
}

/// Sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    block: [u32; 3],
    grid: [u32; 3],
}

struct Search<'s, 'a> {
    kernel: &'s Compiled<'a>,
    space: &'s SearchSpace,
    goal: Goal,
    limits: &'s Limits,
    budget: u64,
    tried: BTreeSet<BTreeMap<Name, u128>>,
}

impl Search<'_, '_> {
    /// The models' constants, in the models' launches and in ours.
    fn models(&mut self) -> Option<Found> {
        let launches = self.launches();
        let space = self.space;
        for model in &space.models {
            let size = |name: &str| model.get(&Name::from(name)).and_then(|&size| u32::try_from(size).ok());
            let sizes = |fixed: [Option<u32>; 3], names: [&str; 3]| {
                [0, 1, 2].map(|axis| fixed[axis].or_else(|| size(names[axis])).unwrap_or(1).max(1))
            };
            let own = Sizes { block: sizes(space.block, BLOCK), grid: sizes(space.grid, GRID) };
            for launch in std::iter::once(&own).chain(&launches) {
                if let Some(found) = self.attempt(launch, model.clone()) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// All scalars equal.
    fn uniform_values(&mut self) -> Option<Found> {
        let launches = self.launches();
        let scalars = self.scalars();
        for number in 0..usual_values(&launches[0]).len() {
            for launch in &launches {
                let value = usual_values(launch)[number];
                let constants = scalars.iter().map(|scalar| (scalar.clone(), value)).collect();
                if let Some(found) = self.attempt(launch, constants) {
                    return Some(found);
                }
            }
            if scalars.is_empty() {
                break;
            }
        }
        None
    }

    /// One scalar apart from the others.
    fn mixed_values(&mut self) -> Option<Found> {
        let scalars = self.scalars();
        for launch in self.launches().iter().take(2) {
            let values = usual_values(launch);
            for common in [values[0], values[2]] {
                for different in &scalars {
                    for &value in &values {
                        let mut constants: BTreeMap<Name, u128> =
                            scalars.iter().map(|scalar| (scalar.clone(), common)).collect();
                        constants.insert(different.clone(), value);
                        if let Some(found) = self.attempt(launch, constants) {
                            return Some(found);
                        }
                    }
                }
            }
        }
        None
    }

    /// Launches with the fixed sizes; an axis that the kernel never looks at has size 1.
    fn launches(&self) -> Vec<Sizes> {
        let blocks = [[64, 1, 1], [8, 8, 1], [4, 4, 4], [256, 1, 1], [32, 8, 1], [2, 1, 1], [1024, 1, 1]];
        let sizes = |sizes: [u32; 3], fixed: [Option<u32>; 3], ids: [&str; 3]| {
            [0, 1, 2].map(|axis| match fixed[axis] {
                Some(size) => size,
                None if axis == 0 || self.kernel.reads_constant(ids[axis]) => sizes[axis],
                None => 1,
            })
        };
        let mut launches = Vec::new();
        for block in blocks {
            let block = sizes(block, self.space.block, ["tid.x", "tid.y", "tid.z"]);
            let grid = sizes([2, 2, 2], self.space.grid, ["ctaid.x", "ctaid.y", "ctaid.z"]);
            let launch = Sizes { block, grid };
            if !launches.contains(&launch) {
                launches.push(launch);
            }
        }
        launches
    }

    /// Constants whose values are free: not launch sizes and indices, not addresses.
    fn scalars(&self) -> Vec<Name> {
        let free = |constant: &&&Variable| !is_launch_constant(&constant.name) && !is_address(constant);
        self.kernel.constants.iter().filter(free).map(|constant| constant.name.clone()).collect()
    }

    /// Evaluates threads of one launch.
    fn attempt(&mut self, launch: &Sizes, mut constants: BTreeMap<Name, u128>) -> Option<Found> {
        if self.budget == 0 {
            return None;
        }
        self.complete(launch, &mut constants);
        if !self.tried.insert(constants.clone()) {
            return None;
        }
        let threads = threads(launch, self.limits.block_threads);
        let evaluated = evaluate(self.kernel, &constants, &threads, self.limits, &mut self.budget)?;
        let met = match self.goal {
            Goal::Race => !evaluated.conflicts(self.kernel, self.limits).is_empty(),
            Goal::Divergence => !evaluated.partings(self.limits).is_empty(),
            Goal::Assertion => evaluated.threads.iter().any(|thread| !thread.trace.failed_assertions.is_empty()),
        };
        if !met {
            return None;
        }
        let replay = evaluated.replay(self.kernel, self.limits);
        let certain = self.goal != Goal::Divergence || replay.divergence.as_ref().is_some_and(|d| d.certain);
        certain.then_some(Found { constants, replay })
    }

    /// Adds launch sizes and addresses, and cuts values to their widths.
    fn complete(&self, launch: &Sizes, constants: &mut BTreeMap<Name, u128>) {
        let mut base = 0;
        for (number, constant) in self.kernel.constants.iter().enumerate() {
            if constant.attributes.iter().any(|attribute| attribute.name.as_str() == "base") {
                base += BASE_DISTANCE;
                constants.entry(constant.name.clone()).or_insert(base);
            }
            if let Some(value) = constants.get_mut(&constant.name) {
                *value &= super::bits::mask(self.kernel.widths[number]);
            }
        }
        for axis in 0..3 {
            constants.insert(Name::from(BLOCK[axis]), u128::from(launch.block[axis]));
            constants.insert(Name::from(GRID[axis]), u128::from(launch.grid[axis]));
        }
    }
}

/// Values of scalars that kernels are launched with: sizes of the data in terms of the launch first.
fn usual_values(launch: &Sizes) -> [u128; 14] {
    let [block, grid] = [launch.block, launch.grid].map(|sizes| sizes.iter().map(|&n| u128::from(n)).product::<u128>());
    let total = block * grid;
    let row = u128::from(launch.block[0]);
    [total, block, 1024, row * u128::from(launch.grid[0]), 16, 1, 2, 4 * total, total - 1, 0, row, 64, 3, 4]
}

/// All threads of the first block, and the first and last ones of its neighbours and of the last block.
fn threads(launch: &Sizes, block_threads: u64) -> Vec<ThreadIds> {
    let [x, y, z] = launch.block;
    let indices = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
    let block: Vec<[u32; 3]> = indices.take(usize::try_from(block_threads).unwrap_or(usize::MAX)).collect();
    let mut threads: Vec<ThreadIds> = block.iter().map(|&tid| ThreadIds { tid, ctaid: [0; 3] }).collect();
    let [x, y, z] = launch.grid;
    let mut others = vec![[1, 0, 0], [0, 1, 0], [0, 0, 1], [x, y, z].map(|size| size.saturating_sub(1))];
    others.retain(|other| *other != [0; 3] && other.iter().zip(launch.grid).all(|(index, size)| *index < size));
    others.sort_unstable();
    others.dedup();
    for ctaid in others {
        let last = block.len().saturating_sub(EDGE_THREADS).max(EDGE_THREADS.min(block.len()));
        let edges = block.iter().take(EDGE_THREADS).chain(&block[last..]);
        threads.extend(edges.map(|&tid| ThreadIds { tid, ctaid }));
    }
    threads
}

fn is_launch_constant(name: &Name) -> bool {
    crate::ivl::launch_constant(name.as_str()).is_some()
}

/// Addresses of arrays and of windows between address spaces.
fn is_address(constant: &Variable) -> bool {
    constant.attributes.iter().any(|attribute| attribute.name.as_str() == "base")
        || constant.name.as_str().starts_with("window.")
}
