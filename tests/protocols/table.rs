//! What of a protocol does not depend on the schedule: its accesses, which of them conflict, and what each wait for copies
//! tells its thread.

use crate::protocol::{Operation, Place, Protocol, Range, Space};

/// A set of accesses, one bit each.
pub type Accesses = u64;

/// What an operation does to memory and to copies, whatever the schedule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Its accesses.
    pub accesses: Accesses,
    /// Accesses of copies that it waits for, and those whose completion its own agent reports.
    pub complete: Accesses,
    /// The number of its agent, if that comes to an object.
    pub agent: Option<usize>,
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
    /// Accesses to shared memory.
    pub shared: Accesses,
    /// By agent: where its operation is.
    pub agents: Vec<Place>,
}

impl Table {
    /// The facts of a protocol; `None` if it has more accesses than a set has bits.
    pub fn of(protocol: &Protocol) -> Option<Table> {
        let mut table = Table::default();
        let mut ranges: Vec<Footprint> = Vec::new();
        let disturbs = |operation: &Operation| matches!(operation, Operation::Init { .. } | Operation::Touch { .. });
        let is_disturbed = |object: usize| {
            protocol.threads.iter().flatten().any(|other| disturbs(other) && other.object() == Some(object))
        };
        for (thread, operations) in protocol.threads.iter().enumerate() {
            let mut copies = Groups::default();
            let mut stores = Groups::default();
            let (mut facts, mut done) = (Vec::new(), vec![0]);
            for (number, operation) in operations.iter().enumerate() {
                let (reads, writes) = operation.footprint();
                let disturbs = disturbs(operation);
                let mut add = |range: Option<Range>, object: Option<usize>, writes: bool| {
                    if range.is_none() && object.is_none() {
                        return 0;
                    }
                    let access = 1u64.checked_shl(ranges.len() as u32).unwrap_or(0);
                    table.shared |= if range.is_some_and(|range| range.space == Space::Shared) { access } else { 0 };
                    let object = object.map_or(0, |object| 1 << object);
                    ranges.push(Footprint { bytes: range.map_or(0, Range::mask), object, writes, disturbs });
                    table.places.push((thread, number));
                    access
                };
                let (read, written) = (add(reads, None, false), add(writes, None, true));
                let object = operation.object().filter(|object| is_disturbed(*object) && !operation.is_bulk());
                let at_object = add(None, object, !operation.only_reads_object());
                let mut fact = Facts { accesses: read | written | at_object, ..Facts::default() };
                match *operation {
                    Operation::Copy { .. } => copies.open.add(read, written),
                    Operation::Commit => copies.commit(),
                    Operation::WaitGroup { pending: Some(pending) } => fact.complete = copies.complete(pending).both(),
                    Operation::WaitGroup { pending: None } => {
                        copies.commit();
                        fact.complete = copies.complete(0).both();
                    }
                    Operation::CopyArrive { .. } => fact.complete = copies.all().both(),
                    Operation::BulkStore { .. } => stores.open.add(read, written),
                    Operation::BulkCommit => stores.commit(),
                    Operation::BulkWait { pending, read: true } => fact.complete = stores.complete(pending).reads,
                    Operation::BulkWait { pending, read: false } => fact.complete = stores.complete(pending).both(),
                    Operation::BulkLoad { .. } => fact.complete = fact.accesses,
                    _ => {}
                }
                if matches!(operation, Operation::CopyArrive { .. } | Operation::BulkLoad { .. }) {
                    fact.agent = Some(table.agents.len());
                    table.agents.push((thread, number));
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
                let overlaps = a.bytes & b.bytes != 0 || a.object & b.object != 0 && (a.disturbs || b.disturbs);
                u64::from(other != number && overlaps && (a.writes || b.writes)) << other
            };
            let conflicts = footprints.iter().enumerate().map(meets).fold(0, |all, other| all | other);
            self.conflicts.push(conflicts);
        }
    }
}

/// The bytes of an access.
struct Footprint {
    /// As [`Range::mask`].
    bytes: u128,
    /// Objects, one bit each.
    object: u8,
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
