//! From a typed module to a flat program, once a launch.
//!
//! Input: a [`Module`], its entry, a [`Launch`]. Output: a [`Program`].
//! Establishes: every operand is a slot of the thread's register file (constants and special registers
//! have slots too), every branch target an index, every function of an instruction chosen; kernel
//! parameters are constants.
//! Relies on: the parser's typing. Reference: PTX ISA.

mod asynchronous;
mod control;
mod function;
mod indirect;
mod layout;
mod matrix;
mod notes;
mod opaque;
mod operations;
mod reconvergence;
mod special;
mod tensor_memory;
mod together;

use super::launch::Launch;
use super::values::atomic::AtomicOperation;
use super::values::mask;
use super::values::packed::Function;
use crate::diagnostic::Diagnostic;
use crate::order::Scope;
use crate::ptx::annotation::{ArrayRef, Value};
use crate::ptx::ast::{AnnotationKind, BoolOp, Module, ScalarType};
use crate::span::Origin;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use layout::shared_address;
pub(crate) use layout::{FLAT_START, RANK_SHIFT};
pub use layout::{GlobalVariable, SHARED_BITS, SharedVariable, Windows};
pub(crate) use notes::{ConstantKind, Frame, Note, Notes, Place};
pub(crate) use opaque::Deciding;
pub(crate) use special::{SpecialSlot, SpecialValue};
pub(crate) use tensor_memory::{TensorA, TensorOperation, TensorPlace, TensorProductOf};
pub(crate) use together::{
    AsyncCopy, Barrier, BulkOperation, MapOperation, Moves, ObjectKind, ObjectOperation, Product, Reduction,
    ReductionKind, WarpKind, WarpOperation,
};

/// Index into a thread's register file.
pub(crate) type Slot = u16;

/// A program for one launch.
pub struct Program {
    /// Instructions of all functions that the entry reaches; the entry's first.
    pub code: Vec<Code>,
    /// Where each instruction comes from.
    pub origins: Vec<Arc<Origin>>,
    /// Functions of [`Code::Many`].
    pub functions: Vec<Function>,
    /// Memory instructions.
    pub accesses: Vec<Access>,
    /// Barriers of the block.
    pub(crate) barriers: Vec<Barrier>,
    /// Instructions that a warp executes together.
    pub(crate) warp_operations: Vec<WarpOperation>,
    /// Targets of indexed branches.
    pub(crate) tables: Vec<Vec<u32>>,
    /// Packing and unpacking moves.
    pub(crate) packs: Vec<Pack>,
    /// `setp` and `set` with all their parts.
    pub(crate) comparisons: Vec<CompareParts>,
    /// Copies around calls.
    pub(crate) copies: Vec<Vec<Copy>>,
    /// Copies that go on beside their threads.
    pub(crate) async_copies: Vec<AsyncCopy>,
    /// Copies through the asynchronous proxy.
    pub(crate) bulk_operations: Vec<BulkOperation>,
    /// Operations on tensor maps.
    pub(crate) map_operations: Vec<MapOperation>,
    /// Products of matrices.
    pub(crate) products: Vec<Product>,
    /// Operations on tensor memory.
    pub(crate) tensor_operations: Vec<TensorOperation>,
    /// Operations on barrier objects.
    pub(crate) objects: Vec<ObjectOperation>,
    /// Annotations.
    pub(crate) annotations: Vec<Fact>,
    /// Why an instruction has no model.
    pub(crate) refusals: Vec<String>,
    /// Where the paths of a branch meet again; `u32::MAX` where they do not.
    pub(crate) reconvergence: Vec<u32>,
    /// The register file of a thread before its first instruction.
    pub(crate) template: Vec<u64>,
    /// Slots that depend on the thread.
    pub(crate) specials: Vec<SpecialSlot>,
    /// Bytes of local memory of a thread, parameters of functions included.
    pub(crate) local_size: u32,
    /// Shared variables, by the number in their addresses.
    pub shared: Vec<SharedVariable>,
    /// Whether they follow each other, and have no numbers in their addresses.
    pub(crate) is_flat: bool,
    /// Bytes of shared memory of a block.
    pub(crate) shared_size: u32,
    /// Blocks of a cluster.
    pub(crate) ranks: u32,
    /// Module-scope variables in global and constant memory.
    pub globals: Vec<GlobalVariable>,
    /// Generic addresses.
    pub windows: Windows,
    /// What values decide that are not computed.
    pub(crate) deciding: Deciding,
    /// Where values come from.
    pub(crate) notes: Notes,
}

