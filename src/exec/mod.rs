//! Beside the line, `exec`: an emulator of PTX with dynamic race detection.
//!
//! Input: a typed module, an entry, a concrete [`launch::Launch`]. Output: an [`outcome::Outcome`]: what
//! one legal execution showed. It shares the parser, the table of orders and types of launches and rules with the
//! verifier, and none of its stages (of `cfg` the visitor of operands), so that it can judge proofs.
//!
//! The way: [`decode`] makes a flat program, once a launch; [`machine`] chooses which thread runs ([`lockstep`]
//! for whole warps); [`thread`] runs it, with [`access`], [`block`] (barriers), [`objects`]
//! (barrier objects), [`cluster`], [`agents`] and [`bulk`] (copies), [`warp`] and the functions of
//! [`values`]; [`races`] watches, [`trace`] tells how a defect came about, and [`record`] with which registers; [`history`]
//! keeps what is done at barriers, and [`waiting`] says who waits for whom.

pub(crate) mod access;
mod agents;
pub(crate) mod arguments;
pub(crate) mod binding;
pub mod block;
mod bulk;
mod cluster;
pub mod command;
pub mod decode;
pub(crate) mod entries;
pub(crate) mod history;
pub mod launch;
mod lockstep;
pub mod machine;
mod maps;
pub mod memory;
pub(crate) mod moves;
pub(crate) mod objects;
pub mod outcome;
pub(crate) mod products;
pub(crate) mod races;
pub(crate) mod record;
pub(crate) mod tensor;
pub(crate) mod tensor_argument;
pub(crate) mod tensor_memory;
pub(crate) mod tensor_products;
pub mod thread;
pub(crate) mod trace;
pub mod values;
pub(crate) mod waiting;
pub(crate) mod warp;
pub mod world;

use crate::diagnostic::Diagnostic;
use crate::ptx::ast::Module;
use decode::Program;
use launch::Launch;
use outcome::Outcome;

/// A finished run.
pub struct Run {
    /// What was run; the outcome's instructions are indices into it.
    pub program: Program,
    /// What it showed.
    pub outcome: Outcome,
    /// Global memory afterwards.
    pub memory: memory::GlobalMemory,
    /// Name of each global array, and the offset at which its pointer stands.
    pub(crate) arrays: Vec<(String, u64)>,
}

/// Runs a launch of an entry (an index into the module's functions).
pub fn run(module: &Module, entry: usize, launch: &Launch) -> Result<Run, Diagnostic> {
    let program = decode::decode(module, entry, launch)?;
    let world = world::World::new(&program, launch, parameter_bytes(module, entry, launch), module.address_size);
    let (outcome, memory) = machine::Machine::new(&program, launch, world).run();
    Ok(finished(program, outcome, memory))
}

pub(crate) fn finished(program: Program, outcome: Outcome, memory: memory::GlobalMemory) -> Run {
    let arrays = (0..memory.arrays.len()).map(|index| (memory.arrays[index].name.clone(), memory.origin(index)));
    let arrays = arrays.collect();
    Run { program, outcome, memory, arrays }
}

/// The parameters one behind the other, each at its alignment.
pub(crate) fn parameter_bytes(module: &Module, entry: usize, launch: &Launch) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (parameter, value) in module.functions[entry].params.iter().zip(&launch.parameters) {
        bytes.resize(bytes.len().next_multiple_of(parameter.align.max(1) as usize), 0);
        bytes.extend(value);
    }
    bytes
}
