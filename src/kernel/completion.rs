//! Counters that tell a block that all others are done: one thread of each block adds 1, and whoever finds one less than there are
//! blocks is of the last one.
//!
//! Input: the blocks of the kernel, before tickets are marked. Output: `{:completes n}` on the addition, where n is what the last one
//! returns; on accesses of global arrays `{:early}`, `{:early e}` (what all threads, or those for which e holds, do before their
//! block adds), `{:behind}`, `{:behind e}` (what they do when they know what it returned). Establishes: the counter is one word of a global
//! array that nothing else changes; at most one thread of each block adds to it, once, at scope gpu; an access that is
//! early comes before the addition of its block in causality order, up to the release pattern that the addition ends; one that is
//! behind comes after the acquire pattern that it begins. Relies on: the counter holds 0 when the launch starts, which is
//! printed; threads of a block that part at a barrier fail its assertion, and the barriers that `twothread` takes are of
//! the whole block. Reference: PTX ISA, memory consistency model (release and acquire patterns, observation order, Fence-SC order);
//! the instruction-level paper, Figs. 10 and 11. What follows for pairs of threads is in `twothread::completion`.
//!
//! Let `a` be the addition, T the thread of a block that executes it (the only one that satisfies [`Counting::by`]), and "before"
//! the order of a thread's own instructions, which the ways through the kernel tell ([`Paths`]).
//!
//! Early, where F is a fence with release semantics at scope gpu or wider on each way to `a`:
//!
//! 1. What T itself does before F: an access from F to which no way leads. F and `a` are a release pattern. (So is `a` alone where
//!    it has release semantics: it is its own F.)
//! 2. What any thread does before P, a barrier of the block on each way to F. T passes P before F, and the thread, which does not part from T
//!    there, has done it when it comes to its first P.
//! 3. What any thread does before a fence S of its own on each way to P', a barrier of the block on each way to `a`, where all
//!    fences are `.sc` (below).
//!
//! Behind, where no way leads back to `a`:
//!
//! 4. What T does when it has passed G, a fence with acquire semantics to `a` from which no way leads: T has executed `a` before. `a` and G are an
//!    acquire pattern. (So is `a` alone where it has acquire semantics: it is its own G.)
//! 5. What any thread does when it has passed a barrier Q of the block, if each way from `a` to Q passes such a G. T has passed it
//!    when it comes to its first Q, which is that of the other thread.
//! 6. What any thread does when it has passed a fence H of its own behind such a barrier, G or not, where all fences are `.sc`.
//!
//! The additions are a chain of read-modify-writes of one word, each at scope gpu, so the last one observes all others, and with 1 or 2
//! and 4 or 5 the patterns synchronise: their fences are morally strong. With 3 or 6 no pattern is complete, but two `.sc` fences at
//! scope gpu are ordered one way by the Fence-SC order. Would H (or G) come first, then the last addition came before H, H before S (or
//! F), and that before `a` of the other block, in causality order; so it would come first in coherence order as well, against what the last
//! one returned. So S comes before H, which synchronises them.

