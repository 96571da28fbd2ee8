//! What a run means, in sentences.
//!
//! Input: a question and what its run showed. Output: findings, reasons, and what a proof says. Establishes: each refusal
//! names its instruction, and where the value came from. Relies on: nothing. Reference: none.

use super::arguments::Bound;
use super::follow::{Refusal, What};
use super::objects::Unsafe;
use super::run::{End, Shown};
use super::{Proved, Question};
use crate::confirm::execution;
use crate::exec::decode::{Code, Program, Space, WarpKind};
use crate::exec::launch::Launch;
use crate::exec::races::Location;
use crate::finding::{AccessKind, AccessReport, Checked, Defect, Finding, MixedBarrier, Mixing, Reason};
use crate::geometry::index_of;
use crate::span::Origin;
use std::sync::Arc;

/// The code of all that one execution does not decide.
const CODE: &str = "not-static";

fn reason(message: String, origin: Option<Arc<Origin>>) -> Reason {
    Reason { code: CODE, message, origin }
}

/// A parameter for which there is no value to choose.
pub(crate) fn unbound(name: &str) -> Reason {
    reason(format!("the exact engine cannot choose a value for parameter `{name}`"), None)
}

/// How much there is to check, in the program text.
pub(crate) fn checked(program: &Program) -> Checked {
    let count = |is_such: &dyn Fn(&Code) -> bool| program.code.iter().filter(|code| is_such(code)).count() as u64;
    Checked {
        accesses: count(&|code| is_shared_access(program, code)),
        barriers: count(&|code| matches!(code, Code::Barrier(_) | Code::ClusterArrive { .. } | Code::Object(_))),
        ..Checked::default()
    }
}

/// A proof.
pub(crate) fn proved(question: &Question<'_>, bound: &Bound, shown: &Shown) -> Proved {
    let matters = |bit: usize| shown.matters >> bit.min(63) & 1 == 1;
    let chosen = bound.chosen.iter().enumerate().filter(|(bit, _)| matters(*bit));
    let accesses = checked(&shown.run.program).accesses;
    let meets = |code: &Code| matches!(code, Code::ClusterArrive { .. } | Code::ClusterWait);
    let needs_size = question.cluster.is_none() && shown.run.program.code.iter().any(meets);
    let alone = needs_size.then(|| ("blocks of a cluster".to_string(), "1".to_string()));
    Proved {
        conditions: chosen.map(|(_, chosen)| chosen.clone()).chain(alone).collect(),
        assumptions: assumptions(bound, shown, accesses),
        generations: shown.generations,
        instructions: shown.run.outcome.instructions,
        blocks_alike: u64::from(shown.left_out * shown.run.program.ranks),
    }
    .noted(question)
}

impl Proved {
    /// With a sentence where there was little to prove.
    fn noted(mut self, question: &Question<'_>) -> Proved {
        if question.geometry.threads() == 1 {
            self.assumptions.push("the launch has one thread, which meets no other".to_string());
        } else if self.generations == 0 {
            self.assumptions.push("no barrier was completed: what is proved is that the threads need none".to_string());
        }
        self
    }
}

fn is_shared_access(program: &Program, code: &Code) -> bool {
    let index = match code {
        Code::Load(index) | Code::Store(index) | Code::Atomic(index) => index,
        Code::AsyncRead(_) | Code::AsyncWrite(_) | Code::BulkRead(_) | Code::BulkWrite(_) => return true,
        _ => return false,
    };
    !matches!(program.accesses[*index as usize].space, Space::Local | Space::Param)
}

