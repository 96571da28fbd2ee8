//! Input texts by line, and the source files that `.loc` directives name.

use crate::diagnostic::Diagnostic;
use crate::span::{SourcePosition, Span};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Source files larger than this are not read for a snippet, in bytes.
const LARGEST_SOURCE: u64 = 64 << 20;

/// A text with its name, indexed by line.
#[derive(Clone, Debug)]
pub struct SourceText {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

impl SourceText {
    /// Indexes a text; the name is the one that messages show.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1));
        SourceText { name: name.into(), text, line_starts }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of lines; at least 1.
    pub(crate) fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// Bytes of the line with this index (from 0), without its line end; empty beyond the last.
    pub(crate) fn line(&self, index: usize) -> Range<usize> {
        let Some(&start) = self.line_starts.get(index) else {
            return self.text.len()..self.text.len();
        };
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let end = if end > start && self.text.as_bytes()[end - 1] == b'\r' { end - 1 } else { end };
        start..end
    }

    /// Index (from 0) of the line that holds a byte offset.
    pub(crate) fn line_index(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let index = self.line_index(offset);
        let start = self.line_starts[index];
        let column = self.text.as_bytes()[start..offset.clamp(start, self.text.len())]
            .iter()
            // Continuation bytes of UTF-8 start no character.
            .filter(|&&byte| byte & 0xc0 != 0x80)
            .count();
        (index + 1, column + 1)
    }

    /// Line and column of a diagnostic's first place; `None` when no input text belongs to it.
    pub fn place_of(&self, diagnostic: &Diagnostic) -> Option<(usize, usize)> {
        let (span, _) = diagnostic.labels.iter().find(|(span, _)| *span != Span::NONE)?;
        Some(self.line_column(self.range(*span).start))
    }

    /// The bytes of a span, cut to the text and to character boundaries.
    pub(crate) fn range(&self, span: Span) -> Range<usize> {
        let boundary = |offset: u32| {
            let mut at = (offset as usize).min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(span.start);
        start..boundary(span.end).max(start)
    }
}

/// Source files of one input file, read when first asked for.
///
/// A file is looked for as `.file` spells it, relative to the folder of the input, then relative to
/// the working directory, then by its last name in the folder of the input.
#[derive(Debug)]
pub(crate) struct SourceFiles {
    folder: PathBuf,
    /// Each with where it lies.
    read: BTreeMap<Arc<str>, Option<(Arc<SourceText>, PathBuf)>>,
}

impl SourceFiles {
    /// Source files for an input file.
    pub(crate) fn beside(input: &str) -> Self {
        let folder = Path::new(input).parent().map(Path::to_path_buf).unwrap_or_default();
        SourceFiles { folder, read: BTreeMap::new() }
    }

    /// The file and the bytes of the statement at a position; `None` when the file is not at hand or
    /// has no such line.
    pub(crate) fn place(&mut self, position: &SourcePosition) -> Option<(Arc<SourceText>, Range<usize>)> {
        let file = self.file(&position.file)?;
        let index = (position.line as usize).checked_sub(1)?;
        if index >= file.line_count() {
            return None;
        }
        let line = file.line(index);
        let text = &file.text()[line.clone()];
        let skipped = match position.column {
            0 => text.len() - text.trim_start().len(),
            column => text.char_indices().nth(column as usize - 1).map_or(0, |(at, _)| at),
        };
        let end = line.start + text.trim_end().len();
        let start = line.start + skipped;
        (start < end).then_some((file, start..end))
    }

    /// The file that `.file` spells so; `None` when it is not at hand.
    pub(crate) fn file(&mut self, name: &Arc<str>) -> Option<Arc<SourceText>> {
        self.found(name).map(|(file, _)| file)
    }

    /// Where the file that `.file` spells so lies; as it is spelled when it is not at hand.
    pub(crate) fn path(&mut self, name: &Arc<str>) -> String {
        self.found(name).map_or_else(|| name.to_string(), |(_, path)| path.to_string_lossy().into_owned())
    }

    fn found(&mut self, name: &Arc<str>) -> Option<(Arc<SourceText>, PathBuf)> {
        if let Some(known) = self.read.get(name) {
            return known.clone();
        }
        let path = Path::new(&**name);
        // Joining an absolute path gives that path.
        let mut candidates = vec![self.folder.join(path), path.to_path_buf()];
        candidates.extend(path.file_name().map(|last| self.folder.join(last)));
        let found = candidates.into_iter().find_map(|candidate| Some((read_source(&candidate)?, candidate)));
        let found = found.map(|(text, path)| (Arc::new(SourceText::new(&**name, text)), path));
        self.read.insert(name.clone(), found.clone());
        found
    }
}

/// The text of a regular file of reasonable size; a missing source is no error, only less to show.
fn read_source(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST_SOURCE {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let source = SourceText::new("t", "ab\r\nπx\n\nend");
        assert_eq!(source.line_count(), 4);
        assert_eq!(&source.text()[source.line(0)], "ab");
        assert_eq!(&source.text()[source.line(1)], "πx");
        assert_eq!(source.line(9), source.text().len()..source.text().len());
        assert_eq!(source.line_column(6), (2, 2));
        assert_eq!(source.line_column(8), (3, 1));
    }

    #[test]
    fn spans_never_leave_the_text_nor_split_a_character() {
        let source = SourceText::new("t", "aπ");
        assert_eq!(source.range(Span { start: 2, end: 900 }), 1..3);
        assert_eq!(source.range(Span { start: 50, end: 3 }), 3..3);
    }
}
