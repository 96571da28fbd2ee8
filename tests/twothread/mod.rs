//! Tests of stage 5.

mod barriers;
mod contract;
mod encodings;
pub mod execution;
mod files;
pub mod program;

use crate::predicate::{alone, evaluate, random};
