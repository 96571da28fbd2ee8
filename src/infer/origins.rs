//! What values were before loops moved them.
//!
//! Input: the cut loops of a passive program. Output: of a value over what is known at loop heads, the same with the
//! registers as they came to their first loop, and how many of its low bits no loop changes. Establishes: nothing; a
//! choice between several starts takes any of them, and Houdini decides whether it was right.
//! Reference: scalar evolution (chains of recurrences).

use super::candidates::zero_bits;
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{BvBinary, Node, Sort, Term, Terms};
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Registers and choices that one value may go back through.
const MOST_STEPS: usize = 24;

/// No loop changes any bit.
pub(crate) const ALL: u32 = 64;

/// Where registers come from.
pub(crate) struct Origins {
    /// By value at a head: the value on entry, and the low bits that the rounds of that loop leave alone.
    heads: BTreeMap<Term, (Term, u32)>,
    /// What no statement changes.
    constants: BTreeSet<Term>,
}

impl Origins {
    /// Of all registers.
    pub(crate) fn new(passive: &mut Passive) -> Origins {
        let Passive { terms, loops, constants, .. } = passive;
        let mut heads = BTreeMap::new();
        for cut in loops.iter() {
            for name in &cut.assigned {
                let (Some(&head), Some(&entry)) = (cut.at_head.get(name), cut.entry.get(name)) else { continue };
                if !matches!(terms.node(head), Node::Symbol(_)) || !matches!(terms.sort(head), Sort::Bv(32 | 64)) {
                    continue;
                }
                let ends: BTreeSet<Term> = cut.at_end.iter().filter_map(|end| end.get(name)).copied().collect();
                let mut updates: BTreeSet<Term> = ends.into_iter().flat_map(|end| terms.leaves(end)).collect();
                updates.remove(&head);
                let kept = |update| {
                    let step = terms.bv_sub(update, head);
                    zero_bits(terms, step)
                };
                let kept = updates.into_iter().map(kept).min().unwrap_or(ALL);
                heads.insert(head, (entry, kept));
            }
        }
        Origins { heads, constants: constants.iter().map(|(_, term)| *term).collect() }
    }

    /// The value before all loops; `None` where it is not told by constants alone.
    pub(crate) fn of(&self, terms: &mut Terms, mut value: Term) -> Option<Term> {
        for _ in 0..MOST_STEPS {
            let Some((part, origin)) = self.moved_part(terms, value) else {
                return self.is_known(terms, value, false).then_some(value);
            };
            value = terms.substitute(value, &mut HashMap::from_iter([(part, origin?)]));
        }
        None
    }

    /// A part that a loop moves or that is chosen, with what it comes from.
    fn moved_part(&self, terms: &Terms, value: Term) -> Option<(Term, Option<Term>)> {
        let (mut stack, mut seen) = (vec![value], BTreeSet::new());
        while let Some(part) = stack.pop() {
            if !seen.insert(part) {
                continue;
            }
            if let Some((entry, _)) = self.heads.get(&part) {
                return Some((part, Some(*entry)));
            }
            if matches!(terms.node(part), Node::Ite(..)) {
                return Some((part, self.choices(terms, part).next()));
            }
            stack.extend(terms.operands(part));
        }
        None
    }

    /// The values that a choice may have: not those of registers that nobody assigned.
    fn choices(&self, terms: &Terms, choice: Term) -> impl Iterator<Item = Term> {
        terms.leaves(choice).into_iter().filter(|&leaf| self.is_known(terms, leaf, true))
    }

    /// Whether a value is told by constants, or also by what registers are at loop heads.
    fn is_known(&self, terms: &Terms, value: Term, with_heads: bool) -> bool {
        let mut symbols = BTreeSet::new();
        terms.collect_symbols(value, &mut Default::default(), &mut symbols);
        let is_known = |symbol| self.constants.contains(symbol) || with_heads && self.heads.contains_key(symbol);
        symbols.iter().all(is_known)
    }

    /// The low bits of a value that no loop changes.
    pub(crate) fn kept(&self, terms: &Terms, value: Term) -> u32 {
        self.kept_below(terms, value, MOST_STEPS, &mut HashMap::default())
    }

    /// The same, no deeper than so many terms; what is shared is looked at once.
    fn kept_below(&self, terms: &Terms, value: Term, depth: usize, seen: &mut HashMap<Term, u32>) -> u32 {
        let Some(depth) = depth.checked_sub(1) else { return 0 };
        if let Some(&known) = seen.get(&value) {
            return known;
        }
        let mut least = |parts: &[Term]| {
            let each = parts.iter().map(|&part| self.kept_below(terms, part, depth, seen));
            each.min().unwrap_or(ALL)
        };
        let kept = match (self.heads.get(&value), terms.node(value)) {
            (Some(&(entry, kept)), _) => least(&[entry]).min(kept),
            (_, Node::BvSum { members, .. }) => {
                let of_member = |&(member, factor): &(Term, u128)| least(&[member]) + factor.trailing_zeros();
                members.iter().map(of_member).min().unwrap_or(ALL)
            }
            (_, Node::SignExtend(_, inner) | Node::ZeroExtend(_, inner) | Node::Extract { low: 0, of: inner, .. }) => {
                least(&[*inner])
            }
            (_, Node::BvBinary(BvBinary::Mul | BvBinary::And | BvBinary::Or | BvBinary::Xor, a, b)) => least(&[*a, *b]),
            (_, Node::Ite(..)) => least(&self.choices(terms, value).collect::<Vec<_>>()),
            _ if self.is_known(terms, value, false) => ALL,
            _ => 0,
        };
        let kept = if kept >= terms.width(value) { ALL } else { kept };
        seen.insert(value, kept);
        kept
    }
}
