//! The lock-step semantics (section 4.2): all threads execute the predicated kernel together, one
//! statement at a time. A thread that is not active must do nothing that shows; what such a thread's
//! `havoc`s and loads yield is garbage.

use super::evaluate::evaluate;
use super::random::Source;
use super::run::*;
use gpuvcc::ivl::ast::*;
use gpuvcc::ivl::attributes::Attributes;
use gpuvcc::ivl::claim::Premise;
use gpuvcc::predicate::Predicated;
use std::collections::{BTreeMap, BTreeSet};

/// A lock-step run while it lasts.
struct Lockstep<'p> {
    predicated: &'p Predicated,
    /// Blocks of the kernel as written, from which a `goto` chooses.
    original: BTreeMap<&'p Name, &'p Block>,
    ids: BTreeMap<&'p Name, u32>,
    run: Run,
    interval: Interval,
    /// Orders simultaneous stores.
    source: Source,
    /// Who executes the block at hand.
    active: Vec<bool>,
}

/// Runs the predicated kernel; `fuel` limits how many blocks are visited.
pub fn lock_step(
    program: &Program,
    predicated: &Predicated,
    numbers: &[u64],
    seed: u64,
    memory: Memory,
    fuel: usize,
) -> Run {
    let run = Run::new(&predicated.program, numbers, seed, memory);
    let this = Lockstep {
        predicated,
        original: blocks(program),
        ids: (0..).zip(&predicated.order).map(|(id, block)| (&block.label, id)).collect(),
        run,
        interval: Interval::default(),
        source: Source::new(mix(&[seed, 5])),
        active: Vec::new(),
    };
    this.go(fuel)
}

impl<'p> Lockstep<'p> {
    fn go(mut self, fuel: usize) -> Run {
        let blocks = blocks(&self.predicated.program);
        let mut at = &body(&self.predicated.program).blocks[0];
        for visit in 0..fuel {
            let id = self.ids.get(&at.label).copied();
            let is_active = |thread: &Execution| {
                // At the very start `v_active` is about to be set.
                id.is_some_and(|id| visit == 0 || thread.store[&self.predicated.active] == u128::from(id))
            };
            self.active = self.run.threads.iter().map(is_active).collect();
            self.run.blocks += self.active.iter().filter(|active| **active).count();
            for stmt in &at.stmts {
                if let Some(end) = self.statement(stmt, &at.label) {
                    return self.run.ended(end);
                }
            }
            let Transfer::Goto(targets) = &at.transfer else {
                let ended =
                    |thread: &Execution| thread.store[&self.predicated.active] == u128::from(self.predicated.end_id);
                assert!(self.run.threads.iter().all(ended), "a thread was left behind");
                return self.run.ended(End::Terminated);
            };
            at = match &targets[..] {
                [next] => blocks[next],
                [back, exit] => self.loop_end(blocks[back], blocks[exit]),
                other => panic!("not a jump of predicated code: {other:?}"),
            };
        }
        self.run.ended(End::OutOfFuel)
    }

