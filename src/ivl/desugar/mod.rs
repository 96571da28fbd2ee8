//! From the surface syntax to blocks.
//!
//! Input: declarations as parsed. Output: a [`Program`] whose expressions still carry placeholder
//! types and whose accesses have width 0 where none was written.
//! Establishes: only labelled blocks; every goto has its target; accesses of declared arrays are
//! loads, stores and atomics. Relies on: the grammar.
//! Reference: Boogie 2 (`if`, `while`, map assignment); lock-step paper, section 3.1.
//!
//! ```text
//! while (c) invariant I; { S }      goto loop1;
//!                                   loop1: assert {:invariant} I; goto loop1_body, loop1_exit;
//!                                   loop1_body: assume c; S; goto loop1;
//!                                   loop1_exit: assume !c; ...
//!                                   (break: goto loop1_done, behind the assumption)
//! A[i] := A[j] + 1bv32;             load1 := A[j]; A[i] := load1 + 1bv32;
//! m[i] := v;                        m := m[i := v];
//! ```
//!
//! Expressions have no order of evaluation, so every load in one takes place, also in the branch of an
//! `if then else` that is not chosen.

mod accesses;
mod flatten;

use super::ast::*;
use super::surface::*;
use crate::diagnostic::Diagnostic;
use flatten::Flattener;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes an element has, for each array.
type Arrays = BTreeMap<Name, u32>;

/// What comes of the declarations.
#[derive(Debug, Default)]
pub(super) struct Desugared {
    /// The program; parts with errors are left out of it.
    pub(crate) program: Program,
    /// Other names for types.
    pub(crate) synonyms: Vec<Synonym>,
    /// What is wrong, in the order of places.
    pub(crate) errors: Vec<Diagnostic>,
}

/// Collects the declarations and flattens procedure bodies.
pub(super) fn run(declarations: Vec<Declaration>) -> Desugared {
    let mut program = Program::default();
    let mut synonyms = Vec::new();
    let mut bodies = Vec::new();
    let mut separate_bodies = Vec::new();
    for declaration in declarations {
        match declaration {
            Declaration::Types(types) => {
                for declared in types {
                    match declared {
                        DeclaredType::Constructor(constructor) => program.types.push(constructor),
                        DeclaredType::Synonym(synonym) => synonyms.push(synonym),
                    }
                }
            }
            Declaration::Constants(constants) => program.constants.extend(constants),
            Declaration::Function(function) => program.functions.push(function),
            Declaration::Axiom(axiom) => program.axioms.push(axiom),
            Declaration::Globals(variables) => program.globals.extend(variables),
            Declaration::Array(array) => program.arrays.push(array),
            Declaration::Procedure(procedure, body) => {
                program.procedures.push(procedure);
                bodies.push(body);
            }
            Declaration::Implementation(implementation, body) => {
                program.implementations.push(implementation);
                separate_bodies.push(body);
            }
        }
    }
    let scope = TopLevel::of(&program);
    let mut errors = Vec::new();
    for (procedure, body) in program.procedures.iter_mut().zip(bodies) {
        let Some(body) = body else { continue };
        let formals = [&procedure.params[..], &procedure.results];
        procedure.body = Some(scope.flatten(&formals, body, &mut errors));
    }
    for (implementation, body) in program.implementations.iter_mut().zip(separate_bodies) {
        let formals = [&implementation.params[..], &implementation.results];
        implementation.body = scope.flatten(&formals, body, &mut errors);
    }
    errors.sort_by_key(|e: &Diagnostic| e.labels.first().map(|(span, _)| *span));
    Desugared { program, synonyms, errors }
}

/// What bodies see.
struct TopLevel {
    arrays: Arrays,
    names: BTreeSet<Name>,
}

impl TopLevel {
    fn of(program: &Program) -> TopLevel {
        let names = (program.constants.iter().map(|c| &c.variable.name))
            .chain(program.globals.iter().map(|v| &v.name))
            .chain(program.arrays.iter().map(|a| &a.name));
        let names = names.cloned().collect();
        TopLevel { arrays: program.arrays.iter().map(|a| (a.name.clone(), a.element_bytes)).collect(), names }
    }

    fn flatten(&self, formals: &[&[Variable]], body: Body, errors: &mut Vec<Diagnostic>) -> Implementation {
        let mut names = self.names.clone();
        let mut arrays = self.arrays.clone();
        for variable in formals.iter().copied().flatten().chain(&body.locals) {
            names.insert(variable.name.clone());
            // What hides an array is none.
            arrays.remove(&variable.name);
        }
        let mut flattener = Flattener::new(&arrays, names, &body);
        let implementation = flattener.body(body);
        errors.append(&mut flattener.errors);
        implementation
    }
}
