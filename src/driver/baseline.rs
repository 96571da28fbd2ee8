//! Findings that a project knows of already: they are listed as such, and do not fail a run.
//!
//! Input: reports, and what `gpuvcc.toml` says of their kernels. Output: the reports with marks; entries that no report
//! needs any more. Establishes: a mark changes the exit code only, and never to that of a proof. Relies on: nothing.
//! Reference: book/src/known.md.

use super::input::Input;
use super::launches::Known;
use crate::finding::{Defect, Finding, KernelReport, Verdict};
use crate::report::fingerprint::{plain, source_line};
use crate::report::source::SourceFiles;
use crate::span::Origin;
use std::collections::{BTreeMap, BTreeSet};

/// What a known finding can be.
const DEFECTS: [Defect; 5] =
    [Defect::Race, Defect::Divergence, Defect::Deadlock, Defect::BarrierError, Defect::Assertion];

/// A finding that is known. Lines are told by their text, so that it is found again where lines moved.
#[derive(Clone, Debug)]
pub(crate) struct KnownFinding {
    defect: Defect,
    /// The text of each line that it is about, or its place.
    at: BTreeSet<String>,
    /// `gpuvcc.toml:7`, with the reason.
    shown: String,
    origin: String,
}

impl KnownFinding {
    /// `kind`: the verdict that it gives. `at`: its lines, as their text or as `FILE:LINE`.
    ///
    /// # Errors
    /// No such kind, or no line.
    pub(crate) fn new(kind: &str, at: &[String], reason: Option<String>, origin: String) -> Result<Self, String> {
        let defect = DEFECTS.into_iter().find(|defect| [defect.code(true), defect.code(false)].contains(&kind));
        let kinds = || DEFECTS.map(|defect| defect.code(true)).join(", ");
        let defect = defect.ok_or_else(|| format!("`{kind}` is none of {}", kinds()))?;
        let at: BTreeSet<String> = at.iter().map(|line| plain(line)).filter(|line| !line.is_empty()).collect();
        if at.is_empty() {
            return Err("`at` names the lines of the finding, by their text or as `FILE:LINE`".to_string());
        }
        let shown = reason.map_or(origin.clone(), |reason| format!("{origin}: {reason}"));
        Ok(KnownFinding { defect, at, shown, origin })
    }

    /// Whether each line of the finding is one of these, and each of these a line of the finding.
    fn is(&self, finding: &Finding, files: &mut SourceFiles) -> bool {
        let places = finding.accesses.iter().map(|access| &access.origin).chain(&finding.barrier);
        let lines: Vec<BTreeSet<String>> = places.map(|origin| names(origin, files)).collect();
        self.defect == finding.defect
            && !lines.is_empty()
            && lines.iter().all(|names| !names.is_disjoint(&self.at))
            && self.at.iter().all(|at| lines.iter().any(|names| names.contains(at)))
    }
}

/// What an entry may call a place: its line's text in the source, the instruction, or where it stands.
fn names(origin: &Origin, files: &mut SourceFiles) -> BTreeSet<String> {
    let mut names = BTreeSet::from([plain(&origin.text)]);
    if let Some(position) = origin.position.as_ref().map(|position| position.own()) {
        let last = position.file.rsplit(['/', '\\']).next().unwrap_or(&position.file);
        names.extend([&*position.file, last].map(|file| format!("{file}:{}", position.line)));
        names.extend(source_line(position, files));
    }
    names
}

/// The known findings of a run.
pub(crate) struct Baseline<'k> {
    known: &'k Known,
    /// Of which a report has one, by where the entry stands.
    found: BTreeSet<&'k str>,
    /// Of which a report could have one, with a name of its kernel.
    missing: BTreeMap<&'k str, String>,
    /// The same where no answer says that it has none.
    open: BTreeSet<&'k str>,
}

impl<'k> Baseline<'k> {
    /// Before the first report.
    pub(crate) fn new(known: &'k Known) -> Self {
        Baseline { known, found: BTreeSet::new(), missing: BTreeMap::new(), open: BTreeSet::new() }
    }

    /// Marks the findings of a report that are known.
    pub(crate) fn mark(&mut self, input: &Input, report: &mut KernelReport) {
        let entries = self.known.findings_of(input, &report.entry);
        if entries.is_empty() {
            return;
        }
        let mut files = SourceFiles::beside(&report.file);
        for finding in &mut report.findings {
            if let Some(entry) = entries.iter().find(|entry| entry.is(finding, &mut files)) {
                finding.known = Some(entry.shown.clone());
                self.found.insert(&entry.origin);
            }
        }
        let is_answer = !matches!(report.verdict, Verdict::Unknown | Verdict::Unsupported);
        for entry in entries {
            self.missing.insert(&entry.origin, report.entry.clone());
            if !is_answer {
                self.open.insert(&entry.origin);
            }
        }
    }

    /// Sentences about entries of which no report has a finding.
    pub(crate) fn stale(&self) -> Vec<String> {
        let is_stale = |origin: &str| !self.found.contains(origin) && !self.open.contains(origin);
        let stale = self.missing.iter().filter(|(origin, _)| is_stale(origin));
        stale.map(|(origin, kernel)| format!("{origin}: `{kernel}` has no such finding any more")).collect()
    }
}
