//! Refutation by execution: what a model shows, and what follows when its state runs on.
//!
//! Input: a passive program, the candidates still kept, a model. Output: checks that fail.
//! Establishes: a candidate whose check fails here is in no inductive subset of the kept ones: the
//! state before satisfies all of them (it comes from a model, or from the round before, with what
//! failed there dropped) and the state after does not satisfy the candidate. One solver model so
//! refutes as many candidates as several would, and an execution from the start refutes what is
//! simply false. Nothing is proved here.
//! Reference: Flanagan and Leino, Houdini; tutorial section 4 (candidates refuted by testing).

use super::sightings::{Sighting, Watch};
use crate::concrete::code::Slot;
use crate::concrete::evaluate::{Assignment, Evaluator};
use crate::concrete::program::{Step, Steps};
use crate::limits;
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{Node, Sort, Term, Value, mask};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Blocks that one simulation may pass.
const STEP_LIMIT: usize = 400;
/// Blocks of all executions that look for a few checks.
const GOAL_STEP_LIMIT: usize = 4000;
/// Values of parameters for executions beside the model's: sizes below a block, of a grid, of more.
const SAMPLES: [u128; 8] = [1_000_000, 20_000, 300, 9, 0, 1, 100_000, u128::MAX];

/// Accesses of one place that are watched.
const SIGHTINGS: usize = 3;

/// A simulation of a passive program.
pub(crate) struct Simulation<'p> {
    passive: &'p Passive,
    steps: &'p Steps,
    evaluator: Evaluator<'p>,
    kept: Vec<bool>,
    relied: &'p dyn Fn(usize) -> bool,
    /// Checks found to fail.
    pub(crate) failing: BTreeSet<usize>,
    rounds: Vec<usize>,
    round_limit: usize,
    /// Blocks that it may still pass.
    left: usize,
    /// What the executions access, if that is of interest.
    watch: Option<(&'p Watch, Vec<Sighting>)>,
    /// The only checks that are of interest, if not all are.
    goal: Option<BTreeSet<usize>>,
}

impl<'p> Simulation<'p> {
    /// `kept`: the candidates not dropped so far; `relied`: checks that hold because they are proved
    /// elsewhere; `round_limit`: rounds of a loop to execute.
    pub(crate) fn new(
        (passive, steps): (&'p Passive, &'p Steps),
        kept: Vec<bool>,
        relied: &'p dyn Fn(usize) -> bool,
        round_limit: usize,
    ) -> Self {
        Simulation {
            passive,
            steps,
            evaluator: Evaluator::new(&steps.code),
            kept,
            relied,
            failing: BTreeSet::new(),
            rounds: vec![0; passive.loops.len()],
            round_limit,
            left: 0,
            watch: None,
            goal: None,
        }
    }

    /// Executions of a program that is proved: nothing is evaluated but these checks, until each was found to fail.
    pub(crate) fn of_proved(
        (passive, steps): (&'p Passive, &'p Steps),
        goal: BTreeSet<usize>,
        round_limit: usize,
    ) -> Self {
        let kept =
            vec![false; passive.checks.iter().filter_map(|check| check.candidate).max().map_or(0, |last| last + 1)];
        Simulation {
            goal: Some(goal),
            left: GOAL_STEP_LIMIT,
            ..Simulation::new((passive, steps), kept, &|_| false, round_limit)
        }
    }

    fn is_over(&self) -> bool {
        self.goal.as_ref().is_some_and(|goal| goal.is_subset(&self.failing))
    }

    /// Takes the values of a model for [`model_terms`].
    pub(crate) fn load(&mut self, terms: &[Term], values: &[Option<Value>]) {
        let known = terms.iter().zip(values).filter_map(|(&t, value)| Some((t, (*value)?)));
        let (symbols, applications): (Vec<_>, Vec<_>) =
            known.partition(|(t, _)| matches!(self.passive.terms.node(*t), Node::Symbol(_)));
        self.evaluator.set(symbols);
        for (application, value) in applications {
            self.evaluator.learn(application, value);
        }
    }

    /// Follows the model's own execution, which starts its loops in states of its choice, and runs
    /// on from each of them.
    pub(crate) fn follow_model(&mut self) {
        self.left = STEP_LIMIT;
        self.run(0, None, true);
    }

    /// Executes from the start: with the model's values, then with others; and each again with each
    /// of the bytes watched that it accessed.
    pub(super) fn execute_watching(&mut self, watch: &'p Watch) {
        self.watch = Some((watch, Vec::new()));
        let sightings = self.execute();
        self.watch = None;
        for (assignment, sighting) in sightings {
            self.evaluator.reset(&assignment);
            self.evaluator.set(watch.constants(sighting));
            self.start();
        }
    }

    /// Executes from the start: with the model's values, then with others.
    pub(crate) fn execute(&mut self) -> Vec<(Rc<Assignment>, Sighting)> {
        let model = self.evaluator.assignment();
        let mut sightings = Vec::new();
        for variant in 0..=SAMPLES.len() {
            if self.is_over() {
                break;
            }
            self.evaluator.reset(&model);
            if variant > 0 {
                self.vary(variant);
            }
            let assignment = Rc::new(self.evaluator.assignment());
            self.start();
            if let Some((_, seen)) = &self.watch {
                let new = &seen[sightings.len()..];
                sightings.extend(new.iter().map(|s| (assignment.clone(), *s)));
            }
        }
        self.evaluator.reset(&model);
        sightings
    }

    fn start(&mut self) {
        self.left = if self.goal.is_none() { STEP_LIMIT } else { self.left };
        self.run(0, None, false);
        self.look();
    }

