//! Linear terms modulo constants.
//!
//! Input: what is known of a conjunction. Output: what follows where terms are known modulo constants. Establishes: it holds in every model.
//! Example: threads `t` and `u` stride over an array, in rounds of 1024 with four parts of 256. Where they meet, `1024*k + a - b == 0`; of
//! where each of them began it is known that `a - t` and `b - u` are multiples of 256. So `t - u` is one, which lies between -255 and 255:
//! the threads are the same.
//! Relies on: nothing. Reference: Granger, Static analysis of linear congruence equalities.

use super::linear::{Linear, Sum};
use super::{Conflict, Known};
use crate::limits;
use crate::solver::interval::Interval;
use crate::vcgen::term::{Node, Term, Terms};
use std::collections::BTreeSet;

/// Equations that are looked at, and sums in few values that are compared with each other.
const MOST_EQUATIONS: usize = 30;
const MOST_WINDOWS: usize = 12;

/// Sums that lie in more values are not compared.
const WIDEST: i128 = 64;

/// What takes the place of terms in one sum.
const MOST_STEPS: usize = 20;

/// A linear term that is a multiple of a modulus; of all, where that is 0. Its latest term has the factor 1 or -1.
struct Congruence {
    modulus: i128,
    linear: Linear,
    latest: Term,
    unit: i128,
}

impl Congruence {
    fn of(modulus: i128, linear: Linear) -> Option<Congruence> {
        let (latest, unit) = linear.latest().filter(|(_, factor)| factor.abs() == 1)?;
        Some(Congruence { modulus, linear, latest, unit })
    }
}

/// Draws from each equation what it says modulo constants.
pub(super) fn draw(terms: &Terms, known: &mut Known) -> Result<(), Conflict> {
    let mut congruences = told(terms, known);
    let moduli: BTreeSet<i128> = congruences.iter().map(|one| one.modulus).collect();
    if moduli.is_empty() {
        return Ok(());
    }
    let equations = equations(known);
    congruences.extend(equations.iter().filter_map(|equation| Congruence::of(0, equation.clone())));
    for equation in &equations {
        for &modulus in &moduli {
            let Some(rest) = reduced(equation, modulus, &congruences) else { continue };
            let Some((first, last)) = known.interval(&rest).multiples(modulus) else { continue };
            match last - first {
                0 => known.bound(&rest, Interval::point(first * modulus))?,
                less if less < 0 => return Err(Conflict),
                _ => {}
            }
        }
    }
    Ok(())
}

/// What remainders that are known tell.
fn told(terms: &Terms, known: &Known) -> Vec<Congruence> {
    let of_row = |(sum, interval): (&Sum, &Interval)| {
        let &[(term, 1)] = &**sum else { return None };
        let Node::IntMod(dividend, divisor) = terms.node(term) else { return None };
        let modulus = terms.int_value(*divisor).filter(|divisor| *divisor > 1)?;
        let rest = interval.low.filter(|low| interval.high == Some(*low))?;
        Congruence::of(modulus, Linear::of(terms, *dividend)?.minus(rest)?)
    };
    known.rows.iter().filter_map(of_row).collect()
}

/// Linear terms that are zero: sums with one value, and differences of sums that lie in few.
fn equations(known: &Known) -> Vec<Linear> {
    let several = || known.rows.iter().filter(|(sum, _)| sum.len() > 1);
    let width = |interval: &Interval| interval.low.zip(interval.high).and_then(|(low, high)| high.checked_sub(low));
    let single = several().filter(|(_, interval)| width(interval) == Some(0));
    let mut found: Vec<Linear> =
        single.filter_map(|(sum, interval)| Linear::of_sum(sum).minus(interval.low?)).collect();
    let narrow = several().filter(|(_, interval)| width(interval).is_some_and(|width| (1..WIDEST).contains(&width)));
    let windows: Vec<_> = narrow.take(MOST_WINDOWS).collect();
    for (i, (one, in_one)) in windows.iter().enumerate() {
        for (other, in_other) in &windows[i + 1..] {
            let difference = Linear::of_sum(one).combine(&Linear::of_sum(other), -1);
            let difference = difference.filter(|difference| difference.sum.len() < one.len() + other.len());
            let within =
                difference.as_ref().and_then(|difference| difference.rounded(in_one.plus(in_other.times_constant(-1))));
            let value = within.filter(|within| width(within) == Some(0)).and_then(|within| within.low);
            found.extend(
                difference.zip(value).and_then(|(difference, value)| Linear::of_sum(&difference.sum).minus(value)),
            );
        }
    }
    found.truncate(MOST_EQUATIONS);
    found
}

