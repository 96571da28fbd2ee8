//! From a failed proof to confirmed findings.
//!
//! Input: what a proof attempt left refuted or open. Output: findings that some execution has. Its models propose them,
//! or random launches do ([`self::explore`]), or models of the program with its loops written out ([`self::bounded`]).
//! Of a PTX kernel only what the emulator shows is confirmed ([`self::emulate`]).
//! Reference: DESIGN section 3 (what `confirmed` means).

pub(crate) mod barriers;
mod bounded;
mod contents;
pub mod emulate;
pub(crate) mod execution;
pub mod explore;
pub(crate) mod minimal;
mod stated;
pub(crate) mod trials;
mod usual;
pub(crate) mod waiting;

use self::bounded::Bounded;
use self::emulate::{Emulator, Judge};
use self::explore::{Effort, Explored, Explorer, Suspects};
use self::minimal::Minimiser;
use crate::effort::{self, Budget};
use crate::exec::command::Command;
use crate::finding::facts::{Facts, site_of};
use crate::finding::{Defect, Finding, ParameterValue, groups};
use crate::geometry::Geometry;
use crate::ivl::ast::{Program, StmtKind};
use crate::ivl::claim::Claim;
use crate::kernel::Kernel;
use crate::limits;
use crate::prove::PairOutcome;
use crate::prove::question::Question;
use crate::solver::{Encoding, in_own_context};
use crate::twothread::TwoThread;
use crate::twothread::barrier_invariants::is_of_annotation;
use std::collections::{BTreeMap, BTreeSet};

/// For the models of a kernel with its loops written out.
const UNROLLING: effort::Effort = effort::Effort::seconds(4);

/// The same where the proof has used all the effort that there is.
const LATE_UNROLLING: effort::Effort = effort::Effort::seconds(1);

/// What the failed proofs of a kernel led to.
pub(crate) struct Confirmation<'a> {
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
    /// Whether a launch and its parameters are such as a host is likely to pass.
    plausible: Plausible<'a>,
    /// Findings that an execution has.
    pub(crate) confirmed: Vec<Finding>,
    /// The same where the launch or a parameter is not plausible.
    pub(crate) outside: Vec<Finding>,
}

/// Whether a launch with these parameters is one that a host is likely to start.
pub(crate) type Plausible<'a> = &'a (dyn Fn(Geometry<u32>, &BTreeMap<String, ParameterValue>) -> bool + Sync);

impl<'a> Confirmation<'a> {
    /// Before the first proof.
    pub(crate) fn new(
        question: &'a Question<'a>,
        (emulator, plausible): (Option<Emulator<'a>>, Plausible<'a>),
        facts: &'a Facts<'a>,
    ) -> Self {
        let judge = emulator.map(|emulator| Judge::new(emulator, question.kernel));
        let minimiser = emulator.map(|emulator| Minimiser::new(emulator, question.kernel, facts.launch, plausible));
        let budget = Budget::new(question.effort);
        Confirmation {
            emulator,
            facts,
            judge,
            minimiser,
            budget,
            unrolling: UNROLLING,
            explored: BTreeSet::new(),
            plausible,
            confirmed: Vec::new(),
            outside: Vec::new(),
        }
    }

    /// Looks for executions behind a failed proof; whether there is one.
    pub(crate) fn run(&mut self, two: &TwoThread, outcome: &PairOutcome) -> bool {
        let _stage = limits::stage("confirm");
        self.replay(two, outcome);
        if self.confirmed.is_empty() {
            self.explore(two, outcome);
        }
        self.is_decided()
    }

    /// Replays the models of a failed proof; whether one shows a defect.
    pub(crate) fn replay(&mut self, two: &TwoThread, outcome: &PairOutcome) -> bool {
        let _stage = limits::stage("confirm");
        for refuted in &outcome.refuted {
            self.replay_model(self.facts.finding(two, refuted));
        }
        self.is_decided()
    }

    /// Whether some execution shows a defect, plausible or not: then there is no proof for all values.
    pub(crate) fn is_decided(&self) -> bool {
        !self.confirmed.is_empty() || !self.outside.is_empty()
    }

    /// Replays the model of a failed proof.
    fn replay_model(&mut self, mut finding: Finding) {
        let command = self.judge.as_mut().and_then(|judge| judge.confirm(&mut finding).ok());
        if finding.defect == Defect::Assertion {
            finding.accesses.clear();
        }
        if command.is_some() {
            self.confirm(finding, command);
        }
    }

    /// A confirmed finding, in a small launch; whether that is plausible.
    fn confirm(&mut self, finding: Finding, command: Option<Command>) -> bool {
        let mut finding = match (&mut self.minimiser, command) {
            (Some(minimiser), Some(command)) => minimiser.finish(finding, command),
            _ => finding,
        };
        finding.confirmed = true;
        let launch = finding.launch.map(Geometry::or_one);
        let is_plausible = launch.is_none_or(|launch| (self.plausible)(launch, &finding.params));
        self.add(finding, is_plausible);
        is_plausible
    }

