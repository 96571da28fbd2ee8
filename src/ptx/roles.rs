//! The operands of an instruction, by role: what an instruction reads, writes and addresses.
//!
//! Input: any [`Op`]. Establishes: one place that knows the operand positions of every operation, so
//! that renaming and data-flow passes cannot disagree about them.

use super::ast::{Address, AddressBase, AsyncOp, BarrierKind, Instruction, MapUse, Op, Operand, RegisterId};

/// An operand together with its role.
pub(crate) enum Slot<'a> {
    /// A value that is read.
    Source(&'a mut Operand),
    /// A register (or vector of registers) that is written.
    Destination(&'a mut Operand),
    /// A memory operand; its base register is read.
    Address(&'a mut Address),
}

/// Visits every operand of an operation once.
pub(crate) fn visit(op: &mut Op, f: &mut dyn FnMut(Slot<'_>)) {
    match op {
        Op::Mov { dst, src, .. } | Op::Cvta { dst, src, .. } => {
            f(Slot::Source(src));
            f(Slot::Destination(dst));
        }
        Op::Int { dst, sources, .. } | Op::Float { dst, sources, .. } | Op::Cvt { dst, sources, .. } => {
            sources.iter_mut().for_each(|s| f(Slot::Source(s)));
            f(Slot::Destination(dst));
        }
        Op::Setp { dst, complement, a, b, combine, .. } => {
            f(Slot::Source(a));
            f(Slot::Source(b));
            if let Some(combine) = combine {
                f(Slot::Source(&mut combine.1));
            }
            f(Slot::Destination(dst));
            if let Some(q) = complement {
                f(Slot::Destination(q));
            }
        }
        Op::Set { dst, a, b, combine, .. } => {
            f(Slot::Source(a));
            f(Slot::Source(b));
            if let Some(combine) = combine {
                f(Slot::Source(&mut combine.1));
            }
            f(Slot::Destination(dst));
        }
        Op::Selp { dst, a, b, predicate, .. } => {
            f(Slot::Source(a));
            f(Slot::Source(b));
            f(Slot::Source(predicate));
            f(Slot::Destination(dst));
        }
        Op::Load { dst, address, .. } => {
            f(Slot::Address(address));
            dst.iter_mut().for_each(|d| f(Slot::Destination(d)));
        }
        Op::Store { src, address, .. } => {
            f(Slot::Address(address));
            src.iter_mut().for_each(|s| f(Slot::Source(s)));
        }
        Op::Atomic { dst, address, sources, .. } => {
            f(Slot::Address(address));
            sources.iter_mut().for_each(|s| f(Slot::Source(s)));
            dst.iter_mut().for_each(|d| f(Slot::Destination(d)));
        }
        Op::Matrix { dst, src, address, stride, .. } => {
            f(Slot::Address(address));
            src.iter_mut().chain(stride.as_deref_mut()).for_each(|s| f(Slot::Source(s)));
            dst.iter_mut().for_each(|d| f(Slot::Destination(d)));
        }
        Op::Call { returns, arguments, .. } => {
            arguments.iter_mut().for_each(|a| f(Slot::Source(a)));
            returns.iter_mut().for_each(|r| f(Slot::Destination(r)));
        }
        Op::Barrier { kind, id, count, .. } => {
            f(Slot::Source(id));
            if let Some(count) = count {
                f(Slot::Source(count));
            }
            if let BarrierKind::Reduce { dst, predicate, .. } = kind {
                f(Slot::Source(predicate));
                f(Slot::Destination(dst));
            }
        }
        Op::BranchIndexed { index, .. } => f(Slot::Source(index)),
        Op::CallIndirect { function, returns, arguments, .. } => {
            f(Slot::Source(function));
            arguments.iter_mut().for_each(|s| f(Slot::Source(s)));
            returns.iter_mut().for_each(|d| f(Slot::Destination(d)));
        }
        Op::Allocate { dst, size } => {
            f(Slot::Source(size));
            f(Slot::Destination(dst));
        }
        Op::Free { address } => f(Slot::Address(address)),
        Op::Async { operation: AsyncOp::Copy(copy), .. } => {
            f(Slot::Address(&mut copy.to));
            f(Slot::Address(&mut copy.from));
            copy.taken.iter_mut().for_each(|taken| f(Slot::Source(taken)));
        }
        Op::Async { operation: AsyncOp::Arrive { object, .. }, .. } => f(Slot::Address(&mut object.address)),
        Op::Async { operation: AsyncOp::Bulk(copy), .. } => {
            f(Slot::Address(&mut copy.to.address));
            f(Slot::Address(&mut copy.from.address));
            f(Slot::Source(&mut copy.size));
            copy.multicast.iter_mut().for_each(|mask| f(Slot::Source(mask)));
            copy.object.iter_mut().for_each(|object| f(Slot::Address(&mut object.address)));
        }
        Op::Async { operation: AsyncOp::Remote(store), .. } => {
            f(Slot::Address(&mut store.to.address));
            store.values.iter_mut().for_each(|value| f(Slot::Source(value)));
            f(Slot::Address(&mut store.object.address));
        }
        Op::Async { operation: AsyncOp::Tensor(copy), .. } => {
            f(Slot::Address(&mut copy.map.address));
            copy.coordinates.iter_mut().for_each(|coordinate| f(Slot::Source(coordinate)));
            f(Slot::Address(&mut copy.shared.address));
            copy.multicast.iter_mut().for_each(|mask| f(Slot::Source(mask)));
            copy.object.iter_mut().for_each(|object| f(Slot::Address(&mut object.address)));
        }
        Op::Async { operation: AsyncOp::Map(operation), .. } => match &mut **operation {
            MapUse::Replace { map, value, .. } => {
                f(Slot::Address(&mut map.address));
                f(Slot::Source(value));
            }
            MapUse::Publish { to, from } => {
                f(Slot::Address(&mut to.address));
                f(Slot::Address(&mut from.address));
            }
            MapUse::Acquire { map } => f(Slot::Address(&mut map.address)),
        },
        Op::Async { operation: AsyncOp::Product(product), .. } => {
            product.a.iter_mut().for_each(|source| f(Slot::Source(source)));
            f(Slot::Source(&mut product.b));
            f(Slot::Source(&mut product.accumulates));
            product.dst.iter_mut().for_each(|dst| f(Slot::Source(dst)));
            product.dst.iter_mut().for_each(|dst| f(Slot::Destination(dst)));
        }
        Op::Async { operation: AsyncOp::TensorMemory(usage), .. } => {
            usage.addresses_mut().into_iter().for_each(|address| f(Slot::Address(address)));
            usage.sources_mut().into_iter().for_each(|source| f(Slot::Source(source)));
            usage.destinations_mut().for_each(|dst| f(Slot::Destination(dst)));
        }
        Op::Object { usage, .. } => {
            f(Slot::Address(&mut usage.place.address));
            usage.action.source_mut().into_iter().for_each(|source| f(Slot::Source(source)));
            usage.dst.iter_mut().for_each(|dst| f(Slot::Destination(dst)));
        }
        Op::WarpBarrier { mask } => f(Slot::Source(mask)),
        Op::Arbitrary { dst, sources, .. } => {
            sources.iter_mut().for_each(|s| f(Slot::Source(s)));
            dst.iter_mut().for_each(|d| f(Slot::Destination(d)));
        }
        Op::Branch { .. }
        | Op::Return
        | Op::Exit
        | Op::Trap
        | Op::Fence(_)
        | Op::Async {
            operation:
                AsyncOp::Commit
                | AsyncOp::Wait { .. }
                | AsyncOp::BulkCommit
                | AsyncOp::BulkWait { .. }
                | AsyncOp::ProductFence
                | AsyncOp::ProductCommit
                | AsyncOp::ProductWait { .. },
            ..
        }
        | Op::ClusterBarrier { .. }
        | Op::Registers { .. }
        | Op::Nothing { .. }
        | Op::Unsupported { .. } => {}
    }
}

/// The registers in an operand, vectors included.
pub(crate) fn registers_of(operand: &Operand) -> Vec<RegisterId> {
    match operand {
        Operand::Register(r) | Operand::NotPredicate(r) => vec![*r],
        Operand::Vector(elements) => elements.iter().flat_map(registers_of).collect(),
        _ => Vec::new(),
    }
}

/// The registers that an instruction reads (guard included) and writes, in operand order.
pub(crate) fn registers(instruction: &Instruction) -> (Vec<RegisterId>, Vec<RegisterId>) {
    let mut read: Vec<_> = instruction.guard.iter().map(|g| g.register).collect();
    let mut written = Vec::new();
    visit(&mut instruction.op.clone(), &mut |slot| match slot {
        Slot::Source(operand) => read.extend(registers_of(operand)),
        Slot::Destination(operand) => written.extend(registers_of(operand)),
        Slot::Address(Address { base: AddressBase::Register(r), .. }) => read.push(*r),
        Slot::Address(_) => {}
    });
    (read, written)
}
