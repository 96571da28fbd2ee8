//! Products of matrices in lock-step: `wgmma`.
//!
//! Input: `wgmma.mma_async`, `wgmma.commit_group`, `wgmma.wait_group`. Output: for each matrix in shared memory a load of one arbitrary piece of
//! 16 bytes of what may be read, with `{:asynchronous committed, waited}` and `{:proxy fences}`; arbitrary values in the registers. Establishes:
//! every thread reads whatever its warp group reads, until its own wait for the group, so it does not matter which of them does; all
//! threads of a block execute a product together, and commit together; the block has whole warp groups. Where it is one warp group, a thread
//! that has waited for a group knows that all have read (`{:awaited}`): their groups have the same products. Relies on: the layout is put into the
//! descriptor by constants ([`super::known_bits`]), and whole rows contain what is read ([`crate::ptx::descriptor`]);
//! [`super::in_flight`] for the registers; `twothread` as in [`super::bulk`]. That all execute it together follows for each thread and each
//! other one from a comparison of how many they have counted ([`MATES`]), at each of them.
//! Reference: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Async proxy".

use super::bulk::{PROXY, counter};
use super::groups::{COUNTER, count_from};
use super::in_flight;
use super::known_bits::KnownBits;
use super::lowering::Lowering;
use super::memory::{Effect, Place};
use super::objects::{AWAITED, MATES};
use super::points::Points;
use super::regions::{RegionId, Space};
use crate::cfg::graph::{Cfg, Statement};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Attribute, AttributeArg, BinaryOp, ExprKind, ExprRef, Name, StmtKind, Type, Variable};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{BarrierRule, Claim};
use crate::ptx::ast::{AsyncOp, MatrixProduct, Op, Operand, StateSpace};
use crate::ptx::descriptor::{ADDRESS, LAYOUT, Matrix, UNIT};
use std::collections::BTreeSet;

/// Threads of a warp group.
const THREADS: u64 = 128;

/// Rows of A.
const ROWS: u64 = 64;

/// Shared memory starts at a multiple of so many bytes, not behind the other number, which is assumed of an array that is alone there.
const START: [u64; 2] = [1024, 16384];

/// That, for people.
pub(super) const ASSUMED_START: &str = "shared memory starts at a multiple of 1024 bytes, within its first 16384";

/// What is asserted of who executes them.
const RULE: Claim = Claim::BarrierRule(BarrierRule::WarpGroup);

/// What a thread knows of its products.
pub(crate) struct Products {
    /// Those that it has started.
    started: Name,
    /// Groups that were committed, and waited for.
    committed: Name,
    waited: Name,
    /// Arrays of which it was said that descriptors reach them.
    placed: BTreeSet<RegionId>,
    /// It was assumed that shared memory starts where it does.
    is_aligned: bool,
}

impl Products {
    /// The counters.
    pub(super) fn start(&self) -> Vec<(Name, ExprRef)> {
        [&self.started, &self.committed, &self.waited].map(|name| (name.clone(), bv::int(0))).into()
    }
}

/// Whether a kernel has products.
pub(super) fn has_products(cfg: &Cfg) -> bool {
    let mut statements = cfg.graph.node_weights().flat_map(|block| &block.statements);
    statements.any(|statement| match statement {
        Statement::Instruction(one) => matches!(one.op, Op::Async { operation: AsyncOp::Product(_), .. }),
        _ => false,
    })
}

