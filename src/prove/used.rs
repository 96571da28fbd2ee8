//! Which kept invariants the proof of the assertions needs.
//!
//! Input: what came of one pair of threads. Output: [`Used`].
//! Establishes: the set of `Only` proves all assertions and itself, on entry and after each round; both
//! were asked for once more with nothing but that set. It need not be the smallest.
//! Relies on: the solver's cores, for the choice of the set and for nothing else.
//! Reference: Z3's unsatisfiable cores over assumption literals, one literal for each kept candidate.

use super::{Inference, PairOutcome, assertions, may_rely_on};
use crate::diagnostic::Diagnostic;
use crate::effort::{Budget, Effort};
use crate::infer;
use crate::query::{self, From, Query, Reply};
use crate::solver::{Encoding, in_own_context};
use crate::vcgen::passive::{CheckKind, Passive, PassiveItem};
use crate::vcgen::regions;
use crate::vcgen::term::{Sort, Term};
use std::collections::{BTreeMap, BTreeSet};

/// Effort for a query about many checks, and about one.
const TOGETHER: Effort = Effort::milliseconds(500);
const ALONE: Effort = Effort::milliseconds(4000);
/// Cores of cores: with less to choose from, the next proof needs less.
const ROUNDS: usize = 3;

/// What the proof of a pair needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Used {
    /// These candidates are enough.
    Only(BTreeSet<usize>),
    /// All that were kept, for all that is known, and why no more is known.
    All(&'static str),
}

impl Used {
    /// Whether a candidate is known to be used.
    pub fn is_used(&self, candidate: usize) -> bool {
        matches!(self, Used::Only(used) if used.contains(&candidate))
    }
}

/// Asks which of the kept candidates the proof needs.
///
/// # Errors
/// What `vcgen` cannot translate.
pub fn run(outcome: &PairOutcome, budget: Budget) -> Result<Used, Diagnostic> {
    in_own_context(|| search(outcome, budget))
}

fn search(outcome: &PairOutcome, budget: Budget) -> Result<Used, Diagnostic> {
    let inference = &outcome.inference;
    if !outcome.refuted.is_empty() || !outcome.open.is_empty() {
        return Ok(Used::All("not every assertion is proved"));
    }
    let mut used: BTreeSet<usize> = (0..inference.fates.len()).filter(|&c| inference.keeps(c)).collect();
    for round in 0..ROUNDS {
        let mut search = Search::new(inference, &used, budget)?;
        search.guard();
        match search.close() {
            Some(fewer) if fewer.len() < used.len() => used = fewer,
            None if round == 0 => return Ok(Used::All("the solver names no core within the limits")),
            _ => break,
        }
    }
    let mut again = Search::new(inference, &used, budget)?;
    let mut goal: BTreeSet<usize> = assertions(&again.passive).into_iter().collect();
    goal.extend(again.checks_of(&used));
    match again.prove_all(goal) {
        Some(_) => Ok(Used::Only(used)),
        None => Ok(Used::All("the core alone was not proved again within the limits")),
    }
}

/// Proofs under some of the candidates.
struct Search {
    passive: Passive,
    keep: Vec<bool>,
    /// The literal of each guarded candidate; empty when candidates are simply assumed.
    literals: BTreeMap<Term, usize>,
    /// The head that suits an assertion.
    heads: BTreeMap<usize, From>,
    encodings: Vec<Encoding>,
    budget: Budget,
}

impl Search {
    /// Starts from a passive program of its own.
    fn new(inference: &Inference, kept: &BTreeSet<usize>, budget: Budget) -> Result<Search, Diagnostic> {
        let passive = infer::passive_of(&inference.annotated.program, &inference.annotated.procedure)?;
        let regions = regions::run(&passive);
        let mut heads = BTreeMap::new();
        for (number, checks) in regions {
            heads.extend(checks.into_iter().map(|check| (check, From::Head(number))));
        }
        // A round is proved from its own head, even where it ends behind another one.
        for (check, found) in passive.checks.iter().enumerate() {
            if let CheckKind::Maintenance(number) = found.kind {
                heads.insert(check, From::Head(number));
            }
        }
        let keep = (0..inference.fates.len()).map(|candidate| kept.contains(&candidate)).collect();
        let encodings = inference.encodings.clone();
        Ok(Search { passive, keep, literals: BTreeMap::new(), heads, encodings, budget })
    }

