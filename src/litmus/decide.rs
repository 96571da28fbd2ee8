//! The answer to a litmus test.
//!
//! Input: a resolved test, a model. Output: an [`Answer`]. Establishes: `allowed`, `forbidden`, `racy` and `race-free` only where the
//! solver decided it, and loops were unrolled far enough ([`mod@super::unroll`]); otherwise the answer says why there is none.
//! Relies on: all stages before. Reference: herd7's validation of conditions.
//!
//! The outcome is about one state: that of `exists` and of `~exists`, or one that breaks what `forall` claims. It is allowed if a
//! consistent execution that comes to its end has it. A race counts in executions that do not end, too.

use super::ast::Quantifier;
use super::cat::ast::Model;
use super::cat::eval::{self, Meaning, Value};
use super::draw::Drawing;
use super::execution::{candidate, final_values};
use super::relation::{Builder, Relation};
use super::test::{Litmus, Reading, State};
use super::unfold::{Unfolded, WIDTH, compare, unfold};
use crate::diagnostic::Diagnostic;
use crate::effort::Effort;
use crate::solver::{self, Encoding};
use crate::vcgen::term::{self, Term, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// What one question to the solver may cost.
const EFFORT: Effort = Effort::seconds(60);

/// Flags with this in their names are races.
const RACE: &str = "race";

/// What was decided of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Yes,
    No,
    /// With the reason.
    Unknown(String),
}

/// The answer to a test.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) name: String,
    /// Whether the state can be reached that the question is about.
    pub(crate) allowed: Decision,
    /// Whether a consistent execution has a data race.
    pub(crate) racy: Decision,
    pub(crate) quantifier: Quantifier,
    /// Other flags that a consistent execution raises.
    pub(crate) flags: Vec<String>,
    /// An execution that shows the state, or else a race, or else any.
    pub(crate) drawing: Option<Drawing>,
}

/// How a test is decided.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Copies of the body of a loop.
    pub unroll: usize,
    /// Whether an execution is wanted.
    pub draws: bool,
}

/// Why the model could not be used, or the test not be decided.
#[derive(Debug)]
pub enum Trouble {
    /// With the test.
    Test(Diagnostic),
    /// With the model.
    Model(Diagnostic),
}

/// Decides a test under a model.
///
/// # Errors
/// The test is too large, or the model has no meaning.
pub(crate) fn decide(test: &Litmus, model: &Model, limits: Limits) -> Result<Answer, Trouble> {
    let mut terms = Terms::default();
    let unfolded = unfold(test, limits.unroll, &mut terms).map_err(Trouble::Test)?;
    let mut builder = Builder::new(&mut terms);
    let candidate = candidate(test, &unfolded.events, model, &mut builder);
    let meaning = eval::evaluate(model, candidate.names, &mut builder).map_err(Trouble::Model)?;
    let coherence = match meaning.names.get("co") {
        Some(Value::Relation(coherence)) => coherence.clone(),
        _ => Relation::new(),
    };
    let mut locations = BTreeSet::new();
    test.filter.iter().chain([&test.state]).for_each(|state| used(state, &mut locations));
    let (values, facts) = final_values(&unfolded.events, &coherence, locations, &mut builder);
    let states = States { registers: &unfolded.registers, values };
    let state = states.condition(&test.state, builder.terms);
    let asked = if test.quantifier == Quantifier::Forall { builder.terms.not(state) } else { state };
    let filter = test.filter.as_ref().map(|filter| states.condition(filter, builder.terms));
    let filter = filter.unwrap_or_else(|| builder.terms.boolean(true));
    let final_state = builder.terms.and(facts);
    let definitions = builder.terms.and(builder.definitions.clone());
    let consistent = builder.terms.and(vec![candidate.is_execution, meaning.consistent, definitions]);
    let mut asker = Asker {
        terms: &mut terms,
        consistent,
        final_state,
        filter,
        unfolded: &unfolded,
        watched: Vec::new(),
        matters: None,
    };
    let drawn =
        limits.draws.then(|| Drawing::plan(test, &unfolded, &candidate.reads_from, &coherence, &meaning, asker.terms));
    asker.watched = drawn.as_ref().map_or(Vec::new(), |(_, watched)| watched.clone());
    let (allowed, first) = asker.outcome(asked);
    let (racy, second, flags) = asker.flags(&meaning);
    let seen = first.or(second).or_else(|| if limits.draws { asker.any() } else { None });
    let drawing = drawn.zip(seen).map(|((plan, _), seen)| plan.of(test, &unfolded, &seen));
    Ok(Answer { name: test.name.clone(), allowed, racy, quantifier: test.quantifier, flags, drawing })
}

/// Values of what is drawn.
pub(crate) type Seen = Vec<Option<term::Value>>;

/// Asks the solver about executions.
struct Asker<'a> {
    terms: &'a mut Terms,
    consistent: Term,
    final_state: Term,
    filter: Term,
    unfolded: &'a Unfolded,
    /// What is drawn of an execution that is found.
    watched: Vec<Term>,
    /// Whether rounds that were not made may matter, once that was asked.
    matters: Option<Decision>,
}

