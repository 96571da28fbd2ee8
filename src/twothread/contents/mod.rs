//! What shared arrays hold between barriers, where that can matter (equality abstraction).
//!
//! Input: the predicated kernel, its accesses one after the other. Output: for each load of an array with contents its
//! value for both threads; statements that keep the contents. Establishes: in an execution whose accesses so far do not
//! race, both threads have the values that the program gives their loads. Relies on: [`selection`]; the sort
//! order of stage 4; every two threads of a launch are checked for races.
//! Reference: Bardsley et al. (equality abstraction); Chong et al. (barrier invariants).
//!
//! An array `A` has an *epoch*, and `contents.A.4(epoch, offset)`, of which nothing is known, is what memory held when
//! the epoch began. A new epoch is arbitrary, so anything may be there. The threads of a block have one epoch; those
//! of two blocks have one each, which start equal for global arrays. A thread sees its own stores of this
//! epoch (*pending*) in front of the contents, those of the other thread never.
//!
//! Why this is sound. Let all threads run in lock-step, as stage 4 orders their statements, to the first race or to the
//! end. Let a thread load a byte before. No other thread has written it since the last barrier that both passed: that
//! were an earlier race. (For a global array: no thread of another block ever does.) So the byte is what the thread
//! itself wrote last since that barrier, or else what was there when all threads of the block were at the barrier, which
//! is one thing for the block. So the program has the values of this execution up to its first race, which is an assertion
//! of the pair that races. And where lock-step shows no race, no other order of the same interval does, as all loads
//! yield the same. An epoch begins
//!
//! - at each barrier behind a store of the array, whoever takes part: barriers of a part of the block are refused before,
//!   and two threads of a block that do not meet there fail the assertion of the barrier. What a thread stored before
//!   (*settled*) both threads still find, and [`threads`] tells what others stored;
//! - at the head of each loop with a store of the array, and behind it: what earlier rounds stored is then in the
//!   contents, which for a byte that a thread may load without a race are the same for both threads. Likewise at
//!   the head of a loop with a barrier that ends an interval with stores;
//! - when more than [`MOST_PENDING`] stores are pending, and at a store of another type, for the same reason.
//!
//! Atomics on shared arrays ([`Selection`]) count as stores of values that are not known. In the interval of one the array's loads are
//! arbitrary, and so is the epoch that begins at the barrier behind it: what memory held when all threads were at this barrier.
//! A later load of a byte that another thread changes in its interval, also atomically, races with that, so the argument
//! above stays as it is. Atomics of different threads on one byte do not race, so nothing is settled or tabled behind them. What an
//! atomic with a ticket returns ([`Contents::atomic`]) is near to what the counter held when the interval began, if no
//! store of this thread came between: those of others would race with the atomic, and all additions together change
//! the counter by less than `kernel::tickets` says.
//!
//! Barrier invariants (`kernel::barrier_invariant`, [`super::barrier_invariants`]) read contents too. In front of the
//! barrier such a read is one like any other: logged, checked, and of the value that the thread sees. Behind it, where an
//! epoch begins if anything was stored, a ghost load is what memory holds at that moment, for whatever thread the fact is
//! about, and is neither logged nor checked. What is assumed of it is what thread e asserted: all threads of the block have
//! come to the barrier, or an assertion fails; e asserted its fact on the way, in the pairs that have e; no other thread has
//! written what e read since the barrier before, or that read raced, so memory holds it still. So the assumption excludes
//! no execution in which all assertions hold so far. That is why none of the reasons below makes such loads arbitrary:
//! what they yield flows into these assertions and assumptions only, so it keeps no thread in a loop. The loads of the
//! kernel are what they would be without the annotation.
//!
//! Where the argument breaks, loads stay arbitrary:
//!
//! - arrays with strong, collective or non-coherent accesses, or accesses through pointers of unknown origin; global arrays
//!   with atomics;
//! - `--allow-same-value`, where others may write what a thread has written without a race;
//! - bytes that a pending store of another width or another start covers in part;
//! - loads in a loop or in front of one that may decide where control goes, and so when the loop ends. Lock-step runs a
//!   thread to its next barrier on contents that no other thread changes; one that waits for a change would wait for
//!   ever, and the race with the store that ends its waiting would be behind the loop. So would it be with an `assume`
//!   that only the changed value satisfies. A load outside of loops does not count if all changes of its shared array come before it in
//!   lock-step (`if (tid == 0) last = ...; barrier; if (last) { loop }`): whoever changes in the same interval what it reads has
//!   done so, and that race is in front of the loop. Loops in which each way around passes a barrier (`LoopInfo::is_stepped`) do not
//!   count, unless there are others in them: no thread can go round and round in one interval, so lock-step comes to its end. That goes for
//!   kernels that load no written global array there: between blocks nothing ends an interval, so a block might wait for
//!   the plain store of another one with barriers of its own.

