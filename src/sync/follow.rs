//! What an instruction does with where values come from, and what may not depend on what is open.
//!
//! Input: a thread in front of an instruction, and the [`Taint`] of all that it may read. Output: that of all that it writes.
//! Establishes: what decides control, where an access is, or which barrier is meant is not open, or [`Refusal`] says which
//! instruction it is and why. Relies on: the instruction is executed next, in this very state; each one has an arm here,
//! so that a new one does not compile before somebody decides. Reference: `exec::thread`, which it mirrors.

use super::alike::Alike;
use super::computations::is_computation;
use super::own::{ALWAYS, Own, When, under};
use super::placement::Placements;
use super::same_value::SameValue;
use super::taint::{ByBlock, Byte, Cause, Open, Part, Taint};
use crate::exec::access::Target;
use crate::exec::decode::{Code, ConstantKind, Note, Place, Program, Slot};
use crate::exec::thread::Thread;
use crate::exec::values::mask;
use crate::exec::world::World;
use foldhash::HashMap;

/// Why one execution does not speak for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The instruction.
    pub(crate) code: u32,
    /// What it needs that is open.
    pub(crate) what: What,
    /// What is not fixed, and which instruction brought it in.
    pub(crate) open: Option<Open>,
}

/// What has to be the same in all executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Which instruction is next, or whether this one is executed.
    Control,
    /// Where an access is.
    Address,
    /// Number or count of a barrier.
    Barrier,
    /// The lanes of a warp operation.
    Members,
    /// How much is copied.
    Size,
    /// What is asserted.
    Assertion,
    /// The tensor map of a copy.
    TensorMap,
    /// An address that is that of no variable.
    NoVariable,
    /// Threads of one warp come to different barriers.
    WarpParts,
    /// A barrier was completed by a part of a warp.
    PartOfWarp,
    /// A barrier of the whole block was completed by some of its threads.
    PartOfBlock,
    /// Threads wait for ever in this model of warps.
    Stuck,
    /// Nothing tells a thread that a barrier object is initialised.
    Initialised,
    /// A barrier object may be in use when it is invalidated.
    Invalidated,
    /// A wait may see its phase too late, or a phase after it.
    Overtaken,
    /// What a thread announced to a phase may come after its end.
    Owed,
    /// What is done where a wait says `false` is more than to wait again.
    Spin,
    /// Nobody knows that a copy is complete when its block ends.
    Underway,
    /// All threads of a block may have exited when others access its shared memory.
    Remote,
    /// The barrier of a cluster was completed without threads that have exited.
    PartOfCluster,
    /// Lanes are elected by more than one mask, or by one of which threads have exited.
    Elected,
    /// Stores of one value race, and this access comes before all threads know of them.
    SameValue,
    /// Data decide where this access is, and others access the array, too.
    Anywhere,
    /// Data decide where this access is, and there is a barrier object in the variable, or the block of its memory has exited.
    AnywhereObject,
    /// More than is followed.
    TooLarge,
}

/// What is known of the launch.
pub(crate) struct Flow<'p> {
    pub(super) program: &'p Program,
    /// Bits of an address.
    pub(crate) address_bits: u32,
    /// Taints of each byte of each parameter.
    parameters: &'p [Vec<Byte>],
    /// The same, laid out.
    pub(super) laid_out: Vec<Byte>,
    /// The register file of a thread before its first instruction.
    template: Vec<Taint>,
    /// Bytes of global memory that the kernel wrote, and that are not open.
    pub(super) global: HashMap<(usize, u64), Byte>,
    /// Somebody says how many blocks a cluster has.
    pub(super) knows_cluster: bool,
    pub(crate) placements: Placements,
    /// Stores of one value may race.
    pub(crate) allows_same_value: bool,
    pub(crate) same_value: SameValue,
    pub(crate) alike: Alike,
    /// Bytes that the next instruction may access, for data decide where it does.
    pub(crate) anywhere: Vec<(Target, u32)>,
    /// There was such an instruction.
    pub(crate) has_anywhere: bool,
    /// Scalars that the tool chose, and on which something depended that has to be the same.
    pub(crate) matters: u64,
}

