//! Barrier objects, copies that tell them of their bytes, and the shared memory of other blocks.
//!
//! Part of [`super`]: [`phases`](crate::sync::phases) says what they have to know.

use super::{Block, Early, Run};
use crate::exec::access::{self, Target};
use crate::exec::decode::{Code, Moves, ObjectKind, Program, Slot};
use crate::exec::races::order::Knows;
use crate::exec::thread::{FIRST_EPOCH, Status, Thread};
use crate::exec::values::mask;
use crate::exec::world::World;
use crate::sync::phases::{Action, Party};
use std::rc::Rc;

impl Run<'_> {
    /// What a thread knows, for copies that end when they start.
    pub(super) fn tell_copies(&mut self, index: usize) {
        let thread = &self.block.threads[index];
        self.world.issuer_knows = Some(Rc::new(self.world.detector.shape.snapshot(thread.number, &thread.clock)));
    }

    /// A thread is about to access memory; whether it is that of another block. The offset, if it is shared memory.
    pub(super) fn access(&mut self, index: usize, (at, access): (u32, u32)) -> Option<u32> {
        let thread = &self.block.threads[index];
        let found = access::find(self.program, &self.world, thread, &self.program.accesses[access as usize]);
        let Ok(Target::Shared(offset)) = found else { return None };
        self.goes_to(index, offset, at);
        Some(offset)
    }

    /// A thread accesses shared memory, which may be that of another block.
    pub(super) fn goes_to(&mut self, index: usize, offset: u32, at: u32) {
        let Block { threads, remote, .. } = &mut self.block;
        let size = threads.len() / self.program.ranks as usize;
        let rank = (offset / self.program.shared_size.max(1)) as usize;
        if rank == index / size {
            return;
        }
        let thread = &threads[index];
        let before = remote.insert((rank as u32, thread.number), (thread.clock.epoch, at));
        if before.is_none() {
            let (party, others) = (party(thread, at), &threads[rank * size..(rank + 1) * size]);
            let later = party.later(&self.world);
            let knows = Knows::best(others.iter().map(|other| later.knows(other.number, FIRST_EPOCH)));
            self.before_start |= !self.phases.rest.holds(knows);
        }
    }

    /// A thread is about to use a barrier object.
    pub(super) fn object(&mut self, index: usize, (at, number): (u32, u32)) -> Result<(), Early> {
        let program = self.program;
        let operation = &program.objects[number as usize];
        if let ObjectKind::Commit { multicast } = operation.kind {
            return self.commit(index, (at, operation, multicast));
        }
        let Some(offset) = self.access(index, (at, operation.access)) else { return Ok(()) };
        let Some(state) = self.block.state.objects.state(offset) else { return Ok(()) };
        let thread = &self.block.threads[index];
        let bytes = |slot: Slot| thread.value(slot) & mask(32);
        let action = match operation.kind {
            ObjectKind::Initialise { .. } | ObjectKind::Commit { .. } => return Ok(()),
            ObjectKind::Wait { .. } => {
                let asked = self.asked(index, (at, number))?;
                if let Some(peek) = &mut self.peeks[index] {
                    peek.waits(asked, operation.ordered)?;
                }
                asked.into_iter().for_each(|asked| self.phases.wait(index, asked));
                return Ok(());
            }
            ObjectKind::Invalidate => Action::Invalidate,
            ObjectKind::Expect { bytes: slot } => Action::Announce { bytes: bytes(slot) },
            ObjectKind::Complete { .. } => Action::Complete,
            ObjectKind::ArriveBehindCopies { counted: false } => Action::Announce { bytes: 0 },
            ObjectKind::ArriveBehindCopies { counted: true } => Action::Arrive { bytes: 0 },
            ObjectKind::Arrive { bytes: slot, incomplete, .. } => match incomplete {
                true => Action::ArriveFirst { bytes: slot.map_or(0, bytes) },
                false => Action::Arrive { bytes: slot.map_or(0, bytes) },
            },
        };
        let party = party(thread, at);
        if matches!(operation.kind, ObjectKind::ArriveBehindCopies { .. }) {
            self.tell_copies(index);
        }
        self.phases.act(&self.world, party, (offset, state), action)?;
        if matches!(operation.kind, ObjectKind::ArriveBehindCopies { .. }) {
            self.phases.comes_late(offset);
        }
        Ok(())
    }

    /// A thread has executed an instruction; whether others may go on. `copies`: how many with an object there were before.
    pub(super) fn after(&mut self, index: usize, at: u32, copies: usize) -> Result<bool, Early> {
        let Block { state, threads, shared, grouped, outgoing, .. } = &mut self.block;
        let (world, thread) = (&mut self.world, &threads[index]);
        if let Code::BulkWrite(number) = self.program.code[at as usize]
            && self.program.bulk_operations[number as usize].object.is_none()
        {
            grouped[index] = (grouped[index].0 + 1, at);
        }
        for place in world.beside.drain(..) {
            self.flow.spoil(thread, place, at)?;
        }
        if let Code::Map(_) = self.program.code[at as usize] {
            // Where the fields of a map come from is known.
            world.copied.clear();
        }
        for place in &world.copied {
            self.flow.touch(thread, *place, at)?;
        }
        self.flow.copied(shared, &mut world.copied);
        let Code::Object(operation) = self.program.code[at as usize] else {
            if world.detector.copies.len() == copies {
                return Ok(false);
            }
            let party = party(thread, at);
            let reads_shared = reads_shared(self.program, world, thread, at);
            for copy in &world.detector.copies[copies..] {
                self.phases.copied(world, &party, *copy)?;
                // The own block must not exit while they read.
                outgoing.extend(reads_shared.then_some((thread.place / state.size, *copy, at)));
            }
            let any = self.phases.settle(world, |offset| state.objects.state(offset))?;
            self.phase_ended |= any;
            return Ok(any);
        };
        let operation = &self.program.objects[operation as usize];
        match operation.kind {
            ObjectKind::Initialise { .. } => {
                let access = &self.program.accesses[operation.access as usize];
                if let Ok(Target::Shared(offset)) = access::find(self.program, world, thread, access)
                    && let Some(found) = state.objects.state(offset)
                {
                    self.phases.initialise(offset, found, &party(thread, at));
                }
                Ok(false)
            }
            ObjectKind::Wait { .. } => {
                if thread.status == Status::Running {
                    self.phases.waited(index, &party(thread, at))?;
                }
                Ok(false)
            }
            _ => {
                let any = self.phases.settle(world, |offset| state.objects.state(offset))?;
                self.phase_ended |= any;
                Ok(any)
            }
        }
    }

    /// Threads go on whose phase is complete.
    pub(super) fn wake(&mut self) -> Result<(), Early> {
        if !std::mem::take(&mut self.phase_ended) {
            return Ok(());
        }
        let threads = &self.block.threads;
        let woken: Vec<usize> =
            self.phases.waiting().filter(|place| threads[*place].status == Status::Running).collect();
        for place in woken {
            let thread = &self.block.threads[place];
            self.phases.waited(place, &party(thread, thread.last()))?;
        }
        Ok(())
    }
}

/// Whether a copy reads shared memory.
fn reads_shared(program: &Program, world: &World, thread: &Thread, at: u32) -> bool {
    let Code::BulkWrite(number) = program.code[at as usize] else { return false };
    let Moves::Bytes { from, .. } = program.bulk_operations[number as usize].moves else { return false };
    let found = access::find(program, world, thread, &program.accesses[from as usize]);
    matches!(found, Ok(Target::Shared(_)))
}

/// A thread at an instruction, with what it knows.
pub(super) fn party(thread: &Thread, code: u32) -> Party {
    Party { thread: thread.number, code, clock: thread.clock.clone(), ends: None }
}
