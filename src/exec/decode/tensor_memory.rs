//! Operations on tensor memory: from the typed operation to the flat program.
//!
//! Part of [`super::function`]. Establishes: those that a warp executes together (`.sync.aligned`) stand behind a meeting of its
//! threads; those that read and write are two instructions. Reference: PTX ISA, `tcgen05`.

use super::function::Decoder;
use super::{Code, ObjectKind, Slot, WarpKind};
use crate::ptx::ast::{
    Address, ScalarType, StateSpace, TensorMatrix, TensorMemoryOp, TensorMemoryUse, TensorMove, TensorProduct,
};

/// An address in tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TensorPlace {
    pub(crate) base: Slot,
    pub(crate) offset: i64,
}

/// An operation on tensor memory.
#[derive(Clone, Debug)]
pub(crate) enum TensorOperation {
    /// The address goes to an entry of [`Program::accesses`](super::Program::accesses).
    Allocate {
        access: u32,
        columns: Slot,
    },
    Free {
        place: TensorPlace,
        columns: Slot,
    },
    Relinquish,
    Fence {
        before: bool,
    },
    Wait {
        loads: bool,
    },
    Move {
        writes: bool,
        place: TensorPlace,
        lanes: u32,
        columns: u32,
        second: Option<u32>,
    },
    /// A copy from shared memory, to all lanes.
    Copy {
        to: TensorPlace,
        from: Slot,
        rows: u32,
        bytes: u32,
        pair: bool,
    },
    Product(TensorProductOf),
}

/// A product of matrices.
#[derive(Clone, Debug)]
pub(crate) struct TensorProductOf {
    pub(crate) d: TensorPlace,
    pub(crate) a: TensorA,
    pub(crate) b: Slot,
    pub(crate) shape: Slot,
    pub(crate) scales: Option<[TensorPlace; 2]>,
    /// Bytes of an element in shared memory.
    pub(crate) element: u32,
    pub(crate) is_weight_stationary: bool,
    pub(crate) kind: u8,
    pub(crate) pair: bool,
}

/// Where matrix A is: a descriptor, or tensor memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorA {
    Shared(Slot),
    Tensor(TensorPlace),
}

impl TensorOperation {
    /// Its addresses in tensor memory.
    pub(crate) fn places(&self) -> Vec<TensorPlace> {
        match self {
            TensorOperation::Free { place, .. } | TensorOperation::Move { place, .. } => vec![*place],
            TensorOperation::Copy { to, .. } => vec![*to],
            TensorOperation::Product(TensorProductOf { d, a, scales, .. }) => {
                let a = if let TensorA::Tensor(place) = a { Some(*place) } else { None };
                [*d].into_iter().chain(a).chain(scales.iter().flatten().copied()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its matrix descriptors.
    pub(crate) fn descriptors(&self) -> Vec<Slot> {
        match self {
            TensorOperation::Copy { from, .. } => vec![*from],
            TensorOperation::Product(TensorProductOf { a, b, .. }) => {
                let a = if let TensorA::Shared(descriptor) = a { Some(*descriptor) } else { None };
                a.into_iter().chain([*b]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What says how much it does.
    pub(crate) fn sizes(&self) -> Option<Slot> {
        match self {
            TensorOperation::Allocate { columns, .. } | TensorOperation::Free { columns, .. } => Some(*columns),
            TensorOperation::Product(product) => Some(product.shape),
            _ => None,
        }
    }

    /// It is a copy or a product, which goes on beside its thread.
    pub(crate) fn is_started(&self) -> bool {
        matches!(self, TensorOperation::Copy { .. } | TensorOperation::Product(_))
    }
}

impl Decoder<'_> {
    pub(super) fn tensor_memory(&mut self, usage: &TensorMemoryUse) -> Option<()> {
        let pair = usage.pair;
        if pair && !self.program.ranks.is_multiple_of(2) {
            self.refuse("tensor memory of pairs of blocks, without clusters of pairs, is not emulated".to_string());
            return Some(());
        }
        let operation = match &usage.operation {
            TensorMemoryOp::Allocate { to, columns } => {
                let access = self.operand_access(to, 4)?;
                TensorOperation::Allocate { access, columns: self.source(columns, 32)? }
            }
            TensorMemoryOp::Free { address, columns } => {
                let place = TensorPlace { base: self.source(address, 32)?, offset: 0 };
                TensorOperation::Free { place, columns: self.source(columns, 32)? }
            }
            TensorMemoryOp::Relinquish => TensorOperation::Relinquish,
            TensorMemoryOp::Fence { before } => TensorOperation::Fence { before: *before },
            TensorMemoryOp::Commit { object, multicast } => {
                let kind = ObjectKind::Commit { multicast: self.optional(multicast.as_ref())? };
                return self.push_object(object, kind, None, true);
            }
            TensorMemoryOp::Wait { loads } => TensorOperation::Wait { loads: *loads },
            TensorMemoryOp::Move(one) => self.tensor_move(one)?,
            TensorMemoryOp::Copy { to, from, rows, bytes } => TensorOperation::Copy {
                to: self.tensor_place(to)?,
                from: self.source(from, 64)?,
                rows: *rows,
                bytes: *bytes,
                pair,
            },
            TensorMemoryOp::Product(product) => self.tensor_product(product, pair)?,
        };
        let is_started = operation.is_started();
        let loads = matches!(operation, TensorOperation::Move { writes: false, .. });
        if !is_started && !matches!(operation, TensorOperation::Fence { .. }) {
            let all = self.constant(0xffff_ffff);
            self.push_warp(WarpKind::Meeting, &[], [0; 3], Some(all));
        }
        let index = self.program.tensor_operations.len() as u32;
        self.program.tensor_operations.push(operation);
        if is_started || loads {
            self.emit(Code::TensorRead(index));
        }
        if !loads {
            self.emit(Code::Tensor(index));
        }
        if let TensorMemoryOp::Move(one) = &usage.operation {
            self.opaque(&one.dst);
        }
        Some(())
    }

    fn tensor_place(&mut self, address: &Address) -> Option<TensorPlace> {
        let (_, base, offset) = self.place(StateSpace::Local, address)?;
        Some(TensorPlace { base, offset })
    }

    fn tensor_move(&mut self, one: &TensorMove) -> Option<TensorOperation> {
        let TensorMove { writes, lanes, columns, second, .. } = *one;
        for value in &one.values {
            self.source(value, ScalarType::B(32).bits())?;
        }
        Some(TensorOperation::Move { writes, place: self.tensor_place(&one.address)?, lanes, columns, second })
    }

    fn tensor_product(&mut self, product: &TensorProduct, pair: bool) -> Option<TensorOperation> {
        let a = match &product.a {
            TensorMatrix::Shared(descriptor) => TensorA::Shared(self.source(descriptor, 64)?),
            TensorMatrix::Tensor(address) => TensorA::Tensor(self.tensor_place(address)?),
        };
        let scales = match &product.scales {
            Some([of_a, of_b]) => Some([self.tensor_place(of_a)?, self.tensor_place(of_b)?]),
            None => None,
        };
        let TensorProduct { element, is_weight_stationary, kind, .. } = *product;
        let (d, b) = (self.tensor_place(&product.d)?, self.source(&product.b, 64)?);
        let shape = self.source(&product.shape, 32)?;
        Some(TensorOperation::Product(TensorProductOf {
            d,
            a,
            b,
            shape,
            scales,
            element,
            is_weight_stationary,
            kind,
            pair,
        }))
    }
}
