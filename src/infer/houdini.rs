//! Houdini: the greatest inductive subset of the candidate invariants.
//!
//! Input: a passive program with candidates at its loop heads. Output: which candidates are kept.
//! Establishes: every kept candidate holds on entry and is maintained, under the kept ones alone;
//! a query that ends without an answer drops what it asked for.
//! Reference: Flanagan and Leino, Houdini; tutorial section 4; proof-notes, lesson 9: all
//! obligations in one query, everything that its model refutes is dropped at once.

use super::simulate::{self, Simulation};
use crate::solver::{Answer, Budget, Encoding, Value, prove};
use crate::vcgen::passive::{CheckKind, Passive, PassiveItem};
use crate::vcgen::term::Term;
use crate::vcgen::wp::{self, Role};
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

/// When and why a candidate was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Inductive.
    Kept,
    /// A model refuted it on entry, in that Houdini iteration (from 1).
    RefutedOnEntry(usize),
    /// A model refuted its maintenance.
    RefutedAfterRound(usize),
    /// The solver gave no answer.
    Undecided(usize),
}

/// A deadline shared by all queries of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

impl Deadline {
    /// A budget of about `effort` milliseconds, told as Z3 resources so that it repeats. The clock is
    /// a safety net for slow machines, or what is left.
    pub fn budget(self, encoding: Encoding, effort: u32) -> Budget {
        let left = self.0.saturating_duration_since(Instant::now()).as_millis();
        let milliseconds = u32::try_from(left.min(200 + 2 * u128::from(effort))).unwrap_or(u32::MAX);
        let rate = match encoding {
            Encoding::Integers => 5_000,
            Encoding::BitVectors => 10_000,
        };
        Budget { rlimit: rate * effort, milliseconds }
    }
}

/// Effort for a query in milliseconds, and for one in the only encoding.
const EFFORT: u32 = 500;
const LAST_EFFORT: u32 = 800;
/// Rounds of a loop to run on from a model.
const ROUNDS: usize = 6;

/// What Houdini starts from.
pub struct Start<'a> {
    /// For each candidate, whether it was proved before (in another encoding).
    pub known: Vec<bool>,
    /// For each candidate, the same about the other thread, or itself. The program treats both
    /// threads alike, so where one of the two is not inductive the other is not.
    pub twins: Vec<usize>,
    /// Checks that hold because they are proved elsewhere (not races).
    pub relied: &'a dyn Fn(usize) -> bool,
    /// The arithmetic of the queries: the second where the first gives no answer.
    pub encodings: &'a [Encoding],
    /// When to give up.
    pub deadline: Deadline,
}

/// Runs Houdini. Gives one fate for each candidate, and the encodings with the one that answered
/// last in front: it suits the kernel.
pub fn run(passive: &mut Passive, start: &Start) -> (Vec<Fate>, Vec<Encoding>) {
    let fates = vec![Fate::Kept; start.known.len()];
    let mut state = State { fates, encodings: start.encodings.to_vec(), start, iteration: 0 };
    state.test(passive);
    loop {
        state.iteration += 1;
        let checks: Vec<usize> = state.open_checks(passive).collect();
        if checks.is_empty() || !state.refute(passive, &checks) {
            return (state.fates, state.encodings);
        }
    }
}

enum Verdict {
    Proved,
    Refuted(BTreeSet<usize>),
    Unknown,
}

struct State<'a> {
    fates: Vec<Fate>,
    encodings: Vec<Encoding>,
    start: &'a Start<'a>,
    iteration: usize,
}

