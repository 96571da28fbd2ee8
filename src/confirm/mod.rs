//! From a failed proof to confirmed findings.
//!
//! Input: what a proof attempt left refuted or open. Output: findings that some execution has. Threads
//! evaluated on concrete values propose them ([`crate::replay::search`]), or random launches do
//! ([`self::explore`]); of a PTX kernel only what the emulator shows is confirmed ([`self::emulate`]).
//! Reference: DESIGN section 3 (what `confirmed` means).

mod bounded;
mod contents;
pub mod emulate;
pub mod execution;
pub mod explore;
pub mod minimal;

use self::bounded::Bounded;
use self::emulate::{Emulator, Judge};
use self::explore::{Effort, Explorer, Suspects};
use self::minimal::Minimiser;
use crate::effort::{self, Budget};
use crate::exec::command::Command;
use crate::exec::outcome::BarrierMisuse;
use crate::finding::facts::{Facts, site_of};
use crate::finding::{AccessKind, AccessReport, Defect, Finding, ParameterValue};
use crate::ivl::ast::{ArraySpace, Name, Program, StmtKind, Thread};
use crate::ivl::claim::Claim;
use crate::prove::question::Question;
use crate::prove::{Constants, PairOutcome};
use crate::replay::compiled::Compiled;
use crate::replay::search::{Found, Goal, SearchSpace, search};
use crate::replay::{AccessEvent, ConfirmedAssertion, ConfirmedDivergence, ConfirmedRace, Limits, ThreadIds};
use crate::solver::{Encoding, Value, in_own_context};
use crate::span::Origin;
use crate::twothread::TwoThread;
use crate::twothread::barrier_invariants::is_of_annotation;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// For the models of a kernel with its loops written out.
const UNROLLING: effort::Effort = effort::Effort::seconds(4);

/// The same where the proof has used all the effort that there is.
const LATE_UNROLLING: effort::Effort = effort::Effort::seconds(1);

/// What the failed proofs of a kernel led to.
pub struct Confirmation<'a> {
    question: &'a Question<'a>,
    /// What decides whether a defect is confirmed; `None` for kernels that are no PTX.
    emulator: Option<Emulator<'a>>,
    facts: &'a Facts<'a>,
    judge: Option<Judge<'a>>,
    minimiser: Option<Minimiser<'a>>,
    explored: BTreeSet<Suspects>,
    /// What is left for all that is asked for.
    budget: Budget,
    /// What is left for programs with their loops written out.
    unrolling: effort::Effort,
    /// Findings that an execution has.
    pub confirmed: Vec<Finding>,
    /// Findings of the last failed proof that evaluation suggests and no execution shows.
    doubted: Vec<Finding>,
}

impl<'a> Confirmation<'a> {
    /// Before the first proof.
    pub fn new(question: &'a Question<'a>, emulator: Option<Emulator<'a>>, facts: &'a Facts<'a>) -> Self {
        let judge = emulator.map(|emulator| Judge::new(emulator, question.kernel));
        let minimiser = emulator.map(|emulator| Minimiser::new(emulator, question.kernel, facts.launch));
        let budget = Budget::new(question.effort);
        let (explored, confirmed, doubted) = (BTreeSet::new(), Vec::new(), Vec::new());
        Confirmation {
            question,
            emulator,
            facts,
            judge,
            minimiser,
            budget,
            unrolling: UNROLLING,
            explored,
            confirmed,
            doubted,
        }
    }

    /// Looks for executions behind a failed proof; whether there is one.
    pub fn run(&mut self, two: &TwoThread, outcome: &PairOutcome) -> bool {
        self.doubted.clear();
        for finding in propose(self.question, self.facts, outcome) {
            self.decide(finding);
        }
        if self.confirmed.is_empty() {
            self.explore(two, outcome);
        }
        !self.confirmed.is_empty()
    }

    /// The doubted findings, if the proof failed in the end.
    pub fn take_doubted(&mut self, unproved: bool) -> Vec<Finding> {
        let doubted = std::mem::take(&mut self.doubted);
        if unproved { doubted } else { Vec::new() }
    }

