//! Tests of stage 4.

pub mod alone;
pub mod evaluate;
mod files;
mod lockstep;
mod order;
pub mod random;
mod refinements;
