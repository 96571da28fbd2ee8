//! What the test runners share: the shipped kernels with their expectations, and one run of the
//! pipeline in process.

pub mod cases;
pub mod conditions;
pub mod places;
pub mod replay;
pub mod run;