fn assumptions(bound: &Bound, shown: &Shown, accesses: u64) -> Vec<String> {
    let mut said = Vec::new();
    if bound.arrays + shown.run.program.globals.len() > 1 {
        said.push("pointer parameters and global arrays refer to disjoint arrays".to_string());
    }
    if accesses > 0 {
        said.push("an access stays inside the array that its pointer came from".to_string());
        said.push("nothing but this launch writes the global arrays that it reads, while it runs".to_string());
    }
    if shown.has_anywhere {
        said.push("an access of which data decide the address is aligned".to_string());
    }
    if shown.has_aligned_part {
        let sentence = "`.aligned` binds the threads of each warp where a barrier has a count (PTX says: those of \
                        the block)";
        said.push(sentence.to_string());
    }
    let program = &shown.run.program;
    let adjusts = program.warp_operations.iter().any(|operation| matches!(operation.kind, WarpKind::Registers { .. }));
    let facts = [shown.elects.is_some(), adjusts, shown.placements.assumes_start, shown.in_time];
    said.extend(taken_for_granted(program, facts));
    if shown.before_start {
        let sentence = "all blocks of a cluster have started when one accesses the shared memory of another";
        said.push(sentence.to_string());
    }
    if program.ranks > 1 && !program.objects.is_empty() {
        let sentence =
            "arrivals at barrier objects of other blocks of the cluster synchronise, whatever scope they name";
        said.push(sentence.to_string());
        if !program.bulk_operations.is_empty() {
            said.push(
                "barriers order copies of different blocks into one place (PTX says: those of one block)".to_string(),
            );
        }
    }
    said
}

/// What proofs by execution take for granted: lanes are elected, `setmaxnreg` is executed, shared memory starts at a multiple, order in
/// time.
pub(crate) fn taken_for_granted(
    program: &Program,
    [elects, adjusts, assumes_start, in_time]: [bool; 4],
) -> Vec<String> {
    let all = [
        (elects, "`elect.sync` elects one lane of a mask, whichever it is, in all warps"),
        (adjusts, "`setmaxnreg` gets the registers that it asks for"),
        (assumes_start, "shared memory starts at a multiple of 1024 bytes"),
        (in_time, "operations on one barrier object come one after the other in time (PTX speaks of causality)"),
        (
            in_time && !program.products.is_empty(),
            "a product of matrices is complete when all warps of its warp group have started it, not before",
        ),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, sentence)| sentence.to_string()).collect()
}

/// The name of a barrier.
fn called(program: &Program, barrier: MixedBarrier) -> String {
    match barrier {
        MixedBarrier::Number(number) => format!("barrier {number}"),
        MixedBarrier::Object(offset) => {
            let within = offset % program.shared_size.max(1);
            let variables = program.shared.iter().filter(|variable| variable.offset <= within);
            match variables.max_by_key(|variable| variable.offset) {
                Some(variable) => format!("mbarrier `{}+{}`", variable.name, within - variable.offset),
                None => format!("mbarrier {within}"),
            }
        }
    }
}

/// Two generations that may mix.
pub(crate) fn reuse(question: &Question<'_>, shown: &Shown, reused: &Unsafe) -> Finding {
    let geometry = question.geometry;
    let size = geometry.block_threads() as u32;
    let access = |thread: u32, code: u32| AccessReport {
        op: AccessKind::Arrive,
        bytes: 0,
        thread: index_of(thread % size, geometry.block),
        block: index_of(thread / size, geometry.grid),
        origin: shown.run.program.origins[code as usize].clone(),
    };
    let Unsafe { barrier, later, earlier, generation } = *reused;
    let (name, before) = (called(&shown.run.program, barrier), generation.saturating_sub(1));
    let [one, other] = [later, earlier].map(|(thread, _)| thread % size / 32);
    let (later_access, earlier_access) = (access(later.0, later.1), access(earlier.0, earlier.1));
    let [here, there] = [&later_access, &earlier_access].map(|access| access.origin.told());
    Finding {
        kind: "reuse".to_string(),
        message: format!(
            "{name}: generations {before} and {generation} may mix: warp {one} may arrive for generation {generation} \
             before warp {other} has arrived for generation {before}\nmissing: that warp {one} waits, before {here}, for a \
             barrier to which warp {other} comes at or behind {there}"
        ),
        mixing: Some(Mixing {
            barrier,
            generations: [before, generation],
            edge: format!("missing: warp {one} ({here}) has to know that warp {other} has come ({there})"),
        }),
        barrier: Some(later_access.origin.clone()),
        accesses: vec![later_access, earlier_access],
        launch: Some(geometry.into()),
        ..Finding::new(Defect::BarrierError, false)
    }
}