pub(crate) mod selection;
mod threads;

use super::array_facts::initially;
use super::copies::Copies;
use super::{Options, Pair};
use crate::ivl::ast::{
    Access, Array, ArraySpace, ExprKind, ExprRef, Function, Implementation, Name, Program, Stmt, StmtKind, Thread,
    Type, Variable,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::claim::Premise;
use crate::kernel::{INITIALLY, TICKET, signed};
use crate::predicate::{LoopInfo, Predicated};
use crate::span::Span;
use selection::{Position, Selection};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use threads::{Definitions, Open, Table};

pub(crate) use threads::Obtained;

/// Stores that a load looks back to.
const MOST_PENDING: usize = 12;

/// The prefix of the functions that stand for contents: `contents.A.4(epoch, offset)` has 4 bytes.
pub const PREFIX: &str = "contents.";

/// A store that both threads have come to since the epoch began.
struct Pending {
    bytes: u32,
    /// Guard, place and value in the text.
    text: [ExprRef; 3],
    /// For each thread: whether it did, where, and what it stored.
    by: [Stored; 2],
}

struct Stored {
    active: ExprRef,
    offset: ExprRef,
    value: ExprRef,
}

/// The contents of arrays on the way through the kernel.
pub(crate) struct Contents<'a> {
    copies: &'a Copies,
    pair: Pair,
    selection: Selection,
    /// Spaces of the arrays with contents.
    spaces: BTreeMap<Name, ArraySpace>,
    /// Stores that are in front of the contents, oldest first.
    pending: BTreeMap<Name, Vec<Pending>>,
    /// Those before the last barrier.
    settled: BTreeMap<Name, Vec<Pending>>,
    /// What all threads stored before it.
    tables: BTreeMap<Name, Table>,
    /// Arrays of which is stated what they hold at the start.
    stated: BTreeSet<Name>,
    /// Arrays with stores or atomics since the last barrier.
    stored: BTreeSet<Name>,
    /// Arrays with atomics since the last barrier.
    shaken: BTreeSet<Name>,
    /// Arrays to which no thread has stored since the last barrier.
    fresh: BTreeSet<Name>,
    /// Arrays with atomics.
    atomics: BTreeSet<Name>,
    /// Arrays that are stored to in a loop, by the labels of its head and its exit.
    changed: BTreeMap<Name, BTreeSet<Name>>,
    /// Heads of loops with barriers.
    synchronised: BTreeSet<Name>,
    definitions: Definitions,
    exited_ok: bool,
    numbered: usize,
    /// Locals introduced.
    pub(crate) introduced: Vec<Variable>,
    /// Functions introduced, by name.
    pub(crate) declared: BTreeMap<Name, Function>,
}

