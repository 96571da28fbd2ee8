//! Places in arrays of several dimensions that are equal, as numbers in a mixed radix are.
//!
//! Input: what is known of a formula's integers. Output: facts that follow, about less than was multiplied before. Establishes: each
//! holds in every model.
//! Example: of `0 <= o - 4*(y1*w + x1) <= 3` and the same for `y2` and `x2` follows `y1*w + x1 - y2*w - x2 == 0`. Where `0 <= x < w` is
//! known of both threads, the part without `w` is smaller than `w` on either side of zero, so it is zero, and so is what `w`
//! multiplies: `x1 == x2` and `y1 == y2`. Numbers with the same digits are the same.
//! Relies on: [`Facts`]. Reference: DESIGN section 5 (uniqueness of quotient and rest).

use super::facts::Facts;
use super::interval::Interval;
use super::multiples::greatest_common_divisor;
use super::polynomial::Polynomial;
use crate::vcgen::term::{Node, Term, Terms};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Equations that are looked at, and how many windows may be compared with each other.
const MOST_EQUATIONS: usize = 40;
const MOST_WINDOWS: usize = 12;

/// Numbers told by digits that are compared with each other.
const MOST_NUMBERS: usize = 8;

/// Sums that lie in more values are not compared.
const WIDEST: i128 = 64;

/// What is zero, as terms.
pub(super) fn zeros(terms: &mut Terms, facts: &Facts) -> Vec<Term> {
    let equations = equations(facts);
    let mut open: Vec<_> =
        equations.iter().filter_map(|equation| facts.normal(equation)?.with_first_positive()).collect();
    let mut seen: BTreeSet<Polynomial> = open.iter().cloned().collect();
    let mut found = Vec::new();
    while let Some(equation) = open.pop() {
        let unwrapped = unwrapped(terms, facts, &equation);
        let parts = split(facts, &equation).into_iter().flatten().chain(unwrapped);
        for part in parts.filter_map(Polynomial::with_first_positive) {
            if seen.len() < MOST_EQUATIONS && seen.insert(part.clone()) {
                found.push(part.clone());
                open.push(part);
            }
        }
    }
    found.extend(same_digits(facts, &found));
    let zero = terms.int(0);
    let parts = found.iter().map(|part| {
        let part = part.term(terms);
        terms.eq(part, zero)
    });
    parts.collect()
}

/// Of two sums that are the same but for wrapping, and which are less apart than what wrapping takes, the difference is zero.
fn unwrapped(terms: &Terms, facts: &Facts, equation: &Polynomial) -> Option<Polynomial> {
    let mut parts = equation.parts();
    let (Some((a, factor)), Some((b, other)), None) = (parts.next(), parts.next(), parts.next()) else { return None };
    let ([a], [b]) = (&a[..], &b[..]) else { return None };
    let ((a, size), (b, same)) = (wrapped(terms, *a)?, wrapped(terms, *b)?);
    let most = greatest_common_divisor(size, same) - 1;
    let apart = facts.normal(&a.plus(&b, -1)?).filter(|_| factor == -other && most > 0)?;
    let is_less = |sum: &Polynomial| facts.at_most(sum, most).is_some_and(|found| found <= most);
    (is_less(&apart) && is_less(&Polynomial::default().plus(&apart, -1)?)).then_some(apart)
}

/// A sum from which a value differs by multiples of a number, if it is written as a choice or a rest; else itself, and 0.
fn wrapped(terms: &Terms, value: Term) -> Option<(Polynomial, i128)> {
    match *terms.node(value) {
        Node::IntMod(sum, size) => Some((Polynomial::of(terms, sum)?, terms.int_value(size)?)),
        Node::Ite(_, one, other) => {
            let ((one, a), (other, b)) = (wrapped(terms, one)?, wrapped(terms, other)?);
            let apart = one.plus(&other, -1)?.value()?;
            Some((one, greatest_common_divisor(greatest_common_divisor(a, b), apart)))
        }
        _ => Some((Polynomial::of(terms, value)?, 0)),
    }
}

/// Differences of numbers that are told by digits, where what is zero makes those the same.
fn same_digits(facts: &Facts, zeros: &[Polynomial]) -> Vec<Polynomial> {
    let mut told: Vec<_> = facts.definitions().iter().filter(|(_, value)| value.degree() > 1).collect();
    told.truncate(MOST_NUMBERS);
    if told.is_empty() {
        return Vec::new();
    }
    let mut same: Vec<(Term, Polynomial)> = Vec::new();
    for zero in zeros.iter().filter(|zero| zero.degree() == 1) {
        let zero = same.iter().try_fold(zero.clone(), |zero, (unknown, value)| zero.with(*unknown, value));
        let pivot = zero.and_then(|zero| {
            let (monomial, factor) =
                zero.parts().find(|(monomial, factor)| monomial.len() == 1 && factor.abs() == 1)?;
            let rest = zero.plus(&Polynomial::unknown(monomial[0]), -factor)?;
            Some((monomial[0], Polynomial::default().plus(&rest, -factor)?))
        });
        same.extend(pivot);
    }
    let mut found = Vec::new();
    for (i, (one, a)) in told.iter().enumerate() {
        for (other, b) in &told[i + 1..] {
            let apart = a.plus(b, -1);
            let apart = apart
                .and_then(|apart| same.iter().try_fold(apart, |apart, (unknown, value)| apart.with(*unknown, value)));
            let difference = Polynomial::unknown(**one).plus(&Polynomial::unknown(**other), -1);
            let linear = apart.filter(|apart| apart.degree() <= 1);
            found.extend(difference.zip(linear).and_then(|(difference, apart)| difference.plus(&apart, -1)));
        }
    }
    found
}

