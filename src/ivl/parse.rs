//! From text to a checked program.
//!
//! Input: IVL text. Output: a [`Program`] with resolved names and right types, or diagnostics.
//! Establishes: what [`super::check`] checks. Relies on: nothing.
//! Reference: Boogie 2 syntax; the kernel language of the lock-step paper, section 3.1.
//!
//! The text is cut at the words that begin a declaration and each piece is parsed for itself, so
//! one run reports the first error of every declaration. As in Boogie, jumps are looked at once syntax
//! is right, names once jumps are, and types once names are: errors of one kind make others.

use super::ast::*;
use super::check;
use super::desugar::{self, Desugared};
use super::directives;
use super::grammar::DeclarationParser;
use super::left_out;
use super::modifies::{self, Inferred};
use super::newer;
use super::subset;
use super::surface::{Declaration, ParseError};
use super::token::{Dialect, MAX_ERRORS, Spanned, Token, lex};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Parses, resolves and type-checks a program. Structured statements become blocks, accesses of
/// arrays become loads and stores, constants such as `tid.x` are declared where a kernel uses them
/// undeclared, synonyms of types stand no more, and no variable hides another.
pub fn parse(text: &str) -> Result<Program, Vec<Diagnostic>> {
    parse_dialect(text, Dialect::Ivl)
}

/// As [`parse`], for a text in which only the words of the dialect are reserved.
pub fn parse_dialect(text: &str, dialect: Dialect) -> Result<Program, Vec<Diagnostic>> {
    Ok(read(text, dialect, false)?.0)
}

/// As [`parse_dialect`], where procedures may leave out what they modify; with what was left out.
pub fn parse_inferring(text: &str, dialect: Dialect) -> Result<(Program, Inferred), Vec<Diagnostic>> {
    read(text, dialect, true)
}

