//! What registers hold when a thread has passed some barriers so many times.
//!
//! Input: the blocks, places that count rounds. Output: [`Rounds`], which gives the low 32 bits of expressions as polynomials over constants
//! of the launch and the number of rounds. Establishes: whenever a thread comes to a place, an expression has the value of its polynomial for the
//! number of times that the thread has passed the places before. Relies on: [`Polynomial`]. Reference: Aho, Lam, Sethi, Ullman,
//! "Compilers" (data-flow analysis); Karr, "Affine relationships among variables of a program".
//!
//! Before the first round a register has a number p, behind n rounds it has q: then it is supposed to have p + (q - p) / n times the number of rounds,
//! which the next way round confirms, or not.

use super::super::paths::{Paths, Position};
use super::super::polynomial::Polynomial;
use crate::ivl::ast::{ExprKind, ExprRef, Name, Stmt, StmtKind};
use crate::ivl::bv::{Builtin, BvOp, parse_builtin};
use crate::ivl::visit::assigned;
use std::collections::{BTreeMap, BTreeSet};

/// The number of rounds as a variable; no register has such a name.
const ROUNDS: &str = "#rounds";

/// Polynomials with more factors and variables than this are not followed.
const MOST_FACTORS: usize = 30;

/// What is known at a place.
#[derive(Clone, PartialEq)]
struct State {
    /// How many rounds there were, if it is one number.
    rounds: Option<i32>,
    values: BTreeMap<Name, Polynomial>,
    /// How many of the low bits are 0, of what was shifted.
    zeros: BTreeMap<Name, u128>,
}

/// The states in front of all blocks to which a way leads.
pub(super) struct Rounds<'a, 'b> {
    paths: &'a Paths<'b>,
    of_launch: &'a dyn Fn(&Name) -> bool,
    ends: BTreeSet<Position>,
    states: BTreeMap<usize, State>,
}

impl<'a, 'b> Rounds<'a, 'b> {
    /// Counts how often threads pass the `ends` of rounds.
    pub(super) fn of(
        paths: &'a Paths<'b>,
        of_launch: &'a dyn Fn(&Name) -> bool,
        ends: BTreeSet<Position>,
    ) -> Rounds<'a, 'b> {
        let start = State { rounds: Some(0), values: BTreeMap::new(), zeros: BTreeMap::new() };
        let mut this = Rounds { paths, of_launch, ends, states: BTreeMap::from([(0, start)]) };
        let mut pending = BTreeSet::from([0]);
        while let Some(block) = pending.pop_first() {
            let behind = this.state((block, usize::MAX));
            for &next in paths.successors(block) {
                let joined = match this.states.get(&next) {
                    None => behind.clone(),
                    Some(known) => known.join(&behind),
                };
                if this.states.get(&next) != Some(&joined) {
                    this.states.insert(next, joined);
                    pending.insert(next);
                }
            }
        }
        this
    }

    /// What an expression has at a place.
    pub(super) fn value(&self, e: &ExprRef, at: Position) -> Option<Polynomial> {
        self.state(at).value(e, self.of_launch)
    }

    /// The number of the round that a thread is in at a place, from 1.
    pub(super) fn number(&self, at: Position) -> Polynomial {
        let before = match self.state(at).rounds {
            Some(number) => Polynomial::number(number as u32),
            None => Polynomial::variable(&Name::from(ROUNDS)),
        };
        before.plus(&Polynomial::number(1), 1)
    }

    /// What is known in front of a statement, or behind all of a block.
    fn state(&self, at: Position) -> State {
        let mut state = match self.states.get(&at.0) {
            Some(state) => state.clone(),
            None => State { rounds: None, values: BTreeMap::new(), zeros: BTreeMap::new() },
        };
        for (index, stmt) in self.paths.block(at.0).iter().enumerate().take(at.1) {
            state.step(stmt, self.of_launch, self.ends.contains(&(at.0, index)));
        }
        state
    }
}

