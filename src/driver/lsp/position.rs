//! Places as the protocol counts them: lines from 0, columns in units of UTF-16.
//!
//! Input: bytes of a text, or lines and columns of a report. Output: positions; and back. Establishes: places outside of the text
//! are cut to it, and none is within a character. Relies on: nothing. Reference: Language Server Protocol 3.17, "Position".

use crate::report::source::SourceText;
use crate::span::Span;
use lsp_types::{Position, Range};
use std::ops;

/// Where a byte is.
fn position(source: &SourceText, offset: usize) -> Position {
    let line = source.line_index(offset);
    let start = source.line(line).start.min(offset);
    let units = source.text().get(start..offset).map_or(0, |text| text.encode_utf16().count());
    Position::new(number(line), number(units))
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Where bytes are.
pub(super) fn range(source: &SourceText, bytes: ops::Range<usize>) -> Range {
    Range::new(position(source, bytes.start), position(source, bytes.end))
}

/// Where a span of a diagnostic is.
pub(super) fn of_span(source: &SourceText, span: Span) -> Range {
    range(source, source.range(span))
}

/// The byte at a position.
pub(super) fn offset(source: &SourceText, position: Position) -> usize {
    let line = source.line(position.line as usize);
    let mut units = 0;
    for (at, character) in source.text()[line.clone()].char_indices() {
        if units >= position.character as usize {
            return line.start + at;
        }
        units += character.len_utf16();
    }
    line.end
}

/// The statement at a line and a column, both from 1: to the end of its line, without a comment there. Without a column it
/// begins where the line does.
pub(super) fn statement(source: &SourceText, line: usize, column: Option<usize>) -> Range {
    let bytes = source.line(line.saturating_sub(1));
    let text = &source.text()[bytes.clone()];
    let skipped = match column {
        Some(column) => text.char_indices().nth(column.saturating_sub(1)).map_or(0, |(at, _)| at),
        None => text.len() - text.trim_start().len(),
    };
    let code = match text.split_once("//") {
        Some((code, _)) if code.trim_end().len() > skipped => code,
        _ => text,
    };
    let end = code.trim_end().len().max(skipped);
    range(source, bytes.start + skipped..bytes.start + end)
}

/// Where the word at a line and a column is.
pub(super) fn word(source: &SourceText, line: usize, column: usize) -> Range {
    let bytes = source.line(line.saturating_sub(1));
    let text = &source.text()[bytes.clone()];
    let start = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let is_part = |character: &char| character.is_alphanumeric() || "_$%.".contains(*character);
    let length = text[start..].chars().take_while(is_part).map(char::len_utf8).sum::<usize>();
    range(source, bytes.start + start..bytes.start + start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_units_of_utf_16() {
        // One unit, one unit, two units.
        let source = SourceText::new("k", "aä€𝄞b // c\n  next");
        let at = source.text().find('b').unwrap_or_default();
        let found = range(&source, at..at + 1);
        assert_eq!((found.start, found.end), (Position::new(0, 5), Position::new(0, 6)));
        assert_eq!(offset(&source, found.start), at);
        // Within the two units of one character, and behind everything.
        assert_eq!(offset(&source, Position::new(0, 4)), at);
        assert_eq!(offset(&source, Position::new(7, 7)), source.text().len());
        assert_eq!(offset(&source, Position::new(1, u32::MAX)), source.text().len());
    }

    #[test]
    fn statements_end_before_comments() {
        let source = SourceText::new("k", "\tädd x; // c\n// d\n");
        assert_eq!(statement(&source, 1, None), Range::new(Position::new(0, 1), Position::new(0, 7)));
        assert_eq!(statement(&source, 1, Some(6)), Range::new(Position::new(0, 5), Position::new(0, 7)));
        assert_eq!(statement(&source, 2, None), Range::new(Position::new(1, 0), Position::new(1, 4)));
        assert_eq!(statement(&source, 99, None).start, Position::new(2, 0));
        assert_eq!(word(&source, 1, 2), Range::new(Position::new(0, 1), Position::new(0, 4)));
        assert_eq!(word(&source, 9, 9).start, word(&source, 9, 9).end);
    }
}
