//! Candidate executions of a test: which reads read from which writes, and what the final state is.
//!
//! Input: events. Output: the sets and relations that a model begins with, and a condition under which they are those of an
//! execution. Establishes: each read that happens reads from one write of its location that happens, and gets its value; a final
//! value is that of a write behind which there is none. Relies on: locations are known. Reference: herd7's candidate executions.

use super::cat::ast::Model;
use super::cat::eval::{Names, Value, chooses};
use super::event::{Event, Kind};
use super::relation::{Builder, Relation, Set};
use super::test::Litmus;
use super::unfold::WIDTH;
use crate::vcgen::term::Term;
use std::collections::BTreeMap;

/// Sets by the tags of events.
const TAGS: [&str; 17] = [
    "A", "RED", "WEAK", "ACQ", "REL", "SC", "CTA", "CLUSTER", "GPU", "SYS", "GEN", "TEX", "SUR", "CON", "ASYNC", "PF",
    "ALIAS",
];

/// What a model begins with.
pub(crate) struct Candidate {
    pub(crate) names: Names,
    /// True of executions.
    pub(crate) is_execution: Term,
    /// From writes to the reads that read from them.
    pub(crate) reads_from: Relation,
}

/// The candidate executions of a test.
pub(crate) fn candidate(test: &Litmus, events: &[Event], model: &Model, builder: &mut Builder<'_>) -> Candidate {
    let mut basis = Basis { test, events, builder, names: Names::new(), facts: Vec::new() };
    basis.sets();
    basis.within_threads();
    basis.between_threads();
    let reads_from = basis.reads_from();
    if !chooses(model, "co") {
        basis.total_coherence();
    }
    let is_execution = basis.builder.terms.and(basis.facts);
    Candidate { names: basis.names, is_execution, reads_from }
}

struct Basis<'a, 't> {
    test: &'a Litmus,
    events: &'a [Event],
    builder: &'a mut Builder<'t>,
    names: Names,
    facts: Vec<Term>,
}

impl Basis<'_, '_> {
    fn sets(&mut self) {
        let of = |is_member: &dyn Fn(&Event) -> bool| -> Value {
            let members = self.events.iter().enumerate().filter(|(_, event)| is_member(event));
            Value::Set(members.map(|(number, event)| (number, event.guard)).collect())
        };
        let mut sets: Vec<(&str, Value)> = vec![
            ("_", of(&|_| true)),
            ("IW", of(&|event| event.kind == Kind::Initial)),
            ("R", of(&|event| event.kind == Kind::Read)),
            ("W", of(&|event| matches!(event.kind, Kind::Write | Kind::Initial))),
            ("M", of(&|event| event.access.is_some())),
            ("F", of(&|event| event.kind == Kind::Fence)),
            ("B", of(&|event| event.kind == Kind::Barrier)),
        ];
        sets.extend(TAGS.map(|tag| (tag, of(&|event| event.tags.contains(&tag)))));
        self.names.extend(sets.into_iter().map(|(name, set)| (name.to_string(), set)));
    }

    /// The pairs of events for which a condition holds, where both happen.
    fn relate(&mut self, name: &str, is_pair: impl Fn(&Event, &Event) -> bool) {
        self.relate_numbered(name, |(_, one), (_, other)| is_pair(one, other));
    }

    /// The same, where the numbers of events matter.
    fn relate_numbered(&mut self, name: &str, is_pair: impl Fn((usize, &Event), (usize, &Event)) -> bool) {
        let mut pairs = Relation::new();
        for (from, one) in self.events.iter().enumerate() {
            for (to, other) in self.events.iter().enumerate() {
                if is_pair((from, one), (to, other)) {
                    let both = self.builder.terms.and2(one.guard, other.guard);
                    if self.builder.terms.truth(both) != Some(false) {
                        pairs.insert((from, to), both);
                    }
                }
            }
        }
        self.names.insert(name.to_string(), Value::Relation(pairs));
    }

    fn within_threads(&mut self) {
        let same = |one: &Event, other: &Event| one.thread.is_some() && one.thread == other.thread;
        // Events of a thread stand in program order.
        self.relate_numbered("po", |(from, one), (to, other)| same(one, other) && from < to);
        self.relate_numbered("id", |(from, _), (to, _)| from == to);
        self.relate("int", same);
        self.relate("ext", |one, other| !same(one, other));
        self.names.insert("addr".to_string(), Value::Relation(Relation::new()));
        let (mut data, mut control, mut rmw) = (Relation::new(), Relation::new(), Relation::new());
        for (to, event) in self.events.iter().enumerate() {
            let guard = event.guard;
            for (into, from) in [(&mut data, &event.data), (&mut control, &event.control)] {
                for (read, condition) in from {
                    into.insert((*read, to), self.builder.terms.and2(*condition, guard));
                }
            }
            if let Some(read) = event.read {
                rmw.insert((read, to), guard);
            }
        }
        for (name, relation) in [("data", data), ("ctrl", control), ("rmw", rmw)] {
            self.names.insert(name.to_string(), Value::Relation(relation));
        }
    }

