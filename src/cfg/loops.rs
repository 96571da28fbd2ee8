//! Natural loops.
//!
//! Input: a reducible [`Cfg`]. Output: its natural loops; the graph with their headers apart.
//! Establishes ([`separate_headers`]): a block with several successors has at most one loop header
//! among them. Relies on: every block is reachable. Reference: lock-step paper, section 4
//! (predication needs branches that choose between at most one loop head and other blocks).

use super::graph::{BasicBlock, Cfg, EdgeCondition};
use super::reducible::redirect;
use crate::flow::{Graph, LoopForest};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The natural loops, by the indices of blocks.
pub(crate) fn natural_loops(cfg: &Cfg) -> LoopForest {
    let graph = Graph::of(&cfg.graph, cfg.start);
    LoopForest::of(&graph, &graph.dominators()).unwrap_or_else(|block| {
        panic!("cfg: block {} lies on an irreducible cycle", cfg.graph[NodeIndex::new(block)].name)
    })
}

/// Puts an empty block on the edges from a branch to loop headers when there are several such edges.
pub(crate) fn separate_headers(cfg: &mut Cfg) {
    let headers: BTreeSet<_> = natural_loops(cfg).loops.iter().map(|l| NodeIndex::new(l.header)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use petgraph::graph::DiGraph;

    fn graph(edges: &[(u32, u32)]) -> Cfg {
        let mut cfg = Cfg {
            entry_name: Arc::from("test"),
            graph: DiGraph::new(),
            start: NodeIndex::new(0),
            registers: Vec::new(),
            variables: Vec::new(),
            assumptions: std::collections::BTreeSet::new(),
            loops: LoopForest::default(),
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

    #[test]
    fn a_branch_to_two_loop_headers_gets_empty_blocks() {
        let mut cfg = graph(&[(0, 1), (0, 2), (1, 1), (1, 3), (2, 2), (2, 3)]);
        separate_headers(&mut cfg);
        let headers: BTreeSet<_> = natural_loops(&cfg).loops.iter().map(|l| NodeIndex::new(l.header)).collect();
        for block in cfg.graph.node_indices() {
            let successors: Vec<_> = cfg.graph.neighbors(block).collect();
            assert!(successors.len() < 2 || successors.iter().filter(|s| headers.contains(s)).count() < 2);
        }
    }
}
