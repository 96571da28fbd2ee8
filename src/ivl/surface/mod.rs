//! The surface syntax: what the grammar builds before names are resolved.
//!
//! Input: tokens, through the grammar's actions. Output: [`Declaration`]s whose expressions carry
//! placeholder types. Establishes: expressions nest at most [`MAX_DEPTH`] deep; literals are in
//! range. Relies on: nothing. Reference: Boogie 2, statements and expressions.

mod terms;

pub(crate) use terms::*;

use super::ast::*;
use super::bv_names::MAX_WIDTH;
use super::subset;
use super::token::Token;
use crate::span::Span;

/// How deep an expression may nest, operators and parentheses together.
pub(crate) const MAX_DEPTH: u32 = 1000;

/// How many map types may follow one another (`[int][int]...`).
const MAX_MAP_DEPTH: usize = 16;

/// The function that stands for `(e : T)` until the checker has seen to it; T is the type of the call. No program
/// can write its name.
pub(super) const ASCRIPTION: &str = "(:)";

/// The function that stands for `high:low` outside of `e[high:low]`, where the checker refuses it.
pub(super) const BOUNDS: &str = "[:]";

/// The attribute of a quantifier that names a term which must not become a trigger.
pub(crate) const NO_PATTERNS: &str = "nopats";

/// An error that an action of the grammar finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActionError {
    /// Where.
    pub(crate) span: Span,
    /// What is wrong.
    pub(crate) message: String,
    /// The code of the diagnostic.
    pub(crate) code: &'static str,
}

/// The error type of the generated parser.
pub(crate) type ParseError<'input> = lalrpop_util::ParseError<usize, Token<'input>, ActionError>;

/// An error from inside an action.
pub(crate) fn action_error<'input, T>(span: Span, message: impl Into<String>) -> Result<T, ParseError<'input>> {
    Err(lalrpop_util::ParseError::User { error: ActionError { span, message: message.into(), code: "ivl-syntax" } })
}

/// An error about what Boogie has and this language has not.
pub(crate) fn outside_subset<'input, T>(feature: &str, span: Span) -> Result<T, ParseError<'input>> {
    let message = subset::message(feature);
    Err(lalrpop_util::ParseError::User { error: ActionError { span, message, code: subset::CODE } })
}

/// The names that an implementation has for parameters or results.
pub(crate) fn own_formals<'input>(formals: Vec<Variable>) -> Result<Vec<Variable>, ParseError<'input>> {
    for formal in &formals {
        let what = match (&formal.where_clause, formal.attributes.as_slice()) {
            (Some(_), _) => "where clause; the one of its procedure holds",
            (_, [_, ..]) => "attributes; those of its procedure hold",
            _ => continue,
        };
        return action_error(formal.span, format!("a parameter or result of an implementation has no {what}"));
    }
    Ok(formals)
}

/// A type that is spelt as an identifier: `bvN`, or a declared one with its arguments.
pub(crate) fn named_type(text: &str, arguments: Vec<Type>) -> Type {
    let digits = text.strip_prefix("bv").filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    match digits.map(str::parse) {
        Some(Ok(width)) if (1..=MAX_WIDTH).contains(&width) && arguments.is_empty() => Type::Bv(width),
        _ => Type::Named(Name::new(text), arguments),
    }
}

/// `[d0][d1]...base`
pub(crate) fn map_type<'input>(domains: Vec<Vec<Type>>, base: Type, span: Span) -> Result<Type, ParseError<'input>> {
    if domains.len() > MAX_MAP_DEPTH {
        return action_error(span, format!("more than {MAX_MAP_DEPTH} maps in one type"));
    }
    Ok(domains.into_iter().rev().fold(base, |element, index| Type::Map(index, Box::new(element))))
}

