//! Products of matrices that go on beside their warp group: `wgmma`.
//!
//! Input: `wgmma.mma_async`, `wgmma.commit_group`, `wgmma.wait_group` of each thread. Output: what is read of shared memory, and when
//! that ends. Establishes: a product reads, through the asynchronous proxy, exactly the bytes that its descriptors name, at some time
//! from its start on; who waits for its group knows that all warps of the group have read. Values are not computed.
//! How: all threads of a warp group start a product together, so `wait_group` waits until all of them have; to the detector the
//! first thread of each warp has an agent that reads for it, numbered by the products. That all threads execute the same
//! operations is checked when the block ends. Assumed, as CUTLASS does: one thread that has waited may tell for the warp group.
//! Where only barriers order (`sync`), who waits for a product also knows, in time, that its warp group has started it.
//! Accesses to the registers of products that are not complete are not looked for.
//! Reference: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": `wgmma.mma_async`, "Shared Memory Matrix Layout", "Matrix
//! Descriptor"; the canonical layouts are those of CUTLASS (`cute/atom/mma_traits_sm90_gmma.hpp`).

use super::access::{self, Target};
use super::agents;
use super::block::BlockState;
use super::decode::{Product, Program};
use super::moves::Wrong;
use super::objects::misused;
use super::outcome::{BarrierMisuse, Fault, FaultKind, Stop};
use super::races::Current;
use super::races::clock::{Agent, Clock, ThreadClock};
use super::thread::{Status, Thread};
use super::values::hash;
use super::world::World;
use crate::ptx::descriptor::{ADDRESS, Matrix, UNIT};
use std::ops::Range;

/// Threads of a warp group: four warps.
const THREADS: u32 = 128;

/// The products of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Products {
    /// How many were started.
    pub(super) started: u32,
    /// How many had been started when each group was committed.
    groups: Vec<u32>,
    /// The last of them.
    code: u32,
    /// The instructions, folded into a number.
    history: u64,
    /// The thread's times when it started them, if only barriers order.
    times: Vec<u32>,
}

/// A product starts; false if the thread does not go on by itself.
pub(crate) fn start(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let product = &program.products[index as usize];
    thread.products.started += 1;
    thread.products.code = thread.last();
    remember(thread);
    if world.barriers_only {
        // What the thread does next, those that wait for the product are not told.
        thread.products.times.push(thread.clock.epoch);
        thread.clock.epoch += 1;
    }
    // The first thread of a warp reads for it.
    if !(thread.place % block.size).is_multiple_of(32) {
        return true;
    }
    match reads(program, block, thread, product) {
        Ok(places) => {
            for place in places {
                if let Err(misuse) = block.admits(program, Target::Shared(place), UNIT as u32) {
                    return misused(world, (thread.number, thread.last()), misuse);
                }
                show(program, world, block, thread, place);
            }
            !world.halted && !world.switch_at_access
        }
        Err(Wrong::Fault(fault)) => thread.fault(world, fault),
        Err(Wrong::Misuse(misuse)) => misused(world, (thread.number, thread.last()), misuse),
        Err(Wrong::Refused(reason)) => thread.stop(world, Stop::Refused { code: thread.last(), reason }),
    }
}

/// Offsets in shared memory of the pieces of 16 bytes that a product reads.
fn reads(program: &Program, block: &BlockState, thread: &Thread, product: &Product) -> Result<Vec<u32>, Wrong> {
    let rank = thread.place / block.size;
    let place = (thread.number, thread.last());
    let mut all = Vec::new();
    for (descriptor, rows, is_transposed) in [product.a, Some(product.b)].into_iter().flatten() {
        let matrix = Matrix::of(thread.value(descriptor))
            .ok_or_else(|| Wrong::Refused("a matrix descriptor with a base offset".to_string()))?;
        let rows = u64::from(rows);
        let places = if is_transposed { matrix.along_mn(rows) } else { matrix.along_k(rows) };
        for behind in places {
            let address = matrix.start.wrapping_add(behind) & ADDRESS;
            match access::shared(program, rank, address, UNIT) {
                Some(Target::Shared(offset)) => all.push(offset),
                _ => {
                    let (kind, bytes) = (FaultKind::Bounds, UNIT as u32);
                    return Err(Fault { place, kind, address, dynamic: None, bytes, values: Vec::new() }.into());
                }
            }
        }
    }
    Ok(all)
}

