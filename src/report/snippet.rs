//! Messages with source lines under them, the one module that knows codespan-reporting.
//!
//! Input: a [`Message`] whose labels point into texts. Output: what a terminal shows.
//! Establishes: bounded output. Long lines are cut around the label, a label ends with its line,
//! control characters are replaced, and [`screen`] keeps many messages to one screen.
//! Relies on: nothing; places outside a text are moved into it.

use super::fit::fit;
use super::source::SourceText;
use codespan_reporting::diagnostic::{Diagnostic as Rendered, Label as RenderedLabel, Severity as RenderedSeverity};
use codespan_reporting::files::{Error as FilesError, Files};
use codespan_reporting::term::termcolor::{Ansi, ColorSpec, NoColor, WriteColor};
use codespan_reporting::term::{Config, DisplayStyle, Styles, StylesWriter, emit_to_write_style};
use std::ops::Range;

/// Characters of a source line that are shown; longer lines are cut around the label.
const WIDEST_LINE: usize = 140;
/// Characters shown before the label in a line that is cut.
const LEAD_IN: usize = 40;
/// Columns of a terminal in front of a source line or a note: line number, bar and spaces.
const GUTTER: usize = 9;
/// Characters of a message, a label or a note.
const LONGEST_TEXT: usize = 400;
/// Lines that [`screen`] fills.
const SCREEN: usize = 40;
/// Messages that [`screen`] shows.
const MOST_MESSAGES: usize = 20;

/// Grade of a message, which decides its first word and colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// A bad input or a confirmed defect.
    Error,
    /// A possible defect, something unsupported, or a warning.
    Warning,
}

/// A place in a text.
#[derive(Clone, Debug)]
pub(crate) struct Label<'a> {
    /// The text.
    pub(crate) source: &'a SourceText,
    /// Bytes.
    pub(crate) range: Range<usize>,
    /// What is there; may be empty.
    pub(crate) text: String,
    /// Whether the message is about this place more than about the others.
    pub(crate) primary: bool,
}

/// A message with places.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a> {
    /// Grade.
    pub(crate) level: Level,
    /// Stable code.
    pub(crate) code: &'static str,
    /// First line.
    pub(crate) title: String,
    /// Places.
    pub(crate) labels: Vec<Label<'a>>,
    /// Lines below.
    pub(crate) notes: Vec<String>,
    /// A command that shows it, never cut: half a command is none.
    pub(crate) replay: Option<String>,
}

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
    /// Characters of a line of the terminal; `None` where it is none, and lines are as long as they are.
    pub width: Option<usize>,
}

/// The colour of a verdict word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Proved.
    Green,
    /// Not proved.
    Yellow,
    /// Refuted.
    Red,
}

/// A word in bold colour, when the style has colours.
pub(crate) fn paint(word: &str, paint: Paint, style: Style) -> String {
    use codespan_reporting::term::termcolor::Color;
    let color = match paint {
        Paint::Green => Color::Green,
        Paint::Yellow => Color::Yellow,
        Paint::Red => Color::Red,
    };
    let mut spec = ColorSpec::new();
    spec.set_fg(Some(color)).set_bold(true);
    with_writer(style, |writer| {
        let _ = writer.set_color(&spec);
        let _ = writer.write_all(word.as_bytes());
        let _ = writer.reset();
    })
}

/// A message with its snippets, ending in an empty line.
pub(crate) fn render(message: &Message<'_>, style: Style) -> String {
    emit(message, style, DisplayStyle::Rich)
}

