//! A barrier object in lock-step: the pipeline that is not specialised.
//!
//! Input: `mbarrier.init`, `arrive.expect_tx`, `try_wait.parity`, `test_wait.parity`, and `cp.async.bulk` from global to shared memory
//! that tells the object of its bytes, where one object of eight bytes is all that the kernel has. Output: counters of each thread, assertions
//! `{:barrier_rule "object-turn"}`, and for a copy what [`super::bulk`] makes of it, with `{:asynchronous known, known} {:awaited}`.
//! Establishes: thread 0 of the block, and nobody else, initialises the object (once, with a count of 1), arrives, and copies. It arrives
//! only where it knows that all phases before are complete, and all threads have known so since a barrier of the block
//! (`synced >= arrived`). What it announces it copies, into the phase that it announced it to (`owed`). Who waits
//! waits for the phase behind those that it knows (`parity`), which thread 0 has arrived at and owes nothing. Whoever exits knows all
//! phases that it arrived at. Nothing else touches the bytes of the object: its initialisation is a store that no barrier forgets.
//! Then copy number `known` of its thread is of that phase, and a thread that has seen one phase more has all its bytes.
//! Why (phases-notes 2.2 to 2.4, for one participant): `known` is at most the phases that are complete, since a wait for a
//! parity succeeds only if one more is, so the arrival with number m comes to phase m; while bytes of it are owed it stays open, so that
//! its copies are of phase m, too; it is complete when they are. No thread waits for ever: of the waits that do not end take the first in the order
//! of lock-step; its phase has its arrival and its copies, which come before it in that order, and the next one does not begin before
//! a barrier that comes behind it.
//! Relies on: `twothread` compares the counters of both threads of a pair (`{:mates}`), and takes what a thread knows (`{:awaited}`)
//! for the order of a copy before its accesses; nothing else is concluded from objects: what an arrival releases is not used. Which object
//! it is stands fast because an access stays inside its array. The result of a wait is arbitrary, so that loops which
//! wait need no shape of their own. An object needs no proxy fence in front of its first copy: copies access it by the
//! generic proxy. Of atomics nothing is concluded in such a kernel (`tickets`, `winners`): what they tell holds between barriers, and an awaited
//! copy changes memory there. Alignment of copies is not checked, as of those with groups. Everything else about objects is refused.
//! Reference: PTX ISA, `mbarrier`, "Phase of the mbarrier object", `cp.async.bulk`; phases-review E1 to E13.

use super::groups::COUNTER;
use super::lowering::Lowering;
use super::memory::{Effect, Place};
use super::regions::{RegionId, Space};
use crate::cfg::graph::{Cfg, Statement};
use crate::geometry::Axis;
use crate::ivl::ast::{Attribute, AttributeArg, BinaryOp, Block, ExprRef, Name, Stmt, StmtKind, Type, Variable};
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::{BarrierRule, Claim};
use crate::order::{Ordering, Scope};
use crate::ptx::ast::{
    AsyncOp, BulkCopy, MemoryOperand, ObjectAction, ObjectUse, Op, Operand, SpecialRegister, StateSpace,
};
use crate::ptx::table::MBARRIER;
use crate::span::Span;

/// The mark of a copy whose end other threads learn by their own waits.
pub(crate) const AWAITED: &str = "awaited";

/// The mark of an assertion about a thread and each other one of its block: whether the other one is meant, and two numbers, of which that
/// of the thread is below that of the other one. The assertion's own formula says when the thread is not meant.
pub(crate) const MATES: &str = "mates";

/// A phase counts fewer bytes.
const MOST: u128 = 1 << 20;

/// The type of parities and of bytes.
const WORD: Type = Type::Bv(32);

/// What a thread knows of the object.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    /// The array that it is.
    region: Option<RegionId>,
    /// The thread is the one that initialises, arrives and copies.
    part: Name,
    /// It has initialised the object; that, at its last barrier.
    made: Name,
    made_synced: Name,
    /// Its arrivals.
    arrived: Name,
    /// Phases of which it knows that they are complete; that, at its last barrier.
    known: Name,
    synced: Name,
    /// Of that number.
    parity: Name,
    /// Bytes that it announced and did not copy yet.
    owed: Name,
    /// Counts nothing: what a thread has waited for that cannot end.
    never: Name,
}

/// Whether an object gets the bytes of a copy into the block's own shared memory.
pub(super) fn is_modelled(copy: &BulkCopy) -> bool {
    copy.object.is_some()
        && copy.multicast.is_none()
        && copy.reduction.is_none()
        && copy.from.space == StateSpace::Global
        && matches!(copy.to.space, StateSpace::Shared | StateSpace::SharedCluster)
}

/// Whether a kernel has barrier objects or copies that tell them.
fn has_objects(cfg: &Cfg) -> bool {
    let mut statements = cfg.graph.node_weights().flat_map(|block| &block.statements);
    statements.any(|statement| match statement {
        Statement::Instruction(one) => match &one.op {
            Op::Object { .. } => true,
            Op::Async { operation: AsyncOp::Bulk(copy), .. } => copy.object.is_some(),
            _ => false,
        },
        _ => false,
    })
}

