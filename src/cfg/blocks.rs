//! Basic blocks: the flat list of an inlined entry is cut at labels and jumps.
//!
//! Input: [`Flat`]. Output: a [`Cfg`] without loops filled in.
//! Establishes: every block is reachable; a block that has one successor which has no other
//! predecessor is merged with it; the start has no predecessor; block names are unique.
//! Relies on: `inline` made all control flow explicit. Reference: PTX `bra`, `brx.idx`.

use super::graph::{BasicBlock, Cfg, EdgeCondition};
use super::inline::{Flat, FlatLabel, Line, LineKind};
use crate::diagnostic::Diagnostic;
use crate::flow::{Graph, LoopForest};
use crate::ptx::ast::{Function, Guard};
use crate::span::Origin;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Builds the graph.
///
/// # Errors
/// The refusals of `inline` that control may reach.
pub(crate) fn run(entry: &Function, flat: Flat) -> Result<Cfg, Vec<Diagnostic>> {
    let Flat { lines, label_names, registers, variables, assumptions } = flat;
    let mut builder = Builder { label_names, ..Builder::default() };
    builder.current = Some(builder.new_block(Arc::from("entry")));
    lines.into_iter().for_each(|line| builder.line(line));
    let reachable = builder.reachable();
    builder.report(&reachable)?;
    builder.collapse_equal_targets();
    let (graph, start) = builder.finish(&reachable);
    let (entry_name, loops) = (entry.name.clone(), LoopForest::default());
    let mut cfg = Cfg { entry_name, graph, start, registers, variables, assumptions, loops };
    unique_names(&mut cfg);
    Ok(cfg)
}

/// Index of a block under construction; block 0 is the start.
type BlockIndex = usize;

#[derive(Default)]
struct Builder {
    blocks: Vec<BasicBlock>,
    successors: Vec<Vec<(BlockIndex, EdgeCondition)>>,
    label_names: Vec<Arc<str>>,
    labels: BTreeMap<FlatLabel, BlockIndex>,
    /// The open block; `None` after an unconditional jump.
    current: Option<BlockIndex>,
    refusals: Vec<(BlockIndex, Diagnostic)>,
}

impl Builder {
    fn new_block(&mut self, name: Arc<str>) -> BlockIndex {
        self.blocks.push(BasicBlock { name, ..BasicBlock::default() });
        self.successors.push(Vec::new());
        self.blocks.len() - 1
    }

    fn label(&mut self, label: FlatLabel) -> BlockIndex {
        if let Some(block) = self.labels.get(&label) {
            return *block;
        }
        let block = self.new_block(self.label_names[label].clone());
        self.labels.insert(label, block);
        block
    }

    /// The open block, or a new one that only unreachable code starts.
    fn open(&mut self, origin: Option<&Arc<Origin>>) -> BlockIndex {
        let block = match self.current {
            Some(block) => block,
            None => self.new_block(Arc::from("")),
        };
        self.current = Some(block);
        if self.blocks[block].name.is_empty() {
            self.blocks[block].name = line_name(origin);
        }
        block
    }

    fn line(&mut self, line: Line) {
        let origin = line.origin;
        if let LineKind::Label(label) = line.kind {
            let block = self.label(label);
            if let Some(open) = self.current {
                if self.blocks[open].name.is_empty() {
                    self.blocks[open].name = Arc::from(format!("before.{}", self.blocks[block].name));
                }
                self.successors[open].push((block, EdgeCondition::Always));
            }
            self.current = Some(block);
            return;
        }
        let block = self.open(origin.as_ref());
        match line.kind {
            LineKind::Label(_) => {}
            LineKind::Statement(statement) => self.blocks[block].statements.push(statement),
            LineKind::Jump { guard, target } => {
                let target = self.label(target);
                self.end(block, origin, guard, target);
            }
            LineKind::JumpIndexed { index, targets } => {
                self.blocks[block].terminator = origin;
                for (number, target) in (0u32..).zip(targets) {
                    let target = self.label(target);
                    self.successors[block].push((target, EdgeCondition::Index(index.clone(), number)));
                }
                self.current = None;
            }
            LineKind::Leave { guard, traps } => {
                let leaving = self.new_block(line_name(origin.as_ref()));
                self.blocks[leaving].terminator = origin.clone();
                (self.blocks[leaving].exits, self.blocks[leaving].traps) = (!traps, traps);
                self.end(block, origin, guard, leaving);
            }
            LineKind::Refuse(diagnostic) => self.refusals.push((block, diagnostic)),
            LineKind::FallOff(diagnostic) => {
                self.refusals.push((block, diagnostic));
                self.current = None;
            }
        }
    }

