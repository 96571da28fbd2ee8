//! Table 3: each predicated statement for both threads.
//!
//! Input: the blocks of the predicated kernel. Output: the blocks of the two-thread procedure, under the
//! same labels. Establishes: a loop goes on while one thread is at its head, and is left when none
//! is. Relies on: stage 4 has predicated every statement. Reference: the lock-step paper, Table 3.

use super::Pair;
use super::accesses::{AccessKind, Accesses, byte_offset, offset_error};
use super::barriers::Barriers;
use super::contents::Contents;
use super::copies::Copies;
use super::tickets::Tickets;
use super::underway::{self, Underway};
use super::warps::Warps;
use crate::diagnostic::Diagnostic;
use crate::geometry::BLOCK_THREADS;
use crate::ivl::ast::{
    Attribute, AttributeArg, BinaryOp, Block, ExprKind, ExprRef, Implementation, Name, Stmt, StmtKind, Thread,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{Claim, Premise};
use crate::ivl::visit::map_attribute;
use crate::kernel::{AGREE, LANES, MATES, SHARE};
use crate::order::Order;
use crate::predicate::LoopInfo;
use crate::span::Span;
use std::sync::Arc;

/// Translates statements for both threads.
pub(crate) struct Translator<'a, 'b> {
    /// Names that exist twice.
    pub(crate) copies: &'a Copies,
    /// Loops of the predicated kernel.
    pub(crate) loops: &'a [LoopInfo],
    /// Translation of accesses.
    pub(crate) accesses: &'b mut Accesses<'a>,
    /// What arrays hold.
    pub(crate) contents: &'b mut Contents<'a>,
    /// What atomics return.
    pub(super) tickets: &'b mut Tickets<'a>,
    /// What goes on beside the threads.
    pub(super) underway: &'b mut Underway<'a>,
    /// Translation of barriers.
    pub(crate) barriers: Barriers<'a>,
    /// Translation of barriers of warps.
    pub(super) warps: &'b Warps<'a>,
}

impl Translator<'_, '_> {
    /// Translates all blocks of the kernel.
    ///
    /// # Errors
    /// Those of accesses and barriers.
    pub(crate) fn blocks(&mut self, body: &Implementation) -> Result<Vec<Block>, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut blocks = Vec::with_capacity(body.blocks.len());
        for block in &body.blocks {
            let mut stmts = if blocks.is_empty() { self.start() } else { Vec::new() };
            let is_back = self.loops.iter().any(|this| this.back == block.label);
            // Assertions that lead the head of a loop are its invariants.
            let leading = block.stmts.iter().take_while(|stmt| matches!(stmt.kind, StmtKind::Assert(..))).count();
            for (index, stmt) in block.stmts.iter().enumerate() {
                if index == leading {
                    stmts.extend(self.contents.at_block(&block.label));
                }
                match &stmt.kind {
                    // The loop goes on while one thread is at its head.
                    StmtKind::Assume(premise, e) if is_back => {
                        let [first, second] = Thread::BOTH.map(|thread| self.copies.expr(e, thread));
                        stmts.push(with_kind(stmt, StmtKind::Assume(premise.clone(), bv::or(first, second))));
                    }
                    _ => errors.extend(self.statement(stmt, (&block.label, index), &mut stmts).err()),
                }
            }
            if leading == block.stmts.len() {
                stmts.extend(self.contents.at_block(&block.label));
            }
            stmts.iter_mut().for_each(underway::unmark);
            blocks.push(Block { stmts, ..block.clone() });
        }
        if errors.is_empty() { Ok(blocks) } else { Err(errors) }
    }

    /// Nothing is logged at the start.
    fn start(&self) -> Vec<Stmt> {
        let clear = |array: &Name| StmtKind::Order { array: array.clone(), both: bv::boolean(true), by: Order::Block };
        let stmt = |kind| Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None };
        let mut stmts: Vec<Stmt> = self.accesses.checked_arrays.iter().map(|array| stmt(clear(array))).collect();
        stmts.extend(self.contents.start());
        stmts.extend(self.warps.start().map(stmt));
        stmts.extend(self.tickets.start());
        stmts
    }

    /// Translates the statement at an index of a block.
    fn statement(
        &mut self,
        stmt: &Stmt,
        (block, index): (&Name, usize),
        out: &mut Vec<Stmt>,
    ) -> Result<(), Diagnostic> {
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                for thread in Thread::BOTH {
                    let copy = |(name, value): &(Name, ExprRef)| (name.of(thread), self.copies.expr(value, thread));
                    out.push(with_kind(stmt, StmtKind::Assign(pairs.iter().map(copy).collect())));
                }
                let names: Vec<&Name> = pairs.iter().map(|(name, _)| name).collect();
                let told = self.underway.assigned(&names, &self.accesses.checked_arrays);
                out.extend(told.into_iter().map(|kind| Stmt { attributes: Vec::new(), ..with_kind(stmt, kind) }));
            }
            StmtKind::Havoc(names) => {
                let both = names.iter().flat_map(|name| Thread::BOTH.map(|thread| name.of(thread))).collect();
                out.push(with_kind(stmt, StmtKind::Havoc(both)));
            }
            StmtKind::Assume(premise, e) => {
                for thread in Thread::BOTH {
                    out.push(with_kind(stmt, StmtKind::Assume(premise.clone(), self.copies.expr(e, thread))));
                }
            }
            StmtKind::Assert(claim, e) if stmt.attributes.has(MATES) => {
                out.extend(self.mates(stmt, claim, e));
            }
            StmtKind::Assert(_, e) if stmt.attributes.has(AGREE) => out.extend(self.agree(stmt, e)),
            StmtKind::Assert(claim, e) if stmt.attributes.has(LANES) => out.extend(self.lanes(stmt, claim, e)),
            StmtKind::Assert(claim, e) => out.extend(self.asserts(stmt, claim, e)),
            StmtKind::Load { dst, access } => {
                if !stmt.attributes.has("ghost") {
                    self.accesses.log_and_check(stmt, AccessKind::Read, access, (None, self.underway), out)?;
                }
                let offset = byte_offset(access).ok_or_else(|| offset_error(stmt))?;
                match self.contents.load(stmt, &(block.clone(), index), dst, access, &offset) {
                    Some(stmts) => {
                        out.extend(stmts);
                        for found in self.contents.tickets(access, &offset) {
                            out.extend(self.tickets.loaded(stmt, dst, access, found));
                        }
                    }
                    None => self.accesses.load_value(stmt, dst, access, out)?,
                }
            }
            StmtKind::Store { value, access } => {
                self.accesses.log_and_check(stmt, AccessKind::Write, access, (Some(value), self.underway), out)?;
                let offset = byte_offset(access).ok_or_else(|| offset_error(stmt))?;
                out.extend(self.contents.store(stmt, access, &offset, value));
            }
            StmtKind::Atomic { dst, access } => {
                // What a lane has of its leader's addition is no access of its own.
                if !stmt.attributes.has(SHARE) {
                    self.accesses.log_and_check(stmt, AccessKind::Atomic, access, (None, self.underway), out)?;
                }
                if let Some(dst) = dst {
                    let both = Thread::BOTH.map(|thread| dst.of(thread)).to_vec();
                    out.push(with_kind(stmt, StmtKind::Havoc(both)));
                    let offset = byte_offset(access).ok_or_else(|| offset_error(stmt))?;
                    self.tickets.atomic(stmt, dst, access, &offset, out);
                }
                let offset = byte_offset(access).ok_or_else(|| offset_error(stmt))?;
                out.extend(self.contents.atomic(stmt, dst.as_ref(), access, &offset));
            }
            StmtKind::Barrier(barrier) => {
                self.barriers.translate(
                    stmt,
                    barrier,
                    (&self.accesses.checked_arrays, self.underway.is_complete()),
                    out,
                )?;
                out.extend(self.contents.barrier(stmt, barrier.guard.as_ref()));
                out.extend(self.tickets.barrier());
            }
            StmtKind::WarpBarrier(barrier) => {
                self.warps.translate(stmt, barrier, (&self.accesses.checked_arrays, self.underway.is_complete()), out);
            }
            StmtKind::Fence(fence) => match fence.order() {
                // They clear nothing: only barriers do, and those of warps where it is known who waits.
                Order::Warp => self.warps.translate_unnumbered(stmt, out),
                Order::Fence { .. } | Order::BarrierObjects | Order::Proxy { .. } => {}
                Order::Block | Order::Counted | Order::Grid | Order::Completion => {
                    panic!("twothread: `{fence}` is a statement of its own")
                }
            },
            // A proof takes it for the exit that follows.
            StmtKind::Trap => {}
            StmtKind::Call { .. } | StmtKind::Log { .. } | StmtKind::Check(_) | StmtKind::Order { .. } => {
                panic!("twothread: what the kernel language does not have passed stage 4")
            }
        }
        Ok(())
    }

    /// The assertion of each thread of a pair of one block about the other one ([`crate::kernel::MATES`]).
    fn mates(&self, stmt: &Stmt, claim: &Claim, away: &ExprRef) -> Vec<Stmt> {
        let args = stmt.attributes.named(MATES).map(|attribute| attribute.args.as_slice());
        let Some([AttributeArg::Expr(meant), AttributeArg::Expr(own), AttributeArg::Expr(other)]) = args else {
            panic!("twothread: an assertion about mates names three values")
        };
        if self.barriers.pair != Pair::SameBlock {
            return Vec::new();
        }
        let [first, second] = Thread::BOTH;
        let about = |(thread, mate): (Thread, Thread)| {
            let (meant, other) = (self.copies.expr(meant, mate), self.copies.expr(other, mate));
            let is_below = bv::op(BinaryOp::Lt, self.copies.expr(own, thread), other);
            let holds = bv::or(self.copies.expr(away, thread), bv::implies(meant, is_below));
            let number = AttributeArg::Expr(bv::int(i128::from(thread.number())));
            let attributes = vec![Attribute { name: Name::from("thread"), args: vec![number] }];
            Stmt { attributes, ..with_kind(stmt, StmtKind::Assert(claim.clone(), holds)) }
        };
        [(first, second), (second, first)].map(about).into()
    }

    /// The assertion that two lanes of a warp meet of which one waits for the other ([`crate::kernel::LANES`]).
    fn lanes(&self, stmt: &Stmt, claim: &Claim, away: &ExprRef) -> Option<Stmt> {
        let args = stmt.attributes.named(LANES).map(|attribute| attribute.args.as_slice());
        let Some([AttributeArg::Expr(mask), AttributeArg::Expr(number)]) = args else {
            panic!("twothread: an assertion about lanes names a mask and the number of a thread")
        };
        if self.barriers.pair != Pair::SameBlock {
            return None;
        }
        let of = |e: &ExprRef, thread| self.copies.expr(e, thread);
        let masks = Thread::BOTH.map(|thread| of(mask, thread));
        let are_equal = bv::eq(masks[0].clone(), masks[1].clone());
        let met = Thread::BOTH.map(|thread| {
            let mate = thread.other();
            let lane = bv::binary(BvOp::And, of(number, mate), bv::literal(31, 32));
            let bit = bv::extract(bv::binary(BvOp::Lshr, masks[thread.index()].clone(), lane), 1, 0);
            let is_named = match masks[thread.index()].kind {
                ExprKind::Bv(0xffff_ffff) => bv::boolean(true),
                _ => bv::eq(bit, bv::literal(1, 1)),
            };
            let waits = bv::and(bv::not(of(away, thread)), is_named);
            let is_there = bv::and(bv::not(of(away, mate)), are_equal.clone());
            bv::implies(waits, bv::or(is_there, self.barriers.leaves(mate)))
        });
        let warp = |thread| bv::binary(BvOp::Lshr, of(number, thread), bv::literal(5, 32));
        let same = bv::eq(warp(Thread::First), warp(Thread::Second));
        let holds = bv::implies(same, met.into_iter().fold(bv::boolean(true), bv::and));
        Some(Stmt { attributes: Vec::new(), ..with_kind(stmt, StmtKind::Assert(claim.clone(), holds)) })
    }

    /// What two threads of a block have alike that differ in some bits of their numbers alone ([`crate::kernel::AGREE`]).
    fn agree(&self, stmt: &Stmt, away: &ExprRef) -> Option<Stmt> {
        let args = stmt.attributes.named(AGREE).map(|attribute| attribute.args.as_slice());
        let Some([AttributeArg::Expr(value), AttributeArg::Expr(number), AttributeArg::Expr(others)]) = args else {
            panic!("twothread: what threads agree on names a value, the number of a thread and some of its bits")
        };
        if self.barriers.pair != Pair::SameBlock {
            return None;
        }
        let [first, second] = Thread::BOTH;
        let outside = |thread| bits_of(&self.copies.expr(number, thread), others);
        let are_there = [first, second].map(|thread| bv::not(self.copies.expr(away, thread)));
        let are_alike = are_there.into_iter().fold(bv::eq(outside(first), outside(second)), bv::and);
        let holds = bv::implies(are_alike, bv::eq(self.copies.expr(value, first), self.copies.expr(value, second)));
        let premise = Premise::Instance(Arc::from(AGREE));
        Some(Stmt { attributes: Vec::new(), ..with_kind(stmt, StmtKind::Assume(premise, holds)) })
    }

    /// The assertion of each thread, which `{:thread N}` names.
    fn asserts(&self, stmt: &Stmt, claim: &Claim, e: &ExprRef) -> [Stmt; 2] {
        Thread::BOTH.map(|thread| {
            let copy = |attribute: &Attribute| map_attribute(attribute, &mut |e| self.copies.expr(e, thread));
            let mut attributes: Vec<Attribute> = stmt.attributes.iter().map(copy).collect();
            let number = AttributeArg::Expr(bv::int(i128::from(thread.number())));
            attributes.push(Attribute { name: Name::from("thread"), args: vec![number] });
            Stmt { attributes, ..with_kind(stmt, StmtKind::Assert(claim.clone(), self.copies.expr(e, thread))) }
        })
    }
}

/// Some bits of the number of a thread; all from one on as a shift, which is arithmetic.
fn bits_of(number: &ExprRef, bits: &ExprRef) -> ExprRef {
    let all = u128::from(BLOCK_THREADS - 1);
    match bits.kind {
        ExprKind::Bv(wanted) if wanted != 0 && wanted == all >> wanted.trailing_zeros() << wanted.trailing_zeros() => {
            bv::binary(BvOp::Lshr, number.clone(), bv::literal(wanted.trailing_zeros().into(), 32))
        }
        _ => bv::binary(BvOp::And, number.clone(), bits.clone()),
    }
}

fn with_kind(stmt: &Stmt, kind: StmtKind) -> Stmt {
    Stmt { kind, ..stmt.clone() }
}
