//! Node splitting: every cycle becomes a natural loop.
//!
//! Input: a [`Cfg`]. Output: the same with some blocks copied. Establishes: the graph is reducible.
//! Relies on: the start has no predecessor. Reference: node splitting on strongly connected regions.
//!
//! A strongly connected region with several entry blocks keeps one of them as its header. For the
//! jumps into the others, the blocks that they reach inside the region without passing the header
//! are copied, and the copies are left towards the header or out of the region. Then the region has
//! one entry, and the same is done inside it with the header taken away. Each step copies at most
//! the region, and regions shrink, so only the total growth needs a bound.

use super::blocks::unique_names;
use super::graph::{Cfg, EdgeCondition};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::{EdgeRef, NodeFiltered};
use petgraph::{Direction, Graph};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks after splitting may be this many times those before, and [`MAX_ADDED`] more.
const MAX_GROWTH: usize = 4;
/// See [`MAX_GROWTH`].
const MAX_ADDED: usize = 64;

/// Splits nodes until the graph is reducible.
///
/// # Errors
/// `unsupported` when the copies would be too many.
pub(crate) fn run(cfg: &mut Cfg, span: Span) -> Result<(), Vec<Diagnostic>> {
    let limit = cfg.graph.node_count() * MAX_GROWTH + MAX_ADDED;
    let mut regions: Vec<BTreeSet<NodeIndex>> = vec![cfg.graph.node_indices().collect()];
    while let Some(nodes) = regions.pop() {
        for component in cycles(cfg, &nodes) {
            let entries = entries(cfg, &component);
            let header = choose_header(cfg, &component, &entries);
            if entries.len() > 1 {
                split(cfg, &component, &entries, header);
                if cfg.graph.node_count() > limit {
                    let name = &cfg.graph[header].name;
                    let message = format!("irreducible control flow around block `{name}`");
                    let span = cfg.graph[header].terminator.as_ref().map_or(span, |o| o.span);
                    return Err(vec![
                        Diagnostic::unsupported("irreducible", message, span)
                            .note("a loop with several entries needs too many copies to become a natural loop"),
                    ]);
                }
                // The copies may hold cycles of their own.
                regions = vec![cfg.graph.node_indices().collect()];
                break;
            }
            regions.push(component.into_iter().filter(|n| *n != header).collect());
        }
    }
    unique_names(cfg);
    Ok(())
}

/// The strongly connected components with a cycle among some nodes, by their smallest node.
fn cycles(cfg: &Cfg, nodes: &BTreeSet<NodeIndex>) -> Vec<BTreeSet<NodeIndex>> {
    let inside = NodeFiltered::from_fn(&cfg.graph, |n| nodes.contains(&n));
    let mut components: Vec<BTreeSet<NodeIndex>> = kosaraju_scc(&inside)
        .into_iter()
        .filter(|c| c.len() > 1 || cfg.graph.find_edge(c[0], c[0]).is_some())
        .map(|c| c.into_iter().collect())
        .collect();
    components.sort();
    components
}

/// The blocks of a component that are entered from outside it.
fn entries(cfg: &Cfg, component: &BTreeSet<NodeIndex>) -> BTreeSet<NodeIndex> {
    let entered =
        |n: &NodeIndex| cfg.graph.neighbors_directed(*n, Direction::Incoming).any(|p| !component.contains(&p));
    component.iter().copied().filter(entered).collect()
}

/// The entry with the most predecessors in the component: the one that looks most like a loop head.
fn choose_header(cfg: &Cfg, component: &BTreeSet<NodeIndex>, entries: &BTreeSet<NodeIndex>) -> NodeIndex {
    let inside =
        |n: &NodeIndex| cfg.graph.neighbors_directed(*n, Direction::Incoming).filter(|p| component.contains(p)).count();
    let best = entries.iter().copied().max_by_key(|n| (inside(n), std::cmp::Reverse(*n)));
    best.unwrap_or_else(|| panic!("cfg: a cycle that nothing enters is reachable"))
}

/// Copies what the entries other than the header reach, and moves the jumps from outside there.
fn split(cfg: &mut Cfg, component: &BTreeSet<NodeIndex>, entries: &BTreeSet<NodeIndex>, header: NodeIndex) {
    let mut copied = BTreeSet::new();
    let mut work: Vec<_> = entries.iter().copied().filter(|e| *e != header).collect();
    while let Some(node) = work.pop() {
        if copied.insert(node) {
            let next = cfg.graph.neighbors(node).filter(|n| component.contains(n) && *n != header);
            work.extend(next);
        }
    }
    let copies: BTreeMap<_, _> = copied.iter().map(|n| (*n, cfg.graph.add_node(cfg.graph[*n].clone()))).collect();
    for (original, copy) in &copies {
        for (target, condition) in ordered_successors(&cfg.graph, *original) {
            cfg.graph.add_edge(*copy, copies.get(&target).copied().unwrap_or(target), condition);
        }
    }
    let outside: Vec<EdgeIndex> = cfg
        .graph
        .edge_references()
        .filter(|e| copies.contains_key(&e.target()) && !component.contains(&e.source()))
        .map(|e| e.id())
        .collect();
    redirect(&mut cfg.graph, &outside, &copies);
}

