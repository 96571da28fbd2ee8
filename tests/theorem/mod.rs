//! Theorem 5.2 of the lock-step paper as tests: a kernel is executed by threads that interleave
//! statement by statement, and by the predicated kernel in lock-step. Both find a defect or none; without
//! one they leave the same memory, and every thread does the same accesses (`equivalence`). What two
//! threads of a lock-step run do wrong fails the assertion of the two-thread program, and nothing else
//! fails (`pairs`). `lowering` compares PTX, as emulated, with the kernel that it becomes.
//!
//! Cases are numbered; a failure prints the number and the smallest kernel that fails.
//! GPUVCC_THEOREM_CASES multiplies how many there are.

mod counterexamples;
mod equivalence;
mod interleaving;
mod kernels;
mod lockstep;
mod pairs;
mod run;

use crate::predicate::{evaluate, random};
use crate::twothread::program;
use gpuvcc::ivl::{self, ast::Program};

/// How many cases a test runs.
fn cases(usual: u64) -> u64 {
    let factor: Option<f64> = std::env::var("GPUVCC_THEOREM_CASES").ok().and_then(|text| text.parse().ok());
    (usual as f64 * factor.unwrap_or(1.0)) as u64
}

/// The smallest of the programs that a check refuses, with its case and the reason.
#[derive(Default)]
struct Smallest(Option<(usize, String)>);

impl Smallest {
    fn add(&mut self, case: u64, program: &Program, reason: &str) {
        let text = ivl::print(program);
        let size = text.lines().count();
        if self.0.as_ref().is_none_or(|(smallest, _)| size < *smallest) {
            self.0 = Some((size, format!("case {case}: {reason}\n{text}")));
        }
    }

    #[track_caller]
    fn fail_if_any(self) {
        if let Some((_, text)) = self.0 {
            panic!("{text}");
        }
    }
}
