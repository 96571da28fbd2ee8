//! Stage 3b: what no access, barrier or assertion depends on is left out.
//!
//! Input: a kernel IVL program, before predication, and arrays whose loads yield arbitrary values in a proof. Output: [`Sliced`]: the same kernel without assignments to variables
//! that are not relevant, loads of arrays that nobody writes into such variables, and branches between which and where
//! their ways meet nothing is left: most loops that only read. Establishes: for every terminating execution of the kernel
//! the slice has one with the same accesses of arrays that are written, the same barriers and assertions, and the same
//! values of relevant variables; it may have more, since values that are stored and never matter are arbitrary. No variable
//! is read whose assignments are left out (checked). Relies on: loops end, which is an assumption of the whole proof.
//! Reference: Weiser, "Program Slicing" (1981); the slice is of the statements that can race, wait or fail.

mod relevance;

use crate::flow::{Graph, LoopForest};
use crate::ivl::ast::{Attribute, Block, ExprRef, Implementation, Name, Program, Stmt, StmtKind, Transfer, Variable};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv;
use crate::ivl::visit::{self, Visitor};
use crate::predicate::kernel::Kernel;
use crate::predicate::order::sort_order;
use crate::rules::Rules;
use crate::twothread::contents::selection::ARBITRARY;
use relevance::Relevance;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel without what is of no consequence.
#[derive(Clone, Debug)]
pub struct Sliced {
    /// The program.
    pub program: Program,
    /// Labels of the heads of all loops of the kernel, those included that are left out.
    pub(crate) loop_heads: Vec<Name>,
}

/// Slices the kernel. One without loops, and a program that `predicate` refuses, stay as they are. Values that are stored in `unread` arrays
/// do not matter: their loads yield arbitrary values.
pub fn run(program: &Program, rules: Rules, unread: &BTreeSet<Name>) -> Sliced {
    let unchanged = || Sliced { program: program.clone(), loop_heads: Vec::new() };
    let Ok(kernel) = Kernel::read(program) else { return unchanged() };
    let Ok(forest) = LoopForest::of(&kernel.graph, &kernel.graph.dominators()) else { return unchanged() };
    // Without loops there is little to win, and proofs about products go other ways.
    if forest.loops.is_empty() {
        return unchanged();
    }
    let heads = sort_order(&kernel.graph, &forest).into_iter().filter(|block| forest.headed_by(*block).is_some());
    let loop_heads = heads.map(|block| kernel.blocks[block].label.clone()).collect();
    Sliced { program: sliced(program, &kernel, rules, unread), loop_heads }
}

/// The slice, also of a kernel without loops: what it mentions is what races, barriers and assertions depend on.
pub(crate) fn essence(program: &Program, rules: Rules) -> Program {
    match Kernel::read(program) {
        Ok(kernel) => sliced(program, &kernel, rules, &BTreeSet::new()),
        Err(_) => program.clone(),
    }
}

fn sliced(program: &Program, kernel: &Kernel, rules: Rules, unread: &BTreeSet<Name>) -> Program {
    let relevance = Relevance::of(program, kernel, rules, unread);
    let mut program = program.clone();
    let procedure = program.procedures.iter_mut().find(|procedure| procedure.attributes.has("kernel"));
    if let Some(body) = procedure.and_then(|procedure| procedure.body.as_mut()) {
        let taken = program.constants.iter().map(|constant| constant.variable.name.clone());
        Slicer { kernel, relevance: &relevance, taken: taken.collect(), arbitrary: Vec::new() }.body(body);
    }
    program
}

/// Rewrites the body.
struct Slicer<'a> {
    kernel: &'a Kernel<'a>,
    relevance: &'a Relevance<'a>,
    /// Names in use.
    taken: BTreeSet<Name>,
    /// Variables for values that are left open.
    arbitrary: Vec<Variable>,
}

