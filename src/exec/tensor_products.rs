//! What products and copies of tensor memory read and write: `tcgen05.mma`, `tcgen05.cp`.
//!
//! Input: an operation that starts, with its descriptors. Output: [`Extents`]: bytes of shared memory, columns and lanes of tensor
//! memory, of both blocks of a pair. Establishes: exactly what the ISA says is accessed; what is not known here is refused by name.
//! Relies on: descriptors in canonical layouts, as for `wgmma` ([`crate::ptx::descriptor`]).
//! Reference: PTX ISA, "Shared Memory Descriptor", "Instruction Descriptor", "Data Path Layout Organization", "Scale Factor A ID"; the
//! canonical layouts are those of CUTLASS (`cute/atom/mma_traits_sm100.hpp`).

use super::access::{self, Target};
use super::agents;
use super::block::BlockState;
use super::decode::{Program, TensorA, TensorOperation, TensorProductOf};
use super::moves::Wrong;
use super::outcome::{Fault, FaultKind};
use super::races::Current;
use super::races::clock::{Agent, ThreadClock};
use super::races::tensor::Pipelined;
use super::tensor_memory::{ALL, Part, at};
use super::thread::Thread;
use super::world::World;
use crate::ptx::descriptor::{ADDRESS, Matrix};

/// Bytes of a piece of shared memory.
pub(super) const UNIT: u32 = 16;

/// Bytes along K of a product's matrices.
const DEPTH: u32 = 32;

/// Columns of 32 bits that A has in tensor memory.
const A_COLUMNS: u32 = DEPTH / 4;

/// The first kind with scale factors.
const SCALED: u8 = 4;

/// The even groups of 16 lanes.
const EVEN: u8 = 0b0101_0101;

/// What an operation accesses.
pub(super) struct Extents {
    /// Offsets of the pieces of shared memory that it reads.
    pub(super) shared: Vec<u32>,
    pub(super) reads: Vec<Part>,
    pub(super) writes: Vec<Part>,
    pub(super) pipelined: Pipelined,
}

/// Rows and columns of the result.
fn size(kind: u8, shape: u32) -> (u32, u32) {
    let columns = (shape >> 17 & 0x3f) << 3;
    match kind {
        SCALED.. => ((shape >> 27 & 3) << 7, columns),
        _ => ((shape >> 24 & 0x1f) << 4, columns),
    }
}

/// Where the matrix of a descriptor starts in shared memory, and after how many bytes its swizzle repeats.
pub(crate) fn place(descriptor: u64) -> Option<(u64, u64)> {
    Matrix::of_tensor(descriptor).map(Matrix::place)
}

/// What an operation of a thread in the block with this rank accesses.
pub(super) fn extents(
    program: &Program,
    ranks: u32,
    (rank, thread): (u32, &Thread),
    operation: &TensorOperation,
) -> Result<Extents, Wrong> {
    let blocks = |pair: bool| if pair && rank ^ 1 < ranks { vec![rank, rank ^ 1] } else { vec![rank] };
    match operation {
        TensorOperation::Copy { to, from, rows, bytes, pair } => {
            let (lane, column) = at(thread, *to);
            if lane != 0 {
                return Err(refused("a copy to tensor memory that does not start at the first lane"));
            }
            let ranks = blocks(*pair);
            let matrix = matrix(thread.value(*from))?;
            let shared = pieces(program, thread, &ranks, matrix, matrix.rows(u64::from(*rows), u64::from(*bytes)))?;
            let part = |rank: &u32| Part { rank: *rank, columns: column..column + bytes / 4, groups: ALL };
            let writes = ranks.iter().map(part).collect();
            Ok(Extents { shared, reads: Vec::new(), writes, pipelined: Pipelined::Copy { pair: *pair } })
        }
        TensorOperation::Product(product) => of_product(program, thread, &blocks(product.pair), product),
        _ => panic!("exec: only copies and products of tensor memory have extents"),
    }
}

fn refused(reason: &str) -> Wrong {
    Wrong::Refused(reason.to_string())
}

fn matrix(descriptor: u64) -> Result<Matrix, Wrong> {
    Matrix::of_tensor(descriptor).ok_or_else(|| refused("a descriptor of shared memory that has no canonical layout"))
}

/// Offsets of pieces at the same places in these blocks.
fn pieces(
    program: &Program,
    thread: &Thread,
    ranks: &[u32],
    matrix: Matrix,
    behind: Vec<u64>,
) -> Result<Vec<u32>, Wrong> {
    let mut all = Vec::new();
    for rank in ranks {
        for behind in &behind {
            let address = matrix.start.wrapping_add(*behind) & ADDRESS;
            match access::shared(program, *rank, address, u64::from(UNIT)) {
                Some(Target::Shared(offset)) => all.push(offset),
                _ => {
                    let (place, kind) = ((thread.number, thread.last()), FaultKind::Bounds);
                    return Err(Fault { place, kind, address, dynamic: None, bytes: UNIT, values: Vec::new() }.into());
                }
            }
        }
    }
    Ok(all)
}

