//! Which checks of a body fail, and on which way.
//!
//! Input: the passive program of a body. Output: failures in the order of the body, and why there may be more.
//! Establishes: without failures and without such a reason, every check is proved: each was, under those on the way to it.
//! Relies on: [`crate::vcgen::wp`], [`crate::solver::exact`]; of models over integers only that [`Concrete`] has looked at them.
//! Reference: Leino, Millstein, Saxe, generating error traces from verification-condition counterexamples.

use super::concrete::Concrete;
use super::detour::{self, Detour};
use crate::concrete::code::Code;
use crate::effort::{Budget, Effort};
use crate::ivl::ast::Name;
use crate::query::walk::{After, Part};
use crate::query::{self, From, Query, Reply};
use crate::solver::Encoding;
use crate::solver::exact::{self, End, Next, Shown, Values};
use crate::span::Span;
use crate::vcgen::passive::{Check, CheckKind, Passive, PassiveItem};
use crate::vcgen::term::Term;
use crate::vcgen::wp::{self, Labels, Role};
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Failures of one body that are looked for.
const MOST_FAILURES: usize = 50;
/// Checks of a body that is small: one query with labels is faster than one for each failure.
const SMALL: usize = 100;
/// Checks that are proved together where all at once are too many.
const TOGETHER: usize = 8;
/// Most such groups of one body.
const GROUPS: usize = 32;

/// Effort of queries.
#[derive(Clone, Copy)]
struct Patience {
    /// With labels, for a small body.
    labels: Effort,
    exact: Effort,
    /// For bodies with bit-vectors: faster by far where machine arithmetic does not wrap.
    integers: Effort,
}

impl Patience {
    /// In milliseconds.
    const fn new(labels: u64, exact: u64, integers: u64) -> Patience {
        let (labels, exact) = (Effort::milliseconds(labels), Effort::milliseconds(exact));
        Patience { labels, exact, integers: Effort::milliseconds(integers) }
    }
}

/// For all checks at once, over integers only.
const INTEGERS_FIRST: Patience = Patience::new(0, 0, 100);
/// For all checks at once.
const WHOLE: Patience = Patience::new(2_000, 5_000, 0);
/// The same with bit-vectors: what Z3 does not prove soon as it is needs another form.
const WHOLE_WITH_BITS: Patience = Patience::new(300, 300, 3_000);
/// For some checks, under all others.
const PART: Patience = Patience::new(0, 300, 300);

/// A block on the way to a failure.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Label of the block.
    pub(crate) label: Name,
    /// Where the block stands.
    pub(crate) span: Span,
    /// Where its transfer stands.
    pub(crate) end: Span,
    /// What it assigned.
    pub(crate) assigned: Vec<(Name, Shown)>,
}

/// An assertion that fails.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The assertion.
    pub(crate) check: Check,
    /// Whether the values are those of an execution: exact, with nothing on the way that only a contract or an
    /// invariant tells.
    pub(crate) certain: bool,
    /// The blocks from the start.
    pub(crate) path: Vec<Step>,
    /// Its variables: now, and at the beginning of the round for an invariant.
    pub(crate) values: Vec<(Name, Shown, Option<Shown>)>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Checks that fail, in the order of the body.
    pub(crate) failures: Vec<Failure>,
    /// Why there may be more.
    pub(crate) unknown: Option<String>,
}

/// Looks for failures; `None` where the body is not small, or little effort is not enough.
pub(crate) fn quick(passive: &mut Passive, budget: Budget) -> Option<Found> {
    let mut search = Search::new(passive, budget);
    search.quick().then(|| search.end(None))
}

/// Looks for failures with all the effort that it takes; `was_quick` where [`quick`] had no answer.
pub(crate) fn run(passive: &mut Passive, budget: Budget, was_quick: bool) -> Found {
    let mut search = Search::new(passive, budget);
    let unknown = if !was_quick && search.quick() { None } else { search.thorough() };
    search.end(unknown)
}

