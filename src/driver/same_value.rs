//! Races in which both threads write one value: with `--allow-same-value` strictly first, then with values compared; without
//! it, what lies behind such a race.
//!
//! Input: a way to verify a kernel under rules. Output: the better of two reports, or both in one. Establishes: the answer is
//! no worse than without the option, and no defect is reported that the option tolerates; without the option a race of one
//! value is the first finding only if the effort for another one shows none. Relies on: what has no race at all has none of
//! different values. Why: where values are compared, contents of arrays are not kept track of, and formulas are larger.
//! Nothing that the strict proof leaves behind is used when values are compared: what it knows of contents rests on there
//! being no race.

use crate::diagnostic::Diagnostic;
use crate::effort::{self, Effort};
use crate::exec::command::ALLOW_SAME_VALUE as OPTION;
use crate::finding::{Finding, KernelReport, Verdict, groups};
use crate::limits;
use crate::rules::Rules;
use crate::verdict::decide::Search;

type Answer = Result<KernelReport, Vec<Diagnostic>>;

/// How a kernel is verified once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) rules: Rules,
    pub(crate) effort: Effort,
    /// The most that is done beside a proof.
    pub(crate) search: Search,
}

/// For what lies behind a race of one value.
const BEHIND: Effort = Effort::seconds(1);

/// Verifies by one plan, or by two.
///
/// # Errors
/// Those of `verify`.
pub(crate) fn verify(rules: Rules, effort: Effort, verify: &mut dyn FnMut(Plan) -> Answer) -> Answer {
    if !rules.allow_same_value {
        let report = verify(Plan { rules, effort, search: Search::Thorough })?;
        return Ok(look_behind(report, rules, effort, verify));
    }
    let before = effort::spent();
    let strict = Rules { allow_same_value: false, ..rules };
    // It has all the effort, since it must find what is found without the option. Defects end it, and matter no further.
    let first = verify(Plan { rules: strict, effort, search: Search::Quick })?;
    if first.verdict == Verdict::Verified {
        return Ok(first);
    }
    let effort = effort - (effort::spent() - before);
    let second = verify(Plan { rules, effort, search: Search::Thorough });
    match second {
        second if first.verdict != Verdict::VerifiedWhen => second,
        Ok(second) if is_better(&second, &first) => Ok(second),
        _ => Ok(first),
    }
}

/// Looks for other defects where both threads of the gravest one write one value.
fn look_behind(
    mut report: KernelReport,
    rules: Rules,
    effort: Effort,
    verify: &mut dyn FnMut(Plan) -> Answer,
) -> KernelReport {
    if !report.findings.first().is_some_and(|first| first.confirmed && first.same_value) {
        return report;
    }
    let plan =
        Plan { rules: Rules { allow_same_value: true, ..rules }, effort: effort.min(BEHIND), search: Search::Thorough };
    // Without an answer there is only less to say.
    let Ok(Ok(behind)) = limits::within(|| verify(plan)) else { return report };
    let proved = match behind.verdict {
        Verdict::Verified => Some("with it the kernel is proved".to_string()),
        Verdict::VerifiedWhen => Some(format!("with it the kernel is proved when {}", behind.conditions.join(" and "))),
        _ => None,
    };
    report
        .findings
        .iter_mut()
        .filter(|finding| finding.same_value)
        .for_each(|finding| finding.mended.clone_from(&proved));
    let shown = behind.findings.into_iter().filter(|finding| finding.confirmed).map(without_option);
    report.findings.extend(shown);
    groups::merge(&mut report.findings);
    report.verdict = Verdict::of(&report.findings).unwrap_or(report.verdict);
    report
}

/// The finding as the strict rules show it, too: they only see more.
fn without_option(finding: Finding) -> Finding {
    Finding { replay: finding.replay.map(|command| command.replace(&format!(" {OPTION}"), "")), ..finding }
}