use super::array_facts::StatedFact;
use super::lowering::{Lowering, flag};
use super::paths::{Paths, Position};
use super::regions::{RegionKind, Space, declaration};
use super::tickets::{ADDS, adds, signed};
use super::winners::kind_of;
use crate::ivl::ast::{
    Access, Attribute, AttributeArg, BinaryOp, Block, ExprKind, ExprRef, Name, Stmt, StmtKind, UnaryOp,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::bv::{self, BvOp};
use crate::ivl::visit::free_vars;
use crate::order::{Order, Ordering, Scope};
use crate::ptx::ast::{Module, Operand, ScalarType};
use crate::twothread::copies::Variation;
use std::collections::{BTreeMap, BTreeSet};

/// The attribute of the addition: what it returns to the last block.
pub(crate) const COMPLETES: &str = "completes";
/// The attribute of an access that comes before the addition of its block.
pub(crate) const EARLY: &str = "early";
/// The attribute of an access that comes behind the addition of its block.
pub(crate) const BEHIND: &str = "behind";
/// The mark of an `atom.inc`: its bound.
const INCREMENTS: &str = "increments";
/// The mark of an addition of what a register holds.
const ADDITION: &str = "addition";
/// The mark of a fence under a guard.
pub(super) const GUARDED: &str = "guarded";
/// The marks of an atomic with release, and with acquire semantics.
pub(super) const RELEASES: &str = "releases";
pub(super) const ACQUIRES: &str = "acquires";

/// The marks of statements.
type Marks = Vec<(Position, Vec<Attribute>)>;

/// A counter that is found.
struct Counting {
    array: Name,
    /// The addition.
    at: Position,
    /// What it returns to the last block.
    last: ExprRef,
    /// Which thread of a block executes it, over constants.
    by: ExprRef,
}

/// What orders accesses around the addition.
#[derive(Default)]
struct Points {
    /// The last place before which accesses of all threads are early, and of the one that adds.
    early: [Option<Position>; 2],
    /// Behind each of these accesses of all threads are behind, and of the one that adds.
    behind: [Vec<Position>; 2],
}

/// The mark of an `atom.inc` by its operands.
pub(super) fn is_increment(operation: &str, ty: ScalarType, sources: &[Operand]) -> bool {
    operation == "inc" && ty == ScalarType::U(32) && sources.len() == 1
}

/// Whether an atomic adds whole numbers.
pub(super) fn is_addition(operation: &str, ty: ScalarType, sources: &[Operand]) -> bool {
    operation == "add" && matches!(ty, ScalarType::U(32 | 64) | ScalarType::S(32 | 64)) && sources.len() == 1
}

/// The mark of an addition of what a register holds.
pub(super) fn addition_of(value: ExprRef) -> Attribute {
    Attribute { name: Name::from(ADDITION), args: vec![AttributeArg::Expr(value)] }
}

/// What an addition adds, of a register.
pub(super) fn addend_of(stmt: &Stmt) -> Option<&ExprRef> {
    stmt.attributes.named(ADDITION)?.condition()
}

/// The bound of an `atom.inc`.
pub(super) fn bound_of(stmt: &Stmt) -> Option<&ExprRef> {
    stmt.attributes.named(INCREMENTS)?.condition()
}

/// The mark of an `atom.inc` with a bound.
pub(super) fn increments(bound: ExprRef) -> Attribute {
    Attribute { name: Name::from(INCREMENTS), args: vec![AttributeArg::Expr(bound)] }
}

/// The marks of an atomic by its semantics.
pub(super) fn semantics(ordering: Ordering) -> Vec<Attribute> {
    let marks: &[&str] = match ordering {
        Ordering::Release(_) => &[RELEASES],
        Ordering::Acquire(_) => &[ACQUIRES],
        Ordering::AcquireRelease(_) => &[RELEASES, ACQUIRES],
        Ordering::Weak | Ordering::Volatile | Ordering::Relaxed(_) => &[],
    };
    marks.iter().map(|mark| flag(mark)).collect()
}

/// The mark of a fence under a guard.
pub(super) fn guarded() -> Attribute {
    flag(GUARDED)
}

impl Lowering<'_> {
    /// Marks what counters and locks order.
    pub(super) fn mark_order(&mut self, module: &Module, blocks: &mut [Block]) {
        find_addends(blocks);
        let mut ordered = self.mark_locks(blocks);
        self.mark_completion(module, blocks);
        ordered.extend(self.mark_messages(module, blocks));
        if let Some(counter) = &self.declarations.completion {
            let is_other = |name: &&Name| self.space(name) == Some(Space::Global) && *name != counter;
            ordered.extend(self.declarations.arrays.iter().flatten().filter(is_other).cloned());
        }
        unmark(blocks);
        forget_stored(blocks, &ordered);
    }

    /// Finds the counter of a kernel, and marks what it orders.
    fn mark_completion(&mut self, module: &Module, blocks: &mut [Block]) {
        let found = self.completion(module, blocks);
        let Some((counting, marks)) = found else { return };
        let (block, index) = counting.at;
        let addition = &mut blocks[block].stmts[index];
        addition.attributes.retain(|attribute| attribute.name.as_str() != ADDS);
        let last = AttributeArg::Expr(counting.last.clone());
        addition.attributes.extend([adds(1), Attribute { name: Name::from(COMPLETES), args: vec![last] }]);
        for ((block, index), attributes) in marks {
            blocks[block].stmts[index].attributes.extend(attributes);
        }
        // What a thread leaves in shared memory is known of those whose branches say who they are.
        let is_constant = |name: &Name| self.declarations.constants.iter().any(|c| c.variable.name == *name);
        for ((block, index), kind) in Paths::of(blocks).with_constants(&is_constant) {
            blocks[block].stmts[index].kind = kind;
        }
        self.declarations.completion = Some(counting.array);
    }

    /// The counter, and the marks of accesses.
    fn completion(&self, module: &Module, blocks: &[Block]) -> Option<(Counting, Marks)> {
        // A thread that has exited passes no barrier, and none waits for it.
        if self.options.rules.exited_threads_ok {
            return None;
        }
        let atomics = blocks.iter().flat_map(|block| &block.stmts).any(|stmt| addition(stmt).is_some());
        if !atomics {
            return None;
        }
        let paths = Paths::of(blocks);
        let counters = self.counters_of(&paths);
        let found = counters.into_iter().find_map(|(array, at)| {
            let counting = self.counting(module, &paths, array, at)?;
            let points = points(&paths, counting.at)?;
            Some((counting, points))
        });
        let (counting, points) = found?;
        let is_global = |access: &Access| self.space(&access.array) == Some(Space::Global);
        let marks = paths.statements().filter_map(|(at, stmt)| {
            let access = accessed(stmt).filter(|access| is_global(access) && access.collective.is_none())?;
            let is_other = ["unknown_pointer", "non_coherent", "ghost", "barrier_invariant"];
            let is_other = is_other.iter().any(|mark| stmt.attributes.has(mark));
            if is_other
                || stmt.attributes.has(super::ASYNCHRONOUS)
                || access.array == counting.array
                || self.declarations.locks.contains(&access.array)
            {
                return None;
            }
            let marks = points.marks(&paths, at, &counting.by);
            (!marks.is_empty()).then_some((at, marks))
        });
        let marks: Marks = marks.collect();
        // A counter behind which nothing is accessed needs no assumption.
        let is_used = marks.iter().flat_map(|(_, marks)| marks).any(|mark| mark.name.as_str() == BEHIND);
        is_used.then_some((counting, marks))
    }

    /// The arrays that one addition of 1 changes, and nothing else, with that addition.
    fn counters_of(&self, paths: &Paths<'_>) -> BTreeMap<Name, Position> {
        let mut found: BTreeMap<Name, Option<Position>> = BTreeMap::new();
        for (at, stmt) in paths.statements() {
            let Some(access) = accessed(stmt) else { continue };
            if matches!(stmt.kind, StmtKind::Load { .. }) {
                continue;
            }
            let is_first = !found.contains_key(&access.array);
            let is_one = is_first
                && addition(stmt).is_some()
                && access.strong == Some(Scope::Gpu)
                && access.collective.is_none()
                && matches!(access.bytes, 4 | 8)
                && self.space(&access.array) == Some(Space::Global);
            found.insert(access.array.clone(), is_one.then_some(at));
        }
        found.into_iter().filter_map(|(array, at)| Some((array, at?))).collect()
    }

    /// Whether that addition is executed once by one thread of each block, at one place.
    fn counting(&self, module: &Module, paths: &Paths<'_>, array: Name, at: Position) -> Option<Counting> {
        let (_, stmt) = paths.statements().find(|(place, _)| *place == at)?;
        let access = accessed(stmt)?;
        if paths.leads(at, at, &[]) || !self.starts_with_zero(module, &array) {
            return None;
        }
        let varies: BTreeMap<&Name, Variation> =
            self.declarations.constants.iter().map(|c| (&c.variable.name, Variation::of(&c.variable))).collect();
        let of_launch = |name: &Name| varies.get(name) == Some(&Variation::Launch);
        paths.value(&access.offset, at, &of_launch)?;
        let [x, y, z] = [0, 1, 2].map(|axis| self.launch.blocks(axis));
        let product = |a: ExprRef, b: ExprRef| match (&a.kind, &b.kind) {
            (ExprKind::Bv(a), ExprKind::Bv(b)) => bv::literal(a * b, 32),
            (ExprKind::Bv(1), _) => b,
            (_, ExprKind::Bv(1)) => a,
            _ => bv::mul(a, b),
        };
        let blocks = product(product(x, y), z);
        let last = match blocks.kind {
            ExprKind::Bv(count) => bv::literal(count.checked_sub(1)?, 32),
            _ => bv::sub(blocks.clone(), bv::literal(1, 32)),
        };
        match addition(stmt)? {
            Addition::One => {}
            Addition::Below(bound) => {
                let bound = paths.value(bound, at, &of_launch)?;
                if !is_enough(&bound, &blocks) {
                    return None;
                }
            }
        }
        let last = bv::zext(last, 8 * access.bytes);
        let by = self.one_thread(paths, at, access.guard.as_ref(), &varies)?;
        Some(Counting { array, at, last, by })
    }

    /// Which one thread of a block comes to a place, if the branches on each way say that.
    fn one_thread(
        &self,
        paths: &Paths<'_>,
        at: Position,
        guard: Option<&ExprRef>,
        varies: &BTreeMap<&Name, Variation>,
    ) -> Option<ExprRef> {
        let mut equal: BTreeMap<Name, ExprRef> = BTreeMap::new();
        let conditions = paths.conditions(at).into_iter().chain(guard.map(|guard| (at, guard)));
        for (place, condition) in conditions {
            if let Some(condition) = paths.value(condition, place, &|name| varies.contains_key(name)) {
                equalities(&condition, true, &mut |name, value| {
                    let is_thread = |name: &Name| varies.get(name) == Some(&Variation::Thread);
                    if is_thread(name) && !free_vars(value).iter().any(is_thread) {
                        equal.insert(name.clone(), value.clone());
                    }
                });
            }
        }
        let ids: Vec<ExprRef> = self.launch.thread().into_iter().filter(|id| free_vars(id).len() == 1).collect();
        let mut by = bv::boolean(true);
        for id in ids {
            let ExprKind::Var(name) = &id.kind else { return None };
            by = bv::and(by, bv::eq(id.clone(), equal.get(name)?.clone()));
        }
        Some(by)
    }

    /// Whether nothing says that an array holds something else than 0 at the start.
    pub(super) fn starts_with_zero(&self, module: &Module, array: &Name) -> bool {
        if self.array_facts.iter().any(|stated: &StatedFact| stated.denies_zero(array)) {
            return false;
        }
        let regions = self.pointers.regions.all.iter().zip(&self.declarations.arrays);
        let mut variables =
            regions.filter(|(_, name)| name.as_ref() == Some(array)).map(|(region, _)| match region.kind {
                RegionKind::Variable(variable) => declaration(module, self.cfg, variable),
                _ => None,
            });
        variables.all(|variable| variable.is_none_or(|variable| !variable.initialised))
    }

    /// What is assumed of the counter.
    pub(super) fn completion_assumption(&self, names: &BTreeMap<Name, String>) -> Option<String> {
        let array = self.declarations.completion.as_ref()?;
        let name = names.get(array).map_or(array.as_str(), String::as_str);
        Some(format!("the counter in `{name}` that tells which block is the last one holds 0 when the launch starts"))
    }

    /// The space of an array.
    pub(super) fn space(&self, array: &Name) -> Option<Space> {
        let mut regions = self.pointers.regions.all.iter().zip(&self.declarations.arrays);
        regions.find(|(_, name)| name.as_ref() == Some(array)).map(|(region, _)| region.space)
    }
}

