//! The instructions of a kernel, and the sources around them.
//!
//! Input: a kernel. Output: its instructions in the order of the input, with numbers; the texts that hold them: of a module
//! only the functions that the kernel has to do with. Establishes: each instruction lies in one of the sources. Relies on:
//! spans of the parser. Reference: none.

use super::super::input::Input;
use super::super::options::Options;
use super::super::pipeline::{self, Program};
use super::super::task::Task;
use crate::cfg::print::blocks;
use crate::ptx::ast::{Function, Item, Module};
use crate::report::explain::opcode;
use crate::report::html::detail::{Instruction, Line, Source};
use crate::report::source::{SourceFiles, SourceText};
use crate::span::{Origin, Span};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Larger source files are shown around the lines of the kernel only, in bytes.
const WHOLE: usize = 200_000;

/// Lines around those of the kernel, then.
const AROUND: usize = 40;

/// Numbers of instructions, with lines.
type Places = Vec<(usize, usize)>;

/// The instructions of a kernel.
#[derive(Default)]
pub(super) struct Instructions {
    pub(super) sources: Vec<Source>,
    pub(super) list: Vec<Instruction>,
    /// Their numbers, by the first byte of each in the input.
    numbers: BTreeMap<u32, usize>,
}

impl Instructions {
    /// All of a kernel.
    pub(super) fn of(task: &Task<'_>, options: &Options) -> Instructions {
        let mut found = Instructions::default();
        match task.program {
            Program::Ptx(module) => found.add_ptx(task.input, module, &task.entry, options),
            Program::Ivl(_) => found.add_ivl(task, options),
        }
        found
    }

    /// The number of the instruction at a place of the input.
    pub(super) fn number(&self, place: Span) -> Option<usize> {
        self.numbers.get(&place.start).copied()
    }

