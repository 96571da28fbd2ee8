//! The walk over the graph that writes the blocks, and the program around them.
//!
//! Input: the graph after promotion. Output: the [`Kernel`]. Establishes: every block with several
//! successors leads to blocks that start with `assume`, and these conditions are a tautology (Def.
//! 5.1 of the lock-step paper). Relies on: [`super::declarations`].

use super::aggregated::Aggregated;
use super::agreeing::Agreeing;
use super::declarations::{Declarations, declare_regions};
use super::definite::Definite;
use super::exposed::Exposed;
use super::groups;
use super::launch::{self, Launch};
use super::lowering::{Lowering, flag, register_type, tag_type};
use super::names::Names;
use super::parameters::Parameters;
use super::pointers::Pointers;
use super::products;
use super::regions::{Region, RegionId, RegionKind, Regions, Space};
use super::tickets::TICKET;
use super::winners::WINNER;
use super::{Kernel, LowerOptions};
use crate::cfg::graph::{Cfg, EdgeCondition};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{
    Array, ArraySpace, Block, ExprRef, Implementation, Name, Procedure, Program, Stmt, StmtKind, Transfer, Type,
    Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{Function, Module};
use crate::ptx::mangled::human;
use crate::span::Span;
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet};

/// Translates a graph.
///
/// # Errors
/// See [`super::lower`].
pub(crate) fn run(
    module: &Module,
    entry: &Function,
    (cfg, promoted): (&Cfg, bool),
    options: &LowerOptions,
) -> Result<Kernel, Vec<Diagnostic>> {
    let exposed = Exposed::of(cfg);
    let pointers = Pointers::of(entry, cfg, &exposed, Regions::of(module, entry, cfg, options));
    let definite = Definite::of(cfg, &exposed);
    let mut names = Names::default();
    let mut declarations = Declarations::default();
    let launch = Launch::new(entry, options, &mut names, &mut declarations).map_err(|e| vec![e])?;
    let mut locals = Vec::new();
    declare_regions(module, cfg, &pointers, &mut names, &mut declarations, &mut locals);
    let parameters = Parameters::new(entry, cfg, options, &pointers, &mut names, &mut declarations)?;
    let registers: Vec<Name> = cfg.registers.iter().map(|r| names.fresh(&r.name)).collect();
    let tag = |r: &crate::ptx::ast::RegisterId| (*r, names.fresh(&format!("{}.region", registers[r.0 as usize])));
    let tags = pointers.facts.ambiguous.iter().map(tag).collect();
    let aggregated = Aggregated::of(cfg, &launch.geometry);
    let agreeing = Agreeing::of(cfg, &launch.geometry, options.rules.allow_same_value);
    let mut lowering = Lowering {
        entry,
        cfg,
        promoted,
        options,
        pointer_state: pointers.new_state(),
        definite_state: definite.new_state(),
        pointers,
        definite,
        names,
        declarations,
        launch,
        parameters,
        registers,
        tags,
        used: BTreeSet::new(),
        locals,
        diagnostics: Vec::new(),
        warnings: Vec::new(),
        statements: Vec::new(),
        origin: None,
        guard: None,
        guard_value: None,
        is_volatile: false,
        underway: Vec::new(),
        has_groups: groups::has_groups(cfg),
        groups: None,
        aggregated,
        agreeing,
        bulk: None,
        objects: None,
        products: None,
        known_bits: None,
        new_tags: BTreeMap::new(),
        stated: Vec::new(),
        array_facts: Vec::new(),
        barrier_invariants: Vec::new(),
    };
    lowering.prepare_objects();
    lowering.prepare_products();
    lowering.prepare_bulk();
    let mut blocks = lowering.blocks();
    lowering.start_groups(&mut blocks);
    lowering.start_objects(&mut blocks);
    unmark_constant_arrays(&mut blocks);
    // What atomics tell holds between barriers; a copy that a thread has awaited changes a word between them without a race.
    if lowering.objects.is_none() {
        lowering.share_additions(&mut blocks);
        lowering.mark_order(module, &mut blocks);
        lowering.mark_winners(&mut blocks);
        lowering.mark_tickets(&mut blocks);
    } else {
        super::completion::unmark(&mut blocks);
    }
    lowering.mark_array_facts(module, &mut blocks);
    if lowering.diagnostics.is_empty() { Ok(lowering.finish(blocks)) } else { Err(lowering.diagnostics) }
}

