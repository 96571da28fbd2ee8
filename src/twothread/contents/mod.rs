//! What shared arrays hold between barriers, where that can matter (equality abstraction).
//!
//! Input: the predicated kernel, its accesses one after the other. Output: for each load of an array with contents its
//! value for both threads; statements that keep the contents. Establishes: in an execution whose accesses so far do not
//! race, both threads have the values that the program gives their loads. Relies on: [`selection`]; the sort
//! order of stage 4; every two threads of a launch are checked for races.
//! Reference: Bardsley et al. (equality abstraction); Collingbourne et al. (barrier invariants).
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
//! - at each barrier, whoever takes part: barriers of a part of the block are refused before, and two threads of a block
//!   that do not meet there fail the assertion of the barrier;
//! - at the head of each loop with a barrier or a store of the array, and behind it: what earlier rounds stored is then
//!   in the contents, which for a byte that a thread may load without a race are the same for both threads;
//! - when more than [`MOST_PENDING`] stores are pending, and at a store of another type, for the same reason.
//!
//! Where the argument breaks, loads stay arbitrary:
//!
//! - arrays with atomics, strong, collective or non-coherent accesses, or accesses through pointers of unknown origin;
//! - `--allow-same-value`, where others may write what a thread has written without a race;
//! - bytes that a pending store of another width or another start covers in part;
//! - loads in a loop that may decide when it ends. Lock-step runs a thread to its next barrier on contents that no other
//!   thread changes; one that waits for a change would wait for ever, and the race with the store that ends its
//!   waiting would be behind the loop. So would it be with an `assume` that only the changed value satisfies.

pub mod selection;

use super::copies::{Copies, THREADS, Thread};
use super::{Options, Pair};
use crate::ivl::ast::{
    Access, Array, ArraySpace, ExprKind, ExprRef, Function, Implementation, Name, Program, Stmt, StmtKind, Type,
    Variable,
};
use crate::ivl::bv::{self, BvOp};
use crate::predicate::{LoopInfo, Predicated};
use crate::span::Span;
use selection::{Position, Selection};
use std::collections::{BTreeMap, BTreeSet};

/// Stores that a load looks back to.
const MOST_PENDING: usize = 12;

/// The prefix of the functions that stand for contents: `contents.A.4(epoch, offset)` has 4 bytes.
pub const PREFIX: &str = "contents.";

/// A store that both threads have executed since the epoch began.
struct Pending {
    bytes: u32,
    /// For each thread: whether it did, where, and what it stored.
    by: [Stored; 2],
}

struct Stored {
    active: ExprRef,
    offset: ExprRef,
    value: ExprRef,
}

/// The contents of arrays on the way through the kernel.
pub struct Contents<'a> {
    copies: &'a Copies,
    pair: Pair,
    selection: Selection,
    /// Spaces of the arrays with contents.
    spaces: BTreeMap<Name, ArraySpace>,
    /// Stores that are in front of the contents, oldest first.
    pending: BTreeMap<Name, Vec<Pending>>,
    /// Arrays whose contents change in a loop, by the labels of its head and its exit.
    changed: BTreeMap<Name, BTreeSet<Name>>,
    stores: usize,
    /// Locals introduced.
    pub introduced: Vec<Variable>,
    /// Functions introduced, by name.
    pub declared: BTreeMap<Name, Function>,
}

