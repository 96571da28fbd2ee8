//! Where a thread goes on after a branch whose condition is not known.
//!
//! Input: the blocks of a compiled kernel. Output: for a block that branches, the block that every
//! path from there reaches (the immediate post-dominator), and the variables that may change on the
//! way. Establishes: whichever way a terminating execution takes from the branch, it comes to that
//! block, passes no barrier before, and does not wait for other threads to get there. Relies on: loops
//! terminate (a standing assumption of the whole tool). Reference: dominance on the reversed graph.

use super::compiled::{Compiled, Instruction};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;

/// A way around the unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The block where all paths meet; its guard, if it has one, holds there.
    pub join: usize,
    /// Variables that are not known there.
    pub assigned: Vec<u32>,
}

/// The skip for each block that has one.
pub fn find_skips(kernel: &mut Compiled) -> Vec<Option<Skip>> {
    let mut finder = Finder {
        post_dominators: post_dominators(kernel),
        passable: (0..kernel.blocks.len()).map(|block| is_passable(kernel, block)).collect(),
        can_wait: kernel.can_wait(),
        kernel,
    };
    (0..finder.kernel.blocks.len()).map(|block| finder.find(block)).collect()
}

struct Finder<'k, 'a> {
    kernel: &'k mut Compiled<'a>,
    post_dominators: Dominators<NodeIndex>,
    passable: Vec<bool>,
    can_wait: bool,
}

impl Finder<'_, '_> {
    fn find(&mut self, block: usize) -> Option<Skip> {
        if self.kernel.blocks[block].successors.len() < 2 {
            return None;
        }
        let join = self.post_dominators.immediate_dominator(NodeIndex::new(block))?.index();
        if join == self.kernel.blocks.len() {
            return None;
        }
        let region = self.region(block, join)?;
        // A loop that reads what others write may wait for them.
        if self.can_wait && has_cycle(self.kernel, block, &region) {
            return None;
        }
        let from: Vec<usize> = region.iter().copied().chain([block]).collect();
        if !from.into_iter().all(|b| self.leaves_whatever_happens(b)) {
            return None;
        }
        let instructions = region.iter().flat_map(|&b| &self.kernel.blocks[b].instructions);
        let assigned: BTreeSet<u32> = instructions.flat_map(assigned).collect();
        Some(Skip { join, assigned: assigned.into_iter().collect() })
    }

    /// The blocks on paths from `block` before `join`; `block` itself only if a path returns to it.
    /// `None` if a thread may not pass one of them, or may never reach the end of the kernel from it.
    fn region(&self, block: usize, join: usize) -> Option<BTreeSet<usize>> {
        let mut region = BTreeSet::new();
        let mut pending = self.kernel.blocks[block].successors.clone();
        while let Some(next) = pending.pop() {
            if next == join || !region.insert(next) {
                continue;
            }
            self.post_dominators.immediate_dominator(NodeIndex::new(next))?;
            if !self.passable[next] {
                return None;
            }
            pending.extend(&self.kernel.blocks[next].successors);
        }
        Some(region)
    }

    /// One successor without a guard, or two of which exactly one can be entered.
    fn leaves_whatever_happens(&mut self, block: usize) -> bool {
        let blocks = &self.kernel.blocks;
        match blocks[block].successors[..] {
            [next] => !blocks[next].guarded,
            [a, b] => {
                let (a, b) = (blocks[a].guard, blocks[b].guard);
                self.kernel.expressions.not(a) == b
            }
            _ => false,
        }
    }
}

/// Over blocks and, as the last node, the end of the kernel.
fn post_dominators(kernel: &Compiled) -> Dominators<NodeIndex> {
    let mut reversed = DiGraph::<(), ()>::new();
    for _ in 0..=kernel.blocks.len() {
        reversed.add_node(());
    }
    let end = NodeIndex::new(kernel.blocks.len());
    for (number, block) in kernel.blocks.iter().enumerate() {
        let node = NodeIndex::new(number);
        if block.successors.is_empty() {
            reversed.add_edge(end, node, ());
        }
        for &successor in &block.successors {
            reversed.add_edge(NodeIndex::new(successor), node, ());
        }
    }
    simple_fast(&reversed, end)
}

/// No barrier, nothing opaque, no end of the thread, no assumption but a guard.
fn is_passable(kernel: &Compiled, block: usize) -> bool {
    let body = &kernel.blocks[block];
    !body.successors.is_empty()
        && body.instructions[usize::from(body.guarded)..].iter().all(|instruction| match instruction {
            Instruction::Barrier { .. }
            | Instruction::WarpBarrier(_)
            | Instruction::Trap
            | Instruction::Opaque
            | Instruction::Assume(_)
            | Instruction::AssumeOfArbitrary(..) => false,
            Instruction::Assign(..)
            | Instruction::AssignAll(_)
            | Instruction::Havoc(_)
            | Instruction::Assert(..)
            | Instruction::Access { .. } => true,
        })
}

/// Whether `region` with `block` has a cycle.
fn has_cycle(kernel: &Compiled, block: usize, region: &BTreeSet<usize>) -> bool {
    let mut graph = DiGraph::<(), ()>::new();
    for _ in &kernel.blocks {
        graph.add_node(());
    }
    for &from in region.iter().chain([&block]) {
        for &to in kernel.blocks[from].successors.iter().filter(|to| region.contains(to)) {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
        }
    }
    petgraph::algo::is_cyclic_directed(&graph)
}

fn assigned(instruction: &Instruction) -> Vec<u32> {
    match instruction {
        Instruction::Assign(variable, _) => vec![*variable],
        Instruction::AssignAll(list) => list.iter().map(|(variable, _)| *variable).collect(),
        Instruction::Havoc(variables) => variables.clone(),
        Instruction::Access { result, .. } | Instruction::Barrier { result, .. } => result.iter().copied().collect(),
        Instruction::Assume(_)
        | Instruction::AssumeOfArbitrary(..)
        | Instruction::Assert(..)
        | Instruction::WarpBarrier(_)
        | Instruction::Trap
        | Instruction::Opaque => Vec::new(),
    }
}
