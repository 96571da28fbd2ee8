//! Reverse postorder, and worklists that follow it.

use super::Graph;
use std::collections::BTreeSet;

/// The nodes that the start leads to in reverse postorder: each behind its predecessors, but for edges that go back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) nodes: Vec<usize>,
    /// Where each node stands; `None` for those that the start does not lead to.
    positions: Vec<Option<usize>>,
}

impl Order {
    /// The order of a depth-first search that follows successors in their order.
    pub(crate) fn of(graph: &Graph) -> Order {
        let mut nodes = Vec::with_capacity(graph.len());
        let mut seen = vec![false; graph.len()];
        // A node, and how many of its successors were looked at.
        let mut pending: Vec<(usize, usize)> = Vec::new();
        if let Some(start) = seen.get_mut(graph.start) {
            *start = true;
            pending.push((graph.start, 0));
        }
        while let Some((node, next)) = pending.last_mut() {
            match graph.successors[*node].get(*next) {
                Some(&target) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[target], true) {
                        pending.push((target, 0));
                    }
                }
                None => {
                    nodes.push(*node);
                    pending.pop();
                }
            }
        }
        nodes.reverse();
        let mut positions = vec![None; graph.len()];
        nodes.iter().enumerate().for_each(|(position, node)| positions[*node] = Some(position));
        Order { nodes, positions }
    }

    /// Whether an edge goes back in this order, as all that close a loop do.
    pub(crate) fn goes_back(&self, from: usize, to: usize) -> bool {
        self.positions[from].zip(self.positions[to]).is_some_and(|(from, to)| to <= from)
    }
}

/// Nodes to visit in a forward analysis, the first in reverse postorder next.
pub(crate) struct Worklist<'o> {
    order: &'o Order,
    /// Their positions; that of the start is 0.
    open: BTreeSet<usize>,
}

impl<'o> Worklist<'o> {
    /// With the start.
    pub(crate) fn new(order: &'o Order) -> Self {
        Worklist { order, open: BTreeSet::from([0]) }
    }

    /// Adds a node, if the start leads to it.
    pub(crate) fn push(&mut self, node: usize) {
        self.open.extend(self.order.positions[node]);
    }

    /// Takes the next node.
    pub(crate) fn pop(&mut self) -> Option<usize> {
        self.open.pop_first().map(|position| self.order.nodes[position])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_stands_behind_its_predecessors_but_for_loops() {
        let graph = Graph::new(vec![vec![1, 2], vec![3], vec![3], vec![1, 4], vec![], vec![0]]);
        let order = Order::of(&graph);
        assert_eq!(order.nodes, [0, 2, 1, 3, 4]);
        assert!(order.goes_back(3, 1) && !order.goes_back(1, 3) && !order.goes_back(5, 0));
    }

    #[test]
    fn worklists_follow_the_order() {
        let order = Order::of(&Graph::new(vec![vec![2, 1], vec![3], vec![3], vec![]]));
        let mut work = Worklist::new(&order);
        [3, 2, 1, 2].into_iter().for_each(|node| work.push(node));
        assert_eq!(std::iter::from_fn(|| work.pop()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}
