//! What speaks for each size of a block.
//!
//! Input: the signs that `natural` sees. Output: blocks, those with most votes first. Establishes: they can be launched.
//! Relies on: nothing. Reference: none.

use super::linear::{Form, Term};
use crate::geometry::{Axis, BLOCK_THREADS, volume};
use crate::ivl::ast::Name;
use crate::kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that are proposed.
const BLOCKS: usize = 3;

/// Sizes of one axis that are combined.
const SIZES: usize = 3;

/// Threads of the largest block.
pub(super) const MOST_THREADS: i64 = BLOCK_THREADS as i64;

/// How often one kind of sign counts for a size: more only tells that a loop is unrolled.
const MOST_OF_A_KIND: u32 = 2;

/// Threads of a warp.
const WARP: u128 = 32;

/// Rounds of a loop that compilers join to one, at most: a step of fewer elements is no row of threads.
const COPIES: i64 = 8;

/// Elements of a row beside those of the threads, at most.
pub(super) const MOST_HALO: i64 = 8;

/// What speaks for a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// What multiplies `ctaid` in an address.
    Blocks,
    /// The same in any other sum.
    Sum,
    /// The length of a shared array, or of its rows.
    Length,
    /// An index that runs down.
    Reversed,
    /// How far apart the accesses of one thread are.
    Distance,
    /// What a loop adds to an index that starts with `tid`.
    Step,
    /// The power of two below a length: there is room for a halo.
    Halo,
    /// `Blocks` or `Length` of what a thread accesses several times.
    Several,
    /// What `tid` is compared with, or what follows from another size.
    Hint,
}

impl Sign {
    fn votes(self) -> u32 {
        match self {
            Sign::Blocks | Sign::Distance => 4,
            Sign::Sum | Sign::Length | Sign::Reversed | Sign::Step => 3,
            Sign::Halo | Sign::Several => 2,
            Sign::Hint => 1,
        }
    }
}

/// Accesses of an array with the same factors.
#[derive(Default)]
pub(super) struct Group {
    /// The constant parts.
    pub(super) constants: BTreeSet<i64>,
    pub(super) writes: bool,
}

/// What speaks for each size.
#[derive(Debug, Default)]
pub(super) struct Votes {
    /// How often each sign was seen for the sizes of an axis.
    axes: [BTreeMap<u32, BTreeMap<Sign, u32>>; 3],
    /// Threads of the whole block, as steps of loops say.
    pub(super) totals: BTreeSet<u32>,
    /// What loops add to variables that are a constant first.
    loops: BTreeMap<Name, i64>,
    /// The largest literal with which `tid` of each axis is compared.
    guarded: [Option<i64>; 3],
    /// Elements of the shortest shared array that `tid` of each axis is an index of.
    room: [Option<i64>; 3],
    /// The same of the rows, and of how many there are, in shared arrays that two of them are indices of.
    tile: [Option<i64>; 3],
}

impl Votes {
    /// Before the first vote: what loops add to variables, and the literals with which `tid` is compared.
    pub(super) fn new(guarded: [Option<i64>; 3], loops: BTreeMap<Name, i64>) -> Votes {
        Votes { guarded, loops, ..Votes::default() }
    }

    pub(super) fn vote(&mut self, axis: Axis, size: i64, sign: Sign) {
        // One less than a power of two is a slip, which smaller blocks would hide.
        let size = if size > 4 && (size + 1).count_ones() == 1 { size + 1 } else { size };
        if (2..=MOST_THREADS).contains(&size) {
            *self.axes[axis.index()].entry(size as u32).or_default().entry(sign).or_default() += 1;
        }
    }

    /// How much speaks for a size.
    pub(super) fn of(&self, axis: Axis, size: u32) -> u32 {
        let signs = self.axes[axis.index()].get(&size).into_iter().flatten();
        let votes: u32 = signs.map(|(sign, count)| sign.votes() * (*count).min(MOST_OF_A_KIND)).sum();
        let is_guarded = self.guarded[axis.index()].is_some_and(|bound| i64::from(size) <= bound);
        if is_guarded { votes / 4 } else { votes }
    }

    /// Whether that many threads fill a row of a tile but for a halo, or all its rows: more would go beyond it.
    pub(super) fn fills_tile(&self, axis: Axis, size: u32) -> bool {
        let rest = self.tile[axis.index()].map(|elements| elements - i64::from(size));
        rest.is_some_and(|rest| (0..=MOST_HALO).contains(&rest)) && self.guarded[axis.index()].is_none()
    }

