//! Asynchronous copies and their groups.
//!
//! Input: `cp.async`, `cp.async.commit_group`, `cp.async.wait_group`, `cp.async.wait_all`. Output: for a copy a load and a store
//! with `{:asynchronous committed, waited}`, where the two variables count the groups that the thread has committed and those
//! that it has waited for. Establishes: `waited <= committed`; the groups below `waited` are complete; a copy belongs to the
//! group with the number `committed` at its start. Relies on: `twothread` knows that
//! such an access goes on until its group is complete. Reference: PTX ISA, `cp.async` ("wait_group N: until N or fewer of the
//! most recent groups are pending and all prior groups are complete").

use super::bulk::BulkGroups;
use super::lowering::Lowering;
use super::memory::{Effect, Place};
use super::products::Products;
use super::regions::Space;
use crate::cfg::graph::{Cfg, Statement};
use crate::ivl::ast::{Attribute, AttributeArg, BinaryOp, Block, ExprRef, Name, Stmt, StmtKind, Type};
use crate::ivl::bv;
use crate::ptx::ast::{Address, AsyncCopy, AsyncOp, Op, Operand, ScalarType, StateSpace};
use crate::ptx::table::{ASYNC, TENSOR_MEMORY, TENSORMAP};
use crate::span::Span;

/// The mark of the accesses of a copy.
pub(crate) const ASYNCHRONOUS: &str = "asynchronous";

/// Counters of groups.
pub(super) const COUNTER: Type = Type::Int;

/// The counters of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// Groups that were committed.
    committed: Name,
    /// Groups that were waited for.
    waited: Name,
}

impl Groups {
    /// The mark of an access that belongs to the next group.
    fn mark(&self) -> Attribute {
        let args = [&self.committed, &self.waited].map(|name| AttributeArg::Expr(bv::var(name.clone(), COUNTER)));
        Attribute { name: Name::from(ASYNCHRONOUS), args: args.into() }
    }
}

/// What a counter of groups that were waited for becomes by a wait for all but that many.
pub(super) fn count_from(committed: &Name, waited: &Name, pending: u64) -> ExprRef {
    let [committed, waited] = [committed, waited].map(|name| bv::var(name.clone(), COUNTER));
    let older = bv::op(BinaryOp::Sub, committed, bv::int(i128::from(pending)));
    bv::ite(bv::op(BinaryOp::Lt, waited.clone(), older.clone()), older, waited)
}

/// Whether a kernel has copies with such groups.
pub(super) fn has_groups(cfg: &Cfg) -> bool {
    let mut statements = cfg.graph.node_weights().flat_map(|block| &block.statements);
    let is_copy = |op: &Op| matches!(op, Op::Async { operation: AsyncOp::Copy(_), .. });
    statements.any(|statement| matches!(statement, Statement::Instruction(one) if is_copy(&one.op)))
}

