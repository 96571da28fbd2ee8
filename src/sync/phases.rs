//! Barrier objects (`mbarrier`), by phases.
//!
//! Input: operations on objects, copies that tell them of their bytes, and which phases the emulator completed. Output: what is
//! wrong with it. Establishes: an object is in use only where it is known to be initialised and not invalidated; what comes
//! to a phase (arrivals, bytes, announcements) knows that the phase before is complete; what is announced is followed
//! by an arrival of its thread to the same phase; a phase is not over before all that wait for the one before it have
//! seen that. Then each phase has the same arrivals and bytes in every schedule, and no wait is too late ([`super`] has the
//! argument). Relies on: clocks know of barriers only; copies end where they start. To *know* is causality order, or order in time
//! where an arrival does not release or a copy stands between: [`Rest`].
//! Reference: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".

use super::follow::What;
use super::objects::{Trouble, Unsafe};
use crate::exec::objects::State;
use crate::exec::races::clock::ThreadClock;
use crate::exec::races::order::{BulkCopy, Knows, Later};
use crate::exec::world::World;
use crate::finding::MixedBarrier;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Bytes that a phase may count.
const MOST: u64 = (1 << 20) - 1;

/// A thread that does something to an object.
#[derive(Clone, Debug)]
pub(super) struct Party {
    /// Number in the launch.
    pub(super) thread: u32,
    /// Instruction.
    pub(super) code: u32,
    /// What it knows then.
    pub(super) clock: ThreadClock,
    /// An arrival that comes later, with the end of an operation of an agent: the agent, and its number.
    pub(super) ends: Option<(u32, u32)>,
}

/// What a thread does to an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// An arrival, with bytes that it announces, or one behind copies.
    Arrive {
        bytes: u64,
    },
    /// The same, of which the thread's next arrival has to be in the same phase.
    ArriveFirst {
        bytes: u64,
    },
    /// Bytes or arrivals are announced.
    Announce {
        bytes: u64,
    },
    /// Bytes are told by the thread itself.
    Complete,
    Invalidate,
}

/// A wait that has not ended.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// Offset of the object in shared memory.
    offset: u32,
    /// How many phases have to be complete.
    phases: u32,
}

/// A wait that has ended.
#[derive(Clone, Copy, Debug)]
struct Waited {
    thread: u32,
    epoch: u32,
    code: u32,
    /// How many phases were complete, or had to be.
    phases: u32,
    /// What had come to the phase behind them before.
    behind: usize,
}

#[derive(Clone, Debug)]
struct Object {
    /// Number in the launch.
    number: u32,
    /// Thread that initialised it, and its time.
    by: (u32, u32),
    /// Number of the open phase.
    phase: u32,
    /// Bytes that were announced to it.
    bytes: u64,
    /// Waits that must not come after its end, or after that of a later one.
    waited: Vec<Waited>,
    /// Who arrived at it, or started a copy for it.
    came: Vec<Party>,
    /// The same for the one before.
    before: Vec<Party>,
    /// Threads that have to arrive at it, and why.
    owed: Vec<(u32, u32)>,
    /// The last phase to which a copy brought bytes, and the copy.
    brought: Option<(u32, u32)>,
    /// Whether something comes to the phase before, and to the open one, later than the instruction that brings it.
    is_late: [bool; 2],
}

/// The barrier objects of the blocks of a cluster.
#[derive(Debug, Default)]
pub(super) struct Phases {
    /// By offset in shared memory.
    objects: BTreeMap<u32, Object>,
    /// By place of the thread.
    waits: Vec<Option<Wait>>,
    /// What all rests on.
    pub(super) rest: Rest,
    /// Phases that were completed, of all blocks.
    pub(super) completed: u64,
}

/// Whether something that was shown rests on order in time.
#[derive(Debug, Default)]
pub(super) struct Rest {
    in_time: Cell<bool>,
}

impl Rest {
    pub(super) fn is_in_time(&self) -> bool {
        self.in_time.get()
    }

    /// Something rests on what is known; whether it is.
    pub(super) fn holds(&self, knows: Knows) -> bool {
        self.in_time.set(self.in_time.get() || knows == Knows::InTime);
        knows != Knows::Not
    }
}

impl Party {
    pub(super) fn later<'w>(&'w self, world: &'w World) -> Later<'w> {
        let (shape, copies) = (world.detector.shape, &world.detector.copies[..]);
        Later { shape, copies, thread: self.thread, clock: &self.clock, proxy: None }
    }
}

impl Phases {
    /// So many threads start.
    pub(super) fn start(&mut self, threads: usize) {
        self.objects.clear();
        self.waits.clear();
        self.waits.resize(threads, None);
    }

