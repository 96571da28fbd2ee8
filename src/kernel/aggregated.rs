//! Additions that one lane makes for its warp: a leader adds how many lanes of a mask there are, and each of these lanes takes the
//! number of its place among them.
//!
//! Input: the graph ([`Aggregated::of`]). Output: for each addition of that shape, instead of the sum that a lane makes of the
//! leader's result and its rank, an atomic with `{:share}`, which adds 1 to the leader's counter and returns the sum; the lanes of
//! the mask execute it, and for others the sum is arbitrary. The leader's own addition is marked as one of 0. Establishes: the
//! atomics with `{:share}` return what the lanes have, and are all that the leader adds. They are no accesses: nothing is logged
//! or checked for them. Relies on: a warp is 32 threads with consecutive linear numbers (an assumption of the report).
//! Reference: PTX ISA, `activemask`, `vote.sync`, `shfl.sync`, `atom`.
//!
//! The shape is a block P with two successors, the leader's block A and the block S where both meet:
//!
//! ```text
//! P: m = activemask, or a ballot of all lanes; branch on lane == leader
//! A: base = atom.add [counter], popc(m)
//! S: got = shfl.sync.idx base, leader, 31, m or all lanes
//!    sum = got + popc(m & lanes below)      here, or in a block that only S leads to
//! ```
//!
//! Why this is sound. All lanes whose m was made by one execution of P's mask have the same m, and each of them is in it,
//! but those who voted no. The leader is the first lane of m, which has executed P; or, if all lanes vote and shuffle, lane 0, where
//! each thread executes P once, whatever it does: else lane 0 might have left the kernel. Only A and P lead to S, and P to
//! them alone, so each lane that executed P comes to S next, and the leader comes by way of A, once. `shfl.sync` waits for all
//! lanes of its mask that have not left the kernel, so what a lane of m gets is the leader's `base` of the same execution of P.
//! Votes of one mask may meet at several instructions, where lanes have parted: so if one is of the shape, all ballots
//! are, their leaders are chosen alike, and they have one counter; it does not matter then at which of them a lane is.
//! Registers of the shape have one definition, which dominates its uses, so they belong to that execution, too. So the lanes of m have `base`, `base + 1`, ...,
//! `base + popc(m) - 1`, each one of them one: what they would get from popc(m) additions of 1, one after the other
//! with nothing in between, which is what the addition of popc(m) does to the counter. No barrier of the block is on the way, so
//! these are in the same interval. A lane that does not come to its sum (in a block behind S) has no ticket, which it would not use.
//! A thread executes its share as often as P at most: P, A, S and the sum are in one loop, or in none.

use super::lowering::{Lowering, flag};
use super::tickets::{adds, signed};
use crate::cfg::graph::{Cfg, EdgeCondition, Statement};
use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{Access, Attribute, AttributeArg, Block, ExprKind, ExprRef, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::visit::assigned;
use crate::ptx::ast::{Comparison, Instruction, IntOp, Op, Operand, RegisterId, ScalarType, SpecialRegister};
use crate::ptx::roles::registers;
use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet};

/// The attribute of an atomic that is a lane's share of its leader's addition.
pub(crate) const SHARE: &str = "share";
/// The mark of a leader's addition, with its number.
const LEADS: &str = "leads";

/// How lanes get their leader's result.
const SHUFFLE: &str = "shfl.sync.idx.b32";

/// A mask of all lanes.
const ALL: u64 = 0xffff_ffff;

/// A place in the graph: block and statement.
type Position = (NodeIndex, usize);

/// The additions that leaders make for their warps.
#[derive(Default)]
pub(crate) struct Aggregated {
    /// Leaders' additions, with their numbers.
    leaders: BTreeMap<Position, u32>,
    /// The sums that lanes make.
    sums: BTreeMap<Position, Sum>,
}

/// What a lane makes of its leader's result.
#[derive(Clone)]
struct Sum {
    /// The number of the leader.
    number: u32,
    register: RegisterId,
    mask: RegisterId,
    /// Whether the mask is a ballot.
    votes: bool,
}

/// A sum, with where the parts of its shape are.
struct Shape {
    atomic: Position,
    made: Position,
    /// Whether lane 0 leads, and not the first of the mask.
    by_lane_0: bool,
    sum: Sum,
}

