//! The typed PTX module: what the `ptx` stage hands to `cfg`.
//!
//! Every name is resolved to an index, every instruction is typed, every node has a byte span.
//! Terms are those of the PTX ISA manual; instructions are cited by name.

use crate::geometry::Axis;
use crate::span::{Origin, Span};
use std::sync::Arc;

pub(crate) use super::annotation::{Annotation, AnnotationKind};
pub use super::asynchronous::{
    AsyncCopy, AsyncOp, BulkCopy, MapField, MapUse, MatrixProduct, MemoryOperand, ObjectAction, ObjectUse, RemoteStore,
    TensorCopy,
};
pub use super::operation::{BarrierKind, BoolOp, Comparison, IntOp, MatrixRows, Op};
pub use super::tensor_memory::{TensorMatrix, TensorMemoryOp, TensorMemoryUse, TensorMove, TensorProduct};
pub(crate) use super::words::PackedFormat;

/// A whole PTX file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version` major and minor.
    pub(crate) version: (u32, u32),
    /// `.target`, e.g. `sm_90a`.
    pub(crate) target: String,
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
    Packed(PackedFormat),
}

impl ScalarType {
    /// Width in bits; 1 for a predicate.
    pub fn bits(self) -> u32 {
        match self {
            ScalarType::Pred => 1,
            ScalarType::B(n) | ScalarType::U(n) | ScalarType::S(n) | ScalarType::F(n) => n,
            ScalarType::Packed(format) => format.bits(),
        }
    }

    /// The name of a packed or alternate format, without the dot.
    pub fn packed(self) -> Option<&'static str> {
        match self {
            ScalarType::Packed(format) => Some(format.name()),
            _ => None,
        }
    }

    /// Width in bytes of a value in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// True for `.sN`.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, ScalarType::S(_))
    }

    /// Scalar accesses that an atomic on this type is made of (memory consistency model, "packed data types"):
    /// each element of a pair is one.
    pub(crate) fn atomic_parts(self) -> u32 {
        if self.packed().is_some_and(|name| name.ends_with("x2")) { 2 } else { 1 }
    }

    /// True for floats and packed formats.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F(_) | ScalarType::Packed(_))
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
pub(crate) enum Linkage {
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
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name as written; a name declared in a nested scope is made unique with a suffix `$N`.
    pub name: Arc<str>,
    /// The name as written, where `name` is that of the source.
    pub(crate) spelling: Option<Arc<str>>,
    pub space: StateSpace,
    /// Element type.
    pub ty: ScalarType,
    /// Size of the whole variable in bytes; `None` for an unsized array (`.extern .shared x[]`).
    pub size: Option<u64>,
    /// Alignment in bytes (the `.align` or the natural one).
    pub align: u32,
    /// Linkage.
    pub(crate) linkage: Linkage,
    /// For parameters with a `.ptr` attribute: the space it points to (`Generic` if not said).
    pub(crate) pointer: Option<StateSpace>,
    /// Whether the declaration has an initialiser.
    pub(crate) initialised: bool,
    /// What the initialiser puts where; bytes that it leaves out are zero.
    pub(crate) initial_values: Vec<InitialValue>,
    /// Functions and variables whose addresses the initialiser holds (they escape).
    pub(crate) initialiser_symbols: Vec<Arc<str>>,
    /// The declaration.
    pub span: Span,
}

/// One scalar of an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InitialValue {
    /// Byte offset in the variable.
    pub(crate) offset: u64,
    /// Width in bytes.
    pub(crate) bytes: u32,
    pub(crate) value: InitialConstant,
}

/// The value of a scalar of an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InitialConstant {
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
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name as written.
    pub name: Arc<str>,
    /// True for `.entry`.
    pub is_entry: bool,
    /// Linkage.
    pub(crate) linkage: Linkage,
    /// Return parameters of a `.func`.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.reqntid`
    pub(crate) required_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub(crate) required_cluster: Option<[u32; 3]>,
    /// `.maxntid` (its product bounds the block size)
    pub(crate) maximum_block: Option<[u32; 3]>,
    /// The body; `None` for a declaration.
    pub body: Option<Body>,
    /// The header.
    pub span: Span,
}

