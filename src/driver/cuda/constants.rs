//! Names of constant values in the source of a host program.
//!
//! Input: tokens. Output: [`Constants`], and the values of expressions. Establishes: a value is given only where the source says
//! one: a name that is declared in another way, assigned, or handed to a function that may change it has none. Values are
//! numbers from 0 to 2^31 - 1 in each step, so that no type changes them.
//! Relies on: nothing. Reference: C++ standard, "Constant expressions".

use super::lexer::{Token, integer, tokens};
use std::collections::BTreeSet;

/// What a name means from a place on.
#[derive(Clone, Debug)]
struct Definition<'s> {
    name: &'s str,
    /// The braces around it, each by its number.
    scope: Vec<usize>,
    value: Option<Value>,
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

/// The constants that are known where a reader is in the source.
#[derive(Debug, Default)]
pub(super) struct Constants<'s> {
    definitions: Vec<Definition<'s>>,
    /// Names of variables that something may change.
    changed: BTreeSet<&'s str>,
    /// Where the names stand that are defined already.
    read: BTreeSet<usize>,
    scope: Vec<usize>,
    braces: usize,
}

/// Integer types, and words beside them.
const INTEGER_WORDS: [&str; 18] = [
    "int",
    "unsigned",
    "signed",
    "long",
    "size_t",
    "std",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
    "uint",
    "static",
    "const",
    "constexpr",
    "inline",
    "auto",
    "__constant__",
    "__device__",
];

/// Words in front of a name that do not declare it.
const NO_TYPES: [&str; 7] = ["return", "else", "case", "new", "delete", "throw", "goto"];

/// Tokens with their places.
pub(super) type Tokens<'t, 's> = &'t [(Token<'s>, std::ops::Range<usize>)];

