//! The last block: what others did before they counted themselves comes before what it does when it knows that it is the last.
//!
//! Input: accesses with `{:early}` and `{:behind}` and the addition with `{:completes n}` ([`crate::kernel::COMPLETES`]). Output:
//! the condition under which an access of thread 2 comes behind the one of thread 1 that is remembered; what the result of
//! the addition says. Establishes: an access is left unchecked only against one that comes before it in causality order.
//! Relies on: `kernel::completion`: at most one thread of each block adds 1 to the counter, once, and it starts at 0. Reference: PTX ISA,
//! memory consistency model.
//!
//! Why this is sound. Take two blocks, and let `_IS_LAST` of a thread say that the addition of its block returned n, one less than
//! there are blocks. Each block adds 1 at most once, so additions return different numbers, at most n, and at most one block's is n
//! (what is assumed of the two constants). Where it is, n others have been before it: one of each other block. So if thread 2 is of
//! the last block, the block of thread 1 has added, and its addition was observed. What thread 1 does early comes before that in causality order, and what
//! thread 2 does behind comes after it (`kernel::completion`), so the two do not race. All other pairs are checked as ever:
//! thread 1 of the last block comes in with the threads exchanged. Which access of thread 1 is remembered is one constant
//! (`_TRACKED_SITE`), so whether it is early is one, too. A thread learns what its addition returned from that itself, or
//! from what the thread of its block left in shared memory ([`super::tickets`]): `_IS_LAST` speaks of the block, so it does not
//! matter which thread that was.
//!
//! What others say of values rests on races between blocks. Global arrays have no contents in such a kernel
//! ([`super::contents::selection`]), and counters with stores no tickets (`kernel::completion`). Copies that go on beside their
//! thread, accesses that any lane of a warp may make, and what is seen through another proxy are never early or behind.

use super::Pair;
use super::copies::Copies;
use super::log::TRACKED_SITE;
use crate::ivl::ast::{Attribute, Condition, Constant, ExprRef, Implementation, Name, Stmt, Thread, Type, Variable};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::kernel::{BEHIND, COMPLETES, EARLY};
use crate::span::Span;

/// The constant that is true if the access that is remembered is early.
const IS_EARLY: &str = "_TRACKED_IS_EARLY";
/// The constants that are true if the block of a thread is the last one.
const IS_LAST: &str = "_IS_LAST";

/// What a counter orders.
#[derive(Default)]
pub(super) struct Completion {
    is_known: bool,
    /// The numbers of early accesses, with when they are.
    early: Vec<(u32, ExprRef)>,
}

/// Whether the last block of a kernel knows what others did.
pub(super) fn has_last_block(body: &Implementation) -> bool {
    body.blocks.iter().flat_map(|block| &block.stmts).any(|stmt| stmt.attributes.has(COMPLETES))
}

impl Completion {
    pub(super) fn new(body: &Implementation, pair: Pair) -> Completion {
        Completion { is_known: pair == Pair::DifferentBlocks && has_last_block(body), early: Vec::new() }
    }

    /// Behind the log of an access.
    pub(super) fn logged(&mut self, stmt: &Stmt, number: u32, copies: &Copies) {
        if let Some(when) = when(stmt, EARLY).filter(|_| self.is_known) {
            self.early.push((number, copies.expr(&when, Thread::First)));
        }
    }

    /// When an access of thread 2 comes behind the one that is remembered.
    pub(super) fn is_behind(&self, stmt: &Stmt, copies: &Copies) -> Option<ExprRef> {
        let behind = copies.expr(&when(stmt, BEHIND).filter(|_| self.is_known)?, Thread::Second);
        let is_early = bv::var(Name::from(IS_EARLY), Type::Bool);
        Some(bv::and(bv::and(is_early, is_last(Thread::Second)), behind))
    }

    /// The constants that are introduced.
    pub(super) fn constants(&self) -> Vec<Constant> {
        let names = [Name::from(IS_EARLY)].into_iter().chain(Thread::BOTH.map(|thread| Name::from(IS_LAST).of(thread)));
        let constant = |name| Constant { variable: Variable::new(name, Type::Bool), unique: false };
        names.filter(|_| self.is_known).map(constant).collect()
    }

    /// What they mean.
    pub(super) fn meanings(&self) -> Vec<Condition> {
        let condition = |expr| {
            let attributes = vec![Attribute { name: Name::from("completion"), args: Vec::new() }];
            Condition { free: false, expr, attributes, span: Span::NONE }
        };
        let is_tracked =
            |site: u32| bv::eq(bv::var(Name::from(TRACKED_SITE), Type::Bv(16)), bv::literal(u128::from(site), 16));
        let early = self.early.iter().map(|(site, when)| bv::and(is_tracked(*site), when.clone()));
        let early = bv::eq(bv::var(Name::from(IS_EARLY), Type::Bool), early.fold(bv::boolean(false), bv::or));
        let [first, second] = Thread::BOTH.map(is_last);
        let one = bv::not(bv::and(first, second));
        [early, one].into_iter().filter(|_| self.is_known).map(condition).collect()
    }
}

/// What is known of the result of an addition by a block's thread.
pub(super) fn of_result(addition: &Stmt, copies: &Copies, thread: Thread, result: &ExprRef) -> Option<ExprRef> {
    let last = copies.expr(addition.attributes.named(COMPLETES)?.condition()?, thread);
    let is_below = bv::binary(BvOp::Ule, result.clone(), last.clone());
    Some(bv::and(is_below, bv::eq(is_last(thread), bv::eq(result.clone(), last))))
}

fn is_last(thread: Thread) -> ExprRef {
    bv::var(Name::from(IS_LAST).of(thread), Type::Bool)
}

/// When a mark holds.
fn when(stmt: &Stmt, mark: &str) -> Option<ExprRef> {
    let mark = stmt.attributes.named(mark)?;
    Some(mark.condition().cloned().unwrap_or_else(|| bv::boolean(true)))
}
