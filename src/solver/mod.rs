//! Stage 8, `solver`: formulas to proofs and models.
//!
//! Input: a Boolean term. Output: [`Answer`]. Establishes: `Proved` only when Z3 answered `unsat`
//! for its negation under a sound encoding, or for each alternative of it ([`alternatives`]), or [`affine`] or
//! [`enumeration`] decided one (in debug builds Z3 is asked for the whole as well). All contact with Z3 is in this folder; the same
//! formulas print as SMT-LIB 2 ([`smtlib`]).
//! Reference: DESIGN section 5 (integers before bit-vectors).

mod affine;
mod alternatives;
pub(crate) mod cases;
mod comparison;
mod context;
mod enumeration;
pub(crate) mod exact;
mod facts;
mod ghosts;
mod integers;
mod interval;
mod learning;
mod meter;
mod multiples;
#[cfg(test)]
mod numbers;
mod operators;
mod polynomial;
mod products;
mod quotients;
mod radix;
mod refine;
pub mod smtlib;
mod truths;
mod z3_backend;

pub(crate) use context::in_own_context;
pub(crate) use z3_backend::limit_memory;

use crate::effort::{self, Effort};
use crate::vcgen::term::{Term, Terms, Value};
use crate::{interrupt, limits, stats};
use multiples::Multiple;
use products::Product;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// How machine arithmetic is given to the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Encoding {
    /// Mathematical integers with explicit wrapping; bit tricks are uninterpreted.
    Integers,
    /// Bit-vectors, exact; ghost counters are signed 64-bit.
    BitVectors,
    /// Everything is what it is: integers, bit-vectors, maps, quantifiers.
    Exact,
}

/// What it may cost to ask for an answer again.
const CONTROL: Effort = Effort::milliseconds(500);

/// Why there is no answer where no effort is left.
const SPENT: &str = "the effort for this kernel is spent";

/// What the solver said.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The formula is valid.
    Proved,
    /// A model of its negation: the value of each wanted term, `None` where the model has none that fits.
    Refuted(Vec<Option<Value>>),
    /// A limit was reached, with Z3's reason.
    Unknown(String),
}

/// The formulas that go to the solver for one query.
pub struct Encoded {
    /// All asserted; unsatisfiable means proved.
    pub assertions: Vec<Term>,
    /// So many of them, the first ones, follow from the others.
    pub consequences: usize,
    /// Products of unknowns, over integers.
    pub products: Vec<Product>,
    /// Whether counters of rounds are multiplied.
    pub multiplies: bool,
    /// The multiples of each factor of a product.
    pub multiples: BTreeMap<Term, BTreeSet<Multiple>>,
    /// Bounds of the products.
    pub bounds: Vec<Term>,
    /// These, and facts about pairs of products, true whatever the assertions say.
    pub lemmas: Vec<Term>,
    /// The encoded form of each wanted term, `None` where the encoding has none.
    pub wanted: Vec<Option<Term>>,
}

impl Encoded {
    /// Assertions over integers in which nothing is multiplied.
    fn linear(assertions: Vec<Term>) -> Encoded {
        Encoded {
            assertions,
            consequences: 0,
            products: Vec::new(),
            multiplies: false,
            multiples: BTreeMap::new(),
            bounds: Vec::new(),
            lemmas: Vec::new(),
            wanted: Vec::new(),
        }
    }

    /// Whether unknowns are multiplied, over integers.
    pub(crate) fn has_products(&self) -> bool {
        !self.products.is_empty()
    }
}

/// Is `goal` valid? In a model of its negation the `wanted` terms are evaluated.
pub fn prove(terms: &mut Terms, encoding: Encoding, goal: Term, wanted: &[Term], effort: Effort) -> Answer {
    prove_in(terms, encoding, goal, wanted, &alternatives::prove, effort)
}

/// The same for a goal of many parts: alternatives are not looked at one by one. There are too many, and nothing is to be
/// learned of most of them.
pub(crate) fn prove_many(terms: &mut Terms, encoding: Encoding, goal: Term, wanted: &[Term], effort: Effort) -> Answer {
    prove_in(terms, encoding, goal, wanted, &|_, _, _| false, effort)
}

