//! The barrier dependence graph of an execution.
//!
//! Input: a launch, and a finding that it shows, if it does. Output: a [`BarrierGraph`]: of each barrier the generations to
//! which the same lines come, and what leads from one to the next; the cycle of a deadlock, or the edge that is missing between
//! two generations that may mix. Establishes: each edge but those of the finding is in this execution; `Waited` edges are a part
//! of what happens before what in it. Relies on: a launch runs again in the same way. Reference: Sharma, Bauer, Aiken,
//! "Verification of Producer-Consumer Synchronization in GPU Programs" (section 4: barrier dependence graphs).

use super::execution::Reporter;
use super::waiting::numbers;
use crate::exec::Run;
use crate::exec::history::{self, History, Node, Object, Part, Warps};
use crate::exec::launch::Launch;
use crate::exec::waiting::{Awaited, Chain, End, Link};
use crate::finding::{BarrierEdge, BarrierGraph, BarrierNode, EdgeKind, Finding, MixedBarrier, Mixing};
use crate::ptx::ast::Module;
use crate::span::Origin;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The graph of a launch; `None` if no thread comes to a barrier.
pub(crate) fn graph(module: &Module, entry: usize, launch: &Launch, finding: Option<&Finding>) -> Option<BarrierGraph> {
    let mixing = finding.and_then(|finding| finding.mixing.as_ref());
    let wanted = mixing.map_or(Vec::new(), |mixing| mixing.generations.map(|one| (barrier(mixing), one)).to_vec());
    let (run, history) = history::record(module, entry, launch, wanted)?;
    let builder = Builder { reporter: Reporter::new(module, &module.functions[entry], launch, &run), run: &run };
    let mut graph = builder.of(&history);
    if let Some(chain) = &history.stuck {
        builder.deadlock(&mut graph, &history, chain);
    }
    if let Some(mixing) = mixing {
        builder.mixing(&mut graph, &history, mixing);
    }
    (!graph.nodes.is_empty()).then_some(graph)
}

fn barrier(mixing: &Mixing) -> Object {
    match mixing.barrier {
        MixedBarrier::Number(id) => Object::Barrier { rank: 0, id },
        MixedBarrier::Object(offset) => Object::Shared { offset },
    }
}

struct Builder<'r> {
    reporter: Reporter<'r>,
    run: &'r Run,
}

