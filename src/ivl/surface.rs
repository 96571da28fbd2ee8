//! The surface syntax: what the grammar builds before names are resolved.
//!
//! Input: tokens, through the grammar's actions. Output: [`Declaration`]s whose expressions carry
//! placeholder types. Establishes: expressions nest at most [`MAX_DEPTH`] deep; literals are in
//! range. Relies on: nothing. Reference: Boogie 2, statements and expressions.

use super::ast::*;
use super::bv_names::MAX_WIDTH;
use super::token::Token;
use crate::span::Span;
use std::sync::Arc;

/// How deep an expression may nest, operators and parentheses together.
pub const MAX_DEPTH: u32 = 1000;

/// How many map types may follow one another (`[int][int]...`).
const MAX_MAP_DEPTH: usize = 16;

/// An error that an action of the grammar finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionError {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

/// The error type of the generated parser.
pub type ParseError<'input> = lalrpop_util::ParseError<usize, Token<'input>, ActionError>;

/// An error from inside an action.
pub fn action_error<'input, T>(span: Span, message: impl Into<String>) -> Result<T, ParseError<'input>> {
    Err(lalrpop_util::ParseError::User { error: ActionError { span, message: message.into() } })
}

/// An expression under construction.
#[derive(Clone, Debug)]
pub struct Term {
    /// The expression; its type is a placeholder.
    pub expr: ExprRef,
    /// Its depth.
    depth: u32,
    /// True when it stands in parentheses.
    enclosed: bool,
}

impl Term {
    /// A leaf.
    pub fn leaf(kind: ExprKind, ty: Type, span: Span) -> Term {
        Term { expr: Arc::new(Expr { kind, ty, span }), depth: 1, enclosed: false }
    }

    /// A node over `children`, which `kind` already holds.
    pub fn node<'input>(kind: ExprKind, depth: u32, span: Span) -> Result<Term, ParseError<'input>> {
        if depth >= MAX_DEPTH {
            return action_error(span, format!("this expression nests more than {MAX_DEPTH} deep"));
        }
        // The placeholder type; the checker puts the right one.
        Ok(Term { expr: Arc::new(Expr { kind, ty: Type::Bool, span }), depth: depth + 1, enclosed: false })
    }

    /// The same expression in parentheses.
    pub fn enclose(mut self) -> Term {
        self.enclosed = true;
        self
    }

    /// A unary operator; a minus before a bare literal belongs to the literal.
    pub fn unary<'input>(op: UnaryOp, a: Term, span: Span) -> Result<Term, ParseError<'input>> {
        match (op, &a.expr.kind) {
            (UnaryOp::Neg, ExprKind::Int(value)) if *value >= 0 && !a.enclosed => {
                Ok(Term::leaf(ExprKind::Int(-value), Type::Int, span))
            }
            _ => Term::node(ExprKind::Unary(op, a.expr), a.depth, span),
        }
    }

    /// A binary operator.
    pub fn binary<'input>(op: BinaryOp, a: Term, b: Term) -> Result<Term, ParseError<'input>> {
        let (span, depth) = (a.expr.span.to(b.expr.span), a.depth.max(b.depth));
        Term::node(ExprKind::Binary(op, a.expr, b.expr), depth, span)
    }

    /// `a ++ b`
    pub fn concat<'input>(a: Term, b: Term) -> Result<Term, ParseError<'input>> {
        let (span, depth) = (a.expr.span.to(b.expr.span), a.depth.max(b.depth));
        Term::node(ExprKind::Concat(a.expr, b.expr), depth, span)
    }

    /// `if c then a else b`
    pub fn ite<'input>(c: Term, a: Term, b: Term, span: Span) -> Result<Term, ParseError<'input>> {
        let depth = c.depth.max(a.depth).max(b.depth);
        Term::node(ExprKind::Ite(c.expr, a.expr, b.expr), depth, span)
    }

    /// `f(args)`
    pub fn call<'input>(function: Name, args: Vec<Term>, span: Span) -> Result<Term, ParseError<'input>> {
        let depth = deepest(&args);
        Term::node(ExprKind::Call(function, expressions(args)), depth, span)
    }

    /// `m[i, ...]`
    pub fn select<'input>(map: Term, indices: Vec<Term>, span: Span) -> Result<Term, ParseError<'input>> {
        let depth = deepest(&indices).max(map.depth);
        Term::node(ExprKind::Select(map.expr, expressions(indices)), depth, span)
    }

    /// `m[i, ... := v]`
    pub fn store<'input>(map: Term, indices: Vec<Term>, value: Term, span: Span) -> Result<Term, ParseError<'input>> {
        let depth = deepest(&indices).max(map.depth).max(value.depth);
        Term::node(ExprKind::Store(map.expr, expressions(indices), value.expr), depth, span)
    }

