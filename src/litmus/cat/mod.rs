//! Memory models in the .cat language: [`fn@parse`] reads one, [`mod@eval`] says what it means for the events of a test.

pub(crate) mod ast;
pub(crate) mod eval;
mod parse;
pub(crate) mod token;

pub use ast::Model;
pub use parse::parse;

/// The model of the PTX ISA.
pub const PTX: &str = include_str!("../../../prelude/ptx.cat");
