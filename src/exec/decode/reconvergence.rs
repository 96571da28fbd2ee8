//! Where the paths of a branch meet again: its immediate post-dominator.
//!
//! Input: the instructions of a function. Output: for each, where lock-step warps wait for the paths
//! that leave it; `u32::MAX` where they meet only at the end of the function.
//! Reference: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (petgraph's).

use super::{Code, Program};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

/// The meeting points of the instructions in a range.
pub fn meeting_points(program: &Program, start: usize, end: usize) -> Vec<u32> {
    let mut reversed = DiGraph::<(), ()>::with_capacity(end - start + 1, end - start + 1);
    for _ in start..=end {
        reversed.add_node(());
    }
    let node = |at: usize| NodeIndex::new(at - start);
    let leave = node(end);
    for at in start..end {
        let follow = (at + 1).min(end);
        let targets: Vec<usize> = match program.code[at] {
            Code::Jump(to) => vec![to as usize],
            Code::JumpIf { to, .. } => vec![follow, to as usize],
            Code::Skip { .. } => vec![follow, (at + 2).min(end)],
            Code::JumpTable { table, .. } => {
                program.tables[table as usize].iter().map(|target| *target as usize).collect()
            }
            Code::Return | Code::Exit | Code::Trap => vec![end],
            _ => vec![follow],
        };
        for target in targets {
            reversed.add_edge(node(target), node(at), ());
        }
    }
    let dominators = simple_fast(&reversed, leave);
    let meeting = |at: usize| match dominators.immediate_dominator(node(at)) {
        Some(found) if found != leave => (found.index() + start) as u32,
        _ => u32::MAX,
    };
    (start..end).map(meeting).collect()
}
