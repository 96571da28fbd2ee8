//! Declarations that do not count: `{:ignore}`, and `{:extern}` beside another of the same name.
//!
//! Input: a program as written. Output: the same without them. Establishes: of declarations of one name of which some are
//! `{:extern}`, one is left unless others than these are two. Relies on: nothing.
//! Reference: Boogie 2.4, attributes of top-level declarations.

use super::ast::{Attribute, Name, Program};
use super::attributes::Attributes;
use std::collections::BTreeMap;

const IGNORE: &str = "ignore";
const EXTERN: &str = "extern";

/// Leaves them out.
pub fn run(program: &mut Program) {
    let Program { types, constants, functions, axioms, globals, arrays: _, procedures, implementations } = program;
    one_of_a_name(types, |d| (&d.name, &d.attributes));
    one_of_a_name(constants, |d| (&d.variable.name, &d.variable.attributes));
    one_of_a_name(functions, |d| (&d.name, &d.attributes));
    one_of_a_name(globals, |d| (&d.name, &d.attributes));
    one_of_a_name(procedures, |d| (&d.name, &d.attributes));
    axioms.retain(|axiom| !axiom.attributes.has(IGNORE));
    implementations.retain(|body| !body.attributes.has(IGNORE));
}

fn one_of_a_name<T>(declarations: &mut Vec<T>, parts: impl Fn(&T) -> (&Name, &Vec<Attribute>)) {
    declarations.retain(|declaration| !parts(declaration).1.has(IGNORE));
    let mut left: BTreeMap<Name, usize> = BTreeMap::new();
    for declaration in declarations.iter() {
        *left.entry(parts(declaration).0.clone()).or_default() += 1;
    }
    declarations.retain(|declaration| {
        let (name, attributes) = parts(declaration);
        match left.get_mut(name) {
            Some(count) if *count > 1 && attributes.has(EXTERN) => {
                *count -= 1;
                false
            }
            _ => true,
        }
    });
}
