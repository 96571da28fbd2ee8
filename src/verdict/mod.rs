//! Stage 9, `verdict`: proofs and models to findings.

mod bits;
mod compiled;
mod conflict;
mod evaluate;
pub mod confirm;
pub mod decide;
pub mod finding;
pub mod prove;
pub mod replay;
pub mod search;
mod skip;
mod thread;
