//! Names of constant values in the source of a host program.
//!
//! Input: tokens. Output: [`Constants`], and the values of expressions. Establishes: a value is given only where the source says
//! one: a name that is declared in another way, that a condition of the preprocessor may leave out, that something may change, or
//! that may mean something else in the class or namespace where it stands, has none. Values are numbers from 0 to 2^31 - 1 in
//! each step, so that no type changes them.
//! Relies on: [`Changes`]; headers that are included declare nothing in place of what the source does. Reference: C++ standard,
//! "Constant expressions", "Name lookup".

use super::changes::Changes;
use super::directives::{Directives, definition, is_include};
use super::expressions::{Reader, is_balanced, is_one, split, until_end};
use super::lexer::{Token, integer, tokens};
use std::collections::BTreeSet;

/// What a name means from a place on.
#[derive(Clone, Debug)]
struct Definition<'s> {
    name: &'s str,
    /// The braces around it, each by its number.
    scope: Vec<usize>,
    value: Option<Value>,
    /// Whether it stands directly in a class or namespace.
    is_member: bool,
    /// Whether it is an integer, of whatever value.
    is_integer: bool,
}

/// The value of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Integer(i64),
    /// That of a macro whose operators bind to what stands beside it, so only where it stands alone.
    Alone(i64),
    /// A `dim3`; sizes that are not constants are `None`.
    Sizes([Option<i64>; 3]),
}

/// What braces are around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Class,
    Namespace,
    Block,
}

/// The constants that are known where a reader is in the source.
#[derive(Debug, Default)]
pub(super) struct Constants<'s> {
    definitions: Vec<Definition<'s>>,
    changes: Changes<'s>,
    directives: Directives<'s>,
    /// Whether nothing that the source says can be relied on.
    is_unreliable: bool,
    /// Where the names stand that are defined already.
    read: BTreeSet<usize>,
    scope: Vec<usize>,
    kinds: Vec<Kind>,
    braces: usize,
    /// Round brackets that are open.
    brackets: usize,
}

/// Types of integers that hold what [`Value`] may be.
const INTEGERS: [&str; 11] =
    ["int", "unsigned", "signed", "long", "size_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint", "auto"];

/// Words beside types.
const MODIFIERS: [&str; 5] = ["static", "const", "constexpr", "inline", "std"];

/// Other types that the language has.
const OTHERS: [&str; 10] =
    ["dim3", "char", "short", "bool", "float", "double", "void", "volatile", "extern", "register"];

/// Words in front of a name that do not declare it.
const NO_TYPES: [&str; 7] = ["return", "else", "case", "new", "delete", "throw", "goto"];

/// Tokens with their places.
pub(super) type Tokens<'t, 's> = &'t [(Token<'s>, std::ops::Range<usize>)];

/// Whether a word is part of a type of the language.
pub(super) fn is_type(word: &str) -> bool {
    INTEGERS.contains(&word) || MODIFIERS.contains(&word) || OTHERS.contains(&word)
}

impl<'s> Constants<'s> {
    /// What is said anywhere is known before anything is read, since control flow is not followed.
    pub(super) fn new(all: Tokens<'_, 's>) -> Self {
        let mut first = Constants { directives: Directives::of(all), ..Constants::default() };
        (0..all.len()).for_each(|at| first.read(all, at));
        let Constants { definitions, read, directives, is_unreliable, .. } = first;
        let mut changes = Changes::of(all, &directives, &read);
        // Members are seen in front of their declaration, in classes that inherit them, and in functions elsewhere; what stands
        // in a namespace is seen where that is opened again.
        let is_other = |name: &str| definitions.iter().filter(|definition| definition.name == name).count() > 1;
        let members = definitions.iter().filter(|definition| definition.is_member);
        changes.hidden.extend(members.map(|definition| definition.name).filter(|name| is_other(name)));
        // Who gives words of the language another meaning is not followed.
        let has_other_words = definitions.iter().any(|definition| is_type(definition.name));
        let is_unreliable = is_unreliable || has_other_words || gives_other_type(all) || !directives.braces_match;
        Constants { changes, directives, is_unreliable, ..Constants::default() }
    }

