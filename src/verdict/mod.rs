//! Stage 9, `verdict`: proofs and models to findings.

mod barrier_invariants;
mod barriers;
mod bits;
mod bounded;
mod compiled;
pub mod conditions;
pub mod confirm;
mod conflict;
mod contents;
pub mod decide;
pub mod emulate;
mod evaluate;
pub mod explore;
pub mod finding;
mod linear;
pub mod minimal;
pub mod natural;
pub mod prove;
pub mod replay;
pub mod search;
mod skip;
mod thread;
pub mod used;
mod vacuity;
pub mod weaken;