impl Builder<'_> {
    /// What was executed. Nodes that lines and generations do not tell apart are one.
    fn of(&self, history: &History) -> BarrierGraph {
        let nodes = history.nodes.iter().map(|node| self.node(node)).collect();
        let mut edges: BTreeMap<(usize, usize, EdgeKind), Warps> = BTreeMap::new();
        for ((from, to, waited), warps) in &history.edges {
            let kind = if *waited { EdgeKind::Waited } else { EdgeKind::Came };
            *edges.entry((*from, *to, kind)).or_default() |= warps;
        }
        let edge = |((from, to, kind), warps)| BarrierEdge { from, to, label: warps_text(warps), kind };
        BarrierGraph { nodes, edges: edges.into_iter().map(edge).collect() }
    }

    fn origin(&self, code: u32) -> Arc<Origin> {
        self.run.program.origins[code as usize].clone()
    }

    fn node(&self, node: &Node) -> BarrierNode {
        let generations = match (node.first, node.last) {
            (first, last) if first == last => format!("generation {first}"),
            (first, last) if node.count.is_multiple_of(last - first + 1) => format!("generations {first} to {last}"),
            (first, last) => format!("generations between {first} and {last}"),
        };
        let span = node.last - node.first + 1;
        let times = match (node.count / span, node.count.is_multiple_of(span)) {
            (1, true) => String::new(),
            (times, true) => format!(" ({times} times{})", if span > 1 { " each" } else { "" }),
            _ => format!(" ({} times)", node.count),
        };
        // Instructions of one line that do the same are one, as in loops that the compiler unrolled.
        let mut parts: BTreeMap<(u32, Part), (Arc<Origin>, Warps)> = BTreeMap::new();
        for ((code, part), warps) in &node.parts {
            let origin = self.origin(*code);
            parts.entry((origin.line, *part)).or_insert((origin, 0)).1 |= warps;
        }
        let told = parts.into_iter().map(|((_, part), (origin, warps))| {
            let one = warps.count_ones() == 1;
            let does = match part {
                Part::Arrives if one => "arrives",
                Part::Arrives => "arrive",
                Part::Meets if one => "arrives and waits",
                Part::Meets => "arrive and wait",
                Part::Waits if one => "waits",
                Part::Waits => "wait",
                Part::Brings if one => "copies",
                Part::Brings => "copy",
            };
            (format!("{}: {} {does}", origin.told(), warps_text(warps)), origin)
        });
        let title = format!("{}, {generations}{times}", self.reporter.object_name(node.object));
        BarrierNode { title, parts: told.collect(), at_fault: false }
    }

    /// The waits of a deadlock: from that for which the next one waits to what lacks it.
    fn deadlock(&self, graph: &mut BarrierGraph, history: &History, chain: &Chain) {
        let nodes: Vec<usize> = chain.links.iter().map(|link| self.awaited(graph, history, link)).collect();
        for node in &nodes {
            graph.nodes[*node].at_fault = true;
        }
        let count = chain.links.len();
        for (index, link) in chain.links.iter().enumerate() {
            let is_last = index + 1 == count;
            if is_last && chain.end != End::Cycle {
                continue;
            }
            let next = if is_last { 0 } else { index + 1 };
            let waits = self.origin(chain.links[next].place.1).told();
            let label = match link.ahead {
                Some((code, _)) => format!(
                    "{} waits at {waits}, and would come at {}",
                    self.reporter.who(&chain.links[next]),
                    self.origin(code).told()
                ),
                None => format!("{} waits at {waits}", self.reporter.who(&chain.links[next])),
            };
            graph.edges.push(BarrierEdge { from: nodes[next], to: nodes[index], label, kind: EdgeKind::Deadlock });
        }
    }

    /// The node of what threads wait for; a new one if nobody has come there.
    fn awaited(&self, graph: &mut BarrierGraph, history: &History, link: &Link) -> usize {
        let generation = match link.awaited {
            Awaited::Barrier { id, generation, .. } => Some((Object::Barrier { rank: 0, id }, generation)),
            Awaited::Object(state) => Some((Object::Shared { offset: state.offset }, u64::from(state.phase))),
            Awaited::Cluster { generation } => Some((Object::Cluster, generation)),
            Awaited::Warp { .. } | Awaited::WarpGroup => None,
        };
        let known = generation.and_then(|generation| history.marks.get(&generation).copied());
        known.unwrap_or_else(|| {
            let (object, generation, _) = self.reporter.awaited_by(link);
            let number = generation.map_or(String::new(), |number| format!(", generation {number}"));
            let title = format!("{object}{number}");
            let origin = self.origin(link.place.1);
            let parts = vec![(format!("{}: {} waits", origin.told(), self.reporter.who(link)), origin)];
            let same = |node: &BarrierNode| (&node.title, &node.parts) == (&title, &parts);
            if let Some(known) = graph.nodes.iter().position(same) {
                return known;
            }
            graph.nodes.push(BarrierNode { title, parts, at_fault: true });
            graph.nodes.len() - 1
        })
    }

    /// The edge that is missing between two generations.
    fn mixing(&self, graph: &mut BarrierGraph, history: &History, mixing: &Mixing) {
        let node = |generation: u64| history.marks.get(&(barrier(mixing), generation)).copied();
        let [earlier, later] = mixing.generations.map(node);
        if let (Some(from), Some(to)) = (earlier, later) {
            graph.nodes[from].at_fault = true;
            graph.nodes[to].at_fault = true;
            graph.edges.push(BarrierEdge { from, to, label: mixing.edge.clone(), kind: EdgeKind::Missing });
        }
    }
}

/// `warp 1`, `warps 0 to 3, 5`
fn warps_text(warps: Warps) -> String {
    format!("warp{} {}", if warps.count_ones() == 1 { "" } else { "s" }, numbers(warps))
}

#[cfg(test)]
mod tests {
    use super::warps_text;

    #[test]
    fn warps_in_a_row_are_told_by_their_ends() {
        assert_eq!(warps_text(0b1), "warp 0");
        assert_eq!(warps_text(0b11), "warps 0, 1");
        assert_eq!(warps_text(0b1010_1111), "warps 0 to 3, 5, 7");
    }
}
