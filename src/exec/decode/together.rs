//! What threads do together, or beside themselves: barriers, operations of a warp, asynchronous copies.
//!
//! Plain data of a [`super::Program`].

use super::Slot;
use crate::exec::values::atomic::AtomicOperation;
use crate::ptx::ast::ScalarType;

/// A copy that goes on beside its thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    /// Where it reads, an entry of [`Program::accesses`].
    pub(crate) from: u32,
    /// Where it writes, an entry of [`Program::accesses`].
    pub(crate) to: u32,
    /// Bytes that are written.
    pub(crate) bytes: u32,
    /// How many of them are read, or (one bit) that none are; with the width in bits.
    pub(crate) taken: Option<(Slot, u32)>,
}

/// A bulk copy.
#[derive(Clone, Debug)]
pub(crate) struct BulkOperation {
    pub(crate) moves: Moves,
    /// The barrier object that gets the bytes, an entry of [`Program::accesses`]; `None`: it has a group.
    pub(crate) object: Option<u32>,
    /// What is done with the old value.
    pub(crate) reduction: Option<(AtomicOperation, ScalarType)>,
    /// `.multicast::cluster`: a bit for each block of the cluster that gets the bytes.
    pub(crate) multicast: Option<Slot>,
}

/// What a bulk operation moves. Memory operands are entries of [`Program::accesses`].
#[derive(Clone, Debug)]
pub(crate) enum Moves {
    /// Bytes that lie one behind the other.
    Bytes {
        /// Where it reads.
        from: u32,
        /// Where it writes.
        to: u32,
        /// Bytes.
        size: Slot,
    },
    /// A box of a tensor.
    Tensor {
        /// The tensor map.
        map: u32,
        coordinates: Vec<Slot>,
        /// Where the box is in shared memory.
        shared: u32,
        /// Into shared memory.
        loads: bool,
    },
    /// `st.async`, `red.async`: values of registers, through the generic proxy.
    Values {
        /// Where it writes.
        to: u32,
        /// The elements.
        values: Vec<Slot>,
        /// Bytes of an element.
        width: u32,
    },
}

impl BulkOperation {
    /// Where it reads and where it writes; it writes where it reads nothing.
    pub(crate) fn ends(&self) -> [u32; 2] {
        match self.moves {
            Moves::Bytes { from, to, .. } => [from, to],
            Moves::Tensor { map, shared, loads: true, .. } => [map, shared],
            Moves::Tensor { map, shared, .. } => [shared, map],
            Moves::Values { to, .. } => [to, to],
        }
    }
}

/// What a kernel does to a tensor map; places are entries of [`Program::accesses`](super::Program::accesses).
#[derive(Clone, Copy, Debug)]
pub(crate) enum MapOperation {
    /// `tensormap.replace`: so many bytes, from one on.
    Replace { map: u32, at: u32, width: u32, value: Slot },
    /// `tensormap.cp_fenceproxy`
    Publish { to: u32, from: u32 },
    /// `fence.proxy.tensormap::generic.acquire`
    Acquire { map: u32 },
}

impl MapOperation {
    /// Where it reads and where it writes; where the map is.
    pub(crate) fn ends(&self) -> [u32; 2] {
        match *self {
            MapOperation::Replace { map, .. } | MapOperation::Acquire { map } => [map, map],
            MapOperation::Publish { to, from } => [from, to],
        }
    }
}

/// `wgmma.mma_async`: its matrices in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    /// The descriptor of A, should it be there: its rows, and whether it lies along them.
    pub(crate) a: Option<(Slot, u32, bool)>,
    /// The same of B and its columns.
    pub(crate) b: (Slot, u32, bool),
}

/// An operation on a barrier object.
#[derive(Clone, Debug)]
pub(crate) struct ObjectOperation {
    /// Its eight bytes, an entry of [`Program::accesses`].
    pub(crate) access: u32,
    pub(crate) kind: ObjectKind,
    /// Destination.
    pub(crate) d: Option<(Slot, u8)>,
    /// It releases or acquires.
    pub(crate) ordered: bool,
}

/// Operations on barrier objects, with their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Initialise {
        count: Slot,
    },
    Invalidate,
    Expect {
        bytes: Slot,
    },
    Complete {
        bytes: Slot,
    },
    Arrive {
        count: Option<Slot>,
        /// Bytes that are expected first.
        bytes: Option<Slot>,
        drops: bool,
        /// `.noComplete`
        incomplete: bool,
    },
    /// `cp.async.mbarrier.arrive`
    ArriveBehindCopies {
        /// `.noinc`
        counted: bool,
    },
    /// `tcgen05.commit`
    Commit {
        /// The blocks of the cluster whose objects get an arrival; `None`: that of the address.
        multicast: Option<Slot>,
    },
    Wait {
        /// A state or a parity.
        phase: Slot,
        parity: bool,
        /// `try_wait`
        tries: bool,
    },
}

/// A barrier instruction.
#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    /// Number.
    pub id: Slot,
    /// Threads.
    pub count: Option<Slot>,
    /// All threads of the block must be at this very instruction.
    pub aligned: bool,
    /// `.arrive`
    pub(crate) arrive: bool,
    pub(crate) reduction: Option<Reduction>,
}

impl Barrier {
    /// Whether all threads of a block have to execute this very instruction. `.aligned` says so of the block; a barrier with a count
    /// counts warps, which code for roles (CudaDMA, CUTLASS, Triton) takes it to speak of, also where the count is that of
    /// the whole block.
    pub(crate) fn is_of_all(&self) -> bool {
        self.aligned && !self.arrive && self.count.is_none()
    }

    /// Whether all threads of a block have to come to it, at this instruction or another one: if one does not, the block has diverged.
    pub(crate) fn is_for_all(&self, count: Option<u32>, block: u32) -> bool {
        self.aligned && !self.arrive && count.is_none_or(|count| count == block.next_multiple_of(32))
    }
}

/// A reduction at a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    /// Operation.
    pub(crate) kind: ReductionKind,
    /// Destination.
    pub(crate) d: Option<Slot>,
    /// Predicate of this thread.
    pub(crate) p: Slot,
}

/// Operations of a barrier reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum ReductionKind {
    Popc,
    And,
    Or,
}

/// What threads of a warp do together.
#[derive(Clone, Debug)]
pub(crate) struct WarpOperation {
    /// The operation.
    pub(crate) kind: WarpKind,
    /// Destinations.
    pub(crate) d: [Option<(Slot, u8)>; 2],
    /// Sources.
    pub(crate) s: [Slot; 3],
    /// Members; `None`: those that come together (the forms without `.sync`).
    pub(crate) mask: Option<Slot>,
}

/// Operations of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named after the instructions
pub(crate) enum WarpKind {
    Barrier,
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    Ballot,
    MatchAny {
        bits: u8,
    },
    MatchAll {
        bits: u8,
    },
    ActiveMask,
    Elect,
    /// `setmaxnreg`: `.inc`, and the number.
    Registers {
        more: bool,
        count: u32,
    },
    /// Whatever all threads of a warp execute together (`.sync.aligned`).
    Meeting,
    Reduce(AtomicOperation, bool),
}

impl WarpKind {
    /// Whether it gives a lane the value of one.
    pub(crate) fn is_shuffle(self) -> bool {
        use WarpKind::{ShuffleButterfly, ShuffleDown, ShuffleIndex, ShuffleUp};
        matches!(self, ShuffleUp | ShuffleDown | ShuffleButterfly | ShuffleIndex)
    }
}
