//! Blocks of equal behaviour, of which one is executed for all.
//!
//! Input: the execution of one block (or cluster), and others that may behave alike. Output: which do ([`Alike::finish`]), and at the
//! end whether all that they do to global memory is disjoint or morally strong ([`Alike::is_apart`]).
//! Establishes: for each block that is left out, all of its threads do what those of the executed block did, with values that
//! differ by a known number ([`differences`]): control, barriers, shared memory, sizes and counts are the same
//! ([`Alike::keep_same`]); its accesses to global memory are moved by known distances ([`accesses`]), inside the same arrays. So within a
//! block nothing is to be looked at again but accesses that are moved by different distances, and between blocks only
//! global memory. Where that cannot be said, the block is executed. Relies on: the executed block has no defect; a value that is open
//! here is taken to be open there; what a load finds that the kernel itself stored to global memory is not followed to others.
//! Reference: Sharma, Bauer, Aiken (section 5: threads of equal behaviour); here it is blocks.

pub(crate) mod accesses;
pub(crate) mod differences;
mod evaluate;

use super::taint::ByBlock;
use crate::exec::decode::{Program, Slot, SpecialValue};
use crate::exec::launch::Launch;
use crate::exec::machine::blocks_of;
use accesses::{Accesses, How, Recorded};
use differences::Differences;
use std::collections::BTreeMap;

/// Candidates of the first block.
const FIRST: usize = 64;

/// Candidates of a block at most.
const MOST: usize = 4096;

/// Blocks of equal behaviour.
#[derive(Default)]
pub(crate) struct Alike {
    /// How values of the block that is executed differ in its candidates.
    pub(super) differences: Differences,
    /// The candidates, by number of the cluster.
    candidates: Vec<u32>,
    /// What the executed block did to global memory.
    pub(super) accesses: Accesses,
    /// What all blocks did that were looked at.
    recorded: Vec<Recorded>,
    /// Candidates of the next block at most.
    width: usize,
    /// Clusters that were left out.
    pub(crate) left_out: u32,
    /// Arrays of which any byte may be accessed, and by which instruction.
    anywhere: BTreeMap<(usize, How), u32>,
}

impl Alike {
    /// Blocks are compared.
    pub(crate) fn new() -> Alike {
        Alike { width: FIRST, ..Alike::default() }
    }

    /// A cluster is executed next; of those that are left, last first, some may be like it. For each rank: registers that differ in these.
    pub(crate) fn start(
        &mut self,
        (program, launch): (&Program, &Launch),
        cluster: u32,
        left: &[u32],
    ) -> Vec<Vec<(Slot, ByBlock)>> {
        self.accesses = Accesses::default();
        self.candidates = left.iter().rev().take(self.width).copied().collect();
        self.differences = Differences::new(self.candidates.len());
        let own = blocks_of(launch, cluster);
        let others: Vec<_> = self.candidates.iter().map(|other| blocks_of(launch, *other)).collect();
        let mut ranks = Vec::new();
        for (rank, (_, here)) in own.iter().enumerate() {
            let mut slots = Vec::new();
            let of_block = |value| matches!(value, SpecialValue::Block(_) | SpecialValue::Cluster(..));
            for special in program.specials.iter().filter(|special| of_block(special.value)) {
                let value = |block: [u32; 3]| special.value.of(0, [0; 3], block);
                let differences = others.iter().map(|other| value(other[rank].1).wrapping_sub(value(*here))).collect();
                slots.push((special.slot, self.differences.intern(differences)));
            }
            ranks.push(slots);
        }
        ranks
    }

    /// Any byte of an array may be accessed.
    pub(super) fn anywhere(&mut self, array: usize, how: How, at: u32) {
        self.anywhere.entry((array, how)).or_insert(at);
    }

    /// How many candidates there were.
    pub(super) fn width(&self) -> usize {
        self.candidates.len()
    }

    /// Those candidates are left for which this is the same.
    pub(crate) fn keep_same(&mut self, by_block: ByBlock) {
        if by_block != ByBlock::SAME {
            self.differences.keep_same(by_block);
        }
    }

    /// The cluster came to its end: which others are like it. `sizes`: bytes of each array.
    pub(crate) fn finish(&mut self, cluster: u32, sizes: &[u64]) -> Vec<u32> {
        let accesses = std::mem::take(&mut self.accesses);
        let mut members = vec![(cluster, None)];
        let groups = accesses.groups();
        for candidate in self.differences.alive() {
            if groups.fit(&self.differences, candidate, sizes) {
                members.push((self.candidates[candidate], Some(candidate)));
            }
        }
        let like: Vec<u32> = members[1..].iter().map(|(cluster, _)| *cluster).collect();
        self.width = match like.len() * 2 >= self.candidates.len() {
            true => (self.width * 2).min(MOST),
            false => self.width / 2,
        };
        self.left_out += like.len() as u32;
        self.recorded.push(groups.record(&self.differences, &members));
        like
    }

    /// Whether different clusters access different bytes, or only read them, or are morally strong. False also if that takes too long.
    pub(crate) fn is_apart(&self) -> bool {
        self.left_out == 0 || accesses::are_apart(&self.recorded)
    }

    /// An access of which data decide the address and that may meet another one of the launch, whoever makes that.
    pub(crate) fn meeting(&self) -> Option<u32> {
        let meets = |((array, how), _): &(&(usize, How), &u32)| {
            let others = self.anywhere.keys().copied().chain(self.recorded.iter().flat_map(Recorded::all));
            others.filter(|(other, _)| other == array).any(|(_, other)| how.conflicts(other))
        };
        self.anywhere.iter().find(meets).map(|(_, at)| *at)
    }
}