/// Whether there are bit-vectors, and nothing that has no form over integers.
fn has_bits_only(passive: &mut Passive) -> bool {
    let all = wp::formula(passive, &|_| true, &|_| Role::Prove);
    let terms = &passive.terms;
    let below = terms.postorder(all, &|_| false);
    below.iter().any(|&t| terms.width(t) > 0) && below.iter().all(|&t| terms.is_basic_node(t))
}

struct Search<'a> {
    passive: &'a mut Passive,
    budget: Budget,
    /// When labels are tried whatever is left: without an answer so far, they are the last resort.
    half: Budget,
    has_bits: bool,
    /// Whether a model was a guess, which only labels can read.
    is_guess: bool,
    found: BTreeMap<usize, Failure>,
}

/// What a query about some checks told.
enum Told {
    Proved,
    Fails(usize, Box<Failure>),
    Nothing,
}

impl<'a> Search<'a> {
    fn new(passive: &'a mut Passive, budget: Budget) -> Self {
        let half = budget.part(budget.left() / 2);
        let has_bits = has_bits_only(passive);
        Search { passive, budget, half, has_bits, is_guess: false, found: BTreeMap::new() }
    }

    fn all(&self) -> Vec<usize> {
        (0..self.passive.checks.len()).collect()
    }

    fn end(self, unknown: Option<String>) -> Found {
        Found { failures: self.found.into_values().collect(), unknown }
    }

    fn patience_for_all(&self) -> Patience {
        if self.has_bits { WHOLE_WITH_BITS } else { WHOLE }
    }

    /// Whether little effort over integers decides all: bit-vectors take longer, with loops by far.
    fn integers_first(&mut self) -> bool {
        let all = self.all();
        let is_worth_it = all.len() <= SMALL || !self.passive.loops.is_empty();
        self.has_bits && is_worth_it && self.by_execution(all, INTEGERS_FIRST).is_empty()
    }

    /// Whether that is enough.
    fn labels_first(&mut self) -> bool {
        let all = self.all();
        all.len() <= SMALL && self.by_labels(&all, self.patience_for_all().labels).is_none()
    }

    /// Whether little effort is enough.
    fn quick(&mut self) -> bool {
        self.integers_first() || self.labels_first()
    }

    /// Why there may be more failures than were found.
    fn thorough(&mut self) -> Option<String> {
        let mut open = self.by_execution(self.all(), self.patience_for_all());
        let together = TOGETHER.max(open.len() / GROUPS);
        if !self.is_guess && open.len() > together {
            open = open.chunks(together).flat_map(|part| self.in_parts(part.to_vec())).collect();
        }
        if open.is_empty() { None } else { self.by_labels(&open, Effort::ALL) }
    }

    /// Some checks together, and in halves where that is too much; what is left of them.
    fn in_parts(&mut self, part: Vec<usize>) -> Vec<usize> {
        if self.half.is_over() {
            return part;
        }
        let mut open = self.by_execution(part, PART);
        if open.len() < 2 || self.is_guess {
            return open;
        }
        let second = open.split_off(open.len() / 2);
        let mut left = self.in_parts(open);
        left.extend(self.in_parts(second));
        left
    }

    /// The checks of a part that are to be proved: not those that fail.
    fn goal(&self, part: &[usize]) -> BTreeSet<usize> {
        part.iter().copied().filter(|number| !self.found.contains_key(number)).collect()
    }

    /// Each check is proved or assumed: what fails is assumed from there on, and so is what is proved elsewhere.
    fn query<'q>(&'q mut self, goal: &'q BTreeSet<usize>) -> Query<'q> {
        let (program, from, encoding) = (&mut *self.passive, From::Start, Encoding::Exact);
        let keep = vec![true; program.candidates()];
        let rely = program.checks.iter().map(wp::is_assumed).collect();
        Query { program, from, goal, keep, rely, except: &[], reads: &query::nothing, encoding, most: Effort::ALL }
    }

