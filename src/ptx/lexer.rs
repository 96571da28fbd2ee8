//! PTX text to tokens.
//!
//! Input: the text of a PTX file.
//! Output: a stream of [`Token`]s with byte ranges, as the LALRPOP parser wants them.
//! Establishes: comments are gone (except `//@` annotations); a debug `.section` is one token; the
//! braces of a scope and of a vector or initialiser are different tokens, so that the parser can
//! recover from an error inside a vector without losing the nesting of scopes.
//! For the parser of the module level a whole function body is one token.
//! Relies on: nothing.
//! Reference: PTX ISA, chapter "Syntax".

use super::syntax::BodyText;
use crate::diagnostic::Diagnostic;
use crate::limits;
use crate::span::Span;
use logos::{Filter, Logos, Skip};
use std::cell::Cell;

/// Deeper nesting of scopes, brackets and signs is refused: no compiler writes it, and what
/// works on the tree recurses.
const MAX_DEPTH: usize = 200;

/// Tokens of one function: some two million instructions, which no stage after this could
/// hold in memory.
const MAX_FUNCTION_TOKENS: usize = 16_000_000;

/// What can go wrong inside one token.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LexError {
    /// A character that starts no token.
    #[default]
    UnexpectedCharacter,
    /// `/*` without `*/`.
    UnterminatedComment,
    /// `"` without another in its line.
    UnterminatedText,
}

/// What kind of token; its text is that of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
#[logos(error = LexError)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
// Line marks of a C preprocessor.
#[logos(skip(r"#[ \t]+[0-9][^\n]*", allow_greedy = true))]
#[allow(missing_docs)] // directives carry their own name
pub enum Token {
    /// A `//@` comment.
    #[regex(r"//[^\n]*", line_comment, allow_greedy = true)]
    Annotation,
    /// Never produced: block comments are skipped.
    #[token("/*", block_comment)]
    BlockComment,

    #[token(".version")]
    Version,
    #[token(".target")]
    Target,
    #[token(".address_size")]
    AddressSize,
    #[token(".entry")]
    Entry,
    #[token(".func")]
    Func,
    #[token(".alias")]
    Alias,
    #[token(".visible")]
    Visible,
    #[token(".extern")]
    Extern,
    #[token(".weak")]
    Weak,
    #[token(".common")]
    Common,
    #[token(".file")]
    File,
    #[token(".loc")]
    Loc,
    #[token(".pragma")]
    Pragma,
    #[token(".reg")]
    Reg,
    #[token(".align")]
    Align,
    #[token(".attribute")]
    Attribute,
    #[token(".branchtargets")]
    BranchTargets,
    #[token(".calltargets")]
    CallTargets,
    #[token(".callprototype")]
    CallPrototype,
    /// A state space of a variable, also a modifier: `.global`, `.shared`, `.local`, `.param`, `.const`.
    #[regex(r"\.(global|shared|local|param|const)")]
    Space,
    /// A performance-tuning or ABI directive of a function, with its dot.
    #[regex(r"\.(reqntid|maxntid|minnctapersm|maxnctapersm|maxnreg|maxclusterrank|reqnctapercluster|explicitcluster|blocksareclusters|noreturn|abi_preserve|abi_preserve_control)")]
    FunctionDirective,
    /// `.section name { ... }` as a whole.
    #[token(".section")]
    Section,
    /// Any other word with a leading dot: a type, a modifier or an unknown directive.
    // `.sp::2:4` is the only word with a single colon.
    #[regex(r"\.[A-Za-z0-9_]+(::[A-Za-z0-9_]+)*|\.sp::2:4")]
    Dotted,

    /// A name: register, variable, label, opcode.
    #[regex(r"[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+")]
    Identifier,
    #[token("_")]
    Sink,
    #[regex(r"0[xX][0-9A-Fa-f]+U?|0[bB][01]+U?|[0-9]+U?")]
    Integer,
    #[regex(r"0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}|[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")]
    Float,
    /// A quoted string.
    #[regex(r#""([^"\\\n]|\\.)*""#)]
    // Without this, a line of quotes would be read again from each of them.
    #[regex(r#""([^"\\\n]|\\.)*"#, unterminated_text)]
    Text,