/// What is zero because of sums that have one unknown in common and lie in few values.
fn equations(facts: &Facts) -> Vec<Polynomial> {
    let windows = windows(facts);
    let equalities = if windows.len() > 1 { equalities(facts) } else { Vec::new() };
    let mut found = Vec::new();
    for (i, (one, a)) in windows.iter().enumerate() {
        for (other, b) in &windows[i + 1..] {
            let has_common = one.parts().any(|(m, factor)| m.len() == 1 && other.factor_of(m) == Some(factor));
            let Some(difference) = one.plus(other, -1).filter(|_| has_common) else { continue };
            let interval = a.plus(b.times_constant(-1));
            let told = told(&difference, equalities.clone()).and_then(|told| {
                let constant = Interval::point(-told.constant_part());
                zero_within(&told.without_constant(), interval.plus(constant))
            });
            found.extend(told.or_else(|| zero_within(&difference, interval)));
        }
    }
    found
}

/// Sums that are zero: neither they nor their opposites are positive. Those with products come first: what was learned of
/// them before it was known that they do not wrap has no products.
fn equalities(facts: &Facts) -> Vec<Polynomial> {
    let known: BTreeSet<&Polynomial> = facts.not_positive().iter().collect();
    let is_zero = |sum: &&&Polynomial| {
        let opposite = Polynomial::default().plus(sum, -1);
        sum.first_factor() > 0 && opposite.is_some_and(|opposite| known.contains(&opposite))
    };
    let mut zero: Vec<Polynomial> = known.iter().filter(is_zero).map(|sum| (*sum).clone()).collect();
    zero.sort_by_key(|sum| Reverse(sum.degree()));
    zero
}

/// A sum in which pointers that loops move on are told by where they started, and how often they were moved: places of two
/// threads are then seen to be whole elements apart. Each of the equalities is used once.
fn told(sum: &Polynomial, mut equalities: Vec<Polynomial>) -> Option<Polynomial> {
    let mut told = sum.clone();
    loop {
        let units = told.parts().filter(|(monomial, factor)| monomial.len() == 1 && matches!(factor, -1 | 1));
        let found = units.into_iter().find_map(|(monomial, own)| {
            let says = |equality: &Polynomial| equality.factor_of(monomial).filter(|factor| matches!(factor, -1 | 1));
            let at = equalities.iter().position(|equality| says(equality).is_some())?;
            Some((at, own * says(&equalities[at])?))
        });
        let Some((at, factor)) = found else { break };
        told = told.plus(&equalities.remove(at), -factor)?;
    }
    Some(told)
}

/// `sum / divisor - value`, if that is the only multiple in the interval.
fn zero_within(sum: &Polynomial, interval: Interval) -> Option<Polynomial> {
    let divisor = sum.common_divisor();
    let (first, last) = interval.multiples((divisor > 0).then_some(divisor)?)?;
    let constant = Polynomial::constant(first);
    (first == last && sum.constant_part() == 0).then(|| sum.divided(divisor).plus(&constant, -1)).flatten()
}

/// Sums without constants, with the few values that they may have.
fn windows(facts: &Facts) -> Vec<(Polynomial, Interval)> {
    let mut bounds: BTreeMap<Polynomial, Interval> = BTreeMap::new();
    for fact in facts.not_positive() {
        let constant = fact.constant_part();
        let sum = fact.without_constant();
        let Some(opposite) = Polynomial::default().plus(&sum, -1) else { continue };
        // `sum + constant <= 0`
        let (sum, interval) = match sum.first_factor() > 0 {
            true => (sum, Interval { low: None, high: Some(-constant) }),
            false => (opposite, Interval { low: Some(constant), high: None }),
        };
        let known = bounds.entry(sum).or_insert(Interval::ALL);
        *known = known.and(interval);
    }
    let is_narrow = |(_, interval): &(Polynomial, Interval)| {
        interval.low.zip(interval.high).is_some_and(|(low, high)| high - low < WIDEST)
    };
    let mut windows: Vec<_> = bounds.into_iter().filter(is_narrow).collect();
    // Elements of several bytes come first: what has one value is often no place, but an invariant of a loop.
    windows.sort_by_key(|(_, interval)| interval.low == interval.high);
    windows.truncate(MOST_WINDOWS);
    windows
}

/// The rest and the quotient by an unknown, both of them zero where the rest is closer to zero than the unknown.
fn split(facts: &Facts, equation: &Polynomial) -> Option<[Polynomial; 2]> {
    let unknowns: BTreeSet<Term> = equation.parts().flat_map(|(monomial, _)| monomial.iter().copied()).collect();
    unknowns.into_iter().find_map(|unknown| {
        let (quotient, rest) = equation.by_unknown(unknown);
        let is_least = facts.range(unknown).low.is_some_and(|low| low >= 1);
        if !is_least || quotient.value().is_some() {
            return None;
        }
        // `rest - unknown + 1` and `-rest - unknown + 1`
        let room = Polynomial::constant(1).plus(&Polynomial::unknown(unknown), -1)?;
        let is_near = [1, -1].iter().all(|sign| {
            let distance = room.plus(&rest, *sign);
            distance.and_then(|distance| facts.at_most(&distance, 0)).is_some_and(|most| most <= 0)
        });
        is_near.then_some([quotient, rest])
    })
}
