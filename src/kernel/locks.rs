//! Locks: words that a thread takes by a compare-and-swap or an exchange which finds them free, and gives back when it has them.
//!
//! Input: the blocks of the kernel, before tickets and winners are marked. Output: `{:held "array", offset}` on accesses that a
//! thread makes while it holds the lock at that byte offset of that array. Establishes: of an array with locks all that changes a
//! word are attempts to take it, which are atomics that write one number K where the word was U (a compare-and-swap), or
//! whatever it was (an exchange), and returns, which write U and are made by a thread that has taken this very word and not returned it since; an
//! access that is marked comes behind an acquire pattern that begins with the attempt, and before a release pattern that
//! ends with the next return, both of a scope that all threads who share the array are in. Relies on: accesses
//! through pointers of unknown origin stand in the program as accesses of every array; accesses of one array that overlap are
//! aligned alike (PTX ISA, `atom`). Reference: PTX ISA, memory consistency model (release and acquire patterns, observation order);
//! the instruction-level paper, Figs. 10 and 11. What follows for pairs of threads is in `twothread::held`.
//!
//! The shape is a block C that ends with the branch, and a block S to which C alone leads, if what the attempt returned is U:
//!
//! ```text
//! C: ... old = atom.cas [lock], U, K; ... branch on old == U
//! S: ... fence ... accesses ... fence; atom.exch [lock], U  (or a strong store of U)
//! ```
//!
//! A thread that comes to a statement on ways from S that do not pass C again holds the lock if no return is on them. That goes for
//! returns, too: each has to be such a statement, with the offset that the attempt had (the same expression of registers that
//! nothing on these ways assigns, or the same expression of constants). So whatever a word holds at the start, its
//! modification order is one of attempts that failed and changed nothing that counts, and of pairs of a successful attempt and the return
//! of the same thread: of two threads that hold it one returned it before the other one's attempt, which observed U as that return
//! wrote it, or as a later return did whose thread had observed it likewise. An attempt that succeeded has observed some return, or nobody had held the word.
//! Each step is a release pattern that is observed by an acquire pattern of a thread in its scope, so accesses between the patterns of the
//! first come before those between the patterns of the second in causality order.
//!
//! Weak stores may set the words before: those to which no way leads from an attempt. What another thread of the block did before the
//! last barrier that both have passed is not such an attempt, either, or that barrier were on such a way; any other attempt at this word
//! races with the store.
//!
//! That a thread comes to hold a lock at all, nobody claims: a thread that waits for ever has no terminating execution.

use super::completion::{ACQUIRES, GUARDED, RELEASES, accessed};
use super::lowering::Lowering;
use super::paths::{Paths, Position};
use super::regions::Space;
use super::winners::{COMPARES, EXCHANGES};
use crate::ivl::ast::{
    Access, Attribute, AttributeArg, BinaryOp, Block, ExprKind, ExprRef, Name, Stmt, StmtKind, UnaryOp,
};
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Premise;
use crate::ivl::visit::{assigned, free_vars, substitute};
use crate::order::{Order, Scope};
use crate::twothread::copies::Variation;
use std::collections::{BTreeMap, BTreeSet};

/// The attribute of an access under a lock: the lock's array, and its byte offset there.
pub(crate) const HELD: &str = "held";

/// An attempt to take a lock.
struct Attempt<'b> {
    at: Position,
    /// Where those go on who have it: in front of the first statement of a block.
    taken: Position,
    offset: &'b ExprRef,
    /// What a free word holds, and what one that is taken does.
    numbers: [u128; 2],
    acquires: bool,
}

/// A return of a lock.
struct Return<'b> {
    at: Position,
    offset: &'b ExprRef,
    number: u128,
    releases: bool,
}

/// What changes an array.
#[derive(Default)]
struct Changes<'b> {
    attempts: Vec<Attempt<'b>>,
    returns: Vec<Return<'b>>,
    /// Weak stores.
    stores: Vec<Position>,
    /// Width of attempts and returns in bytes.
    bytes: Option<u32>,
    others: bool,
}

