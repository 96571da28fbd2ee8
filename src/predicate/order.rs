//! The sort order of section 4.
//!
//! Input: a reducible flow graph and its loops. Output: the blocks in sort order. Establishes: (1) a
//! path without back edges from B to C means that B is not after C; (2) the blocks of each loop are
//! contiguous, the header first. Relies on: [`LoopForest`]. Reference: the lock-step paper, section 4,
//! "Sort Order": an inner loop is sorted as one abstract block and then put in its place.

use crate::flow::{Graph, LoopForest};
use std::collections::{BTreeMap, BTreeSet};

/// The blocks in sort order. Blocks that the conditions leave free keep the order of their numbers.
pub fn sort_order(graph: &Graph, forest: &LoopForest) -> Vec<usize> {
    // Loops come outer before inner, so going backwards every inner loop is sorted before it is placed.
    let mut sorted: Vec<Vec<usize>> = vec![Vec::new(); forest.loops.len()];
    for region in (0..forest.loops.len()).rev() {
        sorted[region] = sort_region(graph, forest, Some(region), &sorted);
    }
    sort_region(graph, forest, None, &sorted)
}

/// The blocks directly in a region (a loop body, or the whole kernel) and its inner loops as abstract
/// blocks, sorted topologically and expanded. An abstract block is named by its header.
fn sort_region(graph: &Graph, forest: &LoopForest, region: Option<usize>, sorted: &[Vec<usize>]) -> Vec<usize> {
    let items = region_items(forest, region, graph.len());
    let mut edges: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut waiting: BTreeMap<usize, usize> = items.values().map(|&item| (item, 0)).collect();
    let header = region.map(|index| forest.loops[index].header);
    for (&from, &source) in &items {
        for to in &graph.successors[from] {
            let Some(&target) = items.get(to) else { continue };
            if Some(*to) != header && source != target && edges.entry(source).or_default().insert(target) {
                *waiting.entry(target).or_default() += 1;
            }
        }
    }
    let mut ready: BTreeSet<usize> = waiting.iter().filter(|(_, count)| **count == 0).map(|(&item, _)| item).collect();
    let mut order = Vec::with_capacity(items.len());
    while let Some(item) = ready.pop_first() {
        match inner_loop(forest, region, item) {
            Some(inner) => order.extend_from_slice(&sorted[inner]),
            None => order.push(item),
        }
        for target in edges.get(&item).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(target) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(*target);
                }
            }
        }
    }
    assert_eq!(order.len(), items.len(), "predicate: the graph of a region has a cycle");
    order
}

/// Maps every block of a region to the item that stands for it there: itself, or the header of the
/// inner loop that contains it.
pub(super) fn region_items(forest: &LoopForest, region: Option<usize>, blocks: usize) -> BTreeMap<usize, usize> {
    let members: Vec<usize> = match region {
        Some(index) => forest.loops[index].blocks.iter().copied().collect(),
        None => (0..blocks).collect(),
    };
    let item = |block: usize| inner_loop(forest, region, block).map_or(block, |inner| forest.loops[inner].header);
    members.into_iter().map(|block| (block, item(block))).collect()
}

/// The outermost loop inside `region` that contains the block; `None` when the block is directly there.
fn inner_loop(forest: &LoopForest, region: Option<usize>, block: usize) -> Option<usize> {
    forest.around(block).take_while(|&index| Some(index) != region).last()
}
