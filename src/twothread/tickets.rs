//! Tickets: what two threads get from additions to one counter are two values. Words with winners ([`super::winners`]) are
//! counters here, too: they have the same intervals.
//!
//! Input: atomics with `{:ticket}` (`kernel::tickets`) or `{:winner}` (`kernel::winners`). Output: behind each of them an assumption for each thread about
//! functions of an epoch and an offset: `owner.ticket.A`, whether thread 1 got a value; `first.ticket.A`, what the counter
//! held; `alone.ticket.A`, which of the two threads is the only one to add, if one is. Establishes: what is assumed is true
//! up to the first race. Relies on: `kernel::tickets` (only weak stores change a counter beside additions of one sign, which
//! do not wrap it); the strong scopes of the prelude. Reference: PTX ISA, memory consistency model (atomicity).
//!
//! Why this is sound. Take an execution up to its first race, and an interval: what a block does between two barriers, or,
//! for two blocks and for arrays without stores, the whole launch. Let both threads get results from a counter, the bytes
//! from one offset on, in it. A thread, perhaps one of the two, that stores to one of its bytes in the interval, or adds to
//! some but not from their start on, races with one of the two: nothing in the interval orders them, a weak store conflicts
//! with an addition, and so do two additions that do not start alike. So all that changes the counter are additions to it,
//! which are atomic with respect to each other (or race, by their scopes). What an addition returns is then what was there
//! at first plus what those before it added. This grows without wrapping, so no two additions return the same, and one
//! function says who got a value; and it grows by less than what all add, so results are that near to the first value. What it
//! has grown by is a multiple of each `{:step}`, and so is what all add; where that is only known to be less than the
//! counter has values, what the counter had grown by before an addition is less than that by a step.
//! With `{:each_interval}` that goes for the additions of an interval alone, which do not wrap the counter, wherever it begins; such a
//! counter has an epoch for each interval.
//! Where only one of the two threads adds, it may also store, if there are stores: all values are its own, and nothing is said of the first.
//! Between two blocks all this goes for threads of a block as for one: `owner` says whether a thread of thread 1's block got a
//! value, `alone` which of the two blocks is the only one to add. So what a thread loads that some thread of its block got
//! (`contents::threads`) is its block's, too ([`Tickets::loaded`]): "both threads" above are then those that got the results.
//! No execution is lost, as the functions are arbitrary, for each interval apart: an epoch is arbitrary behind a barrier.

use super::Pair;
use super::array_facts::initially;
use super::completion;
use super::contents::Obtained;
use super::copies::Copies;
use super::winners::{self, Winner};
use crate::ivl::ast::{
    Access, Array, ArraySpace, Attribute, ExprRef, Function, Implementation, Name, Program, Stmt, StmtKind, Thread,
    Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Premise;
use crate::ivl::visit::substitute;
use crate::kernel::{EACH_INTERVAL, INITIALLY, STEP, TICKET, WINNER, signed};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The counters of a kernel.
pub(super) struct Tickets<'a> {
    copies: &'a Copies,
    pair: Pair,
    /// For each counter the variable that has its epoch, if it has several.
    epochs: BTreeMap<Name, Option<Name>>,
    /// Those of which is stated what they hold at the start.
    stated: BTreeSet<Name>,
    /// Arrays with stores.
    stored: BTreeSet<Name>,
    /// Whether words have winners: not in a kernel with barriers of warps, which order stores between two winners.
    has_winners: bool,
    /// Locals introduced.
    pub(super) introduced: Vec<Variable>,
    /// Functions introduced, by name.
    pub(super) declared: BTreeMap<Name, Function>,
}