    /// `e[high:low]`
    pub fn extract<'input>(value: Term, high: &str, low: &str, span: Span) -> Result<Term, ParseError<'input>> {
        let (Ok(high), Ok(low)) = (high.parse(), low.parse()) else {
            return action_error(span, format!("bit positions go up to {MAX_WIDTH}"));
        };
        Term::node(ExprKind::Extract { value: value.expr, high, low }, value.depth, span)
    }

    /// `old(e)`
    pub fn old<'input>(a: Term, span: Span) -> Result<Term, ParseError<'input>> {
        Term::node(ExprKind::Old(a.expr), a.depth, span)
    }

    /// `(forall x: T :: {t} body)`
    pub fn quantifier<'input>(
        universal: bool,
        variables: Vec<(Name, Type)>,
        triggers: Vec<Vec<Term>>,
        body: Term,
        span: Span,
    ) -> Result<Term, ParseError<'input>> {
        let depth = triggers.iter().map(|t| deepest(t)).max().unwrap_or(0).max(body.depth);
        let triggers = triggers.into_iter().map(expressions).collect();
        Term::node(ExprKind::Quantifier { universal, variables, triggers, body: body.expr }, depth, span)
    }
}

fn deepest(terms: &[Term]) -> u32 {
    terms.iter().map(|t| t.depth).max().unwrap_or(0)
}

/// The expressions of terms.
pub fn expressions(terms: Vec<Term>) -> Vec<ExprRef> {
    terms.into_iter().map(|t| t.expr).collect()
}

/// A non-negative integer literal.
pub fn integer<'input>(text: &str, span: Span) -> Result<Term, ParseError<'input>> {
    match text.parse() {
        Ok(value) => Ok(Term::leaf(ExprKind::Int(value), Type::Int, span)),
        Err(_) => action_error(span, "integer literals go up to 2^127 - 1"),
    }
}

/// `VALUEbvWIDTH`
pub fn bit_vector<'input>(text: &str, span: Span) -> Result<Term, ParseError<'input>> {
    let (value, width) = text.split_once("bv").unwrap_or((text, ""));
    let width = match width.parse() {
        Ok(width) if (1..=MAX_WIDTH).contains(&width) => width,
        _ => return action_error(span, format!("bit-vectors are 1 to {MAX_WIDTH} bits wide")),
    };
    match value.parse::<u128>() {
        Ok(value) if width == 128 || value >> width == 0 => Ok(Term::leaf(ExprKind::Bv(value), Type::Bv(width), span)),
        _ => action_error(span, format!("{value} does not fit in {width} bits")),
    }
}

/// A type that is spelt as an identifier.
pub fn named_type<'input>(text: &str, span: Span) -> Result<Type, ParseError<'input>> {
    let width = text.strip_prefix("bv").filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    match width.map(str::parse) {
        Some(Ok(width)) if (1..=MAX_WIDTH).contains(&width) => Ok(Type::Bv(width)),
        Some(_) => action_error(span, format!("bit-vectors are 1 to {MAX_WIDTH} bits wide")),
        None => action_error(span, format!("no type is called `{text}`; there are bool, int, bvN and maps [T]U")),
    }
}

/// `[d0][d1]...base`
pub fn map_type<'input>(domains: Vec<Vec<Type>>, base: Type, span: Span) -> Result<Type, ParseError<'input>> {
    if domains.len() > MAX_MAP_DEPTH {
        return action_error(span, format!("more than {MAX_MAP_DEPTH} maps in one type"));
    }
    Ok(domains.into_iter().rev().fold(base, |element, index| Type::Map(index, Box::new(element))))
}

/// `space A: [elements]T`, with the size in bytes as an attribute where it is no multiple of T's.
pub fn array<'input>(
    space: ArraySpace,
    attributes: Vec<Attribute>,
    name: Name,
    elements: Option<&str>,
    element: Type,
    span: Span,
) -> Result<Array, ParseError<'input>> {
    let element_bytes = match element {
        Type::Bv(width) if width % 8 == 0 => width / 8,
        _ => return action_error(span, "an array has elements of bv8, bv16, bv32, ... bv128"),
    };
    let mut size = match elements.map(str::parse::<u64>) {
        None => None,
        Some(Ok(count)) if count.checked_mul(element_bytes.into()).is_some() => Some(count * u64::from(element_bytes)),
        Some(_) => return action_error(span, "an array has less than 2^64 bytes"),
    };
    for attribute in &attributes {
        let bytes = match attribute.args.as_slice() {
            [AttributeArg::Expr(e)] => match e.kind {
                ExprKind::Int(bytes) => u64::try_from(bytes).ok(),
                _ => None,
            },
            _ => None,
        };
        match bytes {
            Some(bytes) if attribute.name.as_str() == "bytes" && size.is_none() => size = Some(bytes),
            _ => {
                return action_error(
                    span,
                    "the only attribute of an array is {:bytes N}, its size where `[]` tells none",
                );
            }
        }
    }
    Ok(Array { name, space, element_bytes, size, span })
}

