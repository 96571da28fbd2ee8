//! What is tried: a few threads, each with a straight line of operations on barriers, copies and bytes.
//!
//! Thread `i` of a protocol is the first lane of warp `i`; the other lanes exit. An operation is one PTX instruction, or a loop
//! around one that waits. With two blocks, which are a cluster, the first half of the threads is in the first one, the other lanes
//! come to barriers with it, and the objects of the second block are behind those of the first one.

/// Threads at most.
pub const THREADS: usize = 6;

/// Objects in shared memory at most.
pub const OBJECTS: usize = 4;

/// Named barriers are those with the numbers 1 to this one.
pub const NAMED: usize = 4;

/// Blocks at most.
pub const BLOCKS: usize = 2;

/// Objects of a block of a cluster.
pub const OBJECTS_OF_BLOCK: usize = OBJECTS / BLOCKS;

/// Bytes of each array.
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
    /// Blocks, of equally many threads: 1 or 2.
    pub blocks: usize,
}

impl Protocol {
    /// Threads of one block.
    pub fn new(threads: Vec<Vec<Operation>>, objects: Vec<Option<u32>>) -> Protocol {
        Protocol { threads, objects, blocks: 1 }
    }

    /// Threads of a cluster of two blocks.
    pub fn of_cluster(threads: Vec<Vec<Operation>>, objects: Vec<Option<u32>>) -> Protocol {
        Protocol { threads, objects, blocks: BLOCKS }
    }

    /// Threads of a block.
    pub fn threads_of_block(&self) -> usize {
        self.threads.len() / self.blocks
    }

    /// The block of a thread.
    pub fn block_of(&self, thread: usize) -> usize {
        thread / self.threads_of_block().max(1)
    }

    /// The block of an object.
    pub fn block_of_object(&self, object: usize) -> usize {
        if self.blocks == 1 { 0 } else { object / OBJECTS_OF_BLOCK }
    }

    /// What an operation of a thread reads (`false`) and writes (`true`); copies one behind the other.
    pub fn footprint(&self, thread: usize, operation: &Operation) -> Vec<(Range, bool)> {
        let shared = |block: usize, at: u32, bytes: u32| Range { space: Space::of_block(block), at, bytes };
        let own = self.block_of(thread);
        match *operation {
            Operation::Access { range, writes } | Operation::AccessIf { range, writes } => vec![(range, writes)],
            Operation::Copy { to, from, bytes } => {
                vec![(Range::global(from, bytes), false), (shared(own, to, bytes), true)]
            }
            Operation::BulkLoad { to, from, bytes, object } => {
                vec![(Range::global(from, bytes), false), (shared(self.block_of_object(object), to, bytes), true)]
            }
            Operation::Send { to, from, bytes, object } => {
                vec![(shared(own, from, bytes), false), (shared(self.block_of_object(object), to, bytes), true)]
            }
            Operation::Multicast { to, from, bytes, .. } => {
                let copy = |block| [(Range::global(from, bytes), false), (shared(block, to, bytes), true)];
                (0..self.blocks).flat_map(copy).collect()
            }
            Operation::BulkStore { to, from, bytes } => {
                vec![(shared(own, from, bytes), false), (Range::global(to, bytes), true)]
            }
            _ => Vec::new(),
        }
    }

    /// The objects that an operation names.
    pub fn objects_of(&self, operation: &Operation) -> Vec<usize> {
        match (operation.object(), operation) {
            (Some(object), Operation::Multicast { .. }) => {
                (0..self.blocks).map(|block| object % OBJECTS_OF_BLOCK + OBJECTS_OF_BLOCK * block).collect()
            }
            (object, _) => object.into_iter().collect(),
        }
    }

    /// The other blocks that an operation of a thread needs.
    pub fn needs(&self, thread: usize, operation: &Operation) -> Vec<usize> {
        let blocks = self.footprint(thread, operation).into_iter().filter_map(|(range, _)| range.space.block());
        let objects = self.objects_of(operation).into_iter().map(|object| self.block_of_object(object));
        blocks.chain(objects).filter(|block| *block != self.block_of(thread)).collect()
    }

