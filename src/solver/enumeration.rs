//! Places that the numbers of threads alone decide, by trying all threads.
//!
//! Input: a goal over bit-vectors. Output: whether it is proved. Establishes: `true` only where each alternative of the negated goal
//! (which check fails, which access was logged) is refuted: no two threads meet its conditions and are as far apart as its
//! accesses have to be. Relies on: ranges of symbols are asserted with each query.
//! Reference: Davis, Logemann, Loveland (case distinction); Triton's layouts are linear over GF(2) in the bits of a thread's number.
//!
//! Swizzled places, `(t & 7) * 16 ^ (t & 112)` and the like, are neither linear nor easy for solvers once there are many: 64 stores
//! of a thread between two barriers are 4,096 pairs. But a block has at most 1,024 threads. Of `w - p(t1) - u < 2` and
//! `w - q(t2) - u < 2`, whatever `w` and `u` are, follows `-2 < p(t1) - q(t2) < 2`, which is looked up in a table.

use super::facts::conjuncts;
use super::truths::{Literal, propagated};
use crate::concrete::code::Code;
use crate::concrete::evaluate::Evaluator;
use crate::effort::{self, Effort};
use crate::limits;
use crate::vcgen::term::{BvCompare, Node, Sort, Term, Terms, Value, mask};
use foldhash::{HashMap, HashSet};
use std::rc::Rc;

/// Terms of a goal that is looked at.
const LARGEST: usize = 40_000;

/// Alternatives that are looked at.
const MOST_CASES: usize = 40_000;

/// Values of the numbers of one thread.
const MOST_POINTS: u128 = 1024;

/// Wider windows are not compared, in bytes.
const WIDEST: u128 = 64;

/// So many bytes of threads that are compared count as an alternative.
const BYTES_A_CASE: usize = 1000;

/// What it costs to look at an alternative, and at a thread in it.
const CASE: Effort = Effort::nanoseconds(5_000);
const POINT: Effort = Effort::nanoseconds(50);

/// Whether a goal is proved by its alternatives.
pub(super) fn proves(terms: &Terms, goal: Term) -> bool {
    if terms.size(&[goal], LARGEST) > LARGEST {
        return false;
    }
    let order = terms.postorder(goal, &|_| false);
    let threads = Threads::of(terms, &order);
    let Some(threads) = threads.filter(|threads| threads.mix_bits(terms, &order)) else { return false };
    let decided: Vec<Term> = order.iter().copied().filter(|term| threads.support(*term).is_some()).collect();
    let rank = |symbol: Term| u32::from(threads.domains[1].symbols.contains(&symbol));
    let code = Code::new(terms, decided, &rank);
    let windows = order.iter().copied().filter(|&term| Window::of(terms, &threads, (term, true)).is_some());
    let windows = above(terms, &order, windows.collect());
    let mut search = Search {
        terms,
        threads: &threads,
        windows,
        evaluator: Evaluator::new(&code),
        tables: [HashMap::default(), HashMap::default()],
        left: MOST_CASES,
    };
    search.refutes(conjuncts(terms, goal, false))
}

/// Terms with one of some below or among them.
fn above(terms: &Terms, order: &[Term], mut some: HashSet<Term>) -> HashSet<Term> {
    for &term in order {
        if terms.operands(term).iter().any(|operand| some.contains(operand)) {
            some.insert(term);
        }
    }
    some
}

/// Whose numbers decide a term: those of the first thread, of the second one.
type Support = [bool; 2];

/// All numbers of a thread.
struct Domain {
    symbols: Vec<Term>,
    points: Vec<Vec<u128>>,
}

/// Two threads, and the terms that their numbers decide.
struct Threads {
    domains: [Domain; 2],
    supports: HashMap<Term, Support>,
}

impl Threads {
    /// `None` where they have too many numbers, or none.
    fn of(terms: &Terms, order: &[Term]) -> Option<Threads> {
        let mut symbols = [Vec::new(), Vec::new()];
        for &term in order {
            if let Some((thread, _)) = number(terms, term) {
                symbols[thread].push(term);
            }
        }
        let [first, second] = symbols.map(|symbols| Domain::of(terms, symbols));
        let mut threads = Threads { domains: [first?, second?], supports: HashMap::default() };
        for &term in order {
            if let Some(support) = threads.support_of(terms, term) {
                threads.supports.insert(term, support);
            }
        }
        Some(threads)
    }

