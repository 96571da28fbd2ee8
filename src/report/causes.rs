//! Why kernels are `unsupported`, counted over a run.
//!
//! Input: [`KernelReport`]s. Output: a count for each cause, most kernels first.
//! Establishes: one cause has one text, whichever instruction or function it is about; the order is stable.
//! Relies on: messages that name an instruction or function between the first two backquotes; those about
//! instructions end with `: REASON`.

use super::explain;
use crate::diagnostic::Severity;
use crate::finding::KernelReport;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// How often a cause occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause<'a> {
    /// The code of the diagnostics.
    pub code: &'a str,
    /// What has no model, without the name of the instruction or function.
    pub cause: &'a str,
    /// Opcodes (without modifiers) or functions.
    pub names: BTreeSet<&'a str>,
    /// Kernels that it makes `unsupported`.
    pub kernels: usize,
    /// Those of them that have no other cause.
    pub alone: usize,
    /// Places in these kernels.
    pub places: usize,
}

/// The causes of all reports.
pub fn causes(reports: &[KernelReport]) -> Vec<Cause<'_>> {
    counted(reports.iter().map(unsupported_of))
}

fn unsupported_of(report: &KernelReport) -> Vec<(&str, &str)> {
    let unsupported = report.diagnostics.iter().filter(|each| each.severity == Severity::Unsupported);
    unsupported.map(|each| (each.code, each.message.as_str())).collect()
}

/// The causes of kernels, each given by codes and messages.
pub(crate) fn counted<'a>(kernels: impl Iterator<Item = Vec<(&'a str, &'a str)>>) -> Vec<Cause<'a>> {
    let mut all: BTreeMap<(&str, &str), Cause<'a>> = BTreeMap::new();
    for kernel in kernels {
        let mut here: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (code, message) in kernel {
            let key = (code, cause(code, message));
            *here.entry(key).or_default() += 1;
            let fresh = Cause { code: key.0, cause: key.1, names: BTreeSet::new(), kernels: 0, alone: 0, places: 0 };
            all.entry(key).or_insert(fresh).names.extend(name(code, message));
        }
        let alone = usize::from(here.len() == 1);
        for (key, places) in here {
            if let Some(cause) = all.get_mut(&key) {
                cause.kernels += 1;
                cause.alone += alone;
                cause.places += places;
            }
        }
    }
    let mut list: Vec<Cause<'a>> = all.into_values().collect();
    // Stable: those of one count keep the order of their codes and texts.
    list.sort_by_key(|cause| Reverse((cause.kernels, cause.alone)));
    list
}

/// The reason at the end of a message about an instruction; for other codes what `gpuvcc explain` says.
fn cause<'a>(code: &str, message: &'a str) -> &'a str {
    match (code, explain::find(code)) {
        ("unsupported-instruction", _) => message.split_once(": ").map_or(message, |(_, reason)| reason),
        (_, Some(page)) => page.title,
        (_, None) => message,
    }
}

/// What the message names, if it names anything; of an instruction the opcode.
fn name<'a>(code: &str, message: &'a str) -> Option<&'a str> {
    let name = message.split('`').nth(1)?;
    match code {
        "unsupported-instruction" => name.split('.').next(),
        _ => Some(name),
    }
}
