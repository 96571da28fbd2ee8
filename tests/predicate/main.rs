//! Tests of stage 4.

mod alone;
mod evaluate;
mod files;
mod lockstep;
mod order;
mod random;
mod refinements;
