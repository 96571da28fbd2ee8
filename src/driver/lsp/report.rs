//! The JSON report of a verification, as far as editors show it.
//!
//! Input: what the program printed. Output: a [`Report`]. Establishes: nothing. Relies on: names of fields never change.
//! Reference: book/src/json.md.

use crate::finding::{AccessKind, AccessReport, Defect, Finding};
use crate::geometry::Geometry;
use crate::span::{Origin, Span};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
pub(super) struct Report {
    pub(super) kernels: Vec<Kernel>,
    pub(super) errors: Vec<InputError>,
}

#[derive(Debug, Deserialize)]
pub(super) struct InputError {
    /// Where it is: the document, a module in it, or another file, such as `gpuvcc.toml`.
    pub(super) file: String,
    pub(super) entry: Option<String>,
    pub(super) code: String,
    pub(super) message: String,
    /// What a compiler says, among others.
    #[serde(default)]
    pub(super) notes: Vec<String>,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Kernel {
    pub(super) entry: String,
    pub(super) demangled: Option<String>,
    pub(super) verdict: String,
    pub(super) launch: Sizes,
    pub(super) launched: Option<Launched>,
    pub(super) conditions: Vec<String>,
    pub(super) findings: Vec<Found>,
    pub(super) reasons: Vec<Reason>,
    pub(super) known: Option<String>,
    pub(super) next: Option<String>,
    #[serde(default)]
    pub(super) invariants: Vec<Loop>,
}

/// What was inferred of a loop.
#[derive(Debug, Deserialize)]
pub(super) struct Loop {
    #[serde(flatten)]
    pub(super) place: Option<Place>,
    invariants: Vec<Invariant>,
}

#[derive(Debug, Deserialize)]
struct Invariant {
    family: String,
    text: String,
}

impl Loop {
    /// Markdown: for which launch it was inferred, and a line each; `None` if nothing was.
    pub(super) fn text(&self, kernel: &Kernel) -> Option<String> {
        let lines: Vec<String> = self.invariants.iter().map(|one| format!("{}  // {}", one.text, one.family)).collect();
        let launch = crate::report::text::launch_text(&kernel.launch.geometry());
        let head = format!("Invariants of this loop ({launch}), inferred and proved; `$1` and `$2` are two threads:");
        (!lines.is_empty()).then(|| format!("{head}\n\n```boogie\n{}\n```\n", lines.join("\n")))
    }
}

/// Where a launch is known from.
#[derive(Debug, Deserialize)]
pub(super) struct Launched {
    pub(super) from: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Sizes {
    block: [Option<u32>; 3],
    grid: [Option<u32>; 3],
}

impl Sizes {
    pub(super) fn geometry(self) -> Geometry {
        Geometry { block: self.block, grid: self.grid }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Found {
    pub(super) code: String,
    kind: String,
    pub(super) confirmed: bool,
    array: Option<String>,
    space: Option<String>,
    offset: Option<i128>,
    pub(super) accesses: Vec<Access>,
    pub(super) barrier: Option<Place>,
    params: BTreeMap<String, i64>,
    launch: Option<Sizes>,
    message: String,
    replay: Option<String>,
    pub(super) related: Vec<Related>,
    same_value: bool,
    help: Option<String>,
    pub(super) known: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Access {
    op: String,
    bytes: u32,
    thread: [u32; 3],
    block: [u32; 3],
    #[serde(flatten)]
    pub(super) place: Place,
}

#[derive(Debug, Deserialize)]
pub(super) struct Related {
    pub(super) what: String,
    #[serde(flatten)]
    pub(super) place: Place,
}

#[derive(Debug, Deserialize)]
pub(super) struct Place {
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
    /// Of the program in the IVL, if it is one.
    pub(super) ptx_line: usize,
    ptx: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Reason {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) ptx_line: Option<usize>,
}

impl Found {
    /// The headline, as reports have it, and below it a line for each thing that is known.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![self.headline()];
        if let Some(array) = &self.array {
            let space = self.space.as_ref().map(|space| format!(" ({space})")).unwrap_or_default();
            let offset = self.offset.map(|offset| format!(", byte offset {offset}")).unwrap_or_default();
            lines.push(format!("array: {array}{space}{offset}"));
        }
        lines.extend(self.accesses.iter().map(Access::text));
        lines.extend(
            self.launch.map(|launch| format!("launch: {}", crate::report::text::launch_text(&launch.geometry()))),
        );
        if !self.params.is_empty() {
            let params: Vec<String> = self.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            lines.push(format!("parameters: {}", params.join(", ")));
        }
        lines.extend((!self.message.is_empty()).then(|| self.message.clone()));
        lines.extend(self.known.as_ref().map(|known| format!("known: {known}")));
        lines.extend(self.help.as_ref().map(|help| format!("help: {help}")));
        lines.extend(self.replay.as_ref().map(|replay| format!("replay: {replay}")));
        lines.join("\n")
    }

    fn headline(&self) -> String {
        let all = [Defect::Race, Defect::Divergence, Defect::Deadlock, Defect::BarrierError, Defect::Assertion];
        let Some(defect) = all.into_iter().find(|defect| defect.code(self.confirmed) == self.code) else {
            return self.code.clone();
        };
        let known = Finding::new(defect, self.confirmed);
        let (kind, array) = (self.kind.clone(), self.array.clone());
        crate::report::finding::headline(&Finding { kind, array, same_value: self.same_value, ..known })
    }
}

impl Access {
    /// What the thread does, as reports have it.
    pub(super) fn text(&self) -> String {
        let all = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Arrive, AccessKind::Absent];
        let Some(op) = all.into_iter().find(|kind| kind.name() == self.op) else { return self.op.clone() };
        let (bytes, thread, block) = (self.bytes, self.thread, self.block);
        let line = u32::try_from(self.place.ptx_line).unwrap_or(u32::MAX);
        let text = self.place.ptx.as_str().into();
        let origin = Arc::new(Origin { span: Span::NONE, line, position: None, text });
        crate::report::finding::access_text(&AccessReport { op, bytes, thread, block, origin })
    }
}

impl Reason {
    /// Where it is, if it is anywhere.
    pub(super) fn place(&self) -> Option<Place> {
        let ptx_line = self.ptx_line?;
        Some(Place { file: self.file.clone(), line: self.line, column: None, ptx_line, ptx: String::new() })
    }
}
