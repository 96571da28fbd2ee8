//! What an execution showed.

use super::races::Race;
use std::collections::BTreeSet;

/// Everything that one execution showed.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Data races, one a pair of instructions.
    pub races: Vec<Race>,
    /// Barriers that some threads of a block missed.
    pub divergences: Vec<Divergence>,
    /// Blocks whose threads wait for ever.
    pub deadlocks: Vec<Deadlock>,
    /// Barriers used against their rules.
    pub barrier_errors: Vec<BarrierError>,
    /// Assertions of the user that failed, and accesses that are none.
    pub faults: Vec<Fault>,
    /// Instructions that read shared memory before anything wrote it, with the first thread.
    pub(crate) uninitialised: Vec<(u32, u32)>,
    /// Why the run did not reach its end.
    pub stopped: BTreeSet<Stop>,
    /// Whether a value came from where the ISA leaves it open.
    pub arbitrary: bool,
    /// Whether values were needed that the ISA defines and that are not computed: products of matrices, and how
    /// fragments of `wmma` lie in memory; and they decide something ([`super::decode::Deciding`]).
    pub(crate) opaque: bool,
    /// A location had more readers than are remembered; races may have been missed.
    pub(crate) forgot: bool,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Threads that ran.
    pub(crate) threads: u64,
}

impl Outcome {
    /// Whether the user excludes such executions.
    pub fn is_excluded(&self) -> bool {
        self.stopped.iter().any(|stop| matches!(stop, Stop::Excluded { .. }))
    }

    /// Whether every thread ran to its end.
    pub fn is_complete(&self) -> bool {
        self.stopped.is_empty()
    }
}

/// Where a thread is: its number in the launch and its instruction.
pub(crate) type Place = (u32, u32);

/// An aligned barrier that not all threads of a block reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// A thread at the barrier.
    pub arrived: Place,
    /// A thread elsewhere.
    pub(crate) absent: Place,
    /// Where that one is.
    pub(crate) instead: Instead,
}

/// Where a thread is that does not come to the barrier of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instead {
    /// At another instruction.
    Elsewhere,
    /// At another instruction that names the same barrier, and so are all threads of its warp.
    WholeWarp,
    /// It has exited.
    Exited,
}

/// Threads that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Some of them, one for each place.
    pub waiting: Vec<Place>,
    /// For what they wait, those at barrier objects.
    pub(crate) objects: Vec<ObjectState>,
    /// How many wait in all.
    pub(crate) count: u32,
}

/// A barrier object for which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectState {
    /// Offset in the shared memory of the block.
    pub(crate) offset: u32,
    /// The thread names the parity of a phase, not its number.
    pub(crate) is_parity: bool,
    /// That parity or number.
    pub(crate) wanted: u64,
    /// Number of the phase that is not complete.
    pub(crate) phase: u32,
    /// Arrivals that it still expects.
    pub(crate) pending: u32,
    /// Bytes that it still expects.
    pub(crate) bytes: i64,
}

/// A misused barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierError {
    /// Who.
    pub place: Place,
    /// What is wrong.
    pub(crate) kind: BarrierMisuse,
}

/// What can be wrong with the use of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BarrierMisuse {
    /// A number above 15.
    Number,
    /// A count that is zero or no multiple of the warp size.
    Count,
    /// Threads give one barrier different counts.
    CountsDiffer,
    /// A thread comes to a barrier where its earlier arrival is still pending.
    ArrivesTwice,
    /// A reduction and another operation on one barrier.
    Mixed,
    /// A thread that is not in the mask of its warp operation.
    NotMember,
    /// No barrier object where one is used.
    Uninitialised,
    /// A barrier object over another one.
    Initialised,
    /// A barrier object that expects no arrivals, or too many.
    ObjectCount,
    /// An access to the bytes of a barrier object.
    Access,
    /// More arrivals than a phase expects.
    Arrivals,
    /// More bytes than a barrier object can count.
    Bytes,
    /// An arrival at a phase although no wait has seen the end of the one before.
    Unseen,
    /// `.noComplete` that completes.
    Completes,
    /// A state that is too old.
    State,
    /// A parity that is none.
    Parity,
    /// A bulk copy of a size that is none.
    Size,
    /// Shared memory of a block that has exited.
    Exited,
    /// A wait at the cluster's barrier without an arrival before it.
    NotArrived,
    /// `st.async`, `red.async` to another place than the shared memory of one other block.
    NotRemote,
    /// A tensor map of another number of dimensions than the copy.
    Rank,
    /// A block exits whose shared memory a copy still accesses.
    Abandoned,
    /// Columns of tensor memory that cannot be allocated, or freed.
    TensorColumns,
    /// Lanes of tensor memory that the warp does not have.
    TensorLanes,
    /// A block exits with tensor memory that is allocated.
    TensorLeft,
    /// `setmaxnreg` or `wgmma` in some warps of a warp group, not in all of them.
    WarpGroup,
}

impl BarrierMisuse {
    /// The misuse that an assertion of the verifier speaks of, by the text of `{:barrier_rule}`.
    pub(crate) fn of_rule(rule: &str) -> Option<BarrierMisuse> {
        let known = [
            BarrierMisuse::Number,
            BarrierMisuse::Count,
            BarrierMisuse::NotMember,
            BarrierMisuse::Size,
            BarrierMisuse::Abandoned,
        ];
        known.into_iter().find(|misuse| misuse.rule() == rule)
    }