impl Aggregated {
    /// Finds them; `geometry` tells which lane a thread is.
    pub(super) fn of(cfg: &Cfg, geometry: &Geometry) -> Aggregated {
        let is_shuffle =
            |instruction: &Instruction| matches!(&instruction.op, Op::Arbitrary { name, .. } if &**name == SHUFFLE);
        if !instructions(cfg).any(|(_, instruction)| is_shuffle(instruction)) {
            return Aggregated::default();
        }
        let mut definitions: BTreeMap<RegisterId, Vec<Position>> = BTreeMap::new();
        for (at, instruction) in instructions(cfg) {
            for register in registers(instruction).1 {
                definitions.entry(register).or_default().push(at);
            }
        }
        let dominators = simple_fast(&cfg.graph, cfg.start);
        let has_rows = geometry.block[1..] != [Some(1); 2];
        let whole = geometry.block[0].is_some_and(|width| width % 32 == 0);
        let finder = Finder { cfg, definitions, dominators, knows_lanes: !has_rows || whole };
        let mut shapes: Vec<(Position, Shape)> =
            instructions(cfg).filter_map(|(at, instruction)| Some((at, finder.shape(at, instruction)?))).collect();
        let is_ballot = |instruction: &Instruction| matches!(&instruction.op, Op::Arbitrary { name, .. } if name.starts_with("vote") && name.contains("ballot"));
        let ballots = instructions(cfg).filter(|(_, instruction)| is_ballot(instruction)).map(|(at, _)| at);
        let is_known = |at: &Position| shapes.iter().any(|(_, shape)| shape.made == *at);
        let leads = |by_lane_0: bool| shapes.iter().any(|(_, shape)| shape.sum.votes && shape.by_lane_0 == by_lane_0);
        if !ballots.into_iter().all(|at| is_known(&at)) || leads(true) && leads(false) {
            shapes.retain(|(_, shape)| !shape.sum.votes);
        }
        let mut this = Aggregated::default();
        for (at, shape) in shapes {
            let number = this.leaders.len() as u32;
            // Two sums of one addition would share it twice.
            if this.leaders.insert(shape.atomic, number).is_some() {
                return Aggregated::default();
            }
            this.sums.insert(at, Sum { number, ..shape.sum });
        }
        this
    }
}

/// Whether each thread that comes to its end has executed a block, once: it is on all ways, and in no loop.
pub(super) fn is_for_each_thread(cfg: &Cfg, block: NodeIndex) -> bool {
    if cfg.loops.innermost.get(block.index()) != Some(&None) {
        return false;
    }
    // Nothing that the start leads to without it is an end.
    let (mut seen, mut pending) = (BTreeSet::from([block]), vec![cfg.start]);
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        if cfg.graph.neighbors(node).next().is_none() {
            return false;
        }
        pending.extend(cfg.graph.neighbors(node));
    }
    true
}

fn instructions(cfg: &Cfg) -> impl Iterator<Item = (Position, &Instruction)> {
    cfg.graph.node_indices().flat_map(|node| {
        cfg.graph[node].statements.iter().enumerate().filter_map(move |(index, statement)| match statement {
            Statement::Instruction(instruction) => Some(((node, index), instruction)),
            _ => None,
        })
    })
}

struct Finder<'c> {
    cfg: &'c Cfg,
    definitions: BTreeMap<RegisterId, Vec<Position>>,
    dominators: Dominators<NodeIndex>,
    /// Whether the last five bits of `%tid.x` are the lane.
    knows_lanes: bool,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Constant(u64),
    Special(SpecialRegister),
    Instruction(Position),
}

