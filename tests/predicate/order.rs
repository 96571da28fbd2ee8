//! The sort order satisfies the two conditions of section 4 on random reducible graphs.

use super::random::{Source, reducible_graph};
use gpuvcc::flow::{Graph, LoopForest};
use gpuvcc::predicate::order::sort_order;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn sort_order_conditions(seed: u64) {
        let graph = reducible_graph(&mut Source::new(seed), true);
        let forest = LoopForest::of(&graph, &graph.dominators()).expect("reducible");
        let order = sort_order(&graph, &forest);
        let mut position = vec![usize::MAX; graph.len()];
        for (place, &node) in order.iter().enumerate() {
            position[node] = place;
        }
        prop_assert!(order.len() == graph.len() && position.iter().all(|&place| place < graph.len()));
        // Condition 1: each edge that is no back edge goes forward.
        for (from, targets) in graph.successors.iter().enumerate() {
            for &to in targets {
                prop_assert!(position[from] < position[to] || forest.is_back_edge(from, to), "{graph:?} {order:?}");
            }
        }
        // Condition 2: loops are contiguous; the header is first.
        for this in &forest.loops {
            let places: Vec<usize> = this.blocks.iter().map(|&node| position[node]).collect();
            let (first, last) = (places.iter().min().unwrap(), places.iter().max().unwrap());
            prop_assert_eq!(last - first + 1, places.len());
            prop_assert_eq!(*first, position[this.header]);
        }
    }
}

#[test]
fn irreducible_cycle_is_refused() {
    let graph = Graph::new(vec![vec![1, 2], vec![2], vec![1, 3], vec![]]);
    assert!(LoopForest::of(&graph, &graph.dominators()).is_err());
}
