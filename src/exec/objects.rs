//! Barrier objects in shared memory: `mbarrier`.
//!
//! Input: the operations of threads on them, arrivals of `cp.async.mbarrier.arrive` and bytes of bulk copies. Output: who goes
//! on, what is known to happen before it, and misuse. Establishes: an object stands beside its eight bytes, which nothing else
//! accesses while it lives; a phase is complete when no arrival and no byte is outstanding; who waits with `.acquire` for a phase
//! learns what the releasing arrivals at it and at earlier ones knew (each is a read-modify-write, so the later ones carry on what
//! the earlier ones released), and that the copies are done whose bytes it counted.
//! How: a wait whose phase is not complete says so once; asked again, it blocks its thread, which is the schedule in which that
//! thread is slow (random schedules draw which). When nothing else in the block can go on, all blocked waits say `false` once; if
//! that leads back to the same state, nobody ever goes on.
//! Reference: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".

use super::access::{self, Target};
use super::agents;
use super::block::BlockState;
use super::decode::{ObjectKind, ObjectOperation, Program};
use super::history::{self, Part};
use super::launch::Schedule;
use super::outcome::{BarrierError, BarrierMisuse, ObjectState, Place, Stop};
use super::races::Current;
use super::races::clock::Clock;
use super::tensor_memory;
use super::thread::{Status, Thread};
use super::values::hash;
use super::world::World;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of an object.
const BYTES: u32 = 8;

/// Arrivals that an object expects, and bytes that it counts, are at most this.
pub(super) const MOST: u32 = (1 << 20) - 1;

/// The barrier objects of a block.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// By offset in shared memory.
    live: BTreeMap<u32, Object>,
    /// A phase was completed since the waiting threads were looked at.
    woken: bool,
    /// The state of the block when all its waits said `false`.
    gave_up: Option<u64>,
}

/// A barrier object.
#[derive(Clone, Debug)]
struct Object {
    /// Number in the launch.
    number: u32,
    /// Arrivals that a phase expects.
    expected: u32,
    /// Those that the open phase still expects.
    pending: u32,
    /// Bytes that the open phase still expects.
    bytes: i64,
    /// Number of the open phase.
    phase: u32,
    /// Some wait has seen that the phase before it is complete.
    seen: bool,
    /// The thread that initialised it.
    by: u32,
    /// What arrivals released.
    released: Clock,
    /// What they had released when the last phase became complete.
    complete: Rc<Clock>,
}

impl Object {
    fn new(number: u32, count: u32, by: u32) -> Self {
        let (released, complete) = (Clock::default(), Rc::default());
        Object { number, expected: count, pending: count, bytes: 0, phase: 0, seen: true, by, released, complete }
    }

    /// The opaque state that an arrival returns.
    fn state(&self) -> u64 {
        u64::from(self.phase) << 20 | u64::from(self.pending)
    }

    /// Bytes are expected, or (negative) have come.
    fn count_bytes(&mut self, bytes: i64) -> Result<(), BarrierMisuse> {
        self.bytes += bytes;
        if self.bytes.unsigned_abs() > u64::from(MOST) { Err(BarrierMisuse::Bytes) } else { Ok(()) }
    }

    /// So many arrivals come.
    fn arrive(&mut self, count: u32) -> Result<(), BarrierMisuse> {
        if !self.seen {
            return Err(BarrierMisuse::Unseen);
        }
        if count == 0 || count > self.pending {
            return Err(BarrierMisuse::Arrivals);
        }
        self.pending -= count;
        Ok(())
    }

    /// Ends the phase if nothing is outstanding; whether it was.
    fn complete(&mut self) -> bool {
        if self.pending > 0 || self.bytes != 0 {
            return false;
        }
        self.phase += 1;
        (self.pending, self.seen) = (self.expected, false);
        self.released.know_phases(self.number, self.phase);
        self.complete = Rc::new(self.released.clone());
        true
    }

