//! Barrier objects of a block.
//!
//! Input: what a thread does to one. Output: what of the obligations fails. Establishes: who comes to a phase knows that the one before is complete; no wait
//! can be overtaken. Relies on: nothing. Reference: PTX ISA, `mbarrier`; phases-notes section 2.2, 2.4 and 3.

use super::block::{Block, CELL, Clock, MOST_BYTES, Object, Result, Status, Waited, raise};
use super::event::{Refusal, Why};

impl Block {
    pub(super) fn initialise(&mut self, thread: u32, code: u32, (at, count): (u32, u32)) -> Result<()> {
        let refuse = |why| Err(Refusal { code, why });
        if self.objects.contains_key(&at) {
            return refuse(Why::InitialisedTwice);
        }
        if count == 0 || i64::from(count) > MOST_BYTES {
            return refuse(Why::Count);
        }
        let is_near = |other: &&u32| **other != at && other.abs_diff(at) < 8;
        if self.units.keys().find(is_near).is_some()
            || self.cells.range(at / CELL..(at + 8).div_ceil(CELL)).next().is_some()
        {
            return refuse(Why::Object);
        }
        let time = self.known[thread as usize].order[thread as usize];
        let object = Object {
            unit: self.units[&at],
            count,
            pending: count,
            bytes: 0,
            phase: 0,
            by: (thread, time),
            came: Vec::new(),
            open: self.nothing(),
            complete: self.nothing(),
            waited: Vec::new(),
            brought: None,
        };
        self.objects.insert(at, object);
        Ok(())
    }

    /// An object of which a thread knows that it is initialised.
    pub(super) fn object(&mut self, thread: u32, code: u32, at: u32) -> Result<&mut Object> {
        let refused = Refusal { code, why: Why::NotInitialised };
        let (by, time) = self.objects.get(&at).ok_or(refused.clone())?.by;
        if !self.knows(thread, by, time) {
            return Err(refused);
        }
        self.objects.get_mut(&at).ok_or(refused)
    }

    /// The same, where the thread may bring something to the open phase: it knows that the one before is complete.
    pub(super) fn admitted(&mut self, thread: u32, code: u32, at: u32) -> Result<&mut Object> {
        let object = self.object(thread, code, at)?;
        let (unit, phase) = (object.unit, object.phase);
        if !self.knows(thread, unit, phase) {
            if self.known[thread as usize].in_time(unit) < phase {
                return Err(Refusal { code, why: Why::Reused });
            }
            self.in_time.set(true);
        }
        self.object(thread, code, at)
    }

    pub(super) fn arrive(&mut self, thread: u32, code: u32, at: u32, (count, bytes): (u32, u32)) -> Result<()> {
        self.admitted(thread, code, at)?;
        let released = self.release(thread);
        let object = self.object(thread, code, at)?;
        if count == 0 || count > object.pending {
            return Err(Refusal { code, why: Why::TooMany });
        }
        object.pending -= count;
        object.bytes += i64::from(bytes);
        if object.bytes > MOST_BYTES {
            return Err(Refusal { code, why: Why::Bytes });
        }
        object.open.iter_mut().zip(&released).for_each(|(open, released)| raise(open, released));
        let [order, _, time] = released;
        object.came.push((thread, [order, time]));
        self.settle(at)
    }

    /// Where all has come, the phase is complete.
    pub(super) fn settle(&mut self, at: u32) -> Result<()> {
        let nothing = self.nothing();
        let Some(object) = self.objects.get_mut(&at) else { return Ok(()) };
        if object.pending > 0 || object.bytes != 0 {
            return Ok(());
        }
        let phase = object.phase;
        for waited in object.waited.extract_if(.., |one| one.phases == phase) {
            let Waited { thread, time, behind, .. } = waited;
            let came = &object.came[behind as usize..];
            let tells = |clock: &Clock| clock.get(thread as usize).is_some_and(|known| *known >= time);
            if came.iter().any(|(other, [order, _])| *other == thread || tells(order)) {
                continue;
            }
            // Where nobody knows in causality order, somebody may in time.
            self.in_time.set(true);
            if !came.iter().any(|(_, [_, in_time])| tells(in_time)) {
                return Err(Refusal { code: waited.code, why: Why::Overtaken });
            }
        }
        object.came.clear();
        object.complete = std::mem::replace(&mut object.open, nothing);
        object.phase += 1;
        object.pending = object.count;
        for thread in 0..self.threads {
            if let Status::Object { at: other, phases } = self.status[thread as usize]
                && other == at
            {
                let code = self.at[thread as usize].map_or(0, |event| event.code);
                self.pass(thread, code, at, phases)?;
            }
        }
        Ok(())
    }

    pub(super) fn wait(&mut self, thread: u32, code: u32, at: u32, parity: u32) -> Result<()> {
        let unit = self.object(thread, code, at)?.unit;
        let known = self.known[thread as usize].in_time(unit);
        if !self.knows(thread, unit, known) {
            self.in_time.set(true);
        }
        // The parity is that of the last phase that has to be complete. So many are at least.
        let phases = known + u32::from(known % 2 == parity);
        let phase = self.object(thread, code, at)?.phase;
        if phase < phases {
            self.status[thread as usize] = Status::Object { at, phases };
            return Ok(());
        }
        self.pass(thread, code, at, phases)
    }

    /// A thread goes on behind a wait.
    pub(super) fn pass(&mut self, thread: u32, code: u32, at: u32, phases: u32) -> Result<()> {
        let object = self.object(thread, code, at)?;
        if object.phase != phases {
            return Err(Refusal { code, why: Why::Overtaken });
        }
        let (unit, complete) = (object.unit, object.complete.clone());
        if phases > 0 {
            self.acquire(thread, &complete);
            self.known[thread as usize].order[unit as usize] = phases;
        }
        self.status[thread as usize] = Status::Runs;
        let time = self.known[thread as usize].order[thread as usize];
        let object = self.object(thread, code, at)?;
        object.waited.retain(|waited| waited.thread != thread || waited.phases != phases);
        let behind = object.came.len() as u32;
        object.waited.push(Waited { thread, time, phases, behind, code });
        Ok(())
    }
}
