//! Litmus tests: small programs of several threads, and whether a state can be reached.
//!
//! [`fn@judge`] is the whole way: text, tree ([`mod@parse`], `grammar/litmus.lalrpop`), names ([`test`], [`instruction`]), loops as copies
//! ([`mod@unroll`]), events with conditions ([`mod@unfold`]), candidate executions ([`execution`]), what the model says of them
//! ([`cat`], [`relation`]; `prelude/ptx.cat` is the model of the PTX ISA), and the answer ([`mod@decide`], [`draw`]).
//! It shares nothing with the verifier of kernels but terms and the solver, so that each may judge the other.

mod ast;
pub mod cat;
mod decide;
mod draw;
mod event;
mod execution;
mod instruction;
mod parse;
mod relation;
mod test;
mod token;
mod unfold;
mod unroll;

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, missing_docs, unreachable_pub, unused)]
    #[rustfmt::skip]
    grammar,
    "/litmus.rs"
);
lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, missing_docs, unreachable_pub, unused)]
    #[rustfmt::skip]
    grammar_cat,
    "/cat.rs"
);

pub use decide::{Answer, Decision, Limits, Trouble};

use crate::diagnostic::Diagnostic;
use cat::Model;

/// A test that was read.
pub struct Read(test::Litmus);

/// Reads a test.
///
/// # Errors
/// What is wrong, each at its place.
pub fn read(text: &str) -> Result<Read, Vec<Diagnostic>> {
    let (name, tree) = parse::parse(text).map_err(|error| vec![error])?;
    test::resolve(name, tree).map(Read)
}

/// Decides a test under a model.
///
/// # Errors
/// The test is too large, or the model has no meaning.
pub fn judge(test: &Read, model: &Model, limits: Limits) -> Result<Answer, Trouble> {
    decide::decide(&test.0, model, limits)
}

impl Answer {
    /// Its name in the test.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `NAME: allowed, race-free`
    pub fn line(&self) -> String {
        format!("{}: {}, {}", self.name, self.outcome(), word(&self.racy, "racy", "race-free"))
    }

    /// `allowed`, `forbidden` or `unknown`.
    pub fn outcome(&self) -> &'static str {
        word(&self.allowed, "allowed", "forbidden")
    }

    /// Whether there are races; `None` where that was not decided.
    pub fn racy(&self) -> Option<bool> {
        match self.racy {
            Decision::Yes => Some(true),
            Decision::No => Some(false),
            Decision::Unknown(_) => None,
        }
    }

    /// Whether what the question claims holds.
    pub fn holds(&self) -> Option<bool> {
        let claims_reachable = self.quantifier == ast::Quantifier::Exists;
        match self.allowed {
            Decision::Yes => Some(claims_reachable),
            Decision::No => Some(!claims_reachable),
            Decision::Unknown(_) => None,
        }
    }

    /// Why something was not decided.
    pub fn reasons(&self) -> Vec<String> {
        let reason =
            |decision: &'_ Decision| if let Decision::Unknown(why) = decision { Some(why.clone()) } else { None };
        let mut reasons: Vec<String> = [&self.allowed, &self.racy].into_iter().filter_map(reason).collect();
        reasons.dedup();
        reasons
    }

    /// Other flags of the model that an execution raises.
    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    /// The execution that was asked for, for Graphviz.
    pub fn picture(&self, text: &str) -> Option<String> {
        self.drawing.as_ref().map(|drawing| drawing.print(text))
    }
}

fn word(decision: &Decision, yes: &'static str, no: &'static str) -> &'static str {
    match decision {
        Decision::Yes => yes,
        Decision::No => no,
        Decision::Unknown(_) => "unknown",
    }
}