impl State<'_> {
    fn open_checks(&self, passive: &Passive) -> impl Iterator<Item = usize> {
        let open = |c: Option<usize>| c.is_some_and(|c| self.fates[c] == Fate::Kept && !self.start.known[c]);
        (0..passive.checks.len()).filter(move |&i| open(passive.checks[i].candidate))
    }

    /// Executions from the start refute what is simply false before any proof is tried.
    fn test(&mut self, passive: &mut Passive) {
        let leading = passive.blocks.iter().take(1).flat_map(|b| &b.items);
        let preconditions = leading.map_while(|item| match item {
            PassiveItem::Assume { term, candidate: None, defines: None } => Some(*term),
            _ => None,
        });
        let preconditions: Vec<Term> = preconditions.collect();
        let start = passive.terms.chain(true, preconditions);
        let wanted = simulate::model_terms(passive, start);
        let impossible = passive.terms.not(start);
        let budget = self.start.deadline.budget(self.start.encodings[0], EFFORT);
        if let Answer::Refuted(values) = prove(&mut passive.terms, self.start.encodings[0], impossible, &wanted, budget)
        {
            let mut simulation = self.simulation(passive, &wanted, &values);
            simulation.execute();
            let failing = simulation.failing;
            self.drop_failing(passive, &failing);
        }
    }

    /// Asks for all checks at once, and for halves where that has no answer; false when nothing was
    /// dropped (then all are inductive).
    fn refute(&mut self, passive: &mut Passive, checks: &[usize]) -> bool {
        let open: BTreeSet<usize> = self.open_checks(passive).filter(|check| checks.contains(check)).collect();
        if open.is_empty() {
            return false;
        }
        let mut answer = Verdict::Unknown;
        log::debug!("houdini, iteration {}: {} checks", self.iteration, open.len());
        let effort = if self.encodings.len() == 1 && open.len() > 1 { LAST_EFFORT } else { EFFORT };
        for tried in 0..self.encodings.len() {
            answer = self.ask(passive, &open, self.encodings[tried], effort);
            if !matches!(answer, Verdict::Unknown) {
                self.encodings[..=tried].rotate_right(1);
                break;
            }
        }
        match answer {
            Verdict::Proved => false,
            Verdict::Refuted(failing) if self.drop_failing(passive, &failing) => true,
            _ if open.len() == 1 => {
                open.iter().for_each(|&check| self.drop(passive, check, false));
                true
            }
            _ => {
                let (first, second) = checks.split_at(checks.len() / 2);
                let dropped = self.refute(passive, first);
                self.refute(passive, second) || dropped
            }
        }
    }

    /// Drops the candidates of failing checks; false when none was kept until now.
    fn drop_failing(&mut self, passive: &Passive, failing: &BTreeSet<usize>) -> bool {
        let open: BTreeSet<usize> = self.open_checks(passive).collect();
        let failing: Vec<usize> = failing.intersection(&open).copied().collect();
        failing.iter().for_each(|&check| self.drop(passive, check, true));
        !failing.is_empty()
    }

    fn ask(&mut self, passive: &mut Passive, checks: &BTreeSet<usize>, encoding: Encoding, effort: u32) -> Verdict {
        let fates = &self.fates;
        let keep = |c: usize| fates[c] == Fate::Kept;
        let role = |i: usize| role_of(i, checks, self.start.relied);
        let goal = wp::formula(passive, &keep, &role);
        let mut wanted = wanted(passive, &keep, &role);
        let checked = wanted.len();
        wanted.extend(simulate::model_terms(passive, goal));
        let budget = self.start.deadline.budget(encoding, effort);
        match prove(&mut passive.terms, encoding, goal, &wanted, budget) {
            Answer::Proved => Verdict::Proved,
            Answer::Unknown(_) => Verdict::Unknown,
            Answer::Refuted(values) => {
                let (terms, values) = (wanted.split_at(checked), values.split_at(checked));
                let model = terms.0.iter().copied().zip(values.0.iter().copied()).collect();
                let mut failing = failing_checks(passive, &model, &keep, &role);
                let mut simulation = self.simulation(passive, terms.1, values.1);
                simulation.follow_model();
                failing.extend(simulation.failing);
                Verdict::Refuted(failing)
            }
        }
    }

    /// A simulation that starts from the values of a model.
    fn simulation<'p>(&'p self, passive: &'p Passive, terms: &[Term], values: &[Option<Value>]) -> Simulation<'p> {
        let kept = self.fates.iter().map(|f| *f == Fate::Kept).collect();
        let mut simulation = Simulation::new(passive, kept, self.start.relied, ROUNDS);
        simulation.load(terms, values);
        simulation
    }

    fn drop(&mut self, passive: &Passive, check: usize, refuted: bool) {
        let Some(candidate) = passive.checks[check].candidate else { return };
        if self.fates[candidate] != Fate::Kept {
            return;
        }
        let fate = match (&passive.checks[check].kind, refuted) {
            (_, false) => Fate::Undecided(self.iteration),
            (CheckKind::Entry(_), _) => Fate::RefutedOnEntry(self.iteration),
            _ => Fate::RefutedAfterRound(self.iteration),
        };
        let twin = self.start.twins[candidate];
        for dropped in [candidate, twin] {
            if !self.start.known[dropped] && self.fates[dropped] == Fate::Kept {
                self.fates[dropped] = fate.clone();
            }
        }
    }
}

fn role_of(i: usize, checks: &BTreeSet<usize>, relied: &dyn Fn(usize) -> bool) -> Role {
    if checks.contains(&i) {
        Role::Prove
    } else if relied(i) {
        Role::Rely
    } else {
        Role::Ignore
    }
}

/// The terms whose values tell which checks fail in a model.
pub fn wanted(passive: &Passive, keep: &dyn Fn(usize) -> bool, role: &dyn Fn(usize) -> Role) -> Vec<Term> {
    let mut terms = BTreeSet::new();
    for item in passive.blocks.iter().flat_map(|b| &b.items) {
        match item {
            PassiveItem::Assume { candidate: Some(c), .. } if !keep(*c) => {}
            PassiveItem::Assume { term, .. } => {
                terms.insert(*term);
            }
            PassiveItem::Check(i) if role(*i) != Role::Ignore => {
                terms.insert(passive.checks[*i].term);
            }
            PassiveItem::Check(_) => {}
        }
    }
    terms.into_iter().collect()
}

/// The checks to be proved that a model refutes, on every path that its assumptions allow.
pub fn failing_checks(
    passive: &Passive,
    model: &HashMap<Term, Option<Value>>,
    keep: &dyn Fn(usize) -> bool,
    role: &dyn Fn(usize) -> Role,
) -> BTreeSet<usize> {
    let truth = |t: Term| model.get(&t).copied().flatten();
    let mut failing = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![0];
    'blocks: while let Some(b) = stack.pop() {
        let Some(block) = passive.blocks.get(b).filter(|_| seen.insert(b)) else { continue };
        for item in &block.items {
            let feasible = match item {
                PassiveItem::Assume { candidate: Some(c), .. } if !keep(*c) => true,
                PassiveItem::Assume { term, .. } => truth(*term) != Some(Value::Bool(false)),
                PassiveItem::Check(i) => {
                    let holds = truth(passive.checks[*i].term) != Some(Value::Bool(false));
                    match role(*i) {
                        Role::Prove if !holds => {
                            failing.insert(*i);
                            true
                        }
                        Role::Rely => holds,
                        _ => true,
                    }
                }
            };
            if !feasible {
                continue 'blocks;
            }
        }
        stack.extend(&block.successors);
    }
    failing
}
