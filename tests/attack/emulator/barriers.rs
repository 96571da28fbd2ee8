//! Barriers, and the order that they give to accesses.
//!
//! Barriers of the whole block cut its run into phases. A kernel with other barriers (a count,
//! `.arrive`, `bar.warp.sync`) gets vector clocks instead: a barrier orders what its participants did
//! before with what those that waited do after.

use super::World;
use super::memory::Access;
use super::thread::{Status, Thread};
use super::values::mask;
use gpuvcc::ptx::ast::{BarrierKind, Instruction, Item, Module, Op, Operand};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A thread's arrival at a barrier.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// Function, item and PTX line.
    pub site: (usize, usize, u32),
    /// Number of the barrier; that of a warp follows those of the block.
    pub barrier: u32,
    /// Threads that it waits for; `None`: all of the block.
    pub count: Option<u32>,
    /// Whether all threads must come to this very instruction.
    pub aligned: bool,
    /// The thread's predicate in a reduction.
    pub vote: bool,
    /// Operation and destination of a reduction.
    pub reduction: Option<(Arc<str>, Operand)>,
}

impl Eq for Arrival {}

/// What orders the accesses of a block.
#[derive(Debug)]
pub enum Order {
    /// Barriers of the whole block so far.
    Phases(u32),
    /// Clocks of each thread, and of those that arrived at a barrier without waiting.
    Clocks {
        /// `of[t][u]`: the accesses of thread `u` with a smaller epoch happened before what `t` does next.
        of: Vec<Vec<u32>>,
        /// By barrier: the clocks at each `.arrive`.
        arrived: BTreeMap<u32, Vec<Vec<u32>>>,
    },
}

impl Order {
    /// The order of a block before its first barrier.
    pub fn new(module: &Module, block: [u32; 3]) -> Self {
        let items = module.functions.iter().flat_map(|function| &function.body).flat_map(|body| &body.items);
        let partial = items.into_iter().any(|item| {
            let Item::Instruction(Instruction { op, .. }) = item else { return false };
            matches!(op, Op::WarpBarrier { .. } | Op::Barrier { kind: BarrierKind::Arrive, .. })
                || matches!(op, Op::Barrier { count: Some(_), .. })
                || matches!(op, Op::Barrier { id: Operand::Register(_), .. })
        });
        if !partial {
            return Order::Phases(0);
        }
        let count = block.iter().product::<u32>() as usize;
        let clock = |thread| (0..count).map(|other| u32::from(other == thread)).collect();
        Order::Clocks { of: (0..count).map(clock).collect(), arrived: BTreeMap::new() }
    }

    /// The epoch of the next access of a thread.
    pub fn epoch(&self, thread: u32) -> u32 {
        match self {
            Order::Phases(phase) => *phase,
            Order::Clocks { of, .. } => of[thread as usize][thread as usize],
        }
    }

    /// Whether nothing orders an earlier access of the same block before the next one of a thread.
    pub fn unordered(&self, earlier: &Access, thread: u32) -> bool {
        let in_block = |thread: u32| (thread & 1023) as usize;
        match self {
            Order::Phases(phase) => earlier.epoch == *phase,
            Order::Clocks { of, .. } => earlier.epoch >= of[in_block(thread)][in_block(earlier.thread)],
        }
    }
}

/// A thread comes to a barrier; `None` without a model.
pub fn arrive(thread: &mut Thread<'_>, world: &mut World<'_>, instruction: &Instruction) -> Option<()> {
    let frame = thread.frame();
    let site = (frame.function, frame.next, instruction.origin.line);
    let arrival = match &instruction.op {
        Op::WarpBarrier { mask: members } => {
            let members = (thread.value(members, world)? & mask(32)) as u32;
            let first = thread.linear & !31;
            let size = world.launch.block.iter().product::<u32>();
            let present = (0..32).filter(|lane| members >> lane & 1 == 1 && first + lane < size).count();
            let count = Some(present as u32);
            let barrier = 16 + thread.linear / 32;
            Arrival { site, barrier, count, aligned: false, vote: false, reduction: None }
        }
        Op::Barrier { kind, aligned, id, count } => {
            let count = match count {
                Some(count) => Some((thread.value(count, world)? & mask(32)) as u32),
                None => None,
            };
            let (vote, reduction) = match kind {
                BarrierKind::Reduce { operation, dst, predicate } => {
                    (thread.value(predicate, world)? & 1 == 1, Some((operation.clone(), dst.clone())))
                }
                BarrierKind::Sync | BarrierKind::Arrive => (false, None),
            };
            let barrier = (thread.value(id, world)? & 15) as u32;
            Arrival { site, barrier, count, aligned: *aligned, vote, reduction }
        }
        _ => return None,
    };
    if let (Op::Barrier { kind: BarrierKind::Arrive, .. }, Order::Clocks { of, arrived }) =
        (&instruction.op, &mut world.order)
    {
        let clock = &mut of[thread.linear as usize];
        clock[thread.linear as usize] += 1;
        arrived.entry(arrival.barrier).or_default().push(clock.clone());
    } else {
        thread.status = Status::Waiting(arrival);
    }
    Some(())
}

