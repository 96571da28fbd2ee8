//! Operations of a warp: who takes part, and what their results say about the executing thread.
//!
//! Input: `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `bar.warp.sync`. Output: an assertion that the executing
//! lane is in the mask of members; results that are arbitrary, but for the lane's own bit of a mask. Establishes: a
//! `{:barrier_rule "member"}` assertion at each operation whose mask is not seen to name all lanes. Relies on: a warp is 32
//! threads with consecutive linear numbers.
//! Reference: PTX ISA, the instructions of these names ("the behavior is undefined if the executing thread is not in the
//! membermask").

use super::known_bits::KnownBits;
use super::lowering::Lowering;
use crate::ivl::ast::{Attribute, AttributeArg, ExprRef, Name, StmtKind, Type, WarpBarrier};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{BarrierRule, Claim};
use crate::order::Fence;
use crate::ptx::ast::{Operand, SpecialRegister};

/// A mask of all lanes.
const ALL: u64 = 0xffff_ffff;

/// The mark of an assertion that the lanes of a warp meet that wait for each other: a mask, and the number of the thread in its block. The
/// assertion's own formula says when the thread is not there.
pub(crate) const LANES: &str = "lanes";

impl<'a> Lowering<'a> {
    /// An instruction that gives arbitrary values; those of a warp name their members last, if they do.
    pub(super) fn arbitrary_operation(&mut self, name: &str, dst: &[Operand], sources: &[Operand]) {
        let words: Vec<&str> = name.split('.').collect();
        let is_of_warp = matches!(words[0], "shfl" | "vote" | "match" | "redux" | "elect");
        let mask = sources.last().filter(|_| is_of_warp && words.contains(&"sync"));
        if let Some(mask) = mask {
            self.is_member(mask);
            self.lanes_meet(Some(mask));
        }
        if matches!(words[0], "mma" | "wmma") {
            self.lanes_meet(None);
        }
        match (words[0], dst) {
            ("vote", [ballot]) if words.contains(&"ballot") => {
                let votes = self.read_predicate(&sources[0]);
                self.write_own_bit(ballot, votes);
            }
            ("activemask", [active]) => self.write_own_bit(active, bv::boolean(true)),
            ("match", [equal]) if words.contains(&"any") => self.write_own_bit(equal, bv::boolean(true)),
            ("match", [equal, all]) => {
                let Some(mask) = mask else { return self.write_arbitrary(dst) };
                let (members, agree) = (self.read(mask, 32), self.arbitrary(Type::Bool));
                let value = bv::ite(agree.clone(), members, bv::literal(0, 32));
                self.write_all(vec![(equal.clone(), value, false), (all.clone(), agree, false)]);
            }
            _ => self.write_arbitrary(dst),
        }
    }

    /// Asserts that the executing lane is in a mask.
    pub(super) fn is_member(&mut self, mask: &Operand) {
        let inside = match self.known_mask(mask) {
            Some(ALL) => return,
            // The first lanes.
            Some(bits) if (bits + 1).is_power_of_two() => {
                bv::binary(BvOp::Ult, self.lane(), bv::literal(u128::from(bits.count_ones()), 32))
            }
            _ => {
                let bits = self.read(mask, 32);
                let shifted = bv::binary(BvOp::Lshr, bits, self.lane());
                bv::eq(bv::extract(shifted, 1, 0), bv::literal(1, 1))
            }
        };
        let inside = self.guard_value.iter().cloned().fold(inside, |inside, guard| bv::implies(guard, inside));
        self.emit(StmtKind::Assert(Claim::BarrierRule(BarrierRule::Member), inside));
    }

    fn known_bits(&mut self) -> &mut KnownBits<'a> {
        self.known_bits.get_or_insert_with(|| KnownBits::of(self.cfg))
    }

    /// The lanes of a mask that is the same for all threads, whatever the launch.
    fn known_mask(&mut self, mask: &Operand) -> Option<u64> {
        match mask {
            Operand::Integer(bits) => Some(bits & ALL),
            mask => self.known_bits().of_operand(mask, 32).field(ALL),
        }
    }

    /// Asserts that the lanes which a mask names, or all, execute the operation at hand together. Of a mask that other lanes or memory
    /// decide, which `ballot`, `match` and `activemask` give, it is an assumption.
    pub(super) fn lanes_meet(&mut self, mask: Option<&Operand>) {
        let mask = match mask {
            None => bv::literal(u128::from(ALL), 32),
            Some(mask) => match self.known_mask(mask) {
                Some(bits) => bv::literal(u128::from(bits), 32),
                None if self.known_bits().is_own(mask) => self.read(mask, 32),
                None => {
                    self.declarations.assumes_members = true;
                    return;
                }
            },
        };
        self.declarations.assumes_lanes = true;
        let args = [mask, self.launch.linear()].map(AttributeArg::Expr).into();
        let away = self.guard_value.clone().map_or(bv::boolean(false), bv::not);
        let lanes = Attribute { name: Name::from(LANES), args };
        self.emit_with(StmtKind::Assert(Claim::LanesMet, away), vec![lanes]);
    }

    /// A barrier of the warp. Where the block is not fixed, the number of a thread is a product of unknowns; the barrier
    /// then orders nothing.
    pub(super) fn warp_barrier(&mut self, mask: &Operand) {
        self.is_member(mask);
        self.lanes_meet(Some(mask));
        let Some(thread) = self.launch.fixed_linear() else {
            return self.emit(StmtKind::Fence(Fence::warp()));
        };
        self.declarations.assumes_lanes = true;
        let barrier = WarpBarrier { guard: self.guard_value.clone(), mask: self.read(mask, 32), thread };
        self.emit(StmtKind::WarpBarrier(barrier));
    }

    /// A mask of lanes, of which only the bit of the executing lane is known.
    fn write_own_bit(&mut self, dst: &Operand, set: ExprRef) {
        let others = self.arbitrary(Type::Bv(32));
        let lane = self.lane();
        let own = self.shared(bv::binary(BvOp::Shl, bv::literal(1, 32), lane));
        let with = bv::binary(BvOp::Or, others.clone(), own.clone());
        let without = bv::binary(BvOp::And, others, bv::unary(BvOp::Not, own));
        self.write(dst, bv::ite(set, with, without), false);
    }

    fn lane(&mut self) -> ExprRef {
        self.read(&Operand::Special(SpecialRegister::LaneId), 32)
    }
}