    /// Without labels the formula is much simpler, and each failure is worth a query of its own. What is left.
    fn by_execution(&mut self, mut part: Vec<usize>, patience: Patience) -> Vec<usize> {
        part.retain(|number| !self.found.contains_key(number));
        while !part.is_empty() && self.found.len() < MOST_FAILURES {
            match self.ask(&part, patience) {
                Told::Proved => return Vec::new(),
                Told::Nothing => return part,
                Told::Fails(number, failure) => {
                    part.retain(|&other| other != number);
                    self.found.insert(number, *failure);
                }
            }
        }
        Vec::new()
    }

    fn ask(&mut self, part: &[usize], patience: Patience) -> Told {
        let goal = self.goal(part);
        let told = if patience.exact.is_none() { Told::Nothing } else { self.ask_exactly(&goal, patience.exact) };
        match told {
            Told::Nothing if self.has_bits && !self.is_guess => self.ask_integers(&goal, patience.integers),
            told => told,
        }
    }

    fn ask_exactly(&mut self, goal: &BTreeSet<usize>, effort: Effort) -> Told {
        let mut query = self.query(goal);
        let (goal, part) = (query.formula(), query.part());
        let mut terms = std::mem::take(&mut self.passive.terms);
        let mut fails = None;
        let (effort, passive) = (self.half.most(effort), &*self.passive);
        let end = exact::search(&mut terms, goal, &[], effort, &mut |model| {
            fails = model.filter(|(_, is_certain)| *is_certain).and_then(|(model, _)| {
                let (number, path) = execute(passive, &part, model)?;
                Some((number, failure(passive, number, &path, model, true)))
            });
            Next::Stop
        });
        self.passive.terms = terms;
        match (end, fails) {
            (End::Proved, _) => Told::Proved,
            (End::Stopped, Some((number, failure))) => Told::Fails(number, Box::new(failure)),
            (End::Stopped, None) => {
                self.is_guess = true;
                Told::Nothing
            }
            (End::Unknown(_), _) => Told::Nothing,
        }
    }

    /// A model over integers counts where an execution with machine arithmetic fails with its values.
    fn ask_integers(&mut self, goal: &BTreeSet<usize>, most: Effort) -> Told {
        let half = self.half;
        let leaves = |passive: &Passive, formula: Term| Concrete::leaves(&passive.terms, formula);
        let mut query = Query { encoding: Encoding::Integers, reads: &leaves, most, ..self.query(goal) };
        let (reply, part) = (query.ask_for_values(half), query.part());
        let values = match reply {
            Reply::Proved => return Told::Proved,
            Reply::Unknown(_) => return Told::Nothing,
            Reply::Refuted(model) => model.read().collect::<Vec<_>>(),
        };
        let passive = &*self.passive;
        let code = Code::new(&passive.terms, shown_terms(passive), &|_| 0);
        let mut model = Concrete::new(&passive.terms, &code, values);
        let fails = execute(passive, &part, &mut model).filter(|_| !model.is_unclear);
        let told = fails.map(|(number, path)| (number, failure(passive, number, &path, &mut model, true)));
        told.map_or(Told::Nothing, |(number, failure)| Told::Fails(number, Box::new(failure)))
    }