impl<'s> Constants<'s> {
    /// With the names that something changes anywhere, since control flow is not followed.
    pub(super) fn new(all: Tokens<'_, 's>) -> Self {
        let mut changed = BTreeSet::new();
        let (mut in_launch, mut declaration) = (false, None);
        for (at, (token, _)) in all.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| all[before].0);
            match token {
                // Arguments of kernels are copies.
                Token::Open => in_launch = true,
                Token::Sign(';') => in_launch = false,
                Token::Word(name) => {
                    let declares =
                        declaration == Some(0) && matches!(before, Some(Token::Word("dim3") | Token::Sign(',')));
                    let is_integer = matches!(before, Some(Token::Word(word)) if INTEGER_WORDS.contains(&word));
                    if !declares && !is_integer && is_changed(all, at, in_launch) {
                        changed.insert(*name);
                    }
                }
                _ => {}
            }
            declaration = match (token, declaration) {
                (Token::Word("dim3"), None) => Some(0),
                (Token::Sign(';'), _) => None,
                // The body of a function whose parameters these were.
                (Token::Sign('{'), _) if before == Some(Token::Sign(')')) => None,
                (Token::Sign('(' | '{' | '['), Some(depth)) => Some(depth + 1),
                (Token::Sign(')' | '}' | ']'), Some(depth)) => (depth > 0).then(|| depth - 1),
                (_, declaration) => declaration,
            };
        }
        Constants { changed, ..Constants::default() }
    }

    /// Reads what stands at a place.
    pub(super) fn read(&mut self, rest: Tokens<'_, 's>, before: Option<Token<'s>>) {
        match rest[0].0 {
            Token::Sign('{') => {
                self.braces += 1;
                self.scope.push(self.braces);
            }
            Token::Sign('}') => drop(self.scope.pop()),
            Token::Directive(line) => self.directive(line),
            Token::Word("const" | "constexpr") => self.constant(rest),
            Token::Word("dim3") => self.sizes(&rest[1..]),
            Token::Word(word) if INTEGER_WORDS.contains(&word) && self.is_variable(rest) => {
                self.integers(&rest[1..], false);
            }
            Token::Word(name) if declares(before) && !self.read.contains(&rest[0].1.start) => self.define(name, None),
            _ => {}
        }
    }

    fn define(&mut self, name: &'s str, value: Option<Value>) {
        self.definitions.push(Definition { name, scope: self.scope.clone(), value });
    }

    /// The same, where the name is declared at a place.
    fn declare(&mut self, (name, at): (&'s str, usize), value: Option<Value>) {
        self.read.insert(at);
        self.define(name, value);
    }

    /// `#define NAME expression`; macros with parameters, and names with two values, are no constants.
    fn directive(&mut self, line: &'s str) {
        let body = line[1..].trim_start();
        let Some(rest) = body.strip_prefix("define").or_else(|| body.strip_prefix("undef")) else { return };
        let rest = rest.trim_start();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, text) = rest.split_at(length);
        let expression = tokens(text);
        let is_constant = body.starts_with("define") && !text.starts_with('(');
        let value = is_constant.then(|| self.value(&expression)).flatten().map(|value| match value {
            Value::Integer(number) if !is_one(&expression) => Value::Alone(number),
            value => value,
        });
        let earlier = self.definitions.iter().find(|earlier| earlier.name == name && earlier.scope.is_empty());
        let value = if earlier.is_some_and(|earlier| earlier.value != value) { None } else { value };
        self.definitions.push(Definition { name, scope: Vec::new(), value });
    }

    /// `const int NAME = expression`.
    fn constant(&mut self, rest: Tokens<'_, 's>) {
        let words = rest.iter().take_while(|(token, _)| matches!(token, Token::Word(_) | Token::Scope)).count();
        let Some(types) = words.checked_sub(1) else { return };
        let is_integer = |token: &Token| matches!(token, Token::Word(word) if INTEGER_WORDS.contains(word));
        if !rest[..types].iter().all(|(token, _)| is_integer(token) || *token == Token::Scope) {
            return;
        }
        self.integers(&rest[types..], true);
    }

    /// Whether a variable with a value is declared behind the type that stands here.
    fn is_variable(&self, rest: Tokens<'_, 's>) -> bool {
        let [_, (Token::Word(_), place), (Token::Sign('='), _), ..] = rest else { return false };
        !self.read.contains(&place.start)
    }

    /// `NAME = expression`, also with braces, and several of them.
    fn integers(&mut self, rest: Tokens<'_, 's>, is_constant: bool) {
        let mut declarators = rest;
        while let [(Token::Word(name), place), after @ ..] = declarators {
            let (part, end) = until_end(after);
            let value = match part {
                [(Token::Sign('='), _), expression @ ..] => self.integer(expression),
                [(Token::Sign('('), _), inside @ .., (Token::Sign(')'), _)]
                | [(Token::Sign('{'), _), inside @ .., (Token::Sign('}'), _)] => self.integer(inside),
                _ => None,
            };
            let value = value.filter(|_| is_constant || !self.changed.contains(name));
            self.declare((name, place.start), value.map(Value::Integer));
            let Some(next) = after.get(end..).filter(|next| next.first().is_some_and(|t| t.0 == Token::Sign(',')))
            else {
                return;
            };
            declarators = &next[1..];
        }
    }

    /// What follows `dim3`: `NAME(16, 16)`, `NAME{16}`, `NAME = dim3(16, 16)`, and several of them.
    fn sizes(&mut self, rest: Tokens<'_, 's>) {
        let mut declarators = rest;
        while let [(Token::Word(name), place), after @ ..] = declarators {
            let (part, end) = until_end(after);
            let value = match part {
                [(Token::Sign('='), _), expression @ ..] => self.value_as_sizes(expression),
                [(Token::Sign('(' | '{'), _), inside @ .., (Token::Sign(')' | '}'), _)] => self.list(inside),
                _ => None,
            };
            let value = value.filter(|_| !self.changed.contains(name)).map(Value::Sizes);
            self.declare((name, place.start), value);
            let Some(next) = after.get(end..).filter(|next| next.first().is_some_and(|t| t.0 == Token::Sign(',')))
            else {
                return;
            };
            declarators = &next[1..];
        }
    }

    /// Sizes between braces or brackets; those left out are 1.
    fn list(&self, inside: Tokens<'_, 's>) -> Option<[Option<i64>; 3]> {
        let mut sizes = [Some(1); 3];
        let parts = split(inside);
        if parts.len() > 3 {
            return None;
        }
        for (size, part) in sizes.iter_mut().zip(parts.into_iter().filter(|part| !part.is_empty())) {
            *size = self.integer(part);
        }
        Some(sizes)
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
        let mut reader = Reader { constants: self, rest: expression };
        let number = reader.shift()?;
        reader.rest.is_empty().then_some(Value::Integer(number))
    }

    /// What a name means here: the innermost definition, of these the last.
    fn named(&self, name: &str) -> Option<Value> {
        let seen = self.definitions.iter().filter(|definition| definition.name == name);
        let seen = seen.filter(|definition| self.scope.starts_with(&definition.scope));
        seen.max_by_key(|definition| definition.scope.len())?.value
    }
}

