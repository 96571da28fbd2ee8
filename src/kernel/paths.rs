//! Ways through the blocks of a kernel: what comes before what, and what a register holds at a place.
//!
//! Input: the blocks. Output: [`Paths`], and what is asked of it. Establishes: [`Paths::value`] is what the expression has whenever a
//! thread comes to the place. Relies on: the start is the first block; blocks name blocks of the kernel.
//! Reference: Aho, Lam, Sethi, Ullman, "Compilers" (dominators, reaching definitions).

use crate::flow::{Dominators, Graph};
use crate::ivl::ast::{Block, ExprKind, ExprRef, Name, Stmt, StmtKind, Transfer, Type, UnaryOp};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Premise;
use crate::ivl::visit::{assigned, children, map_children, substitute};
use std::collections::{BTreeMap, BTreeSet};

/// A statement: the number of its block, its index there.
pub(super) type Position = (usize, usize);

/// Expressions with more nodes than this are not looked at.
const MOST_NODES: usize = 60;

/// In larger kernels no assignments are rewritten.
const MOST_STATEMENTS: usize = 5000;

/// The blocks of a kernel with their ways.
pub(super) struct Paths<'b> {
    blocks: &'b [Block],
    graph: Graph,
    dominators: Dominators,
    /// Where each register is assigned.
    definitions: BTreeMap<&'b Name, Vec<Position>>,
}

impl<'b> Paths<'b> {
    pub(super) fn of(blocks: &'b [Block]) -> Paths<'b> {
        let numbers: BTreeMap<&Name, usize> = blocks.iter().enumerate().map(|(n, block)| (&block.label, n)).collect();
        let successors = |block: &Block| match &block.transfer {
            Transfer::Goto(targets) => targets.iter().filter_map(|target| numbers.get(target).copied()).collect(),
            Transfer::Return => Vec::new(),
        };
        let graph = Graph::new(blocks.iter().map(successors).collect());
        let dominators = graph.dominators();
        let mut this = Paths { blocks, graph, dominators, definitions: BTreeMap::new() };
        for (at, stmt) in statements(blocks) {
            assigned(stmt).into_iter().for_each(|name| this.definitions.entry(name).or_default().push(at));
        }
        this
    }

    /// All statements of blocks to which a way leads.
    pub(super) fn statements(&self) -> impl Iterator<Item = (Position, &'b Stmt)> + '_ {
        statements(self.blocks).filter(|(at, _)| self.dominators.dominates(0, at.0))
    }

    /// The statements of a block.
    pub(super) fn block(&self, number: usize) -> &'b [Stmt] {
        &self.blocks[number].stmts
    }

    /// The blocks to which ways lead from one.
    pub(super) fn successors(&self, block: usize) -> &[usize] {
        &self.graph.successors[block]
    }

    /// The statement at a position.
    pub(super) fn statement(&self, at: Position) -> &'b Stmt {
        &self.blocks[at.0].stmts[at.1]
    }

    /// The blocks to which no other way leads than from this one.
    pub(super) fn only_ways(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let is_only = move |to: &usize| self.graph.predecessors[*to] == [from] && *to != 0;
        self.graph.successors[from].iter().copied().filter(is_only)
    }

