//! What holds for the reading of any text as PTX, right or wrong. tests/ptx.rs, tests/reading.rs, tests/fuzz.rs
//! and fuzz/ share this check.

use super::cpu_time::cpu_time;
use gpuvcc::diagnostic::Diagnostic;
use gpuvcc::ptx;
use gpuvcc::ptx::ast::{Item, Module, Variable};
use gpuvcc::ptx::context::MAX_ERRORS;
use gpuvcc::ptx::parse::{parse_body, parse_module};
use gpuvcc::ptx::syntax::TopLevel;
use gpuvcc::ptx::unparse::unparse;
use gpuvcc::span::{Origin, Span};
use std::sync::Arc;
use std::time::Duration;

/// Texts up to this length, in bytes, are read in [`LONGEST_TIME`].
const SMALL: usize = 64 << 10;

/// Far more than any small text takes, so that only a wrong order of growth shows.
const LONGEST_TIME: Duration = Duration::from_secs(1);

/// How far a text came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Its syntax is wrong.
    Refused,
    /// Its syntax is right, its names or types are not.
    Parsed,
    /// It is a module.
    Typed,
}

/// Reads a text. `Err`: what should hold for it does not. A panic is a fault too.
pub fn check(text: &str) -> Result<Reading, String> {
    let start = cpu_time();
    ptx::tokens(text);
    let (tree, syntax_errors) = parse_syntax(text);
    let module = ptx::parse(text);
    let time = cpu_time() - start;
    if text.len() <= SMALL && time > LONGEST_TIME {
        return Err(format!("{} bytes take {:.1} s", text.len(), time.as_secs_f64()));
    }
    match &module {
        Ok(module) => drop(ptx::print_ast(module)),
        Err(errors) => check_errors(text, errors)?,
    }
    if !syntax_errors.is_empty() {
        return if module.is_err() { Ok(Reading::Refused) } else { Err("parsed in spite of errors".to_string()) };
    }
    let printed = unparse(&tree);
    check_print(&printed)?;
    match (&module, &ptx::parse(&printed)) {
        (Ok(one), Ok(other)) if same(one, other) => Ok(Reading::Typed),
        (Err(one), Err(other)) if said(one) == said(other) => Ok(Reading::Parsed),
        (one, other) => Err(format!("printed\n{printed}\nit gives {other:?}\nand not {one:?}")),
    }
}

/// The tree of a file, and all errors of syntax, also in function bodies.
fn parse_syntax(text: &str) -> (Vec<TopLevel<'_>>, Vec<Diagnostic>) {
    let (tree, mut errors) = parse_module(text, MAX_ERRORS);
    for construct in &tree {
        if let TopLevel::Function(function) = construct
            && let Some(body) = function.body
        {
            errors.extend(parse_body(body, MAX_ERRORS).1);
        }
    }
    (tree, errors)
}

/// Whether two modules differ in nothing but where things stand.
pub fn same(one: &Module, other: &Module) -> bool {
    without_places(one.clone()) == without_places(other.clone())
}

/// Each error has a place in the text; they come in order, and not too many.
fn check_errors(text: &str, errors: &[Diagnostic]) -> Result<(), String> {
    if errors.is_empty() || errors.len() > MAX_ERRORS {
        return Err(format!("{} errors", errors.len()));
    }
    for error in errors {
        match error.labels.first() {
            Some((place, _)) if text.get(place.range()).is_some() => {}
            place => return Err(format!("`{}` is at {place:?}", error.message)),
        }
    }
    let starts: Vec<u32> = errors.iter().map(|error| error.labels[0].0.start).collect();
    if starts.is_sorted() { Ok(()) } else { Err(format!("errors out of order: {errors:?}")) }
}

/// A print has right syntax, and the tree of a print gives that print.
fn check_print(printed: &str) -> Result<(), String> {
    let (tree, errors) = parse_syntax(printed);
    match errors.first() {
        Some(error) => Err(format!("printed\n{printed}\nit has an error: {error:?}")),
        None if unparse(&tree) != printed => Err(format!("printed\n{printed}\nit gives\n{}", unparse(&tree))),
        None => Ok(()),
    }
}

/// Codes and messages. Without their order, because those about the whole file stand at its first byte.
fn said(errors: &[Diagnostic]) -> Vec<(&str, &str)> {
    let mut said: Vec<_> = errors.iter().map(|error| (error.code, error.message.as_str())).collect();
    said.sort_unstable();
    said
}

/// The module without what a print changes: spans, lines and the texts of instructions.
fn without_places(mut module: Module) -> Module {
    let variables = |variables: &mut Vec<Variable>| variables.iter_mut().for_each(|one| one.span = Span::NONE);
    variables(&mut module.variables);
    for function in &mut module.functions {
        function.span = Span::NONE;
        variables(&mut function.returns);
        variables(&mut function.params);
        let Some(body) = &mut function.body else { continue };
        variables(&mut body.variables);
        body.labels.iter_mut().for_each(|label| label.span = Span::NONE);
        for item in &mut body.items {
            match item {
                Item::Label(_) => {}
                Item::Instruction(instruction) => instruction.origin = without_place(&instruction.origin),
                Item::Annotation(annotation) => annotation.origin = without_place(&annotation.origin),
            }
        }
    }
    module
}

fn without_place(origin: &Origin) -> Arc<Origin> {
    Arc::new(Origin { span: Span::NONE, line: 0, position: origin.position.clone(), text: "".into() })
}
