//! What a thread knows: behind a branch of its own, or behind a barrier to which thread 0 of its block came through that branch.
//!
//! Input: a message. Output: the places behind it. Establishes: a thread that comes to a place that is told, and whose block satisfies the
//! condition, has passed an acquire pattern that begins with the load of the message at that word, or a barrier of its block
//! behind one of thread 0. Relies on: each block has a thread 0; branches whose conditions are constants are taken alike each time; threads of a block
//! pass the same barriers. Reference: PTX ISA, memory consistency model (acquire pattern, barriers); Aho, Lam, Sethi, Ullman,
//! "Compilers" (dominators).
//!
//! Thread 0 comes to a barrier through the branch only, if no other way leads there on which each condition over constants may be
//! true of it. Conditions on the way to the branch are true of it where they are without ids of threads, which is then asked of the
//! block (`when`), or hold with 0 for these ids, and others are not relied on; what stands behind the opposite branch is not on its way.

use super::super::numbers::number;
use super::super::paths::Position;
use super::observations::Observation;
use super::writers::Write;
use super::{Message, Ways};
use crate::ivl::ast::{ExprRef, Name, StmtKind};
use crate::ivl::bv;
use crate::ivl::claim::Premise;
use crate::ivl::visit::{free_vars, substitute};
use std::collections::BTreeMap;

/// A word whose message a thread knows, or tells, and when it does; over constants.
pub(super) struct Known {
    pub(super) word: ExprRef,
    pub(super) when: ExprRef,
}

impl Ways<'_, '_> {
    /// The barriers behind which all threads of a block know a message, and the blocks for which that holds.
    pub(super) fn known(&self, message: &Message<'_>) -> Vec<(Position, ExprRef)> {
        let Observation { branch, .. } = message.observation;
        let met = self.barriers.iter().filter(|met| self.is_acquired(message, **met));
        met.filter_map(|met| Some((*met, self.thread_0_passes(branch, *met)?))).collect()
    }

    /// What a thread knows at a place.
    pub(super) fn is_told(&self, message: &Message<'_>, known: &[(Position, ExprRef)], at: Position) -> Option<Known> {
        let Observation { branch, word, .. } = &message.observation;
        if self.paths.dominates(*branch, at) && self.is_acquired(message, at) {
            return Some(Known { word: word.clone(), when: bv::boolean(true) });
        }
        let (_, when) = known.iter().find(|(met, _)| self.paths.dominates(*met, at))?;
        let word = self.of_thread_0(word);
        (!self.is_private(&word)).then(|| Known { word, when: when.clone() })
    }

    /// Whether each way from the load of a message to a place completes an acquire pattern.
    fn is_acquired(&self, message: &Message<'_>, to: Position) -> bool {
        message.observation.acquires || !self.paths.leads(message.observation.load, to, &message.acquires)
    }

    /// Whether a thread 0 has stored in the word of an observation what is none of its writings before any thread of the block loads it.
    pub(super) fn is_cleared(&self, observation: &Observation, writes: &[Write<'_>]) -> bool {
        let is_here = |write: &Write<'_>| {
            let word = self.over_constants(&write.access.offset, write.at);
            write.access.guard.is_none() && word.is_some_and(|word| self.of_thread_0(&word) == observation.word)
        };
        let is_before = |write: &Write<'_>, met: &Position| {
            self.paths.dominates(*met, observation.load)
                && self.thread_0_passes(write.at, *met) == Some(bv::boolean(true))
        };
        let others = writes.iter().enumerate().filter(|(index, _)| !observation.writes.contains(index));
        let mut here = others.map(|(_, write)| write).filter(|write| is_here(write));
        here.any(|write| self.barriers.iter().any(|met| is_before(write, met)))
    }

    /// For which blocks the thread 0 comes to a barrier on ways through a place only; `None` if that is not known.
    fn thread_0_passes(&self, through: Position, met: Position) -> Option<ExprRef> {
        let mut when = bv::boolean(true);
        let mut conditions = Vec::new();
        for (place, condition) in self.paths.conditions(through) {
            let Some(condition) = self.over_constants(condition, place) else { continue };
            let of_thread_0 = self.of_thread_0(&condition);
            match free_vars(&of_thread_0).is_empty() {
                _ if self.is_private(&of_thread_0) => continue,
                true if number(&of_thread_0, &BTreeMap::new())? == 0 => return None,
                true => {}
                false => when = bv::and(when, of_thread_0),
            }
            conditions.push(condition);
        }
        let mut past = vec![through];
        for (place, stmt) in self.paths.statements() {
            if let StmtKind::Assume(Premise::Program, opposite) = &stmt.kind
                && let Some(opposite) = self.over_constants(opposite, place)
                && conditions.contains(&bv::not(opposite))
            {
                past.push(place);
            }
        }
        (!self.paths.starts_to(met, &past)).then_some(when)
    }

    /// An expression over constants as thread 0 of a block has it.
    pub(super) fn of_thread_0(&self, e: &ExprRef) -> ExprRef {
        let ids = self.lowering.launch.thread().into_iter();
        let zero: BTreeMap<Name, ExprRef> =
            ids.flat_map(|id| free_vars(&id)).map(|name| (name, bv::literal(0, 32))).collect();
        substitute(e, &zero)
    }
}
