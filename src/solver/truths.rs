//! What conjuncts say of other formulas.
//!
//! Input: conjuncts of a formula that is asked for a model. Output: whether others hold, and what is left of disjunctions.
//! Establishes: all of it holds in every model of the conjuncts. Reference: Davis, Logemann, Loveland (unit propagation).

use super::facts::conjuncts;
use crate::vcgen::term::{Node, Term, Terms};
use foldhash::HashMap;

/// A formula, and whether it holds.
pub(super) type Literal = (Term, bool);

/// How deep formulas are looked at, beside negations.
const DEPTH: usize = 3;

/// How often disjunctions are looked at.
const ROUNDS: usize = 8;

/// Formulas that hold or do not, and what has a constant value.
#[derive(Default)]
pub(super) struct Truths {
    known: HashMap<Term, bool>,
    values: HashMap<Term, Term>,
}

impl Truths {
    /// `None` if the literals contradict each other.
    pub(super) fn new(terms: &Terms, literals: &[Literal]) -> Option<Truths> {
        let mut truths = Truths::default();
        for &(term, holds) in literals {
            if truths.known.insert(term, holds) == Some(!holds) {
                return None;
            }
            if let Some((unknown, value)) = value_of(terms, term).filter(|_| holds)
                && truths.values.insert(unknown, value).is_some_and(|other| other != value)
            {
                return None;
            }
        }
        Some(truths)
    }

    /// Whether a formula holds, as far as that is seen.
    pub(super) fn of(&self, terms: &Terms, formula: Term) -> Option<bool> {
        if self.known.is_empty() { None } else { self.below(terms, formula, DEPTH) }
    }

    fn below(&self, terms: &Terms, formula: Term, depth: usize) -> Option<bool> {
        if let Node::Not(inner) = *terms.node(formula) {
            return self.below(terms, inner, depth).map(|holds| !holds);
        }
        let depth = depth.checked_sub(1)?;
        let of = |member: &Term| self.below(terms, *member, depth);
        terms.truth(formula).or_else(|| self.known.get(&formula).copied()).or_else(|| match terms.node(formula) {
            Node::And(list) if list.iter().all(|member| of(member) == Some(true)) => Some(true),
            Node::And(list) if list.iter().any(|member| of(member) == Some(false)) => Some(false),
            Node::Or(list) if list.iter().any(|member| of(member) == Some(true)) => Some(true),
            Node::Or(list) if list.iter().all(|member| of(member) == Some(false)) => Some(false),
            Node::Ite(condition, yes, no) => of(condition).and_then(|holds| of(if holds { yes } else { no })),
            Node::Eq(..) => {
                let (unknown, value) = value_of(terms, formula)?;
                self.values.get(&unknown).map(|known| *known == value)
            }
            _ => None,
        })
    }
}

/// What an equation with a constant is about, and the constant. Constants with other values are other terms.
fn value_of(terms: &Terms, formula: Term) -> Option<(Term, Term)> {
    match *terms.node(formula) {
        Node::Eq(a, b) if is_constant(terms, b) => Some((a, b)),
        Node::Eq(a, b) if is_constant(terms, a) => Some((b, a)),
        _ => None,
    }
}

fn is_constant(terms: &Terms, term: Term) -> bool {
    matches!(terms.node(term), Node::BvConst { .. } | Node::IntConst(_))
}

/// The conjuncts, with what follows of a disjunction where all but one of its members do not hold; without disjunctions that
/// hold anyway. `None`: they contradict each other.
pub(super) fn propagated(terms: &Terms, mut literals: Vec<Literal>) -> Option<Vec<Literal>> {
    for _ in 0..ROUNDS {
        let truths = Truths::new(terms, &literals)?;
        let before = literals.len();
        let (mut kept, mut follow) = (Vec::new(), Vec::new());
        for literal in literals {
            let (list, holds) = match (terms.node(literal.0), literal.1) {
                (Node::Or(list), true) => (list, true),
                (Node::And(list), false) => (list, false),
                _ => {
                    kept.push(literal);
                    continue;
                }
            };
            let of = |member: &Term| truths.of(terms, *member);
            if list.iter().any(|member| of(member) == Some(holds)) {
                continue;
            }
            let open: Vec<Term> = list.iter().copied().filter(|member| of(member).is_none()).collect();
            match open[..] {
                [] => return None,
                [last] => follow.extend(conjuncts(terms, last, holds)),
                _ => kept.push(literal),
            }
        }
        let is_done = follow.is_empty() && kept.len() == before;
        kept.extend(follow);
        literals = kept;
        if is_done {
            break;
        }
    }
    Some(literals)
}
