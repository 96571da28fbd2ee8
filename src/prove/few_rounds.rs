//! Loops that seem to have few rounds, whatever the host and memory say.
//!
//! Input: a two-thread program. Output: for each loop a number of rounds, or none. Establishes: nothing; that a loop has no
//! more rounds is for the solver to prove ([`super::partly`]). Relies on: the layout of `predicate`. Reference: scalar
//! evolution (the trip count of a loop whose exit test is about one register that moves evenly).
//!
//! A round is followed by another one while a condition holds of one register of the thread, and the round gives that
//! register a value that depends on nothing else: so the rounds can be counted from the values with which the loop may
//! begin. Those are a number, as of a loop over the halves of a block; the least and the greatest that ids of threads allow,
//! as where threads share elements out; or what a mask leaves, as of the loop for what is left of one that was unrolled.

use crate::infer::ghosts::LoopGhosts;
use crate::ivl::ast::{Name, Thread};
use crate::twothread::TwoThread;
use crate::vcgen::passive::{CutLoop, Passive};
use crate::vcgen::term::{Node, Sort, Term, Terms, mask};
use foldhash::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Most rounds of a loop.
const MOST: u32 = 10;
/// Most bits that a mask leaves.
const MASK_BITS: u32 = 2;

/// The rounds of each loop, from one on.
pub(super) fn run(two: &TwoThread, passive: &mut Passive) -> Vec<Option<u32>> {
    let (terms, loops) = (&mut passive.terms, &passive.loops);
    let blocks = &two.implementation().blocks;
    let rounds = two.loops.iter().map(|info| {
        let cut = loops.iter().find(|cut| cut.head == info.head)?;
        let ghosts = LoopGhosts::new(info, &two.active, blocks);
        let stay = stay(terms, cut, &ghosts)?;
        let conditions = terms.conjuncts(stay);
        conditions.into_iter().filter_map(|condition| rounds_of(terms, cut, condition)).min()
    });
    rounds.collect()
}

/// The condition, at the end of a round, under which thread 1 comes back to the head.
fn stay(terms: &mut Terms, cut: &CutLoop, ghosts: &LoopGhosts) -> Option<Term> {
    let [end] = cut.at_end.as_slice() else { return None };
    let end = *end.get(&ghosts.v_active.of(Thread::First))?;
    let Sort::Bv(width) = terms.sort(end) else { return None };
    let head = terms.bv(u128::from(ghosts.head_id), width);
    let stay = terms.eq(end, head);
    at_head(terms, cut, ghosts, stay)
}

/// A term with thread 1 at the head.
fn at_head(terms: &mut Terms, cut: &CutLoop, ghosts: &LoopGhosts, term: Term) -> Option<Term> {
    let symbol = *cut.at_head.get(&ghosts.v_active.of(Thread::First))?;
    let head = terms.bv(u128::from(ghosts.head_id), ghosts.id_width);
    Some(terms.substitute(term, &mut HashMap::from_iter([(symbol, head)])))
}

/// The register of thread 1 that tells whether it comes back to the head, and its value at the head of the last round, where it
/// does so unless the register has that one value.
pub(super) fn last_value(passive: &mut Passive, ghosts: &LoopGhosts) -> Option<(Name, u128)> {
    let (terms, loops) = (&mut passive.terms, &passive.loops);
    let cut = loops.iter().find(|cut| cut.head == ghosts.head)?;
    let stay = stay(terms, cut, ghosts)?;
    let Node::Not(leaves) = *terms.node(stay) else { return None };
    let Node::Eq(a, b) = *terms.node(leaves) else { return None };
    let (moved, value) = [(a, b), (b, a)].into_iter().find_map(|(a, b)| Some((a, terms.bv_value(b)?)))?;
    let symbol = only_symbol(terms, moved)?;
    if terms.sort(symbol) != terms.sort(moved) {
        return None;
    }
    let step = terms.bv_sub(moved, symbol);
    let value = value.wrapping_sub(terms.bv_value(step)?) & mask(terms.width(symbol));
    let (name, _) = cut.at_head.iter().find(|(name, at_head)| **at_head == symbol && cut.assigned.contains(name))?;
    Some((name.clone(), value))
}

