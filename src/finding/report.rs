//! All that a run says about one kernel.
//!
//! Output only: plain data. The meaning of each verdict is fixed in book/src/verdicts.md.

use super::barrier_graph::BarrierGraph;
use super::{FailOn, Finding, Redundant, Verdict};
use crate::diagnostic::Diagnostic;
use crate::geometry::Geometry;
use crate::limits::{Exceeded, Limit};
use crate::span::Origin;
use crate::stats::Cost;
use crate::words::{Word, known};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Code of the reason that no thread leaves a loop.
pub(crate) const ENDLESS: &str = "unknown-endless-loop";

/// Why a verdict is `unknown` or `unsupported`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Stable code, explained by `gpuvcc explain`.
    #[serde(deserialize_with = "known")]
    pub code: Word,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// The instruction, where there is one.
    pub origin: Option<Arc<Origin>>,
}

impl Reason {
    /// A limit was met.
    pub(crate) fn of_limit(Exceeded { limit, stage, .. }: Exceeded) -> Reason {
        let (code, what) = match limit {
            Limit::Time => ("time-limit", "the time is over (--timeout)"),
            Limit::Memory => ("memory-limit", "the process has as much memory as it may have (--memory)"),
        };
        Reason { code, message: format!("{what}; what was running: {stage}"), origin: None }
    }
}

/// How much was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Accesses to shared and global memory, in the program text.
    pub accesses: u64,
    /// Pairs of accesses compared for two threads of one block.
    pub pairs_same_block: u64,
    /// Pairs of accesses compared for threads of two blocks.
    pub pairs_different_blocks: u64,
    /// Block barriers.
    pub barriers: u64,
    /// Loops.
    pub loops: u64,
    /// Assertions of the user, and bounds.
    pub assertions: u64,
    /// Rules of barriers and of warp operations: numbers of barriers, members of masks.
    pub rules: u64,
}

impl Checked {
    /// True when the kernel has nothing that could go wrong.
    pub(crate) fn is_nothing(&self) -> bool {
        self.accesses == 0 && self.barriers == 0 && self.assertions == 0 && self.rules == 0
    }
}

/// Invariant candidates of the inference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidates {
    /// How many were tried.
    pub tried: u64,
    /// How many the proof kept.
    pub kept: u64,
}

/// What was inferred of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopInvariants {
    /// The loop's head, where it has a place.
    pub origin: Option<Arc<Origin>>,
    /// Family and formula (an expression of the IVL) of what holds whenever a thread is at the head.
    pub invariants: Vec<(String, String)>,
}

/// What a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    #[default]
    Kernel,
    /// A procedure of the IVL that is no kernel.
    Procedure,
}

/// How much an emulation executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// Threads.
    pub(crate) threads: u64,
    /// Instructions of all threads.
    pub(crate) instructions: u64,
}

/// What the exact engine went through for its proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exact {
    /// Instructions of all threads.
    pub(crate) instructions: u64,
    /// Generations of barriers that were completed.
    pub(crate) generations: u64,
    /// Blocks that were not executed, because they behave like one that was.
    #[serde(default)]
    pub(crate) blocks_alike: u64,
}

/// Where a launch is known from, which was not given on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// `kernel.cu:12`
    pub(crate) from: String,
    /// Scalars of the launch, as `(name, value)`.
    pub(crate) params: Vec<(String, i128)>,
}

