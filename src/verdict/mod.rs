//! Stage 9, `verdict`: proofs and models to findings.

pub mod confirm;
pub mod decide;
pub mod finding;
pub mod prove;
