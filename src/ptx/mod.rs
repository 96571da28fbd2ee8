//! Stage 1, `ptx`: text to a typed [`ast::Module`].
//!
//! The line is [`lexer`] (tokens), [`mod@parse`] (the grammar in `grammar/ptx.lalrpop`, giving the
//! untyped tree of [`syntax`]), then name resolution and typing: [`module`] for the top level,
//! [`body`] for statements, [`operands`] (with [`values`] below it) and [`build`] for one instruction. What an opcode takes
//! and means stands in [`table`] and its row files; [`words`] has types, special registers and
//! literals, [`location`] the `.loc` positions, [`annotation`] the facts in `//@` comments. [`mod@print`] shows the result, [`mod@unparse`] writes the
//! untyped tree as PTX again. `volatile` serves an option.

pub mod annotation;
pub mod ast;
pub mod body;
pub mod build;
pub mod context;
pub mod declare;
pub mod fragment;
mod initialiser;
pub mod lexer;
pub mod location;
pub mod mangled;
mod matrix;
pub mod module;
pub mod operands;
mod operation;
pub mod parse;
pub mod pattern;
pub mod print;
pub mod registers;
pub mod scope;
pub mod syntax;
pub mod table;
mod table_arithmetic;
mod table_async;
mod table_control;
mod table_fabric;
mod table_matrix;
mod table_memory;
mod table_texture;
pub mod unparse;
pub mod values;
mod vector_move;
mod volatile;
pub mod words;

pub use lexer::tokens;
pub use module::parse;
pub use print::print_ast;
pub use volatile::weaken_volatile;
