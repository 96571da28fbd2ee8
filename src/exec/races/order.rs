//! Whether an earlier access happened before what a thread, or one of its agents, does now.
//!
//! Input: an entry of a location, and what the later party knows. Establishes: a copy counts as done only for who knows of its
//! end, by a wait of its thread, an arrival that it brought about, or a phase of the barrier object to which it gave its bytes;
//! an access through the generic proxy is before one through the asynchronous proxy only with a proxy fence behind it.
//! Reference: PTX ISA, "Causality Order", "Asynchronous Operations", "Async proxy".

use super::Space;
use super::clock::{Clock, Shape, ThreadClock, floor};
use super::shadow::Entry;

/// A bulk copy that a barrier object tells of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkCopy {
    /// Thread that started it.
    pub(crate) issuer: u32,
    /// Number of the object.
    pub(crate) object: u32,
    /// It goes through the generic proxy.
    pub(crate) is_generic: bool,
    /// The phase in which the object got the bytes; `None` while the copy is under way.
    pub(crate) phase: Option<u32>,
}

/// How a thread knows that something was earlier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Knows {
    /// It does not.
    Not,
    /// In time only: threads tell each other, but nothing synchronises them.
    InTime,
    /// In causality order.
    ByOrder,
}

impl Knows {
    /// The best that one of several knows.
    pub(crate) fn best(all: impl Iterator<Item = Knows>) -> Knows {
        let mut best = Knows::Not;
        for one in all {
            best = best.max(one);
            if best == Knows::ByOrder {
                break;
            }
        }
        best
    }
}

/// The later party.
pub(crate) struct Later<'d> {
    pub(crate) shape: Shape,
    /// All bulk copies with an object.
    pub(crate) copies: &'d [BulkCopy],
    /// The thread, or that which started the copy.
    pub(crate) thread: u32,
    /// What it knew then.
    pub(crate) clock: &'d ThreadClock,
    /// The access goes through the asynchronous proxy, to this space.
    pub(crate) proxy: Option<Space>,
}

impl Later<'_> {
    /// Whether what `other` did at `time` happened before. An agent does nothing before its thread started the copy, and
    /// knows what the thread knew then.
    pub(crate) fn is_after(&self, other: u32, time: u32) -> bool {
        let (shape, clock) = (self.shape, self.clock);
        if let Some(index) = shape.index_of_copy(other) {
            let BulkCopy { object, phase, is_generic, .. } = self.copies[index as usize];
            let Some((phase, known)) = phase.zip(clock.others.as_ref()) else { return false };
            let is_over = |known: &Clock| phase < floor(&known.objects, object);
            return match self.proxy.filter(|_| is_generic) {
                Some(space) => known.fenced(space).any(is_over),
                None => is_over(known),
            };
        }
        let is_bulk = shape.is_bulk(other);
        if let Some(space) = self.proxy.filter(|_| !is_bulk) {
            let mut parts = clock.others.iter().flat_map(|known| known.fenced(space));
            return parts.any(|known| self.is_in(known, other, time));
        }
        let is_own = shape.issuer(other) == self.thread;
        if let Some(agent) = shape.agent(other) {
            let is_told = |known: &Clock| time <= floor(&known.threads, other);
            return is_own && time <= clock.agents[agent] || clock.others.as_deref().is_some_and(is_told);
        }
        if is_own {
            return true;
        }
        let in_warp = || time <= clock.warp && shape.warp_of(other) == shape.warp_of(self.thread);
        if shape.same_block(other, self.thread) && (time <= clock.block || in_warp()) {
            return true;
        }
        clock.others.as_deref().is_some_and(|known| self.is_in(known, other, time))
    }

    /// The same, or whether it was earlier in time, as far as threads tell each other.
    pub(crate) fn knows(&self, other: u32, time: u32) -> Knows {
        let told = || self.clock.others.as_ref().and_then(|known| known.told.as_ref());
        if self.is_after(other, time) {
            return Knows::ByOrder;
        }
        if told().is_some_and(|known| self.is_in(known, other, time)) { Knows::InTime } else { Knows::Not }
    }

    /// How many phases of a barrier object are known to be complete: in causality order, and in time.
    pub(crate) fn phases(&self, object: u32) -> (u32, u32) {
        let of = |known: Option<&Clock>| known.map_or(0, |known| floor(&known.objects, object));
        let others = self.clock.others.as_deref();
        let by_order = of(others);
        (by_order, by_order.max(of(others.and_then(|known| known.told.as_deref()))))
    }

    /// Whether so many phases of a barrier object are known to be complete.
    pub(crate) fn knows_phases(&self, object: u32, phases: u32) -> Knows {
        let (by_order, in_time) = self.phases(object);
        match phases {
            _ if phases <= by_order => Knows::ByOrder,
            _ if phases <= in_time => Knows::InTime,
            _ => Knows::Not,
        }
    }

    /// Whether a clock says so.
    fn is_in(&self, known: &Clock, other: u32, time: u32) -> bool {
        let by_floors = || {
            time <= floor(&known.blocks, self.shape.block_of(other))
                || time <= floor(&known.warps, self.shape.warp_of(other))
        };
        time <= floor(&known.threads, other) || self.shape.agent(other).is_none() && by_floors()
    }

    /// The threads among these whose accesses at `time` are not ordered before.
    pub(crate) fn unordered<'s>(
        &'s self,
        threads: impl Iterator<Item = u32> + 's,
        time: u32,
    ) -> impl Iterator<Item = u32> + 's {
        threads.filter(move |other| !self.is_after(*other, time))
    }

    /// Whether all accesses of an entry are ordered before.
    pub(crate) fn is_after_all(&self, entry: &Entry) -> bool {
        let span = entry.span();
        if self.proxy.is_none() {
            // The common cases: the thread itself, or threads of this block before its last barrier.
            if span.end - span.start == 1 && span.start == self.thread {
                return true;
            }
            if entry.clock <= self.clock.block && self.shape.is_in_block_of(span, self.thread) {
                return true;
            }
        }
        self.unordered(entry.threads(), entry.clock).next().is_none()
    }
}