    /// The numbers of the instructions at these places, in order.
    pub(super) fn numbers(&self, places: &[Span]) -> Vec<usize> {
        let mut numbers: Vec<usize> = places.iter().filter_map(|place| self.number(*place)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The line of an instruction.
    pub(super) fn line(&self, number: usize) -> usize {
        self.list.get(number).map_or(0, |instruction| instruction.place.line)
    }

    fn add_ptx(&mut self, input: &Input, module: &Module, entry: &str, options: &Options) {
        let mut positions: Vec<(usize, Arc<Origin>)> = Vec::new();
        for function in functions(module, entry, options) {
            let lines = lines_of(function, &input.source);
            let source = self.add_source(&input.source, input.source.name(), "ptx", lines);
            for origin in origins(function) {
                if self.numbers.contains_key(&origin.span.start) {
                    continue;
                }
                let number = self.add(&input.source, source, &origin);
                self.list[number].explain = opcode::sentence(&origin.text);
                positions.push((number, origin));
            }
        }
        self.add_cuda(&input.source, &positions);
    }

    /// The lines of the author's sources, where they are at hand.
    fn add_cuda(&mut self, input: &SourceText, positions: &[(usize, Arc<Origin>)]) {
        let mut files = SourceFiles::beside(input.name());
        // By file: its text, and the instructions with their lines.
        let mut found: BTreeMap<Arc<str>, (Arc<SourceText>, Places)> = BTreeMap::new();
        for (number, origin) in positions {
            let Some(position) = origin.position.as_ref().map(|position| position.own()) else { continue };
            let Some((text, _)) = files.place(position) else { continue };
            let (_, lines) = found.entry(position.file.clone()).or_insert((text, Vec::new()));
            lines.push((*number, position.line as usize));
        }
        for (name, (text, lines)) in found {
            let all = 0..text.line_count();
            let first = lines.iter().map(|(_, line)| *line).min().unwrap_or(1).saturating_sub(AROUND + 1);
            let last = lines.iter().map(|(_, line)| *line).max().unwrap_or(1) + AROUND;
            let shown = if text.text().len() <= WHOLE { all } else { first..last.min(all.end) };
            let source = self.add_source(&text, &files.path(&name), "cuda", shown);
            for (number, line) in lines {
                self.list[number].cuda = Some(Line { source, line });
            }
        }
    }

    fn add_ivl(&mut self, task: &Task<'_>, options: &Options) {
        let text = &task.input.source;
        let source = self.add_source(text, text.name(), "ivl", 0..text.line_count());
        if task.program.of_procedure(&task.entry).is_some() {
            return;
        }
        let Ok(lowered) = pipeline::lower(task.input, task.program, &task.entry, options, &[]) else { return };
        let bodies = lowered.kernel.program.procedures.iter().filter_map(|procedure| procedure.body.as_ref());
        let statements = bodies.flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        let mut origins: Vec<Arc<Origin>> = statements.filter_map(|stmt| stmt.origin.clone()).collect();
        origins.sort_by_key(|origin| origin.span);
        origins.dedup_by_key(|origin| origin.span.start);
        for origin in origins {
            self.add(text, source, &origin);
        }
    }

    /// Lines of a text, from 0.
    fn add_source(&mut self, text: &SourceText, path: &str, language: &'static str, lines: Range<usize>) -> usize {
        let end = text.line(lines.end.saturating_sub(1)).end;
        let shown = &text.text()[text.line(lines.start).start.min(end)..end];
        let source = Source { path: path.to_string(), language, text: shown.to_string(), first_line: lines.start + 1 };
        self.sources.push(source);
        self.sources.len() - 1
    }

    fn add(&mut self, text: &SourceText, source: usize, origin: &Origin) -> usize {
        let range = text.range(origin.span);
        let (line, column) = text.line_column(range.start);
        let own_line = text.line(line - 1);
        // An instruction may go on in the next line.
        let (_, end_column) = text.line_column(range.end.min(own_line.end).max(range.start));
        let words: Vec<&str> = text.text()[range].split_whitespace().collect();
        let number = self.list.len();
        self.numbers.insert(origin.span.start, number);
        self.list.push(Instruction {
            place: Line { source, line },
            column,
            end_column,
            text: words.join(" "),
            cuda: None,
            explain: None,
        });
        number
    }
}

/// The kernel, and the functions whose instructions are in its graph, in the order of the text.
fn functions<'m>(module: &'m Module, entry: &str, options: &Options) -> Vec<&'m Function> {
    let Ok(entry) = pipeline::entry_of(module, entry) else { return Vec::new() };
    let Ok(cfg) = crate::cfg::build(module, entry, options.rules) else { return vec![entry] };
    let shown = blocks(&cfg);
    let origins =
        shown.iter().flat_map(|block| block.lines.iter().filter_map(|(origin, _)| *origin).chain(block.terminator));
    let mut places: Vec<u32> = origins.map(|origin| origin.span.start).collect();
    places.sort_unstable();
    let has_place = |function: &&Function| {
        let mut of_function = origins_of(function).map(|origin| origin.span.start);
        let Some(first) = of_function.next() else { return false };
        let last = of_function.last().unwrap_or(first);
        let next = places.partition_point(|place| *place < first);
        places.get(next).is_some_and(|place| *place <= last)
    };
    let others = module.functions.iter().filter(|function| !std::ptr::eq(*function, entry)).filter(has_place);
    std::iter::once(entry).chain(others).collect()
}

fn origins_of(function: &Function) -> impl Iterator<Item = &Arc<Origin>> {
    let items = function.body.iter().flat_map(|body| &body.items);
    items.filter_map(|item| match item {
        Item::Instruction(instruction) => Some(&instruction.origin),
        Item::Annotation(annotation) => Some(&annotation.origin),
        Item::Label(_) => None,
    })
}

/// Those of instructions and annotations, in the order of the text, each once.
fn origins(function: &Function) -> Vec<Arc<Origin>> {
    let mut origins: Vec<Arc<Origin>> = origins_of(function).cloned().collect();
    origins.sort_by_key(|origin| origin.span);
    origins.dedup_by_key(|origin| origin.span.start);
    origins.retain(|origin| origin.span != Span::NONE);
    origins
}

/// From its header to the brace behind its last instruction, from 0.
fn lines_of(function: &Function, text: &SourceText) -> Range<usize> {
    let last = origins_of(function).map(|origin| origin.span.range().end).max().unwrap_or(0);
    let last = text.line_index(last.max(text.range(function.span).end));
    let first = text.line_index(text.range(function.span).start);
    let is_end = |index: &usize| text.text()[text.line(*index)].trim_start().starts_with('}');
    let is_next = |index: &usize| text.text()[text.line(*index)].contains(".entry");
    let end = (last..text.line_count()).take_while(|index| *index == last || !is_next(index)).find(is_end);
    first..end.unwrap_or(last) + 1
}
