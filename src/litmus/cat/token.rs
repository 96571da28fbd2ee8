//! Lexer of the .cat language.
//!
//! Input: text. Output: tokens with byte ranges, or a diagnostic. Establishes: nesting is bounded, as what works on the tree
//! recurses. Relies on: nothing. Reference: herd7's manual, "The language of memory models". A name may have `-` and `.` inside.

use crate::diagnostic::Diagnostic;
use crate::litmus::token::nested;
use crate::span::Span;
use logos::Logos;
use std::fmt;

/// How deep expressions may nest.
const MAX_NESTING: usize = 200;
/// Longer models have no use.
const MAX_TOKENS: usize = 100_000;

/// Declares tokens with the texts that they are written as.
macro_rules! tokens {
    ($($text:literal $(| $other:literal)* => $variant:ident),* $(,)?) => {
        /// A token.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
        #[logos(skip r"[ \t\r\n\f\u{feff}]+")]
        #[logos(skip(r"//[^\n]*", allow_greedy = true))]
        pub(crate) enum Token<'input> {
            $(#[token($text)] $(#[token($other)])* $variant,)*
            /// Never comes out of the lexer.
            #[token("(*", |lexer| nested(lexer))]
            Comment,
            /// A `*` with an operand behind it.
            Times,
            #[regex(r"~[ \t]*acyclic")]
            NotAcyclic,
            #[regex(r"~[ \t]*empty")]
            NotEmpty,
            #[regex(r"~[ \t]*irreflexive")]
            NotIrreflexive,
            #[regex(r"[A-Za-z_][A-Za-z0-9_]*([.\-][A-Za-z0-9_]+)*", |lexer| lexer.slice())]
            Name(&'input str),
            #[regex(r#""[^"]*""#, |lexer| lexer.slice().trim_matches('"'))]
            Text(&'input str),
        }

        impl fmt::Display for Token<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Token::$variant => f.write_str($text),)*
                    Token::Comment => f.write_str("(*"),
                    Token::Times => f.write_str("*"),
                    Token::NotAcyclic => f.write_str("~acyclic"),
                    Token::NotEmpty => f.write_str("~empty"),
                    Token::NotIrreflexive => f.write_str("~irreflexive"),
                    Token::Name(text) => f.write_str(text),
                    Token::Text(text) => write!(f, "\"{text}\""),
                }
            }
        }
    };
}

tokens! {
    "acyclic" => Acyclic, "and" => And, "as" => As, "empty" => Empty, "flag" => Flag, "from" => From,
    "irreflexive" => Irreflexive, "let" => Let, "rec" => Rec, "show" => Show, "with" => With, "(" => LeftParen,
    ")" => RightParen, "[" => LeftBracket, "]" => RightBracket, "," => Comma, "=" => Is, "|" => Bar, ";" => Semicolon,
    "\\" => Backslash, "&" => Ampersand, "*" | "^*" => Star, "+" | "^+" => Plus, "?" | "^?" => Question, "^-1" => Inverse,
    "~" => Tilde, "0" => Zero,
}

/// A token between its ends.
pub(crate) type Spanned<'input> = (usize, Token<'input>, usize);

/// The tokens of a model.
///
/// # Errors
/// A character that begins no token, a comment without end, too deep nesting.
pub(crate) fn lex(text: &str) -> Result<Vec<Spanned<'_>>, Diagnostic> {
    let wrong = |message: &str, span: Span| Err(Diagnostic::error("model-syntax", message.to_string(), span));
    let (mut tokens, mut depth) = (Vec::new(), 0usize);
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span::new(range.start, range.end);
        let Ok(token) = token else {
            let is_comment = text[range.start..].starts_with("(*");
            return wrong(
                if is_comment { "a comment without its end" } else { "a character that has no meaning here" },
                span,
            );
        };
        match token {
            Token::LeftParen | Token::LeftBracket | Token::Tilde => depth += 1,
            Token::RightParen | Token::RightBracket => depth = depth.saturating_sub(1),
            // A statement ends what is open, also what `~` opened.
            Token::Let | Token::With | Token::Acyclic | Token::Empty | Token::Irreflexive | Token::Flag => depth = 0,
            _ => {}
        }
        if depth > MAX_NESTING {
            return wrong("the expression is nested too deeply", span);
        }
        if tokens.len() == MAX_TOKENS {
            return wrong("the model is too long", span);
        }
        let begins_operand =
            matches!(token, Token::Name(_) | Token::LeftParen | Token::LeftBracket | Token::Tilde | Token::Zero);
        if let Some((_, star @ Token::Star, _)) = tokens.last_mut()
            && begins_operand
        {
            *star = Token::Times;
        }
        tokens.push((range.start, token, range.end));
    }
    Ok(tokens)
}
