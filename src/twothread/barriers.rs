//! Block barriers in the two-thread program.
//!
//! Input: a predicated barrier. Output: a divergence assertion and [`StmtKind::Order`]. Establishes:
//! what was logged is forgotten only when both threads take part, and are of one block and the barrier of the whole block, or
//! the barrier is one of the grid ([`ALL_BLOCKS`]). Relies on: `kernel::messages` for what such a barrier orders. Reference: the
//! lock-step paper, Table 3 (sync); PTX `bar`, `barrier`, `exit`.

use super::copies::Copies;
use super::{Options, Pair, barrier_invariants};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{AttributeArg, Barrier, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind, Thread};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Claim;
use crate::kernel::ALL_BLOCKS;
use crate::order::Order;
use crate::predicate::rewrite::{block_id, place};
use std::collections::BTreeSet;

/// What barriers need to know.
pub(crate) struct Barriers<'a> {
    /// Names that exist twice.
    pub(crate) copies: &'a Copies,
    pub(crate) pair: Pair,
    /// Launch and options.
    pub(crate) options: &'a Options,
    /// `v_active` of one thread.
    pub(crate) active: ExprRef,
    /// The id of `End`.
    pub(crate) end_id: u32,
    /// Blocks that only lead there, with it.
    pub(crate) leaving: &'a BTreeSet<u32>,
    /// Arrays of which barriers of the grid say nothing.
    pub(crate) beside_grid: BTreeSet<Name>,
}

/// Arrays of which barriers of the grid say nothing: those of the words by which blocks wait, and those that are loaded past the coherent
/// caches, where what another block has written need not be found.
pub(super) fn beside_grid_barriers(body: &Implementation) -> BTreeSet<Name> {
    let stmts = || body.blocks.iter().flat_map(|block| &block.stmts);
    let past_caches = stmts().filter_map(|stmt| match &stmt.kind {
        StmtKind::Load { access, .. } if stmt.attributes.has("non_coherent") => Some(access.array.clone()),
        _ => None,
    });
    let marks = stmts().flat_map(|stmt| stmt.attributes.iter()).filter(|mark| mark.name.as_str() == ALL_BLOCKS);
    let names = marks.flat_map(|mark| &mark.args).filter_map(|argument| match argument {
        AttributeArg::Text(name) => Some(Name::from(name.as_str())),
        AttributeArg::Expr(_) => None,
    });
    names.chain(past_caches).collect()
}

/// Whether there is a barrier for which all blocks of the grid wait.
pub(super) fn has_grid_barrier(body: &Implementation) -> bool {
    body.blocks.iter().flat_map(|block| &block.stmts).any(|stmt| stmt.attributes.has(ALL_BLOCKS))
}

