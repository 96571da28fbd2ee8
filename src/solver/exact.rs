//! Validity with all that Boogie has, and one failing assertion after another.
//!
//! Input: a formula with labels ([`crate::vcgen::wp::labelled`]). Output: whether it is valid, and for each model what the
//! caller reads from it. Establishes: `Proved` only after `unsat`. Maps are not extensional and quantifiers are
//! instantiated by triggers only, as Boogie has it: a model where quantifiers occur is a guess.
//! Reference: Boogie 2, maps; Detlefs, Nelson, Saxe (Simplify), triggers and labels.

use super::meter::{Limit, Rate};
use super::z3_backend::{Emitter, LINEAR_SOLVER, read_value, smt_solver};
use super::{Encoding, SPENT, Value, context, encode, smtlib};
use crate::effort::Effort;
use crate::vcgen::term::{Node, Term, Terms, signed};
use crate::{limits, stats};
use std::fmt;
use z3::ast::Bool;
use z3::{Model, SatResult, Solver};

/// What a term is in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A bit-vector.
    Bits {
        /// Its unsigned value.
        value: u128,
        /// Its width in bits.
        width: u32,
    },
    /// A value of another sort, as the solver writes it.
    Text(String),
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Bool(value) => write!(f, "{value}"),
            Shown::Int(value) => write!(f, "{value}"),
            Shown::Bits { value, width } => write!(f, "{} ({value:#x})", signed(*value, *width)),
            Shown::Text(text) => f.write_str(text),
        }
    }
}

/// A model that may be asked for values.
pub(crate) trait Values {
    /// The value of a term; `None` where the model has none.
    fn value(&mut self, t: Term) -> Option<Shown>;
    /// Whether a Boolean term is true.
    fn holds(&mut self, t: Term) -> bool {
        self.value(t) == Some(Shown::Bool(true))
    }
}

struct OfModel<'m, 'e, 't> {
    model: &'m Model,
    emitter: &'e mut Emitter<'t>,
}

impl Values for OfModel<'_, '_, '_> {
    fn value(&mut self, t: Term) -> Option<Shown> {
        let value = self.model.eval(&self.emitter.emit(t), true)?;
        Some(match read_value(&value) {
            Some(Value::Bool(value)) => Shown::Bool(value),
            Some(Value::Int(value)) => Shown::Int(value),
            Some(Value::Bits(value)) => Shown::Bits { value, width: self.emitter.terms.width(t) },
            None => Shown::Text(value.to_string()),
        })
    }
}

/// What a search does behind a model.
pub(crate) enum Next {
    /// Goes on under these from then on.
    Assume(Vec<Term>),
    /// Looks for another model, only this once under these literals.
    Under(Vec<Term>),
    /// Ends.
    Stop,
}

/// Reads a model, with whether it is certain; `None` where there is no other one ([`Next::Under`]).
pub(crate) type Reader<'a> = dyn FnMut(Option<(&mut dyn Values, bool)>) -> Next + Send + Sync + 'a;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// What is left is valid.
    Proved,
    /// The caller had enough.
    Stopped,
    /// A limit, with Z3's reason.
    Unknown(String),
}

/// Looks for models of the negation of `goal`. The caller reads each, with whether it is certain, and says how to go on.
pub(crate) fn search(terms: &mut Terms, goal: Term, assumed: &[Term], effort: Effort, read: &mut Reader) -> End {
    match terms.truth(goal) {
        Some(true) => return End::Proved,
        _ if effort.is_none() => return End::Unknown(SPENT.into()),
        _ => {}
    }
    stats::count_query();
    let _stage = limits::stage("solver");
    let Some(encoded) = encode(terms, Encoding::Exact, goal, &[]) else {
        panic!("solver: the exact encoding has all terms");
    };
    let roots: Vec<Term> = encoded.assertions.iter().chain(assumed).copied().collect();
    let terms: &Terms = terms;
    log::trace!("{}", smtlib::script(terms, Encoding::Exact, &encoded, "exact"));
    let updated = terms.updated_maps(&roots);
    let is_quantifier = |t: Term| matches!(terms.node(t), Node::Quantifier(_));
    let has_quantifiers =
        !updated.is_empty() || roots.iter().any(|&t| terms.postorder(t, &|_| false).into_iter().any(is_quantifier));
    let task = || {
        let mut emitter = Emitter::new(terms, false);
        let limit = Limit { effort, rate: Rate::of(Encoding::Exact) };
        let solver = solver(has_quantifiers, encoded.has_products(), limit);
        emitter.map_axioms(&updated).iter().for_each(|axiom| solver.assert(axiom));
        roots.iter().for_each(|&t| solver.assert(emitter.boolean(t)));
        let mut under: Vec<Bool> = Vec::new();
        loop {
            let ask =
                |solver: &Solver| if under.is_empty() { solver.check() } else { solver.check_assumptions(&under) };
            let result = limit.charged(&solver, ask);
            let (certain, why) = match result {
                SatResult::Unsat if under.is_empty() => return End::Proved,
                SatResult::Unsat => (false, "none under assumptions".to_string()),
                SatResult::Sat => (!has_quantifiers, String::new()),
                SatResult::Unknown => (false, solver.get_reason_unknown().unwrap_or_default()),
            };
            log::debug!("exact: {}", if why.is_empty() { "a model" } else { &why });
            // Where triggers did not prove it, the search ends in a candidate for a model, which is the answer.
            let is_guess = why.contains("incomplete") || why.contains("quantifier");
            let model = solver.get_model().filter(|_| why.is_empty() || is_guess);
            let next = match model {
                Some(model) => read(Some((&mut OfModel { model: &model, emitter: &mut emitter }, certain))),
                None if under.is_empty() => return End::Unknown(why),
                None => read(None),
            };
            under.clear();
            match next {
                Next::Assume(more) => more.iter().for_each(|&t| solver.assert(emitter.boolean(t))),
                Next::Under(literals) => under.extend(literals.iter().map(|&t| emitter.boolean(t))),
                Next::Stop => return End::Stopped,
            }
        }
    };
    context::in_some(task)
}

fn solver(has_quantifiers: bool, has_products: bool, limit: Limit) -> Solver {
    let solver = if has_quantifiers { Solver::new() } else { smt_solver() };
    let mut params = limit.parameters();
    if has_quantifiers {
        // Triggers only: without a proof by them the search might not end. The others are what Boogie asks for.
        params.set_bool("smt.auto_config", false);
        params.set_bool("smt.mbqi", false);
        params.set_bool("smt.delay_units", true);
        params.set_u32("smt.case_split", 3);
        params.set_u32("smt.phase_selection", 0);
        params.set_f64("smt.qi.eager_threshold", 100.0);
        if !has_products {
            // As Boogie has it: with the newer one triggers are instantiated three times as often.
            params.set_u32("smt.arith.solver", LINEAR_SOLVER);
        }
    } else {
        // True first: what is assumed and asserted is met as it stands. Large bodies with failures take a third of the time.
        params.set_u32("smt.phase_selection", 1);
    }
    solver.set_params(&params);
    if has_quantifiers {
        // Only a solver that may be asked again keeps the candidate for a model where it gives up.
        solver.push();
    }
    solver
}
