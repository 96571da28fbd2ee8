//! Vector clocks, compressed along the thread hierarchy.
//!
//! A clock maps each thread to a time. Here it is the largest of three floors: that of the thread's
//! block, of its warp, and its own. The join of two clocks is the join of each floor, so nothing is
//! lost; a block barrier leaves one number a thread, a warp barrier two, and only a thread that
//! synchronised with single others carries a list, which those that synchronised together share.
//! These are the paper's formats (converged, diverged, sparse), without its reconvergence stack.

use super::{Reach, Space};
use std::cmp::Ordering::{Equal, Greater, Less};
use std::ops::Range;
use std::rc::Rc;

/// Threads, warps and blocks of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Threads a block.
    pub(crate) block: u32,
    /// Warps a block.
    pub(crate) warps: u32,
    /// Threads of the launch. From here on are the numbers of their agents, then those of single bulk copies.
    pub(crate) threads: u32,
    /// Blocks of the grid on the first two axes.
    pub(crate) grid: [u32; 2],
    /// Blocks of a cluster on each axis.
    pub(crate) cluster: [u32; 3],
}

/// What goes on beside a thread and that the thread waits for in the order in which it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// `cp.async`
    Copies,
    /// What bulk copies of its groups read.
    BulkReads,
    /// What bulk copies of its groups write.
    BulkWrites,
    /// What products of matrices of its warp read.
    Products,
    /// `tcgen05.ld`
    TensorLoads,
    /// `tcgen05.st`
    TensorStores,
    /// `tcgen05.mma`, `tcgen05.cp`, `tcgen05.commit`
    Tensor,
    /// No accesses: which of these were started before a fence.
    TensorStarts,
}

/// How many agents a thread has.
pub(super) const AGENTS: u32 = 8;

/// Floors of which each is looked up by itself.
const FEW: usize = 8;

/// A sorted list of floors.
type Floors = Vec<(u32, u32)>;

/// Times of other threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// By block.
    pub(crate) blocks: Floors,
    /// By warp of the launch.
    pub(crate) warps: Floors,
    /// By thread of the launch, or agent of one.
    pub(crate) threads: Floors,
    /// Phases of barrier objects that are known to be complete, by the number of the object.
    pub(crate) objects: Floors,
    /// What is known to be before what goes through the asynchronous proxy: to shared and to global memory.
    fenced: [Option<Rc<Clock>>; 2],
    /// The same to parts: the shared memory of one block of a cluster, a tensor map.
    fenced_parts: Vec<(Space, Rc<Clock>)>,
    /// Agents whose operations on tensor memory a fence has put before what threads do behind an execution barrier.
    pub(super) tensor: Floors,
    /// What is known to be earlier in time, though not before in causality order. Only `sync` asks, and keeps it.
    pub(crate) told: Option<Rc<Clock>>,
}

pub(super) fn floor(floors: &Floors, key: u32) -> u32 {
    floors.binary_search_by_key(&key, |(key, _)| *key).map_or(0, |index| floors[index].1)
}

fn raise(floors: &mut Floors, key: u32, time: u32) {
    match floors.binary_search_by_key(&key, |(key, _)| *key) {
        Ok(index) => floors[index].1 = floors[index].1.max(time),
        Err(_) if time == 0 => {}
        Err(index) => floors.insert(index, (key, time)),
    }
}

fn join_floors(into: &mut Floors, from: &Floors) {
    if into.is_empty() {
        into.clone_from(from);
        return;
    }
    if from.len() < FEW {
        return from.iter().for_each(|(key, time)| raise(into, *key, *time));
    }
    let mut joined = Vec::with_capacity(into.len().max(from.len()));
    let (mut left, mut right) = (into.iter().peekable(), from.iter().peekable());
    while let (Some((a, time)), Some((b, other))) = (left.peek(), right.peek()) {
        joined.push(match a.cmp(b) {
            Less => (*a, *time),
            Equal => (*a, *time.max(other)),
            Greater => (*b, *other),
        });
        let (first, second) = (a <= b, b <= a);
        left.next_if(|_| first);
        right.next_if(|_| second);
    }
    joined.extend(left.chain(right));
    *into = joined;
}

