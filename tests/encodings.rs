//! The two encodings against the meaning of the formula and against each other.
//!
//! Point by point: at every assignment of the symbols, the integer formula under the true
//! interpretation of its symbols and functions has the value of the bit-vector formula, and every
//! side fact holds. Through the solver: what is proved holds everywhere, what is refuted is refuted
//! by the model that comes with it. GPUVCC_CASES asks for more cases than `cargo test` runs.

#![allow(clippy::needless_range_loop)]

use crate::formula::{self, Built, Recipe, Shape, Value, build, evaluate, hashed, recipes, signed};
use gpuvcc::effort::Effort;
use gpuvcc::solver::{self, Answer, Encoded, Encoding};
use gpuvcc::vcgen::term::{self, BvBinary, BvCompare, Node, Sort, Term, Terms};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::HashMap;

const WIDE: Shape =
    Shape { widths: &[1, 8, 16, 32, 64], widest: 64, steps: 24, integers: true, functions: true, complete: 64 };
const NARROW: Shape =
    Shape { widths: &[1, 4, 8], widest: 16, steps: 24, integers: true, functions: true, complete: 256 };
/// Few values, so that all can be tried; no functions, so that models can be replayed.
const SMALL: Shape =
    Shape { widths: &[3, 4, 8], widest: 20, steps: 14, integers: false, functions: false, complete: 4096 };

const EFFORT: Effort = Effort::milliseconds(600);

