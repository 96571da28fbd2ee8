//! Reading input files.
//!
//! Input: a file name. Output: its text with the language it is in, or one diagnostic.
//! Establishes: the text is UTF-8 without NUL bytes and byte order mark, and short enough for spans.

use crate::diagnostic::{Diagnostic, Severity};
use crate::report::source::SourceText;
use std::io::Read;
use std::path::Path;

/// Inputs larger than this are refused, in bytes.
const LARGEST_INPUT: u64 = 1 << 30;

/// The language of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// PTX.
    Ptx,
    /// The intermediate verification language.
    Ivl,
}

/// An input file.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name and text.
    pub source: SourceText,
    /// Its language.
    pub language: Language,
}

/// Reads a file; `-` is standard input.
pub fn read(name: &str) -> Result<Input, Diagnostic> {
    let (shown_name, bytes) = match name {
        "-" => ("<stdin>", read_all(std::io::stdin().lock())),
        _ => (name, read_file(Path::new(name))),
    };
    let bytes = bytes.map_err(|reason| unreadable(shown_name, &reason))?;
    if bytes.len() as u64 > LARGEST_INPUT {
        return Err(unreadable(shown_name, "larger than 1 GiB"));
    }
    if bytes.contains(&0) {
        return Err(unreadable(shown_name, "a binary file, not PTX text")
            .note("cubin and fatbin files hold machine code; `cuobjdump -ptx` extracts PTX where it is embedded"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        unreadable(shown_name, &format!("not UTF-8 text (from byte {at} on)"))
    })?;
    let text = text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text);
    let language = language(shown_name, &text);
    Ok(Input { source: SourceText::new(shown_name, text), language })
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|error| error_text(&error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err("a directory, not a file".to_string());
    }
    read_all(file)
}

/// Reads one byte more than allowed, so that endless devices end too.
fn read_all(reader: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    reader.take(LARGEST_INPUT + 1).read_to_end(&mut bytes).map_err(|error| error_text(&error))?;
    Ok(bytes)
}

/// The system's message without its "(os error N)".
fn error_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((message, _)) => message.to_lowercase(),
        None => text,
    }
}

fn unreadable(name: &str, reason: &str) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        code: "input-unreadable",
        message: format!("cannot read `{name}`: {reason}"),
        labels: Vec::new(),
        notes: Vec::new(),
    }
}

/// By the extension; otherwise PTX is what starts with a directive (`.version`).
fn language(name: &str, text: &str) -> Language {
    match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("ptx") => Language::Ptx,
        Some("ivl" | "bpl") => Language::Ivl,
        _ if first_code(text).starts_with('.') => Language::Ptx,
        _ => Language::Ivl,
    }
}

/// The text from its first character that is neither space nor comment.
fn first_code(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let after = if rest.starts_with("//") {
            rest.find('\n').map(|at| &rest[at..])
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| &rest[at + 2..])
        } else {
            return rest;
        };
        rest = after.unwrap_or("").trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_follows_the_extension_then_the_text() {
        assert_eq!(language("k.ptx", "procedure"), Language::Ptx);
        assert_eq!(language("k.bpl", ".version"), Language::Ivl);
        assert_eq!(language("<stdin>", "// c\n/* .. */ .version 8.0"), Language::Ptx);
        assert_eq!(language("<stdin>", "// c\nprocedure p();"), Language::Ivl);
        assert_eq!(language("<stdin>", "/* open"), Language::Ivl);
    }
}
