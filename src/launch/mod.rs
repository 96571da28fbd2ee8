//! Which launches of a kernel are decided, in which order, and with how much effort.
//!
//! Input: the kernel lowered for the launch that was asked for, and a way to decide it under conditions. Output: the
//! report. Establishes: `verified` is a proof for all launches that were asked for, `verified-when` one under the
//! conditions that it names. Relies on: nothing. Reference: DESIGN section 3 (`verified-when`).
//!
//! Where sizes are free, the launches that the kernel itself suggests come first: if one is proved, its conditions are
//! left out again as far as the proof allows; if an execution of the first shows a defect, that is the answer, since
//! smaller blocks would only hide it. Then flat launches, and other sizes.
//!
//! Where rows are as long as a parameter says, a proof for any values is rare, and to see that takes most of the effort. So
//! the first proofs are sought under likely values ([`plausible`]), and each of these conditions is left out again if there
//! is a proof without it. Those that stay are conditions of the report: nothing is taken for granted.

pub(crate) mod columns;
pub(crate) mod condition;
pub(crate) mod conditions;
mod digits;
mod extents;
mod in_shared;
mod linear;
pub(crate) mod natural;
pub(crate) mod plausible;
mod product;
mod seen;
mod table;
mod uses;
mod votes;
mod weaken;

use self::condition::Condition;
use self::conditions::Suggestion;
use self::table::Soon;
use crate::diagnostic::Diagnostic;
use crate::effort::{self, Budget, Effort};
use crate::finding::{ENDLESS, Finding, KernelReport, Verdict};
use crate::geometry::Geometry;
use crate::kernel::Kernel;
use crate::verdict::decide::Search;
use std::collections::BTreeSet;

/// For the search for launch conditions, if the verdict did not take more.
const MORE_CONDITIONS: Effort = Effort::seconds(8);

/// For a proof under launch conditions.
const ONE_CONDITION: Effort = Effort::seconds(5);

/// For the proof of the launch that a kernel suggests first.
const NATURAL_CONDITION: Effort = Effort::seconds(15);

/// For all launches that it suggests.
const NATURAL_CONDITIONS: Effort = Effort::seconds(24);

/// For flat launches, before other sizes are tried.
const FLAT_LAUNCHES: Effort = Effort::seconds(13);

/// The least for a proof under fewer conditions than one that was found.
const FEWER_CONDITIONS: Effort = Effort::milliseconds(800);

/// For an execution with a defect in a launch that the kernel suggests.
const NATURAL_DEFECT: Effort = Effort::seconds(6);

/// The least for a proof without any conditions, where there is one with all that are likely.
const ANY_VALUES_LEAST: Effort = Effort::seconds(3);

/// To look for weaker conditions, beside as much as the proof took.
const WEAKENING: Effort = Effort::milliseconds(1600);

/// How a kernel is decided under conditions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// What it may spend.
    pub(crate) effort: Effort,
    /// What is asked for beside a proof.
    pub(crate) search: Search,
    /// How many encodings are tried.
    pub(crate) encodings: usize,
}

/// Decides the kernel under conditions.
pub(crate) type Decide<'a> = dyn FnMut(&[Condition], Attempt) -> Result<KernelReport, Vec<Diagnostic>> + 'a;

/// Conditions, and the report of the proof under them.
type Found = (Vec<Condition>, KernelReport);

const ALL_ENCODINGS: usize = usize::MAX;

