//! Concrete execution of passive programs: values instead of formulas.
//!
//! Input: a passive program, and values of its symbols (those of a model, or others). Output: what terms are under them,
//! and what the blocks of the program do. Establishes: values are exact, as SMT-LIB defines the operators; loops run round
//! for round, each with the values that the last one left. Nothing is proved here. Relies on: basic sorts only, as
//! programs of kernels have them. Reference: none.
//!
//! [`code`] makes instructions of terms and [`program`] steps of blocks, once; [`evaluate`] runs the former, [`way`] the
//! latter where nothing is left open. [`crate::infer::simulate`] runs them to refute candidates.

pub mod code;
pub mod evaluate;
mod operators;
pub(crate) mod program;
pub(crate) mod way;
