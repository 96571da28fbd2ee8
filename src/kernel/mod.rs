//! Stage 3, `kernel`: a control-flow graph to a one-thread program in the lock-step paper's kernel
//! language.
//!
//! Input: a [`Module`], one of its entries and the entry's [`Cfg`]. Output: a [`Kernel`].
//! Passes: `promote` makes registers of private memory, `pointers` finds the region of each
//! address, `definite` finds reads of undefined registers; `lower` and the files beside it write
//! the IVL; `required` makes preconditions of what annotations say of the launch. See each for its contract.

mod aggregated;
mod agreeing;
mod annotation;
mod arithmetic;
mod array_facts;
mod barrier_invariant;
mod bits;
mod bulk;
mod completion;
mod conversion;
mod declarations;
mod definite;
mod exposed;
mod fields;
mod groups;
mod in_flight;
mod known_bits;
mod launch;
mod locks;
mod lowering;
mod matrix;
mod memory;
mod messages;
mod names;
mod numbers;
mod objects;
mod operations;
mod parameters;
mod paths;
mod pointers;
mod points;
mod polynomial;
mod products;
mod program;
mod promote;
mod regions;
mod required;
mod tickets;
mod transfer;
mod warp;
mod winners;

use crate::aliases::Aliases;
use crate::cfg::graph::Cfg;
use crate::diagnostic::Diagnostic;
use crate::geometry::Geometry;
use crate::ivl::ast::{Name, Program};
use crate::ptx::ast::{Function, Module};
use crate::rules::Rules;
pub(crate) use aggregated::SHARE;
pub(crate) use agreeing::AGREE;
pub(crate) use array_facts::{ENTRIES, INITIALLY};
pub(crate) use bulk::{FENCED, PROXY};
pub(crate) use completion::{BEHIND, COMPLETES, EARLY};
pub(crate) use groups::ASYNCHRONOUS;
pub(crate) use locks::HELD;
pub(crate) use memory::ALIGNED;
pub(crate) use messages::{ALL_BLOCKS, TELLS, TOLD};
pub(crate) use objects::{AWAITED, MATES};
use std::collections::BTreeMap;
pub(crate) use tickets::{EACH_INTERVAL, STEP, TICKET, signed};
pub(crate) use warp::LANES;
pub(crate) use winners::WINNER;

/// What the user fixed about the launch and the checks.
#[derive(Clone, Debug)]
pub struct LowerOptions {
    /// Sizes of launches.
    pub geometry: Geometry,
    /// Scalar parameters with fixed values, by name or position from 0.
    pub params: Vec<(String, u64)>,
    /// The same of parameters that may be pointers, whose values are not used.
    pub words: Vec<(String, u64)>,
    /// What counts as a defect, and what is taken for granted.
    pub rules: Rules,
    /// Pointer parameters that point into one array.
    pub aliases: Aliases,
    /// A launch has fewer threads than this.
    pub max_threads: u64,
}

impl Default for LowerOptions {
    fn default() -> Self {
        LowerOptions {
            geometry: Geometry::FREE,
            params: Vec::new(),
            words: Vec::new(),
            rules: Rules::default(),
            aliases: Aliases::default(),
            max_threads: 1 << 31,
        }
    }
}

/// A parameter of the kernel as the IVL knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParameter {
    /// The IVL constant that holds its value; `None` for a pointer that stands at a known offset of its array.
    pub constant: Option<Name>,
    /// Name in the PTX.
    pub name: String,
    /// Byte offset in the parameter (not 0 inside by-value structs).
    pub offset: i64,
    /// Width in bits.
    pub bits: u32,
    /// Whether it points to an array.
    pub(crate) is_pointer: bool,
    /// Whether that array is in shared memory.
    pub(crate) is_shared: bool,
}

/// The one-thread program of an entry.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// One procedure with the attribute `{:kernel}`; arrays, constants and functions that it uses.
    /// Thread ids are constants `tid.x` ... with `{:thread}`, `ctaid.x` ... with `{:block}`, sizes
    /// `ntid.x`, `nctaid.x` ... with `{:launch}`, all 32 bits wide. An axis of fixed size 1 has no id
    /// constant, and a fixed size none either.
    pub program: Program,
    /// The standing decisions of DESIGN section 3 that this translation used, one sentence each.
    pub assumptions: Vec<String>,
    /// What the user may have meant otherwise.
    pub(crate) warnings: Vec<Diagnostic>,
    /// IVL array to the name a person uses.
    pub(crate) array_names: BTreeMap<Name, String>,
    /// IVL variable of a register to its name in the PTX.
    pub(crate) register_names: BTreeMap<Name, String>,
    /// The parameters that the kernel reads.
    pub params: Vec<KernelParameter>,
    /// Sizes of launches, as far as the options or `.reqntid` fix them.
    pub geometry: Geometry,
    /// Whether threads look at words that others write, as who waits does.
    pub(crate) waits: bool,
    /// Threads that a block has at most: what `.maxntid` says, or what a GPU has.
    pub(crate) most_threads: u32,
}

/// The labels that the blocks of a graph have in the kernel program, in the order of their indices.
pub(crate) fn labels(cfg: &Cfg) -> Vec<Name> {
    program::labels(cfg, &mut names::Names::default())
}

/// Translates an entry.
///
/// # Errors
/// `unsupported` diagnostics for instructions without a sound model, errors for annotations and
/// options that do not fit the kernel.
pub fn lower(module: &Module, entry: &Function, cfg: &Cfg, options: &LowerOptions) -> Result<Kernel, Vec<Diagnostic>> {
    if module.address_size == 32 {
        let message = "32-bit addresses (`.address_size 32`)";
        return Err(vec![Diagnostic::unsupported("address-size", message, entry.span)]);
    }
    let (cfg, promoted) = promote::run(cfg);
    program::run(module, entry, (&cfg, promoted), options)
}
