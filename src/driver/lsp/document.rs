//! A text that is open in the editor, with what is known of it.
//!
//! Input: what the client says of it. Output: its diagnostics. Establishes: an answer belongs to the text. Relies on: `syntax`.
//! Reference: Language Server Protocol 3.17, "Text Document Synchronization".

use super::shown::Shown;
use super::syntax::{self, Parsed};
use super::uri;
use crate::driver::input::Language;
use crate::ivl::Dialect;
use crate::report::source::SourceText;
use lsp_types::{Diagnostic, Uri};
use std::path::{Path, PathBuf};

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text(Language),
    /// A compiler reads it from its file.
    Cuda,
}

/// What is known of the kernels.
#[derive(Debug)]
pub(super) enum Answer {
    /// The text is not that of the file, or it is wrong.
    None,
    /// A verification waits, or runs.
    Pending,
    /// It has come to its end.
    Known(Shown),
}

pub(super) struct Document {
    pub(super) uri: Uri,
    /// Where it is saved.
    pub(super) path: Option<PathBuf>,
    pub(super) version: i32,
    pub(super) kind: Kind,
    pub(super) source: SourceText,
    /// What was read of the text; `None` since it changed.
    parsed: Option<Parsed>,
    pub(super) answer: Answer,
}

impl Document {
    /// `None`: it is in a language that is none of ours. Names say more than what an editor takes them for.
    pub(super) fn open(uri: Uri, language: &str, version: i32, text: &str) -> Option<Self> {
        let path = uri::path(&uri);
        let extension = path.as_deref().and_then(Path::extension).and_then(|extension| extension.to_str());
        let kind = match (extension.map(str::to_ascii_lowercase).as_deref(), language) {
            (Some("ptx"), _) => Kind::Text(Language::Ptx),
            (Some("ivl"), _) => Kind::Text(Language::Ivl(Dialect::Ivl)),
            (Some("bpl"), _) => Kind::Text(Language::Ivl(Dialect::Boogie)),
            (Some("cu"), _) => Kind::Cuda,
            // Those that include it are compiled.
            (Some("cuh" | "h" | "hpp"), _) => return None,
            (_, "ptx") => Kind::Text(Language::Ptx),
            (_, "ivl") => Kind::Text(Language::Ivl(Dialect::Ivl)),
            (_, "boogie") => Kind::Text(Language::Ivl(Dialect::Boogie)),
            _ => return None,
        };
        let name = path.as_deref().map_or_else(|| uri.as_str().to_string(), |path| path.display().to_string());
        let source = SourceText::new(name, text);
        Some(Document { uri, path, version, kind, source, parsed: None, answer: Answer::None })
    }

    /// The text is another one now; all that was known is gone.
    pub(super) fn change(&mut self, version: i32, text: &str) {
        self.version = version;
        self.source = SourceText::new(self.source.name().to_string(), text);
        self.parsed = None;
        self.answer = Answer::None;
    }

    /// Whether it was read since it changed.
    pub(super) fn is_read(&self) -> bool {
        self.parsed.is_some()
    }

    /// Errors of the text, and its kernels.
    pub(super) fn parsed(&mut self) -> &Parsed {
        self.parsed.get_or_insert_with(|| syntax::read(&self.uri, &self.source, self.kind))
    }

    /// The file to verify: that of the document, if the text has no errors and is the one that is saved there.
    pub(super) fn take_pending(&mut self) -> Option<PathBuf> {
        if !self.parsed().diagnostics.is_empty() {
            return None;
        }
        let path = self.path.as_deref()?;
        let saved = std::fs::read(path).ok()?;
        match std::str::from_utf8(&saved) {
            Ok(saved) => is_same(saved, self.source.text()).then(|| path.to_path_buf()),
            // The program says what is wrong with the file.
            Err(_) => Some(path.to_path_buf()),
        }
    }

    /// All that is to be shown.
    pub(super) fn diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut all = self.parsed().diagnostics.clone();
        if let Answer::Known(shown) = &self.answer {
            all.extend(shown.diagnostics.iter().cloned());
        }
        all
    }
}

/// Editors keep byte order marks and line ends for themselves.
fn is_same(saved: &str, text: &str) -> bool {
    fn lines(text: &str) -> impl Iterator<Item = &str> {
        text.strip_prefix('\u{feff}').unwrap_or(text).split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
    }
    lines(saved).eq(lines(text))
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn texts_are_the_same_but_for_line_ends() {
        assert!(is_same("\u{feff}a\r\nb\n", "a\nb\n"));
        assert!(!is_same("a\nb\n", "a\nb"));
        assert!(!is_same("a\nb", "a\nc"));
    }
}