    /// Ends a block by a jump; a guarded one falls through to a fresh block.
    fn end(&mut self, block: BlockIndex, origin: Option<Arc<Origin>>, guard: Option<Guard>, target: BlockIndex) {
        self.blocks[block].terminator = origin;
        let Some(guard) = guard else {
            self.successors[block].push((target, EdgeCondition::Always));
            self.current = None;
            return;
        };
        let next = self.new_block(Arc::from(""));
        let otherwise = Guard { negated: !guard.negated, ..guard };
        self.successors[block].push((target, EdgeCondition::If(guard)));
        self.successors[block].push((next, EdgeCondition::If(otherwise)));
        self.current = Some(next);
    }

    fn reachable(&self) -> Vec<bool> {
        Graph::new(self.successors.iter().map(|targets| targets.iter().map(|s| s.0).collect()).collect()).reachable()
    }

    fn report(&mut self, reachable: &[bool]) -> Result<(), Vec<Diagnostic>> {
        let mut reached: Vec<Diagnostic> = Vec::new();
        for (block, diagnostic) in std::mem::take(&mut self.refusals) {
            if reachable[block] && !reached.contains(&diagnostic) {
                reached.push(diagnostic);
            }
        }
        if reached.is_empty() { Ok(()) } else { Err(reached) }
    }

    /// A conditional branch whose targets are one block is no branch.
    fn collapse_equal_targets(&mut self) {
        for successors in &mut self.successors {
            if successors.len() > 1 && successors.iter().all(|s| s.0 == successors[0].0) {
                *successors = vec![(successors[0].0, EdgeCondition::Always)];
            }
        }
    }

    /// The block that can be appended to each block: its only successor, which has no other
    /// predecessor. The start has none, so no cycle consists of such pairs.
    fn continuations(&self, reachable: &[bool]) -> Vec<Option<BlockIndex>> {
        let mut predecessors = vec![0usize; self.blocks.len()];
        for (block, successors) in self.successors.iter().enumerate() {
            if reachable[block] {
                successors.iter().for_each(|s| predecessors[s.0] += 1);
            }
        }
        let continuation = |successors: &Vec<(BlockIndex, EdgeCondition)>| match successors.as_slice() {
            [(next, EdgeCondition::Always)] if predecessors[*next] == 1 && *next != 0 => Some(*next),
            _ => None,
        };
        self.successors.iter().map(continuation).collect()
    }

    /// Merges straight lines and makes the graph; unreachable blocks are left out.
    fn finish(mut self, reachable: &[bool]) -> (DiGraph<BasicBlock, EdgeCondition>, NodeIndex) {
        let continuations = self.continuations(reachable);
        let absorbed: BTreeSet<_> =
            (0..self.blocks.len()).filter(|b| reachable[*b]).filter_map(|b| continuations[b]).collect();
        let mut graph = DiGraph::new();
        let mut nodes = BTreeMap::new();
        let mut ends = Vec::new();
        for head in (0..self.blocks.len()).filter(|b| reachable[*b] && !absorbed.contains(b)) {
            let mut block = std::mem::take(&mut self.blocks[head]);
            let mut end = head;
            while let Some(next) = continuations[end] {
                let tail = std::mem::take(&mut self.blocks[next]);
                block.statements.extend(tail.statements);
                block.terminator = tail.terminator;
                (block.exits, block.traps) = (tail.exits, tail.traps);
                end = next;
            }
            nodes.insert(head, graph.add_node(block));
            ends.push((head, end));
        }
        for (head, end) in ends {
            for (target, condition) in std::mem::take(&mut self.successors[end]) {
                graph.add_edge(nodes[&head], nodes[&target], condition);
            }
        }
        let mut start = nodes[&0];
        if graph.edges_directed(start, Direction::Incoming).next().is_some() {
            let before = graph.add_node(BasicBlock { name: Arc::from("entry"), ..BasicBlock::default() });
            graph.add_edge(before, start, EdgeCondition::Always);
            start = before;
        }
        (graph, start)
    }
}

fn line_name(origin: Option<&Arc<Origin>>) -> Arc<str> {
    origin.map_or_else(|| Arc::from("end"), |o| Arc::from(format!("L{}", o.line)))
}

/// Makes block names unique by a suffix.
pub(super) fn unique_names(cfg: &mut Cfg) {
    let mut taken = BTreeSet::new();
    for node in cfg.graph.node_indices().collect::<Vec<_>>() {
        let base = if cfg.graph[node].name.is_empty() { Arc::from("end") } else { cfg.graph[node].name.clone() };
        let mut name = base.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = Arc::from(format!("{base}.{number}"));
        }
        cfg.graph[node].name = name;
    }
}