impl Barriers<'_> {
    /// Appends the translation of a barrier, which clears the flags of `arrays` if what they tell of is `complete`.
    ///
    /// # Errors
    /// `barrier-count` (unsupported): a barrier that is not seen to be of the whole block.
    pub(crate) fn translate(
        &self,
        stmt: &Stmt,
        barrier: &Barrier,
        (arrays, complete): (&BTreeSet<Name>, Option<ExprRef>),
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        self.whole_block(stmt, barrier)?;
        let guard = barrier.guard.clone().unwrap_or_else(|| bv::boolean(true));
        let [first, second] = Thread::BOTH.map(|thread| self.copies.expr(&guard, thread));
        let generated = |kind| Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() };
        if self.pair == Pair::SameBlock {
            let both = bv::and(first.clone(), second.clone());
            let mut together = self.together(&first, &second, barrier.count.is_some());
            if let Some(same) = self.same_number(barrier) {
                together = bv::and(together, bv::implies(both.clone(), same));
            }
            let claim = Claim::BarrierMet { aligned: barrier.aligned };
            out.push(generated(StmtKind::Assert(claim, together)));
            for (value, claim) in barrier_invariants::uniform(stmt) {
                let [a, b] = Thread::BOTH.map(|thread| self.copies.expr(value, thread));
                let same = bv::implies(both.clone(), bv::eq(a, b));
                out.push(generated(StmtKind::Assert(claim, same)));
            }
            let both = complete.clone().into_iter().fold(both, bv::and);
            for array in arrays {
                out.push(generated(StmtKind::Order { array: array.clone(), both: both.clone(), by: barrier.order() }));
            }
        }
        if self.pair == Pair::DifferentBlocks && stmt.attributes.has(ALL_BLOCKS) {
            out.push(generated(StmtKind::Assert(
                Claim::BarrierMet { aligned: false },
                bv::eq(first.clone(), second.clone()),
            )));
            let both = complete.into_iter().fold(bv::and(first, second), bv::and);
            for array in arrays.difference(&self.beside_grid) {
                out.push(generated(StmtKind::Order { array: array.clone(), both: both.clone(), by: Order::Grid }));
            }
        }
        if let Some(result) = &barrier.result {
            out.extend(self.result(result).into_iter().map(generated));
        }
        Ok(())
    }

    /// No divergence: both threads take part or none. With `--exited-threads=ok` a thread that has left the kernel is not
    /// waited for, unless the barrier names how many threads it waits for: `exit` releases barriers "for all threads in
    /// the CTA" only.
    fn together(&self, first: &ExprRef, second: &ExprRef, has_count: bool) -> ExprRef {
        let agree = bv::eq(first.clone(), second.clone());
        if !self.options.rules.exited_threads_ok || has_count {
            return agree;
        }
        bv::or(bv::or(agree, self.exited(Thread::First)), self.exited(Thread::Second))
    }

    /// Whether a thread has left the kernel, or waits for nobody any more on its way out.
    pub(super) fn leaves(&self, thread: Thread) -> ExprRef {
        let active = self.copies.expr(&self.active, thread);
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for &id in self.leaving {
            match ranges.last_mut().filter(|(_, last)| *last + 1 == id) {
                Some((_, last)) => *last = id,
                None => ranges.push((id, id)),
            }
        }
        let within = |(first, last): (u32, u32)| match first == last {
            true => bv::eq(active.clone(), block_id(first)),
            false => {
                let is_behind = bv::binary(BvOp::Uge, active.clone(), block_id(first));
                bv::and(is_behind, bv::binary(BvOp::Ule, active.clone(), block_id(last)))
            }
        };
        ranges.into_iter().map(within).fold(bv::boolean(false), bv::or)
    }

    /// Whether a thread has left the kernel.
    fn exited(&self, thread: Thread) -> ExprRef {
        bv::eq(self.copies.expr(&self.active, thread), block_id(self.end_id))
    }

    /// Whether two threads at one statement name the same barrier; `None` where its number is a constant.
    fn same_number(&self, barrier: &Barrier) -> Option<ExprRef> {
        let id = barrier.id.as_ref().filter(|id| literal(id).is_none())?;
        let [first, second] = Thread::BOTH.map(|thread| self.copies.expr(id, thread));
        Some(bv::eq(first, second))
    }

    /// The result of `bar.red` is one value for the block: arbitrary, and equal for two threads of a
    /// block. When only one of them takes part, the other's copy is not read.
    fn result(&self, name: &Name) -> Vec<StmtKind> {
        let [first, second] = Thread::BOTH.map(|thread| name.of(thread));
        if self.pair != Pair::SameBlock {
            return vec![StmtKind::Havoc(vec![first, second])];
        }
        match self.copies.doubled.get(name) {
            Some(ty) => {
                let value = bv::var(first.clone(), ty.clone());
                vec![StmtKind::Havoc(vec![first]), StmtKind::Assign(vec![(second, value)])]
            }
            None => panic!("twothread: the barrier result `{name}` is not a private variable"),
        }
    }

    fn whole_block(&self, stmt: &Stmt, barrier: &Barrier) -> Result<(), Diagnostic> {
        let Some(count) = &barrier.count else { return Ok(()) };
        let refuse = |message: String| Err(Diagnostic::unsupported("barrier-count", message, place(stmt)));
        match (literal(count), self.options.threads_per_block()) {
            (Some(count), Some(threads)) if count == threads => Ok(()),
            (Some(count), Some(threads)) => {
                refuse(format!("this barrier waits for {count} threads, but a block has {threads}"))
            }
            (Some(count), None) => {
                refuse(format!("this barrier waits for {count} threads, and the block size is not fixed"))
            }
            (None, _) => refuse("the thread count of this barrier is not a constant".to_string()),
        }
    }
}

fn literal(e: &ExprRef) -> Option<u128> {
    match e.kind {
        ExprKind::Bv(value) => Some(value),
        ExprKind::Int(value) => u128::try_from(value).ok(),
        _ => None,
    }
}
