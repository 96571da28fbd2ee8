//! One thread: its state, and its run up to the next point where others matter.
//!
//! Relies on: [`super::decode`] for slots that exist and targets that are in range.

use super::access;
use super::agents;
use super::block::BlockState;
use super::bulk;
use super::decode::{Code, CompareParts, Copy, Fact, Pack, Program, Slot};
use super::maps;
use super::objects;
use super::outcome::{Fault, FaultKind, Stop};
use super::products::{self, Products};
use super::races::clock::ThreadClock;
use super::races::sync::{Fences, Party};
use super::races::{Reach, Space};
use super::tensor_memory::{self, TensorStarts};
use super::values::integer::with_carry;
use super::values::{hash, mask};
use super::world::World;
use crate::ptx::annotation::{ArrayRef, Known, ValueKind};
use crate::ptx::ast::AnnotationKind;

/// The time of a thread before its first instruction.
pub(crate) const FIRST_EPOCH: u32 = 1;

/// What a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its next instruction.
    Running,
    /// Waits at an entry of the program's barriers, with this number.
    Barrier {
        /// Which entry.
        index: u32,
        /// Number of the barrier.
        id: u8,
    },
    /// Waits for the other threads of its warp.
    Warp {
        /// Which operation.
        index: u32,
    },
    /// Waits for a phase of a barrier object.
    Object {
        /// Which operation.
        index: u32,
    },
    /// Waits until its warp group has started so many products.
    Products {
        /// That many.
        last: u32,
    },
    /// Waits for a generation of the cluster's barrier.
    Cluster,
    /// Has ended.
    Exited,
}

/// What a thread sees when it evaluates an annotation.
struct Seen<'a> {
    program: &'a Program,
    world: &'a World,
    block: &'a BlockState,
    fact: &'a Fact,
    /// The thread's number in its cluster.
    place: u32,
    registers: &'a [u64],
}

impl Known for Seen<'_> {
    fn leaf(&self, leaf: &ValueKind) -> u64 {
        match leaf {
            ValueKind::Register(slot) => self.registers[slot.0 as usize],
            other => panic!("exec: {other:?} in an annotation was not decoded"),
        }
    }

    fn load(&self, array: ArrayRef, offset: u64, bytes: u32) -> Option<u64> {
        let (_, start) = self.fact.arrays.iter().find(|(known, _)| *known == array)?;
        access::look(self.program, self.world, self.block, (self.place, start.wrapping_add(offset)), bytes)
    }
}

#[derive(Debug)]
pub struct Thread {
    /// Register file.
    pub registers: Vec<u64>,
    /// Local memory.
    pub(crate) local: Vec<u8>,
    /// Next instruction.
    pub next: u32,
    /// Where calls return to.
    calls: Vec<u32>,
    /// The carry flag.
    carry: bool,
    /// What it is about to do.
    pub status: Status,
    /// Number in the launch.
    pub(crate) number: u32,
    /// Number among the threads of its cluster, block by block.
    pub(crate) place: u32,
    /// The generation of the cluster's barrier to which it has come and for which it has not waited.
    pub(crate) came: Option<u32>,
    /// Instructions executed.
    pub steps: u64,
    /// What happened before its next access.
    pub(crate) clock: ThreadClock,
    /// The wait at a barrier object that said last that its phase is not complete.
    pub(crate) asked: Option<u32>,
    /// Its products of matrices.
    pub(crate) products: Products,
    /// What it started on tensor memory.
    pub(crate) tensor: TensorStarts,
    /// The `setmaxnreg` instructions that it executed: `.inc`, the number, and where it stands.
    pub(crate) adjusted: Vec<(bool, u32, u32)>,
    /// Fences that await the rest of their pattern.
    pub(crate) fences: Fences,
}

impl Thread {
    /// A thread before any launch.
    pub fn new(program: &Program) -> Self {
        Thread {
            registers: program.template.clone(),
            local: vec![0; program.local_size as usize],
            next: 0,
            calls: Vec::new(),
            carry: false,
            status: Status::Exited,
            number: 0,
            place: 0,
            came: None,
            steps: 0,
            clock: ThreadClock::default(),
            asked: None,
            adjusted: Vec::new(),
            products: Products::default(),
            tensor: TensorStarts::default(),
            fences: Fences::default(),
        }
    }

