//! Formulas with products, by their alternatives.
//!
//! Input: a goal over bit-vectors. Output: whether it is proved. Establishes: `true` only where each alternative of the negated goal
//! (which check fails, which access was logged) is refuted. In one of them alone the accesses and their guards are conjuncts, from
//! which [`super::facts`] and [`super::radix`] learn; in the formula as a whole they are not.
//! Reference: Davis, Logemann, Loveland (case distinction).

use super::facts::conjuncts;
use super::{Answer, Encoded, Encoding, affine, encode, logged, z3_backend};
use crate::effort::{Budget, Effort};
use crate::limits;
use crate::vcgen::term::{Node, Term, Terms};
use foldhash::HashSet;

/// Alternatives that are looked at.
const MOST_CASES: usize = 150;

/// Terms of a formula that is looked at.
const LARGEST: usize = 3000;

/// For all that Z3 is asked.
const EFFORT: Effort = Effort::milliseconds(400);

/// A formula, and whether it holds.
type Literal = (Term, bool);

/// Whether a goal with alternatives is proved by each of them.
pub(super) fn prove(terms: &mut Terms, goal: Term, effort: Effort) -> bool {
    if terms.size(&[goal], LARGEST) > LARGEST {
        return false;
    }
    let budget = Budget::new(effort.min(EFFORT));
    let mut search =
        Search { multiplying: multiplying(terms, goal), left: MOST_CASES, budget, plain: Vec::new(), learned: false };
    let known = conjuncts(terms, goal, false);
    let is_refuted = search.choice(terms, &known).is_some() && search.refutes(terms, known);
    // Where nothing is learned of places in one alternative, the formula as a whole is no harder.
    is_refuted && search.learned && std::mem::take(&mut search.plain).iter().all(|encoded| search.asks(terms, encoded))
}

struct Search {
    /// Terms with a product of unknowns below.
    multiplying: HashSet<Term>,
    left: usize,
    budget: Budget,
    /// Alternatives of which nothing is learned that was multiplied.
    plain: Vec<Encoded>,
    /// Whether something is, of another one.
    learned: bool,
}

impl Search {
    /// Whether conjuncts have no model, but for those of the plain alternatives.
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

    fn is_refuted(&mut self, terms: &mut Terms, known: &[Literal]) -> bool {
        let literals = known.iter().map(|&(term, holds)| if holds { term } else { terms.not(term) }).collect();
        let formula = terms.and(literals);
        let goal = terms.not(formula);
        if terms.truth(goal) == Some(true) {
            return true;
        }
        let Some(encoded) = encode(terms, Encoding::Integers, goal, &[]) else { return false };
        self.learned |= encoded.consequences > 0;
        if affine::refutes(terms, &encoded.assertions) {
            return true;
        }
        if encoded.consequences == 0 {
            self.plain.push(encoded);
            return true;
        }
        self.asks(terms, &encoded)
    }

    /// Whether Z3 refutes an alternative.
    fn asks(&self, terms: &Terms, encoded: &Encoded) -> bool {
        let effort = self.budget.left();
        !effort.is_none()
            && matches!(logged(terms, Encoding::Integers, encoded, effort, z3_backend::check), Answer::Proved)
    }
}

fn multiplying(terms: &Terms, root: Term) -> HashSet<Term> {
    let mut found = HashSet::default();
    for term in terms.postorder(root, &|_| false) {
        if terms.is_product(term) || terms.operands(term).iter().any(|operand| found.contains(operand)) {
            found.insert(term);
        }
    }
    found
}
