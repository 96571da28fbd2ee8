//! Loads, stores and atomics.
//!
//! Establishes: every access is within bounds and aligned, or ends the launch; every access to
//! shared and global memory is shown to the detector before it happens.

use super::block::BlockState;
use super::decode::{Access, FLAT_START, Program, RANK_SHIFT, SHARED_BITS, SharedVariable, Space};
use super::memory;
use super::objects::misused;
use super::outcome::{Fault, FaultKind, Stop};
use super::races::observed::Strong;
use super::races::sync::{Party, StrongAccess};
use super::races::{Current, Location};
use super::thread::Thread;
use super::values::atomic::{AtomicOperation, atomic as new_value, flushed_add};
use super::values::{mask, signed};
use super::world::World;
use crate::ptx::ast::ScalarType;

/// A resolved address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// Array and offset.
    Global(usize, u64),
    /// Offset in the block's shared memory.
    Shared(u32),
    /// Offset in the thread's local memory.
    Local(usize),
    /// Offset in the parameters.
    Param(usize),
}

/// Resolves the address of a whole access; a fault ends the launch.
pub(crate) fn resolve(program: &Program, world: &mut World, thread: &mut Thread, access: &Access) -> Option<Target> {
    match find(program, world, thread, access) {
        Ok(target) => {
            if let Some(location) = target.location() {
                world.note(thread, Some(location), access.bytes * access.elements);
            }
            Some(target)
        }
        Err(fault) => {
            thread.fault(world, fault);
            None
        }
    }
}

/// Where an access is.
///
/// # Errors
/// It is none.
pub(crate) fn find(program: &Program, world: &World, thread: &Thread, access: &Access) -> Result<Target, Fault> {
    let mut address = thread.value(access.base).wrapping_add_signed(access.offset);
    let bytes = u64::from(access.bytes * access.elements);
    let windows = program.windows;
    let mut space = access.space;
    if space == Space::Generic {
        let inside = |start: u64| address.wrapping_sub(start) < windows.size;
        (space, address) = match () {
            () if inside(windows.shared) => (Space::Shared, address - windows.shared),
            () if inside(windows.local) => (Space::Local, address - windows.local),
            () if inside(windows.param) => (Space::Param, address),
            () => (Space::Global, address),
        };
    }
    let found = match space {
        Space::Global => world.global.find(address, bytes).map(|(array, offset)| Target::Global(array, offset)),
        Space::Shared => {
            address &= mask(32);
            shared(program, thread.place / world.detector.shape.block, address, bytes)
        }
        // Addresses of `.param` in a function lie in local memory.
        Space::Param if address >= windows.param => {
            let offset = address - windows.param;
            (offset + bytes <= world.parameters.len() as u64).then_some(Target::Param(offset as usize))
        }
        Space::Local | Space::Param | Space::Generic => {
            address &= mask(32);
            let fits = address + bytes <= thread.local.len() as u64;
            fits.then_some(Target::Local(address as usize))
        }
    };
    let kind = match found {
        None => FaultKind::Bounds,
        Some(_) if !address.is_multiple_of(bytes.next_power_of_two()) => FaultKind::Alignment,
        Some(target) => return Ok(target),
    };
    let dynamic = dynamic(address).filter(|_| space == Space::Shared && kind == FaultKind::Bounds);
    let place = (thread.number, thread.last());
    Err(Fault { place, kind, address, dynamic, bytes: bytes as u32, values: Vec::new() })
}

/// The byte of dynamic shared memory at an address, however much of it there is: GPUs have less than 2^18 bytes.
fn dynamic(address: u64) -> Option<u64> {
    let offset = address & mask(SHARED_BITS);
    (address >> SHARED_BITS == 1 && offset < 1 << 18).then_some(offset)
}

/// The place of an address in the shared memory of a cluster, for a thread of the block with this rank. The address names
/// the block if it comes from `mapa`.
pub(super) fn shared(program: &Program, rank: u32, address: u64, bytes: u64) -> Option<Target> {
    let (rank, within) = match program.ranks {
        1 => (rank, address),
        _ => (((address >> RANK_SHIFT) as u32).checked_sub(1).unwrap_or(rank), address & mask(RANK_SHIFT)),
    };
    if program.is_flat {
        let offset = within.checked_sub(FLAT_START)?;
        let is_in = |variable: &&SharedVariable| {
            let start = u64::from(variable.offset);
            start <= offset && offset + bytes <= start + u64::from(variable.size)
        };
        program.shared.iter().find(is_in).filter(|_| rank < program.ranks)?;
        return Some(Target::Shared(rank * program.shared_size + offset as u32));
    }
    let number = (within >> SHARED_BITS).wrapping_sub(1) as usize;
    let offset = address & mask(SHARED_BITS);
    let variable = program.shared.get(number).filter(|variable| offset + bytes <= u64::from(variable.size));
    let variable = variable.filter(|_| rank < program.ranks)?;
    Some(Target::Shared(rank * program.shared_size + variable.offset + offset as u32))
}