/// Many messages on one screen: as many as fit with their snippets, the others with one line each,
/// at most 20, then how many more there are.
pub(crate) fn screen(messages: &[Message<'_>], style: Style) -> String {
    let shown = &messages[..messages.len().min(MOST_MESSAGES)];
    let mut output = String::new();
    let mut lines_left = SCREEN;
    for (index, message) in shown.iter().enumerate() {
        let after = shown.len() - index;
        let rich = render(message, style);
        let height = rich.lines().count();
        if index == 0 || height + after <= lines_left {
            lines_left = lines_left.saturating_sub(height);
            output.push_str(&rich);
        } else {
            lines_left = lines_left.saturating_sub(1);
            output.push_str(&emit(message, style, DisplayStyle::Short));
        }
    }
    if messages.len() > shown.len() {
        output.push_str(&format!("... and {} more\n", messages.len() - shown.len()));
    }
    output
}

/// A text for one line of the terminal: without control characters, at most 400 characters.
pub(crate) fn printable(text: &str) -> String {
    text.split('\n').map(printable_line).collect::<Vec<_>>().join("\n")
}

fn printable_line(text: &str) -> String {
    let mut result: String = text.chars().take(LONGEST_TEXT).map(visible).collect();
    if text.chars().nth(LONGEST_TEXT).is_some() {
        result.push('…');
    }
    result
}

fn visible(character: char) -> char {
    match character {
        '\t' | '\n' => character,
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
    }
}

fn emit(message: &Message<'_>, style: Style, display_style: DisplayStyle) -> String {
    let widest = style.width.map_or(WIDEST_LINE, |width| width.saturating_sub(GUTTER).clamp(LEAD_IN, WIDEST_LINE));
    let mut excerpts: Vec<Excerpt> = Vec::new();
    let mut labels = Vec::new();
    // Lines enter an excerpt in order, whatever the order of the labels.
    for label in &message.labels {
        if !excerpts.iter().any(|excerpt| std::ptr::eq(excerpt.source, label.source)) {
            excerpts.push(Excerpt::of(label.source, &message.labels, widest));
        }
    }
    for label in &message.labels {
        let Some(file) = excerpts.iter().position(|excerpt| std::ptr::eq(excerpt.source, label.source)) else {
            continue;
        };
        let range = excerpts[file].translate(&label.range);
        let rendered =
            if label.primary { RenderedLabel::primary(file, range) } else { RenderedLabel::secondary(file, range) };
        labels.push(rendered.with_message(printable(&label.text)));
    }
    let severity = match message.level {
        Level::Error => RenderedSeverity::Error,
        Level::Warning => RenderedSeverity::Warning,
    };
    let replay = message.replay.iter().map(|command| "replay: ".chars().chain(command.chars()).map(visible).collect());
    let rendered = Rendered::new(severity)
        .with_code(message.code)
        .with_message(printable(&message.title))
        .with_labels(labels)
        .with_notes(
            message.notes.iter().map(|note| fit(&printable(note), style.width, GUTTER)).chain(replay).collect(),
        );
    let config = Config { display_style, ..Config::default() };
    let styles = Styles::default();
    with_writer(style, |writer| {
        let mut writer = StylesWriter::new(writer, &styles);
        if let Err(error) = emit_to_write_style(&mut writer, &config, &Excerpts(excerpts), &rendered) {
            panic!("report: codespan-reporting refused a message: {error}");
        }
    })
}

fn with_writer(style: Style, write: impl FnOnce(&mut dyn WriteColor)) -> String {
    let bytes = if style.color {
        let mut writer = Ansi::new(Vec::new());
        write(&mut writer);
        writer.into_inner()
    } else {
        let mut writer = NoColor::new(Vec::new());
        write(&mut writer);
        writer.into_inner()
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The labelled lines of a text, each cut to a readable width.
struct Excerpt<'a> {
    source: &'a SourceText,
    text: String,
    lines: Vec<ExcerptLine>,
}

/// A line of an excerpt, or a gap.
struct ExcerptLine {
    /// Line in the source, from 0.
    index: usize,
    /// Where it starts in the excerpt's text.
    start: usize,
    /// Bytes of the source that are shown.
    shown: Range<usize>,
    /// Bytes of the cut mark before them.
    mark: usize,
}

const CUT: &str = "…";

impl<'a> Excerpt<'a> {
    fn of(source: &'a SourceText, labels: &[Label<'a>], widest: usize) -> Self {
        let mut wanted: Vec<(usize, usize)> = labels
            .iter()
            .filter(|label| std::ptr::eq(label.source, source))
            .map(|label| (source.line_index(label.range.start), label.range.start))
            .collect();
        wanted.sort_unstable();
        wanted.dedup_by_key(|(line, _)| *line);
        let mut excerpt = Excerpt { source, text: String::new(), lines: Vec::new() };
        for (index, offset) in wanted {
            // Two empty lines make codespan-reporting draw a break instead of neighbours.
            if excerpt.lines.last().is_some_and(|last| last.index + 1 < index) {
                excerpt.gap(index - 1);
                excerpt.gap(index - 1);
            }
            excerpt.line(index, offset, widest);
        }
        excerpt
    }

    fn gap(&mut self, index: usize) {
        self.lines.push(ExcerptLine { index, start: self.text.len(), shown: 0..0, mark: 0 });
        self.text.push('\n');
    }

    fn line(&mut self, index: usize, offset: usize, widest: usize) {
        let line = self.source.line(index);
        let text = &self.source.text()[line.clone()];
        let mut shown = line.clone();
        if text.chars().nth(widest).is_some() {
            let before = &self.source.text()[line.start..offset.clamp(line.start, line.end)];
            let lead = before.char_indices().rev().nth(LEAD_IN - 1).map_or(0, |(at, _)| at);
            shown.start = line.start + lead;
            let rest = &self.source.text()[shown.clone()];
            shown.end = shown.start + rest.char_indices().nth(widest).map_or(rest.len(), |(at, _)| at);
        }
        let mark = if shown.start > line.start { CUT } else { "" };
        self.lines.push(ExcerptLine { index, start: self.text.len(), shown: shown.clone(), mark: mark.len() });
        self.text.push_str(mark);
        self.text.extend(self.source.text()[shown.clone()].chars().map(blank_control));
        if shown.end < line.end {
            self.text.push_str(CUT);
        }
        self.text.push('\n');
    }

    /// A range of the source as a range of the excerpt, ending with its first line.
    fn translate(&self, range: &Range<usize>) -> Range<usize> {
        let index = self.source.line_index(range.start);
        let Some(line) = self.lines.iter().rev().find(|line| line.index == index) else {
            return 0..0;
        };
        let at = |offset: usize| {
            line.start + line.mark + (offset.clamp(line.shown.start, line.shown.end) - line.shown.start)
        };
        at(range.start)..at(range.end.max(range.start))
    }
}

/// Control characters as spaces of the same length in bytes, so that offsets stay.
fn blank_control(character: char) -> char {
    match character {
        '\t' => '\t',
        _ if character.is_ascii_control() => ' ',
        _ if character.is_control() => '\u{a0}',
        _ => character,
    }
}

struct Excerpts<'a>(Vec<Excerpt<'a>>);