/// Everything a run says about one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelReport {
    /// The input file, as given.
    pub file: String,
    /// The kernel's name.
    pub entry: String,
    /// Whether it is a kernel at all.
    pub subject: Subject,
    /// Constants of the program that inference chose, by name.
    pub inferred: BTreeMap<String, bool>,
    /// The architecture for which the PTX was chosen, if the file is a binary with several.
    pub target: Option<String>,
    pub verdict: Verdict,
    /// Launch sizes of the proof.
    pub launch: Geometry,
    /// Scalar parameters to which the user gave a value.
    pub given: BTreeSet<String>,
    /// Where it is known from, if not from the command line.
    pub launched: Option<Launched>,
    /// What the verdict rests on, one sentence each.
    pub assumptions: Vec<String>,
    /// Launch conditions of `verified-when`.
    pub conditions: Vec<String>,
    /// How much was checked.
    pub checked: Checked,
    /// Findings in ranking order.
    pub findings: Vec<Finding>,
    /// Confirmed findings that need values which no host is likely to pass: they lie outside of what `conditions` allow.
    pub outside: Vec<Finding>,
    /// Whether the kernel can do without its barriers and fences, in the order of the text, where that was asked for.
    pub redundant: Option<Vec<Redundant>>,
    /// Reasons of `unknown` and `unsupported`.
    pub reasons: Vec<Reason>,
    /// Where the project says that it knows of a verdict without findings: `verified-when`, `unknown`, `unsupported`.
    pub known: Option<String>,
    /// Invariant candidates.
    pub candidates: Candidates,
    /// The invariants that tell what registers hold at each loop, where they were asked for.
    pub invariants: Vec<LoopInvariants>,
    /// What was executed, when the kernel was emulated and not verified.
    pub execution: Option<Execution>,
    /// What was executed for a proof of the exact engine.
    pub exact: Option<Exact>,
    /// What was done at barriers in that execution, where somebody draws it.
    #[serde(skip)]
    pub barriers: Option<BarrierGraph>,
    /// Wall time, milliseconds.
    pub time_ms: u64,
    /// What each stage cost, where that was asked for.
    #[serde(skip)]
    pub costs: Vec<(&'static str, Cost)>,
    /// Warnings, and what is unsupported, with places in the input file.
    pub diagnostics: Vec<Diagnostic>,
}

impl KernelReport {
    /// Whether the project knows of all that the verdict says: of each defect that an execution shows, of each that is
    /// possible, or why there is no proof.
    pub(crate) fn is_known(&self) -> bool {
        let all_known = |confirmed: bool| {
            let mut findings = self.findings.iter().filter(|finding| finding.confirmed || !confirmed).peekable();
            findings.peek().is_some() && findings.all(|finding| finding.known.is_some())
        };
        match self.verdict {
            Verdict::Defect(_) => all_known(true),
            Verdict::Possible(_) => all_known(false),
            _ => self.known.is_some(),
        }
    }

    /// The exit code for a run with this report alone: known defects are none to fail for, and no proof. With
    /// `--fail-on` it says whether there is something on that list which is not known.
    pub(crate) fn exit_code(&self, fail_on: Option<&FailOn>) -> u8 {
        match (fail_on, self.verdict) {
            (Some(fail_on), _) => u8::from(self.open_verdicts().any(|verdict| fail_on.contains(verdict))),
            (None, Verdict::Defect(_)) if self.is_known() => Verdict::Unknown.exit_code(),
            (None, verdict) => verdict.exit_code(),
        }
    }

    /// The verdict, and those that its findings would give alone, without what is known.
    fn open_verdicts(&self) -> impl Iterator<Item = Verdict> {
        let findings = self.findings.iter().filter(|finding| finding.known.is_none());
        let own = Some(self.verdict).filter(|_| !self.is_known());
        findings.map(Finding::verdict).chain(own)
    }

    /// A report that says nothing yet but `unknown`.
    pub fn new(file: impl Into<String>, entry: impl Into<String>, launch: Geometry) -> Self {
        KernelReport {
            file: file.into(),
            entry: entry.into(),
            subject: Subject::Kernel,
            inferred: BTreeMap::new(),
            target: None,
            verdict: Verdict::Unknown,
            launch,
            given: BTreeSet::new(),
            launched: None,
            assumptions: Vec::new(),
            conditions: Vec::new(),
            checked: Checked::default(),
            findings: Vec::new(),
            outside: Vec::new(),
            redundant: None,
            reasons: Vec::new(),
            known: None,
            candidates: Candidates::default(),
            invariants: Vec::new(),
            execution: None,
            exact: None,
            barriers: None,
            time_ms: 0,
            costs: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// What is known where a limit ended the search: the findings so far, and why there is no more.
    pub fn stopped(mut self, exceeded: Exceeded) -> Self {
        self.verdict = Verdict::of(&self.findings).unwrap_or(Verdict::Unknown);
        self.reasons.push(Reason::of_limit(exceeded));
        self.time_ms = exceeded.after.as_millis() as u64;
        self
    }

    /// The verdict `unsupported`, as stages answer it: each diagnostic names an instruction.
    pub fn unsupported(mut self, diagnostics: Vec<Diagnostic>) -> Self {
        self.verdict = Verdict::Unsupported;
        self.diagnostics.extend(diagnostics);
        self
    }
}