    fn support(&self, term: Term) -> Option<Support> {
        self.supports.get(&term).copied()
    }

    fn support_of(&self, terms: &Terms, term: Term) -> Option<Support> {
        if let Node::Symbol(_) = terms.node(term) {
            return self
                .domains
                .iter()
                .any(|domain| domain.symbols.contains(&term))
                .then(|| [0, 1].map(|thread| self.domains[thread].symbols.contains(&term)));
        }
        if matches!(terms.node(term), Node::Apply(..)) || !terms.is_basic_node(term) || is_of_integers(terms, term) {
            return None;
        }
        let operands = terms.operands(term);
        operands.into_iter().try_fold([false; 2], |[first, second], operand| {
            let [a, b] = self.support(operand)?;
            Some([first | a, second | b])
        })
    }

    /// Whether bits of a thread's numbers are taken apart: else other procedures are at least as good.
    fn mix_bits(&self, terms: &Terms, order: &[Term]) -> bool {
        let is_mixed = |term: Term| {
            matches!(terms.node(term), Node::BvBinary(..) | Node::Extract { .. } | Node::Concat(..))
                && self.support(term).is_some_and(|support| support != [false; 2])
        };
        order.iter().any(|&term| is_mixed(term))
    }
}

/// Integers have no width.
fn is_of_integers(terms: &Terms, term: Term) -> bool {
    terms.sort(term) == Sort::Int || terms.operands(term).iter().any(|&operand| terms.sort(operand) == Sort::Int)
}

/// The thread (0 or 1) of which a symbol is a number, with its range: one with few values. Which thread it is only steers what is tried.
fn number(terms: &Terms, term: Term) -> Option<(usize, (u128, u128))> {
    let symbol = terms.symbol_of(term)?;
    let (low, high) = symbol.range.filter(|(low, high)| low <= high && high - low < MOST_POINTS)?;
    let thread = match symbol.name.rsplit_once('$')?.1 {
        "1" => 0,
        "2" => 1,
        _ => return None,
    };
    matches!(symbol.sort, Sort::Bv(_)).then_some((thread, (low, high)))
}

impl Domain {
    fn of(terms: &Terms, symbols: Vec<Term>) -> Option<Domain> {
        let mut points = vec![Vec::new()];
        for &symbol in &symbols {
            let (_, (low, high)) = number(terms, symbol)?;
            if points.len() as u128 * (high - low + 1) > MOST_POINTS {
                return None;
            }
            let longer = |point: &Vec<u128>| {
                let point = point.clone();
                (low..=high).map(move |value| point.iter().copied().chain([value]).collect())
            };
            points = points.iter().flat_map(longer).collect();
        }
        (!symbols.is_empty()).then_some(Domain { symbols, points })
    }
}

/// `constant + sum of factor * term` modulo 2^width, in the order of the terms.
#[derive(Clone, PartialEq, Eq)]
struct Linear {
    width: u32,
    constant: u128,
    members: Vec<(Term, u128)>,
}

impl Linear {
    fn of(terms: &Terms, term: Term) -> Linear {
        let width = terms.width(term);
        match terms.node(term) {
            Node::BvConst { value, .. } => Linear { width, constant: *value, members: Vec::new() },
            Node::BvSum { constant, members, .. } => Linear { width, constant: *constant, members: members.to_vec() },
            _ => Linear { width, constant: 0, members: vec![(term, 1)] },
        }
    }

    /// `self - other`, of the same width.
    fn minus(&self, other: &Linear) -> Linear {
        let mask = mask(self.width);
        let mut members = self.members.clone();
        for &(term, factor) in &other.members {
            match members.iter_mut().find(|(known, _)| *known == term) {
                Some((_, known)) => *known = known.wrapping_sub(factor) & mask,
                None => members.push((term, factor.wrapping_neg() & mask)),
            }
        }
        members.retain(|(_, factor)| *factor != 0);
        Linear { width: self.width, constant: self.constant.wrapping_sub(other.constant) & mask, members }
    }
}

/// A sum that is below a number.
struct Window {
    /// The part that the numbers of threads decide.
    decided: Linear,
    /// The other members: the byte that is watched, and what threads agree on.
    rest: Vec<(Term, u128)>,
    below: u128,
}

