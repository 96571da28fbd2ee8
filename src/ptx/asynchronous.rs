//! What goes on beside the threads, as part of an instruction: copies, their groups, barrier objects.
//!
//! Reference: PTX ISA, `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`, `mbarrier`.

use super::ast::{Address, Operand, ScalarType, StateSpace, TensorMemoryUse};
use crate::order::Ordering;
use std::sync::Arc;

/// Asynchronous operations. A thread has groups of copies: a copy belongs to the group that is committed next.
#[derive(Clone, Debug, PartialEq)]
pub enum AsyncOp {
    /// `cp.async.ca`, `cp.async.cg`: starts a copy from global to shared memory.
    Copy(Box<AsyncCopy>),
    /// `cp.async.commit_group`: ends a group.
    Commit,
    /// `cp.async.wait_group`, `cp.async.wait_all`: until at most so many of the newest groups are not complete.
    Wait {
        /// Groups.
        pending: u64,
        /// Ends a group first.
        commits: bool,
    },
    /// `cp.async.mbarrier.arrive`: an arrival at a barrier object once all earlier copies of the thread are complete.
    Arrive {
        /// Where the object is.
        object: MemoryOperand,
        /// `.noinc`: the object counts this arrival among those that it expects.
        counted: bool,
    },
    /// `st.async`, `red.async` to the shared memory of another block of the cluster.
    Remote(Box<RemoteStore>),
    /// `cp.async.bulk`, `cp.reduce.async.bulk`: starts a bulk copy.
    Bulk(Box<BulkCopy>),
    /// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: starts a copy of a box of a tensor.
    Tensor(Box<TensorCopy>),
    /// A tensor map that the kernel makes.
    Map(Box<MapUse>),
    /// `tcgen05`
    TensorMemory(Box<TensorMemoryUse>),
    /// `wgmma.mma_async`
    Product(Box<MatrixProduct>),
    /// `wgmma.fence`: between what the warp group did with registers and its products.
    ProductFence,
    /// `wgmma.commit_group`: ends a group of products.
    ProductCommit,
    /// `wgmma.wait_group`: until at most so many of the newest groups of products are not complete.
    ProductWait {
        /// Groups.
        pending: u64,
    },
    /// `cp.async.bulk.commit_group`: ends a group of bulk copies.
    BulkCommit,
    /// `cp.async.bulk.wait_group`: until at most so many of the newest groups of bulk copies are not complete.
    BulkWait {
        /// Groups.
        pending: u64,
        /// `.read`: until they have read what they read.
        reads: bool,
    },
}

/// What a kernel does to a tensor map.
#[derive(Clone, Debug, PartialEq)]
pub enum MapUse {
    /// `tensormap.replace`: a field gets a value.
    Replace {
        /// Where the map is.
        map: MemoryOperand,
        /// Which field.
        field: MapField,
        /// What it gets; the rank is written as one less.
        value: Operand,
    },
    /// `tensormap.cp_fenceproxy`: a warp copies a map from shared to global memory, and releases it.
    Publish {
        /// In global memory.
        to: MemoryOperand,
        /// In shared memory.
        from: MemoryOperand,
    },
    /// `fence.proxy.tensormap::generic.acquire`: what wrote the map is before copies that go by it.
    Acquire {
        /// Where the map is.
        map: MemoryOperand,
    },
}

/// A field of a tensor map; dimensions are counted from 0, the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapField {
    /// `.global_address`
    Address,
    /// `.rank`
    Rank,
    /// `.box_dim`
    Box(u8),
    /// `.global_dim`
    Size(u8),
    /// `.global_stride`: between neighbours along the dimension after this one, in bytes.
    Stride(u8),
    /// `.element_stride`
    Step(u8),
    /// `.elemtype`
    Type,
    /// `.interleave_layout`
    Interleave,
    /// `.swizzle_mode`
    Swizzle,
    /// `.swizzle_atomicity`
    Atomicity,
    /// `.fill_mode`
    Fill,
}

/// A memory operand with its state space.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryOperand {
    /// The space; generic if none is written.
    pub space: StateSpace,
    /// Where in it.
    pub address: Address,
}

/// An asynchronous copy.
#[derive(Clone, Debug, PartialEq)]
pub struct AsyncCopy {
    /// In shared memory.
    pub to: Address,
    /// In global memory.
    pub from: Address,
    /// Bytes that are written: 4, 8 or 16.
    pub bytes: u32,
    /// Zeros are written for what is not read: how many bytes are, at most all, or (a predicate) whether none are.
    pub taken: Option<Operand>,
}