impl<'c> Finder<'c> {
    /// The shape whose sum an instruction makes.
    fn shape(&self, at: Position, instruction: &'c Instruction) -> Option<Shape> {
        let Op::Int { dst: Operand::Register(sum), .. } = &instruction.op else { return None };
        let [a, b] = self.sources(instruction, IntOp::Add)? else { return None };
        let parts = [(a, b), (b, a)].into_iter();
        let (shuffle, (mask, made)) =
            parts.filter_map(|(got, rank)| Some((self.shuffle(got, at)?, self.rank(rank, at)?))).next()?;
        let Op::Arbitrary { sources, .. } = &self.instruction(shuffle)?.op else { return None };
        let [Operand::Register(base), leader, _, members] = &sources[..] else { return None };
        let meeting = shuffle.0;
        let (atomic, lead) = self.leader(*base, meeting, made)?;
        let decision = (made.0, usize::MAX);
        let is_of_all = self.root(members, shuffle) == Some(Root::Constant(ALL));
        let is_of_mask = self.mask(members, shuffle).is_some_and(|(_, other)| other == made);
        let is_first = self.is_first(leader, shuffle, made) && self.is_first(lead, decision, made);
        let lane_0 = Some(Root::Constant(0));
        let by_lane_0 = self.root(leader, shuffle) == lane_0 && self.root(lead, decision) == lane_0;
        let votes = matches!(&self.instruction(made)?.op, Op::Arbitrary { name, .. } if name.starts_with("vote"));
        let is_led = is_first && (is_of_all || is_of_mask)
            || by_lane_0 && votes && is_of_all && is_for_each_thread(self.cfg, made.0);
        let innermost = |node: NodeIndex| self.cfg.loops.innermost.get(node.index());
        let is_near = at.0 == meeting || self.only_behind(at.0, meeting) && innermost(at.0) == innermost(made.0);
        let has_barrier = match at.0 == meeting {
            true => self.has_barrier(meeting, 0..at.1),
            false => self.has_barrier(meeting, 0..usize::MAX) || self.has_barrier(at.0, 0..at.1),
        };
        let is_one = self.definitions.get(sum).is_some_and(|all| all.len() == 1);
        let fits = is_led && is_near && innermost(meeting) == innermost(made.0) && !has_barrier && is_one;
        let sum = Sum { number: 0, register: *sum, mask, votes };
        fits.then_some(Shape { atomic, made, by_lane_0, sum })
    }

    /// The sources of an operation on 32 bits that is executed always.
    fn sources(&self, instruction: &'c Instruction, wanted: IntOp) -> Option<&'c [Operand]> {
        match &instruction.op {
            Op::Int { op, ty, saturate: false, sources, .. }
                if *op == wanted && ty.bits() == 32 && instruction.guard.is_none() =>
            {
                Some(sources)
            }
            _ => None,
        }
    }

    fn instruction(&self, (node, index): Position) -> Option<&'c Instruction> {
        match self.cfg.graph[node].statements.get(index)? {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        }
    }

    /// Where the value that is read at a place comes from; `None` where it has several definitions, or none on some way.
    fn root(&self, operand: &Operand, at: Position) -> Option<Root> {
        let register = match operand {
            Operand::Integer(value) => return Some(Root::Constant(value & ALL)),
            Operand::Special(special) => return Some(Root::Special(*special)),
            Operand::Register(register) => register,
            _ => return None,
        };
        let [definition] = self.definitions.get(register)?[..] else { return None };
        let dominates = match definition.0 == at.0 {
            true => definition.1 < at.1,
            false => self.dominators.dominators(at.0)?.any(|node| node == definition.0),
        };
        if !dominates {
            return None;
        }
        let instruction = self.instruction(definition)?;
        match &instruction.op {
            Op::Mov { ty, src, .. } if instruction.guard.is_none() && ty.bits() == 32 => self.root(src, definition),
            _ => instruction.guard.is_none().then_some(Root::Instruction(definition)),
        }
    }

    /// The sources of the operation that made a value, and where it is.
    fn made_by(&self, operand: &Operand, at: Position, op: IntOp) -> Option<(&'c [Operand], Position)> {
        let Root::Instruction(at) = self.root(operand, at)? else { return None };
        Some((self.sources(self.instruction(at)?, op)?, at))
    }

    /// A mask that lanes make together: its register, and where.
    fn mask(&self, operand: &Operand, at: Position) -> Option<(RegisterId, Position)> {
        let Root::Instruction(made) = self.root(operand, at)? else { return None };
        let Op::Arbitrary { name, sources, dst } = &self.instruction(made)?.op else { return None };
        let is_mask = match (&**name, &sources[..]) {
            ("activemask.b32", []) => true,
            ("vote.sync.ballot.b32", [_, members]) => self.root(members, made) == Some(Root::Constant(ALL)),
            _ => false,
        };
        match &dst[..] {
            [Operand::Register(register)] if is_mask => Some((*register, made)),
            _ => None,
        }
    }

