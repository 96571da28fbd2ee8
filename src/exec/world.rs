//! What all blocks of a launch share.

use super::access::Target;
use super::decode::{Access, Code, MapOperation, Moves, ObjectKind, Program, TensorOperation};
use super::entries::{self, EntriesFact};
use super::history::{Deed, History, Object, Part};
use super::launch::{Completion, Launch, Schedule};
use super::memory::{GlobalArray, GlobalMemory, UNBOUNDED};
use super::outcome::{Outcome, Place, Stop};
use super::races::clock::{Clock, Shape};
use super::races::sync::{Locations, Sequential};
use super::races::{Detector, Location, Reach, Site};
use super::thread::Thread;
use super::trace::{Event, Watch};
use super::values::hash;
use crate::exec::launch::{Contents, array_address};
use crate::order::Scope;
use std::rc::Rc;

/// The launch while it runs.
pub struct World {
    /// Global memory.
    pub global: GlobalMemory,
    /// Kernel parameters, laid out.
    pub(crate) parameters: Vec<u8>,
    /// The race detector.
    pub(crate) detector: Detector,
    /// Whether races are looked for.
    pub(crate) races: bool,
    /// Only barriers order: neither fences nor what one thread reads of another. Then what is ordered in this run does not
    /// depend on its schedule.
    pub(crate) barriers_only: bool,
    /// What the thread knew that starts a copy, or an arrival behind copies, that ends at once. Only `sync` says so.
    pub(crate) issuer_knows: Option<Rc<Clock>>,
    /// Where copies have written since `sync` looked, with bytes.
    pub(crate) copied: Vec<(Target, u32)>,
    /// What goes on beside threads has accessed, if only barriers order: the same, and what is read.
    pub(crate) beside: Vec<(Target, u32)>,
    /// Which member of a warp `elect.sync` elects, from the first one on, around the end.
    pub(crate) elected: u32,
    /// Synchronisation through global memory.
    pub(crate) locations: Locations,
    /// What `.sc` fences passed on, by reach and group.
    pub(crate) sequential: Sequential,
    /// What the user states of arrays.
    pub(crate) facts: Vec<EntriesFact>,
    /// Two threads whose steps are remembered.
    pub(crate) watch: Option<Box<Watch>>,
    /// What is done at barriers, where somebody asks.
    pub(crate) history: Option<Box<History>>,
    /// What was seen so far.
    pub outcome: Outcome,
    /// Nothing runs any more.
    pub halted: bool,
    /// Threads stop after each access to shared or global memory.
    pub(crate) switch_at_access: bool,
    /// Barriers do not wait for threads that have exited.
    pub(crate) exited_threads_ok: bool,
    /// When the bytes of asynchronous copies arrive.
    pub(crate) completion: Completion,
    /// Whether blocks are launched in clusters.
    clusters: bool,
    /// Barrier objects that were initialised.
    pub(crate) objects: u32,
    /// Which thread runs next.
    pub(crate) schedule: Schedule,
    /// What the clock registers read.
    pub(crate) clock: u64,
    /// Seed of arbitrary values.
    pub(crate) seed: u64,
}

impl World {
    /// The world before the launch.
    pub fn new(program: &Program, launch: &Launch, parameters: Vec<u8>, address_bits: u32) -> World {
        let mut arrays: Vec<GlobalArray> = Vec::new();
        for (number, array) in launch.arrays.iter().enumerate() {
            let address = array_address(number, address_bits);
            arrays.push(GlobalArray::new(array.name.clone(), address, array.size, array.contents.clone()));
        }
        for global in &program.globals {
            let (size, contents) = (global.bytes.len() as u64, Contents::Bytes(global.bytes.clone()));
            arrays.push(GlobalArray::new(global.name.clone(), global.address, size, contents));
        }
        let sizes: Vec<u64> = arrays.iter().map(|array| array.size.min(2 * UNBOUNDED)).collect();
        let global = GlobalMemory { arrays };
        let facts = entries::of(program, &global);
        let mut outcome = Outcome::default();
        let excluded = facts.iter().filter(|fact| fact.is_broken_at_start(&global));
        outcome.stopped.extend(excluded.map(|fact| Stop::Excluded { code: fact.code }));
        let threads = launch.geometry.block_threads() as u32;
        let all = threads * launch.geometry.blocks() as u32;
        let [wide, high, _] = launch.geometry.grid;
        let (grid, cluster) = ([wide, high], launch.cluster);
        let shape = Shape { block: threads, warps: threads.div_ceil(32), threads: all, grid, cluster };
        let same_value = launch.rules.allow_same_value;
        let mut detector = Detector::new(sites(program, launch), shape, (&sizes, program.shared_size), same_value);
        let is_fence = |one: &TensorOperation| matches!(one, TensorOperation::Fence { .. });
        let tensor = &program.tensor_operations;
        let is_strict = !launch.rules.tensor_order || tensor.iter().any(is_fence);
        detector.pipelines.is_strict = !tensor.is_empty() && is_strict;
        detector.addresses.are_allowed = launch.rules.tensor_order;
        World {
            global,
            facts,
            parameters,
            detector,
            races: launch.races,
            barriers_only: false,
            issuer_knows: None,
            copied: Vec::new(),
            beside: Vec::new(),
            elected: elected(launch),
            locations: Locations::default(),
            sequential: Sequential::default(),
            watch: None,
            history: None,
            halted: !outcome.stopped.is_empty(),
            outcome,
            switch_at_access: launch.schedule == Schedule::Adversarial,
            exited_threads_ok: launch.rules.exited_threads_ok,
            completion: launch.completion,
            clusters: launch.cluster != [1; 3],
            objects: 0,
            schedule: launch.schedule,
            clock: 0,
            seed: launch.seed,
        }
    }
}

