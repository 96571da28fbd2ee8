//! What of a protocol does not depend on the schedule: its accesses, which of them conflict, and what each wait for copies
//! tells its thread.

use super::protocol::{BLOCKS, Operation, Place, Protocol, Range};

/// A set of accesses, one bit each.
pub type Accesses = u64;

/// What an operation does to memory and to copies, whatever the schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Its accesses.
    pub accesses: Accesses,
    /// Accesses of copies that it waits for.
    pub complete: Accesses,
    /// Its agents that come to objects, one bit each.
    pub agents: u64,
}

/// What comes to an object from beside the threads.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// Whose it is.
    pub place: Place,
    /// Where it comes.
    pub object: usize,
    /// Accesses that are complete then.
    pub complete: Accesses,
    /// Bytes that it brings; `None`: it is an arrival.
    pub bytes: Option<u32>,
}

/// Facts about a protocol.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// By thread and operation.
    pub facts: Vec<Vec<Facts>>,
    /// By thread: accesses of the first so many operations.
    pub done: Vec<Vec<Accesses>>,
    /// By access: where it is.
    pub places: Vec<Place>,
    /// By access: the others that conflict with it.
    pub conflicts: Vec<Accesses>,
    /// Accesses through the asynchronous proxy.
    pub bulk: Accesses,
    /// By block: accesses to its shared memory.
    pub shared: [Accesses; BLOCKS],
    /// Agents.
    pub agents: Vec<Agent>,
}

impl Table {
    /// The facts of a protocol; `None` if it has more accesses than a set has bits.
    pub fn of(protocol: &Protocol) -> Option<Table> {
        let mut table = Table::default();
        let mut ranges: Vec<Footprint> = Vec::new();
        let is_disturbed = |object: usize| {
            protocol.threads.iter().flatten().any(|other| other.disturbs() && other.object() == Some(object))
        };
        for (thread, operations) in protocol.threads.iter().enumerate() {
            let mut copies = Groups::default();
            let mut stores = Groups::default();
            let (mut facts, mut done) = (Vec::new(), vec![0]);
            for (number, operation) in operations.iter().enumerate() {
                let disturbs = operation.disturbs();
                let mut add = |range: Option<Range>, object: Option<usize>, writes: bool| {
                    let access = 1u64.checked_shl(ranges.len() as u32).unwrap_or(0);
                    if let Some(block) = range.and_then(|range| range.space.block()) {
                        table.shared[block] |= access;
                    }
                    ranges.push(Footprint { range, object, writes, disturbs });
                    table.places.push((thread, number));
                    access
                };
                let footprint = protocol.footprint(thread, operation);
                let bits: Vec<Accesses> =
                    footprint.iter().map(|(range, writes)| add(Some(*range), None, *writes)).collect();
                let of_kind = |writes: bool| {
                    let chosen = footprint.iter().zip(&bits).filter(|((_, other), _)| *other == writes);
                    chosen.fold(0, |all, (_, access)| all | access)
                };
                let (read, written) = (of_kind(false), of_kind(true));
                let object = operation.object().filter(|object| is_disturbed(*object) && !operation.is_bulk());
                let at_object = object.map_or(0, |object| add(None, Some(object), !operation.only_reads_object()));
                let mut fact = Facts { accesses: read | written | at_object, ..Facts::default() };
                let mut agents = Vec::new();
                match *operation {
                    Operation::Copy { .. } => copies.open.add(read, written),
                    Operation::Commit => copies.commit(),
                    Operation::WaitGroup { pending: Some(pending) } => fact.complete = copies.complete(pending).both(),
                    Operation::WaitGroup { pending: None } => {
                        copies.commit();
                        fact.complete = copies.complete(0).both();
                    }
                    Operation::CopyArrive { object, .. } => agents.push((object, copies.all().both(), None)),
                    Operation::BulkStore { .. } => stores.open.add(read, written),
                    Operation::BulkCommit => stores.commit(),
                    Operation::BulkWait { pending, read: true } => fact.complete = stores.complete(pending).reads,
                    Operation::BulkWait { pending, read: false } => fact.complete = stores.complete(pending).both(),
                    Operation::BulkLoad { bytes, .. }
                    | Operation::Send { bytes, .. }
                    | Operation::Multicast { bytes, .. } => {
                        let copies = protocol.objects_of(operation).into_iter().zip(bits.chunks(2));
                        agents.extend(copies.map(|(object, bits)| (object, bits[0] | bits[1], Some(bytes))));
                    }
                    _ => {}
                }
                for (object, complete, bytes) in agents {
                    fact.agents |= 1u64.checked_shl(table.agents.len() as u32).unwrap_or(0);
                    table.agents.push(Agent { place: (thread, number), object, complete, bytes });
                }
                if operation.is_bulk() {
                    table.bulk |= fact.accesses;
                }
                done.push(done[number] | fact.accesses);
                facts.push(fact);
            }
            table.facts.push(facts);
            table.done.push(done);
        }
        if ranges.len() > 64 {
            return None;
        }
        table.compare(&ranges);
        Some(table)
    }

    fn compare(&mut self, footprints: &[Footprint]) {
        for (number, a) in footprints.iter().enumerate() {
            let meets = |(other, b): (usize, &Footprint)| {
                let overlaps = match (a.range, b.range) {
                    (Some(a), Some(b)) => a.overlaps(b),
                    (None, None) => a.object == b.object && (a.disturbs || b.disturbs),
                    _ => false,
                };
                u64::from(other != number && overlaps && (a.writes || b.writes)) << other
            };
            let conflicts = footprints.iter().enumerate().map(meets).fold(0, |all, other| all | other);
            self.conflicts.push(conflicts);
        }
    }
}

/// The bytes of an access.
struct Footprint {
    /// Those of an array.
    range: Option<Range>,
    /// Those of an object.
    object: Option<usize>,
    writes: bool,
    /// Whether it is none of the operations on objects that may come at the same time.
    disturbs: bool,
}

/// Accesses of some copies.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    reads: Accesses,
    writes: Accesses,
}

impl Group {
    fn add(&mut self, read: Accesses, written: Accesses) {
        self.reads |= read;
        self.writes |= written;
    }

    fn both(self) -> Accesses {
        self.reads | self.writes
    }
}

/// The groups of copies of a thread.
#[derive(Clone, Debug, Default)]
struct Groups {
    open: Group,
    committed: Vec<Group>,
}

impl Groups {
    fn commit(&mut self) {
        self.committed.push(std::mem::take(&mut self.open));
    }

    /// All but so many of the newest groups.
    fn complete(&self, pending: u32) -> Group {
        let count = self.committed.len().saturating_sub(pending as usize);
        sum(&self.committed[..count])
    }

    /// All copies, committed or not.
    fn all(&self) -> Group {
        let mut all = sum(&self.committed);
        all.add(self.open.reads, self.open.writes);
        all
    }
}

fn sum(groups: &[Group]) -> Group {
    groups.iter().fold(Group::default(), |mut sum, group| {
        sum.add(group.reads, group.writes);
        sum
    })
}
