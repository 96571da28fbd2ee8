//! The verdict above each kernel.
//!
//! Input: a document. Output: code lenses. Establishes: each kernel has one for each launch that is known, and one that says what
//! to do where there is no verdict. Relies on: `shown`. Reference: Language Server Protocol 3.17, "Code Lens Request".

use super::document::{Answer, Document, Kind};
use super::report::Kernel;
use super::{cuda, position};
use crate::report::locus::Locus;
use crate::report::source::SourceText;
use crate::report::text::launch_text;
use lsp_types::{CodeLens, Command, Range};

/// A verdict, and where its kernel begins.
#[derive(Debug)]
pub(super) struct Verdict {
    range: Range,
    text: String,
}

impl Verdict {
    pub(super) fn of(kernel: &Kernel, range: Range) -> Self {
        let mut text = kernel.verdict.clone();
        if !kernel.conditions.is_empty() {
            text = format!("{text}: {}", kernel.conditions.join("; "));
        }
        if !kernel.findings.is_empty() {
            let count = kernel.findings.len();
            text = format!("{text} ({count} finding{})", if count == 1 { "" } else { "s" });
        }
        if let Some(launched) = &kernel.launched {
            text = format!("{text} [{}, {}]", launch_text(&kernel.launch.geometry()), launched.from);
        }
        if let Some(known) = &kernel.known {
            text = format!("{text} (known: {known})");
        }
        Verdict { range, text }
    }
}

/// All of a document.
pub(super) fn all(document: &mut Document) -> Vec<CodeLens> {
    if let Answer::Known(shown) = &document.answer {
        return shown.verdicts.iter().map(|verdict| lens(verdict.range, &verdict.text)).collect();
    }
    let text = match document.answer {
        Answer::Pending => "verifying",
        _ => "save to verify",
    };
    let kernels = match document.kind {
        Kind::Text(_) => document.parsed().kernels.clone(),
        Kind::Cuda => cuda::kernels(document.source.text()),
    };
    kernels.iter().map(|kernel| lens(entry(document.kind, &document.source, kernel, None), text)).collect()
}

/// Where a kernel begins.
pub(super) fn entry(kind: Kind, source: &SourceText, entry: &str, demangled: Option<&str>) -> Range {
    let line = match kind {
        Kind::Text(_) => Locus::of_entry(entry, source).start.0,
        Kind::Cuda => cuda::line_of(source, demangled.unwrap_or(entry)),
    };
    position::statement(source, line, None)
}

/// It does nothing: what it says is all.
fn lens(range: Range, text: &str) -> CodeLens {
    let command = Command { title: format!("gpuvcc: {text}"), command: String::new(), arguments: None };
    CodeLens { range, command: Some(command), data: None }
}
