//! The intermediate verification language: syntax, builders, parser, printer, type checker.

pub mod ast;
pub mod bv;
pub mod bv_names;