/// "Data Path Layout Organization": columns of a result, and groups of lanes.
fn result_of(product: &TensorProductOf, (m, n): (u32, u32), lane: u32) -> Option<(u32, u8)> {
    let (columns, groups) = match (product.pair, product.is_weight_stationary, m) {
        (true, false, 256) | (false, _, 128) => (n, ALL),
        (true, false, 128) | (false, true, 64) => (n / 2, ALL),
        (false, true, 32) => (n / 4, ALL),
        (false, false, 64) if lane == 16 => return Some((n, EVEN << 1)),
        (false, false, 64) => (n, EVEN),
        _ => return None,
    };
    (lane == 0).then_some((columns, groups))
}

fn of_product(program: &Program, thread: &Thread, ranks: &[u32], product: &TensorProductOf) -> Result<Extents, Wrong> {
    let shape = thread.value(product.shape) as u32;
    let (m, n) = size(product.kind, shape);
    let (lane, column) = at(thread, product.d);
    let is_known = (8..=256).contains(&n) && shape & 4 == 0 && (product.kind < SCALED || shape >> 31 == 0);
    let Some((columns, groups)) = result_of(product, (m, n), lane).filter(|_| is_known) else {
        return Err(refused("a product of this size"));
    };
    let of_all = |columns: std::ops::Range<u32>, groups: u8| -> Vec<Part> {
        ranks.iter().map(|rank| Part { rank: *rank, columns: columns.clone(), groups }).collect()
    };
    let blocks = ranks.len() as u32;
    let (rows, wide) = (m / if product.pair { 2 } else { 1 }, n / if product.pair { 2 } else { 1 });
    if product.pair && blocks < 2 {
        return Err(refused("a product of a pair of blocks in a cluster of one"));
    }
    let mut shared = Vec::new();
    let mut reads = Vec::new();
    match product.a {
        TensorA::Shared(descriptor) => {
            shared.extend(operand(program, (thread, ranks), descriptor, (rows, shape >> 15 & 1 == 1), product)?);
        }
        TensorA::Tensor(place) => {
            let (lane, column) = at(thread, place);
            if lane != 0 || rows != 128 {
                return Err(refused("a matrix in tensor memory that has no 128 rows"));
            }
            reads.extend(of_all(column..column + A_COLUMNS, ALL));
        }
    }
    shared.extend(operand(program, (thread, ranks), product.b, (wide, shape >> 16 & 1 == 1), product)?);
    for (place, count) in product.scales.iter().flatten().zip([rows.div_ceil(32), n.div_ceil(32)]) {
        let (lane, column) = at(thread, *place);
        if lane != 0 {
            return Err(refused("scale factors that do not start at the first lane"));
        }
        reads.extend(of_all(column..column + count, ALL));
    }
    let d = lane << 16 | column;
    let pipelined = Pipelined::Product { kind: product.kind, size: (m, n), d, pair: product.pair };
    Ok(Extents { shared, reads, writes: of_all(column..column + columns, groups), pipelined })
}

/// What is read of a matrix in shared memory.
fn operand(
    program: &Program,
    (thread, ranks): (&Thread, &[u32]),
    descriptor: super::decode::Slot,
    (rows, is_transposed): (u32, bool),
    product: &TensorProductOf,
) -> Result<Vec<u32>, Wrong> {
    let matrix = matrix(thread.value(descriptor))?;
    let behind = match is_transposed {
        true if product.kind > SCALED || product.element == 4 => {
            return Err(refused("a matrix of these elements that lies along M or N"));
        }
        true => matrix.columns(u64::from(rows), u64::from(product.element)),
        false => matrix.rows(u64::from(rows), u64::from(DEPTH)),
    };
    pieces(program, thread, ranks, matrix, behind)
}

/// The detector sees what a product or a copy with this number reads of shared memory.
pub(super) fn show(
    program: &Program,
    world: &mut World,
    block: &mut BlockState,
    (thread, number): (&Thread, u32),
    target: Target,
) {
    let code = thread.last().wrapping_sub(1);
    if let Some(location) = target.location() {
        world.note_at((thread.number, code), Some(location), UNIT);
    }
    if world.races {
        let agent = world.detector.shape.agent_of(thread.number, Agent::Tensor);
        let clock = &ThreadClock { epoch: number, ..thread.clock.clone() };
        let current = Current { thread: agent, code, clock, same_value: false, map: None };
        agents::watch(program, world, block, thread, (target, UNIT), current);
    }
}
