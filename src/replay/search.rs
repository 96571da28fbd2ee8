//! Looks for an execution with a defect when the one that a model suggests does not show it.
//!
//! Input: the kernel program, what is fixed of the launch and the parameters, constants of models.
//! Output: [`Found`]: constants with which some threads surely race or diverge. Establishes: what
//! [`super`] establishes, for the threads named; before a race, all threads of the blocks
//! concerned come to the barriers, as far as their values are known. Relies on: nothing more; finding
//! nothing says nothing. Reference: none; launches and values are tried in a fixed order, cheap and likely ones
//! first, until the limit on statements.

use super::compiled::Compiled;
use super::{Evaluated, Limits, Replay, ThreadIds, evaluate};
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{Name, Program, Variable};
use crate::ivl::attributes::Attributes;
use std::collections::{BTreeMap, BTreeSet};

/// What may be tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchSpace {
    /// Sizes of the launch, where fixed.
    pub geometry: Geometry,
    /// Constants of models, each with the launch sizes; tried first.
    pub models: Vec<BTreeMap<Name, u128>>,
    /// Threads of the models, evaluated beside others wherever the launch has them.
    pub threads: Vec<ThreadIds>,
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

/// How many threads of a neighbouring block are evaluated, from its start and from its end.
const EDGE_THREADS: usize = 48;

/// How many threads are evaluated of each block, and of how many blocks, to find blocks far apart.
const SPREAD: (usize, usize) = (4, 4096);

/// Threads evaluated at most in one launch.
const LARGEST_SAMPLE: usize = 1 << 17;

/// Statements of a thread that are evaluated at least, if it has so many.
const FEWEST_STATEMENTS: u64 = 1000;

/// Distance of the addresses tried for bases of arrays, which are aligned to it.
const BASE_DISTANCE: u128 = 1 << 20;

/// Distance of the addresses tried for the windows of address spaces.
const WINDOW_DISTANCE: u128 = 1 << 40;

/// Tries launches and values until the goal is met or the limit is reached.
pub fn search(program: &Program, space: &SearchSpace, goal: Goal, limits: &Limits) -> Option<Found> {
    let kernel = Compiled::new(program)?;
    let mut search = Search { kernel: &kernel, space, goal, limits, budget: 0, tried: BTreeSet::new() };
    // Each way gets its share of the work, and what the ways before it left.
    let ways = [Search::models, Search::uniform_values, Search::many_blocks, Search::mixed_values];
    ways.into_iter().find_map(|way| {
        search.budget += limits.search_statements / 4;
        way(&mut search)
    })
}

/// Which threads of a launch are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sample {
    /// The first block, and the edges of its neighbours.
    Neighbours,
    /// Some of all blocks, then all.
    All,
}

struct Search<'s, 'a> {
    kernel: &'s Compiled<'a>,
    space: &'s SearchSpace,
    goal: Goal,
    limits: &'s Limits,
    budget: u64,
    tried: BTreeSet<(Sample, BTreeMap<Name, u128>)>,
}

