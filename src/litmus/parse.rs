//! From the text of a litmus test to its tree.
//!
//! Input: text. Output: the name of the test and its [`Test`], or diagnostics with places. Establishes: the text fits
//! `grammar/litmus.lalrpop`. Relies on: nothing. Reference: herd7's notation of tests.

use super::ast::Test;
use super::grammar::TestParser;
use super::token::{Spanned, Token, lex};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use lalrpop_util::ParseError;
use std::fmt::Display;

/// The language that the first line names.
const LANGUAGE: &str = "PTX";

/// The name of a test, and what it says.
///
/// # Errors
/// What is wrong, at its place.
pub(crate) fn parse(text: &str) -> Result<(String, Test), Diagnostic> {
    let (name, after) = first_line(text)?;
    let body = initial_state(text, after)?;
    let tokens = lex(text, body)?;
    let stream = tokens.iter().map(|&(start, token, end)| Ok((start, token, end)));
    let test = TestParser::new().parse(stream).map_err(|error| unexpected(error, &tokens, text))?;
    Ok((name, test))
}

/// The name in the first line that is no comment, and where that line ends.
fn first_line(text: &str) -> Result<(String, usize), Diagnostic> {
    let start = skip_comments(text, 0);
    let line = text[start..].lines().next().unwrap_or("");
    let (end, line) = (start + line.len(), without_comment(line).trim_end());
    let (language, name) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if language != LANGUAGE {
        let span = Span::new(start, start + language.len());
        let wrong = Diagnostic::error("litmus-syntax", "a litmus test begins with the line `PTX NAME`", span);
        return Err(wrong.note("only tests in PTX are judged"));
    }
    match name.trim() {
        "" => Err(Diagnostic::error("litmus-syntax", "the test has no name", Span::new(start, start + line.len()))),
        name => Ok((name.to_string(), end)),
    }
}

/// A name has neither `//` nor `(*` in it.
fn without_comment(line: &str) -> &str {
    let end = ["//", "(*"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    &line[..end]
}

/// Where white space and comments from a byte on end.
fn skip_comments(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text[at..].trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        at = text.len() - rest.len();
        let end = match rest {
            _ if rest.starts_with("//") => rest.find('\n'),
            _ if rest.starts_with("(*") => rest.find("*)").map(|end| end + 2),
            _ if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
            _ => return at,
        };
        match end {
            Some(end) => at += end,
            None => return text.len(),
        }
    }
}

/// Where the initial state begins. Before it stand texts in quotes and herd7's lines of the form `Key=value`.
fn initial_state(text: &str, from: usize) -> Result<usize, Diagnostic> {
    let mut at = from;
    loop {
        at = skip_comments(text, at);
        let rest = &text[at..];
        let line = rest.lines().next().unwrap_or("");
        if rest.starts_with('{') {
            return Ok(at);
        } else if rest.starts_with('"') && rest[1..].contains('"') {
            at += 1 + rest[1..].find('"').unwrap_or(0) + 1;
        } else if line.split_once('=').is_some_and(|(key, _)| key.chars().all(|c| c.is_alphanumeric() || c == '_')) {
            at += line.len();
        } else {
            let span = Span::new(at.min(text.len()), at + line.len());
            return Err(Diagnostic::error(
                "litmus-syntax",
                "expected the initial state in braces, such as `{ x = 0; }`",
                span,
            ));
        }
    }
}

/// A syntax error as a diagnostic.
fn unexpected(error: ParseError<usize, Token<'_>, ()>, tokens: &[Spanned<'_>], text: &str) -> Diagnostic {
    let diagnostic = syntax_error("litmus-syntax", error, text);
    match tokens.iter().rev().find(|(_, token, _)| *token == Token::Semicolon) {
        // The usual slip: the table runs into the question.
        None => diagnostic.note("each line of the table ends with `;`"),
        Some(_) => diagnostic,
    }
}

/// What a parser met, and what it expected.
pub(crate) fn syntax_error<T: Display>(code: &'static str, error: ParseError<usize, T, ()>, text: &str) -> Diagnostic {
    let end = Span::new(text.len(), text.len());
    let (found, span, expected) = match error {
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            (format!("`{token}`"), Span::new(start, end), expected)
        }
        ParseError::ExtraToken { token: (start, token, end) } => {
            (format!("`{token}`"), Span::new(start, end), Vec::new())
        }
        ParseError::UnrecognizedEof { expected, .. } => ("the end of the text".to_string(), end, expected),
        ParseError::InvalidToken { .. } | ParseError::User { .. } => ("a character".to_string(), end, Vec::new()),
    };
    let diagnostic = Diagnostic::error(code, format!("unexpected {found}"), span);
    let words = |text: &String| match text.trim_matches('"') {
        "word" | "name" => "a name".to_string(),
        "integer" => "a number".to_string(),
        "text" => "a text".to_string(),
        other => format!("`{}`", other.replace("\\\\", "\\")),
    };
    let expected: Vec<String> = expected.iter().map(words).collect();
    match expected.split_last() {
        Some((last, [])) => diagnostic.label(format!("expected {last}")),
        Some((last, rest)) if rest.len() < 8 => diagnostic.label(format!("expected {} or {last}", rest.join(", "))),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn habits_of_herd_are_read() {
        let text = "(* a (note) *)\nPTX A-b+c.d  // name\n\"what it is\"\nCycle=Rfe PodWR\n{ int x = 0; [y] = 1; 0:r0 = 2; P1:r1 = 0 }\n\
                    P0@cta 0,gpu 0 | P1@cta 1, gpu 0;\n(* nothing *) | L0: ;\n st.weak [x], 1 | ld.weak r1, y ;\nlocations [x; 1:r1]\n\
                    exists (1:r1=1 /\\ not (x == 0 \\/ P1:r1 != 0x1))";
        let (name, test) = parse(text).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((name.as_str(), test.init.len(), test.threads.len(), test.rows.len()), ("A-b+c.d", 4, 2, 2));
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (text, at) in [
            ("C x\n{}", 0),
            ("PTX\n{}", 0),
            ("PTX a\nP0 ;", 6),
            ("PTX a\n{ x = }", 12),
            ("PTX a\n{ } P0@cta 0 ;\n st.weak x 1 ;\nexists (x=1)", 32),
            ("PTX a\n{ } P0@cta 0 ;\n", 21),
            ("PTX a\n{ } P0@cta 0 ;\n # ; exists (x=1)", 22),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.labels[0].0.start, at, "{text}: {error:?}");
        }
    }
}