impl<'a> Contents<'a> {
    /// Selects the arrays with contents.
    pub(crate) fn new(
        predicated: &Predicated,
        body: &Implementation,
        copies: &'a Copies,
        pair: Pair,
        options: &Options,
    ) -> Contents<'a> {
        let wanted = options.contents && !options.rules.allow_same_value;
        let selection = if wanted { Selection::of(predicated, body) } else { Selection::default() };
        let spaces: BTreeMap<Name, ArraySpace> = spaces(&predicated.program, &selection);
        let mut this = Contents {
            copies,
            pair,
            changed: changed(body, &predicated.loops, &selection),
            synchronised: synchronised(body, &predicated.loops),
            definitions: Definitions::of(predicated, body, options.geometry.block),
            exited_ok: options.rules.exited_threads_ok,
            selection,
            pending: BTreeMap::new(),
            settled: BTreeMap::new(),
            tables: BTreeMap::new(),
            stated: stated(body),
            stored: BTreeSet::new(),
            shaken: BTreeSet::new(),
            fresh: spaces.keys().cloned().collect(),
            atomics: atomics(body),
            numbered: 0,
            introduced: Vec::new(),
            declared: BTreeMap::new(),
            spaces,
        };
        for array in this.spaces.keys() {
            let epochs: BTreeSet<Name> =
                Thread::BOTH.into_iter().map(|thread| this.epoch_name(array, thread)).collect();
            let local = |name| Variable {
                name,
                ty: Type::Bv(64),
                where_clause: None,
                attributes: Vec::new(),
                span: Span::NONE,
            };
            this.introduced.extend(epochs.into_iter().map(local));
        }
        this
    }

    /// The arrays with contents.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// At the start: two blocks find the same in a global array. Its first epoch is 0 where something is stated of it.
    pub(crate) fn start(&self) -> Vec<Stmt> {
        let common = self.spaces.iter().filter(|(_, space)| **space == ArraySpace::Global).map(|(array, _)| array);
        let mut out = Vec::new();
        for array in common {
            let mut set = |thread: Thread, value| {
                out.push(statement(StmtKind::Assign(vec![(self.epoch_name(array, thread), value)])));
            };
            if self.stated.contains(array) {
                set(Thread::First, bv::literal(0, 64));
            }
            if self.pair != Pair::SameBlock {
                set(Thread::Second, self.epoch(array, Thread::First));
            }
        }
        out
    }

    /// At the head of a loop or behind it, by the label of that block.
    pub(crate) fn at_block(&mut self, label: &Name) -> Vec<Stmt> {
        let mut arrays = self.changed.get(label).cloned().unwrap_or_default();
        arrays.retain(|array| self.spaces.contains_key(array));
        self.stored.extend(arrays.iter().cloned());
        self.shaken.extend(arrays.intersection(&self.atomics).cloned());
        if self.synchronised.contains(label) {
            // The barriers of a round end what was before the loop.
            arrays.extend(self.stored.iter().cloned());
        }
        self.fresh.retain(|array| !arrays.contains(array));
        arrays.iter().map(|array| self.new_epoch(array)).collect()
    }

    /// At a barrier with this guard. Arrays without a store since the last one keep what they hold.
    pub(crate) fn barrier(&mut self, stmt: &Stmt, guard: Option<&ExprRef>) -> Vec<Stmt> {
        let always = bv::boolean(true);
        let guard = guard.unwrap_or(&always);
        let mut out = Vec::new();
        let mut passed = None;
        for array in std::mem::take(&mut self.stored) {
            let pending = self.pending.remove(&array).unwrap_or_default();
            let epoch = self.new_epoch(&array);
            out.push(Stmt { origin: stmt.origin.clone(), span: stmt.span, ..epoch });
            // A thread that has left the kernel need not have come to the stores.
            if !pending.is_empty() && !self.exited_ok {
                let passed = passed.get_or_insert_with(|| self.keep_guard(guard, &mut out)).clone();
                let open = |store: &Pending| {
                    let [guard, place, value] = store.text.clone();
                    Open { bytes: store.bytes, guard, place, value }
                };
                let stores: Vec<Open> = pending.iter().map(open).collect();
                self.tables.insert(array.clone(), Table::new(&self.definitions, guard, &stores, passed));
            }
            self.settled.insert(array, pending);
        }
        self.shaken.clear();
        self.fresh = self.spaces.keys().cloned().collect();
        out
    }

    /// Variables that say whether the threads passed the barrier.
    fn keep_guard(&mut self, guard: &ExprRef, out: &mut Vec<Stmt>) -> [ExprRef; 2] {
        let stem = Name::from(format!("passed.{}", self.number()));
        Thread::BOTH.map(|thread| {
            let name = stem.of(thread);
            self.introduce(name.clone(), Type::Bool);
            out.push(statement(StmtKind::Assign(vec![(name.clone(), self.copies.expr(guard, thread))])));
            bv::var(name, Type::Bool)
        })
    }

    fn number(&mut self) -> usize {
        self.numbered += 1;
        self.numbered - 1
    }

    fn new_epoch(&mut self, array: &Name) -> Stmt {
        self.pending.remove(array);
        self.settled.remove(array);
        self.tables.remove(array);
        let epochs: BTreeSet<Name> = Thread::BOTH.into_iter().map(|thread| self.epoch_name(array, thread)).collect();
        statement(StmtKind::Havoc(epochs.into_iter().collect()))
    }

    /// Behind a store at `offset`, in bytes.
    pub(crate) fn store(&mut self, stmt: &Stmt, access: &Access, offset: &ExprRef, value: &ExprRef) -> Vec<Stmt> {
        if !self.spaces.contains_key(&access.array) {
            return Vec::new();
        }
        self.stored.insert(access.array.clone());
        self.fresh.remove(&access.array);
        if self.shaken.contains(&access.array) {
            return Vec::new();
        }
        let known = self.pending.get(&access.array).map_or(0, Vec::len);
        if value.ty != Type::Bv(8 * access.bytes) || known == MOST_PENDING {
            return vec![Stmt { origin: stmt.origin.clone(), ..self.new_epoch(&access.array) }];
        }
        let active = access.own_guard().unwrap_or_else(|| bv::boolean(true));
        let number = self.number();
        let text = [active.clone(), offset.clone(), value.clone()];
        let mut pairs = Vec::new();
        let mut keep = |this: &mut Self, what: &str, thread: Thread, e: &ExprRef| {
            let name = Name::from(format!("stored.{what}.{number}")).of(thread);
            this.introduce(name.clone(), e.ty.clone());
            pairs.push((name.clone(), this.copies.expr(e, thread)));
            bv::var(name, e.ty.clone())
        };
        let by = Thread::BOTH.map(|thread| Stored {
            active: keep(self, "active", thread, &active),
            offset: keep(self, "offset", thread, offset),
            value: keep(self, "value", thread, value),
        });
        self.pending.entry(access.array.clone()).or_default().push(Pending { bytes: access.bytes, text, by });
        vec![Stmt { attributes: Vec::new(), kind: StmtKind::Assign(pairs), ..stmt.clone() }]
    }

    /// The value of the load at a place, at `offset` in bytes; `None` if it is arbitrary.
    pub(crate) fn load(
        &mut self,
        stmt: &Stmt,
        at: &Position,
        dst: &Name,
        access: &Access,
        offset: &ExprRef,
    ) -> Option<Vec<Stmt>> {
        let ty = Type::Bv(8 * access.bytes);
        if self.shaken.contains(&access.array) {
            return None;
        }
        if !self.selection.loads.contains(at) || self.copies.doubled.get(dst) != Some(&ty) {
            return None;
        }
        let mut out = Vec::new();
        let mut pairs = Vec::new();
        for thread in Thread::BOTH {
            let offset = self.copies.expr(offset, thread);
            // What a pending store covers in part is arbitrary.
            let unknown = Name::from(format!("mixed.bv{}", 8 * access.bytes)).of(thread);
            let other = bv::var(unknown.clone(), ty.clone());
            let mut value = self.value(&access.array, access.bytes, thread, &offset, &other);
            // An inactive thread does not look at the value; one that only skips the load may.
            let skips = access.guard.as_ref().filter(|guard| !matches!(guard.kind, ExprKind::Var(_)));
            if let Some(guard) = skips {
                value = bv::ite(self.copies.expr(guard, thread), value, other);
            }
            if skips.is_some() || self.pending.contains_key(&access.array) {
                self.introduce(unknown.clone(), ty.clone());
                out.push(Stmt { kind: StmtKind::Havoc(vec![unknown]), ..stmt.clone() });
            }
            pairs.push((dst.of(thread), value));
        }
        out.push(Stmt { kind: StmtKind::Assign(pairs), ..stmt.clone() });
        let function = self.function(&access.array, access.bytes);
        let first = |offset: &ExprRef| bv::call(function.clone(), vec![bv::literal(0, 64), offset.clone()], ty.clone());
        out.extend(initially(stmt, self.copies, offset, &first));
        Some(out)
    }

    /// Behind a load of a place whose value is modelled: the tickets that each thread may have found there, which some thread of its
    /// block got, and when. Only two blocks have a use for that: a value that is one block's is not the other's.
    pub(crate) fn tickets(&self, access: &Access, offset: &ExprRef) -> Vec<(Thread, ExprRef, Obtained)> {
        let Some(table) = self.tables.get(&access.array) else { return Vec::new() };
        // Else the thread may find what it stored itself since.
        if self.pair != Pair::DifferentBlocks || self.pending.contains_key(&access.array) {
            return Vec::new();
        }
        let own = access.own_guard().unwrap_or_else(|| bv::boolean(true));
        let of = |thread: Thread| {
            let (own, offset) = (self.copies.expr(&own, thread), self.copies.expr(offset, thread));
            let found = table.tickets(&self.definitions, self.copies, thread, (&offset, access.bytes)).into_iter();
            let found = found.map(|(holds, ticket)| (thread, bv::and(own.clone(), holds), ticket));
            found.collect::<Vec<_>>()
        };
        Thread::BOTH.into_iter().flat_map(of).collect()
    }

    /// Behind an atomic at `offset`, in bytes, and what tickets say of its result.
    pub(crate) fn atomic(&mut self, stmt: &Stmt, dst: Option<&Name>, access: &Access, offset: &ExprRef) -> Vec<Stmt> {
        let array = &access.array;
        if !self.spaces.contains_key(array) {
            return Vec::new();
        }
        let mut out = Vec::new();
        let ty = Type::Bv(8 * access.bytes);
        let change = signed(stmt, TICKET).filter(|_| self.fresh.contains(array));
        if let (Some(change), Some(dst)) = (change, dst.filter(|dst| self.copies.doubled.get(*dst) == Some(&ty))) {
            let own = access.own_guard().unwrap_or_else(|| bv::boolean(true));
            for thread in Thread::BOTH {
                let offset = self.copies.expr(offset, thread);
                let result = bv::var(dst.of(thread), ty.clone());
                // Nothing is pending.
                let first = self.value(array, access.bytes, thread, &offset, &result);
                let gone = if change < 0 { bv::sub(first, result) } else { bv::sub(result, first) };
                let is_near = bv::binary(BvOp::Ult, gone, bv::literal(change.unsigned_abs(), 8 * access.bytes));
                let holds = bv::implies(self.copies.expr(&own, thread), is_near);
                let kind = StmtKind::Assume(Premise::Instance(Arc::from(TICKET)), holds);
                out.push(Stmt { kind, attributes: Vec::new(), ..stmt.clone() });
            }
        }
        self.stored.insert(array.clone());
        self.shaken.insert(array.clone());
        self.pending.remove(array);
        out
    }

    /// What a thread sees at its offset; `unknown` where that is not modelled.
    fn value(&mut self, array: &Name, bytes: u32, thread: Thread, offset: &ExprRef, unknown: &ExprRef) -> ExprRef {
        let function = self.function(array, bytes);
        let args = vec![self.epoch(array, thread), offset.clone()];
        let contents = bv::call(function, args, Type::Bv(8 * bytes));
        let contents = match self.tables.get(array) {
            Some(table) => table.value(&self.definitions, self.copies, thread, (offset, bytes), contents),
            None => contents,
        };
        let settled = self.settled(array, bytes, thread, offset, contents);
        self.pending.get(array).into_iter().flatten().fold(settled, |before, store| {
            let Stored { active, offset: start, value } = &store.by[thread.number() as usize - 1];
            let touches = touches(start, store.bytes, offset, bytes);
            let otherwise = bv::ite(bv::and(active.clone(), touches), unknown.clone(), before);
            if store.bytes != bytes {
                return otherwise;
            }
            bv::ite(bv::and(active.clone(), bv::eq(start.clone(), offset.clone())), value.clone(), otherwise)
        })
    }

    /// What a thread sees of stores before the last barrier, its own and, in one block, the other thread's; what is not
    /// known is in the contents.
    fn settled(&self, array: &Name, bytes: u32, thread: Thread, offset: &ExprRef, contents: ExprRef) -> ExprRef {
        let seen = |by: &&Thread| **by == thread || self.pair == Pair::SameBlock;
        let stores = self.settled.get(array).map(Vec::as_slice).unwrap_or_default();
        Thread::BOTH.iter().filter(seen).fold(contents.clone(), |before, by| {
            stores.iter().fold(before, |before, store| {
                let Stored { active, offset: start, value } = &store.by[by.number() as usize - 1];
                let hides = bv::and(active.clone(), touches(start, store.bytes, offset, bytes));
                let otherwise = if before == contents { before } else { bv::ite(hides, contents.clone(), before) };
                if store.bytes != bytes {
                    return otherwise;
                }
                bv::ite(bv::and(active.clone(), bv::eq(start.clone(), offset.clone())), value.clone(), otherwise)
            })
        })
    }

    fn function(&mut self, array: &Name, bytes: u32) -> Name {
        let name = Name::from(format!("{PREFIX}{array}.{bytes}"));
        let function = || Function {
            name: name.clone(),
            params: ["epoch", "offset"].map(|name| (Name::from(name), Type::Bv(64))).to_vec(),
            result: Type::Bv(8 * bytes),
            body: None,
            attributes: Vec::new(),
            span: Span::NONE,
        };
        self.declared.entry(name.clone()).or_insert_with(function);
        name
    }

    fn epoch_name(&self, array: &Name, thread: Thread) -> Name {
        let name = Name::from(format!("epoch.{array}"));
        if self.pair == Pair::SameBlock { name } else { name.of(thread) }
    }

    fn epoch(&self, array: &Name, thread: Thread) -> ExprRef {
        bv::var(self.epoch_name(array, thread), Type::Bv(64))
    }

    fn introduce(&mut self, name: Name, ty: Type) {
        if !self.introduced.iter().any(|known| known.name == name) {
            self.introduced.push(Variable::new(name, ty));
        }
    }
}