fn prove_in(
    terms: &mut Terms,
    encoding: Encoding,
    goal: Term,
    wanted: &[Term],
    by_alternatives: &dyn Fn(&mut Terms, Term, Effort) -> bool,
    effort: Effort,
) -> Answer {
    match terms.truth(goal) {
        Some(true) => return Answer::Proved,
        _ if effort.is_none() => return Answer::Unknown(SPENT.into()),
        _ => {}
    }
    let Some(encoded) = encode(terms, encoding, goal, wanted) else {
        return Answer::Unknown("a term has no form in this encoding".into());
    };
    if encoding == Encoding::Integers && affine::refutes(terms, &encoded.assertions) {
        log::debug!("affine: proved");
        agree(terms, encoding, encoded);
        return Answer::Proved;
    }
    if encoding == Encoding::Integers && enumeration::proves(terms, goal) {
        log::debug!("enumeration: proved");
        // Over integers, what bits mean is not known.
        if let Some(encoded) = encode(terms, Encoding::BitVectors, goal, &[]) {
            agree(terms, Encoding::BitVectors, encoded);
        }
        return Answer::Proved;
    }
    if encoding == Encoding::Integers && encoded.has_products() && by_alternatives(terms, goal, effort) {
        log::debug!("alternatives: proved");
        agree(terms, encoding, encoded);
        return Answer::Proved;
    }
    logged(terms, encoding, &encoded, effort, z3_backend::check)
}

/// In debug builds, and so in tests, Z3 is asked for what was proved without it, or by parts.
fn agree(terms: &Terms, encoding: Encoding, mut encoded: Encoded) {
    if cfg!(debug_assertions) && !interrupt::is_asked() {
        // Models are found soon; a proof about products is not waited for.
        let effort = if encoded.has_products() { CONTROL / 20 } else { CONTROL };
        encoded.assertions.drain(..encoded.consequences);
        let ask = || context::in_fresh(|| z3_backend::check(terms, &encoded, encoding, effort));
        let (answer, _) = effort::apart(effort::spent(), ask);
        assert!(!matches!(answer, Answer::Refuted(_)), "solver: Z3 has a model of what is proved otherwise");
    }
}

/// Is `goal` valid, over integers, whatever the products of unknowns are? `None` if it has no such products. What a
/// model refutes is in doubt only: the model may multiply wrongly.
pub(crate) fn prove_opaque(terms: &mut Terms, goal: Term, wanted: &[Term], effort: Effort) -> Option<Answer> {
    let encoded = encode(terms, Encoding::Integers, goal, wanted)?;
    // What contradicts itself by its bounds has no products either.
    if encoded.assertions.iter().any(|&assertion| terms.truth(assertion) == Some(false)) {
        return Some(Answer::Proved);
    }
    (encoded.has_products() && !effort.is_none())
        .then(|| logged(terms, Encoding::Integers, &encoded, effort, z3_backend::check_opaque))
}

fn logged(
    terms: &Terms,
    encoding: Encoding,
    encoded: &Encoded,
    effort: Effort,
    check: fn(&Terms, &Encoded, Encoding, Effort) -> Answer,
) -> Answer {
    stats::count_query();
    let _stage = limits::stage("solver");
    let start = Instant::now();
    let answer = check(terms, encoded, encoding, effort);
    let outcome = match &answer {
        Answer::Proved => "proved",
        Answer::Refuted(_) => "refuted",
        Answer::Unknown(why) => why.as_str(),
    };
    log::trace!("{}", smtlib::script(terms, encoding, encoded, outcome));
    log::debug!("{encoding:?}: {outcome} after {} ms, {effort:?}", start.elapsed().as_millis());
    answer
}

/// Is `goal` valid where all of `literals` (Boolean symbols) hold? Then the places of those that a proof
/// needed; not always the fewest. `None`: no proof was found.
pub(crate) fn core(
    terms: &mut Terms,
    encoding: Encoding,
    goal: Term,
    literals: &[Term],
    effort: Effort,
) -> Option<Vec<usize>> {
    match terms.truth(goal) {
        Some(true) => return Some(Vec::new()),
        _ if effort.is_none() => return None,
        _ => {}
    }
    let encoded = encode(terms, encoding, goal, &[])?;
    stats::count_query();
    let _stage = limits::stage("solver");
    let start = Instant::now();
    let core = z3_backend::core(terms, &encoded, literals, encoding, effort);
    let size = core.as_ref().map_or("no proof".to_string(), |core| format!("{} of {}", core.len(), literals.len()));
    log::debug!("core, {encoding:?}: {size} after {} ms", start.elapsed().as_millis());
    core
}