/// Lets waiting threads pass their barrier; false when the block is done.
pub fn release(world: &mut World<'_>, threads: &mut [Thread<'_>]) -> bool {
    for thread in &*threads {
        if let Status::Stopped(reason) = &thread.status {
            world.outcome.stopped.insert(reason.clone());
            return false;
        }
    }
    match world.order {
        Order::Phases(_) => release_all(world, threads),
        Order::Clocks { .. } => release_groups(world, threads),
    }
}

/// All threads of the block must wait at one instruction.
fn release_all(world: &mut World<'_>, threads: &mut [Thread<'_>]) -> bool {
    let arrivals: Vec<Option<Arrival>> = threads.iter().map(|thread| thread.arrival()).collect();
    let Some(first) = arrivals.iter().flatten().next().cloned() else { return false };
    if arrivals.iter().any(|arrival| arrival.as_ref().is_none_or(|arrival| arrival.site != first.site)) {
        // An aligned barrier wants all threads of the block at one instruction.
        let aligned = arrivals.iter().flatten().filter(|arrival| arrival.aligned);
        world.outcome.divergences.extend(aligned.map(|arrival| arrival.site.2));
        if arrivals.iter().flatten().any(|arrival| !arrival.aligned) {
            world.outcome.stopped.insert("threads at different barriers without .aligned".to_string());
        }
        return false;
    }
    let votes = arrivals.iter().flatten().filter(|arrival| arrival.vote).count();
    let all = arrivals.len();
    for thread in threads {
        thread.pass_barrier(votes, all);
    }
    if let Order::Phases(phase) = &mut world.order {
        *phase += 1;
    }
    world.shared_shadow.forget();
    true
}

/// Each barrier that has its count lets its threads pass. Threads for which no barrier is complete
/// wait for ever, which ends the run of the block.
fn release_groups(world: &mut World<'_>, threads: &mut [Thread<'_>]) -> bool {
    let Order::Clocks { of, arrived } = &mut world.order else { return false };
    let mut groups: BTreeMap<u32, Vec<(usize, Arrival)>> = BTreeMap::new();
    for (index, thread) in threads.iter().enumerate() {
        if let Some(arrival) = thread.arrival() {
            groups.entry(arrival.barrier).or_default().push((index, arrival));
        }
    }
    let mut released = false;
    for (barrier, members) in &groups {
        let needed = members.iter().map(|(_, arrival)| arrival.count.map_or(threads.len(), |count| count as usize));
        let contributions = arrived.get(barrier).map_or(0, Vec::len);
        let waiting = needed.max().unwrap_or(0).saturating_sub(contributions).max(1);
        if members.len() < waiting {
            continue;
        }
        // Of more threads than it counts, the first warps came first: one legal order of many.
        let chosen = &members[..waiting];
        if diverged(chosen) {
            world.outcome.divergences.extend(chosen.iter().map(|(_, arrival)| arrival.site.2));
            return false;
        }
        released = true;
        let votes = chosen.iter().filter(|(_, arrival)| arrival.vote).count();
        let chosen: Vec<usize> = chosen.iter().map(|(index, _)| *index).collect();
        join(of, &chosen, &arrived.remove(barrier).unwrap_or_default());
        for index in &chosen {
            threads[*index].pass_barrier(votes, chosen.len());
        }
    }
    if !released && !groups.is_empty() {
        world.outcome.stopped.insert("threads wait at a barrier that is never complete".to_string());
    }
    released
}

/// Whether an aligned barrier of the whole block completes at several instructions.
fn diverged(members: &[(usize, Arrival)]) -> bool {
    let whole = members.iter().any(|(_, arrival)| arrival.count.is_none() && arrival.aligned);
    whole && members.iter().any(|(_, arrival)| arrival.site != members[0].1.site)
}

/// What any participant did is before what the waiting ones do next.
fn join(of: &mut [Vec<u32>], waiting: &[usize], arrived: &[Vec<u32>]) {
    for index in waiting {
        of[*index][*index] += 1;
    }
    let mut joined: Vec<u32> = vec![0; of.len()];
    for clock in waiting.iter().map(|index| &of[*index]).chain(arrived) {
        for (time, other) in joined.iter_mut().zip(clock) {
            *time = (*time).max(*other);
        }
    }
    for index in waiting {
        of[*index].clone_from(&joined);
    }
}
