//! What accesses through the asynchronous proxy see of those through the generic proxy.
//!
//! Input: accesses with `{:proxy fences}` ([`crate::kernel::PROXY`]), which bulk copies make, and all others. Output: for each array
//! that has both, where they may conflict, a second log. Establishes: an access of thread 1 through the generic proxy stays in that log
//! until thread 1 has executed a proxy fence behind it (for a copy of `cp.async`: behind the wait for its group) and then passed a
//! barrier with thread 2; each access of thread 2 through the asynchronous proxy is checked against it. The pair of one thread checks
//! a thread's own copies against what it did before without a fence.
//! Relies on: the order that the first log checks, in which proxies do not differ; a fence counts only where the thread that did the
//! access executes it, which is less than the ISA allows (a fence anywhere on the way will do). That the copy comes first needs no
//! fence: who knows of its end sees what it did ("followed by an implicit generic-async proxy fence"). The second log has numbers
//! of its own for its accesses, so that still at most one access is remembered. Accesses through two proxies are never morally strong, so a
//! reduction of an array that others access by strong operations counts as a weak write; nothing orders threads of different
//! blocks, so there the first log is enough.
//! Reference: PTX ISA, "Async proxy", "Causality order", "Moral strength"; phases-notes 1.2 (proxy rule).

use super::Pair;
use super::underway::{Ends, ends, named};
use crate::ivl::ast::{Access, Implementation, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::kernel::{ASYNCHRONOUS, FENCED, PROXY};
use std::collections::{BTreeMap, BTreeSet};

/// The second log of an array.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    /// The array that stands for it.
    pub(super) name: Name,
    /// Counts the fences of a thread that are for this array.
    fences: Name,
    /// Reads conflict, too.
    reads: bool,
}

/// The second logs.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    pub(super) shadows: BTreeMap<Name, Shadow>,
    /// Arrays whose reductions count as weak writes.
    weak: BTreeSet<Name>,
}

/// Whether an access goes through the asynchronous proxy.
pub(super) fn is_proxied(stmt: &Stmt) -> bool {
    stmt.attributes.has(PROXY)
}

/// The access of a statement, and whether it writes.
fn accessed(stmt: &Stmt) -> Option<(&Access, bool)> {
    match &stmt.kind {
        StmtKind::Load { access, .. } => Some((access, false)),
        StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => Some((access, true)),
        _ => None,
    }
}

impl Proxies {
    pub(super) fn new(body: &Implementation, pair: Pair) -> Proxies {
        let stmts = || body.blocks.iter().flat_map(|block| &block.stmts);
        let accesses = |proxied: bool| {
            let of_proxy = stmts().filter(move |stmt| is_proxied(stmt) == proxied);
            of_proxy.filter_map(|stmt| Some((stmt, accessed(stmt)?)))
        };
        let mut found: BTreeMap<Name, Shadow> = BTreeMap::new();
        for (stmt, (access, writes)) in accesses(true) {
            let Some(fences) = named(stmt, PROXY).into_iter().flatten().next() else { continue };
            let name = || Name::from(format!("{}.async", access.array));
            let shadow =
                found.entry(access.array.clone()).or_insert_with(|| Shadow { name: name(), fences, reads: false });
            shadow.reads |= writes;
        }
        let is_strong =
            |stmt: &Stmt, access: &Access| access.strong.is_some() || matches!(stmt.kind, StmtKind::Atomic { .. });
        let strong = accesses(false).filter(|(stmt, (access, _))| is_strong(stmt, access));
        let weak = strong.map(|(_, (access, _))| access.array.clone()).filter(|array| found.contains_key(array));
        let weak = weak.collect();
        let conflicts = |array: &Name, shadow: &Shadow| {
            accesses(false).any(|(_, (access, writes))| access.array == *array && (writes || shadow.reads))
        };
        found.retain(|array, shadow| pair != Pair::DifferentBlocks && conflicts(array, shadow));
        Proxies { shadows: found, weak }
    }

    /// The second log of what an access does, if it may conflict with one through the asynchronous proxy.
    pub(super) fn seen(&self, stmt: &Stmt, array: &Name) -> Option<&Shadow> {
        let is_read = matches!(stmt.kind, StmtKind::Load { .. });
        self.shadows.get(array).filter(|shadow| !is_proxied(stmt) && (shadow.reads || !is_read))
    }

    /// The second log against which an access is checked.
    pub(super) fn checked(&self, stmt: &Stmt, array: &Name) -> Option<&Shadow> {
        self.shadows.get(array).filter(|_| is_proxied(stmt))
    }

    /// Whether an access is a reduction that counts as a weak write.
    pub(super) fn is_weak(&self, stmt: &Stmt, array: &Name) -> bool {
        is_proxied(stmt) && self.weak.contains(array)
    }
}

impl Shadow {
    /// When an access stands no longer in the second log: behind a fence behind it. A fence ends what was before it, as a wait ends
    /// groups: the group of an access is the number of fences before it.
    pub(super) fn ends(&self, stmt: &Stmt) -> Option<Ends> {
        if !stmt.attributes.has(ASYNCHRONOUS) {
            return Some([self.fences.clone(), self.fences.clone()]);
        }
        let [committed, _] = ends(stmt)?;
        let [fenced] = <[Name; 1]>::try_from(named(stmt, FENCED)?).ok()?;
        Some([committed, fenced])
    }
}