    fn decide(&mut self, mut finding: Finding) {
        let answer = match &mut self.judge {
            _ if !finding.confirmed => Err("threads may meet at barriers that are not `.aligned`".to_string()),
            Some(judge) => judge.confirm(&finding).map(Some),
            None if finding.defect == Defect::Race
                && Compiled::new(&self.facts.kernel.program).is_none_or(|k| k.can_wait()) =>
            {
                Err("strong accesses or warp barriers may order the two".to_string())
            }
            None => Ok(None),
        };
        if finding.defect == Defect::Assertion {
            finding.accesses.clear();
        }
        match answer {
            Ok(command) => self.confirm(finding, command),
            // The proof's own model says more of an assertion: it has the values of its registers.
            Err(_) if matches!(finding.defect, Defect::Assertion | Defect::BarrierError) => {}
            Err(why) => {
                finding.confirmed = false;
                finding.message = format!("not replayed: {why}");
                self.doubted.push(finding);
            }
        }
    }

    /// A confirmed finding, in a small launch.
    fn confirm(&mut self, finding: Finding, command: Option<Command>) {
        let finding = match (&mut self.minimiser, command) {
            (Some(minimiser), Some(command)) => minimiser.finish(finding, command),
            _ => finding,
        };
        self.confirmed.push(finding);
    }

    /// Random launches, once for each set of lines.
    fn explore(&mut self, two: &TwoThread, outcome: &PairOutcome) {
        self.explore_lines(suspects(two, outcome), Effort::PATIENT);
    }

    /// Random launches of a kernel of which nothing is known, or that has no two-thread program; whether one shows a
    /// defect.
    pub fn explore_everywhere(&mut self, effort: Effort) -> bool {
        self.explore_lines(everywhere(&self.facts.kernel.program), effort);
        !self.confirmed.is_empty()
    }

    /// The same for races and barriers, before anything is proved: of an assertion a proof's model says more. Whether one
    /// shows a defect.
    pub fn explore_briefly(&mut self) -> bool {
        let suspects = Suspects { assertions: BTreeSet::new(), ..everywhere(&self.facts.kernel.program) };
        self.explore_lines(suspects, Effort::BRIEF);
        // More patience may show more.
        self.explored.clear();
        !self.confirmed.is_empty()
    }

    fn explore_lines(&mut self, suspects: Suspects, effort: Effort) {
        let (Some(emulator), kernel) = (&self.emulator, self.facts.kernel) else { return };
        if !self.explored.insert(suspects.clone()) {
            return;
        }
        let launch = self.facts.launch;
        if let Some(explored) = Explorer::new(emulator, kernel, &suspects, effort).run(launch) {
            for finding in explored.findings {
                self.confirm(finding, Some(explored.command.clone()));
            }
        }
    }

    /// Models of the program with its loops written out, when nothing else shows a defect.
    pub fn unroll(&mut self, two: &TwoThread, outcome: &PairOutcome) {
        let Some(emulator) = self.emulator else { return };
        let suspects = suspects(two, outcome);
        let nothing = suspects == Suspects::default();
        if nothing || !self.confirmed.is_empty() {
            return;
        }
        let start = effort::spent();
        let most = self.unrolling.min(self.budget.left().max(LATE_UNROLLING));
        let bounded = Bounded {
            facts: self.facts,
            emulator,
            suspects: &suspects,
            encodings: &[Encoding::BitVectors, Encoding::Integers],
            budget: Budget::new(most),
        };
        let found = in_own_context(|| bounded.run(two));
        self.unrolling = self.unrolling - (effort::spent() - start);
        for finding in found.iter().flat_map(|found| &found.findings) {
            self.confirm(finding.clone(), found.as_ref().map(|found| found.command.clone()));
        }
    }
}

