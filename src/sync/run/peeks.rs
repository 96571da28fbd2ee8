//! Waits that are tried first.
//!
//! Part of [`super`]: [`peek`](crate::sync::peek) says what a try may decide.

use super::{Block, Early, Run, objects::party};
use crate::exec::decode::ObjectKind;
use crate::exec::objects;
use crate::sync::follow::{Refusal, What};
use crate::sync::peek::Peek;
use crate::sync::phases::Wanted;
use crate::sync::spin::Waiting as AtWait;
use crate::sync::taint::Taint;

impl Run<'_> {
    /// A thread that has tried a wait executes a computation or a branch; false if it does something else.
    pub(super) fn at_peek(&mut self, index: usize) -> Result<bool, Early> {
        let Block { state, threads, own, shared, .. } = &mut self.block;
        let (thread, own) = (&mut threads[index], &mut own[index]);
        let Some(peek) = &mut self.peeks[index] else { return Ok(false) };
        if peek.meets(thread, own)? {
            self.peeks[index] = None;
            return Ok(false);
        }
        let results = peek.before(self.program, (&mut self.world, state), thread, own, &mut self.flow.alike)?;
        let branch = peek.branches(&self.flow, thread, own)?;
        if let Some(p) = branch {
            own.give(p, Taint::FIXED);
        }
        if results.is_empty() && branch.is_none() {
            peek.after(own, Vec::new());
            return Ok(false);
        }
        self.flow.step(&self.world, shared, thread, own)?;
        if let Some(p) = branch {
            own.give(p, peek.taint());
        }
        peek.after(own, results);
        let executed = thread.run(self.program, &mut self.world, state, 1);
        self.count(index, executed);
        Ok(true)
    }

    /// Whether this is a wait of which something else depends on the answer than whether it is asked again.
    pub(super) fn is_peek(&mut self, index: usize, (at, operation): (u32, u32)) -> bool {
        let operation = &self.program.objects[operation as usize];
        if !matches!(operation.kind, ObjectKind::Wait { .. }) {
            return false;
        }
        let Block { state, threads, own, shared, .. } = &mut self.block;
        let (thread, own) = (&mut threads[index], &mut own[index]);
        let mut waiting = AtWait { world: &mut self.world, state, shared, thread, own };
        self.spins.try_out(&mut self.flow, &mut waiting, at, operation.d.map(|(slot, _)| slot)).is_err()
    }

    /// A thread tries a wait, which says `false`.
    pub(super) fn peek(&mut self, index: usize, (at, operation): (u32, u32)) -> Result<(), Early> {
        let Block { threads, own, shared, .. } = &mut self.block;
        self.flow.step(&self.world, shared, &threads[index], &mut own[index])?;
        let asked = self.asked(index, (at, operation))?;
        let operation = &self.program.objects[operation as usize];
        let (Some(wanted), Some((d, _))) = (asked, operation.d) else {
            return Err(Refusal { code: at, what: What::Spin, open: None }.into());
        };
        if matches!(operation.kind, ObjectKind::Wait { parity: false, .. }) {
            self.phases.tried(&party(&self.block.threads[index], at), wanted)?;
        }
        let Block { state, threads, own, .. } = &mut self.block;
        let (thread, peek) = (&mut threads[index], Peek::new(at, wanted, (d, operation.ordered)));
        thread.set(d, 0);
        (thread.next, thread.steps) = (at + 1, thread.steps + 1);
        // It is an access, too: the object must live.
        objects::show(self.program, &mut self.world, state, thread, wanted.0);
        own[index].give(d, peek.taint());
        self.peeks[index] = Some(peek);
        self.count(index, 1);
        Ok(())
    }

    /// What a thread that is about to wait asks for: the offset of the object, and how many phases have to be complete.
    pub(super) fn asked(&mut self, index: usize, (at, operation): (u32, u32)) -> Result<Option<(u32, u32)>, Early> {
        let operation = &self.program.objects[operation as usize];
        let Some(offset) = self.access(index, (at, operation.access)) else { return Ok(None) };
        let thread = &self.block.threads[index];
        let ObjectKind::Wait { phase, parity, .. } = operation.kind else { return Ok(None) };
        let asked = if parity { objects::parity(thread.value(phase)) } else { thread.value(phase) };
        if parity && asked > 1 {
            // The emulator says so where it is a wait.
            return Ok(None);
        }
        let wanted = if parity { Wanted::Parity(asked as u32) } else { Wanted::Phase((asked >> 20) as u32) };
        let phases = self.phases.asked(&self.world, &party(thread, at), offset, wanted)?;
        Ok(phases.map(|phases| (offset, phases)))
    }
}