/// Decides a kernel for all launches, or for the weakest conditions that are found. `essence`: the same kernel with only what
/// a proof depends on, of which conditions on parameters are. `plausible`: what a host is likely to pass, or `None` if any
/// values are looked at.
///
/// # Errors
/// Errors in the input, and what has no sound model.
pub(crate) fn decide(
    (kernel, essence): (&Kernel, &Kernel),
    plausible: Option<&[Condition]>,
    effort: Effort,
    decide: &mut Decide,
) -> Result<KernelReport, Vec<Diagnostic>> {
    let mut launches = Launches {
        kernel,
        essence,
        decide,
        plausible: plausible.unwrap_or_default(),
        takes_any_values: plausible.is_none(),
        outside: Vec::new(),
        beside: Vec::new(),
        start: effort::spent(),
        budget: Budget::new(effort),
        failed: BTreeSet::new(),
        refuted: BTreeSet::new(),
        is_fixed: false,
        proved: None,
        proof_until: None,
        weaken_until: None,
        any_values: None,
    };
    let report = if kernel.geometry.has_free() { launches.any() } else { launches.given() };
    let outside = launches.examples(report.as_ref().ok());
    report.map(|report| KernelReport { outside, ..report })
}

/// The search for launches under which a kernel is verified.
struct Launches<'a, 'd> {
    kernel: &'a Kernel,
    /// What a proof of it depends on.
    essence: &'a Kernel,
    decide: &'a mut Decide<'d>,
    /// What holds of the values that a host is likely to pass.
    plausible: &'a [Condition],
    /// Whether a defect counts whatever values and blocks it needs.
    takes_any_values: bool,
    /// Findings with other values, once there are some: from then on plausible values are required.
    outside: Vec<Finding>,
    /// Findings with other values that attempts met which left out conditions of a proof.
    beside: Vec<Finding>,
    start: Effort,
    budget: Budget,
    /// Conditions under which no proof was found, with the number of encodings.
    failed: BTreeSet<(Vec<Condition>, usize)>,
    /// Conditions under which a proof was refuted by a model.
    refuted: BTreeSet<Vec<Condition>>,
    /// Whether the sizes that are tried hardly can be others.
    is_fixed: bool,
    /// What the last proof took, and under which conditions.
    proved: Option<(Effort, Vec<Condition>)>,
    /// When the search for a first proof ends, if it is to leave effort to another one.
    proof_until: Option<Budget>,
    /// When the search for weaker conditions than the first ones ends.
    weaken_until: Option<Budget>,
    /// For a proof without any conditions, where one with all of them is tried before it.
    any_values: Option<Effort>,
}

impl Launches<'_, '_> {
    /// The launch is given, and parameters may be free.
    fn given(&mut self) -> Result<KernelReport, Vec<Diagnostic>> {
        match self.with_table() {
            Some(Soon::Proved(found)) => return Ok(verified(found)),
            Some(Soon::Defect(report)) => return Ok(report),
            None => {}
        }
        let mut conditions = Vec::new();
        let plan = Attempt { effort: self.budget.left(), search: Search::Thorough, encodings: ALL_ENCODINGS };
        let report = self.informed(&mut conditions, plan)?;
        Ok(match report.verdict {
            Verdict::Verified => verified(self.beyond(conditions, report)),
            Verdict::Defect(_) => report,
            _ if is_endless(&report) => report,
            _ => {
                let bounded = self.with_plausible(conditions::sizes(self.kernel, self.essence));
                self.find_soon(bounded, &report.findings).map_or(report, verified)
            }
        })
    }

    /// Some sizes of the launch are free.
    fn any(&mut self) -> Result<KernelReport, Vec<Diagnostic>> {
        let natural = conditions::natural(self.kernel, self.essence, self.plausible);
        let is_patient = natural.is_empty();
        let meant = natural
            .first()
            .filter(|first| first.is_meant && !self.takes_any_values)
            .map(|first| first.conditions.clone());
        match self.natural(natural) {
            Some(report) => Ok(report),
            None => {
                let report = self.general(is_patient)?;
                Ok(match meant {
                    Some(meant) => self.in_the_meant_launch(&meant, report),
                    None => report,
                })
            }
        }
    }