/// Decodes an entry; an error is a gap (unsupported) or an argument that does not fit.
pub fn decode(module: &Module, entry: usize, launch: &Launch) -> Result<Program, Diagnostic> {
    function::decode(module, entry, launch)
}

/// The registers of all functions that an entry reaches, those of device functions with its name in front; and by the first
/// byte of each instruction the numbers of those that it writes.
///
/// # Errors
/// As for [`decode`].
pub(crate) fn registers(module: &Module, entry: usize) -> Result<(Vec<Register>, Written), Diagnostic> {
    function::registers(module, entry)
}

/// Numbers of registers, by the first byte of the instruction that writes them.
pub(crate) type Written = BTreeMap<u32, Vec<usize>>;

/// A register of the PTX, with its type.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub(crate) named: NamedSlot,
    pub(crate) ty: ScalarType,
}

/// An annotation.
pub(crate) struct Fact {
    /// What it asks for.
    pub(crate) kind: AnnotationKind,
    /// The expression; its registers are slots.
    pub(crate) expression: Value,
    /// The registers of the PTX in it.
    pub(crate) registers: Vec<NamedSlot>,
    /// The arrays in it, with their generic addresses.
    pub(crate) arrays: Vec<(ArrayRef, u64)>,
}

/// A register of the PTX.
#[derive(Clone, Debug)]
pub(crate) struct NamedSlot {
    pub(crate) name: Arc<str>,
    /// Where it is.
    pub(crate) slot: Slot,
    /// Width in bits.
    pub(crate) bits: u32,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub enum Code {
    /// A function of one register.
    One {
        /// The function.
        f: fn(u64) -> u64,
        /// Destination.
        d: Slot,
        /// Source.
        a: Slot,
    },
    /// A function of two registers.
    Two {
        /// The function.
        f: fn(u64, u64) -> u64,
        /// Destination.
        d: Slot,
        /// First source.
        a: Slot,
        /// Second source.
        b: Slot,
    },
    /// A function of three registers.
    Three {
        /// The function.
        f: fn(u64, u64, u64) -> u64,
        /// Destination.
        d: Slot,
        /// First source.
        a: Slot,
        /// Second source.
        b: Slot,
        /// Third source.
        c: Slot,
    },
    /// A function of [`Program::functions`]; the result is cut to `bits`.
    Many {
        /// Its number.
        f: u16,
        /// Width of the destination.
        bits: u8,
        /// Destination.
        d: Slot,
        /// Sources.
        s: [Slot; 4],
    },
    /// A function that is unspecified for some operands, such as a division.
    Partial {
        /// The function.
        f: fn(u64, u64) -> Option<u64>,
        /// Width of the result.
        bits: u8,
        /// Destination.
        d: Slot,
        /// First source.
        a: Slot,
        /// Second source.
        b: Slot,
    },
    /// Extended-precision addition or subtraction.
    Carry {
        /// `.cc`: writes the flag.
        out: bool,
        /// Reads the flag.
        input: bool,
        /// Subtraction.
        subtract: bool,
        /// Width.
        bits: u8,
        /// Destination.
        d: Slot,
        /// First source.
        a: Slot,
        /// Second source.
        b: Slot,
    },
    /// Copies a register.
    Move {
        /// Destination.
        d: Slot,
        /// Source.
        a: Slot,
    },
    /// `selp`
    Select {
        /// Destination.
        d: Slot,
        /// If true.
        a: Slot,
        /// If false.
        b: Slot,
        /// Predicate.
        p: Slot,
    },
    /// A value that nothing determines.
    Arbitrary {
        /// Destination.
        d: Slot,
        /// Width.
        bits: u8,
    },
    /// A value that the ISA defines and that is not computed here.
    Opaque {
        /// Destination.
        d: Slot,
        /// Width.
        bits: u8,
    },
    /// Clock registers grow with every read.
    Clock {
        /// Destination.
        d: Slot,
        /// Right shift.
        shift: u8,
        /// Width.
        bits: u8,
    },
    /// An entry of [`Program::packs`].
    Pack(u32),
    /// An entry of [`Program::comparisons`].
    Compare(u32),
    /// Passes over the next instruction if the predicate is `when`.
    Skip {
        /// Predicate.
        p: Slot,
        /// Value that skips.
        when: bool,
    },
    /// Branch.
    Jump(u32),
    /// Branch if the predicate is `when`.
    JumpIf {
        /// Predicate.
        p: Slot,
        /// Value that branches.
        when: bool,
        /// Target.
        to: u32,
    },
    /// Branch to an entry of [`Program::tables`].
    JumpTable {
        /// Index.
        a: Slot,
        /// Table.
        table: u32,
    },
    /// Does an entry of [`Program::copies`] and calls.
    Call {
        /// Copies of arguments.
        copies: u32,
        /// First instruction of the function.
        to: u32,
    },
    /// Does an entry of [`Program::copies`]: results of a call.
    Copies(u32),
    /// Back to the caller, or the end of the thread.
    Return,
    /// An entry of [`Program::accesses`] that reads.
    Load(u32),
    /// An entry of [`Program::accesses`] that writes.
    Store(u32),
    /// An entry of [`Program::accesses`] that does both.
    Atomic(u32),
    /// The reading half of an entry of [`Program::async_copies`].
    AsyncRead(u32),
    /// The writing half, which follows.
    AsyncWrite(u32),
    /// `cp.async.commit_group`
    AsyncCommit,
    /// `cp.async.wait_group`
    AsyncWait {
        /// Groups that need not be complete.
        pending: u64,
    },
    /// The reading half of an entry of [`Program::bulk_operations`].
    BulkRead(u32),
    /// The writing half, which follows.
    BulkWrite(u32),
    /// `cp.async.bulk.commit_group`
    BulkCommit,
    /// `cp.async.bulk.wait_group`
    BulkWait {
        /// Groups that need not be complete.
        pending: u64,
        /// Only what they read.
        reads: bool,
    },
    /// An entry of [`Program::tensor_operations`] that loads; or what one reads that stands behind it, and does nothing by itself.
    TensorRead(u32),
    /// An entry of [`Program::tensor_operations`].
    Tensor(u32),
    /// An entry of [`Program::products`].
    Product(u32),
    /// `wgmma.commit_group`
    ProductCommit,
    /// `wgmma.wait_group`
    ProductWait {
        /// Groups that need not be complete.
        pending: u64,
    },
    /// `barrier.cluster.arrive`
    ClusterArrive {
        /// What was before is known behind the barrier.
        releases: bool,
    },
    /// `barrier.cluster.wait`
    ClusterWait,
    /// `fence.mbarrier_init`
    ObjectFence,
    /// An entry of [`Program::objects`].
    Object(u32),
    /// The reading half of an entry of [`Program::map_operations`]: does nothing by itself.
    MapRead(u32),
    /// An entry of [`Program::map_operations`].
    Map(u32),
    /// `fence.proxy.async`: between accesses of both proxies.
    ProxyFence {
        /// To shared memory.
        shared: bool,
        /// Of that, to the memory of the own block only.
        own: bool,
        /// To global memory.
        global: bool,
    },
    /// An entry of [`Program::barriers`].
    Barrier(u32),
    /// An entry of [`Program::warp_operations`].
    Warp(u32),
    Fence {
        scope: Scope,
        /// Takes part in the order of all `.sc` fences.
        sequential: bool,
        /// Releases.
        release: bool,
        /// Acquires.
        acquire: bool,
    },
    /// A failed assertion of the user.
    Fails,
    /// An entry of [`Program::annotations`].
    Annotation(u32),
    /// The thread ends.
    Exit,
    /// The launch fails.
    Trap,
    /// Does nothing.
    Nothing,
    /// An entry of [`Program::refusals`].
    Refuse(u32),
}

/// State spaces at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Space {
    Global,
    Shared,
    Local,
    Param,
    Generic,
}

