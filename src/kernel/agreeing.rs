//! Values that several threads of a block have alike: what butterflies of shuffles reduce, what votes decide, and what follows of the
//! thread's number without some of its bits.
//!
//! Input: the graph. Output: for stores (with `--allow-same-value`) and votes, a register and bits of the thread's number: two
//! threads of a block that execute the statement together and differ in these bits alone have the same value there. As
//! `assert {:agree value, number, bits} away`, of which stage 5 makes an assumption about both; whoever does not know it sees an
//! assertion that fails. Establishes: only such facts. Relies on: a
//! warp is 32 threads with consecutive linear numbers; all lanes of a mask come to an operation of their warp
//! ([`super::warp`] asserts it in front of each); threads do not race, which is asserted of each access before a value depends on it.
//! Reference: PTX ISA, `shfl.sync`, `vote.sync`, `redux.sync`; Triton reduces so, and all lanes store the result.
//!
//! Why butterflies agree. Say `a` has, in lanes that differ in some bits alone, one value, and all lanes execute
//! `b = shfl.bfly a, m` and `d = a + b` for a bit m. Then `d(i) = a(i) + a(i^m)` and `d(i^m) = a(i^m) + a(i)`, which is the same, since
//! machine addition is commutative (of 64-bit floats the payload of NaN is not told, so they are left out). For one of the bits, k,
//! `a(i^k) = a(i)` and `a(i^k^m) = a(i^m)`. So lanes agree on `d` that differ in these bits or in m. Other operations are functions of their
//! operands. Lanes that have exited give nothing: so shuffles count only in blocks that each thread executes exactly once, of whole warps.
//!
//! A load gives one value to threads that load one address at one place, between the same two barriers: who writes there in
//! between races with one of the two. That holds where nothing but barriers of the whole block orders accesses.

use super::aggregated::is_for_each_thread;
use super::lowering::Lowering;
use crate::cfg::graph::{Cfg, Statement};
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{Attribute, AttributeArg, Name, StmtKind};
use crate::ivl::bv;
use crate::ivl::claim::Claim;
use crate::ptx::ast::{
    AddressBase, BarrierKind, Instruction, IntOp, Op, Operand, RegisterId, ScalarType, SpecialRegister, StateSpace,
};
use crate::ptx::roles::{Slot, registers, registers_of, visit};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::NodeIndex;
use petgraph::visit::DfsPostOrder;
use std::collections::{BTreeMap, BTreeSet};

/// The attribute of what threads agree on: `{:agree value, number of the thread, bits of it}`.
pub(crate) const AGREE: &str = "agree";

/// All bits of a thread's number in its block, and those of its lane.
const ALL: u32 = 0x3ff;
const LANE: u32 = 31;

/// A mask of all lanes.
const FULL: u64 = 0xffff_ffff;

/// A place in the graph: block and statement.
type Position = (NodeIndex, usize);

/// What registers agree on, and where that matters.
#[derive(Default)]
pub(crate) struct Agreeing {
    /// In front of a statement: registers, and the bits in which their threads must not differ.
    before: BTreeMap<Position, Vec<(RegisterId, u32)>>,
    /// Behind it.
    after: BTreeMap<Position, Vec<(RegisterId, u32)>>,
}

/// The bits of a thread's number on which a value depends.
#[derive(Clone, Debug)]
enum Depends {
    /// Any bit of the value.
    Whole(u32),
    /// Each bit of a value of 32 bits.
    Each(Box<[u32; 32]>),
}

impl Depends {
    fn any(&self) -> u32 {
        match self {
            Depends::Whole(bits) => *bits,
            Depends::Each(each) => each.iter().fold(0, |all, bits| all | bits),
        }
    }

    fn bit(&self, place: usize) -> u32 {
        match self {
            Depends::Whole(bits) => *bits,
            Depends::Each(each) => each.get(place).copied().unwrap_or(0),
        }
    }

    fn each(of: impl FnMut(usize) -> u32) -> Depends {
        Depends::Each(Box::new(std::array::from_fn(of)))
    }
}

/// Which value a register holds in a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Id {
    /// One that the block made.
    Made(u32),
    /// What a register held before.
    Before(RegisterId),
}