/// The detector sees what the agent of the thread reads.
fn show(program: &Program, world: &mut World, block: &mut BlockState, thread: &Thread, place: u32) {
    let target = Target::Shared(place);
    if let Some(location) = target.location() {
        world.note(thread, Some(location), UNIT as u32);
    }
    if world.races {
        let agent = world.detector.shape.agent_of(thread.number, Agent::Products);
        let clock = &ThreadClock { epoch: thread.products.started, ..thread.clock.clone() };
        let current = Current { thread: agent, code: thread.last(), clock, same_value: false, map: None };
        agents::watch(program, world, block, thread, (target, UNIT as u32), current);
    }
}

/// The instruction is one of those that the whole warp group executes.
fn remember(thread: &mut Thread) {
    thread.products.history = hash(thread.products.history, u64::from(thread.last()));
}

/// `wgmma.commit_group`
pub(crate) fn commit(thread: &mut Thread) {
    let started = thread.products.started;
    thread.products.groups.push(started);
    remember(thread);
}

/// `wgmma.wait_group`: all but that many of the newest groups are complete. The thread waits until its warp group has started them.
pub(crate) fn wait(thread: &mut Thread, pending: u64) -> bool {
    remember(thread);
    let most = usize::try_from(pending).unwrap_or(usize::MAX);
    let groups = &thread.products.groups;
    let Some(last) = groups.len().checked_sub(most).and_then(|done| groups[..done].last().copied()) else {
        return true;
    };
    thread.status = Status::Products { last };
    false
}

/// Threads go on whose warp groups have started what they wait for.
pub(crate) fn wake(world: &World, block: &BlockState, threads: &mut [Thread]) {
    for index in 0..threads.len() {
        let Status::Products { last } = threads[index].status else { continue };
        let group = warp_group(block, index as u32);
        let has_started = |thread: &Thread| thread.status == Status::Exited || thread.products.started >= last;
        if !threads[group.clone()].iter().all(has_started) {
            continue;
        }
        let agents: Vec<u32> = threads[group.clone()].iter().step_by(32).map(|reader| reader.number).collect();
        let have_started = started_by(world, &threads[group], last);
        let thread = &mut threads[index];
        thread.status = Status::Running;
        if world.races {
            let agents = agents.into_iter().map(|number| world.detector.shape.agent_of(number, Agent::Products));
            thread.clock.know_agents(agents, last);
            if let Some(known) = have_started {
                world.detector.shape.hear(&mut thread.clock, &known);
            }
        }
    }
}

/// That the threads of a warp group have started a product, which is so before it is complete.
fn started_by(world: &World, group: &[Thread], last: u32) -> Option<Clock> {
    let index = last.checked_sub(1)? as usize;
    let mut known = Clock::default();
    for warp in group.chunks(32) {
        let times = warp.iter().map(|thread| thread.products.times.get(index).copied().unwrap_or(0));
        let number = world.detector.shape.warp_of(warp[0].number);
        known.warps.push((number, times.min().unwrap_or(0)));
    }
    world.barriers_only.then_some(known)
}

/// The threads of a thread's warp group.
pub(super) fn warp_group(block: &BlockState, place: u32) -> Range<usize> {
    let (rank, linear) = (place / block.size, place % block.size);
    let first = linear / THREADS * THREADS;
    let start = rank * block.size;
    (start + first) as usize..(start + block.size.min(first + THREADS)) as usize
}

/// The threads of a block have exited: those of each warp group have executed the same operations.
pub(crate) fn check_groups(world: &mut World, threads: &[Thread]) {
    for group in threads.chunks(THREADS as usize) {
        let Some(first) = group.iter().max_by_key(|thread| thread.products.started) else { continue };
        let differs = group.iter().any(|thread| thread.products.history != first.products.history);
        if differs || first.products.started > 0 && group.len() < THREADS as usize {
            misused(world, (first.number, first.products.code), BarrierMisuse::WarpGroup);
            return;
        }
    }
}
