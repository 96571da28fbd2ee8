//! The graph as text (`--emit cfg`) and for Graphviz.
//!
//! Input: a [`Cfg`]. Output: byte-stable text.

use super::graph::{BasicBlock, Cfg, EdgeCondition, Statement};
use super::reducible::ordered_successors;
use crate::flow::Loop;
use crate::ptx::ast::{Guard, Operand, RegisterId};
use crate::span::Origin;
use petgraph::graph::NodeIndex;
use std::fmt::Write;

/// One paragraph a block: its name, loop depth, instructions with lines, successors with conditions.
pub fn print(cfg: &Cfg) -> String {
    let mut text = format!("entry {}\n", cfg.entry_name);
    for node in cfg.graph.node_indices() {
        let block = &cfg.graph[node];
        let _ = writeln!(text, "\n{}:{}", block.name, role(cfg, node));
        for line in statements(cfg, block) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(end) = ending(block) {
            let _ = writeln!(text, "  {end}");
        }
        for (target, condition) in ordered_successors(&cfg.graph, node) {
            let name = &cfg.graph[target].name;
            let _ = writeln!(text, "  -> {name}{}", condition_text(cfg, &condition));
        }
    }
    text
}

/// The graph in Graphviz's language.
pub fn dot(cfg: &Cfg) -> String {
    let escape = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("digraph \"{}\" {{\n  node [shape=box, fontname=monospace];\n", escape(&cfg.entry_name));
    for node in cfg.graph.node_indices() {
        let block = &cfg.graph[node];
        let mut label = format!("{}:{}\\l", escape(&block.name), role(cfg, node));
        for line in statements(cfg, block).iter().map(String::as_str).chain(ending(block)) {
            let _ = write!(label, "{}\\l", escape(line));
        }
        let _ = writeln!(text, "  {} [label=\"{label}\"];", node.index());
    }
    for node in cfg.graph.node_indices() {
        for (target, condition) in ordered_successors(&cfg.graph, node) {
            let condition = escape(condition_text(cfg, &condition).trim());
            let _ = writeln!(text, "  {} -> {} [label=\"{condition}\"];", node.index(), target.index());
        }
    }
    text.push_str("}\n");
    text
}

/// A block as it is drawn.
pub(crate) struct ShownBlock<'c> {
    pub(crate) name: &'c str,
    pub(crate) is_head: bool,
    /// Its lines, with the instructions that they are.
    pub(crate) lines: Vec<(Option<&'c Origin>, String)>,
    /// The branch at its end.
    pub(crate) terminator: Option<&'c Origin>,
    /// Where it leads, under which condition, and whether back to the head of a loop.
    pub(crate) successors: Vec<(usize, String, bool)>,
}

/// The blocks of a graph, in the order of their indices.
pub(crate) fn blocks(cfg: &Cfg) -> Vec<ShownBlock<'_>> {
    let shown = |node: NodeIndex| {
        let block = &cfg.graph[node];
        let origins = block.statements.iter().map(|statement| match statement {
            Statement::Instruction(instruction) => Some(&*instruction.origin),
            Statement::Annotation(annotation) => Some(&*annotation.origin),
            Statement::Undefine { .. } => None,
        });
        let mut lines: Vec<_> = origins.zip(statements(cfg, block)).collect();
        lines.extend(ending(block).map(|text| (block.terminator.as_deref(), text.to_string())));
        let successors = ordered_successors(&cfg.graph, node).into_iter().map(|(target, condition)| {
            let condition = condition_text(cfg, &condition).trim().to_string();
            (target.index(), condition, cfg.loops.is_back_edge(node.index(), target.index()))
        });
        ShownBlock {
            name: &block.name,
            is_head: cfg.loops.headed_by(node.index()).is_some(),
            lines,
            terminator: block.terminator.as_deref(),
            successors: successors.collect(),
        }
    };
    cfg.graph.node_indices().map(shown).collect()
}

fn role(cfg: &Cfg, node: NodeIndex) -> String {
    let depth = cfg.loops.depth(node.index());
    let is_left = |own: &Loop| {
        let mut leaving = own.blocks.iter().flat_map(|block| cfg.graph.neighbors(NodeIndex::new(*block)));
        leaving.any(|target| !own.blocks.contains(&target.index()))
    };
    match (cfg.loops.headed_by(node.index()), depth) {
        (Some(own), _) if !is_left(own) => format!(" // head of a loop without exit, depth {depth}"),
        (Some(_), _) => format!(" // loop head, depth {depth}"),
        (None, 0) => String::new(),
        (None, _) => format!(" // depth {depth}"),
    }
}

fn statements(cfg: &Cfg, block: &BasicBlock) -> Vec<String> {
    let text = |statement: &Statement| match statement {
        Statement::Instruction(i) => {
            let guard = i.guard.map_or(String::new(), |g| format!("@{} ", guard_text(cfg, g)));
            format!("{guard}{};", i.origin.text)
        }
        Statement::Annotation(a) => format!("//@ {} {};", a.kind.name(), a.text),
        Statement::Undefine { registers, variables } => {
            format!("// call: {} registers and {} variables become undefined", registers.len(), variables.len())
        }
    };
    block.statements.iter().map(text).collect()
}

fn ending(block: &BasicBlock) -> Option<&'static str> {
    match (block.exits, block.traps) {
        (true, _) => Some("exit;"),
        (_, true) => Some("trap;"),
        _ => None,
    }
}

fn name(cfg: &Cfg, register: RegisterId) -> &str {
    cfg.registers.get(register.0 as usize).map_or("?", |r| &r.name)
}

fn guard_text(cfg: &Cfg, guard: Guard) -> String {
    format!("{}{}", if guard.negated { "!" } else { "" }, name(cfg, guard.register))
}

fn condition_text(cfg: &Cfg, condition: &EdgeCondition) -> String {
    match condition {
        EdgeCondition::Always => String::new(),
        EdgeCondition::If(guard) => format!(" if {}", guard_text(cfg, *guard)),
        EdgeCondition::Index(Operand::Register(r), number) => format!(" if {} == {number}", name(cfg, *r)),
        EdgeCondition::Index(_, number) => format!(" if index == {number}"),
    }
}
