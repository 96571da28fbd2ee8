//! The barrier of a cluster: `barrier.cluster.arrive`, `barrier.cluster.wait`.
//!
//! Establishes: a generation is complete when all threads of the cluster that have not exited have come; who waits knows what
//! those did before that came with `.release`. Each thread comes once a generation, and waits before it comes again.
//! Reference: PTX ISA, `barrier.cluster`.

use super::block::BlockState;
use super::history::{Object, Part};
use super::objects::misused;
use super::outcome::BarrierMisuse;
use super::races::clock::Clock;
use super::thread::{Status, Thread};
use super::world::World;
use std::rc::Rc;

/// The barrier of a cluster.
#[derive(Debug, Default)]
pub(crate) struct ClusterBarrier {
    /// Number of the open generation.
    generation: u32,
    /// Threads that have come to it.
    came: u32,
    /// Those of them that have exited since.
    gone: u32,
    /// How many had when the last one became complete.
    last: u32,
    /// What arrivals released.
    released: Clock,
    /// What they had released when the last generation became complete.
    complete: Rc<Clock>,
    /// A generation was completed since the waiting threads were looked at.
    woken: bool,
}

impl ClusterBarrier {
    /// How many generations are complete, and how many threads came to the last one.
    pub(crate) fn completed(&self) -> (u32, u32) {
        (self.generation, self.last)
    }

    /// A thread exits that has come to a generation and not waited for it; so many are left.
    pub(super) fn leave(&mut self, came: Option<u32>, live: u32) {
        self.gone += u32::from(came == Some(self.generation));
        self.complete(live);
    }

    /// Ends the generation if all of so many threads have come that have not exited.
    pub(super) fn complete(&mut self, live: u32) {
        if self.came > 0 && self.came - self.gone >= live {
            self.generation += 1;
            (self.last, self.gone) = (std::mem::take(&mut self.came), 0);
            self.complete = Rc::new(self.released.clone());
            self.woken = true;
        }
    }
}

impl BlockState {
    /// A thread comes to the barrier; false if it does not go on by itself.
    pub(super) fn arrive_at_cluster(&mut self, world: &mut World, thread: &mut Thread, releases: bool) -> bool {
        if thread.came.is_some() {
            return misused(world, (thread.number, thread.last()), BarrierMisuse::ArrivesTwice);
        }
        world.note(thread, None, 0);
        if world.races && (releases || world.barriers_only) {
            let known = world.detector.shape.snapshot(thread.number, &thread.clock);
            match releases {
                true => self.cluster.released.join(&known),
                false => self.cluster.released.hear(&known),
            }
            thread.clock.epoch += 1;
        }
        thread.came = Some(self.cluster.generation);
        let generation = (Object::Cluster, u64::from(self.cluster.generation));
        world.at_barrier(self.number, (thread.number, thread.last()), generation, Part::Arrives);
        self.cluster.came += 1;
        let live = self.live_threads();
        self.cluster.complete(live);
        !self.cluster.woken
    }

    /// A thread waits for the generation to which it has come; false if it does not go on by itself.
    pub(super) fn wait_for_cluster(&mut self, world: &mut World, thread: &mut Thread) -> bool {
        match thread.came {
            None => misused(world, (thread.number, thread.last()), BarrierMisuse::NotArrived),
            Some(_) => {
                world.note(thread, None, 0);
                self.leave_cluster(world, thread);
                thread.status == Status::Running
            }
        }
    }

    /// A thread waits, or goes on if its generation is complete.
    fn leave_cluster(&mut self, world: &mut World, thread: &mut Thread) {
        if thread.came.is_some_and(|generation| generation == self.cluster.generation) {
            thread.status = Status::Cluster;
            return;
        }
        if let Some(generation) = thread.came {
            let generation = (Object::Cluster, u64::from(generation));
            world.at_barrier(self.number, (thread.number, thread.last()), generation, Part::Waits);
        }
        (thread.status, thread.came) = (Status::Running, None);
        if world.races {
            world.detector.shape.learn(thread.number, &mut thread.clock, &self.cluster.complete);
        }
    }

    /// Threads whose generation is complete go on.
    pub(super) fn wake_cluster(&mut self, world: &mut World, threads: &mut [Thread]) {
        if std::mem::take(&mut self.cluster.woken) {
            for thread in threads.iter_mut().filter(|thread| thread.status == Status::Cluster) {
                self.leave_cluster(world, thread);
            }
        }
    }
}
