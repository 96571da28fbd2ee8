//! Runs a launch in the emulator, one PTX instruction after another, and notes what some threads do.

use gpuvcc::exec::block::BlockState;
use gpuvcc::exec::decode::{self, Access, Code, Program, SHARED_BITS, Space};
use gpuvcc::exec::launch::Launch;
use gpuvcc::exec::machine::settle;
use gpuvcc::exec::memory;
use gpuvcc::exec::thread::{Status, Thread};
use gpuvcc::exec::values::{hash, mask};
use gpuvcc::exec::world::World;
use gpuvcc::order::Scope;
use gpuvcc::ptx::ast::{Function, Instruction, Item, Module, Op, ScalarType};
use gpuvcc::span::Origin;
use std::sync::Arc;

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Load,
    Store,
    Atomic,
}

/// Memory that other threads see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// A global array, by its number.
    Global(usize),
    /// A shared variable, by its number.
    Shared(usize),
}

/// One element of an access of shared or global memory.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    pub kind: Kind,
    pub memory: Memory,
    /// Bytes from where a pointer to it stands.
    pub offset: u64,
    pub bytes: u32,
    /// Loaded, stored, or what an atomic found.
    pub value: u64,
    pub scope: Option<Scope>,
}

/// A PTX instruction that a thread executed.
#[derive(Clone, Debug)]
pub struct Instance {
    pub origin: Arc<Origin>,
    pub accesses: Vec<Element>,
    /// The thread's registers afterwards.
    pub registers: Vec<u64>,
}

/// What a thread did.
#[derive(Clone, Debug)]
pub struct Log {
    pub thread: [u32; 3],
    pub block: [u32; 3],
    /// Its registers before its first instruction.
    pub before: Vec<u64>,
    pub instances: Vec<Instance>,
    /// Whether it came to its end.
    pub complete: bool,
}

/// A finished run.
pub struct Run {
    pub program: Program,
    pub world: World,
    pub logs: Vec<Log>,
}

/// A thread on its way.
struct Watched {
    thread: usize,
    log: Log,
    /// The instruction that is not known to be complete, and its last code.
    open: Option<(Instance, u32)>,
}

/// Threads of a block that are noted.
pub const WATCHED: usize = 4;

/// The same where warps move matrices: a whole warp, and the last thread.
const WATCHED_WARP: usize = 33;

/// Whether the warps of a kernel move matrices.
pub fn moves_matrices(entry: &Function) -> bool {
    let items = entry.body.iter().flat_map(|body| &body.items);
    items.into_iter().any(|item| matches!(item, Item::Instruction(Instruction { op: Op::Matrix { .. }, .. })))
}

/// Runs the first blocks of a launch one after the other, each thread for up to `steps` codes.
pub fn run(module: &Module, entry: usize, launch: &Launch, steps: u64, blocks: u32) -> Result<Run, String> {
    let program = decode::decode(module, entry, launch).map_err(|diagnostic| diagnostic.message)?;
    let mut world = World::new(&program, launch, parameter_bytes(module, entry, launch), module.address_size);
    let [width, height, depth] = launch.geometry.grid;
    let watched = if moves_matrices(&module.functions[entry]) { WATCHED_WARP } else { WATCHED };
    let mut logs = Vec::new();
    for number in 0..(width * height * depth).min(blocks) {
        let id = [number % width, number / width % height, number / width / height];
        run_block(&program, &mut world, launch, (number, id), (steps, watched), &mut logs);
        if world.halted {
            break;
        }
    }
    Ok(Run { program, world, logs })
}

fn run_block(
    program: &Program,
    world: &mut World,
    launch: &Launch,
    (number, id): (u32, [u32; 3]),
    (steps, noted): (u64, usize),
    logs: &mut Vec<Log>,
) {
    let [x, y, z] = launch.geometry.block;
    let size = x * y * z;
    let mut state = BlockState::new(program, size);
    state.start(&[number], &launch.contents);
    let mut threads: Vec<Thread> = (0..size).map(|_| Thread::new(program)).collect();
    let mut watched: Vec<Watched> = Vec::new();
    for (linear, thread) in (0..).zip(&mut threads) {
        let thread_id = [linear % x, linear / x % y, linear / (x * y)];
        thread.start(program, (linear, linear), number * size + linear, thread_id, id);
        if (linear as usize) < noted - 1 || linear == size - 1 {
            let log = Log {
                thread: thread_id,
                block: id,
                before: thread.registers.clone(),
                instances: Vec::new(),
                complete: false,
            };
            watched.push(Watched { thread: linear as usize, log, open: None });
        }
    }
    let mut turns = launch.seed;
    while !world.halted {
        turns += 1;
        let first = (hash(turns, 3) % u64::from(size)) as usize;
        let can = |at: &usize| threads[*at].status == Status::Running && threads[*at].steps < steps;
        let Some(at) = (first..threads.len()).chain(0..first).find(can) else { break };
        for _ in 0..=hash(turns, 4) % 16 {
            if !can_go_on(&threads[at], steps, world) {
                break;
            }
            match watched.iter_mut().find(|watched| watched.thread == at) {
                Some(watched) => step(program, world, &mut state, &mut threads, watched),
                None => {
                    threads[at].run(program, world, &mut state, 1);
                }
            }
            let status = threads[at].status;
            settle(program, world, &mut state, &mut threads, at, status);
        }
    }
    for mut one in watched {
        let thread = &threads[one.thread];
        one.log.complete = thread.status == Status::Exited;
        // What a thread waits for, or what went wrong, is not complete.
        if one.log.complete {
            close(&mut one, thread);
        }
        logs.push(one.log);
    }
}