    /// A length that a size is at most: itself, or the power of two below, if it has room for a halo.
    fn length(&mut self, axis: Axis, length: i64, sign: Sign) {
        if length.count_ones() == 1 {
            self.vote(axis, length, sign);
        } else if length > 2 {
            self.vote(axis, 1 << length.ilog2(), Sign::Halo);
            self.vote(axis, length, Sign::Hint);
        }
    }

    /// `shared`: the size in bytes, where known, of an array in shared memory.
    pub(super) fn accesses(&mut self, terms: &BTreeMap<Term, i64>, group: &Group, shared: Option<Option<u64>>) {
        let factor = |term: Term| terms.get(&term).copied().unwrap_or(0);
        let mut axes: Vec<(i64, Axis)> = Axis::ALL.into_iter().map(|axis| (factor(Term::Thread(axis)), axis)).collect();
        axes.retain(|(own, _)| *own != 0);
        // The axis of the longest way first.
        axes.sort_by_key(|(own, axis)| (-own.abs(), *axis));
        let apart = distance(&group.constants, &axes);
        let others = terms.iter().filter_map(|(term, factor)| match term {
            Term::Unknown(name) => Some((name, *factor)),
            _ => None,
        });
        let others: Vec<(&Name, i64)> = others.collect();
        let longest = axes.first().map_or(0, |(own, _)| own.abs());
        let row = others.iter().map(|(_, factor)| *factor).filter(|factor| *factor > longest).min();
        if let ([(rows, second), (own, first)], None, Some(row)) = (&axes[..], shared, row)
            && *own > 0
            && row / own <= MOST_THREADS
        {
            // Blocks write one behind the other.
            self.totals.insert((row / own) as u32);
            self.vote(*first, rows / own, Sign::Length);
            self.vote(*second, row / rows, Sign::Length);
        }
        if let (&[(own, axis)], Some(row), true) = (&axes[..], row, shared.is_some()) {
            // A loop, or a switch between buffers, takes one row after the other.
            least(&mut self.room[axis.index()], row / own.abs());
            least(&mut self.tile[axis.index()], row / own.abs());
        }
        let size = shared.flatten().and_then(|size| i64::try_from(size).ok());
        if let (&[(own, axis)], true, Some(size)) = (&axes[..], terms.len() == 1, size) {
            least(&mut self.room[axis.index()], size / own.abs());
        }
        if let (&[(rows, second), (own, first)], 2, Some(size)) = (&axes[..], terms.len(), size) {
            for (axis, elements) in [(first, rows.abs() / own.abs()), (second, size / rows.abs())] {
                least(&mut self.room[axis.index()], elements);
                least(&mut self.tile[axis.index()], elements);
            }
        }
        let mut around = if shared.is_some() { row.or(size) } else { None };
        for (name, factor) in &others {
            let step = self.loops.get(*name).map_or(0, |step| step * factor);
            // A loop goes by rows, or by as many threads as there are.
            if let Some((own, axis)) = axes.iter().find(|(own, _)| step % own == 0) {
                self.vote(*axis, if step / own >= COPIES { step / own } else { 0 }, Sign::Step);
            }
        }
        for &(own, axis) in &axes {
            let apart = apart.filter(|(of, _)| *of == axis).map(|(_, apart)| apart);
            let blocks = factor(Term::Block(axis));
            let unless_several = |sign: Sign| if apart.is_some() { Sign::Several } else { sign };
            if blocks % own == 0 {
                if axes.iter().any(|(other, _)| is_behind(blocks, own, *other)) {
                    // Blocks are whole rows, one behind the other.
                    self.totals.extend(u32::try_from(blocks / own).ok());
                } else {
                    self.vote(axis, blocks / own, unless_several(Sign::Blocks));
                }
            }
            if let Some(around) = around {
                self.length(axis, around / own.abs(), unless_several(Sign::Length));
            }
            if let Some(apart) = apart {
                self.vote(axis, apart, Sign::Distance);
            }
            if own < 0
                && let Some(start) = group.constants.first().filter(|start| **start > 0)
            {
                self.vote(axis, start / -own + 1, Sign::Reversed);
            }
            // Rows of arrays in global memory are longer than a block.
            around = shared.map(|_| own.abs());
        }
    }

