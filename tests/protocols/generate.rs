//! Random protocols: half of them made of single operations, half pipelines with up to two changes.
//!
//! Most protocols that are drawn operation by operation have a defect, and most of those without one do not share memory.
//! So half of them are drawn until they share memory and the oracle calls them clean: there false alarms are found.

use super::judge::STATES;
use super::mutate::mutate;
use super::oracle::{Answer, explore};
use super::pipelines::pipeline;
use super::protocol::{BYTES, Fenced, NAMED, OBJECTS, Operation as Op, Place, Protocol, Range, SLOT, Space};
use super::random::{Random, hash};
use super::table::{Accesses, Table};
use std::collections::BTreeSet;

/// Protocols that are drawn for one that is clean.
const DRAWN: usize = 100;

/// What the emulator knows.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Objects in shared memory.
    pub objects: bool,
    /// Bulk copies.
    pub bulk: bool,
    /// Clusters of two blocks.
    pub clusters: bool,
}

/// A protocol and where it comes from.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The kind, for the tally.
    pub kind: &'static str,
    /// The protocol.
    pub protocol: Protocol,
}

/// The protocol of a seed with this number.
pub fn generate(seed: u64, number: u64, features: Features) -> Generated {
    let mut random = Random::new(hash(seed, number));
    if number.is_multiple_of(4) {
        return Generated { kind: "random", protocol: operations(&mut random, features) };
    }
    if number.is_multiple_of(2) {
        let drawn = (0..DRAWN).map(|_| operations(&mut random, features)).find(is_clean_and_shares);
        let protocol = drawn.unwrap_or_else(|| operations(&mut random, features));
        return Generated { kind: "random, clean", protocol };
    }
    let (kind, mut protocol) = pipeline(&mut random, features);
    for _ in 0..[0, 1, 1, 2][random.below(4)] {
        mutate(&mut protocol, &mut random);
    }
    Generated { kind, protocol }
}

/// Whether accesses of two threads conflict, and yet no schedule has a defect.
fn is_clean_and_shares(protocol: &Protocol) -> bool {
    let Some(table) = Table::of(protocol) else { return false };
    let of_thread = |thread: usize| table.done[thread].last().copied().unwrap_or(0);
    let conflicts = |(place, others): (&Place, &Accesses)| others & !of_thread(place.0) != 0;
    table.places.iter().zip(&table.conflicts).any(conflicts)
        && explore(protocol, STATES) == Answer::Defects(BTreeSet::new())
}

/// Operations drawn one by one, from a few kinds a protocol.
fn operations(random: &mut Random, features: Features) -> Protocol {
    let is_cluster = features.clusters && random.below(4) == 0;
    let threads = if is_cluster { [2, 2, 4][random.below(3)] } else { [2, 2, 3, 3, 4, 6][random.below(6)] };
    let most = 1 + random.below(if threads > 4 { 4 } else { 8 });
    let objects = match (features.objects, is_cluster) {
        (false, _) => 0,
        (true, true) => OBJECTS * random.below(2),
        (true, false) => random.below(4),
    };
    let mut counts: Vec<Option<u32>> = (0..objects).map(|_| Some(1 + random.below(threads.min(3)) as u32)).collect();
    if objects > 0 && random.below(40) == 0 {
        counts[0] = None;
    }
    let of_block = if is_cluster { threads / 2 } else { threads };
    let warps = 1 + random.below(of_block) as u32;
    let draw = Draw { threads: of_block, objects, is_cluster, features, kinds: random.next(), warps };
    let meets = is_cluster && random.below(4) > 0;
    let lists = (0..threads).map(|_| {
        let mut operations = Vec::new();
        for _ in 0..1 + random.below(most) {
            draw.operations(random, &mut operations);
        }
        if meets {
            operations.extend([Op::ClusterArrive { release: true }, Op::ClusterWait]);
        }
        operations
    });
    let lists = lists.collect();
    let mut protocol = if is_cluster { Protocol::of_cluster(lists, counts) } else { Protocol::new(lists, counts) };
    protocol.keep_to_blocks();
    protocol
}

/// From what operations are drawn.
struct Draw {
    /// Of a block.
    threads: usize,
    is_cluster: bool,
    objects: usize,
    features: Features,
    /// One bit a kind that is left out.
    kinds: u64,
    /// The usual count of named barriers.
    warps: u32,
}