/// Why there is neither a proof nor a defect.
pub(crate) fn reasons(question: &Question<'_>, launch: &Launch, shown: &Shown) -> Vec<Reason> {
    let program = &shown.run.program;
    let origin = |code: u32| program.origins[code as usize].clone();
    if let End::Refused(refusal) = &shown.end {
        return vec![reason(refused(refusal, program), Some(origin(refusal.code)))];
    }
    let outcome = &shown.run.outcome;
    let mut reasons: Vec<Reason> = Vec::new();
    for race in &outcome.races {
        let [first, second] = [race.first, race.second].map(|(_, code)| origin(code));
        let place = match race.location {
            Location::Global(array, offset) => format!("byte {offset} of array {array} in global memory"),
            Location::Shared(offset) => format!("byte {offset} of shared memory"),
            Location::Tensor { column, lane } => format!("lane {lane} and column {column} of tensor memory"),
        };
        let line = first.line;
        let message =
            format!("no barrier orders this access and that at PTX line {line} to {place}, and only barriers count");
        reasons.push(reason(message, Some(second)));
    }
    if outcome.forgot {
        reasons.push(reason("a location was accessed by more groups of threads than are remembered".to_string(), None));
    }
    let emulator = &question.emulator;
    let report = execution::report(emulator.file, emulator.module, emulator.entry(), launch, &shown.run);
    reasons.extend(report.reasons);
    if reasons.is_empty() {
        let finding = report.findings.iter().find(|finding| finding.defect != Defect::Race);
        let message = match finding.map(|finding| (finding.kind.as_str(), finding.defect.code(true))) {
            Some(("bounds", _)) => "this access is outside of its array in one execution".to_string(),
            Some(("alignment", _)) => "this access is not aligned in one execution".to_string(),
            Some((kind, name)) => format!("one execution has a defect that cannot be replayed: {name}, {kind}"),
            None => "one execution has a defect that cannot be replayed".to_string(),
        };
        reasons.push(reason(message, finding.and_then(Finding::primary).cloned()));
    }
    reasons
}

fn refused(refusal: &Refusal, program: &Program) -> String {
    let what = match refusal.what {
        What::Control => "whether or how this is executed",
        What::Address => "the address of this access",
        What::Barrier => "the number or count of this barrier",
        What::Members => "the mask of this operation",
        What::Size => "how much this copies",
        What::Assertion => "whether this holds",
        What::TensorMap => return "nobody says what the tensor map of this copy is (`--tensor`)".to_string(),
        What::NoVariable => return "the address of this access is not made from that of an array".to_string(),
        What::WarpParts => return "threads of one warp come to different barriers, or in different order".to_string(),
        What::PartOfWarp => return "this barrier is completed by parts of warps".to_string(),
        What::PartOfBlock => return "this barrier is completed without threads that have exited".to_string(),
        What::Stuck => return "threads wait for ever here, if those of a warp wait for each other".to_string(),
        What::Initialised => return "no barrier tells this thread that the barrier object is initialised".to_string(),
        What::Invalidated => return "this barrier object may be in use when it is invalidated".to_string(),
        What::Overtaken => {
            return "the phase for which this waits may be over, and the next one, before it looks".to_string();
        }
        What::Owed => return "no arrival of this thread in the same phase follows what it announces here".to_string(),
        What::Spin => return "where this wait says `false`, more is done than to wait again".to_string(),
        What::Underway => {
            return "no thread of the block whose memory it needs knows that this copy is complete, when the block ends".to_string();
        }
        What::Remote => return "the block whose shared memory this is may have exited".to_string(),
        What::PartOfCluster => {
            return "the cluster's barrier is completed without threads that have exited".to_string();
        }
        What::Elected => {
            return "lanes are elected by several masks, or by one of which threads have exited".to_string();
        }
        What::SameValue => {
            return "threads store one value without order, and no barrier of the whole block stands before this access".to_string();
        }
        What::Anywhere => {
            return "data decide where this access to an array is, and the launch accesses the array otherwise, too"
                .to_string();
        }
        What::AnywhereObject => {
            return "data decide where this access is, and a barrier object lies in the variable, or its block may have exited".to_string();
        }
        What::TooLarge => return "the threads have more local memory than is followed".to_string(),
    };
    let Some(open) = refusal.open else { return format!("{what} is not fixed by the launch") };
    let from = program.origins.get(open.code as usize).filter(|_| open.code != refusal.code);
    let from = from.map_or(String::new(), |origin| format!(" (PTX line {})", origin.line));
    format!("{what} depends on {}{from}", open.cause.text())
}
