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
    let dominators = simple_fast(&cfg.graph, cfg.start);
    let mut bodies: BTreeMap<NodeIndex, BTreeSet<NodeIndex>> = BTreeMap::new();
    for edge in cfg.graph.edge_references() {
        if dominates(&dominators, edge.target(), edge.source()) {
            let body = bodies.entry(edge.target()).or_default();
            body.insert(edge.target());
            grow(cfg, edge.source(), body);
        }
    }
    let depth = |header: &NodeIndex| bodies.values().filter(|b| b.contains(header)).count();
    let mut headers: Vec<_> = bodies.keys().map(|h| (depth(h), *h)).collect();
    headers.sort();
    let order: Vec<NodeIndex> = headers.into_iter().map(|h| h.1).collect();
    let parent = |position: usize| {
        let header = order[position];
        (0..position).rev().find(|p| bodies[&order[*p]].contains(&header))
    };
    (0..order.len())
        .map(|position| {
            let blocks = &bodies[&order[position]];
            let leaves = |b: &NodeIndex| cfg.graph.neighbors(*b).any(|n| !blocks.contains(&n));
            NaturalLoop {
                header: order[position],
                blocks: blocks.iter().copied().collect(),
                parent: parent(position),
                has_exit: blocks.iter().any(leaves),
            }
        })
        .collect()
}

fn dominates(dominators: &Dominators<NodeIndex>, above: NodeIndex, node: NodeIndex) -> bool {
    dominators.dominators(node).is_some_and(|mut chain| chain.any(|d| d == above))
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
    tree: Dominators<NodeIndex>,
    exit: NodeIndex,
}

impl PostDominators {
    /// The next block that every path from `block` to the virtual exit passes; `None` for the exit.
    pub fn immediate(&self, block: NodeIndex) -> Option<NodeIndex> {
        self.tree.immediate_dominator(block).filter(|b| *b != self.exit)
    }

    /// Whether every path from `block` to the virtual exit passes `below` (a block passes itself).
    pub fn post_dominates(&self, below: NodeIndex, block: NodeIndex) -> bool {
        dominates(&self.tree, below, block)
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
    PostDominators { tree: simple_fast(Reversed(&graph), exit), exit }
}
