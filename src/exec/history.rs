//! What threads do at barriers, in one execution: who comes to which generation, who waits for it, and what each one did
//! between.
//!
//! Input: arrivals and waits, as the emulator executes them. Output: a [`History`]. Establishes: each arrival and each wait of
//! the execution is in one generation of one barrier; generations of the same barrier to which the same instructions come in
//! the same ways are one [`Node`], so that what is kept depends on the program, not on how long it runs. Relies on: the emulator
//! says in which generation an arrival is. Nothing of a verdict depends on it. Reference: none.

use super::launch::Launch;
use super::outcome::Place;
use super::waiting::Chain;
use super::{Run, decode, finished, machine, parameter_bytes, world};
use crate::ptx::ast::Module;
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A barrier of a block or of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Object {
    /// `bar`, `barrier` with this number, of this block of the cluster.
    Barrier { rank: u32, id: u32 },
    /// An mbarrier object, by its offset in shared memory (of the cluster, block by block).
    Shared { offset: u32 },
    /// `barrier.cluster`
    Cluster,
}

impl Object {
    /// The same of each block: blocks of a cluster are told apart by nothing but their places.
    pub(crate) fn of_any_block(self) -> Object {
        match self {
            Object::Barrier { id, .. } => Object::Barrier { rank: 0, id },
            other => other,
        }
    }
}

/// How an instruction takes part in a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// It arrives, and its thread goes on.
    Arrives,
    /// It arrives and waits.
    Meets,
    /// It waits for the generation.
    Waits,
    /// A copy that it started brings bytes.
    Brings,
}

impl Part {
    /// Whether the generation needs it.
    pub(crate) fn is_arrival(self) -> bool {
        matches!(self, Part::Arrives | Part::Meets)
    }

    pub(crate) fn waits(self) -> bool {
        matches!(self, Part::Meets | Part::Waits)
    }
}

/// Warps, one bit each, of whichever block.
pub(crate) type Warps = u32;

/// Something that a thread does at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    pub(crate) object: Object,
    /// Number of the generation, from 0.
    pub(crate) generation: u64,
    pub(crate) part: Part,
    /// Thread and instruction.
    pub(crate) place: Place,
}

/// Generations of a barrier to which the same instructions come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) object: Object,
    /// By instruction and way to take part: the warps.
    pub(crate) parts: BTreeMap<(u32, Part), Warps>,
    /// The first and the last one, and how many they are, in all blocks.
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) count: u64,
}

/// Between two nodes, what the threads did that came to the second one: whether they had waited for the first one.
pub(crate) type Edge = (usize, usize, bool);

/// What a thread did last at barriers.
#[derive(Clone, Debug, Default)]
struct Past {
    /// Generations to which it came or for which it waited since it arrived before; whether it waited.
    since: Vec<(u32, bool)>,
    /// By barrier: the generation to which it came last, and where.
    arrivals: Vec<(Object, u64, u32, u32)>,
}

#[derive(Clone, Debug)]
struct Generation {
    object: Object,
    /// How often the object had been initialised.
    life: u32,
    number: u64,
    parts: Vec<((u32, Part), Warps)>,
    edges: Vec<((u32, bool), Warps)>,
}

/// The blocks of a cluster while they run.
#[derive(Clone, Debug, Default)]
struct Blocks {
    generations: Vec<Generation>,
    /// By barrier, by how often it was initialised, and number.
    known: HashMap<(Object, u32, u64), u32>,
    lives: BTreeMap<Object, u32>,
    threads: HashMap<u32, Past>,
}

/// What was done at barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// Threads of a block.
    size: u32,
    /// Threads whose deeds are kept.
    watched: Vec<u32>,
    /// Those, with how many events had been watched before.
    pub(crate) deeds: Vec<(usize, Deed)>,
    /// By the number of the first block.
    blocks: BTreeMap<u32, Blocks>,
    pub(crate) nodes: Vec<Node>,
    /// With the warps that are behind it.
    pub(crate) edges: BTreeMap<Edge, Warps>,
    by_signature: BTreeMap<Signature, usize>,
    /// For what the threads of a block wait that is stuck.
    pub(crate) stuck: Option<Chain>,
    /// The first of those blocks.
    stuck_at: Option<u32>,
    /// Generations whose nodes are asked for, and the nodes of those that were found and of those for which a stuck block waits.
    wanted: Vec<(Object, u64)>,
    pub(crate) marks: BTreeMap<(Object, u64), usize>,
}

/// Rank left out: blocks are alike.
type Signature = (Object, BTreeSet<(u32, Part)>);

impl History {
    /// Nothing was done yet; the deeds of these threads are kept one by one.
    pub(crate) fn new(size: u32, watched: Vec<u32>) -> Self {
        History { size, watched, ..History::default() }
    }

    fn warp(&self, thread: u32) -> Warps {
        1 << (thread % self.size / 32 % 32)
    }

    /// A thread does something at a barrier of the blocks that begin with this one. `time`: events watched before.
    pub(crate) fn note(&mut self, first: u32, deed: Deed, time: usize) {
        let (warp, Deed { object, generation, part, place: (thread, code) }) = (self.warp(thread_of(&deed)), deed);
        if self.watched.contains(&thread) {
            self.deeds.push((time, deed));
        }
        let blocks = self.blocks.entry(first).or_default();
        let life = blocks.lives.get(&object).copied().unwrap_or(0);
        let next = blocks.generations.len() as u32;
        let at = *blocks.known.entry((object, life, generation)).or_insert(next);
        if at == next {
            blocks.generations.push(Generation {
                object,
                life,
                number: generation,
                parts: Vec::new(),
                edges: Vec::new(),
            });
        }
        let one = &mut blocks.generations[at as usize];
        add(&mut one.parts, (code, part), warp);
        if part == Part::Brings {
            return;
        }
        let past = blocks.threads.entry(thread).or_default();
        if part.is_arrival() {
            for source in past.since.drain(..).filter(|(source, _)| *source != at) {
                add(&mut one.edges, source, warp);
            }
            let last = (object, generation, life, code);
            match past.arrivals.iter_mut().find(|(known, ..)| *known == object) {
                Some(known) => *known = last,
                None => past.arrivals.push(last),
            }
        } else {
            // It knows more than that it had come to something before.
            past.since.retain(|(_, waited)| *waited);
        }
        if !past.since.contains(&(at, part.waits())) {
            past.since.push((at, part.waits()));
        }
    }

