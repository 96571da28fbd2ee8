//! `modifies` clauses that a program leaves out.
//!
//! Input: a program with flat bodies, names as written. Output: the same, where each procedure with a body lists all
//! global variables that its bodies change, by themselves or through what they call; and what was added. Establishes: the
//! sets are the least that hold what is declared and what is changed. A procedure without a body changes what it declares.
//! Relies on: flat bodies ([`super::desugar`]); names need not resolve, for the checker comes later.
//! Reference: Boogie 2, `modifies`; Boogie's option `/doModSetAnalysis`.

use super::ast::*;
use super::visit;
use std::collections::{BTreeMap, BTreeSet};

/// What was added to each procedure, in the order of the declarations of the variables.
pub(crate) type Inferred = BTreeMap<Name, Vec<Name>>;

/// Completes the clauses.
pub(crate) fn infer(program: &mut Program) -> Inferred {
    let globals: Vec<Name> = program.globals.iter().map(|global| global.name.clone()).collect();
    let known: BTreeSet<&Name> = globals.iter().collect();
    let mut changed: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    let mut calls: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    for procedure in &program.procedures {
        let own = changed.entry(procedure.name.clone()).or_default();
        own.extend(procedure.modifies.iter().cloned());
    }
    for (name, formals, body) in bodies(program) {
        let locals: BTreeSet<&Name> = formals.chain(&body.locals).map(|variable| &variable.name).collect();
        let own = changed.entry(name.clone()).or_default();
        for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
            let assigned = visit::assigned(stmt).into_iter();
            own.extend(assigned.filter(|name| known.contains(name) && !locals.contains(name)).cloned());
            if let StmtKind::Call { procedure, .. } = &stmt.kind {
                calls.entry(name.clone()).or_default().insert(procedure.clone());
            }
        }
    }
    close(&mut changed, &calls);
    let with_body: BTreeSet<Name> = bodies(program).map(|(name, ..)| name.clone()).collect();
    let mut inferred = Inferred::new();
    for procedure in program.procedures.iter_mut().filter(|procedure| with_body.contains(&procedure.name)) {
        let Some(own) = changed.get(&procedure.name) else { continue };
        let missing = globals.iter().filter(|global| own.contains(*global) && !procedure.modifies.contains(global));
        let missing: Vec<Name> = missing.cloned().collect();
        if !missing.is_empty() {
            procedure.modifies.extend(missing.iter().cloned());
            inferred.insert(procedure.name.clone(), missing);
        }
    }
    inferred
}

/// Every body with the name of its procedure and its parameters and results.
fn bodies(program: &Program) -> impl Iterator<Item = (&Name, impl Iterator<Item = &Variable>, &Implementation)> {
    let own = program.procedures.iter().filter_map(|p| Some((&p.name, &p.params, &p.results, p.body.as_ref()?)));
    let separate = program.implementations.iter().map(|i| (&i.procedure, &i.params, &i.results, &i.body));
    own.chain(separate).map(|(name, params, results, body)| (name, params.iter().chain(results), body))
}

/// Adds what callees change, until nothing is new.
fn close(changed: &mut BTreeMap<Name, BTreeSet<Name>>, calls: &BTreeMap<Name, BTreeSet<Name>>) {
    let mut callers: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
    for (caller, callees) in calls {
        callees.iter().for_each(|callee| callers.entry(callee).or_default().push(caller));
    }
    let mut open: Vec<Name> = changed.keys().cloned().collect();
    while let Some(callee) = open.pop() {
        let Some(of_callee) = changed.get(&callee).cloned() else { continue };
        for &caller in callers.get(&callee).into_iter().flatten() {
            let own = changed.entry(caller.clone()).or_default();
            let before = own.len();
            own.extend(of_callee.iter().cloned());
            if own.len() > before {
                open.push(caller.clone());
            }
        }
    }
}
