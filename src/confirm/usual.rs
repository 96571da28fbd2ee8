//! Launches and values that kernels are usually run with.
//!
//! Input: a kernel program, what is fixed of its launch. Output: sizes of launches and values of scalars to try, likely
//! ones first. Establishes: what the user fixed stays. Reference: none.

use crate::geometry::{Axis, Geometry};
use crate::ivl::ast::{
    BinaryOp, Constant, ExprKind, ExprRef, Name, Procedure, Program, Stmt, StmtKind, Type, Variable,
};
use crate::ivl::visit::{for_each_stmt_expr, mentions};
use crate::order::Order;
use crate::vcgen::ranges;
use crate::vcgen::term::{Terms, mask};
use crate::vcgen::translate::{Language, Translator};
use std::collections::{BTreeMap, BTreeSet};

/// All statements of a program.
pub(super) fn statements(program: &Program) -> impl Iterator<Item = &Stmt> {
    let bodies = program.procedures.iter().flat_map(|procedure| &procedure.body);
    bodies.flat_map(|body| &body.blocks).flat_map(|block| &block.stmts)
}

/// Whether a statement mentions a constant.
fn reads(program: &Program, name: &str) -> bool {
    let name = Name::from(name);
    let mut found = false;
    let mut look = |e: &ExprRef| found |= mentions(e, &name);
    statements(program).for_each(|stmt| for_each_stmt_expr(stmt, &mut look));
    found
}

/// What preconditions say that constants are equal to.
pub(super) struct Stated<'p> {
    constants: &'p [Constant],
    /// In their order: `n == 8bv32`, `n == BV32_MUL(w, h)`.
    equations: Vec<(&'p Name, &'p ExprRef)>,
}

impl<'p> Stated<'p> {
    pub(super) fn of(program: &'p Program) -> Self {
        let conditions = program.procedures.iter().flat_map(|procedure| &procedure.requires);
        let equations = conditions.filter_map(|condition| match &condition.expr.kind {
            ExprKind::Binary(BinaryOp::Eq, a, b) => match (&a.kind, &b.kind) {
                (ExprKind::Var(name), _) => Some((name, b)),
                (_, ExprKind::Var(name)) => Some((name, a)),
                _ => None,
            },
            _ => None,
        });
        Stated { constants: &program.constants, equations: equations.collect() }
    }

    /// Values of a launch, changed where an equation says so.
    pub(super) fn meet(&self, mut values: BTreeMap<Name, u128>) -> BTreeMap<Name, u128> {
        for (name, equal) in &self.equations {
            if let Some(value) = self.value(equal, &values) {
                values.insert((*name).clone(), value);
            }
        }
        values
    }

    /// What an expression is; `None` if that depends on more than constants with values.
    fn value(&self, e: &ExprRef, values: &BTreeMap<Name, u128>) -> Option<u128> {
        let mut terms = Terms::default();
        let known = self.constants.iter().filter_map(|constant| {
            let Variable { name, ty, .. } = &constant.variable;
            let (value, Type::Bv(width)) = (values.get(name)?, ty) else { return None };
            Some((name.clone(), terms.bv(*value & mask(*width), *width)))
        });
        let known = known.collect();
        let translator =
            Translator { functions: BTreeMap::new(), by_axiom: BTreeSet::new(), language: Language::Kernel };
        let term = translator.expr(&mut terms, &known, e).ok()?;
        terms.bv_value(term)
    }
}

/// Constants that a precondition fixes: `n == 8bv32`.
pub(super) fn fixed(program: &Program) -> BTreeMap<Name, u128> {
    let requires = |procedure: &Procedure| ranges::of_preconditions(&procedure.requires);
    let ranges = program.procedures.iter().flat_map(requires);
    ranges.filter(|(_, (low, high))| low == high).map(|(name, (value, _))| (name, value)).collect()
}

/// Whether a thread may end the launch, after which nothing surely happens.
pub(super) fn can_trap(program: &Program) -> bool {
    statements(program).any(|stmt| stmt.kind == StmtKind::Trap)
}

/// Whether threads can talk to each other without a barrier of the block: then something else may order them.
pub(super) fn can_wait(program: &Program) -> bool {
    statements(program).any(|stmt| match &stmt.kind {
        StmtKind::Load { access, .. } | StmtKind::Store { access, .. } => access.strong.is_some(),
        StmtKind::Atomic { .. } | StmtKind::WarpBarrier(_) => true,
        StmtKind::Fence(fence) => match fence.order() {
            Order::Warp => true,
            Order::Block
            | Order::Counted
            | Order::Grid
            | Order::Fence { .. }
            | Order::BarrierObjects
            | Order::Proxy { .. } => false,
            // Of a thread and its own copies.
            Order::Completion => false,
        },
        _ => false,
    })
}

/// Launches with the fixed sizes, likely ones first; an axis that the kernel never looks at has size 1.
pub(super) fn launches(program: &Program, fixed: Geometry) -> Vec<Geometry<u32>> {
    let blocks = [[64, 1, 1], [8, 8, 1], [4, 4, 4], [256, 1, 1], [32, 8, 1], [2, 1, 1], [1024, 1, 1]];
    let read = |ids: [&str; 3]| ids.map(|id| reads(program, id));
    let (block_axes, grid_axes) = (read(["tid.x", "tid.y", "tid.z"]), read(["ctaid.x", "ctaid.y", "ctaid.z"]));
    let sizes = |sizes: [u32; 3], fixed: [Option<u32>; 3], read: [bool; 3]| {
        Axis::ALL.map(Axis::index).map(|axis| match fixed[axis] {
            Some(size) => size,
            None if axis == 0 || read[axis] => sizes[axis],
            None => 1,
        })
    };
    let mut launches = Vec::new();
    for block in blocks {
        let (block, grid) = (sizes(block, fixed.block, block_axes), sizes([2, 2, 2], fixed.grid, grid_axes));
        let launch = Geometry { block, grid };
        if !launches.contains(&launch) {
            launches.push(launch);
        }
    }
    launches
}

/// Values of scalars that kernels are launched with: sizes of the data in terms of the launch first. The
/// large one makes products wrap.
pub(super) fn values(launch: &Geometry<u32>) -> [u128; 15] {
    let (block, total) = (launch.block_threads(), launch.threads());
    let row = u128::from(launch.block[0]);
    let width = row * u128::from(launch.grid[0]);
    [total, block, 16, 1024, width, 1, 2, 4 * total, total - 1, 0, row, 64, 3, 4, 1 << 24]
}

/// Values that give loops few rounds, and rows of the length of a block's.
pub(super) fn small_values(launch: &Geometry<u32>) -> [u128; 8] {
    let row = u128::from(launch.block[0]);
    [2, row, 16, 64, 3, 1, 5, 2 * row]
}
