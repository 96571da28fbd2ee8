//! What an instruction does: one variant of [`Op`] for each meaning, with its typed operands.
//!
//! Part of the module that [`super::ast`] describes. Terms are those of the PTX ISA manual;
//! instructions are cited by name.

use super::ast::{Address, AsyncOp, LabelId, ObjectUse, Operand, ScalarType, StateSpace};
use crate::order::{Fence, Order, Ordering, Scope};
use std::sync::Arc;

/// Integer operations with an exact model; the operand count is fixed by the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // each is the PTX instruction of that name
pub enum IntOp {
    Add,
    Sub,
    MulLo,
    MulHi,
    /// Result is twice as wide as the type.
    MulWide,
    /// `mad`: dst = a*b + c, low half.
    MadLo,
    MadHi,
    /// c and the result are twice as wide as the type.
    MadWide,
    Div,
    Rem,
    Min,
    Max,
    Abs,
    Neg,
    And,
    Or,
    Xor,
    Not,
    /// Logical negation: dst = (a == 0) ? 1 : 0.
    Cnot,
    /// Shift amount is a u32, clamped to the width.
    Shl,
    /// Arithmetic for signed types.
    Shr,
    /// Funnel shift `shf.l`; `true` is `.wrap`, `false` is `.clamp`. Operands a (low), b (high), c.
    FunnelLeft(bool),
    /// Funnel shift `shf.r`.
    FunnelRight(bool),
    /// Bit-field extract: a, position, length.
    Bfe,
    /// Bit-field insert: a (field), b (base), position, length.
    Bfi,
    Brev,
    Popc,
    Clz,
    /// `bfind`; `true` is `.shiftamt`.
    Bfind(bool),
    /// `prmt` without a mode: a, b, selector.
    Prmt,
    /// `lop3` with its immediate look-up table: a, b, c.
    Lop3(u8),
    Sad,
    /// `mul24.lo` / `mad24.lo` on the low 24 bits.
    Mul24Lo,
    Mad24Lo,
    /// `szext`, `bmsk`, `fns`, `dp4a`, ... have no exact model here and become [`Op::Arbitrary`].
    /// `slct` with an integer third operand: a, b, c: dst = (c >= 0) ? a : b.
    Slct,
}

