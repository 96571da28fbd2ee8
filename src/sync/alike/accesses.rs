//! What blocks of equal behaviour do to global memory.
//!
//! Input: the accesses of the block that is executed, and how their addresses differ in others. Output: whether a candidate's stay in
//! the same arrays and apart from each other ([`Groups::fit`]), and whether those of all blocks do ([`are_apart`]).
//! Establishes: two accesses of different blocks, one of which writes, have no byte in common, or both are morally strong: strong
//! in the scope of the device, of one size, each at a multiple of it. Those of one block that are moved by one distance meet where
//! those of the executed block do, which the detector compared; others have no byte in common, or are morally strong.
//! Relies on: accesses are aligned. Reference: PTX ISA, "Morally Strong Operations".

use super::differences::Differences;
use crate::exec::races::{Reach, Site};
use crate::sync::taint::ByBlock;
use std::collections::{BTreeMap, BTreeSet};

/// Comparisons of two ranges at most.
const MOST: usize = 1 << 26;

/// Ranges of all blocks at most.
const RANGES: usize = 1 << 23;

/// Ranges of one kind before neighbours are joined.
const LOOSE: usize = 1 << 16;

/// How bytes are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// Read by weak operations.
    Read,
    /// Written by weak operations, or by what is not told apart.
    Write,
    /// By strong operations in the scope of the device, of so many bytes.
    Strong(u32),
}

impl How {
    /// That of an instruction.
    pub(crate) fn of(site: Site) -> How {
        match site {
            Site { scope: Some(Reach::Device), bytes, .. } => How::Strong(bytes),
            Site { writes: false, .. } => How::Read,
            _ => How::Write,
        }
    }

    pub(super) fn conflicts(self, other: How) -> bool {
        match (self, other) {
            (How::Read, How::Read) => false,
            (How::Strong(one), How::Strong(two)) => one != two,
            _ => true,
        }
    }
}

/// From the first byte to behind the last.
type Range = (u64, u64);

/// Accesses that are moved by the same distance; how far their offsets are apart is a multiple of `unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    array: usize,
    how: How,
    by_block: u16,
    /// Bytes of one access, of which its address is a multiple.
    unit: u32,
}

/// The accesses of a block.
#[derive(Default)]
pub(crate) struct Accesses {
    moved: BTreeMap<Key, Vec<Range>>,
    /// Of tensor copies.
    boxes: Vec<Group>,
}

impl Accesses {
    /// Bytes of an array are accessed.
    pub(crate) fn moved(&mut self, array: usize, (start, bytes): (u64, u32), how: How, by_block: ByBlock) {
        if bytes == 0 {
            return;
        }
        let key = Key { array, how, by_block: by_block.0, unit: unit(bytes) };
        let ranges = self.moved.entry(key).or_default();
        match ranges.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 => last.1 = last.1.max(start + u64::from(bytes)),
            _ => ranges.push((start, start + u64::from(bytes))),
        }
        if ranges.len() >= LOOSE && ranges.len().is_power_of_two() {
            join(ranges);
        }
    }

    /// A box of a tensor is accessed: other parts of it by each candidate.
    pub(crate) fn boxed(&mut self, array: usize, how: How, mut ranges: Vec<Range>, by_candidate: Vec<Vec<Range>>) {
        join(&mut ranges);
        self.boxes.push(Group { array, how, unit: 1, ranges, distance: Distance::Listed(by_candidate) });
    }

    /// The same, in order.
    pub(super) fn groups(self) -> Groups {
        let mut groups = Groups::default();
        for (Key { array, how, by_block, unit }, mut ranges) in self.moved {
            join(&mut ranges);
            groups.all.push(Group { array, how, unit, ranges, distance: Distance::Moved(ByBlock(by_block)) });
        }
        groups.all.extend(self.boxes);
        groups
    }
}

/// The greatest power of two that divides it.
fn unit(bytes: u32) -> u32 {
    1 << bytes.trailing_zeros().min(4)
}

/// Neighbours that touch become one.
fn join(ranges: &mut Vec<Range>) {
    ranges.sort_unstable();
    ranges.dedup_by(|later, earlier| {
        let touches = later.0 <= earlier.1;
        if touches {
            earlier.1 = earlier.1.max(later.1);
        }
        touches
    });
}

/// Where the accesses of others are.
enum Distance {
    Moved(ByBlock),
    /// By candidate.
    Listed(Vec<Vec<Range>>),
}

struct Group {
    array: usize,
    how: How,
    unit: u32,
    ranges: Vec<Range>,
    distance: Distance,
}

impl Group {
    /// Its ranges in a candidate; `None` if they leave the array, or are not aligned.
    fn of(&self, differences: &Differences, candidate: usize, sizes: &[u64]) -> Option<Vec<Range>> {
        let by_block = match &self.distance {
            Distance::Listed(ranges) => return Some(ranges[candidate].clone()),
            Distance::Moved(by_block) => *by_block,
        };
        let distance = differences.at(by_block, candidate);
        if !distance.is_multiple_of(u64::from(self.unit)) {
            return None;
        }
        let moved = |at: u64| at.checked_add_signed(distance as i64).filter(|at| *at <= sizes[self.array]);
        self.ranges.iter().map(|(start, end)| Some((moved(*start)?, moved(*end)?))).collect()
    }
}

/// What a block did, by distance.
#[derive(Default)]
pub(super) struct Groups {
    all: Vec<Group>,
}

