//! Stage 1, `ptx`: text to a typed [`ast::Module`].

pub mod ast;