/// Lines of the assertions that are not proved.
fn suspects(two: &TwoThread, outcome: &PairOutcome) -> Suspects {
    let mut suspects = Suspects::default();
    let open = outcome.open.iter().map(|(check, _)| check);
    for check in outcome.refuted.iter().map(|refuted| &refuted.check).chain(open) {
        let site = site_of(two, check).and_then(|site| site.origin.as_ref());
        let line = site.or(check.origin.as_ref()).map(|origin| origin.line);
        match &check.claim {
            Claim::Race(_) => suspects.races.extend(line),
            Claim::BarrierMet { .. } => suspects.barriers.extend(line),
            Claim::BarrierRule(_) => suspects.rules.extend(line),
            claim if claim.is_of_user() => suspects.assertions.extend(check.origin.clone()),
            _ => {}
        }
    }
    suspects
}

/// Lines of all accesses and barriers.
fn everywhere(program: &Program) -> Suspects {
    let mut suspects = Suspects::default();
    let blocks = program.procedures.iter().flat_map(|procedure| &procedure.body).flat_map(|body| &body.blocks);
    for statement in blocks.flat_map(|block| &block.stmts) {
        let line = statement.origin.as_ref().map(|origin| origin.line);
        match statement.kind {
            StmtKind::Load { .. } if is_of_annotation(statement) => {}
            StmtKind::Load { .. } | StmtKind::Store { .. } | StmtKind::Atomic { .. } => suspects.races.extend(line),
            StmtKind::Barrier(_) => {
                suspects.barriers.extend(line);
                suspects.rules.extend(line);
            }
            StmtKind::Assert(Claim::BarrierRule(_), _) => {
                suspects.rules.extend(line);
            }
            StmtKind::Assert(..) => suspects.assertions.extend(statement.origin.clone()),
            _ => {}
        }
    }
    suspects
}

/// Findings that evaluation of the threads suggests, at the values of the proof's models first.
fn propose(question: &Question, facts: &Facts, outcome: &PairOutcome) -> Vec<Finding> {
    let launch = facts.launch;
    let mut space = SearchSpace { geometry: launch, models: Vec::new(), threads: Vec::new() };
    for refuted in &outcome.refuted {
        let model = model(facts, &refuted.constants);
        if !space.models.contains(&model) {
            space.models.push(model);
        }
        for thread in Thread::BOTH {
            let tid = facts.position(&refuted.constants, "tid", thread);
            let ctaid = facts.position(&refuted.constants, "ctaid", thread);
            space.threads.push(ThreadIds { tid, ctaid });
        }
    }
    let limits = Limits {
        allow_same_value: question.options.rules.allow_same_value,
        exited_ok: question.options.rules.exited_threads_ok,
        ..Limits::default()
    };
    let mut findings = Vec::new();
    for goal in [Goal::Race, Goal::Divergence, Goal::Assertion] {
        if !suspected(outcome, goal) {
            continue;
        }
        if let Some(found) = search(&facts.kernel.program, &space, goal, &limits) {
            findings.extend(found.replay.races.iter().filter_map(|race| facts.race(&found, race)));
            findings.extend(found.replay.divergence.iter().filter_map(|d| facts.divergence(&found, d)));
            findings.extend(found.replay.assertions.iter().filter_map(|a| facts.assertion(&found, a)));
        }
    }
    findings
}

/// Whether some assertion that is such a goal was not proved.
fn suspected(outcome: &PairOutcome, goal: Goal) -> bool {
    let mut checks = outcome.refuted.iter().map(|r| &r.check).chain(outcome.open.iter().map(|(c, _)| c));
    checks.any(|check| match (&check.claim, goal) {
        (Claim::Race(_), Goal::Race) => true,
        // Where it is not aligned, evaluation is never certain.
        (Claim::BarrierMet { aligned }, Goal::Divergence) => *aligned,
        (Claim::BarrierRule(_), Goal::Assertion) => true,
        (claim, Goal::Assertion) => claim.is_of_user(),
        _ => false,
    })
}

/// The constants of a model that are the same for all threads, with the sizes of the launch.
fn model(facts: &Facts, constants: &Constants) -> BTreeMap<Name, u128> {
    let mut model = BTreeMap::new();
    for (name, value) in constants {
        if name.thread().is_some() || name.as_str().starts_with('_') {
            continue;
        }
        let bits = match value {
            Value::Bool(value) => u128::from(*value),
            Value::Bits(value) => *value,
            Value::Int(value) => *value as u128,
        };
        model.insert(name.clone(), bits);
    }
    let launch = facts.launch(constants);
    let sizes = launch.or_one().registers().map(|(register, size)| (Name::from(register), u128::from(size)));
    model.extend(sizes);
    model
}