    /// One failure after the other, each with its path: the literals of [`Labels`] tell it also in a model that is a guess.
    fn by_labels(&mut self, part: &[usize], effort: Effort) -> Option<String> {
        let goal = self.goal(part);
        let roles = self.query(&goal).part().roles;
        let (goal, labels) = wp::labelled(self.passive, &|number| roles[number]);
        let all = labels.fails.iter().chain(labels.goes_to.iter().flatten());
        let negated: HashMap<Term, Term> = all.map(|&t| (t, self.passive.terms.not(t))).collect();
        let mut terms = std::mem::take(&mut self.passive.terms);
        let effort = self.budget.most(effort);
        let (passive, found) = (&*self.passive, &mut self.found);
        let mut at: Option<Detour> = None;
        let end = exact::search(&mut terms, goal, &[], effort, &mut |model| {
            if let Some((model, is_certain)) = model {
                let Some((number, path)) = failing(passive, &labels, model) else { return Next::Stop };
                let told = failure(passive, number, &path, model, is_certain);
                let is_placed_by_way = is_certain && detour::is_placed_by_way(&passive.checks[number]);
                let is_told = match &mut at {
                    Some(detour) => detour.took(passive, path),
                    None => {
                        at = Some(Detour::new(passive, number, path, is_placed_by_way));
                        true
                    }
                };
                if is_told {
                    found.insert(number, told);
                }
            }
            let Some(detour) = &mut at else { return Next::Stop };
            if let Some(literals) = detour.question(passive, &labels) {
                return Next::Under(
                    literals.into_iter().map(|(t, holds)| if holds { t } else { negated[&t] }).collect(),
                );
            }
            let fails = labels.fails[detour.number];
            at = None;
            if found.len() < MOST_FAILURES { Next::Assume(vec![negated[&fails]]) } else { Next::Stop }
        });
        self.passive.terms = terms;
        match end {
            End::Proved => None,
            End::Stopped if self.found.len() >= MOST_FAILURES => None,
            End::Stopped => panic!("modular: a model without a failure"),
            End::Unknown(why) => Some(why),
        }
    }
}

/// The terms whose values an execution and a report of it need.
fn shown_terms(passive: &Passive) -> Vec<Term> {
    let of_check = |check: &Check| {
        let values: Vec<Term> =
            check.values.iter().flat_map(|shown| [Some(shown.now), shown.before]).flatten().collect();
        std::iter::once(check.term).chain(values)
    };
    let assumed = passive.blocks.iter().flat_map(|block| &block.items).filter_map(|item| match item {
        PassiveItem::Assume { term, .. } => Some(*term),
        PassiveItem::Check(_) => None,
    });
    let assigned = passive.blocks.iter().flat_map(|block| &block.assigned).map(|(_, term)| *term);
    passive.checks.iter().flat_map(of_check).chain(assumed).chain(assigned).collect()
}

/// Runs the passive program with the values of a model: the first check on any way that fails and has to be proved. If
/// the way decides where it is told to fail, one to the closing brace is looked for.
fn execute(passive: &Passive, part: &Part, model: &mut dyn Values) -> Option<(usize, Vec<usize>)> {
    let mut found: Option<(usize, Vec<usize>)> = None;
    part.walk(passive, &mut |term| model.holds(term), &mut |number, path| {
        let is_last = !detour::is_placed_by_way(&passive.checks[number]) || detour::closes(passive, path);
        let is_better = match &found {
            None => true,
            Some((first, _)) => *first == number && is_last,
        };
        if is_better {
            found = Some((number, path.to_vec()));
        }
        if is_better && is_last { After::Ends } else { After::TurnsBack }
    });
    found
}

/// The check that fails in a model, by number, with the way there.
pub(crate) fn failing(passive: &Passive, labels: &Labels, model: &mut dyn Values) -> Option<(usize, Vec<usize>)> {
    let mut path = Vec::new();
    let mut block = 0;
    loop {
        path.push(block);
        for item in &passive.blocks.get(block)?.items {
            if let PassiveItem::Check(number) = item
                && model.holds(labels.fails[*number])
            {
                return Some((*number, path));
            }
        }
        let successors = &passive.blocks[block].successors;
        let chosen = labels.goes_to[block].iter().position(|&goes| model.holds(goes));
        block = *successors.get(chosen.unwrap_or(successors.len().checked_sub(1)?))?;
    }
}

