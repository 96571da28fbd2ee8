//! Sets and relations over the events of an execution, as conditions.
//!
//! Input: conditions. Output: conditions. Establishes: an operation is exact, in both directions: a pair is in the result where
//! its condition holds, and nowhere else. Relies on: events are few. Reference: finite relational logic.
//!
//! What is false in every execution is not stored. Long conditions get a name ([`Builder::named`]), so that terms stay small.

use crate::vcgen::term::{Node, Sort, Term, Terms};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeMap;

/// Events with the conditions under which they are members.
pub(crate) type Set = BTreeMap<usize, Term>;

/// Pairs of events with the conditions under which they are related.
pub(crate) type Relation = BTreeMap<(usize, usize), Term>;

/// Builds conditions.
pub(crate) struct Builder<'t> {
    pub(crate) terms: &'t mut Terms,
    /// What names stand for: true in every execution.
    pub(crate) definitions: Vec<Term>,
    names: BTreeMap<Term, Term>,
}

impl<'t> Builder<'t> {
    pub(crate) fn new(terms: &'t mut Terms) -> Builder<'t> {
        Builder { terms, definitions: Vec::new(), names: BTreeMap::new() }
    }

    /// A condition, or a name for it.
    fn named(&mut self, condition: Term) -> Term {
        if !matches!(self.terms.node(condition), Node::And(_) | Node::Or(_)) {
            return condition;
        }
        if let Some(name) = self.names.get(&condition) {
            return *name;
        }
        let name = self.terms.fresh(&format!("pair.{}", self.names.len()), Sort::Bool);
        self.names.insert(condition, name);
        let means = self.terms.eq(name, condition);
        self.definitions.push(means);
        name
    }

    /// A Boolean that may be anything.
    pub(crate) fn free(&mut self, name: &str) -> Term {
        self.terms.fresh(name, Sort::Bool)
    }

    /// Keeps a map without members that are never there.
    fn kept<K: Ord>(&self, members: impl IntoIterator<Item = (K, Term)>) -> BTreeMap<K, Term> {
        members.into_iter().filter(|(_, condition)| self.terms.truth(*condition) != Some(false)).collect()
    }

    pub(crate) fn union<K: Ord + Copy>(&mut self, a: &BTreeMap<K, Term>, b: &BTreeMap<K, Term>) -> BTreeMap<K, Term> {
        let mut all = a.clone();
        for (key, condition) in b {
            let both = all.get(key).copied().map_or(*condition, |known| self.terms.or2(known, *condition));
            all.insert(*key, both);
        }
        all
    }

    pub(crate) fn intersection<K: Ord + Copy>(
        &mut self,
        a: &BTreeMap<K, Term>,
        b: &BTreeMap<K, Term>,
    ) -> BTreeMap<K, Term> {
        let common = a.iter().filter_map(|(key, one)| b.get(key).map(|other| (*key, *one, *other)));
        let members: Vec<_> = common.map(|(key, one, other)| (key, self.terms.and2(one, other))).collect();
        self.kept(members)
    }

    pub(crate) fn difference<K: Ord + Copy>(
        &mut self,
        a: &BTreeMap<K, Term>,
        b: &BTreeMap<K, Term>,
    ) -> BTreeMap<K, Term> {
        let members: Vec<_> = a
            .iter()
            .map(|(key, one)| match b.get(key) {
                Some(other) => {
                    let not = self.terms.not(*other);
                    (*key, self.terms.and2(*one, not))
                }
                None => (*key, *one),
            })
            .collect();
        self.kept(members)
    }

    pub(crate) fn inverse(a: &Relation) -> Relation {
        a.iter().map(|((from, to), condition)| ((*to, *from), *condition)).collect()
    }

    pub(crate) fn product(&mut self, a: &Set, b: &Set) -> Relation {
        let pairs = a.iter().flat_map(|(from, one)| b.iter().map(move |(to, other)| ((*from, *to), *one, *other)));
        let members: Vec<_> = pairs.map(|(pair, one, other)| (pair, self.terms.and2(one, other))).collect();
        self.kept(members)
    }

    /// `[s]`
    pub(crate) fn identity(set: &Set) -> Relation {
        set.iter().map(|(event, condition)| ((*event, *event), *condition)).collect()
    }

    /// The first members of pairs, or the second ones.
    pub(crate) fn side(&mut self, a: &Relation, second: bool) -> Set {
        let mut sides: BTreeMap<usize, Vec<Term>> = BTreeMap::new();
        for ((from, to), condition) in a {
            sides.entry(if second { *to } else { *from }).or_default().push(*condition);
        }
        sides.into_iter().map(|(event, conditions)| (event, self.terms.or(conditions))).collect()
    }

    /// `a ; b`
    pub(crate) fn sequence(&mut self, a: &Relation, b: &Relation) -> Relation {
        let mut ways: BTreeMap<(usize, usize), Vec<Term>> = BTreeMap::new();
        for ((from, middle), one) in a {
            for ((_, to), other) in b.range((*middle, 0)..=(*middle, usize::MAX)) {
                let both = self.terms.and2(*one, *other);
                ways.entry((*from, *to)).or_default().push(both);
            }
        }
        let mut members = Relation::new();
        for (pair, ways) in ways {
            let any = self.terms.or(ways);
            members.insert(pair, self.named(any));
        }
        self.kept(members)
    }

    /// `a+`: one event after the other may stand between two (Warshall's algorithm).
    pub(crate) fn transitive(&mut self, a: &Relation) -> Relation {
        let mut all = a.clone();
        let mut middles: Vec<usize> = a.keys().map(|(from, _)| *from).collect();
        middles.dedup();
        for middle in middles {
            let into: Vec<(usize, Term)> = all
                .iter()
                .filter(|((from, to), _)| *to == middle && *from != middle)
                .map(|((from, _), condition)| (*from, *condition))
                .collect();
            let out: Vec<(usize, Term)> = all
                .range((middle, 0)..=(middle, usize::MAX))
                .filter(|((_, to), _)| *to != middle)
                .map(|((_, to), condition)| (*to, *condition))
                .collect();
            for (from, one) in &into {
                for (to, other) in &out {
                    let through = self.terms.and2(*one, *other);
                    if self.terms.truth(through) == Some(false) {
                        continue;
                    }
                    let known = all.get(&(*from, *to)).copied();
                    let any = known.map_or(through, |known| self.terms.or2(known, through));
                    let any = self.named(any);
                    all.insert((*from, *to), any);
                }
            }
        }
        all
    }

    /// Whether there is no member.
    pub(crate) fn is_empty<K: Ord>(&mut self, a: &BTreeMap<K, Term>) -> Term {
        let any = self.terms.or(a.values().copied().collect());
        self.terms.not(any)
    }

    /// Whether no event is related to itself.
    pub(crate) fn is_irreflexive(&mut self, a: &Relation) -> Term {
        let own: BTreeMap<_, _> =
            a.iter().filter(|((from, to), _)| from == to).map(|(pair, one)| (*pair, *one)).collect();
        self.is_empty(&own)
    }

    /// Whether there is no cycle. Only what may lie on one is looked at.
    pub(crate) fn is_acyclic(&mut self, a: &Relation) -> Term {
        let graph: DiGraphMap<usize, ()> = a.keys().map(|(from, to)| (*from, *to, ())).collect();
        let component: BTreeMap<usize, usize> = tarjan_scc(&graph)
            .into_iter()
            .enumerate()
            .flat_map(|(number, events)| events.into_iter().map(move |event| (event, number)))
            .collect();
        let inner: Relation = a
            .iter()
            .filter(|((from, to), _)| component[from] == component[to])
            .map(|(pair, condition)| (*pair, *condition))
            .collect();
        let all = self.transitive(&inner);
        self.is_irreflexive(&all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With constants, all operations are those of plain relations.
    #[test]
    fn operations_are_exact() {
        let mut terms = Terms::default();
        let yes = terms.boolean(true);
        let mut builder = Builder::new(&mut terms);
        let of = |pairs: &[(usize, usize)]| -> Relation { pairs.iter().map(|pair| (*pair, yes)).collect() };
        let path = of(&[(0, 1), (1, 2), (3, 0)]);
        let keys = |relation: &Relation| relation.keys().copied().collect::<Vec<_>>();
        assert_eq!(keys(&builder.transitive(&path)), [(0, 1), (0, 2), (1, 2), (3, 0), (3, 1), (3, 2)]);
        assert_eq!(keys(&builder.sequence(&path, &path)), [(0, 2), (3, 1)]);
        assert_eq!(keys(&builder.difference(&path, &of(&[(1, 2)]))), [(0, 1), (3, 0)]);
        assert_eq!(builder.is_acyclic(&path), yes);
        let cycle = builder.union(&path, &of(&[(2, 3)]));
        let holds = builder.is_acyclic(&cycle);
        assert_eq!(builder.terms.truth(holds), Some(false));
        assert_eq!(builder.transitive(&cycle).len(), 16);
    }
}