impl Changes<'_> {
    /// Whether a weak store may come when a thread has taken a lock.
    fn are_reset(&self, paths: &Paths<'_>) -> bool {
        self.stores.iter().any(|store| self.attempts.iter().any(|attempt| paths.leads(attempt.at, *store, &[])))
    }
}

/// An array of locks.
struct Locks<'b> {
    array: Name,
    attempts: Vec<Attempt<'b>>,
    returns: Vec<Return<'b>>,
    /// Fences that release and that acquire.
    fences: [Vec<Position>; 2],
}

impl Lowering<'_> {
    /// Finds the locks, and marks what is accessed under them. Gives the arrays with such accesses.
    pub(super) fn mark_locks(&mut self, blocks: &mut [Block]) -> BTreeSet<Name> {
        let (locks, marks) = self.held(blocks);
        let mut arrays = BTreeSet::new();
        for ((block, index), mark) in marks {
            let stmt = &mut blocks[block].stmts[index];
            arrays.extend(accessed(stmt).map(|access| access.array.clone()));
            stmt.attributes.push(mark);
        }
        if !arrays.is_empty() {
            self.declarations.locks = locks;
        }
        arrays
    }

    /// The arrays of locks, and the marks of what is accessed under them.
    fn held(&self, blocks: &[Block]) -> (BTreeSet<Name>, Vec<(Position, Attribute)>) {
        let is_attempt = |stmt: &Stmt| stmt.attributes.has(COMPARES) || stmt.attributes.has(EXCHANGES);
        if !blocks.iter().flat_map(|block| &block.stmts).any(is_attempt) {
            return Default::default();
        }
        let paths = Paths::of(blocks);
        let constants = self.declarations.constants.iter().map(|c| &c.variable);
        let constants: BTreeSet<&Name> =
            constants.filter(|c| Variation::of(c) == Variation::Launch).map(|c| &c.name).collect();
        let found: Vec<Locks<'_>> = self.arrays_of_locks(&paths, blocks, &constants);
        let is_other = ["unknown_pointer", "non_coherent", "ghost", "barrier_invariant", super::ASYNCHRONOUS];
        let mut marks = Vec::new();
        for (at, stmt) in paths.statements() {
            let Some(access) = accessed(stmt) else { continue };
            if access.collective.is_some() || is_other.iter().any(|mark| stmt.attributes.has(mark)) {
                continue;
            }
            // What sets, takes and returns locks is itself under no lock: that it does not race otherwise is relied on.
            if found.iter().any(|locks| locks.array == access.array) {
                continue;
            }
            let mut held = found.iter().filter_map(|locks| Some((locks, locks.held(&paths, at, true)?)));
            if let Some((locks, attempt)) = held.next() {
                let args =
                    vec![AttributeArg::Text(locks.array.to_string()), AttributeArg::Expr(attempt.offset.clone())];
                marks.push((at, Attribute { name: Name::from(HELD), args }));
            }
        }
        (found.into_iter().map(|locks| locks.array).collect(), marks)
    }

    /// The arrays of which all atomics and stores are attempts and returns that belong together.
    fn arrays_of_locks<'b>(
        &self,
        paths: &Paths<'b>,
        blocks: &'b [Block],
        constants: &BTreeSet<&Name>,
    ) -> Vec<Locks<'b>> {
        let mut found: BTreeMap<&Name, Changes<'b>> = BTreeMap::new();
        for (at, stmt) in paths.statements() {
            let Some(access) = accessed(stmt) else { continue };
            if matches!(stmt.kind, StmtKind::Load { .. }) {
                continue;
            }
            let changes = found.entry(&access.array).or_default();
            let is_single = access.collective.is_none() && !stmt.attributes.has("unknown_pointer");
            if is_single && access.strong.is_none() && matches!(stmt.kind, StmtKind::Store { .. }) {
                changes.stores.push(at);
                continue;
            }
            let is_plain = is_single
                && access.guard.is_none()
                && *changes.bytes.get_or_insert(access.bytes) == access.bytes
                && access.strong.is_some_and(|scope| scope >= self.least_scope(&access.array));
            match (attempt(paths, blocks, (at, stmt), access), returned(paths, (at, stmt), access)) {
                (Some(attempt), _) if is_plain => changes.attempts.push(attempt),
                (None, Some(returned)) if is_plain => changes.returns.push(returned),
                _ => changes.others = true,
            }
        }
        found.retain(|_, changes| !changes.others && !changes.are_reset(paths));
        let locks = found.into_iter().filter_map(|(array, found)| {
            let Changes { attempts, returns, .. } = found;
            let fences = fences(paths, self.least_scope(array));
            let locks = Locks { array: array.clone(), attempts, returns, fences };
            locks.belong_together(paths, constants).then_some(locks)
        });
        locks.collect()
    }

    /// The scope in which all threads are that share an array.
    pub(super) fn least_scope(&self, array: &Name) -> Scope {
        let is_one_block = self.launch.geometry.grid == [Some(1); 3];
        if is_one_block || self.space(array) == Some(Space::Shared) { Scope::Cta } else { Scope::Gpu }
    }
}