    /// Becomes a thread before its first instruction.
    pub fn start(
        &mut self,
        program: &Program,
        (linear, place): (u32, u32),
        number: u32,
        id: [u32; 3],
        block: [u32; 3],
    ) {
        self.registers.copy_from_slice(&program.template);
        for special in &program.specials {
            self.registers[usize::from(special.slot)] = special.value.of(linear, id, block);
        }
        self.local.fill(0);
        self.next = 0;
        self.calls.clear();
        self.carry = false;
        self.status = Status::Running;
        self.number = number;
        self.place = place;
        self.came = None;
        self.steps = 0;
        self.clock = ThreadClock { epoch: FIRST_EPOCH, ..ThreadClock::default() };
        self.asked = None;
        self.adjusted.clear();
        self.products = Products::default();
        self.tensor = TensorStarts::default();
        self.fences = Fences::default();
    }

    /// The value of a slot.
    pub fn value(&self, slot: Slot) -> u64 {
        self.registers[usize::from(slot)]
    }

    /// Sets a slot.
    pub(crate) fn set(&mut self, slot: Slot, value: u64) {
        self.registers[usize::from(slot)] = value;
    }

    /// The instruction at which it waits or that it executed last.
    pub(crate) fn last(&self) -> u32 {
        self.next.saturating_sub(1)
    }

    /// Runs for up to this many instructions; answers how many it executed.
    pub fn run(&mut self, program: &Program, world: &mut World, block: &mut BlockState, most: u64) -> u64 {
        match world.watch.as_ref().and_then(|watch| watch.recorded(self.number)) {
            Some(index) => self.run_recorded(program, world, block, (index, most)),
            None => self.advance(program, world, block, most).0,
        }
    }

    /// The same, instruction by instruction for who watches.
    fn run_recorded(
        &mut self,
        program: &Program,
        world: &mut World,
        block: &mut BlockState,
        (index, most): (usize, u64),
    ) -> u64 {
        // Arbitrary values depend on the steps that it had at its turn.
        let start = self.steps;
        let (mut executed, mut goes_on) = (0, true);
        while executed < most && goes_on {
            let code = self.next;
            let events = world.watch.as_mut().map_or(0, |watch| watch.before(index, (program, code), &self.registers));
            let one;
            (one, goes_on) = self.advance(program, world, block, 1);
            executed += one;
            self.steps = start;
            if let Some(watch) = &mut world.watch {
                watch.after((index, events), (program, code, self.next), &self.registers);
            }
        }
        self.steps = start + executed;
        executed
    }

    /// Runs for up to this many instructions; answers how many it executed, and whether it could go on by itself.
    fn advance(&mut self, program: &Program, world: &mut World, block: &mut BlockState, most: u64) -> (u64, bool) {
        let mut left = most;
        let mut could_go_on = true;
        let mut next = self.next as usize;
        while left > 0 {
            left -= 1;
            let code = program.code[next];
            next += 1;
            let registers = &mut self.registers[..];
            match code {
                Code::Two { f, d, a, b } => {
                    registers[usize::from(d)] = f(registers[usize::from(a)], registers[usize::from(b)]);
                }
                Code::Three { f, d, a, b, c } => {
                    let (a, b, c) = (registers[usize::from(a)], registers[usize::from(b)], registers[usize::from(c)]);
                    registers[usize::from(d)] = f(a, b, c);
                }
                Code::One { f, d, a } => registers[usize::from(d)] = f(registers[usize::from(a)]),
                Code::Move { d, a } => registers[usize::from(d)] = registers[usize::from(a)],
                Code::JumpIf { p, when, to } => {
                    if (registers[usize::from(p)] & 1 == 1) == when {
                        next = to as usize;
                    }
                }
                Code::Jump(to) => next = to as usize,
                Code::Skip { p, when } => {
                    // A guard is a part of its instruction: it counts only if that is skipped.
                    if (registers[usize::from(p)] & 1 == 1) == when {
                        next += 1;
                    } else {
                        left += 1;
                    }
                }
                Code::Many { f, bits, d, s } => {
                    let [a, b, c, e] = s.map(|slot| registers[usize::from(slot)]);
                    let value = program.functions[usize::from(f)](&[a, b, c, e, 0]);
                    registers[usize::from(d)] = value & mask(u32::from(bits));
                }
                Code::Select { d, a, b, p } => {
                    let chosen = if registers[usize::from(p)] & 1 == 1 { a } else { b };
                    registers[usize::from(d)] = registers[usize::from(chosen)];
                }
                _ => {
                    self.next = next as u32;
                    let goes_on = self.slow(program, world, block, code);
                    next = self.next as usize;
                    if !goes_on {
                        could_go_on = false;
                        break;
                    }
                }
            }
        }
        self.next = next as u32;
        self.steps += most - left;
        (most - left, could_go_on)
    }