    /// Whether the phase that a wait names is complete.
    fn is_complete(&self, (parity, operand): (bool, u64)) -> Result<bool, BarrierMisuse> {
        let named = operand >> 20;
        match operand {
            0 | 1 if parity => Ok(u64::from(self.phase & 1) != operand),
            _ if parity => Err(BarrierMisuse::Parity),
            _ if named == u64::from(self.phase) => Ok(false),
            _ if named + 1 == u64::from(self.phase) => Ok(true),
            _ => Err(BarrierMisuse::State),
        }
    }
}

/// What a barrier object is about, for who follows it from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// Number in the launch.
    pub(crate) number: u32,
    /// Number of the open phase.
    pub(crate) phase: u32,
    /// Arrivals that a phase expects.
    pub(crate) expected: u32,
    /// No arrival and no byte has come to the open phase, and none is awaited but those that each phase expects.
    pub(crate) is_idle: bool,
}

/// What comes to an object from beside the threads.
pub(crate) enum Told {
    /// An arrival of `cp.async.mbarrier.arrive`: an agent, and how far its copies are complete.
    Arrival { agent: u32, time: u32 },
    /// An arrival of `tcgen05.commit`, with what it tells.
    Commit { known: Rc<Clock> },
    /// The bytes of a bulk copy, with its number.
    Bytes { copy: u32, bytes: u32 },
}

impl Objects {
    pub(crate) fn clear(&mut self) {
        self.live.clear();
        (self.woken, self.gave_up) = (false, None);
    }

    /// Whether these bytes of shared memory belong to an object.
    pub(crate) fn overlap(&self, offset: u32, bytes: u32) -> bool {
        let before = self.live.range(..offset + bytes).next_back();
        before.is_some_and(|(start, _)| start + BYTES > offset)
    }

    /// The places of the objects that a thread initialised.
    pub(crate) fn of(&self, thread: u32) -> impl Iterator<Item = u32> {
        self.live.iter().filter(move |(_, object)| object.by == thread).map(|(offset, _)| *offset)
    }

    /// The object at an offset: its number, the number of its open phase, the arrivals that a phase expects, and whether none of
    /// them, and no bytes, have come to the open one.
    pub(crate) fn state(&self, offset: u32) -> Option<State> {
        let Object { number, phase, expected, pending, bytes, .. } = *self.live.get(&offset)?;
        Some(State { number, phase, expected, is_idle: pending == expected && bytes == 0 })
    }

    /// The number of the object at an offset.
    pub(crate) fn number(&self, offset: u32) -> Option<u32> {
        self.live.get(&offset).map(|object| object.number)
    }

    /// An arrival is counted before it comes (`cp.async.mbarrier.arrive` without `.noinc`).
    fn announce(&mut self, offset: u32) -> Result<(), BarrierMisuse> {
        let object = self.live.get_mut(&offset).ok_or(BarrierMisuse::Uninitialised)?;
        object.pending += 1;
        if object.pending > MOST { Err(BarrierMisuse::Arrivals) } else { Ok(()) }
    }

    /// The state of an object, for reports.
    fn describe(&self, offset: u32, wanted: (bool, u64)) -> Option<ObjectState> {
        let Object { phase, pending, bytes, .. } = *self.live.get(&offset)?;
        let (is_parity, operand) = wanted;
        let wanted = if is_parity { operand } else { operand >> 20 };
        Some(ObjectState { offset, is_parity, wanted, phase, pending, bytes })
    }
}

/// A barrier was misused: the launch ends.
pub(crate) fn misused(world: &mut World, place: Place, kind: BarrierMisuse) -> bool {
    world.outcome.barrier_errors.push(BarrierError { place, kind });
    world.outcome.stopped.insert(Stop::Defect);
    world.halted = true;
    false
}