/// `space A: [elements]T`, with the size in bytes as an attribute where it is no multiple of T's.
pub(crate) fn array<'input>(
    space: ArraySpace,
    attributes: Vec<Attribute>,
    Identifier { name, span }: Identifier,
    elements: Option<&str>,
    element: Type,
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
pub(crate) fn unescape(text: &str) -> String {
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

#[derive(Clone, Debug)]
pub(crate) enum Declaration {
    /// `type T, U a = [a]int;`
    Types(Vec<DeclaredType>),
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
    /// `implementation p(..) { .. }`
    Implementation(SeparateImplementation, Body),
}

/// One of the types of a declaration as written.
#[derive(Clone, Debug)]
pub(crate) struct TypeDefinition {
    pub(crate) name: Identifier,
    /// The names of its arguments.
    pub(crate) params: Vec<Identifier>,
    /// What a synonym stands for.
    pub(crate) body: Option<Type>,
}

/// A type as declared.
#[derive(Clone, Debug)]
pub(crate) enum DeclaredType {
    /// A type of its own.
    Constructor(TypeDeclaration),
    /// Another name for a type.
    Synonym(Synonym),
}

/// `type Set a = [a]bool;`
#[derive(Clone, Debug)]
pub(crate) struct Synonym {
    pub(crate) name: Name,
    /// The names of its arguments.
    pub(crate) params: Vec<Identifier>,
    /// What it stands for.
    pub(crate) body: Type,
    /// Attributes.
    pub(crate) attributes: Vec<Attribute>,
    /// The name's place.
    pub(crate) span: Span,
}

/// The types of a declaration.
pub(crate) fn declared_types(types: Vec<TypeDefinition>, attributes: Vec<Attribute>) -> Vec<DeclaredType> {
    let declared =
        types.into_iter().map(|TypeDefinition { name: Identifier { name, span }, params, body }| match body {
            Some(body) => DeclaredType::Synonym(Synonym { name, params, body, attributes: attributes.clone(), span }),
            None => {
                let (arity, attributes) = (params.len(), attributes.clone());
                DeclaredType::Constructor(TypeDeclaration { name, arity, attributes, span })
            }
        });
    declared.collect()
}

/// A parameter of a function as written: a type, or a name whose type may stand behind a later one.
#[derive(Clone, Debug)]
pub(crate) struct FunctionParam {
    /// The name, read as a type, or the type.
    pub(crate) first: Type,
    /// The type where a name stands before it.
    pub(crate) ty: Option<Type>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The parameters of `f(x, y: int, z: bool)` or `f(int, bool)`; one without a name has the empty one.
pub(crate) fn function_params<'input>(params: Vec<FunctionParam>) -> Result<Vec<(Name, Type)>, ParseError<'input>> {
    if params.iter().all(|param| param.ty.is_none()) {
        return Ok(params.into_iter().map(|param| (Name::new(""), param.first)).collect());
    }
    let mut group: Option<Type> = None;
    let mut named = Vec::new();
    for FunctionParam { first, ty, span } in params.into_iter().rev() {
        group = ty.or(group);
        match (first, &group) {
            (Type::Named(name, arguments), Some(ty)) if arguments.is_empty() => named.push((name, ty.clone())),
            (_, Some(_)) => return action_error(span, "either all parameters of a function have names or none has"),
            (_, None) => return action_error(span, "the type of this parameter is missing"),
        }
    }
    named.reverse();
    Ok(named)
}

/// The type in `returns (r: int)` or `: int`.
pub(crate) fn function_result<'input>(result: FunctionParam) -> Result<Type, ParseError<'input>> {
    let span = result.span;
    let mut params = function_params(vec![result])?;
    match params.pop() {
        Some((_, ty)) => Ok(ty),
        None => action_error(span, "a function has one result"),
    }
}

/// A clause of a procedure.
#[derive(Clone, Debug)]
pub(crate) enum Clause {
    /// `modifies x, y;`
    Modifies(Vec<Name>),
    /// `requires e;`
    Requires(Condition),
    /// `ensures e;`
    Ensures(Condition),
}

/// A procedure body as written.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Local variables.
    pub(crate) locals: Vec<Variable>,
    /// Statements and labels.
    pub(crate) stmts: Vec<Statement>,
    /// The closing brace.
    pub(crate) end: Span,
}

/// A statement as written.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// What it does.
    pub(crate) kind: StatementKind,
    /// Attributes.
    pub(crate) attributes: Vec<Attribute>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A name with its place.
#[derive(Clone, Debug)]
pub(crate) struct Identifier {
    pub(crate) name: Name,
    /// Where it stands.
    pub(crate) span: Span,
}

/// A place that takes a value: `x`, `m[i]`, `m[i][j]`.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The variable or array.
    pub(crate) variable: Identifier,
    /// Indices, outermost first.
    pub(crate) indices: Vec<Vec<ExprRef>>,
}

