//! Source positions: the `.file` table, and the `.loc` in force.
//!
//! Input: the `.file` directives of the module (which may stand behind their uses), and the `.loc`
//! directives of a body in order.
//! Output: a [`SourcePosition`] for each instruction, with the chain of call sites into which it
//! was inlined.
//! Reference: PTX ISA, debugging directives `.file` and `.loc`.

use super::syntax::{Location, Place};
use super::words::integer;
use crate::span::SourcePosition;
use foldhash::HashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longer chains of inlining are cut: the drop of a chain recurses.
const MAX_INLINE_DEPTH: u32 = 64;

/// Paths of the `.file` table.
pub(crate) type Files = BTreeMap<u64, Arc<str>>;

/// A file index, line and column.
type Key = (u64, u32, u32);

/// The `.loc` in force.
#[derive(Debug)]
pub(crate) struct Locations<'f> {
    files: &'f Files,
    /// Positions told so far in this function, with the depth of their inlining chains;
    /// `inlined_at` refers to them.
    seen: HashMap<Key, (Arc<SourcePosition>, u32)>,
    current: Option<Arc<SourcePosition>>,
}

impl<'f> Locations<'f> {
    /// No position is in force at the start of a function.
    pub(crate) fn new(files: &'f Files) -> Self {
        Locations { files, seen: HashMap::default(), current: None }
    }

    /// The position of an instruction that stands here.
    pub(crate) fn current(&self) -> Option<Arc<SourcePosition>> {
        self.current.clone()
    }

    /// Takes a `.loc`. Line 0 means that the instruction belongs to no line.
    pub(crate) fn enter(&mut self, location: &Location<'_>) {
        let Some(key) = key(&location.place) else { return self.current = None };
        let inlined_at = location.inlined_at.as_ref().and_then(|place| self.call_site(place));
        let depth = inlined_at.as_ref().map_or(0, |(_, depth)| depth + 1);
        let inlined_at = inlined_at.map(|(position, _)| position).filter(|_| depth <= MAX_INLINE_DEPTH);
        let depth = if inlined_at.is_some() { depth } else { 0 };
        self.current = self.position(key, inlined_at);
        if let Some(position) = &self.current {
            self.seen.insert(key, (position.clone(), depth));
        }
    }

    fn call_site(&self, place: &Place<'_>) -> Option<(Arc<SourcePosition>, u32)> {
        let key = key(place)?;
        match self.seen.get(&key) {
            Some(known) => Some(known.clone()),
            None => self.position(key, None).map(|position| (position, 0)),
        }
    }

    fn position(&self, key: Key, inlined_at: Option<Arc<SourcePosition>>) -> Option<Arc<SourcePosition>> {
        let (file, line, column) = key;
        let file = self.files.get(&file)?.clone();
        (line != 0).then(|| Arc::new(SourcePosition { file, line, column, inlined_at }))
    }
}

fn key(place: &Place<'_>) -> Option<Key> {
    let [file, line, column] = place.map(|number| integer(number.text));
    Some((file?, u32::try_from(line?).ok()?, u32::try_from(column?).ok()?))
}
