//! What both interpreters share: memory, threads, what is arbitrary, and what a run shows.

use super::evaluate::{Store, evaluate};
use gpuvcc::ivl::ast::*;
use std::collections::{BTreeMap, BTreeSet};

/// A number that depends on all of these.
pub fn mix(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9e37_79b9_7f4a_7c15, |sum, part| {
        let mixed = (sum ^ part).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 29)
    })
}

/// Shared memory, byte by byte. At the start each word is a small number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pub seed: u64,
    written: BTreeMap<(Name, u64), u8>,
}

impl Memory {
    pub fn new(seed: u64) -> Memory {
        Memory { seed, written: BTreeMap::new() }
    }

    fn byte(&self, array: &Name, at: u64) -> u8 {
        let initial = || if at.is_multiple_of(4) { (mix(&[self.seed, at]) % 8) as u8 } else { 0 };
        self.written.get(&(array.clone(), at)).copied().unwrap_or_else(initial)
    }

    pub fn read(&self, array: &Name, bytes: impl DoubleEndedIterator<Item = u64>) -> u128 {
        bytes.rev().fold(0, |value, at| value << 8 | u128::from(self.byte(array, at)))
    }

    pub fn write(&mut self, array: &Name, bytes: impl Iterator<Item = u64>, value: u128) {
        for (position, at) in (0u32..).zip(bytes) {
            self.written.insert((array.clone(), at), (value >> (8 * position)) as u8);
        }
    }
}

/// The bytes of an access.
pub fn bytes_of(access: &Access, store: &Store) -> std::ops::Range<u64> {
    let start = (evaluate(&access.offset, store) as u64).wrapping_mul(u64::from(access.scale));
    start..start + u64::from(access.bytes)
}

/// An access or a barrier of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// First byte and value.
    Load(u64, u128),
    /// First byte and value.
    Store(u64, u128),
    /// A barrier, named by the start of its span.
    Barrier(u32),
}

/// A thread with its private store.
#[derive(Clone, Debug)]
pub struct Execution {
    pub store: Store,
    /// What it did, in order.
    pub trace: Vec<Event>,
    /// The values that it could not compute, in order: loaded, havocked, and ids of blocks chosen. Only
    /// lock-step runs record them.
    pub inputs: Vec<u128>,
    /// How often something was arbitrary.
    drawn: u64,
    seed: u64,
}

impl Execution {
    /// Thread `number` before its first statement. Variables `x0` and `x1` start alike in all threads.
    pub fn new(number: u64, seed: u64, locals: &[Variable]) -> Execution {
        let initial = |local: &Variable| match local.name.as_str() {
            rounds if rounds.starts_with('r') => 0,
            "x0" | "x1" => u128::from(mix(&[seed, u64::from(local.name.as_str() == "x1")]) % 8),
            "x2" | "x3" => u128::from((number * 5 + mix(&[seed, 3]) % 8) % 8),
            // What predication adds holds anything.
            _ if local.ty == Type::Bool => u128::from(mix(&[seed, number]) & 1),
            _ => u128::from(mix(&[seed, number]) & 0xffff),
        };
        let mut store: Store = locals.iter().map(|local| (local.name.clone(), initial(local))).collect();
        store.insert("tid.x".into(), u128::from(number));
        Execution { store, trace: Vec::new(), inputs: Vec::new(), drawn: 0, seed: mix(&[seed, number]) }
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(&[self.seed, self.drawn])
    }

    /// A value that nothing determines; it depends on nothing but the thread and what came before.
    pub fn arbitrary(&mut self) -> u128 {
        u128::from(self.draw() % 8)
    }

    /// One of `count` things; nothing is arbitrary about one.
    pub fn choose(&mut self, count: usize) -> usize {
        if count == 1 { 0 } else { (self.draw() % count as u64) as usize }
    }

    pub fn assign(&mut self, pairs: &[(Name, ExprRef)]) {
        let values: Vec<u128> = pairs.iter().map(|(_, value)| evaluate(value, &self.store)).collect();
        self.store.extend(pairs.iter().map(|(name, _)| name.clone()).zip(values));
    }

