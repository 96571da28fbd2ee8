//! Formulas with products, by their alternatives.
//!
//! Input: a goal over bit-vectors. Output: whether it is proved. Establishes: `true` only where each alternative of the negated goal
//! (which check fails, which access was logged) is refuted. In one of them alone the accesses and their guards are conjuncts, from
//! which [`super::facts`] and [`super::radix`] learn; in the formula as a whole they are not.
//! Reference: Davis, Logemann, Loveland (case distinction).

use super::facts::conjuncts;
use super::truths::{Literal, propagated};
use super::{Answer, Encoded, Encoding, affine, encode, logged, z3_backend};
use crate::effort::{Budget, Effort};
use crate::limits;
use crate::vcgen::term::{Node, Term, Terms};
use foldhash::HashSet;
use std::cmp::Reverse;

/// Alternatives that are looked at.
const MOST_CASES: usize = 150;

/// Those of which nothing is learned, where nothing was learned of another one before: nothing is of many candidates.
const MOST_PLAIN: usize = 8;

/// How often conjuncts are looked at in vain while accesses are open, and behind that.
const MOST_VAIN: [usize; 2] = [6, 12];

/// What an access says, at least: that it is made, by whom, and where.
const OF_ACCESS: usize = 3;

/// Terms of a formula that is looked at.
const LARGEST: usize = 3000;

/// For all that Z3 is asked.
const EFFORT: Effort = Effort::milliseconds(1000);

/// Whether a goal with alternatives is proved by each of them.
pub(super) fn prove(terms: &mut Terms, goal: Term, effort: Effort) -> bool {
    if terms.size(&[goal], LARGEST) > LARGEST {
        return false;
    }
    let budget = Budget::new(effort.min(EFFORT));
    let mut search = Search {
        multiplying: multiplying(terms, goal),
        left: MOST_CASES,
        budget,
        plain: Vec::new(),
        learned: false,
        vain: [0, 0],
    };
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
    /// How often conjuncts were looked at in vain while disjunctions with accesses were open, and with others alone.
    vain: [usize; 2],
}

impl Search {
    /// Whether conjuncts have no model, but for those of the plain alternatives.
    fn refutes(&mut self, terms: &mut Terms, known: Vec<Literal>) -> bool {
        limits::check();
        let Some(mut known) = propagated(terms, known) else { return true };
        self.left = self.left.saturating_sub(1);
        let Some((at, most)) = self.choice(terms, &known) else { return self.is_refuted(terms, &known) };
        // Members that say one thing are no accesses with their guards.
        let phase = usize::from(most <= 1);
        if self.left + 1 < MOST_CASES && self.vain[phase] < MOST_VAIN[phase] {
            if self.is_refuted_soon(terms, &known) {
                return true;
            }
            self.vain[phase] += 1;
        }
        let (choice, holds) = known.swap_remove(at);
        let (Node::And(list) | Node::Or(list)) = terms.node(choice).clone() else { return false };
        list.iter().all(|&member| {
            let more = conjuncts(terms, member, holds);
            self.left > 0 && self.refutes(terms, [known.clone(), more].concat())
        })
    }

    /// Whether places that are equal refute conjuncts with disjunctions that are still open.
    fn is_refuted_soon(&mut self, terms: &mut Terms, known: &[Literal]) -> bool {
        let encoded = encode_all(terms, known).filter(|encoded| encoded.consequences > 0);
        let is_refuted = encoded.is_some_and(|encoded| {
            affine::refutes(terms, &encoded.assertions) || {
                let linear = without_products(terms, &encoded);
                self.is_refuted_by_z3(terms, &linear)
            }
        });
        self.learned |= is_refuted;
        is_refuted
    }

    /// A disjunction in which unknowns are multiplied, that of which a member says most, as an access does with its guards; and
    /// how much that is. Where pointers are moved on, places are products by what is known of the pointers: then accesses
    /// without products come in front of what says one thing.
    fn choice(&self, terms: &Terms, known: &[Literal]) -> Option<(usize, usize)> {
        let says = |&(term, holds): &Literal| match (terms.node(term), holds) {
            (Node::Or(list), true) | (Node::And(list), false) => {
                let most = list.iter().map(|&member| conjuncts(terms, member, holds).len()).max()?;
                let kind = match self.multiplying.contains(&term) {
                    true if most > 1 => 0,
                    true => 2,
                    false if most >= OF_ACCESS => 1,
                    false => return None,
                };
                Some((kind, Reverse(most), list.len()))
            }
            _ => None,
        };
        let choices = known.iter().enumerate().filter_map(|(at, literal)| Some((says(literal)?, at)));
        choices.min().map(|((_, Reverse(most), _), at)| (at, most))
    }

    fn is_refuted(&mut self, terms: &mut Terms, known: &[Literal]) -> bool {
        let Some(encoded) = encode_all(terms, known) else { return false };
        self.learned |= encoded.consequences > 0;
        if affine::refutes(terms, &encoded.assertions) {
            return true;
        }
        if encoded.consequences == 0 {
            self.plain.push(encoded);
            return self.learned || self.plain.len() <= MOST_PLAIN;
        }
        self.asks(terms, &encoded)
    }

    /// Whether Z3 refutes an alternative. Where places that are equal told of what was multiplied, there is seldom need of
    /// the products themselves.
    fn asks(&self, terms: &mut Terms, encoded: &Encoded) -> bool {
        if encoded.consequences > 0 {
            let linear = without_products(terms, encoded);
            if self.is_refuted_by_z3(terms, &linear) {
                return true;
            }
        }
        self.is_refuted_by_z3(terms, encoded)
    }

    fn is_refuted_by_z3(&self, terms: &Terms, encoded: &Encoded) -> bool {
        let effort = self.budget.left();
        !effort.is_none()
            && matches!(logged(terms, Encoding::Integers, encoded, effort, z3_backend::check), Answer::Proved)
    }
}

/// Conjuncts as formulas over integers.
fn encode_all(terms: &mut Terms, known: &[Literal]) -> Option<Encoded> {
    let literals = known.iter().map(|&(term, holds)| if holds { term } else { terms.not(term) }).collect();
    let formula = terms.and(literals);
    let goal = terms.not(formula);
    encode(terms, Encoding::Integers, goal, &[])
}

/// The conjuncts in which no unknowns are multiplied.
fn without_products(terms: &mut Terms, encoded: &Encoded) -> Encoded {
    let literals: Vec<Literal> = encoded.assertions.iter().flat_map(|&a| conjuncts(terms, a, true)).collect();
    let is_linear = |(term, _): &Literal| !terms.postorder(*term, &|_| false).iter().any(|&t| terms.is_product(t));
    let linear: Vec<Literal> = literals.into_iter().filter(is_linear).collect();
    let assertions = linear.into_iter().map(|(term, holds)| if holds { term } else { terms.not(term) }).collect();
    Encoded::linear(assertions)
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
