//! Which arrays have contents, and which of their loads read them.
//!
//! Input: the predicated kernel. Output: [`Selection`]. Establishes: an array with contents has plain accesses only, if it is
//! shared also atomics, and no load that reads contents can keep a thread in a loop or exclude an execution. Relies on: the kernel stage
//! marks accesses through pointers of unknown origin and loads past the coherent caches.
//! Reference: Bardsley et al., "Engineering a static verification tool for GPU kernels" (equality abstraction only
//! for arrays on which control or addresses depend).
//!
//! Flows are those of the text, in no order: `x := e` lets every variable of `e` flow into `x`.
//!
//! `assume {:instance}` says of a thread what it asserted before (barrier invariants), so it excludes no execution in
//! which all assertions hold so far: what flows into it is not what an `assume` of the user depends on. It is a reason to
//! keep contents, though, for the loads of the annotation alone: those are in the selection whatever else they are.

use super::super::barrier_invariants::is_of_annotation;
use super::super::barriers::has_grid_barrier;
use super::super::completion::has_last_block;
use super::super::held::arrays_under_locks;
use super::super::messages::arrays_in_messages;
use crate::ivl::ast::{Access, ArraySpace, ExprKind, Implementation, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Premise;
use crate::ivl::visit::{assigned, for_each_stmt_expr, free_vars};
use crate::kernel::{ASYNCHRONOUS, TICKET};
use crate::predicate::{LoopInfo, Predicated};
use std::collections::{BTreeMap, BTreeSet};

/// On a store whose value is left open though its array is loaded from: such loads yield arbitrary values.
pub(crate) const ARBITRARY: &str = "arbitrary";

/// A statement: the label of its block, its index there.
pub(crate) type Position = (Name, usize);

/// What is read exactly.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Arrays with contents.
    pub(crate) arrays: BTreeSet<Name>,
    /// The loads that read contents; all others yield arbitrary values.
    pub(crate) loads: BTreeSet<Position>,
}

/// Why an array that a barrier invariant reads has neither contents nor the same values all the time.
pub(crate) fn refusal(
    body: &Implementation,
    selection: &Selection,
    array: &Name,
    is_global: bool,
) -> Option<&'static str> {
    let stmts = || body.blocks.iter().flat_map(|block| &block.stmts);
    let mut atomics = stmts().filter(|stmt| matches!(stmt.kind, StmtKind::Atomic { .. }));
    if atomics.any(|stmt| accessed(stmt).is_some_and(|access| access.array == *array)) {
        return Some("atomic operations access it");
    }
    if selection.arrays.contains(array) {
        return None;
    }
    let mut is_written = false;
    for (stmt, access) in stmts().filter_map(|stmt| Some((stmt, accessed(stmt)?))) {
        if access.array != *array {
            continue;
        }
        is_written |= !matches!(stmt.kind, StmtKind::Load { .. });
        if stmt.attributes.has("unknown_pointer") {
            return Some("pointers of unknown origin may access it");
        }
        if stmt.attributes.has(ASYNCHRONOUS) {
            return Some("asynchronous copies read or write it");
        }
        if stmt.attributes.has("non_coherent") || access.strong.is_some() || access.collective.is_some() {
            return Some("accesses that are not plain read or write it");
        }
    }
    match is_written {
        true => Some("nothing is known of what it holds"),
        false if is_global => None,
        false => Some("the kernel never writes it"),
    }
}

