//! Puts the predicated kernel together.
//!
//! Input: the kernel, its loops, sort order, activity classes and unpredicated variables. Output:
//! [`Predicated`]. Establishes: each block passes control to the next in sort order; the last block of
//! a loop chooses between the loop's `back` and `exit` blocks, inner loops before outer ones when it is
//! the last of several; invariants of the user lead the block of their head. Relies on: the sort order keeps loops contiguous. Reference: the lock-step paper,
//! Table 2 and "Predication of Kernels".

use super::invariants::is_invariant;
use super::kernel::{Exit, Kernel};
use super::live;
use super::rewrite::{Rewriter, block_id, generated};
use super::{LoopInfo, OrderedBlock, Predicated, names_in_use};
use crate::diagnostic::Diagnostic;
use crate::flow::{Loop, LoopForest};
use crate::ivl::ast::{Block, ExprRef, Name, Program, Stmt, StmtKind, Transfer, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Claim;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Builds the predicated program.
///
/// # Errors
/// Statements that kernels do not have.
pub(crate) fn predicate(
    program: &Program,
    kernel: &Kernel,
    forest: &LoopForest,
    order: Vec<usize>,
    representatives: Vec<usize>,
    unpredicated: BTreeSet<Name>,
) -> Result<Predicated, Vec<Diagnostic>> {
    let body = kernel.procedure.body.as_ref().expect("predicate: a kernel that was read has a body");
    let mut rewriter = Rewriter::new(&body.locals, unpredicated, names_in_use(program, kernel));
    let layout = Layout::new(kernel, forest, order, &mut rewriter);
    let blocks = layout.blocks(kernel, &representatives, &mut rewriter)?;

    let mut locals = body.locals.clone();
    locals.append(&mut rewriter.introduced);
    let mut result = program.clone();
    for procedure in &mut result.procedures {
        if procedure.name == kernel.procedure.name {
            procedure.body = Some(crate::ivl::ast::Implementation { locals, blocks });
            break;
        }
    }
    Ok(Predicated {
        program: result,
        kernel: kernel.procedure.name.clone(),
        active: rewriter.active.clone(),
        order: layout.ordered_blocks(kernel),
        end_id: layout.end_id(),
        leaving: layout.leaving(kernel),
        loops: layout.loops,
    })
}

/// Whether a thread may wait for others at a statement.
fn waits(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Barrier(_) | StmtKind::WarpBarrier(_) | StmtKind::Fence(_) => true,
        StmtKind::Assert(claim, _) => *claim == Claim::LanesMet,
        _ => false,
    }
}

/// Where blocks stand in the predicated kernel.
struct Layout {
    /// Block numbers in sort order.
    order: Vec<usize>,
    /// Id of each block number: its place in `order`.
    ids: Vec<u32>,
    /// Innermost loop of each block number, an index into `loops`.
    innermost: Vec<Option<usize>>,
    /// Activity variable of each block number.
    activities: Vec<Name>,
    /// Loops in the order of their heads.
    loops: Vec<LoopInfo>,
}

impl Layout {
    fn new(kernel: &Kernel, forest: &LoopForest, order: Vec<usize>, rewriter: &mut Rewriter) -> Layout {
        let mut ids = vec![0; order.len()];
        for (id, &block) in (0u32..).zip(&order) {
            ids[block] = id;
        }
        let mut activities = vec![Name::from(""); order.len()];
        for &block in &order {
            activities[block] = rewriter.introduce(&format!("p.{}", kernel.blocks[block].label), Type::Bool);
        }
        // Loops by head: outer before inner, since an outer head dominates, so precedes, an inner one.
        let mut by_head: Vec<usize> = (0..forest.loops.len()).collect();
        by_head.sort_by_key(|&index| ids[forest.loops[index].header]);
        let mut renumbered = vec![0; by_head.len()];
        for (new, &old) in by_head.iter().enumerate() {
            renumbered[old] = new;
        }
        let innermost = forest.innermost.iter().map(|index| index.map(|old| renumbered[old])).collect();
        let mut layout = Layout { order, ids, innermost, activities, loops: Vec::new() };
        let mut labels: BTreeSet<Name> = kernel.blocks.iter().map(|block| block.label.clone()).collect();
        let mut dead = live::dead(kernel, forest);
        for old in by_head {
            let parent = forest.loops[old].parent.map(|index| renumbered[index]);
            let info = layout.loop_info(kernel, forest, old, parent, &mut labels, rewriter);
            layout.loops.push(LoopInfo { dead: std::mem::take(&mut dead[old]), ..info });
        }
        layout
    }

    /// See [`Predicated::leaving`].
    fn leaving(&self, kernel: &Kernel) -> BTreeSet<u32> {
        let mut leaving = BTreeSet::from([self.end_id()]);
        for &block in self.order.iter().rev() {
            let waits = kernel.blocks[block].stmts.iter().any(waits);
            let successors = &kernel.graph.successors[block];
            if !waits
                && self.innermost[block].is_none()
                && successors.iter().all(|next| leaving.contains(&self.ids[*next]))
            {
                leaving.insert(self.ids[block]);
            }
        }
        leaving
    }