    /// Operations that there are only for objects of the own block get one.
    pub fn keep_to_blocks(&mut self) {
        if self.blocks == 1 {
            return;
        }
        for thread in 0..self.threads.len() {
            let block = self.block_of(thread);
            let own = |object: &mut usize| *object = *object % OBJECTS_OF_BLOCK + OBJECTS_OF_BLOCK * block;
            for operation in &mut self.threads[thread] {
                match operation {
                    Operation::Touch { object, .. }
                    | Operation::Init { object, .. }
                    | Operation::Inval { object }
                    | Operation::Drop { object }
                    | Operation::WaitParity { object, .. }
                    | Operation::Peek { object, .. }
                    | Operation::WaitUnless { object, .. }
                    | Operation::WaitToken { object, .. }
                    | Operation::CopyArrive { object, .. } => own(object),
                    Operation::Send { object, .. } => {
                        *object = *object % OBJECTS_OF_BLOCK + OBJECTS_OF_BLOCK * (1 - block);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Where an operation stands: its thread, and its number among the thread's.
pub type Place = (usize, usize);

/// An array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// In shared memory of the first block.
    Shared,
    /// In shared memory of the second block.
    Peer,
    /// In global memory.
    Global,
}

impl Space {
    /// Shared memory of a block.
    pub fn of_block(block: usize) -> Space {
        if block == 0 { Space::Shared } else { Space::Peer }
    }

    /// The block whose shared memory it is.
    pub fn block(self) -> Option<usize> {
        match self {
            Space::Shared => Some(0),
            Space::Peer => Some(1),
            Space::Global => None,
        }
    }
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

    /// Whether some byte is in both.
    pub fn overlaps(self, other: Range) -> bool {
        self.space == other.space && self.at < other.at + other.bytes && other.at < self.at + self.bytes
    }
}

/// What `fence.proxy.async` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fenced {
    /// All memory.
    All,
    /// Shared memory of the own block.
    Shared,
    /// Global memory.
    Global,
}

/// What a thread does. Barriers and objects are given by number, counts of named barriers in warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// A weak load or store.
    Access { range: Range, writes: bool },
    /// A load or store of the first word of an object.
    Touch { object: usize, writes: bool },
    /// The same, if the last peek of the thread said `true`.
    AccessIf { range: Range, writes: bool },
    /// `barrier.cluster.arrive`
    ClusterArrive { release: bool },
    /// `barrier.cluster.wait`
    ClusterWait,
    /// `barrier.sync`
    Sync { id: usize, warps: u32 },
    /// `barrier.arrive`
    Arrive { id: usize, warps: u32 },
    /// `mbarrier.init`
    Init { object: usize, count: u32 },
    /// `mbarrier.inval`
    Inval { object: usize },
    /// `mbarrier.arrive`; with `expected` bytes `mbarrier.arrive.expect_tx`. The token is kept, one an object.
    ArriveOn { object: usize, release: bool, expected: Option<u32> },
    /// `mbarrier.arrive_drop`
    Drop { object: usize },
    /// `mbarrier.expect_tx`
    Expect { object: usize, bytes: u32 },
    /// `mbarrier.test_wait.parity` (or `try_wait`) until it is true.
    WaitParity { object: usize, parity: u32, acquire: bool, test: bool },
    /// `mbarrier.try_wait.parity` once.
    Peek { object: usize, parity: u32, acquire: bool },
    /// As `WaitParity`, unless the last peek of the thread said `true`.
    WaitUnless { object: usize, parity: u32, acquire: bool },
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
    /// `cp.async.bulk` from the own shared memory to that of the object's block.
    Send { to: u32, from: u32, bytes: u32, object: usize },
    /// `cp.async.bulk` from global to shared memory of all blocks, each with its object.
    Multicast { to: u32, from: u32, bytes: u32, object: usize },
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
            | Operation::Inval { object }
            | Operation::ArriveOn { object, .. }
            | Operation::Drop { object }
            | Operation::Expect { object, .. }
            | Operation::WaitParity { object, .. }
            | Operation::Peek { object, .. }
            | Operation::WaitUnless { object, .. }
            | Operation::WaitToken { object, .. }
            | Operation::CopyArrive { object, .. }
            | Operation::BulkLoad { object, .. }
            | Operation::Send { object, .. }
            | Operation::Multicast { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Whether it does not change the object that it names.
    pub fn only_reads_object(&self) -> bool {
        self.waits() || matches!(self, Operation::Peek { .. } | Operation::Touch { writes: false, .. })
    }

    /// Whether it waits for a phase of an object.
    pub fn waits(&self) -> bool {
        matches!(self, Operation::WaitParity { .. } | Operation::WaitUnless { .. } | Operation::WaitToken { .. })
    }

    /// Whether it makes or ends an object, or accesses its bytes.
    pub fn disturbs(&self) -> bool {
        matches!(self, Operation::Init { .. } | Operation::Inval { .. } | Operation::Touch { .. })
    }

    /// Whether copies of it tell objects of their bytes.
    pub fn brings_bytes(&self) -> bool {
        matches!(self, Operation::BulkLoad { .. } | Operation::Send { .. } | Operation::Multicast { .. })
    }

    /// Whether its accesses go through the asynchronous proxy.
    pub fn is_bulk(&self) -> bool {
        self.brings_bytes() || matches!(self, Operation::BulkStore { .. })
    }
}