/// What memory holds at a generic address, for annotations: no access, so nothing notes it. `None` outside of all arrays.
pub(crate) fn look(
    program: &Program,
    world: &World,
    block: &BlockState,
    (place, address): (u32, u64),
    bytes: u32,
) -> Option<u64> {
    let in_shared = address.wrapping_sub(program.windows.shared);
    let target = if in_shared < program.windows.size {
        shared(program, place / block.size, in_shared & mask(32), u64::from(bytes))?
    } else {
        world.global.find(address, u64::from(bytes)).map(|(array, offset)| Target::Global(array, offset))?
    };
    peek_quietly(world, block, target, bytes)
}

/// The detector sees one scalar access and its bytes.
fn show(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    access: &Access,
    (target, bytes): (Target, u32),
    same_value: bool,
) {
    if let Err(misuse) = block.admits(program, target, bytes) {
        misused(world, (thread.number, thread.last()), misuse);
        return;
    }
    if !world.races || access.constant {
        return;
    }
    let current = Current { thread: thread.number, code: thread.last(), clock: &thread.clock, same_value, map: None };
    match target {
        Target::Global(array, offset) => world.detector.global_access(array, offset, bytes, current),
        Target::Shared(offset) => world.detector.shared_access(&mut block.cells, offset, bytes, current),
        Target::Local(_) | Target::Param(_) => {}
    }
    world.look_out(program, thread);
}

/// Whatever synchronisation an element brings.
fn synchronise(
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    access: &Access,
    target: Target,
    (reads, writes): (bool, bool),
) {
    if !world.races || access.constant || world.barriers_only {
        return;
    }
    let reach = access.strength.scope.map(|scope| world.reach(scope));
    if let (Some(reach), Some(location)) = (reach, target.location()) {
        let id = (thread.number, thread.clock.epoch, thread.last());
        let bytes = access.scalar_bytes();
        let writes = if access.atomic.is_some() { Some(writes) } else { writes.then_some(true) };
        let detector = &mut world.detector;
        detector.observed.access(&detector.shape, location, Strong { id, reach, bytes, reads, writes });
    }
    let (locations, address) = match target {
        Target::Global(array, offset) => {
            (&mut world.locations, world.global.arrays[array].address.wrapping_add(offset))
        }
        Target::Shared(offset) => (&mut block.locations, u64::from(offset)),
        Target::Local(_) | Target::Param(_) => return,
    };
    let Some(reach) = reach else {
        // A weak write ends what the location carried.
        if writes && !locations.is_empty() {
            locations.remove(&address);
        }
        return;
    };
    let strong = StrongAccess {
        reach,
        reads,
        writes,
        acquire: access.strength.acquire,
        release: access.strength.release,
        is_reduction: access.is_reduction,
    };
    let party = Party { thread: thread.number, clock: &mut thread.clock, fences: &mut thread.fences };
    world.detector.shape.synchronise(locations, address, strong, party);
}

impl Target {
    /// The element with this number.
    pub(crate) fn element(self, index: u32, bytes: u32) -> Target {
        let step = index * bytes;
        match self {
            Target::Global(array, offset) => Target::Global(array, offset + u64::from(step)),
            Target::Shared(offset) => Target::Shared(offset + step),
            Target::Local(offset) => Target::Local(offset + step as usize),
            Target::Param(offset) => Target::Param(offset + step as usize),
        }
    }

    fn is_visible(self) -> bool {
        self.location().is_some()
    }

    /// Where in memory that other threads see.
    pub(super) fn location(self) -> Option<Location> {
        match self {
            Target::Global(array, offset) => Some(Location::Global(array, offset)),
            Target::Shared(offset) => Some(Location::Shared(offset)),
            Target::Local(_) | Target::Param(_) => None,
        }
    }
}

fn peek(world: &mut World, block: &mut BlockState, thread: &Thread, target: Target, bytes: u32) -> u64 {
    match target {
        Target::Global(array, offset) => world.global.read(array, offset, bytes),
        Target::Shared(offset) => {
            if !block.is_written(offset, bytes) {
                let place = (thread.number, thread.last());
                let known = &mut world.outcome.uninitialised;
                if known.len() < 64 && !known.iter().any(|(_, code)| *code == place.1) {
                    known.push(place);
                }
            }
            memory::read(&block.shared, offset as usize, bytes)
        }
        Target::Local(offset) => memory::read(&thread.local, offset, bytes),
        Target::Param(offset) => memory::read(&world.parameters, offset, bytes),
    }
}

