//! A passive program with its terms as code.
//!
//! Input: a passive program. Output: [`Steps`]: what each block does, by slots, and what each loop gives its symbols.
//! Establishes: an execution needs neither terms nor names. Reference: none.

use super::code::{Code, Slot};
use crate::vcgen::passive::{CutLoop, Passive, PassiveItem};
use crate::vcgen::term::{Node, Term, Terms};
use crate::vcgen::translate::Environment;

/// An item of a block.
pub(crate) enum Step {
    /// An assumption, of a candidate invariant or not.
    Assume { condition: Slot, candidate: Option<usize> },
    /// In front of joins: symbols with their values, and the equations that say so.
    Define { pairs: Vec<(Slot, Slot)>, equations: Vec<Slot> },
    /// A check, by its number.
    Check { number: usize, condition: Slot },
}

/// A loop.
pub(crate) struct Round {
    /// The block of its head.
    pub(crate) head: usize,
    /// Symbols at the head, with the values on entry.
    pub(crate) entry: Vec<(Slot, Slot)>,
    /// The same with the values at the end of a round, for each back edge.
    pub(crate) at_end: Vec<Vec<(Slot, Slot)>>,
}

/// The code of a passive program.
pub(crate) struct Steps {
    /// The code of its terms.
    pub(crate) code: Code,
    /// What its blocks do.
    pub(crate) blocks: Vec<Vec<Step>>,
    /// For each block that is a head, the steps that check invariants on entry; 0 for others.
    pub(crate) entry_checks: Vec<usize>,
    pub(crate) loops: Vec<Round>,
}

impl Steps {
    /// The code of a program, and of some terms beside it.
    pub(crate) fn new(passive: &Passive, others: &[Term]) -> Steps {
        let ranks = ranks(passive);
        let code = Code::new(&passive.terms, roots(passive, others), &|symbol| ranks[symbol.0 as usize]);
        let blocks = passive.blocks.iter().map(|block| steps(passive, &code, &block.items)).collect();
        let heads = passive.blocks.iter().enumerate();
        let entry_checks = heads.map(|(b, block)| block.head_of.map_or(0, |_| passive.entry_checks(b))).collect();
        let loops = passive.loops.iter().enumerate().map(|(number, cut)| round(passive, &code, number, cut)).collect();
        Steps { code, blocks, entry_checks, loops }
    }
}

/// All terms that an execution needs.
fn roots(passive: &Passive, others: &[Term]) -> Vec<Term> {
    let mut roots = others.to_vec();
    roots.extend(passive.constants.iter().map(|(_, constant)| *constant));
    roots.extend(passive.checks.iter().map(|check| check.term));
    for item in passive.blocks.iter().flat_map(|block| &block.items) {
        if let PassiveItem::Assume { term, defines, .. } = item {
            roots.push(*term);
            roots.extend(defines.iter().flat_map(|(symbol, value)| [symbol, value]));
        }
    }
    for cut in &passive.loops {
        for from in std::iter::once(&cut.entry).chain(&cut.at_end) {
            roots.extend(assigned(&passive.terms, cut, from).flat_map(|(symbol, value)| [symbol, value]));
        }
    }
    roots
}

/// The symbols at the head of a loop with their values on entry or at the end of a round.
fn assigned<'p>(
    terms: &'p Terms,
    cut: &'p CutLoop,
    from: &'p Environment,
) -> impl Iterator<Item = (Term, Term)> + use<'p> {
    let pair = |name| Some((*cut.at_head.get(name)?, *from.get(name)?));
    cut.assigned.iter().filter_map(pair).filter(|(symbol, _)| matches!(terms.node(*symbol), Node::Symbol(_)))
}

/// For each symbol the last block that gives it a value, from 1: executions go through blocks in their order.
fn ranks(passive: &Passive) -> Vec<u32> {
    let mut ranks = vec![0; passive.terms.len()];
    for (b, block) in passive.blocks.iter().enumerate() {
        let rank = b as u32 + 1;
        for item in &block.items {
            if let PassiveItem::Assume { defines: Some((symbol, _)), .. } = item {
                ranks[symbol.0 as usize] = rank;
            }
        }
        let cut = block.head_of.map(|number| &passive.loops[number]);
        for (symbol, _) in cut.into_iter().flat_map(|cut| assigned(&passive.terms, cut, &cut.entry)) {
            ranks[symbol.0 as usize] = rank;
        }
    }
    ranks
}

fn steps(passive: &Passive, code: &Code, items: &[PassiveItem]) -> Vec<Step> {
    let mut steps = Vec::new();
    for item in items {
        match item {
            PassiveItem::Check(number) => {
                steps.push(Step::Check { number: *number, condition: code.slot(passive.checks[*number].term) });
            }
            PassiveItem::Assume { term, candidate, defines: None, .. } => {
                steps.push(Step::Assume { condition: code.slot(*term), candidate: *candidate });
            }
            PassiveItem::Assume { term, defines: Some((symbol, value)), .. } => {
                let (equation, pair) = (code.slot(*term), (code.slot(*symbol), code.slot(*value)));
                match steps.last_mut() {
                    Some(Step::Define { pairs, equations }) => {
                        pairs.push(pair);
                        equations.push(equation);
                    }
                    _ => steps.push(Step::Define { pairs: vec![pair], equations: vec![equation] }),
                }
            }
        }
    }
    steps
}

fn round(passive: &Passive, code: &Code, number: usize, cut: &CutLoop) -> Round {
    let Some(head) = passive.blocks.iter().position(|block| block.head_of == Some(number)) else {
        panic!("concrete: a loop without a head");
    };
    let slots = |from| assigned(&passive.terms, cut, from).map(|(s, v)| (code.slot(s), code.slot(v))).collect();
    Round { head, entry: slots(&cut.entry), at_end: cut.at_end.iter().map(slots).collect() }
}
