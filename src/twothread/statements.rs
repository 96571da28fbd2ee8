//! Table 3: each predicated statement for both threads.
//!
//! Input: the blocks of the predicated kernel. Output: the blocks of the two-thread procedure, under the
//! same labels. Establishes: a loop goes on while one thread is at its head, and is left when none
//! is. Relies on: stage 4 has predicated every statement. Reference: the lock-step paper, Table 3.

use super::accesses::{AccessKind, Accesses};
use super::barriers::Barriers;
use super::copies::{Copies, THREADS};
use super::{Options, Pair};
use crate::diagnostic::Diagnostic;
use crate::ivl::ast::{Attribute, AttributeArg, Block, ExprRef, Implementation, Name, Stmt, StmtKind, Type};
use crate::ivl::bv;
use crate::ivl::visit::map_attribute;
use crate::predicate::Predicated;
use crate::predicate::rewrite::BLOCK_ID_WIDTH;
use crate::span::Span;
use std::collections::BTreeSet;

/// Translates all blocks; also counts barriers.
///
/// # Errors
/// Those of accesses and barriers.
pub fn translate(
    predicated: &Predicated,
    body: &Implementation,
    copies: &Copies,
    accesses: &mut Accesses,
    pair: Pair,
    options: &Options,
) -> Result<(Vec<Block>, usize), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut barriers = Vec::new();
    let mut blocks = Vec::with_capacity(body.blocks.len());
    for block in &body.blocks {
        let mut stmts = Vec::new();
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Assume(e) if is_back(predicated, block) => {
                    let [first, second] = THREADS.map(|thread| copies.expr(e, thread));
                    stmts.push(with_kind(stmt, StmtKind::Assume(bv::or(first, second))));
                }
                // The arrays to clear are known once all accesses are translated.
                StmtKind::Barrier(_) => {
                    barriers.push((blocks.len(), stmts.len(), stmt));
                    stmts.push(stmt.clone());
                }
                _ => errors.extend(statement(stmt, &block.label, copies, accesses, &mut stmts).err()),
            }
        }
        blocks.push(Block { stmts, ..block.clone() });
    }
    let count = barriers.len();
    let active = bv::var(predicated.active.clone(), Type::Bv(BLOCK_ID_WIDTH));
    let arrays = &accesses.checked_arrays;
    let context = Barriers { copies, pair, options, active, end_id: predicated.end_id, arrays };
    // From the back, so that places before stay right.
    for (block, index, stmt) in barriers.into_iter().rev() {
        let StmtKind::Barrier(barrier) = &stmt.kind else { continue };
        let mut translated = Vec::new();
        errors.extend(context.translate(stmt, barrier, &mut translated).err());
        blocks[block].stmts.splice(index..=index, translated);
    }
    if let Some(start) = blocks.first_mut() {
        start.stmts.splice(0..0, clear_all(arrays));
    }
    if errors.is_empty() { Ok((blocks, count)) } else { Err(errors) }
}

fn is_back(predicated: &Predicated, block: &Block) -> bool {
    predicated.loops.iter().any(|this| this.back == block.label)
}

fn with_kind(stmt: &Stmt, kind: StmtKind) -> Stmt {
    Stmt { kind, ..stmt.clone() }
}

/// Nothing is logged at the start.
fn clear_all(arrays: &BTreeSet<Name>) -> Vec<Stmt> {
    let clear = |array: &Name| StmtKind::Call {
        procedure: Name::from(format!("BARRIER_CLEAR_{array}")),
        args: vec![bv::boolean(true)],
        results: Vec::new(),
    };
    arrays
        .iter()
        .map(|array| Stmt { kind: clear(array), attributes: Vec::new(), span: Span::NONE, origin: None })
        .collect()
}

/// One statement that is no barrier.
fn statement(
    stmt: &Stmt,
    block: &Name,
    copies: &Copies,
    accesses: &mut Accesses,
    out: &mut Vec<Stmt>,
) -> Result<(), Diagnostic> {
    match &stmt.kind {
        StmtKind::Assign(pairs) => {
            for thread in THREADS {
                let copy = |(name, value): &(Name, ExprRef)| (thread.copy(name), copies.expr(value, thread));
                out.push(with_kind(stmt, StmtKind::Assign(pairs.iter().map(copy).collect())));
            }
        }
        StmtKind::Havoc(names) => {
            let both = names.iter().flat_map(|name| THREADS.map(|thread| thread.copy(name))).collect();
            out.push(with_kind(stmt, StmtKind::Havoc(both)));
        }
        StmtKind::Assume(e) => {
            for thread in THREADS {
                out.push(with_kind(stmt, StmtKind::Assume(copies.expr(e, thread))));
            }
        }
        StmtKind::Assert(e) => {
            for thread in THREADS {
                let mut attributes: Vec<Attribute> =
                    stmt.attributes.iter().map(|a| map_attribute(a, &mut |e| copies.expr(e, thread))).collect();
                let number = AttributeArg::Expr(bv::int(i128::from(thread.number())));
                attributes.push(Attribute { name: Name::from("thread"), args: vec![number] });
                out.push(Stmt { attributes, ..with_kind(stmt, StmtKind::Assert(copies.expr(e, thread))) });
            }
        }
        StmtKind::Load { dst, access } => {
            accesses.log_and_check(stmt, AccessKind::Read, access, None, block, out)?;
            accesses.load_value(stmt, dst, access, out)?;
        }
        StmtKind::Store { value, access } => {
            accesses.log_and_check(stmt, AccessKind::Write, access, Some(value), block, out)?;
        }
        StmtKind::Atomic { dst, access } => {
            accesses.log_and_check(stmt, AccessKind::Atomic, access, None, block, out)?;
            if let Some(dst) = dst {
                let both = THREADS.map(|thread| thread.copy(dst)).to_vec();
                out.push(with_kind(stmt, StmtKind::Havoc(both)));
            }
        }
        // Fences order nothing that this stage relies on: only barriers clear the log.
        StmtKind::Fence(_) => {}
        StmtKind::Barrier(_) => unreachable!("twothread: barriers are translated last"),
        StmtKind::Call { procedure, .. } => panic!("twothread: a call of `{procedure}` passed stage 4"),
    }
    Ok(())
}
