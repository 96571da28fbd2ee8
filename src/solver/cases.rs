//! A proof by cases: the few values of a symbol that is multiplied.
//!
//! Input: a goal in which unknowns are multiplied. Output: whether it was proved. Establishes: proved only where no model of
//! the negated goal gives the symbol another value than those looked at, and none gives it one of them; a model of a case
//! is not told. Relies on: [`super::prove`]. Reference: DESIGN section 5; Cimatti et al., incremental linearization.
//!
//! The height of a pyramid of time steps, the radius of a stencil, the side of a tile: such a parameter scales places, and
//! what an access is guarded by leaves it only a few values, since threads of one block have to be on both sides of its halo.
//! Which those are is a linear question; once it has a value, all products are linear, which solvers decide soon.

use super::{Answer, Encoding, prove, prove_opaque};
use crate::effort::{Budget, Effort};
use crate::vcgen::term::{BvBinary, BvCompare, Node, Sort, Term, Terms};
use foldhash::HashSet;
use std::collections::BTreeSet;

/// The symbol is one of the numbers below this.
const VALUES: u128 = 32;
/// Symbols that are tried.
const SYMBOLS: usize = 2;
/// To see that there are no other values: where a proof needs more, there hardly is one.
const SMALL: Effort = Effort::milliseconds(40);
/// Terms of a factor.
const FACTOR: usize = 64;
/// For each value.
const ONE: Effort = Effort::milliseconds(400);

/// Whether a goal holds: for each value that a symbol which makes all products linear can have.
pub(crate) fn proves(terms: &Terms, goal: Term, budget: Budget) -> bool {
    let symbols = linearising(terms, goal);
    if symbols.is_empty() {
        return false;
    }
    // Later formulas are to have their terms in the same order, whatever was tried here.
    let mut terms = terms.clone();
    symbols.into_iter().take(SYMBOLS).any(|symbol| {
        let bounded = is_small(&mut terms, goal, symbol, budget);
        let name = terms.symbol_of(symbol).map(|symbol| symbol.name.as_str()).unwrap_or_default();
        log::debug!("cases: `{name}` {}", if bounded { "has few values" } else { "may have any value" });
        bounded && (0..VALUES).all(|value| holds_at(&mut terms, goal, symbol, value, budget))
    })
}

/// Whether the goal holds for all other values.
fn is_small(terms: &mut Terms, goal: Term, symbol: Term, budget: Budget) -> bool {
    let most = terms.bv(VALUES - 1, terms.width(symbol));
    let small = terms.bv_compare(BvCompare::Ule, symbol, most);
    let goal = terms.or2(small, goal);
    matches!(prove_opaque(terms, goal, &[], budget.most(SMALL)), Some(Answer::Proved))
}

/// Whether the goal holds for a value.
fn holds_at(terms: &mut Terms, goal: Term, symbol: Term, value: u128, budget: Budget) -> bool {
    let value = terms.bv(value, terms.width(symbol));
    let goal = terms.substitute(goal, &mut [(symbol, value)].into_iter().collect());
    matches!(prove(terms, Encoding::Integers, goal, &[], budget.most(ONE)), Answer::Proved)
}

/// The symbols of which each product of unknowns has a factor that depends on nothing else.
fn linearising(terms: &Terms, goal: Term) -> BTreeSet<Term> {
    let mut common: Option<BTreeSet<Term>> = None;
    for term in terms.postorder(goal, &|_| false) {
        if matches!(terms.node(term), Node::Quantifier(_)) {
            // Its variables are symbols, too.
            return BTreeSet::new();
        }
        let (Node::BvBinary(BvBinary::Mul, a, b) | Node::IntMul(a, b)) = terms.node(term) else { continue };
        let alone: BTreeSet<Term> = [*a, *b].into_iter().filter_map(|factor| only_symbol(terms, factor)).collect();
        let left = match common {
            None => alone,
            Some(common) => common.intersection(&alone).copied().collect(),
        };
        if left.is_empty() {
            return left;
        }
        common = Some(left);
    }
    common.unwrap_or_default()
}

/// The one symbol, a bit-vector, on which a term depends.
fn only_symbol(terms: &Terms, term: Term) -> Option<Term> {
    if terms.size(&[term], FACTOR) > FACTOR {
        return None;
    }
    let mut symbols = BTreeSet::new();
    terms.collect_symbols(term, &mut HashSet::default(), &mut symbols);
    let is_function = |t: &Term| matches!(terms.node(*t), Node::Apply(..));
    let [only] = symbols.into_iter().collect::<Vec<_>>()[..] else { return None };
    let depends_on_more = terms.postorder(term, &|_| false).iter().any(is_function);
    (matches!(terms.sort(only), Sort::Bv(_)) && !depends_on_more).then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That `factor * x + 1` is not `y` where the factor is at most `most`, but for one of its values: with `wrong` among
    /// those that it can have, there is a model. With `other`, a product without the factor stands beside it.
    fn goal(terms: &mut Terms, most: u128, wrong: u128, other: bool) -> Term {
        let [factor, x, y] = ["factor", "x", "y"].map(|name| terms.symbol(name, Sort::Bv(32), None));
        let [most, wrong, one] = [most, wrong, 1].map(|value| terms.bv(value, 32));
        let product = terms.bv_binary(BvBinary::Mul, factor, x);
        let sum = terms.bv_add(product, one);
        let hit = terms.eq(sum, y);
        let (small, at) = (terms.bv_compare(BvCompare::Ule, factor, most), terms.eq(factor, wrong));
        let mut model = vec![small, at, hit];
        if other {
            let [u, v] = ["u", "v"].map(|name| terms.symbol(name, Sort::Bv(32), None));
            let product = terms.bv_binary(BvBinary::Mul, u, v);
            model.push(terms.eq(product, one));
        }
        let model = terms.and(model);
        terms.not(model)
    }

    fn is_proved(most: u128, wrong: u128, other: bool) -> bool {
        let mut terms = Terms::default();
        let goal = goal(&mut terms, most, wrong, other);
        proves(&terms, goal, Budget::new(Effort::seconds(20)))
    }

    /// Whichever of the values has a model, the first, the last or one between, nothing is proved; and nothing where the
    /// symbol may be larger than those looked at.
    #[test]
    fn each_value_counts() {
        for most in [0, 1, 7, VALUES - 1, VALUES, VALUES + 1] {
            for wrong in [0, 1, 6, VALUES - 2, VALUES - 1, VALUES, VALUES + 1, 1 << 31] {
                let proved = is_proved(most, wrong, false);
                assert!(!proved || wrong > most, "{wrong} is a value up to {most}");
                assert!(proved || wrong <= most || most >= VALUES, "{wrong} is no value up to {most}");
            }
        }
    }

    /// A product without the symbol would be one of unknowns in each case.
    #[test]
    fn a_symbol_has_to_be_in_all_products() {
        let mut terms = Terms::default();
        let goal = goal(&mut terms, 7, 9, true);
        assert!(linearising(&terms, goal).is_empty() && !is_proved(7, 9, true));
    }
}
