//! Locks: what two threads do while they hold the same one does not race.
//!
//! Input: accesses with `{:held "array", offset}` ([`crate::kernel::HELD`]). Output: the condition under which an access of thread 1
//! is remembered, and the one under which an access of thread 2 is not checked against it. Establishes: an access is left
//! unchecked only against one that was made under the lock that it is made under, by another thread. Relies on:
//! `kernel::locks`, which says when a thread holds a lock; that of a lock in shared memory each block has its own. Reference: PTX ISA, memory
//! consistency model.
//!
//! Why this is sound. `kernel::locks` has the argument that of two accesses of two threads under one lock one comes before the
//! other in causality order. Which lock that is, the constant `_WATCHED_LOCK` says, an arbitrary byte offset: an access of thread 1 under a
//! lock is remembered only if it is this one, as for `_TRACKED_SITE`, and a proof covers all. So what is remembered
//! of an access that is made under a lock (`_TRACKED_UNDER.L`, which depends on the access that is remembered) was made under the watched
//! one, in each round of a loop, and thread 2 is checked but where it holds that, too. A thread alone races with nobody; for two blocks a lock in
//! shared memory says nothing.
//!
//! What others say of values rests on races between two barriers. Arrays that are accessed under locks have no contents
//! ([`super::contents::selection`]), and those of them that have stores no tickets and no winners (`kernel::completion`).

use super::Pair;
use super::copies::Copies;
use super::log::TRACKED_SITE;
use crate::ivl::ast::{
    ArraySpace, Attribute, AttributeArg, Condition, Constant, ExprRef, Implementation, Name, Program, Stmt, StmtKind,
    Thread, Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv;
use crate::kernel::HELD;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The byte offset of the lock under which remembered accesses are made.
const WATCHED: &str = "_WATCHED_LOCK";
/// The prefix of the constants that are true if the access that is remembered is one under a lock of that array.
const UNDER: &str = "_TRACKED_UNDER.";

/// The locks of a kernel that the two threads have in common.
#[derive(Default)]
pub(super) struct Held {
    /// For each array of locks the numbers of the accesses under them.
    locks: BTreeMap<Name, BTreeSet<u32>>,
}

/// The arrays that are accessed under locks.
pub(super) fn arrays_under_locks(body: &Implementation) -> BTreeSet<Name> {
    let array = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
            stmt.attributes.has(HELD).then(|| access.array.clone())
        }
        _ => None,
    };
    body.blocks.iter().flat_map(|block| &block.stmts).filter_map(array).collect()
}

impl Held {
    pub(super) fn new(program: &Program, body: &Implementation, pair: Pair) -> Held {
        let is_common = |array: &Name| match pair {
            Pair::SameBlock => true,
            Pair::DifferentBlocks => program.arrays.iter().any(|a| a.name == *array && a.space == ArraySpace::Global),
            Pair::OneThread => false,
        };
        let stmts = body.blocks.iter().flat_map(|block| &block.stmts);
        let arrays = stmts.filter_map(|stmt| lock(stmt).map(|(array, _)| array)).filter(is_common);
        Held { locks: arrays.map(|array| (array, BTreeSet::new())).collect() }
    }

    /// When an access of thread 1 with that number is remembered; `None` if it always is.
    pub(super) fn logged(&mut self, stmt: &Stmt, number: u32, copies: &Copies) -> Option<ExprRef> {
        let (array, offset) = lock(stmt)?;
        self.locks.get_mut(&array)?.insert(number);
        Some(bv::eq(copies.expr(&offset, Thread::First), watched()))
    }

    /// When an access of thread 2 is made under the lock of the one that is remembered.
    pub(super) fn is_under(&self, stmt: &Stmt, copies: &Copies) -> Option<ExprRef> {
        let (array, offset) = lock(stmt)?;
        self.locks
            .contains_key(&array)
            .then(|| bv::and(under(&array), bv::eq(copies.expr(&offset, Thread::Second), watched())))
    }

    /// The constants that are introduced.
    pub(super) fn constants(&self) -> Vec<Constant> {
        let watched = (Name::from(WATCHED), Type::Bv(64));
        let under = self.locks.keys().map(|array| (under_name(array), Type::Bool));
        let constants = [watched].into_iter().chain(under).filter(|_| !self.locks.is_empty());
        constants.map(|(name, ty)| Constant { variable: Variable::new(name, ty), unique: false }).collect()
    }

    /// What they mean.
    pub(super) fn meanings(&self) -> Vec<Condition> {
        let is_tracked =
            |site: &u32| bv::eq(bv::var(Name::from(TRACKED_SITE), Type::Bv(16)), bv::literal(u128::from(*site), 16));
        let meaning = |(array, sites): (&Name, &BTreeSet<u32>)| {
            let tracked = sites.iter().map(is_tracked).fold(bv::boolean(false), bv::or);
            let attributes = vec![Attribute { name: Name::from("locks"), args: Vec::new() }];
            Condition { free: false, expr: bv::eq(under(array), tracked), attributes, span: Span::NONE }
        };
        self.locks.iter().map(meaning).collect()
    }
}

/// The lock under which an access is made: its array, and its byte offset there.
fn lock(stmt: &Stmt) -> Option<(Name, ExprRef)> {
    match stmt.attributes.named(HELD)?.args.as_slice() {
        [AttributeArg::Text(array), AttributeArg::Expr(offset)] if offset.ty == Type::Bv(64) => {
            Some((Name::from(array.as_str()), offset.clone()))
        }
        _ => None,
    }
}

fn watched() -> ExprRef {
    bv::var(Name::from(WATCHED), Type::Bv(64))
}

fn under_name(array: &Name) -> Name {
    Name::from(format!("{UNDER}{array}"))
}

fn under(array: &Name) -> ExprRef {
    bv::var(under_name(array), Type::Bool)
}