impl Selection {
    /// The arrays and loads of a kernel for which contents can matter.
    pub(crate) fn of(predicated: &Predicated, body: &Implementation) -> Selection {
        let arrays = &predicated.program.arrays;
        let is_shared = |name: &Name| arrays.iter().any(|a| a.name == *name && a.space == ArraySpace::Shared);
        let Plain { arrays: mut plain, counters } = plain_arrays(body);
        if has_last_block(body) || has_grid_barrier(body) {
            // Blocks find what others stored, without a race.
            plain.retain(|array| is_shared(array));
        }
        let strictly = plain.clone();
        plain.extend(counters.into_iter().filter(is_shared));
        let ordered = [arrays_under_locks(body), arrays_in_messages(body)];
        plain.retain(|array| ordered.iter().all(|arrays| !arrays.contains(array)));
        if plain.is_empty() {
            return Selection::default();
        }
        // All threads start in the first block, so its activity tells nothing.
        let start = predicated.order.first().map(|block| block.activity.clone());
        let flows = Flows::of(body, &plain, start.as_ref(), false);
        let control = flows.flowing_into(BTreeSet::from([predicated.active.clone()]), false);
        let assumed = flows.flowing_into(assumed(body, &predicated.loops), false);
        let matters = flows.flowing_into(sinks(body, &predicated.active), true);
        // Blocks stand in sort order: what is loaded behind all of these loops decides about none.
        let behind = |blocks: &BTreeSet<&Name>| {
            body.blocks.iter().rposition(|block| blocks.contains(&block.label)).map_or(0, |last| last + 1)
        };
        let behind_all = behind(&predicated.loops.iter().flat_map(|this| &this.blocks).collect());
        let behind_unstepped = behind(&unstepped(&predicated.loops));
        // Other blocks write global arrays in no interval of this one: what is loaded of them may keep a thread in a loop, also
        // by way of shared ones, of where they are stored, and of what atomics make of it.
        let keeping = Flows::of(body, &plain, start.as_ref(), true);
        let keeping = keeping.flowing_into(BTreeSet::from([predicated.active.clone()]), true);
        let is_kept = |target: Option<&Name>| {
            let by_atomics = plain.difference(&strictly).any(|array| keeping.contains(array));
            by_atomics || target.is_none_or(|target| keeping.contains(target))
        };
        let in_front = &body.blocks[..behind_all];
        let has_global = in_front.iter().any(|block| {
            (0..).zip(&block.stmts).any(|(index, stmt)| match &stmt.kind {
                StmtKind::Load { access, .. } if plain.contains(&access.array) && !is_shared(&access.array) => {
                    is_kept(target(&block.stmts, index))
                }
                _ => false,
            })
        });
        let behind = if has_global { behind_all } else { behind_unstepped };
        // A store that comes later in lock-step does not exist where all are over; but what they stored may come of a global
        // array, to which other blocks store later.
        let in_loops: BTreeSet<&Name> = predicated.loops.iter().flat_map(|this| &this.blocks).collect();
        let last_change = last_changes(body);
        let is_over = |array: &Name, at: (usize, usize)| {
            let is_in_loop = body.blocks.get(at.0).is_none_or(|block| in_loops.contains(&block.label));
            !has_global && is_shared(array) && !is_in_loop && last_change.get(array).is_none_or(|last| *last < at)
        };
        let mut selection = Selection::default();
        for (place, block) in body.blocks.iter().enumerate() {
            for (index, stmt) in block.stmts.iter().enumerate() {
                if let StmtKind::Atomic { dst: Some(dst), access } = &stmt.kind {
                    let result = taken(block.stmts.get(index + 1), dst).unwrap_or(dst);
                    let is_counter = stmt.attributes.has(TICKET) && plain.contains(&access.array);
                    selection.arrays.extend((is_counter && matters.contains(result)).then(|| access.array.clone()));
                }
                let StmtKind::Load { access, .. } = &stmt.kind else { continue };
                if is_of_annotation(stmt) && strictly.contains(&access.array) {
                    selection.arrays.insert(access.array.clone());
                    selection.loads.insert((block.label.clone(), index));
                    continue;
                }
                let Some(target) = target(&block.stmts, index) else { continue };
                let waits = place < behind && control.contains(target) && !is_over(&access.array, (place, index));
                if plain.contains(&access.array) && matters.contains(target) && !waits && !assumed.contains(target) {
                    selection.arrays.insert(access.array.clone());
                    selection.loads.insert((block.label.clone(), index));
                }
            }
        }
        selection
    }
}

