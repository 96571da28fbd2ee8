//! Correct protocols of the kinds that real kernels have; `mutate` breaks them.

use super::clusters;
use super::generate::Features;
use super::protocol::{Fenced, Operation as Op, Protocol, Range, SLOT};
use super::random::Random;

/// Makes a protocol.
type Pipeline = fn(&mut Random) -> Protocol;

/// Barriers by number and copies in groups.
const NAMED: &[(&str, Pipeline)] = &[
    ("named ring", named_ring),
    ("named chain", named_chain),
    ("block barriers", everybody),
    ("copies in groups", copy_groups),
    ("copies, then an arrival", copy_then_arrive),
];

/// Objects.
const OBJECTS: &[(&str, Pipeline)] = &[
    ("object ring", object_ring),
    ("object chain", object_chain),
    ("tokens", tokens),
    ("copies that arrive", copy_arrive),
    ("dropping out", dropping),
    ("tries", tries),
    ("objects made anew", anew),
];

/// Clusters of two blocks.
const CLUSTERS: &[(&str, Pipeline)] = &[
    ("cluster exchange", clusters::exchange),
    ("cluster ring", clusters::ring),
    ("cluster multicast", clusters::multicast),
    ("cluster send", clusters::send),
];

/// Bulk copies.
const BULK: &[(&str, Pipeline)] = &[
    ("bulk ring", bulk_ring),
    ("bulk store", bulk_store),
    ("bulk store by another thread", bulk_store_for_another),
    ("bulk load and store", bulk_through),
];

/// A pipeline of a kind that the features allow, with its name.
pub fn pipeline(random: &mut Random, features: Features) -> (&'static str, Protocol) {
    let mut kinds = NAMED.to_vec();
    if features.objects {
        kinds.extend(OBJECTS);
        kinds.extend(OBJECTS);
    }
    if features.bulk {
        kinds.extend(BULK);
        kinds.extend(BULK);
    }
    if features.clusters {
        kinds.extend(CLUSTERS);
    }
    let (name, make) = kinds[random.below(kinds.len())];
    (name, make(random))
}

fn is_chosen(random: &mut Random) -> bool {
    random.below(2) == 0
}

/// Slots and rounds of a ring.
fn shape(random: &mut Random) -> (usize, usize) {
    (1 + random.below(2), 2 + random.below(3))
}

/// A word of a slot.
fn word(slot: usize, number: usize) -> Range {
    Range::shared(SLOT * slot as u32 + 4 * (number as u32 % 4), 4)
}

fn named_ring(random: &mut Random) -> Protocol {
    let ((slots, rounds), consumers) = (shape(random), 1 + random.below(2));
    let warps = 1 + consumers as u32;
    let (full, empty) = (|slot: usize| 1 + slot, |slot: usize| 1 + slots + slot);
    let mut threads = vec![Vec::new(); 1 + consumers];
    for round in 0..rounds {
        let slot = round % slots;
        if round >= slots {
            threads[0].push(Op::Sync { id: empty(slot), warps });
        }
        threads[0].extend([Op::write(word(slot, 0)), Op::Arrive { id: full(slot), warps }]);
        for consumer in &mut threads[1..] {
            consumer.extend([Op::Sync { id: full(slot), warps }, Op::read(word(slot, 0))]);
            if round + slots < rounds {
                consumer.push(Op::Arrive { id: empty(slot), warps });
            }
        }
    }
    Protocol::new(threads, Vec::new())
}

fn named_chain(random: &mut Random) -> Protocol {
    let (warps, rounds) = (2, 1 + random.below(2));
    let mut threads = vec![Vec::new(); 3];
    for round in 0..rounds {
        threads[0].extend([Op::write(word(0, 0)), Op::Arrive { id: 1, warps }]);
        threads[1].extend([Op::Sync { id: 1, warps }, Op::read(word(0, 0)), Op::write(word(1, 0))]);
        threads[1].push(Op::Arrive { id: 2, warps });
        threads[2].extend([Op::Sync { id: 2, warps }, Op::read(word(1, 0))]);
        if round + 1 < rounds {
            threads[2].push(Op::Arrive { id: 3, warps });
            threads[0].push(Op::Sync { id: 3, warps });
        }
    }
    Protocol::new(threads, Vec::new())
}