/// What is a multiple of the modulus where a linear term is zero: without multiples of it, and of terms as early as possible.
fn reduced(equation: &Linear, modulus: i128, congruences: &[Congruence]) -> Option<Linear> {
    let mut linear = equation.modulo(modulus)?;
    for _ in 0..MOST_STEPS {
        limits::check();
        let substitute = |(term, factor): (Term, i128)| {
            let one = congruences.iter().find(|one| one.latest == term && one.modulus % modulus == 0)?;
            Some((&one.linear, -factor * one.unit))
        };
        let Some((other, times)) = linear.members().rev().find_map(substitute) else { break };
        linear = linear.combine(other, times)?.modulo(modulus)?;
    }
    Some(linear)
}

#[cfg(test)]
mod tests {
    use super::super::compared::{bounds, with_z3};
    use super::super::refutes;
    use super::*;
    use crate::solver::in_own_context;
    use crate::solver::numbers::Numbers;
    use crate::vcgen::term::Sort;

    /// Two threads of a block stride over an array in rounds of `round` elements, with parts of `part` each; they are `apart`
    /// parts from where a round begins, and start `start` elements behind their ids.
    fn strides(terms: &mut Terms, [threads, part, round, apart, start]: [i128; 5]) -> Vec<Term> {
        let byte = terms.symbol("w", Sort::Int, None);
        let (mut all, mut ids) = (Vec::new(), Vec::new());
        for (thread, apart) in [("1", 0), ("2", apart)] {
            let [id, begins, rounds] =
                ["x", "a", "k"].map(|name| terms.symbol(&format!("{name}${thread}"), Sort::Int, None));
            all.extend(bounds(terms, id, 0, threads - 1));
            let distance = terms.int_sum(0, vec![(begins, 1), (id, -1)]);
            let (part_of, start) = (terms.int(part), terms.int(start));
            let rest = terms.int_mod(distance, part_of);
            all.push(terms.eq(rest, start));
            let place = vec![(byte, 1), (begins, -4), (rounds, -4 * round)];
            let place = terms.int_sum(-4 * part * apart, place);
            all.extend(bounds(terms, place, 0, 3));
            ids.push(id);
        }
        let same = terms.eq(ids[0], ids[1]);
        all.push(terms.not(same));
        all
    }

    #[test]
    fn threads_with_parts_of_their_own_do_not_meet() {
        let is_refuted = |of: [i128; 5]| {
            let mut terms = Terms::default();
            let assertions = strides(&mut terms, of);
            refutes(&terms, &assertions)
        };
        assert!(is_refuted([256, 256, 1024, 3, 0]));
        assert!(is_refuted([256, 256, 1024, 1, 17]));
        assert!(!is_refuted([257, 256, 1024, 3, 0]), "thread 256 has the elements of thread 0");
        assert!(!is_refuted([256, 128, 1024, 3, 0]), "parts are smaller than a block");
    }

    #[test]
    fn z3_agrees_on_random_strides() {
        let mut numbers = Numbers(20_261_130);
        let (mut proved, mut satisfied) = (0, 0);
        in_own_context(|| {
            for _ in 0..400 {
                let threads = numbers.from(&[4, 5, 8, 9, 16]);
                let (part, round) = (numbers.from(&[4, 8, 12, 16]), numbers.from(&[8, 16, 24, 48, 64]));
                let (apart, start) = (numbers.from(&[0, 1, 2, 3]), numbers.from(&[0, 1, 3]));
                let mut terms = Terms::default();
                let assertions = strides(&mut terms, [threads, part, round, apart, start]);
                let [is_refuted, has_model] = with_z3(&terms, assertions);
                proved += usize::from(is_refuted);
                satisfied += usize::from(has_model);
            }
        });
        assert!(proved > 50 && satisfied > 50, "{proved} proved, {satisfied} with a model");
    }
}
