//! The type checker and name resolver.
//!
//! Input: a program, from the parser or from any stage. Output: the diagnostics; for a parsed program
//! also its right types, accesses with their widths, and the constants it uses undeclared.
//! Establishes: every name resolves and hides no other; every expression has its recorded type;
//! every goto has a target; only what `modifies` lists is modified; `old` stands only where there is
//! an earlier state; no synonym of a type is left. Relies on: nothing.
//! Reference: Boogie 2, sections on names and types.
//!
//! In Boogie a parameter, local or bound variable may have the name of a global one. In a parsed
//! program it gets a name of its own, `x#1`, so that rewriters need no renaming; in a generated one
//! that is an error, but for what is inlined (the prelude).

mod attributes;
mod declarations;
mod expr;
mod stmt;
mod types;

use super::ast::*;
use super::scope::with_suggestion;
use super::surface::Synonym;
use super::token::{Spanned, Token};
use crate::diagnostic::Diagnostic;
use crate::geometry::Axis;
use crate::span::Span;
use foldhash::HashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Errors beyond these are cut off.
const MAX_ERRORS: usize = 50;

/// What a run does beside checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Parsed programs: put types and widths where the parser left placeholders.
    Elaborate,
    /// Generated programs: the recorded types must be right.
    Verify,
}

/// Checks a program.
pub fn check(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let mut checker = Checker::new(Mode::Verify, &[]);
    checker.program(&mut program.clone(), Vec::new());
    checker.finish()
}

/// Checks what a stage gives, in debug builds and tests.
///
/// # Panics
/// With the name of the stage, if its output does not type-check.
pub fn check_stage(program: &Program, stage: &str) {
    if cfg!(debug_assertions)
        && let Err(diagnostics) = check(program)
    {
        panic!("{stage}: its output does not type-check: {diagnostics:?}");
    }
}

/// Checks a parsed program and completes it. `errors` were found before; `tokens` are those of its text.
pub(super) fn elaborate(
    program: &mut Program,
    synonyms: Vec<Synonym>,
    tokens: &[Spanned<'_>],
    errors: Vec<Diagnostic>,
) -> Result<(), Vec<Diagnostic>> {
    let mut checker = Checker::new(Mode::Elaborate, tokens);
    checker.errors = errors;
    checker.program(program, synonyms);
    checker.finish()
}

/// Types an expression over the given variables.
pub(super) fn expression(expr: &ExprRef, variables: &BTreeMap<Name, Type>) -> Result<ExprRef, Vec<Diagnostic>> {
    let mut checker = Checker::new(Mode::Elaborate, &[]);
    for (name, ty) in variables {
        let entry = Entry::new(name.clone(), ty.clone(), EntryKind::Constant, Span::NONE);
        checker.top_level.insert(name.clone(), entry);
    }
    let typed = checker.expr(expr);
    checker.finish()?;
    typed.ok_or_else(|| vec![Diagnostic::error("ivl-type", "the expression has no type", expr.span)])
}

/// The attribute of a constant that a kernel may use without declaring it; all are bv32.
pub fn launch_constant(name: &str) -> Option<&'static str> {
    let (vector, component) = name.split_once('.')?;
    let attribute = match vector {
        "tid" => "thread",
        "ctaid" => "block",
        "ntid" | "nctaid" => "launch",
        _ => return None,
    };
    Axis::named(component).map(|_| attribute)
}

/// What a variable name stands for.
#[derive(Clone, Debug)]
struct Entry {
    /// Its name once nothing hides anything.
    name: Name,
    ty: Type,
    kind: EntryKind,
    span: Span,
    /// Whether it is `{:assumption}`.
    is_assumption: bool,
}

impl Entry {
    fn new(name: Name, ty: Type, kind: EntryKind, span: Span) -> Self {
        Entry { name, ty, kind, span, is_assumption: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    Constant,
    Global,
    Parameter,
    Result,
    Local,
    Bound,
    Array { element_bytes: u32 },
}

/// What a function name stands for.
#[derive(Clone, Debug)]
struct Signature {
    params: Vec<Type>,
    result: Type,
    /// The standard name of a function declared with `:bvbuiltin`.
    standard: Option<Name>,
    /// Where it is declared; none for those of the language.
    span: Span,
}

/// What a caller knows of a procedure.
#[derive(Clone, Debug)]
struct ProcedureSignature {
    params: Vec<Type>,
    results: Vec<Type>,
    modifies: Vec<Name>,
    span: Span,
    kernel: bool,
}

/// Which variables an expression may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    /// Axioms and function bodies: constants and parameters.
    Pure,
    /// Preconditions: also globals.
    State,
    /// Postconditions and bodies: also `old`.
    TwoState,
}

struct Checker<'a> {
    mode: Mode,
    /// Of a parsed program, to find the word that an error is about.
    tokens: &'a [Spanned<'a>],
    /// Names of a parsed program that a fresh one must not have, once they are needed.
    taken: Option<BTreeSet<Name>>,
    types: types::Types,
    errors: Vec<Diagnostic>,
    /// What is wrong with types, which is told once every name is known: a wrong name makes wrong types.
    type_errors: Vec<Diagnostic>,
    top_level: BTreeMap<Name, Entry>,
    functions: BTreeMap<Name, Signature>,
    procedures: BTreeMap<Name, ProcedureSignature>,
    /// Functions and procedures, which share their names, with the place of the first.
    callables: BTreeMap<Name, Span>,
    /// Parameters, results and locals of the procedure at hand.
    local: BTreeMap<Name, Entry>,
    /// Variables of the quantifiers around, innermost last, by the names they are written with.
    bound: Vec<(Name, Entry)>,
    /// The `{:assumption}` variables that the body at hand has assigned so far.
    assumed: BTreeSet<Name>,
    context: Context,
    /// True when the program may use `tid.x` and its like undeclared.
    kernel: bool,
    launch_constants: BTreeSet<Name>,
    /// Nodes of this procedure already found right: generated expressions share nodes.
    visited: HashSet<*const Expr>,
    /// Where we are, for generated code without spans.
    place: String,
    /// Whether the locals at hand may have the names of globals.
    may_hide: bool,
}