    /// A defect in blocks of another size than the kernel is written for is none that somebody meets: what counts is
    /// what those blocks show. The other one is listed as outside.
    fn in_the_meant_launch(&mut self, meant: &[Condition], mut report: KernelReport) -> KernelReport {
        let is_size = |condition: &&Condition| {
            matches!(condition, Condition::Block(..) | Condition::Grid(..) | Condition::MultipleOf(..))
        };
        let sizes: Vec<Condition> = meant.iter().filter(is_size).cloned().collect();
        let meets = |finding: &Finding| sizes.iter().all(|condition| condition.holds(finding));
        let is_defect = matches!(report.verdict, Verdict::Defect(_));
        if !is_defect || report.findings.iter().any(|finding| finding.confirmed && meets(finding)) {
            return report;
        }
        let plan = Attempt { effort: self.budget.most(NATURAL_CONDITION), search: Search::Thorough, encodings: 1 };
        let within = (self.decide)(&sizes, plan).ok().filter(|within| within.verdict.confirmed());
        if let Some(within) = within {
            return within;
        }
        let (confirmed, possible): (Vec<_>, Vec<_>) = report.findings.drain(..).partition(|finding| finding.confirmed);
        self.outside.extend(confirmed);
        report.findings = possible;
        report.verdict = Verdict::of(&report.findings).unwrap_or(Verdict::Unknown);
        report
    }

    /// Decides under conditions; where only values that no host is likely to pass show a defect, under plausible ones.
    fn informed(&mut self, conditions: &mut Vec<Condition>, plan: Attempt) -> Result<KernelReport, Vec<Diagnostic>> {
        let report = (self.decide)(conditions, plan)?;
        let misleads = self.misleads(&report);
        if (report.outside.is_empty() && !misleads) || report.verdict.confirmed() || !self.outside.is_empty() {
            return Ok(report);
        }
        let more: Vec<Condition> = self.plausible.iter().filter(|more| !conditions.contains(more)).cloned().collect();
        let usual: Vec<Condition> = more.iter().filter(|condition| !condition.is_seldom_needed()).cloned().collect();
        // Sizes that the launch bounds are far less work than products that do not wrap.
        let share = if more.iter().any(|condition| matches!(condition, Condition::Covered(..))) { 4 } else { 2 };
        let mut tables = if usual.len() < more.len() { vec![usual, more] } else { vec![more] };
        while !tables.is_empty() {
            let fewer = [conditions.clone(), tables.remove(0)].concat();
            let effort = if tables.is_empty() { plan.effort } else { plan.effort / share };
            match (self.decide)(&fewer, Attempt { effort: self.budget.most(effort), ..plan }) {
                Ok(plausible) if !tables.is_empty() && !is_decided(&plausible) => {}
                // An example with other values is still more than none.
                Ok(plausible) if misleads && plausible.verdict == Verdict::Unknown => break,
                Ok(plausible) => {
                    self.outside = report.outside;
                    *conditions = fewer;
                    return Ok(plausible);
                }
                // The user requires other values: then they are meant.
                Err(_) => return Ok(promoted(report)),
            }
        }
        Ok(report)
    }

    /// Whether all that speaks against a proof are models, which no execution confirms, with values that no host is
    /// likely to pass.
    fn misleads(&self, report: &KernelReport) -> bool {
        let is_likely = |finding: &Finding| {
            let is_met = |launch: Geometry<u32>| plausible::are_met(self.plausible, launch, &finding.params);
            finding.launch.is_none_or(|launch| is_met(launch.or_one()))
        };
        let models = &report.findings;
        matches!(report.verdict, Verdict::Possible(_)) && !models.is_empty() && !models.iter().any(is_likely)
    }

