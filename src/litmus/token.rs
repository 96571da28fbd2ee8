//! Lexer of litmus tests.
//!
//! Input: the text behind the first line. Output: tokens with byte ranges, or a diagnostic. Establishes: comments (`(* *)`, which
//! nest, `/* */` and `//`) are gone; nesting of parentheses is bounded, as what works on conditions recurses. Relies on: nothing.
//! Reference: herd7's notation; words may have the `%`, `.` and `::` of PTX.

use crate::diagnostic::Diagnostic;
use crate::span::Span;
use logos::{FilterResult, Lexer, Logos};
use std::fmt;

/// How deep parentheses may nest.
const MAX_NESTING: usize = 200;
/// Longer tests have no answer.
const MAX_TOKENS: usize = 100_000;

/// A token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub(crate) enum Token<'input> {
    /// Never comes out of the lexer.
    #[token("(*", |lexer| nested(lexer))]
    #[token("/*", |lexer| plain(lexer))]
    Comment,
    #[token("aliases")]
    Aliases,
    #[token("exists")]
    Exists,
    #[token("false")]
    False,
    #[token("filter")]
    Filter,
    #[token("forall")]
    Forall,
    #[token("locations")]
    Locations,
    #[token("not")]
    NotWord,
    #[token("true")]
    True,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token("|")]
    Bar,
    #[token("@")]
    At,
    #[token("!")]
    Exclamation,
    #[token("~")]
    Tilde,
    #[token("/\\")]
    #[token("&&")]
    And,
    #[token("\\/")]
    #[token("||")]
    Or,
    #[token("=>")]
    Implies,
    #[token("=")]
    #[token("==")]
    Equal,
    #[token("!=")]
    #[token("<>")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[regex(r"[A-Za-z_%$][A-Za-z0-9_%$]*((\.|::)[A-Za-z0-9_%$]+)*", |lexer| lexer.slice())]
    Word(&'input str),
    #[regex(r"-?(0[xX][0-9A-Fa-f]+|[0-9]+)", |lexer| lexer.slice())]
    Integer(&'input str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Token::Comment => "(*",
            Token::Aliases => "aliases",
            Token::Exists => "exists",
            Token::False => "false",
            Token::Filter => "filter",
            Token::Forall => "forall",
            Token::Locations => "locations",
            Token::NotWord => "not",
            Token::True => "true",
            Token::LeftBrace => "{",
            Token::RightBrace => "}",
            Token::LeftParen => "(",
            Token::RightParen => ")",
            Token::LeftBracket => "[",
            Token::RightBracket => "]",
            Token::Semicolon => ";",
            Token::Colon => ":",
            Token::Comma => ",",
            Token::Bar => "|",
            Token::At => "@",
            Token::Exclamation => "!",
            Token::Tilde => "~",
            Token::And => "/\\",
            Token::Or => "\\/",
            Token::Implies => "=>",
            Token::Equal => "==",
            Token::NotEqual => "!=",
            Token::Less => "<",
            Token::LessEqual => "<=",
            Token::Greater => ">",
            Token::GreaterEqual => ">=",
            Token::Word(text) | Token::Integer(text) => text,
        };
        f.write_str(text)
    }
}

/// A token between its ends.
pub(crate) type Spanned<'input> = (usize, Token<'input>, usize);

/// The tokens of a text from a byte on.
///
/// # Errors
/// A character that begins no token, a comment without end.
pub(crate) fn lex(text: &str, from: usize) -> Result<Vec<Spanned<'_>>, Diagnostic> {
    let wrong = |message: &str, span: Span| Err(Diagnostic::error("litmus-syntax", message.to_string(), span));
    let (mut tokens, mut depth) = (Vec::new(), 0usize);
    for (token, range) in Token::lexer(&text[from..]).spanned() {
        let (start, end) = (from + range.start, from + range.end);
        let Ok(token) = token else {
            let what = if text[start..].starts_with("(*") || text[start..].starts_with("/*") {
                "a comment without its end"
            } else {
                "a character that has no meaning here"
            };
            return wrong(what, Span::new(start, end));
        };
        match token {
            Token::LeftParen | Token::Tilde | Token::NotWord | Token::Implies => depth += 1,
            Token::RightParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return wrong("the condition is nested too deeply", Span::new(start, end));
        }
        if tokens.len() == MAX_TOKENS {
            return wrong("the test is too long", Span::new(start, end));
        }
        tokens.push((start, token, end));
    }
    Ok(tokens)
}

/// Skips a comment that may have others inside.
pub(crate) fn nested<'input, T: Logos<'input, Source = str>>(lexer: &mut Lexer<'input, T>) -> FilterResult<(), T::Error>
where
    T::Error: Default,
{
    let (mut depth, mut at, bytes) = (1, 0, lexer.remainder().as_bytes());
    while depth > 0 {
        match bytes.get(at..at + 2) {
            Some(b"(*") => (depth, at) = (depth + 1, at + 2),
            Some(b"*)") => (depth, at) = (depth - 1, at + 2),
            Some(_) => at += 1,
            None => return FilterResult::Error(T::Error::default()),
        }
    }
    lexer.bump(at);
    FilterResult::Skip
}

fn plain<'input>(lexer: &mut Lexer<'input, Token<'input>>) -> FilterResult<(), ()> {
    match lexer.remainder().find("*/") {
        Some(at) => {
            lexer.bump(at + 2);
            FilterResult::Skip
        }
        None => FilterResult::Error(()),
    }
}
