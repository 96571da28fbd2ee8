//! A second opinion: the PTX memory model stated once more, as loops over bit matrices, and all executions of a small program one
//! after the other.
//!
//! Nothing here comes from `prelude/ptx.cat` or `src/litmus`. Both statements were written from the chapter "Memory consistency model" of the
//! PTX ISA (and, for proxies, from the mixed-proxy paper); where they differ one is wrong.

use super::program::{Atomic, Instruction, Program, Proxy, Scope, Semantics, Stored};
use std::collections::{BTreeMap, BTreeSet};

/// What an execution ends with: the loaded values of each thread in their order, the memory.
pub type Outcome = (Vec<Vec<u32>>, Vec<u32>);

/// All that a program can do.
#[derive(Default)]
pub struct Behaviour {
    pub outcomes: BTreeSet<Outcome>,
    /// Those of executions that the model forbids, too.
    pub candidates: BTreeSet<Outcome>,
    pub racy: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Read,
    Write,
    Fence,
    ProxyFence(Option<Proxy>),
    Barrier(u32),
}

#[derive(Clone, Debug)]
struct Event {
    /// `None`: the initial value.
    thread: Option<usize>,
    kind: Kind,
    location: usize,
    /// Another virtual address of the location.
    aliased: bool,
    proxy: Proxy,
    semantics: Semantics,
    scope: Scope,
    /// Of atomic operations.
    atomic: Option<Atomic>,
    stored: Stored,
    /// The read of the same atomic operation.
    read: Option<usize>,
}

/// Rows of bits.
#[derive(Clone)]
struct Matrix(Vec<u32>);

impl Matrix {
    fn new(size: usize) -> Matrix {
        Matrix(vec![0; size])
    }

    fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Matrix {
        let mut all = Matrix::new(size);
        for from in 0..size {
            for to in 0..size {
                if holds(from, to) {
                    all.set(from, to);
                }
            }
        }
        all
    }

    fn set(&mut self, from: usize, to: usize) {
        self.0[from] |= 1 << to;
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 == 1
    }

    fn then(&self, other: &Matrix) -> Matrix {
        let size = self.0.len();
        Matrix::of(size, |from, to| (0..size).any(|middle| self.has(from, middle) && other.has(middle, to)))
    }

    fn closed(&self) -> Matrix {
        let mut all = self.clone();
        for middle in 0..self.0.len() {
            for from in 0..self.0.len() {
                if all.has(from, middle) {
                    all.0[from] |= all.0[middle];
                }
            }
        }
        all
    }

    fn has_cycle(&self) -> bool {
        let closed = self.closed();
        (0..self.0.len()).any(|event| closed.has(event, event))
    }
}

/// Enumerates all executions.
pub fn behaviour(program: &Program) -> Behaviour {
    let events = events(program);
    let mut behaviour = Behaviour::default();
    let reads: Vec<usize> = (0..events.len()).filter(|at| events[*at].kind == Kind::Read).collect();
    let sources: Vec<Vec<usize>> = reads
        .iter()
        .map(|read| {
            (0..events.len())
                .filter(|at| {
                    let write = &events[*at];
                    write.kind == Kind::Write && write.location == events[*read].location && write.read != Some(*read)
                })
                .collect()
        })
        .collect();
    let mut choice = vec![0; reads.len()];
    loop {
        let from: BTreeMap<usize, usize> =
            reads.iter().zip(&choice).zip(&sources).map(|((read, pick), sources)| (*read, sources[*pick])).collect();
        if let Some(execution) = Execution::new(program, &events, from) {
            execution.orders(&mut behaviour);
        }
        // The next one, as an odometer counts.
        let Some(turn) = (0..choice.len()).find(|at| choice[*at] + 1 < sources[*at].len()) else { return behaviour };
        choice[turn] += 1;
        choice[..turn].fill(0);
    }
}

