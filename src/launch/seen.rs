//! What the statements of a kernel mention.
//!
//! Input: the lowered kernel. Output: ids that it reads, constants, parameters that it counts with, factors. Establishes:
//! nothing. Relies on: `kernel::launch` writes `%laneid` as one expression. Reference: none.

use crate::geometry::Axis;
use crate::ivl::ast::{ArraySpace, BinaryOp, ExprKind, ExprRef, Name, Stmt, StmtKind};
use crate::ivl::bv::parse_builtin;
use crate::ivl::visit::{self, Visitor};
use crate::kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet};

/// Sizes that constants suggest; more are not tried.
const SUGGESTIONS: usize = 6;

/// What a kernel mentions.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) names: BTreeSet<Name>,
    /// How often each constant occurs.
    pub(super) constants: BTreeMap<u128, usize>,
    /// Distances of shifts to the left.
    pub(super) shifts: BTreeMap<u128, usize>,
    /// Operands of functions on numbers: the others may be floating-point.
    pub(super) operands: BTreeSet<Name>,
    /// Factors of products of unknowns.
    pub(super) factors: BTreeSet<Name>,
    /// Variables that are assigned another name, which is a constant of the program where they are assigned once.
    pub(super) copies: BTreeMap<Name, Name>,
    /// Arrays with atomic operations.
    atomics: BTreeSet<Name>,
    /// Whether one of them is in global memory.
    has_global_atomics: bool,
    /// Whether there are barriers of the block.
    has_barriers: bool,
}

impl Visitor for Seen {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Assign(list) = &stmt.kind {
            let copy = |(to, value): &(Name, ExprRef)| match &value.kind {
                ExprKind::Var(from) => Some((to.clone(), from.clone())),
                _ => None,
            };
            self.copies.extend(list.iter().filter_map(copy));
        }
        match &stmt.kind {
            StmtKind::Atomic { access, .. } => {
                self.atomics.insert(access.array.clone());
            }
            StmtKind::Barrier(_) => self.has_barriers = true,
            _ => {}
        }
        visit::walk_stmt(self, stmt);
    }

    fn expr(&mut self, e: &ExprRef) {
        if is_lane(e) {
            self.names.insert(Name::from("tid.x"));
            return;
        }
        if let ExprKind::Call(function, args) = &e.kind
            && parse_builtin(function.as_str()).is_some()
        {
            let name = |e: &ExprRef| if let ExprKind::Var(name) = &e.kind { Some(name.clone()) } else { None };
            self.operands.extend(args.iter().filter_map(name));
            if function.as_str().ends_with("_MUL") && !args.iter().any(|arg| matches!(arg.kind, ExprKind::Bv(_))) {
                self.factors.extend(args.iter().filter_map(name));
            }
        }
        match &e.kind {
            ExprKind::Var(name) => {
                self.names.insert(name.clone());
            }
            ExprKind::Call(name, args) if name.as_str().ends_with("_SHL") => {
                if let Some(ExprKind::Bv(distance)) = args.get(1).map(|distance| &distance.kind) {
                    *self.shifts.entry(*distance).or_default() += 1;
                }
            }
            ExprKind::Bv(value) => *self.constants.entry(*value).or_default() += 1,
            _ => {}
        }
        visit::walk_expr(self, e);
    }
}

/// Whether it is `%laneid`, as lowered: who reads it means the lane of a block with one axis, though with more axes all
/// ids are in it.
fn is_lane(e: &ExprRef) -> bool {
    let ExprKind::Call(function, args) = &e.kind else { return false };
    let [linear, mask] = &args[..] else { return false };
    let names = visit::free_vars(linear);
    let reads = |id: &str| names.contains(&Name::from(id));
    let is_id = |name: &Name| name.as_str().starts_with("tid.") || name.as_str().starts_with("ntid.");
    function.as_str() == "BV32_AND"
        && matches!(mask.kind, ExprKind::Bv(31))
        && names.iter().all(is_id)
        && reads("tid.x")
        && (reads("tid.y") || reads("tid.z"))
}

fn is_id(name: &Name) -> bool {
    ["tid.", "ctaid."].iter().any(|id| name.as_str().starts_with(id))
}

/// Which ids a kernel does more with than ask whether a thread, or a block, is the first one: `threadIdx.x + threadIdx.y + threadIdx.z ==
/// 0`, as cooperative groups do, is asked of launches of any shape.
struct LookedAt<'a> {
    /// What registers are assigned; `None` if that is several things.
    values: BTreeMap<&'a Name, Option<&'a ExprRef>>,
    found: BTreeSet<Name>,
}

/// Sums with more registers than this are not looked through.
const MOST_STEPS: u32 = 8;