    /// Reads what stands at a place.
    pub(super) fn read(&mut self, all: Tokens<'_, 's>, at: usize) {
        let rest = &all[at..];
        match rest[0].0 {
            Token::Sign('{') => {
                self.braces += 1;
                self.scope.push(self.braces);
                self.kinds.push(self.kind_of(&all[..at]));
            }
            Token::Sign('}') => {
                self.scope.pop();
                self.kinds.pop();
            }
            Token::Sign('(') => self.brackets += 1,
            Token::Sign(')') => self.brackets = self.brackets.saturating_sub(1),
            Token::Directive(line) => self.directive(line, at),
            Token::Word("enum") => self.names_between(rest, at, ('{', '}')),
            Token::Word("auto") if rest.get(1).is_some_and(|next| !matches!(next.0, Token::Word(_))) => {
                self.name_in_brackets(all, at);
                self.names_between(rest, at, ('[', ']'));
            }
            Token::Word(word) if is_type(word) => {
                self.name_in_brackets(all, at);
                self.declaration(all, at);
            }
            Token::Word(name) if !self.read.contains(&rest[0].1.start) => {
                let is_set = matches!(rest.get(1), Some((Token::Sign('=' | '{' | '(' | '['), _)));
                if is_set || declares(&all[..at]) || is_in_list(&all[..at]) {
                    self.define(name, None, at);
                }
                if self.directives.is_type_of_source(name) {
                    self.name_in_brackets(all, at);
                }
            }
            _ => {}
        }
    }

    fn define(&mut self, name: &'s str, value: Option<Value>, at: usize) {
        let is_member = self.brackets == 0 && matches!(self.kinds.last(), Some(Kind::Class | Kind::Namespace));
        let value = value.filter(|_| !self.directives.is_conditional(at));
        self.definitions.push(Definition { name, scope: self.scope.clone(), value, is_member, is_integer: false });
    }

