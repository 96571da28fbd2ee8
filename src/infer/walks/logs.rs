//! The accesses that a program logs.
//!
//! Input: a two-thread program. Output: its logs of weak reads and writes, with number, array, width and
//! offset. Establishes: nothing; what is missing only has no walk.

use super::Walk;
use crate::infer::ghosts::{self, LoopGhosts};
use crate::ivl::ast::{ExprRef, Name, Procedure, Stmt, StmtKind};
use std::collections::BTreeSet;

/// A logged access.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// Number of the access.
    pub(crate) site: u32,
    /// Array.
    pub(crate) array: Name,
    /// Bytes.
    pub(crate) bytes: u32,
    /// Offset in bytes, 64 bits.
    pub(crate) offset: ExprRef,
    /// Whether it was remembered.
    pub(crate) logged: Name,
}

/// The access that a statement logs.
pub(super) fn log_of(stmt: &Stmt) -> Option<Log> {
    match &stmt.kind {
        StmtKind::Log { event, logged } if event.kind.is_weak() => Some(Log {
            site: event.site,
            array: event.array.clone(),
            bytes: event.bytes,
            offset: event.offset.clone(),
            logged: logged.clone(),
        }),
        _ => None,
    }
}

/// Accesses of the arrays of a walk that stand in no loop.
pub(super) fn outside(procedure: &Procedure, loops: &[LoopGhosts], walk: &Walk) -> Vec<Log> {
    let blocks = procedure.body.iter().flat_map(|body| &body.blocks);
    let blocks = blocks.filter(|block| !loops.iter().any(|l| l.blocks.contains(&block.label)));
    let logs = blocks.flat_map(|block| &block.stmts).filter_map(log_of);
    logs.filter(|log| walk.places.iter().any(|place| place.array == log.array)).collect()
}

/// The numbers of the accesses of an array that are logged.
pub(super) fn logging(procedure: &Procedure, array: &Name) -> BTreeSet<u32> {
    let stmts = procedure.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
    let site = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Log { event, .. } if event.array == *array => Some(event.site),
        _ => None,
    };
    stmts.filter_map(site).collect()
}

pub(super) fn offset_name(site: u32) -> Name {
    Name::from(format!("offset.of.{site}"))
}

/// The procedure with a variable for the offset of each access, in whose passive form [`find`] sees them.
pub(crate) fn with_offsets(procedure: &Procedure) -> Procedure {
    let mut observed = procedure.clone();
    let mut names = Vec::new();
    for block in observed.body.iter_mut().flat_map(|body| &mut body.blocks) {
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in std::mem::take(&mut block.stmts) {
            if let Some(log) = log_of(&stmt) {
                names.push((offset_name(log.site), log.offset.ty.clone()));
                stmts.push(ghosts::assign(&offset_name(log.site), log.offset));
            }
            stmts.push(stmt);
        }
        block.stmts = stmts;
    }
    names.into_iter().for_each(|(name, ty)| ghosts::declare(&mut observed, &name, ty));
    observed
}
