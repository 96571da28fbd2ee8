//! The intermediate verification language: syntax, builders, parser, printer, type checker.

pub mod ast;
pub mod bv;
pub mod bv_names;
mod surface;
mod token;
lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, missing_docs, unused)]
    grammar,
    "/ivl.rs"
);
