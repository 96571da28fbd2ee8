//! The type checker and name resolver.
//!
//! Input: a program, from the parser or from any stage. Output: the diagnostics; for a parsed program
//! also its right types, accesses with their widths, and the constants it uses undeclared.
//! Establishes: every name resolves and hides no other; every expression has its recorded type;
//! every goto has a target; only what `modifies` lists is modified; `old` stands only where there is
//! an earlier state. Relies on: nothing. Reference: Boogie 2, sections on names and types; stricter
//! in that no variable hides another, so rewriters need no renaming.

mod declarations;
mod expr;
mod stmt;

use super::ast::*;
use super::scope::with_suggestion;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Errors beyond these are cut off.
const MAX_ERRORS: usize = 50;

/// What a run does beside checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Parsed programs: put types and widths where the parser left placeholders.
    Elaborate,
    /// Generated programs: the recorded types must be right.
    Verify,
}

/// Checks a program.
pub fn check(program: &Program) -> Result<(), Vec<Diagnostic>> {
    run(&mut program.clone(), Mode::Verify)
}

/// Checks a program and, in [`Mode::Elaborate`], completes it.
pub(super) fn run(program: &mut Program, mode: Mode) -> Result<(), Vec<Diagnostic>> {
    let mut checker = Checker::new(mode);
    checker.program(program);
    checker.finish()
}

/// Types an expression over the given variables.
pub(super) fn expression(expr: &ExprRef, variables: &BTreeMap<Name, Type>) -> Result<ExprRef, Vec<Diagnostic>> {
    let mut checker = Checker::new(Mode::Elaborate);
    for (name, ty) in variables {
        let entry = Entry { ty: ty.clone(), kind: EntryKind::Constant, span: Span::NONE };
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
    ["x", "y", "z"].contains(&component).then_some(attribute)
}

/// What a variable name stands for.
#[derive(Clone, Debug)]
struct Entry {
    ty: Type,
    kind: EntryKind,
    span: Span,
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
}

/// What a caller knows of a procedure.
#[derive(Clone, Debug)]
struct ProcedureSignature {
    params: Vec<Type>,
    results: Vec<Type>,
    modifies: Vec<Name>,
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

struct Checker {
    mode: Mode,
    errors: Vec<Diagnostic>,
    top_level: BTreeMap<Name, Entry>,
    functions: BTreeMap<Name, Signature>,
    procedures: BTreeMap<Name, ProcedureSignature>,
    /// Parameters, results and locals of the procedure at hand.
    local: BTreeMap<Name, Entry>,
    /// Variables of the quantifiers around, innermost last.
    bound: Vec<(Name, Type)>,
    context: Context,
    /// True when the program may use `tid.x` and its like undeclared.
    kernel: bool,
    launch_constants: BTreeSet<Name>,
    /// Nodes of this procedure already found right: generated expressions share nodes.
    visited: HashSet<*const Expr>,
    /// Where we are, for generated code without spans.
    place: String,
}

impl Checker {
    fn new(mode: Mode) -> Self {
        Checker {
            mode,
            errors: Vec::new(),
            top_level: BTreeMap::new(),
            functions: BTreeMap::new(),
            procedures: BTreeMap::new(),
            local: BTreeMap::new(),
            bound: Vec::new(),
            context: Context::Pure,
            kernel: false,
            launch_constants: BTreeSet::new(),
            visited: HashSet::new(),
            place: String::new(),
        }
    }

    fn finish(mut self) -> Result<(), Vec<Diagnostic>> {
        self.errors.sort_by_key(|e| e.labels.first().map(|(span, _)| *span));
        self.errors.dedup();
        self.errors.truncate(MAX_ERRORS);
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }

    fn report(&mut self, mut error: Diagnostic) {
        let unplaced = error.labels.first().is_none_or(|(span, _)| *span == Span::NONE);
        if unplaced && !self.place.is_empty() {
            error = error.note(format!("in {}", self.place));
        }
        self.errors.push(error);
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.report(Diagnostic::error(code, message, span));
    }

    /// The variable of that name; reports when there is none.
    fn variable(&mut self, name: &Name, span: Span) -> Option<Entry> {
        if let Some((_, ty)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Some(Entry { ty: ty.clone(), kind: EntryKind::Bound, span });
        }
        if let Some(entry) = self.local.get(name).or_else(|| self.top_level.get(name)) {
            return Some(entry.clone());
        }
        if self.kernel && launch_constant(name.as_str()).is_some() {
            self.launch_constants.insert(name.clone());
            return Some(Entry { ty: Type::Bv(32), kind: EntryKind::Constant, span });
        }
        let known = self.bound.iter().map(|(n, _)| n).chain(self.local.keys()).chain(self.top_level.keys());
        let error = Diagnostic::error("ivl-name", format!("no variable is called `{name}`"), span);
        let mut error = with_suggestion(error, name, known);
        if launch_constant(name.as_str()).is_some() {
            error = error.note("only programs with a {:kernel} procedure or an array have it undeclared");
        }
        self.report(error);
        None
    }

    /// The type of a variable that a statement assigns; reports when it cannot be assigned.
    fn assignable(&mut self, name: &Name, span: Span) -> Option<Type> {
        let entry = self.variable(name, span)?;
        let what = match entry.kind {
            EntryKind::Global | EntryKind::Result | EntryKind::Local => return Some(entry.ty),
            EntryKind::Constant => "a constant",
            EntryKind::Parameter => "a parameter",
            EntryKind::Bound => "a bound variable",
            EntryKind::Array { .. } => "an array, which is written element by element",
        };
        let error = Diagnostic::error("ivl-type", format!("`{name}` cannot be assigned: it is {what}"), span);
        self.report(error.also(entry.span, "declared here"));
        None
    }
}
