//! The builders of terms against plain arithmetic: no normalisation may change a value.

use crate::formula::{self, Built, Recipe, Shape, Value, build, evaluate, recipes};
use gpuvcc::concrete::code::Code;
use gpuvcc::concrete::evaluate::Evaluator;
use gpuvcc::vcgen::term::{self, Sort, Term};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::collections::HashMap;

const ANY: Shape =
    Shape { widths: &[1, 8, 16, 32, 64], widest: 128, steps: 24, integers: true, functions: true, complete: 64 };
const NARROW: Shape =
    Shape { widths: &[1, 3, 8], widest: 16, steps: 30, integers: true, functions: true, complete: 64 };

/// Runs a property with a fixed seed, or the one in GPUVCC_SEED; GPUVCC_CASES asks for more cases.
fn check(shape: Shape, cases: u32, property: impl Fn(&Recipe) -> Result<(), TestCaseError>) {
    let cases = std::env::var("GPUVCC_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(cases);
    let seed: u8 = std::env::var("GPUVCC_SEED").ok().and_then(|c| c.parse().ok()).unwrap_or(0);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    if let Err(error) = runner.run(&recipes(shape), |recipe| property(&recipe)) {
        panic!("{error}");
    }
}

/// The value of a term at a point.
fn value_at(built: &Built, term: Term, point: usize) -> Option<Value> {
    let mut values: HashMap<Term, Value> =
        built.symbols.iter().map(|s| (s.term, Value::Bits(s.values[point]))).collect();
    evaluate(&built.terms, term, &mut values, &formula::hashed)
}

fn all_agree(built: &Built) -> Result<(), TestCaseError> {
    for point in 0..built.points() {
        let mut values: HashMap<Term, Value> =
            built.symbols.iter().map(|s| (s.term, Value::Bits(s.values[point]))).collect();
        let mut same = |term: Term, expected: Value| {
            let found = evaluate(&built.terms, term, &mut values, &formula::hashed);
            prop_assert!(found.is_none() || found == Some(expected), "{found:?} is not {expected:?} at point {point}");
            Ok(())
        };
        built.bits.iter().try_for_each(|k| same(k.term, Value::Bits(k.values[point])))?;
        built.bools.iter().try_for_each(|k| same(k.term, Value::Bool(k.values[point])))?;
        built.ints.iter().try_for_each(|k| same(k.term, Value::Int(k.values[point])))?;
    }
    Ok(())
}

#[test]
fn builders_keep_values() {
    check(ANY, 600, |recipe| all_agree(&build(recipe)));
    check(NARROW, 600, |recipe| all_agree(&build(recipe)));
}

/// The evaluator that refutes candidates against the values that the recipes were built with.
#[test]
fn evaluator_is_exact() {
    const SHAPE: Shape = Shape { functions: false, ..ANY };
    check(SHAPE, 400, |recipe| {
        let built = build(recipe);
        let known = built.bits.iter().map(|k| k.term).chain(built.bools.iter().map(|k| k.term));
        let roots: Vec<Term> = known.chain(built.ints.iter().map(|k| k.term)).collect();
        let rank = |symbol| built.symbols.iter().position(|s| s.term == symbol).map_or(0, |rank| rank as u32);
        let code = Code::new(&built.terms, roots, &rank);
        let mut evaluator = Evaluator::new(&code);
        for point in 0..built.points() {
            evaluator.set(built.symbols.iter().map(|s| (s.term, term::Value::Bits(s.values[point]))));
            for known in &built.bits {
                prop_assert_eq!(evaluator.value(known.term), term::Value::Bits(known.values[point]));
            }
            for known in &built.bools {
                prop_assert_eq!(evaluator.value(known.term), term::Value::Bool(known.values[point]));
            }
            for known in &built.ints {
                prop_assert_eq!(evaluator.value(known.term), term::Value::Int(known.values[point]));
            }
        }
        Ok(())
    });
}

#[test]
fn possible_bits_hold_every_value() {
    let property = |recipe: &Recipe| {
        let built = build(recipe);
        for known in &built.bits {
            let possible = built.terms.possible_bits(known.term);
            prop_assert!(possible & !formula::mask(built.width(known.term)) == 0);
            for value in &known.values {
                prop_assert!(value & !possible == 0, "{value:#x} has bits outside {possible:#x}");
            }
        }
        Ok(())
    };
    check(ANY, 600, property);
    check(NARROW, 600, property);
}

#[test]
fn substitution_keeps_values() {
    // Unranged symbols only: a term built under a range holds only within it.
    check(ANY, 600, |recipe| {
        let mut recipe = recipe.clone();
        recipe.symbols.iter_mut().for_each(|s| s.range = None);
        let mut built = build(&recipe);
        let replacements: Vec<(Term, Term)> = (0..built.symbols.len())
            .map(|i| {
                let symbol = built.symbols[i].term;
                let width = built.width(symbol);
                let three = built.terms.bv(3, width);
                let other = built.symbols[(i + 1) % built.symbols.len()].term;
                let fits = built.width(other) == width;
                let by = if fits { built.terms.bv_add(other, three) } else { three };
                (symbol, by)
            })
            .collect();
        let roots: Vec<Term> = built.bits.iter().map(|k| k.term).chain(built.bools.iter().map(|k| k.term)).collect();
        let mut map: foldhash::HashMap<Term, Term> = replacements.iter().copied().collect();
        let images: Vec<Term> = roots.iter().map(|&r| built.terms.substitute(r, &mut map)).collect();
        for point in 0..built.points().min(24) {
            let mut after: HashMap<Term, Value> = HashMap::new();
            for &(symbol, by) in &replacements {
                if let Some(value) = value_at(&built, by, point) {
                    after.insert(symbol, value);
                }
            }
            for (&root, &image) in roots.iter().zip(&images) {
                prop_assert_eq!(built.terms.sort(root), built.terms.sort(image));
                let expected = evaluate(&built.terms, root, &mut after, &formula::hashed);
                let found = value_at(&built, image, point);
                prop_assert!(found.is_none() || expected.is_none() || found == expected, "{found:?} {expected:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn rebuilding_is_the_identity() {
    check(ANY, 600, |recipe| {
        let mut built = build(recipe);
        let roots: Vec<Term> = built.bits.iter().map(|k| k.term).chain(built.bools.iter().map(|k| k.term)).collect();
        for root in roots {
            let operands = built.terms.operands(root);
            let again = built.terms.rebuild(root, &operands);
            let sort = built.terms.sort(root);
            prop_assert_eq!(sort, built.terms.sort(again));
            for point in 0..built.points().min(16) {
                let (x, y) = (value_at(&built, root, point), value_at(&built, again, point));
                prop_assert!(x.is_none() || y.is_none() || x == y, "{x:?} became {y:?}");
            }
        }
        Ok(())
    });
}

/// Every truth table of a disjunction of conjunctions, through merging and absorption.
#[test]
fn merging_disjunctions_keeps_truth() {
    let literals = prop::collection::vec((0usize..4, any::<bool>()), 1..4);
    let cubes = prop::collection::vec(literals, 1..8);
    let config = Config { cases: 2000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&cubes, |cubes| {
        let mut terms = gpuvcc::vcgen::term::Terms::default();
        let symbols: Vec<Term> = (0..4).map(|i| terms.symbol(&format!("p{i}"), Sort::Bool, None)).collect();
        let mut list = Vec::new();
        for cube in &cubes {
            let cube = cube.iter().map(|&(i, sign)| if sign { symbols[i] } else { terms.not(symbols[i]) }).collect();
            list.push(terms.and(cube));
        }
        let whole = terms.or(list);
        for point in 0..16u32 {
            let mut values: HashMap<Term, Value> =
                symbols.iter().enumerate().map(|(i, &s)| (s, Value::Bool(point >> i & 1 == 1))).collect();
            let expected = cubes.iter().any(|cube| cube.iter().all(|&(i, sign)| (point >> i & 1 == 1) == sign));
            prop_assert_eq!(evaluate(&terms, whole, &mut values, &formula::hashed), Some(Value::Bool(expected)));
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