/// The negation of `goal` in an encoding, with the ranges of symbols and other side conditions.
pub fn encode(terms: &mut Terms, encoding: Encoding, goal: Term, wanted: &[Term]) -> Option<Encoded> {
    let negated = terms.not(goal);
    let multiplies = terms.multiplies(goal);
    let mut roots = vec![negated];
    roots.extend_from_slice(wanted);
    match encoding {
        Encoding::Integers => {
            let mut integers = integers::Integers::new(terms, &roots)?;
            let formula = integers.formula(negated);
            let wanted = wanted.iter().map(|&t| integers.observe(t)).collect();
            let mut assertions = integers.consequences();
            let consequences = assertions.len();
            let intervals = integers.products;
            assertions.append(&mut integers.side);
            assertions.push(formula);
            let products = products::collect(terms, &assertions, &intervals);
            let bounds = products::bounds(terms, &products);
            let lemmas = products::lemmas(terms, &products);
            let multiples = multiples::collect(terms, &assertions, &products);
            Some(Encoded { assertions, consequences, products, multiplies, multiples, bounds, lemmas, wanted })
        }
        Encoding::Exact => {
            let mut assertions = ranges(terms, negated);
            assertions.push(negated);
            let wanted = wanted.iter().map(|&t| Some(t)).collect();
            let (products, multiples) = (Vec::new(), BTreeMap::new());
            let (bounds, lemmas) = (Vec::new(), Vec::new());
            Some(Encoded {
                assertions,
                consequences: 0,
                products,
                multiplies: false,
                multiples,
                bounds,
                lemmas,
                wanted,
            })
        }
        Encoding::BitVectors => {
            let mut ghosts = ghosts::Ghosts::new(terms);
            let formula = ghosts.translate(negated)?;
            let wanted = wanted.iter().map(|&t| ghosts.translate(t)).collect();
            let mut assertions = ranges(terms, formula);
            assertions.push(formula);
            Some(Encoded {
                assertions,
                consequences: 0,
                products: Vec::new(),
                multiplies,
                multiples: BTreeMap::new(),
                bounds: Vec::new(),
                lemmas: Vec::new(),
                wanted,
            })
        }
    }
}

/// The ranges of the bit-vector symbols below a formula.
fn ranges(terms: &mut Terms, formula: Term) -> Vec<Term> {
    let mut symbols = std::collections::BTreeSet::new();
    terms.collect_symbols(formula, &mut foldhash::HashSet::default(), &mut symbols);
    symbols.into_iter().flat_map(|symbol| terms.range_facts(symbol)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::{Interrupt, during};
    use crate::vcgen::term::{BvBinary, Sort};
    use meter::{Limit, Rate};
    use std::time::Duration;
    use z3::{Config, with_z3_config};
    use z3_backend::{View, load};

    /// The factors of a number with two large ones are not found soon.
    #[test]
    fn a_query_ends_when_it_is_asked_for() {
        let interrupt = Interrupt::default();
        let asked = interrupt.clone();
        let task = move || {
            let mut terms = Terms::default();
            let (a, b) = (terms.symbol("a", Sort::Bv(64), None), terms.symbol("b", Sort::Bv(64), None));
            let (a, b) = (terms.zero_extend(a, 128), terms.zero_extend(b, 128));
            let product = terms.bv_binary(BvBinary::Mul, a, b);
            let number = terms.bv(11_400_714_785_074_694_791 * 14_029_467_366_897_019_727, 128);
            let equal = terms.eq(product, number);
            let goal = terms.not(equal);
            during(Some(asked), || prove(&mut terms, Encoding::BitVectors, goal, &[], Effort::seconds(60)))
        };
        let start = Instant::now();
        let thread = std::thread::spawn(task);
        std::thread::sleep(Duration::from_millis(200));
        interrupt.ask();
        let answer = thread.join().unwrap_or_else(|_| panic!("the query panicked"));
        assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
        assert!(start.elapsed() < Duration::from_secs(20));
    }
    /// What Z3 is told of two products and of what a function gives, where things are called so.
    fn told(names: [&str; 3], encoding: Encoding) -> String {
        let mut terms = Terms::default();
        let [a, b] = [names[0], names[1]].map(|name| terms.symbol(name, Sort::Bv(32), None));
        let [of_a, of_b] = [a, b].map(|argument| terms.apply(names[2], vec![argument], Sort::Bv(32)));
        let (sum, product) = (terms.bv_add(of_a, b), terms.bv_binary(BvBinary::Mul, a, of_b));
        let goal = terms.eq(sum, product);
        let encoded =
            encode(&mut terms, encoding, goal, &[]).unwrap_or_else(|| panic!("{encoding:?} has no such form"));
        let limit = Limit { effort: Effort::seconds(1), rate: Rate::of(encoding) };
        with_z3_config(&Config::new(), || load(&terms, &encoded, limit, View::Related, false).0.to_string())
    }

    /// How soon a proof is found would depend on it, and so would answers.
    #[test]
    fn names_are_not_told() {
        for encoding in [Encoding::Integers, Encoding::BitVectors, Encoding::Exact] {
            let one = told(["n", "stride", "f"], encoding);
            assert_eq!(one, told(["zeta", "alpha", "omega"], encoding));
            assert!(one.contains("symbol@") && one.contains("function@"), "{one}");
        }
    }
}
