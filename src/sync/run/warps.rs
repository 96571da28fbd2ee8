//! What threads give each other: results of reductions at barriers, and of operations of a warp.
//!
//! Part of [`super`]: which values they were made of.

use super::{Block, Run, Waiting};
use crate::exec::decode::Code;
use crate::exec::thread::Status;
use crate::sync::taint::{Cause, Taint};

impl Run<'_> {
    /// The results of reductions at barriers that are complete.
    pub(super) fn give_votes(&mut self, blocked: &[(usize, u32, usize)]) {
        let mut done = vec![false; self.block.votes.len()];
        for (index, number, id) in blocked {
            let (thread, id) = (&self.block.threads[*index], *id);
            let barrier = &self.program.barriers[*number as usize];
            let Some(reduction) = barrier.reduction.filter(|_| thread.status == Status::Running) else { continue };
            done[id] = true;
            if let Some(d) = reduction.d {
                self.block.own[*index].give(d, self.block.votes[id]);
            }
        }
        for (vote, _) in self.block.votes.iter_mut().zip(done).filter(|(_, done)| *done) {
            *vote = Taint::FIXED;
        }
    }

    /// The results of an operation of a warp that is complete.
    pub(super) fn give_to_warp(&mut self, warp: usize, is_open: bool) {
        let Block { threads, own, waiting, .. } = &mut self.block;
        let lanes = warp * 32..(warp * 32 + 32).min(threads.len());
        let is_done = |lane: &usize| !matches!(threads[*lane].status, Status::Warp { .. });
        let done: Vec<(usize, Waiting)> =
            lanes.filter(is_done).filter_map(|lane| waiting[lane].take().map(|one| (lane, one))).collect();
        for (lane, one) in &done {
            let Code::Warp(number) = self.program.code[one.code as usize] else { continue };
            let alike = done.iter().filter(|(_, other)| other.members == one.members);
            let at_once = alike.clone().all(|(_, other)| other.code == one.code);
            let value = match one.members {
                Some(_) if at_once && !is_open => {
                    let all = alike.clone().fold(Taint::FIXED, |all, (_, other)| all.mixed(other.sources, one.code));
                    let value = alike.fold(one.value, |value, (_, other)| value.joined(other.value, one.code));
                    // Which lane gives it data must not decide, if it is an address.
                    let place = value.place.filter(|_| !all.is_open());
                    Taint { place, ..Taint { place: None, ..value }.mixed(all, one.code) }
                }
                _ => Taint::open(Cause::Warp, one.code),
            };
            // A predicate beside it is no address.
            let values = [value, Taint { place: None, ..value }];
            for (to, value) in self.program.warp_operations[number as usize].d.iter().zip(values) {
                to.iter().for_each(|(slot, _)| own[*lane].give(*slot, value));
            }
        }
    }
}