impl Groups {
    /// Whether a candidate's accesses are in the arrays, and meet each other where those of the executed block do.
    pub(super) fn fit(&self, differences: &Differences, candidate: usize, sizes: &[u64]) -> bool {
        let mut by_array: BTreeMap<usize, Vec<Placed>> = BTreeMap::new();
        let mut distances: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (number, group) in self.all.iter().enumerate() {
            let Some(ranges) = group.of(differences, candidate, sizes) else { return false };
            let party = match group.distance {
                Distance::Moved(by_block) => usize::from(by_block.0),
                Distance::Listed(_) => usize::from(ByBlock::UNKNOWN.0) + number,
            };
            distances.entry(group.array).or_default().insert(party);
            let placed = ranges.into_iter().map(|range| Placed { range, how: group.how, party });
            by_array.entry(group.array).or_default().extend(placed);
        }
        by_array.into_iter().all(|(array, placed)| distances[&array].len() == 1 || is_apart(placed))
    }

    /// What these clusters did; the executed one is no candidate.
    pub(super) fn record(&self, differences: &Differences, members: &[(u32, Option<usize>)]) -> Recorded {
        let mut groups = Vec::new();
        for group in &self.all {
            let of = |(cluster, candidate): &(u32, Option<usize>)| {
                let ranges = match (&group.distance, candidate) {
                    (_, None) => Moved::By(0),
                    (Distance::Moved(by_block), Some(candidate)) => Moved::By(differences.at(*by_block, *candidate)),
                    (Distance::Listed(ranges), Some(candidate)) => Moved::To(ranges[*candidate].clone()),
                };
                (*cluster, ranges)
            };
            let by_cluster = members.iter().map(of).collect();
            groups.push(RecordedGroup { array: group.array, how: group.how, ranges: group.ranges.clone(), by_cluster });
        }
        Recorded { groups }
    }
}

/// What a block and those that are like it did.
pub(super) struct Recorded {
    groups: Vec<RecordedGroup>,
}

impl Recorded {
    /// Which arrays are accessed, and how.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, How)> {
        self.groups.iter().map(|group| (group.array, group.how))
    }
}

struct RecordedGroup {
    array: usize,
    how: How,
    ranges: Vec<Range>,
    by_cluster: Vec<(u32, Moved)>,
}

/// Where the ranges of a cluster are.
enum Moved {
    By(u64),
    To(Vec<Range>),
}

/// Bytes that a party accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    range: Range,
    how: How,
    party: usize,
}

/// Whether different clusters have no bytes in common, but for reads and morally strong accesses.
pub(super) fn are_apart(recorded: &[Recorded]) -> bool {
    let groups = || recorded.iter().flat_map(|one| &one.groups);
    let written: BTreeSet<usize> = groups().filter(|group| group.how != How::Read).map(|group| group.array).collect();
    let mut by_array: BTreeMap<usize, Vec<Placed>> = BTreeMap::new();
    let mut count = 0;
    for group in groups().filter(|group| written.contains(&group.array)) {
        let placed = by_array.entry(group.array).or_default();
        for (cluster, moved) in &group.by_cluster {
            let (ranges, distance) = match moved {
                Moved::By(distance) => (&group.ranges, *distance),
                Moved::To(ranges) => (ranges, 0),
            };
            count += ranges.len();
            if count > RANGES {
                return false;
            }
            let range = |(start, end): &Range| (start.wrapping_add(distance), end.wrapping_add(distance));
            placed.extend(ranges.iter().map(|one| Placed {
                range: range(one),
                how: group.how,
                party: *cluster as usize,
            }));
        }
    }
    by_array.into_values().all(is_apart)
}

/// Whether different parties have no bytes in common, but for reads and morally strong accesses.
fn is_apart(mut placed: Vec<Placed>) -> bool {
    placed.sort_unstable();
    let mut open: Vec<Placed> = Vec::new();
    let mut compared = 0;
    for one in placed {
        open.retain(|other| other.range.1 > one.range.0);
        compared += open.len();
        if compared > MOST || open.iter().any(|other| other.party != one.party && other.how.conflicts(one.how)) {
            return false;
        }
        open.push(one);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: (u64, u32) = (0, 4);

    fn differences(numbers: Vec<u64>) -> (Differences, ByBlock) {
        let mut differences = Differences::new(numbers.len());
        let by_block = differences.intern(numbers);
        (differences, by_block)
    }

    #[test]
    fn blocks_that_write_next_to_each_other_are_apart_and_others_are_not() {
        for (distance, how, expected) in [
            (4, How::Write, true),
            (0, How::Write, false),
            (0, How::Read, true),
            (0, How::Strong(4), true),
            (2, How::Write, false),
        ] {
            let (differences, by_block) = differences(vec![distance, 8]);
            let mut accesses = Accesses::default();
            accesses.moved(0, WORD, how, by_block);
            let groups = accesses.groups();
            let fits = groups.fit(&differences, 0, &[64]);
            assert_eq!(fits, distance != 2, "{distance}: {how:?}");
            let recorded = groups.record(&differences, &[(0, None), (1, Some(0))]);
            assert_eq!(fits && are_apart(&[recorded]), expected, "{distance}: {how:?}");
        }
    }

    #[test]
    fn what_one_block_moves_by_different_distances_must_not_meet() {
        let (mut differences, by_block) = differences(vec![8, 16]);
        let other = differences.intern(vec![4, 4]);
        let mut accesses = Accesses::default();
        accesses.moved(0, WORD, How::Write, by_block);
        accesses.moved(0, (4, 4), How::Read, other);
        let groups = accesses.groups();
        assert!(!groups.fit(&differences, 0, &[64]), "both at byte 8");
        assert!(groups.fit(&differences, 1, &[64]), "16 and 8");
        assert!(!groups.fit(&differences, 1, &[16]), "16 is outside");
    }
}
