//! Products of matrices that the threads of a warp group start together: `wgmma`.
//!
//! Input: what a thread does. Output: what of the obligations fails. Establishes: all threads of a warp group execute the same of these operations in the
//! same order; who waits for a group of products knows that all of its warps have read, and in time that they have started. Relies on: as the emulator
//! (`exec::products`): one thread that has waited may tell for the warp group. Reference: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".

use super::block::{Block, Result, Stamp, Status, raise};
use super::event::{Refusal, Tile, Why};
use crate::exec::decode::FLAT_START;
use crate::ptx::descriptor::{ADDRESS, Matrix, UNIT};
use std::collections::VecDeque;
use std::ops::Range;

/// Threads of a warp group: four warps.
const THREADS: u32 = 128;

/// A warp group; its unit counts products.
#[derive(Clone, Debug)]
pub(super) struct WarpGroup {
    pub(super) unit: u32,
    pub(super) threads: Range<usize>,
    /// The operations that some of its threads have executed and others have not.
    pub(super) ahead: VecDeque<u32>,
    /// How many all of them have executed.
    pub(super) done: u32,
    /// Products that not all of its threads know to be complete: when each thread started them, by its own time. The first one's number.
    pub(super) times: VecDeque<Vec<u32>>,
    pub(super) first: u32,
}

/// The products of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Products {
    pub(super) started: u32,
    /// How many had been started when each group was committed that it did not wait for.
    pub(super) groups: VecDeque<u32>,
    /// Operations that it executed.
    pub(super) done: u32,
}

impl WarpGroup {
    /// The warp groups of a block.
    pub(super) fn all(first: u32, threads: u32) -> Vec<WarpGroup> {
        let range = |start: u32| start as usize..(start + THREADS).min(threads) as usize;
        let one = |(unit, start)| WarpGroup {
            unit,
            threads: range(start),
            ahead: VecDeque::new(),
            done: 0,
            times: VecDeque::new(),
            first: 1,
        };
        (first..).zip((0..threads).step_by(THREADS as usize)).map(one).collect()
    }
}

impl Block {
    fn group(&mut self, thread: u32) -> &mut WarpGroup {
        &mut self.groups[(thread / THREADS) as usize]
    }

    /// An operation that all threads of a warp group execute.
    pub(super) fn together(&mut self, thread: u32, code: u32) -> Result<()> {
        let own = self.products[thread as usize].done;
        let group = self.group(thread);
        let at = (own - group.done) as usize;
        match group.ahead.get(at) {
            Some(other) if *other != code => return Err(Refusal { code, why: Why::WarpGroup }),
            Some(_) => {}
            None => group.ahead.push_back(code),
        }
        let threads = group.threads.clone();
        self.products[thread as usize].done += 1;
        let least = self.products[threads].iter().map(|one| one.done).min().unwrap_or(0);
        let group = self.group(thread);
        group.ahead.drain(..(least - group.done) as usize);
        group.done = least;
        Ok(())
    }

    /// `wgmma.mma_async`
    pub(super) fn product(&mut self, thread: u32, code: u32, a: Option<Tile>, b: Tile) -> Result<()> {
        self.together(thread, code)?;
        let (products, known) = (&mut self.products[thread as usize], &mut self.known[thread as usize]);
        products.started += 1;
        let number = products.started;
        // What the thread does next, those that wait for the product are not told.
        let time = known.order[thread as usize];
        known.order[thread as usize] += 1;
        let group = self.group(thread);
        let at = (number - group.first) as usize;
        if at == group.times.len() {
            group.times.push_back(vec![0; THREADS as usize]);
        }
        group.times[at][(thread % THREADS) as usize] = time;
        // The first thread of a warp reads for it.
        if thread.is_multiple_of(32) {
            let unit = self.group(thread).unit;
            let stamp = Stamp { unit, time: number, code, is_async: true };
            for place in a.iter().chain([&b]).flat_map(Tile::pieces) {
                let piece = (place, UNIT as u32);
                self.beside_objects(code, piece)?;
                self.access_async(thread, piece, stamp, false)?;
            }
        }
        for other in self.group(thread).threads.clone() {
            if let Status::Products { last } = self.status[other] {
                self.await_products(other as u32, last);
            }
        }
        Ok(())
    }

    /// `wgmma.commit_group`
    pub(super) fn commit_products(&mut self, thread: u32, code: u32) -> Result<()> {
        self.together(thread, code)?;
        let products = &mut self.products[thread as usize];
        products.groups.push_back(products.started);
        Ok(())
    }

    /// `wgmma.wait_group`
    pub(super) fn wait_products(&mut self, thread: u32, code: u32, pending: u32) -> Result<()> {
        self.together(thread, code)?;
        let groups = &mut self.products[thread as usize].groups;
        let complete = groups.len().saturating_sub(pending as usize);
        let last = groups.drain(..complete).next_back();
        if let Some(last) = last {
            self.await_products(thread, last);
        }
        Ok(())
    }

    /// A thread goes on when its warp group has started so many products.
    fn await_products(&mut self, thread: u32, last: u32) {
        let group = &mut self.groups[(thread / THREADS) as usize];
        let (unit, threads) = (group.unit as usize, group.threads.clone());
        if !self.products[threads.clone()].iter().all(|one| one.started >= last) {
            self.status[thread as usize] = Status::Products { last };
            return;
        }
        self.status[thread as usize] = Status::Runs;
        let known = &mut self.known[thread as usize];
        known.order[unit] = known.order[unit].max(last);
        if let Some(times) = last.checked_sub(group.first).and_then(|at| group.times.get(at as usize)) {
            raise(&mut known.time[threads.clone()], times);
        }
        if thread as usize + 1 == threads.end {
            let least = self.known[threads].iter().map(|one| one.order[unit]).min().unwrap_or(0);
            let over = (least + 1).saturating_sub(group.first).min(group.times.len() as u32);
            group.times.drain(..over as usize);
            group.first += over;
        }
    }

    /// The threads have exited: those of each warp group have executed the same operations.
    pub(super) fn check_groups(&self) -> Result<()> {
        for group in &self.groups {
            let is_whole = group.threads.len() as u32 == THREADS;
            if let Some(code) = group.ahead.front().filter(|_| is_whole || group.done > 0) {
                return Err(Refusal { code: *code, why: Why::WarpGroup });
            }
            if !is_whole && group.done > 0 {
                return Err(Refusal { code: 0, why: Why::WarpGroup });
            }
        }
        Ok(())
    }
}

impl Tile {
    /// Where it starts in the shared memory of the block.
    pub(super) fn start(&self) -> u32 {
        Matrix::of(self.descriptor).map_or(0, |matrix| matrix.start.wrapping_sub(FLAT_START) as u32)
    }

    /// Offsets of the pieces of 16 bytes in the shared memory of the block that a product reads; those below its start are too large.
    pub(super) fn pieces(&self) -> Vec<u32> {
        let Some(matrix) = Matrix::of(self.descriptor) else { return Vec::new() };
        let rows = u64::from(self.rows);
        let behind = if self.is_transposed { matrix.along_mn(rows) } else { matrix.along_k(rows) };
        let offset = |behind: u64| (matrix.start.wrapping_add(behind) & ADDRESS).wrapping_sub(FLAT_START) as u32;
        behind.into_iter().map(offset).collect()
    }
}
