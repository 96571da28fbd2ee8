//! What the threads of a warp do together: `bar.warp.sync`, `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`,
//! `setmaxnreg`.
//!
//! With a mask, a thread waits until all threads of it that have not exited wait at the same
//! operation with the same mask. Without one, those take part that come to the same instruction
//! before the whole warp waits.
//! Reference: PTX ISA, the instructions of these names. Only `bar.warp.sync` orders memory.

use super::block::join;
use super::decode::{Program, WarpKind, WarpOperation};
use super::objects::misused;
use super::outcome::{BarrierError, BarrierMisuse, Stop};
use super::thread::{Status, Thread};
use super::values::atomic::atomic;
use super::values::mask;
use super::world::World;
use crate::ptx::ast::ScalarType;

/// Threads of a warp group.
const WARP_GROUP: usize = 128;

/// Lets the threads of a warp go on whose operation is complete; whether there were any. `warp` is
/// the warp's number in the block.
pub(crate) fn release(program: &Program, world: &mut World, threads: &mut [Thread], warp: u32) -> bool {
    let first = warp as usize * 32;
    let last = (first + 32).min(threads.len());
    let lanes = &threads[first..last];
    if !lanes.iter().any(|thread| matches!(thread.status, Status::Warp { .. })) {
        return false;
    }
    let waits = |lane: usize| match lanes[lane].status {
        Status::Warp { index } => Some(index),
        _ => None,
    };
    let live =
        (0..lanes.len()).filter(|lane| lanes[*lane].status != Status::Exited).fold(0u32, |all, lane| all | 1 << lane);
    let idle = lanes.iter().all(|thread| thread.status != Status::Running);
    for lane in 0..lanes.len() {
        let Some(index) = waits(lane) else { continue };
        let operation = &program.warp_operations[index as usize];
        let members = match operation.mask {
            Some(slot) => {
                let members = lanes[lane].value(slot) as u32;
                if members >> lane & 1 == 0 {
                    let place = (lanes[lane].number, lanes[lane].last());
                    world.outcome.barrier_errors.push(BarrierError { place, kind: BarrierMisuse::NotMember });
                    world.outcome.stopped.insert(Stop::Defect);
                    world.halted = true;
                    return false;
                }
                let alike = |other: usize| {
                    waits(other).is_some_and(|index| {
                        let candidate = &program.warp_operations[index as usize];
                        let same = candidate.mask.map(|slot| lanes[other].value(slot) as u32);
                        candidate.kind == operation.kind && same == Some(members)
                    })
                };
                let present = members & live;
                let came = (0..lanes.len()).filter(|other| alike(*other)).fold(0u32, |all, other| all | 1 << other);
                if present & !came != 0 {
                    continue;
                }
                present
            }
            None if !idle => continue,
            None => {
                let here = lanes[lane].next;
                let alike = |other: &usize| waits(*other) == Some(index) && lanes[*other].next == here;
                (0..lanes.len()).filter(alike).fold(0u32, |all, other| all | 1 << other)
            }
        };
        complete(program, world, threads, first, members);
        return true;
    }
    false
}

/// Gives the members their results.
fn complete(program: &Program, world: &mut World, threads: &mut [Thread], first: usize, members: u32) {
    let lanes: Vec<u32> = (0..32).filter(|lane| members >> lane & 1 == 1).collect();
    let operation = |thread: &Thread| match thread.status {
        Status::Warp { index } => &program.warp_operations[index as usize],
        _ => panic!("exec: a member of a warp operation does not wait"),
    };
    let source = |lane: u32, position: usize| {
        let thread = &threads[first + lane as usize];
        thread.value(operation(thread).s[position])
    };
    let values: Vec<u64> = lanes.iter().map(|lane| source(*lane, 0)).collect();
    let mut results: Vec<[u64; 2]> = Vec::new();
    let mut open = false;
    for (position, lane) in lanes.iter().enumerate() {
        let operands = [values[position], source(*lane, 1), source(*lane, 2)];
        let kind = operation(&threads[first + *lane as usize]).kind;
        let result = match kind {
            WarpKind::ShuffleUp | WarpKind::ShuffleDown | WarpKind::ShuffleButterfly | WarpKind::ShuffleIndex => {
                let (from, inside) = shuffle(kind, *lane, operands[1], operands[2]);
                let found = lanes.iter().position(|other| *other == from);
                open |= found.is_none();
                [values[found.unwrap_or(position)] & mask(32), u64::from(inside)]
            }
            // "Which thread is elected" no text says, but that it is always the same one of a mask.
            WarpKind::Elect => {
                let elected = lanes[world.elected as usize % lanes.len()];
                [u64::from(elected), u64::from(elected == *lane)]
            }
            _ => collective(kind, &lanes, members, &values, operands[0]),
        };
        results.push(result);
    }
    world.outcome.arbitrary |= open;
    let mut orders = false;
    for (lane, result) in lanes.iter().zip(results) {
        let thread = &mut threads[first + *lane as usize];
        let WarpOperation { kind, d, .. } = operation(thread);
        orders |= *kind == WarpKind::Barrier;
        let adjusts = match *kind {
            WarpKind::Registers { more, count } => Some((more, count)),
            _ => None,
        };
        world.outcome.arbitrary |= *kind == WarpKind::ActiveMask;
        for (destination, value) in d.iter().zip(result) {
            if let Some((slot, bits)) = destination {
                thread.set(*slot, value & mask(u32::from(*bits)));
            }
        }
        if let Some((more, count)) = adjusts {
            thread.adjusted.push((more, count, thread.last()));
        }
        thread.status = Status::Running;
    }
    if orders && world.races {
        let members: Vec<u32> = lanes.iter().map(|lane| first as u32 + lane).collect();
        join(world, threads, &members);
    }
}