impl Points {
    fn marks(&self, paths: &Paths<'_>, at: Position, by: &ExprRef) -> Vec<Attribute> {
        let mark = |name: &str, [all, one]: [bool; 2]| {
            let args = if all { Vec::new() } else { vec![AttributeArg::Expr(by.clone())] };
            (all || one).then(|| Attribute { name: Name::from(name), args })
        };
        let early = self.early.map(|point| point.is_some_and(|point| !paths.leads(point, at, &[])));
        let behind = |points: &Vec<Position>| points.iter().any(|point| paths.dominates(*point, at));
        [mark(EARLY, early), mark(BEHIND, self.behind.each_ref().map(behind))].into_iter().flatten().collect()
    }
}

/// What orders accesses around an addition; `None` if it releases or acquires nothing.
fn points(paths: &Paths<'_>, at: Position) -> Option<Points> {
    let (mut releases, mut acquires, mut barriers) = (Vec::new(), Vec::new(), Vec::new());
    let mut all_sequential = true;
    for (place, stmt) in paths.statements() {
        match &stmt.kind {
            StmtKind::Fence(fence) => {
                if let Order::Fence { scope: Scope::Gpu | Scope::Sys, sequential, release, acquire } = fence.order() {
                    let is_certain = !stmt.attributes.has(GUARDED);
                    releases.extend((release && is_certain).then_some(place));
                    acquires.extend((acquire && is_certain).then_some(place));
                    all_sequential &= sequential;
                }
            }
            StmtKind::Barrier(barrier) if barrier.guard.is_none() => barriers.push(place),
            _ => {}
        }
    }
    let has = |mark: &str| paths.statements().any(|(place, stmt)| place == at && stmt.attributes.has(mark));
    let [releases_itself, acquires_itself] = [RELEASES, ACQUIRES].map(has);
    let fence = if releases_itself { at } else { paths.last_before(&releases, at)? };
    let barrier = paths.last_before(&barriers, fence);
    let own = paths.last_before(&barriers, at).filter(|_| all_sequential);
    let own = own.and_then(|met| paths.last_before(&releases, met));
    let all = match (barrier, own) {
        (Some(one), Some(other)) => Some(if paths.dominates(one, other) { other } else { one }),
        (one, other) => one.or(other),
    };
    let is_later = |place: &Position| !paths.leads(*place, at, &[]);
    let itself = acquires_itself.then_some(at);
    let one: Vec<Position> = acquires.iter().copied().chain(itself).filter(is_later).collect();
    let met: Vec<Position> = barriers.into_iter().filter(is_later).collect();
    let known = met.iter().copied().filter(|place| acquires_itself || !paths.leads(at, *place, &acquires));
    let own = acquires
        .iter()
        .filter(|place| is_later(place))
        .copied()
        .filter(|fence| all_sequential && met.iter().any(|met| paths.dominates(*met, *fence)));
    let behind = known.chain(own).collect();
    Some(Points { early: [all, Some(fence)], behind: [behind, one] })
}

