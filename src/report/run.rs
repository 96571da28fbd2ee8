//! What a report says of the run as a whole, so that reports of several machines can be merged.
//!
//! Input: none; the driver fills it in. Output: fields of the JSON report and of the SARIF log. Establishes: nothing.
//! Relies on: nothing. Reference: book/src/many.md.

use serde::{Deserialize, Serialize};

/// The exit code of a run that the user has ended: it has answers of some kernels only.
pub(crate) const INTERRUPTED: u8 = 130;

/// Exit codes, the one that wins first: several kernels give the first that occurs.
pub(crate) const RANKED_EXIT_CODES: [u8; 5] = [4, 2, 1, 3, 0];

/// What is said beside kernels and errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunFacts {
    /// The exit code of the process; [`INTERRUPTED`] where it ended before its time.
    pub(crate) exit: Option<u8>,
    /// Which part of a run this is, if it is not all of it.
    pub(crate) shard: Option<Shard>,
}

/// A part of a run (`--shard`), and where its answers belong in the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shard {
    /// From 1.
    pub(crate) number: usize,
    /// Shards of the run.
    pub(crate) of: usize,
    /// The same in all shards of a run, and in no other: a hash of its kernels, texts and options, 16 digits.
    pub(crate) run: String,
    /// Kernels of the whole run, a launch each.
    pub(crate) total: usize,
    /// Of each of `kernels`, its place in the whole run, from 0; none of what is about a file as a whole.
    pub(crate) positions: Vec<Option<usize>>,
    /// The same of each of `errors`.
    pub(crate) error_positions: Vec<Option<usize>>,
}
