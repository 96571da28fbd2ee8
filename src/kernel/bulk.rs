//! Bulk copies that end with a group, and proxy fences.
//!
//! Input: `cp.async.bulk` and `cp.reduce.async.bulk` from shared to global memory with `.bulk_group`, `cp.async.bulk.commit_group`,
//! `cp.async.bulk.wait_group`, `fence.proxy.async`. Output: for a copy a load and a store (or atomic) of one arbitrary element of
//! what it moves, each with `{:asynchronous committed, waited}` and `{:proxy fences}`. Establishes: as [`super::groups`], with groups
//! of their own, where `.read` waits for the loads only; `fences` counts the proxy fences of the thread for the space of the access;
//! an extent is a multiple of 16; a thread does not exit before its copies have read.
//! Relies on: `twothread` knows that the element may be any, so that what is proved of one holds for all; that such an access goes
//! on until its group is complete; and that what goes through the generic proxy is before it only with a fence between. What a
//! reduction does to an element is one strong operation, `.relaxed.gpu`.
//! Reference: PTX ISA, `cp.async.bulk`, `cp.reduce.async.bulk`, "Async proxy", `membar`/`fence`; phases-notes 1.1, 1.2, 2.6.

use super::completion::guarded;
use super::groups::{COUNTER, count_from};
use super::lowering::Lowering;
use super::memory::Effect;
use super::objects;
use super::regions::Space;
use crate::cfg::graph::{Cfg, Statement};
use crate::ivl::ast::{Attribute, AttributeArg, ExprKind, ExprRef, Name, Stmt, StmtKind, Type, Variable};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{BarrierRule, Claim};
use crate::order::Fence;
use crate::ptx::ast::{AsyncOp, BulkCopy, MemoryOperand, Op, StateSpace};
use crate::ptx::table::ASYNC;
use crate::span::{Origin, Span};
use std::sync::Arc;

/// The mark of accesses through the asynchronous proxy, with the counter of the fences that others need in front of them.
pub(crate) const PROXY: &str = "proxy";

/// The mark of copies of the other kind, in a kernel with accesses through the asynchronous proxy: how many groups the thread had
/// waited for at its last fence.
pub(crate) const FENCED: &str = "fenced";

/// What a thread knows of its bulk copies.
#[derive(Clone, Debug)]
pub(crate) struct BulkGroups {
    /// Groups that were committed.
    committed: Name,
    /// Groups that were waited for.
    waited: Name,
    /// Groups that have read, which includes those.
    read: Name,
    /// A copy was started since the last commit.
    open: Name,
    /// A copy may not have read yet; for each, with where it stands.
    reading: Vec<(Arc<Origin>, Name)>,
    /// Proxy fences for shared and for global memory.
    fences: [Name; 2],
    /// Groups of copies of the other kind that were waited for at the last fence for shared memory.
    fenced: Name,
}

/// Whether a bulk copy ends with its group, which makes it one from shared to global memory.
fn is_modelled(copy: &BulkCopy) -> bool {
    copy.object.is_none()
        && copy.multicast.is_none()
        && copy.to.space == StateSpace::Global
        && copy.from.space == StateSpace::Shared
}

/// Where a kernel has such copies; those of one line are one.
fn copies(cfg: &Cfg) -> Vec<Arc<Origin>> {
    let statements = cfg.graph.node_weights().flat_map(|block| &block.statements);
    let mut found: Vec<Arc<Origin>> = Vec::new();
    for statement in statements {
        if let Statement::Instruction(instruction) = statement
            && let Op::Async { operation: AsyncOp::Bulk(copy), .. } = &instruction.op
            && is_modelled(copy)
            && !found.iter().any(|origin| origin.line == instruction.origin.line)
        {
            found.push(instruction.origin.clone());
        }
    }
    found
}

impl BulkGroups {
    /// The mark of a copy of the other kind.
    pub(super) fn fenced(&self) -> Attribute {
        Attribute { name: Name::from(FENCED), args: vec![counter(&self.fenced)] }
    }

    /// Counts the proxy fences for shared memory.
    pub(super) fn fences_of_shared(&self) -> &Name {
        &self.fences[0]
    }

