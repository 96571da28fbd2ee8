//! The control-flow graph of a kernel, drawn.
//!
//! Input: a kernel in PTX, the sort order of its blocks. Output: a [`Graph`]. Establishes: nothing. Relies on: later stages
//! keep the labels of blocks. Reference: none.

use super::super::options::Options;
use super::super::pipeline::{self, Program};
use super::super::task::Task;
use super::instructions::Instructions;
use crate::cfg::print::{ShownBlock, blocks};
use crate::finding::{BarrierGraph, EdgeKind};
use crate::ivl::ast::Name;
use crate::kernel;
use crate::report::html::detail::{Block, Graph};
use crate::report::html::graph::{Edge, Look, Shown, svg};
use crate::span::Origin;

/// The graph of a kernel, with the labels that its blocks have in the stages; `None` where it has none.
pub(super) fn of(
    task: &Task<'_>,
    options: &Options,
    order: &[Name],
    found: &Instructions,
) -> Option<(Graph, Vec<Name>)> {
    let Program::Ptx(module) = task.program else { return None };
    let entry = pipeline::entry_of(module, &task.entry).ok()?;
    let cfg = crate::cfg::build(module, entry, options.rules).ok()?;
    let (blocks, labels) = (blocks(&cfg), kernel::labels(&cfg));
    let number = |origin: Option<&Origin>| origin.and_then(|origin| found.number(origin.span));
    let mut edges = Vec::new();
    let (mut shown, mut listed) = (Vec::new(), Vec::new());
    for (from, block) in blocks.into_iter().enumerate() {
        let ShownBlock { name, is_head: loop_head, lines, terminator, successors } = block;
        let mut instructions: Vec<usize> =
            lines.iter().map(|(origin, _)| *origin).chain([terminator]).filter_map(number).collect();
        instructions.sort_unstable();
        instructions.dedup();
        let label = name.to_string();
        let order = order.iter().position(|other| *other == labels[from]);
        listed.push(Block { label: label.clone(), order, loop_head, instructions });
        let lines = lines.into_iter().map(|(origin, text)| (number(origin), text)).collect();
        let label = order.map_or(label.clone(), |order| format!("{label}  ({order})"));
        shown.push(Shown { label, loop_head, at_fault: false, lines });
        let look = |is_back: bool| if is_back { Look::Back } else { Look::Plain };
        let to_each = successors.into_iter();
        edges.extend(to_each.map(|(to, condition, is_back)| Edge { from, to, condition, look: look(is_back) }));
    }
    let svg = svg(&shown, &edges).unwrap_or_default();
    let edges = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    Some((Graph { svg, blocks: listed, edges }, labels))
}

/// The barriers of an execution, drawn.
pub(super) fn of_barriers(graph: &BarrierGraph, found: &Instructions) -> Graph {
    let (mut shown, mut listed) = (Vec::new(), Vec::new());
    for node in &graph.nodes {
        let label = node.title.clone();
        let lines: Vec<(Option<usize>, String)> =
            node.parts.iter().map(|(text, origin)| (found.number(origin.span), text.clone())).collect();
        let mut instructions: Vec<usize> = lines.iter().filter_map(|(instruction, _)| *instruction).collect();
        instructions.sort_unstable();
        instructions.dedup();
        listed.push(Block { label: label.clone(), order: None, loop_head: false, instructions });
        shown.push(Shown { label, loop_head: false, at_fault: node.at_fault, lines });
    }
    let look = |kind: EdgeKind| match kind {
        EdgeKind::Waited => Look::Plain,
        EdgeKind::Came => Look::Weak,
        EdgeKind::Deadlock => Look::Fault,
        EdgeKind::Missing => Look::Missing,
    };
    let edges = graph.edges.iter();
    let edges =
        edges.map(|one| Edge { from: one.from, to: one.to, condition: one.label.clone(), look: look(one.kind) });
    let edges: Vec<Edge> = edges.collect();
    let svg = svg(&shown, &edges).unwrap_or_default();
    Graph { svg, blocks: listed, edges: edges.iter().map(|edge| (edge.from, edge.to)).collect() }
}
