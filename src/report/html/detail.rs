//! What the page shows of one kernel once it is opened.
//!
//! Output only: plain data. An instruction is known by its number in [`Detail::instructions`].

use serde::Serialize;
use std::collections::BTreeMap;

/// All of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Detail {
    /// The kernel in PTX, each device function that it calls, then the CUDA files.
    pub(crate) sources: Vec<Source>,
    pub(crate) instructions: Vec<Instruction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) graph: Option<Graph>,
    /// Of an execution that decides for all: generations of barriers, and what leads from one to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) barrier_graph: Option<Graph>,
    /// In the order of the pipeline.
    pub(crate) stages: Vec<StageText>,
    pub(crate) invariants: Vec<Invariant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replay: Option<Replay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) barriers: Option<Barriers>,
}

/// A source text, or a part of one.
#[derive(Debug, Serialize)]
pub(crate) struct Source {
    pub(crate) path: String,
    /// `ptx`, `cuda` or `ivl`.
    pub(crate) language: &'static str,
    pub(crate) text: String,
    /// The line of the file, from 1, with which the text begins.
    pub(crate) first_line: usize,
}

/// A line of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Line {
    /// Index into [`Detail::sources`].
    pub(crate) source: usize,
    /// Line of the file, from 1.
    pub(crate) line: usize,
}

/// An instruction of the input.
#[derive(Debug, Serialize)]
pub(crate) struct Instruction {
    #[serde(flatten)]
    pub(crate) place: Line,
    /// In characters, from 1.
    pub(crate) column: usize,
    /// Behind its last character, if it ends on its line.
    pub(crate) end_column: usize,
    pub(crate) text: String,
    /// The line of the author's source that it was compiled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cuda: Option<Line>,
    /// What its opcode means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) explain: Option<String>,
}

/// A graph: of the control flow, or of barriers.
#[derive(Debug, Serialize)]
pub(crate) struct Graph {
    /// Empty where it is too large to be drawn.
    pub(crate) svg: String,
    pub(crate) blocks: Vec<Block>,
    /// Pairs of indices into the blocks.
    pub(crate) edges: Vec<(usize, usize)>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Block {
    pub(crate) label: String,
    /// Its place in the sort order of the kernel, from 0, where the kernel was predicated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) order: Option<usize>,
    pub(crate) loop_head: bool,
    pub(crate) instructions: Vec<usize>,
}

/// A stage of the verifier.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StageText {
    /// As `--emit` calls it.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// For each line of the text the instructions that it comes from.
    pub(crate) lines: Vec<Vec<usize>>,
    /// Why there is no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<String>,
}

/// A candidate invariant.
#[derive(Debug, Serialize)]
pub(crate) struct Invariant {
    /// Label of the head of its loop.
    #[serde(rename = "loop")]
    pub(crate) label: String,
    /// The block of the graph with that label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<usize>,
    /// The line of the input at which the loop begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    pub(crate) pair: &'static str,
    pub(crate) family: &'static str,
    pub(crate) text: String,
    pub(crate) fate: String,
    /// Whether the proof needs it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) used: Option<bool>,
}

/// An execution with a defect, as far as it leads to it.
#[derive(Debug, Serialize)]
pub(crate) struct Replay {
    pub(crate) title: String,
    /// What shows it in the emulator.
    pub(crate) command: String,
    pub(crate) threads: Vec<ReplayThread>,
    pub(crate) steps: Vec<ReplayStep>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReplayThread {
    pub(crate) name: String,
    /// What they held before the first step.
    pub(crate) registers: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReplayStep {
    /// Index into the threads.
    pub(crate) thread: usize,
    pub(crate) instruction: usize,
    /// What changed, with the values behind the step.
    pub(crate) registers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) defect: bool,
}

/// Who waits where, when threads of a block do not come together.
#[derive(Debug, Serialize)]
pub(crate) struct Barriers {
    pub(crate) title: String,
    pub(crate) places: Vec<BarrierPlace>,
    pub(crate) threads: Vec<Group>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct BarrierPlace {
    pub(crate) instruction: usize,
    pub(crate) line: usize,
}

/// Threads of a block with numbers in a row.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// Index into the places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits: Option<usize>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) exited: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}