    /// The same, where the name is declared at a place.
    fn declare(&mut self, (name, place): (&'s str, usize), value: Option<Value>, at: usize) {
        self.read.insert(place);
        self.define(name, value, at);
    }

    /// `enum { NAME, NAME = 3 }`, `auto [NAME, NAME] = ..`: values are not looked at.
    fn names_between(&mut self, rest: Tokens<'_, 's>, at: usize, (open, close): (char, char)) {
        let is_between = |token: &Token| match token {
            Token::Sign(sign) => *sign != open && !"{;".contains(*sign),
            _ => true,
        };
        let skipped = rest.iter().take_while(|(token, _)| is_between(token)).count();
        let names = &rest[skipped..];
        if names.first().is_none_or(|first| first.0 != Token::Sign(open)) {
            return;
        }
        for (token, place) in names.iter().take_while(|(token, _)| *token != Token::Sign(close)) {
            if let Token::Word(name) = token {
                self.declare((name, place.start), None, at);
            }
        }
    }

    /// `int (NAME) = 3`, which looks like a conversion but for where it stands.
    fn name_in_brackets(&mut self, all: Tokens<'_, 's>, at: usize) {
        let open = all[at + 1..].iter().take_while(|(token, _)| *token == Token::Sign('(')).count();
        let is_part = |token: &Token| matches!(token, Token::Word(_) | Token::Scope);
        let start = all[..at].iter().rposition(|(token, _)| !is_part(token)).map(|before| all[before].0);
        let is_start =
            matches!(start, None | Some(Token::Sign(';' | '{' | '}' | ':' | ')' | '(') | Token::Directive(_)));
        if let Some((Token::Word(name), place)) = all.get(at + 1 + open).filter(|_| open > 0 && is_start)
            && !is_type(name)
        {
            self.declare((name, place.start), None, at);
        }
    }

    /// `#define NAME expression`, of numbers and of such names. What has two meanings, or parameters, has no value.
    fn directive(&mut self, line: &'s str, at: usize) {
        // What a file declares in the midst of a function hides what is outside.
        self.is_unreliable |= is_include(line) && matches!(self.kinds.last(), Some(Kind::Block | Kind::Class));
        let Some((name, text)) = definition(line) else { return };
        let expression = tokens(text);
        let is_once = |name: &str| self.directives.is_defined_once(name);
        let is_known = |(token, _): &(Token, _)| !matches!(token, Token::Word(name) if !is_once(name));
        let is_constant = is_once(name)
            && !text.starts_with('(')
            && !self.directives.is_conditional(at)
            && expression.iter().all(is_known);
        let value = is_constant.then(|| self.value(&expression)).flatten().map(|value| match value {
            Value::Integer(number) if !is_one(&expression) => Value::Alone(number),
            value => value,
        });
        self.definitions.push(Definition { name, scope: Vec::new(), value, is_member: false, is_integer: false });
    }

    /// What is declared behind the last word of a type.
    fn declaration(&mut self, all: Tokens<'_, 's>, at: usize) {
        let [_, (Token::Word(name), place), ..] = &all[at..] else { return };
        if is_type(name) || self.read.contains(&place.start) {
            return;
        }
        let is_part = |token: &Token| matches!(token, Token::Word(_) | Token::Scope);
        let start = all[..at].iter().rposition(|(token, _)| !is_part(token)).map_or(0, |before| before + 1);
        // What stands in front may be part of the type, as in `decltype(x) const`.
        let before = start.checked_sub(1).map(|before| all[before].0);
        // A parameter is what callers say, and what a `for` declares ends with it.
        let is_start = matches!(before, None | Some(Token::Sign(';' | '{' | '}' | ':') | Token::Directive(_)));
        let words = all[start..=at].iter().filter_map(|(token, _)| match token {
            Token::Word(word) => Some(*word),
            _ => None,
        });
        let words: Vec<&str> = words.collect();
        let has = |word: &str| words.contains(&word);
        let is_constant = has("const") || has("constexpr");
        // Other files may change what they can see, and a constructor what each object has.
        let is_own = is_start
            && match self.kinds.last() {
                Some(Kind::Block) => true,
                Some(Kind::Class) => has("static") && is_constant,
                Some(Kind::Namespace) | None => has("static") || is_constant,
            };
        let types: Vec<&str> = words.into_iter().filter(|word| !MODIFIERS.contains(word)).collect();
        let declarators = &all[at + 1..];
        match types[..] {
            ["dim3"] => self.sizes(declarators, at, is_own),
            [_, ..] if types.iter().all(|word| INTEGERS.contains(word)) => {
                self.integers(declarators, at, (is_own.then_some(is_constant), !types.contains(&"auto")));
            }
            _ => {}
        }
    }

    /// `NAME = expression`, also with braces, and several of them. `constant` tells whether they are constants, if their values
    /// count; `are_integers`, whether their type says so.
    fn integers(&mut self, rest: Tokens<'_, 's>, at: usize, (constant, are_integers): (Option<bool>, bool)) {
        let mut declarators = rest;
        while let [(Token::Word(name), place), after @ ..] = declarators {
            let (part, end) = until_end(after);
            let value = match part {
                [(Token::Sign('='), _), expression @ ..] => self.integer(expression),
                [(Token::Sign('('), _), inside @ .., (Token::Sign(')'), _)]
                | [(Token::Sign('{'), _), inside @ .., (Token::Sign('}'), _)] => self.integer(inside),
                _ => None,
            };
            let value = value.filter(|_| constant.is_some_and(|is| is || !self.changes.may_change(name)));
            self.declare((name, place.start), value.map(Value::Integer), at);
            let is_variable = are_integers && !matches!(part, [(Token::Sign('(' | '['), _), ..]);
            self.definitions.last_mut().into_iter().for_each(|definition| definition.is_integer = is_variable);
            let Some(next) = next_declarator(after, end).filter(|_| self.brackets == 0) else { return };
            declarators = next;
        }
    }

    /// What follows `dim3`: `NAME(16, 16)`, `NAME{16}`, `NAME = dim3(16, 16)`, and several of them.
    fn sizes(&mut self, rest: Tokens<'_, 's>, at: usize, is_own: bool) {
        let mut declarators = rest;
        while let [(Token::Word(name), place), after @ ..] = declarators {
            let (part, end) = until_end(after);
            let value = match part {
                [(Token::Sign('='), _), expression @ ..] => self.value_as_sizes(expression),
                [(Token::Sign('(' | '{'), _), inside @ .., (Token::Sign(')' | '}'), _)] => self.list(inside),
                _ => None,
            };
            let value = value.filter(|_| is_own && !self.changes.may_change(name)).map(Value::Sizes);
            self.declare((name, place.start), value, at);
            let Some(next) = next_declarator(after, end).filter(|_| self.brackets == 0) else { return };
            declarators = next;
        }
    }

    /// Sizes between braces or brackets; those left out are 1, unless what stands there may be several, or a `dim3`.
    fn list(&self, inside: Tokens<'_, 's>) -> Option<[Option<i64>; 3]> {
        if !is_balanced(inside) {
            return None;
        }
        let mut sizes = [Some(1); 3];
        let parts: Vec<Tokens<'_, 's>> = split(inside).into_iter().filter(|part| !part.is_empty()).collect();
        for (size, part) in sizes.iter_mut().zip(&parts) {
            *size = self.integer(part);
        }
        let may_be_more = |(at, part): (usize, &Tokens<'_, 's>)| {
            sizes[at].is_none() && (self.may_be_several(part) || parts.len() == 1 && !self.is_number(part))
        };
        let is_list = parts.len() <= 3 && !parts.iter().enumerate().any(may_be_more);
        is_list.then_some(sizes)
    }

    /// Whether there may be commas in it, or may have been: a macro, arguments that are written out, or those of a template.
    fn may_be_several(&self, part: Tokens<'_, 's>) -> bool {
        let sign = |at: Option<usize>| at.and_then(|at| part.get(at)).map(|token| token.0);
        part.iter().enumerate().any(|(at, (token, _))| match token {
            Token::Word(name) => self.directives.is_macro(name) && self.named(name).is_none(),
            Token::Sign('.') => at + 1 == part.len(),
            // But for shifts.
            Token::Sign('<' | '>') => ![at.checked_sub(1), Some(at + 1)].map(sign).contains(&Some(*token)),
            Token::Sign(_) | Token::Number(_) | Token::Scope | Token::Comparison => false,
            _ => true,
        })
    }

    /// Whether an expression is a number, of whatever value: arithmetic of integers alone, for what others have operators is not
    /// known.
    fn is_number(&self, part: Tokens<'_, 's>) -> bool {
        let token = |at: Option<usize>| at.and_then(|at| part.get(at)).map(|token| token.0);
        let is_axis = |token: Option<Token>| matches!(token, Some(Token::Word("x" | "y" | "z")));
        let is_integer = |name: &str| {
            let is_seen = !self.is_unreliable && !self.changes.hidden.contains(name);
            is_seen && self.definition(name).is_some_and(|definition| definition.is_integer)
        };
        (0..part.len()).all(|at| match part[at].0 {
            Token::Word(name) => {
                let (before, after) = (token(at.checked_sub(1)), token(Some(at + 1)));
                match (before, after) {
                    (Some(Token::Sign('.')), _) => is_axis(Some(part[at].0)),
                    (_, Some(Token::Sign('.'))) => {
                        is_axis(token(Some(at + 2))) && matches!(self.named(name), Some(Value::Sizes(_)))
                    }
                    _ => is_integer(name) || matches!(self.named(name), Some(Value::Integer(_) | Value::Alone(_))),
                }
            }
            Token::Number(text) => integer(text).is_some(),
            Token::Sign(sign) => "+-*/%().<>".contains(sign),
            _ => false,
        })
    }

    /// The sizes that an expression gives a launch: a number is the first one.
    pub(super) fn value_as_sizes(&self, expression: Tokens<'_, 's>) -> Option<[Option<i64>; 3]> {
        match expression {
            [(Token::Word("dim3"), _), (Token::Sign('(' | '{'), _), inside @ .., (Token::Sign(')' | '}'), _)]
            | [(Token::Sign('{'), _), inside @ .., (Token::Sign('}'), _)] => self.list(inside),
            _ => match self.value(expression)? {
                Value::Integer(number) | Value::Alone(number) => Some([Some(number), Some(1), Some(1)]),
                Value::Sizes(sizes) => Some(sizes),
            },
        }
    }

    pub(super) fn integer(&self, expression: Tokens<'_, 's>) -> Option<i64> {
        match self.value(expression)? {
            Value::Integer(number) | Value::Alone(number) => Some(number),
            Value::Sizes(_) => None,
        }
    }

    fn value(&self, expression: Tokens<'_, 's>) -> Option<Value> {
        if let [(Token::Word(name), _)] = expression {
            return self.named(name);
        }
        Reader::new(self, expression).all().map(Value::Integer)
    }

    /// The value of a name here.
    pub(super) fn named(&self, name: &str) -> Option<Value> {
        // Names may be put together from others.
        let is_hidden = self.directives.pastes || self.changes.hidden.contains(name);
        let is_seen = !self.is_unreliable && (!is_hidden || self.directives.is_macro(name));
        self.definition(name).filter(|_| is_seen)?.value
    }

    /// What braces that open behind tokens are around: a class where that is not clear, as members are the less known.
    fn kind_of(&self, before: Tokens) -> Kind {
        let start = before.iter().rposition(|(token, _)| match token {
            Token::Sign(sign) => ";{}".contains(*sign),
            Token::Directive(_) => true,
            _ => false,
        });
        let head = &before[start.map_or(0, |at| at + 1)..];
        let words =
            || head.iter().filter_map(|(token, _)| if let Token::Word(word) = token { Some(*word) } else { None });
        let ends_function = match head.last().map(|last| last.0) {
            Some(Token::Word(word)) => ["const", "noexcept", "override", "mutable"].contains(&word),
            Some(Token::Sign(sign)) => sign != '>',
            _ => true,
        };
        if words().any(|word| word == "namespace") || matches!(head, [(Token::Word("extern"), _), (Token::Literal, _)])
        {
            Kind::Namespace
        } else if words().any(|word| ["class", "struct", "union"].contains(&word)) && !ends_function
            || words().any(|word| self.directives.is_macro(word))
        {
            Kind::Class
        } else {
            Kind::Block
        }
    }

    /// What a name means here: the innermost definition, of these the last.
    fn definition(&self, name: &str) -> Option<&Definition<'s>> {
        let seen = self.definitions.iter().filter(|definition| definition.name == name);
        let seen = seen.filter(|definition| self.scope.starts_with(&definition.scope));
        seen.max_by_key(|definition| definition.scope.len())
    }
}

