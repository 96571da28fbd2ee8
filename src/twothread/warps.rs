//! Barriers of warps in the two-thread program.
//!
//! Input: a predicated barrier of a warp. Output: what keeps `warps.in_step`, then [`StmtKind::Order`] for each array.
//! Establishes: what was logged is forgotten only when both threads are of one warp, wait for each other at this barrier, and
//! have waited for each other equally often before. Relies on: stage 4 runs the statements of each thread in its own order; a
//! warp is 32 threads with consecutive numbers (an assumption of the report).
//! Reference: PTX ISA, `bar.warp.sync`; the lock-step paper, Table 3 (sync).
//!
//! Why this is sound. `bar.warp.sync M` waits until all lanes of M have executed one with the same mask, whichever
//! instruction that is, and orders memory among them. Take threads i and j of a warp, and of the barriers that i executes those
//! whose mask names j, and the other way round. While `warps.in_step` holds, both have executed equally many, with the same
//! masks one after the other: at each so far both were at it or none, or the flag is false for good. So those of one mask have
//! been executed equally often, the one at hand completes for both together, and what i did before it comes before what j does
//! behind it. Barriers whose mask does not name the other thread are between others. A thread that has left the kernel is at
//! no barrier: nothing is forgotten for it. No other thread of the warp matters: what it does can only keep the two waiting.
//!
//! What other passes say of values rests on barriers of the block alone: [`super::contents`] and [`super::tickets`] let
//! nobody write what a thread has read before the next one. So a kernel for which they say something, for whatever pair and
//! under whatever options, has no barriers of warps here ([`Warps::new`]); they order nothing, as before. Nor has one whose
//! text numbers threads in several ways, or by variables (no PTX does). Where barriers of warps order, words have no winners
//! ([`super::winners`]), for the same reason.
//!
//! With `warps_meet` every barrier of a warp asserts `together`, whatever else is said: that two threads of one warp of which one
//! waits for the other are both at it, with equal masks. Where the number of a thread is not known, nothing can be asserted, and
//! the assertion is `false`.

use super::barrier_invariants::is_of_annotation;
use super::contents::selection::Selection;
use super::copies::Copies;
use super::{Options, Pair};
use crate::ivl::ast::{
    AttributeArg, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind, Thread, Type, Variable, WarpBarrier,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Claim;
use crate::ivl::print_expr;
use crate::ivl::visit::free_vars;
use crate::kernel::{LANES, TICKET};
use crate::order::Order;
use crate::predicate::Predicated;
use crate::span::Span;
use std::collections::BTreeSet;

/// The flag that is true while both threads have waited for each other equally often.
const IN_STEP: &str = "warps.in_step";

/// A mask of all lanes.
const ALL: u128 = 0xffff_ffff;

/// What later stages know of the warps of the two threads.
#[derive(Clone, Debug)]
pub(crate) struct SameWarp {
    /// Whether the threads have waited for each other equally often, a formula; `None` where barriers of warps order nothing.
    pub(crate) in_step: Option<ExprRef>,
    /// Whether they are of one warp, over constants.
    pub(crate) same: ExprRef,
}

/// What barriers of warps need to know.
pub(super) struct Warps<'a> {
    copies: &'a Copies,
    /// Whether threads are of one warp, if barriers of warps order anything.
    same: Option<ExprRef>,
    /// The same, if operations wait for lanes of their warp.
    waiting: Option<ExprRef>,
    /// Whether it is asserted that threads that wait for each other meet.
    asserts: bool,
}

