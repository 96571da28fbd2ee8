//! Declarations that do not count: `{:ignore}`, and `{:extern}` beside another of the same name.
//!
//! Input: a program as written. Output: the same without them. Establishes: of declarations of one name of which some are
//! `{:extern}`, one is left unless others than these are two; no axiom and no body is `{:ignore}`. The body of a procedure
//! that gives way is an implementation of the one that stays. Relies on: nothing.
//! Reference: Boogie 2.4, attributes of top-level declarations: types have names of their own, so have variables and
//! constants, and so have functions and procedures.

use super::ast::{Attribute, Name, Procedure, Program, SeparateImplementation};
use super::attributes::Attributes;
use super::surface::Synonym;
use crate::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Leaves them out.
pub(crate) fn run(program: &mut Program, synonyms: &mut Vec<Synonym>) {
    let Program { types, constants, functions, axioms, globals, arrays: _, procedures, implementations } = program;
    let mut names = Rivals::default();
    types.iter().for_each(|d| names.add(&d.name, &d.attributes, d.span));
    synonyms.iter().for_each(|d| names.add(&d.name, &d.attributes, d.span));
    let lost = names.lost();
    types.retain(|d| !lost.contains(&d.span));
    synonyms.retain(|d| !lost.contains(&d.span));
    let mut names = Rivals::default();
    constants.iter().for_each(|d| names.add(&d.variable.name, &d.variable.attributes, d.variable.span));
    globals.iter().for_each(|d| names.add(&d.name, &d.attributes, d.span));
    let lost = names.lost();
    constants.retain(|d| !lost.contains(&d.variable.span));
    globals.retain(|d| !lost.contains(&d.span));
    let mut names = Rivals::default();
    functions.iter().for_each(|d| names.add(&d.name, &d.attributes, d.span));
    procedures.iter().for_each(|d| names.add(&d.name, &d.attributes, d.span));
    let lost = names.lost();
    functions.retain(|d| !lost.contains(&d.span));
    axioms.retain(|axiom| !axiom.attributes.is_on(IGNORE));
    procedures.iter_mut().filter(|d| d.attributes.is_on(IGNORE)).for_each(|d| d.body = None);
    implementations.retain(|body| !body.attributes.is_on(IGNORE));
    let (gone, left) = std::mem::take(procedures).into_iter().partition(|d| lost.contains(&d.span));
    *procedures = left;
    let gone: Vec<Procedure> = gone;
    implementations.extend(gone.into_iter().filter_map(own_body));
}

const IGNORE: &str = "ignore";
const EXTERN: &str = "extern";

/// The body of a procedure, as it would stand apart.
fn own_body(procedure: Procedure) -> Option<SeparateImplementation> {
    let Procedure { name, mut params, mut results, body, attributes, span, .. } = procedure;
    for formal in params.iter_mut().chain(&mut results) {
        formal.where_clause = None;
        formal.attributes.clear();
    }
    Some(SeparateImplementation { procedure: name, params, results, body: body?, attributes, span })
}

/// Declarations by name, with the places of those that are `{:extern}` and of the others.
#[derive(Default)]
struct Rivals(BTreeMap<Name, (Vec<Span>, Vec<Span>)>);

impl Rivals {
    fn add(&mut self, name: &Name, attributes: &[Attribute], span: Span) {
        let (external, others) = self.0.entry(name.clone()).or_default();
        if attributes.is_on(EXTERN) { external.push(span) } else { others.push(span) }
    }

    /// Those that give way: to one that is not `{:extern}`, or to the first.
    fn lost(self) -> BTreeSet<Span> {
        let lost = self.0.into_values().flat_map(|(mut external, others)| {
            external.sort();
            external.into_iter().skip(usize::from(others.is_empty()))
        });
        lost.collect()
    }
}