    pub fn holds(&self, condition: &ExprRef) -> bool {
        evaluate(condition, &self.store) == 1
    }

    pub fn may(&self, guard: Option<&ExprRef>) -> bool {
        guard.is_none_or(|guard| self.holds(guard))
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All threads ended.
    Terminated,
    /// The interval between barriers in which the run stopped has a race.
    Race,
    /// Threads wait at different barriers.
    Diverged,
    /// An assumption failed: there is no such execution.
    Infeasible,
    /// Too many statements.
    OutOfFuel,
}

/// What a run showed.
#[derive(Clone, Debug)]
pub struct Run {
    pub end: End,
    /// Barriers passed.
    pub interval: usize,
    /// Pairs of threads that race in the last interval, the smaller first.
    pub races: BTreeSet<(usize, usize)>,
    /// At a divergence: the threads at one barrier, and the others.
    pub split: (BTreeSet<usize>, BTreeSet<usize>),
    /// Failed assertions: interval, thread, start of the statement's span.
    pub failed: BTreeSet<(usize, usize, u32)>,
    pub memory: Memory,
    pub threads: Vec<Execution>,
    /// Blocks executed by all threads.
    pub blocks: usize,
}

impl Run {
    /// The run before its first statement.
    pub fn new(program: &Program, numbers: &[u64], seed: u64, memory: Memory) -> Run {
        let locals = &body(program).locals;
        Run {
            end: End::OutOfFuel,
            interval: 0,
            races: BTreeSet::new(),
            split: Default::default(),
            failed: BTreeSet::new(),
            memory,
            threads: numbers.iter().map(|&number| Execution::new(number, seed, locals)).collect(),
            blocks: 0,
        }
    }

    /// No race, no divergence, no failed assertion, and an end.
    pub fn is_correct(&self) -> bool {
        self.end == End::Terminated && self.failed.is_empty()
    }

    /// The end, unless the last interval races: then that is what the run shows.
    pub fn ended(mut self, end: End) -> Run {
        self.end = if self.races.is_empty() || end == End::Infeasible { end } else { End::Race };
        self
    }
}

/// Who accessed which byte since the last barrier.
#[derive(Default)]
pub struct Interval(BTreeMap<(Name, u64), Vec<(usize, bool)>>);

impl Interval {
    /// The pairs of threads between which an access races, the smaller first.
    pub fn add(
        &mut self,
        thread: usize,
        array: &Name,
        bytes: std::ops::Range<u64>,
        writes: bool,
    ) -> Vec<(usize, usize)> {
        let mut races = Vec::new();
        for at in bytes {
            let known = self.0.entry((array.clone(), at)).or_default();
            let conflicts = |(other, wrote): &&(usize, bool)| *other != thread && (writes || *wrote);
            races.extend(known.iter().filter(conflicts).map(|&(other, _)| (other.min(thread), other.max(thread))));
            known.push((thread, writes));
        }
        races
    }
}

/// The body of the kernel.
pub fn body(program: &Program) -> &Implementation {
    program.procedures[0].body.as_ref().expect("a kernel has a body")
}

/// Blocks by label.
pub fn blocks(program: &Program) -> BTreeMap<&Name, &Block> {
    body(program).blocks.iter().map(|block| (&block.label, block)).collect()
}

/// The targets of a `goto` whose leading assumption holds. Where none does, all: the run is infeasible.
pub fn open_targets<'p>(targets: &'p [Name], blocks: &BTreeMap<&Name, &'p Block>, thread: &Execution) -> Vec<&'p Name> {
    let open = |target: &&Name| match blocks[*target].stmts.first().map(|stmt| &stmt.kind) {
        Some(StmtKind::Assume(_, e)) => thread.holds(e),
        _ => true,
    };
    let found: Vec<&Name> = targets.iter().filter(open).collect();
    if found.is_empty() { targets.iter().collect() } else { found }
}