    /// The launches that the kernel suggests: a proof, or a defect of the first of them.
    fn natural(&mut self, suggestions: Vec<Suggestion>) -> Option<KernelReport> {
        let Suggestion { conditions: first, is_fixed, .. } = suggestions.first()?.clone();
        self.is_fixed = is_fixed;
        // What is left is for other launches. Where a proof needs likely values, they are hardly worth half of the effort.
        let has_tables = suggestions.iter().any(|suggestion| suggestion.is_table);
        let most = if has_tables { self.budget.left() / 3 * 2 } else { self.budget.left() / 2 };
        let until = self.budget.part(NATURAL_CONDITIONS.min(most));
        let defect = self.execution(&first, Search::Execution);
        // A proof for other sizes would hide the defect.
        let worth = suggestions.into_iter().filter(|suggestion| defect.is_none() || suggestion.is_rival);
        let (tables, worth): (Vec<Suggestion>, Vec<Suggestion>) = worth.partition(|suggestion| suggestion.is_table);
        let [tables, worth] = [tables, worth].map(|of| of.into_iter().map(|s| s.conditions).collect::<Vec<_>>());
        let findings = defect.as_ref().map_or(&[][..], |report| &report.findings);
        let found = self.find_in_turn(tables, findings, until);
        if let Some(found) = found.or_else(|| self.find(worth, findings, ALL_ENCODINGS, until)) {
            // What the likeliest launch shows is not hidden by the proof for another one.
            self.outside.extend(defect.into_iter().flat_map(|report| report.findings).filter(|f| f.confirmed));
            return Some(verified(found));
        }
        self.is_fixed = false;
        match defect {
            None if self.refuted.contains(&first) => self.execution(&first, Search::Quick),
            defect => defect,
        }
    }

    /// A defect that an execution shows in the largest launch that meets the conditions.
    fn execution(&mut self, conditions: &[Condition], search: Search) -> Option<KernelReport> {
        let effort = self.budget.most(NATURAL_DEFECT);
        let attempt = Attempt { effort, search, encodings: ALL_ENCODINGS };
        // Requirements of the user may be about other sizes.
        let report = (self.decide)(&weaken::longest(conditions), attempt).ok()?;
        let meets =
            |finding: &Finding| finding.confirmed && conditions.iter().all(|c| c.is_bound() || c.holds(finding));
        let is_defect = matches!(report.verdict, Verdict::Defect(_)) && report.findings.iter().any(meets);
        log::debug!("{} {search:?}: {:?}", condition::text(conditions), report.verdict);
        is_defect.then_some(report)
    }

    /// Flat launches, then all that is proposed. Where launches that the kernel suggests are not proved, those that have
    /// fewer conditions are hardly worth much time.
    fn general(&mut self, is_patient: bool) -> Result<KernelReport, Vec<Diagnostic>> {
        let mut flat = conditions::flat(self.kernel);
        let most = if is_patient { FLAT_LAUNCHES } else { ONE_CONDITION };
        let effort = most.min(self.budget.left() / 3);
        let quick = Attempt { effort, search: Search::Quick, encodings: ALL_ENCODINGS };
        let mut report = match self.informed(&mut flat, quick) {
            // The user requires other sizes.
            Err(errors)
                if !flat.is_empty() && errors.iter().any(|error| error.code == "contradictory-requirements") =>
            {
                flat.clear();
                self.informed(&mut flat, quick)?
            }
            answer => answer?,
        };
        if report.verdict == Verdict::Verified {
            return Ok(verified(self.beyond(flat, report)));
        }
        if is_endless(&report) {
            return Ok(report);
        }
        self.failed.insert((flat.clone(), ALL_ENCODINGS));
        let sizes = self.with_plausible(conditions::sizes(self.kernel, self.essence));
        if let Some(found) = self.find_soon(sizes, &report.findings) {
            return Ok(verified(found));
        }
        if !matches!(report.verdict, Verdict::Defect(_)) {
            // Conditions on parameters have what it leaves.
            let left = self.budget.left();
            let effort = left - MORE_CONDITIONS.min(left / 4);
            let thorough = Attempt { effort, search: Search::Thorough, encodings: ALL_ENCODINGS };
            let later = self.informed(&mut flat, thorough)?;
            let earlier = std::mem::replace(&mut report, later);
            // Without effort left, patience tells less.
            if report.verdict == Verdict::Unknown && !earlier.findings.is_empty() {
                report = earlier;
            }
        }
        match report.verdict {
            Verdict::Verified => Ok(verified(self.beyond(flat, report))),
            Verdict::Defect(_) => Ok(report),
            _ => {
                let proposals = self.with_plausible(conditions::parameters(self.kernel, self.essence));
                let found = self.find_soon(proposals, &report.findings);
                Ok(found.map_or(report, verified))
            }
        }
    }

