//! The steps of two threads around a defect.
//!
//! Input: a launch that shows the defect. Output: [`Event`]s: what the two threads did last before and at it, in the
//! order of the execution. Establishes: the launch runs again in the same way (nothing in it is left to chance),
//! up to the moment at which the defect is seen. Relies on: the defect is one of this launch. Reference: none.

use super::launch::Launch;
use super::races::{Location, Race};
use super::{Run, decode, finished, machine, parameter_bytes, world};
use crate::ptx::ast::Module;
use std::collections::BTreeSet;

/// Steps of each thread that are shown before the defect, beside the last barrier.
const BEFORE: usize = 2;

/// Steps that are remembered; an execution with more is shown from its start.
const MOST: usize = 1 << 16;

/// Something that a watched thread did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// Number of the thread in the launch.
    pub(crate) thread: u32,
    /// Instruction.
    pub(crate) code: u32,
    /// The first byte of an access.
    pub(crate) location: Option<Location>,
    /// Bytes of an access.
    pub(crate) bytes: u32,
}

/// Two threads that are watched while a launch runs.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Their numbers in the launch.
    threads: [u32; 2],
    /// The instructions that race, if any do, and whether they write one value.
    lines: Option<([u32; 2], bool)>,
    /// What they did so far.
    events: Vec<Event>,
    /// Where they met.
    met: Option<Race>,
}

impl Watch {
    /// A thread does something.
    pub(crate) fn note(&mut self, event: Event) {
        if self.threads.contains(&event.thread) && self.events.len() < MOST {
            self.events.push(event);
        }
    }

    /// Whether the race is there; the run ends then.
    pub(crate) fn is_met<'r>(
        &mut self,
        program: &decode::Program,
        thread: u32,
        races: impl Iterator<Item = &'r Race>,
    ) -> bool {
        let Some((lines, same_value)) = self.lines.filter(|_| thread == self.threads[1]) else { return false };
        let line = |code: u32| program.origins[code as usize].line;
        let is_it = |race: &&Race| {
            let at = [line(race.first.1), line(race.second.1)];
            [race.first.0, race.second.0] == self.threads && at == lines && race.same_value == same_value
        };
        self.met = races.filter(|race| is_it(race)).last().cloned();
        self.met.is_some()
    }
}

/// Runs a launch once more, up to the moment at which the threads are seen to race at these lines, or to its end. Answers
/// the run with the last events of both threads, and for each whether it belongs to the defect.
pub(crate) fn watch(
    module: &Module,
    entry: usize,
    launch: &Launch,
    threads: [u32; 2],
    lines: Option<([u32; 2], bool)>,
) -> Option<(Run, Vec<(Event, bool)>)> {
    let program = decode::decode(module, entry, launch).ok()?;
    let mut world = world::World::new(&program, launch, parameter_bytes(module, entry, launch), module.address_size);
    world.watch = Some(Box::new(Watch { threads, lines, events: Vec::new(), met: None }));
    let (outcome, memory, watch) = machine::Machine::new(&program, launch, world).run_watched();
    let shown = watch?.shown()?;
    Some((finished(program, outcome, memory), shown))
}

impl Watch {
    /// The events to show, and whether they are those of the defect.
    fn shown(&self) -> Option<Vec<(Event, bool)>> {
        let ends = match &self.met {
            Some(race) => {
                let is_second = |event: &Event| (event.thread, event.code) == race.second;
                let second = self.events.iter().rposition(is_second)?;
                let is_first = |event: &Event| (event.thread, event.code) == race.first && event.covers(race.location);
                [self.events[..second].iter().rposition(is_first)?, second]
            }
            None if self.lines.is_some() => return None,
            None => {
                let last = |thread: u32| self.events.iter().rposition(|event| event.thread == thread);
                [last(self.threads[0])?, last(self.threads[1])?]
            }
        };
        let mut shown = BTreeSet::from(ends);
        for (end, thread) in ends.into_iter().zip(self.threads) {
            let earlier = || (0..end).rev().filter(|index| self.events[*index].thread == thread);
            shown.extend(earlier().take(BEFORE));
            shown.extend(earlier().find(|index| self.events[*index].location.is_none()));
        }
        Some(shown.into_iter().map(|index| (self.events[index], ends.contains(&index))).collect())
    }
}

impl Event {
    /// Whether the access covers that byte.
    fn covers(&self, byte: Location) -> bool {
        match (self.location, byte) {
            (Some(Location::Global(array, start)), Location::Global(other, at)) => {
                array == other && at.wrapping_sub(start) < u64::from(self.bytes)
            }
            (Some(Location::Shared(start)), Location::Shared(at)) => at.wrapping_sub(start) < self.bytes,
            _ => false,
        }
    }
}
