//! Families `loop-bound` and `non-negative`: a register that only moves one way stays on its side of the
//! value on entry; it does not become negative.
//!
//! Shapes, for an active thread: `x <= x_entry` and `x >= x_entry`, signed and unsigned; `0 <= x`, signed.
//! Example: `v_active$1 == 1bv16 ==> BV32_SGE(i$1, i.entry.loop1$1)`, which keeps the index of a loop that
//! counts up from wrapping below its start.
//! Inductive because the exit test bounds x on the other side, so that a step does not wrap.
//! Reference: gpuverify-notes section 4 (`loopBound`, `guardNonNeg`).

use super::View;
use crate::ivl::ast::{Name, Thread, Type};
use crate::ivl::bv::{self, BvOp};
use crate::solver::Encoding;

/// For a register that [`super::affine`] looks at: side by side they are proved with half the queries.
pub(super) fn propose(view: &mut View, variable: &Name, ty: &Type, thread: Thread) {
    let ops = match view.encoding {
        Encoding::BitVectors | Encoding::Exact => &[BvOp::Sle, BvOp::Sge, BvOp::Ule, BvOp::Uge][..],
        Encoding::Integers => &[BvOp::Sle, BvOp::Sge],
    };
    let active = view.active(thread);
    let here = bv::var(variable.clone(), ty.clone());
    let entry = view.on_entry(variable, ty);
    for &op in ops {
        let bound = bv::binary(op, here.clone(), entry.clone());
        view.propose("loop-bound", bv::implies(active.clone(), bound));
    }
    let zero = bv::literal(0, bv::width(&here));
    view.propose("non-negative", bv::implies(active, bv::binary(BvOp::Sle, zero, here)));
}