    /// The variables, with what they are in front of the first instruction.
    pub(super) fn start(&self) -> Vec<(Name, ExprRef)> {
        let [shared, global] = &self.fences;
        let counters = [&self.committed, &self.waited, &self.read, shared, global, &self.fenced];
        let counters = counters.into_iter().map(|name| (name.clone(), bv::int(0)));
        let flags = self.reading.iter().map(|(_, name)| name).chain([&self.open]);
        counters.chain(flags.map(|name| (name.clone(), bv::boolean(false)))).collect()
    }
}

pub(super) fn counter(name: &Name) -> AttributeArg {
    AttributeArg::Expr(bv::var(name.clone(), COUNTER))
}

impl Lowering<'_> {
    /// Declares what copies need, if there are any.
    pub(super) fn prepare_bulk(&mut self) {
        let copies = copies(self.cfg);
        if copies.is_empty() && self.objects.is_none() && self.products.is_none() {
            return;
        }
        let mut declare = |name: &str, ty: Type| {
            let name = self.names.fresh(name);
            self.locals.push(Variable::new(name.clone(), ty));
            name
        };
        self.bulk = Some(BulkGroups {
            committed: declare("bulk.committed", COUNTER),
            waited: declare("bulk.waited", COUNTER),
            read: declare("bulk.read", COUNTER),
            open: declare("bulk.open", Type::Bool),
            reading: copies.into_iter().map(|origin| (origin, declare("bulk.reading", Type::Bool))).collect(),
            fences: ["fences.shared", "fences.global"].map(|name| declare(name, COUNTER)),
            fenced: declare("groups.fenced", COUNTER),
        });
    }

    /// A fence: the proxy fences are counted.
    pub(super) fn fence(&mut self, fence: &Fence) {
        // Predication has no guard for it.
        let mark = self.guard_value.is_some().then(guarded);
        self.emit_with(StmtKind::Fence(fence.clone()), mark.into_iter().collect());
        let Some(bulk) = self.bulk.clone() else { return };
        let spaces = fence.proxies();
        for (name, _) in bulk.fences.iter().zip(spaces).filter(|(_, is_fenced)| *is_fenced) {
            self.count_one(name.clone());
        }
        if let (true, Some(waited)) = (spaces[0], self.waited_groups()) {
            self.count(bulk.fenced, bv::var(waited, COUNTER));
        }
    }

    /// A thread exits.
    pub(super) fn exit(&mut self) {
        self.exit_objects();
        for (origin, name) in self.bulk.iter().flat_map(|bulk| &bulk.reading) {
            let done = bv::not(bv::var(name.clone(), Type::Bool));
            let kind = StmtKind::Assert(Claim::BarrierRule(BarrierRule::Abandoned), done);
            let origin = Some(origin.clone());
            self.statements.push(Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin });
        }
    }

    /// `cp.async.bulk.commit_group`
    pub(super) fn commit_bulk(&mut self, name: &str) {
        let Some(bulk) = self.bulk.clone() else { return self.without_model(name, ASYNC) };
        self.count_one(bulk.committed);
        self.count(bulk.open, bv::boolean(false));
    }

    /// `cp.async.bulk.wait_group`: whoever waits for no group that is pending has read all that was committed.
    pub(super) fn wait_bulk(&mut self, name: &str, pending: u64, reads: bool) {
        let Some(bulk) = self.bulk.clone() else { return self.without_model(name, ASYNC) };
        let counters = [(true, &bulk.read), (!reads, &bulk.waited)];
        for (_, name) in counters.into_iter().filter(|(is_told, _)| *is_told) {
            self.count(name.clone(), count_from(&bulk.committed, name, pending));
        }
        for (_, name) in bulk.reading.into_iter().filter(|_| pending == 0) {
            let flag = |name: &Name| bv::var(name.clone(), Type::Bool);
            let still = bv::and(flag(&name), flag(&bulk.open));
            self.count(name, still);
        }
    }

    /// `cp.async.bulk`, `cp.reduce.async.bulk`
    pub(super) fn bulk_copy(&mut self, name: &str, copy: &BulkCopy) {
        if self.options.rules.global_only {
            // `phases` refuses it unless nothing is written to the array that it reads.
            return;
        }
        let is_told = self.objects.is_some() && objects::is_modelled(copy);
        let Some(bulk) = self.bulk.clone().filter(|_| is_modelled(copy) || is_told) else {
            return self.without_model(name, ASYNC);
        };
        let size = self.read(&copy.size, 32);
        let size = self.shared(size);
        let guard = self.guard_value.clone();
        if !matches!(size.kind, ExprKind::Bv(bytes) if bytes % 16 == 0) {
            let whole = bv::eq(bv::extract(size.clone(), 4, 0), bv::literal(0, 4));
            let whole = guard.iter().cloned().fold(whole, |whole, guard| bv::implies(guard, whole));
            self.emit(StmtKind::Assert(Claim::BarrierRule(BarrierRule::Size), whole));
        }
        let ends = match &copy.object {
            None => [self.bulk_mark(&bulk.committed, &bulk.read), self.bulk_mark(&bulk.committed, &bulk.waited)]
                .map(|mark| vec![mark]),
            Some(object) => {
                let Some(marks) = self.copy_to_object(name, object, &size) else { return };
                [marks.clone(), marks]
            }
        };
        // One element, which may be any of those that are copied.
        let unit = copy.reduction.as_ref().map_or(1, |(_, ty)| ty.bytes());
        let number = self.arbitrary(Type::Bv(64));
        let count = match unit {
            1 => bv::zext(size, 64),
            _ => bv::binary(BvOp::Lshr, bv::zext(size, 64), bv::literal(u128::from(unit.trailing_zeros()), 64)),
        };
        let is_one = bv::binary(BvOp::Ult, number.clone(), count);
        self.guard_value = Some(guard.iter().cloned().fold(is_one, |is_one, guard| bv::and(guard, is_one)));
        let index = if unit == 1 { number } else { bv::mul(number, bv::literal(u128::from(unit), 64)) };
        let [shared, global] = &bulk.fences;
        let space = |end: &MemoryOperand| if end.space == StateSpace::Global { global } else { shared };
        let [reads, writes] = ends;
        self.underway = reads.into_iter().chain([self.proxy_mark(space(&copy.from))]).collect();
        let ty = Type::Bv(8 * unit);
        self.moved(&copy.from, &index, unit, |this| Effect::Load(this.temporary(ty.clone())));
        self.underway = writes.into_iter().chain([self.proxy_mark(space(&copy.to))]).collect();
        let is_reduction = copy.reduction.is_some();
        self.moved(&copy.to, &index, unit, |this| match is_reduction {
            true => Effect::Atomic(None),
            false => Effect::Store(this.arbitrary(ty.clone())),
        });
        self.underway.clear();
        self.guard_value = guard;
        if is_told {
            return;
        }
        let line = self.origin.as_ref().map(|origin| origin.line);
        let reading = bulk.reading.into_iter().filter(|(origin, _)| Some(origin.line) == line).map(|(_, name)| name);
        for name in reading.chain([bulk.open]) {
            self.count(name, bv::boolean(true));
        }
    }

    fn bulk_mark(&self, committed: &Name, waited: &Name) -> Attribute {
        Attribute { name: Name::from(super::ASYNCHRONOUS), args: vec![counter(committed), counter(waited)] }
    }

    fn proxy_mark(&self, fences: &Name) -> Attribute {
        Attribute { name: Name::from(PROXY), args: vec![counter(fences)] }
    }

    /// The accesses of one end of a copy.
    fn moved(&mut self, end: &MemoryOperand, index: &ExprRef, bytes: u32, mut effect: impl FnMut(&mut Self) -> Effect) {
        let Some(mut place) = self.place(end.space, &end.address) else { return };
        place.index = Some(index.clone());
        for &region in &place.regions.clone() {
            match self.pointers.regions.get(region).space {
                Space::Private => self.own_access(&place, region, 0, bytes),
                Space::Heap => self.unsupported("heap-copy", "an asynchronous copy to memory from `malloc`"),
                Space::Parameters => self.unsupported("parameter-store", "an asynchronous copy of a kernel parameter"),
                Space::Global | Space::Const | Space::Shared => {
                    let effect = effect(self);
                    self.access(&place, region, 0, bytes, None, effect);
                }
            }
        }
        if place.unknown {
            self.touch_everything(&place, bytes, None, effect);
        }
    }
}