    /// Puts a literal in front of each assumption of a kept candidate: what holds under all literals is
    /// what holds under the candidates.
    fn guard(&mut self) {
        let terms = &mut self.passive.terms;
        for item in self.passive.blocks.iter_mut().flat_map(|block| &mut block.items) {
            if let PassiveItem::Assume { term, candidate: Some(candidate), .. } = item
                && self.keep[*candidate]
            {
                // No identifier of the IVL has an exclamation mark.
                let literal = terms.symbol(&format!("used!{candidate}"), Sort::Bool, None);
                self.literals.insert(literal, *candidate);
                *term = terms.implies(literal, *term);
            }
        }
    }

    /// The candidates that the assertions need, those that these need, and so on.
    fn close(&mut self) -> Option<BTreeSet<usize>> {
        let goal = assertions(&self.passive).into_iter().collect();
        let mut used = self.prove_all(goal)?;
        let mut justified = BTreeSet::new();
        while used.len() > justified.len() {
            let new: BTreeSet<usize> = used.difference(&justified).copied().collect();
            used.extend(self.prove_all(self.checks_of(&new))?);
            justified.extend(new);
        }
        Some(used)
    }

    /// The checks on entry and after a round of candidates.
    fn checks_of(&self, candidates: &BTreeSet<usize>) -> BTreeSet<usize> {
        let is_wanted = |check: &usize| self.passive.checks[*check].candidate.is_some_and(|c| candidates.contains(&c));
        (0..self.passive.checks.len()).filter(is_wanted).collect()
    }

    /// Proves checks: from the heads of loops, then from the start, then each apart. The guarded
    /// candidates that the proofs needed; `None` when one of the checks has no proof.
    fn prove_all(&mut self, goal: BTreeSet<usize>) -> Option<BTreeSet<usize>> {
        let mut groups: BTreeMap<From, BTreeSet<usize>> = BTreeMap::new();
        for check in goal {
            groups.entry(self.heads.get(&check).copied().unwrap_or(From::Start)).or_default().insert(check);
        }
        let mut used = BTreeSet::new();
        let mut left = groups.remove(&From::Start).unwrap_or_default();
        for (from, checks) in groups {
            match self.ask(&checks, from, TOGETHER) {
                Some(needed) => used.extend(needed),
                None => left.extend(checks),
            }
        }
        if let Some(needed) = self.ask(&left, From::Start, TOGETHER) {
            used.extend(needed);
            return Some(used);
        }
        for check in left {
            let from = self.heads.get(&check).copied();
            let checks = BTreeSet::from([check]);
            let near = from.and_then(|from| self.ask(&checks, from, TOGETHER));
            used.extend(near.or_else(|| self.ask(&checks, From::Start, ALONE))?);
        }
        Some(used)
    }

    /// One query in each encoding until one proves it; the guarded candidates that it needed.
    fn ask(&mut self, goal: &BTreeSet<usize>, from: From, most: Effort) -> Option<Vec<usize>> {
        let literals: Vec<Term> = self.literals.keys().copied().collect();
        for &encoding in &self.encodings {
            let program = &mut self.passive;
            let (keep, rely) = (self.keep.clone(), program.checks.iter().map(may_rely_on).collect());
            let mut query =
                Query { program, from, goal, keep, rely, except: &[], reads: &query::nothing, encoding, most };
            if literals.is_empty() {
                if let Reply::Proved = query.ask(self.budget) {
                    return Some(Vec::new());
                }
            } else if let Some(core) = query.core(&literals, self.budget) {
                return Some(core.into_iter().map(|place| self.literals[&literals[place]]).collect());
            }
        }
        None
    }
}
