//! Stage 1, `ptx`: text to a typed [`ast::Module`].

pub mod ast;
pub mod lexer;
pub mod parse;
pub mod syntax;
