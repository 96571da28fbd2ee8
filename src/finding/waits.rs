//! Threads that wait for ever.
//!
//! Output only: plain data.

use crate::span::Origin;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A link of a chain of waiting threads: each one lacks the thread of the next one, and in a cycle the last one that of the
/// first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// `%tid` of one of the threads of a warp that wait there.
    pub thread: [u32; 3],
    /// `%ctaid`
    pub block: [u32; 3],
    /// What is waited for: `barrier 1`.
    pub object: String,
    /// Number of its use, from 0, which is not complete; none of an operation of a warp.
    pub generation: Option<u64>,
    /// All of it in a sentence.
    pub text: String,
    /// The instruction.
    pub origin: Arc<Origin>,
}

/// The barrier of which generations may mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MixedBarrier {
    /// The number of a barrier of the block.
    Number(u32),
    /// The place of a barrier object in shared memory, in bytes.
    Object(u32),
}

/// Two generations of a barrier that may mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mixing {
    pub barrier: MixedBarrier,
    /// The earlier one and the later one, from 0.
    pub generations: [u64; 2],
    /// Who would have to know of whom.
    pub edge: String,
}