/// Arrays with plain accesses alone, without contents: whatever is stored there, loads yield arbitrary values.
pub(crate) fn unread(predicated: &Predicated, body: &Implementation) -> BTreeSet<Name> {
    let ordered = &arrays_under_locks(body) | &arrays_in_messages(body);
    let selected = Selection::of(predicated, body).arrays;
    let is_unread = |array: &Name| !ordered.contains(array) && !selected.contains(array);
    plain_arrays(body).arrays.into_iter().filter(is_unread).collect()
}

/// The last store or atomic of each array, by the numbers of its block and there.
fn last_changes(body: &Implementation) -> BTreeMap<&Name, (usize, usize)> {
    let stmts = body
        .blocks
        .iter()
        .enumerate()
        .flat_map(|(place, block)| block.stmts.iter().enumerate().map(move |(index, stmt)| ((place, index), stmt)));
    stmts
        .filter(|(_, stmt)| !matches!(stmt.kind, StmtKind::Load { .. }))
        .filter_map(|(at, stmt)| Some((&accessed(stmt)?.array, at)))
        .collect()
}

/// The blocks of loops in which a thread may go round without a barrier, and of the loops around them.
fn unstepped(loops: &[LoopInfo]) -> BTreeSet<&Name> {
    let around = |this| std::iter::successors(Some(this), |this: &&LoopInfo| this.parent.map(|parent| &loops[parent]));
    let outermost = loops.iter().filter(|this| !this.is_stepped).filter_map(|this| around(this).last());
    outermost.flat_map(|this| &this.blocks).collect()
}

/// The access of a load, store or atomic.
fn accessed(stmt: &Stmt) -> Option<&Access> {
    match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
            Some(access)
        }
        _ => None,
    }
}

/// Arrays by how they are accessed.
struct Plain {
    /// Stored to and loaded from, by plain accesses of single threads to known places.
    arrays: BTreeSet<Name>,
    /// The same with atomics, perhaps without loads.
    counters: BTreeSet<Name>,
}

fn plain_arrays(body: &Implementation) -> Plain {
    let (mut stored, mut loaded) = (BTreeSet::new(), BTreeSet::new());
    let (mut atomics, mut others) = (BTreeSet::new(), BTreeSet::new());
    for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
        let Some(access) = accessed(stmt) else { continue };
        let is_atomic = matches!(stmt.kind, StmtKind::Atomic { .. });
        let to = match &stmt.kind {
            StmtKind::Load { .. } => &mut loaded,
            StmtKind::Store { .. } => &mut stored,
            _ => &mut atomics,
        };
        to.insert(access.array.clone());
        let marked =
            ["unknown_pointer", "non_coherent", ASYNCHRONOUS, ARBITRARY].iter().any(|mark| stmt.attributes.has(mark));
        if marked || access.strong.is_some() && !is_atomic || access.collective.is_some() {
            others.insert(access.array.clone());
        }
    }
    let counters = stored.intersection(&atomics).filter(|array| !others.contains(*array)).cloned().collect();
    let others = &others | &atomics;
    let arrays = stored.into_iter().filter(|array| loaded.contains(array) && !others.contains(array)).collect();
    Plain { arrays, counters }
}

/// The variable that takes the value which the statement at `index` yields. Predication puts a temporary between, of
/// which there is one a type.
fn target(stmts: &[Stmt], index: usize) -> Option<&Name> {
    let dst = assigned(&stmts[index]).into_iter().next()?;
    Some(taken(stmts.get(index + 1), dst).unwrap_or(dst))
}

/// `x` of `x := if p then dst else x`.
fn taken<'s>(next: Option<&'s Stmt>, dst: &Name) -> Option<&'s Name> {
    let StmtKind::Assign(pairs) = &next?.kind else { return None };
    let [(name, value)] = &pairs[..] else { return None };
    let is = |e: &ExprKind, wanted: &Name| matches!(e, ExprKind::Var(found) if found == wanted);
    match &value.kind {
        ExprKind::Ite(_, then, otherwise) if is(&then.kind, dst) && is(&otherwise.kind, name) => Some(name),
        _ => None,
    }
}

