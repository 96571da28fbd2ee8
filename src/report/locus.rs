//! Where something is, as other programs want to be told: a file that can be opened, lines and columns.
//!
//! Input: an origin, a place in the input, or a kernel. Output: a [`Locus`]. Establishes: lines and columns count from 1, columns
//! in characters; the end is not before the start. Relies on: nothing. Reference: SARIF 2.1.0, "region object".

use super::source::{SourceFiles, SourceText};
use crate::diagnostic::Diagnostic;
use crate::span::{Origin, SourcePosition, Span};
use std::ops::Range;

/// A region of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Locus {
    /// Where the file lies; as `.file` spells it if it is not at hand.
    pub(crate) file: String,
    /// Line and column of the first character.
    pub(crate) start: (usize, usize),
    /// Line and column behind the last one.
    pub(crate) end: (usize, usize),
    /// The line where it starts, if the file is at hand.
    pub(crate) text: Option<String>,
}

impl Locus {
    /// The author's own line where `.loc` tells it, otherwise the instruction in the input.
    pub(crate) fn of_origin(origin: &Origin, input: &SourceText, files: &mut SourceFiles) -> Self {
        // `.loc` may say line 0 for code without a source.
        let position = origin.position.as_ref().map(|position| position.own()).filter(|position| position.line > 0);
        match position {
            Some(position) => Self::of_position(position, files),
            None if origin.span == Span::NONE => Self::of_line(origin.line as usize, input),
            None => Self::within(input, input.name(), input.range(origin.span)),
        }
    }

    /// A line of a source; without the file, as far as `.loc` knows it.
    pub(crate) fn of_position(position: &SourcePosition, files: &mut SourceFiles) -> Self {
        let file = files.path(&position.file);
        match files.place(position) {
            Some((text, range)) => Self::within(&text, &file, range),
            None => Self::point(&file, position.line as usize, position.column as usize),
        }
    }

    /// The first place of a diagnostic; `None` if it has none.
    pub(crate) fn of_diagnostic(diagnostic: &Diagnostic, input: &SourceText) -> Option<Self> {
        let (span, _) = diagnostic.labels.iter().find(|(span, _)| *span != Span::NONE)?;
        Some(Self::within(input, input.name(), input.range(*span)))
    }

    /// The line where a kernel or procedure begins; the first one if it is not found.
    pub(crate) fn of_entry(entry: &str, input: &SourceText) -> Self {
        let is_name = |at: usize| {
            let is_part = |character: char| character.is_alphanumeric() || "_$%".contains(character);
            let text = input.text();
            !text[..at].ends_with(is_part) && !text[at + entry.len()..].starts_with(is_part)
        };
        let lines = input.text().match_indices(entry).filter(|&(at, _)| !entry.is_empty() && is_name(at));
        let lines = lines.map(|(at, _)| input.line_index(at));
        let declares = |&index: &usize| {
            let text = &input.text()[input.line(index)];
            [".entry", "procedure", "implementation"].iter().any(|word| text.contains(word))
        };
        let line = lines.clone().find(declares).or_else(|| lines.clone().next());
        Self::of_line(line.map_or(1, |index| index + 1), input)
    }

    /// What is known of a place is a line and a column, or neither.
    pub(crate) fn point(file: &str, line: usize, column: usize) -> Self {
        let start = (line.max(1), column.max(1));
        Locus { file: file.to_string(), start, end: (start.0, start.1 + 1), text: None }
    }

    /// A whole line of the input, without its indentation.
    fn of_line(line: usize, input: &SourceText) -> Self {
        let range = input.line(line.saturating_sub(1));
        let text = &input.text()[range.clone()];
        let indent = text.len() - text.trim_start().len();
        match text.trim().is_empty() {
            true => Self::point(input.name(), line, 1),
            false => Self::within(input, input.name(), range.start + indent..range.start + text.trim_end().len()),
        }
    }

    fn within(text: &SourceText, file: &str, range: Range<usize>) -> Self {
        let (start, end) = (text.line_column(range.start), text.line_column(range.end));
        // An empty region cannot be shown.
        let end = if end <= start { (start.0, start.1 + 1) } else { end };
        let line = text.text()[text.line(start.0 - 1)].to_string();
        Locus { file: file.to_string(), start, end, text: Some(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_begin_where_they_are_declared() {
        let input = SourceText::new("k.ptx", "// scan\n.func scans()\n{ }\n\t.visible .entry scan(\n)\n");
        let locus = Locus::of_entry("scan", &input);
        assert_eq!((locus.start, locus.end), ((4, 2), (4, 23)));
        assert_eq!(Locus::of_entry("gone", &input).start, (1, 1));
        assert_eq!(Locus::of_entry("", &SourceText::new("k.ptx", "")).end, (1, 2));
    }
}
