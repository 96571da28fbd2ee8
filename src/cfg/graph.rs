//! The control-flow graph type that `cfg` hands to `kernel`.

use crate::flow::LoopForest;
use crate::ptx::ast::{Annotation, Guard, Instruction, Register, RegisterId, Variable};
use crate::span::Origin;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// One `.entry` with device functions inlined: blocks without branches, edges with conditions.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Name of the entry.
    pub(crate) entry_name: Arc<str>,
    /// Blocks; no irreducible cycle is left.
    pub(crate) graph: DiGraph<BasicBlock, EdgeCondition>,
    /// The block where every thread starts; it has no predecessor.
    pub(crate) start: NodeIndex,
    /// Registers of the entry and of every inlined copy of a function (names made unique).
    pub(crate) registers: Vec<Register>,
    /// Variables of the entry body and of inlined bodies. `.reg`, `.local` and `.param` ones are per
    /// inlined copy; a `.shared` or `.global` variable of a function stands here once.
    pub(crate) variables: Vec<Variable>,
    /// What is assumed of its calls, for people.
    pub(crate) assumptions: BTreeSet<Cow<'static, str>>,
    /// Natural loops, by the indices of blocks.
    pub(crate) loops: LoopForest,
}

impl Cfg {
    /// Whether an annotation of this graph stands in front of the first branch.
    pub(crate) fn is_before_branches(&self, annotation: &Annotation) -> bool {
        let is_it =
            |statement: &Statement| matches!(statement, Statement::Annotation(it) if std::ptr::eq(it, annotation));
        let mut node = self.start;
        loop {
            if self.graph[node].statements.iter().any(is_it) {
                return true;
            }
            let mut next = self.graph.edges(node);
            match (next.next(), next.next()) {
                // The start has no predecessor, and a block with others is met by threads of other ways.
                (Some(edge), None) if *edge.weight() == EdgeCondition::Always && self.has_one_way(edge.target()) => {
                    node = edge.target();
                }
                _ => return false,
            }
        }
    }

    fn has_one_way(&self, node: NodeIndex) -> bool {
        self.graph.edges_directed(node, Direction::Incoming).count() == 1
    }
}

/// A maximal straight line of statements; guarded non-branches stay guarded, branches are edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct BasicBlock {
    /// Stable name: the PTX label, or `L<line>` made unique.
    pub(crate) name: Arc<str>,
    /// Statements; never `Branch`, `BranchIndexed`, `Return`, `Exit`, `Call`.
    pub(crate) statements: Vec<Statement>,
    /// The branch (or return) at its end, for messages.
    pub(crate) terminator: Option<Arc<Origin>>,
    /// True when a thread that ends this block has exited the kernel (no successors) by return or exit.
    pub(crate) exits: bool,
    /// True when the block ends in `trap`: the launch fails there, nothing follows.
    pub(crate) traps: bool,
}

/// A statement of a block.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// A PTX instruction; operands refer to `Cfg::registers`, body variables to `Cfg::variables`,
    /// module variables to the module, `Param` to the entry's parameters.
    Instruction(Instruction),
    /// An annotation, over `Cfg::registers`.
    Annotation(Annotation),
    /// Start of an inlined call: what belongs to the copy becomes undefined.
    Undefine {
        /// Registers of the copy.
        registers: Vec<RegisterId>,
        /// Its `.local` and `.param` variables, as indices into `Cfg::variables`.
        variables: Vec<u32>,
    },
}

/// When an edge is taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EdgeCondition {
    /// Always.
    Always,
    /// When the predicate register is true (negated: false).
    If(Guard),
    /// `brx.idx`: when the index register equals this number.
    Index(crate::ptx::ast::Operand, u32),
}
