//! Who writes flags: what numbers, where, and that nobody else does.
//!
//! Input: the blocks. Output: [`Write`]s, [`Writer`]s. Establishes: [`Ways::writes`] gives an array only if all that may change it are
//! single accesses of one width that write a number; [`Ways::is_unique`] holds only if no two threads (of a block, if the
//! array is in shared memory) write one word. Relies on: ids of threads and blocks tell threads apart; there are fewer than 2^31
//! blocks along an axis, and at most 1,024 threads in a block. Reference: PTX ISA, `%tid`, `%ctaid`, `atom`.

use super::super::completion::{RELEASES, accessed, equalities, equations};
use super::super::numbers::number;
use super::super::paths::Position;
use super::super::polynomial::Polynomial;
use super::super::regions::Space;
use super::super::winners::{COMPARES, EXCHANGES, SETS};
use super::{Ways, is_read};
use crate::ivl::ast::{Access, AttributeArg, ExprKind, ExprRef, Name, Stmt, StmtKind, Type};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, Builtin, BvOp, parse_builtin};
use crate::ivl::visit::{free_vars, substitute};
use crate::twothread::copies::Variation;
use std::collections::BTreeMap;

/// Axes with more threads or blocks than this are not looked through.
const MOST_IDS: u32 = 64;

/// A place that writes a number.
pub(super) struct Write<'b> {
    pub(super) at: Position,
    pub(super) access: &'b Access,
    pub(super) number: u128,
    pub(super) releases: bool,
    /// It sets the bits of the number, which gives the number if nothing else is written.
    sets: bool,
}

impl<'b> Write<'b> {
    /// An addition of 1.
    pub(super) fn addition(at: Position, access: &'b Access, releases: bool) -> Write<'b> {
        Write { at, access, number: 1, releases, sets: false }
    }
}

/// The threads that come to a writing, and which words they write.
#[derive(Clone, PartialEq)]
pub(super) struct Writer {
    /// The byte offset over constants, without the ids that are known.
    pub(super) word: ExprRef,
    /// The ids that the branches on the way tell, over constants of the launch.
    ids: BTreeMap<Name, ExprRef>,
    /// The ids of short axes that the branches let through, where they are not all.
    some: BTreeMap<Name, Vec<u32>>,
}

impl Writer {
    /// Whether an id is known.
    pub(super) fn knows(&self, id: &Name) -> bool {
        self.ids.contains_key(id)
    }

    /// An expression of a thread that writes, without the ids that are known.
    pub(super) fn over_launch(&self, e: &ExprRef) -> ExprRef {
        substitute(e, &self.ids)
    }

    /// How many ids of an axis of that size there are.
    pub(super) fn count(&self, id: &Name, size: u32) -> u128 {
        self.some.get(id).map_or(u128::from(size), |some| some.len() as u128)
    }

    /// Whether ids of a thread are those of one that writes, of the ids that are asked for; if nobody writes, no thread's are.
    pub(super) fn is_it(&self, asked: impl Fn(&Name) -> bool) -> ExprRef {
        let equal = |name: &Name, value: ExprRef| bv::eq(bv::var(name.clone(), value.ty.clone()), value);
        let known = self.ids.iter().filter(|(name, _)| asked(name)).map(|(name, value)| equal(name, value.clone()));
        let one_of = |(name, some): (&Name, &Vec<u32>)| {
            let ids = some.iter().map(|id| equal(name, bv::literal(u128::from(*id), 32)));
            ids.fold(bv::boolean(false), bv::or)
        };
        let is_asked = |(name, some): &(&Name, &Vec<u32>)| some.is_empty() || asked(name) && !self.knows(name);
        let some = self.some.iter().filter(is_asked).map(one_of);
        known.chain(some).fold(bv::boolean(true), bv::and)
    }
}

impl<'b> Ways<'_, 'b> {
    /// The arrays into which only numbers are written, with what writes them.
    pub(super) fn writes(&self) -> BTreeMap<&'b Name, Vec<Write<'b>>> {
        let mut found: BTreeMap<&Name, Option<Vec<Write<'b>>>> = BTreeMap::new();
        for (at, stmt) in self.paths.statements().filter(|(_, stmt)| !is_read(stmt)) {
            let Some(access) = accessed(stmt) else { continue };
            let known = found.entry(&access.array).or_insert_with(|| Some(Vec::new()));
            let fits = |others: &Vec<Write<'_>>| others.iter().all(|one| one.access.bytes == access.bytes);
            match (known.as_mut().filter(|others| fits(others)), self.write(at, stmt, access)) {
                (Some(others), Some(write)) => others.push(write),
                _ => *known = None,
            }
        }
        let is_known = |writes: &Vec<Write<'_>>| writes.len() == 1 || writes.iter().all(|write| !write.sets);
        found.into_iter().filter_map(|(array, writes)| Some((array, writes.filter(is_known)?))).collect()
    }

