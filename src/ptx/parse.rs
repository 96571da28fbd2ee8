//! Tokens to the untyped syntax tree.
//!
//! Input: text.
//! Output: the top-level constructs with the places of function bodies, or the statements of one body, and every
//! syntax error (up to a bound). Bodies are parsed one by one, so that the tree of one is in memory at a time.
//! Establishes: nothing but shape; a tree with errors lacks the statements that were skipped.
//! Relies on: `lexer`, and the parser generated from `grammar/ptx.lalrpop`.
//! Reference: PTX ISA, chapters "Syntax" and "Directives".

use super::lexer::{Token, Tokens};
use super::syntax::{BodyText, Statement, TopLevel};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use lalrpop_util::{ErrorRecovery, ParseError, lalrpop_mod};

lalrpop_mod!(
    #[allow(clippy::all, missing_docs, unreachable_pub)]
    #[rustfmt::skip]
    grammar,
    "/ptx.rs"
);

/// Ends parsing early: the bound on syntax errors is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooManyErrors;

type Error = ParseError<usize, Token, TooManyErrors>;

/// Collects the errors from which the parser recovers.
#[derive(Debug)]
pub(crate) struct Recovery<'a> {
    text: &'a str,
    errors: Vec<Diagnostic>,
    maximum: usize,
}

impl Recovery<'_> {
    /// Records an error; fails when there are enough.
    pub(crate) fn add(&mut self, recovered: ErrorRecovery<usize, Token, TooManyErrors>) -> Result<(), Error> {
        if let Some(diagnostic) = diagnose(self.text, &recovered.error) {
            self.errors.push(diagnostic);
        }
        if self.errors.len() < self.maximum { Ok(()) } else { Err(ParseError::User { error: TooManyErrors }) }
    }
}

/// Parses the module level of a file. The diagnostics are empty exactly when the tree is complete.
pub fn parse_module(text: &str, max_errors: usize) -> (Vec<TopLevel<'_>>, Vec<Diagnostic>) {
    let mut recovery = Recovery { text, errors: Vec::new(), maximum: max_errors };
    let mut tokens = Tokens::with_whole_bodies(text, max_errors);
    let stream = tokens.by_ref().map(Ok::<_, TooManyErrors>);
    let result = grammar::ModuleParser::new().parse(text, &mut recovery, stream);
    collect_errors(result, recovery, &mut tokens)
}

/// Parses one function body. The diagnostics are empty exactly when the tree is complete.
pub fn parse_body(body: BodyText<'_>, max_errors: usize) -> (Vec<Statement<'_>>, Vec<Diagnostic>) {
    let mut recovery = Recovery { text: body.file, errors: Vec::new(), maximum: max_errors };
    let mut tokens = Tokens::of_body(body, max_errors);
    let stream = tokens.by_ref().map(Ok::<_, TooManyErrors>);
    let result = grammar::BodyParser::new().parse(body.file, &mut recovery, stream);
    collect_errors(result, recovery, &mut tokens)
}

/// The errors of the parser and of the lexer in the order of their places, and the tree if there is one.
fn collect_errors<T>(
    result: Result<Vec<T>, Error>,
    recovery: Recovery<'_>,
    tokens: &mut Tokens<'_>,
) -> (Vec<T>, Vec<Diagnostic>) {
    let Recovery { text, mut errors, maximum } = recovery;
    let tree = match result {
        Ok(tree) => tree,
        Err(error) => {
            // A stream that the lexer gave up on, or whose last comment is open, ends too early; that
            // is no error of its own.
            let ended_early = matches!(error, ParseError::UnrecognizedEof { .. }) && !tokens.errors.is_empty();
            if !tokens.stopped() && !ended_early {
                errors.extend(diagnose(text, &error));
            }
            Vec::new()
        }
    };
    errors.append(&mut tokens.errors);
    errors.sort_by_key(|error| error.labels.first().map_or(0, |label| label.0.start));
    errors.truncate(maximum);
    (tree, errors)
}

/// What stands between the quotes of a string; of one that is not closed, which is an error, the rest of the line.
pub(crate) fn unquoted(text: &str) -> &str {
    let rest = text.strip_prefix('"').unwrap_or(text);
    rest.strip_suffix('"').unwrap_or(rest)
}

fn diagnose(text: &str, error: &Error) -> Option<Diagnostic> {
    match error {
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            let span = Span::new(*start, *end);
            let word = &text[*start..*end];
            let diagnostic = match token {
                Token::Dotted if expects_directive(expected) => {
                    Diagnostic::error("unknown-directive", format!("unknown directive `{word}`"), span)
                }
                _ => Diagnostic::error("ptx-syntax", format!("unexpected {}", describe(*token, word)), span),
            };
            Some(diagnostic.label(expectation(expected)))
        }
        ParseError::UnrecognizedEof { location, expected } => {
            let diagnostic =
                Diagnostic::error("ptx-syntax", "unexpected end of the file", Span::new(*location, *location));
            Some(diagnostic.label(expectation(expected)))
        }
        ParseError::InvalidToken { location } | ParseError::ExtraToken { token: (location, _, _) } => {
            Some(Diagnostic::error("ptx-syntax", "unexpected token", Span::new(*location, *location)))
        }
        ParseError::User { error: TooManyErrors } => None,
    }
}

/// Statements and top-level constructs may start with a directive; operands may not.
fn expects_directive(expected: &[String]) -> bool {
    expected.iter().any(|name| name.contains(".pragma"))
}

fn describe(token: Token, text: &str) -> String {
    match token {
        Token::Annotation => "annotation".to_string(),
        Token::Text => "string".to_string(),
        Token::Section => "`.section`".to_string(),
        Token::Body => "`{`".to_string(),
        _ => format!("`{text}`"),
    }
}

/// A short list of what could stand here; longer ones say nothing.
fn expectation(expected: &[String]) -> String {
    let mut names: Vec<String> = expected.iter().map(|name| readable(name)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() || names.len() > 8 {
        return String::new();
    }
    format!("expected {}", names.join(", "))
}

fn readable(name: &str) -> String {
    let name = name.trim_matches('"');
    match name {
        "annotation" => "an annotation".to_string(),
        "name" => "a name".to_string(),
        // All of these stand for "an operator"; duplicates go.
        "*" | "/" | "+" | "-" | "<<" | ">>" | "&" | "^" | "|" => "an operator".to_string(),
        "integer" => "an integer".to_string(),
        "float" => "a number".to_string(),
        "text" => "a string".to_string(),
        ".word" => "a type or modifier".to_string(),
        ".space" => "a state space".to_string(),
        ".functiondirective" => "a function directive".to_string(),
        "v{" | "body" => "`{`".to_string(),
        "v}" => "`}`".to_string(),
        other => format!("`{other}`"),
    }
}