    /// The proposals, with plausible values where others show a defect.
    fn with_plausible(&self, mut proposals: Vec<Vec<Condition>>) -> Vec<Vec<Condition>> {
        let plausible = if self.outside.is_empty() { &[] } else { self.plausible };
        for proposal in &mut proposals {
            let more: Vec<Condition> = plausible.iter().filter(|c| !proposal.contains(c)).cloned().collect();
            proposal.extend(more);
        }
        proposals
    }

    /// All launches, or what can be left out of flat ones.
    fn beyond(&mut self, flat: Vec<Condition>, report: KernelReport) -> Found {
        if flat.is_empty() {
            return (flat, report);
        }
        self.proved = Some((effort::spent() - self.start, flat.clone()));
        let (kernel, until) = (self.kernel, self.window());
        let is_refuted = !self.outside.is_empty();
        let mut attempt = |weaker: &[Condition]| self.attempt(weaker, ALL_ENCODINGS, until);
        if !is_refuted && let Ok(for_all) = attempt(&[]) {
            return (Vec::new(), for_all);
        }
        weaken::weaken(kernel, flat, report, &mut attempt)
    }

    /// What integers prove is soon proved; bit-vectors have what is left.
    fn find_soon(&mut self, proposals: Vec<Vec<Condition>>, findings: &[Finding]) -> Option<Found> {
        let until = self.window();
        self.find(proposals.clone(), findings, 1, until)
            .or_else(|| self.find(proposals, findings, ALL_ENCODINGS, until))
    }

    fn find(
        &mut self,
        proposals: Vec<Vec<Condition>>,
        findings: &[Finding],
        encodings: usize,
        until: Budget,
    ) -> Option<Found> {
        let kernel = self.kernel;
        weaken::find(kernel, proposals, findings, &mut |proposed| self.attempt(proposed, encodings, until))
    }

    /// A proof under conditions, with an effort that those before it suggest.
    fn attempt(&mut self, conditions: &[Condition], encodings: usize, until: Budget) -> weaken::Attempt {
        let started = effort::spent();
        let key = (BTreeSet::from_iter(conditions.iter().cloned()).into_iter().collect(), encodings);
        let left = self.weaken_until.map_or(until.left(), |weaken| until.most(weaken.left()));
        if left.is_none() || self.failed.contains(&key) {
            return Err(Vec::new());
        }
        let has_rows = |conditions: &[Condition]| conditions.iter().any(Condition::keeps_rows);
        let limit = match &self.proved {
            Some((time, _)) if conditions.is_empty() && self.any_values.is_some() => {
                self.any_values.unwrap_or_default().min(ANY_VALUES_LEAST.max(*time * 4))
            }
            // Without what keeps rows apart there hardly is a proof, and to see that takes long.
            Some((time, all)) if has_rows(all) && !has_rows(conditions) => (*time).clamp(FEWER_CONDITIONS, WEAKENING),
            Some((time, _)) if self.is_fixed => (*time).clamp(FEWER_CONDITIONS, ONE_CONDITION),
            Some((time, _)) => (*time * 4).clamp(WEAKENING, ONE_CONDITION),
            None if self.failed.is_empty() || self.proof_until.is_some() => NATURAL_CONDITION,
            None => ONE_CONDITION,
        };
        if limit.is_none() || self.is_too_weak(conditions) {
            self.failed.insert(key);
            return Err(Vec::new());
        }
        let first = self.proof_until.filter(|_| self.proved.is_none());
        let most = first.map_or(limit, |until| until.left().min(limit));
        let plan = Attempt { effort: left.min(most), search: Search::Proof, encodings };
        let report = (self.decide)(conditions, plan);
        log::debug!("{}: {:?}", condition::text(conditions), report.as_ref().map(|report| report.verdict));
        match report {
            Ok(report) if report.verdict == Verdict::Verified => {
                let time = effort::spent() - started;
                self.proved = Some((time, conditions.to_vec()));
                let any_values = self.any_values.unwrap_or_default();
                let more = any_values + if self.is_fixed { WEAKENING + time } else { ONE_CONDITION + WEAKENING };
                self.weaken_until = self.weaken_until.or(Some(Budget::new(more)));
                Ok(report)
            }
            report => {
                self.failed.insert(key);
                let (findings, outside) =
                    report.map_or_else(|_| Default::default(), |report| (report.findings, report.outside));
                self.beside.extend(outside);
                if !findings.is_empty() {
                    self.refuted.insert(conditions.to_vec());
                }
                Err(findings)
            }
        }
    }

