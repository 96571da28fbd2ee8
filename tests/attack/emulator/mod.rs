//! An emulator of PTX with a dynamic race detector: the ground truth of the attack.
//!
//! Input: a typed module and a concrete launch. Output: the pairs of PTX lines that raced in one
//! legal execution, and the barriers at which threads diverged. It shares the parser with the
//! verifier and nothing else: no lowering, no instruction table, no solver.
//!
//! The schedule runs the threads of a block one after another up to the next barrier. Two accesses
//! of one block race when no barriers order them; accesses of two blocks are never ordered. What has no model here ends the run of the block; what happened before counts.
//!
//! Reference: the PTX ISA's memory consistency model, and each instruction by its name.

mod barriers;
mod floats;
mod memory;
pub mod random;
mod step;
mod thread;
pub mod values;

use barriers::Order;
use gpuvcc::ptx::ast::{Function, Item, Module, StateSpace, VariableRef};
use memory::{Access, Memory, Shadow, global_base, shared_base};
use random::{Random, hash};
use std::collections::{BTreeMap, BTreeSet};
use thread::{Status, Thread};

pub use memory::Contents;

/// No further block starts after this many instructions.
const ENOUGH: u64 = 300_000;

/// A concrete launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Threads a block.
    pub block: [u32; 3],
    /// Blocks.
    pub grid: [u32; 3],
    /// The blocks that run; some of all when empty.
    pub only: Vec<[u32; 3]>,
    /// Bytes of each parameter; see [`pointer`].
    pub parameters: Vec<Vec<u8>>,
    /// What memory holds.
    pub contents: Contents,
    /// Seed of everything arbitrary, and of the order of threads.
    pub seed: u64,
    /// Instructions a thread may execute.
    pub steps: u32,
}

/// Arrays of module scope are numbered from here, after those of parameters.
const MODULE_ARRAYS: usize = 1000;

/// The address that stands for the array with this number.
pub fn pointer(number: usize) -> u64 {
    global_base(number)
}

/// What one execution showed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Lines of racing pairs.
    pub races: BTreeSet<(u32, u32)>,
    /// Lines of aligned barriers that some threads of a block waited at while others were elsewhere.
    pub divergences: BTreeSet<u32>,
    /// Why a block's run ended early.
    pub stopped: BTreeSet<String>,
    /// Whether a value came from an unwritten register or an instruction that is not computed.
    pub arbitrary: bool,
    /// Instructions executed.
    pub steps: u64,
}

impl Outcome {
    /// Whether blocks were left out because the run was long already.
    pub fn is_cut_short(&self) -> bool {
        self.steps > ENOUGH
    }
}

/// The launch while it runs.
struct World<'m> {
    module: &'m Module,
    launch: &'m Launch,
    /// Item of each label, by function.
    labels: Vec<Vec<usize>>,
    /// Addresses of variables, by function (`None`: module scope) and index.
    addresses: BTreeMap<(Option<usize>, u32), u64>,
    global: Memory,
    shared: Memory,
    global_shadow: Shadow,
    shared_shadow: Shadow,
    /// What orders the accesses of the block at hand.
    order: Order,
    block_number: u32,
    block_id: [u32; 3],
    random: Random,
    outcome: Outcome,
}

/// Runs some blocks of a launch.
pub fn run(module: &Module, entry: &Function, launch: &Launch) -> Outcome {
    let mut world = World::new(module, launch);
    let number = function_number(module, entry);
    for (block_number, block_id) in (0..).zip(blocks(launch, &mut world.random)) {
        world.begin_block(block_number, block_id);
        run_block(&mut world, number);
        if world.outcome.is_cut_short() {
            break;
        }
    }
    let World { mut outcome, global_shadow, shared_shadow, .. } = world;
    outcome.races = global_shadow.races;
    outcome.races.extend(shared_shadow.races);
    outcome
}

