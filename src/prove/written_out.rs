//! A proof with all loops written out, for loops that end after a few rounds in every execution.
//!
//! Input: a two-thread program. Output: whether all its assertions are proved. Establishes: they are proved only where the solver
//! proved those of the program with so many rounds of each loop ([`super::rounds`]), and that nobody has more of them.
//! Relies on: an assertion that is no race may be relied on behind it, as it is proved like all others. Reference: Biere et
//! al., bounded model checking.
//!
//! Where launch and scalars are known, loops over tiles, and what is left of long ones for each thread, have few rounds.
//! Their bounds and places are constants then, round by round, and no invariant is needed.

use super::{assertions, may_rely_on, rounds};
use crate::diagnostic::Diagnostic;
use crate::effort::{Budget, Effort};
use crate::infer::passive_of;
use crate::ivl::ast::{Name, Procedure, Program, StmtKind};
use crate::ivl::claim::Probe;
use crate::query::{self, From, Query, Reply};
use crate::solver::{Encoding, in_own_context};
use crate::twothread::TwoThread;
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{Symbol, Term};
use foldhash::HashSet;
use std::collections::BTreeSet;

/// Rounds of each loop at first; doubled where they are too few.
const FIRST: u32 = 2;
/// Most rounds of a loop.
const MOST_ROUNDS: u32 = 64;
/// Statements of a program that is still looked at.
const MOST_STATEMENTS: usize = 60_000;
/// What all of it may cost.
const ALL: Effort = Effort::seconds(15);
/// A query about the number of rounds.
const ROUNDS: Effort = Effort::milliseconds(400);
/// A query about some assertions, and how many.
const SOME: Effort = Effort::milliseconds(500);
const PART: usize = 32;
/// How often a part of a program with more assertions is divided.
const MOST_DIVISIONS: usize = 4;

/// Tries all assertions.
///
/// # Errors
/// What `vcgen` cannot translate.
pub(super) fn proves(two: &TwoThread, budget: Budget) -> Result<bool, Diagnostic> {
    if two.loops.is_empty() || assumes(&two.program) {
        return Ok(false);
    }
    in_own_context(|| attempt(two, budget.part(ALL)))
}

/// Whether something is assumed that the user says: whether it can hold is asked of the program with its loops.
fn assumes(program: &Program) -> bool {
    let stmts = |procedure: &Procedure| -> bool {
        let stmts = procedure.body.iter().flat_map(|body| &body.blocks).flat_map(|block| &block.stmts);
        stmts.into_iter().any(|stmt| matches!(&stmt.kind, StmtKind::Assume(premise, _) if premise.is_of_user()))
    };
    program.procedures.iter().any(stmts)
}

fn attempt(two: &TwoThread, budget: Budget) -> Result<bool, Diagnostic> {
    let mut rounds = vec![FIRST; two.loops.len()];
    loop {
        let Some(program) = rounds::run(two, &rounds, MOST_STATEMENTS) else { return Ok(false) };
        let registers = registers(&program, &two.procedure);
        let mut passive = passive_of(&program, &two.procedure)?;
        let Some(longer) = longer(&mut passive, &registers, budget) else { return Ok(false) };
        log::debug!("written out: rounds {rounds:?}, more of {longer:?}");
        if longer.is_empty() {
            return Ok(all_hold(&mut passive, budget));
        }
        for number in longer {
            rounds[number] *= 2;
            if rounds[number] > MOST_ROUNDS {
                return Ok(false);
            }
        }
    }
}

/// The names of what the body declares for one of the threads: their symbols are the values at the start.
fn registers(program: &Program, procedure: &Name) -> BTreeSet<String> {
    let bodies = program.procedures.iter().filter(|p| p.name == *procedure).flat_map(|p| &p.body);
    let names = bodies.flat_map(|body| &body.locals).map(|local| &local.name);
    names.filter(|name| name.thread().is_some()).map(Name::to_string).collect()
}

