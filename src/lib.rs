//! `gpuvcc`: a compiler from PTX, through a Boogie-style intermediate verification language, to a
//! proof that a kernel has no data race and no barrier divergence, or to the race itself.
//!
//! Data flows one way, one module a stage; `driver` composes them.

// Tests, benches and the program see what is `pub`; the compiler finds what nobody uses among the rest.
#![warn(unreachable_pub)]

pub mod aliases;
pub mod cfg;
pub mod concrete;
pub mod confirm;
pub mod container;
pub mod diagnostic;
pub mod driver;
pub mod effort;
pub mod exec;
pub mod finding;
pub mod flow;
pub mod geometry;
pub mod infer;
pub(crate) mod interrupt;
pub mod ivl;
pub mod jobs;
pub mod kernel;
pub(crate) mod launch;
pub mod limits;
pub mod litmus;
pub(crate) mod modular;
pub mod order;
pub mod pages;
pub(crate) mod phases;
pub(crate) mod placed;
pub mod predicate;
pub mod prove;
pub mod ptx;
pub(crate) mod query;
pub mod report;
pub mod rules;
pub mod slice;
pub mod solver;
pub mod span;
pub(crate) mod stats;
pub(crate) mod sync;
pub mod twothread;
pub mod vcgen;
pub(crate) mod verdict;
pub(crate) mod words;

/// In place of the C library's, which gets memory in small pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