    /// The shuffle that gives a lane another one's value.
    fn shuffle(&self, operand: &Operand, at: Position) -> Option<Position> {
        let Root::Instruction(at) = self.root(operand, at)? else { return None };
        match &self.instruction(at)?.op {
            Op::Arbitrary { name, sources, dst } if &**name == SHUFFLE && sources.len() == 4 => {
                let gives = dst.first() == Some(operand) || self.is_copy(operand, dst.first()?);
                let whole = self.root(&sources[2], at) == Some(Root::Constant(31));
                (gives && whole).then_some(at)
            }
            _ => None,
        }
    }

    /// Whether a register is a copy of another one.
    fn is_copy(&self, operand: &Operand, of: &Operand) -> bool {
        let Operand::Register(register) = operand else { return false };
        let Some([definition]) = self.definitions.get(register).map(Vec::as_slice) else { return false };
        match self.instruction(*definition).map(|instruction| &instruction.op) {
            Some(Op::Mov { src, .. }) => src == of || self.is_copy(src, of),
            _ => false,
        }
    }

    /// The mask of a rank, which is how many lanes of it are below the own one: its register, and where it is made.
    fn rank(&self, operand: &Operand, at: Position) -> Option<(RegisterId, Position)> {
        let ([counted], at) = self.made_by(operand, at, IntOp::Popc)? else { return None };
        let ([a, b], at) = self.made_by(counted, at, IntOp::And)? else { return None };
        let parts = [(a, b), (b, a)].into_iter();
        parts.filter(|(_, below)| self.is_below(below, at)).find_map(|(mask, _)| self.mask(mask, at))
    }

    /// Whether a value is the mask of the lanes below the own one.
    fn is_below(&self, operand: &Operand, at: Position) -> bool {
        if let Some(Root::Special(SpecialRegister::Other(other))) = self.root(operand, at) {
            return other.name() == "%lanemask_lt";
        }
        let is_shifted = |operand: &Operand, at: Position, bits: u64| match self.made_by(operand, at, IntOp::Shl) {
            Some(([value, by], at)) => self.root(value, at) == Some(Root::Constant(bits)) && self.is_lane(by, at),
            _ => false,
        };
        if let Some(([inner], at)) = self.made_by(operand, at, IntOp::Not) {
            return is_shifted(inner, at, ALL);
        }
        match self.made_by(operand, at, IntOp::Add) {
            Some(([bit, minus], at)) => is_shifted(bit, at, 1) && self.root(minus, at) == Some(Root::Constant(ALL)),
            _ => false,
        }
    }

    /// Whether a value is the number of the lane.
    fn is_lane(&self, operand: &Operand, at: Position) -> bool {
        if self.root(operand, at) == Some(Root::Special(SpecialRegister::LaneId)) {
            return true;
        }
        match self.made_by(operand, at, IntOp::And) {
            Some(([thread, last], at)) => {
                let is_thread = self.root(thread, at) == Some(Root::Special(SpecialRegister::Tid(Axis::X)));
                self.knows_lanes && is_thread && self.root(last, at) == Some(Root::Constant(31))
            }
            _ => false,
        }
    }

    /// Whether a value is the number of the first lane of the mask that is made there.
    fn is_first(&self, operand: &Operand, at: Position, made: Position) -> bool {
        let shifted = self.made_by(operand, at, IntOp::Bfind(true));
        let Some(([reversed], at)) = shifted.or_else(|| self.made_by(operand, at, IntOp::Clz)) else { return false };
        match self.made_by(reversed, at, IntOp::Brev) {
            Some(([mask], at)) => self.mask(mask, at).is_some_and(|(_, other)| other == made),
            _ => false,
        }
    }

