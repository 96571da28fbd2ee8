//! User errors as data with places. Every stage returns these; only `report` renders them.

use crate::span::Span;
use crate::words::{Word, known};
use serde::{Deserialize, Serialize};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// The input is wrong: exit code 2.
    Error,
    /// The input is right but has no sound model here: verdict `unsupported`, exit code 3.
    Unsupported,
    /// Worth knowing.
    Warning,
}

/// A message with places in the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Stable code, explained by `gpuvcc explain CODE`: `ptx-syntax`, `unknown-opcode`, ...
    #[serde(deserialize_with = "known")]
    pub code: Word,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// The places; the first is the primary one.
    pub labels: Vec<(Span, String)>,
    /// Further lines: what is allowed, what to do.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, code, message, span)
    }

    /// Something without a sound model, at a place.
    pub fn unsupported(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Unsupported, code, message, span)
    }

    /// An error of no place in an input.
    pub(crate) fn unplaced(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, code, message: message.into(), labels: Vec::new(), notes: Vec::new() }
    }

    fn new(severity: Severity, code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Diagnostic { severity, code, message: message.into(), labels: vec![(span, String::new())], notes: Vec::new() }
    }

    /// Sets the text at the primary place.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.1 = text.into();
        }
        self
    }

    /// Adds another place.
    pub(crate) fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }
}
