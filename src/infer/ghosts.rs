//! Ghost code for loops: round counters, values on entry, and the round of the logged access.
//!
//! Input: a two-thread program. Output: the same with, for each loop L, an integer `k.L` that
//! counts rounds of the lock-step loop, `k.L$1` and `k.L$2`, which stop when that thread leaves,
//! `round.L`, the value of `k.L` when the pending access was logged in L (-1 if it was not), and
//! snapshots `x.entry.L` of values on entry.
//! Establishes: ghosts never influence other variables. Relies on: loops laid out by `predicate`:
//! a block in front of the head, one block for the back edge, one for the exit.
//! Reference: DESIGN section 4 (the witness of an access).

use crate::ivl::ast::{Block, ExprRef, Name, Procedure, Stmt, StmtKind, Thread, Type, Variable};
use crate::ivl::bv;
use crate::predicate::LoopInfo;
use crate::span::Span;
use std::collections::BTreeSet;

/// A loop with the names of its ghosts.
#[derive(Clone, Debug)]
pub struct LoopGhosts {
    /// Label of the head.
    pub(crate) head: Name,
    /// Label of the block in front of it.
    pub(crate) entry: Name,
    /// Label of the block of the back edge.
    pub(crate) back: Name,
    /// Label of the block that leaves.
    pub(crate) exit: Name,
    /// Labels of all blocks from the head to the block of the back edge, in order.
    pub(crate) blocks: BTreeSet<Name>,
    /// Id of the head.
    pub(crate) head_id: u32,
    /// The greatest id of the loop.
    pub(crate) last_id: u32,
    /// Ids to which a thread leaves.
    pub(crate) exit_ids: Vec<u32>,
    /// Index of the enclosing loop.
    pub(crate) parent: Option<usize>,
    /// `v_active` without a thread suffix.
    pub(crate) v_active: Name,
    /// `v_active` on entry, without a thread suffix.
    pub(crate) v_active_at_entry: Name,
    /// Width of block ids in bits.
    pub(crate) id_width: u32,
    /// Registers that no round takes over from the one before, if invariants are to say nothing about them.
    pub(crate) dead: BTreeSet<Name>,
    /// Name of the round counter.
    pub(crate) k: Name,
    /// Name of the round of the logged access.
    pub(crate) round: Name,
}

impl LoopGhosts {
    /// The ghosts of a loop; its blocks stand one after the other from the head to the back edge.
    pub(crate) fn new(info: &LoopInfo, v_active: &Name, body: &[Block]) -> Self {
        let from = body.iter().position(|b| b.label == info.head).unwrap_or(0);
        let to = body.iter().position(|b| b.label == info.back).unwrap_or(0);
        let blocks = body.iter().take(to + 1).skip(from).map(|b| b.label.clone()).collect();
        LoopGhosts {
            head: info.head.clone(),
            entry: info.entry.clone(),
            back: info.back.clone(),
            exit: info.exit.clone(),
            blocks,
            head_id: info.head_id,
            last_id: info.last_id,
            exit_ids: info.exit_ids.clone(),
            parent: info.parent,
            v_active: v_active.clone(),
            v_active_at_entry: info.active_at_entry.clone(),
            id_width: crate::predicate::rewrite::BLOCK_ID_WIDTH,
            dead: info.dead.iter().filter(|_| info.leaves_out_dead).cloned().collect(),
            k: Name::from(format!("k.{}", info.head)),
            round: Name::from(format!("round.{}", info.head)),
        }
    }

    /// A thread's `v_active` on entry.
    pub(crate) fn active_at_entry(&self, thread: Thread) -> Name {
        self.v_active_at_entry.of(thread)
    }

    /// The round counter.
    pub(crate) fn counter(&self) -> ExprRef {
        bv::var(self.k.clone(), Type::Int)
    }

    /// The rounds that a thread began after its first.
    pub(crate) fn own_counter(&self, thread: Thread) -> ExprRef {
        bv::var(self.own_k(thread), Type::Int)
    }

    /// Name of a thread's own counter.
    pub(crate) fn own_k(&self, thread: Thread) -> Name {
        self.k.of(thread)
    }

    /// The type of block ids and the id of the head.
    pub(crate) fn head_literal(&self) -> (Type, ExprRef) {
        (Type::Bv(self.id_width), bv::literal(u128::from(self.head_id), self.id_width))
    }

    /// Name of the snapshot of a variable on entry.
    pub(crate) fn snapshot(&self, variable: &Name) -> Name {
        variable.with(format_args!(".entry.{}", self.head))
    }

