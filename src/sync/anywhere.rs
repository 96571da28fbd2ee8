//! Accesses of which data decide the address.
//!
//! Input: a load, a store or an atomic operation whose address is that of an array or a variable, plus something that is open.
//! Output: that it may access all of it. Establishes: whatever the address is in another execution, the detector has compared the
//! access with all others to the shared variable, in the shared memory of each block of the cluster; of a global
//! array all accesses of the launch are compared with it at the end ([`super::alike`]). What it reads is open, and
//! what it may have written, too. Relies on: an access stays inside its array, at a multiple of its size (printed).
//! Reference: none.

use super::alike::accesses::How;
use super::follow::{Flow, Refusal};
use super::own::Own;
use super::taint::{Byte, Cause};
use crate::exec::access::{self, Target};
use crate::exec::decode::Place;
use crate::exec::thread::Thread;
use crate::exec::world::World;

impl Flow<'_> {
    /// Whether data decide where this access is, and it is known which array or variable that is in.
    pub(super) fn is_anywhere(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, index): (u32, u32),
    ) -> Result<bool, Refusal> {
        let access = &self.program.accesses[index as usize];
        let taint = own.get(access.base);
        let Some(place) = taint.pointee().filter(|_| taint.is_open()) else { return Ok(false) };
        let Ok(target) = access::find(self.program, world, thread, access) else { return Ok(false) };
        let site = world.detector.sites[at as usize];
        match (place, target) {
            (Place::Shared(number), Target::Shared(offset)) if self.is_in(number, offset) => {
                let (start, size) = self.extent(number);
                for rank in 0..self.program.ranks {
                    let start = rank * self.program.shared_size + start;
                    if site.writes {
                        shared[start as usize..(start + size) as usize].fill(Byte::open(Cause::Memory));
                    }
                    self.touch(thread, (Target::Shared(start), size), at)?;
                    self.anywhere.push((Target::Shared(start), size));
                }
            }
            (Place::Global, Target::Global(array, _)) => {
                if site.writes {
                    self.global.retain(|(other, _), _| *other != array);
                }
                if !access.constant {
                    self.alike.anywhere(array, How::of(site), at);
                }
            }
            (Place::Local, Target::Local(_)) if site.writes => own.local.fill(Byte::open(Cause::Memory)),
            (Place::Local, Target::Local(_)) => {}
            _ => return Ok(false),
        }
        self.has_anywhere = true;
        self.matters |= taint.chosen;
        Ok(true)
    }
}