    /// A thread has initialised an object.
    pub(super) fn initialise(&mut self, offset: u32, state: State, party: &Party) {
        let object = Object {
            number: state.number,
            by: (party.thread, party.clock.epoch),
            phase: state.phase,
            bytes: 0,
            waited: Vec::new(),
            came: Vec::new(),
            before: Vec::new(),
            owed: Vec::new(),
            brought: None,
            is_late: [false; 2],
        };
        self.objects.insert(offset, object);
    }

    /// A thread is about to do something to an object. Where there is none, the emulator says so.
    pub(super) fn act(
        &mut self,
        world: &World,
        party: Party,
        (offset, state): (u32, State),
        action: Action,
    ) -> Result<(), Trouble> {
        let Some(object) = self.objects.get_mut(&offset) else { return Ok(()) };
        let is_arrival = !matches!(action, Action::Invalidate);
        if is_arrival {
            object.admits(world, &party, offset, &self.rest)?;
        }
        let (thread, code) = (party.thread, party.code);
        let announced = match action {
            Action::Arrive { bytes } | Action::ArriveFirst { bytes } => {
                object.owed.retain(|(other, _)| *other != thread);
                object.came.push(party);
                bytes
            }
            Action::Announce { bytes } => bytes,
            Action::Complete => {
                object.came.push(party);
                0
            }
            Action::Invalidate => {
                let knows = object.is_over_before(&party.later(world), &self.rest);
                if !(knows && state.is_idle && object.came.is_empty() && object.owed.is_empty()) {
                    return Err(Trouble::Refused(What::Invalidated, code));
                }
                self.objects.remove(&offset);
                return Ok(());
            }
        };
        object.bytes += announced;
        if matches!(action, Action::ArriveFirst { .. } | Action::Announce { .. }) {
            object.owed.push((thread, code));
        }
        if object.bytes > MOST || u64::from(state.expected) + object.owed.len() as u64 > MOST {
            return Err(Trouble::Refused(What::Size, code));
        }
        Ok(())
    }

    /// An arrival at an object comes when copies are complete.
    pub(super) fn comes_late(&mut self, offset: u32) {
        if let Some(object) = self.objects.get_mut(&offset) {
            object.is_late[1] = true;
        }
    }

    /// A thread is about to wait: how many phases have to be complete. Where there is no object, the emulator says so.
    pub(super) fn asked(
        &self,
        world: &World,
        party: &Party,
        offset: u32,
        wanted: Wanted,
    ) -> Result<Option<u32>, Trouble> {
        let Some(object) = self.objects.get(&offset) else { return Ok(None) };
        let later = party.later(world);
        if !self.rest.holds(later.knows(object.by.0, object.by.1)) {
            return Err(Trouble::Refused(What::Initialised, party.code));
        }
        let known = later.phases(object.number).1;
        self.rest.holds(later.knows_phases(object.number, known));
        Ok(Some(match wanted {
            // The parity is that of the last phase that has to be complete. So many are at least.
            Wanted::Parity(parity) => known + u32::from(known % 2 == parity),
            // A state is good for the open phase and for the one before.
            Wanted::Phase(phase) if phase > known => return Err(Trouble::Refused(What::Overtaken, party.code)),
            Wanted::Phase(phase) => phase + 1,
        }))
    }

    /// The thread at a place waits until so many phases are complete.
    pub(super) fn wait(&mut self, place: usize, (offset, phases): (u32, u32)) {
        self.waits[place] = Some(Wait { offset, phases });
    }

    /// A thread goes on behind a wait, if it was at one.
    pub(super) fn waited(&mut self, place: usize, party: &Party) -> Result<(), Trouble> {
        let Some(Wait { offset, phases }) = self.waits[place].take() else { return Ok(()) };
        let Some(object) = self.objects.get_mut(&offset) else { return Ok(()) };
        if object.phase != phases {
            return Err(Trouble::Refused(What::Overtaken, party.code));
        }
        let (thread, epoch, code) = (party.thread, party.clock.epoch, party.code);
        object.waited.push(Waited { thread, epoch, code, phases, behind: object.came.len() });
        Ok(())
    }

    /// A thread asks whether so many phases are complete, by a state, which must not be too old.
    pub(super) fn tried(&mut self, party: &Party, (offset, phases): (u32, u32)) -> Result<(), Trouble> {
        let Some(object) = self.objects.get_mut(&offset) else { return Ok(()) };
        if object.phase > phases {
            return Err(Trouble::Refused(What::Overtaken, party.code));
        }
        let behind = if object.phase == phases { object.came.len() } else { 0 };
        let (thread, epoch, code) = (party.thread, party.clock.epoch, party.code);
        object.waited.push(Waited { thread, epoch, code, phases, behind });
        Ok(())
    }