    fn end_id(&self) -> u32 {
        u32::try_from(self.order.len()).expect("predicate: the number of blocks was checked")
    }

    fn loop_info(
        &self,
        kernel: &Kernel,
        forest: &LoopForest,
        index: usize,
        parent: Option<usize>,
        labels: &mut BTreeSet<Name>,
        rewriter: &mut Rewriter,
    ) -> LoopInfo {
        let this = &forest.loops[index];
        let head_block = &kernel.blocks[this.header];
        let head = head_block.label.clone();
        let mut label = |suffix: &str| {
            let mut name = Name::from(format!("{head}.{suffix}"));
            while !labels.insert(name.clone()) {
                name = Name::from(format!("{name}'"));
            }
            name
        };
        let (entry, back, exit) = (label("entry"), label("back"), label("exit"));
        let mut members: Vec<usize> = this.blocks.iter().copied().collect();
        members.sort_by_key(|&block| self.ids[block]);
        let head_id = self.ids[this.header];
        let last_id = members.iter().map(|&block| self.ids[block]).max().unwrap_or(head_id);
        let exit_ids = self.exit_ids(kernel, &this.blocks);
        let active_at_entry = rewriter.introduce(&format!("v_entry.{head}"), rewriter.active().ty.clone());
        let returning = self.outer_heads_awaited(kernel, forest, index, last_id);
        let at_entry = bv::var(active_at_entry.clone(), rewriter.active().ty.clone());
        LoopInfo {
            activity_facts: activity_facts(rewriter.active(), at_entry, head_id, last_id, &returning, &exit_ids),
            blocks: members.iter().map(|&block| kernel.blocks[block].label.clone()).collect(),
            origin: head_block.stmts.iter().find_map(|stmt| stmt.origin.clone()),
            head,
            entry,
            back,
            exit,
            head_id,
            last_id,
            parent,
            exit_ids,
            is_stepped: is_stepped(kernel, this),
            dead: BTreeSet::new(),
            leaves_out_dead: false,
            active_at_entry,
        }
    }

    /// Ids of targets of edges that leave the loop.
    fn exit_ids(&self, kernel: &Kernel, members: &BTreeSet<usize>) -> Vec<u32> {
        let mut exits = BTreeSet::new();
        for &block in members {
            if kernel.blocks[block].exit == Exit::End {
                exits.insert(self.end_id());
            }
            let targets = kernel.graph.successors[block].iter();
            exits.extend(targets.filter(|target| !members.contains(target)).map(|&target| self.ids[target]));
        }
        exits.into_iter().collect()
    }

    /// Heads of outer loops to which a thread may be on its way while this loop runs: some block
    /// not sorted after this loop continues the outer loop.
    fn outer_heads_awaited(&self, kernel: &Kernel, forest: &LoopForest, index: usize, last_id: u32) -> Vec<u32> {
        let outer = std::iter::successors(forest.loops[index].parent, |&outer| forest.loops[outer].parent);
        let continues = |&outer: &usize| {
            let this = &forest.loops[outer];
            let sources = kernel.graph.predecessors[this.header].iter();
            sources.copied().any(|from| this.blocks.contains(&from) && self.ids[from] <= last_id)
        };
        outer.filter(continues).map(|outer| self.ids[forest.loops[outer].header]).collect()
    }

    fn ordered_blocks(&self, kernel: &Kernel) -> Vec<OrderedBlock> {
        let entry = |&block: &usize| OrderedBlock {
            label: kernel.blocks[block].label.clone(),
            activity: self.activities[block].clone(),
            in_loop: self.innermost[block],
        };
        self.order.iter().map(entry).collect()
    }

    /// All blocks of the predicated kernel, in sort order.
    fn blocks(
        &self,
        kernel: &Kernel,
        representatives: &[usize],
        rewriter: &mut Rewriter,
    ) -> Result<Vec<Block>, Vec<Diagnostic>> {
        let heads: BTreeMap<u32, &LoopInfo> = self.loops.iter().map(|this| (this.head_id, this)).collect();
        let (mut result, mut errors) = (Vec::new(), Vec::new());
        for (position, &number) in self.order.iter().enumerate() {
            let id = self.ids[number];
            if let Some(this) = heads.get(&id) {
                result.push(entry_block(this, rewriter.active()));
            }
            let mut stmts = Vec::new();
            if position == 0 {
                stmts.push(assign(rewriter.active.clone(), block_id(id)));
            }
            let block = &kernel.blocks[number];
            let is_head = heads.contains_key(&id);
            let invariants = block.stmts.iter().take_while(|stmt| is_head && is_invariant(stmt)).count();
            let here = bv::eq(rewriter.active(), block_id(id));
            for stmt in &block.stmts[..invariants] {
                errors.extend(rewriter.statement(stmt, &here, &mut stmts).err());
            }
            let activity = &self.activities[number];
            let representative = representatives[number];
            let value = match representative == number {
                true => here,
                false => bv::var(self.activities[representative].clone(), Type::Bool),
            };
            stmts.push(assign(activity.clone(), value));
            let guard = bv::var(activity.clone(), Type::Bool);
            for stmt in &block.stmts[invariants..] {
                errors.extend(rewriter.statement(stmt, &guard, &mut stmts).err());
            }
            rewriter.exit(&block.exit, &guard, &self.ids, self.end_id(), &mut stmts);
            let after = self.order.get(position + 1).map(|&next| self.arrival(kernel, next, &heads));
            let open = Block {
                label: block.label.clone(),
                stmts,
                transfer: Transfer::Return,
                span: block.span,
                end: Span::NONE,
            };
            self.leave(id, self.innermost[number], open, after, rewriter.active(), &mut result);
        }
        if errors.is_empty() { Ok(result) } else { Err(errors) }
    }

