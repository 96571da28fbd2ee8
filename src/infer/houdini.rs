//! Houdini: the greatest inductive subset of the candidate invariants.
//!
//! Input: a passive program with candidates at its loop heads. Output: which candidates are kept.
//! Establishes: every kept candidate holds on entry and is maintained, under the kept ones alone;
//! a query that ends without an answer drops what it asked for.
//! Reference: Flanagan and Leino, Houdini; tutorial section 4; proof-notes, lesson 9: all
//! obligations in one query, everything that its model refutes is dropped at once.

use crate::solver::{Answer, Budget, Encoding, Value, prove};
use crate::vcgen::passive::{CheckKind, Passive, PassiveItem};
use crate::vcgen::term::Term;
use crate::vcgen::wp::{self, Role};
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

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

/// The outcome.
pub struct Outcome {
    /// One for each candidate.
    pub fates: Vec<Fate>,
    /// Solver calls made.
    pub queries: usize,
}

impl Outcome {
    /// Whether a candidate is kept.
    pub fn keeps(&self, candidate: usize) -> bool {
        self.fates[candidate] == Fate::Kept
    }
}

/// A deadline shared by all queries of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(pub Instant);

impl Deadline {
    /// A budget of at most `milliseconds`, or what is left.
    pub fn budget(self, milliseconds: u32, rlimit: u32) -> Budget {
        let left = self.0.saturating_duration_since(Instant::now());
        let left = left.min(Duration::from_millis(u64::from(milliseconds)));
        Budget { rlimit, milliseconds: left.as_millis() as u32 }
    }
}

/// Wall time and resources of a query that asks for everything, and for one candidate alone.
const TOGETHER: (u32, u32) = (4000, 20_000_000);
const ALONE: (u32, u32) = (1000, 3_000_000);

/// Runs Houdini over `count` candidates. `assumed` are checks that hold elsewhere (not races).
pub fn run(
    passive: &mut Passive,
    count: usize,
    encoding: Encoding,
    deadline: Deadline,
    relied: &dyn Fn(usize) -> bool,
) -> Outcome {
    let mut state = State { fates: vec![Fate::Kept; count], queries: 0, iteration: 0, encoding, deadline };
    loop {
        state.iteration += 1;
        let checks = state.open_checks(passive);
        if checks.is_empty() {
            break;
        }
        match state.ask(passive, &checks, relied, TOGETHER) {
            Verdict::Proved => break,
            Verdict::Refuted(failing) if !failing.is_empty() => {
                for check in failing {
                    state.drop(passive, check, true);
                }
            }
            _ => {
                if !state.one_by_one(passive, &checks, relied) {
                    break;
                }
            }
        }
    }
    Outcome { fates: state.fates, queries: state.queries }
}

enum Verdict {
    Proved,
    Refuted(BTreeSet<usize>),
    Unknown,
}

struct State {
    fates: Vec<Fate>,
    queries: usize,
    iteration: usize,
    encoding: Encoding,
    deadline: Deadline,
}

impl State {
    fn open_checks(&self, passive: &Passive) -> BTreeSet<usize> {
        let open = |c: Option<usize>| c.is_some_and(|c| self.fates[c] == Fate::Kept);
        (0..passive.checks.len()).filter(|&i| open(passive.checks[i].candidate)).collect()
    }

    fn ask(
        &mut self,
        passive: &mut Passive,
        checks: &BTreeSet<usize>,
        relied: &dyn Fn(usize) -> bool,
        limit: (u32, u32),
    ) -> Verdict {
        self.queries += 1;
        let fates = &self.fates;
        let keep = |c: usize| fates[c] == Fate::Kept;
        let role = |i: usize| role_of(i, checks, relied);
        let goal = wp::formula(passive, &keep, &role);
        let wanted = wanted(passive, &keep, &role);
        let budget = self.deadline.budget(limit.0, limit.1);
        match prove(&mut passive.terms, self.encoding, goal, &wanted, budget) {
            Answer::Proved => Verdict::Proved,
            Answer::Unknown(_) => Verdict::Unknown,
            Answer::Refuted(values) => {
                let model: HashMap<Term, Option<Value>> = wanted.into_iter().zip(values).collect();
                Verdict::Refuted(failing_checks(passive, &model, &keep, &role))
            }
        }
    }

    /// Asks for each candidate apart; false when none was dropped (then all are inductive).
    fn one_by_one(&mut self, passive: &mut Passive, checks: &BTreeSet<usize>, relied: &dyn Fn(usize) -> bool) -> bool {
        let mut dropped = false;
        for &check in checks {
            let candidate = passive.checks[check].candidate;
            if candidate.is_none_or(|c| self.fates[c] != Fate::Kept) {
                continue;
            }
            match self.ask(passive, &BTreeSet::from([check]), relied, ALONE) {
                Verdict::Proved => {}
                Verdict::Refuted(_) => {
                    self.drop(passive, check, true);
                    dropped = true;
                }
                Verdict::Unknown => {
                    self.drop(passive, check, false);
                    dropped = true;
                }
            }
        }
        dropped
    }

    fn drop(&mut self, passive: &Passive, check: usize, refuted: bool) {
        let Some(candidate) = passive.checks[check].candidate else { return };
        if self.fates[candidate] != Fate::Kept {
            return;
        }
        self.fates[candidate] = match (&passive.checks[check].kind, refuted) {
            (_, false) => Fate::Undecided(self.iteration),
            (CheckKind::Entry(_), _) => Fate::RefutedOnEntry(self.iteration),
            _ => Fate::RefutedAfterRound(self.iteration),
        };
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
