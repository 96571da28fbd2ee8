//! What a run hands to `report`: the verdict on a kernel, and each finding behind it.
//!
//! Output only: plain data without behaviour beyond naming and ranking. The meaning of each verdict
//! is fixed in book/src/verdicts.md and by `gpuvcc explain`.

mod barrier_graph;
mod barrier_invariants;
mod chosen;
pub(crate) mod facts;
mod fail_on;
pub(crate) mod groups;
pub(crate) mod redundant;
mod report;
mod waits;

pub use self::barrier_graph::{BarrierEdge, BarrierGraph, BarrierNode, EdgeKind};
pub use self::fail_on::FailOn;
pub use self::redundant::{Fate, Redundant};
pub(crate) use self::report::ENDLESS;
pub use self::report::{
    Candidates, Checked, Exact, Execution, KernelReport, Launched, LoopInvariants, Reason, Subject,
};
pub use self::waits::{MixedBarrier, Mixing, Wait};
use crate::geometry::Geometry;
use crate::span::{Origin, SourcePosition};
use crate::words::{Word, some_known};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The answer for one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Proved under the listed assumptions.
    Verified,
    /// Proved under launch conditions that the tool found by itself.
    VerifiedWhen,
    /// A concrete execution has this defect.
    Defect(Defect),
    /// The proof failed, and no concrete execution was shown.
    Possible(Defect),
    /// One execution ran to its end and had no defect, which proves nothing about others.
    NoDefect,
    /// A solver limit, or a method limit.
    Unknown,
    /// Something in the kernel has no sound model.
    Unsupported,
}

/// What can be wrong with a kernel, gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Defect {
    /// Two conflicting, unordered accesses that are not morally strong.
    Race,
    /// A barrier that some threads of a block reach and others do not.
    Divergence,
    /// Threads that wait for each other for ever.
    Deadlock,
    /// A barrier used against its rules.
    BarrierError,
    /// A failed assertion.
    Assertion,
}

impl Defect {
    /// The code of a finding: `race`, or `possible-race` when it is not confirmed.
    pub(crate) fn code(self, confirmed: bool) -> &'static str {
        match (self, confirmed) {
            (Defect::Race, true) => "race",
            (Defect::Race, false) => "possible-race",
            (Defect::Divergence, true) => "divergence",
            (Defect::Divergence, false) => "possible-divergence",
            (Defect::Deadlock, true) => "deadlock",
            (Defect::Deadlock, false) => "possible-deadlock",
            (Defect::BarrierError, true) => "barrier-error",
            (Defect::BarrierError, false) => "possible-barrier-error",
            (Defect::Assertion, true) => "assertion",
            (Defect::Assertion, false) => "possible-assertion",
        }
    }
}

impl Verdict {
    /// The name that JSON, SARIF and the terminal use.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Verified => "verified",
            Verdict::VerifiedWhen => "verified-when",
            Verdict::Defect(defect) => defect.code(true),
            Verdict::Possible(defect) => defect.code(false),
            Verdict::NoDefect => "no-defect",
            Verdict::Unknown => "unknown",
            Verdict::Unsupported => "unsupported",
        }
    }

    /// True when a concrete execution shows the defect.
    pub fn confirmed(self) -> bool {
        matches!(self, Verdict::Defect(_))
    }

    /// The exit code for a run with this verdict alone: 0 for `verified`, and for an emulation
    /// without defects.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Verdict::Verified | Verdict::NoDefect => 0,
            Verdict::Defect(_) => 1,
            Verdict::VerifiedWhen | Verdict::Possible(_) | Verdict::Unknown | Verdict::Unsupported => 3,
        }
    }

    /// The verdict that several findings give: that of the first in ranking order; `None` without any.
    pub(crate) fn of(findings: &[Finding]) -> Option<Verdict> {
        findings.iter().min_by_key(|finding| finding.rank()).map(Finding::verdict)
    }
}

/// What a thread does at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AccessKind {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Reads and writes memory atomically.
    Atomic,
    /// Arrives at the barrier of a divergence.
    Arrive,
    /// Never arrives at that barrier, or has exited.
    Absent,
}

