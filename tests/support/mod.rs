//! What the tests share: the shipped kernels with their expectations, one run of the pipeline in
//! process, the program as a user runs it, and the formats of its reports.

pub mod boogie;
pub mod cases;
pub mod conditions;
pub mod formats;
pub mod places;
pub mod program;
pub mod replay;
pub mod run;
pub mod schema;
pub mod table;
