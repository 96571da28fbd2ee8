//! Stage 7, `vcgen`: an IVL procedure to a passive program ([`passify`]), then to one formula over
//! a hash-consed DAG ([`wp`], [`term`]), linear in the size of the program.

mod bits;
mod bitvector;
mod boolean;
mod integer;
pub mod passify;
pub mod passive;
mod ranges;
pub mod regions;
pub mod term;
mod translate;
pub mod wp;