/// The threads of a block have exited: the warps of each warp group have executed the same `setmaxnreg` instructions.
pub(crate) fn check_groups(world: &mut World, threads: &[Thread]) {
    for group in threads.chunks(WARP_GROUP) {
        let most = group.iter().max_by_key(|thread| thread.adjusted.len());
        let Some(most) = most.filter(|thread| !thread.adjusted.is_empty()) else { continue };
        // Where it stands does not matter: warps of several roles may be of one warp group.
        let same = |(mine, theirs): &(&(bool, u32, u32), &(bool, u32, u32))| (mine.0, mine.1) == (theirs.0, theirs.1);
        let differ = |thread: &&Thread| {
            thread.adjusted.len() != most.adjusted.len()
                || !most.adjusted.iter().zip(&thread.adjusted).all(|pair| same(&pair))
        };
        if let Some(other) = group.iter().find(differ) {
            let at = most.adjusted.iter().zip(&other.adjusted).take_while(same).count();
            misused(world, (most.number, most.adjusted[at.min(most.adjusted.len() - 1)].2), BarrierMisuse::WarpGroup);
            return;
        }
    }
}

/// The lane that a shuffle reads, and whether it is in range.
fn shuffle(kind: WarpKind, lane: u32, b: u64, c: u64) -> (u32, bool) {
    let (b, clamp, segment) = (b as u32 & 31, c as u32 & 31, (c >> 8) as u32 & 31);
    let lowest = lane & segment;
    let limit = lowest | clamp & !segment;
    let (from, inside) = match kind {
        WarpKind::ShuffleUp => (lane.wrapping_sub(b), lane.cast_signed() - b.cast_signed() >= limit.cast_signed()),
        WarpKind::ShuffleDown => (lane + b, lane + b <= limit),
        WarpKind::ShuffleButterfly => (lane ^ b, lane ^ b <= limit),
        _ => {
            let from = lowest | b & !segment;
            (from, from <= limit)
        }
    };
    (if inside { from } else { lane }, inside)
}

fn collective(kind: WarpKind, lanes: &[u32], members: u32, values: &[u64], own: u64) -> [u64; 2] {
    let truths = values.iter().filter(|value| **value & 1 == 1).count();
    let alike = |bits: u8| {
        let same = lanes.iter().zip(values).filter(|(_, value)| (**value ^ own) & mask(u32::from(bits)) == 0);
        same.fold(0u64, |all, (lane, _)| all | 1 << lane)
    };
    match kind {
        WarpKind::VoteAll => [u64::from(truths == values.len()), 0],
        WarpKind::VoteAny => [u64::from(truths > 0), 0],
        WarpKind::VoteUniform => [u64::from(truths == 0 || truths == values.len()), 0],
        WarpKind::Ballot => {
            let set = lanes.iter().zip(values).filter(|(_, value)| **value & 1 == 1);
            [set.fold(0, |all, (lane, _)| all | 1 << lane), 0]
        }
        WarpKind::MatchAny { bits } => [alike(bits), 0],
        WarpKind::MatchAll { bits } => {
            let all = alike(bits) == u64::from(members);
            [if all { u64::from(members) } else { 0 }, u64::from(all)]
        }
        WarpKind::ActiveMask => [u64::from(members), 0],
        WarpKind::Reduce(operation, is_signed) => {
            let ty = if is_signed { ScalarType::S(32) } else { ScalarType::U(32) };
            let combine = |all: u64, value: &u64| atomic(operation, ty, all, *value, 0).unwrap_or(0);
            [values[1..].iter().fold(values[0], combine), 0]
        }
        _ => [0, 0],
    }
}