    /// The rarer instructions; false if the thread does not go on by itself.
    fn slow(&mut self, program: &Program, world: &mut World, block: &mut BlockState, code: Code) -> bool {
        let at = self.last();
        match code {
            Code::Load(index) => return access::load(program, world, block, self, index),
            Code::Store(index) => return access::store(program, world, block, self, index),
            Code::Atomic(index) => return access::atomic(program, world, block, self, index),
            Code::AsyncRead(index) => return agents::read(program, world, block, self, index),
            Code::AsyncWrite(index) => return agents::write(program, world, block, self, index),
            Code::AsyncCommit => agents::commit(block, self),
            Code::AsyncWait { pending } => agents::wait(world, block, self, pending),
            // The writing half does both.
            Code::BulkRead(_) | Code::MapRead(_) => {}
            Code::Map(index) => return maps::operate(program, world, block, self, index),
            Code::BulkWrite(index) => return bulk::start(program, world, block, self, index),
            Code::TensorRead(index) if program.tensor_operations[index as usize].is_started() => {}
            Code::TensorRead(index) | Code::Tensor(index) => {
                return tensor_memory::operate(program, world, block, self, index);
            }
            Code::Product(index) => return products::start(program, world, block, self, index),
            Code::ProductCommit => products::commit(self),
            Code::ProductWait { pending } => return products::wait(self, pending),
            Code::BulkCommit => bulk::commit(block, self),
            Code::BulkWait { pending, reads } => bulk::wait(world, block, self, pending, reads),
            Code::ClusterArrive { releases } => return block.arrive_at_cluster(world, self, releases),
            Code::ClusterWait => return block.wait_for_cluster(world, self),
            Code::ObjectFence => block.publish_objects(self),
            Code::Object(index) => return objects::operate(program, world, block, self, index),
            Code::ProxyFence { shared, own, global } => {
                world.note(self, None, 0);
                if world.races {
                    let own = (own && block.ranks > 1).then_some(self.place / block.size);
                    let shared_space = own.map_or(Space::Shared, Space::SharedOf);
                    let spaces = [(shared_space, shared), (Space::Global, global)];
                    let spaces: Vec<Space> = spaces.into_iter().filter(|(_, is)| *is).map(|(space, _)| space).collect();
                    world.detector.shape.fence_proxy(self.number, &mut self.clock, &spaces);
                }
            }
            Code::Partial { f, bits, d, a, b } => {
                let value = f(self.value(a), self.value(b));
                let value = value.unwrap_or_else(|| self.arbitrary(world, u32::from(bits)));
                self.set(d, value);
            }
            Code::Carry { out, input, subtract, bits, d, a, b } => {
                let carry = input && self.carry;
                let (value, carry) = with_carry(subtract, u32::from(bits), self.value(a), self.value(b), carry);
                self.set(d, value);
                self.carry = if out { carry } else { self.carry };
            }
            Code::Arbitrary { d, bits } => {
                let value = self.arbitrary(world, u32::from(bits));
                self.set(d, value);
            }
            Code::Opaque { d, bits } => {
                let deciding = program.deciding;
                world.outcome.opaque |= deciding.control || deciding.stored && world.detector.allow_same_value;
                let value = self.any(world, u32::from(bits));
                self.set(d, value);
            }
            Code::Clock { d, shift, bits } => {
                world.clock += 1;
                world.outcome.arbitrary = true;
                self.set(d, world.clock >> shift & mask(u32::from(bits)));
            }
            Code::Pack(index) => self.pack(&program.packs[index as usize]),
            Code::Compare(index) => self.compare(&program.comparisons[index as usize]),
            Code::JumpTable { a, table } => {
                let targets = &program.tables[table as usize];
                match targets.get(self.value(a) as u32 as usize) {
                    Some(target) => self.next = *target,
                    None => {
                        let reason = "an index beyond the targets of `brx.idx`".to_string();
                        return self.stop(world, Stop::Refused { code: at, reason });
                    }
                }
            }
            Code::Call { copies, to } => {
                self.copy(&program.copies[copies as usize]);
                self.calls.push(self.next);
                self.next = to;
            }
            Code::Copies(index) => self.copy(&program.copies[index as usize]),
            Code::Return => match self.calls.pop() {
                Some(caller) => self.next = caller,
                None => return self.exit(world),
            },
            Code::Exit => return self.exit(world),
            Code::Barrier(index) => {
                world.note(self, None, 0);
                return block.arrive(program, world, self, index);
            }
            Code::Warp(index) => {
                self.status = Status::Warp { index };
                return false;
            }
            Code::Fence { scope, sequential, release, acquire } => {
                world.note(self, None, 0);
                if world.races && !world.barriers_only {
                    self.fence(world, world.reach(scope), sequential, (acquire, release));
                }
            }
            Code::Fails => return self.fails(world, at, Vec::new()),
            Code::Annotation(index) => {
                let fact = &program.annotations[index as usize];
                let Fact { kind, expression, registers, .. } = fact;
                let known = Seen { program, world, block, fact, place: self.place, registers: &self.registers };
                match kind {
                    // Where it depends on what lies outside of all arrays, nothing is said.
                    _ if expression.evaluate(&known) != Some(0) => {}
                    AnnotationKind::Assert | AnnotationKind::Invariant | AnnotationKind::BarrierInvariant => {
                        let values = registers.iter().map(|register| self.value(register.slot)).collect();
                        return self.fails(world, at, values);
                    }
                    AnnotationKind::Requires | AnnotationKind::Assume => {
                        return self.stop(world, Stop::Excluded { code: at });
                    }
                }
            }
            Code::Trap => return self.stop(world, Stop::Trap { code: at }),
            Code::Nothing => {}
            Code::Refuse(index) => {
                let reason = program.refusals[index as usize].clone();
                return self.stop(world, Stop::Refused { code: at, reason });
            }
            _ => panic!("exec: an instruction was decoded into nothing that runs"),
        }
        true
    }

