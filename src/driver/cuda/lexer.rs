//! Tokens of CUDA C++, as far as launches need them.
//!
//! Input: the text of a source file. Output: [`Token`]s with their places. Establishes: nothing is said about comments, texts
//! and directives other than `#define`. Relies on: nothing. Reference: C++ standard, "Lexical conventions".

use logos::{Lexer, Logos};
use std::ops::Range;

/// A token; texts are those of the source.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\\]+")]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(super) enum Token<'s> {
    /// A remark up to the end of a line.
    #[regex(r"//([^\n\\]|\\\r?\n|\\[^\n])*", allow_greedy = true)]
    Remark(&'s str),
    /// A line that starts with `#`, with those that continue it.
    #[regex(r"#([^\n\\]|\\\r?\n|\\[^\n])*", allow_greedy = true)]
    Directive(&'s str),
    #[regex(r#""([^"\\\n]|\\\r?\n|\\.)*"|'([^'\\\n]|\\.)'"#)]
    #[regex(r#"(u8|u|U|L)?R""#, raw)]
    Literal,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word(&'s str),
    #[regex(r"[0-9][0-9a-zA-Z_'.]*")]
    Number(&'s str),
    #[token("<<<")]
    Open,
    #[token(">>>")]
    Close,
    #[token("::")]
    Scope,
    #[regex(r"==|!=|<=|>=")]
    Comparison,
    #[regex(r"\+\+|--|[-+*/%&|^]=|<<=|>>=|and_eq|or_eq|xor_eq", priority = 10)]
    Change,
    #[regex(r".", |lexer| lexer.slice().chars().next().unwrap_or(' '), priority = 0)]
    Sign(char),
}

/// A text without escapes, `R"end(..)end"`: what starts it was read.
fn raw<'s>(lexer: &mut Lexer<'s, Token<'s>>) {
    let rest = lexer.remainder();
    let end = rest.split_once('(').and_then(|(name, _)| {
        let close = format!("){name}\"");
        Some(rest.find(&close)? + close.len())
    });
    lexer.bump(end.unwrap_or(rest.len()));
}

/// The tokens of a text; what is no token, and remarks, are left out.
pub(super) fn tokens(text: &str) -> Vec<(Token<'_>, Range<usize>)> {
    with_remarks(text).into_iter().filter(|(token, _)| !matches!(token, Token::Remark(_))).collect()
}

/// The same with remarks.
pub(super) fn with_remarks(text: &str) -> Vec<(Token<'_>, Range<usize>)> {
    Token::lexer(text).spanned().filter_map(|(token, range)| Some((token.ok()?, range))).collect()
}

/// The value of an integer literal without its suffix.
pub(super) fn integer(text: &str) -> Option<i64> {
    let plain: String = text.chars().filter(|c| *c != '\'').collect();
    let plain = plain.to_ascii_lowercase();
    let (radix, digits) = match plain.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None if plain.starts_with("0b") => (2, &plain[2..]),
        None if plain.len() > 1 && plain.starts_with('0') => (8, plain.as_str()),
        None => (10, plain.as_str()),
    };
    let number = digits.trim_end_matches(['u', 'l', 'z']);
    i64::from_str_radix(number, radix).ok()
}
