//! From a table row and checked operands to a typed operation.
//!
//! Input: the [`Selected`] form and its [`Operands`].
//! Output: an [`Op`].
//! Establishes: memory orderings and scopes have their defaults (`atom` and `red` are relaxed at
//! `.gpu`).
//! Relies on: `table` for modifiers that go together; `operands` for counts and types.
//! Reference: PTX ISA, the instruction of that name; memory consistency model, section "Operations".

use super::ast::*;
use super::context::Interner;
use super::fragment::fragment;
use super::operands::Operands;
use super::table::{Meaning, Selected};
use crate::order::{Fence, Ordering, Scope};
use std::sync::Arc;

/// What a row's operation is made from.
pub(super) struct Parts<'p> {
    pub(super) selected: &'p Selected,
    /// Full opcode, without blanks.
    pub(super) name: Arc<str>,
    pub(super) operands: &'p mut Operands,
}

/// Makes the operation. `name` is the full opcode without blanks. Calls are made elsewhere.
pub(crate) fn build(selected: &Selected, name: Arc<str>, operands: &mut Operands, interner: &Interner) -> Op {
    let parts = Parts { selected, name, operands };
    match selected.row.meaning {
        Meaning::Int(op) => parts.int(op),
        Meaning::Lop3 => parts.lop3(),
        Meaning::Float => parts.float(),
        Meaning::Setp | Meaning::Set => parts.comparison(),
        Meaning::Selp => parts.selp(),
        Meaning::Mov => parts.mov(),
        Meaning::Cvt => parts.cvt(),
        Meaning::Cvta => parts.cvta(),
        Meaning::Load => parts.load(),
        Meaning::Store => parts.store(),
        Meaning::Atomic => parts.atomic(interner),
        Meaning::Matrix => parts.matrix(),
        Meaning::Branch => parts.branch(),
        Meaning::BranchIndexed => parts.branch_indexed(),
        Meaning::Return => Op::Return,
        Meaning::Exit => Op::Exit,
        Meaning::Trap => Op::Trap,
        Meaning::Call | Meaning::VectorMove => panic!("ptx: {} reached the table's builder", parts.name),
        Meaning::BarrierSync | Meaning::BarrierArrive | Meaning::BarrierReduce => parts.barrier(interner),
        Meaning::WarpBarrier => Op::WarpBarrier { mask: parts.source(0) },
        Meaning::Fence => match Fence::named(&parts.name) {
            Some(fence) => Op::Fence(fence),
            None => Op::Unsupported { name: parts.name, reason: "what it orders is not known".to_string() },
        },
        Meaning::Arbitrary => {
            let (dst, sources) = (parts.operands.take_destinations(), parts.operands.take_sources());
            Op::Arbitrary { name: parts.name, dst, sources }
        }
        Meaning::AsyncCopy => parts.async_copy(),
        Meaning::AsyncCommit => Op::Async { name: parts.name, operation: AsyncOp::Commit },
        Meaning::AsyncWait => parts.async_wait(),
        Meaning::AsyncArrive => parts.async_arrive(),
        Meaning::Remote => parts.remote(interner),
        Meaning::Bulk => parts.bulk(interner),
        Meaning::Tensor => parts.tensor(interner),
        Meaning::Map => parts.map(),
        Meaning::BulkCommit => Op::Async { name: parts.name, operation: AsyncOp::BulkCommit },
        Meaning::BulkWait => {
            let (pending, reads) = (parts.pending(), parts.has("read"));
            Op::Async { name: parts.name, operation: AsyncOp::BulkWait { pending, reads } }
        }
        Meaning::Object => parts.object(),
        Meaning::ClusterBarrier => parts.cluster_barrier(),
        Meaning::Product => parts.product(),
        Meaning::TensorMemory => parts.tensor_memory(),
        Meaning::Registers => match parts.operands.sources.first() {
            Some(Operand::Integer(count)) => Op::Registers { count: *count, name: parts.name },
            _ => Op::Unsupported { name: parts.name, reason: "its number is no constant".to_string() },
        },
        Meaning::Nothing => Op::Nothing { name: parts.name },
        Meaning::Unsupported(reason) => Op::Unsupported { name: parts.name, reason: reason.to_string() },
    }
}

