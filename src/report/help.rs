//! What the user can do about a report.
//!
//! Input: a report, a finding and the text of the input. Output: sentences. Establishes: what is said of a finding is seen
//! in the text: no barrier is missed that stands there. Relies on: nothing.

use super::source::SourceText;
use crate::finding::{AccessReport, Defect, Finding, KernelReport, Subject, Verdict};
use crate::span::Origin;

/// What has to stand between a copy that goes on beside its thread and what races with it.
fn missing_wait(finding: &Finding) -> Option<String> {
    let [first, second] = &finding.accesses[..] else { return None };
    let is_copy =
        |access: &AccessReport| ["cp.async.ca.", "cp.async.cg."].iter().any(|copy| access.origin.text.contains(copy));
    if finding.defect != Defect::Race || first.block != second.block || ![first, second].into_iter().any(is_copy) {
        return None;
    }
    let wait = "a copy goes on until the thread that started it has waited for its group (`cp.async.wait_group`, \
                `cp.async.wait_all`)";
    let is_alone = (first.block, first.thread) == (second.block, second.thread);
    Some(if is_alone {
        wait.to_string()
    } else {
        format!("{wait}; a barrier behind that wait tells the other threads")
    })
}

/// What has to stand between a bulk copy and what races with it in its block. The copy is the second access where what comes before it
/// is not ordered.
fn missing_fence(finding: &Finding) -> Option<String> {
    let [first, second] = &finding.accesses[..] else { return None };
    let is_bulk = |access: &AccessReport| {
        let text = &access.origin.text;
        ["cp.async.bulk.", "cp.reduce.async.bulk."].iter().any(|copy| text.contains(copy))
    };
    if finding.defect != Defect::Race || first.block != second.block {
        return None;
    }
    match (is_bulk(first), is_bulk(second)) {
        (false, false) => None,
        (false, true) => Some(
            "a bulk copy accesses memory through the asynchronous proxy: a thread executes `fence.proxy.async` behind its own \
             accesses, and a barrier tells the thread that copies"
                .to_string(),
        ),
        (true, _) => Some(
            "a bulk copy goes on until the thread that started it has waited for it (`cp.async.bulk.wait_group`, with `.read` for \
             what it reads only; or its mbarrier object), and others know of it"
                .to_string(),
        ),
    }
}

/// `no barrier between line 13 and line 22`, for a race within a block whose instructions have none between them.
pub(crate) fn missing_barrier(finding: &Finding, input: &SourceText) -> Option<String> {
    let [first, second] = &finding.accesses[..] else { return None };
    let is_alone = (first.block, first.thread) == (second.block, second.thread);
    if finding.defect != Defect::Race
        || is_alone
        || first.block != second.block
        || !same_file(&first.origin, &second.origin)
    {
        return None;
    }
    let mut lines = [line(&first.origin), line(&second.origin)];
    let mut ptx = [first.origin.line as usize, second.origin.line as usize];
    lines.sort_unstable();
    ptx.sort_unstable();
    // Threads that execute one line at the same time need another remedy.
    let may_order = |index: usize| {
        let text = &input.text()[input.line(index)];
        // What a function does that is called is not seen here.
        ["bar.", "barrier.", "mbarrier.", "call"].iter().any(|word| text.contains(word))
    };
    let differ = lines[0] != lines[1];
    let what = if first.origin.position.is_some() { "line" } else { "PTX line" };
    (differ && !(ptx[0]..ptx[1].saturating_sub(1)).any(may_order))
        .then(|| format!("no barrier between {what} {} and {what} {}", lines[0], lines[1]))
}

/// The line of the kernel's own body, where barriers may stand.
fn line(origin: &Origin) -> u32 {
    origin.position.as_ref().map_or(origin.line, |position| position.outermost().line)
}

fn same_file(first: &Origin, second: &Origin) -> bool {
    let file = |origin: &Origin| origin.position.as_ref().map(|position| position.outermost().file.clone());
    file(first) == file(second)
}

/// What is missing, and what was tried that mends it.
pub(crate) fn of(finding: &Finding, input: &SourceText) -> Option<String> {
    let remedy = match finding.same_value {
        true => Some(TOLERATED.to_string()),
        false => missing_wait(finding).or_else(|| missing_fence(finding)).or_else(|| missing_barrier(finding, input)),
    };
    let parts: Vec<String> = remedy.into_iter().chain(finding.mended.clone()).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What is said of races in which both threads write one value.
const TOLERATED: &str = "`--allow-same-value` tolerates two writes of one value";

/// What to do next, in one line; `None` where nothing is left to do.
pub(crate) fn next(report: &KernelReport) -> Option<String> {
    if report.subject == Subject::Procedure || report.execution.is_some() || report.is_known() {
        return None;
    }
    let free = free_options(report);
    match report.verdict {
        Verdict::Verified | Verdict::NoDefect => None,
        Verdict::VerifiedWhen if free.is_empty() => Some(
            "state the conditions that hold in your program with `requires` (the book, \"Annotating\")".to_string(),
        ),
        Verdict::VerifiedWhen => {
            Some(format!("state the conditions that hold in your program with `requires`, or give its launch: {free}"))
        }
        Verdict::Defect(_) => {
            let first = report.findings.first()?;
            if first.same_value {
                return Some("write it by one thread, or tolerate it: --allow-same-value".to_string());
            }
            let chosen = report.chosen(first);
            let mut options: Vec<String> = chosen.iter().map(|name| option(name)).collect();
            options.dedup();
            match options.is_empty() {
                true if first.replay.is_none() => Some("mend it".to_string()),
                true => Some("mend it, or replay it with the command above".to_string()),
                false => Some(format!("mend it, or give the values of your program: {}", options.join(" "))),
            }
        }
        Verdict::Possible(_) | Verdict::Unknown => {
            let slow = report.reasons.iter().any(|reason| reason.code == "time-limit");
            let more = if slow { ", or give it more time: --timeout" } else { "" };
            match free.is_empty() {
                true => {
                    Some(format!("state what holds in your program with `requires`, or a loop's `invariant`{more}"))
                }
                false => Some(format!("give the launch of your program: {free}, or facts with `requires`{more}")),
            }
        }
        Verdict::Unsupported => {
            let code = report.diagnostics.first().map(|diagnostic| diagnostic.code)?;
            Some(format!("gpuvcc explain {code}"))
        }
    }
}

/// The options that fix what is free in the launch.
fn free_options(report: &KernelReport) -> String {
    let sizes = [("block", report.launch.block), ("grid", report.launch.grid)];
    let free = sizes.into_iter().filter(|(_, sizes)| sizes.contains(&None)).map(|(name, _)| option(name));
    free.collect::<Vec<_>>().join(" ")
}

/// The option that gives a size or a scalar.
fn option(name: &str) -> String {
    match name {
        "block" => "--block X,Y,Z".to_string(),
        "grid" => "--grid X,Y,Z".to_string(),
        // Which of them are integers is not known here; others cannot be fixed.
        _ => "--param NAME=VALUE".to_string(),
    }
}
