//! What the threads of a block do to each other, and why that is not known.

use std::fmt;

/// What one thread does to shared memory, barriers or other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Instruction.
    pub(super) code: u32,
    pub(super) action: Action,
}

/// Places are offsets in the shared memory of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Access {
        at: u32,
        bytes: u32,
        writes: bool,
    },
    /// `bar`, `barrier`
    Barrier {
        id: u32,
        count: Option<u32>,
        arrives: bool,
        aligned: bool,
    },
    /// `bar.warp.sync`, or another operation of a warp with a mask, which orders nothing.
    Warp {
        members: u32,
        orders: bool,
    },
    /// `mbarrier.init`
    Initialise {
        at: u32,
        count: u32,
    },
    /// `mbarrier.arrive`, with bytes that it announces.
    Arrive {
        at: u32,
        count: u32,
        bytes: u32,
    },
    /// A wait until the phase with this parity is complete.
    Wait {
        at: u32,
        parity: u32,
    },
    /// A bulk copy into shared memory that tells an object.
    Copy {
        to: u32,
        bytes: u32,
        object: u32,
    },
    /// `fence.proxy.async`
    ProxyFence,
    /// `wgmma.mma_async`
    Product {
        a: Option<Tile>,
        b: Tile,
    },
    /// `wgmma.commit_group`
    ProductCommit,
    /// `wgmma.wait_group`, for all but so many groups.
    ProductWait {
        pending: u32,
    },
    /// What a warp group executes together and that does nothing here: `setmaxnreg`.
    Together,
}

/// A matrix in shared memory that a product reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tile {
    /// Its descriptor, where the decoder placed shared memory.
    pub(super) descriptor: u64,
    /// Rows, or columns of the second matrix.
    pub(super) rows: u32,
    /// Whether it lies along them.
    pub(super) is_transposed: bool,
}

/// A part of what a thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Once(Vec<Event>),
    /// Once in each round.
    Rounds(Vec<Event>),
}

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Instruction.
    pub(crate) code: u32,
    pub(crate) why: Why,
}

/// What is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// What a thread does is not a function of its number and the number of rounds.
    Control,
    /// The same, where it is a term.
    Condition(u32),
    Address,
    Aligned,
    Barrier,
    Instruction,
    /// What copies know of a tensor.
    TensorMap,
    /// The wait does something else where its phase is not complete.
    Spin,
    Steps,
    /// A loop with barriers beside another one.
    Loops,
    /// What is copied may be written.
    Source,
    /// Obligations.
    Race {
        other: u32,
    },
    Proxy {
        other: u32,
    },
    Reused,
    TooMany,
    NotInitialised,
    InitialisedTwice,
    Bytes,
    Overtaken,
    Count,
    Exited,
    Warp,
    WarpGroup,
    Stuck,
    Underway,
    Object,
    /// Rounds do not repeat.
    Drift,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Control | Why::Condition(_) => "what decides here is no function of the thread and of one trip count",
            Why::Address => "where this accesses shared memory is not the same in each turn of the ring",
            Why::Aligned => "this address is no multiple of what the operation needs, or need not be",
            Why::Barrier => "what this does to a barrier is not the same in each turn of the ring",
            Why::Instruction => "this has no model in the proof for every trip count",
            Why::TensorMap => "what its tensor map says is not known (`--tensor`), or boxes of it are not copied whole",
            Why::Spin => "where its phase is not complete, something else happens than another try",
            Why::Steps => "a thread executes more instructions than are followed",
            Why::Loops => "threads have several loops with barriers, or different numbers of rounds",
            Why::Source => "the array that it reads may be written",
            Why::Race { .. } => "no chain of barriers orders this after another access of the same bytes",
            Why::Proxy { .. } => "no `fence.proxy.async` is between this and an earlier access of the same bytes",
            Why::Reused => "a phase is reused: who arrives here need not know that the phase before is complete",
            Why::TooMany => "more arrivals come to a phase than it expects",
            Why::NotInitialised => "whoever executes this need not know of an initialisation of the object",
            Why::InitialisedTwice => "the object is initialised again",
            Why::Bytes => "bytes of a phase go out of range",
            Why::Overtaken => "a wait may be overtaken: its phase and the next one may be over before it looks",
            Why::Count => "threads come to a barrier with counts that differ, or that no whole warps fill",
            Why::Exited => "a thread has exited that a barrier or an operation of its warp waits for",
            Why::Warp => "lanes of a warp come to different barriers",
            Why::WarpGroup => "threads of a warp group execute different products, or it has fewer than 128 threads",
            Why::Stuck => "a thread waits here for what never comes",
            Why::Underway => "a copy may be under way when all threads have exited",
            Why::Object => "the bytes of a barrier object are accessed by something else",
            Why::Drift => "threads do not come back to the same state after some turns of the ring",
        })
    }
}
