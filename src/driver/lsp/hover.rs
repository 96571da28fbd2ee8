//! What an instruction or a code means, and what was inferred of a loop.
//!
//! Input: a document and a place in it. Output: the text of `gpuvcc explain`. Establishes: nothing. Relies on: `explain`.
//! Reference: Language Server Protocol 3.17, "Hover Request".

use super::document::{Answer, Document, Kind};
use super::position;
use crate::driver::input::Language;
use crate::ptx::table;
use crate::report::explain;
use lsp_types::{Diagnostic, Hover, HoverContents, MarkupContent, MarkupKind, NumberOrString, Position, Range};
use std::ops;

/// The codes of the diagnostics at a place, the loop whose head it is, and the instruction there.
pub(super) fn at(document: &mut Document, place: Position) -> Option<Hover> {
    let shown = document.diagnostics();
    let mut codes: Vec<&str> = Vec::new();
    for diagnostic in shown.iter().filter(|diagnostic| holds(diagnostic, place)) {
        if let Some(NumberOrString::String(code)) = &diagnostic.code
            && !codes.contains(&code.as_str())
        {
            codes.push(code);
        }
    }
    let mut pages: Vec<String> = codes.iter().filter_map(|code| explain::find(code)).map(explain::markdown).collect();
    if let Answer::Known(shown) = &document.answer {
        let is_here = |head: &Range| head.start.line <= place.line && place.line <= head.end.line;
        pages.extend(shown.loops.iter().filter(|(head, _)| is_here(head)).map(|(_, text)| text.clone()));
    }
    let instruction = instruction(document, place);
    let range = instruction.as_ref().map(|(range, _)| *range);
    pages.extend(instruction.map(|(_, page)| format!("```text\n{}\n```\n", page.trim_end())));
    let value = (!pages.is_empty()).then(|| pages.join("\n---\n\n"))?;
    Some(Hover { contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }), range })
}

fn holds(diagnostic: &Diagnostic, place: Position) -> bool {
    diagnostic.range.start <= place && place <= diagnostic.range.end
}

/// Where the opcode under a place is, and its page.
fn instruction(document: &Document, place: Position) -> Option<(Range, String)> {
    if document.kind != Kind::Text(Language::Ptx) {
        return None;
    }
    let bytes = word(document.source.text(), position::offset(&document.source, place));
    let line = document.source.line(document.source.line_index(bytes.start));
    let text = document.source.text();
    if text[line.start..bytes.start].contains("//") {
        return None;
    }
    let page = page(&text[bytes.clone()])?;
    Some((position::range(&document.source, bytes), page))
}

/// The page of an opcode with the modifiers that it has a page with: that of `atom.global` for `atom.global.nonsense`.
fn page(word: &str) -> Option<String> {
    let name = word.split('.').next().unwrap_or_default();
    table::rows_of(name)?;
    let mut asked = word.trim_end_matches('.');
    loop {
        match explain::page(asked) {
            Ok(page) => return Some(page),
            Err(_) => asked = asked.rsplit_once('.')?.0,
        }
    }
}

/// The word that holds a byte, with its dots.
fn word(text: &str, at: usize) -> ops::Range<usize> {
    let is_part = |character: &char| character.is_alphanumeric() || "._$%:".contains(*character);
    let before: usize = text[..at].chars().rev().take_while(is_part).map(char::len_utf8).sum();
    let behind: usize = text[at..].chars().take_while(is_part).map(char::len_utf8).sum();
    at - before..at + behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_have_pages_and_other_words_have_none() {
        for opcode in ["ld.global.u32", "bar.sync", "ret", "atom.global.nonsense", "trap", "mov."] {
            let page = page(opcode).unwrap_or_default();
            assert!(page.contains(opcode.split('.').next().unwrap_or_default()), "{opcode}: {page}");
        }
        for word in ["%ld", "", ".reg", "$loop", "race", "ld:"] {
            assert_eq!(page(word), None, "{word}");
        }
    }

    #[test]
    fn words_are_whole() {
        let text = "\u{e4} ld.u32\t%r1;";
        assert_eq!(&text[word(text, 5)], "ld.u32");
        assert_eq!(&text[word(text, text.find('%').unwrap_or_default() + 1)], "%r1");
        assert_eq!(word(text, text.len()), text.len()..text.len());
    }
}