impl Locks<'_> {
    /// Whether each return is that of a lock that the thread holds, and all agree on what a free word holds.
    fn belong_together(&self, paths: &Paths<'_>, constants: &BTreeSet<&Name>) -> bool {
        let Some(first) = self.attempts.first() else { return false };
        let [free, _] = first.numbers;
        let same = self.attempts.iter().all(|attempt| attempt.numbers == first.numbers);
        let known = |name: &Name| constants.contains(name);
        let is_own = |returned: &Return<'_>| {
            let Some(attempt) = self.held(paths, returned.at, false) else { return false };
            // Its registers hold what they held then; otherwise both are what constants say.
            let place = |offset: &ExprRef, at| paths.value(offset, at, &known);
            *attempt.offset == *returned.offset
                || place(attempt.offset, attempt.at).is_some_and(|at| Some(at) == place(returned.offset, returned.at))
        };
        same && self.returns.iter().all(|returned| returned.number == free && is_own(returned))
    }

    /// The attempt by which a thread holds a lock at a place; `between` its patterns, if that is asked for.
    fn held(&self, paths: &Paths<'_>, at: Position, between: bool) -> Option<&Attempt<'_>> {
        let [releases, acquires] = &self.fences;
        self.attempts.iter().find(|attempt| {
            let Attempt { taken, .. } = *attempt;
            let comes = |from: &Position, to: &Position| paths.leads(*from, *to, &[attempt.at]);
            let is_behind = paths.dominates(*taken, at);
            let is_returned = self.returns.iter().any(|one| comes(taken, &one.at) && comes(&one.at, &at));
            let is_changed = |name: &Name| {
                let mut changes = paths.definitions(name).iter();
                changes.any(|change| comes(taken, change) && comes(change, &at))
            };
            let is_stable = !free_vars(attempt.offset).iter().any(is_changed);
            let acquired = || attempt.acquires || !paths.leads(*taken, at, acquires);
            let released = || {
                // What follows behind the next attempt of this kind is another word, or another time.
                let past: Vec<Position> = releases.iter().copied().chain([attempt.at]).collect();
                self.returns.iter().filter(|one| !one.releases).all(|one| !paths.leads(at, one.at, &past))
            };
            is_behind && !is_returned && is_stable && (!between || acquired() && released())
        })
    }
}

/// The fences that release and that acquire, for all threads in a scope.
pub(super) fn fences(paths: &Paths<'_>, least: Scope) -> [Vec<Position>; 2] {
    let (mut releases, mut acquires) = (Vec::new(), Vec::new());
    for (place, stmt) in paths.statements() {
        if let StmtKind::Fence(fence) = &stmt.kind
            && let Order::Fence { scope, release, acquire, .. } = fence.order()
            && scope >= least
            && !stmt.attributes.has(GUARDED)
        {
            releases.extend(release.then_some(place));
            acquires.extend(acquire.then_some(place));
        }
    }
    [releases, acquires]
}