fn flag(name: &Name) -> ExprRef {
    bv::var(name.clone(), Type::Bool)
}

fn number(name: &Name) -> ExprRef {
    bv::var(name.clone(), COUNTER)
}

fn word(name: &Name) -> ExprRef {
    bv::var(name.clone(), WORD)
}

fn next(value: ExprRef) -> ExprRef {
    bv::op(BinaryOp::Add, value, bv::int(1))
}

impl Lowering<'_> {
    /// Declares what is known of the object, if the kernel has one and it has a model.
    pub(super) fn prepare_objects(&mut self) {
        if !self.options.rules.objects_in_step || !has_objects(self.cfg) {
            return;
        }
        let mut declare = |name: &str, ty: Type| {
            let name = self.names.fresh(name);
            self.locals.push(Variable::new(name.clone(), ty));
            name
        };
        self.objects = Some(Objects {
            region: None,
            part: declare("object.part", Type::Bool),
            made: declare("object.made", Type::Bool),
            made_synced: declare("object.made.synced", Type::Bool),
            arrived: declare("object.arrived", COUNTER),
            known: declare("object.known", COUNTER),
            synced: declare("object.synced", COUNTER),
            parity: declare("object.parity", WORD),
            owed: declare("object.owed", WORD),
            never: declare("object.never", COUNTER),
        });
    }

    /// What the counters are in front of the first instruction.
    pub(super) fn start_objects(&self, blocks: &mut [Block]) {
        let (Some(objects), [start, ..]) = (&self.objects, blocks) else { return };
        let origin = start.stmts.first().and_then(|first| first.origin.clone());
        let axes = [Axis::X, Axis::Y, Axis::Z].into_iter();
        let ids = axes.filter_map(|axis| self.launch.special(SpecialRegister::Tid(axis)));
        let part = ids.map(|id| bv::eq(id, bv::literal(0, 32))).fold(bv::boolean(true), bv::and);
        let counters = [&objects.arrived, &objects.known, &objects.synced, &objects.never];
        let values = (counters.into_iter().map(|name| (name, bv::int(0))))
            .chain([&objects.parity, &objects.owed].map(|name| (name, bv::literal(0, 32))))
            .chain([&objects.made, &objects.made_synced].map(|name| (name, bv::boolean(false))))
            .chain([(&objects.part, part)]);
        let set = values.map(|(name, value)| {
            let kind = StmtKind::Assign(vec![(name.clone(), value)]);
            Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: origin.clone() }
        });
        start.stmts.splice(0..0, set.collect::<Vec<_>>());
    }

    /// `mbarrier`
    pub(super) fn object(&mut self, name: &str, usage: &ObjectUse) {
        if self.options.rules.global_only {
            if let Some(dst) = &usage.dst {
                let value = self.arbitrary(Type::Bv(64));
                self.write(dst, value, false);
            }
            return;
        }
        let Some((objects, place, region)) = self.object_at(&usage.place) else {
            return self.without_model(name, MBARRIER);
        };
        match (&usage.action, &usage.dst, usage.ordering) {
            (ObjectAction::Initialise { count: Operand::Integer(1) }, None, _) => {
                self.initialise(&objects, &place, region);
            }
            (
                ObjectAction::Arrive { count: None, bytes: Some(bytes), drops: false, incomplete: false },
                None,
                Ordering::Release(Scope::Cta),
            ) => self.arrive(&objects, bytes),
            (ObjectAction::Wait { phase, parity: true, .. }, Some(done), Ordering::Acquire(Scope::Cta)) => {
                self.await_phase(&objects, phase, done);
            }
            _ => self.without_model(name, MBARRIER),
        }
    }

    /// The object that an operand names, and where it is: all name one array of eight bytes.
    fn object_at(&mut self, operand: &MemoryOperand) -> Option<(Objects, Place, RegionId)> {
        let objects = self.objects.clone()?;
        let place = self.place(operand.space, &operand.address)?;
        let [region] = place.regions[..] else { return None };
        let info = self.pointers.regions.get(region);
        let is_whole = info.space == Space::Shared && info.size == Some(8) && !place.unknown;
        if !is_whole || objects.region.is_some_and(|known| known != region) {
            return None;
        }
        self.declarations.assumes_bounds = true;
        self.objects = Some(Objects { region: Some(region), ..objects.clone() });
        Some((objects, place, region))
    }

    /// Asserts a rule about the thread that executes the instruction at hand.
    fn turn(&mut self, holds: ExprRef) {
        let holds = self.guard_value.iter().cloned().fold(holds, |holds, guard| bv::implies(guard, holds));
        self.emit(StmtKind::Assert(Claim::BarrierRule(BarrierRule::Object), holds));
    }

    /// Asserts that a number of it is below one of each other thread of the block, if that is `meant`.
    fn below_mates(&mut self, meant: ExprRef, own: ExprRef, other: ExprRef) {
        let away = self.guard_value.clone().map_or(bv::boolean(false), bv::not);
        let args = [meant, own, other].map(AttributeArg::Expr).into();
        let mates = Attribute { name: Name::from(MATES), args };
        self.emit_with(StmtKind::Assert(Claim::BarrierRule(BarrierRule::Object), away), vec![mates]);
    }

    fn initialise(&mut self, objects: &Objects, place: &Place, region: RegionId) {
        self.turn(bv::and(flag(&objects.part), bv::not(flag(&objects.made))));
        let never = [&objects.never; 2].map(|name| AttributeArg::Expr(number(name)));
        self.underway = vec![Attribute { name: Name::from(super::ASYNCHRONOUS), args: never.into() }];
        let value = self.arbitrary(Type::Bv(64));
        self.access(place, region, 0, 8, None, Effect::Store(value));
        self.underway.clear();
        self.count(objects.made.clone(), bv::boolean(true));
    }

    /// `arrive.expect_tx`: all phases before are known to be complete, and all threads have seen so.
    fn arrive(&mut self, objects: &Objects, bytes: &Operand) {
        let bytes = self.read(bytes, 32);
        let bytes = self.shared(bytes);
        self.turn(bv::and(flag(&objects.part), flag(&objects.made)));
        self.turn(bv::eq(number(&objects.known), number(&objects.arrived)));
        self.turn(bv::eq(word(&objects.owed), bv::literal(0, 32)));
        self.turn(bv::binary(BvOp::Ult, bytes.clone(), bv::literal(MOST, 32)));
        self.below_mates(bv::boolean(true), number(&objects.arrived), next(number(&objects.synced)));
        self.count(objects.owed.clone(), bytes);
        self.count(objects.arrived.clone(), next(number(&objects.arrived)));
    }

    /// A copy of so many bytes tells the object. Gives the marks of its accesses.
    pub(super) fn copy_to_object(
        &mut self,
        name: &str,
        operand: &MemoryOperand,
        size: &ExprRef,
    ) -> Option<Vec<Attribute>> {
        let Some((objects, ..)) = self.object_at(operand) else {
            self.without_model(name, MBARRIER);
            return None;
        };
        self.turn(bv::and(flag(&objects.part), flag(&objects.made)));
        self.turn(bv::eq(next(number(&objects.known)), number(&objects.arrived)));
        self.turn(bv::binary(BvOp::Ule, size.clone(), word(&objects.owed)));
        self.count(objects.owed.clone(), bv::sub(word(&objects.owed), size.clone()));
        let known = [&objects.known; 2].map(|name| AttributeArg::Expr(number(name)));
        Some(vec![
            Attribute { name: Name::from(super::ASYNCHRONOUS), args: known.into() },
            Attribute { name: Name::from(AWAITED), args: Vec::new() },
        ])
    }

    /// `try_wait.parity`, `test_wait.parity`: for the phase behind those that the thread knows, which is on its way.
    fn await_phase(&mut self, objects: &Objects, parity: &Operand, done: &Operand) {
        let parity = self.read(parity, 32);
        self.turn(bv::eq(parity, word(&objects.parity)));
        let (part, owed) = (flag(&objects.part), bv::eq(word(&objects.owed), bv::literal(0, 32)));
        let is_due = bv::eq(number(&objects.arrived), next(number(&objects.known)));
        let own = [flag(&objects.made), is_due, owed.clone()].into_iter().reduce(bv::and).unwrap_or(part.clone());
        self.turn(bv::implies(part.clone(), own));
        self.below_mates(part.clone(), number(&objects.known), number(&objects.arrived));
        let is_ready = bv::and(flag(&objects.made_synced), owed);
        self.below_mates(part, bv::int(0), bv::ite(is_ready, bv::int(1), bv::int(0)));
        let is_done = self.arbitrary(Type::Bool);
        let guard = self.guard_value.clone();
        self.guard_value = Some(guard.iter().cloned().fold(is_done.clone(), |done, guard| bv::and(guard, done)));
        let other = bv::binary(BvOp::Xor, word(&objects.parity), bv::literal(1, 32));
        self.count(objects.parity.clone(), other);
        self.count(objects.known.clone(), next(number(&objects.known)));
        self.guard_value = guard;
        self.write(done, is_done, false);
    }

    /// The thread comes to a barrier of its block.
    pub(super) fn tell_objects(&mut self) {
        let Some(objects) = self.objects.clone() else { return };
        self.count(objects.synced, number(&objects.known));
        self.count(objects.made_synced, flag(&objects.made));
    }

    /// A thread exits.
    pub(super) fn exit_objects(&mut self) {
        let Some(objects) = &self.objects else { return };
        let is_over = bv::eq(number(&objects.known), number(&objects.arrived));
        let is_over = bv::implies(flag(&objects.part), is_over);
        self.emit(StmtKind::Assert(Claim::BarrierRule(BarrierRule::Object), is_over));
    }
}
