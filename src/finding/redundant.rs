//! What is known of each barrier and fence of a kernel where it is asked whether it can go (`--redundant`).
//!
//! Output only: plain data. `driver/redundant.rs` has what each answer means, and why it is sound.

use crate::span::Origin;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Whether a kernel can do without one of its barriers and fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Fate {
    /// The kernel is proved without it.
    CanGo,
    /// Without it the proof fails at an assertion, or an execution shows a defect.
    Needed,
    /// Neither is said.
    NotClaimed,
}

impl Fate {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fate::CanGo => "can-go",
            Fate::Needed => "is-needed",
            Fate::NotClaimed => "not-claimed",
        }
    }

    /// The same in a sentence.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Fate::CanGo => "can go",
            Fate::Needed => "is needed",
            Fate::NotClaimed => "not claimed",
        }
    }
}

/// One barrier or fence in the text of a kernel and of the functions that it calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redundant {
    /// The instruction.
    pub origin: Arc<Origin>,
    pub fate: Fate,
    /// Why it is needed, or why nothing is claimed.
    pub reason: Option<String>,
    /// Whether it is one of those that can go together.
    pub together: bool,
    /// Random executions of the kernel without it, none of which shows a defect.
    pub executions: u32,
    /// Why there is no such execution.
    pub unreplayed: Option<String>,
}

impl Redundant {
    /// An answer that has no execution behind it.
    pub(crate) fn new(origin: Arc<Origin>, fate: Fate, reason: Option<String>) -> Redundant {
        Redundant { origin, fate, reason, together: false, executions: 0, unreplayed: None }
    }
}

/// What is claimed of those that can go.
pub(crate) const CLAIM: &str = "without it there is no race, no barrier divergence and no failed assertion in these launches; \
     that results stay the same follows, because all accesses are weak and nothing else tells the threads of their order";