    pub(super) fn step(&mut self, form: &Form, step: i64) {
        let axes = Axis::ALL.into_iter().map(|axis| (form.factor(&Term::Thread(axis)), axis));
        let mut axes: Vec<(i64, Axis)> = axes.filter(|(own, _)| *own > 0 && step % own == 0).collect();
        axes.sort_unstable();
        match axes[..] {
            // Copies of a body are few.
            [(own, axis)] if axis != Axis::X || step / own >= COPIES => self.vote(axis, step / own, Sign::Step),
            [(own, first), (row, second)] if step / own <= MOST_THREADS => {
                self.totals.insert((step / own) as u32);
                self.vote(first, row / own, Sign::Hint);
                self.vote(second, step / row, Sign::Hint);
            }
            _ => {}
        }
    }

    /// The sizes of an axis, those with most votes first.
    fn sizes(&self, axis: Axis) -> Vec<(u32, u32)> {
        let mut sizes: Vec<(u32, u32)> =
            self.axes[axis.index()].keys().map(|size| (self.of(axis, *size), *size)).collect();
        sizes.retain(|(_, size)| !self.overruns(axis, *size));
        sizes.sort_by_key(|size| std::cmp::Reverse(*size));
        sizes.truncate(SIZES);
        sizes
    }

    /// Whether blocks of that size have no element of a shared array for each thread, and no guard that says so.
    fn overruns(&self, axis: Axis, size: u32) -> bool {
        let room = self.room[axis.index()].filter(|_| self.guarded[axis.index()].is_none());
        room.is_some_and(|room| room < i64::from(size))
    }

    /// The blocks with most votes, on the axes that are free.
    pub(super) fn blocks(&self, kernel: &Kernel) -> Vec<[Option<u32>; 3]> {
        let fixed = kernel.geometry.block;
        let mut blocks: Vec<(u32, [Option<u32>; 3])> = vec![(0, [None; 3])];
        for axis in Axis::ALL.into_iter().filter(|axis| fixed[axis.index()].is_none()) {
            let sizes = self.sizes(axis);
            // One hint alone says too little.
            if sizes.iter().all(|(votes, _)| *votes <= Sign::Hint.votes()) {
                continue;
            }
            let longer = blocks.iter().flat_map(|(all, block)| {
                sizes.iter().map(move |(votes, size)| {
                    let mut block = *block;
                    block[axis.index()] = Some(*size);
                    (all + votes, block)
                })
            });
            blocks = longer.collect();
        }
        let threads = |block: &[Option<u32>; 3]| {
            volume(Axis::ALL.map(|axis| block[axis.index()].or(fixed[axis.index()]).unwrap_or(1)))
        };
        blocks.retain(|(_, block)| threads(block) <= u128::from(kernel.most_threads));
        // Whole warps are meant; less than one is where a small tile says so, not where a halo or an offset is small.
        let are_whole = |block: &[Option<u32>; 3]| threads(block).is_multiple_of(WARP);
        let some_are = blocks.iter().any(|(_, block)| are_whole(block));
        let is_tile = |block: &[Option<u32>; 3]| threads(block) > WARP || threads(block).is_power_of_two();
        blocks.retain(|(_, block)| if some_are { are_whole(block) } else { is_tile(block) });
        if blocks.is_empty() {
            blocks.push((0, [None; 3]));
        }
        for (votes, block) in &mut blocks {
            let is_total = u32::try_from(threads(block)).is_ok_and(|threads| self.totals.contains(&threads));
            *votes += if is_total { Sign::Step.votes() } else { 0 };
        }
        blocks.sort_by_key(|block| std::cmp::Reverse(*block));
        blocks.truncate(BLOCKS);
        blocks.into_iter().map(|(_, block)| block).collect()
    }
}

/// Makes a bound smaller.
fn least(bound: &mut Option<i64>, elements: i64) {
    *bound = Some(bound.unwrap_or(elements).min(elements));
}

/// How far apart accesses are that differ by a constant, in threads of the axis of which that is a multiple.
fn distance(constants: &BTreeSet<i64>, axes: &[(i64, Axis)]) -> Option<(Axis, i64)> {
    let first = constants.first()?;
    axes.iter().find_map(|&(own, axis)| {
        let distances = constants.iter().map(|constant| constant - first).filter(|distance| distance % own == 0);
        let apart = distances.fold(0, greatest_common_divisor) / own.abs();
        // Closer ones are neighbours of a halo.
        (apart >= 8 || apart >= 2 && axes.len() > 1).then_some((axis, apart))
    })
}

pub(super) fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { greatest_common_divisor(b, a % b) }
}

/// Whether a block adds whole rows of threads: it tells how many rows there are rather than how long they are.
pub(super) fn is_behind(blocks: i64, own: i64, other: i64) -> bool {
    own > 0 && other > own && blocks > other && blocks % other == 0
}
