//! Stage 2, `cfg`: one `.entry` to a reducible control-flow graph with calls inlined.
//!
//! Input: a resolved [`Module`] and one of its entries. Output: a [`graph::Cfg`].
//! Four passes, one a file: [`inline`] copies device functions into a flat list of lines, [`blocks`]
//! cuts the list into basic blocks, [`reducible`] splits nodes until every cycle is a natural loop,
//! [`loops`] names the loops. [`print()`] shows the result.

mod annotations;
pub(crate) mod blocks;
pub(crate) mod external;
pub(crate) mod graph;
pub(crate) mod indirect;
pub(crate) mod inline;
pub(crate) mod loops;
pub mod print;
pub(crate) mod reducible;
pub(crate) mod unknown;

use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Function, Module};
use crate::rules::Rules;
use graph::Cfg;
pub use print::{dot, print};

/// Builds the control-flow graph of an entry. The rules say what a function without a body may do.
///
/// # Errors
/// `unsupported` diagnostics for what has no model (undefined functions, recursion, irreducible
/// control flow beyond the growth bound), errors for control that falls off the end of a body.
pub fn build(module: &Module, entry: &Function, rules: Rules) -> Result<Cfg, Vec<Diagnostic>> {
    let flat = inline::run(module, entry, rules)?;
    let mut cfg = blocks::run(entry, flat)?;
    reducible::run(&mut cfg, entry.span)?;
    loops::separate_headers(&mut cfg);
    cfg.loops = loops::natural_loops(&cfg);
    Ok(cfg)
}
