//! Lexer of the IVL.
//!
//! Input: text. Output: tokens with byte ranges, or diagnostics.
//! Establishes: brackets nest at most [`MAX_NESTING`] deep, so nothing after the lexer can run out
//! of stack on hostile input; nor, for there is an end to the number of tokens, of memory. Relies on: nothing.
//! Reference: Boogie 2 (identifiers, literals, comments that nest), plus the words of the kernel language. Beyond
//! Boogie, an identifier may contain `%`. Signs may be written in Unicode (`∀`, `⇒`), as Boogie's grammar has them.

use super::directives;
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use logos::{FilterResult, Lexer, Logos};
use std::fmt;

/// How deep parentheses, brackets and braces may nest.
pub(crate) const MAX_NESTING: usize = 200;

/// One error per place is enough; more than these help nobody.
pub(crate) const MAX_ERRORS: usize = 20;

/// Longer programs are no one's kernels, and would take all memory.
const MAX_TOKENS: usize = 2_000_000;

/// Which words are reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Boogie 2: the words of the kernel language are plain names.
    Boogie,
    /// Boogie 2's core and the kernel language.
    Ivl,
}

impl Dialect {
    /// The token that a word is in this dialect.
    fn read<'input>(self, token: Token<'input>, word: &'input str) -> Token<'input> {
        match self {
            Dialect::Boogie if KERNEL_WORDS.contains(&word) => Token::Identifier(word),
            _ => token,
        }
    }
}

/// The words that the kernel language adds.
const KERNEL_WORDS: &[&str] = &["atomic", "barrier", "fence", "global", "shared"];

impl Default for Dialect {
    /// What `Token::lexer` reads without being told.
    fn default() -> Self {
        Dialect::Ivl
    }
}