fn can_go_on(thread: &Thread, steps: u64, world: &World) -> bool {
    thread.status == Status::Running && thread.steps < steps && !world.halted
}

fn close(watched: &mut Watched, thread: &Thread) {
    if let Some((instance, _)) = watched.open.take() {
        watched.log.instances.push(Instance { registers: thread.registers.clone(), ..instance });
    }
}

/// One code of a watched thread.
fn step(program: &Program, world: &mut World, state: &mut BlockState, threads: &mut [Thread], watched: &mut Watched) {
    let thread = &mut threads[watched.thread];
    let at = thread.next;
    let origin = &program.origins[at as usize];
    let goes_on =
        watched.open.as_ref().is_some_and(|(instance, last)| Arc::ptr_eq(&instance.origin, origin) && at > *last);
    if !goes_on {
        close(watched, thread);
        let instance = Instance { origin: origin.clone(), accesses: Vec::new(), registers: Vec::new() };
        watched.open = Some((instance, at));
    }
    let code = match program.code[at as usize] {
        Code::Skip { p, when } if (thread.value(p) & 1 == 1) == when => None,
        Code::Skip { .. } => Some(program.code[at as usize + 1]),
        code => Some(code),
    };
    let mut elements = code.map_or_else(Vec::new, |code| elements(program, world, thread, code));
    // Values of atomics are those found before.
    for element in elements.iter_mut().filter(|element| element.kind != Kind::Store) {
        element.value = peek(program, world, state, element);
    }
    thread.run(program, world, state, 1);
    if let Some((instance, last)) = &mut watched.open {
        *last = at;
        instance.accesses.extend(elements);
    }
}

fn elements(program: &Program, world: &World, thread: &Thread, code: Code) -> Vec<Element> {
    let (index, kind) = match code {
        Code::Load(index) => (index, Kind::Load),
        Code::Store(index) => (index, Kind::Store),
        Code::Atomic(index) => (index, Kind::Atomic),
        _ => return Vec::new(),
    };
    let access = &program.accesses[index as usize];
    let Some((memory, start)) = place(program, world, thread, access) else { return Vec::new() };
    // An atomic on a packed type is one on each part (PTX memory model, "packed data types").
    let is_packed = |ty: ScalarType| ty.packed().is_some_and(|name| name.ends_with("x2"));
    let parts = if access.atomic.as_ref().is_some_and(|(_, ty, _)| is_packed(*ty)) { 2 } else { 1 };
    let bytes = access.bytes / parts;
    let element = |number: u32| {
        let value = match (kind, access.data.get(number as usize)) {
            (Kind::Store, Some(Some((slot, _)))) => thread.value(*slot) & mask(8 * bytes),
            _ => 0,
        };
        let offset = start.wrapping_add(u64::from(number * bytes));
        Element { kind, memory, offset, bytes, value, scope: access.strength.scope }
    };
    (0..access.elements * parts).map(element).collect()
}

/// What an address of shared or global memory means; `None` for other memory, and for faults.
fn place(program: &Program, world: &World, thread: &Thread, access: &Access) -> Option<(Memory, u64)> {
    let address = thread.value(access.base).wrapping_add_signed(access.offset);
    let windows = program.windows;
    let in_shared = address.wrapping_sub(windows.shared) < windows.size;
    let elsewhere = address >= windows.local && address < windows.param.wrapping_add(windows.size);
    match access.space {
        Space::Shared => shared(program, address & mask(32)),
        Space::Generic if in_shared => shared(program, address - windows.shared),
        Space::Generic if elsewhere => None,
        Space::Global | Space::Generic => {
            let (array, offset) = world.global.find(address, 1)?;
            Some((Memory::Global(array), offset.wrapping_sub(world.global.origin(array))))
        }
        Space::Local | Space::Param => None,
    }
}

fn shared(program: &Program, address: u64) -> Option<(Memory, u64)> {
    let number = (address >> SHARED_BITS).checked_sub(1)? as usize;
    program.shared.get(number)?;
    Some((Memory::Shared(number), address & mask(SHARED_BITS)))
}

fn peek(program: &Program, world: &World, state: &BlockState, element: &Element) -> u64 {
    match element.memory {
        Memory::Global(array) => {
            let at = element.offset.wrapping_add(world.global.origin(array));
            let inside =
                at.checked_add(u64::from(element.bytes)).is_some_and(|end| end <= world.global.arrays[array].size);
            if inside { world.global.read(array, at, element.bytes) } else { 0 }
        }
        Memory::Shared(number) => {
            let at = program.shared[number].offset as usize + element.offset as usize;
            let inside = at + element.bytes as usize <= state.shared.len();
            if inside { memory::read(&state.shared, at, element.bytes) } else { 0 }
        }
    }
}

/// The parameters one behind the other, each at its alignment.
fn parameter_bytes(module: &Module, entry: usize, launch: &Launch) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (parameter, value) in module.functions[entry].params.iter().zip(&launch.parameters) {
        bytes.resize(bytes.len().next_multiple_of(parameter.align.max(1) as usize), 0);
        bytes.extend(value);
    }
    bytes
}