impl Function {
    /// The parameter of that name, in the source or in the PTX.
    pub(crate) fn parameter(&self, name: &str) -> Option<usize> {
        let named = self.params.iter().position(|parameter| *parameter.name == *name);
        named.or_else(|| self.params.iter().position(|parameter| parameter.spelling.as_deref() == Some(name)))
    }

    /// The parameter of that name, or at that position from 0.
    pub(crate) fn parameter_or_position(&self, key: &str) -> Option<usize> {
        self.parameter(key).or_else(|| key.parse().ok().filter(|position| *position < self.params.len()))
    }
}

/// A function body.
#[derive(Clone, Debug, Default, PartialEq)]
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

#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Name as written (`%r7`); made unique with a suffix `$N` when a nested scope redeclares it.
    pub name: Arc<str>,
    /// Its type.
    pub ty: ScalarType,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Name as written, made unique like registers.
    pub(crate) name: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// Index into [`Body::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterId(pub(crate) u32);

/// Index into [`Body::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelId(pub(crate) u32);

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
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A label stands here.
    Label(LabelId),
    Instruction(Instruction),
    /// An annotation comment `//@ kind expression;`.
    Annotation(Annotation),
}

/// An instruction with its guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@%p` or `@!%p`.
    pub(crate) guard: Option<Guard>,
    /// What it does.
    pub op: Op,
    /// Where it stands.
    pub origin: Arc<Origin>,
}

/// A guard predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    /// The predicate register.
    pub(crate) register: RegisterId,
    /// True for `@!p`.
    pub(crate) negated: bool,
}

/// A value operand. There are millions of these: 16 bytes each.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Register(RegisterId),
    /// A negated predicate register (`!%p`), where the ISA allows one.
    NotPredicate(RegisterId),
    /// An integer constant, as the 64 bits of its two's complement.
    Integer(u64),
    /// A float constant of 32 bits, as these: `0fXXXXXXXX`.
    Single(u32),
    /// A float constant of 64 bits, as these: `0dXXXXXXXXXXXXXXXX` or decimal.
    Double(u64),
    /// The address of a variable plus a byte offset.
    Variable(VariableRef, i64),
    /// The address of a function (index into [`Module::functions`]).
    Function(u32),
    /// A special register such as `%tid.x`.
    Special(SpecialRegister),
    /// `{a, b, ...}`
    Vector(Box<Vec<Operand>>),
    /// `_`
    Sink,
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpecialRegister {
    /// `%tid`
    Tid(Axis),
    /// `%ntid`
    Ntid(Axis),
    /// `%ctaid`
    Ctaid(Axis),
    /// `%nctaid`
    Nctaid(Axis),
    /// `%laneid`
    LaneId,
    /// `%warpid` (volatile in the ISA: arbitrary)
    WarpId,
    /// `WARP_SZ`
    WarpSize,
    /// `%nwarpid`, `%smid`, `%clock`, `%globaltimer`, `%envregN`, `%lanemask_*`, `%gridid`, `%clusterid`, ...:
    /// arbitrary value at each read.
    Other(OtherRegister),
}

/// A special register that has no variant of its own: its place in the table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherRegister(pub(super) u16);

/// What a large module takes is the number of its instructions times this.
const _: () = assert!(size_of::<Operand>() == 16 && size_of::<Op>() <= 96 && size_of::<Item>() <= 112);

impl Operand {
    /// A float constant of 32 or 64 bits.
    pub(crate) fn float(bits: u64, width: u32) -> Operand {
        if width == 32 { Operand::Single(bits as u32) } else { Operand::Double(bits) }
    }

    /// The bits of a float constant, and how many there are.
    pub(crate) fn as_float(&self) -> Option<(u64, u32)> {
        match self {
            Operand::Single(bits) => Some((u64::from(*bits), 32)),
            Operand::Double(bits) => Some((*bits, 64)),
            _ => None,
        }
    }

    /// `{a, b, ...}`
    pub(crate) fn vector(elements: Vec<Operand>) -> Operand {
        Operand::Vector(Box::new(elements))
    }
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
    Variable(VariableRef),
    /// None: an absolute address.
    Absolute,
}
