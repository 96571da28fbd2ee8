//! Quotients by unknowns, and those of quotients.
//!
//! Input: a dividend that is not negative and a divisor that is at least 1. Output: quotient and rest, unknowns with what they
//! mean: `x == y*q + r` and `r < y`. Establishes: a quotient by a product, of which another quotient is by a part, is that of
//! this quotient by the rest of the product, so that the digits of a number are found one in another: of `i / w`, `(i / w) % h` and
//! `i / (w*h)` the number is told as `((i / (w*h))*h + (i / w) % h)*w + i % w`.
//! Relies on: ids of terms are the same wherever a quotient is asked for. Reference: Graham, Knuth, Patashnik, Concrete
//! Mathematics, 3.10 and 3.11 (floor of a floor, mixed radix).

use super::integers::{Integers, Value};
use super::interval::Interval;
use super::polynomial::Polynomial;
use crate::vcgen::term::{Sort, Term};

/// More are not related to each other.
const MOST: usize = 40;

/// The division of a number by another one.
#[derive(Clone)]
struct Division {
    dividend: Term,
    divisor: Polynomial,
    quotient: Value,
    rest: Value,
    /// What they mean, where it is not told by way of others.
    meaning: Vec<Term>,
    /// The product of divisor and quotient in it.
    product: Option<Value>,
    /// Divisions whose meaning this one relies on.
    by_way_of: Vec<usize>,
    /// Whether its meaning is among the side constraints.
    is_told: bool,
}

/// The divisions of a formula.
#[derive(Default)]
pub(super) struct Divisions {
    list: Vec<Division>,
}

impl Divisions {
    /// The side constraints are written anew.
    pub(super) fn forget_what_was_told(&mut self) {
        self.list.iter_mut().for_each(|division| division.is_told = false);
    }

    fn find(&self, dividend: Term, divisor: &Polynomial) -> Option<usize> {
        self.list.iter().position(|known| known.dividend == dividend && known.divisor == *divisor)
    }
}

