//! Stage 9, `verdict`: proofs and executions of all pairs of threads to a report.

pub mod decide;
mod vacuity;
