//! What the decoder knows of instructions and constants beyond what is executed.
//!
//! Output only: plain data for `sync`, which follows where values come from. The emulator reads none of it, and pays nothing.

use super::{Slot, Space};
use crate::geometry::Axis;
use crate::ptx::ast::{Comparison, IntOp, ScalarType};
use std::collections::BTreeMap;
use std::ops::Range;

/// Notes on a program.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Slots of registers stand before all others: so many of them. They hold anything before they are written.
    pub(crate) registers: usize,
    /// Constants that are no numbers of the PTX.
    pub(crate) constants: BTreeMap<Slot, ConstantKind>,
    /// By call: what it leaves undefined of the function that is called.
    pub(crate) frames: BTreeMap<u32, Frame>,
    /// By instruction. Of an instruction without a note nothing is known but its operands.
    pub(crate) codes: BTreeMap<u32, Note>,
}

/// Registers and variables of a function, which hold anything when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The slots of its registers.
    pub(crate) registers: Range<usize>,
    /// Bytes of local memory: its variables and results.
    pub(crate) variables: Vec<Range<usize>>,
}

/// Where a constant comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConstantKind {
    /// The text of the PTX, or the size of blocks.
    Number,
    /// The size of the grid.
    Grid(Axis),
    /// The address of a variable, plus a number. Other hosts and devices place it elsewhere.
    Address(Place),
    /// A size that the emulator chose, and that the launch of a host may have otherwise.
    Chosen,
    /// A size of the clusters of the launch, which may be unknown.
    Cluster,
}

/// Where an address points: a [`Space`] that is known, or code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub(crate) enum Place {
    Global,
    /// The shared variable with this number.
    Shared(u16),
    Local,
    Param,
    Function,
    /// The columns of tensor memory that the allocation with this number gave.
    Tensor(u16),
    /// No place: the state of a barrier object, which is good for its own operations only.
    State,
}

impl Place {
    /// The place of a variable; shared ones have numbers.
    pub(crate) fn of(space: Space, number: u16) -> Place {
        match space {
            Space::Global | Space::Generic => Place::Global,
            Space::Shared => Place::Shared(number),
            Space::Local => Place::Local,
            Space::Param => Place::Param,
        }
    }
}

/// What an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The first source plus the second, modulo 2 to the power of this many bits.
    Sum { bits: u32 },
    /// The first source minus the second.
    Difference { bits: u32 },
    /// The product of the first two sources plus the third, modulo 2 to the power of this many bits.
    ProductSum { bits: u32 },
    /// The same, with the product of two numbers of this type, which has twice as many bits as they have.
    WideProductSum { of: ScalarType },
    /// The first source, an address of a window of generic addresses, plus where that starts.
    ToGeneric,
    /// The first source, a generic address, minus where its window starts.
    FromGeneric,
    /// The source, cut to or extended with zeros from 32 bits.
    Low32,
    /// The first source, an address of shared memory, in the block that the second one names.
    InBlock,
    /// The rank of the block in whose shared memory the first source is; the second one is the own rank.
    BlockOf,
    /// A result that other hardware may have otherwise: of floating-point arithmetic.
    Inexact,
    /// A value that the emulator made up.
    Unknown,
    /// A function of integers that is none of the others.
    Integer { op: IntOp, ty: ScalarType },
    /// The comparison of the first two sources, maybe combined with a predicate.
    Comparison { comparison: Comparison, ty: ScalarType },
    /// The source, extended from one width to another, or cut.
    Convert { from: ScalarType, to: ScalarType },
    /// The value of a kernel parameter.
    Parameter {
        /// Position.
        index: usize,
        /// Byte offset in it.
        offset: u32,
        /// How many.
        bytes: u32,
    },
}