fn everybody(random: &mut Random) -> Protocol {
    let (count, rounds) = (2 + random.below(3), 1 + random.below(3));
    let warps = count as u32;
    let other = 1 + random.below(2);
    let threads = (0..count).map(|thread| {
        let round = [
            Op::write(word(thread, 0)),
            Op::Sync { id: 1, warps },
            Op::read(word((thread + 1) % count, 0)),
            Op::Sync { id: other, warps },
        ];
        round.repeat(rounds)
    });
    Protocol::new(threads.collect(), Vec::new())
}

/// Two threads fill halves of slots ahead, and read each other's.
fn copy_groups(random: &mut Random) -> Protocol {
    let (rounds, bytes) = (2 + random.below(2), [4, 8][random.below(2)]);
    let threads = (0..2u32).map(|thread| {
        let copy = |round: usize| {
            let at = SLOT * (round as u32 % 2) + 8 * thread;
            Op::Copy { to: at, from: SLOT * (round as u32 % 4) + 8 * thread, bytes }
        };
        let mut operations = vec![copy(0), Op::Commit];
        for round in 0..rounds {
            if round + 1 < rounds {
                operations.extend([copy(round + 1), Op::Commit]);
            }
            operations.push(Op::WaitGroup { pending: (round + 1 < rounds).then_some(1) });
            operations.push(Op::Sync { id: 1, warps: 2 });
            operations.push(Op::read(word(round % 2, 2 - 2 * thread as usize)));
            operations.push(Op::Sync { id: 1, warps: 2 });
        }
        operations
    });
    Protocol::new(threads.collect(), Vec::new())
}

fn copy_then_arrive(random: &mut Random) -> Protocol {
    let (consumers, rounds) = (1 + random.below(2), 1 + random.below(2));
    let warps = 1 + consumers as u32;
    let mut threads = vec![Vec::new(); 1 + consumers];
    for round in 0..rounds {
        let source = Range::global(SLOT * round as u32, 4);
        threads[0].extend([Op::write(source), Op::Copy { to: 0, from: source.at, bytes: 16 }]);
        threads[0].extend([Op::Commit, Op::WaitGroup { pending: Some(0) }, Op::Arrive { id: 1, warps }]);
        for consumer in &mut threads[1..] {
            consumer.extend([Op::Sync { id: 1, warps }, Op::read(word(0, 1))]);
        }
        if round + 1 < rounds {
            threads[0].push(Op::Sync { id: 2, warps });
            threads[1..].iter_mut().for_each(|consumer| consumer.push(Op::Arrive { id: 2, warps }));
        }
    }
    Protocol::new(threads, Vec::new())
}

/// Parity for the use of a slot in a round: of the wait until it is full; the other one until it is empty.
fn parity(round: usize, slots: usize) -> u32 {
    (round / slots) as u32 & 1
}

fn object_ring(random: &mut Random) -> Protocol {
    let ((slots, rounds), consumers) = (shape(random), 1 + random.below(2));
    let test = is_chosen(random);
    let wait = |object: usize, parity: u32| Op::WaitParity { object, parity, acquire: true, test };
    let mut threads = vec![Vec::new(); 1 + consumers];
    for round in 0..rounds {
        let (slot, parity) = (round % slots, parity(round, slots));
        threads[0].extend([wait(slots + slot, parity ^ 1), Op::write(word(slot, 0)), Op::arrive_on(slot)]);
        for consumer in &mut threads[1..] {
            consumer.extend([wait(slot, parity), Op::read(word(slot, 0)), Op::arrive_on(slots + slot)]);
        }
    }
    let counts = [vec![Some(1); slots], vec![Some(consumers as u32); slots]].concat();
    Protocol::new(threads, counts)
}

/// A ring whose consumers look first whether a slot is full, and do something else before they wait; some read already then.
fn tries(random: &mut Random) -> Protocol {
    let ((slots, rounds), is_early) = (shape(random), is_chosen(random));
    let mut threads = vec![Vec::new(); 2];
    for round in 0..rounds {
        let (slot, parity) = (round % slots, parity(round, slots));
        let (object, acquire) = (slots + slot, true);
        threads[0].extend([Op::Peek { object, parity: parity ^ 1, acquire }, Op::write(word(3, 0))]);
        threads[0].push(Op::WaitUnless { object, parity: parity ^ 1, acquire });
        threads[0].extend([Op::write(word(slot, 0)), Op::arrive_on(slot)]);
        let object = slot;
        threads[1].push(Op::Peek { object, parity, acquire });
        if is_early {
            threads[1].push(Op::AccessIf { range: word(slot, 0), writes: false });
        }
        threads[1].push(Op::WaitUnless { object, parity, acquire });
        threads[1].extend([Op::read(word(slot, 0)), Op::arrive_on(slots + slot)]);
    }
    Protocol::new(threads, vec![Some(1); 2 * slots])
}

