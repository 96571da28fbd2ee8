//! The abstract syntax of the intermediate verification language (IVL).
//!
//! Boogie 2's core plus what the lock-step paper adds for kernels: shared arrays with loads, stores
//! and atomics, `barrier`, `fence`. One language serves stages 3 to 7; the kernel-only statements
//! are gone after `twothread`. Few node kinds; every node has a span; types are explicit.

use super::claim::{Claim, Premise};
use super::event::Event;
use crate::order::{Fence, Order, Scope};
use crate::span::{Origin, Span};
use std::fmt;
use std::sync::Arc;

/// One of the two threads of a two-thread program. Accesses of thread 1 are logged, those of thread 2 checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thread {
    /// Thread 1.
    First,
    /// Thread 2.
    Second,
}

impl Thread {
    /// Both, in order.
    pub const BOTH: [Thread; 2] = [Thread::First, Thread::Second];

    /// 1 or 2.
    pub(crate) fn number(self) -> u32 {
        self.index() as u32 + 1
    }

    /// Its place in [`Thread::BOTH`].
    pub fn index(self) -> usize {
        match self {
            Thread::First => 0,
            Thread::Second => 1,
        }
    }

    /// The other one.
    pub(crate) fn other(self) -> Thread {
        match self {
            Thread::First => Thread::Second,
            Thread::Second => Thread::First,
        }
    }
}

/// An identifier, and the thread whose copy it names, if one. Cheap to clone, ordered by its text and thread so that
/// output order is stable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    text: Arc<str>,
    thread: Option<Thread>,
}

impl Name {
    /// A name from text, which is no thread's copy.
    pub fn new(text: impl AsRef<str>) -> Name {
        Name { text: Arc::from(text.as_ref()), thread: None }
    }

    /// Its text, without the thread.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The thread whose copy it is.
    pub fn thread(&self) -> Option<Thread> {
        self.thread
    }

    /// A thread's copy of it, printed `x$1` or `x$2`.
    pub fn of(&self, thread: Thread) -> Name {
        Name { text: self.text.clone(), thread: Some(thread) }
    }

    /// The name of which it is a copy, or itself.
    pub fn shared(&self) -> Name {
        Name { text: self.text.clone(), thread: None }
    }

    /// Another name of the same thread: `text` behind its own.
    pub(crate) fn with(&self, text: impl fmt::Display) -> Name {
        Name { text: format!("{}{text}", self.text).into(), thread: self.thread }
    }

    /// The name of the same thread from which [`Name::with`] makes this one, if any.
    pub(crate) fn without(&self, text: &str) -> Option<Name> {
        Some(Name { text: self.text.strip_suffix(text)?.into(), thread: self.thread })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.thread {
            Some(thread) => write!(f, "${}", thread.number()),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name::new(text)
    }
}

/// Types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `bool`
    Bool,
    /// `int`: mathematical integers (ghost counters).
    Int,
    /// `bvN`, width in bits.
    Bv(u32),
    /// `[index, ...]element`
    Map(Vec<Type>, Box<Type>),
    /// A declared type with its arguments: `T`, `Field int`. Nothing is known of its values but which are equal.
    Named(Name, Vec<Type>),
}

/// A typed expression, shared and immutable.
pub type ExprRef = Arc<Expr>;

