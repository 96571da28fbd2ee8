//! Tests of stage 4.

mod evaluate;
mod lockstep;
mod order;
mod random;
mod refinements;
