//! The barriers of an execution, and what leads from one to the next.
//!
//! Output only: plain data.

use crate::span::Origin;
use std::sync::Arc;

/// The graph of a kernel's barriers in one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BarrierGraph {
    pub(crate) nodes: Vec<BarrierNode>,
    pub(crate) edges: Vec<BarrierEdge>,
}

/// Generations of one barrier to which the same lines come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierNode {
    /// `barrier 1, generations 0 to 9`
    pub(crate) title: String,
    /// Who does what, and the instruction.
    pub(crate) parts: Vec<(String, Arc<Origin>)>,
    /// A thread waits for it for ever, or it may mix with another generation.
    pub(crate) at_fault: bool,
}

/// What leads from a generation to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Threads waited for the first before they came to the second: it was complete before.
    Waited,
    /// They came to the first, and then to the second.
    Came,
    /// Threads wait for the first for ever, and are those that the second lacks.
    Deadlock,
    /// Nothing tells who comes to the second that the first is complete.
    Missing,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierEdge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Which warps.
    pub(crate) label: String,
    pub(crate) kind: EdgeKind,
}
