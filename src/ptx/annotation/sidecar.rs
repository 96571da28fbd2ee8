//! Annotations from a file of their own, for PTX that nobody can edit.
//!
//! Input: the text of such a file, and a module. Output: the annotations in the bodies of the module's functions, or
//! errors at places in that file. Establishes: every annotation stands at one place; its origin has the file as its
//! position, so that reports show its line. Relies on: nothing. Grammar, a line each; `#` starts a remark:
//!
//! ```text
//! kernel NAME                         the following lines are about this kernel or function
//! at entry: KIND EXPRESSION;          before its first instruction
//! at $L__BB0_2: KIND EXPRESSION;      behind a label
//! at scan.cu:31: KIND EXPRESSION;     before the instructions of a source line, as `.loc` tells
//! at scan.cu:31#2: KIND EXPRESSION;   before the second of several such places
//! at line 57: KIND EXPRESSION;        before the instruction at a line of the PTX
//! ```
//! Reference: book/src/annotating.md.

use super::{Annotation, AnnotationKind, ArrayRef, Names, Statement, arrays, scalar_parameter, statement};
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Body, Function, Item, Module, RegisterId, ScalarType};
use crate::span::{Origin, SourcePosition, Span};
use std::ops::Range;
use std::sync::Arc;

/// Errors beyond this are not told.
const MOST_ERRORS: usize = 20;

/// Names that a message lists.
const MOST_NAMES: usize = 8;

/// An annotation with its place: the function, and the item before which it goes.
type Placed = (usize, usize, Annotation);

