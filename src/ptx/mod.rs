//! Stage 1, `ptx`: text to a typed [`ast::Module`].
//!
//! The line is [`lexer`] (tokens), [`mod@parse`] (the grammar in `grammar/ptx.lalrpop`, giving the
//! untyped tree of [`syntax`]), then name resolution and typing: [`module`] for the top level,
//! [`body`] for statements, [`operands`] (with [`values`] below it) and [`build`] for one instruction. What an opcode takes
//! and means stands in [`table`] and its row files; [`words`] has types, special registers and
//! literals, [`location`] the `.loc` positions, [`annotation`] the facts in `//@` comments. [`mod@print`] shows the result, [`mod@unparse`] writes the
//! untyped tree as PTX again. `volatile` serves an option.

pub(crate) mod annotation;
pub mod ast;
mod asynchronous;
pub(crate) mod body;
pub(crate) mod build;
mod build_asynchronous;
pub mod context;
pub(crate) mod declare;
pub(crate) mod descriptor;
pub(crate) mod fragment;
mod initialiser;
pub mod lexer;
pub(crate) mod location;
pub(crate) mod mangled;
mod matrix;
pub(crate) mod module;
pub(crate) mod operands;
mod operation;
pub mod parse;
pub(crate) mod pattern;
pub(crate) mod print;
pub(crate) mod registers;
pub(crate) mod roles;
pub(crate) mod scope;
pub mod syntax;
pub mod table;
mod table_arithmetic;
mod table_async;
mod table_control;
mod table_fabric;
mod table_matrix;
mod table_memory;
mod table_texture;
mod tensor_memory;
pub mod unparse;
pub(crate) mod values;
mod vector_move;
mod volatile;
pub(crate) mod words;
mod workspace;

pub use lexer::tokens;
pub use module::parse;
pub use print::print_ast;
pub(crate) use volatile::weaken_volatile;
