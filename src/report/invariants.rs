//! What `--invariants` says of a kernel.
//!
//! Input: [`LoopInvariants`] of each loop. Output: lines of text, and objects of the JSON.

use super::json::{self, Place};
use super::redundant::place;
use crate::finding::{KernelReport, LoopInvariants};
use serde::Serialize;

/// The lines; none where nothing was asked.
pub(super) fn lines(report: &KernelReport) -> Vec<String> {
    let mut lines = Vec::new();
    for one in &report.invariants {
        let at = one.origin.as_ref().map(|origin| format!(" at {}", place(origin, report))).unwrap_or_default();
        let none = if one.invariants.is_empty() { " none" } else { "" };
        lines.push(format!("  invariants of the loop{at}:{none}"));
        lines.extend(one.invariants.iter().map(|(family, text)| format!("  - {text} ({family})")));
    }
    lines
}

/// What holds at the head of a loop, whichever thread is there.
#[derive(Serialize)]
pub(super) struct LoopObject<'a> {
    #[serde(flatten)]
    place: Option<Place<'a>>,
    invariants: Vec<InvariantObject<'a>>,
}

#[derive(Serialize)]
struct InvariantObject<'a> {
    family: &'a str,
    text: &'a str,
}

impl LoopObject<'_> {
    pub(super) fn of(one: &LoopInvariants) -> LoopObject<'_> {
        let invariants = one.invariants.iter().map(|(family, text)| InvariantObject { family, text });
        LoopObject { place: one.origin.as_deref().map(json::place), invariants: invariants.collect() }
    }
}