/// The loops of which a thread may have more rounds; `None` where the solver does not say.
fn longer(passive: &mut Passive, registers: &BTreeSet<String>, budget: Budget) -> Option<BTreeSet<usize>> {
    let number = |passive: &Passive, check: usize| match passive.checks[check].claim.probe() {
        Some((Probe::Rounds, number)) => Some(number),
        _ => None,
    };
    let mut longer = BTreeSet::new();
    let mut open: BTreeSet<usize> = BTreeSet::new();
    for check in 0..passive.checks.len() {
        let Some(of_loop) = number(passive, check) else { continue };
        match passive.terms.truth(passive.checks[check].term) {
            Some(true) => {}
            Some(false) => longer.extend([of_loop]),
            None if depends_on_ids(passive, registers, passive.checks[check].term) => open.extend([check]),
            None => {
                log::debug!("written out: rounds of loop {of_loop} depend on what is not known");
                return None;
            }
        }
    }
    loop {
        open.retain(|&check| number(passive, check).is_some_and(|of_loop| !longer.contains(&of_loop)));
        if open.is_empty() {
            return Some(longer);
        }
        match ask(passive, &open, Encoding::BitVectors, ROUNDS, budget) {
            Reply::Proved => return Some(longer),
            Reply::Refuted(model) if !model.failing.is_empty() => {
                longer.extend(model.failing.into_iter().filter_map(|check| number(passive, check)));
            }
            _ => {
                log::debug!("written out: no answer about rounds");
                return None;
            }
        }
    }
}

/// Whether a term is about nothing but ids of threads, of which a bound is known, and what registers hold before they are
/// assigned: what the host or memory says may give any number of rounds. A register that is assigned under a guard keeps
/// what it held where the guard does not hold; nobody reads that, as a rule. Where somebody does, the solver refutes the
/// bound: this only tells whether it is worth asking.
fn depends_on_ids(passive: &Passive, registers: &BTreeSet<String>, term: Term) -> bool {
    let mut symbols = BTreeSet::new();
    passive.terms.collect_symbols(term, &mut HashSet::default(), &mut symbols);
    let is_known = |symbol: &Symbol| symbol.range.is_some() || registers.contains(symbol.name.as_str());
    symbols.into_iter().all(|symbol| passive.terms.symbol_of(symbol).is_some_and(is_known))
}

/// Whether all assertions are proved, some at a time, in the encoding that answered last or the other. Where a part has no
/// answer its quarters are asked for; where that happens often in a large program, invariants are the better way.
fn all_hold(passive: &mut Passive, budget: Budget) -> bool {
    // That no loop has more rounds is proved already.
    let is_open = |check: &usize| {
        let check = &passive.checks[*check];
        check.claim.probe().is_none() && passive.terms.truth(check.term) != Some(true)
    };
    let open: Vec<usize> = assertions(passive).into_iter().filter(is_open).collect();
    log::debug!("written out: {} assertions", open.len());
    let mut divisions = if open.len() > PART { MOST_DIVISIONS } else { usize::MAX };
    let in_parts = |checks: &[usize], size: usize| -> Vec<BTreeSet<usize>> {
        checks.chunks(size).rev().map(|part| part.iter().copied().collect()).collect()
    };
    let mut parts = in_parts(&open, PART);
    let mut encodings = [Encoding::BitVectors, Encoding::Integers];
    while let Some(part) = parts.pop() {
        let mut is_proved = false;
        for tried in 0..encodings.len() {
            match ask(passive, &part, encodings[tried], SOME, budget) {
                Reply::Proved => is_proved = true,
                Reply::Refuted(_) if encodings[tried] == Encoding::BitVectors => return false,
                Reply::Refuted(_) | Reply::Unknown(_) => continue,
            }
            encodings[..=tried].rotate_right(1);
            break;
        }
        if !is_proved {
            if part.len() == 1 || divisions == 0 || budget.is_over() {
                return false;
            }
            divisions -= 1;
            let part: Vec<usize> = part.into_iter().collect();
            parts.extend(in_parts(&part, part.len().div_ceil(4)));
        }
    }
    true
}

/// Asks for checks from the start.
pub(super) fn ask(
    passive: &mut Passive,
    goal: &BTreeSet<usize>,
    encoding: Encoding,
    most: Effort,
    budget: Budget,
) -> Reply {
    let rely = passive.checks.iter().map(may_rely_on).collect();
    let (from, keep) = (From::Start, Vec::new());
    let mut query =
        Query { program: passive, from, goal, keep, rely, except: &[], reads: &query::nothing, encoding, most };
    query.ask(budget)
}
