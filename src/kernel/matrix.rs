//! Matrices that a warp loads or stores together.
//!
//! Input: `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`. Output: one collective access for each row; registers get
//! arbitrary values. Establishes: every byte that some lane accesses is in an access of the lane that gives its address.
//! Relies on: the access stage knows that any thread of the warp may do a collective access.
//! Reference: PTX ISA, the instructions of these names.

use super::lowering::Lowering;
use super::memory::{Effect, Place};
use super::regions::Space;
use crate::ivl::ast::{ExprRef, Type};
use crate::ivl::bv::{self, BvOp};
use crate::ptx::ast::{Address, MatrixRows, Operand, SpecialRegister, StateSpace};

/// The value of a collective access has this type, though it stands for nothing.
const VALUE: Type = Type::Bv(8);

impl Lowering<'_> {
    /// A load if there are destinations, otherwise a store.
    pub(crate) fn matrix(
        &mut self,
        space: StateSpace,
        dst: &[Operand],
        address: &Address,
        rows: MatrixRows,
        stride: Option<&Operand>,
    ) {
        self.lanes_meet(None);
        let Some(place) = self.place(space, address) else { return };
        let is_load = !dst.is_empty();
        let mut place = Place { givers: Some(self.lanes_below(rows.lanes)), ..place };
        let (rows, bytes) = in_pieces(rows, stride);
        let stride = stride.map(|stride| self.read(stride, 32)).map(|stride| bv::zext(stride, 64));
        for row in 0..rows.rows {
            place.index = match &stride {
                Some(stride) if row > 0 => Some(row_start(row, stride, rows.stride_bits)),
                _ => None,
            };
            self.row(&place, bytes, is_load);
        }
        if is_load {
            self.write_arbitrary(dst);
        }
    }

    fn row(&mut self, place: &Place, bytes: u32, is_load: bool) {
        let effect = |this: &mut Self| match is_load {
            true => Effect::Load(this.temporary(VALUE)),
            false => Effect::Store(this.arbitrary(VALUE)),
        };
        for &region in &place.regions {
            match self.pointers.regions.get(region).space {
                Space::Private | Space::Heap => self.own_access(place, region, 0, bytes),
                Space::Parameters if is_load => {}
                Space::Parameters => self.unsupported("parameter-store", "a store to a kernel parameter"),
                Space::Global | Space::Const | Space::Shared => {
                    let effect = effect(self);
                    self.access(place, region, 0, bytes, None, effect);
                }
            }
        }
        if place.unknown {
            self.touch_everything(place, bytes, None, effect);
        }
    }

    /// That the thread is one of the first lanes.
    fn lanes_below(&mut self, lanes: u32) -> ExprRef {
        if lanes >= 32 {
            return bv::boolean(true);
        }
        let lane = self.read(&Operand::Special(SpecialRegister::LaneId), 32);
        bv::binary(BvOp::Ult, lane, bv::literal(u128::from(lanes), 32))
    }
}

/// Rows and the width of each: contiguous ones are one.
fn in_pieces(rows: MatrixRows, stride: Option<&Operand>) -> (MatrixRows, u32) {
    let contiguous = match stride {
        None => true,
        Some(Operand::Integer(stride)) => {
            stride.checked_mul(u64::from(rows.stride_bits)) == Some(8 * u64::from(rows.bytes))
        }
        Some(_) => false,
    };
    if contiguous { (MatrixRows { rows: 1, ..rows }, rows.rows * rows.bytes) } else { (rows, rows.bytes) }
}

/// Bytes from the start of the fragment to a row. Elements smaller than a byte are counted in bytes as a whole.
fn row_start(row: u32, stride: &ExprRef, stride_bits: u32) -> ExprRef {
    let bits = u128::from(row) * u128::from(stride_bits);
    let factor = |n: u128| if n == 1 { stride.clone() } else { bv::mul(stride.clone(), bv::literal(n, 64)) };
    if bits % 8 == 0 { factor(bits / 8) } else { bv::binary(BvOp::Lshr, factor(bits), bv::literal(3, 64)) }
}