/// How an access takes part in the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// Scope of a strong access.
    pub scope: Option<Scope>,
    /// Acquires.
    pub(crate) acquire: bool,
    /// Releases.
    pub(crate) release: bool,
}

/// A memory instruction.
#[derive(Clone, Debug)]
pub struct Access {
    /// Where.
    pub space: Space,
    /// Register with the address.
    pub base: Slot,
    /// Bytes added.
    pub offset: i64,
    /// Bytes of an element.
    pub bytes: u32,
    /// Scalar accesses that the memory model makes of an element: 2 where an atomic's type is packed.
    pub(crate) parts: u32,
    /// Sign-extend loaded elements.
    pub(crate) is_signed: bool,
    /// Destinations or sources, one an element; `None` is `_`.
    pub data: Vec<Option<(Slot, u8)>>,
    /// Elements.
    pub elements: u32,
    /// In the memory model.
    pub strength: Strength,
    /// Constant memory and `.param` never race.
    pub(crate) constant: bool,
    /// `red`: gives nothing back.
    pub(crate) is_reduction: bool,
    /// What an atomic does, its type and its operands (for each element, then the second of `cas`).
    pub atomic: Option<(AtomicOperation, crate::ptx::ast::ScalarType, Vec<Slot>)>,
}

impl Access {
    /// Bytes of what the memory model takes for one scalar access.
    pub(crate) fn scalar_bytes(&self) -> u32 {
        self.bytes / self.parts
    }
}