/// What a register holds.
#[derive(Clone)]
struct Value {
    id: Id,
    depends: Depends,
}

impl Agreeing {
    pub(super) fn of(cfg: &Cfg, geometry: &Geometry, allows_same_value: bool) -> Agreeing {
        let sizes: Option<Vec<u32>> = geometry.block.into_iter().collect();
        let Some(threads) = sizes.map(|sizes| sizes.iter().product::<u32>()) else { return Agreeing::default() };
        let instructions = || cfg.graph.node_weights().flat_map(|block| &block.statements).filter_map(instruction);
        let is_call = |op: &Op| matches!(op, Op::Call { .. } | Op::CallIndirect { .. });
        if instructions().any(|instruction| is_call(&instruction.op)) {
            return Agreeing::default();
        }
        let mut walk = Walk {
            cfg,
            dominators: simple_fast(&cfg.graph, cfg.start),
            bits: threads.next_power_of_two() - 1,
            is_row: geometry.block[1..] == [Some(1); 2],
            has_whole_warps: threads.is_multiple_of(32),
            params_agree: !instructions().any(|it| matches!(it.op, Op::Store { space: StateSpace::Param, .. })),
            loads_agree: instructions().all(|instruction| is_ordered_by_barriers(&instruction.op)),
            writers: writers(cfg),
            values: BTreeMap::new(),
            shuffled: BTreeMap::new(),
            next: 0,
            found: Agreeing::default(),
        };
        walk.votes();
        if allows_same_value {
            let mut order = DfsPostOrder::new(&cfg.graph, cfg.start);
            let nodes: Vec<NodeIndex> = std::iter::from_fn(|| order.next(&cfg.graph)).collect();
            nodes.into_iter().rev().for_each(|node| walk.block(node));
        }
        walk.found
    }
}

fn instruction(statement: &Statement) -> Option<&Instruction> {
    if let Statement::Instruction(instruction) = statement { Some(instruction) } else { None }
}

/// Whether nothing but barriers of the whole block orders what it accesses.
fn is_ordered_by_barriers(op: &Op) -> bool {
    match op {
        Op::Load { .. } | Op::Store { .. } => op.scope().is_none(),
        Op::Barrier { kind, count, .. } => *kind == BarrierKind::Sync && count.is_none(),
        Op::Atomic { .. }
        | Op::WarpBarrier { .. }
        | Op::Fence(_)
        | Op::Async { .. }
        | Op::Object { .. }
        | Op::ClusterBarrier { .. }
        | Op::Unsupported { .. } => false,
        _ => true,
    }
}

/// The blocks that write a register.
fn writers(cfg: &Cfg) -> BTreeMap<RegisterId, BTreeSet<NodeIndex>> {
    let mut writers: BTreeMap<RegisterId, BTreeSet<NodeIndex>> = BTreeMap::new();
    for node in cfg.graph.node_indices() {
        for instruction in cfg.graph[node].statements.iter().filter_map(instruction) {
            for register in registers(instruction).1 {
                writers.entry(register).or_default().insert(node);
            }
        }
    }
    writers
}

struct Walk<'c> {
    cfg: &'c Cfg,
    dominators: Dominators<NodeIndex>,
    /// Those bits in which threads of a block differ.
    bits: u32,
    /// Blocks have one axis.
    is_row: bool,
    has_whole_warps: bool,
    /// Parameters are those of the kernel.
    params_agree: bool,
    /// Loads of one address agree.
    loads_agree: bool,
    writers: BTreeMap<RegisterId, BTreeSet<NodeIndex>>,
    values: BTreeMap<RegisterId, Value>,
    /// By what a butterfly gives: what it exchanges, and the mask.
    shuffled: BTreeMap<Id, (Id, u32)>,
    next: u32,
    found: Agreeing,
}

