//! A launch as a line, `FILE ENTRY BLOCK GRID SHARED SIZE CONTENTS PARAMETERS = HASHES`, and its execution.
//!
//! BLOCK and GRID are `X,Y,Z`; SHARED is the size of dynamic shared memory. Every array has SIZE bytes; before the launch, arrays
//! hold what CONTENTS says: `zero`, `small:BOUND:SEED` (words below a bound), `unit:SEED` (numbers from 0 to 1) or `any:SEED`; the
//! number of the array is added to the seed. PARAMETERS are those of the kernel, in hexadecimal, lowest byte first, with commas
//! between them; `@0` is the address of the first array. HASHES are those of the arrays after the launch (FNV-1a).

use super::random::hash;
use gpuvcc::exec::launch::{Array, Contents, Launch, Schedule, array_address};
use gpuvcc::exec::{self, Run};
use gpuvcc::geometry::Geometry;
use gpuvcc::ptx::ast::Module;
use gpuvcc::rules::Rules;
use std::fmt::Write;

/// A part of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Bytes(Vec<u8>),
    /// The address of the array with this number.
    Address(usize),
}

/// What arrays hold before the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Zero,
    Small { bound: u32, seed: u64 },
    Unit { seed: u64 },
    Any { seed: u64 },
}

/// A launch, and what a GPU made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub file: String,
    pub entry: String,
    pub block: [u32; 3],
    pub grid: [u32; 3],
    pub dynamic_shared: u32,
    /// Of each array, in bytes.
    pub size: u64,
    pub start: Start,
    pub parameters: Vec<Vec<Part>>,
    /// A hash for each array; none before a GPU ran it.
    pub after: Vec<u64>,
}

/// A finished execution.
pub struct Ran(Run);

impl Recorded {
    /// Reads a line.
    pub fn read(line: &str) -> Option<Recorded> {
        let (launch, after) = line.split_once(" =")?;
        let words: Vec<&str> = launch.split(' ').collect();
        let [file, entry, block, grid, shared, size, start, rest @ ..] = &words[..] else { return None };
        let parameters = rest.first().map_or(Some(Vec::new()), |list| list.split(',').map(parameter).collect())?;
        let after = after.split_whitespace().map(|word| u64::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
        Some(Recorded {
            file: file.to_string(),
            entry: entry.to_string(),
            block: triple(block)?,
            grid: triple(grid)?,
            dynamic_shared: shared.parse().ok()?,
            size: size.parse().ok()?,
            start: Start::read(start)?,
            parameters,
            after,
        })
    }

    /// The line, without hashes.
    pub fn line(&self) -> String {
        let sizes = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
        let part = |part: &Part| match part {
            Part::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
            Part::Address(number) => format!("@{number}"),
        };
        let parameters: Vec<String> =
            self.parameters.iter().map(|parts| parts.iter().map(part).collect::<Vec<_>>().join("+")).collect();
        let mut line = format!("{} {} {} {}", self.file, self.entry, sizes(self.block), sizes(self.grid));
        let _ = write!(line, " {} {} {}", self.dynamic_shared, self.size, self.start.text());
        let _ = write!(line, " {} =", parameters.join(","));
        line
    }

    /// How many arrays there are.
    pub fn arrays(&self) -> usize {
        let parts = self.parameters.iter().flatten();
        parts.map(|part| if let Part::Address(number) = part { number + 1 } else { 0 }).max().unwrap_or(0)
    }

    /// Runs it. What nobody wrote is drawn by the seed.
    pub fn run(&self, module: &Module, schedule: Schedule, seed: u64) -> Result<Ran, String> {
        let is_entry = |name: &str| name == self.entry;
        let entry = module.functions.iter().position(|function| function.is_entry && is_entry(&function.name));
        let entry = entry.ok_or_else(|| format!("no kernel {}", self.entry))?;
        let bytes = |part: &Part| match part {
            Part::Bytes(bytes) => bytes.clone(),
            Part::Address(number) => array_address(*number, 64).to_le_bytes().to_vec(),
        };
        let array = |number: usize| Array {
            name: number.to_string(),
            size: self.size,
            contents: self.start.contents(number as u64, self.size),
        };
        let launch = Launch {
            cluster: [1; 3],
            geometry: Geometry { block: self.block, grid: self.grid },
            parameters: self.parameters.iter().map(|parts| parts.iter().flat_map(bytes).collect()).collect(),
            arrays: (0..self.arrays()).map(array).collect(),
            dynamic_shared: self.dynamic_shared,
            shared_buffers: Vec::new(),
            contents: Contents::Any { seed },
            schedule,
            completion: schedule.completion(),
            seed,
            thread_steps: 20_000,
            total_steps: 200_000,
            blocks: None,
            races: true,
            rules: Rules::default(),
        };
        exec::run(module, entry, &launch).map(Ran).map_err(|diagnostic| diagnostic.message)
    }
}

impl Ran {
    /// Whether every thread came to its end without a defect, and no value was open.
    pub fn is_clean(&self) -> bool {
        let shown = &self.0.outcome;
        let barriers = shown.divergences.is_empty() && shown.deadlocks.is_empty() && shown.barrier_errors.is_empty();
        shown.is_complete() && !shown.arbitrary && shown.races.is_empty() && barriers && shown.faults.is_empty()
    }