/// Whether a name of an integer type is given to another type.
fn gives_other_type(all: Tokens) -> bool {
    let mut statements = all.split(|(token, _)| matches!(token, Token::Sign(';' | '{' | '}') | Token::Directive(_)));
    statements.any(|statement| match statement {
        [(Token::Word("using"), _), (Token::Word(name), _), (Token::Sign('='), _), ..] => is_type(name),
        [(Token::Word("typedef"), _), words @ .., (Token::Word(name), _)] => {
            let is_integer = |(token, _): &(Token, _)| matches!(token, Token::Word("unsigned" | "int" | "long"));
            is_type(name) && !words.iter().all(is_integer)
        }
        _ => false,
    })
}

/// Whether what stands before a name may declare it: a type, or the `&` of a reference.
fn declares(before: Tokens) -> bool {
    let word = |at: Option<usize>| match at.map(|at| before[at].0) {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    };
    match before.last().map(|last| last.0) {
        Some(Token::Word(word)) => !NO_TYPES.contains(&word),
        Some(Token::Sign('&') | Token::Close) => true,
        // An attribute.
        Some(Token::Sign(']')) => before.iter().rev().nth(1).is_some_and(|token| token.0 == Token::Sign(']')),
        // A type with arguments, which is not told apart from what is compared, or one made of an expression.
        Some(Token::Sign('>')) => word(opening(before, '<', '>')).is_some(),
        Some(Token::Sign(')')) => word(opening(before, '(', ')')).is_some_and(|word| {
            ["decltype", "typeof", "__typeof__", "__attribute__", "alignas", "__align__"].contains(&word)
        }),
        _ => false,
    }
}