/// Comparison operators of `setp` and `set`. For floats the `U` forms are true on NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// `.and`, `.or`, `.xor` of `setp`, `set` and the barrier reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// What an instruction does. One variant for each shape of meaning, not for each opcode. There are millions of these: what
/// is rare is boxed.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `mov`, also packing `mov.b64 d, {a,b}` and unpacking `mov.b64 {a,b}, s`, addresses of variables.
    Mov {
        /// Type of the whole value.
        ty: ScalarType,
        /// Register, vector of registers (unpack) or sink.
        dst: Operand,
        /// Any operand (vector: pack, first element lowest).
        src: Operand,
    },
    /// Integer arithmetic and logic with an exact model. Predicates use `And`, `Or`, `Xor`, `Not` with `Pred`.
    Int {
        /// Operation.
        op: IntOp,
        /// Instruction type (type of the sources; see [`IntOp`] for wide forms).
        ty: ScalarType,
        /// `.sat` of `add.s32`, `sub.s32` and `mad.hi.s32`.
        saturate: bool,
        /// `.cc`: the carry flag is written too. No other operation of this variant touches it.
        carry_out: bool,
        /// Destination register or sink.
        dst: Operand,
        /// Sources in ISA order.
        sources: Vec<Operand>,
    },
    /// Floating-point arithmetic: an uninterpreted function of the full opcode and the operands.
    Float {
        /// Full opcode with modifiers, e.g. `fma.rn.ftz.f32`.
        name: Arc<str>,
        /// Type of the result.
        ty: ScalarType,
        /// Destination.
        dst: Operand,
        /// Sources.
        sources: Vec<Operand>,
    },
    /// `setp`: dst = (a cmp b) [bool c]; `complement` gets (!(a cmp b)) [bool c].
    Setp {
        /// Comparison.
        comparison: Comparison,
        /// Type compared.
        ty: ScalarType,
        /// Full opcode (floats are uninterpreted by it).
        name: Arc<str>,
        /// `p` of `p|q`.
        dst: Operand,
        /// `q` of `p|q`.
        complement: Option<Box<Operand>>,
        /// Left operand.
        a: Operand,
        /// Right operand.
        b: Operand,
        /// Combination with a further predicate.
        combine: Option<Box<(BoolOp, Operand)>>,
    },
    /// `set`: like `setp` with result all ones / zero (integer) or 1.0 / 0.0 (float).
    Set {
        /// Comparison.
        comparison: Comparison,
        /// Destination type.
        to: ScalarType,
        /// Type compared.
        ty: ScalarType,
        /// Full opcode.
        name: Arc<str>,
        /// Destination.
        dst: Operand,
        /// Left operand.
        a: Operand,
        /// Right operand.
        b: Operand,
        /// Combination with a further predicate.
        combine: Option<Box<(BoolOp, Operand)>>,
    },
    /// `selp`: dst = predicate ? a : b.
    Selp {
        /// Type.
        ty: ScalarType,
        /// Destination.
        dst: Operand,
        /// Value if true.
        a: Operand,
        /// Value if false.
        b: Operand,
        /// Predicate.
        predicate: Operand,
    },
    /// `cvt`. Between integers it is exact (saturation included); otherwise an uninterpreted function.
    Cvt {
        /// Destination type.
        to: ScalarType,
        /// Source type.
        from: ScalarType,
        /// `.sat`
        saturate: bool,
        /// Full opcode.
        name: Arc<str>,
        /// Destination.
        dst: Operand,
        /// Sources (two for packed destinations).
        sources: Vec<Operand>,
    },
    /// `cvta.space` (to generic) and `cvta.to.space` (from generic).
    Cvta {
        /// True for `cvta.to`.
        from_generic: bool,
        space: StateSpace,
        /// Width of the address in bits.
        bits: u32,
        /// Destination.
        dst: Operand,
        /// A register, or a variable whose address is taken.
        src: Operand,
    },
    /// `isspacep`: an arbitrary predicate.
    /// `ld`, `ldu`.
    Load {
        /// State space.
        space: StateSpace,
        /// Type of an element.
        ty: ScalarType,
        /// One destination an element (register or sink).
        dst: Vec<Operand>,
        /// Address of the first element.
        address: Address,
        /// Weak or strong.
        ordering: Ordering,
        /// `.nc`
        non_coherent: bool,
    },
    /// `st`.
    Store {
        /// State space.
        space: StateSpace,
        /// Type of an element.
        ty: ScalarType,
        /// One source an element.
        src: Vec<Operand>,
        /// Address of the first element.
        address: Address,
        /// Weak or strong.
        ordering: Ordering,
    },
    /// `atom` and `red`.
    Atomic {
        /// State space.
        space: StateSpace,
        /// Operation as written: `add`, `cas`, `exch`, ...
        operation: Arc<str>,
        /// Type of an element.
        ty: ScalarType,
        /// Number of elements (`.v2`, `.v4`, `.v8`), else 1.
        elements: u32,
        /// Destinations of the old value; empty for `red`.
        dst: Box<[Operand]>,
        /// Address.
        address: Address,
        /// Operands.
        sources: Vec<Operand>,
        /// Ordering with scope (relaxed at `.gpu` if nothing is written).
        ordering: Ordering,
    },
    /// `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`: the threads of a warp move matrices together. Which of them
    /// accesses which byte, and how the values lie in registers, is not modelled.
    Matrix {
        /// Full opcode.
        name: Arc<str>,
        /// State space.
        space: StateSpace,
        /// Registers loaded; empty for stores.
        dst: Box<[Operand]>,
        /// Registers stored; empty for loads.
        src: Box<[Operand]>,
        /// Address of the lane's row, or of the whole fragment.
        address: Address,
        /// The bytes.
        rows: MatrixRows,
        /// Distance of the starts of two rows, in elements; `None`: they are contiguous.
        stride: Option<Box<Operand>>,
    },
    /// `bra`, `bra.uni`.
    Branch {
        /// Target.
        target: LabelId,
    },
    /// `brx.idx` over a `.branchtargets` list.
    BranchIndexed {
        /// Index operand.
        index: Operand,
        /// Targets in order; branches over one list share it.
        targets: Arc<[LabelId]>,
    },
    /// `ret`.
    Return,
    /// `exit`.
    Exit,
    /// `trap`: the launch fails; no execution goes on.
    Trap,
    /// `call` of a known function.
    Call {
        /// Index into [`Module::functions`].
        function: u32,
        /// Return parameters: `.param` variables or registers.
        returns: Vec<Operand>,
        /// Arguments: `.param` variables, registers or constants.
        arguments: Vec<Operand>,
    },
    /// `call` of a function whose address is in a register.
    CallIndirect {
        /// The register.
        function: Operand,
        /// Indices of the functions in the `.calltargets` list. `None`, with a `.callprototype`: all of its shape
        /// whose addresses the module takes.
        targets: Option<Arc<[u32]>>,
        /// As in [`Op::Call`].
        returns: Vec<Operand>,
        /// As in [`Op::Call`].
        arguments: Vec<Operand>,
    },
    /// `bar`/`barrier` `.sync`, `.arrive`, `.red`.
    Barrier {
        /// The form.
        kind: BarrierKind,
        /// `bar.*` and `barrier.*.aligned`.
        aligned: bool,
        /// Barrier number.
        id: Operand,
        /// Thread count.
        count: Option<Operand>,
    },
    /// `bar.warp.sync`
    WarpBarrier {
        /// Member mask.
        mask: Operand,
    },
    /// `membar`, `fence`.
    Fence(Fence),
    /// An instruction that gives arbitrary values and touches no memory: `shfl`, `vote`, `match`, `activemask`,
    /// `redux`, `elect`, carry arithmetic (`add.cc`, `addc`, `madc`), `dp4a`, video instructions, `isspacep`, ...
    Arbitrary {
        /// Full opcode.
        name: Arc<str>,
        /// Registers that get an arbitrary value.
        dst: Vec<Operand>,
        /// What is read, in ISA order; vectors and coordinates element by element.
        sources: Vec<Operand>,
    },
    /// A call of `malloc`: an address of memory that no other thread has, or null.
    Allocate {
        /// Register that gets the address.
        dst: Operand,
        /// How many bytes, 64 bits.
        size: Operand,
    },
    /// A call of `free`: nobody else may use the block that starts there.
    Free {
        /// Where the block starts, a generic address.
        address: Address,
    },
    /// What goes on beside the thread: `cp.async`, `cp.async.bulk` and their groups.
    Async {
        /// Full opcode.
        name: Arc<str>,
        /// What it does.
        operation: AsyncOp,
    },
    /// What is done with a barrier object: `mbarrier`.
    Object {
        /// Full opcode.
        name: Arc<str>,
        /// What is done, and with which.
        usage: Box<ObjectUse>,
    },
    /// `setmaxnreg`: how many registers the threads of a warp group have, which no value depends on.
    Registers {
        /// Full opcode.
        name: Arc<str>,
        /// How many.
        count: u64,
    },
    /// `barrier.cluster.arrive`, `barrier.cluster.wait`.
    ClusterBarrier {
        /// Full opcode.
        name: Arc<str>,
        /// It is an arrival, not a wait.
        arrives: bool,
        /// `.release`: what was before is known behind the barrier.
        releases: bool,
    },
    /// No effect on values, memory or order: `prefetch`, `nanosleep`, `pmevent`, `griddepcontrol.launch_dependents`,
    /// `applypriority`, `discard` is NOT one of them.
    Nothing {
        /// Full opcode.
        name: Arc<str>,
    },
    /// A legal instruction without a sound model yet.
    Unsupported {
        /// Full opcode.
        name: Arc<str>,
        /// Why.
        reason: String,
    },
}

