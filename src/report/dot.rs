//! The barrier dependence graph as text for Graphviz.
//!
//! Input: a [`BarrierGraph`]. Output: a digraph in DOT. Establishes: the same graph gives the same text. Relies on: nothing.
//! Reference: "The DOT Language", graphviz.org.

use crate::finding::{BarrierGraph, EdgeKind};
use std::fmt::Write;

/// What the lines of edges mean, under the graph.
const LEGEND: &str =
    "solid: they waited for the first before they came to the second; dashed: they only came to the first";

/// A digraph with a title.
pub(crate) fn print(graph: &BarrierGraph, name: &str, title: &str) -> String {
    let mut text = format!(
        "digraph {} {{\n  label={};\n  node [shape=box fontname=monospace];\n  edge [fontname=monospace];\n",
        quoted(name),
        quoted(&format!("{title}\n{LEGEND}"))
    );
    for (number, node) in graph.nodes.iter().enumerate() {
        let parts = node.parts.iter().map(|(text, _)| format!("\n{text}"));
        let color = if node.at_fault { " color=red" } else { "" };
        let label = format!("{}{}", node.title, parts.collect::<String>());
        let _ = writeln!(text, "  n{number} [label={}{color}];", quoted(&label));
    }
    for edge in &graph.edges {
        let style = match edge.kind {
            EdgeKind::Waited => "",
            EdgeKind::Came => " style=dashed",
            EdgeKind::Deadlock => " color=red fontcolor=red",
            EdgeKind::Missing => " color=red fontcolor=red style=dotted",
        };
        let _ = writeln!(text, "  n{} -> n{} [label={}{style}];", edge.from, edge.to, quoted(&edge.label));
    }
    text + "}\n"
}

/// A string of DOT. Of its escapes only `\n` is meant; other backslashes are text.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{BarrierEdge, BarrierNode};

    #[test]
    fn quotes_and_lines_are_escaped() {
        let node = BarrierNode { title: "a \"b\"\\".to_string(), parts: Vec::new(), at_fault: true };
        let edge = BarrierEdge { from: 0, to: 0, label: "warp 0\nwaits".to_string(), kind: EdgeKind::Missing };
        let text = print(&BarrierGraph { nodes: vec![node], edges: vec![edge] }, "k", "t");
        assert!(text.contains("n0 [label=\"a \\\"b\\\"\\\\\" color=red];"), "{text}");
        assert!(text.contains("n0 -> n0 [label=\"warp 0\\nwaits\" color=red fontcolor=red style=dotted];"), "{text}");
    }
}