/// The access of a load, store or atomic.
pub(super) fn accessed(stmt: &Stmt) -> Option<&Access> {
    match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
            Some(access)
        }
        _ => None,
    }
}

/// An atomic that adds 1, and returns what was there.
enum Addition<'s> {
    One,
    /// To what is below a bound.
    Below(&'s ExprRef),
}

fn addition(stmt: &Stmt) -> Option<Addition<'_>> {
    if !matches!(stmt.kind, StmtKind::Atomic { dst: Some(_), .. }) || stmt.attributes.has("unknown_pointer") {
        return None;
    }
    if signed(stmt, ADDS) == Some(1) {
        return Some(Addition::One);
    }
    stmt.attributes.named(INCREMENTS)?.condition().map(Addition::Below)
}

/// Whether a bound is no less than the number of blocks less 1.
fn is_enough(bound: &ExprRef, blocks: &ExprRef) -> bool {
    if let (ExprKind::Bv(bound), ExprKind::Bv(blocks)) = (&bound.kind, &blocks.kind) {
        return bound + 1 >= *blocks;
    }
    let less = [bv::sub(blocks.clone(), bv::literal(1, 32)), bv::add(blocks.clone(), bv::literal(u128::MAX, 32))];
    matches!(bound.kind, ExprKind::Bv(bound) if bound == u128::from(u32::MAX))
        || bound == blocks
        || less.contains(bound)
}

