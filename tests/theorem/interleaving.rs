//! The interleaving semantics (section 3.2): each thread has its own place; a scheduler lets one of
//! them execute some statements, then another.

use super::random::Source;
use super::run::*;
use gpuvcc::ivl::ast::*;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that a thread may execute.
pub const FUEL: usize = 120;

/// The kernel's blocks, and its loops by their headers.
struct Graph<'p> {
    blocks: BTreeMap<&'p Name, &'p Block>,
    loops: BTreeMap<&'p Name, BTreeSet<&'p Name>>,
}

/// A thread's place in the kernel.
struct Place<'p> {
    block: &'p Block,
    next: usize,
    /// Iterations of each loop around, by header: the paper's barrier variables.
    rounds: BTreeMap<&'p Name, u32>,
    blocks: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// At a barrier, named by the start of its span.
    Waiting(u32),
    Ended,
}

/// A run under some order of the threads.
pub fn interleave(program: &Program, numbers: &[u64], seed: u64, schedule: u64, memory: Memory) -> Run {
    let graph = Graph { blocks: blocks(program), loops: loops(program) };
    let mut run = Run::new(program, numbers, seed, memory);
    let start = &body(program).blocks[0];
    let mut source = Source::new(mix(&[schedule]));
    let mut places: Vec<Place> = numbers.iter().map(|_| Place::at(start, &graph)).collect();
    let mut interval = Interval::default();
    loop {
        let running: Vec<usize> = (0..places.len()).filter(|&t| places[t].state == State::Running).collect();
        if running.is_empty() {
            if places.iter().all(|place| place.state == State::Ended) {
                return run.ended(End::Terminated);
            }
            if !together(&places) || !run.races.is_empty() {
                run.split = split(&places);
                return run.ended(End::Diverged);
            }
            run.interval += 1;
            interval = Interval::default();
            places.iter_mut().for_each(|place| place.state = State::Running);
            continue;
        }
        let thread = running[source.below(running.len())];
        for _ in 0..=source.below(6) {
            match step(&graph, &mut places[thread], &mut run, thread, &mut interval) {
                Step::On if places[thread].state == State::Running => {}
                Step::On => break,
                Step::Stop(end) => return run.ended(end),
            }
        }
    }
}

enum Step {
    On,
    Stop(End),
}

fn step<'p>(graph: &Graph<'p>, place: &mut Place<'p>, run: &mut Run, number: usize, interval: &mut Interval) -> Step {
    let thread = &mut run.threads[number];
    let Some(stmt) = place.block.stmts.get(place.next) else {
        return leave(graph, place, run, number);
    };
    place.next += 1;
    match &stmt.kind {
        StmtKind::Assign(pairs) => thread.assign(pairs),
        StmtKind::Havoc(names) => {
            for name in names {
                let value = thread.arbitrary();
                thread.store.insert(name.clone(), value);
            }
        }
        StmtKind::Assume(_, e) if !thread.holds(e) => return Step::Stop(End::Infeasible),
        StmtKind::Assume(..) => {}
        StmtKind::Assert(_, e) => {
            if !thread.holds(e) {
                run.failed.insert((run.interval, number, stmt.span.start));
            }
        }
        StmtKind::Load { dst, access } => {
            let mut value = None;
            if thread.may(access.guard.as_ref()) {
                let bytes = bytes_of(access, &thread.store);
                run.races.extend(interval.add(number, &access.array, bytes.clone(), false));
                let loaded = run.memory.read(&access.array, bytes.clone());
                thread.trace.push(Event::Load(bytes.start, loaded));
                value = Some(loaded);
            }
            let value = value.unwrap_or_else(|| thread.arbitrary());
            thread.store.insert(dst.clone(), value);
        }
        StmtKind::Store { value, access } => {
            if thread.may(access.guard.as_ref()) {
                let bytes = bytes_of(access, &thread.store);
                run.races.extend(interval.add(number, &access.array, bytes.clone(), true));
                let value = super::evaluate::evaluate(value, &thread.store);
                thread.trace.push(Event::Store(bytes.start, value));
                run.memory.write(&access.array, bytes, value);
            }
        }
        StmtKind::Barrier(_) => {
            thread.trace.push(Event::Barrier(stmt.span.start));
            place.state = State::Waiting(stmt.span.start);
        }
        other => panic!("not generated: {other:?}"),
    }
    Step::On
}

