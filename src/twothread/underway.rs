//! Accesses that go on beside their thread: asynchronous copies.
//!
//! Input: accesses with `{:asynchronous committed, waited}` ([`crate::kernel::ASYNCHRONOUS`]). Output: the group of the copy that is
//! remembered, and the condition under which what is remembered is complete. Establishes: what thread 1 started to copy is
//! forgotten only behind a wait of thread 1 for its group, by a barrier that both threads pass; of one thread alone
//! ([`Pair::OneThread`]), which every kernel with copies is asked about, only by that wait.
//! Relies on: a copy conflicts with what is not ordered behind it or before its start, whenever its bytes move, so it is logged
//! and checked where it starts. What comes behind the start of a copy of thread 2 is, with the threads exchanged, an access of
//! thread 2 behind the start of a copy of thread 1. Of two copies that are remembered one after the other, the later one is
//! complete later, so that its group stands for both. Bulk copies have two ways to end: their reads with one counter of what was waited for,
//! their writes with another. What [`super::proxies`] remembers ends likewise, by fences.
//! A thread commits at most 2^62 groups, which is assumed behind each commit ([`MOST_GROUPS`]). Reference: PTX ISA, `cp.async`; phases-notes 2.6 (delayed release).

use super::Pair;
use super::copies::Copies;
use super::log::TRACKED_SITE;
use super::proxies::Proxies;
use crate::ivl::ast::{
    Attribute, AttributeArg, BinaryOp, Condition, Constant, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind,
    Thread, Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv;
use crate::ivl::claim::Premise;
use crate::kernel::{ASYNCHRONOUS, AWAITED, BEHIND, COMPLETES, EARLY, FENCED, HELD, PROXY, TELLS, TOLD, WINNER};
use crate::order::Order;
use crate::span::Span;
use std::collections::BTreeSet;

/// The group of the copy that is remembered.
const GROUP: &str = "groups.logged";

/// The constant that is true if the accesses of a copy are remembered. There is one for each way in which copies end.
const IS_COPY: &str = "_TRACKED_IS_COPY";

/// Numbers of groups.
const COUNTER: Type = Type::Int;

/// The most groups that a thread commits: 2^62, for which a GPU would need a century. Without a bound, order among the counters would
/// not be inductive where the solver counts in 64 bits.
const MOST_GROUPS: i128 = 1 << 62;

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
    /// The logs in which they are.
    pub(crate) logs: BTreeSet<Name>,
}

/// The counters that tell when an access has ended: of groups that a thread committed, and of those that it waited for.
pub(super) type Ends = [Name; 2];

/// Accesses that end in one way.
struct Kind {
    ends: Ends,
    /// Each thread knows their ends by its own waits ([`crate::kernel::AWAITED`]).
    is_awaited: bool,
    /// Their numbers.
    sites: BTreeSet<u32>,
    /// The logs in which they are.
    logs: BTreeSet<Name>,
}

/// The copies of a kernel.
pub(crate) struct Underway<'a> {
    copies: &'a Copies,
    pair: Pair,
    /// None without copies, or where no barrier forgets anything.
    kinds: Vec<Kind>,
    /// Arrays that copies access.
    pub(super) arrays: BTreeSet<Name>,
    /// What goes through another proxy.
    pub(super) proxies: Proxies,
}

/// Whether an access goes on beside its thread.
pub(super) fn is_asynchronous(stmt: &Stmt) -> bool {
    stmt.attributes.has(ASYNCHRONOUS)
}

/// The marks have done their work, and speak of what exists twice now.
pub(super) fn unmark(stmt: &mut Stmt) {
    stmt.attributes.retain(|attribute| {
        ![ASYNCHRONOUS, AWAITED, PROXY, FENCED, WINNER, COMPLETES, EARLY, BEHIND, HELD, TELLS, TOLD]
            .contains(&attribute.name.as_str())
    });
}

/// Whether statements start copies.
pub(crate) fn has_copies<'s>(mut stmts: impl Iterator<Item = &'s Stmt>) -> bool {
    stmts.any(is_asynchronous)
}

/// The variables that a mark names.
pub(super) fn named(stmt: &Stmt, mark: &str) -> Option<Vec<Name>> {
    let name = |arg: &AttributeArg| match arg {
        AttributeArg::Expr(e) => match &e.kind {
            ExprKind::Var(name) => Some(name.clone()),
            _ => None,
        },
        AttributeArg::Text(_) => None,
    };
    stmt.attributes.named(mark)?.args.iter().map(name).collect()
}

/// When an access ends that goes on beside its thread.
pub(super) fn ends(stmt: &Stmt) -> Option<Ends> {
    named(stmt, ASYNCHRONOUS)?.try_into().ok()
}

