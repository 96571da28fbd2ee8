//! Tensor maps that a kernel makes itself: `tensormap.replace`, `tensormap.cp_fenceproxy`, `fence.proxy.tensormap::generic.acquire`.
//!
//! Input: these instructions. Output: the 128 bytes of maps in shared and global memory. Establishes: a field is an access to the
//! whole map ("a weak memory operation, on the entire 1024-bit tensor-map object"); copies through a map in global memory come
//! after who wrote it only through an acquire of this very map (they read it through a proxy of its own). Relies on:
//! [`super::tensor`] for what the bytes mean, which the ISA keeps opaque.
//! How: `cp_fenceproxy` is executed by all threads of a warp and copies once: all read, the first lane writes. Its release is not
//! looked for: who made a map with `tensormap.replace` in global memory and forgot it is not told.
//! Reference: PTX ISA, `tensormap.replace`, `tensormap.cp_fenceproxy`, `fence.proxy.tensormap`.

use super::access::Target;
use super::agents;
use super::block::BlockState;
use super::decode::{MapOperation, Program};
use super::memory;
use super::moves;
use super::outcome::Stop;
use super::races::{Current, Space};
use super::tensor::BYTES;
use super::thread::Thread;
use super::world::World;

/// Bytes of a map.
const MAP: u32 = BYTES as u32;

/// Executes such an instruction; false if the thread does not go on by itself.
pub(crate) fn operate(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let operation = &program.map_operations[index as usize];
    let [from, to] = operation.ends().map(|access| moves::map_place(program, world, thread, access));
    let (from, to) = match (from, to) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(fault), _) | (_, Err(fault)) => return thread.fault(world, fault),
    };
    if !matches!(to, Target::Global(..) | Target::Shared(_)) {
        let reason = "a tensor map elsewhere than in shared or global memory".to_string();
        return thread.stop(world, Stop::Refused { code: thread.last(), reason });
    }
    match operation {
        MapOperation::Replace { at, width, value, .. } => {
            show(program, world, block, thread, (to, thread.last()));
            let value = thread.value(*value);
            let most = 1u64.checked_shl(8 * width).map_or(u64::MAX, |end| end - 1);
            let bytes = value.min(most).to_le_bytes();
            write(world, block, to.element(*at, 1), &bytes[..*width as usize]);
        }
        MapOperation::Publish { .. } => {
            show(program, world, block, thread, (from, thread.last() - 1));
            if (thread.place % block.size).is_multiple_of(32) {
                show(program, world, block, thread, (to, thread.last()));
                let bytes: Vec<u8> = (0..MAP).map(|at| read(world, block, from.element(at, 1))).collect();
                write(world, block, to, &bytes);
            }
        }
        MapOperation::Acquire { .. } => {
            world.note(thread, None, 0);
            if let (Target::Global(array, offset), true) = (to, world.races) {
                let map = Space::Map { array: array as u32, offset };
                world.detector.shape.fence_proxy(thread.number, &mut thread.clock, &[map]);
            }
        }
    }
    !world.halted && !world.switch_at_access
}

/// The detector sees an access to a map, by an instruction.
fn show(program: &Program, world: &mut World, block: &mut BlockState, thread: &Thread, (map, code): (Target, u32)) {
    if let Some(location) = map.location() {
        world.note(thread, Some(location), MAP);
    }
    if world.races {
        let current = Current { thread: thread.number, code, clock: &thread.clock, same_value: false, map: None };
        agents::watch(program, world, block, thread, (map, MAP), current);
    }
}

fn read(world: &World, block: &BlockState, from: Target) -> u8 {
    match from {
        Target::Global(array, offset) => world.global.read(array, offset, 1) as u8,
        Target::Shared(offset) => block.shared[offset as usize],
        Target::Local(_) | Target::Param(_) => 0,
    }
}

fn write(world: &mut World, block: &mut BlockState, to: Target, bytes: &[u8]) {
    for (at, byte) in (0..).zip(bytes) {
        match to.element(at, 1) {
            Target::Global(array, offset) => world.global.write(array, offset, 1, u64::from(*byte)),
            Target::Shared(offset) => {
                memory::write(&mut block.shared, offset as usize, 1, u64::from(*byte));
                block.mark_written(offset, 1);
            }
            Target::Local(_) | Target::Param(_) => {}
        }
    }
}
