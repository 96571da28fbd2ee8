//! Loops written out, as far as a bound goes.
//!
//! Input: a body with natural loops, a number of rounds. Output: the same without loops, in which each loop runs at
//! most so many rounds each time control comes to it; executions that would run longer end at the last round.
//! Establishes: every execution of the result is the beginning of one of the input, so what fails in it fails
//! in the input; a proof of it says nothing about longer executions. Relies on: reducible control flow.
//! Reference: the instruction-level paper (bounded checking); Biere et al., bounded model checking.

use crate::flow::LoopForest;
use crate::ivl::ast::{Block, Implementation, Name, Transfer};
use crate::ivl::graph;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Rounds of the loops around a copy of a block, by the loops' heads.
type Rounds = BTreeMap<usize, u32>;

/// A copy of a block: its index, and in which round it stands.
type Place = (usize, Rounds);

/// Writes the loops out. `None` if that takes more than so many statements, or a loop has several heads.
pub(crate) fn run(body: &Implementation, rounds: u32, most_statements: usize) -> Option<Implementation> {
    let loops = Loops::of(body)?;
    let mut blocks = Vec::new();
    let mut statements = 0;
    let mut known: BTreeSet<Place> = BTreeSet::from([(0, loops.enter(0, &Rounds::new()))]);
    let mut waiting: VecDeque<Place> = known.iter().cloned().collect();
    while let Some(place) = waiting.pop_front() {
        let block = body.blocks.get(place.0)?;
        statements += block.stmts.len();
        if statements > most_statements {
            return None;
        }
        let mut targets = Vec::new();
        for &target in &loops.successors[place.0] {
            let Some(next) = loops.step(&place, target, rounds) else { continue };
            targets.push(label(body, &next));
            if known.insert(next.clone()) {
                waiting.push_back(next);
            }
        }
        let transfer = if targets.is_empty() { Transfer::Return } else { Transfer::Goto(targets) };
        blocks.push(Block { label: label(body, &place), transfer, ..block.clone() });
    }
    Some(Implementation { blocks, ..body.clone() })
}

/// `L` outside of loops, `L@2.1` in the first round of a loop in the second round of another.
fn label(body: &Implementation, (block, rounds): &Place) -> Name {
    let label = &body.blocks[*block].label;
    let rounds: Vec<String> = rounds.values().map(u32::to_string).collect();
    if rounds.is_empty() { label.clone() } else { Name::from(format!("{label}@{}", rounds.join("."))) }
}

struct Loops {
    successors: Vec<Vec<usize>>,
    /// Head to the blocks of the loop.
    blocks: BTreeMap<usize, BTreeSet<usize>>,
}

impl Loops {
    fn of(body: &Implementation) -> Option<Loops> {
        let flow = graph::of(body);
        let forest = LoopForest::of(&flow, &flow.dominators()).ok()?;
        let blocks = forest.loops.into_iter().map(|own| (own.header, own.blocks)).collect();
        Some(Loops { successors: flow.successors, blocks })
    }

    /// The rounds at a block to which control comes from outside of the loop that it may head.
    fn enter(&self, target: usize, before: &Rounds) -> Rounds {
        let inside = |head: usize| self.blocks.get(&head).is_some_and(|blocks| blocks.contains(&target));
        let mut rounds: Rounds = before.iter().filter(|(head, _)| inside(**head)).map(|(h, n)| (*h, *n)).collect();
        if self.blocks.contains_key(&target) {
            rounds.insert(target, 1);
        }
        rounds
    }

    /// Where an edge leads; `None` if it begins a round too many.
    fn step(&self, (from, rounds): &Place, target: usize, most: u32) -> Option<Place> {
        let mut next = self.enter(target, rounds);
        if self.blocks.get(&target).is_some_and(|blocks| blocks.contains(from)) {
            let round = rounds.get(&target).copied().unwrap_or(0) + 1;
            if round > most {
                return None;
            }
            next.insert(target, round);
        }
        Some((target, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a program with their successors, after so many rounds.
    fn unrolled(text: &str, rounds: u32) -> Vec<String> {
        let program = crate::ivl::parse(&format!("procedure p() {{ {text} }}")).unwrap();
        let body = run(program.procedures[0].body.as_ref().unwrap(), rounds, 1000).unwrap();
        let targets = |block: &Block| match &block.transfer {
            Transfer::Goto(targets) => targets.iter().map(Name::to_string).collect::<Vec<_>>().join(" "),
            _ => "-".to_string(),
        };
        body.blocks.iter().map(|block| format!("{}: {}", block.label, targets(block))).collect()
    }

    #[test]
    fn a_loop_runs_so_many_rounds() {
        let text = "a: goto b; b: goto c, d; c: goto b; d: return;";
        assert_eq!(unrolled(text, 1), ["a: b@1", "b@1: c@1 d", "c@1: -", "d: -"]);
        assert_eq!(unrolled(text, 2), ["a: b@1", "b@1: c@1 d", "c@1: b@2", "d: -", "b@2: c@2 d", "c@2: -"]);
    }

    #[test]
    fn an_inner_loop_begins_anew_in_each_round_of_the_outer_one() {
        let text = "a: goto o; o: goto i; i: goto i, x; x: goto o, e; e: return;";
        let blocks = unrolled(text, 2);
        assert!(blocks.contains(&"i@1.1: i@1.2 x@1".to_string()), "{blocks:?}");
        assert!(blocks.contains(&"x@1: o@2 e".to_string()), "{blocks:?}");
        assert!(blocks.contains(&"o@2: i@2.1".to_string()), "{blocks:?}");
        assert!(blocks.contains(&"i@2.2: x@2".to_string()), "{blocks:?}");
        assert!(blocks.contains(&"x@2: e".to_string()), "{blocks:?}");
    }

    #[test]
    fn too_many_statements_are_refused() {
        let text = "var x: int; a: x := 0; goto a, b; b: return;";
        let program = crate::ivl::parse(&format!("procedure p() {{ {text} }}")).unwrap();
        let body = program.procedures[0].body.as_ref().unwrap();
        assert!(run(body, 8, 8).is_some());
        assert!(run(body, 8, 7).is_none());
    }
}