impl<'a> Tickets<'a> {
    /// Finds the counters that the two threads may have in common.
    pub(super) fn new(program: &'a Program, body: &Implementation, copies: &'a Copies, pair: Pair) -> Tickets<'a> {
        let (mut counters, mut stored) = (BTreeSet::new(), BTreeSet::new());
        let (mut stated, mut by_interval) = (BTreeSet::new(), BTreeSet::new());
        let stmts = || body.blocks.iter().flat_map(|block| &block.stmts);
        let has_winners = !stmts().any(|stmt| matches!(stmt.kind, StmtKind::WarpBarrier(_)));
        for stmt in stmts() {
            match &stmt.kind {
                StmtKind::Atomic { access, .. } if has_winners && stmt.attributes.has(WINNER) => {
                    counters.insert(&access.array);
                }
                StmtKind::Atomic { access, .. } if stmt.attributes.has(TICKET) => {
                    counters.insert(&access.array);
                    by_interval.extend(stmt.attributes.has(EACH_INTERVAL).then_some(&access.array));
                    stated.extend(stmt.attributes.has(INITIALLY).then(|| access.array.clone()));
                }
                StmtKind::Store { access, .. } => {
                    stored.insert(&access.array);
                }
                _ => {}
            }
        }
        let common = |array: &&Array| match pair {
            Pair::SameBlock => true,
            Pair::DifferentBlocks => array.space == ArraySpace::Global,
            Pair::OneThread => false,
        };
        let arrays = program.arrays.iter().filter(common).map(|array| &array.name);
        let epoch = |array: &Name| {
            let has_several = pair == Pair::SameBlock && (stored.contains(array) || by_interval.contains(array));
            (array.clone(), has_several.then(|| Name::from(format!("ticket.epoch.{array}"))))
        };
        let epochs: BTreeMap<Name, Option<Name>> = arrays.filter(|array| counters.contains(array)).map(epoch).collect();
        let introduced = epochs.values().flatten().map(|name| Variable::new(name.clone(), Type::Bv(64))).collect();
        let stored = stored.into_iter().cloned().collect();
        Tickets { copies, pair, epochs, stated, stored, has_winners, introduced, declared: BTreeMap::new() }
    }

    /// Behind an atomic with that result, of the byte offset.
    pub(super) fn atomic(&mut self, stmt: &Stmt, dst: &Name, access: &Access, offset: &ExprRef, out: &mut Vec<Stmt>) {
        let Some(epoch) = self.epochs.get(&access.array) else { return };
        let ty = Type::Bv(8 * access.bytes);
        let winner = stmt.attributes.named(WINNER).filter(|_| self.has_winners).cloned();
        if !stmt.attributes.has(TICKET) && winner.is_none() || self.copies.doubled.get(dst) != Some(&ty) {
            return;
        }
        let epoch = match epoch {
            Some(name) => bv::var(name.clone(), Type::Bv(64)),
            None => bv::literal(0, 64),
        };
        let own = access.own_guard().unwrap_or_else(|| bv::boolean(true));
        if let Some(winner) = winner {
            return self.wins((stmt, &winner), dst, access, [&epoch, offset, &own], out);
        }
        for thread in Thread::BOTH {
            let result = bv::var(dst.of(thread), ty.clone());
            let place = [epoch.clone(), self.copies.expr(offset, thread)];
            let facts = self.of_result(stmt, access, thread, place, &result);
            let holds = bv::implies(self.copies.expr(&own, thread), facts);
            let kind = StmtKind::Assume(Premise::Instance(Arc::from(TICKET)), holds);
            out.push(Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() });
        }
        // Only then there is such a function.
        if signed(stmt, TICKET).is_some() {
            let [_, first, _] = names(access);
            let first =
                |offset: &ExprRef| bv::call(first.clone(), vec![bv::literal(0, 64), offset.clone()], ty.clone());
            out.extend(initially(stmt, self.copies, offset, &first));
        }
    }

    /// Behind a load of what a thread of its block made of a result that it got from a counter, if a formula holds: what is known
    /// of that result, which is some number.
    pub(super) fn loaded(
        &mut self,
        stmt: &Stmt,
        dst: &Name,
        access: &Access,
        (thread, holds, ticket): (Thread, ExprRef, Obtained),
    ) -> Vec<Stmt> {
        let StmtKind::Atomic { access: counter, .. } = &ticket.stmt.kind else { return Vec::new() };
        let ty = Type::Bv(8 * counter.bytes);
        // A counter with intervals is another one in each.
        let is_one = self.epochs.get(&counter.array).is_some_and(Option::is_none);
        if !is_one || ticket.value.ty != Type::Bv(8 * access.bytes) {
            return Vec::new();
        }
        let generated = |kind| Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() };
        let loaded = bv::var(dst.of(thread), ticket.value.ty.clone());
        let mut out = Vec::new();
        let (result, is_made) = if ticket.value == bv::var(ticket.result.clone(), ty.clone()) {
            (loaded, bv::boolean(true))
        } else {
            let name = Name::from(format!("ticket.got.{}", self.introduced.len())).of(thread);
            self.introduced.push(Variable::new(name.clone(), ty.clone()));
            out.push(generated(StmtKind::Havoc(vec![name.clone()])));
            let got = bv::var(name, ty);
            let made = substitute(&ticket.value, &BTreeMap::from([(ticket.result, got.clone())]));
            (got, bv::eq(loaded, made))
        };
        let facts = self.of_result(&ticket.stmt, counter, thread, [bv::literal(0, 64), ticket.offset], &result);
        let holds = bv::implies(holds, bv::and(is_made, facts));
        out.push(generated(StmtKind::Assume(Premise::Instance(Arc::from(TICKET)), holds)));
        out
    }

    /// What is known of a result of an atomic with a ticket, with the functions of its counter.
    fn of_result(
        &mut self,
        atomic: &Stmt,
        counter: &Access,
        thread: Thread,
        place: [ExprRef; 2],
        result: &ExprRef,
    ) -> ExprRef {
        let names = names(counter);
        let (change, step) = (signed(atomic, TICKET), signed(atomic, STEP));
        let may_store = self.stored.contains(&counter.array);
        let known =
            (self.pair == Pair::DifferentBlocks).then(|| completion::of_result(atomic, self.copies, thread, result));
        let facts = self.facts(thread, &names, place, (result, change, step, may_store));
        known.flatten().into_iter().fold(facts, bv::and)
    }

    /// Behind an atomic that may win its word: for each thread what that says of the other one.
    fn wins(
        &mut self,
        (stmt, winner): (&Stmt, &Attribute),
        dst: &Name,
        access: &Access,
        [epoch, offset, own]: [&ExprRef; 3],
        out: &mut Vec<Stmt>,
    ) {
        for thread in Thread::BOTH {
            let copies = self.copies;
            let Some(winner) = Winner::read(winner, &|e| copies.expr(e, thread)) else { return };
            let (function, ty) = winner.function(&access.array, access.bytes);
            let first = self.call(&function, vec![epoch.clone(), copies.expr(offset, thread)], ty);
            let result = bv::var(dst.of(thread), Type::Bv(8 * access.bytes));
            let facts = winners::facts(&winner, thread, &result, first);
            let holds = bv::implies(copies.expr(own, thread), facts);
            let kind = StmtKind::Assume(Premise::Instance(Arc::from(WINNER)), holds);
            out.push(Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() });
        }
    }

    /// At the start: the first interval is 0 where something is stated of what counters hold then.
    pub(super) fn start(&self) -> impl Iterator<Item = Stmt> {
        let first = self.epochs.iter().filter(|(array, _)| self.stated.contains(*array));
        let epochs = first.filter_map(|(_, epoch)| epoch.clone());
        epochs.map(|epoch| {
            let kind = StmtKind::Assign(vec![(epoch, bv::literal(0, 64))]);
            Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
        })
    }

    /// What is known of a result of a thread, where all additions, of multiples of `step`, may change the counter by `change` at
    /// most, and other accesses may store to it.
    fn facts(
        &mut self,
        thread: Thread,
        [owner, first, alone]: &[Name; 3],
        place: [ExprRef; 2],
        (result, change, step, may_store): (&ExprRef, Option<i128>, Option<i128>, bool),
    ) -> ExprRef {
        let [epoch, offset] = place.clone();
        let is_first = self.call(owner, vec![epoch, offset, result.clone()], Type::Bool);
        let is_own = if thread == Thread::First { is_first } else { bv::not(is_first) };
        let Some(way) = change.or(step) else { return is_own };
        let width = bv::width(result);
        let first = self.call(first, place.to_vec(), result.ty.clone());
        let gone = if way < 0 { bv::sub(first, result.clone()) } else { bv::sub(result.clone(), first) };
        let bound = match (change, step) {
            (None, Some(step)) => (1 << width) - step.unsigned_abs(),
            _ => way.unsigned_abs(),
        };
        let mut is_near = bv::binary(BvOp::Ult, gone.clone(), bv::literal(bound, width));
        if let Some(step) = step.map(i128::unsigned_abs) {
            let rest = if step.is_power_of_two() {
                bv::extract(gone, step.trailing_zeros(), 0)
            } else {
                bv::binary(BvOp::Urem, gone, bv::literal(step, width))
            };
            let none = bv::literal(0, bv::width(&rest));
            is_near = bv::and(is_near, bv::eq(rest, none));
        }
        if !may_store {
            return bv::and(is_own, is_near);
        }
        let alone = self.call(alone, place.to_vec(), Type::Bv(2));
        let is = |thread: Thread| bv::eq(alone.clone(), bv::literal(u128::from(thread.number()), 2));
        let other = if thread == Thread::First { Thread::Second } else { Thread::First };
        bv::and(is_own, bv::and(bv::not(is(other)), bv::or(is(thread), is_near)))
    }

    /// An application of a function that is declared with it.
    fn call(&mut self, function: &Name, args: Vec<ExprRef>, result: Type) -> ExprRef {
        let params = ["epoch", "offset", "result"].iter().zip(&args);
        let declare = || Function {
            name: function.clone(),
            params: params.map(|(name, arg)| (Name::from(*name), arg.ty.clone())).collect(),
            result: result.clone(),
            body: None,
            attributes: Vec::new(),
            span: Span::NONE,
        };
        self.declared.entry(function.clone()).or_insert_with(declare);
        bv::call(function.clone(), args, result)
    }

    /// At a barrier: intervals begin.
    pub(super) fn barrier(&self) -> Option<Stmt> {
        let epochs: Vec<Name> = self.epochs.values().flatten().cloned().collect();
        let kind = StmtKind::Havoc(epochs);
        let stmt = Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None };
        self.epochs.values().any(Option::is_some).then_some(stmt)
    }
}

/// The functions of a counter: who got a value, what it held at first, who is alone.
fn names(counter: &Access) -> [Name; 3] {
    ["owner", "first", "alone"].map(|what| Name::from(format!("{what}.ticket.{}.{}", counter.array, counter.bytes)))
}