impl Window {
    /// What a literal says, if that is a window with a part that nobody knows.
    fn of(terms: &Terms, threads: &Threads, (term, holds): Literal) -> Option<Window> {
        let value = |term: Term| terms.bv_value(term);
        let (term, below) = match (terms.node(term), holds) {
            (Node::BvCompare(BvCompare::Ult, a, b), true) => (*a, value(*b)?),
            (Node::BvCompare(BvCompare::Ule, a, b), true) => (*a, value(*b)?.checked_add(1)?),
            (Node::BvCompare(BvCompare::Ult, a, b), false) => (*b, value(*a)?.checked_add(1)?),
            (Node::BvCompare(BvCompare::Ule, a, b), false) => (*b, value(*a)?),
            (Node::Eq(a, b), true) if matches!(terms.sort(*a), Sort::Bv(_)) => {
                return Window::split(threads, Linear::of(terms, *a).minus(&Linear::of(terms, *b)), 1);
            }
            _ => return None,
        };
        let inner = if let Node::ZeroExtend(_, inner) = terms.node(term) { *inner } else { term };
        Window::split(threads, Linear::of(terms, inner), below)
    }

    fn split(threads: &Threads, sum: Linear, below: u128) -> Option<Window> {
        let is_decided = |member: &(Term, u128)| threads.support(member.0).is_some();
        let (members, rest): (Vec<_>, Vec<_>) = sum.members.iter().copied().partition(is_decided);
        let is_narrow = (1..=WIDEST).contains(&below) && sum.width > 8;
        (is_narrow && !rest.is_empty()).then_some(Window { decided: Linear { members, ..sum }, rest, below })
    }
}

struct Search<'t> {
    terms: &'t Terms,
    threads: &'t Threads,
    /// Terms with a window below.
    windows: HashSet<Term>,
    evaluator: Evaluator<'t>,
    /// For each thread, the values of terms that it decides, at each of its points.
    tables: [HashMap<Term, Rc<Vec<u128>>>; 2],
    /// Alternatives that may still be looked at.
    left: usize,
}