impl Walk<'_> {
    /// Votes of all lanes give each of them the same, in loops as well.
    fn votes(&mut self) {
        for node in self.cfg.graph.node_indices() {
            let instructions = self.cfg.graph[node].statements.iter().enumerate();
            let decided =
                instructions.filter_map(|(index, statement)| Some((index, decided(instruction(statement)?)?)));
            self.found.after.extend(decided.map(|(index, register)| ((node, index), vec![(register, ALL & !LANE)])));
        }
    }

    fn block(&mut self, node: NodeIndex) {
        let cfg = self.cfg;
        let exchanges = self.has_whole_warps && is_for_each_thread(cfg, node);
        for (index, statement) in cfg.graph[node].statements.iter().enumerate() {
            if let Statement::Undefine { registers, .. } = statement {
                registers.iter().for_each(|register| drop(self.values.remove(register)));
            }
            let Some(instruction) = instruction(statement) else { continue };
            if let Op::Store { src, .. } = &instruction.op {
                let agreed = src.iter().flat_map(registers_of).filter_map(|register| {
                    let depends = self.register(node, register).any();
                    (depends & self.bits != self.bits).then_some((register, depends))
                });
                self.found.before.insert((node, index), agreed.collect());
            }
            self.step(node, instruction, exchanges);
        }
    }

    /// On what a register depends in a block.
    fn register(&self, node: NodeIndex, register: RegisterId) -> Depends {
        let home = self.home(register);
        let is_written =
            |home: &NodeIndex| self.dominators.dominators(node).is_some_and(|mut all| all.any(|one| one == *home));
        match self.values.get(&register) {
            Some(value) if home.is_some_and(|home| is_written(&home)) => value.depends.clone(),
            _ => Depends::Whole(ALL),
        }
    }

    fn operand(&self, node: NodeIndex, operand: &Operand) -> Depends {
        match operand {
            Operand::Register(register) | Operand::NotPredicate(register) => self.register(node, *register),
            Operand::Integer(_) | Operand::Single(_) | Operand::Double(_) | Operand::Variable(..) => Depends::Whole(0),
            Operand::Special(SpecialRegister::Tid(Axis::X)) if self.is_row => {
                Depends::each(|bit| if bit < 10 { 1 << bit } else { 0 })
            }
            Operand::Special(SpecialRegister::Tid(axis)) if self.is_row && *axis != Axis::X => Depends::Whole(0),
            Operand::Special(SpecialRegister::Ntid(_) | SpecialRegister::Ctaid(_) | SpecialRegister::Nctaid(_)) => {
                Depends::Whole(0)
            }
            Operand::Vector(list) => Depends::Whole(self.all(node, list)),
            Operand::Special(_) | Operand::Function(_) | Operand::Sink => Depends::Whole(ALL),
        }
    }

    fn all(&self, node: NodeIndex, operands: &[Operand]) -> u32 {
        operands.iter().fold(0, |all, operand| all | self.operand(node, operand).any())
    }

    fn step(&mut self, node: NodeIndex, instruction: &Instruction, exchanges: bool) {
        let result = self.result(node, &instruction.op, exchanges);
        let guard = instruction.guard.map(|guard| self.register(node, guard.register).any());
        let copied = match &instruction.op {
            Op::Mov { dst: Operand::Register(_), src: Operand::Register(from), .. } if guard.is_none() => {
                self.id(node, *from)
            }
            _ => None,
        };
        let exchanged = match &instruction.op {
            Op::Arbitrary { name, sources, .. } if guard.is_none() && exchanges => self.butterfly(node, name, sources),
            _ => None,
        };
        for (place, register) in registers(instruction).1.into_iter().enumerate() {
            let depends = match (guard, place) {
                // Whether a lane is in range is told second.
                (None, 1..) if exchanged.is_some() => Depends::Whole(ALL),
                (None, _) => result.clone(),
                (Some(guard), _) => Depends::Whole(guard | result.any() | self.register(node, register).any()),
            };
            let id = copied.unwrap_or(Id::Made(self.next));
            self.next += 1;
            if let Some(exchanged) = exchanged.filter(|_| place == 0) {
                self.shuffled.insert(id, exchanged);
            }
            self.values.insert(register, Value { id, depends });
        }
    }

    fn id(&self, node: NodeIndex, register: RegisterId) -> Option<Id> {
        if !self.writers.get(&register).is_some_and(|nodes| nodes.contains(&node)) {
            return Some(Id::Before(register));
        }
        (self.home(register) == Some(node)).then(|| self.values.get(&register).map(|value| value.id))?
    }

    /// The block that alone writes a register, if it is in no loop.
    fn home(&self, register: RegisterId) -> Option<NodeIndex> {
        let nodes = self.writers.get(&register)?;
        let is_once = |node: &NodeIndex| self.cfg.loops.innermost.get(node.index()) == Some(&None);
        nodes.first().copied().filter(|node| nodes.len() == 1 && is_once(node))
    }

    /// What a butterfly of all lanes exchanges, and its mask of one bit.
    fn butterfly(&self, node: NodeIndex, name: &str, sources: &[Operand]) -> Option<(Id, u32)> {
        let [Operand::Register(value), Operand::Integer(mask), clamp, members] = sources else { return None };
        let is_whole = name == "shfl.sync.bfly.b32" && is_for_all(clamp, members);
        let is_bit = mask.is_power_of_two() && *mask < 32;
        (is_whole && is_bit).then(|| self.id(node, *value).map(|id| (id, *mask as u32)))?
    }

    /// On what the result of an operation depends.
    fn result(&self, node: NodeIndex, op: &Op, exchanges: bool) -> Depends {
        let whole = |list: &[Operand]| Depends::Whole(self.all(node, list));
        match op {
            Op::Mov { dst: Operand::Register(_), src, .. } => self.operand(node, src),
            Op::Int { op, ty, saturate: false, carry_out: false, sources, .. } => {
                self.joined(node, is_commutative(*op), sources).unwrap_or_else(|| self.integer(node, *op, *ty, sources))
            }
            Op::Float { name, ty, sources, .. } => {
                let words: Vec<&str> = name.split('.').collect();
                let is_commutative = matches!(words[0], "add" | "mul" | "min" | "max") && ty.bits() <= 32;
                self.joined(node, is_commutative, sources).unwrap_or_else(|| whole(sources))
            }
            Op::Arbitrary { name, sources, .. } if exchanges => Depends::Whole(self.exchanged(node, name, sources)),
            Op::Load { space: StateSpace::Param, .. } if self.params_agree => Depends::Whole(0),
            Op::Load { space: StateSpace::Global | StateSpace::Shared | StateSpace::Const, address, .. }
                if self.loads_agree =>
            {
                match address.base {
                    AddressBase::Register(register) => Depends::Whole(self.register(node, register).any()),
                    _ => Depends::Whole(0),
                }
            }
            Op::Mov { .. }
            | Op::Int { .. }
            | Op::Cvta { .. }
            | Op::Setp { .. }
            | Op::Set { .. }
            | Op::Selp { .. }
            | Op::Cvt { .. } => {
                let mut all = 0;
                visit(&mut op.clone(), &mut |slot| {
                    if let Slot::Source(source) = slot {
                        all |= self.operand(node, source).any();
                    }
                });
                Depends::Whole(all)
            }
            _ => Depends::Whole(ALL),
        }
    }

    /// On what depends what an operation joins of a value and of what a butterfly made of it.
    fn joined(&self, node: NodeIndex, is_commutative: bool, sources: &[Operand]) -> Option<Depends> {
        let [Operand::Register(a), Operand::Register(b)] = sources else { return None };
        let (ids, depends) = ([self.id(node, *a)?, self.id(node, *b)?], self.register(node, *a).any());
        let mask = |from: usize, to: usize| {
            self.shuffled.get(&ids[to]).filter(|(value, _)| *value == ids[from]).map(|(_, mask)| *mask)
        };
        let mask = mask(0, 1).or_else(|| mask(1, 0)).filter(|_| is_commutative)?;
        // On the other lane's value depends what depends on the own one.
        Some(Depends::Whole((depends | self.register(node, *b).any()) & !mask))
    }

    fn integer(&self, node: NodeIndex, op: IntOp, ty: ScalarType, sources: &[Operand]) -> Depends {
        let whole = Depends::Whole(self.all(node, sources));
        if ty.bits() != 32 {
            return whole;
        }
        let of = |place: usize| self.operand(node, &sources[place]);
        let constant = |place: usize| match sources.get(place) {
            Some(Operand::Integer(value)) => Some(*value as u32),
            _ => None,
        };
        match (op, constant(1), constant(2)) {
            (IntOp::And, Some(mask), _) => {
                let value = of(0);
                Depends::each(|bit| if mask >> bit & 1 == 1 { value.bit(bit) } else { 0 })
            }
            (IntOp::Shl, Some(by), _) => {
                let value = of(0);
                Depends::each(|bit| bit.checked_sub(by as usize).map_or(0, |from| value.bit(from)))
            }
            (IntOp::Shr, Some(by), _) if !ty.is_signed() => {
                let value = of(0);
                Depends::each(|bit| if bit + (by as usize) < 32 { value.bit(bit + by as usize) } else { 0 })
            }
            (IntOp::Bfe, Some(from), Some(length)) if !ty.is_signed() && from < 32 && length <= 32 => {
                let value = of(0);
                let is_in = |bit: usize| bit < length as usize && bit + (from as usize) < 32;
                Depends::each(|bit| if is_in(bit) { value.bit(bit + from as usize) } else { 0 })
            }
            (IntOp::And | IntOp::Or | IntOp::Xor, ..) => {
                let (a, b) = (of(0), of(1));
                Depends::each(|bit| a.bit(bit) | b.bit(bit))
            }
            _ => whole,
        }
    }

    /// On what depends what a lane gets of its warp.
    fn exchanged(&self, node: NodeIndex, name: &str, sources: &[Operand]) -> u32 {
        match (name, sources) {
            ("shfl.sync.bfly.b32", [value, Operand::Integer(mask), clamp, members])
                if *mask < 32 && is_for_all(clamp, members) =>
            {
                self.operand(node, value).any()
            }
            ("shfl.sync.idx.b32", [value, lane, clamp, members]) if is_for_all(clamp, members) => {
                self.operand(node, value).any() & !LANE | self.operand(node, lane).any()
            }
            _ => ALL,
        }
    }
}

