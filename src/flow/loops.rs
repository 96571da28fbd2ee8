//! Natural loops and how they nest.
//!
//! Input: a [`Graph`] and its dominators. Output: [`LoopForest`]. Establishes: every loop has one header, which dominates
//! its blocks; loops are nested or disjoint; a graph with an irreducible cycle is refused. What the start does not lead to
//! is in no loop. Reference: the lock-step paper, section 3.1 (kernels are reducible, so cycles are natural loops).

use super::{Dominators, Graph};
use std::collections::BTreeSet;

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The one block through which the loop is entered.
    pub header: usize,
    /// All its blocks, those of inner loops included.
    pub blocks: BTreeSet<usize>,
    /// The loop around it, as an index into the list of loops.
    pub(crate) parent: Option<usize>,
}

/// The loops of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopForest {
    /// Loops, outer ones before inner ones.
    pub loops: Vec<Loop>,
    /// The innermost loop of each node.
    pub(crate) innermost: Vec<Option<usize>>,
}

impl LoopForest {
    /// The natural loops of a graph.
    ///
    /// # Errors
    /// A node of an irreducible cycle: one that is entered at more than one place.
    pub fn of(graph: &Graph, dominators: &Dominators) -> Result<LoopForest, usize> {
        let is_back_edge = |from: usize, to: usize| dominators.dominates(to, from);
        if let Some(node) = node_on_cycle(graph, is_back_edge) {
            return Err(node);
        }
        let mut loops = Vec::new();
        for header in 0..graph.len() {
            let latches: Vec<usize> =
                graph.predecessors[header].iter().copied().filter(|&from| is_back_edge(from, header)).collect();
            if !latches.is_empty() {
                loops.push(Loop { header, blocks: loop_body(graph, header, latches), parent: None });
            }
        }
        Ok(nest(loops, graph.len()))
    }

    /// The loops around a node, innermost first.
    pub(crate) fn around(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.innermost[node], |&index| self.loops[index].parent)
    }

    /// How many loops are around a node.
    pub(crate) fn depth(&self, node: usize) -> usize {
        self.around(node).count()
    }

    /// The loop that a node heads.
    pub(crate) fn headed_by(&self, node: usize) -> Option<&Loop> {
        self.loops.iter().find(|candidate| candidate.header == node)
    }

    /// Whether the edge returns to the header of a loop that contains its source.
    pub fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.around(from).any(|index| self.loops[index].header == to)
    }
}

/// The header and every node that reaches a latch without passing the header.
fn loop_body(graph: &Graph, header: usize, latches: Vec<usize>) -> BTreeSet<usize> {
    let mut blocks = BTreeSet::from([header]);
    let mut pending = latches;
    while let Some(node) = pending.pop() {
        if blocks.insert(node) {
            pending.extend(graph.predecessors[node].iter().copied());
        }
    }
    blocks
}

/// Finds parents. In a reducible graph two loops are nested or disjoint, so size orders a nest.
fn nest(mut loops: Vec<Loop>, nodes: usize) -> LoopForest {
    loops.sort_by_key(|l| (std::cmp::Reverse(l.blocks.len()), l.header));
    let mut innermost: Vec<Option<usize>> = vec![None; nodes];
    for (index, this) in loops.iter_mut().enumerate() {
        this.parent = innermost[this.header];
        for &node in &this.blocks {
            innermost[node] = Some(index);
        }
    }
    LoopForest { loops, innermost }
}

/// A node of a cycle that remains when back edges are ignored, and edges from what the start does not lead to.
fn node_on_cycle(graph: &Graph, is_back_edge: impl Fn(usize, usize) -> bool) -> Option<usize> {
    let reachable = graph.reachable();
    let is_forward = |from: usize, to: usize| reachable[from] && !is_back_edge(from, to);
    let forward: Vec<Vec<usize>> = (0..graph.len())
        .map(|from| graph.successors[from].iter().copied().filter(|&to| is_forward(from, to)).collect())
        .collect();
    let mut waiting = vec![0usize; graph.len()];
    for &target in forward.iter().flatten() {
        waiting[target] += 1;
    }
    let mut ready: Vec<usize> = (0..graph.len()).filter(|&node| waiting[node] == 0).collect();
    while let Some(node) = ready.pop() {
        for &target in &forward[node] {
            waiting[target] -= 1;
            if waiting[target] == 0 {
                ready.push(target);
            }
        }
    }
    // What is left lies on a cycle or behind one; the first is a good enough witness for a message.
    waiting.iter().position(|&count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forest(successors: Vec<Vec<usize>>) -> Result<LoopForest, usize> {
        let graph = Graph::new(successors);
        LoopForest::of(&graph, &graph.dominators())
    }

    #[test]
    fn nested_loops_know_their_parents() {
        // 1 and 2 head nested loops, 5 heads one that never leaves.
        let forest = forest(vec![vec![1], vec![2], vec![3], vec![2, 4], vec![1, 5], vec![5]]).unwrap();
        let summary: Vec<_> = forest.loops.iter().map(|l| (l.header, l.blocks.len(), l.parent)).collect();
        assert_eq!(summary, [(1, 4, None), (2, 2, Some(0)), (5, 1, None)]);
        assert_eq!((forest.depth(3), forest.depth(0)), (2, 0));
    }

    #[test]
    fn cycles_that_nothing_leads_to_are_no_loops() {
        assert_eq!(forest(vec![vec![1], vec![], vec![3, 1], vec![2]]).map(|forest| forest.loops), Ok(Vec::new()));
        assert!(forest(vec![vec![1, 2], vec![2], vec![1]]).is_err());
    }
}