/// Jumps to a trap.
const SHORT: usize = 8;

impl<'p> Flow<'p> {
    /// Nothing was executed yet.
    pub(crate) fn new(
        program: &'p Program,
        address_bits: u32,
        parameters: &'p [Vec<Byte>],
        laid_out: Vec<Byte>,
        knows_cluster: bool,
        placements: Placements,
    ) -> Self {
        let notes = &program.notes;
        let mut template = vec![Taint::FIXED; program.template.len()];
        template[..notes.registers].fill(Taint::open(Cause::Register, u32::MAX));
        for (slot, kind) in &notes.constants {
            template[usize::from(*slot)] = match kind {
                ConstantKind::Number | ConstantKind::Grid(_) => Taint::FIXED,
                ConstantKind::Address(place) => Taint::address(*place),
                ConstantKind::Cluster if knows_cluster => Taint::FIXED,
                ConstantKind::Chosen | ConstantKind::Cluster => Taint::open(Cause::Size, u32::MAX),
            };
        }
        for special in program.specials.iter().filter(|special| !special.value.is_fixed(knows_cluster)) {
            template[usize::from(special.slot)] = Taint::open(Cause::Unspecified, u32::MAX);
        }
        let global = HashMap::default();
        Flow {
            program,
            address_bits,
            parameters,
            laid_out,
            template,
            global,
            knows_cluster,
            placements,
            allows_same_value: false,
            same_value: SameValue::default(),
            alike: Alike::default(),
            anywhere: Vec::new(),
            has_anywhere: false,
            matters: 0,
        }
    }

    /// A thread starts. `differ`: registers that hold something else in other blocks.
    pub(crate) fn start(&self, own: &mut Own, differ: &[(Slot, ByBlock)]) {
        own.registers.clone_from(&self.template);
        own.local.clear();
        own.local.resize(self.program.local_size as usize, Byte::open(Cause::Memory));
        own.carry = Taint::open(Cause::Register, u32::MAX);
        own.pending.clear();
        differ.iter().for_each(|(slot, by_block)| own.differs(*slot, *by_block));
    }

    /// Something depends on this value that has to be the same in all executions.
    pub(crate) fn need(&mut self, taint: Taint, what: What, code: u32) -> Result<(), Refusal> {
        let placed = taint.place.map(|_| Open { cause: Cause::Placement, code });
        if let Some(open) = taint.open.or(placed) {
            return Err(Refusal { code, what, open: Some(open) });
        }
        self.alike.keep_same(taint.by_block);
        self.matters |= taint.chosen;
        Ok(())
    }

    /// Where a thread goes on that something open may let run into `trap`: past it. What an execution does before a trap, this
    /// one does, too, and behind it nobody does anything.
    pub(crate) fn beside_trap(&self, thread: &Thread, own: &Own) -> Option<u32> {
        let at = thread.next;
        let traps = |mut at: u32| {
            for _ in 0..SHORT {
                at = match self.program.code[at as usize] {
                    Code::Trap => return true,
                    Code::Jump(to) => to,
                    Code::Nothing => at + 1,
                    _ => return false,
                };
            }
            false
        };
        match self.program.code[at as usize] {
            Code::Skip { p, .. } if own.get(p).is_open() => {
                matches!(self.program.code[at as usize + 1], Code::Trap).then_some(at + 2)
            }
            Code::JumpIf { p, to, .. } if own.get(p).is_open() => match (traps(to), traps(at + 1)) {
                (true, false) => Some(at + 1),
                (false, true) => Some(to),
                _ => None,
            },
            _ => None,
        }
    }

