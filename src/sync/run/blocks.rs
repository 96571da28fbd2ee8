//! The blocks of the launch, or its clusters, one after the other.
//!
//! Part of [`super`]: which are executed ([`alike`](crate::sync::alike)), and what has to hold when one ends.

use super::{Block, Early, LOCAL_BYTES, Run, objects::party};
use crate::exec::access::Target;
use crate::exec::machine::blocks_of;
use crate::exec::races::Current;
use crate::exec::races::clock::Agent;
use crate::exec::races::order::Knows;
use crate::exec::thread::{Status, Thread};
use crate::geometry::index_of;
use crate::sync::follow::{Refusal, What};
use crate::sync::taint::{Byte, Cause, Taint};

impl Run<'_> {
    /// The detector sees an access of which data decide the address: it may be to any byte of its variable.
    pub(super) fn show_anywhere(&mut self, index: usize, at: u32) -> Result<(), Refusal> {
        let all = std::mem::take(&mut self.flow.anywhere);
        for (target, bytes) in all {
            let Target::Shared(offset) = target else { continue };
            if self.block.state.admits(self.program, target, bytes).is_err() {
                return Err(Refusal { code: at, what: What::AnywhereObject, open: None });
            }
            self.goes_to(index, offset, at);
            let Block { state, threads, .. } = &mut self.block;
            let thread = &threads[index];
            let current =
                Current { thread: thread.number, code: at, clock: &thread.clock, same_value: false, map: None };
            self.world.detector.shared_access(&mut state.cells, offset, bytes, current);
            self.since += u64::from(bytes / 4);
        }
        Ok(())
    }

    /// Runs the launch.
    pub(super) fn blocks(&mut self) -> Result<(), Early> {
        let geometry = self.launch.geometry;
        let (size, ranks) = (geometry.block_threads() as u32, self.program.ranks);
        let all = size * ranks;
        if all as usize * self.program.local_size as usize > LOCAL_BYTES {
            return Err(Refusal { code: 0, what: What::TooLarge, open: None }.into());
        }
        assert!(ranks == 1 || size.is_multiple_of(32), "sync: blocks of clusters have whole warps");
        let sizes: Vec<u64> = self.world.global.arrays.iter().map(|array| array.size).collect();
        let mut left: Vec<u32> = (0..geometry.blocks() as u32 / ranks).rev().collect();
        while let Some(cluster) = left.pop() {
            if self.world.halted {
                return Ok(());
            }
            let differ = self.flow.alike.start((self.program, self.launch), cluster, &left);
            let blocks = blocks_of(self.launch, cluster);
            let numbers: Vec<u32> = blocks.iter().map(|(number, _)| *number).collect();
            let block = &mut self.block;
            block.state.start(&numbers, &self.launch.contents);
            block.shared.clear();
            block.shared.resize((self.program.shared_size * ranks) as usize, Byte::open(Cause::Memory));
            block.objects.start(size, ranks);
            self.phases.start(all as usize);
            self.peeks.clear();
            self.peeks.resize_with(all as usize, || None);
            block.waiting.fill(None);
            self.flow.forget_values();
            block.votes = vec![Taint::FIXED; 16 * ranks as usize];
            block.remote.clear();
            block.cluster = 0;
            block.grouped = vec![(0, 0); all as usize];
            block.outgoing.clear();
            block.commits.clear();
            for (place, (thread, own)) in (0..).zip(block.threads.iter_mut().zip(&mut block.own)) {
                let (number, id) = blocks[(place / size) as usize];
                let linear = place % size;
                let thread_id = index_of(linear, geometry.block);
                thread.start(self.program, (linear, place), number * size + linear, thread_id, id);
                self.flow.start(own, &differ[(place / size) as usize]);
            }
            self.world.outcome.threads += u64::from(all);
            let generations = self.block.objects.generations + self.phases.completed;
            self.block()?;
            let generations = self.block.objects.generations + self.phases.completed - generations;
            let like = self.flow.alike.finish(cluster, &sizes);
            self.generations_left_out += generations * like.len() as u64;
            left.retain(|other| like.binary_search(other).is_err());
        }
        Ok(())
    }

    /// Runs the block to its end.
    fn block(&mut self) -> Result<(), Early> {
        loop {
            let mut has_run = false;
            for index in 0..self.block.threads.len() {
                while self.block.threads[index].status == Status::Running && !self.block.objects.is_held(index) {
                    has_run = true;
                    self.step(index)?;
                    if self.world.halted {
                        return Ok(());
                    }
                }
            }
            if self.block.threads.iter().all(|thread| thread.status == Status::Exited) {
                return self.end();
            }
            if !has_run {
                let stuck = self.block.threads.iter().find(|thread| thread.status != Status::Exited);
                let code = stuck.map_or(0, Thread::last);
                return Err(Refusal { code, what: What::Stuck, open: None }.into());
            }
        }
    }

    /// All threads of the block have exited: nothing may be under way to its shared memory.
    fn end(&mut self) -> Result<(), Early> {
        let Block { threads, remote, grouped, outgoing, .. } = &self.block;
        for (thread, (started, code)) in threads.iter().zip(grouped) {
            if thread.clock.agents[Agent::BulkReads as usize] < *started {
                return Err(Refusal { code: *code, what: What::Underway, open: None }.into());
            }
        }
        let size = threads.len() / self.program.ranks as usize;
        let of_rank = |rank: usize| &threads[rank * size..(rank + 1) * size];
        self.phases.end(&self.world, |offset| of_rank((offset / self.program.shared_size) as usize))?;
        for (rank, copy, code) in outgoing {
            let knows = |thread: &Thread| {
                let party = party(thread, *code);
                copy.phase.map_or(Knows::Not, |phase| party.later(&self.world).knows_phases(copy.object, phase + 1))
            };
            if !self.phases.rest.holds(Knows::best(of_rank(*rank as usize).iter().map(knows))) {
                return Err(Refusal { code: *code, what: What::Underway, open: None }.into());
            }
        }
        self.end_commits()?;
        for ((rank, thread), (epoch, code)) in remote {
            let knows = |other: &Thread| party(other, *code).later(&self.world).knows(*thread, *epoch);
            if !self.phases.rest.holds(Knows::best(of_rank(*rank as usize).iter().map(knows))) {
                return Err(Refusal { code: *code, what: What::Remote, open: None }.into());
            }
        }
        Ok(())
    }
}