/// A move that packs or unpacks.
#[derive(Clone, Debug)]
pub(crate) struct Pack {
    /// Parts of the source, lowest first, with their widths.
    pub(crate) sources: Vec<(Slot, u32)>,
    /// Parts of the destination.
    pub(crate) destinations: Vec<(Option<Slot>, u32)>,
}

impl Pack {
    /// The source; the values of its parts by number and slot.
    pub(crate) fn whole(&self, value: impl Fn(usize, Slot) -> u64) -> u128 {
        let (mut whole, mut shift) = (0u128, 0);
        for (number, (slot, bits)) in self.sources.iter().enumerate() {
            whole |= u128::from(value(number, *slot) & mask(*bits)) << shift;
            shift += bits;
        }
        whole
    }

    /// The part of the destination with this number.
    pub(crate) fn part(&self, whole: u128, number: usize) -> u64 {
        let before: u32 = self.destinations[..number].iter().map(|(_, bits)| bits).sum();
        whole.checked_shr(before).unwrap_or(0) as u64 & mask(self.destinations[number].1)
    }
}

/// `setp`, `set`.
pub(crate) struct CompareParts {
    /// The comparison.
    pub(crate) test: Box<dyn Fn(u64, u64) -> bool + Send + Sync>,
    /// Operands.
    pub(crate) a: Slot,
    /// Operands.
    pub(crate) b: Slot,
    /// Combination with a predicate.
    pub(crate) combine: Option<(BoolOp, Slot)>,
    /// Destination, and the value for true.
    pub(crate) d: Option<(Slot, u64)>,
    /// `q` of `p|q`.
    pub(crate) complement: Option<Slot>,
}

impl CompareParts {
    /// Its results, if slots have these values.
    pub(crate) fn results(&self, mut value: impl FnMut(Slot) -> u64) -> [Option<(Slot, u64)>; 2] {
        let result = (self.test)(value(self.a), value(self.b));
        let other = self.combine.map(|(operator, slot)| (operator, value(slot) & 1 == 1));
        let combined = |result: bool| match other {
            None => result,
            Some((BoolOp::And, other)) => result && other,
            Some((BoolOp::Or, other)) => result || other,
            Some((BoolOp::Xor, other)) => result != other,
        };
        let d = self.d.map(|(slot, truth)| (slot, if combined(result) { truth } else { 0 }));
        [d, self.complement.map(|slot| (slot, u64::from(combined(!result))))]
    }
}

/// A copy around a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Copy {
    /// Between parameters in local memory.
    Bytes {
        /// Source offset.
        from: u32,
        /// Destination offset.
        to: u32,
        /// Bytes.
        bytes: u32,
    },
    /// A register to a parameter.
    Store {
        /// Register.
        from: Slot,
        /// Destination offset.
        to: u32,
        /// Bytes.
        bytes: u32,
    },
    /// A parameter to a register.
    Load {
        /// Source offset.
        from: u32,
        /// Register.
        to: Slot,
        /// Bytes.
        bytes: u32,
    },
}
