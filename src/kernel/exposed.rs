//! Registers that a block may read before it writes them: the only ones whose state crosses blocks.
//!
//! Input: a [`Cfg`]. Output: [`Exposed`], with the order in which to visit blocks. The data-flow analyses of this stage keep one entry for each
//! exposed register and block, so that huge unrolled kernels stay cheap.

use crate::cfg::graph::{Cfg, EdgeCondition, Statement};
use crate::flow::{Graph, Order};
use crate::ptx::ast::RegisterId;
use crate::ptx::roles::{registers, registers_of};
use std::collections::BTreeSet;

/// The exposed registers in ascending order.
pub(crate) struct Exposed {
    pub(crate) registers: Vec<RegisterId>,
    /// In which order to visit blocks.
    pub(crate) order: Order,
}

impl Exposed {
    /// Finds the exposed registers of a graph. A guarded write counts as a read: it may keep the value.
    pub(crate) fn of(cfg: &Cfg) -> Exposed {
        let mut exposed = BTreeSet::new();
        for node in cfg.graph.node_indices() {
            let mut written = BTreeSet::new();
            for statement in &cfg.graph[node].statements {
                let (read, write) = effect(statement);
                exposed.extend(read.into_iter().filter(|r| !written.contains(r)));
                written.extend(write);
            }
            for edge in cfg.graph.edges(node) {
                let read = match edge.weight() {
                    EdgeCondition::Always => Vec::new(),
                    EdgeCondition::If(guard) => vec![guard.register],
                    EdgeCondition::Index(operand, _) => registers_of(operand),
                };
                exposed.extend(read.into_iter().filter(|r| !written.contains(r)));
            }
        }
        let order = Order::of(&Graph::of(&cfg.graph, cfg.start));
        Exposed { registers: exposed.into_iter().collect(), order }
    }
}

fn effect(statement: &Statement) -> (Vec<RegisterId>, Vec<RegisterId>) {
    match statement {
        Statement::Instruction(instruction) => {
            let (mut read, written) = registers(instruction);
            if instruction.guard.is_some() {
                read.extend(&written);
            }
            (read, written)
        }
        Statement::Annotation(annotation) => (annotation.registers(), Vec::new()),
        // Undefined is a state of its own, written here.
        Statement::Undefine { registers, .. } => (Vec::new(), registers.clone()),
    }
}