impl Asker<'_> {
    /// Whether a consistent execution has all of this.
    fn exists(&mut self, wanted: &[Term]) -> (Decision, Option<Seen>) {
        let all = self.terms.and([&[self.consistent], wanted].concat());
        let goal = self.terms.not(all);
        match solver::prove(self.terms, Encoding::BitVectors, goal, &self.watched, EFFORT) {
            solver::Answer::Proved => (Decision::No, None),
            solver::Answer::Refuted(seen) => (Decision::Yes, Some(seen)),
            solver::Answer::Unknown(reason) => (Decision::Unknown(format!("the solver gave up: {reason}")), None),
        }
    }

    /// The same, where no loop was cut, with a final state.
    fn exists_whole(&mut self, wanted: Term) -> (Decision, Option<Seen>) {
        let whole = self.terms.not(self.unfolded.cut);
        self.exists(&[whole, self.final_state, self.filter, wanted])
    }

    fn outcome(&mut self, asked: Term) -> (Decision, Option<Seen>) {
        let (decision, seen) = self.exists_whole(asked);
        (self.unless_cut(decision), seen)
    }

    /// `No` holds only if further rounds of loops change nothing.
    fn unless_cut(&mut self, decision: Decision) -> Decision {
        if decision != Decision::No || self.terms.truth(self.unfolded.cut_matters) == Some(false) {
            return decision;
        }
        let matters = self.matters.clone().unwrap_or_else(|| self.cut_matters());
        self.matters = Some(matters.clone());
        match matters {
            Decision::No => Decision::No,
            Decision::Yes => Decision::Unknown("a loop may go on for longer than it was unrolled".to_string()),
            unknown => unknown,
        }
    }

    /// Whether a consistent execution begins a round that was not made and that could matter.
    fn cut_matters(&mut self) -> Decision {
        // Of most locks no values at all do.
        let never = self.terms.not(self.unfolded.cut_matters);
        match solver::prove(self.terms, Encoding::BitVectors, never, &[], EFFORT) {
            solver::Answer::Proved => Decision::No,
            _ => self.exists(&[self.unfolded.cut_matters]).0,
        }
    }

    /// Races, an execution with one, and the other flags that are raised. Executions that end are as the filter has them.
    fn flags(&mut self, meaning: &Meaning) -> (Decision, Option<Seen>, Vec<String>) {
        let whole = self.terms.and(vec![self.final_state, self.filter]);
        let considered = self.terms.or2(self.unfolded.cut, whole);
        let (races, others): (Vec<_>, Vec<_>) = meaning.flags.iter().partition(|(name, _)| name.contains(RACE));
        let race = self.terms.or(races.iter().map(|(_, condition)| *condition).collect());
        let (racy, seen) = match self.terms.truth(race) {
            Some(false) => (Decision::No, None),
            _ => self.exists(&[considered, race]),
        };
        let raised =
            others.into_iter().filter(|(_, condition)| self.exists(&[considered, *condition]).0 == Decision::Yes);
        let raised = raised.map(|(name, _)| name.clone()).collect();
        (self.unless_cut(racy), seen, raised)
    }

    /// Any execution that ends, or any at all.
    fn any(&mut self) -> Option<Seen> {
        let anything = self.terms.boolean(true);
        self.exists_whole(anything).1.or_else(|| self.exists(&[]).1)
    }
}

/// The locations whose last values are asked about.
fn used(state: &State, locations: &mut BTreeSet<usize>) {
    match state {
        State::Not(inner) => used(inner, locations),
        State::All(list) | State::Any(list) => list.iter().for_each(|one| used(one, locations)),
        State::Compare(a, _, b) => {
            let of = |reading: &Reading| if let Reading::Location(number) = reading { Some(*number) } else { None };
            locations.extend([of(a), of(b)].into_iter().flatten());
        }
    }
}

/// Final states as terms.
struct States<'a> {
    registers: &'a [BTreeMap<String, Term>],
    values: BTreeMap<usize, Term>,
}

impl States<'_> {
    fn condition(&self, state: &State, terms: &mut Terms) -> Term {
        match state {
            State::Not(inner) => {
                let inner = self.condition(inner, terms);
                terms.not(inner)
            }
            State::All(list) => {
                let all = list.iter().map(|one| self.condition(one, terms)).collect();
                terms.and(all)
            }
            State::Any(list) => {
                let any = list.iter().map(|one| self.condition(one, terms)).collect();
                terms.or(any)
            }
            State::Compare(a, comparison, b) => {
                let (a, b) = (self.reading(a, terms), self.reading(b, terms));
                compare(terms, *comparison, a, b)
            }
        }
    }

    fn reading(&self, reading: &Reading, terms: &mut Terms) -> Term {
        let known = match reading {
            Reading::Constant(value) => return terms.bv(u128::from(*value), WIDTH),
            Reading::Location(number) => self.values.get(number),
            Reading::Register(thread, name) => self.registers[*thread].get(name),
        };
        known.copied().unwrap_or_else(|| terms.bv(0, WIDTH))
    }
}