impl Clock {
    /// The later of both, for each thread.
    pub(crate) fn join(&mut self, other: &Clock) {
        join_floors(&mut self.blocks, &other.blocks);
        join_floors(&mut self.warps, &other.warps);
        join_floors(&mut self.threads, &other.threads);
        join_floors(&mut self.objects, &other.objects);
        join_floors(&mut self.tensor, &other.tensor);
        for (mine, other) in self.fenced.iter_mut().zip(&other.fenced) {
            join(mine, other.as_ref());
        }
        for (part, other) in &other.fenced_parts {
            self.fence_part(*part, other);
        }
        join(&mut self.told, other.told.as_ref());
    }

    /// All that a clock says is before what goes through another proxy to a part of memory.
    fn fence_part(&mut self, part: Space, known: &Rc<Clock>) {
        match self.fenced_parts.iter_mut().find(|(other, _)| *other == part) {
            Some((_, mine)) if Rc::ptr_eq(mine, known) => {}
            Some((_, mine)) => Rc::make_mut(mine).join(known),
            None => self.fenced_parts.push((part, known.clone())),
        }
    }

    /// What is known to be before what goes through another proxy to a space, in pieces.
    pub(super) fn fenced(&self, space: Space) -> impl Iterator<Item = &Clock> {
        let [shared, global] = &self.fenced;
        let whole = match space {
            Space::Global => global,
            Space::Shared | Space::SharedOf(_) => shared,
            Space::Map { .. } | Space::Tensor => &None,
        };
        let of_part = self.fenced_parts.iter().filter(move |(other, _)| *other == space).map(|(_, known)| known);
        whole.iter().chain(of_part).map(|known| &**known)
    }

    /// The same without what is known of proxies and of order in time.
    fn bare(self) -> Clock {
        Clock { fenced: Default::default(), fenced_parts: Vec::new(), tensor: Vec::new(), told: None, ..self }
    }

    /// What a clock says is earlier in time.
    pub(crate) fn hear(&mut self, known: &Clock) {
        join_floors(&mut self.tensor, &known.tensor);
        let bare = known.clone().bare();
        join(&mut self.told, known.told.as_ref());
        join(&mut self.told, Some(&Rc::new(bare)));
    }

    /// The phases of a barrier object before this one are known to be complete.
    pub(crate) fn know_phases(&mut self, object: u32, phases: u32) {
        raise(&mut self.objects, object, phases);
    }

    /// What an agent of a thread started up to a time is known.
    pub(crate) fn know_agent(&mut self, agent: u32, time: u32) {
        raise(&mut self.threads, agent, time);
    }
}

/// The later of both; what they share is not copied.
pub(crate) fn join(into: &mut Option<Rc<Clock>>, from: Option<&Rc<Clock>>) {
    match (into.as_mut(), from) {
        (_, None) => {}
        (None, Some(from)) => *into = Some(from.clone()),
        (Some(mine), Some(from)) if Rc::ptr_eq(mine, from) => {}
        (Some(mine), Some(from)) => Rc::make_mut(mine).join(from),
    }
}

/// What a thread knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadClock {
    /// Its own time: that of its next access.
    pub(crate) epoch: u32,
    /// Floor of its block.
    pub(crate) block: u32,
    /// Floor of its warp.
    pub(crate) warp: u32,
    /// Floors of its own agents: the operations that it waited for.
    pub(crate) agents: [u32; AGENTS as usize],
    /// Everything else, shared with those that know the same.
    pub(crate) others: Option<Rc<Clock>>,
    /// Agents whose operations on tensor memory are before its next ones, by its last fence.
    pub(crate) ready: Option<Rc<Vec<(u32, u32)>>>,
}

impl ThreadClock {
    /// What these agents started up to a time is known.
    pub(crate) fn know_agents(&mut self, agents: impl Iterator<Item = u32>, time: u32) {
        let others = Rc::make_mut(self.others.get_or_insert_default());
        agents.for_each(|agent| others.know_agent(agent, time));
    }
}

