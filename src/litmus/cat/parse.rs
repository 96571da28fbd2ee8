//! From the text of a memory model to its tree.
//!
//! Input: text. Output: a [`Model`], or a diagnostic. Establishes: the text fits `grammar/cat.lalrpop`. Relies on: nothing.
//! Reference: herd7's manual, "The language of memory models".

use super::ast::Model;
use super::token::lex;
use crate::diagnostic::Diagnostic;
use crate::litmus::grammar_cat::ModelParser;
use crate::litmus::parse::syntax_error;

/// Reads a model.
///
/// # Errors
/// What is wrong, at its place.
pub fn parse(text: &str) -> Result<Model, Diagnostic> {
    let tokens = lex(text)?;
    let stream = tokens.into_iter().map(Ok);
    ModelParser::new().parse(stream).map_err(|error| syntax_error("model-syntax", error, text))
}
