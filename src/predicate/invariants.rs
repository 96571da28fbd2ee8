//! Invariants of the user at the heads of their loops.
//!
//! Input: a kernel whose `assert {:invariant}` stand anywhere in loop bodies. Output: the same with those that can be
//! stated at the head of their innermost loop moved there. Establishes: a moved one fails exactly if it failed where it
//! stood; it leads the statements of the head, so that it is a loop invariant of the verification conditions:
//! proved on entry and for each round, and assumed at the head. One that depends on what the round reads before it
//! stays where it is, as an assertion. Relies on: one path leads from the head to the place.
//! Reference: Barnett and Leino, weakest preconditions (the condition at the head is that of the place).

use super::kernel::{Exit, Kernel};
use crate::flow::LoopForest;
use crate::ivl::ast::{ExprRef, Name, Stmt, StmtKind};
use crate::ivl::bv;
use crate::ivl::claim::Claim;
use crate::ivl::visit::{self, Visitor, assigned, free_vars, substitute};
use std::collections::{BTreeMap, BTreeSet};

/// Conditions with more nodes than this stay where they are.
const MOST_NODES: usize = 2000;

/// Whether a statement is an invariant of the user.
pub(crate) fn is_invariant(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Assert(Claim::Invariant(_), _))
}

/// Moves what can be moved.
pub(crate) fn move_to_heads(kernel: &mut Kernel, forest: &LoopForest) {
    let mut moved: BTreeMap<usize, Vec<Stmt>> = BTreeMap::new();
    for block in 0..kernel.blocks.len() {
        let Some(index) = forest.innermost[block] else { continue };
        let stmts = &kernel.blocks[block].stmts;
        let places: Vec<usize> = (0..stmts.len()).filter(|&at| is_invariant(&stmts[at])).collect();
        let mut gone = BTreeSet::new();
        for at in places {
            let StmtKind::Assert(claim, _) = &stmts[at].kind else { continue };
            let claim = claim.clone();
            let Some(condition) = at_head(kernel, forest, index, (block, at)) else { continue };
            let stmt = &kernel.blocks[block].stmts[at];
            let stmt = Stmt { kind: StmtKind::Assert(claim, condition), ..stmt.clone() };
            moved.entry(forest.loops[index].header).or_default().push(stmt);
            gone.insert(at);
        }
        let mut at = 0;
        kernel.blocks[block].stmts.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
    }
    for (head, stmts) in moved {
        kernel.blocks[head].stmts.splice(0..0, stmts);
    }
}

/// The condition of an invariant at the head of its loop; `None` if it cannot be stated there.
fn at_head(kernel: &Kernel, forest: &LoopForest, index: usize, (block, at): (usize, usize)) -> Option<ExprRef> {
    let StmtKind::Assert(_, condition) = &kernel.blocks[block].stmts[at].kind else { return None };
    let mut condition = condition.clone();
    let (mut block, mut end) = (block, at);
    loop {
        for stmt in kernel.blocks[block].stmts[..end].iter().rev() {
            condition = before(stmt, condition)?;
        }
        if block == forest.loops[index].header {
            return Some(condition);
        }
        let &[from] = &kernel.graph.predecessors[block][..] else { return None };
        if forest.innermost[from] != Some(index) {
            return None;
        }
        if let Exit::Branch { condition: taken, then, .. } = &kernel.blocks[from].exit {
            let taken = if *then == block { taken.clone() } else { bv::not(taken.clone()) };
            condition = bv::implies(taken, condition);
        }
        (block, end) = (from, kernel.blocks[from].stmts.len());
    }
}

/// The weakest condition in front of a statement that gives one behind it.
fn before(stmt: &Stmt, condition: ExprRef) -> Option<ExprRef> {
    let condition = match &stmt.kind {
        StmtKind::Assign(pairs) => {
            let map: BTreeMap<Name, ExprRef> = pairs.iter().cloned().collect();
            substitute(&condition, &map)
        }
        StmtKind::Assume(_, assumed) => bv::implies(assumed.clone(), condition),
        _ => {
            let variables = free_vars(&condition);
            if assigned(stmt).iter().any(|name| variables.contains(*name)) {
                return None;
            }
            condition
        }
    };
    let mut count = Count(0);
    count.expr(&condition);
    (count.0 <= MOST_NODES).then_some(condition)
}

struct Count(usize);

impl Visitor for Count {
    fn expr(&mut self, e: &ExprRef) {
        self.0 += 1;
        if self.0 <= MOST_NODES {
            visit::walk_expr(self, e);
        }
    }
}