    /// The leader's atomic, which adds how many lanes of the mask there are to what is `base` at the start of `meeting`, and the
    /// operand that says who leads.
    fn leader(&self, base: RegisterId, meeting: NodeIndex, made: Position) -> Option<(Position, &'c Operand)> {
        let graph = &self.cfg.graph;
        let before: Vec<NodeIndex> = graph.neighbors_directed(meeting, Direction::Incoming).collect();
        let branch = made.0;
        let [one, other] = before[..] else { return None };
        let arm = if one == branch { other } else { one };
        let is_diamond = before.contains(&branch)
            && arm != branch
            && arm != meeting
            && graph.neighbors(branch).count() == 2
            && graph.neighbors(arm).count() == 1
            && graph.neighbors_directed(arm, Direction::Incoming).count() == 1;
        let edge = graph.find_edge(branch, arm).filter(|_| is_diamond)?;
        let EdgeCondition::If(guard) = &graph[edge] else { return None };
        let Root::Instruction(test) = self.root(&Operand::Register(guard.register), (branch, usize::MAX))? else {
            return None;
        };
        let Op::Setp { comparison, ty, a, b, combine: None, dst, .. } = &self.instruction(test)?.op else {
            return None;
        };
        let is_equal = match comparison {
            Comparison::Eq => !guard.negated,
            Comparison::Ne => guard.negated,
            _ => false,
        };
        let is_number = matches!(ty, ScalarType::B(32) | ScalarType::U(32) | ScalarType::S(32));
        if !is_equal || !is_number || *dst != Operand::Register(guard.register) {
            return None;
        }
        let lead = [(a, b), (b, a)].into_iter().find(|(lane, _)| self.is_lane(lane, test))?.1;
        let atomic = self.definitions.get(&base)?.iter().find(|at| at.0 == arm)?;
        let is_last = self.definitions[&base].iter().filter(|at| at.0 == arm || at.0 == meeting).count() == 1;
        let adds = match &self.instruction(*atomic)? {
            Instruction { guard: None, op: Op::Atomic { operation, ty, elements, dst, sources, .. }, .. } => {
                let is_add = &**operation == "add" && matches!(ty, ScalarType::U(32) | ScalarType::S(32));
                let counts = sources.first().and_then(|count| self.made_by(count, *atomic, IntOp::Popc));
                let of_mask = counts.and_then(|(counted, at)| self.mask(counted.first()?, at));
                let is_all = of_mask.is_some_and(|(_, other)| other == made);
                is_add && *elements <= 1 && dst[..] == [Operand::Register(base)] && sources.len() == 1 && is_all
            }
            _ => false,
        };
        (adds && is_last && !self.has_barrier(arm, 0..usize::MAX)).then_some((*atomic, lead))
    }

    /// Whether only one block leads to another one.
    fn only_behind(&self, node: NodeIndex, before: NodeIndex) -> bool {
        let edges: Vec<NodeIndex> =
            self.cfg.graph.edges_directed(node, Direction::Incoming).map(|edge| edge.source()).collect();
        edges == [before]
    }

    /// Whether a barrier is among the statements of a block from one index on to another.
    fn has_barrier(&self, node: NodeIndex, range: std::ops::Range<usize>) -> bool {
        let statements = self.cfg.graph[node].statements.iter().enumerate();
        let mut inside = statements.filter(|(index, _)| range.contains(index)).map(|(_, statement)| statement);
        inside.any(|statement| match statement {
            Statement::Instruction(instruction) => {
                matches!(instruction.op, Op::Barrier { .. } | Op::ClusterBarrier { .. })
            }
            _ => false,
        })
    }
}

