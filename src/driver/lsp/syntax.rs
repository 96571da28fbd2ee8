//! Errors of a text while one types.
//!
//! Input: a text. Output: its errors as diagnostics, and the names of its kernels. Establishes: whatever the text is, reading it
//! ends soon. Relies on: `pipeline`, the parsers of the program. Reference: none.

use super::document::Kind;
use super::position;
use crate::diagnostic::{Diagnostic, Severity};
use crate::driver::input::{Input, Language};
use crate::driver::pipeline;
use crate::jobs::{self, STACK};
use crate::limits::{self, Token};
use crate::report::source::SourceText;
use crate::span::Span;
use lsp_types::{
    Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri,
};
use std::thread::Builder;
use std::time::Duration;

/// Time to read a text; what takes longer is told by the verification.
const TIME: Duration = Duration::from_secs(10);

/// What was read of a text.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) diagnostics: Vec<Shown>,
    pub(super) kernels: Vec<String>,
}

/// Reads a text.
pub(super) fn read(uri: &Uri, source: &SourceText, kind: Kind) -> Parsed {
    let Kind::Text(language) = kind else { return Parsed::default() };
    let diagnostics = match kernels(source, language) {
        Ok(kernels) => return Parsed { diagnostics: Vec::new(), kernels },
        Err(diagnostics) => diagnostics,
    };
    Parsed { diagnostics: diagnostics.iter().map(|one| shown(one, uri, source)).collect(), kernels: Vec::new() }
}

/// The names of the kernels. Texts nest deeply, so it needs a large stack.
fn kernels(source: &SourceText, language: Language) -> Result<Vec<String>, Vec<Diagnostic>> {
    let input = Input::new(source.clone(), language);
    let parse = || limits::within(|| pipeline::parse(&input).map(|program| program.kernels()));
    let work = || jobs::guarded(|| limits::during(Some(Token::new(Some(TIME))), parse));
    let joined = std::thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, work).map_err(|error| error.to_string())?;
        thread.join().unwrap_or_else(|_| Err("the parser's thread ended".to_string()))
    });
    match joined {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => Ok(Vec::new()),
        Err(message) => Err(vec![Diagnostic::error("internal-error", message, Span::NONE)]),
    }
}

/// A diagnostic, with its further places as related ones.
fn shown(diagnostic: &Diagnostic, uri: &Uri, source: &SourceText) -> Shown {
    let mut places = diagnostic.labels.iter().filter(|(span, _)| *span != Span::NONE);
    let first = places.next();
    let range = first.map_or_else(Range::default, |(span, _)| position::of_span(source, *span));
    let related = places.map(|(span, text)| {
        let location = Location { uri: uri.clone(), range: position::of_span(source, *span) };
        DiagnosticRelatedInformation { location, message: text.clone() }
    });
    let label = first.map(|(_, label)| label).filter(|label| !label.is_empty());
    let lines = std::iter::once(&diagnostic.message).chain(label).chain(&diagnostic.notes);
    let severity = match diagnostic.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Unsupported | Severity::Warning => DiagnosticSeverity::WARNING,
    };
    let message = lines.map(String::as_str).collect::<Vec<_>>().join("\n");
    diagnostic_of(range, severity, diagnostic.code, message, related.collect())
}

/// A diagnostic of gpuvcc.
pub(super) fn diagnostic_of(
    range: Range,
    severity: DiagnosticSeverity,
    code: &str,
    message: String,
    related: Vec<DiagnosticRelatedInformation>,
) -> Shown {
    Shown {
        range,
        severity: Some(severity),
        code: Some(NumberOrString::String(code.to_string())),
        source: Some("gpuvcc".to_string()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Shown::default()
    }
}
