//! An execution as text for Graphviz.
//!
//! Input: events and relations, and which of them an execution has. Output: a digraph in DOT: a box for each event, threads side by
//! side; program order, `rf`, `co` and what the model shows. Establishes: the same execution gives the same text.
//! Relies on: nothing. Reference: "The DOT Language", graphviz.org; herd7's pictures.

use super::cat::eval::Meaning;
use super::decide::Seen;
use super::event::{Event, Kind};
use super::relation::Relation;
use super::test::Litmus;
use super::unfold::Unfolded;
use crate::report::dot::quoted;
use crate::span::Span;
use crate::vcgen::term::{Term, Terms, Value};
use std::fmt::Write;

/// Colours of relations, in their order; black for all others.
const COLORS: [&str; 4] = ["blue", "brown", "darkgreen", "purple"];

/// What may be drawn: events, then the pairs of relations, in the order in which they are watched.
pub(crate) struct Plan {
    relations: Vec<(String, Vec<(usize, usize)>)>,
}

/// An execution.
#[derive(Clone, Debug)]
pub(crate) struct Drawing {
    title: String,
    threads: Vec<String>,
    events: Vec<Node>,
    edges: Vec<(String, Vec<(usize, usize)>)>,
}

/// An event that happens.
#[derive(Clone, Debug)]
struct Node {
    number: usize,
    thread: Option<usize>,
    span: Span,
    /// What is known without the text of the test.
    label: String,
    value: Option<u32>,
}

impl Drawing {
    /// What to watch, and its conditions and values.
    pub(crate) fn plan(
        test: &Litmus,
        unfolded: &Unfolded,
        reads_from: &Relation,
        coherence: &Relation,
        meaning: &Meaning,
        terms: &mut Terms,
    ) -> (Plan, Vec<Term>) {
        debug_assert!(!test.threads.is_empty() || unfolded.events.len() == test.names.locations.len());
        let nothing = terms.boolean(false);
        let mut watched: Vec<Term> = unfolded.events.iter().map(|event| event.guard).collect();
        watched.extend(unfolded.events.iter().map(|event| event.access.map_or(nothing, |access| access.value)));
        let known = [("rf".to_string(), reads_from), ("co".to_string(), coherence)];
        let shown = meaning.shown.iter().map(|(name, relation)| (name.clone(), relation));
        let mut relations = Vec::new();
        for (name, relation) in known.into_iter().chain(shown) {
            watched.extend(relation.values().copied());
            relations.push((name, relation.keys().copied().collect()));
        }
        (Plan { relations }, watched)
    }

    /// The text; instructions are cut from that of the test.
    pub(crate) fn print(&self, text: &str) -> String {
        let mut out = format!(
            "digraph {} {{\n  label={};\n  node [shape=box fontname=monospace];\n  edge [fontname=monospace];\n",
            quoted(&self.title),
            quoted(&self.title)
        );
        for event in self.events.iter().filter(|event| event.thread.is_none()) {
            let _ = writeln!(out, "  e{} [label={}];", event.number, quoted(&event.text(text)));
        }
        for (thread, name) in self.threads.iter().enumerate() {
            let _ = writeln!(out, "  subgraph \"cluster_{thread}\" {{\n    label={};", quoted(name));
            let own: Vec<&Node> = self.events.iter().filter(|event| event.thread == Some(thread)).collect();
            for event in &own {
                let _ = writeln!(out, "    e{} [label={}];", event.number, quoted(&event.text(text)));
            }
            for pair in own.windows(2) {
                let _ = writeln!(out, "    e{} -> e{} [label=\"po\"];", pair[0].number, pair[1].number);
            }
            out.push_str("  }\n");
        }
        for (place, (name, pairs)) in self.edges.iter().enumerate() {
            let color = if name.contains("race") { "red" } else { COLORS.get(place).copied().unwrap_or("black") };
            let is_mutual = |(from, to): &(usize, usize)| pairs.contains(&(*to, *from));
            // One line for both directions.
            for pair in pairs.iter().filter(|pair| !is_mutual(pair) || pair.0 <= pair.1) {
                let both = if is_mutual(pair) { " dir=both" } else { "" };
                let _ = writeln!(
                    out,
                    "  e{} -> e{} [label={} color={color} fontcolor={color} constraint=false{both}];",
                    pair.0,
                    pair.1,
                    quoted(name)
                );
            }
        }
        out + "}\n"
    }
}

impl Plan {
    /// The execution in which the watched terms have these values.
    pub(crate) fn of(self, test: &Litmus, unfolded: &Unfolded, seen: &Seen) -> Drawing {
        let holds = |at: usize| matches!(seen.get(at), Some(Some(Value::Bool(true))));
        let count = unfolded.events.len();
        let value = |number: usize| match seen.get(count + number) {
            Some(Some(Value::Bits(bits))) => u32::try_from(*bits).ok(),
            _ => None,
        };
        let happening = unfolded.events.iter().enumerate().filter(|(number, _)| holds(*number));
        let events = happening.map(|(number, event)| Node {
            number,
            thread: event.thread,
            span: event.span,
            label: label(test, event),
            value: value(number).filter(|_| event.access.is_some()),
        });
        let mut at = 2 * count;
        let mut edges = Vec::new();
        for (name, pairs) in self.relations {
            let here = at;
            at += pairs.len();
            let present = pairs.into_iter().enumerate().filter(|(place, _)| holds(here + place)).map(|(_, pair)| pair);
            edges.push((name, present.collect()));
        }
        let threads = test.threads.iter().map(|thread| {
            let cluster = thread.cluster.map_or(String::new(), |cluster| format!("cluster {cluster}, "));
            format!("{}: cta {}, {cluster}gpu {}", thread.name, thread.block, thread.gpu)
        });
        Drawing { title: test.name.clone(), threads: threads.collect(), events: events.collect(), edges }
    }
}

fn label(test: &Litmus, event: &Event) -> String {
    let location = event.access.map(|access| test.names.locations[access.location].name.as_str()).unwrap_or_default();
    match event.kind {
        Kind::Initial => format!("initially {location}"),
        Kind::Read => format!("reads {location}"),
        Kind::Write => format!("writes {location}"),
        Kind::Fence | Kind::Barrier => String::new(),
    }
}

impl Node {
    fn text(&self, test: &str) -> String {
        let instruction = test.get(self.span.start as usize..self.span.end as usize).unwrap_or_default();
        let what = match self.value {
            // As a signed number, as conditions have it.
            Some(value) => format!("{}: {}", self.label, value.cast_signed()),
            None => self.label.clone(),
        };
        let lines: Vec<&str> = [instruction, &what].into_iter().filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    }
}
