//! Stage 7, `vcgen`: an IVL procedure to a passive program ([`passify`]), then to one formula over
//! a hash-consed DAG ([`wp`], [`term`]), linear in the size of the program. [`unroll`] comes before, where
//! executions are looked for and not proofs.

mod bits;
mod bitvector;
mod boolean;
pub(crate) mod contracts;
mod definitions;
mod edges;
mod exits;
mod integer;
mod loops;
mod maps;
pub mod passify;
pub mod passive;
pub(crate) mod print;
pub(crate) mod ranges;
pub(crate) mod regions;
pub(crate) mod selective;
mod shown;
pub mod term;
pub(crate) mod translate;
pub(crate) mod unroll;
pub mod wp;
