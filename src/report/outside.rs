//! Defects that need values which no host is likely to pass, a line each.
//!
//! Input: a report. Output: text. Establishes: each line names the values, what goes wrong and where; the command that
//! replays it follows. Relies on: `launch::plausible` chose them. Reference: DESIGN section 3 (`verified-when`).

use super::finding::headline;
use super::snippet::printable;
use super::text::launch_text;
use crate::finding::{Finding, KernelReport};
use crate::span::Origin;
use std::fmt::Write;

/// The lines of a report.
pub(super) fn lines(report: &KernelReport) -> String {
    let mut output = String::new();
    for finding in &report.outside {
        let _ = writeln!(output, "  outside: {}", printable(&line(finding)));
        if let Some(command) = &finding.replay {
            let _ = writeln!(output, "    replay: {}", printable(command));
        }
    }
    output
}

/// `n = -4: read-write race on `c`, line 13 and line 14, block 32, grid 1`
pub(super) fn line(finding: &Finding) -> String {
    let values = finding.params.iter().map(|(name, value)| format!("{name} = {}", value.signed()));
    let values: Vec<String> = values.collect();
    let launch = finding.launch.map(|launch| format!(", {}", launch_text(&launch))).unwrap_or_default();
    format!("{}: {}, {}{launch}", values.join(", "), headline(finding), places(finding))
}

/// `line 13 and line 14`
pub(super) fn places(finding: &Finding) -> String {
    let mut places: Vec<String> = finding.accesses.iter().map(|access| place(&access.origin)).collect();
    places.extend(finding.barrier.iter().map(|barrier| place(barrier)));
    places.dedup();
    places.join(" and ")
}

fn place(origin: &Origin) -> String {
    match &origin.position {
        Some(position) => format!("line {}", position.line),
        None => format!("PTX line {}", origin.line),
    }
}