impl Search<'_> {
    fn refutes(&mut self, known: Vec<Literal>) -> bool {
        limits::check();
        effort::spend(CASE);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return false;
        }
        let Some(mut known) = propagated(self.terms, known) else { return true };
        if self.is_refuted(&known) {
            return true;
        }
        let Some(at) = self.choice(&known) else { return false };
        let (choice, holds) = known.swap_remove(at);
        let (Node::And(list) | Node::Or(list)) = self.terms.node(choice) else { return false };
        list.iter().all(|&member| {
            let more = conjuncts(self.terms, member, holds);
            self.refutes([known.as_slice(), &more].concat())
        })
    }

    /// The shortest disjunction with a window below.
    fn choice(&self, known: &[Literal]) -> Option<usize> {
        let length = |&(term, holds): &Literal| match (self.terms.node(term), holds) {
            (Node::Or(list), true) | (Node::And(list), false) if self.windows.contains(&term) => Some(list.len()),
            _ => None,
        };
        let lengths = known.iter().enumerate().filter_map(|(at, literal)| Some((length(literal)?, at)));
        lengths.min().map(|(_, at)| at)
    }

    /// Whether no two threads meet literals.
    fn is_refuted(&mut self, known: &[Literal]) -> bool {
        let windows: Vec<Window> =
            known.iter().filter_map(|&literal| Window::of(self.terms, self.threads, literal)).collect();
        let mut conditions = None;
        for (number, first) in windows.iter().enumerate() {
            for second in &windows[number + 1..] {
                if first.decided.width != second.decided.width || first.rest != second.rest {
                    continue;
                }
                let conditions = conditions.get_or_insert_with(|| self.conditions(known));
                let difference = first.decided.minus(&second.decided);
                if self.are_apart(&difference, [first.below, second.below], conditions) {
                    return true;
                }
            }
        }
        false
    }

    /// What literals ask of the threads.
    fn conditions(&mut self, known: &[Literal]) -> Conditions {
        let mut conditions = Conditions::default();
        for &(term, holds) in known {
            match self.threads.support(term) {
                Some([true, true]) => conditions.of_both.push((term, holds)),
                Some([true, false]) => conditions.of_one[0].push((term, holds)),
                Some([false, true]) => conditions.of_one[1].push((term, holds)),
                Some([false, false]) | None => {}
            }
        }
        conditions
    }

    /// Whether `difference` is never above minus the second and below the first number, for two threads that meet conditions.
    fn are_apart(&mut self, difference: &Linear, below: [u128; 2], conditions: &Conditions) -> bool {
        let support = |member: &(Term, u128)| self.threads.support(member.0);
        let of = |wanted: Support| {
            let members = difference.members.iter().copied();
            members.filter(|member| support(member) == Some(wanted)).collect::<Vec<_>>()
        };
        let sums = [of([true, false]), of([false, true])];
        if sums[0].len() + sums[1].len() != difference.members.len() {
            return false;
        }
        let mask = mask(difference.width);
        let [first, second] = [0, 1].map(|thread| {
            let start = if thread == 0 { difference.constant } else { 0 };
            self.places(thread, start, &sums[thread], &conditions.of_one[thread])
        });
        // `first + second + last` is below `length`.
        let (last, length) = (below[1] - 1, below[0] + below[1] - 1);
        let mut meeting: HashMap<u128, Vec<usize>> = HashMap::default();
        for &(point, place) in &first {
            for byte in 0..length {
                meeting.entry(place.wrapping_add(last).wrapping_sub(byte) & mask).or_default().push(point);
            }
        }
        let compared = first.len() * length as usize + second.len();
        effort::spend(POINT * compared as u64);
        self.left = self.left.saturating_sub(compared / BYTES_A_CASE);
        second.iter().all(|&(point, place)| {
            let others = meeting.get(&(place.wrapping_neg() & mask));
            others.into_iter().flatten().all(|&other| !self.meet([other, point], &conditions.of_both))
        })
    }

    /// The points of a thread that meet conditions, with a sum there.
    fn places(
        &mut self,
        thread: usize,
        start: u128,
        sum: &[(Term, u128)],
        conditions: &[Literal],
    ) -> Vec<(usize, u128)> {
        let conditions: Vec<_> =
            conditions.iter().map(|&(term, holds)| (self.table(thread, term), u128::from(holds))).collect();
        let sum: Vec<_> = sum.iter().map(|&(term, factor)| (self.table(thread, term), factor)).collect();
        let points = 0..self.threads.domains[thread].points.len();
        let meets = |point: &usize| conditions.iter().all(|(values, wanted)| values[*point] == *wanted);
        let place = |point: usize| {
            let member = |(values, factor): &(Rc<Vec<u128>>, u128)| values[point].wrapping_mul(*factor);
            (point, sum.iter().map(member).fold(start, u128::wrapping_add))
        };
        points.filter(meets).map(place).collect()
    }

    /// The values of a term at all points of the thread that decides it.
    fn table(&mut self, thread: usize, term: Term) -> Rc<Vec<u128>> {
        if let Some(known) = self.tables[thread].get(&term) {
            return known.clone();
        }
        let points = 0..self.threads.domains[thread].points.len();
        let values = points.map(|point| {
            self.go_to(thread, point);
            match self.evaluator.value(term) {
                Value::Bool(value) => u128::from(value),
                Value::Bits(value) => value,
                Value::Int(_) => panic!("solver: an integer that the number of a thread decides"),
            }
        });
        let values = Rc::new(values.collect::<Vec<_>>());
        self.tables[thread].insert(term, values.clone());
        values
    }

    /// Gives a thread its numbers.
    fn go_to(&mut self, thread: usize, point: usize) {
        let Domain { symbols, points } = &self.threads.domains[thread];
        self.evaluator.set(symbols.iter().copied().zip(points[point].iter().map(|&value| Value::Bits(value))));
    }

    /// Whether two threads meet conditions on both.
    fn meet(&mut self, points: [usize; 2], conditions: &[Literal]) -> bool {
        self.go_to(0, points[0]);
        self.go_to(1, points[1]);
        conditions.iter().all(|&(term, holds)| self.evaluator.holds(term) == holds)
    }
}

/// Literals by the threads whose numbers decide them.
#[derive(Default)]
struct Conditions {
    of_one: [Vec<Literal>; 2],
    of_both: Vec<Literal>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::numbers::Numbers;
    use crate::solver::{Answer, Encoding, encode, in_own_context, z3_backend};
    use crate::vcgen::term::BvBinary;