    /// The variable that a snapshot of this loop copies.
    pub(crate) fn original_of_snapshot(&self, snapshot: &Name) -> Option<Name> {
        snapshot.without(&format!(".entry.{}", self.head))
    }
}

/// A statement of generated code.
pub(crate) fn statement(kind: StmtKind) -> Stmt {
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
}

/// `x := e;`
pub(crate) fn assign(name: &Name, value: ExprRef) -> Stmt {
    statement(StmtKind::Assign(vec![(name.clone(), value)]))
}

/// Declares a local, once.
pub(crate) fn declare(procedure: &mut Procedure, name: &Name, ty: Type) {
    let Some(body) = &mut procedure.body else { return };
    if !body.locals.iter().any(|l| l.name == *name) {
        body.locals.push(Variable::new(name.clone(), ty));
    }
}

/// The block of that label.
pub(crate) fn block_mut<'p>(procedure: &'p mut Procedure, label: &Name) -> Option<&'p mut Block> {
    procedure.body.as_mut()?.blocks.iter_mut().find(|b| b.label == *label)
}

/// Adds counters and rounds of all loops.
pub(crate) fn insert(procedure: &mut Procedure, loops: &[LoopGhosts]) {
    for ghosts in loops {
        declare(procedure, &ghosts.k, Type::Int);
        declare(procedure, &ghosts.round, Type::Int);
        declare(procedure, &ghosts.own_k(Thread::First), Type::Int);
        declare(procedure, &ghosts.own_k(Thread::Second), Type::Int);
        if let Some(entry) = block_mut(procedure, &ghosts.entry) {
            entry.stmts.push(assign(&ghosts.k, bv::int(0)));
            entry.stmts.push(assign(&ghosts.round, bv::int(-1)));
            entry.stmts.extend(Thread::BOTH.map(|t| assign(&ghosts.own_k(t), bv::int(0))));
        }
        if let Some(back) = block_mut(procedure, &ghosts.back) {
            let next = bv::op(crate::ivl::ast::BinaryOp::Add, ghosts.counter(), bv::int(1));
            back.stmts.push(assign(&ghosts.k, next));
            back.stmts.extend(Thread::BOTH.map(|t| count_if_staying(ghosts, t)));
        }
    }
    let Some(body) = &mut procedure.body else { return };
    for block in &mut body.blocks {
        let around: Vec<&LoopGhosts> = loops.iter().filter(|l| l.blocks.contains(&block.label)).collect();
        if !around.is_empty() {
            record_rounds(block, &around);
        }
    }
}

/// `k.L$t := if v_active$t == head then k.L$t + 1 else k.L$t`
fn count_if_staying(ghosts: &LoopGhosts, thread: Thread) -> Stmt {
    let (ty, head) = ghosts.head_literal();
    let stays = bv::eq(bv::var(ghosts.v_active.of(thread), ty), head);
    let own = ghosts.own_counter(thread);
    let next = bv::op(crate::ivl::ast::BinaryOp::Add, own.clone(), bv::int(1));
    assign(&ghosts.own_k(thread), bv::ite(stays, next, own))
}

/// After each statement that may log, `round.L := if logged then k.L else round.L`.
fn record_rounds(block: &mut Block, around: &[&LoopGhosts]) {
    let mut stmts = Vec::with_capacity(block.stmts.len());
    for stmt in std::mem::take(&mut block.stmts) {
        let logged = if let StmtKind::Log { logged, .. } = &stmt.kind { Some(logged.clone()) } else { None };
        let origin = stmt.origin.clone();
        stmts.push(stmt);
        let Some(logged) = logged else { continue };
        for ghosts in around {
            let old = bv::var(ghosts.round.clone(), Type::Int);
            let value = bv::ite(bv::var(logged.clone(), Type::Bool), ghosts.counter(), old);
            stmts.push(Stmt { origin: origin.clone(), ..assign(&ghosts.round, value) });
        }
    }
    block.stmts = stmts;
}

/// Adds snapshots of values on entry to the block in front of the head.
pub(crate) fn insert_snapshots(procedure: &mut Procedure, ghosts: &LoopGhosts, variables: &[(Name, Type)]) {
    for (variable, ty) in variables {
        let snapshot = ghosts.snapshot(variable);
        declare(procedure, &snapshot, ty.clone());
        if let Some(entry) = block_mut(procedure, &ghosts.entry) {
            entry.stmts.push(assign(&snapshot, bv::var(variable.clone(), ty.clone())));
        }
    }
}
