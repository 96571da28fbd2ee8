//! Correct protocols of clusters of two blocks: exchanges, rings across blocks, copies to another block and to all of them.
//!
//! Threads of the first block come first; so do its objects.

use super::protocol::{Fenced, OBJECTS_OF_BLOCK, Operation as Op, Protocol, Range, SLOT, Space};
use super::random::Random;

/// The first object of the second block.
const SECOND: usize = OBJECTS_OF_BLOCK;

/// Arrive and wait.
const MEET: [Op; 2] = [Op::ClusterArrive { release: true }, Op::ClusterWait];

fn word(block: usize, slot: usize, number: usize) -> Range {
    Range { space: Space::of_block(block), at: SLOT * slot as u32 + 4 * (number as u32 % 4), bytes: 4 }
}

fn is_chosen(random: &mut Random) -> bool {
    random.below(2) == 0
}

/// Each thread writes a word of its block and reads one of the other.
pub fn exchange(random: &mut Random) -> Protocol {
    let (per_block, rounds, is_split) = (1 + random.below(2), 1 + random.below(2), is_chosen(random));
    let threads = (0..2 * per_block).map(|thread| {
        let (block, number) = (thread / per_block, thread % per_block);
        let mut round = vec![Op::write(word(block, 0, number)), MEET[0]];
        if is_split {
            round.push(Op::write(word(block, 1, number)));
        }
        round.extend([MEET[1], Op::read(word(1 - block, 0, per_block - 1 - number))]);
        round.extend(MEET);
        round.repeat(rounds)
    });
    Protocol::of_cluster(threads.collect(), Vec::new())
}

/// A thread fills slots of the other block, a thread there empties them; the objects for empty slots are with the first one.
pub fn ring(random: &mut Random) -> Protocol {
    let (slots, rounds) = (1 + random.below(2), 2 + random.below(2));
    let (meets, tries) = (is_chosen(random), is_chosen(random));
    let mut threads = vec![Vec::new(); 2];
    for round in 0..rounds {
        let (slot, parity) = (round % slots, (round / slots) as u32 & 1);
        threads[0].extend([Op::wait(slot, parity ^ 1), Op::write(word(1, slot, 0)), Op::arrive_on(SECOND + slot)]);
        let object = SECOND + slot;
        threads[1].extend(match tries {
            true => vec![Op::Peek { object, parity, acquire: true }, Op::WaitUnless { object, parity, acquire: true }],
            false => vec![Op::wait(object, parity)],
        });
        threads[1].push(Op::read(word(1, slot, 0)));
        if meets || round + slots < rounds {
            threads[1].push(Op::arrive_on(slot));
        }
    }
    if meets {
        threads.iter_mut().for_each(|operations| operations.extend(MEET));
    }
    Protocol::of_cluster(threads, vec![Some(1); 4])
}

/// One copy to both blocks; a slot is filled again when both have read it.
pub fn multicast(random: &mut Random) -> Protocol {
    let (rounds, bytes) = (1 + random.below(2), SLOT);
    let mut threads = vec![Vec::new(); 2];
    for round in 0..rounds {
        let (parity, is_last) = (round as u32 & 1, round + 1 == rounds);
        if round > 0 {
            threads[0].push(Op::wait(1, parity ^ 1));
        }
        let copy = Op::Multicast { to: 0, from: SLOT * (round as u32 % 4), bytes, object: 0 };
        threads[0].extend([Op::arrive_expecting(0, bytes), copy]);
        threads[1].push(Op::arrive_expecting(SECOND, bytes));
        for (block, operations) in threads.iter_mut().enumerate() {
            operations.extend([Op::wait(SECOND * block, parity), Op::read(word(block, 0, block))]);
            if !is_last {
                operations.extend([Op::Fence(Fenced::All), Op::arrive_on(1)]);
            }
        }
    }
    Protocol::of_cluster(threads, vec![Some(1), Some(2), Some(1), Some(1)])
}

/// A slot is copied from one block to the other, which says when it has come.
pub fn send(random: &mut Random) -> Protocol {
    let (rounds, bytes) = (1 + random.below(2), SLOT);
    let mut threads = vec![Vec::new(); 2];
    for round in 0..rounds {
        let parity = round as u32 & 1;
        let copy = Op::Send { to: SLOT, from: 0, bytes, object: SECOND };
        threads[0].extend([Op::write(word(0, 0, 0)), Op::Fence(Fenced::Shared), copy, Op::wait(0, parity)]);
        threads[1].extend([Op::arrive_expecting(SECOND, bytes), Op::wait(SECOND, parity)]);
        threads[1].extend([Op::read(word(1, 1, 0)), Op::Fence(Fenced::All), Op::arrive_on(0)]);
    }
    Protocol::of_cluster(threads, vec![Some(1); 4])
}
