//! What versions of Boogie after 2.4 have and this language has not.
//!
//! Input: tokens, and the place of one that the grammar does not take. Output: the name of the feature that stands there,
//! with its place. Establishes: nothing else; most of these words are plain names for Boogie 2.4, so they are looked for
//! only where a program is wrong otherwise. Relies on: [`super::subset`] for words that Boogie 2.4 reserves.
//! Reference: Boogie 3, its language reference: data types, `hideable` and `uses`, `pure`, Civl.

use super::subset;
use super::token::{Spanned, Token};
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// Words in front of a declaration, or instead of its first.
const DECLARATIONS: &[&str] =
    &["action", "atomic", "both", "datatype", "hideable", "left", "link", "pure", "right", "yield_invariant"];

/// Words that begin a clause of a procedure or an action.
const CLAUSES: &[&str] = &[
    "asserts",
    "creates",
    "decreases",
    "eliminates",
    "hides",
    "measure",
    "opaque",
    "preserves",
    "refines",
    "reveals",
    "uses",
];

/// Words that begin a statement.
const STATEMENTS: &[&str] = &["hide", "pop", "push", "reveal"];

/// The error about the feature at a token that the grammar does not take.
pub(super) fn error(tokens: &[Spanned<'_>], at: usize) -> Option<Diagnostic> {
    let (feature, place) = feature(tokens, at)?;
    let (start, _, end) = tokens[place];
    Some(subset::error(feature, Span::new(start, end)))
}

/// The feature, and where it stands.
fn feature(tokens: &[Spanned<'_>], at: usize) -> Option<(String, usize)> {
    let token = |index: usize| tokens.get(index).map(|(_, token, _)| *token);
    let before = at.checked_sub(1).and_then(token);
    let word = |known: &[&str], token: Option<Token<'_>>| match token {
        Some(Token::Identifier(word)) => known.contains(&word),
        Some(Token::Atomic) => known.contains(&"atomic"),
        _ => false,
    };
    let found = token(at)?;
    let here = |text: String| Some((text, at));
    match found {
        Token::Identifier("is") => return here("the test `is` of a data type".to_string()),
        Token::Identifier(_) | Token::Atomic if word(DECLARATIONS, Some(found)) && is_declaration_start(before) => {
            return here(match found {
                Token::Identifier("datatype") => "an algebraic data type".to_string(),
                other => format!("`{other}`"),
            });
        }
        Token::Identifier(_) if word(CLAUSES, Some(found)) => return here(format!("`{found}`")),
        Token::Attribute(_) => {
            if let Some(word) = before.filter(|before| takes_no_attribute(*before)) {
                return here(format!("an attribute of `{word}`"));
            }
        }
        Token::Greater if before == Some(Token::Minus) && tokens[at - 1].2 == tokens[at].0 => {
            return Some(("a field `->` of a data type".to_string(), at - 1));
        }
        Token::Minus if token(at + 1) == Some(Token::Greater) && tokens[at].2 == tokens[at + 1].0 => {
            return here("a field `->` of a data type".to_string());
        }
        Token::Bar => return here("a parallel call `|`".to_string()),
        Token::Invariant => return here("an `invariant` of a procedure".to_string()),
        Token::Call if matches!(before, Some(Token::Requires | Token::Ensures | Token::Invariant)) => {
            return here("a `call` in a contract".to_string());
        }
        Token::LeftParen if matches!(before, Some(Token::Identifier(_))) && unpacks(tokens, at) => {
            return Some(("the unpacking of a data type".to_string(), at - 1));
        }
        _ => {}
    }
    let second = at.checked_sub(2).and_then(token);
    let begins = word(STATEMENTS, before) && is_statement_start(second);
    begins.then(|| (format!("`{}`", tokens[at - 1].1), at - 1))
}

fn is_declaration_start(before: Option<Token<'_>>) -> bool {
    match before {
        Some(Token::Identifier(word)) => DECLARATIONS.contains(&word),
        before => matches!(before, None | Some(Token::Semicolon | Token::RightBrace | Token::Atomic)),
    }
}

fn is_statement_start(before: Option<Token<'_>>) -> bool {
    matches!(before, Some(Token::Semicolon | Token::LeftBrace | Token::RightBrace | Token::Colon))
}

fn takes_no_attribute(word: Token<'_>) -> bool {
    matches!(word, Token::If | Token::Else | Token::While | Token::Goto | Token::Return | Token::Havoc | Token::Break)
}

/// `C(x, y) :=`
fn unpacks(tokens: &[Spanned<'_>], open: usize) -> bool {
    let mut depth = 0usize;
    for (index, (_, token, _)) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::LeftParen => depth += 1,
            Token::RightParen if depth == 1 => return tokens.get(index + 1).is_some_and(|t| t.1 == Token::Becomes),
            Token::RightParen => depth -= 1,
            Token::Semicolon => return false,
            _ => {}
        }
    }
    false
}
