//! The summarised program.
//!
//! Input: a [`Summary`] and the invariants that were kept. Output: the statements of loops as any one round and the last. Establishes:
//! what is said in the module's header. Relies on: blocks of a loop stand one behind the other. Reference: [`super`].

use super::closed_forms::{ClosedForms, Evenly};
use super::rename::{self, any, before};
use super::summary::{Invariant, Summary, is_probe, is_true, multiplies};
use crate::infer::ghosts::{assign, statement};
use crate::ivl::ast::{Name, Stmt, StmtKind, Thread, Type, Variable};
use crate::ivl::bv;
use crate::ivl::claim::Premise;
use crate::ivl::visit::assigned;
use std::collections::BTreeSet;

/// Which rounds are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounds {
    /// Any one, and then the last.
    AnyAndLast,
    /// The last one, without accesses.
    Last,
}

pub(super) struct Writer<'a> {
    pub(super) summary: &'a Summary<'a>,
    pub(super) invariants: Vec<&'a Invariant>,
    pub(super) needed: BTreeSet<Name>,
}

impl Writer<'_> {
    /// Whether a variable is one of the written program.
    fn has(&self, name: &Name) -> bool {
        self.summary.proper.contains(name) || self.needed.contains(name)
    }

    /// A statement that stays outside of loops.
    pub(super) fn stays(&self, stmt: &Stmt) -> bool {
        let assigns_nothing = self.summary.is_ghost(stmt) && !assigned(stmt).iter().any(|name| self.has(name));
        !is_probe(stmt) && !assigns_nothing
    }

    /// One that stays in them.
    fn stays_in(&self, stmt: &Stmt, rounds: Rounds) -> bool {
        self.stays(stmt)
            && match &stmt.kind {
                StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Assert(..) => rounds == Rounds::AnyAndLast,
                StmtKind::Assume(..) => self.summary.locality.is_local(stmt),
                _ => true,
            }
    }

    /// A loop.
    pub(super) fn write(&self, number: usize, rounds: Rounds, stmts: &mut Vec<Stmt>) {
        let head = &self.summary.loops[number].head;
        for (name, _) in self.changed(number) {
            let ty = &self.summary.types[&name];
            stmts.push(assign(&before(&name, head), bv::var(name, ty.clone())));
        }
        if rounds == Rounds::AnyAndLast {
            self.round(number, rounds, stmts);
        }
        self.round(number, Rounds::Last, stmts);
    }

    /// A round, with the threads that entered the loop anywhere in it.
    fn round(&self, number: usize, rounds: Rounds, stmts: &mut Vec<Stmt>) {
        self.begin(number, rounds, stmts);
        let (head, back) = self.summary.places[number];
        let mut at = head;
        while at < back {
            let inner =
                (0..self.summary.places.len()).find(|&inner| inner != number && self.summary.places[inner].0 == at);
            match inner {
                Some(inner) => {
                    self.write(inner, rounds, stmts);
                    at = self.summary.places[inner].1 + 1;
                }
                None => {
                    let block = &self.summary.body.blocks[at];
                    stmts.extend(block.stmts.iter().filter(|stmt| self.stays_in(stmt, rounds)).cloned());
                    at += 1;
                }
            }
        }
    }

    /// The head of a loop: whatever it assigns is arbitrary for who entered it, under the invariants.
    fn begin(&self, number: usize, rounds: Rounds, stmts: &mut Vec<Stmt>) {
        let ghosts = &self.summary.loops[number];
        let (ty, head) = ghosts.head_literal();
        let entered = |thread| bv::eq(bv::var(ghosts.active_at_entry(thread), ty.clone()), head.clone());
        let changed = self.changed(number);
        let closed = self.closed_forms(number);
        let counters = closed.iter().flat_map(|_| Thread::BOTH.map(|thread| rename::rounds(&ghosts.own_k(thread))));
        let havoced = changed.iter().map(|(name, _)| any(name)).chain(counters);
        stmts.push(statement(StmtKind::Havoc(havoced.collect::<BTreeSet<_>>().into_iter().collect())));
        for (name, thread) in &changed {
            let ty = &self.summary.types[name];
            let new = closed.as_ref().and_then(|closed| closed.of(name, *thread, rounds));
            let new = new.unwrap_or_else(|| bv::var(any(name), ty.clone()));
            // Who did not enter the loop does nothing in it, and has what it had behind it.
            let new = match rounds {
                Rounds::AnyAndLast => new,
                Rounds::Last => bv::ite(entered(*thread), new, bv::var(before(name, &ghosts.head), ty.clone())),
            };
            stmts.push(assign(name, new));
        }
        for thread in Thread::BOTH {
            stmts.push(assign(&ghosts.v_active.of(thread), bv::var(ghosts.active_at_entry(thread), ty.clone())));
            let says_little = |one: &Invariant| is_true(&one.expr) || rounds == Rounds::Last && multiplies(&one.expr);
            let invariants = self.invariants.iter().filter(|one| one.in_loop == number && !says_little(one));
            stmts.extend(invariants.map(|one| {
                let holds = bv::implies(entered(thread), one.of(thread));
                statement(StmtKind::Assume(Premise::Program, holds))
            }));
        }
    }

    /// Registers of a loop whose values follow from the number of rounds.
    fn closed_forms(&self, number: usize) -> Option<ClosedForms> {
        let invariants = self.invariants.iter().filter(|one| one.in_loop == number).copied().collect();
        let counter = self.summary.loops[number].own_k(Thread::First);
        let changed = self.changed(number).into_iter().map(|(name, _)| name).collect();
        let head = &self.summary.loops[number].head;
        let steps = self.summary.steps[number].iter().filter(|(name, _)| self.has(name)).map(|(register, step)| {
            let ty = &self.summary.types[register];
            let start = bv::var(before(register, head), ty.clone());
            Evenly { register: register.clone(), step: bv::literal(*step, bv::width(&start)), start }
        });
        ClosedForms::of_loop(invariants, counter, &changed, steps.collect(), self.summary.last[number].as_ref())
    }

    /// What a loop assigns, but for the block that a thread is in.
    fn changed(&self, number: usize) -> BTreeSet<(Name, Thread)> {
        let active = &self.summary.loops[number].v_active;
        let names = self.summary.stmts(number).flat_map(assigned);
        let names = names.filter(|name| self.has(name) && name.shared() != *active);
        names.filter_map(|name| Some((name.clone(), name.thread()?))).collect()
    }

    /// Variables that the written program has beside those of the input.
    pub(super) fn declared(&self) -> Vec<Variable> {
        let variable = |name: Name, of: &Name| Variable::new(name, self.summary.types[of].clone());
        let (mut declared, mut arbitrary) = (Vec::new(), BTreeSet::new());
        for (number, ghosts) in self.summary.loops.iter().enumerate() {
            for (name, _) in self.changed(number) {
                declared.push(variable(before(&name, &ghosts.head), &name));
                arbitrary.insert(name);
            }
            let closed = self.closed_forms(number);
            declared.extend(closed.iter().flat_map(|closed| {
                let counter = |thread| rename::rounds(&ghosts.own_k(thread));
                Thread::BOTH.map(|thread| Variable::new(counter(thread), Type::Bv(closed.width)))
            }));
        }
        declared.extend(arbitrary.iter().map(|name| variable(any(name), name)));
        declared.extend(self.needed.iter().map(|name| variable(name.clone(), name)));
        declared
    }
}