impl<'a> Contents<'a> {
    /// Selects the arrays with contents.
    pub fn new(
        predicated: &Predicated,
        body: &Implementation,
        copies: &'a Copies,
        pair: Pair,
        options: &Options,
    ) -> Contents<'a> {
        let wanted = options.contents && !options.allow_same_value;
        let selection = if wanted { Selection::of(predicated, body) } else { Selection::default() };
        let spaces: BTreeMap<Name, ArraySpace> = spaces(&predicated.program, &selection);
        let mut this = Contents {
            copies,
            pair,
            changed: changed(body, &predicated.loops, &selection),
            selection,
            pending: BTreeMap::new(),
            stores: 0,
            introduced: Vec::new(),
            declared: BTreeMap::new(),
            spaces,
        };
        for array in this.spaces.keys() {
            let epochs: BTreeSet<Name> = THREADS.into_iter().map(|thread| this.epoch_name(array, thread)).collect();
            let local = |name| Variable { name, ty: Type::Bv(64), attributes: Vec::new(), span: Span::NONE };
            this.introduced.extend(epochs.into_iter().map(local));
        }
        this
    }

    /// At the start: two blocks find the same in a global array.
    pub fn start(&self) -> Vec<Stmt> {
        let common = self.spaces.iter().filter(|(_, space)| **space == ArraySpace::Global).map(|(array, _)| array);
        let common = common.filter(|_| self.pair != Pair::SameBlock);
        let equal = |array: &Name| {
            let value = self.epoch(array, Thread::First);
            statement(StmtKind::Assign(vec![(self.epoch_name(array, Thread::Second), value)]))
        };
        common.map(equal).collect()
    }

    /// At the head of a loop or behind it, by the label of that block.
    pub fn at_block(&mut self, label: &Name) -> Vec<Stmt> {
        let arrays = self.changed.get(label).cloned().unwrap_or_default();
        arrays.iter().map(|array| self.new_epoch(array)).collect()
    }

    /// At a barrier.
    pub fn barrier(&mut self, stmt: &Stmt) -> Vec<Stmt> {
        let arrays: Vec<Name> = self.spaces.keys().cloned().collect();
        let begin = |array: &Name| Stmt { origin: stmt.origin.clone(), span: stmt.span, ..self.new_epoch(array) };
        arrays.iter().map(begin).collect()
    }

    fn new_epoch(&mut self, array: &Name) -> Stmt {
        self.pending.remove(array);
        let epochs: BTreeSet<Name> = THREADS.into_iter().map(|thread| self.epoch_name(array, thread)).collect();
        statement(StmtKind::Havoc(epochs.into_iter().collect()))
    }

    /// Behind a store at `offset`, in bytes.
    pub fn store(&mut self, stmt: &Stmt, access: &Access, offset: &ExprRef, value: &ExprRef) -> Vec<Stmt> {
        if !self.spaces.contains_key(&access.array) {
            return Vec::new();
        }
        let known = self.pending.get(&access.array).map_or(0, Vec::len);
        if value.ty != Type::Bv(8 * access.bytes) || known == MOST_PENDING {
            return vec![Stmt { origin: stmt.origin.clone(), ..self.new_epoch(&access.array) }];
        }
        let active = access.own_guard().unwrap_or_else(|| bv::boolean(true));
        let number = self.stores;
        self.stores += 1;
        let mut pairs = Vec::new();
        let mut keep = |this: &mut Self, what: &str, thread: Thread, e: &ExprRef| {
            let name = thread.copy(&Name::from(format!("stored.{what}.{number}")));
            this.introduce(name.clone(), e.ty.clone());
            pairs.push((name.clone(), this.copies.expr(e, thread)));
            bv::var(name, e.ty.clone())
        };
        let by = THREADS.map(|thread| Stored {
            active: keep(self, "active", thread, &active),
            offset: keep(self, "offset", thread, offset),
            value: keep(self, "value", thread, value),
        });
        self.pending.entry(access.array.clone()).or_default().push(Pending { bytes: access.bytes, by });
        vec![Stmt { attributes: Vec::new(), kind: StmtKind::Assign(pairs), ..stmt.clone() }]
    }

    /// The value of the load at a place, at `offset` in bytes; `None` if it is arbitrary.
    pub fn load(
        &mut self,
        stmt: &Stmt,
        at: &Position,
        dst: &Name,
        access: &Access,
        offset: &ExprRef,
    ) -> Option<Vec<Stmt>> {
        let ty = Type::Bv(8 * access.bytes);
        if !self.selection.loads.contains(at) || self.copies.doubled.get(dst) != Some(&ty) {
            return None;
        }
        let mut out = Vec::new();
        let mut pairs = Vec::new();
        for thread in THREADS {
            let offset = self.copies.expr(offset, thread);
            // What a pending store covers in part is arbitrary.
            let unknown = thread.copy(&Name::from(format!("mixed.bv{}", 8 * access.bytes)));
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
            pairs.push((thread.copy(dst), value));
        }
        out.push(Stmt { kind: StmtKind::Assign(pairs), ..stmt.clone() });
        Some(out)
    }

    /// What a thread sees at its offset; `unknown` where that is not modelled.
    fn value(&mut self, array: &Name, bytes: u32, thread: Thread, offset: &ExprRef, unknown: &ExprRef) -> ExprRef {
        let function = self.function(array, bytes);
        let args = vec![self.epoch(array, thread), offset.clone()];
        let contents = bv::call(function, args, Type::Bv(8 * bytes));
        let pending = self.pending.get(array).into_iter().flatten();
        pending.fold(contents, |before, store| {
            let Stored { active, offset: start, value } = &store.by[thread.number() as usize - 1];
            let reaches = |from: &ExprRef, to: &ExprRef, bytes: u32| {
                bv::binary(BvOp::Ult, bv::sub(to.clone(), from.clone()), bv::literal(u128::from(bytes), 64))
            };
            let touches = bv::or(reaches(start, offset, store.bytes), reaches(offset, start, bytes));
            let otherwise = bv::ite(bv::and(active.clone(), touches), unknown.clone(), before);
            if store.bytes != bytes {
                return otherwise;
            }
            bv::ite(bv::and(active.clone(), bv::eq(start.clone(), offset.clone())), value.clone(), otherwise)
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
        if self.pair == Pair::SameBlock { name } else { thread.copy(&name) }
    }

    fn epoch(&self, array: &Name, thread: Thread) -> ExprRef {
        bv::var(self.epoch_name(array, thread), Type::Bv(64))
    }

    fn introduce(&mut self, name: Name, ty: Type) {
        if !self.introduced.iter().any(|known| known.name == name) {
            self.introduced.push(Variable { name, ty, attributes: Vec::new(), span: Span::NONE });
        }
    }
}

fn spaces(program: &Program, selection: &Selection) -> BTreeMap<Name, ArraySpace> {
    let selected = program.arrays.iter().filter(|array| selection.arrays.contains(&array.name));
    selected.map(|array: &Array| (array.name.clone(), array.space)).collect()
}

/// The arrays whose contents change in a loop, for its head and for its exit.
fn changed(body: &Implementation, loops: &[LoopInfo], selection: &Selection) -> BTreeMap<Name, BTreeSet<Name>> {
    let mut changed: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    for this in loops {
        let blocks = body.blocks.iter().filter(|block| this.blocks.contains(&block.label));
        let mut arrays = BTreeSet::new();
        for stmt in blocks.flat_map(|block| &block.stmts) {
            match &stmt.kind {
                StmtKind::Barrier(_) => arrays.extend(selection.arrays.iter().cloned()),
                StmtKind::Store { access, .. } if selection.arrays.contains(&access.array) => {
                    arrays.insert(access.array.clone());
                }
                _ => {}
            }
        }
        for label in [&this.head, &this.exit] {
            changed.entry(label.clone()).or_default().extend(arrays.iter().cloned());
        }
    }
    changed
}

fn statement(kind: StmtKind) -> Stmt {
    Stmt { kind, attributes: Vec::new(), span: Span::NONE, origin: None }
}
