//! `gpuvcc`: a compiler from PTX, through a Boogie-style intermediate verification language, to a
//! proof that a kernel has no data race and no barrier divergence, or to the race itself.
//!
//! Data flows one way, one module a stage; `driver` composes them.

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
pub mod interrupt;
pub mod ivl;
pub mod jobs;
pub mod kernel;
pub mod launch;
pub mod limits;
pub mod modular;
pub mod order;
pub mod predicate;
pub mod prove;
pub mod ptx;
pub(crate) mod query;
pub mod report;
pub mod rules;
pub mod solver;
pub mod span;
pub mod stats;
pub mod twothread;
pub mod vcgen;
pub mod verdict;

/// In place of the C library's, which gets memory in small pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