/// The equalities with a variable that hold where a formula does (or, not `holds`, does not).
pub(super) fn equalities(e: &ExprRef, holds: bool, found: &mut dyn FnMut(&Name, &ExprRef)) {
    equations(e, holds, &mut |a, b| equal(a, b, found));
}

/// What is equal where a formula holds (or, not `holds`, does not).
pub(super) fn equations(e: &ExprRef, holds: bool, found: &mut dyn FnMut(&ExprRef, &ExprRef)) {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => equations(inner, !holds, found),
        ExprKind::Binary(BinaryOp::And, a, b) if holds => [a, b].into_iter().for_each(|e| equations(e, true, found)),
        ExprKind::Binary(BinaryOp::Or, a, b) if !holds => [a, b].into_iter().for_each(|e| equations(e, false, found)),
        ExprKind::Binary(BinaryOp::Eq, a, b) if holds => found(a, b),
        ExprKind::Binary(BinaryOp::Ne, a, b) if !holds => found(a, b),
        _ => {}
    }
}

fn equal(a: &ExprRef, b: &ExprRef, found: &mut dyn FnMut(&Name, &ExprRef)) {
    for (side, other) in [(a, b), (b, a)] {
        match &side.kind {
            ExprKind::Var(name) => found(name, other),
            // Bits that are all 0 are so in each of two numbers.
            ExprKind::Call(name, args)
                if *name == BvOp::Or.function(bv::width(side)) && matches!(other.kind, ExprKind::Bv(0)) =>
            {
                args.iter().for_each(|arg| equal(arg, other, found));
            }
            _ => {}
        }
    }
}

