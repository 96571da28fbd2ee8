//! Values of expressions in the source of a host program.
//!
//! Input: tokens, and the constants where they stand. Output: numbers. Establishes: each step of an expression is a number from 0 to
//! 2^31 - 1, so that no type changes it. Relies on: [`Constants`]. Reference: C++ standard, "Expressions".

use super::constants::{Constants, Tokens, Value};
use super::lexer::{Token, integer};

/// Whether an expression stays one whatever stands beside it: a token, or all of it between brackets.
pub(super) fn is_one(expression: Tokens) -> bool {
    match expression {
        [_] => true,
        [(Token::Sign('('), _), inside @ .., (Token::Sign(')'), _)] => is_balanced(inside),
        _ => false,
    }
}

/// Whether no bracket closes that does not open in front of it.
pub(super) fn is_balanced(tokens: Tokens) -> bool {
    let mut depth = 0;
    tokens.iter().all(|(token, _)| {
        depth += match token {
            Token::Sign('(' | '{' | '[') => 1,
            Token::Sign(')' | '}' | ']') => -1,
            _ => 0,
        };
        depth >= 0
    })
}

/// The tokens up to a `,` or `;` outside of brackets, and how many they are.
pub(super) fn until_end<'t, 's>(tokens: Tokens<'t, 's>) -> (Tokens<'t, 's>, usize) {
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
pub(super) struct Reader<'c, 't, 's> {
    constants: &'c Constants<'s>,
    rest: Tokens<'t, 's>,
}

impl<'c, 't, 's> Reader<'c, 't, 's> {
    pub(super) fn new(constants: &'c Constants<'s>, rest: Tokens<'t, 's>) -> Self {
        Reader { constants, rest }
    }

    /// The value of all that is there.
    pub(super) fn all(mut self) -> Option<i64> {
        let number = self.shift()?;
        self.rest.is_empty().then_some(number)
    }

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