/// An object is ended and initialised again between two rounds, so that each waits for its first phase.
fn anew(random: &mut Random) -> Protocol {
    let (rounds, copies) = (2 + random.below(2), is_chosen(random));
    let mut threads = vec![Vec::new(); 2];
    for round in 0..rounds {
        if round > 0 {
            threads[0].extend([
                Op::Sync { id: 1, warps: 2 },
                Op::Inval { object: 0 },
                Op::Init { object: 0, count: 1 },
            ]);
            threads[0].push(Op::Sync { id: 2, warps: 2 });
            threads[1].extend([Op::Sync { id: 1, warps: 2 }, Op::Sync { id: 2, warps: 2 }]);
        }
        let load = Op::BulkLoad { to: 0, from: SLOT * (round as u32 % 4), bytes: SLOT, object: 0 };
        threads[0].extend(match copies {
            true => vec![Op::arrive_expecting(0, SLOT), load],
            false => vec![Op::write(word(0, 0)), Op::arrive_on(0)],
        });
        threads[1].extend([Op::wait(0, 0), Op::read(word(0, 0)), Op::Fence(Fenced::All)]);
    }
    Protocol::new(threads, vec![Some(1)])
}

fn object_chain(random: &mut Random) -> Protocol {
    let (count, rounds) = (2 + random.below(3), 1 + random.below(2));
    let mut threads = vec![Vec::new(); count];
    for round in 0..rounds {
        for (thread, operations) in threads.iter_mut().enumerate() {
            let before = (thread + count - 1) % count;
            let parity = if thread == 0 { parity(round, 1) ^ 1 } else { parity(round, 1) };
            operations.push(Op::wait(before, parity));
            if thread > 0 {
                operations.push(Op::read(word(before, 0)));
            }
            operations.extend([Op::write(word(thread, 0)), Op::arrive_on(thread)]);
        }
    }
    Protocol::new(threads, vec![Some(1); count])
}

/// Everybody arrives and waits by the token.
fn tokens(random: &mut Random) -> Protocol {
    let (count, rounds) = (2 + random.below(2), 1 + random.below(2));
    let threads = (0..count).map(|thread| {
        let read = Op::read(word((thread + 1) % count, 0));
        let (arrive, wait) = (|object| Op::arrive_on(object), |object| Op::WaitToken { object, acquire: true });
        let round = [Op::write(word(thread, 0)), arrive(0), wait(0), read, arrive(1), wait(1)];
        round.repeat(rounds)
    });
    Protocol::new(threads.collect(), vec![Some(count as u32); 2])
}

fn copy_arrive(random: &mut Random) -> Protocol {
    let ((slots, rounds), noinc) = (shape(random), is_chosen(random));
    let mut threads = vec![Vec::new(); 2];
    for round in 0..rounds {
        let (slot, parity) = (round % slots, parity(round, slots));
        let copy = Op::Copy { to: SLOT * slot as u32, from: SLOT * (round as u32 % 4), bytes: 8 };
        threads[0].extend([Op::wait(slots + slot, parity ^ 1), copy, Op::CopyArrive { object: slot, noinc }]);
        if !noinc {
            threads[0].extend([Op::write(word(slot, 2)), Op::arrive_on(slot)]);
        }
        threads[1].extend([Op::wait(slot, parity), Op::read(word(slot, 1)), Op::arrive_on(slots + slot)]);
    }
    Protocol::new(threads, vec![Some(1); 2 * slots])
}

/// A thread leaves after the first phase.
fn dropping(random: &mut Random) -> Protocol {
    let others = 1 + random.below(2);
    let mut threads = vec![vec![Op::write(word(3, 0)), Op::Drop { object: 0 }]];
    for thread in 0..others {
        let (wait, other) = (Op::WaitToken { object: 0, acquire: true }, (thread + 1) % others);
        threads.push(vec![Op::arrive_on(0), wait, Op::read(word(3, 0)), Op::write(word(thread, 0))]);
        threads[1 + thread].extend([Op::arrive_on(0), wait, Op::read(word(other, 0))]);
    }
    Protocol::new(threads, vec![Some(1 + others as u32)])
}

