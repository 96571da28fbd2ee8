//! Places in the input: byte spans, and the source positions that `.loc` directives tell.
//!
//! Every node of every stage carries a [`Span`]; a node that stands for a PTX instruction also
//! carries an [`Origin`], which travels unchanged from the parser to the finding.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A half-open range of bytes `[start, end)` of the input text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
}

impl Span {
    /// The span of nodes that no input text produced (the prelude, generated code).
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// A span from byte offsets; offsets beyond 4 GiB are clamped.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// The smallest span that covers both.
    pub(crate) fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The range as `usize`, as codespan-reporting wants it.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line of a source file, as a `.loc` directive names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourcePosition {
    /// Path as the `.file` directive spells it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
    /// The call site into which this position was inlined (`inlined_at`).
    pub inlined_at: Option<Arc<SourcePosition>>,
}

impl SourcePosition {
    /// The line of the kernel itself into which the position was inlined.
    pub(crate) fn outermost(&self) -> &SourcePosition {
        let mut position = self;
        while let Some(call) = &position.inlined_at {
            position = call;
        }
        position
    }

    /// The author's own line: where code of another file was inlined, the call in the file of the kernel itself.
    pub fn own(&self) -> &SourcePosition {
        let kernel = self.outermost();
        let mut position = self;
        while position.file != kernel.file {
            // The last position is that of the kernel.
            let Some(call) = &position.inlined_at else { break };
            position = call;
        }
        position
    }

    /// The line of another file that was inlined at the author's own one.
    pub(crate) fn inlined(&self) -> Option<&SourcePosition> {
        (self.own() != self).then_some(self)
    }
}

/// Where a node of any stage comes from in the PTX (or IVL) input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The instruction in the input text.
    pub span: Span,
    /// Line of that instruction in the input text, from 1.
    pub line: u32,
    /// The source position in force there.
    pub position: Option<Arc<SourcePosition>>,
    /// The instruction as written, for comments and reports (no guard, no `;`).
    pub text: Box<str>,
}

impl Origin {
    /// `line 13, PTX 49`, or `PTX line 49` where the source is not known.
    pub(crate) fn told(&self) -> String {
        match &self.position {
            Some(position) => format!("line {}, PTX {}", position.own().line, self.line),
            None => format!("PTX line {}", self.line),
        }
    }
}
