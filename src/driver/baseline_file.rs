//! `--baseline` and `--write-baseline`: the findings of an earlier run, told by their fingerprints.
//!
//! Input: a file, and reports. Output: the reports with marks; notes on entries of which no report has the finding any more;
//! the file with the findings of this run. Establishes: a mark changes the exit code only, and never to that of a proof
//! unless `--fail-on` asks for that; an entry marks what has its fingerprint, and a possible defect that is known as a
//! confirmed one; what is written is sorted. Relies on: [`fingerprint`](crate::report::fingerprint).
//! Reference: book/src/ci.md.

use super::options::Options;
use super::output::Output;
use crate::diagnostic::Diagnostic;
use crate::finding::{KernelReport, Verdict};
use crate::report::fingerprint::{Identities, Identity};
use crate::report::source::{SourceFiles, SourceText};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The form of the file that this version writes, and the only one that it reads.
const FORM: u32 = 1;

/// The file.
#[derive(Serialize, Deserialize)]
struct Contents {
    /// Always `gpuvcc`.
    tool: String,
    /// The form of the file.
    baseline: u32,
    findings: Vec<Entry>,
}

/// A finding that is known. Its fingerprint alone tells it; the rest is for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry {
    fingerprint: String,
    /// The input in which it was found.
    file: String,
    /// As its author reads it.
    kernel: String,
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<String>,
    /// The texts of its lines.
    lines: Vec<String>,
    /// What people add; it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The findings that are known, by fingerprint, and those of this run.
pub(crate) struct BaselineFile<'o> {
    read: Option<&'o str>,
    written: Option<&'o str>,
    known: BTreeMap<String, Entry>,
    /// Entries of this run.
    found: BTreeMap<String, Entry>,
    /// Fingerprints of entries that marked something.
    used: Vec<String>,
    /// Kernels that were looked at, and whether an answer says all that is wrong with them.
    answered: BTreeMap<String, bool>,
}

impl<'o> BaselineFile<'o> {
    /// Reads the file of `--baseline`; `None` after an error that was told.
    pub(crate) fn read(options: &'o Options, output: &mut Output) -> Option<Self> {
        let (read, written) = (options.baseline.as_deref(), options.write_baseline.as_deref());
        let known = match read.map(|name| (name, entries(name))) {
            None => BTreeMap::new(),
            Some((_, Ok(entries))) => entries.into_iter().map(|entry| (entry.fingerprint.clone(), entry)).collect(),
            Some((name, Err(message))) => {
                output.unplaced(&Diagnostic::unplaced("baseline", message), name);
                return None;
            }
        };
        let (found, used, answered) = Default::default();
        Some(BaselineFile { read, written, known, found, used, answered })
    }

    /// Marks what is known of a report, and remembers what it says for the file that is written.
    pub(crate) fn mark(&mut self, report: &mut KernelReport, input: &SourceText) {
        if self.read.is_none() && self.written.is_none() {
            return;
        }
        let identities = Identities::of(report, input, &mut SourceFiles::beside(&report.file));
        let is_answer = !matches!(report.verdict, Verdict::Unknown | Verdict::Unsupported) && report.reasons.is_empty();
        let kernel =
            identities.findings.first().or(identities.verdict.as_ref()).map(|identity| identity.kernel.clone());
        let kernel = kernel.unwrap_or_else(|| crate::ptx::mangled::shown(&report.entry));
        *self.answered.entry(kernel).or_insert(true) &= is_answer;
        let mut marks: Vec<Option<String>> = Vec::new();
        for identity in identities.findings.iter().chain(&identities.verdict) {
            marks.push(self.mark_of(identity, &report.file));
        }
        let verdict = identities.verdict.is_some().then(|| marks.pop()).flatten();
        report.known = report.known.take().or(verdict.flatten());
        for (finding, mark) in report.findings.iter_mut().zip(marks) {
            finding.known = finding.known.take().or(mark);
        }
    }

    /// What the report says of something that is known.
    fn mark_of(&mut self, identity: &Identity, file: &str) -> Option<String> {
        let fingerprint = identity.fingerprint();
        let entry = [&fingerprint, &identity.when_confirmed()].into_iter().find_map(|one| self.known.get(one)).cloned();
        let reason = entry.as_ref().and_then(|entry| entry.reason.clone());
        let is_known = entry.is_some();
        self.used.extend(entry.map(|entry| entry.fingerprint));
        if self.written.is_some() {
            self.found.entry(fingerprint.clone()).or_insert_with(|| Entry {
                fingerprint,
                file: file.to_string(),
                kernel: identity.kernel.clone(),
                code: identity.code.to_string(),
                array: identity.array.clone(),
                lines: identity.lines.clone(),
                reason: reason.clone(),
            });
        }
        // What is written is known from now on.
        let name = self.read.filter(|_| is_known).or(self.written)?;
        Some(reason.map_or(name.to_string(), |reason| format!("{name}: {reason}")))
    }

    /// After the last report: notes on entries that nothing needs any more, and the file.
    pub(crate) fn finish(mut self, output: &mut Output) {
        let name = self.read.unwrap_or_default();
        let used = std::mem::take(&mut self.used);
        let (mut unseen, mut kept) = (0, Vec::new());
        for (fingerprint, entry) in &self.known {
            match self.answered.get(&entry.kernel) {
                _ if used.contains(fingerprint) => {}
                Some(true) => output.note(&format!("{name}: {}", stale(entry))),
                is_answer => {
                    unseen += u64::from(is_answer.is_none());
                    kept.push(entry.clone());
                }
            }
        }
        if unseen > 0 {
            output.note(&format!("{name}: {unseen} of its findings are in kernels that were not looked at"));
        }
        let Some(written) = self.written else { return };
        // What this run cannot say anything about stays.
        for entry in kept {
            self.found.entry(entry.fingerprint.clone()).or_insert(entry);
        }
        let mut findings: Vec<Entry> = self.found.into_values().collect();
        let key = |entry: &Entry| (entry.file.clone(), entry.kernel.clone(), entry.fingerprint.clone());
        findings.sort_by_key(key);
        let contents = Contents { tool: "gpuvcc".to_string(), baseline: FORM, findings };
        let result = match serde_json::to_string_pretty(&contents) {
            Ok(text) => std::fs::write(written, text + "\n").map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = result {
            output.unplaced(&Diagnostic::unplaced("baseline", format!("cannot write `{written}`: {error}")), written);
        }
    }
}

/// `scan` has no `race` on `tile` any more: `tile[t] = 0;`
fn stale(entry: &Entry) -> String {
    let array = entry.array.as_ref().map(|array| format!(" on `{array}`")).unwrap_or_default();
    let mut lines: Vec<String> = entry.lines.iter().map(|line| format!("`{line}`")).collect();
    lines.dedup();
    let lines = lines.join(" and ");
    format!("`{}` has no `{}`{array} at {lines} any more ({})", entry.kernel, entry.code, entry.fingerprint)
}

/// The entries of a file.
fn entries(name: &str) -> Result<Vec<Entry>, String> {
    let text = std::fs::read_to_string(name).map_err(|error| format!("cannot read `{name}`: {error}"))?;
    let is_none = |error: serde_json::Error| format!("`{name}` is no baseline (--write-baseline writes one): {error}");
    let contents: Contents = serde_json::from_str(&text).map_err(is_none)?;
    match contents.baseline {
        FORM => Ok(contents.findings),
        other => Err(format!("`{name}` is a baseline of form {other}; this version reads form {FORM}")),
    }
}
