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
use super::{Message, Teller, Ways};
use crate::ivl::ast::{ExprRef, Name, StmtKind};
use crate::ivl::bv;
use crate::ivl::claim::Premise;
use crate::ivl::visit::{free_vars, substitute};
use crate::twothread::copies::Variation;
use std::collections::BTreeMap;

/// A word whose message a thread knows, or tells, and when it does; over constants.
#[derive(Clone)]
pub(super) struct Word {
    pub(super) word: ExprRef,
    pub(super) when: ExprRef,
}

impl Word {
    /// The same under one more condition.
    pub(super) fn also(self, when: &ExprRef) -> Word {
        Word { when: bv::and(self.when, when.clone()), ..self }
    }
}

/// A barrier behind which all threads of some blocks know a message.
pub(super) struct Known {
    met: Position,
    /// The blocks.
    when: ExprRef,
}

/// A message that who knows another one knows as well, by its number.
pub(super) type Onward = (usize, Word);

impl Ways<'_, '_> {
    /// The barriers behind which all threads of a block know a message.
    pub(super) fn known(&self, message: &Message<'_>) -> Vec<Known> {
        let Observation { branch, .. } = message.observation;
        let met = self.barriers.iter().filter(|met| self.is_acquired(message, **met));
        met.filter_map(|met| Some(Known { met: *met, when: self.thread_0_passes(branch, *met)? })).collect()
    }

    /// What a thread knows at a place.
    pub(super) fn is_told(&self, message: &Message<'_>, known: &[Known], at: Position) -> Option<Word> {
        let Observation { branch, word, .. } = &message.observation;
        if self.paths.dominates(*branch, at) && self.is_acquired(message, at) {
            return Some(Word { word: word.clone(), when: bv::boolean(true) });
        }
        let Known { when, .. } = known.iter().find(|known| self.paths.dominates(known.met, at))?;
        let word = self.of_thread_0(word);
        (!self.is_private(&word)).then(|| Word { word, when: when.clone() })
    }

    /// The messages that one who is told a message knows from who tells it.
    pub(super) fn onward(&self, messages: &[Message<'_>], known: &[Vec<Known>], from: usize) -> Vec<Onward> {
        let mut found: Vec<Onward> = Vec::new();
        let mut pending = vec![(from, bv::boolean(true))];
        while let Some((teller, when)) = pending.pop() {
            for (number, message) in messages.iter().enumerate() {
                if number == from || found.iter().any(|(known, _)| *known == number) {
                    continue;
                }
                let mut tellers = messages[teller].tellers.iter();
                let told = tellers.find_map(|teller| self.is_told_before(message, &known[number], teller));
                if let Some(word) = told.map(|word| word.also(&when)) {
                    pending.push((number, word.when.clone()));
                    found.push((number, word));
                }
            }
        }
        found
    }

    /// What a teller knows when it begins to write, if it is one thread, or one block, that constants of the launch tell.
    fn is_told_before(&self, message: &Message<'_>, known: &[Known], teller: &Teller) -> Option<Word> {
        let at = |fence: &Position| {
            let passes = message.acquires.contains(fence) && self.paths.dominates(message.observation.branch, *fence);
            let itself = || Word { word: message.observation.word.clone(), when: bv::boolean(true) };
            let word = if passes { itself() } else { self.is_told(message, known, *fence)? };
            let [word, when] = [word.word, word.when].map(|e| teller.writer.over_launch(&e));
            let of_launch = |name: &Name| self.varies.get(name) == Some(&Variation::Launch);
            let is_known = free_vars(&word).iter().chain(&free_vars(&when)).all(of_launch);
            is_known.then_some(Word { word, when })
        };
        let mut words = teller.fences.iter().map(at).collect::<Option<Vec<Word>>>()?;
        let last = words.pop()?;
        let is_one = words.iter().all(|one| one.word == last.word);
        is_one.then(|| words.iter().fold(last, |word, one| word.also(&one.when)))
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
        let mut past = self.opposites(&conditions);
        past.push(through);
        (!self.paths.starts_to(met, &past)).then_some(when)
    }

    /// The branches that are not taken where conditions over constants hold.
    pub(super) fn opposites(&self, conditions: &[ExprRef]) -> Vec<Position> {
        let mut found = Vec::new();
        for (place, stmt) in self.paths.statements() {
            if let StmtKind::Assume(Premise::Program, opposite) = &stmt.kind
                && let Some(opposite) = self.over_constants(opposite, place)
                && conditions.contains(&bv::not(opposite))
            {
                found.push(place);
            }
        }
        found
    }

    /// An expression over constants as thread 0 of a block has it.
    pub(super) fn of_thread_0(&self, e: &ExprRef) -> ExprRef {
        let ids = self.lowering.launch.thread().into_iter();
        let zero: BTreeMap<Name, ExprRef> =
            ids.flat_map(|id| free_vars(&id)).map(|name| (name, bv::literal(0, 32))).collect();
        substitute(e, &zero)
    }
}
