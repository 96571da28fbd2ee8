//! Barriers of the grid: a thread of each block counts, and waits until all blocks have counted.
//!
//! Input: the blocks. Output: the barriers of the block, [`ALL_BLOCKS`], behind which a thread knows that all threads of all blocks have come
//! to them as often as it has. Establishes: what a thread did before it passed such a barrier for the nth time comes before what any thread of the
//! launch does when it has passed it for the nth time, but for accesses of the words by which they wait, if all pass the same ones in
//! the same order, which `twothread` asserts. Relies on: words hold 0 when the launch starts; there are fewer than 2^31 blocks; threads of a block that part at a
//! barrier fail its assertion. Reference: PTX ISA, memory consistency model (release and acquire patterns, observation through
//! chains of read-modify-writes); CUDA Programming Guide, "Grid Synchronization".
//!
//! Let P be the barrier in front and Q the one behind ([`Site`]). On each way from P to Q thread 0 of a block, and no other one, executes the
//! arrival: once, with a release pattern; nothing else is accessed on these ways but the words of the barrier. Then it waits, with an
//! acquire pattern, for one of:
//!
//! - **A flip of the highest bit** (cooperative groups). One block adds 2^31 - (n - 1), where n is the number of blocks, all others
//!   add 1. The sums of fewer than all of these have the highest bit that the word had before, that of all has the other one, and the
//!   other bits are 0 again. So who finds another bit than its own addition did finds the sum of all, and no block adds for
//!   the next round before it has found that.
//! - **A number of the counter** (`goals`). All add 1, and in its round r thread 0 waits for r n, which `rounds` tells of a register. No block adds for a
//!   round before it has found the sum of the last one, so the counter is between (r - 1) n and r n until all have counted, and who finds r n
//!   finds what all have added. Where it waits for at least as many, the counter must not wrap around, which is printed.
//! - **A new generation.** The addition that returns n - 1 is the last one. Its thread makes the counter 0 again (or the counter does, `atom.inc`)
//!   and then changes the word of the generation, which nobody else does. Before it arrives each thread 0 has loaded this word: it found what the
//!   last round left, or what this one does, and in the second case waits for ever. So who finds another value than before finds
//!   what the last thread of this round wrote, or is this thread.

use super::super::aggregated::SHARE;
use super::super::completion::{ACQUIRES, RELEASES, accessed, addend_of, bound_of, equations};
use super::super::locks::fences;
use super::super::numbers::number;
use super::super::paths::Position;
use super::super::polynomial::Polynomial;
use super::super::regions::Space;
use super::super::tickets::{ADDS, signed};
use super::super::winners::EXCHANGES;
use super::comparisons::{are_different, is_flipped, is_literal, operation};
use super::goals::Goal;
use super::observations::{Condition, Observation};
use super::{GridBarrier, Ways, is_other, is_read};
use crate::ivl::ast::{Access, Barrier, ExprKind, ExprRef, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::Module;
use crate::twothread::copies::Variation;
use std::collections::{BTreeMap, BTreeSet};

/// The attribute of a barrier behind which all blocks have come to it.
pub(crate) const ALL_BLOCKS: &str = "all_blocks";

/// Launches with so many threads have fewer than 2^31 blocks.
const MOST_THREADS: u64 = 1 << 31;

/// A word, at a byte offset over constants of the launch.
pub(super) type Word<'b> = (&'b Name, ExprRef);

/// A place where all blocks wait for each other.
pub(super) struct Site<'b> {
    /// Where thread 0 counts.
    pub(super) arrival: Position,
    /// The barrier of the block in front.
    opening: Position,
    /// The one behind.
    pub(super) closing: Position,
    /// The counter, and the generation if there is one.
    words: Vec<Word<'b>>,
    /// What changes them here.
    changes: BTreeSet<Position>,
    /// The numbers that thread 0 waits for, if it is they that tell it.
    pub(super) goals: Vec<Goal<'b>>,
}

/// An addition that may count blocks.
pub(super) struct Arrival<'b> {
    at: Position,
    pub(super) stmt: &'b Stmt,
    /// What it returns, if anybody takes that.
    old: Option<&'b Name>,
    pub(super) word: Word<'b>,
}