/// Which names flow into which.
struct Flows {
    /// The names that flow into a variable, or into the array of that name.
    sources: BTreeMap<Name, BTreeSet<Name>>,
    arrays: BTreeSet<Name>,
}

impl Flows {
    /// With `places`, the places of accesses and who accesses them flow as what is there.
    fn of(body: &Implementation, arrays: &BTreeSet<Name>, without: Option<&Name>, places: bool) -> Flows {
        let mut sources: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        for block in &body.blocks {
            // The temporary that the statement before has just filled, and by which alone it is read.
            let mut temporary: Option<&Name> = None;
            for (index, stmt) in block.stmts.iter().enumerate() {
                if let Some(access) = accessed(stmt).filter(|_| places) {
                    let place =
                        access.own_guard().iter().chain([&access.offset]).flat_map(free_vars).collect::<Vec<_>>();
                    let to =
                        if matches!(stmt.kind, StmtKind::Load { .. }) { target(&block.stmts, index) } else { None };
                    sources.entry(to.unwrap_or(&access.array).clone()).or_default().extend(place);
                }
                let (passed, next) = (temporary.take(), block.stmts.get(index + 1));
                match &stmt.kind {
                    StmtKind::Assign(pairs) => {
                        for (name, value) in pairs.iter().filter(|(name, _)| Some(name) != without) {
                            let mut from = free_vars(value);
                            from.retain(|source| Some(source) != without && Some(source) != passed);
                            sources.entry(name.clone()).or_default().extend(from);
                        }
                    }
                    StmtKind::Load { access, .. } => {
                        if let Some(target) = target(&block.stmts, index) {
                            sources.entry(target.clone()).or_default().insert(access.array.clone());
                        }
                    }
                    StmtKind::Store { value, access } => {
                        sources.entry(access.array.clone()).or_default().extend(free_vars(value));
                    }
                    _ => {}
                }
                if !matches!(stmt.kind, StmtKind::Assign(_)) {
                    temporary = assigned(stmt).into_iter().find(|dst| taken(next, dst).is_some());
                }
            }
        }
        Flows { sources, arrays: arrays.clone() }
    }

    /// All names that flow into some of these, also by way of arrays with contents if `through_arrays`.
    fn flowing_into(&self, mut reached: BTreeSet<Name>, through_arrays: bool) -> BTreeSet<Name> {
        let mut open: Vec<Name> = reached.iter().cloned().collect();
        while let Some(name) = open.pop() {
            for source in self.sources.get(&name).into_iter().flatten() {
                let is_way = through_arrays || !self.arrays.contains(source);
                if is_way && reached.insert(source.clone()) {
                    open.push(source.clone());
                }
            }
        }
        reached
    }
}

/// What assumptions of the user speak of; those of loops say where control is.
fn assumed(body: &Implementation, loops: &[LoopInfo]) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    for block in &body.blocks {
        let of_loop = loops.iter().any(|this| this.back == block.label || this.exit == block.label);
        for stmt in block.stmts.iter().filter(|_| !of_loop) {
            match &stmt.kind {
                StmtKind::Assume(Premise::Instance(_), _) => {}
                StmtKind::Assume(_, e) => names.extend(free_vars(e)),
                _ => {}
            }
        }
    }
    names
}

/// What assertions, addresses, barriers and control depend on.
fn sinks(body: &Implementation, active: &Name) -> BTreeSet<Name> {
    let mut names = BTreeSet::from([active.clone()]);
    for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
        match &stmt.kind {
            StmtKind::Assert(_, e) => names.extend(free_vars(e)),
            StmtKind::Barrier(_) | StmtKind::Load { .. } => {
                for_each_stmt_expr(stmt, &mut |e| names.extend(free_vars(e)))
            }
            StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } => {
                names.extend(access.own_guard().iter().chain([&access.offset]).flat_map(free_vars));
            }
            _ => {}
        }
    }
    names
}
