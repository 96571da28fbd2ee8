//! One change of a protocol: what programmers forget and confuse.

use super::protocol::{Fenced, NAMED, Operation as Op, Protocol, Range, SLOT, Space};
use super::random::Random;

/// Changes one thing, mostly.
pub fn mutate(protocol: &mut Protocol, random: &mut Random) {
    change_one(protocol, random);
    protocol.keep_to_blocks();
}

fn change_one(protocol: &mut Protocol, random: &mut Random) {
    let thread = random.below(protocol.threads.len());
    if !protocol.objects.is_empty() && random.below(12) == 0 {
        let object = random.below(protocol.objects.len());
        change_count(&mut protocol.objects[object], random);
        return;
    }
    let objects = protocol.objects.len();
    let operations = &mut protocol.threads[thread];
    if operations.is_empty() {
        return;
    }
    let at = random.below(operations.len());
    match random.below(10) {
        0 | 1 => {
            operations.remove(at);
        }
        2 => operations.insert(at, operations[at]),
        3 if at + 1 < operations.len() => operations.swap(at, at + 1),
        4 => {
            let operation = operations.remove(at);
            let to = random.below(operations.len() + 1);
            operations.insert(to, operation);
        }
        // What has to do with synchronisation is changed most.
        _ => {
            let is_access = |operation: &Op| matches!(operation, Op::Access { .. });
            let others = (at..operations.len()).chain(0..at).find(|at| !is_access(&operations[*at]));
            let at = if random.below(6) == 0 { at } else { others.unwrap_or(at) };
            change(&mut operations[at], objects, random);
        }
    }
}

fn change_count(count: &mut Option<u32>, random: &mut Random) {
    *count = match (*count, random.below(5)) {
        (_, 0) => None,
        (Some(count), 1 | 2) if count > 1 => Some(count - 1),
        (count, _) => Some(count.unwrap_or(0) + 1),
    };
}

/// Changes an operand or a qualifier.
fn change(operation: &mut Op, objects: usize, random: &mut Random) {
    let coin = random.below(2) == 0;
    let another = |object: usize, random: &mut Random| (object + 1 + random.below(2)) % objects.max(1);
    let other_slot = |at: u32| (at + SLOT) % (2 * SLOT);
    match operation {
        Op::Access { range, writes } => match (coin, range.space) {
            (true, _) => *writes = !*writes,
            (false, Space::Peer) => *range = Range { space: Space::Shared, ..*range },
            (false, _) => *range = Range { at: other_slot(range.at), ..*range },
        },
        Op::AccessIf { range, writes } => *operation = Op::Access { range: *range, writes: *writes ^ coin },
        Op::ClusterArrive { release } => match coin {
            true => *release = !*release,
            false => *operation = Op::ClusterWait,
        },
        Op::ClusterWait => *operation = Op::ClusterArrive { release: true },
        Op::Inval { object } => *operation = Op::Init { object: *object, count: 1 },
        Op::Init { object, count } => match coin {
            true => *count += 1,
            false => *object = another(*object, random),
        },
        Op::Peek { object, parity, acquire } => match random.below(3) {
            0 => *acquire = !*acquire,
            1 => *parity ^= 1,
            _ => *object = another(*object, random),
        },
        Op::WaitUnless { object, parity, acquire } => match random.below(4) {
            0 => *acquire = !*acquire,
            1 => *parity ^= 1,
            2 => *object = another(*object, random),
            _ => *operation = Op::WaitParity { object: *object, parity: *parity, acquire: *acquire, test: coin },
        },
        Op::Sync { id, warps } | Op::Arrive { id, warps } if random.below(3) > 0 => match (coin, *warps) {
            (true, _) => *id = 1 + *id % NAMED,
            (false, 2..) if random.below(2) == 0 => *warps -= 1,
            (false, _) => *warps += 1,
        },
        Op::Sync { id, warps } => *operation = Op::Arrive { id: *id, warps: *warps },
        Op::Arrive { id, warps } => *operation = Op::Sync { id: *id, warps: *warps },
        Op::ArriveOn { object, release, expected } => match (random.below(4), expected) {
            (0, _) => *release = !*release,
            (1, Some(bytes)) => *bytes *= 2,
            (2, Some(bytes)) => *bytes = (1 << 20) - if coin { 1 } else { SLOT },
            (1 | 2, None) => *operation = Op::Drop { object: *object },
            _ => *object = another(*object, random),
        },
        Op::WaitParity { object, parity, acquire, .. } => match random.below(3) {
            0 => *acquire = !*acquire,
            1 => *parity ^= 1,
            _ => *object = another(*object, random),
        },
        Op::WaitToken { object, acquire } => match coin {
            true => *acquire = !*acquire,
            false => *object = another(*object, random),
        },
        Op::CopyArrive { object, noinc } => match coin {
            true => *noinc = !*noinc,
            false => *operation = Op::arrive_on(*object),
        },
        Op::BulkLoad { to, bytes, object, .. } => match random.below(3) {
            0 => *to = other_slot(*to),
            1 => *bytes = 2 * SLOT - if coin { SLOT } else { 0 },
            _ => *object = another(*object, random),
        },
        Op::Send { to, bytes, object, .. } => match random.below(3) {
            0 => *to = other_slot(*to),
            1 => *bytes = 2 * SLOT,
            _ => *object = another(*object, random),
        },
        Op::Multicast { to, from, bytes, object } => match random.below(3) {
            0 => *to = other_slot(*to),
            1 => *operation = Op::BulkLoad { to: *to, from: *from, bytes: *bytes, object: *object },
            _ => *object = (*object + 1) % 2,
        },
        Op::BulkStore { from, to, .. } => *if coin { from } else { to } = other_slot(*to),
        Op::Copy { to, .. } => *to = other_slot(*to),
        Op::WaitGroup { pending } => *pending = Some(pending.unwrap_or(0) + 1),
        Op::BulkWait { pending, read } => match coin {
            true => *pending += 1,
            false => *read = !*read,
        },
        Op::Fence(fenced) => *fenced = if coin { Fenced::Shared } else { Fenced::Global },
        Op::Drop { object } | Op::Touch { object, .. } => *operation = Op::arrive_on(*object),
        Op::Expect { bytes, .. } => *bytes *= 2,
        Op::Commit | Op::BulkCommit => {}
    }
    within_memory(operation);
}

/// Copies that a change took over the end of an array begin at its start.
fn within_memory(operation: &mut Op) {
    let most = |bytes: u32| super::protocol::BYTES - bytes;
    match operation {
        Op::Access { range, .. } if range.at > most(range.bytes) => range.at = 0,
        Op::BulkLoad { to, from, bytes, .. }
        | Op::Send { to, from, bytes, .. }
        | Op::Multicast { to, from, bytes, .. }
        | Op::BulkStore { to, from, bytes }
        | Op::Copy { to, from, bytes } => {
            if *to > most(*bytes) {
                *to = 0;
            }
            if *from > most(*bytes) {
                *from = 0;
            }
        }
        _ => {}
    }
}