/// The text that a string literal stands for.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other @ ('"' | '\\')) => out.push(other),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            (c, false) => out.push(c),
        }
    }
    out
}

/// A declaration.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// `const x, y: T;`
    Constants(Vec<Constant>),
    /// `function f(..) returns (T);`
    Function(Function),
    /// `axiom e;`
    Axiom(Condition),
    /// `var x, y: T;`
    Globals(Vec<Variable>),
    /// `shared A: [n]T;`, `global A: []T;`
    Array(Array),
    /// A procedure; the body is separate because it is still structured.
    Procedure(Procedure, Option<Body>),
}

/// A clause of a procedure.
#[derive(Clone, Debug)]
pub enum Clause {
    /// `modifies x, y;`
    Modifies(Vec<Name>),
    /// `requires e;`
    Requires(Condition),
    /// `ensures e;`
    Ensures(Condition),
}

/// A procedure body as written.
#[derive(Clone, Debug)]
pub struct Body {
    /// Local variables.
    pub locals: Vec<Variable>,
    /// Statements and labels.
    pub stmts: Vec<Statement>,
    /// The closing brace.
    pub end: Span,
}

/// A statement as written.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Attributes.
    pub attributes: Vec<Attribute>,
    /// Where it stands.
    pub span: Span,
}

/// A name with its place.
#[derive(Clone, Debug)]
pub struct Identifier {
    /// The name.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// A place that takes a value: `x`, `m[i]`, `m[i][j]`.
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable or array.
    pub variable: Identifier,
    /// Indices, outermost first.
    pub indices: Vec<Vec<ExprRef>>,
}

/// The condition of `if` and `while`; `None` is `*`.
pub type Guard = Option<ExprRef>;

/// Statement forms as written.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StatementKind {
    Label(Name),
    Assign { targets: Vec<Target>, values: Vec<ExprRef> },
    Havoc(Vec<Name>),
    Assume(ExprRef),
    Assert(ExprRef),
    Call { procedure: Name, args: Vec<ExprRef>, results: Vec<Name> },
    Atomic { dst: Option<Name>, target: Target },
    Barrier { result: Option<Target> },
    Fence(String),
    Goto(Vec<Identifier>),
    Return,
    Break,
    If { branches: Vec<(Guard, Vec<Statement>)>, otherwise: Vec<Statement> },
    While { guard: Guard, invariants: Vec<Condition>, body: Vec<Statement> },
}

/// The variables of `x, y: T`.
pub fn variables((ids, ty): (Vec<Identifier>, Type), attributes: Vec<Attribute>, span: Span) -> Vec<Variable> {
    let whole = ids.len() == 1;
    ids.into_iter()
        .map(|id| Variable {
            name: id.name,
            ty: ty.clone(),
            where_clause: None,
            attributes: attributes.clone(),
            span: if whole { span } else { id.span },
        })
        .collect()
}

/// The variables a quantifier binds.
pub fn bound_variables(groups: Vec<(Vec<Identifier>, Type)>) -> Vec<(Name, Type)> {
    groups.into_iter().flat_map(|(ids, ty)| ids.into_iter().map(move |id| (id.name, ty.clone()))).collect()
}

/// A statement at bytes `start..end`.
pub fn statement(kind: StatementKind, attributes: Vec<Attribute>, start: usize, end: usize) -> Statement {
    Statement { kind, attributes, span: Span::new(start, end) }
}

/// A procedure without its body.
pub fn procedure(
    (attributes, name, params, results): (Vec<Attribute>, Name, Vec<Variable>, Vec<Variable>),
    clauses: Vec<Clause>,
    span: Span,
) -> Procedure {
    let (mut modifies, mut requires, mut ensures) = (Vec::new(), Vec::new(), Vec::new());
    for clause in clauses {
        match clause {
            Clause::Modifies(names) => modifies.extend(names),
            Clause::Requires(condition) => requires.push(condition),
            Clause::Ensures(condition) => ensures.push(condition),
        }
    }
    Procedure { name, params, results, modifies, requires, ensures, body: None, attributes, span }
}
