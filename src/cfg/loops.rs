//! Dominators, natural loops and post-dominators.
//!
//! Input: a reducible [`Cfg`]. Output: its natural loops, outermost first; its post-dominators.
//! Establishes ([`separate_headers`]): a block with several successors has at most one loop header
//! among them. Relies on: every block is reachable. Reference: lock-step paper, section 4
//! (predication needs branches that choose between at most one loop head and other blocks).

use super::graph::{BasicBlock, Cfg, EdgeCondition, NaturalLoop};
use super::reducible::redirect;
use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeRef, Reversed};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The natural loops: back edges with one header are one loop. Outer loops come before inner ones.
pub fn natural_loops(cfg: &Cfg) -> Vec<NaturalLoop> {
    let dominators = Tree::new(&simple_fast(&cfg.graph, cfg.start), cfg.graph.node_indices());
    let mut bodies: BTreeMap<NodeIndex, BTreeSet<NodeIndex>> = BTreeMap::new();
    for edge in cfg.graph.edge_references() {
        if dominators.dominates(edge.target(), edge.source()) {
            let body = bodies.entry(edge.target()).or_default();
            body.insert(edge.target());
            grow(cfg, edge.source(), body);
        }
    }
    let mut depth = vec![0usize; cfg.graph.node_count()];
    bodies.values().flatten().for_each(|block| depth[block.index()] += 1);
    let mut order: Vec<NodeIndex> = bodies.keys().copied().collect();
    order.sort_by_key(|header| (depth[header.index()], *header));
    // The innermost loop so far around each block.
    let mut innermost: Vec<Option<usize>> = vec![None; cfg.graph.node_count()];
    let mut loops = Vec::new();
    for (position, header) in order.into_iter().enumerate() {
        let blocks = &bodies[&header];
        let leaves = |b: &NodeIndex| cfg.graph.neighbors(*b).any(|n| !blocks.contains(&n));
        let has_exit = blocks.iter().any(leaves);
        let parent = innermost[header.index()];
        blocks.iter().for_each(|b| innermost[b.index()] = Some(position));
        loops.push(NaturalLoop { header, blocks: blocks.iter().copied().collect(), parent, has_exit });
    }
    loops
}

/// A dominator tree that answers whether one block dominates another in constant time.
struct Tree {
    /// Entry and exit time of each node in a walk over the tree.
    times: BTreeMap<NodeIndex, (usize, usize)>,
}

impl Tree {
    fn new(dominators: &Dominators<NodeIndex>, nodes: impl Iterator<Item = NodeIndex>) -> Tree {
        let mut children: BTreeMap<NodeIndex, Vec<NodeIndex>> = BTreeMap::new();
        for node in nodes {
            if let Some(parent) = dominators.immediate_dominator(node) {
                children.entry(parent).or_default().push(node);
            }
        }
        let mut times = BTreeMap::new();
        let mut clock = 0;
        let mut work = vec![(dominators.root(), false)];
        while let Some((node, done)) = work.pop() {
            clock += 1;
            if done {
                times.entry(node).and_modify(|t: &mut (usize, usize)| t.1 = clock);
                continue;
            }
            times.insert(node, (clock, clock));
            work.push((node, true));
            work.extend(children.get(&node).into_iter().flatten().map(|child| (*child, false)));
        }
        Tree { times }
    }

    fn dominates(&self, above: NodeIndex, node: NodeIndex) -> bool {
        match (self.times.get(&above), self.times.get(&node)) {
            (Some(above), Some(node)) => above.0 <= node.0 && node.1 <= above.1,
            _ => false,
        }
    }
}

/// Adds everything that reaches the latch without passing the header (which is in the body already).
fn grow(cfg: &Cfg, latch: NodeIndex, body: &mut BTreeSet<NodeIndex>) {
    let mut work = vec![latch];
    while let Some(node) = work.pop() {
        if body.insert(node) {
            work.extend(cfg.graph.neighbors_directed(node, Direction::Incoming));
        }
    }
}

/// Puts an empty block on the edges from a branch to loop headers when there are several such edges.
pub fn separate_headers(cfg: &mut Cfg) {
    let headers: BTreeSet<_> = natural_loops(cfg).iter().map(|l| l.header).collect();
    for node in cfg.graph.node_indices().collect::<Vec<_>>() {
        let edges: Vec<_> =
            cfg.graph.edges(node).filter(|e| headers.contains(&e.target())).map(|e| (e.id(), e.target())).collect();
        if edges.len() < 2 {
            continue;
        }
        for (edge, header) in edges {
            let name = Arc::from(format!("{}.to.{}", cfg.graph[node].name, cfg.graph[header].name));
            let between = cfg.graph.add_node(BasicBlock { name, ..BasicBlock::default() });
            redirect(&mut cfg.graph, &[edge], &BTreeMap::from([(header, between)]));
            cfg.graph.add_edge(between, header, EdgeCondition::Always);
        }
    }
}