    /// Table 3: `back` needs one thread at the head, `exit` all away from it.
    fn loop_end(&self, back: &'p Block, exit: &'p Block) -> &'p Block {
        let condition = |block: &'p Block| match &block.stmts[0].kind {
            StmtKind::Assume(_, e) => e,
            other => panic!("{} starts with {other:?}", block.label),
        };
        let back_open = self.run.threads.iter().any(|thread| thread.holds(condition(back)));
        let exit_open = self.run.threads.iter().all(|thread| thread.holds(condition(exit)));
        assert!(back_open != exit_open, "one of {} and {} has to be open", back.label, exit.label);
        if back_open { back } else { exit }
    }

    fn statement(&mut self, stmt: &'p Stmt, block: &Name) -> Option<End> {
        let loop_block = |this: &gpuvcc::predicate::LoopInfo| this.back == *block || this.exit == *block;
        match &stmt.kind {
            StmtKind::Assign(pairs) => self.run.threads.iter_mut().for_each(|thread| thread.assign(pairs)),
            StmtKind::Havoc(names) => names.iter().for_each(|name| self.havoc(name, block)),
            StmtKind::Assume(..) if self.predicated.loops.iter().any(loop_block) => {}
            StmtKind::Assume(premise, e) => {
                if !self.run.threads.iter().all(|thread| thread.holds(e)) {
                    // What all threads asserted, without a race, holds for each of them behind the barrier.
                    let is_instance = matches!(premise, Premise::Instance(_));
                    assert!(!is_instance || !self.run.failed.is_empty(), "nobody asserted {stmt:?}");
                    return Some(End::Infeasible);
                }
            }
            StmtKind::Assert(_, e) => {
                for number in 0..self.run.threads.len() {
                    if !self.run.threads[number].holds(e) {
                        self.run.failed.insert((self.run.interval, number, stmt.span.start));
                    }
                }
            }
            StmtKind::Load { dst, access } => {
                for number in 0..self.run.threads.len() {
                    self.load(number, dst, access, stmt.attributes.has("ghost"));
                }
            }
            StmtKind::Store { value, access } => self.store(value, access),
            StmtKind::Barrier(barrier) => return self.barrier(stmt, barrier),
            other => panic!("not generated: {other:?}"),
        }
        None
    }

    fn garbage(&mut self) -> u128 {
        self.source.below(1 << 16) as u128
    }

    fn havoc(&mut self, name: &Name, block: &Name) {
        let targets = self.original.get(block).map(|block| &block.transfer);
        for number in 0..self.run.threads.len() {
            let garbage = self.garbage();
            let thread = &mut self.run.threads[number];
            let is_next = name.as_str().trim_end_matches('\'') == "v_next";
            let value = match (is_next, targets) {
                (true, Some(Transfer::Goto(targets))) => {
                    // One who is not active goes nowhere, but the choice has to be one of the targets.
                    let open = open_targets(targets, &self.original, thread);
                    let chosen =
                        if self.active[number] { thread.choose(open.len()) } else { garbage as usize % open.len() };
                    u128::from(self.ids[open[chosen]])
                }
                (true, _) => panic!("{block} chooses, but it is no block of the kernel"),
                (false, _) if self.active[number] => thread.arbitrary(),
                (false, _) => garbage,
            };
            thread.store.insert(name.clone(), value);
            if self.active[number] {
                thread.inputs.push(value);
            }
        }
    }

    fn load(&mut self, number: usize, dst: &Name, access: &Access, is_ghost: bool) {
        let garbage = self.garbage();
        let thread = &mut self.run.threads[number];
        let value = if thread.may(access.guard.as_ref()) {
            let bytes = bytes_of(access, &thread.store);
            let value = self.run.memory.read(&access.array, bytes.clone());
            if !is_ghost {
                self.run.races.extend(self.interval.add(number, &access.array, bytes.clone(), false));
                thread.trace.push(Event::Load(bytes.start, value));
            }
            value
        } else if self.active[number] {
            thread.arbitrary()
        } else {
            garbage
        };
        thread.store.insert(dst.clone(), value);
        if self.active[number] {
            thread.inputs.push(value);
        }
    }

    /// The ψ-assignment: all enabled threads write, one of them last.
    fn store(&mut self, value: &ExprRef, access: &Access) {
        let mut order: Vec<usize> = (0..self.run.threads.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.source.below(last + 1));
        }
        for number in order {
            let thread = &mut self.run.threads[number];
            if !thread.may(access.guard.as_ref()) {
                continue;
            }
            let bytes = bytes_of(access, &thread.store);
            self.run.races.extend(self.interval.add(number, &access.array, bytes.clone(), true));
            let value = evaluate(value, &thread.store);
            thread.trace.push(Event::Store(bytes.start, value));
            self.run.memory.write(&access.array, bytes, value);
        }
    }

    /// `sync`: all threads take part, or none.
    fn barrier(&mut self, stmt: &Stmt, barrier: &Barrier) -> Option<End> {
        let takes_part = |number: &usize| self.run.threads[*number].may(barrier.guard.as_ref());
        let (here, away): (BTreeSet<usize>, BTreeSet<usize>) = (0..self.run.threads.len()).partition(takes_part);
        for &number in &here {
            self.run.threads[number].trace.push(Event::Barrier(stmt.span.start));
        }
        if here.is_empty() {
            return None;
        }
        if !away.is_empty() || !self.run.races.is_empty() {
            self.run.split = (here, away);
            return Some(End::Diverged);
        }
        self.run.interval += 1;
        self.interval = Interval::default();
        None
    }
}
