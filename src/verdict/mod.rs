//! Stage 9, `verdict`: proofs and models to findings.

pub mod finding;
pub mod prove;
