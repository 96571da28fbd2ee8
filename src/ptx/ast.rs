//! The typed PTX module: what the `ptx` stage hands to `cfg`.
//!
//! Every name is resolved to an index, every instruction is typed, every node has a byte span.
//! Terms are those of the PTX ISA manual; instructions are cited by name.

use crate::span::{Origin, Span};
use std::sync::Arc;

/// A whole PTX file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version` major and minor.
    pub version: (u32, u32),
    /// `.target`, e.g. `sm_90a`.
    pub target: String,
    /// `.address_size` in bits (32 or 64).
    pub address_size: u32,
    /// Module-scope variables (`.global`, `.const`, `.shared`), in order of appearance.
    pub variables: Vec<Variable>,
    /// Entries and device functions, in order of appearance; a declaration that is defined later
    /// is merged with its definition.
    pub functions: Vec<Function>,
}

/// Scalar types (PTX "Fundamental Types" and alternate floating-point formats).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarType {
    /// A predicate.
    Pred,
    /// Untyped bits of the given width in bits (8, 16, 32, 64, 128).
    B(u32),
    /// Unsigned integer of the given width in bits.
    U(u32),
    /// Signed integer of the given width in bits.
    S(u32),
    /// IEEE float of the given width in bits (16, 32, 64).
    F(u32),
    /// Packed or alternate formats (f16x2, bf16, bf16x2, tf32, e4m3x2, u16x2, ...).
    Packed {
        /// Name as written, without the dot.
        name: &'static str,
        /// Width of the whole value in bits.
        bits: u32,
    },
}

impl ScalarType {
    /// Width in bits; 1 for a predicate.
    pub fn bits(self) -> u32 {
        match self {
            ScalarType::Pred => 1,
            ScalarType::B(n) | ScalarType::U(n) | ScalarType::S(n) | ScalarType::F(n) => n,
            ScalarType::Packed { bits, .. } => bits,
        }
    }

    /// Width in bytes of a value in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// True for `.sN`.
    pub fn is_signed(self) -> bool {
        matches!(self, ScalarType::S(_))
    }

    /// True for floats and packed formats.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F(_) | ScalarType::Packed { .. })
    }
}

/// State spaces of variables and memory operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateSpace {
    /// No space given: a generic address.
    Generic,
    /// `.global`
    Global,
    /// `.shared` and `.shared::cta`
    Shared,
    /// `.shared::cluster`
    SharedCluster,
    /// `.local`
    Local,
    /// `.param` (and `.param::entry`, `.param::func`)
    Param,
    /// `.const`
    Const,
}

/// Linkage directives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// None written.
    #[default]
    Internal,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A variable or parameter in memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name as written; a name declared in a nested scope is made unique with a suffix `$N`.
    pub name: Arc<str>,
    /// Its space.
    pub space: StateSpace,
    /// Element type.
    pub ty: ScalarType,
    /// Size of the whole variable in bytes; `None` for an unsized array (`.extern .shared x[]`).
    pub size: Option<u64>,
    /// Alignment in bytes (the `.align` or the natural one).
    pub align: u32,
    /// Linkage.
    pub linkage: Linkage,
    /// For parameters with a `.ptr` attribute: the space it points to (`Generic` if not said).
    pub pointer: Option<StateSpace>,
    /// Whether the declaration has an initialiser.
    pub initialised: bool,
    /// What the initialiser puts where; bytes that it leaves out are zero.
    pub initial_values: Vec<InitialValue>,
    /// Functions and variables whose addresses the initialiser holds (they escape).
    pub initialiser_symbols: Vec<Arc<str>>,
    /// The declaration.
    pub span: Span,
}

/// One scalar of an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialValue {
    /// Byte offset in the variable.
    pub offset: u64,
    /// Width in bytes.
    pub bytes: u32,
    /// The value.
    pub value: InitialConstant,
}

/// The value of a scalar of an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitialConstant {
    /// These bits.
    Bits(u64),
    /// The address of a variable or function.
    Address {
        /// Its name.
        symbol: Arc<str>,
        /// Bytes added.
        addend: i64,
        /// `generic(symbol)`: the generic address.
        generic: bool,
        /// `0xFF00(symbol)`: the address is shifted right by this many bits.
        shift: u32,
    },
}

/// An `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name as written.
    pub name: Arc<str>,
    /// True for `.entry`.
    pub is_entry: bool,
    /// Linkage.
    pub linkage: Linkage,
    /// Return parameters of a `.func`.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.reqntid`
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid` (its product bounds the block size)
    pub maximum_block: Option<[u32; 3]>,
    /// The body; `None` for a declaration.
    pub body: Option<Body>,
    /// The header.
    pub span: Span,
}

/// A function body.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Registers; a [`RegisterId`] indexes this.
    pub registers: Vec<Register>,
    /// Variables declared in the body: `.shared`, `.local`, `.param`, `.global`, `.const`.
    pub variables: Vec<Variable>,
    /// Labels; a [`LabelId`] indexes this.
    pub labels: Vec<Label>,
    /// Labels and instructions in order.
    pub items: Vec<Item>,
}

/// A register.
#[derive(Clone, Debug)]
pub struct Register {
    /// Name as written (`%r7`); made unique with a suffix `$N` when a nested scope redeclares it.
    pub name: Arc<str>,
    /// Its type.
    pub ty: ScalarType,
}

/// A label.
#[derive(Clone, Debug)]
pub struct Label {
    /// Name as written, made unique like registers.
    pub name: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// Index into [`Body::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterId(pub u32);

/// Index into [`Body::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub u32);

