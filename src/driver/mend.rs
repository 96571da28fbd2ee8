//! The barrier that a race lacks, tried and not guessed.
//!
//! Input: a kernel with a confirmed race between two lines that have no barrier between them. Output: the same finding
//! with a sentence, if the kernel with one `__syncwarp()` (for two threads of one warp, in a block whose size the user gave) or
//! one `__syncthreads()` in front of the later line is proved for the finding's launch.
//! Establishes: the sentence is said only of a complete proof. Relies on: `report::help` for where no barrier stands.
//! Reference: none.

use super::input::Input;
use super::options::Options;
use super::pipeline::{self, Program};
use crate::effort::{Budget, Effort};
use crate::finding::{Finding, KernelReport, Verdict};
use crate::geometry::{Geometry, linear};
use crate::jobs::Jobs;
use crate::limits;
use crate::ptx::ast::{BarrierKind, Instruction, Item, Module, Op, Operand};
use crate::report::help;
use crate::report::text::launch_text;
use crate::span::Origin;
use std::sync::Arc;
use std::time::Duration;

/// Proofs that take longer than this are not worth their sentence.
const LONGEST: Duration = Duration::from_secs(1);

/// Tries a barrier for the first finding.
pub(crate) fn try_barrier(
    report: &mut KernelReport,
    input: &Input,
    program: &Program,
    entry: &str,
    options: &Options,
    jobs: &Jobs,
) {
    let Program::Ptx(module) = program else { return };
    let Some(finding) = report.findings.first().filter(|finding| finding.confirmed && !finding.same_value) else {
        return;
    };
    let (Some(launch), Some(_)) = (finding.launch, help::missing_barrier(finding, &input.source)) else { return };
    let options = Options { geometry: launch, timeout: options.timeout.min(LONGEST), ..options.clone() };
    let budget = Budget::new(Effort::of(options.timeout));
    let attempt = |(barrier, op): (&str, Op)| {
        let (mended, place) = with_barrier(module, entry, finding, op)?;
        let mended = Program::Ptx(mended);
        // Another race, or threads that do not come to the barrier, show at once.
        if pipeline::shows_defect(input, &mended, entry, &options) {
            return None;
        }
        // Without an answer there is only less to say.
        let proof = limits::within(|| pipeline::proof(input, &mended, entry, &options, budget.left(), jobs));
        let is_proved = proof.is_ok_and(|proof| proof.is_ok_and(|proof| proof.verdict == Verdict::Verified));
        is_proved.then(|| format!("with one `{barrier}` in front of {place} it is proved for {}", launch_text(&launch)))
    };
    let mended = barriers(finding, report.launch.block).into_iter().find_map(attempt);
    if let Some(finding) = report.findings.first_mut() {
        finding.mended = mended;
    }
}

/// The barriers that order the two threads, the cheaper one first. A block that the tool chose is small: that all its
/// threads are of one warp says nothing.
fn barriers(finding: &Finding, given: [Option<u32>; 3]) -> Vec<(&'static str, Op)> {
    let block = Op::Barrier { kind: BarrierKind::Sync, aligned: true, id: Operand::Integer(0), count: None };
    let sizes = finding.launch.and_then(Geometry::known).map(|launch| launch.block);
    let warp = |thread: [u32; 3]| sizes.map(|sizes| linear(thread, sizes) / 32);
    let is_one_warp = match &finding.accesses[..] {
        [first, second] => given.iter().all(Option::is_some) && warp(first.thread) == warp(second.thread),
        _ => false,
    };
    let all = Op::WarpBarrier { mask: Operand::Integer(0xffff_ffff) };
    let warp = is_one_warp.then_some(("__syncwarp()", all));
    warp.into_iter().chain([("__syncthreads()", block)]).collect()
}

/// The module with a barrier in front of the later of the two lines, and what that line is called.
fn with_barrier(module: &Module, entry: &str, finding: &Finding, op: Op) -> Option<(Module, String)> {
    let later = finding.accesses.iter().map(|access| &access.origin).max_by_key(|origin| origin.line)?;
    let mut mended = module.clone();
    let function = mended.functions.iter_mut().find(|function| function.is_entry && *function.name == *entry)?;
    let items = &mut function.body.as_mut()?.items;
    let is_later = |item: &Item| matches!(item, Item::Instruction(one) if one.origin.span == later.span);
    let mut at = items.iter().position(is_later)?;
    // The source line begins where its first instruction stands.
    while let Some(Item::Instruction(before)) = at.checked_sub(1).map(|before| &items[before])
        && later.position.is_some()
        && line(&before.origin) == line(later)
    {
        at -= 1;
    }
    items.insert(at, Item::Instruction(Instruction { guard: None, op, origin: later.clone() }));
    let what = if later.position.is_some() { "line" } else { "PTX line" };
    Some((mended, format!("{what} {}", line(later))))
}

fn line(origin: &Arc<Origin>) -> u32 {
    origin.position.as_ref().map_or(origin.line, |position| position.outermost().line)
}
