//! Flow graphs of kernel programs: reachability, dominators, natural loops.
//!
//! Input: successor lists by block number, block 0 being the start. Output: [`Dominators`] and
//! [`Loop`]s. Establishes: every loop has one header, which dominates its blocks; loops are nested or
//! disjoint; a graph with an irreducible cycle is refused. Relies on: nothing. Reference: the
//! lock-step paper, section 3.1 (kernels are reducible, so cycles are natural loops).

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;

/// A flow graph. Node 0 is the start; a node without successors ends the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowGraph {
    /// Successors of each node, without repetition.
    pub successors: Vec<Vec<usize>>,
    /// Predecessors of each node, ascending.
    pub predecessors: Vec<Vec<usize>>,
}

impl FlowGraph {
    /// A graph from successor lists.
    pub fn new(successors: Vec<Vec<usize>>) -> FlowGraph {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (node, targets) in successors.iter().enumerate() {
            for &target in targets {
                predecessors[target].push(node);
            }
        }
        FlowGraph { successors, predecessors }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// True when the graph has no node.
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// For each node, whether a path leads to it from node 0.
    pub fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.len()];
        let mut pending = vec![0];
        while let Some(node) = pending.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            pending.extend(self.successors[node].iter().copied());
        }
        seen
    }

    /// Dominators from node 0. Every node must be reachable.
    pub fn dominators(&self) -> Dominators {
        let mut graph = DiGraph::<(), ()>::with_capacity(self.len(), 2 * self.len());
        let nodes: Vec<NodeIndex> = (0..self.len()).map(|_| graph.add_node(())).collect();
        for (node, targets) in self.successors.iter().enumerate() {
            for &target in targets {
                graph.add_edge(nodes[node], nodes[target], ());
            }
        }
        let tree = simple_fast(&graph, nodes[0]);
        let immediate = nodes.iter().map(|&node| tree.immediate_dominator(node).map(NodeIndex::index)).collect();
        Dominators { immediate }
    }
}

/// The dominator tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    /// Immediate dominator of each node; `None` for node 0.
    immediate: Vec<Option<usize>>,
}

impl Dominators {
    /// Whether every path from the start to `node` passes `dominator` (a node dominates itself).
    pub fn dominates(&self, dominator: usize, node: usize) -> bool {
        self.of(node).any(|above| above == dominator)
    }

    /// The dominators of a node: itself, its immediate dominator, and so on to node 0.
    pub fn of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&at| self.immediate[at])
    }
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The one block through which the loop is entered.
    pub header: usize,
    /// All its blocks, those of inner loops included.
    pub blocks: BTreeSet<usize>,
    /// The loop around it, as an index into the list of loops.
    pub parent: Option<usize>,
}

/// The loops of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopForest {
    /// Loops, outer ones before inner ones.
    pub loops: Vec<Loop>,
    /// The innermost loop of each node.
    pub innermost: Vec<Option<usize>>,
}

impl LoopForest {
    /// The natural loops of a graph whose nodes are all reachable.
    ///
    /// # Errors
    /// A node of an irreducible cycle: one that is entered at more than one place.
    pub fn of(graph: &FlowGraph, dominators: &Dominators) -> Result<LoopForest, usize> {
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
    pub fn around(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.innermost[node], |&index| self.loops[index].parent)
    }

    /// Whether the edge returns to the header of a loop that contains its source.
    pub fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.around(from).any(|index| self.loops[index].header == to)
    }
}

/// The header and every node that reaches a latch without passing the header.
fn loop_body(graph: &FlowGraph, header: usize, latches: Vec<usize>) -> BTreeSet<usize> {
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

/// A node of a cycle that remains when back edges are ignored.
fn node_on_cycle(graph: &FlowGraph, is_back_edge: impl Fn(usize, usize) -> bool) -> Option<usize> {
    let forward: Vec<Vec<usize>> = (0..graph.len())
        .map(|from| graph.successors[from].iter().copied().filter(|&to| !is_back_edge(from, to)).collect())
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
