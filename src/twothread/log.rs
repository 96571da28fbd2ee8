//! The state in which a prelude remembers accesses of thread 1.
//!
//! Input: the names of prelude/README.md, and the declarations that a prelude has for an array. Output: [`Log`].
//! Establishes: later stages ask here, and know no name of the prelude. Relies on: the contract.
//! Reference: the tutorial paper (logging); prelude/README.md.

use super::underway::Groups;
use crate::ivl::ast::{ExprRef, Name, Program, Type};
use crate::ivl::bv;
use std::collections::BTreeMap;

/// The constant that chooses the access which is remembered.
pub(super) const TRACKED_SITE: &str = "_TRACKED_SITE";

/// The byte of an array that is watched, or was remembered last.
pub(super) const WATCHED_OFFSET: &str = "_WATCHED_OFFSET_$ARRAY";

/// The start of remembered strong accesses, which not every prelude has.
const WATCHED_START: &str = "_WATCHED_START_$ARRAY";

/// The width of remembered strong accesses, likewise.
const WATCHED_WIDTH: &str = "_WATCHED_WIDTH";

/// What is true while an access of its kind is pending.
pub(super) const FLAGS: [&str; 4] = [
    "_READ_HAS_OCCURRED_$ARRAY",
    "_WRITE_HAS_OCCURRED_$ARRAY",
    "_STRONG_READ_HAS_OCCURRED_$ARRAY",
    "_STRONG_WRITE_HAS_OCCURRED_$ARRAY",
];

/// A name of a template, for an array.
fn instance(template: &str, array: &Name) -> Name {
    Name::from(template.replace(super::prelude::PLACEHOLDER, array.as_str()))
}

/// The log of a two-thread program.
#[derive(Clone, Debug, Default)]
pub struct Log {
    arrays: BTreeMap<Name, ArrayLog>,
    /// What is known of copies, for each way in which they end.
    pub(crate) groups: Vec<Groups>,
    /// Whether accesses are compared byte by byte, whatever their widths.
    pub(crate) by_bytes: bool,
}

/// What is remembered of one array.
#[derive(Clone, Debug)]
pub(crate) struct ArrayLog {
    /// Variables, true while an access of their kind is pending.
    pub(crate) flags: Vec<Name>,
    /// Other variables: what a prelude notes beside them.
    pub(crate) records: Vec<Name>,
    /// The byte that is watched, or was remembered last.
    pub(crate) watched: Name,
    /// The start of remembered strong accesses, if the prelude has it.
    pub(crate) start: Name,
    /// Whether offsets are right modulo 2^32 only.
    pub(crate) narrow: bool,
}

impl Log {
    /// Adds an array with the declarations that the prelude has for it.
    pub(super) fn add(&mut self, array: &Name, declared: &Program, narrow: bool) {
        let flags = FLAGS.map(|flag| instance(flag, array));
        let names = declared.globals.iter().map(|global| global.name.clone());
        let (flags, records) = names.partition(|name| flags.contains(name));
        let (watched, start) = (instance(WATCHED_OFFSET, array), instance(WATCHED_START, array));
        self.arrays.insert(array.clone(), ArrayLog { flags, records, watched, start, narrow });
    }

    /// The arrays whose accesses are logged, in order of names.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &ArrayLog> {
        self.arrays.values()
    }

    /// The log of an array.
    pub(crate) fn of(&self, array: &Name) -> Option<&ArrayLog> {
        self.arrays.get(array)
    }

    /// The flags of all arrays.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &Name> {
        self.arrays.values().flat_map(|log| &log.flags)
    }

    /// What is noted beside the flags.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Name> {
        let group = self.groups.first().map(|groups| &groups.logged);
        self.arrays.values().flat_map(|log| &log.records).chain(group)
    }

    /// The constant that chooses the access which is remembered.
    pub(crate) fn tracked_site(&self) -> Name {
        Name::from(TRACKED_SITE)
    }

    /// The constant that has the width of remembered strong accesses, if the prelude has it.
    pub(crate) fn strong_width(&self) -> Name {
        Name::from(WATCHED_WIDTH)
    }

    /// Whether the accesses of that number are remembered.
    pub(crate) fn is_tracked(&self, site: u32) -> ExprRef {
        bv::eq(bv::var(self.tracked_site(), Type::Bv(16)), bv::literal(u128::from(site), 16))
    }
}