/// Additions of registers that hold a number are additions of that number.
fn find_addends(blocks: &mut [Block]) {
    let is_marked = |stmt: &Stmt| stmt.attributes.has(ADDITION) && !stmt.attributes.has(ADDS);
    if !blocks.iter().flat_map(|block| &block.stmts).any(is_marked) {
        return;
    }
    let paths = Paths::of(blocks);
    let addend = |(at, stmt): (Position, &Stmt)| {
        let value = paths.value(addend_of(stmt)?, at, &|_| false)?;
        match (&value.kind, bv::width(&value)) {
            (ExprKind::Bv(value), 32) => Some((at, i128::from(*value as u32 as i32))),
            (ExprKind::Bv(value), 64) => Some((at, i128::from(*value as u64 as i64))),
            _ => None,
        }
    };
    let found: Vec<(Position, i128)> =
        paths.statements().filter(|(_, stmt)| is_marked(stmt)).filter_map(addend).collect();
    for ((block, index), addend) in found {
        blocks[block].stmts[index].attributes.push(adds(addend));
    }
}

/// In these arrays a thread may store without a race what comes between two atomics of another one. So where there are stores,
/// atomics tell nothing.
fn forget_stored(blocks: &mut [Block], ordered: &BTreeSet<Name>) {
    let stored = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Store { access, .. } if ordered.contains(&access.array) => Some(access.array.clone()),
        _ => None,
    };
    let stored: BTreeSet<Name> = blocks.iter().flat_map(|block| &block.stmts).filter_map(stored).collect();
    for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
        let StmtKind::Atomic { access, .. } = &stmt.kind else { continue };
        if stored.contains(&access.array) {
            stmt.attributes.retain(|mark| mark.name.as_str() != ADDS && kind_of(mark).is_none());
        }
    }
}

/// Removes the marks that only this pass reads.
pub(super) fn unmark(blocks: &mut [Block]) {
    for stmt in blocks.iter_mut().flat_map(|block| &mut block.stmts) {
        stmt.attributes.retain(|attribute| {
            ![INCREMENTS, ADDITION, GUARDED, RELEASES, ACQUIRES].contains(&attribute.name.as_str())
        });
    }
}