/// A store or reduction that goes on beside its thread.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteStore {
    /// Where it writes, in the shared memory of another block.
    pub to: MemoryOperand,
    /// What is written, one for each element.
    pub values: Vec<Operand>,
    /// Type of an element.
    pub ty: ScalarType,
    /// The barrier object that gets the bytes, in the same shared memory.
    pub object: MemoryOperand,
    /// `red.async`: what is done with the old value.
    pub reduction: Option<Arc<str>>,
}

/// A bulk copy: its accesses go through the asynchronous proxy.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkCopy {
    /// Where it writes.
    pub to: MemoryOperand,
    /// Where it reads.
    pub from: MemoryOperand,
    /// Bytes, a multiple of 16.
    pub size: Operand,
    /// What tells that it is complete: bytes at a barrier object, or (`None`) its group.
    pub object: Option<MemoryOperand>,
    /// `cp.reduce`: what is done with the old value, and the type.
    pub reduction: Option<(Arc<str>, ScalarType)>,
    /// `.multicast::cluster`: a bit for each block of the cluster that gets the bytes.
    pub multicast: Option<Operand>,
}

/// A copy of a box of a tensor in global memory: into shared memory if it has a barrier object, else out of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorCopy {
    /// The tensor map.
    pub map: MemoryOperand,
    /// Where the box starts in the tensor, the innermost dimension first.
    pub coordinates: Vec<Operand>,
    /// Where the box is in shared memory.
    pub shared: MemoryOperand,
    /// The barrier object that gets the bytes; `None`: it has a group.
    pub object: Option<MemoryOperand>,
    /// `cp.reduce`: what is done with the old values.
    pub reduction: Option<Arc<str>>,
    /// `.multicast::cluster`: a bit for each block of the cluster that gets the bytes.
    pub multicast: Option<Operand>,
}

/// `wgmma.mma_async`: a product of matrices of a warp group, of 64 rows.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixProduct {
    /// The descriptor of matrix A, or the four registers that have it.
    pub a: Vec<Operand>,
    /// The descriptor of matrix B.
    pub b: Operand,
    /// A predicate: the product is added to what the destinations hold.
    pub accumulates: Operand,
    /// Registers that get the product, once its group is complete.
    pub dst: Vec<Operand>,
    /// Columns of B.
    pub columns: u32,
    /// Of A and B in shared memory: they lie along M or N, not along K.
    pub transposed: [bool; 2],
}

/// What is done with a barrier object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectUse {
    /// The object.
    pub place: MemoryOperand,
    /// What is done.
    pub action: ObjectAction,
    /// Register that gets a state (of an arrival) or whether the phase is complete (of a wait).
    pub dst: Option<Operand>,
    /// A release of an arrival, an acquire of a wait, or relaxed.
    pub ordering: Ordering,
}

/// Operations on barrier objects.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectAction {
    /// `init`
    Initialise {
        /// Arrivals that a phase expects.
        count: Operand,
    },
    /// `inval`
    Invalidate,
    /// `expect_tx`
    Expect {
        /// Bytes.
        bytes: Operand,
    },
    /// `complete_tx`
    Complete {
        /// Bytes.
        bytes: Operand,
    },
    /// `arrive`, `arrive_drop`
    Arrive {
        /// Arrivals; one if nothing is written.
        count: Option<Operand>,
        /// `.expect_tx`: bytes that are expected first.
        bytes: Option<Operand>,
        /// `arrive_drop`: later phases expect fewer arrivals.
        drops: bool,
        /// `.noComplete`: the phase must not be complete by it.
        incomplete: bool,
    },
    /// `test_wait`, `try_wait`
    Wait {
        /// The state of an arrival, or (`.parity`) the parity of a phase.
        phase: Operand,
        /// `.parity`
        parity: bool,
        /// `try_wait`: may wait, and may say that the phase is not complete although it is.
        tries: bool,
    },
}

impl ObjectAction {
    /// The value that it reads: a count, bytes, a state or a parity.
    pub(crate) fn source(&self) -> Option<&Operand> {
        match self {
            ObjectAction::Initialise { count: source }
            | ObjectAction::Expect { bytes: source }
            | ObjectAction::Complete { bytes: source }
            | ObjectAction::Wait { phase: source, .. } => Some(source),
            ObjectAction::Arrive { count, bytes, .. } => count.as_ref().or(bytes.as_ref()),
            ObjectAction::Invalidate => None,
        }
    }

    /// The same, to change it.
    pub(crate) fn source_mut(&mut self) -> Option<&mut Operand> {
        match self {
            ObjectAction::Initialise { count: source }
            | ObjectAction::Expect { bytes: source }
            | ObjectAction::Complete { bytes: source }
            | ObjectAction::Wait { phase: source, .. } => Some(source),
            ObjectAction::Arrive { count, bytes, .. } => count.as_mut().or(bytes.as_mut()),
            ObjectAction::Invalidate => None,
        }
    }
}