impl Site<'_> {
    /// The arrays of its words.
    fn arrays(&self) -> BTreeSet<&Name> {
        self.words.iter().map(|(array, _)| *array).collect()
    }

    fn barriers(&self) -> impl Iterator<Item = GridBarrier> {
        let must_not_wrap = self.goals.iter().any(|goal| !goal.least.is_exact);
        self.arrays().into_iter().map(move |array| GridBarrier {
            at: self.closing,
            array: array.clone(),
            must_not_wrap,
        })
    }
}

impl<'b> Ways<'_, 'b> {
    /// The barriers of the grid.
    pub(super) fn grid_barriers(&self, module: &Module) -> Vec<GridBarrier> {
        let mut sites: Vec<Site<'b>> = Vec::new();
        // Whether copies beside the threads are over, such a barrier does not say.
        let has_copies = self.paths.statements().any(|(_, stmt)| stmt.attributes.has(super::super::ASYNCHRONOUS));
        if has_copies || self.lowering.options.max_threads > MOST_THREADS {
            return Vec::new();
        }
        for arrival in self.arrivals(module) {
            sites.extend(self.site(&arrival));
        }
        let words: Vec<Vec<Word<'b>>> = sites.iter().map(|site| site.words.clone()).collect();
        for words in words {
            if !self.are_counted(sites.iter().filter(|site| site.words == words).collect()) {
                sites.retain(|site| site.words != words);
            }
        }
        // A word that anything else changes tells nothing; nor do those that are changed with it.
        while let Some(wrong) = sites.iter().position(|site| !self.belongs(site, &sites)) {
            sites.remove(wrong);
        }
        sites.iter().flat_map(Site::barriers).collect()
    }

    /// The additions that may count.
    fn arrivals(&self, module: &Module) -> Vec<Arrival<'b>> {
        let mut found = Vec::new();
        for (at, stmt) in self.paths.statements().filter(|(_, stmt)| !is_other(stmt) && !is_read(stmt)) {
            let StmtKind::Atomic { dst, access } = &stmt.kind else { continue };
            // What a lane has of its leader's addition is no addition of its own.
            let is_counter = self.is_strong_word(access)
                && !stmt.attributes.has(SHARE)
                && access.collective.is_none()
                && self.lowering.starts_with_zero(module, &access.array);
            let word = is_counter.then(|| self.over_launch(&access.offset, at)).flatten();
            found.extend(word.map(|word| Arrival { at, stmt, old: dst.as_ref(), word: (&access.array, word) }));
        }
        found
    }

    /// The place where all blocks wait, if an addition counts there.
    fn site(&self, arrival: &Arrival<'b>) -> Option<Site<'b>> {
        let at = arrival.at;
        let opening = self.paths.last_before(&self.barriers, at)?;
        let mut behind = self.barriers.iter().filter(|met| self.paths.leads(at, **met, &self.barriers));
        let (closing, None) = (*behind.next()?, behind.next()) else { return None };
        let is_between = |place: Position| self.paths.leads(opening, place, &[closing]);
        if ![opening, closing].iter().all(|met| self.is_whole(*met))
            || !self.paths.dominates(opening, closing)
            || self.barriers.iter().any(|met| *met != closing && is_between(*met))
        {
            return None;
        }
        // Thread 0 passes the arrival, and it alone.
        let mut conditions = Vec::new();
        for (place, condition) in self.paths.conditions(at) {
            if self.paths.dominates(opening, place) {
                conditions.push(self.over_constants(condition, place)?);
            }
        }
        let is_true = |e: &ExprRef| number(&self.of_thread_0(e), &BTreeMap::new()) == Some(1);
        let ids = self.identified(&conditions);
        let is_zero = |id: &ExprRef| match &id.kind {
            ExprKind::Var(name) => ids.get(name).is_some_and(|id| is_literal(id, 0)),
            _ => true,
        };
        let mut past = self.opposites(&conditions);
        past.push(at);
        let is_thread_0 = conditions.iter().all(is_true) && self.lowering.launch.thread().iter().all(is_zero);
        if !is_thread_0 || self.paths.leads(opening, closing, &past) {
            return None;
        }
        let [releases, _] = fences(&self.paths, self.lowering.least_scope(arrival.word.0));
        if !arrival.stmt.attributes.has(RELEASES) && self.paths.leads(opening, at, &releases) {
            return None;
        }
        let changes = BTreeSet::from([at]);
        let words = vec![arrival.word.clone()];
        let mut site = Site { arrival: at, opening, closing, words, changes, goals: Vec::new() };
        let waits = self.waits_for_flip(&site, arrival)
            || self.waits_for_generation(&mut site, arrival)
            || self.waits_for_number(&mut site, arrival);
        (waits && self.is_clean(&site)).then_some(site)
    }

    /// Whether between the barriers only the words are accessed, and changed by nothing but what belongs to the barrier.
    fn is_clean(&self, site: &Site<'_>) -> bool {
        let mut between = self.paths.statements().filter(|(place, stmt)| {
            accessed(stmt).is_some() && self.paths.leads(site.opening, *place, &[site.closing])
        });
        between.all(|(place, stmt)| {
            site.changes.contains(&place)
                || is_read(stmt)
                    && !is_other(stmt)
                    && accessed(stmt).is_some_and(|access| site.arrays().contains(&access.array))
        })
    }

    /// Whether all that changes the words of a site are sites of the same words, and blocks count once for each.
    fn belongs(&self, site: &Site<'_>, sites: &[Site<'_>]) -> bool {
        let arrays = site.arrays();
        let with: Vec<&Site<'_>> = sites.iter().filter(|other| other.words == site.words).collect();
        let is_known = |place: &Position| with.iter().any(|other| other.changes.contains(place));
        let mut changes = self
            .paths
            .statements()
            .filter(|(_, stmt)| !is_read(stmt) && accessed(stmt).is_some_and(|access| arrays.contains(&access.array)));
        changes.all(|(place, _)| is_known(&place))
            && with.iter().all(|other| {
                !self.paths.leads(site.arrival, other.arrival, &[site.closing])
                    && (other.closing == site.closing
                        || !self.paths.leads(site.arrival, other.closing, &[site.closing]))
                    && (other.closing == site.opening
                        || !self.paths.leads(other.closing, site.closing, &[site.opening]))
            })
            && site.changes.iter().all(|change| !self.paths.leads(*change, *change, &[site.closing]))
    }

    /// Whether thread 0 waits until the highest bit of the counter is another one.
    fn waits_for_flip(&self, site: &Site<'_>, arrival: &Arrival<'b>) -> bool {
        let Some(old) = arrival.old else { return false };
        let is_round = || {
            let added = self.over_constants(addend_of(arrival.stmt)?, arrival.at)?;
            let ExprKind::Ite(condition, a, b) = &added.kind else { return None };
            // One block adds so much that the sum is 2^31.
            let (is_first, much, one) = if is_literal(b, 1) { (true, a, b) } else { (false, b, a) };
            let ids = self.identified(&[if is_first { condition.clone() } else { bv::not(condition.clone()) }]);
            let blocks = self.lowering.launch.ids().into_iter().skip(3);
            let is_one_block = blocks.into_iter().all(|(id, _)| match &id.kind {
                ExprKind::Var(name) => ids.get(name).is_some_and(|id| is_literal(id, 0)),
                _ => true,
            });
            let sum = Polynomial::of(much)?.plus(&self.number_of_blocks()?, 1);
            Some(
                is_one_block && is_literal(one, 1) && bv::width(much) == 32 && sum == Polynomial::number((1 << 31) + 1),
            )
        };
        let found = |observation: &Observation, condition: &Condition<'b>| {
            let given = [(condition.loaded, observation.load), (old, arrival.at)];
            let value = self.paths.value_over(condition.condition, observation.branch, &given, &|_| false);
            value.is_some_and(|value| is_flipped(&value, true, [condition.loaded, old]))
        };
        is_round() == Some(true) && self.waits(site, &arrival.word, found, &[])
    }

    /// Whether a load is one behind the arrival, of a word.
    pub(super) fn is_of(&self, observation: &Observation, site: &Site<'_>, (_, word): &Word<'_>) -> bool {
        !observation.adds && observation.word == *word && self.paths.dominates(site.arrival, observation.load)
    }

    /// Whether thread 0 waits until the last one of the round has begun a new generation.
    fn waits_for_generation(&self, site: &mut Site<'b>, arrival: &Arrival<'b>) -> bool {
        self.generation(site, arrival).is_some_and(|(word, changes)| {
            site.words.push(word);
            site.changes.extend(changes);
            true
        })
    }

    /// The word of the generation, and what changes it and the counter.
    fn generation(&self, site: &Site<'b>, arrival: &Arrival<'b>) -> Option<(Word<'b>, Vec<Position>)> {
        let (changes, (at, stmt)) = self.changes_of_last(site, arrival)?;
        let access = accessed(stmt)?;
        let word = (&access.array, self.over_launch(&access.offset, at)?);
        let is_other_word = match (word.0 == arrival.word.0, &word.1.kind, &arrival.word.1.kind) {
            (false, ..) => true,
            (true, ExprKind::Bv(a), ExprKind::Bv(b)) => a.abs_diff(*b) >= 4,
            _ => false,
        };
        let is_word = is_other_word && !is_other(stmt) && self.is_strong_word(access);
        if !(is_word && self.passes_on(arrival, (at, stmt))) {
            return None;
        }
        let before = self.found_before(site, &word)?;
        let is_new = signed(stmt, ADDS) == Some(1) || self.is_next((at, stmt), before) == Some(true);
        let found = |observation: &Observation, condition: &Condition<'b>| {
            let given = [(condition.loaded, observation.load), before];
            let value = self.paths.value_over(condition.condition, observation.branch, &given, &|_| false);
            value.is_some_and(|value| are_different(&value, true, [condition.loaded, before.0]))
        };
        (is_new && self.waits(site, &word, found, &[at])).then_some((word, changes))
    }

    /// What is changed where the addition has returned the greatest number: the counter, if it does not go back to 0 by itself, and
    /// behind that the generation.
    fn changes_of_last(&self, site: &Site<'b>, arrival: &Arrival<'b>) -> Option<(Vec<Position>, (Position, &'b Stmt))> {
        let is_change = |(place, stmt): &(Position, &Stmt)| {
            *place != site.arrival
                && accessed(stmt).is_some()
                && !is_read(stmt)
                && self.paths.leads(site.opening, *place, &[site.closing])
        };
        let changes: Vec<(Position, &'b Stmt)> = self.paths.statements().filter(is_change).collect();
        let is_reset = |(place, stmt): (Position, &'b Stmt)| {
            let access = accessed(stmt)?;
            let is_whole = matches!(stmt.kind, StmtKind::Store { .. }) || stmt.attributes.has(EXCHANGES);
            let is_zero = self.write(place, stmt, access)?.number == 0 && access.guard.is_none();
            let is_counter = (&access.array, self.over_launch(&access.offset, place)?) == arrival.word;
            Some(is_whole && is_zero && is_counter && access.bytes == 4)
        };
        let last = match changes[..] {
            [one] if self.resets_itself(arrival) => one,
            [a, b] if signed(arrival.stmt, ADDS) == Some(1) => {
                let (first, last) = if self.paths.dominates(a.0, b.0) { (a, b) } else { (b, a) };
                (self.paths.dominates(first.0, last.0) && is_reset(first)?).then_some(last)?
            }
            _ => return None,
        };
        let places: Vec<Position> = changes.iter().map(|(place, _)| *place).collect();
        places.iter().all(|place| self.is_last_one(arrival, *place)).then_some((places, last))
    }

    /// Whether an access is of a word that all blocks have, and strong between them.
    fn is_strong_word(&self, access: &Access) -> bool {
        access.bytes == 4
            && access.guard.is_none()
            && access.strong.is_some_and(|scope| scope >= self.lowering.least_scope(&access.array))
            && self.lowering.space(&access.array) == Some(Space::Global)
    }

    /// What thread 0 has loaded of a word before it arrives.
    fn found_before(&self, site: &Site<'_>, word: &Word<'_>) -> Option<(&'b Name, Position)> {
        self.paths.statements().find_map(|(load, stmt)| match &stmt.kind {
            StmtKind::Load { dst, access }
                if access.array == *word.0
                    && !is_other(stmt)
                    && self.is_strong_word(access)
                    && self.paths.dominates(site.opening, load)
                    && self.paths.dominates(load, site.arrival)
                    && self.over_launch(&access.offset, load).as_ref() == Some(&word.1) =>
            {
                Some((dst, load))
            }
            _ => None,
        })
    }

    /// Whether an `atom.inc` makes the counter 0 when all have counted.
    fn resets_itself(&self, arrival: &Arrival<'_>) -> bool {
        let bound = bound_of(arrival.stmt).and_then(|bound| self.over_launch(bound, arrival.at));
        let bound = bound.and_then(|bound| Polynomial::of(&bound));
        bound.is_some() && bound == self.number_of_blocks().map(|blocks| blocks.plus(&Polynomial::number(1), -1))
    }

    /// Whether only the thread comes to a place whose addition returned the greatest number.
    fn is_last_one(&self, arrival: &Arrival<'_>, place: Position) -> bool {
        let of_launch = |name: &Name| self.varies.get(name) == Some(&Variation::Launch);
        let Some(blocks) = self.number_of_blocks() else { return false };
        let Some(old) = arrival.old else { return false };
        // old - blocks + 1, or its negative
        let last = Polynomial::variable(old).plus(&blocks, -1).plus(&Polynomial::number(1), 1);
        self.paths.conditions(place).into_iter().any(|(branch, condition)| {
            let given = [(old, arrival.at)];
            let mut is_last = false;
            if let Some(condition) = self.paths.value_over(condition, branch, &given, &of_launch) {
                equations(&condition, true, &mut |a, b| {
                    let sides = [(a, b), (b, a)].map(|(a, b)| Some(Polynomial::of(a)?.plus(&Polynomial::of(b)?, -1)));
                    is_last |= bv::width(a) == 32 && sides.contains(&Some(last.clone()));
                });
            }
            is_last
        })
    }

    /// Whether the last one observes those who have counted before it begins the new generation, and hands that on.
    fn passes_on(&self, arrival: &Arrival<'_>, (at, stmt): (Position, &Stmt)) -> bool {
        let [releases, acquires] = fences(&self.paths, self.lowering.least_scope(arrival.word.0));
        let both: Vec<Position> = releases.iter().copied().filter(|fence| acquires.contains(fence)).collect();
        let is_passed = |fences: &[Position]| !self.paths.leads(arrival.at, at, fences);
        let [is_acquired, is_released] = [arrival.stmt.attributes.has(ACQUIRES), stmt.attributes.has(RELEASES)];
        is_passed(&both) || is_acquired && (is_released || is_passed(&releases)) || is_released && is_passed(&acquires)
    }

    /// Whether what is stored is another number than what was found, and the next one in a row in which neighbours differ: one more, the
    /// lowest bit the other one, or 1 minus it.
    fn is_next(&self, (at, stmt): (Position, &Stmt), found: (&Name, Position)) -> Option<bool> {
        let StmtKind::Store { value, .. } = &stmt.kind else { return None };
        let value = self.paths.value_over(value, at, &[found], &|_| false)?;
        let is_found = |e: &ExprRef| matches!(&e.kind, ExprKind::Var(name) if name == found.0);
        if let Some((BvOp::Xor, a, b)) = operation(&value) {
            return Some(is_found(a) && is_literal(b, 1) || is_found(b) && is_literal(a, 1));
        }
        let of = |times| Polynomial::number(1).plus(&Polynomial::variable(found.0), times);
        let value = Polynomial::of(&value)?;
        Some(value == of(1) || value == of(-1))
    }

    /// Whether each way from the arrival to the barrier behind passes a branch that is taken only if the load in front of it `found` that the
    /// round is over, and an acquire pattern with this load; or one of `others`.
    pub(super) fn waits(
        &self,
        site: &Site<'_>,
        (array, word): &Word<'_>,
        found: impl Fn(&Observation, &Condition<'b>) -> bool,
        others: &[Position],
    ) -> bool {
        let [_, acquires] = fences(&self.paths, self.lowering.least_scope(array));
        let branches = self.branches(array, 4).into_iter().filter(|(observation, condition)| {
            self.is_of(observation, site, &(*array, word.clone()))
                && (observation.acquires || !self.paths.leads(observation.load, site.closing, &acquires))
                && found(observation, condition)
        });
        let ends: Vec<Position> = branches.map(|(one, _)| one.branch).chain(others.iter().copied()).collect();
        !self.paths.leads(site.arrival, site.closing, &ends)
    }

    /// Whether all threads of the block take part in a barrier.
    fn is_whole(&self, met: Position) -> bool {
        let found = self.paths.statement(met);
        matches!(&found.kind, StmtKind::Barrier(Barrier { guard: None, count: None, .. }))
    }

    /// An expression at a place over constants of the launch.
    fn over_launch(&self, e: &ExprRef, at: Position) -> Option<ExprRef> {
        self.paths.value(e, at, &|name| self.varies.get(name) == Some(&Variation::Launch))
    }

    pub(super) fn number_of_blocks(&self) -> Option<Polynomial> {
        let [x, y, z] = [0, 1, 2].map(|axis| Polynomial::of(&self.lowering.launch.blocks(axis)));
        Some(x?.times(&y?).times(&z?))
    }
}