/// Declares the tokens that stand for themselves, with the text they print as, and other spellings.
macro_rules! tokens {
    ($($text:literal $(| $other:literal)* => $variant:ident),* $(,)?) => {
        /// A token. Variants without data are named after their text.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
        #[logos(extras = Dialect)]
        #[logos(skip r"[ \t\r\n\f]+")]
        #[logos(skip(r"//[^\n\r]*", allow_greedy = true))]
        pub(crate) enum Token<'input> {
            $(#[allow(missing_docs)] #[token($text)] $(#[token($other)])* $variant,)*
            /// An identifier; a backslash before it keeps it from being a keyword.
            #[regex(r"[A-Za-z_'~#$^.?`%][A-Za-z0-9_'~#$^.?`%]*", |l| l.slice())]
            #[regex(r"\\[A-Za-z_'~#$^.?`%][A-Za-z0-9_'~#$^.?`%]*", |l| &l.slice()[1..])]
            Identifier(&'input str),
            /// A comment; it never comes out of the lexer.
            #[token("/*", comment)]
            Comment,
            /// A real or floating-point literal, which the language has no use for.
            #[regex(r"[0-9]+\.[0-9]+(e-?[0-9]+)?", |l| l.slice())]
            #[regex(r"[0-9]+e-?[0-9]+", |l| l.slice())]
            #[regex(r"-?0x[0-9A-Fa-f]+\.[0-9A-Fa-f]+e-?[0-9]+f[0-9]+e[0-9]+", |l| l.slice())]
            Real(&'input str),
            /// A decimal number.
            #[regex(r"[0-9]+", |l| l.slice())]
            Integer(&'input str),
            /// `5bv32`
            #[regex(r"[0-9]+bv[0-9]+", |l| l.slice())]
            BitVector(&'input str),
            /// A string literal without its quotes, escapes as written.
            #[token("\"", string)]
            Text(&'input str),
            /// `{:name`, the start of an attribute; the name may be a keyword.
            #[regex(r"\{[ \t\r\n]*:[ \t\r\n]*\\?[A-Za-z_'~#$^.?`%][A-Za-z0-9_'~#$^.?`%]*", |l| attribute_name(l.slice()))]
            Attribute(&'input str),
        }

        impl fmt::Display for Token<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Token::$variant => f.write_str($text),)*
                    Token::Identifier(text) | Token::Integer(text) | Token::BitVector(text) | Token::Real(text) => {
                        f.write_str(text)
                    }
                    Token::Comment => f.write_str("/*"),
                    Token::Text(text) => write!(f, "\"{text}\""),
                    Token::Attribute(name) => write!(f, "{{:{name}"),
                }
            }
        }

        const FIXED: &[&str] = &[$($text),*];
    };
}

tokens! {
    "assert" => Assert, "assume" => Assume, "atomic" => Atomic, "axiom" => Axiom, "barrier" => Barrier,
    "bool" => Bool, "break" => Break, "call" => Call, "const" => Const, "div" => Div, "else" => Else,
    "ensures" => Ensures, "exists" | "∃" => Exists, "false" => False, "fence" => Fence, "forall" | "∀" => Forall,
    "free" => Free, "function" => Function, "global" => Global, "goto" => Goto, "havoc" => Havoc,
    "if" => If, "implementation" => Implementation, "int" => Int, "invariant" => Invariant, "mod" => Mod, "modifies" => Modifies, "old" => Old,
    "procedure" => Procedure, "requires" => Requires, "return" => Return, "returns" => Returns,
    "shared" => Shared, "then" => Then, "true" => True, "type" => Type, "unique" => Unique, "var" => Var,
    "where" => Where, "while" => While, "(" => LeftParen, ")" => RightParen, "[" => LeftBracket, "]" => RightBracket, "{" => LeftBrace,
    "}" => RightBrace, "," => Comma, ";" => Semicolon, ":" => Colon, "::" | "•" => DoubleColon, ":=" => Becomes,
    "=" => Is,
    "<==>" | "⇔" => Iff, "==>" | "⇒" => Implies, "<==" | "⇐" => Explies, "&&" | "∧" => And, "||" | "∨" => Or, "!" | "¬" => Not, "==" => Equal, "!=" | "≠" => NotEqual,
    "<" => Less, "<=" | "≤" => LessEqual, ">" => Greater, ">=" | "≥" => GreaterEqual, "++" => Concat, "+" => Plus,
    "-" => Minus, "*" => Star, "/" => Divide, "**" => Power, "<:" => Subtype, "|" => Bar, "|{" => Code,
}

/// Words that Boogie reserves and this language does not use.
const BOOGIE_WORDS: &[&str] =
    &["async", "cast", "complete", "extends", "finite", "lambda", "par", "real", "rmode", "using", "yield"];

/// Skips a comment, in which others may nest.
fn comment<'input>(lexer: &mut Lexer<'input, Token<'input>>) -> FilterResult<(), ()> {
    let rest = lexer.remainder();
    let (mut at, mut depth) = (0, 1usize);
    while depth > 0 {
        let Some(next) = rest[at..].find(['*', '/']) else {
            lexer.bump(rest.len());
            return FilterResult::Error(());
        };
        at += next;
        let step = match rest.as_bytes().get(at..at + 2) {
            Some(b"/*") => (depth + 1, 2),
            Some(b"*/") => (depth - 1, 2),
            _ => (depth, 1),
        };
        depth = step.0;
        at += step.1;
    }
    lexer.bump(at);
    FilterResult::Skip
}

/// The rest of a string literal. In the IVL a backslash escapes what follows. In Boogie it escapes nothing but a quote,
/// and a quote behind one ends the literal if no other on the line does.
fn string<'input>(lexer: &mut Lexer<'input, Token<'input>>) -> Result<&'input str, ()> {
    let rest = lexer.remainder();
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let end = match lexer.extras {
        Dialect::Ivl => end_of_escaped(line),
        Dialect::Boogie => {
            let mut quotes = line.match_indices('"').map(|(at, _)| at);
            let plain = quotes.clone().find(|&at| !line[..at].ends_with('\\'));
            plain.or_else(|| quotes.next_back())
        }
    };
    lexer.bump(end.map_or(line.len(), |end| end + 1));
    end.map(|end| &line[..end]).ok_or(())
}

fn end_of_escaped(line: &str) -> Option<usize> {
    let mut escaped = false;
    line.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

fn attribute_name(text: &str) -> &str {
    text.trim_start_matches(|c: char| c == '{' || c == ':' || c == '\\' || c.is_ascii_whitespace())
}

/// True when a name has to be written with a backslash.
pub(crate) fn is_keyword(name: &str) -> bool {
    FIXED.contains(&name) || BOOGIE_WORDS.contains(&name)
}

/// True for a reserved word, not for a sign.
pub(crate) fn is_keyword_token(token: Token<'_>) -> bool {
    let text = token.to_string();
    FIXED.contains(&text.as_str()) && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// True when Boogie reserves the word, so that even an attribute of that name needs a backslash.
pub(crate) fn is_boogie_keyword(name: &str) -> bool {
    is_keyword(name) && !KERNEL_WORDS.contains(&name)
}

/// True when a name can be written as an identifier at all.
pub(crate) fn is_identifier(name: &str) -> bool {
    let special = |c: char| "_'~#$^.?`%".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || special(c))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || special(c))
}

/// A token with its byte range.
pub(crate) type Spanned<'input> = (usize, Token<'input>, usize);

