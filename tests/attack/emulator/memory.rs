//! Memory of an emulated launch, and the accesses that the race detector remembers.
//!
//! Each array stands far from any other, so that an index that leaves its array meets no other one:
//! the verifier assumes that accesses stay inside.

use super::random::hash;
use gpuvcc::ptx::ast::Scope;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Generic addresses of shared memory start here.
pub const SHARED_WINDOW: u64 = 1 << 60;
/// Generic addresses of a thread's local memory start here.
pub const LOCAL_WINDOW: u64 = 2 << 60;
/// Addresses of kernel parameters start here.
pub const PARAM_WINDOW: u64 = 3 << 60;

/// The base of the global array with this number; scattered, so that sums of bases are no bases.
pub fn global_base(number: usize) -> u64 {
    (hash(number as u64, 7) & 0xffff) << 44 | 1 << 43
}

/// The base of the shared array with this number, in 32 bits.
pub fn shared_base(number: usize) -> u64 {
    (number as u64 + 1) << 24
}

/// A fast hash of one number; the order of the map is never looked at.
#[derive(Default)]
pub struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type WordMap<T> = HashMap<u64, T, BuildHasherDefault<WordHasher>>;

/// What memory holds before the kernel writes it.
#[derive(Clone, Copy, Debug)]
pub enum Contents {
    /// Zeros.
    Zero,
    /// Words below a bound.
    Small(u32),
    /// Any bits.
    Any,
}

/// Byte-addressed memory, kept in words of four bytes.
#[derive(Debug)]
pub struct Memory {
    words: WordMap<u32>,
    contents: Contents,
    seed: u64,
}

impl Memory {
    /// Memory before the launch.
    pub fn new(contents: Contents, seed: u64) -> Self {
        Memory { words: WordMap::default(), contents, seed }
    }

    fn word(&self, index: u64) -> u32 {
        let initial = || {
            let bits = hash(self.seed, index) as u32;
            match self.contents {
                Contents::Zero => 0,
                Contents::Small(bound) => bits % bound,
                Contents::Any => bits,
            }
        };
        self.words.get(&index).copied().unwrap_or_else(initial)
    }

    /// Reads up to 8 bytes, lowest first.
    pub fn read(&self, address: u64, bytes: u32) -> u64 {
        (0..u64::from(bytes)).fold(0, |value, offset| {
            let at = address.wrapping_add(offset);
            value | u64::from(self.word(at >> 2) >> (8 * (at & 3)) & 255) << (8 * offset)
        })
    }

    /// Writes up to 8 bytes, lowest first.
    pub fn write(&mut self, address: u64, bytes: u32, value: u64) {
        for offset in 0..u64::from(bytes) {
            let at = address.wrapping_add(offset);
            let shift = 8 * (at & 3);
            let byte = (value >> (8 * offset) & 255) as u32;
            let word = self.word(at >> 2) & !(255 << shift) | byte << shift;
            self.words.insert(at >> 2, word);
        }
    }
}

/// One access to shared or global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Number of the thread among those that run.
    pub thread: u32,
    /// Number of its block among those that run.
    pub block: u32,
    /// Barriers that its block, or its thread, had passed; see [`super::barriers::Order`].
    pub epoch: u32,
    /// Line of the instruction in the PTX.
    pub line: u32,
    /// Whether it writes.
    pub write: bool,
    /// Scope of a strong access.
    pub scope: Option<Scope>,
    /// Address of the first byte.
    pub start: u64,
    /// Bytes.
    pub bytes: u32,
}

impl Access {
    /// The race condition of the PTX memory model, for accesses that nothing orders.
    fn races(&self, other: &Access) -> bool {
        let distance = other.start.wrapping_sub(self.start);
        let overlap = distance < u64::from(self.bytes) || self.start.wrapping_sub(other.start) < u64::from(other.bytes);
        self.thread != other.thread && (self.write || other.write) && overlap && !self.morally_strong(other)
    }

    fn morally_strong(&self, other: &Access) -> bool {
        let reaches = |scope: Option<Scope>| match scope {
            None => false,
            Some(Scope::Cta | Scope::Cluster) => self.block == other.block,
            Some(Scope::Gpu | Scope::Sys) => true,
        };
        reaches(self.scope) && reaches(other.scope) && self.start == other.start && self.bytes == other.bytes
    }
}

/// Accesses that a word remembers at most; more only make a race be missed.
const REMEMBERED: usize = 48;

/// The accesses so far that a next one may race with.
#[derive(Debug, Default)]
pub struct Shadow {
    words: WordMap<Vec<Access>>,
    /// Lines of racing pairs, the smaller one first.
    pub races: BTreeSet<(u32, u32)>,
}

impl Shadow {
    /// Compares an access with the earlier ones and remembers it. `concurrent` tells whether an
    /// earlier access of the same block is unordered with it.
    pub fn record(&mut self, access: Access, concurrent: impl Fn(&Access) -> bool) {
        let end = access.start.wrapping_add(u64::from(access.bytes) - 1);
        for word in access.start >> 2..=end >> 2 {
            let earlier = self.words.entry(word).or_default();
            for other in earlier.iter().filter(|other| other.races(&access) && concurrent(other)) {
                self.races.insert((other.line.min(access.line), other.line.max(access.line)));
            }
            let alike = |other: &&Access| Access { thread: access.thread, ..**other } == access;
            if earlier.len() < REMEMBERED && earlier.iter().filter(alike).count() < 2 && !earlier.contains(&access) {
                earlier.push(access);
            }
        }
    }

    /// Forgets all accesses: a barrier orders them before the next ones.
    pub fn forget(&mut self) {
        self.words.clear();
    }
}