/// What a thread knew, and what it knew when it had learnt something.
pub(crate) type Alike = Option<(Rc<Clock>, Rc<Clock>)>;

impl Shape {
    /// The reaches that differ here, narrow ones first.
    pub(super) fn reaches(&self) -> &'static [Reach] {
        match self.cluster {
            [1, 1, 1] => &[Reach::Block, Reach::Device],
            _ => &[Reach::Block, Reach::Cluster, Reach::Device],
        }
    }

    /// The group of a thread that scopes of this reach have: the same number for all threads of one group.
    pub(super) fn group(&self, reach: Reach, thread: u32) -> u32 {
        let block = self.block_of(thread);
        match reach {
            Reach::Block => block,
            Reach::Device => 0,
            Reach::Cluster => {
                let [wide, high] = self.grid;
                let [x, y, z] = [block % wide, block / wide % high, block / wide / high];
                let [own_x, own_y, own_z] = self.cluster;
                x / own_x + wide * (y / own_y + high * (z / own_z))
            }
        }
    }

    /// Whether scopes of this reach have both threads.
    pub(super) fn is_within(&self, reach: Reach, one: u32, other: u32) -> bool {
        self.group(reach, one) == self.group(reach, other)
    }

    /// An agent of a thread.
    pub(crate) fn agent_of(&self, thread: u32, agent: Agent) -> u32 {
        thread.wrapping_add(self.threads.wrapping_mul(1 + agent as u32))
    }

    /// The number of a bulk copy that a barrier object tells of.
    pub(super) fn copy(&self, index: u32) -> u32 {
        index.wrapping_add(self.threads.wrapping_mul(1 + AGENTS))
    }

    /// Which bulk copy it is, if it is one.
    pub(super) fn index_of_copy(&self, number: u32) -> Option<u32> {
        // Launches of so many threads that there are no numbers for agents have none.
        number.checked_sub(self.threads.checked_mul(1 + AGENTS)?)
    }

    /// The agents of a thread with their floors.
    fn agents<'c>(&'c self, thread: u32, clock: &'c ThreadClock) -> impl Iterator<Item = (u32, u32)> + 'c {
        // Those of products are known like the agents of others.
        let agents = [Agent::Copies, Agent::BulkReads, Agent::BulkWrites, Agent::TensorLoads, Agent::TensorStores];
        let floors = agents.into_iter().map(|agent| (agent, clock.agents[agent as usize]));
        floors.filter(|(_, floor)| *floor > 0).map(move |(agent, floor)| (self.agent_of(thread, agent), floor))
    }

    /// Which agent of its thread it is, if it is one.
    pub(super) fn agent(&self, number: u32) -> Option<usize> {
        (number >= self.threads).then(|| (number / self.threads - 1) as usize)
    }

    /// Whether it accesses memory through the asynchronous proxy, as all do but threads, `cp.async` and `st.async` (of which the
    /// detector knows).
    pub(super) fn is_bulk(&self, number: u32) -> bool {
        number >= self.threads.saturating_mul(2 + Agent::Copies as u32)
    }

    /// The thread itself, or the one whose agent it is.
    pub(super) fn issuer(&self, thread: u32) -> u32 {
        if thread < self.threads { thread } else { thread % self.threads }
    }

    /// The block of a thread.
    pub(crate) fn block_of(&self, thread: u32) -> u32 {
        self.issuer(thread) / self.block
    }

    /// The warp of a thread, counted over the launch.
    pub(crate) fn warp_of(&self, thread: u32) -> u32 {
        let thread = self.issuer(thread);
        thread / self.block * self.warps + thread % self.block / 32
    }

    /// Whether two threads are of one block.
    pub(crate) fn same_block(&self, a: u32, b: u32) -> bool {
        self.block_of(a) == self.block_of(b)
    }

    /// Whether all threads of a range are of a thread's block.
    pub(crate) fn is_in_block_of(&self, range: Range<u32>, thread: u32) -> bool {
        let first = self.block_of(thread) * self.block;
        range.start >= first && range.end - first <= self.block
    }

    /// Everything that a thread knows, itself included.
    pub(crate) fn snapshot(&self, thread: u32, clock: &ThreadClock) -> Clock {
        let mut all = clock.others.as_deref().cloned().unwrap_or_default();
        raise(&mut all.blocks, self.block_of(thread), clock.block);
        raise(&mut all.warps, self.warp_of(thread), clock.warp);
        raise(&mut all.threads, thread, clock.epoch);
        for (agent, floor) in self.agents(thread, clock) {
            raise(&mut all.threads, agent, floor);
        }
        all
    }

    /// A proxy fence: what the thread knows is before what goes through the asynchronous proxy behind it.
    pub(crate) fn fence_proxy(&self, thread: u32, clock: &mut ThreadClock, spaces: &[Space]) {
        let known = Rc::new(self.snapshot(thread, clock).bare());
        clock.epoch += 1;
        let others = Rc::make_mut(clock.others.get_or_insert_default());
        for space in spaces {
            // What was fenced before is known now, and fenced again.
            match space {
                Space::Shared => others.fenced[0] = Some(known.clone()),
                Space::SharedOf(_) | Space::Map { .. } => others.fence_part(*space, &known),
                Space::Global => others.fenced[1] = Some(known.clone()),
                // It has fences of its own.
                Space::Tensor => {}
            }
        }
    }

    /// The agents that a thread knows of.
    fn known_agents(&self, thread: u32, clock: &ThreadClock) -> Floors {
        let others = clock.others.iter().flat_map(|known| &known.threads);
        let mut all: Floors = others.filter(|(number, _)| *number >= self.threads).copied().collect();
        self.agents(thread, clock).for_each(|(agent, floor)| raise(&mut all, agent, floor));
        all
    }

    /// `tcgen05.fence::before_thread_sync`: what the thread knows to be complete, and in which order it started the rest, goes with
    /// whatever tells others that it came here.
    pub(crate) fn publish_tensor(&self, thread: u32, clock: &mut ThreadClock, started: u32) {
        let mut known = self.known_agents(thread, clock);
        raise(&mut known, self.agent_of(thread, Agent::TensorStarts), started);
        let others = Rc::make_mut(clock.others.get_or_insert_default());
        join_floors(&mut others.tensor, &known);
    }

    /// `tcgen05.fence::after_thread_sync`: what the thread was told is before what it does next.
    pub(crate) fn await_tensor(&self, thread: u32, clock: &mut ThreadClock) {
        let mut known = self.known_agents(thread, clock);
        if let Some(others) = &clock.others {
            join_floors(&mut known, &others.tensor);
        }
        join_floors(Rc::make_mut(clock.ready.get_or_insert_default()), &known);
    }

    /// What an arrival tells that comes when all is complete that an agent of a thread was given: that, what was complete before, and
    /// what barrier objects had said. What its thread did itself it does not tell.
    pub(crate) fn complete_tensor(&self, thread: u32, clock: &ThreadClock, last: u32) -> Clock {
        let others = clock.others.as_deref();
        let mut known = Clock {
            threads: self.known_agents(thread, clock),
            objects: others.map(|known| known.objects.clone()).unwrap_or_default(),
            tensor: others.map(|known| known.tensor.clone()).unwrap_or_default(),
            ..Clock::default()
        };
        let agent = self.agent_of(thread, Agent::Tensor);
        known.know_agent(agent, last);
        let complete = known.threads.clone();
        join_floors(&mut known.tensor, &complete);
        known
    }

    /// A thread learns what a clock says.
    pub(crate) fn learn(&self, thread: u32, clock: &mut ThreadClock, known: &Rc<Clock>) {
        clock.block = clock.block.max(floor(&known.blocks, self.block_of(thread)));
        clock.warp = clock.warp.max(floor(&known.warps, self.warp_of(thread)));
        join(&mut clock.others, Some(known));
    }

    /// A thread learns that what a clock says is earlier in time, and nothing more.
    pub(crate) fn hear(&self, clock: &mut ThreadClock, known: &Clock) {
        Rc::make_mut(clock.others.get_or_insert_default()).hear(known);
    }

    /// The same for one of many threads that learn it. `done`: what one before knew, and knew then.
    pub(crate) fn learn_alike(&self, thread: u32, clock: &mut ThreadClock, known: &Rc<Clock>, done: &mut Alike) {
        match (&*done, &clock.others) {
            (Some((before, after)), Some(mine)) if Rc::ptr_eq(before, mine) => {
                clock.block = clock.block.max(floor(&known.blocks, self.block_of(thread)));
                clock.warp = clock.warp.max(floor(&known.warps, self.warp_of(thread)));
                clock.others = Some(after.clone());
            }
            _ => {
                let before = clock.others.clone();
                self.learn(thread, clock, known);
                *done = before.zip(clock.others.clone());
            }
        }
    }

    /// A thread tells a clock what it knows, itself included. `last`: what the one before knew of others.
    pub(crate) fn tell(&self, thread: u32, clock: &ThreadClock, all: &mut Clock, last: &mut Option<Rc<Clock>>) {
        if let Some(others) = &clock.others
            && !last.as_ref().is_some_and(|last| Rc::ptr_eq(last, others))
        {
            all.join(others);
            *last = Some(others.clone());
        }
        raise(&mut all.blocks, self.block_of(thread), clock.block);
        raise(&mut all.warps, self.warp_of(thread), clock.warp);
        raise(&mut all.threads, thread, clock.epoch);
        for (agent, floor) in self.agents(thread, clock) {
            raise(&mut all.threads, agent, floor);
        }
    }

    /// All threads of a block synchronise, from this one on.
    pub(crate) fn join_block(&self, first: u32, clocks: &mut [&mut ThreadClock]) {
        let latest = clocks.iter().map(|clock| clock.epoch).max().unwrap_or(0);
        let mut joined: Option<Rc<Clock>> = None;
        for clock in clocks.iter() {
            join(&mut joined, clock.others.as_ref());
        }
        let agents = (first..).zip(clocks.iter()).flat_map(|(thread, clock)| self.agents(thread, clock));
        let mut agents: Floors = agents.collect();
        agents.sort_unstable();
        if !agents.is_empty() {
            join_floors(&mut Rc::make_mut(joined.get_or_insert_default()).threads, &agents);
        }
        for clock in clocks {
            clock.block = latest;
            clock.epoch = latest + 1;
            clock.others.clone_from(&joined);
        }
    }

    /// Some threads synchronise: what `contributors` did is before what those among them that
    /// `wait` do next. Threads are given with their clocks, in order of their numbers.
    pub(crate) fn join_some(&self, contributors: &mut [(u32, &mut ThreadClock, bool)]) {
        let mut joined = Clock::default();
        let mut last: Option<Rc<Clock>> = None;
        let mut at = 0;
        while at < contributors.len() {
            let warp = self.warp_of(contributors[at].0);
            let length = contributors[at..].iter().take_while(|(thread, ..)| self.warp_of(*thread) == warp).count();
            let group = &mut contributors[at..at + length];
            let latest = group.iter().map(|(_, clock, _)| clock.epoch).max().unwrap_or(0);
            let whole = length as u32 == self.lanes(group[0].0);
            for (thread, clock, _) in group.iter_mut() {
                if whole {
                    // The floor of the warp says it.
                    let silent = ThreadClock { epoch: 0, ..(**clock).clone() };
                    self.tell(*thread, &silent, &mut joined, &mut last);
                    clock.epoch = latest;
                } else {
                    self.tell(*thread, clock, &mut joined, &mut last);
                }
                clock.epoch += 1;
            }
            if whole {
                raise(&mut joined.warps, warp, latest);
            }
            at += length;
        }
        let joined = Rc::new(joined);
        for (thread, clock, waits) in contributors {
            if *waits {
                clock.block = clock.block.max(floor(&joined.blocks, self.block_of(*thread)));
                clock.warp = clock.warp.max(floor(&joined.warps, self.warp_of(*thread)));
                clock.others = Some(joined.clone());
            }
        }
    }

    /// Threads of the warp of a thread.
    fn lanes(&self, thread: u32) -> u32 {
        let first = thread % self.block / 32 * 32;
        (self.block - first).min(32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::races::order::Later;
    use crate::exec::values::hash;

    /// The same with a full vector a thread.
    struct Full {
        of: Vec<Vec<u32>>,
    }

    impl Full {
        fn join(&mut self, members: &[usize], waiting: &[usize]) {
            let mut all = vec![0; self.of.len()];
            for member in members {
                for (into, from) in all.iter_mut().zip(&self.of[*member]) {
                    *into = (*into).max(*from);
                }
            }
            for member in members {
                self.of[*member][*member] += 1;
            }
            for member in waiting {
                let own = self.of[*member][*member];
                self.of[*member].clone_from(&all);
                self.of[*member][*member] = own;
            }
        }
    }

    /// Compression changes no answer: after random synchronisations, the same accesses are ordered.
    #[test]
    fn agrees_with_full_clocks() {
        let shape = Shape { block: 48, warps: 2, threads: 96, grid: [2, 1], cluster: [1; 3] };
        for seed in 0..60 {
            let count = 96;
            let mut full = Full { of: (0..count).map(|t| (0..count).map(|u| u32::from(t == u)).collect()).collect() };
            let mut compressed: Vec<ThreadClock> = vec![ThreadClock { epoch: 1, ..Default::default() }; count];
            // Accesses as (thread, time in each of both).
            let mut accesses: Vec<(usize, u32, u32)> = Vec::new();
            for step in 0..40 {
                let random = |salt: u64| hash(seed * 1000 + step, salt);
                for (thread, clock) in compressed.iter().enumerate() {
                    if random(thread as u64 + 100).is_multiple_of(7) {
                        accesses.push((thread, full.of[thread][thread], clock.epoch));
                    }
                }
                let block = (random(1) % 2) as usize * 48;
                match random(2) % 4 {
                    0 => {
                        let members: Vec<usize> = (block..block + 48).collect();
                        full.join(&members, &members);
                        shape.join_block(
                            block as u32,
                            &mut compressed[block..block + 48].iter_mut().collect::<Vec<_>>(),
                        );
                    }
                    1 => {
                        let warp = if random(3) % 2 == 0 { block..block + 32 } else { block + 32..block + 48 };
                        let members: Vec<usize> = warp.filter(|t| random(4) % 3 > 0 || *t % 3 > 0).collect();
                        full.join(&members, &members);
                        let mut parts: Vec<(u32, &mut ThreadClock, bool)> = Vec::new();
                        for (thread, clock) in compressed.iter_mut().enumerate() {
                            if members.contains(&thread) {
                                parts.push((thread as u32, clock, true));
                            }
                        }
                        shape.join_some(&mut parts);
                    }
                    _ => {
                        let (from, to) = (random(5) as usize % count, random(6) as usize % count);
                        if from != to {
                            let known = full.of[from].clone();
                            full.of[from][from] += 1;
                            for (into, time) in full.of[to].iter_mut().zip(&known) {
                                *into = (*into).max(*time);
                            }
                            let known = Rc::new(shape.snapshot(from as u32, &compressed[from]));
                            compressed[from].epoch += 1;
                            shape.learn(to as u32, &mut compressed[to], &known);
                        }
                    }
                }
            }
            for (thread, time, compressed_time) in accesses {
                for other in (0..count).filter(|other| *other != thread) {
                    let expected = time <= full.of[other][thread];
                    let later =
                        Later { shape, copies: &[], thread: other as u32, clock: &compressed[other], proxy: None };
                    let got = later.is_after(thread as u32, compressed_time);
                    assert_eq!(expected, got, "seed {seed}: {thread} at {time} before {other}");
                }
            }
        }
    }
}
