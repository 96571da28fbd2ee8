//! Tries to prove the assertions of a pair in one encoding.
//!
//! Input: inferred invariants, and what is open. Output: [`Proof`]: what a model refutes, what has no answer.
//! Establishes: an assertion that is neither was proved under the kept invariants, in the encoding of the try or in
//! an earlier one. Relies on: a race check is not relied on behind it. Reference: DESIGN section 5; proof-notes, lesson 5.

use super::{Constants, Inference, Refuted, assertions, is_part};
use crate::concrete::program::Steps;
use crate::effort::{Budget, Effort};
use crate::infer::simulate::{self, Simulation};
use crate::query::{self, From, Query, Reply};
use crate::solver::Encoding;
use crate::vcgen::passive::{Check, Passive, Shown};
use crate::vcgen::regions;
use crate::vcgen::term::{Term, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a try may cost.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// One query for all assertions.
    together: Effort,
    /// One query for each assertion, or none.
    alone: Effort,
}

impl Patience {
    const fn new(together: u64, alone: u64) -> Patience {
        Patience { together: Effort::milliseconds(together), alone: Effort::milliseconds(alone) }
    }
}

impl Patience {
    /// What is true at a glance.
    pub(super) const BARE: Patience = Patience::new(100, 0);
}

/// Short tries: what one encoding finds hard the other often finds easy.
pub(super) const QUICK: Patience = Patience::new(400, 0);
pub(super) const MIDDLE: Patience = Patience::new(1500, 0);
/// The same with halves of what is asked for: a sum of many easy questions may be a hard one.
pub(super) const QUICK_HALVES: Patience = Patience::new(400, 400);
pub(super) const HALVES: Patience = Patience::new(1500, 1000);
/// The last one of a proof in one encoding.
pub(super) const LONG: Patience = Patience::new(4000, 0);
/// Assertions that are asked for at once where a query for all of them had no answer, and parts without an answer
/// before the rest is not asked for.
const PART: usize = 8;
const MOST_UNANSWERED: usize = 4;
/// All cases of a symbol that is multiplied.
const CASES: Effort = Effort::milliseconds(1500);
/// The assertions behind one loop.
const REGION: Effort = Effort::milliseconds(400);
/// The last try.
pub(super) const FULL: Patience = Patience::new(4000, 2000);
/// Where invariants multiply unknowns: one try.
pub(super) const PRODUCTS: Patience = Patience::new(500, 1500);
/// Rounds of a loop that may be executed to see whether it ends.
const ROUNDS: usize = 512;
/// A kernel with more defects than this has enough.
pub(super) const FINDING_LIMIT: usize = 12;

/// What a model says that a report may tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    constants: Constants,
    /// Terms that assertions of the user show, and constants.
    shown: BTreeMap<Term, Value>,
}

impl Model {
    fn of(inference: &Inference, model: &query::Model) -> Model {
        let shown: BTreeMap<Term, Value> = model.read().filter_map(|(term, value)| Some((term, value?))).collect();
        let constants = inference.passive.constants.iter();
        let constants = constants.filter_map(|(name, term)| Some((name.clone(), *shown.get(term)?))).collect();
        Model { constants, shown }
    }

    pub(super) fn refuted(self, check: &Check) -> Refuted {
        let value = |term: Term| self.shown.get(&term).copied();
        let shown = |shown: &Shown| Some((shown.name.clone(), value(shown.now)?, shown.before.and_then(value)));
        let values = check.values.iter().filter_map(shown).collect();
        Refuted { check: check.clone(), constants: self.constants, values }
    }
}

/// What is known of the assertions of a program.
pub(super) struct Proof {
    /// All of them: indices of checks. Their order is the same whatever candidates stand between them.
    pub(crate) all: Vec<usize>,
    /// Enough defects.
    pub(crate) limit: usize,
    /// Whether many assertions without an answer are asked for some at a time, though there are loops.
    pub(crate) in_parts: bool,
    /// Refuted, with the encoding and the model. Bit-vector models are exact; what a
    /// model over integers refutes may still be provable.
    pub(crate) refuted: Vec<(usize, Encoding, Model)>,
    /// Left without an answer by the last attempt, with the solver's reason.
    pub(crate) undecided: Vec<(usize, String)>,
}

impl Proof {
    /// Everything is open but what an earlier try proved.
    pub(crate) fn of(inference: &Inference, unproved: Option<&BTreeSet<usize>>) -> Proof {
        let all = assertions(&inference.passive);
        let open: Vec<usize> = match unproved {
            None => all.clone(),
            Some(unproved) => unproved.iter().map(|&ordinal| all[ordinal]).collect(),
        };
        let undecided = open.into_iter().map(|check| (check, "not tried".to_string())).collect();
        Proof { all, limit: FINDING_LIMIT, in_parts: false, refuted: Vec::new(), undecided }
    }