impl Integers<'_> {
    /// Quotient and rest, where a dividend is not negative and a divisor is at least 1.
    pub(super) fn divided(&mut self, x: Value, y: Value, width: u32) -> Option<(Value, Value)> {
        let divisor = Polynomial::of(self.terms, y.term)?;
        let at = self.division(x, y, &divisor, width)?;
        self.tell(at);
        let division = &self.divisions.list[at];
        Some((division.quotient, division.rest))
    }

    /// Writes what all of them mean to the side constraints: what follows from facts may follow from any.
    pub(super) fn tell_divisions(&mut self) {
        (0..self.divisions.list.len()).for_each(|at| self.tell(at));
    }

    /// Writes what a division means to the side constraints.
    fn tell(&mut self, at: usize) {
        let division = &mut self.divisions.list[at];
        if !std::mem::replace(&mut division.is_told, true) {
            self.side.extend(&division.meaning);
            self.products.extend(division.product.map(|product| (product.term, product.interval)));
            division.by_way_of.clone().into_iter().for_each(|at| self.tell(at));
        }
    }

    fn division(&mut self, x: Value, y: Value, divisor: &Polynomial, width: u32) -> Option<usize> {
        if let Some(known) = self.divisions.find(x.term, divisor) {
            return Some(known);
        }
        if self.divisions.list.len() == MOST {
            return None;
        }
        let of_this = |known: &&(usize, Division)| known.1.dividend == x.term;
        let known: Vec<_> = self.divisions.list.iter().cloned().enumerate().collect();
        let mut parts: Vec<_> = known.iter().filter(of_this).collect();
        parts.sort_by_key(|(_, known)| std::cmp::Reverse(known.divisor.degree()));
        for (at, part) in parts {
            if let Some(more) = self.more(divisor, &part.divisor) {
                return self.within(x, y, divisor, (*at, part), more, width);
            }
        }
        let at = self.new_division(x, y, divisor, None, width)?;
        // Of the quotients by more than this, the least.
        let multiples =
            known.iter().filter(of_this).filter_map(|(to, k)| Some((to, k, self.more(&k.divisor, divisor)?)));
        let least = multiples.min_by_key(|(_, known, _)| known.divisor.degree());
        if let Some((to, multiple, more)) = least {
            let quotient = self.divisions.list[at].quotient;
            let (by, inner) = self.value_of(&more);
            let inner = self.new_division(quotient, by, &inner, Some(multiple.quotient), width)?;
            self.divisions.list[*to].by_way_of.extend([at, inner]);
            if self.divisions.list[*to].is_told {
                [at, inner].into_iter().for_each(|at| self.tell(at));
            }
        }
        Some(at)
    }

    /// By what a divisor has to be multiplied to be another one, if that is at least 1.
    fn more(&self, divisor: &Polynomial, part: &Polynomial) -> Option<Polynomial> {
        let more = divisor.quotient_of_products(part)?;
        let is_least = |unknown: &Term| self.facts.range(*unknown).low.is_some_and(|low| low >= 1);
        let is_enough = more.parts().all(|(monomial, factor)| factor >= 1 && monomial.iter().all(is_least));
        is_enough.then_some(more)
    }

    fn value_of(&mut self, polynomial: &Polynomial) -> (Value, Polynomial) {
        let term = polynomial.term(self.terms);
        let interval = self.facts.interval(polynomial, Interval::ALL);
        let interval = interval.and(Interval { low: Some(1), high: None });
        (Value { term, interval }, polynomial.clone())
    }

    /// The quotient of a quotient: `x / (y * z)` as `(x / y) / z`, with `y * ((x / y) % z) + x % y` as rest.
    fn within(
        &mut self,
        x: Value,
        y: Value,
        divisor: &Polynomial,
        (part_at, part): (usize, &Division),
        more: Polynomial,
        width: u32,
    ) -> Option<usize> {
        let (by, more) = self.value_of(&more);
        let inner_at = self.division(part.quotient, by, &more, width)?;
        let inner = self.divisions.list[inner_at].clone();
        let inner_rest = Polynomial::of(self.terms, inner.rest.term)?;
        let rest = part.divisor.times(&inner_rest)?.plus(&Polynomial::of(self.terms, part.rest.term)?, 1)?;
        let rest = rest.term(self.terms);
        let interval = Interval { low: Some(0), high: x.interval.and(y.interval.plus(Interval::point(-1))).high };
        self.divisions.list.push(Division {
            dividend: x.term,
            divisor: divisor.clone(),
            quotient: inner.quotient,
            rest: Value { term: rest, interval },
            meaning: Vec::new(),
            product: None,
            by_way_of: vec![part_at, inner_at],
            is_told: false,
        });
        Some(self.divisions.list.len() - 1)
    }

    /// A division that is not told by others.
    fn new_division(
        &mut self,
        x: Value,
        y: Value,
        divisor: &Polynomial,
        quotient: Option<Value>,
        width: u32,
    ) -> Option<usize> {
        let greatest = x.interval.high?;
        let most = y.interval.low.filter(|low| *low >= 1).map_or(greatest, |low| greatest / low);
        let rest = y.interval.high.map_or(greatest, |high| greatest.min(high - 1));
        let from = self.side.len();
        let constant = self.terms.int_value(y.term).filter(|divisor| *divisor > 0);
        let unknown = |integers: &mut Self, name: &str, most: i128| match (constant, name) {
            (Some(_), "bv@udiv") => {
                Value { term: integers.terms.int_div(x.term, y.term), interval: Interval::new(0, most) }
            }
            (Some(_), _) => Value { term: integers.terms.int_mod(x.term, y.term), interval: Interval::new(0, most) },
            _ => {
                let term = integers.terms.apply(&format!("{name}{width}"), vec![x.term, y.term], Sort::Int);
                integers.bounded(term, 0, most)
            }
        };
        let quotient = quotient.unwrap_or_else(|| unknown(self, "bv@udiv", most));
        let rest = unknown(self, "bv@urem", rest);
        let product = self.product(y, quotient, width);
        let sum = self.terms.int_add(product.term, rest.term);
        let exact = self.terms.eq(x.term, sum);
        let less = self.terms.int_lt(rest.term, y.term);
        let smaller = self.terms.int_le(quotient.term, x.term);
        self.side.extend([exact, less, smaller]);
        let meaning = self.side.split_off(from);
        self.learn_division(x.term, divisor, quotient.term, rest.term, &meaning[meaning.len() - 2..meaning.len() - 1]);
        self.divisions.list.push(Division {
            dividend: x.term,
            divisor: divisor.clone(),
            quotient,
            rest,
            meaning,
            product: Some(product),
            by_way_of: Vec::new(),
            is_told: false,
        });
        Some(self.divisions.list.len() - 1)
    }

    fn learn_division(
        &mut self,
        x: Term,
        divisor: &Polynomial,
        quotient: Term,
        rest: Term,
        less: &[Term],
    ) -> Option<()> {
        for &fact in less {
            self.facts.learn(self.terms, fact, true);
        }
        let of = |term: Term| Polynomial::of(self.terms, term);
        let (x, quotient, rest) = (of(x)?, of(quotient)?, of(rest)?);
        let value = divisor.times(&quotient)?.plus(&rest, 1)?;
        self.facts.define(&x, &value)
    }
}