    fn look(&mut self) {
        if let Some((watch, seen)) = &mut self.watch {
            watch.look(&mut self.evaluator, seen, SIGHTINGS);
        }
    }

    /// Other values for parameters and constants without a range, not for thread ids.
    fn vary(&mut self, variant: usize) {
        let Passive { terms, parameters, constants, .. } = self.passive;
        let range = |symbol: Term| terms.symbol_of(symbol).map(|s| s.range);
        let is_free = |&symbol: &Term| match range(symbol) {
            Some(range) => range.is_none() || parameters.contains(&symbol),
            None => false,
        };
        let free = constants.iter().map(|(_, symbol)| *symbol).filter(is_free);
        let values = free.enumerate().filter_map(|(i, symbol)| match terms.sort(symbol) {
            Sort::Bv(width) => {
                let (least, most) = range(symbol).flatten().unwrap_or((0, mask(width)));
                let value = SAMPLES[(variant + i) % SAMPLES.len()] & mask(width);
                Some((symbol, Value::Bits(value.clamp(least, most))))
            }
            _ => None,
        });
        self.evaluator.set(values);
    }

    /// Runs from a block to the end of the execution, or until an assumption fails. `inside`: from
    /// that item of a loop's head, which is not entered but continued.
    fn run(&mut self, block: usize, inside: Option<usize>, follow_model: bool) {
        let (mut b, mut inside, mut follow_model) = (block, inside, follow_model);
        loop {
            limits::check();
            if self.left == 0 || !self.block(b, inside, follow_model) {
                return;
            }
            // What `enter` ran beside this execution counts too.
            self.left = self.left.saturating_sub(1);
            let block = &self.passive.blocks[b];
            inside = None;
            if let Some((number, end)) = block.back_to {
                let Some(head) = self.next_round(number, end) else { return };
                (b, inside, follow_model) = (head, Some(self.steps.entry_checks[head]), false);
                continue;
            }
            match block.successors.as_slice() {
                [] => return,
                [next] => b = *next,
                several if follow_model => {
                    let model = self.evaluator.assignment();
                    for &next in several {
                        self.run(next, None, true);
                        self.evaluator.reset(&model);
                    }
                    return;
                }
                several => {
                    let Some(&next) = several.iter().find(|&&next| self.is_open(next)) else { return };
                    b = next;
                }
            }
        }
    }

    /// The items of a block; false when the execution ends in it.
    fn block(&mut self, b: usize, inside: Option<usize>, follow_model: bool) -> bool {
        let steps: &'p [Step] = &self.steps.blocks[b];
        let start = match (inside, self.passive.blocks[b].head_of) {
            (Some(item), _) => item,
            (None, None) => 0,
            (None, Some(number)) => {
                let checks = self.steps.entry_checks[b];
                if !self.items(&steps[..checks], follow_model) {
                    return false;
                }
                self.enter(b, checks, number, follow_model);
                checks
            }
        };
        self.items(&steps[start..], follow_model)
    }

    /// The loop starts with the values on entry. The model's execution starts it elsewhere; the one
    /// from the entry is run beside it.
    fn enter(&mut self, b: usize, checks: usize, number: usize, follow_model: bool) {
        let model = follow_model.then(|| self.evaluator.assignment());
        self.rounds[number] = 0;
        self.evaluator.assign(&self.steps.loops[number].entry);
        if let Some(model) = model {
            self.run(b, Some(checks), false);
            self.evaluator.reset(&model);
        }
    }

    fn items(&mut self, steps: &[Step], follow_model: bool) -> bool {
        steps.iter().all(|step| match step {
            Step::Assume { candidate: Some(c), .. } if !self.kept[*c] => true,
            Step::Assume { condition, .. } => self.evaluator.is_true(*condition),
            Step::Define { equations, .. } if follow_model => equations.iter().all(|&e| self.evaluator.is_true(e)),
            Step::Define { pairs, .. } => {
                self.evaluator.assign(pairs);
                true
            }
            Step::Check { number, condition } => self.check(*number, *condition),
        })
    }

    /// Evaluates a check; false when what follows relies on it and it fails.
    fn check(&mut self, number: usize, condition: Slot) -> bool {
        if self.goal.as_ref().is_some_and(|goal| !goal.contains(&number)) {
            return true;
        }
        let candidate = self.passive.checks[number].candidate;
        if candidate.is_some_and(|c| !self.kept[c]) || self.evaluator.is_true(condition) {
            return true;
        }
        self.failing.insert(number);
        if let Some(candidate) = candidate {
            self.kept[candidate] = false;
        }
        !(self.relied)(number)
    }

    /// Goes back to the head of a loop; its block, unless the loop ran long enough.
    fn next_round(&mut self, number: usize, end: usize) -> Option<usize> {
        self.look();
        self.rounds[number] += 1;
        if self.rounds[number] > self.round_limit {
            return None;
        }
        let round = &self.steps.loops[number];
        self.evaluator.assign(&round.at_end[end]);
        Some(round.head)
    }

    /// Whether the assumptions that lead a block hold.
    fn is_open(&mut self, b: usize) -> bool {
        let leading = self.steps.blocks[b].iter().map_while(|step| match step {
            Step::Assume { condition, candidate: None } => Some(*condition),
            _ => None,
        });
        leading.into_iter().all(|condition| self.evaluator.is_true(condition))
    }
}

/// The symbols and uninterpreted applications below a formula, whose values make up a model.
pub(crate) fn model_terms(passive: &Passive, formula: Term) -> Vec<Term> {
    let is_base = |t: &Term| matches!(passive.terms.node(*t), Node::Symbol(_) | Node::Apply(..));
    passive.terms.postorder(formula, &|_| false).into_iter().filter(is_base).collect()
}
