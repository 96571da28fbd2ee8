//! Ways of a thread that are not told apart, where they meet again.
//!
//! Input: a branch of which it is not known which way a thread goes, or a try whose answer decides only whether it waits. Output: the state where both
//! ways meet. Establishes: on neither way the thread does anything that other threads see, but write global memory, which is
//! remembered; registers that differ where the ways meet are unknown there. Relies on: [`super::thread`]. Reference: Cousot and Cousot, "Abstract
//! Interpretation" (the join); [`crate::sync`], `peek`.

use super::event::Action;
use super::thread::{Follower, State};
use super::value::Value;
use crate::exec::decode::Slot;

/// Instructions of a way.
const LONGEST: usize = 2048;

/// Instructions from a try to the wait.
const TRY: usize = 64;

/// Branches within branches.
const DEEPEST: usize = 6;

impl Follower<'_> {
    /// The thread goes on at one of two instructions.
    pub(super) fn both(&mut self, next: [u32; 2]) -> Option<()> {
        self.merge(next.map(|next| State { next, registers: self.state.registers.clone() }))
    }

    /// A try of a wait: where it says `false`, the thread waits for the same phase, and then both ways meet. The wait was told.
    pub(super) fn peek(&mut self, wait: Action, answer: Slot) -> Option<()> {
        let events = self.events.len();
        self.set(answer, Value::constant(1));
        let done = self.state.clone();
        self.set(answer, Value::constant(0));
        for _ in 0..TRY {
            self.step().ok()?;
            if self.events.len() > events || self.has_ended {
                break;
            }
        }
        let is_wait = self.events.len() == events + 1 && self.events[events].action == wait;
        self.events.truncate(events);
        if !is_wait {
            return None;
        }
        let waited = self.state.clone();
        self.merge([done, waited])
    }

    /// Goes on where two ways meet.
    fn merge(&mut self, [one, other]: [State; 2]) -> Option<()> {
        if self.ways >= DEEPEST {
            return None;
        }
        self.ways += 1;
        let merged = self.met(one, other);
        self.ways -= 1;
        let (one, other) = merged?;
        let pairs = one.registers.into_iter().zip(other);
        let registers = pairs.map(|(one, other)| one.or(other)).collect();
        self.state = State { next: one.next, registers };
        Some(())
    }

    /// The state of the first way where the second one comes to it, and the registers of the second one there.
    fn met(&mut self, one: State, other: State) -> Option<(State, Vec<Value>)> {
        let mut passed = vec![one.next];
        self.state = one.clone();
        self.go(|next| {
            passed.push(next);
            false
        });
        self.state = other;
        if !passed.contains(&self.state.next) && !self.go(|next| passed.contains(&next)) {
            return None;
        }
        let other = std::mem::replace(&mut self.state, one);
        (self.state.next == other.next || self.go(|next| next == other.next))
            .then(|| (self.state.clone(), other.registers))
    }

    /// Goes on until an instruction is the right one; false if the thread does something before, or comes to a loop.
    fn go(&mut self, mut is_it: impl FnMut(u32) -> bool) -> bool {
        let events = self.events.len();
        let mut is_there = false;
        for _ in 0..LONGEST {
            if self.step().is_err() || self.has_ended || self.events.len() > events {
                break;
            }
            is_there = is_it(self.state.next);
            if is_there || self.kernel.heads.contains(&self.state.next) {
                break;
            }
        }
        self.has_ended = false;
        self.events.truncate(events);
        is_there
    }
}
