//! By how much values differ in blocks of equal behaviour.
//!
//! Input: numbers, one for each candidate. Output: [`ByBlock`], which stands for them. Establishes: a candidate that is still alive has
//! the value of the executed block plus its number, modulo 2^64. Relies on: nothing. Reference: none.

use crate::sync::taint::ByBlock;
use foldhash::HashMap;

/// Differences of all candidates.
#[derive(Default)]
pub(crate) struct Differences {
    /// Which candidates are left.
    is_alive: Vec<bool>,
    left: usize,
    /// By number of a [`ByBlock`], less one.
    all: Vec<Difference>,
    numbers: HashMap<Vec<u64>, u16>,
}

struct Difference {
    by_candidate: Vec<u64>,
    /// Candidates for which it is not zero are not alive.
    is_settled: bool,
}

impl Differences {
    pub(super) fn new(candidates: usize) -> Differences {
        Differences { is_alive: vec![true; candidates], left: candidates, ..Differences::default() }
    }

    /// Whether there are candidates.
    pub(super) fn is_any_left(&self) -> bool {
        self.left > 0
    }

    /// The candidates that are left.
    pub(in crate::sync) fn alive(&self) -> Vec<usize> {
        self.is_alive.iter().enumerate().filter_map(|(candidate, alive)| alive.then_some(candidate)).collect()
    }

    /// What stands for these numbers.
    pub(super) fn intern(&mut self, by_candidate: Vec<u64>) -> ByBlock {
        let is_same = by_candidate.iter().zip(&self.is_alive).all(|(one, alive)| *one == 0 || !alive);
        if is_same {
            return ByBlock::SAME;
        }
        if let Some(number) = self.numbers.get(&by_candidate) {
            return ByBlock(*number);
        }
        let number = self.all.len() + 1;
        if number >= usize::from(ByBlock::PENDING.0) {
            return ByBlock::UNKNOWN;
        }
        self.numbers.insert(by_candidate.clone(), number as u16);
        self.all.push(Difference { by_candidate, is_settled: false });
        ByBlock(number as u16)
    }

    /// The numbers, if they are known.
    pub(super) fn get(&self, by_block: ByBlock) -> Option<&[u64]> {
        self.all.get(usize::from(by_block.0).checked_sub(1)?).map(|one| &one.by_candidate[..])
    }

    /// The number of a candidate.
    pub(in crate::sync) fn at(&self, by_block: ByBlock, candidate: usize) -> u64 {
        self.get(by_block).map_or(0, |all| all[candidate])
    }

    /// A candidate behaves otherwise.
    pub(super) fn drop(&mut self, candidate: usize) {
        self.left -= usize::from(std::mem::replace(&mut self.is_alive[candidate], false));
    }

    /// Those are left for which this is zero; nobody if it is not known.
    pub(super) fn keep_same(&mut self, by_block: ByBlock) {
        if self.left == 0 {
            return;
        }
        let known = usize::from(by_block.0).checked_sub(1).and_then(|index| self.all.get_mut(index));
        let Some(difference) = known else {
            self.is_alive.fill(false);
            self.left = 0;
            return;
        };
        if std::mem::replace(&mut difference.is_settled, true) {
            return;
        }
        for (is_alive, number) in self.is_alive.iter_mut().zip(&difference.by_candidate) {
            self.left -= usize::from(*is_alive && *number != 0);
            *is_alive &= *number == 0;
        }
    }

    /// Those are left for which the value, of so many bytes, is not cut.
    pub(in crate::sync) fn keep_whole(&mut self, by_block: ByBlock, value: u64, bytes: u32) {
        if by_block == ByBlock::SAME || bytes >= 8 {
            return;
        }
        let Some(numbers) = self.get(by_block) else { return self.keep_same(by_block) };
        let is_cut = |number: &u64| value.wrapping_add(*number) >> (8 * bytes) != 0;
        let cut: Vec<usize> = numbers.iter().enumerate().filter(|(_, one)| is_cut(one)).map(|(at, _)| at).collect();
        cut.into_iter().for_each(|candidate| self.drop(candidate));
        if value >> (8 * bytes) != 0 {
            self.keep_same(by_block);
        }
    }
}