/// What the report tells of a check that fails at the end of a path.
fn failure(passive: &Passive, number: usize, path: &[usize], model: &mut dyn Values, certain: bool) -> Failure {
    let check = passive.checks[number].clone();
    let last = path.len() - 1;
    let is_exact = |(place, &block): (usize, &usize)| {
        let block = &passive.blocks[block];
        let cuts = block.head_of.is_some() && !(place == last && matches!(check.kind, CheckKind::Entry(_)));
        !cuts && !block.calls
    };
    let certain = certain && path.iter().enumerate().all(is_exact);
    let values = check.values.iter().filter_map(|shown| {
        let before = shown.before.and_then(|before| model.value(before));
        Some((shown.name.clone(), model.value(shown.now)?, before))
    });
    let values = values.collect();
    let path = path.iter().map(|&block| {
        let block = &passive.blocks[block];
        let assigned = block.assigned.iter().filter_map(|(name, term)| Some((name.clone(), model.value(*term)?)));
        Step { label: block.label.clone(), span: block.span, end: block.end, assigned: assigned.collect() }
    });
    let path = path.collect();
    Failure { check, certain, path, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ivl::{Dialect, parse_dialect};
    use crate::modular::{bodies, verify};

    /// Failures told by labels, by executions and in parts, of every body in tests/procedures that has no quantifiers.
    #[test]
    fn all_ways_find_the_same() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/procedures");
        let (mut compared, mut failures, mut in_integers) = (0, 0, 0);
        for entry in std::fs::read_dir(folder).expect("tests/procedures") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "bpl") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a readable file");
            let program = parse_dialect(&text, Dialect::Boogie).expect("a program that parses");
            for body in program.procedures.iter().flat_map(|procedure| bodies(&program, procedure)) {
                let passive = verify::passive(&program, &body, true).expect("a passive program");
                let Some(found) = found_in_all_ways(passive.clone()) else { continue };
                assert_eq!(found[0], found[1], "by execution: {} in {path:?}", body.target.procedure.name);
                assert_eq!(found[0], found[2], "in parts: {} in {path:?}", body.target.procedure.name);
                let over_integers = found_over_integers(passive);
                let is_found = over_integers.iter().all(|number| found[0].contains(number));
                assert!(is_found, "over integers: {over_integers:?} in {path:?}");
                in_integers += over_integers.len();
                compared += 1;
                failures += found[0].len();
            }
        }
        assert!(compared > 100 && failures > 50, "{compared} bodies, {failures} failures");
        assert!(in_integers > 5, "{in_integers} failures over integers");
    }

    /// Those that an execution shows with the values of a model over integers.
    fn found_over_integers(mut passive: Passive) -> Vec<usize> {
        let mut search = Search::new(&mut passive, Budget::new(Effort::seconds(60)));
        if search.has_bits {
            search.by_execution(search.all(), INTEGERS_FIRST);
        }
        search.found.into_keys().collect()
    }

    /// `None` where a model was a guess.
    fn found_in_all_ways(passive: Passive) -> Option<[Vec<usize>; 3]> {
        let ways: [fn(&mut Search); 3] = [
            |search| assert_eq!(search.by_labels(&search.all(), Effort::ALL), None),
            |search| assert!(search.by_execution(search.all(), WHOLE).is_empty() || search.is_guess),
            |search| {
                let parts = search.all().chunks(3).map(<[usize]>::to_vec).collect::<Vec<_>>();
                parts.into_iter().for_each(|part| assert!(search.in_parts(part).is_empty() || search.is_guess));
            },
        ];
        let mut found = [const { Vec::new() }; 3];
        for (way, found) in ways.into_iter().zip(&mut found) {
            let mut passive = passive.clone();
            let mut search = Search::new(&mut passive, Budget::new(Effort::seconds(60)));
            way(&mut search);
            if search.is_guess {
                return None;
            }
            *found = search.found.into_keys().collect();
        }
        Some(found)
    }
}