impl Slicer<'_> {
    fn body(mut self, body: &mut Implementation) {
        self.taken.extend(body.locals.iter().map(|local| local.name.clone()));
        let numbers: BTreeMap<&Name, usize> =
            self.kernel.blocks.iter().enumerate().map(|(number, block)| (&block.label, number)).collect();
        let mut blocks = Vec::new();
        for block in &body.blocks {
            if let Some(number) = numbers.get(&block.label) {
                blocks.push(self.block(block, *number));
            }
        }
        body.blocks = reachable(blocks);
        let Mentioned { read, assigned } = Mentioned::of(&body.blocks);
        for local in &body.locals {
            let is_read = read.contains(&local.name);
            assert!(
                !is_read || self.relevance.is_known(&local.name),
                "slice: `{}` is read and not relevant",
                local.name
            );
        }
        body.locals.append(&mut self.arbitrary);
        let used = with_constraints(read.union(&assigned).cloned().collect(), &body.locals);
        body.locals.retain(|local| used.contains(&local.name));
    }

    fn block(&mut self, block: &Block, number: usize) -> Block {
        let transfer = match self.relevance.way_past(number) {
            Some(Some(meeting)) => Transfer::Goto(vec![self.kernel.blocks[meeting].label.clone()]),
            Some(None) => Transfer::Return,
            None => block.transfer.clone(),
        };
        // What a branch that is left out assumes here is gone with it; all ways to here are that branch, or none.
        let mut ways = self.kernel.graph.predecessors[number].iter();
        let is_past = ways.any(|way| self.relevance.way_past(*way).is_some());
        let mut stmts = Vec::new();
        for stmt in if is_past { &self.kernel.blocks[number].stmts } else { &block.stmts } {
            self.stmt(stmt, &mut stmts);
        }
        Block { stmts, transfer, ..block.clone() }
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let is_relevant = |name: &Name| self.relevance.is_relevant(name);
        let kind = match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let left: Vec<_> = pairs.iter().filter(|(name, _)| is_relevant(name)).cloned().collect();
                (!left.is_empty()).then_some(StmtKind::Assign(left))
            }
            StmtKind::Havoc(names) => {
                let left: Vec<_> = names.iter().filter(|name| is_relevant(name)).cloned().collect();
                (!left.is_empty()).then_some(StmtKind::Havoc(left))
            }
            StmtKind::Load { dst, .. } if !is_relevant(dst) && !self.relevance.is_effect(stmt) => None,
            StmtKind::Store { value, access }
                if !visit::free_vars(value).iter().all(|name| self.relevance.is_known(name)) =>
            {
                let value = self.arbitrary(value);
                let name = visit::free_vars(&value).into_iter().collect();
                out.push(Stmt { kind: StmtKind::Havoc(name), attributes: Vec::new(), ..stmt.clone() });
                let mut attributes = stmt.attributes.clone();
                if self.relevance.is_left_open(&access.array) {
                    attributes.push(Attribute { name: Name::new(ARBITRARY), args: Vec::new() });
                }
                let kind = StmtKind::Store { value, access: access.clone() };
                return out.push(Stmt { kind, attributes, ..stmt.clone() });
            }
            kind => Some(kind.clone()),
        };
        out.extend(kind.map(|kind| Stmt { kind, ..stmt.clone() }));
    }

    /// A variable in the place of a value.
    fn arbitrary(&mut self, value: &ExprRef) -> ExprRef {
        let names = (1..).map(|number| Name::from(format!("stored.{number}")));
        let name = names.into_iter().find(|name| !self.taken.contains(name)).unwrap_or_else(|| Name::from("stored"));
        self.taken.insert(name.clone());
        self.arbitrary.push(Variable::new(name.clone(), value.ty.clone()));
        bv::var(name, value.ty.clone())
    }
}

/// The variables, and what the `where` of any of them names.
fn with_constraints(mut used: BTreeSet<Name>, locals: &[Variable]) -> BTreeSet<Name> {
    loop {
        let constrained = locals.iter().filter(|local| used.contains(&local.name));
        let named = constrained.filter_map(|local| local.where_clause.as_ref()).flat_map(visit::free_vars);
        let named: Vec<Name> = named.filter(|name| !used.contains(name)).collect();
        if named.is_empty() {
            return used;
        }
        used.extend(named);
    }
}

/// The blocks to which the first leads.
fn reachable(blocks: Vec<Block>) -> Vec<Block> {
    let numbers: BTreeMap<&Name, usize> = blocks.iter().enumerate().map(|(n, block)| (&block.label, n)).collect();
    let successors = blocks.iter().map(|block| match &block.transfer {
        Transfer::Goto(targets) => targets.iter().filter_map(|target| numbers.get(target).copied()).collect(),
        Transfer::Return => Vec::new(),
    });
    let is_reachable = Graph::new(successors.collect()).reachable();
    blocks.into_iter().zip(is_reachable).filter(|(_, is_reachable)| *is_reachable).map(|(block, _)| block).collect()
}

/// The variables that statements read, and those that they assign.
#[derive(Default)]
struct Mentioned {
    read: BTreeSet<Name>,
    assigned: BTreeSet<Name>,
}

impl Mentioned {
    fn of(blocks: &[Block]) -> Mentioned {
        let mut found = Mentioned::default();
        blocks.iter().for_each(|block| found.block(block));
        found
    }
}

impl Visitor for Mentioned {
    fn expr(&mut self, expr: &ExprRef) {
        self.read.extend(visit::free_vars(expr));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.assigned.extend(visit::assigned(stmt).into_iter().cloned());
        visit::walk_stmt(self, stmt);
    }
}