/// An attempt to take a lock, if an atomic and the branch behind it have the shape of one.
fn attempt<'b>(
    paths: &Paths<'b>,
    blocks: &'b [Block],
    (at, stmt): (Position, &'b Stmt),
    access: &'b Access,
) -> Option<Attempt<'b>> {
    let StmtKind::Atomic { dst: Some(dst), .. } = &stmt.kind else { return None };
    let [compared, written] = [COMPARES, EXCHANGES].map(|mark| stmt.attributes.named(mark));
    let numbers = numbers(paths, at, compared.or(written)?)?;
    let written = *numbers.last()?;
    // Nobody changes the registers of the offset in front of the branch.
    let rest = &blocks[at.0].stmts[at.1 + 1..];
    let changes = |name: &Name| rest.iter().any(|stmt| assigned(stmt).contains(&name));
    if free_vars(&access.offset).iter().any(changes) {
        return None;
    }
    let (to, free) = paths.only_ways(at.0).find_map(|to| {
        let StmtKind::Assume(Premise::Program, condition) = &blocks[to].stmts.first()?.kind else { return None };
        let mut condition = condition.clone();
        for stmt in rest.iter().rev() {
            if let StmtKind::Assign(pairs) = &stmt.kind {
                condition = substitute(&condition, &pairs.iter().cloned().collect());
            } else if assigned(stmt).into_iter().any(|name| free_vars(&condition).contains(name)) {
                return None;
            }
        }
        Some((to, equal_to(&condition, true, dst)?))
    })?;
    let is_compared = numbers.len() == 2;
    let fits = free != written && (!is_compared || numbers[0] == free);
    let acquires = stmt.attributes.has(ACQUIRES);
    fits.then_some(Attempt { at, taken: (to, 0), offset: &access.offset, numbers: [free, written], acquires })
}

/// A return of a lock: a number that is stored, or exchanged for what nobody looks at.
fn returned<'b>(paths: &Paths<'b>, (at, stmt): (Position, &'b Stmt), access: &'b Access) -> Option<Return<'b>> {
    let number = match &stmt.kind {
        StmtKind::Store { value, .. } => literal(paths, at, value)?,
        StmtKind::Atomic { .. } => *numbers(paths, at, stmt.attributes.named(EXCHANGES)?)?.first()?,
        _ => return None,
    };
    Some(Return { at, offset: &access.offset, number, releases: stmt.attributes.has(RELEASES) })
}

/// The numbers that a mark has, if all are.
fn numbers(paths: &Paths<'_>, at: Position, mark: &Attribute) -> Option<Vec<u128>> {
    let number = |arg: &AttributeArg| match arg {
        AttributeArg::Expr(e) => literal(paths, at, e),
        AttributeArg::Text(_) => None,
    };
    mark.args.iter().map(number).collect()
}

fn literal(paths: &Paths<'_>, at: Position, e: &ExprRef) -> Option<u128> {
    match paths.value(e, at, &|_| false)?.kind {
        ExprKind::Bv(value) => Some(value),
        _ => None,
    }
}

/// The number that a variable equals where a formula holds (or, not `holds`, does not).
fn equal_to(e: &ExprRef, holds: bool, variable: &Name) -> Option<u128> {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => equal_to(inner, !holds, variable),
        ExprKind::Binary(op, a, b) if *op == if holds { BinaryOp::Eq } else { BinaryOp::Ne } => {
            let sides = [(a, b), (b, a)];
            sides.into_iter().find_map(|(side, other)| match (&side.kind, &other.kind) {
                (ExprKind::Var(name), ExprKind::Bv(value)) if name == variable => Some(*value),
                _ => None,
            })
        }
        _ => None,
    }
}