    fn add(&mut self, finding: Finding, is_plausible: bool) {
        let findings = if is_plausible { &mut self.confirmed } else { &mut self.outside };
        findings.push(finding);
    }

    /// Random launches, once for each set of lines.
    fn explore(&mut self, two: &TwoThread, outcome: &PairOutcome) {
        self.explore_lines(suspects(two, outcome), Effort::PATIENT);
    }

    /// Random launches of a kernel of which nothing is known, or that has no two-thread program; whether one shows a
    /// defect.
    pub(crate) fn explore_everywhere(&mut self, effort: Effort) -> bool {
        self.explore_lines(everywhere(&self.facts.kernel.program), effort);
        self.is_decided()
    }

    /// The same for races and barriers in small launches, before anything is proved: of an assertion a proof's model says
    /// more. Whether one shows a defect.
    pub(crate) fn explore_briefly(&mut self) -> bool {
        self.explore_lines(races_and_barriers(&self.facts.kernel.program), Effort::BRIEF);
        // More patience may show more.
        self.explored.clear();
        self.is_decided()
    }

    /// The same in a large launch, and in some with few rounds, for a proof that turns out to be hard. What it shows is for [`Confirmation::take`].
    pub(crate) fn large_launch(&self) -> impl FnOnce() -> Option<Explored> + Send + use<'a> {
        let (emulator, facts, plausible) = (self.emulator, self.facts, self.plausible);
        move || {
            let _stage = limits::stage("confirm");
            let suspects = races_and_barriers(&facts.kernel.program);
            let emulator = emulator.as_ref()?;
            let search = |effort| {
                let explorer = Explorer::new(emulator, facts.kernel, &suspects, effort);
                explorer.among(plausible).run(facts.launch)
            };
            search(Effort::LARGE).or_else(|| search(Effort::DEEP))
        }
    }

    /// Takes what a launch shows. Of each group one finding gets a small launch; the others are only counted.
    pub(crate) fn take(&mut self, explored: Explored) {
        let mut taken: Vec<(Finding, bool)> = Vec::new();
        for finding in explored.findings {
            match taken.iter().find(|(other, _)| groups::are_one(other, &finding)) {
                Some(&(_, is_plausible)) => self.add(Finding { confirmed: true, ..finding }, is_plausible),
                None => {
                    let is_plausible = self.confirm(finding.clone(), explored.command.clone());
                    taken.push((finding, is_plausible));
                }
            }
        }
    }

    fn explore_lines(&mut self, suspects: Suspects, effort: Effort) {
        let _stage = limits::stage("confirm");
        let (Some(emulator), kernel) = (&self.emulator, self.facts.kernel) else { return };
        if !self.explored.insert(suspects.clone()) {
            return;
        }
        let launch = self.facts.launch;
        let explorer = Explorer::new(emulator, kernel, &suspects, effort).among(self.plausible);
        if let Some(explored) = explorer.run(launch) {
            self.take(explored);
        }
    }

    /// Models of the program with its loops written out, when nothing else shows a defect.
    pub(crate) fn unroll(&mut self, two: &TwoThread, outcome: &PairOutcome) {
        let _stage = limits::stage("confirm");
        let suspects = suspects(two, outcome);
        let nothing = suspects == Suspects::default();
        if nothing || self.is_decided() {
            return;
        }
        let start = effort::spent();
        let most = self.unrolling.min(self.budget.left().max(LATE_UNROLLING));
        let bounded = Bounded {
            facts: self.facts,
            emulator: self.emulator,
            suspects: &suspects,
            encodings: &[Encoding::BitVectors, Encoding::Integers],
            budget: Budget::new(most),
        };
        let found = in_own_context(|| bounded.run(two));
        self.unrolling = self.unrolling - (effort::spent() - start);
        if let Some(explored) = found {
            self.take(explored);
        }
    }
}

/// Whether a few random launches of a kernel show a race, or a barrier that not all threads come to.
pub(crate) fn shows_defect(emulator: &Emulator, kernel: &Kernel) -> bool {
    let _stage = limits::stage("confirm");
    let suspects = races_and_barriers(&kernel.program);
    let shows = |effort| Explorer::new(emulator, kernel, &suspects, effort).run(kernel.geometry).is_some();
    shows(Effort::BRIEF) || shows(Effort::DEEP)
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
            Claim::LanesMet => suspects.warps.extend(line),
            Claim::BarrierRule(_) => suspects.rules.extend(line),
            claim if bounded::is_asserted(claim) => suspects.assertions.extend(check.origin.clone()),
            _ => {}
        }
    }
    suspects
}

/// Lines of all accesses and barriers, but for assertions of the user.
fn races_and_barriers(program: &Program) -> Suspects {
    Suspects { assertions: BTreeSet::new(), ..everywhere(program) }
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
