//! Tickets: what two threads get from additions to one counter are two values.
//!
//! Input: atomics with `{:ticket}` (`kernel::tickets`). Output: behind each of them an assumption for each thread about
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
//! function says who got a value; and it grows by less than what all add, so results are that near to the first value.
//! With `{:each_interval}` that goes for the additions of an interval alone, which do not wrap the counter, wherever it begins; such a
//! counter has an epoch for each interval.
//! Where only one of the two threads adds, it may also store, if there are stores: all values are its own, and nothing is said of the first.
//! No execution is lost, as the functions are arbitrary, for each interval apart: an epoch is arbitrary behind a barrier.

use super::Pair;
use super::array_facts::initially;
use super::copies::Copies;
use crate::ivl::ast::{
    Access, Array, ArraySpace, ExprRef, Function, Implementation, Name, Program, Stmt, StmtKind, Thread, Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Premise;
use crate::kernel::{EACH_INTERVAL, INITIALLY, TICKET, signed};
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The counters of a kernel.
pub(super) struct Tickets<'a> {
    copies: &'a Copies,
    /// For each counter the variable that has its epoch, if it has several.
    epochs: BTreeMap<Name, Option<Name>>,
    /// Those of which is stated what they hold at the start.
    stated: BTreeSet<Name>,
    /// Arrays with stores.
    stored: BTreeSet<Name>,
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
        for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
            match &stmt.kind {
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
        Tickets { copies, epochs, stated, stored, introduced, declared: BTreeMap::new() }
    }

    /// Behind an atomic with that result, of the byte offset.
    pub(super) fn atomic(&mut self, stmt: &Stmt, dst: &Name, access: &Access, offset: &ExprRef, out: &mut Vec<Stmt>) {
        let Some(epoch) = self.epochs.get(&access.array) else { return };
        let ty = Type::Bv(8 * access.bytes);
        if !stmt.attributes.has(TICKET) || self.copies.doubled.get(dst) != Some(&ty) {
            return;
        }
        let epoch = match epoch {
            Some(name) => bv::var(name.clone(), Type::Bv(64)),
            None => bv::literal(0, 64),
        };
        let own = access.own_guard().unwrap_or_else(|| bv::boolean(true));
        let names = ["owner", "first", "alone"].map(|what| {
            let name = format!("{what}.ticket.{}.{}", access.array, access.bytes);
            Name::from(name)
        });
        let change = signed(stmt, TICKET);
        for thread in Thread::BOTH {
            let result = bv::var(dst.of(thread), ty.clone());
            let place = [epoch.clone(), self.copies.expr(offset, thread)];
            let may_store = self.stored.contains(&access.array);
            let facts = self.facts(thread, &names, place, (&result, change, may_store));
            let holds = bv::implies(self.copies.expr(&own, thread), facts);
            let kind = StmtKind::Assume(Premise::Instance(Arc::from(TICKET)), holds);
            out.push(Stmt { kind, attributes: Vec::new(), span: stmt.span, origin: stmt.origin.clone() });
        }
        // Only then there is such a function.
        if change.is_some() {
            let first =
                |offset: &ExprRef| bv::call(names[1].clone(), vec![bv::literal(0, 64), offset.clone()], ty.clone());
            out.extend(initially(stmt, self.copies, offset, &first));
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

    /// What is known of a result of a thread, where all additions may change the counter by less than `change`, and other
    /// accesses may store to it.
    fn facts(
        &mut self,
        thread: Thread,
        [owner, first, alone]: &[Name; 3],
        place: [ExprRef; 2],
        (result, change, may_store): (&ExprRef, Option<i128>, bool),
    ) -> ExprRef {
        let [epoch, offset] = place.clone();
        let is_first = self.call(owner, vec![epoch, offset, result.clone()], Type::Bool);
        let is_own = if thread == Thread::First { is_first } else { bv::not(is_first) };
        let Some(change) = change else { return is_own };
        let first = self.call(first, place.to_vec(), result.ty.clone());
        let gone = if change < 0 { bv::sub(first, result.clone()) } else { bv::sub(result.clone(), first) };
        let is_near = bv::binary(BvOp::Ult, gone, bv::literal(change.unsigned_abs(), bv::width(result)));
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