fn events(program: &Program) -> Vec<Event> {
    let plain = |thread, kind, location| Event {
        thread,
        kind,
        location,
        aliased: false,
        proxy: Proxy::Generic,
        semantics: Semantics::Weak,
        scope: Scope::Block,
        atomic: None,
        stored: Stored::Constant(0),
        read: None,
    };
    let mut events: Vec<Event> = (0..program.locations).map(|location| plain(None, Kind::Write, location)).collect();
    for (thread, (_, code)) in program.threads.iter().enumerate() {
        let mut barriers = 0;
        for instruction in code {
            match *instruction {
                Instruction::Load { location, aliased, proxy, semantics, scope } => {
                    events.push(Event { aliased, proxy, semantics, scope, ..plain(Some(thread), Kind::Read, location) })
                }
                Instruction::Store { location, aliased, semantics, scope, stored } => events.push(Event {
                    aliased,
                    semantics,
                    scope,
                    stored,
                    ..plain(Some(thread), Kind::Write, location)
                }),
                Instruction::Atomic { location, semantics, scope, operation } => {
                    let read = Event {
                        semantics,
                        scope,
                        atomic: Some(operation),
                        ..plain(Some(thread), Kind::Read, location)
                    };
                    events.push(read.clone());
                    events.push(Event { kind: Kind::Write, read: Some(events.len() - 1), ..read });
                }
                Instruction::Fence { semantics, scope } => {
                    events.push(Event { semantics, scope, ..plain(Some(thread), Kind::Fence, 0) });
                }
                Instruction::ProxyFence(proxy) => events.push(plain(Some(thread), Kind::ProxyFence(proxy), 0)),
                Instruction::Barrier => {
                    events.push(plain(Some(thread), Kind::Barrier(barriers), 0));
                    barriers += 1;
                }
            }
        }
    }
    events
}

/// An execution without its orders.
struct Execution<'a> {
    program: &'a Program,
    events: &'a [Event],
    /// For each read, the write.
    from: BTreeMap<usize, usize>,
    happens: Vec<bool>,
    values: Vec<u32>,
}

