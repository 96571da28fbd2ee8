//! Finds conflicting accesses, and barriers that not all threads meet, in the traces of threads.
//!
//! Input: traces of some threads of a launch. Output: pairs of accesses that race, each pair of
//! instructions once; pairs of threads that part at a barrier. Establishes: the accesses of a pair are
//! done by two threads, touch a common byte, at least one writes, they are not morally strong, and
//! some schedule has both threads just before them: no thread among those given stays away from a
//! barrier that comes before. Relies on: [`super::thread`]. Reference: PTX
//! memory model, "data race", "morally strong"; `bar.sync`, `bar.warp.sync`.

use super::ThreadIds;
use super::barriers::{ReachedHistories, reached_histories};
use super::compiled::{AccessSite, Compiled};
use super::thread::{Event, Histories, Trace};
use crate::finding::AccessKind;
use crate::ivl::ast::ArraySpace;
use crate::order::Scope;
use std::collections::BTreeMap;

/// A thread with its trace.
pub struct Traced {
    /// Its indices.
    pub ids: ThreadIds,
    /// What it does.
    pub trace: Trace,
}

/// What the rules need to know beside the traces.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Threads of a block along x and y, where known: they decide who shares a warp.
    pub block: [Option<u32>; 2],
    /// Two weak writes of equal values do not race.
    pub allow_same_value: bool,
    /// Barriers do not wait for threads that have exited.
    pub exited_ok: bool,
    /// Pairs of instructions to find.
    pub limit: usize,
}

/// Two racing accesses.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    /// Index of the thread, and its access.
    pub first: (usize, Event),
    /// Likewise, with another thread.
    pub second: (usize, Event),
    /// The first byte that both touch.
    pub byte: i64,
}

/// Overlapping accesses that one access is compared with; more of them are different sites at one
/// place, of which a few suffice.
const WORK_PER_ACCESS: usize = 256;

/// All races, one for each pair of instructions, in the order of the text.
pub fn find_races(kernel: &Compiled, threads: &[Traced], histories: &Histories, rules: &Rules) -> Vec<Conflict> {
    let mut written = vec![false; kernel.arrays.len()];
    for site in kernel.accesses.iter().filter(|site| site.kind != AccessKind::Read) {
        written[site.array] = true;
    }
    let reached = reached_histories(kernel, threads, histories, rules.exited_ok);
    let finder = Finder { kernel, threads, reached, rules };
    let mut found = Found::new();
    finder.same_block(&written, &mut found);
    finder.different_blocks(&written, &mut found);
    found.into_values().collect()
}

/// Races by the two instructions, which their first sites stand for.
type Found = BTreeMap<(u32, u32), Conflict>;

struct Finder<'t, 'k, 'a> {
    kernel: &'k Compiled<'a>,
    threads: &'t [Traced],
    /// What comes after a barrier that some thread stays away from does not happen.
    reached: ReachedHistories,
    rules: &'t Rules,
}

/// An access of a thread, by its index, sorted so that accesses that may meet stand together.
type Entry = (usize, Event);