/// The arrays with loads of which is stated what was there at the start.
fn stated(body: &Implementation) -> BTreeSet<Name> {
    let stmts = body.blocks.iter().flat_map(|block| &block.stmts);
    let arrays = stmts.filter_map(|stmt| match &stmt.kind {
        StmtKind::Load { access, .. } if stmt.attributes.has(INITIALLY) => Some(access.array.clone()),
        _ => None,
    });
    arrays.collect()
}

fn spaces(program: &Program, selection: &Selection) -> BTreeMap<Name, ArraySpace> {
    let selected = program.arrays.iter().filter(|array| selection.arrays.contains(&array.name));
    selected.map(|array: &Array| (array.name.clone(), array.space)).collect()
}

/// The arrays with atomics.
fn atomics(body: &Implementation) -> BTreeSet<Name> {
    let stmts = body.blocks.iter().flat_map(|block| &block.stmts);
    let arrays = stmts.filter_map(|stmt| match &stmt.kind {
        StmtKind::Atomic { access, .. } => Some(access.array.clone()),
        _ => None,
    });
    arrays.collect()
}

/// The arrays that are stored to in a loop, or changed by atomics, for its head and for its exit.
fn changed(body: &Implementation, loops: &[LoopInfo], selection: &Selection) -> BTreeMap<Name, BTreeSet<Name>> {
    let mut changed: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    for this in loops {
        for stmt in statements(body, this) {
            if let StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } = &stmt.kind
                && selection.arrays.contains(&access.array)
            {
                for label in [&this.head, &this.exit] {
                    changed.entry(label.clone()).or_default().insert(access.array.clone());
                }
            }
        }
    }
    changed
}

/// The heads of loops with barriers.
fn synchronised(body: &Implementation, loops: &[LoopInfo]) -> BTreeSet<Name> {
    let has_barrier = |this: &&LoopInfo| statements(body, this).any(|stmt| matches!(stmt.kind, StmtKind::Barrier(_)));
    loops.iter().filter(has_barrier).map(|this| this.head.clone()).collect()
}

fn statements<'s>(body: &'s Implementation, this: &'s LoopInfo) -> impl Iterator<Item = &'s Stmt> {
    body.blocks.iter().filter(|block| this.blocks.contains(&block.label)).flat_map(|block| &block.stmts)
}

/// Whether an access of `bytes` bytes from `start` on and one of `width` bytes from `offset` on have a byte in common.
fn touches(start: &ExprRef, bytes: u32, offset: &ExprRef, width: u32) -> ExprRef {
    let reaches = |from: &ExprRef, to: &ExprRef, bytes: u32| {
        bv::binary(BvOp::Ult, bv::sub(to.clone(), from.clone()), bv::literal(u128::from(bytes), 64))
    };
    bv::or(reaches(start, offset, bytes), reaches(offset, start, width))
}

fn statement(kind: StmtKind) -> Stmt {
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
}
