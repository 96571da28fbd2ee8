//! What `--redundant` says of a kernel, as text.
//!
//! Input: [`Redundant`] of each barrier and fence. Output: a line each, those that can go together, and what is claimed.

use super::text::{count, launch_text};
use crate::finding::redundant::CLAIM;
use crate::finding::{Fate, KernelReport, Redundant};
use crate::span::Origin;

/// The lines; none where nothing was asked.
pub(super) fn lines(report: &KernelReport) -> Vec<String> {
    let Some(all) = &report.redundant else { return Vec::new() };
    if all.is_empty() {
        return vec!["  barriers and fences: the kernel has none".to_string()];
    }
    let when = if report.conditions.is_empty() { "" } else { ", under the conditions above" };
    let mut lines = vec![format!("  barriers and fences, for {}{when}:", launch_text(&report.launch))];
    lines.extend(
        all.iter().map(|one| format!("  - {}: `{}` {}", place(&one.origin, report), one.origin.text, answer(one))),
    );
    let going: Vec<&Redundant> = all.iter().filter(|one| one.fate == Fate::CanGo).collect();
    let together: Vec<String> = going.iter().filter(|one| one.together).map(|one| place(&one.origin, report)).collect();
    match going.len() {
        0 => return lines,
        1 => {}
        number if number == together.len() => lines.push("  these can go together".to_string()),
        _ if together.len() == 1 => lines.push("  of these one can go at a time".to_string()),
        _ => lines.push(format!("  together can go: {}", together.join(", "))),
    }
    lines.push(format!("  `can go` says: {CLAIM}"));
    lines
}

fn answer(one: &Redundant) -> String {
    let said = one.fate.text();
    match (&one.reason, &one.unreplayed) {
        (Some(reason), _) => format!("{said}: {reason}"),
        (None, Some(why)) => format!("{said}; not replayed: {why}"),
        (None, None) => {
            let executions = count(u64::from(one.executions), "random execution", "random executions");
            format!("{said}; no defect in {executions} without it")
        }
    }
}

/// `k.cu:12 (PTX 40)`, or `k.ptx:40`.
pub(super) fn place(origin: &Origin, report: &KernelReport) -> String {
    match origin.position.as_ref().map(|position| position.own()) {
        Some(position) => format!("{}:{} (PTX {})", name(&position.file), position.line, origin.line),
        None => format!("{}:{}", name(&report.file), origin.line),
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
