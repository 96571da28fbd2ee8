//! Registers that a round of a loop does not take over from the one before.
//!
//! Input: a kernel and its loops. Output: for each loop the registers that it assigns and whose value nobody reads at its
//! header, nor at a block to which a thread leaves it. Establishes: the value that such a register has at the header is
//! overwritten before it is read, on every way. Relies on: nothing. Reference: Aho, Lam, Sethi, Ullman, section 9.2.5 (live
//! variables).
//!
//! Candidates for invariants of the loop need not speak of them. The counter of a loop inside is one, for the loop around it.

use super::kernel::{Exit, Kernel};
use crate::flow::LoopForest;
use crate::ivl::ast::{ExprKind, ExprRef, Name};
use crate::ivl::visit::{Visitor, assigned, walk_expr};
use foldhash::HashMap;
use std::collections::BTreeSet;

/// A set of registers, by number.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn empty(registers: usize) -> Set {
        Set(vec![0; registers.div_ceil(64)])
    }

    fn insert(&mut self, register: usize) {
        self.0[register / 64] |= 1 << (register % 64);
    }

    fn remove(&mut self, register: usize) {
        self.0[register / 64] &= !(1 << (register % 64));
    }

    fn contains(&self, register: usize) -> bool {
        self.0[register / 64] >> (register % 64) & 1 == 1
    }

    fn extend(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, more)| *own |= more);
    }
}

/// The registers of each loop that are not read before they are assigned anew.
pub(super) fn dead(kernel: &Kernel, forest: &LoopForest) -> Vec<BTreeSet<Name>> {
    let members = forest.loops.iter().flat_map(|this| &this.blocks).collect::<BTreeSet<_>>();
    let stmts = members.into_iter().flat_map(|&block| &kernel.blocks[block].stmts);
    let names: BTreeSet<&Name> = stmts.flat_map(|stmt| assigned(stmt)).collect();
    let numbers: HashMap<&Name, usize> = names.iter().enumerate().map(|(number, name)| (*name, number)).collect();
    let live = live(kernel, &numbers);
    let of_loop = |this: &crate::flow::Loop| {
        let blocks = || this.blocks.iter().copied();
        let exits = blocks().flat_map(|block| &kernel.graph.successors[block]).filter(|to| !this.blocks.contains(to));
        let mut read = live[this.header].clone();
        exits.for_each(|&exit| read.extend(&live[exit]));
        let assigned = blocks().flat_map(|block| &kernel.blocks[block].stmts).flat_map(|stmt| assigned(stmt));
        assigned.filter(|name| !read.contains(numbers[name])).cloned().collect()
    };
    forest.loops.iter().map(of_loop).collect()
}

/// The registers that are read before they are assigned, from the beginning of each block on.
fn live(kernel: &Kernel, numbers: &HashMap<&Name, usize>) -> Vec<Set> {
    let effects: Vec<(Set, Set)> = (0..kernel.blocks.len()).map(|block| effects(kernel, block, numbers)).collect();
    let mut live: Vec<Set> = effects.iter().map(|(reads, _)| reads.clone()).collect();
    let mut waiting: BTreeSet<usize> = (0..live.len()).collect();
    while let Some(block) = waiting.pop_last() {
        let mut behind = Set::empty(numbers.len());
        kernel.graph.successors[block].iter().for_each(|&next| behind.extend(&live[next]));
        let (reads, keeps) = &effects[block];
        behind.0.iter_mut().zip(&keeps.0).for_each(|(own, keeps)| *own &= keeps);
        behind.extend(reads);
        if behind != live[block] {
            live[block] = behind;
            waiting.extend(&kernel.graph.predecessors[block]);
        }
    }
    live
}

/// What a block reads before it assigns it, and what it does not assign.
fn effects(kernel: &Kernel, block: usize, numbers: &HashMap<&Name, usize>) -> (Set, Set) {
    let (mut reads, mut keeps) = (Set::empty(numbers.len()), Set::empty(numbers.len()));
    keeps.0.fill(u64::MAX);
    let block = &kernel.blocks[block];
    if let Exit::Branch { condition, .. } = &block.exit {
        Reads { numbers, found: &mut reads }.expr(condition);
    }
    for stmt in block.stmts.iter().rev() {
        for number in assigned(stmt).into_iter().filter_map(|name| numbers.get(name)) {
            reads.remove(*number);
            keeps.remove(*number);
        }
        Reads { numbers, found: &mut reads }.stmt(stmt);
    }
    (reads, keeps)
}

/// Finds what is read. A statement's attributes count, which only makes the answer more cautious.
struct Reads<'a> {
    numbers: &'a HashMap<&'a Name, usize>,
    found: &'a mut Set,
}

impl Visitor for Reads<'_> {
    fn expr(&mut self, expr: &ExprRef) {
        if let ExprKind::Var(name) = &expr.kind
            && let Some(&number) = self.numbers.get(name)
        {
            self.found.insert(number);
        }
        walk_expr(self, expr);
    }
}