    /// A function body with its braces, where it is not read token by token.
    Body,
    /// `{` of a function body or nested scope.
    ScopeOpen,
    /// `}` of a function body or nested scope.
    ScopeClose,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    #[token("[")]
    BracketOpen,
    #[token("]")]
    BracketClose,
    #[token("(")]
    ParenOpen,
    #[token(")")]
    ParenClose,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("=")]
    Equal,
    #[token("@")]
    At,
    #[token("!")]
    Bang,
    #[token("|")]
    Bar,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("~")]
    Tilde,
    #[token("/")]
    Slash,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,
    #[token("&")]
    Ampersand,
    #[token("^")]
    Caret,
}

fn line_comment(lexer: &mut logos::Lexer<'_, Token>) -> Filter<()> {
    if lexer.slice().starts_with("//@") { Filter::Emit(()) } else { Filter::Skip }
}

fn unterminated_text(_: &mut logos::Lexer<'_, Token>) -> Result<(), LexError> {
    Err(LexError::UnterminatedText)
}

fn block_comment<'a, T: Logos<'a, Source = str>>(lexer: &mut logos::Lexer<'a, T>) -> Result<Skip, LexError> {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Ok(Skip)
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Err(LexError::UnterminatedComment)
        }
    }
}

/// What matters to find the end of a function body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
#[logos(error = LexError)]
enum Piece {
    #[token("{")]
    Open,
    #[token("}")]
    Close,
    /// Anything else: where a [`Token`] has a brace inside, so has this.
    #[regex(r##"[^{}/"#]+"##)]
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[token("/*", block_comment)]
    #[regex(r#""([^"\\\n]|\\.)*"?"#)]
    #[regex(r"#[ \t]+[0-9][^\n]*", allow_greedy = true)]
    Other,
}

/// A token between its start and end byte offsets.
pub(crate) type Spanned = (usize, Token, usize);

/// The token stream: the raw tokens with sections folded and braces classified.
///
/// Bad characters never reach the parser: they are collected in [`Tokens::errors`], and after
/// `max_errors` of them the stream ends.
pub struct Tokens<'a> {
    lexer: logos::Lexer<'a, Token>,
    /// For every open brace: is it a scope?
    braces: Vec<bool>,
    brackets: usize,
    signs: usize,
    /// Tokens since the body of a function began.
    in_function: usize,
    previous: Option<Token>,
    /// Whether a function body is one token.
    whole_bodies: bool,
    max_errors: usize,
    stopped: bool,
    /// What was wrong so far, in order of appearance.
    pub(crate) errors: Vec<Diagnostic>,
}

