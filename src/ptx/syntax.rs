//! The untyped syntax tree: what `grammar/ptx.lalrpop` gives and name resolution takes.
//!
//! Text is borrowed from the input. Nothing is resolved and nothing typed; an opcode is still one
//! piece of text with its modifiers.

use crate::span::Span;

/// A piece of the input with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// As written.
    pub(crate) text: &'a str,
    /// Where.
    pub(crate) span: Span,
}

/// One top-level construct.
#[derive(Clone, Debug)]
pub enum TopLevel<'a> {
    /// `.version 9.0`
    Version(Name<'a>),
    /// `.target sm_90, debug`
    Target(Vec<Name<'a>>),
    /// `.address_size 64`
    AddressSize(Name<'a>),
    /// `.file index "path"`
    File {
        /// Index that `.loc` uses.
        index: Name<'a>,
        /// Path as written.
        path: &'a str,
    },
    /// `.alias name, target;`
    Alias(Name<'a>, Name<'a>),
    /// Variables.
    Variables(Box<VariableDeclaration<'a>>),
    /// An entry or function.
    Function(Box<Function<'a>>),
    /// An annotation outside any body: an error later.
    Annotation(Name<'a>),
    /// A body whose header has a syntax error.
    SkippedBody(BodyText<'a>),
    /// Sections, pragmas and what was skipped after a syntax error.
    Skipped,
}

/// A function body that is not parsed yet.
#[derive(Clone, Copy, Debug)]
pub struct BodyText<'a> {
    /// The text of the file.
    pub(crate) file: &'a str,
    /// The body with its braces.
    pub(crate) span: Span,
}

/// A part of a declaration between the state space and the name.
#[derive(Clone, Debug)]
pub(crate) enum Attribute<'a> {
    /// A type, `.v4`, `.ptr`, or a space after `.ptr`.
    Word(Name<'a>),
    /// `.align n`
    Align(Name<'a>),
    /// `.attribute(...)`: memory management hints without meaning here.
    Hint,
}

/// `.space attributes name[size] = initialiser, ...;`
#[derive(Clone, Debug)]
pub struct VariableDeclaration<'a> {
    /// `.visible` and the like, in front.
    pub(crate) linkage: Vec<Name<'a>>,
    /// `.global`, `.shared`, `.local`, `.param`, `.const` or `.reg`.
    pub(crate) space: Name<'a>,
    /// Alignment, type, vector width, pointer attributes.
    pub(crate) attributes: Vec<Attribute<'a>>,
    /// The names.
    pub(crate) declarators: Vec<Declarator<'a>>,
    /// Everything up to the `;`.
    pub(crate) span: Span,
}

/// One declared name.
#[derive(Clone, Debug)]
pub(crate) struct Declarator<'a> {
    /// The name; `_` in prototypes.
    pub(crate) name: Name<'a>,
    /// `<n>` of a register family.
    pub(crate) count: Option<Name<'a>>,
    /// Array dimensions; `None` for `[]`.
    pub(crate) dimensions: Vec<Option<Name<'a>>>,
    pub(crate) initialiser: Option<Initialiser<'a>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Initialiser<'a> {
    /// One value.
    Value(InitialTerm<'a>),
    /// `{...}`
    List(Vec<Initialiser<'a>>),
}

/// A constant expression of an initialiser.
#[derive(Clone, Debug)]
pub(crate) enum InitialTerm<'a> {
    /// An integer literal.
    Integer(&'a str),
    /// A float literal.
    Float(&'a str),
    /// A string, without its quotes.
    Text(&'a str),
    /// `-a`
    Negative(Box<InitialTerm<'a>>),
    /// `~a`
    Complement(Box<InitialTerm<'a>>),
    /// `a + b - c`: the first term, and the others with their signs. A list, because trees of long sums are deep.
    Sum(Box<InitialTerm<'a>>, Vec<(Sign, InitialTerm<'a>)>),
    /// The address of a symbol.
    Symbol(Name<'a>),
    /// `generic(a)`; the word in front is not checked yet.
    Generic(Name<'a>, Box<InitialTerm<'a>>),
    /// `0xFF00(a)`: some of the bytes of an address.
    Masked(&'a str, Box<InitialTerm<'a>>),
}

/// In front of a term of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `+`
    Plus,
    /// `-`
    Minus,
}

impl Sign {
    /// As written.
    pub(crate) fn character(self) -> char {
        match self {
            Sign::Plus => '+',
            Sign::Minus => '-',
        }
    }
}

impl<'a> Initialiser<'a> {
    /// Elements of the outermost list, or bytes of a string.
    pub(crate) fn elements(&self) -> u64 {
        match self {
            Initialiser::Value(InitialTerm::Text(text)) => text.len() as u64,
            Initialiser::Value(_) => 1,
            Initialiser::List(list) => list.len() as u64,
        }
    }

    /// Symbols whose address (or part of it) is stored.
    pub(crate) fn symbols(&self) -> Vec<Name<'a>> {
        match self {
            Initialiser::Value(term) => term.symbols(),
            Initialiser::List(list) => list.iter().flat_map(Initialiser::symbols).collect(),
        }
    }
}

impl<'a> InitialTerm<'a> {
    fn symbols(&self) -> Vec<Name<'a>> {
        match self {
            InitialTerm::Integer(_) | InitialTerm::Float(_) | InitialTerm::Text(_) => Vec::new(),
            InitialTerm::Symbol(name) => vec![*name],
            InitialTerm::Negative(inner)
            | InitialTerm::Complement(inner)
            | InitialTerm::Generic(_, inner)
            | InitialTerm::Masked(_, inner) => inner.symbols(),
            InitialTerm::Sum(first, rest) => {
                let rest = rest.iter().flat_map(|(_, term)| term.symbols());
                first.symbols().into_iter().chain(rest).collect()
            }
        }
    }
}

/// An `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// `.visible` and the like.
    pub(crate) linkage: Vec<Name<'a>>,
    /// True for `.entry`.
    pub(crate) is_entry: bool,
    /// Name.
    pub name: Name<'a>,
    /// Return parameters.
    pub(crate) returns: Vec<VariableDeclaration<'a>>,
    /// Parameters.
    pub params: Vec<VariableDeclaration<'a>>,
    /// `.reqntid` and the like with their numbers.
    pub(crate) directives: Vec<(Name<'a>, Vec<Name<'a>>)>,
    /// The statements, if defined here.
    pub body: Option<BodyText<'a>>,
    /// The header.
    pub span: Span,
}

/// One statement of a body.
#[derive(Clone, Debug)]
pub enum Statement<'a> {
    /// `name:`
    Label(Name<'a>),
    /// A register or variable declaration.
    Variables(Box<VariableDeclaration<'a>>),
    /// `label: .branchtargets a, b;`
    BranchTargets(Name<'a>, Vec<Name<'a>>),
    /// `label: .calltargets f, g;`
    CallTargets(Name<'a>, Vec<Name<'a>>),
    /// `label: .callprototype ...;`: of functions whose addresses the module takes.
    CallPrototype(Name<'a>),
    /// `.loc`
    Location(Box<Location<'a>>),
    /// `//@ ...`
    Annotation(Name<'a>),
    Instruction(Instruction<'a>),
    /// `{ ... }`
    Scope(Vec<Statement<'a>>),
    /// Pragmas and what was skipped after a syntax error.
    Skipped,
}

/// File index, line and column of a `.loc`.
pub(crate) type Place<'a> = [Name<'a>; 3];

/// `.loc file line column [, function_name label, inlined_at file line column]`
#[derive(Clone, Debug)]
pub struct Location<'a> {
    /// File, line, column.
    pub(crate) place: Place<'a>,
    /// Where the code was inlined.
    pub(crate) inlined_at: Option<Place<'a>>,
}

/// `@guard opcode.modifiers operands;`
#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// Negated?, predicate name.
    pub(crate) guard: Option<(bool, Name<'a>)>,
    /// Opcode with its modifiers, as written.
    pub(crate) opcode: Name<'a>,
    /// Operands.
    pub(crate) operands: Vec<Expression<'a>>,
    /// From the opcode to the last operand.
    pub(crate) span: Span,
}

/// An operand or constant expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression<'a> {
    /// What it is.
    pub(crate) kind: ExpressionKind<'a>,
    /// Where.
    pub(crate) span: Span,
}

/// The forms of operands.
#[derive(Clone, Debug)]
pub(crate) enum ExpressionKind<'a> {
    Name(&'a str),
    /// `name.x`: a special register, an element of a vector register, or a byte selector.
    Selected(Box<(&'a str, &'a str)>),
    /// An integer constant as written.
    Integer(&'a str),
    /// A float constant as written.
    Float(&'a str),
    /// `_`
    Sink,
    /// `-a`
    Negative(Box<Expression<'a>>),
    /// `!a`
    Not(Box<Expression<'a>>),
    /// `~a`
    Complement(Box<Expression<'a>>),
    /// `a + b * c`, also `p|q`: the first operand, and operators with theirs, without precedence.
    Chain(Box<Chain<'a>>),
    /// `{a, b}`
    Vector(Vec<Expression<'a>>),
    /// `[a, b]`, with a `.unified` behind it or not.
    Address(Vec<Expression<'a>>, Option<Box<Name<'a>>>),
    /// `(a, b)`
    Parenthesised(Vec<Expression<'a>>),
}

/// The first operand, and operators with theirs.
pub(crate) type Chain<'a> = (Expression<'a>, Vec<(BinaryOperator, Expression<'a>)>);

/// Operators of constant expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum BinaryOperator {
    Multiply,
    Divide,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    And,
    Xor,
    Or,
}

impl BinaryOperator {
    /// As written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::And => "&",
            BinaryOperator::Xor => "^",
            BinaryOperator::Or => "|",
        }
    }

    /// As in C: the larger binds tighter.
    pub(crate) fn precedence(self) -> u8 {
        use BinaryOperator::{Add, And, Divide, Multiply, Or, ShiftLeft, ShiftRight, Subtract, Xor};
        match self {
            Multiply | Divide => 6,
            Add | Subtract => 5,
            ShiftLeft | ShiftRight => 4,
            And => 3,
            Xor => 2,
            Or => 1,
        }
    }
}

impl<'a> Expression<'a> {
    /// `p|q` as two operands.
    pub(crate) fn pair(&self) -> Option<(&Expression<'a>, &Expression<'a>)> {
        match &self.kind {
            ExpressionKind::Chain(chain) => match (&chain.0, chain.1.as_slice()) {
                (first, [(BinaryOperator::Or, second)]) => Some((first, second)),
                _ => None,
            },
            _ => None,
        }
    }
}