/// An expression node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The operator and operands.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// Expression forms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// An integer literal.
    Int(i128),
    /// `VALUEbvWIDTH`; the value is below 2^width, width at most 128.
    Bv(u128),
    /// A variable or constant.
    Var(Name),
    /// `!e`, `-e` (int)
    Unary(UnaryOp, ExprRef),
    /// `a op b`
    Binary(BinaryOp, ExprRef, ExprRef),
    /// `if c then a else b`
    Ite(ExprRef, ExprRef, ExprRef),
    /// `f(args)`; bit-vector operators are functions with a `:bvbuiltin` attribute, named as in
    /// [`super::bv`].
    Call(Name, Vec<ExprRef>),
    /// `e[high:low]` in Boogie's convention: bits low to high-1.
    Extract {
        /// The bit-vector.
        value: ExprRef,
        /// One past the highest bit.
        high: u32,
        /// The lowest bit.
        low: u32,
    },
    /// `a ++ b`, a in the high bits.
    Concat(ExprRef, ExprRef),
    /// `m[i, ...]`
    Select(ExprRef, Vec<ExprRef>),
    /// `m[i, ... := v]`
    Store(ExprRef, Vec<ExprRef>, ExprRef),
    /// `old(e)`
    Old(ExprRef),
    /// `(forall x: T :: {triggers} body)` or `exists`.
    Quantifier {
        /// True for `forall`.
        universal: bool,
        /// Bound variables.
        variables: Vec<(Name, Type)>,
        /// Triggers, each a list of terms.
        triggers: Vec<Vec<ExprRef>>,
        /// Attributes, such as `{:nopats e}`, whose terms see the variables.
        attributes: Vec<Attribute>,
        body: ExprRef,
    },
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-` on integers
    Neg,
}

/// Binary operators of the core language (bit-vector operators are functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    And,
    Or,
    Implies,
    Iff,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    /// `div` (Euclidean, as in Boogie and SMT-LIB)
    Div,
    /// `mod`
    Mod,
}

/// `{:name arg, ...}`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attribute {
    /// Name without the colon.
    pub name: Name,
    /// Arguments.
    pub args: Vec<AttributeArg>,
}

/// An attribute argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttributeArg {
    /// A string literal.
    Text(String),
    /// An expression.
    Expr(ExprRef),
}

/// The attribute of a call that does not check preconditions (`free call`).
pub(crate) const FREE_CALL: &str = "free";

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Attributes, but for those that a [`Claim`] or [`Premise`] stands for.
    pub attributes: Vec<Attribute>,
    /// Where it stands in an IVL input; `NONE` in generated code.
    pub span: Span,
    /// The PTX instruction it stands for; travels to the findings, printed as a comment.
    pub origin: Option<Arc<Origin>>,
}

/// Statement forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// `x, y := e, f;` simultaneous.
    Assign(Vec<(Name, ExprRef)>),
    /// `havoc x, y;`
    Havoc(Vec<Name>),
    /// `assume e;`
    Assume(Premise, ExprRef),
    /// `assert e;`
    Assert(Claim, ExprRef),
    /// `call r, s := p(args);`
    Call {
        procedure: Name,
        /// Arguments.
        args: Vec<ExprRef>,
        /// Variables that take the results.
        results: Vec<Name>,
    },
    /// Kernel language: `x := A[offset];` a load of `access.bytes` bytes.
    Load {
        /// Variable that takes the value (little endian); its type has 8*bytes bits.
        dst: Name,
        access: Access,
    },
    /// Kernel language: `A[offset] := value;`
    Store {
        /// Value stored.
        value: ExprRef,
        access: Access,
    },
    /// Kernel language: `atomic x := A[offset];` an atomic read-modify-write; the new value is arbitrary.
    Atomic {
        /// Takes the old value (arbitrary).
        dst: Option<Name>,
        access: Access,
    },
    /// Kernel language: `barrier;` the block barrier, id and count as attributes of the language.
    Barrier(Barrier),
    /// Kernel language: `fence "name";` no effect on values.
    Fence(Fence),
    /// Kernel language: `fence "bar.warp.sync";` with who waits for whom, as attributes of the language.
    WarpBarrier(WarpBarrier),
    /// Kernel language: the thread ends the launch; printed `fence "trap";`.
    Trap,
    /// Two-thread language: an access of thread 1 may be remembered, and whether it is.
    Log {
        /// The access.
        event: Box<Event>,
        /// Takes whether it is remembered.
        logged: Name,
    },
    /// Two-thread language: an access of thread 2 does not race with what is remembered.
    Check(Box<Event>),
    /// Two-thread language: what was logged of an array comes before all that follows.
    Order {
        array: Name,
        /// Where this holds, both threads take part.
        both: ExprRef,
        /// What orders.
        by: Order,
    },
}

impl StmtKind {
    /// `assume e;`, which the program says.
    pub fn assume(e: ExprRef) -> StmtKind {
        StmtKind::Assume(Premise::Program, e)
    }

    /// `assert e;`, of which no more is said.
    pub fn assert(e: ExprRef) -> StmtKind {
        StmtKind::Assert(Claim::Formula, e)
    }
}

/// A shared-array access of the kernel language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub array: Name,
    /// Guard of the access beside control flow (region tag tests); `None` is true.
    pub guard: Option<ExprRef>,
    /// Byte offset from the start of the array, 64 bits; for arrays of elements (paper notation) the
    /// element index, scaled by `scale`.
    pub offset: ExprRef,
    /// Bytes an index unit stands for: 1 for PTX arrays.
    pub scale: u32,
    /// Width of the access in bytes.
    pub bytes: u32,
    /// `None` weak; otherwise the scope of the strong access.
    pub strong: Option<Scope>,
    /// The threads of a warp perform it together, at the places that those threads give for which this holds: any
    /// thread of the warp may be the one that accesses, and the value is not modelled.
    pub collective: Option<ExprRef>,
}

impl Access {
    /// When the thread accesses a place that it gives itself; `None` is always.
    pub(crate) fn own_guard(&self) -> Option<ExprRef> {
        self.guard.iter().chain(&self.collective).cloned().reduce(super::bv::and)
    }
}

/// A block barrier of the kernel language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Whether the thread takes part, printed `{:guard e}`; `None` is true. Only predication sets it.
    pub guard: Option<ExprRef>,
    /// Barrier number; `None` is barrier 0 of the whole block.
    pub id: Option<ExprRef>,
    /// Thread count, 32 bits; `None` is the whole block.
    pub count: Option<ExprRef>,
    /// True for `bar.*` / `.aligned` (divergence is an error, not only possible).
    pub aligned: bool,
    /// Takes a value that is arbitrary but equal for all threads of the block (`bar.red`).
    pub result: Option<Name>,
}

/// A barrier of a warp of the kernel language: the thread waits for those lanes of its warp that the mask names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpBarrier {
    /// Whether the thread executes it, printed `{:guard e}`; `None` is true.
    pub guard: Option<ExprRef>,
    /// A bit for each lane, printed `{:mask e}`.
    pub mask: ExprRef,
    /// The number of the thread in its block, over constants, printed `{:number e}`: 32 in a row are a warp.
    pub thread: ExprRef,
}

impl Barrier {
    /// What it orders.
    pub(crate) fn order(&self) -> Order {
        if self.count.is_some() { Order::Counted } else { Order::Block }
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub label: Name,
    /// Statements.
    pub stmts: Vec<Stmt>,
    /// How control leaves.
    pub transfer: Transfer,
    /// Where it stands.
    pub span: Span,
    /// Where its transfer stands; `NONE` in generated code.
    pub end: Span,
}

/// Control transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// `goto L1, L2;` non-deterministic.
    Goto(Vec<Name>),
    /// `return;`
    Return,
}

/// A typed variable, parameter or constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: Type,
    /// `where e`: holds of every arbitrary value that the variable takes (at the start, at `havoc`, from a call).
    pub where_clause: Option<ExprRef>,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Declaration.
    pub span: Span,
}

impl Variable {
    /// A variable of generated code.
    pub fn new(name: Name, ty: Type) -> Variable {
        Variable { name, ty, where_clause: None, attributes: Vec::new(), span: Span::NONE }
    }
}

/// A shared array of the kernel language: `shared A: [bv64]bv8;` or `global A: ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Name.
    pub name: Name,
    /// Whether it exists once a block (`.shared`) or once a launch (`.global`).
    pub space: ArraySpace,
    /// Bytes an element has (1 for PTX arrays, more in paper notation).
    pub element_bytes: u32,
    /// Size in bytes where known.
    pub size: Option<u64>,
    /// Declaration.
    pub span: Span,
}

