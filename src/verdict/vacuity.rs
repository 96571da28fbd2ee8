//! Proofs that say nothing, because nobody meets the assumptions of the user.
//!
//! Input: what the probes of each pair of threads found. Output: warnings and errors. Establishes: where all pairs
//! of threads are excluded, or all of a kind that the launch has, or no thread that comes to a `requires` satisfies it, there is no verdict.
//! Reference: DESIGN section 3 (nothing is proved of nothing).

use crate::diagnostic::{Diagnostic, Severity};
use crate::ivl::ast::{Stmt, StmtKind};
use crate::ivl::claim::Premise;
use crate::kernel::Kernel;
use crate::prove::PairOutcome;
use crate::prove::question::statements;
use crate::span::Origin;
use std::sync::Arc;

/// Which pairs of threads the assumptions of the user leave.
#[derive(Default)]
pub(crate) struct Vacuity {
    pairs: usize,
    vacuous: usize,
    /// All pairs are excluded of a kind that each such launch has.
    lacks: bool,
    /// For each pair that is left, the assumptions that no thread satisfies.
    unsatisfied: Vec<Vec<Arc<Origin>>>,
}

impl Vacuity {
    /// Takes note of a pair; `exists`: each launch that is meant has one.
    pub(crate) fn add(&mut self, outcome: &PairOutcome, exists: bool) {
        self.pairs += 1;
        if outcome.vacuous {
            self.vacuous += 1;
            self.lacks |= exists;
        } else {
            self.unsatisfied.push(outcome.unsatisfied.clone());
        }
    }

    /// No pair is left, or none of a kind that there is.
    pub(crate) fn is_total(&self) -> bool {
        self.lacks || self.pairs > 0 && self.vacuous == self.pairs
    }

    /// Warnings about assumptions that no thread satisfies, in whatever pair.
    ///
    /// # Errors
    /// The same, if it is a requirement of all launches.
    pub(crate) fn diagnostics(&self, kernel: &Kernel) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let (first, others) = match self.unsatisfied.split_first() {
            Some(split) => split,
            None => return Ok(Vec::new()),
        };
        let mut warnings = Vec::new();
        for origin in first.iter().filter(|origin| others.iter().all(|other| other.contains(origin))) {
            let message = "no thread that comes here satisfies this, so nothing is said about what stands behind it";
            let is_required = |stmt: &Stmt| {
                stmt.origin.as_ref() == Some(origin) && matches!(stmt.kind, StmtKind::Assume(Premise::Required, _))
            };
            if statements(kernel).any(is_required) {
                return Err(vec![Diagnostic::error("contradictory-requirements", message, origin.span)]);
            }
            let warning = Diagnostic::error("unsatisfied-assumption", message, origin.span);
            warnings.push(Diagnostic { severity: Severity::Warning, ..warning });
        }
        Ok(warnings)
    }
}