impl<'a> Execution<'a> {
    /// `None`: a value depends on itself, or is read from what does not happen.
    fn new(program: &'a Program, events: &'a [Event], from: BTreeMap<usize, usize>) -> Option<Execution<'a>> {
        let mut values: Vec<Option<u32>> = vec![None; events.len()];
        let mut happens = vec![true; events.len()];
        for _ in 0..=2 * events.len() {
            for (at, event) in events.iter().enumerate() {
                let value = match event.kind {
                    Kind::Read => values[from[&at]],
                    Kind::Write => match (event.atomic, event.stored) {
                        (Some(operation), _) => event.read.and_then(|read| values[read]).map(|old| {
                            happens[at] = operation.writes(old);
                            operation.result(old)
                        }),
                        (None, Stored::Constant(value)) => Some(value),
                        (None, Stored::LastLoaded) => match last_read(events, at) {
                            Some(read) => values[read],
                            None => Some(0),
                        },
                    },
                    _ => Some(0),
                };
                values[at] = value;
            }
        }
        let values = values.into_iter().collect::<Option<Vec<u32>>>()?;
        let sound = from.values().all(|write| happens[*write]);
        sound.then_some(Execution { program, events, from, happens, values })
    }

    fn is_write(&self, at: usize) -> bool {
        self.events[at].kind == Kind::Write && self.happens[at]
    }

    fn is_memory(&self, at: usize) -> bool {
        matches!(self.events[at].kind, Kind::Read | Kind::Write) && self.happens[at]
    }

    fn before(&self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.events[a], &self.events[b]);
        a < b && one.thread.is_some() && one.thread == other.thread && self.happens[a] && self.happens[b]
    }

    fn same_block(&self, a: usize, b: usize) -> bool {
        let place = |at: usize| self.events[at].thread.map(|thread| self.program.threads[thread].0);
        place(a).is_some() && place(a) == place(b)
    }

    fn reaches(&self, a: usize, b: usize) -> bool {
        let (Some(one), Some(other)) = (self.events[a].thread, self.events[b].thread) else { return false };
        let (one, other) = (self.program.threads[one].0, self.program.threads[other].0);
        match self.events[a].scope {
            Scope::Block => one == other,
            Scope::Gpu => one.gpu == other.gpu,
            Scope::System => true,
        }
    }

    fn is_strong(&self, at: usize) -> bool {
        let event = &self.events[at];
        event.thread.is_some() && event.semantics != Semantics::Weak
    }

    fn overlap(&self, a: usize, b: usize) -> bool {
        self.is_memory(a) && self.is_memory(b) && self.events[a].location == self.events[b].location
    }

    fn morally_strong(&self, a: usize, b: usize) -> bool {
        if a == b || !self.happens[a] || !self.happens[b] {
            return false;
        }
        let in_order = self.before(a, b) || self.before(b, a);
        let strong = self.is_strong(a) && self.is_strong(b) && self.reaches(a, b) && self.reaches(b, a);
        let plain = |at: usize| matches!(self.events[at].kind, Kind::Read | Kind::Write | Kind::Fence);
        let complete = !self.is_memory(a) || !self.is_memory(b) || self.overlap(a, b);
        (in_order || strong) && plain(a) && plain(b) && self.events[a].proxy == self.events[b].proxy && complete
    }

    /// All orders of writes and of fences.
    fn orders(&self, behaviour: &mut Behaviour) {
        let size = self.events.len();
        let mut pairs = Vec::new();
        let mut fences = Vec::new();
        for a in 0..size {
            for b in a + 1..size {
                let is_initial = self.events[a].thread.is_none();
                if self.is_write(a) && self.is_write(b) && self.overlap(a, b) && !is_initial {
                    pairs.push((a, b));
                }
                let is_sc =
                    |at: usize| self.events[at].kind == Kind::Fence && self.events[at].semantics == Semantics::Sc;
                if is_sc(a) && is_sc(b) && self.morally_strong(a, b) {
                    fences.push((a, b));
                }
            }
        }
        for coherence in self.coherences(&pairs) {
            let finals = self.finals(&coherence);
            let loads = self.loads();
            behaviour.candidates.extend(finals.iter().map(|memory| (loads.clone(), memory.clone())));
            for turn in 0..1u32 << fences.len() {
                let mut sc = Matrix::new(size);
                for (place, (a, b)) in fences.iter().enumerate() {
                    if turn >> place & 1 == 0 { sc.set(*a, *b) } else { sc.set(*b, *a) }
                }
                if let Some(race) = self.judge(&coherence, &sc) {
                    behaviour.outcomes.extend(finals.iter().map(|memory| (loads.clone(), memory.clone())));
                    behaviour.racy |= race;
                }
            }
        }
    }

    /// Strict partial orders of the writes of each location, initial values first.
    fn coherences(&self, pairs: &[(usize, usize)]) -> Vec<Matrix> {
        let size = self.events.len();
        let mut all = Vec::new();
        for number in 0..3u32.pow(pairs.len() as u32) {
            let mut order = Matrix::of(size, |a, b| {
                self.events[a].thread.is_none()
                    && self.events[b].thread.is_some()
                    && self.is_write(b)
                    && self.overlap(a, b)
            });
            let mut rest = number;
            for (a, b) in pairs {
                match rest % 3 {
                    0 => order.set(*a, *b),
                    1 => order.set(*b, *a),
                    _ => {}
                }
                rest /= 3;
            }
            let closed = order.closed();
            if closed.0 == order.0 && !order.has_cycle() {
                all.push(order);
            }
        }
        all
    }

    fn loads(&self) -> Vec<Vec<u32>> {
        let of_thread = |thread: usize| {
            let reads = (0..self.events.len())
                .filter(move |at| self.events[*at].kind == Kind::Read && self.events[*at].thread == Some(thread));
            reads.map(|at| self.values[at]).collect()
        };
        (0..self.program.threads.len()).map(of_thread).collect()
    }

    /// What memory may hold in the end: of each location the value of a write that none follows.
    fn finals(&self, coherence: &Matrix) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for location in 0..self.program.locations {
            let last: BTreeSet<u32> = (0..self.events.len())
                .filter(|at| self.is_write(*at) && self.events[*at].location == location && coherence.0[*at] == 0)
                .map(|at| self.values[at])
                .collect();
            all = all
                .into_iter()
                .flat_map(|known| last.iter().map(move |value| [&known[..], &[*value]].concat()))
                .collect();
        }
        all
    }

    /// The places where a release pattern begins, with the write that ends it; likewise acquire patterns.
    fn releases(&self) -> Vec<(usize, usize)> {
        let size = self.events.len();
        let is_release =
            |at: usize| matches!(self.events[at].semantics, Semantics::Release | Semantics::AcqRel | Semantics::Sc);
        let mut all = Vec::new();
        for write in (0..size).filter(|at| self.is_write(*at) && self.is_strong(*at)) {
            for first in 0..size {
                let event = &self.events[first];
                let same = event.kind == Kind::Write && event.location == self.events[write].location;
                let begins = match event.kind {
                    Kind::Write => first == write || same && self.before(first, write),
                    Kind::Fence => self.before(first, write),
                    _ => false,
                };
                if begins && is_release(first) && self.happens[first] && event.thread.is_some() {
                    all.push((first, write));
                }
            }
        }
        all
    }

    fn acquires(&self) -> Vec<(usize, usize)> {
        let size = self.events.len();
        let is_acquire =
            |at: usize| matches!(self.events[at].semantics, Semantics::Acquire | Semantics::AcqRel | Semantics::Sc);
        let mut all = Vec::new();
        for read in (0..size).filter(|at| self.events[*at].kind == Kind::Read && self.is_strong(*at)) {
            for last in 0..size {
                let event = &self.events[last];
                let same = event.kind == Kind::Read && event.location == self.events[read].location;
                let ends = match event.kind {
                    Kind::Read => last == read || same && self.before(read, last),
                    Kind::Fence => self.before(read, last),
                    _ => false,
                };
                if ends && is_acquire(last) {
                    all.push((read, last));
                }
            }
        }
        all
    }

    /// `None` if the execution is not consistent, otherwise whether it has a race.
    fn judge(&self, coherence: &Matrix, sc: &Matrix) -> Option<bool> {
        let size = self.events.len();
        let all = || (0..size).flat_map(move |a| (0..size).map(move |b| (a, b)));
        if all().any(|(a, b)| {
            self.is_write(a)
                && self.is_write(b)
                && self.morally_strong(a, b)
                && !coherence.has(a, b)
                && !coherence.has(b, a)
        }) || sc.has_cycle()
        {
            return None;
        }
        let reads = Matrix::of(size, |write, read| self.from.get(&read) == Some(&write));
        let later =
            Matrix::of(size, |read, write| self.from.get(&read).is_some_and(|from| coherence.has(*from, write)));
        let observed = self.observation();
        let base = self.base_causality(sc, &observed);
        let preserved = Matrix::of(size, |a, b| self.is_preserved(&base, a, b));
        let mut causality = observed.then(&preserved);
        all().filter(|(a, b)| preserved.has(*a, *b)).for_each(|(a, b)| causality.set(a, b));
        // Coherence.
        let is_broken = |(a, b): (usize, usize)| {
            a != b
                && self.is_write(a)
                && self.is_write(b)
                && causality.has(a, b)
                && self.overlap(a, b)
                && !coherence.has(a, b)
        };
        // Fence-SC; causality.
        let contradicts = |order: &Matrix, by: &Matrix| all().any(|(a, b)| order.has(a, b) && by.has(b, a));
        if all().any(is_broken)
            || contradicts(sc, &base)
            || contradicts(&reads, &causality)
            || contradicts(&later, &causality)
        {
            return None;
        }
        // Atomicity: nothing comes between.
        for write in 0..size {
            if let Some(read) = self.events[write].read.filter(|_| self.happens[write]) {
                let between = |other: usize| {
                    later.has(read, other)
                        && coherence.has(other, write)
                        && self.morally_strong(read, other)
                        && self.morally_strong(other, write)
                };
                if (0..size).any(between) {
                    return None;
                }
            }
        }
        // No thin air.
        let dependent =
            Matrix::of(size, |a, b| reads.has(a, b) || self.events[b].read == Some(a) || self.stores_loaded(a, b));
        // SC for each location: program order between accesses of one address, and strong communication.
        let located = Matrix::of(size, |a, b| {
            let communicates = reads.has(a, b) || coherence.has(a, b) || later.has(a, b);
            self.before(a, b) && self.same_address(a, b) || communicates && self.morally_strong(a, b)
        });
        if dependent.has_cycle() || located.has_cycle() {
            return None;
        }
        Some(all().any(|(a, b)| self.is_race(&causality, a, b)))
    }

    fn stores_loaded(&self, read: usize, write: usize) -> bool {
        let event = &self.events[write];
        event.kind == Kind::Write
            && event.atomic.is_none()
            && matches!(event.stored, Stored::LastLoaded)
            && event.thread.is_some()
            && last_read(self.events, write) == Some(read)
    }

    fn same_address(&self, a: usize, b: usize) -> bool {
        self.overlap(a, b) && self.events[a].aliased == self.events[b].aliased
    }

    /// Morally strong reading, or that of an atomic operation that observed the write in its turn.
    fn observation(&self) -> Matrix {
        let size = self.events.len();
        let mut all =
            Matrix::of(size, |write, read| self.from.get(&read) == Some(&write) && self.morally_strong(write, read));
        loop {
            let before = all.0.clone();
            for write in 0..size {
                for atomic in (0..size).filter(|at| self.is_write(*at)) {
                    let Some(read) = self.events[atomic].read else { continue };
                    if all.has(write, read) {
                        all.0[write] |= all.0[atomic];
                    }
                }
            }
            if all.0 == before {
                return all;
            }
        }
    }

    fn base_causality(&self, sc: &Matrix, observed: &Matrix) -> Matrix {
        let size = self.events.len();
        let mut base = Matrix::of(size, |a, b| {
            let meet = match (self.events[a].kind, self.events[b].kind) {
                (Kind::Barrier(one), Kind::Barrier(other)) => a != b && one == other && self.same_block(a, b),
                _ => false,
            };
            self.before(a, b) || sc.has(a, b) || meet
        });
        for (first, write) in self.releases() {
            for (read, last) in self.acquires() {
                if observed.has(write, read) && self.morally_strong(first, last) {
                    base.set(first, last);
                }
            }
        }
        base.closed()
    }

    /// Whether base causality between two accesses counts, for their proxies and addresses.
    fn is_preserved(&self, base: &Matrix, a: usize, b: usize) -> bool {
        if !self.overlap(a, b) || a == b {
            return false;
        }
        let (one, other) = (&self.events[a], &self.events[b]);
        if one.thread.is_none() {
            return other.thread.is_some();
        }
        if !base.has(a, b) {
            return false;
        }
        let size = self.events.len();
        let is_fence = |at: usize, proxy: Option<Proxy>| self.events[at].kind == Kind::ProxyFence(proxy);
        if one.proxy == other.proxy && one.proxy != Proxy::Generic && self.same_block(a, b) && self.same_address(a, b) {
            return true;
        }
        // Where the way of the first into the generic proxy ends, and that of the second begins.
        let from: Vec<usize> = match one.proxy {
            Proxy::Generic => vec![a],
            proxy => (0..size)
                .filter(|at| is_fence(*at, Some(proxy)) && base.has(a, *at) && self.same_block(a, *at))
                .collect(),
        };
        let to: Vec<usize> = match other.proxy {
            Proxy::Generic => vec![b],
            proxy => (0..size)
                .filter(|at| is_fence(*at, Some(proxy)) && base.has(*at, b) && self.same_block(*at, b))
                .collect(),
        };
        let aliases: Vec<usize> = (0..size).filter(|at| is_fence(*at, None)).collect();
        let is_way = |x: usize, y: usize| {
            self.same_address(a, b) && base.has(x, y)
                || aliases.iter().any(|fence| base.has(x, *fence) && base.has(*fence, y))
        };
        from.iter().any(|x| to.iter().any(|y| is_way(*x, *y)))
    }

    fn is_race(&self, causality: &Matrix, a: usize, b: usize) -> bool {
        let writes = |at: usize| self.events[at].kind == Kind::Write || self.events[at].atomic.is_some();
        let one_operation = self.events[a].read == Some(b) || self.events[b].read == Some(a);
        a != b
            && self.overlap(a, b)
            && (writes(a) || writes(b))
            && !one_operation
            && self.events[a].thread.is_some()
            && self.events[b].thread.is_some()
            && !self.morally_strong(a, b)
            && !causality.has(a, b)
            && !causality.has(b, a)
    }
}

/// The load before a store in its thread: an atomic operation loads, too.
fn last_read(events: &[Event], write: usize) -> Option<usize> {
    (0..write).rev().find(|at| events[*at].kind == Kind::Read && events[*at].thread == events[write].thread)
}
