//! Functions with bodies that are not expanded where they are used.
//!
//! Input: a program. Output: the functions that an axiom tells. Establishes: what is left to expand does not need
//! itself, and no trigger names it. Relies on: names resolve. Reference: Boogie 2, functions with bodies are axioms
//! with the application as trigger; `{:inline}` ones are abbreviations.

use crate::ivl::ast::{ExprKind, ExprRef, Function, Name, Program};
use crate::ivl::attributes::Attributes;
use crate::ivl::visit::{self, Visitor};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that need themselves, and those under a quantifier: solvers instantiate it by such terms.
pub(crate) fn by_axiom(program: &Program) -> BTreeSet<Name> {
    let defined: BTreeMap<&Name, &Function> =
        program.functions.iter().filter(|f| f.body.is_some()).map(|f| (&f.name, f)).collect();
    if defined.is_empty() {
        return BTreeSet::new();
    }
    let mut quantified = Quantified { inside: 0, found: BTreeSet::new() };
    visit::walk_program(&mut quantified, program);
    let is_abbreviation = |f: &Function| f.attributes.is_on("inline");
    let told = |f: &&&Function| quantified.found.contains(&f.name) && !is_abbreviation(f) || needs_itself(f, &defined);
    defined.values().filter(told).map(|f| f.name.clone()).collect()
}

/// Functions called below quantifiers.
struct Quantified {
    inside: usize,
    found: BTreeSet<Name>,
}

impl Visitor for Quantified {
    fn expr(&mut self, e: &ExprRef) {
        let is_quantifier = matches!(e.kind, ExprKind::Quantifier { .. });
        if let ExprKind::Call(name, _) = &e.kind
            && self.inside > 0
        {
            self.found.insert(name.clone());
        }
        self.inside += usize::from(is_quantifier);
        visit::walk_expr(self, e);
        self.inside -= usize::from(is_quantifier);
    }
}

struct Called(BTreeSet<Name>);

impl Visitor for Called {
    fn expr(&mut self, e: &ExprRef) {
        if let ExprKind::Call(name, _) = &e.kind {
            self.0.insert(name.clone());
        }
        visit::walk_expr(self, e);
    }
}

/// Whether the body of a function calls it, through others too.
fn needs_itself(function: &Function, defined: &BTreeMap<&Name, &Function>) -> bool {
    let mut reached = BTreeSet::new();
    let mut open = vec![function];
    while let Some(next) = open.pop() {
        let mut called = Called(BTreeSet::new());
        next.body.iter().for_each(|body| called.expr(body));
        for name in called.0 {
            if name == function.name {
                return true;
            }
            if let Some(&callee) = defined.get(&name)
                && reached.insert(name)
            {
                open.push(callee);
            }
        }
    }
    false
}
