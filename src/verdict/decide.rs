//! Proofs and models of all pairs of threads to a report.
//!
//! Input: a kernel program, its predicated form, options. Output: the verdict with findings.
//! Establishes: `verified` only if every assertion of every pair that the launch allows was proved,
//! and every loop that can be entered can be left.
//! Reference: DESIGN section 3.

use super::invariants;
use super::vacuity::Vacuity;
use crate::confirm::emulate::Emulator;
use crate::confirm::explore;
use crate::confirm::{Confirmation, Plausible};
use crate::diagnostic::Diagnostic;
use crate::finding::facts::Facts;
use crate::finding::groups;
use crate::finding::{ENDLESS, Finding, KernelReport, Reason, Verdict};
use crate::ivl::ast::{Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Claim;
use crate::kernel::{Kernel, SHARE};
use crate::limits;
use crate::prove::pairs::Proofs;
use crate::prove::question::{Question, assumption_of_user, may_be_one_thread, pairs, statements};
use crate::prove::{self, Doubt, PairOutcome};
use crate::twothread::{self, Pair, Site, TwoThread};
use crate::vcgen::passive::{Check, CheckKind};
use std::sync::OnceLock;

/// How the assumption starts that names the loops.
pub(crate) const LOOPS_END: &str = "every loop ends";

/// What is asked for beside a proof, less first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Search {
    /// Defects that a few launches show, and no proof.
    Execution,
    /// Nothing: the first assertion that fails is the end. Its model is replayed.
    Proof,
    /// Defects that executions soon show.
    Quick,
    /// Defects, also by models of the kernel with its loops written out.
    Thorough,
}

/// Decides a kernel and completes its report.
///
/// # Errors
/// What a stage cannot model.
pub(crate) fn run(
    question: &Question,
    search: Search,
    emulator: (Option<Emulator>, Plausible),
    report: KernelReport,
) -> Result<KernelReport, Vec<Diagnostic>> {
    let facts = Facts { kernel: question.kernel, launch: report.launch };
    let confirmation = Confirmation::new(question, emulator, &facts);
    std::thread::scope(|scope| {
        let proofs = Proofs::new(scope, question);
        Decision {
            question,
            search,
            facts: &facts,
            confirmation,
            vacuity: Vacuity::default(),
            findings: Vec::new(),
            unknown: Vec::new(),
            report,
        }
        .decide(proofs)
    })
}

/// How a decision came to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// All pairs were looked at that can change the verdict.
    Complete,
    /// Only a proof was asked for, and an assertion failed.
    Unproved,
    /// Only executions were asked for.
    Searched,
    /// A limit was met.
    Stopped,
}

/// A kernel while it is decided.
struct Decision<'a> {
    question: &'a Question<'a>,
    search: Search,
    facts: &'a Facts<'a>,
    confirmation: Confirmation<'a>,
    vacuity: Vacuity,
    findings: Vec<Finding>,
    unknown: Vec<Reason>,
    report: KernelReport,
}