/// The memory that a matrix instruction of a warp accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixRows {
    /// Lanes 0, 1, ... up to this number give an address each; the addresses of the others do not matter.
    pub(crate) lanes: u32,
    /// Rows behind each address.
    pub(crate) rows: u32,
    /// Width of a row in bytes.
    pub(crate) bytes: u32,
    /// Bits by which a stride of one moves; 0 if there is no stride.
    pub(crate) stride_bits: u32,
}

/// Forms of the block barrier.
#[derive(Clone, Debug, PartialEq)]
pub enum BarrierKind {
    /// `.sync`
    Sync,
    /// `.arrive`
    Arrive,
    /// `.red.popc/.and/.or`
    Reduce {
        /// `popc`, `and` or `or`.
        operation: Arc<str>,
        /// Destination register.
        dst: Operand,
        /// Source predicate.
        predicate: Operand,
    },
}

impl Op {
    /// The scope in which it is strong, or orders.
    pub(crate) fn scope(&self) -> Option<Scope> {
        match self {
            Op::Load { ordering, .. } | Op::Store { ordering, .. } | Op::Atomic { ordering, .. } => {
                ordering.strong_scope()
            }
            Op::Fence(fence) => match fence.order() {
                Order::Fence { scope, .. } => Some(scope),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it reads a texture.
    pub(crate) fn is_texture_fetch(&self) -> bool {
        matches!(self, Op::Arbitrary { name, .. } if name.starts_with("tex.") || name.starts_with("tld4."))
    }
}
