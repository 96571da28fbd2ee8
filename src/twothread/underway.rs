//! Accesses that go on beside their thread: asynchronous copies.
//!
//! Input: accesses with `{:asynchronous committed, waited}` ([`crate::kernel::ASYNCHRONOUS`]). Output: the group of the copy that is
//! remembered, and the condition under which what is remembered is complete. Establishes: what thread 1 started to copy is
//! forgotten only behind a wait of thread 1 for its group, by a barrier that both threads pass; of one thread alone
//! ([`Pair::OneThread`]), which every kernel with copies is asked about, only by that wait.
//! Relies on: a copy conflicts with what is not ordered behind it or before its start, whenever its bytes move, so it is logged
//! and checked where it starts. What comes behind the start of a copy of thread 2 is, with the threads exchanged, an access of
//! thread 2 behind the start of a copy of thread 1. Of two copies that are remembered one after the other, the later one is
//! complete later, so that its group stands for both. Reference: PTX ISA, `cp.async`; phases-notes 2.6 (delayed release).

use super::Pair;
use super::copies::Copies;
use super::log::TRACKED_SITE;
use crate::ivl::ast::{
    Attribute, AttributeArg, Condition, Constant, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind, Thread,
    Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::kernel::{ASYNCHRONOUS, WINNER};
use crate::order::Order;
use crate::span::Span;
use std::collections::BTreeSet;

/// The group of the copy that is remembered.
const GROUP: &str = "groups.logged";

/// The constant that is true if the accesses of a copy are remembered.
const IS_COPY: &str = "_TRACKED_IS_COPY";

/// Numbers of groups.
const COUNTER: Type = Type::Bv(64);

/// What later stages know.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// The variable that has the group of the copy that is remembered.
    pub(crate) logged: Name,
    /// How many groups a thread has committed, and waited for.
    pub(crate) committed: Name,
    pub(crate) waited: Name,
    /// Whether the accesses of a copy are remembered.
    pub(crate) is_copy: ExprRef,
}

/// The copies of a kernel.
pub(crate) struct Underway<'a> {
    copies: &'a Copies,
    pair: Pair,
    /// The counters of a thread; `None` without copies, or where no barrier forgets anything.
    counters: Option<[Name; 2]>,
    /// Arrays that copies access.
    pub(super) arrays: BTreeSet<Name>,
    /// Numbers of the accesses of copies.
    sites: BTreeSet<u32>,
}

/// Whether an access goes on beside its thread.
pub(super) fn is_asynchronous(stmt: &Stmt) -> bool {
    stmt.attributes.has(ASYNCHRONOUS)
}

/// The mark has done its work, and speaks of what exists twice now.
pub(super) fn unmark(stmt: &mut Stmt) {
    stmt.attributes.retain(|attribute| ![ASYNCHRONOUS, WINNER].contains(&attribute.name.as_str()));
}

/// Whether statements start copies.
pub(crate) fn has_copies<'s>(mut stmts: impl Iterator<Item = &'s Stmt>) -> bool {
    stmts.any(is_asynchronous)
}

fn counters(stmt: &Stmt) -> Option<[Name; 2]> {
    let name = |arg: &AttributeArg| match arg {
        AttributeArg::Expr(e) => match &e.kind {
            ExprKind::Var(name) => Some(name.clone()),
            _ => None,
        },
        AttributeArg::Text(_) => None,
    };
    match &stmt.attributes.named(ASYNCHRONOUS)?.args[..] {
        [committed, waited] => Some([name(committed)?, name(waited)?]),
        _ => None,
    }
}

impl<'a> Underway<'a> {
    pub(super) fn new(body: &Implementation, copies: &'a Copies, pair: Pair) -> Underway<'a> {
        let marked = || body.blocks.iter().flat_map(|block| &block.stmts).filter(|stmt| is_asynchronous(stmt));
        let array = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Load { access, .. } | StmtKind::Store { access, .. } => Some(access.array.clone()),
            _ => None,
        };
        let arrays = marked().filter_map(array).collect();
        // Nothing orders threads of different blocks.
        let counters = marked().find_map(counters).filter(|_| pair != Pair::DifferentBlocks);
        Underway { copies, pair, counters, arrays, sites: BTreeSet::new() }
    }

    fn counter(&self, index: usize, thread: Thread) -> Option<ExprRef> {
        let name = &self.counters.as_ref()?[index];
        Some(self.copies.expr(&bv::var(name.clone(), COUNTER), thread))
    }

    /// What follows when an access is logged: a copy belongs to the group that is committed next.
    pub(super) fn logged(&mut self, stmt: &Stmt, number: u32, logged: &Name) -> Option<StmtKind> {
        let committed = self.counter(0, Thread::First).filter(|_| is_asynchronous(stmt))?;
        self.sites.insert(number);
        let group = bv::ite(bv::var(logged.clone(), Type::Bool), committed, group());
        Some(StmtKind::Assign(vec![(Name::from(GROUP), group)]))
    }

    /// Whether what is remembered is complete, so that a barrier orders it; `None` if it always is.
    pub(super) fn is_complete(&self) -> Option<ExprRef> {
        let (committed, waited) = (self.counter(0, Thread::First)?, self.counter(1, Thread::First)?);
        // Both distances are small, wherever the counters wrap.
        let (open, age) = (bv::sub(committed.clone(), waited), bv::sub(committed, group()));
        Some(bv::or(bv::not(is_copy()), bv::binary(BvOp::Ult, open, age)))
    }

    /// What a thread knows of its own copies behind an assignment: those that it waited for are done.
    pub(super) fn assigned(&self, names: &[&Name], arrays: &BTreeSet<Name>) -> Vec<StmtKind> {
        let waits = self.counters.as_ref().is_some_and(|[_, waited]| names.contains(&waited));
        let Some(both) = self.is_complete().filter(|_| waits && self.pair == Pair::OneThread) else {
            return Vec::new();
        };
        let order = |array: &Name| StmtKind::Order { array: array.clone(), both: both.clone(), by: Order::Completion };
        arrays.iter().map(order).collect()
    }

    /// The local that is introduced.
    pub(super) fn introduced(&self) -> Option<Variable> {
        self.counters.as_ref().map(|_| Variable::new(Name::from(GROUP), COUNTER))
    }

    /// The constant that is introduced, and what it means.
    pub(super) fn declared(&self) -> Option<(Constant, Condition)> {
        self.counters.as_ref()?;
        let is_tracked =
            |site: &u32| bv::eq(bv::var(Name::from(TRACKED_SITE), Type::Bv(16)), bv::literal(u128::from(*site), 16));
        let tracked = self.sites.iter().map(is_tracked).fold(bv::boolean(false), bv::or);
        let attributes = vec![Attribute { name: Name::from("copies"), args: Vec::new() }];
        let expr = bv::eq(is_copy(), tracked);
        let constant = Constant { variable: Variable::new(Name::from(IS_COPY), Type::Bool), unique: false };
        Some((constant, Condition { free: false, expr, attributes, span: Span::NONE }))
    }

    /// What later stages know, if there are copies.
    pub(super) fn known(&self) -> Option<Groups> {
        let [committed, waited] = self.counters.clone()?;
        Some(Groups { logged: Name::from(GROUP), committed, waited, is_copy: is_copy() })
    }
}

fn group() -> ExprRef {
    bv::var(Name::from(GROUP), COUNTER)
}

fn is_copy() -> ExprRef {
    bv::var(Name::from(IS_COPY), Type::Bool)
}
