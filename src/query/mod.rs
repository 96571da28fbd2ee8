//! A question about checks of a passive program: from some place on, do they hold?
//!
//! Input: a [`Query`]. Output: a [`Reply`]. Establishes: `Proved` only where the solver proved the weakest precondition of
//! the goal at that place, under the kept candidates and the checks that are relied on; a check fails in a model only
//! where the model comes to it, on some path that its assumptions allow ([`walk`]). Relies on: who asks proves elsewhere
//! what is kept and relied on. Reference: proof-notes, lesson 9.

pub(crate) mod walk;

use crate::effort::{Budget, Effort};
use crate::solver::{self, Answer, Encoding};
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{Term, Value};
use crate::vcgen::wp::{self, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use walk::{After, Part};

/// Checks that are few enough to be looked at one by one.
const FEW: usize = 8;

/// Where the executions of a query start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum From {
    /// At the start of the program.
    Start,
    /// At the head of a loop (an index into [`Passive::loops`]), in any state that its kept candidates and the
    /// preconditions allow. What is refuted from there may still hold on the way from the start.
    Head(usize),
}

/// Some checks, and what they may rely on.
pub(crate) struct Query<'a> {
    pub(crate) program: &'a mut Passive,
    /// Where executions start.
    pub(crate) from: From,
    /// The checks to prove.
    pub(crate) goal: &'a BTreeSet<usize>,
    /// For each candidate, whether it is assumed at the head of its loop; those behind the last one are not.
    pub(crate) keep: Vec<bool>,
    /// For each check, whether it is proved elsewhere: what stands behind it relies on it.
    pub(crate) rely: Vec<bool>,
    /// Only executions are asked for in which none of these holds.
    pub(crate) except: &'a [Term],
    /// What is read from a model, beside the checks that fail in it: terms of the program, chosen when its formula is
    /// known.
    pub(crate) reads: &'a dyn Fn(&Passive, Term) -> Vec<Term>,
    /// How machine arithmetic is given to the solver.
    pub(crate) encoding: Encoding,
    /// The most that one question to the solver may cost.
    pub(crate) most: Effort,
}

/// What came of a query.
pub(crate) enum Reply {
    /// All checks hold.
    Proved,
    /// Some fail in a model.
    Refuted(Model),
    /// No answer, and why.
    Unknown(String),
}

/// An execution, as far as it is of interest.
pub(crate) struct Model {
    /// The checks to be proved that fail in it; none where the encoding hides which.
    pub(crate) failing: BTreeSet<usize>,
    /// The terms that were to be read.
    pub(crate) terms: Vec<Term>,
    /// Their values; `None` where the model has none that fits.
    pub(crate) values: Vec<Option<Value>>,
}

impl Model {
    /// The terms that were to be read, with their values.
    pub(crate) fn read(&self) -> impl Iterator<Item = (Term, Option<Value>)> {
        self.terms.iter().copied().zip(self.values.iter().copied())
    }
}

/// For queries of whose models only the failing checks are of interest.
pub(crate) fn nothing(_: &Passive, _: Term) -> Vec<Term> {
    Vec::new()
}