impl World {
    /// Whether threads tell each other through relaxed operations what was earlier in time: fences of tensor memory go with them.
    pub(crate) fn hears(&self) -> bool {
        self.barriers_only || self.detector.pipelines.is_strict
    }

    /// The threads between which a scope works.
    pub(crate) fn reach(&self, scope: Scope) -> Reach {
        Reach::of(scope, self.clusters)
    }

    /// What a thread does last is remembered, should it be watched.
    pub(crate) fn note(&mut self, thread: &Thread, location: Option<Location>, bytes: u32) {
        self.note_at((thread.number, thread.last()), location, bytes);
    }

    /// The same of an instruction of a thread.
    pub(crate) fn note_at(&mut self, (thread, code): Place, location: Option<Location>, bytes: u32) {
        if let Some(watch) = &mut self.watch {
            watch.note(Event { thread, code, location, bytes });
        }
    }

    /// A thread does something at a barrier of the blocks that begin with this one.
    pub(crate) fn at_barrier(&mut self, first: u32, place: Place, (object, generation): (Object, u64), part: Part) {
        if let Some(history) = &mut self.history {
            let time = self.watch.as_ref().map_or(0, |watch| watch.count());
            history.note(first, Deed { object, generation, part, place }, time);
        }
    }

    /// A barrier object begins or ends its life.
    pub(crate) fn renew(&mut self, first: u32, offset: u32) {
        if let Some(history) = &mut self.history {
            history.reset(first, Object::Shared { offset });
        }
    }

    /// The annotation that a load contradicts.
    pub(crate) fn excluded_by(&mut self, at: (usize, u64), bytes: u32, value: u64) -> Option<u32> {
        self.facts.iter_mut().find_map(|fact| fact.is_broken_by(at, bytes, value).then_some(fact.code))
    }

    /// The detector has looked at an access of a thread: the race that is waited for ends the run.
    pub(crate) fn look_out(&mut self, program: &Program, thread: &Thread) {
        if let Some(watch) = &mut self.watch {
            self.halted |= watch.is_met(program, thread.number, self.detector.races.values());
        }
    }
}

/// The first lane, or whichever the seed says.
fn elected(launch: &Launch) -> u32 {
    match launch.schedule {
        Schedule::Random | Schedule::Adversarial => (hash(launch.seed, 0x656c_6563) % 32) as u32,
        _ => 0,
    }
}

/// What the detector knows of each instruction.
fn sites(program: &Program, launch: &Launch) -> Vec<Site> {
    let clusters = launch.cluster != [1; 3];
    let none = Site { reads: false, writes: false, scope: None, bytes: 0 };
    let site = |access: &Access, reads: bool, writes: bool| Site {
        reads,
        writes,
        scope: access.strength.scope.map(|scope| Reach::of(scope, clusters)),
        bytes: access.scalar_bytes(),
    };
    let sites = program.code.iter().map(|code| match code {
        Code::AsyncRead(index) => {
            site(&program.accesses[program.async_copies[*index as usize].from as usize], true, false)
        }
        Code::AsyncWrite(index) => {
            site(&program.accesses[program.async_copies[*index as usize].to as usize], false, true)
        }
        Code::BulkRead(index) => {
            let [from, _] = program.bulk_operations[*index as usize].ends();
            site(&program.accesses[from as usize], true, false)
        }
        Code::BulkWrite(index) => {
            let operation = &program.bulk_operations[*index as usize];
            let [_, to] = operation.ends();
            let site = site(&program.accesses[to as usize], operation.reduction.is_some(), true);
            match operation.moves {
                Moves::Values { .. } => site,
                // Each element is an access of its own; those of two reductions of boxes are taken to be alike.
                Moves::Bytes { .. } => {
                    let bytes = operation.reduction.map_or(16, |(_, ty)| ty.bytes());
                    Site { scope: operation.reduction.map(|_| Reach::Device), bytes, ..site }
                }
                Moves::Tensor { .. } => Site { scope: operation.reduction.map(|_| Reach::Device), bytes: 16, ..site },
            }
        }
        Code::MapRead(_) => Site { reads: true, bytes: 16, ..none },
        Code::Map(index) => match program.map_operations[*index as usize] {
            MapOperation::Replace { .. } => Site { reads: true, writes: true, bytes: 16, ..none },
            MapOperation::Publish { .. } => Site { writes: true, bytes: 16, ..none },
            MapOperation::Acquire { .. } => none,
        },
        Code::Product(_) => Site { reads: true, bytes: 16, ..none },
        Code::TensorRead(_) => Site { reads: true, bytes: 4, ..none },
        Code::Tensor(index) => match program.tensor_operations[*index as usize] {
            TensorOperation::Relinquish | TensorOperation::Fence { .. } | TensorOperation::Wait { .. } => none,
            _ => Site { writes: true, bytes: 4, ..none },
        },
        Code::Object(index) => {
            let scope = Some(Reach::of(Scope::Cluster, clusters));
            match program.objects[*index as usize].kind {
                ObjectKind::Initialise { .. } | ObjectKind::Invalidate => Site { writes: true, bytes: 8, ..none },
                ObjectKind::Wait { .. } => Site { reads: true, scope, bytes: 8, ..none },
                _ => Site { reads: true, writes: true, scope, bytes: 8 },
            }
        }
        Code::Load(index) => site(&program.accesses[*index as usize], true, false),
        Code::Store(index) => site(&program.accesses[*index as usize], false, true),
        Code::Atomic(index) => site(&program.accesses[*index as usize], true, true),
        _ => none,
    });
    sites.collect()
}