impl State {
    fn value(&self, e: &ExprRef, of_launch: &dyn Fn(&Name) -> bool) -> Option<Polynomial> {
        let value = |name: &Name| {
            if of_launch(name) { Some(Polynomial::variable(name)) } else { self.values.get(name).cloned() }
        };
        // Bits that are set where there are none are added.
        let added = bits(e, BvOp::Or).and_then(|(a, set)| match &a.kind {
            ExprKind::Var(name) if set < 1 << self.zeros.get(name)? => Some((a, Polynomial::number(set as u32))),
            _ => None,
        });
        let sum = match added {
            Some((a, set)) => Polynomial::of(a)?.plus(&set, 1),
            None => Polynomial::of(e)?,
        };
        sum.substitute(&value).filter(|value| value.is_small(MOST_FACTORS))
    }

    fn step(&mut self, stmt: &Stmt, of_launch: &dyn Fn(&Name) -> bool, is_end: bool) {
        let found: Vec<(Name, Option<Polynomial>)> = match &stmt.kind {
            StmtKind::Assign(pairs) => {
                pairs.iter().map(|(name, value)| (name.clone(), self.value(value, of_launch))).collect()
            }
            _ => assigned(stmt).into_iter().map(|name| (name.clone(), None)).collect(),
        };
        for (name, value) in found {
            self.zeros.remove(&name);
            match value {
                Some(value) => self.values.insert(name, value),
                None => self.values.remove(&name),
            };
        }
        if let StmtKind::Assign(pairs) = &stmt.kind {
            let shifted = pairs.iter().filter_map(|(name, value)| Some((name.clone(), bits(value, BvOp::Shl)?.1)));
            self.zeros.extend(shifted.filter(|(_, bits)| *bits < 32));
        }
        if is_end {
            self.rounds = self.rounds.and_then(|rounds| rounds.checked_add(1));
            let before = Polynomial::variable(&Name::from(ROUNDS)).plus(&Polynomial::number(1), -1);
            let values = std::mem::take(&mut self.values).into_iter();
            self.values = values.filter_map(|(name, value)| Some((name, value.at_round(&before)?))).collect();
        }
    }

    /// What holds in both.
    fn join(&self, other: &State) -> State {
        let rounds = self.rounds.filter(|_| self.rounds == other.rounds);
        let both = self.values.iter().filter_map(|(name, a)| {
            let b = other.values.get(name)?;
            let number = |rounds: i32| Polynomial::number(rounds as u32);
            let joined = match (self.rounds, other.rounds) {
                (Some(m), Some(n)) if m != n => {
                    let slope = b.plus(a, -1).divided(i128::from(n) - i128::from(m))?;
                    let since = Polynomial::variable(&Name::from(ROUNDS)).plus(&number(m), -1);
                    slope.times(&since).plus(a, 1)
                }
                (Some(m), None) if b.at_round(&number(m)).as_ref() == Some(a) => b.clone(),
                (None, Some(n)) if a.at_round(&number(n)).as_ref() == Some(b) => a.clone(),
                (Some(_), Some(_)) | (None, None) if a == b => a.clone(),
                _ => return None,
            };
            Some((name.clone(), joined))
        });
        let zeros = self.zeros.iter().filter(|(name, bits)| other.zeros.get(*name) == Some(bits));
        State { rounds, values: both.collect(), zeros: zeros.map(|(name, bits)| (name.clone(), *bits)).collect() }
    }
}

/// An operation of 32 bits on something and a literal.
fn bits(e: &ExprRef, op: BvOp) -> Option<(&ExprRef, u128)> {
    let ExprKind::Call(name, args) = &e.kind else { return None };
    match (parse_builtin(name.as_str()), &args[..]) {
        (Some(Builtin::Op(found, 32)), [a, b]) if found == op => match b.kind {
            ExprKind::Bv(bits) => Some((a, bits)),
            _ => None,
        },
        _ => None,
    }
}

impl Polynomial {
    /// With another number of rounds; `None` if that is not followed.
    fn at_round(&self, rounds: &Polynomial) -> Option<Polynomial> {
        let value =
            |name: &Name| Some(if name.as_str() == ROUNDS { rounds.clone() } else { Polynomial::variable(name) });
        self.substitute(&value)
    }
}