    /// Whether an execution has a defect that fewer conditions than those of the last proof do not exclude.
    fn is_too_weak(&mut self, fewer: &[Condition]) -> bool {
        let proved = self.proved.as_ref().map(|(_, all)| weaken::breaking(all, fewer));
        proved.into_iter().flatten().any(|sizes| self.execution(&sizes, Search::Execution).is_some())
    }

    /// What a search that begins now may spend: twice as much as all before it.
    fn window(&self) -> Budget {
        self.budget.part(MORE_CONDITIONS.max((effort::spent() - self.start) * 2))
    }
}

/// Whether a loop never ends: a proof that does not see so would say nothing of what is behind it.
fn is_endless(report: &KernelReport) -> bool {
    report.reasons.iter().any(|reason| reason.code == ENDLESS)
}

/// Whether there is a proof, or a defect.
fn is_decided(report: &KernelReport) -> bool {
    report.verdict == Verdict::Verified || report.verdict.confirmed()
}

/// A report in which a defect counts whatever values it needs.
fn promoted(mut report: KernelReport) -> KernelReport {
    report.findings.retain(|finding| finding.confirmed);
    report.findings.append(&mut report.outside);
    report.verdict = Verdict::of(&report.findings).unwrap_or(report.verdict);
    report
}

/// The report of a proof under conditions.
fn verified((conditions, proof): Found) -> KernelReport {
    let verdict = if conditions.is_empty() { Verdict::Verified } else { Verdict::VerifiedWhen };
    let conditions = condition::lines(&conditions);
    KernelReport { verdict, conditions, ..proof }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Defect;
    use crate::kernel::{self, LowerOptions};

    const TEXT: &str = "
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 a)
        {
            .reg .b32 %r<2>;
            .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [a];
            mov.u32 %r1, %tid.x;
            mul.wide.u32 %rd2, %r1, 4;
            add.u64 %rd1, %rd1, %rd2;
            st.global.u32 [%rd1], %r1;
            ret;
        }";

    fn kernel() -> Kernel {
        let module = crate::ptx::parse(TEXT).unwrap_or_else(|errors| panic!("{errors:?}"));
        let entry = &module.functions[0];
        let cfg = crate::cfg::build(&module, entry, Default::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
        kernel::lower(&module, entry, &cfg, &LowerOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    /// As a thorough search without effort left does.
    #[test]
    fn a_possible_race_is_told_though_patience_finds_nothing() {
        let mut thorough = 0;
        let mut answer = |_: &[Condition], attempt: Attempt| {
            let mut report = KernelReport::new("k.ptx", "k", Geometry::FREE);
            report.verdict = Verdict::Unknown;
            if attempt.search == Search::Quick {
                report.findings = vec![Finding::new(Defect::Race, false)];
                report.verdict = Verdict::Possible(Defect::Race);
            }
            thorough += usize::from(attempt.search == Search::Thorough);
            Ok(report)
        };
        let kernel = kernel();
        let report = decide((&kernel, &kernel), Some(&[]), Effort::seconds(600), &mut answer);
        assert_eq!(report.map(|report| report.verdict), Ok(Verdict::Possible(Defect::Race)));
        assert_eq!(thorough, 1);
    }
}
