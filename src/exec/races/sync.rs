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

/// What a location's value carries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// Left at device scope, by any block.
    device: Option<Rc<Clock>>,
    /// Left at any scope, by block.
    blocks: BTreeMap<u32, Rc<Clock>>,
}

/// The synchronisation locations of a memory, by address.
pub(crate) type Locations = HashMap<u64, Carried>;

/// The parts of fences that await the other half of their patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fences {
    /// What the last releasing fences published, by reach.
    released_block: Option<Rc<Clock>>,
    released_device: Option<Rc<Clock>>,
    /// What strong reads observed since, by reach.
    observed_block: Option<Rc<Clock>>,
    observed_device: Option<Rc<Clock>>,
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
        let block = self.block_of(thread);
        if access.reads
            && !access.is_reduction
            && let Some(carried) = locations.get(&address)
        {
            let near = carried.blocks.get(&block);
            let far = carried.device.as_ref().filter(|_| access.reach == Reach::Device);
            if access.acquire {
                for known in near.into_iter().chain(far) {
                    self.learn(thread, clock, known);
                }
            }
            join(&mut fences.observed_block, near);
            join(&mut fences.observed_device, far);
        }
        if !access.writes {
            return;
        }
        let (mut near, mut far) = (fences.released_block.clone(), fences.released_device.clone());
        if access.release {
            let known = Rc::new(self.snapshot(thread, clock));
            clock.epoch += 1;
            (near, far) = (Some(known.clone()), Some(known));
        }
        let far = far.filter(|_| access.reach == Reach::Device);
        if !access.reads {
            locations.remove(&address);
        }
        if near.is_some() || far.is_some() {
            let carried = locations.entry(address).or_default();
            join(&mut carried.device, far.as_ref());
            let mut mine = carried.blocks.remove(&block);
            join(&mut mine, near.as_ref());
            join(&mut mine, far.as_ref());
            carried.blocks.extend(mine.map(|mine| (block, mine)));
        }
    }

    /// A fence. `sequential` is what the `.sc` fences of this reach passed on so far.
    pub(crate) fn fence(
        &self,
        reach: Reach,
        (acquire, release): (bool, bool),
        sequential: Option<&mut Option<Rc<Clock>>>,
        party: Party<'_>,
    ) {
        let Party { thread, clock, fences } = party;
        if acquire {
            let far = fences.observed_device.as_ref().filter(|_| reach == Reach::Device);
            for known in fences.observed_block.iter().chain(far) {
                self.learn(thread, clock, known);
            }
        }
        let before = sequential.as_ref().and_then(|order| (*order).clone());
        if let Some(known) = before {
            self.learn(thread, clock, &known);
        }
        let known = Rc::new(self.snapshot(thread, clock));
        clock.epoch += 1;
        if let Some(order) = sequential {
            join(order, Some(&known));
        }
        if release {
            if reach == Reach::Device {
                fences.released_device = Some(known.clone());
            }
            fences.released_block = Some(known);
        }
    }
}