impl<'a> Checker<'a> {
    fn new(mode: Mode, tokens: &'a [Spanned<'a>]) -> Self {
        Checker {
            mode,
            tokens,
            taken: None,
            types: types::Types::default(),
            errors: Vec::new(),
            type_errors: Vec::new(),
            top_level: BTreeMap::new(),
            functions: BTreeMap::new(),
            procedures: BTreeMap::new(),
            callables: BTreeMap::new(),
            local: BTreeMap::new(),
            bound: Vec::new(),
            assumed: BTreeSet::new(),
            context: Context::Pure,
            kernel: false,
            launch_constants: BTreeSet::new(),
            visited: HashSet::default(),
            place: String::new(),
            may_hide: false,
        }
    }

    fn finish(self) -> Result<(), Vec<Diagnostic>> {
        let mut errors = self.errors;
        if errors.is_empty() || self.mode == Mode::Verify {
            errors.extend(self.type_errors);
        }
        errors.sort_by_key(|e| e.labels.first().map(|(span, _)| *span));
        errors.dedup();
        errors.truncate(MAX_ERRORS);
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn placed(&self, error: Diagnostic) -> Diagnostic {
        let unplaced = error.labels.first().is_none_or(|(span, _)| *span == Span::NONE);
        if unplaced && !self.place.is_empty() { error.note(format!("in {}", self.place)) } else { error }
    }

    fn report(&mut self, error: Diagnostic) {
        let error = self.placed(error);
        self.errors.push(error);
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.report(Diagnostic::error(code, message, span));
    }

    /// As [`Self::report`], where the names are right and do not fit together.
    fn report_type(&mut self, error: Diagnostic) {
        let error = self.placed(error);
        self.type_errors.push(error);
    }

    fn type_error(&mut self, message: impl Into<String>, span: Span) {
        self.report_type(Diagnostic::error("ivl-type", message, span));
    }

    /// The word that an error is about: the first `name` in the text from the start of `whole` on.
    fn word(&self, whole: Span, name: &Name) -> Span {
        self.word_before(whole, name, |_| true)
    }

    /// As [`Self::word`], where `right` accepts the token behind it.
    fn word_before(&self, whole: Span, name: &Name, right: impl Fn(Option<Token<'_>>) -> bool) -> Span {
        let first = self.tokens.partition_point(|(start, ..)| *start < whole.start as usize);
        let behind = |index: usize| self.tokens.get(index + 1).map(|(_, token, _)| *token);
        let found = (first..self.tokens.len())
            .find(|&index| self.tokens[index].1 == Token::Identifier(name.as_str()) && right(behind(index)));
        found.map_or(whole, |index| Span::new(self.tokens[index].0, self.tokens[index].2))
    }

    /// A name that nothing in the program has.
    fn fresh(&mut self, stem: &Name) -> Name {
        let tokens = self.tokens;
        let taken = self.taken.get_or_insert_with(|| {
            let identifiers = tokens.iter().filter_map(|(_, token, _)| match token {
                Token::Identifier(text) => Some(Name::new(text)),
                _ => None,
            });
            identifiers.collect()
        });
        let mut number = 1;
        loop {
            let name = Name::from(format!("{stem}#{number}"));
            if taken.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    /// The variable of that name; reports when there is none.
    fn variable(&mut self, name: &Name, span: Span) -> Option<Entry> {
        if let Some((_, entry)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Some(entry.clone());
        }
        if let Some(entry) = self.local.get(name).or_else(|| self.top_level.get(name)) {
            return Some(entry.clone());
        }
        if self.kernel && launch_constant(name.as_str()).is_some() {
            self.launch_constants.insert(name.clone());
            return Some(Entry::new(name.clone(), Type::Bv(32), EntryKind::Constant, span));
        }
        let known = self.bound.iter().map(|(n, _)| n).chain(self.local.keys()).chain(self.top_level.keys());
        let word = self.word(span, name);
        let error = Diagnostic::error("ivl-name", format!("no variable is called `{name}`"), word);
        let mut error = with_suggestion(error, name, known);
        if launch_constant(name.as_str()).is_some() {
            error = error.note("only programs with a {:kernel} procedure or an array have it undeclared");
        }
        self.report(error);
        None
    }

    /// A variable that a statement assigns, with its type; reports when it cannot be assigned.
    fn assignable(&mut self, name: &Name, span: Span) -> Option<(Name, Type)> {
        let entry = self.variable(name, span)?;
        let what = match entry.kind {
            EntryKind::Global | EntryKind::Result | EntryKind::Local => return Some((entry.name, entry.ty)),
            EntryKind::Constant => "a constant",
            EntryKind::Parameter => "a parameter",
            EntryKind::Bound => "a bound variable",
            EntryKind::Array { .. } => "an array, which is written element by element",
        };
        let message = format!("`{name}` cannot be assigned: it is {what}");
        let word = self.word(span, name);
        self.report_type(Diagnostic::error("ivl-type", message, word).also(entry.span, "declared here"));
        None
    }
}