impl<'a> Tokens<'a> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'a str, max_errors: usize) -> Self {
        let lexer = Token::lexer(text);
        Tokens {
            lexer,
            braces: Vec::new(),
            brackets: 0,
            signs: 0,
            in_function: 0,
            previous: None,
            whole_bodies: false,
            max_errors,
            stopped: false,
            errors: Vec::new(),
        }
    }

    /// The same, with each function body as one token.
    pub(crate) fn with_whole_bodies(text: &'a str, max_errors: usize) -> Self {
        Tokens { whole_bodies: true, ..Tokens::new(text, max_errors) }
    }

    /// The tokens of one function body.
    pub(crate) fn of_body(body: BodyText<'a>, max_errors: usize) -> Self {
        let mut tokens = Tokens::new(&body.file[..body.span.end as usize], max_errors);
        tokens.lexer.bump(body.span.start as usize);
        tokens
    }

    /// Whether the stream ended before the text did.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// A `{` opens a scope exactly where a statement may start or a function header ends.
    fn opens_scope(&self) -> bool {
        let in_vector = self.braces.last() == Some(&false);
        let after_statement = match self.previous {
            None => true,
            Some(token) => matches!(
                token,
                Token::Semicolon
                    | Token::Colon
                    | Token::ScopeOpen
                    | Token::ScopeClose
                    | Token::ParenClose
                    | Token::Integer
                    | Token::Text
                    | Token::Annotation
                    | Token::FunctionDirective
            ),
        };
        // A parameterless header is `.entry name {` or `.func name {`: the only scope after a name.
        let after_header = self.braces.is_empty() && matches!(self.previous, Some(Token::Identifier));
        !in_vector && (after_statement || after_header)
    }

    /// Skips `name { ... }` after `.section`; the bytes of debug information are not PTX statements.
    fn skip_section(&mut self) -> Result<(), Diagnostic> {
        let start = self.lexer.span().start;
        let rest = self.lexer.remainder();
        match rest.find('}') {
            Some(end) => {
                self.lexer.bump(end + 1);
                Ok(())
            }
            None => {
                self.lexer.bump(rest.len());
                let span = Span::new(start, start + ".section".len());
                Err(Diagnostic::error("ptx-syntax", "this `.section` is not closed", span).label("no `}` follows"))
            }
        }
    }

    /// Goes behind the body whose `{` was just read; one that is not closed ends with the text.
    fn skip_body(&mut self) {
        let rest = self.lexer.remainder();
        let mut pieces = Piece::lexer(rest);
        let mut depth = 1;
        while depth > 0
            && let Some(piece) = pieces.next()
        {
            match piece {
                Ok(Piece::Open) => depth += 1,
                Ok(Piece::Close) => depth -= 1,
                Ok(Piece::Other) | Err(_) => {}
            }
        }
        self.lexer.bump(rest.len() - pieces.remainder().len());
    }

    fn lex_error(&mut self, error: LexError) {
        let span = self.lexer.span();
        let place = Span::new(span.start, span.end);
        let diagnostic = match error {
            LexError::UnexpectedCharacter => {
                let shown: String = self.lexer.slice().chars().take(8).flat_map(char::escape_default).collect();
                Diagnostic::error("ptx-syntax", format!("unexpected character `{shown}`"), place)
            }
            LexError::UnterminatedComment => {
                let place = Span::new(span.start, span.start + 2);
                Diagnostic::error("ptx-syntax", "this comment is not closed", place).label("no `*/` follows")
            }
            LexError::UnterminatedText => {
                let place = Span::new(span.start, span.start + 1);
                Diagnostic::error("ptx-syntax", "this string is not closed", place)
                    .label("no `\"` follows in this line")
            }
        };
        self.errors.push(diagnostic);
    }

    /// Stops at input nested too deep, or too long. Brackets count until the statement ends, signs until their
    /// operand begins.
    fn measure(&mut self, token: Token) {
        match token {
            Token::Minus | Token::Tilde | Token::Bang => self.signs += 1,
            // Signs in front of it nest too.
            Token::ParenOpen | Token::BracketOpen => self.brackets += 1 + std::mem::take(&mut self.signs),
            Token::BraceOpen => self.brackets += std::mem::take(&mut self.signs),
            Token::ParenClose | Token::BracketClose => self.brackets = self.brackets.saturating_sub(1),
            Token::Semicolon => (self.brackets, self.signs) = (0, 0),
            _ => self.signs = 0,
        }
        if self.braces.len() + self.brackets + self.signs > MAX_DEPTH {
            self.stop_at(format!("scopes, brackets or signs nested more than {MAX_DEPTH} deep"));
        }
        self.in_function = if self.braces.first() == Some(&true) { self.in_function + 1 } else { 0 };
        if self.in_function > MAX_FUNCTION_TOKENS {
            self.stop_at(format!("a function of more than {MAX_FUNCTION_TOKENS} tokens"));
        }
    }

    fn stop_at(&mut self, message: String) {
        let span = self.lexer.span();
        self.errors.push(Diagnostic::error("ptx-syntax", message, Span::new(span.start, span.end)));
        self.stopped = true;
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Spanned;

    fn next(&mut self) -> Option<Spanned> {
        loop {
            limits::check();
            self.stopped |= self.errors.len() >= self.max_errors;
            if self.stopped {
                return None;
            }
            let token = match self.lexer.next()? {
                Ok(token) => token,
                Err(error) => {
                    self.lex_error(error);
                    match error {
                        // It stands where a string should, so the parser need not complain too.
                        LexError::UnterminatedText => Token::Text,
                        _ => continue,
                    }
                }
            };
            let start = self.lexer.span().start;
            let token = match token {
                Token::BraceOpen if self.whole_bodies && self.braces.is_empty() && self.opens_scope() => {
                    self.skip_body();
                    Token::Body
                }
                Token::BraceOpen => {
                    let scope = self.opens_scope();
                    self.braces.push(scope);
                    if scope { Token::ScopeOpen } else { Token::BraceOpen }
                }
                Token::BraceClose => match self.braces.pop() {
                    Some(false) => Token::BraceClose,
                    _ => Token::ScopeClose,
                },
                Token::Section => {
                    if let Err(diagnostic) = self.skip_section() {
                        self.errors.push(diagnostic);
                    }
                    Token::Section
                }
                other => other,
            };
            self.measure(token);
            if self.stopped {
                return None;
            }
            self.previous = Some(token);
            return Some((start, token, self.lexer.span().end));
        }
    }
}