impl Facts<'_> {
    fn confirmed(&self, found: &Found, defect: Defect) -> Finding {
        let launch = self.launch.map_registers(|register, fixed| {
            let value = found.constants.get(&Name::from(register)).copied();
            fixed.or_else(|| value.and_then(|v| u32::try_from(v).ok()))
        });
        let mut params = BTreeMap::new();
        for param in self.kernel.params.iter().filter(|p| !p.is_pointer) {
            if let Some(value) = param.constant.as_ref().and_then(|c| found.constants.get(c)) {
                params
                    .insert(param.name.clone(), ParameterValue { value: *value as u64, bits: param.bits.clamp(1, 64) });
            }
        }
        Finding { params, launch: Some(launch), ..Finding::new(defect, true) }
    }

    fn race(&self, found: &Found, race: &ConfirmedRace) -> Option<Finding> {
        let mut finding = self.confirmed(found, Defect::Race);
        finding.kind = format!("{}-{}", race.first.kind.name(), race.second.kind.name());
        finding.array = self.array(&race.array).0;
        finding.space = Some(match race.space {
            ArraySpace::Shared => "shared",
            ArraySpace::Global => "global",
        });
        finding.offset = Some(i128::from(race.offset));
        finding.accesses = vec![event(&race.first)?, event(&race.second)?];
        Some(finding)
    }

    /// The thread is an access until the execution is replayed.
    fn assertion(&self, found: &Found, assertion: &ConfirmedAssertion) -> Option<Finding> {
        let origin = assertion.origin.clone()?;
        let (defect, kind) = match &assertion.claim {
            Claim::Invariant(_) => (Defect::Assertion, "invariant"),
            Claim::BarrierInvariant(_) => (Defect::Assertion, "barrier-invariant"),
            Claim::Stated(_) => (Defect::Assertion, "user-assertion"),
            Claim::BarrierRule(rule) => (Defect::BarrierError, rule.name()),
            _ => return None,
        };
        let mut finding = self.confirmed(found, defect);
        finding.kind = kind.to_string();
        if let Claim::BarrierRule(rule) = assertion.claim {
            finding.message = BarrierMisuse::of_rule(rule.name()).map_or("", BarrierMisuse::message).to_string();
            finding.accesses = vec![arrival(assertion.thread, AccessKind::Arrive, origin)];
            return Some(finding);
        }
        let ThreadIds { tid: [x, y, z], ctaid: [a, b, c] } = assertion.thread;
        finding.message = format!("fails for thread ({x},{y},{z}) of block ({a},{b},{c})");
        finding.accesses = vec![arrival(assertion.thread, AccessKind::Arrive, origin.clone())];
        finding.barrier = Some(origin);
        Some(finding)
    }

    fn divergence(&self, found: &Found, divergence: &ConfirmedDivergence) -> Option<Finding> {
        let mut finding = self.confirmed(found, Defect::Divergence);
        finding.confirmed = divergence.certain;
        finding.kind = "barrier".into();
        let origin = divergence.barrier.origin.clone()?;
        finding.barrier = Some(origin.clone());
        finding.accesses = vec![
            arrival(divergence.arrives, AccessKind::Arrive, origin.clone()),
            arrival(divergence.absent, AccessKind::Absent, origin),
        ];
        Some(finding)
    }
}

fn event(event: &AccessEvent) -> Option<AccessReport> {
    let ThreadIds { tid, ctaid } = event.thread;
    Some(AccessReport { op: event.kind, bytes: event.bytes, thread: tid, block: ctaid, origin: event.origin.clone()? })
}

fn arrival(thread: ThreadIds, op: AccessKind, origin: Arc<Origin>) -> AccessReport {
    AccessReport { op, bytes: 0, thread: thread.tid, block: thread.ctaid, origin }
}