    /// A word for it.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            BarrierMisuse::Number => "number",
            BarrierMisuse::Count | BarrierMisuse::CountsDiffer => "count",
            BarrierMisuse::ArrivesTwice => "arrives-twice",
            BarrierMisuse::Mixed => "mixed",
            BarrierMisuse::NotMember => "member",
            BarrierMisuse::Uninitialised => "uninitialised",
            BarrierMisuse::Initialised => "initialised-twice",
            BarrierMisuse::ObjectCount => "object-count",
            BarrierMisuse::Access => "object-access",
            BarrierMisuse::Arrivals => "arrivals",
            BarrierMisuse::Bytes => "bytes",
            BarrierMisuse::Unseen => "unseen-phase",
            BarrierMisuse::Completes => "completes",
            BarrierMisuse::State => "state",
            BarrierMisuse::Parity => "parity",
            BarrierMisuse::Size => "size",
            BarrierMisuse::Exited => "exited-block",
            BarrierMisuse::NotArrived => "not-arrived",
            BarrierMisuse::NotRemote => "not-remote",
            BarrierMisuse::Rank => "tensor-rank",
            BarrierMisuse::Abandoned => "copy-outlives-block",
            BarrierMisuse::TensorColumns => "tensor-columns",
            BarrierMisuse::TensorLanes => "tensor-lanes",
            BarrierMisuse::TensorLeft => "tensor-left",
            BarrierMisuse::WarpGroup => "warp-group",
        }
    }

    /// A sentence about it.
    pub(crate) fn message(self) -> &'static str {
        match self {
            BarrierMisuse::Number => "barriers have numbers from 0 to 15",
            BarrierMisuse::Count => "the thread count of a barrier is a multiple of 32, and not 0",
            BarrierMisuse::CountsDiffer => "another thread waits at this barrier with another count",
            BarrierMisuse::ArrivesTwice => "this thread came to the barrier before, and it is not complete",
            BarrierMisuse::Mixed => "another thread waits at this barrier with another kind of operation",
            BarrierMisuse::NotMember => "the executing thread is not in the mask of members",
            BarrierMisuse::Uninitialised => "there is no mbarrier object at this address",
            BarrierMisuse::Initialised => "an mbarrier object lives in these bytes already",
            BarrierMisuse::ObjectCount => "an mbarrier object expects from 1 to 1048575 arrivals",
            BarrierMisuse::Access => "these bytes belong to an mbarrier object, which only its own instructions access",
            BarrierMisuse::Arrivals => "more arrivals come to this mbarrier object than its phase expects",
            BarrierMisuse::Bytes => "the transaction count of this mbarrier object leaves its range of 1048575 bytes",
            BarrierMisuse::Unseen => {
                "an arrival comes to a phase before any thread has seen that the phase before it is complete"
            }
            BarrierMisuse::Completes => "an arrival with `.noComplete` completes the phase",
            BarrierMisuse::State => "this state is neither of the current phase nor of the one before it",
            BarrierMisuse::Parity => "the parity of a phase is 0 or 1",
            BarrierMisuse::Size => "a bulk copy has a multiple of 16 bytes",
            BarrierMisuse::Exited => "all threads of the block have exited whose shared memory this is",
            BarrierMisuse::NotRemote => {
                "it writes to the shared memory of another block of the cluster, and its mbarrier object is there, too"
            }
            BarrierMisuse::Rank => "the tensor map has another number of dimensions than the copy",
            BarrierMisuse::Abandoned => "a block exits although this copy still accesses its shared memory",
            BarrierMisuse::TensorColumns => {
                "tensor memory is allocated in columns, from 32 to 512 and a power of two, before the permit is given up, and freed likewise"
            }
            BarrierMisuse::TensorLanes => {
                "a warp accesses the quarter of the lanes of tensor memory that its number modulo 4 names"
            }
            BarrierMisuse::TensorLeft => "the block exits and has not freed this tensor memory",
            BarrierMisuse::WarpGroup => {
                "all warps of a warp group execute the same `setmaxnreg` and `wgmma` instructions"
            }
            BarrierMisuse::NotArrived => "this thread waits at the barrier of its cluster and has not come to it",
        }
    }
}

/// An access or assertion that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Who.
    pub place: Place,
    /// What.
    pub kind: FaultKind,
    /// The address, in its space.
    pub(crate) address: u64,
    /// The byte of dynamic shared memory that it would be, outside of what the launch has.
    pub(crate) dynamic: Option<u64>,
    /// Bytes.
    pub(crate) bytes: u32,
    /// What the registers of a failed annotation hold.
    pub(crate) values: Vec<u64>,
}

/// What can be wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Outside of every array.
    Bounds,
    /// Not a multiple of its size.
    Alignment,
    /// A write where none is allowed.
    ReadOnly,
    /// An assertion of the user.
    Assertion,
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// A thread, or all of them, executed as many instructions as allowed.
    Steps {
        /// Where it was.
        code: u32,
    },
    /// An instruction without a model.
    Refused {
        /// The instruction.
        code: u32,
        /// Why.
        reason: String,
    },
    /// `trap`
    Trap {
        /// The instruction.
        code: u32,
    },
    /// A requirement or assumption of the user does not hold: the execution is none that anything is said about.
    Excluded {
        /// The annotation.
        code: u32,
    },
    /// One of the defects above ended it.
    Defect,
}