fn cases(default: u32) -> u32 {
    std::env::var("GPUVCC_CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(default)
}

/// Runs a property with a fixed seed, or the one in GPUVCC_SEED.
fn check(shape: Shape, cases: u32, property: impl Fn(&Recipe) -> Result<(), TestCaseError>) {
    let seed: u8 = std::env::var("GPUVCC_SEED").ok().and_then(|c| c.parse().ok()).unwrap_or(0);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 5_000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    if let Err(error) = runner.run(&recipes(shape), |recipe| property(&recipe)) {
        panic!("{error}");
    }
}

/// The true meaning of the functions that the integer encoding introduces.
pub fn true_meaning(terms: &Terms, name: &str, args: &[Value], result: Sort) -> Value {
    if let Some(operator) = name.strip_prefix("bv@") {
        let split = operator.find(|c: char| c.is_ascii_digit()).expect("a width ends the name");
        let width: u32 = operator[split..].parse().expect("a width ends the name");
        let (x, y) = (args[0].int() as u128, args[1].int() as u128);
        let (op, is_signed) = match &operator[..split] {
            "udiv" => (BvBinary::Udiv, false),
            "urem" => (BvBinary::Urem, false),
            "sdiv" => (BvBinary::Sdiv, true),
            "srem" => (BvBinary::Srem, true),
            "and" => (BvBinary::And, false),
            other => panic!("no meaning for {other}"),
        };
        if op == BvBinary::Sdiv && y != 0 {
            // The quotient before it wraps.
            return Value::Int(signed(x, width) / signed(y, width));
        }
        let value = formula::binary(op, x, y, width);
        return Value::Int(if is_signed { signed(value, width) } else { value as i128 });
    }
    let Some(original) = name.strip_suffix("@int") else { return hashed(name, args, result) };
    let declared = terms.functions.iter().find(|f| f.name == original).expect("the original is declared");
    match hashed(original, args, declared.result) {
        Value::Bits(value) => Value::Int(value as i128),
        other => other,
    }
}

/// The integer that stands for a bit-vector symbol: signed where the side facts say so.
pub fn representative(terms: &Terms, facts: &[Term], symbol: Term, value: u128, width: u32) -> i128 {
    let within = |value: i128| {
        facts.iter().all(|&fact| match *terms.node(fact) {
            Node::IntLe(a, b) if a == symbol => terms.int_value(b).is_none_or(|bound| value <= bound),
            Node::IntLe(a, b) if b == symbol => terms.int_value(a).is_none_or(|bound| bound <= value),
            _ => true,
        })
    };
    if within(value as i128) { value as i128 } else { signed(value, width) }
}

fn integers_agree(built: &mut Built, goal: Term, expected: &[bool]) -> Result<(), TestCaseError> {
    let Some(encoded) = solver::encode(&mut built.terms, Encoding::Integers, goal, &[]) else { return Ok(()) };
    let Some((&formula, facts)) = encoded.assertions.split_last() else { return Ok(()) };
    for point in 0..built.points() {
        let mut values = HashMap::new();
        for (i, symbol) in built.symbols.iter().enumerate() {
            let translated = built.terms.symbol(&format!("x{i}@int"), Sort::Int, None);
            let (value, width) = (symbol.values[point], built.terms.width(symbol.term));
            let value = representative(&built.terms, facts, translated, value, width);
            values.insert(translated, Value::Int(value));
            values.insert(symbol.term, Value::Bits(symbol.values[point]));
        }
        let terms = &built.terms;
        let meaning = |name: &str, args: &[Value], result: Sort| true_meaning(terms, name, args, result);
        let held: Option<Vec<Value>> =
            encoded.assertions.iter().map(|&a| evaluate(terms, a, &mut values, &meaning)).collect();
        let right = held.is_none_or(|held| held.iter().all(|held| held.truth()) != expected[point]);
        prop_assert!(right, "at point {point} the goal is {}: {}", expected[point], show(terms, formula));
    }
    Ok(())
}

fn bit_vectors_agree(built: &mut Built, goal: Term, expected: &[bool]) -> Result<(), TestCaseError> {
    // Integers are 64 bits wide there.
    let fits = |i: &i128| i64::try_from(*i).is_ok();
    if !built.ints.iter().all(|k| k.values.iter().all(fits)) {
        return Ok(());
    }
    let Some(encoded) = solver::encode(&mut built.terms, Encoding::BitVectors, goal, &[]) else { return Ok(()) };
    let Some((&formula, facts)) = encoded.assertions.split_last() else { return Ok(()) };
    for point in 0..built.points() {
        let mut values: HashMap<Term, Value> =
            built.symbols.iter().map(|s| (s.term, Value::Bits(s.values[point]))).collect();
        let meaning =
            |name: &str, args: &[Value], result: Sort| hashed(name.strip_suffix("@bv64").unwrap_or(name), args, result);
        for &fact in facts {
            let holds = evaluate(&built.terms, fact, &mut values, &meaning);
            prop_assert!(holds == Some(Value::Bool(true)), "a side fact is false at point {point}");
        }
        let found = evaluate(&built.terms, formula, &mut values, &meaning);
        prop_assert!(found == Some(Value::Bool(!expected[point])), "at point {point} the goal is {}", expected[point]);
    }
    Ok(())
}

pub fn show(terms: &Terms, term: Term) -> String {
    let encoded = Encoded {
        assertions: vec![term],
        consequences: 0,
        products: vec![],
        multiplies: false,
        multiples: Default::default(),
        bounds: vec![],
        lemmas: vec![],
        wanted: vec![],
    };
    solver::smtlib::script(terms, Encoding::Integers, &encoded, "")
}

/// Goals of a recipe: its last Booleans and the ends of its last bit-vectors.
fn goals(built: &mut Built) -> Vec<(Term, Vec<bool>)> {
    let mut goals: Vec<(Term, Vec<bool>)> =
        built.bools.iter().rev().take(2).map(|k| (k.term, k.values.clone())).collect();
    for known in built.bits.clone().iter().rev().take(2) {
        let width = built.terms.width(known.term);
        let middle = known.values[known.values.len() / 2];
        let end = built.terms.bv(middle, width);
        goals.push((
            built.terms.bv_compare(BvCompare::Ule, known.term, end),
            known.values.iter().map(|v| *v <= middle).collect(),
        ));
        goals.push((
            built.terms.bv_compare(BvCompare::Sle, end, known.term),
            known.values.iter().map(|v| signed(middle, width) <= signed(*v, width)).collect(),
        ));
        goals.push((built.terms.eq(known.term, end), known.values.iter().map(|v| *v == middle).collect()));
    }
    goals
}

#[test]
fn encodings_agree_point_by_point() {
    let property = |recipe: &Recipe| {
        let mut built = build(recipe);
        for (goal, expected) in goals(&mut built) {
            integers_agree(&mut built, goal, &expected)?;
            bit_vectors_agree(&mut built, goal, &expected)?;
        }
        Ok(())
    };
    check(WIDE, cases(700), property);
    check(NARROW, cases(700), property);
}

/// How the answers compare.
#[derive(Debug, Default)]
struct Count {
    valid: usize,
    invalid: usize,
    proved_by_bits: usize,
    proved_by_integers: usize,
    integers_refute_valid: usize,
    integers_unknown: usize,
    bits_unknown: usize,
}

/// The sharpest goals about a term: its largest value bounds it, one less does not; a value that it
/// never has; with the truth at every point.
fn sharp_goals(built: &mut Built, seed: u64) -> Vec<(Term, Vec<bool>)> {
    let Some(known) = built.bits.last().cloned() else { return vec![] };
    let width = built.terms.width(known.term);
    let values = &known.values;
    let mut goals = Vec::new();
    let mut push =
        |term: Term, truth: &dyn Fn(u128) -> bool| goals.push((term, values.iter().map(|v| truth(*v)).collect()));
    let as_signed = |v: &u128| signed(*v, width);
    let (greatest, least) = (values.iter().max().copied(), values.iter().min_by_key(|v| as_signed(v)).copied());
    let (Some(greatest), Some(least)) = (greatest, least) else { return vec![] };
    let at = built.terms.bv(greatest, width);
    match seed % 5 {
        0 => push(built.terms.bv_compare(BvCompare::Ule, known.term, at), &|v| v <= greatest),
        1 => push(built.terms.bv_compare(BvCompare::Ult, known.term, at), &|v| v < greatest),
        2 => {
            let at = built.terms.bv(least, width);
            push(built.terms.bv_compare(BvCompare::Sle, at, known.term), &|v| as_signed(&least) <= as_signed(&v));
        }
        3 => {
            let at = built.terms.bv(least, width);
            push(built.terms.bv_compare(BvCompare::Slt, at, known.term), &|v| as_signed(&least) < as_signed(&v));
        }
        _ => {
            let absent = (0..=formula::mask(width)).find(|v| !values.contains(v)).unwrap_or(greatest);
            let at = built.terms.bv(absent, width);
            let equal = built.terms.eq(known.term, at);
            push(built.terms.not(equal), &|v| v != absent);
        }
    }
    if let Some(last) = built.bools.last() {
        goals.push((last.term, last.values.clone()));
    }
    goals
}

/// True when a counterexample of the integer encoding is one of the formula.
fn is_exact(terms: &mut Terms, goal: Term) -> bool {
    let Some(encoded) = solver::encode(terms, Encoding::Integers, goal, &[]) else { return false };
    let all = encoded.assertions.iter().flat_map(|&a| terms.postorder(a, &|_| false));
    !all.into_iter().any(|t| matches!(terms.node(t), Node::Apply(..)))
}

fn replay(built: &Built, goal: Term, wanted: &[Term], model: &[Option<term::Value>]) -> Option<Value> {
    let mut values = HashMap::new();
    for (symbol, value) in wanted.iter().zip(model) {
        let bits = match value {
            Some(term::Value::Bits(bits)) => *bits,
            Some(term::Value::Int(int)) => *int as u128,
            _ => return None,
        };
        values.insert(*symbol, Value::Bits(bits));
    }
    evaluate(&built.terms, goal, &mut values, &hashed)
}

#[test]
fn solver_answers_are_right() {
    let count = RefCell::new(Count::default());
    check(SMALL, cases(300), |recipe| {
        let mut built = build(recipe);
        let wanted: Vec<Term> = built.symbols.iter().map(|s| s.term).collect();
        for (goal, truth) in sharp_goals(&mut built, recipe.seed) {
            if built.terms.truth(goal).is_some() {
                continue;
            }
            let mut count = count.borrow_mut();
            let holds = truth.iter().all(|t| *t);
            let valid = built.complete && holds;
            count.valid += usize::from(valid);
            count.invalid += usize::from(!holds);
            let bits = solver::prove(&mut built.terms, Encoding::BitVectors, goal, &wanted, EFFORT);
            match &bits {
                Answer::Proved => {
                    prop_assert!(holds, "bit-vectors prove what is false");
                    count.proved_by_bits += 1;
                }
                Answer::Refuted(model) => {
                    prop_assert!(!valid, "bit-vectors refute what holds");
                    let value = replay(&built, goal, &wanted, model);
                    prop_assert_eq!(value, Some(Value::Bool(false)), "the model of bit-vectors");
                }
                Answer::Unknown(_) => count.bits_unknown += 1,
            }
            match solver::prove(&mut built.terms, Encoding::Integers, goal, &wanted, EFFORT) {
                Answer::Proved => {
                    prop_assert!(holds, "integers prove what is false");
                    prop_assert!(!matches!(bits, Answer::Refuted(_)), "integers prove what bit-vectors refute");
                    count.proved_by_integers += 1;
                }
                Answer::Refuted(model) => {
                    count.integers_refute_valid += usize::from(matches!(bits, Answer::Proved));
                    if is_exact(&mut built.terms, goal) {
                        let value = replay(&built, goal, &wanted, &model);
                        prop_assert_eq!(value, Some(Value::Bool(false)), "the model of integers");
                    }
                }
                Answer::Unknown(_) => count.integers_unknown += 1,
            }
        }
        Ok(())
    });
    println!("{:?}", count.borrow());
}

/// Predicated code makes chains of thousands of choices; a worker's stack is 2 MiB.
#[test]
fn deep_formulas_need_no_deep_stack() {
    let body = || {
        let mut terms = Terms::default();
        let mut x = terms.symbol("x", Sort::Bv(32), None);
        let mut path = terms.boolean(true);
        for i in 0..8_000u32 {
            let c = terms.symbol(&format!("c{}", i % 50), Sort::Bool, None);
            let y = terms.symbol(&format!("y{}", i % 70), Sort::Bv(32), None);
            let sum = terms.bv_add(x, y);
            x = terms.ite(c, sum, y);
            let zero = terms.bv(0, 32);
            let below = terms.bv_compare(BvCompare::Slt, x, zero);
            path =
                if i % 2 == 0 { terms.chain(true, vec![path, below]) } else { terms.chain(false, vec![path, below]) };
        }
        let effort = Effort::milliseconds(10);
        for encoding in [Encoding::Integers, Encoding::BitVectors] {
            let encoded = solver::encode(&mut terms, encoding, path, &[]).expect("both encodings apply");
            assert!(solver::smtlib::script(&terms, encoding, &encoded, "").lines().count() > 8_000);
            solver::prove(&mut terms, encoding, path, &[x], effort);
        }
    };
    let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(body).expect("a thread");
    worker.join().expect("no overflow");
}
