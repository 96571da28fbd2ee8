//! Directives of the preprocessor in the source of a host program.
//!
//! Input: tokens. Output: [`Directives`]: macros, and what stands in a part that may be left out. Establishes: where it may be left
//! out is told for each token; braces that do not match within such a part make the whole source unreliable. Relies on:
//! nothing. Reference: C++ standard, "Preprocessing directives".

use super::constants::{Tokens, is_type};
use super::lexer::{Token, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// A name that `#define` gives a meaning.
#[derive(Clone, Debug, Default)]
pub(super) struct Macro {
    /// How often it is defined, or its definition taken back.
    definitions: usize,
    has_parameters: bool,
    /// Whether all its bodies are expressions that neither declare nor change what they are given.
    is_expression: bool,
}

/// The directives of a source.
#[derive(Debug, Default)]
pub(super) struct Directives<'s> {
    macros: BTreeMap<&'s str, Macro>,
    /// Words in bodies of macros and in other directives than `#if`, with what stands beside them there.
    pub(super) bodies: Vec<Vec<(Token<'s>, std::ops::Range<usize>)>>,
    /// Tokens that a condition may leave out.
    conditional: Vec<bool>,
    /// Whether braces match within the parts of each condition.
    pub(super) braces_match: bool,
    /// Whether macros make names of others.
    pub(super) pastes: bool,
    /// Names of types that are declared.
    types: BTreeSet<&'s str>,
    /// Those of them that are classes.
    classes: BTreeSet<&'s str>,
}

impl<'s> Directives<'s> {
    pub(super) fn of(all: Tokens<'_, 's>) -> Directives<'s> {
        let mut directives = Directives { braces_match: true, types: typedefs(all), ..Directives::default() };
        // Open conditions: whether one counts, and the depth of braces where its part began.
        let (mut open, mut depth) = (Vec::<(bool, i64)>::new(), 0i64);
        for (at, (token, _)) in all.iter().enumerate() {
            match token {
                Token::Sign('{') => depth += 1,
                Token::Sign('}') => depth -= 1,
                Token::Directive(line) => match word_of(line) {
                    ("if" | "ifdef" | "ifndef", _) => open.push((!is_guard(all, at), depth)),
                    ("else" | "elif" | "elifdef" | "elifndef", _) => {
                        directives.braces_match &= open.last().is_none_or(|(_, start)| *start == depth);
                        open.last_mut().into_iter().for_each(|(counts, _)| *counts = true);
                    }
                    ("endif", _) => {
                        let (counts, start) = open.pop().unwrap_or((true, depth));
                        directives.braces_match &= !counts || start == depth;
                    }
                    ("define", rest) => directives.define(rest),
                    ("undef", rest) => directives.macros.entry(split_name(rest).0).or_default().definitions += 2,
                    (_, rest) => directives.bodies.push(tokens(rest)),
                },
                _ => {}
            }
            if let (Token::Word(name), Some((Token::Word(keyword), _))) = (token, at.checked_sub(1).map(|at| &all[at]))
                && ["struct", "class", "union", "enum", "typename", "using"].contains(keyword)
            {
                directives.types.insert(name);
                directives.classes.extend(["struct", "union"].contains(keyword).then_some(*name));
            }
            directives.conditional.push(open.iter().any(|(counts, _)| *counts));
        }
        directives
    }

    fn define(&mut self, rest: &'s str) {
        self.pastes |= rest.contains("##");
        let (name, text) = split_name(rest);
        let has_parameters = text.starts_with('(');
        let body = if has_parameters { text.find(')').map_or("", |end| &text[end + 1..]) } else { text };
        let body = tokens(body);
        let known = self.macros.entry(name).or_insert(Macro { is_expression: true, ..Macro::default() });
        known.definitions += 1;
        known.has_parameters |= has_parameters;
        known.is_expression &= is_expression(&body);
        self.bodies.push(body);
    }

    pub(super) fn is_macro(&self, name: &str) -> bool {
        self.macros.contains_key(name)
    }

    /// Whether a macro has one meaning throughout.
    pub(super) fn is_defined_once(&self, name: &str) -> bool {
        self.macros.get(name).is_some_and(|known| known.definitions == 1)
    }

    /// Whether what a macro is given may be declared or changed by it.
    pub(super) fn may_declare(&self, name: &str) -> bool {
        self.macros.get(name).is_some_and(|known| known.has_parameters && !known.is_expression)
    }

    /// Whether a name is that of a type.
    pub(super) fn is_type_of_source(&self, name: &str) -> bool {
        self.types.contains(name)
    }

    /// Whether a name is that of a structure: `class` is said of parameters of templates, too.
    pub(super) fn is_class_of_source(&self, name: &str) -> bool {
        self.classes.contains(name)
    }

    pub(super) fn is_conditional(&self, at: usize) -> bool {
        self.conditional.get(at).copied().unwrap_or(true)
    }
}

/// The names that `typedef` gives.
fn typedefs<'s>(all: Tokens<'_, 's>) -> BTreeSet<&'s str> {
    let statements = all.split(|(token, _)| *token == Token::Sign(';'));
    let typedefs = statements.filter(|statement| statement.iter().any(|token| token.0 == Token::Word("typedef")));
    let names = typedefs.filter_map(|statement| match statement.last() {
        Some((Token::Word(name), _)) => Some(*name),
        _ => None,
    });
    names.collect()
}

/// The word behind `#`, and what follows it.
fn word_of(line: &str) -> (&str, &str) {
    split_name(line[1..].trim_start())
}

/// `NAME rest`
pub(super) fn split_name(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len()))
}

/// The name and the text of `#define NAME text`.
pub(super) fn definition(line: &str) -> Option<(&str, &str)> {
    let ("define", rest) = word_of(line) else { return None };
    Some(split_name(rest))
}

pub(super) fn is_include(line: &str) -> bool {
    word_of(line).0 == "include"
}

/// `#ifndef NAME`, `#define NAME` at the start of a file.
fn is_guard(all: Tokens, at: usize) -> bool {
    let [(Token::Directive(first), _), (Token::Directive(second), _), ..] = all else { return false };
    let (("ifndef", name), Some((defined, text))) = (word_of(first), definition(second)) else { return false };
    at == 0 && split_name(name).0 == defined && text.trim().is_empty()
}

/// Whether tokens are arithmetic: types stand alone between brackets, and nothing is declared.
fn is_expression(body: Tokens) -> bool {
    let word = |at: usize| match body.get(at) {
        Some((Token::Word(word), _)) => Some(*word),
        _ => None,
    };
    let is_cast = |at: usize| {
        let back = (0..at).rev().find(|before| word(*before).is_none()).map(|before| body[before].0);
        let next = (at..body.len()).find(|after| word(*after).is_none()).map(|after| body[after].0);
        (back, next) == (Some(Token::Sign('(')), Some(Token::Sign(')')))
    };
    (0..body.len()).all(|at| match body[at].0 {
        Token::Word(name) if is_type(name) => is_cast(at),
        Token::Word(_) => at == 0 || word(at - 1).is_none(),
        Token::Number(_) | Token::Comparison => true,
        Token::Sign(sign) => "+-*/%<>()?:".contains(sign),
        _ => false,
    })
}