    /// A thread executes its next instruction; with a guard that is true also the one behind it.
    pub(crate) fn step(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
    ) -> Result<(), Refusal> {
        let at = thread.next;
        let Code::Skip { p, when } = self.program.code[at as usize] else {
            return self.instruction(world, shared, thread, own, (at, ALWAYS));
        };
        let guard = own.get(p);
        let taken = (thread.value(p) & 1 == 1) != when;
        let next = self.program.code[at as usize + 1];
        // A value that is computed or not depends on the guard; whether something happens must not.
        if !is_computation(next) || !guard.is_open() {
            self.need(guard, What::Control, at)?;
            return match taken {
                true => self.instruction(world, shared, thread, own, (at + 1, ALWAYS)),
                false => Ok(()),
            };
        }
        self.instruction(world, shared, thread, own, (at + 1, When { taken, guard }))
    }

    fn instruction(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, when): (u32, When),
    ) -> Result<(), Refusal> {
        self.effect(world, shared, thread, own, (at, when))?;
        if !own.pending.is_empty() {
            self.evaluate(thread, own, at);
        }
        Ok(())
    }

    fn effect(
        &mut self,
        world: &World,
        shared: &mut [Byte],
        thread: &Thread,
        own: &mut Own,
        (at, when): (u32, When),
    ) -> Result<(), Refusal> {
        let program = self.program;
        match program.code[at as usize] {
            Code::One { f, d, a } => {
                let value = match program.notes.codes.get(&at) {
                    Some(Note::Low32) if own.get(a).low(self.address_bits, at).place.is_some() => own.get(a).through(),
                    _ => self.computed((thread, own), (at, 0), &[a], &|s| f(s[0])),
                };
                own.set(d, self.noted(value, at), when);
            }
            Code::Two { f, d, a, b } => {
                let (slots, a, b, bits) = ([a, b], own.get(a), own.get(b), self.address_bits);
                let value = match program.notes.codes.get(&at) {
                    Some(Note::Sum { bits: of }) if !(a.place.is_some() && b.place.is_some()) => {
                        a.sum(b, (*of, bits), at)
                    }
                    Some(Note::Difference { bits: of }) if b.place.is_none() => a.sum(b, (*of, bits), at),
                    // Where a window starts is known of nothing but addresses.
                    Some(Note::ToGeneric | Note::FromGeneric) if a.pointee().is_some() || a.is_open() => a.through(),
                    Some(Note::ToGeneric | Note::FromGeneric) => Taint::address(Place::Global).mixed(a, at),
                    _ => self.computed((thread, own), (at, 0), &slots, &|s| f(s[0], s[1])),
                };
                own.set(d, self.noted(value, at), when);
            }
            Code::Three { f, d, a, b, c } => {
                let value = match program.notes.codes.get(&at) {
                    Some(Note::ProductSum { bits }) => self.product_sum(own, [a, b, c], *bits, at),
                    Some(Note::WideProductSum { of }) => self.product_sum(own, [a, b, c], 2 * of.bits(), at),
                    _ => self.computed((thread, own), (at, 0), &[a, b, c], &|s| f(s[0], s[1], s[2])),
                };
                own.set(d, self.noted(value, at), when);
            }
            Code::Many { f, bits: width, d, s } => {
                let value = match program.notes.codes.get(&at) {
                    Some(Note::ProductSum { bits }) => self.product_sum(own, [s[0], s[1], s[2]], *bits, at),
                    Some(Note::WideProductSum { of }) => self.product_sum(own, [s[0], s[1], s[2]], 2 * of.bits(), at),
                    Some(Note::InBlock | Note::BlockOf) if !self.knows_cluster => Taint::open(Cause::Size, at),
                    Some(Note::InBlock) => {
                        let (address, block) = (own.get(s[0]), own.get(s[1]));
                        let place =
                            address.place.filter(|placed| placed.part == Part::Whole(0) && block.place.is_none());
                        Taint { place, ..Taint { place: None, ..address }.mixed(block, at) }
                    }
                    Some(Note::BlockOf) => Taint { place: None, ..own.get(s[0]) }.mixed(own.get(s[1]), at),
                    _ => {
                        let function = &program.functions[usize::from(f)];
                        let value = |s: &[u64]| function(&[s[0], s[1], s[2], s[3], 0]) & mask(u32::from(width));
                        self.computed((thread, own), (at, 0), &s, &value)
                    }
                };
                own.set(d, self.noted(value, at), when);
            }
            Code::Partial { f, d, a, b, .. } => {
                let value = match f(thread.value(a), thread.value(b)) {
                    Some(_) => own.get(a).mixed(own.get(b), at),
                    None => Taint::open(Cause::Unspecified, at),
                };
                own.set(d, value, when);
            }
            Code::Carry { out, input, d, a, b, .. } => {
                let mut value = own.get(a).mixed(own.get(b), at);
                if input {
                    value = value.mixed(own.carry, at);
                }
                own.set(d, value, when);
                if out {
                    own.carry = under(value, own.carry, when);
                }
            }
            Code::Move { d, a } => {
                let value = match program.notes.codes.get(&at) {
                    Some(Note::Parameter { index, offset, bytes }) => self.parameter(*index, *offset, *bytes, at),
                    Some(Note::Unknown) => Taint::open(Cause::Unspecified, at),
                    _ => own.get(a),
                };
                own.set(d, value, when);
            }
            Code::Select { d, a, b, p } => {
                let guard = own.get(p);
                let value = match guard.is_open() || guard.place.is_some() {
                    true => own.get(a).mixed(own.get(b), at).mixed(guard, at),
                    false => {
                        let (a, b) = (own.get(a), own.get(b));
                        let value = if thread.value(p) & 1 == 1 { a } else { b };
                        let value = Taint { chosen: value.chosen | guard.chosen, ..value };
                        if guard.by_block == ByBlock::SAME { value } else { value.either(a, b) }
                    }
                };
                own.set(d, value, when);
            }
            Code::Arbitrary { d, .. } | Code::Opaque { d, .. } | Code::Clock { d, .. } => {
                own.set(d, Taint::open(Cause::Unspecified, at), when);
            }
            Code::Pack(index) => {
                let pack = &program.packs[index as usize];
                let slots: Vec<Slot> = pack.sources.iter().map(|(slot, _)| *slot).collect();
                let part = |number: usize| move |s: &[u64]| pack.part(pack.whole(|index, _| s[index]), number);
                let parts = pack.destinations.iter().enumerate();
                let parts: Vec<(Slot, Taint)> = parts
                    .filter_map(|(number, (slot, _))| {
                        let value = self.computed((thread, own), (at, number as u8), &slots, &part(number));
                        Some(((*slot)?, value))
                    })
                    .collect();
                for (slot, value) in parts {
                    own.set(slot, value, when);
                }
            }
            Code::Compare(index) => {
                let parts = &program.comparisons[index as usize];
                let compared = |s: &[u64]| u64::from((parts.test)(s[0], s[1]));
                let mut value = self.computed((thread, own), (at, 0), &[parts.a, parts.b], &compared);
                if let Some((_, slot)) = parts.combine {
                    value = value.mixed(own.get(slot), at);
                }
                for slot in parts.d.map(|(slot, _)| slot).into_iter().chain(parts.complement) {
                    own.set(slot, value, when);
                }
            }
            Code::Skip { p, .. } | Code::JumpIf { p, .. } => self.need(own.get(p), What::Control, at)?,
            Code::JumpTable { a, .. } => self.need(own.get(a), What::Control, at)?,
            Code::Call { copies, .. } | Code::Copies(copies) => {
                if let Some(frame) = program.notes.frames.get(&at) {
                    own.forget(frame, at);
                }
                for copy in &program.copies[copies as usize] {
                    own.copy(*copy, at);
                }
            }
            Code::Load(index) => self.load(world, shared, thread, own, (at, index))?,
            Code::Store(index) => self.store(world, shared, thread, own, (at, index))?,
            Code::Atomic(index) => self.atomic(world, shared, thread, own, (at, index))?,
            Code::AsyncRead(index) => self.copy_size(world, thread, own, (at, index))?,
            Code::AsyncWrite(index) => self.copy(world, shared, thread, own, (at, index))?,
            Code::Barrier(index) => {
                let barrier = &program.barriers[index as usize];
                self.need(own.get(barrier.id), What::Barrier, at)?;
                if let Some(count) = barrier.count {
                    self.need(own.get(count), What::Barrier, at)?;
                }
            }
            Code::Warp(index) => {
                if let Some(mask) = program.warp_operations[index as usize].mask {
                    self.need(own.get(mask), What::Members, at)?;
                }
            }
            Code::Annotation(index) => self.annotation(own, (at, index))?,
            // Its writing half asks.
            Code::MapRead(_) => {}
            Code::Map(index) => self.map(world, shared, thread, own, (at, index))?,
            Code::BulkRead(_) => self.touch_all(thread, at)?,
            Code::BulkWrite(index) => self.bulk(world, thread, own, (at, index))?,
            Code::Object(index) => self.object(world, thread, own, (at, index))?,
            Code::TensorRead(index) | Code::Tensor(index) => {
                self.touch_all(thread, at)?;
                self.tensor_memory(world, thread, own, (at, index))?;
            }
            Code::Product(index) => {
                self.touch_all(thread, at)?;
                self.product(thread, own, (at, index))?;
            }
            Code::ProductCommit | Code::ProductWait { .. } => {}
            // They order nothing here, or nothing but what their thread does.
            Code::Fence { .. } | Code::AsyncCommit | Code::AsyncWait { .. } => {}
            Code::BulkCommit | Code::BulkWait { .. } | Code::ObjectFence | Code::ProxyFence { .. } => {}
            // Everybody comes to that of the cluster.
            Code::ClusterArrive { .. } | Code::ClusterWait => {}
            // They end a thread, or the run; which is control, and was looked at.
            Code::Jump(_) | Code::Return | Code::Exit | Code::Trap | Code::Fails | Code::Nothing | Code::Refuse(_) => {}
        }
        Ok(())
    }

    /// The product of two values plus a third.
    fn product_sum(&self, own: &Own, [a, b, c]: [Slot; 3], bits: u32, at: u32) -> Taint {
        own.get(a).mixed(own.get(b), at).sum(own.get(c), (bits, self.address_bits), at)
    }

    /// What the decoder knows of the result.
    fn noted(&self, value: Taint, at: u32) -> Taint {
        match self.program.notes.codes.get(&at) {
            Some(Note::Inexact) if !value.is_open() => Taint { chosen: value.chosen, ..Taint::open(Cause::Float, at) },
            _ => value,
        }
    }

    fn parameter(&self, index: usize, offset: u32, bytes: u32, at: u32) -> Taint {
        let range = offset as usize..(offset + bytes) as usize;
        match self.parameters.get(index).and_then(|all| all.get(range)) {
            Some(bytes) => Byte::value(bytes, at),
            None => Taint::open(Cause::Memory, at),
        }
    }

    /// What is asserted must be the same everywhere. What is assumed is not used: where it is false here the run ends, and
    /// says nothing.
    fn annotation(&mut self, own: &Own, (at, index): (u32, u32)) -> Result<(), Refusal> {
        use crate::ptx::ast::AnnotationKind::{Assert, Assume, BarrierInvariant, Invariant, Requires};
        let fact = &self.program.annotations[index as usize];
        match fact.kind {
            Requires | Assume => return Ok(()),
            Assert | Invariant | BarrierInvariant => {}
        }
        if !fact.arrays.is_empty() {
            let open = Some(Open { cause: Cause::Memory, code: at });
            return Err(Refusal { code: at, what: What::Assertion, open });
        }
        for register in fact.expression.registers() {
            self.need(own.get(register.0 as Slot), What::Assertion, at)?;
        }
        // Parameters stand in it as numbers.
        self.matters = u64::MAX;
        Ok(())
    }
}
