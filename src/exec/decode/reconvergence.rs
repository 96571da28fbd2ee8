//! Where the paths of a branch meet again: its immediate post-dominator.
//!
//! Input: the instructions of a function. Output: for each, where lock-step warps wait for the paths
//! that leave it; `u32::MAX` where they meet only at the end of the function.
//! Reference: Fung, Sham, Yuan, Aamodt, "Dynamic Warp Formation and Scheduling", section 3 (reconvergence).

use super::{Code, Program};
use crate::flow::Graph;

/// The meeting points of the instructions in a range.
pub(crate) fn meeting_points(program: &Program, start: usize, end: usize) -> Vec<u32> {
    let leave = end - start;
    let mut successors = vec![Vec::new(); leave + 1];
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
        successors[at - start] = targets.into_iter().map(|target| target - start).collect();
    }
    let post_dominators = Graph::new(successors).post_dominators(leave);
    let meeting = |at: usize| match post_dominators.immediate(at) {
        Some(found) if found != leave => (found + start) as u32,
        _ => u32::MAX,
    };
    (0..leave).map(meeting).collect()
}
