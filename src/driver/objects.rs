//! Barrier objects in lock-step: a second try, for kernels that have no answer otherwise.
//!
//! Input: the answer of the symbolic proof. Output: the same, or `verified` where the kernel is refused for what it has not got a model of
//! and the model of [`crate::kernel`] (`objects`) proves it. Establishes: nothing but a proof comes of that model, whose
//! rules are stricter than those of the ISA, so that a rule which is broken is no defect. Relies on: that model.

use super::pipeline::Program;
use super::same_value::Plan;
use crate::diagnostic::{Diagnostic, Severity};
use crate::effort::Effort;
use crate::finding::{KernelReport, Verdict};
use crate::rules::Rules;
use crate::sync;
use crate::verdict::decide::Search;

/// What a second try may cost: those that are proved so far take less than a second.
const MOST: Effort = Effort::seconds(8);

type Answer = Result<KernelReport, Vec<Diagnostic>>;

/// The answer, or a proof.
pub(super) fn or_in_step(
    answer: Answer,
    program: &Program,
    rules: Rules,
    effort: Effort,
    verify: &mut dyn FnMut(Plan) -> Answer,
) -> Answer {
    let is_refused = |diagnostics: &Vec<Diagnostic>| {
        diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Unsupported)
    };
    let Program::Ptx(module) = program else { return answer };
    if !answer.as_ref().err().is_some_and(is_refused) || !sync::is_for(module) {
        return answer;
    }
    let plan =
        Plan { rules: Rules { objects_in_step: true, ..rules }, effort: effort.min(MOST), search: Search::Proof };
    match verify(plan) {
        Ok(report) if report.verdict == Verdict::Verified => Ok(report),
        _ => answer,
    }
}