impl Finder<'_, '_, '_> {
    fn site(&self, event: &Event) -> &AccessSite {
        &self.kernel.accesses[event.site as usize]
    }

    /// The value stored, where it matters.
    fn value(&self, event: &Event) -> Option<u128> {
        event.value.filter(|_| self.rules.allow_same_value)
    }

    /// Accesses to arrays that satisfy `wanted`.
    fn entries(&self, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
        let events = self.threads.iter().enumerate().flat_map(|(n, t)| t.trace.events.iter().map(move |e| (n, *e)));
        let happens = |n: usize, e: &Event| self.reached.contains(&(self.threads[n].ids.ctaid, e.history));
        events.filter(|(n, event)| wanted(self.site(event).array) && happens(*n, event)).collect()
    }

    fn same_block(&self, written: &[bool], found: &mut Found) {
        let mut entries = self.entries(|array| written[array]);
        let group = |e: &Entry| (self.site(&e.1).array, self.threads[e.0].ids.ctaid, e.1.history);
        let alike = |e: &Entry| (group(e), e.1.offset, e.1.site, e.1.warp_history, self.value(&e.1));
        entries.sort_by_key(|e| (alike(e), e.0));
        let kept = keep_two(&entries, alike, |e| e.0);
        for group in kept.chunk_by(|a, b| group(a) == group(b)) {
            self.sweep(group, true, found);
        }
    }

    fn different_blocks(&self, written: &[bool], found: &mut Found) {
        let arrays = self.kernel.arrays;
        let mut entries = self.entries(|array| written[array] && arrays[array].space == ArraySpace::Global);
        let group = |e: &Entry| self.site(&e.1).array;
        let block = |e: &Entry| self.threads[e.0].ids.ctaid;
        let alike = |e: &Entry| (group(e), e.1.offset, e.1.site, self.value(&e.1));
        entries.sort_by_key(|e| (alike(e), block(e), e.0));
        let kept = keep_two(&entries, alike, block);
        for group in kept.chunk_by(|a, b| group(a) == group(b)) {
            self.sweep(group, false, found);
        }
    }

    /// Compares the accesses of a group sorted by offset.
    fn sweep(&self, group: &[Entry], same_block: bool, found: &mut Found) {
        for (number, first) in group.iter().enumerate() {
            let end = first.1.offset + i64::from(self.site(&first.1).bytes);
            let others = group[number + 1..].iter().take_while(|second| second.1.offset < end);
            for second in others.take(WORK_PER_ACCESS) {
                if self.races(first, second, same_block) {
                    self.record(*first, *second, found);
                }
            }
        }
    }

    fn record(&self, a: Entry, b: Entry, found: &mut Found) {
        let instruction = |e: &Entry| self.site(&e.1).instruction;
        let (first, second) = if a.0 < b.0 { (a, b) } else { (b, a) };
        let (p, q) = (instruction(&first), instruction(&second));
        let key = (p.min(q), p.max(q));
        if found.len() < self.rules.limit || found.contains_key(&key) {
            let byte = first.1.offset.max(second.1.offset);
            found.entry(key).or_insert(Conflict { first, second, byte });
        }
    }

    /// Whether two accesses that overlap race.
    fn races(&self, a: &Entry, b: &Entry, same_block: bool) -> bool {
        let (p, q) = (self.site(&a.1), self.site(&b.1));
        let (s, t) = (&self.threads[a.0].ids, &self.threads[b.0].ids);
        let two_threads = if same_block { s.tid != t.tid } else { s.ctaid != t.ctaid };
        two_threads
            && (p.kind != AccessKind::Read || q.kind != AccessKind::Read)
            && !morally_strong(p, &a.1, q, &b.1, same_block)
            && !(same_block && self.are_ordered_in_a_warp(a, b) && self.may_share_warp(s, t))
            && !(self.rules.allow_same_value && may_write_the_same(p, &a.1, q, &b.1))
    }

    /// Whether two accesses may be ordered, or done by one thread, if the threads that ask for them share a warp.
    fn are_ordered_in_a_warp(&self, a: &Entry, b: &Entry) -> bool {
        a.1.warp_history != b.1.warp_history || self.site(&a.1).collective || self.site(&b.1).collective
    }

    /// Warps are the groups of 32 threads by linear index, x first.
    fn may_share_warp(&self, s: &ThreadIds, t: &ThreadIds) -> bool {
        let [Some(x), Some(y)] = self.rules.block else { return true };
        let warp = |ids: &ThreadIds| {
            let [tx, ty, tz] = ids.tid.map(u64::from);
            (tx + u64::from(x) * (ty + u64::from(y) * tz)) / 32
        };
        warp(s) == warp(t)
    }
}

/// Of the entries that are alike (adjacent), those of the first two owners: two suffice for every
/// conflict with others and among themselves.
fn keep_two<K: PartialEq, O: PartialEq>(
    entries: &[Entry],
    alike: impl Fn(&Entry) -> K,
    owner: impl Fn(&Entry) -> O,
) -> Vec<Entry> {
    let mut kept = Vec::new();
    for run in entries.chunk_by(|a, b| alike(a) == alike(b)) {
        kept.push(run[0]);
        kept.extend(run.iter().find(|other| owner(other) != owner(&run[0])));
    }
    kept
}

/// Both strong, in each other's scope, and at the same place with the same width. Blocks may be of one
/// cluster or not, so two accesses of cluster scope count as strong here: no race is surely there.
fn morally_strong(p: &AccessSite, a: &Event, q: &AccessSite, b: &Event, same_block: bool) -> bool {
    let reaches = |scope: Option<Scope>| scope.is_some_and(|scope| same_block || scope >= Scope::Cluster);
    reaches(p.strong) && reaches(q.strong) && a.offset == b.offset && p.bytes == q.bytes
}

/// Two plain writes whose values are not surely different on some common byte.
fn may_write_the_same(p: &AccessSite, a: &Event, q: &AccessSite, b: &Event) -> bool {
    if p.kind != AccessKind::Write || q.kind != AccessKind::Write {
        return false;
    }
    let (Some(v), Some(w)) = (a.value, b.value) else { return true };
    let byte =
        |value: u128, start: i64, at: i64| u32::try_from(8 * (at - start)).ok().and_then(|n| value.checked_shr(n));
    let (start, end) = (a.offset.max(b.offset), (a.offset + i64::from(p.bytes)).min(b.offset + i64::from(q.bytes)));
    (start..end).all(|at| match (byte(v, a.offset, at), byte(w, b.offset, at)) {
        (Some(v), Some(w)) => v & 0xff == w & 0xff,
        _ => true,
    })
}
