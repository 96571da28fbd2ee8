//! A state between two steps of the oracle: barriers of both kinds, and what is known.

use super::protocol::{BLOCKS, NAMED, OBJECTS, THREADS};
use super::table::Accesses;

/// The largest number of bytes, and of arrivals, that an object counts.
const MOST: i64 = (1 << 20) - 1;

/// A thread has not arrived.
pub const NO_TOKEN: u8 = u8::MAX;

/// Why a schedule ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A barrier is used against its rules.
    Error,
    /// The ISA leaves open what comes next.
    Open,
}

/// Accesses that are before what comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Known {
    /// To the proxy that did them, and from the asynchronous to the generic one.
    pub all: Accesses,
    /// To the asynchronous proxy, too.
    pub fenced: Accesses,
}

impl Known {
    /// Learns what another knows.
    pub fn join(&mut self, other: Known) {
        self.all |= other.all;
        self.fenced |= other.fenced;
    }
}

/// A named barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Named {
    /// Warps that it waits for.
    pub warps: u8,
    /// Those that came, one bit each.
    pub came: u8,
    /// Those of them that wait.
    pub waits: u8,
    /// What those that came knew.
    pub known: Known,
}

/// The barrier of the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClusterBarrier {
    /// Generations that are complete.
    generation: u8,
    /// Threads that came to the open one, one bit each.
    came: u8,
    /// By thread: the generation to which it has come, from 1, until it has waited.
    owes: [u8; THREADS],
    /// What those that came knew.
    known: Known,
    /// What those of the last complete generation knew.
    complete: Known,
}

/// Whether an object is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Life {
    Before,
    Live,
    After,
}

/// An mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    life: Life,
    /// Phases that are complete.
    pub completed: u8,
    /// Arrivals that are missing.
    pub pending: u32,
    /// Arrivals of the next phase.
    expected: u32,
    /// Bytes that are missing.
    bytes: i64,
    /// Whether somebody saw that the last phase is complete.
    is_observed: bool,
    /// What arrivals of this phase knew.
    current: Known,
    /// What those of complete phases knew.
    complete: Known,
}

impl Object {
    fn new(count: Option<u32>) -> Object {
        let known = Known::default();
        let count_or_none = count.unwrap_or(0);
        Object {
            life: if count.is_some() { Life::Live } else { Life::Before },
            completed: 0,
            pending: count_or_none,
            expected: count_or_none,
            bytes: 0,
            is_observed: true,
            current: known,
            complete: known,
        }
    }

    /// The object, if it was initialised.
    pub fn live(&mut self) -> Result<&mut Object, Wrong> {
        if self.life == Life::Live { Ok(self) } else { Err(Wrong::Error) }
    }

    /// Its bytes are no object now; what races with the first initialisation, or with accesses to bytes that are no object yet,
    /// is not asked.
    pub fn ended(&mut self) -> Result<&mut Object, Wrong> {
        match self.life {
            Life::Live => Err(Wrong::Error),
            Life::Before => Err(Wrong::Open),
            Life::After => Ok(self),
        }
    }

    /// `mbarrier.init`
    pub fn begin(&mut self, count: u32) -> Result<(), Wrong> {
        *self.ended()? = Object::new(Some(count));
        Ok(())
    }

    /// `mbarrier.inval`
    pub fn end(&mut self) -> Result<(), Wrong> {
        self.live()?.life = Life::After;
        Ok(())
    }

    /// Expects more bytes in this phase.
    pub fn expect(&mut self, bytes: u32) -> Result<(), Wrong> {
        self.bytes += i64::from(bytes);
        if self.bytes > MOST { Err(Wrong::Error) } else { Ok(()) }
    }

    /// One arrival.
    pub fn arrive(&mut self, known: Known) -> Result<(), Wrong> {
        if self.pending == 0 || !self.is_observed {
            return Err(Wrong::Error);
        }
        self.pending -= 1;
        self.current.join(known);
        self.complete();
        Ok(())
    }

    /// An arrival after which the phases to come expect one less.
    pub fn drop_out(&mut self, known: Known) -> Result<(), Wrong> {
        self.expected -= 1;
        self.arrive(known)?;
        // An object that expects nobody has no meaning.
        if self.expected == 0 { Err(Wrong::Open) } else { Ok(()) }
    }