impl Query<'_> {
    /// The same without some of the candidates, marked as such.
    pub(crate) fn without(mut self, left_out: &[bool]) -> Self {
        self.keep.iter_mut().zip(left_out).for_each(|(keep, is_left_out)| *keep &= !is_left_out);
        self
    }

    /// Asks.
    pub(crate) fn ask(&mut self, budget: Budget) -> Reply {
        let walked = self.part().wanted(self.program);
        self.ask_reading(walked, budget)
    }

    /// Asks without looking for the checks that fail in a model.
    pub(crate) fn ask_for_values(&mut self, budget: Budget) -> Reply {
        self.ask_reading(BTreeSet::new(), budget)
    }

    fn ask_reading(&mut self, walked: BTreeSet<Term>, budget: Budget) -> Reply {
        let (formula, wanted) = self.prepare(walked);
        let most = budget.most(self.most);
        let begin = Instant::now();
        let prove = if self.goal.len() > FEW { solver::prove_many } else { solver::prove };
        let answer = prove(&mut self.program.terms, self.encoding, formula, &wanted.all, most);
        let reply = self.reply(answer, wanted);
        self.trace(&reply, begin.elapsed().as_millis());
        reply
    }

    /// Tells what was asked and said.
    fn trace(&self, reply: &Reply, milliseconds: u128) {
        let said = match reply {
            Reply::Proved => "proved".to_string(),
            Reply::Refuted(model) => format!("{} refuted", model.failing.len()),
            Reply::Unknown(why) => why.clone(),
        };
        let (count, from, encoding) = (self.goal.len(), self.from, self.encoding);
        log::trace!("{count} checks, {from:?}, {encoding:?}: {said}, {milliseconds} ms");
        let named: Vec<usize> = match reply {
            Reply::Refuted(model) => model.failing.iter().copied().collect(),
            _ => self.goal.iter().copied().filter(|_| count == 1).collect(),
        };
        for check in named.into_iter().map(|check| &self.program.checks[check]) {
            log::trace!("  {:?}: {:?}", check.kind, check.claim);
        }
    }

    /// Asks whether the checks hold whatever the products of unknowns are; `None` where nothing is multiplied. What fails
    /// is in doubt only: the model may multiply wrongly.
    pub(crate) fn ask_opaque(&mut self, budget: Budget) -> Option<Reply> {
        let walked = self.part().wanted(self.program);
        let (formula, wanted) = self.prepare(walked);
        let most = budget.most(self.most);
        let answer = solver::prove_opaque(&mut self.program.terms, formula, &wanted.all, most)?;
        Some(self.reply(answer, wanted))
    }

    /// Whether the checks hold, as is seen by the few values that a symbol can have which is multiplied.
    pub(crate) fn holds_by_cases(&mut self, budget: Budget) -> bool {
        let formula = self.formula();
        solver::cases::proves(&self.program.terms, formula, budget.part(self.most))
    }

    /// Asks under Boolean symbols in the program: the places of those that a proof needed; `None` without a proof.
    pub(crate) fn core(&mut self, literals: &[Term], budget: Budget) -> Option<Vec<usize>> {
        let formula = self.formula();
        let most = budget.most(self.most);
        solver::core(&mut self.program.terms, self.encoding, formula, literals, most)
    }

    /// Valid if and only if the checks hold.
    pub(crate) fn formula(&mut self) -> Term {
        let (goal, rely, kept) = (self.goal, &self.rely, &self.keep);
        let (keep, role) =
            (|candidate: usize| kept.get(candidate) == Some(&true), |check: usize| role_of(check, goal, rely));
        let formula = match self.from {
            From::Start => wp::formula(self.program, &keep, &role),
            From::Head(number) => wp::formula_of_round(self.program, &keep, &role, number),
        };
        match self.except {
            [] => formula,
            except => self.program.terms.chain(false, except.iter().copied().chain([formula]).collect()),
        }
    }

    fn prepare(&mut self, walked: BTreeSet<Term>) -> (Term, Wanted) {
        let formula = self.formula();
        let read = (self.reads)(self.program, formula);
        let mut all: Vec<Term> = Vec::with_capacity(walked.len() + read.len());
        let mut places = BTreeMap::new();
        for &term in walked.iter().chain(&read) {
            places.entry(term).or_insert_with(|| {
                all.push(term);
                all.len() - 1
            });
        }
        (formula, Wanted { all, places, read })
    }

    /// What a walk under a model of it looks at.
    pub(crate) fn part(&self) -> Part {
        let role = (0..self.program.checks.len()).map(|check| role_of(check, self.goal, &self.rely));
        Part { from: self.from, keep: self.keep.clone(), roles: role.collect() }
    }

    fn reply(&self, answer: Answer, wanted: Wanted) -> Reply {
        match answer {
            Answer::Proved => Reply::Proved,
            Answer::Unknown(why) => Reply::Unknown(why),
            Answer::Refuted(values) => {
                let value = |term: &Term| wanted.places.get(term).and_then(|&place| *values.get(place)?);
                let mut failing = BTreeSet::new();
                // Where the model has no value, all is possible. So nothing fails where values were not asked for.
                let mut holds = |term: Term| value(&term) != Some(Value::Bool(false));
                self.part().walk(self.program, &mut holds, &mut |check, _| {
                    failing.insert(check);
                    After::GoesOn
                });
                let values = wanted.read.iter().map(value).collect();
                Reply::Refuted(Model { failing, terms: wanted.read, values })
            }
        }
    }
}

/// Gives what holds at the start of a program its form in an encoding before all else. Formulas have their terms in the
/// order of their making; with what is said of ids and sizes in front, proofs of loops take a third of the time.
pub(crate) fn encode_start(program: &mut Passive, encoding: Encoding, reads: &dyn Fn(&Passive, Term) -> Vec<Term>) {
    let (impossible, terms) = start_of(program, reads);
    // What has no form in it has none later.
    let _ = solver::encode(&mut program.terms, encoding, impossible, &terms);
}

/// A state in which a program may start, if the solver finds one; no check is looked at.
pub(crate) fn start(
    program: &mut Passive,
    reads: &dyn Fn(&Passive, Term) -> Vec<Term>,
    encoding: Encoding,
    most: Effort,
    budget: Budget,
) -> Option<Model> {
    let (impossible, terms) = start_of(program, reads);
    match solver::prove(&mut program.terms, encoding, impossible, &terms, budget.most(most)) {
        Answer::Refuted(values) => Some(Model { failing: BTreeSet::new(), terms, values }),
        _ => None,
    }
}

/// That no state is one in which the program starts, with the terms to read.
fn start_of(program: &mut Passive, reads: &dyn Fn(&Passive, Term) -> Vec<Term>) -> (Term, Vec<Term>) {
    let preconditions = program.preconditions();
    let start = program.terms.chain(true, preconditions);
    let terms = reads(program, start);
    (program.terms.not(start), terms)
}

/// The terms whose values a model is to tell.
struct Wanted {
    /// Each once.
    all: Vec<Term>,
    /// Where each stands.
    places: BTreeMap<Term, usize>,
    /// Those that who asks wants to read.
    read: Vec<Term>,
}

/// What a check contributes to a formula that is to prove `goal`.
fn role_of(check: usize, goal: &BTreeSet<usize>, rely: &[bool]) -> Role {
    if goal.contains(&check) {
        Role::Prove
    } else if rely[check] {
        Role::Rely
    } else {
        Role::Ignore
    }
}