/// Successors in the order in which their edges were made.
pub(super) fn ordered_successors<N>(
    graph: &Graph<N, EdgeCondition>,
    node: NodeIndex,
) -> Vec<(NodeIndex, EdgeCondition)> {
    let mut edges: Vec<_> = graph.edges(node).map(|e| (e.id(), e.target(), e.weight().clone())).collect();
    edges.sort_by_key(|e| e.0);
    edges.into_iter().map(|(_, target, condition)| (target, condition)).collect()
}

/// Moves the targets of some edges; edge order is kept by making all edges anew.
pub(super) fn redirect<N>(
    graph: &mut Graph<N, EdgeCondition>,
    edges: &[EdgeIndex],
    targets: &BTreeMap<NodeIndex, NodeIndex>,
) {
    let moved: BTreeSet<_> = edges.iter().copied().collect();
    let all: Vec<_> = graph
        .edge_references()
        .map(|e| {
            let target = e.target();
            let target = if moved.contains(&e.id()) { targets.get(&target).copied().unwrap_or(target) } else { target };
            (e.source(), target, e.weight().clone())
        })
        .collect();
    graph.clear_edges();
    for (source, target, condition) in all {
        graph.add_edge(source, target, condition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cfg::graph::BasicBlock;
    use petgraph::algo::dominators::simple_fast;
    use petgraph::algo::is_cyclic_directed;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// A graph from successor lists; block 0 starts and nothing leads to it.
    fn graph(successors: &[Vec<usize>]) -> Cfg {
        let mut cfg = Cfg {
            entry_name: Arc::from("test"),
            graph: Graph::new(),
            start: NodeIndex::new(0),
            registers: Vec::new(),
            variables: Vec::new(),
            assumptions: std::collections::BTreeSet::new(),
            loops: crate::flow::LoopForest::default(),
        };
        for number in 0..successors.len() {
            let name = Arc::from(format!("b{number}"));
            cfg.graph.add_node(BasicBlock { name, ..BasicBlock::default() });
        }
        for (source, targets) in successors.iter().enumerate() {
            for (number, target) in (0u32..).zip(targets) {
                let condition = EdgeCondition::Index(crate::ptx::ast::Operand::Sink, number);
                cfg.graph.add_edge(NodeIndex::new(source), NodeIndex::new(*target), condition);
            }
        }
        cfg
    }

    fn original(cfg: &Cfg, node: NodeIndex) -> usize {
        let name = &cfg.graph[node].name;
        let number = name.trim_start_matches('b').split('.').next().unwrap_or("");
        number.parse().unwrap()
    }

    /// Without its back edges (to a dominator) a reducible graph has no cycle.
    fn is_reducible(cfg: &Cfg) -> bool {
        let dominators = simple_fast(&cfg.graph, cfg.start);
        let back = |source, target| dominators.dominators(source).is_some_and(|mut d| d.any(|n| n == target));
        let forward = cfg
            .graph
            .filter_map(|_, _| Some(()), |e, _| cfg.graph.edge_endpoints(e).filter(|(a, b)| !back(*a, *b)).map(|_| ()));
        !is_cyclic_directed(&forward)
    }

    /// Every copy leads to copies of what its original led to, in the same order.
    fn same_paths(cfg: &Cfg, successors: &[Vec<usize>]) -> bool {
        cfg.graph.node_indices().all(|node| {
            let targets: Vec<_> = ordered_successors(&cfg.graph, node).iter().map(|s| original(cfg, s.0)).collect();
            targets == successors[original(cfg, node)]
        })
    }

    #[test]
    fn a_loop_with_two_entries_is_split() {
        let successors = vec![vec![1, 2], vec![2, 3], vec![1, 3], vec![]];
        let mut cfg = graph(&successors);
        assert!(!is_reducible(&cfg));
        assert!(run(&mut cfg, Span::NONE).is_ok());
        assert!(is_reducible(&cfg) && same_paths(&cfg, &successors));
        assert_eq!(cfg.graph.node_count(), 5);
    }

    #[test]
    fn a_reducible_graph_stays() {
        let successors = vec![vec![1], vec![2, 3], vec![2, 1], vec![]];
        let mut cfg = graph(&successors);
        assert!(run(&mut cfg, Span::NONE).is_ok());
        assert_eq!(cfg.graph.node_count(), 4);
    }

    proptest! {
        #[test]
        fn random_graphs_become_reducible(lists in proptest::collection::vec(proptest::collection::vec(1usize..9, 0..3), 9)) {
            // Keep what block 0 reaches, so that every block is reachable as `blocks` establishes.
            let mut cfg = graph(&lists);
            let mut search = petgraph::visit::Dfs::new(&cfg.graph, cfg.start);
            let mut seen = BTreeSet::new();
            while let Some(node) = search.next(&cfg.graph) {
                seen.insert(node);
            }
            let lists: Vec<Vec<usize>> = lists
                .iter()
                .enumerate()
                .map(|(n, list)| if seen.contains(&NodeIndex::new(n)) { list.clone() } else { vec![] })
                .collect();
            cfg = graph(&lists);
            if run(&mut cfg, Span::NONE).is_ok() {
                prop_assert!(is_reducible(&cfg));
                prop_assert!(same_paths(&cfg, &lists));
            }
        }
    }
}
