//! Stage 9, `verdict`: proofs and executions of all pairs of threads to a report.

pub(crate) mod decide;
mod invariants;
mod vacuity;
