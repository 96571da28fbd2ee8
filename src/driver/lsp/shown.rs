//! A report, as an editor shows it.
//!
//! Input: the JSON report of a document. Output: its diagnostics, and the verdicts of its kernels. Establishes: every finding,
//! reason and error of the report is shown, in the document: those whose lines are in other files where the kernel begins, with
//! these lines as related places. Relies on: `report`. Reference: Language Server Protocol 3.17, "Diagnostic".

use super::document::{Document, Kind};
use super::lens::{self, Verdict};
use super::report::{Found, InputError, Kernel, Loop, Place, Report};
use super::syntax::diagnostic_of;
use super::{cuda, position, uri};
use crate::report::source::{SourceFiles, SourceText};
use lsp_types::{Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is shown of a report.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) verdicts: Vec<Verdict>,
    /// Heads of loops in the document, and what was inferred of each.
    pub(super) loops: Vec<(Range, String)>,
}

impl Shown {
    /// What a report says of a document.
    ///
    /// # Errors
    /// It is no report.
    pub(super) fn read(document: &Document, json: &[u8]) -> Result<Shown, String> {
        let report: Report = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let mut view = View::of(document);
        let diagnostics = report.errors.iter().flat_map(|error| view.input_error(error)).collect();
        let mut shown = Shown { diagnostics, ..Shown::default() };
        for kernel in &report.kernels {
            let entry = view.entry(&kernel.entry, kernel.demangled.as_deref());
            shown.diagnostics.extend(view.kernel(kernel, entry));
            shown.verdicts.push(Verdict::of(kernel, entry));
            shown.loops.extend(kernel.invariants.iter().filter_map(|one| view.invariants(one, kernel)));
        }
        Ok(shown)
    }

    /// A failed verification, which is a bug of ours: it is not to be taken for one without findings.
    pub(super) fn failure(message: &str) -> Shown {
        let message = format!("gpuvcc gave no report: {message}");
        let severity = DiagnosticSeverity::ERROR;
        let failure = diagnostic_of(Range::default(), severity, "internal-error", message, Vec::new());
        Shown { diagnostics: vec![failure], ..Shown::default() }
    }
}

/// Finds places for a document.
struct View<'a> {
    document: &'a Document,
    /// Without links, to compare it.
    path: Option<PathBuf>,
    files: SourceFiles,
}

impl<'a> View<'a> {
    fn of(document: &'a Document) -> Self {
        let path = document.path.as_deref().and_then(|path| std::fs::canonicalize(path).ok());
        View { document, path, files: SourceFiles::beside(document.source.name()) }
    }

    fn entry(&self, entry: &str, demangled: Option<&str>) -> Range {
        lens::entry(self.document.kind, &self.document.source, entry, demangled)
    }

    fn is_document(&self, file: &Path) -> bool {
        self.path.is_some() && std::fs::canonicalize(file).ok() == self.path
    }

    /// The range in the document.
    fn here(&mut self, place: &Place) -> Option<Range> {
        if let Kind::Text(_) = self.document.kind {
            return Some(position::statement(&self.document.source, place.ptx_line, None));
        }
        let file: Arc<str> = place.file.as_deref()?.into();
        let path = self.files.path(&file);
        let is_here = self.is_document(Path::new(&path));
        let line = place.line.filter(|&line| line > 0 && is_here)?;
        Some(position::statement(&self.document.source, line, place.column))
    }

    /// The line of the source in another file, if that is at hand.
    fn elsewhere(&mut self, place: &Place) -> Option<Location> {
        let file: Arc<str> = place.file.as_deref()?.into();
        let line = place.line.filter(|&line| line > 0)?;
        let text = self.files.file(&file)?;
        let path = PathBuf::from(self.files.path(&file));
        if self.is_document(&path) || line > text.line_count() {
            return None;
        }
        Some(Location { uri: uri::of(&path)?, range: position::statement(&text, line, place.column) })
    }

    /// The head of a loop in the document, from its label on, and what was inferred of it.
    fn invariants(&mut self, one: &Loop, kernel: &Kernel) -> Option<(Range, String)> {
        let mut range = self.here(one.place.as_ref()?)?;
        let text = one.text(kernel)?;
        if let Kind::Text(_) = self.document.kind {
            let lines: Vec<&str> = self.document.source.text().lines().take(range.start.line as usize).collect();
            let is_before = |line: &&&str| {
                let line = line.trim();
                let is_directive = [".loc", ".pragma", "//"].iter().any(|word| line.starts_with(word));
                line.is_empty() || line.ends_with(':') || is_directive
            };
            let label = lines.len() - lines.iter().rev().take_while(is_before).count();
            if label < lines.len() {
                range.start = position::statement(&self.document.source, label + 1, None).start;
            }
        }
        Some((range, text))
    }

    /// The place in the document, and that in the source.
    fn related(&mut self, place: &Place, message: &str) -> Vec<DiagnosticRelatedInformation> {
        let uri = self.document.uri.clone();
        let here = self.here(place).map(|range| Location { uri, range });
        let both = here.into_iter().chain(self.elsewhere(place));
        both.map(|location| DiagnosticRelatedInformation { location, message: message.to_string() }).collect()
    }

