//! Family `rotation`: registers that exchange their values.
//!
//! Shapes, for registers where one takes the value that another had: they differ pairwise; each has
//! one of the values that they had on entry.
//! Example: `p$1 == p.entry.L$1 || p$1 == q.entry.L$1`, for two buffers whose pointers are swapped in each
//! round, or three that rotate.
//! Inductive because a permutation of distinct values is one again.
//! Reference: the kernels `pingpong` and `ring_of_three` in tests/kernels.

use super::View;
use crate::ivl::ast::{Name, Thread, Type};
use crate::ivl::bv;
use crate::vcgen::term::Term;
use petgraph::unionfind::UnionFind;
use std::collections::BTreeMap;

/// Registers that may rotate.
const MEMBER_LIMIT: usize = 4;

pub(super) fn propose(view: &mut View) {
    let variables: Vec<(Name, Type)> = view
        .variables
        .iter()
        .map(|(name, ty)| (name.clone(), ty.clone()))
        .filter(|(_, ty)| *ty != Type::Bool)
        .collect();
    for thread in Thread::BOTH {
        for group in groups(view, &variables, thread) {
            if (2..=MEMBER_LIMIT).contains(&group.len()) {
                rotation(view, &group, thread);
            }
        }
    }
}

/// Registers connected by `x` takes the value of `y`.
fn groups(view: &View, variables: &[(Name, Type)], thread: Thread) -> Vec<Vec<(Name, Type)>> {
    let heads: BTreeMap<Term, usize> = (variables.iter().enumerate())
        .filter_map(|(i, (name, _))| Some((*view.cut.at_head.get(&name.of(thread))?, i)))
        .collect();
    let mut sets = UnionFind::new(variables.len());
    for (i, (name, _)) in variables.iter().enumerate() {
        for update in view.updates(&name.of(thread)) {
            if let Some(&j) = heads.get(&update) {
                sets.union(i, j);
            }
        }
    }
    let mut groups: BTreeMap<usize, Vec<(Name, Type)>> = BTreeMap::new();
    for (i, variable) in variables.iter().enumerate() {
        groups.entry(sets.find(i)).or_default().push(variable.clone());
    }
    groups.into_values().collect()
}

fn rotation(view: &mut View, group: &[(Name, Type)], thread: Thread) {
    let mut starts = Vec::new();
    for (name, ty) in group {
        starts.push(view.on_entry(&name.of(thread), ty));
    }
    for (i, (name, ty)) in group.iter().enumerate() {
        let here = bv::var(name.of(thread), ty.clone());
        for (other, other_ty) in &group[..i] {
            if other_ty == ty {
                let there = bv::var(other.of(thread), ty.clone());
                view.propose("rotation", bv::ne(here.clone(), there));
            }
        }
        let same_type = starts.iter().zip(group).filter(|(_, (_, other))| other == ty);
        let one_of = same_type.map(|(start, _)| bv::eq(here.clone(), start.clone())).reduce(bv::or);
        if let Some(one_of) = one_of {
            view.propose("rotation", one_of);
        }
    }
}