impl Lowering<'_> {
    /// Declares what products need, if there are any.
    pub(super) fn prepare_products(&mut self) {
        if !has_products(self.cfg) {
            return;
        }
        for (span, register) in in_flight::early_touches(self.cfg) {
            let message =
                format!("`{register}` is touched while a product of matrices may, or without a `wgmma.fence`");
            self.diagnostics.push(Diagnostic::unsupported("unsupported-instruction", message, span));
        }
        if self.options.rules.global_only {
            // That warp groups execute them together is asked elsewhere, and what they read is shared memory.
            return;
        }
        let [started, committed, waited] = ["started", "committed", "waited"].map(|name| {
            let name = self.names.fresh(&format!("products.{name}"));
            self.locals.push(Variable::new(name.clone(), COUNTER));
            name
        });
        self.products = Some(Products { started, committed, waited, placed: BTreeSet::new(), is_aligned: false });
    }

    /// `wgmma.mma_async`
    pub(super) fn product(&mut self, name: &str, product: &MatrixProduct) {
        if !self.options.rules.global_only {
            let a = <&[Operand; 1]>::try_from(product.a.as_slice()).ok().map(|[a]| (a, ROWS, product.transposed[0]));
            let b = (&product.b, u64::from(product.columns), product.transposed[1]);
            self.executed_together();
            for matrix in a.into_iter().chain([b]) {
                if let Err(reason) = self.matrix_read(matrix) {
                    return self.without_model(name, &reason);
                }
            }
        }
        self.write_arbitrary(&product.dst);
    }

    /// `wgmma.commit_group`
    pub(super) fn commit_products(&mut self) {
        if let Some(committed) = self.products.as_ref().map(|products| products.committed.clone()) {
            self.count_one(committed.clone());
            self.in_step(committed);
        }
    }

    /// `wgmma.wait_group`
    pub(super) fn wait_products(&mut self, pending: u64) {
        if let Some(Products { committed, waited, .. }) = &self.products {
            let (waits, waited) = (count_from(committed, waited, pending), waited.clone());
            self.count(waited, waits);
        }
    }

    /// Threads of the block, if that is known.
    fn block_threads(&self) -> Option<u64> {
        self.launch.geometry.block.iter().try_fold(1, |all, size| Some(all * u64::from((*size)?)))
    }

    /// Asserts that all threads of the block, which are whole warp groups, execute the product at hand.
    fn executed_together(&mut self) {
        let Some(started) = self.products.as_ref().map(|products| products.started.clone()) else { return };
        if self.block_threads().is_none_or(|threads| threads % THREADS != 0) {
            let away = self.guard_value.clone().map_or(bv::boolean(false), bv::not);
            self.emit(StmtKind::Assert(RULE, away));
        }
        self.count_one(started.clone());
        self.in_step(started);
    }

    /// Asserts of each thread that has counted one more here that each other one of its block has counted as many.
    fn in_step(&mut self, counter: Name) {
        let away = self.guard_value.clone().map_or(bv::boolean(false), bv::not);
        let counted = bv::var(counter, COUNTER);
        let before = bv::op(BinaryOp::Sub, counted.clone(), bv::int(1));
        let args = [bv::boolean(true), before, counted].map(AttributeArg::Expr).into();
        self.emit_with(StmtKind::Assert(RULE, away), vec![Attribute { name: Name::from(MATES), args }]);
    }

    /// The load of a piece of a matrix that may be any.
    ///
    /// # Errors
    /// Why there is no model.
    fn matrix_read(&mut self, (descriptor, rows, is_transposed): (&Operand, u64, bool)) -> Result<(), String> {
        if let Operand::Register(register) = descriptor
            && self.definite_state.may_be_undefined(*register, self.guard)
        {
            return Err("its matrix descriptor may not have been written".to_string());
        }
        let known_bits = self.known_bits.get_or_insert_with(|| KnownBits::of(self.cfg));
        let layout = known_bits.of_operand(descriptor, 64).field(LAYOUT);
        let layout = layout.ok_or("the layout in its matrix descriptor is not a constant")?;
        let matrix = Matrix::of(layout).ok_or("its matrix descriptor has a base offset")?;
        let extent = matrix.extent(rows, is_transposed).ok_or("the rows of its matrix are not aligned")?;
        let region = self.matrix_region(descriptor)?;
        let value = self.read(descriptor, 64);
        let literal = |number: u64| bv::literal(u128::from(number), 64);
        let address = bv::binary(BvOp::Shl, bv::zext(bv::extract(value, 14, 0), 64), literal(4));
        let start = match (extent.row, extent.reach) {
            (UNIT, _) => address,
            (row, reach) => {
                let behind = self.arbitrary(Type::Bool);
                let start = bv::add(address, bv::ite(behind, literal(reach), literal(0)));
                bv::binary(BvOp::And, start, literal(!(row - 1)))
            }
        };
        let guard = self.guard_value.clone();
        let mut index = literal(0);
        for (count, bytes) in extent.steps.into_iter().chain([(extent.run, UNIT)]) {
            let number = self.arbitrary(Type::Bv(64));
            let is_one = bv::binary(BvOp::Ult, number.clone(), literal(count));
            self.guard_value = Some(self.guard_value.iter().cloned().fold(is_one, |one, guard| bv::and(guard, one)));
            index = bv::add(index, bv::mul(number, literal(bytes)));
        }
        let start = self.shared(start);
        let place = Place { value: Some(start), index: Some(index), ..Place::within(vec![region], StateSpace::Shared) };
        if let (Some(products), Some(bulk)) = (&self.products, &self.bulk) {
            let ends = [&products.committed, &products.waited].map(counter).into();
            let asynchronous = Attribute { name: Name::from(super::ASYNCHRONOUS), args: ends };
            let proxy = Attribute { name: Name::from(PROXY), args: vec![counter(bulk.fences_of_shared())] };
            // A thread waits for products of its warp group.
            let is_one_group = self.block_threads() == Some(THREADS);
            let awaited = is_one_group.then(|| Attribute { name: Name::from(AWAITED), args: Vec::new() });
            self.underway = [asynchronous, proxy].into_iter().chain(awaited).collect();
        }
        let piece = self.temporary(Type::Bv(8 * UNIT as u32));
        self.access(&place, region, 0, UNIT as u32, None, Effect::Load(piece));
        self.underway.clear();
        self.guard_value = guard;
        Ok(())
    }

    /// The array in which a matrix is. It starts at a multiple of 1024 bytes, as [`super::fields`] needs it and as rows are rounded.
    ///
    /// # Errors
    /// It may be in several arrays, or need not be aligned.
    fn matrix_region(&mut self, descriptor: &Operand) -> Result<RegionId, String> {
        let [align, _] = START;
        let points = match descriptor {
            Operand::Register(register) => self.pointers.points(&self.pointer_state, *register).clone(),
            _ => Points::default(),
        };
        let regions = &self.pointers.regions;
        let region = points.exact_unit().ok_or("the array of its matrix is not known")?;
        let (size, is_aligned) = (regions.get(region).size, regions.get(region).align.is_multiple_of(align));
        let is_alone = regions.ids().filter(|id| regions.get(*id).space == Space::Shared).count() == 1;
        if !is_aligned && !is_alone {
            return Err(format!("the array of its matrix need not start at a multiple of {align} bytes"));
        }
        self.place_region(region, size, !is_aligned);
        Ok(region)
    }

    /// Says where an array starts that has matrices: descriptors have 18 bits of its addresses. Where its start is a number, it is 0,
    /// and nothing depends on where it is but that.
    fn place_region(&mut self, region: RegionId, size: Option<u64>, assumes_start: bool) {
        let base = self.declarations.base(region);
        let is_symbolic = !matches!(base.kind, ExprKind::Bv(_));
        let literal = |number: u64| bv::literal(u128::from(number), 64);
        let [multiple, below] = START;
        let Some(products) = &mut self.products else { return };
        let is_new = products.placed.insert(region);
        self.declarations.assumes_shared_start |= size.is_none() || assumes_start;
        if is_new && is_symbolic {
            let most = size.map_or(below, |size| (ADDRESS + 1).saturating_sub(size));
            self.declarations.require("base", bv::binary(BvOp::Ule, base.clone(), literal(most)));
        }
        if assumes_start && is_symbolic && !std::mem::replace(&mut products.is_aligned, true) {
            let low = bv::binary(BvOp::And, base, literal(multiple - 1));
            self.declarations.require("base", bv::eq(low, literal(0)));
        }
    }
}
