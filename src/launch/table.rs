//! Proofs where rows are as long as a parameter says.
//!
//! Input: what is likely of the parameters ([`super::plausible`]). Output: a proof under the part of it that is needed, and
//! findings with other values, which are listed beside it. Establishes: nothing is taken for granted; what the proof needs is
//! a condition of the report. Relies on: nothing. Reference: docs/stages/launch.md.

use super::condition::Condition;
use super::{ALL_ENCODINGS, Attempt, Found, Launches, conditions, is_endless, natural};
use crate::effort::{Budget, Effort};
use crate::finding::{Finding, KernelReport, Verdict};
use crate::verdict::decide::Search;

/// For a proof for any values at a launch that is given. (The largest kernel with rows that has one takes 8.)
const ANY_VALUES: Effort = Effort::seconds(12);

/// The same where threads go on from an element to another one: for the largest sizes, their indices wrap.
const ANY_VALUES_OF_STRIDES: Effort = Effort::seconds(6);

/// For a first look at any values, and then for a proof for those that are likely.
const FIRST_LOOK: Effort = Effort::milliseconds(2500);
const LIKELY_VALUES: Effort = Effort::seconds(4);

/// What decides a kernel before all values and defects are looked at in turn.
pub(super) enum Soon {
    /// A proof.
    Proved(Found),
    /// A defect that an execution shows.
    Defect(KernelReport),
}

/// What a look at all values shows.
enum Look {
    Decided(Box<Soon>),
    /// An execution with values that are not likely has a defect.
    Refuted,
    Open,
}

impl Launches<'_, '_> {
    /// A proof where rows are as long as a parameter says, or where threads go on from an element to another one: for any
    /// values there is hardly one, and to see that takes long. So after a short look at any values, what is likely is tried.
    /// What the proof does not need is left out again. A defect that a few executions show is no matter of values.
    pub(super) fn with_table(&mut self) -> Option<Soon> {
        let tables = conditions::tables(self.plausible);
        let goes_on = natural::goes_on(self.essence);
        if tables.is_empty() && !goes_on {
            return None;
        }
        let most = if goes_on { ANY_VALUES_OF_STRIDES } else { ANY_VALUES };
        let most = most.min(self.budget.left() / 5);
        let mut has_defect = None;
        if let Some(likely) = tables.last().filter(|_| most > FIRST_LOOK) {
            let first = self.for_any_values(FIRST_LOOK)?;
            if let Look::Decided(soon) = first {
                return Some(*soon);
            }
            if *has_defect.get_or_insert_with(|| self.execution(&[], Search::Execution).is_some()) {
                return None;
            }
            let until = self.budget.part(self.budget.left() / 2);
            self.proof_until = Some(self.budget.part(LIKELY_VALUES.min(self.budget.left() / 8)));
            self.any_values = Some(if matches!(first, Look::Open) { most } else { Effort::default() });
            let found = self.find(vec![likely.clone()], &[], 1, until);
            (self.proof_until, self.any_values) = (None, None);
            if let Some(found) = found {
                return Some(Soon::Proved(found));
            }
            // That little effort did not prove it tells nothing.
            self.failed.clear();
        }
        if let Look::Decided(soon) = self.for_any_values(most)? {
            return Some(*soon);
        }
        if has_defect.unwrap_or_else(|| self.execution(&[], Search::Execution).is_some()) {
            return None;
        }
        // What is proved where rows stay apart is not tried without any condition again.
        if !tables.is_empty() {
            self.failed.insert((Vec::new(), 1));
        }
        // Half of the effort is for defects that values show. Where it is only very large values that wrap, there need be no
        // likely ones.
        let until = self.budget.part(self.budget.left() / 2);
        // Quotients by sizes that may be 0 are no digits, however small the sizes are.
        let has_digits = self.plausible.iter().any(|condition| matches!(condition, Condition::Number(..)));
        let bounded = conditions::sizes(self.kernel, self.essence).into_iter().take(usize::from(!has_digits));
        self.find_in_turn(bounded.chain(tables).collect(), &[], until).map(Soon::Proved)
    }

    /// A look at all values; `None` if there is nothing to be gained from values that are likely.
    fn for_any_values(&mut self, effort: Effort) -> Option<Look> {
        let soon = Attempt { effort, search: Search::Quick, encodings: ALL_ENCODINGS };
        let report = (self.decide)(&[], soon).ok()?;
        match report.verdict {
            Verdict::Verified => Some(Look::Decided(Box::new(Soon::Proved((Vec::new(), report))))),
            verdict if verdict.confirmed() => Some(Look::Decided(Box::new(Soon::Defect(report)))),
            _ if is_endless(&report) => None,
            _ => {
                let is_refuted = !report.outside.is_empty();
                self.beside.extend(report.outside);
                Some(if is_refuted { Look::Refuted } else { Look::Open })
            }
        }
    }

    /// A proof under one of the proposals over integers: bit by bit, products of unknowns are beyond the solver. Each
    /// leaves a share of the effort to those after it.
    pub(super) fn find_in_turn(
        &mut self,
        proposals: Vec<Vec<Condition>>,
        findings: &[Finding],
        until: Budget,
    ) -> Option<Found> {
        let count = proposals.len() as u64;
        let shares = (1..=count).rev();
        proposals.into_iter().zip(shares).find_map(|(proposal, parts)| {
            let share = until.part(until.left() / parts);
            self.proof_until = Some(share);
            let found = self.find(vec![proposal], findings, 1, until);
            self.proof_until = None;
            found
        })
    }

    /// What is listed beside a report: findings with values that no host is likely to pass. Those that attempts to leave
    /// out conditions of the proof met count where they break none of the conditions on sizes.
    pub(super) fn examples(&mut self, report: Option<&KernelReport>) -> Vec<Finding> {
        let mut outside = std::mem::take(&mut self.outside);
        let proved = self.proved.as_ref().filter(|_| report.is_some_and(|r| r.verdict == Verdict::VerifiedWhen));
        if let (true, Some((_, conditions))) = (outside.is_empty(), proved) {
            let sizes: Vec<&Condition> = conditions.iter().filter(|c| c.parameters().is_empty()).collect();
            let meets = |finding: &Finding| sizes.iter().all(|condition| condition.holds(finding));
            outside.extend(std::mem::take(&mut self.beside).into_iter().find(meets));
        }
        outside
    }
}