impl Decision<'_> {
    fn decide(mut self, mut proofs: Proofs) -> Result<KernelReport, Vec<Diagnostic>> {
        count_statements(&mut self.report, self.question.kernel);
        // What was found before a limit is met is found.
        let ended = limits::within(|| match self.search {
            Search::Execution => {
                self.confirmation.explore_everywhere(explore::Effort::QUICK);
                Ok(End::Searched)
            }
            _ => self.pairs(&mut proofs),
        });
        match ended {
            Ok(end) => self.finish(end?),
            Err(exceeded) => {
                self.unknown.push(Reason::of_limit(exceeded));
                self.finish(End::Stopped)
            }
        }
    }

    /// Proves one pair after the other, and looks for executions behind what fails.
    fn pairs(&mut self, proofs: &mut Proofs) -> Result<End, Vec<Diagnostic>> {
        let question = self.question;
        // Most defects show at once; to find the invariants of a kernel that has one takes long.
        let mut is_costly = self.search != Search::Proof && !question.predicated.loops.is_empty();
        if is_costly && self.confirmation.explore_briefly() {
            return Ok(End::Searched);
        }
        proofs.add(pairs(&question.options, question.kernel));
        while let Some(mut proof) = proofs.take() {
            let two = match proof.program() {
                Ok(two) => two,
                // What has no model may still be executed.
                Err(_) if self.confirmation.explore_everywhere(explore::Effort::PATIENT) => break,
                Err(refusals) => return Err(refusals),
            };
            // What a large launch shows.
            let (seen, large_launch) = (OnceLock::new(), self.confirmation.large_launch());
            let look = || seen.get_or_init(large_launch).is_some();
            let doubt: Option<Doubt> = is_costly.then(|| Box::new(look) as Doubt);
            is_costly = false;
            let confirmation = &mut self.confirmation;
            let mut stop = |outcome: &PairOutcome| match self.search {
                _ if seen.get().is_some_and(Option::is_some) => true,
                // An execution with a defect ends the search for a proof. None is looked for.
                Search::Proof => confirmation.replay(&two, outcome),
                _ => confirmation.run(&two, outcome),
            };
            let outcome = proof.run(&two, doubt, &mut stop).map_err(|d| vec![d])?;
            if let Some(seen) = seen.into_inner().flatten() {
                self.confirmation.take(seen);
                return Ok(End::Searched);
            }
            self.vacuity.add(&outcome, self.question.options.has_pair(two.pair));
            let left = self.vacuity.is_total() && two.pair != Pair::OneThread && may_be_one_thread(&question.options);
            if proofs.is_empty() && left {
                // The user may mean launches of one thread.
                proofs.add(vec![Pair::OneThread]);
            }
            count(&mut self.report, &two, &outcome);
            if self.question.tell_invariants {
                invariants::add(&mut self.report.invariants, &two, &outcome);
            }
            let unproved = !outcome.refuted.is_empty() || !outcome.open.is_empty();
            match self.search {
                Search::Thorough => self.confirmation.unroll(&two, &outcome),
                Search::Proof if unproved => {
                    self.findings = outcome.refuted.iter().map(|refuted| self.facts.finding(&two, refuted)).collect();
                    return Ok(End::Unproved);
                }
                _ => {}
            }
            self.take(&two, &outcome);
            // One execution with a defect decides the verdict; the other pairs cannot change it. One that nobody starts
            // decides that there is no proof for all values.
            if self.confirmation.is_decided() {
                break;
            }
        }
        Ok(End::Complete)
    }

    /// Takes what a pair leaves refuted or open.
    fn take(&mut self, two: &TwoThread, outcome: &PairOutcome) {
        self.findings.extend(outcome.refuted.iter().map(|refuted| self.facts.finding(two, refuted)));
        let told = |check: &Check| outcome.refuted.iter().any(|refuted| prove::is_part(check, &refuted.check));
        for (check, why) in outcome.open.iter().filter(|(check, _)| !told(check)) {
            self.unknown.push(self.facts.open(two, check, why));
        }
        self.unknown.extend(outcome.endless.iter().map(|&index| endless(two, index)));
    }

    fn finish(mut self, end: End) -> Result<KernelReport, Vec<Diagnostic>> {
        let (question, mut report, mut findings) = (self.question, self.report, self.findings);
        findings.append(&mut self.confirmation.confirmed);
        report.outside = self.confirmation.outside;
        groups::merge(&mut report.outside);
        if end == End::Complete {
            if self.vacuity.is_total() {
                return Err(vec![contradictory(question.kernel)]);
            }
            report.diagnostics.extend(self.vacuity.diagnostics(question.kernel)?);
        }
        if matches!(end, End::Complete | End::Stopped) && !question.loop_heads.is_empty() {
            let heads: Vec<&str> = question.loop_heads.iter().map(Name::as_str).collect();
            report.assumptions.push(format!("{LOOPS_END} (loops at {})", heads.join(", ")));
        }
        report.checked.loops = question.loop_heads.len() as u64;
        groups::merge(&mut findings);
        report.verdict = match Verdict::of(&findings) {
            _ if end == End::Unproved => Verdict::Unknown,
            Some(verdict) => verdict,
            None if end == End::Complete && self.unknown.is_empty() && report.outside.is_empty() => Verdict::Verified,
            None => Verdict::Unknown,
        };
        report.findings = findings;
        self.unknown.dedup();
        report.reasons.extend(self.unknown);
        Ok(report)
    }
}

/// Nothing may be proved of nothing.
fn contradictory(kernel: &Kernel) -> Diagnostic {
    let span = assumption_of_user(kernel).and_then(|s| s.origin.as_ref()).map_or(crate::span::Span::NONE, |o| o.span);
    let message = "no execution of this launch meets the requirements to the end, so a proof would say nothing";
    Diagnostic::error("contradictory-requirements", message, span)
        .note("look at `requires`, `assume`, --param and the launch sizes")
}

/// What there is to check, whichever pairs of threads the launch has.
fn count_statements(report: &mut KernelReport, kernel: &Kernel) {
    let is_access = |stmt: &&Stmt| match stmt.kind {
        StmtKind::Load { .. } => !stmt.attributes.has("ghost"),
        StmtKind::Atomic { .. } => !stmt.attributes.has(SHARE),
        StmtKind::Store { .. } => true,
        _ => false,
    };
    report.checked.accesses = statements(kernel).filter(is_access).count() as u64;
    report.checked.barriers =
        statements(kernel).filter(|stmt| matches!(stmt.kind, StmtKind::Barrier(_))).count() as u64;
}

/// Adds what a pair checked to the report.
fn count(report: &mut KernelReport, two: &TwoThread, outcome: &PairOutcome) {
    let checked: Vec<&Site> = two.sites.iter().filter(|s| s.checked && s.seen_as.is_none()).collect();
    let mut pairs = 0u64;
    for (i, a) in checked.iter().enumerate() {
        pairs += checked[i..].iter().filter(|b| a.array == b.array && (writes(a) || writes(b))).count() as u64;
    }
    match two.pair {
        Pair::SameBlock => report.checked.pairs_same_block = pairs,
        Pair::DifferentBlocks => report.checked.pairs_different_blocks = pairs,
        Pair::OneThread => {}
    }
    let number = |is_such: &dyn Fn(&Claim) -> bool| {
        let is_counted = |check: &&Check| is_such(&check.claim) && !matches!(check.kind, CheckKind::Maintenance(_));
        outcome.inference.passive.checks.iter().filter(is_counted).count() as u64 / 2
    };
    let assertions = number(&|claim| claim.is_of_user() || *claim == Claim::Bounds);
    report.checked.assertions = report.checked.assertions.max(assertions);
    report.checked.rules = report.checked.rules.max(number(&|claim| matches!(claim, Claim::BarrierRule(_))));
    report.candidates.tried += outcome.candidates.0 as u64;
    report.candidates.kept += outcome.candidates.1 as u64;
}

fn writes(site: &Site) -> bool {
    site.kind != twothread::AccessKind::Read
}

fn endless(two: &TwoThread, index: usize) -> Reason {
    let this = &two.loops[index];
    Reason {
        code: ENDLESS,
        message: format!(
            "no thread that enters the loop at `{}` can leave it, so nothing is said about what stands after it",
            this.head
        ),
        origin: this.origin.clone(),
    }
}