    fn exit(&mut self, world: &mut World) -> bool {
        world.note(self, None, 0);
        self.status = Status::Exited;
        false
    }

    /// Ends the launch.
    pub(crate) fn stop(&mut self, world: &mut World, stop: Stop) -> bool {
        world.outcome.stopped.insert(stop);
        world.halted = true;
        false
    }

    /// An assertion of the user fails.
    fn fails(&mut self, world: &mut World, at: u32, values: Vec<u64>) -> bool {
        let (place, kind) = ((self.number, at), FaultKind::Assertion);
        self.fault(world, Fault { place, kind, address: 0, dynamic: None, bytes: 0, values })
    }

    /// Ends the launch with a fault.
    pub(crate) fn fault(&mut self, world: &mut World, fault: Fault) -> bool {
        world.outcome.faults.push(fault);
        self.stop(world, Stop::Defect)
    }

    /// A value that nothing determines.
    fn arbitrary(&self, world: &mut World, bits: u32) -> u64 {
        world.outcome.arbitrary = true;
        self.any(world, bits)
    }

    fn any(&self, world: &World, bits: u32) -> u64 {
        let value = hash(hash(world.seed, u64::from(self.number)), self.steps << 20 | u64::from(self.next));
        // Small values meet more corners than large ones.
        (if value >> 63 == 0 { value & 3 } else { value }) & mask(bits)
    }

    fn fence(&mut self, world: &mut World, reach: Reach, sequential: bool, kind: (bool, bool)) {
        let party = Party { thread: self.number, clock: &mut self.clock, fences: &mut self.fences };
        world.detector.shape.fence(reach, kind, sequential.then_some(&mut world.sequential), party);
    }

    fn pack(&mut self, pack: &Pack) {
        let whole = pack.whole(|_, slot| self.value(slot));
        for (number, (slot, _)) in pack.destinations.iter().enumerate() {
            if let Some(slot) = slot {
                self.set(*slot, pack.part(whole, number));
            }
        }
    }

    fn compare(&mut self, parts: &CompareParts) {
        for (slot, value) in parts.results(|slot| self.value(slot)).into_iter().flatten() {
            self.set(slot, value);
        }
    }

    fn copy(&mut self, copies: &[Copy]) {
        for copy in copies {
            match *copy {
                Copy::Bytes { from, to, bytes } => {
                    self.local.copy_within(from as usize..(from + bytes) as usize, to as usize);
                }
                Copy::Store { from, to, bytes } => {
                    let value = self.value(from).to_le_bytes();
                    let count = (bytes as usize).min(8);
                    self.local[to as usize..to as usize + count].copy_from_slice(&value[..count]);
                }
                Copy::Load { from, to, bytes } => {
                    let value = super::memory::read(&self.local, from as usize, bytes.min(8));
                    self.set(to, value);
                }
            }
        }
    }
}