impl Draw {
    fn operations(&self, random: &mut Random, to: &mut Vec<Op>) {
        let object = random.below(self.objects.max(1));
        let is_rare = random.below(16) == 0;
        let kind = random.below(20);
        let is_left_out = self.kinds >> kind & 1 == 1;
        let with_objects = self.objects > 0 && !is_left_out;
        match kind {
            0..2 => to.push(self.meet(random, true)),
            2 => to.push(self.meet(random, false)),
            3 if !is_left_out => to.push(copy(random)),
            4 if !is_left_out => to.extend([Op::Commit, Op::WaitGroup { pending: Some(random.below(2) as u32) }]),
            5 if !is_left_out => to.push(if is_rare { Op::WaitGroup { pending: None } } else { Op::Commit }),
            6..8 if with_objects => {
                let expected = (self.features.bulk && random.below(2) == 0).then_some(SLOT);
                to.push(Op::ArriveOn { object, release: !is_rare, expected });
            }
            8..10 if with_objects => {
                let (parity, test) = (random.below(2) as u32, random.below(2) == 0);
                to.push(Op::WaitParity { object, parity, acquire: !is_rare, test });
            }
            10 if with_objects => to.extend([Op::arrive_on(object), Op::WaitToken { object, acquire: !is_rare }]),
            11 if with_objects => to.extend(match (is_rare, random.below(4)) {
                (true, 0) => vec![Op::Init { object, count: 1 }],
                (true, 1) => vec![Op::Touch { object, writes: true }],
                (true, _) => vec![Op::Drop { object }],
                (false, choice) => vec![copy(random), Op::CopyArrive { object, noinc: choice < 3 }],
            }),
            12 if with_objects && self.features.bulk => {
                let (to_slot, from) = (slot(random), slot(random));
                to.push(Op::BulkLoad { to: to_slot, from, bytes: SLOT, object });
            }
            13 if self.features.bulk && !is_left_out => {
                to.push(Op::BulkStore { to: slot(random), from: slot(random), bytes: SLOT });
                to.extend([Op::BulkCommit, Op::BulkWait { pending: random.below(2) as u32, read: !is_rare }]);
            }
            14 if self.features.bulk && !is_left_out => {
                let only = if random.below(2) == 0 { Fenced::Shared } else { Fenced::Global };
                to.push(Op::Fence(if is_rare { only } else { Fenced::All }));
            }
            16 if self.is_cluster && !is_left_out => {
                to.extend([Op::ClusterArrive { release: !is_rare }, self.access(random), Op::ClusterWait]);
            }
            17 if with_objects => {
                let (parity, acquire) = (random.below(2) as u32, !is_rare);
                to.push(Op::Peek { object, parity, acquire });
                to.push(if random.below(2) == 0 { self.access(random) } else { self.access_if(random) });
                to.extend((random.below(4) > 0).then_some(Op::WaitUnless { object, parity, acquire }));
            }
            18 if with_objects && random.below(4) == 0 => {
                to.extend([Op::Inval { object }, Op::Init { object, count: 1 }]);
            }
            19 if self.is_cluster && with_objects && self.features.bulk => {
                let (to_slot, from, bytes) = (slot(random), slot(random), SLOT);
                to.push(match random.below(2) {
                    0 => Op::Send { to: to_slot, from, bytes, object },
                    _ => Op::Multicast { to: to_slot, from, bytes, object: object % 2 },
                });
            }
            _ => to.push(self.access(random)),
        }
    }

    /// A load or store; in a cluster, of the shared memory of either block.
    fn access(&self, random: &mut Random) -> Op {
        match access(random) {
            Op::Access { range: Range { space: Space::Shared, at, bytes }, writes } if self.is_cluster => {
                let space = Space::of_block(random.below(2));
                Op::Access { range: Range { space, at, bytes }, writes }
            }
            other => other,
        }
    }

    fn access_if(&self, random: &mut Random) -> Op {
        match self.access(random) {
            Op::Access { range, writes } => Op::AccessIf { range, writes },
            other => other,
        }
    }

    fn meet(&self, random: &mut Random, waits: bool) -> Op {
        let id = 1 + if random.below(3) == 0 { random.below(NAMED) } else { 0 };
        let warps = if random.below(12) == 0 { 1 + random.below(self.threads) as u32 } else { self.warps };
        if waits { Op::Sync { id, warps } } else { Op::Arrive { id, warps } }
    }
}

fn slot(random: &mut Random) -> u32 {
    SLOT * random.below(2) as u32
}

/// A load or store of a word or byte, mostly of shared memory.
fn access(random: &mut Random) -> Op {
    let bytes = if random.below(4) == 0 { 1 } else { 4 };
    let at = (random.below((BYTES / 2) as usize) as u32).next_multiple_of(if bytes == 1 { 1 } else { 4 }) % (BYTES / 2);
    let range = if random.below(5) == 0 { Range::global(at, bytes) } else { Range::shared(at, bytes) };
    if random.below(3) == 0 { Op::write(range) } else { Op::read(range) }
}

fn copy(random: &mut Random) -> Op {
    let bytes = [4, 8, 16][random.below(3)];
    Op::Copy { to: slot(random), from: slot(random), bytes }
}