fn poke(
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    target: Target,
    bytes: u32,
    value: u64,
) -> bool {
    match target {
        Target::Global(array, offset) => world.global.write(array, offset, bytes, value),
        Target::Shared(offset) => {
            block.mark_written(offset, bytes);
            memory::write(&mut block.shared, offset as usize, bytes, value);
        }
        Target::Local(offset) => memory::write(&mut thread.local, offset, bytes, value),
        Target::Param(_) => return false,
    }
    true
}

/// `ld`; false if the thread does not go on by itself.
pub(crate) fn load(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let access = &program.accesses[index as usize];
    let Some(target) = resolve(program, world, thread, access) else { return false };
    for (index, data) in (0..).zip(&access.data) {
        let element = target.element(index, access.bytes);
        show(program, world, block, thread, access, (element, access.bytes), false);
        if access.strength.scope.is_some() {
            synchronise(world, block, thread, access, element, (true, false));
        }
        let value = peek(world, block, thread, element, access.bytes);
        if let Target::Global(array, offset) = element
            && let Some(code) = world.excluded_by((array, offset), access.bytes, value)
        {
            return thread.stop(world, Stop::Excluded { code });
        }
        if let Some((slot, bits)) = data {
            let value = if access.is_signed { signed(value, 8 * access.bytes) as u64 } else { value };
            thread.set(*slot, value & mask(u32::from(*bits)));
        }
    }
    !(world.halted || world.switch_at_access && target.is_visible())
}

/// `st`; false if the thread does not go on by itself.
pub(crate) fn store(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let access = &program.accesses[index as usize];
    let Some(target) = resolve(program, world, thread, access) else { return false };
    for (index, data) in (0..).zip(&access.data) {
        let element = target.element(index, access.bytes);
        let value = data.map_or(0, |(slot, _)| thread.value(slot)) & mask(8 * access.bytes);
        let same = world.races && peek_quietly(world, block, element, access.bytes) == Some(value);
        show(program, world, block, thread, access, (element, access.bytes), same);
        synchronise(world, block, thread, access, element, (false, true));
        if !poke(world, block, thread, element, access.bytes, value) {
            let place = (thread.number, thread.last());
            let (kind, bytes) = (FaultKind::ReadOnly, access.bytes);
            return thread.fault(world, Fault { place, kind, address: 0, dynamic: None, bytes, values: Vec::new() });
        }
    }
    !(world.halted || world.switch_at_access && target.is_visible())
}

fn peek_quietly(world: &World, block: &BlockState, target: Target, bytes: u32) -> Option<u64> {
    match target {
        Target::Global(array, offset) => Some(world.global.read(array, offset, bytes)),
        Target::Shared(offset) => Some(memory::read(&block.shared, offset as usize, bytes)),
        Target::Local(_) | Target::Param(_) => None,
    }
}

/// `atom` and `red`; false if the thread does not go on by itself.
pub(crate) fn atomic(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let access = &program.accesses[index as usize];
    let Some((operation, ty, operands)) = &access.atomic else { panic!("exec: an atomic without operation") };
    let Some(target) = resolve(program, world, thread, access) else { return false };
    // The destination may be among the operands.
    let operands: Vec<u64> = operands.iter().map(|slot| thread.value(*slot)).collect();
    for (index, data) in (0..).zip(&access.data) {
        let element = target.element(index, access.bytes);
        let part_bytes = access.scalar_bytes();
        for part in 0..access.parts {
            show(program, world, block, thread, access, (element.element(part, part_bytes), part_bytes), false);
        }
        let old = peek(world, block, thread, element, access.bytes);
        let (a, b) = match operation {
            AtomicOperation::Cas => (operands[0], operands[1]),
            _ => (operands[index as usize], 0),
        };
        let is_flushed = *operation == AtomicOperation::Add && *ty == ScalarType::F(32);
        let new = match target {
            Target::Global(..) if is_flushed => Some(flushed_add(old, a)),
            _ => new_value(*operation, *ty, old, a, b),
        };
        let Some(new) = new else {
            let reason = "this atomic operation is not emulated on its type".to_string();
            return thread.stop(world, Stop::Refused { code: thread.last(), reason });
        };
        // A comparison that fails writes nothing.
        let writes = *operation != AtomicOperation::Cas || old == a & mask(8 * access.bytes);
        for part in 0..access.parts {
            synchronise(world, block, thread, access, element.element(part, part_bytes), (true, writes));
        }
        poke(world, block, thread, element, access.bytes, new);
        if let Some((slot, bits)) = data {
            let old = if ty.is_signed() { signed(old, 8 * access.bytes) as u64 } else { old };
            thread.set(*slot, old & mask(u32::from(*bits)));
        }
    }
    !(world.halted || world.switch_at_access && target.is_visible())
}
