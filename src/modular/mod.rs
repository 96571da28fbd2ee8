//! Procedures proved one by one, from their contracts: programs of the IVL that are no kernels.
//!
//! Input: a checked program. Output: for each procedure with a body a report. Establishes: `verified` only where every
//! assertion, invariant, precondition of a call and postcondition was proved. Relies on: nothing but the type checker.
//! Reference: Boogie 2, verification of procedures.
//!
//! [`inline`] puts `{:inline}` procedures in the place of their calls, [`existential`] chooses `{:existential}`
//! constants, [`verify`] proves one body and [`findings`] tells what failed.

mod concrete;
mod detour;
pub(crate) mod existential;
pub(crate) mod findings;
pub(crate) mod inline;
mod intervals;
mod search;
mod verified_under;
pub(crate) mod verify;

use crate::ivl::ast::{Implementation, Procedure, Program, SeparateImplementation};
use crate::ivl::attributes::Attributes;
use crate::vcgen::passify::Target;
use crate::vcgen::selective;

/// A body, and whose it is.
pub(crate) struct Body<'a> {
    /// The procedure, with the names that the body has for its parameters.
    pub(crate) target: Target<'a>,
    /// Locals and blocks.
    pub(crate) implementation: &'a Implementation,
}

/// The bodies of a procedure that are to be proved: not those that only stand for their calls.
pub(crate) fn bodies<'a>(program: &'a Program, procedure: &'a Procedure) -> Vec<Body<'a>> {
    let is_wanted = |separate: Option<&SeparateImplementation>| {
        let own = separate.and_then(|separate| separate.attributes.switch("verify"));
        let verify = own.or(procedure.attributes.switch("verify")).unwrap_or(true);
        verify && inline::depth(procedure, separate).is_none()
    };
    let own = procedure.body.iter().filter(|_| is_wanted(None));
    let own = own.map(|implementation| Body { target: Target::of(procedure), implementation });
    let separate = program
        .implementations
        .iter()
        .filter(|separate| separate.procedure == procedure.name && is_wanted(Some(separate)));
    let separate = separate.map(|separate| Body {
        target: Target {
            procedure,
            params: &separate.params,
            results: &separate.results,
            is_selective: [&procedure.attributes, &separate.attributes].into_iter().any(|a| selective::is_asked_for(a)),
        },
        implementation: &separate.body,
    });
    own.chain(separate).collect()
}