/// Adds the annotations of a file to a module; how many there are.
///
/// # Errors
/// Lines that are not understood, kernels and places that do not exist; spans are those of `text`.
pub(crate) fn apply(file: &str, text: &str, module: &mut Module) -> Result<usize, Vec<Diagnostic>> {
    let mut reader = Reader { file: file.into(), text, module, function: None };
    let (mut placed, mut errors) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (number, line) in (1..).zip(text.split('\n')) {
        match reader.line(number, start, line) {
            Ok(annotation) => placed.extend(annotation),
            Err(error) if errors.len() < MOST_ERRORS => errors.push(error),
            Err(_) => {}
        }
        start += line.len() + 1;
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let count = placed.len();
    insert(module, placed);
    Ok(count)
}

/// Adds a requirement to a kernel, from a line of a file that is not one of annotations.
///
/// # Errors
/// What is no expression about the kernel.
pub(crate) fn require(file: &str, line: u32, fact: &str, module: &mut Module, kernel: usize) -> Result<(), String> {
    let shared: &Module = module;
    let function = &shared.functions[kernel];
    let Some(body) = &function.body else { return Ok(()) };
    let (item, origin) = find(function, body, "entry")?;
    let written = format!("{} {};", AnnotationKind::Requires.name(), fact.trim().trim_end_matches(';'));
    let mut names = InBody { module: shared, function, body };
    let parsed = statement(&written, &mut names).map_err(|mistake| mistake.message)?;
    let position = SourcePosition { file: file.into(), line, column: 0, inlined_at: None };
    let origin = Origin { position: Some(Arc::new(position)), text: written.as_str().into(), ..origin };
    let Statement { kind, text, expression, threads } = parsed;
    let annotation = Annotation { kind, expression, threads, text: text.into(), origin: Arc::new(origin) };
    insert(module, vec![(kernel, item, annotation)]);
    Ok(())
}

/// Puts the annotations in, the last first, so that places stay what they are; of several at one place the first
/// line comes first.
fn insert(module: &mut Module, mut placed: Vec<Placed>) {
    placed.sort_by_key(|(function, item, _)| (*function, *item));
    for (function, item, annotation) in placed.into_iter().rev() {
        if let Some(body) = &mut module.functions[function].body {
            body.items.insert(item, Item::Annotation(annotation));
        }
    }
}

struct Reader<'t, 'm> {
    file: Arc<str>,
    text: &'t str,
    module: &'m Module,
    /// The function that lines are about.
    function: Option<usize>,
}

fn error(range: Range<usize>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("annotation", message, Span::new(range.start, range.end))
}

impl<'t> Reader<'t, '_> {
    /// A line with its number and where it starts.
    fn line(&mut self, number: u32, start: usize, line: &'t str) -> Result<Option<Placed>, Diagnostic> {
        let remark = line.match_indices('#').map(|(at, _)| at).find(|at| !is_ordinal(line, *at));
        let line = remark.map_or(line, |at| &line[..at]);
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        let whole = start + indent..start + indent + content.len();
        if content.is_empty() {
            return Ok(None);
        }
        if let Some(name) = content.strip_prefix("kernel ") {
            self.function = Some(self.named(name.trim().trim_end_matches(':'), whole)?);
            return Ok(None);
        }
        let Some((place, fact)) = content.strip_prefix("at ").and_then(|rest| rest.split_once(": ")) else {
            return Err(error(whole, "this is neither `kernel NAME` nor `at PLACE: KIND EXPRESSION;`"));
        };
        let Some(function) = self.function else {
            return Err(error(whole, "a line `kernel NAME` comes first"));
        };
        let function_of_module = &self.module.functions[function];
        let Some(body) = &function_of_module.body else {
            return Err(error(whole, format!("`{}` has no body", function_of_module.name)));
        };
        let (item, origin) = find(function_of_module, body, place.trim()).map_err(|message| {
            let from = whole.start + "at ".len();
            error(from..from + place.len(), message)
        })?;
        let from = fact.as_ptr() as usize - self.text.as_ptr() as usize;
        let mut names = InBody { module: self.module, function: function_of_module, body };
        let Statement { kind, text, expression, threads } = statement(fact, &mut names)
            .map_err(|mistake| error(from + mistake.range.start..from + mistake.range.end, mistake.message))?;
        let column = u32::try_from(indent + 1).unwrap_or(1);
        let position = SourcePosition { file: self.file.clone(), line: number, column, inlined_at: None };
        let origin = Origin { position: Some(Arc::new(position)), text: content.into(), ..origin };
        let annotation = Annotation { kind, expression, threads, text: text.into(), origin: Arc::new(origin) };
        Ok(Some((function, item, annotation)))
    }

    fn named(&self, name: &str, range: Range<usize>) -> Result<usize, Diagnostic> {
        let functions = &self.module.functions;
        if let Some(found) = functions.iter().position(|function| *function.name == *name && function.body.is_some()) {
            return Ok(found);
        }
        let known = functions.iter().filter(|function| function.body.is_some()).map(|function| &*function.name);
        Err(error(range, format!("no kernel or function is named `{name}`")).note(listed("there are", known)))
    }
}

/// Whether a `#` is the one of `file:31#2`.
fn is_ordinal(line: &str, at: usize) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    is_digit(line[..at].chars().next_back()) && is_digit(line[at + 1..].chars().next())
}

fn listed<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    let more = if names.len() > MOST_NAMES { ", ..." } else { "" };
    format!("{what}: {}{more}", names[..names.len().min(MOST_NAMES)].join(", "))
}

/// The item before which an annotation at a place goes, and the PTX that stands there.
fn find(function: &Function, body: &Body, place: &str) -> Result<(usize, Origin), String> {
    let index = if place == "entry" {
        0
    } else if let Some(number) = place.strip_prefix("line ") {
        at_line(body, number.trim())?
    } else if let Some((file, line)) = place.rsplit_once(':') {
        at_source(body, file, line)?
    } else {
        behind_label(function, body, place)?
    };
    let origins = body.items[index.min(body.items.len())..].iter().chain(body.items.iter().rev());
    let origin = origins.filter_map(origin_of).map(|origin| (**origin).clone()).next();
    let none = Origin { span: function.span, line: 0, position: None, text: "".into() };
    Ok((index, origin.unwrap_or(none)))
}

fn origin_of(item: &Item) -> Option<&Arc<Origin>> {
    match item {
        Item::Instruction(instruction) => Some(&instruction.origin),
        Item::Label(_) | Item::Annotation(_) => None,
    }
}