    fn between_threads(&mut self) {
        let threads = &self.test.threads;
        let places = |one: &Event, other: &Event| Some((&threads[one.thread?], &threads[other.thread?]));
        self.relate("same-cta", |one, other| places(one, other).is_some_and(|(one, other)| one.same_block(other)));
        self.relate("same-cluster", |one, other| {
            places(one, other).is_some_and(|(one, other)| one.same_cluster(other))
        });
        self.relate("same-gpu", |one, other| places(one, other).is_some_and(|(one, other)| one.same_gpu(other)));
        self.relate("loc", |one, other| {
            one.access.zip(other.access).is_some_and(|(one, other)| one.location == other.location)
        });
        self.relate("vloc", |one, other| {
            one.access.zip(other.access).is_some_and(|(one, other)| one.address == other.address)
        });
        let mut meet = Relation::new();
        for (from, one) in self.events.iter().enumerate() {
            for (to, other) in self.events.iter().enumerate() {
                let (Some(a), Some(b)) = (one.barrier, other.barrier) else { continue };
                let Some((here, there)) = places(one, other) else { continue };
                let is_near = if a.of_cluster { here.same_cluster(there) } else { here.same_block(there) };
                if a.of_cluster == b.of_cluster && is_near {
                    let terms = &mut *self.builder.terms;
                    let same = [terms.eq(a.number, b.number), terms.eq(a.time, b.time), one.guard, other.guard];
                    let condition = terms.and(same.to_vec());
                    if terms.truth(condition) != Some(false) {
                        meet.insert((from, to), condition);
                    }
                }
            }
        }
        self.names.insert("same-barrier".to_string(), Value::Relation(meet));
    }

    fn reads_from(&mut self) -> Relation {
        let mut all = Relation::new();
        for (to, read) in self.events.iter().enumerate().filter(|(_, event)| event.kind == Kind::Read) {
            let Some(accessed) = read.access else { continue };
            let mut choices = Vec::new();
            for (from, write) in self.events.iter().enumerate() {
                let Some(written) = write.access.filter(|_| matches!(write.kind, Kind::Write | Kind::Initial)) else {
                    continue;
                };
                // An atomic operation does not read what it writes itself.
                if written.location != accessed.location || write.read == Some(to) {
                    continue;
                }
                let both = self.builder.terms.and2(read.guard, write.guard);
                if self.builder.terms.truth(both) == Some(false) {
                    continue;
                }
                let free = self.builder.free(&format!("rf.{from}.{to}"));
                let chosen = self.builder.terms.and2(free, both);
                let equal = self.builder.terms.eq(written.value, accessed.value);
                let means = self.builder.terms.implies(chosen, equal);
                self.facts.push(means);
                choices.push(chosen);
                all.insert((from, to), chosen);
            }
            let one = exactly_one(self.builder, &choices);
            let happens = self.builder.terms.implies(read.guard, one);
            self.facts.push(happens);
        }
        self.names.insert("rf".to_string(), Value::Relation(all.clone()));
        all
    }

    /// Where the model has no coherence order of its own: one that relates all writes of a location, the initial one first.
    fn total_coherence(&mut self) {
        let writes: Set = match self.names.get("W") {
            Some(Value::Set(writes)) => writes.clone(),
            _ => Set::new(),
        };
        let all = self.builder.product(&writes, &writes);
        let mut order = Relation::new();
        for ((from, to), condition) in all {
            let (one, other) = (&self.events[from], &self.events[to]);
            let same = one.access.zip(other.access).is_some_and(|(one, other)| one.location == other.location);
            if !same || from >= to {
                continue;
            }
            // Initial writes come first in the list, too.
            let is_before = match one.kind {
                Kind::Initial => condition,
                _ => self.builder.free(&format!("co.{from}.{to}")),
            };
            let not = self.builder.terms.not(is_before);
            order.insert((from, to), self.builder.terms.and2(condition, is_before));
            if one.kind != Kind::Initial {
                order.insert((to, from), self.builder.terms.and2(condition, not));
            }
        }
        let holds = self.builder.is_acyclic(&order);
        self.facts.push(holds);
        self.names.insert("co".to_string(), Value::Relation(order));
    }
}

/// Whether exactly one of these holds.
fn exactly_one(builder: &mut Builder<'_>, choices: &[Term]) -> Term {
    let mut facts = vec![builder.terms.or(choices.to_vec())];
    for (at, one) in choices.iter().enumerate() {
        for other in &choices[at + 1..] {
            let both = builder.terms.and2(*one, *other);
            facts.push(builder.terms.not(both));
        }
    }
    builder.terms.and(facts)
}

/// Last values of memory: of each location that of one write behind which there is none in the coherence order. Where the order is
/// partial there may be several.
pub(crate) fn final_values(
    events: &[Event],
    coherence: &Relation,
    locations: impl IntoIterator<Item = usize>,
    builder: &mut Builder<'_>,
) -> (BTreeMap<usize, Term>, Vec<Term>) {
    let (mut values, mut facts) = (BTreeMap::new(), Vec::new());
    for location in locations {
        let of_location = |event: &Event| event.access.is_some_and(|access| access.location == location);
        let mut choices = Vec::new();
        let mut value = builder.terms.bv(0, WIDTH);
        for (number, event) in events.iter().enumerate() {
            if !matches!(event.kind, Kind::Write | Kind::Initial) || !of_location(event) {
                continue;
            }
            let after: Vec<Term> = coherence.range((number, 0)..=(number, usize::MAX)).map(|(_, one)| *one).collect();
            let after = builder.terms.or(after);
            let is_last = builder.terms.not(after);
            let free = builder.free(&format!("final.{number}"));
            let chosen = builder.terms.and(vec![free, event.guard, is_last]);
            if let Some(access) = event.access {
                value = builder.terms.ite(chosen, access.value, value);
            }
            choices.push(chosen);
        }
        facts.push(exactly_one(builder, &choices));
        values.insert(location, value);
    }
    (values, facts)
}
