//! Pointer parameters that point into one array, as a launch that is known tells.
//!
//! Output: [`Aliases`]: the parameters in groups, and how far apart those of a group point where that is known.
//! Establishes: groups are disjoint; what is told of two pairs that share a parameter is told of the third. Relies on: nothing.
//! Reference: none.

use petgraph::algo::tarjan_scc;
use petgraph::prelude::UnGraphMap;
use std::collections::BTreeMap;

/// Two parameters, by position, and how many bytes the second points behind the first, if that is known.
pub type Pair = (u32, u32, Option<i64>);

/// Groups of pointer parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    /// The first of its group and the distance from it in bytes, for each parameter that is in one.
    of: BTreeMap<u32, (u32, Option<i64>)>,
}

impl Aliases {
    /// The groups of pairs. The first of a group is that with the lowest position.
    pub fn of(pairs: &[Pair]) -> Aliases {
        let graph: UnGraphMap<u32, ()> = pairs.iter().map(|(one, other, _)| (*one, *other)).collect();
        let mut of = BTreeMap::new();
        for group in tarjan_scc(&graph) {
            let Some(first) = group.iter().min().copied() else { continue };
            let distances = distances(pairs, first);
            of.extend(group.into_iter().map(|member| (member, (first, distances.get(&member).copied()))));
        }
        Aliases { of }
    }

    /// Whether no two alias.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether some two alias and nobody knows how far apart they point.
    pub fn has_unknown_distances(&self) -> bool {
        self.of.values().any(|(_, distance)| distance.is_none())
    }

    /// The first parameter of the group that a parameter is in.
    pub fn first(&self, parameter: u32) -> Option<u32> {
        self.of.get(&parameter).map(|(first, _)| *first)
    }

    /// How many bytes behind the first of its group a parameter points, if that is known.
    pub fn distance(&self, parameter: u32) -> Option<i64> {
        self.of.get(&parameter)?.1
    }
}

/// The distances from one parameter that pairs tell, also through others.
fn distances(pairs: &[Pair], from: u32) -> BTreeMap<u32, i64> {
    let mut known = BTreeMap::from([(from, 0i64)]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for (one, other, distance) in pairs {
            let next = match distance {
                Some(distance) if *one == at => (*other, *distance),
                Some(distance) if *other == at => (*one, distance.wrapping_neg()),
                _ => continue,
            };
            if !known.contains_key(&next.0) {
                known.insert(next.0, known[&at].wrapping_add(next.1));
                open.push(next.0);
            }
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_make_groups_and_distances_add_up() {
        let aliases = Aliases::of(&[(5, 3, Some(8)), (3, 4, Some(-2)), (1, 7, None), (7, 8, Some(1))]);
        let all: Vec<_> = (0..9).map(|parameter| (aliases.first(parameter), aliases.distance(parameter))).collect();
        let third = |distance| (Some(3), Some(distance));
        let first = |distance| (Some(1), distance);
        let none = (None, None);
        assert_eq!(all, [none, first(Some(0)), none, third(0), third(-2), third(-8), none, first(None), first(None)]);
        assert!(Aliases::of(&[]).is_empty());
    }
}
