//! Loads of flags that decide branches.
//!
//! Input: the blocks, the writings of an array. Output: [`Observation`]s. Establishes: a thread that comes to [`Observation::branch`] has
//! executed the load before, at that word, and this has observed one of [`Observation::writes`] if the word held 0 at the start.
//! Relies on: a load of a word observes what the word held at the start or one of the writings of that array. Reference: PTX ISA,
//! memory consistency model (observation).

use super::super::completion::{ACQUIRES, accessed};
use super::super::numbers::number;
use super::super::paths::Position;
use super::writers::Write;
use super::{Ways, is_other, is_read};
use crate::ivl::ast::{ExprRef, Name, Stmt, StmtKind};
use crate::ivl::attributes::Attributes;
use crate::ivl::claim::Premise;
use crate::ivl::visit::free_vars;
use std::collections::BTreeMap;

/// A load of a word that decides a branch.
pub(super) struct Observation {
    pub(super) load: Position,
    pub(super) acquires: bool,
    /// In front of the first statement behind the branch.
    pub(super) branch: Position,
    /// Byte offset over constants.
    pub(super) word: ExprRef,
    /// The writings that the load may have observed: indices.
    pub(super) writes: Vec<usize>,
}

impl Ways<'_, '_> {
    /// The observations of an array.
    pub(super) fn observations(&self, array: &Name, writes: &[Write<'_>]) -> Vec<Observation> {
        let mut found = Vec::new();
        for (load, stmt) in self.paths.statements().filter(|(_, stmt)| is_read(stmt) && !is_other(stmt)) {
            let Some(access) = accessed(stmt).filter(|access| access.array == *array) else { continue };
            let Some(loaded) = result(stmt) else { continue };
            let fits = access.guard.is_none()
                && access.collective.is_none()
                && access.strong.is_some_and(|scope| scope >= self.lowering.least_scope(array))
                && writes.iter().all(|write| write.access.bytes == access.bytes)
                && self.paths.definitions(loaded) == [load];
            let Some(word) = fits.then(|| self.over_constants(&access.offset, load)).flatten() else { continue };
            let acquires = stmt.attributes.has(ACQUIRES);
            for (branch, other) in self.paths.statements() {
                let StmtKind::Assume(Premise::Program, condition) = &other.kind else { continue };
                let condition = self.paths.value(condition, branch, &|name| name == loaded);
                let condition = condition.filter(|_| self.paths.dominates(load, branch));
                if let Some(writes) = condition.and_then(|condition| observed(&condition, loaded, writes)) {
                    found.push(Observation { load, acquires, branch, word: word.clone(), writes });
                }
            }
        }
        found
    }
}

/// The register that has what an access finds.
fn result(stmt: &Stmt) -> Option<&Name> {
    match &stmt.kind {
        StmtKind::Load { dst, .. } => Some(dst),
        StmtKind::Atomic { dst, .. } => dst.as_ref(),
        _ => None,
    }
}

/// Which writings a load may have observed if a condition holds, and that for 0 does not.
fn observed(condition: &ExprRef, loaded: &Name, writes: &[Write<'_>]) -> Option<Vec<usize>> {
    if !free_vars(condition).contains(loaded) {
        return None;
    }
    let holds = |value: u128| Some(number(condition, &BTreeMap::from([(loaded, value)]))? != 0);
    if holds(0)? {
        return None;
    }
    let mut observed = Vec::new();
    for (index, write) in writes.iter().enumerate() {
        observed.extend(holds(write.number)?.then_some(index));
    }
    (!observed.is_empty()).then_some(observed)
}