fn leave<'p>(graph: &Graph<'p>, place: &mut Place<'p>, run: &mut Run, number: usize) -> Step {
    let Transfer::Goto(targets) = &place.block.transfer else {
        place.state = State::Ended;
        return Step::On;
    };
    place.blocks += 1;
    run.blocks += 1;
    if place.blocks > FUEL {
        return Step::Stop(End::OutOfFuel);
    }
    let thread = &mut run.threads[number];
    let open = open_targets(targets, &graph.blocks, thread);
    let target = open[thread.choose(open.len())];
    place.enter(graph.blocks[target], graph);
    Step::On
}

impl<'p> Place<'p> {
    fn at(start: &'p Block, graph: &Graph<'p>) -> Place<'p> {
        let mut place = Place { block: start, next: 0, rounds: BTreeMap::new(), blocks: 0, state: State::Running };
        place.enter(start, graph);
        place
    }

    fn enter(&mut self, block: &'p Block, graph: &Graph<'p>) {
        (self.block, self.next) = (block, 0);
        self.rounds.retain(|header, _| graph.loops[header].contains(&block.label));
        if graph.loops.contains_key(&block.label) {
            *self.rounds.entry(&block.label).or_default() += 1;
        }
    }
}

/// Whether all threads wait at one barrier in the same iteration of every loop.
fn together(places: &[Place]) -> bool {
    let first = &places[0];
    places.iter().all(|place| place.state == first.state && place.rounds == first.rounds)
}

fn split(places: &[Place]) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let waits = |place: &Place| matches!(place.state, State::Waiting(_));
    let Some(first) = places.iter().find(|place| waits(place)) else { return Default::default() };
    (0..places.len()).partition(|&t| places[t].state == first.state && places[t].rounds == first.rounds)
}

/// The blocks of each natural loop, by its header. By definition, not by the algorithm of the stage:
/// a header is on every path to a block that leads back to it.
fn loops(program: &Program) -> BTreeMap<&Name, BTreeSet<&Name>> {
    let blocks = &body(program).blocks;
    let successors: BTreeMap<&Name, &[Name]> = blocks
        .iter()
        .map(|block| match &block.transfer {
            Transfer::Goto(targets) => (&block.label, &targets[..]),
            Transfer::Return => (&block.label, &[][..]),
        })
        .collect();
    let reach = |from: &'_ Name, without: &Name| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<Name> = vec![from.clone()];
        while let Some(at) = open.pop() {
            if at != *without && seen.insert(at.clone()) {
                open.extend(successors[&at].iter().cloned());
            }
        }
        seen
    };
    let nothing = Name::from("");
    let reachable = reach(&blocks[0].label, &nothing);
    let mut loops: BTreeMap<&Name, BTreeSet<&Name>> = BTreeMap::new();
    for header in blocks.iter().map(|block| &block.label).filter(|label| reachable.contains(*label)) {
        let around = reach(&blocks[0].label, header);
        let sources = blocks
            .iter()
            .map(|block| &block.label)
            .filter(|from| reachable.contains(*from) && successors[*from].contains(header) && !around.contains(*from));
        let sources: Vec<&Name> = sources.collect();
        if sources.is_empty() {
            continue;
        }
        let is_inside = |label: &&Name| {
            *label == header
                || !around.contains(*label) && sources.iter().any(|from| reach(label, header).contains(*from))
        };
        let inside = blocks.iter().map(|block| &block.label).filter(|label| reachable.contains(*label));
        loops.insert(header, inside.filter(is_inside).collect());
    }
    loops
}
