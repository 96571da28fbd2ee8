//! Tests of stage 5.

#[path = "../predicate/alone.rs"]
mod alone;
#[path = "../predicate/evaluate.rs"]
mod evaluate;
#[path = "../predicate/random.rs"]
mod random;

mod barriers;
mod contract;
mod encodings;
mod execution;
mod files;
mod program;