/// Post-dominators, with a virtual exit after every block that ends the thread and, so that the
/// relation is defined for loops that never leave, after every block that cannot reach such a block
/// and lies on a cycle.
pub struct PostDominators {
    dominators: Dominators<NodeIndex>,
    tree: Tree,
    exit: NodeIndex,
}

impl PostDominators {
    /// The next block that every path from `block` to the virtual exit passes; `None` for the exit.
    pub fn immediate(&self, block: NodeIndex) -> Option<NodeIndex> {
        self.dominators.immediate_dominator(block).filter(|b| *b != self.exit)
    }

    /// Whether every path from `block` to the virtual exit passes `below` (a block passes itself).
    pub fn post_dominates(&self, below: NodeIndex, block: NodeIndex) -> bool {
        self.tree.dominates(below, block)
    }
}

/// Computes the post-dominators.
pub fn post_dominators(cfg: &Cfg) -> PostDominators {
    let mut graph: DiGraph<(), ()> = cfg.graph.map(|_, _| (), |_, _| ());
    let exit = graph.add_node(());
    for component in kosaraju_scc(&cfg.graph) {
        let inside: BTreeSet<_> = component.iter().copied().collect();
        let leaves = |b: &NodeIndex| cfg.graph.neighbors(*b).any(|n| !inside.contains(&n));
        if !component.iter().any(leaves) {
            component.iter().for_each(|b| {
                graph.add_edge(*b, exit, ());
            });
        }
    }
    let dominators = simple_fast(Reversed(&graph), exit);
    let tree = Tree::new(&dominators, graph.node_indices());
    PostDominators { dominators, tree, exit }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, u32)]) -> Cfg {
        let mut cfg = Cfg {
            entry_name: Arc::from("test"),
            graph: DiGraph::new(),
            start: NodeIndex::new(0),
            registers: Vec::new(),
            variables: Vec::new(),
            assumptions: std::collections::BTreeSet::new(),
            loops: Vec::new(),
        };
        let count = edges.iter().map(|(a, b)| a.max(b) + 1).max().unwrap_or(1);
        (0..count).for_each(|n| {
            cfg.graph.add_node(BasicBlock { name: Arc::from(format!("b{n}")), ..BasicBlock::default() });
        });
        for (a, b) in edges {
            cfg.graph.add_edge(NodeIndex::new(*a as usize), NodeIndex::new(*b as usize), EdgeCondition::Always);
        }
        cfg
    }

    fn node(number: usize) -> NodeIndex {
        NodeIndex::new(number)
    }

    #[test]
    fn nested_loops_know_their_parents_and_exits() {
        // 1 and 2 head nested loops, 5 heads one that never leaves.
        let cfg = graph(&[(0, 1), (1, 2), (2, 3), (3, 2), (3, 4), (4, 1), (4, 5), (5, 5)]);
        let loops = natural_loops(&cfg);
        let summary: Vec<_> = loops.iter().map(|l| (l.header.index(), l.blocks.len(), l.parent, l.has_exit)).collect();
        assert_eq!(summary, vec![(1, 4, None, true), (5, 1, None, false), (2, 2, Some(0), true)]);
    }

    #[test]
    fn post_dominators_are_defined_for_loops_that_never_leave() {
        let cfg = graph(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (5, 5)]);
        let post = post_dominators(&cfg);
        assert_eq!(post.immediate(node(0)), Some(node(3)));
        assert_eq!(post.immediate(node(3)), None);
        assert!(post.post_dominates(node(3), node(1)) && !post.post_dominates(node(4), node(3)));
        assert!(post.post_dominates(node(5), node(5)));
    }

    #[test]
    fn a_branch_to_two_loop_headers_gets_empty_blocks() {
        let mut cfg = graph(&[(0, 1), (0, 2), (1, 1), (1, 3), (2, 2), (2, 3)]);
        separate_headers(&mut cfg);
        let headers: BTreeSet<_> = natural_loops(&cfg).iter().map(|l| l.header).collect();
        for block in cfg.graph.node_indices() {
            let successors: Vec<_> = cfg.graph.neighbors(block).collect();
            assert!(successors.len() < 2 || successors.iter().filter(|s| headers.contains(s)).count() < 2);
        }
    }
}