/// Where a shared array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArraySpace {
    /// One instance a block.
    Shared,
    /// One instance a launch.
    Global,
}

/// A function declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name.
    pub name: Name,
    /// Parameters.
    pub params: Vec<(Name, Type)>,
    /// Result type.
    pub result: Type,
    /// Body of a defined function.
    pub body: Option<ExprRef>,
    /// `{:bvbuiltin "bvadd"}`, `{:inline}`
    pub attributes: Vec<Attribute>,
    /// Declaration.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Name, type, attributes.
    pub variable: Variable,
    /// `unique`
    pub unique: bool,
}

/// A precondition, postcondition or axiom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// `free`: assumed, never checked.
    pub free: bool,
    /// The formula.
    pub expr: ExprRef,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Where it stands.
    pub span: Span,
}

/// A type that the program declares; synonyms are gone once a program is parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDeclaration {
    /// Name.
    pub name: Name,
    /// How many types it takes as arguments.
    pub arity: usize,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Declaration.
    pub span: Span,
}

/// A procedure, with the body that is written in place if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// Name.
    pub name: Name,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Results.
    pub results: Vec<Variable>,
    /// `modifies`
    pub modifies: Vec<Name>,
    /// `requires`
    pub requires: Vec<Condition>,
    /// `ensures`
    pub ensures: Vec<Condition>,
    /// Body.
    pub body: Option<Implementation>,
    /// `{:inline 1}`, `{:kernel}`
    pub attributes: Vec<Attribute>,
    /// Declaration.
    pub span: Span,
}

/// A procedure body: locals and labelled blocks, the first is the start.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Implementation {
    /// Local variables.
    pub locals: Vec<Variable>,
    /// Blocks in order.
    pub blocks: Vec<Block>,
}

/// `implementation p(x: T) returns (y: U) { ... }`: a body that stands apart from its procedure, with names of
/// its own for parameters and results. A procedure may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeparateImplementation {
    pub procedure: Name,
    /// Parameters, as many and of the types as those of the procedure.
    pub params: Vec<Variable>,
    /// Results, likewise.
    pub results: Vec<Variable>,
    /// Locals and blocks.
    pub body: Implementation,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Declaration.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// Types without a definition.
    pub types: Vec<TypeDeclaration>,
    /// Constants.
    pub constants: Vec<Constant>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Axioms.
    pub axioms: Vec<Condition>,
    /// Global variables.
    pub globals: Vec<Variable>,
    /// Shared arrays (kernel language).
    pub arrays: Vec<Array>,
    /// Procedures.
    pub procedures: Vec<Procedure>,
    /// Bodies that stand apart.
    pub implementations: Vec<SeparateImplementation>,
}
