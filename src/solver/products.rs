//! What a solver of linear arithmetic must be told about products of two unknowns.
//!
//! Input: the products of a query, by their factors. Output: facts true of all integers, linear in
//! the products and the factors. Establishes: where two products have a factor in common, `x*y` and
//! `x*z`, they are at least `x` apart unless `y == z`: that is the uniqueness of quotient and rest by
//! which rows do not overlap. Products without a common factor grow with both factors.
//! Reference: DESIGN section 5 (division-lemma instances).

use super::interval::Interval;
use crate::vcgen::term::{Node, Term, Terms};
use foldhash::{HashMap, HashSet};

/// With more products than this there are facts only about pairs with a factor in common: the other pairs cost more
/// than they tell.
const PRODUCT_LIMIT: usize = 12;

/// Pairs that facts are made of.
const PAIR_LIMIT: usize = 120;

/// A product of two integer terms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Product {
    pub(crate) factors: [Term; 2],
    /// `factors[0] * factors[1]`
    pub(crate) term: Term,
    /// Bounds that follow from those of the factors.
    pub(crate) interval: Interval,
}

/// The products of unknowns in some terms; `intervals` has bounds of some.
pub(crate) fn collect(terms: &Terms, roots: &[Term], intervals: &HashMap<Term, Interval>) -> Vec<Product> {
    let mut seen = HashSet::default();
    let mut products = Vec::new();
    for &root in roots {
        let below = terms.postorder(root, &|t| seen.contains(&t));
        for &term in &below {
            if let Node::IntMul(a, b) = terms.node(term) {
                let interval = intervals.get(&term).copied().unwrap_or(Interval::ALL);
                products.push(Product { factors: [*a, *b], term, interval });
            }
        }
        seen.extend(below);
    }
    products
}

/// Facts about every pair of products.
pub(crate) fn lemmas(terms: &mut Terms, products: &[Product]) -> Vec<Term> {
    let mut facts = Vec::new();
    let mut pairs = 0;
    for (i, p) in products.iter().enumerate() {
        facts.extend(bounds_of(terms, p));
        for q in &products[i + 1..] {
            match common(p, q) {
                Some((x, y, z)) if pairs < PAIR_LIMIT => {
                    pairs += 1;
                    facts.extend(multiples(terms, x, (y, p.term), (z, q.term)));
                }
                None if products.len() <= PRODUCT_LIMIT => {
                    facts.push(grows(terms, p, q));
                    facts.push(grows(terms, q, p));
                }
                _ => {}
            }
        }
    }
    facts
}

/// The bounds of all products.
pub(crate) fn bounds(terms: &mut Terms, products: &[Product]) -> Vec<Term> {
    products.iter().flat_map(|product| bounds_of(terms, product)).collect()
}

fn bounds_of(terms: &mut Terms, product: &Product) -> Vec<Term> {
    let (low, high) = (product.interval.low.map(|l| terms.int(l)), product.interval.high.map(|h| terms.int(h)));
    let low = low.map(|low| terms.int_le(low, product.term));
    low.into_iter().chain(high.map(|high| terms.int_le(product.term, high))).collect()
}

/// The common factor and the two others.
fn common(p: &Product, q: &Product) -> Option<(Term, Term, Term)> {
    let [a, b] = p.factors;
    let [c, d] = q.factors;
    [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)]
        .into_iter()
        .find(|(x, _, other, _)| x == other)
        .map(|(x, y, _, z)| (x, y, z))
}

/// `y < z ==> (x >= 0 ==> x*y + x <= x*z) && (x <= 0 ==> x*z <= x*y + x)`, the same with `y` and `z`
/// exchanged, and `y == z ==> x*y == x*z`.
fn multiples(terms: &mut Terms, x: Term, (y, xy): (Term, Term), (z, xz): (Term, Term)) -> Vec<Term> {
    let zero = terms.int(0);
    let (positive, negative) = (terms.int_le(zero, x), terms.int_le(x, zero));
    let mut facts = Vec::new();
    for ((less, low), (more, high)) in [((y, xy), (z, xz)), ((z, xz), (y, xy))] {
        let next = terms.int_add(low, x);
        let ordered = terms.int_lt(less, more);
        let (above, below) = (terms.int_le(next, high), terms.int_le(high, next));
        let (above, below) = (implies(terms, &[ordered, positive], above), implies(terms, &[ordered, negative], below));
        facts.extend([above, below]);
    }
    let (same, equal) = (terms.eq(y, z), terms.eq(xy, xz));
    facts.push(implies(terms, &[same], equal));
    facts
}

/// `0 <= a < c && 0 <= b < d ==> (a + 1) * (b + 1) <= c * d`, with the product multiplied out.
fn grows(terms: &mut Terms, small: &Product, large: &Product) -> Term {
    let ([a, b], [c, d]) = (small.factors, large.factors);
    let zero = terms.int(0);
    let conditions = [terms.int_le(zero, a), terms.int_le(zero, b), terms.int_lt(a, c), terms.int_lt(b, d)];
    let next = terms.int_sum(1, vec![(small.term, 1), (a, 1), (b, 1)]);
    let above = terms.int_le(next, large.term);
    implies(terms, &conditions, above)
}

fn implies(terms: &mut Terms, conditions: &[Term], conclusion: Term) -> Term {
    let mut cases: Vec<Term> = conditions.iter().map(|&c| terms.not(c)).collect();
    cases.push(conclusion);
    terms.or(cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concrete::code::Code;
    use crate::concrete::evaluate::Evaluator;
    use crate::vcgen::term::Sort;
    use crate::vcgen::term::Value;

    /// All facts hold for all small integers, and one of them is the division lemma.
    #[test]
    fn facts_are_true_of_integers() {
        let mut terms = Terms::default();
        let symbols = ["w", "x", "y", "z"].map(|name| terms.symbol(name, Sort::Int, None));
        let [w, x, y, z] = symbols;
        let interval = Interval::ALL;
        let products = [[x, y], [x, z], [w, y], [w, w]].map(|factors| Product {
            factors,
            term: terms.int_mul(factors[0], factors[1]),
            interval,
        });
        let facts = lemmas(&mut terms, &products);
        assert_eq!(facts.len(), 2 * 5 + 5 + 3 * 2, "three pairs with a common factor, three without");
        let code = Code::new(&terms, facts.iter().copied(), &|_| 0);
        let mut evaluator = Evaluator::new(&code);
        for number in 0..7i128.pow(4) {
            let value = |i: usize| Value::Int(number / 7i128.pow(i as u32) % 7 - 3);
            evaluator.set(symbols.into_iter().enumerate().map(|(i, symbol)| (symbol, value(i))));
            assert!(facts.iter().all(|&fact| evaluator.holds(fact)), "case {number}");
        }
    }
}
