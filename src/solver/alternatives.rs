//! Formulas with products, by their alternatives.
//!
//! Input: a goal over bit-vectors. Output: whether it is proved. Establishes: `true` only where each alternative of the negated goal
//! (which check fails, which access was logged) is refuted. In one of them alone the accesses and their guards are conjuncts, from
//! which [`super::facts`] and [`super::radix`] learn; in the formula as a whole they are not.
//! Reference: Davis, Logemann, Loveland (case distinction).

use super::facts::conjuncts;
use super::{Answer, Encoding, affine, encode, logged, z3_backend};
use crate::effort::Effort;
use crate::limits;
use crate::vcgen::term::{BvBinary, Node, Term, Terms};
use foldhash::HashSet;

/// Alternatives that are looked at.
const MOST_CASES: usize = 150;

/// Terms of a formula that is looked at.
const LARGEST: usize = 3000;

/// For one of them.
const EFFORT: Effort = Effort::milliseconds(300);

/// A formula, and whether it holds.
type Literal = (Term, bool);

/// Whether a goal with alternatives is proved by each of them.
pub(super) fn prove(terms: &mut Terms, goal: Term, effort: Effort) -> bool {
    let negated = (goal, false);
    if terms.size(&[goal], LARGEST) > LARGEST {
        return false;
    }
    let mut search = Search { multiplying: multiplying(terms, goal), left: MOST_CASES, effort: effort.min(EFFORT) };
    let known = conjuncts(terms, negated.0, negated.1);
    search.choice(terms, &known).is_some() && search.refutes(terms, known)
}

struct Search {
    /// Terms with a product of unknowns below.
    multiplying: HashSet<Term>,
    left: usize,
    effort: Effort,
}

impl Search {
    /// Of some conjuncts.
    fn refutes(&mut self, terms: &mut Terms, mut known: Vec<Literal>) -> bool {
        limits::check();
        let Some(at) = self.choice(terms, &known) else { return self.is_refuted(terms, &known) };
        let (choice, holds) = known.swap_remove(at);
        let (Node::And(list) | Node::Or(list)) = terms.node(choice).clone() else { return false };
        list.iter().all(|&member| {
            self.left = self.left.saturating_sub(1);
            let more = conjuncts(terms, member, holds);
            self.left > 0 && self.refutes(terms, [known.clone(), more].concat())
        })
    }

    /// A disjunction in which unknowns are multiplied.
    fn choice(&self, terms: &Terms, known: &[Literal]) -> Option<usize> {
        known.iter().position(|(term, holds)| {
            let is_choice = matches!((terms.node(*term), holds), (Node::Or(_), true) | (Node::And(_), false));
            is_choice && self.multiplying.contains(term)
        })
    }

    fn is_refuted(&self, terms: &mut Terms, known: &[Literal]) -> bool {
        let literals = known.iter().map(|&(term, holds)| if holds { term } else { terms.not(term) }).collect();
        let formula = terms.and(literals);
        let goal = terms.not(formula);
        if terms.truth(goal) == Some(true) {
            return true;
        }
        let Some(encoded) = encode(terms, Encoding::Integers, goal, &[]) else { return false };
        affine::refutes(terms, &encoded.assertions) || {
            let answer = logged(terms, Encoding::Integers, &encoded, self.effort, z3_backend::check);
            matches!(answer, Answer::Proved)
        }
    }
}

fn multiplying(terms: &Terms, root: Term) -> HashSet<Term> {
    let mut found = HashSet::default();
    for term in terms.postorder(root, &|_| false) {
        let multiplies = match terms.node(term) {
            Node::IntMul(..) => true,
            Node::BvBinary(BvBinary::Mul, a, b) => terms.bv_value(*a).or(terms.bv_value(*b)).is_none(),
            _ => false,
        };
        if multiplies || terms.operands(term).iter().any(|operand| found.contains(operand)) {
            found.insert(term);
        }
    }
    found
}