fn read(text: &str, dialect: Dialect, infers_modifies: bool) -> Result<(Program, Inferred), Vec<Diagnostic>> {
    let text = match dialect {
        Dialect::Boogie => directives::run(text)?,
        Dialect::Ivl => Cow::Borrowed(text),
    };
    let tokens = lex(&text, dialect)?;
    let mut declarations = Vec::new();
    let mut errors = Vec::new();
    for range in pieces(&tokens) {
        let missing = subset::scan(&tokens[range.clone()]);
        if !missing.is_empty() {
            errors.extend(missing);
        } else {
            match parse_piece(&tokens, range, text.len()) {
                Ok(declaration) => declarations.push(declaration),
                Err(error) => errors.push(error),
            }
        }
        if errors.len() >= MAX_ERRORS {
            errors.truncate(MAX_ERRORS);
            break;
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let Desugared { mut program, mut synonyms, errors } = desugar::run(declarations);
    let (jumps, errors): (Vec<_>, Vec<_>) = errors.into_iter().partition(|error| error.code == "ivl-label");
    if !jumps.is_empty() {
        return Err(jumps);
    }
    left_out::run(&mut program, &mut synonyms);
    let inferred = if infers_modifies { modifies::infer(&mut program) } else { Inferred::new() };
    check::elaborate(&mut program, synonyms, &tokens, errors)?;
    Ok((program, inferred))
}

/// Parses one expression over the given variables.
pub fn parse_expr(text: &str, variables: &BTreeMap<Name, Type>) -> Result<ExprRef, Vec<Diagnostic>> {
    let mut tokens = lex(text, Dialect::Ivl)?;
    let missing = subset::scan(&tokens);
    if !missing.is_empty() {
        return Err(missing);
    }
    tokens.insert(0, (0, Token::Axiom, 0));
    tokens.push((text.len(), Token::Semicolon, text.len()));
    let length = tokens.len();
    match parse_piece(&tokens, 0..length, text.len()).map_err(|e| vec![e])? {
        Declaration::Axiom(condition) if condition.attributes.is_empty() => {
            check::expression(&condition.expr, variables)
        }
        _ => {
            let span = Span::new(0, text.len());
            Err(vec![Diagnostic::error("ivl-syntax", "an expression has no attributes", span)])
        }
    }
}

/// Ranges of tokens, each from one declaration's first word to the next one's.
fn pieces(tokens: &[Spanned<'_>]) -> Vec<std::ops::Range<usize>> {
    let mut starts = Vec::new();
    let mut depth = 0usize;
    let mut uses_end = 0;
    for (index, (_, token, _)) in tokens.iter().enumerate() {
        match token {
            // `uses { axiom e; }`, which is refused as a whole.
            Token::Identifier("uses") => uses_end = uses_end.max(end_of_braces(tokens, index + 1)),
            _ if index < uses_end => {}
            Token::LeftBrace | Token::Code | Token::Attribute(_) => depth += 1,
            Token::RightBrace => depth = depth.saturating_sub(1),
            // Never inside anything else: a new start even where a brace is missing.
            Token::Procedure | Token::Implementation | Token::Function | Token::Axiom | Token::Const | Token::Type => {
                depth = 0;
                starts.push(index);
            }
            // `(var x := e; ..)` is an expression.
            Token::Var if index > 0 && tokens[index - 1].1 == Token::LeftParen => {}
            Token::Var | Token::Shared | Token::Global if depth == 0 => starts.push(index),
            _ => {}
        }
    }
    if starts.first() != Some(&0) && !tokens.is_empty() {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Behind the braces that open at a token; the token itself where none do.
fn end_of_braces(tokens: &[Spanned<'_>], open: usize) -> usize {
    if tokens.get(open).is_none_or(|(_, token, _)| *token != Token::LeftBrace) {
        return open;
    }
    let mut depth = 0usize;
    for (index, (_, token, _)) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::LeftBrace | Token::Attribute(_) => depth += 1,
            Token::RightBrace if depth == 1 => return index + 1,
            Token::RightBrace => depth -= 1,
            _ => {}
        }
    }
    open
}

fn parse_piece(
    tokens: &[Spanned<'_>],
    range: std::ops::Range<usize>,
    text_end: usize,
) -> Result<Declaration, Diagnostic> {
    let piece = tokens[range.clone()].iter().map(|&(start, token, end)| Ok((start, token, end)));
    DeclarationParser::new().parse(piece).map_err(|error| {
        let error = syntax_error(error, tokens.get(range.end), text_end);
        let start = error.labels.first().map_or(0, |(span, _)| span.start as usize);
        let at = tokens.partition_point(|(other, ..)| *other < start);
        // The words around may belong to a declaration that is not of this language.
        newer::error(&tokens[..range.end.max(at + 1).min(tokens.len())], at).unwrap_or(error)
    })
}

fn syntax_error(error: ParseError<'_>, after: Option<&Spanned<'_>>, text_end: usize) -> Diagnostic {
    let (found, span, expected) = match error {
        ParseError::User { error } => return Diagnostic::error(error.code, error.message, error.span),
        ParseError::UnrecognizedToken { token, expected } => (Some(token.1), Span::new(token.0, token.2), expected),
        ParseError::ExtraToken { token } => (Some(token.1), Span::new(token.0, token.2), Vec::new()),
        ParseError::UnrecognizedEof { expected, .. } => match after {
            Some(&(start, token, end)) => (Some(token), Span::new(start, end), expected),
            None => (None, Span::new(text_end, text_end), expected),
        },
        ParseError::InvalidToken { location } => (None, Span::new(location, location), Vec::new()),
    };
    let name = found.map_or("the end of the text".to_string(), |token| format!("`{token}`"));
    let mut diagnostic = Diagnostic::error("ivl-syntax", format!("unexpected {name}"), span);
    let expected = describe_expected(&expected);
    if !expected.is_empty() {
        diagnostic = diagnostic.label(format!("expected {expected}"));
    }
    match found {
        Some(Token::Implies | Token::Explies) => diagnostic.note("`==>` and `<==` mix only with parentheses"),
        Some(Token::And | Token::Or) => diagnostic.note("`&&` and `||` mix only with parentheses"),
        // A declaration's first word is more likely the end of an unfinished one than a name.
        Some(
            Token::Procedure | Token::Implementation | Token::Function | Token::Axiom | Token::Const | Token::Type,
        ) => diagnostic,
        Some(token) if super::token::is_keyword_token(token) && expected.contains("identifier") => {
            diagnostic.note(format!("`{token}` is a keyword; as a name it is written `\\{token}`"))
        }
        _ => diagnostic,
    }
}

/// The expected tokens as a phrase; operators, and the first words of
/// expressions and statements, count as one each.
fn describe_expected(expected: &[String]) -> String {
    const OPERATORS: &[&str] =
        &["<==>", "==>", "<==", "&&", "||", "==", "!=", "<", "<=", ">", ">=", "++", "+", "-", "*", "div", "mod", "["];
    const EXPRESSION: &[&str] = &["true", "false", "integer", "bit-vector", "identifier", "(", "!", "-", "old", "if"];
    const STATEMENT: &[&str] = &[
        "assert",
        "assume",
        "atomic",
        "barrier",
        "break",
        "call",
        "fence",
        "free",
        "goto",
        "havoc",
        "identifier",
        "if",
        "return",
        "while",
    ];
    let mut tokens: Vec<&str> = expected.iter().map(|t| t.trim_matches('"')).collect();
    let mut phrases = Vec::new();
    let mut fold = |tokens: &mut Vec<&str>, group: &[&str], phrase: &str, least: usize| {
        if group.iter().filter(|t| tokens.contains(t)).count() >= least {
            tokens.retain(|t| !group.contains(t));
            phrases.push(phrase.to_string());
        }
    };
    fold(&mut tokens, STATEMENT, "a statement", 12);
    fold(&mut tokens, EXPRESSION, "an expression", 8);
    fold(&mut tokens, OPERATORS, "an operator", 4);
    phrases.extend(tokens.iter().map(|t| match *t {
        "identifier" => "an identifier".to_string(),
        "integer" => "an integer".to_string(),
        "bit-vector" => "a bit-vector literal".to_string(),
        "string" => "a string".to_string(),
        "attribute" => "an attribute `{:name}`".to_string(),
        token => format!("`{token}`"),
    }));
    match phrases.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}