    /// The places of threads that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        self.waits.iter().enumerate().filter(|(_, wait)| wait.is_some()).map(|(place, _)| place)
    }

    /// A thread started a copy, which gave an object its bytes.
    pub(super) fn copied(&mut self, world: &World, party: &Party, copy: BulkCopy) -> Result<(), Trouble> {
        let found = self.objects.iter_mut().find(|(_, object)| object.number == copy.object);
        let Some((offset, object)) = found else { return Ok(()) };
        object.admits(world, party, *offset, &self.rest)?;
        object.came.push(party.clone());
        object.is_late[1] = true;
        object.brought = copy.phase.map(|phase| (phase, party.code));
        Ok(())
    }

    /// The emulator may have completed phases. Whether it has.
    pub(super) fn settle(&mut self, world: &World, state: impl Fn(u32) -> Option<State>) -> Result<bool, Trouble> {
        let mut any = false;
        for (offset, object) in &mut self.objects {
            let Some(phase) = state(*offset).map(|state| state.phase).filter(|phase| *phase != object.phase) else {
                continue;
            };
            object.end_phase(world, &self.rest)?;
            object.phase = phase;
            self.completed += 1;
            any = true;
        }
        Ok(any)
    }

    /// All threads have exited. `exited`: the threads of the block that has a place in shared memory.
    pub(super) fn end<'t>(
        &self,
        world: &World,
        exited: impl Fn(u32) -> &'t [crate::exec::thread::Thread],
    ) -> Result<(), Trouble> {
        for (offset, object) in &self.objects {
            // Without what was announced, its phase could have ended.
            if let Some((_, code)) = object.owed.first() {
                return Err(Trouble::Refused(What::Owed, *code));
            }
            let Some((phase, code)) = object.brought else { continue };
            let knows = |thread: &crate::exec::thread::Thread| {
                let (shape, copies) = (world.detector.shape, &world.detector.copies[..]);
                let later = Later { shape, copies, thread: thread.number, clock: &thread.clock, proxy: None };
                later.knows_phases(object.number, phase + 1) == Knows::ByOrder
            };
            if !exited(*offset).iter().any(knows) {
                return Err(Trouble::Refused(What::Underway, code));
            }
        }
        Ok(())
    }
}

/// What a wait asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// The parity of the phase that is to be complete.
    Parity(u32),
    /// Its number.
    Phase(u32),
}

impl Object {
    /// Whether a thread may bring something to the open phase; it has to know that the one before is complete.
    fn admits(&self, world: &World, party: &Party, offset: u32, rest: &Rest) -> Result<(), Trouble> {
        let later = party.later(world);
        if !rest.holds(later.knows(self.by.0, self.by.1)) {
            return Err(Trouble::Refused(What::Initialised, party.code));
        }
        if rest.holds(later.knows_phases(self.number, self.phase)) {
            return Ok(());
        }
        let unknown = |other: &&Party| later.knows(other.thread, other.clock.epoch) == Knows::Not;
        let earlier = self.before.iter().find(unknown).or(self.before.first());
        Err(Trouble::Reused(Unsafe {
            barrier: MixedBarrier::Object(offset),
            later: (party.thread, party.code),
            earlier: earlier.map_or((party.thread, party.code), |earlier| (earlier.thread, earlier.code)),
            generation: u64::from(self.phase),
        }))
    }

    /// Whether the phase before the open one is over before what a thread does: it waited, or others did and told it; or all that was
    /// brought to it is before, and nothing of it comes later.
    fn is_over_before(&self, later: &Later<'_>, rest: &Rest) -> bool {
        let is_before = |other: &Party| {
            let (party, time) = other.ends.unwrap_or((other.thread, other.clock.epoch));
            later.is_after(party, time)
        };
        rest.holds(later.knows(self.by.0, self.by.1))
            && (later.knows_phases(self.number, self.phase) == Knows::ByOrder
                || !self.is_late[0] && self.before.iter().all(is_before))
    }

    /// The open phase is complete.
    fn end_phase(&mut self, world: &World, rest: &Rest) -> Result<(), Trouble> {
        if let Some((_, code)) = self.owed.first() {
            return Err(Trouble::Refused(What::Owed, *code));
        }
        let last: BTreeMap<u32, usize> = (0..).zip(&self.came).map(|(index, party)| (party.thread, index)).collect();
        let phase = self.phase;
        for Waited { thread, epoch, code, behind, .. } in self.waited.extract_if(.., |one| one.phases == phase) {
            let by_itself = last.get(&thread).is_some_and(|index| *index >= behind);
            let knows = self.came[behind..].iter().map(|party| party.later(world).knows(thread, epoch));
            if !by_itself && !rest.holds(Knows::best(knows)) {
                return Err(Trouble::Refused(What::Overtaken, code));
            }
        }
        self.before = std::mem::take(&mut self.came);
        self.is_late = [self.is_late[1], false];
        self.bytes = 0;
        Ok(())
    }
}
