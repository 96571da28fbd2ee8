//! The steps of two threads around a defect.
//!
//! Input: a launch that shows the defect. Output: [`Event`]s: what the two threads did last before and at it, in the
//! order of the execution. Establishes: the launch runs again in the same way (nothing in it is left to chance),
//! up to the moment at which the defect is seen. Relies on: the defect is one of this launch. Reference: none.

use super::history::{Deed, History};
use super::launch::Launch;
use super::races::{Location, Race};
use super::record::{Recording, Standing, Track};
use super::thread::Thread;
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
    /// Each step, where that is asked for.
    recording: Option<Recording>,
}

impl Watch {
    /// A thread does something.
    pub(crate) fn note(&mut self, event: Event) {
        if self.threads.contains(&event.thread) && self.events.len() < MOST {
            self.events.push(event);
        }
    }

    /// How much was noted.
    pub(crate) fn count(&self) -> usize {
        self.events.len()
    }

    /// Which thread of the recording this is.
    pub(crate) fn recorded(&self, thread: u32) -> Option<usize> {
        self.recording.as_ref()?.index(thread)
    }

    /// A recorded thread is about to execute an instruction; the events so far.
    pub(crate) fn before(&mut self, index: usize, at: (&decode::Program, u32), registers: &[u64]) -> usize {
        self.recording.iter_mut().for_each(|recording| recording.before(index, at, registers));
        self.events.len()
    }

    /// It has executed the instruction at a place of the program, and is at another one now.
    pub(crate) fn after(
        &mut self,
        (index, events): (usize, usize),
        way: (&decode::Program, u32, u32),
        registers: &[u64],
    ) {
        let events = events..self.events.len();
        self.recording.iter_mut().for_each(|recording| recording.after(index, way, registers, events.clone()));
    }

    /// A block has come to its end, or to that of the run.
    pub(crate) fn ended(&mut self, threads: &[Thread]) {
        self.recording.iter_mut().for_each(|recording| recording.ended(threads));
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
/// the run with the last events of both threads.
pub(crate) fn watch(
    module: &Module,
    entry: usize,
    launch: &Launch,
    threads: [u32; 2],
    lines: Option<([u32; 2], bool)>,
) -> Option<Met> {
    let watch = Watch { threads, lines, events: Vec::new(), met: None, recording: None };
    let (run, watch, history) = run(module, entry, launch, watch)?;
    let shown = watch.shown()?;
    let ends = watch.ends()?.map(|at| (at, watch.events[at].code));
    Some(Met { run, shown, ends, deeds: history.map_or(Vec::new(), |history| history.deeds) })
}

/// How two threads came to a defect.
pub(crate) struct Met {
    pub(crate) run: Run,
    /// Their last events, and for each whether it belongs to the defect.
    pub(crate) shown: Vec<(Event, bool)>,
    /// The numbers of the events of the defect, and their instructions.
    pub(crate) ends: [(usize, u32); 2],
    /// What both did at barriers if they race, with the number of events before.
    pub(crate) deeds: Vec<(usize, Deed)>,
}

/// A run, what was watched, and what was done at barriers if two threads race.
type Watched = (Run, Box<Watch>, Option<Box<History>>);

/// Runs a launch with a watch.
fn run(module: &Module, entry: usize, launch: &Launch, watch: Watch) -> Option<Watched> {
    let program = decode::decode(module, entry, launch).ok()?;
    let mut world = world::World::new(&program, launch, parameter_bytes(module, entry, launch), module.address_size);
    if watch.lines.is_some() && watch.recording.is_none() {
        let size = launch.geometry.block_threads() as u32;
        world.history = Some(Box::new(History::new(size, watch.threads.to_vec())));
    }
    world.watch = Some(Box::new(watch));
    let (outcome, memory, watch, history) = machine::Machine::new(&program, launch, world).run_watched();
    Some((finished(program, outcome, memory), watch?, history))
}

/// What threads did up to a defect, with their registers.
pub(crate) struct Recorded {
    pub(crate) run: Run,
    pub(crate) registers: Vec<decode::Register>,
    /// One a thread.
    pub(crate) tracks: Vec<Track>,
    pub(crate) events: Vec<Event>,
    /// Where the threads of the block of the first one were at the end.
    pub(crate) standing: Vec<Standing>,
}

/// Runs a launch as [`watch`] does, for one thread or two different ones. Without lines a thread is shown up to its last step.
pub(crate) fn record(
    module: &Module,
    entry: usize,
    launch: &Launch,
    threads: &[u32],
    lines: Option<([u32; 2], bool)>,
) -> Option<Recorded> {
    let (registers, written) = decode::registers(module, entry).ok()?;
    let names = registers.iter().map(|register| register.named.clone()).collect();
    let recording = Some(Recording::new(threads.to_vec(), names, written));
    let watched = [*threads.first()?, *threads.last()?];
    let watch = Watch { threads: watched, lines, events: Vec::new(), met: None, recording };
    let (run, mut watch, _) = run(module, entry, launch, watch)?;
    let ends = match lines {
        Some(_) => watch.ends()?.map(Some).to_vec(),
        None => vec![None; threads.len()],
    };
    let Recording { tracks, standing, .. } = watch.recording.take()?;
    let tracks = tracks.into_iter().zip(ends).map(|(track, end)| track.cut(&run.program, end));
    let tracks = tracks.collect::<Option<Vec<Track>>>()?;
    Some(Recorded { run, registers, tracks, events: watch.events, standing })
}

impl Watch {
    /// The events of the defect, one of each thread.
    fn ends(&self) -> Option<[usize; 2]> {
        Some(match &self.met {
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
        })
    }

    /// The events to show, and whether they are those of the defect.
    fn shown(&self) -> Option<Vec<(Event, bool)>> {
        let ends = self.ends()?;
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