    fn kernel(&mut self, kernel: &Kernel, entry: Range) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = kernel.findings.iter().map(|found| self.finding(found, entry)).collect();
        for reason in &kernel.reasons {
            let place = reason.place();
            let range = place.as_ref().and_then(|place| self.here(place)).unwrap_or(entry);
            let related = place.map(|place| self.related(&place, "here")).unwrap_or_default();
            let related = related.into_iter().filter(|one| one.location.range != range).collect();
            let severity = if kernel.known.is_some() { DiagnosticSeverity::HINT } else { DiagnosticSeverity::WARNING };
            let message = with_next(&reason.message, kernel);
            all.push(diagnostic_of(range, severity, &reason.code, message, related));
        }
        // A verdict that is not `verified` must be seen, also where no place belongs to it.
        if all.is_empty() && kernel.verdict != "verified" {
            let message = match kernel.conditions.as_slice() {
                [] => kernel.verdict.clone(),
                conditions => format!("verified when {}", conditions.join("; ")),
            };
            let is_proved = kernel.verdict == "verified-when";
            let severity = if is_proved { DiagnosticSeverity::INFORMATION } else { DiagnosticSeverity::WARNING };
            all.push(diagnostic_of(entry, severity, &kernel.verdict, with_next(&message, kernel), Vec::new()));
        }
        all
    }

    fn finding(&mut self, found: &Found, entry: Range) -> Diagnostic {
        let first = found.barrier.as_ref().or(found.accesses.first().map(|access| &access.place));
        let range = first.and_then(|place| self.here(place)).unwrap_or(entry);
        let mut related = Vec::new();
        if let Some(barrier) = &found.barrier {
            related.extend(self.related(barrier, "here"));
        }
        for access in &found.accesses {
            related.extend(self.related(&access.place, &access.text()));
        }
        for other in &found.related {
            related.extend(self.related(&other.place, &other.what));
        }
        let uri = &self.document.uri;
        // The place of the diagnostic itself is no news, unless it is that of both threads.
        related.retain(|one| one.message != "here" || one.location.range != range || one.location.uri != *uri);
        let severity = match (found.known.is_some(), found.confirmed) {
            (true, _) => DiagnosticSeverity::HINT,
            (false, true) => DiagnosticSeverity::ERROR,
            (false, false) => DiagnosticSeverity::WARNING,
        };
        diagnostic_of(range, severity, &found.code, found.text(), related)
    }

    /// Errors that a compiler prints have lines.
    fn input_error(&mut self, error: &InputError) -> Vec<Diagnostic> {
        let of_compiler: Vec<Diagnostic> = error.notes.iter().filter_map(|note| self.compiler_error(note)).collect();
        if !of_compiler.is_empty() {
            return of_compiler;
        }
        let source = &self.document.source;
        let file = Path::new(&error.file);
        let is_text = matches!(self.document.kind, Kind::Text(_)) && self.is_document(file);
        let range = match (error.line.filter(|_| is_text), &error.entry) {
            (Some(line), _) => position::word(source, line, error.column.unwrap_or(1)),
            (None, Some(entry)) => self.entry(entry, None),
            (None, None) => position::statement(source, 1, None),
        };
        let lines = std::iter::once(&error.message).chain(&error.notes);
        let message = lines.map(String::as_str).collect::<Vec<_>>().join("\n");
        // What is wrong with another file is told here, since here is where it is missed.
        let other = std::fs::read_to_string(file).ok().filter(|_| !self.is_document(file));
        let related = other.zip(uri::of(file)).zip(error.line).map(|((text, uri), line)| {
            let range = position::statement(&SourceText::new(error.file.as_str(), text), line, error.column);
            DiagnosticRelatedInformation { location: Location { uri, range }, message: error.message.clone() }
        });
        vec![diagnostic_of(range, DiagnosticSeverity::ERROR, &error.code, message, related.into_iter().collect())]
    }

    fn compiler_error(&mut self, note: &str) -> Option<Diagnostic> {
        let error = cuda::compiler_error(note)?;
        let source = &self.document.source;
        let file: Arc<str> = error.file.into();
        let path = self.files.path(&file);
        let (range, related) = if self.is_document(Path::new(&path)) {
            (position::statement(source, error.line, error.column), Vec::new())
        } else {
            let text = self.files.file(&file)?;
            let uri = uri::of(Path::new(&path))?;
            let location = Location { uri, range: position::statement(&text, error.line, error.column) };
            let message = error.text.to_string();
            (position::statement(source, 1, None), vec![DiagnosticRelatedInformation { location, message }])
        };
        Some(diagnostic_of(range, DiagnosticSeverity::ERROR, "compiler", error.text.to_string(), related))
    }
}

fn with_next(message: &str, kernel: &Kernel) -> String {
    match &kernel.next {
        Some(next) => format!("{message}\n{next}"),
        None => message.to_string(),
    }
}
