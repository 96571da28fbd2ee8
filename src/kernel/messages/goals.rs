//! Barriers of the grid whose counter only grows: what thread 0 waits for in which round.
//!
//! Input: the arrival of a [`Site`]. Output: the numbers with which it compares the counter, [`Goal`]s, and whether they are those of
//! the round. Establishes: behind a branch that a goal tells of, the counter is the number, or at least as much if it has not wrapped around.
//! Relies on: [`Rounds`]. Reference: PTX ISA, `setp`; Xiao and Feng, "Inter-block GPU communication via fast barrier synchronization".

use super::super::paths::Position;
use super::super::polynomial::Polynomial;
use super::super::tickets::{ADDS, signed};
use super::Ways;
use super::comparisons::{Least, at_least};
use super::grid::{Arrival, Site};
use super::observations::{Condition, Observation};
use super::rounds::Rounds;
use crate::ivl::ast::{ExprKind, ExprRef, Name, StmtKind};
use crate::twothread::copies::Variation;

/// A number for which a thread waits.
pub(super) struct Goal<'b> {
    /// Where it is compared with the counter.
    pub(super) at: Position,
    pub(super) least: Least<'b>,
}

impl<'b> Ways<'_, 'b> {
    /// Whether thread 0 waits until the counter has a number, whatever that is.
    pub(super) fn waits_for_number(&self, site: &mut Site<'b>, arrival: &Arrival<'b>) -> bool {
        let goal = |observation: &Observation, condition: &Condition<'b>| {
            let (comparison, holds, at) = self.paths.comparison(condition.condition, observation.branch)?;
            let passes =
                self.paths.leads(at, site.closing, &[at]) && self.paths.leads(site.closing, observation.branch, &[at]);
            let is_loaded = |e: &ExprRef| self.is_result(e, at, (condition.loaded, observation.load));
            let least = at_least(comparison, holds, &is_loaded)?;
            (!passes).then_some(Goal { at, least })
        };
        let found = |observation: &Observation, condition: &Condition<'b>| goal(observation, condition).is_some();
        if signed(arrival.stmt, ADDS) != Some(1) || !self.waits(site, &arrival.word, found, &[]) {
            return false;
        }
        let branches = self.branches(arrival.word.0, 4).into_iter();
        let branches = branches.filter(|(one, _)| self.is_of(one, site, &arrival.word));
        let goals: Vec<Goal<'b>> =
            branches.filter_map(|(observation, condition)| goal(&observation, &condition)).collect();
        site.goals = goals;
        true
    }

    /// Whether at sites of one counter thread 0 waits for as many as all blocks have added when all have come as often as it has.
    pub(super) fn are_counted(&self, sites: Vec<&Site<'_>>) -> bool {
        if sites.iter().all(|site| site.goals.is_empty()) {
            return true;
        }
        let of_launch = |name: &Name| self.varies.get(name) == Some(&Variation::Launch);
        let rounds = Rounds::of(&self.paths, &of_launch, sites.iter().map(|site| site.closing).collect());
        let Some(blocks) = self.number_of_blocks() else { return false };
        let is_right = |goal: &Goal<'_>| {
            let Least { number, more, .. } = goal.least;
            let number = rounds.value(number, goal.at).map(|value| value.plus(&Polynomial::number(more), 1));
            number == Some(rounds.number(goal.at).times(&blocks))
        };
        sites.iter().all(|site| !site.goals.is_empty() && site.goals.iter().all(is_right))
    }

    /// Whether an expression is what an access found, or a copy of that.
    fn is_result(&self, e: &ExprRef, at: Position, (result, access): (&Name, Position)) -> bool {
        let ExprKind::Var(name) = &e.kind else { return false };
        match self.paths.definition(name, at) {
            Some(from) if name == result => from == access,
            Some(from) => match &self.paths.statement(from).kind {
                StmtKind::Assign(pairs) => {
                    let copied = pairs.iter().find(|(target, _)| target == name).map(|(_, value)| value);
                    copied.is_some_and(|value| matches!(&value.kind, ExprKind::Var(from) if from == result))
                        && self.paths.definition(result, from) == Some(access)
                }
                _ => false,
            },
            None => false,
        }
    }
}