/// A resolved variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VariableRef {
    /// Index into [`Module::variables`].
    Module(u32),
    /// Index into [`Body::variables`] of the function at hand.
    Body(u32),
    /// Index into [`Function::params`] of the function at hand.
    Param(u32),
    /// Index into [`Function::returns`] of the function at hand.
    Return(u32),
}

/// One line of a body.
#[derive(Clone, Debug)]
pub enum Item {
    /// A label stands here.
    Label(LabelId),
    /// An instruction.
    Instruction(Instruction),
    /// An annotation comment `//@ kind expression;`.
    Annotation(Annotation),
}

/// A `//@` comment inside a body (DESIGN section 3): kind and expression text; register names in
/// it are resolved by the kernel stage.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// `requires`, `assume`, `assert`, `invariant`, `barrier_invariant`.
    pub kind: String,
    /// The text between kind and `;`.
    pub expression: String,
    /// Where the comment stands, with the `.loc` in force.
    pub origin: Arc<Origin>,
}

/// An instruction with its guard.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// `@%p` or `@!%p`.
    pub guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// Where it stands.
    pub origin: Arc<Origin>,
}

/// A guard predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub register: RegisterId,
    /// True for `@!p`.
    pub negated: bool,
}

/// A value operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Register(RegisterId),
    /// A negated predicate register (`!%p`), where the ISA allows one.
    NotPredicate(RegisterId),
    /// An integer constant, as the 64 bits of its two's complement.
    Integer(u64),
    /// A float constant, as its bits: `0fXXXXXXXX` (32), `0dXXXXXXXXXXXXXXXX` (64) or decimal (64).
    Float {
        /// The bits.
        bits: u64,
        /// 32 or 64.
        width: u32,
    },
    /// The address of a variable plus a byte offset.
    Variable(VariableRef, i64),
    /// The address of a function (index into [`Module::functions`]).
    Function(u32),
    /// A special register such as `%tid.x`.
    Special(SpecialRegister),
    /// `{a, b, ...}`
    Vector(Vec<Operand>),
    /// `_`
    Sink,
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpecialRegister {
    /// `%tid`, axis 0 to 2
    Tid(u8),
    /// `%ntid`
    Ntid(u8),
    /// `%ctaid`
    Ctaid(u8),
    /// `%nctaid`
    Nctaid(u8),
    /// `%laneid`
    LaneId,
    /// `%warpid` (volatile in the ISA: arbitrary)
    WarpId,
    /// `WARP_SZ`
    WarpSize,
    /// `%nwarpid`, `%smid`, `%clock`, `%globaltimer`, `%envregN`, `%lanemask_*`, `%gridid`, `%clusterid`, ...:
    /// the name as written and its width in bits. Arbitrary value at each read.
    Other {
        /// Name with `%`.
        name: &'static str,
        /// Width in bits.
        bits: u32,
    },
}

/// A memory operand `[base + offset]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// What the address starts from.
    pub base: AddressBase,
    /// Byte offset added.
    pub offset: i64,
}

/// The base of a memory operand.
#[derive(Clone, Debug, PartialEq)]
pub enum AddressBase {
    /// A register holding an address.
    Register(RegisterId),
    /// A variable.
    Variable(VariableRef),
    /// None: an absolute address.
    Absolute,
}

/// Scopes of the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `.cta`
    Cta,
    /// `.cluster`
    Cluster,
    /// `.gpu` (and `.gl`)
    Gpu,
    /// `.sys`
    Sys,
}

/// How a memory operation takes part in the memory model (8.4 of the ISA: weak and strong).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// `.weak` or nothing written.
    Weak,
    /// `.volatile`: relaxed at `.sys`.
    Volatile,
    /// `.relaxed` (also `.mmio`)
    Relaxed(Scope),
    /// `.acquire`
    Acquire(Scope),
    /// `.release`
    Release(Scope),
    /// `.acq_rel`
    AcquireRelease(Scope),
}

impl Ordering {
    /// The scope of a strong operation; `None` when weak.
    pub fn strong_scope(self) -> Option<Scope> {
        match self {
            Ordering::Weak => None,
            Ordering::Volatile => Some(Scope::Sys),
            Ordering::Relaxed(s) | Ordering::Acquire(s) | Ordering::Release(s) | Ordering::AcquireRelease(s) => Some(s),
        }
    }
}

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

/// What an instruction does. One variant for each shape of meaning, not for each opcode.
#[derive(Clone, Debug)]
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
        complement: Option<Operand>,
        /// Left operand.
        a: Operand,
        /// Right operand.
        b: Operand,
        /// Combination with a further predicate.
        combine: Option<(BoolOp, Operand)>,
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
        combine: Option<(BoolOp, Operand)>,
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
        /// The space.
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
        dst: Vec<Operand>,
        /// Address.
        address: Address,
        /// Operands.
        sources: Vec<Operand>,
        /// Ordering with scope (relaxed at `.gpu` if nothing is written).
        ordering: Ordering,
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
        /// Targets in order.
        targets: Vec<LabelId>,
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
    /// `membar`, `fence` without proxies.
    Fence {
        /// Full opcode.
        name: Arc<str>,
    },
    /// An instruction that gives arbitrary values and touches no memory: `shfl`, `vote`, `match`, `activemask`,
    /// `redux`, `elect`, carry arithmetic (`add.cc`, `addc`, `madc`), `dp4a`, video instructions, `isspacep`, ...
    Arbitrary {
        /// Full opcode.
        name: Arc<str>,
        /// Registers that get an arbitrary value.
        dst: Vec<Operand>,
        /// What is read, in ISA order; operands that the table does not describe (`mma`, video
        /// instructions) are left out.
        sources: Vec<Operand>,
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

/// Forms of the block barrier.
#[derive(Clone, Debug)]
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
