//! Counters that tell that all who count are done: what each of them did before it counted is then known.
//!
//! Input: the blocks. Output: for an array that only additions of 1 change, all to one word, how many there are at most ([`Counted`]).
//! Establishes: each thread executes each of these additions once at most, and no more threads of the launch execute them than are
//! counted; a branch of [`Ways::totals`] is taken only if the word held this number. Relies on: a word that held 0 holds it only if all
//! additions that are counted have been executed. Reference: PTX ISA, memory consistency model (observation: a load of what the last of a
//! chain of read-modify-writes wrote observes all of them).

use super::super::completion::{RELEASES, accessed};
use super::super::numbers::number;
use super::super::tickets::{ADDS, signed};
use super::comparisons::at_least;
use super::observations::{Condition, Observation};
use super::writers::{Write, Writer};
use super::{Ways, is_read};
use crate::ivl::ast::{ExprKind, ExprRef, Name};
use crate::ivl::attributes::Attributes;
use crate::ivl::visit::free_vars;
use crate::twothread::copies::Variation;
use std::collections::BTreeMap;

/// With more additions than this the numbers below are not looked at one by one.
const MOST_COUNTED: u128 = 4096;

/// How many additions there are.
pub(super) enum Total {
    Number(u128),
    /// As many as there are blocks along the one axis that is not known.
    Blocks(ExprRef),
}

/// The additions to a word.
pub(super) struct Counted<'b> {
    pub(super) additions: Vec<Write<'b>>,
    pub(super) writers: Vec<Writer>,
    total: Total,
}

impl<'b> Ways<'_, 'b> {
    /// The counters.
    pub(super) fn counters(&self) -> BTreeMap<&'b Name, Counted<'b>> {
        let mut found: BTreeMap<&Name, Option<Vec<Write<'b>>>> = BTreeMap::new();
        for (at, stmt) in self.paths.statements().filter(|(_, stmt)| !is_read(stmt)) {
            let Some(access) = accessed(stmt) else { continue };
            let known = found.entry(&access.array).or_insert_with(|| Some(Vec::new()));
            let is_one = signed(stmt, ADDS) == Some(1)
                && !["unknown_pointer", super::super::ASYNCHRONOUS].iter().any(|mark| stmt.attributes.has(mark))
                && access.collective.is_none()
                && access.guard.is_none()
                && !self.paths.leads(at, at, &[]);
            match known.as_mut().filter(|_| is_one) {
                Some(others) => {
                    let releases = stmt.attributes.has(RELEASES);
                    others.push(Write::addition(at, access, releases));
                }
                None => *known = None,
            }
        }
        let counters = found.into_iter().filter_map(|(array, additions)| Some((array, self.counted(additions?)?)));
        counters.collect()
    }

    fn counted(&self, additions: Vec<Write<'b>>) -> Option<Counted<'b>> {
        let writers = additions.iter().map(|addition| self.writer(addition)).collect::<Option<Vec<Writer>>>()?;
        let (word, bytes) = (&writers.first()?.word, additions.first()?.access.bytes);
        let of_launch = |name: &Name| self.varies.get(name) == Some(&Variation::Launch);
        let is_one_word = free_vars(word).iter().all(of_launch)
            && writers.iter().all(|writer| writer.word == *word)
            && additions.iter().all(|addition| addition.access.bytes == bytes);
        let number = |writer: &Writer| match self.total(writer)? {
            Total::Number(number) => Some(number),
            Total::Blocks(_) => None,
        };
        let total = match &writers[..] {
            [one] => self.total(one)?,
            several => Total::Number(several.iter().map(number).sum::<Option<u128>>()?),
        };
        is_one_word.then_some(Counted { additions, writers, total })
    }

    /// How many threads come to an addition at most.
    fn total(&self, writer: &Writer) -> Option<Total> {
        let (mut threads, mut blocks) = (1, None);
        for (axis, (id, size)) in self.lowering.launch.ids().into_iter().enumerate() {
            let ExprKind::Var(name) = &id.kind else { continue };
            match size {
                _ if writer.knows(name) => {}
                Some(size) => threads *= writer.count(name, size),
                // How many threads a block has nobody says, and a product of sizes may wrap.
                None if axis < 3 || blocks.is_some() => return None,
                None => blocks = Some(self.lowering.launch.blocks(axis - 3)),
            }
        }
        match blocks {
            // Where nobody adds, nobody tells.
            None => (1..1 << 31).contains(&threads).then_some(Total::Number(threads)),
            Some(blocks) => (threads == 1).then_some(Total::Blocks(blocks)),
        }
    }

    /// The observations of an array behind which all additions have been executed.
    pub(super) fn totals(&self, array: &Name, counted: &Counted<'_>) -> Vec<Observation> {
        let Some(bytes) = counted.additions.first().map(|addition| addition.access.bytes) else { return Vec::new() };
        // Which block is the last one, `completion` says.
        let is_known = self.lowering.declarations.completion.as_ref() == Some(array);
        let branches = self.branches(array, bytes).into_iter().filter(|(one, _)| !(one.adds && is_known));
        branches
            .filter(|(observation, condition)| self.is_all(counted, observation, condition))
            .map(|(one, _)| one)
            .collect()
    }

    /// Whether a branch is taken only if all additions have been executed.
    fn is_all(&self, counted: &Counted<'_>, observation: &Observation, condition: &Condition<'_>) -> bool {
        let Condition { condition, loaded } = *condition;
        let of_launch = |name: &Name| self.varies.get(name) == Some(&Variation::Launch);
        let given = [(loaded, observation.load)];
        let condition = self.paths.value_over(condition, observation.branch, &given, &of_launch);
        let Some(condition) = condition else { return false };
        match &counted.total {
            Total::Number(total) => {
                // What an addition finds is one less.
                let total = total.saturating_sub(u128::from(observation.adds));
                let fails = |value| number(&condition, &BTreeMap::from([(loaded, value)])) == Some(0);
                total > 0 && total <= MOST_COUNTED && (0..total).all(fails)
            }
            Total::Blocks(blocks) => {
                // Sizes of grids are below 2^31, and so is what is counted: with a sign or without makes no difference.
                let is_it = |e: &ExprRef| matches!(&e.kind, ExprKind::Var(name) if name == loaded);
                let least = at_least(&condition, true, &is_it);
                !observation.adds && least.is_some_and(|least| least.number == blocks && least.more == 0)
            }
        }
    }
}
