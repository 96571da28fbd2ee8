//! The ghost code of a walk.
//!
//! Input: a two-thread program, a walk. Output: the program with the walk's ghosts. Establishes: only ghosts are
//! assigned.

use super::Walk;
use super::logs::log_of;
use crate::infer::ghosts::{self, LoopGhosts};
use crate::ivl::ast::{BinaryOp, ExprKind, Procedure, StmtKind, Thread, Type};
use crate::ivl::bv;

/// Adds the ghosts of a walk.
pub(crate) fn insert(procedure: &mut Procedure, walk: &Walk, loops: &[LoopGhosts]) {
    let Some((&first, _)) = walk.loops.first_key_value() else { return };
    for thread in Thread::BOTH {
        ghosts::declare(procedure, &walk.steps_name(thread), Type::Int);
        ghosts::declare(procedure, &walk.start_name(thread), walk.ty.clone());
    }
    ghosts::declare(procedure, &walk.logged_name(), Type::Int);
    if let Some(entry) = ghosts::block_mut(procedure, &loops[first].entry) {
        for thread in Thread::BOTH {
            let here = bv::var(walk.register.of(thread), walk.ty.clone());
            entry.stmts.push(ghosts::assign(&walk.start_name(thread), here));
            entry.stmts.push(ghosts::assign(&walk.steps_name(thread), bv::int(0)));
        }
    }
    for (&index, &steps) in &walk.loops {
        count(procedure, walk, &loops[index], steps);
    }
    record(procedure, walk);
}

/// Behind the assignments of a loop to the register, `steps.r$t := steps.r$t + (if guard then STEPS else 0)`.
fn count(procedure: &mut Procedure, walk: &Walk, ghosts: &LoopGhosts, steps: i128) {
    for thread in Thread::BOTH {
        let register = walk.register.of(thread);
        let blocks = procedure.body.iter_mut().flat_map(|body| &mut body.blocks);
        for block in blocks.filter(|block| ghosts.blocks.contains(&block.label)) {
            let update = block.stmts.iter().enumerate().find_map(|(at, stmt)| match &stmt.kind {
                StmtKind::Assign(list) => list.iter().find(|(name, _)| *name == register).map(|(_, e)| (at, e.clone())),
                _ => None,
            });
            let Some((at, value)) = update else { continue };
            let step = match &value.kind {
                ExprKind::Ite(guard, _, other) if other.kind == ExprKind::Var(register.clone()) => {
                    bv::ite(guard.clone(), bv::int(steps), bv::int(0))
                }
                _ => bv::int(steps),
            };
            let next = bv::op(BinaryOp::Add, walk.steps(thread), step);
            block.stmts.insert(at + 1, ghosts::assign(&walk.steps_name(thread), next));
        }
    }
}

/// Behind each access of a place, `steps.r.logged := if logged then steps.r$1 else steps.r.logged`.
fn record(procedure: &mut Procedure, walk: &Walk) {
    for block in procedure.body.iter_mut().flat_map(|body| &mut body.blocks) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in std::mem::take(&mut block.stmts) {
            let log = log_of(&stmt).filter(|log| walk.places.iter().any(|place| place.sites.contains(&log.site)));
            stmts.push(stmt);
            if let Some(log) = log {
                let value = bv::ite(bv::var(log.logged, Type::Bool), walk.steps(Thread::First), walk.logged());
                stmts.push(ghosts::assign(&walk.logged_name(), value));
            }
        }
        block.stmts = stmts;
    }
}