/// Start offsets of the lines of a text.
pub struct Lines {
    starts: Vec<u32>,
    /// The line, from 0, that was asked for last.
    last: Cell<usize>,
}

impl Lines {
    /// Finds the line starts.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                starts.push(Span::new(at + 1, at + 1).start);
            }
        }
        Lines { starts, last: Cell::new(0) }
    }

    /// The line, from 1, of a byte offset.
    pub fn line(&self, offset: u32) -> u32 {
        // Mostly a line or two behind the one before.
        let last = self.last.get();
        let near = &self.starts[last..self.starts.len().min(last + 8)];
        let line = match near.iter().position(|&start| start > offset) {
            Some(count) if count > 0 => last + count,
            _ => self.starts.partition_point(|&start| start <= offset),
        };
        self.last.set(line - 1);
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

/// The token listing of `--emit tokens`: one token a line with its byte range.
pub fn tokens(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let mut stream = Tokens::new(text, usize::MAX);
    loop {
        let next = stream.next();
        for error in stream.errors.drain(..) {
            let span = error.labels.first().map_or(Span::NONE, |label| label.0);
            let _ = writeln!(out, "{}..{}\terror\t{}", span.start, span.end, error.message);
        }
        let Some((start, token, end)) = next else { return out };
        let shown = match token {
            Token::Section => ".section ...".to_string(),
            _ => text[start..end].escape_debug().to_string(),
        };
        let _ = writeln!(out, "{start}..{end}\t{token:?}\t{shown}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Token, &str)> {
        Tokens::new(text, 20).map(|(start, token, end)| (token, &text[start..end])).collect()
    }

    #[test]
    fn numbers_and_modifiers() {
        use Token::*;
        assert_eq!(
            read("0x1F 017 0b11U 0f3F800000 0d3FF0000000000000 1.5e3"),
            vec![
                (Integer, "0x1F"),
                (Integer, "017"),
                (Integer, "0b11U"),
                (Float, "0f3F800000"),
                (Float, "0d3FF0000000000000"),
                (Float, "1.5e3"),
            ]
        );
        assert_eq!(
            read("tex.2d.shared::cta.L2::128B"),
            vec![(Identifier, "tex"), (Dotted, ".2d"), (Dotted, ".shared::cta"), (Dotted, ".L2::128B")]
        );
    }

    #[test]
    fn annotations_survive_other_comments_do_not() {
        assert_eq!(read("// a\n/* b */ //@ assert 1;\n"), vec![(Token::Annotation, "//@ assert 1;")]);
    }

    #[test]
    fn braces_are_classified() {
        use Token::*;
        let tokens = read("{ mov {a}, b; L: { } }").into_iter().map(|(token, _)| token);
        let braces: Vec<_> = tokens.filter(|t| matches!(t, ScopeOpen | ScopeClose | BraceOpen | BraceClose)).collect();
        assert_eq!(braces, vec![ScopeOpen, BraceOpen, BraceClose, ScopeOpen, ScopeClose, ScopeClose]);
    }

    #[test]
    fn a_body_is_one_token() {
        for body in ["{}", "{ { /* } */ } // }\n \"}\" {a} / }", "{ \n# 1 \"}\"\n }", "{ \" }\n}", "{ not closed"] {
            let text = format!(".entry k() {body} .func");
            let tokens = Tokens::with_whole_bodies(&text, 20).map(|(start, token, end)| (token, &text[start..end]));
            let whole = if body.ends_with('}') { body } else { &text[".entry k() ".len()..] };
            assert!(tokens.collect::<Vec<_>>().contains(&(Token::Body, whole)), "{body}");
        }
    }

    #[test]
    fn bad_characters_are_counted_and_bounded() {
        let text = "\u{1}\u{7f}€ ".repeat(1000);
        let mut tokens = Tokens::new(&text, 20);
        assert!(tokens.next().is_none());
        assert_eq!(tokens.errors.len(), 20);
        assert!(super::tokens("é x").contains("error"));
    }

    #[test]
    fn lines_count_from_one() {
        let lines = Lines::new("a\nb\n");
        assert_eq!([lines.line(0), lines.line(1), lines.line(2), lines.line(4)], [1, 1, 2, 3]);
    }
}
