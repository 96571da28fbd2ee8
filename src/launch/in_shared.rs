//! Parameters that say how much of an array in shared memory is used.
//!
//! Input: a kernel program. Output: names of 32-bit parameters. Establishes: nothing; a parameter too many costs a reader a condition that
//! could be weaker. Relies on: nothing. Reference: CUDA C++ Programming Guide, "Compute Capabilities" (shared memory a block).
//!
//! Such a parameter is a part of a sum that is an offset into shared memory (`samples + blockDim.x + taps - 1`), or it is compared with one
//! (`i < taps`, where `shared[i]` is accessed). Sums are followed through registers; products of unknowns are none.

use crate::ivl::ast::{Access, ArraySpace, BinaryOp, ExprKind, ExprRef, Name, StmtKind};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use crate::ivl::visit::{self, Visitor};
use crate::kernel::Kernel;
use std::collections::BTreeSet;

/// The constants that stand for such parameters.
pub(super) fn parameters(kernel: &Kernel) -> BTreeSet<Name> {
    let bodies = || kernel.program.procedures.iter().flat_map(|procedure| &procedure.body);
    let statements = || bodies().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
    let shared = kernel.program.arrays.iter().filter(|array| array.space == ArraySpace::Shared);
    let shared: BTreeSet<&Name> = shared.map(|array| &array.name).collect();
    let mut parts = BTreeSet::new();
    for stmt in statements() {
        if let StmtKind::Load { access, .. } | StmtKind::Store { access, .. } | StmtKind::Atomic { access, .. } =
            &stmt.kind
            && shared.contains(&access.array)
        {
            let Access { offset, .. } = access;
            add_parts(offset, &mut parts);
        }
    }
    loop {
        let before = parts.len();
        for stmt in statements() {
            let StmtKind::Assign(list) = &stmt.kind else { continue };
            for (name, value) in list {
                if parts.contains(name) {
                    add_parts(value, &mut parts);
                }
            }
        }
        if parts.len() == before {
            break;
        }
    }
    let mut compared = Compared { parts: &parts, others: BTreeSet::new() };
    visit::walk_program(&mut compared, &kernel.program);
    &parts | &compared.others
}

/// The variables that a sum is of.
fn add_parts(e: &ExprRef, parts: &mut BTreeSet<Name>) {
    let is_number = |e: &ExprRef| matches!(e.kind, ExprKind::Bv(_));
    match &e.kind {
        ExprKind::Var(name) => {
            parts.insert(name.clone());
        }
        ExprKind::Extract { value, low: 0, .. } => add_parts(value, parts),
        ExprKind::Ite(_, then, otherwise) => [then, otherwise].into_iter().for_each(|e| add_parts(e, parts)),
        ExprKind::Call(function, args) => match (parse_builtin(function.as_str()), &args[..]) {
            (Some(Builtin::ZeroExtend { .. } | Builtin::SignExtend { .. }), [value]) => add_parts(value, parts),
            (Some(Builtin::Op(BvOp::Add | BvOp::Sub | BvOp::Or, _)), args) => {
                args.iter().for_each(|e| add_parts(e, parts))
            }
            (Some(Builtin::Op(BvOp::Shl | BvOp::Mul, _)), [value, factor]) if is_number(factor) => {
                add_parts(value, parts)
            }
            (Some(Builtin::Op(BvOp::Mul, _)), [factor, value]) if is_number(factor) => add_parts(value, parts),
            _ => {}
        },
        _ => {}
    }
}

/// What such sums are compared with.
struct Compared<'a> {
    parts: &'a BTreeSet<Name>,
    others: BTreeSet<Name>,
}

impl Visitor for Compared<'_> {
    fn expr(&mut self, e: &ExprRef) {
        if let Some([a, b]) = compared(e) {
            let [mut of_a, mut of_b] = [BTreeSet::new(), BTreeSet::new()];
            add_parts(a, &mut of_a);
            add_parts(b, &mut of_b);
            for (one, other) in [(&of_a, &of_b), (&of_b, &of_a)] {
                if !one.is_disjoint(self.parts) {
                    self.others.extend(other.iter().cloned());
                }
            }
        }
        visit::walk_expr(self, e);
    }
}

/// The sides of a comparison.
fn compared(e: &ExprRef) -> Option<[&ExprRef; 2]> {
    match &e.kind {
        ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => Some([a, b]),
        ExprKind::Call(function, args) => match (parse_builtin(function.as_str())?, &args[..]) {
            (Builtin::Op(op, _), [a, b]) if op.is_comparison() => Some([a, b]),
            _ => None,
        },
        _ => None,
    }
}
