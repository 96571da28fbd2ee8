//! Which blocks a thread executes together.
//!
//! Input: a reducible flow graph and its loops. Output: for each block, the first block of its class.
//! Establishes: a thread that is active in the first block of a class is active in all blocks of the
//! class in the same sweep over the innermost loop around them, and in no other sweep. Relies on:
//! every loop terminates (a standing assumption of the method). Reference: the lock-step paper,
//! section 4.1; control equivalence is the usual refinement.
//!
//! Two blocks directly in the same region (loop body, or whole kernel) are equivalent when, in the
//! acyclic graph of the region, the one dominates the other and is post-dominated by it. In that
//! graph an inner loop is one node, and edges to the region's own header and out of the region lead to
//! a virtual exit: a `continue` ends the sweep, so it must count as a way around.

use super::order::region_items;
use crate::flow::{Graph, LoopForest};
use std::collections::BTreeMap;

/// The representative of each block: the first equivalent block, in most cases the block itself. The
/// header of a loop represents itself, since whether it is active changes from sweep to sweep.
pub(crate) fn representatives(graph: &Graph, forest: &LoopForest) -> Vec<usize> {
    let mut result: Vec<usize> = (0..graph.len()).collect();
    for region in std::iter::once(None).chain((0..forest.loops.len()).map(Some)) {
        represent_region(graph, forest, region, &mut result);
    }
    result
}

fn represent_region(graph: &Graph, forest: &LoopForest, region: Option<usize>, result: &mut [usize]) {
    let items = region_items(forest, region, graph.len());
    let start = region.map_or(0, |index| forest.loops[index].header);
    let (nodes, forward) = region_graph(graph, &items, start, region.is_some());
    let exit = nodes.len();
    let dominators = forward.dominators();
    let post_dominators = forward.post_dominators(exit);

    // A class is a chain in the dominator tree; walking up finds its first block.
    for node in 0..exit {
        if forest.innermost[nodes[node]] != region {
            continue;
        }
        let first = dominators
            .of(node)
            .filter(|&above| forest.innermost[nodes[above]] == region)
            .filter(|&above| post_dominators.dominates(node, above))
            .last();
        result[nodes[node]] = first.map_or(nodes[node], |above| nodes[above]);
    }
}

/// The acyclic graph of a region: its items by number, the start being 0, and the exit last.
fn region_graph(graph: &Graph, items: &BTreeMap<usize, usize>, start: usize, is_loop: bool) -> (Vec<usize>, Graph) {
    let mut nodes: Vec<usize> = items.values().copied().filter(|&item| item != start).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.insert(0, start);
    let number: BTreeMap<usize, usize> = nodes.iter().enumerate().map(|(number, &item)| (item, number)).collect();
    let exit = nodes.len();
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); exit + 1];
    for (block, item) in items {
        let source = number[item];
        for to in &graph.successors[*block] {
            let target = match items.get(to) {
                Some(target) if !(is_loop && *to == start) => number[target],
                _ => exit,
            };
            if target != source {
                successors[source].push(target);
            }
        }
    }
    for list in &mut successors[..exit] {
        // The end of the kernel, and an inner loop that no thread leaves.
        if list.is_empty() {
            list.push(exit);
        }
        list.sort_unstable();
        list.dedup();
    }
    (nodes, Graph::new(successors))
}