impl<'a> Warps<'a> {
    pub(super) fn new(
        predicated: &Predicated,
        body: &Implementation,
        copies: &'a Copies,
        (pair, options): (Pair, &Options),
    ) -> Warps<'a> {
        let stmts = || body.blocks.iter().flat_map(|block| &block.stmts);
        let barriers = stmts().filter_map(|stmt| match &stmt.kind {
            StmtKind::WarpBarrier(barrier) => Some(&barrier.thread),
            _ => None,
        });
        let numbers: Vec<&ExprRef> = barriers.collect();
        let is_local = |name: &Name| body.locals.iter().any(|local| local.name == *name);
        let is_same = |a: &ExprRef, b: &ExprRef| print_expr(a) == print_expr(b);
        let is_one =
            |first: &&ExprRef| numbers.iter().all(|n| is_same(n, first)) && !free_vars(first).iter().any(is_local);
        let thread = numbers.first().copied().filter(is_one);
        let speaks_of_values = |stmt: &Stmt| stmt.attributes.has(TICKET) || is_of_annotation(stmt);
        let thread = thread.filter(|_| pair == Pair::SameBlock && !stmts().any(speaks_of_values));
        let thread = thread.filter(|_| Selection::of(predicated, body).arrays.is_empty());
        let same = thread.map(|thread| of_one_warp(copies, thread));
        let numbers = stmts().filter_map(|stmt| match stmt.attributes.named(LANES)?.args.as_slice() {
            [_, AttributeArg::Expr(number)] => Some(number),
            _ => None,
        });
        let waiting = numbers.filter(|_| pair == Pair::SameBlock).map(|number| of_one_warp(copies, number)).next();
        Warps { copies, same, waiting, asserts: options.rules.warps_meet && pair == Pair::SameBlock }
    }

    /// What later stages know, if anything.
    pub(super) fn known(&self) -> Option<SameWarp> {
        let in_step = self.same.as_ref().map(|_| in_step());
        let same = self.same.clone().or_else(|| self.waiting.clone())?;
        Some(SameWarp { in_step, same })
    }

    /// The local that is introduced.
    pub(super) fn introduced(&self) -> Option<Variable> {
        let name = Name::from(IN_STEP);
        let local = Variable { name, ty: Type::Bool, where_clause: None, attributes: Vec::new(), span: Span::NONE };
        self.same.as_ref().map(|_| local)
    }

    /// At the start no thread has waited.
    pub(super) fn start(&self) -> Option<StmtKind> {
        self.same.as_ref().map(|_| StmtKind::Assign(vec![(Name::from(IN_STEP), bv::boolean(true))]))
    }

    /// Appends the translation of a barrier, which clears the flags of `arrays` if what they tell of is `complete`.
    pub(super) fn translate(
        &self,
        stmt: &Stmt,
        barrier: &WarpBarrier,
        (arrays, complete): (&BTreeSet<Name>, Option<ExprRef>),
        out: &mut Vec<Stmt>,
    ) {
        let [first, second] = Thread::BOTH.map(|thread| self.waits(barrier, thread));
        let [one, other] = Thread::BOTH.map(|thread| self.copies.expr(&barrier.mask, thread));
        let together = bv::and(bv::eq(first.clone(), second), bv::implies(first.clone(), bv::eq(one, other)));
        let generated = |kind| Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() };
        if self.asserts {
            let meet = bv::implies(of_one_warp(self.copies, &barrier.thread), together.clone());
            out.push(generated(StmtKind::Assert(Claim::Formula, meet)));
        }
        let Some(same) = &self.same else { return };
        let step = bv::and(in_step(), bv::implies(same.clone(), together));
        out.push(generated(StmtKind::Assign(vec![(Name::from(IN_STEP), step)])));
        let both = bv::and(bv::and(same.clone(), in_step()), first);
        let both = complete.into_iter().fold(both, bv::and);
        for array in arrays {
            out.push(generated(StmtKind::Order { array: array.clone(), both: both.clone(), by: Order::Warp }));
        }
    }

    /// Appends the translation of a barrier of which only its name is known.
    pub(super) fn translate_unnumbered(&self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        let never = StmtKind::Assert(Claim::Formula, bv::boolean(false));
        let assertion = Stmt { kind: never, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() };
        out.extend(self.asserts.then_some(assertion));
    }

    /// Whether a thread waits for the other one, if they are of one warp.
    fn waits(&self, barrier: &WarpBarrier, thread: Thread) -> ExprRef {
        let guard = barrier.guard.clone().unwrap_or_else(|| bv::boolean(true));
        let guard = self.copies.expr(&guard, thread);
        if matches!(barrier.mask.kind, ExprKind::Bv(ALL)) {
            return guard;
        }
        let lane = bv::binary(BvOp::And, self.copies.expr(&barrier.thread, thread.other()), bv::literal(31, 32));
        let shifted = bv::binary(BvOp::Lshr, self.copies.expr(&barrier.mask, thread), lane);
        bv::and(guard, bv::eq(bv::extract(shifted, 1, 0), bv::literal(1, 1)))
    }
}

/// Whether two threads are of one warp; `thread` is the number of one.
fn of_one_warp(copies: &Copies, thread: &ExprRef) -> ExprRef {
    let warp = |of| bv::binary(BvOp::Lshr, copies.expr(thread, of), bv::literal(5, 32));
    bv::eq(warp(Thread::First), warp(Thread::Second))
}

fn in_step() -> ExprRef {
    bv::var(Name::from(IN_STEP), Type::Bool)
}