impl AccessKind {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic",
            AccessKind::Arrive => "arrive",
            AccessKind::Absent => "absent",
        }
    }
}

/// One thread's part in a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessReport {
    /// What it does.
    pub op: AccessKind,
    /// Width in bytes; 0 at barriers.
    pub bytes: u32,
    /// `%tid`
    pub thread: [u32; 3],
    /// `%ctaid`
    pub block: [u32; 3],
    /// The instruction.
    pub origin: Arc<Origin>,
}

/// What a thread does in an interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StepKind {
    /// Reads memory.
    Read,
    /// Writes memory.
    Write,
    /// Reads and writes memory atomically.
    Atomic,
    /// Comes to a barrier of the block.
    Barrier,
    Fence,
    /// Ends.
    Exit,
}

impl StepKind {
    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StepKind::Read => "read",
            StepKind::Write => "write",
            StepKind::Atomic => "atomic",
            StepKind::Barrier => "barrier",
            StepKind::Fence => "fence",
            StepKind::Exit => "exit",
        }
    }
}

/// A step of one of two threads, in the order of the execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// Width in bytes; 0 where nothing is accessed.
    pub bytes: u32,
    /// `%tid`
    pub thread: [u32; 3],
    /// `%ctaid`
    pub block: [u32; 3],
    /// The array accessed.
    pub array: Option<String>,
    /// Byte offset from its start.
    pub offset: Option<i128>,
    /// Whether the step is a part of the defect, and not one before it.
    pub at_fault: bool,
    /// The instruction.
    pub origin: Arc<Origin>,
}

/// The value of a scalar parameter in a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterValue {
    /// The value, zero-extended.
    pub value: u64,
    /// Width in bits, 1 to 64.
    pub bits: u32,
}

impl ParameterValue {
    /// The value read as a signed number of its width.
    pub(crate) fn signed(self) -> i64 {
        let unused = 64 - self.bits.clamp(1, 64);
        ((self.value << unused) as i64) >> unused
    }

    /// The value's bits, without any above the width.
    pub fn unsigned(self) -> u64 {
        let unused = 64 - self.bits.clamp(1, 64);
        (self.value << unused) >> unused
    }
}

/// One defect, with what is known about the execution that has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong; with `confirmed` it gives the code.
    pub defect: Defect,
    /// Whether a concrete execution shows it.
    pub confirmed: bool,
    /// Finer kind: `write-write`, `read-write`, `atomic-write`, `barrier`, `user-assertion`, `bounds`...
    pub kind: String,
    /// The array as the source names it.
    pub array: Option<String>,
    /// Its space: `shared`, `global`.
    #[serde(deserialize_with = "some_known")]
    pub space: Option<Word>,
    /// Byte offset from the start of the array where the accesses meet.
    pub offset: Option<i128>,
    /// The threads' parts: two for a race or a divergence; fewer when unknown.
    pub accesses: Vec<AccessReport>,
    /// The barrier or the assertion at fault.
    pub barrier: Option<Arc<Origin>>,
    /// Values of scalar parameters, by name.
    pub params: BTreeMap<String, ParameterValue>,
    /// The launch that shows it.
    pub launch: Option<Geometry>,
    /// A sentence more, for people; may be empty.
    pub message: String,
    /// The command that shows it in the emulator, when it was confirmed there.
    pub replay: Option<String>,
    /// What the two threads did in that execution, before and at the defect; may be empty.
    pub interleaving: Vec<Step>,
    /// Of a deadlock: who waits for whom; may be empty.
    pub waits: Vec<Wait>,
    /// The last of them waits for the first.
    pub is_cycle: bool,
    /// Of the unsafe reuse of a barrier: what may mix.
    pub mixing: Option<Mixing>,
    /// Other places that it is about, with what they are: the clause of a contract that fails.
    pub related: Vec<(String, Arc<Origin>)>,
    /// The blocks of a procedure on the way to the defect; may be empty.
    pub trace: Vec<TraceStep>,
    /// Values of variables where it fails, as `(name, value)`.
    pub values: Vec<(String, String)>,
    /// Other pairs of instructions of the same lines that have it, too.
    pub similar: u32,
    /// Both threads write one value: a race that `--allow-same-value` tolerates.
    pub same_value: bool,
    /// What was tried and makes the proof go through.
    pub mended: Option<String>,
    /// Where the project says that it knows of it, with the reason.
    pub known: Option<String>,
}

