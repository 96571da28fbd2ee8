//! Names that a source may change, or declare in a way that is not followed.
//!
//! Input: tokens. Output: [`Changes`]. Establishes: a variable that is in neither set has the value of its definition wherever it is
//! seen: where else it stands it is part of arithmetic, compared, or copied. Where control goes is not looked at.
//! Relies on: functions of the C library, launches and operators take copies. Reference: C++ standard, "Value category"; only a name
//! alone, between brackets or chosen by `?:` is a place that a reference can stand for.

use super::constants::{Tokens, is_type};
use super::directives::Directives;
use super::lexer::Token;
use std::collections::BTreeSet;

/// Functions that take copies of numbers.
const TAKES_COPIES: [&str; 10] = [
    "printf",
    "fprintf",
    "sizeof",
    "malloc",
    "calloc",
    "cudaMalloc",
    "cudaMallocManaged",
    "cudaMemcpy",
    "cudaMemset",
    "dim3",
];

/// Names of which something is not known.
#[derive(Debug, Default)]
pub(super) struct Changes<'s> {
    /// Those that something may change, unless they are constants.
    changed: BTreeSet<&'s str>,
    /// Those that a macro may declare, or a `using`.
    pub(super) hidden: BTreeSet<&'s str>,
    /// Whether operators may change what stands beside them.
    by_operators: bool,
}

/// What brackets around a name belong to.
#[derive(Clone, Copy, PartialEq)]
enum Around {
    /// A launch, or a function that takes copies.
    Copies,
    /// A macro that may declare or change what it is given.
    Macro,
    Other,
}