/// Splits text into tokens.
pub(crate) fn lex(text: &str, dialect: Dialect) -> Result<Vec<Spanned<'_>>, Vec<Diagnostic>> {
    let mut tokens = Vec::new();
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut nesting = 0usize;
    // Where a line ends that is left out.
    let mut skipped = 0;
    for (token, range) in Token::lexer_with_extras(text, dialect).spanned() {
        let span = Span::new(range.start, range.end);
        if range.start < skipped {
            continue;
        }
        let Ok(token) = token else {
            errors.push(lexical_error(text, range));
            if errors.len() == MAX_ERRORS {
                break;
            }
            continue;
        };
        let token = dialect.read(token, &text[range.clone()]);
        if dialect == Dialect::Boogie
            && let Some(error) = directives::pragma(text, (range.start, token, range.end))
        {
            errors.push(error);
            if errors.len() == MAX_ERRORS {
                break;
            }
            skipped = text[range.end..].find('\n').map_or(text.len(), |line_end| range.end + line_end);
        }
        match token {
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace | Token::Code | Token::Attribute(_) => {
                nesting += 1
            }
            Token::RightParen | Token::RightBracket | Token::RightBrace => nesting = nesting.saturating_sub(1),
            Token::Procedure => nesting = 0,
            _ => {}
        }
        if nesting > MAX_NESTING {
            let message = format!("brackets nest more than {MAX_NESTING} deep");
            errors.push(Diagnostic::error("ivl-syntax", message, span));
            break;
        }
        if tokens.len() == MAX_TOKENS {
            let message = format!("this program is longer than {MAX_TOKENS} words and signs");
            errors.push(Diagnostic::error("ivl-syntax", message, span));
            break;
        }
        tokens.push((range.start, token, range.end));
    }
    if errors.is_empty() { Ok(tokens) } else { Err(errors) }
}

/// The token listing of `--emit tokens`: one token a line with its byte range.
pub fn tokens(text: &str, dialect: Dialect) -> String {
    use fmt::Write;
    let mut out = String::new();
    let mut errors = 0;
    for (token, range) in Token::lexer_with_extras(text, dialect).spanned() {
        let (start, end) = (range.start, range.end);
        let (kind, shown) = match token {
            Ok(token) => {
                (format!("{:?}", dialect.read(token, &text[range.clone()])), text[range].escape_debug().to_string())
            }
            Err(()) if errors == MAX_ERRORS => break,
            Err(()) => {
                errors += 1;
                ("error".to_string(), lexical_error(text, range).message)
            }
        };
        let kind = kind.split('(').next().unwrap_or_default();
        let _ = writeln!(out, "{start}..{end}\t{kind}\t{shown}");
    }
    out
}

fn lexical_error(text: &str, range: std::ops::Range<usize>) -> Diagnostic {
    let slice = &text[range.clone()];
    let span = Span::new(range.start, range.end);
    if slice.starts_with("/*") {
        return Diagnostic::error("ivl-syntax", "this comment is never closed", span).label("`*/` is missing");
    }
    if slice.starts_with('"') {
        return Diagnostic::error("ivl-syntax", "this string is not closed on its line", span);
    }
    Diagnostic::error("ivl-syntax", format!("`{}` means nothing here", slice.escape_debug()), span)
}