    /// Nothing is open.
    pub(super) fn complete(inference: &Inference) -> Proof {
        Proof::of(inference, Some(&BTreeSet::new()))
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.refuted.is_empty() && self.undecided.is_empty()
    }

    /// Everything that is not proved is open.
    pub(super) fn reopen(&mut self) {
        let failed = self.refuted.drain(..).map(|(check, ..)| check);
        let open: BTreeSet<usize> = failed.chain(self.undecided.drain(..).map(|(check, _)| check)).collect();
        self.leave(open, "not tried");
    }

    /// Tries what is not proved yet in an encoding.
    pub(crate) fn attempt(
        &mut self,
        inference: &mut Inference,
        encoding: Encoding,
        patience: Patience,
        budget: Budget,
    ) {
        let mut open: BTreeSet<usize> = self.undecided.drain(..).map(|(check, _)| check).collect();
        self.refuted.retain(|(check, refuted_in, _)| {
            let retry = *refuted_in == Encoding::Integers && encoding == Encoding::BitVectors;
            !(retry && open.insert(*check))
        });
        // Without loops each assertion has a formula of its own, and some of them are easier than all.
        let mut may_divide = self.in_parts || inference.passive.loops.is_empty();
        let mut unanswered = 0;
        let mut parts = vec![open];
        let (mut effort, last) = (patience.together, patience.alone.max(QUICK.together));
        while let Some(mut part) = parts.pop() {
            if self.refuted.len() >= self.limit {
                self.leave(part, "enough defects were found before it");
                continue;
            }
            // Where only a proof is of use, one without an answer is the end.
            if self.limit == 1 && !self.undecided.is_empty() {
                self.leave(part, "another assertion has no answer");
                continue;
            }
            log::debug!("{} assertions", part.len());
            for &check in &part {
                let check = &inference.passive.checks[check];
                log::trace!("open: {:?} of {:?}", check.claim, check.origin.as_ref().map(|o| o.line));
            }
            let reply = ask(inference, encoding, &part, effort, budget);
            let alone = part.first().copied().filter(|_| part.len() == 1);
            match (reply, alone) {
                (Reply::Proved, _) => {}
                (Reply::Refuted(found), _) if !found.failing.is_empty() => {
                    let model = Model::of(inference, &found);
                    for check in found.failing {
                        part.remove(&check);
                        self.refuted.push((check, encoding, model.clone()));
                        self.set_aside(&inference.passive.checks, check, &mut part);
                    }
                    parts.extend((!part.is_empty()).then_some(part));
                }
                (Reply::Refuted(found), Some(check)) => {
                    self.refuted.push((check, encoding, Model::of(inference, &found)));
                }
                (Reply::Unknown(_), _) if may_divide && part.len() > PART && !budget.is_over() => {
                    may_divide = false;
                    let checks: Vec<usize> = part.into_iter().collect();
                    parts.extend(checks.chunks(PART).rev().map(|part| part.iter().copied().collect()));
                }
                (Reply::Unknown(why), Some(_)) if effort == last => self.leave(part, &why),
                (Reply::Unknown(why), _) if patience.alone.is_none() || budget.is_over() => {
                    self.leave(part, &why);
                    unanswered += 1;
                    if unanswered >= MOST_UNANSWERED {
                        parts.drain(..).for_each(|part| self.leave(part, &why));
                    }
                }
                (Reply::Unknown(_) | Reply::Refuted(..), _) => {
                    let middle = part.iter().nth(part.len() / 2).copied().unwrap_or_default();
                    let second = part.split_off(&middle);
                    parts.extend([second, part].into_iter().filter(|part| !part.is_empty()));
                    effort = last;
                }
            }
        }
    }

    /// Tries what is open for each of the few values of a symbol that is multiplied. Only a proof of all counts.
    pub(super) fn attempt_cases(&mut self, inference: &mut Inference, budget: Budget) {
        let failed = self.refuted.iter().map(|(check, ..)| *check);
        let open: BTreeSet<usize> = failed.chain(self.undecided.iter().map(|(check, _)| *check)).collect();
        if open.is_empty() || budget.is_over() || !inference.encodings.contains(&Encoding::Integers) {
            return;
        }
        let query = inference.query(From::Start, &open);
        if (Query { most: CASES, ..query }.holds_by_cases(budget)) {
            self.refuted.clear();
            self.undecided.clear();
        }
    }

    /// No answer for some assertions.
    fn leave(&mut self, part: BTreeSet<usize>, why: &str) {
        self.undecided.extend(part.into_iter().map(|check| (check, why.to_string())));
    }