/// A block on the way to a defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStep {
    pub(crate) label: String,
    /// Where it stands.
    pub(crate) origin: Arc<Origin>,
    /// What it assigned, as `(name, value)`.
    pub(crate) assigned: Vec<(String, String)>,
}

impl Finding {
    /// A finding of which nothing more is known.
    pub fn new(defect: Defect, confirmed: bool) -> Finding {
        Finding {
            defect,
            confirmed,
            kind: String::new(),
            array: None,
            space: None,
            offset: None,
            accesses: Vec::new(),
            barrier: None,
            params: BTreeMap::new(),
            launch: None,
            message: String::new(),
            replay: None,
            interleaving: Vec::new(),
            waits: Vec::new(),
            is_cycle: false,
            mixing: None,
            related: Vec::new(),
            trace: Vec::new(),
            values: Vec::new(),
            similar: 0,
            same_value: false,
            mended: None,
            known: None,
        }
    }

    /// Its stable code.
    pub fn code(&self) -> &'static str {
        self.defect.code(self.confirmed)
    }

    /// The verdict that it alone gives.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.confirmed { Verdict::Defect(self.defect) } else { Verdict::Possible(self.defect) }
    }

    /// Ranking: confirmed before possible, races of one value after all else, then by defect. Findings sort by this first.
    pub(crate) fn rank(&self) -> (bool, bool, Defect) {
        (!self.confirmed, self.same_value, self.defect)
    }

    /// The lines of other files that were inlined where the finding is, each once.
    pub(crate) fn inlined(&self) -> Vec<&SourcePosition> {
        let origins = self.barrier.iter().chain(self.accesses.iter().map(|access| &access.origin));
        let positions = origins.filter_map(|origin| origin.position.as_deref().and_then(SourcePosition::inlined));
        let mut lines: Vec<&SourcePosition> = Vec::new();
        for position in positions {
            if !lines.iter().any(|known| (&known.file, known.line) == (&position.file, position.line)) {
                lines.push(position);
            }
        }
        lines
    }

    /// The place a reader looks at first.
    pub(crate) fn primary(&self) -> Option<&Arc<Origin>> {
        self.barrier.as_ref().or_else(|| self.accesses.first().map(|access| &access.origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmed_comes_before_possible_and_then_the_gravest() {
        let all = [
            Finding::new(Defect::Race, false),
            Finding::new(Defect::Assertion, true),
            Finding::new(Defect::Divergence, true),
            Finding::new(Defect::Deadlock, true),
        ];
        assert_eq!(Verdict::of(&all), Some(Verdict::Defect(Defect::Divergence)));
        assert_eq!(Verdict::of(&all[..1]), Some(Verdict::Possible(Defect::Race)));
        assert_eq!(Verdict::of(&[]), None);
    }

    #[test]
    fn only_verified_exits_with_zero() {
        assert_eq!(Verdict::Verified.exit_code(), 0);
        let confirmable = [Defect::Race, Defect::Divergence, Defect::Deadlock, Defect::BarrierError, Defect::Assertion];
        for defect in confirmable {
            assert_eq!(Verdict::Defect(defect).exit_code(), 1);
            assert_eq!(Verdict::Possible(defect).exit_code(), 3);
        }
        for verdict in [Verdict::VerifiedWhen, Verdict::Unknown, Verdict::Unsupported] {
            assert_eq!(verdict.exit_code(), 3);
        }
    }

    #[test]
    fn parameters_read_as_signed_and_unsigned() {
        let minus_one = ParameterValue { value: 0xffff_ffff, bits: 32 };
        assert_eq!((minus_one.signed(), minus_one.unsigned()), (-1, 0xffff_ffff));
        let wide = ParameterValue { value: u64::MAX, bits: 64 };
        assert_eq!((wide.signed(), wide.unsigned()), (-1, u64::MAX));
    }
}
