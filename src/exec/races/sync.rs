//! Locations through which threads synchronise.
//!
//! A release pattern leaves a clock with the value that it writes; whoever observes that value in an
//! acquire pattern learns it. Read-modify-writes pass it on, other writes end it.
//! Establishes: the first and last operation of both patterns are morally strong: a clock left at block
//! scope is seen in that block only, and an observer at block scope sees its own block's only.
//! Reference: PTX ISA, "Release and Acquire Patterns" and "Observation Order"; the paper's `S_x`.

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

/// What `.sc` fences passed on, by reach and group of threads.
pub(crate) type Sequential = BTreeMap<(Reach, u32), Rc<Clock>>;

/// By [`Reach`].
type ByReach = [Option<Rc<Clock>>; 3];

/// The parts of fences that await the other half of their patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fences {
    /// What the last releasing fences published.
    released: ByReach,
    /// What strong reads observed since.
    observed: ByReach,
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
        let reaches = || self.reaches().iter().copied().filter(|reach| *reach <= access.reach);
        if access.reads
            && !access.is_reduction
            && let Some(carried) = locations.get(&address)
        {
            for reach in reaches() {
                let known = carried.0.get(&(reach, self.group(reach, thread)));
                if let (Some(known), true) = (known, access.acquire) {
                    self.learn(thread, clock, known);
                }
                join(&mut fences.observed[reach as usize], known);
            }
        }
        if !access.writes {
            return;
        }
        let mut left = fences.released.clone();
        if access.release {
            let known = Rc::new(self.snapshot(thread, clock));
            clock.epoch += 1;
            left.fill(Some(known));
        }
        if !access.reads {
            locations.remove(&address);
        }
        if reaches().all(|reach| left[reach as usize].is_none()) {
            return;
        }
        let carried = locations.entry(address).or_default();
        for reach in reaches() {
            // What is left for many is left for few.
            let wider = reaches().filter(|wider| *wider >= reach);
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
        let key = (reach, self.group(reach, thread));
        let before = sequential.as_ref().and_then(|order| order.get(&key).cloned());
        if let Some(known) = &before {
            self.learn(thread, clock, known);
        }
        let known = Rc::new(self.snapshot(thread, clock));
        clock.epoch += 1;
        if let Some(order) = sequential {
            let mut passed = before;
            join(&mut passed, Some(&known));
            order.extend(passed.map(|passed| (key, passed)));
        }
        if release {
            within().for_each(|other| fences.released[other] = Some(known.clone()));
        }
    }
}