/// Whether a proof with values compared says more than a strict one under conditions.
fn is_better(second: &KernelReport, strict: &KernelReport) -> bool {
    let adds_none = second.conditions.iter().all(|condition| strict.conditions.contains(condition));
    match second.verdict {
        Verdict::Verified => true,
        Verdict::VerifiedWhen => adds_none && second.conditions.len() < strict.conditions.len(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Defect;
    use crate::geometry::Geometry;
    use crate::span::{Origin, Span};
    use std::sync::Arc;

    const TOLERANT: Rules = Rules {
        allow_same_value: true,
        volatile_races: false,
        exited_threads_ok: false,
        may_alias: false,
        unknown_functions_arbitrary: false,
        check_bounds: false,
        warp_lockstep: false,
        tensor_order: false,
        warps_meet: false,
        objects_in_step: false,
        global_only: false,
    };

    fn report(verdict: Verdict, conditions: &[&str]) -> KernelReport {
        let mut report = KernelReport::new("k.ptx", "k", Geometry::FREE);
        report.verdict = verdict;
        report.conditions = conditions.iter().map(ToString::to_string).collect();
        report
    }

    /// The answer where the strict proof comes to one report and the other to another, and how many were made.
    fn answer(strict: KernelReport, tolerant: KernelReport) -> (Verdict, Vec<String>, usize) {
        let mut plans = 0;
        let answer = verify(TOLERANT, Effort::seconds(4), &mut |plan| {
            plans += 1;
            Ok(if plan.rules.allow_same_value { tolerant.clone() } else { strict.clone() })
        });
        let answer = answer.unwrap_or_else(|errors| panic!("{errors:?}"));
        (answer.verdict, answer.conditions, plans)
    }

    #[test]
    fn a_strict_proof_is_the_answer() {
        let race = report(Verdict::Unknown, &[]);
        assert_eq!(answer(report(Verdict::Verified, &[]), race), (Verdict::Verified, Vec::new(), 1));
    }

    #[test]
    fn what_the_option_tolerates_is_not_reported() {
        let race = Verdict::Defect(crate::finding::Defect::Race);
        let unknown = report(Verdict::Unknown, &[]);
        assert_eq!(answer(report(race, &[]), unknown), (Verdict::Unknown, Vec::new(), 2));
    }

    #[test]
    fn a_race_of_other_values_comes_before_one_of_one_value() {
        let strict = Rules { allow_same_value: false, ..TOLERANT };
        let race = |line: u32, same_value: bool| {
            let replay = if same_value { "gpuvcc run k.ptx" } else { "gpuvcc run k.ptx --allow-same-value" };
            let barrier = Some(Arc::new(Origin { span: Span::NONE, line, position: None, text: "st".into() }));
            let replay = Some(replay.to_string());
            Finding { same_value, replay, barrier, ..Finding::new(Defect::Race, true) }
        };
        let with =
            |finding: Finding| KernelReport { findings: vec![finding], ..report(Verdict::Defect(Defect::Race), &[]) };
        let answer = verify(strict, Effort::seconds(4), &mut |plan| {
            Ok(if plan.rules.allow_same_value { with(race(7, false)) } else { with(race(6, true)) })
        });
        let findings = answer.unwrap_or_else(|errors| panic!("{errors:?}")).findings;
        let shown: Vec<(bool, Option<&str>)> =
            findings.iter().map(|finding| (finding.same_value, finding.replay.as_deref())).collect();
        assert_eq!(shown, [(false, Some("gpuvcc run k.ptx")), (true, Some("gpuvcc run k.ptx"))]);
    }

    #[test]
    fn a_proof_under_conditions_stays_unless_there_is_a_better_one() {
        let strict = || report(Verdict::VerifiedWhen, &["n <= 8", "m <= 8"]);
        let kept = (Verdict::VerifiedWhen, strict().conditions, 2);
        assert_eq!(answer(strict(), report(Verdict::Unknown, &[])), kept);
        assert_eq!(answer(strict(), report(Verdict::VerifiedWhen, &["k <= 8"])), kept);
        let fewer = (Verdict::VerifiedWhen, vec!["m <= 8".to_string()], 2);
        assert_eq!(answer(strict(), report(Verdict::VerifiedWhen, &["m <= 8"])), fewer);
        assert_eq!(answer(strict(), report(Verdict::Verified, &[])), (Verdict::Verified, Vec::new(), 2));
    }
}
