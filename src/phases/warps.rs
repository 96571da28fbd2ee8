//! What lanes of a warp do together: barriers of the block, and operations with a mask.
//!
//! Input: a warp. Output: what of the obligations fails. Establishes: a warp comes to a barrier when all its lanes have come that have not exited; who comes to a
//! generation knows that the one before is over. Relies on: nothing. Reference: PTX ISA, `barrier`, `bar.warp.sync`; phases-review E6, E7, E9.

use super::block::{BARRIERS, Block, Result, Status, Told, raise};
use super::event::{Action, Event, Refusal, Why};

impl Block {
    /// The lanes of a warp that have not exited.
    fn live(&self, warp: u32) -> Vec<u32> {
        let lanes = warp * 32..(warp * 32 + 32).min(self.threads);
        lanes.filter(|lane| self.status[*lane as usize] != Status::Exited).collect()
    }

    /// Where all lanes of a warp that have to have come to a barrier or an operation, it takes place.
    pub(super) fn meet(&mut self, warp: u32) -> Result<()> {
        let live = self.live(warp);
        let is_there = |lane: &&u32| self.status[**lane as usize] == Status::Lanes;
        let there: Vec<(u32, Event)> =
            live.iter().filter(is_there).filter_map(|lane| Some((*lane, self.at[*lane as usize]?))).collect();
        let Some((_, first)) = there.first().copied() else { return Ok(()) };
        if let Action::Barrier { .. } = first.action {
            if there.iter().any(|(_, event)| *event != first) {
                return Err(Refusal { code: first.code, why: Why::Warp });
            }
            return if there.len() == live.len() { self.arrive_warp(warp, &live, first) } else { Ok(()) };
        }
        // Each mask for itself.
        for (lane, event) in &there {
            let Action::Warp { members, orders } = event.action else {
                return Err(Refusal { code: event.code, why: Why::Warp });
            };
            let meant: Vec<u32> = (0..32).filter(|bit| members >> bit & 1 == 1).map(|bit| warp * 32 + bit).collect();
            if meant.iter().any(|member| *member >= self.threads || self.status[*member as usize] == Status::Exited) {
                return Err(Refusal { code: event.code, why: Why::Exited });
            }
            if meant.first() != Some(lane) {
                continue;
            }
            let same = there.iter().filter(|(_, other)| other == event).count();
            if same == meant.len() {
                let mut all: Option<Told> = None;
                for member in meant.iter().filter(|_| orders) {
                    let released = self.release(*member);
                    match &mut all {
                        None => all = Some(released),
                        Some(all) => all.iter_mut().zip(&released).for_each(|(all, one)| raise(all, one)),
                    }
                }
                for member in &meant {
                    all.iter().for_each(|all| self.acquire(*member, all));
                    self.status[*member as usize] = Status::Runs;
                }
            }
        }
        Ok(())
    }

    /// A warp comes to a barrier.
    fn arrive_warp(&mut self, warp: u32, lanes: &[u32], event: Event) -> Result<()> {
        let Event { code, action: Action::Barrier { id, count, arrives, aligned } } = event else { return Ok(()) };
        let refuse = |why| Err(Refusal { code, why });
        let all = self.threads.next_multiple_of(32);
        if id >= BARRIERS || count.is_some_and(|count| count == 0 || count % 32 != 0 || count > all) {
            return refuse(Why::Count);
        }
        if count.is_none() && (arrives || self.status.contains(&Status::Exited)) {
            return refuse(Why::Exited);
        }
        let unit = self.threads + id;
        let generation = self.barriers[id as usize].generation;
        if !lanes.iter().any(|lane| self.knows(*lane, unit, generation)) {
            return refuse(Why::Reused);
        }
        let barrier = &self.barriers[id as usize];
        if !barrier.warps.is_empty() && barrier.count != count {
            return refuse(Why::Count);
        }
        // "All threads in the CTA must execute the same instruction."
        if !barrier.warps.is_empty() && aligned && count.is_none() && barrier.code != code {
            return refuse(Why::Warp);
        }
        if barrier.warps.contains(&warp) {
            return refuse(Why::TooMany);
        }
        for lane in lanes {
            let released = self.release(*lane);
            let barrier = &mut self.barriers[id as usize];
            barrier.open.iter_mut().zip(&released).for_each(|(open, released)| raise(open, released));
            self.status[*lane as usize] = if arrives { Status::Runs } else { Status::Barrier };
        }
        let barrier = &mut self.barriers[id as usize];
        (barrier.count, barrier.code) = (count, code);
        barrier.warps.push(warp);
        if !arrives {
            barrier.waiting.extend(lanes);
        }
        if (barrier.warps.len() as u32) * 32 < count.unwrap_or(all) {
            return Ok(());
        }
        let nothing = self.nothing();
        let barrier = &mut self.barriers[id as usize];
        barrier.generation += 1;
        barrier.warps.clear();
        let (waiting, generation) = (std::mem::take(&mut barrier.waiting), barrier.generation);
        let open = std::mem::replace(&mut barrier.open, nothing);
        for lane in waiting {
            self.acquire(lane, &open);
            self.known[lane as usize].order[unit as usize] = generation;
            self.status[lane as usize] = Status::Runs;
        }
        Ok(())
    }
}