    /// Where control goes to reach a block from the one sorted before it.
    fn arrival(&self, kernel: &Kernel, block: usize, heads: &BTreeMap<u32, &LoopInfo>) -> Name {
        match heads.get(&self.ids[block]) {
            Some(this) => this.entry.clone(),
            None => kernel.blocks[block].label.clone(),
        }
    }

    /// Ends a block: `goto next(B)`, or the `back` and `exit` blocks of the loops that it is the last of.
    fn leave(
        &self,
        id: u32,
        innermost: Option<usize>,
        mut open: Block,
        after: Option<Name>,
        active: ExprRef,
        out: &mut Vec<Block>,
    ) {
        let around = std::iter::successors(innermost, |&index| self.loops[index].parent);
        let ending = around.map(|index| &self.loops[index]).take_while(|this| this.last_id == id);
        for this in ending {
            open.transfer = Transfer::Goto(vec![this.back.clone(), this.exit.clone()]);
            out.push(open);
            let at_head = bv::eq(active.clone(), block_id(this.head_id));
            out.push(Block {
                label: this.back.clone(),
                stmts: vec![generated(StmtKind::assume(at_head.clone()), None)],
                transfer: Transfer::Goto(vec![this.head.clone()]),
                span: Span::NONE,
                end: Span::NONE,
            });
            let left = bv::ne(active.clone(), block_id(this.head_id));
            let stmts = vec![generated(StmtKind::assume(left), None)];
            open = Block {
                label: this.exit.clone(),
                stmts,
                transfer: Transfer::Return,
                span: Span::NONE,
                end: Span::NONE,
            };
        }
        if let Some(next) = after {
            open.transfer = Transfer::Goto(vec![next]);
        }
        out.push(open);
    }
}

/// Whether no way from the header of a loop back to it avoids all barriers. A barrier under a guard may be passed by.
fn is_stepped(kernel: &Kernel, this: &Loop) -> bool {
    let waits = |block: usize| {
        let mut stmts = kernel.blocks[block].stmts.iter();
        stmts.any(|stmt| matches!(&stmt.kind, StmtKind::Barrier(barrier) if barrier.guard.is_none()))
    };
    let mut seen = BTreeSet::new();
    let mut open = vec![this.header];
    while let Some(block) = open.pop() {
        if waits(block) || !seen.insert(block) {
            continue;
        }
        let inside = kernel.graph.successors[block].iter().filter(|next| this.blocks.contains(next));
        for &next in inside {
            if next == this.header {
                return false;
            }
            open.push(next);
        }
    }
    true
}

fn assign(name: Name, value: ExprRef) -> Stmt {
    generated(StmtKind::Assign(vec![(name, value)]), None)
}

fn entry_block(this: &LoopInfo, active: ExprRef) -> Block {
    Block {
        label: this.entry.clone(),
        stmts: vec![assign(this.active_at_entry.clone(), active)],
        transfer: Transfer::Goto(vec![this.head.clone()]),
        span: Span::NONE,
        end: Span::NONE,
    }
}

/// See [`LoopInfo::activity_facts`].
fn activity_facts(
    active: ExprRef,
    at_entry: ExprRef,
    head_id: u32,
    last_id: u32,
    returning: &[u32],
    exit_ids: &[u32],
) -> Vec<ExprRef> {
    let is = |id: u32| bv::eq(active.clone(), block_id(id));
    let at_head = is(head_id);
    let behind = bv::binary(BvOp::Ugt, active.clone(), block_id(last_id));
    let returns = returning.iter().map(|&id| is(id)).fold(bv::boolean(false), bv::or);
    let entered = bv::eq(at_entry.clone(), block_id(head_id));
    let left = exit_ids.iter().map(|&id| is(id)).fold(bv::boolean(false), bv::or);
    vec![
        bv::or(bv::or(at_head.clone(), behind), returns),
        bv::or(entered.clone(), bv::eq(active.clone(), at_entry)),
        bv::implies(entered, bv::or(at_head, left)),
    ]
}