impl Lowering<'_> {
    /// Behind the statement at a place, whose translation begins at an index: marks a leader's atomic, or notes a lane's sum.
    pub(super) fn mark_aggregated(&mut self, at: Position, start: usize) {
        if let Some(number) = self.aggregated.leaders.get(&at).copied() {
            let is_atomic = |stmt: &&mut Stmt| matches!(stmt.kind, StmtKind::Atomic { .. });
            let mut atomics: Vec<&mut Stmt> = self.statements[start..].iter_mut().filter(is_atomic).collect();
            // An address that may be in several arrays is no counter.
            if let [only] = &mut atomics[..] {
                only.attributes.push(Attribute {
                    name: Name::from(LEADS),
                    args: vec![AttributeArg::Expr(bv::int(number.into()))],
                });
            }
        }
        let Some(Sum { number, register, mask, votes }) = self.aggregated.sums.get(&at).cloned() else { return };
        // It is defined there, as its definition dominates the place.
        let bits = self.register(mask);
        let lane = self.read(&Operand::Special(SpecialRegister::LaneId), 32);
        let is_member = bv::eq(bv::extract(bv::binary(BvOp::Lshr, bits, lane), 1, 0), bv::literal(1, 1));
        let sum = self.registers[register.0 as usize].clone();
        let args = [bv::int(number.into()), is_member, bv::boolean(votes)].map(AttributeArg::Expr);
        self.emit_with(StmtKind::Havoc(vec![sum]), vec![Attribute { name: Name::from(SHARE), args: args.into() }]);
    }

    /// Makes atomics of lanes' shares where the counter is one for all of them; else a leader adds what nobody knows.
    pub(super) fn share_additions(&mut self, blocks: &mut [Block]) {
        if self.aggregated.leaders.is_empty() {
            return;
        }
        let once = self.once(blocks);
        let mut counters: BTreeMap<i128, Access> = BTreeMap::new();
        for stmt in blocks.iter().flat_map(|block| &block.stmts) {
            let StmtKind::Atomic { access, .. } = &stmt.kind else { continue };
            if stmt.attributes.has("unknown_pointer") {
                continue;
            }
            if let (Some(number), Some(offset), None) =
                (signed(stmt, LEADS), once.resolved(&access.offset), &access.guard)
            {
                counters.insert(number, Access { offset, ..access.clone() });
            }
        }
        let notes = blocks.iter().flat_map(|block| &block.stmts).filter_map(note);
        let voting: BTreeSet<i128> = notes.filter(|note| note.votes).map(|note| note.number).collect();
        let place = |number: &i128| counters.get(number).map(|access| (&access.array, &access.offset, access.strong));
        let first = voting.first().and_then(place);
        if first.is_none() || !voting.iter().all(|number| place(number) == first) {
            counters.retain(|number, _| !voting.contains(number));
        }
        for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
            let shares = signed(stmt, LEADS).is_some_and(|number| counters.contains_key(&number));
            stmt.attributes.retain(|attribute| attribute.name.as_str() != LEADS);
            stmt.attributes.extend(shares.then(|| adds(0)));
        }
        for block in blocks {
            let stmts = std::mem::take(&mut block.stmts);
            stmts.into_iter().for_each(|stmt| share(stmt, &counters, &mut block.stmts));
        }
    }
}

/// What is noted of a lane's sum.
struct Note {
    number: i128,
    is_member: ExprRef,
    votes: bool,
    sum: Name,
}

fn note(stmt: &Stmt) -> Option<Note> {
    let (StmtKind::Havoc(names), Some(note)) = (&stmt.kind, stmt.attributes.named(SHARE)) else { return None };
    let [AttributeArg::Expr(number), AttributeArg::Expr(is_member), AttributeArg::Expr(votes)] = &note.args[..] else {
        return None;
    };
    let ExprKind::Int(number) = number.kind else { return None };
    let votes = votes.kind == ExprKind::Bool(true);
    Some(Note { number, is_member: is_member.clone(), votes, sum: names.first()?.clone() })
}

/// Appends a statement; for the note of a sum a lane's share instead of it, or nothing where the counter is not known.
fn share(stmt: Stmt, counters: &BTreeMap<i128, Access>, out: &mut Vec<Stmt>) {
    let Some(Note { number, is_member, sum, .. }) = note(&stmt) else { return out.push(stmt) };
    let Some(counter) = counters.get(&number) else { return };
    // What was added is a number that a shuffle gave, which is arbitrary, so the sum was arbitrary, too.
    if let Some(at) = out.iter().rposition(|stmt| assigned(stmt) == [&sum]) {
        out.remove(at);
    }
    let access = Access { guard: Some(is_member), ..counter.clone() };
    let kind = StmtKind::Atomic { dst: Some(sum), access };
    out.push(Stmt { kind, attributes: vec![flag(SHARE), adds(1)], ..stmt });
}