/// The blocks that run: those wanted, or corners and neighbours, and some others when blocks are small.
fn blocks(launch: &Launch, random: &mut Random) -> Vec<[u32; 3]> {
    if !launch.only.is_empty() {
        return launch.only.clone();
    }
    let [x, y, z] = launch.grid;
    let mut candidates =
        vec![[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [x - 1, 0, 0], [x - 1, y - 1, z - 1], [x / 2, 0, 0]];
    let more = (2048 / launch.block.iter().product::<u32>()) as usize;
    let mut below = |bound: u32| random.below(bound as usize) as u32;
    candidates.extend((0..more).map(|_| [below(x), below(y), below(z)]));
    let mut blocks: Vec<[u32; 3]> = Vec::new();
    for block in candidates {
        if block[0] < x && block[1] < y && block[2] < z && !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    blocks
}

fn function_number(module: &Module, wanted: &Function) -> usize {
    let number = module.functions.iter().position(|function| std::ptr::eq(function, wanted));
    number.unwrap_or_else(|| panic!("emulator: the kernel is not of this module"))
}

/// Runs a block phase by phase.
fn run_block(world: &mut World<'_>, entry: usize) {
    let [x, y, z] = world.launch.block;
    let count = x * y * z;
    let mut threads: Vec<Thread<'_>> = (0..count)
        .map(|linear| Thread::new(world.module, entry, linear, [linear % x, linear / x % y, linear / (x * y)]))
        .collect();
    loop {
        for index in order(count as usize, &mut world.random) {
            let thread = &mut threads[index];
            while thread.status == Status::Running {
                step::step(thread, world);
            }
        }
        if !barriers::release(world, &mut threads) {
            return;
        }
    }
}

/// The order in which threads run: upwards, downwards, or mixed.
fn order(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    match random.below(3) {
        0 => {}
        1 => order.reverse(),
        _ => {
            let seed = random.next();
            order.sort_by_key(|index| hash(seed, *index as u64));
        }
    }
    order
}

impl<'m> World<'m> {
    fn new(module: &'m Module, launch: &'m Launch) -> Self {
        let global = Memory::new(launch.contents, hash(launch.seed, 2));
        let shared = Memory::new(launch.contents, hash(launch.seed, 3));
        World {
            module,
            launch,
            labels: module.functions.iter().map(labels).collect(),
            addresses: addresses(module),
            global,
            shared,
            global_shadow: Shadow::default(),
            shared_shadow: Shadow::default(),
            order: Order::Phases(0),
            block_number: 0,
            block_id: [0; 3],
            random: Random::new(launch.seed),
            outcome: Outcome::default(),
        }
    }

    fn begin_block(&mut self, number: u32, id: [u32; 3]) {
        self.block_number = number;
        self.block_id = id;
        self.order = Order::new(self.module, self.launch.block);
        self.shared = Memory::new(self.launch.contents, hash(self.launch.seed, 4 + u64::from(number)));
        self.shared_shadow.forget();
    }

    fn record(&mut self, shared: bool, access: Access) {
        let World { order, global_shadow, shared_shadow, .. } = self;
        let shadow = if shared { shared_shadow } else { global_shadow };
        shadow.record(access, |other| other.block != access.block || order.unordered(other, access.thread));
    }
}

/// The item at which each label of a function stands.
fn labels(function: &Function) -> Vec<usize> {
    let Some(body) = &function.body else { return Vec::new() };
    let mut labels = vec![0; body.labels.len()];
    for (index, item) in body.items.iter().enumerate() {
        if let Item::Label(label) = item {
            labels[label.0 as usize] = index;
        }
    }
    labels
}

/// Addresses of all shared, global and constant variables. All unsized shared arrays are one.
fn addresses(module: &Module) -> BTreeMap<(Option<usize>, u32), u64> {
    let at_module = module.variables.iter().zip(0..).map(|(variable, index)| ((None, index), variable));
    let in_bodies = module.functions.iter().enumerate().flat_map(|(function, one)| {
        let variables = one.body.iter().flat_map(|body| &body.variables);
        variables.zip(0..).map(move |(variable, index)| ((Some(function), index), variable))
    });
    let mut addresses = BTreeMap::new();
    let (mut shared, mut global) = (0, MODULE_ARRAYS);
    for (key, variable) in at_module.chain(in_bodies) {
        let address = match variable.space {
            StateSpace::Shared if variable.size.is_none() => shared_base(0),
            StateSpace::Shared | StateSpace::SharedCluster => {
                shared += 1;
                shared_base(shared)
            }
            _ => {
                global += 1;
                global_base(global)
            }
        };
        addresses.insert(key, address);
    }
    addresses
}

/// The address of a variable that all threads of a block see alike.
fn variable_address(world: &World<'_>, function: usize, variable: VariableRef) -> Option<u64> {
    match variable {
        VariableRef::Module(index) => world.addresses.get(&(None, index)).copied(),
        VariableRef::Body(index) => world.addresses.get(&(Some(function), index)).copied(),
        VariableRef::Param(_) | VariableRef::Return(_) => None,
    }
}