    /// A barrier object begins or ends its life: its generations are counted from 0 again.
    pub(crate) fn reset(&mut self, first: u32, object: Object) {
        *self.blocks.entry(first).or_default().lives.entry(object).or_insert(0) += 1;
    }

    /// The last arrival of a thread at a barrier: generation and instruction; whether that is the generation of this number.
    pub(crate) fn last_arrival(&self, first: u32, thread: u32, object: Object) -> Option<(u64, u32)> {
        let blocks = self.blocks.get(&first)?;
        let life = blocks.lives.get(&object).copied().unwrap_or(0);
        let arrivals = &blocks.threads.get(&thread)?.arrivals;
        let last = arrivals.iter().find(|(known, _, of, _)| *known == object && *of == life);
        last.map(|(_, generation, _, code)| (*generation, *code))
    }

    /// The barriers to which threads came by an instruction.
    pub(crate) fn reached_by(&self, first: u32, code: u32) -> BTreeSet<Object> {
        let generations = self.blocks.get(&first).into_iter().flat_map(|blocks| &blocks.generations);
        let is_of = |one: &&Generation| one.parts.iter().any(|((other, _), _)| *other == code);
        generations.filter(is_of).map(|one| one.object).collect()
    }

    /// These blocks have come to their end: what they did becomes part of the whole.
    pub(crate) fn end_blocks(&mut self, first: u32) {
        let Some(blocks) = self.blocks.remove(&first) else { return };
        let is_stuck = self.stuck_at == Some(first);
        let nodes: Vec<usize> = blocks.generations.iter().map(|one| self.node(one, &blocks, is_stuck)).collect();
        for (one, node) in blocks.generations.iter().zip(&nodes) {
            for ((source, waited), warps) in &one.edges {
                *self.edges.entry((nodes[*source as usize], *node, *waited)).or_default() |= warps;
            }
        }
    }

    /// The node of a generation, which is counted there.
    fn node(&mut self, one: &Generation, blocks: &Blocks, is_stuck: bool) -> usize {
        let object = one.object.of_any_block();
        let key = (object, one.number);
        let is_current = blocks.lives.get(&one.object).copied().unwrap_or(0) == one.life;
        let is_awaited = is_stuck && is_current && self.stuck.iter().any(|chain| chain.awaits(one.object, one.number));
        if is_awaited {
            // It is not complete, and none of those that are.
            self.marks.insert(key, self.nodes.len());
            self.nodes.push(Node::of(object, one));
            return self.nodes.len() - 1;
        }
        let signature = (object, one.parts.iter().map(|(key, _)| *key).collect());
        let next = self.nodes.len();
        let at = *self.by_signature.entry(signature).or_insert(next);
        if at == next {
            self.nodes.push(Node::of(object, one));
        } else {
            self.nodes[at].add(one);
        }
        if self.wanted.contains(&key) {
            self.marks.entry(key).or_insert(at);
        }
        at
    }

    /// Threads of these blocks wait for ever.
    pub(crate) fn is_stuck(&mut self, first: u32, chain: Option<Chain>) {
        if self.stuck.is_none() {
            self.stuck = chain;
            self.stuck_at = Some(first);
        }
    }

    /// The run is over.
    fn end(&mut self) {
        let left: Vec<u32> = self.blocks.keys().copied().collect();
        left.into_iter().for_each(|first| self.end_blocks(first));
    }
}

impl Node {
    fn of(object: Object, one: &Generation) -> Self {
        let parts = one.parts.iter().copied().collect();
        Node { object, parts, first: one.number, last: one.number, count: 1 }
    }

    /// One more generation of the same kind.
    fn add(&mut self, one: &Generation) {
        one.parts.iter().for_each(|(key, warps)| *self.parts.entry(*key).or_default() |= warps);
        (self.first, self.last) = (self.first.min(one.number), self.last.max(one.number));
        self.count += 1;
    }
}

fn thread_of(deed: &Deed) -> u32 {
    deed.place.0
}

fn add<K: PartialEq>(all: &mut Vec<(K, Warps)>, key: K, warp: Warps) {
    match all.iter_mut().find(|(known, _)| *known == key) {
        Some((_, warps)) => *warps |= warp,
        None => all.push((key, warp)),
    }
}

/// Runs a launch once more, with its history; the nodes of the wanted generations are marked.
pub(crate) fn record(
    module: &Module,
    entry: usize,
    launch: &Launch,
    wanted: Vec<(Object, u64)>,
) -> Option<(Run, History)> {
    let program = decode::decode(module, entry, launch).ok()?;
    let mut world = world::World::new(&program, launch, parameter_bytes(module, entry, launch), module.address_size);
    let size = launch.geometry.block_threads() as u32;
    world.history = Some(Box::new(History { wanted, ..History::new(size, Vec::new()) }));
    let (outcome, memory, _, history) = machine::Machine::new(&program, launch, world).run_watched();
    let mut history = *history?;
    history.end();
    Some((finished(program, outcome, memory), history))
}
