//! A memory model as it is written.

use crate::span::Span;

pub(crate) use crate::litmus::ast::joined;

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A file of axioms.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) statements: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// `let a = e`, `let rec a = e and b = e`
    Let { recursive: bool, definitions: Vec<Definition> },
    /// `with a from subsets(e)`: any subset of e.
    With { name: Name, from: Expr },
    /// An axiom, or a flag.
    Check { is_flag: bool, test: Test, expr: Expr, name: Option<Name>, span: Span },
    /// Relations that are drawn.
    Show(Vec<Name>),
}

/// `a = e` or `f(a, b) = e`
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: Name,
    pub(crate) parameters: Option<Vec<Name>>,
    pub(crate) body: Expr,
}

/// What is checked of a relation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub(crate) property: Property,
    pub(crate) negated: bool,
}

/// A property of a relation, the last one of a set, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    Acyclic,
    Irreflexive,
    Empty,
}

/// A set or a relation.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// Its form.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// `0`
    Nothing,
    Name(Name),
    Apply(Name, Vec<Expr>),
    Unary(Suffix, Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suffix {
    /// `~e`
    Complement,
    /// `e+`
    Transitive,
    /// `e*`
    ReflexiveTransitive,
    /// `e?`
    Reflexive,
    /// `e^-1`
    Inverse,
    /// `[s]`
    Identity,
}

/// An operator with two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Union,
    Sequence,
    Difference,
    Intersection,
    Product,
}

pub(crate) fn unary(suffix: Suffix, of: Expr, start: usize, end: usize) -> Expr {
    Expr { kind: ExprKind::Unary(suffix, Box::new(of)), span: Span::new(start, end) }
}

pub(crate) fn binary(operator: Operator, (start, a, b, end): (usize, Expr, Expr, usize)) -> Expr {
    Expr { kind: ExprKind::Binary(operator, Box::new(a), Box::new(b)), span: Span::new(start, end) }
}
