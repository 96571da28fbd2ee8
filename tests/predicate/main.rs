//! Tests of stage 4.

mod lockstep;
mod order;
mod random;
mod refinements;
