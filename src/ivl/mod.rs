//! The intermediate verification language: syntax, builders, parser, printer, type checker.

pub mod ast;
pub mod builtins;
pub mod bv;
mod surface;
mod token;
lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, missing_docs, unused)]
    grammar,
    "/ivl.rs"
);
