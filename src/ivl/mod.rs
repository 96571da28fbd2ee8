//! The intermediate verification language (IVL): Boogie 2's core, and kernels.
//!
//! [`parse`] reads a program, [`print`] writes it, [`check`] tells whether a generated one is well
//! typed, [`visit`] walks over it, [`bv`] builds expressions.
//!
//! Of Boogie 2 all is there but polymorphism, lambda, reals, the partial order of constants and the
//! words of Civl, which are errors of the code `ivl-subset`. In the [`Dialect`] of `.bpl` files the
//! words added here are plain names.
//!
//! Beyond Boogie, a program may declare arrays and its procedures may use them:
//!
//! ```text
//! shared sum: [64]bv32;                    // once a block: 64 elements of 4 bytes
//! global data: []bv8;                      // once a launch, size unknown
//! procedure {:kernel} scan(n: bv32) {      // tid.x, ntid.x and the like need no declaration
//!   var temp: bv32;
//!   temp := sum[tid.x];                    // a load; indices of fewer bits are zero-extended
//!   sum[tid.x] := BV32_ADD(temp, 1bv32);   // a store
//!   barrier;
//! }
//! ```
//!
//! `atomic x := A[i];` is an atomic operation, `r := barrier;` a barrier with a common result,
//! `fence "membar.gl";` a fence. Attributes behind a statement say what is not default:
//! `{:bytes 4} {:strong "gpu"} {:guard e}` on accesses, `{:id e} {:count e} {:unaligned} {:guard e}` on
//! barriers. Bit-vector functions such as `BV32_ADD` need no declaration; see [`bv_names`].

mod access;
pub mod ast;
pub mod attributes;
pub mod bv;
mod bv_definitions;
pub mod bv_names;
mod check;
pub mod claim;
mod desugar;
mod directives;
pub mod event;
pub(crate) mod graph;
mod int_definitions;
mod left_out;
mod mentions;
pub(crate) mod merge;
pub(crate) mod modifies;
mod newer;
mod parse;
mod print;
mod print_expr;
mod scope;
mod subset;
mod surface;
#[cfg(test)]
mod tests;
mod token;
pub mod visit;
lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, missing_docs, unreachable_pub, unused)]
    grammar,
    "/ivl.rs"
);

pub use check::{check, check_stage, launch_constant};
pub(crate) use mentions::in_reading_order;
pub use parse::{parse, parse_dialect, parse_expr, parse_inferring};
pub(crate) use print::print_with_places;
pub use print::{print, print_with_notes};
pub(crate) use print_expr::{print_expr, print_type};
pub use token::{Dialect, tokens};