impl<'a> LookedAt<'a> {
    fn of(kernel: &'a Kernel) -> BTreeSet<Name> {
        let bodies = || kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
        let statements = || bodies().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        let mut values: BTreeMap<&Name, Option<&ExprRef>> = BTreeMap::new();
        for stmt in statements() {
            let value = |name: &Name| match &stmt.kind {
                StmtKind::Assign(pairs) => pairs.iter().find(|(to, _)| to == name).map(|(_, value)| value),
                _ => None,
            };
            for name in visit::assigned(stmt) {
                values.entry(name).and_modify(|several| *several = None).or_insert_with(|| value(name));
            }
        }
        let mut this = LookedAt { values, found: BTreeSet::new() };
        for stmt in statements() {
            match &stmt.kind {
                // What is made of a sum, its uses tell.
                StmtKind::Assign(pairs) => {
                    let others = pairs
                        .iter()
                        .filter(|(name, value)| !this.is_single(name) || this.sum(value, MOST_STEPS).is_none());
                    let others: Vec<ExprRef> = others.map(|(_, value)| value.clone()).collect();
                    others.iter().for_each(|value| this.look(value, MOST_STEPS));
                }
                _ => visit::for_each_stmt_expr(stmt, &mut |e| this.look(e, MOST_STEPS)),
            }
        }
        this.found
    }

    fn is_single(&self, name: &Name) -> bool {
        self.values.get(name).copied().flatten().is_some()
    }

    /// The ids of which it is the sum, or the negative of that.
    fn sum(&self, e: &ExprRef, steps: u32) -> Option<BTreeSet<Name>> {
        let steps = steps.checked_sub(1)?;
        match &e.kind {
            ExprKind::Var(name) if is_id(name) => Some(BTreeSet::from([name.clone()])),
            ExprKind::Var(name) => self.sum((*self.values.get(name)?)?, steps),
            ExprKind::Extract { value, low: 0, .. } => self.sum(value, steps),
            ExprKind::Call(name, args) => {
                let mut ends = ["_ADD", "_NEG"].iter();
                let keeps = ends.any(|end| name.as_str().ends_with(end)) || name.as_str().contains("_ZEXT");
                let parts = args.iter().map(|arg| self.sum(arg, steps)).collect::<Option<Vec<_>>>()?;
                keeps.then(|| parts.into_iter().flatten().collect())
            }
            _ => None,
        }
    }

    /// Collects the ids that an expression does more with.
    fn look(&mut self, e: &ExprRef, steps: u32) {
        match &e.kind {
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) if self.is_first(a, b) => {}
            ExprKind::Var(name) if is_id(name) => {
                self.found.insert(name.clone());
            }
            ExprKind::Var(name) => {
                if let (Some(Some(value)), Some(steps)) = (self.values.get(name).copied(), steps.checked_sub(1))
                    && self.sum(value, MOST_STEPS).is_some()
                {
                    self.look(value, steps);
                }
            }
            _ if is_lane(e) => {
                self.found.insert(Name::from("tid.x"));
            }
            _ => visit::children(e).into_iter().for_each(|child| self.look(child, steps)),
        }
    }

    /// Whether two sides, with several ids, are equal for the first one only.
    fn is_first(&self, a: &ExprRef, b: &ExprRef) -> bool {
        let ids = |e: &ExprRef| match e.kind {
            ExprKind::Bv(0) => Some(BTreeSet::new()),
            _ => self.sum(e, MOST_STEPS),
        };
        ids(a).zip(ids(b)).is_some_and(|(a, b)| a.union(&b).count() > 1)
    }
}

impl Seen {
    pub(super) fn of(kernel: &Kernel) -> Seen {
        let mut seen = Seen::default();
        for procedure in &kernel.program.procedures {
            procedure.body.iter().flat_map(|body| &body.blocks).for_each(|block| visit::walk_block(&mut seen, block));
        }
        let looked_at = LookedAt::of(kernel);
        seen.names.retain(|name| !is_id(name) || looked_at.contains(name));
        let mut global = kernel.program.arrays.iter().filter(|array| array.space == ArraySpace::Global);
        seen.has_global_atomics = global.any(|array| seen.atomics.contains(&array.name));
        seen
    }

    /// Whether threads add up in global memory, without a barrier that would have their block do so first.
    pub(super) fn adds_up(&self) -> bool {
        self.has_global_atomics && !self.has_barriers
    }

    /// Whether the kernel's statements read `tid` or `ctaid` of an axis.
    pub(super) fn looks_at(&self, id: &str, axis: Axis) -> bool {
        self.names.contains(&Name::from(format!("{id}.{axis}")))
    }

    /// Sizes that the constants suggest, the likely ones first: numbers as they are, as shifts, and as bytes of words.
    pub(super) fn suggestions(&self, range: std::ops::RangeInclusive<u32>) -> Vec<u32> {
        let mut votes: BTreeMap<u32, usize> = BTreeMap::new();
        let mut vote = |value: u128, count: usize| {
            if let Ok(size) = u32::try_from(value)
                && range.contains(&size)
                && size.is_power_of_two()
            {
                *votes.entry(size).or_default() += count;
            }
        };
        for (&value, &count) in &self.constants {
            vote(value, 2 * count);
            vote(value / 4, count);
            vote(value + 1, count);
        }
        for (&distance, &count) in &self.shifts {
            if distance <= 16 {
                vote(1 << distance, 2 * count);
            }
        }
        let mut sizes: Vec<(usize, u32)> = votes.into_iter().map(|(size, count)| (count, size)).collect();
        sizes.sort_by_key(|(count, size)| (usize::MAX - count, *size));
        sizes.into_iter().map(|(_, size)| size).take(SUGGESTIONS).collect()
    }
}