/// Whether a name behind a comma may be one of several that are declared: `T a, NAME`.
fn is_in_list(before: Tokens) -> bool {
    if before.last().is_none_or(|last| last.0 != Token::Sign(',')) {
        return false;
    }
    let (mut depth, mut angles) = (0, 0);
    let start = before.iter().rposition(|(token, _)| match token {
        Token::Sign(')' | '}' | ']') => {
            depth += 1;
            false
        }
        Token::Sign('(' | '{' | '[') | Token::Open if depth == 0 => true,
        Token::Sign('(' | '{' | '[') => {
            depth -= 1;
            false
        }
        Token::Sign(';') | Token::Directive(_) => depth == 0,
        Token::Sign('>') if depth == 0 => {
            angles += 1;
            false
        }
        // Of a template, unless it stands in a value.
        Token::Sign('<') if depth == 0 => {
            angles -= 1;
            false
        }
        _ => false,
    });
    let statement = &before[start.map_or(0, |at| at + 1)..];
    let has_value = statement.iter().any(|(token, _)| *token == Token::Sign('='));
    (angles >= 0 || has_value) && starts_type(statement)
}

/// `T a`, `T *a`, `n::T a`, `T<U> a`
fn starts_type(statement: Tokens) -> bool {
    matches!(statement, [(Token::Word(word), _), (Token::Word(_) | Token::Scope | Token::Sign('*' | '&' | '<'), _), ..] if !NO_TYPES.contains(word))
}

/// The place in front of the bracket that the last token closes.
fn opening(before: Tokens, open: char, close: char) -> Option<usize> {
    let mut depth = 0;
    for (at, (token, _)) in before.iter().enumerate().rev() {
        match token {
            Token::Sign(sign) if *sign == close => depth += 1,
            Token::Sign(sign) if *sign == open => depth -= 1,
            Token::Sign(';' | '{' | '}') => return None,
            _ => {}
        }
        if depth == 0 {
            return at.checked_sub(1);
        }
    }
    None
}

/// What stands behind the comma at a place: not where a function's body ended before it.
fn next_declarator<'t, 's>(after: Tokens<'t, 's>, end: usize) -> Option<Tokens<'t, 's>> {
    let is_body = |at: usize| {
        let [(before, _), (token, _)] = &after[at..at + 2] else { return false };
        *token == Token::Sign('{') && *before == Token::Sign(')')
    };
    let has_body = (0..end.saturating_sub(1)).any(is_body);
    let next = after.get(end..).filter(|next| next.first().is_some_and(|token| token.0 == Token::Sign(',')));
    next.filter(|_| !has_body).map(|next| &next[1..])
}
