//! What is tried: a few threads, each with a straight line of operations on barriers, copies and bytes.
//!
//! Thread `i` of a protocol is the first lane of warp `i`; the other lanes exit. An operation is one PTX instruction, or a loop
//! around one that waits.

/// Threads at most.
pub const THREADS: usize = 6;

/// Objects in shared memory at most.
pub const OBJECTS: usize = 4;

/// Named barriers are those with the numbers 1 to this one.
pub const NAMED: usize = 4;

/// Bytes of each of the two arrays.
pub const BYTES: u32 = 64;

/// Bytes of a bulk copy, and of a slot.
pub const SLOT: u32 = 16;

/// A protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// What each thread does.
    pub threads: Vec<Vec<Operation>>,
    /// Expected arrivals of each object; `None`: nobody initialises it.
    pub objects: Vec<Option<u32>>,
}

/// Where an operation stands: its thread, and its number among the thread's.
pub type Place = (usize, usize);

/// An array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// In shared memory.
    Shared,
    /// In global memory.
    Global,
}

/// Some bytes of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// The array.
    pub space: Space,
    /// The first byte.
    pub at: u32,
    /// How many.
    pub bytes: u32,
}

impl Range {
    /// Bytes of shared memory.
    pub fn shared(at: u32, bytes: u32) -> Range {
        Range { space: Space::Shared, at, bytes }
    }

    /// Bytes of global memory.
    pub fn global(at: u32, bytes: u32) -> Range {
        Range { space: Space::Global, at, bytes }
    }

    /// One bit a byte: those of shared memory, then those of global memory.
    pub fn mask(self) -> u128 {
        let base = if self.space == Space::Shared { 0 } else { BYTES };
        ((1u128 << self.bytes) - 1) << (base + self.at)
    }
}

/// What `fence.proxy.async` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fenced {
    /// All memory.
    All,
    /// One array's space.
    Only(Space),
}

/// What a thread does. Barriers and objects are given by number, counts of named barriers in warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// A weak load or store.
    Access { range: Range, writes: bool },
    /// A load or store of the first word of an object.
    Touch { object: usize, writes: bool },
    /// `barrier.sync`
    Sync { id: usize, warps: u32 },
    /// `barrier.arrive`
    Arrive { id: usize, warps: u32 },
    /// `mbarrier.init`
    Init { object: usize, count: u32 },
    /// `mbarrier.arrive`; with `expected` bytes `mbarrier.arrive.expect_tx`. The token is kept, one an object.
    ArriveOn { object: usize, release: bool, expected: Option<u32> },
    /// `mbarrier.arrive_drop`
    Drop { object: usize },
    /// `mbarrier.expect_tx`
    Expect { object: usize, bytes: u32 },
    /// `mbarrier.test_wait.parity` (or `try_wait`) until it is true.
    WaitParity { object: usize, parity: u32, acquire: bool, test: bool },
    /// `mbarrier.try_wait` by the kept token until it is true.
    WaitToken { object: usize, acquire: bool },
    /// `cp.async` from global to shared memory.
    Copy { to: u32, from: u32, bytes: u32 },
    /// `cp.async.commit_group`
    Commit,
    /// `cp.async.wait_group`; `None`: `cp.async.wait_all`.
    WaitGroup { pending: Option<u32> },
    /// `cp.async.mbarrier.arrive`
    CopyArrive { object: usize, noinc: bool },
    /// `cp.async.bulk` from global to shared memory.
    BulkLoad { to: u32, from: u32, bytes: u32, object: usize },
    /// `cp.async.bulk` from shared to global memory.
    BulkStore { to: u32, from: u32, bytes: u32 },
    /// `cp.async.bulk.commit_group`
    BulkCommit,
    /// `cp.async.bulk.wait_group`
    BulkWait { pending: u32, read: bool },
    /// `fence.proxy.async`
    Fence(Fenced),
}

impl Operation {
    /// A load.
    pub fn read(range: Range) -> Operation {
        Operation::Access { range, writes: false }
    }

    /// A store.
    pub fn write(range: Range) -> Operation {
        Operation::Access { range, writes: true }
    }

    /// `mbarrier.arrive.release`
    pub fn arrive_on(object: usize) -> Operation {
        Operation::ArriveOn { object, release: true, expected: None }
    }

    /// `mbarrier.arrive.expect_tx.release`
    pub fn arrive_expecting(object: usize, bytes: u32) -> Operation {
        Operation::ArriveOn { object, release: true, expected: Some(bytes) }
    }

    /// A wait that acquires.
    pub fn wait(object: usize, parity: u32) -> Operation {
        Operation::WaitParity { object, parity, acquire: true, test: false }
    }

    /// The object in shared memory that it names.
    pub fn object(&self) -> Option<usize> {
        match *self {
            Operation::Touch { object, .. }
            | Operation::Init { object, .. }
            | Operation::ArriveOn { object, .. }
            | Operation::Drop { object }
            | Operation::Expect { object, .. }
            | Operation::WaitParity { object, .. }
            | Operation::WaitToken { object, .. }
            | Operation::CopyArrive { object, .. }
            | Operation::BulkLoad { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Whether it does not change the object that it names.
    pub fn only_reads_object(&self) -> bool {
        matches!(
            self,
            Operation::WaitParity { .. } | Operation::WaitToken { .. } | Operation::Touch { writes: false, .. }
        )
    }

    /// What it reads, and what it writes.
    pub fn footprint(&self) -> (Option<Range>, Option<Range>) {
        match *self {
            Operation::Access { range, writes: false } => (Some(range), None),
            Operation::Access { range, writes: true } => (None, Some(range)),
            Operation::Copy { to, from, bytes } | Operation::BulkLoad { to, from, bytes, .. } => {
                (Some(Range::global(from, bytes)), Some(Range::shared(to, bytes)))
            }
            Operation::BulkStore { to, from, bytes } => {
                (Some(Range::shared(from, bytes)), Some(Range::global(to, bytes)))
            }
            _ => (None, None),
        }
    }

    /// Whether its accesses go through the asynchronous proxy.
    pub fn is_bulk(&self) -> bool {
        matches!(self, Operation::BulkLoad { .. } | Operation::BulkStore { .. })
    }
}
