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
    /// Whether the load is that of an atomic which changes the word.
    pub(super) adds: bool,
    /// In front of the first statement behind the branch.
    pub(super) branch: Position,
    /// Byte offset over constants.
    pub(super) word: ExprRef,
    /// The writings that the load may have observed: indices.
    pub(super) writes: Vec<usize>,
}

/// A condition of a branch, and the register in it that has what a load found.
pub(super) struct Condition<'b> {
    pub(super) condition: &'b ExprRef,
    pub(super) loaded: &'b Name,
}

impl<'b> Ways<'_, 'b> {
    /// The observations of an array by loads of so many bytes, as yet of no writings, with the conditions of the branches.
    pub(super) fn branches(&self, array: &Name, bytes: u32) -> Vec<(Observation, Condition<'b>)> {
        let mut found = Vec::new();
        for (load, stmt) in self.paths.statements().filter(|(_, stmt)| !is_other(stmt)) {
            let Some(access) = accessed(stmt).filter(|access| access.array == *array) else { continue };
            let Some(loaded) = result(stmt) else { continue };
            let fits = access.guard.is_none()
                && access.collective.is_none()
                && access.strong.is_some_and(|scope| scope >= self.lowering.least_scope(array))
                && access.bytes == bytes;
            let Some(word) = fits.then(|| self.over_constants(&access.offset, load)).flatten() else { continue };
            let (acquires, adds) = (stmt.attributes.has(ACQUIRES), !is_read(stmt));
            for (branch, other) in self.paths.statements().filter(|(branch, _)| self.paths.dominates(load, *branch)) {
                if let StmtKind::Assume(Premise::Program, condition) = &other.kind {
                    let observation =
                        Observation { load, acquires, adds, branch, word: word.clone(), writes: Vec::new() };
                    found.push((observation, Condition { condition, loaded }));
                }
            }
        }
        found
    }

    /// The observations of an array into which numbers are written.
    pub(super) fn observations(&self, array: &Name, writes: &[Write<'_>]) -> Vec<Observation> {
        let Some(bytes) = writes.first().map(|write| write.access.bytes) else { return Vec::new() };
        let branches = self.branches(array, bytes).into_iter().filter(|(observation, _)| !observation.adds);
        let observed = branches.filter_map(|(observation, Condition { condition, loaded })| {
            let given = [(loaded, observation.load)];
            let condition = self.paths.value_over(condition, observation.branch, &given, &|_| false)?;
            Some(Observation { writes: observed(&condition, loaded, writes)?, ..observation })
        });
        observed.collect()
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