impl Excerpts<'_> {
    fn excerpt(&self, id: usize) -> Result<&Excerpt<'_>, FilesError> {
        self.0.get(id).ok_or(FilesError::FileMissing)
    }
}

impl<'files> Files<'files> for Excerpts<'files> {
    type FileId = usize;
    type Name = &'files str;
    type Source = &'files str;

    fn name(&'files self, id: usize) -> Result<&'files str, FilesError> {
        Ok(self.excerpt(id)?.source.name())
    }

    fn source(&'files self, id: usize) -> Result<&'files str, FilesError> {
        Ok(&self.excerpt(id)?.text)
    }

    fn line_index(&'files self, id: usize, offset: usize) -> Result<usize, FilesError> {
        Ok(self.excerpt(id)?.lines.partition_point(|line| line.start <= offset).saturating_sub(1))
    }

    fn line_range(&'files self, id: usize, index: usize) -> Result<Range<usize>, FilesError> {
        let excerpt = self.excerpt(id)?;
        let line =
            excerpt.lines.get(index).ok_or(FilesError::LineTooLarge { given: index, max: excerpt.lines.len() })?;
        Ok(line.start..excerpt.lines.get(index + 1).map_or(excerpt.text.len(), |next| next.start))
    }

    fn line_number(&'files self, id: usize, index: usize) -> Result<usize, FilesError> {
        let excerpt = self.excerpt(id)?;
        let line =
            excerpt.lines.get(index).ok_or(FilesError::LineTooLarge { given: index, max: excerpt.lines.len() })?;
        Ok(line.index + 1)
    }

    fn column_number(&'files self, id: usize, index: usize, offset: usize) -> Result<usize, FilesError> {
        let excerpt = self.excerpt(id)?;
        let line =
            excerpt.lines.get(index).ok_or(FilesError::LineTooLarge { given: index, max: excerpt.lines.len() })?;
        let within = offset.saturating_sub(line.start + line.mark);
        Ok(excerpt.source.line_column(line.shown.start + within).1)
    }
}