    /// Where a register is assigned.
    pub(super) fn definitions(&self, name: &Name) -> &[Position] {
        self.definitions.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a thread that comes to `to` has passed `by` before.
    pub(super) fn dominates(&self, by: Position, to: Position) -> bool {
        if by.0 == to.0 { by.1 < to.1 } else { self.dominators.dominates(by.0, to.0) }
    }

    /// The last of some places that a thread has passed which comes to `to`.
    pub(super) fn last_before(&self, candidates: &[Position], to: Position) -> Option<Position> {
        let before = candidates.iter().copied().filter(|place| self.dominates(*place, to));
        before.reduce(|last, next| if self.dominates(last, next) { next } else { last })
    }

    /// Whether a way leads from behind `from` to `to` without any of `past`.
    pub(super) fn leads(&self, from: Position, to: Position, past: &[Position]) -> bool {
        self.reaches((from.0, from.1 + 1), to, past)
    }

    /// Whether a way leads from the start to `to` without any of `past`.
    pub(super) fn starts_to(&self, to: Position, past: &[Position]) -> bool {
        self.reaches((0, 0), to, past)
    }

    /// Whether a way leads from in front of `from` to `to` without any of `past`.
    fn reaches(&self, from: Position, to: Position, past: &[Position]) -> bool {
        let stops = |block: usize, start: usize| {
            let indices = past.iter().filter(|at| at.0 == block && at.1 >= start).map(|at| at.1);
            indices.min().unwrap_or(usize::MAX)
        };
        let mut seen = BTreeSet::new();
        let mut pending = vec![from];
        while let Some((block, start)) = pending.pop() {
            let stop = stops(block, start);
            if to.0 == block && to.1 >= start && to.1 <= stop {
                return true;
            }
            if stop == usize::MAX {
                let next = self.graph.successors[block].iter().copied();
                pending.extend(next.filter(|next| seen.insert(*next)).map(|next| (next, 0)));
            }
        }
        false
    }

    /// The conditions of branches that a thread satisfied on each way to a place, with where they stand.
    pub(super) fn conditions(&self, to: Position) -> Vec<(Position, &'b ExprRef)> {
        let mut found = Vec::new();
        for block in self.dominators.of(to.0) {
            for (index, stmt) in self.blocks[block].stmts.iter().enumerate() {
                let at = (block, index);
                if let StmtKind::Assume(Premise::Program, e) = &stmt.kind
                    && self.dominates(at, to)
                {
                    found.push((at, e));
                }
            }
        }
        found
    }

    /// The value of an expression at a place, over constants that are `known`; `None` if it depends on anything else.
    pub(super) fn value(&self, e: &ExprRef, at: Position, known: &dyn Fn(&Name) -> bool) -> Option<ExprRef> {
        self.resolve(e, at, &|name, _| known(name), &mut { MOST_NODES })
    }

    /// The same over constants and what registers were given, each in one place.
    pub(super) fn value_over(
        &self,
        e: &ExprRef,
        at: Position,
        given: &[(&Name, Position)],
        known: &dyn Fn(&Name) -> bool,
    ) -> Option<ExprRef> {
        let is_given = |name: &Name, at| {
            given.iter().any(|(register, given)| name == *register && self.definition(name, at) == Some(*given))
        };
        self.resolve(e, at, &|name, at| known(name) || is_given(name, at), &mut { MOST_NODES })
    }

    /// A comparison that decides a condition, whether it has to hold, and where it was made.
    pub(super) fn comparison(&self, condition: &'b ExprRef, at: Position) -> Option<(&'b ExprRef, bool, Position)> {
        let (mut e, mut holds, mut at) = (condition, true, at);
        for _ in 0..MOST_NODES {
            match &e.kind {
                ExprKind::Unary(UnaryOp::Not, inner) => (e, holds) = (inner, !holds),
                ExprKind::Var(name) => {
                    at = self.definition(name, at)?;
                    let StmtKind::Assign(pairs) = &self.blocks[at.0].stmts[at.1].kind else { return None };
                    e = pairs.iter().find(|(target, _)| target == name).map(|(_, value)| value)?;
                }
                _ => return Some((e, holds, at)),
            }
        }
        None
    }

    /// The one place that each way to here passes, and that gave a register what it has.
    pub(super) fn definition(&self, name: &Name, at: Position) -> Option<Position> {
        let definitions = self.definitions.get(name)?;
        let mut leading = definitions.iter().filter(|from| self.leads(**from, at, definitions));
        let (from, None) = (*leading.next()?, leading.next()) else { return None };
        self.dominates(from, at).then_some(from)
    }

    /// Assignments of values in which registers that are assigned several times are replaced by the constants that are
    /// `known` that they hold there.
    pub(super) fn with_constants(&self, known: &dyn Fn(&Name) -> bool) -> Vec<(Position, StmtKind)> {
        let several = |name: &Name| self.definitions.get(name).is_some_and(|found| found.len() > 1);
        let constant = |name: Name, ty: Type, at: Position| {
            let value = self.value(&bv::var(name.clone(), ty), at, known)?;
            matches!(value.kind, ExprKind::Var(_) | ExprKind::Bv(_)).then_some((name, value))
        };
        let mut found = Vec::new();
        if self.statements().count() > MOST_STATEMENTS {
            return found;
        }
        for (at, stmt) in self.statements() {
            let StmtKind::Assign(pairs) = &stmt.kind else { continue };
            let rewritten = pairs.iter().map(|(target, value)| {
                let names = typed_variables(value).into_iter().filter(|(name, _)| several(name));
                let values = names.filter_map(|(name, ty)| constant(name, ty, at)).collect();
                (target.clone(), substitute(value, &values))
            });
            let rewritten: Vec<(Name, ExprRef)> = rewritten.collect();
            if rewritten != *pairs {
                found.push((at, StmtKind::Assign(rewritten)));
            }
        }
        found
    }

    fn resolve(
        &self,
        e: &ExprRef,
        at: Position,
        known: &dyn Fn(&Name, Position) -> bool,
        nodes: &mut usize,
    ) -> Option<ExprRef> {
        *nodes = nodes.checked_sub(1)?;
        match &e.kind {
            ExprKind::Var(name) if known(name, at) => Some(e.clone()),
            ExprKind::Var(name) => {
                let from = self.definition(name, at)?;
                let StmtKind::Assign(pairs) = &self.blocks[from.0].stmts[from.1].kind else { return None };
                let value = pairs.iter().find(|(target, _)| target == name).map(|(_, value)| value)?;
                self.resolve(value, from, known, nodes)
            }
            ExprKind::Quantifier { .. } | ExprKind::Old(_) | ExprKind::Select(..) | ExprKind::Store(..) => None,
            _ => {
                let mut failed = false;
                let result = map_children(e, &mut |child| match self.resolve(child, at, known, nodes) {
                    Some(resolved) if !failed => resolved,
                    _ => {
                        failed = true;
                        child.clone()
                    }
                });
                (!failed).then(|| folded(result))
            }
        }
    }
}

fn typed_variables(e: &ExprRef) -> BTreeMap<Name, Type> {
    let mut found = BTreeMap::new();
    let mut pending = vec![e.clone()];
    while let Some(e) = pending.pop() {
        if let ExprKind::Var(name) = &e.kind {
            found.insert(name.clone(), e.ty.clone());
        }
        pending.extend(children(&e).into_iter().cloned());
    }
    found
}

fn statements(blocks: &[Block]) -> impl Iterator<Item = (Position, &Stmt)> {
    blocks
        .iter()
        .enumerate()
        .flat_map(|(number, block)| block.stmts.iter().enumerate().map(move |(index, stmt)| ((number, index), stmt)))
}

/// Sums and differences of two numbers.
fn folded(e: ExprRef) -> ExprRef {
    let ExprKind::Call(name, args) = &e.kind else { return e };
    let [a, b] = &args[..] else { return e };
    let (ExprKind::Bv(x), ExprKind::Bv(y)) = (&a.kind, &b.kind) else { return e };
    let width = bv::width(&e);
    if *name == BvOp::Add.function(width) {
        bv::literal(x.wrapping_add(*y), width)
    } else if *name == BvOp::Sub.function(width) {
        bv::literal(x.wrapping_sub(*y), width)
    } else {
        e
    }
}