impl<'s> Changes<'s> {
    /// `declared` are the places where definitions that are followed have their names.
    pub(super) fn of(all: Tokens<'_, 's>, directives: &Directives<'s>, declared: &BTreeSet<usize>) -> Changes<'s> {
        let mut changes = Changes { by_operators: changes_by_operators(all, directives), ..Changes::default() };
        let mut open: Vec<(bool, Around)> = Vec::new();
        let mut launch_end = None;
        for (at, (token, _)) in all.iter().enumerate() {
            let around = open.last().map_or(Around::Other, |(_, around)| *around);
            match token {
                Token::Word(name) if !is_type(name) => {
                    changes.look_at(all, at, (name, around), declared.contains(&all[at].1.start));
                }
                Token::Open => open.push((true, Around::Copies)),
                Token::Close if open.last().is_some_and(|(is_launch, _)| *is_launch) => {
                    open.pop();
                    launch_end = Some(at + 1);
                }
                Token::Sign('(' | '{' | '[') if launch_end == Some(at) => open.push((false, Around::Copies)),
                Token::Sign('(' | '{' | '[') => open.push((false, around_of(all, at, around, directives))),
                Token::Sign(')' | '}' | ']') => drop(open.pop()),
                _ => {}
            }
        }
        for body in &directives.bodies {
            for (at, (token, _)) in body.iter().enumerate() {
                let Token::Word(name) = token else { continue };
                changes.look_at(body, at, (name, Around::Other), false);
                let sign = |at: Option<usize>| at.and_then(|at| body.get(at)).map(|token| token.0);
                let beside = [sign(at.checked_sub(1)), sign(Some(at + 1))];
                let is_read = |token: &Option<Token>| match token {
                    None | Some(Token::Comparison) => true,
                    Some(Token::Sign(sign)) => "+-*/%<>()?:".contains(*sign),
                    _ => false,
                };
                if !beside.iter().all(is_read) {
                    changes.hidden.insert(name);
                }
            }
        }
        changes
    }

    /// Whether something may change a variable.
    pub(super) fn may_change(&self, name: &str) -> bool {
        self.by_operators || self.changed.contains(name)
    }

    fn look_at(&mut self, all: Tokens<'_, 's>, at: usize, (name, around): (&'s str, Around), is_declared: bool) {
        let is_used = at.checked_sub(2).is_some_and(|word| {
            let start = all[..word].iter().rposition(|(token, _)| matches!(token, Token::Sign(';' | '{' | '}')));
            all[at - 1].0 == Token::Scope
                && all.get(start.map_or(0, |at| at + 1)).map(|t| t.0) == Some(Token::Word("using"))
        });
        if around == Around::Macro || is_used {
            self.hidden.insert(name);
        }
        if is_changed(all, at, around, is_declared) {
            self.changed.insert(name);
        }
    }
}

/// Whether an operator is declared that may change an integer: a reference that is not constant, to no class of the source.
fn changes_by_operators(all: Tokens, directives: &Directives) -> bool {
    let operators = (0..all.len()).filter(|at| all[*at].0 == Token::Word("operator"));
    let mut parameters = operators.map(|at| {
        let end = all[at..].iter().position(|(token, _)| matches!(token, Token::Sign('{' | ';')));
        &all[at..end.map_or(all.len(), |end| at + end)]
    });
    parameters.any(|parameters| {
        (2..parameters.len()).filter(|at| parameters[*at].0 == Token::Sign('&')).any(|at| {
            let Token::Word(name) = parameters[at - 1].0 else { return false };
            let before = parameters[at - 2].0;
            let is_class = directives.is_class_of_source(name);
            !is_class && !matches!(before, Token::Scope | Token::Word("const"))
        })
    })
}

/// `outside` is what is around these brackets, which belong to the same unless they are a function's.
fn around_of(all: Tokens, at: usize, outside: Around, directives: &Directives) -> Around {
    let word = |by: usize| match at.checked_sub(by).map(|at| all[at].0) {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    };
    match word(1) {
        Some(name) if TAKES_COPIES.contains(&name) || word(2) == Some("dim3") => Around::Copies,
        Some(name) if directives.may_declare(name) => Around::Macro,
        None if outside == Around::Macro => Around::Macro,
        _ => Around::Other,
    }
}

/// Whether a name may be changed at a place: assigned, incremented, read into, or as a place handed to what may keep it.
fn is_changed(all: Tokens, at: usize, around: Around, is_declared: bool) -> bool {
    let token = |at: Option<usize>| at.and_then(|at| all.get(at)).map(|token| token.0);
    let is_member = token(Some(at + 1)) == Some(Token::Sign('.'));
    let (before, after) = (token(at.checked_sub(1)), token(Some(at + if is_member { 3 } else { 1 })));
    let two_before = token(at.checked_sub(2));
    let is_and = (before, two_before) == (Some(Token::Sign('&')), Some(Token::Sign('&')));
    // Through a pointer to a member.
    let is_hidden_member = is_member && !matches!(token(Some(at + 2)), Some(Token::Word(_)));
    if is_hidden_member
        || matches!(after, Some(Token::Sign('=') | Token::Change)) && !is_declared
        || before == Some(Token::Change)
        || before == Some(Token::Sign('&')) && !is_and
        || (before, two_before) == (Some(Token::Sign('>')), Some(Token::Sign('>')))
    {
        return true;
    }
    let is_place =
        matches!(before, None | Some(Token::Sign('(' | ',' | '{' | '?' | ':' | '=') | Token::Word("return")))
            && matches!(after, None | Some(Token::Sign(')' | ',' | ';' | ':' | '}' | ']')));
    let is_copied = before == Some(Token::Sign('=')) && is_copied_into(all, at - 1);
    is_place && around != Around::Copies && !is_copied
}

/// Whether what is in front of `=` is a variable with a type that copies, or one that is assigned.
fn is_copied_into(all: Tokens, equals: usize) -> bool {
    let is_part = |token: &Token| matches!(token, Token::Word(_) | Token::Scope | Token::Sign('.'));
    let start = all[..equals].iter().rposition(|(token, _)| !is_part(token)).map_or(0, |at| at + 1);
    let words = &all[start..equals];
    let ends_type = |at: usize| matches!(words.get(at + 1), Some((Token::Word(_), _)));
    let copies = (0..words.len()).all(|at| match words[at].0 {
        Token::Word(word) if ends_type(at) => is_type(word),
        _ => true,
    });
    let before = start.checked_sub(1).map(|at| all[at].0);
    copies
        && !words.is_empty()
        && matches!(before, None | Some(Token::Sign(';' | '{' | '}' | ')' | '(') | Token::Directive(_)))
}