/// An operation of a thread; false if the thread does not go on by itself.
pub(crate) fn operate(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> bool {
    let operation = &program.objects[index as usize];
    let place = (thread.number, thread.last());
    let Some(offset) = locate(program, world, thread, operation) else { return false };
    if block.has_exited(program, offset) {
        return misused(world, place, BarrierMisuse::Exited);
    }
    show(program, world, block, thread, offset);
    if let ObjectKind::Commit { multicast } = operation.kind {
        return tensor_memory::commit(program, world, block, thread, (operation, multicast), offset);
    }
    if let ObjectKind::Wait { tries, .. } = operation.kind {
        return wait(program, world, block, thread, (index, offset), tries);
    }
    match change(world, block, thread, operation, offset) {
        Ok(()) => !world.halted && !world.switch_at_access,
        Err(misuse) => misused(world, place, misuse),
    }
}

/// The offset of the object in shared memory; a fault ends the launch.
fn locate(program: &Program, world: &mut World, thread: &mut Thread, operation: &ObjectOperation) -> Option<u32> {
    match access::resolve(program, world, thread, &program.accesses[operation.access as usize])? {
        Target::Shared(offset) => Some(offset),
        _ => {
            let reason = "a barrier object elsewhere than in shared memory".to_string();
            thread.stop(world, Stop::Refused { code: thread.last(), reason });
            None
        }
    }
}

/// The detector sees the operation as an access to the bytes of the object.
pub(crate) fn show(program: &Program, world: &mut World, block: &mut BlockState, thread: &Thread, offset: u32) {
    if world.races {
        let current =
            Current { thread: thread.number, code: thread.last(), clock: &thread.clock, same_value: false, map: None };
        world.detector.shared_access(&mut block.cells, offset, BYTES, current);
        world.look_out(program, thread);
    }
}

/// An operation that changes the object.
fn change(
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    operation: &ObjectOperation,
    offset: u32,
) -> Result<(), BarrierMisuse> {
    let objects = &mut block.objects;
    if let ObjectKind::Initialise { count } = operation.kind {
        let count = thread.value(count) as u32;
        return match () {
            () if objects.overlap(offset, BYTES) => Err(BarrierMisuse::Initialised),
            () if count == 0 || count > MOST => Err(BarrierMisuse::ObjectCount),
            () => {
                world.objects += 1;
                world.renew(block.number, offset);
                objects.live.insert(offset, Object::new(world.objects, count, thread.number));
                block.mark_written(offset, BYTES);
                Ok(())
            }
        };
    }
    let Some(object) = objects.live.get_mut(&offset) else { return Err(BarrierMisuse::Uninitialised) };
    match operation.kind {
        ObjectKind::Initialise { .. } | ObjectKind::Wait { .. } | ObjectKind::Commit { .. } => {}
        ObjectKind::Invalidate => {
            objects.live.remove(&offset);
            world.renew(block.number, offset);
        }
        ObjectKind::Expect { bytes } => object.count_bytes(thread.value(bytes) as u32 as i64)?,
        ObjectKind::Complete { bytes } => object.count_bytes(-(thread.value(bytes) as u32 as i64))?,
        ObjectKind::ArriveBehindCopies { counted } => {
            if !counted {
                objects.announce(offset)?;
            }
            agents::arrive_behind(world, block, thread, offset);
            return Ok(());
        }
        ObjectKind::Arrive { count, bytes, drops, incomplete } => {
            let count = count.map_or(1, |slot| thread.value(slot) as u32);
            if let Some(bytes) = bytes {
                object.count_bytes(thread.value(bytes) as u32 as i64)?;
            }
            let state = object.state();
            let generation = (history::Object::Shared { offset }, u64::from(object.phase));
            world.at_barrier(block.number, (thread.number, thread.last()), generation, Part::Arrives);
            object.arrive(count)?;
            if drops {
                object.expected -= count.min(object.expected);
            }
            if incomplete && object.pending == 0 {
                return Err(BarrierMisuse::Completes);
            }
            let known = (world.races && (operation.ordered || world.hears()))
                .then(|| world.detector.shape.snapshot(thread.number, &thread.clock));
            match known {
                Some(known) if operation.ordered => object.released.join(&known),
                Some(known) => object.released.hear(&known),
                None => {}
            }
            thread.clock.epoch += u32::from(world.races);
            if let Some((slot, _)) = operation.d {
                thread.set(slot, state);
            }
        }
    }
    if let Some(object) = objects.live.get_mut(&offset) {
        objects.woken |= object.complete();
    }
    Ok(())
}

/// A wait; false if the thread does not go on by itself.
fn wait(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    thread: &mut Thread,
    (index, offset): (u32, u32),
    tries: bool,
) -> bool {
    let draws = matches!(world.schedule, Schedule::Random | Schedule::Adversarial);
    let drawn = hash(hash(world.seed, u64::from(thread.number)), thread.steps << 20 | u64::from(thread.next));
    // A try may fail although the phase is complete, and a test finds out at once that it is not.
    let fails = draws && drawn & 7 == 0;
    if tries && fails && block.objects.live.contains_key(&offset) {
        answer(program, thread, index, false);
        return false;
    }
    match look(program, world, block, thread, index) {
        Err(misuse) => misused(world, (thread.number, thread.last()), misuse),
        Ok(true) => {
            passed(world, block, thread, offset);
            !world.switch_at_access
        }
        // The first time it finds out, which shows who goes on without the phase; then it waits.
        Ok(false) if !world.barriers_only && (fails || !draws && thread.asked != Some(thread.last())) => {
            thread.asked = Some(thread.last());
            answer(program, thread, index, false);
            false
        }
        Ok(false) => {
            thread.status = Status::Object { index };
            false
        }
    }
}

/// What a wait says.
fn answer(program: &Program, thread: &mut Thread, index: u32, is_complete: bool) {
    if let Some((slot, _)) = program.objects[index as usize].d {
        thread.set(slot, u64::from(is_complete));
    }
}

/// A parity as it is asked for: 0 or 1, and what else was given. The ISA names no others, but compilers (Triton) extend the bit
/// with its sign, and hardware looks at nothing else.
pub(crate) fn parity(operand: u64) -> u64 {
    match operand & 0xffff_ffff {
        0xffff_ffff => 1,
        other => other,
    }
}

/// What a wait asks for: whether by parity, and the operand.
fn wanted(operation: &ObjectOperation, thread: &Thread) -> (bool, u64) {
    match operation.kind {
        ObjectKind::Wait { phase, parity: true, .. } => (true, parity(thread.value(phase))),
        ObjectKind::Wait { phase, .. } => (false, thread.value(phase)),
        _ => panic!("exec: a thread waits at an operation that is no wait"),
    }
}

/// Whether the phase of a wait is complete; then the thread learns what that says.
fn look(
    program: &Program,
    world: &World,
    block: &mut BlockState,
    thread: &mut Thread,
    index: u32,
) -> Result<bool, BarrierMisuse> {
    let operation = &program.objects[index as usize];
    let found = access::find(program, world, thread, &program.accesses[operation.access as usize]);
    let Ok(Target::Shared(offset)) = found else { return Err(BarrierMisuse::Uninitialised) };
    let Some(object) = block.objects.live.get_mut(&offset) else { return Err(BarrierMisuse::Uninitialised) };
    if !object.is_complete(wanted(operation, thread))? {
        return Ok(false);
    }
    object.seen = true;
    thread.asked = None;
    let shape = world.detector.shape;
    match operation.ordered {
        _ if !world.races => {}
        true => shape.learn(thread.number, &mut thread.clock, &object.complete),
        false if world.hears() => shape.hear(&mut thread.clock, &object.complete),
        false => {}
    }
    answer(program, thread, index, true);
    Ok(true)
}

/// A thread has waited for the last complete phase of an object; a fresh object has none.
fn passed(world: &mut World, block: &BlockState, thread: &Thread, offset: u32) {
    let phase = block.objects.live.get(&offset).and_then(|object| object.phase.checked_sub(1));
    if let Some(phase) = phase {
        let generation = (history::Object::Shared { offset }, u64::from(phase));
        world.at_barrier(block.number, (thread.number, thread.last()), generation, Part::Waits);
    }
}

/// Threads whose phase is complete go on.
pub(crate) fn wake(program: &Program, world: &mut World, block: &mut BlockState, threads: &mut [Thread]) {
    if !std::mem::take(&mut block.objects.woken) {
        return;
    }
    for thread in threads {
        let Status::Object { index } = thread.status else { continue };
        match look(program, world, block, thread, index) {
            Ok(true) => {
                thread.status = Status::Running;
                let access = &program.accesses[program.objects[index as usize].access as usize];
                if let Ok(Target::Shared(offset)) = access::find(program, world, thread, access) {
                    passed(world, block, thread, offset);
                }
            }
            Ok(false) => {}
            Err(misuse) => {
                misused(world, (thread.number, thread.last()), misuse);
                return;
            }
        }
    }
}

/// Nothing else in the block can go on: all waits say that their phase is not complete. False if that has led nowhere.
pub(crate) fn give_up(program: &Program, block: &mut BlockState, threads: &mut [Thread]) -> bool {
    let waits = |thread: &Thread| matches!(thread.status, Status::Object { .. });
    if !threads.iter().any(waits) {
        return false;
    }
    let mut state = 0;
    for thread in &*threads {
        state = hash(state, u64::from(thread.next));
        state = thread.registers.iter().fold(state, |state, register| hash(state, *register));
    }
    state = block.shared.iter().fold(state, |state, byte| hash(state, u64::from(*byte)));
    for Object { phase, pending, bytes, .. } in block.objects.live.values() {
        state = hash(hash(hash(state, u64::from(*phase)), u64::from(*pending)), bytes.cast_unsigned());
    }
    if block.objects.gave_up == Some(state) {
        return false;
    }
    block.objects.gave_up = Some(state);
    for thread in threads.iter_mut().filter(|thread| waits(thread)) {
        let Status::Object { index } = thread.status else { continue };
        answer(program, thread, index, false);
        thread.status = Status::Running;
    }
    true
}

/// Something from beside the threads comes to an object. `place` started it.
pub(crate) fn tell(world: &mut World, block: &mut BlockState, offset: u32, told: Told, place: Place) {
    let Some(object) = block.objects.live.get_mut(&offset) else {
        misused(world, place, BarrierMisuse::Uninitialised);
        return;
    };
    if let Some(known) = &world.issuer_knows {
        object.released.hear(known);
    }
    let part = if matches!(told, Told::Bytes { .. }) { Part::Brings } else { Part::Arrives };
    world.at_barrier(block.number, place, (history::Object::Shared { offset }, u64::from(object.phase)), part);
    let done = match told {
        Told::Arrival { agent, time } => {
            object.released.know_agent(agent, time);
            object.arrive(1)
        }
        Told::Commit { known } => {
            object.released.join(&known);
            object.arrive(1)
        }
        Told::Bytes { copy, bytes } => {
            world.detector.end_copy(copy, object.phase);
            object.count_bytes(-i64::from(bytes))
        }
    };
    block.objects.woken |= object.complete();
    if let Err(misuse) = done {
        misused(world, place, misuse);
    }
}

/// For what a thread of a block that is stuck waits, should it be an object.
pub(crate) fn awaited(program: &Program, world: &World, block: &BlockState, thread: &Thread) -> Option<ObjectState> {
    let Status::Object { index } = thread.status else { return None };
    let operation = &program.objects[index as usize];
    match access::find(program, world, thread, &program.accesses[operation.access as usize]) {
        Ok(Target::Shared(offset)) => block.objects.describe(offset, wanted(operation, thread)),
        _ => None,
    }
}