fn behind_label(function: &Function, body: &Body, name: &str) -> Result<usize, String> {
    let is_it = |item: &Item| matches!(item, Item::Label(id) if *body.labels[id.0 as usize].name == *name);
    match body.items.iter().position(is_it) {
        Some(at) => Ok(at + 1),
        None => {
            let labels = listed("it has", body.labels.iter().map(|label| &*label.name));
            Err(format!("`{}` has no label `{name}`; {labels}", function.name))
        }
    }
}

fn at_line(body: &Body, number: &str) -> Result<usize, String> {
    let Ok(number) = number.parse::<u32>() else { return Err(format!("`{number}` is no line number")) };
    let line = |item: &Item| origin_of(item).map(|origin| origin.line);
    if let Some(at) = body.items.iter().position(|item| line(item) == Some(number)) {
        return Ok(at);
    }
    let lines = || body.items.iter().filter_map(line);
    let near: Vec<u32> =
        [lines().filter(|l| *l < number).max(), lines().filter(|l| *l > number).min()].into_iter().flatten().collect();
    let near: Vec<String> = near.iter().map(u32::to_string).collect();
    Err(format!(
        "no instruction of this function begins at PTX line {number}; the nearest lines are {}",
        near.join(", ")
    ))
}

/// `file` and `31` or `31#2`.
fn at_source(body: &Body, file: &str, line: &str) -> Result<usize, String> {
    let (line, ordinal) = match line.split_once('#') {
        Some((line, ordinal)) => (line, ordinal.parse::<usize>().ok().filter(|n| *n > 0)),
        None => (line, None),
    };
    let Ok(line) = line.trim().parse::<u32>() else { return Err(format!("`{line}` is no line number")) };
    let is_there = |item: &Item| {
        let position = origin_of(item).and_then(|origin| origin.position.as_ref());
        position.is_some_and(|position| position.line == line && is_file(&position.file, file))
    };
    let begins = |at: &usize| is_there(&body.items[*at]) && !(*at > 0 && is_there(&body.items[*at - 1]));
    let places: Vec<usize> = (0..body.items.len()).filter(begins).collect();
    match (ordinal, &places[..]) {
        (_, []) => Err(format!("no instruction of this function is from {file}:{line}")),
        (None, [only]) => Ok(*only),
        (Some(ordinal), several) if ordinal <= several.len() => Ok(several[ordinal - 1]),
        (_, several) => {
            let lines = several.iter().filter_map(|at| origin_of(&body.items[*at]));
            let lines: Vec<String> = lines.map(|origin| origin.line.to_string()).collect();
            let (count, lines) = (several.len(), lines.join(", "));
            Err(format!("{file}:{line} has {count} places, at PTX lines {lines}; choose one as {file}:{line}#1"))
        }
    }
}

/// Whether a path of `.file` ends in a given one.
fn is_file(path: &str, given: &str) -> bool {
    path.strip_suffix(given).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}

/// Names in a body that is typed already.
struct InBody<'m> {
    module: &'m Module,
    function: &'m Function,
    body: &'m Body,
}

impl<'a> Names<'a> for InBody<'_> {
    fn register(&mut self, name: &'a str) -> Option<(RegisterId, ScalarType)> {
        let index = self.body.registers.iter().position(|register| *register.name == *name)?;
        Some((RegisterId(u32::try_from(index).ok()?), self.body.registers[index].ty))
    }

    fn parameter(&mut self, name: &'a str) -> Result<(u32, ScalarType), String> {
        scalar_parameter(self.function.is_entry.then_some(self.function), name)
    }

    fn array(&mut self, name: &'a str) -> Result<ArrayRef, String> {
        arrays::named(name, &self.module.variables, &self.body.variables)
    }

    fn pointer(&mut self, name: &'a str) -> Result<ArrayRef, String> {
        arrays::pointee(self.function.is_entry.then_some(self.function), name)
    }
}