impl Search<'_, '_> {
    /// The models' constants, in the models' launches and in ours.
    fn models(&mut self) -> Option<Found> {
        let launches = launches(self.kernel, self.space.geometry);
        let space = self.space;
        for model in &space.models {
            let size = |name: &str| model.get(&Name::from(name)).and_then(|&size| u32::try_from(size).ok());
            let own = space.geometry.map_registers(|name, fixed| fixed.or_else(|| size(name)).unwrap_or(1).max(1));
            for launch in std::iter::once(&own).chain(&launches) {
                if let Some(found) = self.attempt(launch, model.clone(), Sample::Neighbours) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// All scalars equal.
    fn uniform_values(&mut self) -> Option<Found> {
        let launches = launches(self.kernel, self.space.geometry);
        let scalars = self.scalars();
        for number in 0..usual_values(&launches[0]).len() {
            for launch in &launches {
                let value = usual_values(launch)[number];
                let constants = scalars.iter().map(|scalar| (scalar.clone(), value)).collect();
                if let Some(found) = self.attempt(launch, constants, Sample::Neighbours) {
                    return Some(found);
                }
            }
            if scalars.is_empty() {
                break;
            }
        }
        None
    }

    /// Threads of many blocks, which may be far apart.
    fn many_blocks(&mut self) -> Option<Found> {
        let scalars = self.scalars();
        for launch in launches(self.kernel, self.space.geometry).iter().take(2) {
            for value in usual_values(launch).into_iter().take(if scalars.is_empty() { 1 } else { 3 }) {
                let constants = scalars.iter().map(|scalar| (scalar.clone(), value)).collect();
                if let Some(found) = self.attempt(launch, constants, Sample::All) {
                    return Some(found);
                }
            }
        }
        None
    }

    /// One scalar apart from the others.
    fn mixed_values(&mut self) -> Option<Found> {
        let scalars = self.scalars();
        for launch in launches(self.kernel, self.space.geometry).iter().take(2) {
            let values = usual_values(launch);
            for common in [values[0], values[2]] {
                for different in &scalars {
                    for &value in &values {
                        let mut constants: BTreeMap<Name, u128> =
                            scalars.iter().map(|scalar| (scalar.clone(), common)).collect();
                        constants.insert(different.clone(), value);
                        if let Some(found) = self.attempt(launch, constants, Sample::Neighbours) {
                            return Some(found);
                        }
                    }
                }
            }
        }
        None
    }

    /// Constants whose values are free: not launch sizes and indices, not addresses.
    fn scalars(&self) -> Vec<Name> {
        let free = |constant: &&&Variable| !is_launch_constant(&constant.name) && address(constant).is_none();
        self.kernel.constants.iter().filter(free).map(|constant| constant.name.clone()).collect()
    }

    /// Evaluates threads of one launch.
    fn attempt(
        &mut self,
        launch: &Geometry<u32>,
        mut constants: BTreeMap<Name, u128>,
        sample: Sample,
    ) -> Option<Found> {
        if self.budget == 0 {
            return None;
        }
        self.complete(launch, &mut constants);
        if !self.tried.insert((sample, constants.clone())) {
            return None;
        }
        let mut threads = self.model_threads(launch);
        threads.extend(sampled(launch, sample, self.limits.block_threads));
        // No launch takes all of the work, nor any thread all of the launch's.
        let mut share = self.budget.min(self.limits.search_statements / 8);
        let begun = share;
        let most = (share / threads.len().clamp(1, 64) as u64).max(FEWEST_STATEMENTS);
        let limits = Limits { thread_statements: most.min(self.limits.thread_statements), ..*self.limits };
        let evaluated = evaluate(self.kernel, &constants, &threads, &limits, &mut share);
        self.budget -= begun - share;
        let mut evaluated = evaluated?;
        if self.goal == Goal::Race {
            evaluated = self.whole_blocks(launch, &constants, &threads, &limits, &evaluated)?;
        }
        let met = match self.goal {
            Goal::Race => !evaluated.conflicts(self.kernel, self.limits).is_empty(),
            Goal::Divergence => !evaluated.partings(self.kernel, self.limits).is_empty(),
            Goal::Assertion => evaluated.threads.iter().any(|thread| !thread.trace.failed_assertions.is_empty()),
        };
        if !met {
            return None;
        }
        let replay = evaluated.replay(self.kernel, self.limits);
        let certain = self.goal != Goal::Divergence || replay.divergence.as_ref().is_some_and(|d| d.certain);
        certain.then_some(Found { constants, replay })
    }

    /// All threads of the blocks that race: one that was not looked at yet may stay away from a barrier.
    /// `None` without a race.
    fn whole_blocks(
        &self,
        launch: &Geometry<u32>,
        constants: &BTreeMap<Name, u128>,
        threads: &[ThreadIds],
        limits: &Limits,
        evaluated: &Evaluated,
    ) -> Option<Evaluated> {
        let conflicts = evaluated.conflicts(self.kernel, self.limits);
        let parts = conflicts.iter().flat_map(|conflict| [conflict.first.0, conflict.second.0]);
        let blocks: BTreeSet<[u32; 3]> = parts.map(|thread| evaluated.threads[thread].ids.ctaid).collect();
        let known: BTreeSet<ThreadIds> = threads.iter().copied().collect();
        let of_block = |ctaid: [u32; 3]| indices(launch.block).map(move |tid| ThreadIds { tid, ctaid });
        let others = blocks.iter().flat_map(|ctaid| of_block(*ctaid)).filter(|ids| !known.contains(ids));
        // The same threads first, so that the same pairs of them are found.
        let first = threads.iter().copied().filter(|ids| blocks.contains(&ids.ctaid));
        let all: Vec<ThreadIds> = first.chain(others).collect();
        if all.is_empty() {
            return None;
        }
        evaluate(self.kernel, constants, &all, limits, &mut self.limits.search_statements.clone())
    }

    /// The models' threads that the launch has.
    fn model_threads(&self, launch: &Geometry<u32>) -> Vec<ThreadIds> {
        let inside = |index: [u32; 3], size: [u32; 3]| index.iter().zip(size).all(|(index, size)| *index < size);
        let mut threads = self.space.threads.clone();
        threads.retain(|ids| inside(ids.tid, launch.block) && inside(ids.ctaid, launch.grid));
        threads
    }

    /// Adds launch sizes and addresses, and cuts values to their widths.
    fn complete(&self, launch: &Geometry<u32>, constants: &mut BTreeMap<Name, u128>) {
        let (mut base, mut window) = (0, 0);
        constants.extend(self.kernel.fixed());
        for (number, constant) in self.kernel.constants.iter().enumerate() {
            match address(constant) {
                Some(Address::Base) => {
                    base += BASE_DISTANCE;
                    constants.entry(constant.name.clone()).or_insert(base);
                }
                Some(Address::Window) => {
                    window += WINDOW_DISTANCE;
                    constants.entry(constant.name.clone()).or_insert(window);
                }
                None => {}
            }
            if let Some(value) = constants.get_mut(&constant.name) {
                *value &= super::bits::mask(self.kernel.widths[number]);
            }
        }
        constants.extend(launch.registers().map(|(name, size)| (Name::from(name), u128::from(size))));
    }
}

/// Launches with the fixed sizes, likely ones first; an axis that the kernel never looks at has size 1.
pub fn launches(kernel: &Compiled, fixed: Geometry) -> Vec<Geometry<u32>> {
    let blocks = [[64, 1, 1], [8, 8, 1], [4, 4, 4], [256, 1, 1], [32, 8, 1], [2, 1, 1], [1024, 1, 1]];
    let sizes = |sizes: [u32; 3], fixed: [Option<u32>; 3], ids: [&str; 3]| {
        Axis::ALL.map(Axis::index).map(|axis| match fixed[axis] {
            Some(size) => size,
            None if axis == 0 || kernel.reads_constant(ids[axis]) => sizes[axis],
            None => 1,
        })
    };
    let mut launches = Vec::new();
    for block in blocks {
        let block = sizes(block, fixed.block, ["tid.x", "tid.y", "tid.z"]);
        let grid = sizes([2, 2, 2], fixed.grid, ["ctaid.x", "ctaid.y", "ctaid.z"]);
        let launch = Geometry { block, grid };
        if !launches.contains(&launch) {
            launches.push(launch);
        }
    }
    launches
}

/// Values of scalars that kernels are launched with: sizes of the data in terms of the launch first. The
/// large one makes products wrap.
pub fn usual_values(launch: &Geometry<u32>) -> [u128; 15] {
    let (block, total) = (launch.block_threads(), launch.threads());
    let row = u128::from(launch.block[0]);
    let width = row * u128::from(launch.grid[0]);
    [total, block, 16, 1024, width, 1, 2, 4 * total, total - 1, 0, row, 64, 3, 4, 1 << 24]
}

/// Threads of a launch, those of the first block first.
fn sampled(launch: &Geometry<u32>, sample: Sample, block_threads: u64) -> Vec<ThreadIds> {
    let most = usize::try_from(block_threads).unwrap_or(usize::MAX).min(LARGEST_SAMPLE);
    let block: Vec<[u32; 3]> = indices(launch.block).take(most).collect();
    let of_block = |ctaid: [u32; 3]| block.iter().map(move |&tid| ThreadIds { tid, ctaid });
    let mut threads: Vec<ThreadIds> = of_block([0; 3]).collect();
    match sample {
        Sample::Neighbours => {
            for ctaid in neighbours(launch.grid) {
                let last = block.len().saturating_sub(EDGE_THREADS).max(EDGE_THREADS.min(block.len()));
                threads.extend(of_block(ctaid).take(EDGE_THREADS).chain(of_block(ctaid).skip(last)));
            }
        }
        Sample::All => {
            let others = || indices(launch.grid).skip(1);
            threads.extend(others().take(SPREAD.1).flat_map(|ctaid| of_block(ctaid).take(SPREAD.0)));
            threads.extend(others().flat_map(|ctaid| of_block(ctaid).skip(SPREAD.0)).take(LARGEST_SAMPLE));
        }
    }
    threads
}

/// All indices below the sizes, x first.
fn indices([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}

/// The blocks beside the first one, at the ends of its axes, and the last.
fn neighbours(grid: [u32; 3]) -> Vec<[u32; 3]> {
    let last = grid.map(|size| size.saturating_sub(1));
    let mut others = vec![[1, 0, 0], [0, 1, 0], [0, 0, 1], last];
    others.extend([[last[0], 0, 0], [0, last[1], 0], [0, 0, last[2]]]);
    others.retain(|other| *other != [0; 3] && other.iter().zip(grid).all(|(index, size)| *index < size));
    others.sort_unstable();
    others.dedup();
    others
}

fn is_launch_constant(name: &Name) -> bool {
    crate::ivl::launch_constant(name.as_str()).is_some()
}

/// Constants that stand for addresses.
enum Address {
    /// Where an array starts.
    Base,
    /// Where the window of an address space starts.
    Window,
}

fn address(constant: &Variable) -> Option<Address> {
    if constant.attributes.has("base") {
        Some(Address::Base)
    } else {
        constant.name.as_str().starts_with("window.").then_some(Address::Window)
    }
}
