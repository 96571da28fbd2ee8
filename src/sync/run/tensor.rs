//! Tensor memory: which allocation an address is of, and commits.
//!
//! Part of [`super`]. Establishes: each address is that of the allocation in which its columns are; the address that `alloc` writes is
//! known to be one; arrivals of commits come before their blocks end.

use super::{Block, Early, Run};
use crate::exec::access::{self, Target};
use crate::exec::decode::{ObjectOperation, Program, Slot, TensorOperation, TensorPlace};
use crate::exec::races::clock::Agent;
use crate::exec::races::order::Knows;
use crate::exec::tensor_memory::{self, COLUMNS};
use crate::exec::thread::Thread;
use crate::sync::follow::{Refusal, What};
use crate::sync::phases::{Action, Party};
use crate::sync::run::objects::party;
use crate::sync::taint::Taint;

/// The last commit of a thread at objects of one block: its number, and the instruction.
pub(super) type Commits = std::collections::BTreeMap<(u32, u32), (u32, u32)>;

impl Run<'_> {
    /// A thread is about to access tensor memory.
    pub(super) fn tensor_before(&mut self, index: usize, (at, number): (u32, u32)) -> Result<(), Early> {
        let Block { state, threads, own, .. } = &self.block;
        let thread = &threads[index];
        let rank = (thread.place / state.size) as usize;
        let operation = &self.program.tensor_operations[number as usize];
        let second = match operation {
            TensorOperation::Move { second: Some(behind), .. } => *behind,
            _ => 0,
        };
        let is_pair = match operation {
            TensorOperation::Copy { pair, .. } => *pair,
            TensorOperation::Product(product) => product.pair,
            _ => false,
        };
        for place in operation.places() {
            let first = column(thread, place);
            for start in [first, first.wrapping_add(second)] {
                let columns = start..start.saturating_add(1);
                // Where there is no allocation the emulator says so.
                let Some((number, is_whole)) = state.tensors[rank].allocation(&columns) else { continue };
                let taint = own[index].get(place.base);
                let is_known = match taint.place {
                    None => is_whole,
                    Some(_) => taint.pointee() == Some(crate::exec::decode::Place::Tensor(number)),
                };
                let peer = state.tensors.get(rank ^ 1).and_then(|peer| peer.allocation(&columns));
                if !is_known || is_pair && peer != Some((number, is_whole)) {
                    return Err(Refusal { code: at, what: What::NoVariable, open: None }.into());
                }
            }
        }
        Ok(())
    }

    /// A thread has executed `alloc`: the address is the start of an allocation.
    pub(super) fn tensor_after(&mut self, index: usize, number: u32) {
        let TensorOperation::Allocate { access, columns } = &self.program.tensor_operations[number as usize] else {
            return;
        };
        let Block { state, threads, own, shared, .. } = &mut self.block;
        let thread = &threads[index];
        if !(thread.place % state.size).is_multiple_of(32) {
            return;
        }
        let access = &self.program.accesses[*access as usize];
        let Ok(to @ Target::Shared(offset)) = access::find(self.program, &self.world, thread, access) else { return };
        let bytes = &state.shared[offset as usize..offset as usize + 4];
        let start = bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        let columns = thread.value(*columns) as u32;
        let memory = &state.tensors[(thread.place / state.size) as usize];
        let Some((number, _)) = memory.allocation(&(start..start.saturating_add(columns))) else { return };
        let value = match columns {
            COLUMNS => Taint::FIXED,
            _ => Taint::address(crate::exec::decode::Place::Tensor(number)),
        };
        self.flow.write(shared, &mut own[index], to, 4, value);
    }

    /// A thread is about to execute `tcgen05.commit`.
    pub(super) fn commit(
        &mut self,
        index: usize,
        (at, operation, multicast): (u32, &ObjectOperation, Option<Slot>),
    ) -> Result<(), Early> {
        let thread = &self.block.threads[index];
        let Ok(Target::Shared(offset)) =
            access::find(self.program, &self.world, thread, &self.program.accesses[operation.access as usize])
        else {
            return Ok(());
        };
        let targets = targets(self.program, self.block.state.ranks, thread, multicast, offset);
        let agent = self.world.detector.shape.agent_of(thread.number, Agent::Tensor);
        let count = self.world.detector.pipelines.count(thread.number) + 1;
        let party = Party { ends: Some((agent, count)), ..party(thread, at) };
        let number = thread.number;
        self.tell_copies(index);
        for offset in targets {
            let Some(state) = self.block.state.objects.state(offset) else { continue };
            self.phases.act(&self.world, party.clone(), (offset, state), Action::Arrive { bytes: 0 })?;
            let rank = offset / self.program.shared_size.max(1);
            self.block.commits.insert((rank, number), (count, at));
        }
        Ok(())
    }

    /// All threads of the blocks have exited: the arrivals of all commits have come.
    pub(super) fn end_commits(&self) -> Result<(), Early> {
        let Block { threads, state, commits, .. } = &self.block;
        for ((rank, thread), (count, code)) in commits {
            let agent = self.world.detector.shape.agent_of(*thread, Agent::Tensor);
            let knows = |other: &Thread| party(other, *code).later(&self.world).knows(agent, *count);
            let first = (rank * state.size) as usize;
            let of_rank = &threads[first..first + state.size as usize];
            if !self.phases.rest.holds(Knows::best(of_rank.iter().map(knows))) {
                return Err(Refusal { code: *code, what: What::Underway, open: None }.into());
            }
        }
        Ok(())
    }
}

fn column(thread: &Thread, place: TensorPlace) -> u32 {
    tensor_memory::at(thread, place).1
}

fn targets(program: &Program, ranks: u32, thread: &Thread, multicast: Option<Slot>, offset: u32) -> Vec<u32> {
    tensor_memory::targets(program, ranks, multicast.map(|slot| thread.value(slot) & 0xffff), offset)
}
