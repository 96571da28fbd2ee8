//! Tokens to the untyped syntax tree.
//!
//! Input: text.
//! Output: the top-level constructs, and every syntax error (up to a bound).
//! Establishes: nothing but shape; a tree with errors lacks the statements that were skipped.
//! Relies on: `lexer`, and the parser generated from `grammar/ptx.lalrpop`.
//! Reference: PTX ISA, chapters "Syntax" and "Directives".

use super::lexer::{Token, Tokens};
use super::syntax::TopLevel;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use lalrpop_util::{ErrorRecovery, ParseError, lalrpop_mod};

lalrpop_mod!(
    #[allow(clippy::all, missing_docs)]
    #[rustfmt::skip]
    grammar,
    "/ptx.rs"
);

/// Ends parsing early: the bound on syntax errors is reached.
#[derive(Clone, Copy, Debug)]
pub struct TooManyErrors;

type Error<'a> = ParseError<usize, Token<'a>, TooManyErrors>;

/// Collects the errors from which the parser recovers.
#[derive(Debug)]
pub struct Recovery {
    errors: Vec<Diagnostic>,
    maximum: usize,
}

impl Recovery {
    /// Records an error; fails when there are enough.
    pub fn add<'a>(&mut self, recovered: ErrorRecovery<usize, Token<'a>, TooManyErrors>) -> Result<(), Error<'a>> {
        if let Some(diagnostic) = diagnose(&recovered.error) {
            self.errors.push(diagnostic);
        }
        if self.errors.len() < self.maximum { Ok(()) } else { Err(ParseError::User { error: TooManyErrors }) }
    }
}

/// Parses a whole file. The diagnostics are empty exactly when the tree is complete.
pub fn parse_syntax(text: &str, max_errors: usize) -> (Vec<TopLevel<'_>>, Vec<Diagnostic>) {
    let mut recovery = Recovery { errors: Vec::new(), maximum: max_errors };
    let mut tokens = Tokens::new(text, max_errors);
    let stream = tokens.by_ref().map(Ok::<_, TooManyErrors>);
    let result = grammar::ModuleParser::new().parse(text, &mut recovery, stream);
    let mut errors = recovery.errors;
    let module = match result {
        Ok(module) => module,
        Err(error) => {
            // A stream that the lexer gave up on, or whose last comment is open, ends too early; that
            // is no error of its own.
            let ended_early = matches!(error, ParseError::UnrecognizedEof { .. }) && !tokens.errors.is_empty();
            if !tokens.stopped() && !ended_early {
                errors.extend(diagnose(&error));
            }
            Vec::new()
        }
    };
    errors.append(&mut tokens.errors);
    errors.sort_by_key(|error| error.labels.first().map_or(0, |label| label.0.start));
    errors.truncate(max_errors);
    (module, errors)
}

fn diagnose(error: &Error<'_>) -> Option<Diagnostic> {
    match error {
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            let span = Span::new(*start, *end);
            let diagnostic = match token {
                Token::Dotted(word) if expects_directive(expected) => {
                    Diagnostic::error("unknown-directive", format!("unknown directive `{word}`"), span)
                }
                _ => Diagnostic::error("ptx-syntax", format!("unexpected {}", describe(token)), span),
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

fn describe(token: &Token<'_>) -> String {
    match token {
        Token::Annotation(_) => "annotation".to_string(),
        Token::Space(text)
        | Token::FunctionDirective(text)
        | Token::Dotted(text)
        | Token::Identifier(text)
        | Token::Integer(text)
        | Token::Float(text) => format!("`{text}`"),
        Token::Text(_) => "string".to_string(),
        Token::Section => "`.section`".to_string(),
        Token::ScopeOpen | Token::BraceOpen => "`{`".to_string(),
        Token::ScopeClose | Token::BraceClose => "`}`".to_string(),
        Token::BracketOpen => "`[`".to_string(),
        Token::BracketClose => "`]`".to_string(),
        Token::ParenOpen => "`(`".to_string(),
        Token::ParenClose => "`)`".to_string(),
        Token::Comma => "`,`".to_string(),
        Token::Semicolon => "`;`".to_string(),
        Token::Colon => "`:`".to_string(),
        Token::Equal => "`=`".to_string(),
        Token::Less => "`<`".to_string(),
        Token::Greater => "`>`".to_string(),
        other => format!("`{}`", operator(other)),
    }
}

/// The remaining tokens are single characters or directives named by their variant.
fn operator(token: &Token<'_>) -> String {
    match token {
        Token::Sink => "_".to_string(),
        Token::At => "@".to_string(),
        Token::Bang => "!".to_string(),
        Token::Bar => "|".to_string(),
        Token::Plus => "+".to_string(),
        Token::Minus => "-".to_string(),
        Token::Star => "*".to_string(),
        Token::Tilde => "~".to_string(),
        Token::Slash => "/".to_string(),
        Token::ShiftLeft => "<<".to_string(),
        Token::ShiftRight => ">>".to_string(),
        Token::Ampersand => "&".to_string(),
        Token::Caret => "^".to_string(),
        Token::AddressSize => ".address_size".to_string(),
        directive => format!(".{directive:?}").to_lowercase(),
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
        "v{" => "`{`".to_string(),
        "v}" => "`}`".to_string(),
        other => format!("`{other}`"),
    }
}