    /// The other elements of a vector and rows of a matrix: a defect of one is one of the instruction.
    fn set_aside(&mut self, checks: &[Check], refuted: usize, open: &mut BTreeSet<usize>) {
        let parts: Vec<usize> =
            open.iter().copied().filter(|&check| is_part(&checks[check], &checks[refuted])).collect();
        for part in parts {
            open.remove(&part);
            self.undecided.push((part, "another part of the instruction races".to_string()));
        }
    }

    /// Tries what lies behind the head of each loop from that head alone: what happened before is a
    /// larger question, and mostly of no matter.
    pub(crate) fn attempt_regions(&mut self, inference: &mut Inference, budget: Budget) {
        for (number, checks) in regions::run(&inference.passive) {
            if budget.is_over() {
                return;
            }
            let is_open = |check: &usize| self.undecided.iter().any(|(open, _)| open == check);
            let mut goal: BTreeSet<usize> = checks.into_iter().filter(is_open).collect();
            for encoding in inference.encodings.clone() {
                let proved = self.region(inference, number, encoding, goal.clone(), budget);
                self.undecided.retain(|(check, _)| !proved.contains(check));
                goal.retain(|check| !proved.contains(check));
            }
        }
    }

    /// Those of some assertions that are proved from the head of a loop.
    fn region(
        &self,
        inference: &mut Inference,
        number: usize,
        encoding: Encoding,
        goal: BTreeSet<usize>,
        budget: Budget,
    ) -> BTreeSet<usize> {
        let (mut proved, mut may_divide, mut parts) = (BTreeSet::new(), self.in_parts, vec![goal]);
        while let Some(mut tried) = parts.pop() {
            while !tried.is_empty() {
                log::debug!("{} assertions behind loop {number}", tried.len());
                let query = inference.query(From::Head(number), &tried);
                match (Query { encoding, most: REGION, ..query }.ask(budget)) {
                    Reply::Proved => break,
                    Reply::Refuted(model) if !model.failing.is_empty() => {
                        tried.retain(|check| !model.failing.contains(check));
                    }
                    _ if may_divide && tried.len() > PART => {
                        may_divide = false;
                        let checks: Vec<usize> = std::mem::take(&mut tried).into_iter().collect();
                        parts.extend(checks.chunks(PART).rev().map(|part| part.iter().copied().collect()));
                    }
                    _ if encoding == Encoding::Integers && by_bounds(inference, number, &tried, budget) => break,
                    _ => tried.clear(),
                }
            }
            proved.append(&mut tried);
        }
        proved
    }
}

/// Whether assertions are proved from the head of a loop without what is known of low bits: over integers those are
/// remainders, a burden where threads keep apart by bounds.
fn by_bounds(inference: &mut Inference, number: usize, goal: &BTreeSet<usize>, budget: Budget) -> bool {
    let Some(remainders) = inference.annotated.remainders() else { return false };
    let query = inference.query(From::Head(number), goal).without(&remainders);
    matches!(Query { encoding: Encoding::Integers, most: REGION, ..query }.ask(budget), Reply::Proved)
}

/// Asks for assertions from the start.
fn ask(inference: &mut Inference, encoding: Encoding, goal: &BTreeSet<usize>, most: Effort, budget: Budget) -> Reply {
    let reads = |passive: &Passive, _: Term| {
        let constants = passive.constants.iter().map(|(_, term)| *term);
        let shown = goal.iter().flat_map(|&check| &passive.checks[check].values);
        constants.chain(shown.flat_map(|shown| [Some(shown.now), shown.before]).flatten()).collect()
    };
    let query = inference.query(From::Start, goal);
    Query { encoding, most, reads: &reads, ..query }.ask(budget)
}

/// Asks for probes from the start. An execution that comes to a probe refutes it as well as a model does.
pub(super) fn ask_probes(inference: &mut Inference, goal: &BTreeSet<usize>, most: Effort, budget: Budget) -> Reply {
    let query = inference.query(From::Start, goal);
    let mut reply = Query { most, reads: &simulate::model_terms, ..query }.ask(budget);
    if let Reply::Refuted(model) = &mut reply {
        let executed = executed(inference, goal, model);
        model.failing.extend(executed);
    }
    reply
}

/// Those of a proved program's probes that executions from a state come to.
pub(super) fn executed(inference: &Inference, goal: &BTreeSet<usize>, state: &query::Model) -> BTreeSet<usize> {
    let passive = &inference.passive;
    let steps = Steps::new(passive, &[]);
    let mut simulation = Simulation::of_proved((passive, &steps), goal.clone(), ROUNDS);
    simulation.load(&state.terms, &state.values);
    simulation.execute();
    simulation.failing
}
