//! What is run: sizes, arguments, memory before the launch, and the schedule.

use super::decode::shared_address;
use crate::geometry::{BLOCK_THREADS, Geometry};
use crate::rules::Rules;
use std::collections::BTreeMap;

/// A concrete launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its sizes.
    pub geometry: Geometry<u32>,
    /// Blocks of a cluster on each axis; they divide those of the grid.
    pub cluster: [u32; 3],
    /// Bytes of each parameter.
    pub parameters: Vec<Vec<u8>>,
    /// Global arrays, in the order of [`array_address`].
    pub arrays: Vec<Array>,
    /// Bytes of dynamic shared memory that `.extern .shared` arrays name.
    pub dynamic_shared: u32,
    /// Buffers in shared memory that parameters point to, in the order of [`SharedBuffer::address`]; they stand behind the
    /// dynamic shared memory, one behind the other.
    pub shared_buffers: Vec<SharedBuffer>,
    /// What shared memory and registers hold before they are written.
    pub contents: Contents,
    /// The order in which threads run.
    pub schedule: Schedule,
    /// When the bytes of asynchronous copies arrive.
    pub completion: Completion,
    /// Seed of the schedule and of everything that the ISA leaves open.
    pub seed: u64,
    /// Instructions that one thread may execute.
    pub thread_steps: u64,
    /// Instructions that all threads together may execute; those that run stop there.
    pub total_steps: u64,
    /// Only these blocks run (by linear number); all when `None`.
    pub blocks: Option<Vec<u32>>,
    /// Whether data races are looked for.
    pub races: bool,
    /// What counts as a defect.
    pub rules: Rules,
}

/// A global array that a parameter points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name in findings.
    pub name: String,
    /// Size in bytes; accesses beyond are errors.
    pub size: u64,
    /// What it holds.
    pub contents: Contents,
}

/// A buffer in the shared memory of each block that a parameter points to: `__local float *p` of OpenCL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    /// Its name in findings.
    pub(crate) name: String,
    /// Size in bytes; accesses beyond are errors.
    pub(crate) size: u32,
}

impl SharedBuffer {
    /// The address in shared memory of the buffer with this number.
    pub(crate) fn address(number: usize) -> u64 {
        shared_address(number as u64 + 1)
    }
}

/// What memory holds before the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Zeros.
    Zero,
    /// Words of four bytes below a bound, by seed.
    Small {
        /// The bound, at least 1.
        bound: u32,
        /// Seed.
        seed: u64,
    },
    /// Any bits, by seed.
    Any {
        /// Seed.
        seed: u64,
    },
    /// These 1, 2, 4 or 8 bytes over and over.
    Each(Vec<u8>),
    /// These bytes, then zeros.
    Bytes(Vec<u8>),
    /// Bytes by their offsets, and zeros.
    Cells(BTreeMap<u64, u8>),
}

/// In which order threads run. All are legal executions; happens-before does not depend on the order
/// except through what threads read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Each thread in turn runs until it waits, or for 1000 instructions.
    RoundRobin,
    /// A thread drawn by the seed runs for a few instructions.
    Random,
    /// As [`Schedule::Random`], with a switch after every access to shared or global memory.
    Adversarial,
    /// The threads of a warp execute each instruction together; at a branch those that fall through
    /// come first.
    Lockstep,
    /// Lock-step, where those that take the branch come first.
    LockstepTaken,
}

impl Schedule {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Schedule::RoundRobin => "round-robin",
            Schedule::Random => "random",
            Schedule::Adversarial => "adversarial",
            Schedule::Lockstep => "lockstep",
            Schedule::LockstepTaken => "lockstep-taken",
        }
    }

    /// What goes with it unless the user says: a wait that is missing is to show.
    pub fn completion(self) -> Completion {
        match self {
            Schedule::RoundRobin => Completion::Lazy,
            Schedule::Random | Schedule::Adversarial => Completion::Random,
            Schedule::Lockstep | Schedule::LockstepTaken => Completion::Eager,
        }
    }

    /// Whether warps run in lock-step.
    pub(crate) fn is_lockstep(self) -> bool {
        matches!(self, Schedule::Lockstep | Schedule::LockstepTaken)
    }
}

/// When the bytes of an asynchronous copy arrive: at any time between its start and the wait for its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// When it starts.
    Eager,
    /// When its thread waits for it.
    Lazy,
    /// Drawn by the seed.
    Random,
}

/// The address of the array with this number, as a kernel gets it. Arrays stand far apart, so that
/// an index that leaves its array meets no other; sums of addresses are no addresses either.
pub fn array_address(number: usize, address_bits: u32) -> u64 {
    let number = number as u64;
    match address_bits {
        // 16 MiB each, below the windows of the other spaces.
        32 => (number + 1) << 24,
        _ if number < SCATTERED => (super::values::hash(number, 7) & 0x7fff) << 44 | 1 << 43,
        _ => 1 << 59 | ((number - SCATTERED) & 0x7fff) << 44 | 1 << 43,
    }
}

/// So many arrays have addresses of which no sum is an address; among more, two would have one address.
const SCATTERED: u64 = 32;

/// A launch that hardware and the emulator can have.
pub(crate) fn check_sizes(geometry: Geometry<u32>) -> Result<(), String> {
    let threads = geometry.block_threads();
    if threads > u128::from(BLOCK_THREADS) {
        return Err(format!("a block has at most {BLOCK_THREADS} threads, not {threads}"));
    }
    match geometry.threads() {
        threads if threads >= 1 << 32 => Err(format!("a launch has fewer than 2^32 threads, not {threads}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_arrays_have_one_address() {
        let addresses: BTreeSet<u64> = (0..30_000).map(|number| array_address(number, 64)).collect();
        assert_eq!(addresses.len(), 30_000);
    }
}