    /// A copy reports its bytes.
    pub fn finish_bytes(&mut self, bytes: u32, known: Known) -> Result<(), Wrong> {
        self.bytes -= i64::from(bytes);
        if self.bytes < -MOST {
            return Err(Wrong::Error);
        }
        self.current.join(known);
        self.complete();
        Ok(())
    }

    /// The next phase begins if nothing is missing.
    pub fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.completed += 1;
            self.pending = self.expected;
            self.is_observed = false;
            self.complete.join(std::mem::take(&mut self.current));
        }
    }

    /// A wait for the last phase succeeds; what it may learn.
    pub fn observe(&mut self) -> Known {
        self.is_observed = true;
        self.complete
    }
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// By thread: its next operation.
    positions: [u8; THREADS],
    /// What each thread knows.
    pub known: [Known; THREADS],
    /// By thread and object: the phase of its last arrival.
    pub tokens: [[u8; OBJECTS]; THREADS],
    /// Named barriers, from number 1.
    pub named: [Named; NAMED * BLOCKS],
    /// The barrier of the cluster.
    cluster: ClusterBarrier,
    /// Threads whose last peek said `true`, one bit each.
    pub seen: u8,
    /// Threads of a cluster that have exited, one bit each.
    exited: u8,
    /// Accesses that were left out.
    pub skipped: Accesses,
    /// Agents that are under way to an object that was ended since, one bit each.
    pub late: u64,
    /// Objects.
    pub objects: [Object; OBJECTS],
    /// Agents that have not come to their object, one bit each.
    pub underway: u64,
}

impl State {
    /// Before the first operation.
    pub fn new(counts: &[Option<u32>]) -> State {
        State {
            positions: [0; THREADS],
            known: [Known::default(); THREADS],
            tokens: [[NO_TOKEN; OBJECTS]; THREADS],
            named: [Named::default(); NAMED * BLOCKS],
            cluster: ClusterBarrier::default(),
            seen: 0,
            exited: 0,
            skipped: 0,
            late: 0,
            objects: std::array::from_fn(|object| Object::new(counts.get(object).copied().flatten())),
            underway: 0,
        }
    }

    /// The number of a thread's next operation.
    pub fn at(&self, thread: usize) -> usize {
        usize::from(self.positions[thread])
    }

    /// A thread goes on.
    pub fn pass(&mut self, thread: usize) {
        self.positions[thread] += 1;
    }

    /// Whether a thread waits at a named barrier.
    pub fn is_waiting(&self, thread: usize) -> bool {
        self.named.iter().any(|barrier| barrier.waits >> thread & 1 == 1)
    }

    /// Agents set out, one bit each.
    pub fn start(&mut self, agents: u64) {
        self.underway |= agents;
    }

    /// Whether all these threads, one bit each, have exited.
    pub fn have_exited(&self, threads: u8) -> bool {
        threads & !self.exited == 0
    }

    /// A thread exits. `all`: those of the cluster.
    pub fn exit(&mut self, thread: usize, all: u8) {
        self.exited |= 1 << thread;
        self.complete_cluster(all);
    }

    /// A thread comes to the barrier of the cluster.
    pub fn arrive_at_cluster(&mut self, thread: usize, release: bool, all: u8) -> Result<(), Wrong> {
        let cluster = &mut self.cluster;
        if cluster.owes[thread] > 0 {
            return Err(Wrong::Error);
        }
        cluster.owes[thread] = cluster.generation + 1;
        cluster.came |= 1 << thread;
        if release {
            cluster.known.join(self.known[thread]);
        }
        self.complete_cluster(all);
        Ok(())
    }

    /// A thread waits for the generation to which it has come; false if that is not complete.
    pub fn wait_for_cluster(&mut self, thread: usize) -> Result<bool, Wrong> {
        let cluster = &mut self.cluster;
        match cluster.owes[thread] {
            0 => Err(Wrong::Error),
            owed if owed > cluster.generation => Ok(false),
            _ => {
                cluster.owes[thread] = 0;
                self.known[thread].join(cluster.complete);
                Ok(true)
            }
        }
    }

    /// A generation ends when all threads have come that have not exited.
    fn complete_cluster(&mut self, all: u8) {
        let cluster = &mut self.cluster;
        if cluster.came != 0 && all & !self.exited & !cluster.came == 0 {
            cluster.generation += 1;
            cluster.came = 0;
            cluster.complete = std::mem::take(&mut cluster.known);
        }
    }
}