/// Loads of arrays that nobody writes are coherent, whatever the cache.
fn unmark_constant_arrays(blocks: &mut [Block]) {
    let written = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => Some(access.array.clone()),
        _ => None,
    };
    let written: BTreeSet<Name> = blocks.iter().flat_map(|block| &block.stmts).filter_map(written).collect();
    for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
        if let StmtKind::Load { access, .. } = &stmt.kind
            && !written.contains(&access.array)
        {
            stmt.attributes.retain(|attribute| attribute.name.as_str() != "non_coherent");
        }
    }
}

/// The labels of the blocks of a graph, in the order of their indices.
pub(crate) fn labels(cfg: &Cfg, names: &mut Names) -> Vec<Name> {
    cfg.graph.node_indices().map(|node| names.fresh(&cfg.graph[node].name)).collect()
}

impl Lowering<'_> {
    /// All blocks, the start first; edge blocks follow the block they leave.
    fn blocks(&mut self) -> Vec<Block> {
        let cfg = self.cfg;
        let mut order: Vec<NodeIndex> = vec![cfg.start];
        order.extend(cfg.graph.node_indices().filter(|n| *n != cfg.start));
        let mut label_names = Names::default();
        let labels: BTreeMap<NodeIndex, Name> = cfg.graph.node_indices().zip(labels(cfg, &mut label_names)).collect();
        // Conditions that a block itself starts with, because one branch alone leads to it.
        let mut first: BTreeMap<NodeIndex, Stmt> = BTreeMap::new();
        let mut blocks = Vec::new();
        for node in order {
            let (statements, conditions) = self.block(node);
            let mut edge_blocks = Vec::new();
            let mut targets = Vec::new();
            for (target, condition) in conditions {
                let label = labels[&target].clone();
                let Some(condition) = condition else {
                    targets.push(label);
                    continue;
                };
                if cfg.graph.edges_directed(target, Direction::Incoming).count() == 1 {
                    first.insert(target, condition);
                    targets.push(label);
                } else {
                    let name = label_names.fresh(&format!("{}.to.{label}", labels[&node]));
                    let transfer = Transfer::Goto(vec![label]);
                    edge_blocks.push(Block {
                        label: name.clone(),
                        stmts: vec![condition],
                        transfer,
                        span: Span::NONE,
                        end: Span::NONE,
                    });
                    targets.push(name);
                }
            }
            let transfer = if targets.is_empty() { Transfer::Return } else { Transfer::Goto(targets) };
            blocks.push((
                node,
                Block { label: labels[&node].clone(), stmts: statements, transfer, span: Span::NONE, end: Span::NONE },
            ));
            blocks.extend(edge_blocks.into_iter().map(|b| (cfg.start, b)));
        }
        for (node, block) in &mut blocks {
            if block.label == labels[node]
                && let Some(condition) = first.remove(node)
            {
                block.stmts.insert(0, condition);
            }
        }
        blocks.into_iter().map(|b| b.1).collect()
    }

    /// The statements of a block and, for each successor, the `assume` that guards it.
    fn block(&mut self, node: NodeIndex) -> (Vec<Stmt>, Vec<(NodeIndex, Option<Stmt>)>) {
        let cfg = self.cfg;
        self.pointers.enter(&mut self.pointer_state, node);
        self.definite.enter(&mut self.definite_state, node);
        let statements = &cfg.graph[node].statements;
        for (index, statement) in statements.iter().enumerate() {
            let start = self.statements.len();
            self.agree((node, index), false);
            self.statement(statement, &statements[index + 1..]);
            self.mark_aggregated((node, index), start);
            self.pointers.step(&mut self.pointer_state, statement);
            self.definite.step(&mut self.definite_state, statement);
            self.agree((node, index), true);
        }
        self.origin = cfg.graph[node].terminator.clone();
        (self.guard, self.guard_value) = (None, None);
        if cfg.graph[node].traps {
            // Proofs take it for an exit; a replayed execution must not, as the launch fails here.
            self.emit(StmtKind::Trap);
        } else if cfg.graph.edges(node).next().is_none() {
            self.exit();
        }
        let mut edges: Vec<_> = cfg.graph.edges(node).map(|e| (e.id(), e.target(), e.weight())).collect();
        edges.sort_by_key(|e| e.0);
        let conditions = self.edge_conditions(&edges.iter().map(|e| e.2).collect::<Vec<_>>());
        let guarded = edges.iter().zip(conditions).map(|(edge, condition)| {
            let assume = condition.map(|expr| Stmt {
                kind: StmtKind::assume(expr),
                attributes: Vec::new(),
                span: Span::NONE,
                origin: self.origin.clone(),
            });
            (edge.1, assume)
        });
        let guarded = guarded.collect();
        (std::mem::take(&mut self.statements), guarded)
    }

    /// The condition of each edge, over values read once at the end of the block.
    fn edge_conditions(&mut self, edges: &[&EdgeCondition]) -> Vec<Option<ExprRef>> {
        match edges {
            [EdgeCondition::If(guard), EdgeCondition::If(_)] => {
                let taken = self.read_guard(*guard);
                vec![Some(taken.clone()), Some(bv::not(taken))]
            }
            [EdgeCondition::Index(operand, _), ..] if edges.len() > 1 => {
                let index = self.read(operand, 32);
                let count = bv::literal(edges.len() as u128, 32);
                // Beyond the list the target is undefined: any of them.
                let beyond = self.arbitrary(Type::Bv(32));
                let inside = bv::binary(BvOp::Ult, index.clone(), count);
                let choice = bv::ite(inside, index, beyond);
                let choice = self.shared(choice);
                let last = edges.len() as u128 - 1;
                let condition = |k: u128| {
                    let number = bv::literal(k, 32);
                    if k == last {
                        bv::binary(BvOp::Uge, choice.clone(), number)
                    } else {
                        bv::eq(choice.clone(), number)
                    }
                };
                (0..=last).map(|k| Some(condition(k))).collect()
            }
            _ => edges.iter().map(|_| None).collect(),
        }
    }

    fn finish(mut self, mut blocks: Vec<Block>) -> Kernel {
        self.require_stated(&mut blocks);
        let mut locals: Vec<Variable> = Vec::new();
        let variable = |name: &Name, ty| Variable::new(name.clone(), ty);
        for register in &self.used {
            let index = register.0 as usize;
            locals.push(variable(&self.registers[index], register_type(self.cfg.registers[index].ty)));
        }
        locals.extend(self.tags.values().map(|name| variable(name, tag_type())));
        locals.extend(self.locals.iter().cloned());
        let waits = self.declarations.waits;
        let (arrays, array_names) = self.arrays();
        let assumptions = self.assumptions((&arrays, &array_names), &blocks);
        let procedure = Procedure {
            name: Names::default().fresh(&self.entry.name),
            params: Vec::new(),
            results: Vec::new(),
            modifies: Vec::new(),
            requires: self.declarations.requires,
            ensures: Vec::new(),
            body: Some(Implementation { locals, blocks }),
            attributes: vec![flag("kernel")],
            span: self.entry.span,
        };
        let program = Program {
            constants: self.declarations.constants,
            functions: self.declarations.functions,
            arrays,
            procedures: vec![procedure],
            ..Program::default()
        };
        let (geometry, params) = (self.launch.geometry, self.parameters.infos);
        let warnings = self.warnings;
        let most_threads = launch::most_threads(self.entry);
        let named = self.used.iter().map(|register| register.0 as usize);
        let register_names =
            named.map(|index| (self.registers[index].clone(), self.cfg.registers[index].name.to_string())).collect();
        Kernel { program, assumptions, warnings, array_names, register_names, params, geometry, waits, most_threads }
    }

    fn arrays(&self) -> (Vec<Array>, BTreeMap<Name, String>) {
        let mut arrays = Vec::new();
        let mut humans = BTreeMap::new();
        let mut push = |name: &Name, space, size, human: String| {
            if self.declarations.used_arrays.contains(name) {
                arrays.push(Array { name: name.clone(), space, element_bytes: 1, size, span: Span::NONE });
                humans.insert(name.clone(), human);
            }
        };
        for (region, name) in self.pointers.regions.all.iter().zip(&self.declarations.arrays) {
            let space = if region.space == Space::Shared { ArraySpace::Shared } else { ArraySpace::Global };
            let said = match region.kind {
                RegionKind::Behind(_) => region.name.replacen("behind.", "memory behind ", 1),
                _ => human(&region.name),
            };
            if let Some(name) = name {
                push(name, space, region.size, said);
            }
        }
        if let Some([global, shared]) = &self.declarations.unknown_arrays {
            push(global, ArraySpace::Global, None, "memory reached by a pointer of unknown origin".to_string());
            push(shared, ArraySpace::Shared, None, "shared memory reached by a pointer of unknown origin".to_string());
        }
        (arrays, humans)
    }

    /// What is assumed of pointers in memory.
    fn behind(&self) -> Vec<String> {
        let regions = &self.pointers.regions;
        let mut slots: BTreeMap<&str, usize> = BTreeMap::new();
        for region in self.used_regions() {
            if let RegionKind::Behind(place) = regions.get(region).kind {
                *slots.entry(&regions.get(place.holder).name).or_default() += 1;
            }
        }
        let said = |(name, slots): (&str, usize)| match slots {
            1 => format!("what pointers in `{name}` refer to is reached through them only"),
            _ => format!(
                "the {slots} pointers in `{name}` refer to disjoint arrays, each reached through its pointer only"
            ),
        };
        slots.into_iter().map(said).collect()
    }

    /// Regions whose arrays are accessed.
    fn used_regions(&self) -> impl Iterator<Item = RegionId> {
        let is_used = |region: &RegionId| {
            let array = &self.declarations.arrays[region.0 as usize];
            array.as_ref().is_some_and(|array| self.declarations.used_arrays.contains(array))
        };
        self.pointers.regions.ids().filter(is_used)
    }

    fn assumptions(&self, (arrays, array_names): (&[Array], &BTreeMap<Name, String>), blocks: &[Block]) -> Vec<String> {
        let mut said = Vec::new();
        let global = arrays.iter().filter(|a| a.space == ArraySpace::Global).count();
        if global > 1 && !self.options.rules.may_alias {
            // Which do not, the launch says.
            let of = if self.options.aliases.is_empty() { "pointer" } else { "other pointer" };
            said.push(format!("{of} parameters and global arrays refer to disjoint arrays"));
        }
        let shared = arrays.iter().filter(|a| a.space == ArraySpace::Shared).count();
        let used = |region: &Region| region.space == Space::Shared && matches!(region.kind, RegionKind::Pointee(_));
        if shared > 1 && self.used_regions().any(|region| used(self.pointers.regions.get(region))) {
            said.push("pointers to shared memory among the parameters refer to arrays that are disjoint, also from those of the kernel".to_string());
        }
        said.extend(self.behind());
        if self.declarations.assumes_bounds {
            said.push("an access stays inside the array that its pointer came from".to_string());
        }
        if self.declarations.assumes_indices {
            said.push(
                "a number of 32 bits, or a sum of such numbers times constants, is no address of an array".to_string(),
            );
        }
        if self.declarations.assumes_allocation {
            said.push("`malloc` never fails".to_string());
        }
        said.extend(self.cfg.assumptions.iter().map(ToString::to_string));
        let is_global = |array: &Name| arrays.iter().any(|a| a.name == *array && a.space == ArraySpace::Global);
        let mut loads = blocks.iter().flat_map(|block| &block.stmts).filter_map(|stmt| match &stmt.kind {
            StmtKind::Load { access, .. } if is_global(&access.array) => Some(stmt.attributes.has("non_coherent")),
            StmtKind::Atomic { access, .. } if is_global(&access.array) => {
                (stmt.attributes.has(TICKET) || stmt.attributes.has(WINNER)).then_some(false)
            }
            _ => None,
        });
        if let Some(first) = loads.next() {
            said.push("nothing but this launch writes the global arrays that it reads, while it runs".to_string());
            if first || loads.any(|is_non_coherent| is_non_coherent) {
                said.push(
                    "a `.nc` load of an array that the kernel writes is ordered like any other: the PTX ISA names no proxy \
                     of its own for it, and so no fence that it needs"
                        .to_string(),
                );
            }
        }
        if self.declarations.volatile_stores {
            said.push(
                "volatile accesses do not race with each other: to the PTX memory model they are relaxed ones at system \
                 scope (--volatile-races takes them for plain ones)"
                    .to_string(),
            );
        }
        said.extend(self.counters(array_names));
        said.extend(self.completion_assumption(array_names));
        if !self.declarations.locks.is_empty() {
            said.push(
                "a thread that waits for a lock gets it: all threads that hold one go on, also those of its own warp"
                    .to_string(),
            );
        }
        said.extend(self.assumed_of_flags(array_names));
        if self.declarations.assumes_lanes {
            said.push("a warp is 32 threads with consecutive linear ids: `%laneid` is that id modulo 32".to_string());
        }
        if self.declarations.assumes_members {
            said.push(
                "the lanes that a mask names come to its operation, where `ballot`, `match`, `activemask` or memory give it"
                    .to_string(),
            );
        }
        if self.declarations.assumes_shared_start {
            said.push(products::ASSUMED_START.to_string());
        }
        if self.declarations.reads_textures {
            said.push("nothing writes the memory behind textures while the kernel runs".to_string());
        }
        said.extend(launch::assumption(&self.launch, self.options.max_threads));
        said.extend(self.stated.iter().cloned());
        said
    }
}