/// Whether a name may be changed at a place: assigned, incremented, its address taken, or handed to a function.
fn is_changed(all: Tokens, at: usize, in_launch: bool) -> bool {
    let before = at.checked_sub(1).map(|before| all[before].0);
    let is_member = all.get(at + 1).is_some_and(|next| next.0 == Token::Sign('.'));
    let after = all.get(at + if is_member { 3 } else { 1 }).map(|after| after.0);
    let is_assigned = matches!(after, Some(Token::Sign('=') | Token::Change));
    let two_before = [at.checked_sub(2), at.checked_sub(3)].map(|at| at.map(|at| all[at].0));
    let is_read_into = before == Some(Token::Sign('>')) && two_before[0] == Some(Token::Sign('>'));
    let has_reference = before == Some(Token::Sign('=')) && two_before[1] == Some(Token::Sign('&'));
    let is_reached = matches!(before, Some(Token::Sign('&') | Token::Change)) || is_read_into || has_reference;
    let is_argument = matches!(before, Some(Token::Sign('(' | ','))) && matches!(after, Some(Token::Sign(')' | ',')));
    is_assigned || is_reached || is_argument && !is_member && !in_launch
}

/// Whether what stands before a name may declare it: a type, or the `&` of a reference.
fn declares(before: Option<Token>) -> bool {
    match before {
        Some(Token::Word(word)) => !NO_TYPES.contains(&word),
        Some(Token::Sign('&')) => true,
        _ => false,
    }
}

/// Whether an expression stays one whatever stands beside it: a token, or all of it between brackets.
fn is_one(expression: Tokens) -> bool {
    match expression {
        [_] => true,
        [(Token::Sign('('), _), inside @ .., (Token::Sign(')'), _)] => {
            let mut depth = 0;
            inside.iter().all(|(token, _)| {
                depth += i64::from(*token == Token::Sign('(')) - i64::from(*token == Token::Sign(')'));
                depth >= 0
            })
        }
        _ => false,
    }
}

/// The tokens up to a `,` or `;` outside of brackets, and how many they are.
fn until_end<'t, 's>(tokens: Tokens<'t, 's>) -> (Tokens<'t, 's>, usize) {
    let end = ends(tokens).next().unwrap_or(tokens.len());
    (&tokens[..end], end)
}

/// The parts between commas outside of brackets.
pub(super) fn split<'t, 's>(tokens: Tokens<'t, 's>) -> Vec<Tokens<'t, 's>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for end in ends(tokens) {
        parts.push(&tokens[start..end]);
        start = end + 1;
    }
    parts.push(&tokens[start..]);
    parts
}

/// The places of `,` and `;` outside of brackets.
fn ends<'t>(tokens: Tokens<'t, '_>) -> impl Iterator<Item = usize> + use<'t> {
    let mut depth = 0i64;
    let signs: Vec<Option<char>> =
        tokens.iter().map(|(token, _)| if let Token::Sign(sign) = token { Some(*sign) } else { None }).collect();
    signs.into_iter().enumerate().filter_map(move |(at, sign)| {
        match sign? {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ',' | ';' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

/// Reads an expression from the left.
struct Reader<'c, 't, 's> {
    constants: &'c Constants<'s>,
    rest: Tokens<'t, 's>,
}

impl Reader<'_, '_, '_> {
    fn sign(&mut self, wanted: &[char]) -> Option<char> {
        let (Token::Sign(sign), _) = self.rest.first()? else { return None };
        let sign = wanted.contains(sign).then_some(*sign)?;
        self.rest = &self.rest[1..];
        Some(sign)
    }

    fn shift(&mut self) -> Option<i64> {
        let mut value = self.sum()?;
        while let Some(sign) = self.sign(&['<', '>']) {
            self.sign(&[sign])?;
            let count = u32::try_from(self.sum()?).ok().filter(|count| *count < 31)?;
            value = small(Some(if sign == '<' { value << count } else { value >> count }))?;
        }
        Some(value)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            let right = self.product()?;
            value = small(if sign == '+' { value.checked_add(right) } else { value.checked_sub(right) })?;
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        while let Some(sign) = self.sign(&['*', '/', '%']) {
            let right = self.atom()?;
            value = small(match sign {
                '*' => value.checked_mul(right),
                '/' => value.checked_div(right),
                _ => value.checked_rem(right),
            })?;
        }
        Some(value)
    }

    fn atom(&mut self) -> Option<i64> {
        let ((token, _), rest) = self.rest.split_first()?;
        self.rest = rest;
        match token {
            Token::Number(text) => small(integer(text)),
            Token::Word(name) => match self.constants.named(name)? {
                Value::Integer(number) => Some(number),
                // Its operators would bind to what stands around it.
                Value::Alone(_) => None,
                Value::Sizes(sizes) => {
                    self.sign(&['.'])?;
                    let ((Token::Word(axis), _), rest) = self.rest.split_first()? else { return None };
                    self.rest = rest;
                    sizes[["x", "y", "z"].iter().position(|name| name == axis)?]
                }
            },
            Token::Sign('(') => {
                let value = self.shift()?;
                self.sign(&[')']).map(|_| value)
            }
            _ => None,
        }
    }
}

fn small(value: Option<i64>) -> Option<i64> {
    value.filter(|value| (0..=i64::from(i32::MAX)).contains(value))
}