    /// `(id & mask) * scale ^ (id >> shift & 3) * 4 ^ constant`, as one thread or the other has it.
    fn place(terms: &mut Terms, id: Term, [mask, scale, shift, constant]: [u128; 4]) -> Term {
        let number = |terms: &mut Terms, value| terms.bv(value, 32);
        let [mask, scale, shift, constant, three, four] =
            [mask, scale, shift, constant, 3, 4].map(|value| number(terms, value));
        let low = terms.bv_binary(BvBinary::And, id, mask);
        let low = terms.bv_binary(BvBinary::Mul, low, scale);
        let high = terms.bv_binary(BvBinary::Lshr, id, shift);
        let high = terms.bv_binary(BvBinary::And, high, three);
        let high = terms.bv_binary(BvBinary::Mul, high, four);
        let place = terms.bv_binary(BvBinary::Xor, low, high);
        terms.bv_binary(BvBinary::Xor, place, constant)
    }

    /// Two threads that access the same array, each at one of two places; some keep clear of others by a guard.
    fn goal(terms: &mut Terms, numbers: &mut Numbers) -> Term {
        let ids = ["x$1", "x$2"].map(|name| terms.symbol(name, Sort::Bv(32), Some((0, 31))));
        let byte = terms.symbol("w", Sort::Bv(32), None);
        let stage = terms.symbol("stage", Sort::Bv(32), None);
        let bytes = numbers.from(&[1, 2, 4]);
        let shapes = [0, 1].map(|_| {
            let (mask, scale) = (numbers.from(&[7, 15, 31]), numbers.from(&[2, 4, 16]));
            [mask, scale, numbers.from(&[0, 3, 4]), numbers.from(&[0, 4, 64])]
        });
        let guards = [numbers.from(&[32, 32, 16, 8]), numbers.from(&[32, 32, 0, 8])];
        let site = terms.symbol("site", Sort::Bv(16), None);
        let accesses = ids.map(|id| {
            let each = [0, 1].map(|number| {
                let place = place(terms, id, shapes[number]);
                let from = terms.bv_sub(byte, place);
                let from = terms.bv_sub(from, stage);
                let (length, guard) = (terms.bv(bytes, 32), terms.bv(guards[number], 32));
                let (is_there, is_active) =
                    (terms.bv_compare(BvCompare::Ult, from, length), terms.bv_compare(BvCompare::Ult, id, guard));
                (is_there, is_active)
            });
            let each = each.into_iter().zip(0..).map(|((is_there, is_active), number)| {
                let number = terms.bv(number, 16);
                let is_logged = terms.eq(site, number);
                let parts = if id == ids[0] { vec![is_there, is_active, is_logged] } else { vec![is_there, is_active] };
                terms.and(parts)
            });
            let each = each.collect();
            terms.or(each)
        });
        let same = terms.eq(ids[0], ids[1]);
        let [logged, checked] = accesses.map(|access| terms.not(access));
        terms.or(vec![same, logged, checked])
    }

    #[test]
    fn z3_agrees_on_swizzled_places() {
        let mut numbers = Numbers(20_261_128);
        let (mut proved, mut missed, mut satisfied) = (0, 0, 0);
        in_own_context(|| {
            for _ in 0..400 {
                let mut terms = Terms::default();
                let goal = goal(&mut terms, &mut numbers);
                let is_proved = proves(&terms, goal);
                let encoded = encode(&mut terms, Encoding::BitVectors, goal, &[]).unwrap_or_else(|| panic!("no form"));
                let answer = z3_backend::check(&terms, &encoded, Encoding::BitVectors, Effort::seconds(1));
                assert!(!is_proved || !matches!(answer, Answer::Refuted(_)), "a model of {:?}", encoded.assertions);
                proved += usize::from(is_proved);
                missed += usize::from(!is_proved && matches!(answer, Answer::Proved));
                satisfied += usize::from(matches!(answer, Answer::Refuted(_)));
            }
        });
        // Neither side is empty. Left to other procedures is what takes no bits apart, as some of these do not.
        let is_balanced = proved > 50 && satisfied > 50 && missed < 20;
        assert!(is_balanced, "{proved} proved, {missed} not, {satisfied} with a model");
    }
}
