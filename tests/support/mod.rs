//! What the test runners share: the shipped kernels with their expectations, and one run of the
//! pipeline in process.

pub mod cases;
pub mod cpu_time;
pub mod damage;
pub mod large_module;
pub mod random_modules;
pub mod reading;
pub mod replay;
pub mod run;