/// Whether a shuffle is one of the whole warp.
fn is_for_all(clamp: &Operand, members: &Operand) -> bool {
    matches!((clamp, members), (Operand::Integer(31), Operand::Integer(members)) if members & FULL == FULL)
}

fn is_commutative(op: IntOp) -> bool {
    matches!(
        op,
        IntOp::Add
            | IntOp::MulLo
            | IntOp::MulHi
            | IntOp::MulWide
            | IntOp::And
            | IntOp::Or
            | IntOp::Xor
            | IntOp::Min
            | IntOp::Max
    )
}

/// The register that all lanes of a warp get alike.
fn decided(instruction: &Instruction) -> Option<RegisterId> {
    let Op::Arbitrary { name, dst, sources } = &instruction.op else { return None };
    let is_vote = ["vote.sync.any.", "vote.sync.all.", "vote.sync.uni.", "vote.sync.ballot.", "redux.sync."];
    let is_whole = matches!(sources.last(), Some(Operand::Integer(members)) if members & FULL == FULL);
    match &dst[..] {
        [Operand::Register(register)] if is_whole && is_vote.iter().any(|start| name.starts_with(start)) => {
            Some(*register)
        }
        _ => None,
    }
}

impl Lowering<'_> {
    /// What threads agree on in front of a statement, or behind it.
    pub(super) fn agree(&mut self, at: Position, is_behind: bool) {
        let facts = if is_behind { &self.agreeing.after } else { &self.agreeing.before };
        for (register, others) in facts.get(&at).cloned().unwrap_or_default() {
            let operand = Operand::Register(register);
            let ty = self.cfg.registers[register.0 as usize].ty;
            let value =
                if ty == ScalarType::Pred { self.read_predicate(&operand) } else { self.read(&operand, ty.bits()) };
            let args = [value, self.launch.linear(), bv::literal(u128::from(others), 32)];
            let agree = Attribute { name: Name::from(AGREE), args: args.map(AttributeArg::Expr).into() };
            let away = if is_behind { self.guard_value.clone().map(bv::not) } else { None };
            self.emit_with(StmtKind::Assert(Claim::Formula, away.unwrap_or(bv::boolean(false))), vec![agree]);
            self.declarations.assumes_lanes = true;
        }
    }
}