    /// A hash of each array.
    pub fn hashes(&self, recorded: &Recorded) -> Vec<u64> {
        (0..recorded.arrays()).map(|array| fnv(&self.bytes(array, recorded.size))).collect()
    }

    /// What an array holds.
    pub fn bytes(&self, array: usize, size: u64) -> Vec<u8> {
        (0..size / 8).flat_map(|index| self.0.memory.read(array, 8 * index, 8).to_le_bytes()).collect()
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn triple(text: &str) -> Option<[u32; 3]> {
    let sizes: Vec<u32> = text.split(',').map(|size| size.parse().ok()).collect::<Option<_>>()?;
    sizes.try_into().ok()
}

fn parameter(text: &str) -> Option<Vec<Part>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let part = |text: &str| match text.strip_prefix('@') {
        Some(number) => number.parse().ok().map(Part::Address),
        None => text.as_bytes().chunks(2).map(byte).collect::<Option<_>>().map(Part::Bytes),
    };
    text.split('+').map(part).collect()
}

impl Start {
    fn read(text: &str) -> Option<Start> {
        let words: Vec<&str> = text.split(':').collect();
        Some(match words[..] {
            ["zero"] => Start::Zero,
            ["small", bound, seed] => Start::Small { bound: bound.parse().ok()?, seed: seed.parse().ok()? },
            ["unit", seed] => Start::Unit { seed: seed.parse().ok()? },
            ["any", seed] => Start::Any { seed: seed.parse().ok()? },
            _ => return None,
        })
    }

    fn text(self) -> String {
        match self {
            Start::Zero => "zero".to_string(),
            Start::Small { bound, seed } => format!("small:{bound}:{seed}"),
            Start::Unit { seed } => format!("unit:{seed}"),
            Start::Any { seed } => format!("any:{seed}"),
        }
    }

    /// What the array with this number holds.
    fn contents(self, number: u64, size: u64) -> Contents {
        let words =
            |word: &dyn Fn(u64) -> u32| Contents::Bytes((0..size / 4).flat_map(|at| word(at).to_le_bytes()).collect());
        match self {
            Start::Zero => Contents::Zero,
            Start::Small { bound, seed } => words(&|at| hash(seed + number, at) as u32 % bound),
            Start::Unit { seed } => {
                words(&|at| (((hash(seed + number, at) >> 40) as f32) / ((1u32 << 24) as f32)).to_bits())
            }
            Start::Any { seed } => words(&|at| hash(seed + number, at) as u32),
        }
    }
}