impl Parts<'_> {
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.selected.has(modifier)
    }

    pub(super) fn ty(&self, index: usize) -> ScalarType {
        self.selected.types[index]
    }

    pub(super) fn source(&self, index: usize) -> Operand {
        self.operands.sources[index].clone()
    }

    fn destination(&self) -> Operand {
        self.operands.destinations[0].clone()
    }

    fn int(self, op: IntOp) -> Op {
        let ty = match (op, self.ty(0)) {
            // Selecting moves bits, whatever their type.
            (IntOp::Slct, ty) if ty.is_float() => ScalarType::B(ty.bits()),
            (_, ty) => ty,
        };
        let (saturate, carry_out) = (self.has("sat"), self.has("cc"));
        Op::Int { op, ty, saturate, carry_out, dst: self.destination(), sources: self.operands.take_sources() }
    }

    fn lop3(self) -> Op {
        let table = self.operands.sources.pop();
        let Some(Operand::Integer(table @ 0..=255)) = table else { panic!("ptx: lop3 without its immediate") };
        self.int(IntOp::Lop3(table as u8))
    }

    fn float(self) -> Op {
        let ty = if self.name.starts_with("testp") { ScalarType::Pred } else { self.ty(0) };
        Op::Float { ty, dst: self.destination(), name: self.name, sources: self.operands.take_sources() }
    }

    /// `setp` and `set`
    fn comparison(self) -> Op {
        let is_set = self.selected.row.meaning == Meaning::Set;
        let ty = self.ty(usize::from(is_set));
        let comparison = self.comparison_operator();
        let combine = self.combination();
        let (name, dst) = (self.name.clone(), self.destination());
        let (a, b) = (self.source(0), self.source(1));
        if is_set {
            return Op::Set { comparison, to: self.ty(0), ty, name, dst, a, b, combine };
        }
        let complement = self.operands.destinations.get(1).map(|complement| Box::new(complement.clone()));
        Op::Setp { comparison, ty, name, dst, complement, a, b, combine }
    }

    fn comparison_operator(&self) -> Comparison {
        use Comparison::*;
        match self.selected.modifiers[0] {
            "eq" => Eq,
            "ne" => Ne,
            // `.lo` and its like are the unsigned spellings.
            "lt" | "lo" => Lt,
            "le" | "ls" => Le,
            "gt" | "hi" => Gt,
            "ge" | "hs" => Ge,
            "equ" => Equ,
            "neu" => Neu,
            "ltu" => Ltu,
            "leu" => Leu,
            "gtu" => Gtu,
            "geu" => Geu,
            "num" => Num,
            "nan" => Nan,
            other => panic!("ptx: the instruction table has a comparison {other} without meaning"),
        }
    }

    /// `.and c` and the like: the modifier and the operand come together.
    fn combination(&self) -> Option<Box<(BoolOp, Operand)>> {
        let operator = match (self.has("and"), self.has("or"), self.has("xor")) {
            (true, _, _) => BoolOp::And,
            (_, true, _) => BoolOp::Or,
            (_, _, true) => BoolOp::Xor,
            _ => return None,
        };
        Some(Box::new((operator, self.source(2))))
    }

    fn selp(self) -> Op {
        let dst = self.destination();
        Op::Selp { ty: self.ty(0), dst, a: self.source(0), b: self.source(1), predicate: self.source(2) }
    }

    fn mov(self) -> Op {
        let (ty, dst, src) = (self.ty(0), self.destination(), self.source(0));
        match src {
            Operand::Special(register) if super::words::special_bits(register) > ty.bits() => {
                let from = ScalarType::U(super::words::special_bits(register));
                let to = ScalarType::U(ty.bits());
                Op::Cvt { to, from, saturate: false, name: self.name, dst, sources: vec![src] }
            }
            _ => Op::Mov { ty, dst, src },
        }
    }

    fn cvt(self) -> Op {
        let (to, from) = (self.ty(0), self.ty(1));
        let dst = self.destination();
        let saturate = self.has("sat");
        Op::Cvt { to, from, saturate, name: self.name, dst, sources: self.operands.take_sources() }
    }

    fn cvta(self) -> Op {
        let (dst, src) = (self.destination(), self.source(0));
        Op::Cvta { from_generic: self.has("to"), space: self.space(), bits: self.ty(0).bits(), dst, src }
    }

    pub(super) fn space(&self) -> StateSpace {
        let find = |modifier: &&str| {
            Some(match *modifier {
                "global" => StateSpace::Global,
                "shared" | "shared::cta" => StateSpace::Shared,
                "shared::cluster" => StateSpace::SharedCluster,
                "local" => StateSpace::Local,
                "param" | "param::entry" | "param::func" => StateSpace::Param,
                "const" => StateSpace::Const,
                _ => return None,
            })
        };
        self.selected.modifiers.iter().find_map(find).unwrap_or(StateSpace::Generic)
    }

    pub(super) fn scope(&self) -> Option<Scope> {
        let scopes = [("cta", Scope::Cta), ("cluster", Scope::Cluster), ("gpu", Scope::Gpu), ("sys", Scope::Sys)];
        scopes.iter().find(|(name, _)| self.has(name)).map(|&(_, scope)| scope)
    }

    /// Weak unless written otherwise; a strong access names its scope.
    fn access_ordering(&self) -> Ordering {
        let strong = ["relaxed", "acquire", "release"].into_iter().find(|word| self.has(word));
        match (strong, self.scope()) {
            (Some("acquire"), Some(scope)) => Ordering::Acquire(scope),
            (Some("release"), Some(scope)) => Ordering::Release(scope),
            (Some(_), Some(scope)) => Ordering::Relaxed(scope),
            (None, None) if self.has("volatile") => Ordering::Volatile,
            (None, None) => Ordering::Weak,
            _ => panic!("ptx: the instruction table has an order without a scope or a scope without an order"),
        }
    }

    fn address(&mut self) -> Address {
        match self.operands.addresses.drain(..).next() {
            Some(address) => address,
            None => panic!("ptx: a memory instruction without an address"),
        }
    }

    fn load(mut self) -> Op {
        let uniform = self.name.starts_with("ldu");
        let (space, ordering) = (self.space(), self.access_ordering());
        let non_coherent = self.has("nc");
        let address = self.address();
        let non_coherent = non_coherent || uniform;
        Op::Load { space, ty: self.ty(0), dst: self.operands.take_destinations(), address, ordering, non_coherent }
    }

    fn store(mut self) -> Op {
        let (space, ordering) = (self.space(), self.access_ordering());
        let address = self.address();
        self.operands.sources.truncate(self.selected.elements() as usize);
        let src = self.operands.take_sources();
        Op::Store { space, ty: self.selected.types[0], src, address, ordering }
    }

    fn atomic(mut self, interner: &Interner) -> Op {
        const OPERATIONS: [&str; 10] = ["cas", "exch", "and", "or", "xor", "inc", "dec", "min", "max", "add"];
        let Some(operation) = OPERATIONS.into_iter().find(|word| self.has(word)) else {
            panic!("ptx: the instruction table has an atomic without operation")
        };
        let scope = self.scope().unwrap_or(Scope::Gpu);
        let ordering = match ["acquire", "release", "acq_rel"].into_iter().find(|word| self.has(word)) {
            Some("acquire") => Ordering::Acquire(scope),
            Some("release") => Ordering::Release(scope),
            Some(_) => Ordering::AcquireRelease(scope),
            None => Ordering::Relaxed(scope),
        };
        let elements = self.selected.elements();
        let wanted = if operation == "cas" { 2 } else { elements as usize };
        let (space, ty, address) = (self.space(), self.ty(0), self.address());
        self.operands.sources.truncate(wanted);
        let (dst, sources) = (self.operands.take_destinations().into(), self.operands.take_sources());
        let operation = interner.intern(operation);
        Op::Atomic { space, operation, ty, elements, dst, address, sources, ordering }
    }

    fn matrix(mut self) -> Op {
        let (space, address, rows) = (self.space(), self.address(), super::matrix::rows(self.selected));
        // A store has its fragment before the stride.
        let values = if self.has("store") { fragment(self.selected, 'D').0 as usize } else { 0 };
        let stride = if rows.stride_bits > 0 { self.operands.sources.drain(values..).next() } else { None };
        let (dst, src) = (self.operands.take_destinations().into(), self.operands.take_sources().into());
        Op::Matrix { name: self.name, space, dst, src, address, rows, stride: stride.map(Box::new) }
    }

    /// `cp.async`: what is left of the copy's size is filled with zeros.
    fn async_copy(self) -> Op {
        let mut addresses = self.operands.addresses.drain(..);
        let (Some(to), Some(from)) = (addresses.next(), addresses.next()) else {
            panic!("ptx: a copy without its two addresses")
        };
        drop(addresses);
        let bytes = match self.operands.sources.first() {
            Some(Operand::Integer(4)) => 4,
            Some(Operand::Integer(8)) => 8,
            Some(Operand::Integer(16)) => 16,
            _ => return Op::Unsupported { name: self.name, reason: "a copy has 4, 8 or 16 bytes".to_string() },
        };
        let policies = usize::from(self.has("L2::cache_hint"));
        let taken = self.operands.sources.get(1..self.operands.sources.len() - policies).and_then(<[Operand]>::first);
        let taken = taken.cloned();
        Op::Async { name: self.name, operation: AsyncOp::Copy(Box::new(AsyncCopy { to, from, bytes, taken })) }
    }

    /// `cp.async.wait_group` and `cp.async.wait_all`, which commits first.
    fn async_wait(self) -> Op {
        let (commits, pending) = (self.has("wait_all"), self.pending());
        Op::Async { name: self.name, operation: AsyncOp::Wait { pending, commits } }
    }

    /// How many groups need not be complete.
    pub(super) fn pending(&self) -> u64 {
        match self.operands.sources.first() {
            Some(Operand::Integer(pending)) => *pending,
            _ => 0,
        }
    }

    fn branch(self) -> Op {
        match self.operands.label {
            Some(target) => Op::Branch { target },
            None => panic!("ptx: a branch without its label"),
        }
    }

    fn branch_indexed(self) -> Op {
        let index = self.source(0);
        match self.operands.table.take() {
            Some(targets) => Op::BranchIndexed { index, targets },
            None => panic!("ptx: an indexed branch without its targets"),
        }
    }

    fn barrier(self, interner: &Interner) -> Op {
        let aligned = self.has("aligned") || self.name.starts_with("bar.");
        let kind = match self.selected.row.meaning {
            Meaning::BarrierSync => BarrierKind::Sync,
            Meaning::BarrierArrive => BarrierKind::Arrive,
            _ => {
                let operation = ["popc", "and", "or"].into_iter().find(|word| self.has(word)).unwrap_or_default();
                let dst = self.destination();
                let Some(predicate) = self.operands.sources.pop() else {
                    panic!("ptx: a barrier reduction without predicate")
                };
                BarrierKind::Reduce { operation: interner.intern(operation), dst, predicate }
            }
        };
        Op::Barrier { kind, aligned, id: self.source(0), count: self.operands.sources.get(1).cloned() }
    }
}
