//! Locations through which threads synchronise.
//!
//! A release pattern leaves a clock with the value that it writes; whoever observes that value in an
//! acquire pattern learns it. Read-modify-writes that are morally strong with the write pass it on, other writes end it.
//! Establishes: the first and last operation of both patterns are morally strong, and so is each step of the
//! observation: a clock left at block scope is seen in that block only, and an observer at block scope sees its own block's only.
//! Reference: PTX ISA, "Release and Acquire Patterns", "Observation Order" and "Fence-SC order"; the paper's `S_x`.

use super::Reach;
use super::clock::{Clock, Shape, ThreadClock, join};
use foldhash::HashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a location's value carries: what was left at this reach or a wider one, in a group of threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried(BTreeMap<(Reach, u32), Rc<Clock>>);

/// The synchronisation locations of a memory, by address.
pub(crate) type Locations = HashMap<u64, Carried>;

/// What `.sc` fences passed on. Two of them are ordered where both are of one group at the narrower reach of the two.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequential {
    /// Fences of this reach.
    of: BTreeMap<(Reach, u32), Rc<Clock>>,
    /// Fences of this reach or a wider one.
    of_at_least: BTreeMap<(Reach, u32), Rc<Clock>>,
}

/// By [`Reach`].
type ByReach = [Option<Rc<Clock>>; 3];

/// The parts of fences that await the other half of their patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fences {
    /// What the last releasing fences published.
    released: ByReach,
    /// What strong reads observed since.
    observed: ByReach,
    /// By location, what this thread's releases there published: its later strong writes there publish it, too.
    released_at: BTreeMap<u64, ByReach>,
    /// By location, what this thread's strong reads there observed: its later acquiring reads there learn it.
    observed_at: BTreeMap<u64, ByReach>,
}

/// Joins clocks of the same reaches.
fn join_all(into: &mut ByReach, from: &ByReach) {
    into.iter_mut().zip(from).for_each(|(mine, other)| join(mine, other.as_ref()));
}

/// A thread that synchronises.
pub(crate) struct Party<'p> {
    /// Number in the launch.
    pub(crate) thread: u32,
    pub(crate) clock: &'p mut ThreadClock,
    pub(crate) fences: &'p mut Fences,
}

/// A strong access to a location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrongAccess {
    /// Its scope.
    pub(crate) reach: Reach,
    /// It observes the value.
    pub(crate) reads: bool,
    /// It leaves a new one.
    pub(crate) writes: bool,
    /// It acquires by itself.
    pub(crate) acquire: bool,
    /// It releases by itself.
    pub(crate) release: bool,
    /// It is a `red`, which never takes part in an acquire pattern.
    pub(crate) is_reduction: bool,
}

impl Shape {
    /// A strong access.
    pub(crate) fn synchronise(&self, locations: &mut Locations, address: u64, access: StrongAccess, party: Party<'_>) {
        let Party { thread, clock, fences } = party;
        if access.reads
            && !access.is_reduction
            && let Some(carried) = locations.get(&address)
        {
            let mut seen = ByReach::default();
            for reach in self.reaches_within(access.reach) {
                seen[reach as usize] = carried.0.get(&(reach, self.group(reach, thread))).cloned();
            }
            join_all(&mut fences.observed, &seen);
            if seen.iter().any(Option::is_some) {
                join_all(fences.observed_at.entry(address).or_default(), &seen);
            }
        }
        if access.reads
            && access.acquire
            && !access.is_reduction
            && let Some(seen) = fences.observed_at.get(&address)
        {
            for known in self.reaches_within(access.reach).filter_map(|reach| seen[reach as usize].as_ref()) {
                self.learn(thread, clock, known);
            }
        }
        if access.writes {
            let left = self.leave(address, access, Party { thread, clock, fences });
            self.carry(locations, address, access, thread, &left);
        }
    }

    fn reaches_within(&self, widest: Reach) -> impl DoubleEndedIterator<Item = Reach> + use<> {
        self.reaches().iter().copied().filter(move |reach| *reach <= widest)
    }

    /// What a strong write publishes: by itself, behind a fence, or behind a release of its thread at this location.
    fn leave(&self, address: u64, access: StrongAccess, party: Party<'_>) -> ByReach {
        let Party { thread, clock, fences } = party;
        let mut left = fences.released.clone();
        if access.release {
            let known = Rc::new(self.snapshot(thread, clock));
            clock.epoch += 1;
            let before = fences.released_at.entry(address).or_default();
            for reach in self.reaches_within(access.reach) {
                before[reach as usize] = Some(known.clone());
            }
        }
        if let Some(before) = fences.released_at.get(&address) {
            join_all(&mut left, before);
        }
        left
    }

    /// What a location carries behind a strong write that leaves these clocks.
    fn carry(&self, locations: &mut Locations, address: u64, access: StrongAccess, thread: u32, left: &ByReach) {
        if !access.reads {
            locations.remove(&address);
        } else if let Some(carried) = locations.get_mut(&address) {
            // Others did not write what this operation observed, in the sense of the model.
            carried.0.retain(|(reach, group), _| *reach <= access.reach && *group == self.group(*reach, thread));
        }
        if self.reaches_within(access.reach).all(|reach| left[reach as usize].is_none()) {
            return;
        }
        let carried = locations.entry(address).or_default();
        for reach in self.reaches_within(access.reach) {
            // What is left for many is left for few.
            let wider = self.reaches_within(access.reach).filter(|wider| *wider >= reach);
            let key = (reach, self.group(reach, thread));
            let mut mine = carried.0.remove(&key);
            wider.for_each(|wider| join(&mut mine, left[wider as usize].as_ref()));
            carried.0.extend(mine.map(|mine| (key, mine)));
        }
    }

    /// A fence. `sequential`: it is an `.sc` fence.
    pub(crate) fn fence(
        &self,
        reach: Reach,
        (acquire, release): (bool, bool),
        sequential: Option<&mut Sequential>,
        party: Party<'_>,
    ) {
        let Party { thread, clock, fences } = party;
        let within = || self.reaches().iter().filter(|other| **other <= reach).map(|other| *other as usize);
        if acquire {
            for known in within().filter_map(|other| fences.observed[other].as_ref()) {
                self.learn(thread, clock, known);
            }
        }
        if let Some(order) = &sequential {
            let narrower = self.reaches_within(reach).filter(|other| *other < reach);
            let narrower = narrower.filter_map(|other| order.of.get(&(other, self.group(other, thread))));
            for known in order.of_at_least.get(&(reach, self.group(reach, thread))).into_iter().chain(narrower) {
                self.learn(thread, clock, known);
            }
        }
        let known = Rc::new(self.snapshot(thread, clock));
        clock.epoch += 1;
        if let Some(order) = sequential {
            let pass = |order: &mut BTreeMap<(Reach, u32), Rc<Clock>>, reach: Reach| {
                let key = (reach, self.group(reach, thread));
                let mut passed = order.remove(&key);
                join(&mut passed, Some(&known));
                order.extend(passed.map(|passed| (key, passed)));
            };
            pass(&mut order.of, reach);
            self.reaches_within(reach).for_each(|other| pass(&mut order.of_at_least, other));
        }
        if release {
            within().for_each(|other| fences.released[other] = Some(known.clone()));
        }
    }
}