    pub(super) fn write(&self, at: Position, stmt: &'b Stmt, access: &'b Access) -> Option<Write<'b>> {
        let is_known = !["unknown_pointer", super::super::ASYNCHRONOUS].iter().any(|mark| stmt.attributes.has(mark));
        if !is_known || access.collective.is_some() {
            return None;
        }
        let written = match &stmt.kind {
            StmtKind::Store { value, .. } => value,
            _ => match [EXCHANGES, COMPARES, SETS].iter().find_map(|mark| stmt.attributes.named(mark))?.args.last()? {
                AttributeArg::Expr(written) => written,
                AttributeArg::Text(_) => return None,
            },
        };
        let written = self.paths.value(written, at, &|_| false)?;
        let number = number(&written, &BTreeMap::new()).filter(|_| written.ty == Type::Bv(8 * access.bytes))?;
        let [releases, sets] = [RELEASES, SETS].map(|mark| stmt.attributes.has(mark));
        Some(Write { at, access, number, releases, sets })
    }

    /// Who writes there.
    pub(super) fn writer(&self, write: &Write<'_>) -> Option<Writer> {
        let mut some = BTreeMap::new();
        let conditions = self.paths.conditions(write.at).into_iter();
        let conditions: Vec<ExprRef> =
            conditions.filter_map(|(place, condition)| self.over_constants(condition, place)).collect();
        let mut ids = self.identified(&conditions);
        for (id, size) in self.lowering.launch.ids() {
            if let (Some(size @ ..=MOST_IDS), ExprKind::Var(name)) = (size, &id.kind) {
                let possible = possible(name, size, &conditions);
                if let [value] = possible[..] {
                    ids.entry(name.clone()).or_insert(bv::literal(u128::from(value), 32));
                }
                if possible.len() < size as usize {
                    some.insert(name.clone(), possible);
                }
            }
        }
        let word = self.over_constants(&write.access.offset, write.at)?;
        Some(Writer { word: substitute(&word, &ids), ids, some })
    }

    /// The ids that conditions tell, over constants of the launch.
    pub(super) fn identified(&self, conditions: &[ExprRef]) -> BTreeMap<Name, ExprRef> {
        let is_id = |name: &Name| self.varies.get(name).is_some_and(|one| *one != Variation::Launch);
        let mut ids = BTreeMap::new();
        for condition in conditions {
            equalities(condition, true, &mut |name, value| {
                if is_id(name) && !free_vars(value).iter().any(is_id) {
                    ids.entry(name.clone()).or_insert_with(|| value.clone());
                }
            });
            equations(condition, true, &mut |a, b| {
                let difference = Polynomial::of(a).zip(Polynomial::of(b)).map(|(a, b)| a.plus(&b, -1));
                // All ids together are below 2^32, so those whose sum is 0 are.
                let zero = difference.as_ref().and_then(Polynomial::as_sum).unwrap_or_default();
                if zero.iter().all(|name| is_id(name)) {
                    zero.into_iter().for_each(|name| {
                        ids.entry(name.clone()).or_insert_with(|| bv::literal(0, 32));
                    });
                }
            });
        }
        ids
    }

    /// Whether who knows the word knows the thread that writes it.
    pub(super) fn is_unique(&self, writer: &Writer, array: &Name) -> bool {
        let is_shared = self.lowering.space(array) == Some(Space::Shared);
        let open = self.lowering.launch.ids().into_iter().filter_map(|(id, _)| match &id.kind {
            ExprKind::Var(name) if !writer.knows(name) => Some(name.clone()),
            _ => None,
        });
        let open = open.filter(|id| !is_shared || self.varies.get(id) == Some(&Variation::Thread));
        match &open.collect::<Vec<Name>>()[..] {
            [] => true,
            [id] => self.tells_apart(&writer.word, id),
            _ => false,
        }
    }

    /// Whether an expression has another value for each value of an id.
    fn tells_apart(&self, e: &ExprRef, id: &Name) -> bool {
        let is_it = |e: &ExprRef| matches!(&e.kind, ExprKind::Var(name) if name == id);
        if is_it(e) {
            return true;
        }
        // What else stands in it is the same for all.
        let is_same = |e: &ExprRef| free_vars(e).iter().all(|name| self.varies.get(name) == Some(&Variation::Launch));
        let ExprKind::Call(name, args) = &e.kind else { return false };
        match (parse_builtin(name.as_str()), &args[..]) {
            (Some(Builtin::ZeroExtend { .. } | Builtin::SignExtend { .. }), [inner]) => self.tells_apart(inner, id),
            (Some(Builtin::Op(BvOp::Add | BvOp::Sub, _)), [a, b]) => {
                is_same(b) && self.tells_apart(a, id) || is_same(a) && self.tells_apart(b, id)
            }
            (Some(Builtin::Op(op @ (BvOp::Mul | BvOp::Shl), width)), [a, b]) => {
                let (inner, times) = if matches!(a.kind, ExprKind::Bv(_)) && op == BvOp::Mul { (b, a) } else { (a, b) };
                let ExprKind::Bv(times) = times.kind else { return false };
                // Different numbers of so many bits have different products with one of so many more.
                let more = if op == BvOp::Shl { times } else { u128::from(u128::BITS - times.leading_zeros()) };
                let is_zero = op == BvOp::Mul && times == 0;
                !is_zero && more + u128::from(self.bits(inner, id)) <= u128::from(width) && self.tells_apart(inner, id)
            }
            _ => false,
        }
    }

    /// How many bits the numbers have that an expression takes, as a signed number; all of its width if that is not known.
    fn bits(&self, e: &ExprRef, id: &Name) -> u32 {
        let is_thread = self.varies.get(id) == Some(&Variation::Thread);
        match &e.kind {
            ExprKind::Var(name) if name == id && is_thread => 11,
            ExprKind::Call(name, args) => match (parse_builtin(name.as_str()), &args[..]) {
                (Some(Builtin::ZeroExtend { from, .. }), [inner]) => self.bits(inner, id).min(from) + 1,
                (Some(Builtin::SignExtend { from, .. }), [inner]) => self.bits(inner, id).min(from),
                _ => bv::width(e),
            },
            _ => bv::width(e),
        }
    }
}

/// The ids of an axis of that size for which conditions may hold that are about them alone.
fn possible(id: &Name, size: u32, conditions: &[ExprRef]) -> Vec<u32> {
    let about: Vec<&ExprRef> = conditions.iter().filter(|condition| free_vars(condition).iter().eq([id])).collect();
    let may_be = |value: &u32| {
        let values = BTreeMap::from([(id, u128::from(*value))]);
        about.iter().all(|condition| number(condition, &values) != Some(0))
    };
    (0..size).filter(may_be).collect()
}