/// Registers of thread 1 that move by a number, modulo 2^width, from the head of a round to that of the next one.
pub(super) fn steps(passive: &mut Passive, ghosts: &LoopGhosts) -> Option<BTreeMap<Name, u128>> {
    let (terms, loops) = (&mut passive.terms, &passive.loops);
    let cut = loops.iter().find(|cut| cut.head == ghosts.head)?;
    let [end] = cut.at_end.as_slice() else { return None };
    let stay = stay(terms, cut, ghosts)?;
    let conjuncts = terms.conjuncts(stay);
    let mut known: HashMap<Term, Term> = conjuncts.into_iter().map(|holds| known(terms, holds)).collect();
    let registers = cut.assigned.iter().filter(|name| name.thread() == Some(Thread::First));
    let steps = registers.filter_map(|name| {
        let (begin, end) = (*cut.at_head.get(name)?, *end.get(name)?);
        let end = at_head(terms, cut, ghosts, end)?;
        let end = terms.substitute(end, &mut known);
        let step = matches!(terms.sort(begin), Sort::Bv(_)).then(|| terms.bv_sub(end, begin))?;
        Some((name.clone(), terms.bv_value(step)?))
    });
    Some(steps.filter(|(_, step)| *step != 0).collect())
}

/// A formula that holds, or its negation that does not.
fn known(terms: &mut Terms, holds: Term) -> (Term, Term) {
    match *terms.node(holds) {
        Node::Not(fails) => (fails, terms.boolean(false)),
        _ => (holds, terms.boolean(true)),
    }
}

/// The only symbol of a term.
fn only_symbol(terms: &Terms, term: Term) -> Option<Term> {
    let mut symbols = BTreeSet::new();
    terms.collect_symbols(term, &mut HashSet::default(), &mut symbols);
    symbols.pop_first().filter(|_| symbols.is_empty())
}

/// The rounds of a loop that a thread leaves when the condition fails, if that is about one register.
fn rounds_of(terms: &mut Terms, cut: &CutLoop, condition: Term) -> Option<u32> {
    let head = only_symbol(terms, condition)?;
    let (name, _) = cut.at_head.iter().find(|(name, value)| **value == head && cut.assigned.contains(name))?;
    let [end] = cut.at_end.as_slice() else { return None };
    let mut updates = terms.leaves(*end.get(name)?);
    updates.remove(&head);
    let update = updates.pop_first().filter(|_| updates.is_empty())?;
    let moved = Moved { head, update, condition };
    if only_symbol(terms, update) != Some(head) {
        return None;
    }
    let mut most = None;
    for leaf in terms.leaves(*cut.entry.get(name)?) {
        for (value, is_certain) in first_values(terms, leaf)? {
            match moved.rounds_from(terms, value) {
                Some(rounds) => most = most.max(Some(rounds)),
                None if is_certain => return None,
                None => {}
            }
        }
    }
    most
}

/// Values with which a loop may begin, and whether it surely may: none for what a register held before it was assigned,
/// which nobody reads. `None` where they depend on what is not known.
fn first_values(terms: &mut Terms, entry: Term) -> Option<Vec<(Term, bool)>> {
    if terms.bv_value(entry).is_some() {
        return Some(vec![(entry, true)]);
    }
    if let Node::ZeroExtend(width, inner) = *terms.node(entry)
        && terms.width(inner) <= MASK_BITS
    {
        // Not all that a mask leaves may come to the loop: there may be a test for zero in front of it.
        let (least, greatest) = (terms.bv(0, width), terms.bv(mask(terms.width(inner)), width));
        return Some(vec![(least, false), (greatest, true)]);
    }
    let mut symbols = BTreeSet::new();
    terms.collect_symbols(entry, &mut HashSet::default(), &mut symbols);
    let mut ends = [HashMap::default(), HashMap::default()];
    for &symbol in &symbols {
        let Some((low, high)) = terms.symbol_of(symbol)?.range else {
            return (symbol == entry).then(Vec::new);
        };
        let Sort::Bv(width) = terms.sort(symbol) else { return None };
        for (end, value) in ends.iter_mut().zip([low, high]) {
            end.insert(symbol, terms.bv(value, width));
        }
    }
    let values = ends.map(|mut end| (terms.substitute(entry, &mut end), true));
    Some(values.into())
}

/// How a register moves, as terms over its value at the head.
struct Moved {
    head: Term,
    update: Term,
    condition: Term,
}

impl Moved {
    /// The rounds of a thread that begins with a value; `None` where they are many.
    fn rounds_from(&self, terms: &mut Terms, mut value: Term) -> Option<u32> {
        for rounds in 1..=MOST {
            let mut here = HashMap::from_iter([(self.head, value)]);
            let stays = terms.substitute(self.condition, &mut here);
            if !terms.truth(stays)? {
                return Some(rounds);
            }
            value = terms.substitute(self.update, &mut here);
        }
        None
    }
}
