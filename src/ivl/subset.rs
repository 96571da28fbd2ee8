//! What Boogie 2 has and this language has not.
//!
//! Input: tokens of one declaration. Output: a diagnostic for each use, at its place, that names the feature.
//! Establishes: where there is none, the grammar's own errors are about syntax. Relies on: nothing; types and
//! functions outside the subset (`real`, `bv256`) are names here and found by the checker.
//! Reference: Boogie 2 (polymorphism, lambda, order, reals), Civl (`yield`, `par`, `async`, `{:layer}`).

use super::bv_names::MAX_WIDTH;
use super::token::{Spanned, Token};
use crate::diagnostic::Diagnostic;
use crate::span::Span;

/// The code of these errors.
pub(super) const CODE: &str = "ivl-subset";

/// Reports each use of what is not in the subset.
pub(super) fn scan(tokens: &[Spanned<'_>]) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut skip_to = 0;
    let mut in_call = false;
    for at in 0..tokens.len() {
        match tokens[at].1 {
            Token::Call => in_call = true,
            Token::Semicolon => in_call = false,
            _ => {}
        }
        if at < skip_to {
            continue;
        }
        if let Some((feature, length)) = feature(tokens, at, in_call) {
            let span = Span::new(tokens[at].0, tokens[at + length - 1].2);
            errors.push(error(feature, span));
            skip_to = at + length;
        }
    }
    errors
}

/// The diagnostic for one use.
pub(super) fn error(feature: impl std::fmt::Display, span: Span) -> Diagnostic {
    Diagnostic::error(CODE, message(feature), span)
}

/// What it says.
pub(super) fn message(feature: impl std::fmt::Display) -> String {
    format!("{feature}: outside the subset of Boogie that is supported")
}

/// The feature that begins at a token, and how many tokens its place covers.
fn feature(tokens: &[Spanned<'_>], at: usize, in_call: bool) -> Option<(&'static str, usize)> {
    let token = |index: usize| tokens.get(index).map(|(_, token, _)| *token);
    let before = at.checked_sub(1).and_then(token);
    Some(match token(at)? {
        Token::Real(_) => ("a real number", 1),
        Token::Integer(text) if text.parse::<i128>().is_err() => ("an integer literal beyond 127 bits", 1),
        Token::BitVector(text) if !width_in_range(text) => ("a bit-vector wider than 128 bits or of none", 1),
        Token::Divide => ("the division of reals `/`", 1),
        Token::Power => ("the power of reals `**`", 1),
        Token::Subtype => ("the partial order `<:`", 1),
        Token::Code => ("a code expression `|{ }|`", 1),
        Token::LeftParen if token(at + 1) == Some(Token::Var) => ("a `var` expression (let)", 2),
        Token::Call if token(at + 1) == Some(Token::Forall) => ("`call forall`", 2),
        Token::Star if in_call && wildcard(before, token(at + 1)) => ("a wildcard `*` in a call", 1),
        Token::Less if opens_type_parameters(before, tokens, at) => ("type parameters `<..>` (polymorphism)", 1),
        Token::Attribute(name) => (attribute(name)?, 1),
        Token::Identifier(word) if tokens[at].2 - tokens[at].0 == word.len() => (reserved(word)?, 1),
        _ => return None,
    })
}

fn width_in_range(literal: &str) -> bool {
    let width = literal.split_once("bv").and_then(|(_, width)| width.parse::<u32>().ok());
    width.is_some_and(|width| (1..=MAX_WIDTH).contains(&width))
}

/// A star that is no product, in a call.
fn wildcard(before: Option<Token<'_>>, after: Option<Token<'_>>) -> bool {
    matches!(before, Some(Token::LeftParen | Token::Comma | Token::Call | Token::RightBrace))
        && matches!(after, Some(Token::RightParen | Token::Comma | Token::Becomes))
}

/// `forall <`, `function f<`, or a map type `<a>[`.
fn opens_type_parameters(before: Option<Token<'_>>, tokens: &[Spanned<'_>], at: usize) -> bool {
    let declares =
        || matches!(tokens.first(), Some((_, Token::Function | Token::Procedure | Token::Implementation, _)));
    let no_list_yet = || !tokens[..at].iter().any(|(_, token, _)| *token == Token::LeftParen);
    let map = || {
        let after = tokens[at + 1..].iter().map(|(_, token, _)| *token);
        let mut rest = after.skip_while(|token| matches!(token, Token::Identifier(_) | Token::Comma));
        rest.next() == Some(Token::Greater) && rest.next() == Some(Token::LeftBracket)
    };
    match before {
        Some(Token::Forall | Token::Exists) => true,
        Some(Token::Identifier(_)) if declares() && no_list_yet() => true,
        Some(Token::Colon | Token::Is | Token::RightBracket | Token::LeftParen | Token::Comma) => map(),
        _ => false,
    }
}

/// Words that Boogie reserves for what is missing here.
fn reserved(word: &str) -> Option<&'static str> {
    Some(match word {
        "async" => "`async`",
        "complete" => "`complete`",
        "extends" => "`extends`",
        "finite" => "`finite`",
        "lambda" => "`lambda`",
        "par" => "`par`",
        "yield" => "`yield`",
        "RNE" | "RNA" | "RTP" | "RTN" | "RTZ" => "a rounding mode",
        "roundNearestTiesToEven" | "roundNearestTiesToAway" => "a rounding mode",
        "roundTowardPositive" | "roundTowardNegative" | "roundTowardZero" => "a rounding mode",
        _ => return None,
    })
}

/// Attributes that change what a declaration means. Others are kept as they are.
fn attribute(name: &str) -> Option<&'static str> {
    Some(match name {
        "datatype" | "constructor" => "an algebraic data type",
        "layer" | "yields" | "yield_invariant" => "a layer of Civl",
        "linear" | "linear_in" | "linear_out" => "a linear variable",
        _ => return None,
    })
}