impl<'a> Underway<'a> {
    pub(super) fn new(body: &Implementation, copies: &'a Copies, pair: Pair) -> Underway<'a> {
        let stmts = || body.blocks.iter().flat_map(|block| &block.stmts);
        let array = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
                Some(access.array.clone())
            }
            _ => None,
        };
        let arrays = stmts().filter(|stmt| is_asynchronous(stmt)).filter_map(array).collect();
        let proxies = Proxies::new(body, pair);
        let seen = |stmt: &Stmt| proxies.seen(stmt, &array(stmt)?)?.ends(stmt);
        let mut kinds: Vec<Kind> = Vec::new();
        // Nothing orders threads of different blocks.
        let ways = |stmt: &Stmt| [(ends(stmt), stmt.attributes.has(AWAITED)), (seen(stmt), false)];
        for (ends, is_awaited) in stmts().filter(|_| pair != Pair::DifferentBlocks).flat_map(ways) {
            let Some(ends) = ends else { continue };
            if !kinds.iter().any(|kind| kind.ends == ends) {
                kinds.push(Kind { ends, is_awaited, sites: BTreeSet::new(), logs: BTreeSet::new() });
            }
        }
        Underway { copies, pair, kinds, arrays, proxies }
    }

    fn counter(&self, name: &Name) -> ExprRef {
        self.counter_of(name, Thread::First)
    }

    fn counter_of(&self, name: &Name, thread: Thread) -> ExprRef {
        self.copies.expr(&bv::var(name.clone(), COUNTER), thread)
    }

    /// Whether a thread knows, by a wait of its own, that the copy which is remembered is complete, so that what it does next is ordered
    /// behind it. A barrier object is of one block, and orders nothing else; `None` if there is no such copy.
    pub(super) fn is_known_to(&self, thread: Thread) -> Option<ExprRef> {
        let is_known = |(index, kind): (usize, &Kind)| {
            let is_over = bv::op(BinaryOp::Lt, group(), self.counter_of(&kind.ends[1], thread));
            bv::and(is_copy(index), is_over)
        };
        let kinds = self.kinds.iter().enumerate().filter(|(_, kind)| kind.is_awaited);
        kinds.map(is_known).reduce(bv::or)
    }

    /// What follows when an access is logged: it belongs to the group that is committed next.
    pub(super) fn logged(
        &mut self,
        ends: Option<Ends>,
        (number, log): (u32, &Name),
        logged: &Name,
    ) -> Option<StmtKind> {
        let ends = ends?;
        let kind = self.kinds.iter_mut().find(|kind| kind.ends == ends)?;
        kind.sites.insert(number);
        kind.logs.insert(log.clone());
        let group = bv::ite(bv::var(logged.clone(), Type::Bool), self.counter(&ends[0]), group());
        Some(StmtKind::Assign(vec![(Name::from(GROUP), group)]))
    }

    /// Whether what is remembered is complete, so that a barrier orders it; `None` if it always is.
    pub(super) fn is_complete(&self) -> Option<ExprRef> {
        let is_complete = |(index, kind): (usize, &Kind)| {
            let is_done = bv::op(BinaryOp::Lt, group(), self.counter(&kind.ends[1]));
            bv::or(bv::not(is_copy(index)), is_done)
        };
        self.kinds.iter().enumerate().map(is_complete).reduce(bv::and)
    }

    /// What is known behind an assignment: of groups that were committed, that no thread has time for so many; of a thread's
    /// own copies, that those that it waited for are done.
    pub(super) fn assigned(&self, names: &[&Name], arrays: &BTreeSet<Name>) -> Vec<StmtKind> {
        let mut counters: Vec<&Name> = self.kinds.iter().map(|kind| &kind.ends[0]).collect();
        counters.dedup();
        let few = |name: &Name| {
            let few = bv::op(BinaryOp::Le, self.counter(name), bv::int(MOST_GROUPS));
            StmtKind::Assume(Premise::Program, few)
        };
        let mut told: Vec<StmtKind> = counters.into_iter().filter(|name| names.contains(name)).map(few).collect();
        let waits = self.kinds.iter().any(|kind| names.contains(&&kind.ends[1]));
        if let Some(both) = self.is_complete().filter(|_| waits && self.pair == Pair::OneThread) {
            let order =
                |array: &Name| StmtKind::Order { array: array.clone(), both: both.clone(), by: Order::Completion };
            told.extend(arrays.iter().map(order));
        }
        told
    }

    /// The local that is introduced.
    pub(super) fn introduced(&self) -> Option<Variable> {
        self.kinds.first().map(|_| Variable::new(Name::from(GROUP), COUNTER))
    }

    /// The constants that are introduced, and what they mean.
    pub(super) fn declared(&self) -> Vec<(Constant, Condition)> {
        let is_tracked =
            |site: &u32| bv::eq(bv::var(Name::from(TRACKED_SITE), Type::Bv(16)), bv::literal(u128::from(*site), 16));
        let declared = |(index, kind): (usize, &Kind)| {
            let tracked = kind.sites.iter().map(is_tracked).fold(bv::boolean(false), bv::or);
            let attributes = vec![Attribute { name: Name::from("copies"), args: Vec::new() }];
            let expr = bv::eq(is_copy(index), tracked);
            let constant = Constant { variable: Variable::new(is_copy_name(index), Type::Bool), unique: false };
            (constant, Condition { free: false, expr, attributes, span: Span::NONE })
        };
        self.kinds.iter().enumerate().map(declared).collect()
    }

    /// What later stages know, for each way in which copies end.
    pub(super) fn known(&self) -> Vec<Groups> {
        let known = |(index, kind): (usize, &Kind)| {
            let [committed, waited] = kind.ends.clone();
            Groups { logged: Name::from(GROUP), committed, waited, is_copy: is_copy(index), logs: kind.logs.clone() }
        };
        self.kinds.iter().enumerate().map(known).collect()
    }
}

fn group() -> ExprRef {
    bv::var(Name::from(GROUP), COUNTER)
}

fn is_copy_name(index: usize) -> Name {
    if index == 0 { Name::from(IS_COPY) } else { Name::from(format!("{IS_COPY}.{index}")) }
}

fn is_copy(index: usize) -> ExprRef {
    bv::var(is_copy_name(index), Type::Bool)
}
