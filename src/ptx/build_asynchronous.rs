//! Barrier objects and bulk copies: from a table row and checked operands to a typed operation.
//!
//! Part of [`super::build`]. Establishes: `.release`, `.acquire` and `.cta` where nothing is written.
//! Reference: PTX ISA, `mbarrier`, `cp.async.mbarrier.arrive`, `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`,
//! `red.async`.

use super::ast::*;
use super::build::Parts;
use super::context::Interner;
use crate::order::{Ordering, Scope};

/// What reductions do.
const OPERATIONS: [&str; 8] = ["add", "min", "max", "inc", "dec", "and", "or", "xor"];

impl Parts<'_> {
    /// The memory operand with this number, in a space.
    pub(super) fn place(&self, index: usize, space: StateSpace) -> MemoryOperand {
        match self.operands.addresses.get(index) {
            Some(address) => MemoryOperand { space, address: address.clone() },
            None => panic!("ptx: {} without its memory operands", self.name),
        }
    }

    /// `cp.async.mbarrier.arrive`
    pub(super) fn async_arrive(self) -> Op {
        let (object, counted) = (self.place(0, self.space()), self.has("noinc"));
        Op::Async { name: self.name, operation: AsyncOp::Arrive { object, counted } }
    }

    /// `st.async` and `red.async` with a barrier object; the space is written of both operands or of none.
    pub(super) fn remote(self, interner: &Interner) -> Op {
        let space = self.space();
        let operation = OPERATIONS.into_iter().find(|word| self.has(word));
        let (to, object) = (self.place(0, space), self.place(1, space));
        let (ty, values) = (self.ty(0), self.operands.sources.clone());
        let store = RemoteStore { to, values, ty, object, reduction: operation.map(|word| interner.intern(word)) };
        Op::Async { name: self.name, operation: AsyncOp::Remote(Box::new(store)) }
    }

    /// `cp.async.bulk` and `cp.reduce.async.bulk`; destination and source spaces are written in this order.
    pub(super) fn bulk(self, interner: &Interner) -> Op {
        if self.has("cp_mask") {
            return Op::Unsupported { name: self.name, reason: "`.cp_mask` is not modelled".to_string() };
        }
        let spaces = self.selected.modifiers.iter().filter_map(|modifier| match *modifier {
            "global" => Some(StateSpace::Global),
            "shared::cta" => Some(StateSpace::Shared),
            "shared::cluster" => Some(StateSpace::SharedCluster),
            _ => None,
        });
        let spaces: Vec<StateSpace> = spaces.collect();
        let [to, from] = spaces[..] else { panic!("ptx: {} without its two spaces", self.name) };
        let object = (!self.has("bulk_group")).then(|| self.place(2, to));
        let operation = OPERATIONS.into_iter().find(|word| self.has(word));
        let reduction = operation.map(|word| (interner.intern(word), self.ty(0)));
        let (to, from) = (self.place(0, to), self.place(1, from));
        let multicast = self.has("multicast::cluster").then(|| self.source(1));
        let copy = BulkCopy { to, from, size: self.source(0), object, reduction, multicast };
        Op::Async { name: self.name, operation: AsyncOp::Bulk(Box::new(copy)) }
    }

    /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`
    pub(super) fn tensor(self, interner: &Interner) -> Op {
        let refused = |name, reason: &str| Op::Unsupported { name, reason: reason.to_string() };
        if self.has("cta_group::2") {
            return refused(self.name, "barrier objects of pairs of blocks are not modelled");
        }
        let ranks = ["1d", "2d", "3d", "4d", "5d"];
        let rank = ranks.iter().position(|rank| self.has(rank)).map_or(0, |index| index + 1);
        let is_multicast = self.has("multicast::cluster");
        let further = usize::from(is_multicast) + usize::from(self.has("L2::cache_hint"));
        if self.operands.sources.len() != rank + further {
            return refused(self.name, "it has not as many coordinates as dimensions");
        }
        let coordinates = self.operands.sources[..rank].to_vec();
        let loads = !self.has("bulk_group");
        let shared = if self.has("shared::cluster") { StateSpace::SharedCluster } else { StateSpace::Shared };
        let (map, memory) = if loads { (1, 0) } else { (0, 1) };
        let operation = OPERATIONS.into_iter().find(|word| self.has(word));
        let copy = TensorCopy {
            map: self.place(map, StateSpace::Generic),
            coordinates,
            shared: self.place(memory, shared),
            object: loads.then(|| self.place(2, shared)),
            reduction: operation.map(|word| interner.intern(word)),
            multicast: is_multicast.then(|| self.source(rank)),
        };
        Op::Async { name: self.name, operation: AsyncOp::Tensor(Box::new(copy)) }
    }

    /// `tensormap.replace`, `tensormap.cp_fenceproxy`, `fence.proxy.tensormap::generic.acquire`
    pub(super) fn map(self) -> Op {
        let space = match () {
            () if self.has("global") => StateSpace::Global,
            () if self.has("shared::cta") => StateSpace::Shared,
            () => StateSpace::Generic,
        };
        let operation = match () {
            () if self.has("cp_fenceproxy") => {
                MapUse::Publish { to: self.place(0, StateSpace::Global), from: self.place(1, StateSpace::Shared) }
            }
            () if self.has("replace") => match self.map_field() {
                Some((field, value)) => MapUse::Replace { map: self.place(0, space), field, value },
                None => {
                    let reason = "a tensor map has at most five dimensions".to_string();
                    return Op::Unsupported { name: self.name, reason };
                }
            },
            () => MapUse::Acquire { map: self.place(0, StateSpace::Generic) },
        };
        Op::Async { name: self.name, operation: AsyncOp::Map(Box::new(operation)) }
    }

    /// The field that `tensormap.replace` names, and its value.
    fn map_field(&self) -> Option<(MapField, Operand)> {
        let whole = [
            ("global_address", MapField::Address),
            ("rank", MapField::Rank),
            ("elemtype", MapField::Type),
            ("interleave_layout", MapField::Interleave),
            ("swizzle_mode", MapField::Swizzle),
            ("swizzle_atomicity", MapField::Atomicity),
            ("fill_mode", MapField::Fill),
        ];
        if let Some((_, field)) = whole.into_iter().find(|(name, _)| self.has(name)) {
            return Some((field, self.source(0)));
        }
        let Operand::Integer(number) = self.source(0) else { return None };
        let number = u8::try_from(number).ok().filter(|number| *number < 5)?;
        let field = match () {
            () if self.has("box_dim") => MapField::Box(number),
            () if self.has("global_dim") => MapField::Size(number),
            () if self.has("global_stride") => MapField::Stride(number),
            () => MapField::Step(number),
        };
        (field != MapField::Stride(4)).then(|| (field, self.source(1)))
    }

    /// `wgmma`, without sparse matrices. A matrix A in registers has four.
    pub(super) fn product(self) -> Op {
        let operation = match () {
            () if self.has("fence") => AsyncOp::ProductFence,
            () if self.has("commit_group") => AsyncOp::ProductCommit,
            () if self.has("wait_group") => AsyncOp::ProductWait { pending: self.pending() },
            () => AsyncOp::Product(Box::new(self.matrix_product())),
        };
        Op::Async { name: self.name, operation }
    }

    fn matrix_product(&self) -> MatrixProduct {
        let sources = &self.operands.sources;
        // A descriptor, or the registers; a descriptor, a predicate, two factors, and what is transposed of the descriptors.
        let registers = if matches!(sources.len(), 6 | 8 | 9) { 4 } else { 1 };
        let columns = self.selected.modifiers.iter().find_map(|word| word.strip_prefix("m64n")?.split('k').next());
        let columns = columns.and_then(|columns| columns.parse().ok()).unwrap_or(8);
        let is_set = |index: usize| matches!(sources.get(index), Some(Operand::Integer(1)));
        let flags = registers + 4;
        MatrixProduct {
            a: sources[..registers].to_vec(),
            b: sources[registers].clone(),
            accumulates: sources[registers + 1].clone(),
            dst: self.operands.destinations.clone(),
            columns,
            transposed: if registers == 1 { [is_set(flags), is_set(flags + 1)] } else { [false, is_set(flags)] },
        }
    }

    /// `barrier.cluster.arrive`, which releases unless it is relaxed, and `barrier.cluster.wait`
    pub(super) fn cluster_barrier(self) -> Op {
        let (arrives, releases) = (self.has("arrive"), !self.has("relaxed"));
        Op::ClusterBarrier { name: self.name, arrives, releases }
    }

    /// `mbarrier`
    pub(super) fn object(self) -> Op {
        let first = || self.source(0);
        let optional = |index: usize| self.operands.sources.get(index).cloned();
        let waits = self.has("test_wait") || self.has("try_wait");
        let expects = self.has("expect_tx");
        let action = match () {
            () if self.has("init") => ObjectAction::Initialise { count: first() },
            () if self.has("inval") => ObjectAction::Invalidate,
            () if waits => {
                ObjectAction::Wait { phase: first(), parity: self.has("parity"), tries: self.has("try_wait") }
            }
            () if self.has("arrive") || self.has("arrive_drop") => ObjectAction::Arrive {
                count: if expects { None } else { optional(0) },
                bytes: if expects { optional(0) } else { None },
                drops: self.has("arrive_drop"),
                incomplete: self.has("noComplete"),
            },
            () if expects => ObjectAction::Expect { bytes: first() },
            () => ObjectAction::Complete { bytes: first() },
        };
        let scope = self.scope().unwrap_or(Scope::Cta);
        let ordering = match (&action, self.has("relaxed")) {
            (ObjectAction::Wait { .. }, false) => Ordering::Acquire(scope),
            (ObjectAction::Arrive { .. }, false) => Ordering::Release(scope),
            _ => Ordering::Relaxed(scope),
        };
        let place = self.place(0, self.space());
        let dst = self.operands.destinations.first().filter(|dst| **dst != Operand::Sink).cloned();
        Op::Object { name: self.name, usage: Box::new(ObjectUse { place, action, dst, ordering }) }
    }
}