impl Lowering<'_> {
    pub(super) fn asynchronous(&mut self, name: &str, operation: &AsyncOp) {
        match operation {
            // `phases` refuses it unless nothing is written to the tensor that it reads.
            AsyncOp::Tensor(_) if self.options.rules.global_only => {}
            AsyncOp::Arrive { .. } | AsyncOp::Remote(_) | AsyncOp::Tensor(_) => self.without_model(name, ASYNC),
            AsyncOp::Bulk(copy) => self.bulk_copy(name, copy),
            AsyncOp::BulkCommit => self.commit_bulk(name),
            AsyncOp::BulkWait { pending, reads } => self.wait_bulk(name, *pending, *reads),
            AsyncOp::Map(_) => self.without_model(name, TENSORMAP),
            AsyncOp::TensorMemory(_) => self.without_model(name, TENSOR_MEMORY),
            AsyncOp::Product(product) => self.product(name, product),
            // What it orders are registers.
            AsyncOp::ProductFence => {}
            AsyncOp::ProductCommit => self.commit_products(),
            AsyncOp::ProductWait { pending } => self.wait_products(*pending),
            AsyncOp::Copy(copy) => self.copy(copy),
            AsyncOp::Commit => self.commit(),
            AsyncOp::Wait { pending, commits } => {
                if *commits {
                    self.commit();
                }
                let Groups { committed, waited } = self.groups();
                let waits = count_from(&committed, &waited, *pending);
                self.count(waited, waits);
            }
        }
    }

    fn commit(&mut self) {
        let committed = self.groups().committed;
        self.count_one(committed);
    }

    /// Counts one more.
    pub(super) fn count_one(&mut self, counter: Name) {
        let next = bv::op(BinaryOp::Add, bv::var(counter.clone(), COUNTER), bv::int(1));
        self.count(counter, next);
    }

    /// Sets what a thread knows of its copies, under the guard of the instruction.
    pub(super) fn count(&mut self, counter: Name, value: ExprRef) {
        let value = match &self.guard_value {
            Some(guard) => bv::ite(guard.clone(), value.clone(), bv::var(counter.clone(), value.ty.clone())),
            None => value,
        };
        self.emit(StmtKind::Assign(vec![(counter, value)]));
    }

    /// The counters, which are declared when the first instruction needs them.
    fn groups(&mut self) -> Groups {
        if let Some(groups) = &self.groups {
            return groups.clone();
        }
        let [committed, waited] = ["groups.committed", "groups.waited"].map(|name| self.names.fresh(name));
        for name in [&committed, &waited] {
            self.locals.push(crate::ivl::ast::Variable::new(name.clone(), COUNTER));
        }
        let groups = Groups { committed, waited };
        self.groups = Some(groups.clone());
        groups
    }

    /// The counter of groups that were waited for, in a kernel that starts copies or commits groups.
    pub(super) fn waited_groups(&mut self) -> Option<Name> {
        self.has_groups.then(|| self.groups().waited)
    }

    /// All counters are 0 in front of the first instruction.
    pub(super) fn start_groups(&self, blocks: &mut [Block]) {
        let [start, ..] = blocks else { return };
        // Nothing stands in front of the first instruction.
        let origin = start.stmts.first().and_then(|first| first.origin.clone());
        let zero = |name: &Name| (name.clone(), bv::int(0));
        let counters = self.groups.iter().flat_map(|groups| [zero(&groups.committed), zero(&groups.waited)]);
        let of_bulk = self.bulk.iter().flat_map(BulkGroups::start);
        let of_products = self.products.iter().flat_map(Products::start);
        let set = counters.chain(of_bulk).chain(of_products).map(|set| {
            let kind = StmtKind::Assign(vec![set]);
            Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: origin.clone() }
        });
        start.stmts.splice(0..0, set.collect::<Vec<_>>());
    }

    /// A load of what is read, if anything is, and a store.
    fn copy(&mut self, copy: &AsyncCopy) {
        let mark = self.groups().mark();
        self.underway = std::iter::once(mark).chain(self.bulk.as_ref().map(BulkGroups::fenced)).collect();
        let guard = self.guard_value.clone();
        if let Some(taken) = &copy.taken {
            let reads = self.reads(taken);
            self.guard_value = Some(guard.iter().cloned().fold(reads, bv::and));
        }
        self.half(StateSpace::Global, &copy.from, copy.bytes, true);
        self.guard_value = guard;
        self.half(StateSpace::Shared, &copy.to, copy.bytes, false);
        self.underway.clear();
    }

    /// Whether anything is read: the operand counts bytes, or says that nothing is.
    fn reads(&mut self, taken: &Operand) -> ExprRef {
        let is_predicate = match taken {
            Operand::Register(register) => self.cfg.registers[register.0 as usize].ty == ScalarType::Pred,
            Operand::NotPredicate(_) => true,
            _ => false,
        };
        match is_predicate {
            true => bv::not(self.read_predicate(taken)),
            false => bv::ne(self.read(taken, 32), bv::literal(0, 32)),
        }
    }

    /// The accesses of one end of a copy. Values of stores are compared in pieces of 8 bytes, where they are (`--allow-same-value`).
    fn half(&mut self, space: StateSpace, address: &Address, bytes: u32, is_load: bool) {
        let Some(place) = self.place(space, address) else { return };
        let piece = if is_load || !self.options.rules.allow_same_value { bytes } else { bytes.min(8) };
        for at in (0..bytes).step_by(piece as usize) {
            self.piece(&place, i64::from(at), piece, is_load);
        }
    }

    fn piece(&mut self, place: &Place, at: i64, bytes: u32, is_load: bool) {
        let ty = Type::Bv(8 * bytes);
        let effect = |this: &mut Self| match is_load {
            true => Effect::Load(this.temporary(ty.clone())),
            false => Effect::Store(this.arbitrary(ty.clone())),
        };
        for &region in &place.regions {
            match self.pointers.regions.get(region).space {
                Space::Private => self.own_access(place, region, at, bytes),
                // Its thread may write to it, or give it back, while the copy goes on; accesses to it are not logged.
                Space::Heap => self.unsupported("heap-copy", "an asynchronous copy of memory from `malloc`"),
                Space::Parameters => self.unsupported("parameter-store", "an asynchronous copy of a kernel parameter"),
                Space::Global | Space::Const | Space::Shared => {
                    let effect = effect(self);
                    self.access(place, region, at, bytes, None, effect);
                }
            }
        }
        if place.unknown {
            self.touch_everything(place, bytes, None, effect);
        }
    }
}