/// The condition of `if` and `while`; `None` is `*`.
pub(crate) type Guard = Option<ExprRef>;

/// Statement forms as written.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub(crate) enum StatementKind {
    Label(Name),
    Assign {
        targets: Vec<Target>,
        values: Vec<ExprRef>,
    },
    Havoc(Vec<Name>),
    Assume(ExprRef),
    Assert(ExprRef),
    Call {
        procedure: Name,
        args: Vec<ExprRef>,
        results: Vec<Name>,
    },
    Atomic {
        dst: Option<Name>,
        target: Target,
    },
    Barrier {
        result: Option<Target>,
    },
    Fence(String),
    Goto(Vec<Identifier>),
    Return,
    /// The end of a list in braces.
    End,
    Break(Option<Identifier>),
    If {
        branches: Vec<Branch>,
        otherwise: Vec<Statement>,
    },
    While {
        guard: Guard,
        invariants: Vec<Condition>,
        body: Vec<Statement>,
    },
}

/// `if (guard) { body }`, the first of an `if` statement or behind `else`.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) guard: Guard,
    pub(crate) body: Vec<Statement>,
    pub(crate) span: Span,
}

/// The variables of `x, y: T where e`; the clause holds of each.
pub(crate) fn variables(
    (ids, ty): (Vec<Identifier>, Type),
    where_clause: Option<ExprRef>,
    attributes: &[Attribute],
) -> Vec<Variable> {
    let variable = |Identifier { name, span }| Variable {
        name,
        ty: ty.clone(),
        where_clause: where_clause.clone(),
        attributes: attributes.to_vec(),
        span,
    };
    ids.into_iter().map(variable).collect()
}

/// The attributes of a call. `free call` does not check the preconditions; `{:free}` says so in the AST, and only
/// there: written by the user it means nothing.
pub(crate) fn call_attributes(free: bool, mut attributes: Vec<Attribute>) -> Vec<Attribute> {
    attributes.retain(|attribute| attribute.name.as_str() != FREE_CALL);
    if free {
        attributes.insert(0, Attribute { name: Name::new(FREE_CALL), args: Vec::new() });
    }
    attributes
}

/// The variables a quantifier binds.
pub(crate) fn bound_variables(groups: Vec<(Vec<Identifier>, Type)>) -> Vec<(Name, Type)> {
    groups.into_iter().flat_map(|(ids, ty)| ids.into_iter().map(move |id| (id.name, ty.clone()))).collect()
}

/// Statements in braces, with the place of the closing one where control runs into it: no statement of branches or
/// rounds is the last.
pub(crate) fn with_end(mut stmts: Vec<Statement>, start: usize, end: usize) -> Vec<Statement> {
    if !stmts.last().is_some_and(Statement::is_structured) {
        stmts.push(statement(StatementKind::End, vec![], start, end));
    }
    stmts
}

impl Statement {
    /// Whether it is `if` or `while`.
    pub(crate) fn is_structured(&self) -> bool {
        matches!(self.kind, StatementKind::If { .. } | StatementKind::While { .. })
    }
}

/// A statement at bytes `start..end`.
pub(crate) fn statement(kind: StatementKind, attributes: Vec<Attribute>, start: usize, end: usize) -> Statement {
    Statement { kind, attributes, span: Span::new(start, end) }
}

/// A procedure without its body.
pub(crate) fn procedure(
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
