//! Flow graphs: order of visits, dominators, natural loops, worklists. All stages that look at a graph of blocks use these.
//!
//! Input: successor lists by number, or a graph of petgraph's. Output: [`Graph`], and what is asked of it.

mod dominators;
mod loops;
mod order;

pub(crate) use dominators::Dominators;
pub use loops::{Loop, LoopForest};
pub(crate) use order::Order;
pub(crate) use order::Worklist;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

/// A flow graph. A node without successors ends the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The node where every thread starts.
    start: usize,
    /// Successors of each node, without repetition.
    pub successors: Vec<Vec<usize>>,
    /// Predecessors of each node, ascending.
    pub predecessors: Vec<Vec<usize>>,
}

impl Graph {
    /// A graph from successor lists that starts at node 0.
    pub fn new(mut successors: Vec<Vec<usize>>) -> Graph {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (node, targets) in successors.iter_mut().enumerate() {
            let mut distinct = Vec::with_capacity(targets.len());
            for &target in &*targets {
                // A node is the last of its targets' predecessors if it is one already.
                if predecessors[target].last() != Some(&node) {
                    predecessors[target].push(node);
                    distinct.push(target);
                }
            }
            *targets = distinct;
        }
        Graph { start: 0, successors, predecessors }
    }

    /// The graph without its weights, successors in the order in which their edges were made.
    pub(crate) fn of<N, E>(graph: &DiGraph<N, E>, start: NodeIndex) -> Graph {
        let mut successors = vec![Vec::new(); graph.node_count()];
        for edge in graph.edge_references() {
            successors[edge.source().index()].push(edge.target().index());
        }
        Graph { start: start.index(), ..Graph::new(successors) }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// True when the graph has no node.
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// For each node, whether a path leads to it from the start.
    pub fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.len()];
        let mut pending = vec![self.start];
        while let Some(node) = pending.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                pending.extend(&self.successors[node]);
            }
        }
        seen
    }

    /// Dominators from the start.
    pub fn dominators(&self) -> Dominators {
        Dominators::new(&self.successors, self.start)
    }

    /// Post-dominators to a node that is the only one without successors.
    pub(crate) fn post_dominators(&self, exit: usize) -> Dominators {
        Dominators::new(&self.predecessors, exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_count_once() {
        let graph = Graph::new(vec![vec![2, 1, 2], vec![], vec![2]]);
        assert_eq!(graph.successors, [vec![2, 1], vec![], vec![2]]);
        assert_eq!(graph.predecessors, [vec![], vec![0], vec![0, 2]]);
    }

    #[test]
    fn post_dominators_are_where_paths_meet() {
        let graph = Graph::new(vec![vec![1, 2], vec![3], vec![3], vec![4, 3], vec![]]);
        let post = graph.post_dominators(4);
        assert_eq!(post.immediate(0), Some(3));
        assert!(post.dominates(3, 1) && !post.dominates(1, 0));
        assert_eq!(post.immediate(4), None);
    }
}
