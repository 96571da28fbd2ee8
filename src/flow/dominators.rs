//! Dominator trees.
//!
//! Input: successor lists and a root (successors of the reversed graph for post-dominators). Output: [`Dominators`].
//! Establishes: a node that no path leads to dominates nothing and has no dominators.
//! Reference: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (petgraph's).

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

/// A dominator tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    /// Immediate dominator of each node; `None` for the root.
    immediate: Vec<Option<usize>>,
    /// When a walk over the tree comes to each node and when it leaves it; `None` where it does not come.
    visits: Vec<Option<(usize, usize)>>,
}

impl Dominators {
    pub(super) fn new(successors: &[Vec<usize>], root: usize) -> Dominators {
        if successors.is_empty() {
            return Dominators { immediate: Vec::new(), visits: Vec::new() };
        }
        let mut graph = DiGraph::<(), ()>::with_capacity(successors.len(), 2 * successors.len());
        let nodes: Vec<NodeIndex> = successors.iter().map(|_| graph.add_node(())).collect();
        for (node, targets) in successors.iter().enumerate() {
            for &target in targets {
                graph.add_edge(nodes[node], nodes[target], ());
            }
        }
        let tree = simple_fast(&graph, nodes[root]);
        let immediate: Vec<Option<usize>> =
            nodes.iter().map(|&node| tree.immediate_dominator(node).map(NodeIndex::index)).collect();
        let visits = visits(&immediate, root);
        Dominators { immediate, visits }
    }

    /// The last node before `node` that every path to it passes.
    pub(crate) fn immediate(&self, node: usize) -> Option<usize> {
        self.immediate[node]
    }

    /// Whether every path from the root to `node` passes `dominator` (a node dominates itself).
    pub(crate) fn dominates(&self, dominator: usize, node: usize) -> bool {
        match (self.visits[dominator], self.visits[node]) {
            (Some(above), Some(node)) => above.0 <= node.0 && node.1 <= above.1,
            _ => false,
        }
    }

    /// The dominators of a node: itself, its immediate dominator, and so on to the root.
    pub(crate) fn of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&at| self.immediate[at])
    }
}

fn visits(immediate: &[Option<usize>], root: usize) -> Vec<Option<(usize, usize)>> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); immediate.len()];
    for (node, parent) in immediate.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent].push(node);
        }
    }
    let mut visits: Vec<Option<(usize, usize)>> = vec![None; immediate.len()];
    let mut clock = 0;
    let mut pending = vec![root];
    while let Some(&node) = pending.last() {
        clock += 1;
        match &mut visits[node] {
            Some((_, end)) => {
                *end = clock;
                pending.pop();
            }
            start => {
                *start = Some((clock, clock));
                pending.extend(&children[node]);
            }
        }
    }
    visits
}