fn bulk_ring(random: &mut Random) -> Protocol {
    let ((slots, rounds), consumers) = (shape(random), 1 + random.below(2));
    let order = random.below(3);
    let mut threads = vec![Vec::new(); 1 + consumers];
    for round in 0..rounds {
        let (slot, parity) = (round % slots, parity(round, slots));
        let load = Op::BulkLoad { to: SLOT * slot as u32, from: SLOT * (round as u32 % 4), bytes: SLOT, object: slot };
        threads[0].push(Op::wait(slots + slot, parity ^ 1));
        threads[0].extend(match order {
            0 => vec![Op::arrive_expecting(slot, SLOT), load],
            1 => vec![Op::Expect { object: slot, bytes: SLOT }, load, Op::arrive_on(slot)],
            _ => vec![load, Op::arrive_expecting(slot, SLOT)],
        });
        for (number, consumer) in threads[1..].iter_mut().enumerate() {
            consumer.extend([Op::wait(slot, parity), Op::read(word(slot, number)), Op::Fence(Fenced::All)]);
            consumer.push(Op::arrive_on(slots + slot));
        }
    }
    let counts = [vec![Some(1); slots], vec![Some(consumers as u32); slots]].concat();
    Protocol::new(threads, counts)
}

fn bulk_store(random: &mut Random) -> Protocol {
    let ahead = random.below(2) as u32;
    let mut operations = Vec::new();
    for round in 0..2 + random.below(2) {
        let slot = round as u32 % (1 + ahead);
        operations.extend([Op::write(word(slot as usize, 0)), Op::Fence(Fenced::Shared)]);
        operations.extend([Op::BulkStore { to: SLOT * round as u32, from: SLOT * slot, bytes: SLOT }, Op::BulkCommit]);
        operations.push(Op::BulkWait { pending: ahead, read: true });
    }
    operations.extend([Op::BulkWait { pending: 0, read: false }, Op::read(Range::global(0, 4))]);
    let other = [Op::write(word(3, 0)), Op::read(word(3, 0))];
    Protocol::new(vec![operations, other.to_vec()], Vec::new())
}

/// Threads fill a slot, and one of them stores it.
fn bulk_store_for_another(random: &mut Random) -> Protocol {
    let (rounds, count) = (1 + random.below(2), 2 + random.below(2));
    let warps = count as u32;
    let mut threads = vec![Vec::new(); count];
    for round in 0..rounds {
        for (thread, operations) in threads.iter_mut().enumerate() {
            operations.extend([Op::write(word(0, thread)), Op::Fence(Fenced::All), Op::Sync { id: 1, warps }]);
            if thread == 0 {
                let store = Op::BulkStore { to: SLOT * round as u32, from: 0, bytes: SLOT };
                operations.extend([store, Op::BulkCommit, Op::BulkWait { pending: 0, read: true }]);
            }
            operations.push(Op::Sync { id: 2, warps });
        }
    }
    threads[0].push(Op::BulkWait { pending: 0, read: false });
    Protocol::new(threads, Vec::new())
}

/// A slot is loaded, changed by others, and stored.
fn bulk_through(random: &mut Random) -> Protocol {
    let rounds = 1 + random.below(2);
    let mut threads = vec![Vec::new(); 2];
    for round in 0..rounds {
        let parity = parity(round, 1);
        let (to, bytes) = (SLOT * (2 + round as u32), SLOT);
        let load = Op::BulkLoad { to: 0, from: SLOT * round as u32, bytes, object: 0 };
        threads[0].extend([Op::arrive_expecting(0, bytes), load, Op::wait(1, parity)]);
        threads[0].extend([
            Op::BulkStore { to, from: 0, bytes },
            Op::BulkCommit,
            Op::BulkWait { pending: 0, read: true },
        ]);
        threads[1].extend([Op::wait(0, parity), Op::read(word(0, 1)), Op::write(word(0, 1))]);
        threads[1].extend([Op::Fence(Fenced::All), Op::arrive_on(1)]);
    }
    Protocol::new(threads, vec![Some(1); 2])
}
