//! Houdini over the constants that a program marks `{:existential true}`.
//!
//! Input: a program whose contracts and invariants have conditions `b ==> e` on such constants. Output: the same with
//! their values. Establishes: the values are the greatest that no condition refutes: each constant that is true names
//! conditions which all bodies prove together. A condition without an answer is dropped.
//! Relies on: nothing: the program with the values is proved again. Reference: Flanagan and Leino, Houdini.

use super::{Body, bodies, search, verify};
use crate::diagnostic::Diagnostic;
use crate::effort::{Budget, Effort};
use crate::ivl::ast::{Condition, ExprRef, Implementation, Name, Program};
use crate::ivl::{bv, visit};
use crate::solver::exact::{self, End, Next};
use crate::vcgen::contracts::is_existential;
use crate::vcgen::passive::Passive;
use crate::vcgen::term::{Sort, Term};
use crate::vcgen::wp::{self, Role};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The chosen values.
pub(crate) type Choice = BTreeMap<Name, bool>;

/// Chooses.
///
/// # Errors
/// What no condition can be generated for.
pub(crate) fn choose(program: &Program, budget: Budget) -> Result<Choice, Diagnostic> {
    let constants = program.constants.iter().map(|c| &c.variable).filter(|variable| is_existential(variable));
    let mut choice: Choice = constants.map(|variable| (variable.name.clone(), true)).collect();
    if choice.is_empty() {
        return Ok(choice);
    }
    let all: Vec<Body> = program.procedures.iter().flat_map(|procedure| bodies(program, procedure)).collect();
    let mut passives = Vec::new();
    for body in &all {
        passives.push(verify::passive(program, body, true)?);
    }
    let mut open: VecDeque<usize> = (0..passives.len()).collect();
    while let Some(number) = open.pop_front() {
        let dropped = refuted(&mut passives[number], &choice, budget);
        if dropped.is_empty() {
            continue;
        }
        for name in &dropped {
            choice.insert(name.clone(), false);
        }
        // Whoever relied on them: a body tells what it relies on by the symbols of its assumptions.
        for (other, passive) in passives.iter().enumerate() {
            let relies = passive.constants.iter().any(|(name, _)| dropped.contains(name));
            if relies && !open.contains(&other) {
                open.push_back(other);
            }
        }
    }
    Ok(choice)
}

/// The constants whose conditions fail in a body under the choice so far; where there is no answer, all that it checks.
fn refuted(passive: &mut Passive, choice: &Choice, budget: Budget) -> BTreeSet<Name> {
    let (goal, labels) = wp::labelled(passive, &|_| Role::Prove);
    let mut symbols: BTreeMap<&Name, Term> = BTreeMap::new();
    let mut assumed = Vec::new();
    for (name, &value) in choice {
        let symbol = passive.terms.symbol(name.as_str(), Sort::Bool, None);
        symbols.insert(name, symbol);
        assumed.push(if value { symbol } else { passive.terms.not(symbol) });
    }
    let passes: Vec<Term> = labels.fails.iter().map(|&fails| passive.terms.not(fails)).collect();
    let mut terms = std::mem::take(&mut passive.terms);
    let mut dropped = BTreeSet::new();
    let end = exact::search(&mut terms, goal, &assumed, budget.most(Effort::ALL), &mut |model| {
        let found = model.and_then(|(model, _)| search::failing(passive, &labels, model));
        let Some((number, _)) = found else { return Next::Stop };
        // No condition of a candidate: an error, which is reported later, whatever is chosen.
        let Some(guard) = passive.checks[number].guards.first() else { return Next::Assume(vec![passes[number]]) };
        dropped.insert(guard.clone());
        let of_guard = (0..passes.len()).filter(|&other| passive.checks[other].guards.contains(guard));
        Next::Assume(of_guard.map(|other| passes[other]).collect())
    });
    passive.terms = terms;
    if let End::Unknown(_) = end {
        let checked = passive.checks.iter().flat_map(|check| &check.guards);
        dropped.extend(checked.filter(|guard| choice.get(*guard) == Some(&true)).cloned());
    }
    dropped
}

/// The program with the chosen values in the place of the constants.
pub(crate) fn apply(program: &Program, choice: &Choice) -> Program {
    let map: BTreeMap<Name, ExprRef> = choice.iter().map(|(name, value)| (name.clone(), bv::boolean(*value))).collect();
    let expr = |e: &ExprRef| visit::substitute(e, &map);
    let mut program = program.clone();
    let conditions = |list: &mut Vec<Condition>| list.iter_mut().for_each(|c| c.expr = expr(&c.expr));
    conditions(&mut program.axioms);
    for function in &mut program.functions {
        function.body = function.body.as_ref().map(expr);
    }
    let body = |body: &mut Implementation| {
        for stmt in body.blocks.iter_mut().flat_map(|block| &mut block.stmts) {
            *stmt = visit::map_stmt(stmt, &mut |e| expr(e));
        }
    };
    for procedure in &mut program.procedures {
        conditions(&mut procedure.requires);
        conditions(&mut procedure.ensures);
        procedure.body.as_mut().into_iter().for_each(body);
    }
    program.implementations.iter_mut().for_each(|separate| body(&mut separate.body));
    program.constants.retain(|constant| !choice.contains_key(&constant.variable.name));
    program
}
